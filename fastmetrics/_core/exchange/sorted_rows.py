"""Labels and scores of one call in the order of the scores: sorted once, swept for statistics, walked for curves.

Three depths, each made when it is first needed and kept. Buckets of neighbouring scores (`by_score.py`) are enough for
statistics of the sweep (`score_runs.py`), which sort one class only. Curves need both classes sorted inside the
buckets. With weights, all rows are sorted at once and their weights summed as whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import by_score, inputs, labels, weighted
from fastmetrics._core.by_score import ScoreBuckets
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.rows import BLOCK_ROWS, SERIAL_ROWS, Columns, View, block_bounds
from fastmetrics._core.score_runs import ScoreWork, resolve_scores, store_of, sweep_buckets
from fastmetrics._core.steps import NOTHING, ClassTotals, Place, SortedRows, Steps
from fastmetrics._core.weighted_sweep import sweep_weighted
from fastmetrics._kernels import columns, points, shortcurves, steps

MOST_SHORT: int = shortcurves.MOST_ROWS


def order_rows(
    y_true: Any, y_score: Any, pos_label: Any = None, sample_weight: Any = None, n_threads: int | None = None
) -> OrderedRows:
    """The rows of a public function's arguments.

    Without `pos_label` labels are 0 and 1 or -1 and +1; with it any label is positive or not.
    """
    scores = inputs.as_scores(as_column(inputs.as_array(y_score, "y_score")))
    truth = as_column(inputs.as_array(y_true, "y_true"))
    if sample_weight is not None:
        sample_weight = as_column(inputs.as_array(sample_weight, "sample_weight"))
    if truth.dtype.char in inputs.LABEL_TYPES and pos_label is None:
        return OrderedRows(inputs.as_labels(truth), scores, sample_weight, n_threads)
    if pos_label is not None:
        check_positive(truth, pos_label)
    return OrderedRows(labels.positive_mask(truth, pos_label), scores, sample_weight, n_threads)


def check_positive(truth: np.ndarray, pos_label: Any) -> None:
    """A label that may be one, of a column of labels."""
    if not isinstance(pos_label, (str, Real, np.bool_)):
        raise inputs.OptionError(f"pos_label must be a number, a bool, a text or None; found {pos_label!r}")
    if truth.dtype.kind in "biuUT":
        return
    kind = "continuous" if truth.dtype.kind == "f" and labels.has_fractions(truth, "y_true") else "multiclass"
    if truth.dtype.kind != "f":
        kind = labels.kind_of_target(truth, "y_true")
    if kind not in ("binary", "multiclass"):
        raise ValueError(f"y_true must be labels; found a {kind} target, which is not supported here")


def are_short(y_true: Any, y_score: Any, *others: Any) -> bool:
    """Arrays of few rows, and no other argument: what `shortcurves.pyx` may know a shorter way for."""
    for other in others:
        if other is not None:
            return False
    return type(y_true) is np.ndarray and type(y_score) is np.ndarray and y_score.size <= MOST_SHORT


def as_column(array: np.ndarray) -> np.ndarray:
    """A table of one column is a column."""
    return array.reshape(-1) if array.ndim == 2 and array.shape[1] == 1 else array


class SortedClasses(NamedTuple):
    """Keys range by range, in a range the negatives first, each class ascending; bounds are (start, middle, stop).

    Ranges ascend too. `first_steps` has the rows of each class at the greatest score of every range.
    """

    keys: np.ndarray
    bounds: list[tuple[int, int, int]]
    first_steps: list[tuple[int, int]]


class Curve(NamedTuple):
    """What `points.pyx` writes for every point, and the score of each."""

    thresholds: np.ndarray
    x: np.ndarray
    y: np.ndarray


class OrderedRows:
    """Checked rows of one call.

    Parameters
    ----------
    y_true : ndarray
        Of a type that the kernels decode: 0 and 1, or -1 and +1.
    scores : ndarray of float32 or float64
        NaN is found when they are sorted.
    sample_weight : array-like, optional
        Rows of weight zero are left out at once.
    """

    def __init__(
        self, y_true: np.ndarray, scores: np.ndarray, sample_weight: Any = None, n_threads: int | None = None
    ) -> None:
        inputs.check_lengths(y_true.shape[0], scores.shape[0], "y_true", "y_score")
        if n_threads is not None:
            count_threads(n_threads)
        self.n_threads = n_threads
        self.labels = y_true
        self.scores = scores
        self.weights: np.ndarray | None = None
        self.known: dict[Any, Any] = {}
        # Statistics that are soon to be asked for: one sweep makes all of them, where rows have no weights.
        self.together: tuple[Any, ...] = ()
        self.sorted: SortedClasses | None = None
        self.buckets: ScoreBuckets | None = None
        self.cumulated: Curve | None = None  # of rows with weights: all points, descending
        self.missed: np.ndarray = np.empty(0)  # and the weight of the positives below each
        self.gains: np.ndarray | None = None  # with weights: has a positive this score? A rounded rate need not show it
        if sample_weight is not None:
            self.labels, self.scores, self.weights = present_rows(y_true, scores, sample_weight)

    @property
    def rows(self) -> int:
        return int(self.labels.shape[0])

    @property
    def is_small(self) -> bool:
        """Is one range enough, and one thread?"""
        return self.rows <= SERIAL_ROWS

    def totals(self) -> ClassTotals:
        """Rows of each class; with weights also those."""
        if "totals" not in self.known:
            self.known["totals"] = self.count_classes()
        totals: ClassTotals = self.known["totals"]
        return totals

    def count_classes(self) -> ClassTotals:
        if self.weights is not None:
            positives = int(np.count_nonzero(self.labels))
            chosen = self.labels.view(bool)
            by_class = [weighted.sum_weights(self.weights[own]) for own in (~chosen, chosen)]
            return ClassTotals(self.rows - positives, positives, *by_class)
        if self.is_small:
            ((_, middle, stop),) = self.sort().bounds
            return ClassTotals(middle, stop - middle)
        return ClassTotals(*self.bucket().class_counts().sum(0).tolist())

    def bucket(self) -> ScoreBuckets:
        """Rows by range of scores."""
        if self.buckets is None:
            self.buckets = bucket_columns(self.labels, self.scores, count_threads(self.n_threads))
        return self.buckets

    def sort(self) -> SortedClasses:
        """Both classes sorted, range by range; without weights."""
        if self.sorted is None:
            if self.is_small:
                self.sorted = sort_small(self.labels, self.scores)
            else:
                self.sorted = sort_buckets(self.bucket(), count_threads(self.n_threads))
        return self.sorted

    def sweep(self, *statistics: Any) -> list[Any]:
        """The states of statistics by score, over all rows."""
        missing = [statistic for statistic in statistics if statistic not in self.known]
        if missing:
            if self.weights is None:
                missing += [statistic for statistic in self.together if statistic not in {*self.known, *missing}]
            self.known.update(self.compute(missing))
        return [self.known[statistic] for statistic in statistics]

    def compute(self, statistics: list[Any]) -> dict[Any, Any]:
        if self.weights is not None:
            return sweep_with_weights(statistics, self.labels, self.scores, self.weights, self.n_threads)
        if self.is_small:
            own = self.sort()
            place = Place(self.totals(), NOTHING)
            return {
                statistic: statistic.of_steps(small_steps(own, place.totals, statistic), place)
                for statistic in statistics
            }
        return sweep_buckets(statistics, self.bucket(), count_threads(self.n_threads))

    def curve(self, kind: int) -> Curve:
        """All points of a curve, or its corners: COUNTS and CORNERS descending in score, other kinds ascending."""
        descending = kind in (points.COUNTS, points.CORNERS)
        if self.weights is not None:
            inputs.check_some_weight(self.weights)
            return self.weighted_curve(kind, descending, self.weights)
        own = self.sort()
        totals = self.totals()
        if len(own.bounds) == 1:
            ((start, middle, stop),) = own.bounds
            n = points.count_points(own.keys, start, middle, stop, kind, True, 0, 0)
            curve = np.empty((3, n))
            points.write_points(
                own.keys, start, middle, stop, kind, 0, 0, totals.negatives, totals.positives, True, 0, 0, curve[0],
                curve[1], curve[2], 0 if descending else n - 1, 1 if descending else -1,
            )  # fmt: skip
            return Curve(curve[0], curve[1], curve[2])
        return curve_of_ranges(own, totals, kind, descending, count_threads(self.n_threads))

    def weighted_curve(self, kind: int, descending: bool, weights: np.ndarray) -> Curve:
        if self.cumulated is None:
            keys = by_score.ordered_keys(self.scores)
            sweep = sweep_weighted(weighted.split_classes(self.labels.view(bool), keys, weights))
            fps, tps, self.missed = sweep.floats()
            self.gains = sweep.positives != 0
            self.cumulated = Curve(sweep.scores.astype(np.float64), fps, tps)
        thresholds, fps, tps = (own.copy() for own in self.cumulated)
        if kind == points.CORNERS:
            kept = corners(fps, tps)
            thresholds, fps, tps = thresholds[kept], fps[kept], tps[kept]
        if descending:
            return Curve(thresholds, fps, tps)
        thresholds, fps, tps = thresholds[::-1], fps[::-1], tps[::-1]
        if kind == points.PRECISION_RECALL:
            with np.errstate(invalid="ignore"):  # no positive row: recall is NaN
                return Curve(thresholds, tps / (tps + fps), tps / tps[0])
        return Curve(thresholds, fps / fps[0], self.missed[::-1] / tps[0])


def corners(fps: np.ndarray, tps: np.ndarray) -> np.ndarray:
    """Which points are kept: the ends, and those where the step after is not the step before."""
    if len(fps) <= 2:
        return np.ones(len(fps), bool)
    turns = (np.diff(fps, 2) != 0) | (np.diff(tps, 2) != 0)
    return np.concatenate(([True], turns, [True]))


def present_rows(
    labels: np.ndarray, scores: np.ndarray, sample_weight: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, scores and weights of the rows whose weight is not zero, all checked."""
    weights = inputs.as_weights(sample_weight, labels.shape[0])
    decoded = inputs.decode_labels(labels)
    if np.isnan(scores).any():
        inputs.raise_nan(scores, "y_score")
    present = weights > 0
    if present.all():
        return decoded, scores, weights
    return decoded[present], scores[present], weights[present]


