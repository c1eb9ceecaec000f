"""Expected calibration error: the difference between mean probabilities and observed rates, by bin."""

from __future__ import annotations

import math
from functools import reduce
from itertools import pairwise
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.binary_probabilities import (
    NO_WEIGHT,
    BinaryColumns,
    LabelCounts,
    check_binary_probabilities,
    check_sampling_rate,
    row_coverage,
    warn_and_unwrap,
)
from fastmetrics._core.columns.class_labels import binary_labels
from fastmetrics._core.columns.class_rows import ClassRows
from fastmetrics._core.columns.row_blocks import Rows
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.columns.vector_columns import check_labels
from fastmetrics._core.kinds import PROBABILITIES
from fastmetrics._core.metric_spec import BinErrors
from fastmetrics._core.registry import metric, metric_form
from fastmetrics._core.state import Fields, ManySums, Sums
from fastmetrics._core.statistic import AdditiveStatistic, ByUnit, StatesOfUnits, Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels.probability import short_losses
from fastmetrics.metrics.calibration.calibration_bins import MAX_BINS, CalibrationBins, bin_fields, correct_rows

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Label, NumericArrayLike
    from fastmetrics._core.types.options import Binning, Norm

__all__ = ["expected_calibration_error"]

STRATEGIES = ("uniform", "quantile")
NORMS = ("l1", "l2", "max")


def check_bins(n_bins: Any) -> int:
    return validation.check_integer(n_bins, "n_bins", f"an integer from 1 to {MAX_BINS}", most=MAX_BINS)


def small_calibration_error(y_true: np.ndarray, y_proba: np.ndarray, *, n_bins: int = 15) -> float | None:
    is_usual = type(n_bins) is int and 1 <= n_bins <= short_losses.MAX_BINS
    return short_losses.calibration_error(y_true, y_proba, n_bins) if is_usual else None


@small_inputs(small_calibration_error)
def expected_calibration_error(
    y_true: ArrayLike,
    y_proba: NumericArrayLike,
    *,
    n_bins: int = 15,
    strategy: Binning = "uniform",
    norm: Norm = "l1",
    sample_weight: NumericArrayLike | None = None,
    sampling_rate: float | None = None,
    pos_label: Label | None = None,
    n_threads: int | None = None,
) -> float:
    """The difference between predicted probabilities and observed rates, by bin.

    With d_b = |mean p - mean y| in bin b and W_b / W its share of the weight: l1 is sum_b (W_b / W) d_b (Naeini et al.,
    AAAI 2015), l2 the square root of sum_b (W_b / W) d_b^2, max the largest d_b. Empty bins are ignored.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1.
    y_proba : array-like of shape (n,)
        Probabilities of the positive class, in [0, 1].
    n_bins : int
        The number of bins.
    strategy : {"uniform", "quantile"}
        "uniform": bins of equal width, bin = min(floor(p * n_bins), n_bins - 1). "quantile": bins of about equal
        numbers of rows in the order of p, cut before row ceil(n * j / n_bins) of that order. Equal probabilities are
        never split: all rows of a tie are in the bin of its first row.
    norm : {"l1", "l2", "max"}
        How the differences of the bins become one number. "l1": their weighted mean. "l2": the root of their weighted
        mean square. "max": the largest.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300. A row of weight zero is left out.

        Quantile bins count rows, not weight.
    sampling_rate : float in (0, 1], optional
        The model was trained on all positives and on this share of the negatives; y_true has all rows. First of all, a
        probability p becomes p / (p + (1 - p) / sampling_rate), which is never above p (He et al., ADKDD 2014, section
        6.3, where the rate is w).
    pos_label : int, float, bool or str, optional
        The label of the positive class; all other labels are negative. Required if labels are not 0 and 1, or -1 and
        +1.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

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
    >>> fm.expected_calibration_error([0, 1, 0, 1], [0.25, 0.75, 0.25, 0.75], n_bins=4)
    0.25
    """
    n_bins = check_bins(n_bins)
    check_sampling_rate(sampling_rate)
    validation.check_option(strategy, "strategy", STRATEGIES)
    validation.check_option(norm, "norm", NORMS)
    rows = check_binary_probabilities(binary_labels(y_true, pos_label), y_proba, sample_weight, "y_proba")
    if strategy == "uniform":
        states = rows.reduce((LabelCounts(), CalibrationBins(int(n_bins), sampling_rate)), n_threads)
        found = finalize_ece({"n_bins": int(n_bins), "norm": norm}, *states)
        return warn_and_unwrap("expected_calibration_error", found)
    if rows.labels.shape[0] == 0:
        return warn_undefined("expected_calibration_error", NO_WEIGHT)
    return calibration_error(quantile_bins(correct_rows(rows, sampling_rate), int(n_bins)), norm)


