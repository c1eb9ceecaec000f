"""Arrays of flat JSON objects -> columns, as COCO's files have them: a pass over the bytes, without a Python object.

A field is an integer, a number, a box of four numbers, or anything at all, of which the span is kept. Other keys are
skipped, whatever their values are. Rows are rows of 8-byte cells: an integer one int64, a number one double, a box four
doubles, a span where it starts and stops. `seen[row]` has a bit for every field the object has.

Numbers are rounded correctly (decimals.h); those that are not certain are listed in `hard` (cell, start, stop) for
Python's float(). Whatever is not as expected is given up on, `state` says so, and the file goes to the json module: so
this kernel never has to be right about what is wrong (jsonscan.h).

`data` ends with at least PADDING zero bytes.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t

cdef extern from "jsonscan.h":
    const int64_t FM_INTEGER, FM_NUMBER, FM_BOX, FM_SPAN
    ctypedef struct Field "FmField":
        const uint8_t* name
        int64_t length
        int64_t kind
        int64_t cell
    ctypedef struct Rows "FmRows":
        const uint8_t* base
        int64_t* cells
        int64_t n_cells
        uint64_t* seen
        int64_t* hard
        int64_t n_hard
        int wide
    const uint8_t* after_space "fm_after_space"(const uint8_t* text) noexcept nogil
    const uint8_t* after_value "fm_after_value"(const uint8_t* text, int* wide) noexcept nogil
    const uint8_t* read_row "fm_row"(
        const uint8_t* text, Rows* rows, const Field* fields, int64_t n_fields, int64_t row
    ) noexcept nogil

PADDING = 64
MOST_FIELDS = 16

INTEGER = FM_INTEGER
NUMBER = FM_NUMBER
BOX = FM_BOX
SPAN = FM_SPAN
CELLS = (1, 1, 4, 2)    # that a field of the kind takes

# Places of `state`.
POSITION = 0            # where to go on; -1 where the text is not as expected
ROWS = 1                # rows written
HARD = 2                # numbers listed in `hard`
WIDE = 3                # 1 where bytes are not ASCII, so that somebody has to look whether they are UTF-8
FINISHED = 4            # 1 after the array's end
N_STATE = 5

cdef enum:
    FIELDS = 16
    COMMA = 44
    CLOSING = 93


def skip_space(const uint8_t[::1] data, int64_t position):
    """The next byte that is no white space."""
    return after_space(&data[position]) - &data[0]


def skip_value(const uint8_t[::1] data, int64_t position, int64_t[::1] state):
    """The end of the value that begins at `position`, or -1; state[WIDE] becomes 1 where it is not all ASCII."""
    cdef const uint8_t* end
    cdef int wide = 0
    with nogil:
        end = after_value(&data[position], &wide)
    if wide:
        state[3] = 1
    return -1 if end == NULL else end - &data[0]


cdef const uint8_t* scan_rows(
    const uint8_t* text, Rows* rows, const Field* fields, int64_t n_fields, int64_t room, int64_t room_hard,
    int64_t* n_rows, int64_t* finished
) noexcept nogil:
    """Objects and the commas between them, until the array's end or until there is no room for another object."""
    cdef int64_t row = 0
    finished[0] = 0
    while row < room and rows.n_hard < room_hard:
        text = read_row(text, rows, fields, n_fields, row)
        if text == NULL:
            break
        row += 1
        text = after_space(text)
        if text[0] == CLOSING:
            finished[0] = 1
            text += 1
            break
        if text[0] != COMMA:
            text = NULL
            break
        text = after_space(text + 1)
    n_rows[0] = row
    return text


def read_rows(
    const uint8_t[::1] data, int64_t position, const uint8_t[::1] names, const int64_t[::1] name_stops,
    const int64_t[::1] kinds, int64_t[:, ::1] cells, uint64_t[::1] seen, int64_t[:, ::1] hard, int64_t[::1] state
):
    """The objects from `position` on, which is the first or one after a comma: as many as there are rows of `cells`.

    `names` are the fields' names, one behind the other; at most MOST_FIELDS. Reading stops also where `hard` has no
    room for MOST_FIELDS boxes more. A row's cells stay as they are where it has no such field.
    """
    cdef Field[FIELDS] fields
    cdef Rows rows
    cdef int64_t n_fields = kinds.shape[0]
    cdef int64_t i, cell = 0, start = 0
    cdef const uint8_t* text = &data[position]
    for i in range(n_fields):
        fields[i].name = &names[start]
        fields[i].length = name_stops[i] - start
        fields[i].kind = kinds[i]
        fields[i].cell = cell
        start = name_stops[i]
        cell += 4 if kinds[i] == FM_BOX else 2 if kinds[i] == FM_SPAN else 1
    rows.base = &data[0]
    rows.cells = &cells[0, 0]
    rows.n_cells = cells.shape[1]
    rows.seen = &seen[0]
    rows.hard = &hard[0, 0]
    rows.n_hard = 0
    rows.wide = 0
    with nogil:
        text = scan_rows(
            text, &rows, fields, n_fields, cells.shape[0], hard.shape[0] - 4 * FIELDS, &state[1], &state[4]
        )
    state[0] = -1 if text == NULL else text - &data[0]
    state[2] = rows.n_hard
    if rows.wide:
        state[3] = 1
