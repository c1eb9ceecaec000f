"""Rank-biased precision (RBP): a user goes on to the next row with probability p."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from fastmetrics.metrics.ranking.lists.list_measures import scale_of_gains
from fastmetrics.metrics.ranking.lists.list_metric import list_metric

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Cutoffs, Floats, Int, KeysLike, NumericArrayLike
    from fastmetrics._core.types.options import Empty, Gain, Ties

__all__ = ["rank_biased_precision"]


@overload
def rank_biased_precision(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Int | None = ...,
    p: float = ..., gain: Gain = ..., offsets: NumericArrayLike | None = ..., relevance_level: float = ...,
    ties: Ties = ..., empty: Empty = ..., items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ...,
    n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@overload
def rank_biased_precision(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Cutoffs, p: float = ...,
    gain: Gain = ..., offsets: NumericArrayLike | None = ..., relevance_level: float = ..., ties: Ties = ...,
    empty: Empty = ..., items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ...,
    n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@list_metric(
    "rbp",
    "Rank-biased precision at k: gains met by a user who goes on with probability p.",
    scale=scale_of_gains,
    variants=("rbp(p=0.5, gain=linear)@7",),
    aliases=("rank_biased_precision",),
)
def rank_biased_precision(
    y_true: NumericArrayLike,
    y_score: NumericArrayLike,
    groups: KeysLike | None = None,
    *,
    k: Int | Cutoffs | None = None,
    p: float = 0.8,
    gain: Gain = "binary",
    offsets: NumericArrayLike | None = None,
    relevance_level: float = 1,
    ties: Ties = "average",
    empty: Empty = "zero",
    items: ArrayLike | None = None,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float | Floats:
    """Rank-biased precision: the expected gain of a user who goes on to the next row with probability p.

    RBP@k = (1 - p) times the sum over the first k rows of gain p^(rank - 1), averaged over lists (A. Moffat and J.
    Zobel, 2008, Rank-biased precision for measurement of retrieval effectiveness, ACM TOIS 27(1)).

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
    p : float
        The probability that the user looks at the next row; between 0 and 1.
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
        In [0, 1] for binary gains.

    Raises
    ------
    ValueError
        A column has NaN or null, relevance is negative, an option is invalid, shapes differ, or there are no rows. The
        message names the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.rank_biased_precision([1, 0, 1], [0.9, 0.8, 0.7], [7, 7, 7], p=0.5), 4)
    0.625
    """

