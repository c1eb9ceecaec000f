"""Gains of ranked lists: cumulative, discounted, ideal, and the ratio of the last two, NDCG."""

from __future__ import annotations

from typing import Any

from fastmetrics._core import inputs
from fastmetrics.metrics.ranking import measures
from fastmetrics.metrics.ranking.lists import Given, answer, check_options, score_lists
from fastmetrics.metrics.ranking.measures import BINARY_LOGARITHM, Discounts, Measure
from fastmetrics.metrics.ranking.tables import enter_mean

GAIN = {"gain": ("linear", tuple(measures.GAINS))}
IDEAL = {"ideal": ("judged", tuple(measures.IDEALS))}


def gain_means(
    function: str,
    measure: str,
    given: Given,
    k: Any,
    gain: str,
    ideal: str,
    relevance_level: float,
    **options: Any,
) -> Any:
    """What the functions of gains have in common."""
    cutoffs, several = measures.check_cutoffs(k)
    inputs.check_option(gain, "gain", tuple(measures.GAINS))
    inputs.check_option(ideal, "ideal", tuple(measures.IDEALS))
    level = measures.check_level(relevance_level)
    wanted = [Measure.of(measure, own, gain=gain, ideal=ideal, relevance_level=level) for own in cutoffs]
    return answer(function, score_lists(given, wanted, check_options(**options)), several)


def discounts_of(log_base: Any) -> Discounts:
    """The discounts of a logarithm; those of base 2 are kept."""
    base = measures.check_number(log_base, "log_base", 1.0, float("inf"), "a finite number above 1")
    return BINARY_LOGARITHM if base == 2 else Discounts(base)


def ndcg_score(
    y_true: Any,
    y_score: Any,
    groups: Any = None,
    *,
    k: Any = None,
    gain: str = "linear",
    ideal: str = "judged",
    offsets: Any = None,
    relevance_level: float = 1,
    ties: str = "average",
    empty: str = "zero",
    items: Any = None,
    sample_weight: Any = None,
    ignore_ties: bool = False,
    n_threads: int | None = None,
) -> Any:
    """Normalised discounted cumulative gain: DCG over the DCG of the best order.

    NDCG@k = DCG@k / IDCG@k, averaged over lists (K. Järvelin and J. Kekäläinen, 2002, Cumulated gain-based evaluation
    of IR techniques, ACM TOIS 20(4)). Two-dimensional arrays give what scikit-learn's function of this name gives.

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
    gain : {"linear", "exp2", "binary"}
        What a row is worth: y_true; 2**y_true - 1; 1 where y_true >= relevance_level.
    ideal : {"judged", "k"}
        The best list: the rows of the list, best first, cut at k; or k rows of gain 1.
    offsets : array-like of shape (n_lists + 1,), optional
        List i has the rows offsets[i] to offsets[i + 1].
    relevance_level : float
        A row is relevant where its y_true is at least this; above 0.
    ties : {"average", "docid", "stable", "optimistic", "pessimistic"}
        What equal scores mean: the expected value over all orders of the tied rows; the greater item first, as
        trec_eval; the earlier row first; the more (less) relevant row first.
    empty : {"zero", "skip", "one", "nan", "raise"}
        What a list without a gain counts: 0, nothing, 1; or it makes the result NaN, or is an error.
    items : array-like of shape (n,), optional
        Ids of rows, each once in a list: integers (compared as numbers) or strings (by their bytes), for ties="docid".
    sample_weight : array-like, optional
        Weights of lists: of shape (n_lists,); with `groups` of shape (n,), the same for all rows of a group. A list of
        weight zero is absent.
    ignore_ties : bool
        Break ties by position instead, the later row first (scikit-learn leaves them to NumPy's sort, whose order of
        ties depends on the CPU): faster where there are none.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float, or numpy.ndarray of shape (len(k),) where k is a sequence
        In [0, 1] (with ideal="k" gains above 1 may lead beyond).

    Raises
    ------
    ValueError
        NaN or null in any column, relevance below zero, bad options, shapes that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.ndcg_score([[3, 1, 2, 3, 2]], [[5, 4, 3, 2, 1]])  # doctest: +ELLIPSIS
    0.937...
    >>> users = ["ann", "bob", "ann", "bob", "ann"]
    >>> fm.ndcg_score([1, 0, 0, 1, 2], [0.9, 0.3, 0.8, 0.2, 0.7], users, k=[1, 2]).round(3).tolist()
    [0.25, 0.506]
    """
    return gain_means(
        "ndcg_score",
        "ndcg",
        Given(y_true, y_score, groups, offsets, sample_weight),
        k,
        gain,
        ideal,
        relevance_level,
        ties=ties,
        empty=empty,
        n_threads=n_threads,
        items=items,
        ignore_ties=ignore_ties,
    )


