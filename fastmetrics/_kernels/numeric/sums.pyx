"""Exact sums of columns. A sum is a state of the superaccumulator; superaccumulator.pxd gives its layout and bounds.

Functions add rows to `state` (int64[STATE_SIZE]), which is normalized before and after the call. Arrays are
contiguous. Weights are float64 of the same length, or None. A weighted sum adds the rounded product weight * value of
each row, so it depends on the rows alone, not on their order.

Double-doubles (double_double_sums.h) are sums with a small error. Their quotients are given if the rounding is certain.

Numbers of many states are columns of double-doubles, float64[3, n]: the high and the low part of each, whose sum it is
to within the third, at least 0. A column with n = 1 stands for every row. What is exact has the error 0: integers below
2**106, and their sums and products. NaN marks a number that is not known: a step overflowed, or might have underflowed.
"""

from libc.math cimport NAN, fabs
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy

from fastmetrics._kernels.numeric.length_checks cimport need_below, need_length, need_offsets
from fastmetrics._kernels.numeric.quotient cimport (
    DoubleDouble, count_non_finite, divide_double_doubles, divide_state_within, is_rounding_certain,
    load_with_exactness, one_minus_quotient, product_error, two_sum,
)
from fastmetrics._kernels.numeric.superaccumulator cimport (
    CHUNK, FM_LANES, WINDOW_LIMBS, WINDOW_SHIFTS, add_chunk_at, add_to_window, add_value, carry_after, bits_of_f64,
    empty_window, exponent_of, first_limb, greatest_magnitude, normalize, write_limbs,
)
from fastmetrics._kernels.numeric.superaccumulator cimport BASE_EXPONENT as _BASE_EXPONENT
from fastmetrics._kernels.numeric.superaccumulator cimport N_LIMBS as _N_LIMBS
from fastmetrics._kernels.numeric.superaccumulator cimport STATE_SIZE as _STATE_SIZE

cdef extern from *:
    """
    /* The value if it is selected, otherwise 0. Without a branch: marks may be random. */
    static inline double fm_keep_if(double value, uint8_t selected) {
        uint64_t bits;
        memcpy(&bits, &value, 8);
        bits &= (uint64_t)0 - (uint64_t)(selected != 0);
        memcpy(&value, &bits, 8);
        return value;
    }
    """
    double keep_if "fm_keep_if"(double value, uint8_t selected) noexcept nogil

cdef extern from "resampling/prefetch.h":
    void prefetch "fm_prefetch"(const void* memory) noexcept nogil

cdef extern from "numeric/double_double_sums.h":
    void add_double_double "fm_add_double_double"(double* total, double high, double low) noexcept nogil

cdef enum:
    PARTS = 3
    AHEAD = 64  # rows whose windows or counts are fetched ahead: they are anywhere
cdef double UNIT = 2.0 ** -53     # the relative error of one rounding
cdef double LEAST = 2.0 ** -800   # the errors of smaller products and quotients may underflow
cdef double MOST = 2.0 ** 900
cdef double CERTAIN = 2.0 ** 20    # a divisor is at least so many times its error
cdef double SLACK = 1 + 2.0 ** -40  # for the rounding of error bounds

STATE_SIZE = _STATE_SIZE
N_LIMBS = _N_LIMBS
BASE_EXPONENT = _BASE_EXPONENT
LIMBS_OF_WINDOW = WINDOW_LIMBS

ctypedef fused value_t:
    float
    double


cdef void add_values(int64_t* state, const value_t* values, const double* weights, Py_ssize_t n) noexcept nogil:
    cdef double chunk[CHUNK]
    cdef double remainders[CHUNK]
    cdef double* rows
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, length
    cdef int exponent = 0
    while start < n:
        length = n - start if n - start < CHUNK else CHUNK
        rows = chunk
        if weights == NULL:
            if value_t is double and length % FM_LANES == 0:
                rows = <double*>values + start  # a whole number of lanes is only read
            else:
                for i in range(length):
                    chunk[i] = values[start + i]
        else:
            for i in range(length):
                chunk[i] = weights[start + i] * values[start + i]
        add_chunk_at(state, rows, length, remainders, &exponent)
        start += length
        carry_after(state, start)
    normalize(state)


