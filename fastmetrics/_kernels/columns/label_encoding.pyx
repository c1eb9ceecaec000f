"""Encode labels as codes 0, 1, 2, ... in the order of their values or of their first rows.

Integers of a small range are encoded through a table over that range. Other integers, and text of fixed width, go
through a hash table with open addressing. A slot holds code + 1, or 0 if it is free. Two labels share a code only if
all of their bits are equal. A table is at most half full. A function that needs a larger table stops and returns the
row; the caller continues there with a table of twice the size (`rehash`).
"""

from cpython.buffer cimport PyBuffer_Release
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t

from fastmetrics._kernels.columns.label_column cimport (
    LABEL_BLOCK, LabelColumn, describe_buffer, acquire_buffer, load_labels,
)
from fastmetrics._kernels.numeric.length_checks cimport need_below, need_length, need_range
from fastmetrics._kernels.numeric.table_hash cimport table_hash, table_hash_bytes, use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS

use_table_seeds(_SEEDS)

cdef extern from "columns/label_loops.h":
    int64_t rank_in_row_f32 "fm_rank_in_row_f32"(const float* scores, Py_ssize_t n, Py_ssize_t own) noexcept nogil
    int64_t rank_in_row_f64 "fm_rank_in_row_f64"(const double* scores, Py_ssize_t n, Py_ssize_t own) noexcept nogil
    int same_bytes "fm_same_bytes"(const char* first, const char* second, Py_ssize_t width) noexcept nogil
    int decode_i8 "fm_decode_labels_i8"(const int8_t* labels, Py_ssize_t n, uint8_t* out) noexcept nogil
    int decode_u8 "fm_decode_labels_u8"(const uint8_t* labels, Py_ssize_t n, uint8_t* out) noexcept nogil
    int decode_i64 "fm_decode_labels_i64"(const int64_t* labels, Py_ssize_t n, uint8_t* out) noexcept nogil


cdef class _ColumnBuffer:
    """The buffer of one column. It is released with this object."""

    cdef Py_buffer view
    cdef LabelColumn column
    cdef bint is_acquired

    def __cinit__(self):
        self.is_acquired = False

    def __dealloc__(self):
        if self.is_acquired:
            PyBuffer_Release(&self.view)

    cdef bint acquire(self, object values):
        self.is_acquired = acquire_buffer(values, &self.view)
        if self.is_acquired:
            self.column = describe_buffer(&self.view)
        return self.is_acquired and self.column.kind != 0


def mark_positive(values, uint8_t[::1] out) -> int:
    """out[row] = label == 1. Returns the SAW_ bits (column_checks.pyx); a label without an int64 counts as SAW_OTHER.

    Returns -1 if the column's type or layout is not supported.
    """
    cdef _ColumnBuffer column_buffer = _ColumnBuffer()
    cdef int64_t scratch[LABEL_BLOCK]
    cdef const int64_t* labels
    cdef Py_ssize_t n
    cdef Py_ssize_t start = 0
    cdef uint64_t bad = 0
    cdef int seen = 0
    if not column_buffer.acquire(values):
        return -1
    need_length(b"out", out.shape[0], column_buffer.column.rows)
    if column_buffer.column.rows == 0:
        return 0
    with nogil:
        if column_buffer.column.size == 1:
            start = column_buffer.column.rows
            if column_buffer.column.kind == c'i':
                seen = decode_i8(<const int8_t*>column_buffer.column.data, start, &out[0])
            else:
                seen = decode_u8(<const uint8_t*>column_buffer.column.data, start, &out[0])
        while start < column_buffer.column.rows:
            n = column_buffer.column.rows - start if column_buffer.column.rows - start < LABEL_BLOCK else LABEL_BLOCK
            labels = load_labels(&column_buffer.column, start, n, scratch, &bad)
            seen |= decode_i64(labels, n, &out[start])
            start += n
    return seen | 8 if bad else seen


