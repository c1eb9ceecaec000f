"""`evaluate_recommendations`: lists of recommended items, without scores, against the relevant items of each user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.array_types import plain_values
from fastmetrics._core.columns.weights import as_weights
from fastmetrics._core.parallel import count_threads
from fastmetrics.metrics.ranking.lists import list_measures
from fastmetrics.metrics.ranking.lists.ids import Ids, IntegerIds, as_ids, ids_from_objects, no_ids
from fastmetrics.metrics.ranking.runs.evaluate_ranking import weights_from_mapping
from fastmetrics.metrics.ranking.runs.join import JoinedLists, RowsByQuery, join_matched
from fastmetrics.metrics.ranking.runs.ranking_result import (
    RankingResult,
    RunEvaluation,
    RunOptions,
    as_relevance_level,
    resolve_metrics,
)

if TYPE_CHECKING:
    from fastmetrics._core.registry import Metrics
    from fastmetrics._core.types.arrays import Label, MatrixLike, NumericArrayLike
    from fastmetrics._core.types.options import Empty

__all__ = ["evaluate_recommendations"]

LISTS_WANTED = "a list of item lists, or a two-dimensional array of item ids"
TRUTH_WANTED = "a list of item lists, sets or dicts (item to grade), a CSR matrix, or (indptr, indices[, data])"


@answers_unknown
def evaluate_recommendations(
    relevant: MatrixLike,
    recommended: MatrixLike,
    metrics: Metrics | None = None,
    *,
    padding: Label | None = None,
    empty: Empty = "zero",
    relevance_level: float = 1,
    sample_weight: NumericArrayLike | Mapping[Any, float] | None = None,
    n_threads: int | None = None,
) -> RankingResult:
    """Evaluate lists of recommended items, best first, against the relevant items of each user.

    This is `evaluate_ranking` for lists without scores: the item at rank r is the r-th of a user's list. A value is the
    mean over users: sum_u w_u m_u / sum_u w_u (G. Shani and A. Gunawardana, 2011, Evaluating recommendation systems).

    Parameters
    ----------
    relevant : sequence, or CSR
        The relevant items of every user, users in the same order: lists or sets of items (grade 1), dicts from item to
        grade, a ``scipy.sparse`` CSR matrix (or array) whose columns are item ids and whose data are grades, or its
        arrays ``(indptr, indices)`` or ``(indptr, indices, data)``.
    recommended : sequence of sequences, or array of shape (n_users, n_items)
        Item ids of every user, best first: integers or strings. Lists may differ in length and may be empty.
    metrics : str or sequence of str, optional
        Metric strings of ranked lists: ``"ndcg@10"``, ``"hr@10"``, ``"map@10"``, ``"recall@50"`` ... as for
        `evaluate_ranking`.
    padding : int or str, optional
        The id that fills up short lists at their end, for example -1 in an array. None: every id is an item.
    empty : {"zero", "skip", "one", "nan", "raise"}
        A user without a relevant item. "zero": the user counts as 0. "skip": the user is left out. "one": the user
        counts as 1. "nan": the mean is NaN. "raise": it is an error.
    relevance_level : float
        The smallest grade of a relevant item.
    sample_weight : array-like of shape (n_lists,) or (n,), optional
        Weights of lists, from 0 to 1e300, not all zero. With `groups`, one for each row, equal for all rows of a group.
        A list of weight zero is left out.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    RankingResult
        As for `evaluate_ranking`; ``per_query`` has one row for each ``user``, numbered from 0.

    Raises
    ------
    ValueError
        An item occurs twice in a list or among a user's relevant items (the message names user and item), padding is
        followed by an item, numbers of users differ, there are no users, a grade is not finite, or a metric or option
        is unknown.
    TypeError
        The item ids of recommended and relevant are of different kinds.

    Notes
    -----
    A user whose list is empty counts (``coverage["users_empty"]``). For users without a relevant item
    (``coverage["users_without_relevant"]``) see `empty`.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> relevant = [{"chair", "bed"}, {"lamp"}, {"sofa"}]
    >>> recommended = [["lamp", "chair", "desk"], ["sofa"], []]
    >>> result = fm.evaluate_recommendations(relevant, recommended, ["hr@3", "mrr", "recall@3"])
    >>> result
    3 users, 1.333 items each
    hr@3      0.3333
    mrr       0.1667
    recall@3  0.1667

    An array with padding, and dicts with grades:

    >>> recommended = [[4, 2, 9], [7, -1, -1]]
    >>> fm.evaluate_recommendations([{2: 1, 9: 3}, {7: 1}], recommended, "ndcg@3", padding=-1)["ndcg@3"]
    0.79344133571786
    """
    validation.check_option(empty, "empty", list_measures.EMPTY_POLICIES)
    threads = count_threads(n_threads)
    options = RunOptions("stable", empty, as_relevance_level(relevance_level))
    resolved = resolve_metrics(metrics, options)
    lists = read_lists(plain_values(recommended, "recommended"), padding)
    truth = read_truth(plain_values(relevant, "relevant"))
    validation.check_lengths(lists.n_queries, truth.n_queries, "recommended", "relevant")
    if lists.n_queries == 0:
        raise ValueError("recommended is empty: at least one user is needed")
    # A side without any item takes the kind of ids of the other.
    if not lists.item.rows:
        lists = lists._replace(item=truth.item.take(np.zeros(0, np.int64)))
    if not truth.item.rows:
        truth = truth._replace(item=lists.item.take(np.zeros(0, np.int64)))
    join = join_matched(lists, truth, np.arange(lists.n_queries), "zero", threads)
    list_weights = None if sample_weight is None else user_weights(sample_weight, join)
    return RankingResult(RunEvaluation(join, resolved, options, list_weights, threads, "user"))


def user_weights(weights: Any, join: JoinedLists) -> np.ndarray:
    if isinstance(weights, Mapping):
        return weights_from_mapping(weights, join.queries, "user")
    return as_weights(weights, join.queries.rows, "recommended", "sample_weight")


def rows_by_user(item: Ids, values: np.ndarray, sizes: np.ndarray, name: str) -> RowsByQuery:
    """The items and values of every user; users are numbered from 0."""
    offsets = np.append(0, np.cumsum(sizes))
    return RowsByQuery(IntegerIds(np.arange(sizes.shape[0])), None, offsets, item, values, None, name, "user")


def read_lists(recommended: Any, padding: Any) -> RowsByQuery:
    """The recommended lists, with scores that descend along each list."""
    if isinstance(recommended, np.ndarray) and recommended.dtype != object:
        item, sizes = read_matrix(recommended, padding)
    else:
        item, sizes = read_ragged_lists(recommended, padding)
    starts = np.cumsum(sizes) - sizes
    places = np.arange(int(sizes.sum()), dtype=np.int64) - np.repeat(starts, sizes)
    return rows_by_user(item, -places.astype(np.float64), sizes, "recommended")


def read_matrix(recommended: np.ndarray, padding: Any) -> tuple[Ids, np.ndarray]:
    if recommended.ndim != 2:
        raise ValueError(f"recommended must be {LISTS_WANTED}; found an array of shape {recommended.shape}")
    rows, width = recommended.shape
    if padding is None or (recommended.dtype.kind in "UT") != isinstance(padding, str):
        kept = np.ones((rows, width), np.bool_)
    else:
        kept = recommended != padding
    sizes = kept.sum(axis=1)
    after_padding = kept & (np.arange(width) >= sizes[:, None])
    if after_padding.any():
        user = validation.first_bad_row(after_padding.any(axis=1))
        raise_padding(user, validation.first_bad_row(~kept[user]), recommended[user][after_padding[user]][0].item())
    items = recommended[kept]
    return as_ids(items, "recommended") if items.shape[0] else no_ids(), sizes.astype(np.int64)


def raise_padding(user: int, place: int, item: Any) -> NoReturn:
    raise ValueError(
        f"recommended has padding at place {place} of user {user} and item {item!r} behind it: padding belongs at the "
        "end"
    )


def read_ragged_lists(recommended: Any, padding: Any) -> tuple[Ids, np.ndarray]:
    if isinstance(recommended, (str, bytes, Mapping)) or not isinstance(recommended, Iterable):
        raise validation.InputError(f"recommended must be {LISTS_WANTED}; found {type(recommended).__name__}")
    lists = [as_list(items, "recommended", user) for user, items in enumerate(recommended)]
    if padding is not None:
        lists = [strip_padding(items, padding, user) for user, items in enumerate(lists)]
    sizes = np.fromiter(map(len, lists), np.int64, len(lists))
    return ids_from_objects(list(chain.from_iterable(lists)), "items of recommended"), sizes


def as_list(items: Any, name: str, user: int) -> list[Any]:
    """The items of a user as a list."""
    if isinstance(items, list):
        return items
    if isinstance(items, (str, bytes, Mapping, set, frozenset)) or not isinstance(items, Iterable):
        order = "; the order is relevant, recommended" if name == "recommended" else ""
        raise validation.InputError(
            f"{name} must have a list of items for every user; user {user} has {items!r}{order}"
        )
    return list(items.tolist() if isinstance(items, np.ndarray) else items)


def strip_padding(items: list[Any], padding: Any, user: int) -> list[Any]:
    """The items without the padding at their end."""
    n_items = len(items)
    while n_items and items[n_items - 1] == padding:
        n_items -= 1
    for place in range(n_items):
        if items[place] == padding:
            raise_padding(user, place, items[n_items - 1])
    return items[:n_items]


def read_truth(relevant: Any) -> RowsByQuery:
    """The relevant items and grades of every user."""
    if hasattr(relevant, "indptr") and hasattr(relevant, "indices"):
        if getattr(relevant, "format", "csr") != "csr":
            raise ValueError(f"relevant is a sparse matrix of format {relevant.format!r}: use .tocsr()")
        return read_csr(relevant.indptr, relevant.indices, relevant.data)
    if hasattr(relevant, "tocsr"):
        return read_truth(relevant.tocsr())
    if isinstance(relevant, tuple) and relevant and all(isinstance(array, np.ndarray) for array in relevant):
        if len(relevant) not in (2, 3):
            raise ValueError(f"relevant must be {TRUTH_WANTED}; found a tuple of {len(relevant)} arrays")
        return read_csr(*relevant)
    if isinstance(relevant, (str, bytes, Mapping)) or not isinstance(relevant, Iterable):
        raise validation.InputError(f"relevant must be {TRUTH_WANTED}; found {type(relevant).__name__}")
    return read_item_sets(list(relevant))


def read_csr(indptr: Any, indices: Any, data: Any = None) -> RowsByQuery:
    starts = validation.as_array(indptr, "indptr")
    columns = validation.as_array(indices, "indices")
    if starts.ndim != 1 or starts.dtype.kind not in "iu" or starts.shape[0] == 0:
        raise ValueError("indptr of relevant must be integers, one more than there are users")
    sizes = np.diff(starts.astype(np.int64))
    if int(starts[0]) != 0 or (sizes < 0).any() or int(starts[-1]) != columns.shape[0]:
        raise ValueError("indptr of relevant must begin at 0, never fall, and end at the number of indices")
    item = as_ids(columns, "relevant") if columns.shape[0] else no_ids()
    if data is None or not columns.shape[0]:
        grades = np.ones(columns.shape[0])
    else:
        grades = validation.as_numbers(data, "data of relevant").astype(np.float64, copy=False)
        validation.check_lengths(columns.shape[0], grades.shape[0], "indices of relevant", "data")
    return rows_by_user(item, grades, sizes, "relevant")


def read_item_sets(users: list[Any]) -> RowsByQuery:
    """Relevant items from lists or sets of items, or from dicts of item to grade."""
    items: list[Any] = []
    grades: list[Any] = []
    sizes = np.empty(len(users), np.int64)
    for user, relevant in enumerate(users):
        if isinstance(relevant, Mapping):
            user_items = list(relevant)
            grades.extend(relevant.values())
        else:
            is_set = isinstance(relevant, (set, frozenset))
            user_items = list(relevant) if is_set else as_list(relevant, "relevant", user)
            grades.extend([1] * len(user_items))
        items.extend(user_items)
        sizes[user] = len(user_items)
    values = validation.as_numbers(grades, "grades of relevant") if grades else np.empty(0)
    ids = ids_from_objects(items, "items of relevant")
    return rows_by_user(ids, values.astype(np.float64, copy=False), sizes, "relevant")
