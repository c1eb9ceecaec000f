"""N-grams of words, clipped by their references: what BLEU counts.

The n-grams of a segment's references are the nodes of a tree: an n-gram is the pair (node of its first n - 1 words,
last word), looked up in one open-addressing table whose keys are these pairs, exact and without a hash taken for an
identity. A node is its place in the table, plus one: nothing else is kept of it than how often its n-gram may still
match, which is the greatest count in any one reference. A hypothesis walks down the tree from each of its tokens,
ends where no reference goes on, and takes one off at every node that has something left: in the end that is the lesser
of the two counts, in any order.

All walks go on together, order by order: the look-ups of one order do not wait for each other.

A key is one uint64, the node above the word's number + 1, and 0 is none: both fit 32 bits, for word numbers are below
2**32 - 1, and a table has at most 2**31 slots. It has at least twice as many, and fewer than four times as many, as a
segment's references have n-grams, of which there may be 2**30; clearing it costs sixteen bytes a slot.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memset

from fastmetrics._kernels.memory cimport resized
from fastmetrics._kernels.pairtable cimport slot_of, slots_for

cdef int64_t MOST_NODES = 1 << 30


cdef struct Slot:
    uint64_t key
    int64_t left           # how often its n-gram may still match


cdef struct Use:
    int64_t count          # of an n-gram in the reference under way
    int64_t reference      # the text that `count` is of


cdef inline uint64_t key_of(int64_t node, int64_t word) noexcept nogil:
    return (<uint64_t>node << 32) | <uint64_t>(word + 1)


cdef inline uint64_t enter(Slot* slots, uint64_t mask, uint64_t key) noexcept nogil:
    """The slot of a key; made where it is not there."""
    cdef uint64_t slot = slot_of(key, mask)
    while slots[slot].key != key:
        if slots[slot].key == 0:
            slots[slot].key = key
            return slot
        slot = (slot + 1) & mask
    return slot


cdef void plant(
    Slot* slots, uint64_t mask, const int64_t* ids, int64_t n, int64_t max_order, int64_t* nodes
) noexcept nogil:
    """Add the n-grams of an only reference. nodes: room for n."""
    cdef int64_t order, first
    cdef uint64_t slot
    for first in range(n):
        nodes[first] = 0
    for order in range(min(n, max_order)):
        for first in range(n - order):
            slot = enter(slots, mask, key_of(nodes[first], ids[first + order]))
            slots[slot].left += 1
            nodes[first] = <int64_t>slot + 1


cdef void plant_one_of(
    Slot* slots, Use* uses, uint64_t mask, const int64_t* ids, int64_t n, int64_t max_order, int64_t text,
    int64_t* nodes
) noexcept nogil:
    """Add the n-grams of one reference of several: what may match is the greatest count in any."""
    cdef int64_t order, first
    cdef uint64_t slot
    for first in range(n):
        nodes[first] = 0
    for order in range(min(n, max_order)):
        for first in range(n - order):
            slot = enter(slots, mask, key_of(nodes[first], ids[first + order]))
            # A slot just made has nothing left: whatever its use said is of another segment.
            if slots[slot].left == 0 or uses[slot].reference != text:
                uses[slot].reference = text
                uses[slot].count = 0
            uses[slot].count += 1
            if uses[slot].count > slots[slot].left:
                slots[slot].left = uses[slot].count
            nodes[first] = <int64_t>slot + 1


cdef void harvest(
    Slot* slots, uint64_t mask, const int64_t* ids, int64_t n, int64_t max_order, int64_t* nodes, int64_t* places,
    int64_t* correct
) noexcept nogil:
    """Count the n-grams of a hypothesis that match, by order. nodes, places: room for n.

    Only the places go on whose n-gram so far is that of a reference.
    """
    cdef int64_t order, index, kept, n_places = n, matches
    cdef uint64_t key, slot
    for index in range(n):
        nodes[index] = 0
        places[index] = index
    for order in range(min(n, max_order)):
        kept = 0
        matches = 0
        for index in range(n_places):
            if places[index] + order >= n:
                break
            key = key_of(nodes[index], ids[places[index] + order])
            slot = slot_of(key, mask)
            while slots[slot].key != key and slots[slot].key != 0:
                slot = (slot + 1) & mask
            if slots[slot].key == 0:
                continue
            if slots[slot].left > 0:
                slots[slot].left -= 1
                matches += 1
            nodes[kept] = <int64_t>slot + 1
            places[kept] = places[index]
            kept += 1
        correct[order] = matches
        n_places = kept


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


cdef class NgramCounter:
    """One thread's table. Not for two threads at once."""

    cdef Slot* slots
    cdef Use* uses             # of slots, where a segment has several references
    cdef int64_t slot_room
    cdef int64_t* places       # two numbers for every token of the longest text
    cdef int64_t token_room

    def __dealloc__(self):
        free(self.slots)
        free(self.uses)
        free(self.places)

    cdef int reserve(self, int64_t n_nodes, int64_t n_tokens) except -1:
        cdef int64_t n_slots
        if n_nodes > MOST_NODES:
            raise OverflowError("the references of a segment may have at most 2**30 n-grams: lower max_order")
        n_slots = slots_for(n_nodes)
        if n_slots > self.slot_room:
            self.slots = <Slot*>resized(self.slots, n_slots * sizeof(Slot))
            self.uses = <Use*>resized(self.uses, n_slots * sizeof(Use))
            memset(self.uses, 0, n_slots * sizeof(Use))
            self.slot_room = n_slots
        if n_tokens > self.token_room:
            self.places = <int64_t*>resized(self.places, 2 * n_tokens * sizeof(int64_t))
            self.token_room = n_tokens
        return 0

    cdef void segment(
        self, const int64_t* ids, const int64_t* text_tokens, int64_t first, int64_t stop, int64_t max_order,
        int64_t* out
    ) noexcept nogil:
        cdef int64_t text, order, n_slots, length = text_tokens[first + 1] - text_tokens[first]
        cdef uint64_t mask
        n_slots = slots_for((text_tokens[stop] - text_tokens[first + 1]) * max_order)
        mask = <uint64_t>(n_slots - 1)
        memset(self.slots, 0, n_slots * sizeof(Slot))
        for text in range(first + 1, stop):
            if stop == first + 2:
                plant(
                    self.slots, mask, ids + text_tokens[text], text_tokens[text + 1] - text_tokens[text], max_order,
                    self.places
                )
            else:
                plant_one_of(
                    self.slots, self.uses, mask, ids + text_tokens[text], text_tokens[text + 1] - text_tokens[text],
                    max_order, text, self.places
                )
        out[0] = length
        out[1] = closest(text_tokens, first + 1, stop, length)
        for order in range(max_order):
            out[2 + order] = 0
            out[2 + max_order + order] = max(0, length - order)
        harvest(
            self.slots, mask, ids + text_tokens[first], length, max_order, self.places, self.places + self.token_room,
            out + 2
        )

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
        text_tokens : text i has the tokens text_tokens[i]..text_tokens[i + 1]; from 0
        segments : segment s has the texts segments[s]..segments[s + 1], the first of them the hypothesis
        max_order : 1..255
        out : (n_segments, 2 + 2 * max_order); the closest reference of a segment without any has length -1
        """
        cdef int64_t number, n = segments.shape[0] - 1, most = 0, longest = 0, empty = 0
        if n <= 0:
            return
        for number in range(n):
            most = max(most, text_tokens[segments[number + 1]] - text_tokens[segments[number] + 1])
        for number in range(segments[n]):
            longest = max(longest, text_tokens[number + 1] - text_tokens[number])
        self.reserve(most * max_order, longest)
        with nogil:
            self.segments_of(
                &ids[0] if ids.shape[0] else &empty, &text_tokens[0], &segments[0], n, max_order, &out[0, 0]
            )
