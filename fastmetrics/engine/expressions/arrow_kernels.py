"""The kernels of primitives on Arrow arrays and scalars. Each takes the primitive, for its options and its name."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from fastmetrics._core import elementary
from fastmetrics._core.columns.arrow_columns import decimals_to_floats, numpy_values
from fastmetrics._core.optional_imports import compute as pc
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.expressions.primitives import COMPARED, DECIMAL, DOUBLE, INT64_MAX, INT64_MIN, Primitive
from fastmetrics.engine.expressions.row_errors import RowError, first_failing_row, value_at
from fastmetrics.engine.expressions.time_zones import offset_of

SYMBOLS = {"add": "+", "subtract": "-", "multiply": "*", "int_divide": "//"}
UNITS = ("s", "ms", "us", "ns")
TIME_UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
# The first and the last second of the years 1 to 9999.
FIRST_SECOND, LAST_SECOND = -62_135_596_800, 253_402_300_799
PLAIN = set(".^$*+?{}[]\\|()")


def align(first: Any, second: Any) -> tuple[Any, Any]:
    """Two values in one Arrow type: texts with the same offsets, timestamps with the same unit."""
    if first.type == second.type:
        return first, second
    types = pa.types
    if types.is_timestamp(first.type):
        return align_times(first, second)
    if types.is_string(first.type) or types.is_large_string(first.type):
        if isinstance(second, pa.Scalar):
            return first, second.cast(first.type)
        if isinstance(first, pa.Scalar):
            return first.cast(second.type), second
        return first.cast(pa.large_string()), second.cast(pa.large_string())
    if types.is_decimal(first.type):
        return first, second.cast(first.type)
    return first, second


def align_times(first: Any, second: Any) -> tuple[Any, Any]:
    """Timestamps in the finer unit; a literal that the finer unit cannot hold makes the column coarser."""
    finer = max(first.type.unit, second.type.unit, key=UNITS.index)
    target = pa.timestamp(finer, first.type.tz)
    try:
        return first.cast(target), second.cast(target)
    except pa.ArrowInvalid:
        # Such a literal lies beyond all values of the finer unit: what is cut off does not matter.
        coarser = pa.timestamp(min(first.type.unit, second.type.unit, key=UNITS.index), first.type.tz)
        unit = {"s": "second", "ms": "millisecond", "us": "microsecond"}[coarser.unit]
        return tuple(
            value.cast(coarser) if isinstance(value, pa.Scalar) else pc.floor_temporal(value, 1, unit).cast(coarser)
            for value in (first, second)
        )


# ------------------------------------------------------------------------------------------------------ comparisons


def compare(value: Primitive, first: Any, second: Any) -> Any:
    """NaN equals NaN and is greater than any other float, as in databases; -0.0 equals 0.0."""
    first, second = align(first, second)
    operation = value.operation
    if value.arguments[0].kind == DOUBLE and (negated := negated_comparison(operation, first, second)):
        return pc.invert(getattr(pc, negated)(first, second))
    found = getattr(pc, operation)(first, second)
    if value.arguments[0].kind != DOUBLE or is_number(first) or is_number(second):
        return found
    one, two = is_nan(first), is_nan(second)
    if one is None and two is None:
        return found
    false = pa.scalar(False)
    one, two = (false if one is None else one), (false if two is None else two)
    if operation == "equal":
        return pc.or_(found, pc.and_(one, two))
    if operation == "not_equal":
        return pc.and_not(found, pc.and_(one, two))
    if operation == "less":
        return pc.or_(found, pc.and_not(two, one))
    if operation == "greater":
        return pc.or_(found, pc.and_not(one, two))
    return pc.or_(found, two if operation == "less_equal" else one)


def negated_comparison(operation: str, first: Any, second: Any) -> str | None:
    """The comparison with a number that holds for all other values; None if NaN is on neither side of it.

    NaN is greater than a number, while Arrow's comparisons of order do not hold for it.
    """
    if is_number(second) and isinstance(first, pa.Array):
        return {"greater": "less_equal", "greater_equal": "less"}.get(operation)
    if is_number(first) and isinstance(second, pa.Array):
        return {"less": "greater_equal", "less_equal": "greater"}.get(operation)
    return None


def is_number(found: Any) -> bool:
    """Is it one number for all rows, and not NaN?"""
    return isinstance(found, pa.Scalar) and found.is_valid and found.as_py() == found.as_py()


def single_bound(operation: str, constant: float) -> np.float32 | None:
    """The float32 that divides all others as a constant does in a comparison; None where float32 is not enough.

    x < c holds for the same x as x < the least float32 that is not below c.
    """
    with np.errstate(over="ignore", under="ignore"):
        bound = np.float32(constant)
        if operation in ("less", "greater_equal"):
            return bound if float(bound) >= constant else np.nextafter(bound, np.float32(np.inf))
        if operation in ("less_equal", "greater"):
            return bound if float(bound) <= constant else np.nextafter(bound, np.float32(-np.inf))
    return None


def is_nan(found: Any) -> Any:
    """Which floats are NaN; None if none is."""
    if isinstance(found, pa.Scalar):
        value = found.as_py()
        return pa.scalar(True) if value is not None and value != value else None
    if not found.null_count:
        # The sum is NaN if an entry is, or if both infinities are there.
        total = pc.sum(found).as_py()
        if total is None or total == total:
            return None
    mask = pc.is_nan(found)
    return mask if pc.any(mask).as_py() else None


def compare_mixed(value: Primitive, whole: Any, number: Any) -> Any:
    """Integers with floats, exactly. The rounded integer decides, unless it equals a float beyond 2**53."""
    operation = value.operation.removesuffix("_mixed")
    plain = Primitive(operation, value.type, (value.arguments[1],) * 2)
    rounded = whole.cast(pa.float64(), safe=False)
    found = compare(plain, rounded, number)
    unsure = pc.and_(pc.equal(rounded, number), pc.greater_equal(pc.abs(rounded), float(1 << 53)))
    if not pc.any(unsure).as_py():
        return found
    rows = np.flatnonzero(np.asarray(unsure.fill_null(False)))
    exact = EXACT[operation]
    answers = [exact(value_at(whole, row), int(value_at(number, row))) for row in rows.tolist()]
    mask = np.zeros(len(found), bool)
    mask[rows] = True
    return pc.replace_with_mask(found, pa.array(mask), pa.array(answers))


EXACT: dict[str, Callable[[int, int], bool]] = {
    "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge,
}  # fmt: skip


def constant_unless_null(value: Primitive, found: Any) -> Any:
    return pc.if_else(pc.is_valid(found), pa.scalar(value.options[0]), pa.scalar(None, pa.bool_()))


def in_set(value: Primitive, found: Any) -> Any:
    candidates = pa.array(list(dict.fromkeys(value.options)), found.type)
    if len(candidates) == 1:
        return pc.equal(found, candidates[0])
    mask = pc.is_in(found, value_set=candidates)
    return pc.if_else(pc.is_valid(found), mask, pa.scalar(None, pa.bool_())) if found.null_count else mask


def like(value: Primitive, found: Any) -> Any:
    """A pattern without wild cards inside becomes a comparison; any other a regular expression."""
    (pieces,) = value.options
    texts = [piece[1:] for piece in pieces if piece.startswith("=")]
    shape = "".join("=" if piece.startswith("=") else piece for piece in pieces)
    inner = shape.strip("%")
    literal = "".join(texts)
    if set(inner) <= {"="} and "_" not in shape:
        starts, ends = shape.startswith("%"), shape.endswith("%")
        if not literal and shape:
            return pc.if_else(pc.is_valid(found), pa.scalar(True), pa.scalar(None, pa.bool_()))
        if not starts and not ends:
            return pc.equal(found, pa.scalar(literal, found.type))
        kernel = pc.match_substring if starts and ends else pc.ends_with if starts else pc.starts_with
        return kernel(found, literal)
    body = "".join({"%": ".*", "_": "."}.get(piece) or escape(piece[1:]) for piece in pieces)
    return pc.match_substring_regex(found, f"(?s)\\A{body}\\z")


def escape(character: str) -> str:
    """A character in a regular expression."""
    return f"\\{character}" if character in PLAIN else character


# ------------------------------------------------------------------------------------------------------- arithmetic


def checked(value: Primitive, *arguments: Any) -> Any:
    """Sums and products. Integers that do not fit are an error that names the row."""
    name = value.operation
    if value.kind == DOUBLE:
        return getattr(pc, name)(*arguments)
    function = getattr(pc, "divide_checked" if name == "int_divide" else f"{name}_checked")
    try:
        found = function(*arguments)
    except pa.ArrowInvalid:
        row = first_failing_row(function, list(arguments))
        numbers = [str(value_at(argument, row)) for argument in arguments]
        shown = f" {SYMBOLS[name]} ".join(numbers) if name in SYMBOLS else f"{name}({numbers[0]})"
        raise RowError(row, f"{shown}, which no 64-bit integer holds") from None
    if value.kind == DECIMAL:
        return found.cast(pa.decimal128(value.type.precision, value.type.scale))
    return found


def negate(value: Primitive, found: Any) -> Any:
    if value.kind == DECIMAL:
        return pc.negate(found) if value.operation == "negate" else pc.abs(found)
    return checked(value, found)


def divide(value: Primitive, first: Any, second: Any) -> Any:
    """Division by zero is NULL."""
    return pc.divide(first, without_zeros(second))


def int_divide(value: Primitive, first: Any, second: Any) -> Any:
    """The quotient without its fraction."""
    return checked(value, first, without_zeros(second))


def modulo(value: Primitive, first: Any, second: Any) -> Any:
    """The remainder, with the sign of the first number."""
    second = without_zeros(second)
    if value.kind == DOUBLE:
        return numpy_kernel(np.fmod, first, second)
    if value.kind == "integer":
        # The least integer by -1 would overflow; any number by 1 leaves nothing either.
        second = pc.if_else(pc.equal(second, -1), pa.scalar(1, second.type), second)
    return pc.subtract(first, pc.multiply(pc.divide(first, second), second))


def without_zeros(found: Any) -> Any:
    zero = pc.equal(found, pa.scalar(0, found.type))
    if isinstance(zero, pa.Scalar):
        return pa.scalar(None, found.type) if zero.as_py() else found
    return pc.if_else(zero, pa.scalar(None, found.type), found) if pc.any(zero).as_py() else found


def numpy_kernel(function: Callable[..., Any], *arguments: Any) -> Any:
    """A function of NumPy on floats; NULL of any argument is NULL. A constant beside a column stays a number."""
    rows = max((len(argument) for argument in arguments if isinstance(argument, pa.Array)), default=1)
    has_column = any(isinstance(argument, pa.Array) for argument in arguments)
    arrays: list[Any] = []
    missing = np.zeros(rows, bool)
    for argument in arguments:
        if has_column and isinstance(argument, pa.Scalar) and argument.is_valid:
            arrays.append(float(argument.as_py()))
            continue
        array = argument if isinstance(argument, pa.Array) else pa.repeat(argument, rows)
        if array.null_count:
            missing |= np.asarray(array.is_null())
            array = array.fill_null(1.0)
        arrays.append(numpy_values(array))
    with np.errstate(all="ignore"):
        found = function(*arrays)
    return pa.array(found, mask=missing if missing.any() else None)


def to_double(value: Primitive, found: Any) -> Any:
    if pa.types.is_decimal(found.type):
        missing = np.asarray(found.is_null()) if found.null_count else None
        return pa.array(decimals_to_floats(found), mask=missing)
    if pa.types.is_boolean(found.type):
        return found.cast(pa.int8()).cast(pa.float64())
    return found.cast(pa.float64(), safe=False)


def to_decimal(value: Primitive, found: Any) -> Any:
    target = pa.decimal128(value.type.precision, value.type.scale)
    if pa.types.is_integer(found.type):
        digits = value.type.precision - value.type.scale
        wide = pa.decimal128(min(38, max(digits, 20) + value.type.scale), value.type.scale)
        return found.cast(wide).cast(target)
    return found.cast(target)


def round_floats(value: Primitive, found: Any) -> Any:
    """Half away from zero. With digits: of the number times a power of ten, divided by it again."""
    if value.operation != "round":
        return getattr(pc, value.operation)(found)
    (digits,) = value.options
    if digits == 0:
        return pc.round(found, round_mode="half_towards_infinity")
    power = float(10**digits)
    return pc.divide(pc.round(pc.multiply(found, power), round_mode="half_towards_infinity"), power)


def positive_only(value: Primitive, found: Any) -> Any:
    """Logarithms and roots; NULL where there is none."""
    bad = pc.less(found, 0.0) if value.operation == "sqrt" else pc.less_equal(found, 0.0)
    if pc.any(bad).as_py():
        found = pc.if_else(bad, pa.scalar(None, pa.float64()), found)
    return pc.sqrt(found) if value.operation == "sqrt" else numpy_kernel(elementary.log, found)


# ------------------------------------------------------------------------------------------------------------ texts


def change_case(value: Primitive, found: Any) -> Any:
    """Lower or upper case. Texts beyond ASCII as Python changes them, which is as Unicode's special casing says."""
    plain = getattr(pc, f"ascii_{value.operation}")(found)
    special = pc.invert(pc.string_is_ascii(found)).fill_null(False)
    if not pc.any(special).as_py():
        return plain
    changed = [getattr(text, value.operation)() for text in found.filter(special).to_pylist()]
    return pc.replace_with_mask(plain, special, pa.array(changed, plain.type))


