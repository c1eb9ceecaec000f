"""Statistics of segments: what every metric of text is cut into, and how they are counted, added and kept.

A metric is an object that turns a block of segments into rows of integers (`new_counter().count`), adds rows to a state
(`new`, `add`), and makes a result of a state (`score`). Corpora, single segments, files, batches and bootstrap samples
all go through these, hence give the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeGuard

import numpy as np

from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.rows import Fresh, Scratch
from fastmetrics._core.statistic import Sums
from fastmetrics.metrics.text.segments import Segments
from fastmetrics.metrics.text.words import GIVEN

SERIAL_UNITS = 2  # of so many units, one thread is faster than two

Progress = Callable[[int, int], None]


def told_together(progress: Progress | None, n_segments: int) -> Callable[[int], None]:
    """Takes how many segments more are done, from any thread, and tells of all of them."""
    if progress is None:
        return lambda more: None
    from threading import Lock

    lock, done, tell = Lock(), 0, progress

    def report(more: int) -> None:
        nonlocal done
        with lock:
            done += more
            tell(done, n_segments)

    return report


class Counter(Protocol):
    """One thread's memory and what it knows of words."""

    def count(self, block: Any, out: np.ndarray) -> None:
        """Fill out[n_segments, n_columns] (int64) with the statistics of a block."""


