"""NIST's n-grams: which n-grams of a hypothesis match, and their information weights.

Matches. `match_segments` matches the n-grams of single segments. Bit n - 1 of matched_orders[i] is set if the n-gram of
n words at position i matches, that is, if it is within its greatest count in one reference. The result takes two bytes
per word of a hypothesis.

Weights. The weights need counts over all references, but only of n-grams that a hypothesis matched. If an n-gram is
matched, its first n - 1 words are, too. So `NgramTable` stores the matched n-grams as a trie. A node is an n-gram, and
an open-addressing table finds it by the exact 64-bit key (node of its first n - 1 words, last word). Order by order,
the matched n-grams are added and then counted in the references. If the references have an n-gram only once, they have
any n-gram that begins with it at most once. Those have weight 0 and are not looked up. A table has one partition of the
n-grams, by the hash of their first word. So the tables of several threads are disjoint, and the number of partitions
bounds the memory.

Bounds. A weight is log2(p / c) for integers p and c. It is stored as an integer multiple of 2**-57 and added as its
upper and lower 32 bits. So sums are integers and do not depend on the order of addition. Lower halves are below 2**32
and upper halves below 2**31 (6 bits before the point). So int64 holds the sums of fewer than 2**31 matches of an order,
whose words and matched orders would take 12 GB.
"""

from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

from fastmetrics._kernels.numeric.length_checks cimport need_below, need_length, need_offsets
from fastmetrics._kernels.numeric.table_hash cimport table_hash, use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS
from fastmetrics._kernels.text.ngram_matcher cimport NgramMatcher, longest_text
from fastmetrics._kernels.text.shared_ngrams cimport (
    FM_ORDERS, MAX_MASKED_LENGTH, Matcher, match_long, match_short,
)

use_table_seeds(_SEEDS)

cdef extern from "numeric/vector_math.h":
    double negative_log "fm_negative_log"(double x) noexcept nogil

cdef enum:
    MAX_ORDERS = 16
    MIN_SLOTS = 64
    SCALE_BITS = 57             # leaves 6 bits for the integer part of a weight

cdef uint32_t END_OF_REFERENCE = 0xFFFFFFFF  # follows every reference; no word has this id
cdef double LN2 = 0.6931471805599453

N_ORDERS = MAX_ORDERS
WEIGHT_BITS = SCALE_BITS
REFERENCE_UNIT = 720720         # divisible by 1 to 16: the mean length of up to 16 references is a multiple of 1 / this


cdef void match_text(
    const Matcher* matcher, const uint32_t* hypothesis, int64_t n, const uint32_t* reference, int64_t m, int n_orders,
    int64_t* matches, uint16_t* matched_orders
) noexcept nogil:
    if n == 0 or m == 0:
        return
    if m <= MAX_MASKED_LENGTH and n_orders <= FM_ORDERS:
        match_short(matcher, hypothesis, n, reference, m, matches, matched_orders)
    else:
        match_long(matcher, hypothesis, n, reference, m, n_orders, matches, matched_orders)


cdef void match_segment(
    const Matcher* matcher, const int64_t* ids, const int64_t* text_tokens, int64_t first, int64_t last, int n_orders,
    uint32_t* hypothesis, uint32_t* references, uint16_t* matched_orders, int64_t* counts
) noexcept nogil:
    """Match one segment. counts: hypothesis words, mean words of a reference, then matches and n-grams by order."""
    cdef int64_t matches[MAX_ORDERS]
    cdef int64_t n = text_tokens[first + 1] - text_tokens[first]
    cdef int64_t m, i, text
    cdef int64_t words = 0
    cdef int order
    cdef uint16_t order_mask = <uint16_t>((1 << n_orders) - 1)
    for i in range(n):
        hypothesis[i] = <uint32_t>ids[text_tokens[first] + i]
        matched_orders[i] = 0
    for text in range(first + 1, last):
        m = text_tokens[text + 1] - text_tokens[text]
        for i in range(m):
            references[i] = <uint32_t>ids[text_tokens[text] + i]
        references[m] = END_OF_REFERENCE
        match_text(matcher, hypothesis, n, references, m, n_orders, matches, matched_orders)
        references += m + 1
        words += m
    counts[0] = n
    counts[1] = words * (<int64_t>720720) // (last - first - 1)
    for order in range(n_orders):
        counts[2 + order] = 0
        counts[2 + n_orders + order] = n - order if n > order else 0
    for i in range(n):
        matched_orders[i] &= order_mask
        for order in range(n_orders):
            counts[2 + order] += (matched_orders[i] >> order) & 1


