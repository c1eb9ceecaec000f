"""METEOR's alignment of words in three stages: equal words, equal stems, synonyms.

Stages. A stage matches as many as possible of the words that earlier stages left unmatched. In the first two stages
words are in classes (a word, or a stem), found by one look-up in a table by id. If a class has as many words in the
hypothesis as in the reference, the first is matched with the first, and so on: crossing matches of equal words are
never better. There is a choice only if one side has more words. meteor_crossings.h then selects the matches with the
fewest crossings and, of these, the fewest chunks. Synonyms form a graph between the unmatched words. Most of its
connected components are pairs. Others are classes as above, or small graphs with bit masks.

Greedy. With `greedy` the alignment is NLTK's: the words of the hypothesis are visited from the last to the first, and
each is matched with the last unmatched word of the reference.

Costs. The synonyms of a word are looked up once per word and thread (wordnet.pyx), and only for unmatched words.
Scratch memory grows to the size of the longest segment and is reused. All loops run without the GIL. Time is linear in
the words of a segment, except in meteor_crossings.h, which has its own bounds.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from fastmetrics._kernels.numeric.elementary cimport fm_pow
from fastmetrics._kernels.numeric.length_checks cimport need_length, need_offsets
from fastmetrics._kernels.numeric.table_hash cimport use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS
from fastmetrics._kernels.text.tokens.wordnet cimport MAX_WORD_BYTES, NO_MEMORY, Names, WordNet, to_utf8, raise_error

use_table_seeds(_SEEDS)

cdef extern from "text/meteor_crossings.h":
    ctypedef struct Crossings "fm_crossings":
        int64_t n_items
        int exact
    enum:
        MAX_MASKED_WORDS "FM_MAX_MASKED_WORDS"
    void clear_items "fm_clear_items"(Crossings* crossings) noexcept nogil
    bint add_item "fm_add_item"(
        Crossings* crossings, const int64_t* h, int64_t n_h, const int64_t* r, int64_t n_r) noexcept nogil
    bint add_edges "fm_add_edges"(Crossings* crossings, const uint64_t* masks) noexcept nogil
    bint resolve "fm_resolve"(
        Crossings* crossings, int64_t* h_link, int64_t n_h, int64_t* r_link, int64_t n_r) noexcept nogil
    void free_crossings "fm_free_crossings"(Crossings* crossings) noexcept nogil

cdef enum:
    STAGE_EXACT = 0
    STAGE_STEM = 1
    STAGE_SYNONYM = 2
    N_COLUMNS = 4               # matches, chunks, words of the hypothesis, words of the reference
    N_SCRATCH = 14

EXACT = STAGE_EXACT
STEM = STAGE_STEM
SYNONYM = STAGE_SYNONYM
COLUMNS = N_COLUMNS

ctypedef int64_t* Column


cdef bint reserve_filled(int64_t** memory, int64_t* capacity, int64_t needed) noexcept nogil:
    """Reserve memory for `needed` numbers. New ones are -1. Return False if memory is exhausted."""
    cdef int64_t* larger
    if needed <= capacity[0]:
        return 1
    needed += needed // 2 + 64
    larger = <int64_t*>realloc(memory[0], needed * sizeof(int64_t))
    if larger == NULL:
        return 0
    memset(larger + capacity[0], 255, (needed - capacity[0]) * sizeof(int64_t))
    memory[0] = larger
    capacity[0] = needed
    return 1


cdef inline double meteor(
    int64_t matches, int64_t chunks, int64_t length, int64_t reference, double alpha, double beta, double gamma
) noexcept nogil:
    """Return the score of a segment, by the same operations in the same order as NLTK."""
    cdef double precision, recall, mean
    if matches == 0:
        return 0.0
    precision = <double>matches / <double>length
    recall = <double>matches / <double>reference
    mean = (precision * recall) / (alpha * precision + (1 - alpha) * recall)
    return (1 - gamma * fm_pow(<double>chunks / <double>matches, beta)) * mean


def score_rows(const int64_t[:, ::1] counts, double alpha, double beta, double gamma, double[::1] out):
    """Fill `out` with the score of every row: matches, chunks, words of the hypothesis, words of the reference."""
    cdef Py_ssize_t row
    need_length(b"out", out.shape[0], counts.shape[0])
    need_length(b"counts of a row", counts.shape[1], 4)
    with nogil:
        for row in range(counts.shape[0]):
            out[row] = meteor(counts[row, 0], counts[row, 1], counts[row, 2], counts[row, 3], alpha, beta, gamma)


cdef inline bint has_text(const int64_t[::1] starts, int64_t i, Py_ssize_t n_points) noexcept nogil:
    return i < starts.shape[0] - 1 and 0 <= starts[i] <= starts[i + 1] <= n_points


cdef class Aligner:
    """Aligns hypotheses and references, with the memory of one thread. `wordnet` is None if synonyms are not used."""

    cdef Crossings crossings
    cdef WordNet wordnet
    cdef Names names
    cdef bint greedy
    cdef int n_stages
    cdef int stages[3]
    cdef int64_t* form_slots    # slot by word or stem; -1 except during a stage
    cdef int64_t form_capacity
    cdef int64_t* name_slots    # slot by name; likewise
    cdef int64_t name_capacity
    cdef int64_t* form_names    # the name of a word or stem; -1: not looked up yet
    cdef int64_t* synonym_starts    # index in names.synonym_numbers of the first synonym; -1: not looked up yet
    cdef int64_t* n_synonyms
    cdef int64_t form_name_capacity
    cdef int64_t synonym_capacity
    cdef int64_t n_synonyms_capacity
    cdef int64_t* memory
    cdef int64_t capacity
    cdef int64_t* edges
    cdef int64_t edge_capacity
    cdef const uint32_t* points     # code points of words or stems, as they are compared
    cdef const int64_t* starts
    cdef const uint32_t* queries    # the same in lower case, as they are looked up
    cdef const int64_t* query_starts
    # Arrays of the current pair, inside `memory`.
    cdef int64_t n_h
    cdef int64_t n_r
    cdef int64_t* h_link
    cdef int64_t* r_link
    cdef int64_t* h_form
    cdef int64_t* r_form
    cdef int64_t* h_unmatched   # unmatched positions
    cdef int64_t* r_unmatched
    cdef int64_t n_h_unmatched
    cdef int64_t n_r_unmatched
    cdef int64_t* h_slot
    cdef int64_t* r_slot
    cdef int64_t* r_slot_at     # slot by position
    cdef int64_t* h_by_slot     # positions sorted by slot
    cdef int64_t* r_by_slot
    cdef int64_t* scratch_memory  # N_SCRATCH arrays
    cdef int64_t n_slots

    def __cinit__(self, list stages not None, bint greedy, WordNet wordnet=None):
        memset(&self.crossings, 0, sizeof(Crossings))
        self.wordnet = wordnet
        self.names = Names()
        self.greedy = greedy
        self.n_stages = len(stages)
        if not 0 < self.n_stages <= 3 or (STAGE_SYNONYM in stages and wordnet is None):
            raise ValueError("one to three stages, and a WordNet for synonyms")
        for number, stage in enumerate(stages):
            self.stages[<int>number] = stage

    def __dealloc__(self):
        free_crossings(&self.crossings)
        free(self.form_slots)
        free(self.name_slots)
        free(self.form_names)
        free(self.synonym_starts)
        free(self.n_synonyms)
        free(self.memory)
        free(self.edges)

    def clear_words(self):
        """Forget all words, because their ids change."""
        self.names = Names()
        free(self.name_slots)
        free(self.form_names)
        free(self.synonym_starts)
        self.name_slots = self.form_names = self.synonym_starts = NULL
        self.name_capacity = self.form_name_capacity = self.synonym_capacity = 0

    def links(self) -> list[int]:
        """Return, for every word of the last hypothesis, the position of its match in the reference, or -1."""
        cdef int64_t i
        return [self.h_link[i] for i in range(self.n_h)]

    @property
    def exact(self) -> bool:
        """Whether the alignment of the last pair is exact, that is, no limit was reached."""
        return bool(self.crossings.exact)

    cdef bint begin_pair(self, const int64_t* h, int64_t n_h, const int64_t* r, int64_t n_r) noexcept nogil:
        cdef int64_t i
        cdef int64_t* memory
        if not reserve_filled(
            &self.memory, &self.capacity, 5 * (n_h + 1) + 6 * (n_r + 1) + N_SCRATCH * (n_h + n_r + 2)
        ):
            return 0
        memory = self.memory
        self.n_h = self.n_h_unmatched = n_h
        self.n_r = self.n_r_unmatched = n_r
        self.h_link = memory
        self.h_form = memory + n_h
        self.h_unmatched = memory + 2 * n_h
        self.h_slot = memory + 3 * n_h
        self.h_by_slot = memory + 4 * n_h
        memory += 5 * n_h
        self.r_link = memory
        self.r_form = memory + n_r
        self.r_unmatched = memory + 2 * n_r
        self.r_slot = memory + 3 * n_r
        self.r_by_slot = memory + 4 * n_r
        self.r_slot_at = memory + 5 * n_r
        self.scratch_memory = memory + 6 * n_r
        self.crossings.exact = 1
        for i in range(n_h):
            self.h_link[i] = -1
            self.h_form[i] = h[i]
            self.h_unmatched[i] = i
        for i in range(n_r):
            self.r_link[i] = -1
            self.r_form[i] = r[i]
            self.r_unmatched[i] = i
        return 1

    cdef inline void link(self, int64_t h, int64_t r) noexcept nogil:
        self.h_link[h] = r
        self.r_link[r] = h

    cdef inline Column scratch(self, int number) noexcept nogil:
        """Return a scratch array with a number per word of both sides."""
        return self.scratch_memory + number * (self.n_h + self.n_r + 2)

    cdef void drop_matched(self) noexcept nogil:
        """Remove the matched words from the lists of unmatched ones."""
        cdef int64_t i, n_kept = 0
        for i in range(self.n_h_unmatched):
            self.h_unmatched[n_kept] = self.h_unmatched[i]
            n_kept += self.h_link[self.h_unmatched[i]] < 0
        self.n_h_unmatched = n_kept
        n_kept = 0
        for i in range(self.n_r_unmatched):
            self.r_unmatched[n_kept] = self.r_unmatched[i]
            n_kept += self.r_link[self.r_unmatched[i]] < 0
        self.n_r_unmatched = n_kept

    cdef void sort_by_slot(
        self, const int64_t* positions_left, int64_t n, const int64_t* word_slots, const int64_t* counts,
        int64_t n_slots,
        int64_t* first, int64_t* sorted_positions,
    ) noexcept nogil:
        """Sort positions by slot, ascending within a slot. Words without a slot (-1) are left out."""
        cdef int64_t i, slot, total = 0
        for slot in range(n_slots):
            first[slot] = total
            total += counts[slot]
        for i in range(n):
            slot = word_slots[i]
            if slot >= 0:
                sorted_positions[first[slot]] = positions_left[i]
                first[slot] += 1
        for slot in range(n_slots):
            first[slot] -= counts[slot]

    cdef bint match_class(self, const int64_t* h, int64_t n_h, const int64_t* r, int64_t n_r) noexcept nogil:
        """Match words of one class. Return False if memory is exhausted."""
        cdef int64_t t, n_matches = n_h if n_h < n_r else n_r
        if n_h != n_r and not self.greedy:
            return add_item(&self.crossings, h, n_h, r, n_r)
        for t in range(1, n_matches + 1):
            self.link(h[n_h - t], r[n_r - t])
        return 1

    cdef int64_t match_forms(self) noexcept nogil:
        """Match words with the same form: a word or a stem."""
        cdef int64_t i, slot, form, n_slots = 0, n_matched = 0
        cdef int64_t* r_count = self.scratch(0)
        cdef int64_t* h_count = self.scratch(1)
        cdef int64_t* r_first = self.scratch(2)
        cdef int64_t* h_first = self.scratch(3)
        cdef int64_t* forms = self.scratch(4)
        for i in range(self.n_r_unmatched):
            form = self.r_form[self.r_unmatched[i]]
            slot = self.form_slots[form]
            if slot < 0:
                slot = n_slots
                self.form_slots[form] = slot
                forms[slot] = form
                r_count[slot] = 0
                h_count[slot] = 0
                n_slots += 1
            r_count[slot] += 1
            self.r_slot[i] = slot
        for i in range(self.n_h_unmatched):
            slot = self.form_slots[self.h_form[self.h_unmatched[i]]]
            self.h_slot[i] = slot
            if slot >= 0:
                h_count[slot] += 1
                n_matched += 1
        for slot in range(n_slots):
            self.form_slots[forms[slot]] = -1
        if n_matched == 0:
            return 0
        self.sort_by_slot(self.r_unmatched, self.n_r_unmatched, self.r_slot, r_count, n_slots, r_first, self.r_by_slot)
        self.sort_by_slot(self.h_unmatched, self.n_h_unmatched, self.h_slot, h_count, n_slots, h_first, self.h_by_slot)
        for slot in range(n_slots):
            if h_count[slot]:
                if not self.match_class(
                    self.h_by_slot + h_first[slot], h_count[slot], self.r_by_slot + r_first[slot], r_count[slot]
                ):
                    return NO_MEMORY
        return 0

    cdef int64_t number_form_name(self, int64_t form) noexcept nogil:
        """Return the number of a form's name. A word longer than MAX_WORD_BYTES is named by its code points."""
        cdef uint8_t letters[MAX_WORD_BYTES + 8]
        cdef int64_t length = self.starts[form + 1] - self.starts[form]
        cdef const uint32_t* points = self.points + self.starts[form]
        cdef int64_t n = to_utf8(points, length, letters)
        if n < 0:
            self.form_names[form] = self.names.number(<const uint8_t*>points, length * sizeof(uint32_t))
        else:
            self.form_names[form] = self.names.number(letters, n)
        return self.form_names[form]

    cdef int64_t find_synonyms(self, int64_t form) noexcept nogil:
        """Append the names of a form and of its synonyms to names.synonym_numbers."""
        cdef uint8_t letters[MAX_WORD_BYTES + 8]
        cdef int64_t n, error, first = self.names.n_numbers
        error = self.names.append(self.number_form_name(form) if self.form_names[form] < 0 else self.form_names[form])
        if error < 0:
            return error
        n = to_utf8(
            self.queries + self.query_starts[form], self.query_starts[form + 1] - self.query_starts[form], letters)
        if n >= 0:
            error = self.wordnet.append_synonyms(letters, n, self.names)
            if error < 0:
                return error
        self.synonym_starts[form] = first
        self.n_synonyms[form] = self.names.n_numbers - first
        return 0

    cdef int64_t assign_name_slots(self) noexcept nogil:
        """Give a slot to each name among the unmatched words of the reference, and sort their positions by slot."""
        cdef int64_t i, form, name, slot
        cdef int64_t* r_count = self.scratch(0)
        cdef int64_t* names = self.scratch(4)
        self.n_slots = 0            # always up to date, so that these slots are cleared even after an error
        for i in range(self.n_r_unmatched):
            form = self.r_form[self.r_unmatched[i]]
            name = self.form_names[form]
            if name < 0:
                name = self.number_form_name(form)
                if name < 0:
                    return NO_MEMORY
            if not reserve_filled(&self.name_slots, &self.name_capacity, name + 1):
                return NO_MEMORY
            slot = self.name_slots[name]
            if slot < 0:
                slot = self.n_slots
                self.name_slots[name] = slot
                names[slot] = name
                r_count[slot] = 0
                self.n_slots += 1
            r_count[slot] += 1
            self.r_slot[i] = slot
        self.sort_by_slot(
            self.r_unmatched, self.n_r_unmatched, self.r_slot, r_count, self.n_slots, self.scratch(2), self.r_by_slot
        )
        return 0

    cdef int64_t match_synonyms(self) noexcept nogil:
        """Match synonyms."""
        cdef int64_t i, form, slot, error
        cdef int64_t* names = self.scratch(4)
        if self.n_h_unmatched == 0 or self.n_r_unmatched == 0:
            return 0
        error = self.assign_name_slots()
        if error == 0:
            for i in range(self.n_h_unmatched):
                form = self.h_form[self.h_unmatched[i]]
                if self.synonym_starts[form] < 0:
                    error = self.find_synonyms(form)
                    if error < 0:
                        break
        if error == 0:
            error = self.match_greedily() if self.greedy else self.match_graph()
        for slot in range(self.n_slots):
            self.name_slots[names[slot]] = -1
        return error

    cdef inline int64_t name_slot(self, int64_t name) noexcept nogil:
        return self.name_slots[name] if name < self.name_capacity else -1

    cdef int64_t match_greedily(self) noexcept nogil:
        """Match each word, from the last to the first, with the last unmatched synonym."""
        cdef int64_t i, k, form, slot, position, best, best_slot
        cdef int64_t* r_count = self.scratch(0)
        cdef int64_t* r_first = self.scratch(2)
        for i in range(self.n_h_unmatched - 1, -1, -1):
            form = self.h_form[self.h_unmatched[i]]
            best = -1
            best_slot = -1
            for k in range(self.n_synonyms[form]):
                slot = self.name_slot(self.names.synonym_numbers[self.synonym_starts[form] + k])
                if slot < 0 or r_count[slot] == 0:
                    continue
                position = self.r_by_slot[r_first[slot] + r_count[slot] - 1]
                if position > best:
                    best = position
                    best_slot = slot
            if best >= 0:
                r_count[best_slot] -= 1
                self.link(self.h_unmatched[i], best)
        return 0

    cdef int64_t collect_edges(self, int64_t* edge_first) noexcept nogil:
        """Collect the distinct slots that every unmatched word can be matched with. Return the number of edges."""
        cdef int64_t i, k, form, slot, n = 0
        cdef int64_t* last_word = self.scratch(1)
        for slot in range(self.n_slots):
            last_word[slot] = -1
        for i in range(self.n_h_unmatched):
            edge_first[i] = n
            form = self.h_form[self.h_unmatched[i]]
            for k in range(self.n_synonyms[form]):
                slot = self.name_slot(self.names.synonym_numbers[self.synonym_starts[form] + k])
                if slot < 0 or last_word[slot] == i:
                    continue
                last_word[slot] = i
                if not reserve_filled(&self.edges, &self.edge_capacity, n + 1):
                    return NO_MEMORY
                self.edges[n] = slot
                n += 1
        edge_first[self.n_h_unmatched] = n
        return n

    cdef int64_t match_graph(self) noexcept nogil:
        """Match each connected component of the graph of synonyms."""
        cdef int64_t* edge_first = self.scratch(3)
        cdef int64_t* slot_component = self.scratch(5)
        cdef int64_t* parents = self.scratch(6)
        cdef int64_t n_edges = self.collect_edges(edge_first)
        cdef int64_t i, k, slot, component, other
        if n_edges <= 0:
            return n_edges
        # Union-find: the root is the smallest word of the hypothesis. Slots point to a word, words to a smaller one.
        for slot in range(self.n_slots):
            slot_component[slot] = -1
        for i in range(self.n_h_unmatched):
            parents[i] = i
            for k in range(edge_first[i], edge_first[i + 1]):
                slot = self.edges[k]
                if slot_component[slot] < 0:
                    slot_component[slot] = i
                component = self.find_root(parents, i)
                other = self.find_root(parents, slot_component[slot])
                if component < other:
                    parents[other] = component
                else:
                    parents[component] = other
        for i in range(self.n_h_unmatched):
            self.h_slot[i] = self.find_root(parents, i) if edge_first[i] < edge_first[i + 1] else -1
        for slot in range(self.n_slots):
            if slot_component[slot] >= 0:
                slot_component[slot] = self.find_root(parents, slot_component[slot])
        return self.match_components(edge_first, slot_component)

    cdef inline int64_t find_root(self, int64_t* parents, int64_t i) noexcept nogil:
        while parents[i] != i:
            parents[i] = parents[parents[i]]
            i = parents[i]
        return i

    cdef int64_t match_components(self, const int64_t* edge_first, const int64_t* slot_component) noexcept nogil:
        """Match the components. h_slot has the component of a word of the hypothesis, slot_component that of a slot."""
        cdef int64_t* h_index = self.scratch(6)
        cdef int64_t* h_count = self.scratch(7)
        cdef int64_t* r_count = self.scratch(8)
        cdef int64_t* h_first = self.scratch(9)
        cdef int64_t* r_first = self.scratch(10)
        cdef int64_t* n_pairs = self.scratch(11)    # number of edges minus that of a class
        cdef int64_t* r_component = self.scratch(12)
        cdef int64_t* r_sorted = self.scratch(13)
        cdef int64_t i, component, slot
        for component in range(self.n_h_unmatched):
            h_count[component] = 0
            r_count[component] = 0
            n_pairs[component] = 0
        for i in range(self.n_h_unmatched):
            h_index[self.h_unmatched[i]] = i
            component = self.h_slot[i]
            if component >= 0:
                h_count[component] += 1
                n_pairs[component] += edge_first[i + 1] - edge_first[i]
        for slot in range(self.n_slots):
            if slot_component[slot] >= 0:
                n_pairs[slot_component[slot]] -= h_count[slot_component[slot]]
        for i in range(self.n_r_unmatched):
            self.r_slot_at[self.r_unmatched[i]] = self.r_slot[i]
            r_component[i] = slot_component[self.r_slot[i]]
            if r_component[i] >= 0:
                r_count[r_component[i]] += 1
        self.sort_by_slot(
            self.h_unmatched, self.n_h_unmatched, self.h_slot, h_count, self.n_h_unmatched, h_first, self.h_by_slot
        )
        self.sort_by_slot(
            self.r_unmatched, self.n_r_unmatched, r_component, r_count, self.n_h_unmatched, r_first, r_sorted
        )
        for component in range(self.n_h_unmatched):
            if h_count[component] == 0:
                continue
            if n_pairs[component] == 0:
                if not self.match_class(
                    self.h_by_slot + h_first[component], h_count[component], r_sorted + r_first[component],
                    r_count[component]
                ):
                    return NO_MEMORY
            elif h_count[component] <= MAX_MASKED_WORDS and r_count[component] <= MAX_MASKED_WORDS:
                if not self.match_masks(
                    self.h_by_slot + h_first[component], h_count[component], r_sorted + r_first[component],
                    r_count[component], edge_first
                ):
                    return NO_MEMORY
            else:
                self.match_large_component(self.h_by_slot + h_first[component], h_count[component], edge_first)
        return 0

    cdef bint match_masks(
        self, const int64_t* h, int64_t n_h, const int64_t* r, int64_t n_r, const int64_t* edge_first
    ) noexcept nogil:
        """Match a small component in which not all words are synonyms of each other, by bit masks."""
        cdef uint64_t masks[MAX_MASKED_WORDS]
        cdef int64_t* h_index = self.scratch(6)
        cdef int64_t* last_word = self.scratch(1)
        cdef int64_t s, t, k, i
        for s in range(n_h):
            i = h_index[h[s]]
            masks[s] = 0
            for k in range(edge_first[i], edge_first[i + 1]):
                last_word[self.edges[k]] = self.n_h_unmatched + h[s]
            for t in range(n_r):
                if last_word[self.r_slot_at[r[t]]] == self.n_h_unmatched + h[s]:
                    masks[s] |= <uint64_t>1 << t
        return add_item(&self.crossings, h, n_h, r, n_r) and add_edges(&self.crossings, masks)

    cdef void match_large_component(self, const int64_t* h, int64_t n_h, const int64_t* edge_first) noexcept nogil:
        """Match a component too large for masks: each word, from the last on, with the last unmatched synonym."""
        cdef int64_t* h_index = self.scratch(6)
        cdef int64_t* count = self.scratch(0)
        cdef int64_t* first = self.scratch(2)
        cdef int64_t s, k, i, last, best, best_slot
        self.crossings.exact = 0
        for s in range(n_h - 1, -1, -1):
            i = h_index[h[s]]
            best = -1
            best_slot = -1
            for k in range(edge_first[i], edge_first[i + 1]):
                last = self.r_by_slot[first[self.edges[k]] + count[self.edges[k]] - 1] if count[self.edges[k]] else -1
                if last > best:
                    best = last
                    best_slot = self.edges[k]
            if best >= 0:
                count[best_slot] -= 1
                self.link(h[s], best)

    cdef int64_t align(self, const int64_t* h, int64_t n_h, const int64_t* r, int64_t n_r,
                       const int64_t* stems) noexcept nogil:
        """Align a pair. Return the number of matches, or a negative error."""
        cdef int64_t error = 0
        cdef int64_t i
        cdef int number
        if not self.begin_pair(h, n_h, r, n_r):
            return NO_MEMORY
        for number in range(self.n_stages):
            if self.n_h_unmatched == 0 or self.n_r_unmatched == 0:
                break
            clear_items(&self.crossings)
            if self.stages[number] == STAGE_STEM:
                for i in range(self.n_h_unmatched):
                    self.h_form[self.h_unmatched[i]] = stems[self.h_form[self.h_unmatched[i]]]
                for i in range(self.n_r_unmatched):
                    self.r_form[self.r_unmatched[i]] = stems[self.r_form[self.r_unmatched[i]]]
            if self.stages[number] == STAGE_SYNONYM:
                error = self.match_synonyms()
            else:
                error = self.match_forms()
            if error < 0:
                return error
            if self.crossings.n_items and not resolve(&self.crossings, self.h_link, n_h, self.r_link, n_r):
                return NO_MEMORY
            self.drop_matched()
        return n_h - self.n_h_unmatched

    cdef int64_t count_chunks(self) noexcept nogil:
        """Count the chunks: runs of matches that are adjacent in both texts."""
        cdef int64_t i, chunks = 0, last_link = -2
        for i in range(self.n_h):
            if self.h_link[i] >= 0 and self.h_link[i] != last_link + 1:
                chunks += 1
            last_link = self.h_link[i] if self.h_link[i] >= 0 else -2
        return chunks

    cdef int64_t count_segment(
        self, const int64_t* ids, const int64_t* text_tokens, int64_t first, int64_t stop, const int64_t* stems,
        double alpha, double beta, double gamma, int64_t* out,
    ) noexcept nogil:
        """Count a hypothesis (text `first`) with its best reference; of equally good ones with the first."""
        cdef int64_t text, n_r, matches, chunks
        cdef int64_t n_h = text_tokens[first + 1] - text_tokens[first]
        cdef double score, best = -1
        for text in range(first + 1, stop):
            n_r = text_tokens[text + 1] - text_tokens[text]
            matches = self.align(ids + text_tokens[first], n_h, ids + text_tokens[text], n_r, stems)
            if matches < 0:
                return matches
            chunks = self.count_chunks()
            score = meteor(matches, chunks, n_h, n_r, alpha, beta, gamma)
            if score > best:
                best = score
                out[0] = matches
                out[1] = chunks
                out[2] = n_h
                out[3] = n_r
        return 0

    cdef int64_t first_without_form(
        self, const int64_t[::1] ids, int64_t n_forms, const int64_t[::1] stems, const int64_t[::1] starts,
        Py_ssize_t n_points, const int64_t[::1] query_starts, Py_ssize_t n_query_points
    ) noexcept nogil:
        """The first word whose forms, which the stages read, are not in the arrays; the number of words if all are."""
        cdef Py_ssize_t i
        cdef int number
        cdef int64_t form
        cdef bint fits
        for i in range(ids.shape[0]):
            form = ids[i]
            fits = 0 <= form < n_forms
            for number in range(self.n_stages):
                if fits and self.stages[number] == STAGE_STEM:
                    fits = form < stems.shape[0] and 0 <= stems[form] < n_forms
                    form = stems[form] if fits else 0
                elif fits and self.stages[number] == STAGE_SYNONYM:
                    fits = has_text(starts, form, n_points) and has_text(query_starts, form, n_query_points)
            if not fits:
                return i
        return ids.shape[0]

    def count(
        self, const int64_t[::1] ids, const int64_t[::1] text_tokens, const int64_t[::1] segments,
        const int64_t[::1] stems, tuple forms not None, tuple queries not None, double alpha, double beta,
        double gamma, int64_t[:, ::1] out,
    ):
        """Fill out[segment] with matches, chunks, words of the hypothesis, and words of its best reference.

        ids : ids of the words of all texts
        text_tokens : text i has the words text_tokens[i]:text_tokens[i + 1]
        segments : segment s has the texts segments[s]:segments[s + 1]; the first is the hypothesis
        stems : the id of the stem of every word id; empty without a stage of stems
        forms : code points and starts of the forms whose synonyms are looked up: stems if that stage comes before,
            else words
        queries : the same in lower case
        alpha, beta, gamma : alpha and gamma are in 0..1 and beta is at least 0. So scores are at least 0, and every
            segment with a reference gets its row.
        """
        cdef const uint32_t[::1] points = forms[0]
        cdef const int64_t[::1] starts = forms[1]
        cdef const uint32_t[::1] query_points = queries[0]
        cdef const int64_t[::1] query_starts = queries[1]
        cdef int64_t segment, i, error = 0, n_forms
        cdef const int64_t* first_stem = &stems[0] if stems.shape[0] else NULL
        cdef const int64_t* first_id = &ids[0] if ids.shape[0] else NULL
        n_forms = max(starts.shape[0] - 1, stems.shape[0])
        need_length(b"starts", starts.shape[0], 1)
        need_length(b"text_tokens", text_tokens.shape[0], 1)
        need_length(b"segments", segments.shape[0], out.shape[0] + 1)
        need_length(b"counts of a segment", out.shape[1], 4)
        need_offsets(b"text_tokens", &text_tokens[0], text_tokens.shape[0], ids.shape[0])
        need_offsets(b"segments", &segments[0], out.shape[0] + 1, text_tokens.shape[0] - 1)
        i = self.first_without_form(
            ids, n_forms, stems, starts, points.shape[0], query_starts, query_points.shape[0])
        if i < ids.shape[0]:
            raise ValueError(f"word {ids[i]} of {n_forms}, or its stem, has no form")
        if not (
            reserve_filled(&self.form_slots, &self.form_capacity, n_forms)
            and reserve_filled(&self.form_names, &self.form_name_capacity, n_forms)
            and reserve_filled(&self.synonym_starts, &self.synonym_capacity, n_forms)
            and reserve_filled(&self.n_synonyms, &self.n_synonyms_capacity, n_forms)
        ):
            raise MemoryError
        self.points = &points[0] if points.shape[0] else NULL
        self.starts = &starts[0]
        self.queries = &query_points[0] if query_points.shape[0] else NULL
        self.query_starts = &query_starts[0]
        with nogil:
            for segment in range(out.shape[0]):
                error = self.count_segment(
                    first_id, &text_tokens[0], segments[segment], segments[segment + 1], first_stem, alpha, beta, gamma,
                    &out[segment, 0])
                if error < 0:
                    break
        if error < 0:
            raise_error(error)
