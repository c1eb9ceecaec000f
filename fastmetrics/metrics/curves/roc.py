"""Scores against labels in global order: ROC AUC and the Kolmogorov-Smirnov statistic.

Both follow from how positives and negatives interleave in the order of the scores. The rows are cut into ranges of
neighbouring scores (`_core/by_score.py`); inside a range a kernel counts, between ranges whole numbers are multiplied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import by_score, inputs, weighted
from fastmetrics._core.by_score import ScoreBuckets
from fastmetrics._core.exact import divide
from fastmetrics._core.histogram import ScoreHistogram
from fastmetrics._core.pairs import PairCounts, PairsWon
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.registry import metric
from fastmetrics._core.rows import BLOCK_ROWS, SERIAL_ROWS, Columns, View, block_bounds
from fastmetrics._core.score_runs import ClassTotals, ScoreWork, merge_buckets, resolve_scores, store_of
from fastmetrics._core.statistic import Statistic, Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._core.weighted import WeightedExtremes, WeightedPairs, WeightScale
from fastmetrics._kernels import columns, ranksum

__all__ = ["ks_statistic", "roc_auc_score"]

NO_POSITIVE = "there is no positive row"
NO_NEGATIVE = "there is no negative row"
NO_WEIGHT = "every weight is zero"


class Distances(NamedTuple):
    """Rows of each class in a range of scores, and the extremes of a difference D from the range's beginning on.

    D = (positives so far) * all negatives - (negatives so far) * all positives, over the ends of ties, and 0.
    """

    negatives: int
    positives: int
    greatest: int
    least: int


class Extremes(Statistic):
    """The statistic of KS: the greatest and least of TPR * P * N - FPR * P * N over all thresholds, and P and N."""

    __slots__ = ()
    needs_totals = True

    def empty(self) -> Distances:
        return Distances(0, 0, 0, 0)

    def tie(self, own: ClassTotals, totals: ClassTotals, has_weights: bool) -> Distances | WeightedExtremes:
        if has_weights:
            weights = own.negative_weight, own.positive_weight
            step = weights[1] * totals.negative_weight - weights[0] * totals.positive_weight
            return WeightedExtremes((own.negatives, own.positives), weights, max(0, step), min(0, step))
        step = own.positives * totals.negatives - own.negatives * totals.positives
        return Distances(own.negatives, own.positives, max(0, step), min(0, step))

    def merge(
        self, low: Distances | WeightedExtremes, high: Distances | WeightedExtremes, totals: ClassTotals
    ) -> Distances | WeightedExtremes:
        if isinstance(low, WeightedExtremes) and isinstance(high, WeightedExtremes):
            return weighted.merge_extremes(low, high, totals.negative_weight, totals.positive_weight)
        if isinstance(low, WeightedExtremes) or isinstance(high, WeightedExtremes):
            raise TypeError("ranges with weights and without do not merge")
        before = low.positives * totals.negatives - low.negatives * totals.positives
        return Distances(
            low.negatives + high.negatives,
            low.positives + high.positives,
            max(low.greatest, before + high.greatest),
            min(low.least, before + high.least),
        )

    def of_weighted(self, positive: np.ndarray, keys: np.ndarray, weights: np.ndarray) -> WeightedExtremes:
        """The state of all rows at once, with weights; for what fits in cache."""
        negatives, positives = (keys[~positive], weights[~positive]), (keys[positive], weights[positive])
        totals = weighted.sum_weights(negatives[1]), weighted.sum_weights(positives[1])
        scale = weighted.scale_of(weighted.span_of(weights))
        return weighted.extremes_weighted(*negatives, *positives, scale, *totals)

    def bounds(self, histogram: ScoreHistogram) -> tuple[Distances, Distances]:
        """The extremes at the edges of bins, and those that some order inside the bins would give."""
        bins = histogram.bins()
        all_negatives = sum(own[0] for own in bins)
        all_positives = sum(own[1] for own in bins)
        difference = greatest = least = most = fewest = 0
        for negatives, positives in bins:
            most = max(most, difference + positives * all_negatives)
            fewest = min(fewest, difference - negatives * all_positives)
            difference += positives * all_negatives - negatives * all_positives
            greatest, least = max(greatest, difference), min(least, difference)
        low = Distances(all_negatives, all_positives, greatest, least)
        if histogram.is_exact:
            return low, low
        return low, Distances(all_negatives, all_positives, max(most, greatest), min(fewest, least))

    def counter(
        self, buckets: ScoreBuckets, totals: Callable[[int], ClassTotals], scale: WeightScale | None
    ) -> Callable[[int], Distances | WeightedExtremes]:
        if scale is not None and buckets.weights is not None:
            return weighted_counter(buckets, buckets.weights, totals, scale)
        largest = max(1, int(buckets.class_counts().sum(axis=1).max()))
        counts = np.zeros((buckets.n_buckets, 2), np.int64)
        extremes = np.zeros((buckets.n_buckets, 4), np.int64)
        kernel = ranksum.bucket_extremes_u64 if buckets.double_scores else ranksum.bucket_extremes_u32
        keys = np.empty(largest, buckets.key_type)
        scratch = np.empty(largest, buckets.key_type)

        def look(bucket: int) -> Distances:
            everything = totals(bucket)
            kernel(
                buckets.addresses, buckets.offsets, bucket, bucket + 1, keys, scratch, everything.negatives,
                everything.positives, counts, extremes,
            )  # fmt: skip
            high, low, least_high, least_low = extremes[bucket].tolist()
            negatives, positives = counts[bucket].tolist()
            return Distances(negatives, positives, (high << 31) + low, (least_high << 31) + least_low)

        return look


def weighted_counter(
    buckets: ScoreBuckets, weights: list[np.ndarray], totals: Callable[[int], ClassTotals], scale: WeightScale
) -> Callable[[int], WeightedExtremes]:
    def look(bucket: int) -> WeightedExtremes:
        negatives = buckets.of_class(buckets.keys, bucket, 0), buckets.of_class(weights, bucket, 0)
        positives = buckets.of_class(buckets.keys, bucket, 1), buckets.of_class(weights, bucket, 1)
        everything = totals(bucket)
        return weighted.extremes_weighted(
            *negatives, *positives, scale, everything.negative_weight, everything.positive_weight
        )

    return look


def pair_coverage(negatives: int, positives: int) -> dict[str, Any]:
    return {"rows": negatives + positives, "positives": positives}


def why_undefined(negatives: int, positives: int) -> str | None:
    if positives == negatives == 0:
        return NO_WEIGHT
    if positives == 0:
        return NO_POSITIVE
    return NO_NEGATIVE if negatives == 0 else None


def finalise_pairs(state: PairCounts | WeightedPairs) -> Value:
    """Won pairs over all pairs."""
    if isinstance(state, WeightedPairs):
        negatives, positives = state.rows
    else:
        negatives, positives = state.negatives, state.positives
    reason = why_undefined(negatives, positives)
    if reason:
        return Value(float("nan"), pair_coverage(negatives, positives), reason)
    if isinstance(state, WeightedPairs):
        value = weighted.pair_share(state)
    else:
        value = divide(state.wins, 2 * negatives * positives)
    return Value(value, pair_coverage(negatives, positives))


def pairs_in_order(y_true: np.ndarray, y_score: np.ndarray, n_threads: int | None) -> PairCounts:
    """The pair counts of two columns, by whichever way is fastest for their length."""
    rows = y_true.shape[0]
    if rows > SERIAL_ROWS:
        state: PairCounts = in_order(PairsWon(), y_true, y_score, count_threads(n_threads))
        return state
    labels = np.empty(rows, np.uint8)
    seen = np.zeros(2, np.int64)
    columns.decode_labels(y_true, 0, rows, labels, seen)
    if seen[0] > columns.SAW_ZERO + columns.SAW_ONE:
        inputs.check_seen_labels(int(seen[0]), lambda what: inputs.find_label(y_true, what), "y_true")
    positives, wins, has_nan = ranksum.count_pairs(labels, y_score, np.empty(ranksum.work_words(rows), np.uint64))
    if has_nan:
        inputs.raise_nan(y_score, "y_score")
    return PairCounts(rows - positives, positives, wins)


def in_order(statistic: Any, y_true: np.ndarray, y_score: np.ndarray, n_threads: int) -> Any:
    """The state of a statistic over two whole columns."""
    buckets = bucket_columns(y_true, y_score, n_threads)
    counts = buckets.class_counts()
    negatives, positives = counts.sum(axis=0).tolist()
    return merge_buckets(statistic, buckets, ClassTotals(negatives, positives), n_threads)


def weighted_in_order(statistic: Any, y_true: np.ndarray, y_score: np.ndarray, weights: Any, n_threads: int) -> Any:
    """The same with weights; zero weights are left out."""
    labels, scores, present = weighted_columns(y_true, y_score, weights)
    if labels.shape[0] == 0:
        return statistic.empty()
    if labels.shape[0] <= SERIAL_ROWS:
        return statistic.of_weighted(labels.view(bool), by_score.ordered_keys(scores), present)
    rows = Columns((labels,), (scores,), present)
    work = ScoreWork(store_of(rows), View(0, 0), True, [statistic], n_threads)
    return resolve_scores(work)[statistic, None]


def bucket_columns(y_true: np.ndarray, y_score: np.ndarray, n_threads: int) -> ScoreBuckets:
    """Two whole columns by score range; labels and scores are checked on the way."""
    rows = y_true.shape[0]
    bounds = list(block_bounds(rows))
    splitter = by_score.split_scores(y_score[:: max(1, rows // by_score.SAMPLE)], rows)
    keys = np.empty(rows, f"u{y_score.dtype.itemsize}")
    seen = np.zeros((len(bounds), 2), np.int64)
    blocks: list[Any] = [None] * len(bounds)
    has_nan: list[bool] = []

    def make_worker() -> Callable[[int], None]:
        labels = np.empty(min(rows, BLOCK_ROWS), np.uint8)
        scratch = by_score.RangeScratch(labels.shape[0])

        def fill(unit: int) -> None:
            start, stop = bounds[unit]
            columns.decode_labels(y_true, start, stop, labels, seen[unit])

            def take(name: str, dtype: np.dtype, length: int) -> np.ndarray:
                return keys[start:stop] if name == by_score.KEY else np.empty(length, dtype)

            own_labels = labels[: stop - start]
            blocks[unit] = by_score.order_by_score(
                splitter, own_labels, y_score[start:stop], None, None, scratch, take
            )
            if scratch.has_nan[0]:
                has_nan.append(True)

        return fill

    for_each(len(bounds), make_worker, n_threads if rows > SERIAL_ROWS else 1)
    inputs.check_seen_labels(
        int(np.bitwise_or.reduce(seen[:, 0])), lambda what: inputs.find_label(y_true, what), "y_true"
    )
    if has_nan:
        inputs.raise_nan(y_score, "y_score")
    return ScoreBuckets(blocks)


def weighted_columns(
    y_true: np.ndarray, y_score: np.ndarray, sample_weight: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, scores and weights of the rows whose weight is not zero, all checked."""
    weights = inputs.as_weights(sample_weight, y_true.shape[0])
    labels = inputs.decode_labels(y_true)
    if np.isnan(y_score).any():
        inputs.raise_nan(y_score, "y_score")
    present = weights > 0
    if present.all():
        return labels, y_score, weights
    return labels[present], y_score[present], weights[present]


