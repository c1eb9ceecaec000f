"""Compare texts that are spans of one byte array. No byte beyond a text's end is read."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy


cdef inline uint64_t load_word(const uint8_t* text) noexcept nogil:
    cdef uint64_t word
    memcpy(&word, text, 8)
    return word


cdef inline uint64_t first_word(const uint8_t* text, int64_t length) noexcept nogil:
    """The first eight bytes. Of a shorter text all bytes, in an order that depends on its length alone."""
    cdef uint32_t low, high
    if length >= 8:
        return load_word(text)
    if length >= 4:
        memcpy(&low, text, 4)
        memcpy(&high, text + length - 4, 4)
        return <uint64_t>high << 32 | low
    if length > 0:
        return <uint64_t>text[length - 1] << 16 | <uint64_t>text[length >> 1] << 8 | text[0]
    return 0


cdef inline bint same_text(const uint8_t* text, const uint8_t* other, int64_t length) noexcept nogil:
    """Return whether two texts of equal length are the same."""
    if first_word(text, length) != first_word(other, length):
        return False
    if length <= 8:
        return True
    if length <= 16:
        return load_word(text + length - 8) == load_word(other + length - 8)
    return memcmp(text + 8, other + 8, <size_t>(length - 8)) == 0
