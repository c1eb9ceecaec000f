"""Texts that write numbers in another way than the shortest: 007, 1.50, +3, 2e5, " 7"."""

from libc.stdint cimport int32_t, int64_t, uint8_t

ctypedef fused offset_t:
    int32_t
    int64_t


cdef inline bint is_digit(uint8_t byte) noexcept nogil:
    return 48 <= byte <= 57


cdef inline bint is_space(uint8_t byte) noexcept nogil:
    return byte == 32 or byte == 9


cdef bint is_long_numeral(const uint8_t* text, int64_t size, uint8_t point) noexcept nogil:
    """Does the text write a number, but not as Python writes an integer or a decimal without an exponent?"""
    cdef int64_t place = 0, first, whole, n_fraction = 0
    cdef bint is_short = True, is_zero = True
    while size and is_space(text[size - 1]):
        size -= 1
        is_short = False
    while place < size and is_space(text[place]):
        place += 1
        is_short = False
    cdef bint is_negative = place < size and text[place] == 45
    if place < size and (text[place] == 45 or text[place] == 43):
        is_short = is_short and is_negative
        place += 1
    first = place
    while place < size and is_digit(text[place]):
        is_zero = is_zero and text[place] == 48
        place += 1
    whole = place - first
    if whole == 0 or (whole > 1 and text[first] == 48):
        is_short = False
    if place < size and text[place] == point:
        is_short = is_short and point == 46
        place += 1
        while place < size and is_digit(text[place]):
            is_zero = is_zero and text[place] == 48
            n_fraction += 1
            place += 1
        if n_fraction == 0 or text[place - 1] == 48:
            is_short = False
    if whole + n_fraction == 0:
        return False
    if is_negative and is_zero:
        is_short = False
    if place < size and (text[place] == 101 or text[place] == 69):
        is_short = False
        place += 1
        if place < size and (text[place] == 45 or text[place] == 43):
            place += 1
        first = place
        while place < size and is_digit(text[place]):
            place += 1
        if place == first:
            return False
    return place == size and not is_short


def mark_long_numerals(const uint8_t[::1] data, const offset_t[::1] offsets, int point, uint8_t[::1] marks) -> int:
    """marks[i] = 1 for such texts, else 0; returns their number. `point` is the byte of the decimal point.

    Text i is data[offsets[i]:offsets[i + 1]]. The offsets are checked; marks has one entry less than they.
    """
    cdef Py_ssize_t n = marks.shape[0], i
    cdef int64_t size = data.shape[0], start, stop, found = 0
    if offsets.shape[0] != n + 1:
        raise ValueError("offsets must be one more than marks")
    cdef const uint8_t* bytes = &data[0] if size else NULL
    with nogil:
        start = offsets[0]
        for i in range(n):
            stop = offsets[i + 1]
            if start < 0 or stop < start or stop > size:
                found = -1
                break
            marks[i] = is_long_numeral(bytes + start, stop - start, <uint8_t> point)
            found += marks[i]
            start = stop
    if found < 0:
        raise ValueError("offsets leave the data")
    return found
