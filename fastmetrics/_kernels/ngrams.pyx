"""N-grams of words, clipped by their references: what BLEU counts.

The n-grams of a segment's references are the nodes of a tree: an n-gram is the pair (node of its first n - 1 words,
last word), looked up in one open-addressing table whose keys are these pairs, exact and without a hash taken for an
identity. A node keeps how often its n-gram may still match: the greatest count in any one reference. A hypothesis walks
down the tree from each of its tokens, ends where a reference does not go on, and takes one off at every node that has
something left: min(count in hypothesis, count in references) in the end, in any order.

A node is below 2**32 and so is a word's number + 1, so a key is one uint64 and 0 is no key. The table has twice as many
slots as a segment's references have n-grams; clearing it costs a few bytes per token.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

cdef enum:
    LEAST_SLOTS = 64

cdef int64_t MOST_NODES = 0xFFFFFFFF


cdef struct Slot:
    uint64_t key
    int64_t node


cdef struct Node:
    int64_t left           # how often its n-gram may still match
    int64_t count          # in the reference under way
    int64_t reference      # the text that `count` is of


cdef struct Tree:
    Slot* slots
    uint64_t mask
    Node* nodes
    int64_t n_nodes


cdef inline uint64_t slot_of(uint64_t key, uint64_t mask) noexcept nogil:
    key *= <uint64_t>0x9E3779B97F4A7C15
    return (key ^ (key >> 32)) & mask


cdef inline int64_t enter(Tree* tree, int64_t node, int64_t word) noexcept nogil:
    """The node below `node` for a word; made where it is not there."""
    cdef uint64_t key = (<uint64_t>node << 32) | <uint64_t>(word + 1)
    cdef uint64_t slot = slot_of(key, tree.mask)
    while tree.slots[slot].key != key:
        if tree.slots[slot].key == 0:
            tree.n_nodes += 1
            tree.slots[slot].key = key
            tree.slots[slot].node = tree.n_nodes
            tree.nodes[tree.n_nodes].left = 0
            tree.nodes[tree.n_nodes].reference = -1
            return tree.n_nodes
        slot = (slot + 1) & tree.mask
    return tree.slots[slot].node


cdef inline int64_t find(const Tree* tree, int64_t node, int64_t word) noexcept nogil:
    """The node below `node` for a word, or 0."""
    cdef uint64_t key = (<uint64_t>node << 32) | <uint64_t>(word + 1)
    cdef uint64_t slot = slot_of(key, tree.mask)
    while tree.slots[slot].key != key:
        if tree.slots[slot].key == 0:
            return 0
        slot = (slot + 1) & tree.mask
    return tree.slots[slot].node


cdef void plant(Tree* tree, const int64_t* ids, int64_t n, int64_t max_order) noexcept nogil:
    """Add the n-grams of an only reference."""
    cdef int64_t first, last, node
    for first in range(n):
        node = 0
        for last in range(first, min(n, first + max_order)):
            node = enter(tree, node, ids[last])
            tree.nodes[node].left += 1


cdef void plant_one_of(Tree* tree, const int64_t* ids, int64_t n, int64_t max_order, int64_t text) noexcept nogil:
    """Add the n-grams of one reference of several: what may match is the greatest count in any."""
    cdef int64_t first, last, node
    cdef Node* own
    for first in range(n):
        node = 0
        for last in range(first, min(n, first + max_order)):
            node = enter(tree, node, ids[last])
            own = &tree.nodes[node]
            if own.reference != text:
                own.reference = text
                own.count = 0
            own.count += 1
            if own.count > own.left:
                own.left = own.count


cdef void harvest(Tree* tree, const int64_t* ids, int64_t n, int64_t max_order, int64_t* correct) noexcept nogil:
    """Count the n-grams of a hypothesis that match, by order."""
    cdef int64_t first, last, node
    for first in range(n):
        node = 0
        for last in range(first, min(n, first + max_order)):
            node = find(tree, node, ids[last])
            if node == 0:
                break
            if tree.nodes[node].left > 0:
                tree.nodes[node].left -= 1
                correct[last - first] += 1


cdef inline int64_t closest(const int64_t* text_tokens, int64_t first, int64_t stop, int64_t length) noexcept nogil:
    """The length of the reference that is closest to `length`; of two the shorter one; -1 without references."""
    cdef int64_t text, own, difference, best = -1, best_difference = -1
    for text in range(first, stop):
        own = text_tokens[text + 1] - text_tokens[text]
        difference = own - length if own > length else length - own
        if best_difference == -1 or difference < best_difference or (difference == best_difference and own < best):
            best = own
            best_difference = difference
    return best


cdef inline int64_t slots_for(int64_t n_nodes) noexcept nogil:
    cdef int64_t n_slots = LEAST_SLOTS
    while n_slots < 2 * n_nodes:
        n_slots *= 2
    return n_slots


cdef class NgramCounter:
    """One thread's table. Not for two threads at once."""

    cdef Tree tree
    cdef int64_t slot_room
    cdef int64_t node_room

    def __dealloc__(self):
        free(self.tree.slots)
        free(self.tree.nodes)

    cdef int reserve(self, int64_t n_nodes) except -1:
        cdef int64_t n_slots
        if n_nodes >= MOST_NODES:
            raise OverflowError("a segment's references may have fewer than 2**32 n-grams")
        n_slots = slots_for(n_nodes)
        if n_slots > self.slot_room:
            self.tree.slots = <Slot*>resized(self.tree.slots, n_slots * sizeof(Slot))
            self.slot_room = n_slots
        if n_nodes + 1 > self.node_room:
            self.tree.nodes = <Node*>resized(self.tree.nodes, (n_nodes + 1) * sizeof(Node))
            self.node_room = n_nodes + 1
        return 0

    cdef void segment(
        self, const int64_t* ids, const int64_t* text_tokens, int64_t first, int64_t stop, int64_t max_order,
        int64_t* out
    ) noexcept nogil:
        cdef int64_t text, order, n_slots
        cdef int64_t length = text_tokens[first + 1] - text_tokens[first]
        n_slots = slots_for((text_tokens[stop] - text_tokens[first + 1]) * max_order)
        self.tree.mask = <uint64_t>(n_slots - 1)
        self.tree.n_nodes = 0
        memset(self.tree.slots, 0, n_slots * sizeof(Slot))
        if stop == first + 2:
            text = first + 1
            plant(&self.tree, ids + text_tokens[text], text_tokens[stop] - text_tokens[text], max_order)
        else:
            for text in range(first + 1, stop):
                plant_one_of(
                    &self.tree, ids + text_tokens[text], text_tokens[text + 1] - text_tokens[text], max_order, text
                )
        out[0] = length
        out[1] = closest(text_tokens, first + 1, stop, length)
        for order in range(max_order):
            out[2 + order] = 0
            out[2 + max_order + order] = max(0, length - order)
        harvest(&self.tree, ids + text_tokens[first], length, max_order, out + 2)

    cdef void segments_of(
        self, const int64_t* ids, const int64_t* text_tokens, const int64_t* segments, int64_t n, int64_t max_order,
        int64_t* out
    ) noexcept nogil:
        cdef int64_t number
        for number in range(n):
            self.segment(
                ids, text_tokens, segments[number], segments[number + 1], max_order, out + number * (2 + 2 * max_order)
            )

    def count(
        self, const int64_t[::1] ids, const int64_t[::1] text_tokens, const int64_t[::1] segments, int64_t max_order,
        int64_t[:, ::1] out,
    ):
        """For every segment: tokens of the hypothesis, tokens of the closest reference, matches and n-grams by order.

        ids : numbers of the tokens of all texts, each in 0..2**32-2
        text_tokens : text i has the tokens text_tokens[i]..text_tokens[i + 1]
        segments : segment s has the texts segments[s]..segments[s + 1], the first of them the hypothesis
        out : (n_segments, 2 + 2 * max_order)
        """
        cdef int64_t number, n = segments.shape[0] - 1, most = 0, empty = 0
        if n <= 0:
            return
        for number in range(n):
            most = max(most, text_tokens[segments[number + 1]] - text_tokens[segments[number] + 1])
        self.reserve(most * max_order)
        with nogil:
            self.segments_of(
                &ids[0] if ids.shape[0] else &empty, &text_tokens[0], &segments[0], n, max_order, &out[0, 0]
            )


cdef void* resized(void* memory, size_t n_bytes) except NULL:
    memory = realloc(memory, n_bytes)
    if memory == NULL:
        raise MemoryError
    return memory
