"""Weighted pairs and weighted Kolmogorov-Smirnov differences of one score range, without any rounding.

Rows are those of weighted_rows.pxd, in ascending order of keys. Weights may be as far apart as doubles can be.

Numbers. A weight is an integer multiple of 2**unit_exponent, the lowest bit that is set in any weight. A sum is an
integer of n_limbs limbs of 32 bits, least significant first, each in a uint64 word. The caller chooses n_limbs (see
`widen_exponent_range`) so that twice the sum of all weights is below 2**(32 n_limbs). Usual weights need 3 or 4 limbs,
the most extreme weights 68.

Carries. Between two carries, words grow beyond 32 bits. Adding a weight adds less than 2**32 to each word that it
changes. A sum of weights is carried after every ROWS_PER_CARRY = 2**16 weights, so a word stays below
(1 + 2**16) * 2**32 < 2**49. Only carried sums are added to totals, fewer than 2**31 of them. After a carry every limb
is below 2**32. The whole sum is
below 2**(32 n_limbs), so no carry leaves the last limb. A weight is added to four words from the first limb on, or to
three words from limb bit_position / 32 on, which is below n_limbs because the weight is at least 2**bit_position. So a
sum has N_SPARE_WORDS = 3 words above its limbs; only zeros are added to them.

Products have 2 n_limbs + 1 signed words (int64). The product of two limbs is below 2**64. Its halves, below 2**32, are
added to two words or subtracted from them. A word receives at most 2 n_limbs halves of a product, so after 2**16
products it has changed by less than 2**16 * 136 * 2**32 < 2**56. A carry brings all words but the last into
[0, 2**32). The last word has the sign, as in superaccumulator.pxd, so numbers are compared word by word. Pairs are at
most 2 * all_minority * all_majority and differences at most all_minority * all_majority in size. Both are below
2**(64 n_limbs), so the last word is 0 or -1.
"""

from libc.math cimport fabs
from libc.stdint cimport int64_t, uint64_t

from fastmetrics._kernels.numeric.superaccumulator cimport bits_of_f64
from fastmetrics._kernels.sweep.weighted_rows cimport WeightedRow
from fastmetrics._kernels.sweep.wide_weights cimport Span, empty_span, exponents_of_span, widen_span

cdef enum:
    ROWS_PER_CARRY = 1 << 16
    PRODUCTS_PER_CARRY = 1 << 16
    N_SPARE_WORDS = 3
    MAX_REGISTER_LIMBS = 4

SPARE_WORDS = N_SPARE_WORDS


def widen_exponent_range(const double[::1] weights, int64_t[::1] span):
    """Widen span = (lowest, highest, rows) by positive weights, which are multiples of 2**lowest and below 2**highest.

    lowest is the exponent of the lowest bit that is set in any weight. Initially lowest is large, highest is small and
    rows is 0. Zeros are skipped.
    """
    cdef Py_ssize_t i
    cdef Span own = empty_span()
    cdef int lowest = 0
    cdef int highest = 0
    with nogil:
        for i in range(weights.shape[0]):
            widen_span(weights[i], &own)
    if exponents_of_span(&own, &lowest, &highest):
        span[0] = min(span[0], lowest)
        span[1] = max(span[1], highest)
    span[2] += weights.shape[0]


# ---- Integers of several limbs ----


cdef inline void carry(uint64_t* number, Py_ssize_t n_limbs) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n_limbs - 1):
        number[i + 1] += number[i] >> 32
        number[i] &= 0xFFFFFFFFu


cdef inline uint64_t read_weight(double weight, int unit_exponent, int* bit_position) noexcept nogil:
    """The integer m with weight = m * 2**(bit_position + unit_exponent); bit_position is not negative."""
    cdef uint64_t bits = bits_of_f64(weight)
    cdef int exponent = <int>(bits >> 52)
    cdef uint64_t mantissa = (bits & ((<uint64_t>1 << 52) - 1)) | (<uint64_t>(exponent != 0) << 52)
    cdef int above = exponent + (exponent == 0) - 1075 - unit_exponent
    # Below the unit the mantissa has only zeros. Whether it has such bits is random: use a mask, not a branch.
    cdef int zeros = -above & -(above < 0)
    bit_position[0] = above + zeros
    return mantissa >> zeros


