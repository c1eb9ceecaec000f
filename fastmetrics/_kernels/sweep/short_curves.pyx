"""Areas, distances and curves of columns so short that an array more would cost as much as the work.

One call takes labels and scores as they come (shortcolumns.pxd), sorts both classes and walks down the scores. Where
anything is unusual, or a class has no row, the answer is None, and the caller goes the long way: its numbers are the
same, because counts are whole numbers, rates are divided in the same way (pointwalk.pxd) and sums are exact.

Bounds: with at most MOST_ROWS = 2**10 rows twice the pairs are below 2**19 and what the equal error rate multiplies is
below 2**40: exact as float64, so a quotient of two is rounded once. Sums of precisions are fixed-point numbers of 128
bits, whose last bit is 2**-64: a term is at least 2**-10, so its own last bit is 2**-62 at least.
"""

from cpython.buffer cimport PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport INFINITY, ldexp
from libc.stdint cimport int64_t, uint8_t, uint64_t

from fastmetrics._kernels.ordered cimport ordered_f64
from fastmetrics._kernels.pointwalk cimport (
    OF_CORNERS, OF_COUNTS, OF_ERROR_RATES, OF_PRECISION_RECALL, score_of_u64, walk_kind,
)
from fastmetrics._kernels.ranktable cimport sort_keys
from fastmetrics._kernels.shortcolumns cimport Short, decode, open_short, release

cdef enum:
    MOST = 1 << 10          # rows; their keys lie on the stack
    BY_LINE = 0
    BY_MEAN = 1
    BY_MAXIMUM = 2

MOST_ROWS = MOST
INTERPOLATE = BY_LINE
MEAN = BY_MEAN
MAX = BY_MAXIMUM


cdef struct Sorted:
    uint64_t keys[2 * MOST]     # negatives, then positives, each ascending; the second half is scratch
    Py_ssize_t negatives
    Py_ssize_t positives


cdef bint sort_classes(Short* columns, Sorted* rows) noexcept nogil:
    """False where the long way is needed. float32 scores are sorted as the float64 they are equal to."""
    cdef uint8_t labels[MOST]
    cdef const double* doubles = <const double*>columns.scores.buf
    cdef const float* floats = <const float*>columns.scores.buf
    cdef bint double_wide = columns.scores.itemsize == 8
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t last = columns.rows
    cdef Py_ssize_t i
    cdef uint64_t key
    cdef double score
    cdef int seen = 0
    cdef int nan = 0
    if not decode(columns, 0, columns.rows, labels, &seen):
        return 0
    for i in range(columns.rows):
        score = doubles[i] if double_wide else <double>floats[i]
        nan |= score != score
        key = ordered_f64(score)
        if labels[i]:
            last -= 1
            rows.keys[last] = key
        else:
            rows.keys[first] = key
            first += 1
    rows.negatives = first
    rows.positives = columns.rows - first
    if nan or rows.negatives == 0 or rows.positives == 0:
        return 0
    sort_keys(rows.keys, rows.negatives, rows.keys + MOST)
    sort_keys(rows.keys + first, rows.positives, rows.keys + MOST)
    return 1


cdef bint read_rows(object y_true, object y_score, Sorted* rows) except -1:
    cdef Short columns
    cdef bint good
    if not open_short(y_true, y_score, &columns):
        return 0
    with nogil:
        good = columns.rows <= MOST and sort_classes(&columns, rows)
    release(&columns)
    return good


cdef struct Tie:
    Py_ssize_t i                # negatives and positives that are left below the score
    Py_ssize_t j
    int64_t own_negatives       # those that have it
    int64_t own_positives
    uint64_t key


cdef inline bint next_tie(Sorted* rows, Tie* tie) noexcept nogil:
    """One step down the scores; false where there is none."""
    cdef uint64_t* negatives = rows.keys
    cdef uint64_t* positives = rows.keys + rows.negatives
    if tie.i == 0 and tie.j == 0:
        return 0
    if tie.j == 0 or (tie.i > 0 and negatives[tie.i - 1] > positives[tie.j - 1]):
        tie.key = negatives[tie.i - 1]
    else:
        tie.key = positives[tie.j - 1]
    tie.own_negatives = 0
    tie.own_positives = 0
    while tie.i > 0 and negatives[tie.i - 1] == tie.key:
        tie.i -= 1
        tie.own_negatives += 1
    while tie.j > 0 and positives[tie.j - 1] == tie.key:
        tie.j -= 1
        tie.own_positives += 1
    return 1


