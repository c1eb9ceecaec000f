"""Loops over probabilities of two classes, for the additive statistics (losses.pyx) and short calls (short_losses.pyx).

Labels are uint8 0 or 1, probabilities float32 or float64. Terms are float64 whatever the input type. They are added to
exact states (superaccumulator.pxd), one chunk at a time. Every loop checks the probabilities in the same pass: it sets
`problem[0]` to 1 if one is outside [0, 1] or NaN. If `rate` is not 0, the model was trained on that share of the
negatives, and each probability p is first corrected to p / (p + (1 - p) / rate).
"""

from libc.stdint cimport int64_t, uint8_t

from fastmetrics._kernels.numeric.superaccumulator cimport (
    CHUNK, add_chunk, carry_after, negative_logs, normalize,
)
from fastmetrics._kernels.numeric.whole_numbers cimport add_integer

ctypedef fused value_t:
    float
    double


cdef extern from "probability/probability_loops.h":
    int64_t outcome_probabilities_f32 "fm_outcome_probabilities_f32"(
        const uint8_t* labels, const float* probabilities, Py_ssize_t n, double eps, double upper, double* out
    ) noexcept nogil
    int64_t outcome_probabilities_f64 "fm_outcome_probabilities_f64"(
        const uint8_t* labels, const double* probabilities, Py_ssize_t n, double eps, double upper, double* out
    ) noexcept nogil
    int squared_errors_f32 "fm_squared_errors_f32"(
        const uint8_t* labels, const float* probabilities, Py_ssize_t n, double* out
    ) noexcept nogil
    int squared_errors_f64 "fm_squared_errors_f64"(
        const uint8_t* labels, const double* probabilities, Py_ssize_t n, double* out
    ) noexcept nogil
    int squared_error_sums_f32 "fm_squared_error_sums_f32"(
        const uint8_t* labels, const float* probabilities, Py_ssize_t n, int64_t* totals
    ) noexcept nogil
    int squared_error_sums_f64 "fm_squared_error_sums_f64"(
        const uint8_t* labels, const double* probabilities, Py_ssize_t n, int64_t* totals
    ) noexcept nogil
    int load_f32 "fm_load_f32"(const float* probabilities, Py_ssize_t n, double* out) noexcept nogil
    int load_f64 "fm_load_f64"(const double* probabilities, Py_ssize_t n, double* out) noexcept nogil
    int correct_f32 "fm_correct_f32"(const float* probabilities, Py_ssize_t n, double rate, double* out) noexcept nogil
    int correct_f64 "fm_correct_f64"(const double* probabilities, Py_ssize_t n, double rate, double* out) noexcept nogil

cdef enum:
    FIRST_EXPONENT = -51        # units of the two totals of squared_error_sums, as powers of two
    SECOND_EXPONENT = -103
    BY_FLOOR = 0
    BY_EQUAL_EDGES = 1
    BY_GIVEN_EDGES = 2


cdef inline bint load_probabilities(
    const value_t* probabilities, Py_ssize_t n, double rate, double* out
) noexcept nogil:
    """Read probabilities as float64 and correct them if there is a rate. Return false if one is invalid."""
    if rate:
        if value_t is float:
            return correct_f32(probabilities, n, rate, out)
        else:
            return correct_f64(probabilities, n, rate, out)
    if value_t is float:
        return load_f32(probabilities, n, out)
    else:
        return load_f64(probabilities, n, out)


