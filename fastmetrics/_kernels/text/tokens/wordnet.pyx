"""Synonyms from the files of WordNet: the words that share a synset with a word.

Files. The caller memory-maps the files of the WordNet distribution (wndb(5WN)). For each part of speech there is an
index (a lemma, then the offsets of its synsets in the data file), the data (a synset per line) and the exceptions (an
inflected form, then its base forms). One open-addressing table has all lemmas, another one all exceptional forms. An
entry has the start of the word's line in each of the four files. The rest of a line is read only when it is looked up.
Both tables are built in one pass over the lines, in about 10 ms.

Synonyms. The synonyms of a word are the words of all synsets of the word and of its base forms, in every part of
speech. Base forms are those of WordNet's morphy: the exceptional forms if the word has an entry there, otherwise the
results of replacing a suffix of the part of speech. The word itself is always included. Collocations ("ice_cream") are
left out, and a marker of an adjective's position ("galore(ip)") is removed.

Each thread numbers the names by its own table, so that later steps compare integers. A damaged file raises ValueError.
No read is out of bounds: every scan stops at the end of the file.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

from fastmetrics._kernels.numeric.table_hash cimport table_hash_bytes, use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS

use_table_seeds(_SEEDS)

cdef enum:
    N_POS = 4
    DATA = 4                    # files: index, data and exceptions, each of noun, verb, adjective, adverb
    EXCEPTIONS = 8
    N_FILES = 12
    MIN_SLOTS = 1024

cdef int64_t MAX_FILE_BYTES = 0xFFFFFFF0
cdef uint64_t NUMBER_MASK = 0xFFFFFFFF


cdef struct Rule:
    int old_length
    int new_length
    const char* old
    const char* new

cdef Rule RULES[21]
cdef int FIRST_RULE[5]


cdef void set_rule(int number, const char* old, int old_length, const char* new, int new_length):
    RULES[number].old = old
    RULES[number].old_length = old_length
    RULES[number].new = new
    RULES[number].new_length = new_length


cdef void make_rules():
    """Fill RULES with the suffixes of morphy(7WN), in NLTK's order."""
    FIRST_RULE[0] = 0
    set_rule(0, b"s", 1, b"", 0)
    set_rule(1, b"ses", 3, b"s", 1)
    set_rule(2, b"ves", 3, b"f", 1)
    set_rule(3, b"xes", 3, b"x", 1)
    set_rule(4, b"zes", 3, b"z", 1)
    set_rule(5, b"ches", 4, b"ch", 2)
    set_rule(6, b"shes", 4, b"sh", 2)
    set_rule(7, b"men", 3, b"man", 3)
    set_rule(8, b"ies", 3, b"y", 1)
    FIRST_RULE[1] = 9
    set_rule(9, b"s", 1, b"", 0)
    set_rule(10, b"ies", 3, b"y", 1)
    set_rule(11, b"es", 2, b"e", 1)
    set_rule(12, b"es", 2, b"", 0)
    set_rule(13, b"ed", 2, b"e", 1)
    set_rule(14, b"ed", 2, b"", 0)
    set_rule(15, b"ing", 3, b"e", 1)
    set_rule(16, b"ing", 3, b"", 0)
    FIRST_RULE[2] = 17
    set_rule(17, b"er", 2, b"", 0)
    set_rule(18, b"est", 3, b"", 0)
    set_rule(19, b"er", 2, b"e", 1)
    set_rule(20, b"est", 3, b"e", 1)
    FIRST_RULE[3] = 21
    FIRST_RULE[4] = 21

make_rules()


cdef int64_t to_utf8(const uint32_t* points, int64_t length, uint8_t* out) noexcept nogil:
    """Encode a word as UTF-8, surrogates too. Return its bytes, or -1 if they may exceed MAX_WORD_BYTES.

    `out` has room for MAX_WORD_BYTES + 4 bytes.
    """
    cdef int64_t i, n = 0
    cdef uint32_t point
    for i in range(length):
        point = points[i]
        if n > MAX_WORD_BYTES - 4:
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


cdef inline int64_t field_end(const uint8_t* text, int64_t position, int64_t stop) noexcept nogil:
    while position < stop and text[position] > 32:
        position += 1
    return position


