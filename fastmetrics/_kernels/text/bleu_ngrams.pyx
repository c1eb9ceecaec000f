"""BLEU's counts: the n-gram matches of a hypothesis, clipped by its references.

The n-grams of a segment's references form a trie. An n-gram is the pair (node of its first n - 1 words, id of its last
word). One open-addressing table has these pairs as exact keys. The node of an n-gram is its slot plus one. The slot
stores how often the n-gram can still match; at first this is its greatest count in any one reference. For every
position of the hypothesis, the n-grams that begin there are looked up by ascending length, until one is not in the
trie. A match takes one from the count of its slot. So an n-gram has min(count in the hypothesis, count in the
references) matches, whatever the order of the positions.

All positions advance together, one order at a time, so the look-ups of an order do not wait for each other.

Bounds. A key is a uint64: the node in the upper 32 bits, the word id + 1 in the lower 32 bits. 0 is an empty slot. Word
ids are below 2**32 - 1, and a table has at most 2**31 slots. The references of a segment have at most 2**30 n-grams,
and the table has at least two and fewer than four slots per n-gram. Clearing a table costs 16 bytes per slot.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memset

from fastmetrics._kernels.columns.growing_memory cimport reallocate
from fastmetrics._kernels.numeric.length_checks cimport need_length, need_offsets
from fastmetrics._kernels.numeric.table_hash cimport use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS
from fastmetrics._kernels.text.pair_hash_table cimport hash_slot, slot_count

use_table_seeds(_SEEDS)

cdef int64_t MAX_NODES = 1 << 30


cdef struct Slot:
    uint64_t key
    int64_t remaining      # how often the n-gram can still match


cdef struct ReferenceCount:
    int64_t count          # of the n-gram in one reference
    int64_t reference      # the text number of that reference


cdef inline uint64_t ngram_key(int64_t node, int64_t word) noexcept nogil:
    return (<uint64_t>node << 32) | <uint64_t>(word + 1)


cdef inline uint64_t find_or_add(Slot* slots, uint64_t mask, uint64_t key) noexcept nogil:
    """Return the slot of a key. A new key is added."""
    cdef uint64_t slot = hash_slot(key, mask)
    while slots[slot].key != key:
        if slots[slot].key == 0:
            slots[slot].key = key
            return slot
        slot = (slot + 1) & mask
    return slot


cdef void add_only_reference(
    Slot* slots, uint64_t mask, const int64_t* ids, int64_t n, int64_t max_order, int64_t* nodes
) noexcept nogil:
    """Add the n-grams of the only reference of a segment. `nodes` has room for n numbers."""
    cdef int64_t order, first
    cdef uint64_t slot
    for first in range(n):
        nodes[first] = 0
    for order in range(min(n, max_order)):
        for first in range(n - order):
            slot = find_or_add(slots, mask, ngram_key(nodes[first], ids[first + order]))
            slots[slot].remaining += 1
            nodes[first] = <int64_t>slot + 1


cdef void add_reference(
    Slot* slots, ReferenceCount* reference_counts, uint64_t mask, const int64_t* ids, int64_t n, int64_t max_order,
    int64_t text,
    int64_t* nodes
) noexcept nogil:
    """Add the n-grams of one of several references. `remaining` becomes the greatest count in any reference so far."""
    cdef int64_t order, first
    cdef uint64_t slot
    for first in range(n):
        nodes[first] = 0
    for order in range(min(n, max_order)):
        for first in range(n - order):
            slot = find_or_add(slots, mask, ngram_key(nodes[first], ids[first + order]))
            # A new slot has remaining == 0, and its reference count is one of an earlier segment.
            if slots[slot].remaining == 0 or reference_counts[slot].reference != text:
                reference_counts[slot].reference = text
                reference_counts[slot].count = 0
            reference_counts[slot].count += 1
            if reference_counts[slot].count > slots[slot].remaining:
                slots[slot].remaining = reference_counts[slot].count
            nodes[first] = <int64_t>slot + 1


cdef void count_matches(
    Slot* slots, uint64_t mask, const int64_t* ids, int64_t n, int64_t max_order, int64_t* nodes, int64_t* positions,
    int64_t* correct
) noexcept nogil:
    """Count the matching n-grams of a hypothesis, by order. `nodes` and `positions` have room for n numbers each.

    A position stays active while the n-gram that begins there is in a reference.
    """
    cdef int64_t order, index, n_kept, n_active = n, matches
    cdef uint64_t key, slot
    for index in range(n):
        nodes[index] = 0
        positions[index] = index
    for order in range(min(n, max_order)):
        n_kept = 0
        matches = 0
        for index in range(n_active):
            if positions[index] + order >= n:
                break
            key = ngram_key(nodes[index], ids[positions[index] + order])
            slot = hash_slot(key, mask)
            while slots[slot].key != key and slots[slot].key != 0:
                slot = (slot + 1) & mask
            if slots[slot].key == 0:
                continue
            if slots[slot].remaining > 0:
                slots[slot].remaining -= 1
                matches += 1
            nodes[n_kept] = <int64_t>slot + 1
            positions[n_kept] = positions[index]
            n_kept += 1
        correct[order] = matches
        n_active = n_kept


cdef inline int64_t closest_length(
    const int64_t* text_tokens, int64_t first, int64_t stop, int64_t length
) noexcept nogil:
    """Return the reference length closest to `length`: of two equally close ones the shorter, -1 without references."""
    cdef int64_t text, candidate, difference, best = -1, min_difference = -1
    for text in range(first, stop):
        candidate = text_tokens[text + 1] - text_tokens[text]
        difference = candidate - length if candidate > length else length - candidate
        if min_difference == -1 or difference < min_difference or (difference == min_difference and candidate < best):
            best = candidate
            min_difference = difference
    return best


cdef class NgramCounter:
    """The table of one thread. Two threads must not use one counter at the same time."""

    cdef Slot* slots
    cdef ReferenceCount* reference_counts  # by slot, for segments with several references
    cdef int64_t slot_capacity
    cdef int64_t* positions    # two numbers per token of the longest text
    cdef int64_t token_capacity

    def __dealloc__(self):
        free(self.slots)
        free(self.reference_counts)
        free(self.positions)

    cdef int reserve(self, int64_t n_nodes, int64_t n_tokens) except -1:
        cdef int64_t n_slots
        if n_nodes > MAX_NODES:
            raise OverflowError("the references of a segment may have at most 2**30 n-grams: lower max_order")
        n_slots = slot_count(n_nodes)
        if n_slots > self.slot_capacity:
            self.slots = <Slot*>reallocate(self.slots, n_slots * sizeof(Slot))
            self.reference_counts = <ReferenceCount*>reallocate(self.reference_counts, n_slots * sizeof(ReferenceCount))
            memset(self.reference_counts, 0, n_slots * sizeof(ReferenceCount))
            self.slot_capacity = n_slots
        if n_tokens > self.token_capacity:
            self.positions = <int64_t*>reallocate(self.positions, 2 * n_tokens * sizeof(int64_t))
            self.token_capacity = n_tokens
        return 0

    cdef void count_segment(
        self, const int64_t* ids, const int64_t* text_tokens, int64_t first, int64_t stop, int64_t max_order,
        int64_t* out
    ) noexcept nogil:
        cdef int64_t text, order, n_slots, length = text_tokens[first + 1] - text_tokens[first]
        cdef uint64_t mask
        n_slots = slot_count((text_tokens[stop] - text_tokens[first + 1]) * max_order)
        mask = <uint64_t>(n_slots - 1)
        memset(self.slots, 0, n_slots * sizeof(Slot))
        for text in range(first + 1, stop):
            if stop == first + 2:
                add_only_reference(
                    self.slots, mask, ids + text_tokens[text], text_tokens[text + 1] - text_tokens[text], max_order,
                    self.positions
                )
            else:
                add_reference(
                    self.slots, self.reference_counts, mask, ids + text_tokens[text],
                    text_tokens[text + 1] - text_tokens[text],
                    max_order, text, self.positions
                )
        out[0] = length
        out[1] = closest_length(text_tokens, first + 1, stop, length)
        for order in range(max_order):
            out[2 + order] = 0
            out[2 + max_order + order] = max(0, length - order)
        count_matches(
            self.slots, mask, ids + text_tokens[first], length, max_order, self.positions,
            self.positions + self.token_capacity,
            out + 2
        )

    cdef void count_segments(
        self, const int64_t* ids, const int64_t* text_tokens, const int64_t* segments, int64_t n, int64_t max_order,
        int64_t* out
    ) noexcept nogil:
        cdef int64_t index
        for index in range(n):
            self.count_segment(
                ids, text_tokens, segments[index], segments[index + 1], max_order, out + index * (2 + 2 * max_order)
            )

    def count(
        self, const int64_t[::1] ids, const int64_t[::1] text_tokens, const int64_t[::1] segments, int64_t max_order,
        int64_t[:, ::1] out,
    ):
        """Fill a row per segment: hypothesis length, closest reference length, matches by order, n-grams by order.

        ids : ids of the tokens of all texts, each in 0..2**32-2
        text_tokens : text i has the tokens text_tokens[i]:text_tokens[i + 1]; text_tokens[0] is 0
        segments : segment s has the texts segments[s]:segments[s + 1]; the first is the hypothesis
        max_order : 1..255
        out : (n_segments, 2 + 2 * max_order); a segment without references has the reference length -1
        """
        cdef int64_t index, n = segments.shape[0] - 1, most_tokens = 0, longest = 0, no_id = 0
        if n <= 0:
            return
        need_length(b"text_tokens", text_tokens.shape[0], 1)
        need_offsets(b"segments", &segments[0], n + 1, text_tokens.shape[0] - 1)
        need_offsets(b"text_tokens", &text_tokens[0], text_tokens.shape[0], ids.shape[0])
        need_length(b"out", out.shape[0], n)
        if not 1 <= max_order <= 255 or out.shape[1] != 2 + 2 * max_order:
            raise ValueError(f"out has {out.shape[1]} columns for orders up to {max_order}")
        for index in range(n):
            if segments[index + 1] == segments[index]:
                raise ValueError(f"segment {index} has no hypothesis")
        for index in range(n):
            most_tokens = max(most_tokens, text_tokens[segments[index + 1]] - text_tokens[segments[index] + 1])
        for index in range(segments[n]):
            longest = max(longest, text_tokens[index + 1] - text_tokens[index])
        self.reserve(most_tokens * max_order, longest)
        with nogil:
            self.count_segments(
                &ids[0] if ids.shape[0] else &no_id, &text_tokens[0], &segments[0], n, max_order, &out[0, 0]
            )
