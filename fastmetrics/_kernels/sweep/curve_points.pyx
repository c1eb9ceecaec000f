"""Points of threshold curves: both classes of a range of scores, each sorted, walked from the greatest score down.

A point is a distinct score, with how many negatives (false positives) and positives (true positives) score at least as
much. Ranges are walked each on its own; what is above them is added, so points of all ranges together are the curve.

What is written for a point of which kind: pointwalk.pxd.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from fastmetrics._kernels.ordered cimport ordered_f32, ordered_f64
from fastmetrics._kernels.pointwalk cimport OF_CORNERS, OF_COUNTS, OF_ERROR_RATES, OF_PRECISION_RECALL, walk_kind
from fastmetrics._kernels.ranktable cimport key_t, sort_keys

ctypedef fused score_t:
    float
    double

COUNTS = OF_COUNTS
CORNERS = OF_CORNERS
PRECISION_RECALL = OF_PRECISION_RECALL
ERROR_RATES = OF_ERROR_RATES


def write_points(
    const key_t[::1] keys, Py_ssize_t start, Py_ssize_t middle, Py_ssize_t stop, int kind, int64_t negatives_above,
    int64_t positives_above, int64_t all_negatives, int64_t all_positives, bint is_first, int64_t next_negatives,
    int64_t next_positives, double[::1] thresholds, double[::1] x, double[::1] y, Py_ssize_t place,
    Py_ssize_t direction
):
    """The points of one range: its negatives are keys[start:middle], its positives keys[middle:stop], each ascending.

    They go to index `place`, place + direction, and so on. For corners: is_first, if nothing is above the range, and
    the rows of each class at the first score below it (both 0 if there is none).
    """
    cdef const key_t* first = &keys[0]
    with nogil:
        walk_kind[key_t](
            first + start, middle - start, first + middle, stop - middle, kind, negatives_above, positives_above,
            <double>all_negatives, <double>all_positives, is_first, next_negatives, next_positives, &thresholds[0],
            &x[0], &y[0], place, direction)


def count_points(
    const key_t[::1] keys, Py_ssize_t start, Py_ssize_t middle, Py_ssize_t stop, int kind, bint is_first,
    int64_t next_negatives, int64_t next_positives
):
    """How many points write_points will write."""
    cdef const key_t* first = &keys[0]
    cdef Py_ssize_t n
    with nogil:
        n = walk_kind[key_t](
            first + start, middle - start, first + middle, stop - middle, kind, 0, 0, 0, 0, is_first, next_negatives,
            next_positives, NULL, NULL, NULL, 0, 1)
    return n


def first_step(const key_t[::1] keys, Py_ssize_t start, Py_ssize_t middle, Py_ssize_t stop):
    """Rows of each class at the greatest score of a range, as for write_points."""
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


def sort_classes(const uint8_t[::1] labels, const score_t[::1] scores, uint64_t[::1] work):
    """Keys of a small column, class by class, each ascending: work's first words hold them, negatives first.

    Returns (negatives, was there a NaN?). work has twice as many words as there are rows, at least one; keys of float32
    scores are in its first n halves of words.
    """
    cdef Py_ssize_t n = labels.shape[0]
    cdef Py_ssize_t n_negative = 0
    cdef bint nan = False
    with nogil:
        if score_t is float:
            n_negative = split_classes[float, uint32_t](&labels[0], &scores[0], n, <uint32_t*>&work[0], &nan)
        else:
            n_negative = split_classes[double, uint64_t](&labels[0], &scores[0], n, &work[0], &nan)
    return n_negative, nan


cdef inline Py_ssize_t split_classes(
    const uint8_t* labels, const score_t* scores, Py_ssize_t n, key_t* keys, bint* has_nan
) noexcept nogil:
    cdef Py_ssize_t i
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t last = n
    cdef score_t score
    cdef key_t key
    cdef int nan = 0
    for i in range(n):
        score = scores[i]
        nan |= score != score
        if key_t is uint32_t:
            key = ordered_f32(<float>score)
        else:
            key = ordered_f64(<double>score)
        if labels[i]:
            last -= 1
            keys[last] = key
        else:
            keys[first] = key
            first += 1
    has_nan[0] = nan != 0
    if not nan:
        sort_keys(keys, first, keys + n)
        sort_keys(keys + first, n - first, keys + n)
    return first


def trapezoids(const double[::1] x, const double[::1] y):
    """The sum of (x[i + 1] - x[i]) * (y[i] + y[i + 1]) / 2, with what x does: (area, direction, is there a problem?).

    direction is 1, -1, or 0 where all x are equal. A problem is x that goes both ways, or values that are not finite.
    """
    cdef Py_ssize_t i
    cdef double step
    cdef double area = 0.0
    cdef bint up = False
    cdef bint down = False
    cdef bint infinite = False
    with nogil:
        for i in range(x.shape[0] - 1):
            step = x[i + 1] - x[i]
            up |= step > 0
            down |= step < 0
            area += step * (y[i] + y[i + 1]) / 2.0
        for i in range(x.shape[0]):
            infinite |= not (x[i] - x[i] == 0.0 and y[i] - y[i] == 0.0)
    return area, <int>up - <int>down, infinite or (up and down)
