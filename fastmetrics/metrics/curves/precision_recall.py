"""Precision and recall over all thresholds, and average precision."""

from __future__ import annotations

import math
import warnings
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from fastmetrics._core import exact, inputs
from fastmetrics._core.exact import EXPONENT, divide
from fastmetrics._core.histogram import ScoreHistogram
from fastmetrics._core.ordered_rows import MOST_SHORT, OrderedRows, are_short, as_column, order_rows
from fastmetrics._core.pairs import NO_POSITIVE, NO_WEIGHT, pair_coverage
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import metric
from fastmetrics._core.statistic import Statistic, Value
from fastmetrics._core.steps import ClassTotals, Place, Steps
from fastmetrics._core.weighted import WeightedRows
from fastmetrics._core.weighted_sweep import sweep_weighted
from fastmetrics._kernels import points, scorereplicates, shortcurves
from fastmetrics._kernels import steps as kernels
from fastmetrics.metrics.curves.averaging import (
    AVERAGES,
    Measure,
    as_score_matrix,
    average_sets,
    open_labels,
    read_target,
)

if TYPE_CHECKING:
    from fastmetrics._core.score_replicates import FallingRows, LaneTotals, LaneWeights

FEW_POSITIVES = 100  # of a bin, whose precisions are added one by one
WORD_UNITS = (20, 52, 84)  # words of a sum of precisions are multiples of 2**-20, ...
SLACK_BITS = 40  # bounds are this much wider than what they bound, relative to 1


class Precisions(NamedTuple):
    """Rows of each class, the weight of positives, and the sum of precisions over positives, times 2**EXPONENT each.

    Without weights a positive weighs 1.
    """

    negatives: int
    positives: int
    positive_weight: int
    total: int


class PrecisionSum(Statistic):
    """The statistic of average precision: the sum, over positives, of the precision at their score.

    A term is a tie's positives times the precision at its score, rounded to a float64; terms are added exactly.
    """

    __slots__ = ()
    needs_place = True
    needs_positives = True

    def empty(self) -> Precisions:
        return Precisions(0, 0, 0, 0)

    def of_steps(self, steps: Steps, place: Place) -> Precisions:
        own, above = steps.counts, place.above
        state = exact.new_states()
        kernels.steps_precisions(
            steps.own, steps.ties, steps.gaps, steps.own.shape[0], above.negatives, above.positives, state
        )
        return Precisions(own.negatives, own.positives, own.positives << EXPONENT, exact.to_integer(state))

    def of_weighted(self, rows: WeightedRows, place: Place) -> Precisions:
        sweep = sweep_weighted(rows)
        own = np.flatnonzero(sweep.positives)
        sums = sweep.cumulated()
        total = weight = 0
        for tie in own.tolist():
            positives = place.above.positive_weight + sums[1][tie]
            here = int(sweep.positives[tie]) << sweep.shift
            weight += here
            total += term(here, positives, place.above.negative_weight + sums[0][tie])
        return Precisions(len(rows.negatives[0]), len(rows.positives[0]), weight, total)

    def of_weighted_tie(self, score: float, own: ClassTotals, place: Place) -> Precisions:
        total = 0
        if own.positives:
            positives = place.above.positive_weight + own.positive_weight
            total = term(own.positive_weight, positives, place.above.negative_weight + own.negative_weight)
        return Precisions(own.negatives, own.positives, own.positive_weight, total)

    def lanes(self, totals: LaneTotals) -> PrecisionLanes | None:
        """A block of replicates, side by side; without weights. None: too many rows for that."""
        return PrecisionLanes() if totals.are_short else None

    def bounds(self, histogram: ScoreHistogram) -> tuple[Precisions, Precisions]:
        """All negatives of a bin above its positives, and all below its positives, which tie."""
        negatives = positives = least = most = 0
        for own_negatives, own_positives in reversed(histogram.bins()):
            before = negatives if not histogram.is_exact else negatives + own_negatives
            negatives += own_negatives
            if own_positives:
                most += term(own_positives << EXPONENT, positives + own_positives, before)
                least += precisions_in_turn(own_positives, positives, negatives)
            positives += own_positives
        weight = positives << EXPONENT
        high = Precisions(negatives, positives, weight, most)
        if histogram.is_exact or negatives == 0:
            return high, high
        # Terms are rounded: leave room for that on both sides.
        slack = weight >> SLACK_BITS
        low = Precisions(negatives, positives, weight, max(0, least - slack))
        return low, high._replace(total=min(weight, most + slack))

    def merge(self, low: Precisions, high: Precisions, totals: ClassTotals) -> Precisions:
        return Precisions(*(one + two for one, two in zip(low, high, strict=True)))


