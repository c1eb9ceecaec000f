"""What a hypothesis and a reference have in common: n-grams, longest common subsequence, and its union over sentences.

A segment's words are renumbered by its hypothesis: 1, 2, ... in the order in which they come there, 0 for words of a
reference that it does not have. So all that follows happens in tables that fit the first-level cache; the only look
into memory is that for a word in one table of all words. N-grams are numbered likewise, order by order: an n-gram is
the pair of an (n - 1)-gram's number and a word's, looked up in a table of these pairs. What both have in common of an
order is the sum of smaller counts: a reference takes from the hypothesis' counts what is left. Subsequences: see
commontokens.pxd.

ROUGE-Lsum takes for every sentence of the reference the union of its longest common subsequences with all sentences of
the hypothesis, and every word of the hypothesis matches once at most. For two texts of one sentence that is the length
of their longest common subsequence. Sentences of the hypothesis of up to 64 tokens are traced within one word of bits.

Numbers and counts inside a segment are int32, which halves the tables: none is above the tokens of a hypothesis, and
`reserve` raises OverflowError where a segment has more than MOST_TOKENS, or an id is above it. Results are int64.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from fastmetrics._kernels.commontokens cimport STRIP, WORD, Table, common_length, mark_common, trace_room, trace_word
from fastmetrics._kernels.memory cimport resized
from fastmetrics._kernels.pairtable cimport slot_of, slots_for

cdef enum:
    MOST_KEPT = 1 << 21         # words of bits: 16 MB
    NEWLINE = 10

cdef int64_t MOST_TOKENS = 0x7FFFFFF0


cdef struct Segment:
    const int64_t* ids
    const int64_t* sentences    # sentence i has the tokens sentences[i] to sentences[i + 1]
    const int64_t* texts        # text i has the sentences texts[i] to texts[i + 1]
    int64_t first               # the hypothesis, then its references
    int64_t stop
    int64_t start               # its first token
    int64_t n_tokens            # of the hypothesis
    int64_t n_other             # of all references
    int64_t n_distinct          # of the hypothesis


cdef struct Room:
    int32_t* place              # [id]: the number of a word in the hypothesis; 0 between segments
    int32_t* words              # of the hypothesis, then of all references
    int32_t* grams              # likewise: where an n-gram begins, its number
    int32_t* count              # [number] in the hypothesis
    int32_t* left               # [number]: what no token of the reference has taken yet
    int32_t* rows               # words of a reference that the hypothesis has
    int64_t* row_sentences      # where those of its sentences begin
    uint8_t* taken              # [row]: is it in the union?
    uint64_t* keys              # pairs of (n-gram, word)
    int32_t* numbers            # of the pairs
    int64_t most_kept           # words of bits that a trace keeps where rows are as many
    Table table


cdef inline int64_t token_of(const Segment* segment, int64_t text) noexcept nogil:
    """The first token of a text."""
    return segment.sentences[segment.texts[text]]


cdef void enter_words(Room* room, Segment* segment) noexcept nogil:
    """Renumber the words of a segment, and count those of the hypothesis."""
    cdef const int64_t* ids = segment.ids + segment.start
    cdef int32_t* words = room.words
    cdef int64_t token
    cdef int32_t number, n_distinct = 0
    for token in range(segment.n_tokens):
        number = room.place[ids[token]]
        if number == 0:
            n_distinct += 1
            number = n_distinct
            room.place[ids[token]] = number
            room.count[number] = 0
        room.count[number] += 1
        words[token] = number
    for token in range(segment.n_tokens, segment.n_tokens + segment.n_other):
        words[token] = room.place[ids[token]]
    for token in range(segment.n_tokens):
        room.place[ids[token]] = 0
    segment.n_distinct = n_distinct


cdef int64_t enter_grams(Room* room, const Segment* segment, int64_t order) noexcept nogil:
    """From n-grams of the order below to those of this order; returns how many are distinct in the hypothesis."""
    cdef int32_t* grams = room.grams
    cdef const int32_t* words = room.words + order - 1
    cdef uint64_t n_slots = slots_for(segment.n_tokens)
    cdef uint64_t mask = n_slots - 1
    cdef uint64_t key, slot
    cdef int64_t place, text, start, stop
    cdef int32_t n_grams = 0
    memset(room.keys, 0, n_slots * sizeof(uint64_t))
    for place in range(segment.n_tokens - order + 1):
        key = <uint64_t>grams[place] << 32 | <uint64_t>words[place]
        slot = slot_of(key, mask)
        while room.keys[slot] != key:
            if room.keys[slot] == 0:
                n_grams += 1
                room.keys[slot] = key
                room.numbers[slot] = n_grams
                room.count[n_grams] = 0
                break
            slot = (slot + 1) & mask
        grams[place] = room.numbers[slot]
        room.count[grams[place]] += 1
    for text in range(segment.first + 1, segment.stop):
        start = token_of(segment, text) - segment.start
        stop = token_of(segment, text + 1) - segment.start
        for place in range(start, stop - order + 1):
            if grams[place] == 0 or words[place] == 0:
                grams[place] = 0
                continue
            key = <uint64_t>grams[place] << 32 | <uint64_t>words[place]
            slot = slot_of(key, mask)
            while room.keys[slot] != key and room.keys[slot] != 0:
                slot = (slot + 1) & mask
            grams[place] = room.numbers[slot] if room.keys[slot] == key else 0
    return n_grams


cdef inline int64_t take_grams(
    const int32_t* grams, int64_t n, const int32_t* count, int64_t n_distinct, int32_t* left
) noexcept nogil:
    """The sum over n-grams of the smaller of two counts; number 0 has none in the hypothesis."""
    cdef int64_t place, common = 0
    cdef int32_t more
    memcpy(left + 1, count + 1, <size_t>n_distinct * sizeof(int32_t))
    left[0] = 0
    for place in range(n):
        more = left[grams[place]] > 0
        left[grams[place]] -= more
        common += more
    return common


cdef void count_grams(
    Room* room, const Segment* segment, const int64_t* orders, int64_t n_orders, int64_t n_columns, int64_t* out
) noexcept nogil:
    """Three columns for every order (ascending): common n-grams, those of the hypothesis, those of the reference."""
    cdef int64_t n_distinct = segment.n_distinct
    cdef int64_t order, number = 0
    cdef int64_t text, start, length
    cdef int64_t* row
    cdef int32_t* grams = room.words
    if n_orders == 0:
        return
    for order in range(1, orders[n_orders - 1] + 1):
        if order == 2:
            grams = room.grams
            memcpy(grams, room.words, <size_t>(segment.n_tokens + segment.n_other) * sizeof(int32_t))
        if order > 1:
            n_distinct = enter_grams(room, segment, order)
        if order != orders[number]:
            continue
        row = out + 3 * number
        for text in range(segment.first + 1, segment.stop):
            start = token_of(segment, text)
            length = max(<int64_t>0, token_of(segment, text + 1) - start - order + 1)
            row[0] = take_grams(grams + start - segment.start, length, room.count, n_distinct, room.left)
            row[1] = max(<int64_t>0, segment.n_tokens - order + 1)
            row[2] = length
            row += n_columns
        number += 1


cdef int64_t keep_rows(Room* room, const Segment* segment, int64_t text) noexcept nogil:
    """The words of a reference that the hypothesis has, sentence by sentence; returns how many sentences have some."""
    cdef int64_t sentence, token, n_rows = 0, n_sentences = 0
    cdef const int32_t* words = room.words - segment.start
    room.row_sentences[0] = 0
    for sentence in range(segment.texts[text], segment.texts[text + 1]):
        for token in range(segment.sentences[sentence], segment.sentences[sentence + 1]):
            room.rows[n_rows] = words[token]
            n_rows += words[token] > 0
        if n_rows > room.row_sentences[n_sentences]:
            n_sentences += 1
            room.row_sentences[n_sentences] = n_rows
    return n_sentences


cdef void mark_union(Room* room, const Segment* segment, int64_t n_sentences) noexcept nogil:
    """Mark the rows in the union of subsequences, of all sentences of the reference."""
    cdef const int32_t* columns
    cdef const int32_t* rows
    cdef int64_t own, other, start, n_columns, n_rows, place
    cdef bint in_word
    memset(room.taken, 0, <size_t>room.row_sentences[n_sentences])
    for own in range(segment.texts[segment.first], segment.texts[segment.first + 1]):
        start = segment.sentences[own]
        n_columns = segment.sentences[own + 1] - start
        if n_columns == 0:
            continue
        columns = room.words + start - segment.start
        in_word = n_columns <= WORD and room.row_sentences[n_sentences] < room.most_kept // 4
        if in_word:
            for place in range(n_columns):
                room.table.masks[columns[place]] |= <uint64_t>1 << place
        for other in range(n_sentences):
            start = room.row_sentences[other]
            rows = room.rows + start
            n_rows = room.row_sentences[other + 1] - start
            if in_word:
                trace_word(room.table.masks, rows, n_rows, n_columns, room.table.rows, room.taken + start)
            else:
                mark_common(&room.table, columns, n_columns, rows, n_rows, room.most_kept, room.taken + start)
        if in_word:
            for place in range(n_columns):
                room.table.masks[columns[place]] = 0


cdef int64_t count_union(Room* room, const Segment* segment, int64_t n_sentences) noexcept nogil:
    """How many marked rows there are, every token of the hypothesis for one of them at most."""
    cdef int64_t place, common = 0
    for place in range(segment.n_distinct + 1):
        room.left[place] = 0
    for place in range(segment.n_tokens):
        room.left[room.words[place]] += 1
    for place in range(room.row_sentences[n_sentences]):
        if room.taken[place] and room.left[room.rows[place]] > 0:
            room.left[room.rows[place]] -= 1
            common += 1
    return common


cdef inline bint is_one_sentence(const Segment* segment, int64_t text) noexcept nogil:
    """Has at most one sentence of the text any token?"""
    cdef int64_t start = segment.sentences[segment.texts[text]]
    cdef int64_t stop = segment.sentences[segment.texts[text + 1]]
    cdef int64_t sentence
    for sentence in range(segment.texts[text], segment.texts[text + 1]):
        if segment.sentences[sentence + 1] > start:
            return segment.sentences[sentence + 1] == stop
    return True


cdef void count_subsequences(
    Room* room, const Segment* segment, bint whole, bint by_sentence, int64_t n_columns, int64_t* out
) noexcept nogil:
    """Columns of the longest common subsequence of the whole texts, then those of the union by sentences."""
    cdef int64_t text, n_sentences, n_rows, common
    cdef bint alone = is_one_sentence(segment, segment.first)
    cdef bint both
    for text in range(segment.first + 1, segment.stop):
        n_sentences = keep_rows(room, segment, text)
        n_rows = room.row_sentences[n_sentences]
        both = by_sentence and alone and n_sentences <= 1 and is_one_sentence(segment, text)
        common = 0
        if whole or both:
            common = common_length(
                &room.table, room.words, segment.n_tokens, segment.n_distinct, room.rows, n_rows, room.left
            )
        if whole:
            out[0] = common
            out[1] = segment.n_tokens
            out[2] = token_of(segment, text + 1) - token_of(segment, text)
        if by_sentence:
            if not both:
                mark_union(room, segment, n_sentences)
                common = count_union(room, segment, n_sentences)
            out[3 * whole] = common
            out[3 * whole + 1] = segment.n_tokens
            out[3 * whole + 2] = token_of(segment, text + 1) - token_of(segment, text)
        out += n_columns


cdef struct Sizes:
    int64_t id
    int64_t own                 # tokens of a hypothesis
    int64_t tokens              # of a segment
    int64_t bits                # words of bits that a trace needs


cdef void measure(
    const int64_t* ids, const int64_t* sentences, const int64_t* texts, const int64_t* segments, int64_t n,
    int64_t most_kept, Sizes* most
) noexcept nogil:
    """The greatest of a block's sizes; most_kept is -1 where nothing is traced."""
    cdef int64_t number, token, start, middle, stop, own, other
    most.id = -1
    most.own = 0
    most.tokens = 0
    most.bits = 1
    for token in range(sentences[texts[segments[0]]], sentences[texts[segments[n]]]):
        most.id = max(most.id, ids[token])
    for number in range(n):
        start = sentences[texts[segments[number]]]
        middle = sentences[texts[segments[number] + 1]]
        stop = sentences[texts[segments[number + 1]]]
        most.own = max(most.own, middle - start)
        most.tokens = max(most.tokens, stop - start)
        if most_kept >= 0:
            own = longest(sentences, texts[segments[number]], texts[segments[number] + 1])
            other = longest(sentences, texts[segments[number] + 1], texts[segments[number + 1]])
            most.bits = max(most.bits, trace_room(own, other, most_kept))