def mark_labels(values, Py_ssize_t start, Py_ssize_t stop, int64_t low, uint8_t[::1] present) -> int:
    """Set present[label - low] to 1 for every label of the rows; return the number of ones in present.

    All labels must lie in low .. low + len(present) - 1, the range that label_range returned.
    """
    cdef _ColumnBuffer column_buffer = _ColumnBuffer()
    cdef int64_t scratch[LABEL_BLOCK]
    cdef const int64_t* labels
    cdef Py_ssize_t i, n
    cdef uint64_t bad = 0
    cdef int64_t total = 0
    cdef bint are_known = True
    if not column_buffer.acquire(values):
        raise TypeError("this column cannot be read here")
    need_range(start, stop, column_buffer.column.rows)
    with nogil:
        while start < stop and are_known:
            n = stop - start if stop - start < LABEL_BLOCK else LABEL_BLOCK
            labels = load_labels(&column_buffer.column, start, n, scratch, &bad)
            for i in range(n):
                if <uint64_t>labels[i] - <uint64_t>low >= <uint64_t>present.shape[0]:
                    are_known = False
                    break
                present[labels[i] - low] = 1
            start += n
        for i in range(present.shape[0]):
            total += present[i]
    if not are_known:
        raise ValueError(f"a label is not in the {present.shape[0]} labels from {low} on")
    return total


def look_up_codes(values, Py_ssize_t start, Py_ssize_t stop, int64_t low, const int64_t[::1] numbers, int64_t[::1] out):
    """out[row] = numbers[label - low] for rows start..stop. All labels must lie in the range of the table."""
    cdef _ColumnBuffer column_buffer = _ColumnBuffer()
    cdef int64_t scratch[LABEL_BLOCK]
    cdef const int64_t* labels
    cdef Py_ssize_t i, n
    cdef uint64_t bad = 0
    need_length(b"out", out.shape[0], stop)
    cdef bint are_known = True
    if not column_buffer.acquire(values):
        raise TypeError("this column cannot be read here")
    need_range(start, stop, column_buffer.column.rows)
    with nogil:
        while start < stop and are_known:
            n = stop - start if stop - start < LABEL_BLOCK else LABEL_BLOCK
            labels = load_labels(&column_buffer.column, start, n, scratch, &bad)
            for i in range(n):
                if <uint64_t>labels[i] - <uint64_t>low >= <uint64_t>numbers.shape[0]:
                    are_known = False
                    break
                out[start + i] = numbers[labels[i] - low]
            start += n
    if not are_known:
        raise ValueError(f"a label is not in the {numbers.shape[0]} labels from {low} on")


cdef int check_table(Py_ssize_t n_slots, Py_ssize_t capacity, Py_ssize_t n_classes) except -1:
    """Raise ValueError unless a table of a power of two of slots is at most half full of so many classes."""
    if n_slots < 2 or n_slots & (n_slots - 1) or 2 * capacity > n_slots or not 0 <= n_classes <= capacity:
        raise ValueError(f"{n_slots} slots of a table for {capacity} classes, of which {n_classes} are known")
    return 0


def encode_integers(
    values, Py_ssize_t start, Py_ssize_t stop, int32_t[::1] slots, int64_t[::1] classes, Py_ssize_t n_classes,
    int32_t[::1] codes
) -> tuple[int, int]:
    """Write the code of every row's label to codes[row] and new labels to classes[code].

    Returns (row where it stopped, number of classes). slots has 2**k elements, classes half as many.
    """
    cdef _ColumnBuffer column_buffer = _ColumnBuffer()
    cdef int64_t scratch[LABEL_BLOCK]
    cdef const int64_t* labels
    cdef Py_ssize_t i, n
    cdef Py_ssize_t capacity = classes.shape[0]
    cdef uint64_t mask = <uint64_t>slots.shape[0] - 1
    cdef uint64_t slot
    cdef int32_t number
    cdef uint64_t bad = 0
    if not column_buffer.acquire(values):
        raise TypeError("this column cannot be read here")
    need_range(start, stop, min(column_buffer.column.rows, codes.shape[0]))
    check_table(slots.shape[0], capacity, n_classes)
    with nogil:
        while start < stop:
            n = stop - start if stop - start < LABEL_BLOCK else LABEL_BLOCK
            labels = load_labels(&column_buffer.column, start, n, scratch, &bad)
            i = 0
            while i < n:
                slot = table_hash(<uint64_t>labels[i]) & mask
                while True:
                    number = slots[slot] - 1
                    if number < 0 or classes[number] == labels[i]:
                        break
                    slot = (slot + 1) & mask
                if number < 0:
                    if n_classes == capacity:
                        break
                    number = <int32_t>n_classes
                    classes[n_classes] = labels[i]
                    n_classes += 1
                    slots[slot] = number + 1
                codes[start + i] = number
                i += 1
            start += i
            if i < n:
                break
    return start, n_classes