cdef inline void add_weight(uint64_t* number, double weight, int unit_exponent) noexcept nogil:
    """Add a weight, a multiple of 2**unit_exponent, without carrying."""
    cdef int bit_position = 0
    cdef uint64_t mantissa = read_weight(weight, unit_exponent, &bit_position)
    cdef uint64_t* limb = number + (bit_position >> 5)
    bit_position &= 31
    limb[0] += (mantissa << bit_position) & 0xFFFFFFFFu
    limb[1] += (mantissa >> (32 - bit_position)) & 0xFFFFFFFFu
    limb[2] += (mantissa >> (63 - bit_position)) >> 1


cdef inline void clear_words(uint64_t* number, Py_ssize_t n_words) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n_words):
        number[i] = 0


cdef inline Py_ssize_t sum_tie(
    const WeightedRow* rows, Py_ssize_t start, Py_ssize_t n, Py_ssize_t n_limbs, int unit_exponent, uint64_t** tied,
    bint* has_class
) noexcept nogil:
    """Set tied[0] and tied[1] to the carried weights of the rows with the key of row `start`; return their end."""
    cdef Py_ssize_t i = start
    cdef Py_ssize_t label
    for label in range(2):
        has_class[label] = 0
        clear_words(tied[label], n_limbs + N_SPARE_WORDS)
    while i < n and rows[i].key == rows[start].key:
        label = rows[i].weight < 0
        has_class[label] = 1
        add_weight(tied[label], fabs(rows[i].weight), unit_exponent)
        i += 1
        if (i - start) % ROWS_PER_CARRY == 0:
            carry(tied[0], n_limbs)
            carry(tied[1], n_limbs)
    for label in range(2):
        if has_class[label]:
            carry(tied[label], n_limbs)
    return i


cdef inline void add_limbs(uint64_t* number, const uint64_t* other, Py_ssize_t n_limbs) noexcept nogil:
    """Add without carrying. A word grows by less than 2**32: at most 2**32 - 1 calls between two carries."""
    cdef Py_ssize_t i
    for i in range(n_limbs):
        number[i] += other[i]


cdef inline void add_product(
    int64_t* total, int64_t sign, const uint64_t* left, const uint64_t* right, Py_ssize_t n_limbs
) noexcept nogil:
    """total += sign * left * right, without carrying. With many limbs, put the number with more zero limbs left."""
    cdef Py_ssize_t i, j
    cdef uint64_t product
    for i in range(n_limbs):
        if n_limbs > MAX_REGISTER_LIMBS and left[i] == 0:
            continue
        for j in range(n_limbs):
            product = left[i] * right[j]
            total[i + j] += sign * <int64_t>(product & 0xFFFFFFFFu)
            total[i + j + 1] += sign * <int64_t>(product >> 32)


cdef inline void carry_product(int64_t* total, Py_ssize_t n_words) noexcept nogil:
    cdef Py_ssize_t i
    cdef int64_t carried = 0
    cdef int64_t word
    for i in range(n_words - 1):
        word = total[i] + carried
        carried = word >> 32
        total[i] = word & 0xFFFFFFFFu
    total[n_words - 1] += carried


cdef inline bint is_less(const int64_t* left, const int64_t* right, Py_ssize_t n_words) noexcept nogil:
    """Return whether left < right. Both are carried."""
    cdef Py_ssize_t i = n_words
    while i > 0:
        i -= 1
        if left[i] != right[i]:
            return left[i] < right[i]
    return False


cdef inline void copy_words(int64_t* number, const int64_t* other, Py_ssize_t n_words) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n_words):
        number[i] = other[i]


# ---- Counts ----


