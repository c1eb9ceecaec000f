"""Texts of every origin as code points: a block of segments, in which each text stands behind the one before.

A *block* is what the kernels of text metrics look at: `points` (uint32) holds the code points of all its texts,
text i is points[offsets[i]:offsets[i + 1]]; segment s owns the texts segments[s]:segments[s + 1], of which the first
is the hypothesis and the others are its references. A missing reference (None) is no text. Blocks of tokens have
`text_tokens` in the place of `offsets` and a number for every token in that of the points.

Python's strings are copied by PyUnicode_AsUCS4, which widens them at the speed of memory and caches nothing in the
string; UTF-8 (of Arrow buffers and of files) is decoded here, strictly: what Python's decoder refuses is refused. Code
points of 32 bits make every later step the same for all scripts, and a character an array's element.

The loops over Python objects hold the GIL, or run without one in a free-threaded Python: lists are the caller's, and no
other thread may change them between `measure_` and `copy_` or `number_`, which borrow references to what they hold.
Several threads may read the same lists. Only what the limited API has is used.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint32_t

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
    PyObject* list_item "PyList_GetItem"(object items, Py_ssize_t place) except NULL
    PyObject* tuple_item "PyTuple_GetItem"(object items, Py_ssize_t place) except NULL
    PyObject* PyDict_GetItemWithError(object dictionary, PyObject* key) except? NULL
    object PyLong_FromLongLong(long long value)
    long long PyLong_AsLongLong(object value) except? -1
    object as_integer "PyNumber_Index"(object value)

cdef extern from "textscan.h":
    void prefetch "fm_prefetch"(const void* memory) noexcept nogil
    int has_surrogate "fm_has_surrogate"(const uint32_t* points, int64_t n) noexcept nogil
    int64_t decode_span "fm_decode_utf8"(const uint8_t* text, int64_t n, uint32_t* points) noexcept nogil

# What `measure_texts` and `number_lists` say of an item that they cannot take; places of `found`.
BAD_STREAM = 0
BAD_ROW = 1
BAD_TOKEN = 2


def measure_texts(
    list streams, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] offsets, int64_t[::1] segments, int64_t[::1] found
):
    """Where the texts of rows start..stop will stand; returns how many texts there are, or -1 at an item that is none.

    The first stream holds the hypotheses. Streams have `stop` rows at least; `offsets` room for a text of every row
    and stream and one more, `segments` for stop - start + 1. `found` tells stream and row of the item refused: one that
    is no string, or None as a hypothesis.
    """
    cdef Py_ssize_t row, number, n_streams = len(streams)
    cdef int64_t text = 0, length = 0
    cdef list stream
    cdef object item
    offsets[0] = 0
    for row in range(start, stop):
        segments[row - start] = text
        for number in range(n_streams):
            stream = <list>streams[number]
            item = stream[row]
            if item is None and number:
                continue
            if not is_text(item):
                found[0] = number
                found[1] = row
                return -1
            length += PyUnicode_GetLength(item)
            text += 1
            offsets[text] = length
    segments[stop - start] = text
    return text


def copy_texts(
    list streams, Py_ssize_t start, Py_ssize_t stop, const int64_t[::1] offsets, uint32_t[::1] points
):
    """The code points of the texts that were measured; returns False if one has a lone surrogate, which is no text."""
    cdef Py_ssize_t row, number, n_streams = len(streams)
    cdef int64_t text = 0, length, n_points
    cdef list stream
    cdef object item
    cdef bint lone
    for row in range(start, stop):
        for number in range(n_streams):
            stream = <list>streams[number]
            item = stream[row]
            if item is None:
                continue
            length = offsets[text + 1] - offsets[text]
            if length:
                PyUnicode_AsUCS4(item, &points[offsets[text]], length, 0)
            text += 1
    n_points = offsets[text]
    if n_points:
        with nogil:
            lone = has_surrogate(&points[0], n_points)
        return not lone
    return True


def measure_lists(
    list streams, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] text_tokens, int64_t[::1] segments,
    int64_t[::1] found,
):
    """As `measure_texts`, for texts that are lists (or tuples) of tokens."""
    cdef Py_ssize_t row, number, n_streams = len(streams)
    cdef int64_t text = 0, length = 0
    cdef list stream
    cdef object item
    text_tokens[0] = 0
    for row in range(start, stop):
        segments[row - start] = text
        for number in range(n_streams):
            stream = <list>streams[number]
            item = stream[row]
            if item is None and number:
                continue
            if not (is_list(item) or is_tuple(item)):
                found[0] = number
                found[1] = row
                return -1
            length += len(item)
            text += 1
            text_tokens[text] = length
    segments[stop - start] = text
    return text


cdef enum:
    AHEAD = 8   # tokens whose objects are fetched before their turn: each is somewhere else in memory


cdef inline PyObject* token_at(object tokens, bint listed, Py_ssize_t place) except NULL:
    """A borrowed reference, which the caller's list holds: counting references would write to every token."""
    return list_item(tokens, place) if listed else tuple_item(tokens, place)


