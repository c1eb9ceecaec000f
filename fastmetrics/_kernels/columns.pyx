"""A column's block, checked and made ready while it is in cache, before its first use.

Label columns of any numeric type become uint8 0 or 1, with a note of what was seen. The note lets the caller decide
over the whole column: {0, 1} and {-1, +1} are both fine, a mix of -1 and 0 is not, and any other value is an error
whose row the caller then looks for. Scores and weights are only looked at.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

ctypedef fused label_t:
    uint8_t
    int8_t
    int16_t
    uint16_t
    int32_t
    uint32_t
    int64_t
    uint64_t
    float
    double

ctypedef fused value_t:
    float
    double

MAX_WEIGHT = 1e300

cdef double LARGEST_WEIGHT = 1e300

SAW_ZERO = 1
SAW_ONE = 2
SAW_MINUS_ONE = 4
SAW_OTHER = 8


def decode_labels(const label_t[::1] values, Py_ssize_t start, Py_ssize_t stop, uint8_t[::1] out, int64_t[::1] seen):
    """out[i] = values[start + i] > 0; seen[0] gains the SAW_ bits, seen[1] the number of positives."""
    cdef Py_ssize_t i
    cdef Py_ssize_t n = stop - start
    cdef label_t value
    cdef const label_t* rows
    cdef uint8_t* labels
    cdef uint8_t zero = 0
    cdef uint8_t one = 0
    cdef uint8_t minus_one = 0
    cdef uint8_t other = 0
    cdef uint8_t is_zero, is_one, is_minus_one
    cdef int64_t n_positive = 0
    if n <= 0:
        return
    rows = &values[start]
    labels = &out[0]
    with nogil:
        for i in range(n):
            value = rows[i]
            is_zero = value == 0
            is_one = value == 1
            if label_t is uint8_t or label_t is uint16_t or label_t is uint32_t or label_t is uint64_t:
                is_minus_one = 0
            else:
                is_minus_one = value == -1
            labels[i] = is_one
            zero |= is_zero
            one |= is_one
            minus_one |= is_minus_one
            other |= 1 - (is_zero | is_one | is_minus_one)
            n_positive += is_one
    seen[0] |= zero | (one << 1) | (minus_one << 2) | (other << 3)
    seen[1] += n_positive


def any_nan(const value_t[::1] values, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] found):
    """found[0] becomes 1 when a value of the rows is NaN."""
    cdef Py_ssize_t i
    cdef int nan = 0
    with nogil:
        for i in range(start, stop):
            nan |= values[i] != values[i]
    found[0] |= nan


def check_weights(const double[::1] weights, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] found):
    """found[0] becomes 1 when a weight of the rows is negative, NaN or above MAX_WEIGHT; found[1] gains the zeros."""
    cdef Py_ssize_t i
    cdef int bad = 0
    cdef int64_t n_zero = 0
    with nogil:
        for i in range(start, stop):
            bad |= not (0.0 <= weights[i] <= LARGEST_WEIGHT)
            n_zero += weights[i] == 0.0
    found[0] |= bad
    found[1] += n_zero
