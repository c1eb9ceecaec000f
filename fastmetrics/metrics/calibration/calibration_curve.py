"""The calibration curve (reliability diagram), as scikit-learn computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.binary_probabilities import (
    BinaryColumns,
    check_sampling_rate,
    require_sequence,
    split_two_values,
)
from fastmetrics._core.columns.categorical import CategoricalColumn
from fastmetrics._core.columns.class_labels import (
    Target,
    as_column,
    check_pos_label,
    positive_mask,
    read_labels,
    sorted_classes,
)
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._kernels.probability import losses, short_losses
from fastmetrics.metrics.calibration.calibration_bins import MAX_BINS, MAX_ROWS_PER_RUN, CalibrationBins, correct_rows

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Floats, Label, NumericArrayLike
    from fastmetrics._core.types.options import Binning

__all__ = ["calibration_curve"]

MOST_BINS = 10_000_000  # of few rows; their edges are in memory


def small_calibration_curve(
    y_true: np.ndarray, y_prob: np.ndarray, *, n_bins: int = 5
) -> tuple[np.ndarray, np.ndarray] | None:
    if type(n_bins) is not int or not 0 < n_bins <= short_losses.MAX_BINS:
        return None
    prob_true, prob_pred = np.empty(n_bins), np.empty(n_bins)
    filled = short_losses.calibration_curve(y_true, y_prob, n_bins, prob_true, prob_pred)
    if filled is None or filled == n_bins:
        return None if filled is None else (prob_true, prob_pred)
    return prob_true[:filled], prob_pred[:filled]


@small_inputs(small_calibration_curve)
def calibration_curve(
    y_true: ArrayLike,
    y_prob: NumericArrayLike,
    *,
    pos_label: Label | None = None,
    n_bins: int = 5,
    strategy: Binning = "uniform",
    sampling_rate: float | None = None,
    n_threads: int | None = None,
) -> tuple[Floats, Floats]:
    """Observed rates and mean predicted probabilities by bin: the points of a reliability diagram.

    A row belongs to the first bin whose upper edge is not below its p. Edges are k / n_bins ("uniform"), or the
    quantiles k / n_bins of p, interpolated between neighboring values ("quantile"). Bins without rows are omitted
    (Niculescu-Mizil and Caruana, ICML 2005, section 4). Means are of exact sums, rounded once.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of at most two kinds.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class, in [0, 1].
    pos_label : int, float, bool or str, optional
        The positive label. By default it is 1 for labels 0 and 1 or -1 and 1; all other labels need it. With a label
        that is not in y_true every row is negative, as in scikit-learn.
    n_bins : int
        The number of bins, at least 1.
    strategy : {"uniform", "quantile"}
        How the edges are chosen. "uniform": at equal distances. "quantile": at quantiles of p.
    sampling_rate : float in (0, 1], optional
        The model was trained on all positives and on this share of the negatives; y_true has all rows. First of all, a
        probability p becomes p / (p + (1 - p) / sampling_rate), which is never above p (He et al., ADKDD 2014, section
        6.3, where the rate is w).
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

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
    check_pos_label(pos_label)
    n_bins = validation.check_integer(n_bins, "n_bins", "an integer of at least 1")
    validation.check_integer(n_bins, "n_bins", f"at most {MOST_BINS}", most=MOST_BINS)
    validation.check_option(strategy, "strategy", ("uniform", "quantile"))
    check_sampling_rate(sampling_rate)
    rows = correct_rows(curve_columns(y_true, y_prob, pos_label), sampling_rate)
    if strategy == "uniform" and n_bins <= MAX_BINS:
        edges: Any = "equal"
    else:
        validation.check_probabilities(rows.scores, rows.name)
        quantiles = np.linspace(0.0, 1.0, int(n_bins) + 1)
        edges = (np.percentile(rows.scores, quantiles * 100) if strategy == "quantile" else quantiles)[1:-1]
    if n_bins > MAX_BINS:
        if rows.scores.shape[0] >= MAX_ROWS_PER_RUN:
            raise ValueError(f"n_bins must be at most {MAX_BINS} for so many rows; found {n_bins}")
        return curve_of_many_bins(rows, np.searchsorted(edges, rows.scores))
    (state,) = rows.reduce((CalibrationBins(int(n_bins), None, edges),), n_threads)
    counts = state.counts_of("classes").reshape(-1, 2)
    used = counts[:, 0] > 0
    bins = np.flatnonzero(used).tolist()
    means = [exact.divide(state.integer("w p", index), int(counts[index, 0]) << exact.EXPONENT) for index in bins]
    return counts[used, 1] / counts[used, 0], np.array(means)


def curve_columns(y_true: Any, y_prob: Any, pos_label: Any) -> BinaryColumns:
    """Return labels encoded as 0 and 1, and probabilities. A matrix with one column becomes a column."""
    target = read_labels(require_sequence(y_true, "y_true", "an array of labels"), "y_true")
    if isinstance(target, np.ndarray):
        target = as_column(target, "y_true")
    array = validation.as_array(require_sequence(y_prob, "y_prob", "an array of probabilities"), "y_prob")
    scores = validation.as_scores(as_column(array, "y_prob"), "y_prob")
    validation.check_lengths(target.shape[0], scores.shape[0], "y_true", "y_prob")
    labels = positive_mask(target, pos_label)
    if pos_label is not None and not has_two_labels(target):
        raise ValueError("y_true has more than two labels, but y_prob needs two")
    return BinaryColumns(labels, scores, None, "y_prob")


def has_two_labels(column: Target) -> bool:
    """Whether a column has at most two labels."""
    if isinstance(column, CategoricalColumn):
        return bool(column.classes.shape[0] <= 2)
    if column.dtype.kind in "biuf" and split_two_values(column) is not None:
        return True
    return bool(sorted_classes(column, "y_true").shape[0] <= 2)


def curve_of_many_bins(rows: BinaryColumns, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the curve for more than MAX_BINS bins, from the bin of each row. Only bins with rows take memory."""
    order = np.argsort(codes, kind="stable")
    codes, scores = codes[order], rows.scores[order]
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    counts = np.diff(starts, append=codes.shape[0])
    positives = np.add.reduceat(rows.labels[order].astype(np.int64), starts)
    means = np.empty(starts.shape[0])
    losses.run_means(scores, np.append(starts, codes.shape[0]), means)
    return positives / counts, means


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {
    "calibration_curve": ({}, {"n_bins": 10, "strategy": "quantile"}, {"n_bins": 20_000}, {"sampling_rate": 0.25}),
}
