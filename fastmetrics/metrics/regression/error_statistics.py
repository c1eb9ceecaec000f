"""Errors as additive statistics: what `evaluate`, accumulators, slices and Spark add up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.exact import divide
from fastmetrics._core.rows import Rows
from fastmetrics._core.statistic import Statistic, Sums, Value
from fastmetrics._kernels import errors, moments, sums
from fastmetrics.metrics.regression.targets import NO_WEIGHT, refuse_outside


class RowWeights(Statistic):
    """Rows; with weights also their sum."""

    __slots__ = ()

    def new(self) -> Sums:
        return Sums(2, 1)

    def update(self, state: Sums, rows: Rows) -> None:
        state.counts[0] += rows.labels.shape[0]
        if rows.weights is not None:
            state.counts[1] = 1
            sums.sum_values(rows.weights, None, state.exact[0])

    @staticmethod
    def total(state: Sums) -> int:
        """The weight of all rows, times 2**EXPONENT; without weights every row weighs 1."""
        return state.integer(0) if state.count(1) else state.count(0) << exact.EXPONENT


class ErrorTerms(Statistic):
    """The (weighted) sum of a kind of error."""

    __slots__ = ("kind", "parameter")

    def __init__(self, kind: int, parameter: float = 0.0) -> None:
        self.kind = kind
        self.parameter = parameter

    def new(self) -> Sums:
        return Sums(0, 1)

    def update(self, state: Sums, rows: Rows) -> None:
        n = rows.labels.shape[0]
        flags = errors.add_errors(
            rows.labels, rows.scores, rows.weights, self.kind, self.parameter, 0, n, state.exact
        )
        if flags:
            refuse_rows(rows, flags, self.kind, self.parameter)


class Moments(Statistic):
    """What R^2 is made of: squared errors, targets and their squares, without any rounding of the latter."""

    __slots__ = ()

    def new(self) -> Sums:
        return Sums(0, 1 + 2 * moments.BANDS)

    def update(self, state: Sums, rows: Rows) -> None:
        n = rows.labels.shape[0]
        flags = moments.add_moments(rows.labels, rows.scores, rows.weights, 0, n, False, state.exact[None])
        if flags:
            refuse_rows(rows, flags)


def refuse_rows(rows: Rows, flags: int, kind: int = errors.SQUARED, parameter: float = 0.0) -> None:
    """The error for a block in which a kernel met something; none where finite numbers gave an infinite term."""
    if not np.isfinite(rows.scores).all():
        rows.raise_bad_score()
    if flags & errors.OUTSIDE:
        refuse_outside(rows.labels, rows.scores, kind, parameter, rows.label_name, rows.name, rows.place)


def mean_term(counts: Sums, terms: Sums, transform: Callable[[float], float] = float) -> Value:
    """The (weighted) mean of terms, rounded once, or a function of it."""
    coverage = {"rows": counts.count(0)}
    total = RowWeights.total(counts)
    if total == 0:
        return Value(float("nan"), coverage, NO_WEIGHT)
    if not exact.is_finite(terms.exact[0]):
        return Value(transform(exact.to_float(terms.exact[0])), coverage)
    return Value(transform(divide(terms.integer(0), total)), coverage)


def terms_of(kind: int, parameter: float = 0.0) -> Callable[..., tuple[Any, ...]]:
    """The statistics of a mean error without parameters."""
    return lambda: (RowWeights(), ErrorTerms(kind, parameter))
