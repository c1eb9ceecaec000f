"""Points of threshold curves: both classes of a range of scores, each sorted, walked from the greatest score down.

A point is a distinct score, with how many negatives (false positives) and positives (true positives) score at least as
much. Ranges are walked each on its own; what is above them is added, so points of all ranges together are the curve.

What is written for a point, as float64, depends on `kind`: COUNTS (false positives, true positives); CORNERS the same,
but only for points where the curve turns: not where the step to the point has as many negatives and as many positives
as the step after it; PRECISION_RECALL (precision, recall); ERROR_RATES (false positive rate, false negative rate).
Counts are below 2**53, so they are exact, and every rate is rounded once.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fastmetrics._kernels.ordered cimport ordered_f32, ordered_f64
from fastmetrics._kernels.ranktable cimport key_t, sort_keys

ctypedef fused score_t:
    float
    double

COUNTS = 0
CORNERS = 1
PRECISION_RECALL = 2
ERROR_RATES = 3

cdef enum:
    _COUNTS = 0
    _CORNERS = 1
    _PRECISION_RECALL = 2
    _ERROR_RATES = 3


cdef inline double score_of_u32(uint32_t key) noexcept nogil:
    cdef uint32_t bits = key ^ (<uint32_t>1 << 31 if key >> 31 else <uint32_t>0xFFFFFFFF)
    cdef float score
    memcpy(&score, &bits, 4)
    return score


cdef inline double score_of_u64(uint64_t key) noexcept nogil:
    cdef uint64_t bits = key ^ (<uint64_t>1 << 63 if key >> 63 else <uint64_t>0xFFFFFFFFFFFFFFFF)
    cdef double score
    memcpy(&score, &bits, 8)
    return score


cdef inline void write_point(
    int kind, double fps, double tps, double all_negatives, double all_positives, double* x, double* y
) noexcept nogil:
    if kind == _PRECISION_RECALL:
        x[0] = tps / (tps + fps)
        y[0] = tps / all_positives
    elif kind == _ERROR_RATES:
        x[0] = fps / all_negatives
        y[0] = (all_positives - tps) / all_positives
    else:
        x[0] = fps
        y[0] = tps


cdef inline Py_ssize_t walk(
    const key_t* negatives, Py_ssize_t i, const key_t* positives, Py_ssize_t j, int kind, int64_t negatives_above,
    int64_t positives_above, double all_negatives, double all_positives, bint is_first, int64_t next_negatives,
    int64_t next_positives, double* thresholds, double* x, double* y, Py_ssize_t place, Py_ssize_t direction
) noexcept nogil:
    """Both classes ascending, i and j rows. Points go to place, place + direction, ...; returns how many.

    For corners: `is_first` tells that nothing is above; next_* are the rows at the first score below the range, both 0
    if there is none. Nothing is written where thresholds is NULL.
    """
    cdef double fps = negatives_above
    cdef double tps = positives_above
    cdef key_t key
    cdef key_t last_key = 0
    cdef int64_t n, p
    cdef int64_t last_n = -1
    cdef int64_t last_p = -1
    cdef bint keep_last = is_first
    cdef Py_ssize_t written = 0
    while i > 0 or j > 0:
        if j == 0 or (i > 0 and negatives[i - 1] > positives[j - 1]):
            key = negatives[i - 1]
        else:
            key = positives[j - 1]
        n = 0
        p = 0
        while i > 0 and negatives[i - 1] == key:
            n += 1
            i -= 1
        while j > 0 and positives[j - 1] == key:
            p += 1
            j -= 1
        if kind == _CORNERS:
            # The point before this step is kept if the step that led to it was another one.
            if last_n >= 0 and (keep_last or n != last_n or p != last_p):
                if thresholds != NULL:
                    thresholds[place] = score_of_u32(last_key) if key_t is uint32_t else score_of_u64(last_key)
                    write_point(kind, fps, tps, all_negatives, all_positives, x + place, y + place)
                place += direction
                written += 1
            if last_n >= 0:
                keep_last = False
            last_n = n
            last_p = p
            last_key = key
            fps += n
            tps += p
        else:
            fps += n
            tps += p
            if thresholds != NULL:
                thresholds[place] = score_of_u32(key) if key_t is uint32_t else score_of_u64(key)
                write_point(kind, fps, tps, all_negatives, all_positives, x + place, y + place)
            place += direction
            written += 1
    if kind == _CORNERS and last_n >= 0:
        if keep_last or (next_negatives == 0 and next_positives == 0) or (
            next_negatives != last_n or next_positives != last_p
        ):
            if thresholds != NULL:
                thresholds[place] = score_of_u32(last_key) if key_t is uint32_t else score_of_u64(last_key)
                write_point(kind, fps, tps, all_negatives, all_positives, x + place, y + place)
            written += 1
    return written


cdef Py_ssize_t walk_kind(
    const key_t* negatives, Py_ssize_t i, const key_t* positives, Py_ssize_t j, int kind, int64_t negatives_above,
    int64_t positives_above, double all_negatives, double all_positives, bint is_first, int64_t next_negatives,
    int64_t next_positives, double* thresholds, double* x, double* y, Py_ssize_t place, Py_ssize_t direction
) noexcept nogil:
    """The same, compiled for every kind: the walk is the inner loop."""
    if kind == _CORNERS:
        return walk[key_t](
            negatives, i, positives, j, _CORNERS, negatives_above, positives_above, all_negatives, all_positives,
            is_first, next_negatives, next_positives, thresholds, x, y, place, direction)
    if kind == _PRECISION_RECALL:
        return walk[key_t](
            negatives, i, positives, j, _PRECISION_RECALL, negatives_above, positives_above, all_negatives,
            all_positives, is_first, next_negatives, next_positives, thresholds, x, y, place, direction)
    if kind == _ERROR_RATES:
        return walk[key_t](
            negatives, i, positives, j, _ERROR_RATES, negatives_above, positives_above, all_negatives, all_positives,
            is_first, next_negatives, next_positives, thresholds, x, y, place, direction)
    return walk[key_t](
        negatives, i, positives, j, _COUNTS, negatives_above, positives_above, all_negatives, all_positives, is_first,
        next_negatives, next_positives, thresholds, x, y, place, direction)


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