cdef int64_t longest(const int64_t* starts, int64_t first, int64_t stop) noexcept nogil:
    cdef int64_t place, length = 0
    for place in range(first, stop):
        length = max(length, starts[place + 1] - starts[place])
    return length


cdef class OverlapCounter:
    """One thread's tables. Not for two threads at once. `most_kept`: about how many words of bits a trace may keep."""

    cdef Room room
    cdef int64_t id_room
    cdef int64_t own_room       # tokens of a hypothesis
    cdef int64_t token_room     # of a segment
    cdef int64_t bit_room

    def __cinit__(self, int64_t most_kept=MOST_KEPT):
        self.room.most_kept = most_kept

    def __dealloc__(self):
        free(self.room.place)
        free(self.room.words)
        free(self.room.grams)
        free(self.room.count)
        free(self.room.left)
        free(self.room.rows)
        free(self.room.row_sentences)
        free(self.room.taken)
        free(self.room.keys)
        free(self.room.numbers)
        free(self.room.table.masks)
        free(self.room.table.present)
        free(self.room.table.carries)
        free(self.room.table.rows)

    cdef int reserve_ids(self, int64_t n) except -1:
        if n > self.id_room:
            n += n // 2
            self.room.place = <int32_t*>resized(self.room.place, n * sizeof(int32_t))
            memset(self.room.place + self.id_room, 0, (n - self.id_room) * sizeof(int32_t))
            self.id_room = n
        return 0

    cdef int reserve_own(self, int64_t n) except -1:
        """Room for a hypothesis of n tokens."""
        cdef uint64_t n_slots
        cdef size_t n_masks
        if n < self.own_room:
            return 0
        n += n // 2
        n_slots = slots_for(n)
        n_masks = (n + 1) * STRIP * sizeof(uint64_t)
        self.room.count = <int32_t*>resized(self.room.count, (n + 1) * sizeof(int32_t))
        self.room.left = <int32_t*>resized(self.room.left, (n + 1) * sizeof(int32_t))
        self.room.keys = <uint64_t*>resized(self.room.keys, n_slots * sizeof(uint64_t))
        self.room.numbers = <int32_t*>resized(self.room.numbers, n_slots * sizeof(int32_t))
        self.room.table.masks = <uint64_t*>resized(self.room.table.masks, n_masks)
        self.room.table.present = <uint8_t*>resized(self.room.table.present, n + 1)
        memset(self.room.table.masks, 0, n_masks)
        memset(self.room.table.present, 0, n + 1)
        self.own_room = n + 1
        return 0

    cdef int reserve_tokens(self, int64_t n) except -1:
        """Room for a segment of n tokens."""
        if n < self.token_room:
            return 0
        n += n // 2
        self.room.words = <int32_t*>resized(self.room.words, (n + 1) * sizeof(int32_t))
        self.room.grams = <int32_t*>resized(self.room.grams, (n + 1) * sizeof(int32_t))
        self.room.rows = <int32_t*>resized(self.room.rows, (n + 1) * sizeof(int32_t))
        self.room.row_sentences = <int64_t*>resized(self.room.row_sentences, (n + 2) * sizeof(int64_t))
        self.room.taken = <uint8_t*>resized(self.room.taken, n + 1)
        self.room.table.carries = <uint8_t*>resized(self.room.table.carries, n + 1)
        self.token_room = n + 1
        return 0

    cdef int reserve_bits(self, int64_t n) except -1:
        if n > self.bit_room:
            self.room.table.rows = <uint64_t*>resized(self.room.table.rows, n * sizeof(uint64_t))
            self.bit_room = n
        return 0

    cdef int reserve(
        self, const int64_t* ids, const int64_t* sentences, const int64_t* texts, const int64_t* segments, int64_t n,
        bint by_sentence
    ) except -1:
        """Room for all segments of a block."""
        cdef Sizes most
        with nogil:
            measure(ids, sentences, texts, segments, n, self.room.most_kept if by_sentence else -1, &most)
        if most.tokens > MOST_TOKENS or most.id > MOST_TOKENS:
            raise OverflowError("a segment may have fewer than 2**31 tokens, and as many different ones")
        self.reserve_ids(most.id + 1)
        self.reserve_own(most.own)
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
            segment.start = token_of(segment, segment.first)
            segment.n_tokens = token_of(segment, segment.first + 1) - segment.start
            segment.n_other = token_of(segment, segment.stop) - segment.start - segment.n_tokens
            enter_words(&self.room, segment)
            count_grams(&self.room, segment, orders, n_orders, n_columns, out)
            if whole or by_sentence:
                count_subsequences(&self.room, segment, whole, by_sentence, n_columns, out + 3 * n_orders)
            out += (segment.stop - segment.first - 1) * n_columns

    def count(
        self, const int64_t[::1] ids, const int64_t[::1] sentences, const int64_t[::1] texts,
        const int64_t[::1] segments, const int64_t[::1] orders, bint whole, bint by_sentence, int64_t[:, ::1] out
    ):
        """For every reference of every segment: what it has in common with the hypothesis, and the counts of both.

        ids : numbers of the tokens of all texts
        sentences : sentence i has the tokens sentences[i]..sentences[i + 1]
        texts : text i has the sentences texts[i]..texts[i + 1]
        segments : segment s has the texts segments[s]..segments[s + 1], the first of them the hypothesis
        orders : lengths of n-grams, ascending
        whole, by_sentence : longest common subsequences of whole texts; their union by sentences
        out : (references, 3 * (orders + whole + by_sentence)): common, of the hypothesis, of the reference
        """
        cdef int64_t n = segments.shape[0] - 1
        cdef int64_t nothing = 0
        cdef const int64_t* first_order = &nothing
        cdef Segment segment
        if n <= 0 or out.shape[0] == 0 or out.shape[1] == 0:
            return
        if out.shape[1] != 3 * (orders.shape[0] + whole + by_sentence) or out.shape[0] != segments[n] - segments[0] - n:
            raise ValueError("out has three columns for everything counted, and a row for every reference")
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


