"""Covers: combinations of more columns than a grouping set has, whose states add up to those of several sets.

A block is numbered once for each cover, and not once for each set. Covers are chosen when the first large block shows
how many values the columns have; a set whose own combinations are too many has none. The cover of one set alone has its
columns: with many slices, its tables of states are less work than to divide each block.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

MOST_COMBINATIONS = 1 << 12


class Cover:
    """A cover of some sets: its columns, and for every set the slice in which each combination is."""

    def __init__(self, positions: tuple[int, ...], sets: Sequence[int]) -> None:
        self.positions = positions
        self.sets = list(sets)
        self.numbers: dict[int, list[int]] = {number: [] for number in sets}

    def slices(self, set_number: int) -> np.ndarray:
        """The slice of a set, by its number among those of all sets, in which each combination is."""
        return np.array(self.numbers[set_number], np.int64)


def choose_covers(sets: Sequence[tuple[int, ...]], sizes: Sequence[int]) -> list[Cover]:
    """The covers of sets, given the positions of their columns and how many values each column has."""

    def combinations(positions: frozenset[int]) -> int:
        return prod(max(1, sizes[position]) for position in positions)

    unions: list[frozenset[int]] = []
    for own in sorted(map(frozenset, sets), key=lambda own: (-combinations(own), sorted(own))):
        joined = [(combinations(own | union), number) for number, union in enumerate(unions)]
        best = min(joined, default=(MOST_COMBINATIONS + 1, 0))
        if best[0] <= MOST_COMBINATIONS:
            unions[best[1]] |= own
        elif combinations(own) <= MOST_COMBINATIONS:
            unions.append(own)
    assigned: dict[frozenset[int], list[int]] = {}
    for number, positions in enumerate(sets):
        containing = [union for union in unions if union >= set(positions)]
        if containing:
            assigned.setdefault(min(containing, key=combinations), []).append(number)
    return [Cover(tuple(sorted(union)), numbers) for union, numbers in assigned.items()]
