"""One thread's memory for matching n-grams of two texts (shared_ngrams.pxd)."""

from libc.stdint cimport int64_t

from fastmetrics._kernels.text.shared_ngrams cimport Matcher

cdef class NgramMatcher:
    cdef Matcher matcher
    cdef int64_t n_masks
    cdef int64_t longest            # symbols of a text that `numbers` has space for
    cdef int64_t longest_in_table   # the same for the memory of tables
    cdef int prepare(self, int64_t longest, int64_t greatest, int n_orders) except -1
    cdef int reserve_table(self, size_t n_slots, size_t n_positions) except -1

cdef int64_t longest_text(const int64_t[::1] starts, int64_t n) noexcept nogil
