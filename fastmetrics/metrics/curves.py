"""Scores against labels in global order: ROC AUC and the Kolmogorov-Smirnov statistic.

Both follow from how positives and negatives interleave in the order of the scores. The rows are cut into ranges of
neighbouring scores (`_core/by_score.py`); inside a range a kernel counts, between ranges whole numbers are multiplied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import by_score, inputs
from fastmetrics._core.by_score import ScoreBuckets
from fastmetrics._core.exact import divide
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.registry import metric
from fastmetrics._core.rows import BLOCK_ROWS, SERIAL_ROWS, block_bounds
from fastmetrics._core.statistic import Statistic, Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels import columns, ranksum, weightedpairs

__all__ = ["ks_statistic", "roc_auc_score"]

NO_POSITIVE = "there is no positive row"
NO_NEGATIVE = "there is no negative row"
NO_WEIGHT = "every weight is zero"


class PairCounts(NamedTuple):
    """Rows of each class, and twice the pairs (positive, negative) the positive won, ties counting once."""

    negatives: int
    positives: int
    wins: int


class WeightedPairShare(NamedTuple):
    """Rows of each class (negatives, positives), and the share of the weighted pairs that the positives won."""

    rows: tuple[int, int]
    won: float


class PairsWon(Statistic):
    """The statistic of AUC."""

    __slots__ = ()

    def empty(self) -> PairCounts:
        return PairCounts(0, 0, 0)

    def resolve(self, buckets: ScoreBuckets, n_threads: int) -> PairCounts:
        """Count inside every bucket, then multiply between buckets."""
        n_buckets = buckets.splitter.n_buckets
        by_class = buckets.class_counts()
        largest_few = max(1, int(by_class.min(axis=1).max()))
        counts = np.zeros((n_buckets, 2), np.int64)
        pairs = np.zeros((n_buckets, 2), np.uint64)
        blocks = buckets.block_addresses()
        key_type = buckets.key_type
        kernel = ranksum.bucket_pairs_u64 if buckets.double_scores else ranksum.bucket_pairs_u32

        def make_worker() -> Callable[[int], None]:
            few = np.empty(largest_few, key_type)
            scratch = np.empty(largest_few, key_type)
            cells = np.empty(ranksum.MOST_CELLS + 2, np.uint32)
            conflicts = np.empty(ranksum.MOST_CONFLICTS, key_type)

            def count(bucket: int) -> None:
                kernel(blocks, buckets.offsets, bucket, bucket + 1, few, scratch, cells, conflicts, counts, pairs)

            return count

        for_each(n_buckets, make_worker, n_threads)
        negatives = positives = wins = 0
        for (bucket_negatives, bucket_positives), (low, high) in zip(counts.tolist(), pairs.tolist(), strict=True):
            inside = low + (high << 64)
            if bucket_positives > bucket_negatives:
                # The kernel looked from the rarer class: these are the pairs the negatives won.
                inside = 2 * bucket_positives * bucket_negatives - inside
            wins += 2 * bucket_positives * negatives + inside
            negatives += bucket_negatives
            positives += bucket_positives
        return PairCounts(negatives, positives, wins)

    def resolve_weighted(self, labels: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> WeightedPairShare:
        """Rows with weights, none zero, in any order."""
        order = np.argsort(scores, kind="stable")
        auc, total = np.empty(1), np.empty(1)
        counts = np.empty((1, 2), np.int64)
        starts = np.array([0, labels.shape[0]], np.int64)
        weightedpairs.weighted_pairs(scores[order], labels[order], weights[order], starts, auc, total, counts)
        negatives, positives = counts[0].tolist()
        return WeightedPairShare((negatives, positives), float(auc[0]))


class Extremes(Statistic):
    """The statistic of KS: the greatest and least of TPR * P * N - FPR * P * N over all thresholds, and P and N."""

    __slots__ = ()

    def empty(self) -> tuple[int, int, int]:
        return (0, 0, 0)

    def resolve(self, buckets: ScoreBuckets, n_threads: int) -> tuple[int, int, int]:
        """(negatives, positives, greatest absolute difference times both)."""
        n_buckets = buckets.splitter.n_buckets
        by_class = buckets.class_counts()
        all_negatives, all_positives = (int(count) for count in by_class.sum(axis=0))
        largest = max(1, int(by_class.sum(axis=1).max()))
        counts = np.zeros((n_buckets, 2), np.int64)
        extremes = np.zeros((n_buckets, 4), np.int64)
        blocks = buckets.block_addresses()
        key_type = buckets.key_type
        kernel = ranksum.bucket_extremes_u64 if buckets.double_scores else ranksum.bucket_extremes_u32

        def make_worker() -> Callable[[int], None]:
            keys = np.empty(largest, key_type)
            scratch = np.empty(largest, key_type)

            def look(bucket: int) -> None:
                kernel(
                    blocks, buckets.offsets, bucket, bucket + 1, keys, scratch, all_negatives, all_positives, counts,
                    extremes,
                )  # fmt: skip

            return look

        for_each(n_buckets, make_worker, n_threads)
        before = greatest = 0
        for (negatives, positives), row in zip(counts.tolist(), extremes.tolist(), strict=True):
            high, low, least_high, least_low = row
            greatest = max(greatest, before + (high << 31) + low, -(before + (least_high << 31) + least_low))
            before += positives * all_negatives - negatives * all_positives
        return all_negatives, all_positives, greatest

    def resolve_weighted(
        self, labels: np.ndarray, scores: np.ndarray, weights: np.ndarray
    ) -> tuple[tuple[int, int], float]:
        """((rows of negatives, of positives), KS). The order of summation depends on the rows, not on how they came."""
        positives = int(np.count_nonzero(labels))
        if positives in (0, labels.shape[0]):
            return (labels.shape[0] - positives, positives), float("nan")
        order = np.lexsort((weights, labels, scores))
        scores, labels, weights = scores[order], labels[order], weights[order]
        ends = np.append(scores[1:] != scores[:-1], True)
        shares = []
        for label in (0, 1):
            # A power of two changes no share, and keeps the products below in range.
            own = np.where(labels == label, weights, 0.0)
            shares.append(np.cumsum(np.ldexp(own, -int(np.frexp(own.max())[1])))[ends])
        from fractions import Fraction

        totals = [float(share[-1]) for share in shares]
        best = int(np.abs(shares[1] * totals[0] - shares[0] * totals[1]).argmax())
        below = [Fraction(float(share[best])) / Fraction(total) for share, total in zip(shares, totals, strict=True)]
        return (labels.shape[0] - positives, positives), float(abs(below[1] - below[0]))


def pair_coverage(negatives: int, positives: int) -> dict[str, Any]:
    return {"rows": negatives + positives, "positives": positives}


def why_undefined(negatives: int, positives: int) -> str | None:
    if positives == negatives == 0:
        return NO_WEIGHT
    if positives == 0:
        return NO_POSITIVE
    return NO_NEGATIVE if negatives == 0 else None


def finalise_pairs(state: PairCounts | WeightedPairShare) -> Value:
    """Won pairs over all pairs."""
    if isinstance(state, WeightedPairShare):
        (negatives, positives), value = state
    else:
        negatives, positives = state.negatives, state.positives
        value = divide(state.wins, max(1, 2 * negatives * positives))
    reason = why_undefined(negatives, positives)
    return Value(float("nan") if reason else value, pair_coverage(negatives, positives), reason)


def pairs_in_order(y_true: np.ndarray, y_score: np.ndarray, n_threads: int | None) -> PairCounts:
    """The pair counts of two columns, by whichever way is fastest for their length."""
    rows = y_true.shape[0]
    if rows > SERIAL_ROWS:
        threads = count_threads(n_threads)
        return PairsWon().resolve(bucket_columns(y_true, y_score, threads), threads)
    labels = np.empty(rows, np.uint8)
    seen = np.zeros(2, np.int64)
    columns.decode_labels(y_true, 0, rows, labels, seen)
    if seen[0] > columns.SAW_ZERO + columns.SAW_ONE:
        inputs.check_seen_labels(int(seen[0]), lambda what: inputs.find_label(y_true, what), "y_true")
    positives, wins, has_nan = ranksum.count_pairs(labels, y_score, np.empty(ranksum.work_words(rows), np.uint64))
    if has_nan:
        inputs.raise_nan(y_score, "y_score")
    return PairCounts(rows - positives, positives, wins)


def bucket_columns(y_true: np.ndarray, y_score: np.ndarray, n_threads: int) -> ScoreBuckets:
    """Two whole columns by score range; labels and scores are checked on the way."""
    rows = y_true.shape[0]
    bounds = list(block_bounds(rows))
    sample = y_score[:: max(1, rows // by_score.SAMPLE)]
    keys = np.empty(rows, f"u{y_score.dtype.itemsize}")
    key_memory = [keys[start:stop] for start, stop in bounds]
    buckets = ScoreBuckets(key_memory, y_score.dtype == np.float64, by_score.split_scores(sample, rows))
    seen = np.zeros((len(bounds), 2), np.int64)

    def make_worker() -> Callable[[int], None]:
        block_rows = min(rows, BLOCK_ROWS)
        labels = np.empty(block_rows, np.uint8)
        slots = np.empty(block_rows, np.uint16)

        def fill(block: int) -> None:
            start, stop = bounds[block]
            columns.decode_labels(y_true, start, stop, labels, seen[block])
            buckets.fill(block, labels[: stop - start], y_score[start:stop], slots)

        return fill

    for_each(len(bounds), make_worker, n_threads if rows > SERIAL_ROWS else 1)
    inputs.check_seen_labels(
        int(np.bitwise_or.reduce(seen[:, 0])), lambda what: inputs.find_label(y_true, what), "y_true"
    )
    if buckets.has_nan.any():
        inputs.raise_nan(y_score, "y_score")
    return buckets


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
        absent. Exact for integer weights, within 1e-12 relative for others.
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
    result = finalise_pairs(PairsWon().resolve_weighted(*weighted_columns(truth, scores, sample_weight)))
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
        Weights, finite and not negative; a row of weight zero is absent. Weighted shares are float64.
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
        state = Extremes().resolve(bucket_columns(truth, scores, threads), threads)
    else:
        state = Extremes().resolve_weighted(*weighted_columns(truth, scores, sample_weight))
    result = finalise_extremes({}, state)
    return warn_undefined("ks_statistic", result.reason, 3) if result.reason else result.value


@metric(
    "auc",
    exchange="score",
    statistics=lambda: (PairsWon(),),
    function=roc_auc_score,
    undefined="one class only",
)
def finalise_auc(parameters: dict[str, Any], state: PairCounts | WeightedPairShare) -> Value:
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
    if len(state) == 2:
        (negatives, positives), distance = state
        return Value(distance, pair_coverage(negatives, positives), why_undefined(negatives, positives))
    negatives, positives, greatest = state
    reason = why_undefined(negatives, positives)
    value = float("nan") if reason else divide(greatest, negatives * positives)
    return Value(value, pair_coverage(negatives, positives), reason)
