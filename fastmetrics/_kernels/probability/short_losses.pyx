"""Whole calls on short columns, where one more array would cost as much as the work.

Arguments are checked by their buffers, which costs a tenth of a typed memoryview. If anything needs the general path (a
type, a layout, a label, a bad probability), the function returns None. The general path then runs the same loops
(loss_terms.pxd) or raises the error. The caller owns the output arrays.
"""

from cpython.buffer cimport PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memset

from fastmetrics._kernels.probability.loss_terms cimport (
    BY_EQUAL_EDGES, BY_FLOOR, add_probabilities, find_bin, log_terms, squared_errors,
)
from fastmetrics._kernels.columns.short_columns cimport (
    ShortColumns, decode_block, type_letter, open_short_columns, open_buffer, release_columns,
)
from fastmetrics._kernels.numeric.superaccumulator cimport (
    BASE_EXPONENT, CHUNK, N_LIMBS, STATE_SIZE, add_value, normalize,
)
from fastmetrics._kernels.numeric.whole_numbers cimport make_absolute, divide_by_count

cdef enum:
    SHORT_BINS = 64             # most bins; their states are on the stack
    VALUE_ONE = BASE_EXPONENT >> 5  # the limb of 1.0; its exponent is a multiple of 32
    SUM_LOGARITHMS = 0
    SUM_SQUARES = 1
    SUM_PROBABILITIES = 2
    TINY_BITS = 500  # a total weight below 2**-TINY_BITS needs the general path

cdef double MAX_WEIGHT = 1e300  # as in column_checks.pyx

LOGARITHMS = SUM_LOGARITHMS
SQUARES = SUM_SQUARES
PROBABILITIES = SUM_PROBABILITIES
MAX_BINS = SHORT_BINS


cdef struct Sums:
    int64_t n_positive
    int64_t terms[STATE_SIZE]
    int64_t total[STATE_SIZE]
    int64_t positive[STATE_SIZE]


cdef struct WeightedColumns:
    ShortColumns columns
    Py_buffer weights
    bint weighted               # otherwise there is no buffer of weights


cdef inline bint open_weighted_columns(object y_true, object y_proba, object weights, WeightedColumns* rows) except -1:
    """Open columns and weights (float64 or None). Return 0 if the general path is needed. The caller releases them."""
    rows.weighted = 0
    if not open_short_columns(y_true, y_proba, &rows.columns):
        return 0
    if weights is None:
        return 1
    if open_buffer(weights, &rows.weights):
        rows.weighted = 1
        if type_letter(&rows.weights) == c"d" and rows.weights.shape[0] == rows.columns.rows:
            return 1
    release_weighted_columns(rows)
    return 0


cdef inline void release_weighted_columns(WeightedColumns* rows) noexcept:
    release_columns(&rows.columns)
    if rows.weighted:
        PyBuffer_Release(&rows.weights)


cdef bint add_weights(const double* weights, const uint8_t* labels, Py_ssize_t n, Sums* sums) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if not 0.0 <= weights[i] <= MAX_WEIGHT:
            return 0
        add_value(sums.total, weights[i])
        if labels[i]:
            add_value(sums.positive, weights[i])
    return 1


cdef bint sum_short_columns(WeightedColumns* rows, int terms, Sums* sums) noexcept nogil:
    cdef ShortColumns* columns = &rows.columns
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
        if not decode_block(columns, start, n, labels, &seen):
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
    normalize(sums.total)
    normalize(sums.positive)
    return 1


cdef inline void write_digits(const int64_t* state, uint8_t* digits) noexcept nogil:
    cdef int i, byte
    for i in range(N_LIMBS):
        for byte in range(4):
            digits[4 * i + byte] = <uint8_t>(state[i] >> (8 * byte))


cdef object whole_number(const int64_t* state):
    """Convert a normalized state, not negative, to a Python integer: the sum times 2**BASE_EXPONENT."""
    cdef uint8_t digits[4 * N_LIMBS]
    write_digits(state, digits)
    return int.from_bytes((<char*>digits)[:4 * N_LIMBS], "little")


