"""Lists of recommended items against the items that were relevant: a rank is a place in a list, there are no scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.parallel import count_threads
from fastmetrics.metrics.ranking import measures
from fastmetrics.metrics.ranking.ids import Ids, Integers, as_ids, of_objects
from fastmetrics.metrics.ranking.joined import Arranged, Joined, join_matched
from fastmetrics.metrics.ranking.results import Evaluation, Options, RankingResult, checked_level, resolve
from fastmetrics.metrics.ranking.runs import list_weights

NO_TABLE: np.ndarray = np.empty(0, np.uint64)
LISTS_WANTED = "a list of item lists, or a two-dimensional array of item ids"
TRUTH_WANTED = "a list of item lists, sets or dicts (item to grade), a CSR matrix, or (indptr, indices[, data])"


def evaluate_recommendations(
    recommended: Any,
    relevant: Any,
    metrics: str | Sequence[str],
    *,
    padding: Any = None,
    empty: str = "zero",
    relevance_level: float = 1,
    weights: Any = None,
    n_threads: int | None = None,
) -> RankingResult:
    """Evaluate lists of recommended items, best first, against what each user found relevant.

    As `evaluate_ranking`, for those who have lists and no scores: rank r is place r of a user's list. A value is the
    mean over users: sum_u w_u m_u / sum_u w_u (G. Shani and A. Gunawardana, 2011, Evaluating recommendation systems).

    Parameters
    ----------
    recommended : sequence of sequences, or array of shape (n_users, n_items)
        Item ids of every user, best first: integers or strings. Lists may differ in length and be empty.
    relevant : sequence, or CSR
        What is relevant to every user, in the same order of users: lists or sets of items (grade 1), dicts of item to
        grade, a ``scipy.sparse`` CSR matrix (or array) whose columns are item ids and whose data are grades, or
        ``(indptr, indices)`` or ``(indptr, indices, data)`` of one.
    metrics : str or sequence of str
        Metric strings of ranked lists: ``"ndcg@10"``, ``"hr@10"``, ``"map@10"``, ``"recall@50"`` ...
    padding : int or str, optional
        The id that marks empty places at the end of lists, say -1 in an array. None: every id is an item.
    empty : {"zero", "skip", "one", "nan", "raise"}
        A user without a relevant item counts as 0 or 1, is left out, makes the mean NaN, is an error.
    relevance_level : float
        The smallest grade that is relevant.
    weights : array-like of shape (n_users,) or mapping, optional
        The weight of every user; None: all weigh the same.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    RankingResult
        As of `evaluate_ranking`; ``by_query`` has a row per ``user``, numbered from 0.

    Raises
    ------
    ValueError
        An item twice in a list or among a user's relevant ones (user and item are named), padding before an item,
        numbers of users that differ, no users, grades that are not finite, an unknown metric or option.
    TypeError
        Item ids of recommended and relevant that are not of one kind.

    Notes
    -----
    Users whose list is empty count with an empty list (``coverage["users_empty"]``), users without a relevant
    item by `empty` (``coverage["users_without_relevant"]``).

    Examples
    --------
    >>> import fastmetrics as fm
    >>> recommended = [["lamp", "chair", "desk"], ["sofa"], []]
    >>> relevant = [{"chair", "bed"}, {"lamp"}, {"sofa"}]
    >>> result = fm.evaluate_recommendations(recommended, relevant, ["hr@3", "mrr", "recall@3"])
    >>> result
    3 users, 1.333 items each
    hr@3      0.3333
    mrr       0.1667
    recall@3  0.1667

    An array with places that are empty, grades as dicts:

    >>> recommended = [[4, 2, 9], [7, -1, -1]]
    >>> fm.evaluate_recommendations(recommended, [{2: 1, 9: 3}, {7: 1}], "ndcg@3", padding=-1)["ndcg@3"]
    0.79344133571786
    """
    inputs.check_option(empty, "empty", measures.EMPTY)
    threads = count_threads(n_threads)
    options = Options("stable", empty, checked_level(relevance_level))
    wanted = resolve(metrics, options)
    lists = open_lists(recommended, padding)
    truth = open_truth(relevant)
    inputs.check_lengths(lists.n_queries, truth.n_queries, "recommended", "relevant")
    if lists.n_queries == 0:
        raise ValueError("recommended is empty: at least one user is needed")
    join = join_users(lists, truth, threads)
    own = None if weights is None else user_weights(weights, join)
    return RankingResult(Evaluation(join, wanted, options, own, threads, "user"))


def join_users(lists: Arranged, truth: Arranged, n_threads: int) -> Joined:
    """User by user; where one side has no item at all, its ids are of the other's kind."""
    if not lists.item.rows:
        lists = lists._replace(item=truth.item.take(np.zeros(0, np.int64)))
    if not truth.item.rows:
        truth = truth._replace(item=lists.item.take(np.zeros(0, np.int64)))
    return join_matched(lists, truth, np.arange(lists.n_queries), "zero", n_threads)


