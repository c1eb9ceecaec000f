"""Quotients of exact sums, rounded once, without a Python integer. Calls on few rows and tables of groups need them.

Numbers are double-doubles: pairs (high, low) of doubles whose sum is the value, with a relative error far below
2**-90. A quotient of two either rounds to one double with certainty, or the caller falls back to Python's integers.
This is Ziv's strategy (A. Ziv, 1991, Fast evaluation of elementary mathematical functions with correctly rounded last
bit). The result therefore has the same bits as `exact.divide`; the fallback runs about once in 2**35 quotients.
"""

from libc.math cimport fabs, frexp, ldexp
from libc.stdint cimport int64_t

from fastmetrics._kernels.numeric.superaccumulator cimport (
    BASE_EXPONENT, MINUS_INFINITIES, N_LIMBS, NANS, PLUS_INFINITIES, normalize,
)

cdef extern from "numeric/two_product.h":
    double product_error "fm_product_error"(double x, double y, double product) noexcept nogil

cdef inline int64_t count_non_finite(const int64_t* state) noexcept nogil:
    """The number of infinities and NaN that were added."""
    return state[PLUS_INFINITIES] + state[MINUS_INFINITIES] + state[NANS]


cdef struct DoubleDouble:
    double high
    double low


cdef inline DoubleDouble two_sum(double x, double y) noexcept nogil:
    """x + y without error (Knuth's TwoSum)."""
    cdef DoubleDouble sum
    cdef double rounded_y
    sum.high = x + y
    rounded_y = sum.high - x
    sum.low = (x - (sum.high - rounded_y)) + (y - rounded_y)
    return sum


cdef inline DoubleDouble add_double_doubles(DoubleDouble x, DoubleDouble y) noexcept nogil:
    cdef DoubleDouble out = two_sum(x.high, y.high)
    return two_sum(out.high, out.low + (x.low + y.low))


cdef inline DoubleDouble negate_double_double(DoubleDouble x) noexcept nogil:
    x.high = -x.high
    x.low = -x.low
    return x


cdef inline DoubleDouble multiply_double_doubles(DoubleDouble x, DoubleDouble y) noexcept nogil:
    cdef double product = x.high * y.high
    cdef double error = product_error(x.high, y.high, product)
    return two_sum(product, error + (x.high * y.low + x.low * y.high))


cdef inline DoubleDouble leading_bits(int64_t* state, int* exponent, bint* is_exact) noexcept nogil:
    """At least the leading 129 bits of a state's sum, which is the result times 2**exponent.

    is_exact[0] becomes 0 if bits below them were dropped. The state must be normalized. A negative state is
    overwritten.
    """
    cdef DoubleDouble out
    cdef DoubleDouble limb_sum
    cdef double low = 0
    cdef double unit = 2.0 ** 128  # of the limb that is read
    cdef bint below_zero = state[N_LIMBS - 1] < 0
    cdef int i, top
    out.high = 0
    out.low = 0
    exponent[0] = 0
    is_exact[0] = 1
    if below_zero:
        for i in range(N_LIMBS):
            state[i] = -state[i]
        normalize(state)
    top = N_LIMBS - 1
    while top >= 0 and state[top] == 0:
        top -= 1
    if top < 0:
        return out
    for i in range(5):
        if top - i >= 0:
            limb_sum = two_sum(out.high, unit * <double>state[top - i])
            out.high = limb_sum.high
            limb_sum = two_sum(low, limb_sum.low)
            low = limb_sum.high
            is_exact[0] &= limb_sum.low == 0
            unit *= 2.0 ** -32
    for i in range(top - 4):
        is_exact[0] &= state[i] == 0
    out = two_sum(out.high, low)
    exponent[0] = 32 * (top - 4) - BASE_EXPONENT
    return negate_double_double(out) if below_zero else out


cdef inline bint is_rounding_certain(double high, double low, double error, double* out) noexcept nogil:
    """Return whether every number within `error` of high + low rounds to the same double; write that double."""
    out[0] = high + (low - error)
    return out[0] == high + (low + error)


