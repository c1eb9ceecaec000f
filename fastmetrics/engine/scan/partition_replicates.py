"""Replicates of partitions, for engines that move rows themselves.

A first pass over all rows counts the resampling units. A second pass makes replicates of every partition, with the same
weights everywhere, and replicates of partitions add up. Replicates of the range exchange need all rows of a score
column in one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.columns.group_keys import KeyScratch
from fastmetrics._core.columns.row_blocks import SLICE, WEIGHT, ScoreLabelPair, label_name, score_name
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.range_reduction import RangeReduction
from fastmetrics._core.resampling.additive_replicates import AdditiveReplicates, ReplicateWeights
from fastmetrics._core.resampling.range_replicates import replicate_scores
from fastmetrics._core.resampling.resampling_units import UnitBuckets, UnitCounter
from fastmetrics.engine.input.batch_validation import BatchValidator
from fastmetrics.engine.plan.column_names import ColumnNames
from fastmetrics.engine.plan.metric_plan import Plan
from fastmetrics.engine.plan.resampling_options import Resampling
from fastmetrics.engine.scan.group_units import find_units_of_groups
from fastmetrics.engine.scan.intervals import ScoreReplicates, replicate_additive
from fastmetrics.engine.scan.scan import Scan

ROWS_CHANGED = "the rows changed between two passes: there are units that were not there when they were counted"


class PartitionResampling(NamedTuple):
    """What every partition needs for resampling: the options, and the buckets of the units of all partitions."""

    options: Resampling
    unit_buckets: UnitBuckets


def count_units(plan: Plan, names: ColumnNames, on_invalid: str, batches: Iterable[Any]) -> UnitCounter:
    """The units of the valid rows of a partition."""
    validator, counter = BatchValidator(names, on_invalid, plan.targets), UnitCounter()
    first_row = 0
    for batch in batches:
        keys = validator.validate(batch, first_row).unit_keys
        first_row += batch.num_rows
        if keys is not None and keys.rows:
            scratch = KeyScratch(keys.rows, keys.is_text)
            keys.hash_block(0, keys.rows, scratch)
            counter.add(scratch.hashes[: keys.rows])
    return counter


class ReplicateStates:
    """The states of all replicates of a statistic, one by one."""

    def __init__(self, by_replicate: list[Any]) -> None:
        self.by_replicate = by_replicate

    def states(self) -> Iterator[Any]:
        return iter(self.by_replicate)

    def merge(self, other: ReplicateStates) -> None:
        for state, other_state in zip(self.by_replicate, other.by_replicate, strict=True):
            state.merge(other_state)


def replicate_partition(scan: Scan, resampling: PartitionResampling) -> dict[Any, Any]:
    """The replicates of a partition's additive statistics. Replicates of partitions can be merged."""
    check_units(scan, resampling.unit_buckets)
    options = resampling.options
    weights = ReplicateWeights(resampling.unit_buckets, options.seed, options.replicates)
    replicates = replicate_additive(scan, scan.plan.without_plots(), weights, find_units_of_groups(scan), 1)
    return {
        key: states if isinstance(states, AdditiveReplicates) else ReplicateStates(list(states.states()))
        for key, states in replicates.items()
    }


def check_units(scan: Scan, unit_buckets: UnitBuckets) -> None:
    """Check that all units of a partition were counted: the bucket of another unit is no valid index."""
    if scan.counted_rows is not None:
        hashes = [block.hashes for blocks in scan.counted_rows.blocks.values() for block in blocks]
    elif scan.unit_exchange is not None:
        hashes = [reader.load()[HASH] for reader in scan.unit_exchange.store.block_readers([HASH])]
    else:
        units_of = find_units_of_groups(scan)
        hashes = [] if units_of is None else [units_of.units]
    check_unit_hashes(hashes, unit_buckets)


def check_unit_hashes(blocks: Iterable[np.ndarray], unit_buckets: UnitBuckets) -> None:
    if any(hashes.shape[0] and int(unit_buckets.bucket_of(hashes).min()) < 0 for hashes in blocks):
        raise ValueError(ROWS_CHANGED)


def iterate_score_column(scan: Scan, score: int) -> Iterator[dict[str, np.ndarray]]:
    """The rows of one score column with their units, block by block."""
    if scan.unit_exchange is None:
        return
    names = [label_name(number) for number in range(len(scan.names.labels))] + [score_name(score), HASH]
    names += [WEIGHT] if scan.names.weight is not None else []
    names += [SLICE] if scan.names.by else []
    for reader in scan.unit_exchange.store.block_readers(names):
        columns = dict(reader.load())
        columns[score_name(0)] = columns.pop(score_name(score))
        yield {name: np.array(column) for name, column in columns.items()}


def replicate_score_column(
    store: BlockStore, plan: Plan, names: ColumnNames, resampling: PartitionResampling, slices: list[Any]
) -> dict[tuple[Any, int, Any], ScoreReplicates]:
    """The replicates of a score column of which a store has all rows: by statistic, label, and values of the slice."""
    options = resampling.options
    check_unit_hashes((reader.load()[HASH] for reader in store.block_readers([HASH])), resampling.unit_buckets)
    statistics = plan.without_plots().statistics["range"]
    replicates = {}
    for label in range(len(names.labels)):
        reduction = RangeReduction(store, ScoreLabelPair(label, 0), names.weight is not None, statistics, 1)
        for n_slices in (0, len(slices)) if slices else (0,):
            found = replicate_scores(reduction, resampling.unit_buckets, options.seed, options.replicates, n_slices)
            for (statistic, number), states in found.items():
                values = None if number is None else slices[number]
                replicates[statistic, label, values] = ScoreReplicates(statistic, options.replicates, states)
    return replicates
