"""Losses of a matrix of probabilities with one column per class: checks and exact sums.

Probabilities are a C-contiguous matrix of float32 or float64. codes (int64) has the column number of the class of each
row; the caller has checked them. Terms are computed in float64 and added to exact states (superaccumulator.pxd).
"""

from libc.math cimport fabs
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fastmetrics._kernels.numeric.length_checks cimport need_below, need_length
from fastmetrics._kernels.probability.loss_terms cimport value_t, multiply_weights
from fastmetrics._kernels.numeric.superaccumulator cimport (
    STATE_SIZE, CHUNK, add_chunk, add_value, carry_after, negative_logs, normalize,
)


# Epsilons of bfloat16 and float16: the most by which rounding or cutting the entries of a row moves a sum of about 1.
cdef double BFLOAT16_SUM = 0.0078125
cdef double FLOAT16_SUM = 0.0009765625


cdef inline double widened_tolerance(const value_t* row, Py_ssize_t n) noexcept nogil:
    """The epsilon of the type of 16 bits that has the digits of all values of a row; 0 if there is none."""
    cdef Py_ssize_t j
    cdef uint32_t narrow, any_narrow = 0
    cdef uint64_t wide, any_wide = 0
    if value_t is float:
        for j in range(n):
            memcpy(&narrow, &row[j], sizeof(narrow))
            any_narrow |= narrow
        any_wide = <uint64_t> any_narrow << 29  # a float64 has 29 binary digits more
    else:
        for j in range(n):
            memcpy(&wide, &row[j], sizeof(wide))
            any_wide |= wide
    if any_wide & ((<uint64_t> 1 << 45) - 1) == 0:
        return BFLOAT16_SUM
    return FLOAT16_SUM if any_wide & ((<uint64_t> 1 << 42) - 1) == 0 else 0.0


cdef inline bint is_other_sum(const value_t* row, Py_ssize_t n, double total, double tolerance) noexcept nogil:
    """Is a sum farther from 1 than the tolerance, and than that of values of 16 bits?"""
    cdef double distance = fabs(total - 1.0)
    return not distance <= tolerance and not distance <= widened_tolerance(row, n)


def mark_other_sums(const value_t[:, ::1] probabilities, double tolerance, uint8_t[::1] mask):
    """Set mask to 1 for rows of probabilities whose sum is another than 1. Rows with other values are left out."""
    cdef Py_ssize_t i, j
    cdef Py_ssize_t n = probabilities.shape[1]
    cdef double p, total
    cdef int bad
    need_length(b"mask", mask.shape[0], probabilities.shape[0])
    with nogil:
        for i in range(probabilities.shape[0]):
            total = 0.0
            bad = 0
            for j in range(n):
                p = probabilities[i, j]
                bad |= not (0.0 <= p <= 1.0)
                total += p
            mask[i] = not bad and is_other_sum(&probabilities[i, 0], n, total, tolerance)


def check_sums(
    const value_t[:, ::1] probabilities, double tolerance, int64_t[::1] problem, double[::1] farthest
) -> int:
    """Return the first row whose sum is another than 1, or -1. Set farthest[0] to the greatest distance of the others.

    Set problem[0] to 1 if a value is outside [0, 1].
    """
    cdef Py_ssize_t i, j
    cdef Py_ssize_t n = probabilities.shape[1]
    cdef Py_ssize_t first = -1
    cdef double p, total
    cdef double greatest = 0.0
    cdef int bad = 0
    need_length(b"problem and farthest", min(problem.shape[0], farthest.shape[0]), 1)
    with nogil:
        for i in range(probabilities.shape[0]):
            total = 0.0
            for j in range(n):
                p = probabilities[i, j]
                bad |= not (0.0 <= p <= 1.0)
                total += p
            if is_other_sum(&probabilities[i, 0], n, total, tolerance):
                first = i if first < 0 else first
            elif fabs(total - 1.0) > greatest:
                greatest = fabs(total - 1.0)
    problem[0] |= bad
    farthest[0] = greatest
    return first


def check_matrix(const value_t[:, ::1] probabilities, double tolerance, int64_t[::1] problem) -> int:
    """Return the first row whose sum differs from 1 by more than the tolerance, or -1.

    Set problem[0] to 1 if a value is outside [0, 1].
    """
    cdef Py_ssize_t i, j
    cdef Py_ssize_t first = -1
    cdef double p, total
    cdef int bad = 0
    need_length(b"problem", problem.shape[0], 1)
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


cdef int check_rows(
    const int64_t[::1] codes, Py_ssize_t n_rows, Py_ssize_t n_classes, Py_ssize_t n_weights
) except -1:
    """Raise ValueError unless every row has values, a weight and a class."""
    need_length(b"rows", n_rows, codes.shape[0])
    need_length(b"weights", n_weights, codes.shape[0])
    if codes.shape[0]:
        need_below(b"codes", &codes[0], codes.shape[0], n_classes)
    return 0


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
    cdef Py_ssize_t n = codes.shape[0]
    cdef double upper = 1.0 - eps
    need_length(b"n_clipped", n_clipped.shape[0], 1)
    check_rows(codes, probabilities.shape[0], probabilities.shape[1], n if weights is None else weights.shape[0])
    need_length(b"state", state.shape[0], STATE_SIZE)
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
            carry_after(&state[0], start)
        normalize(&state[0])


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
    cdef const value_t* values
    check_rows(
        codes, probabilities.shape[0], n_classes, codes.shape[0] if weights is None else weights.shape[0])
    need_length(b"state", state.shape[0], STATE_SIZE)
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
            carry_after(&state[0], start)
        normalize(&state[0])


def add_by_class(const int64_t[::1] codes, const value_t[::1] values, int64_t[:, ::1] states):
    """Add every value to the state of its class. At most 2**30 rows per call."""
    cdef Py_ssize_t i
    need_length(b"words of a state", states.shape[1], STATE_SIZE)
    check_rows(codes, values.shape[0], states.shape[0], codes.shape[0])
    with nogil:
        for i in range(codes.shape[0]):
            add_value(&states[codes[i], 0], values[i])
        for i in range(states.shape[0]):
            normalize(&states[i, 0])
