"""Sums of float64 without any rounding: a fixed-point number wide enough for every double.

The superaccumulator of R. Neal (2015, arXiv:1505.05571). A state is STATE_SIZE int64: N_LIMBS limbs of 32 bits, limb i
weighing 2**(32 i - BASE_EXPONENT), then how many +inf, -inf and NaN were added. Adding a double touches at most three
limbs; a limb has 31 spare bits for carries, so up to 2**30 additions may pass between two normalisations. Normalised,
all limbs but the last lie in [0, 2**32) and the last carries the sign; a state is then a canonical form: equal sums
have equal states. States add limb by limb: merging is integer addition.

Most values never get that far. `add_chunk` first sums 2048 values at two binary places with plain, exact, vectorised
additions (vectormath.h) and only puts the totals, and what little is left of single values, into the state.
"""

from libc.math cimport fabs, frexp, ldexp
from libc.stdint cimport int64_t, uint64_t

cdef extern from "vectormath.h":
    cdef enum:
        FM_LANES
    void negative_logs "fm_negative_logs"(double* values, Py_ssize_t n) noexcept nogil
    double greatest_magnitude "fm_greatest_magnitude"(const double* values, Py_ssize_t n) noexcept nogil
    int split_sums "fm_split_sums"(
        const double* values, Py_ssize_t n, double sigma_first, double sigma_second, double* totals, double* rest
    ) noexcept nogil

cdef extern from *:
    """
    #include <string.h>
    static inline uint64_t fm_bits_f64(double x) { uint64_t bits; memcpy(&bits, &x, 8); return bits; }
    """
    uint64_t bits_f64 "fm_bits_f64"(double x) noexcept nogil

cdef enum:
    N_LIMBS = 69
    BASE_EXPONENT = 1088
    PLUS_INFINITIES = 69
    MINUS_INFINITIES = 70
    NANS = 71
    STATE_SIZE = 72
    CHUNK = 2048               # values summed at once: 2**7 in a lane, which leave 45 bits for each level
    GUARD_BITS = 8
    LEVEL_BITS = 45
    CHUNKS_PER_CARRY = 1 << 18


cdef inline void add_value(int64_t* state, double value) noexcept nogil:
    cdef uint64_t bits = bits_f64(value)
    cdef int exponent = <int>((bits >> 52) & 2047)
    cdef uint64_t mantissa = bits & ((<uint64_t>1 << 52) - 1)
    cdef int place, limb, shift
    cdef int64_t low, middle, high
    if exponent == 2047:
        if mantissa:
            state[NANS] += 1
        elif bits >> 63:
            state[MINUS_INFINITIES] += 1
        else:
            state[PLUS_INFINITIES] += 1
        return
    if exponent:
        mantissa |= <uint64_t>1 << 52
    else:
        exponent = 1
    place = exponent - 1075 + BASE_EXPONENT
    limb = place >> 5
    shift = place & 31
    low = <int64_t>((mantissa << shift) & 0xFFFFFFFFu)
    middle = <int64_t>((mantissa >> (32 - shift)) & 0xFFFFFFFFu)
    high = <int64_t>((mantissa >> (63 - shift)) >> 1)
    if bits >> 63:
        state[limb] -= low
        state[limb + 1] -= middle
        state[limb + 2] -= high
    else:
        state[limb] += low
        state[limb + 1] += middle
        state[limb + 2] += high


cdef inline void normalise(int64_t* state) noexcept nogil:
    cdef int i
    cdef int64_t carry = 0
    cdef int64_t limb
    for i in range(N_LIMBS - 1):
        limb = state[i] + carry
        carry = limb >> 32
        state[i] = limb & 0xFFFFFFFFu
    state[N_LIMBS - 1] += carry


cdef inline void add_rest(int64_t* state, double* rest, Py_ssize_t padded) noexcept nogil:
    """Add what the split of a chunk left of single values: split once more, at the places of what is left."""
    cdef double totals[2 * FM_LANES]
    cdef double last[CHUNK]
    cdef double greatest = greatest_magnitude(rest, padded)
    cdef double sigma
    cdef double* single = rest
    cdef int exponent = 0
    cdef Py_ssize_t i
    if greatest > 1e-200:
        frexp(greatest, &exponent)
        sigma = ldexp(1.5, exponent + GUARD_BITS)
        if not split_sums(rest, padded, sigma, ldexp(sigma, -LEVEL_BITS), totals, last):
            padded = 0
        single = last
        for i in range(2 * FM_LANES):
            add_value(state, totals[i])
    for i in range(padded):
        if single[i] != 0:
            add_value(state, single[i])


cdef inline void add_chunk(int64_t* state, double* values, Py_ssize_t n, double* rest) noexcept nogil:
    """Add n <= CHUNK values. `values` and `rest` have room for CHUNK; `values` may be written past n (with zeros)."""
    cdef double totals[2 * FM_LANES]
    cdef double greatest
    cdef double sigma
    cdef int exponent = 0
    cdef int is_nan = 0
    cdef Py_ssize_t i
    cdef Py_ssize_t padded = n
    while padded % FM_LANES:
        values[padded] = 0.0
        padded += 1
    greatest = greatest_magnitude(values, padded)
    if not 1e-200 < greatest < 1e200:
        # Zeros, infinities, or magnitudes at which the split itself would round; NaN hides behind any of them.
        for i in range(n):
            add_value(state, values[i])
        return
    frexp(greatest, &exponent)
    sigma = ldexp(1.5, exponent + GUARD_BITS)
    if split_sums(values, padded, sigma, ldexp(sigma, -LEVEL_BITS), totals, rest):
        for i in range(FM_LANES):
            is_nan |= totals[i] != totals[i]
        if is_nan:
            # The split says nothing then.
            for i in range(n):
                add_value(state, values[i])
            return
        add_rest(state, rest, padded)
    for i in range(2 * FM_LANES):
        add_value(state, totals[i])


cdef inline double rounded(const int64_t* state) noexcept nogil:
    """The sum of a normalised state without infinities or NaN, not negative, rounded once (to nearest, ties to even).

    The leading 64 bits are taken with a mark for what is below them, and one conversion rounds. Sums are multiples of
    the least subnormal, so that what ldexp returns below the normal numbers is exact.
    """
    cdef int limb = N_LIMBS - 1
    cdef int shift = 0
    cdef int i
    cdef uint64_t high, low
    while limb > 1 and state[limb] == 0:
        limb -= 1
    high = (<uint64_t>state[limb] << 32) | <uint64_t>state[limb - 1]
    if high == 0:
        return 0.0
    low = <uint64_t>state[limb - 2] if limb > 1 else 0
    while not (high >> 63):
        high = (high << 1) | (low >> 31)
        low = (low << 1) & 0xFFFFFFFFu
        shift += 1
    for i in range(limb - 2):
        low |= <uint64_t>state[i]
    if low:
        high |= 1
    return ldexp(<double>high, 32 * (limb - 1) - BASE_EXPONENT - shift)