def sum_values(const value_t[::1] values, const double[::1] weights or None, int64_t[::1] state):
    """Add every value, or weight * value of every row."""
    cdef const double* first_weight = NULL
    need_length(b"state", state.shape[0], _STATE_SIZE)
    if values.shape[0] == 0:
        return
    if weights is not None:
        need_length(b"weights", weights.shape[0], values.shape[0])
        first_weight = &weights[0]
    with nogil:
        add_values[value_t](&state[0], &values[0], first_weight, values.shape[0])


def sum_positive_weights(const unsigned char[::1] labels, const double[::1] weights, int64_t[::1] state):
    """Add the weights of the rows whose label is 1."""
    cdef Py_ssize_t i
    need_length(b"state", state.shape[0], _STATE_SIZE)
    need_length(b"weights", weights.shape[0], labels.shape[0])
    with nogil:
        for i in range(labels.shape[0]):
            if labels[i]:
                add_value(&state[0], weights[i])
            if i % (1 << 29) == 0:
                normalize(&state[0])
        normalize(&state[0])


def sum_selected(const double[::1] values, const uint8_t[::1] selected, int64_t[::1] state):
    """Add the values of the rows whose mark is not 0."""
    cdef double chunk[CHUNK]
    cdef double remainders[CHUNK]
    cdef int exponent = 0
    cdef Py_ssize_t i, length
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t n = values.shape[0]
    need_length(b"state", state.shape[0], _STATE_SIZE)
    if selected.shape[0] != n:
        raise ValueError("columns have different lengths")
    with nogil:
        while start < n:
            length = n - start if n - start < CHUNK else CHUNK
            for i in range(length):
                chunk[i] = keep_if(values[start + i], selected[start + i])
            add_chunk_at(&state[0], chunk, length, remainders, &exponent)
            start += length
            carry_after(&state[0], start)
        normalize(&state[0])


def sum_segments(const double[::1] values, const int64_t[::1] bounds, int64_t[:, :] states):
    """Add values[bounds[i]:bounds[i + 1]] to states[i], for every i. The bounds ascend."""
    cdef Py_ssize_t i
    if values.shape[0] == 0 or states.shape[0] == 0:
        return
    need_length(b"bounds", bounds.shape[0], states.shape[0] + 1)
    need_offsets(b"bounds", &bounds[0], states.shape[0] + 1, values.shape[0])
    if states.shape[1] < _STATE_SIZE or states.strides[1] != sizeof(int64_t):
        raise ValueError("states are rows of another size")
    with nogil:
        for i in range(states.shape[0]):
            if bounds[i + 1] > bounds[i]:
                add_values[double](&states[i, 0], &values[bounds[i]], NULL, bounds[i + 1] - bounds[i])


