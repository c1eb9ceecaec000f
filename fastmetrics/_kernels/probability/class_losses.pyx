"""Losses of a matrix of probabilities with one column per class: checks and exact sums.

Probabilities are a C-contiguous matrix of float32 or float64. codes (int64) has the column number of the class of each
row; the caller has checked them. Terms are computed in float64 and added to exact states (superaccumulator.pxd).
"""

from libc.stdint cimport int64_t

from fastmetrics._kernels.probability.loss_terms cimport value_t, multiply_weights
from fastmetrics._kernels.numeric.superaccumulator cimport (
    CHUNK, CHUNKS_PER_CARRY, add_chunk, add_value, negative_logs, normalise,
)


def check_matrix(const value_t[:, ::1] probabilities, double tolerance, int64_t[::1] problem) -> int:
    """Return the first row whose sum differs from 1 by more than the tolerance, or -1.

    Set problem[0] to 1 if a value is outside [0, 1].
    """
    cdef Py_ssize_t i, j
    cdef Py_ssize_t first = -1
    cdef double p, total
    cdef int bad = 0
    with nogil:
        for i in range(probabilities.shape[0]):
            total = 0.0
            for j in range(probabilities.shape[1]):
                p = probabilities[i, j]
                bad |= not (0.0 <= p <= 1.0)
                total += p
            if first < 0 and not -tolerance <= total - 1.0 <= tolerance:
                first = i
    problem[0] |= bad
    return first


def log_loss_terms(
    const int64_t[::1] codes, const value_t[:, ::1] probabilities, const double[::1] weights or None, double eps,
    int64_t[::1] state, int64_t[::1] n_clipped
):
    """Add -log(p of the row's own class), clipped to [eps, 1 - eps]. codes lie in [0, number of columns)."""
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef double p
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, length
    cdef Py_ssize_t n_chunks = 0
    cdef Py_ssize_t n = codes.shape[0]
    cdef double upper = 1.0 - eps
    with nogil:
        while start < n:
            length = n - start if n - start < CHUNK else CHUNK
            for i in range(length):
                p = probabilities[start + i, codes[start + i]]
                if p < eps:
                    n_clipped[0] += 1
                    p = eps
                elif p > upper:
                    n_clipped[0] += 1
                    p = upper
                chunk[i] = p
            negative_logs(chunk, length)
            if weights is not None:
                multiply_weights(chunk, &weights[start], length)
            add_chunk(&state[0], chunk, length, rest)
            start += length
            n_chunks += 1
            if n_chunks % CHUNKS_PER_CARRY == 0:
                normalise(&state[0])
        normalise(&state[0])


def squared_error_terms(
    const int64_t[::1] codes, const value_t[:, ::1] probabilities, const double[::1] weights or None, int64_t[::1] state
):
    """Add (p - y)^2 of every row and class. Reads the matrix in memory order, CHUNK values at a time."""
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef double p
    cdef Py_ssize_t n_classes = probabilities.shape[1]
    cdef Py_ssize_t n = codes.shape[0] * n_classes
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, row, length
    cdef Py_ssize_t n_chunks = 0
    cdef const value_t* values
    if n == 0:
        return
    values = &probabilities[0, 0]
    with nogil:
        while start < n:
            length = n - start if n - start < CHUNK else CHUNK
            for i in range(length):
                p = values[start + i]
                chunk[i] = p * p
            # The values of the rows' own classes that are in this chunk.
            for row in range(start // n_classes, (start + length - 1) // n_classes + 1):
                i = row * n_classes + codes[row] - start
                if 0 <= i < length:
                    p = values[start + i]
                    p -= 1.0
                    chunk[i] = p * p
            if weights is not None:
                for i in range(length):
                    chunk[i] *= weights[(start + i) // n_classes]
            add_chunk(&state[0], chunk, length, rest)
            start += length
            n_chunks += 1
            if n_chunks % CHUNKS_PER_CARRY == 0:
                normalise(&state[0])
        normalise(&state[0])


def add_by_class(const int64_t[::1] codes, const value_t[::1] values, int64_t[:, ::1] states):
    """Add every value to the state of its class. At most 2**30 rows per call."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(codes.shape[0]):
            add_value(&states[codes[i], 0], values[i])
        for i in range(states.shape[0]):
            normalise(&states[i, 0])
