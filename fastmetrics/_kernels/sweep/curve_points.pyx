"""Points of threshold curves, from a sweep over the sorted scores of both classes of a score range.

A point belongs to a distinct score. It counts the negatives (false positives) and the positives (true positives) with
at least this score. Each range is swept on its own, starting from the counts of the rows above it, so the points of all
ranges together are the curve. curve_sweep.pxd lists the kinds of points.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from fastmetrics._kernels.columns.ordered_bits cimport score_t
from fastmetrics._kernels.sweep.curve_sweep cimport (
    POINTS_AT_CORNERS, POINTS_OF_COUNTS, POINTS_OF_ERROR_RATES, POINTS_OF_PRECISION_RECALL, sweep_curve,
)
from fastmetrics._kernels.sweep.rank_table cimport key_t, sort_keys, write_keys_by_class

COUNTS = POINTS_OF_COUNTS
CORNERS = POINTS_AT_CORNERS
PRECISION_RECALL = POINTS_OF_PRECISION_RECALL
ERROR_RATES = POINTS_OF_ERROR_RATES


def write_points(
    const key_t[::1] keys, Py_ssize_t start, Py_ssize_t middle, Py_ssize_t stop, int kind, int64_t negatives_above,
    int64_t positives_above, int64_t all_negatives, int64_t all_positives, bint is_first, int64_t next_negatives,
    int64_t next_positives, double[::1] thresholds, double[::1] x, double[::1] y, Py_ssize_t index,
    Py_ssize_t direction
):
    """Write the points of one range: negatives are keys[start:middle], positives keys[middle:stop]; both ascend.

    Points go to `index`, index + direction, and so on. Corners need two facts more: `is_first` is true if no row is
    above the range, and next_negatives and next_positives are the rows of each class at the first score below it (both
    0 if there is none).
    """
    cdef const key_t* first = &keys[0]
    with nogil:
        sweep_curve[key_t](
            first + start, middle - start, first + middle, stop - middle, kind, negatives_above, positives_above,
            <double>all_negatives, <double>all_positives, is_first, next_negatives, next_positives, &thresholds[0],
            &x[0], &y[0], index, direction)


def count_points(
    const key_t[::1] keys, Py_ssize_t start, Py_ssize_t middle, Py_ssize_t stop, int kind, bint is_first,
    int64_t next_negatives, int64_t next_positives
) -> int:
    """The number of points that write_points writes."""
    cdef const key_t* first = &keys[0]
    cdef Py_ssize_t n
    with nogil:
        n = sweep_curve[key_t](
            first + start, middle - start, first + middle, stop - middle, kind, 0, 0, 0, 0, is_first, next_negatives,
            next_positives, NULL, NULL, NULL, 0, 1)
    return n


def count_top_tie(const key_t[::1] keys, Py_ssize_t start, Py_ssize_t middle, Py_ssize_t stop) -> tuple[int, int]:
    """Rows of each class at the greatest score of a range; arguments as for write_points."""
    cdef key_t key = 0
    cdef Py_ssize_t i = middle
    cdef Py_ssize_t j = stop
    if middle > start:
        key = keys[middle - 1]
    if stop > middle and (middle == start or keys[stop - 1] > key):
        key = keys[stop - 1]
    while i > start and keys[i - 1] == key:
        i -= 1
    while j > middle and keys[j - 1] == key:
        j -= 1
    return middle - i, stop - j


def sort_classes(const uint8_t[::1] labels, const score_t[::1] scores, uint64_t[::1] scratch) -> tuple[int, bool]:
    """Write the sort keys of a small column to scratch: the negatives ascending, then the positives ascending.

    Returns (number of negatives, whether a score is NaN). scratch has two words per row, at least one. Keys of float32
    scores are 32-bit numbers at its beginning.
    """
    cdef Py_ssize_t n = labels.shape[0]
    cdef Py_ssize_t n_negative = 0
    cdef bint nan = False
    with nogil:
        if score_t is float:
            n_negative = split_classes[float, uint32_t](&labels[0], &scores[0], n, <uint32_t*>&scratch[0], &nan)
        else:
            n_negative = split_classes[double, uint64_t](&labels[0], &scores[0], n, &scratch[0], &nan)
    return n_negative, nan


cdef inline Py_ssize_t split_classes(
    const uint8_t* labels, const score_t* scores, Py_ssize_t n, key_t* keys, bint* has_nan
) noexcept nogil:
    cdef Py_ssize_t first = write_keys_by_class(labels, scores, n, keys, has_nan)
    if not has_nan[0]:
        sort_keys(keys, first, keys + n)
        sort_keys(keys + first, n - first, keys + n)
    return first


def trapezoid_area(const double[::1] x, const double[::1] y) -> tuple[float, int, bool]:
    """The area below a curve by the trapezoidal rule: (area, direction of x, whether the curve is invalid).

    The direction is 1 or -1, or 0 if all x are equal. A curve is invalid if x is not monotonic or a value not finite.
    """
    cdef Py_ssize_t i
    cdef double width
    cdef double area = 0.0
    cdef bint ascends = False
    cdef bint descends = False
    cdef bint is_not_finite = False
    with nogil:
        for i in range(x.shape[0] - 1):
            width = x[i + 1] - x[i]
            ascends |= width > 0
            descends |= width < 0
            area += width * (y[i] + y[i + 1]) / 2.0
        for i in range(x.shape[0]):
            is_not_finite |= not (x[i] - x[i] == 0.0 and y[i] - y[i] == 0.0)
    return area, <int>ascends - <int>descends, is_not_finite or (ascends and descends)
