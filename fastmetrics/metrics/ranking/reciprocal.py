"""How early the relevant rows come: reciprocal ranks, and models of a user who stops."""

from __future__ import annotations

from typing import Any

from fastmetrics._core import inputs
from fastmetrics.metrics.ranking import measures
from fastmetrics.metrics.ranking.lists import Given
from fastmetrics.metrics.ranking.precision import top_means
from fastmetrics.metrics.ranking.tables import enter_mean


def mean_reciprocal_rank(
    y_true: Any,
    y_score: Any,
    groups: Any = None,
    *,
    k: Any = None,
    offsets: Any = None,
    relevance_level: float = 1,
    ties: str = "average",
    empty: str = "zero",
    items: Any = None,
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> Any:
    """Mean reciprocal rank of the first relevant row.

    RR@k = 1 / rank of the first relevant row, 0 where that is below rank k; averaged over lists (E. M. Voorhees,
    1999, The TREC-8 question answering track report).

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
    >>> users = ["ann", "ann", "ann", "bob", "bob"]
    >>> fm.mean_reciprocal_rank([0, 1, 1, 1, 0], [0.9, 0.8, 0.7, 0.9, 0.8], users)
    0.75
    """
    return top_means(
        "mean_reciprocal_rank",
        "mrr",
        Given(y_true, y_score, groups, offsets, sample_weight),
        k,
        False,
        relevance_level,
        {},
        ties=ties,
        empty=empty,
        n_threads=n_threads,
        items=items,
    )


def mind_mrr(
    y_true: Any,
    y_score: Any,
    groups: Any = None,
    *,
    k: Any = None,
    offsets: Any = None,
    relevance_level: float = 1,
    ties: str = "average",
    empty: str = "zero",
    items: Any = None,
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> Any:
    """Reciprocal ranks of all relevant rows, averaged: what MIND calls MRR.

    sum over relevant rows of 1 / rank, over the number of relevant rows; averaged over lists (F. Wu et al., 2020,
    MIND: a large-scale dataset for news recommendation, ACL). The usual MRR looks at the first relevant row alone:
    mean_reciprocal_rank.

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
    >>> fm.mind_mrr([0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6], [7, 7, 7, 7])  # doctest: +ELLIPSIS
    0.416...
    """
    return top_means(
        "mind_mrr",
        "mind_mrr",
        Given(y_true, y_score, groups, offsets, sample_weight),
        k,
        False,
        relevance_level,
        {},
        ties=ties,
        empty=empty,
        n_threads=n_threads,
        items=items,
    )


def expected_reciprocal_rank(
    y_true: Any,
    y_score: Any,
    groups: Any = None,
    *,
    k: Any = None,
    max_grade: float = 4,
    offsets: Any = None,
    relevance_level: float = 1,
    ties: str = "average",
    empty: str = "zero",
    items: Any = None,
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> Any:
    """Expected reciprocal rank of the row at which a user stops.

    ERR@k = sum over ranks r of 1 / r times the probability to stop there, who stops at a row with probability R =
    (2^y_true - 1) / 2^max_grade if he got as far; averaged over lists (O. Chapelle et al., 2009, Expected reciprocal
    rank for graded relevance, CIKM).

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
    max_grade : float
        The greatest grade of the scale; y_true must not be above it.
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
        In [0, 1).

    Raises
    ------
    ValueError
        NaN or null in any column, relevance below zero, bad options, shapes that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.expected_reciprocal_rank([3, 0, 4], [0.9, 0.8, 0.7], [7, 7, 7])
    0.61328125
    """
    greatest = measures.check_max_grade(max_grade)

    return top_means(
        "expected_reciprocal_rank",
        "err",
        Given(y_true, y_score, groups, offsets, sample_weight),
        k,
        False,
        relevance_level,
        {"number": greatest},
        ties=ties,
        empty=empty,
        n_threads=n_threads,
        items=items,
    )


def rank_biased_precision(
    y_true: Any,
    y_score: Any,
    groups: Any = None,
    *,
    k: Any = None,
    p: float = 0.8,
    gain: str = "binary",
    offsets: Any = None,
    relevance_level: float = 1,
    ties: str = "average",
    empty: str = "zero",
    items: Any = None,
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> Any:
    """Rank-biased precision: gains met by a user who goes on with probability p.

    RBP@k = (1 - p) times the sum over the first k rows of gain p^(rank - 1), averaged over lists (A. Moffat and J.
    Zobel, 2008, Rank-biased precision for measurement of retrieval effectiveness, ACM TOIS 27(1)).

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
    p : float
        The probability to look at the next row; between 0 and 1.

    gain : {"linear", "exp2", "binary"}
        What a row is worth: y_true; 2**y_true - 1; 1 where y_true >= relevance_level.
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
        In [0, 1] with binary gains.

    Raises
    ------
    ValueError
        NaN or null in any column, relevance below zero, bad options, shapes that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.rank_biased_precision([1, 0, 1], [0.9, 0.8, 0.7], [7, 7, 7], p=0.5), 4)
    0.625
    """
    inputs.check_option(gain, "gain", tuple(measures.GAINS))
    persistence = measures.check_persistence(p)

    return top_means(
        "rank_biased_precision",
        "rbp",
        Given(y_true, y_score, groups, offsets, sample_weight),
        k,
        False,
        relevance_level,
        {"number": persistence, "gain": gain},
        ties=ties,
        empty=empty,
        n_threads=n_threads,
        items=items,
    )


enter_mean(
    "mrr",
    "Mean reciprocal rank of the first relevant row among the first k of a group.",
    mean_reciprocal_rank,
    cutoff=True,
)
enter_mean(
    "mind_mrr",
    "Reciprocal ranks of all relevant rows of a group, averaged: what MIND calls MRR.",
    mind_mrr,
    cutoff=True,
)
enter_mean(
    "err",
    "Expected reciprocal rank at k: of the row at which a user stops.",
    expected_reciprocal_rank,
    {"max_grade": (4, measures.check_max_grade)},
    cutoff=True,
    number="max_grade",
)
enter_mean(
    "rbp",
    "Rank-biased precision at k: gains met by a user who goes on with probability p.",
    rank_biased_precision,
    {"p": (0.8, measures.check_persistence), "gain": ("binary", tuple(measures.GAINS))},
    cutoff=True,
    number="p",
)
