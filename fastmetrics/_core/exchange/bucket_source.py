"""The rows of one large bucket as a source of their own, so that a bucket can be split into finer buckets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from fastmetrics._core.columns.row_blocks import label_name, score_name
from fastmetrics._core.exchange.block_store import BlockReader, BlockStore
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.range_exchange import (
    KEY,
    MAX_BUCKETS,
    SAMPLE,
    Splitter,
    ordered_keys,
    scores_of_keys,
    splitter_of_cuts,
)
from fastmetrics._core.named_tuples import NamedTuple

SAMPLE_RUN = 64  # neighbouring scores that are read together for a sample of spilled blocks
SAMPLED_BLOCKS = 256


class BlockSource(Protocol):
    """Rows for the range exchange: blocks that are loaded column by column, and the memory budget."""

    budget: MemoryBudget | None

    @property
    def in_memory(self) -> bool: ...

    def block_readers(self, names: list[str]) -> Sequence[Any]: ...


class BucketSource:
    """The rows of one bucket as a BlockSource."""

    in_memory = False

    def __init__(self, ranged: BlockStore, bucket: int) -> None:
        self.ranged = ranged
        self.bucket = bucket
        self.budget = ranged.budget

    def block_readers(self, names: list[str]) -> list[BucketBlock]:
        bounds = [
            (block, offsets[0], offsets[2] - offsets[0], offsets[1] - offsets[0])
            for block, offsets in self.ranged.block_offsets(2 * self.bucket, 2 * self.bucket + 2)
        ]
        return [BucketBlock(self.ranged, names, *own) for own in bounds if own[2]]


class BucketBlock(NamedTuple):
    """Loads the rows that a bucket has in one block: negatives first, then positives."""

    ranged: BlockStore
    names: list[str]
    block: Any
    first: int
    rows: int
    negatives: int

    def load(self) -> dict[str, np.ndarray]:
        return self.load_rows(0, self.rows)

    def load_rows(self, start: int, stop: int) -> dict[str, np.ndarray]:
        others = [name for name in self.names if name not in (label_name(0), score_name(0))]
        reader = BlockReader(self.ranged, [KEY, *others], self.block)
        columns = reader.load_rows(self.first + start, self.first + stop)
        labels = (np.arange(start, stop) >= self.negatives).astype(np.uint8)
        loaded: dict[str, np.ndarray] = {label_name(0): labels, score_name(0): scores_of_keys(columns[KEY])}
        for name in others:
            loaded[name] = np.ascontiguousarray(columns[name])
        return {name: loaded[name] for name in self.names}


def key_range(source: BucketSource) -> tuple[int, int]:
    """The least and the greatest key of a bucket."""
    low, high = 1 << 64, -1
    for block in source.block_readers([score_name(0)]):
        keys = ordered_keys(block.load()[score_name(0)])
        low, high = min(low, int(keys.min())), max(high, int(keys.max()))
    return low, high


def split_large_bucket(source: BucketSource, low: int, high: int, rows: int) -> Splitter:
    """A splitter for the rows of a bucket whose keys lie between low and high.

    It cuts at the quantiles of a sample, around the most frequent key, and in the middle of the key range. So every
    finer bucket has a smaller key range, whatever the scores.
    """
    samples = []
    blocks = source.block_readers([score_name(0)])
    sampled = blocks[:: -(-len(blocks) // SAMPLED_BLOCKS)]
    for block in sampled:
        n_runs = max(1, SAMPLE // (SAMPLE_RUN * len(sampled)))
        for start in np.linspace(0, block.rows - 1, n_runs).astype(np.int64).tolist():
            stop = min(block.rows, start + SAMPLE_RUN)
            samples.append(ordered_keys(block.load_rows(start, stop)[score_name(0)]))
    keys = np.sort(np.concatenate(samples))
    range_bytes = source.budget.bytes_per_range if source.budget is not None else 1 << 26
    bucket_rows = max(1, range_bytes // source.ranged.row_bytes)
    n_buckets = max(2, min(MAX_BUCKETS, 4 * rows // bucket_rows))
    quantiles = keys[np.arange(1, n_buckets) * len(keys) // n_buckets]
    values, counts = np.unique(keys, return_counts=True)
    most_frequent = int(values[counts.argmax()])
    middle = low + (high - low + 1) // 2
    candidates = {int(cut) for cut in quantiles} | {most_frequent, most_frequent + 1, middle}
    cuts = np.array(sorted(cut for cut in candidates if low < cut <= high), keys.dtype)
    return splitter_of_cuts([cuts])
