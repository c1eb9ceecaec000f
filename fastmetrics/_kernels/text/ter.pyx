"""TER's counts: the fewest translation edits of a hypothesis to any of its references. ter_search.h has the search.

The caller owns the scratch memory, an int32 array that all segments of a block share. Word ids are below 2**31.
Distances would overflow for texts of 2**30 words, whose scratch memory would be 240 GB.
"""

from libc.stdint cimport int32_t, int64_t

from fastmetrics._kernels.numeric.length_checks cimport need_length, need_offsets

cdef extern from "text/ter_search.h":
    int64_t edit_scratch_size "fm_ter_scratch_size"(int64_t n_hypothesis, int64_t n_reference) noexcept nogil
    int64_t fewest_edits "fm_count_edits"(
        const int64_t* hypothesis, int64_t n_hypothesis, const int64_t* reference, int64_t n_reference, int32_t* scratch
    ) noexcept nogil


cdef void count_segment(
    const int64_t* ids, const int64_t* text_tokens, int64_t first, int64_t stop, int32_t* scratch, int64_t* out
) noexcept nogil:
    """Count the fewest edits to any reference, the words of all references, and the references."""
    cdef const int64_t* hypothesis = ids + text_tokens[first]
    cdef int64_t n_hypothesis = text_tokens[first + 1] - text_tokens[first]
    cdef int64_t fewest = -1
    cdef int64_t words = 0
    cdef int64_t text, edits, length
    for text in range(first + 1, stop):
        length = text_tokens[text + 1] - text_tokens[text]
        edits = fewest_edits(hypothesis, n_hypothesis, ids + text_tokens[text], length, scratch)
        words += length
        if fewest < 0 or edits < fewest:
            fewest = edits
    out[0] = fewest
    out[1] = words
    out[2] = stop - first - 1


cdef int64_t longest_text(const int64_t* text_tokens, int64_t n) noexcept nogil:
    cdef int64_t longest = 0
    cdef int64_t i
    for i in range(n):
        if text_tokens[i + 1] - text_tokens[i] > longest:
            longest = text_tokens[i + 1] - text_tokens[i]
    return longest


def scratch_size(const int64_t[::1] text_tokens) -> int:
    """Return how many int32 numbers of scratch memory count_edits needs for these texts."""
    cdef int64_t longest = 0
    if text_tokens.shape[0] > 1:
        longest = longest_text(&text_tokens[0], text_tokens.shape[0] - 1)
    return edit_scratch_size(longest, longest)


cdef void count_all(
    const int64_t* ids, const int64_t* text_tokens, const int64_t* segments, int64_t n, int32_t* scratch, int64_t* out
) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        count_segment(ids, text_tokens, segments[i], segments[i + 1], scratch, out + 3 * i)


cdef bint have_texts(const int64_t* segments, int64_t n) noexcept nogil:
    cdef int64_t i
    cdef bint found = True
    for i in range(n):
        found &= segments[i] < segments[i + 1]
    return found


def count_edits(
    const int64_t[::1] ids, const int64_t[::1] text_tokens, const int64_t[::1] segments, int32_t[::1] scratch,
    int64_t[:, ::1] out
):
    """Fill out[segment] with the fewest edits, the words of all references, and the number of references.

    ids : ids of the words of all texts, each in 0..2**31-1
    text_tokens : text i has the words text_tokens[i]:text_tokens[i + 1]
    segments : segment s has the texts segments[s]:segments[s + 1]: a hypothesis and at least one reference
    scratch : at least scratch_size(text_tokens) numbers
    """
    cdef int64_t n = segments.shape[0] - 1
    cdef int64_t no_id = 0
    cdef const int64_t* words = &no_id
    if n < 1:
        return
    if out.shape[0] < n or out.shape[1] != 3 or scratch.shape[0] < scratch_size(text_tokens):
        raise ValueError("out needs a row of 3 for every segment, and scratch needs scratch_size(text_tokens) numbers")
    need_length(b"text_tokens", text_tokens.shape[0], 1)
    need_offsets(b"text_tokens", &text_tokens[0], text_tokens.shape[0], ids.shape[0])
    need_offsets(b"segments", &segments[0], n + 1, text_tokens.shape[0] - 1)
    if not have_texts(&segments[0], n):
        raise ValueError("a segment has no hypothesis")
    if ids.shape[0]:
        words = &ids[0]
    with nogil:
        count_all(words, &text_tokens[0], &segments[0], n, &scratch[0], &out[0, 0])
