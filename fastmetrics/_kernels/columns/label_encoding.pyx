"""Labels become numbers: 0, 1, 2, ... in the order of their values or of their first rows.

Integers in a small range are looked up in a table over that range. Others, and text of fixed width, are numbered by a
hash table with open addressing: a slot holds one more than a number, or 0; two labels share a number only if all of
their bits are equal. A table is at most half full: a function that needs a larger one stops and returns the row, and
the caller goes on there with a table of twice the size (`place_again`).
"""

from cpython.buffer cimport PyBuffer_Release
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from fastmetrics._kernels.labelcolumn cimport BLOCK, Column, column_of, get_column, labels_at

cdef extern from "labelmath.h":
    int64_t place_in_row_f32 "fm_place_in_row_f32"(const float* scores, Py_ssize_t n, Py_ssize_t own) noexcept nogil
    int64_t place_in_row_f64 "fm_place_in_row_f64"(const double* scores, Py_ssize_t n, Py_ssize_t own) noexcept nogil
    int same_bytes "fm_same_bytes"(const char* first, const char* second, Py_ssize_t width) noexcept nogil
    int decode_i8 "fm_decode_labels_i8"(const int8_t* labels, Py_ssize_t n, uint8_t* out) noexcept nogil
    int decode_u8 "fm_decode_labels_u8"(const uint8_t* labels, Py_ssize_t n, uint8_t* out) noexcept nogil
    int decode_i64 "fm_decode_labels_i64"(const int64_t* labels, Py_ssize_t n, uint8_t* out) noexcept nogil
    uint64_t hash_integer "fm_hash_integer"(uint64_t key) noexcept nogil


cdef class _Reader:
    """The buffer of one column, held while it is read."""

    cdef Py_buffer view
    cdef Column column
    cdef bint held

    def __cinit__(self):
        self.held = False

    def __dealloc__(self):
        if self.held:
            PyBuffer_Release(&self.view)

    cdef bint hold(self, object values):
        self.held = get_column(values, &self.view)
        if self.held:
            self.column = column_of(&self.view)
        return self.held and self.column.kind != 0


def mark_positive(values, uint8_t[::1] out):
    """out[row] = label == 1; the SAW_ bits (columns.pyx) of what was seen, SAW_OTHER for what has no int64.

    -1 if the column cannot be read here.
    """
    cdef _Reader reader = _Reader()
    cdef int64_t room[BLOCK]
    cdef const int64_t* labels
    cdef Py_ssize_t n
    cdef Py_ssize_t start = 0
    cdef uint64_t bad = 0
    cdef int seen = 0
    if not reader.hold(values):
        return -1
    with nogil:
        if reader.column.size == 1:
            start = reader.column.rows
            if reader.column.kind == c'i':
                seen = decode_i8(<const int8_t*>reader.column.data, start, &out[0])
            else:
                seen = decode_u8(<const uint8_t*>reader.column.data, start, &out[0])
        while start < reader.column.rows:
            n = reader.column.rows - start if reader.column.rows - start < BLOCK else BLOCK
            labels = labels_at(&reader.column, start, n, room, &bad)
            seen |= decode_i64(labels, n, &out[start])
            start += n
    return seen | 8 if bad else seen


def mark_labels(values, Py_ssize_t start, Py_ssize_t stop, int64_t low, uint8_t[::1] present):
    """present[label - low] becomes 1 for every label of the rows; returns how many of present are 1.

    All labels lie in the range; label_range found it.
    """
    cdef _Reader reader = _Reader()
    cdef int64_t room[BLOCK]
    cdef const int64_t* labels
    cdef Py_ssize_t i, n
    cdef uint64_t bad = 0
    cdef int64_t total = 0
    if not reader.hold(values):
        raise TypeError("this column cannot be read here")
    with nogil:
        while start < stop:
            n = stop - start if stop - start < BLOCK else BLOCK
            labels = labels_at(&reader.column, start, n, room, &bad)
            for i in range(n):
                present[labels[i] - low] = 1
            start += n
        for i in range(present.shape[0]):
            total += present[i]
    return total


def look_up(values, Py_ssize_t start, Py_ssize_t stop, int64_t low, const int64_t[::1] numbers, int64_t[::1] out):
    """out[row] = numbers[label - low] for the rows start..stop. All labels lie in the range."""
    cdef _Reader reader = _Reader()
    cdef int64_t room[BLOCK]
    cdef const int64_t* labels
    cdef Py_ssize_t i, n
    cdef uint64_t bad = 0
    if not reader.hold(values):
        raise TypeError("this column cannot be read here")
    with nogil:
        while start < stop:
            n = stop - start if stop - start < BLOCK else BLOCK
            labels = labels_at(&reader.column, start, n, room, &bad)
            for i in range(n):
                out[start + i] = numbers[labels[i] - low]
            start += n


