"""Average precision: the area under the precision-recall curve as a step function."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.columns.weights import check_some_weight, scale_tiny_weights
from fastmetrics._core.elementary import log1p
from fastmetrics._core.exact import EXPONENT, divide, tiny_total_shift, to_fixed
from fastmetrics._core.exchange.runs import (
    ClassTotals,
    Cut,
    RangePosition,
    RangeStatistic,
    Runs,
    weighted_precision,
)
from fastmetrics._core.exchange.sorted_rows import MOST_SHORT, OrderedRows, as_column, check_infinities
from fastmetrics._core.metric_spec import ScoreInfluence
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import metric
from fastmetrics._core.score_statistics.pair_counts import NO_POSITIVE, NO_WEIGHT, pair_coverage
from fastmetrics._core.score_statistics.score_histogram import ScoreHistogram
from fastmetrics._core.statistic import Bounded, Value
from fastmetrics._core.undefined import warn_user
from fastmetrics._kernels.sweep import short_curves
from fastmetrics.metrics.curves.multiclass import (
    AVERAGES,
    BinaryMetric,
    as_score_matrix,
    average_labels,
    read_any_labels,
    read_target,
)

if TYPE_CHECKING:
    from fastmetrics._core.score_statistics.score_classes import ClassMasses
    from fastmetrics._core.types.arrays import Floats, Label, MatrixLike, NumericArrayLike
    from fastmetrics._core.types.options import ScoreAverage

__all__ = ["average_precision_score"]

MAX_SUMMED_POSITIVES = 100  # positives of a bin whose precisions are added one by one
SLACK_BITS = 40  # bounds are widened by 2**-40 of the weight of positives


class Precisions(NamedTuple):
    """State of average precision: rows of each class, the weight of positives, and the sum of their precisions.

    The weight and the sum are multiplied by 2**EXPONENT, the sum also by 2**`tiny_total_shift` of the weight of the
    positives of all ranges. Without weights, every positive has weight 1.
    """

    negatives: int
    positives: int
    positive_weight: int
    total: int


class PrecisionSum(RangeStatistic, Bounded):
    """The statistic of average precision: the sum, over positives, of the precision at their score.

    Each distinct score adds one term: its positives times the precision there, rounded to float64. The terms are added
    exactly.
    """

    __slots__ = ()
    cut = Cut.POSITIVES

    def find(self, runs: Runs, position: RangePosition) -> Precisions:
        totals = runs.totals
        weight = totals.positive_weight or totals.positives << EXPONENT
        return Precisions(*totals.rows, weight, runs.precisions(position))

    def merge(self, higher: Precisions, lower: Precisions, totals: ClassTotals) -> Precisions:
        return Precisions(*(one + other for one, other in zip(higher, lower, strict=True)))

    def bounds(self, histogram: ScoreHistogram) -> tuple[Precisions, Precisions]:
        """Lowest: in each bin, all negatives score above the positives. Highest: all below the positives, which tie."""
        negatives = positives = lowest = highest = 0
        for bin_negatives, bin_positives in reversed(histogram.bins()):
            negatives_above = negatives if not histogram.is_exact else negatives + bin_negatives
            negatives += bin_negatives
            if bin_positives:
                highest += weighted_precision(bin_positives << EXPONENT, positives + bin_positives, negatives_above)
                lowest += least_precision_sum(bin_positives, positives, negatives)
            positives += bin_positives
        weight = positives << EXPONENT
        high = Precisions(negatives, positives, weight, highest)
        if histogram.is_exact or negatives == 0:
            return high, high
        # The terms are rounded, so both bounds are widened.
        slack = weight >> SLACK_BITS
        low = Precisions(negatives, positives, weight, max(0, lowest - slack))
        return low, high._replace(total=min(weight, highest + slack))


def least_precision_sum(n: int, positives: int, negatives: int) -> int:
    """A lower bound of the sum of (positives + i) / (positives + i + negatives) for i = 1..n, times 2**EXPONENT.

    The sum is n - negatives * (H(m + n) - H(m)), m = positives + negatives, with harmonic numbers H; their difference
    is less than log((m + n) / m).
    """
    if n <= MAX_SUMMED_POSITIVES:
        return sum(weighted_precision(1 << EXPONENT, positives + i, negatives) for i in range(1, n + 1))
    m = positives + negatives
    return to_fixed(max(0.0, n - negatives * log1p(n / m))) if m else n << EXPONENT


def mean_of_small_precisions(y_true: np.ndarray, y_score: np.ndarray) -> float | None:
    """The mean precision of few rows. The kernel returns the sum as a whole number and 64 bits below it."""
    found = short_curves.sum_precisions(y_true, y_score)
    if found is None:
        return None
    positives, whole, below = found
    return ((whole << 64) | below) / (positives << 64)


@overload
def average_precision_score(
    y_true: MatrixLike, y_score: NumericArrayLike, *, average: None, pos_label: Label = ...,
    sample_weight: NumericArrayLike | None = ..., allow_infinite: bool = ..., n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def average_precision_score(
    y_true: MatrixLike, y_score: NumericArrayLike, *, average: ScoreAverage = ..., pos_label: Label = ...,
    sample_weight: NumericArrayLike | None = ..., allow_infinite: bool = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@small_inputs(mean_of_small_precisions)
def average_precision_score(
    y_true: MatrixLike,
    y_score: NumericArrayLike,
    *,
    average: ScoreAverage | None = "macro",
    pos_label: Label = 1,
    sample_weight: NumericArrayLike | None = None,
    allow_infinite: bool = False,
    n_threads: int | None = None,
) -> float | Floats:
    """The mean, over positives, of the precision at their score.

    AP = sum_t (R_t - R_{t-1}) P_t over the distinct scores t, descending. P_t and R_t are the precision and recall of
    the rows that score at least t. This is the area under the precision-recall curve as a step function, without
    interpolation (Zhu, Recall, precision and average precision, 2004). Spark's areaUnderPR is the trapezoidal area
    instead. Every term is rounded once, their sum is exact. With more than two classes, every class is compared with
    the rest.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_labels)
        Labels of any kind. With two classes, labels equal to `pos_label` are positive. Multilabel: a matrix (dense or
        sparse) of 0 and 1, or -1 and 1.
    y_score : array-like of shape (n,), (n, 1), (n, n_classes) or (n, n_labels)
        Scores, higher for more likely positive. float32 and float64 are read without conversion; integers and float16
        are widened. With more than two classes: one column per class in sorted order. Multilabel: one column per label.
    average : {"macro", "micro", "weighted", "samples"} or None
        How the values of classes or labels are averaged. "macro": their mean. "weighted": their mean, weighted by the
        number of rows with the label. "micro": one problem of all labels of all rows. "samples": the mean of one
        problem per row. None: an array of all values. No effect with two classes.
    pos_label : int, float, bool or str
        The label of the positive class if there are two classes; otherwise 1.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    allow_infinite : bool
        Order infinite scores: the greatest and the least, ties among themselves. By default they are an error, as in
        scikit-learn.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float or ndarray of shape (n_classes,)
        In [0, 1]; 0 with a UserWarning if there is no positive row, as in scikit-learn (the metric string gives NaN).
        An array for `average=None`.

    Raises
    ------
    ValueError
        NaN or infinite scores, a `pos_label` that is neither of the two labels, different lengths, no rows or invalid
        weights; the message names the row. Columns that do not match the classes.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 6)
    0.833333
    >>> fm.average_precision_score(["a", "b", "c"], [[3, 1, 0], [1, 2, 3], [0, 4, 5]], average=None).tolist()
    [1.0, 0.5, 1.0]
    """
    validation.check_option(average, "average", AVERAGES)
    check_pos_label(pos_label)
    raw_labels = read_any_labels(y_true)
    scores = as_column(as_score_matrix(y_score))
    allow_infinite = check_infinities(scores, sample_weight, allow_infinite, n_threads)
    if sample_weight is not None:
        sample_weight = as_column(validation.as_array(sample_weight, "sample_weight"))
        check_some_weight(sample_weight)
        if sample_weight.ndim == 1 and sample_weight.dtype.kind == "f":
            sample_weight = scale_tiny_weights(sample_weight.astype(np.float64, copy=False))
    is_numeric = (
        isinstance(raw_labels, np.ndarray) and raw_labels.ndim == scores.ndim == 1 and raw_labels.dtype.kind in "biuf"
    )
    if is_numeric and pos_label == 1:
        try:
            truth = validation.as_labels(raw_labels)
            value = solve_binary_average_precision(truth, scores, sample_weight, n_threads, allow_infinite)
        except validation.LabelError:  # other labels than 0 and 1, or more classes
            pass
        else:
            return warn_no_positives(value.reason) if value.reason else value.value
    measure = BinaryMetric("average_precision_score", solve_binary_average_precision, 0.0, UserWarning)
    target = read_target(raw_labels)
    if target.kind == "binary":
        if scores.ndim != 1:
            shape = scores.shape
            raise validation.InputError(f"y_score must be one column where there are two classes; found shape {shape}")
        is_positive = target.classes == pos_label
        if len(target.classes) == 2 and not np.any(is_positive):
            raise ValueError(f"pos_label must be one of the labels {target.classes.tolist()!r}; found {pos_label!r}")
        truth = np.broadcast_to(is_positive, len(target.classes))[target.coded.codes]
        value = solve_binary_average_precision(truth.view(np.uint8), scores, sample_weight, n_threads, allow_infinite)
        return warn_no_positives(value.reason) if value.reason else value.value
    if pos_label != 1:
        raise ValueError(
            f"pos_label must be 1 if y_true has more than two classes or is multilabel; found {pos_label!r}"
        )
    return average_labels(measure, target, scores, average, sample_weight, n_threads).warn_and_unwrap(measure)


def check_pos_label(pos_label: Any) -> None:
    if not isinstance(pos_label, (str, bool, np.bool_, Real)):
        raise validation.OptionError(f"pos_label must be a number, a bool or a text; found {pos_label!r}")


def solve_binary_average_precision(
    labels: np.ndarray, scores: np.ndarray, weights: Any, n_threads: int | None, allow_infinite: bool = True
) -> Value:
    """Average precision for labels 0 and 1, or -1 and +1."""
    if weights is None and labels.shape[0] <= MOST_SHORT:
        mean = mean_of_small_precisions(labels, scores)
        if mean is not None:
            return Value(mean, {})
    (state,) = OrderedRows(labels, scores, weights, n_threads, allow_infinite).sweep(PrecisionSum())
    return finalize_precisions({}, state)


def average_precision_from_rows(rows: OrderedRows) -> float:
    """The result of `average_precision_score` for binary labels."""
    (state,) = rows.sweep(PrecisionSum())
    result = finalize_precisions({}, state)
    return warn_no_positives(result.reason) if result.reason else result.value


def warn_no_positives(reason: str) -> float:
    """Warn that there are no positives; return 0, the convention of scikit-learn."""
    warn_user(f"average_precision_score: {reason}; the result is 0", UserWarning)
    return 0.0


TRAPEZOIDS = (
    "the area under the precision-recall curve by trapezoids joins its points by straight lines, which promises too "
    "much; 'ap' is the area by steps"
)


def precision_influence(masses: ClassMasses) -> np.ndarray:
    """The influence of a row on the precision at its own score, and on that at all scores of at most its score."""
    negatives, positives = masses
    above, rows = masses.from_above(positives), masses.from_above(negatives + positives)
    rows = np.where(rows > 0, rows, 1.0)  # no rows so high, so no positives either
    total = positives.sum()
    precision = above / rows
    mean = float((positives * precision).sum() / total)
    gained = (positives * (1 / rows - precision / rows)).cumsum()
    lost = (positives * precision / rows).cumsum()
    return np.stack((-lost * (negatives.sum() / total), precision - mean + gained), axis=1)


@metric(
    "ap",
    exchange="range",
    scale="share",
    statistics=lambda: (PrecisionSum(),),
    influence=lambda: ScoreInfluence(precision_influence),
    function=average_precision_score,
    undefined="no positive row",
    aliases=("average_precision_score", "average_precision", "avg_precision"),
    near_names=dict.fromkeys(
        ("pr_auc", "auc_pr", "auprc", "auc_prc", "prauc", "area_under_pr", "area_under_pr_curve"), TRAPEZOIDS
    ),
)
def finalize_precisions(parameters: dict[str, Any], state: Precisions) -> Value:
    """Average precision: the mean, over positives, of the precision at their score."""
    coverage = pair_coverage(state.negatives, state.positives)
    if state.positives == 0:
        return Value(float("nan"), coverage, NO_WEIGHT if state.negatives == 0 else NO_POSITIVE)
    weight = state.positive_weight << tiny_total_shift(state.positive_weight)
    return Value(divide(state.total, weight), coverage)