def dcg_score(
    y_true: Any,
    y_score: Any,
    groups: Any = None,
    *,
    k: Any = None,
    log_base: float = 2,
    gain: str = "linear",
    offsets: Any = None,
    relevance_level: float = 1,
    ties: str = "average",
    items: Any = None,
    sample_weight: Any = None,
    ignore_ties: bool = False,
    n_threads: int | None = None,
) -> Any:
    """Discounted cumulative gain: gains over the logarithm of their rank.

    DCG@k = sum over the first k rows of gain / log2(rank + 1), averaged over lists (K. Järvelin and J. Kekäläinen,
    2002, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4)). Two-dimensional arrays give what scikit-
    learn's function of this name gives.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n_lists, n_rows)
        Relevance of every row, any finite numbers.
    y_score : array-like of the shape of y_true
        Scores; float32 and float64 are read as they are, integers and float16 widened.
    groups : array-like of shape (n,), optional
        Keys of lists (queries, users): integers or strings, in any order. Without them lists are those of `offsets`, or
        the rows of two-dimensional arrays.
    k : int or sequence of int, optional
        Cutoff: rows below rank k do not count (None: all rows do). Of several, all are computed in one pass.
    log_base : float
        Base of the discount's logarithm, above 1.
    gain : {"linear", "exp2", "binary"}
        What a row is worth: y_true; 2**y_true - 1; 1 where y_true >= relevance_level.
    offsets : array-like of shape (n_lists + 1,), optional
        List i has the rows offsets[i] to offsets[i + 1].
    relevance_level : float
        A row is relevant where its y_true is at least this; above 0.
    ties : {"average", "docid", "stable", "optimistic", "pessimistic"}
        What equal scores mean: the expected value over all orders of the tied rows; the greater item first, as
        trec_eval; the earlier row first; the more (less) relevant row first.
    items : array-like of shape (n,), optional
        Ids of rows, each once in a list: integers (compared as numbers) or strings (by their bytes), for ties="docid".
    sample_weight : array-like, optional
        Weights of lists: of shape (n_lists,); with `groups` of shape (n,), the same for all rows of a group. A list of
        weight zero is absent.
    ignore_ties : bool
        Break ties by position instead, the later row first (scikit-learn leaves them to NumPy's sort, whose order of
        ties depends on the CPU): faster where there are none.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float, or numpy.ndarray of shape (len(k),) where k is a sequence
        Not normalised; 0 for lists without a gain.

    Raises
    ------
    ValueError
        NaN or null in any column, bad options, shapes that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.dcg_score([[3, 1, 2, 3, 2]], [[5, 4, 3, 2, 1]])  # doctest: +ELLIPSIS
    6.69...
    """
    return gain_means(
        "dcg_score",
        "dcg",
        Given(y_true, y_score, groups, offsets, sample_weight),
        k,
        gain,
        "judged",
        relevance_level,
        ties=ties,
        empty="zero",
        n_threads=n_threads,
        items=items,
        ignore_ties=ignore_ties,
        signed_gains=True,
        discounts=discounts_of(log_base),
    )


