"""Whole calls on columns so short that an array more would cost as much as the work.

Arrays are taken as they come and judged by their buffers, which costs a tenth of a typed memoryview. Where anything is
unusual (a type, a layout, a label, a bad probability) the answer is None, and the caller goes the long way: its loops
are the same (lossterms.pxd) and it has the texts of the errors. Output arrays are the caller's.
"""

from cpython.buffer cimport PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memset

from fastmetrics._kernels.lossterms cimport (
    BY_EQUAL_EDGES, BY_FLOOR, add_probabilities, find_bin, log_terms, squared_errors,
)
from fastmetrics._kernels.shortcolumns cimport Short, decode, letter_of, open_short, open_view, release
from fastmetrics._kernels.superaccumulator cimport BASE_EXPONENT, CHUNK, N_LIMBS, STATE_SIZE, add_value, normalise
from fastmetrics._kernels.wholenumbers cimport make_absolute, mean_of

cdef enum:
    SHORT_BINS = 64             # their states lie on the stack
    VALUE_ONE = BASE_EXPONENT >> 5  # the limb of 1.0, whose place is a multiple of 32
    SUM_LOGARITHMS = 0
    SUM_SQUARES = 1
    SUM_PROBABILITIES = 2

cdef double MOST_WEIGHT = 1e300  # as columns.pyx has it

LOGARITHMS = SUM_LOGARITHMS
SQUARES = SUM_SQUARES
PROBABILITIES = SUM_PROBABILITIES
MOST_BINS = SHORT_BINS


cdef struct Sums:
    int64_t n_positive
    int64_t terms[STATE_SIZE]
    int64_t total[STATE_SIZE]
    int64_t positive[STATE_SIZE]


cdef struct Weighed:
    Short columns
    Py_buffer weights
    bint weighted               # else there are no weights, and no buffer


cdef inline bint open_weighed(object y_true, object y_prob, object weights, Weighed* rows) except -1:
    """Columns and plain float64 weights, or None, to be released after a 1; 0 where one is unusual."""
    rows.weighted = 0
    if not open_short(y_true, y_prob, &rows.columns):
        return 0
    if weights is None:
        return 1
    if open_view(weights, &rows.weights):
        rows.weighted = 1
        if letter_of(&rows.weights) == c"d" and rows.weights.shape[0] == rows.columns.rows:
            return 1
    release_weighed(rows)
    return 0


cdef inline void release_weighed(Weighed* rows) noexcept:
    release(&rows.columns)
    if rows.weighted:
        PyBuffer_Release(&rows.weights)


cdef bint add_weights(const double* weights, const uint8_t* labels, Py_ssize_t n, Sums* sums) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if not 0.0 <= weights[i] <= MOST_WEIGHT:
            return 0
        add_value(sums.total, weights[i])
        if labels[i]:
            add_value(sums.positive, weights[i])
    return 1


cdef bint sum_short(Weighed* rows, int terms, Sums* sums) noexcept nogil:
    cdef Short* columns = &rows.columns
    cdef uint8_t labels[CHUNK]
    cdef const double* doubles = <const double*>columns.scores.buf
    cdef const float* floats = <const float*>columns.scores.buf
    cdef const double* weights = NULL
    cdef bint double_wide = columns.scores.itemsize == 8
    cdef int64_t* state = sums.terms
    cdef int64_t ignored = 0
    cdef int64_t problem = 0
    cdef int seen = 0
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, n
    while start < columns.rows:
        n = columns.rows - start if columns.rows - start < CHUNK else CHUNK
        if not decode(columns, start, n, labels, &seen):
            return 0
        for i in range(n):
            sums.n_positive += labels[i]
        if rows.weighted:
            weights = <const double*>rows.weights.buf + start
            if not add_weights(weights, labels, n, sums):
                return 0
        if terms == SUM_LOGARITHMS:
            if double_wide:
                log_terms(labels, doubles + start, weights, n, 2.0 ** -52, 0.0, state, &ignored, &problem)
            else:
                log_terms(labels, floats + start, weights, n, 2.0 ** -23, 0.0, state, &ignored, &problem)
        elif terms == SUM_SQUARES:
            if double_wide:
                squared_errors(labels, doubles + start, weights, n, 0.0, state, &problem)
            else:
                squared_errors(labels, floats + start, weights, n, 0.0, state, &problem)
        elif double_wide:
            add_probabilities(doubles + start, weights, n, 0.0, state, &problem)
        else:
            add_probabilities(floats + start, weights, n, 0.0, state, &problem)
        if problem:
            return 0
        start += n
    normalise(sums.total)
    normalise(sums.positive)
    return 1


cdef inline void write_digits(const int64_t* state, uint8_t* digits) noexcept nogil:
    cdef int i, part
    for i in range(N_LIMBS):
        for part in range(4):
            digits[4 * i + part] = <uint8_t>(state[i] >> (8 * part))


cdef object whole_number(const int64_t* state):
    """A normalised state that is not negative as a Python integer: the sum times 2**BASE_EXPONENT."""
    cdef uint8_t digits[4 * N_LIMBS]
    write_digits(state, digits)
    return int.from_bytes((<char*>digits)[:4 * N_LIMBS], "little")


