"""Rows of CSV files: where the last one ends, and quotes that do not stand as they should.

A quote opens a field only at its beginning; elsewhere in a field it is a character. Inside, a doubled quote is a quote,
and a single one closes the field: a delimiter, a line break or the end follows it. A line break inside is none.
"""

from libc.stdint cimport int64_t, uint8_t

from fastmetrics._kernels.numeric.length_checks cimport need_length

cdef extern from "formats/csv_scan.h" nogil:
    Py_ssize_t fm_find_byte(const uint8_t* data, Py_ssize_t place, Py_ssize_t size, int byte)
    Py_ssize_t fm_find_quote(const uint8_t* data, Py_ssize_t place, Py_ssize_t size, int quote, int* lines)
    Py_ssize_t fm_count_line_breaks(const uint8_t* data, Py_ssize_t size)

cdef enum:
    NEWLINE = 10
    CARRIAGE_RETURN = 13
    NONE = -1

# What `found` holds: the kind of the last quoted field, the place of its quote, and that of the quote that closes it.
cdef enum:
    KIND = 0
    OPENED = 1
    CLOSED = 2

cdef enum:
    RIGHT = 0
    NOT_CLOSED = 1  # so far
    TEXT_BEHIND = 2  # a character that is no end of a field follows the closing quote
    LIKE_ROWS = 3  # of several lines, each with as many fields as the row


def find_end_of_rows(
    const uint8_t[::1] data, Py_ssize_t start, int quote, int delimiter, int escape, int64_t[::1] found
) -> int:
    """Return the place behind the last whole row that ends behind `start`; 0 if none does. -1: no quote, no escape.

    The place `start` is where a row begins, or right behind a quoted field. The search ends at the first quoted field
    that is not right, or may not be: `found` has its kind, 0 if there is none, and the places of both its quotes.
    """
    cdef Py_ssize_t end
    need_length(b"found", found.shape[0], 3)
    if start < 0:
        raise ValueError(f"rows that begin at {start}")
    found[KIND] = RIGHT
    if data.shape[0] <= start:
        return 0
    with nogil:
        if escape == NONE:
            end = _find_end(&data[0], start, data.shape[0], quote, delimiter, &found[0])
        else:
            end = _find_end_escaped(&data[0], start, data.shape[0], quote, delimiter, escape, &found[0])
    return end


def count_line_breaks(const uint8_t[::1] data) -> int:
    """How many lines end: with \\n, with \\r, or with both."""
    cdef Py_ssize_t count
    if data.shape[0] == 0:
        return 0
    with nogil:
        count = fm_count_line_breaks(&data[0], data.shape[0])
    return count


cdef Py_ssize_t _last_line_break(
    const uint8_t* data, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t size, bint may_return
) noexcept nogil:
    """The place behind the last line break from `start` to `stop`; 0 if there is none.

    A carriage return counts where no newline was found; at the end of the data it may be the first half of a break.
    """
    cdef Py_ssize_t place = stop
    while place > start:
        place -= 1
        if data[place] == NEWLINE:
            return place + 1
    if may_return:
        place = stop if stop < size else size - 1
        while place > start:
            place -= 1
            if data[place] == CARRIAGE_RETURN:
                return place + 1
    return 0


cdef inline bint _ends_field(uint8_t byte, int delimiter) noexcept nogil:
    return byte == delimiter or byte == NEWLINE or byte == CARRIAGE_RETURN


cdef Py_ssize_t _find_end(
    const uint8_t* data, Py_ssize_t start, Py_ssize_t size, int quote, int delimiter, int64_t* found
) noexcept nogil:
    """Without an escape: from quote to quote."""
    cdef Py_ssize_t place = start, opened, closed, found_end, end = 0
    cdef Py_ssize_t outside = start  # where the fields begin that lead to the next quote
    cdef int lines
    while True:
        opened = fm_find_byte(data, place, size, quote)
        if opened < size and opened != start and not _ends_field(data[opened - 1], delimiter):
            place = opened + 1  # a quote inside of a field is a character
            continue
        if opened - outside != 1 or data[outside] != delimiter:
            found_end = _last_line_break(data, outside, opened, size, end == 0)
            end = found_end if found_end else end
        if opened == size:
            break
        lines = 0
        closed = fm_find_quote(data, opened + 1, size, quote, &lines)
        while closed + 1 < size and data[closed + 1] == quote:
            closed = fm_find_quote(data, closed + 2, size, quote, &lines)
        place = outside = closed + 1
        if closed >= size:
            found[KIND] = NOT_CLOSED
        elif place < size and not _ends_field(data[place], delimiter):
            found[KIND] = TEXT_BEHIND
        elif lines and _are_like_rows(data, size, opened, closed, delimiter):
            found[KIND] = LIKE_ROWS
        if found[KIND] != RIGHT:
            found[OPENED] = opened
            found[CLOSED] = closed
            break
    return end


cdef bint _are_like_rows(
    const uint8_t* data, Py_ssize_t size, Py_ssize_t opened, Py_ssize_t closed, int delimiter
) noexcept nogil:
    """Has each line of a quoted field as many delimiters as the row has outside of it, as if no quote stood there?"""
    cdef Py_ssize_t place, count = 0, expected = 0, row = opened
    cdef Py_ssize_t stop = fm_find_byte(data, closed, size, NEWLINE)
    while row > 0 and data[row - 1] != NEWLINE:
        row -= 1
        expected += data[row] == delimiter
    for place in range(closed, stop):
        expected += data[place] == delimiter
    if expected == 0 or stop == size:  # the last line may go on behind the data
        return False
    for place in range(row, stop):
        if data[place] == NEWLINE:
            if count != expected:
                return False
            count = 0
        else:
            count += data[place] == delimiter
    return count == expected


cdef Py_ssize_t _find_end_escaped(
    const uint8_t* data, Py_ssize_t start, Py_ssize_t size, int quote, int delimiter, int escape, int64_t* found
) noexcept nogil:
    """With an escape: byte by byte. The byte behind an escape is a character of its field."""
    cdef Py_ssize_t place = start, opened = NONE, end = 0
    cdef bint is_start = start == 0 or data[start - 1] != quote  # behind a quoted field begins none
    cdef uint8_t byte
    while place < size:
        byte = data[place]
        if byte == escape:
            place += 2
            is_start = False
            continue
        if opened != NONE:
            if byte == quote:
                if place + 1 < size and data[place + 1] == quote:
                    place += 1
                else:
                    if place + 1 < size and not _ends_field(data[place + 1], delimiter):
                        found[KIND] = TEXT_BEHIND
                    elif fm_find_byte(data, opened, place, NEWLINE) < place and _are_like_rows(
                        data, size, opened, place, delimiter
                    ):
                        found[KIND] = LIKE_ROWS
                    if found[KIND] != RIGHT:
                        found[OPENED] = opened
                        found[CLOSED] = place
                        return end
                    opened = NONE
        elif byte == quote and is_start:
            opened = place
        elif byte == NEWLINE or (byte == CARRIAGE_RETURN and place + 1 < size):
            end = place + 1
        is_start = opened == NONE and _ends_field(byte, delimiter)
        place += 1
    if opened != NONE:
        found[KIND] = NOT_CLOSED
        found[OPENED] = opened
    return end
