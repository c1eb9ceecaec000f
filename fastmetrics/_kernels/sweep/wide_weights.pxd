"""Exact sums of weights in two words of 64 bits, and their rounding to doubles.

A weight is an integer multiple of 2**unit_exponent, the lowest bit that is set in any weight (see
runs.pyx). The caller has checked that the sum of all weights is below 2**WIDE_BITS units: weights may then
differ by a factor of about 2**50. Sums become doubles by one rounding to the nearest, ties to even; scaling by a power
of two is exact, because a sum below the least normal double has fewer than 53 bits.
"""

from libc.math cimport INFINITY, frexp, ldexp
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset

from fastmetrics._kernels.numeric.quotient cimport DoubleDouble, divide_double_doubles, two_sum
from fastmetrics._kernels.numeric.superaccumulator cimport bits_of_f64

cdef extern from "numeric/uint128_sums.h":
    void add_product_u256 "fm_add_product_u256"(
        uint64_t* sum, uint64_t a_low, uint64_t a_high, uint64_t b_low, uint64_t b_high
    ) noexcept nogil

cdef enum:
    WIDE_BITS = 127
    LEAST_UNIT = -1022
    GREATEST_UNIT = 1023 - 128
    DROPPED_BITS = 0x7FF
    PRODUCT_WORDS = 4


cdef struct Wide:
    uint64_t low
    uint64_t high


cdef struct Span:
    uint64_t last_bit  # the least power of two that is the last bit of a weight, as the bits of a double
    uint64_t greatest  # the bits of the greatest weight


cdef inline Span empty_span() noexcept nogil:
    cdef Span span
    span.last_bit = bits_of_f64(INFINITY)
    span.greatest = 0
    return span


cdef inline void widen_span(double weight, Span* span) noexcept nogil:
    """Widen a span by a weight that is not negative. Zero changes nothing.

    Without its last bit a double has the bits `bits & (bits - 1)`, unless its mantissa is zero: then it is a power of
    two. The difference is exact. Doubles that are not negative have the order of their bits.
    """
    cdef uint64_t bits = bits_of_f64(weight)
    cdef uint64_t rest_bits = bits & (bits - 1) & (0 - <uint64_t>((bits & ((<uint64_t>1 << 52) - 1)) != 0))
    cdef uint64_t last_bit
    cdef double rest
    memcpy(&rest, &rest_bits, sizeof(double))
    last_bit = bits_of_f64(weight - rest)
    span.last_bit = last_bit if last_bit - 1 < span.last_bit - 1 else span.last_bit  # 0 is no last bit
    span.greatest = bits if bits > span.greatest else span.greatest


cdef inline bint exponents_of_span(const Span* span, int* lowest, int* highest) noexcept nogil:
    """All weights are multiples of 2**lowest and below 2**highest. Returns 0 if none was above 0."""
    cdef double last_bit, greatest
    memcpy(&last_bit, &span.last_bit, sizeof(double))
    memcpy(&greatest, &span.greatest, sizeof(double))
    frexp(last_bit, lowest)
    frexp(greatest, highest)
    lowest[0] -= 1
    return span.greatest != 0


cdef inline Wide sum_of(Wide one, Wide other) noexcept nogil:
    one.low += other.low
    one.high += other.high + (one.low < other.low)
    return one


cdef inline Wide subtract(Wide one, Wide other) noexcept nogil:
    one.high -= other.high + (one.low < other.low)
    one.low -= other.low
    return one


cdef inline Wide units_of(double weight, int unit_exponent) noexcept nogil:
    """A weight in units. The position of its bits is random: masks, not branches."""
    cdef uint64_t bits = bits_of_f64(weight)
    cdef int exponent = <int>(bits >> 52)
    cdef uint64_t mantissa = (bits & ((<uint64_t>1 << 52) - 1)) | (<uint64_t>(exponent != 0) << 52)
    cdef int shift = exponent + (exponent == 0) - 1075 - unit_exponent
    cdef int zeros = -shift & -(shift < 0)  # below the unit the mantissa has only zeros
    cdef uint64_t is_below_64, low
    cdef Wide units
    shift += zeros
    mantissa >>= zeros & 63
    is_below_64 = <uint64_t>((shift >> 6) & 1) - 1  # all ones if the shift is below 64, else zero
    shift &= 63
    low = mantissa << shift
    units.high = (((mantissa >> (63 - shift)) >> 1) & is_below_64) | (low & ~is_below_64)
    units.low = low & is_below_64
    return units


cdef inline void add_weight(Wide* total, double weight, int unit_exponent) noexcept nogil:
    total[0] = sum_of(total[0], units_of(weight, unit_exponent))


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
    # What is left has 53 bits. Signed conversions need no branch.
    low = (low >> 11) | ((low & DROPPED_BITS) != 0)
    return (<double><int64_t>total.high * 2.0 ** 64 + <double><int64_t>low * 2.0 ** 11) * unit


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


cdef inline void add_product(uint64_t* sum, Wide one, Wide other) noexcept nogil:
    """sum += one * other, for a sum of four words."""
    add_product_u256(sum, one.low, one.high, other.low, other.high)