def substring(value: Primitive, found: Any) -> Any:
    start, count = value.options
    stop = None if count is None or start + count - 1 > np.iinfo(np.int64).max else start - 1 + count
    return pc.utf8_slice_codeunits(found, start - 1, stop)


def concat(value: Primitive, *texts: Any) -> Any:
    wide = [text.cast(pa.large_string()) for text in texts]
    return pc.binary_join_element_wise(*wide, pa.scalar("", pa.large_string()))


# ------------------------------------------------------------------------------------------------------------ times


def shift(value: Primitive, found: Any) -> Any:
    moved = pa.scalar(value.options[0], pa.duration("us"))
    try:
        return pc.add_checked(found, moved)
    except pa.ArrowInvalid:
        row = first_failing_row(pc.add_checked, [found, moved])
        raise RowError(row, f"{value_at(found, row)}, which the interval moves out of range") from None


def shift_days(value: Primitive, found: Any) -> Any:
    days = pc.add_checked(found.cast(pa.int32()), pa.scalar(value.options[0], pa.int32()))
    return days.cast(pa.date32())


def admit_times(value: Primitive, found: Any) -> Any:
    """The times, which have to lie within the years 1 to 9999, and two days within the limits of 64 bits."""
    per_second = 1000 ** UNITS.index(found.type.unit)
    margin = 2 * 86_400 * per_second
    low, high = max(FIRST_SECOND * per_second, INT64_MIN + margin), min(LAST_SECOND * per_second, INT64_MAX - margin)
    numbers = found.cast(pa.int64())
    least, greatest = pc.min_max(numbers).as_py().values()
    if least is None or (least >= low and greatest <= high):
        return found
    bad = np.asarray(pc.or_(pc.less(numbers, low), pc.greater(numbers, high)).fill_null(False))
    row = int(np.flatnonzero(bad)[0])
    far = f"{value_at(numbers, row)} {TIME_UNITS[found.type.unit]} since 1970"
    raise RowError(row, f"{far}, which is out of the years 1 to 9999, or of 64 bits, for {value.options[0]}")


