"""Character and word n-grams that a hypothesis shares with its references: the counts chrF is made of.

A text is turned into symbols, code points (with or without white space) or numbers of words, and what two texts of
symbols share is counted as sharedgrams.pxd says: exactly, at any length, in linear memory. Words are numbered by a
table of their own, which compares code points. No word has a space in it, so that words joined by spaces, which is how
sacrebleu writes an n-gram, are equal exactly where the words are.

Scratch memory belongs to the caller and is the same for all segments.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memset

from fastmetrics._kernels.sharedgrams cimport (
    FM_ORDERS, MOST_MASKED, Matcher, hash_integer, match_long, match_short, table_size,
)

cdef enum:
    MOST_ORDERS = 512           # characters and words together

N_ORDERS = MOST_ORDERS
LONGEST_MASKED = MOST_MASKED
LONGEST_ORDER_MASKED = FM_ORDERS

cdef struct Scratch:
    Matcher matcher
    uint32_t* symbols           # four rooms: characters of the hypothesis, of the reference, words of both
    int64_t room                # symbols in each
    uint64_t* words             # a table of words: half a hash, and below it a number + 1
    int64_t* word_starts        # in the reference's text
    int64_t* word_lengths


cdef inline bint is_space(uint32_t point) noexcept nogil:
    """As str.isspace."""
    if point >= 0x1680:
        return (point == 0x3000 or point == 0x1680 or (0x2000 <= point <= 0x200A) or point == 0x2028 or point == 0x2029
                or point == 0x202F or point == 0x205F)
    return (point - 9 < 5) | (point - 28 < 5) | (point == 0x85) | (point == 0xA0)


cdef inline bint is_punctuation(uint32_t point) noexcept nogil:
    """ASCII's, as string.punctuation."""
    return 33 <= point <= 47 or 58 <= point <= 64 or 91 <= point <= 96 or 123 <= point <= 126


cdef inline uint64_t hash_points(const uint32_t* points, int64_t length) noexcept nogil:
    cdef uint64_t state = <uint64_t>length
    cdef int64_t i
    for i in range(length):
        state = (state ^ points[i]) * <uint64_t>0x9E3779B97F4A7C15
        state ^= state >> 29
    return hash_integer(state)


cdef inline int64_t copy_points(
    const uint32_t* points, int64_t length, bint whitespace, uint32_t* symbols
) noexcept nogil:
    cdef int64_t i
    cdef int64_t n = 0
    if whitespace:
        for i in range(length):
            symbols[i] = points[i]
        return length
    for i in range(length):
        symbols[n] = points[i]
        n += not is_space(points[i])
    return n


cdef inline bint next_word(const uint32_t* points, int64_t length, int64_t* start, int64_t* stop) noexcept nogil:
    """The next run without white space from stop[0] on."""
    cdef int64_t i = stop[0]
    while i < length and is_space(points[i]):
        i += 1
    start[0] = i
    while i < length and not is_space(points[i]):
        i += 1
    stop[0] = i
    return i > start[0]


cdef inline int64_t cut_in_word(const uint32_t* points, int64_t start, int64_t stop) noexcept nogil:
    """Where chrF++ cuts a word in two: before a mark at its end, else behind one at its beginning, else nowhere."""
    if stop - start > 1:
        if is_punctuation(points[stop - 1]):
            return stop - 1
        if is_punctuation(points[start]):
            return start + 1
    return stop


cdef inline int64_t number_word(
    const Scratch* scratch, const uint32_t* text, const uint32_t* word, int64_t length, int64_t mask, int64_t n_words,
    int64_t start
) noexcept nogil:
    """The number + 1 of a word among those of the reference `text`, 0 if it is new.

    A word of the reference itself (start >= 0) that is new becomes number n_words.
    """
    cdef uint64_t hashed = hash_points(word, length)
    cdef int64_t slot = <int64_t>hashed & mask
    cdef uint64_t entry
    cdef int64_t number
    while True:
        entry = scratch.words[slot]
        if entry == 0:
            if start >= 0:
                scratch.words[slot] = (hashed & <uint64_t>0xFFFFFFFF00000000) | <uint64_t>(n_words + 1)
                scratch.word_starts[n_words] = start
                scratch.word_lengths[n_words] = length
            return 0
        if entry >> 32 == hashed >> 32:
            number = <int64_t>(entry & 0xFFFFFFFFu) - 1
            if scratch.word_lengths[number] == length and memcmp(
                    text + scratch.word_starts[number], word, <size_t>length * sizeof(uint32_t)) == 0:
                return number + 1
        slot = (slot + 1) & mask


