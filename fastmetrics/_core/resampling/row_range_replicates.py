"""Replicates of statistics that read the rows of ranges of scores: replicate by replicate.

A replicate is the log in which the rows of each unit have its weight as a factor; rows of weight zero are left out. It
is reduced as any other log. All rows have to fit into memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import WEIGHT
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.blocks import Block
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.row_ranges import RowRangeReduction, reduce_row_ranges
from fastmetrics._core.resampling.replicate_weights import ReplicateWeights


def replicate_row_ranges(
    reduction: RowRangeReduction, weights: ReplicateWeights, advance: Callable[[int], None] | None = None
) -> dict[tuple[Any, int | None], list[Any]]:
    """The states of every replicate, by statistic and slice. The store has the hash of every row's unit."""
    numbers = weights.unit_buckets.bucket_of
    readers = reduction.store.block_readers([*reduction.names(), HASH])
    columns = [dict(reader.load()) for reader in readers]
    buckets = [numbers(own.pop(HASH)) for own in columns]
    used = np.arange(weights.unit_buckets.n_buckets, dtype=np.int32)
    states: dict[tuple[Any, int | None], list[Any]] = {}
    for first, stop, table, rows_of_table in weights.batches(used):
        for number in range(stop - first):
            of_units = table[rows_of_table, number].astype(np.float64)
            store = weighted_store(columns, buckets, of_units)
            found = reduce_row_ranges(reduction._replace(store=store))
            for key in found:
                states.setdefault(key, [key[0].empty()] * (first + number))
            for key, own in states.items():
                own.append(found.get(key, key[0].empty()))
    if advance is not None:
        advance(reduction.store.rows)
    return states


def weighted_store(columns: list[dict[str, np.ndarray]], buckets: list[np.ndarray], of_units: np.ndarray) -> BlockStore:
    """The rows of one replicate with their weights."""
    store = BlockStore(1)
    for own, numbers in zip(columns, buckets, strict=True):
        drawn = of_units[numbers]
        kept = drawn > 0
        rows = int(np.count_nonzero(kept))
        if rows:
            selected = {name: column[kept] for name, column in own.items()}
            selected[WEIGHT] = selected[WEIGHT] * drawn[kept] if WEIGHT in selected else drawn[kept]
            store.add(Block(selected, np.array([0, rows], np.int32)), True)
    return store
