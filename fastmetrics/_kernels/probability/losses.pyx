"""Exact sums of terms, one term per row: log loss, squared error, calibration bins, likelihood.

Labels are uint8 0 or 1, probabilities float32 or float64. Both are contiguous and of equal length. loss_terms.pxd
documents `rate` and `problem`. If `problem` is set, the caller searches for the row.
"""

from libc.math cimport HUGE_VAL
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy, memset

from fastmetrics._kernels.numeric.length_checks cimport need_length, need_offsets
from fastmetrics._kernels.probability.loss_terms cimport (
    BY_EQUAL_EDGES, BY_FLOOR, BY_GIVEN_EDGES, add_probabilities, find_bin, load_probabilities, log_terms,
    multiply_weights, squared_errors, squared_errors_f64, value_t, write_outcomes,
)
from fastmetrics._kernels.numeric.superaccumulator cimport (
    CHUNK, STATE_SIZE, add_chunk, add_value, carry_after, negative_logs, normalize,
)
from fastmetrics._kernels.numeric.whole_numbers cimport divide_by_count


cdef extern from "probability/probability_loops.h":
    int64_t clip_f32 "fm_clip_f32"(
        const float* values, Py_ssize_t n, double lower, double upper, double* out
    ) noexcept nogil
    int64_t clip_f64 "fm_clip_f64"(
        const double* values, Py_ssize_t n, double lower, double upper, double* out
    ) noexcept nogil

cdef double LEAST_NORMAL = 2.0 ** -1022
cdef double LOG_2 = 0.6931471805599453

cdef enum:
    LOG_LOSS
    SQUARED_ERROR
    PROBABILITY

LOG_LOSS_TERMS = LOG_LOSS
SQUARED_ERROR_TERMS = SQUARED_ERROR
PROBABILITY_TERMS = PROBABILITY

# How a probability finds its bin (loss_terms.pxd, find_bin).
FLOOR = BY_FLOOR
EQUAL = BY_EQUAL_EDGES
GIVEN = BY_GIVEN_EDGES


cdef int check_columns(
    Py_ssize_t rows, Py_ssize_t n_others, const double[::1] weights, Py_ssize_t n_words
) except -1:
    """Raise ValueError unless columns are as long as the first, and a sum has the words of a state."""
    need_length(b"columns", n_others, rows)
    if weights is not None:
        need_length(b"weights", weights.shape[0], rows)
    return need_length(b"a sum", n_words, STATE_SIZE)


def add_terms(
    int kind, const uint8_t[::1] labels, const value_t[::1] probabilities, const double[::1] weights or None,
    double eps, double rate, int64_t[::1] state
) -> int:
    """Add the (weighted) term of every row: kind, eps and the result are as for write_terms."""
    cdef const double* first_weight = NULL
    cdef Py_ssize_t n = labels.shape[0]
    cdef int64_t clipped = 0
    cdef int64_t problem = 0
    check_columns(n, probabilities.shape[0], weights, state.shape[0])
    if n == 0:
        return 0
    if weights is not None:
        first_weight = &weights[0]
    with nogil:
        if kind == LOG_LOSS:
            log_terms[value_t](
                &labels[0], &probabilities[0], first_weight, n, eps, rate, &state[0], &clipped, &problem)
        elif kind == SQUARED_ERROR:
            squared_errors[value_t](&labels[0], &probabilities[0], first_weight, n, rate, &state[0], &problem)
        else:
            add_probabilities[value_t](&probabilities[0], first_weight, n, rate, &state[0], &problem)
    return -1 if problem else clipped


