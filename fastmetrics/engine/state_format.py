"""The container of a state's bytes: a header, arrays, and a checksum over both.

The layout is little-endian: MAGIC, format (uint32), length of the header (uint32), length of the arrays (uint64),
checksum of header and arrays (16 bytes), header (JSON, padded to 8 bytes), arrays (each padded to 8 bytes).

The format number decides who can read a state: a version of the library reads the format that it writes, and names both
versions where a state has another one. The header records the version that wrote it.

Nothing in a state is executed, and every number that a kernel uses as an index is checked first. A checksum is not a
signature: anybody who can write a state can write one with other numbers.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fastmetrics import _version

MAGIC = b"FMSTATE\n"
FORMAT = 6
PREFIX = struct.Struct("<8sIIQ16s")
ALIGNMENT = 8
MAX_DIMENSIONS = 2
MARKED = "marked"  # ends the name of a column of slices whose values are texts that begin with one of these
NUMBER_MARK, TEXT_MARK = "n", "t"


def pack_state(header: dict[str, Any], arrays: ArrayWriter) -> bytes:
    """The bytes of a header and of the arrays that it refers to by number."""
    text = json.dumps({"library": _version.__version__} | header | {"arrays": arrays.shapes}, allow_nan=False).encode()
    text += b" " * (padded_length(len(text)) - len(text))
    body = b"".join(arrays.segments)
    return b"".join((PREFIX.pack(MAGIC, FORMAT, len(text), len(body), checksum(text, body)), text, body))


def unpack_state(data: Any) -> tuple[dict[str, Any], memoryview]:
    """The header and the bytes of the arrays, after all checks that do not depend on their meaning."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"a state is bytes, as to_bytes gives them; found {type(data).__name__}")
    data = bytes(data)
    if len(data) < PREFIX.size or data[: len(MAGIC)] != MAGIC:
        raise ValueError("these bytes are no state of an Accumulator: they do not begin as to_bytes begins them")
    _, number, header_length, body_length, digest = PREFIX.unpack_from(data)
    require(header_length == padded_length(header_length), "its arrays do not begin where arrays may")
    expected = PREFIX.size + header_length + body_length
    require(len(data) == expected, f"it has {len(data):,} bytes where {expected:,} are expected")
    view = memoryview(data)[PREFIX.size :]
    if checksum(view[:header_length], view[header_length:]) != digest:
        raise ValueError("the state is damaged: its checksum does not fit its bytes")
    try:
        header = json.loads(bytes(view[:header_length]))
        require(isinstance(header["library"], str), "its header does not name the version that wrote it")
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise ValueError(f"the state is damaged: its header cannot be read ({error})") from error
    if number != FORMAT:
        raise ValueError(
            f"fastmetrics {header['library']} wrote the state in format {number}, and {_version.__version__} reads "
            f"format {FORMAT}: read it with the version that wrote it, or evaluate the rows again"
        )
    return header, view[header_length:]


@contextmanager
def errors_mean_damage() -> Iterator[None]:
    """Errors of a header that does not fit its arrays, as ValueError."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"the state is damaged: its header does not fit its numbers ({error})") from error


def padded_length(length: int) -> int:
    return -(-length // ALIGNMENT) * ALIGNMENT


def checksum(header: bytes | memoryview, body: bytes | memoryview) -> bytes:
    from hashlib import blake2b

    digest = blake2b(header, digest_size=16)
    digest.update(body)
    return digest.digest()


class ArrayWriter:
    """Arrays one after the other. The header refers to an array by its number."""

    def __init__(self) -> None:
        self.segments: list[bytes] = []
        self.shapes: list[tuple[str, list[int]]] = []

    def add(self, array: np.ndarray) -> int:
        """Append an array; return its number."""
        little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
        data = little.tobytes()
        self.segments.append(data + bytes(padded_length(len(data)) - len(data)))
        self.shapes.append((little.dtype.str, list(little.shape)))
        return len(self.shapes) - 1


class ArrayReader:
    """The arrays of a state, by number; views of its bytes."""

    def __init__(self, body: memoryview, shapes: list[tuple[str, list[int]]]) -> None:
        self.arrays: list[np.ndarray] = []
        offset = 0
        for kind, shape in shapes:
            dtype = np.dtype(kind)
            require(
                dtype.kind in "iuf"
                and len(shape) <= MAX_DIMENSIONS
                and all(is_count(length, 1 << 48) for length in shape),
                "an array has no known type or shape",
            )
            count = math.prod(shape)
            require(offset + count * dtype.itemsize <= len(body), "its arrays are longer than its bytes")
            array = np.frombuffer(body, dtype, count, offset).reshape(shape)
            self.arrays.append(array.astype(dtype.newbyteorder("="), copy=False))
            offset += padded_length(count * dtype.itemsize)
        require(offset == len(body), "its arrays are shorter than its bytes")

    def get(self, number: Any, dtype: Any, *shape: int | None) -> np.ndarray:
        """The array of that number, which has to have the type and shape; None fits any length."""
        require(isinstance(number, int) and 0 <= number < len(self.arrays), "an array is missing")
        array: np.ndarray = self.arrays[number]
        require(
            array.dtype == np.dtype(dtype)
            and len(shape) == array.ndim
            and all(expected in (None, length) for expected, length in zip(shape, array.shape, strict=True)),
            "an array has another type or shape than expected",
        )
        return array


def require(holds: Any, what: str) -> None:
    """Raise a ValueError that says `what` is wrong, unless the condition holds."""
    if not holds:
        raise ValueError(f"the state is damaged: {what}")


def is_count(value: Any, below: int | None = None) -> bool:
    return type(value) is int and value >= 0 and (below is None or value < below)
