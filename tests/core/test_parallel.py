"""Tasks on threads: results in the order of the tasks, a state for each thread, the error of the lowest task."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from fastmetrics._core.parallel import accumulate, for_each
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


def test_another_error_of_a_pool_is_raised(monkeypatch):
    def fail(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", fail)
    assert_raises(RuntimeError, "can't start new thread", for_each, 10, lambda: abs, 2)
