"""Filters and computed columns in the entry points: the values are those of a log that has the columns and the rows."""

import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import fastmetrics as fm
from fastmetrics.engine.input import batches, computed_columns
from fastmetrics.engine.input.row_selection import RowSelector
from fastmetrics.engine.plan.tasks import Task

N_ROWS = 3000


@pytest.fixture(scope="module")
def log():
    random = np.random.default_rng(3)
    return pa.table({
        "click": random.integers(0, 2, N_ROWS),
        "buys": random.integers(0, 4, N_ROWS),
        "p_ctr": random.random(N_ROWS).astype(np.float32),
        "p_cvr": random.random(N_ROWS),
        "user": random.integers(0, 40, N_ROWS),
        "country": random.choice(["DE", "FR", "US"], N_ROWS),
    })


@pytest.fixture(scope="module")
def path(log, tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    pq.write_table(log, path, row_group_size=700)
    return path


def stored(log):
    """The log of which expressions and filters are stored columns and rows."""
    log = log.filter(pc.and_(pc.is_in(log["country"], pa.array(["DE", "FR"])), pc.greater(log["p_ctr"], 0.25)))
    score = np.asarray(log["p_ctr"]).astype(np.float64) * np.asarray(log["p_cvr"])
    return log.append_column("score", pa.array(score)).append_column("label", pc.greater(log["buys"], 2))


WHERE = "country in ('DE', 'FR') and p_ctr > 0.25"
METRICS = ["auc", "gauc", "logloss"]


def values(report):
    return [result.value for result in report.results]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_values_are_those_of_stored_columns(log, path, n_threads):
    expected = fm.evaluate(stored(log), METRICS, label="label", score="score", group="user", by="country")
    report = fm.evaluate(
        path, METRICS, label="buys > 2", score="p_ctr * p_cvr", group="user", by="country", where=WHERE,
        n_threads=n_threads,
    )  # fmt: skip
    assert values(report) == values(expected)
    assert (report.rows, report.filtered) == (N_ROWS, N_ROWS - expected.rows)
    assert report.columns["where"] == WHERE
    assert report.columns["score"] == "p_ctr * p_cvr"
    assert report.to_dict()["filtered"] == report.filtered
    assert expected.filtered is None
    assert "filtered" not in expected.to_dict()


@pytest.mark.parametrize(
    "where",
    [
        pc.field("country").isin(["DE", "FR"]) & (pc.field("p_ctr") > 0.25),
        pl.col("country").is_in(["DE", "FR"]) & (pl.col("p_ctr") > 0.25),
    ],
    ids=["pyarrow", "polars"],
)
def test_expressions_of_other_libraries(log, path, where):
    report = fm.evaluate(path, "auc", label="click", score="p_cvr", where=where)
    assert report["auc"] == fm.evaluate(stored(log), "auc", label="click", score="p_cvr")["auc"]
    assert report.filtered == N_ROWS - len(stored(log))


def test_rows_that_are_left_out_are_not_checked(log):
    data = {"click": [0, 1, None, 1], "score": [0.1, 0.9, float("nan"), 0.3], "text": ["1", "2", "no", "3"]}
    data["show"] = [True, True, None, False]
    report = fm.evaluate(data, "auc", label="click", score="score", where="show")
    assert (report["auc"], report.rows, report.filtered, dict(report.dropped)) == (1.0, 4, 2, {})
    report = fm.evaluate(data, "auc", label="click", score="cast(text as double)", where="text <> 'no'")
    assert report.filtered == 1


def test_errors_name_rows_of_the_log():
    data = {"click": [0, 1, 1, None], "score": [0.1, 0.9, 0.2, 0.3], "show": [1, 0, 1, 1]}
    with pytest.raises(ValueError, match="label column 'click' has a null at row 3"):
        fm.evaluate(data, "auc", label="click", score="score", where="show = 1")
    data = {"click": [0, 1, 1, 0], "text": ["1", "x", "0.5", "y"], "show": [1, 0, 1, 1]}
    with pytest.raises(ValueError, match=r"score column .* has 'y', which is no number, at row 3"):
        fm.evaluate(data, "auc", label="click", score="cast(text as double)", where="show = 1")


def test_no_row_is_left():
    data = {"click": [0, 1], "score": [0.1, 0.9]}
    with pytest.raises(ValueError, match=r"no row is left of 2 read: where='click > 1' leaves out 2"):
        fm.evaluate(data, "auc", label="click", score="score", where="click > 1")


def test_a_column_wins_over_an_expression():
    data = {"click": [0, 1, 1], "a - b": [0.1, 0.2, 0.3], "a": [3, 2, 1], "b": [0, 0, 0]}
    assert fm.evaluate(data, "auc", label="click", score="a - b")["auc"] == 1.0
    assert fm.evaluate(data, "auc", label="click", score="a-b")["auc"] == 0.0
    assert fm.evaluate(data, "auc", label="click", score='-"a - b"')["auc"] == 0.0


def test_a_filter_may_be_called_as_a_column():
    data = {"click": [True, False, True], "p": [0.9, 0.2, 0.3], "rate": [1, 0, 0]}
    report = fm.evaluate(data, "auc", label="rate", score="p", where="click")
    assert (report["auc"], report.filtered) == (1.0, 1)
    report = fm.evaluate(data, "ctr", label="click", score="p", where="click")
    assert (report["ctr"], report.filtered) == (1.0, 1)


def test_tasks_have_filters_of_their_own(log):
    tasks = {
        "all": Task(),
        "clicked": Task(where="click = 1"),
        "constant": Task(score="cast(10 // click as tinyint)", where="click = 1"),
    }
    report = fm.evaluate(log, "auc", label="buys > 2", score="p_ctr", tasks=tasks, where="user < 20")
    below = log.filter(pc.less(log["user"], 20))
    clicked = below.filter(pc.equal(below["click"], 1))
    for name, rows in (("all", below), ("clicked", clicked)):
        expected = fm.evaluate(rows, "auc", label="buys > 2", score="p_ctr")["auc"]
        assert report.value("auc", task=name) == expected
        assert report.tasks[name].filtered == N_ROWS - len(rows)
    assert report.value("auc", task="constant") == 0.5


def test_metric_strings_name_expressions(log):
    expected = fm.evaluate(log, "auc", label="buys > 2", score="p_ctr * p_cvr")["auc"]
    report = fm.evaluate(log, "auc(label='buys > 2', score='p_ctr * p_cvr'), ctr", label="click", score="p_ctr")
    assert report.results[0].value == expected
    assert report.results[0].score == "p_ctr * p_cvr"


def test_without_the_parser_the_error_says_what_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    data = {"click": [0, 1], "score": [0.1, 0.9]}
    words = r"score: no column 'score \+ 1' .*needs sqlglot: pip install 'fastmetrics-engine\[arrow\]'"
    with pytest.raises(ImportError, match=words):
        fm.evaluate(data, "auc", label="click", score="score + 1")
    with pytest.raises(ValueError, match="score: no column 'scor' in data; did you mean 'score'"):
        fm.evaluate(data, "auc", label="click", score="scor")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"score": "p >"}, r"score: no column 'p >' in data.*As an expression: .*something is missing here"),
        ({"score": "p + q"}, r"score: no column 'q' in data.*\n  p \+ q\n      \^$"),
        ({"score": "p + text"}, r"score: a number is wanted here; this is a text\n  p \+ text\n      \^\^\^\^$"),
        ({"score": "sum(p)"}, "there are no aggregates and no windows"),
        ({"score": "p in (select 1)"}, "there are no queries inside expressions"),
        ({"score": "powr(p, 2)"}, r"there is no function powr; did you mean power or"),
        ({"score": "p p"}, r"a name with spaces stands between quotes"),
        ({"score": "coalesce(null, null)"}, "score: the expression has no type; it is NULL"),
        ({"where": "p"}, r"where: a condition is wanted; this is a float: compare it, such as p > 0"),
        ({"where": "text = 1"}, r"a text and an integer do not fit each other: write texts between quotes"),
        ({"where": " "}, "where is empty"),
        ({"where": "click = 1 and p > now()"}, r"there is no function now"),
        (
            {"score": "9223372036854775807 + click"},
            r"9223372036854775807 \+ 1, which no 64-bit integer holds, at row 1",
        ),
        ({"score": "cut(p, [1])"}, "cut divides rows into slices: it stands alone in by="),
    ],
)  # fmt: skip
def test_errors_show_the_place(options, words):
    data = {"click": [0, 1, 0], "p": [0.1, 0.9, 0.5], "text": ["a", "b", "c"]}
    with pytest.raises(ValueError, match=words):
        fm.evaluate(data, "auc", **{"label": "click", "score": "p"} | options)


