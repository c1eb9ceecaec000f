"""Columns of group keys, as the exchange reads them: it asks for the hashes of a block, and for its slots.

The hash of a number is a bijection, so equal hashes are equal keys. A pair of numbers also has its second number
(HEAD), and text a slot of 16 bytes (HEAD and TAIL): it is compared by its bytes. Other keys of several columns become
bytes that are different for different tuples (tuple_keys.pyx), and then are text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fastmetrics._core.columns.key_types import TAIL, TEXT, dtype_of_columns, numbers_of, slots_of, values_of_texts
from fastmetrics._kernels.columns.column_blocks import ColumnBlocks
from fastmetrics._kernels.exchange import hash_partition, tuple_keys


class KeyScratch:
    """Working memory of one thread for the keys of a block."""

    def __init__(self, block_rows: int, dtype: np.dtype) -> None:
        slots = slots_of(dtype)
        self.hashes = np.empty(block_rows, np.uint64)
        self.heads = np.empty(block_rows if slots else 0, np.uint64)
        self.tails = np.empty(block_rows if TAIL in slots else 0, np.uint64)
        self.long_bytes = np.zeros(1, np.int64)
        self.data = np.empty(0, np.uint8)
        self.encoded = np.empty(0, np.uint8)
        self.offsets = np.empty(0, np.int64)

    def text_memory(self, n_offsets: int, n_bytes: int) -> tuple[np.ndarray, np.ndarray]:
        """Memory to encode the text of a block; it is reused for the next block."""
        if self.offsets.shape[0] < n_offsets or self.encoded.shape[0] < n_bytes:
            self.offsets = np.empty(n_offsets, np.int64)
            self.encoded = np.empty(n_bytes, np.uint8)
        return self.offsets[:n_offsets], self.encoded

    def fill_text(self, data: np.ndarray, offsets: np.ndarray, rows: int) -> None:
        self.long_bytes[0] = 0
        self.data = data
        hash_partition.make_text_slots(
            data, offsets, self.heads[:rows], self.tails[:rows], self.hashes[:rows], self.long_bytes
        )


def place_rows(hashes: np.ndarray, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """Hashes of whole keys that depend on the seeds of the process. Numbers have no heads, pairs of them no tails."""
    places = np.empty(hashes.shape[0], np.uint64)
    own_heads, own_tails = (ColumnBlocks([words]) if words.shape[0] else None for words in (heads, tails))
    stops = np.array([hashes.shape[0]])
    hash_partition.place_keys(ColumnBlocks([hashes]), own_heads, own_tails, np.zeros(1, np.int64), stops, places)
    return places


class NumberKeys:
    """Keys stored as int32, int64 or uint64: `dtype` says what the numbers are."""

    def __init__(self, values: np.ndarray, dtype: np.dtype | None = None) -> None:
        self.values = values
        self.rows = values.shape[0]
        self.dtype = values.dtype if dtype is None else dtype

    @property
    def has_integers(self) -> bool:
        return self.dtype.kind in "biu"

    def hash_block(self, start: int, stop: int, scratch: KeyScratch) -> None:
        hash_partition.hash_keys(self.values[start:stop], scratch.hashes[: stop - start])

    def select(self, mask: np.ndarray) -> NumberKeys:
        return NumberKeys(self.values[mask], self.dtype)

    def to_numpy(self) -> np.ndarray:
        """The keys in their original type."""
        bits = self.values.astype(np.uint64 if self.values.dtype.kind == "u" else np.int64, copy=False)
        return numbers_of(bits.view(np.uint64), self.dtype)

    def concatenate(self, others: Sequence[Any]) -> NumberKeys:
        return NumberKeys(np.concatenate([self.values, *(other.values for other in others)]), self.dtype)


class TextKeys:
    """Keys in Arrow's layout: UTF-8 bytes and offsets (int32 or int64). `dtype`: what the bytes encode, if not text."""

    def __init__(self, data: np.ndarray, offsets: np.ndarray, dtype: np.dtype = TEXT) -> None:
        self.data = data
        self.offsets = offsets
        self.dtype = dtype
        self.rows = offsets.shape[0] - 1

    def hash_block(self, start: int, stop: int, scratch: KeyScratch) -> None:
        scratch.fill_text(self.data, self.offsets[start : stop + 1], stop - start)

    def select(self, mask: np.ndarray) -> TextKeys:
        offsets = self.offsets.astype(np.int64)
        lengths = offsets[1:] - offsets[:-1]
        data = self.data[offsets[0] : offsets[-1]][np.repeat(mask, lengths)]
        return TextKeys(data, np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths[mask]))), self.dtype)

    def to_numpy(self) -> np.ndarray:
        bounds = self.offsets.tolist()
        whole = self.data[: bounds[-1]].tobytes()
        return values_of_texts([whole[start:stop] for start, stop in pairwise(bounds)], self.dtype)

    def concatenate(self, others: Sequence[Any]) -> TextKeys:
        data, offsets, end = [], [np.zeros(1, np.int64)], 0
        for block in (self, *others):
            data.append(block.data[block.offsets[0] : block.offsets[-1]])
            offsets.append(block.offsets[1:].astype(np.int64) + (end - int(block.offsets[0])))
            end = int(offsets[-1][-1])
        return TextKeys(np.concatenate(data), np.concatenate(offsets), self.dtype)


