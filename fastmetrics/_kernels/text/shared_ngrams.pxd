"""N-grams that two texts of symbols share, clipped, for all orders from 1 to n: by masks or by a table of pairs.

A symbol is a number below 2**32: a code point, the number of a word. Where the shorter text has at most MOST_MASKED
symbols and orders go to FM_ORDERS, masks of positions: ngrammasks.h. Otherwise order by order: an n-gram is the number
of its first n - 1 symbols and its last one, a pair of 32 bits each, and an open-addressing table of such pairs numbers
the n-grams of the second text. The pair is the key, so that nothing is taken for equal by a hash. N-grams of the first
text are looked up only while their beginnings were found, those of the second are numbered only while the first has
their beginnings, and a match takes one from what remains of the count. Memory is linear in the texts, and one table
serves all orders.

Scratch memory belongs to the caller and is the same for all texts; rows and masks are zero between two of them.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

cdef extern from "vectormath.h":
    uint64_t hash_integer "fm_hash_integer"(uint64_t key) noexcept nogil

cdef extern from "ngrammasks.h":
    enum:
        FM_ORDERS
        FM_MASK_WORDS
    void match_masks "fm_match_masks"(
        const uint16_t* symbols, Py_ssize_t n, const uint64_t* masks, Py_ssize_t n_words, int64_t* matches,
        uint16_t* credits
    ) noexcept nogil

cdef enum:
    MOST_MASKED = 64 * FM_MASK_WORDS

cdef struct Matcher:
    uint16_t* rows              # of every symbol its row in `masks`
    int64_t n_rows              # symbols from here on have none
    uint64_t* masks             # (l + 1) rows of ceil(l / 64), l: the longest text, at most MOST_MASKED
    uint16_t* numbers           # of the longest text
    uint64_t* keys              # a table of n-grams of table_size(longest text); these are for tables only
    int64_t* grams              # their numbers + 1, 0 is free
    int64_t* first_numbers      # of the n-gram at a position of the first text, -1 where the second lacks it
    int64_t* second_numbers     # the same for the second
    int64_t* remaining          # how often an n-gram of the second has not been matched yet
    uint8_t* shared             # whether the first has it


cdef inline int64_t table_size(int64_t n) noexcept nogil:
    cdef int64_t size = 16
    while size < 2 * n:
        size *= 2
    return size


cdef inline void match_short(
    const Matcher* matcher, const uint32_t* first, int64_t n, const uint32_t* second, int64_t m, int64_t* matches,
    uint16_t* credits
) noexcept nogil:
    """All orders up to FM_ORDERS; the second text has at most MOST_MASKED symbols, those of both are below n_rows.

    credits: NULL, or for every position of the first text a bit for every order whose n-gram counts is added. Of equal
    n-grams the last ones are taken.
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
    match_masks(matcher.numbers, n, matcher.masks, n_words, matches, credits)
    memset(matcher.masks + n_words, 0, <size_t>(n_rows * n_words) * sizeof(uint64_t))


cdef inline int64_t find_gram(const Matcher* matcher, uint64_t key, int64_t mask, int64_t new_number) noexcept nogil:
    """The number of an n-gram; if it is unknown, new_number is given to it, or with -1 nothing done."""
    cdef int64_t slot = <int64_t>hash_integer(key) & mask
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
    """The n-grams of the second text, from those one shorter that the first has."""
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
    int64_t* matches, uint16_t* credits
) noexcept nogil:
    """As match_short, for any length and order; credits is NULL or has what other texts earned, and is added to."""
    cdef int64_t size = table_size(m)
    cdef int64_t mask = size - 1
    cdef int64_t n_grams = 1
    cdef int64_t i, number, found
    cdef int order
    cdef bint is_left
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
        found = 0
        # From the last position on, as masks go: credits of several texts are of the same occurrences then.
        for i in range(n - order - 1, -1, -1):
            number = matcher.first_numbers[i]
            if number < 0:
                continue
            number = find_gram(matcher, <uint64_t>number << 32 | first[i + order], mask, -1)
            matcher.first_numbers[i] = number
            if number >= 0:
                matcher.shared[number] = 1
                is_left = matcher.remaining[number] > 0
                found += is_left
                matcher.remaining[number] -= is_left
                if credits != NULL:
                    credits[i] |= <uint16_t>is_left << order
        matches[order] = found