class TextMetric(Protocol):
    """What a metric of text offers."""

    @property
    def name(self) -> str: ...

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the integers of a segment."""

    def new_counter(self) -> Counter: ...

    def new(self) -> Sums:
        """The state of no segments."""

    def add(self, sums: Sums, counts: np.ndarray) -> None:
        """Add rows of statistics, int64[n, n_columns], to a state."""

    def score(self, sums: Sums, n_references: int) -> Any:
        """The result of a state; n_references goes into its signature."""


class CorpusMetric(TextMetric, Protocol):
    """A metric whose statistics of one segment depend on all segments: it counts a corpus itself."""

    def count_corpus(
        self, source: Source, n_threads: int | None, by_segment: bool, progress: Progress | None = None
    ) -> tuple[Any, np.ndarray]:
        """Rows of statistics: of every segment, or one of their sums; and the metric that knows what they rest on."""


def counts_corpora(metric: Any) -> TypeGuard[CorpusMetric]:
    """Asked at every call: a protocol that looks for itself would take longer than a sentence."""
    return hasattr(metric, "count_corpus")


class Source(Protocol):
    """Where segments come from: lists in memory, files."""

    @property
    def n_units(self) -> int: ...

    def bounds(self, unit: int) -> tuple[int, int]: ...

    def load(self, unit: int, scratch: Scratch, known: dict[Any, int]) -> Any: ...

    def __len__(self) -> int: ...


def count_units(
    metric: TextMetric,
    source: Source,
    n_threads: int | None,
    take: Callable[[int, np.ndarray], None],
    progress: Progress | None = None,
) -> None:
    """Call take(unit, counts) for every unit of a source; counts are good until the call returns."""
    most_threads = count_threads(n_threads)
    report = told_together(progress, len(source))

    def make_worker() -> Callable[[int], None]:
        scratch, counter = Scratch(), metric.new_counter()
        known: dict[Any, int] = {}

        def work(unit: int) -> None:
            start, stop = source.bounds(unit)
            block = source.load(unit, scratch, known)
            counts = scratch.take("counts", np.int64, (stop - start) * len(metric.columns))
            counts = counts.reshape(stop - start, len(metric.columns))
            counter.count(block, counts)
            take(unit, counts)
            report(stop - start)

        return work

    for_each(source.n_units, make_worker, most_threads if source.n_units > SERIAL_UNITS else 1)


def count_segments(metric: TextMetric, source: Source, n_threads: int | None = None) -> np.ndarray:
    """The statistics of every segment, int64[n_segments, n_columns]."""
    if counts_corpora(metric):
        return metric.count_corpus(source, n_threads, True)[1]
    out = np.empty((len(source), len(metric.columns)), np.int64)

    def take(unit: int, counts: np.ndarray) -> None:
        start, stop = source.bounds(unit)
        out[start:stop] = counts

    count_units(metric, source, n_threads, take)
    return out


def total(
    metric: TextMetric, source: Source, n_threads: int | None = None, progress: Progress | None = None
) -> Sums:
    """The state of all segments; memory does not grow with their number."""
    n_threads = count_threads(n_threads)
    sums = metric.new()
    if counts_corpora(metric):
        metric.add(sums, metric.count_corpus(source, n_threads, False, progress)[1])
        return sums
    if source.n_units == 1:
        # A single sentence is scored in loops: nothing to start, nothing to lock.
        counts = np.empty((len(source), len(metric.columns)), np.int64)
        metric.new_counter().count(source.load(0, Fresh(), {}), counts)
        metric.add(sums, counts)
        if progress is not None:
            progress(len(source), len(source))
        return sums
    from threading import Lock

    lock = Lock()

    def take(unit: int, counts: np.ndarray) -> None:
        with lock:
            metric.add(sums, counts)

    count_units(metric, source, n_threads, take, progress)
    return sums


def prepared(metric: Any, segments: Segments) -> Any:
    """The metric as these segments want it, and the segments as the metric wants them."""
    if segments.is_tokens and "tokenize" in metric._fields:
        metric = metric._replace(tokenize=GIVEN)
    segments.lowercase = metric.lowercase
    return metric


def score_corpus(metric: Any, segments: Segments, n_threads: int | None) -> Any:
    """The result of a metric for segments in memory."""
    metric = prepared(metric, segments)
    return metric.score(total(metric, segments, n_threads), segments.n_references)


class SegmentStatistics:
    """Integer statistics of every segment of a corpus: any part of it is scored without another look at its text.

    Attributes
    ----------
    counts : ndarray of int64, shape (n_segments, n_columns)
        A row for every segment.
    columns : tuple of str
        What the columns are.
    n_references : int
        References of every segment; -1 where their number varies.
    """

    def __init__(self, metric: TextMetric, counts: np.ndarray, n_references: int) -> None:
        self.metric = metric
        self.counts = counts
        self.n_references = n_references

    @property
    def columns(self) -> tuple[str, ...]:
        return self.metric.columns

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def __repr__(self) -> str:
        return f"SegmentStatistics({self.metric.name}: {len(self):,} segments, columns {', '.join(self.columns)})"

    def __getitem__(self, rows: Any) -> SegmentStatistics:
        """Some segments only: a slice, a mask, or indices, which may repeat (a bootstrap sample)."""
        if isinstance(rows, (tuple, list, range)):
            rows = np.array(rows) if len(rows) else np.empty(0, np.int64)
        counts = np.atleast_2d(self.counts[rows])
        if counts.ndim != 2 or rows is None:
            raise IndexError(f"segments are in one dimension: an index, a slice, a mask or indices; found {rows!r}")
        return SegmentStatistics(self.metric, counts, self.n_references)

    def __add__(self, other: SegmentStatistics) -> SegmentStatistics:
        """The segments of both: those of two parts of a corpus."""
        if not isinstance(other, SegmentStatistics):
            return NotImplemented
        if other.metric != self.metric:
            raise ValueError(f"statistics of different metrics do not merge: {self.metric} here, {other.metric} there")
        n_references = self.n_references if self.n_references == other.n_references else -1
        return SegmentStatistics(self.metric, np.concatenate([self.counts, other.counts]), n_references)

    def score(self) -> Any:
        """The corpus score of these segments: what the corpus function gives for their texts."""
        sums = self.metric.new()
        self.metric.add(sums, self.counts)
        return self.metric.score(sums, self.n_references)

    def scores(self) -> np.ndarray:
        """The score of every segment as if it were a corpus, float64."""
        return np.fromiter(self._each(), np.float64, len(self))

    def _each(self) -> Iterable[float]:
        for row in range(len(self)):
            sums = self.metric.new()
            self.metric.add(sums, self.counts[row : row + 1])
            yield float(self.metric.score(sums, self.n_references).score)
