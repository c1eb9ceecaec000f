"""Primitives computed on Arrow arrays, batch by batch, by the kernels of pyarrow.

Branches that may refuse a row are computed only for the rows that reach them: CASE, AND, OR and COALESCE go from left
to right, as Spark does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fastmetrics._core.columns.arrow_columns import numpy_values
from fastmetrics._core.columns.group_keys import decode_dictionary
from fastmetrics._core.optional_imports import compute as pc
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.expressions import arrow_casts, arrow_kernels
from fastmetrics.engine.expressions.primitives import (
    BOOLEAN,
    COMPARED,
    DATE,
    DECIMAL,
    DOUBLE,
    INSTANT,
    INTEGER,
    MAX_PRECISION,
    NULL,
    OTHER,
    TEXT,
    TIMESTAMP,
    UNSIGNED,
    Primitive,
    ValueType,
)
from fastmetrics.engine.expressions.row_errors import RowError, first_failing_row, value_at
from fastmetrics.engine.expressions.time_zones import zone_of_column


def value_type(arrow_type: Any) -> ValueType:
    """The type of a column's values in expressions."""
    types = pa.types
    if types.is_dictionary(arrow_type):
        return value_type(arrow_type.value_type)
    if types.is_decimal(arrow_type):
        precision = min(arrow_type.precision, MAX_PRECISION)
        if 0 <= arrow_type.scale <= precision:
            return ValueType(DECIMAL, precision, arrow_type.scale)
        return ValueType(OTHER, name=str(arrow_type))
    if types.is_timestamp(arrow_type):
        return ValueType(TIMESTAMP if arrow_type.tz is None else INSTANT, name=zone_of_column(arrow_type.tz))
    for is_kind, kind in (
        (types.is_uint64, UNSIGNED), (types.is_integer, INTEGER), (types.is_floating, DOUBLE),
        (types.is_boolean, BOOLEAN), (types.is_date, DATE), (types.is_null, NULL),
    ):  # fmt: skip
        if is_kind(arrow_type):
            return ValueType(kind)
    if types.is_string(arrow_type) or types.is_large_string(arrow_type):
        return ValueType(TEXT)
    return ValueType(OTHER, name=str(arrow_type))


def arrow_type_of(kind: ValueType) -> Any:
    """The Arrow type of computed values. Timestamps may have another unit, texts other offsets."""
    simple: dict[str, Callable[[], Any]] = {
        BOOLEAN: pa.bool_, INTEGER: pa.int64, UNSIGNED: pa.uint64, DOUBLE: pa.float64, TEXT: pa.string,
        DATE: pa.date32, NULL: pa.null,
    }  # fmt: skip
    if kind.kind == DECIMAL:
        return pa.decimal128(kind.precision, kind.scale)
    if kind.kind in (TIMESTAMP, INSTANT):
        return pa.timestamp("us", "UTC" if kind.kind == INSTANT else None)
    return simple[kind.kind]()


def read_column(column: Any) -> Any:
    """A column in the type in which expressions compute."""
    types = pa.types
    if types.is_dictionary(column.type):
        column = decode_dictionary(column)
    kind = column.type
    if types.is_integer(kind) and kind not in (pa.int64(), pa.uint64()):
        return column.cast(pa.int64())
    if types.is_float16(kind):
        floats = numpy_values(column).astype(np.float64)
        return pa.array(floats, from_pandas=False, mask=np.asarray(column.is_null()))
    if types.is_float32(kind):
        return column.cast(pa.float64())
    if types.is_decimal(kind) and kind.bit_width != 128:
        return read_decimals(column, kind)
    if types.is_date64(kind):
        return column.cast(pa.date32())
    if types.is_timestamp(kind) and kind.tz not in (None, "UTC"):
        return column.cast(pa.timestamp(kind.unit, "UTC"))
    return column


def read_decimals(column: Any, kind: Any) -> Any:
    """Decimals of another width than 128 bits; raise RowError for one that has too many digits."""
    wanted = pa.decimal128(min(kind.precision, MAX_PRECISION), kind.scale)
    try:
        return column.cast(wanted)
    except pa.ArrowException:
        row = first_failing_row(lambda part: part.cast(wanted), [column])
        found = value_at(column, row)
        raise RowError(row, f"{found}, which has more than {MAX_PRECISION} digits") from None