@pytest.mark.parametrize("where", [3, ["click = 1"], pa.array(["click = 1"])])
def test_other_filters_are_refused(where):
    with pytest.raises(TypeError, match=r"where must be a condition in SQL, an expression of .*, or a mask"):
        fm.evaluate({"click": [0, 1], "p": [0.1, 0.9]}, "auc", label="click", score="p", where=where)


@pytest.mark.parametrize("memory_limit", ["64MiB", None])
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.6, 1.0])
def test_batches_of_filters(log, path, share, n_threads, memory_limit, monkeypatch):
    """Batches of a log with a filter are larger; with a memory limit, those that keep many rows are divided."""
    for module in (batches, computed_columns):
        monkeypatch.setattr(module, "BATCH_ROWS", 100)
    sizes = []
    select = RowSelector.select

    def counted(self, batch, first_row):
        rows = select(self, batch, first_row)
        sizes.append((rows.rows_read, rows.kept))
        return rows

    monkeypatch.setattr(RowSelector, "select", counted)
    where = f"p_cvr < {share} and p_ctr >= 0"
    options = {"label": "click", "score": "p_ctr", "n_threads": n_threads, "memory_limit": memory_limit}
    kept = log.filter(pc.less(log["p_cvr"], share))
    expected = [own.value for own in fm.evaluate(kept, ["auc", "ctr"], **options)] if len(kept) else []
    for data in (path, log):
        sizes.clear()
        if expected:
            report = fm.evaluate(data, ["auc", "ctr"], where=where, **options)
            assert (report.rows, report.filtered) == (N_ROWS, N_ROWS - len(kept))
            assert [own.value for own in report] == expected
        else:
            with pytest.raises(ValueError, match=f"where='{where}' leaves out {N_ROWS}"):
                fm.evaluate(data, "auc", where=where, **options)
        assert sum(rows for rows, _ in sizes) == N_ROWS
        if memory_limit:
            assert max(kept for _, kept in sizes) <= 100
        assert (max(rows for rows, _ in sizes) > 300) == (memory_limit is None or share < 0.2)
