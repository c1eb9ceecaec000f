"""Equal rows as different resampling units: the hash of a row gets the number of equal rows before it.

Which of several equal rows is the first does not matter, because they are equal. So units do not depend on the order of
rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock

import numpy as np

from fastmetrics._core.exchange.block_store import BlockStore, SpilledBlock
from fastmetrics._core.exchange.blocks import Block
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.parallel import for_each
from fastmetrics._kernels.resampling import poisson_weights

FIRST_PLACES = 1 << 10


class EqualRows:
    """Counts rows by their hashes, and numbers equal ones. Several threads may call it."""

    def __init__(self) -> None:
        self.table = np.zeros((FIRST_PLACES, 2), np.uint64)  # hashes, 0 for a free place, and how many rows have each
        self.used = np.zeros(1, np.int64)
        self.lock = Lock()

    def number(self, hashes: np.ndarray) -> None:
        """Give equal rows different hashes, in place."""
        with self.lock:
            done = 0
            while (done := poisson_weights.number_equal_rows(hashes, done, self.table, self.used)) < hashes.shape[0]:
                table = np.zeros((4 * self.table.shape[0], 2), np.uint64)
                poisson_weights.copy_counts(self.table, table)
                self.table = table


def number_equal_rows(store: BlockStore, n_threads: int) -> None:
    """Give equal rows of a store, which are in one partition, different hashes."""
    filled = np.flatnonzero(store.partition_rows).tolist()

    def number(index: int) -> None:
        rows = EqualRows()
        for segment in segments_to_change(store, HASH, filled[index]):
            rows.number(segment)

    for_each(len(filled), lambda: number, n_threads)


def segments_to_change(store: BlockStore, name: str, partition: int) -> Iterator[np.ndarray]:
    """The rows of one partition in a column, block by block: what is changed in place is changed in the store."""
    for block, (start, stop) in store.block_offsets(partition, partition + 1):
        if isinstance(block, Block):
            yield block.columns[name][start:stop]
        elif isinstance(block, SpilledBlock) and stop > start:
            segment = np.empty(stop - start, store.types[name])
            store.read_rows(block, start, {name: segment})
            yield segment
            store.write_rows(block, start, name, segment)
