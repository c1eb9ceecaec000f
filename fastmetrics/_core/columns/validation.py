"""Coercion and checks of arrays. This is the only place where arrays are converted, and it has the error texts.

Coercion is exact, or an error: integers and float16 are widened, text and objects never become numbers. Contiguous
arrays of a type that the kernels read are used as they are: they are not copied, and never written to. An error text
names the argument, the first bad row, what was found, and what is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from fastmetrics._core import parallel
from fastmetrics._core.columns import arrow_columns
from fastmetrics._core.columns.array_types import numpy_array, plain_values, unnamed_order
from fastmetrics._core.option_numbers import integer_value, number_value
from fastmetrics._core.optional_imports import types
from fastmetrics._core.suggestions import advice_for_classes
from fastmetrics._kernels.columns import column_checks

LABEL_TYPES = frozenset("bBhHiIlLqQfd")
EXACT_INTEGER = 1 << 53
LISTED_COLUMNS = 20


class OptionError(ValueError, TypeError):
    """An option has a value that is not allowed. It has both types, like scikit-learn's own error."""


class InputError(ValueError, TypeError):
    """An argument is not a column of the needed kind. It has both types, because scikit-learn raises either of them."""


class ProbabilityError(ValueError):
    """A metric needs probabilities, but the scores are not in [0, 1]."""


class LabelError(ValueError):
    """A metric needs labels of two classes, but there are others."""


def is_array_like(values: Any) -> bool:
    """Is it a sequence, or an object with the array protocol?"""
    return hasattr(values, "__len__") or hasattr(values, "__array__")


def as_array(values: Any, name: str) -> np.ndarray:
    """Any array-like as a NumPy array: NumPy, sequences, pandas, polars, Arrow, objects with the array protocol."""
    if type(values) is np.ndarray:
        is_plain = values.dtype.isbuiltin == 1 and values.dtype.kind not in "mM"
        return values if is_plain else unusual_values(values, name)
    if isinstance(values, (str, bytes)) or values is None:
        raise InputError(f"{name} must be an array of rows; found {type(values).__name__}")
    if type(values).__module__.partition(".")[0] == "pyarrow":
        return arrow_to_numpy(values, name)
    if (wide := arrow_columns.wide_integers(values)) is not None:
        return narrow_integers(wide, name)
    if isinstance(values, (list, tuple)):
        if type(values) is list and (numbers := column_checks.read_numbers(values)) is not None:
            return numbers
        values = plain_values(values, name)
        check_nested(values, name)
        check_masked_items(values, name)
    check_nulls(values, name)
    try:
        return numpy_array(values, name)
    except ValueError as error:
        raise ValueError(
            f"{name} must be an array with rows of one length; found {type(values).__name__} ({error})"
        ) from None


def unusual_values(values: np.ndarray, name: str) -> np.ndarray:
    """An array of times, of which none may be NaT, of a type that NumPy lacks, of named byte order, or of records."""
    if values.dtype.kind not in "mM":
        return numpy_array(values, name)
    missing = np.isnat(values)
    if missing.any():
        raise ValueError(f"{name} has NaT at row {int(np.argwhere(missing)[0][0])}")
    return unnamed_order(values)


def narrow_integers(wide: Any, name: str) -> np.ndarray:
    """Decimals of integers of 128 bits as int64; raise ValueError for one that does not fit."""
    from pyarrow import ArrowInvalid

    try:
        return arrow_to_numpy(wide.cast("int64"), name)
    except ArrowInvalid:
        numbers = wide.to_pylist()
        row = next(row for row, own in enumerate(numbers) if own is not None and not -(2**63) <= own < 2**63)
        raise InputError(
            f"{name} has {numbers[row]} at row {row}, which has more than 64 bits; cast numbers to Float64, and ids to "
            "String"
        ) from None


def check_nulls(values: Any, name: str) -> None:
    """Raise ValueError for nulls of polars, of pandas' nullable columns and of masked arrays.

    NumPy would convert them to NaN or drop the mask.
    """
    missing: Any = None
    if isinstance(values, np.ma.MaskedArray):
        missing = masked_rows(values)
    elif hasattr(values, "null_count") and hasattr(values, "is_null"):
        missing = values.is_null() if values.null_count() else None
    elif (
        hasattr(values, "isna")
        and hasattr(values, "dtype")
        and not (isinstance(values.dtype, np.dtype) and values.dtype.kind in "biuf")
    ):
        missing = values.isna()
    if missing is not None:
        rows = np.flatnonzero(np.asarray(missing))
        if len(rows):
            raise ValueError(f"{name} has a null at row {rows[0]}")


