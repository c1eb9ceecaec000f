"""Average precision: the mean precision at the ranks of the relevant rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from fastmetrics.metrics.ranking.lists.list_metric import list_function, list_metric

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Cutoffs, Floats, Int, KeysLike, NumericArrayLike
    from fastmetrics._core.types.options import Empty, PrecisionSum, Ties

__all__ = ["average_precision_at_k", "mean_average_precision"]


@overload
def mean_average_precision(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Int | None = ...,
    normalize: PrecisionSum = ..., offsets: NumericArrayLike | None = ..., relevance_level: float = ...,
    ties: Ties = ..., empty: Empty = ..., items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ...,
    n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@overload
def mean_average_precision(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Cutoffs,
    normalize: PrecisionSum = ..., offsets: NumericArrayLike | None = ..., relevance_level: float = ...,
    ties: Ties = ..., empty: Empty = ..., items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ...,
    n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@list_metric(
    "map",
    "Mean average precision at k: the mean precision at the ranks of the relevant rows.",
    variants=("map(normalize=relevant)@5", "map(normalize=hits)@3", "map(relevance_level=2)"),
    aliases=("mean_average_precision",),
    option_aliases={"map_cut@k": "normalize=relevant"},
    near_names=dict.fromkeys(
        ("ap@k", "average_precision@k", "avg_precision@k"),
        "its mean over groups is 'map@10'; 'ap' without a cutoff is the average precision of all rows together",
    ),
)
def mean_average_precision(
    y_true: NumericArrayLike,
    y_score: NumericArrayLike,
    groups: KeysLike | None = None,
    *,
    k: Int | Cutoffs | None = None,
    normalize: PrecisionSum = "min",
    offsets: NumericArrayLike | None = None,
    relevance_level: float = 1,
    ties: Ties = "average",
    empty: Empty = "zero",
    items: ArrayLike | None = None,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float | Floats:
    """Mean average precision: the mean precision at the ranks of the relevant rows.

    AP@k = sum over relevant rows among the first k of P(rank) / min(k, R), with R relevant rows in the list; averaged
    over lists (C. Buckley and E. M. Voorhees, 2005, Retrieval system evaluation, in TREC: Experiment and evaluation
    in information retrieval, MIT Press). trec_eval's map_cut divides by R, which is normalize="relevant".

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
    normalize : {"min", "relevant", "k", "hits"}
        The divisor of the sum of precisions, with R relevant rows in the list. "min": the smaller of k and R.
        "relevant": R. "k": k. "hits": the number of relevant rows among the first k.
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
    >>> round(fm.mean_average_precision([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [7, 7, 7, 7]), 4)
    0.8333
    >>> labels, scores, users = [1, 0, 0, 1, 1, 1, 1], [7, 6, 5, 4, 3, 2, 1], ["ann"] * 7
    >>> rules = ("min", "relevant", "k", "hits")
    >>> [round(fm.mean_average_precision(labels, scores, users, k=3, normalize=rule), 3) for rule in rules]
    [0.333, 0.2, 0.333, 1.0]
    """



@overload
def average_precision_at_k(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Int,
    normalize: PrecisionSum = ..., offsets: NumericArrayLike | None = ..., relevance_level: float = ...,
    ties: Ties = ..., empty: Empty = ..., items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ...,
    n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@overload
def average_precision_at_k(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Cutoffs,
    normalize: PrecisionSum = ..., offsets: NumericArrayLike | None = ..., relevance_level: float = ...,
    ties: Ties = ..., empty: Empty = ..., items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ...,
    n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@list_function("map")
def average_precision_at_k(
    y_true: NumericArrayLike,
    y_score: NumericArrayLike,
    groups: KeysLike | None = None,
    *,
    k: Int | Cutoffs,
    normalize: PrecisionSum = "min",
    offsets: NumericArrayLike | None = None,
    relevance_level: float = 1,
    ties: Ties = "average",
    empty: Empty = "zero",
    items: ArrayLike | None = None,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float | Floats:
    """Average precision at k, averaged over lists: mean_average_precision with a cutoff.

    AP@k = sum over relevant rows among the first k of P(rank) / min(k, R), with R relevant rows in the list (C.
    Buckley and E. M. Voorhees, 2005, Retrieval system evaluation, in TREC: Experiment and evaluation in information
    retrieval, MIT Press).

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
    normalize : {"min", "relevant", "k", "hits"}
        The divisor of the sum of precisions, with R relevant rows in the list. "min": the smaller of k and R.
        "relevant": R. "k": k. "hits": the number of relevant rows among the first k.
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
    >>> fm.average_precision_at_k([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [7, 7, 7, 7], k=2)
    0.5
    """



# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {"average_precision_at_k": ({"k": 4}, {"k": 2, "normalize": "relevant"})}
