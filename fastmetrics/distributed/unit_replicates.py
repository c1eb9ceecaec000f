"""What intervals need of the units of additive statistics, where the buckets of units come from the driver."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from fastmetrics._core.comparison.win_counts import UnitSums, WinCounts
from fastmetrics._core.exchange.hash_exchange import HASH, UNIT
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.resampling.additive_replicates import AdditiveReplicates, JackknifeUnits
from fastmetrics._core.resampling.cell_entries import CellEntries
from fastmetrics._core.resampling.replicate_weights import ReplicateWeights
from fastmetrics._core.resampling.resampling_units import UnitBuckets, UnitCounter
from fastmetrics._core.resampling.sparse_entries import SparseEntries
from fastmetrics._core.resampling.value_replicates import ValueReplicates
from fastmetrics.distributed.summaries import NO_STATES, SliceStateKey, key_by_slice_values
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.slice_passes import iterate_passes
from fastmetrics.engine.plan.resampling_options import Resampling
from fastmetrics.engine.scan.group_units import find_units_of_groups
from fastmetrics.engine.scan.intervals import ReplicateStates, replicate_additive, slices_of_pass
from fastmetrics.engine.scan.linearized import divide_metrics
from fastmetrics.engine.scan.paired_models import count_wins_of_groups, states_for_wins
from fastmetrics.engine.scan.slice_entries import entries_of_slices

TRAVELING = (AdditiveReplicates, ValueReplicates, UnitSums, WinCounts)  # these merge, and are small when pickled
ROWS_CHANGED = "the rows changed between two steps: there are units that were not there when they were counted"


def unit_hashes(part: PartState) -> Iterator[np.ndarray]:
    """The hashes of the resampling units of all rows, block by block."""
    if part.counted_rows is not None:
        yield from (block.hashes for blocks in part.counted_rows.blocks.values() for block in blocks)
        return
    exchange, name = part.unit_exchange, HASH
    if exchange is None:
        exchange, name = part.group_exchange, UNIT
    if exchange is not None:
        yield from (columns[name] for columns in exchange.columns_of_log([name]))


def count_units(part: PartState) -> UnitCounter:
    """The resampling units of all rows."""
    units = UnitCounter()
    for hashes in unit_hashes(part):
        units.add(hashes)
    return units


def check_unit_hashes(blocks: Iterable[np.ndarray], buckets: UnitBuckets) -> None:
    """Check that all units were counted: the bucket of another unit is no valid index."""
    if any(hashes.shape[0] and int(buckets.bucket_of(hashes).min()) < 0 for hashes in blocks):
        raise ValueError(ROWS_CHANGED)


class IntervalStates(NamedTuple):
    """What intervals need of some rows, by output and slice; those of several states merge.

    Attributes
    ----------
    replicates : dict
        Those of statistics whose units are resampled, and what counts of units won and lost need.
    entries : dict
        For linearized intervals: `SparseEntries` of statistics, `CellEntries` of tables of counts, and `Contributions`
        to metrics of the order of scores.
    """

    replicates: dict[SliceStateKey, Any] = NO_STATES
    entries: dict[SliceStateKey, Any] = NO_STATES


def interval_states(
    part: PartState, exchange: str, resampling: Resampling, buckets: UnitBuckets, n_slices: int
) -> IntervalStates:
    """What intervals need of the additive statistics of rows ("none") or of groups ("hash").

    `n_slices` is the number of slices of all rows.
    """
    check_unit_hashes(unit_hashes(part), buckets)
    plan = part.plan.without_plots()
    others = {other: () for other in plan.statistics if other != exchange}
    linearized, resampled = (
        plan.of(metrics).with_statistics(**others) for metrics in divide_metrics(plan.metrics, resampling)
    )
    of_groups = exchange == "hash" and plan.needs("hash")
    units_of = find_units_of_groups(part) if of_groups else None
    units = JackknifeUnits(buckets, n_slices)
    weights = ReplicateWeights(buckets, resampling.seed, resampling.replicates)
    replicates: dict[Any, Any] = {}
    entries: dict[Any, Any] = {}
    if resampling.in_pairs:
        replicates |= count_wins_of_groups(part, 1) if of_groups else states_for_wins(part, buckets)
    for slice_pass in iterate_passes(part):
        if resampled.needs(exchange):
            found = replicate_additive(part, resampled, weights, units_of, 1, slices_of_pass(slice_pass))
            replicates |= slice_pass.rename(found)
        for _, of_slices in entries_of_slices(part, linearized, linearized, units, units_of, 1):
            found_entries = of_slices.outside(slice_pass).items()
            entries |= {
                key: own if isinstance(own, CellEntries) else SparseEntries(key[0], own) for key, own in found_entries
            }
    for key, states in replicates.items():
        if not isinstance(states, TRAVELING):
            replicates[key] = ReplicateStates(list(states.states()))
    return IntervalStates(key_by_slice_values(part, replicates), key_by_slice_values(part, entries))
