"""TREC run and qrels files: fields, numbers and query changes of whole lines, in one pass over the bytes.

A run line is `query Q0 item rank score tag`, a qrels line `query iteration item relevance`; fields are apart by blanks
and tabs, any number of them. Empty lines, and lines whose first character is #, are no rows. Text stays where it is:
rows are spans of the file's bytes.

Lines of one query usually follow each other, so a query is not written for every row but for every *segment*: a run
of rows of one query. A query may come back in a later segment; whoever numbers queries numbers segments.

Scores are rounded correctly, as Python's float() does (decimals.h). What is left (more digits, larger exponents,
halves) is marked by a NaN, and `finish_scores` asks Python's float(); a NaN in the file itself is an error.

Units are whole lines. `data` has at least PADDING bytes after `stop`, all of them newlines where `stop` is the end.
"""

from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memchr

cdef extern from "decimals.h":
    int decimal_value "fm_decimal"(uint64_t digits, int64_t exponent, double* value) noexcept nogil

cdef extern from "trecscan.h":
    const uint8_t* field_end "fm_field_end"(const uint8_t* text) noexcept nogil
    int64_t count_bytes "fm_count_newlines"(const uint8_t* text, int64_t n) noexcept nogil
    int64_t eight_digits "fm_eight_digits"(const uint8_t* text) noexcept nogil
    int line_changes "fm_line_changes"(const uint8_t* line, int n_changes, int* changes) noexcept nogil
    int same_name "fm_same_name"(const uint8_t* one, const uint8_t* other, int64_t length) noexcept nogil
    int is_blank "fm_is_blank"(uint8_t byte) noexcept nogil

PADDING = 64

# Why a line is no row.
TOO_FEW_FIELDS = 1
TOO_MANY_FIELDS = 2
NOT_A_NUMBER = 3
IS_NAN = 4
NOT_AN_INTEGER = 5

# Places of `state`, what a unit says of itself.
ROWS = 0            # rows written
SEGMENTS = 1        # segments written
UNFINISHED = 2      # scores left to finish_scores
ERROR = 3           # one of the above, or 0
BAD_LINE = 4        # where the line begins that is no row
TAG_START = 5       # the last row's tag
TAG_STOP = 6
N_STATE = 7

cdef enum:
    FEW = 1
    MANY = 2
    NO_NUMBER = 3
    A_NAN = 4
    NO_INTEGER = 5
    HARD = -1
    NEWLINE = 10
    COMMENT = 35    # '#'
    MOST_DIGITS = 19
    LARGEST_EXPONENT = 100000
    RUN_CHANGES = 11            # ends of six fields, and beginnings of all but the first
    QRELS_CHANGES = 7
    MOST_CHANGES = 12

cdef inline int is_word(const uint8_t* text, const uint8_t* end, const char* word, int64_t length) noexcept nogil:
    """Is the text this lower-case word, in whatever case?"""
    cdef int64_t i
    if end - text != length:
        return 0
    for i in range(length):
        if (text[i] | 0x20) != <uint8_t>word[i]:
            return 0
    return 1


cdef inline int read_special(const uint8_t* text, const uint8_t* end, double sign, double* value) noexcept nogil:
    if is_word(text, end, b"inf", 3) or is_word(text, end, b"infinity", 8):
        value[0] = sign * INFINITY
        return 0
    if is_word(text, end, b"nan", 3):
        return A_NAN
    return NO_NUMBER


