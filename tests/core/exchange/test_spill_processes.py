"""The spill file of a process that is killed, forks, ends without closing, or fills its disk: no file is left."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import fastmetrics
from support.subprocesses import PATIENCE, linux_only, posix_only


def start(script, *arguments, without_tmpfile=False):
    """Start a process that imports the tested package, installed or not. Its `say` writes to a pipe."""
    here = str(Path(fastmetrics.__file__).resolve().parents[1])
    prelude = f"""
import os, sys
sys.path.append({here!r})
import numpy as np
if {without_tmpfile} and hasattr(os, "O_TMPFILE"):
    del os.O_TMPFILE
from fastmetrics._core.exchange.spill import SpillError, SpillFile

def say(text):
    os.write(1, text.encode() + b"\\n")

folder = sys.argv[1]
"""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", prelude + script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(script, *arguments):
    """The lines that the script writes. It must end without an error."""
    with start(script, *arguments) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    return out.splitlines()


SPILL_FOREVER = """
from threading import Thread
file = SpillFile(folder)

def work():
    # Enough to be writing when killed, and not enough to fill a disk.
    for turn in range(100):
        file.append([np.ones(1 << 17)] * 2)
        if turn == 1:
            say("spilled")
    sys.stdin.read()

for _ in range(2):
    Thread(target=work).start()
"""


@posix_only
@pytest.mark.parametrize("without_tmpfile", [False, True])
def test_a_killed_process_leaves_nothing(tmp_path, without_tmpfile):
    with start(SPILL_FOREVER, tmp_path, without_tmpfile=without_tmpfile) as process:
        assert process.stdout.readline() == "spilled\n", process.stderr.read()
        # No file is in the folder while the process lives, so none is left after it.
        assert not list(tmp_path.iterdir())
        process.send_signal(signal.SIGKILL)
        assert process.wait(PATIENCE) == -signal.SIGKILL
        assert not list(tmp_path.iterdir())


def test_a_process_that_ends_without_closing_leaves_nothing(tmp_path):
    assert run("file = SpillFile(folder); file.append([np.ones(99)]); say('end')", tmp_path) == ["end"]
    assert not list(tmp_path.iterdir())


FORK = """
file = SpillFile(folder)
array = np.arange(1000)
file.append([array])
# Another thread of the parent could hold the lock at this moment.
file._lock.acquire()
child = os.fork()
if child == 0:
    for use in (lambda: file.append([array]), lambda: file.read(0, array.copy()), file.check_folder):
        try:
            use()
        except RuntimeError as error:
            say(str(error))
    file.close()
    file.close()
    say(f"closed {file._descriptor}")
    os._exit(0)
file._lock.release()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
out = np.empty_like(array)
file.read(0, out)
assert (out == array).all()
assert file.append([array]) == 8000
say(f"{os.getpid()} {child}")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_gets_errors(tmp_path):
    *refusals, closed, processes = run(FORK, tmp_path)
    parent, child = processes.split()
    assert len(refusals) == 3
    for text in refusals:
        assert text.startswith("a spill file can only be used by the process that made it: ")
        assert f"made in process {parent}, used in {child} after a fork" in text
    assert closed == "closed None"


FILL = """
file = SpillFile(folder)
written = 0
try:
    for turn in range(100):
        file.append([np.full(100_000, turn, np.uint8)])
        written += 100_000
except SpillError as error:
    say(str(error.errno))
    say(str(written))
    say(str(error))
# What was written before is still there.
out = np.empty(100_000, np.uint8)
for turn in range(written // 100_000):
    file.read(turn * 100_000, out)
    assert (out == turn).all()
assert file.bytes_written == written
say(str(os.listdir(folder)))
"""


def check_full(lines, code, reason, size):
    number, written, text, left = lines
    assert int(number) == code
    assert int(written) == size // 100_000 * 100_000
    missing = 100_000 - (size - int(written))
    assert f": {reason} after {size:,} bytes; {missing:,} more were needed (give another folder with spill_dir=" in text
    assert "memory_limit=" in text
    assert left == "[]"


@posix_only
def test_a_limited_file_size(tmp_path):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1_234_567, 1_234_567))\n"
    lines = run(limit + FILL, tmp_path)
    check_full(lines, errno.EFBIG, "a file may not grow larger here", 1_234_567)
    assert f"spilling to folder '{tmp_path}': " in lines[2]


@linux_only
def test_a_full_disk(tmp_path):
    # Its own mount namespace, so that the small disk ends with the process.
    unshare = ["unshare", "--mount", "--map-root-user"]
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path)]
    if not shutil.which("unshare") or subprocess.run([*unshare, *mount], capture_output=True, check=False).returncode:
        pytest.skip("no file system may be mounted here")
    here = str(Path(fastmetrics.__file__).resolve().parents[1])
    script = "import os, sys\nimport numpy as np\nfrom fastmetrics._core.exchange.spill import SpillError, SpillFile\n"
    script += f"folder, say = {str(tmp_path)!r}, print\n" + FILL
    command = [*unshare, "sh", "-c", f'{" ".join(mount)} && exec "$0" -c "$1"', sys.executable, script]
    found = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=PATIENCE, env=os.environ | {"PYTHONPATH": here}
    )
    assert found.returncode == 0, found.stderr
    check_full(found.stdout.splitlines(), errno.ENOSPC, "no space is left", 1 << 20)
