"""A base for statistics of the hash exchange that are written in plain NumPy: one value per group, then their mean.

`RowsByGroup` brings the rows of each group into one stretch of arrays (`GroupRows`), in an order that depends on the
rows alone. A statistic turns them into one value per group. The sum of the values is exact.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import group_keys, validation
from fastmetrics._core.columns.key_columns import Keys
from fastmetrics._core.columns.row_blocks import (
    BLOCK_ROWS,
    LABEL,
    NO_COLUMNS,
    NO_VALUES,
    ROLE,
    SCORE,
    SERIAL_ROWS,
    SLICE,
    WEIGHT,
    Output,
    RowBlock,
    Scratch,
    label_name,
    names_of,
    other_columns,
    score_name,
)
from fastmetrics._core.columns.slice_sets import SliceSet
from fastmetrics._core.columns.weights import as_weights
from fastmetrics._core.exact import EXPONENT
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.group_reduction import GroupReduction, reduce_groups
from fastmetrics._core.exchange.group_values import MeanOfGroups, group_coverage
from fastmetrics._core.exchange.hash_exchange import GroupKeys, GroupLayout, HashExchange, exchange_columns
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.state import Fields, Sums, exact_sum
from fastmetrics._core.statistic import Value, rounded_quotient
from fastmetrics._kernels.columns import column_checks
from fastmetrics._kernels.numeric import sums

FIRST_OUTPUT = Output(0, 0)


class GroupRows(NamedTuple):
    """The rows of some groups, one group after the other.

    Attributes
    ----------
    labels, scores, weights : ndarray
        uint8, 0 and 1, or float64; float32 or float64; float64, 1 for every row if rows have no weights. Inside a group
        rows are in descending order of score, then of label and weight. Without a row if the metric has no such role.
    starts : ndarray of int64
        The first row of each group, for `np.add.reduceat`. No group is empty.
    others : dict
        The columns of other roles.
    """

    labels: np.ndarray
    scores: np.ndarray
    weights: np.ndarray
    starts: np.ndarray
    others: dict[str, np.ndarray] = NO_COLUMNS


class GroupValueTable(NamedTuple):
    """Some groups: their keys, their rows, and a value for each statistic (statistic, group)."""

    keys: GroupKeys
    rows: np.ndarray
    values: np.ndarray
    number_of: dict[Any, int]

    def take(self, where: np.ndarray | slice) -> GroupValueTable:
        """The groups with these indices, or a range of neighboring groups."""
        return GroupValueTable(self.keys.take(where), self.rows[where], self.values[:, where], self.number_of)

    def segment(self, where: slice) -> GroupValueTable:
        """A range of neighboring groups."""
        return self.take(where)


class GroupMean(MeanOfGroups):
    """Base of the statistic of a mean over groups: a subclass writes `value_per_group`."""

    __slots__ = ()
    fields = Fields("groups", "groups left out", "rows", "rows left out", exact_sum("values"))

    @abstractmethod
    def value_per_group(self, groups: GroupRows) -> np.ndarray:
        """A float64 for each group; NaN, also as 0 / 0, for a group that has none and is left out of the mean.

        Scores may be infinite: a statistic that computes with them decides what such a score means.
        """

    @property
    def table(self) -> type[RowsByGroup]:
        return RowsByGroup

    def update(self, state: Sums, table: GroupValueTable) -> None:
        values = self.group_values(table)
        left_out = np.isnan(values)
        rows = table.rows
        state.counts += (rows.shape[0], np.count_nonzero(left_out), rows.sum(), rows[left_out].sum())
        sums.sum_values(np.ascontiguousarray(values[~left_out]), None, state.sum_of("values"))

    def group_values(self, table: GroupValueTable) -> np.ndarray:
        """The value of every group of a table."""
        values: np.ndarray = table.values[table.number_of[self]]
        return values


@answers_unknown
def finalize_group_mean(state: Sums, why_left_out: str, why_undefined: str) -> Value:
    """The mean over groups, rounded once; NaN with its reason if no group has a value."""
    groups, left_out, rows, rows_left_out = state.counts.tolist()
    coverage = group_coverage(groups, rows, {why_left_out: (left_out, rows_left_out)} if left_out else {})
    reason = why_undefined if groups else "every weight is zero"
    return rounded_quotient(state.integer("values"), (groups - left_out) << EXPONENT, coverage, reason)


class RowsByGroup:
    """Makes the tables of groups for all `GroupMean` statistics of a plan; one object per thread."""

    ROW_BYTES = 100

    def __init__(
        self,
        statistics: Sequence[Any],
        layout: GroupLayout,
        chunks: list[tuple[int, int]],
        outputs: Sequence[Output],
        scratch: Scratch,
        key_texts: Any = None,
        only_pairs: bool = False,
    ) -> None:
        self.statistics = statistics
        self.key_texts = key_texts
        self.layout = layout
        self.outputs = outputs
        self.groups = layout.find_groups(layout.rows.largest, scratch.array)

    @staticmethod
    def values_per_output(statistics: Sequence[Any]) -> int:
        return len(statistics)

    @staticmethod
    def table_of_groups(
        statistics: Sequence[Any],
        keys: GroupKeys,
        group_of_row: np.ndarray,
        columns: dict[str, np.ndarray],
        output: Output,
        key_texts: Any = None,
    ) -> Any:
        """What statistics read of some groups."""
        if key_texts is not None:
            columns = key_texts.rank_columns(columns)
        return group_values(statistics, keys, group_of_row, columns, output)

    def tables(self, start: int, stop: int, own: SliceSet | None) -> Iterator[tuple[int, int | None, Any]]:
        """Yield (output, slice, groups) for the partitions start..stop."""
        if own is not None:
            self.layout.number_slices(own, start, stop)
        for partition in range(start, stop):
            if self.layout.partition_rows[partition]:
                yield from self.tables_of_partition(partition, own is not None)

    def tables_of_partition(self, partition: int, by_slice: bool) -> Iterator[tuple[int, int | None, Any]]:
        layout = self.layout
        n = self.groups.find(partition, by_slice)
        keys = layout.keys(self.groups, n)
        blocks = [(block.columns, slice(*block.offsets[partition : partition + 2])) for block in layout.blocks]
        group_of_row = self.groups.group_of_row[: layout.partition_rows[partition]]
        names = value_columns(layout.blocks[0].columns)
        columns = {name: np.concatenate([own[name][rows] for own, rows in blocks]) for name in names}
        for number, output in enumerate(self.outputs):
            table = self.table_of_groups(self.statistics, keys, group_of_row, columns, output, self.key_texts)
            if not by_slice:
                yield number, None, table
                continue
            order = np.argsort(self.groups.slices[:n], kind="stable")
            slices = self.groups.slices[:n][order]
            edges = np.flatnonzero(np.diff(slices, prepend=-1, append=-1).astype(bool)).tolist()
            for low, high in pairwise(edges):
                yield number, int(slices[low]), table.take(order[low:high])

    @classmethod
    def of_large_group(
        cls,
        statistics: Sequence[Any],
        rows: BlockStore,
        keys: GroupKeys,
        outputs: Sequence[Output],
        by_slice: bool,
        n_threads: int,
        key_texts: Any = None,
    ) -> Iterator[tuple[int, int | None, Any]]:
        """The tables of one group that is larger than a partition may be: all its rows are loaded at once."""
        columns = rows.load_partitions(list(rows.types), 0, 1).columns
        own = {name: columns[name] for name in value_columns(columns)}
        for number, output in enumerate(outputs):
            for slice_number in np.unique(columns[SLICE]).tolist() if by_slice else (None,):
                kept = slice(None) if slice_number is None else columns[SLICE] == slice_number
                selected = {name: column[kept] for name, column in own.items()}
                one_group = np.zeros(next(iter(selected.values())).shape[0], np.uint32)
                table = cls.table_of_groups(statistics, keys, one_group, selected, output, key_texts)
                yield number, slice_number, table


def value_columns(columns: dict[str, np.ndarray]) -> list[str]:
    """The stored columns that statistics read."""
    return [name for name in (*names_of(columns, LABEL, SCORE, ROLE), WEIGHT) if name in columns]


def group_values(
    statistics: Sequence[Any],
    keys: GroupKeys,
    group_of_row: np.ndarray,
    columns: dict[str, np.ndarray],
    output: Output,
) -> GroupValueTable:
    """The values of every statistic for every group, from stored columns. Each group has rows."""
    groups = sort_groups(group_of_row, columns, output)
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 / 0 is a group without a value
        values = np.array([statistic.value_per_group(groups) for statistic in statistics], np.float64)
    numbers = {statistic: number for number, statistic in enumerate(statistics)}
    return GroupValueTable(keys, np.bincount(group_of_row), values, numbers)


def sort_groups(group_of_row: np.ndarray, columns: dict[str, np.ndarray], output: Output) -> GroupRows:
    """The rows of each group in one stretch.

    The order depends on the rows alone, so that a sum which rounds has the same bits for any order of the input.
    """
    weights = columns.get(WEIGHT)
    labels = columns.get(label_name(output.label), NO_VALUES)
    scores = columns.get(score_name(output.score), NO_VALUES)
    others = other_columns(columns)
    keys = [*others.values()]
    keys += [] if weights is None else [-weights]
    keys += [1 - labels] if labels.shape[0] else []
    keys += [-scores] if scores.shape[0] else []
    order = np.lexsort((*keys, group_of_row))
    rows = np.bincount(group_of_row)
    return GroupRows(
        labels[order] if labels.shape[0] else labels,
        scores[order] if scores.shape[0] else scores,
        np.ones(group_of_row.shape[0]) if weights is None else weights[order],
        np.cumsum(rows) - rows,
        {role: column[order] for role, column in others.items()},
    )


def reduce_columns(statistic: Any, y_true: Any, y_score: Any, groups: Any, sample_weight: Any, n_threads: int) -> Sums:
    """The state of a statistic of groups over the columns of one call."""
    exchange = exchange_rows(y_true, y_score, groups, sample_weight, n_threads)
    state: Sums = statistic.empty()
    rows = exchange.store.rows
    if rows:
        reduction = GroupReduction([statistic], [FIRST_OUTPUT])
        state = reduce_groups(exchange, reduction, n_threads if rows > SERIAL_ROWS else 1)[statistic, 0, None]
    return state


def exchange_rows(y_true: Any, y_score: Any, key_values: Any, sample_weight: Any, n_threads: int) -> HashExchange:
    """Check labels, scores, groups and weights, and bring the rows of each group together."""
    labels = validation.as_labels(y_true)
    scores = validation.as_scores(y_score)

    def check(weights: np.ndarray) -> None:
        validation.decode_labels(labels)
        if np.isnan(scores).any():
            validation.raise_nan(scores, "y_score")

    labels, scores, weights, key_column = rows_with_weight(labels, scores, key_values, sample_weight, "y_score", check)
    label_kinds = np.zeros((-(-labels.shape[0] // BLOCK_ROWS), 2), np.int64)
    has_nan = np.zeros(label_kinds.shape[0], np.int64)

    def load_rows(start: int, stop: int, scratch: np.ndarray) -> RowBlock:
        chunk = start // BLOCK_ROWS
        column_checks.decode_labels(labels, start, stop, scratch, label_kinds[chunk])
        column_checks.any_nan(scores, start, stop, has_nan[chunk : chunk + 1])
        block_weights = None if weights is None else weights[start:stop]
        return RowBlock((scratch[: stop - start],), (scores[start:stop],), block_weights)

    exchange = exchange_columns(key_column, load_rows, [scores.dtype], weights is not None, n_threads)
    validation.check_label_kinds(
        int(np.bitwise_or.reduce(label_kinds[:, 0])), lambda what: validation.find_label(labels, what), "y_true"
    )
    if has_nan.any():
        validation.raise_nan(scores, "y_score")
    return exchange


def rows_with_weight(
    first: np.ndarray,
    second: np.ndarray,
    key_values: Any,
    sample_weight: Any,
    name: str,
    check: Callable[[np.ndarray], None] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, Keys]:
    """Two columns, their weights and the keys of their groups, without the rows of weight zero.

    The first column is y_true, `name` is that of the second. If rows are dropped, `check` sees the weights of all rows
    before: an error of the columns then names the caller's row.
    """
    keys = group_keys.as_keys(key_values)
    rows = first.shape[0]
    validation.check_lengths(rows, second.shape[0], "y_true", name)
    validation.check_lengths(rows, keys.rows, "y_true", "groups")
    weights = None if sample_weight is None else as_weights(sample_weight, rows)
    if weights is None or (present := weights > 0).all():
        return first, second, weights, keys
    if check is not None:
        check(weights)
    return first[present], second[present], weights[present], keys.select(present)