class FixedWidthKeys:
    """Keys of NumPy's fixed-width text, encoded to UTF-8 block by block."""

    dtype = TEXT

    def __init__(self, values: np.ndarray, name: str) -> None:
        self.values = values
        self.rows = values.shape[0]
        self.width = values.dtype.itemsize // 4
        self.name = name

    def hash_block(self, start: int, stop: int, scratch: KeyScratch) -> None:
        rows = stop - start
        offsets, data = scratch.text_memory(rows + 1, 4 * rows * self.width)
        self.encode(start, stop, offsets, data)
        scratch.fill_text(data[: int(offsets[-1])], offsets, rows)

    def encode(self, start: int, stop: int, offsets: np.ndarray, data: np.ndarray) -> None:
        """Write the UTF-8 of some rows and its offsets."""
        rows = stop - start
        if self.width == 0:
            offsets[:] = 0
            return
        codes = self.values[start:stop].view(np.uint32).reshape(rows, self.width)
        bad = hash_partition.encode_utf8(codes, offsets, data)
        if bad >= 0:
            row = start + bad
            raise ValueError(f"{self.name} has {str(self.values[row])!r} at row {row}, which is not valid Unicode text")

    def as_texts(self) -> TextKeys:
        """The same keys in Arrow's layout."""
        offsets, data = np.empty(self.rows + 1, np.int64), np.empty(4 * self.rows * self.width, np.uint8)
        self.encode(0, self.rows, offsets, data)
        return TextKeys(data[: int(offsets[-1])], offsets)

    def select(self, mask: np.ndarray) -> FixedWidthKeys:
        return FixedWidthKeys(self.values[mask], self.name)

    def to_numpy(self) -> np.ndarray:
        return self.values

    def concatenate(self, others: Sequence[Any]) -> TextKeys:
        return self.as_texts().concatenate([other.as_texts() for other in others])


class TupleKeys:
    """Keys of several columns."""

    def __init__(self, parts: Sequence[NumberKeys | TextKeys], dtype: np.dtype) -> None:
        self.parts = parts
        self.rows = parts[0].rows
        self.dtype = dtype

    def hash_block(self, start: int, stop: int, scratch: KeyScratch) -> None:
        if TAIL in slots_of(self.dtype):
            self.encode_block(start, stop, scratch)
            return
        first, second = (part.values for part in self.parts if isinstance(part, NumberKeys))
        hashes, heads = scratch.hashes[: stop - start], scratch.heads[: stop - start]
        hash_partition.hash_keys(first[start:stop], hashes)
        tuple_keys.hash_second_keys(second[start:stop], hashes, heads)

    def encode_block(self, start: int, stop: int, scratch: KeyScratch) -> None:
        """Hash the rows' tuples as texts."""
        rows = stop - start
        n_bytes = tuple_keys.NUMBER_BYTES * rows * len(self.parts) + tuple_keys.PADDING_BYTES
        kinds, columns = [], []
        texts: list[ColumnBlocks | None] = []
        for part in self.parts:
            if isinstance(part, TextKeys):
                n_bytes += int(part.offsets[stop]) - int(part.offsets[start])
                kinds.append(TEXT_KINDS[part.offsets.dtype])
                columns.append(ColumnBlocks([part.offsets[start : stop + 1]]))
                texts.append(ColumnBlocks([part.data]))
            else:
                kinds.append(NUMBER_KINDS[part.values.dtype])
                columns.append(ColumnBlocks([part.values[start:stop]]))
                texts.append(None)
        offsets, data = scratch.text_memory(rows + 1, n_bytes)
        fits = tuple_keys.encode_tuples(np.array(kinds, np.uint8), columns, texts, offsets, data)
        if not fits:
            raise RuntimeError("a group column was changed by another thread while it was read")
        scratch.fill_text(data[: int(offsets[-1])], offsets, rows)

    def select(self, mask: np.ndarray) -> TupleKeys:
        return TupleKeys([part.select(mask) for part in self.parts], self.dtype)

    def to_numpy(self) -> np.ndarray:
        out = np.empty(self.rows, self.dtype)
        for name, part in zip(self.dtype.names or (), self.parts, strict=True):
            out[name] = part.to_numpy()
        return out

    def concatenate(self, others: Sequence[Any]) -> TupleKeys:
        of_columns = zip(*(block.parts for block in (self, *others)), strict=True)
        return TupleKeys([parts[0].concatenate(parts[1:]) for parts in of_columns], self.dtype)


Keys = NumberKeys | TextKeys | FixedWidthKeys | TupleKeys
NUMBER_KINDS = {
    np.dtype(np.int32): tuple_keys.INT32, np.dtype(np.int64): tuple_keys.INT64, np.dtype(np.uint64): tuple_keys.UINT64,
}  # fmt: skip
TEXT_KINDS = {np.dtype(np.int32): tuple_keys.TEXT32, np.dtype(np.int64): tuple_keys.TEXT64}


def tuple_of(names: Sequence[str], columns: Sequence[Keys]) -> Keys:
    """Keys of several columns of one length; one column is itself."""
    if len(columns) == 1:
        return columns[0]
    # A column of several columns is refused before.
    parts: Any = [column.as_texts() if isinstance(column, FixedWidthKeys) else column for column in columns]
    return TupleKeys(parts, dtype_of_columns(names, [part.dtype for part in parts]))


def concatenate_keys(blocks: Sequence[Keys | None]) -> Keys | None:
    """The keys of blocks together, in new memory. All are of one class and type, or None."""
    present = [block for block in blocks if block is not None]
    return present[0].concatenate(present[1:]) if present else None
