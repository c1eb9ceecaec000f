"""Weighted pairs and weighted Kolmogorov-Smirnov differences of one range of scores, without any rounding.

Everything is counted from the class with fewer rows ("few") against the other ("many"). `order_range` brings the rows
of both into the order of the few's distinct keys, called ties: only the few are sorted; the place of every other row
among them is looked up in a table (as ranktable.pxd does) and its weight put there by a counting sort. Rows have
2 * n_ties + 1 slots, slot 2 t for keys between ties t - 1 and t, slot 2 t + 1 for keys equal to tie t. Inside a slot
the order does not matter, since sums are exact. `range_pairs` and `range_extremes` then walk over the slots.

Numbers. A weight is a whole multiple of 2**unit, `unit` being the exponent of the lowest bit set in any weight. Sums
are whole numbers of n_limbs limbs of 32 bits, least first, each in a uint64 word. The caller chooses n_limbs (see
`weight_span`) so that twice the sum of all weights is below 2**(32 n_limbs). Usual weights need 3 or 4 limbs; the most
absurd ones 68.

Carries. Between carries, words grow beyond 32 bits. Adding a weight adds less than 2**32 to each of the words it
touches; a run of weights carries after every ROWS_PER_CARRY = 2**16 of them, and between two carries of a sum at most
one run and two carried sums are added to it, so a word stays below (1 + 2**16 + 2) * 2**32 < 2**49; to totals only
carried sums are added, fewer than 2**32. A carry leaves every limb below 2**32; as the whole sum is below
2**(32 n_limbs), no carry leaves the last limb. A weight is added in four words from the first limb on, or in three from
limb `place / 32`, which is below n_limbs because the weight is at least 2**place. So a sum has SPARE = 3 words above
its limbs; they only ever receive zeros.

Products have 2 n_limbs + 1 signed words (int64). The product of two limbs is below 2**64; its halves, below 2**32, are
added to two words or taken from them. A word receives at most 2 n_limbs halves of a product, so after 2**16 products it
has changed by less than 2**16 * 136 * 2**32 < 2**56. A carry brings all words but the last to [0, 2**32); the last
keeps the rest and with it the sign, as in superaccumulator.pxd, so numbers compare word by word. Pairs are at most
2 * (all the few) * (all the many), differences at most (all the few) * (all the many) in size, both below
2**(64 n_limbs): what the last word keeps is 0 or -1.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from fastmetrics._kernels.ranktable cimport count_cells, key_t, sort_keys
from fastmetrics._kernels.superaccumulator cimport bits_f64

cdef enum:
    ROWS_PER_CARRY = 1 << 16
    PRODUCTS_PER_CARRY = 1 << 16
    SPARE = 3
    FEW_LIMBS = 4

SPARE_WORDS = SPARE


def weight_span(const double[::1] weights, int64_t[::1] span):
    """Widen span (lowest, highest, rows) by weights, all positive: multiples of 2**lowest, below 2**highest.

    lowest is the exponent of the lowest bit set in any weight; highest may be too high by 52 where weights are
    subnormal. To begin, lowest is large, highest small, rows 0.
    """
    cdef Py_ssize_t i
    cdef uint64_t bits, mantissa
    cdef int64_t exponent, last
    cdef int64_t lowest = span[0]
    cdef int64_t highest = span[1]
    with nogil:
        for i in range(weights.shape[0]):
            bits = bits_f64(weights[i])
            exponent = <int64_t>(bits >> 52)
            mantissa = (bits & ((<uint64_t>1 << 52) - 1)) | (<uint64_t>(exponent != 0) << 52)
            exponent += exponent == 0
            # A power of two as a double tells its own exponent.
            mantissa &= ~mantissa + 1
            last = exponent - 1075 + <int64_t>(bits_f64(<double><int64_t>mantissa) >> 52) - 1023
            lowest = last if last < lowest else lowest
            highest = exponent - 1022 if exponent - 1022 > highest else highest
    span[0] = lowest
    span[1] = highest
    span[2] += weights.shape[0]


# ---------------------------------------------------------------------------------------------------------- order


cdef inline Py_ssize_t drop_equal(key_t* keys, Py_ssize_t n) noexcept nogil:
    """Keep one of each of the sorted keys; returns how many there are."""
    cdef Py_ssize_t i
    cdef Py_ssize_t kept = 1
    for i in range(1, n):
        if keys[i] != keys[kept - 1]:
            keys[kept] = keys[i]
            kept += 1
    return kept


cdef inline int fill_cells(const key_t* ties, Py_ssize_t n_ties, int32_t* cells, Py_ssize_t n_cells) noexcept nogil:
    """cells[c] (n_cells + 1 of them) becomes the number of ties in cells before c; returns the shift of key to cell."""
    cdef key_t span = ties[n_ties - 1] - ties[0]
    cdef int shift = 0
    cdef Py_ssize_t i, cell
    while (span >> shift) >= <key_t>n_cells:
        shift += 1
    cell = 0
    for i in range(n_ties):
        while cell <= <Py_ssize_t>((ties[i] - ties[0]) >> shift):
            cells[cell] = <int32_t>i
            cell += 1
    while cell <= n_cells:
        cells[cell] = <int32_t>n_ties
        cell += 1
    return shift


cdef inline void place_rows(
    const key_t* keys, const double* weights, Py_ssize_t n, const key_t* ties, Py_ssize_t n_ties, const int32_t* cells,
    int shift, uint32_t* slots, int64_t* starts, double* ordered
) noexcept nogil:
    """ordered becomes the weights slot by slot, starts (2 n_ties + 2) where each slot begins, with the end of all."""
    cdef key_t low = ties[0]
    cdef key_t high = ties[n_ties - 1]
    cdef key_t key
    cdef Py_ssize_t i, lower, upper, middle
    cdef uint32_t slot
    cdef int64_t count
    cdef int64_t total = 0
    for i in range(2 * n_ties + 2):
        starts[i] = 0
    for i in range(n):
        key = keys[i]
        if key < low:
            slot = 0
        elif key > high:
            slot = 2 * <uint32_t>n_ties
        else:
            # The first tie that is not below the key. There is one, since the key is at most the last.
            lower = cells[(key - low) >> shift]
            upper = cells[((key - low) >> shift) + 1]
            while lower < upper:
                middle = (lower + upper) >> 1
                if ties[middle] < key:
                    lower = middle + 1
                else:
                    upper = middle
            slot = 2 * <uint32_t>lower + <uint32_t>(ties[lower] == key)
        slots[i] = slot
        starts[slot] += 1
    # From counts to the places where each slot begins; the scatter then advances them to where each ends ...
    for i in range(2 * n_ties + 1):
        count = starts[i]
        starts[i] = total
        total += count
    for i in range(n):
        slot = slots[i]
        ordered[starts[slot]] = weights[i]
        starts[slot] += 1
    # ... so shift them by one to have the beginnings again, with the end of all in the last.
    i = 2 * n_ties + 1
    while i > 0:
        starts[i] = starts[i - 1]
        i -= 1
    starts[0] = 0


def order_words(Py_ssize_t n_few, Py_ssize_t n_many):
    """How many 64-bit words of working memory order_range needs."""
    return 2 * n_few + n_many // 2 + count_cells(n_few) // 2 + 2


def order_range(
    const key_t[::1] few_keys, const double[::1] few_weights, const key_t[::1] many_keys,
    const double[::1] many_weights, uint64_t[::1] work, int64_t[::1] few_starts, double[::1] few_ordered,
    int64_t[::1] many_starts, double[::1] many_ordered
):
    """Both classes' weights by slots; returns n_ties. Rows are in any order; each class has at least one.

    n_few <= n_many, n_few below 2**31. work has order_words(n_few, n_many) words; few_starts and many_starts have room
    for 2 * n_few + 2 entries, of which 2 * n_ties + 2 are filled; the ordered weights are as many as the rows.
    """
    cdef Py_ssize_t n_few = few_keys.shape[0]
    cdef Py_ssize_t n_many = many_keys.shape[0]
    cdef Py_ssize_t n_ties = 0
    cdef Py_ssize_t i, n_cells
    cdef int shift
    cdef key_t* ties = <key_t*>&work[0]
    cdef key_t* scratch = <key_t*>(&work[0] + n_few)
    cdef uint32_t* slots = <uint32_t*>(&work[0] + 2 * n_few)
    cdef int32_t* cells = <int32_t*>(&work[0] + 2 * n_few + n_many // 2 + 1)
    with nogil:
        for i in range(n_few):
            ties[i] = few_keys[i]
        sort_keys(ties, n_few, scratch)
        n_ties = drop_equal(ties, n_few)
        n_cells = count_cells(n_ties)
        shift = fill_cells(<const key_t*>ties, n_ties, cells, n_cells)
        place_rows(
            &few_keys[0], &few_weights[0], n_few, <const key_t*>ties, n_ties, <const int32_t*>cells, shift, slots,
            &few_starts[0], &few_ordered[0])
        place_rows(
            &many_keys[0], &many_weights[0], n_many, <const key_t*>ties, n_ties, <const int32_t*>cells, shift, slots,
            &many_starts[0], &many_ordered[0])
    return n_ties


# ------------------------------------------------------------------------------------------------------ whole numbers


cdef inline void carry(uint64_t* number, Py_ssize_t n_limbs) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n_limbs - 1):
        number[i + 1] += number[i] >> 32
        number[i] &= 0xFFFFFFFFu


cdef inline uint64_t read_weight(double weight, int unit, int* place) noexcept nogil:
    """The whole number m with weight = m * 2**place * 2**unit; place is not negative."""
    cdef uint64_t bits = bits_f64(weight)
    cdef int exponent = <int>(bits >> 52)
    cdef uint64_t mantissa = (bits & ((<uint64_t>1 << 52) - 1)) | (<uint64_t>(exponent != 0) << 52)
    cdef int above = exponent + (exponent == 0) - 1075 - unit
    # Below the unit the mantissa has only zeros. Weights cross this line at random: a mask, not a branch.
    cdef int zeros = -above & -(above < 0)
    place[0] = above + zeros
    return mantissa >> zeros


cdef inline void add_weights(
    uint64_t* number, Py_ssize_t n_limbs, const double* weights, Py_ssize_t start, Py_ssize_t stop, int unit
) noexcept nogil:
    """Add at most ROWS_PER_CARRY weights, multiples of 2**unit, without carrying."""
    cdef Py_ssize_t i
    cdef uint64_t mantissa, low, high, near
    cdef uint64_t first = 0
    cdef uint64_t second = 0
    cdef uint64_t third = 0
    cdef uint64_t fourth = 0
    cdef int place = 0
    cdef uint64_t* limb
    if n_limbs > FEW_LIMBS:
        for i in range(start, stop):
            mantissa = read_weight(weights[i], unit, &place)
            limb = number + (place >> 5)
            place &= 31
            limb[0] += (mantissa << place) & 0xFFFFFFFFu
            limb[1] += (mantissa >> (32 - place)) & 0xFFFFFFFFu
            limb[2] += (mantissa >> (63 - place)) >> 1
        return
    # The whole sum fits four limbs, which stay in registers: a weight is below 2**128, the words (high, low) here.
    for i in range(start, stop):
        mantissa = read_weight(weights[i], unit, &place)
        near = <uint64_t>(place >> 6) - 1  # all ones where place < 64, else zero
        place &= 63
        low = mantissa << place
        high = ((mantissa >> (63 - place)) >> 1) & near
        high |= low & ~near
        low &= near
        first += low & 0xFFFFFFFFu
        second += low >> 32
        third += high & 0xFFFFFFFFu
        fourth += high >> 32
    number[0] += first
    number[1] += second
    number[2] += third
    number[3] += fourth


cdef inline void add_run(
    uint64_t* number, Py_ssize_t n_limbs, const double* weights, Py_ssize_t start, Py_ssize_t stop, int unit
) noexcept nogil:
    """Add any number of weights; those after the last full ROWS_PER_CARRY are not carried."""
    while stop - start > ROWS_PER_CARRY:
        add_weights(number, n_limbs, weights, start, start + ROWS_PER_CARRY, unit)
        carry(number, n_limbs)
        start += ROWS_PER_CARRY
    add_weights(number, n_limbs, weights, start, stop, unit)


cdef inline void sum_run(
    uint64_t* number, Py_ssize_t n_limbs, const double* weights, Py_ssize_t start, Py_ssize_t stop, int unit
) noexcept nogil:
    """number becomes the carried sum of weights."""
    cdef Py_ssize_t i
    for i in range(n_limbs):
        number[i] = 0
    add_run(number, n_limbs, weights, start, stop, unit)
    carry(number, n_limbs)


cdef inline void add_limbs(uint64_t* number, const uint64_t* other, Py_ssize_t n_limbs) noexcept nogil:
    """Without carrying: a word grows by less than 2**32, so 2**32 - 1 calls may pass between two carries."""
    cdef Py_ssize_t i
    for i in range(n_limbs):
        number[i] += other[i]


cdef inline void add_product(
    int64_t* total, const uint64_t* left, const uint64_t* right, Py_ssize_t n_limbs
) noexcept nogil:
    """total += left * right, without carrying. Where limbs are many, most of a weight's are zero: put it left."""
    cdef Py_ssize_t i, j
    cdef uint64_t step
    for i in range(n_limbs):
        if n_limbs > FEW_LIMBS and left[i] == 0:
            continue
        for j in range(n_limbs):
            step = left[i] * right[j]
            total[i + j] += <int64_t>(step & 0xFFFFFFFFu)
            total[i + j + 1] += <int64_t>(step >> 32)


