"""Runs of a range of scores, from the greatest score down, and what NumPy lacks to read them.

A run has the rows of one score, or those of neighboring scores as far as the cut allows: at CUT_CLASSES rows of one
class, at CUT_POSITIVES only negatives, at CUT_SCORES none. Two arrays have the mass of the negatives and that of the
positives of every run. What is read from runs does not depend on where rows of one class are cut.

Masses are numbers of rows (int64), or weights in units of 2**unit_exponent (Wide, wide_weights.pxd): four words for
each run, low and high word of the negatives, then of the positives.

Bounds. A range has fewer than 2**31 rows of each class. The caller has checked that products of int64 masses, one of
each class, are below 2**62, and those of wide ones below 2**254.
"""

from libc.math cimport fabs
from libc.stdint cimport int64_t, uint64_t

from fastmetrics._kernels.numeric.superaccumulator cimport (
    CHUNK, CHUNKS_PER_CARRY, STATE_SIZE, add_chunk, bits_of_f64, normalize,
)
from fastmetrics._kernels.sweep.rank_table cimport key_t
from fastmetrics._kernels.sweep.weighted_rows cimport WeightedRow
from fastmetrics._kernels.sweep.wide_weights cimport (
    PRODUCT_WORDS, Span, Wide, add_to_extremes, add_weight, empty_span, exponents_of_span, sum_of, widen_span,
)

cdef extern from "numeric/uint128_sums.h":
    void add_product_u128 "fm_add_product_u128"(uint64_t* sum, uint64_t a, uint64_t b) noexcept nogil

cdef enum:
    OF_CLASSES = 0
    OF_POSITIVES = 1
    OF_SCORES = 2
    BOTH_CLASSES = 3  # the classes of a run as bits: 1 negatives, 2 positives

CUT_CLASSES = OF_CLASSES
CUT_POSITIVES = OF_POSITIVES
CUT_SCORES = OF_SCORES
RUN_WORDS = 4

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


# ---- Making runs ----


cdef inline bint continues(int classes, int last_classes, int cut) noexcept nogil:
    """Do the rows of a score belong to the run of the next greater score?"""
    return classes == last_classes and classes + cut <= 2


def runs_of_sorted(
    const key_t[::1] keys, Py_ssize_t middle, int cut, key_t[::1] run_keys, int64_t[::1] negatives,
    int64_t[::1] positives
) -> int:
    """Write the runs of sorted rows: the negatives are keys[:middle], the positives keys[middle:]; return their number.

    Both classes ascend. run_keys, the least key of each run, and the masses have at least an element for every row.
    """
    cdef Py_ssize_t i = middle
    cdef Py_ssize_t j = keys.shape[0]
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t n_negatives, n_positives
    cdef key_t key
    if not 0 <= middle <= j or j > run_keys.shape[0] or not (
        run_keys.shape[0] == negatives.shape[0] == positives.shape[0]
    ):
        raise ValueError("keys and masses of runs must have an element for every row")
    with nogil:
        while i > 0 or j > middle:
            if cut < OF_SCORES:  # the negatives above the next positive
                n_negatives = i
                if j == middle:
                    i = 0
                else:
                    key = keys[j - 1]
                    while i > 0 and keys[i - 1] > key:
                        i -= 1
                if n_negatives > i:
                    negatives[n], positives[n], run_keys[n] = n_negatives - i, 0, keys[i]
                    n += 1
            if cut == OF_CLASSES:  # the positives above the next negative
                n_positives = j
                if i == 0:
                    j = middle
                else:
                    key = keys[i - 1]
                    while j > middle and keys[j - 1] > key:
                        j -= 1
                if n_positives > j:
                    negatives[n], positives[n], run_keys[n] = 0, n_positives - j, keys[j]
                    n += 1
                if i == 0 or j == middle or keys[i - 1] != keys[j - 1]:
                    continue
            elif i == 0 and j == middle:
                break
            if j == middle or (i > 0 and keys[i - 1] > keys[j - 1]):
                key = keys[i - 1]
            else:
                key = keys[j - 1]
            n_negatives, n_positives = i, j
            while i > 0 and keys[i - 1] == key:
                i -= 1
            while j > middle and keys[j - 1] == key:
                j -= 1
            negatives[n], positives[n], run_keys[n] = n_negatives - i, n_positives - j, key
            n += 1
    return n


