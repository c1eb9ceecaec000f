"""The functions of docs/expressions.md are those that expressions may call; every other name is refused."""

import re
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest
import sqlglot.expressions as exp

from fastmetrics.engine.expressions.errors import ExpressionError
from fastmetrics.engine.expressions.parser import dialect, parse_expression
from fastmetrics.engine.expressions.tree import SLICE_FUNCTIONS
from fastmetrics.engine.expressions.typed_words import (
    FUNCTION_WORDS,
    OTHER_SIGNS,
    OTHER_THAN_CALLS,
    OTHER_WORDS,
    is_aggregate,
)
from support.cases import assert_raises, each_case
from support.expression_cases import values_of

PAGE = Path(__file__).resolve().parents[3] / "docs" / "expressions.md"
ROW = pa.table({"t": [datetime(2026, 11, 1, 12, 34, 56)], "x": [-2.5], "s": ["Überall"]})
# The words of other databases for parts of a time, and what else sqlglot has read in their place.
ARGUMENTS = ("t", "t, t", "t, t, t", "'day', t", "t, 'day'", "'day', t, t", "day from t", "t as int", "")


def examples():
    """(functions named in the first cell, example, shown value) of the table of functions."""
    if not PAGE.is_file():
        pytest.skip("no docs beside the tests")
    table = PAGE.read_text(encoding="utf-8").partition("### Functions\n")[2].partition("\nQueries, ")[0]
    for line in table.splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 3 and cells[1].startswith("`"):
            yield re.findall(r"`(\w+)`", cells[0].partition(":")[0]), cells[1].strip("`"), cells[2]


def test_the_page_has_all_functions_and_no_other():
    named = [name for names, _, _ in examples() for name in names if name in FUNCTION_WORDS]
    listed = [name for names, _, _ in examples() for name in names]
    assert set(named) == set(FUNCTION_WORDS)
    assert [name for name in listed if not re.search(rf"\b{name}\b", PAGE.read_text(encoding="utf-8"))] == []
    called = {re.match(r"\w+", example)[0] for _, example, _ in examples()}
    assert called <= set(FUNCTION_WORDS)
    assert set(SLICE_FUNCTIONS) <= called


def test_examples_of_the_page_have_the_values_that_it_shows():
    shown = [(example, value) for _, example, value in examples() if value]
    for example, value in shown:
        assert str(values_of(example, ROW)[1].to_pylist()[0]) == value, example
    assert len(shown) > 30


def test_everything_that_is_read_is_on_the_page():
    """All names that sqlglot knows as functions, with arguments of each shape."""
    names = {name.lower() for name in [*exp.FUNCTION_BY_NAME, *dialect().Parser.FUNCTIONS, *OTHER_WORDS]}
    names |= {name.lower() for name in dialect().Parser.FUNCTION_PARSERS}
    accepted = set()
    for name in names:
        for arguments in ARGUMENTS:
            try:
                parse_expression(f"{name}({arguments})")
            except ExpressionError:
                continue
            accepted.add(name)
    assert accepted - {"like"} <= set(FUNCTION_WORDS)  # like (...) is the operator
    assert len(names) > 500


@each_case("name", sorted(set(OTHER_WORDS) - set(FUNCTION_WORDS)))
def test_other_words_are_answered_with_what_to_type(name):
    message = rf"(no function {name}; did you mean {re.escape(OTHER_WORDS[name])}|no aggregates|syntax error)"
    assert_raises(ExpressionError, message, parse_expression, f"{name}(t)")


@each_case("text, found", [("mod(x, 2, 3)", 3), ("mod(x, abs(x), [1, 2], 4)", 4), ("date_trunc('day', t, x)", 3)])
def test_arguments_are_not_passed_over(text, found):
    assert_raises(ExpressionError, f"has two arguments; found {found}", parse_expression, text)


@each_case("sign", OTHER_SIGNS)
def test_other_signs(sign):
    text = f"{sign} x" if sign in "@!" else f"x {sign} x"
    assert_raises(ExpressionError, re.escape(f"{sign} is not known here; did you mean"), parse_expression, text)
    parse_expression(f"s = '{sign}' and \"{sign}\" = 1")  # in texts and names they are letters


def test_calls_keep_their_other_meanings():
    for text in (
        "x in (1, 2)", "not (x > 1)", "case when (x > 1) then (2) else (3) end", "x between (1) and (2)",
        "extract(hour from (t))", "cast(x as decimal(18, 4))", "x and (s like 'a%')", "(x) is null", "x div (2)",
    ):  # fmt: skip
        parse_expression(text)
    assert not {word for word in OTHER_THAN_CALLS if is_aggregate(word)} & set(FUNCTION_WORDS)
    assert_raises(ExpressionError, "'day' is between quotes, so it is a column", parse_expression, '"day"(t)')
    assert_raises(ExpressionError, "the expression cannot be read", parse_expression, "var_map(t)")