def write_terms(
    int kind, const uint8_t[::1] labels, const value_t[::1] probabilities, const double[::1] weights or None,
    double eps, double rate, double[::1] out
) -> int:
    """Write the (weighted) term of every row to out.

    LOG_LOSS: -log(q), q = p for label 1 and 1 - p for label 0, clipped to [eps, 1 - eps]. SQUARED_ERROR: (p - y)^2.
    PROBABILITY: p. Return how many rows were clipped; -1 if a probability is invalid.
    """
    cdef double corrected[CHUNK]
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t n = probabilities.shape[0]
    cdef Py_ssize_t length
    cdef int64_t clipped = 0
    cdef int64_t found = 0
    check_columns(n, labels.shape[0] if kind != PROBABILITY else n, weights, STATE_SIZE)
    need_length(b"out", out.shape[0], n)
    with nogil:
        while start < n and found >= 0:
            length = n - start if n - start < CHUNK else CHUNK
            if kind == LOG_LOSS:
                found = write_outcomes[value_t](
                    &labels[start], &probabilities[start], length, eps, rate, corrected, &out[start])
                if found >= 0:
                    negative_logs(&out[start], length)
            elif not load_probabilities(&probabilities[start], length, rate, corrected):
                found = -1
            elif kind == SQUARED_ERROR:
                squared_errors_f64(&labels[start], corrected, length, &out[start])
            else:
                memcpy(&out[start], corrected, length * sizeof(double))
            if weights is not None:
                multiply_weights(&out[start], &weights[start], length)
            clipped += found
            start += length
    return clipped if found >= 0 else -1


def correct_probabilities(const value_t[::1] probabilities, double rate, double[::1] out) -> bool:
    """Write p / (p + (1 - p) / rate) to out. Return false if a p is outside [0, 1] or NaN."""
    cdef bint good = 1
    need_length(b"out", out.shape[0], probabilities.shape[0])
    if probabilities.shape[0]:
        with nogil:
            good = load_probabilities(&probabilities[0], probabilities.shape[0], rate, &out[0])
    return good


def calibration_terms(
    const uint8_t[::1] labels, const value_t[::1] probabilities, const double[::1] weights or None, double rate,
    int rule, const double[::1] edges or None, int64_t[:, ::1] counts, int64_t[:, ::1] probability_states,
    int64_t[:, ::1] weight_states, int64_t[:, ::1] positive_states, int64_t[::1] problem
):
    """Put every row into its bin.

    Add (rows, positives) to counts[bin] and p to probability_states[bin]. With weights, add w * p instead, w to
    weight_states[bin] and w * y to positive_states[bin]. `edges` are the n_bins - 1 inner edges in ascending order, for
    the rule GIVEN. At most 2**30 rows per call.
    """
    cdef Py_ssize_t i, bin_index
    cdef Py_ssize_t n_bins = counts.shape[0]
    cdef const double* first_edge = NULL
    cdef double p, weight
    cdef int bad = 0
    check_columns(labels.shape[0], probabilities.shape[0], weights, probability_states.shape[1])
    need_length(b"bins", n_bins, 1)
    need_length(b"bins of states", probability_states.shape[0], n_bins)
    need_length(b"counts of a bin", counts.shape[1], 2)
    need_length(b"problem", problem.shape[0], 1)
    if rule == BY_GIVEN_EDGES:
        need_length(b"edges", 0 if edges is None else edges.shape[0], n_bins - 1)
    if weights is not None:
        need_length(b"bins of states", min(weight_states.shape[0], positive_states.shape[0]), n_bins)
        need_length(b"words of a state", min(weight_states.shape[1], positive_states.shape[1]), STATE_SIZE)
    if rule == BY_GIVEN_EDGES and edges.shape[0]:
        first_edge = &edges[0]
    with nogil:
        for i in range(labels.shape[0]):
            p = probabilities[i]
            if not (0.0 <= p <= 1.0):
                bad = 1
                break
            if rate:
                p = p / (p + (1.0 - p) / rate)
            bin_index = find_bin(p, n_bins, rule, first_edge)
            counts[bin_index, 0] += 1
            counts[bin_index, 1] += labels[i]
            if weights is None:
                add_value(&probability_states[bin_index, 0], p)
            else:
                weight = weights[i]
                add_value(&probability_states[bin_index, 0], weight * p)
                add_value(&weight_states[bin_index, 0], weight)
                if labels[i]:
                    add_value(&positive_states[bin_index, 0], weight)
        if bad:
            problem[0] = 1
        for bin_index in range(n_bins):
            normalize(&probability_states[bin_index, 0])
            if weights is not None:
                normalize(&weight_states[bin_index, 0])
                normalize(&positive_states[bin_index, 0])


