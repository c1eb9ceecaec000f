"""Open-addressing tables of pairs of 32 bits: the key is the identity, and never 0, which is an empty slot."""

from libc.stdint cimport int64_t, uint64_t

cdef enum:
    LEAST_SLOTS = 64


cdef inline uint64_t slot_of(uint64_t key, uint64_t mask) noexcept nogil:
    """Where the look for a key begins; mask is the number of slots less one."""
    key *= <uint64_t>0x9E3779B97F4A7C15
    return (key ^ (key >> 32)) & mask


cdef inline int64_t slots_for(int64_t n_keys) noexcept nogil:
    """A power of two, at least twice as many slots as keys; n_keys < 2**61."""
    cdef int64_t n_slots = LEAST_SLOTS
    while n_slots < 2 * n_keys:
        n_slots *= 2
    return n_slots