def masked_rows(values: np.ma.MaskedArray[Any, Any]) -> np.ndarray:
    """Which rows of a masked array have a masked value, in any column and any field."""
    mask = np.ascontiguousarray(np.ma.getmaskarray(values))
    return np.asarray(mask.view(np.bool_).reshape(mask.shape[0] if mask.ndim else 1, -1).any(axis=1))


def check_masked_items(values: Sequence[Any], name: str) -> None:
    """Raise ValueError for masked values of NumPy in a list or in its rows: NumPy would read what stands below."""
    types = set(map(type, values))
    if types & {list, tuple}:
        rows = (row for row in values if isinstance(row, (list, tuple)))
        types |= set(map(type, chain.from_iterable(rows)))
    if any(issubclass(own, np.ma.MaskedArray) for own in types):
        for row, value in enumerate(values):
            items = value if isinstance(value, (list, tuple)) else [value]
            if any(isinstance(item, np.ma.MaskedArray) and np.ma.is_masked(item) for item in items):
                raise ValueError(f"{name} has a null at row {row}")


def check_nested(values: Any, name: str) -> None:
    """Raise ValueError for nested lists of different lengths."""
    if values and isinstance(values[0], (list, tuple)):
        widths = {len(row) if isinstance(row, (list, tuple)) else -1 for row in values}
        if len(widths) > 1:
            raise ValueError(f"{name} must have rows of one length; found rows of different lengths")


def arrow_to_numpy(values: Any, name: str) -> np.ndarray:
    """The numbers of an Arrow array, without a copy if the layout allows it. A table becomes a matrix."""
    if getattr(values, "num_columns", 0):
        return np.column_stack([arrow_to_numpy(column, name) for column in values.itercolumns()])
    if not hasattr(values, "null_count"):
        raise InputError(f"{name} must be an array of rows; found a pyarrow {type(values).__name__}")
    if values.null_count:
        row = int(np.flatnonzero(np.asarray(values.is_null(nan_is_null=False)))[0])
        raise ValueError(f"{name} has a null at row {row}")
    values = arrow_columns.plain_column(values)
    if types.is_decimal(values.type):
        return arrow_columns.decimals_to_floats(values)
    if hasattr(values, "chunks"):
        if values.num_chunks == 1:
            return arrow_to_numpy(values.chunk(0), name)
        return np.asarray(values.to_numpy())
    return arrow_columns.numpy_values(values)


def check_one_dimension(array: np.ndarray, name: str, error: type[Exception] = ValueError) -> None:
    """Check that the array has one dimension."""
    if array.ndim != 1:
        raise error(f"{name} must have one dimension; found {array.ndim} (shape {array.shape})")


def check_column(array: np.ndarray, name: str) -> None:
    """Check that the array has one dimension and at least one row."""
    check_one_dimension(array, name, ValueError if array.ndim else InputError)
    if array.shape[0] == 0:
        raise ValueError(f"{name} is empty: at least one row is needed")


def check_lengths(rows: int, other_rows: int, name: str, other_name: str) -> None:
    """Check that two columns have the same number of rows."""
    if rows != other_rows:
        raise ValueError(f"{name} has {rows} rows but {other_name} has {other_rows}")


RowLocator = Callable[[int], int]


def unchanged_row(row: int) -> int:
    """The default of `locate`: errors name rows as in the array. Callers with a part of a column map the numbers."""
    return row


def raise_bad_type(array: np.ndarray, name: str, wanted: str, locate: RowLocator = unchanged_row) -> NoReturn:
    """Raise the error for a column that is not numeric. `wanted` says what is needed."""
    if array.dtype == object:
        for row, value in enumerate(array.ravel()):
            if value is None or value is getattr(value, "_NA_SENTINEL", None):
                raise ValueError(f"{name} has None at row {locate(row)}: {wanted}")
            if not is_number(value):
                raise InputError(f"{name} has {value!r} at row {locate(row)}: {wanted}")
        raise InputError(f"{name} has dtype object: {wanted}; convert it with astype, for instance astype(float)")
    if array.dtype.kind in "USTO" and array.size:
        raise InputError(f"{name} has {str(array.ravel()[0])!r} at row {locate(0)}: {wanted}")
    raise InputError(f"{name} has dtype {array.dtype}: {wanted}")


