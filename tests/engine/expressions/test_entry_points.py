"""Filters and expressions in compare, Accumulator and the command line: the same numbers as in evaluate."""

import json
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import fastmetrics as fm
from support.command_line import run

N_ROWS = 2000
WHERE = "country in ('DE', 'FR') and p_ctr > 0.25"
QUESTION = {"label": "buys > 2", "score": "p_ctr * p_cvr", "group": "user", "by": "country", "where": WHERE}
METRICS = ["auc", "gauc", "logloss"]


@pytest.fixture(scope="module")
def log():
    random = np.random.default_rng(5)
    return pa.table({
        "buys": random.integers(0, 4, N_ROWS),
        "p_ctr": random.random(N_ROWS).astype(np.float32),
        "p_cvr": random.random(N_ROWS),
        "user": random.integers(0, 40, N_ROWS),
        "country": random.choice(["DE", "FR", "US"], N_ROWS),
    })


@pytest.fixture(scope="module")
def expected(log):
    return fm.evaluate(log, METRICS, **QUESTION)


def test_accumulators_merge_and_travel(log, expected):
    parts = []
    for start in range(0, N_ROWS, 700):
        part = fm.Accumulator(METRICS, **QUESTION)
        part.update(log.slice(start, 700))
        parts.append(fm.Accumulator.from_bytes(part.to_bytes()))
    whole = parts[0].merge(parts[1]).merge(pickle.loads(pickle.dumps(parts[2])))
    assert whole.result() == expected
    assert whole.result().filtered == expected.filtered > 0


def test_states_of_other_filters_do_not_merge(log):
    filters = ("user < 9", "user < 8", None)
    states = [fm.Accumulator("auc", label="buys > 2", score="p_ctr", where=where) for where in filters]
    for other in states[1:]:
        with pytest.raises(ValueError, match="states of different questions do not merge: where is"):
            states[0].merge(other)
    native = [
        fm.Accumulator("auc", label="buys > 2", score="p_ctr", where=pc.field("user") < least) for least in (9, 9, 8)
    ]
    for state in native:
        state.update(log)
    native[0].merge(native[1])
    with pytest.raises(ValueError, match="do not merge"):
        native[0].merge(native[2])
    with pytest.raises(TypeError, match=r"cannot run an expression of pyarrow, .*: write it in SQL"):
        native[0].to_bytes()


def test_an_update_that_is_refused_leaves_the_state(log):
    state = fm.Accumulator("auc", label="y", score="cast(p as double)", where="y >= 0")
    state.update({"y": [0, 1], "p": ["0.5", "0.75"]})
    with pytest.raises(ValueError, match=r"has 'x', which is no number, at row 1"):
        state.update({"y": [0, 1], "p": ["0.5", "x"]})
    assert (state.rows, state.result()["auc"]) == (2, 1.0)


def test_compare(log):
    columns = log.append_column("s", pa.array(np.asarray(log["p_ctr"]).astype(float) * np.asarray(log["p_cvr"])))
    kept = columns.filter(pc.less(columns["user"], 30))
    options = {"label": "buys > 2", "group": "user", "replicates": 20}
    expected = fm.compare(kept, ["gauc", "logloss"], score=["p_ctr", "s"], **options)
    found = fm.compare(log, ["gauc", "logloss"], score=["p_ctr", "p_ctr * p_cvr"], where="user < 30", **options)
    for one, two in zip(expected, found, strict=True):
        assert (one.difference, one.interval, one.pvalue) == (two.difference, two.interval, two.pvalue)
    assert (found.rows, found.filtered) == (N_ROWS, N_ROWS - len(kept))
    assert f"{N_ROWS:,} rows read, {N_ROWS - len(kept):,} left out by where" in str(found)


def test_command_line(log, expected, tmp_path):
    pq.write_table(log, tmp_path / "log.parquet")
    options = [f"--{name}={value}" for name, value in QUESTION.items()]
    done = run("evaluate", "log.parquet", "-m", ",".join(METRICS), *options, "--json", folder=tmp_path)
    found = json.loads(done.stdout)
    assert [one["value"] for one in found["results"]] == [one.value for one in expected]
    assert found["filtered"] == expected.filtered
    assert found["columns"]["where"] == WHERE


def test_tasks_of_the_command_line(log, tmp_path):
    pq.write_table(log, tmp_path / "log.parquet")
    task = "--task=few: label=buys > 2; score=coalesce(p_ctr, 0), p_cvr; where=user in (1, 2)"
    done = run("evaluate", "log.parquet", "-m", "auc", task, "--json", folder=tmp_path)
    found = json.loads(done.stdout)
    kept = log.filter(pc.is_in(log["user"], pa.array([1, 2])))
    expected = fm.evaluate(kept, "auc", label="buys > 2", score=["p_ctr", "p_cvr"])
    assert [one["value"] for one in found["results"]] == [one.value for one in expected]
    assert found["tasks"]["few"]["filtered"] == N_ROWS - len(kept)


def test_reports_show_what_was_left_out(expected):
    text = f"{N_ROWS:,} rows read, {expected.filtered:,} left out by where"
    assert text in str(expected)
    assert WHERE in str(expected)
    assert "left out by where" in expected.to_html()
    assert pickle.loads(pickle.dumps(expected)).filtered == expected.filtered