cdef inline void multiply_weights(double* chunk, const double* weights, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        chunk[i] *= weights[i]


cdef inline int64_t write_outcomes(
    const uint8_t* labels, const value_t* probabilities, Py_ssize_t n, double eps, double rate, double* scratch,
    double* out
) noexcept nogil:
    """Write the predicted probability of each row's label, clipped. Return the clipped rows; -1: one is invalid."""
    if rate:
        if not load_probabilities(probabilities, n, rate, scratch):
            return -1
        return outcome_probabilities_f64(labels, scratch, n, eps, 1.0 - eps, out)
    if value_t is float:
        return outcome_probabilities_f32(labels, probabilities, n, eps, 1.0 - eps, out)
    else:
        return outcome_probabilities_f64(labels, probabilities, n, eps, 1.0 - eps, out)


cdef inline void log_terms(
    const uint8_t* labels, const value_t* probabilities, const double* weights, Py_ssize_t n, double eps, double rate,
    int64_t* state, int64_t* n_clipped, int64_t* problem
) noexcept nogil:
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t length
    cdef int64_t clipped
    while start < n:
        length = n - start if n - start < CHUNK else CHUNK
        clipped = write_outcomes(labels + start, probabilities + start, length, eps, rate, rest, chunk)
        if clipped < 0:
            problem[0] = 1
            return
        n_clipped[0] += clipped
        negative_logs(chunk, length)
        if weights != NULL:
            multiply_weights(chunk, weights + start, length)
        add_chunk(state, chunk, length, rest)
        start += length
        carry_after(state, start)
    normalize(state)


cdef inline int split_square_sums(
    const uint8_t* labels, const value_t* probabilities, Py_ssize_t n, int64_t* totals
) noexcept nogil:
    if value_t is float:
        return squared_error_sums_f32(labels, probabilities, n, totals)
    else:
        return squared_error_sums_f64(labels, probabilities, n, totals)


cdef inline void squared_errors(
    const uint8_t* labels, const value_t* probabilities, const double* weights, Py_ssize_t n, double rate,
    int64_t* state, int64_t* problem
) noexcept nogil:
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef int64_t totals[2]
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t length
    cdef int remainder
    while start < n:
        length = n - start if n - start < CHUNK else CHUNK
        remainder = 1
        if weights == NULL and not rate:
            remainder = split_square_sums(labels + start, probabilities + start, length, totals)
        elif not load_probabilities(probabilities + start, length, rate, rest):
            remainder = -1
        if remainder < 0:
            problem[0] = 1
            return
        if remainder == 0:
            add_integer(state, totals[0], FIRST_EXPONENT)
            add_integer(state, totals[1], SECOND_EXPONENT)
        else:
            if weights == NULL and not rate:
                load_probabilities(probabilities + start, length, rate, rest)
            squared_errors_f64(labels + start, rest, length, chunk)
            if weights != NULL:
                multiply_weights(chunk, weights + start, length)
            add_chunk(state, chunk, length, rest)
        start += length
        carry_after(state, start)
    normalize(state)


cdef inline void add_probabilities(
    const value_t* probabilities, const double* weights, Py_ssize_t n, double rate, int64_t* state, int64_t* problem
) noexcept nogil:
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t length
    while start < n:
        length = n - start if n - start < CHUNK else CHUNK
        if not load_probabilities(probabilities + start, length, rate, chunk):
            problem[0] = 1
            return
        if weights != NULL:
            multiply_weights(chunk, weights + start, length)
        add_chunk(state, chunk, length, rest)
        start += length
        carry_after(state, start)
    normalize(state)


cdef inline Py_ssize_t find_bin(
    double p, Py_ssize_t n_bins, int rule, const double* edges
) noexcept nogil:
    """Return the bin of p.

    BY_FLOOR: floor(p * n_bins), with 1 in the last bin. The other rules: the first bin whose upper edge is not below p.
    Equal edges are k * (1 / n_bins). Given edges are the n_bins - 1 inner edges, ascending.
    """
    cdef Py_ssize_t low, high, middle
    cdef double step
    if rule == BY_GIVEN_EDGES:
        low = 0
        high = n_bins - 1
        while low < high:
            middle = (low + high) >> 1
            if edges[middle] < p:
                low = middle + 1
            else:
                high = middle
        return low
    low = <Py_ssize_t>(p * n_bins)
    if low >= n_bins:
        low = n_bins - 1
    if rule == BY_EQUAL_EDGES:
        step = 1.0 / n_bins
        while low > 0 and not low * step < p:
            low -= 1
        while low < n_bins - 1 and (low + 1) * step < p:
            low += 1
    return low
