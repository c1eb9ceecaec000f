"""Ctrl-C ends an evaluation at once in every stage and leaves nothing behind; a fork after an evaluation works."""

import _thread
import os
import resource
import signal
import weakref
from contextlib import contextmanager
from threading import Event

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet
import pytest

from fastmetrics._core.columns import group_keys
from fastmetrics._core.columns.key_types import HEAD, TAIL
from fastmetrics._core.columns.row_blocks import RowBlock
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.blocks import Block
from fastmetrics._core.exchange.hash_exchange import GroupLayout, HashExchange, HashExchangeScratch
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.spill import SpillFile
from fastmetrics._core.parallel import for_each
from fastmetrics._kernels.exchange import hash_partition
from support.cases import assert_raises, each_case
from support.states.spilled_logs import log_of
from support.subprocesses import PATIENCE, linux_only, run, start

pytestmark = linux_only
AT_ONCE = 2.0  # seconds of CPU from the signal to the end of the process: those of a busy machine are no longer

INTERRUPTED = """
import select
import signal
from contextlib import suppress

# A signal that comes just before a call that blocks is seen by Python after it alone; this pipe then has a byte.
awakened, awaken = os.pipe()
os.set_blocking(awaken, False)
signal.set_wakeup_fd(awaken)
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
    select.select([sys.stdin, awakened], [], [])
    say("read on")

if kind == "slow":
    data = pa.RecordBatchReader.from_batches(pa.table(log_of(10)).schema, endless())
elif kind == "endless":
    batches = pa.table(log_of(50_000)).to_batches()
    data = pa.RecordBatchReader.from_batches(batches[0].schema, (batches[0] for _ in iter(int, 1)))
elif kind == "table":
    data = log_of(1_000_000)
else:
    data = kind
before = left_open(), running()
try:
    say(fm.evaluate(data, ["auc", "ks", "gauc", "logloss"], progress=progress, **options))
except KeyboardInterrupt:
    while running():
        # Python may have been interrupted while it started or joined a thread, which then ends by itself.
        for thread in threading.enumerate():
            if thread is not threading.main_thread():
                with suppress(RuntimeError):
                    thread.join()
    left = left_open(), running()
    say("interrupted", left == before or left, os.listdir(folder))
"""


@contextmanager
def ends_at_once(child):
    """Inside, a child is interrupted and awaited: it takes little time of the CPU from now on."""
    already, others = sum(psutil.Process(child.pid).cpu_times()[:2]), cpu_of_ended_children()
    try:
        yield
        assert cpu_of_ended_children() - others - already < AT_ONCE
    finally:
        child.kill()


