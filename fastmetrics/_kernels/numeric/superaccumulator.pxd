"""Sums of float64 without any rounding, in a fixed-point number wide enough for every double.

This is the superaccumulator of R. Neal (2015, arXiv:1505.05571). A state is STATE_SIZE int64: N_LIMBS limbs of 32 bits,
where limb i has the weight 2**(32 i - BASE_EXPONENT), then the number of +inf, of -inf and of NaN that were added.
Adding a double changes at most three limbs. A limb has 31 spare bits for carries, so up to 2**30 additions may be made
between two normalizations. In a normalized state all limbs but the last lie in [0, 2**32), and the last one has the
sign. This form is canonical: equal sums have equal states. States are merged by adding them limb by limb.

`add_chunk` is the fast path. It sums 2048 values at two binary places with exact, vectorized additions (vector_math.h)
and adds only the totals and the non-zero remainders to the state.
`add_chunk_at` sums a chunk at three places in one pass, if its values are about as large as those of the chunk before.
"""

from libc.math cimport fabs, frexp, ldexp
from libc.stdint cimport int64_t, uint64_t

cdef extern from "numeric/vector_math.h":
    cdef enum:
        FM_LANES
    void negative_logs "fm_negative_logs"(double* values, Py_ssize_t n) noexcept nogil
    double greatest_magnitude "fm_max_abs"(const double* values, Py_ssize_t n) noexcept nogil
    int split_sums "fm_split_sums"(
        const double* values, Py_ssize_t n, double sigma_first, double sigma_second, double* totals, double* rest
    ) noexcept nogil

    int split_levels "fm_split_levels"(
        const double* values, Py_ssize_t n, const double* sigmas, double* totals, double* greatest
    ) noexcept nogil

cdef extern from *:
    """
    #include <string.h>
    static inline uint64_t fm_bits_f64(double x) { uint64_t bits; memcpy(&bits, &x, 8); return bits; }
    """
    uint64_t bits_of_f64 "fm_bits_f64"(double x) noexcept nogil

cdef enum:
    N_LIMBS = 69
    BASE_EXPONENT = 1088
    PLUS_INFINITIES = 69
    MINUS_INFINITIES = 70
    NANS = 71
    STATE_SIZE = 72
    CHUNK = 2048               # values summed at once: 2**7 in a SIMD lane, which leaves 45 bits for each level
    GUARD_BITS = 8
    LEVEL_BITS = 45
    CHUNKS_PER_CARRY = 1 << 18
    WINDOW_LIMBS = 5           # of a state that a window spans
    WINDOW_SHIFTS = 44         # binary places of a window at which the lowest bit of a value may be
    HEADROOM = 8               # a chunk may have values 2**HEADROOM times those of the chunk that set its levels


cdef inline int exponent_of(uint64_t bits) noexcept nogil:
    """The exponent field of a double's bits: 0 for zero and subnormal numbers, 2047 for infinities and NaN."""
    return <int>((bits >> 52) & 2047)


cdef inline void add_value(int64_t* state, double value) noexcept nogil:
    cdef uint64_t bits = bits_of_f64(value)
    cdef int exponent = exponent_of(bits)
    cdef uint64_t mantissa = bits & ((<uint64_t>1 << 52) - 1)
    cdef int bit_position, limb, shift
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
    bit_position = exponent - 1075 + BASE_EXPONENT
    limb = bit_position >> 5
    shift = bit_position & 31
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


cdef inline void normalize(int64_t* state) noexcept nogil:
    cdef int i
    cdef int64_t carry = 0
    cdef int64_t limb
    for i in range(N_LIMBS - 1):
        limb = state[i] + carry
        carry = limb >> 32
        state[i] = limb & 0xFFFFFFFFu
    state[N_LIMBS - 1] += carry


cdef inline bint add_to_window(uint64_t* window, double value, int place) noexcept nogil:
    """Add a value to a window: 128 bits in two's complement, the low half first, in units of 2**(place - 1075).

    Return 0 if the value does not fit: then nothing is added. Zero always fits. A value below 2**(place + 45 - 1023)
    fits, unless its lowest bit is below the unit. So 2**30 values may be added to a window before it is emptied.
    `place` is at least 1.
    """
    cdef uint64_t bits = bits_of_f64(value)
    cdef int shift = exponent_of(bits) - place
    cdef uint64_t mantissa = (bits & ((<uint64_t>1 << 52) - 1)) | <uint64_t>1 << 52
    cdef uint64_t low, high
    if shift < 0 or shift > WINDOW_SHIFTS:
        return value == 0
    low = mantissa << shift
    high = mantissa >> 1 >> (63 - shift)
    if bits >> 63:
        low = 0 - low
        high = ~high + (low == 0)
    window[0] += low
    window[1] += high + (window[0] < low)
    return 1


cdef inline int first_limb(int place) noexcept nogil:
    """The limb of a state in which the lowest bit of a window is."""
    return (place - 1075 + BASE_EXPONENT) >> 5


