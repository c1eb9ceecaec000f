"""Probabilities against observed rates: COPC, PCOC, expected calibration error, calibration curve.

All are ratios of counts and exact sums over rows or bins of rows, rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fastmetrics._core import exact, inputs
from fastmetrics._core.binary import (
    NO_WEIGHT,
    BinaryColumns,
    LabelCounts,
    answer,
    as_columns,
    as_given,
    check_sampling_rate,
    kernel_rate,
    plain_sums,
    ratio,
    row_coverage,
    two_values,
)
from fastmetrics._core.coding import Coded
from fastmetrics._core.exact import divide
from fastmetrics._core.labels import Target, as_column, open_target, positive_mask, sorted_classes
from fastmetrics._core.picture import Line, Picture
from fastmetrics._core.pictures import Model, NoPictureError, describe, picture
from fastmetrics._core.registry import metric
from fastmetrics._core.rows import Rows
from fastmetrics._core.score_cells import ScoreCells
from fastmetrics._core.statistic import Statistic, Sums, Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels import losses, shortlosses, sums

MAX_BINS = 10_000  # a bin's exact sums take 1.7 kB

MOST_ROWS_OF_A_RUN = 1 << 32
RELIABILITY_BINS = 12  # of the picture
FIRST_OCTAVE = -20  # of distances to 0 or 1 that have bins of their own: below is one

__all__ = ["calibration_curve", "copc", "expected_calibration_error", "pcoc"]


class ProbabilitySum(Statistic):
    """The (weighted) sum of the probabilities."""

    __slots__ = ("sampling_rate",)

    def __init__(self, sampling_rate: float | None = None) -> None:
        self.sampling_rate = sampling_rate

    def new(self) -> Sums:
        return Sums(0, 1)

    def update(self, state: Sums, rows: Rows) -> None:
        problem = np.zeros(1, np.int64)
        losses.probability_terms(rows.scores, rows.weights, kernel_rate(self.sampling_rate), state.exact[0], problem)
        if problem[0]:
            rows.raise_bad_probability()


class CalibrationBins(Statistic):
    """Bins of equal width: rows, positives, sum of p; with weights those of w p, w and w y.

    `edges` are None (bin floor(p * bins)), "equal" or the inner edges given: the bin then is the first one whose upper
    edge is not below p.
    """

    __slots__ = ("bins", "edges", "sampling_rate")

    def __init__(self, bins: int, sampling_rate: float | None = None, edges: Any = None) -> None:
        self.bins = bins
        self.sampling_rate = sampling_rate
        self.edges = edges

    def new(self) -> Sums:
        return Sums(2 * self.bins + 1, 3 * self.bins)

    def update(self, state: Sums, rows: Rows) -> None:
        if self.has_bad_probability(state, rows):
            rows.raise_bad_probability()

    def has_bad_probability(self, state: Sums, rows: Rows) -> bool:
        """Put rows into their bins, up to the first that has none."""
        problem = np.zeros(1, np.int64)
        rule, edges = losses.FLOOR, None
        if self.edges is not None:
            rule, edges = (losses.EQUAL, None) if isinstance(self.edges, str) else (losses.GIVEN, self.edges)
        probabilities, weights, positives = state.exact.reshape(3, self.bins, exact.SIZE)
        losses.calibration_terms(
            rows.labels, rows.scores, rows.weights, kernel_rate(self.sampling_rate), rule, edges,
            state.counts[: 2 * self.bins].reshape(self.bins, 2), probabilities, weights, positives, problem,
        )  # fmt: skip
        if rows.weights is not None:
            state.counts[2 * self.bins] = 1
        return bool(problem[0])

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


def fine_edges() -> np.ndarray:
    """Between bins that are narrow where probabilities are near 0 or 1: 16 where the distance to the end doubles.

    As CalibrationBins wants them: the greatest number of every bin but the last. Below one half a bin begins with its
    lower end, from there on it ends with its upper end.
    """
    low = np.outer(np.exp2(np.arange(FIRST_OCTAVE, -1.0)), 1 + np.arange(16) / 16).reshape(-1)
    return np.concatenate((np.nextafter(low, 0.0), [np.nextafter(0.5, 0.0)], 1 - low[::-1]))


def fine_bins(probabilities: np.ndarray, n_bins: int) -> np.ndarray:
    """The bin between `fine_edges` of every probability (float64), by the bits of its distance to the nearer end."""
    bits = np.minimum(probabilities, 1 - probabilities).view(np.int64) >> 48  # an exponent, and 4 bits behind it
    bins = np.clip(bits - ((1023 + FIRST_OCTAVE) * 16 - 1), 0, n_bins // 2 - 1)
    found: np.ndarray = np.where(probabilities < 0.5, bins, n_bins - 1 - bins)
    return found


class ReliabilityBins(CalibrationBins):
    """Narrow bins of probabilities, to be joined when it is known how many rows each has.

    Without weights the sums of p are whole numbers of 2**-52, in two parts of 26 bits that follow the other counts.
    Scores that are no probabilities are no error here: a count tells of them, and nothing else is of use then.
    """

    __slots__ = ()

    def __init__(self) -> None:
        edges = fine_edges()
        super().__init__(edges.shape[0] + 1, None, edges)

    def new(self) -> Sums:
        return Sums(4 * self.bins + 2, 3 * self.bins)

    def is_bad(self, state: Sums) -> bool:
        """Were there scores that are no probabilities?"""
        return bool(state.counts[2 * self.bins + 1])

    def update(self, state: Sums, rows: Rows) -> None:
        if self.is_bad(state) or not rows.scores.shape[0]:
            return
        if not (rows.scores.min() >= 0 and rows.scores.max() <= 1):
            state.counts[2 * self.bins + 1] = 1
        elif rows.weights is not None:
            self.has_bad_probability(state, rows)
        else:
            self.count(state, rows.labels, rows.scores.astype(np.float64, copy=False))

    def count(self, state: Sums, labels: np.ndarray, probabilities: np.ndarray) -> None:
        """Rows without weights; the kernel's sums of any size would take ten times as long."""
        bins = fine_bins(probabilities, self.bins)
        state.counts[: 2 * self.bins] += np.bincount(2 * bins + labels, minlength=2 * self.bins)
        high, parts = np.floor(probabilities * 2**26), state.counts[2 * self.bins + 2 :].reshape(2, self.bins)
        for part, values in zip(parts, (high, np.rint((probabilities * 2**26 - high) * 2**26)), strict=True):
            part += np.bincount(bins, values, self.bins).astype(np.int64)  # of a block they are below 2**53

    def bin_sums(self, state: Sums) -> list[tuple[int, int, int]]:
        if state.count(2 * self.bins):
            return super().bin_sums(state)
        classes = state.counts[: 2 * self.bins].reshape(self.bins, 2).tolist()
        parts = state.counts[2 * self.bins + 2 :].reshape(2, self.bins).T.tolist()
        return [
            (sum(own) << 52, own[1] << 52, (high << 26) + low) for own, (high, low) in zip(classes, parts, strict=True)
        ]

    def rows_of(self, state: Sums) -> np.ndarray:
        """How many rows every bin has."""
        own = state.counts[: 2 * self.bins].reshape(self.bins, 2)
        rows: np.ndarray = own[:, 0] if state.count(2 * self.bins) else own.sum(axis=1)
        return rows

    def joined(self, state: Sums) -> np.ndarray:
        """Where runs of bins begin that the picture shows as one, and where the last ends.

        Each has about the same share of rows and of probabilities together: of rows alone, where most of these are near
        0, one run would have nearly all that is predicted.
        """
        rows = np.cumsum(self.rows_of(state))
        sums = [own for _, _, own in self.bin_sums(state)]
        total = max(1, sum(sums))
        shares = rows / max(1, rows[-1]) + np.cumsum([divide(own, total) for own in sums])
        last = np.searchsorted(shares, shares[-1] * np.arange(1, RELIABILITY_BINS) / RELIABILITY_BINS)
        # Bins without rows may follow the last that has some.
        return np.unique(np.concatenate(([0], last + 1, [np.searchsorted(rows, rows[-1]) + 1])))


