"""NIST's n-grams: which of a hypothesis count, and what those are worth by how often references have them.

`credit_segments` looks at single segments: bit n - 1 of a position's credits is set where the n-gram that begins there
counts, that is, is not beyond the greatest count of one reference. It is all that a segment has to say, and takes two
bytes for a word of a hypothesis.

Weights need counts over all references, but only of n-grams that some hypothesis matched, and of their beginnings,
which then were matched, too. `NgramTable` holds these as a trie: a node is an n-gram, found by the pair of its
beginning's node and its last word in an open-addressing table of exact 64-bit pairs. Three passes: the n-grams that
count are put in, references walk through what is in and count, and the n-grams that count collect their weights. A
table takes the n-grams of some first words only, so that tables of several threads have nothing in common, and their
number bounds memory.

A weight log2(p / c), p and c whole counts, is a whole number of 2**-58 bits, added in two parts of 32 bits: sums are
integers and do not depend on any order.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

from fastmetrics._kernels.sharedgrams cimport (
    FM_ORDERS, MOST_MASKED, Matcher, hash_integer, match_long, match_short,
)

cdef extern from "vectormath.h":
    double negative_log "fm_negative_log"(double x) noexcept nogil

cdef enum:
    MOST_ORDERS = 16
    LEAST_SLOTS = 1024
    BATCH = 512                 # positions that are looked for at once
    SCALE_BITS = 58

cdef uint32_t END = 0xFFFFFFFF  # stands behind every reference: no word has this number
cdef double LN2 = 0.6931471805599453

N_ORDERS = MOST_ORDERS
WEIGHT_BITS = SCALE_BITS
REFERENCE_UNIT = 720720         # 1 to 16 divide it: the mean length of up to 16 references is a whole number of it


cdef void credit_text(
    const Matcher* matcher, const uint32_t* hypothesis, int64_t n, const uint32_t* reference, int64_t m, int n_orders,
    int64_t* matches, uint16_t* credits
) noexcept nogil:
    if n == 0 or m == 0:
        return
    if m <= MOST_MASKED and n_orders <= FM_ORDERS:
        match_short(matcher, hypothesis, n, reference, m, matches, credits)
    else:
        match_long(matcher, hypothesis, n, reference, m, n_orders, matches, credits)


cdef void credit_segment(
    const Matcher* matcher, const int64_t* ids, const int64_t* text_tokens, int64_t first, int64_t last, int n_orders,
    uint32_t* hypothesis, uint32_t* references, uint16_t* credits, int64_t* counts
) noexcept nogil:
    """counts: words of the hypothesis, of the references (mean), matches of every order, n-grams of every order."""
    cdef int64_t matches[MOST_ORDERS]
    cdef int64_t n = text_tokens[first + 1] - text_tokens[first]
    cdef int64_t m, i, text
    cdef int64_t words = 0
    cdef int order
    cdef uint16_t wanted = <uint16_t>((1 << n_orders) - 1)
    for i in range(n):
        hypothesis[i] = <uint32_t>ids[text_tokens[first] + i]
        credits[i] = 0
    for text in range(first + 1, last):
        m = text_tokens[text + 1] - text_tokens[text]
        for i in range(m):
            references[i] = <uint32_t>ids[text_tokens[text] + i]
        references[m] = END
        credit_text(matcher, hypothesis, n, references, m, n_orders, matches, credits)
        references += m + 1
        words += m
    counts[0] = n
    counts[1] = words * (<int64_t>720720) // (last - first - 1)
    for order in range(n_orders):
        counts[2 + order] = 0
        counts[2 + n_orders + order] = n - order if n > order else 0
    for i in range(n):
        credits[i] &= wanted
        for order in range(n_orders):
            counts[2 + order] += (credits[i] >> order) & 1


def credit_segments(
    const int64_t[::1] ids, const int64_t[::1] text_tokens, const int64_t[::1] segments, int n_orders,
    uint16_t[::1] rows, uint64_t[::1] masks, uint16_t[::1] numbers, uint64_t[::1] keys, int64_t[::1] grams,
    int64_t[:, ::1] gram_numbers, uint8_t[::1] shared, uint32_t[::1] hypotheses, int64_t[::1] starts,
    uint32_t[::1] references, uint16_t[::1] earned, int64_t[:, ::1] counts
):
    """Hypotheses and references of a block apart, the credits of hypothesis words, and the counts of segments.

    hypotheses and earned: a number and its credits for every hypothesis word, segment s from starts[s] on. references:
    every reference with END behind it. counts[s]: words of the hypothesis, REFERENCE_UNIT times the mean words of a
    reference, then n_orders matches and n_orders n-grams. Scratch is that of sharedgrams.pxd: rows for all numbers
    there are; keys and what follows are needed for references longer than LONGEST_MASKED and orders above
    LONGEST_ORDER_MASKED only. n_orders <= N_ORDERS.
    """
    cdef Matcher matcher
    cdef Py_ssize_t s
    cdef int64_t place = 0
    cdef int64_t other = 0
    cdef int64_t text
    cdef const int64_t* words = &ids[0] if ids.shape[0] else NULL
    matcher.rows = &rows[0] if rows.shape[0] else NULL
    matcher.n_rows = rows.shape[0]
    matcher.masks = &masks[0] if masks.shape[0] else NULL
    matcher.numbers = &numbers[0] if numbers.shape[0] else NULL
    matcher.keys = &keys[0] if keys.shape[0] else NULL
    matcher.grams = &grams[0] if grams.shape[0] else NULL
    matcher.first_numbers = &gram_numbers[0, 0] if gram_numbers.shape[1] else NULL
    matcher.second_numbers = &gram_numbers[1, 0] if gram_numbers.shape[1] else NULL
    matcher.remaining = &gram_numbers[2, 0] if gram_numbers.shape[1] else NULL
    matcher.shared = &shared[0] if shared.shape[0] else NULL
    with nogil:
        for s in range(segments.shape[0] - 1):
            starts[s] = place
            credit_segment(
                &matcher, words, &text_tokens[0], segments[s], segments[s + 1], n_orders, &hypotheses[0] + place,
                &references[0] + other, &earned[0] + place, &counts[s, 0])
            text = segments[s]
            place += text_tokens[text + 1] - text_tokens[text]
            other += text_tokens[segments[s + 1]] - text_tokens[text + 1] + segments[s + 1] - text - 1
        starts[segments.shape[0] - 1] = place


def renumber(uint32_t[::1] words, const uint32_t[::1] numbers):
    """Every word's number replaced by numbers[it]; END stays."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(words.shape[0]):
            if words[i] != END:
                words[i] = numbers[words[i]]


