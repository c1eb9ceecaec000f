"""AUC of every group, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns.class_labels import binary_labels
from fastmetrics._core.columns.row_blocks import UnpooledScratch
from fastmetrics._core.exchange.group_rows import FIRST_OUTPUT, exchange_rows
from fastmetrics._core.exchange.hash_exchange import GroupLayout
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.results.column_table import ColumnTable
from fastmetrics.metrics.ranking.lists.group_pairs import PairsByGroup

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import KeysLike, Label, NumericArrayLike

__all__ = ["GroupTable", "auc_by_group"]


class GroupTable(ColumnTable):
    """The AUC of every group, as columns sorted by group.

    Attributes
    ----------
    group : numpy.ndarray
        The group keys: integers (int32, int64 or uint64; smaller types widened), strings (dtype object), booleans,
        floats, dates or times. Keys of several columns are a structured array: ``group["session"]`` is one of them.
    auc : numpy.ndarray of float64
        NaN if a group has only one class.
    n, n_positives : numpy.ndarray of int64
        Rows and positive rows, without rows of weight 0.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> table = fm.auc_by_group([1, 0, 0, 1], [0.9, 0.3, 0.8, 0.2], ["ann", "ann", "bob", "bob"])
    >>> table.group.tolist(), table.auc.tolist()
    (['ann', 'bob'], [1.0, 0.0])
    """

    __slots__ = ()

    group: np.ndarray
    auc: np.ndarray
    n: np.ndarray
    n_positives: np.ndarray

    def __init__(self, group: np.ndarray, auc: np.ndarray, n: np.ndarray, n_positives: np.ndarray) -> None:
        super().__init__({"group": group, "auc": auc, "n": n, "n_positives": n_positives})


@answers_unknown
def auc_by_group(
    y_true: NumericArrayLike,
    y_score: NumericArrayLike,
    groups: KeysLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    pos_label: Label | None = None,
    n_threads: int | None = None,
) -> GroupTable:
    """The AUC of every group, with its numbers of rows.

    AUC_g = (pairs won + pairs tied / 2) / (positives * negatives) over the group's rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive. float32 and float64 are read without conversion; integers and float16
        are widened. Infinities are ordered, -0.0 ties with 0.0, and scores tie only if they are exactly equal.
    groups : array-like of shape (n,)
        Keys: integers, strings, booleans, dates, times or floats, in any order. Rows with equal keys are one group,
        wherever they stand. A DataFrame, an Arrow table or a dict of columns gives keys of several columns.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300. A row of weight zero is left out.
    pos_label : int, float, bool or str, optional
        The label of the positive class; all other labels are negative. Required if labels are not 0 and 1, or -1 and
        +1.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    GroupTable
        Columns group, auc (NaN if the group has only one class), n, n_positives, sorted by group.

    Raises
    ------
    ValueError
        A column has NaN or null, labels are invalid, lengths differ, or there are no rows. The message names the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> table = fm.auc_by_group([1, 0, 0, 1], [0.9, 0.3, 0.8, 0.2], [7, 5, 7, 5])
    >>> table.group.tolist(), table.auc.tolist(), table.n.tolist(), table.n_positives.tolist()
    ([5, 7], [0.0, 1.0], [2, 2], [1, 1])
    """
    labels = binary_labels(y_true, pos_label)
    exchange = exchange_rows(labels, y_score, groups, sample_weight, count_threads(n_threads))
    if not exchange.store.rows:
        no_rows = np.empty(0, np.int64)
        return GroupTable(np.empty(0, exchange.key_dtype), np.empty(0), no_rows, no_rows)
    layout = GroupLayout(exchange.store.blocks_in_memory, exchange.key_dtype)
    by_group = PairsByGroup([], layout, chunks := layout.chunks(1), [FIRST_OUTPUT], UnpooledScratch())
    tables = []
    for start, stop in chunks:
        for _, table in by_group.whole_tables(start, stop):
            class_rows = table.class_rows
            tables.append((table.keys.values(), table.auc(), class_rows.sum(axis=1), class_rows[:, 1].copy()))
    group, auc, n, n_positives = (np.concatenate(column) for column in zip(*tables, strict=True))
    order = np.argsort(group, kind="stable")
    return GroupTable(group[order], auc[order], n[order], n_positives[order])
