"""A pool of processes gives the report of `evaluate`, and leaves nothing behind."""

import os
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from threading import Event

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import fastmetrics as fm
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics.distributed import processes
from support.cases import assert_raises
from support.ranking.truth_tables import COLUMNS as LISTS
from support.ranking.truth_tables import METRICS, TRUTH, random_tables

ROWS = 3000
QUESTION = fm.Evaluation(
    ["auc", "gauc", "ks", "logloss"], label="click", score="pctr", group="user", by="day", ci=0.9
)


class KillsItsReader:
    """A source that kills the process that receives it."""

    def __reduce__(self):
        return os._exit, (1,)


@pytest.fixture(scope="module")
def log():
    random = np.random.default_rng(6)
    return pa.table({
        "click": random.integers(0, 2, ROWS),
        "pctr": np.round(random.random(ROWS), 3),
        "user": [f"user number {own}" for own in random.integers(0, 99, ROWS)],
        "day": random.integers(0, 3, ROWS),
    })


def test_files_and_tables(log, tmp_path):
    third = ROWS // 3
    pa.parquet.write_table(log[:third], tmp_path / "log.parquet")
    pa.csv.write_csv(log[third : 2 * third], tmp_path / "log.txt")
    sources = [tmp_path / "log.parquet", log[2 * third :]]
    expected = QUESTION.run(pa.concat_tables([log[:third], log[2 * third :]]))
    assert processes.evaluate(sources, QUESTION, n_processes=2) == expected
    sums = fm.Evaluation("logloss", label="click", score="pctr")
    found = processes.evaluate([tmp_path / "log.txt"], sums, n_processes=7, format="csv")
    assert found == sums.run(log[third : 2 * third])
    assert found.seconds > 0


def test_nothing_is_left_behind(log, tmp_path):
    options = {"n_processes": 2, "memory_limit": "2MiB", "spill_dir": str(tmp_path)}
    exact = QUESTION.replace(ci=None)
    assert processes.evaluate([log[:900], log[900:]], exact, **options) == exact.run(log)
    assert not list(tmp_path.iterdir())
    with pytest.raises(BrokenProcessPool):
        processes.evaluate([log, KillsItsReader()], exact, **options)
    assert not list(tmp_path.iterdir())


def test_rows_that_spill(log, tmp_path, monkeypatch):
    """One process is this one: it starts no other, and pieces for itself are in memory, or in a file without a name."""
    monkeypatch.setattr(processes, "ProcessPoolExecutor", None)
    exact, options = QUESTION.replace(ci=None), {"memory_limit": "1MiB", "spill_dir": str(tmp_path)}
    found = [processes.evaluate([log[:900], log[900:]], exact, n_processes=1, **options)]
    monkeypatch.setattr(MemoryBudget, "try_reserve", lambda budget, n_bytes: False)
    found.append(processes.evaluate([log[:900], log[900:]], exact, n_processes=1, **options))
    assert found == [exact.run(log)] * 2
    assert not list(tmp_path.iterdir())


def test_a_process_reads_the_next_source_that_is_left(monkeypatch):
    read, all_read = [], Event()

    def read_one(process, number, source, options):
        read.append((process is processes.WORKER, source))
        if len(read) == 5:
            all_read.set()
        assert number != 1 or all_read.wait(60)

    monkeypatch.setattr(processes.Process, "start", lambda *arguments: None)
    monkeypatch.setattr(processes.Process, "read", read_one)
    with ThreadPoolExecutor(1) as worker:
        processes.ProcessRunner([worker], None).read(None, None, "abcde", {})
    assert sorted(read) == [(False, "a"), (False, "c"), (False, "d"), (False, "e"), (True, "b")]


