"""Blocks of segments from rows of Arrow text columns: a hypothesis and its references.

The hypotheses and the references of the rows are in two columns. A block has the texts of a row one after the other
(see text_blocks.pyx). Rows are decoded until the block is full, so the memory of a block does not depend on the lengths
of the texts. Only a single row that does not fit needs more memory.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t

cdef extern from "text/tokens/utf8_scan.h":
    int64_t decode_span "fm_decode_utf8"(const uint8_t* text, int64_t n, uint32_t* points) noexcept nogil

# Indices of `result`, which `decode_rows` fills.
N_TEXTS = 0
BAD_TEXT = 1
NEEDED_POINTS = 2
NEEDED_TEXTS = 3
# Values of result[BAD_TEXT].
NONE = -1
HYPOTHESIS = 0
REFERENCE = 1


cdef struct Spans:
    const uint8_t* data
    const int64_t* starts
    const int64_t* stops


cdef struct TextBlock:
    uint32_t* points
    int64_t* offsets
    int64_t n_points
    int64_t n_texts


cdef inline bint decode_text(const Spans* spans, int64_t text, TextBlock* block) noexcept nogil:
    """Decode a text into the block. Return False if it is not UTF-8."""
    cdef int64_t length = spans.stops[text] - spans.starts[text], n = 0
    if length > 0:
        n = decode_span(spans.data + spans.starts[text], length, block.points + block.n_points)
    if n < 0:
        return False
    block.n_points += n
    block.n_texts += 1
    block.offsets[block.n_texts] = block.n_points
    return True


cdef int64_t decode(
    const Spans* hypotheses, const Spans* references, const int64_t* first, const int64_t* last, int64_t row,
    int64_t n_rows, int64_t point_capacity, int64_t text_capacity, int64_t max_rows, TextBlock* block,
    int64_t* segments,
    int64_t* result,
) noexcept nogil:
    cdef int64_t text, first_text, stop_text, n_bytes, start_row = row
    segments[0] = 0
    block.offsets[0] = 0
    while row < n_rows and row - start_row < max_rows:
        first_text = first[row] if first != NULL else row
        stop_text = last[row] if last != NULL else row + 1
        n_bytes = hypotheses.stops[row] - hypotheses.starts[row]
        for text in range(first_text, stop_text):
            if references.starts[text] >= 0:
                n_bytes += references.stops[text] - references.starts[text]
        if block.n_points + n_bytes > point_capacity or block.n_texts + 1 + stop_text - first_text > text_capacity:
            result[2] = n_bytes
            result[3] = 1 + stop_text - first_text
            return row
        if not decode_text(hypotheses, row, block):
            result[1] = 0
            return row
        for text in range(first_text, stop_text):
            if references.starts[text] >= 0 and not decode_text(references, text, block):
                result[1] = 1
                return row
        row += 1
        segments[row - start_row] = block.n_texts
    return row


def decode_rows(
    const uint8_t[::1] hypothesis_data, const int64_t[::1] hypothesis_starts, const int64_t[::1] hypothesis_stops,
    const uint8_t[::1] reference_data, const int64_t[::1] reference_starts, const int64_t[::1] reference_stops,
    const int64_t[::1] first or None, const int64_t[::1] last or None, int64_t row, uint32_t[::1] points,
    int64_t[::1] offsets, int64_t[::1] segments, int64_t[::1] result,
) -> int:
    """Decode rows from `row` on until the block is full. Return the first row that is not in the block.

    Row r has the references first[r]:last[r], or reference r if `first` is None. A missing reference has a negative
    start. `result` gets four numbers: the texts in the block; which text of the returned row is not UTF-8 (NONE if all
    are); and the code points and texts that the returned row needs, if it did not fit.
    """
    cdef Spans hypotheses, references
    cdef TextBlock block
    cdef const int64_t* first_texts = NULL
    cdef const int64_t* stop_texts = NULL
    cdef int64_t n_rows = hypothesis_starts.shape[0], stop = row
    result[0] = result[2] = result[3] = 0
    result[1] = -1
    segments[0] = offsets[0] = 0
    if row >= n_rows:
        return row
    if first is not None and last is not None:
        first_texts, stop_texts = &first[0], &last[0]
    hypotheses.data = &hypothesis_data[0] if hypothesis_data.shape[0] else NULL
    hypotheses.starts = &hypothesis_starts[0]
    hypotheses.stops = &hypothesis_stops[0]
    references.data = &reference_data[0] if reference_data.shape[0] else NULL
    references.starts = &reference_starts[0] if reference_starts.shape[0] else NULL
    references.stops = &reference_stops[0] if reference_stops.shape[0] else NULL
    block.points = &points[0] if points.shape[0] else NULL
    block.offsets = &offsets[0]
    block.n_points = block.n_texts = 0
    with nogil:
        stop = decode(
            &hypotheses, &references, first_texts, stop_texts, row, n_rows, points.shape[0], offsets.shape[0] - 1,
            segments.shape[0] - 1, &block, &segments[0], &result[0],
        )
    result[0] = block.n_texts
    return stop