cdef inline int read_score(const uint8_t* text, const uint8_t* end, double* value) noexcept nogil:
    """0 and the value; HARD for a number that has to be read by other means; else why it is none."""
    cdef double sign = 1.0
    cdef uint64_t digits = 0
    cdef int64_t exponent = 0
    cdef int64_t scale = 0
    cdef int64_t eight
    cdef int64_t n_digits = 0           # with the leading zeros of the fraction, which `first` takes off
    cdef int64_t n_significant
    cdef int exponent_sign = 1
    cdef uint8_t digit
    cdef const uint8_t* point = NULL
    cdef const uint8_t* first
    if text < end and (text[0] == 45 or text[0] == 43):     # - and +
        if text[0] == 45:
            sign = -1.0
        text += 1
    first = text
    while text < end:
        if end - text >= 8:
            eight = eight_digits(text)
            if eight >= 0:
                digits = digits * 100000000 + <uint64_t>eight
                n_digits += 8
                text += 8
                continue
        digit = text[0] - 48
        if digit <= 9:
            digits = digits * 10 + digit
            n_digits += 1
        elif text[0] == 46 and point == NULL:               # .
            point = text
        else:
            break
        text += 1
    if n_digits == 0:
        return read_special(first, end, sign, value)
    if point != NULL:
        exponent = point + 1 - text
    n_significant = n_digits
    if n_digits > MOST_DIGITS:
        while first[0] == 48 or first[0] == 46:             # zeros in front are no digits to keep
            n_significant -= first[0] == 48
            first += 1
            if first == text:
                break
    if text < end:
        if (text[0] | 0x20) != 101:                         # e
            return NO_NUMBER
        text += 1
        if text < end and (text[0] == 45 or text[0] == 43):
            if text[0] == 45:
                exponent_sign = -1
            text += 1
        if text == end:
            return NO_NUMBER
        while text < end:
            digit = text[0] - 48
            if digit > 9:
                return NO_NUMBER
            if scale < LARGEST_EXPONENT:
                scale = scale * 10 + digit
            text += 1
        exponent += exponent_sign * scale
    if n_significant > MOST_DIGITS:
        return HARD
    if not decimal_value(digits, exponent, value):
        return HARD
    value[0] *= sign
    return 0


cdef inline int read_relevance(const uint8_t* text, const uint8_t* end, int64_t* value) noexcept nogil:
    """An integer of at most 18 digits."""
    cdef int64_t sign = 1
    cdef int64_t number = 0
    cdef uint8_t digit
    if text < end and (text[0] == 45 or text[0] == 43):
        if text[0] == 45:
            sign = -1
        text += 1
    if text == end or end - text > 18:
        return NO_INTEGER
    while text < end:
        digit = text[0] - 48
        if digit > 9:
            return NO_INTEGER
        number = number * 10 + digit
        text += 1
    value[0] = sign * number
    return 0


cdef inline const uint8_t* skip_blanks(const uint8_t* text) noexcept nogil:
    """The next field of the line, or its newline."""
    while is_blank(text[0]) and text[0] != NEWLINE:
        text += 1
    return text


cdef inline int next_field(const uint8_t** begin, const uint8_t** end) noexcept nogil:
    """Move on to the field after `end`; 0 where the line has no other."""
    begin[0] = skip_blanks(end[0])
    if begin[0][0] == NEWLINE:
        return 0
    end[0] = field_end(begin[0])
    return 1


cdef inline const uint8_t* first_field(const uint8_t* text, const uint8_t* stop) noexcept nogil:
    """The first field of the next line that is a row; `stop` where there is none."""
    while text < stop:
        text = skip_blanks(text)
        if text[0] == COMMENT:
            text = <const uint8_t*>memchr(text, NEWLINE, <size_t>(stop - text + 1))
        elif text[0] != NEWLINE:
            return text
        text += 1
    return stop


def count_newlines(const uint8_t[::1] data, int64_t start, int64_t stop):
    """How many newlines are in data[start:stop]: where in the file a line is, and how many rows there can be."""
    cdef int64_t found
    if stop <= start:
        return 0
    with nogil:
        found = count_bytes(&data[start], stop - start)
    return found


def line_start(const uint8_t[::1] data, int64_t position, int64_t stop):
    """The first line that begins at or after `position`, which is not the first byte; `stop` where none does."""
    cdef const uint8_t* newline
    with nogil:
        newline = <const uint8_t*>memchr(&data[position - 1], NEWLINE, <size_t>(stop - position + 1))
    return stop if newline == NULL else newline - &data[0] + 1