cdef inline int64_t next_field(const uint8_t* text, int64_t position, int64_t stop) noexcept nogil:
    """Return the start of the field after the one at `position`, or the end of the line or `stop` if there is none."""
    position = field_end(text, position, stop)
    while position < stop and text[position] <= 32 and text[position] != 10:
        position += 1
    return position


cdef inline int64_t line_end(const uint8_t* text, int64_t position, int64_t length) noexcept nogil:
    cdef const void* end = memchr(text + position, 10, <size_t>(length - position))
    return length if end == NULL else <const uint8_t*>end - text


cdef inline int64_t parse_decimal(const uint8_t* text, int64_t position, int64_t stop) noexcept nogil:
    """Return a number of up to 12 digits that ends at a blank or at `stop`; -1 for anything else."""
    cdef int64_t value = 0, first = position
    while position < stop and text[position] > 32:
        if not 48 <= text[position] <= 57 or position - first >= 12:
            return -1
        value = value * 10 + text[position] - 48
        position += 1
    return value if position > first else -1


cdef inline int64_t parse_hexadecimal(const uint8_t* text, int64_t position, int64_t stop) noexcept nogil:
    cdef int64_t value = 0, first = position
    cdef uint8_t letter
    while position < stop and text[position] > 32:
        letter = text[position] | 32
        if 48 <= text[position] <= 57:
            value = value * 16 + text[position] - 48
        elif 97 <= letter <= 102:
            value = value * 16 + letter - 87
        else:
            return -1
        if value > 0xFFFF:
            return -1
        position += 1
    return value if position > first else -1


cdef inline bint is_word(
    const Entry* entry, const uint8_t** files, const int64_t* lengths, const uint8_t* word, int64_t length
) noexcept nogil:
    """Return whether an entry is that of a word: its line begins with the word, followed by a blank or its end."""
    cdef int pos = 0
    cdef int64_t position
    while entry.line[pos] == 0:
        pos += 1
    position = <int64_t>entry.line[pos] - 1
    if lengths[pos] - position < length or memcmp(files[pos] + position, word, length) != 0:
        return 0
    return lengths[pos] - position == length or files[pos][position + length] <= 32


cdef inline Entry* find_entry(
    Entry* entries, uint64_t n_slots, const uint8_t** files, const int64_t* lengths, const uint8_t* word,
    int64_t length,
) noexcept nogil:
    """Return the entry of a word, or the empty entry where it belongs."""
    cdef uint64_t hashed = table_hash_bytes(word, length)
    cdef uint32_t tag = <uint32_t>(hashed >> 32) | 1
    cdef uint64_t slot = hashed & (n_slots - 1)
    while entries[slot].tag:
        if entries[slot].tag == tag and is_word(&entries[slot], files, lengths, word, length):
            return &entries[slot]
        slot = (slot + 1) & (n_slots - 1)
    return &entries[slot]


cdef int64_t count_lines(const uint8_t* text, int64_t length) noexcept nogil:
    cdef int64_t position, lines = 1
    for position in range(length):
        lines += text[position] == 10
    return lines


cdef int64_t add_lines(
    Entry* entries, uint64_t n_slots, const uint8_t** files, const int64_t* lengths
) noexcept nogil:
    """Add the first word of every line of four files. Lines that begin with a blank are the licence."""
    cdef int pos
    cdef int64_t position, end, word_end
    cdef const uint8_t* text
    cdef Entry* entry
    for pos in range(N_POS):
        text = files[pos]
        position = 0
        while position < lengths[pos]:
            end = line_end(text, position, lengths[pos])
            if text[position] > 32:
                word_end = field_end(text, position, end)
                if word_end - position > MAX_WORD_BYTES:
                    return DAMAGED
                entry = find_entry(entries, n_slots, files, lengths, text + position, word_end - position)
                entry.tag = <uint32_t>(table_hash_bytes(text + position, word_end - position) >> 32) | 1
                entry.line[pos] = <uint32_t>(position + 1)
            position = end + 1
    return 0