cdef void take_best_of(
    const int64_t* pairs, const int64_t* segments, int64_t n, int64_t n_types, double beta, int64_t* out
) noexcept nogil:
    cdef int64_t number, pair, kind, n_pairs
    cdef double most, value
    for number in range(n):
        n_pairs = segments[number + 1] - segments[number] - 1
        for kind in range(n_types):
            most = -1.0
            for pair in range(n_pairs):
                value = f_measure(pairs + 3 * (pair * n_types + kind), beta)
                if value > most:
                    most = value
                    memcpy(out + 3 * kind, pairs + 3 * (pair * n_types + kind), 3 * sizeof(int64_t))
        pairs += 3 * n_pairs * n_types
        out += 3 * n_types


def take_best(const int64_t[:, ::1] pairs, const int64_t[::1] segments, double beta, int64_t[:, ::1] out):
    """For every segment and each three columns, those of the reference with the greatest F; of equal ones the first.

    pairs : as `OverlapCounter.count` fills it, a row for every reference
    out : (n_segments, as many columns)
    """
    cdef int64_t n = segments.shape[0] - 1
    if n <= 0 or pairs.shape[1] == 0:
        return
    if pairs.shape[0] != segments[n] - segments[0] - n or out.shape[0] != n or out.shape[1] != pairs.shape[1]:
        raise ValueError("out has a row for every segment, pairs has one for every reference")
    if pairs.shape[0]:
        with nogil:
            take_best_of(&pairs[0, 0], &segments[0], n, pairs.shape[1] // 3, beta, &out[0, 0])


def count_lines(const uint32_t[::1] points, const int64_t[::1] offsets):
    """How many lines texts have in all: one for every text, and one for every newline."""
    cdef int64_t place, n = offsets.shape[0] - 1
    cdef int64_t found = n
    with nogil:
        for place in range(offsets[0], offsets[n]):
            found += points[place] == NEWLINE
    return found


def split_lines(
    const uint32_t[::1] points, const int64_t[::1] offsets, int64_t[::1] line_offsets, int64_t[::1] texts
):
    """Cut texts at their newlines: line i is points[line_offsets[i]..line_offsets[i + 1]], its newline included, and
    text i has the lines texts[i]..texts[i + 1]. `line_offsets` has room for one more than there are lines."""
    cdef int64_t text, place, n_lines = 0
    if line_offsets.shape[0] < count_lines(points, offsets) + 1 or texts.shape[0] < offsets.shape[0]:
        raise ValueError("no room for the lines")
    with nogil:
        for text in range(offsets.shape[0] - 1):
            texts[text] = n_lines
            line_offsets[n_lines] = offsets[text]
            n_lines += 1
            for place in range(offsets[text], offsets[text + 1]):
                if points[place] == NEWLINE:
                    line_offsets[n_lines] = place + 1
                    n_lines += 1
        texts[offsets.shape[0] - 1] = n_lines
        line_offsets[n_lines] = offsets[offsets.shape[0] - 1]