def is_number(value: Any) -> bool:
    """Is it a real number?"""
    return isinstance(value, (int, float, np.number, np.bool_)) and not isinstance(value, np.complexfloating)


def numbers_of_objects(array: np.ndarray, name: str, locate: RowLocator = unchanged_row) -> np.ndarray:
    """An object array of real numbers as an array of their common type."""
    if (numbers := column_checks.read_numbers(array.ravel().tolist())) is not None:
        return numbers.reshape(array.shape)
    from decimal import Decimal  # a slow import

    if any(isinstance(value, Decimal) for value in array.ravel()):
        # Python's own conversion rounds once, as that of decimals in Arrow columns.
        values = [float(value) if isinstance(value, Decimal) else value for value in array.ravel().tolist()]
        array = np.fromiter(values, object, len(values)).reshape(array.shape)
    if not all(map(is_number, array.ravel())):
        raise_bad_type(array, name, "numbers are needed", locate)
    typed = np.array(array.tolist())
    if typed.dtype == object or typed.shape != array.shape:
        raise_bad_type(array, name, "numbers are needed", locate)
    return typed


def contiguous(array: np.ndarray) -> np.ndarray:
    """The array itself if kernels can read it, otherwise a contiguous aligned copy in native byte order."""
    if array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative:
        return array
    return np.require(array.astype(array.dtype.newbyteorder("="), copy=False), requirements=("C", "A"))


def as_floats(values: Any, name: str, locate: RowLocator = unchanged_row) -> np.ndarray:
    """A contiguous float32 or float64 array. Integers and float16 are widened exactly. NaN is allowed here."""
    array = as_array(values, name)
    if array.dtype.kind == "O":
        array = numbers_of_objects(array, name, locate)
    kind = array.dtype.kind
    if kind == "f":
        if array.dtype.itemsize == 2:
            array = array.astype(np.float32)
        elif array.dtype.itemsize > 8:
            raise InputError(
                f"{name} has dtype {array.dtype}: the widest supported type is float64; convert it with astype(float)"
            )
    elif kind in "biu":
        if array.dtype.itemsize == 8 and array.size:
            integers = contiguous(array)
            floats = np.empty(array.shape)
            if column_checks.widen_integers(integers.reshape(-1), floats.reshape(-1)):
                return floats
            low, high = int(array.min()), int(array.max())
            if low < -EXACT_INTEGER or high > EXACT_INTEGER:
                row = first_bad_row((array < -EXACT_INTEGER) | (array > EXACT_INTEGER))
                raise ValueError(
                    f"{name} has {array.ravel()[row]} at row {locate(row)}: integers beyond 2**53 have no exact float64"
                    "; convert the column with astype(float) if rounding is acceptable"
                )
        array = array.astype(np.float64)
    else:
        raise_bad_type(array, name, "numbers are needed", locate)
    return contiguous(array)


def as_scores(values: Any, name: str = "y_score", locate: RowLocator = unchanged_row) -> np.ndarray:
    """A column of scores, float32 or float64."""
    array = as_floats(values, name, locate)
    check_column(array, name)
    return array


def as_numbers(values: Any, name: str = "y_true", locate: RowLocator = unchanged_row) -> np.ndarray:
    """A column of finite numbers, float32 or float64."""
    array = as_scores(values, name, locate)
    if not np.isfinite(array).all():
        raise_bad_number(array, name, locate)
    return array


def check_grades(
    array: np.ndarray, name: str, locate: RowLocator, nonnegative_for: str, greatest: float, greatest_for: str
) -> None:
    """Check relevance grades.

    `nonnegative_for` names the metrics that need grades of at least 0 (empty: none do). `greatest` is the greatest
    grade that all metrics accept, and `greatest_for` names the metric that sets it.
    """
    if array.shape[0] and nonnegative_for and array.min() < 0:
        row = first_bad_row(array < 0)
        rule = f"grades of relevance ({nonnegative_for}) must not be negative"
    elif array.shape[0] and array.max() > greatest:
        row = first_bad_row(array > greatest)
        rule = f"grades may be at most {greatest:g} for {greatest_for}"
    else:
        return
    raise ValueError(f"{name} has {array[row]} at row {locate(row)}: {rule}")


