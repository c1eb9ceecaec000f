"""The rows of a bucket of scores in ascending order: a radix sort of words that have a key's upper bits and a row.

The keys of a bucket are in a narrow range. Their distances from the lowest are shifted until the highest bit is used:
the upper bits then separate nearly all keys, wherever the range is, and two digits of them are sorted by. An insertion
sort orders the neighbors that they do not separate, with a look at the whole keys. If it takes too many moves (scores
of very different magnitude), rows are sorted by all digits.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset

from fastmetrics._kernels.exchange.ordered_rows cimport MOST_ROWS, ROW_BITS

cdef enum:
    WORD_BITS = 64
    DIGIT_BITS = 11
    DIGIT_VALUES = 2048         # 1 << DIGIT_BITS
    MOST_DIGITS = 4
    FIRST_HIGH_BIT = 42         # of the two highest digits
    MAX_MOVES_PER_ROW = 4       # moves of the insertion sort


cdef struct BucketRows:
    const uint64_t* keys        # negatives first
    Py_ssize_t n
    Py_ssize_t n_negatives
    uint64_t low                # the lowest key
    int shift                   # by which the distances from it can be shifted to the left


cdef inline uint64_t distance_of(const BucketRows* rows, uint64_t number) noexcept nogil:
    """The distance of a row's key from the lowest, shifted. Equal keys have equal distances."""
    return (rows.keys[number] - rows.low) << rows.shift


cdef inline uint64_t row_number(uint64_t word) noexcept nogil:
    return word & (MOST_ROWS - 1)


cdef inline bint have_one_prefix(uint64_t one, uint64_t other) noexcept nogil:
    return not (one ^ other) >> ROW_BITS


cdef inline uint64_t* radix_sort_words(
    uint64_t* words, uint64_t* scratch, Py_ssize_t n, int first_bit
) noexcept nogil:
    """Stable sort by the bits from `first_bit` on. The result is in one of the two arrays, which is returned."""
    cdef uint32_t counts[MOST_DIGITS][DIGIT_VALUES]
    cdef Py_ssize_t i, digit
    cdef Py_ssize_t n_digits = (WORD_BITS - first_bit + DIGIT_BITS - 1) // DIGIT_BITS
    cdef uint32_t before, count
    cdef uint32_t* own
    cdef uint64_t word
    cdef uint64_t* swap
    cdef int bit
    memset(counts, 0, n_digits * sizeof(counts[0]))
    for i in range(n):
        word = words[i] >> first_bit
        for digit in range(n_digits):
            counts[digit][word & (DIGIT_VALUES - 1)] += 1
            word >>= DIGIT_BITS
    for digit in range(n_digits):
        own = counts[digit]
        bit = first_bit + <int>digit * DIGIT_BITS
        if own[(words[0] >> bit) & (DIGIT_VALUES - 1)] == <uint32_t>n:
            continue
        before = 0
        for i in range(DIGIT_VALUES):
            count = own[i]
            own[i] = before
            before += count
        for i in range(n):
            word = words[i]
            count = <uint32_t>((word >> bit) & (DIGIT_VALUES - 1))
            scratch[own[count]] = word
            own[count] += 1
        swap = words
        words = scratch
        scratch = swap
    return words


cdef inline bint insertion_sort_words(const BucketRows* rows, uint64_t* words) noexcept nogil:
    """Order neighbors by their whole keys. Returns False after too many moves; the words are then partly sorted."""
    cdef Py_ssize_t i, j
    cdef Py_ssize_t moves_left = MAX_MOVES_PER_ROW * rows.n
    cdef uint64_t word, other, key
    for i in range(1, rows.n):
        word = words[i]
        other = words[i - 1]
        if have_one_prefix(word, other):
            key = rows.keys[row_number(word)]
            if rows.keys[row_number(other)] <= key:
                continue
        elif other < word:
            continue
        else:
            key = rows.keys[row_number(word)]
        j = i
        while j > 0 and rows.keys[row_number(words[j - 1])] > key:
            words[j] = words[j - 1]
            j -= 1
        words[j] = word
        moves_left -= i - j
        if moves_left < 0:
            return False
    return True


cdef inline uint64_t* sort_by_all_digits(
    const BucketRows* rows, uint64_t* words, uint64_t* scratch
) noexcept nogil:
    """The words sorted by the lower bits of their distances, then by the upper ones."""
    cdef Py_ssize_t i
    cdef uint64_t number
    cdef uint64_t* found
    for i in range(rows.n):
        words[i] = distance_of(rows, <uint64_t>i) << ROW_BITS | <uint64_t>i
    found = radix_sort_words(words, scratch, rows.n, ROW_BITS)
    scratch = scratch if found == words else words
    for i in range(rows.n):
        number = row_number(found[i])
        found[i] = distance_of(rows, number) >> (WORD_BITS - ROW_BITS) << ROW_BITS | number
    return radix_sort_words(found, scratch, rows.n, ROW_BITS)


cdef inline void order_bucket_rows(
    BucketRows* rows, uint64_t high, uint64_t* words, uint64_t* scratch, uint32_t* ordered
) noexcept nogil:
    """Write the words of ordered_rows.pxd in ascending order of the keys, of which `high` is the highest.

    There is a row. `words` and `scratch` are working memory for one word of each.
    """
    cdef Py_ssize_t i
    cdef uint64_t number
    cdef uint64_t before = 0
    cdef uint64_t* found
    cdef bint is_tied = False
    rows.shift = 0
    while rows.shift < WORD_BITS - 1 and not ((high - rows.low) << rows.shift) >> (WORD_BITS - 1):
        rows.shift += 1
    for i in range(rows.n):
        words[i] = distance_of(rows, <uint64_t>i) >> ROW_BITS << ROW_BITS | <uint64_t>i
    found = radix_sort_words(words, scratch, rows.n, FIRST_HIGH_BIT)
    if not insertion_sort_words(rows, found):
        found = sort_by_all_digits(rows, words, scratch)
    for i in range(rows.n):
        number = row_number(found[i])
        if i:
            is_tied = rows.keys[number] == rows.keys[before]
        ordered[i] = (
            <uint32_t>number
            | <uint32_t>(<Py_ssize_t>number >= rows.n_negatives) << 31
            | <uint32_t>is_tied << ROW_BITS
        )
        before = number