cdef Py_ssize_t count_hypothesis_words(
    const int64_t[::1] text_tokens, const int64_t[::1] segments
) noexcept nogil:
    """The words of all hypotheses; -1 if a segment has no reference."""
    cdef Py_ssize_t s
    cdef Py_ssize_t n_words = 0
    for s in range(segments.shape[0] - 1):
        if segments[s + 1] - segments[s] < 2:
            return -1
        n_words += text_tokens[segments[s] + 1] - text_tokens[segments[s]]
    return n_words


def match_segments(
    const int64_t[::1] ids, const int64_t[::1] text_tokens, const int64_t[::1] segments, int n_orders,
    NgramMatcher matcher not None, uint32_t[::1] hypotheses, int64_t[::1] starts, uint32_t[::1] references,
    uint16_t[::1] matched_orders, int64_t[:, ::1] counts
):
    """Separate the hypotheses and references of a block, match the n-grams of every segment, and count them.

    Every segment has a reference, and ids are below END_OF_REFERENCE. n_orders is at most N_ORDERS.
    hypotheses, matched_orders : the id and the matched orders of every hypothesis word; segment s begins at starts[s]
    references : the ids of all references, with END_OF_REFERENCE after each
    counts : counts[s] has the words of the hypothesis, REFERENCE_UNIT times the mean words of a reference, then
        n_orders matches and n_orders n-grams. The mean is rounded down if it is not an integer, which happens only with
        more than 16 references.
    """
    cdef Py_ssize_t s
    cdef Py_ssize_t n_segments = segments.shape[0] - 1
    cdef Py_ssize_t n_texts = text_tokens.shape[0] - 1
    cdef int64_t n_words = 0
    cdef int64_t n_reference_words = 0
    cdef int64_t text
    cdef int64_t greatest = 0
    cdef Py_ssize_t i, n
    cdef const int64_t* words = &ids[0] if ids.shape[0] else NULL
    # An empty array has no first element. Its stand-in is never read or written.
    cdef uint32_t no_word = 0
    cdef uint16_t no_orders = 0
    cdef uint32_t* hypothesis_words = &hypotheses[0] if hypotheses.shape[0] else &no_word
    cdef uint32_t* reference_words = &references[0] if references.shape[0] else &no_word
    cdef uint16_t* orders = &matched_orders[0] if matched_orders.shape[0] else &no_orders
    if not 1 <= n_orders <= MAX_ORDERS:
        raise ValueError(f"{n_orders} orders of n-grams; at least 1 and at most {MAX_ORDERS}")
    need_length(b"segments", segments.shape[0], 1)
    need_length(b"text_tokens", text_tokens.shape[0], 1)
    need_offsets(b"segments", &segments[0], n_segments + 1, n_texts)
    need_offsets(b"text_tokens", &text_tokens[0], n_texts + 1, ids.shape[0])
    if ids.shape[0]:
        need_below(b"ids", words, ids.shape[0], END_OF_REFERENCE)
    n = count_hypothesis_words(text_tokens, segments)
    if n < 0:
        raise ValueError("a segment has no reference")
    need_length(b"hypotheses", min(hypotheses.shape[0], matched_orders.shape[0]), n)
    need_length(
        b"references", references.shape[0],
        text_tokens[segments[n_segments]] - text_tokens[segments[0]] - n
        + segments[n_segments] - segments[0] - n_segments)
    need_length(b"starts", starts.shape[0], n_segments + 1)
    need_length(b"counts", counts.shape[0], n_segments)
    need_length(b"counts of a segment", counts.shape[1], 2 + 2 * n_orders)
    with nogil:
        for i in range(ids.shape[0]):
            greatest = max(greatest, words[i])
    matcher.prepare(longest_text(text_tokens, n_texts), greatest, n_orders)
    with nogil:
        for s in range(n_segments):
            starts[s] = n_words
            match_segment(
                &matcher.matcher, words, &text_tokens[0], segments[s], segments[s + 1], n_orders,
                hypothesis_words + n_words, reference_words + n_reference_words, orders + n_words, &counts[s, 0]
            )
            text = segments[s]
            n_words += text_tokens[text + 1] - text_tokens[text]
            n_reference_words += text_tokens[segments[s + 1]] - text_tokens[text + 1] + segments[s + 1] - text - 1
        starts[n_segments] = n_words


