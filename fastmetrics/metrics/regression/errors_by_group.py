"""Errors inside groups: a table of means, one row for every user, query or shop.

Rows of a group meet in a partition (`_core/by_group.py`); a kernel numbers the groups, sums the terms of each and
rounds every mean once: the bits are those of the functions on the rows of the group alone, in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fastmetrics._core import exact, inputs, keys
from fastmetrics._core.by_group import GroupExchange, GroupKeys, GroupLayout, exchange_columns
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.rows import SERIAL_ROWS, WEIGHT, Columns
from fastmetrics._kernels import errors, grouperrors, groups, sums

__all__ = ["ErrorTable", "errors_by_group"]

KINDS = (errors.SIGNED, errors.SQUARED, errors.ABSOLUTE)  # in the order of the kernel
NO_SLICES: np.ndarray = np.empty(0, np.uint64)


class ErrorTable:
    """Errors of every group, as columns sorted by group.

    Attributes
    ----------
    group : numpy.ndarray
        The group keys: integers (int32, int64 or uint64; smaller types widened), or strings (dtype object).
    n : numpy.ndarray of int64
        Rows (of positive weight).
    bias : numpy.ndarray of float64
        The mean of prediction minus target.
    mse, mae : numpy.ndarray of float64
        The mean squared and the mean absolute error.
    """

    __slots__ = ("bias", "group", "mae", "mse", "n")

    def __init__(self, group: np.ndarray, n: np.ndarray, bias: np.ndarray, mse: np.ndarray, mae: np.ndarray) -> None:
        self.group = group
        self.n = n
        self.bias = bias
        self.mse = mse
        self.mae = mae

    def __len__(self) -> int:
        return len(self.group)

    def __repr__(self) -> str:
        return f"ErrorTable({len(self)} groups: group, n, bias, mse, mae)"

    def to_arrow(self) -> Any:
        """The columns as a pyarrow.Table.

        Returns
        -------
        pyarrow.Table
        """
        try:
            import pyarrow
        except ImportError:
            raise ImportError("to_arrow needs pyarrow; type: pip install 'fastmetrics[arrow]'") from None
        group = self.group.tolist() if self.group.dtype == object else self.group
        columns = {"group": group, "n": self.n, "bias": self.bias, "mse": self.mse, "mae": self.mae}
        return pyarrow.table(columns)


class ErrorsByGroup:
    """The errors of every group of a layout; asked for runs of partitions, with working memory of its own."""

    def __init__(self, layout: GroupLayout) -> None:
        rows = max(1, int(layout.partition_rows.max()))
        self.layout = layout
        self.weights = layout.addresses(WEIGHT) if layout.weighted else NO_SLICES
        self.table = np.empty(max(64, 1 << (2 * rows - 1).bit_length()), np.uint32)
        self.group_of_row = np.empty(rows, np.uint32)
        self.cursors = np.empty(rows, np.int64)
        self.hashes = np.empty(rows, np.uint64)
        self.heads = np.empty(rows if layout.is_text else 0, np.uint64)
        self.tails = np.empty(rows if layout.is_text else 0, np.uint64)
        self.slices = np.empty(0, np.uint16)
        self.class_rows = np.empty((rows, 2), np.int64)
        self.rooms = np.empty((4, rows))
        self.means = np.empty((len(KINDS), rows))
        self.uncertain = np.empty((len(KINDS) * rows, 4), np.int64)
        self.n_groups = np.zeros(1, np.int64)

    def partition(self, number: int) -> tuple[np.ndarray, ...]:
        """Keys, rows and means of a partition's groups, in memory of their own."""
        layout = self.layout
        rows = int(layout.partition_rows[number])
        table = self.table[: max(64, 1 << (2 * rows - 1).bit_length())]
        groups.number_groups(
            layout.hashes, layout.labels, layout.heads, layout.tails, NO_SLICES, layout.offsets, number, table,
            self.group_of_row, self.hashes, self.heads, self.tails, self.slices, self.class_rows, self.n_groups,
        )  # fmt: skip
        n = int(self.n_groups[0])
        left = grouperrors.group_errors(
            layout.scores, layout.double_scores, self.weights, layout.offsets, number, self.group_of_row,
            self.class_rows, n, self.cursors, self.rooms, self.means, self.uncertain,
        )  # fmt: skip
        for group, kind, start, stop in self.uncertain[:left].tolist():
            self.means[kind, group] = self.mean(KINDS[kind], slice(start, stop))
        keys = GroupKeys(self.hashes[:n], self.heads[:n], self.tails[:n], layout.key_dtype).values()
        return keys, self.class_rows[:n, 0].copy(), *self.means[:, :n].copy()

    def mean(self, kind: int, where: slice) -> float:
        """What a kernel was not certain of, by integers."""
        y_true, y_pred, weights, _ = self.rooms[:, where]
        own = weights if self.layout.weighted else None
        state = exact.new_states(1)
        errors.add_errors(y_true, y_pred, own, kind, 0.0, 0, where.stop - where.start, state)
        if not exact.is_finite(state[0]):
            return exact.to_float(state[0])
        if own is None:
            return exact.divide(exact.to_integer(state[0]), (where.stop - where.start) << exact.EXPONENT)
        total = exact.new_states()
        sums.sum_values(own, None, total)
        return exact.divide(exact.to_integer(state[0]), exact.to_integer(total))


