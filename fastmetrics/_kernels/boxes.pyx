"""How far boxes overlap: intersection over union of the boxes of a group.

A box is x, y, width, height, all finite; widths and heights are not negative. Values are those of pycocotools, to the
last bit: see boxmath.h.
"""

from libc.stdint cimport int64_t, uint8_t

cdef extern from "boxmath.h":
    void overlap_groups "fm_box_overlaps"(
        Py_ssize_t first, Py_ssize_t last, const double* truth, const uint8_t* crowd, const double* found,
        const int64_t* truth_starts, const int64_t* truth_rows, const int64_t* found_starts, const int64_t* found_rows,
        const int64_t* overlap_starts, double* out
    ) noexcept nogil

cdef double MOST = 1e150        # products of sizes stay finite
MOST_SIZE = MOST


def find_bad_box(const double[:, ::1] boxes):
    """The first row that is no box: with a size below 0, or a number that is NaN or beyond MOST_SIZE; -1 if all are."""
    cdef Py_ssize_t row, i
    cdef bint good
    cdef Py_ssize_t found = -1
    with nogil:
        for row in range(boxes.shape[0]):
            good = boxes[row, 2] >= 0 and boxes[row, 3] >= 0
            for i in range(4):
                good &= -MOST <= boxes[row, i] <= MOST
            if not good:
                found = row
                break
    return found


def look_up(const int64_t[::1] values, int64_t low, int64_t high, const int64_t[::1] table, int64_t[::1] out):
    """out[row] = table[value - (low - 1)]; of values below low the first element of the table, above high the last."""
    cdef Py_ssize_t row
    cdef int64_t value
    with nogil:
        for row in range(values.shape[0]):
            value = values[row]
            value = low - 1 if value < low else high + 1 if value > high else value
            out[row] = table[value - low + 1]


def box_overlaps(
    Py_ssize_t first, Py_ssize_t last, const double[:, ::1] truth, const uint8_t[::1] crowd,
    const double[:, ::1] found, const int64_t[::1] truth_starts, const int64_t[::1] truth_rows,
    const int64_t[::1] found_starts, const int64_t[::1] found_rows, const int64_t[::1] overlap_starts, double[::1] out
):
    """The overlaps of the groups first..last: out[overlap_starts[g] + d * n_truth + t]."""
    if out.shape[0] == 0 or first >= last:
        return
    with nogil:
        overlap_groups(
            first, last, &truth[0, 0], &crowd[0], &found[0, 0], &truth_starts[0], &truth_rows[0], &found_starts[0],
            &found_rows[0], &overlap_starts[0], &out[0]
        )