def roc_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    average: str | None = "macro",
    sample_weight: Any = None,
    max_fpr: float | None = None,
    multi_class: str = "raise",
    labels: Any = None,
    n_threads: int | None = None,
) -> float:
    """The probability that a positive row scores above a negative one, ties counting one half.

    AUC = (pairs won + pairs tied / 2) / (positives * negatives), over all pairs of a positive and a negative row. This
    is the area under the ROC curve and the Mann-Whitney U statistic divided by its maximum (Hanley and McNeil,
    Radiology 143, 1982). Counted in integers, so the result is the correctly rounded quotient for any order of the
    rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1 (bool, any integer or float type), or -1 and +1.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive; float32 and float64 are read as they are, integers and float16 widened.
        Infinities are ordered, -0.0 ties with 0.0, scores are equal only when they are exactly equal.
    average : {"macro", "micro", "weighted", "samples"} or None
        Without effect: labels are binary, as those of scikit-learn are when it ignores this argument.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a pair weighs the product of its rows' weights, a row of weight zero is
        absent. Sums and products of weights are exact, so the result is correctly rounded for any weights.
    max_fpr : float in (0, 1], optional
        Standardised partial AUC over false positive rates up to max_fpr (McClish, Medical Decision Making 9, 1989).
    multi_class : {"raise", "ovr", "ovo"}
        Without effect on binary labels, as in scikit-learn.
    labels : array-like, optional
        Without effect on binary labels, as in scikit-learn.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1]; NaN with an UndefinedMetricWarning when only one class is present.

    Raises
    ------
    ValueError
        NaN scores, labels outside the two pairs above, lengths that differ, no rows, bad weights; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> fm.roc_auc_score([0, 1, 1, 0, 0, 1, 1], [0.3, 0.5, 0.5, 0.5, 0.5, 0.7, 0.8]) == 10 / 12
    True
    """
    inputs.check_option(average, "average", ("macro", "micro", "weighted", "samples", None))
    inputs.check_option(multi_class, "multi_class", ("raise", "ovr", "ovo"))
    truth = inputs.as_labels(y_true)
    scores = inputs.as_scores(y_score)
    inputs.check_lengths(truth.shape[0], scores.shape[0], "y_true", "y_score")
    if n_threads is not None:
        count_threads(n_threads)
    if max_fpr is not None and not (isinstance(max_fpr, (int, float, np.number)) and 0 < max_fpr <= 1):
        raise ValueError(f"max_fpr must lie in (0, 1]; found {max_fpr!r}")
    if max_fpr is not None and max_fpr < 1:
        return partial_auc(truth, scores, sample_weight, float(max_fpr))
    if sample_weight is None:
        state = pairs_in_order(truth, scores, n_threads)
        if state.positives and state.negatives:
            return divide(state.wins, 2 * state.negatives * state.positives)
        return warn_undefined("roc_auc_score", why_undefined(state.negatives, state.positives) or "", 3)
    state = weighted_in_order(PairsWon(), truth, scores, sample_weight, count_threads(n_threads))
    result = finalise_pairs(state)
    return warn_undefined("roc_auc_score", result.reason, 3) if result.reason else result.value


