"""Whether relevant rows stand above the others: bpref, and AUC of the top of a list."""

from __future__ import annotations

from typing import Any

from fastmetrics.metrics.ranking.lists import Given
from fastmetrics.metrics.ranking.precision import top_means
from fastmetrics.metrics.ranking.tables import enter_mean


def bpref(
    y_true: Any,
    y_score: Any,
    groups: Any = None,
    *,
    offsets: Any = None,
    relevance_level: float = 1,
    ties: str = "average",
    empty: str = "zero",
    items: Any = None,
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> Any:
    """Binary preference: how rarely judged irrelevant rows stand above relevant ones.

    bpref = 1 / R times the sum over relevant rows of 1 - min(irrelevant rows above, R) / min(R, N), with R relevant
    and N irrelevant rows in the list; averaged over lists (C. Buckley and E. M. Voorhees, 2004, Retrieval evaluation
    with incomplete information, SIGIR; this form is trec_eval's). All rows are judged here; see evaluate_ranking for
    those that are not.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n_lists, n_rows)
        Relevance of every row, none below zero.
    y_score : array-like of the shape of y_true
        Scores; float32 and float64 are read as they are, integers and float16 widened.
    groups : array-like of shape (n,), optional
        Keys of lists (queries, users): integers or strings, in any order. Without them lists are those of `offsets`, or
        the rows of two-dimensional arrays.
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
    >>> fm.bpref([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [7, 7, 7, 7])
    0.75
    """
    return top_means(
        "bpref",
        "bpref",
        Given(y_true, y_score, groups, offsets, sample_weight),
        None,
        False,
        relevance_level,
        {},
        ties=ties,
        empty=empty,
        n_threads=n_threads,
        items=items,
    )


def auc_at_k(
    y_true: Any,
    y_score: Any,
    groups: Any = None,
    *,
    k: Any,
    offsets: Any = None,
    relevance_level: float = 1,
    ties: str = "average",
    empty: str = "zero",
    items: Any = None,
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> Any:
    """AUC of each list where all rows below rank k count as tied.

    Pairs of a relevant and another row of a list, won where the relevant one is among the first k and above, half won
    where they tie or are both below rank k, over all pairs; averaged over lists. This is AUC@k of the library
    implicit. Lists that lack one of the two kinds are empty.

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
    offsets : array-like of shape (n_lists + 1,), optional
        List i has the rows offsets[i] to offsets[i + 1].
    relevance_level : float
        A row is relevant where its y_true is at least this; above 0.
    ties : {"average", "docid", "stable", "optimistic", "pessimistic"}
        What equal scores mean: the expected value over all orders of the tied rows; the greater item first, as
        trec_eval; the earlier row first; the more (less) relevant row first.
    empty : {"zero", "skip", "one", "nan", "raise"}
        What a list without both kinds of rows counts: 0, nothing, 1; or it makes the result NaN, or is an error.
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
    >>> fm.auc_at_k([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [7, 7, 7, 7], k=2)
    0.625
    """
    return top_means(
        "auc_at_k",
        "auc",
        Given(y_true, y_score, groups, offsets, sample_weight),
        k,
        True,
        relevance_level,
        {},
        ties=ties,
        empty=empty,
        n_threads=n_threads,
        items=items,
    )


enter_mean(
    "bpref",
    "Binary preference: how rarely irrelevant rows of a group stand above relevant ones.",
    bpref,
)
enter_mean(
    "auc",
    "AUC of each group where all rows below rank k count as tied, averaged.",
    auc_at_k,
    cutoff="required",
)