def check_bins(bins: Any) -> None:
    if isinstance(bins, bool) or not isinstance(bins, (int, np.integer)) or not 1 <= bins <= MAX_BINS:
        raise inputs.OptionError(f"bins must be an integer from 1 to {MAX_BINS}; found {bins!r}")


def copc(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    sampling_rate: float | None = None,
    n_threads: int | None = None,
) -> float:
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
    sampling_rate : float in (0, 1], optional
        The share of the negatives that the model was trained on, when it saw all positives; y_true is of all rows. A
        probability p then becomes p / (p + (1 - p) / sampling_rate), never above p (He et al., ADKDD 2014, section 6.3,
        where the rate is w).
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
    if sampling_rate is None and n_threads is None:
        found = plain_sums(y_true, y_prob, sample_weight, shortlosses.PROBABILITIES)
        if found is not None and found[4]:
            return divide(found[3], found[4])
    check_sampling_rate(sampling_rate)
    rows = as_columns(y_true, y_prob, sample_weight, "y_prob")
    result = finalise_copc({}, *rows.reduce((LabelCounts(), ProbabilitySum(sampling_rate)), n_threads))
    return answer("copc", result)


def pcoc(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    sampling_rate: float | None = None,
    n_threads: int | None = None,
) -> float:
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
    sampling_rate : float in (0, 1], optional
        The share of the negatives that the model was trained on, when it saw all positives; y_true is of all rows. A
        probability p then becomes p / (p + (1 - p) / sampling_rate), never above p (He et al., ADKDD 2014, section 6.3,
        where the rate is w).
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
    if sampling_rate is None and n_threads is None:
        found = plain_sums(y_true, y_prob, sample_weight, shortlosses.PROBABILITIES)
        if found is not None and found[3]:
            return divide(found[4], found[3])
    check_sampling_rate(sampling_rate)
    rows = as_columns(y_true, y_prob, sample_weight, "y_prob")
    result = finalise_pcoc({}, *rows.reduce((LabelCounts(), ProbabilitySum(sampling_rate)), n_threads))
    return answer("pcoc", result)


