"""Rows of boxes into groups: those of one category in one image, detections among them by falling score.

Categories and images are places in lists of ids, so rows are brought together by counting sorts. All sorts are stable.
"""

from libc.stdint cimport int64_t, uint64_t

from fastmetrics._kernels.fallingorder cimport Keyed, falling_key, sort_falling


def place_rows(const int64_t[::1] keys, const int64_t[::1] rows, int64_t[::1] starts, int64_t[::1] out):
    """out becomes `rows` by keys[row], equal keys in the order of `rows` (which may be empty: all rows as they are).

    starts has an element more than there are keys; it becomes where the rows of each key start.
    """
    cdef Py_ssize_t i, n = out.shape[0]
    cdef Py_ssize_t n_keys = starts.shape[0] - 1
    cdef bint plain = rows.shape[0] == 0
    cdef int64_t row, before, count
    with nogil:
        starts[:] = 0
        for i in range(n):
            starts[keys[i if plain else rows[i]]] += 1
        before = 0
        for i in range(n_keys):
            count = starts[i]
            starts[i] = before
            before += count
        for i in range(n):
            row = i if plain else rows[i]
            out[starts[keys[row]]] = row
            starts[keys[row]] += 1
        for i in range(n_keys, 0, -1):
            starts[i] = starts[i - 1]
        starts[0] = 0


def list_groups(
    const int64_t[::1] truth_keys, const int64_t[::1] found_keys, int64_t[::1] keys, int64_t[::1] truth_starts,
    int64_t[::1] found_starts
):
    """The different keys of two sorted columns, and where each one's rows start in both; returns how many keys.

    The three arrays have room for an element more than both columns together.
    """
    cdef Py_ssize_t truth = 0
    cdef Py_ssize_t found = 0
    cdef Py_ssize_t n = 0
    cdef int64_t key
    with nogil:
        while truth < truth_keys.shape[0] or found < found_keys.shape[0]:
            if found == found_keys.shape[0] or (truth < truth_keys.shape[0] and truth_keys[truth] < found_keys[found]):
                key = truth_keys[truth]
            else:
                key = found_keys[found]
            keys[n] = key
            truth_starts[n] = truth
            found_starts[n] = found
            n += 1
            while truth < truth_keys.shape[0] and truth_keys[truth] == key:
                truth += 1
            while found < found_keys.shape[0] and found_keys[found] == key:
                found += 1
        truth_starts[n] = truth
        found_starts[n] = found
    return n


def sort_groups(
    Py_ssize_t first, Py_ssize_t last, const int64_t[::1] starts, const double[::1] scores, int64_t[::1] rows,
    uint64_t[::1] scratch
):
    """The rows of each of the groups first..last by falling score. scratch has four elements for each row of the
    largest."""
    cdef Py_ssize_t group, i, n, start
    cdef Keyed* keyed
    if first >= last or scratch.shape[0] == 0:
        return
    with nogil:
        keyed = <Keyed*>&scratch[0]
        for group in range(first, last):
            start = starts[group]
            n = starts[group + 1] - start
            if n < 2:
                continue
            for i in range(n):
                keyed[i].key = falling_key(scores[rows[start + i]])
                keyed[i].row = rows[start + i]
            sort_falling(keyed, keyed + n, n)
            for i in range(n):
                rows[start + i] = keyed[i].row
