"""Statistics of groups whose state is a table: every group adds counts to keys, for instance to the items it was shown.

The exchanges are chained: the rows of a group meet first, then what is left of the groups meets by key.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import Output
from fastmetrics._core.exchange.group_rows import GroupRows, RowsByGroup, sort_groups
from fastmetrics._core.exchange.hash_exchange import GroupKeys
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.statistic import GroupedStatistic
from fastmetrics._core.tables.key_table import KeyTable
from fastmetrics._core.tables.key_texts import RankedTexts, keys_of_numbers


class KeysOfGroups(NamedTuple):
    """The keys that groups add to a table: of entry i, the number of its group, the key and the count."""

    groups: np.ndarray
    keys: np.ndarray
    counts: np.ndarray


class GroupKeysTable(NamedTuple):
    """Some groups: their keys, and for each statistic the entries that they add to its table."""

    keys: GroupKeys
    entries: tuple[KeysOfGroups, ...]
    number_of: dict[Any, int]
    key_texts: RankedTexts | None = None

    def take(self, where: np.ndarray | slice) -> GroupKeysTable:
        """The groups with these indices, or a range of neighboring groups."""
        n = self.keys.hashes.shape[0]
        new_number = np.full(n, -1)
        kept = np.arange(n)[where]
        new_number[kept] = np.arange(kept.shape[0])
        entries = []
        for own in self.entries:
            numbers = new_number[own.groups]
            there = numbers >= 0
            entries.append(KeysOfGroups(numbers[there], own.keys[there], own.counts[there]))
        return self._replace(keys=self.keys.take(where), entries=tuple(entries))

    def entries_of(self, statistic: Any) -> KeysOfGroups:
        return self.entries[self.number_of[statistic]]


class GroupTableStatistic(GroupedStatistic):
    """Base of a statistic of groups whose state is a `KeyTable`: a subclass writes `keys_per_group`."""

    __slots__ = ()

    @abstractmethod
    def keys_per_group(self, groups: GroupRows) -> KeysOfGroups:
        """The entries that groups add to the table; a key may occur several times."""

    @property
    def table(self) -> type[KeysByGroup]:
        return KeysByGroup

    def empty(self) -> KeyTable:
        return KeyTable()

    def update(self, state: KeyTable, table: GroupKeysTable) -> None:
        entries = table.entries_of(self)
        add_keys(state, table.key_texts, entries.keys, entries.counts)

    def table_of_keys(self, texts: RankedTexts | None, cells: np.ndarray, counts: np.ndarray) -> KeyTable:
        """The table of some keys, one in each row of the cells."""
        state = self.empty()
        add_keys(state, texts, np.ascontiguousarray(cells[:, 0]), counts)
        return state


def add_keys(state: KeyTable, texts: RankedTexts | None, keys: np.ndarray, counts: np.ndarray) -> None:
    """Add the counts of keys to a table."""
    if keys.shape[0]:
        state.add(keys_of_numbers(keys, texts), np.ascontiguousarray(counts[:, None]))


class KeysByGroup(RowsByGroup):
    """Makes the tables of groups for all `GroupTableStatistic` of a plan; one object per thread."""

    @staticmethod
    def table_of_groups(
        statistics: Sequence[Any],
        keys: GroupKeys,
        group_of_row: np.ndarray,
        columns: dict[str, np.ndarray],
        output: Output,
        key_texts: RankedTexts | None = None,
    ) -> GroupKeysTable:
        if key_texts is not None:
            columns = key_texts.rank_columns(columns)
        groups = sort_groups(group_of_row, columns, output)
        entries = tuple(statistic.keys_per_group(groups) for statistic in statistics)
        number_of = {statistic: number for number, statistic in enumerate(statistics)}
        return GroupKeysTable(keys, entries, number_of, key_texts)