def expected_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    bins: int = 15,
    strategy: str = "uniform",
    norm: str = "l1",
    sample_weight: Any = None,
    sampling_rate: float | None = None,
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
    sampling_rate : float in (0, 1], optional
        The share of the negatives that the model was trained on, when it saw all positives; y_true is of all rows. A
        probability p then becomes p / (p + (1 - p) / sampling_rate), never above p (He et al., ADKDD 2014, section 6.3,
        where the rate is w).
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
    plain = type(y_true) is np.ndarray and type(y_prob) is np.ndarray and type(bins) is int and 1 <= bins <= MAX_BINS
    usual = type(strategy) is str and strategy == "uniform" and type(norm) is str and norm == "l1"
    if plain and usual and sample_weight is None and sampling_rate is None and n_threads is None:
        # A call on few rows, made in a loop: nothing but the work.
        found: float | None = shortlosses.calibration_error(y_true, y_prob, bins)
        if found is not None:
            return found
    check_bins(bins)
    check_sampling_rate(sampling_rate)
    inputs.check_option(strategy, "strategy", ("uniform", "quantile"))
    inputs.check_option(norm, "norm", ("l1", "l2", "max"))
    rows = as_columns(y_true, y_prob, sample_weight, "y_prob")
    if strategy == "uniform":
        statistic = CalibrationBins(int(bins), sampling_rate)
        states = rows.reduce((LabelCounts(), statistic), n_threads)
        return answer("expected_calibration_error", finalise_ece({"bins": int(bins), "norm": norm}, *states))
    if rows.labels.shape[0] == 0:
        return warn_undefined("expected_calibration_error", NO_WEIGHT)
    return calibration_error(quantile_bins(corrected(rows, sampling_rate), int(bins)), norm)


