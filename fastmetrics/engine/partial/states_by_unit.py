"""States of additive statistics in every unit bucket, added while the log is read: intervals then keep no rows.

With more resampling units than buckets, the bucket of a unit is the first bits of its hash. So as soon as a thread has
seen so many units, it adds its rows to a table with a state for each bucket. Rows that it read before are in the
exchange by unit, with those of threads that never saw so many.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns.row_blocks import Output, RowBlock
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.group_accumulators import StateKey, merge_states
from fastmetrics._core.parallel import accumulate
from fastmetrics._core.resampling.additive_replicates import AdditiveReplicates, JackknifeUnits, new_states
from fastmetrics._core.resampling.replicate_weights import ReplicateWeights
from fastmetrics._core.resampling.resampling_units import (
    HASH_BITS,
    MAX_UNIT_BUCKETS,
    SAMPLED_HASHES,
    UNIT_BUCKET_BITS,
    UnitCounter,
)
from fastmetrics._core.resampling.unit_state_table import UnitStateTable
from fastmetrics._core.state import Sums
from fastmetrics._core.statistic import adds_by_unit
from fastmetrics.engine.plan.metric_plan import Plan

PREFIX_SHIFT = np.uint64(HASH_BITS - UNIT_BUCKET_BITS)
RANGE_BUCKETS = 256  # whose weights are drawn and used at a time: they stay in the cache
MEMORY_SHARE = 8  # tables may take this part of a memory limit



class StatesByUnit:
    """The states of some statistics by unit bucket, of the rows that one thread has added."""

    def __init__(self, statistics: Sequence[Any], outputs: Sequence[Output], keeps_sample: bool = False) -> None:
        self.statistics = statistics
        self.keeps_sample = keeps_sample  # are the rows of units that may be in the sample stored?
        self.outputs = outputs
        self.units = UnitCounter()
        self.tables: dict[tuple[Any, int], UnitStateTable] = {}

    def takes(self, hashes: np.ndarray) -> bool:
        """Record the units of a block of rows; return whether its rows are to be added here."""
        self.units.add(hashes)
        return self.units.n_units > MAX_UNIT_BUCKETS

    def update(self, columns: RowBlock, hashes: np.ndarray) -> np.ndarray | None:
        """Add a block of rows, but for those that are to be stored: they are returned, as booleans."""
        stored = None
        if self.keeps_sample:
            stored = hashes < np.uint64(SAMPLED_HASHES)
            others = ~stored
            columns, hashes = columns.move(lambda column: column[others]), hashes[others]
        buckets = (hashes >> PREFIX_SHIFT).astype(np.int32)
        for number, output in enumerate(self.outputs):
            rows = columns.rows_of_output(output)
            for statistic in self.statistics:
                table = self.tables.get((statistic, number))
                if table is None:
                    table = self.tables[statistic, number] = UnitStateTable(statistic, MAX_UNIT_BUCKETS)
                statistic.update_units(table, rows, buckets)
        return stored

    def totals(self) -> dict[StateKey, Sums]:
        """The states of all rows that were added."""
        return {(statistic, number, None): table.total() for (statistic, number), table in self.tables.items()}


def replicate_units(
    threads: Sequence[StatesByUnit], weights: ReplicateWeights | JackknifeUnits, n_threads: int
) -> dict[StateKey, AdditiveReplicates]:
    """The replicates of the rows that all threads have added, a range of unit buckets at a time."""
    keys = list(dict.fromkeys(key for of_thread in threads for key in of_thread.tables))
    prefixes = (weights.unit_buckets.keys >> PREFIX_SHIFT).astype(np.int64)
    for of_thread in threads:
        for table in of_thread.tables.values():
            table.sort_others()
    starts = range(0, MAX_UNIT_BUCKETS, RANGE_BUCKETS)

    def add(own: dict[StateKey, AdditiveReplicates], number: int) -> None:
        start = starts[number]
        first, last = np.searchsorted(prefixes, (start, start + RANGE_BUCKETS)).tolist()
        present = prefixes[first:last] - start  # other buckets have no rows
        numbers = np.arange(last - first, dtype=np.int32)
        of_range = weights.of_buckets(slice(first, last))
        for statistic, output in keys:
            table = UnitStateTable(statistic, RANGE_BUCKETS)
            for of_thread in threads:
                if (statistic, output) in of_thread.tables:
                    table.add_part(of_thread.tables[statistic, output], start)
            key = statistic, output, None
            if key not in own:
                own[key] = new_states(statistic, weights)
            own[key].add(of_range, numbers, table.select(present))

    merged: dict[StateKey, AdditiveReplicates] = {}
    for own in accumulate(len(starts) if keys else 0, dict[StateKey, AdditiveReplicates], add, n_threads):
        merge_states(merged, own)
    return merged


def can_add_by_unit(plan: Plan, n_outputs: int, budget: MemoryBudget | None) -> bool:
    """Whether no metric of a plan needs its rows again, and the tables of all threads fit into a memory limit."""
    statistics = plan.statistics["none"]
    if not statistics or plan.needs("hash") or plan.needs("range") or plan.unsliced:
        return False
    if not all(map(adds_by_unit, statistics)):
        return False
    if budget is None:
        return True
    integers = sum(own.fields.n_counts + own.fields.n_sums * exact.SIZE for own in statistics)
    n_bytes = 8 * integers * MAX_UNIT_BUCKETS * n_outputs * budget.n_threads
    return bool(n_bytes <= budget.limit // MEMORY_SHARE)
