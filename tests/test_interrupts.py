"""Ctrl-C ends an evaluation at once, whatever it is doing, and leaves nothing; a fork after one works."""

import signal
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.parquet
import pytest
from children import PATIENCE, PRELUDE, linux_only, open_files, run, start
from spilling import log_of

pytestmark = linux_only
AT_ONCE = 2.0  # seconds from the signal to the end of the process

INTERRUPTED = """
folder, kind, stage_wanted, n_calls, n_threads, options = sys.argv[1:]
options = dict(memory_limit="1MiB", spill_dir=folder, n_threads=int(n_threads), **COLUMNS, **eval(options))
left = int(n_calls)

def progress(stage, done, rows):
    global left
    if stage == stage_wanted and left:
        left -= 1
        if not left:
            say("now")

def endless():
    log = pa.table(log_of(100_000))
    yield from log.to_batches()
    say("now")
    sys.stdin.read()
    say("read on")

if kind == "slow":
    data = pa.RecordBatchReader.from_batches(pa.table(log_of(10)).schema, endless())
elif kind == "endless":
    batches = pa.table(log_of(50_000)).to_batches()
    data = pa.RecordBatchReader.from_batches(batches[0].schema, (batches[0] for _ in iter(int, 1)))
elif kind == "table":
    data = log_of(1_000_000)
else:
    data = [kind] * 50
before = left_open(), running()
try:
    say(fm.evaluate(data, ["auc", "ks", "gauc", "logloss"], progress=progress, **options))
except KeyboardInterrupt:
    left = left_open(), running()
    say("interrupted", left == before or left, os.listdir(folder))
"""


def interrupt(folder, *arguments, **options):
    """What a child says after SIGINT, which it gets when it says "now"; it has to end at once."""
    with start(INTERRUPTED, folder, *arguments, options) as child:
        assert child.stdout.readline() == "now\n", child.communicate(timeout=PATIENCE)
        child.send_signal(signal.SIGINT)
        began = time.monotonic()
        try:
            assert child.wait(timeout=PATIENCE) == 0
            assert time.monotonic() - began < AT_ONCE
        finally:
            child.kill()
        assert child.stdout.read() == "interrupted True []\n"
        assert child.stderr.read() == ""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    pa.parquet.write_table(pa.table(log_of(200_000)), path, row_group_size=20_000)
    return path


@pytest.mark.parametrize("n_threads", [1, 2, 3])
class TestControlC:
    def test_while_batches_are_awaited(self, tmp_path, n_threads):
        interrupt(tmp_path, "slow", "none", 0, n_threads)

    @pytest.mark.parametrize("n_calls", [1, 10])
    def test_while_a_stream_is_read(self, tmp_path, n_threads, n_calls):
        interrupt(tmp_path, "endless", "scan", n_calls, n_threads)

    @pytest.mark.parametrize("n_calls", [1, 5])
    def test_while_files_are_read(self, tmp_path, path, n_threads, n_calls):
        interrupt(tmp_path, path, "scan", n_calls, n_threads, weight="weight", by="hour")

    @pytest.mark.parametrize("n_calls", [1, 8])
    def test_while_rows_come_back(self, tmp_path, n_threads, n_calls):
        interrupt(tmp_path, "table", "resolve", n_calls, n_threads, weight="weight", by="hour")
