"""Keys that somebody could prepare against the fixed hashes of the exchange, which tables once used as well.

The definitions of the hashes are in `_kernels/exchange/hash_partition.pyx`.
"""

import functools

import numpy as np

FACTOR = np.uint64(0xD6E8FEB86659FD93)
INVERSE = np.uint64(0xCFEE444D8B59A89B)
LENGTH_FACTOR = 0x9E3779B97F4A7C15
HALF = np.uint64(32)
WORD_BITS = (1 << 64) - 1
NOT_ASCII = np.uint64(0x8080808080808080)
LETTERS = 0x4040404040404040  # 32 of the ASCII characters from here on


def integers_of_hashes(hashes):
    """The int64 keys with these hashes."""
    keys = hashes ^ (hashes >> HALF)
    for _ in range(2):
        keys *= INVERSE
        keys ^= keys >> HALF
    return keys.view(np.int64)


def integers_at_distance(n, shift):
    """Integers whose hashes are at equal distances, 2^shift."""
    return integers_of_hashes((np.arange(n, dtype=np.uint64) << np.uint64(shift)) + np.uint64(0x9876543210FEDCBA))


def integers_in_one_slot(n):
    """Integers whose hashes have equal first bits and equal last bits: one partition, one slot."""
    free_bits = max(1, int(n - 1).bit_length())
    shift = np.uint64((64 - free_bits) // 2)
    return integers_of_hashes((np.arange(n, dtype=np.uint64) << shift) | np.uint64(1 << 63 | 5))


def pairs_with_equal_hashes(n):
    """Two columns of integers: all pairs have one hash, or nearly so."""
    first = np.arange(n, dtype=np.int64)
    mixed = first.view(np.uint64) ^ (first.view(np.uint64) >> HALF)
    for _ in range(2):
        mixed *= FACTOR
        mixed ^= mixed >> HALF
    return first, mixed.view(np.int64).copy()


@functools.cache
def texts_with_equal_hashes(n, words=2):
    """Different ASCII texts of 8 bytes a word, all with one hash: uint8[n, 8 * words]. Two words or more."""
    found, start = [], 0
    while sum(map(len, found)) < n:
        numbers = np.arange(start, start + (1 << 20), dtype=np.uint64)
        start += 1 << 20
        first = np.full(numbers.shape[0], LETTERS, np.uint64)
        for place in range(6):
            first += ((numbers >> np.uint64(5 * place)) & np.uint64(31)) << np.uint64(8 * place)
        state = (first ^ np.uint64((8 * words * LENGTH_FACTOR) & WORD_BITS)) * FACTOR
        state ^= state >> HALF
        second = state ^ np.uint64(0x0102030405060708)
        fits = (second & NOT_ASCII) == 0
        found.append(np.stack([first[fits], second[fits]], axis=1))
    first_two = np.concatenate(found)[:n]
    others = np.full((n, words - 2), LETTERS, np.uint64)
    return np.ascontiguousarray(np.concatenate([first_two, others], axis=1)).view(np.uint8)


def arrow_texts(rows):
    """The texts of rows of bytes, as an Arrow column."""
    import pyarrow as pa

    n, width = rows.shape
    offsets = np.arange(n + 1, dtype=np.int32) * np.int32(width)
    return pa.StringArray.from_buffers(n, pa.py_buffer(offsets), pa.py_buffer(rows.tobytes()))
