"""Labels and scores of one call in the order of the scores: sorted once, for statistics and for curves.

There are three levels of order; each is computed at its first use and kept. Buckets of neighboring scores
(`range_exchange.py`) are enough for statistics that read runs (`range_reduction.py`): most sort one class only. Curves
need both classes sorted inside the buckets. With weights, all rows are sorted at once, and their weights are summed as
integers.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from fastmetrics._core.columns import class_labels, validation
from fastmetrics._core.columns.row_blocks import BLOCK_ROWS, SERIAL_ROWS, Output, RowBlock, block_bounds
from fastmetrics._core.columns.weights import as_weights_and_zeros, check_some_weight
from fastmetrics._core.exact import integer_sum
from fastmetrics._core.exchange import range_exchange, weighted_ranges
from fastmetrics._core.exchange.range_exchange import ScoreBuckets
from fastmetrics._core.exchange.range_reduction import RangeReduction, reduce_ranges, store_columns, sweep_buckets
from fastmetrics._core.exchange.runs import NO_ROWS, ClassTotals, RangePosition, RangeStatistic, SortedRuns
from fastmetrics._core.exchange.weighted_sweep import (
    WeightedCurve,
    WeightedPoints,
    WeightedRates,
    weighted_runs,
    write_rates,
)
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._kernels.columns import column_checks
from fastmetrics._kernels.sweep import curve_points, short_curves, threshold_sweep, weighted_sweep

MOST_SHORT: int = short_curves.MAX_ROWS


def order_rows(
    y_true: Any,
    y_score: Any,
    pos_label: Any = None,
    sample_weight: Any = None,
    n_threads: int | None = None,
    *,
    allow_infinite: bool = True,
) -> OrderedRows:
    """The rows of a public function's arguments, checked.

    Without `pos_label`, labels are 0 and 1, or -1 and +1. With it, labels are of any kind, and `pos_label` is positive.
    """
    scores = validation.as_scores(as_column(validation.as_array(y_score, "y_score")))
    allow_infinite = check_infinities(scores, sample_weight, allow_infinite, n_threads)
    truth = as_column(validation.as_array(y_true, "y_true"))
    if sample_weight is not None:
        sample_weight = as_column(validation.as_array(sample_weight, "sample_weight"))
    if truth.dtype.char in validation.LABEL_TYPES and pos_label is None:
        return OrderedRows(validation.as_labels(truth), scores, sample_weight, n_threads, allow_infinite)
    class_labels.check_no_bytes(truth, "y_true")
    if pos_label is not None:
        check_positive(truth, pos_label)
    return OrderedRows(class_labels.positive_mask(truth, pos_label), scores, sample_weight, n_threads, allow_infinite)


def check_infinities(scores: np.ndarray, sample_weight: Any, allow_infinite: bool, n_threads: int | None) -> bool:
    """Check that no score is infinite, unless that is allowed. Returns False if `OrderedRows` has to check it.

    It does for a column that it reads in blocks: each is in cache when its scores are put into buckets.
    """
    if sample_weight is None and scores.ndim == 1 and scores.shape[0] > SERIAL_ROWS:
        validation.check_flag(allow_infinite, "allow_infinite")
        return allow_infinite
    validation.check_infinities(scores, allow_infinite, n_threads)
    return True


def check_positive(truth: np.ndarray, pos_label: Any) -> None:
    """Check that `pos_label` can be a label and that y_true is a column of labels."""
    if not isinstance(pos_label, (str, Real, np.bool_)):
        raise validation.OptionError(f"pos_label must be a number, a bool, a text or None; found {pos_label!r}")
    if truth.dtype.kind in "biuUT":
        return
    kind = "continuous" if truth.dtype.kind == "f" and class_labels.has_fractions(truth, "y_true") else "multiclass"
    if truth.dtype.kind != "f":
        kind = class_labels.type_of_target(truth, "y_true")
    if kind not in ("binary", "multiclass"):
        raise ValueError(f"y_true must be labels; found a {kind} target, which is not supported here")


def as_column(array: np.ndarray) -> np.ndarray:
    """The array, or the only column of a table."""
    return array.reshape(-1) if array.ndim == 2 and array.shape[1] == 1 else array


class SortedClasses(NamedTuple):
    """Keys of ranges of scores in ascending order; in each range the negatives first, each class ascending.

    `bounds` are (start, middle, stop) of each range; its positives begin at middle. `top_counts` are the rows of each
    class at the greatest score of each range.
    """

    keys: np.ndarray
    bounds: list[tuple[int, int, int]]
    top_counts: list[tuple[int, int]]


class Curve(NamedTuple):
    """The points of a curve, as `curve_points.pyx` writes them, and the score of each point."""

    thresholds: np.ndarray
    x: np.ndarray
    y: np.ndarray


class OrderedRows:
    """The checked rows of one call.

    Parameters
    ----------
    y_true : ndarray
        0 and 1, or -1 and +1, of a type that the kernels decode.
    scores : ndarray of float32 or float64
        NaN raises an error when the scores are sorted.
    sample_weight : array-like, optional
        Rows of weight zero are left out.
    n_threads : int, optional
        Threads to use; by default all that this process may use.
    allow_infinite : bool
        False: infinite scores raise an error where scores are put into buckets, that is of more than SERIAL_ROWS rows
        without weights.
    """

    def __init__(
        self,
        y_true: np.ndarray,
        scores: np.ndarray,
        sample_weight: Any = None,
        n_threads: int | None = None,
        allow_infinite: bool = True,
    ) -> None:
        validation.check_lengths(y_true.shape[0], scores.shape[0], "y_true", "y_score")
        if n_threads is not None:
            count_threads(n_threads)
        self.n_threads = n_threads
        self.allow_infinite = allow_infinite
        self.labels = y_true
        self.scores = scores
        self.weights: np.ndarray | None = None
        self.cache: dict[Any, Any] = {}  # the class totals, and states by statistic
        # Statistics that will be needed too: without weights, the first sweep computes all of them. With weights, the
        # first curve has what all curves need.
        self.expected_statistics: tuple[Any, ...] = ()
        self.sorted: SortedClasses | None = None
        self.buckets: ScoreBuckets | None = None
        self.weighted_points: WeightedPoints | None = None
        self.has_positive: np.ndarray | None = None  # of weighted rows: has a positive the score of an ascending point?
        if sample_weight is not None:
            self.labels, self.scores, self.weights = drop_zero_weight_rows(y_true, scores, sample_weight, n_threads)

    @property
    def rows(self) -> int:
        return int(self.labels.shape[0])

    @property
    def is_small(self) -> bool:
        """Are one range and one thread enough?"""
        return self.rows <= SERIAL_ROWS

    def totals(self) -> ClassTotals:
        """Rows of each class, and their weights if rows have weights."""
        if "totals" not in self.cache:
            self.cache["totals"] = self.count_classes()
        totals: ClassTotals = self.cache["totals"]
        return totals

    def class_rows(self) -> tuple[int, int]:
        """Rows of each class."""
        if self.weights is None:
            totals = self.totals()
            return totals.negatives, totals.positives
        positives = int(np.count_nonzero(self.labels))
        return self.rows - positives, positives

    def count_classes(self) -> ClassTotals:
        if self.weights is not None:
            is_positive = self.labels.view(bool)
            weights = [integer_sum(self.weights[mask]) for mask in (~is_positive, is_positive)]
            return ClassTotals(*self.class_rows(), *weights)
        if self.is_small:
            ((_, middle, stop),) = self.sort().bounds
            return ClassTotals(middle, stop - middle)
        return ClassTotals(*self.bucket().class_counts().sum(0).tolist())

    def bucket(self) -> ScoreBuckets:
        """The rows in buckets of neighboring scores."""
        if self.buckets is None:
            threads = count_threads(self.n_threads)
            self.buckets = bucket_columns(self.labels, self.scores, threads, self.allow_infinite)
        return self.buckets

    def sort(self) -> SortedClasses:
        """Both classes sorted inside ranges of scores, without weights."""
        if self.sorted is None:
            if self.is_small:
                self.sorted = sort_small(self.labels, self.scores)
            else:
                self.sorted = sort_buckets(self.bucket(), count_threads(self.n_threads))
        return self.sorted

    def sweep(self, *statistics: Any) -> list[Any]:
        """The states of score statistics over all rows."""
        missing = [statistic for statistic in statistics if statistic not in self.cache]
        if missing:
            if self.weights is None:
                missing += [own for own in self.expected_statistics if own not in {*self.cache, *missing}]
            self.cache.update(self.compute(missing))
        return [self.cache[statistic] for statistic in statistics]

    def compute(self, statistics: list[RangeStatistic]) -> dict[Any, Any]:
        if self.weights is not None:
            return sweep_with_weights(statistics, self.labels, self.scores, self.weights, self.n_threads)
        if self.is_small:
            keys = self.sort().keys
            position = RangePosition(self.totals(), NO_ROWS)
            runs = {cut: SortedRuns(keys, position.totals, position, cut) for cut in {own.cut for own in statistics}}
            return {statistic: statistic.find(runs[statistic.cut], position) for statistic in statistics}
        return sweep_buckets(statistics, self.bucket(), count_threads(self.n_threads))

    def curve(self, kind: int, n_more: int = 0) -> Curve:
        """All points of a curve, or its corners. COUNTS and CORNERS are descending in score, other kinds ascending.

        There is room for `n_more` points above the greatest score, which the caller fills.
        """
        descending = kind in (curve_points.COUNTS, curve_points.CORNERS)
        if self.weights is not None:
            check_some_weight(self.weights)
            return self.weighted_curve(kind, descending, n_more)
        classes = self.sort()
        totals = self.totals()
        if len(classes.bounds) == 1:
            ((start, middle, stop),) = classes.bounds
            whole = curve_points.CurveRange(classes.keys, start, middle, stop)
            n = whole.count(kind)
            curve = new_curve(n, n_more)
            first, step = (n_more, 1) if descending else (n - 1, -1)
            whole.write(kind, 0, 0, totals.negatives, totals.positives, *curve, first, step)
            return curve
        return curve_of_ranges(classes, totals, kind, descending, n_more, count_threads(self.n_threads))

    def weighted_curve(self, kind: int, descending: bool, n_more: int) -> Curve:
        if not self.expected_statistics:
            return self.only_weighted_curve(kind, n_more) if descending else self.only_weighted_rates(kind, n_more)
        points = self.weighted_points
        if points is None:
            statistic = WeightedCurve(self.rows, with_below=True)
            points = self.weighted_points = statistic.join(self.compute([statistic])[statistic])
        n_threads = 1 if self.is_small else count_threads(self.n_threads)
        if kind == curve_points.CORNERS and (corners := weighted_corners(points, n_more, n_threads)) is not None:
            return corners
        n = points.scores.shape[0]
        curve = new_curve(n, n_more)
        bounds = list(block_bounds(n))
        if descending:
            columns = [column[n_more:] for column in curve]

            def copy(number: int) -> None:
                own = slice(*bounds[number])
                for column, source in zip(columns, points[:3], strict=True):
                    column[own] = source[own]

            for_each(len(bounds), lambda: copy, n_threads)
            return curve
        totals = float(points.fps[-1]), float(points.tps[-1])
        self.has_positive = points.has_positive[::-1]

        def write(number: int) -> None:
            start, stop = bounds[number]
            own = [column[n - stop : n - start] for column in curve]
            write_rates(points.part(start, stop), kind == curve_points.ERROR_RATES, *totals, own)

        for_each(len(bounds), lambda: write, n_threads)
        return curve

    def only_weighted_rates(self, kind: int, n_more: int) -> Curve:
        """Rates in ascending order of score, if no other curve needs the points: they are written at once."""
        statistic = WeightedRates(self.rows, kind == curve_points.ERROR_RATES, n_more)
        columns, self.has_positive = statistic.join(self.compute([statistic])[statistic])
        return Curve(*columns)

    def only_weighted_curve(self, kind: int, n_more: int) -> Curve:
        """A curve in the order of the points, if no other curve needs them: their memory becomes that of the curve."""
        statistic = WeightedCurve(self.rows, False, n_more)
        points = statistic.join(self.compute([statistic])[statistic])
        if kind == curve_points.CORNERS:
            n_threads = 1 if self.is_small else count_threads(self.n_threads)
            corners = weighted_corners(points, n_more, n_threads)
            if corners is not None:
                return corners
        if points is statistic.columns:
            return Curve(*statistic.longer)
        return Curve(*(np.concatenate((np.empty(n_more), column)) for column in points[:3]))


def new_curve(n: int, n_more: int) -> Curve:
    return Curve(np.empty(n + n_more), np.empty(n + n_more), np.empty(n + n_more))


def weighted_corners(points: WeightedPoints, n_more: int, n_threads: int) -> Curve | None:
    """The corners of a curve of weighted rows; None if all points are corners.

    First their number is found in every block of points, then they are written.
    """
    columns = points[:3]
    bounds = list(block_bounds(points.scores.shape[0]))
    nothing = np.empty(0)
    counts = for_each(
        len(bounds),
        lambda: lambda number: weighted_sweep.write_corners(*columns, *bounds[number], nothing, nothing, nothing),
        n_threads,
    )
    if sum(counts) == points.scores.shape[0]:
        return None
    firsts = np.cumsum([n_more, *counts]).tolist()
    curve = new_curve(firsts[-1], 0)

    def write(number: int) -> None:
        own = slice(firsts[number], firsts[number + 1])
        weighted_sweep.write_corners(*columns, *bounds[number], *(column[own] for column in curve))

    for_each(len(bounds), lambda: write, n_threads)
    return curve


def drop_zero_weight_rows(
    labels: np.ndarray, scores: np.ndarray, sample_weight: Any, n_threads: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Check labels, scores and weights, and drop the rows of weight zero."""
    weights, n_zeros = as_weights_and_zeros(sample_weight, labels.shape[0], n_threads)
    decoded = validation.decode_labels(labels)
    if validation.any_not_finite(scores, n_threads) and np.isnan(scores).any():
        validation.raise_nan(scores, "y_score")
    if not n_zeros:
        return decoded, scores, weights
    kept = weights > 0
    return decoded[kept], scores[kept], weights[kept]


