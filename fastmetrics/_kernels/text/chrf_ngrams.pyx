"""chrF's counts: character and word n-grams of a hypothesis, of a reference, and of both.

A text becomes a list of symbols: code points (with or without white space), or word ids. shared_ngrams.pxd counts the
n-grams that two lists share: exactly, at any length, in linear memory. A table numbers the words and compares them by
code points. sacrebleu writes an n-gram of words as the words joined by spaces. No word contains a space, so two such
strings are equal if and only if their words are.

A counter owns its memory and reuses it for all segments.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcmp, memset

from fastmetrics._kernels.columns.growing_memory cimport reallocate
from fastmetrics._kernels.numeric.length_checks cimport need_length, need_offsets
from fastmetrics._kernels.numeric.table_hash cimport table_hash_bytes, use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS
from fastmetrics._kernels.text.ngram_matcher cimport NgramMatcher, longest_text
from fastmetrics._kernels.text.shared_ngrams cimport (
    FM_ORDERS, MAX_MASKED_LENGTH, Matcher, match_long, match_short, table_size,
)

use_table_seeds(_SEEDS)

cdef enum:
    MAX_ORDERS = 512            # character orders and word orders together

N_ORDERS = MAX_ORDERS
LONGEST_MASKED = MAX_MASKED_LENGTH
LONGEST_ORDER_MASKED = FM_ORDERS

cdef struct Scratch:
    Matcher matcher
    uint32_t* symbols           # four buffers: characters of hypothesis and reference, words of both
    int64_t text_capacity       # symbols in each buffer
    uint64_t* words             # a table of words: 32 bits of the hash, then the word id + 1
    int64_t* word_starts        # positions in the reference
    int64_t* word_lengths


cdef inline bint is_space(uint32_t point) noexcept nogil:
    """Return whether str.isspace is true for a code point."""
    if point >= 0x1680:
        return (point == 0x3000 or point == 0x1680 or (0x2000 <= point <= 0x200A) or point == 0x2028 or point == 0x2029
                or point == 0x202F or point == 0x205F)
    return (point - 9 < 5) | (point - 28 < 5) | (point == 0x85) | (point == 0xA0)


cdef inline bint is_punctuation(uint32_t point) noexcept nogil:
    """Return whether a code point is in string.punctuation (ASCII)."""
    return 33 <= point <= 47 or 58 <= point <= 64 or 91 <= point <= 96 or 123 <= point <= 126


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
    """Find the next run of characters without white space, from stop[0] on. Return whether there is one."""
    cdef int64_t i = stop[0]
    while i < length and is_space(points[i]):
        i += 1
    start[0] = i
    while i < length and not is_space(points[i]):
        i += 1
    stop[0] = i
    return i > start[0]


cdef inline int64_t find_word_split(const uint32_t* points, int64_t start, int64_t stop) noexcept nogil:
    """Return where chrF++ splits a word: before a final punctuation mark, else after a leading one, else at `stop`."""
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
    """Return the id + 1 of a word among the words of the reference `text`; 0 if it is new.

    A new word of the reference itself (start >= 0) gets the id n_words.
    """
    cdef uint64_t hashed = table_hash_bytes(<const uint8_t*>word, 4 * length)
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
    int64_t* n_numbered, uint32_t* symbols
) noexcept nogil:
    """Write the words of a text as numbers from 1 on, and return how many words it has.

    The words are numbered in the reference. In another text, a word that the reference does not have is 0.
    """
    cdef bint is_reference = text == reference
    cdef int64_t start = 0
    cdef int64_t stop = 0
    cdef int64_t n = 0
    cdef int64_t cut, number
    while next_word(text, length, &start, &stop):
        cut = find_word_split(text, start, stop)
        while start < stop:
            number = number_word(
                scratch, reference, text + start, cut - start, mask, n_numbered[0], start if is_reference else -1)
            if number == 0 and is_reference:
                n_numbered[0] += 1
                number = n_numbered[0]
            symbols[n] = <uint32_t>number
            n += 1
            start = cut
            cut = stop
    return n


cdef void match_texts(
    const Scratch* scratch, const uint32_t* first, int64_t n, const uint32_t* second, int64_t m, int n_orders,
    bint is_maskable, int64_t* counts
) noexcept nogil:
    """Count for every order the n-grams of the first text, of the second, and of both.

    An order counts 0 n-grams of the first text if the second has none.
    """
    cdef int64_t matches[MAX_ORDERS]
    cdef int64_t shorter = n if n < m else m
    cdef int order
    if shorter == 0:
        for order in range(n_orders):
            matches[order] = 0
    elif is_maskable and shorter <= MAX_MASKED_LENGTH and n_orders <= FM_ORDERS:
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
    """Return the chrF of one segment.

    The operations have sacrebleu's order, because the last bit can decide which reference is best.
    """
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
    """Count all orders of one hypothesis and reference. The first buffer has the n_points symbols of the hypothesis."""
    cdef uint32_t* symbols = scratch.symbols
    cdef int64_t text_capacity = scratch.text_capacity
    cdef int64_t n, m, size
    cdef int64_t n_numbered = 0
    if char_order:
        m = copy_points(reference, reference_length, whitespace, symbols + text_capacity)
        match_texts(scratch, symbols, n_points, symbols + text_capacity, m, char_order, True, counts)
    if word_order:
        size = table_size(reference_length)
        memset(scratch.words, 0, <size_t>size * sizeof(uint64_t))
        m = split_words(
            scratch, reference, reference, reference_length, size - 1, &n_numbered, symbols + 3 * text_capacity
        )
        n = split_words(scratch, reference, hypothesis, length, size - 1, &n_numbered, symbols + 2 * text_capacity)
        match_texts(
            scratch, symbols + 2 * text_capacity, n, symbols + 3 * text_capacity, m, word_order,
            n_numbered < scratch.matcher.n_rows,
            counts + 3 * char_order)


cdef void count_segment(
    const Scratch* scratch, const uint32_t* points, const int64_t* offsets, int64_t first, int64_t last,
    int char_order, int word_order, bint whitespace, double factor, bint eps_smoothing, int64_t* counts
) noexcept nogil:
    """Count a segment. Of several references the one with the best score counts; of equal ones the first."""
    cdef int64_t candidate_counts[3 * MAX_ORDERS]
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
            if target == candidate_counts:
                for i in range(3 * n_orders):
                    counts[i] = candidate_counts[i]
        target = candidate_counts


cdef int64_t greatest_point(const uint32_t[::1] points) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint32_t greatest = 0
    for i in range(points.shape[0]):
        greatest = max(greatest, points[i])
    return greatest


cdef class ChrfCounter:
    """Counts the n-grams of segments, with chrF's options. Two threads must not use one counter at the same time.

    There are at most N_ORDERS orders of characters and words together; factor is beta**2.
    """

    cdef int char_order
    cdef int word_order
    cdef bint whitespace
    cdef double factor
    cdef bint eps_smoothing
    cdef NgramMatcher matcher
    cdef Scratch scratch

    def __cinit__(self, int char_order, int word_order, bint whitespace, double factor, bint eps_smoothing):
        if char_order < 0 or word_order < 0 or char_order + word_order > MAX_ORDERS:
            raise ValueError(f"{char_order} orders of characters and {word_order} of words; at most {MAX_ORDERS}")
        self.char_order, self.word_order = char_order, word_order
        self.whitespace, self.factor, self.eps_smoothing = whitespace, factor, eps_smoothing
        self.matcher = NgramMatcher()

    def __dealloc__(self):
        free(self.scratch.symbols)
        free(self.scratch.words)
        free(self.scratch.word_starts)
        free(self.scratch.word_lengths)

    cdef int prepare(self, int64_t longest, int64_t greatest) except -1:
        """Make room for texts of at most `longest` code points, none above `greatest`."""
        cdef size_t n = <size_t>longest + 1
        # The words of a reference are numbered from 1 on.
        self.matcher.prepare(longest, max(longest, greatest), max(self.char_order, self.word_order))
        if longest >= self.scratch.text_capacity:
            self.scratch.symbols = <uint32_t*>reallocate(self.scratch.symbols, 4 * n * sizeof(uint32_t))
            if self.word_order:
                self.scratch.words = <uint64_t*>reallocate(
                    self.scratch.words, <size_t>table_size(longest) * sizeof(uint64_t))
                self.scratch.word_starts = <int64_t*>reallocate(self.scratch.word_starts, n * sizeof(int64_t))
                self.scratch.word_lengths = <int64_t*>reallocate(self.scratch.word_lengths, n * sizeof(int64_t))
            self.scratch.text_capacity = longest + 1
        self.scratch.matcher = self.matcher.matcher
        return 0

    def count(
        self, const uint32_t[::1] points, const int64_t[::1] offsets, const int64_t[::1] segments, int64_t[:, ::1] out
    ):
        """Count the n-grams of every segment, for every order: of the hypothesis, of the reference, and of both.

        These are out[s, 3 n], out[s, 3 n + 1] and out[s, 3 n + 2]. Character orders come first, then word orders. If
        the reference has no n-gram of an order, the hypothesis counts 0. Of several references the one with the best
        chrF counts. Without references all counts are 0. Text i has the code points offsets[i]:offsets[i + 1]; segment
        s has the texts segments[s]:segments[s + 1], of which the first is the hypothesis.
        """
        cdef Py_ssize_t s
        cdef Py_ssize_t n = segments.shape[0] - 1
        cdef int64_t n_texts = offsets.shape[0] - 1
        if n <= 0 or points.shape[0] == 0:
            out[:] = 0
            return
        need_length(b"out", out.shape[0], n)
        need_length(b"counts of a segment", out.shape[1], 3 * (self.char_order + self.word_order))
        need_offsets(b"segments", &segments[0], n + 1, n_texts)
        need_offsets(b"offsets", &offsets[0], n_texts + 1, points.shape[0])
        self.prepare(longest_text(offsets, n_texts), greatest_point(points))
        with nogil:
            for s in range(n):
                if segments[s] == segments[s + 1]:
                    out[s, :] = 0
                else:
                    count_segment(
                        &self.scratch, &points[0], &offsets[0], segments[s], segments[s + 1], self.char_order,
                        self.word_order, self.whitespace, self.factor, self.eps_smoothing, &out[s, 0])