def range_pairs(const uint64_t[:, ::1] ordered, int unit_exponent, uint64_t[:, ::1] sums, int64_t[::1] wins):
    """Twice the weighted pairs that the positives win, plus the ties, in units of 4**unit_exponent.

    The result is written to wins (2 n_limbs + 1 words). `ordered` are rows of two words. sums (4 rows of n_limbs +
    SPARE_WORDS words) receives, in units of 2**unit_exponent, the weights of the negatives and of the positives; the
    other rows are scratch. wins and sums are zero before the call.
    """
    cdef Py_ssize_t n_limbs = sums.shape[1] - N_SPARE_WORDS
    cdef Py_ssize_t n = ordered.shape[0]
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t n_products = 0
    cdef uint64_t* negatives = &sums[0, 0]
    cdef uint64_t* positives = &sums[1, 0]
    cdef uint64_t* tied[2]
    cdef bint has_class[2]
    cdef const WeightedRow* rows
    if ordered.shape[1] != 2 or sums.shape[0] != 4 or n_limbs < 1 or wins.shape[0] != 2 * n_limbs + 1:
        raise ValueError("rows must have two words, and sums and wins as many words as the scale needs")
    if n == 0:
        return
    rows = <const WeightedRow*>&ordered[0, 0]
    tied[0], tied[1] = &sums[2, 0], &sums[3, 0]
    with nogil:
        while i < n:
            i = sum_tie(rows, i, n, n_limbs, unit_exponent, tied, has_class)
            if has_class[1]:
                # The negatives below with and without the tie: twice those below, and those tied once.
                carry(negatives, n_limbs)
                add_product(&wins[0], 1, tied[1], negatives, n_limbs)
                add_limbs(positives, tied[1], n_limbs)
            if has_class[0]:
                add_limbs(negatives, tied[0], n_limbs)
            if has_class[1]:
                carry(negatives, n_limbs)
                add_product(&wins[0], 1, tied[1], negatives, n_limbs)
                n_products += 2
                if n_products % PRODUCTS_PER_CARRY == 0:
                    carry_product(&wins[0], wins.shape[0])
        carry(negatives, n_limbs)
        carry(positives, n_limbs)
        carry_product(&wins[0], wins.shape[0])


def range_extremes(
    const uint64_t[:, ::1] ordered, int unit_exponent, const uint64_t[::1] all_negative,
    const uint64_t[::1] all_positive, uint64_t[:, ::1] sums, int64_t[:, ::1] extremes
):
    """The greatest and the least value, over the ends of ties, of a difference that is 0 at the start of the range.

    It is (positives so far) * all_negative - (negatives so far) * all_positive, in units of 4**unit_exponent.
    all_negative and all_positive (n_limbs words, in units of 2**unit_exponent) are sums over all ranges. sums (4 rows
    of n_limbs + SPARE_WORDS words) receives the weights of the range's negatives and positives; the other rows are
    scratch. extremes (3 rows of 2 n_limbs + 1 words) receives the greatest and the least value, and the value at the
    end of the range. Both are zero before the call.
    """
    cdef Py_ssize_t n_limbs = sums.shape[1] - N_SPARE_WORDS
    cdef Py_ssize_t n_words = extremes.shape[1]
    cdef Py_ssize_t n = ordered.shape[0]
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t label
    cdef uint64_t* tied[2]
    cdef const uint64_t* others[2]
    cdef bint has_class[2]
    cdef const WeightedRow* rows
    cdef int64_t* greatest = &extremes[0, 0]
    cdef int64_t* least = &extremes[1, 0]
    cdef int64_t* current = &extremes[2, 0]
    if ordered.shape[1] != 2 or sums.shape[0] != 4 or n_limbs < 1 or n_words != 2 * n_limbs + 1:
        raise ValueError("rows must have two words, and sums and extremes as many words as the scale needs")
    if extremes.shape[0] != 3 or not all_negative.shape[0] == all_positive.shape[0] == n_limbs:
        raise ValueError("there must be three extremes, and totals of as many words as the scale needs")
    if n == 0:
        return
    rows = <const WeightedRow*>&ordered[0, 0]
    tied[0], tied[1] = &sums[2, 0], &sums[3, 0]
    others[0], others[1] = &all_positive[0], &all_negative[0]
    with nogil:
        while i < n:
            i = sum_tie(rows, i, n, n_limbs, unit_exponent, tied, has_class)
            for label in range(2):
                if has_class[label]:
                    add_limbs(&sums[label, 0], tied[label], n_limbs)
                    add_product(current, 2 * label - 1, tied[label], others[label], n_limbs)
            carry_product(current, n_words)
            if is_less(current, least, n_words):
                copy_words(least, current, n_words)
            if is_less(greatest, current, n_words):
                copy_words(greatest, current, n_words)
        carry(&sums[0, 0], n_limbs)
        carry(&sums[1, 0], n_limbs)
