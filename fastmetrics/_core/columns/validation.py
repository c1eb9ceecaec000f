"""The only place where arrays are coerced and checked; every error text about a column is here.

Coercion is exact or refused: integers and float16 widen, text and objects do not become numbers. Arrays that are
contiguous and of a type the kernels read are passed on as they are, never copied, never written to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from fastmetrics._kernels import columns

LABEL_TYPES = frozenset("bBhHiIlLqQfd")
EXACT_INTEGER = 1 << 53
LISTED_COLUMNS = 20
WEIGHTS_WANTED = f"weights must lie between 0 and {columns.MAX_WEIGHT:g}"


class OptionError(ValueError, TypeError):
    """An option that is not one of those allowed: of both types, as scikit-learn's own error is."""


class InputError(ValueError, TypeError):
    """What is no column of the kind needed: of both types, because scikit-learn raises now the one, now the other."""


class ProbabilityError(ValueError):
    """Scores that are no probabilities, given to a metric that needs them."""


class LabelError(ValueError):
    """Labels of more than two classes, given to a metric that needs two."""


def has_rows(values: Any) -> bool:
    """Is it a sequence, or something with the array protocol?"""
    return hasattr(values, "__len__") or hasattr(values, "__array__")


def as_array(values: Any, name: str) -> np.ndarray:
    """A NumPy array of any array-like: NumPy, sequences, pandas, polars, Arrow, anything with the array protocol."""
    if type(values) is np.ndarray:
        return values
    if isinstance(values, (str, bytes)) or values is None:
        raise InputError(f"{name} must be an array of rows; found {type(values).__name__}")
    if type(values).__module__.partition(".")[0] == "pyarrow":
        return arrow_to_numpy(values, name)
    if isinstance(values, (list, tuple)):
        check_nested(values, name)
    check_nulls(values, name)
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"{name} must be an array with rows of one length; found {type(values).__name__} ({error})"
        ) from None


def check_nulls(values: Any, name: str) -> None:
    """Refuse the nulls of polars and of pandas' nullable columns, which NumPy would make NaN of."""
    missing: Any = None
    if hasattr(values, "mask") and isinstance(values, np.ndarray):
        missing = np.ma.getmaskarray(values)
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


def check_nested(values: Any, name: str) -> None:
    if values and isinstance(values[0], (list, tuple)):
        widths = {len(row) if isinstance(row, (list, tuple)) else -1 for row in values}
        if len(widths) > 1:
            raise ValueError(f"{name} must have rows of one length; found rows of different lengths")


def arrow_to_numpy(values: Any, name: str) -> np.ndarray:
    """The numbers of an Arrow array, without a copy where its layout is NumPy's; of a table, a column for each."""
    if getattr(values, "num_columns", 0):
        return np.column_stack([arrow_to_numpy(column, name) for column in values.itercolumns()])
    if not hasattr(values, "null_count"):
        raise InputError(f"{name} must be an array of rows; found a pyarrow {type(values).__name__}")
    if values.null_count:
        chunks = getattr(values, "chunks", None) or [values]
        before = 0
        for chunk in chunks:
            if chunk.null_count:
                row = before + int(np.flatnonzero(np.asarray(chunk.is_null(nan_is_null=False)))[0])
                raise ValueError(f"{name} has a null at row {row}")
            before += len(chunk)
    if hasattr(values, "chunks"):
        if values.num_chunks == 1:
            return arrow_to_numpy(values.chunk(0), name)
        return np.asarray(values.to_numpy())
    return np.asarray(values.to_numpy(zero_copy_only=False))


def check_column(array: np.ndarray, name: str) -> None:
    """One dimension, at least one row."""
    if array.ndim != 1:
        kind = ValueError if array.ndim else InputError
        raise kind(f"{name} must have one dimension; found {array.ndim} (shape {array.shape})")
    if array.shape[0] == 0:
        raise ValueError(f"{name} is empty: at least one row is needed")


def check_lengths(rows: int, array_rows: int, first: str, name: str) -> None:
    if rows != array_rows:
        raise ValueError(f"{first} has {rows} rows but {name} has {array_rows}")


Locate = Callable[[int], int]


def same_row(row: int) -> int:
    """Rows are named as they stand in the array; callers with a part of a column say otherwise."""
    return row


def refuse_type(array: np.ndarray, name: str, wanted: str, locate: Locate = same_row) -> NoReturn:
    """The error for a column whose type has no numbers in it."""
    if array.dtype == object:
        for row, value in enumerate(array.ravel()):
            if value is None or value is getattr(value, "_NA_SENTINEL", None):
                raise ValueError(f"{name} has None at row {locate(row)}: {wanted}")
            if not is_number(value):
                advice = "; cast decimals to float64 first" if type(value).__name__ == "Decimal" else ""
                raise InputError(f"{name} has {value!r} at row {locate(row)}: {wanted}{advice}")
        raise InputError(f"{name} has dtype object: {wanted}; convert it with astype")
    if array.dtype.kind in "USTO" and array.size:
        raise InputError(f"{name} has {str(array.ravel()[0])!r} at row {locate(0)}: {wanted}")
    raise InputError(f"{name} has dtype {array.dtype}: {wanted}")


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number, np.bool_)) and not isinstance(value, np.complexfloating)


