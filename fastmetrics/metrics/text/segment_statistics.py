"""`segment_statistics`: integer statistics of every segment, from which any subset of a corpus can be scored."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from fastmetrics._core.calls.words import ask_meant
from fastmetrics._core.columns import validation
from fastmetrics.metrics.text.text_metric import (
    CorpusMetric,
    FindsLostWords,
    TextMetric,
    count_segments,
    prepare_metric,
)

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, NumericArrayLike
    from fastmetrics._core.types.options import TextMetricName
    from fastmetrics.metrics.text.rouge_result import RougeResult
    from fastmetrics.metrics.text.text_metric import TextScore

__all__ = ["SegmentStatistics", "segment_statistics"]

# Modules of this package, one per metric: each has `make_metric(**options)` and `to_segments(hypotheses, references)`.
METRIC_MODULES = ("bleu", "chrf", "meteor", "nist", "rouge", "ter")


class SegmentStatistics:
    """Integer statistics of every segment of a corpus: any subset of segments is scored without reading texts again.

    Attributes
    ----------
    counts : ndarray of int64, shape (n_segments, n_columns)
        One row per segment.
    columns : tuple of str
        The names of the columns.
    n_references : int
        The number of references of every segment; -1 if it varies.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> statistics = fm.segment_statistics("bleu", ["a b c d e", "x y"], ["a b c d f", "x z"], tokenize="none")
    >>> round(statistics.score().score, 2), round(statistics[[0, 0]].score().score, 2)
    (61.48, 66.87)
    """

    def __init__(self, metric: TextMetric[Any], counts: np.ndarray, n_references: int) -> None:
        self.metric = metric
        self.counts = counts
        self.n_references = n_references

    @property
    def columns(self) -> tuple[str, ...]:
        return self.metric.columns

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SegmentStatistics):
            return NotImplemented
        is_same = (self.metric, self.n_references) == (other.metric, other.n_references)
        return is_same and np.array_equal(self.counts, other.counts)

    def __repr__(self) -> str:
        name = type(self.metric).__name__.lower()
        return f"SegmentStatistics({name}: {len(self):,} segments, columns {', '.join(self.columns)})"

    def __getitem__(self, rows: SupportsIndex | slice | NumericArrayLike) -> SegmentStatistics:
        """Select segments by a slice, a mask, or indices. Indices may repeat, as in a bootstrap sample."""
        index: Any = rows
        if isinstance(rows, (tuple, list, range)):
            index = np.array(rows) if len(rows) else np.empty(0, np.int64)
        counts = np.atleast_2d(self.counts[index])
        if counts.ndim != 2 or index is None:
            raise IndexError(f"select segments by one index, a slice, a mask or a list of indices; found {rows!r}")
        return SegmentStatistics(self.metric, counts, self.n_references)

    def __add__(self, other: SegmentStatistics) -> SegmentStatistics:
        """Concatenate the segments of two shards of a corpus."""
        if not isinstance(other, SegmentStatistics):
            return NotImplemented
        if other.metric != self.metric:
            raise ValueError(f"cannot add statistics of different metrics: {self.metric} and {other.metric}")
        n_references = self.n_references if self.n_references == other.n_references else -1
        return SegmentStatistics(self.metric, np.concatenate([self.counts, other.counts]), n_references)

    def score(self) -> TextScore | RougeResult:
        """The corpus score of these segments, equal to what the corpus function returns for their texts."""
        sums = self.metric.empty()
        self.metric.add(sums, self.counts)
        found: TextScore | RougeResult = self.metric.score(sums, self.n_references)
        return found

    def scores(self) -> np.ndarray:
        """The score of every segment, each scored as a corpus of its own: float64[n_segments]."""
        return np.fromiter((float(self[row].score().score) for row in range(len(self))), np.float64, len(self))


def segment_statistics(
    metric: TextMetricName,
    hypotheses: ArrayLike,
    references: ArrayLike,
    *,
    n_threads: int | None = None,
    **options: Any,
) -> SegmentStatistics:
    """Integer statistics of every segment: texts are read once, then any subset of the corpus can be scored.

    Bootstrap samples, paired tests, documents and merged shards of a corpus are all selections of these rows.
    `score()` equals what the corpus function returns for the selected segments.

    Parameters
    ----------
    metric : {"bleu", "chrf", "meteor", "nist", "rouge", "ter"}
        The metric whose statistics are counted.
    hypotheses, references : list
        In the forms that the metric's corpus function accepts.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.
    **options
        Options of the corpus function.

    Returns
    -------
    SegmentStatistics
        With `counts` (int64, one row per segment), `columns`, `score()` and `scores()`. Index it like an array; add two
        of them to join two shards of a corpus.

    Raises
    ------
    ValueError, TypeError
        As the corpus function raises them.

    Notes
    -----
    If no segment is selected, `score()` is that of an empty corpus.

    References
    ----------
    P. Koehn, Statistical significance tests for machine translation evaluation, EMNLP 2004.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> statistics = fm.segment_statistics("bleu", ["a b c d e", "x y"], ["a b c d f", "x z"], tokenize="none")
    >>> statistics.columns[:3]
    ('sys_len', 'ref_len', 'correct_1')
    >>> statistics.counts[:, :3].tolist()
    [[5, 5, 4], [2, 2, 1]]
    >>> round(statistics.score().score, 2), round(statistics[[0, 0]].score().score, 2)
    (61.48, 66.87)
    """
    validation.check_option(metric, "metric", METRIC_MODULES)
    module = import_module(f"fastmetrics.metrics.text.{metric}")
    segments = module.to_segments(hypotheses, references)
    check_option_names(metric, module.make_metric, options)
    text_metric = prepare_metric(module.make_metric(**options), segments)
    if isinstance(text_metric, CorpusMetric):
        text_metric, counts = text_metric.count_corpus(segments, n_threads, True)
    else:
        counts = count_segments(text_metric, segments, n_threads)
        if isinstance(text_metric, FindsLostWords):
            text_metric.warn_of_lost_words(counts, segments)
    return SegmentStatistics(text_metric, counts, segments.n_references)


def check_option_names(metric: str, make_metric: Any, options: dict[str, Any]) -> None:
    """Raise TypeError for a name that is not an option of the metric."""
    from inspect import signature

    allowed = list(signature(make_metric).parameters)
    for name in options:
        if name not in allowed:
            advice = ask_meant(name, [*allowed, "n_threads"]) or f"; it has {', '.join(allowed)}"
            raise TypeError(f"metric {metric!r} has no option {name!r}{advice}")