cdef inline bint round_near_midpoint(DoubleDouble x, double y, double lower, double upper, double* out) noexcept nogil:
    """Round x / y, both exact, to one of two neighboring doubles: to the nearer, or to even at the midpoint.

    x is compared with the midpoint times y. Returns 0 if the difference does not fit a double; the quotient is then
    not at the midpoint.
    """
    cdef double half = (upper - lower) / 2
    cdef double product = lower * y
    cdef DoubleDouble high_difference = two_sum(x.high - product, -product_error(lower, y, product))
    cdef DoubleDouble low_difference = two_sum(x.low, -half * y)
    cdef DoubleDouble remainder = two_sum(high_difference.high, low_difference.high)
    if high_difference.low != 0 or low_difference.low != 0 or remainder.low != 0:
        return 0
    out[0] = lower + half if remainder.high == 0 else upper if remainder.high > 0 else lower
    return 1


cdef inline bint scale_exactly(double value, int exponent, double* out) noexcept nogil:
    """Write value * 2**exponent; return whether it is exact, that is, a normal number."""
    cdef int value_exponent = 0
    frexp(value, &value_exponent)
    out[0] = ldexp(value, exponent)
    return value == 0 or -1000 < value_exponent + exponent < 1000


cdef inline bint divide_double_doubles(
    DoubleDouble x, double x_error, DoubleDouble y, double y_error, double* result
) noexcept nogil:
    """x / y rounded once, for x and y with the given absolute errors and y > 0. Returns 0 if the rounding is uncertain.

    Products of x and y must neither overflow nor underflow.
    """
    cdef double quotient = x.high / y.high
    cdef double product = quotient * y.high
    cdef double correction = ((x.high - product) - product_error(quotient, y.high, product)) + x.low
    cdef double error = (x_error + fabs(quotient) * y_error) / y.high * 1.0001 + fabs(quotient) * 2.0 ** -92
    correction = (correction - quotient * y.low) / y.high
    if is_rounding_certain(quotient, correction, error, result):
        return 1
    # The mean of a few numbers often lies exactly at the midpoint of two doubles.
    return x_error == 0 and y_error == 0 and y.low == 0 and round_near_midpoint(
        x, y.high, result[0], quotient + (correction + error), result)


cdef inline bint divide_state(int64_t* numerator, DoubleDouble denominator, double* out) noexcept nogil:
    """`divide_state_within` for an exact denominator."""
    return divide_state_within(numerator, denominator, 0, out)


cdef inline bint divide_state_within(
    int64_t* numerator, DoubleDouble denominator, double denominator_error, double* out
) noexcept nogil:
    """A state's sum divided by a denominator > 0, rounded once. Returns 0 if the rounding is uncertain.

    The denominator is known to within an error, and is neither very large nor very small. The state must be normalized
    and without infinities. It is overwritten.
    """
    cdef int exponent = 0
    cdef bint is_exact = 1
    cdef DoubleDouble total = leading_bits(numerator, &exponent, &is_exact)
    if total.high == 0:
        out[0] = 0
        return 1
    if not divide_double_doubles(
        total, 0.0 if is_exact else fabs(total.high) * 2.0 ** -96, denominator, denominator_error, out
    ):
        return 0
    return scale_exactly(out[0], exponent, out)


cdef inline bint load_with_exactness(int64_t* state, DoubleDouble* out, bint* is_exact) noexcept nogil:
    """As load_double_double; is_exact[0] becomes 0 if bits of the sum were dropped."""
    cdef int exponent = 0
    out[0] = leading_bits(state, &exponent, is_exact)
    if not scale_exactly(out.high, exponent, &out.high):
        return 0
    out.low = ldexp(out.low, exponent)
    return out.high == 0 or 2.0 ** -400 < fabs(out.high) < 2.0 ** 450


cdef inline bint load_double_double(int64_t* state, DoubleDouble* out) noexcept nogil:
    """Write a state's sum as a double-double. Returns 0 if products of such numbers could overflow or underflow."""
    cdef bint is_exact = 1
    return load_with_exactness(state, out, &is_exact)


cdef inline bint one_minus_quotient(
    DoubleDouble part, double part_error, DoubleDouble whole, double whole_error, double* result
) noexcept nogil:
    """1 - part / whole, rounded once. See divide_double_doubles."""
    cdef DoubleDouble remainder = add_double_doubles(whole, negate_double_double(part))
    return divide_double_doubles(
        remainder, part_error + whole_error + fabs(remainder.high) * 2.0 ** -92, whole, whole_error, result)