def object_numbers(array: np.ndarray, name: str, locate: Locate = same_row) -> np.ndarray:
    """Objects that are all real numbers as an array of their common type: a column that lost its own on the way."""
    if not all(map(is_number, array.ravel())):
        refuse_type(array, name, "numbers are needed", locate)
    plain = np.array(array.tolist())
    if plain.dtype == object or plain.shape != array.shape:
        refuse_type(array, name, "numbers are needed", locate)
    return plain


def contiguous(array: np.ndarray) -> np.ndarray:
    """The array itself when kernels can read it; else a contiguous, aligned copy in native byte order."""
    if array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative:
        return array
    return np.require(array.astype(array.dtype.newbyteorder("="), copy=False), requirements=("C", "A"))


def as_floats(values: Any, name: str, locate: Locate = same_row) -> np.ndarray:
    """A contiguous float32 or float64 array; integers and float16 are widened exactly. NaN is not looked for here."""
    array = as_array(values, name)
    if array.dtype.kind == "O":
        array = object_numbers(array, name, locate)
    kind = array.dtype.kind
    if kind == "f":
        if array.dtype.itemsize == 2:
            array = array.astype(np.float32)
        elif array.dtype.itemsize > 8:
            raise InputError(
                f"{name} has dtype {array.dtype}: float64 is the widest type kept exactly; convert it first"
            )
    elif kind in "biu":
        if array.dtype.itemsize == 8 and array.size:
            low, high = int(array.min()), int(array.max())
            if low < -EXACT_INTEGER or high > EXACT_INTEGER:
                row = int(np.flatnonzero((array < -EXACT_INTEGER) | (array > EXACT_INTEGER))[0])
                raise ValueError(
                    f"{name} has {array.ravel()[row]} at row {locate(row)}: integers beyond 2**53 have no exact float64"
                )
        array = array.astype(np.float64)
    else:
        refuse_type(array, name, "numbers are needed", locate)
    return contiguous(array)


def as_scores(values: Any, name: str = "y_score", locate: Locate = same_row) -> np.ndarray:
    """A column of scores, float32 or float64."""
    array = as_floats(values, name, locate)
    check_column(array, name)
    return array


def as_numbers(values: Any, name: str = "y_true", locate: Locate = same_row) -> np.ndarray:
    """A column of finite numbers, float32 or float64."""
    array = as_scores(values, name, locate)
    if not np.isfinite(array).all():
        raise_bad_number(array, name, locate)
    return array


def check_grades(
    array: np.ndarray, name: str, locate: Locate, refusing_negative: str, greatest: float, of_greatest: str
) -> None:
    """Grades of relevance: none below zero where some metrics say so, none above what a metric can take."""
    if array.shape[0] and refusing_negative and array.min() < 0:
        row = int(np.flatnonzero(array < 0)[0])
        what = f"grades of relevance ({refusing_negative}) must not be negative"
    elif array.shape[0] and array.max() > greatest:
        row = int(np.flatnonzero(array > greatest)[0])
        what = f"grades may be at most {greatest:g} for {of_greatest}"
    else:
        return
    raise ValueError(f"{name} has {array[row]} at row {locate(row)}: {what}")


def as_labels(values: Any, name: str = "y_true", locate: Locate = same_row) -> np.ndarray:
    """A column that may hold binary labels: any integer, bool or float type the kernels read.

    Values are checked block by block.
    """
    array = as_array(values, name)
    check_column(array, name)
    if array.dtype.char not in LABEL_TYPES:
        if array.dtype == np.float16:
            array = array.astype(np.float32)
        elif array.dtype.char != "?":
            refuse_type(array, name, "labels must be 0 and 1, or -1 and +1", locate)
    array = contiguous(array)
    return array.view(np.uint8) if array.dtype == np.bool_ else array


def as_weights(values: Any, rows: int, first: str = "y_true", name: str = "sample_weight") -> np.ndarray:
    """A column of weights as float64: finite, none negative, at most MAX_WEIGHT: sums of products stay finite."""
    array = as_floats(values, name)
    check_column(array, name)
    check_lengths(rows, array.shape[0], first, name)
    weights = array.astype(np.float64, copy=False)
    found = np.zeros(2, np.int64)
    columns.check_weights(weights, 0, rows, found)
    if found[0]:
        row = find_bad_weight(weights)
        raise ValueError(f"{name} has {weights[row]} at row {row}: {WEIGHTS_WANTED}")
    return weights


