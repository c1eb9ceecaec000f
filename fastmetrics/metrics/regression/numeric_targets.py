"""Targets beside predictions: checked, weighted, reduced block by block. What the files of this family share.

Arrays of any native number type and layout are read as they are, so nothing is copied or converted as a whole. They are
not looked at beforehand either: a kernel's flags tell that something is wrong, and only then it is looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

import numpy as np

from fastmetrics._core import exact, inputs
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.rows import BLOCK_ROWS, SERIAL_ROWS
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels import errors, sums

READ_TYPES = frozenset("?bBhHiIlLqQfd")
CHUNK_ROWS = 2048  # what a kernel takes at once
UNIFORM = "uniform_average"
RAW = "raw_values"
BY_VARIANCE = "variance_weighted"
NO_WEIGHT = "every weight is zero"
TWO_ROWS = "it needs at least two rows"


class Targets(NamedTuple):
    """The checked columns of one call: of one dimension, or of two with a column per output."""

    y_true: np.ndarray
    y_pred: np.ndarray
    weights: np.ndarray | None
    dtype: np.dtype  # of the raw values, as scikit-learn's: the widest float type that came in
    own_dtype: np.dtype  # of differences, as NumPy's
    threads: int

    @property
    def rows(self) -> int:
        return int(self.y_true.shape[0])

    @property
    def n_outputs(self) -> int:
        return int(self.y_true.shape[1]) if self.y_true.ndim == 2 else 1

    def total_weight(self) -> int:
        """The sum of the weights, or the number of rows, times 2**EXPONENT."""
        if self.weights is None:
            return self.rows << exact.EXPONENT
        state = exact.new_states()
        sums.sum_values(self.weights, None, state)
        return exact.to_integer(state)

    def present(self) -> Targets:
        """Without the rows of weight zero."""
        if self.weights is None or (present := self.weights > 0).all():
            return self
        return self._replace(
            y_true=self.y_true[present], y_pred=self.y_pred[present], weights=self.weights[present]
        )

    def reduce(self, add: Callable[[int, int, np.ndarray], int], *shape: int) -> tuple[np.ndarray, int]:
        """States of that shape and a kernel's flags: `add(start, stop, states)` is called for blocks of rows."""
        if self.rows <= SERIAL_ROWS and self.n_outputs == 1:
            states = exact.new_states(*shape)
            return states, add(0, self.rows, states)
        # Not smaller than a kernel's chunk, not so many values that a thread waits for the other at the end.
        step = max(CHUNK_ROWS, BLOCK_ROWS // self.n_outputs // CHUNK_ROWS * CHUNK_ROWS)
        bounds = [(start, min(self.rows, start + step)) for start in range(0, self.rows, step)]
        parts: list[np.ndarray] = []
        flags = [0] * len(bounds)

        def make_worker() -> Callable[[int], None]:
            own = exact.new_states(*shape)
            parts.append(own)

            def work(unit: int) -> None:
                flags[unit] = add(*bounds[unit], own)

            return work

        for_each(len(bounds), make_worker, self.threads if self.rows * self.n_outputs > SERIAL_ROWS else 1)
        states = parts[0]
        for own in parts[1:]:
            exact.merge_states(states, own)
        found = 0
        for own_flags in flags:
            found |= own_flags
        return states, found

    def error_states(self, kind: int, parameter: float = 0.0, judged: bool = False) -> np.ndarray:
        """The exact sum of every output's terms; bad values are refused, where that was not done before."""

        def add(start: int, stop: int, states: np.ndarray) -> int:
            return errors.add_errors(self.y_true, self.y_pred, self.weights, kind, parameter, start, stop, states)

        states, flags = self.reduce(add, self.n_outputs)
        if flags and not judged:
            self.refuse(flags, kind, parameter)
            kept = self.present()
            if kept is not self and kept.rows:
                # A term may be infinite where nothing else is; times the weight of an absent row that is NaN.
                return kept.error_states(kind, parameter)
        return states

    def refuse(self, flags: int, kind: int, parameter: float = 0.0) -> None:
        """The error for what a kernel's flags tell; none where finite numbers gave an infinite term."""
        refuse_values(self.y_true, self.y_pred, flags)
        if flags & errors.OUTSIDE:
            refuse_outside(self.y_true, self.y_pred, kind, parameter, "y_true", "y_pred", inputs.same_row)


def as_values(values: Any, name: str) -> np.ndarray:
    """An array of numbers the kernels read, of one or two dimensions; not copied where that can be avoided."""
    array = inputs.as_array(values, name)
    if not (array.dtype.char in READ_TYPES and array.dtype.isnative and array.flags.aligned):
        array = inputs.as_floats(array, name)
    if not 1 <= array.ndim <= 2:
        kind = ValueError if array.ndim else inputs.InputError
        raise kind(f"{name} must have one dimension, or two; found {array.ndim} (shape {array.shape})")
    if array.shape[0] == 0:
        raise ValueError(f"{name} is empty: at least one row is needed")
    if array.ndim == 2:
        if array.shape[1] == 0:
            raise ValueError(f"{name} has no column: at least one output is needed")
        if array.shape[1] == 1:
            array = array[:, 0]
    return array


def as_targets(y_true: Any, y_pred: Any, sample_weight: Any, n_threads: int | None) -> Targets:
    """Checked but for the values themselves."""
    threads = count_threads(n_threads)
    columns = inputs.as_array(y_true, "y_true"), inputs.as_array(y_pred, "y_pred")
    targets, predictions = as_values(columns[0], "y_true"), as_values(columns[1], "y_pred")
    inputs.check_lengths(targets.shape[0], predictions.shape[0], "y_true", "y_pred")
    if targets.shape != predictions.shape:
        width, other = (own.shape[1] if own.ndim == 2 else 1 for own in (targets, predictions))
        raise ValueError(f"y_true has {width} outputs but y_pred has {other}")
    weights = None
    if sample_weight is not None:
        weights = inputs.as_weights(sample_weight, targets.shape[0])
        if not weights.any():
            raise ValueError("sample_weight is zero in every row: nothing is left to be judged")
    both = np.result_type(*(widest([own.dtype]) if own.dtype.kind == "O" else own.dtype for own in columns))
    own_dtype = widest([both])
    # scikit-learn looks at what has a dtype: lists do not count.
    types = [column.dtype for given, column in zip((y_true, y_pred), columns, strict=True) if hasattr(given, "dtype")]
    if weights is not None and hasattr(sample_weight, "dtype"):
        types.append(np.asarray(sample_weight).dtype)
    return Targets(targets, predictions, weights, widest(types), own_dtype, threads)


def as_single(y_true: Any, y_pred: Any, sample_weight: Any, n_threads: int | None, function: str) -> Targets:
    """Of one output only."""
    targets = as_targets(y_true, y_pred, sample_weight, n_threads)
    if targets.n_outputs > 1:
        raise ValueError(
            f"{function} takes one output; found {targets.n_outputs} in y_true and y_pred "
            f"(shape {targets.y_true.shape})"
        )
    return targets


def widest(types: Iterable[np.dtype]) -> np.dtype:
    """The float type that holds all of these float types; float64 where there is none."""
    floats = [dtype.newbyteorder("=") for dtype in types if dtype.kind == "f"]
    return np.result_type(*floats) if floats else np.dtype(np.float64)


def locate(bad: np.ndarray) -> tuple[int, str]:
    """The first row of a mask, and how its place is told."""
    if bad.ndim == 1:
        return int(np.flatnonzero(bad)[0]), ""
    row, column = divmod(int(np.flatnonzero(bad)[0]), bad.shape[1])
    return row, f", column {column}"


def refuse_values(y_true: np.ndarray, y_pred: np.ndarray, flags: int) -> None:
    """The error for values that are not finite, or integers that float64 does not hold."""
    for array, name in ((y_true, "y_true"), (y_pred, "y_pred")):
        if array.dtype.kind == "f":
            if flags & (errors.NOT_FINITE | errors.OUTSIDE) and (bad := ~np.isfinite(array)).any():
                row, column = locate(bad)
                raise_value(array[bad].ravel()[0], row, column, name)
        elif flags & errors.INEXACT and array.dtype.itemsize == 8:
            bad = array > inputs.EXACT_INTEGER
            if array.dtype.kind == "i":
                bad |= array < -inputs.EXACT_INTEGER
            if bad.any():
                row, column = locate(bad)
                raise ValueError(
                    f"{name} has {array[bad].ravel()[0]} at row {row}{column}: "
                    "integers beyond 2**53 have no exact float64"
                )


def raise_value(value: Any, row: int, column: str, name: str) -> NoReturn:
    if value != value:
        raise ValueError(f"{name} has NaN at row {row}{column}")
    raise ValueError(f"{name} has {value} at row {row}{column}: finite numbers are needed")


def refuse_outside(
    y_true: np.ndarray, y_pred: np.ndarray, kind: int, parameter: float, name: str, pred_name: str, place: inputs.Locate
) -> None:
    """The error for finite values for which a kind of term is not defined."""
    if kind == errors.SQUARED_LOG:
        what = "a logarithmic error needs numbers above -1"
        wanted = [(y_true, name, y_true > -1), (y_pred, pred_name, y_pred > -1)]
    else:
        power = {errors.POISSON: 1, errors.GAMMA: 2}.get(kind, parameter)
        what = f"the deviance of power {power:g} needs "
        wanted = [(y_pred, pred_name, y_pred > 0)]
        if power < 0:
            what += "positive predictions"
        elif power < 2:
            what += "targets of at least 0 and positive predictions"
            wanted.insert(0, (y_true, name, y_true >= 0))
        else:
            what += "positive targets and predictions"
            wanted.insert(0, (y_true, name, y_true > 0))
    for array, own_name, good in wanted:
        if not good.all():
            row, column = locate(~good)
            raise ValueError(f"{own_name} has {array[~good].ravel()[0]} at row {place(row)}{column}: {what}")


def check_multioutput(multioutput: Any, allowed: tuple[Any, ...], n_outputs: int) -> Any:
    """How outputs become one number: one of the words allowed, or a list of their weights."""
    if multioutput is None or isinstance(multioutput, (str, bytes)) or not inputs.has_rows(multioutput):
        if multioutput not in allowed:
            words = ", ".join(map(repr, allowed))
            raise inputs.OptionError(
                f"multioutput must be one of {words}, or an array of weights of the outputs; found {multioutput!r}"
            )
        return multioutput
    weights = inputs.as_floats(multioutput, "multioutput")
    if n_outputs == 1:
        raise ValueError("multioutput is an array of weights, but there is only one output")
    if weights.shape != (n_outputs,):
        raise ValueError(
            f"multioutput must have a weight for each of the {n_outputs} outputs; found {weights.tolist()!r}"
        )
    if not np.isfinite(weights).all():
        inputs.raise_bad_number(weights, "multioutput")
    if not weights.sum():
        raise ZeroDivisionError("the weights of the outputs, multioutput, sum to zero")
    return weights.tolist()


def mean_of_outputs(values: list[float], multioutput: Any, dtype: np.dtype) -> Any:
    """Values of outputs as asked for: all, their mean, their weighted mean. Rounded once where they are finite."""
    if isinstance(multioutput, str) and multioutput == RAW:
        with np.errstate(over="ignore"):  # beyond a narrow type's range: infinity
            return np.array(values).astype(dtype)
    weights = multioutput if isinstance(multioutput, list) else [1.0] * len(values)
    if not np.isfinite(values).all():
        with np.errstate(invalid="ignore"):  # infinity times a weight of zero: NaN
            return float(np.average(values, weights=weights))
    return weighted_mean([Fraction(value) for value in values], weights)


def weighted_mean(values: list[Fraction], weights: list[float]) -> float:
    """Rounded once; the weights do not add up to zero."""
    total = Fraction(0)
    for value, weight in zip(values, weights, strict=True):
        total += value * Fraction(weight)
    total /= sum(map(Fraction, weights))
    return exact.divide(total.numerator, total.denominator)


def output_means(states: np.ndarray, total: int) -> list[float]:
    """Every output's sum by the weight of the rows, rounded once."""
    return [
        exact.divide(exact.to_integer(state), total) if exact.is_finite(state) else exact.to_float(state)
        for state in states
    ]


def mean_errors(targets: Targets, kind: int, parameter: float, multioutput: Any) -> Any:
    """The mean term of the outputs, as asked for; a mean over outputs is rounded once with all."""
    chosen = check_multioutput(multioutput, (RAW, UNIFORM), targets.n_outputs)
    states = targets.error_states(kind, parameter)
    total = targets.total_weight()
    if chosen == RAW or not all(map(exact.is_finite, states)):
        return mean_of_outputs(output_means(states, total), chosen, targets.dtype)
    whole = [exact.to_integer(state) for state in states]
    if chosen == UNIFORM:
        return exact.divide(sum(whole), total * len(whole))
    return weighted_mean([Fraction(own, total) for own in whole], chosen)


def shares_explained(
    pairs: list[tuple[int | None, int]], multioutput: Any, force_finite: bool, dtype: np.dtype
) -> Any:
    """1 - numerator / denominator of every output, combined as asked for.

    Denominators are in one unit; a numerator of None is infinite. Without a denominator the share is 1 where nothing is
    left to explain either, else 0; or what division gives, NaN and -inf, where the result need not be finite.
    """
    scores = [share(numerator, denominator, force_finite) for numerator, denominator in pairs]
    if multioutput == BY_VARIANCE:
        all_denominators = sum(denominator for _, denominator in pairs)
        if all_denominators == 0:
            multioutput = UNIFORM
        elif np.isfinite(scores).all():
            parts = [whole - own for own, whole in pairs if whole and own is not None]
            return exact.divide(sum(parts), all_denominators)
        else:
            multioutput = [exact.divide(denominator, all_denominators) for _, denominator in pairs]
    return mean_of_outputs(scores, UNIFORM if multioutput is None else multioutput, dtype)


def share(numerator: int | None, denominator: int, force_finite: bool) -> float:
    if denominator:
        return float("-inf") if numerator is None else exact.divide(denominator - numerator, denominator)
    if force_finite:
        return 0.0 if numerator is None or numerator else 1.0
    return float("-inf") if numerator is None or numerator else float("nan")


def undefined(function: str, stacklevel: int = 4) -> float:
    """NaN and a warning, where fewer than two rows leave nothing to compare with.

    The warning names the line that called the public function, `stacklevel` frames up.
    """
    return warn_undefined(function, TWO_ROWS, stacklevel)