cdef inline int compare(const uint64_t* one, const uint64_t* other) noexcept nogil:
    """The sign of one - other, of four words each."""
    cdef int word = PRODUCT_WORDS - 1
    while word and one[word] == other[word]:
        word -= 1
    return (one[word] > other[word]) - (one[word] < other[word])


cdef inline void subtract_words(uint64_t* one, const uint64_t* other) noexcept nogil:
    """one -= other, of four words; a difference below zero is 2**256 more."""
    cdef int word
    cdef uint64_t borrow = 0
    cdef uint64_t difference
    for word in range(PRODUCT_WORDS):
        difference = one[word] - other[word]
        one[word], borrow = difference - borrow, (one[word] < other[word]) | (difference < borrow)


cdef inline void multiply(uint64_t* product, Wide one, Wide other) noexcept nogil:
    memset(product, 0, PRODUCT_WORDS * sizeof(uint64_t))
    add_product(product, one, other)


cdef inline bint is_less(const uint64_t* one, const uint64_t* other) noexcept nogil:
    """Is one < other? Four words each, the last with the sign."""
    cdef int word = PRODUCT_WORDS - 1
    if one[word] != other[word]:
        return <int64_t>one[word] < <int64_t>other[word]
    while word and one[word] == other[word]:
        word -= 1
    return one[word] < other[word]


cdef inline void add_to_extremes(
    uint64_t* state, Wide negatives, Wide positives, Wide all_negatives, Wide all_positives
) noexcept nogil:
    """Add a run to D = (positives so far) * all_negatives - (negatives so far) * all_positives.

    The state is D, its greatest and its least value: four words each, the last with the sign.
    """
    cdef uint64_t product[4]  # PRODUCT_WORDS
    cdef int word
    if positives.low | positives.high:
        add_product(state, positives, all_negatives)
    if negatives.low | negatives.high:
        multiply(product, negatives, all_positives)
        subtract_words(state, product)
    if is_less(state + PRODUCT_WORDS, state):
        for word in range(PRODUCT_WORDS):
            state[PRODUCT_WORDS + word] = state[word]
    if is_less(state, state + 2 * PRODUCT_WORDS):
        for word in range(PRODUCT_WORDS):
            state[2 * PRODUCT_WORDS + word] = state[word]


cdef inline DoubleDouble leading_words(const uint64_t* number, int* exponent, double* error) noexcept nogil:
    """A number of four words as two doubles times 2**exponent. `error` is the greatest difference, 0 if there is none.

    The leading 117 bits are read: the upper 53 of them are a double, and so are the halves of the lower ones.
    """
    cdef Wide leading
    cdef DoubleDouble out
    cdef int top = 3
    cdef int shift
    cdef uint64_t below = 0
    while top > 1 and number[top] == 0:
        top -= 1
    leading.high, leading.low = number[top], number[top - 1]
    exponent[0] = 64 * (top - 1)
    if leading.high >> 53:
        shift = 0
        while leading.high >> 53 >> shift:  # a shift by all 64 bits is undefined
            shift += 1
        below = leading.low & ((<uint64_t>1 << shift) - 1)
        leading.low = (leading.low >> shift) | (leading.high << (64 - shift))
        leading.high >>= shift
        exponent[0] += shift
    while top > 1:
        top -= 1
        below |= number[top - 1]
    out = as_double_double(leading, error)
    if below:
        error[0] = out.high * 2.0 ** -103
    return out


cdef inline bint divide_wide(const uint64_t* part, const uint64_t* whole, double* result) noexcept nogil:
    """part / whole for numbers of four words, rounded once. Returns 0 if the rounding is uncertain."""
    cdef double part_error = 0
    cdef double whole_error = 0
    cdef int part_exponent = 0
    cdef int whole_exponent = 0
    cdef DoubleDouble numerator = leading_words(part, &part_exponent, &part_error)
    cdef DoubleDouble denominator = leading_words(whole, &whole_exponent, &whole_error)
    if not divide_double_doubles(numerator, part_error, denominator, whole_error, result):
        return 0
    result[0] = ldexp(result[0], part_exponent - whole_exponent)
    return 1


cdef inline bint divide_sums(Wide part, Wide whole, double* result) noexcept nogil:
    """part / whole for sums in the same unit, rounded once. Returns 0 if the rounding is uncertain.

    The errors are read in a statement of their own: C may evaluate the arguments of a call in any order.
    """
    cdef double part_error = 0
    cdef double whole_error = 0
    cdef DoubleDouble numerator = as_double_double(part, &part_error)
    cdef DoubleDouble denominator = as_double_double(whole, &whole_error)
    return divide_double_doubles(numerator, part_error, denominator, whole_error, result)


cdef inline bint precision_term(
    Wide tied, Wide positives, Wide negatives, int unit_exponent, double unit, double* term
) noexcept nogil:
    """The weight of the positives of one score times the precision there, P / (P + N).

    Weight and precision are rounded once each, and so is their product. Returns 0 if a rounding is uncertain.
    """
    cdef double precision = 0
    if not divide_sums(positives, sum_of(negatives, positives), &precision):
        return 0
    term[0] = rounded(tied, unit_exponent, unit) * precision
    return 1