cdef inline void write_limbs(const uint64_t* window, int place, int64_t* limbs) noexcept nogil:
    """Write a window as WINDOW_LIMBS limbs from `first_limb` on, each below 2**33 in magnitude and with its sign."""
    cdef int shift = (place - 1075 + BASE_EXPONENT) & 31
    cdef uint64_t low = window[0]
    cdef uint64_t high = window[1]
    cdef int64_t sign = -1 if high >> 63 else 1
    cdef int64_t above = 0
    cdef uint64_t digit
    cdef int i
    if sign < 0:
        low = 0 - low
        high = ~high + (low == 0)
    for i in range(WINDOW_LIMBS - 1):
        digit = ((high if i > 1 else low) >> (32 * (i & 1)) & 0xFFFFFFFFu) << shift
        limbs[i] = sign * (above + <int64_t>(digit & 0xFFFFFFFFu))
        above = <int64_t>(digit >> 32)
    limbs[WINDOW_LIMBS - 1] = sign * above


cdef inline void empty_window(const uint64_t* window, int place, int64_t* state) noexcept nogil:
    """Add a window to a state; the caller empties the window. The state is normalized afterwards."""
    cdef int64_t limbs[WINDOW_LIMBS]
    cdef int first = first_limb(place)
    cdef int i
    write_limbs(window, place, limbs)
    for i in range(WINDOW_LIMBS):
        state[first + i] += limbs[i]
    normalize(state)


cdef inline void add_remainders(int64_t* state, double* remainders, Py_ssize_t padded) noexcept nogil:
    """Add the remainders of a split chunk. They are split once more, at the binary places of their greatest value."""
    cdef double totals[2 * FM_LANES]
    cdef double second_remainders[CHUNK]
    cdef double max_magnitude = greatest_magnitude(remainders, padded)
    cdef double sigma
    cdef double* unsummed = remainders
    cdef int exponent = 0
    cdef Py_ssize_t i
    if max_magnitude > 1e-200:
        frexp(max_magnitude, &exponent)
        sigma = ldexp(1.5, exponent + GUARD_BITS)
        if not split_sums(remainders, padded, sigma, ldexp(sigma, -LEVEL_BITS), totals, second_remainders):
            padded = 0
        unsummed = second_remainders
        for i in range(2 * FM_LANES):
            add_value(state, totals[i])
    for i in range(padded):
        if unsummed[i] != 0:
            add_value(state, unsummed[i])


cdef inline void carry_after(int64_t* state, Py_ssize_t n_read) noexcept nogil:
    """Normalize a state once every CHUNKS_PER_CARRY chunks. n_read grows by CHUNK from one chunk to the next."""
    if n_read // CHUNK % CHUNKS_PER_CARRY == CHUNKS_PER_CARRY - 1:
        normalize(state)


cdef inline void add_chunk(int64_t* state, double* values, Py_ssize_t n, double* remainders) noexcept nogil:
    """Add n <= CHUNK values. `values` and `remainders` have CHUNK elements; `values` is padded with zeros beyond n."""
    cdef double totals[2 * FM_LANES]
    cdef double max_magnitude
    cdef double sigma
    cdef int exponent = 0
    cdef int is_nan = 0
    cdef Py_ssize_t i
    cdef Py_ssize_t padded = n
    while padded % FM_LANES:
        values[padded] = 0.0
        padded += 1
    max_magnitude = greatest_magnitude(values, padded)
    if not 1e-200 < max_magnitude < 1e200:
        # Zeros, infinities, or magnitudes at which the split itself would round. There may be NaN among the values.
        for i in range(n):
            add_value(state, values[i])
        return
    frexp(max_magnitude, &exponent)
    sigma = ldexp(1.5, exponent + GUARD_BITS)
    if split_sums(values, padded, sigma, ldexp(sigma, -LEVEL_BITS), totals, remainders):
        for i in range(FM_LANES):
            is_nan |= totals[i] != totals[i]
        if is_nan:
            # With a NaN the totals are meaningless.
            for i in range(n):
                add_value(state, values[i])
            return
        add_remainders(state, remainders, padded)
    for i in range(2 * FM_LANES):
        add_value(state, totals[i])


cdef inline void add_chunk_at(
    int64_t* state, double* values, Py_ssize_t n, double* remainders, int* exponent
) noexcept nogil:
    """add_chunk in one pass, if all values are below 2**exponent, as those of the chunk before were.

    3 LEVEL_BITS - HEADROOM = 127 bits below the largest value are summed. If bits are left, or a value is greater, the
    chunk is summed by add_chunk, and the exponent follows its values. The first exponent may be anything.
    """
    cdef double totals[3 * FM_LANES]
    cdef double sigmas[3]
    cdef double greatest = 0
    cdef int i
    if n % FM_LANES == 0 and n >= 16 * FM_LANES:
        sigmas[0] = ldexp(1.5, exponent[0] + GUARD_BITS)
        sigmas[1] = ldexp(sigmas[0], -LEVEL_BITS)
        sigmas[2] = ldexp(sigmas[1], -LEVEL_BITS)
        if not split_levels(values, n, sigmas, totals, &greatest) and greatest < ldexp(1.0, exponent[0]):
            for i in range(3 * FM_LANES):
                add_value(state, totals[i])
            return
        if 1e-200 < greatest < 1e200:
            frexp(greatest, exponent)
            exponent[0] += HEADROOM
    add_chunk(state, values, n, remainders)


cdef inline double round_state(const int64_t* state) noexcept nogil:
    """The sum of a state, rounded once (to nearest, ties to even).

    The state is normalized, not negative and without infinities and NaN. The leading 64 bits are read, with a sticky
    bit for everything below them, and one conversion rounds. Sums are multiples of the least subnormal number, so
    ldexp is exact below the normal numbers.
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
