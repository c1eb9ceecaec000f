"""IoU of the boxes in each group of one image and category, and checks of boxes and ids.

A box is x, y, width, height. All numbers are finite, and sizes are not negative. Values equal those of pycocotools bit
for bit, see group_iou.h.
"""

from libc.stdint cimport int64_t, uint8_t

from fastmetrics._kernels.detection.image_category_groups cimport GroupedRows
from fastmetrics._kernels.numeric.length_checks cimport need_length

cdef extern from "detection/group_iou.h":
    void group_iou "fm_group_iou"(
        Py_ssize_t first, Py_ssize_t last, const double* truth, const uint8_t* crowd, const double* detections,
        const int64_t* truth_starts, const int64_t* truth_rows, const int64_t* detection_starts,
        const int64_t* detection_rows, const int64_t* iou_starts, double* out
    ) noexcept nogil

cdef double LARGEST = 1e150     # products of two sizes stay finite
MOST_SIZE = LARGEST


def find_bad_box(const double[:, ::1] boxes) -> int:
    """Return the first row with a negative size, NaN or a number beyond MOST_SIZE; -1 if all boxes are valid."""
    cdef Py_ssize_t row, i
    cdef bint good
    cdef Py_ssize_t bad_row = -1
    need_length(b"numbers of a box", boxes.shape[1], 4)
    with nogil:
        for row in range(boxes.shape[0]):
            good = boxes[row, 2] >= 0 and boxes[row, 3] >= 0
            for i in range(4):
                good &= -LARGEST <= boxes[row, i] <= LARGEST
            if not good:
                bad_row = row
                break
    return bad_row


def look_up(const int64_t[::1] values, int64_t low, int64_t high, const int64_t[::1] table, int64_t[::1] out):
    """out[row] = table[value - (low - 1)]; the first element for values below low, the last for values above high."""
    cdef Py_ssize_t row
    cdef int64_t value
    need_length(b"out", out.shape[0], values.shape[0])
    if high < low - 1 or high - low + 3 > table.shape[0]:
        raise ValueError(f"a table of {table.shape[0]} elements for values from {low} to {high}")
    with nogil:
        for row in range(values.shape[0]):
            value = values[row]
            value = low - 1 if value < low else high + 1 if value > high else value
            out[row] = table[value - low + 1]


def box_iou_by_group(
    Py_ssize_t first, Py_ssize_t last, const double[:, ::1] truth, const uint8_t[::1] crowd,
    const double[:, ::1] detections, GroupedRows groups not None, double[::1] out
):
    """Fill the IoU of groups first..last: out[iou_starts[g] + d * n_truth + t] for detection d and object t."""
    groups.check(first, last, min(truth.shape[0], crowd.shape[0]), detections.shape[0], out.shape[0])
    if out.shape[0] == 0 or first >= last or truth.shape[0] == 0 or detections.shape[0] == 0:
        return
    need_length(b"numbers of a box", min(truth.shape[1], detections.shape[1]), 4)
    with nogil:
        group_iou(
            first, last, &truth[0, 0], &crowd[0], &detections[0, 0], &groups.truth_starts[0], &groups.truth_rows[0],
            &groups.detection_starts[0], &groups.detection_rows[0], &groups.iou_starts[0], &out[0]
        )
