"""The spill file: bytes come back from any number of threads, and no file is left behind, however a process ends."""

import errno
import gc
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fastmetrics
from fastmetrics._core.exchange import spill
from fastmetrics._core.exchange.spill import SpillError, SpillFile
from support.cases import assert_raises, each_case

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX system")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
PATIENCE = 60


@pytest.fixture(params=["positioned", "seeking"])
def calls(request, monkeypatch):
    """Both kinds of system calls: calls with a position, and seek and write under a lock (Windows)."""
    if request.param == "positioned" and not spill.HAS_POSITIONED_CALLS:
        pytest.skip("no calls with a position here")
    monkeypatch.setattr(spill, "HAS_POSITIONED_CALLS", request.param == "positioned")


@pytest.fixture(params=["O_TMPFILE", "unlinked"])
def making(request, monkeypatch):
    """Both ways to make a file without a name: O_TMPFILE, and unlink after opening."""
    if request.param == "unlinked":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    elif not hasattr(os, "O_TMPFILE"):
        pytest.skip("no O_TMPFILE here")


def numbers(n, seed=0):
    return np.random.default_rng(seed).integers(0, 1 << 63, n, dtype=np.uint64)


def read_back(file, position, like):
    out = np.empty_like(like)
    file.read(position, out)
    return out


# --------------------------------------------------------------------------------------------- bytes come back

TYPES = ["u1", "<i2", ">f4", "<f8", "?", "<f2", "<c16", "<U3", "S5", "<M8[us]", "V7", "<i4,<f8"]
ARRAYS = st.tuples(st.sampled_from(TYPES), st.sampled_from([0, 1, 2, 7, 63, 64, 65, 1000]), st.integers(0, 9))
APPENDS = st.lists(st.lists(ARRAYS, max_size=5), max_size=8)


def make_array(kind, n, seed):
    dtype = np.dtype(kind)
    # Any bytes are a value of every type here except bool, whose bytes are 0 and 1.
    found = np.random.default_rng(seed).integers(0, 2 if kind == "?" else 100, n * dtype.itemsize, dtype=np.uint8)
    return found.view(dtype) if n else np.empty(0, dtype)


@pytest.mark.usefixtures("calls")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(APPENDS, st.sampled_from([63, 64, 100, 1000, 1 << 20]), st.sampled_from([1, 2, 5, 1024]))
def test_any_arrays_come_back(tmp_path_factory, appends, piece_bytes, pieces_per_call):
    with pytest.MonkeyPatch.context() as patch, SpillFile(tmp_path_factory.getbasetemp()) as file:
        patch.setattr(spill, "PIECE_BYTES", piece_bytes)
        patch.setattr(spill, "PIECES_PER_CALL", pieces_per_call)
        places, expected_end = [], 0
        for described in appends:
            arrays = [make_array(*each) for each in described]
            position = file.append(arrays)
            assert position == expected_end
            for array in arrays:
                places.append((expected_end, array))
                expected_end += array.nbytes
        assert file.bytes_written == expected_end
        for position, array in reversed(places):
            assert read_back(file, position, array).tobytes() == array.tobytes()


@pytest.mark.usefixtures("making")
def test_shapes_and_parts(tmp_path):
    table, point = numbers(60).reshape(3, 4, 5), np.array(2.5)
    table.flags.writeable = False
    with SpillFile(tmp_path) as file:
        assert file.append([table, np.empty((4, 0, 2)), point]) == 0
        assert file.append([np.empty(3, "V0")]) == table.nbytes + 8
        assert np.array_equal(read_back(file, 0, table), table)
        assert read_back(file, table.nbytes, point) == 2.5
        middle = np.empty(7, np.uint64)
        file.read(8 * 11, middle)
        assert np.array_equal(middle, table.ravel()[11:18])


