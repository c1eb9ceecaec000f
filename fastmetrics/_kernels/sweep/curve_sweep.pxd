"""From two sorted classes to the points of a curve: the walk that all threshold curves share.

What is written for a point, as float64, depends on `kind`: COUNTS (false positives, true positives); CORNERS the same,
but only for points where the curve turns: not where the step to the point has as many negatives and as many positives
as the step after it; PRECISION_RECALL (precision, recall); ERROR_RATES (false positive rate, false negative rate).
Counts are below 2**53, so they are exact, and every rate is rounded once.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fastmetrics._kernels.ranktable cimport key_t

cdef enum:
    OF_COUNTS = 0
    OF_CORNERS = 1
    OF_PRECISION_RECALL = 2
    OF_ERROR_RATES = 3


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
    if kind == OF_PRECISION_RECALL:
        x[0] = tps / (tps + fps)
        y[0] = tps / all_positives
    elif kind == OF_ERROR_RATES:
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
        if kind == OF_CORNERS:
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
    if kind == OF_CORNERS and last_n >= 0:
        if keep_last or (next_negatives == 0 and next_positives == 0) or (
            next_negatives != last_n or next_positives != last_p
        ):
            if thresholds != NULL:
                thresholds[place] = score_of_u32(last_key) if key_t is uint32_t else score_of_u64(last_key)
                write_point(kind, fps, tps, all_negatives, all_positives, x + place, y + place)
            written += 1
    return written


cdef inline Py_ssize_t walk_kind(
    const key_t* negatives, Py_ssize_t i, const key_t* positives, Py_ssize_t j, int kind, int64_t negatives_above,
    int64_t positives_above, double all_negatives, double all_positives, bint is_first, int64_t next_negatives,
    int64_t next_positives, double* thresholds, double* x, double* y, Py_ssize_t place, Py_ssize_t direction
) noexcept nogil:
    """The same, compiled for every kind: the walk is the inner loop."""
    if kind == OF_CORNERS:
        return walk[key_t](
            negatives, i, positives, j, OF_CORNERS, negatives_above, positives_above, all_negatives, all_positives,
            is_first, next_negatives, next_positives, thresholds, x, y, place, direction)
    if kind == OF_PRECISION_RECALL:
        return walk[key_t](
            negatives, i, positives, j, OF_PRECISION_RECALL, negatives_above, positives_above, all_negatives,
            all_positives, is_first, next_negatives, next_positives, thresholds, x, y, place, direction)
    if kind == OF_ERROR_RATES:
        return walk[key_t](
            negatives, i, positives, j, OF_ERROR_RATES, negatives_above, positives_above, all_negatives, all_positives,
            is_first, next_negatives, next_positives, thresholds, x, y, place, direction)
    return walk[key_t](
        negatives, i, positives, j, OF_COUNTS, negatives_above, positives_above, all_negatives, all_positives, is_first,
        next_negatives, next_positives, thresholds, x, y, place, direction)
