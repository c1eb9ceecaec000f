"""Entries of a key table: keys and their counts, in memory and as runs on disk."""

from __future__ import annotations

import numpy as np

from fastmetrics._core.columns.key_types import decode_keys, slots_of
from fastmetrics._core.exchange.spill import SpillFile
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.exchange import hash_partition
from fastmetrics._kernels.exchange.key_counts import N_PARTITIONS

NO_WORDS: np.ndarray = np.empty(0, np.uint64)
NO_TEXT: np.ndarray = np.empty(0, np.uint8)
LENGTH_BITS = np.uint64(0xFFFFFFFF)


class KeyCounts(NamedTuple):
    """Some keys of a table and their counts. An entry has the words of a key, then its counts."""

    entries: np.ndarray
    text: np.ndarray
    dtype: np.dtype
    n_counts: int

    @property
    def rows(self) -> int:
        return int(self.entries.shape[0])

    def counts(self) -> np.ndarray:
        """int64[rows, n_counts]."""
        return self.entries[:, self.entries.shape[1] - self.n_counts :].view(np.int64)

    def words(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The hashes, heads and tails of the keys. Tails of long texts are addresses."""
        n_words = 1 + len(slots_of(self.dtype))
        words = [np.ascontiguousarray(self.entries[:, number]) for number in range(n_words)]
        if n_words == 3:
            words[2][is_long(words[1])] += np.uint64(self.text.ctypes.data)
        hashes, heads, tails = (*words, NO_WORDS, NO_WORDS)[:3]
        return hashes, heads, tails

    def keys(self) -> np.ndarray:
        """The keys in their type: numbers, Python strings, or records of several columns."""
        return decode_keys(self.dtype, *self.words())

    def texts(self) -> list[bytes]:
        """The bytes of keys that are texts, or are stored as such."""
        return hash_partition.read_text_slots(*self.words()[1:])

    def in_order(self) -> KeyCounts:
        """The same keys in the order of their hashes; keys with equal hashes in the order of their words or bytes."""
        hashes = self.entries[:, 0]
        slots = slots_of(self.dtype)
        order = np.lexsort((self.entries[:, 1], hashes)) if len(slots) == 1 else np.argsort(hashes, kind="stable")
        ordered = self._replace(entries=self.entries[order])
        if len(slots) < 2 or (ordered.entries[1:, 0] > ordered.entries[:-1, 0]).all():
            return ordered
        texts = ordered.texts()
        by_text = sorted(range(self.rows), key=texts.__getitem__)
        ranks = np.argsort(ordered.entries[by_text, 0], kind="stable")
        return ordered._replace(entries=ordered.entries[by_text][ranks])


class Run(NamedTuple):
    """A shard on disk: where each partition's entries and long texts begin, then the entries, then the texts."""

    file: SpillFile
    position: int
    rows: int
    n_words: int

    def bounds(self) -> np.ndarray:
        """int64[2, N_PARTITIONS + 1]: where the entries and the texts of each partition begin."""
        bounds = np.empty((2, N_PARTITIONS + 1), np.int64)
        self.file.read(self.position, bounds)
        return bounds

    def load(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """The entries of the partitions start to stop, and their texts."""
        bounds = self.bounds()
        (first, last), (begin, end) = bounds[:, [start, stop]].tolist()
        entries, text = np.empty((last - first, self.n_words), np.uint64), np.empty(end - begin, np.uint8)
        position = self.position + bounds.nbytes
        self.file.read(position + first * 8 * self.n_words, entries)
        self.file.read(position + self.rows * 8 * self.n_words + begin, text)
        if begin:
            entries[is_long(entries[:, 1]), 2] -= np.uint64(begin)
        return entries, text


def is_long(heads: np.ndarray) -> np.ndarray:
    """Which text slots have their text elsewhere."""
    return (heads & LENGTH_BITS) > hash_partition.SHORT_TEXT_BYTES


def long_bytes(heads: np.ndarray, row: int) -> int:
    """The bytes that the text of a slot has elsewhere."""
    length = int(heads[row]) & 0xFFFFFFFF
    return length if length > hash_partition.SHORT_TEXT_BYTES else 0
