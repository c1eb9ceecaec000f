"""Terms of one row each, summed exactly: log loss, squared error, calibration bins.

Labels are uint8 0 or 1 (or class codes), probabilities float32 or float64, both contiguous and of equal length. Every
function looks for bad probabilities in the same pass: it writes into `problem[0]` whether any is outside [0, 1] or NaN,
and the caller then looks for the row. Sums go to superaccumulator states (superaccumulator.pxd). Terms are computed in
float64 whatever the input type.
"""

from libc.stdint cimport int64_t, uint8_t

from fastmetrics._kernels.superaccumulator cimport (
    CHUNK, CHUNKS_PER_CARRY, add_chunk, add_value, negative_logs, normalise,
)

ctypedef fused value_t:
    float
    double


cdef extern from "vectormath.h":
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


cdef void log_terms(
    const uint8_t* labels, const value_t* probabilities, const double* weights, Py_ssize_t n, double eps,
    int64_t* state, int64_t* n_clipped, int64_t* problem
) noexcept nogil:
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, length
    cdef Py_ssize_t n_chunks = 0
    cdef int64_t clipped
    while start < n:
        length = n - start if n - start < CHUNK else CHUNK
        if value_t is float:
            clipped = outcome_probabilities_f32(labels + start, probabilities + start, length, eps, 1.0 - eps, chunk)
        else:
            clipped = outcome_probabilities_f64(labels + start, probabilities + start, length, eps, 1.0 - eps, chunk)
        if clipped < 0:
            problem[0] = 1
            return
        n_clipped[0] += clipped
        negative_logs(chunk, length)
        if weights != NULL:
            for i in range(length):
                chunk[i] *= weights[start + i]
        add_chunk(state, chunk, length, rest)
        start += length
        n_chunks += 1
        if n_chunks % CHUNKS_PER_CARRY == 0:
            normalise(state)
    normalise(state)


def log_loss_terms(
    const uint8_t[::1] labels, const value_t[::1] probabilities, const double[::1] weights, double eps,
    int64_t[::1] state, int64_t[::1] n_clipped, int64_t[::1] problem
):
    """Add -log(q) of every row, q = p for label 1 and 1 - p for label 0, clipped to [eps, 1 - eps] (counted)."""
    cdef const double* first_weight = NULL
    if labels.shape[0] == 0:
        return
    if weights is not None:
        first_weight = &weights[0]
    with nogil:
        log_terms[value_t](
            &labels[0], &probabilities[0], first_weight, labels.shape[0], eps, &state[0], &n_clipped[0], &problem[0])


def log_loss_terms_multiclass(
    const int64_t[::1] codes, const value_t[:, ::1] probabilities, const double[::1] weights, double eps,
    int64_t[::1] state, int64_t[::1] n_clipped, int64_t[::1] problem
):
    """Add -log(p of the row's own class), clipped to [eps, 1 - eps]. codes lie in [0, number of columns)."""
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef double p
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, j, length
    cdef Py_ssize_t n_chunks = 0
    cdef Py_ssize_t n = codes.shape[0]
    cdef Py_ssize_t n_classes = probabilities.shape[1]
    cdef double upper = 1.0 - eps
    cdef int bad = 0
    with nogil:
        while start < n:
            length = n - start if n - start < CHUNK else CHUNK
            for i in range(length):
                for j in range(n_classes):
                    p = probabilities[start + i, j]
                    bad |= not (0.0 <= p <= 1.0)
                p = probabilities[start + i, codes[start + i]]
                if p < eps:
                    n_clipped[0] += 1
                    p = eps
                elif p > upper:
                    n_clipped[0] += 1
                    p = upper
                chunk[i] = p
            if bad:
                problem[0] = 1
                break
            negative_logs(chunk, length)
            if weights is not None:
                for i in range(length):
                    chunk[i] *= weights[start + i]
            add_chunk(&state[0], chunk, length, rest)
            start += length
            n_chunks += 1
            if n_chunks % CHUNKS_PER_CARRY == 0:
                normalise(&state[0])
        normalise(&state[0])


cdef void squared_errors(
    const uint8_t* labels, const value_t* probabilities, const double* weights, Py_ssize_t n, int64_t* state,
    int64_t* problem
) noexcept nogil:
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, length
    cdef Py_ssize_t n_chunks = 0
    cdef int good
    while start < n:
        length = n - start if n - start < CHUNK else CHUNK
        if value_t is float:
            good = squared_errors_f32(labels + start, probabilities + start, length, chunk)
        else:
            good = squared_errors_f64(labels + start, probabilities + start, length, chunk)
        if not good:
            problem[0] = 1
            return
        if weights != NULL:
            for i in range(length):
                chunk[i] *= weights[start + i]
        add_chunk(state, chunk, length, rest)
        start += length
        n_chunks += 1
        if n_chunks % CHUNKS_PER_CARRY == 0:
            normalise(state)
    normalise(state)


def squared_error_terms(
    const uint8_t[::1] labels, const value_t[::1] probabilities, const double[::1] weights, int64_t[::1] state,
    int64_t[::1] problem
):
    """Add (p - y)^2 of every row."""
    cdef const double* first_weight = NULL
    if labels.shape[0] == 0:
        return
    if weights is not None:
        first_weight = &weights[0]
    with nogil:
        squared_errors[value_t](&labels[0], &probabilities[0], first_weight, labels.shape[0], &state[0], &problem[0])


def calibration_terms(
    const uint8_t[::1] labels, const value_t[::1] probabilities, const double[::1] weights, int64_t[:, ::1] counts,
    int64_t[:, ::1] probability_states, int64_t[:, ::1] weight_states, int64_t[:, ::1] positive_states,
    int64_t[::1] problem
):
    """Put every row into its bin: bin = min(floor(p * n_bins), n_bins - 1).

    counts[bin] gains (rows, positives), probability_states[bin] the sum of p, or with weights of w * p; then
    weight_states[bin] gains w and positive_states[bin] w * y. At most 2**30 rows per call.
    """
    cdef Py_ssize_t i, bin_index
    cdef Py_ssize_t n_bins = counts.shape[0]
    cdef double p, weight
    cdef int bad = 0
    with nogil:
        for i in range(labels.shape[0]):
            p = probabilities[i]
            if not (0.0 <= p <= 1.0):
                bad = 1
                break
            bin_index = <Py_ssize_t>(p * n_bins)
            if bin_index >= n_bins:
                bin_index = n_bins - 1
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
            normalise(&probability_states[bin_index, 0])
            if weights is not None:
                normalise(&weight_states[bin_index, 0])
                normalise(&positive_states[bin_index, 0])
