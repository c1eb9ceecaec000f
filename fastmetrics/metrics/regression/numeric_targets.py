"""Numeric targets and predictions: checks, weights and sums over blocks of rows, shared by the regression metrics.

Kernels read arrays of any native number type and layout, so no column is copied or converted as a whole. Values are not
checked in a pass of their own: a kernel returns flags, and only then the bad row is searched.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.row_blocks import BLOCK_ROWS, SERIAL_ROWS
from fastmetrics._core.columns.weights import as_weights
from fastmetrics._core.elementary import log2
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import accumulate, count_threads, for_each
from fastmetrics._kernels.columns import column_checks
from fastmetrics._kernels.numeric import sums
from fastmetrics._kernels.regression import errors
from fastmetrics.metrics.regression import wide_terms
from fastmetrics.metrics.regression.error_totals import DoubleDoubleTotals, ErrorTotals

READ_TYPES = frozenset("?bBhHiIlLqQfd")
CHUNK_ROWS = 2048  # rows that a kernel converts at a time
BLOCK_OUTPUTS = 16  # outputs that a kernel reads together: a thread takes a multiple
PARALLEL_VALUES = 1 << 19  # of a matrix; fewer take less time than threads take to start
NO_WEIGHT = "every weight is zero"
SAFE_BITS = 64  # a sum below n 2**-(EXPONENT - SAFE_BITS) may have lost bits of the result
TWO_ROWS = "it needs at least two rows"


# Adds rows start..stop of targets, predictions and weights to the states of all outputs; returns flags.
AddRows = Callable[[np.ndarray, np.ndarray, np.ndarray | None, int, int, np.ndarray], int]


class SumsOfBlocks(NamedTuple):
    """How blocks of rows are summed: new sums of a shape, and how the sums of other blocks are added to them."""

    new: Callable[..., np.ndarray]
    merge: Callable[[np.ndarray, np.ndarray], Any]


EXACT_SUMS = SumsOfBlocks(exact.new_states, exact.merge_states)
DOUBLE_DOUBLE_TOTALS = SumsOfBlocks(lambda outputs: np.zeros((outputs, 2)), sums.merge_double_doubles)


class NumericTargets(NamedTuple):
    """The checked columns of one call, with one dimension, or with two and a column per output."""

    y_true: np.ndarray
    y_pred: np.ndarray
    weights: np.ndarray | None
    dtype: np.dtype  # of raw values, as in scikit-learn: the widest float type among the arguments
    difference_dtype: np.dtype  # of y_true - y_pred, by NumPy's rules
    threads: int

    @property
    def rows(self) -> int:
        return int(self.y_true.shape[0])

    @property
    def n_outputs(self) -> int:
        return int(self.y_true.shape[1]) if self.y_true.ndim == 2 else 1

    def total_weight(self) -> int:
        """The sum of the weights, or the number of rows, times 2**EXPONENT."""
        return self.rows << exact.EXPONENT if self.weights is None else exact.integer_sum(self.weights)

    def outputs(self, selected: np.ndarray, kind: int) -> NumericTargets:
        """Some outputs of several, for terms of a kind. A bad value is named here, with the number of its output."""
        outside = errors.OUTSIDE if kind == errors.SQUARED_LOG else 0
        self.raise_for_flags(errors.NOT_FINITE | errors.INEXACT | outside, kind)
        if selected.all():
            return self
        return self._replace(y_true=self.y_true[:, selected], y_pred=self.y_pred[:, selected])

    def with_float_labels(self) -> NumericTargets:
        """Return the targets with integer labels as float64, if that is exact: to read them several times."""
        labels = self.y_true
        if labels.dtype.kind not in "biu" or not labels.flags.c_contiguous:
            return self
        floats = np.empty(labels.shape)
        if not column_checks.widen_integers(labels.reshape(-1), floats.reshape(-1)):
            return self
        return self._replace(y_true=floats)

    def drop_zero_weights(self) -> NumericTargets:
        """Return the targets without rows of weight zero."""
        if self.weights is None or (present := self.weights > 0).all():
            return self
        return self._replace(y_true=self.y_true[present], y_pred=self.y_pred[present], weights=self.weights[present])

    def reduce(self, add: AddRows, *shape: int, sums_of_blocks: SumsOfBlocks = EXACT_SUMS) -> tuple[np.ndarray, int]:
        """Add all rows to states of the shape, whose first length is the number of outputs. Return these and flags.

        Threads share the rows, or the outputs if there are few rows.
        """
        # A block has whole chunks of a kernel, but is small enough that threads end at about the same time.
        step, is_small = BLOCK_ROWS, self.rows <= SERIAL_ROWS
        if self.n_outputs > 1:
            step = step_of(self.rows, 2 * self.threads, CHUNK_ROWS)
            is_small = self.threads == 1 or self.rows * self.n_outputs < PARALLEL_VALUES
        if is_small:
            states = sums_of_blocks.new(*shape)
            return states, add(self.y_true, self.y_pred, self.weights, 0, self.rows, states)
        if self.n_outputs > 1 and self.rows < self.threads * CHUNK_ROWS:
            return self.reduce_outputs(add, *shape, sums_of_blocks=sums_of_blocks)
        bounds = [(start, min(self.rows, start + step)) for start in range(0, self.rows, step)]

        def add_block(block: int, states: np.ndarray) -> int:
            return add(self.y_true, self.y_pred, self.weights, *bounds[block], states)

        return reduce_blocks(len(bounds), add_block, self.threads, *shape, sums_of_blocks=sums_of_blocks)

    def reduce_outputs(self, add: AddRows, *shape: int, sums_of_blocks: SumsOfBlocks) -> tuple[np.ndarray, int]:
        """`reduce` by threads that share the outputs."""
        states = sums_of_blocks.new(*shape)
        step = step_of(self.n_outputs, self.threads, BLOCK_OUTPUTS)

        def add_outputs(block: int) -> int:
            own = slice(block * step, (block + 1) * step)
            return add(self.y_true[:, own], self.y_pred[:, own], self.weights, 0, self.rows, states[own])

        flags = for_each(-(-self.n_outputs // step), lambda: add_outputs, self.threads)
        return states, functools.reduce(operator.or_, flags)

    def error_states(self, kind: int, parameter: float = 0.0, already_checked: bool = False) -> np.ndarray:
        """Return the exact sum of terms of every output. Bad values raise, unless they are already checked."""

        def add(y: np.ndarray, p: np.ndarray, w: np.ndarray | None, start: int, stop: int, states: np.ndarray) -> int:
            return errors.add_error_terms(y, p, w, kind, parameter, start, stop, states)

        states, flags = self.reduce(add, self.n_outputs)
        if flags and not already_checked:
            self.raise_for_flags(flags, kind, parameter)
            weighted = self.drop_zero_weights()
            if weighted is not self and weighted.rows:
                # An infinite term of finite values, multiplied by a weight of zero, is NaN.
                return weighted.error_states(kind, parameter)
        return states

    def error_totals(self, kind: int, parameter: float = 0.0, weight: int | None = None) -> ErrorTotals:
        """Return the sum of terms of every output, also where terms or their products with weights are no doubles.

        `weight` is the total weight, if it is known.
        """
        return self.totals_of_states(self.error_states(kind, parameter), kind, parameter, weight)

    def double_double_totals(self, kind: int, parameter: float = 0.0) -> DoubleDoubleTotals:
        """Return the sum of terms of every output as double-doubles. Where a value is bad, no mean is certain."""

        def add(y: np.ndarray, p: np.ndarray, w: np.ndarray | None, start: int, stop: int, totals: np.ndarray) -> int:
            return errors.add_error_terms_to_totals(y, p, w, kind, parameter, start, stop, totals)

        totals, flags = self.reduce(add, self.n_outputs, sums_of_blocks=DOUBLE_DOUBLE_TOTALS)
        if flags:
            totals.fill(np.nan)
        return DoubleDoubleTotals(totals, self.rows, self.total_weight())

    def totals_of_states(
        self, states: np.ndarray, kind: int, parameter: float, weight: int | None = None
    ) -> ErrorTotals:
        weight = self.total_weight() if weight is None else weight
        if not self.are_lost(states, weight, kind, parameter) or self.is_perfect():
            return ErrorTotals(states, [], weight, 0)
        y_true, y_pred, weights, *_ = self.drop_zero_weights()
        totals, shift = wide_terms.wide_totals(y_true, y_pred, weights, kind, parameter)
        return ErrorTotals(states, totals, weight << shift, shift)

    def are_lost(self, states: np.ndarray, total_weight: int, kind: int, parameter: float) -> bool:
        """Is a sum of finite terms infinite, or may it have lost bits in terms, or products with weights, near 0?"""
        power = wide_terms.DEVIANCES.get(kind, parameter if kind == errors.TWEEDIE else None)
        if kind == errors.TWEEDIE and self.has_extreme_powers(parameter):
            return True
        # A lost term is below 2**-EXPONENT. It was then multiplied by a weight, which is at most the total weight.
        largest_weight = 1 if self.weights is None else max(1, total_weight >> exact.EXPONENT)
        safe = (self.rows * largest_weight) << SAFE_BITS
        if not sums.any_below(states, safe.bit_length() // 32 + 1):
            return False
        for state in states:
            if not exact.is_finite(state):
                return True
            total = abs(exact.to_integer(state))
            if total < safe and (total or power is None or not self.is_rounded_to_zero(total_weight, power)):
                return True
        return False

    def has_extreme_powers(self, power: float) -> bool:
        """May a power of a target or a prediction in the Tweedie deviance not be a normal double?"""
        largest_exponent = max(abs(1.0 - power), abs(2.0 - power))
        columns = [self.y_pred, self.y_true[self.y_true > 0]]
        sizes = [float(extreme) for column in columns if column.size for extreme in (column.min(), column.max())]
        return any(abs(log2(size)) * largest_exponent > 1000 for size in sizes if 0 < size < math.inf)

    def is_rounded_to_zero(self, total_weight: int, power: float) -> bool:
        """Is a sum of deviances zero since predictions are near their targets, and no product underflowed?"""
        largest = float(self.y_pred.max())
        weight_exponent = total_weight.bit_length() - exact.EXPONENT
        return largest > 0 and weight_exponent + (2.0 - power) * log2(largest) > -900

    def is_perfect(self) -> bool:
        return np.array_equal(self.y_true, self.y_pred)

    def raise_for_flags(self, flags: int, kind: int, parameter: float = 0.0) -> None:
        """Raise the error that a kernel's flags report. Finite numbers with an infinite term raise nothing."""
        raise_bad_values(self.y_true, self.y_pred, flags)
        if flags & errors.OUTSIDE:
            raise_outside_domain(
                self.y_true, self.y_pred, kind, parameter, "y_true", "y_pred", validation.unchanged_row
            )