class PrecisionLanes:
    """Sums of precisions of a block of replicates: three words each, see precisionlanes.h."""

    def __init__(self) -> None:
        self.state = np.zeros((5, scorereplicates.ABREAST), np.int64)

    def walk(self, rows: FallingRows, weights: LaneWeights) -> None:
        scorereplicates.precisions_walk(rows.codes, weights.table, weights.most, self.state)

    def tie(self, keys: np.ndarray, own: np.ndarray) -> None:
        scorereplicates.precisions_tie(own, self.state)

    def states(self, n: int) -> list[Precisions]:
        found = []
        for negatives, positives, *words in zip(*self.state[:, :n].tolist(), strict=True):
            total = sum(word << (EXPONENT - unit) for word, unit in zip(words, WORD_UNITS, strict=True))
            found.append(Precisions(negatives, positives, positives << EXPONENT, total))
        return found


def term(own: int, positives: int, negatives: int) -> int:
    """The weight of a tie's positives times the precision at its score, rounded as the kernel rounds it."""
    return to_whole(divide(own, 1 << EXPONENT) * divide(positives, positives + negatives))


def to_whole(value: float) -> int:
    numerator, denominator = value.as_integer_ratio()
    return (numerator << EXPONENT) // denominator


def precisions_in_turn(n: int, positives: int, negatives: int) -> int:
    """At most the sum of (positives + i) / (positives + i + negatives) for i = 1..n, times 2**EXPONENT.

    The sum is n - negatives * (H(m + n) - H(m)), m = positives + negatives, with harmonic numbers H; their difference
    is less than log((m + n) / m).
    """
    if n <= FEW_POSITIVES:
        return sum(term(1 << EXPONENT, positives + i, negatives) for i in range(1, n + 1))
    m = positives + negatives
    return to_whole(max(0.0, n - negatives * math.log1p(n / m))) if m else n << EXPONENT


