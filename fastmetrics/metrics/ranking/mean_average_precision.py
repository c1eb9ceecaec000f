"""Average precision: the mean precision at the ranks of the relevant rows."""

from __future__ import annotations

from typing import Any

from fastmetrics._core import inputs
from fastmetrics.metrics.ranking import measures
from fastmetrics.metrics.ranking.lists import Given
from fastmetrics.metrics.ranking.precision import top_means
from fastmetrics.metrics.ranking.tables import enter_mean


def mean_average_precision(
    y_true: Any,
    y_score: Any,
    groups: Any = None,
    *,
    k: Any = None,
    normalize: str = "min",
    offsets: Any = None,
    relevance_level: float = 1,
    ties: str = "average",
    empty: str = "zero",
    items: Any = None,
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> Any:
    """Mean average precision: the mean precision at the ranks of the relevant rows.

    AP@k = sum over relevant rows among the first k of P@rank / min(k, R), with R relevant rows in the list; averaged
    over lists (C. Buckley and E. M. Voorhees, 2005, Retrieval system evaluation, in TREC: Experiment and evaluation
    in information retrieval, MIT Press). trec_eval's map_cut divides by R: normalize="relevant".

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n_lists, n_rows)
        Relevance of every row, none below zero.
    y_score : array-like of the shape of y_true
        Scores; float32 and float64 are read as they are, integers and float16 widened.
    groups : array-like of shape (n,), optional
        Keys of lists (queries, users): integers or strings, in any order. Without them lists are those of `offsets`, or
        the rows of two-dimensional arrays.
    k : int or sequence of int, optional
        Cutoff: rows below rank k do not count (None: all rows do). Of several, all are computed in one pass.
    normalize : {"min", "relevant", "k", "hits"}
        What the sum of precisions is divided by: the smaller of k and R, the number of relevant rows; R; k; the hits
        among the first k.
    offsets : array-like of shape (n_lists + 1,), optional
        List i has the rows offsets[i] to offsets[i + 1].
    relevance_level : float
        A row is relevant where its y_true is at least this; above 0.
    ties : {"average", "docid", "stable", "optimistic", "pessimistic"}
        What equal scores mean: the expected value over all orders of the tied rows; the greater item first, as
        trec_eval; the earlier row first; the more (less) relevant row first.
    empty : {"zero", "skip", "one", "nan", "raise"}
        What a list without a relevant row counts: 0, nothing, 1; or it makes the result NaN, or is an error.
    items : array-like of shape (n,), optional
        Ids of rows, each once in a list: integers (compared as numbers) or strings (by their bytes), for ties="docid".
    sample_weight : array-like, optional
        Weights of lists: of shape (n_lists,); with `groups` of shape (n,), the same for all rows of a group. A list of
        weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float, or numpy.ndarray of shape (len(k),) where k is a sequence
        In [0, 1].

    Raises
    ------
    ValueError
        NaN or null in any column, relevance below zero, bad options, shapes that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.mean_average_precision([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [7, 7, 7, 7]), 4)
    0.8333
    >>> labels, scores, users = [1, 0, 0, 1, 1, 1, 1], [7, 6, 5, 4, 3, 2, 1], ["ann"] * 7
    >>> rules = ("min", "relevant", "k", "hits")
    >>> [round(fm.mean_average_precision(labels, scores, users, k=3, normalize=rule), 3) for rule in rules]
    [0.333, 0.2, 0.333, 1.0]
    """
    inputs.check_option(normalize, "normalize", tuple(measures.NORMALIZE))

    return top_means(
        "mean_average_precision",
        "map",
        Given(y_true, y_score, groups, offsets, sample_weight),
        k,
        False,
        relevance_level,
        {"normalize": normalize},
        ties=ties,
        empty=empty,
        n_threads=n_threads,
        items=items,
    )


def average_precision_at_k(
    y_true: Any,
    y_score: Any,
    groups: Any = None,
    *,
    k: Any,
    normalize: str = "min",
    offsets: Any = None,
    relevance_level: float = 1,
    ties: str = "average",
    empty: str = "zero",
    items: Any = None,
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> Any:
    """Average precision at k, averaged over lists: mean_average_precision with a cutoff.

    AP@k = sum over relevant rows among the first k of P@rank / min(k, R), with R relevant rows in the list (C.
    Buckley and E. M. Voorhees, 2005, Retrieval system evaluation, in TREC: Experiment and evaluation in information
    retrieval, MIT Press).

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n_lists, n_rows)
        Relevance of every row, none below zero.
    y_score : array-like of the shape of y_true
        Scores; float32 and float64 are read as they are, integers and float16 widened.
    groups : array-like of shape (n,), optional
        Keys of lists (queries, users): integers or strings, in any order. Without them lists are those of `offsets`, or
        the rows of two-dimensional arrays.
    k : int or sequence of int
        Cutoff: rows below rank k do not count. Of several, all are computed in one pass.
    normalize : {"min", "relevant", "k", "hits"}
        What the sum of precisions is divided by: the smaller of k and R, the number of relevant rows; R; k; the hits
        among the first k.
    offsets : array-like of shape (n_lists + 1,), optional
        List i has the rows offsets[i] to offsets[i + 1].
    relevance_level : float
        A row is relevant where its y_true is at least this; above 0.
    ties : {"average", "docid", "stable", "optimistic", "pessimistic"}
        What equal scores mean: the expected value over all orders of the tied rows; the greater item first, as
        trec_eval; the earlier row first; the more (less) relevant row first.
    empty : {"zero", "skip", "one", "nan", "raise"}
        What a list without a relevant row counts: 0, nothing, 1; or it makes the result NaN, or is an error.
    items : array-like of shape (n,), optional
        Ids of rows, each once in a list: integers (compared as numbers) or strings (by their bytes), for ties="docid".
    sample_weight : array-like, optional
        Weights of lists: of shape (n_lists,); with `groups` of shape (n,), the same for all rows of a group. A list of
        weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float, or numpy.ndarray of shape (len(k),) where k is a sequence
        In [0, 1].

    Raises
    ------
    ValueError
        NaN or null in any column, relevance below zero, bad options, shapes that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.average_precision_at_k([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [7, 7, 7, 7], k=2)
    0.5
    """
    inputs.check_option(normalize, "normalize", tuple(measures.NORMALIZE))

    return top_means(
        "average_precision_at_k",
        "map",
        Given(y_true, y_score, groups, offsets, sample_weight),
        k,
        True,
        relevance_level,
        {"normalize": normalize},
        ties=ties,
        empty=empty,
        n_threads=n_threads,
        items=items,
    )


enter_mean(
    "map",
    "Mean average precision at k: the mean precision at the ranks of the relevant rows.",
    mean_average_precision,
    {"normalize": ("min", tuple(measures.NORMALIZE))},
    cutoff=True,
)
