"""Translation edits: words of a hypothesis against those of each reference. translationedits.h has the search.

Memory is int32 and the caller's, the same for all segments of a block: words are numbers below 2**31, and a text of
2**30 words, from which on distances would not do, wants 240 GB of it.
"""

from libc.stdint cimport int32_t, int64_t

cdef extern from "translationedits.h":
    int64_t edits_room "fm_edits_room"(int64_t n_hypothesis, int64_t n_reference) noexcept nogil
    int64_t translation_edits "fm_translation_edits"(
        const int64_t* hypothesis, int64_t n_hypothesis, const int64_t* reference, int64_t n_reference, int32_t* room
    ) noexcept nogil


cdef void count_segment(
    const int64_t* ids, const int64_t* text_tokens, int64_t first, int64_t stop, int32_t* room, int64_t* out
) noexcept nogil:
    """The fewest edits to any reference, the references' words, and how many references there are."""
    cdef const int64_t* hypothesis = ids + text_tokens[first]
    cdef int64_t n_hypothesis = text_tokens[first + 1] - text_tokens[first]
    cdef int64_t fewest = -1
    cdef int64_t words = 0
    cdef int64_t text, edits, length
    for text in range(first + 1, stop):
        length = text_tokens[text + 1] - text_tokens[text]
        edits = translation_edits(hypothesis, n_hypothesis, ids + text_tokens[text], length, room)
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


def room_for(const int64_t[::1] text_tokens):
    """How many int32 of memory count_edits wants for these texts."""
    cdef int64_t longest = 0
    if text_tokens.shape[0] > 1:
        longest = longest_text(&text_tokens[0], text_tokens.shape[0] - 1)
    return edits_room(longest, longest)


cdef void count_all(
    const int64_t* ids, const int64_t* text_tokens, const int64_t* segments, int64_t n, int32_t* room, int64_t* out
) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        count_segment(ids, text_tokens, segments[i], segments[i + 1], room, out + 3 * i)


def count_edits(
    const int64_t[::1] ids, const int64_t[::1] text_tokens, const int64_t[::1] segments, int32_t[::1] room,
    int64_t[:, ::1] out
):
    """out[segment]: fewest edits, words of all references, number of references.

    ids : numbers of words, each in 0..2**31-1
    text_tokens : text i has the words text_tokens[i]..text_tokens[i + 1]
    segments : segment s has the texts segments[s]..segments[s + 1], a hypothesis and its references, one at least
    room : at least room_for(text_tokens)
    """
    cdef int64_t n = segments.shape[0] - 1
    cdef int64_t nothing = 0
    cdef const int64_t* words = &nothing
    if n < 1:
        return
    if out.shape[0] < n or out.shape[1] != 3 or room.shape[0] < room_for(text_tokens):
        raise ValueError("no room for the edits")
    if ids.shape[0]:
        words = &ids[0]
    with nogil:
        count_all(words, &text_tokens[0], &segments[0], n, &room[0], &out[0, 0])
