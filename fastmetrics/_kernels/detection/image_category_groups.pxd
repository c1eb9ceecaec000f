"""The rows of groups, for kernels that compare detections with objects."""

from libc.stdint cimport int64_t

cdef class GroupedRows:
    cdef readonly Py_ssize_t n_groups
    cdef readonly Py_ssize_t most_truth      # objects of a group
    cdef const int64_t[::1] truth_starts
    cdef const int64_t[::1] truth_rows
    cdef const int64_t[::1] detection_starts
    cdef const int64_t[::1] detection_rows
    cdef const int64_t[::1] iou_starts
    cdef int check(
        self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t n_truth, Py_ssize_t n_detections, Py_ssize_t n_ious
    ) except -1
