"""The rows of a range of scores, from the shards of all partitions, and the slices of these rows.

Partitions number slices, and the values of grouping sets, differently: a shard has what its numbers stand for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import SLICE, score_name, slice_code_name
from fastmetrics._core.exchange.block_store import Block, BlockStore
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.engine.input.grouping_sets import GroupingSets, make_slice_numbers
from fastmetrics.engine.input.slices import SliceNumbers, SliceValues
from fastmetrics.engine.plan.column_names import ColumnNames
from fastmetrics.engine.scan.slice_views import SliceView, compute_slices, views_of


class ScoreRangeShard(NamedTuple):
    """Rows of a partition in one range of a score column.

    `slices` has the values of the slices of rows; with grouping sets, for every column, those of its codes.
    """

    score: int
    range_number: int
    slices: list[Any]
    columns: dict[str, np.ndarray]


def shard_slices(slices: SliceNumbers) -> list[Any]:
    """What the numbers of slices, or the codes of columns, stand for: `slices` of a shard."""
    return [own.values for own in slices.columns] if isinstance(slices, GroupingSets) else slices.values()


def slice_columns(slices: SliceNumbers) -> list[str]:
    """The stored columns that have the slices of rows, as shards move them."""
    if isinstance(slices, GroupingSets):
        return [slice_code_name(number) for number in range(len(slices.columns))]
    return [SLICE] if slices.names else []


class RangeRows:
    """The rows of a range of one score column.

    Attributes
    ----------
    store : BlockStore
    slices : SliceNumbers
    """

    def __init__(self, names: ColumnNames, budget: MemoryBudget | None) -> None:
        self.store = BlockStore(1, budget)
        self.slices = make_slice_numbers(names.by, names.grouping_sets)

    def add(self, shard: ScoreRangeShard) -> None:
        """Add the rows of a shard, whose slices get the numbers that they have here."""
        columns = dict(shard.columns)
        rows = columns[score_name(0)].shape[0]
        if isinstance(self.slices, GroupingSets):
            codes = self.slices.renumber_codes(shard.slices, [columns[name] for name in slice_columns(self.slices)])
            columns |= zip(slice_columns(self.slices), codes, strict=True)
            columns[SLICE] = np.zeros(rows, np.uint16)  # computed from the codes, set by set
        elif SLICE in columns:
            columns[SLICE] = self.slices.number_slices(shard.slices)[columns[SLICE]]
        block = Block(columns, np.array([0, rows], np.int32))
        self.store.add(block, self.store.try_reserve(block.n_bytes()))

    def views(self) -> Iterator[tuple[SliceView, list[SliceValues]]]:
        """The passes over the rows, and the values of the slices of each."""
        values = self.slices.values()
        for view in views_of(self.slices):
            with compute_slices([self.store], self.slices, view):
                yield view, values if view.numbers is None else [values[number] for number in view.numbers.tolist()]
