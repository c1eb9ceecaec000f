"""The rows of a partition, cut into ranges of scores, and the counts of these ranges.

An engine that moves rows itself divides the scores at `cuts` and sends all shards of a range to one place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import WEIGHT, RowBlock, label_name, role_name, score_name
from fastmetrics._core.exchange.bucket_positions import BucketWeights
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.range_exchange import (
    ordered_keys,
    reorder_by_score,
    reorder_by_value,
    splitter_of_cuts,
)
from fastmetrics._core.exchange.range_reduction import store_columns
from fastmetrics._core.exchange.row_ranges import RowRangeReduction, StoredRowsStatistic, split_statistics
from fastmetrics._core.exchange.runs import ClassTotals
from fastmetrics._core.exchange.weighted_ranges import WeightSpan, span_of
from fastmetrics._core.statistic import Positioned
from fastmetrics._kernels.sweep.mann_whitney import Splitter
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.input.slice_values import SliceValues
from fastmetrics.engine.partial.additive_states import split_by_slice
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partitions.partition_state import RangeKey, RangeTotals, RowTotalKey
from fastmetrics.engine.partitions.range_rows import ScoreRangeShard, code_names, shard_values
from fastmetrics.engine.partitions.score_columns import ScoreColumn

SPLIT_ROWS = 1 << 22  # rows that are split into ranges at a time


def split_at(cuts: Sequence[float], scores: np.ndarray) -> Splitter:
    """What divides scores at cuts."""
    return splitter_of_cuts([ordered_keys(np.array(cuts, scores.dtype))])


def split_columns(
    columns: Mapping[str, np.ndarray], scores: np.ndarray, cuts: Sequence[float]
) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """The rows of every range of scores that has some, with the number of the range."""
    ordered = reorder_by_value(split_at(cuts, scores), scores, columns)
    for number, (start, stop) in enumerate(pairwise(ordered.offsets.tolist())):
        if start < stop:
            yield number, {name: own[start:stop] for name, own in ordered.columns.items()}


def stored_columns(scan: PartState, column: ScoreColumn) -> list[str]:
    """The columns that the rows of one score column have in a store."""
    names = [label_name(number) for number in range(len(scan.names.labels))] + column.stored_names()
    names += [role_name(role) for role, _ in scan.names.others]
    names += [WEIGHT] if scan.names.weight is not None else []
    return names + code_names(scan.slices)


def split_into_ranges(
    scan: PartState, column: ScoreColumn, score: int, cuts: Sequence[float]
) -> Iterator[ScoreRangeShard]:
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
        for number, of_range in split_columns(columns, columns[score_name(0)], cuts):
            yield ScoreRangeShard(score, number, values, of_range)


def iterate_score_column(scan: PartState, column: ScoreColumn) -> Iterator[dict[str, np.ndarray]]:
    """The rows of one score column with their units, block by block."""
    if scan.unit_exchange is None:
        return
    for reader in scan.unit_exchange.store.block_readers([*stored_columns(scan, column), HASH]):
        yield {name: np.array(own) for name, own in column.select(reader.load()).items()}


def count_ranges(
    columns: RowBlock,
    scan: PartState,
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
            splitter, slots = split_at(cuts[score], scores), np.empty(scores.shape[0], np.uint16)
            others = {} if row_weights is None else {WEIGHT: row_weights}
            for label, labels in enumerate(all_labels):
                ordered, _ = reorder_by_score(splitter, labels, scores, others, slots)
                weights = BucketWeights(splitter.n_buckets, row_weights is not None)
                if row_weights is not None:
                    weights.add_block(ordered)
                weights_of_ranges = weights.totals() or [(0, 0)] * splitter.n_buckets
                rows_of_ranges = np.diff(ordered.offsets).reshape(-1, 2).tolist()
                of_ranges = enumerate(zip(rows_of_ranges, weights_of_ranges, strict=True))
                totals[label, score, slice_values] = {
                    number: ClassTotals(rows[0], rows[1], *own) for number, (rows, own) in of_ranges if any(rows)
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
    scan: PartState,
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
            reduction = RowRangeReduction(store, output, statistics, 0, 1, is_sorted=True)
            columns = {name: column for name, column in block.arrays().items() if name in reduction.names()}
            for number, of_range in split_columns(columns, block.scores[output.score], cuts[output.score]):
                rows = reduction.rows_of(of_range)
                for statistic in positioned:
                    by_number = totals.setdefault((statistic, output.label, output.score, slice_values), {})
                    by_number[number] = statistic.total_of_range(rows)
    return totals
