"""Parse TREC run and qrels files: fields, numbers and changes of the query, in one pass over the bytes.

A run line is `query Q0 item rank score tag`, a qrels line is `query iteration item relevance`. Fields are separated by
any number of blanks and tabs. Text behind a run's tag is ignored. Empty lines and lines that begin with # are skipped.
Text is not copied: rows are spans of the file's bytes.

Lines of one query usually follow each other. So a query is recorded not for every row but for every *segment*, that is,
consecutive rows of one query. A query may have several segments; the caller encodes the segments' queries.

Scores are rounded correctly, as Python's float() does (decimals.h). Scores that need another method (more digits,
larger exponents, uncertain rounding) are marked by a NaN, and `finish_scores` parses them with Python's float(). A NaN
in the file itself is an error.

A call parses whole lines. `data` has at least PADDING bytes after `stop`; all of them are newlines if `stop` is the
end.
"""

from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memchr

from fastmetrics._kernels.numeric.length_checks cimport need_length, need_range

cdef extern from "formats/decimals.h":
    int decimal_value "fm_decimal_value"(uint64_t digits, int64_t exponent, double* value) noexcept nogil

cdef extern from "formats/trec_scan.h":
    const uint8_t* field_end "fm_field_end"(const uint8_t* text) noexcept nogil
    int64_t count_bytes "fm_count_newlines"(const uint8_t* text, int64_t n) noexcept nogil
    int64_t parse_eight_digits "fm_parse_eight_digits"(const uint8_t* text) noexcept nogil
    int line_changes "fm_line_changes"(const uint8_t* line, int n_changes, int* changes) noexcept nogil
    int same_name "fm_same_name"(const uint8_t* one, const uint8_t* other, int64_t length) noexcept nogil
    int is_blank "fm_is_blank"(uint8_t byte) noexcept nogil

cdef enum:
    N_PADDING = 64
    CODE_TOO_FEW_FIELDS = 1
    CODE_TOO_MANY_FIELDS = 2
    CODE_NOT_A_NUMBER = 3
    CODE_IS_NAN = 4
    CODE_NOT_AN_INTEGER = 5
    NEEDS_PYTHON = -1
    NEWLINE = 10
    COMMENT = 35    # '#'
    MAX_DIGITS = 19
    MAX_EXPONENT = 100000
    RUN_CHANGES = 11            # ends of six fields, and starts of all but the first
    QRELS_CHANGES = 7
    MAX_CHANGES = 12

PADDING = N_PADDING

# Errors of a line.
TOO_FEW_FIELDS = 1
TOO_MANY_FIELDS = 2
NOT_A_NUMBER = 3
IS_NAN = 4
NOT_AN_INTEGER = 5

# Elements of `state`, the result of a call.
ROWS = 0            # rows written
SEGMENTS = 1        # segments written
UNFINISHED = 2      # scores that finish_scores must parse
ERROR = 3           # one of the errors above, or 0
BAD_LINE = 4        # start of the line with the error
TAG_START = 5       # tag of the last row
TAG_STOP = 6
N_STATE = 7

ctypedef fused value_t:
    double                      # scores: lines of a run
    int64_t                     # relevances: lines of qrels


cdef inline int is_word(const uint8_t* text, const uint8_t* end, const char* word, int64_t length) noexcept nogil:
    """Return whether the text is this lower-case word, ignoring case."""
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
        return CODE_IS_NAN
    return CODE_NOT_A_NUMBER


