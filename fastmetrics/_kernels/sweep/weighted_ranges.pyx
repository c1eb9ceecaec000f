"""Weighted pairs and weighted Kolmogorov-Smirnov differences of one score range, without any rounding.

One class is the minority class (fewer rows), the other the majority class. `order_by_ties` orders the rows of both by
the distinct keys of the minority class, called ties. Only the minority keys are sorted. Every other row is looked up in
a table (as in rank_table.pxd), and a counting sort moves its weight to its slot. There are 2 * n_ties + 1 slots: slot 2
t for keys between ties t - 1 and t, slot 2 t + 1 for keys equal to tie t. The order inside a slot does not matter,
since sums are exact. `range_pairs` and `range_extremes` then sweep over the slots.

Numbers. A weight is an integer multiple of 2**unit_exponent, the lowest bit that is set in any weight. A sum is an
integer of n_limbs limbs of 32 bits, least significant first, each in a uint64 word. The caller chooses n_limbs (see
`widen_exponent_range`) so that twice the sum of all weights is below 2**(32 n_limbs). Usual weights need 3 or 4 limbs,
the most extreme weights 68.

Carries. Between two carries, words grow beyond 32 bits. Adding a weight adds less than 2**32 to each word that it
changes. A segment of weights is carried after every ROWS_PER_CARRY = 2**16 weights. Between two carries of a sum, at
most one segment and two carried sums are added to it, so a word stays below (1 + 2**16 + 2) * 2**32 < 2**49. Only
carried sums are added to totals, fewer than 2**32 of them. After a carry every limb is below 2**32. The whole sum is
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

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from fastmetrics._kernels.sweep.rank_table cimport n_table_cells, key_t, sort_keys
from fastmetrics._kernels.numeric.superaccumulator cimport bits_of_f64

cdef enum:
    ROWS_PER_CARRY = 1 << 16
    PRODUCTS_PER_CARRY = 1 << 16
    N_SPARE_WORDS = 3
    MAX_REGISTER_LIMBS = 4

SPARE_WORDS = N_SPARE_WORDS


def widen_exponent_range(const double[::1] weights, int64_t[::1] span):
    """Widen span = (lowest, highest, rows) by positive weights, which are multiples of 2**lowest and below 2**highest.

    lowest is the exponent of the lowest bit that is set in any weight. highest may be too high by 52 for subnormal
    weights. Initially lowest is large, highest is small and rows is 0.
    """
    cdef Py_ssize_t i
    cdef uint64_t bits, mantissa
    cdef int64_t exponent, last
    cdef int64_t lowest = span[0]
    cdef int64_t highest = span[1]
    with nogil:
        for i in range(weights.shape[0]):
            bits = bits_of_f64(weights[i])
            exponent = <int64_t>(bits >> 52)
            mantissa = (bits & ((<uint64_t>1 << 52) - 1)) | (<uint64_t>(exponent != 0) << 52)
            exponent += exponent == 0
            # The exponent of a power of two is the exponent field of its double.
            mantissa &= ~mantissa + 1
            last = exponent - 1075 + <int64_t>(bits_of_f64(<double><int64_t>mantissa) >> 52) - 1023
            lowest = last if last < lowest else lowest
            highest = exponent - 1022 if exponent - 1022 > highest else highest
    span[0] = lowest
    span[1] = highest
    span[2] += weights.shape[0]


# ---- Order of the rows ----


cdef inline Py_ssize_t drop_equal(key_t* keys, Py_ssize_t n) noexcept nogil:
    """Remove duplicates from sorted keys; return the number of distinct keys."""
    cdef Py_ssize_t i
    cdef Py_ssize_t kept = 1
    for i in range(1, n):
        if keys[i] != keys[kept - 1]:
            keys[kept] = keys[i]
            kept += 1
    return kept


cdef inline int fill_cells(const key_t* ties, Py_ssize_t n_ties, int32_t* cells, Py_ssize_t n_cells) noexcept nogil:
    """cells[c] = the number of ties in cells before c, for n_cells + 1 cells; return the shift from key to cell."""
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


cdef inline void order_rows(
    const key_t* keys, const double* weights, Py_ssize_t n, const key_t* ties, Py_ssize_t n_ties, const int32_t* cells,
    int shift, uint32_t* slots, int64_t* starts, double* ordered
) noexcept nogil:
    """Write the weights slot by slot to `ordered`, and the start of each slot to `starts` (2 n_ties + 2 entries)."""
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
            # The first tie that is not below the key. It exists, since the key is at most the last tie.
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
    # Turn counts into the start of each slot. The scatter advances each start to the end of its slot ...
    for i in range(2 * n_ties + 1):
        count = starts[i]
        starts[i] = total
        total += count
    for i in range(n):
        slot = slots[i]
        ordered[starts[slot]] = weights[i]
        starts[slot] += 1
    # ... so a shift by one restores the starts; the last entry is the end of all.
    i = 2 * n_ties + 1
    while i > 0:
        starts[i] = starts[i - 1]
        i -= 1
    starts[0] = 0


def n_scratch_words(Py_ssize_t n_minority, Py_ssize_t n_majority) -> int:
    """The number of 64-bit words of scratch that order_by_ties needs."""
    return 2 * n_minority + n_majority // 2 + n_table_cells(n_minority) // 2 + 2


def order_by_ties(
    const key_t[::1] minority_keys, const double[::1] minority_weights, const key_t[::1] majority_keys,
    const double[::1] majority_weights, uint64_t[::1] scratch, int64_t[::1] minority_starts,
    double[::1] minority_ordered,
    int64_t[::1] majority_starts, double[::1] majority_ordered
) -> int:
    """Order the weights of both classes by slots; return n_ties. Rows are in any order; each class has at least one.

    n_minority <= n_majority, and n_minority is below 2**31. scratch has n_scratch_words(n_minority, n_majority) words.
    minority_starts and majority_starts have 2 * n_minority + 2 entries, of which 2 * n_ties + 2 are written. The
    ordered arrays are as long as the classes.
    """
    cdef Py_ssize_t n_minority = minority_keys.shape[0]
    cdef Py_ssize_t n_majority = majority_keys.shape[0]
    cdef Py_ssize_t n_ties = 0
    cdef Py_ssize_t i, n_cells
    cdef int shift
    cdef key_t* ties = <key_t*>&scratch[0]
    cdef key_t* sort_scratch = <key_t*>(&scratch[0] + n_minority)
    cdef uint32_t* slots = <uint32_t*>(&scratch[0] + 2 * n_minority)
    cdef int32_t* cells = <int32_t*>(&scratch[0] + 2 * n_minority + n_majority // 2 + 1)
    with nogil:
        for i in range(n_minority):
            ties[i] = minority_keys[i]
        sort_keys(ties, n_minority, sort_scratch)
        n_ties = drop_equal(ties, n_minority)
        n_cells = n_table_cells(n_ties)
        shift = fill_cells(<const key_t*>ties, n_ties, cells, n_cells)
        order_rows(
            &minority_keys[0], &minority_weights[0], n_minority, <const key_t*>ties, n_ties, <const int32_t*>cells,
            shift, slots,
            &minority_starts[0], &minority_ordered[0])
        order_rows(
            &majority_keys[0], &majority_weights[0], n_majority, <const key_t*>ties, n_ties, <const int32_t*>cells,
            shift, slots,
            &majority_starts[0], &majority_ordered[0])
    return n_ties


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


cdef inline void add_weights(
    uint64_t* number, Py_ssize_t n_limbs, const double* weights, Py_ssize_t start, Py_ssize_t stop, int unit_exponent
) noexcept nogil:
    """Add at most ROWS_PER_CARRY weights, multiples of 2**unit_exponent, without carrying."""
    cdef Py_ssize_t i
    cdef uint64_t mantissa, low, high, is_below_64
    cdef uint64_t first = 0
    cdef uint64_t second = 0
    cdef uint64_t third = 0
    cdef uint64_t fourth = 0
    cdef int bit_position = 0
    cdef uint64_t* limb
    if n_limbs > MAX_REGISTER_LIMBS:
        for i in range(start, stop):
            mantissa = read_weight(weights[i], unit_exponent, &bit_position)
            limb = number + (bit_position >> 5)
            bit_position &= 31
            limb[0] += (mantissa << bit_position) & 0xFFFFFFFFu
            limb[1] += (mantissa >> (32 - bit_position)) & 0xFFFFFFFFu
            limb[2] += (mantissa >> (63 - bit_position)) >> 1
        return
    # The whole sum fits four limbs, which stay in registers. A weight is below 2**128: the words (high, low).
    for i in range(start, stop):
        mantissa = read_weight(weights[i], unit_exponent, &bit_position)
        is_below_64 = <uint64_t>(bit_position >> 6) - 1  # all ones if bit_position < 64, else zero
        bit_position &= 63
        low = mantissa << bit_position
        high = ((mantissa >> (63 - bit_position)) >> 1) & is_below_64
        high |= low & ~is_below_64
        low &= is_below_64
        first += low & 0xFFFFFFFFu
        second += low >> 32
        third += high & 0xFFFFFFFFu
        fourth += high >> 32
    number[0] += first
    number[1] += second
    number[2] += third
    number[3] += fourth


cdef inline void add_segment(
    uint64_t* number, Py_ssize_t n_limbs, const double* weights, Py_ssize_t start, Py_ssize_t stop, int unit_exponent
) noexcept nogil:
    """Add any number of weights. Those after the last full ROWS_PER_CARRY are not carried."""
    while stop - start > ROWS_PER_CARRY:
        add_weights(number, n_limbs, weights, start, start + ROWS_PER_CARRY, unit_exponent)
        carry(number, n_limbs)
        start += ROWS_PER_CARRY
    add_weights(number, n_limbs, weights, start, stop, unit_exponent)


cdef inline void sum_segment(
    uint64_t* number, Py_ssize_t n_limbs, const double* weights, Py_ssize_t start, Py_ssize_t stop, int unit_exponent
) noexcept nogil:
    """Set number to the carried sum of weights."""
    cdef Py_ssize_t i
    for i in range(n_limbs):
        number[i] = 0
    add_segment(number, n_limbs, weights, start, stop, unit_exponent)
    carry(number, n_limbs)


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


def range_pairs(
    const double[::1] minority_weights, const int64_t[::1] minority_starts, const double[::1] majority_weights,
    const int64_t[::1] majority_starts, Py_ssize_t n_ties, int unit_exponent, uint64_t[:, ::1] sums, int64_t[::1] wins
):
    """Twice the weighted pairs that the minority wins, plus the ties, in units of 4**unit_exponent.

    The result is written to wins (2 n_limbs + 1 words). The weights are ordered by order_by_ties. sums (4 rows of
    n_limbs + SPARE_WORDS words) receives, in units of 2**unit_exponent, twice the majority's weight and the minority's
    weight; the other rows are scratch. wins and sums are zero before the call.
    """
    cdef Py_ssize_t n_limbs = sums.shape[1] - N_SPARE_WORDS
    cdef Py_ssize_t tie, slot
    cdef bint tied
    cdef uint64_t* below = &sums[0, 0]
    cdef uint64_t* minority_sum = &sums[1, 0]
    cdef uint64_t* tie_sum = &sums[2, 0]
    cdef uint64_t* tied_sum = &sums[3, 0]
    with nogil:
        for tie in range(n_ties):
            # Twice the weight below plus the tied weight. A unit of half the size doubles the weight below. The tied
            # weight is added a second time when the sweep has passed it.
            slot = 2 * tie
            tied = majority_starts[slot + 1] < majority_starts[slot + 2]
            add_segment(
                below, n_limbs, &majority_weights[0], majority_starts[slot], majority_starts[slot + 1],
                unit_exponent - 1)
            if tied:
                sum_segment(
                    tied_sum, n_limbs, &majority_weights[0], majority_starts[slot + 1], majority_starts[slot + 2],
                    unit_exponent)
                add_limbs(below, tied_sum, n_limbs)
            carry(below, n_limbs)
            sum_segment(
                tie_sum, n_limbs, &minority_weights[0], minority_starts[slot + 1], minority_starts[slot + 2],
                unit_exponent)
            add_limbs(minority_sum, tie_sum, n_limbs)
            add_product(&wins[0], 1, tie_sum, below, n_limbs)
            if tie % PRODUCTS_PER_CARRY == 0:
                carry_product(&wins[0], wins.shape[0])
            if tied:
                add_limbs(below, tied_sum, n_limbs)
        slot = 2 * n_ties
        add_segment(
            below, n_limbs, &majority_weights[0], majority_starts[slot], majority_starts[slot + 1], unit_exponent - 1)
        carry(below, n_limbs)
        carry(minority_sum, n_limbs)
        carry_product(&wins[0], wins.shape[0])


def range_extremes(
    const double[::1] minority_weights, const int64_t[::1] minority_starts, const double[::1] majority_weights,
    const int64_t[::1] majority_starts, Py_ssize_t n_ties, int unit_exponent, const uint64_t[::1] all_minority,
    const uint64_t[::1] all_majority, uint64_t[:, ::1] sums, int64_t[:, ::1] extremes
):
    """The maximum and minimum, over the ends of ties, of a difference D that is 0 at the beginning of the range.

    D = (minority below) * all_majority - (majority below) * all_minority, in units of 4**unit_exponent. D decreases
    while only majority rows follow each other, so its minimum is at the end of such a slot. all_minority and
    all_majority (n_limbs words, in units of 2**unit_exponent) are sums over all ranges. sums (4 rows of n_limbs +
    SPARE_WORDS words) receives the range's majority weight and minority weight; the other rows are scratch. extremes (3
    rows of 2 n_limbs + 1 words) receives the maximum, the minimum, and D at the end of the range. Both are zero before
    the call.
    """
    cdef Py_ssize_t n_limbs = sums.shape[1] - N_SPARE_WORDS
    cdef Py_ssize_t n_words = extremes.shape[1]
    cdef Py_ssize_t tie, slot
    cdef uint64_t* majority_sum = &sums[0, 0]
    cdef uint64_t* minority_sum = &sums[1, 0]
    cdef uint64_t* tie_sum = &sums[2, 0]
    cdef int64_t* greatest = &extremes[0, 0]
    cdef int64_t* least = &extremes[1, 0]
    cdef int64_t* current = &extremes[2, 0]
    with nogil:
        for tie in range(n_ties + 1):
            slot = 2 * tie
            if majority_starts[slot] < majority_starts[slot + 1]:
                sum_segment(
                    tie_sum, n_limbs, &majority_weights[0], majority_starts[slot], majority_starts[slot + 1],
                    unit_exponent)
                add_limbs(majority_sum, tie_sum, n_limbs)
                add_product(current, -1, tie_sum, &all_minority[0], n_limbs)
                carry_product(current, n_words)
                if is_less(current, least, n_words):
                    copy_words(least, current, n_words)
            if tie == n_ties:
                break
            sum_segment(
                tie_sum, n_limbs, &minority_weights[0], minority_starts[slot + 1], minority_starts[slot + 2],
                unit_exponent)
            add_limbs(minority_sum, tie_sum, n_limbs)
            add_product(current, 1, tie_sum, &all_majority[0], n_limbs)
            carry_product(current, n_words)
            if majority_starts[slot + 1] < majority_starts[slot + 2]:
                sum_segment(
                    tie_sum, n_limbs, &majority_weights[0], majority_starts[slot + 1], majority_starts[slot + 2],
                    unit_exponent)
                add_limbs(majority_sum, tie_sum, n_limbs)
                add_product(current, -1, tie_sum, &all_minority[0], n_limbs)
                carry_product(current, n_words)
                if is_less(current, least, n_words):
                    copy_words(least, current, n_words)
            if is_less(greatest, current, n_words):
                copy_words(greatest, current, n_words)
        carry(majority_sum, n_limbs)
        carry(minority_sum, n_limbs)