def as_labels(values: Any, name: str = "y_true", locate: RowLocator = unchanged_row) -> np.ndarray:
    """A column of a type that can have binary labels: bool, integer or float.

    The values are checked later, block by block.
    """
    array = as_array(values, name)
    check_column(array, name)
    if array.dtype.char not in LABEL_TYPES:
        if array.dtype == np.float16:
            array = array.astype(np.float32)
        elif array.dtype.char != "?":
            raise_bad_type(array, name, "labels must be 0 and 1, or -1 and +1", locate)
    array = contiguous(array)
    return array.view(np.uint8) if array.dtype == np.bool_ else array


def as_offsets(values: Any, n: int, sequences: str, rows: str) -> np.ndarray:
    """Offsets as int64: they rise, or stay equal, from 0 to n. `sequences` and `rows` name what they divide."""
    offsets = as_array(values, "offsets")
    if offsets.ndim != 1 or offsets.dtype.kind not in "iu" or offsets.shape[0] == 0:
        raise InputError(
            f"offsets must be integers in one dimension, one more than {sequences}; found {offsets.dtype} of shape "
            f"{offsets.shape}"
        )
    offsets = contiguous(offsets.astype(np.int64))
    if offsets[0] != 0 or offsets[-1] != n:
        raise ValueError(f"offsets must go from 0 to {n}, the number of {rows}; found {offsets[0]} to {offsets[-1]}")
    falls = np.flatnonzero(offsets[1:] < offsets[:-1])
    if falls.shape[0]:
        at = int(falls[0])
        raise ValueError(f"offsets must not decrease; offsets[{at + 1}] is {offsets[at + 1]} after {offsets[at]}")
    return offsets


def check_label_kinds(seen: int, find_row: Callable[[str], tuple[int, Any]], name: str) -> None:
    """Check the kinds of labels that decode_labels saw. `find_row` finds the first "other" or "minus one"."""
    if seen & column_checks.SAW_OTHER:
        row, value = find_row("other")
        advice = advice_for_classes(value) if name == "y_true" else ""
        raise LabelError(f"{name} has {value} at row {row}: labels must be 0 and 1, or -1 and +1{advice}")
    if seen & column_checks.SAW_MINUS_ONE and seen & column_checks.SAW_ZERO:
        row, _ = find_row("minus one")
        raise LabelError(f"{name} has -1 at row {row} and 0 elsewhere: labels must be 0 and 1, or -1 and +1, not a mix")


def first_bad_row(bad: np.ndarray) -> int:
    """The first place in a mask, counted row by row. There is one, or another thread changed the array meanwhile."""
    row = int(bad.argmax())
    if not bad.flat[row]:
        raise_changed()
    return row


def raise_changed() -> NoReturn:
    """Raise for an array that does not have the values that were read before."""
    raise ValueError("an array was changed by another thread while it was read")


def find_label(array: np.ndarray, kind: str) -> tuple[int, Any]:
    """The first row of a kind, and its label: "minus one", "neither 0 nor 1", or "other" (not -1, 0 or 1)."""
    if kind == "minus one":
        row = first_bad_row(array == -1)
    else:
        bad = (array != 0) & (array != 1)
        if kind == "other" and array.dtype.kind != "u":
            bad &= array != -1
        row = first_bad_row(bad)
    value = array[row]
    return row, "NaN" if value != value else value


def decode_labels(array: np.ndarray, name: str = "y_true") -> np.ndarray:
    """All labels as uint8 0 or 1, checked."""
    rows = array.shape[0]
    out = np.empty(rows, np.uint8)
    seen = np.zeros(2, np.int64)
    column_checks.decode_labels(array, 0, rows, out, seen)
    check_label_kinds(int(seen[0]), lambda kind: find_label(array, kind), name)
    return out


def raise_nan(array: np.ndarray, name: str) -> NoReturn:
    """Raise the error for a column with NaN."""
    raise ValueError(f"{name} has NaN at row {first_bad_row(np.isnan(array))}")


def raise_bad_number(array: np.ndarray, name: str, locate: RowLocator = unchanged_row) -> NoReturn:
    """Raise the error for a column with a value that is not finite."""
    row = first_bad_row(~np.isfinite(array))
    if array[row] != array[row]:
        raise ValueError(f"{name} has NaN at row {locate(row)}")
    raise ValueError(f"{name} has {array[row]} at row {locate(row)}: finite numbers are needed")