def exchange_rows(
    y_true: Any, y_pred: Any, group_keys: Any, sample_weight: Any, n_threads: int
) -> GroupExchange:
    """The rows of four columns, checked, brought together by group."""
    targets = inputs.as_numbers(y_true)
    predictions = inputs.as_numbers(y_pred, "y_pred")
    key_column = keys.as_keys(group_keys)
    rows = targets.shape[0]
    inputs.check_lengths(rows, predictions.shape[0], "y_true", "y_pred")
    inputs.check_lengths(rows, key_column.rows, "y_true", "groups")
    weights = None
    if sample_weight is not None:
        weights = inputs.as_weights(sample_weight, rows)
        present = weights > 0
        if not present.all():
            targets, predictions, weights = targets[present], predictions[present], weights[present]
            key_column = keys.select(key_column, present)

    def load_rows(start: int, stop: int, scratch: np.ndarray) -> Columns:
        # The exchange keeps a label of two classes; here all rows are of one.
        scratch[:] = 0
        own = None if weights is None else weights[start:stop]
        return Columns((scratch[: stop - start],), (targets[start:stop], predictions[start:stop]), own)

    dtypes = [targets.dtype, predictions.dtype]
    return exchange_columns(key_column, load_rows, dtypes, weights is not None, n_threads)


def errors_by_group(
    y_true: Any, y_pred: Any, groups: Any, *, sample_weight: Any = None, n_threads: int | None = None
) -> ErrorTable:
    """Mean errors of every group, with its numbers of rows.

    Over the rows of a group: bias = mean of p - y, mse = mean of (y - p)^2, mae = mean of |y - p|, each the same to the
    bit as of these rows alone.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Targets: finite numbers.
    y_pred : array-like of shape (n,)
        Predictions: finite numbers.
    groups : array-like of shape (n,)
        Keys: integers or strings, in any order. Rows with equal keys are one group, wherever they stand.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, finite and not negative; a row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

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
    moved = exchange_rows(y_true, y_pred, groups, sample_weight, threads)
    if not moved.store.rows:
        return ErrorTable(np.empty(0, moved.key_dtype), np.empty(0, np.int64), *np.empty((len(KINDS), 0)))
    layout = GroupLayout(moved.store.held, moved.is_text, moved.key_dtype)
    filled = np.flatnonzero(layout.partition_rows).tolist()
    parts: list[tuple[np.ndarray, ...]] = [()] * len(filled)

    def make_worker() -> Callable[[int], None]:
        by_group = ErrorsByGroup(layout)

        def work(unit: int) -> None:
            parts[unit] = by_group.partition(filled[unit])

        return work

    for_each(len(filled), make_worker, threads if moved.store.rows > SERIAL_ROWS else 1)
    group, *columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(group, kind="stable")
    return ErrorTable(group[order], *(column[order] for column in columns))
