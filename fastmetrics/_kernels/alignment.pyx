"""METEOR's alignment of words, stage by stage: the same word, the same stem, a synonym.

A stage looks at the words that the stages before have left over, and matches as many as it can. In the first two stages
words fall into classes (a word; a stem), found by one look into a table by number. A class with as many words here as
there leaves no choice: first with first, and so on, for matches of equal words never gain by crossing. Only where one
side has more are there alternatives: crossings.h finds those that cross other matches least, then make the fewest
chunks. Synonyms are a graph between the words left over: its connected parts are mostly pairs, else classes like those
before, else small graphs with masks.

The other way, `greedy`, is NLTK's: words of the hypothesis from the last to the first, each with the last word of the
reference that is left.

What is a synonym of a word is asked once per word and thread (wordnet.pyx), and only for words that are left over.
Scratch memory is that of the longest segment so far, all loops run without the GIL, and nothing is allocated for a
segment that a longer one before has needed. Time is linear in the words of a segment but for what crossings.h decides,
which has bounds of its own.
"""

from libc.math cimport pow
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from fastmetrics._kernels.wordnet cimport LONGEST_WORD, NO_MEMORY, Names, WordNet, encode, raise_problem

cdef extern from "crossings.h":
    ctypedef struct Crossings "fm_crossings":
        int64_t n_items
        int exact
    enum:
        GENERAL "FM_GENERAL"
    void clear_items "fm_clear_items"(Crossings* crossings) noexcept nogil
    bint add_item "fm_add_item"(
        Crossings* crossings, const int64_t* h, int64_t n_h, const int64_t* r, int64_t n_r) noexcept nogil
    bint add_edges "fm_add_edges"(Crossings* crossings, const uint64_t* masks) noexcept nogil
    bint resolve "fm_resolve"(
        Crossings* crossings, int64_t* h_link, int64_t n_h, int64_t* r_link, int64_t n_r) noexcept nogil
    void free_crossings "fm_free_crossings"(Crossings* crossings) noexcept nogil

cdef enum:
    OF_WORDS = 0
    OF_STEMS = 1
    OF_SYNONYMS = 2
    N_COLUMNS = 4               # matches, chunks, words of the hypothesis, words of the reference
    N_SCRATCH = 14

EXACT = OF_WORDS
STEM = OF_STEMS
SYNONYM = OF_SYNONYMS
COLUMNS = N_COLUMNS

ctypedef int64_t* Places


cdef bint enlarge(int64_t** memory, int64_t* room, int64_t wanted) noexcept nogil:
    """Room for more numbers; new ones are -1."""
    cdef int64_t* larger
    if wanted <= room[0]:
        return 1
    wanted += wanted // 2 + 64
    larger = <int64_t*>realloc(memory[0], wanted * sizeof(int64_t))
    if larger == NULL:
        return 0
    memset(larger + room[0], 255, (wanted - room[0]) * sizeof(int64_t))
    memory[0] = larger
    room[0] = wanted
    return 1


cdef inline double meteor(
    int64_t matches, int64_t chunks, int64_t length, int64_t reference, double alpha, double beta, double gamma
) noexcept nogil:
    """The score of a segment, by the same operations in the same order as NLTK's."""
    cdef double precision, recall, mean
    if matches == 0:
        return 0.0
    precision = <double>matches / <double>length
    recall = <double>matches / <double>reference
    mean = (precision * recall) / (alpha * precision + (1 - alpha) * recall)
    return (1 - gamma * pow(<double>chunks / <double>matches, beta)) * mean


def score_rows(const int64_t[:, ::1] counts, double alpha, double beta, double gamma, double[::1] out):
    """The score of every row of matches, chunks, words of the hypothesis and of the reference."""
    cdef Py_ssize_t row
    with nogil:
        for row in range(counts.shape[0]):
            out[row] = meteor(counts[row, 0], counts[row, 1], counts[row, 2], counts[row, 3], alpha, beta, gamma)


