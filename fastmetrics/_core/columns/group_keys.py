"""Group keys: integers and text in all their containers, joined exactly.

A key column gives, block by block, what the exchange needs: hashes, and for text a 16-byte slot per row (see
partition.pyx). Integer hashes are a bijection of the key, so they are the key; text is compared by its bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._kernels import partition

WANTED = "group keys must be integers or strings"
MOST_BYTES = (1 << 31) - 1  # of text in one Arrow array with offsets of 32 bits


class IntegerKeys:
    """Keys of int32, int64 or uint64."""

    is_text = False

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.rows = values.shape[0]
        self.dtype = values.dtype

    def hash_block(self, start: int, stop: int, scratch: KeyScratch) -> None:
        partition.hash_keys(self.values[start:stop], scratch.hashes[: stop - start])


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
    """NumPy's fixed-width text; encoded to UTF-8 block by block."""

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
        bad = partition.encode_utf8(codes, offsets, data)
        if bad >= 0:
            raise ValueError(
                f"{self.name} has {str(self.values[start + bad])!r} at row {start + bad}: no valid Unicode text"
            )
        scratch.fill_text(data[: int(offsets[-1])], offsets, rows)


Keys = IntegerKeys | TextKeys | FixedWidthKeys


class KeyScratch:
    """One thread's room for the keys of a block."""

    def __init__(self, block_rows: int, is_text: bool) -> None:
        self.hashes = np.empty(block_rows, np.uint64)
        self.heads = np.empty(block_rows if is_text else 0, np.uint64)
        self.tails = np.empty(block_rows if is_text else 0, np.uint64)
        self.long_bytes = np.zeros(1, np.int64)
        self.data = np.empty(0, np.uint8)
        self.encoded = np.empty(0, np.uint8)
        self.offsets = np.empty(0, np.int64)

    def text_memory(self, n_offsets: int, n_bytes: int) -> tuple[np.ndarray, np.ndarray]:
        """Room to encode a block's text in; used again for the next block."""
        if self.offsets.shape[0] < n_offsets or self.encoded.shape[0] < n_bytes:
            self.offsets = np.empty(n_offsets, np.int64)
            self.encoded = np.empty(n_bytes, np.uint8)
        return self.offsets[:n_offsets], self.encoded

    def fill_text(self, data: np.ndarray, offsets: np.ndarray, rows: int) -> None:
        self.long_bytes[0] = 0
        self.data = data
        partition.text_slots(data, offsets, self.heads[:rows], self.tails[:rows], self.hashes[:rows], self.long_bytes)


def as_keys(values: Any, name: str = "groups") -> Keys:
    """A key column of anything that holds integers or strings."""
    if type(values) is not np.ndarray:
        arrow = as_arrow(values)
        if arrow is not None:
            return arrow_keys(arrow, name)
    array = inputs.as_array(values, name)
    if array.dtype.kind in "US" and isinstance(values, (list, tuple)):
        # NumPy's fixed-width text would drop trailing zeros and turn numbers among strings into strings.
        array = np.fromiter(values, object, len(values))
    inputs.check_column(array, name)
    kind = array.dtype.kind
    if kind in "biu":
        return IntegerKeys(widen(array))
    if kind == "U":
        return FixedWidthKeys(inputs.contiguous(array), name)
    if kind in "OT":
        return encode_objects(array, name)
    raise TypeError(f"{name} has dtype {array.dtype}: {WANTED}")


def widen(array: np.ndarray) -> np.ndarray:
    """Integers of a type the kernels read."""
    if array.dtype.kind == "b" or array.dtype.itemsize < 4 or (array.dtype.kind == "u" and array.dtype.itemsize == 4):
        array = array.astype(np.int64)
    return inputs.contiguous(array)


def encode_objects(array: np.ndarray, name: str) -> TextKeys:
    """Python strings (object or StringDType arrays) to UTF-8."""
    texts = []
    for row, value in enumerate(array.tolist()):
        if not isinstance(value, str):
            missing = value is None or value != value
            raise (ValueError if missing else TypeError)(
                f"{name} has {value!r} at row {row}: {WANTED}, all of one kind"
            )
        try:
            texts.append(value.encode())
        except UnicodeEncodeError:
            raise ValueError(f"{name} has {value!r} at row {row}: no valid Unicode text") from None
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
    return TextKeys(np.frombuffer(b"".join(texts), np.uint8), offsets)


