"""Labels against scores that reach a threshold: the four cells of the binary confusion matrix, counted and weighed.

Labels are uint8 0 or 1, scores float32 or float64 without NaN, weights float64, all contiguous and of equal length. A
row is predicted positive when its score is at least the threshold, both taken as real numbers: a float32 score is not
rounded to anything, and neither is the threshold. A cell's number is 2 * label + prediction: true negatives, false
positives, false negatives, true positives.
"""

from libc.math cimport INFINITY, nextafterf
from libc.stdint cimport int64_t, uint8_t

from fastmetrics._kernels.superaccumulator cimport CHUNKS_PER_CARRY, add_chunk, normalise

ctypedef fused value_t:
    float
    double

cdef enum:
    N_CELLS = 4
    RUN = 1024  # weights of one cell that wait to be summed together


cdef extern from "vectormath.h":
    void count_reaching_f32 "fm_count_reaching_f32"(
        const uint8_t* labels, const float* scores, Py_ssize_t n, float threshold, int64_t* counts
    ) noexcept nogil
    void count_reaching_f64 "fm_count_reaching_f64"(
        const uint8_t* labels, const double* scores, Py_ssize_t n, double threshold, int64_t* counts
    ) noexcept nogil


cdef inline float least_float_reaching(double threshold) noexcept nogil:
    """The least float32 that is not below the threshold: a float32 reaches the one where it reaches the other."""
    cdef float least = <float>threshold
    if <double>least < threshold:
        least = nextafterf(least, INFINITY)
    return least


def count_cells(const uint8_t[::1] labels, const value_t[::1] scores, double threshold, int64_t[::1] counts):
    """counts[cell] gains the rows of every cell."""
    cdef Py_ssize_t n = labels.shape[0]
    cdef int64_t[3] found  # positives, predicted positives, both
    if n == 0:
        return
    found[0] = found[1] = found[2] = 0
    with nogil:
        if value_t is float:
            count_reaching_f32(&labels[0], &scores[0], n, least_float_reaching(threshold), found)
        else:
            count_reaching_f64(&labels[0], &scores[0], n, threshold, found)
    counts[0] += n - found[0] - found[1] + found[2]
    counts[1] += found[1] - found[2]
    counts[2] += found[0] - found[2]
    counts[3] += found[2]


cdef void add_weights(
    const uint8_t* labels, const value_t* scores, const double* weights, Py_ssize_t n, value_t threshold,
    int64_t* states, Py_ssize_t state_size
) noexcept nogil:
    cdef double[N_CELLS][RUN] waiting
    cdef double[RUN] rest
    cdef Py_ssize_t[N_CELLS] n_waiting
    cdef Py_ssize_t[N_CELLS] n_runs
    cdef Py_ssize_t i, cell
    for cell in range(N_CELLS):
        n_waiting[cell] = n_runs[cell] = 0
    for i in range(n):
        # Where a weight goes is computed, not branched on: cells come in no order a processor could foresee.
        cell = 2 * labels[i] + (scores[i] >= threshold)
        waiting[cell][n_waiting[cell]] = weights[i]
        n_waiting[cell] += 1
        if n_waiting[cell] == RUN:
            add_chunk(states + cell * state_size, waiting[cell], RUN, rest)
            n_waiting[cell] = 0
            n_runs[cell] += 1
            if n_runs[cell] % CHUNKS_PER_CARRY == 0:
                normalise(states + cell * state_size)
    for cell in range(N_CELLS):
        add_chunk(states + cell * state_size, waiting[cell], n_waiting[cell], rest)
        normalise(states + cell * state_size)


def weigh_cells(
    const uint8_t[::1] labels, const value_t[::1] scores, const double[::1] weights, double threshold,
    int64_t[:, ::1] states
):
    """states[cell] gains the weights of every cell, exactly."""
    cdef value_t least
    if labels.shape[0] == 0:
        return
    if value_t is float:
        least = least_float_reaching(threshold)
    else:
        least = threshold
    with nogil:
        add_weights[value_t](
            &labels[0], &scores[0], &weights[0], labels.shape[0], least, &states[0, 0], states.shape[1])
