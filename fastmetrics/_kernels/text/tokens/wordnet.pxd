"""WordNet for other kernels: the names of one thread as numbers, and the synonyms of a word as such numbers."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

cdef struct Entry:
    uint32_t tag                # of the hash: saves comparisons, does not decide equality
    uint32_t line[4]            # 1 + start of the line of the word in the file of each part of speech; 0: none

cdef enum:
    NO_MEMORY = -1
    DAMAGED = -2
    MAX_WORD_BYTES = 500        # bytes; WordNet's longest has 71

cdef class WordNet:
    cdef const uint8_t* text[12]
    cdef int64_t length[12]
    cdef list buffers
    cdef Entry* lemmas
    cdef Entry* exceptions
    cdef uint64_t n_lemmas
    cdef uint64_t n_exceptions
    cdef uint64_t table_size(self, int first) noexcept nogil
    cdef int64_t append_synonyms(self, const uint8_t* word, int64_t length, Names names) noexcept nogil
    cdef int64_t append_part_of_speech(
        self, int pos, const uint8_t* word, int64_t length, const Entry* exception, Names names
    ) noexcept nogil
    cdef int64_t append_lemma(self, int pos, const Entry* entry, Names names) noexcept nogil
    cdef int64_t append_form(self, int pos, const uint8_t* form, int64_t length, Names names) noexcept nogil
    cdef int64_t append_synset(self, int pos, int64_t offset, Names names) noexcept nogil

cdef class Names:
    cdef uint64_t* slots        # tag << 32 | number + 1
    cdef uint64_t n_slots
    cdef uint8_t* text
    cdef int64_t* starts
    cdef int64_t text_capacity
    cdef int64_t name_capacity
    cdef readonly int64_t size
    cdef int64_t* synonym_numbers  # numbers of synonyms, appended by every look-up
    cdef int64_t n_numbers
    cdef int64_t numbers_capacity
    cdef int64_t number(self, const uint8_t* name, int64_t length) noexcept nogil
    cdef int64_t append(self, int64_t number) noexcept nogil
    cdef bint grow(self) noexcept nogil
    cdef bint reserve(self, int64_t length) noexcept nogil

cdef int64_t to_utf8(const uint32_t* points, int64_t length, uint8_t* out) noexcept nogil
cdef int raise_error(int64_t error) except -1