def quantile_bins(rows: BinaryColumns, n_bins: int) -> list[tuple[int, int, int]]:
    """Return the table of CalibrationBins.bin_sums for bins of about equal numbers of rows."""
    labels = validation.decode_labels(rows.labels)
    validation.check_probabilities(rows.scores, rows.name)
    order = np.argsort(rows.scores, kind="stable")
    scores, labels = rows.scores[order], labels[order]
    n = scores.shape[0]
    # A cut inside a tie moves to the end of the tie.
    cuts = [-(-n * j // n_bins) for j in range(1, n_bins)]
    ends = [int(np.searchsorted(scores, scores[cut - 1], "right")) if 0 < cut < n else cut for cut in cuts]
    edges = [0, *np.maximum.accumulate(ends).tolist(), n] if ends else [0, n]
    table = []
    for start, stop in pairwise(edges):
        if start == stop:
            continue
        is_positive = labels[start:stop] == 1
        weights = None if rows.weights is None else rows.weights[order[start:stop]]
        if weights is None:
            total, hits = (stop - start) << exact.EXPONENT, int(np.count_nonzero(is_positive)) << exact.EXPONENT
        else:
            total, hits = exact.integer_sum(weights), exact.integer_sum(weights[is_positive])
        table.append((total, hits, exact.integer_sum(scores[start:stop], weights)))
    return table


def calibration_error(table: list[tuple[int, int, int]], norm: str) -> float:
    """Return the norm of the differences of bins, from (weight, weight of positives, sum of w p) of each."""
    total = sum(weight for weight, _, _ in table)
    distances = [(weight, abs(probability - positive)) for weight, positive, probability in table if weight]
    if norm == "l1":
        return exact.divide(sum(distance for _, distance in distances), total)
    if norm == "max":
        return max(exact.divide(distance, weight) for weight, distance in distances)
    from fractions import Fraction

    return math.sqrt(sum(Fraction(distance * distance, weight * total) for weight, distance in distances))


def calibration_errors(parameters: dict[str, Any], others: ManySums, states: ManySums) -> np.ndarray:
    """The values of many states: see `MetricSpec.many`."""
    weights, predicted, positives = CalibrationBins(parameters["n_bins"]).sums_of_many(states)
    bins = [(weight, abs(p - y)) for weight, p, y in zip(weights, predicted, positives, strict=True)]
    total = reduce(add, weights)
    if parameters["norm"] == "l1":
        values = exact.quotients(reduce(add, (distance for _, distance in bins)), total)
    elif parameters["norm"] == "l2":
        shares = ((distance * distance).over((weight * total).or_one()) for weight, distance in bins)
        values = np.sqrt(reduce(add, shares).rounded())
    else:
        values = np.maximum.reduce([exact.quotients(distance, weight.or_one()) for weight, distance in bins])
    values[total.are_zero] = np.nan
    return values


def signed_errors(n_bins: int) -> BinErrors:
    """The error of each bin: predicted less observed positives, divided by the weight of all bins."""

    def find(others: ManySums, states: ManySums) -> np.ndarray:
        weights, predicted, positives = CalibrationBins(n_bins).sums_of_many(states)
        total = reduce(add, weights).or_one()
        return np.stack([(p - y).over(total).high for p, y in zip(predicted, positives, strict=True)], axis=1)

    return BinErrors(find)


@metric(
    "ece",
    exchange="none",
    statistics=lambda n_bins, norm, sampling_rate: (LabelCounts(), CalibrationBins(n_bins, sampling_rate)),
    function=expected_calibration_error,
    undefined="never",
    parameters={"n_bins": 15, "norm": "l1", "sampling_rate": None},
    checks={"n_bins": check_bins, "norm": NORMS, "sampling_rate": check_sampling_rate},
    direction="minimize",
    scale="mean",
    variants=("ece(n_bins=3)", "ece(norm=l2)", "ece(norm=max)"),
    aliases=("expected_calibration_error",),
    many=calibration_errors,
    influence=lambda n_bins, norm, sampling_rate: signed_errors(n_bins) if norm == "l1" else None,
    near_names={
        "mce": "for the greatest distance of a bin, write ece(norm=max); 'ece' is the mean",
        "maximum_calibration_error": "write ece(norm=max); 'ece' is the mean over bins",
    },
)
def finalize_ece(parameters: dict[str, Any], counts: Sums, bins: Sums) -> Value:
    """Expected calibration error over bins of equal width."""
    return error_of_bins(parameters, bins, row_coverage(counts))


def error_of_bins(parameters: dict[str, Any], bins: Sums, coverage: dict[str, Any]) -> Value:
    """The calibration error of the sums of bins."""
    table = CalibrationBins(parameters["n_bins"]).bin_sums(bins)
    if not any(weight for weight, _, _ in table):
        return Value(float("nan"), coverage, NO_WEIGHT)
    return Value(calibration_error(table, parameters["norm"]), coverage)


class TopLabelBins(ByUnit, AdditiveStatistic):
    """Bins of the greatest probability of each row; a row is positive if its class has it.

    Of equal probabilities, the first class counts (Guo et al., ICML 2017).
    """

    __slots__ = ("n_bins",)

    def __init__(self, n_bins: int) -> None:
        self.n_bins = n_bins

    @property
    def fields(self) -> Fields:
        return bin_fields(self.n_bins)

    def update(self, state: Sums, rows: Rows) -> None:
        CalibrationBins(self.n_bins).update(state, top_labels(rows))

    def update_units(self, states: StatesOfUnits, rows: Rows, numbers: np.ndarray) -> None:
        CalibrationBins(self.n_bins).update_units(states, top_labels(rows), numbers)


def top_labels(rows: Rows) -> Rows:
    """Rows with their greatest probability, and whether the first class that has it is theirs."""
    is_right = (rows.scores.argmax(axis=1) == rows.labels).view(np.uint8)
    return rows._replace(labels=is_right, scores=rows.scores.max(axis=1))


@metric_form(
    "ece",
    roles=PROBABILITIES,
    statistics=lambda labels, n_bins, norm: (ClassRows(), TopLabelBins(n_bins)),
    undefined="never",
    parameters={"labels": None, "n_bins": 15, "norm": "l1"},
    checks={"labels": check_labels, "n_bins": check_bins, "norm": NORMS},
    variants=("ece(n_bins=3)", "ece(norm=l2)", "ece(norm=max)"),
    default=True,
    has_function=False,
    many=calibration_errors,
    influence=lambda labels, n_bins, norm: signed_errors(n_bins) if norm == "l1" else None,
)
def finalize_top_label_ece(parameters: dict[str, Any], rows: Sums, bins: Sums) -> Value:
    """Expected calibration error of the most probable class: its probability against the share of rows it is right."""
    return error_of_bins(parameters, bins, ClassRows.coverage(rows))


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {
    "expected_calibration_error": (
        *({"strategy": strategy, "norm": norm} for strategy in STRATEGIES for norm in NORMS),
        *({"strategy": strategy, "sampling_rate": 0.25} for strategy in STRATEGIES),
    ),
}
