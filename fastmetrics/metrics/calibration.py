"""Probabilities against observed rates: COPC, PCOC, expected calibration error.

All are ratios of counts and exact sums over rows or bins of rows, rounded once.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from fastmetrics._core import exact, inputs
from fastmetrics._core.binary import NO_WEIGHT, BinaryColumns, LabelCounts, answer, as_columns, ratio, row_coverage
from fastmetrics._core.exact import divide
from fastmetrics._core.registry import metric
from fastmetrics._core.rows import Rows
from fastmetrics._core.statistic import Statistic, Sums, Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels import losses, sums

MAX_BINS = 10_000  # a bin's exact sums take 1.7 kB

__all__ = ["copc", "expected_calibration_error", "pcoc"]


class ProbabilitySum(Statistic):
    """The (weighted) sum of the probabilities."""

    __slots__ = ()

    def new(self) -> Sums:
        return Sums(0, 1)

    def update(self, state: Sums, rows: Rows) -> None:
        check_range(rows)
        sums.sum_values(rows.scores, rows.weights, state.exact[0])


class CalibrationBins(Statistic):
    """Bins of equal width: rows, positives, sum of p; with weights those of w p, w and w y."""

    __slots__ = ("bins",)

    def __init__(self, bins: int) -> None:
        self.bins = bins

    def new(self) -> Sums:
        return Sums(2 * self.bins + 1, 3 * self.bins)

    def update(self, state: Sums, rows: Rows) -> None:
        problem = np.zeros(1, np.int64)
        probabilities, weights, positives = state.exact.reshape(3, self.bins, exact.SIZE)
        losses.calibration_terms(
            rows.labels, rows.scores, rows.weights, state.counts[:-1].reshape(self.bins, 2), probabilities, weights,
            positives, problem,
        )  # fmt: skip
        if problem[0]:
            rows.raise_bad_probability()
        if rows.weights is not None:
            state.counts[-1] = 1

    def bin_sums(self, state: Sums) -> list[tuple[int, int, int]]:
        """(weight, weight of positives, sum of w p) of every bin, times 2**EXPONENT."""
        table = []
        for index in range(self.bins):
            if state.count(2 * self.bins):
                weight, positive = state.integer(self.bins + index), state.integer(2 * self.bins + index)
            else:
                weight = state.count(2 * index) << exact.EXPONENT
                positive = state.count(2 * index + 1) << exact.EXPONENT
            table.append((weight, positive, state.integer(index)))
        return table


def check_range(rows: Rows) -> None:
    """Every score a probability (the sum of values outside [0, 1] means nothing here)."""
    low, high = rows.scores.min(), rows.scores.max()
    if not (low >= 0 and high <= 1):
        rows.raise_bad_probability()


def check_bins(bins: Any) -> None:
    if isinstance(bins, bool) or not isinstance(bins, (int, np.integer)) or not 1 <= bins <= MAX_BINS:
        raise ValueError(f"bins must be an integer from 1 to {MAX_BINS}; found {bins!r}")


def copc(y_true: Any, y_prob: Any, *, sample_weight: Any = None, n_threads: int | None = None) -> float:
    """Clicks observed over clicks predicted: 1 is calibrated on the whole, above 1 the model predicts too little.

    COPC = sum_i w_i y_i / sum_i w_i p_i.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class, in [0, 1].
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At least 0; NaN with an UndefinedMetricWarning when all probabilities are zero.

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, bad labels, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.copc([0, 1, 0, 1], [0.25, 0.5, 0.25, 0.0])
    2.0
    """
    rows = as_columns(y_true, y_prob, sample_weight, "y_prob")
    result = finalise_copc({}, *rows.reduce((LabelCounts(), ProbabilitySum()), n_threads))
    return answer("copc", result)


def pcoc(y_true: Any, y_prob: Any, *, sample_weight: Any = None, n_threads: int | None = None) -> float:
    """Clicks predicted over clicks observed: the inverse of COPC.

    PCOC = sum_i w_i p_i / sum_i w_i y_i.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class, in [0, 1].
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At least 0; NaN with an UndefinedMetricWarning when there is no positive row.

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, bad labels, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.pcoc([0, 1, 0, 1], [0.25, 0.5, 0.25, 0.0])
    0.5
    """
    rows = as_columns(y_true, y_prob, sample_weight, "y_prob")
    result = finalise_pcoc({}, *rows.reduce((LabelCounts(), ProbabilitySum()), n_threads))
    return answer("pcoc", result)


def expected_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    bins: int = 15,
    strategy: str = "uniform",
    norm: str = "l1",
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> float:
    """How far predicted probabilities are from observed rates, bin by bin.

    With d_b = |mean p - mean y| in bin b and W_b / W its share of the weight: l1 is sum_b (W_b / W) d_b (Naeini et al.,
    AAAI 2015), l2 the square root of sum_b (W_b / W) d_b^2, max the largest d_b. Empty bins count nothing.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class, in [0, 1].
    bins : int
        The number of bins.
    strategy : {"uniform", "quantile"}
        Bins of equal width, bin = min(floor(p * bins), bins - 1); or of about equal numbers of rows in the order of p,
        cut before row ceil(n * j / bins) of that order, where equal probabilities are never split: a tie stays with the
        bin of its first row.
    norm : {"l1", "l2", "max"}
        How the bins' distances become one number.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent. Quantile bins count rows, not weight.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, bad labels or options, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.expected_calibration_error([0, 1, 0, 1], [0.25, 0.75, 0.25, 0.75], bins=4)
    0.25
    """
    check_bins(bins)
    inputs.check_option(strategy, "strategy", ("uniform", "quantile"))
    inputs.check_option(norm, "norm", ("l1", "l2", "max"))
    rows = as_columns(y_true, y_prob, sample_weight, "y_prob")
    if strategy == "uniform":
        statistic = CalibrationBins(int(bins))
        states = rows.reduce((LabelCounts(), statistic), n_threads)
        return answer("expected_calibration_error", finalise_ece({"bins": int(bins), "norm": norm}, *states))
    if rows.labels.shape[0] == 0:
        return warn_undefined("expected_calibration_error", NO_WEIGHT)
    return calibration_error(quantile_bins(rows, int(bins)), norm)


def quantile_bins(rows: BinaryColumns, bins: int) -> list[tuple[int, int, int]]:
    """As CalibrationBins.bin_sums, for bins of about equal numbers of rows."""
    labels = inputs.decode_labels(rows.labels)
    if not ((rows.scores >= 0) & (rows.scores <= 1)).all():
        inputs.raise_bad_probability(rows.scores, rows.name)
    order = np.argsort(rows.scores, kind="stable")
    scores, labels = rows.scores[order], labels[order]
    n = scores.shape[0]
    # A cut inside a tie moves to the tie's end.
    cuts = [-(-n * j // bins) for j in range(1, bins)]
    ends = [int(np.searchsorted(scores, scores[cut - 1], "right")) if 0 < cut < n else cut for cut in cuts]
    edges = [0, *np.maximum.accumulate(ends).tolist(), n] if ends else [0, n]
    table = []
    for start, stop in pairwise(edges):
        if start == stop:
            continue
        probability, weight, positive = exact.new_states(3)
        part = slice(start, stop)
        if rows.weights is None:
            total, hits = (stop - start) << exact.EXPONENT, int(labels[part].sum()) << exact.EXPONENT
            sums.sum_values(scores[part], None, probability)
        else:
            weights = rows.weights[order[part]]
            sums.sum_values(scores[part], weights, probability)
            sums.sum_values(weights, None, weight)
            sums.sum_where(labels[part], weights, positive)
            total, hits = exact.to_integer(weight), exact.to_integer(positive)
        table.append((total, hits, exact.to_integer(probability)))
    return table


def calibration_error(table: list[tuple[int, int, int]], norm: str) -> float:
    """The norm over bins of (weight, weight of positives, sum of w p)."""
    total = sum(weight for weight, _, _ in table)
    distances = [(weight, abs(probability - positive)) for weight, positive, probability in table if weight]
    if norm == "l1":
        return divide(sum(distance for _, distance in distances), total)
    if norm == "max":
        return max(divide(distance, weight) for weight, distance in distances)
    from fractions import Fraction

    root: float = float(sum(Fraction(distance * distance, weight * total) for weight, distance in distances)) ** 0.5
    return root


@metric(
    "copc",
    exchange="none",
    statistics=lambda: (LabelCounts(), ProbabilitySum()),
    function=copc,
    undefined="all probabilities zero",
)
def finalise_copc(parameters: dict[str, Any], counts: Sums, probabilities: Sums) -> Value:
    """Clicks observed over clicks predicted."""
    positive, predicted = LabelCounts.totals(counts)[1], probabilities.integer(0)
    return ratio(positive, predicted, row_coverage(counts), "the probabilities sum to zero")


@metric(
    "pcoc",
    exchange="none",
    statistics=lambda: (LabelCounts(), ProbabilitySum()),
    function=pcoc,
    undefined="no positive row",
    default=False,
)
def finalise_pcoc(parameters: dict[str, Any], counts: Sums, probabilities: Sums) -> Value:
    """Clicks predicted over clicks observed."""
    positive, predicted = LabelCounts.totals(counts)[1], probabilities.integer(0)
    return ratio(predicted, positive, row_coverage(counts), "there is no positive row")


@metric(
    "ece",
    exchange="none",
    statistics=lambda bins, norm: (LabelCounts(), CalibrationBins(bins)),
    function=expected_calibration_error,
    undefined="never",
    parameters={"bins": 15, "norm": "l1"},
    checks={"bins": check_bins, "norm": ("l1", "l2", "max")},
)
def finalise_ece(parameters: dict[str, Any], counts: Sums, bins: Sums) -> Value:
    """Expected calibration error over bins of equal width."""
    table = CalibrationBins(parameters["bins"]).bin_sums(bins)
    if not any(weight for weight, _, _ in table):
        return Value(float("nan"), row_coverage(counts), NO_WEIGHT)
    return Value(calibration_error(table, parameters["norm"]), row_coverage(counts))