cdef class NgramTable:
    """N-grams that begin with some of the words: those whose number has a hash of `bits` bits equal to `part`."""

    cdef uint64_t* keys         # the node of the beginning << 32 | the last word
    cdef uint32_t* nodes        # of a slot; 0 is empty
    cdef uint64_t n_slots
    cdef uint32_t* parents      # by node; 0 is the root
    cdef int64_t* counts
    cdef uint64_t* weights
    cdef int64_t room
    cdef readonly int64_t size
    cdef uint32_t part
    cdef int bits

    def __cinit__(self, uint32_t part, int bits):
        self.part = part
        self.bits = bits
        self.size = 0
        self.n_slots = LEAST_SLOTS
        self.room = LEAST_SLOTS // 2 + MOST_ORDERS
        self.keys = <uint64_t*>malloc(self.n_slots * sizeof(uint64_t))
        self.nodes = <uint32_t*>malloc(self.n_slots * sizeof(uint32_t))
        self.parents = <uint32_t*>malloc((self.room + 1) * sizeof(uint32_t))
        self.counts = NULL
        self.weights = NULL
        if self.keys == NULL or self.nodes == NULL or self.parents == NULL:
            raise MemoryError
        memset(self.nodes, 0, self.n_slots * sizeof(uint32_t))

    def __dealloc__(self):
        free(self.keys)
        free(self.nodes)
        free(self.parents)
        free(self.counts)
        free(self.weights)

    cdef void rehash(self, uint64_t* keys, uint32_t* nodes, uint64_t n_slots) noexcept nogil:
        cdef uint64_t slot, place
        for slot in range(self.n_slots):
            if self.nodes[slot]:
                place = hash_integer(self.keys[slot]) & (n_slots - 1)
                while nodes[place]:
                    place = (place + 1) & (n_slots - 1)
                nodes[place] = self.nodes[slot]
                keys[place] = self.keys[slot]

    cdef int widen(self) except -1:
        """Twice the slots."""
        cdef uint64_t n_slots = self.n_slots * 2
        cdef uint64_t* keys = <uint64_t*>malloc(n_slots * sizeof(uint64_t))
        cdef uint32_t* nodes = <uint32_t*>malloc(n_slots * sizeof(uint32_t))
        cdef int64_t room = <int64_t>(n_slots >> 1) + MOST_ORDERS
        cdef uint32_t* parents = NULL
        if room < 0xFFFFFFFF:
            parents = <uint32_t*>realloc(self.parents, (room + 1) * sizeof(uint32_t))
        if keys == NULL or nodes == NULL or parents == NULL:
            free(keys)
            free(nodes)
            if parents != NULL:
                self.parents = parents
            raise MemoryError
        self.parents = parents
        self.room = room
        with nogil:
            memset(nodes, 0, n_slots * sizeof(uint32_t))
            self.rehash(keys, nodes, n_slots)
        free(self.keys)
        free(self.nodes)
        self.keys = keys
        self.nodes = nodes
        self.n_slots = n_slots
        return 0

    cdef inline bint is_own(self, uint32_t word) noexcept nogil:
        return (<uint64_t>(word * <uint32_t>0x9E3779B1)) >> (32 - self.bits) == self.part

    cdef inline uint32_t find(self, uint32_t parent, uint32_t word) noexcept nogil:
        """The node of an n-gram, 0 if it is not in."""
        cdef uint64_t key = <uint64_t>parent << 32 | word
        cdef uint64_t slot = hash_integer(key) & (self.n_slots - 1)
        while self.nodes[slot] and self.keys[slot] != key:
            slot = (slot + 1) & (self.n_slots - 1)
        return self.nodes[slot]

    cdef inline uint32_t place(self, uint32_t parent, uint32_t word) noexcept nogil:
        """The node of an n-gram, which is put in."""
        cdef uint64_t key = <uint64_t>parent << 32 | word
        cdef uint64_t slot = hash_integer(key) & (self.n_slots - 1)
        while self.nodes[slot] and self.keys[slot] != key:
            slot = (slot + 1) & (self.n_slots - 1)
        if not self.nodes[slot]:
            self.size += 1
            self.keys[slot] = key
            self.nodes[slot] = <uint32_t>self.size
            self.parents[self.size] = parent
        return self.nodes[slot]

    cdef int64_t gather(
        self, const uint32_t* words, const uint16_t* credits, int64_t* start, int64_t stop, int64_t* places
    ) noexcept nogil:
        """The next positions of n-grams of this table, up to BATCH; start moves behind them."""
        cdef int64_t i = start[0]
        cdef int64_t n = 0
        cdef int64_t last
        while i < stop and n == 0:
            last = i + BATCH if i + BATCH < stop else stop
            if credits == NULL:
                for i in range(i, last):
                    places[n] = i
                    n += self.is_own(words[i])
            else:
                for i in range(i, last):
                    places[n] = i
                    n += self.is_own(words[i]) & (credits[i] != 0)
            i = last
        start[0] = i
        return n

    cdef int64_t insert(
        self, const uint32_t* words, const uint16_t* credits, int64_t start, int64_t stop
    ) noexcept nogil:
        """Put in what counts until half of the slots are taken; returns the first position left."""
        cdef int64_t places[BATCH]
        cdef int64_t most = <int64_t>(self.n_slots >> 1)
        cdef int64_t n, i, position
        cdef uint32_t node
        cdef uint16_t left
        while start < stop:
            n = self.gather(words, credits, &start, stop, places)
            for i in range(n):
                if self.size >= most:
                    return places[i]
                position = places[i]
                left = credits[position]
                node = 0
                while left:
                    node = self.place(node, words[position])
                    position += 1
                    left >>= 1
        return stop

    cdef void walk(self, const uint32_t* words, int64_t stop, int n_orders) noexcept nogil:
        cdef int64_t places[BATCH]
        cdef int64_t start = 0
        cdef int64_t n, i
        cdef uint32_t node
        cdef const uint32_t* word
        cdef const uint32_t* last
        while start < stop:
            n = self.gather(words, NULL, &start, stop, places)
            for i in range(n):
                word = words + places[i]
                last = word + n_orders
                node = self.find(0, word[0])
                while node:
                    self.counts[node] += 1
                    word += 1
                    if word == last:
                        break
                    node = self.find(node, word[0])

    cdef int64_t make_weights(self, int64_t n_words, uint32_t zero) noexcept nogil:
        cdef int64_t node
        cdef int64_t n_missing = 0
        cdef uint32_t zero_node = self.find(0, zero) if zero != END else 0
        cdef int64_t before
        cdef double bits
        for node in range(1, self.size + 1):
            before = self.counts[self.parents[node]]
            if self.parents[node] == 0 or self.parents[node] == zero_node:
                before = n_words
            if self.counts[node] == 0:
                n_missing += 1
                self.weights[node] = 0
                continue
            bits = negative_log(<double>self.counts[node] / <double>before) / LN2
            self.weights[node] = <uint64_t>(bits * <double>(<uint64_t>1 << SCALE_BITS) + 0.5)
        return n_missing

    cdef void collect(
        self, const uint32_t* words, const uint16_t* credits, int64_t start, int64_t stop, int64_t* sums
    ) noexcept nogil:
        cdef int64_t places[BATCH]
        cdef int64_t n, i, position, order
        cdef uint32_t node
        cdef uint16_t left
        while start < stop:
            n = self.gather(words, credits, &start, stop, places)
            for i in range(n):
                position = places[i]
                left = credits[position]
                node = 0
                order = 0
                while left:
                    node = self.find(node, words[position])
                    if left & 1:
                        sums[order] += <int64_t>(self.weights[node] >> 32)
                        sums[order + 1] += <int64_t>(self.weights[node] & 0xFFFFFFFFu)
                    position += 1
                    order += 2
                    left >>= 1

    def add(self, const uint32_t[::1] words, const uint16_t[::1] earned):
        """Put in the n-grams that count."""
        cdef int64_t start = 0
        cdef int64_t stop = words.shape[0]
        while start < stop:
            with nogil:
                start = self.insert(&words[0], &earned[0], start, stop)
            if start < stop:
                self.widen()

    def begin_counting(self):
        """Between the last `add` and the first `count`."""
        free(self.counts)
        self.counts = <int64_t*>malloc((self.size + 1) * sizeof(int64_t))
        if self.counts == NULL:
            raise MemoryError
        memset(self.counts, 0, (self.size + 1) * sizeof(int64_t))

    def count(self, const uint32_t[::1] words, int n_orders):
        """Count n-grams of references, each with END behind it."""
        if words.shape[0]:
            with nogil:
                self.walk(&words[0], words.shape[0], n_orders)

    def weigh(self, int64_t n_words, uint32_t zero):
        """Weights from counts; n_words are all words of references. Returns how many n-grams no reference had.

        A word followed by others as if it had nothing before it is `zero`, or END.
        """
        cdef int64_t n_missing
        free(self.weights)
        self.weights = <uint64_t*>malloc((self.size + 1) * sizeof(uint64_t))
        if self.weights == NULL:
            raise MemoryError
        with nogil:
            n_missing = self.make_weights(n_words, zero)
        return n_missing

    def sum_weights(
        self, const uint32_t[::1] words, const uint16_t[::1] earned, const int64_t[::1] starts, int64_t[:, ::1] sums
    ):
        """Add to sums[s, 2 n] and sums[s, 2 n + 1] the upper and lower 32 bits of the weights of segment s.

        Segment s has the words starts[s] to starts[s + 1].
        """
        cdef Py_ssize_t s
        if words.shape[0]:
            with nogil:
                for s in range(starts.shape[0] - 1):
                    self.collect(&words[0], &earned[0], starts[s], starts[s + 1], &sums[s, 0])


NO_WORD = END
