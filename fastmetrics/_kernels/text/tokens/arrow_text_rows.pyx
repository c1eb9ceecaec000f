"""Blocks of segments from rows of Arrow text columns: a hypothesis and its references.

The hypotheses and the references of the rows are in two columns. A block has the texts of a row one after the other
(see text_blocks.pyx). Rows are decoded until the block is full, so the memory of a block does not depend on the lengths
of the texts. Only a single row that does not fit needs more memory.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from fastmetrics._kernels.numeric.length_checks cimport need_length

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

cdef enum:
    OUTSIDE = 2                 # a text is no part of its column's bytes


cdef class TextSpans:
    """The texts of a column: text i is data[starts[i]:stops[i]], in UTF-8; a missing one has a negative start."""

    cdef const uint8_t[::1] data
    cdef const int64_t[::1] starts
    cdef const int64_t[::1] stops

    def __cinit__(
        self, const uint8_t[::1] data not None, const int64_t[::1] starts not None, const int64_t[::1] stops not None
    ):
        need_length(b"stops", stops.shape[0], starts.shape[0])
        self.data, self.starts, self.stops = data, starts, stops


cdef struct TextBlock:
    uint32_t* points
    int64_t* offsets
    int64_t n_points
    int64_t n_texts


cdef inline bint decode_text(TextSpans spans, int64_t text, TextBlock* block) noexcept nogil:
    """Decode a text into the block. Return False if it is not UTF-8."""
    cdef int64_t length = spans.stops[text] - spans.starts[text], n = 0
    if length > 0:
        n = decode_span(&spans.data[0] + spans.starts[text], length, block.points + block.n_points)
    if n < 0:
        return False
    block.n_points += n
    block.n_texts += 1
    block.offsets[block.n_texts] = block.n_points
    return True


cdef inline int64_t bytes_of(TextSpans spans, int64_t text) noexcept nogil:
    """The number of bytes of a text; -1 if it is no part of the column's bytes."""
    cdef int64_t start = spans.starts[text]
    cdef int64_t n = spans.stops[text] - start
    return n if 0 <= n and 0 <= start <= spans.data.shape[0] - n else -1


cdef int64_t decode(
    TextSpans hypotheses, TextSpans references, const int64_t[::1] first, const int64_t[::1] last, int64_t row,
    int64_t point_capacity, int64_t text_capacity, int64_t max_rows, TextBlock* block, int64_t[::1] segments,
    int64_t[::1] result,
) noexcept nogil:
    cdef int64_t text, first_text, stop_text, n_bytes, n, start_row = row
    segments[0] = 0
    block.offsets[0] = 0
    while row < hypotheses.starts.shape[0] and row - start_row < max_rows:
        first_text = first[row] if first is not None else row
        stop_text = last[row] if last is not None else row + 1
        n_bytes = bytes_of(hypotheses, row)
        if n_bytes < 0 or not 0 <= first_text <= stop_text <= references.starts.shape[0]:
            result[1] = OUTSIDE
            return row
        for text in range(first_text, stop_text):
            if references.starts[text] >= 0:
                n = bytes_of(references, text)
                if n < 0:
                    result[1] = OUTSIDE
                    return row
                n_bytes += n
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
    TextSpans hypotheses not None, TextSpans references not None, const int64_t[::1] first or None,
    const int64_t[::1] last or None, int64_t row, uint32_t[::1] points, int64_t[::1] offsets, int64_t[::1] segments,
    int64_t[::1] result,
) -> int:
    """Decode rows from `row` on until the block is full. Return the first row that is not in the block.

    Row r has the references first[r]:last[r], or reference r if `first` is None. `result` gets four numbers: the texts
    in the block; which text of the returned row is not UTF-8 (NONE if all are); and the code points and texts that the
    returned row needs, if it did not fit.
    """
    cdef TextBlock block
    cdef int64_t n_rows = hypotheses.starts.shape[0], stop = row
    need_length(b"result", result.shape[0], 4)
    need_length(b"offsets", offsets.shape[0], 1)
    need_length(b"segments", segments.shape[0], 1)
    if (first is None) != (last is None) or row < 0:
        raise ValueError("rows have a first and a last reference, or neither")
    result[0] = result[2] = result[3] = 0
    result[1] = -1
    segments[0] = offsets[0] = 0
    if row >= n_rows:
        return row
    if first is not None:
        need_length(b"first and last", min(first.shape[0], last.shape[0]), n_rows)
    block.points = &points[0] if points.shape[0] else NULL
    block.offsets = &offsets[0]
    block.n_points = block.n_texts = 0
    with nogil:
        stop = decode(
            hypotheses, references, first, last, row, points.shape[0], offsets.shape[0] - 1, segments.shape[0] - 1,
            &block, segments, result,
        )
    if result[1] == OUTSIDE:
        raise ValueError(f"row {stop} has a text that is no part of its column")
    result[0] = block.n_texts
    return stop
