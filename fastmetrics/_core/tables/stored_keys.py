"""Keys of a table as arrays of numbers and bytes that a file can have, and what is read from an untrusted file."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import numpy as np

from fastmetrics._core.columns.key_types import TEXT, decode_texts, parts_of
from fastmetrics._core.state import check_offsets, check_state
from fastmetrics._kernels.exchange import hash_partition

INT64 = np.dtype(np.int64)
STORED_TYPE = r"[|]b1|<[iu]8|<f[248]|[|]O|<[mM]8\[(D|s|ms|us|ns)\]"  # compiled at the first use


def stored_type(dtype: np.dtype) -> np.dtype:
    """The type that keys of a type have in a table: signed integers of all widths are the same keys."""
    if dtype.names is None:
        return INT64 if dtype.kind == "i" else dtype
    return np.dtype([(name, stored_type(dtype[name])) for name in dtype.names])


def name_of(dtype: np.dtype | None) -> str:
    """The type of keys, for errors."""
    if dtype is None or dtype.names is None:
        return "texts" if dtype == TEXT else str(dtype)
    return f"({', '.join(map(name_of, parts_of(dtype)))})"


def type_to_array(dtype: np.dtype) -> np.ndarray:
    """The type of keys as bytes: a JSON list of a column's name (null: no record) and its NumPy type."""
    columns = [[name, dtype[name].str] for name in dtype.names] if dtype.names else [[None, dtype.str]]
    return np.frombuffer(json.dumps(columns).encode(), np.uint8)


def type_from_array(data: np.ndarray) -> np.dtype:
    """The way back, from an untrusted file."""
    try:
        columns = json.loads(data.tobytes())
        for _, kind in columns:
            check_state(re.fullmatch(STORED_TYPE, kind), "its keys are of no known type")
        single = len(columns) == 1 and columns[0][0] is None
        return np.dtype(columns[0][1] if single else [(str(name), kind) for name, kind in columns])
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError("its keys are of no known type") from error


def numbers_of_words(hashes: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """The 64 bits of each number of keys: int64[rows, 1], or [rows, 2] of pairs, whose heads are the second numbers."""
    first = np.empty(hashes.shape[0], np.uint64)
    hash_partition.unhash_keys(hashes, first)
    if not heads.shape[0]:
        return first.view(np.int64)[:, None]
    hash_partition.unhash_keys(first ^ heads, first)
    return np.stack([first, heads], axis=1).view(np.int64)


def check_texts(text: np.ndarray, offsets: np.ndarray, dtype: np.dtype) -> None:
    """Check texts from an untrusted file: offsets within the bytes, and valid keys of the type in them."""
    check_offsets(offsets, text)
    data = text.tobytes()
    try:
        decode_texts(dtype, [data[start:stop] for start, stop in pairwise(offsets.tolist())])
    except (ValueError, OverflowError) as error:
        raise ValueError("a text is not valid") from error
