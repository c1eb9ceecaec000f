"""Points of threshold curves, from a sweep over the sorted scores of both classes of a score range.

A point belongs to a distinct score. It counts the negatives (false positives) and the positives (true positives) with
at least this score. Each range is swept on its own, starting from the counts of the rows above it, so the points of all
ranges together are the curve. curve_sweep.pxd lists the kinds of points.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from fastmetrics._kernels.columns.column_blocks cimport ColumnBlocks
from fastmetrics._kernels.columns.ordered_bits cimport score_t
from fastmetrics._kernels.numeric.length_checks cimport need_length
from fastmetrics._kernels.sweep.curve_sweep cimport (
    POINTS_AT_CORNERS, POINTS_OF_COUNTS, POINTS_OF_ERROR_RATES, POINTS_OF_PRECISION_RECALL, sweep_curve,
)
from fastmetrics._kernels.sweep.rank_table cimport key_t, sort_keys, write_keys_by_class

COUNTS = POINTS_OF_COUNTS
CORNERS = POINTS_AT_CORNERS
PRECISION_RECALL = POINTS_OF_PRECISION_RECALL
ERROR_RATES = POINTS_OF_ERROR_RATES


cdef class CurveRange:
    """The sorted rows of a score range: negatives are keys[start:middle], positives keys[middle:stop]; both ascend.

    Keys are uint32 or uint64. Corners need two facts more: `is_first` is true if no row is above the range, and
    next_negatives and next_positives are the rows of each class at the first score below it (both 0 if there is none).
    """

    cdef object keys                      # it keeps their memory
    cdef const void* negatives
    cdef const void* positives
    cdef Py_ssize_t n_negatives
    cdef Py_ssize_t n_positives
    cdef bint are_long
    cdef bint is_first
    cdef int64_t next_negatives
    cdef int64_t next_positives
    cdef int counted_kind                 # of points, whose number is known
    cdef Py_ssize_t n_points

    def __cinit__(
        self, keys, Py_ssize_t start, Py_ssize_t middle, Py_ssize_t stop, bint is_first=True,
        int64_t next_negatives=0, int64_t next_positives=0
    ):
        cdef ColumnBlocks column = ColumnBlocks([keys])
        column.check(b"keys", 1, 8 if column.item_bytes == 8 else 4)
        if not 0 <= start <= middle <= stop <= column.lengths[0]:
            raise ValueError(f"keys {start} to {middle} to {stop} of {column.lengths[0]}")
        self.keys = keys
        self.counted_kind = -1
        self.are_long = column.item_bytes == 8
        self.negatives = <const char*>column.starts[0] + start * column.item_bytes
        self.positives = <const char*>column.starts[0] + middle * column.item_bytes
        self.n_negatives, self.n_positives = middle - start, stop - middle
        self.is_first = is_first
        self.next_negatives, self.next_positives = next_negatives, next_positives

    def count(self, int kind) -> int:
        """The number of points that `write` writes."""
        if kind != self.counted_kind:
            with nogil:
                self.n_points = self.sweep(kind, 0, 0, 0, 0, NULL, NULL, NULL, 0, 1)
            self.counted_kind = kind
        return self.n_points

    def write(
        self, int kind, int64_t negatives_above, int64_t positives_above, int64_t all_negatives,
        int64_t all_positives, double[::1] thresholds, double[::1] x, double[::1] y, Py_ssize_t index,
        Py_ssize_t direction
    ):
        """Write the points to `index`, index + direction, and so on; direction is 1 or -1.

        There are so many rows of each class above the range, and in all ranges together.
        """
        cdef Py_ssize_t n = self.count(kind)
        cdef Py_ssize_t last = index + direction * (n - 1)
        cdef Py_ssize_t length = min(thresholds.shape[0], x.shape[0], y.shape[0])
        if n == 0:
            return
        if direction not in (1, -1) or not (0 <= index < length and 0 <= last < length):
            raise ValueError(f"{n} points from index {index} on, in steps of {direction}, do not fit {length} elements")
        with nogil:
            self.sweep(
                kind, negatives_above, positives_above, <double>all_negatives, <double>all_positives, &thresholds[0],
                &x[0], &y[0], index, direction)

    cdef Py_ssize_t sweep(
        self, int kind, int64_t negatives_above, int64_t positives_above, double all_negatives, double all_positives,
        double* thresholds, double* x, double* y, Py_ssize_t index, Py_ssize_t direction
    ) noexcept nogil:
        if self.are_long:
            return sweep_curve[uint64_t](
                <const uint64_t*>self.negatives, self.n_negatives, <const uint64_t*>self.positives, self.n_positives,
                kind, negatives_above, positives_above, all_negatives, all_positives, self.is_first,
                self.next_negatives, self.next_positives, thresholds, x, y, index, direction)
        return sweep_curve[uint32_t](
            <const uint32_t*>self.negatives, self.n_negatives, <const uint32_t*>self.positives, self.n_positives, kind,
            negatives_above, positives_above, all_negatives, all_positives, self.is_first, self.next_negatives,
            self.next_positives, thresholds, x, y, index, direction)


def count_top_tie(const key_t[::1] keys, Py_ssize_t start, Py_ssize_t middle, Py_ssize_t stop) -> tuple[int, int]:
    """Rows of each class at the greatest score of a range; arguments as for CurveRange."""
    cdef key_t key = 0
    cdef Py_ssize_t i = middle
    cdef Py_ssize_t j = stop
    if not 0 <= start <= middle <= stop <= keys.shape[0]:
        raise ValueError(f"keys {start} to {middle} to {stop} of {keys.shape[0]}")
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
    need_length(b"scores", scores.shape[0], n)
    need_length(b"scratch", scratch.shape[0], 2 * n)
    if n == 0:
        return 0, False
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
    need_length(b"y", y.shape[0], x.shape[0])
    with nogil:
        for i in range(x.shape[0] - 1):
            width = x[i + 1] - x[i]
            ascends |= width > 0
            descends |= width < 0
            area += width * (y[i] + y[i + 1]) / 2.0
        for i in range(x.shape[0]):
            is_not_finite |= not (x[i] - x[i] == 0.0 and y[i] - y[i] == 0.0)
    return area, <int>ascends - <int>descends, is_not_finite or (ascends and descends)
