"""Curves and their summaries for short columns, where creating one more array would cost as much as the work.

One call reads labels and scores from their buffers (short_columns.pxd), sorts both classes and sweeps down the scores.
If anything is unusual, or a class has no rows, the result is None and the caller takes the general path. Both paths
return the same numbers: counts are integers, rates are divided in the same way (curve_sweep.pxd), and sums are exact.

Bounds: with at most MAX_ROWS = 2**10 rows, twice the pairs are below 2**19, and the products of the equal error rate
are below 2**40. They are exact as float64, so a quotient of two is rounded once. Sums of precisions are fixed-point
numbers of 128 bits with a last bit of 2**-64. A term is at least 2**-10, so its own last bit is at least 2**-62.
"""

from cpython.buffer cimport PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport INFINITY, ldexp
from libc.stdint cimport int64_t, uint8_t, uint64_t

from fastmetrics._kernels.columns.ordered_bits cimport sort_key_f64
from fastmetrics._kernels.sweep.curve_sweep cimport (
    POINTS_AT_CORNERS, POINTS_OF_COUNTS, POINTS_OF_ERROR_RATES, POINTS_OF_PRECISION_RECALL, score_of_u64, sweep_curve,
)
from fastmetrics._kernels.sweep.rank_table cimport sort_keys
from fastmetrics._kernels.columns.short_columns cimport ShortColumns, decode_block, open_short_columns, release_columns

cdef enum:
    ROW_LIMIT = 1 << 10          # rows; their keys lie on the stack
    METHOD_INTERPOLATE = 0
    METHOD_MEAN = 1
    METHOD_MAX = 2

MAX_ROWS = ROW_LIMIT
INTERPOLATE = METHOD_INTERPOLATE
MEAN = METHOD_MEAN
MAX = METHOD_MAX


cdef struct SortedClasses:
    uint64_t keys[2 * ROW_LIMIT]     # negatives, then positives, each ascending; the second half is scratch
    Py_ssize_t negatives
    Py_ssize_t positives


cdef bint sort_classes(ShortColumns* columns, SortedClasses* rows) noexcept nogil:
    """Sort both classes. Returns false if the general path is needed. float32 scores are widened to float64."""
    cdef uint8_t labels[ROW_LIMIT]
    cdef const double* doubles = <const double*>columns.scores.buf
    cdef const float* floats = <const float*>columns.scores.buf
    cdef bint double_wide = columns.scores.itemsize == 8
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t last = columns.rows
    cdef Py_ssize_t i
    cdef uint64_t key
    cdef double score
    cdef int seen = 0
    cdef int not_finite = 0
    if not decode_block(columns, 0, columns.rows, labels, &seen):
        return 0
    for i in range(columns.rows):
        score = doubles[i] if double_wide else <double>floats[i]
        not_finite |= score - score != 0  # infinity minus infinity is NaN
        key = sort_key_f64(score)
        if labels[i]:
            last -= 1
            rows.keys[last] = key
        else:
            rows.keys[first] = key
            first += 1
    rows.negatives = first
    rows.positives = columns.rows - first
    if not_finite or rows.negatives == 0 or rows.positives == 0:
        return 0
    sort_keys(rows.keys, rows.negatives, rows.keys + ROW_LIMIT)
    sort_keys(rows.keys + first, rows.positives, rows.keys + ROW_LIMIT)
    return 1


cdef bint load_sorted_classes(object y_true, object y_score, SortedClasses* rows) except -1:
    cdef ShortColumns columns
    cdef bint is_sorted
    if not open_short_columns(y_true, y_score, &columns):
        return 0
    with nogil:
        is_sorted = columns.rows <= ROW_LIMIT and sort_classes(&columns, rows)
    release_columns(&columns)
    return is_sorted


cdef struct Tie:
    Py_ssize_t i                # negatives and positives below the score
    Py_ssize_t j
    int64_t tied_negatives      # rows with the score
    int64_t tied_positives
    uint64_t key


cdef inline bint next_tie(SortedClasses* rows, Tie* tie) noexcept nogil:
    """Move down to the next tie; return false if there is none."""
    cdef uint64_t* negatives = rows.keys
    cdef uint64_t* positives = rows.keys + rows.negatives
    if tie.i == 0 and tie.j == 0:
        return 0
    if tie.j == 0 or (tie.i > 0 and negatives[tie.i - 1] > positives[tie.j - 1]):
        tie.key = negatives[tie.i - 1]
    else:
        tie.key = positives[tie.j - 1]
    tie.tied_negatives = 0
    tie.tied_positives = 0
    while tie.i > 0 and negatives[tie.i - 1] == tie.key:
        tie.i -= 1
        tie.tied_negatives += 1
    while tie.j > 0 and positives[tie.j - 1] == tie.key:
        tie.j -= 1
        tie.tied_positives += 1
    return 1