def step_of(n: int, n_parts: int, multiple: int) -> int:
    """The length of at most n_parts equal parts, a multiple of `multiple`."""
    return -(-n // (n_parts * multiple)) * multiple


def reduce_blocks(
    n_blocks: int, add: Callable[[int, np.ndarray], int], threads: int, *shape: int, sums_of_blocks: SumsOfBlocks
) -> tuple[np.ndarray, int]:
    """Call `add(block, states)` for all blocks. Return the states, merged over threads, and the flags."""

    def new_state() -> tuple[np.ndarray, np.ndarray]:
        return sums_of_blocks.new(*shape), np.zeros(1, np.int64)

    def add_block(state: tuple[np.ndarray, np.ndarray], block: int) -> None:
        state[1][0] |= add(block, state[0])

    (states, flags), *others = accumulate(n_blocks, new_state, add_block, threads)
    for other_states, other_flags in others:
        sums_of_blocks.merge(states, other_states)
        flags |= other_flags
    return states, int(flags[0])


def check_values(values: Any, name: str) -> np.ndarray:
    """Return an array with one or two dimensions that the kernels can read. It is copied only if needed."""
    array = validation.as_array(values, name)
    if not (array.dtype.char in READ_TYPES and array.dtype.isnative and array.flags.aligned):
        array = validation.as_floats(array, name)
    if not 1 <= array.ndim <= 2:
        kind = ValueError if array.ndim else validation.InputError
        raise kind(f"{name} must have one dimension, or two; found {array.ndim} (shape {array.shape})")
    if array.shape[0] == 0:
        raise ValueError(f"{name} is empty: at least one row is needed")
    if array.ndim == 2:
        if array.shape[1] == 0:
            raise ValueError(f"{name} has no column: at least one output is needed")
        if array.shape[1] == 1:
            array = array[:, 0]
    return array


def check_targets(y_true: Any, y_pred: Any, sample_weight: Any, n_threads: int | None) -> NumericTargets:
    """Check everything but the values themselves; the kernels check those."""
    threads = count_threads(n_threads)
    columns = validation.as_array(y_true, "y_true"), validation.as_array(y_pred, "y_pred")
    targets, predictions = check_values(columns[0], "y_true"), check_values(columns[1], "y_pred")
    validation.check_lengths(targets.shape[0], predictions.shape[0], "y_true", "y_pred")
    if targets.shape != predictions.shape:
        n_true, n_pred = (array.shape[1] if array.ndim == 2 else 1 for array in (targets, predictions))
        raise ValueError(f"y_true has {n_true} outputs but y_pred has {n_pred}")
    weights = None if sample_weight is None else as_weights(sample_weight, targets.shape[0])
    if weights is not None and not weights[0] and not weights.any():
        raise ValueError("sample_weight is zero in every row: at least one positive weight is needed")
    read_types = [np.dtype(np.float64) if column.dtype.kind == "O" else column.dtype for column in columns]
    difference_dtype = widest_float_type([np.result_type(*read_types)])
    # As in scikit-learn, only arguments with a dtype count: lists do not.
    types = [column.dtype for values, column in zip((y_true, y_pred), columns, strict=True) if hasattr(values, "dtype")]
    if weights is not None and hasattr(sample_weight, "dtype"):
        types.append(validation.as_array(sample_weight, "sample_weight").dtype)
    return NumericTargets(targets, predictions, weights, widest_float_type(types), difference_dtype, threads)


def check_single_output(
    y_true: Any, y_pred: Any, sample_weight: Any, n_threads: int | None, function: str
) -> NumericTargets:
    """Check the columns of a metric that is defined for one output only."""
    targets = check_targets(y_true, y_pred, sample_weight, n_threads)
    if targets.n_outputs > 1:
        raise ValueError(
            f"{function} takes one output; found {targets.n_outputs} in y_true and y_pred "
            f"(shape {targets.y_true.shape})"
        )
    return targets


def widest_float_type(types: Iterable[np.dtype]) -> np.dtype:
    """Return the smallest float type that holds all float types of the list; float64 if there is none."""
    floats = [dtype.newbyteorder("=") for dtype in types if dtype.kind == "f"]
    return np.result_type(*floats) if floats else np.dtype(np.float64)


def find_first_bad(bad: np.ndarray) -> tuple[int, str]:
    """Return the first true row of a mask, and text that names its column (empty if there is one column)."""
    if bad.ndim == 1:
        return validation.first_bad_row(bad), ""
    row, column = divmod(validation.first_bad_row(bad.ravel()), bad.shape[1])
    return row, f", column {column}"


def raise_bad_values(y_true: np.ndarray, y_pred: np.ndarray, flags: int) -> None:
    """Raise the error for values that are not finite, or for integers that float64 cannot hold."""
    for array, name in ((y_true, "y_true"), (y_pred, "y_pred")):
        if array.dtype.kind == "f":
            if flags & (errors.NOT_FINITE | errors.OUTSIDE) and (bad := ~np.isfinite(array)).any():
                row, column = find_first_bad(bad)
                value = array[bad].ravel()[0]
                found = f"NaN at row {row}{column}"
                if value == value:
                    found = f"{value} at row {row}{column}: finite numbers are needed"
                raise ValueError(f"{name} has {found}")
        elif flags & errors.INEXACT and array.dtype.itemsize == 8:
            bad = array > validation.EXACT_INTEGER
            if array.dtype.kind == "i":
                bad |= array < -validation.EXACT_INTEGER
            if bad.any():
                row, column = find_first_bad(bad)
                raise ValueError(
                    f"{name} has {array[bad].ravel()[0]} at row {row}{column}: "
                    "integers beyond 2**53 have no exact float64"
                )


def raise_outside_domain(
    y_true: np.ndarray,
    y_pred: np.ndarray,
    kind: int,
    parameter: float,
    name: str,
    pred_name: str,
    locate_row: validation.RowLocator,
) -> None:
    """Raise the error for finite values outside the domain of a kind of term."""
    if kind == errors.SQUARED_LOG:
        requirement = "a logarithmic error needs numbers above -1"
        checks = [(y_true, name, y_true > -1), (y_pred, pred_name, y_pred > -1)]
    else:
        power = {errors.POISSON: 1, errors.GAMMA: 2}.get(kind, parameter)
        requirement = f"the deviance of power {power:g} needs "
        checks = [(y_pred, pred_name, y_pred > 0)]
        if power < 0:
            requirement += "positive predictions"
        elif power < 2:
            requirement += "targets of at least 0 and positive predictions"
            checks.insert(0, (y_true, name, y_true >= 0))
        else:
            requirement += "positive targets and predictions"
            checks.insert(0, (y_true, name, y_true > 0))
    for array, column_name, good in checks:
        if not good.all():
            row, column = find_first_bad(~good)
            raise ValueError(
                f"{column_name} has {array[~good].ravel()[0]} at row {locate_row(row)}{column}: {requirement}"
            )