def check_some_weight(weights: np.ndarray, name: str = "sample_weight") -> None:
    """At least one row has to weigh something, where nothing at all is no answer. The types are judged elsewhere."""
    if weights.dtype.kind in "biuf" and not weights.any():
        raise ValueError(f"{name} is zero at every row: at least one weight must not be")


def find_bad_weight(weights: np.ndarray) -> int:
    """The first row whose weight is refused."""
    return int(np.flatnonzero(~((weights >= 0) & (weights <= columns.MAX_WEIGHT)))[0])


def check_common_labels(seen: int, find_row: Callable[[str], tuple[int, Any]], name: str, why: str) -> None:
    """Labels that are read as classes and as numbers too: these agree on 0 and 1 only."""
    if seen & ~(columns.SAW_ZERO | columns.SAW_ONE):
        row, value = find_row("neither 0 nor 1")
        raise LabelError(f"{name} has {value} at row {row}: labels must be 0 and 1 where {why}")


def check_seen_labels(seen: int, find_row: Callable[[str], tuple[int, Any]], name: str) -> None:
    """Judge what decode_labels noted. `find_row` locates the first row that is "other" or that is "minus one"."""
    if seen & columns.SAW_OTHER:
        row, value = find_row("other")
        raise LabelError(f"{name} has {value} at row {row}: labels must be 0 and 1, or -1 and +1")
    if seen & columns.SAW_MINUS_ONE and seen & columns.SAW_ZERO:
        row, _ = find_row("minus one")
        raise LabelError(f"{name} has -1 at row {row} and 0 elsewhere: labels must be 0 and 1, or -1 and +1, not a mix")


def find_label(array: np.ndarray, what: str) -> tuple[int, Any]:
    """The first row of the kind that is asked for: "minus one", "neither 0 nor 1", or "other" than all three."""
    if what == "minus one":
        row = int(np.flatnonzero(array == -1)[0])
    else:
        bad = (array != 0) & (array != 1)
        if what == "other" and array.dtype.kind != "u":
            bad &= array != -1
        row = int(np.flatnonzero(bad)[0])
    value = array[row]
    return row, "NaN" if value != value else value


def decode_labels(array: np.ndarray, name: str = "y_true") -> np.ndarray:
    """All labels at once as uint8 0 or 1, checked."""
    rows = array.shape[0]
    out = np.empty(rows, np.uint8)
    seen = np.zeros(2, np.int64)
    columns.decode_labels(array, 0, rows, out, seen)
    check_seen_labels(int(seen[0]), lambda what: find_label(array, what), name)
    return out


def raise_nan(array: np.ndarray, name: str) -> NoReturn:
    """The error for a column in which a kernel met NaN."""
    raise ValueError(f"{name} has NaN at row {int(np.flatnonzero(np.isnan(array))[0])}")


def raise_bad_number(array: np.ndarray, name: str, locate: Locate = same_row) -> NoReturn:
    """The error for a column in which something is not finite."""
    row = int(np.flatnonzero(~np.isfinite(array))[0])
    if array[row] != array[row]:
        raise ValueError(f"{name} has NaN at row {locate(row)}")
    raise ValueError(f"{name} has {array[row]} at row {locate(row)}: finite numbers are needed")


def raise_bad_probability(
    array: np.ndarray, name: str, first_row: int = 0, places: np.ndarray | None = None
) -> NoReturn:
    """The error for a column in which a kernel met something that is no probability.

    The column may be a part of a longer one, from first_row on, and lack rows: then `places` are those of the rows it
    has.
    """
    flat = int(np.flatnonzero(~((array >= 0) & (array <= 1)).ravel())[0])
    row = flat // (array.shape[1] if array.ndim == 2 else 1)
    row = first_row + (row if places is None else int(places[row]))
    value = array.ravel()[flat]
    if value != value:
        raise ValueError(f"{name} has NaN at row {row}")
    raise ProbabilityError(f"{name} has {value} at row {row}: probabilities must lie between 0 and 1")


def check_option(value: Any, name: str, allowed: tuple[Any, ...]) -> None:
    if value not in allowed:
        raise OptionError(f"{name} must be one of {', '.join(map(repr, allowed))}; found {value!r}")


def check_flag(value: Any, name: str) -> None:
    if not isinstance(value, (bool, np.bool_)):
        raise OptionError(f"{name} must be True or False; found {value!r}")


def no_column(column: str, where: str, available: Sequence[object]) -> str:
    """The error text for a column that is not there: the near ones, and the first of those that are there."""
    import difflib

    names = [str(name) for name in dict.fromkeys(available)]
    near = difflib.get_close_matches(str(column), names, n=3)
    if not near:
        near = [name for name in names if name.lower() == str(column).lower()]
    question = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
    more = f" and {len(names) - LISTED_COLUMNS} more" if len(names) > LISTED_COLUMNS else ""
    return f"no column {column!r} in {where}{question} Its columns: {', '.join(names[:LISTED_COLUMNS])}{more}"
