"""Columns that are computed while a log is read: expressions wherever a column is named, and filters of rows.

A source with computed columns hands them out under the text of their expression. Everything behind it, such as checks,
exchanges, states and reports, knows columns by name only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from fastmetrics._core.columns.arrow_columns import arrow_values
from fastmetrics._core.columns.validation import check_lengths, missing_column_text
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import compute as pc
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.expressions.arrow_values import arrow_type_of, compute, value_type
from fastmetrics.engine.expressions.column_tests import ColumnTest, tests_of
from fastmetrics.engine.expressions.errors import ExpressionError
from fastmetrics.engine.expressions.native_values import (
    NativeExpression,
    mask_of_native,
    read_native,
    values_of_native,
)
from fastmetrics.engine.expressions.parser import is_plain_name, parse_expression
from fastmetrics.engine.expressions.primitives import BOOLEAN, NULL, OTHER, Primitive, ValueType, in_zone
from fastmetrics.engine.expressions.row_errors import RowError
from fastmetrics.engine.expressions.tree import Column, Expression, iterate_nodes
from fastmetrics.engine.expressions.type_check import check_types
from fastmetrics.engine.input.batches import BATCH_ROWS, ColumnUses, Source, SourcePartition
from fastmetrics.engine.input.files.skipped_rows import null_array
from fastmetrics.engine.plan.column_names import LOG_COLUMN, describe_column, filter_column
from fastmetrics.engine.plan.native_columns import NativeColumn
from fastmetrics.engine.plan.plan_parts import PlanPart
from fastmetrics.engine.plan.row_filters import RowFilter, RowMask

WHERE = "where"


def open_columns(
    source: Source, parts: Sequence[PlanPart], filters: Sequence[RowFilter | None] = (), log_number: int | None = None
) -> Source:
    """The source with all columns of a plan: those that it has, those that are computed, and those of filters.

    `log_number` is what `LOG_COLUMN` has in all rows.

    Raises
    ------
    ValueError
        A name that is no column and no expression; the message has near names, or shows the place of an error.
    """
    computed: dict[str, ComputedColumn] = {}
    for names in (part.names for part in parts):
        for role, name in names.columns_with_roles:
            if name not in computed:
                of_log = name == LOG_COLUMN and log_number is not None
                expression = parse_expression(str(log_number)) if of_log else find_expression(source, role, name)
                if expression is None:
                    continue
                computed[name] = ComputedColumn(role, expression, {})
            computed[name].filters[names.where] = None
    masks: dict[str, Condition] = {}
    for where in filters:
        if where is not None and filter_column(where.name) not in masks:
            masks[filter_column(where.name)] = read_condition(source, where)
    # A source that is read twice forgets the filters of the first time.
    source.has_filter = bool(masks) and None not in filters
    return ComputedColumns(source, computed, masks, None in filters) if computed or masks else source


Value = Primitive | NativeExpression


class ComputedColumn(NamedTuple):
    """An expression, its role in messages, and the filters of the rows that it is computed for (None: all rows)."""

    role: str
    expression: Expression | NativeExpression
    filters: dict[str | None, None]


class Condition(NamedTuple):
    """The condition of a filter: an expression, or that of another library with the columns that it reads."""

    where: str
    expression: Expression | None
    native: Any
    columns: list[str]


def find_expression(source: Source, role: str, name: str) -> Expression | NativeExpression | None:
    """The expression that a name is; None if it is a column."""
    if isinstance(name, NativeColumn):
        if name in source.column_names:
            raise ValueError(f"{role}: the alias {str(name)!r} is a column of the log too: choose another one")
        return read_native(name.native, role, source.column_names, source.require)
    if name in source.column_names or is_plain_name(name):
        source.require(name, role)
        return None
    try:
        source.require(name, role)
    except ValueError:
        return check_columns(source, role, read_expression(source, role, name))
    return None


def read_condition(source: Source, where: RowFilter) -> Condition:
    """The condition of a filter, which may be the name of a boolean column."""
    if where.native is not None:
        if isinstance(where.native, RowMask):
            check_mask(where.native, source)
            return Condition(where.name, None, where.native, [])
        native = read_native(where.native, WHERE, source.column_names, source.require)
        return Condition(where.name, None, where.native, native.columns)
    if where.name in source.column_names:
        name = Column(where.name, (0, len(where.name)))
        return Condition(where.name, Expression(where.name, name), None, [where.name])
    expression = check_columns(source, WHERE, read_expression(source, WHERE, where.name))
    return Condition(where.name, expression, None, expression.columns)


def check_mask(mask: RowMask, source: Source) -> None:
    """Raise ValueError unless the log has as many rows as the mask."""
    if source.rows is None or not source.numbers_rows:
        raise ValueError(
            f"where is a mask, but the rows of {source.label} have no numbers before they are read: keep the mask in a "
            'column of the log and name it, such as where="kept"'
        )
    check_lengths(mask.values.shape[0], source.rows, WHERE, source.label)


def read_expression(source: Source, role: str, text: str) -> Expression:
    """Parse a name that is no column."""
    try:
        return parse_expression(text)
    except ExpressionError as error:
        if role == WHERE:
            raise ExpressionError(f"{role}: {error.what}", text, error.place) from None
        missing = missing_column_text(text, source.label, source.column_names)
        raise ExpressionError(
            f"{role}: {missing}. As an expression: {error.what}", text, error.place
        ) from None
    except ImportError as error:
        missing = missing_column_text(text, source.label, source.column_names)
        raise ImportError(f"{role}: {missing}. As an expression: {error}") from error


def check_columns(source: Source, role: str, expression: Expression) -> Expression:
    """Check that the source has every column of an expression."""
    for node in iterate_nodes(expression.root):
        if not isinstance(node, Column) or node.name in source.column_names:
            continue
        try:
            source.require(node.name, role)
        except ValueError as error:
            meant = quoted_text(node.name, expression.text[slice(*node.place)], str(error))
            raise ExpressionError(f"{error}{meant}", expression.text, node.place) from None
    return expression


def quoted_text(name: str, typed: str, message: str) -> str:
    """What is said of a name that is no column, and may be meant as a text."""
    single = "'{}'".format(name.replace("'", "''"))
    if typed[:1] == '"':
        return f"; double quotes are for columns, and a text has single quotes: {single}"
    return "" if "did you mean" in message else f"; a text has single quotes: {single}"


class ComputedColumns(Source):
    """A source with computed columns, and with the boolean columns of filters.

    `masks` are the filters by the names of their boolean columns. `reads_all`: some task of the pass has no filter.
    """

    def __init__(
        self,
        source: Source,
        computed: Mapping[str, ComputedColumn],
        masks: Mapping[str, Condition],
        reads_all: bool,
    ) -> None:
        self.source = source
        self.computed = computed
        self.masks = masks
        self.reads_all = reads_all
        self.label = source.label
        self.rows = source.rows
        self.reads_once = source.reads_once
        self.column_names = [*source.column_names, *computed]

    def require(self, column: str, argument: str = "columns") -> None:
        if column not in self.computed and column not in self.masks:
            self.source.require(column, argument)

    def batches(self, columns: Sequence[str], *, use_threads: bool = True) -> Iterator[pa.RecordBatch]:
        """See `Source.batches`: the same batches, with the computed columns among the others."""
        work = BatchColumns(self, list(dict.fromkeys(columns)))
        return work.compute_all(self.source.batches(work.inputs, use_threads=use_threads), 0)

    def partitions(self, columns: Sequence[str]) -> list[SourcePartition]:
        """See `Source.partitions`: the same partitions."""
        work = BatchColumns(self, list(dict.fromkeys(columns)))
        return [
            own._replace(read=partial(read_partition, own, work)) for own in self.source.partitions(work.inputs)
        ]

    def expect(self, uses: ColumnUses) -> None:
        """The uses of the stored columns, and those of expressions and filters."""
        computed, names = self.computed.keys(), self.names_in_expressions()
        # Filters compare texts with constants: of a dictionary, each text is compared once.
        filters = (mask.columns for mask in self.masks.values() if mask.expression is not None)
        self.source.expect(
            uses._replace(
                dictionaries=(uses.dictionaries - computed).union(*filters),
                texts=uses.texts - computed,
                lists=uses.lists - computed,
                numbers=uses.numbers - computed,
                only_numbers=uses.only_numbers - computed - names,
                keys=uses.keys - computed - names,
                compared=uses.compared | names,
            )
        )

    def names_in_expressions(self) -> set[str]:
        """The stored columns that expressions and filters read."""
        expressions = [own.expression.columns for own in self.computed.values()]
        return {name for own in (*expressions, *(mask.columns for mask in self.masks.values())) for name in own}

    def reads_numerals(self, column: str) -> bool:
        return column not in self.computed and self.source.reads_numerals(column)

    def expect_mixed_keys(self, column: str) -> None:
        self.source.expect_mixed_keys(column)

    def replace_data(self, data: Any) -> bool:
        replaced = self.source.replace_data(data)
        self.rows = self.source.rows
        return replaced

    @property
    def batch_rows(self) -> int:
        return self.source.batch_rows

    @property
    def memory_limit(self) -> int | None:
        return self.source.memory_limit

    @memory_limit.setter
    def memory_limit(self, limit: int | None) -> None:
        self.source.memory_limit = limit

    def locate(self, row: int) -> str:
        return self.source.locate(row)

    def _read(self, columns: list[str], use_threads: bool) -> Iterable[pa.RecordBatch]:
        return self.batches(columns, use_threads=use_threads)


def read_partition(partition: SourcePartition, work: BatchColumns) -> Iterator[pa.RecordBatch]:
    return work.compute_all(partition.read(), partition.first_row)


class BatchColumns:
    """The columns of batches, in the order asked for. Several threads may compute batches."""

    def __init__(self, source: ComputedColumns, columns: list[str]) -> None:
        self.columns = columns
        self.computed = {name: own for name, own in source.computed.items() if name in columns}
        self.masks = source.masks
        self.reads_all = source.reads_all
        self.has_limit = source.memory_limit is not None
        needed = [name for name in columns if name not in source.computed and name not in source.masks]
        for own in self.computed.values():
            needed += own.expression.columns
        for mask in self.masks.values():
            needed += mask.columns
        # Of every filter, the columns whose nulls it leaves out; of a filter in another language, none is known.
        self.needed_by: dict[str, set[str]] = {}
        self.types: dict[str, Any] = {}
        # Without any column, the first one gives the number of rows.
        self.inputs = list(dict.fromkeys(needed)) or source.source.column_names[:1]
        self.checked: tuple[dict[str, Value], dict[str, Primitive]] | None = None
        self.left_out: list[Any] = []  # the last skipped rows
        self.time_zone = source.source.time_zone
        self.push_down(source)

    def push_down(self, source: ComputedColumns) -> None:
        """Tell the source what the filters need, if it knows the types of their columns."""
        filters: list[list[ColumnTest]] = []
        for name, mask in self.masks.items():
            tests: list[ColumnTest] = []
            zone = source.source.time_zone
            types = {own: source.source.type_of(own) for own in mask.columns}
            if mask.expression is not None and all(own is not None for own in types.values()):
                kinds = {own: in_zone(value_type(kind), zone) for own, kind in types.items()}
                condition = check_condition(mask.expression, kinds.__getitem__)
                tests = tests_of(condition)
            self.needed_by[name] = {test.column for test in tests}
            filters.append(tests)
        source.source.expect_filters(filters if filters and not source.reads_all and all(filters) else ())

    def compute_all(self, batches: Iterable[Any], first_row: int) -> Iterator[Any]:
        try:
            for batch in batches:
                yield from self.compute(batch, first_row)
                first_row += batch.num_rows
        finally:
            close = getattr(batches, "close", None)
            if close is not None:
                close()

    def compute(self, batch: Any, first_row: int) -> list[Any]:
        """The batch with the columns asked for; with a memory limit in parts, of which BATCH_ROWS rows are kept."""
        values, conditions = self.check(batch.schema)
        inputs = {name: batch.column(number) for number, name in enumerate(batch.schema.names)}
        can_skip = bool(self.masks) and not self.reads_all
        is_skipped = can_skip and all(self.is_skipped(name, inputs, batch) for name in self.masks)
        left_out = self.left_out
        if is_skipped and sum(own.num_rows for own in left_out) == batch.num_rows:
            # Skipped rows follow each other in batches of one size, of which no value is read.
            return left_out
        masks = {name: self.mask(name, conditions, batch, inputs, first_row) for name in self.masks}
        if can_skip and not any(mask.true_count for mask in masks.values()):
            # No row is evaluated: nothing needs to be computed.
            nulls = {name: self.nulls(name, values[name], inputs, batch.num_rows) for name in self.computed}
            left_out = self.assemble(masks, nulls, inputs)
            if is_skipped:
                self.left_out = left_out
            return left_out
        found: dict[str, Any] = {}
        for name, own in self.computed.items():
            keep = None
            if None not in own.filters and values[name].can_fail():
                keep = any_of([masks[filter_column(where)] for where in own.filters if where is not None])
            work = ColumnWork(own.role, name, values[name], first_row)
            found[name] = work.compute(inputs, batch.num_rows, keep)
        return self.assemble(masks, found, inputs)

    def nulls(self, name: str, value: Value, inputs: Mapping[str, Any], rows: int) -> Any:
        """Nulls of the type that a computed column has."""
        if name not in self.types:
            no_rows = {own: column.slice(0, 0) for own, column in inputs.items()}
            self.types[name] = ColumnWork(self.computed[name].role, name, value, 0).compute(no_rows, 0, None).type
        return null_array(self.types[name]).slice(0, rows)

    def assemble(self, masks: Mapping[str, Any], found: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[Any]:
        """All columns in their order, in batches."""
        arrays = [masks.get(name, found.get(name, inputs.get(name))) for name in self.columns]
        batch = pa.RecordBatch.from_arrays(arrays, names=self.columns)
        if not self.has_limit or all(mask.true_count <= BATCH_ROWS for mask in masks.values()):
            return [batch]
        return [batch.slice(start, BATCH_ROWS) for start in range(0, batch.num_rows, BATCH_ROWS)]

    def check(self, schema: Any) -> tuple[dict[str, Value], dict[str, Primitive]]:
        """The primitives of all expressions and of all filters; types are checked with the first batch."""
        if self.checked is None:
            types = {field.name: in_zone(value_type(field.type), self.time_zone) for field in schema}
            values = {
                name: own.expression
                if isinstance(own.expression, NativeExpression)
                else check_expression(own.expression, own.role, types.__getitem__)
                for name, own in self.computed.items()
            }
            conditions = {
                name: check_condition(mask.expression, types.__getitem__)
                for name, mask in self.masks.items()
                if mask.expression is not None
            }
            self.checked = values, conditions
        return self.checked

    def is_skipped(self, name: str, inputs: Mapping[str, Any], batch: Any) -> bool:
        """Does a filter keep no row because a column that it needs is null in all of them?"""
        return any(inputs[own].null_count == batch.num_rows for own in self.needed_by[name] if own in inputs)

    def mask(
        self, name: str, conditions: Mapping[str, Primitive], batch: Any, inputs: Mapping[str, Any], first_row: int
    ) -> Any:
        """Which rows a filter keeps, without nulls."""
        if self.is_skipped(name, inputs, batch):
            return pa.repeat(pa.scalar(False), batch.num_rows)
        if name in conditions:
            work = ColumnWork(WHERE, self.masks[name].where, conditions[name], first_row)
            found = work.compute(inputs, batch.num_rows, None)
        elif isinstance(self.masks[name].native, RowMask):
            found = arrow_values(self.masks[name].native.values[first_row : first_row + batch.num_rows])
        else:
            found = mask_of_native(self.masks[name].native, batch)
        return found.fill_null(False) if found.null_count else found


class ColumnWork(NamedTuple):
    """The computation of a column for a batch."""

    role: str
    name: str
    value: Value
    first_row: int

    def compute(self, inputs: Mapping[str, Any], rows: int, keep: Any) -> Any:
        """The values; null for rows that are not to keep, which are not computed since they might be refused."""
        if keep is None or keep.true_count == rows:
            return self.compute_rows(inputs, rows, None)
        numbers = np.flatnonzero(np.asarray(keep))
        taken = pa.array(numbers)
        kept = {name: column.take(taken) for name, column in inputs.items()}
        found = self.compute_rows(kept, numbers.shape[0], numbers)
        positions = np.full(rows, -1, np.int64)
        positions[numbers] = np.arange(numbers.shape[0])
        return found.take(pa.array(positions, mask=positions < 0))

    def compute_rows(self, inputs: Mapping[str, Any], rows: int, numbers: np.ndarray | None) -> Any:
        """The values of rows; `numbers` are those of the rows in their batch, if it was filtered."""
        if isinstance(self.value, NativeExpression):
            batch = pa.RecordBatch.from_arrays([inputs[own] for own in self.value.columns], names=self.value.columns)
            return values_of_native(self.value.native, batch, describe_column(self.role, self.name))
        try:
            found = compute(self.value, inputs, rows)
        except RowError as error:
            row = self.first_row + (error.row if numbers is None else int(numbers[error.row]))
            title = WHERE if self.role == WHERE else describe_column(self.role, self.name)
            raise ValueError(f"{title} has {error.what}, at row {row}, in the expression {self.name!r}") from None
        return found.cast(arrow_type_of(self.value.type)) if found.type == pa.null() else found


def any_of(masks: Sequence[Any]) -> Any:
    """The rows that any of the masks has."""
    found = masks[0]
    for mask in masks[1:]:
        found = pc.or_(found, mask)
    return found


def check_expression(expression: Expression, role: str, type_of: Callable[[str], ValueType]) -> Primitive:
    """The primitives of an expression; errors name the role."""
    try:
        value = check_types(expression, type_of)
    except ExpressionError as error:
        raise ExpressionError(f"{role}: {error.what}", error.text, error.place) from None
    if value.kind in (NULL, OTHER):
        whole = (0, len(expression.text))
        raise ExpressionError(f"{role}: the expression has no type; it is {value.type}", expression.text, whole)
    return value


def check_condition(expression: Expression, type_of: Callable[[str], ValueType]) -> Primitive:
    """The primitives of a filter, which has to be a condition."""
    value = check_expression(expression, WHERE, type_of)
    if value.kind != BOOLEAN:
        text = expression.text
        what = f"a condition is wanted; this is {value.type}: compare it, such as {text} > 0"
        raise ExpressionError(f"{WHERE}: {what}", text, (0, len(text)))
    return value
