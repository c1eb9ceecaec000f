"""Replicates of tables that groups add to: the entries of every group are kept, and weighted replicate by replicate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fastmetrics._core.tables.group_tables import GroupKeysTable
from fastmetrics._core.tables.key_table import KeyTable
from fastmetrics._core.tables.key_texts import RankedTexts, keys_of_numbers


class KeyTableReplicates:
    """The tables of all replicates of one statistic. The entries of all groups stay in memory."""

    def __init__(self, statistic: Any, replicates: int) -> None:
        self.statistic = statistic
        self.replicates = replicates
        self.weights: Any = None
        self.key_texts: RankedTexts | None = None
        self.entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def add(self, weights: Any, unit_buckets: np.ndarray, table: GroupKeysTable) -> None:
        """Add the entries of groups, whose unit buckets are given."""
        own = table.entries_of(self.statistic)
        self.weights = weights
        self.key_texts = table.key_texts
        self.entries.append((unit_buckets[own.groups], own.keys, own.counts))

    def merge(self, other: KeyTableReplicates) -> None:
        self.weights = self.weights or other.weights
        self.key_texts = self.key_texts or other.key_texts
        self.entries += other.entries

    def states(self) -> Iterator[KeyTable]:
        """The table of every replicate."""
        if not self.entries:
            for _ in range(self.replicates):
                yield KeyTable()
            return
        buckets, keys, counts = (np.concatenate(columns) for columns in zip(*self.entries, strict=True))
        for first, stop, table, rows in self.weights.batches(buckets):
            for number in range(stop - first):
                factors = table[rows, number].astype(np.int64)
                drawn = factors > 0
                state = KeyTable()
                if drawn.any():
                    own = keys_of_numbers(keys[drawn], self.key_texts)
                    state.add(own, np.ascontiguousarray((counts[drawn] * factors[drawn])[:, None]))
                yield state
