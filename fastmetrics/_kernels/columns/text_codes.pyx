"""Encode texts as codes: equal bytes have equal codes, numbered in the order of first appearance.

An open-addressing table has slots of (tag, code + 1). The tag is the upper half of the text's hash and saves
comparisons; texts are equal if all their bytes are. The table stores the texts one after the other in its own memory.
The number of slots is a power of two, and at most half of them are used. Memory grows only while the GIL is held,
between two calls of `encode_until_full`.

Codes are below 2**31 (`encode` raises OverflowError beyond), so code + 1 fits the lower half of a slot.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import numpy as np

from fastmetrics._kernels.columns.growing_memory cimport reallocate
from fastmetrics._kernels.columns.byte_spans cimport same_text
from fastmetrics._kernels.numeric.length_checks cimport need_spans
from fastmetrics._kernels.numeric.table_hash cimport table_hash_bytes, use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS

use_table_seeds(_SEEDS)

cdef enum:
    MIN_SLOTS = 64
    MIN_BYTES = 256

cdef int64_t MAX_TEXTS = 0x7FFFFFFF
cdef uint64_t CODE_BITS = 0xFFFFFFFF


cdef class TextCodes:
    """Codes of texts. Not for two threads at once."""

    cdef uint64_t* slots
    cdef int64_t n_slots
    cdef uint8_t* data
    cdef int64_t* starts        # text i is data[starts[i]:starts[i + 1]]
    cdef int64_t byte_capacity
    cdef readonly int64_t size

    def __cinit__(self):
        self.size = 0
        self.n_slots = MIN_SLOTS
        self.byte_capacity = MIN_BYTES
        self.slots = <uint64_t*>calloc(MIN_SLOTS, sizeof(uint64_t))
        self.data = <uint8_t*>reallocate(NULL, MIN_BYTES)
        self.starts = <int64_t*>reallocate(NULL, (MIN_SLOTS // 2 + 1) * sizeof(int64_t))
        if self.slots == NULL:
            raise MemoryError
        self.starts[0] = 0

    def __dealloc__(self):
        free(self.slots)
        free(self.data)
        free(self.starts)

    @property
    def n_bytes(self) -> int:
        """Bytes of memory that the table uses."""
        return self.n_slots * 8 + (self.n_slots // 2 + 1) * 8 + self.byte_capacity

    cdef int grow(self) except -1:
        """Make four times as many slots while they are few, else twice as many, with start offsets for their texts."""
        cdef int64_t n_slots = self.n_slots * (4 if self.n_slots < 1 << 16 else 2)
        cdef uint64_t* slots
        if n_slots // 2 > MAX_TEXTS:
            raise OverflowError("more than 2**30 different texts")
        self.starts = <int64_t*>reallocate(self.starts, (n_slots // 2 + 1) * sizeof(int64_t))
        slots = <uint64_t*>calloc(n_slots, sizeof(uint64_t))
        if slots == NULL:
            raise MemoryError
        with nogil:
            rehash(self.data, self.starts, self.size, slots, n_slots)
        free(self.slots)
        self.slots = slots
        self.n_slots = n_slots
        return 0

    cdef int64_t encode_until_full(
        self, const uint8_t* data, const int64_t* starts, const int64_t* stops, int64_t i, int64_t n, int64_t* codes
    ) noexcept nogil:
        """Encode texts until the slots or the bytes are full; return the first text that was not encoded."""
        cdef uint64_t mask = <uint64_t>self.n_slots - 1
        cdef int64_t capacity = self.n_slots // 2
        cdef uint64_t hashed, slot, entry
        cdef int64_t length, code
        while i < n:
            length = stops[i] - starts[i]
            hashed = table_hash_bytes(data + starts[i], length)
            slot = hashed & mask
            while True:
                entry = self.slots[slot]
                if entry == 0:
                    if self.size == capacity or self.starts[self.size] + length > self.byte_capacity:
                        return i
                    memcpy(self.data + self.starts[self.size], data + starts[i], <size_t>length)
                    self.starts[self.size + 1] = self.starts[self.size] + length
                    codes[i] = self.size
                    self.size += 1
                    self.slots[slot] = (hashed & ~CODE_BITS) | <uint64_t>self.size
                    break
                if entry >> 32 == hashed >> 32:
                    code = <int64_t>(entry & CODE_BITS) - 1
                    if (
                        self.starts[code + 1] - self.starts[code] == length
                        and same_text(self.data + self.starts[code], data + starts[i], length)
                    ):
                        codes[i] = code
                        break
                slot = (slot + 1) & mask
            i += 1
        return n

    def encode(
        self, const uint8_t[::1] data, const int64_t[::1] starts, const int64_t[::1] stops, int64_t[::1] codes
    ):
        """codes[i] = the code of data[starts[i]:stops[i]]. New texts are copied. Spans must lie in data."""
        cdef int64_t n = codes.shape[0]
        cdef int64_t i = 0
        cdef int64_t needed_bytes
        cdef const uint8_t* text = &data[0] if data.shape[0] else self.data
        if starts.shape[0] != n or stops.shape[0] != n:
            raise ValueError("starts, stops and codes must have equal lengths")
        if n:
            need_spans(b"texts", &starts[0], &stops[0], n, data.shape[0])
        while i < n:
            with nogil:
                i = self.encode_until_full(text, &starts[0], &stops[0], i, n, &codes[0])
            if i < n:
                needed_bytes = self.starts[self.size] + stops[i] - starts[i]
                if needed_bytes > self.byte_capacity:
                    needed_bytes += needed_bytes // 2
                    self.data = <uint8_t*>reallocate(self.data, <size_t>needed_bytes)
                    self.byte_capacity = needed_bytes
                if self.size == self.n_slots // 2:
                    self.grow()

    def texts(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return copies (data, offsets): text i is data[offsets[i]:offsets[i + 1]]."""
        cdef int64_t n = self.starts[self.size]
        data = np.empty(n, np.uint8)
        offsets = np.empty(self.size + 1, np.int64)
        cdef uint8_t[::1] out = data
        cdef int64_t[::1] ends = offsets
        memcpy(&ends[0], self.starts, <size_t>(self.size + 1) * sizeof(int64_t))
        if n:
            memcpy(&out[0], self.data, <size_t>n)
        return data, offsets


cdef void rehash(
    const uint8_t* data, const int64_t* starts, int64_t n, uint64_t* slots, int64_t n_slots
) noexcept nogil:
    cdef uint64_t mask = <uint64_t>n_slots - 1
    cdef uint64_t hashed, slot
    cdef int64_t i
    for i in range(n):
        hashed = table_hash_bytes(data + starts[i], starts[i + 1] - starts[i])
        slot = hashed & mask
        while slots[slot]:
            slot = (slot + 1) & mask
        slots[slot] = (hashed & ~CODE_BITS) | <uint64_t>(i + 1)
