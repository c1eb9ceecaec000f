"""Group keys: integers and text of any container, compared exactly.

A key column gives the exchange, block by block, the hashes of its keys, and for text a 16-byte slot per row (see
hash_partition.pyx). The hash of an integer is a bijection, so equal hashes are equal keys. Text is compared by its
bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.optional_imports import pyarrow
from fastmetrics._kernels.exchange import hash_partition

WANTED = "group keys must be integers or strings"
MOST_BYTES = (1 << 31) - 1  # of text in an Arrow array with 32-bit offsets


class IntegerKeys:
    """Keys of int32, int64 or uint64."""

    is_text = False

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.rows = values.shape[0]
        self.dtype = values.dtype

    def hash_block(self, start: int, stop: int, scratch: KeyScratch) -> None:
        hash_partition.hash_keys(self.values[start:stop], scratch.hashes[: stop - start])


class TextKeys:
    """Keys in Arrow's layout: UTF-8 bytes and offsets (int32 or int64)."""

    is_text = True
    dtype = np.dtype(object)

    def __init__(self, data: np.ndarray, offsets: np.ndarray) -> None:
        self.data = data
        self.offsets = offsets
        self.rows = offsets.shape[0] - 1

    def hash_block(self, start: int, stop: int, scratch: KeyScratch) -> None:
        scratch.fill_text(self.data, self.offsets[start : stop + 1], stop - start)


class FixedWidthKeys:
    """Keys of NumPy's fixed-width text, encoded to UTF-8 block by block."""

    is_text = True
    dtype = np.dtype(object)

    def __init__(self, values: np.ndarray, name: str) -> None:
        self.values = values
        self.rows = values.shape[0]
        self.width = values.dtype.itemsize // 4
        self.name = name

    def hash_block(self, start: int, stop: int, scratch: KeyScratch) -> None:
        rows = stop - start
        if self.width == 0:
            scratch.fill_text(np.zeros(0, np.uint8), np.zeros(rows + 1, np.int64), rows)
            return
        codes = self.values[start:stop].view(np.uint32).reshape(rows, self.width)
        offsets, data = scratch.text_memory(rows + 1, 4 * rows * self.width)
        bad = hash_partition.encode_utf8(codes, offsets, data)
        if bad >= 0:
            row = start + bad
            raise ValueError(f"{self.name} has {str(self.values[row])!r} at row {row}, which is not valid Unicode text")
        scratch.fill_text(data[: int(offsets[-1])], offsets, rows)


Keys = IntegerKeys | TextKeys | FixedWidthKeys


class KeyScratch:
    """Working memory of one thread for the keys of a block."""

    def __init__(self, block_rows: int, is_text: bool) -> None:
        self.hashes = np.empty(block_rows, np.uint64)
        self.heads = np.empty(block_rows if is_text else 0, np.uint64)
        self.tails = np.empty(block_rows if is_text else 0, np.uint64)
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


def as_keys(values: Any, name: str = "groups") -> Keys:
    """A key column of integers or strings in any container."""
    if type(values) is not np.ndarray:
        arrow = as_arrow(values)
        if arrow is not None:
            return arrow_keys(arrow, name)
    array = validation.as_array(values, name)
    if array.dtype.kind in "US" and isinstance(values, (list, tuple)):
        # NumPy's fixed-width text drops trailing zeros, and turns numbers among strings into strings.
        array = np.fromiter(values, object, len(values))
    validation.check_column(array, name)
    kind = array.dtype.kind
    if kind in "biu":
        return IntegerKeys(widen_integers(array))
    if kind == "U":
        return FixedWidthKeys(validation.contiguous(array), name)
    if kind in "OT":
        return encode_objects(array, name)
    raise TypeError(f"{name} has dtype {array.dtype}: {WANTED}")


def widen_integers(array: np.ndarray) -> np.ndarray:
    """Integers of a type that kernels read."""
    if array.dtype.kind == "b" or array.dtype.itemsize < 4 or (array.dtype.kind == "u" and array.dtype.itemsize == 4):
        array = array.astype(np.int64)
    return validation.contiguous(array)


def encode_objects(array: np.ndarray, name: str) -> TextKeys:
    """Python strings (object or StringDType arrays) to UTF-8."""
    texts = []
    for row, value in enumerate(array.tolist()):
        if not isinstance(value, str):
            is_missing = value is None or value != value
            raise (ValueError if is_missing else TypeError)(
                f"{name} has {value!r} at row {row}: {WANTED}, all of one kind"
            )
        try:
            texts.append(value.encode())
        except UnicodeEncodeError:
            raise ValueError(f"{name} has {value!r} at row {row}, which is not valid Unicode text") from None
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
    return TextKeys(np.frombuffer(b"".join(texts), np.uint8), offsets)


