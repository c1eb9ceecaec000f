"""Rows of text, as Arrow has them, to blocks of segments: a hypothesis and its references, decoded side by side.

The texts of a row stand in two columns, so in two buffers; a block wants them one behind the other (see texts.pyx).
Rows are decoded until the block is full, so a block takes the memory it was given, however long texts are; only a
single row that is longer needs more.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t

cdef extern from "textscan.h":
    int64_t decode_span "fm_decode_utf8"(const uint8_t* text, int64_t n, uint32_t* points) noexcept nogil

# What `decode_rows` tells, by place in `found`.
N_TEXTS = 0
BAD_TEXT = 1
NEEDED_POINTS = 2
NEEDED_TEXTS = 3
# What BAD_TEXT holds.
NONE = -1
HYPOTHESIS = 0
REFERENCE = 1


cdef struct Spans:
    const uint8_t* data
    const int64_t* starts
    const int64_t* stops


cdef struct Out:
    uint32_t* points
    int64_t* offsets
    int64_t n_points
    int64_t n_texts


cdef inline bint decode_text(const Spans* spans, int64_t text, Out* out) noexcept nogil:
    """Adds a text to the block; False where it is not UTF-8."""
    cdef int64_t length = spans.stops[text] - spans.starts[text], n = 0
    if length > 0:
        n = decode_span(spans.data + spans.starts[text], length, out.points + out.n_points)
    if n < 0:
        return False
    out.n_points += n
    out.n_texts += 1
    out.offsets[out.n_texts] = out.n_points
    return True


cdef int64_t decode(
    const Spans* hypotheses, const Spans* references, const int64_t* first, const int64_t* last, int64_t row,
    int64_t n_rows, int64_t room_points, int64_t room_texts, int64_t most_rows, Out* out, int64_t* segments,
    int64_t* found,
) noexcept nogil:
    cdef int64_t text, from_text, to_text, n_bytes, start_row = row
    segments[0] = 0
    out.offsets[0] = 0
    while row < n_rows and row - start_row < most_rows:
        from_text = first[row] if first != NULL else row
        to_text = last[row] if last != NULL else row + 1
        n_bytes = hypotheses.stops[row] - hypotheses.starts[row]
        for text in range(from_text, to_text):
            if references.starts[text] >= 0:
                n_bytes += references.stops[text] - references.starts[text]
        if out.n_points + n_bytes > room_points or out.n_texts + 1 + to_text - from_text > room_texts:
            found[2] = n_bytes
            found[3] = 1 + to_text - from_text
            return row
        if not decode_text(hypotheses, row, out):
            found[1] = 0
            return row
        for text in range(from_text, to_text):
            if references.starts[text] >= 0 and not decode_text(references, text, out):
                found[1] = 1
                return row
        row += 1
        segments[row - start_row] = out.n_texts
    return row


def decode_rows(
    const uint8_t[::1] hypothesis_data, const int64_t[::1] hypothesis_starts, const int64_t[::1] hypothesis_stops,
    const uint8_t[::1] reference_data, const int64_t[::1] reference_starts, const int64_t[::1] reference_stops,
    const int64_t[::1] first, const int64_t[::1] last, int64_t row, uint32_t[::1] points, int64_t[::1] offsets,
    int64_t[::1] segments, int64_t[::1] found,
):
    """Decode rows from `row` on until the block is full; returns the first row that is not in it.

    Row r has the references first[r]:last[r], or reference r where `first` is None; of a missing one the start is
    negative. `found` gets the number of texts, what of the row returned is not UTF-8 (NONE: all is), and the points
    and texts that it needs, if it did not fit.
    """
    cdef Spans hypotheses, references
    cdef Out out
    cdef const int64_t* from_texts = NULL
    cdef const int64_t* to_texts = NULL
    cdef int64_t n_rows = hypothesis_starts.shape[0], stop = row
    found[0] = found[2] = found[3] = 0
    found[1] = -1
    segments[0] = offsets[0] = 0
    if row >= n_rows:
        return row
    if first is not None and last is not None:
        from_texts, to_texts = &first[0], &last[0]
    hypotheses.data = &hypothesis_data[0] if hypothesis_data.shape[0] else NULL
    hypotheses.starts = &hypothesis_starts[0]
    hypotheses.stops = &hypothesis_stops[0]
    references.data = &reference_data[0] if reference_data.shape[0] else NULL
    references.starts = &reference_starts[0] if reference_starts.shape[0] else NULL
    references.stops = &reference_stops[0] if reference_stops.shape[0] else NULL
    out.points = &points[0] if points.shape[0] else NULL
    out.offsets = &offsets[0]
    out.n_points = out.n_texts = 0
    with nogil:
        stop = decode(
            &hypotheses, &references, from_texts, to_texts, row, n_rows, points.shape[0], offsets.shape[0] - 1,
            segments.shape[0] - 1, &out, &segments[0], &found[0],
        )
    found[0] = out.n_texts
    return stop
