"""IoU of all pairs of two sets of boxes.

Boxes are rows of four float64: corners x1, y1, x2, y2, or x, y, width, height. They are converted once to an array of
shape (5, n), the four corner coordinates and the area. The inner loop over the second set then reads contiguous memory
and is vectorized. The arithmetic is in iou.h. Sizes are at most MOST_SIZE, so areas and their sums are finite.
"""

from libc.stdint cimport uint8_t

from fastmetrics._kernels.numeric.length_checks cimport need_length, need_range

cdef extern from "detection/iou.h":
    void iou_with_all "fm_iou_with_all"(
        const double* box, const double* others, Py_ssize_t n, double border, double* out
    ) noexcept nogil
    void iou_with_crowds "fm_iou_with_crowds"(
        const double* box, const double* others, const uint8_t* crowd, Py_ssize_t n, double border, double* out
    ) noexcept nogil

cdef double LARGEST = 1e150
MOST_SIZE = LARGEST

cdef Py_ssize_t convert_rows(
    const double* boxes, Py_ssize_t n, bint corners, double border, double* out
) noexcept nogil:
    cdef Py_ssize_t i
    cdef double x, y, right, bottom, width, height
    for i in range(n):
        x = boxes[4 * i]
        y = boxes[4 * i + 1]
        if corners:
            right = boxes[4 * i + 2]
            bottom = boxes[4 * i + 3]
            width = right - x
            height = bottom - y
        else:
            width = boxes[4 * i + 2]
            height = boxes[4 * i + 3]
            right = x + width
            bottom = y + height
        # NaN fails every comparison.
        if not (
            -LARGEST <= x <= LARGEST and -LARGEST <= y <= LARGEST and 0 <= width <= LARGEST and 0 <= height <= LARGEST
        ):
            return i
        out[i] = x
        out[n + i] = y
        out[2 * n + i] = right
        out[3 * n + i] = bottom
        out[4 * n + i] = (width + border) * (height + border)
    return -1


def to_corner_columns(const double[:, ::1] boxes, bint corners, double border, double[:, ::1] out) -> int:
    """Write corners and areas of (n, 4) boxes into `out` (5, n). Return the first row with an invalid box, or -1."""
    cdef Py_ssize_t n = boxes.shape[0]
    cdef Py_ssize_t bad = -1
    need_length(b"numbers of a box", boxes.shape[1], 4)
    if out.shape[0] < 5 or out.shape[1] != n:
        raise ValueError(f"no columns for the corners of {n} boxes")
    if n:
        with nogil:
            bad = convert_rows(&boxes[0, 0], n, corners, border, &out[0, 0])
    return bad


cdef void iou_of_rows(
    const double* first, Py_ssize_t n, const double* second, const uint8_t* crowd, Py_ssize_t m, double border,
    Py_ssize_t start, Py_ssize_t stop, double* out
) noexcept nogil:
    cdef Py_ssize_t i, k
    cdef double box[5]
    for i in range(start, stop):
        for k in range(5):
            box[k] = first[k * n + i]
        if crowd == NULL:
            iou_with_all(box, second, m, border, out + i * m)
        else:
            iou_with_crowds(box, second, crowd, m, border, out + i * m)


def pairwise_iou(
    const double[:, ::1] first, const double[:, ::1] second, const uint8_t[::1] crowd or None, double border,
    Py_ssize_t start, Py_ssize_t stop, double[:, ::1] out
):
    """Fill rows start to stop of the (n, m) IoU matrix.

    Both sets come from to_corner_columns and are not empty. crowd may be None.
    """
    cdef const uint8_t* crowds = NULL
    need_length(b"numbers of a box", min(first.shape[0], second.shape[0]), 5)
    need_range(start, stop, min(first.shape[1], out.shape[0]))
    if out.shape[1] != second.shape[1]:
        raise ValueError(f"out has {out.shape[1]} columns for {second.shape[1]} boxes")
    if start == stop or second.shape[1] == 0:
        return
    if crowd is not None:
        need_length(b"crowd", crowd.shape[0], second.shape[1])
        crowds = &crowd[0]
    with nogil:
        iou_of_rows(
            &first[0, 0], first.shape[1], &second[0, 0], crowds, second.shape[1], border, start, stop, &out[0, 0]
        )
