"""Hit rate: the share of lists with a relevant row among the first k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.exact import quotients
from fastmetrics._core.kinds import GRADES
from fastmetrics._core.registry import metric
from fastmetrics._core.state import ManySums, Sums
from fastmetrics._core.statistic import Value
from fastmetrics.metrics.ranking.lists.list_inputs import (
    ListArguments,
    ListFunction,
    check_options,
    score_lists,
    unwrap_means,
)
from fastmetrics.metrics.ranking.lists.list_mean import (
    PARAMETER_CHECKS,
    ListMean,
    finalize_mean,
    finalize_ratio,
    many_means,
)
from fastmetrics.metrics.ranking.lists.list_measures import Measure, check_cutoffs, check_level

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Cutoffs, Floats, Int, KeysLike, NumericArrayLike
    from fastmetrics._core.types.options import Empty, HitAverage, Ties

__all__ = ["hit_rate"]

AVERAGES = ("group", "micro")
MEAN_OVER_GROUPS = ListFunction("hit_rate", "hr")


@overload
def hit_rate(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Int,
    average: HitAverage = ..., offsets: NumericArrayLike | None = ..., relevance_level: float = ..., ties: Ties = ...,
    empty: Empty = ..., items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ...,
    n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@overload
def hit_rate(
    y_true: NumericArrayLike, y_score: NumericArrayLike, groups: KeysLike | None = ..., *, k: Cutoffs,
    average: HitAverage = ..., offsets: NumericArrayLike | None = ..., relevance_level: float = ..., ties: Ties = ...,
    empty: Empty = ..., items: ArrayLike | None = ..., sample_weight: NumericArrayLike | None = ...,
    n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@answers_unknown
def hit_rate(
    y_true: NumericArrayLike,
    y_score: NumericArrayLike,
    groups: KeysLike | None = None,
    *,
    k: Int | Cutoffs,
    average: HitAverage = "group",
    offsets: NumericArrayLike | None = None,
    relevance_level: float = 1,
    ties: Ties = "average",
    empty: Empty = "zero",
    items: ArrayLike | None = None,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float | Floats:
    """Hit rate: the share of lists with a relevant row among the first k.

    HR@k = 1 for a list with a relevant row among its first k, else 0; averaged over lists (M. Deshpande and G.
    Karypis, 2004, Item-based top-N recommendation algorithms, ACM TOIS 22(1)). With average="micro": the number of
    relevant rows among the first k, divided by the number of relevant rows, over all lists.

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
    average : {"group", "micro"}
        "group": the mean over lists. "micro": the hits of all lists divided by the relevant rows of all lists.
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

        With average="micro" only "zero" is allowed: such a list adds nothing to either sum.
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
    >>> labels, scores = [1, 0, 0, 0, 1, 1], [0.9, 0.8, 0.7, 0.9, 0.8, 0.7]
    >>> users = ["ann", "ann", "ann", "bob", "bob", "bob"]
    >>> fm.hit_rate(labels, scores, users, k=1)
    0.5
    >>> fm.hit_rate(labels, scores, users, k=2, average="micro")  # doctest: +ELLIPSIS
    0.666...
    """
    validation.check_option(average, "average", AVERAGES)
    options = {"ties": ties, "empty": empty, "n_threads": n_threads, "items": items}
    if average == "group":
        return MEAN_OVER_GROUPS.mean(
            y_true, y_score, groups, offsets=offsets, sample_weight=sample_weight, relevance_level=relevance_level, k=k,
            **options,
        )  # fmt: skip
    if empty != "zero":
        raise validation.OptionError(f"empty={empty!r} needs average='group': average='micro' takes no mean over lists")
    return micro_hit_rate(ListArguments(y_true, y_score, groups, offsets, sample_weight), k, relevance_level, options)


def micro_hit_rate(arguments: ListArguments, k: Any, relevance_level: float, options: dict[str, Any]) -> float | Floats:
    """The hits of all lists divided by the relevant rows of all lists."""
    cutoffs, is_sequence = check_cutoffs(k, True)
    level = check_level(relevance_level)
    measures = [Measure.of("hits", cutoff, relevance_level=level) for cutoff in cutoffs]
    measures.append(Measure.of("n_relevant", relevance_level=level))
    *hits, relevant = score_lists(arguments, measures, check_options(**options))
    if not relevant.value:
        undefined = Value(float("nan"), {}, "no list has a relevant row")
        return unwrap_means("hit_rate", [undefined] * len(hits), is_sequence)
    return unwrap_means("hit_rate", [Value(hit.value / relevant.value, {}) for hit in hits], is_sequence)


def hit_statistics(average: str, relevance_level: float, ties: str, empty: str, k: int) -> tuple[ListMean, ...]:
    """The statistic of the mean over groups; with average="micro" those of the hits and of the relevant rows."""
    if average == "group":
        return (ListMean(Measure.of("hr", k, relevance_level=relevance_level), ties, empty),)
    hits, relevant = Measure.of_micro_hits(k, relevance_level)
    return ListMean(hits, ties, "zero"), ListMean(relevant, ties, "zero")


def many_hit_rates(parameters: dict[str, Any], *states: ManySums) -> np.ndarray:
    """The values of many states: see `MetricSpec.many`."""
    if parameters["average"] == "group":
        return many_means(parameters, *states)
    hits, relevant = states
    return quotients(hits.number("w value"), relevant.number("w value"))


@metric(
    "hr",
    exchange="hash",
    scale="mean",
    statistics=hit_statistics,
    function=hit_rate,
    undefined="no group",
    parameters={"average": "group", "relevance_level": 1, "ties": "average", "empty": "zero"},
    checks=PARAMETER_CHECKS | {"average": AVERAGES},
    default=False,
    cutoff="required",
    roles=GRADES,
    variants=("hr(average=micro)@5",),
    aliases=("hit_rate", "hitrate", "hit_ratio", "hit", "success"),
    near_names={"hits": "some libraries count hits, others divide by groups; the share with a hit is 'hr@10'"},
    many=many_hit_rates,
)
def finalize_hr(parameters: dict[str, Any], *states: Sums) -> Value:
    """Hit rate at k: the share of groups with a relevant row among their first k."""
    return (
        finalize_mean(parameters, *states) if parameters["average"] == "group" else finalize_ratio(parameters, *states)
    )