def test_a_large_array_and_many_small_ones(tmp_path):
    large, small = numbers(400_001), [numbers(n % 5, seed=n) for n in range(3000)]
    with SpillFile(tmp_path) as file:
        file.append([large])
        position = file.append(small)
        assert np.array_equal(read_back(file, 0, large), large)
        together = np.concatenate(small)
        assert np.array_equal(read_back(file, position, together), together)


@pytest.mark.skipif(not spill.HAS_POSITIONED_CALLS, reason="no calls with a position here")
def test_system_calls_stay_below_the_limits(tmp_path, monkeypatch):
    assert spill.PIECE_BYTES * spill.PIECES_PER_CALL < (1 << 31) - 1
    assert os.sysconf("SC_IOV_MAX") >= spill.PIECES_PER_CALL
    monkeypatch.setattr(spill, "PIECE_BYTES", 1000)
    sizes, write, read = [], os.pwritev, os.preadv

    def record(call, descriptor, pieces, position):
        sizes.append((len(pieces), max(piece.nbytes for piece in pieces)))
        return call(descriptor, pieces, position)

    monkeypatch.setattr(os, "pwritev", lambda *arguments: record(write, *arguments))
    monkeypatch.setattr(os, "preadv", lambda *arguments: record(read, *arguments))
    array = numbers(300_000)
    with SpillFile(tmp_path) as file:
        file.append([array])
        assert np.array_equal(read_back(file, 0, array), array)
    assert max(sizes) == (1024, 1000)
    assert len(sizes) == 6


@pytest.mark.skipif(not spill.HAS_POSITIONED_CALLS, reason="no calls with a position here")
@pytest.mark.parametrize("at_most", [1, 7, 4096])
def test_system_calls_that_process_only_some_bytes(tmp_path, monkeypatch, at_most):
    write, read = os.pwritev, os.preadv

    def part(pieces):
        """The first bytes, across the border of two pieces."""
        left, parts = at_most, []
        for piece in pieces:
            parts.append(piece[:left])
            left -= len(parts[-1])
        return [piece for piece in parts if len(piece)]

    monkeypatch.setattr(os, "pwritev", lambda descriptor, pieces, position: write(descriptor, part(pieces), position))
    monkeypatch.setattr(os, "preadv", lambda descriptor, pieces, position: read(descriptor, part(pieces), position))
    arrays = [numbers(3), np.arange(5, dtype=np.uint8), numbers(0), numbers(600)]
    with SpillFile(tmp_path) as file:
        file.append(arrays)
        together = np.concatenate([array.view(np.uint8) for array in arrays])
        assert np.array_equal(read_back(file, 0, together), together)


# -------------------------------------------------------------------------------------------------------- threads