cdef inline int read_score(const uint8_t* text, const uint8_t* end, double* value) noexcept nogil:
    """Parse a score. Returns 0, or NEEDS_PYTHON if another method must parse it, or an error code."""
    cdef double sign = 1.0
    cdef uint64_t digits = 0
    cdef int64_t exponent = 0
    cdef int64_t scale = 0
    cdef int64_t eight
    cdef int64_t n_digits = 0           # including leading zeros, which do not count as significant
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
            eight = parse_eight_digits(text)
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
    if n_digits > MAX_DIGITS:
        while first[0] == 48 or first[0] == 46:             # leading zeros are not significant
            n_significant -= first[0] == 48
            first += 1
            if first == text:
                break
    if text < end:
        if (text[0] | 0x20) != 101:                         # e
            return CODE_NOT_A_NUMBER
        text += 1
        if text < end and (text[0] == 45 or text[0] == 43):
            if text[0] == 45:
                exponent_sign = -1
            text += 1
        if text == end:
            return CODE_NOT_A_NUMBER
        while text < end:
            digit = text[0] - 48
            if digit > 9:
                return CODE_NOT_A_NUMBER
            if scale < MAX_EXPONENT:
                scale = scale * 10 + digit
            text += 1
        exponent += exponent_sign * scale
    if n_significant > MAX_DIGITS:
        return NEEDS_PYTHON
    if not decimal_value(digits, exponent, value):
        return NEEDS_PYTHON
    value[0] *= sign
    return 0


cdef inline int read_relevance(const uint8_t* text, const uint8_t* end, int64_t* value) noexcept nogil:
    """Parse an integer of at most 18 digits. Returns 0 or an error code."""
    cdef int64_t sign = 1
    cdef int64_t number = 0
    cdef uint8_t digit
    if text < end and (text[0] == 45 or text[0] == 43):
        if text[0] == 45:
            sign = -1
        text += 1
    if text == end or end - text > 18:
        return CODE_NOT_AN_INTEGER
    while text < end:
        digit = text[0] - 48
        if digit > 9:
            return CODE_NOT_AN_INTEGER
        number = number * 10 + digit
        text += 1
    value[0] = sign * number
    return 0


cdef inline const uint8_t* skip_blanks(const uint8_t* text) noexcept nogil:
    """The start of the next field of the line, or its newline."""
    while is_blank(text[0]) and text[0] != NEWLINE:
        text += 1
    return text


cdef inline int next_field(const uint8_t** begin, const uint8_t** end) noexcept nogil:
    """Move to the field after `end`. Returns 0 if the line has no further field."""
    begin[0] = skip_blanks(end[0])
    if begin[0][0] == NEWLINE:
        return 0
    end[0] = field_end(begin[0])
    return 1


cdef inline const uint8_t* first_field(const uint8_t* text, const uint8_t* stop) noexcept nogil:
    """The first field of the next line that is a row, or `stop`."""
    while text < stop:
        text = skip_blanks(text)
        if text[0] == COMMENT:
            text = <const uint8_t*>memchr(text, NEWLINE, <size_t>(stop - text + 1))
        elif text[0] != NEWLINE:
            return text
        text += 1
    return stop


def count_newlines(const uint8_t[::1] data, int64_t start, int64_t stop) -> int:
    """The number of newlines in data[start:stop]: the greatest number of rows, and line numbers for messages."""
    cdef int64_t found
    if stop <= start:
        return 0
    need_range(start, stop, data.shape[0])
    with nogil:
        found = count_bytes(&data[start], stop - start)
    return found


def line_start(const uint8_t[::1] data, int64_t position, int64_t stop) -> int:
    """The start of the first line at or after `position` (not the first byte), or `stop`."""
    cdef const uint8_t* newline
    need_range(position - 1, stop, data.shape[0] - 1)
    with nogil:
        newline = <const uint8_t*>memchr(&data[position - 1], NEWLINE, <size_t>(stop - position + 1))
    return stop if newline == NULL else newline - &data[0] + 1


