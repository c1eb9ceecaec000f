"""The rows of a partition, cut into ranges of scores, and the counts of these ranges.

An engine that moves rows itself divides the scores at `cuts` and sends all shards of a range to one place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns.row_blocks import WEIGHT, RowBlock, label_name, role_name, score_name
from fastmetrics._core.exchange.block_store import order_by_number, scatter_rows
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.range_exchange import bucket_numbers, ordered_keys, splitter_of_cuts
from fastmetrics._core.exchange.range_reduction import store_columns
from fastmetrics._core.exchange.row_ranges import RowRangeReduction, StoredRowsStatistic, split_statistics
from fastmetrics._core.exchange.runs import ClassTotals
from fastmetrics._core.exchange.weighted_ranges import WeightSpan, span_of
from fastmetrics._core.statistic import Positioned
from fastmetrics._kernels.numeric import sums
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.input.slice_values import SliceValues
from fastmetrics.engine.partitions.partition_state import RangeKey, RangeTotals, RowTotalKey
from fastmetrics.engine.partitions.range_rows import ScoreRangeShard, code_names, shard_values
from fastmetrics.engine.partitions.score_columns import ScoreColumn
from fastmetrics.engine.scan.additive_states import split_by_slice
from fastmetrics.engine.scan.scan import Scan

SPLIT_ROWS = 1 << 22  # rows that are split into ranges at a time


def find_range_numbers(scores: np.ndarray, cuts: Sequence[float]) -> np.ndarray:
    """The number of the range of every score."""
    return bucket_numbers(splitter_of_cuts([ordered_keys(np.array(cuts, scores.dtype))]), scores)[0]


def stored_columns(scan: Scan, column: ScoreColumn) -> list[str]:
    """The columns that the rows of one score column have in a store."""
    names = [label_name(number) for number in range(len(scan.names.labels))] + column.stored_names()
    names += [role_name(role) for role, _ in scan.names.others]
    names += [WEIGHT] if scan.names.weight is not None else []
    return names + code_names(scan.slices)


def split_into_ranges(scan: Scan, column: ScoreColumn, score: int, cuts: Sequence[float]) -> Iterator[ScoreRangeShard]:
    """The rows of score column number `score` as shards of ranges, a few million rows at a time."""
    names = stored_columns(scan, column)
    values = shard_values(scan.slices)
    readers = deque(scan.range_store().block_readers(names))
    while readers:
        blocks = []
        rows = 0
        while readers and rows < SPLIT_ROWS:
            rows += readers[0].rows
            blocks.append(readers.popleft().load())
        if rows == 0:
            continue
        columns = column.select({name: np.concatenate([block[name] for block in blocks]) for name in names})
        numbers = find_range_numbers(columns[score_name(0)], cuts)
        starts, destinations = order_by_number(numbers, len(cuts) + 1)
        moved = {name: scatter_rows(own, destinations) for name, own in columns.items()}
        for number in np.flatnonzero(starts[1:] > starts[:-1]).tolist():
            where = slice(*starts[number : number + 2].tolist())
            yield ScoreRangeShard(score, number, values, {name: own[where] for name, own in moved.items()})


def iterate_score_column(scan: Scan, column: ScoreColumn) -> Iterator[dict[str, np.ndarray]]:
    """The rows of one score column with their units, block by block."""
    if scan.unit_exchange is None:
        return
    for reader in scan.unit_exchange.store.block_readers([*stored_columns(scan, column), HASH]):
        yield {name: np.array(own) for name, own in column.select(reader.load()).items()}


def count_ranges(
    columns: RowBlock,
    scan: Scan,
    score_columns: Sequence[ScoreColumn],
    cuts: Sequence[Sequence[float]],
    range_statistics: Sequence[Any],
) -> RangeTotals:
    """Rows and weights of the classes in every range of a block, and what statistics that read rows have to know."""
    by_slice = list(iterate_slices(columns, scan.slices))
    statistics, row_statistics = split_statistics(range_statistics)
    row_totals = count_rows_of_ranges(scan, row_statistics, by_slice, cuts)
    totals: dict[RangeKey, dict[int, ClassTotals]] = {}
    for slice_values, block in by_slice if statistics else []:
        for score, column in enumerate(score_columns):
            all_labels, scores, row_weights = column.binary_rows(block)
            range_numbers = find_range_numbers(scores, cuts[score])
            for label, labels in enumerate(all_labels):
                n_classes = 2 * (len(cuts[score]) + 1)
                starts, destinations = order_by_number(2 * range_numbers + labels, n_classes)
                weights = [0] * n_classes
                if row_weights is not None:
                    states = exact.new_states(n_classes)
                    sums.sum_segments(scatter_rows(row_weights, destinations), starts, states)
                    weights = [exact.to_integer(state) for state in states]
                rows = np.diff(starts).tolist()
                totals[label, score, slice_values] = {
                    number: ClassTotals(*rows[2 * number : 2 * number + 2], *weights[2 * number : 2 * number + 2])
                    for number in np.unique(range_numbers).tolist()
                }
    span = WeightSpan() if columns.weights is None else span_of(columns.weights)
    return RangeTotals(totals, span, row_totals)


def iterate_slices(columns: RowBlock, slices: GroupingSets) -> Iterator[tuple[SliceValues | None, RowBlock]]:
    """All rows of a block (None), then those of every slice, by its values."""
    yield None, columns
    values = slices.values()
    for number, block in split_by_slice(columns, slices, range(len(slices.sets))):
        if number is not None:
            yield values[number], block


def count_rows_of_ranges(
    scan: Scan,
    statistics: Sequence[StoredRowsStatistic],
    by_slice: Sequence[tuple[SliceValues | None, RowBlock]],
    cuts: Sequence[Sequence[float]],
) -> dict[RowTotalKey, dict[int, Any]]:
    """The totals of statistics that read rows, for every range of a block."""
    totals: dict[RowTotalKey, dict[int, Any]] = {}
    positioned = [own for own in statistics if isinstance(own, Positioned)]
    for slice_values, block in by_slice if positioned else []:
        store = store_columns(block)
        for output in scan.outputs:
            numbers = find_range_numbers(block.scores[output.score], cuts[output.score])
            reduction = RowRangeReduction(store, output, statistics, 0, 1)
            columns = {name: column for name, column in block.arrays().items() if name in reduction.names()}
            for number in np.unique(numbers).tolist():
                where = numbers == number
                rows = reduction.rows_of({name: column[where] for name, column in columns.items()})
                for statistic in positioned:
                    by_number = totals.setdefault((statistic, output.label, output.score, slice_values), {})
                    by_number[number] = statistic.total_of_range(rows)
    return totals