def sweep_with_weights(
    statistics: list[RangeStatistic], labels: np.ndarray, scores: np.ndarray, weights: np.ndarray, n_threads: int | None
) -> dict[Any, Any]:
    """The states of score statistics over weighted rows."""
    if labels.shape[0] == 0:
        return {statistic: statistic.empty() for statistic in statistics}
    if labels.shape[0] <= SERIAL_ROWS:
        rows = weighted_ranges.split_classes(labels.view(bool), range_exchange.ordered_keys(scores), weights)
        position = RangePosition(ClassTotals(*rows.counts, *rows.class_weights()), NO_ROWS)
        runs = weighted_runs(rows, {own.cut for own in statistics})
        return {statistic: statistic.find(runs[statistic.cut], position) for statistic in statistics}
    store = store_columns(RowBlock((labels,), (scores,), weights))
    states = reduce_ranges(RangeReduction(store, Output(0, 0), True, statistics, count_threads(n_threads)))
    return {statistic: states[statistic, None] for statistic in statistics}


def bucket_columns(
    y_true: np.ndarray, y_score: np.ndarray, n_threads: int, allow_infinite: bool = True
) -> ScoreBuckets:
    """Two whole columns in buckets of neighboring scores. Checks labels and scores."""
    rows = y_true.shape[0]
    bounds = list(block_bounds(rows))
    splitter = range_exchange.split_scores(y_score[:: max(1, rows // range_exchange.SAMPLE)], rows)
    keys = np.empty(rows, f"u{y_score.dtype.itemsize}")
    label_kinds = np.zeros((len(bounds), 2), np.int64)
    blocks: list[Any] = [None] * len(bounds)
    has_nan: list[bool] = []
    may_be_infinite: list[bool] = []

    def make_worker() -> Callable[[int], None]:
        labels = np.empty(min(rows, BLOCK_ROWS), np.uint8)
        slots = np.empty(labels.shape[0], np.uint16)

        def reorder_block(number: int) -> None:
            start, stop = bounds[number]
            if not allow_infinite and column_checks.any_not_finite(y_score[start:stop]):
                may_be_infinite.append(True)
            column_checks.decode_labels(y_true, start, stop, labels, label_kinds[number])

            def allocate(name: str, dtype: np.dtype, length: int) -> np.ndarray:
                return keys[start:stop] if name == range_exchange.KEY else np.empty(length, dtype)

            blocks[number], is_nan = range_exchange.reorder_by_score(
                splitter, labels[: stop - start], y_score[start:stop], {}, slots, allocate
            )
            if is_nan:
                has_nan.append(True)

        return reorder_block

    for_each(len(bounds), make_worker, n_threads if rows > SERIAL_ROWS else 1)
    if may_be_infinite:
        validation.raise_infinity(y_score)
    validation.check_label_kinds(
        int(np.bitwise_or.reduce(label_kinds[:, 0])), lambda kind: validation.find_label(y_true, kind), "y_true"
    )
    if has_nan:
        validation.raise_nan(y_score, "y_score")
    return ScoreBuckets(blocks)


def sort_buckets(buckets: ScoreBuckets, n_threads: int) -> SortedClasses:
    """Copy every bucket together and sort its classes while it is in cache."""
    counts = buckets.class_counts()
    ends = np.cumsum(counts.reshape(-1)).tolist()
    starts = [0, *ends[:-1]]
    bounds = list(zip(starts[::2], ends[::2], ends[1::2], strict=True))
    keys = np.empty(ends[-1], buckets.key_type)

    def sort(bucket: int) -> tuple[int, int]:
        start, middle, stop = bounds[bucket]
        for label, class_keys in enumerate((keys[start:middle], keys[middle:stop])):
            threshold_sweep.gather_class(buckets.addresses, buckets.offsets, 2 * bucket + label, class_keys)
            class_keys.sort()
        return curve_points.count_top_tie(keys, start, middle, stop)

    top_counts = for_each(len(bounds), lambda: sort, n_threads)
    return SortedClasses(keys, bounds, top_counts)


def sort_small(labels: np.ndarray, scores: np.ndarray) -> SortedClasses:
    """Both classes sorted, all rows in one range."""
    rows = labels.shape[0]
    decoded = validation.decode_labels(labels)
    work = np.empty(2 * rows, np.uint64)
    negatives, has_nan = curve_points.sort_classes(decoded, scores, work)
    if has_nan:
        validation.raise_nan(scores, "y_score")
    keys = work if scores.dtype == np.float64 else work.view(np.uint32)
    return SortedClasses(keys[:rows], [(0, negatives, rows)], [(0, 0)])


def curve_of_ranges(
    classes: SortedClasses, totals: ClassTotals, kind: int, descending: bool, n_more: int, n_threads: int
) -> Curve:
    """The points of a curve over several ranges: first the number of points of each range, then the points."""
    bounds = classes.bounds
    n_points = np.zeros(len(bounds), np.int64)
    filled = [number for number, (start, _, stop) in enumerate(bounds) if stop > start]
    next_counts = [(0, 0), *(classes.top_counts[number] for number in filled[:-1])]
    ranges = [
        curve_points.CurveRange(classes.keys, *bounds[number], number == filled[-1], *below)
        for number, below in zip(filled, next_counts, strict=True)
    ]

    def count(index: int) -> None:
        n_points[filled[index]] = ranges[index].count(kind)

    for_each(len(filled), lambda: count, n_threads)
    n = int(n_points.sum())
    curve = new_curve(n, n_more)
    before = (n_more + n_points[::-1].cumsum()[::-1] - n_points) if descending else n_points.cumsum() - 1
    first_points = before.tolist()
    rows = np.array([(middle - start, stop - middle) for start, middle, stop in bounds], np.int64)
    above: list[tuple[int, int]] = [(one, two) for one, two in (rows[::-1].cumsum(0)[::-1] - rows).tolist()]

    def write(index: int) -> None:
        number = filled[index]
        ranges[index].write(
            kind, *above[number], totals.negatives, totals.positives, *curve, first_points[number],
            1 if descending else -1,
        )  # fmt: skip

    for_each(len(filled), lambda: write, n_threads)
    return curve
