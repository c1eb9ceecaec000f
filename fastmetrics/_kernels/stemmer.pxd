"""A word of code points stemmed in place, for kernels that have one at hand."""

from libc.stdint cimport int64_t, uint32_t

cdef extern from "porter.h":
    # The stem's length; at most that of the word, and 0 for the empty word only.
    int64_t stem_word "fm_stem_word"(uint32_t* word, int64_t length) noexcept nogil
