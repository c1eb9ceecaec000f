"""The rows that a filter keeps.

The bitmap of a filter may belong to a caller that changes it meanwhile: no more rows are written than the result has
entries, and the number of rows written is what counts.
"""

from libc.stdint cimport int64_t, uint8_t

cdef extern from "columns/filtered_rows.h":
    int64_t rows_of_bits "fm_rows_of_bitmap"(
        const uint8_t* bitmap, int64_t first, int64_t rows, int64_t* out, int64_t capacity
    ) noexcept nogil


def rows_of_bitmap(const uint8_t[::1] bitmap, int64_t first, int64_t rows, int64_t[::1] out) -> int:
    """Write the rows whose bits are set to `out`, in order, and return how many were written.

    Row i is bit `first` + i of the bitmap, counted from the lowest bit of each byte. Raises ValueError if the bitmap is
    shorter than that.
    """
    cdef int64_t found = 0
    if rows <= 0 or out.shape[0] == 0:
        return 0
    if first < 0 or rows > 8 * bitmap.shape[0] - first:
        raise ValueError("the bitmap is shorter than its rows")
    with nogil:
        found = rows_of_bits(&bitmap[0], first, rows, &out[0], out.shape[0])
    return found