def to_local(value: Primitive, found: Any) -> Any:
    """The local times of instants in a zone."""
    (zone,) = value.options
    found = admit_times(value, found)
    if (offset := offset_of(zone)) is not None:
        return pc.add(found.cast(pa.timestamp(found.type.unit)), pa.scalar(offset, pa.duration(found.type.unit)))
    return pc.local_timestamp(found.cast(pa.timestamp(found.type.unit, zone)))


def from_local(value: Primitive, found: Any) -> Any:
    """The instants of local times in a zone: the later one of two, or the first; in a gap with the offset before it."""
    zone, *which = value.options
    found = admit_times(value, found)
    if (fixed := offset_of(zone)) is not None:
        moved = pc.subtract(found, pa.scalar(fixed, pa.duration(found.type.unit)))
        return moved.cast(pa.timestamp(found.type.unit, "UTC"))
    instant = pc.assume_timezone(found, zone, ambiguous="earliest" if which else "latest", nonexistent="earliest")
    utc = pa.timestamp(found.type.unit, "UTC")
    offset = pc.subtract(pc.local_timestamp(instant), pc.local_timestamp(instant.cast(utc)))
    return pc.subtract(found, offset).cast(utc)


def clock_trunc(value: Primitive, found: Any, local: Any) -> Any:
    """Instants without what clocks have shown since the last full hour, minute or second."""
    return pc.subtract(found, pc.subtract(local, pc.floor_temporal(local, 1, value.options[0])))