cdef class WordNet:
    """Tables of the lemmas and exceptions of a WordNet. Any number of threads can use one object.

    `files` are twelve bytes-like objects: four index files, four data files and four exception files, each in the order
    nouns, verbs, adjectives, adverbs. Raises ValueError if they are not files of WordNet.
    """

    def __cinit__(self, list files not None):
        cdef const uint8_t[::1] view
        cdef int number
        cdef int64_t error
        self.buffers = []
        if len(files) != N_FILES:
            raise ValueError(f"WordNet has {N_FILES} files; found {len(files)}")
        for number in range(N_FILES):
            self.text[number] = NULL
            self.length[number] = len(files[number])
            if self.length[number] > MAX_FILE_BYTES:
                raise ValueError("a file of WordNet has less than 4 GB")
            if self.length[number]:
                view = files[number]
                self.text[number] = &view[0]
                self.buffers.append(view)
        with nogil:
            self.n_lemmas = self.table_size(0)
            self.n_exceptions = self.table_size(EXCEPTIONS)
        self.lemmas = <Entry*>malloc(self.n_lemmas * sizeof(Entry))
        self.exceptions = <Entry*>malloc(self.n_exceptions * sizeof(Entry))
        if self.lemmas == NULL or self.exceptions == NULL:
            raise MemoryError
        with nogil:
            memset(self.lemmas, 0, self.n_lemmas * sizeof(Entry))
            memset(self.exceptions, 0, self.n_exceptions * sizeof(Entry))
            error = add_lines(self.lemmas, self.n_lemmas, self.text, self.length)
            if error == 0:
                error = add_lines(self.exceptions, self.n_exceptions, self.text + EXCEPTIONS, self.length + EXCEPTIONS)
        if error:
            raise ValueError("these are not files of WordNet: a line begins with a word of more than 500 bytes")

    def __dealloc__(self):
        free(self.lemmas)
        free(self.exceptions)

    cdef uint64_t table_size(self, int first) noexcept nogil:
        """Return a number of slots for the lines of four files: a power of two, at least 1.5 times the lines."""
        cdef int64_t lines = 0
        cdef uint64_t n_slots = MIN_SLOTS
        cdef int pos
        for pos in range(N_POS):
            lines += count_lines(self.text[first + pos], self.length[first + pos])
        while n_slots < <uint64_t>(lines + lines // 2):
            n_slots *= 2
        return n_slots

    cdef int64_t append_synset(self, int pos, int64_t offset, Names names) noexcept nogil:
        """Append the words of the synset at an offset of the data file."""
        cdef const uint8_t* text = self.text[DATA + pos]
        cdef int64_t stop = self.length[DATA + pos]     # no field of a whole file exceeds its line
        cdef int64_t position, n_words, name_stop, bracket
        if offset >= stop:
            return DAMAGED
        if parse_decimal(text, offset, stop) != offset:
            return DAMAGED
        position = next_field(text, next_field(text, next_field(text, offset, stop), stop), stop)
        n_words = parse_hexadecimal(text, position, stop)
        if n_words < 1:
            return DAMAGED
        for _ in range(n_words):
            position = next_field(text, position, stop)
            name_stop = field_end(text, position, stop)
            if name_stop == position or name_stop - position > MAX_WORD_BYTES:
                return DAMAGED
            if text[name_stop - 1] == c")":
                bracket = name_stop - 2
                while bracket >= position and text[bracket] != c"(" and text[bracket] != c")":
                    bracket -= 1
                if bracket >= position and text[bracket] == c"(":
                    name_stop = bracket
            if memchr(text + position, c"_", <size_t>(name_stop - position)) == NULL:
                if names.append(names.number(text + position, name_stop - position)) < 0:
                    return NO_MEMORY
            position = next_field(text, position, stop)
        return 0

    cdef int64_t append_form(self, int pos, const uint8_t* form, int64_t length, Names names) noexcept nogil:
        """Append the words of all synsets of a base form."""
        return self.append_lemma(
            pos, find_entry(self.lemmas, self.n_lemmas, self.text, self.length, form, length), names)

    cdef int64_t append_lemma(self, int pos, const Entry* entry, Names names) noexcept nogil:
        cdef const uint8_t* text = self.text[pos]
        cdef int64_t position, stop, n_synsets, n_pointers, offset, error
        if entry.tag == 0 or entry.line[pos] == 0:
            return 0
        position = <int64_t>entry.line[pos] - 1
        stop = line_end(text, position, self.length[pos])
        position = next_field(text, next_field(text, position, stop), stop)
        n_synsets = parse_decimal(text, position, stop)
        position = next_field(text, position, stop)
        n_pointers = parse_decimal(text, position, stop)
        if n_synsets < 1 or n_pointers < 0:
            return DAMAGED
        for _ in range(n_pointers + 2):
            position = next_field(text, position, stop)
            if position == stop:
                return DAMAGED
        for _ in range(n_synsets):
            position = next_field(text, position, stop)
            offset = parse_decimal(text, position, stop)
            if offset < 0:
                return DAMAGED
            error = self.append_synset(pos, offset, names)
            if error < 0:
                return error
        return 0

    cdef int64_t append_part_of_speech(
        self, int pos, const uint8_t* word, int64_t length, const Entry* exception, Names names
    ) noexcept nogil:
        """Append the synonyms of the base forms of a word, for one part of speech."""
        cdef uint8_t form[MAX_WORD_BYTES + 8]
        cdef Rule* rule
        cdef int number
        cdef int64_t position, stop, end, error, stem_length
        cdef const uint8_t* text = self.text[EXCEPTIONS + pos]
        if exception.tag and exception.line[pos]:
            position = <int64_t>exception.line[pos] - 1
            stop = line_end(text, position, self.length[EXCEPTIONS + pos])
            position = next_field(text, position, stop)
            while position < stop:
                end = field_end(text, position, stop)
                error = self.append_form(pos, text + position, end - position, names)
                if error < 0:
                    return error
                position = next_field(text, position, stop)
            return 0
        for number in range(FIRST_RULE[pos], FIRST_RULE[pos + 1]):
            rule = &RULES[number]
            stem_length = length - rule.old_length
            if stem_length < 0 or memcmp(word + stem_length, rule.old, rule.old_length) != 0:
                continue
            memcpy(form, word, stem_length)
            memcpy(form + stem_length, rule.new, rule.new_length)
            error = self.append_form(pos, form, stem_length + rule.new_length, names)
            if error < 0:
                return error
        return 0

    cdef int64_t append_synonyms(self, const uint8_t* word, int64_t length, Names names) noexcept nogil:
        """Append the numbers of a word's synonyms, sorted and distinct. Return how many there are, or a negative error.

        The word is in lower case and has at most MAX_WORD_BYTES bytes of UTF-8.
        """
        cdef int64_t before = names.n_numbers, error, i, k, value, n_kept
        cdef const Entry* lemma
        cdef const Entry* exception
        cdef int pos
        for i in range(length):
            if word[i] <= 32:
                return 0            # no lemma has a blank, which would end its field
        lemma = find_entry(self.lemmas, self.n_lemmas, self.text, self.length, word, length)
        exception = find_entry(
            self.exceptions, self.n_exceptions, self.text + EXCEPTIONS, self.length + EXCEPTIONS, word, length)
        for pos in range(N_POS):
            error = self.append_lemma(pos, lemma, names)
            if error == 0:
                error = self.append_part_of_speech(pos, word, length, exception, names)
            if error < 0:
                names.n_numbers = before
                return error
        n_kept = before
        for i in range(before, names.n_numbers):
            value = names.synonym_numbers[i]
            k = n_kept
            while k > before and names.synonym_numbers[k - 1] > value:
                k -= 1
            if k > before and names.synonym_numbers[k - 1] == value:
                continue
            memmove(names.synonym_numbers + k + 1, names.synonym_numbers + k, (n_kept - k) * sizeof(int64_t))
            names.synonym_numbers[k] = value
            n_kept += 1
        names.n_numbers = n_kept
        return n_kept - before

    def lemma_names(self, bytes word not None) -> list[bytes]:
        """Return the synonyms of a word (UTF-8, lower case), in the order in which they are found."""
        cdef Names names = Names()
        cdef const uint8_t* word_bytes = word
        cdef int64_t length = len(word), error
        if length > MAX_WORD_BYTES:
            return []
        with nogil:
            error = self.append_synonyms(word_bytes, length, names)
        if error < 0:
            raise_error(error)
        return names.words()


cdef int raise_error(int64_t error) except -1:
    """Raise the exception of a negative result."""
    if error == NO_MEMORY:
        raise MemoryError
    raise ValueError("the files of WordNet are damaged, or not of one version: an index entry leads to no synset")


cdef class Names:
    """Numbers of names, and a list of numbers. Two threads must not use one object at the same time."""

    def __cinit__(self):
        self.n_slots = MIN_SLOTS
        self.text_capacity = 1 << 12
        self.name_capacity = MIN_SLOTS // 2
        self.numbers_capacity = 1 << 10
        self.size = 0
        self.n_numbers = 0
        self.slots = <uint64_t*>malloc(self.n_slots * sizeof(uint64_t))
        self.text = <uint8_t*>malloc(self.text_capacity)
        self.starts = <int64_t*>malloc((self.name_capacity + 1) * sizeof(int64_t))
        self.synonym_numbers = <int64_t*>malloc(self.numbers_capacity * sizeof(int64_t))
        if self.slots == NULL or self.text == NULL or self.starts == NULL or self.synonym_numbers == NULL:
            raise MemoryError
        memset(self.slots, 0, self.n_slots * sizeof(uint64_t))
        self.starts[0] = 0

    def __dealloc__(self):
        free(self.slots)
        free(self.text)
        free(self.starts)
        free(self.synonym_numbers)

    def words(self) -> list[bytes]:
        """Return all names, by number."""
        cdef int64_t i
        return [self.text[self.starts[i]:self.starts[i + 1]] for i in range(self.size)]

    cdef bint grow(self) noexcept nogil:
        """Double the number of slots. Return False if memory is exhausted."""
        cdef uint64_t n_slots = self.n_slots * 2, hashed, slot
        cdef int64_t i
        cdef uint64_t* slots = <uint64_t*>malloc(n_slots * sizeof(uint64_t))
        if slots == NULL:
            return 0
        memset(slots, 0, n_slots * sizeof(uint64_t))
        for i in range(self.size):
            hashed = table_hash_bytes(self.text + self.starts[i], self.starts[i + 1] - self.starts[i])
            slot = hashed & (n_slots - 1)
            while slots[slot]:
                slot = (slot + 1) & (n_slots - 1)
            slots[slot] = (hashed & ~NUMBER_MASK) | <uint64_t>(i + 1)
        free(self.slots)
        self.slots = slots
        self.n_slots = n_slots
        return 1

    cdef bint reserve(self, int64_t length) noexcept nogil:
        """Reserve memory for one more name of `length` bytes. Return False if memory is exhausted."""
        cdef void* memory
        cdef int64_t capacity = self.starts[self.size] + length
        if capacity > self.text_capacity:
            capacity += capacity // 2
            memory = realloc(self.text, capacity)
            if memory == NULL:
                return 0
            self.text = <uint8_t*>memory
            self.text_capacity = capacity
        if self.size >= self.name_capacity:
            capacity = self.name_capacity * 2
            memory = realloc(self.starts, (capacity + 1) * sizeof(int64_t))
            if memory == NULL:
                return 0
            self.starts = <int64_t*>memory
            self.name_capacity = capacity
        return <uint64_t>self.size * 2 < self.n_slots or self.grow()

    cdef int64_t number(self, const uint8_t* name, int64_t length) noexcept nogil:
        """Return the number of a name, or NO_MEMORY. A new name is added."""
        cdef uint64_t hashed = table_hash_bytes(name, length)
        cdef uint64_t slot = hashed & (self.n_slots - 1)
        cdef int64_t i
        while self.slots[slot]:
            if self.slots[slot] >> 32 == hashed >> 32:
                i = <int64_t>(self.slots[slot] & NUMBER_MASK) - 1
                if self.starts[i + 1] - self.starts[i] == length:
                    if memcmp(self.text + self.starts[i], name, length) == 0:
                        return i
            slot = (slot + 1) & (self.n_slots - 1)
        if not self.reserve(length):
            return NO_MEMORY
        slot = hashed & (self.n_slots - 1)
        while self.slots[slot]:
            slot = (slot + 1) & (self.n_slots - 1)
        i = self.size
        memcpy(self.text + self.starts[i], name, length)
        self.starts[i + 1] = self.starts[i] + length
        self.slots[slot] = (hashed & ~NUMBER_MASK) | <uint64_t>(i + 1)
        self.size = i + 1
        return i

    cdef int64_t append(self, int64_t number) noexcept nogil:
        """Append a number to `synonym_numbers`. Return 0, or a negative error; a negative `number` is one."""
        cdef void* memory
        if number < 0:
            return number
        if self.n_numbers >= self.numbers_capacity:
            memory = realloc(self.synonym_numbers, self.numbers_capacity * 2 * sizeof(int64_t))
            if memory == NULL:
                return NO_MEMORY
            self.synonym_numbers = <int64_t*>memory
            self.numbers_capacity *= 2
        self.synonym_numbers[self.n_numbers] = number
        self.n_numbers += 1
        return 0
