"""WordNet as other kernels use it: words of a thread by number, and the synonyms of a word as such numbers."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

cdef struct Entry:
    uint32_t tag                # of the hash: spares comparisons, decides nothing
    uint32_t line[4]            # 1 + where the line of the word begins in the file of each part of speech; 0: none

cdef enum:
    NO_MEMORY = -1
    DAMAGED = -2
    LONGEST_WORD = 500          # bytes; WordNet's longest has 71

cdef class WordNet:
    cdef const uint8_t* text[12]
    cdef int64_t length[12]
    cdef list kept
    cdef Entry* lemmas
    cdef Entry* exceptions
    cdef uint64_t n_lemmas
    cdef uint64_t n_exceptions
    cdef uint64_t room(self, int first) noexcept nogil
    cdef int64_t synonyms(self, const uint8_t* word, int64_t length, Names names) noexcept nogil
    cdef int64_t of_part(
        self, int part, const uint8_t* word, int64_t length, const Entry* exception, Names names
    ) noexcept nogil
    cdef int64_t of_lemma(self, int part, const Entry* entry, Names names) noexcept nogil
    cdef int64_t of_form(self, int part, const uint8_t* form, int64_t length, Names names) noexcept nogil
    cdef int64_t of_synset(self, int part, int64_t offset, Names names) noexcept nogil

cdef class Names:
    cdef uint64_t* slots        # tag << 32 | number + 1
    cdef uint64_t n_slots
    cdef uint8_t* letters
    cdef int64_t* starts
    cdef int64_t letter_room
    cdef int64_t name_room
    cdef readonly int64_t size
    cdef int64_t* found         # numbers of the synonyms asked for last, and of those before
    cdef int64_t n_found
    cdef int64_t found_room
    cdef int64_t number(self, const uint8_t* name, int64_t length) noexcept nogil
    cdef int64_t append(self, int64_t number) noexcept nogil
    cdef bint widen(self) noexcept nogil
    cdef bint reserve(self, int64_t length) noexcept nogil

cdef int64_t encode(const uint32_t* points, int64_t length, uint8_t* out) noexcept nogil
cdef int raise_problem(int64_t problem) except -1
