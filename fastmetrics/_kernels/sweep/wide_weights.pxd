"""Exact sums of weights in two words of 64 bits, and their rounding to doubles.

A weight is an integer multiple of 2**unit_exponent, the lowest bit that is set in any weight (see
weighted_ranges.pyx). The caller has checked that the sum of all weights is below 2**WIDE_BITS units: weights may then
differ by a factor of about 2**50. Sums become doubles by one rounding to the nearest, ties to even; scaling by a power
of two is exact, because a sum below the least normal double has fewer than 53 bits.
"""

from libc.math cimport ldexp
from libc.stdint cimport uint64_t

from fastmetrics._kernels.numeric.quotient cimport DoubleDouble, two_sum
from fastmetrics._kernels.numeric.superaccumulator cimport bits_of_f64

cdef enum:
    WIDE_BITS = 127
    LEAST_UNIT = -1022
    GREATEST_UNIT = 1023 - 128
    DROPPED_BITS = 0x7FF


cdef struct Wide:
    uint64_t low
    uint64_t high


cdef inline Wide sum_of(Wide one, Wide other) noexcept nogil:
    one.low += other.low
    one.high += other.high + (one.low < other.low)
    return one


cdef inline Wide subtract(Wide one, Wide other) noexcept nogil:
    one.high -= other.high + (one.low < other.low)
    one.low -= other.low
    return one


cdef inline void add_weight(Wide* total, double weight, int unit_exponent) noexcept nogil:
    """Add a weight. The position of its bits is random: masks, not branches."""
    cdef uint64_t bits = bits_of_f64(weight)
    cdef int exponent = <int>(bits >> 52)
    cdef uint64_t mantissa = (bits & ((<uint64_t>1 << 52) - 1)) | (<uint64_t>(exponent != 0) << 52)
    cdef int shift = exponent + (exponent == 0) - 1075 - unit_exponent
    cdef int zeros = -shift & -(shift < 0)  # below the unit the mantissa has only zeros
    cdef uint64_t is_below_64, low, high
    shift += zeros
    mantissa >>= zeros & 63
    is_below_64 = <uint64_t>((shift >> 6) & 1) - 1  # all ones if the shift is below 64, else zero
    shift &= 63
    low = mantissa << shift
    high = (((mantissa >> (63 - shift)) >> 1) & is_below_64) | (low & ~is_below_64)
    low &= is_below_64
    total.low += low
    total.high += high + (total.low < low)


cdef inline double round_any(Wide total, int unit_exponent) noexcept nogil:
    """A sum as the nearest double."""
    cdef uint64_t high = total.high
    cdef uint64_t low = total.low
    cdef int zeros = 0
    cdef int step = 32
    if high == 0:
        return ldexp(<double>low, unit_exponent)
    while step:
        if not high >> (64 - step):
            high <<= step
            zeros += step
        step >>= 1
    if zeros:
        high |= low >> (64 - zeros)
        low <<= zeros
    # The last bit says whether anything was cut off. A double has 11 bits less than the word: it is none of its bits.
    high |= low != 0
    return ldexp(<double>high, unit_exponent + 64 - zeros)


cdef inline double rounded(Wide total, int unit_exponent, double unit) noexcept nogil:
    """As round_any; `unit` is 2**unit_exponent if products with it are exact, otherwise 0."""
    cdef uint64_t low = total.low
    if unit == 0 or total.high - 2 >= (<uint64_t>1 << 53) - 2:
        if unit == 0 or total.high:
            return round_any(total, unit_exponent)
        return <double>low * unit
    # From 2 * 2**64 on, the 11 lowest bits are less than half of a double's last place: one bit says if any is set.
    low = (low | (<uint64_t>((low & DROPPED_BITS) != 0) << 11)) & ~DROPPED_BITS
    return (<double>total.high * 2.0 ** 64 + <double>low) * unit


cdef inline double scale_of_unit(int unit_exponent) noexcept nogil:
    """2**unit_exponent if products with it are exact, otherwise 0."""
    return ldexp(1.0, unit_exponent) if LEAST_UNIT <= unit_exponent <= GREATEST_UNIT else 0.0


cdef inline DoubleDouble as_double_double(Wide total, double* error) noexcept nogil:
    """A sum in units as two doubles. `error` is the greatest difference, 0 if there is none."""
    cdef DoubleDouble low = two_sum(<double>(total.low >> 32) * 2.0 ** 32, <double>(total.low & 0xFFFFFFFFu))
    cdef DoubleDouble out = two_sum(<double>total.high * 2.0 ** 64, low.high)
    cdef DoubleDouble rest = two_sum(out.low, low.low)
    error[0] = 0 if rest.low == 0 else out.high * 2.0 ** -104
    if total.high >> 53:
        error[0] = out.high * 2.0 ** -52
    out.low = rest.high
    return out