cdef class Aligner:
    """One thread's memory for alignments; `wordnet` is None where synonyms are not asked for."""

    cdef Crossings crossings
    cdef WordNet wordnet
    cdef Names names
    cdef bint greedy
    cdef int n_stages
    cdef int stages[3]
    cdef int64_t* form_slots    # by word or stem; -1 but for what the stage at hand has met
    cdef int64_t form_room
    cdef int64_t* name_slots    # the same by name
    cdef int64_t name_room
    cdef int64_t* form_names    # the name of a word or stem; -1 where it was not asked for
    cdef int64_t* synonyms      # where its synonyms begin in names.found; -1 as before
    cdef int64_t* n_synonyms
    cdef int64_t named_room
    cdef int64_t synonym_room
    cdef int64_t count_room
    cdef int64_t* memory
    cdef int64_t room
    cdef int64_t* edges
    cdef int64_t edge_room
    cdef const uint32_t* points     # words or stems, as they are compared
    cdef const int64_t* starts
    cdef const uint32_t* queries    # and in lower case, as they are looked up
    cdef const int64_t* query_starts
    # of the pair at hand, inside `memory`
    cdef int64_t n_h
    cdef int64_t n_r
    cdef int64_t* h_link
    cdef int64_t* r_link
    cdef int64_t* h_form
    cdef int64_t* r_form
    cdef int64_t* h_left        # places without a match
    cdef int64_t* r_left
    cdef int64_t n_h_left
    cdef int64_t n_r_left
    cdef int64_t* h_slot
    cdef int64_t* r_slot
    cdef int64_t* r_at          # the slot at a place
    cdef int64_t* h_places      # places sorted by slot
    cdef int64_t* r_places
    cdef int64_t* slots         # N_SCRATCH arrays
    cdef int64_t n_slots

    def __cinit__(self, list stages not None, bint greedy, WordNet wordnet=None):
        memset(&self.crossings, 0, sizeof(Crossings))
        self.wordnet = wordnet
        self.names = Names()
        self.greedy = greedy
        self.n_stages = len(stages)
        if not 0 < self.n_stages <= 3 or (OF_SYNONYMS in stages and wordnet is None):
            raise ValueError("one to three stages, and a WordNet for synonyms")
        for number, stage in enumerate(stages):
            self.stages[<int>number] = stage

    def __dealloc__(self):
        free_crossings(&self.crossings)
        free(self.form_slots)
        free(self.name_slots)
        free(self.form_names)
        free(self.synonyms)
        free(self.n_synonyms)
        free(self.memory)
        free(self.edges)

    def forget(self):
        """Words get other numbers from now on."""
        self.names = Names()
        free(self.name_slots)
        free(self.form_names)
        free(self.synonyms)
        self.name_slots = self.form_names = self.synonyms = NULL
        self.name_room = self.named_room = self.synonym_room = 0

    def links(self):
        """Of the last pair: the place in the reference of every word of the hypothesis, -1 for none."""
        cdef int64_t i
        return [self.h_link[i] for i in range(self.n_h)]

    @property
    def exact(self):
        """Was the last pair's alignment found without a shortcut?"""
        return bool(self.crossings.exact)

    cdef bint open_pair(self, const int64_t* h, int64_t n_h, const int64_t* r, int64_t n_r) noexcept nogil:
        cdef int64_t i
        cdef int64_t* memory
        if not enlarge(&self.memory, &self.room, 5 * (n_h + 1) + 6 * (n_r + 1) + N_SCRATCH * (n_h + n_r + 2)):
            return 0
        memory = self.memory
        self.n_h = self.n_h_left = n_h
        self.n_r = self.n_r_left = n_r
        self.h_link = memory
        self.h_form = memory + n_h
        self.h_left = memory + 2 * n_h
        self.h_slot = memory + 3 * n_h
        self.h_places = memory + 4 * n_h
        memory += 5 * n_h
        self.r_link = memory
        self.r_form = memory + n_r
        self.r_left = memory + 2 * n_r
        self.r_slot = memory + 3 * n_r
        self.r_places = memory + 4 * n_r
        self.r_at = memory + 5 * n_r
        self.slots = memory + 6 * n_r
        self.crossings.exact = 1
        for i in range(n_h):
            self.h_link[i] = -1
            self.h_form[i] = h[i]
            self.h_left[i] = i
        for i in range(n_r):
            self.r_link[i] = -1
            self.r_form[i] = r[i]
            self.r_left[i] = i
        return 1

    cdef inline void link(self, int64_t h, int64_t r) noexcept nogil:
        self.h_link[h] = r
        self.r_link[r] = h

    cdef inline Places column(self, int number) noexcept nogil:
        """Room for a number per word of either side."""
        return self.slots + number * (self.n_h + self.n_r + 2)

    cdef void close_stage(self) noexcept nogil:
        """Who has a match is left over no longer."""
        cdef int64_t i, kept = 0
        for i in range(self.n_h_left):
            self.h_left[kept] = self.h_left[i]
            kept += self.h_link[self.h_left[i]] < 0
        self.n_h_left = kept
        kept = 0
        for i in range(self.n_r_left):
            self.r_left[kept] = self.r_left[i]
            kept += self.r_link[self.r_left[i]] < 0
        self.n_r_left = kept

    cdef void sort_places(
        self, const int64_t* left, int64_t n, const int64_t* slot_of, const int64_t* counts, int64_t n_slots,
        int64_t* first, int64_t* places,
    ) noexcept nogil:
        """Places by slot, ascending within one; words without a slot (-1) are left out."""
        cdef int64_t i, slot, total = 0
        for slot in range(n_slots):
            first[slot] = total
            total += counts[slot]
        for i in range(n):
            slot = slot_of[i]
            if slot >= 0:
                places[first[slot]] = left[i]
                first[slot] += 1
        for slot in range(n_slots):
            first[slot] -= counts[slot]

    cdef bint match_class(self, const int64_t* h, int64_t n_h, const int64_t* r, int64_t n_r) noexcept nogil:
        """Words that may all be matched with each other; False without memory."""
        cdef int64_t t, few = n_h if n_h < n_r else n_r
        if n_h != n_r and not self.greedy:
            return add_item(&self.crossings, h, n_h, r, n_r)
        for t in range(1, few + 1):
            self.link(h[n_h - t], r[n_r - t])
        return 1

    cdef int64_t match_forms(self) noexcept nogil:
        """A stage whose words match where they have the same form."""
        cdef int64_t i, slot, form, n_slots = 0, met = 0
        cdef int64_t* r_count = self.column(0)
        cdef int64_t* h_count = self.column(1)
        cdef int64_t* r_first = self.column(2)
        cdef int64_t* h_first = self.column(3)
        cdef int64_t* forms = self.column(4)
        for i in range(self.n_r_left):
            form = self.r_form[self.r_left[i]]
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
        for i in range(self.n_h_left):
            slot = self.form_slots[self.h_form[self.h_left[i]]]
            self.h_slot[i] = slot
            if slot >= 0:
                h_count[slot] += 1
                met += 1
        for slot in range(n_slots):
            self.form_slots[forms[slot]] = -1
        if met == 0:
            return 0
        self.sort_places(self.r_left, self.n_r_left, self.r_slot, r_count, n_slots, r_first, self.r_places)
        self.sort_places(self.h_left, self.n_h_left, self.h_slot, h_count, n_slots, h_first, self.h_places)
        for slot in range(n_slots):
            if h_count[slot]:
                if not self.match_class(
                    self.h_places + h_first[slot], h_count[slot], self.r_places + r_first[slot], r_count[slot]
                ):
                    return NO_MEMORY
        return 0

    cdef int64_t name_form(self, int64_t form) noexcept nogil:
        """The number of a form's name. A word longer than any of WordNet is named by its code points."""
        cdef uint8_t letters[LONGEST_WORD + 8]
        cdef int64_t length = self.starts[form + 1] - self.starts[form]
        cdef const uint32_t* points = self.points + self.starts[form]
        cdef int64_t n = encode(points, length, letters)
        if n < 0:
            self.form_names[form] = self.names.number(<const uint8_t*>points, length * sizeof(uint32_t))
        else:
            self.form_names[form] = self.names.number(letters, n)
        return self.form_names[form]

    cdef int64_t find_synonyms(self, int64_t form) noexcept nogil:
        """Put the names of a form's synonyms, its own first, into names.found."""
        cdef uint8_t letters[LONGEST_WORD + 8]
        cdef int64_t n, problem, first = self.names.n_found
        problem = self.names.append(self.name_form(form) if self.form_names[form] < 0 else self.form_names[form])
        if problem < 0:
            return problem
        n = encode(
            self.queries + self.query_starts[form], self.query_starts[form + 1] - self.query_starts[form], letters)
        if n >= 0:
            problem = self.wordnet.synonyms(letters, n, self.names)
            if problem < 0:
                return problem
        self.synonyms[form] = first
        self.n_synonyms[form] = self.names.n_found - first
        return 0

    cdef int64_t slot_names(self) noexcept nogil:
        """Slots of the names left over in the reference, its places sorted by them."""
        cdef int64_t i, form, name, slot
        cdef int64_t* r_count = self.column(0)
        cdef int64_t* names = self.column(4)
        self.n_slots = 0            # kept up to date: whatever goes wrong, these slots are cleared
        for i in range(self.n_r_left):
            form = self.r_form[self.r_left[i]]
            name = self.form_names[form]
            if name < 0:
                name = self.name_form(form)
                if name < 0:
                    return NO_MEMORY
            if not enlarge(&self.name_slots, &self.name_room, name + 1):
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
        self.sort_places(self.r_left, self.n_r_left, self.r_slot, r_count, self.n_slots, self.column(2), self.r_places)
        return 0

    cdef int64_t match_synonyms(self) noexcept nogil:
        """The stage of synonyms."""
        cdef int64_t i, form, slot, problem
        cdef int64_t* names = self.column(4)
        if self.n_h_left == 0 or self.n_r_left == 0:
            return 0
        problem = self.slot_names()
        if problem == 0:
            for i in range(self.n_h_left):
                form = self.h_form[self.h_left[i]]
                if self.synonyms[form] < 0:
                    problem = self.find_synonyms(form)
                    if problem < 0:
                        break
        if problem == 0:
            problem = self.match_greedily() if self.greedy else self.match_graph()
        for slot in range(self.n_slots):
            self.name_slots[names[slot]] = -1
        return problem

    cdef inline int64_t slot_of_name(self, int64_t name) noexcept nogil:
        return self.name_slots[name] if name < self.name_room else -1

    cdef int64_t match_greedily(self) noexcept nogil:
        """From the last word to the first: the last synonym that is still there."""
        cdef int64_t i, k, form, slot, place, best, best_slot
        cdef int64_t* r_count = self.column(0)
        cdef int64_t* r_first = self.column(2)
        for i in range(self.n_h_left - 1, -1, -1):
            form = self.h_form[self.h_left[i]]
            best = -1
            best_slot = -1
            for k in range(self.n_synonyms[form]):
                slot = self.slot_of_name(self.names.found[self.synonyms[form] + k])
                if slot < 0 or r_count[slot] == 0:
                    continue
                place = self.r_places[r_first[slot] + r_count[slot] - 1]
                if place > best:
                    best = place
                    best_slot = slot
            if best >= 0:
                r_count[best_slot] -= 1
                self.link(self.h_left[i], best)
        return 0

    cdef int64_t collect_edges(self, int64_t* edge_first) noexcept nogil:
        """The slots that every word left over may be matched with, each once; returns how many edges there are."""
        cdef int64_t i, k, form, slot, n = 0
        cdef int64_t* met = self.column(1)
        for slot in range(self.n_slots):
            met[slot] = -1
        for i in range(self.n_h_left):
            edge_first[i] = n
            form = self.h_form[self.h_left[i]]
            for k in range(self.n_synonyms[form]):
                slot = self.slot_of_name(self.names.found[self.synonyms[form] + k])
                if slot < 0 or met[slot] == i:
                    continue
                met[slot] = i
                if not enlarge(&self.edges, &self.edge_room, n + 1):
                    return NO_MEMORY
                self.edges[n] = slot
                n += 1
        edge_first[self.n_h_left] = n
        return n

    cdef int64_t match_graph(self) noexcept nogil:
        """The connected parts of the graph of synonyms, one after the other."""
        cdef int64_t* edge_first = self.column(3)
        cdef int64_t* slot_part = self.column(5)
        cdef int64_t* pending = self.column(6)
        cdef int64_t n_edges = self.collect_edges(edge_first)
        cdef int64_t i, k, slot, part, other
        if n_edges <= 0:
            return n_edges
        # Union by the smallest word of the hypothesis; slots point to a word, words to a smaller one.
        for slot in range(self.n_slots):
            slot_part[slot] = -1
        for i in range(self.n_h_left):
            pending[i] = i
            for k in range(edge_first[i], edge_first[i + 1]):
                slot = self.edges[k]
                if slot_part[slot] < 0:
                    slot_part[slot] = i
                part = self.root(pending, i)
                other = self.root(pending, slot_part[slot])
                if part < other:
                    pending[other] = part
                else:
                    pending[part] = other
        for i in range(self.n_h_left):
            self.h_slot[i] = self.root(pending, i) if edge_first[i] < edge_first[i + 1] else -1
        for slot in range(self.n_slots):
            if slot_part[slot] >= 0:
                slot_part[slot] = self.root(pending, slot_part[slot])
        return self.match_parts(edge_first, slot_part)

    cdef inline int64_t root(self, int64_t* above, int64_t i) noexcept nogil:
        while above[i] != i:
            above[i] = above[above[i]]
            i = above[i]
        return i

    cdef int64_t match_parts(self, const int64_t* edge_first, const int64_t* slot_part) noexcept nogil:
        """Words of the hypothesis know their part by h_slot, slots by slot_part; -1: none."""
        cdef int64_t* h_index = self.column(6)
        cdef int64_t* h_count = self.column(7)
        cdef int64_t* r_count = self.column(8)
        cdef int64_t* h_first = self.column(9)
        cdef int64_t* r_first = self.column(10)
        cdef int64_t* n_pairs = self.column(11)     # edges less those of a class
        cdef int64_t* r_part = self.column(12)
        cdef int64_t* r_sorted = self.column(13)
        cdef int64_t i, part, slot
        for part in range(self.n_h_left):
            h_count[part] = 0
            r_count[part] = 0
            n_pairs[part] = 0
        for i in range(self.n_h_left):
            h_index[self.h_left[i]] = i
            part = self.h_slot[i]
            if part >= 0:
                h_count[part] += 1
                n_pairs[part] += edge_first[i + 1] - edge_first[i]
        for slot in range(self.n_slots):
            if slot_part[slot] >= 0:
                n_pairs[slot_part[slot]] -= h_count[slot_part[slot]]
        for i in range(self.n_r_left):
            self.r_at[self.r_left[i]] = self.r_slot[i]
            r_part[i] = slot_part[self.r_slot[i]]
            if r_part[i] >= 0:
                r_count[r_part[i]] += 1
        self.sort_places(self.h_left, self.n_h_left, self.h_slot, h_count, self.n_h_left, h_first, self.h_places)
        self.sort_places(self.r_left, self.n_r_left, r_part, r_count, self.n_h_left, r_first, r_sorted)
        for part in range(self.n_h_left):
            if h_count[part] == 0:
                continue
            if n_pairs[part] == 0:
                if not self.match_class(
                    self.h_places + h_first[part], h_count[part], r_sorted + r_first[part], r_count[part]
                ):
                    return NO_MEMORY
            elif h_count[part] <= GENERAL and r_count[part] <= GENERAL:
                if not self.match_masks(
                    self.h_places + h_first[part], h_count[part], r_sorted + r_first[part], r_count[part], edge_first
                ):
                    return NO_MEMORY
            else:
                self.match_crowd(self.h_places + h_first[part], h_count[part], edge_first)
        return 0

    cdef bint match_masks(
        self, const int64_t* h, int64_t n_h, const int64_t* r, int64_t n_r, const int64_t* edge_first
    ) noexcept nogil:
        """A part in which not every word is a synonym of every other."""
        cdef uint64_t masks[GENERAL]
        cdef int64_t* h_index = self.column(6)
        cdef int64_t* met = self.column(1)
        cdef int64_t s, t, k, i
        for s in range(n_h):
            i = h_index[h[s]]
            masks[s] = 0
            for k in range(edge_first[i], edge_first[i + 1]):
                met[self.edges[k]] = self.n_h_left + h[s]
            for t in range(n_r):
                if met[self.r_at[r[t]]] == self.n_h_left + h[s]:
                    masks[s] |= <uint64_t>1 << t
        return add_item(&self.crossings, h, n_h, r, n_r) and add_edges(&self.crossings, masks)

    cdef void match_crowd(self, const int64_t* h, int64_t n_h, const int64_t* edge_first) noexcept nogil:
        """A part too large for masks: from the last word to the first, the last synonym that is still there."""
        cdef int64_t* h_index = self.column(6)
        cdef int64_t* count = self.column(0)
        cdef int64_t* first = self.column(2)
        cdef int64_t s, k, i, place, best, best_slot
        self.crossings.exact = 0
        for s in range(n_h - 1, -1, -1):
            i = h_index[h[s]]
            best = -1
            best_slot = -1
            for k in range(edge_first[i], edge_first[i + 1]):
                place = self.r_places[first[self.edges[k]] + count[self.edges[k]] - 1] if count[self.edges[k]] else -1
                if place > best:
                    best = place
                    best_slot = self.edges[k]
            if best >= 0:
                count[best_slot] -= 1
                self.link(h[s], best)

    cdef int64_t align(self, const int64_t* h, int64_t n_h, const int64_t* r, int64_t n_r,
                       const int64_t* stems) noexcept nogil:
        """Align a pair; returns how many words match, or what went wrong."""
        cdef int64_t problem = 0
        cdef int64_t i
        cdef int number
        if not self.open_pair(h, n_h, r, n_r):
            return NO_MEMORY
        for number in range(self.n_stages):
            if self.n_h_left == 0 or self.n_r_left == 0:
                break
            clear_items(&self.crossings)
            if self.stages[number] == OF_STEMS:
                for i in range(self.n_h_left):
                    self.h_form[self.h_left[i]] = stems[self.h_form[self.h_left[i]]]
                for i in range(self.n_r_left):
                    self.r_form[self.r_left[i]] = stems[self.r_form[self.r_left[i]]]
            if self.stages[number] == OF_SYNONYMS:
                problem = self.match_synonyms()
            else:
                problem = self.match_forms()
            if problem < 0:
                return problem
            if self.crossings.n_items and not resolve(&self.crossings, self.h_link, n_h, self.r_link, n_r):
                return NO_MEMORY
            self.close_stage()
        return n_h - self.n_h_left

    cdef int64_t count_chunks(self) noexcept nogil:
        """Runs of matches that stand side by side in both texts."""
        cdef int64_t i, chunks = 0, before = -2
        for i in range(self.n_h):
            if self.h_link[i] >= 0 and self.h_link[i] != before + 1:
                chunks += 1
            before = self.h_link[i] if self.h_link[i] >= 0 else -2
        return chunks

    cdef int64_t count_segment(
        self, const int64_t* ids, const int64_t* text_tokens, int64_t first, int64_t stop, const int64_t* stems,
        double alpha, double beta, double gamma, int64_t* out,
    ) noexcept nogil:
        """The statistics of a hypothesis (text `first`) and the reference of the best score, the first of the best."""
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

    def count(
        self, const int64_t[::1] ids, const int64_t[::1] text_tokens, const int64_t[::1] segments,
        const int64_t[::1] stems, tuple forms not None, tuple queries not None, double alpha, double beta,
        double gamma, int64_t[:, ::1] out,
    ):
        """out[segment]: matches, chunks, words of the hypothesis and of the reference whose score is best.

        `ids` are numbers of words; `stems` holds the number of the stem of every word, if stems are asked for. `forms`
        are the code points of what synonyms are asked of (stems where these come before, else words) and where each
        begins; `queries` are the same in lower case. alpha and gamma are in 0..1 and beta is at least 0, so that scores
        are, and every segment with a reference fills its row.
        """
        cdef const uint32_t[::1] points = forms[0]
        cdef const int64_t[::1] starts = forms[1]
        cdef const uint32_t[::1] query_points = queries[0]
        cdef const int64_t[::1] query_starts = queries[1]
        cdef int64_t segment, place, problem = 0, n_forms
        cdef const int64_t* own_stems = &stems[0] if stems.shape[0] else NULL
        cdef const int64_t* own_ids = &ids[0] if ids.shape[0] else NULL
        n_forms = max(starts.shape[0] - 1, stems.shape[0])
        for place in range(ids.shape[0]):
            if not 0 <= ids[place] < n_forms:
                raise IndexError(f"word {ids[place]} of {n_forms}")
        if not (
            enlarge(&self.form_slots, &self.form_room, n_forms)
            and enlarge(&self.form_names, &self.named_room, n_forms)
            and enlarge(&self.synonyms, &self.synonym_room, n_forms)
            and enlarge(&self.n_synonyms, &self.count_room, n_forms)
        ):
            raise MemoryError
        self.points = &points[0] if points.shape[0] else NULL
        self.starts = &starts[0]
        self.queries = &query_points[0] if query_points.shape[0] else NULL
        self.query_starts = &query_starts[0]
        with nogil:
            for segment in range(out.shape[0]):
                problem = self.count_segment(
                    own_ids, &text_tokens[0], segments[segment], segments[segment + 1], own_stems, alpha, beta, gamma,
                    &out[segment, 0])
                if problem < 0:
                    break
        if problem < 0:
            raise_problem(problem)