def number_integers(
    values, Py_ssize_t start, Py_ssize_t stop, int32_t[::1] slots, int64_t[::1] found, Py_ssize_t n_found,
    int32_t[::1] codes
):
    """codes[row] becomes the number of the row's label, found[number] the label: (row stopped at, how many are found).

    slots has 2**k elements, found half as many.
    """
    cdef _Reader reader = _Reader()
    cdef int64_t room[BLOCK]
    cdef const int64_t* labels
    cdef Py_ssize_t i, n
    cdef Py_ssize_t most = found.shape[0]
    cdef uint64_t mask = <uint64_t>slots.shape[0] - 1
    cdef uint64_t slot
    cdef int32_t number
    cdef uint64_t bad = 0
    if not reader.hold(values):
        raise TypeError("this column cannot be read here")
    with nogil:
        while start < stop:
            n = stop - start if stop - start < BLOCK else BLOCK
            labels = labels_at(&reader.column, start, n, room, &bad)
            i = 0
            while i < n:
                slot = hash_integer(<uint64_t>labels[i]) & mask
                while True:
                    number = slots[slot] - 1
                    if number < 0 or found[number] == labels[i]:
                        break
                    slot = (slot + 1) & mask
                if number < 0:
                    if n_found == most:
                        break
                    number = <int32_t>n_found
                    found[n_found] = labels[i]
                    n_found += 1
                    slots[slot] = number + 1
                codes[start + i] = number
                i += 1
            start += i
            if i < n:
                break
    return start, n_found


cdef inline uint64_t hash_bytes(const char* text, Py_ssize_t width) noexcept nogil:
    cdef uint64_t one = 0x9E3779B97F4A7C15
    cdef uint64_t other = 0xC2B2AE3D27D4EB4F
    cdef uint64_t word
    cdef Py_ssize_t i = 0
    while i + 16 <= width:
        memcpy(&word, text + i, 8)
        one = (one ^ word) * <uint64_t>0xD6E8FEB86659FD93
        one ^= one >> 32
        memcpy(&word, text + i + 8, 8)
        other = (other ^ word) * <uint64_t>0xD6E8FEB86659FD93
        other ^= other >> 32
        i += 16
    while i < width:
        word = 0
        memcpy(&word, text + i, width - i if width - i < 8 else 8)
        one = (one ^ word) * <uint64_t>0xD6E8FEB86659FD93
        one ^= one >> 32
        i += 8
    return hash_integer(one + (other << 1))


def number_rows(
    const uint8_t[:, ::1] rows, Py_ssize_t start, Py_ssize_t stop, int32_t[::1] slots, int64_t[::1] found,
    uint64_t[::1] hashes, Py_ssize_t n_found, int32_t[::1] codes
):
    """As number_integers, for rows of bytes: found[number] is the label's first row, hashes[number] its hash."""
    cdef Py_ssize_t width = rows.shape[1]
    cdef Py_ssize_t most = found.shape[0]
    cdef uint64_t mask = <uint64_t>slots.shape[0] - 1
    cdef uint64_t slot, hashed
    cdef const char* text
    cdef int32_t number
    if start >= stop:
        return start, n_found
    with nogil:
        while start < stop:
            text = <const char*>&rows[start, 0]
            hashed = hash_bytes(text, width)
            slot = hashed & mask
            while True:
                number = slots[slot] - 1
                if number < 0:
                    break
                if hashes[number] == hashed and same_bytes(<const char*>&rows[found[number], 0], text, width):
                    break
                slot = (slot + 1) & mask
            if number < 0:
                if n_found == most:
                    break
                number = <int32_t>n_found
                found[n_found] = start
                hashes[n_found] = hashed
                n_found += 1
                slots[slot] = number + 1
            codes[start] = number
            start += 1
    return start, n_found


def hash_integers(const int64_t[::1] labels, uint64_t[::1] hashes):
    """hashes[i] becomes what number_integers looks for labels[i] with."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(labels.shape[0]):
            hashes[i] = hash_integer(<uint64_t>labels[i])


def place_again(const uint64_t[::1] hashes, int32_t[::1] slots):
    """Fill the slots, all 0, with the numbers of labels of these hashes, all different."""
    cdef uint64_t mask = <uint64_t>slots.shape[0] - 1
    cdef uint64_t slot
    cdef Py_ssize_t i
    with nogil:
        for i in range(hashes.shape[0]):
            slot = hashes[i] & mask
            while slots[slot]:
                slot = (slot + 1) & mask
            slots[slot] = <int32_t>(i + 1)


def mark_top(
    scores, Py_ssize_t n_columns, const int64_t[::1] codes, Py_ssize_t k, Py_ssize_t start, Py_ssize_t stop, hits
):
    """Of the rows start..stop, how many have their code's score among the k highest; -1 if a score is not finite.

    scores are all rows' floats one after the other. hits, uint8 or None, becomes 1 at those rows, else 0. Of equal
    scores the last column's comes first.
    """
    cdef _Reader reader = _Reader()
    cdef uint8_t[::1] marks = hits
    cdef const float* narrow
    cdef const double* wide
    cdef int64_t place
    cdef int64_t total = 0
    cdef Py_ssize_t i
    if not reader.hold(scores) or reader.column.kind != c'f':
        raise TypeError("scores must be floats, one after the other")
    narrow = <const float*>reader.column.data
    wide = <const double*>reader.column.data
    with nogil:
        for i in range(start, stop):
            if reader.column.size == 4:
                place = place_in_row_f32(narrow + i * n_columns, n_columns, codes[i])
            else:
                place = place_in_row_f64(wide + i * n_columns, n_columns, codes[i])
            if place < 0:
                total = -1
                break
            total += place < k
            if marks is not None:
                marks[i] = place < k
    return total
