"""Additive statistics of errors for `evaluate`, accumulators and slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns.row_blocks import Rows, block_bounds, map_reduce
from fastmetrics._core.exchange.row_ranges import RowRange, TwoPassStatistic
from fastmetrics._core.state import Fields, ManySums, Sums, exact_sum
from fastmetrics._core.statistic import AdditiveStatistic, ByUnit, StatesOfUnits
from fastmetrics._kernels.numeric import sums
from fastmetrics._kernels.regression import errors, moments
from fastmetrics.metrics.regression.numeric_targets import NumericTargets, raise_bad_values, raise_outside_domain

SQUARES = (errors.SQUARED, errors.SQUARED_LOG)
SMALLEST = 2.0**-1074
TOO_LARGE = "the error of a row, its square or its product with the weight is above the largest float64"
TOO_SMALL = "the squares of the errors are below 1e-270: they have lost digits; multiply both columns by a number"


class RowWeights(ByUnit, AdditiveStatistic):
    """The number of rows, and with weights also the sum of the weights."""

    __slots__ = ()
    fields = Fields("rows", "weighted", exact_sum("weight"))
    sums_weights = True

    def update(self, state: Sums, rows: Rows) -> None:
        state.add_count("rows", rows.labels.shape[0])
        if rows.weights is not None:
            state.set_flag("weighted")
            sums.sum_values(rows.weights, None, state.sum_of("weight"))

    def update_units(self, states: StatesOfUnits, rows: Rows, numbers: np.ndarray) -> None:
        states.count(numbers)
        if rows.weights is not None:
            states.set_flag("weighted")
            states.add(rows.weights, numbers, "weight")

    @staticmethod
    def total(state: Sums | ManySums) -> Any:
        """Return the weight of all rows, as `number` gives it. Without weights every row weighs 1."""
        return state.number("weight" if state.is_set("weighted") else "rows")


class ErrorTerms(ByUnit, AdditiveStatistic):
    """The (weighted) sum of one kind of error term."""

    __slots__ = ("kind", "parameter")
    fields = Fields(exact_sum("terms"))

    def __init__(self, kind: int, parameter: float = 0.0) -> None:
        self.kind = kind
        self.parameter = parameter

    def update(self, state: Sums, rows: Rows) -> None:
        n = rows.labels.shape[0]
        flags = errors.add_error_terms(
            rows.labels, rows.scores, rows.weights, self.kind, self.parameter, 0, n, state.exact
        )
        if flags:
            raise_bad_rows(rows, flags, self.kind, self.parameter)
        if self.kind in SQUARES and not state.exact.any() and not np.array_equal(rows.labels, rows.scores):
            # All squares vanished, but not the errors.
            sums.sum_values(np.array([SMALLEST]), None, state.sum_of("terms"))

    def update_units(self, states: StatesOfUnits, rows: Rows, numbers: np.ndarray) -> None:
        terms = np.empty(rows.labels.shape[0])
        flags = errors.write_error_terms(
            rows.labels, rows.scores, rows.weights, self.kind, self.parameter, terms
        )
        if flags:
            raise_bad_rows(rows, flags, self.kind, self.parameter)
        if self.kind in SQUARES and not terms.any() and not np.array_equal(rows.labels, rows.scores):
            # All squares vanished, but not the errors.
            terms[0] = SMALLEST
        states.add(terms, numbers, "terms")


class Moments(AdditiveStatistic):
    """Sums for R^2: squared errors, targets and squared targets. The sums of targets and of their squares are exact."""

    __slots__ = ()
    fields = Fields(exact_sum("moments", 1 + 2 * moments.BANDS))
    center_errors = False

    def update(self, state: Sums, rows: Rows) -> None:
        n = rows.labels.shape[0]
        flags = moments.add_moments(
            rows.labels, rows.scores, rows.weights, 0, n, self.center_errors, state.exact[None]
        )
        if flags:
            raise_bad_rows(rows, flags)


class CenteredMoments(Moments):
    """Sums for explained variance: those for R^2, errors and squared errors, all exact but for the first."""

    __slots__ = ()
    fields = Fields(exact_sum("moments", 1 + 4 * moments.BANDS))
    center_errors = True


CONSTANT_OF_ALL_ROWS = "the constant that it compares with is found in all rows first"  # so it is not linearized


class ComparedLosses(TwoPassStatistic):
    """The sums of a loss of the predictions, and of the same loss of a constant; a subclass says which constant.

    The constant comes from all labels, so rows are kept and read twice. Both sums are multiplied by
    2**`tiny_total_shift` of the weight of all rows.
    """

    __slots__ = ("kind", "parameter")
    fields = Fields(*RowWeights.fields.fields, exact_sum("losses"), exact_sum("losses of the constant"))

    def __init__(self, kind: int, parameter: float) -> None:
        self.kind = kind
        self.parameter = parameter

    def constant(self, total: Any) -> float:
        """The constant prediction, from what `update` gets as `total`."""
        raise NotImplementedError

    def weight(self, total: Any) -> int:
        """The weight of all rows, from what `update` gets as `total`; not asked where rows have no weights."""
        raise NotImplementedError

    def check(self, rows: Rows) -> None:
        if not np.isfinite(rows.scores).all():
            rows.raise_bad_score()
        if self.kind in (errors.POISSON, errors.GAMMA, errors.TWEEDIE):
            raise_outside_domain(
                rows.labels, rows.scores, self.kind, self.parameter, rows.label_name, rows.name, rows.row_number
            )

    def update(self, state: Sums, rows: RowRange, total: Any) -> None:
        n = rows.labels.shape[0]
        state.add_count("rows", n)
        weights = rows.weights
        if weights is not None:
            state.set_flag("weighted")
            sums.sum_values(weights, None, state.sum_of("weight"))
            weights = shift_tiny_weights(weights, self.weight(total))
        constant = np.broadcast_to(np.float64(self.constant(total)), n)
        for name, predictions in (("losses", rows.scores), ("losses of the constant", constant)):
            errors.add_error_terms(
                rows.labels, predictions, weights, self.kind, self.parameter, 0, n, state.sums_of(name)
            )

    def empty(self) -> Sums:
        return Sums(self.fields)


def shift_tiny_weights(weights: np.ndarray, total: int) -> np.ndarray:
    """The weights times 2**`tiny_total_shift` of a total that is at least theirs."""
    shift = exact.tiny_total_shift(total)
    return np.ldexp(weights, shift) if shift else weights


def reduce_targets(targets: NumericTargets, statistics: Sequence[AdditiveStatistic]) -> list[Sums]:
    """The states of statistics that read blocks of rows, over all rows of one output, for metrics written in NumPy."""
    raise_bad_values(targets.y_true, targets.y_pred, errors.NOT_FINITE | errors.INEXACT)
    present = targets.drop_zero_weights()
    bounds = list(block_bounds(present.rows))

    def load(number: int) -> tuple[Rows]:
        block = slice(*bounds[number])
        targets, predictions = (column[block].astype(np.float64) for column in (present.y_true, present.y_pred))
        weights = None if present.weights is None else present.weights[block]
        return (Rows(targets, predictions, weights, block.start, "y_pred"),)

    return map_reduce(statistics, len(bounds), lambda: load, present.threads)


def raise_bad_rows(rows: Rows, flags: int, kind: int = errors.SQUARED, parameter: float = 0.0) -> None:
    """Raise the error that a kernel's flags report for a block. Finite numbers with an infinite term raise nothing."""
    if not np.isfinite(rows.scores).all():
        rows.raise_bad_score()
    if flags & errors.OUTSIDE:
        raise_outside_domain(rows.labels, rows.scores, kind, parameter, rows.label_name, rows.name, rows.row_number)
