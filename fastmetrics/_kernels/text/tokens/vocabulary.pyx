"""Word ids: equal words have equal ids, in the order in which the words first occur.

An open-addressing table has entries (tag, id + 1). The tag is 32 bits of a hash; it only saves comparisons. Words are
equal if all their code points are. The vocabulary stores its words in one array, one after the other. The array grows
before a block is numbered, because a block has at most as many new words as tokens.

Ids are below 2**31, so that a pair of ids fits one 64-bit key. Beyond, `number` raises OverflowError.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from fastmetrics._kernels.numeric.length_checks cimport need_length, need_offsets, need_range
from fastmetrics._kernels.numeric.table_hash cimport table_hash_bytes, use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS

use_table_seeds(_SEEDS)

cdef enum:
    MIN_SLOTS = 1024

cdef int64_t MAX_WORDS = 0x7FFFFFFF
cdef uint64_t ID_MASK = 0xFFFFFFFF


cdef inline bint same_word(const uint32_t* one, const uint32_t* other, int64_t length) noexcept nogil:
    cdef uint64_t left, right
    while length >= 2:
        memcpy(&left, one, 8)
        memcpy(&right, other, 8)
        if left != right:
            return False
        one += 2
        other += 2
        length -= 2
    return length == 0 or one[0] == other[0]


cdef class Vocabulary:
    """Ids of words. Two threads must not use one vocabulary at the same time."""

    cdef uint64_t* slots        # tag << 32 | id + 1; 0 is an empty slot
    cdef uint64_t n_slots
    cdef uint32_t* word_points
    cdef int64_t* word_starts   # word i is word_points[word_starts[i]:word_starts[i + 1]]
    cdef int64_t point_capacity
    cdef int64_t word_capacity
    cdef readonly int64_t size

    def __cinit__(self):
        self.size = 0
        self.point_capacity = 1 << 12
        self.word_capacity = MIN_SLOTS // 2
        self.n_slots = MIN_SLOTS
        self.slots = <uint64_t*>malloc(self.n_slots * sizeof(uint64_t))
        self.word_points = <uint32_t*>malloc(self.point_capacity * sizeof(uint32_t))
        self.word_starts = <int64_t*>malloc((self.word_capacity + 1) * sizeof(int64_t))
        if self.slots == NULL or self.word_points == NULL or self.word_starts == NULL:
            raise MemoryError
        memset(self.slots, 0, self.n_slots * sizeof(uint64_t))
        self.word_starts[0] = 0

    def __dealloc__(self):
        free(self.slots)
        free(self.word_points)
        free(self.word_starts)

    def clear(self):
        """Remove all words and keep the memory."""
        memset(self.slots, 0, self.n_slots * sizeof(uint64_t))
        self.size = 0

    cdef int reserve(self, int64_t n_words, int64_t n_points) except -1:
        """Reserve memory for n_words more words with n_points code points."""
        cdef int64_t capacity = self.word_starts[self.size] + n_points
        cdef void* memory
        if self.size + n_words > MAX_WORDS:
            raise OverflowError("a vocabulary holds fewer than 2**31 words")
        if capacity > self.point_capacity:
            capacity += capacity // 2
            memory = realloc(self.word_points, capacity * sizeof(uint32_t))
            if memory == NULL:
                raise MemoryError
            self.word_points = <uint32_t*>memory
            self.point_capacity = capacity
        capacity = self.size + n_words
        if capacity > self.word_capacity:
            capacity += capacity // 2
            memory = realloc(self.word_starts, (capacity + 1) * sizeof(int64_t))
            if memory == NULL:
                raise MemoryError
            self.word_starts = <int64_t*>memory
            self.word_capacity = capacity
        return 0

    cdef int grow(self) except -1:
        """Double the number of slots."""
        cdef uint64_t n_slots = self.n_slots * 2
        cdef uint64_t* slots = <uint64_t*>malloc(n_slots * sizeof(uint64_t))
        if slots == NULL:
            raise MemoryError
        memset(slots, 0, n_slots * sizeof(uint64_t))
        with nogil:
            self.rehash(slots, n_slots)
        free(self.slots)
        self.slots = slots
        self.n_slots = n_slots
        return 0

    cdef void rehash(self, uint64_t* slots, uint64_t n_slots) noexcept nogil:
        cdef int64_t word
        cdef uint64_t hashed, slot
        for word in range(self.size):
            hashed = table_hash_bytes(
                <const uint8_t*>(self.word_points + self.word_starts[word]),
                4 * (self.word_starts[word + 1] - self.word_starts[word]))
            slot = hashed & (n_slots - 1)
            while slots[slot]:
                slot = (slot + 1) & (n_slots - 1)
            slots[slot] = (hashed & ~ID_MASK) | <uint64_t>(word + 1)

    cdef int64_t number_tokens(
        self, const uint32_t* points, const int64_t* starts, int64_t start, int64_t stop, int64_t* ids
    ) noexcept nogil:
        """Write the ids of tokens until the table is half full. Return the first token without an id."""
        cdef int64_t token, length, word
        cdef uint64_t hashed, slot, entry, mask = self.n_slots - 1
        cdef int64_t max_words = <int64_t>(self.n_slots >> 1)
        cdef const uint32_t* text
        for token in range(start, stop):
            text = points + starts[token]
            length = starts[token + 1] - starts[token]
            hashed = table_hash_bytes(<const uint8_t*>text, 4 * length)
            slot = hashed & mask
            while True:
                entry = self.slots[slot]
                if entry == 0:
                    if self.size == max_words:
                        return token
                    word = self.size
                    memcpy(self.word_points + self.word_starts[word], text, length * sizeof(uint32_t))
                    self.word_starts[word + 1] = self.word_starts[word] + length
                    self.size = word + 1
                    self.slots[slot] = (hashed & ~ID_MASK) | <uint64_t>(word + 1)
                    ids[token] = word
                    break
                if entry >> 32 == hashed >> 32:
                    word = <int64_t>(entry & ID_MASK) - 1
                    if (
                        self.word_starts[word + 1] - self.word_starts[word] == length
                        and same_word(self.word_points + self.word_starts[word], text, length)
                    ):
                        ids[token] = word
                        break
                slot = (slot + 1) & mask
        return stop

    def number(self, const uint32_t[::1] token_points, const int64_t[::1] token_starts, int64_t n_tokens,
               int64_t[::1] ids):
        """Write the id of every token. New words are added.

        Token i is token_points[token_starts[i]:token_starts[i + 1]]. `ids` has room for n_tokens numbers. Raises
        OverflowError at 2**31 words.
        """
        cdef int64_t token = 0
        cdef const uint32_t* points
        need_length(b"token_starts", token_starts.shape[0], n_tokens + 1)
        need_length(b"ids", ids.shape[0], n_tokens)
        if n_tokens <= 0:
            return
        need_offsets(b"token_starts", &token_starts[0], n_tokens + 1, token_points.shape[0])
        self.reserve(n_tokens, token_starts[n_tokens] - token_starts[0])
        points = &token_points[0] if token_points.shape[0] else self.word_points
        while True:
            with nogil:
                token = self.number_tokens(points, &token_starts[0], token, n_tokens, &ids[0])
            if token == n_tokens:
                return
            self.grow()

    def n_points(self, int64_t first=0) -> int:
        """Return how many code points the words from id `first` on have together."""
        need_range(first, self.size, self.size)
        return self.word_starts[self.size] - self.word_starts[first]

    def copy_words(self, int64_t first, uint32_t[::1] points, int64_t[::1] starts):
        """Copy the words from id `first` on. Word first + i is points[starts[i]:starts[i + 1]]."""
        cdef int64_t word
        cdef int64_t n = self.n_points(first)
        cdef int64_t begin = self.word_starts[first]
        need_length(b"points", points.shape[0], n)
        need_length(b"starts", starts.shape[0], self.size - first + 1)
        for word in range(first, self.size + 1):
            starts[word - first] = self.word_starts[word] - begin
        if n:
            memcpy(&points[0], self.word_points + begin, n * sizeof(uint32_t))

    def word(self, int64_t number) -> str:
        """Return a word as a Python string, for debugging and tests."""
        cdef int64_t position
        if not 0 <= number < self.size:
            raise IndexError(number)
        return "".join(
            [
                chr(self.word_points[position])
                for position in range(self.word_starts[number], self.word_starts[number + 1])
            ]
        )