def partial_auc(y_true: np.ndarray, y_score: np.ndarray, sample_weight: Any, max_fpr: float) -> float:
    """McClish's standardised area up to max_fpr, the curve interpolated linearly there."""
    if sample_weight is None:
        labels, scores = inputs.decode_labels(y_true), y_score
        if np.isnan(scores).any():
            inputs.raise_nan(scores, "y_score")
        weights = np.ones(labels.shape[0])
    else:
        labels, scores, weights = weighted_columns(y_true, y_score, sample_weight)
    reason = why_undefined(int(np.count_nonzero(labels == 0)), int(np.count_nonzero(labels)))
    if reason:
        return warn_undefined("roc_auc_score", reason, 4)
    order = np.lexsort((weights, labels, -scores))
    scores, labels, weights = scores[order], labels[order], weights[order]
    ends = np.append(np.flatnonzero(scores[1:] != scores[:-1]), scores.shape[0] - 1)
    true_positives = np.concatenate(([0.0], np.cumsum(weights * labels)[ends]))
    false_positives = np.concatenate(([0.0], np.cumsum(weights * (1 - labels))[ends]))
    tpr = true_positives / true_positives[-1]
    fpr = false_positives / false_positives[-1]
    stop = int(np.searchsorted(fpr, max_fpr, "right"))
    tpr_at_stop = np.interp(max_fpr, fpr[stop - 1 : stop + 1], tpr[stop - 1 : stop + 1])
    x = np.append(fpr[:stop], max_fpr)
    y = np.append(tpr[:stop], tpr_at_stop)
    area = float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))
    least = max_fpr**2 / 2
    return 0.5 * (1 + (area - least) / (max_fpr - least))