def sweep_with_weights(
    statistics: list[Any], labels: np.ndarray, scores: np.ndarray, weights: np.ndarray, n_threads: int | None
) -> dict[Any, Any]:
    if labels.shape[0] == 0:
        return {statistic: statistic.empty() for statistic in statistics}
    if labels.shape[0] <= SERIAL_ROWS:
        rows = weighted.split_classes(labels.view(bool), by_score.ordered_keys(scores), weights)
        classes = rows.negatives, rows.positives
        totals = ClassTotals(*(len(keys) for keys, _ in classes), *(weighted.sum_weights(own) for _, own in classes))
        return {statistic: statistic.of_weighted(rows, Place(totals, NOTHING)) for statistic in statistics}
    store = store_of(Columns((labels,), (scores,), weights))
    states = resolve_scores(ScoreWork(store, View(0, 0), True, statistics, count_threads(n_threads)))
    return {statistic: states[statistic, None] for statistic in statistics}


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


def sort_buckets(buckets: ScoreBuckets, n_threads: int) -> SortedClasses:
    """Every bucket copied together and sorted while it is in cache."""
    counts = buckets.class_counts()
    ends = np.cumsum(counts.reshape(-1)).tolist()
    starts = [0, *ends[:-1]]
    bounds = list(zip(starts[::2], ends[::2], ends[1::2], strict=True))
    keys = np.empty(ends[-1], buckets.key_type)
    first_steps = [(0, 0)] * len(bounds)

    def make_worker() -> Callable[[int], None]:
        def sort(bucket: int) -> None:
            start, middle, stop = bounds[bucket]
            for label, own in enumerate((keys[start:middle], keys[middle:stop])):
                steps.gather_class(buckets.addresses, buckets.offsets, 2 * bucket + label, own)
                own.sort()
            first_steps[bucket] = points.first_step(keys, start, middle, stop)

        return sort

    for_each(len(bounds), make_worker, n_threads)
    return SortedClasses(keys, bounds, first_steps)