def runs_of_weights(
    const uint64_t[:, ::1] ordered, int unit_exponent, int cut, uint64_t[::1] run_keys, uint64_t[:, ::1] masses
) -> int:
    """Write the runs of weighted rows in ascending order of keys (weighted_sweep.pyx); return their number.

    run_keys and masses (RUN_WORDS words each) have an element for every row.
    """
    cdef Py_ssize_t i = ordered.shape[0]
    cdef Py_ssize_t n = 0
    cdef int classes, label
    cdef int last_classes = BOTH_CLASSES
    cdef uint64_t key
    cdef const WeightedRow* rows
    cdef Wide tied[2]
    cdef Wide* run
    if ordered.shape[1] != 2 or masses.shape[1] != RUN_WORDS or not i == run_keys.shape[0] == masses.shape[0]:
        raise ValueError("rows must have two words and masses four, and there must be as many of both")
    if i == 0:
        return 0
    rows = <const WeightedRow*>&ordered[0, 0]
    with nogil:
        while i:
            key = rows[i - 1].key
            classes = 0
            tied[0].low = tied[0].high = tied[1].low = tied[1].high = 0
            while i and rows[i - 1].key == key:
                i -= 1
                label = rows[i].weight < 0
                classes |= 1 + label
                add_weight(&tied[label], fabs(rows[i].weight), unit_exponent)
            if continues(classes, last_classes, cut):
                run = <Wide*>&masses[n - 1, 0]
                run[classes - 1] = sum_of(run[classes - 1], tied[classes - 1])
            else:
                run = <Wide*>&masses[n, 0]
                run[0], run[1] = tied[0], tied[1]
                n += 1
            run_keys[n - 1] = key
            last_classes = classes
    return n


# ---- Reading runs ----


cdef int check_masses(const int64_t[::1] negatives, const int64_t[::1] positives) except -1:
    if negatives.shape[0] != positives.shape[0]:
        raise ValueError("there must be a mass of both classes for every run")
    return 0


def extremes(
    const int64_t[::1] negatives, const int64_t[::1] positives, int64_t all_negatives, int64_t all_positives
) -> tuple[int, int]:
    """The greatest and the least D = (positives so far) * all_negatives - (negatives so far) * all_positives.

    D is 0 before the first run, and changes with every run.
    """
    cdef int64_t difference = 0
    cdef int64_t greatest = 0
    cdef int64_t least = 0
    cdef Py_ssize_t k
    check_masses(negatives, positives)
    with nogil:
        for k in range(negatives.shape[0]):
            difference += positives[k] * all_negatives - negatives[k] * all_positives
            greatest = difference if difference > greatest else greatest
            least = difference if difference < least else least
    return greatest, least


def wide_extremes(const uint64_t[:, ::1] masses, const uint64_t[:, ::1] totals, uint64_t[:, ::1] found):
    """The same for wide masses, in units of 4**unit_exponent.

    totals has two words for all negatives and all positives. found (three rows of four words, zero before the call)
    receives D, its greatest and its least value; the last word has the sign.
    """
    cdef Wide all_negatives, all_positives
    cdef const Wide* run
    cdef Py_ssize_t k
    if masses.shape[1] != RUN_WORDS or totals.shape[0] != 2 or totals.shape[1] != 2:
        raise ValueError("masses must have four words, and totals two for each class")
    if found.shape[0] != 3 or found.shape[1] != PRODUCT_WORDS:
        raise ValueError("there must be three numbers of four words")
    all_negatives.low, all_negatives.high = totals[0, 0], totals[0, 1]
    all_positives.low, all_positives.high = totals[1, 0], totals[1, 1]
    with nogil:
        for k in range(masses.shape[0]):
            run = <const Wide*>&masses[k, 0]
            add_to_extremes(&found[0, 0], run[0], run[1], all_negatives, all_positives)


def pairs(const int64_t[::1] negatives, const int64_t[::1] positives, int64_t all_negatives) -> tuple[int, int]:
    """Twice the (positive, negative) pairs of the range that the positive wins, plus the ties: low and high word.

    all_negatives are those of the range.
    """
    cdef uint64_t won[2]
    cdef int64_t below = all_negatives
    cdef Py_ssize_t k
    check_masses(negatives, positives)
    won[0] = won[1] = 0
    with nogil:
        for k in range(negatives.shape[0]):
            add_product_u128(won, <uint64_t>positives[k], <uint64_t>(2 * below - negatives[k]))
            below -= negatives[k]
    return won[0], won[1]