def ks_statistic(y_true: Any, y_score: Any, *, sample_weight: Any = None, n_threads: int | None = None) -> float:
    """The greatest distance between the score distributions of positives and negatives (Kolmogorov-Smirnov).

    KS = max over thresholds t of |TPR(t) - FPR(t)|, both as shares of rows with a score of at least t (Smirnov, 1939;
    two-sided). Compared in integers, rounded once.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1.
    y_score : array-like of shape (n,)
        Scores; float32 and float64 are read as they are, integers and float16 widened.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent. Weighted shares are exact too.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1]; NaN with an UndefinedMetricWarning when only one class is present.

    Raises
    ------
    ValueError
        NaN scores, labels outside the two pairs above, lengths that differ, no rows, bad weights; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.ks_statistic([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    """
    truth = inputs.as_labels(y_true)
    scores = inputs.as_scores(y_score)
    inputs.check_lengths(truth.shape[0], scores.shape[0], "y_true", "y_score")
    threads = count_threads(n_threads)
    state: Any
    if sample_weight is None:
        state = in_order(Extremes(), truth, scores, threads)
    else:
        state = weighted_in_order(Extremes(), truth, scores, sample_weight, threads)
    result = finalise_extremes({}, state)
    return warn_undefined("ks_statistic", result.reason, 3) if result.reason else result.value


@metric(
    "auc",
    exchange="score",
    statistics=lambda: (PairsWon(),),
    function=roc_auc_score,
    undefined="one class only",
)
def finalise_auc(parameters: dict[str, Any], state: PairCounts | WeightedPairs) -> Value:
    """Area under the ROC curve: the share of positive-negative pairs in the right order, ties one half."""
    return finalise_pairs(state)


@metric(
    "ks",
    exchange="score",
    statistics=lambda: (Extremes(),),
    function=ks_statistic,
    undefined="one class only",
)
def finalise_extremes(parameters: dict[str, Any], state: Any) -> Value:
    """Kolmogorov-Smirnov: the greatest distance between the score distributions of positives and negatives."""
    is_weighted = isinstance(state, WeightedExtremes)
    negatives, positives = state.rows if is_weighted else state[:2]
    reason = why_undefined(negatives, positives)
    if reason:
        return Value(float("nan"), pair_coverage(negatives, positives), reason)
    if is_weighted:
        value = weighted.greatest_distance(state)
    else:
        value = divide(max(state.greatest, -state.least), negatives * positives)
    return Value(value, pair_coverage(negatives, positives))
