"""How many of the rows at the top are relevant: precision, recall, their F1, R-precision, hit rate."""

from __future__ import annotations

from typing import Any

from fastmetrics._core import inputs
from fastmetrics._core.registry import metric
from fastmetrics._core.statistic import Sums, Value
from fastmetrics.metrics.ranking import measures
from fastmetrics.metrics.ranking.lists import Given, answer, check_options, score_lists
from fastmetrics.metrics.ranking.measures import Measure
from fastmetrics.metrics.ranking.tables import CHECKS, COMMON, ListMean, enter_mean, finalise_mean, finalise_ratio

AVERAGES = ("group", "micro")


def top_means(
    function: str,
    measure: str,
    given: Given,
    k: Any,
    required: bool,
    relevance_level: float,
    more: dict[str, Any],
    **options: Any,
) -> Any:
    """What the functions of relevant rows at the top have in common."""
    cutoffs, several = measures.check_cutoffs(k, required)
    level = measures.check_level(relevance_level)
    wanted = [Measure.of(measure, own, relevance_level=level, **more) for own in cutoffs]
    return answer(function, score_lists(given, wanted, check_options(**options)), several)


def precision_at_k(
    y_true: Any,
    y_score: Any,
    groups: Any = None,
    *,
    k: Any,
    short_list: str = "k",
    offsets: Any = None,
    relevance_level: float = 1,
    ties: str = "average",
    empty: str = "zero",
    items: Any = None,
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> Any:
    """Precision at k: the share of relevant rows among the first k.

    P@k = relevant rows among the first k / k, averaged over lists (C. Buckley and E. M. Voorhees, 2005, Retrieval
    system evaluation, in TREC: Experiment and evaluation in information retrieval, MIT Press).

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
    short_list : {"k", "n"}
        What P@k of a list with less than k rows divides by: k, or its rows.
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
    >>> fm.precision_at_k([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [7, 7, 7, 7], k=[1, 3]).round(3).tolist()
    [1.0, 0.667]
    """
    inputs.check_option(short_list, "short_list", tuple(measures.SHORT_LISTS))

    return top_means(
        "precision_at_k",
        "p",
        Given(y_true, y_score, groups, offsets, sample_weight),
        k,
        True,
        relevance_level,
        {"short_list": short_list},
        ties=ties,
        empty=empty,
        n_threads=n_threads,
        items=items,
    )


def recall_at_k(
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
    """Recall at k: the share of a list's relevant rows that are among the first k.

    R@k = relevant rows among the first k / relevant rows, averaged over lists (C. Buckley and E. M. Voorhees, 2005,
    Retrieval system evaluation, in TREC: Experiment and evaluation in information retrieval, MIT Press).

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
    >>> fm.recall_at_k([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [7, 7, 7, 7], k=2)
    0.5
    """
    return top_means(
        "recall_at_k",
        "recall",
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


def f1_at_k(
    y_true: Any,
    y_score: Any,
    groups: Any = None,
    *,
    k: Any,
    short_list: str = "k",
    offsets: Any = None,
    relevance_level: float = 1,
    ties: str = "average",
    empty: str = "zero",
    items: Any = None,
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> Any:
    """F1 at k: the harmonic mean of precision and recall at k, list by list.

    F1@k = 2 P@k R@k / (P@k + R@k) = 2 hits / (k + R), with hits relevant rows among the first k and R in the list;
    averaged over lists (C. J. van Rijsbergen, 1979, Information retrieval, chapter 7).

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
    short_list : {"k", "n"}
        What P@k of a list with less than k rows divides by: k, or its rows.
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
    >>> fm.f1_at_k([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [7, 7, 7, 7], k=3)
    0.8
    """
    inputs.check_option(short_list, "short_list", tuple(measures.SHORT_LISTS))

    return top_means(
        "f1_at_k",
        "f1",
        Given(y_true, y_score, groups, offsets, sample_weight),
        k,
        True,
        relevance_level,
        {"short_list": short_list},
        ties=ties,
        empty=empty,
        n_threads=n_threads,
        items=items,
    )


def r_precision(
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
    """R-precision: precision at R, the number of relevant rows of the list.

    Rprec = relevant rows among the first R / R, averaged over lists (C. Buckley and E. M. Voorhees, 2005, Retrieval
    system evaluation, in TREC: Experiment and evaluation in information retrieval, MIT Press).

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
    >>> fm.r_precision([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [7, 7, 7, 7])
    0.5
    """
    return top_means(
        "r_precision",
        "rprec",
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


def hit_rate(
    y_true: Any,
    y_score: Any,
    groups: Any = None,
    *,
    k: Any,
    average: str = "group",
    offsets: Any = None,
    relevance_level: float = 1,
    ties: str = "average",
    empty: str = "zero",
    items: Any = None,
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> Any:
    """Hit rate: the share of lists with a relevant row among the first k.

    HR@k = 1 for a list with a relevant row among its first k, else 0; averaged over lists (M. Deshpande and G.
    Karypis, 2004, Item-based top-N recommendation algorithms, ACM TOIS 22(1)). With average="micro": all hits / all
    relevant rows.

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
    average : {"group", "micro"}
        The mean over lists, or hits of all lists over relevant rows of all lists.
    offsets : array-like of shape (n_lists + 1,), optional
        List i has the rows offsets[i] to offsets[i + 1].
    relevance_level : float
        A row is relevant where its y_true is at least this; above 0.
    ties : {"average", "docid", "stable", "optimistic", "pessimistic"}
        What equal scores mean: the expected value over all orders of the tied rows; the greater item first, as
        trec_eval; the earlier row first; the more (less) relevant row first.
    empty : {"zero", "skip", "one", "nan", "raise"}
        What a list without a relevant row counts: 0, nothing, 1; or it makes the result NaN, or is an error. With
        average="micro" it adds nothing to either sum: then only "zero" is taken.
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
    >>> labels, scores = [1, 0, 0, 0, 1, 1], [0.9, 0.8, 0.7, 0.9, 0.8, 0.7]
    >>> users = ["ann", "ann", "ann", "bob", "bob", "bob"]
    >>> fm.hit_rate(labels, scores, users, k=1)
    0.5
    >>> fm.hit_rate(labels, scores, users, k=2, average="micro")  # doctest: +ELLIPSIS
    0.666...
    """
    inputs.check_option(average, "average", AVERAGES)
    given = Given(y_true, y_score, groups, offsets, sample_weight)
    if average == "group":
        return top_means(
            "hit_rate",
            "hr",
            given,
            k,
            True,
            relevance_level,
            {},
            ties=ties,
            empty=empty,
            n_threads=n_threads,
            items=items,
        )
    if empty != "zero":
        raise inputs.OptionError(f"empty={empty!r} is for means over lists: with average='micro' there are none")
    return micro_hit_rate(given, k, relevance_level, ties=ties, empty="zero", n_threads=n_threads, items=items)


def micro_hit_rate(given: Given, k: Any, relevance_level: float, **options: Any) -> Any:
    """Hits of all lists over relevant rows of all lists."""
    cutoffs, several = measures.check_cutoffs(k, True)
    level = measures.check_level(relevance_level)
    wanted = [Measure.of("hits", own, relevance_level=level) for own in cutoffs]
    wanted.append(Measure.of("n_relevant", relevance_level=level))
    *hits, relevant = score_lists(given, wanted, check_options(**options))
    if not relevant.value:
        return answer("hit_rate", [Value(float("nan"), {}, "no list has a relevant row")] * len(hits), several)
    return answer("hit_rate", [Value(own.value / relevant.value, {}) for own in hits], several)


enter_mean(
    "p",
    "Precision at k: the share of relevant rows among the first k of a group.",
    precision_at_k,
    {"short_list": ("k", tuple(measures.SHORT_LISTS))},
    cutoff="required",
)
enter_mean(
    "recall",
    "Recall at k: the share of a group's relevant rows that are among its first k.",
    recall_at_k,
    cutoff="required",
)
enter_mean(
    "f1",
    "F1 at k: the harmonic mean of precision and recall at k, group by group.",
    f1_at_k,
    {"short_list": ("k", tuple(measures.SHORT_LISTS))},
    cutoff="required",
)
enter_mean(
    "rprec",
    "R-precision: precision at the number of relevant rows of a group.",
    r_precision,
)


def hit_statistics(average: str, relevance_level: float, ties: str, empty: str, k: int) -> tuple[ListMean, ...]:
    """The share of groups with a hit; or hits, and relevant rows."""
    if average == "group":
        return (ListMean(Measure.of("hr", k, relevance_level=relevance_level), ties, empty),)
    hits = Measure.of("hits", k, relevance_level=relevance_level)
    relevant = Measure.of("n_relevant", relevance_level=relevance_level)
    return ListMean(hits, ties, "zero"), ListMean(relevant, ties, "zero")


@metric(
    "hr",
    exchange="group",
    statistics=hit_statistics,
    function=hit_rate,
    undefined="no group",
    parameters={"average": "group"} | COMMON,
    checks=CHECKS | {"average": AVERAGES},
    default=False,
    cutoff="required",
    target="graded",
)
def finalise_hr(parameters: dict[str, Any], *states: Sums) -> Value:
    """Hit rate at k: the share of groups with a relevant row among their first k."""
    return (
        finalise_mean(parameters, *states) if parameters["average"] == "group" else finalise_ratio(parameters, *states)
    )