@overload
def average_precision_score(
    y_true: Any,
    y_score: Any,
    *,
    average: str = ...,
    pos_label: Any = ...,
    sample_weight: Any = ...,
    n_threads: int | None = ...,
) -> float: ...
@overload
def average_precision_score(
    y_true: Any,
    y_score: Any,
    *,
    average: None,
    pos_label: Any = ...,
    sample_weight: Any = ...,
    n_threads: int | None = ...,
) -> Any: ...
def average_precision_score(
    y_true: Any,
    y_score: Any,
    *,
    average: str | None = "macro",
    pos_label: Any = 1,
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> Any:
    """The mean, over positives, of the precision at their score.

    AP = sum_t (R_t - R_{t-1}) P_t over the distinct scores t, descending, with precision P_t and recall R_t of the rows
    that score at least t: the area below the precision-recall curve as a step function, nothing interpolated (Zhu,
    Recall, precision and average precision, 2004; what Spark calls areaUnderPR is the trapezoidal area instead). Every
    term is rounded once, their sum is exact. More than two classes are problems of one class against the rest.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_labels)
        Labels of any kind; of two, those equal to `pos_label` are positive. Or sets of labels: a matrix (dense or
        sparse) of 0 and 1, or -1 and 1.
    y_score : array-like of shape (n,), (n, 1), (n, n_classes) or (n, n_labels)
        Scores, higher for more likely positive; float32 and float64 are read as they are, integers and float16 widened.
        Of more than two classes a column for each, in sorted order; of sets a column for every label.
    average : {"macro", "micro", "weighted", "samples"} or None
        How the values of classes or labels become one: their mean ("macro"), that weighted by how many rows have the
        label ("weighted"), one problem of all labels of all rows ("micro"), the mean over rows of a problem per row
        ("samples"). None: an array of all. Without effect where there are two classes.
    pos_label : int, float, bool or str
        The label of the positive class, where there are two; else 1.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float or ndarray of shape (n_classes,)
        In [0, 1]; 0 with a UserWarning when there is no positive row, as in scikit-learn. An array for `average=None`.

    Raises
    ------
    ValueError
        NaN scores, a `pos_label` that is none of two labels, lengths that differ, no rows, bad weights; the row is
        named. Columns that do not match the classes.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 6)
    0.833333
    >>> fm.average_precision_score(["a", "b", "c"], [[3, 1, 0], [1, 2, 3], [0, 4, 5]], average=None).tolist()
    [1.0, 0.5, 1.0]
    """
    inputs.check_option(average, "average", AVERAGES)
    check_label(pos_label)
    if n_threads is not None:
        count_threads(n_threads)
    if are_short(y_true, y_score, sample_weight, n_threads) and type(pos_label) is int and pos_label == 1:
        found = shortcurves.precisions(y_true, y_score)
        if found is not None:
            return mean_precision(*found)
    given = open_labels(y_true)
    scores = as_column(as_score_matrix(y_score))
    if sample_weight is not None:
        sample_weight = as_column(inputs.as_array(sample_weight, "sample_weight"))
        inputs.check_some_weight(sample_weight)
    plain = isinstance(given, np.ndarray) and given.ndim == scores.ndim == 1 and given.dtype.kind in "biuf"
    if plain and pos_label == 1:
        try:
            value = precision_of_problem(inputs.as_labels(given), scores, sample_weight, n_threads)
        except inputs.LabelError:  # of other classes, or of more
            pass
        else:
            return warn_without(value.reason) if value.reason else value.value
    measure = Measure("average_precision_score", precision_of_problem, 0.0, UserWarning)
    target = read_target(given)
    if target.kind == "binary":
        if scores.ndim != 1:
            shape = scores.shape
            raise inputs.InputError(f"y_score must be one column where there are two classes; found shape {shape}")
        is_positive = target.classes == pos_label
        if len(target.classes) == 2 and not np.any(is_positive):
            raise ValueError(f"pos_label must be one of the labels {target.classes.tolist()!r}; found {pos_label!r}")
        truth = np.broadcast_to(is_positive, len(target.classes))[target.coded.codes]
        value = precision_of_problem(truth.view(np.uint8), scores, sample_weight, n_threads)
        return warn_without(value.reason) if value.reason else value.value
    if pos_label != 1:
        raise ValueError(f"pos_label must be 1 where there are more than two classes, or sets; found {pos_label!r}")
    return average_sets(measure, target, scores, average, sample_weight, n_threads).tell(measure)


def check_label(pos_label: Any) -> None:
    if not isinstance(pos_label, (str, bool, np.bool_, Real)):
        raise inputs.OptionError(f"pos_label must be a number, a bool or a text; found {pos_label!r}")


def precision_of_problem(labels: np.ndarray, scores: np.ndarray, weights: Any, n_threads: int | None) -> Value:
    """Average precision for labels 0 and 1, or -1 and +1."""
    if weights is None and labels.shape[0] == scores.shape[0] <= MOST_SHORT:
        found = shortcurves.precisions(labels, scores)
        if found is not None:
            return Value(mean_precision(*found), {})
    (state,) = OrderedRows(labels, scores, weights, n_threads).sweep(PrecisionSum())
    return finalise_precisions({}, state)


def mean_precision(positives: int, whole: int, below: int) -> float:
    """What `shortcurves.precisions` found: a sum, its part below 1 in 64 bits, by the number of its terms."""
    return ((whole << 64) | below) / (positives << 64)


def precision_of(rows: OrderedRows) -> float:
    """What `average_precision_score` returns for binary labels."""
    (state,) = rows.sweep(PrecisionSum())
    result = finalise_precisions({}, state)
    return warn_without(result.reason, 4) if result.reason else result.value


def warn_without(reason: str, stacklevel: int = 3) -> float:
    """Average precision without positives is 0, by convention."""
    warnings.warn(f"average_precision_score: {reason}; the result is 0", UserWarning, stacklevel=stacklevel)
    return 0.0


def precision_recall_curve(
    y_true: Any,
    y_score: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    drop_intermediate: bool = False,
    n_threads: int | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Precision and recall at every threshold.

    P(t) = TP / (TP + FP) and R(t) = TP / (TP + FN), a row being predicted positive when its score is at least t. Counts
    are exact, each ratio is rounded once.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any kind with `pos_label`.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive. Scores are equal only when they are exactly equal.
    pos_label : int, float, bool or str, optional
        The label of the positive class; all others are negative.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    drop_intermediate : bool
        Of neighbouring points with the same recall, keep the first and the last.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    precision, recall : ndarray of shape (n_thresholds + 1,)
        At ascending thresholds, recall descending; the last are 1 and 0, which belong to no threshold. Without a
        positive row recall is 1, with a UserWarning.
    thresholds : ndarray of shape (n_thresholds,)
        The distinct scores, ascending, in the type they came in.

    Raises
    ------
    ValueError
        NaN scores, labels that need `pos_label`, lengths that differ, no rows, bad weights; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> precision, recall, thresholds = fm.precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> recall.tolist(), thresholds.tolist()
    ([1.0, 1.0, 0.5, 0.5, 0.0], [0.1, 0.35, 0.4, 0.8])
    """
    if are_short(y_true, y_score, pos_label, sample_weight, n_threads) and drop_intermediate is False:
        room = np.empty((3, y_score.size + 1))
        start = shortcurves.precision_recall(y_true, y_score, room)
        if start is not None:
            thresholds, precision, recall = room[:, start:]
            return precision, recall, in_type(thresholds[:-1], y_score.dtype)
    inputs.check_flag(drop_intermediate, "drop_intermediate")
    y_score = inputs.as_array(y_score, "y_score")
    rows = order_rows(y_true, y_score, pos_label, sample_weight, n_threads)
    return curve_of(rows, drop_intermediate, y_score.dtype)


def curve_of(
    rows: OrderedRows, drop_intermediate: bool, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What `precision_recall_curve` returns; thresholds have the type that scores came in."""
    has_positives = rows.totals().positives > 0
    curve = rows.curve(points.PRECISION_RECALL)
    thresholds, precision, recall = curve.thresholds, curve.x, curve.y
    if not has_positives:
        warnings.warn(f"{NO_POSITIVE}: recall is 1 at every threshold", UserWarning, stacklevel=3)
        recall[:] = 1.0
    n = thresholds.shape[0]
    if drop_intermediate and n > 2:
        moves = np.diff(recall) != 0 if has_positives else np.zeros(n - 1, bool)
        kept = np.concatenate(([True], moves[:-1] | moves[1:], [True]))
        thresholds, precision, recall = thresholds[kept], precision[kept], recall[kept]
    precision = np.concatenate((precision, (1.0,)))
    recall = np.concatenate((recall, (0.0,)))
    return precision, recall, in_type(thresholds, dtype)


def in_type(thresholds: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Scores in the type they came in, in native byte order."""
    return thresholds if dtype.char == "d" else thresholds.astype(dtype.newbyteorder("="))


@metric(
    "ap",
    exchange="score",
    statistics=lambda: (PrecisionSum(),),
    function=average_precision_score,
    undefined="no positive row",
)
def finalise_precisions(parameters: dict[str, Any], state: Precisions) -> Value:
    """Average precision: the mean, over positives, of the precision at their score."""
    coverage = pair_coverage(state.negatives, state.positives)
    if state.positives == 0:
        return Value(float("nan"), coverage, NO_WEIGHT if state.negatives == 0 else NO_POSITIVE)
    return Value(divide(state.total, state.positive_weight), coverage)
