"""NIST's n-grams: which of a hypothesis count, and what those are worth by how often references have them.

`credit_segments` looks at single segments: bit n - 1 of a position's credits is set where the n-gram that begins there
counts, that is, is not beyond the greatest count of one reference. It is all that a segment has to say, and takes two
bytes for a word of a hypothesis.

Weights need counts over all references, but only of n-grams that some hypothesis matched, and of their beginnings,
which then were matched, too. `NgramTable` holds these as a trie: a node is an n-gram, found by the pair of its
beginning's node and its last word in an open-addressing table of exact 64-bit pairs. Order by order, the n-grams that
count are put in, and references count them. What begins with an n-gram that references have once tells nothing more,
for they have it once, too: its weight is 0, and it is not looked for. A table takes the n-grams of some first words
only, so that tables of several threads have nothing in common, and their number bounds memory.

A weight log2(p / c), p and c whole counts, is a whole number of 2**-57 bits, added in two parts of 32 bits: sums are
integers and do not depend on any order. Lower parts are below 2**32 and upper ones below 2**31 (6 whole bits), so int64
holds the sums of fewer than 2**31 matches of an order, whose words and credits would take twelve gigabytes.
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
    LEAST_SLOTS = 64
    SCALE_BITS = 57             # leave 6 for the whole bits of a weight

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
    reference (rounded down where it is no whole number, with more than 16 references of a segment), then n_orders
    matches and n_orders n-grams. Every segment has a reference; ids are below END. Scratch is that of sharedgrams.pxd:
    rows for all numbers there are; keys and what follows are needed for references longer than LONGEST_MASKED and
    orders above LONGEST_ORDER_MASKED only. n_orders <= N_ORDERS.
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
    # Texts without words have no first one: what stands for its place is never read or written.
    cdef uint32_t nothing = 0
    cdef uint16_t no_credits = 0
    cdef uint32_t* own = &hypotheses[0] if hypotheses.shape[0] else &nothing
    cdef uint32_t* others = &references[0] if references.shape[0] else &nothing
    cdef uint16_t* credits = &earned[0] if earned.shape[0] else &no_credits
    with nogil:
        for s in range(segments.shape[0] - 1):
            starts[s] = place
            credit_segment(
                &matcher, words, &text_tokens[0], segments[s], segments[s + 1], n_orders, own + place, others + other,
                credits + place, &counts[s, 0]
            )
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


cdef struct Slot:
    uint64_t key                # the node of the beginning << 32 | the last word
    uint32_t node               # 0 is empty


cdef struct Node:
    uint32_t parent             # 0 is the root; a parent's number is below its children's
    uint32_t order
    int64_t times               # how often hypotheses have it where it counts


cdef struct Place:
    const uint32_t* word        # the first
    uint32_t node               # of the n-gram from there on, as far as it is known
    uint32_t left               # credits of longer ones


cdef struct Places:
    Place* items
    int64_t n
    int64_t room


cdef int reserve(Places* places, int64_t n) except -1:
    """Room for n more."""
    cdef void* memory
    if places.n + n > places.room:
        memory = realloc(places.items, (places.n + n) * sizeof(Place))
        if memory == NULL:
            raise MemoryError
        places.items = <Place*>memory
        places.room = places.n + n
    return 0


cdef class NgramTable:
    """N-grams that begin with some of the words: those whose number has a hash of `bits` bits equal to `part`.

    begin(part), add(...), add_references(...), count_order(...) of every order, weigh(...), then the sums; and again
    for the next part, in the same memory. Positions go from order to order together: look-ups that do not wait for each
    other wait for memory at the same time.
    """

    cdef Slot* slots
    cdef uint64_t n_slots
    cdef Node* nodes
    cdef int64_t* counts        # how often references have a node's n-gram; its weight once they are counted
    cdef Places hypotheses
    cdef Places references
    cdef readonly int64_t size
    cdef int n_orders
    cdef uint32_t part
    cdef int bits

    def __cinit__(self, int bits, int n_orders, int64_t n_words):
        """n_words: of hypotheses in a part, about."""
        self.bits = bits
        self.n_orders = n_orders
        self.n_slots = LEAST_SLOTS
        while <int64_t>self.n_slots < n_words:
            self.n_slots *= 2
        self.slots = <Slot*>malloc(self.n_slots * sizeof(Slot))
        self.nodes = <Node*>malloc((self.n_slots // 2 + 1) * sizeof(Node))
        self.counts = <int64_t*>malloc((self.n_slots // 2 + 1) * sizeof(int64_t))
        if self.slots == NULL or self.nodes == NULL or self.counts == NULL:
            raise MemoryError
        self.begin(0)

    def __dealloc__(self):
        free(self.slots)
        free(self.nodes)
        free(self.counts)
        free(self.hypotheses.items)
        free(self.references.items)

    cpdef begin(self, uint32_t part):
        """Nothing is in; what comes in next is of this part."""
        self.part = part
        self.size = 0
        self.hypotheses.n = 0
        self.references.n = 0
        memset(self.slots, 0, self.n_slots * sizeof(Slot))
        memset(self.nodes, 0, sizeof(Node))
        self.counts[0] = 0

    cdef int widen(self) except -1:
        """Twice the slots, and nodes for half of them."""
        cdef uint64_t n_slots = self.n_slots * 2
        cdef Slot* slots = NULL
        cdef void* memory
        if n_slots < 0xFFFFFFFF:
            memory = realloc(self.nodes, (n_slots // 2 + 1) * sizeof(Node))
            if memory == NULL:
                raise MemoryError
            self.nodes = <Node*>memory
            memory = realloc(self.counts, (n_slots // 2 + 1) * sizeof(int64_t))
            if memory == NULL:
                raise MemoryError
            self.counts = <int64_t*>memory
            slots = <Slot*>malloc(n_slots * sizeof(Slot))
        if slots == NULL:
            raise MemoryError
        with nogil:
            memset(slots, 0, n_slots * sizeof(Slot))
            self.rehash(slots, n_slots)
        free(self.slots)
        self.slots = slots
        self.n_slots = n_slots
        return 0

    cdef void rehash(self, Slot* slots, uint64_t n_slots) noexcept nogil:
        cdef uint64_t slot, place
        for slot in range(self.n_slots):
            if self.slots[slot].node:
                place = hash_integer(self.slots[slot].key) & (n_slots - 1)
                while slots[place].node:
                    place = (place + 1) & (n_slots - 1)
                slots[place] = self.slots[slot]

    cdef inline bint is_own(self, uint32_t word) noexcept nogil:
        return (<uint64_t>(word * <uint32_t>0x9E3779B1)) >> (32 - self.bits) == self.part

    cdef inline uint32_t find(self, uint32_t parent, uint32_t word) noexcept nogil:
        """The node of an n-gram, 0 if it is not in."""
        cdef uint64_t key = <uint64_t>parent << 32 | word
        cdef uint64_t slot = hash_integer(key) & (self.n_slots - 1)
        while self.slots[slot].node and self.slots[slot].key != key:
            slot = (slot + 1) & (self.n_slots - 1)
        return self.slots[slot].node

    cdef inline uint32_t place(self, uint32_t parent, uint32_t word, uint32_t order) noexcept nogil:
        """The node of an n-gram, which is put in."""
        cdef uint64_t key = <uint64_t>parent << 32 | word
        cdef uint64_t slot = hash_integer(key) & (self.n_slots - 1)
        cdef Node* node
        while self.slots[slot].node and self.slots[slot].key != key:
            slot = (slot + 1) & (self.n_slots - 1)
        if not self.slots[slot].node:
            self.size += 1
            self.slots[slot].key = key
            self.slots[slot].node = <uint32_t>self.size
            self.counts[self.size] = 0
            node = self.nodes + self.size
            node.parent = parent
            node.order = order
            node.times = 0
        return self.slots[slot].node

    cdef void gather(self, const uint32_t* words, const uint16_t* credits, int64_t stop, Places* places) noexcept nogil:
        """The positions of n-grams of this table. There is room for all."""
        cdef int64_t n = places.n
        cdef int64_t i
        cdef Place* items = places.items
        for i in range(stop):
            items[n].word = words + i
            items[n].node = 0
            if credits == NULL:
                n += self.is_own(words[i])
            else:
                items[n].left = credits[i]
                n += self.is_own(words[i]) & (credits[i] != 0)
        places.n = n

    cdef inline bint tells_more(self, uint32_t node, int order, uint32_t zero_node) noexcept nogil:
        """Has what begins with this n-gram any weight?"""
        return order == 0 or self.counts[node] != 1 or node == zero_node

    cdef int64_t insert(self, int order, uint32_t zero_node, int64_t start, int64_t* n_kept) noexcept nogil:
        """Put in what counts until half of the slots are taken; returns the first position left."""
        cdef Place* items = self.hypotheses.items
        cdef int64_t most = <int64_t>(self.n_slots >> 1)
        cdef int64_t kept = n_kept[0]
        cdef int64_t i
        cdef uint32_t node, left
        for i in range(start, self.hypotheses.n):
            if self.size == most:
                n_kept[0] = kept
                return i
            if not self.tells_more(items[i].node, order, zero_node):
                continue
            left = items[i].left
            node = self.place(items[i].node, items[i].word[order], order)
            self.nodes[node].times += left & 1
            items[kept].word = items[i].word
            items[kept].node = node
            items[kept].left = left >> 1
            kept += left > 1
        n_kept[0] = kept
        return self.hypotheses.n

    cdef void walk(self, int order, uint32_t zero_node) noexcept nogil:
        """Count what references have of what is in."""
        cdef Place* items = self.references.items
        cdef int64_t kept = 0
        cdef int64_t i
        cdef uint32_t node
        for i in range(self.references.n):
            if not self.tells_more(items[i].node, order, zero_node):
                continue
            node = self.find(items[i].node, items[i].word[order])
            self.counts[node] += 1
            items[kept].word = items[i].word
            items[kept].node = node
            kept += node != 0
        self.references.n = kept

    cdef void make_weights(self, int64_t n_words, uint32_t zero_node) noexcept nogil:
        """Children first: a weight takes the place of its count."""
        cdef int64_t i, before
        cdef uint32_t parent
        cdef double bits
        for i in range(self.size, 0, -1):
            parent = self.nodes[i].parent
            before = n_words if parent == 0 or parent == zero_node else self.counts[parent]
            if self.counts[i] == before:
                self.counts[i] = 0
                continue
            bits = negative_log(<double>self.counts[i] / <double>before) / LN2
            self.counts[i] = <int64_t>(bits * <double>(<uint64_t>1 << SCALE_BITS) + 0.5)

    cdef void collect(
        self, const uint32_t* words, const uint16_t* credits, int64_t start, int64_t stop, int64_t* sums
    ) noexcept nogil:
        cdef int64_t i, position
        cdef uint32_t node
        cdef uint16_t left
        cdef int64_t* sum
        for i in range(start, stop):
            if not self.is_own(words[i]):
                continue
            position = i
            left = credits[i]
            node = 0
            sum = sums
            while left:
                node = self.find(node, words[position])
                if node == 0:       # it and all that it begins have no weight
                    break
                if left & 1:
                    sum[0] += self.counts[node] >> 32
                    sum[1] += self.counts[node] & 0xFFFFFFFFu
                position += 1
                sum += 2
                left >>= 1

    cdef void collect_all(self, int64_t* sums) noexcept nogil:
        cdef int64_t i
        cdef Node* node
        for i in range(1, self.size + 1):
            node = self.nodes + i
            sums[2 * node.order] += node.times * (self.counts[i] >> 32)
            sums[2 * node.order + 1] += node.times * (self.counts[i] & 0xFFFFFFFFu)

    def add(self, const uint32_t[::1] words, const uint16_t[::1] earned):
        """Words of hypotheses and their credits, which have to stay until all orders are counted."""
        reserve(&self.hypotheses, words.shape[0])
        if words.shape[0]:
            with nogil:
                self.gather(&words[0], &earned[0], words.shape[0], &self.hypotheses)

    def add_references(self, const uint32_t[::1] words):
        """Words of references, each with END behind it, which have to stay until all orders are counted."""
        reserve(&self.references, words.shape[0])
        if words.shape[0]:
            with nogil:
                self.gather(&words[0], NULL, words.shape[0], &self.references)

    def count_order(self, int order, uint32_t zero):
        """Put in the n-grams of `order` + 1 words that count, and count them in references; from 0 on, one by one.

        What follows the word `zero` is weighed as if nothing stood before it; END is no word.
        """
        cdef int64_t start = 0
        cdef int64_t n_kept = 0
        cdef uint32_t zero_node = self.find(0, zero) if order == 1 and zero != END else 0
        while True:
            with nogil:
                start = self.insert(order, zero_node, start, &n_kept)
            if start == self.hypotheses.n:
                break
            self.widen()
        self.hypotheses.n = n_kept
        with nogil:
            self.walk(order, zero_node)

    def weigh(self, int64_t n_words, uint32_t zero):
        """Weights of n-grams once they are counted; n_words are all words of references."""
        with nogil:
            self.make_weights(n_words, self.find(0, zero) if zero != END else 0)

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

    def sum_all_weights(self, int64_t[::1] sums):
        """As sum_weights, of all that was added."""
        with nogil:
            self.collect_all(&sums[0])


NO_WORD = END