def place_of_window(const double[::1] values) -> int:
    """The place of windows for values like these: twice the greatest finite one fits, and 2**-40 of it.

    Of four places only one is used, so that parts of a column usually have the same. 16 times the greatest value fits
    if it is in [1, 2).
    """
    cdef Py_ssize_t i
    cdef Py_ssize_t n_vectors = values.shape[0] - values.shape[0] % FM_LANES
    cdef int exponent
    cdef int greatest = 0
    with nogil:
        if n_vectors:
            greatest = exponent_of(bits_of_f64(greatest_magnitude(&values[0], n_vectors)))
        if greatest == 2047:  # an infinity: the greatest finite value is searched
            greatest = n_vectors = 0
        for i in range(n_vectors, values.shape[0]):
            exponent = exponent_of(bits_of_f64(values[i]))
            if greatest < exponent < 2047:
                greatest = exponent
    return max(1, (greatest + 1 - WINDOW_SHIFTS) // 4 * 4 + 3)


cdef int greatest_cell(const uint16_t* cells, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint16_t greatest = 0
    for i in range(n):
        greatest = max(greatest, cells[i])
    return greatest


def add_to_windows(
    const double[::1] values, const int32_t[::1] numbers, const uint16_t[::1] cells or None, Py_ssize_t column,
    int place, uint64_t[:, :, ::1] windows, int32_t[::1] others
) -> int:
    """Add values[i] to the window column + cells[i] of numbers[i]; cells are 0 if there are none.

    Windows: superaccumulator.pxd. Rows whose values do not fit are written to `others`; return how many there are.
    """
    cdef Py_ssize_t i, at
    cdef Py_ssize_t n = values.shape[0]
    cdef Py_ssize_t n_sums = windows.shape[1]
    cdef Py_ssize_t n_others = 0
    cdef const uint16_t* first_cell = NULL
    if n == 0 or windows.shape[0] == 0 or n_sums == 0:
        return 0
    if numbers.shape[0] != n or others.shape[0] < n or (cells is not None and cells.shape[0] != n):
        raise ValueError("columns have different lengths")
    if windows.shape[2] != 2:
        raise ValueError("a window has two words")
    need_below(b"numbers", &numbers[0], n, windows.shape[0])
    if cells is not None:
        first_cell = &cells[0]
    if not 0 <= column or column + (greatest_cell(first_cell, n) if cells is not None else 0) >= n_sums:
        raise ValueError(f"no window of {n_sums} has the number of a cell")
    with nogil:
        for i in range(n):
            if i + AHEAD < n:
                at = numbers[i + AHEAD] * n_sums + column + (first_cell[i + AHEAD] if first_cell != NULL else 0)
                prefetch(&windows[0, 0, 0] + 2 * at)
            at = numbers[i] * n_sums + column + (first_cell[i] if first_cell != NULL else 0)
            if not add_to_window(&windows[0, 0, 0] + 2 * at, values[i], place):
                others[n_others] = <int32_t>i
                n_others += 1
    return n_others


def add_by_number(const double[::1] values, const int32_t[::1] places, int64_t[:, ::1] states):
    """Add values[i] to states[places[i]], which are not normalized: at most 2**30 values between two normalizations."""
    cdef Py_ssize_t i
    if states.shape[1] != _STATE_SIZE:
        raise ValueError("states have another size")
    if values.shape[0] == 0:
        return
    need_length(b"places", places.shape[0], values.shape[0])
    need_below(b"places", &places[0], values.shape[0], states.shape[0])
    with nogil:
        for i in range(values.shape[0]):
            add_value(&states[places[i], 0], values[i])


def empty_windows(uint64_t[:, :, ::1] windows, int place, int64_t[:, :, ::1] states):
    """Add windows[i] to states[i], or all windows to a single state, which is normalized; then the windows are zero."""
    cdef Py_ssize_t i, k
    if not 1 <= place < 2047 or windows.shape[1] != states.shape[1] or windows.shape[2] != 2:
        raise ValueError("windows do not belong to these states")
    if states.shape[0] not in (1, windows.shape[0]) or states.shape[2] != _STATE_SIZE:
        raise ValueError("windows do not belong to these states")
    with nogil:
        for i in range(windows.shape[0]):
            for k in range(windows.shape[1]):
                empty_window(&windows[i, k, 0], place, &states[i if states.shape[0] > 1 else 0, k, 0])
                windows[i, k, 0] = windows[i, k, 1] = 0


def add_windows(uint64_t[:, :, ::1] windows, const uint64_t[:, :, ::1] other):
    """Add windows of one place to others, modulo 2**128."""
    cdef Py_ssize_t i, k
    if windows.shape[0] != other.shape[0] or windows.shape[1] != other.shape[1]:
        raise ValueError("there must be equally many windows")
    if windows.shape[2] != 2 or other.shape[2] != 2:
        raise ValueError("a window has two words")
    with nogil:
        for i in range(windows.shape[0]):
            for k in range(windows.shape[1]):
                windows[i, k, 0] += other[i, k, 0]
                windows[i, k, 1] += other[i, k, 1] + (windows[i, k, 0] < other[i, k, 0])


def limbs_of_windows(const uint64_t[:, :, ::1] windows, int place, int64_t[:, :, ::1] limbs) -> int:
    """Write every window as five limbs with its sign, below 2**33 in magnitude. Returns the limb of a state at which
    they begin.
    """
    cdef Py_ssize_t i, k
    if not 1 <= place < 2047 or windows.shape[0] != limbs.shape[0] or windows.shape[1] != limbs.shape[1]:
        raise ValueError("windows do not belong to these limbs")
    if windows.shape[2] != 2 or limbs.shape[2] != WINDOW_LIMBS:
        raise ValueError("a window has two words, and five limbs")
    with nogil:
        for i in range(windows.shape[0]):
            for k in range(windows.shape[1]):
                write_limbs(&windows[i, k, 0], place, &limbs[i, k, 0])
    return first_limb(place)


def count_by_number(const int32_t[::1] numbers, const uint16_t[::1] cells or None, int64_t[:, ::1] counts):
    """Add 1 to counts[numbers[i], cells[i]] for every row i; cells are 0 if there are none."""
    cdef Py_ssize_t i
    cdef Py_ssize_t n_counts = counts.shape[1]
    cdef int64_t* first
    if numbers.shape[0] == 0 or counts.shape[0] == 0:
        return
    if cells is not None and cells.shape[0] != numbers.shape[0]:
        raise ValueError("columns have different lengths")
    need_below(b"numbers", &numbers[0], numbers.shape[0], counts.shape[0])
    need_length(b"cells of counts", n_counts, 1 + (
        greatest_cell(&cells[0], cells.shape[0]) if cells is not None else 0))
    first = &counts[0, 0]
    with nogil:
        if cells is None:
            for i in range(numbers.shape[0]):
                first[numbers[i] * n_counts] += 1
        else:
            for i in range(numbers.shape[0]):
                if i + AHEAD < numbers.shape[0]:
                    prefetch(first + numbers[i + AHEAD] * n_counts + cells[i + AHEAD])
                first[numbers[i] * n_counts + cells[i]] += 1


def count_labels_by_number(const int32_t[::1] numbers, const uint8_t[::1] labels, int64_t[:, ::1] counts):
    """Add 1 to counts[numbers[i], 0] and labels[i] to counts[numbers[i], 1], for every row i."""
    cdef Py_ssize_t i
    cdef Py_ssize_t n_counts = counts.shape[1]
    cdef int64_t* own
    if numbers.shape[0] == 0 or counts.shape[0] == 0:
        return
    if labels.shape[0] != numbers.shape[0] or n_counts < 2:
        raise ValueError("columns have different lengths")
    need_below(b"numbers", &numbers[0], numbers.shape[0], counts.shape[0])
    with nogil:
        for i in range(numbers.shape[0]):
            if i + AHEAD < numbers.shape[0]:
                prefetch(&counts[0, 0] + numbers[i + AHEAD] * n_counts)
            own = &counts[0, 0] + numbers[i] * n_counts
            own[0] += 1
            own[1] += labels[i]


def normalize_state(int64_t[::1] state):
    """Bring the limb-wise sum of at most 2**30 normalized states back to the canonical form."""
    need_length(b"state", state.shape[0], _STATE_SIZE)
    with nogil:
        normalize(&state[0])


def normalize_states(int64_t[:, :, ::1] states):
    """As normalize_state, for states[i, k] of any i and k."""
    cdef Py_ssize_t i, k
    if states.shape[2] != _STATE_SIZE:
        raise ValueError("states have another size")
    with nogil:
        for i in range(states.shape[0]):
            for k in range(states.shape[1]):
                normalize(&states[i, k, 0])


def divide_states(const int64_t[:, ::1] states, double high, double low, double error, double[::1] out):
    """Write the sum of every state, divided by a denominator and rounded once; NaN where the rounding is uncertain.

    States are normalized. One with an infinity or NaN counts as uncertain. The denominator is high + low, to within an
    error; it is positive, neither very large nor very small.
    """
    cdef DoubleDouble denominator = two_sum(high, low)
    cdef int64_t numerator[_STATE_SIZE]
    cdef Py_ssize_t i
    need_length(b"words of a state", states.shape[1], _STATE_SIZE)
    need_length(b"out", out.shape[0], states.shape[0])
    with nogil:
        for i in range(states.shape[0]):
            memcpy(numerator, &states[i, 0], sizeof(numerator))
            if count_non_finite(numerator) or not divide_state_within(numerator, denominator, error, &out[i]):
                out[i] = NAN


def merge_double_doubles(double[:, ::1] totals, const double[:, ::1] other):
    """Add double-doubles to double-doubles. The relative error is below 2**-103."""
    cdef Py_ssize_t i
    need_length(b"other", other.shape[0], totals.shape[0])
    need_length(b"words of a sum", min(totals.shape[1], other.shape[1]), 2)
    with nogil:
        for i in range(totals.shape[0]):
            add_double_double(&totals[i, 0], other[i, 0], other[i, 1])


def total_of_double_doubles(const double[:, ::1] totals, double[:, ::1] total):
    """Add all of them to total[0]."""
    cdef Py_ssize_t i
    need_length(b"total", total.shape[0], 1)
    need_length(b"words of a sum", min(totals.shape[1], total.shape[1]), 2)
    with nogil:
        for i in range(totals.shape[0]):
            add_double_double(&total[0, 0], totals[i, 0], totals[i, 1])


def divide_totals(double[:, ::1] totals, double bound, double high, double low, double error, double[::1] out):
    """Write every total, divided by a denominator and rounded once; NaN where the rounding is uncertain.

    `bound` is the relative error of the sums. The denominator is high + low, to within an error; it is positive,
    neither very large nor very small. A quotient below 2**-400 counts as uncertain: its terms may have underflowed.
    """
    cdef DoubleDouble denominator = two_sum(high, low)
    cdef DoubleDouble sum
    cdef Py_ssize_t i
    need_length(b"out", out.shape[0], totals.shape[0])
    need_length(b"words of a sum", totals.shape[1], 2)
    with nogil:
        for i in range(totals.shape[0]):
            sum = two_sum(totals[i, 0], totals[i, 1])
            if not (
                2.0 ** -400 < sum.high < 2.0 ** 450 and sum.high > 2.0 ** -400 * denominator.high
                and divide_double_doubles(sum, bound * sum.high, denominator, error, &out[i])
            ):
                out[i] = NAN


def one_minus_quotients(double[:, ::1] parts, double[:, ::1] wholes, double bound, double[::1] out):
    """Write 1 - part / whole for double-doubles, rounded once; NaN where the rounding is uncertain.

    `bound` is the relative error of the sums. Sums that are very large, very small or zero count as uncertain.
    """
    cdef DoubleDouble part, whole
    cdef Py_ssize_t i
    need_length(b"wholes and out", min(wholes.shape[0], out.shape[0]), parts.shape[0])
    need_length(b"words of a sum", min(parts.shape[1], wholes.shape[1]), 2)
    with nogil:
        for i in range(parts.shape[0]):
            part = two_sum(parts[i, 0], parts[i, 1])
            whole = two_sum(wholes[i, 0], wholes[i, 1])
            if not (
                2.0 ** -300 < part.high < 2.0 ** 300 and 2.0 ** -300 < whole.high < 2.0 ** 300
                and one_minus_quotient(part, bound * part.high, whole, bound * whole.high, &out[i])
            ):
                out[i] = NAN


def any_below(const int64_t[:, ::1] states, int limbs) -> bool:
    """Is the sum of a state negative, below 2**(32 limbs - BASE_EXPONENT), or not finite?"""
    cdef Py_ssize_t i
    cdef int limb
    cdef bint found = 0
    need_length(b"words of a state", states.shape[1], _STATE_SIZE)
    need_length(b"limbs", limbs, 0)
    with nogil:
        for i in range(states.shape[0]):
            limb = _N_LIMBS - 1
            while limb >= limbs and states[i, limb] == 0:
                limb -= 1
            if limb < limbs or states[i, _N_LIMBS - 1] < 0 or count_non_finite(&states[i, 0]):
                found = 1
                break
    return found


cdef inline bint is_usual(double value) noexcept nogil:
    """Is it far from the least and from the greatest doubles?"""
    return LEAST < fabs(value) < MOST


cdef inline bint need_columns(
    const double[:, ::1] first, const double[:, ::1] second, Py_ssize_t rows
) except -1:
    need_length(b"parts of numbers", min(first.shape[0], second.shape[0]), PARTS)
    if not (first.shape[1] in (1, rows) and second.shape[1] in (1, rows)):
        raise ValueError("columns have different lengths")
    return 0


def load_numbers(const int64_t[:, :, ::1] states, Py_ssize_t place, double[:, ::1] out):
    """Write the exact sums states[i, place]; NaN for sums that are not finite, very large or very small."""
    cdef int64_t state[_STATE_SIZE]
    cdef DoubleDouble number
    cdef bint is_exact = 1
    cdef Py_ssize_t i
    need_length(b"words of a state", states.shape[2], _STATE_SIZE)
    need_length(b"parts of numbers", out.shape[0], PARTS)
    need_length(b"out", out.shape[1], states.shape[0])
    if not 0 <= place < states.shape[1]:
        raise ValueError("there is no such sum")
    with nogil:
        for i in range(states.shape[0]):
            memcpy(state, &states[i, place, 0], sizeof(state))
            number.high = NAN
            number.low = 0
            if not count_non_finite(state) and not load_with_exactness(state, &number, &is_exact):
                number.high = NAN
            out[0, i] = number.high
            out[1, i] = number.low
            out[2, i] = 0 if is_exact else fabs(number.high) * 2.0 ** -100


cdef inline DoubleDouble add_within(DoubleDouble x, DoubleDouble y, double* error) noexcept nogil:
    """x + y; what is cut off of the exact sum is added to the error."""
    cdef DoubleDouble high = two_sum(x.high, y.high)
    cdef DoubleDouble low = two_sum(x.low, y.low)
    cdef DoubleDouble middle = two_sum(high.low, low.high)
    cdef DoubleDouble top = two_sum(high.high, middle.high)
    cdef DoubleDouble rest = two_sum(middle.low, low.low)
    cdef DoubleDouble bottom = two_sum(top.low, rest.high)
    error[0] = (error[0] + fabs(rest.low) + fabs(bottom.low)) * SLACK
    return two_sum(top.high, bottom.high)


def load_limbs(const int64_t[:, :] limbs, const double[::1] units, double[:, ::1] out):
    """Write the sums of limbs[i, k] * units[k], limbs below 2**62; NaN for sums that are very large or very small."""
    cdef DoubleDouble number, part
    cdef double error
    cdef Py_ssize_t i, k
    need_length(b"units", units.shape[0], limbs.shape[1])
    need_length(b"parts of numbers", out.shape[0], PARTS)
    need_length(b"out", out.shape[1], limbs.shape[0])
    with nogil:
        for i in range(limbs.shape[0]):
            number.high = number.low = error = 0
            for k in range(limbs.shape[1]):
                part.high = <double>limbs[i, k]
                part.low = units[k] * <double>(limbs[i, k] - <int64_t>part.high)
                part.high *= units[k]
                number = add_within(number, part, &error)
            out[0, i] = number.high if number.high == 0 or 2.0 ** -400 < fabs(number.high) < 2.0 ** 450 else NAN
            out[1, i] = number.low
            out[2, i] = error


def add_numbers(const double[:, ::1] first, const double[:, ::1] second, double sign, double[:, ::1] out):
    """Write first + sign * second, for a sign of 1 or -1. The error is what is cut off of the exact sum."""
    cdef Py_ssize_t i, n = out.shape[1]
    cdef Py_ssize_t j = 0, k = 0
    cdef Py_ssize_t step_first = first.shape[1] > 1, step_second = second.shape[1] > 1
    cdef DoubleDouble x, y
    need_columns(first, second, n)
    need_length(b"parts of numbers", out.shape[0], PARTS)
    with nogil:
        for i in range(n):
            x.high = first[0, j]
            x.low = first[1, j]
            y.high = sign * second[0, k]
            y.low = sign * second[1, k]
            out[2, i] = first[2, j] + second[2, k]
            x = add_within(x, y, &out[2, i])
            out[0, i] = x.high
            out[1, i] = x.low
            j += step_first
            k += step_second


def multiply_numbers(const double[:, ::1] first, const double[:, ::1] second, double[:, ::1] out):
    """Write first * second."""
    cdef Py_ssize_t i, n = out.shape[1]
    cdef Py_ssize_t j = 0, k = 0
    cdef Py_ssize_t step_first = first.shape[1] > 1, step_second = second.shape[1] > 1
    cdef double x, y, product, error, one, other, crossed, bound
    cdef DoubleDouble number
    need_columns(first, second, n)
    need_length(b"parts of numbers", out.shape[0], PARTS)
    with nogil:
        for i in range(n):
            x = first[0, j]
            y = second[0, k]
            product = x * y
            error = product_error(x, y, product)
            one = x * second[1, k]
            other = first[1, j] * y
            crossed = one + other
            number = two_sum(product, error + crossed)
            bound = 0
            if one != 0 or other != 0:
                bound = 2 * UNIT * (fabs(one) + fabs(other) + fabs(error)) + fabs(first[1, j] * second[1, k])
            bound += (fabs(x) + fabs(first[1, j])) * second[2, k] + (fabs(y) + fabs(second[1, k])) * first[2, j]
            out[0, i] = number.high if is_usual(product) or x == 0 or y == 0 else NAN
            out[1, i] = number.low
            out[2, i] = (bound + first[2, j] * second[2, k]) * SLACK
            j += step_first
            k += step_second


def divide_numbers(const double[:, ::1] first, const double[:, ::1] second, double[:, ::1] out):
    """Write first / second; NaN unless the second number is above 0."""
    cdef Py_ssize_t i, n = out.shape[1]
    cdef Py_ssize_t j = 0, k = 0
    cdef Py_ssize_t step_first = first.shape[1] > 1, step_second = second.shape[1] > 1
    cdef double x, y, quotient, product, correction
    cdef DoubleDouble number
    need_columns(first, second, n)
    need_length(b"parts of numbers", out.shape[0], PARTS)
    with nogil:
        for i in range(n):
            x = first[0, j]
            y = second[0, k]
            quotient = x / y if is_usual(y) and y > second[2, k] * CERTAIN else NAN
            if not is_usual(quotient) and x != 0:
                quotient = NAN
            product = quotient * y
            correction = ((x - product) - product_error(quotient, y, product)) + first[1, j]
            number = two_sum(quotient, (correction - quotient * second[1, k]) / y)
            out[0, i] = number.high
            out[1, i] = number.low
            out[2, i] = (
                2 * (first[2, j] + fabs(quotient) * second[2, k]) / y + fabs(quotient) * 2.0 ** -92
            )
            j += step_first
            k += step_second


def round_quotients(const double[:, ::1] first, const double[:, ::1] second, double[::1] out):
    """Write first / second, rounded once; NaN where the rounding is uncertain, or the second number is not above 0."""
    cdef Py_ssize_t i, n = out.shape[0]
    cdef Py_ssize_t j = 0, k = 0
    cdef Py_ssize_t step_first = first.shape[1] > 1, step_second = second.shape[1] > 1
    cdef DoubleDouble x, y
    need_columns(first, second, n)
    with nogil:
        for i in range(n):
            x.high = first[0, j]
            x.low = first[1, j]
            y.high = second[0, k]
            y.low = second[1, k]
            out[i] = NAN
            if is_usual(y.high) and y.high > second[2, k] * CERTAIN:
                if x.high == 0 and x.low == 0 and first[2, j] == 0:
                    out[i] = 0
                elif not (
                    is_usual(x.high)
                    and divide_double_doubles(x, first[2, j], y, second[2, k], &out[i])
                    and is_usual(out[i])
                ):
                    out[i] = NAN
            j += step_first
            k += step_second


def round_numbers(const double[:, ::1] numbers, double[::1] out):
    """Write the numbers, rounded once; NaN where the rounding is uncertain."""
    cdef Py_ssize_t i
    need_length(b"parts of numbers", numbers.shape[0], PARTS)
    need_length(b"out", out.shape[0], numbers.shape[1])
    with nogil:
        for i in range(numbers.shape[1]):
            if not (
                is_rounding_certain(numbers[0, i], numbers[1, i], numbers[2, i], &out[i])
                and (is_usual(out[i]) or (out[i] == 0 and numbers[2, i] == 0))
            ):
                out[i] = NAN