def write_bins(
    const value_t[::1] probabilities, double rate, int rule, const double[::1] edges or None, Py_ssize_t n_bins,
    double[::1] corrected, uint16_t[::1] bins
) -> bool:
    """Write every probability, corrected for the rate, and its bin; rules and edges are those of calibration_terms.

    Return false if one is outside [0, 1] or NaN.
    """
    cdef Py_ssize_t i
    cdef Py_ssize_t n = probabilities.shape[0]
    cdef const double* first_edge = NULL
    cdef bint good = 1
    need_length(b"corrected and bins", min(corrected.shape[0], bins.shape[0]), n)
    if not 1 <= n_bins <= 1 << 16:
        raise ValueError("there are 1 to 65536 bins")
    if rule == BY_GIVEN_EDGES:
        need_length(b"edges", 0 if edges is None else edges.shape[0], n_bins - 1)
        if edges.shape[0]:
            first_edge = &edges[0]
    if n == 0:
        return good
    with nogil:
        good = load_probabilities(&probabilities[0], n, rate, &corrected[0])
        if good:
            for i in range(n):
                bins[i] = <uint16_t>find_bin(corrected[i], n_bins, rule, first_edge)
    return good


def run_means(const value_t[::1] values, const int64_t[::1] starts, double[::1] out):
    """Write to out[run] the mean of the values from starts[run] to starts[run + 1], rounded once.

    Values lie in [0, 1]. Every run has at least one value and less than 2**32. `starts` ends with the number of values.
    """
    cdef int64_t state[STATE_SIZE]
    cdef Py_ssize_t run, i
    need_length(b"out", out.shape[0], starts.shape[0] - 1)
    if starts.shape[0]:
        need_offsets(b"starts", &starts[0], starts.shape[0], values.shape[0])
    with nogil:
        for run in range(starts.shape[0] - 1):
            memset(state, 0, sizeof(state))
            for i in range(starts[run], starts[run + 1]):
                add_value(state, values[i])
                if i % (1 << 29) == 0:
                    normalize(state)
            normalize(state)
            out[run] = divide_by_count(state, <uint64_t>(starts[run + 1] - starts[run]))


cdef inline int64_t clip(
    const value_t* values, Py_ssize_t n, double lower, double upper, double* out
) noexcept nogil:
    if value_t is float:
        return clip_f32(values, n, lower, upper, out)
    else:
        return clip_f64(values, n, lower, upper, out)


cdef inline void negative_logs_of_any(double* chunk, Py_ssize_t n, double* values) noexcept nogil:
    """-log of numbers in [0, 1]. It is infinite for 0. A subnormal number is first multiplied by 2**64."""
    cdef Py_ssize_t i
    for i in range(n):
        values[i] = chunk[i]
        if chunk[i] < LEAST_NORMAL:
            chunk[i] *= 2.0 ** 64
    negative_logs(chunk, n)
    for i in range(n):
        if values[i] < LEAST_NORMAL:
            chunk[i] = chunk[i] + 64 * LOG_2 if values[i] else HUGE_VAL


def likelihood_terms(
    const value_t[::1] values, const double[::1] weights or None, bint are_logs, double eps, int64_t[::1] state,
    int64_t[::1] n_clipped, int64_t[::1] problem
):
    """Add -log(p) of every row.

    With are_logs, values are log(p), at most 0. Otherwise they are p, clipped to [eps, 1 - eps] unless eps is 0;
    n_clipped counts the clipped rows.
    """
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, length
    cdef Py_ssize_t n = values.shape[0]
    cdef int64_t clipped
    cdef int bad = 0
    check_columns(n, n, weights, state.shape[0])
    need_length(b"n_clipped and problem", min(n_clipped.shape[0], problem.shape[0]), 1)
    with nogil:
        while start < n and not bad:
            length = n - start if n - start < CHUNK else CHUNK
            if are_logs:
                for i in range(length):
                    bad |= not values[start + i] <= 0
                    chunk[i] = -<double>values[start + i]
            else:
                clipped = clip(&values[start], length, eps, 1.0 - eps, chunk)
                bad = clipped < 0
                n_clipped[0] += clipped
                if eps:
                    negative_logs(chunk, length)
                else:
                    negative_logs_of_any(chunk, length, rest)
            if weights is not None:
                multiply_weights(chunk, &weights[start], length)
            if not bad:
                add_chunk(&state[0], chunk, length, rest)
            start += length
            carry_after(&state[0], start)
        normalize(&state[0])
        if bad:
            problem[0] = 1