cdef inline Tie first_tie(Sorted* rows) noexcept nogil:
    cdef Tie tie
    tie.i = rows.negatives
    tie.j = rows.positives
    tie.own_negatives = tie.own_positives = 0
    tie.key = 0
    return tie


def area(object y_true, object y_score):
    """The area under the ROC curve."""
    cdef Sorted rows
    cdef Tie tie
    cdef int64_t wins = 0
    if not read_rows(y_true, y_score, &rows):
        return None
    with nogil:
        tie = first_tie(&rows)
        while next_tie(&rows, &tie):
            wins += tie.own_positives * (2 * <int64_t>tie.i + tie.own_negatives)
    return <double>wins / <double>(2 * rows.negatives * rows.positives)


def distance(object y_true, object y_score):
    """The Kolmogorov-Smirnov distance."""
    cdef Sorted rows
    cdef Tie tie
    cdef int64_t lead = 0
    cdef int64_t greatest = 0
    if not read_rows(y_true, y_score, &rows):
        return None
    with nogil:
        tie = first_tie(&rows)
        while next_tie(&rows, &tie):
            lead += tie.own_positives * rows.negatives - tie.own_negatives * rows.positives
            greatest = lead if lead > greatest else -lead if -lead > greatest else greatest
    return <double>greatest / <double>(rows.negatives * rows.positives)


def precisions(object y_true, object y_score):
    """(positives, the sum over positives of the precision at their score): the sum's whole part and 64 bits below it.

    A term is the positives of one score times the precision there, rounded as steps.steps_precisions does it.
    """
    cdef Sorted rows
    cdef Tie tie
    cdef double negatives = 0
    cdef double positives = 0
    cdef double term, below
    cdef uint64_t whole = 0
    cdef uint64_t part = 0
    cdef uint64_t added
    if not read_rows(y_true, y_score, &rows):
        return None
    with nogil:
        tie = first_tie(&rows)
        while next_tie(&rows, &tie):
            positives += tie.own_positives
            negatives += tie.own_negatives
            if tie.own_positives:
                term = tie.own_positives * (positives / (positives + negatives))
                added = <uint64_t>term
                below = term - <double>added
                whole += added
                added = <uint64_t>ldexp(below, 64)
                part += added
                whole += part < added
    return rows.positives, whole, part


cdef inline int64_t lead_of(Sorted* rows, int64_t fps, int64_t tps) noexcept nogil:
    """(FPR - FNR) * negatives * positives."""
    return fps * rows.positives + (tps - rows.positives) * rows.negatives


def equal_error(object y_true, object y_score, int method):
    """(rate, threshold) by the INTERPOLATE, MEAN or MAX of the points around the crossing of the rates."""
    cdef Sorted rows
    cdef Tie tie
    cdef int64_t fps = 0
    cdef int64_t tps = 0
    cdef int64_t fps_before = 0
    cdef int64_t tps_before = 0
    cdef int64_t lead_before, lead_after, fpr, fnr, product
    cdef double high = INFINITY
    cdef double low = INFINITY
    cdef double share, rate, threshold
    if not read_rows(y_true, y_score, &rows):
        return None
    with nogil:
        tie = first_tie(&rows)
        while next_tie(&rows, &tie):
            fps_before = fps
            tps_before = tps
            high = low
            fps += tie.own_negatives
            tps += tie.own_positives
            low = score_of_u64(tie.key)
            if lead_of(&rows, fps, tps) >= 0:
                break
        lead_before = -lead_of(&rows, fps_before, tps_before)
        lead_after = lead_of(&rows, fps, tps)
        product = rows.negatives * rows.positives
        if method == BY_LINE:
            rate = <double>(fps_before * lead_after + fps * lead_before) / <double>(
                rows.negatives * (lead_before + lead_after))
            share = <double>lead_before / <double>(lead_before + lead_after)
            threshold = threshold_between(high, low, share)
        else:
            if lead_before <= lead_after:
                fps = fps_before
                tps = tps_before
                low = high
            fpr = fps * rows.positives
            fnr = (rows.positives - tps) * rows.negatives
            if method == BY_MEAN:
                rate = <double>(fpr + fnr) / <double>(2 * product)
            else:
                rate = <double>(fpr if fpr > fnr else fnr) / <double>product
            threshold = low
    return rate, threshold


