"""Blocks that are spilled are joined to large ones: the rows of every partition stay, in the order of the blocks."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.exchange import block_store
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.blocks import Block, join_blocks
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from support.cases import each_case

PARTITIONS = 5
COUNTS = st.lists(st.lists(st.integers(0, 4), min_size=PARTITIONS, max_size=PARTITIONS), min_size=1, max_size=6)


def make_block(number, counts):
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
    rows = int(offsets[-1])
    ids = number * 1000 + np.arange(rows)
    columns = {
        "id": ids.astype(np.int64),
        "partition": np.repeat(np.arange(PARTITIONS), counts).astype(np.uint8),
    }
    return Block(columns, offsets)


@given(COUNTS)
def test_joined_rows_are_those_of_the_blocks(counts):
    blocks = [make_block(number, own) for number, own in enumerate(counts)]
    wanted = {
        partition: np.concatenate([block.columns["id"][block.columns["partition"] == partition] for block in blocks])
        for partition in range(PARTITIONS)
    }
    joined = join_blocks(blocks, PARTITIONS)
    assert joined.rows == sum(map(sum, counts))
    for partition in range(PARTITIONS):
        rows = slice(*joined.offsets[partition : partition + 2].tolist())
        assert joined.columns["id"][rows].tolist() == wanted[partition].tolist()
        assert set(joined.columns["partition"][rows].tolist()) <= {partition}


@each_case(("rows", "files"), [(1, 1), (32, 1), (33, 2), (400, 13)])
def test_small_blocks_are_written_together(rows, files, monkeypatch):
    monkeypatch.setattr(block_store, "SPILLED_ROWS", 32 * PARTITIONS)
    store = BlockStore(PARTITIONS, MemoryBudget(1 << 16, None, 1))
    for number in range(rows):
        store.add(make_block(number, [1] * PARTITIONS), False)
    assert len(store.spilled_blocks) == files
    loaded = store.load_partitions(["id"], 0, PARTITIONS)
    assert sorted(loaded.columns["id"].tolist()) == sorted(n * 1000 + i for n in range(rows) for i in range(PARTITIONS))
    store.close()


def test_threads_that_read_wait_for_the_last_write(monkeypatch):
    """The blocks that still wait are written at the first reading: no other thread may read without them."""
    store = BlockStore(PARTITIONS, MemoryBudget(1 << 16, None, 1))
    for number in range(9):
        store.add(make_block(number, [1] * PARTITIONS), False)
    reading = Barrier(4)
    write = BlockStore.write_blocks

    def slow(self, blocks):
        while reading.n_waiting:  # all threads are beyond the barrier
            pass
        write(self, blocks)

    monkeypatch.setattr(BlockStore, "write_blocks", slow)

    def read():
        reading.wait()
        return len(store.load_partitions(["id"], 0, PARTITIONS).columns["id"])

    with ThreadPoolExecutor(4) as pool:
        rows = [future.result() for future in [pool.submit(read) for _ in range(4)]]
    assert rows == [9 * PARTITIONS] * 4
    store.close()


TEXTS = ["", "ann", "exactly 12 b", "a user with a long name ", "ünïcödé and longer than twelve bytes", "x" * 400]


@pytest.mark.parametrize("batch_rows", [40, 700])
def test_long_texts_of_small_batches(batch_rows):
    """Users are long texts: the bytes move with the rows, and every user stays one user."""
    rows = 40_000
    chance = np.random.default_rng(3)
    users = [f"{TEXTS[number % len(TEXTS)]}{number % 997}" for number in chance.integers(0, 4000, rows)]
    log = pa.table({"y": chance.integers(0, 2, rows), "p": chance.random(rows), "u": users})
    columns = {"label": "y", "score": "p", "group": "u", "ci": 0.9, "replicates": 10}
    whole = fm.evaluate(log, ["gauc", "auc", "ndcg@5"], **columns)
    batches = log.to_batches(max_chunksize=batch_rows)
    assert fm.evaluate(iter(batches), ["gauc", "auc", "ndcg@5"], **columns, memory_limit="1MiB") == whole
