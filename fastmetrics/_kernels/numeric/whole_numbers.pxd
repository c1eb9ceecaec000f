"""Superaccumulator states as the whole numbers they are: adding multiples of a power of two, and means.

A state (superaccumulator.pxd) times 2**BASE_EXPONENT is an integer of N_LIMBS digits of 32 bits. What Python's integers
do for the long way (_core/exact.py) is done here for calls so short that making such an integer would be felt.
"""

from libc.math cimport ldexp
from libc.stdint cimport int64_t, uint64_t

from fastmetrics._kernels.superaccumulator cimport BASE_EXPONENT, N_LIMBS, normalise


cdef inline void add_integer(int64_t* state, int64_t value, int exponent) noexcept nogil:
    """Add value * 2**exponent, for exponents from -BASE_EXPONENT to 0."""
    cdef int place = exponent + BASE_EXPONENT
    cdef int limb = place >> 5
    cdef int shift = place & 31
    cdef int64_t sign = -1 if value < 0 else 1
    cdef uint64_t magnitude = <uint64_t>value if value >= 0 else <uint64_t>0 - <uint64_t>value
    state[limb] += sign * <int64_t>((magnitude << shift) & 0xFFFFFFFFu)
    state[limb + 1] += sign * <int64_t>((magnitude >> (32 - shift)) & 0xFFFFFFFFu)
    state[limb + 2] += sign * <int64_t>((magnitude >> (63 - shift)) >> 1)


cdef inline void make_absolute(int64_t* state) noexcept nogil:
    """The sum without its sign. The state is normalised, before and after."""
    cdef int i
    if state[N_LIMBS - 1] < 0:
        for i in range(N_LIMBS):
            state[i] = -state[i]
        normalise(state)


cdef inline double mean_of(const int64_t* state, uint64_t n) noexcept nogil:
    """The sum / n, rounded once to nearest even, as Python's integers would be.

    The state is normalised, not negative and without infinities, and 0 < n < 2**32: the digits of the quotient come one
    by one, each from a remainder below n and the next limb. Three digits from the first that is not zero hold more than
    64 bits; the leading 64 and whether anything is left below them decide the rounding.
    """
    cdef uint64_t remainder = 0
    cdef uint64_t high = 0
    cdef uint64_t bits, half, below
    cdef uint64_t digit
    cdef int limb, first, shift, drop
    cdef bint left
    first = N_LIMBS - 1
    while first >= 0 and state[first] == 0:
        first -= 1
    if first < 0:
        return 0.0
    # The leading limb may be smaller than n: its digit is then zero and the next one begins.
    if <uint64_t>state[first] < n:
        remainder = <uint64_t>state[first]
        first -= 1
    for limb in range(first, first - 2, -1):
        remainder = (remainder << 32) | (<uint64_t>state[limb] if limb >= 0 else 0)
        high = (high << 32) | (remainder // n)
        remainder = remainder % n
    remainder = (remainder << 32) | (<uint64_t>state[first - 2] if first >= 2 else 0)
    digit = remainder // n
    left = remainder % n != 0
    for limb in range(first - 2):
        left |= state[limb] != 0
    shift = 0
    while not high >> 63:
        high = (high << 1) | (digit >> 31)
        digit = (digit << 1) & 0xFFFFFFFFu
        shift += 1
    left |= digit != 0
    # The quotient is `high` and a little, times 2**(32 * (first - 1) - BASE_EXPONENT - shift).
    shift = 32 * (first - 1) - BASE_EXPONENT - shift
    drop = 11 if shift + 11 >= -1074 else -1074 - shift
    if drop > 64:
        return 0.0
    bits = high >> drop if drop < 64 else 0
    below = high << (64 - drop)
    half = <uint64_t>1 << 63
    if below > half or (below == half and (left or bits & 1)):
        bits += 1
    return ldexp(<double>bits, shift + drop)
