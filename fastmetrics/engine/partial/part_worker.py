"""The states and the scratch memory of one thread, and the exchange of a block of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from fastmetrics._core.columns.key_columns import Keys
from fastmetrics._core.columns.row_blocks import Output, RowBlock
from fastmetrics._core.exchange.block_store import BlockStore, SlabAllocator
from fastmetrics._core.exchange.blocks import Block as StoredBlock
from fastmetrics._core.exchange.hash_exchange import HashExchangeScratch
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.score_statistics.score_histogram import ScoreHistogram
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.partial.additive_states import AdditiveStates, number_of
from fastmetrics.engine.plan.metric_plan import Plan

if TYPE_CHECKING:
    from fastmetrics._core.resampling.counted_row_replicates import CountedRows
    from fastmetrics.engine.partial.states_by_unit import StatesByUnit

SLAB_BLOCKS = 64

# The number of an output, and of a slice (None: all rows).
HistogramKey = tuple[int, int | None]


class PartWorker:
    """The states and the scratch memory of one thread. `by_unit`: states that intervals need.

    `histograms` have the scores of an approximate state.
    """

    def __init__(
        self,
        plan: Plan,
        outputs: list[Output],
        slices: GroupingSets,
        block_rows: int,
        budget: MemoryBudget | None = None,
        counted: CountedRows | None = None,
        by_unit: StatesByUnit | None = None,
    ) -> None:
        self.by_unit = by_unit
        self.additive = AdditiveStates(plan, outputs, slices, budget, counted)
        self.histograms: dict[HistogramKey, ScoreHistogram] = {}
        self.slabs = SlabAllocator(block_rows, SLAB_BLOCKS)
        self.scratch: dict[str, HashExchangeScratch] = {}
        self.block_rows = block_rows

    def hash_keys(self, role: str, keys: Keys) -> HashExchangeScratch:
        """Hash the keys of a block into scratch memory, which the next block of the same role overwrites."""
        scratch = self.scratch.get(role)
        if scratch is None or scratch.destinations.shape[0] < keys.rows:
            scratch = self.scratch[role] = HashExchangeScratch(max(keys.rows, self.block_rows), keys.dtype)
        keys.hash_block(0, keys.rows, scratch.keys)
        return scratch


def retain_rows(store: BlockStore, columns: RowBlock, slabs: SlabAllocator) -> None:
    """Copy columns to a store, in memory or on disk, so that the batch, which is larger, can be released."""
    arrays = columns.arrays()
    held = store.try_reserve(sum(array.nbytes for array in arrays.values()))
    if held:
        for name, values in arrays.items():
            out = slabs.allocate(name, values.dtype, values.shape[0])
            out[:] = values
            arrays[name] = out
    else:
        arrays = {name: np.ascontiguousarray(values) for name, values in arrays.items()}
    store.add(StoredBlock(arrays, np.array([0, columns.rows], np.int32)), held)


def merge_histograms(
    into: dict[HistogramKey, ScoreHistogram],
    others: Mapping[HistogramKey, ScoreHistogram],
    numbers: np.ndarray | None = None,
) -> None:
    """Merge histograms; slice s of the others is numbers[s], or s."""
    for (output, number), histogram in others.items():
        key = output, number_of(number, numbers)
        if key in into:
            into[key].merge(histogram)
        else:
            into[key] = histogram.copy()


def new_counted_rows() -> CountedRows:
    """Empty counts of rows."""
    from fastmetrics._core.resampling.counted_row_replicates import CountedRows  # only intervals need resampling

    return CountedRows()
