"""Keys of several columns and of every type: equal tuples are equal keys, different tuples never are."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastmetrics._core.columns.group_keys import as_keys
from fastmetrics._core.columns.key_columns import KeyScratch
from fastmetrics._core.columns.key_types import TAIL, slots_of
from fastmetrics._core.exchange.hash_exchange import GroupKeys
from fastmetrics._kernels.columns.column_blocks import ColumnBlocks
from fastmetrics._kernels.exchange import hash_partition, tuple_keys
from support import strategies
from support.cases import assert_raises, each_case
from support.function_cases import FUNCTIONS, GROUPED, call, every_value
from support.peers import pandas, polars

NUMBERS = st.sampled_from([0, 1, -1, 123, 124, 247, 248, 255, 256, -(2**63), 2**63 - 1]) | st.integers(
    -(2**63), 2**63 - 1
)
UNSIGNED = st.sampled_from([0, 247, 248, 2**63, 2**64 - 1]) | st.integers(0, 2**64 - 1)
TEXTS = st.text(alphabet=st.sampled_from("\x00\x01\xf8ab🙂"), max_size=12) | st.sampled_from(["a" * 247, "a" * 248])
FLOATS = st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 1.0])
DATES = st.dates()
TYPES = {
    "int64": (NUMBERS, pa.int64()),
    "uint64": (UNSIGNED, pa.uint64()),
    "string": (TEXTS, pa.string()),
    "large_string": (TEXTS, pa.large_string()),
    "double": (FLOATS, pa.float64()),
    "date": (DATES, pa.date32()),
    "bool": (st.booleans(), pa.bool_()),
}


@st.composite
def tables(draw):
    """The types of one to four columns, and rows of them; some rows are repeated."""
    names = draw(st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=4))
    rows = draw(st.lists(st.tuples(*(TYPES[name][0] for name in names)), min_size=1, max_size=20))
    return names, rows + draw(st.lists(st.sampled_from(rows), max_size=5))


def table_of(names, rows):
    return pa.table({f"c{number}": pa.array([row[number] for row in rows], TYPES[name][1])
                     for number, name in enumerate(names)})  # fmt: skip


def stored(keys):
    """What is compared: hash and slots, long text by its bytes."""
    scratch = KeyScratch(keys.rows, keys.dtype)
    keys.hash_block(0, keys.rows, scratch)
    group_keys = GroupKeys(scratch.hashes, scratch.heads, scratch.tails, keys.dtype)
    slots = [] if TAIL not in slots_of(keys.dtype) else [hash_partition.read_text_slots(scratch.heads, scratch.tails)]
    heads = [] if len(slots_of(keys.dtype)) != 1 else [scratch.heads.tolist()]
    return list(zip(scratch.hashes.tolist(), *heads, *slots, strict=True)), group_keys.values(), scratch


@settings(max_examples=300, deadline=None)
@given(tables())
def test_keys_are_equal_where_tuples_are_and_go_back_to_them(table):
    names, rows = table
    found, values, _ = stored(as_keys(table_of(names, rows)))
    expected = [tuple(float(part) + 0.0 if isinstance(part, float) else part for part in row) for row in rows]
    numbers, own = {}, {}
    assert [numbers.setdefault(key, len(numbers)) for key in found] == [
        own.setdefault(row, len(own)) for row in expected
    ]
    assert [row if isinstance(row, tuple) else (row,) for row in values.tolist()] == expected


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS, NUMBERS, TEXTS), min_size=2, max_size=30, unique=True))
def test_texts_that_are_prefixes_of_each_other(rows):
    found, _, _ = stored(as_keys(table_of(["string", "string", "int64", "string"], rows)))
    assert len(set(found)) == len(rows)


@each_case("first", ["int8", "int32", "uint32", "int64"])
@each_case("others", [[1, 2, 3], ["a", "", "b"]])
def test_the_width_of_an_integer_column_does_not_matter(others, first):
    numbers = [0, 1, 127]
    expected, _, _ = stored(as_keys({"a": np.array(numbers, np.int64), "b": others}))
    assert stored(as_keys({"a": np.array(numbers, first), "b": others}))[0] == expected


@each_case("second", [
    pa.array(["x", "yy", "x"]).dictionary_encode(),
    pa.array(["x", "yy", "x"], pa.string_view()),
    pa.array(["", "x", "yy", "x"], pa.large_string()).slice(1),
    np.array(["x", "yy", "x"]),
])  # fmt: skip
def test_the_container_of_a_text_does_not_matter(second):
    expected, _, _ = stored(as_keys({"a": [1, 2, 3], "b": ["x", "yy", "x"]}))
    assert stored(as_keys({"a": [1, 2, 3], "b": second}))[0] == expected


@each_case("columns", [
    {"a": [3, 1, 2, 1], "b": [1, 2, 3, 2]},
    {"a": ["x", "y" * 20, "z", "y" * 20], "b": [1, 2, 3, 2]},
    {"a": np.array(["x", "é", "z", "é"]), "b": [1.5, 2.5, 3.5, 2.5], "c": [1, 2, 3, 2]},
])  # fmt: skip
def test_selected_and_concatenated_keys(columns):
    keys = as_keys(columns)
    mask = np.array([True, False, True, True])
    found, _, _ = stored(keys)
    assert stored(keys.select(mask))[0] == [found[0], found[2], found[3]]
    assert stored(keys.concatenate([keys.select(mask)]))[0] == [*found, found[0], found[2], found[3]]
    assert keys.to_numpy().tolist() == stored(keys)[1].tolist()


@each_case("key", [b"", b"\xf8", b"\xff\x00", b"\x01\x05ab"])
def test_bytes_that_are_no_tuple(key):
    kinds = np.array([tuple_keys.INT64, tuple_keys.TEXT64, tuple_keys.INT64], np.uint8)
    with pytest.raises(ValueError, match="too early"):
        tuple_keys.decode_tuples([key], kinds, np.empty((3, 1), np.uint64))


def test_a_buffer_that_is_too_small():
    numbers = np.full(100, 2**60)
    offsets, out = np.empty(101, np.int64), np.empty(300, np.uint8)
    kinds = np.full(3, tuple_keys.INT64, np.uint8)
    columns = [ColumnBlocks([numbers])] * 3
    assert not tuple_keys.encode_tuples(kinds, columns, [None] * 3, offsets, out)


def number_of_tuple(*columns):
    return np.unique(np.rec.fromarrays(columns), return_inverse=True)[1]


TABLES = {
    "dict": dict,
    "pandas": lambda columns: pandas().DataFrame(columns),
    "polars": lambda columns: polars().DataFrame(columns),
    "arrow": pa.table,
    "batch": lambda columns: pa.RecordBatch.from_pydict(columns),
    "struct": lambda columns: pa.table(columns).to_struct_array(),
    "chunk of structs": lambda columns: pa.table(columns).to_struct_array().combine_chunks(),
    "records": lambda columns: np.rec.fromarrays(list(columns.values()), names=list(columns)),
}


@each_case("container", TABLES)
def test_functions_take_tables_as_groups(container):
    log = strategies.click_log(3000, seed=1)
    columns = {"user": log["group"], "half": np.arange(3000) % 2}
    numbered = number_of_tuple(*columns.values())
    groups = TABLES[container](columns)
    assert every_value({**log, "group": groups}, ["gauc_score"]) == every_value(
        {**log, "group": numbered}, ["gauc_score"]
    )
    table = call("auc_by_group", {**log, "group": groups})
    expected = call("auc_by_group", {**log, "group": numbered})
    assert table.group.tolist() == sorted(set(zip(log["group"].tolist(), columns["half"].tolist(), strict=True)))
    np.testing.assert_array_equal(table.auc, expected.auc)


MEANS = [name for name in GROUPED if not name.endswith("_by_group")]
KEYS = {
    "dates": np.array(["2024-01-01", "1969-12-31"], "M8[D]"),
    "times": np.array(["2024-01-01T10:00:00.000000001", "1700-01-01"], "M8[ns]"),
    "durations": np.array([-5, 7], "m8[s]"),
    "whole floats": np.array([3.0, -4.0]),
    "half floats": np.array([0.5, 2.5], np.float16),
    "floats": np.array([np.inf, 5e-324]),
    "booleans": np.array([True, False]),
    "arrow dates": pa.array([datetime.date(2024, 1, 1), datetime.date(1, 1, 1)]),
    "arrow times with a zone": pa.array([1, 2], pa.timestamp("ms", tz="Asia/Tokyo")),
    "arrow times of day": pa.array([datetime.time(1), datetime.time(2)]),
    "arrow durations": pa.array([1, 2], pa.duration("us")),
    "arrow dictionary of dates": pa.array([datetime.date(2024, 1, 1), datetime.date(1, 1, 1)]).dictionary_encode(),
    "python dates": [datetime.date(2024, 1, 1), datetime.date(2023, 1, 1)],
    "python times": [datetime.datetime(2024, 1, 1, 1), datetime.datetime(2023, 1, 1)],
}


@each_case("kind", KEYS)
def test_keys_of_dates_times_and_floats(kind):
    log = strategies.click_log(1000, seed=2)
    picks = np.arange(1000) % 2
    values = KEYS[kind]
    groups = [values[pick] for pick in picks] if isinstance(values, list) else values.take(picks)
    assert every_value({**log, "group": groups}, MEANS) == every_value({**log, "group": picks}, MEANS)
    assert call("auc_by_group", {**log, "group": groups}).n.tolist() == [500, 500]


def test_keys_come_back_as_they_were():
    log = strategies.click_log(4, seed=2)
    days = np.array(["2024-01-02", "2024-01-01"], "M8[D]")[[0, 1, 0, 1]]
    for keys in (days, days.astype("M8[ns]"), np.float32([0.1, 0.5, 0.1, 0.5]), np.array([True, False, True, False])):
        group = call("auc_by_group", {**log, "group": keys}).group
        assert group.dtype == keys.dtype
        np.testing.assert_array_equal(group, np.unique(keys))


def test_zeros_are_one_key():
    log = strategies.click_log(4, seed=2)
    assert call("auc_by_group", {**log, "group": [-0.0, 0.0, 1.0, -0.0]}).n.tolist() == [3, 1]


BAD = {
    "NaN": ([1.0, np.nan, 2.0, 2.0], ValueError, "groups has NaN at row 1"),
    "NaT": (np.array(["2024", "NaT", "2024", "2024"], "M8[D]"), ValueError, "groups has NaT at row 1"),
    "long double": (np.ones(4, np.longdouble), TypeError, r"astype\(float\)"),
    "complex": (np.ones(4, complex), TypeError, r"complex128.*astype\(str\)"),
    "list": (pa.array([[1]] * 4), TypeError, "list.*name columns"),
    "matrix": (np.ones((4, 2)), ValueError, "DataFrame"),
    "tuples": ([("a", 1)] * 4, ValueError, "DataFrame"),
    "lengths": ({"a": [1] * 4, "b": [1] * 3}, ValueError, "column 'a' has 4 rows but groups column 'b' has 3"),
    "a null in a column": (
        {"a": [1] * 4, "b": pa.array([1, 2, None, 1])}, ValueError, "column 'b' has a null at row 2"
    ),
    "a null of a struct": (
        pa.array([{"a": 1}, None, {"a": 2}, {"a": 3}]), ValueError, "column 'a' has a null at row 1"
    ),
    "NaN in a column": ({"a": [1] * 4, "b": [1, 2, 3, np.nan]}, ValueError, "column 'b' has NaN at row 3"),
    "a table in a table": ({"a": {"b": [1] * 4}}, TypeError, "column 'a' is a table"),
    "no columns": ({}, ValueError, "no columns"),
}  # fmt: skip


@each_case("kind", BAD)
def test_bad_keys_are_named(kind):
    groups, error, message = BAD[kind]
    assert_raises(error, message, call, "auc_by_group", {**strategies.click_log(4, seed=1), "group": groups})


def test_two_columns_of_one_name():
    frame = pandas().DataFrame([[1, 2]] * 4, columns=["a", "a"])
    log = {**strategies.click_log(4, seed=1), "group": frame}
    assert_raises(ValueError, "two columns 'a'", call, "auc_by_group", log)


@each_case("name", ["auc_by_group", "errors_by_group", "ranking_by_group"])
def test_keys_of_tables_as_arrow(name):
    log = strategies.click_log(6, seed=3)
    groups = {"user": ["a", "b", "a", "b", "a", "a"], "day": np.array([1, 1, 1, 1, 2, 2], "M8[D]")}
    table = call(name, {**log, "group": groups}, **FUNCTIONS[name].options[0]).to_arrow()
    days = [datetime.date(1970, 1, 2), datetime.date(1970, 1, 3), datetime.date(1970, 1, 2)]
    assert table["group"].to_pylist() == [{"user": user, "day": day} for user, day in zip("aab", days, strict=True)]
