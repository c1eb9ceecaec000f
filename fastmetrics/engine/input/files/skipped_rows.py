"""Rows that are not read, because no filter keeps them: ranges of columns from folders and from Parquet's statistics.

Skipped rows are handed out as nulls, for which no filter holds: they count as rows of the log that filters left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from typing import Any

from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.expressions.arrow_values import value_type
from fastmetrics.engine.expressions.column_tests import ColumnRange, ColumnTest, may_keep_rows
from fastmetrics.engine.expressions.primitives import INSTANT, TIMESTAMP
from fastmetrics.engine.input.batches import BATCH_ROWS, FILTERED_BATCHES

UNKNOWN = ColumnRange()
NULL_ROWS = FILTERED_BATCHES * BATCH_ROWS
Filters = Sequence[Sequence[ColumnTest]]


def skipped_groups(filters: Filters, metadata: Any, constants: dict[str, Any], types: dict[str, Any]) -> dict[int, int]:
    """The row groups of a Parquet file of which no filter keeps a row, and their numbers of rows.

    `constants` are the values of columns that the file does not have, `types` the types of those that it has.
    """
    numbers = {metadata.schema.column(number).path: number for number in range(metadata.num_columns)}

    def range_in(group: Any, test: ColumnTest) -> ColumnRange:
        if test.column in constants:
            return range_of_constant(constants[test.column])
        number = numbers.get(test.column)
        if number is None or test.column not in types:
            return UNKNOWN
        if value_type(types[test.column])._replace(name="") != test.type._replace(name=""):  # instants of other zones
            return UNKNOWN
        return range_of_statistics(group.column(number), group.num_rows, test)

    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    return {
        index: group.num_rows
        for index, group in enumerate(groups)
        if not may_keep_rows(filters, partial(range_in, group))
    }


def is_skipped(filters: Filters, constants: dict[str, Any]) -> bool:
    """Do the constants of a file say that no filter keeps a row of it?"""
    return not may_keep_rows(
        filters, lambda test: range_of_constant(constants[test.column]) if test.column in constants else UNKNOWN
    )


def range_of_constant(value: Any) -> ColumnRange:
    return ColumnRange(all_null=True) if value is None else ColumnRange(value, value)


def range_of_statistics(chunk: Any, rows: int, test: ColumnTest) -> ColumnRange:
    """The range of a column chunk, as far as its statistics are certain."""
    statistics = chunk.statistics
    if statistics is None:
        return UNKNOWN
    if statistics.has_null_count and statistics.null_count == rows:
        return ColumnRange(all_null=True)
    if not statistics.has_min_max:
        return UNKNOWN
    try:
        low, high = statistics.min, statistics.max
    except (ValueError, OverflowError, pa.ArrowException):
        return UNKNOWN  # a text that was cut inside a character, or a time that Python does not have
    if test.type.kind in (TIMESTAMP, INSTANT):
        return range_of_times(low, high, test)
    if any(isinstance(bound, float) and bound != bound for bound in (low, high)):
        return UNKNOWN
    constant = test.constants[0] if test.constants else low
    comparable = isinstance(low, type(constant)) or (is_number(low) and is_number(constant))
    return ColumnRange(low, high) if comparable else UNKNOWN


def range_of_times(low: Any, high: Any, test: ColumnTest) -> ColumnRange:
    """Times as Python has them are cut to microseconds: the upper bound is one later."""
    if not isinstance(low, datetime) or not isinstance(high, datetime):
        return UNKNOWN
    if test.type.kind == INSTANT:
        low, high = (own.replace(tzinfo=UTC) if own.tzinfo is None else own for own in (low, high))
    elif low.tzinfo is not None or high.tzinfo is not None:
        return UNKNOWN
    try:
        return ColumnRange(datetime_of(low), datetime_of(high) + timedelta(microseconds=1))
    except OverflowError:
        return UNKNOWN


def datetime_of(value: datetime) -> datetime:
    """A time as Python's own class: pandas has a class with nanoseconds."""
    to_python = getattr(value, "to_pydatetime", None)
    return value if to_python is None else to_python(warn=False)


def is_number(value: Any) -> bool:
    from decimal import Decimal

    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def join_skipped(schema: Any, found: Iterable[Any]) -> Iterator[Any]:
    """The same batches; numbers of skipped rows become batches of nulls, those that follow each other together."""
    skipped = 0
    for own in found:
        if isinstance(own, int):
            skipped += own
            continue
        yield from null_batches(schema, skipped)
        skipped = 0
        yield own
    yield from null_batches(schema, skipped)


def null_batches(schema: Any, rows: int) -> Iterator[Any]:
    """Batches of nulls, which share their memory."""
    for start in range(0, rows, NULL_ROWS):
        count = min(NULL_ROWS, rows - start)
        arrays = [null_array(field.type).slice(0, count) for field in schema]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


@lru_cache(maxsize=16)
def null_array(data_type: Any) -> Any:
    return pa.nulls(NULL_ROWS, data_type)