def date_trunc(value: Primitive, found: Any) -> Any:
    (unit,) = value.options
    return pc.floor_temporal(found, 1, unit)


def extract(value: Primitive, found: Any) -> Any:
    (unit,) = value.options
    if unit == "dow":
        return pc.day_of_week(found, count_from_zero=True, week_start=7)
    if unit == "isodow":
        return pc.day_of_week(found, count_from_zero=False, week_start=1)
    if unit == "epoch":
        times = found.cast(pa.timestamp("s")) if pa.types.is_date(found.type) else found
        per_second = float(1000 ** UNITS.index(times.type.unit))
        return pc.divide(times.cast(pa.int64()).cast(pa.float64(), safe=False), per_second)
    names = {"week": "iso_week", "doy": "day_of_year"}
    return getattr(pc, names.get(unit, unit))(found).cast(pa.int64())


KERNELS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(COMPARED, compare), **{f"{name}_mixed": compare_mixed for name in COMPARED},
    "constant_unless_null": constant_unless_null, "in_set": in_set, "like": like,
    "is_null": lambda _, found: pc.is_null(found), "not": lambda _, found: pc.invert(found),
    "add": checked, "subtract": checked, "multiply": checked, "negate": negate, "abs": negate, "divide": divide,
    "int_divide": int_divide, "modulo": modulo, "to_double": to_double, "to_decimal": to_decimal,
    "round": round_floats, "floor": round_floats, "ceil": round_floats, "ln": positive_only, "sqrt": positive_only,
    "exp": lambda _, found: numpy_kernel(elementary.exp, found),
    "power": lambda _, first, second: numpy_kernel(elementary.power, first, second),
    "lower": change_case, "upper": change_case, "length": lambda _, found: pc.utf8_length(found).cast(pa.int64()),
    "substr": substring, "concat": concat, "to_timestamp": lambda _, found: found.cast(pa.timestamp("us")),
    "shift": shift, "shift_days": shift_days, "date_trunc": date_trunc, "extract": extract, "to_local": to_local,
    "from_local": from_local, "clock_trunc": clock_trunc,
}  # fmt: skip