def user_weights(weights: Any, join: Joined) -> np.ndarray:
    n_users = join.offsets.shape[0] - 1
    if isinstance(weights, Mapping):
        return list_weights(weights, join.queries, "user")
    return inputs.as_weights(weights, n_users, "recommended", "weights")


def arranged(item: Ids, values: np.ndarray, sizes: np.ndarray, name: str) -> Arranged:
    """Items by user, users numbered from 0."""
    offsets = np.zeros(sizes.shape[0] + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return Arranged(Integers(np.arange(sizes.shape[0])), NO_TABLE, offsets, item, values, None, name, "user")


def open_lists(recommended: Any, padding: Any) -> Arranged:
    """The lists one after the other; scores fall with the place."""
    if isinstance(recommended, np.ndarray) and recommended.dtype != object:
        item, sizes = open_matrix(recommended, padding)
    else:
        item, sizes = open_ragged(recommended, padding)
    starts = np.cumsum(sizes) - sizes
    places = np.arange(int(sizes.sum()), dtype=np.int64) - np.repeat(starts, sizes)
    return arranged(item, -places.astype(np.float64), sizes, "recommended")


def open_matrix(recommended: np.ndarray, padding: Any) -> tuple[Ids, np.ndarray]:
    if recommended.ndim != 2:
        raise ValueError(f"recommended must be {LISTS_WANTED}; found an array of shape {recommended.shape}")
    rows, width = recommended.shape
    is_text = recommended.dtype.kind in "UT"
    if padding is None or is_text != isinstance(padding, str):
        kept = np.ones((rows, width), np.bool_)
    else:
        kept = recommended != padding
    sizes = kept.sum(axis=1)
    late = kept & (np.arange(width) >= sizes[:, None])
    if late.any():
        user = int(np.flatnonzero(late.any(axis=1))[0])
        refuse_padding(user, int(np.flatnonzero(~kept[user])[0]), recommended[user][late[user]][0].item())
    flat = recommended[kept]
    return as_ids(flat, "recommended") if flat.shape[0] else no_items(), sizes.astype(np.int64)


def refuse_padding(user: int, place: int, item: Any) -> NoReturn:
    raise ValueError(
        f"recommended has padding at place {place} of user {user} and item {item!r} behind it: padding is for the end"
    )


def no_items() -> Ids:
    return Integers(np.zeros(0, np.int64))


def open_ragged(recommended: Any, padding: Any) -> tuple[Ids, np.ndarray]:
    if isinstance(recommended, (str, bytes, Mapping)) or not isinstance(recommended, Iterable):
        raise inputs.InputError(f"recommended must be {LISTS_WANTED}; found {type(recommended).__name__}")
    lists = [plain_list(items, "recommended", user) for user, items in enumerate(recommended)]
    if padding is not None:
        lists = [without_padding(items, padding, user) for user, items in enumerate(lists)]
    sizes = np.fromiter(map(len, lists), np.int64, len(lists))
    return of_objects(list(chain.from_iterable(lists)), "items of recommended"), sizes


def plain_list(items: Any, name: str, user: int) -> list[Any]:
    """A user's items, in their order."""
    if isinstance(items, list):
        return items
    if isinstance(items, (str, bytes, Mapping, set, frozenset)) or not isinstance(items, Iterable):
        raise inputs.InputError(f"{name} must have a list of items for every user; user {user} has {items!r}")
    return list(items.tolist() if isinstance(items, np.ndarray) else items)


def without_padding(items: list[Any], padding: Any, user: int) -> list[Any]:
    n_items = len(items)
    while n_items and items[n_items - 1] == padding:
        n_items -= 1
    for place in range(n_items):
        if items[place] == padding:
            refuse_padding(user, place, items[n_items - 1])
    return items[:n_items]


def open_truth(relevant: Any) -> Arranged:
    """Relevant items and grades by user."""
    if hasattr(relevant, "indptr") and hasattr(relevant, "indices"):
        if getattr(relevant, "format", "csr") != "csr":
            raise ValueError(f"relevant is a sparse matrix of format {relevant.format!r}: use .tocsr()")
        return open_csr(relevant.indptr, relevant.indices, relevant.data)
    if hasattr(relevant, "tocsr"):
        return open_truth(relevant.tocsr())
    if isinstance(relevant, tuple) and relevant and all(isinstance(part, np.ndarray) for part in relevant):
        if len(relevant) not in (2, 3):
            raise ValueError(f"relevant must be {TRUTH_WANTED}; found a tuple of {len(relevant)} arrays")
        return open_csr(*relevant)
    if isinstance(relevant, (str, bytes, Mapping)) or not isinstance(relevant, Iterable):
        raise inputs.InputError(f"relevant must be {TRUTH_WANTED}; found {type(relevant).__name__}")
    return open_sets(list(relevant))


def open_csr(indptr: Any, indices: Any, data: Any = None) -> Arranged:
    places = inputs.as_array(indptr, "indptr")
    columns = inputs.as_array(indices, "indices")
    if places.ndim != 1 or places.dtype.kind not in "iu" or places.shape[0] == 0:
        raise ValueError("indptr of relevant must be integers, one more than there are users")
    sizes = np.diff(places.astype(np.int64))
    if int(places[0]) != 0 or (sizes < 0).any() or int(places[-1]) != columns.shape[0]:
        raise ValueError("indptr of relevant must begin at 0, never fall, and end at the number of indices")
    item = as_ids(columns, "relevant") if columns.shape[0] else no_items()
    if data is None or not columns.shape[0]:
        grades = np.ones(columns.shape[0])
    else:
        grades = inputs.as_numbers(data, "data of relevant").astype(np.float64, copy=False)
        inputs.check_lengths(columns.shape[0], grades.shape[0], "indices of relevant", "data")
    return arranged(item, grades, sizes, "relevant")


def open_sets(users: list[Any]) -> Arranged:
    """Lists or sets of items, or dicts of item to grade."""
    items: list[Any] = []
    grades: list[Any] = []
    sizes = np.empty(len(users), np.int64)
    for user, own in enumerate(users):
        if isinstance(own, Mapping):
            plain = list(own)
            grades.extend(own.values())
        else:
            plain = list(own) if isinstance(own, (set, frozenset)) else plain_list(own, "relevant", user)
            grades.extend([1] * len(plain))
        items.extend(plain)
        sizes[user] = len(plain)
    values = inputs.as_numbers(grades, "grades of relevant") if grades else np.empty(0)
    return arranged(of_objects(items, "items of relevant"), values.astype(np.float64, copy=False), sizes, "relevant")