def measure_words(list streams, Py_ssize_t start, Py_ssize_t stop, int64_t[::1] token_starts):
    """Where the code points of every token will stand; returns how many they are, or -1 if a token is no plain str.

    token_starts has room for a token more than `measure_lists` has counted.
    """
    cdef Py_ssize_t row, number, place, n, n_streams = len(streams)
    cdef int64_t out = 0, length = 0
    cdef object item
    cdef bint listed
    cdef PyObject* token
    token_starts[0] = 0
    for row in range(start, stop):
        for number in range(n_streams):
            item = (<list>streams[number])[row]
            if item is None:
                continue
            listed = is_list(item)
            n = len(item)
            for place in range(n):
                if place + AHEAD < n:
                    prefetch(token_at(item, listed, place + AHEAD))
                token = token_at(item, listed, place)
                if not is_exact_text(token):
                    return -1
                length += text_length(token)
                out += 1
                token_starts[out] = length
    return length


def copy_words(
    list streams, Py_ssize_t start, Py_ssize_t stop, const int64_t[::1] token_starts, uint32_t[::1] points
):
    """The code points of the tokens that were measured."""
    cdef Py_ssize_t row, number, place, n_streams = len(streams)
    cdef int64_t out = 0, length
    cdef object item
    cdef bint listed
    for row in range(start, stop):
        for number in range(n_streams):
            item = (<list>streams[number])[row]
            if item is None:
                continue
            listed = is_list(item)
            for place in range(len(item)):
                length = token_starts[out + 1] - token_starts[out]
                if length:
                    text_points(token_at(item, listed, place), &points[token_starts[out]], length, 0)
                out += 1


cdef object as_whole(object token):
    """An integer of another library, such as NumPy's, as Python's; None for anything else."""
    if is_bool(token) or not is_index(token):
        return None
    try:
        return as_integer(token)
    except TypeError:
        return None


def number_lists(
    list streams, Py_ssize_t start, Py_ssize_t stop, dict known, int64_t[::1] ids, int64_t[::1] found
):
    """A number for every token, the same for equal ones; returns False at a token that is neither str nor int.

    `known` maps tokens to numbers and takes in new ones, numbered in the order in which they are met.
    """
    cdef Py_ssize_t row, number, place, n, n_streams = len(streams)
    cdef int64_t out = 0, fresh = len(known)
    cdef object item, whole
    cdef bint listed
    cdef PyObject* token
    cdef PyObject* value
    for row in range(start, stop):
        for number in range(n_streams):
            item = (<list>streams[number])[row]
            if item is None:
                continue
            listed = is_list(item)
            n = len(item)
            for place in range(n):
                if place + AHEAD < n:
                    prefetch(token_at(item, listed, place + AHEAD))
                token = token_at(item, listed, place)
                if not is_text(<object>token) and (not is_integer(<object>token) or is_bool(<object>token)):
                    whole = as_whole(<object>token)
                    if whole is None:
                        found[0] = number
                        found[1] = row
                        found[2] = place
                        return False
                    token = <PyObject*>whole
                value = PyDict_GetItemWithError(known, token)
                if value == NULL:
                    known[<object>token] = PyLong_FromLongLong(fresh)
                    ids[out] = fresh
                    fresh += 1
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
):
    """The code points of spans of UTF-8, one behind the other; returns -1, or the number of a span that is not UTF-8.

    `points` has room for a code point for every byte of the spans, `offsets` for one more than there are spans.
    """
    cdef int64_t bad, n = starts.shape[0]
    offsets[0] = 0
    if n == 0 or data.shape[0] == 0 or points.shape[0] == 0:
        offsets[:] = 0
        return -1
    with nogil:
        bad = decode(&data[0], &starts[0], &stops[0], n, &offsets[0], &points[0])
    return bad
