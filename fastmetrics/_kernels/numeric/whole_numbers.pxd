"""Integer arithmetic on superaccumulator states: adding multiples of a power of two, and means.

A state (superaccumulator.pxd) times 2**BASE_EXPONENT is an integer with N_LIMBS digits of 32 bits. `_core/exact.py`
does the same with Python's integers. These functions serve calls on few rows, where creating such an integer would take
a noticeable part of the time.
"""

from libc.math cimport ldexp
from libc.stdint cimport int64_t, uint64_t

from fastmetrics._kernels.numeric.superaccumulator cimport BASE_EXPONENT, N_LIMBS, normalize


cdef inline void add_integer(int64_t* state, int64_t value, int exponent) noexcept nogil:
    """Add value * 2**exponent, for exponents from -BASE_EXPONENT to 0."""
    cdef int bit_position = exponent + BASE_EXPONENT
    cdef int limb = bit_position >> 5
    cdef int shift = bit_position & 31
    cdef int64_t sign = -1 if value < 0 else 1
    cdef uint64_t magnitude = <uint64_t>value if value >= 0 else <uint64_t>0 - <uint64_t>value
    state[limb] += sign * <int64_t>((magnitude << shift) & 0xFFFFFFFFu)
    state[limb + 1] += sign * <int64_t>((magnitude >> (32 - shift)) & 0xFFFFFFFFu)
    state[limb + 2] += sign * <int64_t>((magnitude >> (63 - shift)) >> 1)


cdef inline void make_absolute(int64_t* state) noexcept nogil:
    """Make the sum positive. The state is normalized before and after."""
    cdef int i
    if state[N_LIMBS - 1] < 0:
        for i in range(N_LIMBS):
            state[i] = -state[i]
        normalize(state)


cdef inline double divide_by_count(const int64_t* state, uint64_t n) noexcept nogil:
    """The sum divided by n, rounded once (to nearest, ties to even), as division of Python's integers does.

    The state is normalized, not negative and without infinities, and 0 < n < 2**32. This is long division: each digit
    of the quotient comes from a remainder below n and the next limb. Three digits from the first non-zero one hold more
    than 64 bits. The leading 64 bits, and whether anything below them is non-zero, decide the rounding.
    """
    cdef uint64_t remainder = 0
    cdef uint64_t high = 0
    cdef uint64_t bits, half, below
    cdef uint64_t digit
    cdef int limb, first, shift, drop
    cdef bint is_inexact
    first = N_LIMBS - 1
    while first >= 0 and state[first] == 0:
        first -= 1
    if first < 0:
        return 0.0
    # If the leading limb is smaller than n, its digit is zero and the quotient begins with the next limb.
    if <uint64_t>state[first] < n:
        remainder = <uint64_t>state[first]
        first -= 1
    for limb in range(first, first - 2, -1):
        remainder = (remainder << 32) | (<uint64_t>state[limb] if limb >= 0 else 0)
        high = (high << 32) | (remainder // n)
        remainder = remainder % n
    remainder = (remainder << 32) | (<uint64_t>state[first - 2] if first >= 2 else 0)
    digit = remainder // n
    is_inexact = remainder % n != 0
    for limb in range(first - 2):
        is_inexact |= state[limb] != 0
    shift = 0
    while not high >> 63:
        high = (high << 1) | (digit >> 31)
        digit = (digit << 1) & 0xFFFFFFFFu
        shift += 1
    is_inexact |= digit != 0
    # The quotient is `high` plus a fraction, times 2**(32 * (first - 1) - BASE_EXPONENT - shift).
    shift = 32 * (first - 1) - BASE_EXPONENT - shift
    drop = 11 if shift + 11 >= -1074 else -1074 - shift
    if drop > 64:
        return 0.0
    bits = high >> drop if drop < 64 else 0
    below = high << (64 - drop)
    half = <uint64_t>1 << 63
    if below > half or (below == half and (is_inexact or bits & 1)):
        bits += 1
    return ldexp(<double>bits, shift + drop)
