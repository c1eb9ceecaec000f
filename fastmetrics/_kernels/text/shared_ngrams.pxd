"""Clipped n-gram matches of two texts of symbols, for all orders from 1 to n.

A symbol is a number below 2**32: a code point or a word id. There are two methods.

- Masks of positions (ngram_masks.h): if the second text has at most MAX_MASKED_LENGTH symbols and the orders are at
  most FM_ORDERS.
- A table, order by order. An n-gram is the pair (id of its first n - 1 symbols, last symbol), 32 bits each. An
  open-addressing table with these pairs as exact keys numbers the n-grams of the second text. An n-gram is looked up
  or added only if its first n - 1 symbols are in both texts. A match takes one from the remaining count. Memory is
  linear in the texts, and all orders use one table.

The caller owns the scratch memory and reuses it for all texts. `rows` and `masks` are zero between two texts.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from fastmetrics._kernels.numeric.table_hash cimport table_hash

cdef extern from "text/ngram_masks.h":
    enum:
        FM_ORDERS
        FM_MASK_WORDS
    void match_masks "fm_match_masks"(
        const uint16_t* symbols, Py_ssize_t n, const uint64_t* masks, Py_ssize_t n_words, int64_t* matches,
        uint16_t* matched_orders
    ) noexcept nogil

cdef enum:
    MAX_MASKED_LENGTH = 64 * FM_MASK_WORDS

cdef struct Matcher:
    uint16_t* rows              # the row in `masks` of every symbol
    int64_t n_rows              # symbols from n_rows on have no row
    uint64_t* masks             # (l + 1) rows of ceil(l / 64) words; l: longest text, at most MAX_MASKED_LENGTH
    uint16_t* numbers           # rows of the symbols of the longest text
    uint64_t* keys              # table_size(longest text) slots; this and the following are for the table
    int64_t* grams              # n-gram ids + 1 by slot; 0 is an empty slot
    int64_t* first_numbers      # id of the n-gram at each position of the first text; -1: not in the second
    int64_t* second_numbers     # the same for the second
    int64_t* remaining          # how often each n-gram of the second can still match
    uint8_t* shared             # whether the first text has the n-gram


cdef inline int64_t table_size(int64_t n) noexcept nogil:
    cdef int64_t size = 16
    while size < 2 * n:
        size *= 2
    return size


cdef inline void match_short(
    const Matcher* matcher, const uint32_t* first, int64_t n, const uint32_t* second, int64_t m, int64_t* matches,
    uint16_t* matched_orders
) noexcept nogil:
    """Count the matches of all orders up to FM_ORDERS, by masks.

    The second text has at most MAX_MASKED_LENGTH symbols. The symbols of both texts are below n_rows. matched_orders is
    NULL, or for every position of the first text the bits of the orders whose n-grams match are set. Of equal n-grams
    in the first text the last ones match.
    """
    cdef Py_ssize_t n_words = (m + 63) >> 6
    cdef uint16_t n_rows = 0
    cdef uint16_t row
    cdef int64_t i
    for i in range(m):
        row = matcher.rows[second[i]]
        n_rows += row == 0
        row = row if row else n_rows
        matcher.rows[second[i]] = row
        matcher.masks[row * n_words + (i >> 6)] |= <uint64_t>1 << (i & 63)
    for i in range(n):
        matcher.numbers[i] = matcher.rows[first[i]]
    for i in range(m):
        matcher.rows[second[i]] = 0
    match_masks(matcher.numbers, n, matcher.masks, n_words, matches, matched_orders)
    memset(matcher.masks + n_words, 0, <size_t>(n_rows * n_words) * sizeof(uint64_t))


cdef inline int64_t find_gram(const Matcher* matcher, uint64_t key, int64_t mask, int64_t new_number) noexcept nogil:
    """Return the id of an n-gram. A new one gets the id new_number, or is not added if that is -1."""
    cdef int64_t slot = <int64_t>table_hash(key) & mask
    while matcher.grams[slot]:
        if matcher.keys[slot] == key:
            return matcher.grams[slot] - 1
        slot = (slot + 1) & mask
    if new_number >= 0:
        matcher.keys[slot] = key
        matcher.grams[slot] = new_number + 1
    return new_number


cdef inline void number_grams(
    const Matcher* matcher, const uint32_t* second, int64_t m, int order, int64_t mask, int64_t* n_grams
) noexcept nogil:
    """Number the n-grams of the second text whose first n - 1 symbols are in the first text."""
    cdef int64_t i, number
    n_grams[0] = 0
    for i in range(m - order):
        number = matcher.second_numbers[i]
        if number < 0 or not matcher.shared[number]:
            matcher.second_numbers[i] = -1
            continue
        number = find_gram(matcher, <uint64_t>number << 32 | second[i + order], mask, n_grams[0])
        if number == n_grams[0]:
            matcher.remaining[number] = 0
            n_grams[0] += 1
        matcher.remaining[number] += 1
        matcher.second_numbers[i] = number
    memset(matcher.shared, 0, <size_t>n_grams[0])


cdef inline void match_long(
    const Matcher* matcher, const uint32_t* first, int64_t n, const uint32_t* second, int64_t m, int n_orders,
    int64_t* matches, uint16_t* matched_orders
) noexcept nogil:
    """Count the matches for texts of any length and for any orders, as match_short does.

    Bits in matched_orders that are set by earlier texts stay set.
    """
    cdef int64_t size = table_size(m)
    cdef int64_t mask = size - 1
    cdef int64_t n_grams = 1
    cdef int64_t i, number, n_matches
    cdef int order
    cdef bint is_match
    for i in range(n):
        matcher.first_numbers[i] = 0
    for i in range(m):
        matcher.second_numbers[i] = 0
    matcher.shared[0] = 1
    for order in range(n_orders):
        matches[order] = 0
        if n_grams == 0:
            continue
        memset(matcher.grams, 0, <size_t>size * sizeof(int64_t))
        number_grams(matcher, second, m, order, mask, &n_grams)
        n_matches = 0
        # From the last position to the first, as with masks: several references then mark the same occurrences.
        for i in range(n - order - 1, -1, -1):
            number = matcher.first_numbers[i]
            if number < 0:
                continue
            number = find_gram(matcher, <uint64_t>number << 32 | first[i + order], mask, -1)
            matcher.first_numbers[i] = number
            if number >= 0:
                matcher.shared[number] = 1
                is_match = matcher.remaining[number] > 0
                n_matches += is_match
                matcher.remaining[number] -= is_match
                if matched_orders != NULL:
                    matched_orders[i] |= <uint16_t>is_match << order
        matches[order] = n_matches