def encode_byte_rows(
    const uint8_t[:, ::1] rows, Py_ssize_t start, Py_ssize_t stop, int32_t[::1] slots, int64_t[::1] first_rows,
    uint64_t[::1] hashes, Py_ssize_t n_classes, int32_t[::1] codes
) -> tuple[int, int]:
    """As encode_integers, for rows of bytes. first_rows[code] is the label's first row, hashes[code] its hash."""
    cdef Py_ssize_t width = rows.shape[1]
    cdef Py_ssize_t capacity = first_rows.shape[0]
    cdef uint64_t mask = <uint64_t>slots.shape[0] - 1
    cdef uint64_t slot, hashed
    cdef const char* text
    cdef int32_t number
    need_range(start, stop, min(rows.shape[0], codes.shape[0]))
    need_length(b"hashes", hashes.shape[0], capacity)
    check_table(slots.shape[0], capacity, n_classes)
    if start >= stop:
        return start, n_classes
    with nogil:
        while start < stop:
            text = <const char*>&rows[start, 0]
            hashed = table_hash_bytes(<const uint8_t*>text, width)
            slot = hashed & mask
            while True:
                number = slots[slot] - 1
                if number < 0:
                    break
                if hashes[number] == hashed and same_bytes(<const char*>&rows[first_rows[number], 0], text, width):
                    break
                slot = (slot + 1) & mask
            if number < 0:
                if n_classes == capacity:
                    break
                number = <int32_t>n_classes
                first_rows[n_classes] = start
                hashes[n_classes] = hashed
                n_classes += 1
                slots[slot] = number + 1
            codes[start] = number
            start += 1
    return start, n_classes


def hash_integers(const int64_t[::1] labels, uint64_t[::1] hashes):
    """hashes[i] = the hash that encode_integers uses for labels[i]."""
    cdef Py_ssize_t i
    need_length(b"hashes", hashes.shape[0], labels.shape[0])
    with nogil:
        for i in range(labels.shape[0]):
            hashes[i] = table_hash(<uint64_t>labels[i])


def rehash(const uint64_t[::1] hashes, int32_t[::1] slots):
    """Fill an empty table of slots with the codes of different labels, given their hashes."""
    cdef uint64_t mask = <uint64_t>slots.shape[0] - 1
    cdef uint64_t slot
    cdef Py_ssize_t i
    check_table(slots.shape[0], hashes.shape[0], 0)
    slots[:] = 0
    with nogil:
        for i in range(hashes.shape[0]):
            slot = hashes[i] & mask
            while slots[slot]:
                slot = (slot + 1) & mask
            slots[slot] = <int32_t>(i + 1)


def mark_top_k(
    scores, Py_ssize_t n_columns, const int64_t[::1] codes, Py_ssize_t k, Py_ssize_t start, Py_ssize_t stop, hits
) -> int:
    """Count rows start..stop whose own class (codes[row]) is among the k highest scores; -1 if a score is not finite.

    scores is a row-major matrix of floats. hits (uint8, or None) becomes 1 at the counted rows, else 0. Among equal
    scores the last column ranks first.
    """
    cdef _ColumnBuffer column_buffer = _ColumnBuffer()
    cdef uint8_t[::1] marks = hits
    cdef const float* narrow
    cdef const double* wide
    cdef int64_t rank
    cdef int64_t total = 0
    cdef Py_ssize_t i
    if not column_buffer.acquire(scores) or column_buffer.column.kind != c'f':
        raise TypeError("scores must be floats, one after the other")
    if n_columns < 1 or not 0 <= start <= stop <= codes.shape[0] or stop > column_buffer.column.rows // n_columns:
        raise ValueError(f"rows {start} to {stop} of scores in {n_columns} columns")
    if marks is not None:
        need_length(b"hits", marks.shape[0], stop)
    if stop > start:
        need_below(b"codes", &codes[start], stop - start, n_columns)
    narrow = <const float*>column_buffer.column.data
    wide = <const double*>column_buffer.column.data
    with nogil:
        for i in range(start, stop):
            if column_buffer.column.size == 4:
                rank = rank_in_row_f32(narrow + i * n_columns, n_columns, codes[i])
            else:
                rank = rank_in_row_f64(wide + i * n_columns, n_columns, codes[i])
            if rank < 0:
                total = -1
                break
            total += rank < k
            if marks is not None:
                marks[i] = rank < k
    return total
