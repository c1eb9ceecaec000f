"""ROUGE's counts: common n-grams, the longest common subsequence (LCS), and its union over sentences.

Numbering. The words of a segment are numbered 1, 2, ... in the order of its hypothesis. A word of a reference that the
hypothesis does not have is 0. So all later tables are small and stay in the first-level cache; only the table of all
word ids is in main memory. N-grams are numbered in the same way, order by order: an n-gram is the pair (number of its
first n - 1 words, number of its last word), looked up in a table of these pairs. The common n-grams of an order are
the sum of the smaller counts.

Subsequences. lcs.pxd computes the LCS. ROUGE-Lsum takes, for every sentence of the reference, the union of its LCS with
all sentences of the hypothesis; every word of the hypothesis matches at most once. For two texts of one sentence this
is the length of their LCS. A sentence of the hypothesis of up to 64 tokens is traced within one word of bits.

Bounds. Numbers and counts inside a segment are int32, which halves the tables. They are at most the tokens of the
hypothesis. `reserve` raises OverflowError if a segment has more than MAX_TOKENS tokens or an id is above it. Results
are int64.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from fastmetrics._kernels.numeric.length_checks cimport need_length, need_offsets
from fastmetrics._kernels.text.lcs cimport (
    STRIP_WORDS, WORD_BITS, LcsTable, lcs_length, mark_lcs, trace_one_word, trace_size,
)
from fastmetrics._kernels.columns.growing_memory cimport reallocate
from fastmetrics._kernels.numeric.table_hash cimport use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS
from fastmetrics._kernels.text.pair_hash_table cimport hash_slot, slot_count

use_table_seeds(_SEEDS)

cdef enum:
    MAX_TRACE_WORDS = 1 << 21   # words of bits; 16 MB
    NEWLINE = 10

cdef int64_t MAX_TOKENS = 0x7FFFFFF0


cdef struct Segment:
    const int64_t* ids
    const int64_t* sentences    # sentence i has the tokens sentences[i] to sentences[i + 1]
    const int64_t* texts        # text i has the sentences texts[i] to texts[i + 1]
    int64_t first               # the text of the hypothesis; its references follow
    int64_t stop
    int64_t start               # the first token of the hypothesis
    int64_t n_hypothesis_tokens  # tokens of the hypothesis
    int64_t n_reference_tokens  # tokens of all references
    int64_t n_distinct          # distinct words of the hypothesis


cdef struct RougeWorkspace:
    int32_t* word_numbers       # [id]: the number of a word in the hypothesis; 0 between segments
    int32_t* words              # numbers of the words of the hypothesis, then of all references
    int32_t* grams              # likewise: the number of the n-gram that begins at a position
    int32_t* counts             # [number]: count in the hypothesis
    int32_t* remaining          # [number]: count that the reference has not matched yet
    int32_t* rows               # words of a reference that are in the hypothesis
    int64_t* row_sentences      # first row of each sentence of the reference
    uint8_t* matched            # [row]: whether it is in the union
    uint64_t* keys              # hash table of pairs (n-gram, word)
    int32_t* numbers            # numbers of the pairs, by slot
    int64_t max_trace_words     # words of bits that a trace may store, about
    LcsTable table


cdef inline int64_t first_token(const Segment* segment, int64_t text) noexcept nogil:
    """Return the first token of a text."""
    return segment.sentences[segment.texts[text]]


cdef void number_words(RougeWorkspace* workspace, Segment* segment) noexcept nogil:
    """Number the words of a segment, and count those of the hypothesis."""
    cdef const int64_t* ids = segment.ids + segment.start
    cdef int32_t* words = workspace.words
    cdef int64_t token
    cdef int32_t number, n_distinct = 0
    for token in range(segment.n_hypothesis_tokens):
        number = workspace.word_numbers[ids[token]]
        if number == 0:
            n_distinct += 1
            number = n_distinct
            workspace.word_numbers[ids[token]] = number
            workspace.counts[number] = 0
        workspace.counts[number] += 1
        words[token] = number
    for token in range(segment.n_hypothesis_tokens, segment.n_hypothesis_tokens + segment.n_reference_tokens):
        words[token] = workspace.word_numbers[ids[token]]
    for token in range(segment.n_hypothesis_tokens):
        workspace.word_numbers[ids[token]] = 0
    segment.n_distinct = n_distinct


cdef int64_t number_grams(RougeWorkspace* workspace, const Segment* segment, int64_t order) noexcept nogil:
    """Number the n-grams of an order, from those of the order below. Return how many are distinct in the hypothesis."""
    cdef int32_t* grams = workspace.grams
    cdef const int32_t* words = workspace.words + order - 1
    cdef uint64_t n_slots = slot_count(segment.n_hypothesis_tokens)
    cdef uint64_t mask = n_slots - 1
    cdef uint64_t key, slot
    cdef int64_t position, text, start, stop
    cdef int32_t n_grams = 0
    memset(workspace.keys, 0, n_slots * sizeof(uint64_t))
    for position in range(segment.n_hypothesis_tokens - order + 1):
        key = <uint64_t>grams[position] << 32 | <uint64_t>words[position]
        slot = hash_slot(key, mask)
        while workspace.keys[slot] != key:
            if workspace.keys[slot] == 0:
                n_grams += 1
                workspace.keys[slot] = key
                workspace.numbers[slot] = n_grams
                workspace.counts[n_grams] = 0
                break
            slot = (slot + 1) & mask
        grams[position] = workspace.numbers[slot]
        workspace.counts[grams[position]] += 1
    for text in range(segment.first + 1, segment.stop):
        start = first_token(segment, text) - segment.start
        stop = first_token(segment, text + 1) - segment.start
        for position in range(start, stop - order + 1):
            if grams[position] == 0 or words[position] == 0:
                grams[position] = 0
                continue
            key = <uint64_t>grams[position] << 32 | <uint64_t>words[position]
            slot = hash_slot(key, mask)
            while workspace.keys[slot] != key and workspace.keys[slot] != 0:
                slot = (slot + 1) & mask
            grams[position] = workspace.numbers[slot] if workspace.keys[slot] == key else 0
    return n_grams


cdef inline int64_t clipped_matches(
    const int32_t* grams, int64_t n, const int32_t* counts, int64_t n_distinct, int32_t* remaining
) noexcept nogil:
    """Return the sum over n-grams of the smaller of two counts. Number 0 is not in the hypothesis."""
    cdef int64_t position, common = 0
    cdef int32_t more
    memcpy(remaining + 1, counts + 1, <size_t>n_distinct * sizeof(int32_t))
    remaining[0] = 0
    for position in range(n):
        more = remaining[grams[position]] > 0
        remaining[grams[position]] -= more
        common += more
    return common


cdef void count_grams(
    RougeWorkspace* workspace, const Segment* segment, const int64_t* orders, int64_t n_orders, int64_t n_columns,
    int64_t* out
) noexcept nogil:
    """Fill three columns for every order (ascending): n-grams in common, of the hypothesis, and of the reference."""
    cdef int64_t n_distinct = segment.n_distinct
    cdef int64_t order, number = 0
    cdef int64_t text, start, length
    cdef int64_t* row
    cdef int32_t* grams = workspace.words
    if n_orders == 0:
        return
    for order in range(1, orders[n_orders - 1] + 1):
        if order == 2:
            grams = workspace.grams
            memcpy(
                grams, workspace.words,
                <size_t>(segment.n_hypothesis_tokens + segment.n_reference_tokens) * sizeof(int32_t)
            )
        if order > 1:
            n_distinct = number_grams(workspace, segment, order)
        if order != orders[number]:
            continue
        row = out + 3 * number
        for text in range(segment.first + 1, segment.stop):
            start = first_token(segment, text)
            length = max(<int64_t>0, first_token(segment, text + 1) - start - order + 1)
            row[0] = clipped_matches(
                grams + start - segment.start, length, workspace.counts, n_distinct, workspace.remaining
            )
            row[1] = max(<int64_t>0, segment.n_hypothesis_tokens - order + 1)
            row[2] = length
            row += n_columns
        number += 1


cdef int64_t collect_rows(RougeWorkspace* workspace, const Segment* segment, int64_t text) noexcept nogil:
    """Copy the words of a reference that the hypothesis has, by sentence. Return how many sentences have such words."""
    cdef int64_t sentence, token, n_rows = 0, n_sentences = 0
    cdef const int32_t* words = workspace.words - segment.start
    workspace.row_sentences[0] = 0
    for sentence in range(segment.texts[text], segment.texts[text + 1]):
        for token in range(segment.sentences[sentence], segment.sentences[sentence + 1]):
            workspace.rows[n_rows] = words[token]
            n_rows += words[token] > 0
        if n_rows > workspace.row_sentences[n_sentences]:
            n_sentences += 1
            workspace.row_sentences[n_sentences] = n_rows
    return n_sentences


cdef void mark_union(RougeWorkspace* workspace, const Segment* segment, int64_t n_sentences) noexcept nogil:
    """Mark the rows that are in the union of subsequences, for all sentences of the reference."""
    cdef const int32_t* columns
    cdef const int32_t* rows
    cdef int64_t sentence, other, start, n_columns, n_rows, position
    cdef bint fits_one_word
    memset(workspace.matched, 0, <size_t>workspace.row_sentences[n_sentences])
    for sentence in range(segment.texts[segment.first], segment.texts[segment.first + 1]):
        start = segment.sentences[sentence]
        n_columns = segment.sentences[sentence + 1] - start
        if n_columns == 0:
            continue
        columns = workspace.words + start - segment.start
        fits_one_word = n_columns <= WORD_BITS and workspace.row_sentences[n_sentences] < workspace.max_trace_words // 4
        if fits_one_word:
            for position in range(n_columns):
                workspace.table.masks[columns[position]] |= <uint64_t>1 << position
        for other in range(n_sentences):
            start = workspace.row_sentences[other]
            rows = workspace.rows + start
            n_rows = workspace.row_sentences[other + 1] - start
            if fits_one_word:
                trace_one_word(
                    workspace.table.masks, rows, n_rows, n_columns, workspace.table.rows, workspace.matched + start
                )
            else:
                mark_lcs(
                    &workspace.table, columns, n_columns, rows, n_rows, workspace.max_trace_words,
                    workspace.matched + start
                )
        if fits_one_word:
            for position in range(n_columns):
                workspace.table.masks[columns[position]] = 0


cdef int64_t count_union(RougeWorkspace* workspace, const Segment* segment, int64_t n_sentences) noexcept nogil:
    """Count the marked rows. Every token of the hypothesis counts for at most one row."""
    cdef int64_t position, common = 0
    for position in range(segment.n_distinct + 1):
        workspace.remaining[position] = 0
    for position in range(segment.n_hypothesis_tokens):
        workspace.remaining[workspace.words[position]] += 1
    for position in range(workspace.row_sentences[n_sentences]):
        if workspace.matched[position] and workspace.remaining[workspace.rows[position]] > 0:
            workspace.remaining[workspace.rows[position]] -= 1
            common += 1
    return common


cdef inline bint is_one_sentence(const Segment* segment, int64_t text) noexcept nogil:
    """Return whether at most one sentence of the text has tokens."""
    cdef int64_t start = segment.sentences[segment.texts[text]]
    cdef int64_t stop = segment.sentences[segment.texts[text + 1]]
    cdef int64_t sentence
    for sentence in range(segment.texts[text], segment.texts[text + 1]):
        if segment.sentences[sentence + 1] > start:
            return segment.sentences[sentence + 1] == stop
    return True


cdef void count_subsequences(
    RougeWorkspace* workspace, const Segment* segment, bint whole, bint by_sentence, int64_t n_columns, int64_t* out
) noexcept nogil:
    """Fill the columns of the LCS of the whole texts, then those of the union by sentences."""
    cdef int64_t text, n_sentences, n_rows, common
    cdef bint is_single = is_one_sentence(segment, segment.first)
    cdef bint both_single
    for text in range(segment.first + 1, segment.stop):
        n_sentences = collect_rows(workspace, segment, text)
        n_rows = workspace.row_sentences[n_sentences]
        both_single = by_sentence and is_single and n_sentences <= 1 and is_one_sentence(segment, text)
        common = 0
        if whole or both_single:
            common = lcs_length(
                &workspace.table, workspace.words, segment.n_hypothesis_tokens, segment.n_distinct, workspace.rows,
                n_rows, workspace.remaining
            )
        if whole:
            out[0] = common
            out[1] = segment.n_hypothesis_tokens
            out[2] = first_token(segment, text + 1) - first_token(segment, text)
        if by_sentence:
            if not both_single:
                mark_union(workspace, segment, n_sentences)
                common = count_union(workspace, segment, n_sentences)
            out[3 * whole] = common
            out[3 * whole + 1] = segment.n_hypothesis_tokens
            out[3 * whole + 2] = first_token(segment, text + 1) - first_token(segment, text)
        out += n_columns


cdef struct Sizes:
    int64_t id
    int64_t hypothesis_tokens   # tokens of a hypothesis
    int64_t tokens              # tokens of a segment
    int64_t bits                # words of bits that a trace needs


cdef void measure_block(
    const int64_t* ids, const int64_t* sentences, const int64_t* texts, const int64_t* segments, int64_t n,
    int64_t max_trace_words, Sizes* most
) noexcept nogil:
    """Find the greatest sizes of a block. max_trace_words is -1 if nothing is traced."""
    cdef int64_t number, token, start, middle, stop, longest_sentence, longest_other
    most.id = -1
    most.hypothesis_tokens = 0
    most.tokens = 0
    most.bits = 1
    for token in range(sentences[texts[segments[0]]], sentences[texts[segments[n]]]):
        most.id = max(most.id, ids[token])
    for number in range(n):
        start = sentences[texts[segments[number]]]
        middle = sentences[texts[segments[number] + 1]]
        stop = sentences[texts[segments[number + 1]]]
        most.hypothesis_tokens = max(most.hypothesis_tokens, middle - start)
        most.tokens = max(most.tokens, stop - start)
        if max_trace_words >= 0:
            longest_sentence = longest_span(sentences, texts[segments[number]], texts[segments[number] + 1])
            longest_other = longest_span(sentences, texts[segments[number] + 1], texts[segments[number + 1]])
            most.bits = max(most.bits, trace_size(longest_sentence, longest_other, max_trace_words))


cdef int64_t longest_span(const int64_t* starts, int64_t first, int64_t stop) noexcept nogil:
    cdef int64_t position, length = 0
    for position in range(first, stop):
        length = max(length, starts[position + 1] - starts[position])
    return length


cdef bint have_hypotheses(const int64_t[::1] segments, int64_t n) noexcept nogil:
    cdef int64_t i
    cdef bint found = True
    for i in range(n):
        found &= segments[i] < segments[i + 1]
    return found


cdef int check_segments(const int64_t[::1] segments, int64_t n) except -1:
    if not have_hypotheses(segments, n):
        raise ValueError("a segment has no hypothesis")
    return 0


cdef class OverlapCounter:
    """The tables of one thread. Two threads must not use one counter at the same time.

    max_trace_words : the approximate number of words of bits that a trace may store
    """

    cdef RougeWorkspace workspace
    cdef int64_t id_capacity
    cdef int64_t hypothesis_capacity    # tokens of a hypothesis
    cdef int64_t token_capacity         # tokens of a segment
    cdef int64_t bit_capacity

    def __cinit__(self, int64_t max_trace_words=MAX_TRACE_WORDS):
        self.workspace.max_trace_words = max_trace_words

    def __dealloc__(self):
        free(self.workspace.word_numbers)
        free(self.workspace.words)
        free(self.workspace.grams)
        free(self.workspace.counts)
        free(self.workspace.remaining)
        free(self.workspace.rows)
        free(self.workspace.row_sentences)
        free(self.workspace.matched)
        free(self.workspace.keys)
        free(self.workspace.numbers)
        free(self.workspace.table.masks)
        free(self.workspace.table.present)
        free(self.workspace.table.carries)
        free(self.workspace.table.rows)

    cdef int reserve_ids(self, int64_t n) except -1:
        if n > self.id_capacity:
            n += n // 2
            self.workspace.word_numbers = <int32_t*>reallocate(self.workspace.word_numbers, n * sizeof(int32_t))
            memset(self.workspace.word_numbers + self.id_capacity, 0, (n - self.id_capacity) * sizeof(int32_t))
            self.id_capacity = n
        return 0

    cdef int reserve_hypothesis(self, int64_t n) except -1:
        """Reserve memory for a hypothesis of n tokens."""
        cdef uint64_t n_slots
        cdef size_t n_masks
        if n < self.hypothesis_capacity:
            return 0
        n += n // 2
        n_slots = slot_count(n)
        n_masks = (n + 1) * STRIP_WORDS * sizeof(uint64_t)
        self.workspace.counts = <int32_t*>reallocate(self.workspace.counts, (n + 1) * sizeof(int32_t))
        self.workspace.remaining = <int32_t*>reallocate(self.workspace.remaining, (n + 1) * sizeof(int32_t))
        self.workspace.keys = <uint64_t*>reallocate(self.workspace.keys, n_slots * sizeof(uint64_t))
        self.workspace.numbers = <int32_t*>reallocate(self.workspace.numbers, n_slots * sizeof(int32_t))
        self.workspace.table.masks = <uint64_t*>reallocate(self.workspace.table.masks, n_masks)
        self.workspace.table.present = <uint8_t*>reallocate(self.workspace.table.present, n + 1)
        memset(self.workspace.table.masks, 0, n_masks)
        memset(self.workspace.table.present, 0, n + 1)
        self.hypothesis_capacity = n + 1
        return 0

    cdef int reserve_tokens(self, int64_t n) except -1:
        """Reserve memory for a segment of n tokens."""
        if n < self.token_capacity:
            return 0
        n += n // 2
        self.workspace.words = <int32_t*>reallocate(self.workspace.words, (n + 1) * sizeof(int32_t))
        self.workspace.grams = <int32_t*>reallocate(self.workspace.grams, (n + 1) * sizeof(int32_t))
        self.workspace.rows = <int32_t*>reallocate(self.workspace.rows, (n + 1) * sizeof(int32_t))
        self.workspace.row_sentences = <int64_t*>reallocate(self.workspace.row_sentences, (n + 2) * sizeof(int64_t))
        self.workspace.matched = <uint8_t*>reallocate(self.workspace.matched, n + 1)
        self.workspace.table.carries = <uint8_t*>reallocate(self.workspace.table.carries, n + 1)
        self.token_capacity = n + 1
        return 0

    cdef int reserve_bits(self, int64_t n) except -1:
        if n > self.bit_capacity:
            self.workspace.table.rows = <uint64_t*>reallocate(self.workspace.table.rows, n * sizeof(uint64_t))
            self.bit_capacity = n
        return 0

    cdef int reserve(
        self, const int64_t* ids, const int64_t* sentences, const int64_t* texts, const int64_t* segments, int64_t n,
        bint by_sentence
    ) except -1:
        """Reserve memory for all segments of a block."""
        cdef Sizes most
        with nogil:
            measure_block(
                ids, sentences, texts, segments, n, self.workspace.max_trace_words if by_sentence else -1, &most
            )
        if most.tokens > MAX_TOKENS or most.id > MAX_TOKENS:
            raise OverflowError("a segment may have fewer than 2**31 tokens, and as many different ones")
        self.reserve_ids(most.id + 1)
        self.reserve_hypothesis(most.hypothesis_tokens)
        self.reserve_tokens(most.tokens)
        self.reserve_bits(most.bits)
        return 0

    cdef void count_all(
        self, Segment* segment, const int64_t* segments, int64_t n, const int64_t* orders, int64_t n_orders,
        bint whole, bint by_sentence, int64_t n_columns, int64_t* out
    ) noexcept nogil:
        cdef int64_t number
        for number in range(n):
            segment.first = segments[number]
            segment.stop = segments[number + 1]
            segment.start = first_token(segment, segment.first)
            segment.n_hypothesis_tokens = first_token(segment, segment.first + 1) - segment.start
            segment.n_reference_tokens = (
                first_token(segment, segment.stop) - segment.start - segment.n_hypothesis_tokens
            )
            number_words(&self.workspace, segment)
            count_grams(&self.workspace, segment, orders, n_orders, n_columns, out)
            if whole or by_sentence:
                count_subsequences(&self.workspace, segment, whole, by_sentence, n_columns, out + 3 * n_orders)
            out += (segment.stop - segment.first - 1) * n_columns

    def count(
        self, const int64_t[::1] ids, const int64_t[::1] sentences, const int64_t[::1] texts,
        const int64_t[::1] segments, const int64_t[::1] orders, bint whole, bint by_sentence, int64_t[:, ::1] out
    ):
        """Fill a row for every reference of every segment: what it shares with the hypothesis, and the counts of both.

        ids : ids of the tokens of all texts
        sentences : sentence i has the tokens sentences[i]:sentences[i + 1]
        texts : text i has the sentences texts[i]:texts[i + 1]
        segments : segment s has the texts segments[s]:segments[s + 1]; the first is the hypothesis
        orders : lengths of n-grams, ascending
        whole : whether to count the LCS of the whole texts
        by_sentence : whether to count the union of the LCS by sentences
        out : (n_references, 3 * (n_orders + whole + by_sentence)): in common, of the hypothesis, of the reference
        """
        cdef int64_t n = segments.shape[0] - 1
        cdef int64_t nothing = 0
        cdef const int64_t* first_order = &nothing
        cdef Segment segment
        if n <= 0 or out.shape[0] == 0 or out.shape[1] == 0:
            return
        if out.shape[1] != 3 * (orders.shape[0] + whole + by_sentence) or out.shape[0] != segments[n] - segments[0] - n:
            raise ValueError("out has three columns for everything counted, and a row for every reference")
        need_length(b"texts", texts.shape[0], 1)
        need_length(b"sentences", sentences.shape[0], 1)
        need_offsets(b"segments", &segments[0], n + 1, texts.shape[0] - 1)
        need_offsets(b"texts", &texts[0], texts.shape[0], sentences.shape[0] - 1)
        need_offsets(b"sentences", &sentences[0], sentences.shape[0], ids.shape[0])
        check_segments(segments, n)
        if orders.shape[0]:
            first_order = &orders[0]
        segment.ids = &ids[0] if ids.shape[0] else &nothing
        segment.sentences = &sentences[0]
        segment.texts = &texts[0]
        self.reserve(segment.ids, &sentences[0], &texts[0], &segments[0], n, by_sentence)
        with nogil:
            self.count_all(
                &segment, &segments[0], n, first_order, orders.shape[0], whole, by_sentence, out.shape[1], &out[0, 0]
            )


cdef inline double f_measure(const int64_t* counts, double beta) noexcept nogil:
    cdef double precision = <double>counts[0] / <double>max(counts[1], <int64_t>1)
    cdef double recall = <double>counts[0] / <double>max(counts[2], <int64_t>1)
    if counts[0] == 0:
        return 0.0
    return (1 + beta * beta) * precision * recall / (beta * beta * precision + recall)


cdef void select_best_references(
    const int64_t* pairs, const int64_t* segments, int64_t n, int64_t n_types, double beta, int64_t* out
) noexcept nogil:
    cdef int64_t segment, pair, kind, n_pairs
    cdef double best, value
    for segment in range(n):
        n_pairs = segments[segment + 1] - segments[segment] - 1
        for kind in range(n_types):
            best = -1.0
            for pair in range(n_pairs):
                value = f_measure(pairs + 3 * (pair * n_types + kind), beta)
                if value > best:
                    best = value
                    memcpy(out + 3 * kind, pairs + 3 * (pair * n_types + kind), 3 * sizeof(int64_t))
        pairs += 3 * n_pairs * n_types
        out += 3 * n_types


def select_best(const int64_t[:, ::1] pairs, const int64_t[::1] segments, double beta, int64_t[:, ::1] out):
    """For every segment and every group of three columns, copy those of the reference with the greatest F measure.

    Of equal references the first is selected.
    pairs : a row for every reference, as `OverlapCounter.count` fills it
    out : (n_segments, number of columns of pairs)
    """
    cdef int64_t n = segments.shape[0] - 1
    if n <= 0 or pairs.shape[1] == 0:
        return
    if pairs.shape[0] != segments[n] - segments[0] - n or out.shape[0] != n or out.shape[1] != pairs.shape[1]:
        raise ValueError("out has a row for every segment, pairs has one for every reference")
    check_segments(segments, n)
    if pairs.shape[0]:
        with nogil:
            select_best_references(&pairs[0, 0], &segments[0], n, pairs.shape[1] // 3, beta, &out[0, 0])


def count_lines(const uint32_t[::1] points, const int64_t[::1] offsets) -> int:
    """Return how many lines the texts have: one for every text, and one more for every newline."""
    cdef int64_t position, n = offsets.shape[0] - 1
    cdef int64_t n_lines = n
    need_length(b"offsets", offsets.shape[0], 1)
    need_offsets(b"offsets", &offsets[0], n + 1, points.shape[0])
    with nogil:
        for position in range(offsets[0], offsets[n]):
            n_lines += points[position] == NEWLINE
    return n_lines


def split_lines(
    const uint32_t[::1] points, const int64_t[::1] offsets, int64_t[::1] line_offsets, int64_t[::1] texts
):
    """Split texts at their newlines.

    Line i is points[line_offsets[i]:line_offsets[i + 1]], with its newline. Text i has the lines texts[i]:texts[i + 1].
    `line_offsets` has room for one number more than there are lines.
    """
    cdef int64_t text, position, n_lines = 0
    if line_offsets.shape[0] < count_lines(points, offsets) + 1 or texts.shape[0] < offsets.shape[0]:
        raise ValueError("line_offsets or texts is too short")
    with nogil:
        for text in range(offsets.shape[0] - 1):
            texts[text] = n_lines
            line_offsets[n_lines] = offsets[text]
            n_lines += 1
            for position in range(offsets[text], offsets[text + 1]):
                if points[position] == NEWLINE:
                    line_offsets[n_lines] = position + 1
                    n_lines += 1
        texts[offsets.shape[0] - 1] = n_lines
        line_offsets[n_lines] = offsets[offsets.shape[0] - 1]