def parse_run(
    const uint8_t[::1] data, int64_t start, int64_t stop, int64_t first_row, int64_t[::1] item_starts,
    int64_t[::1] item_stops, double[::1] scores, int64_t[::1] query_starts, int64_t[::1] query_stops,
    int64_t[::1] segments, int64_t[::1] state
):
    """The rows of the lines in data[start:stop], written from `first_row` on, and `state`.

    Segments are written from `first_row` on too: the query's span and the row where it begins. There is room for as
    many rows and segments as there are lines. At the first line that is no row the unit ends, and `state` says why.
    """
    cdef const uint8_t* base = &data[0]
    cdef const uint8_t* last = base + stop
    cdef const uint8_t* query
    cdef const uint8_t* item
    cdef const uint8_t* item_end
    cdef const uint8_t* begin
    cdef const uint8_t* end
    cdef const uint8_t* previous = base
    cdef int[MOST_CHANGES] changes
    cdef int64_t newline
    cdef const uint8_t* tag = base
    cdef const uint8_t* tag_end = base
    cdef int64_t query_length
    cdef int64_t previous_length = -1
    cdef int64_t row = first_row
    cdef int64_t segment = first_row
    cdef int64_t n_hard = 0
    cdef int why = 0
    with nogil:
        query = first_field(base + start, last)
        while query < last:
            newline = line_changes(query, RUN_CHANGES, changes)
            if newline >= 0:
                query_length = changes[0]
                item = query + changes[3]
                item_end = query + changes[4]
                begin = query + changes[7]
                end = query + changes[8]
                tag = query + changes[9]
                tag_end = query + changes[10]
            else:
                end = field_end(query)
                query_length = end - query
                why = FEW
                if not (next_field(&item, &end) and next_field(&item, &end)):
                    break
                item_end = end
                if not (next_field(&begin, &end) and next_field(&begin, &end)):
                    break
                tag_end = end
                if not next_field(&tag, &tag_end):
                    break
                newline = skip_blanks(tag_end) - query
                if query[newline] != NEWLINE:
                    why = MANY
                    break
            why = read_score(begin, end, &scores[row])
            if why == HARD:
                scores[row] = NAN
                n_hard += 1
            elif why:
                break
            item_starts[row] = item - base
            item_stops[row] = item_end - base
            why = 0
            if query_length != previous_length or not same_name(query, previous, query_length):
                query_starts[segment] = query - base
                query_stops[segment] = query - base + query_length
                segments[segment] = row
                segment += 1
                previous_length = query_length
            previous = query
            row += 1
            query = first_field(query + newline + 1, last)
    state[0] = row - first_row
    state[1] = segment - first_row
    state[2] = n_hard
    state[3] = why
    state[4] = query - base
    state[5] = tag - base
    state[6] = tag_end - base


def parse_qrels(
    const uint8_t[::1] data, int64_t start, int64_t stop, int64_t first_row, int64_t[::1] item_starts,
    int64_t[::1] item_stops, int64_t[::1] relevance, int64_t[::1] query_starts, int64_t[::1] query_stops,
    int64_t[::1] segments, int64_t[::1] state
):
    """As parse_run, for lines of judgements."""
    cdef const uint8_t* base = &data[0]
    cdef const uint8_t* last = base + stop
    cdef const uint8_t* query
    cdef const uint8_t* item
    cdef const uint8_t* item_end
    cdef const uint8_t* begin
    cdef const uint8_t* end
    cdef const uint8_t* previous = base
    cdef int[MOST_CHANGES] changes
    cdef int64_t newline
    cdef int64_t query_length
    cdef int64_t previous_length = -1
    cdef int64_t row = first_row
    cdef int64_t segment = first_row
    cdef int why = 0
    with nogil:
        query = first_field(base + start, last)
        while query < last:
            newline = line_changes(query, QRELS_CHANGES, changes)
            if newline >= 0:
                query_length = changes[0]
                item = query + changes[3]
                item_end = query + changes[4]
                begin = query + changes[5]
                end = query + changes[6]
            else:
                end = field_end(query)
                query_length = end - query
                why = FEW
                if not (next_field(&item, &end) and next_field(&item, &end)):
                    break
                item_end = end
                if not next_field(&begin, &end):
                    break
                newline = skip_blanks(end) - query
                if query[newline] != NEWLINE:
                    why = MANY
                    break
            why = read_relevance(begin, end, &relevance[row])
            if why:
                break
            item_starts[row] = item - base
            item_stops[row] = item_end - base
            why = 0
            if query_length != previous_length or not same_name(query, previous, query_length):
                query_starts[segment] = query - base
                query_stops[segment] = query - base + query_length
                segments[segment] = row
                segment += 1
                previous_length = query_length
            previous = query
            row += 1
            query = first_field(query + newline + 1, last)
    state[0] = row - first_row
    state[1] = segment - first_row
    state[2] = 0
    state[3] = why
    state[4] = query - base
    state[5] = 0
    state[6] = 0


def finish_scores(const uint8_t[::1] data, const int64_t[::1] item_stops, double[::1] scores):
    """Read by Python's float() the scores that parse_run has left as NaN: the second field after the item."""
    cdef const uint8_t* base = &data[0]
    cdef const uint8_t* begin
    cdef const uint8_t* end
    cdef Py_ssize_t row
    for row in range(scores.shape[0]):
        if scores[row] != scores[row]:
            end = base + item_stops[row]
            next_field(&begin, &end)
            next_field(&begin, &end)
            scores[row] = float((<const char*>begin)[:end - begin])
