"""Columns of every type in every role: evaluate, compare and Accumulator give the numbers of plain columns."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.dataset
import pyarrow.parquet
import pytest

import fastmetrics as fm
from fastmetrics.engine.input.sources import open_source
from support.cases import assert_raises, each_case
from support.files.log_files import corrupt_column, read
from support.peers import pandas, polars

ROWS = 3000
METRICS = ["auc", "gauc", "logloss", "ndcg@5"]
NAMES = {"label": "click", "score": "p", "group": "user"}


def plain_log():
    rng = np.random.default_rng(3)
    score = np.round(rng.random(ROWS), 4)
    return {"click": rng.integers(0, 2, ROWS), "p": score, "user": rng.integers(0, 40, ROWS),
            "w": np.round(rng.random(ROWS) + 0.5, 2)}  # fmt: skip


def as_decimals(values, kind):
    return pa.array([Decimal(str(value)) for value in values.tolist()], kind)


def values_of(report):
    return [(result.metric, result.value) for result in report]


LOG = plain_log()
USERS = pa.array(LOG["user"])
KINDS = {
    "decimals": {
        "p": as_decimals(LOG["p"], pa.decimal128(10, 4)), "click": as_decimals(LOG["click"], pa.decimal128(3, 1)),
        "w": as_decimals(LOG["w"], pa.decimal128(20, 3)), "user": as_decimals(LOG["user"], pa.decimal128(12, 2)),
    },
    "wide decimals": {
        "p": as_decimals(LOG["p"], pa.decimal256(60, 30)), "user": as_decimals(LOG["user"], pa.decimal256(40, 1)),
    },
    "runs": {name: pa.compute.run_end_encode(pa.array(LOG[name])) for name in ("p", "click", "user")},
    "dictionaries": {name: pa.array(LOG[name]).dictionary_encode() for name in ("p", "click", "user", "w")},
    "float keys": {"user": USERS.cast(pa.float64())},
    "bytes": {"user": USERS.cast(pa.string()).cast(pa.binary())},
    "large bytes": {"user": USERS.cast(pa.string()).cast(pa.large_binary())},
    "views": {"user": USERS.cast(pa.string()).cast(pa.string_view())},
    "dates": {"user": USERS.cast(pa.int32()).cast(pa.date32())},
    "times": {"user": USERS.cast(pa.timestamp("us", "Asia/Tokyo"))},
    "durations": {"user": USERS.cast(pa.duration("ms"))},
}  # fmt: skip


@each_case("container", ["table", "parquet"])
@each_case("kind", KINDS)
def test_the_numbers_are_those_of_plain_columns(kind, container, tmp_path):
    table = pa.table({**LOG, **KINDS[kind]})
    data = table
    if container == "parquet":
        if kind == "runs":
            pytest.skip("Parquet has no runs of rows")
        pa.parquet.write_table(table, tmp_path / "log.parquet", row_group_size=700)
        data = tmp_path / "log.parquet"
    expected = values_of(fm.evaluate(LOG, METRICS, **NAMES))
    assert values_of(fm.evaluate(data, METRICS, **NAMES)) == expected
    state = fm.Accumulator(METRICS, **NAMES)
    for piece in (table.slice(0, 1000), table.slice(1000)):
        state.update(piece)
    assert values_of(fm.Accumulator.from_bytes(state.to_bytes()).result()) == expected
    weighted = {"label": "click", "score": "p", "weight": "w"}
    assert values_of(fm.evaluate(data, ["logloss"], **weighted)) == values_of(fm.evaluate(LOG, ["logloss"], **weighted))


def test_decimals_are_compared_exactly():
    table = pa.table({**LOG, **KINDS["decimals"], "q": LOG["p"][::-1]})
    plain = {**LOG, "q": LOG["p"][::-1]}
    names = {"label": "click", "score": ["p", "q"], "group": "user", "replicates": 20}
    found, expected = (fm.compare(data, ["auc", "logloss"], **names) for data in (table, plain))
    # The resampling units are decimals there and integers here: only the values are the same.
    assert [row.difference for row in found] == [row.difference for row in expected]


SLICES = {
    "float": pa.array([0.5, -0.0, 0.0, 0.5]),
    "decimal": pa.array([Decimal("1.50"), Decimal("-0.00"), Decimal("0.00"), Decimal("1.50")]),
    "date": pa.array([1, 0, 0, 1], pa.date32()),
    "time with a zone": pa.array([1, 0, 0, 1], pa.timestamp("ms", "Europe/Berlin")),
    "nanoseconds": pa.array([1, 0, 0, 1], pa.timestamp("ns")),
    "time of day": pa.array([1000, 0, 0, 1000], pa.time64("ns")),
    "duration": pa.array([1, 0, 0, 1], pa.duration("us")),
    "bytes": pa.array([b"\xff", b"a", b"a", b"\xff"]),
    "fixed bytes": pa.array([b"\xffa", b"ab", b"ab", b"\xffa"], pa.binary(2)),
    "runs": pa.compute.run_end_encode(pa.array([1, 0, 0, 1])),
    "view": pa.array(["b", "a", "a", "b"], pa.string_view()),
    "dictionary of decimals": pa.array([Decimal(1), Decimal(0), Decimal(0), Decimal(1)]).dictionary_encode(),
}


@each_case("kind", SLICES)
def test_slices_of_every_type(kind):
    log = {"click": [1, 0, 1, 0], "p": [0.5, 0.25, 0.75, 0.125], "by": SLICES[kind]}
    report = fm.evaluate(pa.table(log), ["ctr", "logloss"], label="click", score="p", by="by")
    by_slice = {repr(result.slice["by"]): result.value for result in report if result.slice and result.metric == "ctr"}
    assert list(by_slice.values()) == [0.5, 0.5]
    sizes = [result.value for result in report if result.slice and result.metric == "logloss"]
    expected = [fm.log_loss([0, 1], [0.25, 0.75]), fm.log_loss([1, 0], [0.5, 0.125])]
    assert sizes in (expected, expected[::-1])
    report.to_json()
    state = fm.Accumulator(["ctr"], label="click", score="p", by="by")
    state.update(pa.table(log))
    again = fm.Accumulator.from_bytes(state.to_bytes()).result()
    assert [result.value for result in again if result.slice] == [0.5, 0.5]


def test_times_that_python_cannot_hold_are_no_slices():
    log = {"click": [1, 0], "p": [0.5, 0.25], "by": pa.array([1, 2], pa.time64("ns"))}
    message = r"by column 'by' .*time64\[ns\].*nanoseconds"
    assert_raises(ValueError, message, fm.evaluate, pa.table(log), ["ctr"], label="click", score="p", by="by")


# -------------------------------------------------------------------------------------------------- nested fields


def nested_table():
    scores = pa.array(LOG["p"])
    model = pa.StructArray.from_arrays([scores, pa.array(["x"] * ROWS)], ["score", "name"])
    outer = pa.StructArray.from_arrays([model, USERS], ["model", "user"])
    return pa.table({"click": LOG["click"], "model": model, "outer": outer, "user": LOG["user"]})


NESTED = {
    "table": lambda table, folder: table,
    "parquet": lambda table, folder: write_parquet(table, folder),
    "batches": lambda table, folder: iter(table.to_batches(max_chunksize=500)),
    "dict": lambda table, folder: {name: table[name] for name in table.column_names},
    "rows": lambda table, folder: table.to_pylist(),
    "polars": lambda table, folder: polars().from_arrow(table),
    "LazyFrame": lambda table, folder: polars().from_arrow(table).lazy(),
    "pandas": lambda table, folder: pandas() and table.to_pandas(),
    "dataset": lambda table, folder: pa.dataset.dataset(table),
}


def write_parquet(table, folder, **options):
    pa.parquet.write_table(table, folder / "log.parquet", row_group_size=1000, **options)
    return folder / "log.parquet"


@each_case("container", NESTED)
def test_fields_are_named_by_their_path(container, tmp_path):
    expected = values_of(fm.evaluate(LOG, METRICS, **NAMES))
    for score, group in (("model.score", "user"), ("outer.model.score", "outer.user")):
        data = NESTED[container](nested_table(), tmp_path)
        report = fm.evaluate(data, METRICS, label="click", score=score, group=group)
        assert values_of(report) == expected
        assert report.columns["score"] == score


def test_a_column_of_the_whole_name_wins(tmp_path):
    table = nested_table().append_column("model.score", pa.array(LOG["p"][::-1]))
    for data in (table, write_parquet(table, tmp_path)):
        assert read(data, ["model.score"])["model.score"].to_pylist() == LOG["p"][::-1].tolist()
        both = read(data, ["model.score", "model.name"])
        assert both["model.name"].to_pylist() == ["x"] * ROWS


def test_a_field_of_a_null_is_null(tmp_path):
    rows = [{"click": 1, "model": {"score": 0.5}}, {"click": 0, "model": None}, {"click": 0, "model": {"score": 0.25}}]
    table = pa.Table.from_pylist(rows)
    names = {"label": "click", "score": "model.score"}
    for data in (table, table.slice(1), rows, write_parquet(table, tmp_path)):
        report = fm.evaluate(data, ["logloss"], on_invalid="drop", **names)
        assert sum(report.dropped.values()) == 1
        assert_raises(ValueError, r"score column 'model.score' has a null at row [01]", fm.evaluate, data, ["logloss"],
                      **names)  # fmt: skip


def test_only_the_field_is_decoded(tmp_path):
    """The other field of the struct, and the other columns, may be damaged."""
    path = write_parquet(nested_table().select(["click", "model"]), tmp_path, compression="zstd", use_dictionary=False)
    paths = [pa.parquet.read_metadata(path).row_group(0).column(index).path_in_schema for index in range(3)]
    corrupt_column(path, paths.index("model.name"))
    found = read(path, ["click", "model.score"])
    assert found["model.score"].to_pylist() == LOG["p"].tolist()
    with pytest.raises(ValueError, match="cannot be read"):
        read(path, ["model.name"])


def test_names_that_no_struct_has(tmp_path):
    path = write_parquet(nested_table(), tmp_path)
    for data in (nested_table(), path):
        source = open_source(data)
        assert_raises(ValueError, r"score: no column 'scor' in the fields of column 'model'; did you mean 'score'",
                      source.require, "model.scor", "score")  # fmt: skip
        assert_raises(ValueError, r"column 'click' has Arrow type int64, which has no field 'x'",
                      source.require, "click.x", "label")  # fmt: skip
        assert_raises(ValueError, r"no column 'modl.score' in", source.require, "modl.score")


def test_columns_that_hold_no_numbers_say_what_to_type():
    nested = {"label": "click", "score": "model"}
    words = r"score column 'model' has Arrow type struct<.*name a field of it, 'model.score' or 'model.name'"
    assert_raises(TypeError, words, fm.evaluate, nested_table(), ["auc"], **nested)
    lists = pa.table({"click": [1, 0], "p": [[0.5], [0.25]]})
    words = r"score column 'p' has Arrow type list<.*one number in every row"
    assert_raises(TypeError, words, fm.evaluate, lists, ["auc"], label="click", score="p")
    words = r"group column 'p' has Arrow type list of int64"
    groups = pa.table({"click": [1, 0], "s": [0.5, 0.25], "p": [[1], [2]]})
    assert_raises(TypeError, words, fm.evaluate, groups, ["gauc"], label="click", score="s", group="p")
    nulls = {"click": [1, 0], "p": [None, None]}
    words = "score column 'p' has a null at row 0"
    assert_raises(ValueError, words, fm.evaluate, nulls, ["auc"], label="click", score="p")


KINDS_OF_OBJECTS = {
    "list": list,
    "objects": lambda values: np.array(values, object),
    "pandas": lambda values: pandas().Series(values),
}


@each_case("container", KINDS_OF_OBJECTS)
def test_texts_beside_bytes_are_not_one_kind(container):
    kind = KINDS_OF_OBJECTS[container]
    log = {"click": [1, 0, 1], "score": [0.1, 0.2, 0.3], "user": kind([b"a", "a", b"b"])}
    message = r"data\['user'\] has the text 'a' at row 1, and bytes in other rows"
    assert_raises(ValueError, message, fm.evaluate, log, ["gauc"], label="click", score="score", group="user")
