"""Slices and the rest of each: all rows that are not in it, divided by the same grouping set.

After a scan, the rest of a slice is a slice of its own. Stored rows are passed once for every slice, and each pass has
two parts, the slice and its rest: whatever is computed of slices is computed of rests, by the same code.

On a cluster, each worker passes its rows for all slices, also for those that it has no rows of: all of its rows are in
their rests. Sums of rests are made of the merged sums of slices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import sub
from typing import Any

import numpy as np

from fastmetrics._core.group_accumulators import StateKey
from fastmetrics._core.grouping import grouped
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.engine.input.grouping_sets import GroupingSet, GroupingSets
from fastmetrics.engine.input.slice_values import SliceValues
from fastmetrics.engine.partial.slice_counts import RowCount, SliceCounts

MOST_SLICES = 1_000  # that have a rest: each is a pass over all rows


class PairedSlices(GroupingSets):
    """Slices in pairs, of which the values of the second are compared with those of the first."""

    def slice_of(self, number: int | None) -> int | None:
        """The second slice of the pair of a slice; None for all rows, and for a slice without another."""
        raise NotImplementedError


class RestOf(NamedTuple):
    """What the rest of a slice is known by where slices are known by their values."""

    slice_values: SliceValues


class SliceAndRest(GroupingSet):
    """A set of two: a slice of another set, and the rows that are not in it."""

    def __init__(self, set_number: int, own: GroupingSet, local: int, n_slices: int) -> None:
        super().__init__(own.positions, own.places)
        self.set_number, self.local_number = set_number, local
        self.numbers = [own.numbers[local], own.numbers[local] + n_slices]

    def __len__(self) -> int:
        return 2


class SlicesAndRests(PairedSlices):
    """The slices of a scan that is over, with the rest of each: slice s has the rest number s + n, of n slices."""

    def __init__(self, slices: GroupingSets) -> None:
        self.slices = slices
        self.columns, self.n = slices.columns, len(slices)
        if self.n > MOST_SLICES:
            raise ValueError(
                f"by={slices.sets_in_words()} makes {self.n:,} slices; at most {MOST_SLICES:,} are compared with the "
                "rest of the rows, which is read once for each"
            )
        self.pairs = [
            SliceAndRest(set_number, own, local, self.n)
            for set_number, own in enumerate(slices.sets)
            for local in range(len(own))
        ]
        self.sets = list[GroupingSet](self.pairs)
        self.pair_of = {own.numbers[0]: own for own in self.pairs}
        own_values = slices.values()
        self.numbers = {values: number for number, values in enumerate([*own_values, *map(RestOf, own_values)])}

    def number_slices(self, slices: list[SliceValues]) -> np.ndarray:
        found = self.slices.number_slices(slices)
        if len(self.slices) > self.n:
            raise ValueError("the rows changed between two steps: there are slices that were not there before")
        return found

    def rest_of(self, number: int) -> int:
        """The number of the rest of a slice."""
        return number + self.n

    def slice_of(self, number: int | None) -> int | None:
        """The slice that a number is of, be it that of the slice or of its rest; None for all rows."""
        return None if number is None else number % self.n

    def side_of(self, number: int) -> int:
        """0 or 1 for two slices, each of which is the rest of the other: they are one test. 0 for any other slice."""
        own = self.pair_of[number]
        return own.local_number if len(self.slices.sets[own.set_number]) == 2 else 0

    def number_columns(self, set_number: int, columns: Any, locate: Any = None, out: Any = None) -> np.ndarray:
        own = self.pairs[set_number]
        found = self.slices.number_columns(own.set_number, columns, None, out)
        np.not_equal(found, own.local_number, out=found)
        return found

    def number_stored(self, set_number: int, numbers: np.ndarray) -> np.ndarray:
        own = self.pairs[set_number]
        is_rest: np.ndarray = numbers[:, own.set_number] != own.local_number
        return is_rest.astype(np.uint16)

    def add_states(self, states: dict[StateKey, Any]) -> None:
        """Add the states of rests to those of slices: those of all other slices of the set, merged."""
        by_output = grouped((key[:2], key[2]) for key in states if key[2] is not None)
        set_of = self.slices.set_of_slices()
        for (statistic, output), numbers in by_output.items():
            for in_set in grouped((int(set_of[number]), number) for number in numbers).values():
                own = [states[statistic, output, number] for number in in_set]
                for number, rest in zip(in_set, states_of_others(statistic, own), strict=True):
                    states[statistic, output, self.rest_of(number)] = rest

    def with_counts(self, of_slices: SliceCounts) -> SliceCounts:
        """The counts with those of rests."""
        counts, whole = of_slices.copy(), of_slices.count(None)
        for number in range(self.n):
            own = counts.count(number)
            positives = tuple(map(sub, whole.positives, own.positives))
            counts.add_count(self.rest_of(number), RowCount(whole.rows - own.rows, positives))
        return counts


def with_rests(slices: GroupingSets, all_slices: Sequence[SliceValues] | None) -> GroupingSets:
    """The slices of all rows with their rests; of None the slices alone."""
    if all_slices is None:
        return slices
    slices.number_slices(list(all_slices))
    return SlicesAndRests(slices)


@contextmanager
def within_rests(part: Any, all_slices: Sequence[SliceValues] | None) -> Iterator[None]:
    """Let the slices of a `PartState` be those of all rows with their rests; of None they stay."""
    before = part.slices
    part.slices = with_rests(before, all_slices)
    try:
        yield
    finally:
        part.slices = before


def states_of_others(statistic: Any, states: Sequence[Any]) -> Iterator[Any]:
    """For each of some states, the merged state of all others."""

    def merged(*parts: Any) -> Any:
        found = statistic.empty()
        for part in parts:
            found.merge(part)
        return found

    after = [statistic.empty()]
    for state in reversed(states[1:]):
        after.append(merged(after[-1], state))
    before = statistic.empty()
    for state in states:
        yield merged(before, after.pop())
        before.merge(state)