@pytest.mark.usefixtures("calls")
def test_appends_of_many_threads(tmp_path):
    n_threads, n_appends = 8, 60
    started = threading.Barrier(n_threads)

    def work(thread):
        started.wait(PATIENCE)
        places = []
        for turn in range(n_appends):
            array = numbers(1 + (turn * 37 + thread) % 500, seed=thread * n_appends + turn)
            places.append((file.append([array[:3], array[3:]]), array))
            # Other threads write at the same time.
            position, earlier = places[turn // 2]
            assert np.array_equal(read_back(file, position, earlier), earlier)
        return places

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with SpillFile(tmp_path) as file, ThreadPoolExecutor(n_threads) as pool:
            places = [place for found in pool.map(work, range(n_threads)) for place in found]
            for position, array in places:
                assert np.array_equal(read_back(file, position, array), array)
            assert file.bytes_written == sum(array.nbytes for _, array in places)
    finally:
        sys.setswitchinterval(interval)
    # No byte between two appends is unused.
    ends = sorted((position, position + array.nbytes) for position, array in places)
    assert [start for start, _ in ends] == [0, *(end for _, end in ends[:-1])]


@pytest.mark.usefixtures("calls")
def test_shared_attributes_are_used_under_the_lock(tmp_path, monkeypatch):
    class Watched(SpillFile):
        """A spill file that checks its lock whenever a shared attribute is used."""

        def __setattr__(self, name, value):
            assert name not in {"_end", "_users", "_bytes_written"} or not self.__dict__.get("begun") or self.locked()
            super().__setattr__(name, value)

        def __getattribute__(self, name):
            assert name not in {"_end", "_users"} or self.locked()
            return super().__getattribute__(name)

        def locked(self):
            return self._lock.locked()

    file, seek, seeks = Watched(tmp_path), os.lseek, []
    file.begun = True

    def seek_locked(*arguments):
        assert file.locked()
        seeks.append(arguments)
        return seek(*arguments)

    monkeypatch.setattr(os, "lseek", seek_locked)
    array = numbers(10)
    with file:
        assert file.append([array]) == 0
        assert np.array_equal(read_back(file, 0, array), array)
    assert not file.locked()
    assert len(seeks) == (0 if spill.HAS_POSITIONED_CALLS else 2)


@pytest.mark.skipif(not spill.HAS_POSITIONED_CALLS, reason="no calls with a position here")
@pytest.mark.parametrize("name", ["pwritev", "preadv"])
def test_threads_write_and_read_at_once(tmp_path, monkeypatch, name):
    call, meeting = getattr(os, name), threading.Barrier(2)

    def meet(*arguments):
        # The barrier breaks if the other thread waits for a lock.
        meeting.wait(5)
        return call(*arguments)

    array = numbers(100)
    with SpillFile(tmp_path) as file, ThreadPoolExecutor(2) as pool:
        if name == "preadv":
            file.append([array, array])
        monkeypatch.setattr(os, name, meet)
        if name == "pwritev":
            assert sorted(pool.map(file.append, [[array]] * 2)) == [0, array.nbytes]
        else:
            assert all(np.array_equal(found, array) for found in pool.map(read_back, [file] * 2, [0, 800], [array] * 2))


@pytest.mark.skipif(not spill.HAS_POSITIONED_CALLS, reason="no calls with a position here")
def test_close_waits_for_a_running_write(tmp_path, monkeypatch):
    write, running, closed, descriptors = os.pwritev, threading.Event(), threading.Event(), []

    def slow(descriptor, *arguments):
        descriptors.append(descriptor)
        running.set()
        assert closed.wait(PATIENCE)
        os.fstat(descriptor)
        return write(descriptor, *arguments)

    monkeypatch.setattr(os, "pwritev", slow)
    file = SpillFile(tmp_path)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(file.append, [numbers(10)])
        assert running.wait(PATIENCE)
        file.close()
        assert_raises(ValueError, "closed", file.append, [numbers(1)])
        closed.set()
        assert future.result() == 0
    assert_raises(OSError, "Bad file descriptor", os.fstat, descriptors[0])


# -------------------------------------------------------------------------------------------- no file is left


def open_descriptors():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.usefixtures("making")
def test_nothing_happens_before_the_first_append(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(spill, "open_unnamed", lambda folder: made.append(folder))
    with SpillFile(tmp_path / "nowhere") as file:
        assert file.append([]) == file.append([np.empty(0)]) == 0
        file.read(0, np.empty(0))
        assert file.bytes_written == 0
    assert not made
    assert not list(tmp_path.iterdir())


@posix_only
@pytest.mark.usefixtures("making")
def test_the_file_has_no_name(tmp_path):
    with SpillFile(tmp_path) as file:
        file.check_folder()
        assert not list(tmp_path.iterdir())
        file.append([numbers(1000)])
        assert not list(tmp_path.iterdir())
        status = os.fstat(file._descriptor)
        assert (status.st_nlink, status.st_size) == (0, 8000)
        assert status.st_mode & 0o777 == 0o600
        assert not os.get_inheritable(file._descriptor)


@linux_only
@pytest.mark.usefixtures("making")
def test_no_descriptor_stays_open(tmp_path):
    gc.collect()
    before = open_descriptors()
    for turn in range(5):
        file = SpillFile(tmp_path)
        file.check_folder()
        assert open_descriptors() == before
        file.append([numbers(10)])
        file.append([numbers(10)])
        assert open_descriptors() == before + 1
        if turn % 2:
            file.close()
            file.close()
        else:
            # Deleted without close.
            del file
            gc.collect()
        assert open_descriptors() == before
        with pytest.raises(SpillError), SpillFile(tmp_path / "nowhere") as file:
            file.append([numbers(10)])
        with pytest.raises(ValueError, match="C-contiguous"), SpillFile(tmp_path) as file:
            file.append([numbers(10)]) or file.append([numbers(10)[::2]])
        assert open_descriptors() == before


@posix_only
def test_a_file_that_cannot_be_unlinked(tmp_path, monkeypatch):
    unlink, refused = os.unlink, []

    def refuse_once(path):
        if not refused:
            refused.append(path)
            raise OSError(errno.ETXTBSY, "Text file busy")
        unlink(path)

    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    monkeypatch.setattr(os, "unlink", refuse_once)
    with pytest.raises(SpillError, match=r"^spilling to folder '.*': Text file busy \(give another folder"):
        SpillFile(tmp_path).check_folder()
    assert refused
    assert not list(tmp_path.iterdir())


def test_a_closed_file(tmp_path):
    file = SpillFile(tmp_path)
    file.append([numbers(3)])
    file.close()
    file.close()
    assert file.bytes_written == 24
    assert_raises(ValueError, "the spill file is closed", file.append, [numbers(3)])
    assert_raises(ValueError, "the spill file is closed", file.read, 0, numbers(3))


# -------------------------------------------------------------------------------------------- processes that end badly


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


# ------------------------------------------------------------------------------------------------------ a full disk

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


@pytest.mark.usefixtures("calls")
def test_a_file_can_be_used_after_an_error(tmp_path, monkeypatch):
    write_some, failing = SpillFile._write_some, [errno.ENOSPC, errno.EDQUOT, errno.EIO]

    def fail(*arguments):
        if failing:
            raise OSError(failing[0], os.strerror(failing.pop(0)))
        return write_some(*arguments)

    monkeypatch.setattr(SpillFile, "_write_some", fail)
    array = numbers(1000)
    with SpillFile(tmp_path) as file:
        for reason in ("no space is left", "the disk quota is used up", os.strerror(errno.EIO)):
            assert_raises(SpillError, rf"{reason} after 0 bytes; 8,000 more were needed", file.append, [array])
        assert file.bytes_written == 0
        position = file.append([array])
        assert file.bytes_written == array.nbytes
        assert np.array_equal(read_back(file, position, array), array)


def test_a_system_that_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(SpillFile, "_write_some", lambda *_: 0)
    with pytest.raises(SpillError, match="wrote nothing and reported no error after 0 bytes; 16 more"):
        SpillFile(tmp_path).append([numbers(2)])


# ------------------------------------------------------------------------------------------- folders and misuse


def refusal(folder):
    """The error of check_folder, which is also that of the first append."""
    file = SpillFile(folder)
    with pytest.raises(SpillError) as checked:
        file.check_folder()
    with pytest.raises(SpillError) as appended:
        file.append([numbers(1)])
    assert str(checked.value) == str(appended.value)
    assert checked.value.filename == str(folder)
    return checked.value


@pytest.mark.usefixtures("making")
def test_missing_folders(tmp_path):
    (tmp_path / "file").touch()
    error = refusal(tmp_path / "nowhere")
    assert error.errno == errno.ENOENT
    assert str(error) == f"spilling to folder '{tmp_path / 'nowhere'}': there is no such folder ({spill.REMEDY})"
    if os.name == "posix":
        error = refusal(tmp_path / "file")
        assert error.errno == errno.ENOTDIR
        assert "': it is not a folder (give another folder with spill_dir=" in str(error)


@linux_only
@pytest.mark.usefixtures("making")
def test_a_folder_without_regular_files():
    # No user can make a file there. The kernel reports that the new file does not exist.
    assert "spilling to folder '/proc/self': there is no such folder" in str(refusal("/proc/self"))


@posix_only
@pytest.mark.usefixtures("making")
def test_a_folder_without_write_permission(tmp_path):
    tmp_path.chmod(0o500)
    try:
        if os.access(tmp_path, os.W_OK):
            pytest.skip("this user may write everywhere")
        error = refusal(tmp_path)
    finally:
        tmp_path.chmod(0o700)
    assert error.errno == errno.EACCES
    assert "no file may be made in it" in str(error)


@pytest.mark.parametrize("code", ["EACCES", "EPERM", "EROFS"])
def test_a_folder_with_a_permission_error(tmp_path, monkeypatch, code):
    def refuse(folder):
        raise OSError(getattr(errno, code), "in the system's words")

    monkeypatch.setattr(spill, "open_unnamed", refuse)
    error = refusal(tmp_path)
    assert error.errno == getattr(errno, code)
    assert f"'{tmp_path}': no file may be made in it (" in str(error)


def test_the_default_folder(tmp_path, monkeypatch):
    seen, open_unnamed = [], spill.open_unnamed
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(spill, "open_unnamed", lambda folder: seen.append(folder) or open_unnamed(folder))
    with SpillFile(None) as file:
        file.check_folder()
        file.append([numbers(1)])
    assert seen == [str(tmp_path)] * 2


def test_no_default_folder(monkeypatch):
    def fail():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "gettempdir", fail)
    with pytest.raises(SpillError, match=r"^spilling: No usable temporary directory .* give a folder with spill_dir="):
        SpillFile(None).check_folder()


def test_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    with SpillFile("~") as file:
        file.check_folder()
    assert_raises(SpillError, "nowhere", SpillFile(Path("~/nowhere")).check_folder)


@each_case("folder", [3, b"/tmp", ["/tmp"], object()])
def test_invalid_types_of_folder(folder):
    assert_raises(TypeError, r"^spill_dir must be the path of a folder; found .* of type \w+", SpillFile, folder)


def test_reading_beyond_the_end(tmp_path):
    with SpillFile(tmp_path) as file:
        assert_raises(SpillError, "reading back: the file ends at byte 0, 8 bytes too soon", file.read, 0, np.empty(1))
        file.append([np.ones(10)])
        with pytest.raises(SpillError, match="reading back: the file ends at byte 80, 16 bytes too soon") as caught:
            file.read(40, np.empty(7))
    assert caught.value.errno == errno.EIO


@posix_only
def test_a_read_error(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(SpillFile, "_read_some", fail)
    with SpillFile(tmp_path) as file:
        file.append([np.ones(10)])
        assert_raises(SpillError, "': reading back at byte 16: Input/output error", file.read, 16, np.empty(7))


def test_arrays_that_are_not_allowed(tmp_path):
    grid, frozen = np.ones((4, 6)), np.ones(3)
    frozen.flags.writeable = False
    with SpillFile(tmp_path) as file:
        for array in (grid[:, ::2], grid.T, np.array([object()])):
            assert_raises(
                ValueError, "C-contiguous arrays without Python objects; found dtype", file.append, [grid, array]
            )
            assert_raises(ValueError, "C-contiguous", file.read, 0, array)
        assert file.append([frozen]) == 0
        assert_raises(ValueError, "must be writeable", file.read, 0, frozen)


def test_errors_can_be_pickled():
    error = pickle.loads(pickle.dumps(SpillError(errno.ENOSPC, "no space", "/x")))
    assert (type(error), error.errno, error.filename, str(error)) == (SpillError, errno.ENOSPC, "/x", "no space")
    assert isinstance(error, OSError)
    assert str(SpillError("without a number")) == "without a number"
