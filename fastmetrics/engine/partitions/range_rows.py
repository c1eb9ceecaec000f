"""The rows of a range of scores, from the shards of all partitions, and the slices of these rows.

Partitions code the values of slices differently: a shard has what its codes stand for.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fastmetrics._core.columns.row_blocks import score_name, slice_code_name, slice_columns
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.blocks import Block
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.input.slice_values import SliceValues
from fastmetrics.engine.partial.slice_passes import SlicePass, compute_slices, passes_of
from fastmetrics.engine.plan.column_names import ColumnNames


class ScoreRangeShard(NamedTuple):
    """Rows of a partition in one range of a score column.

    `values` has those that the codes of slices stand for, by columns.
    """

    score: int
    range_number: int
    values: list[list[SliceValues]]
    columns: dict[str, np.ndarray]


def shard_values(slices: GroupingSets) -> list[list[SliceValues]]:
    """What the codes of slices stand for: `values` of a shard."""
    return [own.values for own in slices.columns]


def code_names(slices: GroupingSets) -> list[str]:
    """The stored columns that have the codes of rows."""
    return [slice_code_name(number) for number in range(len(slices.columns))]


class RangeRows:
    """The rows of a range of one score column.

    Attributes
    ----------
    store : BlockStore
    slices : GroupingSets
    """

    def __init__(self, names: ColumnNames, budget: MemoryBudget | None) -> None:
        self.store = BlockStore(1, budget)
        self.slices = GroupingSets(names.by, names.slice_sets)

    def add(self, shard: ScoreRangeShard) -> None:
        """Add the rows of a shard, whose values get the codes that they have here."""
        codes = self.slices.renumber_codes(shard.values, [shard.columns[name] for name in code_names(self.slices)])
        columns = shard.columns | slice_columns(codes)
        block = Block(columns, np.array([0, columns[score_name(0)].shape[0]], np.int32))
        self.store.add(block, self.store.try_reserve(block.n_bytes()))

    def passes(self) -> Iterator[tuple[SlicePass, list[SliceValues]]]:
        """The passes over the rows, and the values of the slices of each."""
        values = self.slices.values()
        for slice_pass in passes_of(self.slices):
            with compute_slices([self.store], self.slices, slice_pass):
                numbers = slice_pass.numbers
                yield slice_pass, values if numbers is None else [values[number] for number in numbers.tolist()]
