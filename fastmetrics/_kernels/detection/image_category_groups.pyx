"""Groups of rows of one category in one image, with detections sorted by descending score.

Categories and images are indices into lists of ids, so rows are grouped by counting sorts. All sorts are stable.
"""

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from fastmetrics._kernels.exchange.radix_sort_descending cimport KeyedRow, descending_key, sort_rows_descending
from fastmetrics._kernels.numeric.length_checks cimport need_below, need_length, need_offsets, need_range


cdef bint are_matrices(
    const int64_t[::1] truth_starts, const int64_t[::1] detection_starts, const int64_t[::1] iou_starts,
    Py_ssize_t* most_truth
) noexcept nogil:
    """Has each group an IoU for every pair? most_truth[0] becomes the most objects of a group."""
    cdef Py_ssize_t group, n_truth
    cdef bint found = True
    for group in range(truth_starts.shape[0] - 1):
        n_truth = truth_starts[group + 1] - truth_starts[group]
        most_truth[0] = max(most_truth[0], n_truth)
        found &= iou_starts[group + 1] - iou_starts[group] == n_truth * (
            detection_starts[group + 1] - detection_starts[group])
    return found


cdef class GroupedRows:
    """The rows of objects and of detections of every group, from starts[g] to starts[g + 1], and its IoU matrix.

    The IoU of detection d and object t of group g stands at iou_starts[g] + d * n_truth + t.
    """

    def __cinit__(
        self, const int64_t[::1] truth_starts not None, const int64_t[::1] truth_rows not None,
        const int64_t[::1] detection_starts not None, const int64_t[::1] detection_rows not None,
        const int64_t[::1] iou_starts not None
    ):
        cdef Py_ssize_t n = truth_starts.shape[0]
        if n == 0 or detection_starts.shape[0] != n or iou_starts.shape[0] != n:
            raise ValueError(f"{n}, {detection_starts.shape[0]} and {iou_starts.shape[0]} starts of groups")
        need_offsets(b"truth_starts", &truth_starts[0], n, truth_rows.shape[0])
        need_offsets(b"detection_starts", &detection_starts[0], n, detection_rows.shape[0])
        need_offsets(b"iou_starts", &iou_starts[0], n, iou_starts[n - 1])
        if not are_matrices(truth_starts, detection_starts, iou_starts, &self.most_truth):
            raise ValueError("iou_starts must leave a place for every pair of an object and a detection of a group")
        self.n_groups = n - 1
        self.truth_starts, self.truth_rows = truth_starts, truth_rows
        self.detection_starts, self.detection_rows = detection_starts, detection_rows
        self.iou_starts = iou_starts

    cdef int check(
        self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t n_truth, Py_ssize_t n_detections, Py_ssize_t n_ious
    ) except -1:
        """Raise ValueError unless first..last are groups whose rows are rows of columns of these lengths."""
        cdef Py_ssize_t start
        need_range(first, last, self.n_groups)
        if first == last:
            return 0
        need_length(b"ious", n_ious, self.iou_starts[last])
        start = self.truth_starts[first]
        if self.truth_starts[last] > start:
            need_below(b"truth_rows", &self.truth_rows[start], self.truth_starts[last] - start, n_truth)
        start = self.detection_starts[first]
        if self.detection_starts[last] > start:
            need_below(
                b"detection_rows", &self.detection_rows[start], self.detection_starts[last] - start, n_detections)
        return 0


def counting_sort(const int64_t[::1] keys, const int64_t[::1] rows, int64_t[::1] starts, int64_t[::1] out):
    """Fill `out` with `rows` sorted by keys[row]; rows of equal keys keep their order. Empty `rows` means all rows.

    starts has one element more than there are keys. It becomes the index in `out` where the rows of each key start.
    """
    cdef Py_ssize_t i, n_checked
    cdef Py_ssize_t n = out.shape[0]
    cdef Py_ssize_t n_keys = starts.shape[0] - 1
    cdef bint all_rows = rows.shape[0] == 0
    cdef int64_t row, start, count
    need_length(b"starts", starts.shape[0], 1)
    if n == 0:
        n_checked = 0
    elif all_rows:
        n_checked = n
        need_length(b"keys", keys.shape[0], n)
    else:
        n_checked = keys.shape[0]
        need_length(b"rows", rows.shape[0], n)
        need_below(b"rows", &rows[0], n, keys.shape[0])
    if n_checked:
        need_below(b"keys", &keys[0], n_checked, n_keys)
    with nogil:
        starts[:] = 0
        for i in range(n):
            starts[keys[i if all_rows else rows[i]]] += 1
        start = 0
        for i in range(n_keys):
            count = starts[i]
            starts[i] = start
            start += count
        for i in range(n):
            row = i if all_rows else rows[i]
            out[starts[keys[row]]] = row
            starts[keys[row]] += 1
        for i in range(n_keys, 0, -1):
            starts[i] = starts[i - 1]
        starts[0] = 0


def list_groups(
    const int64_t[::1] truth_keys, const int64_t[::1] detection_keys, int64_t[::1] keys, int64_t[::1] truth_starts,
    int64_t[::1] detection_starts
) -> int:
    """List the different keys of two sorted columns and where the rows of each key start; return the number of keys.

    Each of the three output arrays has one element more than both columns together.
    """
    cdef Py_ssize_t truth = 0
    cdef Py_ssize_t detection = 0
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t most = truth_keys.shape[0] + detection_keys.shape[0] + 1
    cdef int64_t key
    need_length(b"keys", min(keys.shape[0], truth_starts.shape[0], detection_starts.shape[0]), most)
    with nogil:
        while truth < truth_keys.shape[0] or detection < detection_keys.shape[0]:
            if detection == detection_keys.shape[0] or (
                truth < truth_keys.shape[0] and truth_keys[truth] < detection_keys[detection]
            ):
                key = truth_keys[truth]
            else:
                key = detection_keys[detection]
            keys[n] = key
            truth_starts[n] = truth
            detection_starts[n] = detection
            n += 1
            while truth < truth_keys.shape[0] and truth_keys[truth] == key:
                truth += 1
            while detection < detection_keys.shape[0] and detection_keys[detection] == key:
                detection += 1
        truth_starts[n] = truth
        detection_starts[n] = detection
    return n


def sort_groups(
    Py_ssize_t first, Py_ssize_t last, const int64_t[::1] starts, const double[::1] scores, int64_t[::1] rows
):
    """Sort the rows of each group first..last by descending score."""
    cdef Py_ssize_t group, i, n, start
    cdef Py_ssize_t longest = 0
    cdef KeyedRow* keyed
    need_range(first, last, starts.shape[0] - 1)
    if rows.shape[0] == 0 or first == last:
        return
    need_offsets(b"starts", &starts[first], last - first + 1, rows.shape[0])
    need_below(b"rows", &rows[0], rows.shape[0], scores.shape[0])
    for group in range(first, last):
        longest = max(longest, starts[group + 1] - starts[group])
    keyed = <KeyedRow*>malloc(<size_t>(2 * longest + 1) * sizeof(KeyedRow))
    if keyed == NULL:
        raise MemoryError
    with nogil:
        for group in range(first, last):
            start = starts[group]
            n = starts[group + 1] - start
            if n < 2:
                continue
            for i in range(n):
                keyed[i].key = descending_key(scores[rows[start + i]])
                keyed[i].row = rows[start + i]
            sort_rows_descending(keyed, keyed + n, n)
            for i in range(n):
                rows[start + i] = keyed[i].row
        free(keyed)
