"""Blocks of segments as arrays of code points, from Python strings, lists of tokens, and UTF-8.

Layout. The kernels of text metrics work on blocks. `points` (uint32) has the code points of all texts of a block, one
text after the other: text i is points[offsets[i]:offsets[i + 1]]. Segment s has the texts segments[s]:segments[s + 1].
The first is the hypothesis, the others are its references. A missing reference (None) is not a text. A block of tokens
has `text_tokens` instead of `offsets`, and a number for every token instead of `points`.

Decoding. Python strings are copied by PyUnicode_AsUCS4, which runs at the speed of memory and caches nothing in the
string. UTF-8 (from Arrow buffers and files) is decoded here and is as strict as Python's decoder. Code points of 32
bits make every later step the same for all scripts: a character is an array element.

Threads. The loops over Python objects hold the GIL, if there is one. The caller owns the lists. No other thread may
change them between a `measure_` function and the `copy_` or `number_` function after it, because these borrow
references to the items. Several threads may read the same lists. Only the limited API is used.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint32_t

from fastmetrics._kernels.numeric.length_checks cimport need_length, need_range

cdef extern from "Python.h":
    bint is_text "PyUnicode_Check"(object value)
    bint is_integer "PyLong_Check"(object value)
    bint is_bool "PyBool_Check"(object value)
    bint is_index "PyIndex_Check"(object value)
    bint is_list "PyList_Check"(object value)
    bint is_tuple "PyTuple_Check"(object value)
    Py_ssize_t PyUnicode_GetLength(object text) except -1
    uint32_t* PyUnicode_AsUCS4(object text, uint32_t* buffer, Py_ssize_t length, int copy_null) except NULL
    bint is_exact_text "PyUnicode_CheckExact"(PyObject* value)
    Py_ssize_t text_length "PyUnicode_GetLength"(PyObject* text) except -1
    uint32_t* text_points "PyUnicode_AsUCS4"(
        PyObject* text, uint32_t* buffer, Py_ssize_t length, int copy_null
    ) except NULL
    PyObject* list_item "PyList_GetItem"(object items, Py_ssize_t position) except NULL
    PyObject* tuple_item "PyTuple_GetItem"(object items, Py_ssize_t position) except NULL
    PyObject* PyDict_GetItemWithError(object dictionary, PyObject* key) except? NULL
    object PyLong_FromLongLong(long long value)
    long long PyLong_AsLongLong(object value) except? -1
    object as_integer "PyNumber_Index"(object value)

cdef extern from "text/tokens/utf8_scan.h":
    void prefetch "fm_prefetch"(const void* memory) noexcept nogil
    int has_surrogate "fm_has_surrogate"(const uint32_t* points, int64_t n) noexcept nogil
    int64_t decode_span "fm_decode_utf8"(const uint8_t* text, int64_t n, uint32_t* points) noexcept nogil

# Indices of `bad_item`, in which `measure_` functions and `number_lists` report an invalid item.
BAD_STREAM = 0
BAD_ROW = 1
BAD_TOKEN = 2


def measure_streams(
    list streams, Py_ssize_t start, Py_ssize_t stop, bint of_tokens, int64_t[::1] offsets, int64_t[::1] segments,
    int64_t[::1] bad_item
) -> int:
    """Compute the offsets of the texts of rows start:stop. Return the number of texts, or -1 for an invalid item.

    The first stream has the hypotheses. Each stream has at least `stop` rows. `offsets` has room for a text of every
    row and stream plus one number, `segments` for stop - start + 1 numbers. A text is a string or, if `of_tokens`, a
    list or tuple of tokens, whose offsets are those of its tokens. An item is invalid if it is not a text, or if it is
    None in the first stream. `bad_item` then gets its stream and row.
    """
    cdef Py_ssize_t row, stream_index, n_streams = len(streams)
    cdef int64_t text = 0, length = 0
    cdef list stream
    cdef object item
    need_range(start, stop, stop)
    need_length(b"offsets", offsets.shape[0], (stop - start) * n_streams + 1)
    need_length(b"segments", segments.shape[0], stop - start + 1)
    need_length(b"bad_item", bad_item.shape[0], 2)
    offsets[0] = 0
    for row in range(start, stop):
        segments[row - start] = text
        for stream_index in range(n_streams):
            stream = <list>streams[stream_index]
            item = stream[row]
            if item is None and stream_index:
                continue
            if of_tokens and (is_list(item) or is_tuple(item)):
                length += len(item)
            elif not of_tokens and is_text(item):
                length += PyUnicode_GetLength(item)
            else:
                bad_item[0] = stream_index
                bad_item[1] = row
                return -1
            text += 1
            offsets[text] = length
    segments[stop - start] = text
    return text


def copy_texts(
    list streams, Py_ssize_t start, Py_ssize_t stop, const int64_t[::1] offsets, uint32_t[::1] points
) -> bool:
    """Copy the code points of the measured texts. Return False if a text has a lone surrogate, which is invalid."""
    cdef Py_ssize_t row, stream_index, n_streams = len(streams)
    cdef int64_t text = 0, length, n_points
    cdef list stream
    cdef object item
    cdef bint has_lone_surrogate
    for row in range(start, stop):
        for stream_index in range(n_streams):
            stream = <list>streams[stream_index]
            item = stream[row]
            if item is None:
                continue
            length = offsets[text + 1] - offsets[text]
            if length:
                if length < 0 or length > points.shape[0] - offsets[text]:
                    raise ValueError("the texts are not those that were measured")
                PyUnicode_AsUCS4(item, &points[offsets[text]], length, 0)
            text += 1
    n_points = offsets[text]
    if n_points:
        with nogil:
            has_lone_surrogate = has_surrogate(&points[0], n_points)
        return not has_lone_surrogate
    return True


cdef enum:
    PREFETCH_DISTANCE = 8  # tokens to prefetch; each object is somewhere else in memory


cdef inline PyObject* token_at(object tokens, bint is_list_of_tokens, Py_ssize_t position) except NULL:
    """Return a borrowed reference; the list of the caller owns it. Reference counting would write to every token."""
    return list_item(tokens, position) if is_list_of_tokens else tuple_item(tokens, position)


def measure_words(list streams, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] token_starts) -> int:
    """Compute the starts of all tokens. Return the number of code points, or -1 if a token is not exactly a str.

    `token_starts` has room for one number more than `measure_streams` counted tokens.
    """
    cdef Py_ssize_t row, stream_index, position, n, n_streams = len(streams)
    cdef int64_t out = 0, length = 0
    cdef object item
    cdef bint is_list_of_tokens
    cdef PyObject* token
    token_starts[0] = 0
    for row in range(start, stop):
        for stream_index in range(n_streams):
            item = (<list>streams[stream_index])[row]
            if item is None:
                continue
            is_list_of_tokens = is_list(item)
            n = len(item)
            for position in range(n):
                if position + PREFETCH_DISTANCE < n:
                    prefetch(token_at(item, is_list_of_tokens, position + PREFETCH_DISTANCE))
                token = token_at(item, is_list_of_tokens, position)
                if not is_exact_text(token):
                    return -1
                length += text_length(token)
                out += 1
                token_starts[out] = length
    return length


def copy_words(
    list streams, Py_ssize_t start, Py_ssize_t stop, const int64_t[::1] token_starts, uint32_t[::1] points
):
    """Copy the code points of the measured tokens."""
    cdef Py_ssize_t row, stream_index, position, n_streams = len(streams)
    cdef int64_t out = 0, length
    cdef object item
    cdef bint is_list_of_tokens
    for row in range(start, stop):
        for stream_index in range(n_streams):
            item = (<list>streams[stream_index])[row]
            if item is None:
                continue
            is_list_of_tokens = is_list(item)
            for position in range(len(item)):
                length = token_starts[out + 1] - token_starts[out]
                if length:
                    if length < 0 or length > points.shape[0] - token_starts[out]:
                        raise ValueError("the tokens are not those that were measured")
                    text_points(token_at(item, is_list_of_tokens, position), &points[token_starts[out]], length, 0)
                out += 1


cdef object to_python_int(object token):
    """Convert an integer of another library, such as NumPy, to a Python int. Return None for anything else."""
    if is_bool(token) or not is_index(token):
        return None
    try:
        return as_integer(token)
    except TypeError:
        return None


def number_lists(
    list streams, Py_ssize_t start, Py_ssize_t stop, dict token_ids, int64_t[::1] ids, int64_t[::1] bad_item
) -> bool:
    """Write an id for every token; equal tokens have equal ids. Return False at a token that is neither str nor int.

    `token_ids` maps tokens to ids. New tokens are added in the order in which they occur. `bad_item` gets stream, row
    and position of an invalid token.
    """
    cdef Py_ssize_t row, stream_index, position, n, n_streams = len(streams)
    cdef int64_t out = 0, next_id = len(token_ids)
    cdef object item, python_int
    cdef bint is_list_of_tokens
    cdef PyObject* token
    cdef PyObject* value
    for row in range(start, stop):
        for stream_index in range(n_streams):
            item = (<list>streams[stream_index])[row]
            if item is None:
                continue
            is_list_of_tokens = is_list(item)
            n = len(item)
            for position in range(n):
                if position + PREFETCH_DISTANCE < n:
                    prefetch(token_at(item, is_list_of_tokens, position + PREFETCH_DISTANCE))
                token = token_at(item, is_list_of_tokens, position)
                if not is_text(<object>token) and (not is_integer(<object>token) or is_bool(<object>token)):
                    python_int = to_python_int(<object>token)
                    if python_int is None:
                        bad_item[0] = stream_index
                        bad_item[1] = row
                        bad_item[2] = position
                        return False
                    token = <PyObject*>python_int
                value = PyDict_GetItemWithError(token_ids, token)
                if value == NULL:
                    token_ids[<object>token] = PyLong_FromLongLong(next_id)
                    ids[out] = next_id
                    next_id += 1
                else:
                    ids[out] = PyLong_AsLongLong(<object>value)
                out += 1
    return True


cdef int64_t decode(
    const uint8_t* data, const int64_t* starts, const int64_t* stops, int64_t n, int64_t* offsets, uint32_t* points
) noexcept nogil:
    cdef int64_t text, n_points = 0, length
    offsets[0] = 0
    for text in range(n):
        length = decode_span(data + starts[text], stops[text] - starts[text], points + n_points)
        if length < 0:
            return text
        n_points += length
        offsets[text + 1] = n_points
    return -1


def decode_utf8(
    const uint8_t[::1] data, const int64_t[::1] starts, const int64_t[::1] stops, int64_t[::1] offsets,
    uint32_t[::1] points,
) -> int:
    """Decode spans of UTF-8, one after the other. Return -1, or the index of a span that is not UTF-8.

    `points` has room for a code point per byte of the spans, `offsets` for one number more than there are spans.
    """
    cdef int64_t bad_span, n = starts.shape[0]
    offsets[0] = 0
    if n == 0 or data.shape[0] == 0 or points.shape[0] == 0:
        offsets[:] = 0
        return -1
    with nogil:
        bad_span = decode(&data[0], &starts[0], &stops[0], n, &offsets[0], &points[0])
    return bad_span