def sum_terms(object y_true, object y_proba, object weights, int terms) -> tuple[int, int, int, int, int] | None:
    """Sum the LOGARITHMS, SQUARES or PROBABILITIES of short columns, or return None.

    The result is (rows, positive rows, weight of all rows, weight of the positive rows, sum of terms). The last
    three are multiplied by 2**BASE_EXPONENT. Without weights every row weighs 1. Weights must be float64. Before the
    logarithm, probabilities are clipped at the machine epsilon of their type.
    """
    cdef WeightedColumns rows
    cdef Sums sums
    cdef bint good
    if not open_weighted_columns(y_true, y_proba, weights, &rows):
        return None
    memset(&sums, 0, sizeof(Sums))
    with nogil:
        good = sum_short_columns(&rows, terms, &sums)
    release_weighted_columns(&rows)
    if not good:
        return None
    total = whole_number(sums.terms)
    if not rows.weighted:
        return (
            rows.columns.rows, sums.n_positive, (<object>rows.columns.rows) << BASE_EXPONENT,
            (<object>sums.n_positive) << BASE_EXPONENT, total,
        )
    total_weight = whole_number(sums.total)
    if total_weight and total_weight.bit_length() < BASE_EXPONENT - TINY_BITS:
        return None  # products with tiny weights lose bits
    return rows.columns.rows, sums.n_positive, total_weight, whole_number(sums.positive), total


cdef bint bin_short_columns(
    ShortColumns* columns, Py_ssize_t n_bins, int rule, int64_t* counts, int64_t* states
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
        if not decode_block(columns, start, n, labels, &seen):
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
        normalize(states + bin_index * STATE_SIZE)
    return 1


def calibration_curve(object y_true, object y_prob, int64_t n_bins, object prob_true, object prob_pred) -> int | None:
    """Write the mean label and mean p of every bin with rows (rule EQUAL). Return the number of such bins.

    Return None if the general path is needed. Both output arrays are float64 with at least n_bins values.
    """
    cdef ShortColumns columns
    cdef Py_buffer shares
    cdef Py_buffer means
    cdef int64_t counts[2 * SHORT_BINS]
    cdef int64_t states[SHORT_BINS * STATE_SIZE]
    cdef Py_ssize_t bin_index
    cdef Py_ssize_t used = 0
    cdef bint good
    if n_bins > SHORT_BINS or not open_short_columns(y_true, y_prob, &columns):
        return None
    memset(counts, 0, 2 * n_bins * sizeof(int64_t))
    memset(states, 0, n_bins * STATE_SIZE * sizeof(int64_t))
    with nogil:
        good = bin_short_columns(&columns, n_bins, BY_EQUAL_EDGES, counts, states)
    release_columns(&columns)
    if not good:
        return None
    PyObject_GetBuffer(prob_true, &shares, PyBUF_STRIDES | PyBUF_WRITABLE)
    PyObject_GetBuffer(prob_pred, &means, PyBUF_STRIDES | PyBUF_WRITABLE)
    for bin_index in range(n_bins):
        if counts[2 * bin_index]:
            (<double*>shares.buf)[used] = <double>counts[2 * bin_index + 1] / <double>counts[2 * bin_index]
            (<double*>means.buf)[used] = divide_by_count(
                states + bin_index * STATE_SIZE, <uint64_t>counts[2 * bin_index])
            used += 1
    PyBuffer_Release(&shares)
    PyBuffer_Release(&means)
    return used


def calibration_error(object y_true, object y_proba, int64_t n_bins) -> float | None:
    """Return the sum over bins (rule FLOOR) of |sum of p - positives|, by the rows; None as sum_terms."""
    cdef ShortColumns columns
    cdef int64_t counts[2 * SHORT_BINS]
    cdef int64_t states[SHORT_BINS * STATE_SIZE]
    cdef int64_t* state
    cdef Py_ssize_t bin_index
    cdef int i
    cdef bint good
    if n_bins > SHORT_BINS or not open_short_columns(y_true, y_proba, &columns):
        return None
    memset(counts, 0, 2 * n_bins * sizeof(int64_t))
    memset(states, 0, n_bins * STATE_SIZE * sizeof(int64_t))
    with nogil:
        good = bin_short_columns(&columns, n_bins, BY_FLOOR, counts, states)
        for bin_index in range(n_bins):
            state = states + bin_index * STATE_SIZE
            state[VALUE_ONE] -= counts[2 * bin_index + 1]
            normalize(state)
            make_absolute(state)
            if bin_index:
                for i in range(N_LIMBS):
                    states[i] += state[i]
        normalize(states)
    release_columns(&columns)
    return divide_by_count(states, <uint64_t>columns.rows) if good else None
