"""WordNet's own files: which words stand in a synset with a word.

The files are those of the WordNet distribution (wndb(5WN)), memory-mapped by the caller: of each part of speech an
index (lemma, then the offsets of its synsets in the data file), the data (a synset a line) and the exceptions (an
inflected form, then its base forms). All lemmas go into one open-addressing table, all exceptional forms into another;
an entry knows the line of the word in each of the four files, and nothing of a line is read before it is asked for.
Making both tables takes one look at every line: about ten milliseconds.

The synonyms of a word are the words of all synsets of the word and of its base forms, in every part of speech, as
WordNet's morphy finds them: the exceptional forms where the word has an entry there, else what is left when one of the
suffixes of the part of speech is replaced; the word itself in any case. Collocations ("ice_cream") are left out, a
marker of the adjectives' position ("galore(ip)") is cut off.

Names are numbered by a table of the thread's own, so that what follows compares integers. A damaged file is told of,
never followed out of bounds: every step ends at the end of the file.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

cdef enum:
    PARTS = 4
    DATA = 4                    # the files are index, data and exceptions of noun, verb, adjective, adverb
    EXCEPTIONS = 8
    N_FILES = 12
    LEAST_SLOTS = 1024

cdef int64_t LONGEST_FILE = 0xFFFFFFF0
cdef uint64_t NUMBER_BITS = 0xFFFFFFFF


cdef struct Rule:
    int old_length
    int new_length
    const char* old
    const char* new

cdef Rule RULES[21]
cdef int FIRST_RULE[5]


cdef void rule(int number, const char* old, int old_length, const char* new, int new_length):
    RULES[number].old = old
    RULES[number].old_length = old_length
    RULES[number].new = new
    RULES[number].new_length = new_length


cdef void make_rules():
    """The suffixes of morphy(7WN), as NLTK has them."""
    FIRST_RULE[0] = 0
    rule(0, b"s", 1, b"", 0)
    rule(1, b"ses", 3, b"s", 1)
    rule(2, b"ves", 3, b"f", 1)
    rule(3, b"xes", 3, b"x", 1)
    rule(4, b"zes", 3, b"z", 1)
    rule(5, b"ches", 4, b"ch", 2)
    rule(6, b"shes", 4, b"sh", 2)
    rule(7, b"men", 3, b"man", 3)
    rule(8, b"ies", 3, b"y", 1)
    FIRST_RULE[1] = 9
    rule(9, b"s", 1, b"", 0)
    rule(10, b"ies", 3, b"y", 1)
    rule(11, b"es", 2, b"e", 1)
    rule(12, b"es", 2, b"", 0)
    rule(13, b"ed", 2, b"e", 1)
    rule(14, b"ed", 2, b"", 0)
    rule(15, b"ing", 3, b"e", 1)
    rule(16, b"ing", 3, b"", 0)
    FIRST_RULE[2] = 17
    rule(17, b"er", 2, b"", 0)
    rule(18, b"est", 3, b"", 0)
    rule(19, b"er", 2, b"e", 1)
    rule(20, b"est", 3, b"e", 1)
    FIRST_RULE[3] = 21
    FIRST_RULE[4] = 21

make_rules()


cdef inline uint64_t mixed(uint64_t state, uint64_t value) noexcept nogil:
    state = (state ^ value) * <uint64_t>0x9E3779B97F4A7C15
    return state ^ (state >> 29)


cdef inline uint64_t hash_name(const uint8_t* name, int64_t length) noexcept nogil:
    cdef uint64_t state = <uint64_t>length * <uint64_t>0xD6E8FEB86659FD93
    cdef uint64_t piece
    while length >= 8:
        memcpy(&piece, name, 8)
        state = mixed(state, piece)
        name += 8
        length -= 8
    piece = 0
    memcpy(&piece, name, length)
    state = mixed(state, piece)
    return state ^ (state >> 32)


cdef int64_t encode(const uint32_t* points, int64_t length, uint8_t* out) noexcept nogil:
    """A word as UTF-8 (surrogates too); -1 where it is longer than LONGEST_WORD. `out` has room for that and four."""
    cdef int64_t i, n = 0
    cdef uint32_t point
    for i in range(length):
        point = points[i]
        if n > LONGEST_WORD - 4:
            return -1
        if point < 0x80:
            out[n] = <uint8_t>point
            n += 1
        elif point < 0x800:
            out[n] = <uint8_t>(0xC0 | point >> 6)
            out[n + 1] = <uint8_t>(0x80 | point & 63)
            n += 2
        elif point < 0x10000:
            out[n] = <uint8_t>(0xE0 | point >> 12)
            out[n + 1] = <uint8_t>(0x80 | point >> 6 & 63)
            out[n + 2] = <uint8_t>(0x80 | point & 63)
            n += 3
        else:
            out[n] = <uint8_t>(0xF0 | point >> 18)
            out[n + 1] = <uint8_t>(0x80 | point >> 12 & 63)
            out[n + 2] = <uint8_t>(0x80 | point >> 6 & 63)
            out[n + 3] = <uint8_t>(0x80 | point & 63)
            n += 4
    return n


cdef inline int64_t field_end(const uint8_t* text, int64_t place, int64_t stop) noexcept nogil:
    while place < stop and text[place] > 32:
        place += 1
    return place


cdef inline int64_t next_field(const uint8_t* text, int64_t place, int64_t stop) noexcept nogil:
    """Where the field behind the one at `place` begins; the end of the line or `stop` where there is none."""
    place = field_end(text, place, stop)
    while place < stop and text[place] <= 32 and text[place] != 10:
        place += 1
    return place


cdef inline int64_t line_end(const uint8_t* text, int64_t place, int64_t length) noexcept nogil:
    cdef const void* end = memchr(text + place, 10, <size_t>(length - place))
    return length if end == NULL else <const uint8_t*>end - text


cdef inline int64_t decimal(const uint8_t* text, int64_t place, int64_t stop) noexcept nogil:
    """A number of up to 12 digits that ends at a blank or at `stop`; -1 for anything else."""
    cdef int64_t value = 0, first = place
    while place < stop and text[place] > 32:
        if not 48 <= text[place] <= 57 or place - first >= 12:
            return -1
        value = value * 10 + text[place] - 48
        place += 1
    return value if place > first else -1


cdef inline int64_t hexadecimal(const uint8_t* text, int64_t place, int64_t stop) noexcept nogil:
    cdef int64_t value = 0, first = place
    cdef uint8_t letter
    while place < stop and text[place] > 32:
        letter = text[place] | 32
        if 48 <= text[place] <= 57:
            value = value * 16 + text[place] - 48
        elif 97 <= letter <= 102:
            value = value * 16 + letter - 87
        else:
            return -1
        if value > 0xFFFF:
            return -1
        place += 1
    return value if place > first else -1


cdef inline bint is_word(
    const Entry* entry, const uint8_t** files, const int64_t* lengths, const uint8_t* word, int64_t length
) noexcept nogil:
    """Does an entry stand for this word? Its line begins with it, a blank or the line's end behind."""
    cdef int part = 0
    cdef int64_t place
    while entry.line[part] == 0:
        part += 1
    place = <int64_t>entry.line[part] - 1
    if lengths[part] - place < length or memcmp(files[part] + place, word, length) != 0:
        return 0
    return lengths[part] - place == length or files[part][place + length] <= 32