def test_a_pool_answers_several_questions(log, tmp_path):
    sums = fm.Evaluation("logloss", label="click", score="pctr")
    bad = log.set_column(0, "click", pa.array(range(ROWS)))
    with processes.ProcessPool(2, str(tmp_path)) as pool:
        for question in (QUESTION, sums, QUESTION.replace(ci=None)):
            assert processes.evaluate([log[:900], log[900:]], question, pool=pool) == question.run(log)
            assert_raises(ValueError, "'click' has 2 at row 2", processes.evaluate, [log, bad], question, pool=pool)
            assert not list(tmp_path.iterdir())
        assert processes.evaluate([log], sums, pool=pool) == sums.run(log)
        words = "n_processes and spill_dir are those of the pool"
        assert_raises(ValueError, words, processes.evaluate, [log], sums, pool=pool, n_processes=2)


def test_errors_name_the_file(log, tmp_path):
    pa.parquet.write_table(log, tmp_path / "good.parquet")
    pa.parquet.write_table(log.set_column(0, "click", pa.array(range(ROWS))), tmp_path / "bad.parquet")
    sources = [tmp_path / "good.parquet", tmp_path / "bad.parquet"]
    words = r"'click' has 2 at row 2: .*\(rows are counted within .*bad.parquet\)"
    assert_raises(ValueError, words, processes.evaluate, sources, QUESTION, n_processes=2)


def test_errors_name_the_source(log):
    bad = log.set_column(0, "click", pa.array(range(ROWS)))
    words = r"'click' has 2 at row 2: .*\(rows are counted within sources\[2\]\)"
    assert_raises(ValueError, words, processes.evaluate, [log, log, bad, log], QUESTION, n_processes=2)
    floats = log.set_column(1, "pctr", log["pctr"].cast("float"))
    words = r"sources\[1\]: states of different column types do not merge: 'pctr' is double here, float there"
    assert_raises(TypeError, words, processes.evaluate, [log, floats], QUESTION, n_processes=2)


def test_wrong_arguments(log, tmp_path):
    for sources, found in (([], "an empty list"), ("clicks.parquet", "str"), (log, "Table")):
        assert_raises(ValueError, f"sources must be a list.*found {found}", processes.evaluate, sources, QUESTION)
    words = "no option of reading 'formt'; did you mean 'format'"
    assert_raises(TypeError, words, processes.evaluate, [log], QUESTION, formt="csv")
    assert_raises(TypeError, words, QUESTION.plan().partial(0).update, log, formt="csv")
    folder = str(tmp_path / "nowhere")
    assert_raises(OSError, "spill_dir", processes.evaluate, [log], QUESTION, spill_dir=folder)
    assert_raises(ValueError, "targets must be a positive integer; found True", QUESTION.plan, True)
    for wrong in ("a", -1, True, 1.0):
        assert_raises(ValueError, "source must be a number from 0 on", QUESTION.plan().partial, wrong)
        assert_raises(ValueError, "attempt must be a number from 0 on", QUESTION.plan().partial, 0, wrong)
    assert_raises(ValueError, "n_processes must be", processes.evaluate, [{}], QUESTION, n_processes=0)
    curves = fm.Evaluation("auc", label="click", score="pctr", curves=True)
    assert_raises(ValueError, "curves=True", processes.evaluate, [{}], curves)


def test_lists_that_are_joined_with_truth(tmp_path):
    shown, truth = random_tables(5)
    pa.parquet.write_table(truth, tmp_path / "truth.parquet")
    question = fm.Evaluation(METRICS, truth_columns=TRUTH, by="country", ci=0.9, **LISTS)
    expected = question.run(shown, truth=truth)
    found = processes.evaluate([shown[:90], shown[90:]], question, n_processes=2, truth=tmp_path / "truth.parquet")
    assert found == expected
    assert_raises(ValueError, "truth is missing", processes.evaluate, [shown], question)
    bad = truth.set_column(2, "grade", pa.array([None] + [1] * (len(truth) - 1)))
    with pytest.raises(ValueError, match=r"^truth: label column 'grade' has a null at row 0; .* such rows out$"):
        processes.evaluate([shown[:90], shown[90:]], question, n_processes=2, truth=bad)