def precisions(
    const int64_t[::1] negatives, const int64_t[::1] positives, int64_t negatives_above, int64_t positives_above,
    int64_t[::1] state
):
    """Add for every run with positives their number times the precision at their score (CUT_POSITIVES, or finer).

    Each product is rounded to float64; their sum is exact. Counts are below 2**53.
    """
    cdef double chunk[CHUNK]
    cdef double remainders[CHUNK]
    cdef double tps = positives_above
    cdef double fps = negatives_above
    cdef Py_ssize_t length = 0
    cdef Py_ssize_t n_chunks = 0
    cdef Py_ssize_t k
    check_masses(negatives, positives)
    if state.shape[0] != STATE_SIZE:
        raise ValueError("the state must be that of an exact sum")
    with nogil:
        for k in range(negatives.shape[0]):
            fps += negatives[k]
            if positives[k] == 0:
                continue
            tps += positives[k]
            chunk[length] = positives[k] * (tps / (tps + fps))
            length += 1
            if length == CHUNK:
                add_chunk(&state[0], chunk, length, remainders)
                length = 0
                n_chunks += 1
                if n_chunks % CHUNKS_PER_CARRY == 0:
                    normalize(&state[0])
        if length:
            add_chunk(&state[0], chunk, length, remainders)
        normalize(&state[0])


def upper_hull(
    const int64_t[::1] negatives, const int64_t[::1] positives, int64_t[::1] runs, int64_t[::1] fps, int64_t[::1] tps
) -> int:
    """The corners of the least concave curve above a range's ROC curve; return their number.

    The range begins at (0, 0). fps and tps receive false and true positives of each corner, and runs the number of the
    run that ends there, -1 for the beginning. They have an element for every run and one more.
    """
    cdef Py_ssize_t k
    cdef Py_ssize_t n_runs = negatives.shape[0]
    cdef Py_ssize_t n = 1
    cdef int64_t x = 0
    cdef int64_t y = 0
    check_masses(negatives, positives)
    if not runs.shape[0] == fps.shape[0] == tps.shape[0] == n_runs + 1:
        raise ValueError("corners must have an element for every run and one more")
    fps[0] = tps[0] = 0
    runs[0] = -1
    with nogil:
        for k in range(n_runs):
            x += negatives[k]
            y += positives[k]
            # A corner is where positives end, or the range.
            if positives[k] == 0 and (k < n_runs - 1 or negatives[k] == 0):
                continue
            while n > 1 and (
                (fps[n - 1] - fps[n - 2]) * (y - tps[n - 2]) >= (tps[n - 1] - tps[n - 2]) * (x - fps[n - 2])
            ):
                n -= 1
            fps[n], tps[n], runs[n] = x, y, k
            n += 1
    return n


# ---- Pairs of weights that lie too far apart for 128 bits ----
#
# Numbers. A weight is an integer multiple of 2**unit_exponent, the lowest bit that is set in any weight. A sum is an
# integer of n_limbs limbs of 32 bits, least significant first, each in a uint64 word. The caller chooses n_limbs (see
# `widen_exponent_range`) so that twice the sum of all weights is below 2**(32 n_limbs). Usual weights need 3 or 4
# limbs, the most extreme weights 68.
#
# Carries. Between two carries, words grow beyond 32 bits. Adding a weight adds less than 2**32 to each word that it
# changes. A sum of weights is carried after every ROWS_PER_CARRY = 2**16 weights, so a word stays below (1 + 2**16) *
# 2**32 < 2**49. Only carried sums are added to totals, fewer than 2**31 of them. After a carry every limb is below
# 2**32. The whole sum is below 2**(32 n_limbs), so no carry leaves the last limb. A weight is added to four words from
# the first limb on, or to three words from limb bit_position / 32 on, which is below n_limbs because the weight is at
# least 2**bit_position. So a sum has N_SPARE_WORDS = 3 words above its limbs; only zeros are added to them.
#
# Products have 2 n_limbs + 1 signed words (int64). The product of two limbs is below 2**64. Its halves, below 2**32,
# are added to two words or subtracted from them. A word receives at most 2 n_limbs halves of a product, so after 2**16
# products it has changed by less than 2**16 * 136 * 2**32 < 2**56. A carry brings all words but the last into [0,
# 2**32). Pairs are at most 2 * all_minority * all_majority, which is below 2**(64 n_limbs), so the last word is 0.


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


cdef inline void add_limbs_of_weight(uint64_t* number, double weight, int unit_exponent) noexcept nogil:
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
        add_limbs_of_weight(tied[label], fabs(rows[i].weight), unit_exponent)
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