cdef inline Tie first_tie(SortedClasses* rows) noexcept nogil:
    cdef Tie tie
    tie.i = rows.negatives
    tie.j = rows.positives
    tie.tied_negatives = tie.tied_positives = 0
    tie.key = 0
    return tie


def roc_auc(object y_true, object y_score) -> float | None:
    """The area under the ROC curve, or None."""
    cdef SortedClasses rows
    cdef Tie tie
    cdef int64_t wins = 0
    if not load_sorted_classes(y_true, y_score, &rows):
        return None
    with nogil:
        tie = first_tie(&rows)
        while next_tie(&rows, &tie):
            wins += tie.tied_positives * (2 * <int64_t>tie.i + tie.tied_negatives)
    return <double>wins / <double>(2 * rows.negatives * rows.positives)


def ks_distance(object y_true, object y_score) -> float | None:
    """The Kolmogorov-Smirnov distance, or None."""
    cdef SortedClasses rows
    cdef Tie tie
    cdef int64_t difference = 0
    cdef int64_t greatest = 0
    if not load_sorted_classes(y_true, y_score, &rows):
        return None
    with nogil:
        tie = first_tie(&rows)
        while next_tie(&rows, &tie):
            difference += tie.tied_positives * rows.negatives - tie.tied_negatives * rows.positives
            greatest = difference if difference > greatest else -difference if -difference > greatest else greatest
    return <double>greatest / <double>(rows.negatives * rows.positives)


def sum_precisions(object y_true, object y_score) -> tuple[int, int, int] | None:
    """Sum the precision at every positive's score: (positives, whole part of the sum, 64 bits below it), or None.

    A term is the number of positives at one score times the precision there. It is rounded as sweep_precisions of
    threshold_sweep.pyx rounds it.
    """
    cdef SortedClasses rows
    cdef Tie tie
    cdef double negatives = 0
    cdef double positives = 0
    cdef double term, below
    cdef uint64_t whole = 0
    cdef uint64_t fraction_bits = 0
    cdef uint64_t added
    if not load_sorted_classes(y_true, y_score, &rows):
        return None
    with nogil:
        tie = first_tie(&rows)
        while next_tie(&rows, &tie):
            positives += tie.tied_positives
            negatives += tie.tied_negatives
            if tie.tied_positives:
                term = tie.tied_positives * (positives / (positives + negatives))
                added = <uint64_t>term
                below = term - <double>added
                whole += added
                added = <uint64_t>ldexp(below, 64)
                fraction_bits += added
                whole += fraction_bits < added
    return rows.positives, whole, fraction_bits


cdef inline int64_t scaled_rate_difference(SortedClasses* rows, int64_t fps, int64_t tps) noexcept nogil:
    """(FPR - FNR) * negatives * positives."""
    return fps * rows.positives + (tps - rows.positives) * rows.negatives


def equal_error_rate(object y_true, object y_score, int method) -> tuple[float, float] | None:
    """(rate, threshold) where the error rates cross, or None. The method is INTERPOLATE, MEAN or MAX."""
    cdef SortedClasses rows
    cdef Tie tie
    cdef int64_t fps = 0
    cdef int64_t tps = 0
    cdef int64_t fps_before = 0
    cdef int64_t tps_before = 0
    cdef int64_t difference_before, difference_after, fpr, fnr, product
    cdef double high = INFINITY
    cdef double low = INFINITY
    cdef double fraction, rate, threshold
    if not load_sorted_classes(y_true, y_score, &rows):
        return None
    with nogil:
        tie = first_tie(&rows)
        while next_tie(&rows, &tie):
            fps_before = fps
            tps_before = tps
            high = low
            fps += tie.tied_negatives
            tps += tie.tied_positives
            low = score_of_u64(tie.key)
            if scaled_rate_difference(&rows, fps, tps) >= 0:
                break
        difference_before = -scaled_rate_difference(&rows, fps_before, tps_before)
        difference_after = scaled_rate_difference(&rows, fps, tps)
        product = rows.negatives * rows.positives
        if method == METHOD_INTERPOLATE:
            rate = <double>(fps_before * difference_after + fps * difference_before) / <double>(
                rows.negatives * (difference_before + difference_after))
            fraction = <double>difference_before / <double>(difference_before + difference_after)
            threshold = threshold_between(high, low, fraction)
        else:
            if difference_before <= difference_after:
                fps = fps_before
                tps = tps_before
                low = high
            fpr = fps * rows.positives
            fnr = (rows.positives - tps) * rows.negatives
            if method == METHOD_MEAN:
                rate = <double>(fpr + fnr) / <double>(2 * product)
            else:
                rate = <double>(fpr if fpr > fnr else fnr) / <double>product
            threshold = low
    return rate, threshold


