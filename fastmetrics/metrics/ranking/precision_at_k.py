"""Precision and recall at k, and F1, their harmonic mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from fastmetrics.metrics.ranking.lists.list_metric import list_metric

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Cutoffs, Floats, Int, KeysLike, NumericArrayLike
    from fastmetrics._core.types.options import Empty, ShortList, Ties

__all__ = ["f1_at_k", "precision_at_k", "recall_at_k"]


@overload
def precision_at_k(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Int,
    short_list: ShortList = ..., offsets: NumericArrayLike | None = ..., relevance_level: float = ..., ties: Ties = ...,
    empty: Empty = ..., items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ...,
    n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@overload
def precision_at_k(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Cutoffs,
    short_list: ShortList = ..., offsets: NumericArrayLike | None = ..., relevance_level: float = ..., ties: Ties = ...,
    empty: Empty = ..., items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ...,
    n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@list_metric(
    "p",
    "Precision at k: the share of relevant rows among the first k of a group.",
    variants=("p(short_list=n)@30",),
    aliases=("precision", "precision_at_k", "prec"),
    option_aliases={"pre@k": "short_list=n"},  # XGBoost's
)
def precision_at_k(
    y_true: NumericArrayLike,
    y_score: NumericArrayLike,
    groups: KeysLike | None = None,
    *,
    k: Int | Cutoffs,
    short_list: ShortList = "k",
    offsets: NumericArrayLike | None = None,
    relevance_level: float = 1,
    ties: Ties = "average",
    empty: Empty = "zero",
    items: ArrayLike | None = None,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float | Floats:
    """Precision at k: the share of relevant rows among the first k.

    P@k = relevant rows among the first k / k, averaged over lists (C. Buckley and E. M. Voorhees, 2005, Retrieval
    system evaluation, in TREC: Experiment and evaluation in information retrieval, MIT Press).

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
    k : int or sequence of int
        Cutoff: only the first k rows of a list count. Several cutoffs are computed in one pass.
    short_list : {"k", "n"}
        The divisor of P@k for a list with fewer than k rows. "k": k. "n": the number of rows.
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
    >>> fm.precision_at_k([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [7, 7, 7, 7], k=[1, 3]).round(3).tolist()
    [1.0, 0.667]
    """



@overload
def recall_at_k(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Int,
    offsets: NumericArrayLike | None = ..., relevance_level: float = ..., ties: Ties = ..., empty: Empty = ...,
    items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@overload
def recall_at_k(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Cutoffs,
    offsets: NumericArrayLike | None = ..., relevance_level: float = ..., ties: Ties = ..., empty: Empty = ...,
    items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ..., n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@list_metric(
    "recall",
    "Recall at k: the share of a group's relevant rows that are among its first k.",
    aliases=("recall_at_k", "r"),
)
def recall_at_k(
    y_true: NumericArrayLike,
    y_score: NumericArrayLike,
    groups: KeysLike | None = None,
    *,
    k: Int | Cutoffs,
    offsets: NumericArrayLike | None = None,
    relevance_level: float = 1,
    ties: Ties = "average",
    empty: Empty = "zero",
    items: ArrayLike | None = None,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float | Floats:
    """Recall at k: the share of a list's relevant rows that are among the first k.

    R@k = relevant rows among the first k / relevant rows, averaged over lists (C. Buckley and E. M. Voorhees, 2005,
    Retrieval system evaluation, in TREC: Experiment and evaluation in information retrieval, MIT Press).

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
    k : int or sequence of int
        Cutoff: only the first k rows of a list count. Several cutoffs are computed in one pass.
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
    >>> fm.recall_at_k([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [7, 7, 7, 7], k=2)
    0.5
    """


@overload
def f1_at_k(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Int,
    short_list: ShortList = ..., offsets: NumericArrayLike | None = ..., relevance_level: float = ..., ties: Ties = ...,
    empty: Empty = ..., items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ...,
    n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@overload
def f1_at_k(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Cutoffs,
    short_list: ShortList = ..., offsets: NumericArrayLike | None = ..., relevance_level: float = ..., ties: Ties = ...,
    empty: Empty = ..., items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ...,
    n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@list_metric(
    "f1",
    "F1 at k: the harmonic mean of precision and recall at k, group by group.",
    aliases=("f1_at_k", "f1_score"),
)
def f1_at_k(
    y_true: NumericArrayLike,
    y_score: NumericArrayLike,
    groups: KeysLike | None = None,
    *,
    k: Int | Cutoffs,
    short_list: ShortList = "k",
    offsets: NumericArrayLike | None = None,
    relevance_level: float = 1,
    ties: Ties = "average",
    empty: Empty = "zero",
    items: ArrayLike | None = None,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float | Floats:
    """F1 at k: the harmonic mean of precision and recall at k, list by list.

    F1@k = 2 P@k R@k / (P@k + R@k) = 2 hits / (k + R), with `hits` relevant rows among the first k and R in the whole
    list; averaged over lists (C. J. van Rijsbergen, 1979, Information retrieval, chapter 7).

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
    k : int or sequence of int
        Cutoff: only the first k rows of a list count. Several cutoffs are computed in one pass.
    short_list : {"k", "n"}
        The divisor of P@k for a list with fewer than k rows. "k": k. "n": the number of rows.
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
    >>> fm.f1_at_k([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [7, 7, 7, 7], k=3)
    0.8
    """