cdef inline void subtract_product(
    int64_t* total, const uint64_t* left, const uint64_t* right, Py_ssize_t n_limbs
) noexcept nogil:
    """total -= left * right, without carrying."""
    cdef Py_ssize_t i, j
    cdef uint64_t step
    for i in range(n_limbs):
        if n_limbs > FEW_LIMBS and left[i] == 0:
            continue
        for j in range(n_limbs):
            step = left[i] * right[j]
            total[i + j] -= <int64_t>(step & 0xFFFFFFFFu)
            total[i + j + 1] -= <int64_t>(step >> 32)


cdef inline void carry_product(int64_t* total, Py_ssize_t n_words) noexcept nogil:
    cdef Py_ssize_t i
    cdef int64_t held = 0
    cdef int64_t word
    for i in range(n_words - 1):
        word = total[i] + held
        held = word >> 32
        total[i] = word & 0xFFFFFFFFu
    total[n_words - 1] += held


cdef inline bint is_less(const int64_t* left, const int64_t* right, Py_ssize_t n_words) noexcept nogil:
    """left < right, both carried."""
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


# -------------------------------------------------------------------------------------------------------------- counts


def range_pairs(
    const double[::1] few_weights, const int64_t[::1] few_starts, const double[::1] many_weights,
    const int64_t[::1] many_starts, Py_ssize_t n_ties, int unit, uint64_t[:, ::1] sums, int64_t[::1] won
):
    """won (2 n_limbs + 1 words) becomes twice the weighted pairs that the few won, ties once, in units of 4**unit.

    The weights are ordered by order_range. sums (4 rows of n_limbs + SPARE_WORDS words) becomes, in units of 2**unit:
    twice the sum of the many's weights, the sum of the few's, and scratch. Both are zero at first.
    """
    cdef Py_ssize_t n_limbs = sums.shape[1] - SPARE
    cdef Py_ssize_t tie, slot
    cdef bint tied
    cdef uint64_t* below = &sums[0, 0]
    cdef uint64_t* few = &sums[1, 0]
    cdef uint64_t* own = &sums[2, 0]
    cdef uint64_t* level = &sums[3, 0]
    with nogil:
        for tie in range(n_ties):
            # Two times what is below plus what is tied: the unit of half the size doubles the former, and what is
            # tied is added once more when it has come to lie below.
            slot = 2 * tie
            tied = many_starts[slot + 1] < many_starts[slot + 2]
            add_run(below, n_limbs, &many_weights[0], many_starts[slot], many_starts[slot + 1], unit - 1)
            if tied:
                sum_run(level, n_limbs, &many_weights[0], many_starts[slot + 1], many_starts[slot + 2], unit)
                add_limbs(below, level, n_limbs)
            carry(below, n_limbs)
            sum_run(own, n_limbs, &few_weights[0], few_starts[slot + 1], few_starts[slot + 2], unit)
            add_limbs(few, own, n_limbs)
            add_product(&won[0], own, below, n_limbs)
            if tie % PRODUCTS_PER_CARRY == 0:
                carry_product(&won[0], won.shape[0])
            if tied:
                add_limbs(below, level, n_limbs)
        slot = 2 * n_ties
        add_run(below, n_limbs, &many_weights[0], many_starts[slot], many_starts[slot + 1], unit - 1)
        carry(below, n_limbs)
        carry(few, n_limbs)
        carry_product(&won[0], won.shape[0])


