"""Mean reciprocal rank: of the first relevant row, or of all of them as MIND defines it."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from fastmetrics.metrics.ranking.lists.list_metric import list_metric

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Cutoffs, Floats, Int, KeysLike, NumericArrayLike
    from fastmetrics._core.types.options import Empty, Ties

__all__ = ["mean_reciprocal_rank", "mind_mrr"]


@overload
def mean_reciprocal_rank(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Int | None = ...,
    offsets: NumericArrayLike | None = ..., relevance_level: float = ..., ties: Ties = ..., empty: Empty = ...,
    items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@overload
def mean_reciprocal_rank(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Cutoffs,
    offsets: NumericArrayLike | None = ..., relevance_level: float = ..., ties: Ties = ..., empty: Empty = ...,
    items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ..., n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@list_metric(
    "mrr",
    "Mean reciprocal rank of the first relevant row among the first k of a group.",
    variants=("mrr@2", "mrr(ties=pessimistic)"),
    aliases=("mean_reciprocal_rank", "reciprocal_rank", "recip_rank", "rr"),
)
def mean_reciprocal_rank(
    y_true: NumericArrayLike,
    y_score: NumericArrayLike,
    groups: KeysLike | None = None,
    *,
    k: Int | Cutoffs | None = None,
    offsets: NumericArrayLike | None = None,
    relevance_level: float = 1,
    ties: Ties = "average",
    empty: Empty = "zero",
    items: ArrayLike | None = None,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float | Floats:
    """Mean reciprocal rank of the first relevant row.

    RR@k = 1 / rank of the first relevant row, or 0 if its rank is greater than k; averaged over lists (E. M. Voorhees,
    1999, The TREC-8 question answering track report).

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n_lists, n_rows)
        Relevance grade of each row, at least 0.
    y_score : array-like of the shape of y_true
        Scores, higher for rows that come first. float32 and float64 are read without conversion; integers and float16
        are widened.
    groups : array-like of shape (n,), optional
        The key of each row's list (a query, a user): integers, strings, booleans, dates, times or floats, rows in any
        order; a DataFrame, an Arrow table or a dict of columns for keys of several columns. Without groups, `offsets`
        says where lists begin and end, or each row of a two-dimensional array is a list.
    k : int or sequence of int, optional
        Cutoff: only the first k rows of a list count; None: all rows. Several cutoffs are computed in one pass.
    offsets : array-like of shape (n_lists + 1,), optional
        List i is the rows offsets[i] up to, but not including, offsets[i + 1].
    relevance_level : float
        A row is relevant if its y_true is at least this level, which is above 0.
    ties : {"average", "docid", "stable", "optimistic", "pessimistic"}
        How rows of equal score count. "average": the expected value over all orders of the tied rows. "docid": the
        greater item id first (integers as numbers, strings by their bytes), as trec_eval does. "stable": the earlier
        row first. "optimistic": the more relevant row first. "pessimistic": the less relevant row first.
    empty : {"zero", "skip", "one", "nan", "raise"}
        A list without a relevant row. "zero": it counts as 0. "skip": it is left out. "one": it counts as 1. "nan": the
        result is NaN. "raise": it is an error.
    items : array-like of shape (n,), optional
        Item ids, needed for ties="docid": integers (compared as numbers) or strings (compared by their bytes). An id
        occurs once per list.
    sample_weight : array-like of shape (n_lists,) or (n,), optional
        Weights of lists, from 0 to 1e300, not all zero. With `groups`, one for each row, equal for all rows of a group.
        A list of weight zero is left out.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float, or numpy.ndarray of shape (len(k),) if k is a sequence
        In [0, 1].

    Raises
    ------
    ValueError
        A column has NaN or null, relevance is negative, an option is invalid, shapes differ, or there are no rows. The
        message names the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> users = ["ann", "ann", "ann", "bob", "bob"]
    >>> fm.mean_reciprocal_rank([0, 1, 1, 1, 0], [0.9, 0.8, 0.7, 0.9, 0.8], users)
    0.75
    """


@overload
def mind_mrr(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Int | None = ...,
    offsets: NumericArrayLike | None = ..., relevance_level: float = ..., ties: Ties = ..., empty: Empty = ...,
    items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@overload
def mind_mrr(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Cutoffs,
    offsets: NumericArrayLike | None = ..., relevance_level: float = ..., ties: Ties = ..., empty: Empty = ...,
    items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ..., n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@list_metric("mind_mrr", "Reciprocal ranks of all relevant rows of a group, averaged: what MIND calls MRR.")
def mind_mrr(
    y_true: NumericArrayLike,
    y_score: NumericArrayLike,
    groups: KeysLike | None = None,
    *,
    k: Int | Cutoffs | None = None,
    offsets: NumericArrayLike | None = None,
    relevance_level: float = 1,
    ties: Ties = "average",
    empty: Empty = "zero",
    items: ArrayLike | None = None,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float | Floats:
    """The mean reciprocal rank of all relevant rows: the MRR of the MIND evaluation.

    The sum over relevant rows of 1 / rank, divided by the number of relevant rows; averaged over lists (F. Wu et al.,
    2020, MIND: a large-scale dataset for news recommendation, ACL). The usual MRR uses only the first relevant row: see
    mean_reciprocal_rank.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n_lists, n_rows)
        Relevance grade of each row, at least 0.
    y_score : array-like of the shape of y_true
        Scores, higher for rows that come first. float32 and float64 are read without conversion; integers and float16
        are widened.
    groups : array-like of shape (n,), optional
        The key of each row's list (a query, a user): integers, strings, booleans, dates, times or floats, rows in any
        order; a DataFrame, an Arrow table or a dict of columns for keys of several columns. Without groups, `offsets`
        says where lists begin and end, or each row of a two-dimensional array is a list.
    k : int or sequence of int, optional
        Cutoff: only the first k rows of a list count; None: all rows. Several cutoffs are computed in one pass.
    offsets : array-like of shape (n_lists + 1,), optional
        List i is the rows offsets[i] up to, but not including, offsets[i + 1].
    relevance_level : float
        A row is relevant if its y_true is at least this level, which is above 0.
    ties : {"average", "docid", "stable", "optimistic", "pessimistic"}
        How rows of equal score count. "average": the expected value over all orders of the tied rows. "docid": the
        greater item id first (integers as numbers, strings by their bytes), as trec_eval does. "stable": the earlier
        row first. "optimistic": the more relevant row first. "pessimistic": the less relevant row first.
    empty : {"zero", "skip", "one", "nan", "raise"}
        A list without a relevant row. "zero": it counts as 0. "skip": it is left out. "one": it counts as 1. "nan": the
        result is NaN. "raise": it is an error.
    items : array-like of shape (n,), optional
        Item ids, needed for ties="docid": integers (compared as numbers) or strings (compared by their bytes). An id
        occurs once per list.
    sample_weight : array-like of shape (n_lists,) or (n,), optional
        Weights of lists, from 0 to 1e300, not all zero. With `groups`, one for each row, equal for all rows of a group.
        A list of weight zero is left out.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float, or numpy.ndarray of shape (len(k),) if k is a sequence
        In [0, 1].

    Raises
    ------
    ValueError
        A column has NaN or null, relevance is negative, an option is invalid, shapes differ, or there are no rows. The
        message names the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.mind_mrr([0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6], [7, 7, 7, 7])  # doctest: +ELLIPSIS
    0.416...
    """
