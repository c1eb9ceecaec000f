"""One thread's memory for matching n-grams of two texts. It grows with the texts, and all calls reuse it."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free

from fastmetrics._kernels.columns.growing_memory cimport reallocate
from fastmetrics._kernels.text.shared_ngrams cimport FM_ORDERS, MAX_MASKED_LENGTH, table_size


cdef int64_t longest_text(const int64_t[::1] starts, int64_t n) noexcept nogil:
    """The length of the longest of n texts: text i has the symbols starts[i] to starts[i + 1]."""
    cdef int64_t i
    cdef int64_t longest = 0
    for i in range(n):
        longest = max(longest, starts[i + 1] - starts[i])
    return longest


cdef class NgramMatcher:
    """Two threads must not use one matcher at the same time."""

    def __dealloc__(self):
        free(self.matcher.rows)
        free(self.matcher.masks)
        free(self.matcher.numbers)
        free(self.matcher.keys)
        free(self.matcher.grams)
        free(self.matcher.first_numbers)
        free(self.matcher.second_numbers)
        free(self.matcher.remaining)
        free(self.matcher.shared)

    cdef int prepare(self, int64_t longest, int64_t greatest, int n_orders) except -1:
        """Make room for texts of at most `longest` symbols, none above `greatest`, and for n_orders orders."""
        cdef int64_t length = min(longest, <int64_t>MAX_MASKED_LENGTH)
        cdef int64_t n_masks = (length + 1) * ((length + 63) // 64)
        cdef void* masks
        cdef void* rows
        if n_masks > self.n_masks:
            masks = zeros(n_masks, sizeof(uint64_t))
            free(self.matcher.masks)
            self.matcher.masks, self.n_masks = <uint64_t*>masks, n_masks
        if greatest >= self.matcher.n_rows:
            rows = zeros(greatest + greatest // 4 + 1, sizeof(uint16_t))
            free(self.matcher.rows)
            self.matcher.rows, self.matcher.n_rows = <uint16_t*>rows, greatest + greatest // 4 + 1
        if longest > self.longest:
            self.matcher.numbers = <uint16_t*>reallocate(self.matcher.numbers, <size_t>longest * sizeof(uint16_t))
            self.longest = longest
        if (longest > MAX_MASKED_LENGTH or n_orders > FM_ORDERS) and longest >= self.longest_in_table:
            self.reserve_table(<size_t>table_size(longest), <size_t>(longest + 1))
            self.longest_in_table = longest + 1
        return 0

    cdef int reserve_table(self, size_t n_slots, size_t n_positions) except -1:
        self.matcher.keys = <uint64_t*>reallocate(self.matcher.keys, n_slots * sizeof(uint64_t))
        self.matcher.grams = <int64_t*>reallocate(self.matcher.grams, n_slots * sizeof(int64_t))
        self.matcher.first_numbers = <int64_t*>reallocate(self.matcher.first_numbers, n_positions * sizeof(int64_t))
        self.matcher.second_numbers = <int64_t*>reallocate(self.matcher.second_numbers, n_positions * sizeof(int64_t))
        self.matcher.remaining = <int64_t*>reallocate(self.matcher.remaining, n_positions * sizeof(int64_t))
        self.matcher.shared = <uint8_t*>reallocate(self.matcher.shared, n_positions * sizeof(uint8_t))
        return 0


cdef void* zeros(int64_t n, size_t item_bytes) except NULL:
    cdef void* memory = calloc(<size_t>n + 1, item_bytes)
    if memory == NULL:
        raise MemoryError
    return memory
