"""Masks of rows, and expressions of polars and pyarrow wherever a column is named."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import fastmetrics as fm
from fastmetrics.engine.expressions.native_values import reads_other_rows

N_ROWS = 3000
COLUMNS = {"label": "click", "score": "p", "group": "user"}


@pytest.fixture(scope="module")
def log():
    random = np.random.default_rng(3)
    return pa.table({
        "click": random.integers(0, 2, N_ROWS),
        "p": random.random(N_ROWS),
        "q": random.random(N_ROWS),
        "user": random.integers(0, 90, N_ROWS),
        "channel": random.choice(["feed", "search"], N_ROWS),
        "weight": random.integers(1, 4, N_ROWS),
    })


@pytest.fixture(scope="module")
def path(log, tmp_path_factory):
    found = tmp_path_factory.mktemp("native") / "log.parquet"
    pq.write_table(log, found, row_group_size=700)
    return found


def values(report):
    return [result.value for result in report]


MASKS = {
    "NumPy": np.asarray, "list": np.ndarray.tolist, "pandas": pd.Series, "polars": pl.Series, "Arrow": pa.array,
    "chunked": lambda mask: pa.chunked_array([pa.array(mask[:9]), pa.array(mask[9:])]),
    "pandas, nullable": lambda mask: pd.Series(mask, dtype="boolean"),
    "strided": lambda mask: np.repeat(mask, 2)[::2],
}  # fmt: skip


@pytest.mark.parametrize("form", MASKS)
def test_masks_keep_the_rows_that_are_true(log, form):
    kept = np.asarray(log["q"]) > 0.6
    expected = fm.evaluate(log.filter(pa.array(kept)), "auc,gauc", **COLUMNS)
    report = fm.evaluate(log, "auc,gauc", **COLUMNS, where=MASKS[form](kept))
    assert values(report) == values(expected)
    assert (report.rows, report.filtered) == (N_ROWS, int((~kept).sum()))


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("form", ["path", "frame", "pandas", "dict", "rows", "structured"])
def test_masks_of_every_log_whose_rows_are_numbered(log, path, form, n_threads):
    forms = {
        "path": lambda: path, "frame": lambda: pl.from_arrow(log), "pandas": log.to_pandas, "dict": log.to_pydict,
        "rows": log.to_pylist, "structured": lambda: log.drop_columns("channel").to_pandas().to_records(index=False),
    }  # fmt: skip
    kept = np.arange(N_ROWS) % 7 < 3
    data, metrics = forms[form](), "auc,gauc,logloss"
    expected = fm.evaluate(log.filter(pa.array(kept)), metrics, **COLUMNS)
    assert values(fm.evaluate(data, metrics, **COLUMNS, where=kept, n_threads=n_threads)) == values(expected)
    compared = fm.compare(data, "auc", label="click", score=["p", "q"], where=kept)
    known = fm.compare(log.filter(pa.array(kept)), "auc", label="click", score=["p", "q"])
    assert compared["auc"].difference == known["auc"].difference


def test_nulls_of_masks_are_false(log):
    kept = [None if row % 3 == 0 else row % 3 == 1 for row in range(N_ROWS)]
    expected = fm.evaluate(log.filter(pa.array(kept)), "auc", **COLUMNS)["auc"]
    masked = np.ma.MaskedArray([own is not False for own in kept], [own is None for own in kept])
    for mask in (kept, pa.array(kept), pl.Series(kept), pd.Series(kept), pd.Series(kept, dtype="boolean"), masked):
        assert fm.evaluate(log, "auc", **COLUMNS, where=mask)["auc"] == expected


def test_masks_of_questions_and_tasks(log):
    kept = np.arange(N_ROWS) % 2 == 0
    question = fm.Evaluation("auc", **COLUMNS, where=kept)
    expected = fm.evaluate(log, "auc", **COLUMNS, where=kept)["auc"]
    kept[:] = True  # the question has the mask as it was
    assert question.run(log)["auc"] == expected
    assert question == pickle.loads(pickle.dumps(question)) != question.replace(where=kept)
    with pytest.raises(TypeError, match="where= is a part of the question"):
        fm.evaluate(log, question, where=kept)
    is_odd = np.arange(N_ROWS) % 2 == 1
    tasks = {"even": fm.Task(where=~is_odd), "odd": fm.Task(where=is_odd)}
    report = fm.evaluate(log, "auc", **COLUMNS, tasks=tasks)
    odd = fm.evaluate(log.filter(pa.array(is_odd)), "auc", **COLUMNS)["auc"]
    assert (report.result("auc", task="even").value, report.result("auc", task="odd").value) == (expected, odd)


@pytest.mark.parametrize(
    ("mask", "error", "words"),
    [
        ([True, False], ValueError, "where has 2 rows but"),
        ([1, 0, 1], TypeError, r"a mask, one boolean for each row; found 1 at row 0"),
        (np.ones(3), TypeError, r"one boolean for each row; found ndarray of float64"),
        (np.ones((3, 1), bool), TypeError, r"of bool and shape \(3, 1\)"),
        ({"a": True}, TypeError, "found dict"),
    ],
)
def test_other_masks_are_errors(log, mask, error, words):
    with pytest.raises(error, match=words):
        fm.evaluate(log, "auc", **COLUMNS, where=mask)


def test_where_rows_have_no_numbers_the_error_says_what_to_type(log, tmp_path):
    kept = np.ones(N_ROWS, bool)
    csv = tmp_path / "log.csv"
    log.to_pandas().to_csv(csv, index=False)
    for data in (csv, iter(log.to_batches()), pl.from_arrow(log).lazy()):
        with pytest.raises(ValueError, match='name it, such as where="kept"'):
            fm.evaluate(data, "auc", **COLUMNS, where=kept)
    question = fm.Evaluation("auc", **COLUMNS, where=kept)
    for refused in (question.to_toml, question.to_dict, question.plan, lambda: fm.Accumulator(question)):
        with pytest.raises(TypeError, match=r"where=<mask of 3,000 rows, 3,000 true .*such as where=\"kept\""):
            refused()


NATIVE = {
    "polars": (pl.col("p") * 2 - pl.col("q"), pl.col("click") == 1, pl.col("user") // 2, pl.col("weight") * 2),
    "pyarrow": (
        pc.subtract(pc.field("p") * 2, pc.field("q")), pc.field("click") == 1, pc.divide(pc.field("user"), 2),
        pc.field("weight") * 2,
    ),
}  # fmt: skip
SQL = ("p * 2 - q", "click = 1", "user // 2", "weight * 2")
ROLES = ("score", "label", "group", "weight")


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("library", NATIVE)
def test_expressions_in_every_role(log, path, library, n_threads):
    known, given = dict(zip(ROLES, SQL, strict=True)), dict(zip(ROLES, NATIVE[library], strict=True))
    by = {"polars": pl.col("channel").str.to_uppercase().alias("where"), "pyarrow": pc.utf8_upper(pc.field("channel"))}
    for data in (log, path):
        expected = fm.evaluate(data, "auc,gauc", **known, by="upper(channel)", ci=0.9, unit="user // 2")
        report = fm.evaluate(
            data, "auc,gauc", **given, by=by[library], ci=0.9, unit=given["group"], n_threads=n_threads
        )
        assert values(report) == values(expected)
        assert [own.interval for own in report] == [own.interval for own in expected]
    state = fm.Accumulator("auc,gauc", **given)
    for start in range(0, N_ROWS, 1000):
        state.update(log.slice(start, 1000))
    assert values(state.result()) == values(fm.evaluate(log, "auc,gauc", **known))


def test_models_and_names(log):
    twice = (pl.col("p") * 2).alias("twice")
    report = fm.evaluate(log, "auc", label="click", score=[twice, "q", pl.col("p") + pl.col("q")])
    assert report.result("auc", score="twice").value == fm.evaluate(log, "auc", label="click", score="p")["auc"]
    assert [own.score for own in report] == ["twice", "q", str(pl.col("p") + pl.col("q"))]
    compared = fm.compare(log, "auc", label="click", score=[twice, pl.col("q") * 1])
    known = fm.compare(log, "auc", label="click", score=["p", "q"])
    assert compared["auc"].difference == known["auc"].difference
    many = [pl.col("user").is_in(list(range(n))).cast(pl.Float64) for n in (30, 31)]  # their texts leave out numbers
    found = [fm.evaluate(log, "auc", label="click", score=own)["auc"] for own in many]
    stored = [
        fm.evaluate(log, "auc", label="click", score=f"cast(case when user < {n} then 1 else 0 end as double)")["auc"]
        for n in (30, 31)
    ]
    assert found == stored


def test_rows_that_are_left_out_are_not_computed():
    data = {"click": [0, 1, 1, 0], "text": ["1", "x", "0.5", "0.2"], "show": [True, False, True, True]}
    given = {"label": "click", "score": pl.col("text").cast(pl.Float64)}
    assert fm.evaluate(data, "auc", **given, where="show")["auc"] == 0.5
    with pytest.raises(ValueError, match=r"score column .*the expression of polars cannot be computed: .*conversion"):
        fm.evaluate(data, "auc", **given)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"score": pl.col("r") * 2}, "score: no column 'r'"),
        ({"score": pl.col("p") - pl.col("p").mean()}, "score: .*reads other rows than its own"),
        ({"where": pl.col("p") > pl.col("p").mean()}, "where: .*reads other rows than its own"),
        ({"score": pl.col("p").rank()}, "reads other rows than its own"),
        ({"score": pl.lit(1.0)}, "reads no column of the log"),
        ({"score": pl.col("p", "q")}, "has several columns: name one"),
        ({"score": (pl.col("p") * 2).alias("q")}, "the alias 'q' is a column of the log too"),
    ],
)
def test_errors_of_expressions(log, options, words):
    with pytest.raises(ValueError, match=words):
        fm.evaluate(log, "auc", **(COLUMNS | options))


OTHER_ROWS = [
    pl.col("p") - pl.col("p").mean(),
    pl.col("p").rank(),
    pl.col("p").cum_sum(),
    pl.col("p").shift(1, fill_value=0.0),
    pl.col("p").sort(),
]


@pytest.mark.parametrize("native", OTHER_ROWS, ids=str)
def test_expressions_of_other_rows_are_refused_by_any_version_of_polars(log, native, monkeypatch):
    """Old versions of polars do not say which rows an expression reads: its values are compared."""
    monkeypatch.setattr("fastmetrics.engine.expressions.native_values.reads_other_rows", lambda native: None)
    with pytest.raises(ValueError, match="reads other rows than its own"):
        fm.evaluate(log, "auc", **(COLUMNS | {"score": native}))
    assert fm.evaluate(log, "auc", **(COLUMNS | {"score": pl.col("p") * 2})) is not None


def test_python_functions_may_not_read_other_rows(log):
    """polars cannot tell what a Python function reads."""
    doubled = pl.col("p").map_batches(lambda column: column * 2, return_dtype=pl.Float64)
    centered = pl.col("p").map_batches(lambda column: column - column.mean(), return_dtype=pl.Float64)
    assert reads_other_rows(doubled) is None
    options = COLUMNS | {"score": doubled}
    assert fm.evaluate(log, "auc", **options).value("auc") == fm.evaluate(log, "auc", **COLUMNS).value("auc")
    with pytest.raises(ValueError, match="reads other rows than its own"):
        fm.evaluate(log, "auc", **(COLUMNS | {"score": centered}))
    with pytest.raises(ValueError, match=r"where: .*reads other rows than its own"):
        fm.evaluate(log, "auc", **COLUMNS, where=centered > 0)


def test_expressions_stay_in_the_process(log):
    question = fm.Evaluation("auc", label="click", score=pl.col("p") * 2)
    assert question == fm.Evaluation("auc", label="click", score=pl.col("p") * 2)
    assert pickle.loads(pickle.dumps(question)).run(log)["auc"] == question.run(log)["auc"]
    for refused in (question.to_toml, question.to_dict, lambda: fm.Accumulator(question).to_bytes()):
        with pytest.raises(TypeError, match=r"a stored question cannot run an expression of polars, .*write it in SQL"):
            refused()