def as_arrow(values: Any) -> Any:
    """The values as a pyarrow array when they are Arrow data (pyarrow, polars, pandas' Arrow columns); else None."""
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
            # Mixed objects, say: looked at one by one, the row can be named.
            return None
    return None


def arrow_keys(values: Any, name: str) -> Keys:
    """Keys of a pyarrow Array or ChunkedArray; buffers are used in place where their layout allows."""
    import pyarrow

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
        return IntegerKeys(widen(inputs.arrow_to_numpy(values, name)))
    chunked = hasattr(values, "chunks") and values.num_chunks != 1
    if types.is_string_view(kind) or (types.is_string(kind) and chunked and values.nbytes > MOST_BYTES):
        # One buffer of 32-bit offsets would not be enough for all chunks together.
        values = values.cast(pyarrow.large_string())
    elif not (types.is_string(kind) or types.is_large_string(kind)):
        raise TypeError(f"{name} has Arrow type {kind}: {WANTED}")
    if hasattr(values, "chunks"):
        values = values.combine_chunks()
        if hasattr(values, "chunks"):
            values = values.chunk(0)
    _, offsets, data = values.buffers()
    offset_type = np.int64 if types.is_large_string(values.type) else np.int32
    place = np.frombuffer(offsets, offset_type, len(values) + 1, values.offset * np.dtype(offset_type).itemsize)
    text = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
    return TextKeys(text, place)


def decode_dictionary(values: Any) -> Any:
    """A dictionary-encoded column as plain values (chunks may have dictionaries of their own)."""
    import pyarrow

    def decode(chunk: Any) -> Any:
        dictionary = chunk.dictionary
        if pyarrow.types.is_string_view(dictionary.type):
            dictionary = dictionary.cast(pyarrow.large_string())
        return dictionary.take(chunk.indices)

    if not hasattr(values, "chunks"):
        return decode(values)
    chunks = [decode(chunk) for chunk in values.chunks]
    return pyarrow.chunked_array(chunks, chunks[0].type)


def select(keys: Keys, present: np.ndarray) -> Keys:
    """The keys of some rows only."""
    if isinstance(keys, IntegerKeys):
        return IntegerKeys(keys.values[present])
    if isinstance(keys, FixedWidthKeys):
        return FixedWidthKeys(keys.values[present], keys.name)
    offsets = keys.offsets.astype(np.int64)
    lengths = (offsets[1:] - offsets[:-1])[present]
    data = keys.data[offsets[0] : offsets[-1]][np.repeat(present, offsets[1:] - offsets[:-1])]
    return TextKeys(data, np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths))))


def concatenate(pieces: list[Keys]) -> Keys:
    """The keys of several blocks in a row; all of one kind, and none of NumPy's fixed width."""
    if len(pieces) == 1:
        return pieces[0]
    if not pieces[0].is_text:
        return IntegerKeys(np.concatenate([piece.values for piece in pieces if isinstance(piece, IntegerKeys)]))
    texts = [piece for piece in pieces if isinstance(piece, TextKeys)]
    data = [piece.data[piece.offsets[0] : piece.offsets[-1]] for piece in texts]
    offsets = [np.zeros(1, np.int64)]
    end = 0
    for piece in texts:
        offsets.append(piece.offsets[1:].astype(np.int64) + (end - int(piece.offsets[0])))
        end = int(offsets[-1][-1])
    return TextKeys(np.concatenate(data), np.concatenate(offsets))


def copy_keys(keys: Keys) -> Keys:
    """The same keys in memory of their own."""
    if isinstance(keys, IntegerKeys):
        return IntegerKeys(keys.values.copy())
    if isinstance(keys, FixedWidthKeys):
        return FixedWidthKeys(keys.values.copy(), keys.name)
    first = keys.offsets[0]
    return TextKeys(keys.data[first : keys.offsets[-1]].copy(), keys.offsets - first)
