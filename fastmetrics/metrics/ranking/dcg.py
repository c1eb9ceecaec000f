"""Gains of ranked lists: cumulative gain, discounted cumulative gain (DCG), and the DCG of the best order."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from fastmetrics.metrics.ranking.lists.list_metric import list_metric

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Cutoffs, Floats, Int, KeysLike, NumericArrayLike
    from fastmetrics._core.types.options import Gain, Ideal, Ties

__all__ = ["cumulative_gain", "dcg_score", "ideal_dcg"]


@overload
def dcg_score(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Int | None = ...,
    log_base: float = ..., gain: Gain = ..., offsets: NumericArrayLike | None = ..., relevance_level: float = ...,
    ties: Ties = ..., items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ...,
    ignore_ties: bool = ..., allow_infinite: bool = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@overload
def dcg_score(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Cutoffs,
    log_base: float = ..., gain: Gain = ..., offsets: NumericArrayLike | None = ..., relevance_level: float = ...,
    ties: Ties = ..., items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ...,
    ignore_ties: bool = ..., allow_infinite: bool = ..., n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@list_metric(
    "dcg",
    "Discounted cumulative gain at k: gains over the logarithm of their rank.",
    negative_grades=True,
    scale="real",
    variants=("dcg(gain=exp2)@4", "dcg(ties=optimistic)@4"),
    aliases=("dcg_score", "discounted_cumulative_gain"),
    near_names={"dcg_burges": "for gains of 2^grade - 1, write dcg(gain=exp2); the gain of 'dcg' is the grade"},
    least_width=2,
)
def dcg_score(
    y_true: NumericArrayLike,
    y_score: NumericArrayLike,
    groups: KeysLike | None = None,
    *,
    k: Int | Cutoffs | None = None,
    log_base: float = 2,
    gain: Gain = "linear",
    offsets: NumericArrayLike | None = None,
    relevance_level: float = 1,
    ties: Ties = "average",
    items: ArrayLike | None = None,
    sample_weight: NumericArrayLike | None = None,
    ignore_ties: bool = False,
    allow_infinite: bool = False,
    n_threads: int | None = None,
) -> float | Floats:
    """Discounted cumulative gain: each gain is divided by the logarithm of its rank + 1.

    DCG@k = sum over the first k rows of gain / log2(rank + 1), averaged over lists (K. Järvelin and J. Kekäläinen,
    2002, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4)). For two-dimensional arrays the value is
    that of scikit-learn's dcg_score.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n_lists, n_rows)
        Relevance grade of each row: any finite number.
    y_score : array-like of the shape of y_true
        Scores, higher for rows that come first. float32 and float64 are read without conversion; integers and float16
        are widened.
    groups : array-like of shape (n,), optional
        The key of each row's list (a query, a user): integers, strings, booleans, dates, times or floats, rows in any
        order; a DataFrame, an Arrow table or a dict of columns for keys of several columns. Without groups, `offsets`
        says where lists begin and end, or each row of a two-dimensional array is a list.
    k : int or sequence of int, optional
        Cutoff: only the first k rows of a list count; None: all rows. Several cutoffs are computed in one pass.
    log_base : float
        Base of the logarithm in the discount, above 1.
    gain : {"linear", "exp2", "binary"}
        The gain of a row. "linear": y_true. "exp2": 2**y_true - 1. "binary": 1 if y_true >= relevance_level, else 0.
    offsets : array-like of shape (n_lists + 1,), optional
        List i is the rows offsets[i] up to, but not including, offsets[i + 1].
    relevance_level : float
        A row is relevant if its y_true is at least this level, which is above 0.
    ties : {"average", "docid", "stable", "optimistic", "pessimistic"}
        How rows of equal score count. "average": the expected value over all orders of the tied rows. "docid": the
        greater item id first (integers as numbers, strings by their bytes), as trec_eval does. "stable": the earlier
        row first. "optimistic": the more relevant row first. "pessimistic": the less relevant row first.
    items : array-like of shape (n,), optional
        Item ids, needed for ties="docid": integers (compared as numbers) or strings (compared by their bytes). An id
        occurs once per list.
    sample_weight : array-like of shape (n_lists,) or (n,), optional
        Weights of lists, from 0 to 1e300, not all zero. With `groups`, one for each row, equal for all rows of a group.
        A list of weight zero is left out.
    ignore_ties : bool
        Put the later of two tied rows first. This is faster if there are no ties. (scikit-learn takes the order of
        NumPy's sort, which depends on the CPU where rows tie.)
    allow_infinite : bool
        Order infinite scores: the greatest and the least, ties among themselves. By default they are an error, as in
        scikit-learn.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float, or numpy.ndarray of shape (len(k),) if k is a sequence
        Not normalized. A list without a gain has 0.

    Raises
    ------
    ValueError
        A column has NaN or null, a score is infinite, an option is invalid, shapes differ, there are no rows, or a
        matrix has one column, as in scikit-learn. The message names the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.dcg_score([[3, 1, 2, 3, 2]], [[5, 4, 3, 2, 1]])  # doctest: +ELLIPSIS
    6.69...
    """


@overload
def ideal_dcg(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Int | None = ...,
    gain: Gain = ..., ideal: Ideal = ..., offsets: NumericArrayLike | None = ..., relevance_level: float = ...,
    ties: Ties = ..., items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ...,
    n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@overload
def ideal_dcg(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Cutoffs, gain: Gain = ...,
    ideal: Ideal = ..., offsets: NumericArrayLike | None = ..., relevance_level: float = ..., ties: Ties = ...,
    items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ..., n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@list_metric(
    "idcg",
    "DCG at k of the best order of each group.",
    direction="none",
    scale="nonnegative",
    variants=("idcg@3",),
    aliases=("ideal_dcg",),
)
def ideal_dcg(
    y_true: NumericArrayLike,
    y_score: NumericArrayLike,
    groups: KeysLike | None = None,
    *,
    k: Int | Cutoffs | None = None,
    gain: Gain = "linear",
    ideal: Ideal = "judged",
    offsets: NumericArrayLike | None = None,
    relevance_level: float = 1,
    ties: Ties = "average",
    items: ArrayLike | None = None,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float | Floats:
    """DCG of the best order of each list, by which NDCG divides.

    IDCG@k = sum over the k greatest gains of gain / log2(rank + 1), averaged over lists (K. Järvelin and J.
    Kekäläinen, 2002, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4)). The scores do not change
    the value.

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
    gain : {"linear", "exp2", "binary"}
        The gain of a row. "linear": y_true. "exp2": 2**y_true - 1. "binary": 1 if y_true >= relevance_level, else 0.
    ideal : {"judged", "k"}
        The ideal list. "judged": the rows of the list, best first, cut at k. "k": k rows of gain 1.
    offsets : array-like of shape (n_lists + 1,), optional
        List i is the rows offsets[i] up to, but not including, offsets[i + 1].
    relevance_level : float
        A row is relevant if its y_true is at least this level, which is above 0.
    ties : {"average", "docid", "stable", "optimistic", "pessimistic"}
        How rows of equal score count. "average": the expected value over all orders of the tied rows. "docid": the
        greater item id first (integers as numbers, strings by their bytes), as trec_eval does. "stable": the earlier
        row first. "optimistic": the more relevant row first. "pessimistic": the less relevant row first.
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
        A list without a gain has 0.

    Raises
    ------
    ValueError
        A column has NaN or null, relevance is negative, an option is invalid, shapes differ, or there are no rows. The
        message names the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.ideal_dcg([[3, 1, 2, 3, 2]], [[5, 4, 3, 2, 1]])  # doctest: +ELLIPSIS
    7.14...
    """


@overload
def cumulative_gain(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Int | None = ...,
    gain: Gain = ..., offsets: NumericArrayLike | None = ..., relevance_level: float = ..., ties: Ties = ...,
    items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@overload
def cumulative_gain(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Cutoffs, gain: Gain = ...,
    offsets: NumericArrayLike | None = ..., relevance_level: float = ..., ties: Ties = ...,
    items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ..., n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@list_metric(
    "cg",
    "Cumulative gain at k: the sum of the gains at the top.",
    negative_grades=True,
    scale="real",
    variants=("cg(ties=optimistic)@3",),
    aliases=("cumulative_gain",),
)
def cumulative_gain(
    y_true: NumericArrayLike,
    y_score: NumericArrayLike,
    groups: KeysLike | None = None,
    *,
    k: Int | Cutoffs | None = None,
    gain: Gain = "linear",
    offsets: NumericArrayLike | None = None,
    relevance_level: float = 1,
    ties: Ties = "average",
    items: ArrayLike | None = None,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float | Floats:
    """Cumulative gain: the sum of the gains of the first k rows.

    CG@k = sum over the first k rows of gain, averaged over lists (K. Järvelin and J. Kekäläinen, 2002, Cumulated
    gain-based evaluation of IR techniques, ACM TOIS 20(4)).

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n_lists, n_rows)
        Relevance grade of each row: any finite number.
    y_score : array-like of the shape of y_true
        Scores, higher for rows that come first. float32 and float64 are read without conversion; integers and float16
        are widened.
    groups : array-like of shape (n,), optional
        The key of each row's list (a query, a user): integers, strings, booleans, dates, times or floats, rows in any
        order; a DataFrame, an Arrow table or a dict of columns for keys of several columns. Without groups, `offsets`
        says where lists begin and end, or each row of a two-dimensional array is a list.
    k : int or sequence of int, optional
        Cutoff: only the first k rows of a list count; None: all rows. Several cutoffs are computed in one pass.
    gain : {"linear", "exp2", "binary"}
        The gain of a row. "linear": y_true. "exp2": 2**y_true - 1. "binary": 1 if y_true >= relevance_level, else 0.
    offsets : array-like of shape (n_lists + 1,), optional
        List i is the rows offsets[i] up to, but not including, offsets[i + 1].
    relevance_level : float
        A row is relevant if its y_true is at least this level, which is above 0.
    ties : {"average", "docid", "stable", "optimistic", "pessimistic"}
        How rows of equal score count. "average": the expected value over all orders of the tied rows. "docid": the
        greater item id first (integers as numbers, strings by their bytes), as trec_eval does. "stable": the earlier
        row first. "optimistic": the more relevant row first. "pessimistic": the less relevant row first.
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
        Not normalized. A list without a gain has 0.

    Raises
    ------
    ValueError
        A column has NaN or null, an option is invalid, shapes differ, or there are no rows. The message names the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.cumulative_gain([[3, 1, 2, 3, 2]], [[5, 4, 3, 2, 1]])
    11.0
    """
