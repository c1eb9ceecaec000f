"""The workers of a pool end, and remove the folder of pieces, when the process that started them is killed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import fastmetrics as fm

SCRIPT = """
import sys
from pathlib import Path
import fastmetrics as fm
from fastmetrics.distributed import processes

class Waits:  # a worker that unpickles it waits for a writer of the pipe, and then for its end
    def __reduce__(self):
        return Path.read_bytes, (Path(sys.argv[1]),)

if __name__ == "__main__":
    processes.evaluate([Waits()], fm.Evaluation("ctr", label="y", score="s"), n_processes=1, spill_dir=sys.argv[2])
"""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_workers_end_with_their_parent(tmp_path):
    pipe, script, folder = tmp_path / "pipe", tmp_path / "script.py", tmp_path / "pieces"
    folder.mkdir()
    os.mkfifo(pipe)
    script.write_text(SCRIPT)
    paths = [str(Path(fm.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    with subprocess.Popen(
        [sys.executable, script, pipe, folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
    ) as parent, open(pipe, "wb"):  # opened as soon as the worker reads
        parent.kill()
        # The worker has the parent's output too: it is read to its end when both are gone.
        parent.communicate(timeout=60)
    assert parent.returncode
    assert not list(folder.iterdir())