def cpu_of_ended_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def interrupt(folder, *arguments, **options):
    """Send SIGINT when the child prints "now"; return what it prints afterwards. It has to end at once."""
    with start(INTERRUPTED, folder, *arguments, options) as child:
        assert child.stdout.readline() == "now\n", child.communicate(timeout=PATIENCE)
        with ends_at_once(child):
            child.send_signal(signal.SIGINT)
            assert child.wait(timeout=PATIENCE) == 0, child.communicate()
        assert child.stdout.read() == "interrupted True []\n"
        assert child.stderr.read() == ""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A folder of 500 files, which are names of one: their rows take longer than the interrupt."""
    folder = tmp_path_factory.mktemp("log")
    first = folder / "0.parquet"
    pa.parquet.write_table(pa.table(log_of(200_000)), first, row_group_size=20_000)
    for number in range(1, 500):
        os.link(first, folder / f"{number}.parquet")
    return folder


@pytest.mark.parametrize("n_threads", [1, 3])
class TestControlC:
    def test_while_batches_are_awaited(self, tmp_path, n_threads):
        interrupt(tmp_path, "slow", "none", 0, n_threads)

    def test_while_a_stream_is_read(self, tmp_path, n_threads):
        interrupt(tmp_path, "endless", "scan", 5, n_threads)

    def test_while_files_are_read(self, tmp_path, path, n_threads):
        interrupt(tmp_path, path, "scan", 5, n_threads, weight="weight", by="hour")

    @each_case("n_calls", [1, 8])
    def test_while_spilled_rows_are_read(self, tmp_path, n_threads, n_calls):
        interrupt(tmp_path, "table", "resolve", n_calls, n_threads, weight="weight", by="hour")


def test_an_interrupted_use_does_not_keep_a_spill_file_open(tmp_path, monkeypatch):
    """If an interrupt comes before the end of a use is recorded, closing the file still closes it."""

    def interrupted(self):
        raise KeyboardInterrupt

    file = SpillFile(tmp_path)
    file.append([np.arange(10.0)])
    descriptor = file._descriptor
    monkeypatch.setattr(SpillFile, "_end_use", interrupted)
    with pytest.raises(KeyboardInterrupt):
        file.read(0, np.empty(10))
    file.close()
    assert_raises(OSError, "Bad file descriptor", os.fstat, descriptor)


def test_a_store_that_is_interrupted_while_closing_is_closed(tmp_path, monkeypatch):
    store = BlockStore(1, MemoryBudget(1, str(tmp_path), 1))
    store.add(Block({"x": np.arange(100.0)}, np.array([0, 100], np.int32)), False)
    file = store.file
    closed = []
    monkeypatch.setattr(type(file), "close", lambda self: closed.append(self) or interrupt_first(closed))
    with pytest.raises(KeyboardInterrupt):
        store.close()
    assert closed == [file, file]
    assert store.file is None


def interrupt_first(calls):
    if len(calls) == 1:
        raise KeyboardInterrupt


class TestRemainingThreads:
    def test_for_each_is_interrupted_while_it_starts_threads(self, monkeypatch):
        """A thread that was started before the interrupt does not start another chunk of work."""
        start, begun, done = _thread.start_new_thread, Event(), []

        def interrupted(function, arguments):
            start(function, arguments)
            begun.wait(PATIENCE)
            raise KeyboardInterrupt

        def make_worker():
            def work(chunk):
                done.append(chunk)
                begun.set()

            return work

        monkeypatch.setattr(_thread, "start_new_thread", interrupted)
        with pytest.raises(KeyboardInterrupt):
            for_each(1_000_000, make_worker, 2)
        assert len(done) < 1_000_000

    def test_their_memory_outlives_the_store(self):
        """Kernels read by address: columns and text live as long as a layout or a partition range refers to them."""
        users = group_keys.as_keys(pa.array([f"a user with a long name {number % 7}" for number in range(100)]))
        columns = RowBlock((np.zeros(100, np.uint8),), (np.zeros(100),))
        exchange = HashExchange(users.dtype, 2)
        scratch = HashExchangeScratch(100, users.dtype)
        users.hash_block(0, 100, scratch.keys)
        exchange.add(columns, scratch)
        layout = GroupLayout(exchange.store.blocks_in_memory, users.dtype)
        run = exchange.store.load_partitions(list(exchange.store.types), 0, exchange.n_partitions)
        text, hashes = (weakref.ref(own) for own in (layout.blocks[0].text, layout.blocks[0].columns["hash"]))
        exchange.store.close()
        assert hashes() is not None
        del layout
        assert hashes() is None
        assert text() is not None
        names = {name.decode() for name in hash_partition.read_text_slots(run.columns[HEAD], run.columns[TAIL])}
        assert len(names) == 7
        del run
        assert text() is None

    def test_rows_of_a_closed_store_are_refused(self):
        """Otherwise threads would work on memory that was never filled."""
        store = BlockStore(1, MemoryBudget(1 << 20, None, 1))
        column = np.arange(1000, dtype=np.uint64)
        store.add(Block({"key": column}, np.array([0, 1000], np.int32)), False)
        (whole,) = store.block_readers(["key"])
        assert np.array_equal(whole.load()["key"], column)
        store.close()
        assert_raises(ValueError, "the blocks of this store are closed", whole.load)
        assert_raises(
            ValueError, "the blocks of this store are closed", store.load_offsets, whole.block, 0, 1
        )


COMMAND = """
from fastmetrics.cli import main, progress

def report_progress(stage, done, rows):
    os.write(descriptor, b"x")

@contextmanager
def announced(**options):
    yield report_progress

descriptor = int(sys.argv[1])
progress.row_progress = announced
sys.exit(main(sys.argv[2:]))
"""


def test_the_command_line(path, tmp_path):
    ours, theirs = os.pipe()
    columns = ["--label", "label", "--score", "prob", "--group", "group", "--weight", "weight"]
    target = tmp_path / "report.json"
    command = ["evaluate", path, *columns, "-o", target]
    with start("from contextlib import contextmanager" + COMMAND, theirs, *command, pass_fds=[theirs]) as child:
        os.close(theirs)
        assert os.read(ours, 1) == b"x"
        with ends_at_once(child):
            child.send_signal(signal.SIGINT)
            out, errors = child.communicate(timeout=PATIENCE)
    os.close(ours)
    assert child.returncode == 130
    assert out == ""
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


FORKED = """
import multiprocessing
import warnings

warnings.simplefilter("ignore", DeprecationWarning)  # of Python, about any fork beside threads, which Arrow has
folder, = sys.argv[1:]
options = dict(memory_limit="1MiB", spill_dir=folder, n_threads=2, by="hour", **COLUMNS)
log = log_of(100_000)
metrics = ["auc", "gauc", "logloss"]
expected = fm.evaluate(log, metrics, **options)

child = os.fork()
if child == 0:
    os._exit(7 if fm.evaluate(log, metrics, **options) == expected else 8)
say(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

def again(rows):
    return fm.evaluate({name: column[:rows] for name, column in log.items()}, metrics, **options)

with multiprocessing.get_context("fork").Pool(2) as pool:
    say(pool.map(again, [100_000, 70_000]) == [expected, again(70_000)])
say(fm.evaluate(log, metrics, **options) == expected)
"""


def test_after_a_fork(tmp_path):
    assert run(FORKED, tmp_path) == ["7", "True", "True"]
    assert list(tmp_path.iterdir()) == []