cdef struct Slot:
    uint64_t key                # node of the first n - 1 words << 32 | last word
    uint32_t node               # 0 is an empty slot


cdef struct Node:
    uint32_t parent             # 0 is the root; the number of a parent is below those of its children
    uint32_t order
    int64_t n_matches           # number of matches in all hypotheses


cdef struct Occurrence:
    const uint32_t* word        # the first word of the n-gram
    uint32_t node               # node of the n-gram that begins there, so far
    uint32_t orders_left        # matched orders above the current one; bit 0 is the next


cdef struct Occurrences:
    Occurrence* items
    int64_t n
    int64_t capacity


cdef int reserve(Occurrences* occurrences, int64_t n) except -1:
    """Reserve memory for n more occurrences."""
    cdef void* memory
    if occurrences.n + n > occurrences.capacity:
        memory = realloc(occurrences.items, (occurrences.n + n) * sizeof(Occurrence))
        if memory == NULL:
            raise MemoryError
        occurrences.items = <Occurrence*>memory
        occurrences.capacity = occurrences.n + n
    return 0


cdef class NgramTable:
    """The n-grams of one partition: those whose first word has a hash of `bits` bits equal to the partition number.

    The calls for a partition are begin(partition), add(...), add_references(...), count_order(...) for every order,
    weigh(...), and then the sums. The next partition reuses the memory. All positions advance together, order by order,
    so their look-ups are independent and memory latencies overlap.
    """

    cdef Slot* slots
    cdef uint64_t n_slots
    cdef Node* nodes
    cdef int64_t* counts        # count of each node in the references; later its weight
    cdef Occurrences hypotheses
    cdef Occurrences references
    cdef readonly int64_t size
    cdef int n_orders
    cdef uint32_t partition
    cdef int bits

    def __cinit__(self, int bits, int n_orders, int64_t n_words):
        """n_words : the approximate number of hypothesis words in a partition"""
        self.bits = bits
        self.n_orders = n_orders
        self.n_slots = MIN_SLOTS
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

    cpdef begin(self, uint32_t partition):
        """Remove all n-grams and start a partition."""
        self.partition = partition
        self.size = 0
        self.hypotheses.n = 0
        self.references.n = 0
        memset(self.slots, 0, self.n_slots * sizeof(Slot))
        memset(self.nodes, 0, sizeof(Node))
        self.counts[0] = 0

    cdef int grow(self) except -1:
        """Double the number of slots, with nodes for half of them."""
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
        cdef uint64_t old_slot, slot
        for old_slot in range(self.n_slots):
            if self.slots[old_slot].node:
                slot = table_hash(self.slots[old_slot].key) & (n_slots - 1)
                while slots[slot].node:
                    slot = (slot + 1) & (n_slots - 1)
                slots[slot] = self.slots[old_slot]

    cdef inline bint is_in_partition(self, uint32_t word) noexcept nogil:
        return (<uint64_t>(word * <uint32_t>0x9E3779B1)) >> (32 - self.bits) == self.partition

    cdef inline uint32_t find(self, uint32_t parent, uint32_t word) noexcept nogil:
        """Return the node of an n-gram, or 0 if the table does not have it."""
        cdef uint64_t key = <uint64_t>parent << 32 | word
        cdef uint64_t slot = table_hash(key) & (self.n_slots - 1)
        while self.slots[slot].node and self.slots[slot].key != key:
            slot = (slot + 1) & (self.n_slots - 1)
        return self.slots[slot].node

    cdef inline uint32_t find_or_add(self, uint32_t parent, uint32_t word, uint32_t order) noexcept nogil:
        """Return the node of an n-gram. A new one is added."""
        cdef uint64_t key = <uint64_t>parent << 32 | word
        cdef uint64_t slot = table_hash(key) & (self.n_slots - 1)
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
            node.n_matches = 0
        return self.slots[slot].node

    cdef void collect_occurrences(
        self, const uint32_t* words, const uint16_t* matched_orders, int64_t stop, Occurrences* occurrences
    ) noexcept nogil:
        """Collect the positions whose n-grams belong to this partition. `occurrences` has room for all."""
        cdef int64_t n = occurrences.n
        cdef int64_t i
        cdef Occurrence* items = occurrences.items
        for i in range(stop):
            items[n].word = words + i
            items[n].node = 0
            if matched_orders == NULL:
                n += self.is_in_partition(words[i])
            else:
                items[n].orders_left = matched_orders[i]
                n += self.is_in_partition(words[i]) & (matched_orders[i] != 0)
        occurrences.n = n

    cdef inline bint can_have_weight(self, uint32_t node, int order, uint32_t zero_node) noexcept nogil:
        """Return whether an n-gram that begins with this one can have a weight."""
        return order == 0 or self.counts[node] != 1 or node == zero_node

    cdef int64_t add_ngrams(self, int order, uint32_t zero_node, int64_t start, int64_t* n_active_total) noexcept nogil:
        """Add matched n-grams until half of the slots are used. Return the first position that was not added."""
        cdef Occurrence* items = self.hypotheses.items
        cdef int64_t max_nodes = <int64_t>(self.n_slots >> 1)
        cdef int64_t n_active = n_active_total[0]
        cdef int64_t i
        cdef uint32_t node, orders_left
        for i in range(start, self.hypotheses.n):
            if self.size == max_nodes:
                n_active_total[0] = n_active
                return i
            if not self.can_have_weight(items[i].node, order, zero_node):
                continue
            orders_left = items[i].orders_left
            node = self.find_or_add(items[i].node, items[i].word[order], order)
            self.nodes[node].n_matches += orders_left & 1
            items[n_active].word = items[i].word
            items[n_active].node = node
            items[n_active].orders_left = orders_left >> 1
            n_active += orders_left > 1
        n_active_total[0] = n_active
        return self.hypotheses.n

    cdef void count_references(self, int order, uint32_t zero_node) noexcept nogil:
        """Count the n-grams of the table in the references."""
        cdef Occurrence* items = self.references.items
        cdef int64_t n_active = 0
        cdef int64_t i
        cdef uint32_t node
        for i in range(self.references.n):
            if not self.can_have_weight(items[i].node, order, zero_node):
                continue
            node = self.find(items[i].node, items[i].word[order])
            self.counts[node] += 1
            items[n_active].word = items[i].word
            items[n_active].node = node
            n_active += node != 0
        self.references.n = n_active

    cdef void compute_weights(self, int64_t n_words, uint32_t zero_node) noexcept nogil:
        """Replace the counts by weights, children before their parents."""
        cdef int64_t i, parent_count
        cdef uint32_t parent
        cdef double bits
        for i in range(self.size, 0, -1):
            parent = self.nodes[i].parent
            parent_count = n_words if parent == 0 or parent == zero_node else self.counts[parent]
            if self.counts[i] == parent_count:
                self.counts[i] = 0
                continue
            bits = negative_log(<double>self.counts[i] / <double>parent_count) / LN2
            self.counts[i] = <int64_t>(bits * <double>(<uint64_t>1 << SCALE_BITS) + 0.5)

    cdef void add_segment_weights(
        self, const uint32_t* words, const uint16_t* matched_orders, int64_t start, int64_t stop, int64_t* sums
    ) noexcept nogil:
        cdef int64_t i, position
        cdef uint32_t node
        cdef uint16_t orders_left
        cdef int64_t* sum
        for i in range(start, stop):
            if not self.is_in_partition(words[i]):
                continue
            position = i
            orders_left = matched_orders[i]
            node = 0
            sum = sums
            while orders_left:
                node = self.find(node, words[position])
                if node == 0:       # it has no weight, nor has any n-gram that begins with it
                    break
                if orders_left & 1:
                    sum[0] += self.counts[node] >> 32
                    sum[1] += self.counts[node] & 0xFFFFFFFFu
                position += 1
                sum += 2
                orders_left >>= 1

    cdef void add_all_weights(self, int64_t* sums) noexcept nogil:
        cdef int64_t i
        cdef Node* node
        for i in range(1, self.size + 1):
            node = self.nodes + i
            sums[2 * node.order] += node.n_matches * (self.counts[i] >> 32)
            sums[2 * node.order + 1] += node.n_matches * (self.counts[i] & 0xFFFFFFFFu)

    def add(self, const uint32_t[::1] words, const uint16_t[::1] matched_orders):
        """Add words of hypotheses with their matched orders. Keep the arrays until all orders are counted."""
        need_length(b"matched_orders", matched_orders.shape[0], words.shape[0])
        reserve(&self.hypotheses, words.shape[0])
        if words.shape[0]:
            with nogil:
                self.collect_occurrences(&words[0], &matched_orders[0], words.shape[0], &self.hypotheses)

    def add_references(self, const uint32_t[::1] words):
        """Add references, each followed by END_OF_REFERENCE. Keep the array until all orders are counted."""
        reserve(&self.references, words.shape[0])
        if words.shape[0]:
            with nogil:
                self.collect_occurrences(&words[0], NULL, words.shape[0], &self.references)

    def count_order(self, int order, uint32_t zero):
        """Add the matched n-grams of `order` + 1 words and count them in the references. Call it for order 0, 1, ...

        zero : id of the word "0", or END_OF_REFERENCE. A word after it is weighted as if nothing preceded it.
        """
        cdef int64_t start = 0
        cdef int64_t n_active_total = 0
        cdef uint32_t zero_node = self.find(0, zero) if order == 1 and zero != END_OF_REFERENCE else 0
        while True:
            with nogil:
                start = self.add_ngrams(order, zero_node, start, &n_active_total)
            if start == self.hypotheses.n:
                break
            self.grow()
        self.hypotheses.n = n_active_total
        with nogil:
            self.count_references(order, zero_node)

    def weigh(self, int64_t n_words, uint32_t zero):
        """Compute the weights from the counts. n_words is the number of words of all references."""
        with nogil:
            self.compute_weights(n_words, self.find(0, zero) if zero != END_OF_REFERENCE else 0)

    def sum_weights(
        self, const uint32_t[::1] words, const uint16_t[::1] matched_orders, const int64_t[::1] starts,
        int64_t[:, ::1] sums
    ):
        """Add the weights of every segment, by order.

        Segment s has words[starts[s]:starts[s + 1]]. For n-grams of n + 1 words, the upper 32 bits of the weights are
        added to sums[s, 2 n] and the lower 32 bits to sums[s, 2 n + 1].
        """
        cdef Py_ssize_t s
        cdef Py_ssize_t n = starts.shape[0] - 1
        need_length(b"matched_orders", matched_orders.shape[0], words.shape[0])
        need_length(b"sums", sums.shape[0], n)
        need_length(b"sums of a segment", sums.shape[1], 2 * self.n_orders)
        if words.shape[0] and n > 0:
            need_offsets(b"starts", &starts[0], n + 1, words.shape[0])
            with nogil:
                for s in range(n):
                    self.add_segment_weights(&words[0], &matched_orders[0], starts[s], starts[s + 1], &sums[s, 0])

    def sum_all_weights(self, int64_t[::1] sums):
        """Add the weights of all hypotheses that were added. The layout of a row is that of sum_weights."""
        need_length(b"sums", sums.shape[0], 2 * self.n_orders)
        with nogil:
            self.add_all_weights(&sums[0])


NO_WORD = END_OF_REFERENCE
