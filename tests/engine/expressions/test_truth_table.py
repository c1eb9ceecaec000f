"""The truth table of expressions on pyarrow, and on DuckDB where its rules are ours; tests/spark has it on Spark."""

import pyarrow as pa
import pytest

from fastmetrics.engine.expressions.arrow_values import arrow_type_of, value_type
from support.cases import each_case
from support.expression_cases import TABLE, TRUTH_TABLE, comparable, values_of

# Where DuckDB has rules of its own: division by zero, arithmetic and rounding of float32, casts that round, case of
# letters beyond ASCII, CONCAT of nulls, dates that become timestamps, the order of AND and OR, numbers near 2**63.
RULES_OF_DUCKDB = {
    "i / k", "i // k", "k div 2", "i % k", "x / 0", "x / x", "1 / x", "f * f", "f + 1", "f = 0.1", "lower(s)",
    "upper(s)",
    "concat(w, '-', s)", "round(f, 1)", "sqrt(f)", "ln(k - 3)", "date_trunc('quarter', day)",
    "date_trunc('month', day)", "date_trunc('week', day)", "extract(epoch from z)", "day + interval 1 week",
    "day - interval 1 day", "cast(d as int)", "try_cast(f as tinyint)", "k <> 0 and i // k > 0",
    "s = '12' and cast(s as int) = 12", "s <> '12' or cast(s as int) = 12",
    "cast(4611686018427387905 - k * 0 as double) = 4611686018427387905 - k * 0",
    "cast(9223372036854775807 - k * 0 as double) > 9223372036854775807 - k * 0",
}  # fmt: skip


@each_case(("text", "expected"), TRUTH_TABLE, ids=[text for text, _ in TRUTH_TABLE])
def test_arrow(text, expected):
    value, found = values_of(text)
    assert list(map(comparable, found.to_pylist())) == list(map(comparable, expected))
    assert value_type(found.type) == value.type
    assert value_type(arrow_type_of(value.type)) == value.type


def test_parts_of_the_table_have_the_same_values():
    """Offsets of arrays, and tables without a row."""
    part = TABLE.slice(1, 3)
    for text, expected in TRUTH_TABLE:
        assert list(map(comparable, values_of(text, part)[1].to_pylist())) == list(map(comparable, expected[1:4])), text
        assert len(values_of(text, TABLE.slice(0, 0))[1]) == 0, text


@pytest.mark.peers
def test_duckdb():
    import duckdb

    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'")
    connection.register("log", TABLE)
    same = [(text, expected) for text, expected in TRUTH_TABLE if text not in RULES_OF_DUCKDB]
    columns = ", ".join(f"({text})" for text, _ in same)
    rows = connection.execute(f"select {columns} from log").fetchall()
    for (text, expected), found in zip(same, zip(*rows, strict=True), strict=True):
        assert list(map(comparable, found)) == list(map(comparable, expected)), text
    assert len(same) > 190


def test_texts_of_dictionaries():
    """A condition on a dictionary is computed for its texts, whatever they are; nulls stay null."""
    coded = pa.chunked_array([["a", None, "b"] * 40]).combine_chunks().dictionary_encode()
    unused = pa.DictionaryArray.from_arrays(coded.indices, pa.array(["a", "b", None, "zz"]))
    for text in ("t = 'a'", "t <> 'a'", "t in ('a', 'zz')", "t like '%b'", "t >= 'b'", "'a' < t", "t not in ('a')"):
        expected = values_of(text, pa.table({"t": pa.array(["a", None, "b"] * 40)}))[1]
        assert values_of(text, pa.table({"t": coded}))[1].to_pylist() == expected.to_pylist(), text
        assert values_of(text, pa.table({"t": unused}))[1].to_pylist() == expected.to_pylist(), text


@pytest.mark.parametrize("sign", ["+", "-", "*"])
def test_float32_columns_are_widened_first(sign):
    columns = {"a": [0.1, float("inf"), 3e38, -0.0], "b": [0.7, 0.0, 3e38, 1e-45]}
    single = pa.table({name: pa.array(values, pa.float32()) for name, values in columns.items()})
    double = pa.table({name: column.cast(pa.float64()) for name, column in zip("ab", single.columns, strict=True)})
    found, expected = (values_of(f"a {sign} b", table)[1] for table in (single, double))
    assert found.type == pa.float64()
    assert list(map(comparable, found.to_pylist())) == list(map(comparable, expected.to_pylist()))
    part = values_of(f"a {sign} b", single.slice(1, 2))[1].to_pylist()
    assert list(map(comparable, part)) == list(map(comparable, found.to_pylist()))[1:3]