def range_extremes(
    const double[::1] few_weights, const int64_t[::1] few_starts, const double[::1] many_weights,
    const int64_t[::1] many_starts, Py_ssize_t n_ties, int unit, const uint64_t[::1] all_few,
    const uint64_t[::1] all_many, uint64_t[:, ::1] sums, int64_t[:, ::1] extremes
):
    """Greatest and least, over the ends of ties, of a difference D that is 0 at the range's beginning.

    D = (few so far) * all_many - (many so far) * all_few, in units of 4**unit. Where only many follow each other D
    falls, so it is least at the end of such a run. all_few and all_many (n_limbs words, in units of 2**unit) are the
    sums over all ranges. sums (4 rows of n_limbs + SPARE_WORDS words, 0 at first) becomes the range's many, its few,
    and scratch; extremes (3 rows of 2 n_limbs + 1 words, zero at first) the greatest, the least, and D at the range's
    end.
    """
    cdef Py_ssize_t n_limbs = sums.shape[1] - SPARE
    cdef Py_ssize_t n_words = extremes.shape[1]
    cdef Py_ssize_t tie, slot
    cdef uint64_t* many = &sums[0, 0]
    cdef uint64_t* few = &sums[1, 0]
    cdef uint64_t* own = &sums[2, 0]
    cdef int64_t* greatest = &extremes[0, 0]
    cdef int64_t* least = &extremes[1, 0]
    cdef int64_t* now = &extremes[2, 0]
    with nogil:
        for tie in range(n_ties + 1):
            slot = 2 * tie
            if many_starts[slot] < many_starts[slot + 1]:
                sum_run(own, n_limbs, &many_weights[0], many_starts[slot], many_starts[slot + 1], unit)
                add_limbs(many, own, n_limbs)
                subtract_product(now, own, &all_few[0], n_limbs)
                carry_product(now, n_words)
                if is_less(now, least, n_words):
                    copy_words(least, now, n_words)
            if tie == n_ties:
                break
            sum_run(own, n_limbs, &few_weights[0], few_starts[slot + 1], few_starts[slot + 2], unit)
            add_limbs(few, own, n_limbs)
            add_product(now, own, &all_many[0], n_limbs)
            carry_product(now, n_words)
            if many_starts[slot + 1] < many_starts[slot + 2]:
                sum_run(own, n_limbs, &many_weights[0], many_starts[slot + 1], many_starts[slot + 2], unit)
                add_limbs(many, own, n_limbs)
                subtract_product(now, own, &all_few[0], n_limbs)
                carry_product(now, n_words)
                if is_less(now, least, n_words):
                    copy_words(least, now, n_words)
            if is_less(greatest, now, n_words):
                copy_words(greatest, now, n_words)
        carry(many, n_limbs)
        carry(few, n_limbs)