def sort_small(labels: np.ndarray, scores: np.ndarray) -> SortedClasses:
    """One range of all rows."""
    rows = labels.shape[0]
    decoded = inputs.decode_labels(labels)
    work = np.empty(2 * rows, np.uint64)
    negatives, has_nan = points.sort_classes(decoded, scores, work)
    if has_nan:
        inputs.raise_nan(scores, "y_score")
    keys = work if scores.dtype == np.float64 else work.view(np.uint32)
    return SortedClasses(keys[:rows], [(0, negatives, rows)], [(0, 0)])


def small_steps(own: SortedClasses, totals: ClassTotals, statistic: Any) -> Steps:
    """The steps of rows that are one sorted range."""
    pivot = 1 if statistic.needs_positives or totals.positives <= totals.negatives else 0
    n_pivots = totals.positives if pivot else totals.negatives
    counts = np.empty((3, n_pivots + 1), np.int64)
    keys = np.empty(n_pivots + 1, own.keys.dtype)
    middle = totals.negatives
    n = steps.steps_of_sorted(own.keys, middle, pivot, counts[0], counts[1], counts[2], keys)
    classes = own.keys[:middle], own.keys[middle:]
    rows = SortedRows(classes[pivot], classes[1 - pivot])
    return Steps(pivot, keys[:n], counts[0, :n], counts[1, :n], counts[2, : n + 1], totals, rows)