def ideal_dcg(
    y_true: Any,
    y_score: Any,
    groups: Any = None,
    *,
    k: Any = None,
    gain: str = "linear",
    ideal: str = "judged",
    offsets: Any = None,
    relevance_level: float = 1,
    ties: str = "average",
    items: Any = None,
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> Any:
    """DCG of the best order of each list, by which NDCG divides.

    IDCG@k = sum over the k greatest gains of gain / log2(rank + 1), averaged over lists (K. Järvelin and J.
    Kekäläinen, 2002, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4)). Scores decide nothing but
    which rows there are.

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
    gain : {"linear", "exp2", "binary"}
        What a row is worth: y_true; 2**y_true - 1; 1 where y_true >= relevance_level.
    ideal : {"judged", "k"}
        The best list: the rows of the list, best first, cut at k; or k rows of gain 1.
    offsets : array-like of shape (n_lists + 1,), optional
        List i has the rows offsets[i] to offsets[i + 1].
    relevance_level : float
        A row is relevant where its y_true is at least this; above 0.
    ties : {"average", "docid", "stable", "optimistic", "pessimistic"}
        What equal scores mean: the expected value over all orders of the tied rows; the greater item first, as
        trec_eval; the earlier row first; the more (less) relevant row first.
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
        0 for lists without a gain.

    Raises
    ------
    ValueError
        NaN or null in any column, relevance below zero, bad options, shapes that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.ideal_dcg([[3, 1, 2, 3, 2]], [[5, 4, 3, 2, 1]])  # doctest: +ELLIPSIS
    7.14...
    """
    return gain_means(
        "ideal_dcg",
        "idcg",
        Given(y_true, y_score, groups, offsets, sample_weight),
        k,
        gain,
        ideal,
        relevance_level,
        ties=ties,
        empty="zero",
        n_threads=n_threads,
        items=items,
    )


def cumulative_gain(
    y_true: Any,
    y_score: Any,
    groups: Any = None,
    *,
    k: Any = None,
    gain: str = "linear",
    offsets: Any = None,
    relevance_level: float = 1,
    ties: str = "average",
    items: Any = None,
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> Any:
    """Cumulative gain: the sum of the gains at the top.

    CG@k = sum over the first k rows of gain, averaged over lists (K. Järvelin and J. Kekäläinen, 2002, Cumulated
    gain-based evaluation of IR techniques, ACM TOIS 20(4)).

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n_lists, n_rows)
        Relevance of every row, any finite numbers.
    y_score : array-like of the shape of y_true
        Scores; float32 and float64 are read as they are, integers and float16 widened.
    groups : array-like of shape (n,), optional
        Keys of lists (queries, users): integers or strings, in any order. Without them lists are those of `offsets`, or
        the rows of two-dimensional arrays.
    k : int or sequence of int, optional
        Cutoff: rows below rank k do not count (None: all rows do). Of several, all are computed in one pass.
    gain : {"linear", "exp2", "binary"}
        What a row is worth: y_true; 2**y_true - 1; 1 where y_true >= relevance_level.
    offsets : array-like of shape (n_lists + 1,), optional
        List i has the rows offsets[i] to offsets[i + 1].
    relevance_level : float
        A row is relevant where its y_true is at least this; above 0.
    ties : {"average", "docid", "stable", "optimistic", "pessimistic"}
        What equal scores mean: the expected value over all orders of the tied rows; the greater item first, as
        trec_eval; the earlier row first; the more (less) relevant row first.
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
        Not normalised; 0 for lists without a gain.

    Raises
    ------
    ValueError
        NaN or null in any column, bad options, shapes that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.cumulative_gain([[3, 1, 2, 3, 2]], [[5, 4, 3, 2, 1]])
    11.0
    """
    return gain_means(
        "cumulative_gain",
        "cg",
        Given(y_true, y_score, groups, offsets, sample_weight),
        k,
        gain,
        "judged",
        relevance_level,
        ties=ties,
        empty="zero",
        n_threads=n_threads,
        items=items,
        signed_gains=True,
    )


enter_mean(
    "ndcg",
    "Normalised discounted cumulative gain at k: DCG over the DCG of the best order.",
    ndcg_score,
    GAIN | IDEAL,
    cutoff=True,
)
enter_mean(
    "dcg",
    "Discounted cumulative gain at k: gains over the logarithm of their rank.",
    dcg_score,
    GAIN,
    cutoff=True,
    may_be_empty=False,
    negative_grades=True,
)
enter_mean(
    "idcg",
    "DCG at k of the best order of each group.",
    ideal_dcg,
    GAIN | IDEAL,
    cutoff=True,
    may_be_empty=False,
    best="none",
)
enter_mean(
    "cg",
    "Cumulative gain at k: the sum of the gains at the top.",
    cumulative_gain,
    GAIN,
    cutoff=True,
    may_be_empty=False,
    negative_grades=True,
)