cdef inline Entry* find(
    Entry* entries, uint64_t n_slots, const uint8_t** files, const int64_t* lengths, const uint8_t* word,
    int64_t length,
) noexcept nogil:
    """The entry of a word, or the empty one where it belongs."""
    cdef uint64_t hashed = hash_name(word, length)
    cdef uint32_t tag = <uint32_t>(hashed >> 32) | 1
    cdef uint64_t slot = hashed & (n_slots - 1)
    while entries[slot].tag:
        if entries[slot].tag == tag and is_word(&entries[slot], files, lengths, word, length):
            return &entries[slot]
        slot = (slot + 1) & (n_slots - 1)
    return &entries[slot]


cdef int64_t count_lines(const uint8_t* text, int64_t length) noexcept nogil:
    cdef int64_t place, lines = 1
    for place in range(length):
        lines += text[place] == 10
    return lines


cdef int64_t fill(
    Entry* entries, uint64_t n_slots, const uint8_t** files, const int64_t* lengths
) noexcept nogil:
    """Enter the first word of every line of four files; lines that begin with a blank are the licence."""
    cdef int part
    cdef int64_t place, end, word_end
    cdef const uint8_t* text
    cdef Entry* entry
    for part in range(PARTS):
        text = files[part]
        place = 0
        while place < lengths[part]:
            end = line_end(text, place, lengths[part])
            if text[place] > 32:
                word_end = field_end(text, place, end)
                if word_end - place > LONGEST_WORD:
                    return DAMAGED
                entry = find(entries, n_slots, files, lengths, text + place, word_end - place)
                entry.tag = <uint32_t>(hash_name(text + place, word_end - place) >> 32) | 1
                entry.line[part] = <uint32_t>(place + 1)
            place = end + 1
    return 0


