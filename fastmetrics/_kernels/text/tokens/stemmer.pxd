"""The Porter stem of one word of code points, in place, for other kernels."""

from libc.stdint cimport int64_t, uint32_t

cdef extern from "text/tokens/porter_stemmer.h":
    # Returns the length of the stem. It is at most that of the word, and 0 only for the empty word.
    int64_t stem_word "fm_stem_word"(uint32_t* word, int64_t length) noexcept nogil
