"""NDCG: the discounted cumulative gain of a list, divided by that of its best order."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from fastmetrics.metrics.ranking.lists.list_measures import scale_of_gains
from fastmetrics.metrics.ranking.lists.list_metric import list_metric

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Cutoffs, Floats, Int, KeysLike, NumericArrayLike
    from fastmetrics._core.types.options import Empty, Gain, Ideal, Ties

__all__ = ["ndcg_score"]


@overload
def ndcg_score(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Int | None = ...,
    gain: Gain = ..., ideal: Ideal = ..., offsets: NumericArrayLike | None = ..., relevance_level: float = ...,
    ties: Ties = ..., empty: Empty = ..., items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ...,
    ignore_ties: bool = ..., allow_infinite: bool = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@overload
def ndcg_score(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Cutoffs, gain: Gain = ...,
    ideal: Ideal = ..., offsets: NumericArrayLike | None = ..., relevance_level: float = ..., ties: Ties = ...,
    empty: Empty = ..., items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ...,
    ignore_ties: bool = ..., allow_infinite: bool = ..., n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@list_metric(
    "ndcg",
    "Normalized discounted cumulative gain at k: DCG over the DCG of the best order.",
    scale=scale_of_gains,
    variants=(
        "ndcg@3",
        "ndcg(gain=exp2, ideal=k)@5",
        "ndcg(ties=pessimistic)",
        "ndcg(empty=skip)@10",
        "ndcg(stat=p90, rule=lower)@5",
    ),
    aliases=("ndcg_score", "normalized_discounted_cumulative_gain", "normalized_dcg"),
    option_aliases={"ndcg_cut@k": ""},
    near_names=dict.fromkeys(
        ("ndcg_burges", "ndcg_exp"), "for gains of 2^grade - 1, write ndcg(gain=exp2); the gain of 'ndcg' is the grade"
    ),
    least_width=2,
)
def ndcg_score(
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
    empty: Empty = "zero",
    items: ArrayLike | None = None,
    sample_weight: NumericArrayLike | None = None,
    ignore_ties: bool = False,
    allow_infinite: bool = False,
    n_threads: int | None = None,
) -> float | Floats:
    """Normalized discounted cumulative gain: DCG divided by the DCG of the best order.

    NDCG@k = DCG@k / IDCG@k, averaged over lists (K. Järvelin and J. Kekäläinen, 2002, Cumulated gain-based evaluation
    of IR techniques, ACM TOIS 20(4)). For two-dimensional arrays the value is that of scikit-learn's ndcg_score.

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
    empty : {"zero", "skip", "one", "nan", "raise"}
        A list without a gain. "zero": it counts as 0. "skip": it is left out. "one": it counts as 1. "nan": the result
        is NaN. "raise": it is an error.
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
        In [0, 1]; with ideal="k" and gains above 1 it may be greater than 1.

    Raises
    ------
    ValueError
        A column has NaN or null, a score is infinite, relevance is negative, an option is invalid, shapes differ, there
        are no rows, or a matrix has one column, as in scikit-learn. The message names the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.ndcg_score([[3, 1, 2, 3, 2]], [[5, 4, 3, 2, 1]])  # doctest: +ELLIPSIS
    0.937...
    >>> users = ["ann", "bob", "ann", "bob", "ann"]
    >>> fm.ndcg_score([1, 0, 0, 1, 2], [0.9, 0.3, 0.8, 0.2, 0.7], users, k=[1, 2]).round(3).tolist()
    [0.25, 0.506]
    """
