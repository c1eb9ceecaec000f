"""Arrays of flat JSON objects, as in COCO's files, read into columns: one pass over the bytes, no Python objects.

A field is an integer, a number, a box of four numbers, or any value, of which the byte span is kept. Other keys are
skipped, whatever their values are. A row has 8-byte cells: an integer is one int64, a number one double, a box four
doubles, a span its start and stop. `seen[row]` has a bit for every field of the object.

Numbers are rounded correctly (decimals.h). Numbers whose rounding is uncertain are listed in `hard` (cell, start,
stop); the caller reads them with Python's float(). At any unexpected text the kernel stops and reports it in `state`,
and the caller reads the file with the json module. So this kernel never has to classify an error (json_scan.h).

`data` ends with at least PADDING zero bytes.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t

from fastmetrics._kernels.numeric.length_checks cimport need_length, need_offsets, need_range

cdef extern from "detection/json_scan.h":
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
    const uint8_t* space_end "fm_skip_space"(const uint8_t* text) noexcept nogil
    const uint8_t* value_end "fm_skip_value"(const uint8_t* text, int* wide) noexcept nogil
    const uint8_t* read_row "fm_row"(
        const uint8_t* text, Rows* rows, const Field* fields, int64_t n_fields, int64_t row
    ) noexcept nogil

cdef enum:
    FIELDS = 16
    N_PADDING = 64
    COMMA = 44
    CLOSING = 93

PADDING = N_PADDING
MOST_FIELDS = FIELDS

INTEGER = FM_INTEGER
NUMBER = FM_NUMBER
BOX = FM_BOX
SPAN = FM_SPAN
CELLS = (1, 1, 4, 2)    # cells of a field of each kind

# Indices of `state`.
POSITION = 0            # where to continue; -1 if the text is unexpected
ROWS = 1                # rows written
HARD = 2                # numbers listed in `hard`
WIDE = 3                # 1 if some bytes are not ASCII, so the caller has to check that they are UTF-8
FINISHED = 4            # 1 after the end of the array
N_STATE = 5


cdef bint are_zero(const uint8_t* text, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint8_t found = 0
    for i in range(n):
        found |= text[i]
    return found == 0


cdef const uint8_t* text_at(const uint8_t[::1] data, int64_t position) except NULL:
    """The text from a position on. Raise ValueError if the padding of the data is not behind it, or not all zero."""
    cdef Py_ssize_t size = data.shape[0] - N_PADDING
    need_range(0, position, size)
    if not are_zero(&data[size], N_PADDING):
        raise ValueError(f"data must end with {N_PADDING} zero bytes")
    return &data[position]


def skip_space(const uint8_t[::1] data, int64_t position) -> int:
    """Return the position of the next byte that is not white space."""
    return space_end(text_at(data, position)) - &data[0]


def skip_value(const uint8_t[::1] data, int64_t position, int64_t[::1] state) -> int:
    """Return the end of the value that begins at `position`, or -1. Set state[WIDE] if it is not all ASCII."""
    cdef const uint8_t* text = text_at(data, position)
    cdef const uint8_t* end
    cdef int wide = 0
    need_length(b"state", state.shape[0], N_STATE)
    with nogil:
        end = value_end(text, &wide)
    if wide:
        state[3] = 1
    return -1 if end == NULL else end - &data[0]


cdef const uint8_t* scan_rows(
    const uint8_t* text, Rows* rows, const Field* fields, int64_t n_fields, int64_t max_rows, int64_t max_hard,
    int64_t* n_rows, int64_t* finished
) noexcept nogil:
    """Read objects and the commas between them, up to the end of the array or of the output arrays."""
    cdef int64_t row = 0
    finished[0] = 0
    while row < max_rows and rows.n_hard < max_hard:
        text = read_row(text, rows, fields, n_fields, row)
        if text == NULL:
            break
        row += 1
        text = space_end(text)
        if text[0] == CLOSING:
            finished[0] = 1
            text += 1
            break
        if text[0] != COMMA:
            text = NULL
            break
        text = space_end(text + 1)
    n_rows[0] = row
    return text


def read_rows(
    const uint8_t[::1] data, int64_t position, const uint8_t[::1] names, const int64_t[::1] name_stops,
    const int64_t[::1] kinds, int64_t[:, ::1] cells, uint64_t[::1] seen, int64_t[:, ::1] hard, int64_t[::1] state
):
    """Read objects into `cells`, one for each row. `position` is the first object of the array, or one after a comma.

    `names` are the names of the fields in one array of bytes; at most MOST_FIELDS fields. Reading also stops if `hard`
    has no space for MOST_FIELDS more boxes. The cells of a field that an object does not have are left unchanged.
    """
    cdef Field[FIELDS] fields
    cdef Rows rows
    cdef int64_t n_fields = kinds.shape[0]
    cdef int64_t i, cell = 0, start = 0
    cdef const uint8_t* text = text_at(data, position)
    need_range(0, n_fields, FIELDS)
    need_length(b"name_stops", name_stops.shape[0], n_fields)
    need_length(b"state", state.shape[0], N_STATE)
    need_length(b"seen", seen.shape[0], cells.shape[0])
    if n_fields:
        need_offsets(b"name_stops", &name_stops[0], n_fields, names.shape[0])
    for i in range(n_fields):
        if not FM_INTEGER <= kinds[i] <= FM_SPAN:
            raise ValueError(f"no field has kind {kinds[i]}")
        fields[i].name = &names[start]
        fields[i].length = name_stops[i] - start
        fields[i].kind = kinds[i]
        fields[i].cell = cell
        start = name_stops[i]
        cell += 4 if kinds[i] == FM_BOX else 2 if kinds[i] == FM_SPAN else 1
    if cells.shape[1] != cell or hard.shape[1] != 3:
        raise ValueError(f"cells have {cells.shape[1]} columns, and fields {cell} cells; hard has {hard.shape[1]} of 3")
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