def as_arrow(values: Any) -> Any:
    """Arrow data (of pyarrow, polars, or pandas with Arrow columns) as a pyarrow array; None for other values."""
    module = type(values).__module__.partition(".")[0]
    if module == "pyarrow":
        return values if hasattr(values, "null_count") else None
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
        try:
            import pyarrow
        except ImportError:
            return None
        try:
            return pyarrow.array(values) if hasattr(values, "__arrow_c_array__") else pyarrow.chunked_array(values)
        except pyarrow.ArrowException:
            # For instance mixed objects: a check row by row can name the row.
            return None
    return None


def arrow_keys(values: Any, name: str) -> Keys:
    """Keys of a pyarrow Array or ChunkedArray. Buffers are not copied if their layout allows it."""
    if len(values) == 0:
        raise ValueError(f"{name} is empty: at least one row is needed")
    if values.null_count:
        row = int(np.flatnonzero(np.asarray(values.is_null()))[0])
        raise ValueError(f"{name} has a null at row {row}")
    kind = values.type
    types = pyarrow.types
    if types.is_dictionary(kind):
        return arrow_keys(decode_dictionary(values), name)
    if types.is_integer(kind) or types.is_boolean(kind):
        return IntegerKeys(widen_integers(validation.arrow_to_numpy(values, name)))
    chunked = hasattr(values, "chunks") and values.num_chunks != 1
    if types.is_string_view(kind) or (types.is_string(kind) and chunked and values.nbytes > MOST_BYTES):
        # 32-bit offsets would be too small for all chunks together.
        values = values.cast(pyarrow.large_string())
    elif not (types.is_string(kind) or types.is_large_string(kind)):
        raise TypeError(f"{name} has Arrow type {kind}: {WANTED}")
    if hasattr(values, "chunks"):
        values = values.combine_chunks()
        if hasattr(values, "chunks"):
            values = values.chunk(0)
    _, offsets, data = values.buffers()
    offset_type = np.int64 if types.is_large_string(values.type) else np.int32
    text_offsets = np.frombuffer(offsets, offset_type, len(values) + 1, values.offset * np.dtype(offset_type).itemsize)
    text = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
    return TextKeys(text, text_offsets)


def decode_dictionary(values: Any) -> Any:
    """A dictionary-encoded column as plain values. Every chunk may have its own dictionary."""
    def decode(chunk: Any) -> Any:
        dictionary = chunk.dictionary
        if pyarrow.types.is_string_view(dictionary.type):
            dictionary = dictionary.cast(pyarrow.large_string())
        return dictionary.take(chunk.indices)

    if not hasattr(values, "chunks"):
        return decode(values)
    chunks = [decode(chunk) for chunk in values.chunks]
    return pyarrow.chunked_array(chunks, chunks[0].type)


def select_keys(keys: Keys, mask: np.ndarray) -> Keys:
    """The keys of the rows that the mask selects."""
    if isinstance(keys, IntegerKeys):
        return IntegerKeys(keys.values[mask])
    if isinstance(keys, FixedWidthKeys):
        return FixedWidthKeys(keys.values[mask], keys.name)
    offsets = keys.offsets.astype(np.int64)
    lengths = (offsets[1:] - offsets[:-1])[mask]
    data = keys.data[offsets[0] : offsets[-1]][np.repeat(mask, offsets[1:] - offsets[:-1])]
    return TextKeys(data, np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths))))


def concatenate_keys(blocks: Sequence[Keys | None]) -> Keys | None:
    """The keys of blocks together, in new memory. All are of one class, which is not FixedWidthKeys, or None."""
    integers = [block.values for block in blocks if isinstance(block, IntegerKeys)]
    texts = [block for block in blocks if isinstance(block, TextKeys)]
    if not texts:
        return IntegerKeys(np.concatenate(integers)) if integers else None
    data = [block.data[block.offsets[0] : block.offsets[-1]] for block in texts]
    offsets = [np.zeros(1, np.int64)]
    end = 0
    for block in texts:
        offsets.append(block.offsets[1:].astype(np.int64) + (end - int(block.offsets[0])))
        end = int(offsets[-1][-1])
    return TextKeys(np.concatenate(data), np.concatenate(offsets))