cdef inline double threshold_between(double high, double low, double share) noexcept nogil:
    """As error_rates.threshold_between."""
    cdef double between
    if high - high != 0:
        return low
    if share == 0.0 or share == 1.0 or low - low != 0:
        return low if share == 1.0 else high
    between = high + share * (low - high)
    between = between if between > low else low
    return between if between < high else high


cdef double* room_for(object room, Py_ssize_t points, Py_buffer* view) except NULL:
    """The memory of float64[3, points]."""
    PyObject_GetBuffer(room, view, PyBUF_STRIDES | PyBUF_WRITABLE)
    if view.itemsize != 8 or view.len < 3 * 8 * points:
        PyBuffer_Release(view)
        raise ValueError("the room for a curve is too small")
    return <double*>view.buf


def roc(object y_true, object y_score, bint corners, object room):
    """How many points the ROC curve has, from (0, 0) on, all or where it turns; room is float64[3, rows + 1].

    It gets thresholds, false and true positive rates.
    """
    cdef Sorted rows
    cdef Py_buffer view
    cdef double* thresholds
    cdef double* fpr
    cdef double* tpr
    cdef double negatives, positives
    cdef Py_ssize_t length, n, i
    if not read_rows(y_true, y_score, &rows):
        return None
    length = rows.negatives + rows.positives + 1
    thresholds = room_for(room, length, &view)
    fpr = thresholds + length
    tpr = fpr + length
    negatives = rows.negatives
    positives = rows.positives
    with nogil:
        thresholds[0] = INFINITY
        fpr[0] = 0
        tpr[0] = 0
        n = 1 + walk_kind(
            <const uint64_t*>rows.keys, rows.negatives, <const uint64_t*>rows.keys + rows.negatives, rows.positives,
            OF_CORNERS if corners else OF_COUNTS, 0, 0, negatives, positives, True, 0, 0, thresholds, fpr, tpr, 1, 1)
        for i in range(1, n):
            fpr[i] /= negatives
            tpr[i] /= positives
    PyBuffer_Release(&view)
    return n


def precision_recall(object y_true, object y_score, object room):
    """The place from which on room has thresholds, precision and recall, ascending; the last of it has no threshold.

    room is float64[3, rows + 1].
    """
    cdef Sorted rows
    cdef Py_buffer view
    cdef double* thresholds
    cdef Py_ssize_t length, n
    if not read_rows(y_true, y_score, &rows):
        return None
    length = rows.negatives + rows.positives + 1
    thresholds = room_for(room, length, &view)
    with nogil:
        n = write_ascending(&rows, OF_PRECISION_RECALL, thresholds, length)
        thresholds[2 * length - 1] = 1.0
        thresholds[3 * length - 1] = 0.0
    PyBuffer_Release(&view)
    return length - 1 - n


cdef inline Py_ssize_t write_ascending(
    Sorted* rows, int kind, double* thresholds, Py_ssize_t length
) noexcept nogil:
    """The points of a curve, ascending, before the last place of rows of that length; returns how many."""
    return walk_kind(
        <const uint64_t*>rows.keys, rows.negatives, <const uint64_t*>rows.keys + rows.negatives, rows.positives, kind,
        0, 0, <double>rows.negatives, <double>rows.positives, True, 0, 0, thresholds, thresholds + length,
        thresholds + 2 * length, length - 2, -1)


def tradeoff(object y_true, object y_score, object room):
    """(start, stop) of the detection error tradeoff in room: thresholds, false positive and false negative rates.

    room is float64[3, rows + 1]. From the last point without false negatives to the first without false positives,
    where the one at an infinite threshold counts if there is no other.
    """
    cdef Sorted rows
    cdef Py_buffer view
    cdef double* thresholds
    cdef double* fpr
    cdef double* fnr
    cdef Py_ssize_t length, start, stop
    if not read_rows(y_true, y_score, &rows):
        return None
    length = rows.negatives + rows.positives + 1
    thresholds = room_for(room, length, &view)
    fpr = thresholds + length
    fnr = fpr + length
    with nogil:
        start = length - 1 - write_ascending(&rows, OF_ERROR_RATES, thresholds, length)
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
