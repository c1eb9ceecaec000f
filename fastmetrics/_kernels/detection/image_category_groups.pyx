"""Groups of rows of one category in one image, with detections sorted by descending score.

Categories and images are indices into lists of ids, so rows are grouped by counting sorts. All sorts are stable.
"""

from libc.stdint cimport int64_t, uint64_t

from fastmetrics._kernels.exchange.radix_sort_descending cimport KeyedRow, descending_key, sort_rows_descending


def counting_sort(const int64_t[::1] keys, const int64_t[::1] rows, int64_t[::1] starts, int64_t[::1] out):
    """Fill `out` with `rows` sorted by keys[row]; rows of equal keys keep their order. Empty `rows` means all rows.

    starts has one element more than there are keys. It becomes the index in `out` where the rows of each key start.
    """
    cdef Py_ssize_t i, n = out.shape[0]
    cdef Py_ssize_t n_keys = starts.shape[0] - 1
    cdef bint all_rows = rows.shape[0] == 0
    cdef int64_t row, start, count
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
    cdef int64_t key
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
    Py_ssize_t first, Py_ssize_t last, const int64_t[::1] starts, const double[::1] scores, int64_t[::1] rows,
    uint64_t[::1] scratch
):
    """Sort the rows of each group first..last by descending score. scratch has four elements per row of the largest."""
    cdef Py_ssize_t group, i, n, start
    cdef KeyedRow* keyed
    if first >= last or scratch.shape[0] == 0:
        return
    with nogil:
        keyed = <KeyedRow*>&scratch[0]
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
