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
