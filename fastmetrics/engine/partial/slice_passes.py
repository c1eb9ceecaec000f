"""The slices that a pass over stored rows computes: those of one grouping set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import SLICE, slice_code_name
from fastmetrics._core.columns.slice_sets import SliceSet
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.engine.input.grouping_sets import GroupingSets


class SlicePass(NamedTuple):
    """The slices of a pass, numbered from 0, and whether it also computes all rows together.

    `numbers` are those of the slices outside the pass; None: the same.
    """

    n_slices: int
    all_rows: bool = True
    set_number: int | None = None
    numbers: np.ndarray | None = None

    def slice_counts(self) -> tuple[int, ...]:
        """The numbers of slices of the passes over rows in the order of scores: 0 is all rows together."""
        return (0,) * self.all_rows + (self.n_slices,) * bool(self.n_slices)

    def outside(self, number: int | None) -> int | None:
        """The number of a slice outside the pass; None is all rows."""
        return number if number is None or self.numbers is None else int(self.numbers[number])

    def rename(self, found: Mapping[tuple[Any, int, int | None], Any]) -> dict[tuple[Any, int, int | None], Any]:
        """What a pass found by statistic, output and slice, with the slices' numbers outside the pass."""
        return {
            (what, output, self.outside(number)): own
            for (what, output, number), own in found.items()
            if number is not None or self.all_rows
        }


def passes_of(slices: GroupingSets) -> list[SlicePass]:
    """The passes over stored rows: one for every grouping set, of which the first also has all rows together."""
    return [
        SlicePass(len(own), number == 0, number, own.global_numbers()) for number, own in enumerate(slices.sets)
    ] or [SlicePass(0)]


def slice_sets(slices: GroupingSets) -> tuple[SliceSet, ...]:
    """All ways in which stored rows are divided into slices, for statistics that take them in one pass."""
    return tuple(
        SliceSet(
            len(own), tuple(slice_code_name(position) for position in own.positions),
            partial(number_set, slices, set_number), own.numbers,
        )
        for set_number, own in enumerate(slices.sets)
    )  # fmt: skip


def number_set(slices: GroupingSets, set_number: int, codes: Sequence[np.ndarray], out: np.ndarray) -> None:
    """Write the slice of every row in a set; `codes` are those of the columns of the set."""
    slices.number_columns(set_number, codes, out=out)


def iterate_passes(part: Any) -> Iterator[SlicePass]:
    """The passes over the rows that a `PartState` has stored; the column of slices is that of the pass."""
    for slice_pass in passes_of(part.slices):
        with within_pass(part, slice_pass):
            yield slice_pass


@contextmanager
def within_pass(part: Any, slice_pass: SlicePass) -> Iterator[None]:
    """Let the stores of a part have the column of slices of a pass."""
    before, part.slice_pass = part.slice_pass, slice_pass
    if part.counted_rows is not None:
        number = slice_pass.set_number
        part.counted_rows.number_rows = None if number is None else partial(part.slices.number_stored, number)
    try:
        with compute_slices(part.stores(), part.slices, slice_pass):
            yield
    finally:
        part.slice_pass = before


@contextmanager
def compute_slices(stores: Sequence[BlockStore], slices: GroupingSets, slice_pass: SlicePass) -> Iterator[None]:
    """Let stores have the column of slices of a pass, which is computed from the codes of a grouping set."""
    distinct = list(dict.fromkeys(stores))
    if slice_pass.set_number is not None:
        names = [slice_code_name(number) for number in range(len(slices.columns))]
        set_number = slice_pass.set_number

        def number_rows(columns: Mapping[str, np.ndarray], out: np.ndarray) -> None:
            slices.number_set(set_number, [columns[name] for name in names], out=out)

        for store in distinct:
            store.compute_column(SLICE, names, number_rows)
    try:
        yield
    finally:
        for store in distinct:
            store.computed = None