cdef int64_t split_words(
    const Scratch* scratch, const uint32_t* reference, const uint32_t* text, int64_t length, int64_t mask,
    int64_t* n_known, uint32_t* symbols
) noexcept nogil:
    """A text's words as numbers from 1 on; returns how many words it has.

    The reference's own text numbers its words; those of another text which the reference lacks are 0.
    """
    cdef bint is_own = text == reference
    cdef int64_t start = 0
    cdef int64_t stop = 0
    cdef int64_t n = 0
    cdef int64_t cut, number
    while next_word(text, length, &start, &stop):
        cut = cut_in_word(text, start, stop)
        while start < stop:
            number = number_word(
                scratch, reference, text + start, cut - start, mask, n_known[0], start if is_own else -1)
            if number == 0 and is_own:
                n_known[0] += 1
                number = n_known[0]
            symbols[n] = <uint32_t>number
            n += 1
            start = cut
            cut = stop
    return n


cdef void match_texts(
    const Scratch* scratch, const uint32_t* first, int64_t n, const uint32_t* second, int64_t m, int n_orders,
    bint is_maskable, int64_t* counts
) noexcept nogil:
    """For every order: n-grams of the first text, of the second, and of both. No order of which the second has none."""
    cdef int64_t matches[MOST_ORDERS]
    cdef int64_t least = n if n < m else m
    cdef int order
    if least == 0:
        for order in range(n_orders):
            matches[order] = 0
    elif is_maskable and least <= MOST_MASKED and n_orders <= FM_ORDERS:
        if n < m:
            match_short(&scratch.matcher, second, m, first, n, matches, NULL)
        else:
            match_short(&scratch.matcher, first, n, second, m, matches, NULL)
    else:
        match_long(&scratch.matcher, first, n, second, m, n_orders, matches, NULL)
    for order in range(n_orders):
        counts[3 * order] = n - order if n > order and m > order else 0
        counts[3 * order + 1] = m - order if m > order else 0
        counts[3 * order + 2] = matches[order]


cdef double f_score(const int64_t* counts, int n_orders, double factor, bint eps_smoothing) noexcept nogil:
    """chrF of one segment, the operations in sacrebleu's order: between references the last bit may decide."""
    cdef double smallest = 1e-16
    cdef double score = 0.0
    cdef double precisions = 0.0
    cdef double recalls = 0.0
    cdef double precision, recall, denominator
    cdef int effective = 0
    cdef int _order
    for _order in range(n_orders):
        precision = <double>counts[2] / <double>counts[0] if counts[0] > 0 else smallest
        recall = <double>counts[2] / <double>counts[1] if counts[1] > 0 else smallest
        denominator = factor * precision + recall
        score += (1 + factor) * precision * recall / denominator if denominator > 0 else smallest
        if counts[0] > 0 and counts[1] > 0:
            precisions += precision
            recalls += recall
            effective += 1
        counts += 3
    if eps_smoothing:
        return 100 * score / n_orders
    if effective:
        precisions /= effective
        recalls /= effective
    if precisions + recalls == 0:
        return 0.0
    return 100 * ((1 + factor) * precisions * recalls / (factor * precisions + recalls))


cdef void count_pair(
    const Scratch* scratch, const uint32_t* hypothesis, int64_t length, const uint32_t* reference,
    int64_t reference_length, int64_t n_points, int char_order, int word_order, bint whitespace, int64_t* counts
) noexcept nogil:
    """Counts of all orders. n_points: symbols of the hypothesis, in the first room already."""
    cdef uint32_t* symbols = scratch.symbols
    cdef int64_t room = scratch.room
    cdef int64_t n, m, size
    cdef int64_t n_known = 0
    if char_order:
        m = copy_points(reference, reference_length, whitespace, symbols + room)
        match_texts(scratch, symbols, n_points, symbols + room, m, char_order, True, counts)
    if word_order:
        size = table_size(reference_length)
        memset(scratch.words, 0, <size_t>size * sizeof(uint64_t))
        m = split_words(scratch, reference, reference, reference_length, size - 1, &n_known, symbols + 3 * room)
        n = split_words(scratch, reference, hypothesis, length, size - 1, &n_known, symbols + 2 * room)
        match_texts(
            scratch, symbols + 2 * room, n, symbols + 3 * room, m, word_order, n_known < scratch.matcher.n_rows,
            counts + 3 * char_order)


