"""Quotes of CSV rows: do they stand where fields begin and end?"""

from libc.stdint cimport uint8_t
from libc.string cimport memchr


def count_field_quotes(const uint8_t[::1] data, uint8_t quote, uint8_t delimiter) -> int:
    """How many quotes the rows have; -1 if some quote is neither at the beginning of a field nor behind one that is.

    The first quote opens a field, the next closes it, and so on. A quote that opens a field stands behind a delimiter
    or a line break, or right behind the quote before: a doubled quote inside of a field.
    """
    cdef Py_ssize_t found
    if data.shape[0] == 0:
        return 0
    with nogil:
        found = _count_field_quotes(&data[0], data.shape[0], quote, delimiter)
    return found


cdef Py_ssize_t _count_field_quotes(
    const uint8_t* data, Py_ssize_t size, uint8_t quote, uint8_t delimiter
) noexcept nogil:
    cdef const uint8_t* place = data
    cdef const uint8_t* end = data + size
    cdef const uint8_t* closed = NULL
    cdef uint8_t before
    cdef Py_ssize_t found = 0
    while place < end:
        place = <const uint8_t*>memchr(place, quote, end - place)
        if place == NULL:
            break
        if found % 2:
            closed = place
        elif place != data and place - 1 != closed:
            before = (place - 1)[0]
            if before != delimiter and before != 10 and before != 13:
                return -1
        found += 1
        place += 1
    return found
