"""Tasks on threads: results in the order of the tasks, a state for each thread, the error of the lowest task."""

import _thread
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from fastmetrics._core.parallel import accumulate, for_each, submit
from support.cases import assert_raises, each_case
from support.subprocesses import run


@each_case("n_threads", [1, 2, 5])
def test_results_are_in_the_order_of_the_tasks(n_threads):
    assert for_each(100, lambda: lambda task: task * task, n_threads) == [task * task for task in range(100)]
    assert for_each(0, lambda: lambda task: task, n_threads) == []


@each_case("n_threads", [1, 2, 5])
def test_every_task_is_added_to_one_state(n_threads):
    states = accumulate(100, list, list.append, n_threads)
    assert 1 <= len(states) <= n_threads
    assert sorted(task for state in states for task in state) == list(range(100))


@each_case("n_threads", [1, 3])
def test_the_error_of_the_lowest_task_is_raised(n_threads):
    def fail(task):
        if task >= 2:
            raise ValueError(f"task {task}")

    with pytest.raises(ValueError, match="task 2"):
        for_each(50, lambda: fail, n_threads)


AT_EXIT = """
import atexit
import pyarrow.parquet

(FOLDER,) = sys.argv[1:]
log = log_of(20_000)
pyarrow.parquet.write_table(pa.table(log), f"{FOLDER}/log.parquet", row_group_size=5000)
readers = pa.RecordBatchReader.from_batches, pa.table(log).to_batches(1000)

def results():
    for data in (log, f"{FOLDER}/log.parquet", readers[0](readers[1][0].schema, readers[1])):
        report = fm.evaluate(data, ["auc", "gauc"], **COLUMNS, n_threads=2)
        yield report["auc"], report["gauc"]
    yield fm.roc_auc_score(log["label"], log["prob"], n_threads=2)

say(*results())
atexit.register(lambda: say(*results()))
"""


def test_calls_at_the_exit_of_the_interpreter(tmp_path):
    """No thread can be started any more in functions of `atexit`, and in threads that outlive the main one."""
    before, at_exit = run(AT_EXIT, tmp_path)
    assert at_exit == before


_thread_start = _thread.start_new_thread


def fail_to_start(*_):
    raise RuntimeError("can't start new thread")


def test_another_error_of_a_pool_is_raised(monkeypatch):
    monkeypatch.setattr(_thread, "start_new_thread", fail_to_start)
    assert_raises(RuntimeError, "can't start new thread", for_each, 10, lambda: abs, 2)
    monkeypatch.setattr(ThreadPoolExecutor, "submit", fail_to_start)
    with ThreadPoolExecutor(1) as pool:
        assert_raises(RuntimeError, "can't start new thread", submit, pool, abs, 2)


def test_without_another_thread_one_does_all_tasks(monkeypatch):
    def fail(*_):
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(_thread, "start_new_thread", fail)
    assert for_each(10, lambda: lambda task: -task, 3) == [-task for task in range(10)]


def test_threads_that_were_started_end_before_an_error_is_raised(monkeypatch):
    """The second thread does not start: the first has ended its task when the error is raised."""
    begun, started, finished = threading.Event(), [], []

    def work(task):
        begun.set()
        finished.append(sum(range(3_000_000)))

    def start(*arguments):
        if started:
            begun.wait()
            fail_to_start()
        started.append(_thread_start(*arguments))

    monkeypatch.setattr(_thread, "start_new_thread", start)
    assert_raises(RuntimeError, "can't start new thread", for_each, 3, lambda: work, 3)
    assert len(finished) == 1


def test_a_thread_that_comes_late_makes_no_worker(monkeypatch):
    """One thread has done all tasks: the other does nothing. It has ended when the call returns."""
    made, ended, all_done = [], [], threading.Event()

    def start(run, arguments):
        def run_late():
            all_done.wait()
            sum(range(1_000_000))
            ended.append(1)
            run()

        _thread_start(run_late, arguments)

    def make_worker():
        made.append(1)
        return work

    def work(task):
        if task == 4:
            all_done.set()
        return task

    monkeypatch.setattr(_thread, "start_new_thread", start)
    assert for_each(5, make_worker, 3) == [0, 1, 2, 3, 4]
    assert len(made) == 1
    assert len(ended) == 2


class Stop(BaseException):
    """An exception that ends a thread."""


@each_case("n_threads", [1, 2, 4])
def test_what_ends_a_thread_is_raised(n_threads):
    def make_worker():
        raise Stop

    with pytest.raises(Stop):
        for_each(10, make_worker, n_threads)
