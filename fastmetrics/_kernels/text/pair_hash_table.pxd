"""Open-addressing tables with linear probing. A key is a pair of 32-bit numbers and never 0; 0 is an empty slot."""

from libc.stdint cimport int64_t, uint64_t

from fastmetrics._kernels.numeric.table_hash cimport table_hash

cdef enum:
    MIN_SLOTS = 64


cdef inline uint64_t hash_slot(uint64_t key, uint64_t mask) noexcept nogil:
    """Return the slot where the search for a key begins. `mask` is the number of slots minus one."""
    return table_hash(key) & mask


cdef inline int64_t slot_count(int64_t n_keys) noexcept nogil:
    """Return a number of slots: a power of two, at least twice the number of keys. n_keys < 2**61."""
    cdef int64_t n_slots = MIN_SLOTS
    while n_slots < 2 * n_keys:
        n_slots *= 2
    return n_slots
