"""Texts to numbers: the same bytes, the same number, in the order in which texts are first met.

An open-addressing table of (tag, number + 1): the tag is the upper half of a hash and only spares comparisons; texts
are equal when all their bytes are. Texts are kept one behind the other in memory of the table's own. Slots are a power
of two, at most half of them taken; both memories grow between two runs of texts, never inside one.

Numbers stay below 2**31 (`number` raises OverflowError beyond): with one added they fit the lower half of a slot.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import numpy as np

from fastmetrics._kernels.memory cimport resized
from fastmetrics._kernels.spans cimport hash_text, same_text

cdef enum:
    LEAST_SLOTS = 64
    LEAST_BYTES = 256

cdef int64_t MOST_TEXTS = 0x7FFFFFFF
cdef uint64_t NUMBER_BITS = 0xFFFFFFFF


cdef class TextNumbers:
    """Numbers of texts. Not for two threads at once."""

    cdef uint64_t* slots
    cdef int64_t n_slots
    cdef uint8_t* data
    cdef int64_t* starts        # text i is data[starts[i]:starts[i + 1]]
    cdef int64_t byte_room
    cdef readonly int64_t size

    def __cinit__(self):
        self.size = 0
        self.n_slots = LEAST_SLOTS
        self.byte_room = LEAST_BYTES
        self.slots = <uint64_t*>calloc(LEAST_SLOTS, sizeof(uint64_t))
        self.data = <uint8_t*>resized(NULL, LEAST_BYTES)
        self.starts = <int64_t*>resized(NULL, (LEAST_SLOTS // 2 + 1) * sizeof(int64_t))
        if self.slots == NULL:
            raise MemoryError
        self.starts[0] = 0

    def __dealloc__(self):
        free(self.slots)
        free(self.data)
        free(self.starts)

    @property
    def n_bytes(self):
        """The memory that the table takes."""
        return self.n_slots * 8 + (self.n_slots // 2 + 1) * 8 + self.byte_room

    cdef int widen(self) except -1:
        """More slots, four times as many while they are few, and room for the texts that they may hold."""
        cdef int64_t n_slots = self.n_slots * (4 if self.n_slots < 1 << 16 else 2)
        cdef uint64_t* slots
        if n_slots // 2 > MOST_TEXTS:
            raise OverflowError("more than 2**30 different texts")
        self.starts = <int64_t*>resized(self.starts, (n_slots // 2 + 1) * sizeof(int64_t))
        slots = <uint64_t*>calloc(n_slots, sizeof(uint64_t))
        if slots == NULL:
            raise MemoryError
        with nogil:
            place_again(self.data, self.starts, self.size, slots, n_slots)
        free(self.slots)
        self.slots = slots
        self.n_slots = n_slots
        return 0

    cdef int64_t take(
        self, const uint8_t* data, const int64_t* starts, const int64_t* stops, int64_t i, int64_t n, int64_t* numbers
    ) noexcept nogil:
        """Number texts until a memory is full; returns the first text that was not numbered."""
        cdef uint64_t mask = <uint64_t>self.n_slots - 1
        cdef int64_t most = self.n_slots // 2
        cdef uint64_t hashed, slot, entry
        cdef int64_t length, known
        while i < n:
            length = stops[i] - starts[i]
            hashed = hash_text(data + starts[i], length)
            slot = hashed & mask
            while True:
                entry = self.slots[slot]
                if entry == 0:
                    if self.size == most or self.starts[self.size] + length > self.byte_room:
                        return i
                    memcpy(self.data + self.starts[self.size], data + starts[i], <size_t>length)
                    self.starts[self.size + 1] = self.starts[self.size] + length
                    numbers[i] = self.size
                    self.size += 1
                    self.slots[slot] = (hashed & ~NUMBER_BITS) | <uint64_t>self.size
                    break
                if entry >> 32 == hashed >> 32:
                    known = <int64_t>(entry & NUMBER_BITS) - 1
                    if (
                        self.starts[known + 1] - self.starts[known] == length
                        and same_text(self.data + self.starts[known], data + starts[i], length)
                    ):
                        numbers[i] = known
                        break
                slot = (slot + 1) & mask
            i += 1
        return n

    def number(
        self, const uint8_t[::1] data, const int64_t[::1] starts, const int64_t[::1] stops, int64_t[::1] numbers
    ):
        """numbers[i] becomes the number of data[starts[i]:stops[i]]; new texts are kept. Spans must lie in data."""
        cdef int64_t n = numbers.shape[0]
        cdef int64_t i = 0
        cdef int64_t room
        cdef const uint8_t* text = &data[0] if data.shape[0] else self.data
        if starts.shape[0] != n or stops.shape[0] != n:
            raise ValueError("starts, stops and numbers must have one length")
        while i < n:
            with nogil:
                i = self.take(text, &starts[0], &stops[0], i, n, &numbers[0])
            if i < n:
                room = self.starts[self.size] + stops[i] - starts[i]
                if room > self.byte_room:
                    room += room // 2
                    self.data = <uint8_t*>resized(self.data, <size_t>room)
                    self.byte_room = room
                if self.size == self.n_slots // 2:
                    self.widen()

    def texts(self):
        """(data, offsets): text i is data[offsets[i]:offsets[i + 1]]; copies."""
        cdef int64_t n = self.starts[self.size]
        data = np.empty(n, np.uint8)
        offsets = np.empty(self.size + 1, np.int64)
        cdef uint8_t[::1] out = data
        cdef int64_t[::1] ends = offsets
        memcpy(&ends[0], self.starts, <size_t>(self.size + 1) * sizeof(int64_t))
        if n:
            memcpy(&out[0], self.data, <size_t>n)
        return data, offsets


cdef void place_again(
    const uint8_t* data, const int64_t* starts, int64_t n, uint64_t* slots, int64_t n_slots
) noexcept nogil:
    cdef uint64_t mask = <uint64_t>n_slots - 1
    cdef uint64_t hashed, slot
    cdef int64_t i
    for i in range(n):
        hashed = hash_text(data + starts[i], starts[i + 1] - starts[i])
        slot = hashed & mask
        while slots[slot]:
            slot = (slot + 1) & mask
        slots[slot] = (hashed & ~NUMBER_BITS) | <uint64_t>(i + 1)