cdef class WordNet:
    """Tables over the files of a WordNet, for any number of threads at once.

    `files` are twelve bytes-like objects: index, data and exceptions, of nouns, verbs, adjectives and adverbs each.
    Raises ValueError where they are not WordNet's.
    """

    def __cinit__(self, list files not None):
        cdef const uint8_t[::1] view
        cdef int number
        cdef int64_t problem
        self.kept = []
        if len(files) != N_FILES:
            raise ValueError(f"WordNet has {N_FILES} files; found {len(files)}")
        for number in range(N_FILES):
            self.text[number] = NULL
            self.length[number] = len(files[number])
            if self.length[number] > LONGEST_FILE:
                raise ValueError("a file of WordNet has less than 4 GB")
            if self.length[number]:
                view = files[number]
                self.text[number] = &view[0]
                self.kept.append(view)
        with nogil:
            self.n_lemmas = self.room(0)
            self.n_exceptions = self.room(EXCEPTIONS)
        self.lemmas = <Entry*>malloc(self.n_lemmas * sizeof(Entry))
        self.exceptions = <Entry*>malloc(self.n_exceptions * sizeof(Entry))
        if self.lemmas == NULL or self.exceptions == NULL:
            raise MemoryError
        with nogil:
            memset(self.lemmas, 0, self.n_lemmas * sizeof(Entry))
            memset(self.exceptions, 0, self.n_exceptions * sizeof(Entry))
            problem = fill(self.lemmas, self.n_lemmas, self.text, self.length)
            if problem == 0:
                problem = fill(self.exceptions, self.n_exceptions, self.text + EXCEPTIONS, self.length + EXCEPTIONS)
        if problem:
            raise ValueError("these are not files of WordNet: a line begins with a word of more than 500 bytes")

    def __dealloc__(self):
        free(self.lemmas)
        free(self.exceptions)

    cdef uint64_t room(self, int first) noexcept nogil:
        """Slots for the lines of four files: a power of two, at least half as much again."""
        cdef int64_t lines = 0
        cdef uint64_t n_slots = LEAST_SLOTS
        cdef int part
        for part in range(PARTS):
            lines += count_lines(self.text[first + part], self.length[first + part])
        while n_slots < <uint64_t>(lines + lines // 2):
            n_slots *= 2
        return n_slots

    cdef int64_t of_synset(self, int part, int64_t offset, Names names) noexcept nogil:
        """Append the words of the synset at an offset."""
        cdef const uint8_t* text = self.text[DATA + part]
        cdef int64_t stop = self.length[DATA + part]    # fields end at the end of the line, which is far
        cdef int64_t place, n_words, name_stop, back
        if offset >= stop:
            return DAMAGED
        if decimal(text, offset, stop) != offset:
            return DAMAGED
        place = next_field(text, next_field(text, next_field(text, offset, stop), stop), stop)
        n_words = hexadecimal(text, place, stop)
        if n_words < 1:
            return DAMAGED
        for _ in range(n_words):
            place = next_field(text, place, stop)
            name_stop = field_end(text, place, stop)
            if name_stop == place or name_stop - place > LONGEST_WORD:
                return DAMAGED
            if text[name_stop - 1] == c")":
                back = name_stop - 2
                while back >= place and text[back] != c"(" and text[back] != c")":
                    back -= 1
                if back >= place and text[back] == c"(":
                    name_stop = back
            if memchr(text + place, c"_", <size_t>(name_stop - place)) == NULL:
                if names.append(names.number(text + place, name_stop - place)) < 0:
                    return NO_MEMORY
            place = next_field(text, place, stop)
        return 0

    cdef int64_t of_form(self, int part, const uint8_t* form, int64_t length, Names names) noexcept nogil:
        """Append the words of all synsets of a base form."""
        return self.of_lemma(
            part, find(self.lemmas, self.n_lemmas, self.text, self.length, form, length), names)

    cdef int64_t of_lemma(self, int part, const Entry* entry, Names names) noexcept nogil:
        cdef const uint8_t* text = self.text[part]
        cdef int64_t place, stop, n_synsets, n_pointers, offset, problem
        if entry.tag == 0 or entry.line[part] == 0:
            return 0
        place = <int64_t>entry.line[part] - 1
        stop = line_end(text, place, self.length[part])
        place = next_field(text, next_field(text, place, stop), stop)
        n_synsets = decimal(text, place, stop)
        place = next_field(text, place, stop)
        n_pointers = decimal(text, place, stop)
        if n_synsets < 1 or n_pointers < 0:
            return DAMAGED
        for _ in range(n_pointers + 2):
            place = next_field(text, place, stop)
            if place == stop:
                return DAMAGED
        for _ in range(n_synsets):
            place = next_field(text, place, stop)
            offset = decimal(text, place, stop)
            if offset < 0:
                return DAMAGED
            problem = self.of_synset(part, offset, names)
            if problem < 0:
                return problem
        return 0

    cdef int64_t of_part(
        self, int part, const uint8_t* word, int64_t length, const Entry* exception, Names names
    ) noexcept nogil:
        """Append the synonyms of the base forms of a word as one part of speech."""
        cdef uint8_t form[LONGEST_WORD + 8]
        cdef Rule* change
        cdef int number
        cdef int64_t place, stop, end, problem, kept
        cdef const uint8_t* text = self.text[EXCEPTIONS + part]
        if exception.tag and exception.line[part]:
            place = <int64_t>exception.line[part] - 1
            stop = line_end(text, place, self.length[EXCEPTIONS + part])
            place = next_field(text, place, stop)
            while place < stop:
                end = field_end(text, place, stop)
                problem = self.of_form(part, text + place, end - place, names)
                if problem < 0:
                    return problem
                place = next_field(text, place, stop)
            return 0
        for number in range(FIRST_RULE[part], FIRST_RULE[part + 1]):
            change = &RULES[number]
            kept = length - change.old_length
            if kept < 0 or memcmp(word + kept, change.old, change.old_length) != 0:
                continue
            memcpy(form, word, kept)
            memcpy(form + kept, change.new, change.new_length)
            problem = self.of_form(part, form, kept + change.new_length, names)
            if problem < 0:
                return problem
        return 0

    cdef int64_t synonyms(self, const uint8_t* word, int64_t length, Names names) noexcept nogil:
        """Append the numbers of a word's synonyms, sorted and distinct; returns how many, or what went wrong.

        The word is at most LONGEST_WORD bytes of UTF-8, in lower case.
        """
        cdef int64_t before = names.n_found, problem, i, k, value, kept
        cdef const Entry* lemma
        cdef const Entry* exception
        cdef int part
        for i in range(length):
            if word[i] <= 32:
                return 0            # no lemma has a blank; it would be taken for the end of one
        lemma = find(self.lemmas, self.n_lemmas, self.text, self.length, word, length)
        exception = find(
            self.exceptions, self.n_exceptions, self.text + EXCEPTIONS, self.length + EXCEPTIONS, word, length)
        for part in range(PARTS):
            problem = self.of_lemma(part, lemma, names)
            if problem == 0:
                problem = self.of_part(part, word, length, exception, names)
            if problem < 0:
                names.n_found = before
                return problem
        kept = before
        for i in range(before, names.n_found):
            value = names.found[i]
            k = kept
            while k > before and names.found[k - 1] > value:
                k -= 1
            if k > before and names.found[k - 1] == value:
                continue
            memmove(names.found + k + 1, names.found + k, (kept - k) * sizeof(int64_t))
            names.found[k] = value
            kept += 1
        names.n_found = kept
        return kept - before

    def lemma_names(self, bytes word not None):
        """The synonyms of a word (UTF-8, lower case), in the order in which they are met."""
        cdef Names names = Names()
        cdef const uint8_t* letters = word
        cdef int64_t length = len(word), problem
        if length > LONGEST_WORD:
            return []
        with nogil:
            problem = self.synonyms(letters, length, names)
        if problem < 0:
            raise_problem(problem)
        return names.words()


cdef int raise_problem(int64_t problem) except -1:
    """The error that a negative result means."""
    if problem == NO_MEMORY:
        raise MemoryError
    raise ValueError("the files of WordNet are damaged, or not of one version: an index entry leads to no synset")


cdef class Names:
    """Names to numbers, and lists of such numbers. Not for two threads at once."""

    def __cinit__(self):
        self.n_slots = LEAST_SLOTS
        self.letter_room = 1 << 12
        self.name_room = LEAST_SLOTS // 2
        self.found_room = 1 << 10
        self.size = 0
        self.n_found = 0
        self.slots = <uint64_t*>malloc(self.n_slots * sizeof(uint64_t))
        self.letters = <uint8_t*>malloc(self.letter_room)
        self.starts = <int64_t*>malloc((self.name_room + 1) * sizeof(int64_t))
        self.found = <int64_t*>malloc(self.found_room * sizeof(int64_t))
        if self.slots == NULL or self.letters == NULL or self.starts == NULL or self.found == NULL:
            raise MemoryError
        memset(self.slots, 0, self.n_slots * sizeof(uint64_t))
        self.starts[0] = 0

    def __dealloc__(self):
        free(self.slots)
        free(self.letters)
        free(self.starts)
        free(self.found)

    def words(self):
        """All names, by number."""
        cdef int64_t i
        return [self.letters[self.starts[i]:self.starts[i + 1]] for i in range(self.size)]

    cdef bint widen(self) noexcept nogil:
        """Twice the slots; False without memory."""
        cdef uint64_t n_slots = self.n_slots * 2, hashed, slot
        cdef int64_t i
        cdef uint64_t* slots = <uint64_t*>malloc(n_slots * sizeof(uint64_t))
        if slots == NULL:
            return 0
        memset(slots, 0, n_slots * sizeof(uint64_t))
        for i in range(self.size):
            hashed = hash_name(self.letters + self.starts[i], self.starts[i + 1] - self.starts[i])
            slot = hashed & (n_slots - 1)
            while slots[slot]:
                slot = (slot + 1) & (n_slots - 1)
            slots[slot] = (hashed & ~NUMBER_BITS) | <uint64_t>(i + 1)
        free(self.slots)
        self.slots = slots
        self.n_slots = n_slots
        return 1

    cdef bint reserve(self, int64_t length) noexcept nogil:
        """Room for one more name; False without memory."""
        cdef void* memory
        cdef int64_t room = self.starts[self.size] + length
        if room > self.letter_room:
            room += room // 2
            memory = realloc(self.letters, room)
            if memory == NULL:
                return 0
            self.letters = <uint8_t*>memory
            self.letter_room = room
        if self.size >= self.name_room:
            room = self.name_room * 2
            memory = realloc(self.starts, (room + 1) * sizeof(int64_t))
            if memory == NULL:
                return 0
            self.starts = <int64_t*>memory
            self.name_room = room
        return <uint64_t>self.size * 2 < self.n_slots or self.widen()

    cdef int64_t number(self, const uint8_t* name, int64_t length) noexcept nogil:
        """The number of a name, which is added where it is new; NO_MEMORY."""
        cdef uint64_t hashed = hash_name(name, length)
        cdef uint64_t slot = hashed & (self.n_slots - 1)
        cdef int64_t i
        while self.slots[slot]:
            if self.slots[slot] >> 32 == hashed >> 32:
                i = <int64_t>(self.slots[slot] & NUMBER_BITS) - 1
                if self.starts[i + 1] - self.starts[i] == length:
                    if memcmp(self.letters + self.starts[i], name, length) == 0:
                        return i
            slot = (slot + 1) & (self.n_slots - 1)
        if not self.reserve(length):
            return NO_MEMORY
        slot = hashed & (self.n_slots - 1)
        while self.slots[slot]:
            slot = (slot + 1) & (self.n_slots - 1)
        i = self.size
        memcpy(self.letters + self.starts[i], name, length)
        self.starts[i + 1] = self.starts[i] + length
        self.slots[slot] = (hashed & ~NUMBER_BITS) | <uint64_t>(i + 1)
        self.size = i + 1
        return i

    cdef int64_t append(self, int64_t number) noexcept nogil:
        """Put a number (or what went wrong) behind those found."""
        cdef void* memory
        if number < 0:
            return number
        if self.n_found >= self.found_room:
            memory = realloc(self.found, self.found_room * 2 * sizeof(int64_t))
            if memory == NULL:
                return NO_MEMORY
            self.found = <int64_t*>memory
            self.found_room *= 2
        self.found[self.n_found] = number
        self.n_found += 1
        return 0
