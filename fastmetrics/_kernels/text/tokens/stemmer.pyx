"""Words to their Porter stems, equal to NLTK's default mode (porter.h says how).

Words are arrays of code points in lower case, as `str.lower` makes it. NLTK lowers each word itself and then asks for
the length of the word as it was: of the words that `str.lower` lengthens (they contain U+0130, a capital I with a dot)
those of one or two letters remain whole there, and are stemmed here. There is no other difference: NLTK raises for no
word, and no more is done here for the empty one, whose stem is empty.

A stem is never longer than its word, and that of a word is never empty; so out_points needs as much room as the words
take, and may be the array that they stand in.
"""

from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memmove

from fastmetrics._kernels.stemmer cimport stem_word


cdef void stem_range(
    const uint32_t* token_points, const int64_t* token_starts, Py_ssize_t first, Py_ssize_t stop, Py_ssize_t shortest,
    uint32_t* out_points, int64_t* out_starts
) noexcept nogil:
    cdef Py_ssize_t word
    cdef int64_t at = 0
    cdef int64_t start = token_starts[first]
    cdef int64_t length
    cdef int64_t next_start
    out_starts[0] = 0
    for word in range(first, stop):
        next_start = token_starts[word + 1]
        length = next_start - start
        if length > 0:
            memmove(out_points + at, token_points + start, <size_t>length * sizeof(uint32_t))
        if length > 0 and length >= shortest:
            length = stem_word(out_points + at, length)
        start = next_start
        at += length
        out_starts[word - first + 1] = at


def stem_words(
    const uint32_t[::1] token_points, const int64_t[::1] token_starts, Py_ssize_t first, Py_ssize_t stop,
    uint32_t[::1] out_points, int64_t[::1] out_starts, Py_ssize_t shortest=0
):
    """The stems of the words first to stop, exclusive; word first + i has out_points[out_starts[i]:out_starts[i + 1]].

    Word i is token_points[token_starts[i]:token_starts[i + 1]]; one of fewer than `shortest` letters stays as it is.
    `out_starts` has room for one more than there are words, `out_points` for the letters of the words.
    """
    cdef const uint32_t* points = NULL
    cdef uint32_t* out = NULL
    if stop < first or first < 0 or token_starts.shape[0] <= stop or out_starts.shape[0] <= stop - first:
        raise ValueError("no such words, or no room for where their stems start")
    if token_starts[stop] > token_points.shape[0] or out_points.shape[0] < token_starts[stop] - token_starts[first]:
        raise ValueError("words beyond their letters, or no room for the stems")
    if token_points.shape[0]:
        points = &token_points[0]
    if out_points.shape[0]:
        out = &out_points[0]
    with nogil:
        stem_range(points, &token_starts[0], first, stop, shortest, out, &out_starts[0])
