"""Statistics of segments by the name of a metric."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fastmetrics._core import inputs
from fastmetrics.metrics.text.statistics import SegmentStatistics, count_segments, counts_corpora, prepared

__all__ = ["SegmentStatistics", "segment_statistics"]

# The modules that know a metric: each offers `make_metric(**options)` and `read(hypotheses, references)`.
MODULES = ("bleu", "chrf", "meteor", "nist", "rouge", "ter")


def segment_statistics(
    metric: str, hypotheses: Any, references: Any, *, n_threads: int | None = None, **options: Any
) -> SegmentStatistics:
    """Integer statistics of every segment: the texts are looked at once, then any part of the corpus can be scored.

    Bootstrap samples, paired tests, documents and merged parts of a corpus all are rows of these statistics:
    `score()` is what the corpus function gives for the segments that are left.

    Parameters
    ----------
    metric : {"bleu", "chrf", "meteor", "nist", "rouge", "ter"}
        The metric whose statistics are wanted.
    hypotheses, references : list
        As its corpus function takes them.
    n_threads : int, optional
        Threads to use; the result does not depend on it.
    **options
        Those of the corpus function.

    Returns
    -------
    SegmentStatistics
        With `counts` (int64, a row for every segment), `columns`, `score()` and `scores()`; indexed like an array,
        added where two parts of a corpus meet.

    Raises
    ------
    ValueError, TypeError
        As the corpus function.

    Notes
    -----
    Statistics of no segments have the score of an empty corpus.

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
    inputs.check_option(metric, "metric", MODULES)
    module = import_module(f"fastmetrics.metrics.text.{metric}")
    segments = module.read(hypotheses, references)
    check_names(metric, module.make_metric, options)
    made = prepared(module.make_metric(**options), segments)
    if counts_corpora(made):
        made, counts = made.count_corpus(segments, n_threads, True)
    else:
        counts = count_segments(made, segments, n_threads)
    return SegmentStatistics(made, counts, segments.n_references)


def check_names(metric: str, make_metric: Any, options: dict[str, Any]) -> None:
    """Are all of these options of the metric?"""
    from inspect import signature

    known = list(signature(make_metric).parameters)
    for name in options:
        if name not in known:
            raise TypeError(f"metric {metric!r} has no option {name!r}; it has {', '.join(known)}")
