"""Errors by group: a table of mean errors with one row for every user, query or shop.

A hash exchange (`_core/exchange/hash_exchange.py`) brings the rows of a group into one partition. A kernel numbers the
groups, sums the terms of each and rounds every mean once. The result of a group equals, bit for bit, that of the
functions on its rows alone, in any order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.row_blocks import SERIAL_ROWS, RowBlock, UnpooledScratch
from fastmetrics._core.exchange.group_rows import rows_with_weight
from fastmetrics._core.exchange.hash_exchange import GroupLayout, HashExchange, exchange_columns
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.results.column_table import ColumnTable
from fastmetrics._kernels.regression import errors, grouped_errors

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import KeysLike, NumericArrayLike

__all__ = ["ErrorTable", "errors_by_group"]

KINDS = (errors.SIGNED, errors.SQUARED, errors.ABSOLUTE)  # in the order of the kernel


class ErrorTable(ColumnTable):
    """Errors of every group, as columns sorted by group.

    Attributes
    ----------
    group : numpy.ndarray
        The group keys: integers (int32, int64 or uint64; smaller types widened), strings (dtype object), booleans,
        floats, dates or times. Keys of several columns are a structured array: ``group["session"]`` is one of them.
    n : numpy.ndarray of int64
        Rows (of positive weight).
    bias : numpy.ndarray of float64
        The mean of prediction minus target.
    mse, mae : numpy.ndarray of float64
        The mean squared and the mean absolute error.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> table = fm.errors_by_group([1.0, 2.0, 3.0], [1.5, 2.5, 2.0], ["ann", "ann", "bob"])
    >>> table.group.tolist(), table.mae.tolist()
    (['ann', 'bob'], [0.5, 1.0])
    """

    __slots__ = ()

    group: np.ndarray
    n: np.ndarray
    bias: np.ndarray
    mse: np.ndarray
    mae: np.ndarray

    def __init__(self, group: np.ndarray, n: np.ndarray, bias: np.ndarray, mse: np.ndarray, mae: np.ndarray) -> None:
        super().__init__({"group": group, "n": n, "bias": bias, "mse": mse, "mae": mae})


class GroupErrorWorker:
    """One thread's memory for the mean errors of the groups of a partition."""

    def __init__(self, layout: GroupLayout) -> None:
        allocate = UnpooledScratch().array
        self.layout = layout
        self.errors = grouped_errors.GroupErrors(layout.find_groups(layout.rows.largest, allocate), allocate)

    def reduce_partition(self, number: int) -> tuple[np.ndarray, ...]:
        """Return keys, numbers of rows and means of the groups of a partition, as copies."""
        n = self.errors.average(number)
        means, groups = self.errors.means, self.errors.groups
        for group, kind, start, stop in self.errors.uncertain[: self.errors.n_uncertain].tolist():
            means[kind, group] = self.mean_from_integers(KINDS[kind], slice(start, stop))
        return self.layout.keys(groups, n).values(), groups.class_counts[:n].sum(axis=1), *means[:, :n].copy()

    def mean_from_integers(self, kind: int, rows: slice) -> float:
        """Return a mean error by integer division, for a mean whose rounding the kernel could not decide."""
        y_true, y_pred, weights, _ = self.errors.columns[:, rows]
        row_weights = weights if self.layout.rows.has_weights else None
        state = exact.new_states(1)
        errors.add_error_terms(y_true, y_pred, row_weights, kind, 0.0, 0, rows.stop - rows.start, state)
        if not exact.is_finite(state[0]):
            return exact.to_float(state[0])
        if row_weights is None:
            return exact.divide(exact.to_integer(state[0]), (rows.stop - rows.start) << exact.EXPONENT)
        total = exact.integer_sum(row_weights)
        if not total:
            validation.raise_changed()  # rows of weight zero are left out
        return exact.divide(exact.to_integer(state[0]), total)


def exchange_rows(y_true: Any, y_pred: Any, groups: Any, sample_weight: Any, n_threads: int) -> HashExchange:
    """Check the columns and exchange their rows by group."""
    targets = validation.as_numbers(y_true)
    predictions = validation.as_numbers(y_pred, "y_pred")
    targets, predictions, weights, key_column = rows_with_weight(targets, predictions, groups, sample_weight, "y_pred")

    def load_rows(start: int, stop: int, scratch: np.ndarray) -> RowBlock:
        # The exchange expects binary labels. Here every row gets label 0.
        scratch[:] = 0
        block_weights = None if weights is None else weights[start:stop]
        return RowBlock((scratch[: stop - start],), (targets[start:stop], predictions[start:stop]), block_weights)

    dtypes = [targets.dtype, predictions.dtype]
    return exchange_columns(key_column, load_rows, dtypes, weights is not None, n_threads)


@answers_unknown
def errors_by_group(
    y_true: NumericArrayLike,
    y_pred: NumericArrayLike,
    groups: KeysLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> ErrorTable:
    """Mean errors and the number of rows of every group.

    Over the rows of a group: bias = mean of p - y, mse = mean of (y - p)^2, mae = mean of |y - p|. Each equals,
    bit for bit, the value of these rows alone.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Targets: finite numbers.
    y_pred : array-like of shape (n,)
        Predictions: finite numbers.
    groups : array-like of shape (n,)
        Keys: integers, strings, booleans, dates, times or floats, in any order. Rows with equal keys are one group,
        wherever they stand. A DataFrame, an Arrow table or a dict of columns gives keys of several columns.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300. A row of weight zero is left out.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    ErrorTable
        Columns group, n, bias, mse, mae, sorted by group.

    Raises
    ------
    ValueError
        NaN, infinity or null in any column, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> table = fm.errors_by_group([1.0, 2.0, 3.0, 4.0], [1.5, 2.0, 2.0, 5.0], ["b", "a", "b", "a"])
    >>> table.group.tolist(), table.n.tolist(), table.bias.tolist(), table.mse.tolist(), table.mae.tolist()
    (['a', 'b'], [2, 2], [0.5, -0.25], [0.5, 0.625], [0.5, 0.75])
    """
    threads = count_threads(n_threads)
    exchange = exchange_rows(y_true, y_pred, groups, sample_weight, threads)
    if not exchange.store.rows:
        return ErrorTable(np.empty(0, exchange.key_dtype), np.empty(0, np.int64), *np.empty((len(KINDS), 0)))
    layout = GroupLayout(exchange.store.blocks_in_memory, exchange.key_dtype)
    filled = np.flatnonzero(layout.partition_rows).tolist()

    def make_worker() -> Callable[[int], tuple[np.ndarray, ...]]:
        worker = GroupErrorWorker(layout)
        return lambda number: worker.reduce_partition(filled[number])

    partition_columns = for_each(len(filled), make_worker, threads if exchange.store.rows > SERIAL_ROWS else 1)
    group, *columns = (np.concatenate(column) for column in zip(*partition_columns, strict=True))
    order = np.argsort(group, kind="stable")
    return ErrorTable(group[order], *(column[order] for column in columns))
