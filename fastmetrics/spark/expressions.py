"""Filters and computed columns of a DataFrame, as SQL that Spark computes itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastmetrics._core.columns.validation import missing_column_text
from fastmetrics.engine.expressions.errors import ExpressionError
from fastmetrics.engine.expressions.parser import is_plain_name, parse_expression
from fastmetrics.engine.expressions.primitives import Primitive, ValueType, in_zone
from fastmetrics.engine.expressions.spark_sql import MARK, spark_type, to_spark_sql
from fastmetrics.engine.expressions.tree import Column, Expression, iterate_nodes
from fastmetrics.engine.input.batches import require_column, split_path
from fastmetrics.engine.input.computed_columns import WHERE, check_condition, check_expression

THE_FRAME = "the DataFrame"


def sql_of_column(df: Any, role: str, name: str, title: str, time_zone: str | None) -> str | None:
    """The SQL of a computed column, or None for a column of the DataFrame. `title` begins the messages of errors."""
    expression = find_expression(df, role, name)
    if expression is None:
        return None
    return sql_of(df, check_expression(expression, role, lambda column: type_of_column(df, column, time_zone)), title)


def sql_of_condition(df: Any, text: str, title: str, time_zone: str | None) -> str:
    """The SQL of a filter. `title` begins the messages of errors."""
    value = check_condition(read_columns(df, WHERE, text), lambda column: type_of_column(df, column, time_zone))
    return sql_of(df, value, title)


def find_expression(df: Any, role: str, name: str) -> Expression | None:
    """The expression that a name is; None if it is a column."""
    if is_column(df, name) or is_plain_name(name):
        require_column(split_path(name, df.columns)[0], role, THE_FRAME, list(df.columns))
        return None
    return read_columns(df, role, name)


def read_columns(df: Any, role: str, text: str) -> Expression:
    """An expression, of which all columns are there. The name of a column is one too."""
    if is_column(df, text):
        return Expression(text, Column(text, (0, len(text))))
    try:
        expression = parse_expression(text)
    except ExpressionError as error:
        missing = "" if role == WHERE else f"{missing_column_text(text, THE_FRAME, df.columns)}. As an expression: "
        raise ExpressionError(f"{role}: {missing}{error.what}", text, error.place) from None
    for node in iterate_nodes(expression.root):
        if isinstance(node, Column) and not is_column(df, node.name):
            missing = missing_column_text(node.name, THE_FRAME, df.columns)
            raise ExpressionError(f"{role}: {missing}", text, node.place)
    return expression


def is_column(df: Any, name: str) -> bool:
    """Is it the name of a column, or the path of a field?"""
    return split_path(name, df.columns)[0] in df.columns


def type_of_column(df: Any, name: str, time_zone: str | None) -> ValueType:
    root, fields = split_path(name, df.columns)
    found = df.schema[root].dataType
    for field in fields:
        found = found[field].dataType
    return in_zone(spark_type(found), time_zone)


def sql_of(df: Any, value: Primitive, title: str) -> str:
    return to_spark_sql(value, title, lambda name: quote_path(df, name))


def quote_path(df: Any, name: str) -> str:
    """A column or a field in Spark's SQL, whatever characters it has."""
    root, fields = split_path(name, df.columns)
    return ".".join("`" + part.replace("`", "``") + "`" for part in (root, *fields))


@contextmanager
def translated_errors() -> Iterator[None]:
    """Errors of expressions that Spark raises, with their own message alone."""
    try:
        yield
    except Exception as error:
        parts = str(error).split(MARK)
        if len(parts) < 3:
            raise
        raise ValueError(parts[1]) from None