def parse_lines(
    const uint8_t[::1] data, int64_t start, int64_t stop, int64_t first_row, int64_t[::1] item_starts,
    int64_t[::1] item_stops, value_t[::1] values, int64_t[::1] query_starts, int64_t[::1] query_stops,
    int64_t[::1] segments, int64_t[::1] state
):
    """Parse the lines in data[start:stop], of a run if the values are double, of qrels if they are int64.

    Rows are written from `first_row` on; `state` receives the result. Segments are written from `first_row` on as well:
    the query's span, and the segment's first row. The arrays must have an element for every line. Parsing stops at the
    first line with an error, which `state` describes.
    """
    cdef const uint8_t* base = &data[0]
    cdef const uint8_t* last = base + stop
    cdef const uint8_t* query
    cdef const uint8_t* item
    cdef const uint8_t* item_end
    cdef const uint8_t* begin
    cdef const uint8_t* end
    cdef const uint8_t* previous = base
    cdef int[MAX_CHANGES] changes
    cdef int64_t newline
    cdef const uint8_t* tag = base
    cdef const uint8_t* tag_end = base
    cdef int64_t query_length
    cdef int64_t previous_length = -1
    cdef int64_t row = first_row
    cdef int64_t segment = first_row
    cdef int64_t n_unfinished = 0
    cdef int64_t stop_row = min(
        item_starts.shape[0], item_stops.shape[0], values.shape[0], query_starts.shape[0], query_stops.shape[0],
        segments.shape[0])
    cdef int error = 0
    need_range(start, stop, data.shape[0] - N_PADDING)
    need_range(0, first_row, stop_row)
    need_length(b"state", state.shape[0], N_STATE)
    if stop > start and data[stop - 1] != NEWLINE and data[stop] != NEWLINE:
        raise ValueError(f"the line at {stop} has no end")
    with nogil:
        query = first_field(base + start, last)
        while query < last and row < stop_row:
            newline = line_changes(query, RUN_CHANGES if value_t is double else QRELS_CHANGES, changes)
            if newline >= 0:
                query_length = changes[0]
                item = query + changes[3]
                item_end = query + changes[4]
                if value_t is double:
                    begin = query + changes[7]
                    end = query + changes[8]
                    tag = query + changes[9]
                    tag_end = query + changes[10]
                else:
                    begin = query + changes[5]
                    end = query + changes[6]
            else:
                end = field_end(query)
                query_length = end - query
                error = CODE_TOO_FEW_FIELDS
                if not (next_field(&item, &end) and next_field(&item, &end)):
                    break
                item_end = end
                if not next_field(&begin, &end):
                    break
                if value_t is double:
                    if not next_field(&begin, &end):
                        break
                    tag_end = end
                    if not next_field(&tag, &tag_end):
                        break
                    newline = <const uint8_t*>memchr(tag_end, NEWLINE, <size_t>(last - tag_end + 1)) - query
                else:
                    newline = skip_blanks(end) - query
                    if query[newline] != NEWLINE:
                        error = CODE_TOO_MANY_FIELDS
                        break
            if value_t is double:
                error = read_score(begin, end, &values[row])
                if error == NEEDS_PYTHON:
                    values[row] = NAN
                    n_unfinished += 1
                    error = 0
            else:
                error = read_relevance(begin, end, &values[row])
            if error:
                break
            item_starts[row] = item - base
            item_stops[row] = item_end - base
            if query_length != previous_length or not same_name(query, previous, query_length):
                query_starts[segment] = query - base
                query_stops[segment] = query - base + query_length
                segments[segment] = row
                segment += 1
                previous_length = query_length
            previous = query
            row += 1
            query = first_field(query + newline + 1, last)
    if query < last and not error:
        raise ValueError(f"more lines than {stop_row} rows")
    state[0] = row - first_row
    state[1] = segment - first_row
    state[2] = n_unfinished
    state[3] = error
    state[4] = query - base
    state[5] = tag - base
    state[6] = tag_end - base


def finish_scores(const uint8_t[::1] data, const int64_t[::1] item_stops, double[::1] scores):
    """Parse the scores that parse_lines marked as NaN, the second fields after the items, with Python's float()."""
    cdef const uint8_t* base = &data[0]
    cdef const uint8_t* begin
    cdef const uint8_t* end
    cdef Py_ssize_t row
    need_length(b"data", data.shape[0], 1)
    need_length(b"item_stops", item_stops.shape[0], scores.shape[0])
    if data[data.shape[0] - 1] != NEWLINE:
        raise ValueError("data must end with a newline")
    for row in range(scores.shape[0]):
        if scores[row] != scores[row]:
            need_range(0, item_stops[row], data.shape[0] - 1)
            end = base + item_stops[row]
            if not (next_field(&begin, &end) and next_field(&begin, &end)):
                raise ValueError(f"no score follows the item that ends at {item_stops[row]}")
            scores[row] = float((<const char*>begin)[:end - begin])