def corrected(rows: BinaryColumns, sampling_rate: float | None) -> BinaryColumns:
    """The columns with corrected probabilities, float64; as they are where there is nothing to correct."""
    rate = kernel_rate(sampling_rate)
    if not rate:
        return rows
    scores = np.empty(rows.scores.shape[0], np.float64)
    if not losses.correct_probabilities(rows.scores, rate, scores):
        inputs.raise_bad_probability(rows.scores, rows.name)
    return rows._replace(scores=scores)


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


def calibration_curve(
    y_true: Any,
    y_prob: Any,
    *,
    pos_label: Any = None,
    n_bins: int = 5,
    strategy: str = "uniform",
    sampling_rate: float | None = None,
    n_threads: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Observed rates beside mean predicted probabilities, bin by bin: the points of a reliability diagram.

    Every row goes to the first bin whose upper edge is not below its p. Edges are k / n_bins ("uniform"), or the
    quantiles k / n_bins of p, interpolated between neighbouring values ("quantile"). Bins without rows are left out
    (Niculescu-Mizil and Caruana, ICML 2005, section 4). Means are of exact sums, rounded once.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of at most two kinds.
    y_prob : array-like of shape (n,)
        Probabilities of the positive label, in [0, 1].
    pos_label : int, float, bool or str, optional
        The positive label; by default 1 where labels are 0 and 1 or -1 and 1, all others need it. A label that y_true
        does not have makes every row negative, as in scikit-learn.
    n_bins : int
        The number of bins, at least 1.
    strategy : {"uniform", "quantile"}
        How the edges are chosen.
    sampling_rate : float in (0, 1], optional
        The share of the negatives that the model was trained on, when it saw all positives; y_true is of all rows. A
        probability p then becomes p / (p + (1 - p) / sampling_rate), never above p, before it finds its bin (He et al.,
        ADKDD 2014, section 6.3, where the rate is w).
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    prob_true : ndarray of shape (n_bins,) or smaller
        The share of positive rows in every bin that has rows.
    prob_pred : ndarray of shape (n_bins,) or smaller
        The mean probability in every bin that has rows.

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, more than two labels, labels that need pos_label, bad options, lengths that
        differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> prob_true, prob_pred = fm.calibration_curve([0, 0, 1, 1, 1], [0.125, 0.25, 0.625, 0.75, 1.0], n_bins=2)
    >>> prob_true.tolist(), prob_pred.tolist()
    ([0.0, 1.0], [0.1875, 0.7916666666666666])
    """
    plain = type(y_true) is np.ndarray and type(y_prob) is np.ndarray and type(n_bins) is int
    plain = plain and 0 < n_bins <= shortlosses.MOST_BINS and type(strategy) is str and strategy == "uniform"
    if plain and pos_label is None and sampling_rate is None and n_threads is None:
        # A call on few rows, made in a loop: nothing but the work.
        prob_true, prob_pred = np.empty(n_bins), np.empty(n_bins)
        filled = shortlosses.calibration_curve(y_true, y_prob, n_bins, prob_true, prob_pred)
        if filled is not None:
            return (prob_true, prob_pred) if filled == n_bins else (prob_true[:filled], prob_pred[:filled])
    check_curve_options(pos_label, n_bins, strategy)
    check_sampling_rate(sampling_rate)
    rows = corrected(curve_columns(y_true, y_prob, pos_label), sampling_rate)
    if strategy == "uniform" and n_bins <= MAX_BINS:
        edges: Any = "equal"
    else:
        check_range(rows)
        quantiles = np.linspace(0.0, 1.0, int(n_bins) + 1)
        edges = (np.percentile(rows.scores, quantiles * 100) if strategy == "quantile" else quantiles)[1:-1]
    if n_bins > MAX_BINS:
        if rows.scores.shape[0] >= MOST_ROWS_OF_A_RUN:
            raise ValueError(f"n_bins must be at most {MAX_BINS} for so many rows; found {n_bins}")
        return curve_of_codes(rows, np.searchsorted(edges, rows.scores))
    (state,) = rows.reduce((CalibrationBins(int(n_bins), None, edges),), n_threads)
    counts = state.counts[:-1].reshape(-1, 2)
    used = counts[:, 0] > 0
    bins = np.flatnonzero(used).tolist()
    means = [divide(state.integer(index), state.count(2 * index) << exact.EXPONENT) for index in bins]
    return counts[used, 1] / counts[used, 0], np.array(means)


def curve_columns(y_true: Any, y_prob: Any, pos_label: Any) -> BinaryColumns:
    """Labels of any two kinds, as 0 and 1, and probabilities; a matrix with one column is a column."""
    target = open_target(as_given(y_true, "y_true", "an array of labels"), "y_true")
    if isinstance(target, np.ndarray):
        target = as_column(target, "y_true")
    given = inputs.as_array(as_given(y_prob, "y_prob", "an array of probabilities"), "y_prob")
    scores = inputs.as_scores(as_column(given, "y_prob"), "y_prob")
    inputs.check_lengths(target.shape[0], scores.shape[0], "y_true", "y_prob")
    labels = positive_mask(target, pos_label)
    if pos_label is not None and not has_two_labels(target):
        raise ValueError("y_true has more than two labels, but probabilities speak of two")
    return BinaryColumns(labels, scores, None, "y_prob")


def has_two_labels(column: Target) -> bool:
    """Or one."""
    if isinstance(column, Coded):
        return bool(column.classes.shape[0] <= 2)
    if column.dtype.kind in "biuf" and two_values(column) is not None:
        return True
    return bool(sorted_classes(column, "y_true").shape[0] <= 2)


def check_curve_options(pos_label: Any, n_bins: Any, strategy: Any) -> None:
    if pos_label is not None and not isinstance(pos_label, (bool, np.bool_, int, float, np.number, str)):
        raise inputs.OptionError(f"pos_label must be a number, a text, a bool or None; found {pos_label!r}")
    if isinstance(n_bins, bool) or not isinstance(n_bins, (int, np.integer)) or n_bins < 1:
        raise inputs.OptionError(f"n_bins must be an integer of at least 1; found {n_bins!r}")
    inputs.check_option(strategy, "strategy", ("uniform", "quantile"))


def check_range(rows: BinaryColumns) -> None:
    low, high = rows.scores.min(), rows.scores.max()
    if not (low >= 0 and high <= 1):
        inputs.raise_bad_probability(rows.scores, rows.name)


def curve_of_codes(rows: BinaryColumns, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The curve of very many bins, of which at most as many as there are rows are used."""
    order = np.argsort(codes, kind="stable")
    codes, scores = codes[order], rows.scores[order]
    new = np.flatnonzero(np.diff(codes, prepend=-1))
    counts = np.diff(new, append=codes.shape[0])
    positives = np.add.reduceat(rows.labels[order].astype(np.int64), new)
    means = np.empty(new.shape[0])
    losses.run_means(scores, np.append(new, codes.shape[0]), means)
    return positives / counts, means


@metric(
    "copc",
    exchange="none",
    statistics=lambda sampling_rate: (LabelCounts(), ProbabilitySum(sampling_rate)),
    function=copc,
    undefined="all probabilities zero",
    parameters={"sampling_rate": None},
    checks={"sampling_rate": check_sampling_rate},
    best="one",
)
def finalise_copc(parameters: dict[str, Any], counts: Sums, probabilities: Sums) -> Value:
    """Clicks observed over clicks predicted."""
    positive, predicted = LabelCounts.totals(counts)[1], probabilities.integer(0)
    return ratio(positive, predicted, row_coverage(counts), "the probabilities sum to zero")


@metric(
    "pcoc",
    exchange="none",
    statistics=lambda sampling_rate: (LabelCounts(), ProbabilitySum(sampling_rate)),
    function=pcoc,
    undefined="no positive row",
    parameters={"sampling_rate": None},
    checks={"sampling_rate": check_sampling_rate},
    default=False,
    best="one",
)
def finalise_pcoc(parameters: dict[str, Any], counts: Sums, probabilities: Sums) -> Value:
    """Clicks predicted over clicks observed."""
    positive, predicted = LabelCounts.totals(counts)[1], probabilities.integer(0)
    return ratio(predicted, positive, row_coverage(counts), "there is no positive row")


@metric(
    "ece",
    exchange="none",
    statistics=lambda bins, norm, sampling_rate: (LabelCounts(), CalibrationBins(bins, sampling_rate)),
    function=expected_calibration_error,
    undefined="never",
    parameters={"bins": 15, "norm": "l1", "sampling_rate": None},
    checks={"bins": check_bins, "norm": ("l1", "l2", "max"), "sampling_rate": check_sampling_rate},
    best="lowest",
)
def finalise_ece(parameters: dict[str, Any], counts: Sums, bins: Sums) -> Value:
    """Expected calibration error over bins of equal width."""
    table = CalibrationBins(parameters["bins"]).bin_sums(bins)
    if not any(weight for weight, _, _ in table):
        return Value(float("nan"), row_coverage(counts), NO_WEIGHT)
    return Value(calibration_error(table, parameters["norm"]), row_coverage(counts))


def joined_cells(state: Sums) -> ScoreCells:
    """The bins of the picture, for replicates: what is equal to an edge belongs to the bin below it."""
    statistic = ReliabilityBins()
    return ScoreCells(np.nextafter(statistic.edges[statistic.joined(state)[1:-1] - 1], 2.0))


@picture(
    "calibration", place=5, exchange="none", statistics=(ReliabilityBins(),), resampled=joined_cells,
    notes=(("ece", "ECE"),),
)  # fmt: skip
def draw_calibration(models: Sequence[Model]) -> Picture:
    """Observed rates over mean predicted probabilities, in bins of about equally many rows."""
    lines, reason = [], NO_WEIGHT
    for model in models:
        statistic, (state,) = ReliabilityBins(), model.states
        if statistic.is_bad(state):
            reason = f"score column {model.name!r} has values outside [0, 1], which are no probabilities"
            continue
        table = statistic.bin_sums(state)
        edges = statistic.joined(state).tolist()
        bins = [[sum(own) for own in zip(*table[start:stop], strict=True)] for start, stop in pairwise(edges)]
        if not any(weight for weight, _, _ in bins):
            continue
        x = np.array([divide(probability, weight) for weight, _, probability in bins])
        y = np.array([divide(positive, weight) for weight, positive, _ in bins])
        line = Line(model.name, x, y, note=model.note, markers=True)
        if model.replicates is not None:
            drawn = model.replicates.reshape(-1, x.shape[0], 2)
            rows = drawn.sum(axis=2)
            low, high = model.ends(np.where(rows > 0, drawn[:, :, 1] / np.maximum(rows, 1), np.nan))
            line = line._replace(low=np.fmin(low, y), high=np.fmax(high, y))
        lines.append(line)
    if not lines:
        raise NoPictureError(reason)
    top = min(1.0, 1.05 * max(float(max(line.x.max(), line.y.max())) for line in lines))
    return Picture(
        "calibration", "Calibration", "Mean predicted probability", "Observed rate", tuple(lines),
        reference=Line("perfect", np.array([0.0, top]), np.array([0.0, top])), x_range=(0.0, top), y_range=(0.0, top),
        summary=describe("Observed rates over mean predicted probabilities, bin by bin", lines),
    )  # fmt: skip
