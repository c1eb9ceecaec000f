"""The rows that a filter keeps, and sums, differences and products of float32 columns as float64.

The bitmap of a filter may belong to a caller that changes it meanwhile: no more rows are written than the result has
entries, and the number of rows written is what counts.
"""

from libc.stdint cimport int64_t, uint8_t

cdef extern from "columns/filtered_rows.h":
    int64_t rows_of_bits "fm_rows_of_bitmap"(
        const uint8_t* bitmap, int64_t first, int64_t rows, int64_t* out, int64_t capacity
    ) noexcept nogil
    void add_singles "fm_add_singles"(const float* first, const float* second, Py_ssize_t n, double* out) noexcept nogil
    void subtract_singles "fm_subtract_singles"(
        const float* first, const float* second, Py_ssize_t n, double* out
    ) noexcept nogil
    void multiply_singles "fm_multiply_singles"(
        const float* first, const float* second, Py_ssize_t n, double* out
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


cdef int check_lengths(const float[::1] first, const float[::1] second, double[::1] out) except -1:
    if not first.shape[0] == second.shape[0] == out.shape[0]:
        raise ValueError("columns of different lengths")
    return 0


def add(const float[::1] first, const float[::1] second, double[::1] out):
    """out = first + second, in float64. The three have one length."""
    check_lengths(first, second, out)
    if out.shape[0]:
        with nogil:
            add_singles(&first[0], &second[0], out.shape[0], &out[0])


def subtract(const float[::1] first, const float[::1] second, double[::1] out):
    """out = first - second, in float64. The three have one length."""
    check_lengths(first, second, out)
    if out.shape[0]:
        with nogil:
            subtract_singles(&first[0], &second[0], out.shape[0], &out[0])


def multiply(const float[::1] first, const float[::1] second, double[::1] out):
    """out = first * second, in float64. The three have one length."""
    check_lengths(first, second, out)
    if out.shape[0]:
        with nogil:
            multiply_singles(&first[0], &second[0], out.shape[0], &out[0])