def curve_of_ranges(own: SortedClasses, totals: ClassTotals, kind: int, descending: bool, n_threads: int) -> Curve:
    """Range by range: first how many points each has, then the points, each at its place."""
    n_ranges = len(own.bounds)
    counts = np.zeros(n_ranges, np.int64)
    filled = [number for number in range(n_ranges) if own.bounds[number][2] > own.bounds[number][0]]
    below = dict(zip(filled[1:], filled[:-1], strict=True))
    following = {number: own.first_steps[below[number]] if number in below else (0, 0) for number in filled}

    def count(unit: int) -> None:
        number = filled[unit]
        is_first = number == filled[-1]
        counts[number] = points.count_points(own.keys, *own.bounds[number], kind, is_first, *following[number])

    for_each(len(filled), lambda: count, n_threads)
    n = int(counts.sum())
    curve = Curve(np.empty(n), np.empty(n), np.empty(n))
    before = (counts[::-1].cumsum()[::-1] - counts) if descending else counts.cumsum() - 1
    places = before.tolist()
    rows = np.array([(middle - start, stop - middle) for start, middle, stop in own.bounds], np.int64)
    above: list[tuple[int, int]] = [(one, two) for one, two in (rows[::-1].cumsum(0)[::-1] - rows).tolist()]

    def write(unit: int) -> None:
        number = filled[unit]
        points.write_points(
            own.keys, *own.bounds[number], kind, *above[number], totals.negatives, totals.positives,
            number == filled[-1], *following[number], curve.thresholds, curve.x, curve.y, places[number],
            1 if descending else -1,
        )  # fmt: skip

    for_each(len(filled), lambda: write, n_threads)
    return curve
