"""Rows as resampling units: the hash of a row is made of what is in its columns, never of its place in the log.

So intervals do not depend on the order of rows. Equal rows have equal hashes until they are numbered: see
`equal_rows.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from fastmetrics._core.columns.group_keys import as_keys
from fastmetrics._core.columns.key_columns import KeyScratch
from fastmetrics._core.optional_imports import pyarrow

FIRST_FACTOR, SECOND_FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
HALF_WORD = np.uint64(32)


def hash_arrays(arrays: Iterable[np.ndarray], n: int) -> np.ndarray:
    """A hash (uint64) of the numbers that each of n rows has in all arrays, in the order of the arrays."""
    hashes = np.zeros(n, np.uint64)
    for array in arrays:
        mix(hashes, array.view(np.uint64) if array.dtype == np.uint64 else bits_of(array))
    return hashes


def bits_of(array: np.ndarray) -> np.ndarray:
    """Numbers as words: equal numbers of two types of floats, or of integers, are equal words."""
    wide = array.astype(np.float64 if array.dtype.kind == "f" else np.int64, copy=False)
    return np.ascontiguousarray(wide).view(np.uint64)


def mix(hashes: np.ndarray, words: np.ndarray) -> None:
    """Mix words into hashes, in place."""
    hashes ^= words
    hashes *= FIRST_FACTOR
    hashes ^= hashes >> HALF_WORD
    hashes *= SECOND_FACTOR


def hash_values(values: Sequence[Any]) -> np.ndarray:
    """A hash of each of a few values of any type."""
    digests = b"".join(blake2b(repr(value).encode(), digest_size=8).digest() for value in values)
    return np.frombuffer(digests, "<u8").astype(np.uint64)


def hash_column(column: Any) -> np.ndarray:
    """A hash of each value of an Arrow column without nulls: texts, anything that can be shown as text, or lists."""
    arrow = pyarrow
    if isinstance(column, arrow.ChunkedArray):
        column = column.combine_chunks()
    if arrow.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if arrow.types.is_nested(column.type):
        return hash_lists(hash_column(column.flatten()), column.value_lengths().to_numpy(zero_copy_only=False))
    keys = as_keys(column.cast(arrow.large_string()).fill_null(""))
    scratch = KeyScratch(keys.rows, keys.dtype)
    keys.hash_block(0, keys.rows, scratch)
    return scratch.hashes


def hash_lists(hashes: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """A hash of each list from those of its values, in their order."""
    ends = np.cumsum(lengths.astype(np.int64))
    starts = ends - lengths
    places = (np.arange(hashes.shape[0]) - np.repeat(starts, lengths)).astype(np.uint64)
    mix(places, hashes)
    sums = np.append(np.uint64(0), np.cumsum(places))
    found: np.ndarray = sums[ends] - sums[starts]
    return found + lengths.astype(np.uint64)
