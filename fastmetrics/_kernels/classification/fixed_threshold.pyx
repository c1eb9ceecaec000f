"""The four cells of the binary confusion matrix of scores at a threshold: rows, and exact sums of weights.

Labels are uint8 0 or 1, scores float32 or float64 without NaN, weights float64, all contiguous and of equal length. A
row is predicted positive if its score is at least the threshold. Both are compared as real numbers: neither a float32
score nor the threshold is rounded. A cell is 2 * label + prediction: true negatives, false positives, false negatives,
true positives.
"""

from libc.math cimport INFINITY, nextafterf
from libc.stdint cimport int64_t, uint8_t, uint16_t

from fastmetrics._kernels.numeric.length_checks cimport need_length
from fastmetrics._kernels.numeric.superaccumulator cimport CHUNKS_PER_CARRY, STATE_SIZE, add_chunk, normalize

ctypedef fused value_t:
    float
    double

cdef enum:
    N_CELLS = 4
    MAX_PENDING = 1024  # weights of one cell that are summed together


cdef extern from "numeric/vector_math.h":
    void count_predicted_f32 "fm_count_predicted_f32"(
        const uint8_t* labels, const float* scores, Py_ssize_t n, float threshold, int64_t* counts
    ) noexcept nogil
    void count_predicted_f64 "fm_count_predicted_f64"(
        const uint8_t* labels, const double* scores, Py_ssize_t n, double threshold, int64_t* counts
    ) noexcept nogil


cdef inline float float32_threshold(double threshold) noexcept nogil:
    """The least float32 not below the threshold: a float32 score reaches it if and only if it reaches the threshold."""
    cdef float least = <float>threshold
    if <double>least < threshold:
        least = nextafterf(least, INFINITY)
    return least


cdef inline void add_cells(
    const uint8_t* labels, const value_t* scores, Py_ssize_t n, double threshold, int64_t* counts
) noexcept nogil:
    cdef int64_t[3] totals  # positives, predicted positives, both
    totals[0] = totals[1] = totals[2] = 0
    if value_t is float:
        count_predicted_f32(labels, scores, n, float32_threshold(threshold), totals)
    else:
        count_predicted_f64(labels, scores, n, threshold, totals)
    counts[0] += n - totals[0] - totals[1] + totals[2]
    counts[1] += totals[1] - totals[2]
    counts[2] += totals[0] - totals[2]
    counts[3] += totals[2]


def count_cells(const uint8_t[::1] labels, const value_t[::1] scores, double threshold, int64_t[::1] counts):
    """Add the rows of each cell to counts[cell]."""
    need_length(b"scores", scores.shape[0], labels.shape[0])
    need_length(b"counts", counts.shape[0], 4)
    if labels.shape[0]:
        with nogil:
            add_cells[value_t](&labels[0], &scores[0], labels.shape[0], threshold, &counts[0])


cdef void add_weights(
    const uint8_t* labels, const value_t* scores, const double* weights, Py_ssize_t n, value_t threshold,
    int64_t* states, Py_ssize_t state_size
) noexcept nogil:
    cdef double[N_CELLS][MAX_PENDING] pending
    cdef double[MAX_PENDING] rest
    cdef Py_ssize_t[N_CELLS] n_pending
    cdef Py_ssize_t[N_CELLS] n_chunks
    cdef Py_ssize_t i, cell
    for cell in range(N_CELLS):
        n_pending[cell] = n_chunks[cell] = 0
    for i in range(n):
        # The cell is computed without a branch, because a processor cannot predict the order of cells.
        cell = 2 * (labels[i] != 0) + (scores[i] >= threshold)
        pending[cell][n_pending[cell]] = weights[i]
        n_pending[cell] += 1
        if n_pending[cell] == MAX_PENDING:
            add_chunk(states + cell * state_size, pending[cell], MAX_PENDING, rest)
            n_pending[cell] = 0
            n_chunks[cell] += 1
            if n_chunks[cell] % CHUNKS_PER_CARRY == 0:
                normalize(states + cell * state_size)
    for cell in range(N_CELLS):
        add_chunk(states + cell * state_size, pending[cell], n_pending[cell], rest)
        normalize(states + cell * state_size)


def weigh_cells(
    const uint8_t[::1] labels, const value_t[::1] scores, const double[::1] weights, double threshold,
    int64_t[:, ::1] states
):
    """Add the weights of each cell exactly to states[cell]."""
    cdef value_t least
    need_length(b"scores and weights", min(scores.shape[0], weights.shape[0]), labels.shape[0])
    need_length(b"states", states.shape[0], N_CELLS)
    need_length(b"words of a state", states.shape[1], STATE_SIZE)
    if labels.shape[0] == 0:
        return
    if value_t is float:
        least = float32_threshold(threshold)
    else:
        least = threshold
    with nogil:
        add_weights[value_t](
            &labels[0], &scores[0], &weights[0], labels.shape[0], least, &states[0, 0], states.shape[1])


def cells_of_rows(const uint8_t[::1] labels, const value_t[::1] scores, double threshold, uint16_t[::1] out):
    """Write the cell of every row to out."""
    cdef value_t least
    cdef Py_ssize_t i
    need_length(b"scores and out", min(scores.shape[0], out.shape[0]), labels.shape[0])
    if value_t is float:
        least = float32_threshold(threshold)
    else:
        least = threshold
    with nogil:
        for i in range(labels.shape[0]):
            out[i] = 2 * (labels[i] != 0) + (scores[i] >= least)