cdef void count_segment(
    const Scratch* scratch, const uint32_t* points, const int64_t* offsets, int64_t first, int64_t last,
    int char_order, int word_order, bint whitespace, double factor, bint eps_smoothing, int64_t* counts
) noexcept nogil:
    """Of several references the one of the best score, of equal ones the first."""
    cdef int64_t trial[3 * MOST_ORDERS]
    cdef int n_orders = char_order + word_order
    cdef const uint32_t* hypothesis = points + offsets[first]
    cdef int64_t length = offsets[first + 1] - offsets[first]
    cdef int64_t n_points = copy_points(hypothesis, length, whitespace, scratch.symbols) if char_order else 0
    cdef int64_t* target = counts
    cdef double best = -1.0
    cdef double score
    cdef int64_t text
    cdef int i
    for i in range(3 * n_orders):
        counts[i] = 0
    for text in range(first + 1, last):
        count_pair(
            scratch, hypothesis, length, points + offsets[text], offsets[text + 1] - offsets[text], n_points,
            char_order, word_order, whitespace, target)
        if last - first == 2:
            return
        score = f_score(target, n_orders, factor, eps_smoothing)
        if score > best:
            best = score
            if target == trial:
                for i in range(3 * n_orders):
                    counts[i] = trial[i]
        target = trial


def count_ngrams(
    const uint32_t[::1] points, const int64_t[::1] offsets, const int64_t[::1] segments, int char_order, int word_order,
    bint whitespace, double factor, bint eps_smoothing, uint16_t[::1] rows, uint64_t[::1] masks, uint16_t[::1] numbers,
    uint32_t[::1] symbols, uint64_t[::1] words, int64_t[:, ::1] word_spans, uint64_t[::1] keys, int64_t[::1] grams,
    int64_t[:, ::1] gram_numbers, uint8_t[::1] shared, int64_t[:, ::1] out
):
    """Of every segment, a hypothesis and its references: for every order how many n-grams they have, and share.

    out[s, 3 n], out[s, 3 n + 1] and out[s, 3 n + 2] are the n-grams of the hypothesis, of the reference and of both,
    for character orders, then word orders. The hypothesis counts 0 where the reference has no n-gram. Of several
    references that of the best chrF is taken (factor: beta**2); with none all is 0.

    Scratch, for texts of up to `longest` code points: rows for all code points there are, all 0; masks of (l + 1) times
    ceil(l / 64), all 0, where l is the lesser of `longest` and LONGEST_MASKED; numbers of `longest`; symbols of
    4 * longest; for word orders words of a power of two of at least 16 and 2 * longest, and word_spans (2, longest);
    for texts longer than LONGEST_MASKED or orders above LONGEST_ORDER_MASKED keys and grams of such a power of two,
    gram_numbers (3, longest + 1), shared of longest + 1. At most N_ORDERS orders.
    """
    cdef Scratch scratch
    cdef Py_ssize_t s
    cdef Py_ssize_t n = segments.shape[0] - 1
    if n <= 0 or points.shape[0] == 0:
        out[:] = 0
        return
    scratch.matcher.rows = &rows[0]
    scratch.matcher.n_rows = rows.shape[0]
    scratch.matcher.masks = &masks[0]
    scratch.matcher.numbers = &numbers[0]
    scratch.symbols = &symbols[0]
    scratch.room = symbols.shape[0] // 4
    scratch.words = &words[0] if words.shape[0] else NULL
    scratch.word_starts = &word_spans[0, 0] if word_spans.shape[1] else NULL
    scratch.word_lengths = &word_spans[1, 0] if word_spans.shape[1] else NULL
    scratch.matcher.keys = &keys[0] if keys.shape[0] else NULL
    scratch.matcher.grams = &grams[0] if grams.shape[0] else NULL
    scratch.matcher.first_numbers = &gram_numbers[0, 0] if gram_numbers.shape[1] else NULL
    scratch.matcher.second_numbers = &gram_numbers[1, 0] if gram_numbers.shape[1] else NULL
    scratch.matcher.remaining = &gram_numbers[2, 0] if gram_numbers.shape[1] else NULL
    scratch.matcher.shared = &shared[0] if shared.shape[0] else NULL
    with nogil:
        for s in range(n):
            count_segment(
                &scratch, &points[0], &offsets[0], segments[s], segments[s + 1], char_order, word_order, whitespace,
                factor, eps_smoothing, &out[s, 0])
