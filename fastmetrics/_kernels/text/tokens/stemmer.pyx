"""Porter stems of words, equal to NLTK's default mode. porter_stemmer.h has the rules.

Words are arrays of code points, lower-cased as by `str.lower`. There is one difference to NLTK, for words that
`str.lower` lengthens (they contain U+0130, a capital I with a dot). NLTK checks the length before lower-casing and
leaves words of one or two letters unchanged. Here they are stemmed.

A stem is never longer than its word, and only the empty word has an empty stem. So out_points is at least as long
as the words, and may be the same array.
"""

from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memmove

from fastmetrics._kernels.numeric.length_checks cimport need_length, need_offsets
from fastmetrics._kernels.text.tokens.stemmer cimport stem_word


cdef void stem_range(
    const uint32_t* token_points, const int64_t* token_starts, Py_ssize_t first, Py_ssize_t stop, Py_ssize_t shortest,
    uint32_t* out_points, int64_t* out_starts
) noexcept nogil:
    cdef Py_ssize_t word
    cdef int64_t out_length = 0
    cdef int64_t start = token_starts[first]
    cdef int64_t length
    cdef int64_t next_start
    out_starts[0] = 0
    for word in range(first, stop):
        next_start = token_starts[word + 1]
        length = next_start - start
        if length > 0:
            memmove(out_points + out_length, token_points + start, <size_t>length * sizeof(uint32_t))
        if length > 0 and length >= shortest:
            length = stem_word(out_points + out_length, length)
        start = next_start
        out_length += length
        out_starts[word - first + 1] = out_length


def stem_words(
    const uint32_t[::1] token_points, const int64_t[::1] token_starts, Py_ssize_t first, Py_ssize_t stop,
    uint32_t[::1] out_points, int64_t[::1] out_starts, Py_ssize_t shortest=0
):
    """Write the stems of words first:stop. Word first + i has the stem out_points[out_starts[i]:out_starts[i + 1]].

    Word i is token_points[token_starts[i]:token_starts[i + 1]]. A word of fewer than `shortest` letters stays as it is.
    `out_starts` has room for one number more than there are words, `out_points` for the code points of the words.
    """
    cdef const uint32_t* points = NULL
    cdef uint32_t* out = NULL
    if stop < first or first < 0 or token_starts.shape[0] <= stop or out_starts.shape[0] <= stop - first:
        raise ValueError("first:stop must be words of token_starts, and out_starts needs stop - first + 1 numbers")
    need_offsets(b"token_starts", &token_starts[first], stop - first + 1, token_points.shape[0])
    need_length(b"out_points", out_points.shape[0], token_starts[stop] - token_starts[first])
    if token_points.shape[0]:
        points = &token_points[0]
    if out_points.shape[0]:
        out = &out_points[0]
    with nogil:
        stem_range(points, &token_starts[0], first, stop, shortest, out, &out_starts[0])