def sum_terms(object y_true, object y_prob, object weights, int terms):
    """The LOGARITHMS, SQUARES or PROBABILITIES of plain columns, summed; None where a column is not plain.

    (rows, positive rows, their weight, the weight of the positive ones, the sum), the last three times
    2**BASE_EXPONENT; without weights every row weighs 1. Plain weights are float64. The clip of the logarithms is the
    machine epsilon of the probabilities' type.
    """
    cdef Weighed rows
    cdef Sums sums
    cdef bint good
    if not open_weighed(y_true, y_prob, weights, &rows):
        return None
    memset(&sums, 0, sizeof(Sums))
    with nogil:
        good = sum_short(&rows, terms, &sums)
    release_weighed(&rows)
    if not good:
        return None
    total = whole_number(sums.terms)
    if not rows.weighted:
        return (
            rows.columns.rows, sums.n_positive, (<object>rows.columns.rows) << BASE_EXPONENT,
            (<object>sums.n_positive) << BASE_EXPONENT, total,
        )
    return rows.columns.rows, sums.n_positive, whole_number(sums.total), whole_number(sums.positive), total


cdef bint bin_short(
    Short* columns, Py_ssize_t n_bins, int rule, int64_t* counts, int64_t* states
) noexcept nogil:
    cdef uint8_t labels[CHUNK]
    cdef const double* doubles = <const double*>columns.scores.buf
    cdef const float* floats = <const float*>columns.scores.buf
    cdef bint double_wide = columns.scores.itemsize == 8
    cdef int seen = 0
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, n, bin_index
    cdef double p
    while start < columns.rows:
        n = columns.rows - start if columns.rows - start < CHUNK else CHUNK
        if not decode(columns, start, n, labels, &seen):
            return 0
        for i in range(n):
            p = doubles[start + i] if double_wide else floats[start + i]
            if not (0.0 <= p <= 1.0):
                return 0
            bin_index = find_bin(p, n_bins, rule, NULL)
            counts[2 * bin_index] += 1
            counts[2 * bin_index + 1] += labels[i]
            add_value(states + bin_index * STATE_SIZE, p)
        start += n
    for bin_index in range(n_bins):
        normalise(states + bin_index * STATE_SIZE)
    return 1


def calibration_curve(object y_true, object y_prob, int64_t n_bins, object prob_true, object prob_pred):
    """The number of bins with rows, of the rule EQUAL, and the mean label and mean p of each; None as sum_terms.

    The arrays are float64 and have room for n_bins.
    """
    cdef Short columns
    cdef Py_buffer shares
    cdef Py_buffer means
    cdef int64_t counts[2 * SHORT_BINS]
    cdef int64_t states[SHORT_BINS * STATE_SIZE]
    cdef Py_ssize_t bin_index
    cdef Py_ssize_t used = 0
    cdef bint good
    if n_bins > SHORT_BINS or not open_short(y_true, y_prob, &columns):
        return None
    memset(counts, 0, 2 * n_bins * sizeof(int64_t))
    memset(states, 0, n_bins * STATE_SIZE * sizeof(int64_t))
    with nogil:
        good = bin_short(&columns, n_bins, BY_EQUAL_EDGES, counts, states)
    release(&columns)
    if not good:
        return None
    PyObject_GetBuffer(prob_true, &shares, PyBUF_STRIDES | PyBUF_WRITABLE)
    PyObject_GetBuffer(prob_pred, &means, PyBUF_STRIDES | PyBUF_WRITABLE)
    for bin_index in range(n_bins):
        if counts[2 * bin_index]:
            (<double*>shares.buf)[used] = <double>counts[2 * bin_index + 1] / <double>counts[2 * bin_index]
            (<double*>means.buf)[used] = mean_of(states + bin_index * STATE_SIZE, <uint64_t>counts[2 * bin_index])
            used += 1
    PyBuffer_Release(&shares)
    PyBuffer_Release(&means)
    return used


def calibration_error(object y_true, object y_prob, int64_t n_bins):
    """The sum over bins, of the rule FLOOR, of |sum of p - positives|, over the number of rows; None as sum_terms."""
    cdef Short columns
    cdef int64_t counts[2 * SHORT_BINS]
    cdef int64_t states[SHORT_BINS * STATE_SIZE]
    cdef int64_t* state
    cdef Py_ssize_t bin_index
    cdef int i
    cdef bint good
    if n_bins > SHORT_BINS or not open_short(y_true, y_prob, &columns):
        return None
    memset(counts, 0, 2 * n_bins * sizeof(int64_t))
    memset(states, 0, n_bins * STATE_SIZE * sizeof(int64_t))
    with nogil:
        good = bin_short(&columns, n_bins, BY_FLOOR, counts, states)
        for bin_index in range(n_bins):
            state = states + bin_index * STATE_SIZE
            state[VALUE_ONE] -= counts[2 * bin_index + 1]
            normalise(state)
            make_absolute(state)
            if bin_index:
                for i in range(N_LIMBS):
                    states[i] += state[i]
        normalise(states)
    release(&columns)
    return mean_of(states, <uint64_t>columns.rows) if good else None
