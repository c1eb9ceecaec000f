"""The rows of the exchanges of a part: their sections in a state file, and how they are read."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from fastmetrics._core.columns.arrow_columns import widened_epsilon
from fastmetrics._core.columns.key_types import slots_of
from fastmetrics._core.columns.row_blocks import slice_columns
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.blocks import TEXT_PADDING, Block
from fastmetrics._core.exchange.hash_exchange import HashExchange, HashExchangeScratch
from fastmetrics.engine.partial.files.column_checks import ColumnChecks, read_codes, types_of_columns
from fastmetrics.engine.partial.files.containers import (
    READING,
    ArrayReader,
    StateReader,
    errors_mean_damage,
    is_count,
    require,
)
from fastmetrics.engine.partial.files.stored_rows import FILE_ROWS, StoredRows, in_order
from fastmetrics.engine.partial.part_state import PartState

SLOT_BYTES = 8  # of a hash, or of a slot of a key
STORED_DIVISOR = 16  # rows of files that take more than this part of the memory limit stay there


def stores_of(part: PartState) -> dict[str, tuple[BlockStore, HashExchange | None]]:
    """The stores that keep all rows, and their exchanges, by the folders of their sections."""
    units = None if part.unit_exchange is part.group_exchange else part.unit_exchange
    main = units if part.group_exchange is None else part.group_exchange
    stores: dict[str, tuple[BlockStore, HashExchange | None]] = {"rows": (part.range_store(), main)}
    if units is not None and units is not main:
        stores["unit_rows"] = units.store, units
    return stores


def read_stores(
    part: PartState, partitions: dict[str, Any], arrays: ArrayReader, reader: StateReader, place: str
) -> None:
    """The exchanges and their rows."""
    if part.types.found is not None:
        part.score_epsilons = tuple(widened_epsilon(own) for own in part.types.of_models())
        part.create_exchanges_of_types(part.types.of_keys().__getitem__)
    if part.counts.truth_rows:
        part.create_exchanges_of_types(part.counts.truth_types.__getitem__)
    left = dict(partitions)
    for folder, (store, exchange) in stores_of(part).items():
        if part.keeps_rows and part.counts.rows_stored:
            stored = find_partitions(part, exchange, left.pop(folder, None), arrays)
            read_store(part, store, exchange, reader, f"{place}/{folder}", *stored)
    require(not left, f"it has partitions of no rows: {', '.join(left)}")


def find_partitions(
    part: PartState, exchange: HashExchange | None, stored: list[int] | None, arrays: ArrayReader
) -> tuple[np.ndarray | None, int]:
    """Where partitions begin, and the bytes of long keys; None if rows have to be read to know them."""
    rows = part.counts.rows_stored
    if exchange is None:
        return np.array([0, rows]), 0
    if stored is None:
        return None, 0
    number, text_bytes = stored
    partition_rows = arrays.get(number, np.int64, None)
    require(
        (partition_rows >= 0).all() and int(partition_rows.sum()) == rows and is_count(text_bytes, 1 << 48),
        "its partitions have not the rows it counts",
    )
    return (np.cumsum([0, *partition_rows]) if len(partition_rows) == exchange.n_partitions else None), text_bytes


def read_store(
    part: PartState,
    store: BlockStore,
    exchange: HashExchange | None,
    reader: StateReader,
    place: str,
    offsets: np.ndarray | None,
    text_bytes: int,
) -> None:
    """The rows of a store. Those of a large file stay there, if it is known where partitions begin."""
    key_dtype = None if exchange is None else exchange.key_dtype
    types, n_rows, budget = types_of_columns(part, exchange), part.counts.rows_stored, part.memory_budget
    row_text, n_slots = text_bytes // n_rows, 0 if key_dtype is None else 1 + len(slots_of(key_dtype))
    row_bytes = sum(np.dtype(own).itemsize for own in types.values()) + SLOT_BYTES * n_slots + row_text
    is_large = budget is not None and not budget.is_within(row_bytes * n_rows, STORED_DIVISOR)
    stays = is_large and not part.slices.columns and not part.reader.key_texts.size
    check = ColumnChecks(part.plan, part.names, part.reader, part.counts.n_classes or 0).check
    first = 0
    for number in count():
        name = f"{place}/{number}.parquet"
        if name not in reader.unread:
            break
        section = reader.refer(name) if stays and offsets is not None else None
        with errors_mean_damage(name, *READING):
            rows = StoredRows(reader.read(name) if section is None else section, types, key_dtype, check)
            if section is None or offsets is None or budget is None:
                add_rows(part, store, exchange, rows, reader.n_threads)
            else:
                most_rows = max(1, min(FILE_ROWS, budget.bytes_per_range // row_bytes))
                for block in rows.blocks(np.clip(offsets - first, 0, rows.rows), most_rows, row_text):
                    store.add_stored(block, rows.types)
        first += rows.rows
    require(store.rows == n_rows, f"{place} has not the rows it counts")


def add_rows(
    part: PartState, store: BlockStore, exchange: HashExchange | None, rows: StoredRows, n_threads: int
) -> None:
    """Add all rows of a section to a store, a row group at a time; threads load the next ones."""

    def load(group: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
        return rows.load(group, group + 1, list(rows.types))

    for columns, text in in_order(load, range(len(rows.edges) - 1), n_threads):
        columns |= slice_columns(read_codes(part.slices, columns, part.truth is not None))
        n = len(next(iter(columns.values())))
        if exchange is None:
            block = Block(columns, np.array([0, n], np.int32))
            store.add(block, store.try_reserve(block.n_bytes()))
        else:
            long_bytes = max(0, text.shape[0] - TEXT_PADDING)
            exchange.add_arrays(columns, long_bytes, text, HashExchangeScratch(n, exchange.key_dtype))