def compute(value: Primitive, columns: Mapping[str, Any], rows: int) -> Any:
    """The values of `rows` rows as an Arrow array; `columns` are the arrays of the columns that are read.

    Raises
    ------
    RowError
        A row is refused; it is counted from the beginning of the arrays.
    """
    return RowValues(columns, rows).array(value)


class RowValues:
    """The values of the rows of a batch. A value that stands twice in an expression is computed once."""

    def __init__(self, columns: Mapping[str, Any], rows: int) -> None:
        self.columns = columns
        self.rows = rows
        self.known: dict[int, Any] = {}
        self.read: dict[str, Any] = {}

    def array(self, value: Primitive) -> Any:
        """The values as an array."""
        found = self.value(value)
        if isinstance(found, pa.Scalar):
            return pa.repeat(found, self.rows)
        return found

    def value(self, value: Primitive) -> Any:
        """The values as an array, or as a scalar if they are constant."""
        if id(value) not in self.known:
            self.known[id(value)] = self.compute(value)
        return self.known[id(value)]

    def compute(self, value: Primitive) -> Any:
        operation = value.operation
        if operation == "column":
            (name,) = value.options
            if name not in self.read:
                self.read[name] = read_column(self.columns[name])
            return self.read[name]
        if operation == "literal":
            return literal_scalar(value)
        if operation in ("and", "or"):
            return self.logic(value)
        if operation == "case":
            return self.case(value)
        if operation == "coalesce":
            return self.coalesce(value)
        if operation in BY_DISTINCT_TEXT and (coded := self.coded_argument(value)) is not None:
            found = RowValues({value.arguments[0].options[0]: coded.dictionary}, len(coded.dictionary)).array(value)
            return found.take(coded.indices)
        if operation in SINGLE_FLOATS and (single := self.single_floats(value)) is not None:
            return combine_single_floats(operation, *single)
        if operation in COMPARED and (singles := self.compared_singles(value)) is not None:
            return kernel(value, singles)
        arguments = [self.value(argument) for argument in value.arguments]
        if arguments and all(isinstance(argument, pa.Scalar) for argument in arguments):
            arguments = [pa.repeat(argument, 1) for argument in arguments]
            return (arrow_casts.cast(value, *arguments) if operation == "cast" else kernel(value, arguments))[0]
        return arrow_casts.cast(value, *arguments) if operation == "cast" else kernel(value, arguments)

    def single_floats(self, value: Primitive) -> list[np.ndarray] | None:
        """The float32 columns that a primitive combines, if both are such columns without nulls; else None."""
        if value.kind != DOUBLE or any(own.operation != "column" for own in value.arguments):
            return None
        columns = [self.columns[own.options[0]] for own in value.arguments]
        if any(column.type != pa.float32() or column.null_count for column in columns):
            return None
        return [numpy_values(column) for column in columns]

    def compared_singles(self, value: Primitive) -> list[Any] | None:
        """A float32 column and the float32 that it is compared with, if a condition is such a comparison; else None."""
        column, constant = value.arguments
        if column.operation != "column" or column.kind != DOUBLE or not constant.is_literal:
            return None
        found, number = self.columns[column.options[0]], constant.options[0]
        if found.type != pa.float32() or not isinstance(number, float) or number != number:
            return None
        bound = arrow_kernels.single_bound(value.operation, number)
        return None if bound is None else [found, pa.scalar(bound, pa.float32())]

    def coded_argument(self, value: Primitive) -> Any:
        """The dictionary of texts that a condition compares with constants, if it has few texts; else None."""
        first, *others = value.arguments
        if first.operation != "column" or first.kind != TEXT or not all(own.is_literal for own in others):
            return None
        column = self.columns[first.options[0]]
        is_coded = pa.types.is_dictionary(column.type) and 4 * len(column.dictionary) < self.rows
        return column if is_coded else None

    # ------------------------------------------------------------------------- from left to right, where it matters

    def where(self, value: Primitive, reached: Any) -> Any:
        """The values of the rows that are reached, which is an array of booleans; null for others."""
        if isinstance(reached, pa.Scalar):
            return self.value(value) if reached.as_py() else pa.scalar(None, arrow_type_of(value.type))
        if not value.can_fail() or id(value) in self.known:
            return self.value(value)
        numbers = np.flatnonzero(np.asarray(reached.fill_null(False)))
        if numbers.shape[0] == self.rows:
            return self.value(value)
        taken = pa.array(numbers)
        part = RowValues({name: column.take(taken) for name, column in self.columns.items()}, numbers.shape[0])
        try:
            found = part.array(value)
        except RowError as error:
            raise RowError(int(numbers[error.row]), error.what) from None
        positions = np.full(self.rows, -1, np.int64)
        positions[numbers] = np.arange(numbers.shape[0])
        return found.take(pa.array(positions, mask=positions < 0))

    def logic(self, value: Primitive) -> Any:
        first = boolean(self.value(value.arguments[0]))
        decided = pc.equal(first, value.operation == "or")
        undecided = pc.invert(decided.fill_null(False)) if isinstance(decided, pa.Array) else not decided.as_py()
        reached = pa.scalar(undecided) if isinstance(undecided, bool) else undecided
        second = boolean(self.where(value.arguments[1], reached))
        return (pc.and_kleene if value.operation == "and" else pc.or_kleene)(first, second)

    def case(self, value: Primitive) -> Any:
        *pairs, default = value.arguments
        open_rows: Any = pa.scalar(True)
        branches = []
        for condition, result in zip(pairs[::2], pairs[1::2], strict=True):
            holds = true_only(boolean(self.where(condition, open_rows)))
            taken = pc.and_(open_rows, holds)
            branches.append((taken, self.where(result, taken)))
            open_rows = pc.and_(open_rows, pc.invert(holds))
        found = self.where(default, open_rows)
        for taken, result in reversed(branches):
            one, other = arrow_kernels.align(typed(result, value.type), typed(found, value.type))
            found = pc.if_else(taken, one, other)
        return found

    def coalesce(self, value: Primitive) -> Any:
        found = typed(self.value(value.arguments[0]), value.type)
        for argument in value.arguments[1:]:
            missing = pc.is_null(found)
            one, other = arrow_kernels.align(found, typed(self.where(argument, missing), value.type))
            found = pc.if_else(missing, other, one)
        return found


