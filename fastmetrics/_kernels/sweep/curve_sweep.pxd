"""The sweep over two sorted classes that all threshold curves share.

`kind` decides which two float64 numbers are written for a point:

POINTS_OF_COUNTS              false positives, true positives
POINTS_AT_CORNERS             the same, only for points where the curve turns. A point is left out if the tie that leads
                              to it has as many negatives and as many positives as the next tie
POINTS_OF_PRECISION_RECALL    precision, recall
POINTS_OF_ERROR_RATES         false positive rate, false negative rate

Counts are below 2**53 and therefore exact. Every rate is rounded once.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fastmetrics._kernels.sweep.rank_table cimport key_t

cdef enum:
    POINTS_OF_COUNTS = 0
    POINTS_AT_CORNERS = 1
    POINTS_OF_PRECISION_RECALL = 2
    POINTS_OF_ERROR_RATES = 3


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
    if kind == POINTS_OF_PRECISION_RECALL:
        x[0] = tps / (tps + fps)
        y[0] = tps / all_positives
    elif kind == POINTS_OF_ERROR_RATES:
        x[0] = fps / all_negatives
        y[0] = (all_positives - tps) / all_positives
    else:
        x[0] = fps
        y[0] = tps


cdef inline Py_ssize_t sweep_curve(
    const key_t* negatives, Py_ssize_t i, const key_t* positives, Py_ssize_t j, int kind, int64_t negatives_above,
    int64_t positives_above, double all_negatives, double all_positives, bint is_first, int64_t next_negatives,
    int64_t next_positives, double* thresholds, double* x, double* y, Py_ssize_t index, Py_ssize_t direction
) noexcept nogil:
    """Sweep i negatives and j positives, both ascending, from the greatest score down; return the number of points.

    Points go to index, index + direction, and so on; nothing is written if thresholds is NULL. For corners, `is_first`
    is true if no row is above the range, and next_* are the rows at the first score below it, both 0 if there is none.
    """
    cdef double fps = negatives_above
    cdef double tps = positives_above
    cdef key_t negative, positive, key
    cdef key_t last_key = 0
    cdef int64_t n, p
    cdef int64_t last_n = -1
    cdef int64_t last_p = -1
    cdef bint keep_last = is_first
    cdef Py_ssize_t written = 0
    while i > 0 or j > 0:
        # No branch depends on the class of the next row: it is as good as random.
        negative = negatives[i - 1] if i > 0 else 0
        positive = positives[j - 1] if j > 0 else 0
        key = negative if negative > positive else positive
        n = (i > 0) & (negative == key)
        p = (j > 0) & (positive == key)
        i -= n
        j -= p
        while i > 0 and negatives[i - 1] == key:
            n += 1
            i -= 1
        while j > 0 and positives[j - 1] == key:
            p += 1
            j -= 1
        if kind == POINTS_AT_CORNERS:
            # Keep the previous point if the tie that led to it had other counts than this tie.
            if last_n >= 0 and (keep_last or n != last_n or p != last_p):
                if thresholds != NULL:
                    thresholds[index] = score_of_u32(last_key) if key_t is uint32_t else score_of_u64(last_key)
                    write_point(kind, fps, tps, all_negatives, all_positives, x + index, y + index)
                index += direction
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
                thresholds[index] = score_of_u32(key) if key_t is uint32_t else score_of_u64(key)
                write_point(kind, fps, tps, all_negatives, all_positives, x + index, y + index)
            index += direction
            written += 1
    if kind == POINTS_AT_CORNERS and last_n >= 0:
        if keep_last or (next_negatives == 0 and next_positives == 0) or (
            next_negatives != last_n or next_positives != last_p
        ):
            if thresholds != NULL:
                thresholds[index] = score_of_u32(last_key) if key_t is uint32_t else score_of_u64(last_key)
                write_point(kind, fps, tps, all_negatives, all_positives, x + index, y + index)
            written += 1
    return written
