"""The workers of a pool end, and remove the folder of pieces, when the process that started them is killed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import fastmetrics as fm
from support.cases import each_case

SCRIPT = """
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
import fastmetrics as fm
from fastmetrics.distributed import processes

class Waits:  # a worker that unpickles it waits for a writer of the pipe, and then for its end
    def __reduce__(self):
        return Path.read_bytes, (Path(sys.argv[1]),)

if __name__ == "__main__" and sys.argv[3] == "evaluate":
    sources = [{"y": [0, 1], "s": [0.5, 0.5]}, Waits()]  # this process reads the first
    processes.evaluate(sources, fm.Evaluation("ctr", label="y", score="s"), n_processes=2, spill_dir=sys.argv[2])
elif __name__ == "__main__":  # as when pieces are there
    start = processes.end_with_parent, (Path(sys.argv[2]) / "pieces",)
    ProcessPoolExecutor(1, get_context("spawn"), *start).submit(Path.read_bytes, Path(sys.argv[1])).result()
"""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
@each_case("what", ["evaluate", "pieces"])
def test_workers_end_with_their_parent(what, tmp_path):
    pipe, script, folder = tmp_path / "pipe", tmp_path / "script.py", tmp_path / "folder"
    folder.mkdir()
    if what == "pieces":
        (folder / "pieces").mkdir()
        (folder / "pieces" / "0-0").write_bytes(b"rows")
    os.mkfifo(pipe)
    script.write_text(SCRIPT)
    paths = [str(Path(fm.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    with subprocess.Popen(
        [sys.executable, script, pipe, folder, what], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
    ) as parent, open(pipe, "wb"):  # opened as soon as the worker reads
        # There is no folder before there are workers that remove it.
        assert [own.name for own in folder.iterdir()] == ["pieces"] * (what == "pieces")
        parent.kill()
        # The worker has the parent's output too: it is read to its end when both are gone.
        parent.communicate(timeout=60)
    assert parent.returncode
    assert not list(folder.iterdir())