# Operations of float32 columns that NumPy widens on the way: one widened column takes less memory than two.
SINGLE_FLOATS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}


def combine_single_floats(operation: str, first: np.ndarray, second: np.ndarray) -> Any:
    """Two float32 columns, widened to float64 before they are combined, in memory that Arrow has used before."""
    buffer = pa.allocate_buffer(8 * first.shape[0])
    found = np.frombuffer(buffer, np.float64)
    found[:] = first
    with np.errstate(invalid="ignore"):  # inf - inf is NaN
        SINGLE_FLOATS[operation](found, second, out=found)
    return pa.Array.from_buffers(pa.float64(), first.shape[0], [None, buffer])


# Conditions that are computed once for every different text; a null stays null.
BY_DISTINCT_TEXT = {"in_set", "like", *COMPARED}


def literal_scalar(value: Primitive) -> Any:
    constant = value.options[0]
    return pa.scalar(constant, arrow_type_of(value.type))


def boolean(found: Any) -> Any:
    """NULL without a type as a boolean."""
    return found.cast(pa.bool_()) if found.type == pa.null() else found


def typed(found: Any, kind: ValueType) -> Any:
    """NULL without a type in the type of the other values."""
    return found.cast(arrow_type_of(kind)) if found.type == pa.null() and kind.kind != NULL else found


def true_only(found: Any) -> Any:
    """NULL as false."""
    if isinstance(found, pa.Scalar):
        return pa.scalar(bool(found.as_py()))
    return found.fill_null(False)


def kernel(value: Primitive, arguments: list[Any]) -> Any:
    """What a primitive computes of its arguments. If one is NULL, the value is NULL."""
    if value.operation != "is_null" and any(argument.type == pa.null() for argument in arguments):
        rows = max((len(argument) for argument in arguments if isinstance(argument, pa.Array)), default=1)
        return pa.nulls(rows, arrow_type_of(value.type))
    function = arrow_kernels.KERNELS[value.operation]
    return function(value, *arguments)