cdef inline double threshold_between(double high, double low, double fraction) noexcept nogil:
    """The same as threshold_between of the metric's module."""
    cdef double between
    if high - high != 0:
        return low
    if fraction == 0.0 or fraction == 1.0 or low - low != 0:
        return low if fraction == 1.0 else high
    between = high + fraction * (low - high)
    between = between if between > low else low
    return between if between < high else high


cdef double* curve_buffer(object out, Py_ssize_t points, Py_buffer* view) except NULL:
    """The memory of float64[3, points]."""
    PyObject_GetBuffer(out, view, PyBUF_STRIDES | PyBUF_WRITABLE)
    if view.itemsize != 8 or view.len < 3 * 8 * points:
        PyBuffer_Release(view)
        raise ValueError("the array for a curve is too small")
    return <double*>view.buf


def roc_points(object y_true, object y_score, bint corners, object out) -> int | None:
    """Write the ROC curve from (0, 0) on, all points or the corners; return the number of points, or None.

    out is float64[3, rows + 1]: thresholds, false positive rates, true positive rates.
    """
    cdef SortedClasses rows
    cdef Py_buffer view
    cdef double* thresholds
    cdef double* fpr
    cdef double* tpr
    cdef double negatives, positives
    cdef Py_ssize_t length, n, i
    if not load_sorted_classes(y_true, y_score, &rows):
        return None
    length = rows.negatives + rows.positives + 1
    thresholds = curve_buffer(out, length, &view)
    fpr = thresholds + length
    tpr = fpr + length
    negatives = rows.negatives
    positives = rows.positives
    with nogil:
        thresholds[0] = INFINITY
        fpr[0] = 0
        tpr[0] = 0
        n = 1 + sweep_curve(
            <const uint64_t*>rows.keys, rows.negatives, <const uint64_t*>rows.keys + rows.negatives, rows.positives,
            POINTS_AT_CORNERS if corners else POINTS_OF_COUNTS, 0, 0, negatives, positives, True, 0, 0, thresholds, fpr,
            tpr, 1, 1)
        for i in range(1, n):
            fpr[i] /= negatives
            tpr[i] /= positives
    PyBuffer_Release(&view)
    return n


def precision_recall_points(object y_true, object y_score, object out) -> int | None:
    """Write thresholds, precision and recall, ascending, to the end of out; return the index of the first, or None.

    out is float64[3, rows + 1]. The last point has no threshold.
    """
    cdef SortedClasses rows
    cdef Py_buffer view
    cdef double* thresholds
    cdef Py_ssize_t length, n
    if not load_sorted_classes(y_true, y_score, &rows):
        return None
    length = rows.negatives + rows.positives + 1
    thresholds = curve_buffer(out, length, &view)
    with nogil:
        n = write_ascending(&rows, POINTS_OF_PRECISION_RECALL, thresholds, length)
        thresholds[2 * length - 1] = 1.0
        thresholds[3 * length - 1] = 0.0
    PyBuffer_Release(&view)
    return length - 1 - n


cdef inline Py_ssize_t write_ascending(
    SortedClasses* rows, int kind, double* thresholds, Py_ssize_t length
) noexcept nogil:
    """Write the points of a curve, ascending, to the elements before the last; return the number of points."""
    return sweep_curve(
        <const uint64_t*>rows.keys, rows.negatives, <const uint64_t*>rows.keys + rows.negatives, rows.positives, kind,
        0, 0, <double>rows.negatives, <double>rows.positives, True, 0, 0, thresholds, thresholds + length,
        thresholds + 2 * length, length - 2, -1)


def det_points(object y_true, object y_score, object out) -> tuple[int, int] | None:
    """Write the detection error tradeoff curve; return (start, stop) of its points in out, or None.

    out is float64[3, rows + 1]: thresholds, false positive rates, false negative rates. The curve goes from the last
    point without false negatives to the first point without false positives. The point at an infinite threshold is
    used if there is no other.
    """
    cdef SortedClasses rows
    cdef Py_buffer view
    cdef double* thresholds
    cdef double* fpr
    cdef double* fnr
    cdef Py_ssize_t length, start, stop
    if not load_sorted_classes(y_true, y_score, &rows):
        return None
    length = rows.negatives + rows.positives + 1
    thresholds = curve_buffer(out, length, &view)
    fpr = thresholds + length
    fnr = fpr + length
    with nogil:
        start = length - 1 - write_ascending(&rows, POINTS_OF_ERROR_RATES, thresholds, length)
        stop = length - 1
        thresholds[stop] = INFINITY
        fpr[stop] = 0.0
        fnr[stop] = 1.0
        while fnr[start + 1] == 0.0:
            start += 1
        while stop > start and fpr[stop - 1] == 0.0:
            stop -= 1
    PyBuffer_Release(&view)
    return start, stop + 1