def check_finite(array: np.ndarray, name: str) -> None:
    """Check that every value is finite."""
    if not np.isfinite(array).all():
        raise_bad_number(array, name)


def check_infinities(scores: np.ndarray, allow_infinite: Any, n_threads: int | None = None) -> None:
    """Check that no score is infinite, unless that is allowed. NaN is found later, where scores are sorted.

    Scores are float32 or float64: a column, or a matrix with contiguous rows or contiguous columns.
    """
    if allow_infinite is not False:
        check_flag(allow_infinite, "allow_infinite")
    if not allow_infinite and any_not_finite(scores, n_threads):
        raise_infinity(scores)


def any_not_finite(scores: np.ndarray, n_threads: int | None) -> bool:
    """Is a score infinite or NaN? float32 or float64: a column, or a matrix with contiguous rows or columns."""
    if scores.size < parallel.PARALLEL_VALUES:
        return column_checks.any_not_finite(scores)
    values = scores.reshape(-1, order="A")
    return any(
        parallel.for_each_part(
            values.shape[0], lambda start, stop: column_checks.any_not_finite(values[start:stop]), n_threads
        )
    )


def raise_infinity(scores: np.ndarray) -> None:
    """Raise the error for the first infinite score, if one of the scores is infinite: others may be NaN."""
    bad = np.isinf(scores)
    if bad.any():
        row = first_bad_row(bad.reshape(scores.shape[0], -1).any(axis=1))
        advice = "finite numbers are needed, or allow_infinite=True, which orders infinite ones"
        raise ValueError(f"y_score has {scores[bad][0]} at row {row}: {advice}")


def check_probabilities(array: np.ndarray, name: str) -> None:
    """Check that every value is a probability."""
    if not ((array >= 0) & (array <= 1)).all():
        raise_bad_probability(array, name)


def raise_bad_probability(
    array: np.ndarray, name: str, first_row: int = 0, row_numbers: np.ndarray | None = None
) -> NoReturn:
    """Raise the error for a column with a value that is not a probability.

    The array may be a part of a longer column, from first_row on. If rows were left out, `row_numbers` has the number
    of each row, counted from first_row.
    """
    flat = first_bad_row(~((array >= 0) & (array <= 1)).ravel())
    row = flat // (array.shape[1] if array.ndim == 2 else 1)
    row = first_row + (row if row_numbers is None else int(row_numbers[row]))
    value = array.ravel()[flat]
    if value != value:
        raise ValueError(f"{name} has NaN at row {row}")
    raise ProbabilityError(f"{name} has {value} at row {row}: probabilities must lie between 0 and 1")


def check_integer(value: Any, name: str, wanted: str, least: int = 1, most: int | None = None) -> int:
    """An integer in these bounds as a Python int; the error says what is wanted."""
    number = integer_value(value)
    if number is None or number < least or (most is not None and number > most):
        raise OptionError(f"{name} must be {wanted}; found {value!r}")
    return number


def check_number(value: Any, name: str, wanted: str, holds: Callable[[float], bool]) -> float:
    """A number for which `holds` is true, as a float; what is no number is asked for as NaN."""
    number = number_value(value)
    if not holds(number):
        raise OptionError(f"{name} must be {wanted}; found {value!r}")
    return number


def check_option(value: Any, name: str, allowed: tuple[Any, ...]) -> None:
    """Check that the value is one of those allowed."""
    if isinstance(value, np.ndarray) or value not in allowed:
        raise OptionError(f"{name} must be one of {', '.join(map(repr, allowed))}; found {value!r}")


def check_flag(value: Any, name: str) -> None:
    """Check that the value is a bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise OptionError(f"{name} must be True or False; found {value!r}")


def missing_column_text(column: str, where: str, available: Sequence[object]) -> str:
    """The error text for a missing column, with similar names and the first columns that exist."""
    import difflib

    names = [str(name) for name in dict.fromkeys(available)]
    similar = difflib.get_close_matches(str(column), names, n=3)
    if not similar:
        similar = [name for name in names if name.lower() == str(column).lower()]
    question = f"; did you mean {' or '.join(map(repr, similar))}?" if similar else "."
    more = f" and {len(names) - LISTED_COLUMNS} more" if len(names) > LISTED_COLUMNS else ""
    return f"no column {column!r} in {where}{question} Its columns: {', '.join(names[:LISTED_COLUMNS])}{more}"
