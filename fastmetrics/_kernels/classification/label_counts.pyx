"""Counts of pairs of labels in two columns.

Columns are one-dimensional, contiguous NumPy arrays of any numeric type, read as described in label_column.pxd. If a
function cannot read a column, its result shows it and the caller uses another function.

A table has 2**bits rows and columns: cell (i, j) counts rows whose labels are low + i and low + j. A table may have
COPIES copies, used in turn: otherwise a cell that is incremented in every row would wait for its previous store. Counts
are int64. `label_weights.pyx` sums weights.
"""

from cpython.buffer cimport PyBuffer_Release
from libc.stdint cimport INT64_MAX, INT64_MIN, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastmetrics._kernels.columns.label_column cimport (
    LABEL_BLOCK, LabelColumn, describe_buffer, acquire_buffer, load_labels,
)
from fastmetrics._kernels.numeric.length_checks cimport need_below, need_length, need_range

cdef extern from "columns/label_loops.h":
    int same_bytes "fm_same_bytes"(const char* first, const char* second, Py_ssize_t width) noexcept nogil
    void range_i64 "fm_range_i64"(const int64_t* labels, Py_ssize_t n, int64_t* span) noexcept nogil
    uint64_t find_cells "fm_find_cells"(
        const int64_t* first, const int64_t* second, Py_ssize_t n, int64_t low, int bits, uint32_t* cells
    ) noexcept nogil
    int count_binary_8 "fm_count_binary_8"(
        const uint8_t* first, const uint8_t* second, Py_ssize_t n, int64_t* totals) noexcept nogil
    int count_binary_16 "fm_count_binary_16"(
        const uint16_t* first, const uint16_t* second, Py_ssize_t n, int64_t* totals) noexcept nogil
    int count_binary_32 "fm_count_binary_32"(
        const uint32_t* first, const uint32_t* second, Py_ssize_t n, int64_t* totals) noexcept nogil
    int count_binary_64 "fm_count_binary_64"(
        const uint64_t* first, const uint64_t* second, Py_ssize_t n, int64_t* totals) noexcept nogil
    int64_t count_equal_8 "fm_count_equal_8"(const uint8_t* first, const uint8_t* second, Py_ssize_t n) noexcept nogil
    int64_t count_equal_16 "fm_count_equal_16"(
        const uint16_t* first, const uint16_t* second, Py_ssize_t n) noexcept nogil
    int64_t count_equal_32 "fm_count_equal_32"(
        const uint32_t* first, const uint32_t* second, Py_ssize_t n) noexcept nogil
    int64_t count_equal_64 "fm_count_equal_64"(
        const uint64_t* first, const uint64_t* second, Py_ssize_t n) noexcept nogil
    int64_t count_equal_f32 "fm_count_equal_f32"(const float* first, const float* second, Py_ssize_t n) noexcept nogil
    int64_t count_equal_f64 "fm_count_equal_f64"(const double* first, const double* second, Py_ssize_t n) noexcept nogil

cdef enum:
    COPIES = 4
    SMALL_BITS = 6
    SMALL_LABELS = 1 << SMALL_BITS

FEW_LABELS = SMALL_LABELS
BLOCK_ROWS = LABEL_BLOCK


cdef inline int count_binary_columns(
    LabelColumn* first, LabelColumn* second, Py_ssize_t start, Py_ssize_t n, int64_t* totals
) noexcept nogil:
    """Count two columns of integers of one width. See fm_count_binary."""
    cdef const char* first_data = first.data + start * first.size
    cdef const char* second_data = second.data + start * first.size
    if first.size == 1:
        return count_binary_8(<const uint8_t*>first_data, <const uint8_t*>second_data, n, totals)
    if first.size == 2:
        return count_binary_16(<const uint16_t*>first_data, <const uint16_t*>second_data, n, totals)
    if first.size == 4:
        return count_binary_32(<const uint32_t*>first_data, <const uint32_t*>second_data, n, totals)
    return count_binary_64(<const uint64_t*>first_data, <const uint64_t*>second_data, n, totals)


cdef int64_t count_equal_labels(
    LabelColumn* first, LabelColumn* second, Py_ssize_t start, Py_ssize_t stop
) noexcept nogil:
    """The number of equal rows; -1 if a label is not an int64."""
    cdef int64_t scratch[LABEL_BLOCK]
    cdef int64_t other_scratch[LABEL_BLOCK]
    cdef const int64_t* first_labels
    cdef const int64_t* second_labels
    cdef const char* left = first.data + start * first.size
    cdef const char* right = second.data + start * second.size
    cdef Py_ssize_t n = stop - start
    cdef int64_t total = 0
    cdef uint64_t bad = 0
    if first.kind == second.kind and first.size == second.size:
        if first.kind == c'f':
            if first.size == 4:
                return count_equal_f32(<const float*>left, <const float*>right, n)
            return count_equal_f64(<const double*>left, <const double*>right, n)
        if first.size == 1:
            return count_equal_8(<const uint8_t*>left, <const uint8_t*>right, n)
        if first.size == 2:
            return count_equal_16(<const uint16_t*>left, <const uint16_t*>right, n)
        if first.size == 4:
            return count_equal_32(<const uint32_t*>left, <const uint32_t*>right, n)
        return count_equal_64(<const uint64_t*>left, <const uint64_t*>right, n)
    while start < stop:
        n = stop - start if stop - start < LABEL_BLOCK else LABEL_BLOCK
        first_labels = load_labels(first, start, n, scratch, &bad)
        second_labels = load_labels(second, start, n, other_scratch, &bad)
        if bad:
            return -1
        total += count_equal_64(<const uint64_t*>first_labels, <const uint64_t*>second_labels, n)
        start += n
    return total


cdef int find_label_range(
    LabelColumn* first, LabelColumn* second, Py_ssize_t start, Py_ssize_t stop, int64_t* span
) noexcept nogil:
    """Set span to the least and the greatest label of both columns. Returns 0 if a label is not an int64."""
    cdef int64_t scratch[LABEL_BLOCK]
    cdef Py_ssize_t n
    cdef uint64_t bad = 0
    span[0] = INT64_MAX
    span[1] = INT64_MIN
    while start < stop:
        n = stop - start if stop - start < LABEL_BLOCK else LABEL_BLOCK
        range_i64(load_labels(first, start, n, scratch, &bad), n, span)
        range_i64(load_labels(second, start, n, scratch, &bad), n, span)
        if bad:
            return 0
        start += n
    return 1


cdef Py_ssize_t count_column_cells(
    LabelColumn* first, LabelColumn* second, Py_ssize_t start, Py_ssize_t stop, int64_t low, int bits, int copies,
    int64_t* table
) noexcept nogil:
    """Count rows in the table. Returns the row where it stopped: before the first block that does not fit."""
    cdef int64_t scratch[LABEL_BLOCK]
    cdef int64_t other_scratch[LABEL_BLOCK]
    cdef uint32_t cells[LABEL_BLOCK + 4]
    cdef const int64_t* first_labels
    cdef const int64_t* second_labels
    cdef Py_ssize_t i, n
    cdef Py_ssize_t size = <Py_ssize_t>1 << (2 * bits)
    cdef uint64_t bad = 0
    while start < stop:
        n = stop - start if stop - start < LABEL_BLOCK else LABEL_BLOCK
        first_labels = load_labels(first, start, n, scratch, &bad)
        second_labels = load_labels(second, start, n, other_scratch, &bad)
        if bad or find_cells(first_labels, second_labels, n, low, bits, cells) >> bits:
            return start
        if copies == 1:
            for i in range(n):
                table[cells[i]] += 1
        else:
            i = 0
            while i + 4 <= n:
                table[cells[i]] += 1
                table[size + cells[i + 1]] += 1
                table[2 * size + cells[i + 2]] += 1
                table[3 * size + cells[i + 3]] += 1
                i += 4
            while i < n:
                table[cells[i]] += 1
                i += 1
        start += n
    return stop


cdef class _ColumnBuffers:
    """The buffers of two columns, acquired while they are read."""

    cdef Py_buffer buffers[2]
    cdef LabelColumn first, second
    cdef int n_acquired

    def __cinit__(self):
        self.n_acquired = 0

    def __dealloc__(self):
        while self.n_acquired:
            self.n_acquired -= 1
            PyBuffer_Release(&self.buffers[self.n_acquired])

    cdef bint acquire(self, object first, object second):
        """Returns whether both columns can be read and have the same length, of at least one row."""
        if not acquire_buffer(first, &self.buffers[0]):
            return False
        self.n_acquired = 1
        if not acquire_buffer(second, &self.buffers[1]):
            return False
        self.n_acquired = 2
        self.first = describe_buffer(&self.buffers[0])
        self.second = describe_buffer(&self.buffers[1])
        return self.first.kind != 0 and self.second.kind != 0 and self.first.rows == self.second.rows > 0


def count_binary(first, second, Py_ssize_t start=0, Py_ssize_t stop=-1) -> tuple[int, int, int, int] | None:
    """Rows from start to stop (default: all) where neither label is 1, only the second, only the first, and both.

    None if a label is neither 0 nor 1, or the columns are not integers of one width and length.
    """
    cdef _ColumnBuffers columns = _ColumnBuffers()
    cdef int64_t totals[3]
    cdef int is_binary
    if not columns.acquire(first, second):
        return None
    if columns.first.kind == c'f' or columns.second.kind == c'f' or columns.first.size != columns.second.size:
        return None
    if stop < 0:
        stop = columns.first.rows
    need_range(start, stop, columns.first.rows)
    totals[0] = totals[1] = totals[2] = 0
    with nogil:
        is_binary = count_binary_columns(&columns.first, &columns.second, start, stop - start, totals)
    if not is_binary:
        return None
    return (
        stop - start - totals[0] - totals[1] + totals[2], totals[1] - totals[2], totals[0] - totals[2], totals[2])


def count_equal(first, second, Py_ssize_t start=0, Py_ssize_t stop=-1) -> int:
    """The number of rows from start to stop (default: all) with equal labels.

    -1 if a label is not a 64-bit integer, -2 if a column cannot be read.
    """
    cdef _ColumnBuffers columns = _ColumnBuffers()
    cdef int64_t total
    if not columns.acquire(first, second):
        return -2
    if stop < 0:
        stop = columns.first.rows
    need_range(start, stop, columns.first.rows)
    with nogil:
        total = count_equal_labels(&columns.first, &columns.second, start, stop)
    return total


def label_range(first, second, Py_ssize_t start, Py_ssize_t stop) -> tuple[int, int] | None:
    """The least and the greatest label of the rows; None if a label is not a 64-bit integer or cannot be read."""
    cdef _ColumnBuffers columns = _ColumnBuffers()
    cdef int64_t span[2]
    cdef int is_valid
    if not columns.acquire(first, second):
        return None
    need_range(start, stop, columns.first.rows)
    with nogil:
        is_valid = find_label_range(&columns.first, &columns.second, start, stop, span)
    return (span[0], span[1]) if is_valid else None


def count_cells(
    first, second, Py_ssize_t start, Py_ssize_t stop, int64_t low, int bits, int64_t[:, ::1] table
) -> int:
    """Count rows in the table, whose rows are its copies (one, or COPIES). Returns the first row not counted, or stop.

    It stops if one of the next BLOCK_ROWS labels does not fit the table or is not an int64. label_range has already
    read the columns.
    """
    cdef _ColumnBuffers columns = _ColumnBuffers()
    cdef int copies = <int>table.shape[0]
    if not columns.acquire(first, second):
        return start
    need_range(start, stop, columns.first.rows)
    if copies not in (1, COPIES) or not 0 <= bits <= 15 or table.shape[1] < <Py_ssize_t>1 << (2 * bits):
        raise ValueError(f"a table of {table.shape[1]} cells, {copies} times, for labels of {bits} bits")
    with nogil:
        start = count_column_cells(&columns.first, &columns.second, start, stop, low, bits, copies, &table[0, 0])
    return start


def number_cells(
    first, second, Py_ssize_t start, Py_ssize_t stop, int64_t low, int bits, int32_t[::1] numbers
) -> int:
    """Write the cell of each row in a table of 2**bits rows and columns; bits is at most 15.

    Returns the row where it stopped: stop, or before the first block with a label that does not fit the table.
    """
    cdef _ColumnBuffers columns = _ColumnBuffers()
    cdef int64_t scratch[LABEL_BLOCK]
    cdef int64_t other_scratch[LABEL_BLOCK]
    cdef uint32_t cells[LABEL_BLOCK + 4]
    cdef const int64_t* first_labels
    cdef const int64_t* second_labels
    cdef Py_ssize_t n
    cdef Py_ssize_t begin = start
    cdef uint64_t bad = 0
    if not columns.acquire(first, second):
        return start
    if not 0 <= start <= stop <= columns.first.rows or numbers.shape[0] < stop - start:
        raise ValueError("the rows are not in the columns")
    if not 0 <= bits <= 15:
        raise ValueError(f"cells of labels of {bits} bits")
    with nogil:
        while start < stop:
            n = stop - start if stop - start < LABEL_BLOCK else LABEL_BLOCK
            first_labels = load_labels(&columns.first, start, n, scratch, &bad)
            second_labels = load_labels(&columns.second, start, n, other_scratch, &bad)
            if bad or find_cells(first_labels, second_labels, n, low, bits, cells) >> bits:
                break
            memcpy(&numbers[start - begin], cells, n * sizeof(uint32_t))
            start += n
    return start


def count_margins(
    const int64_t[::1] first, const int64_t[::1] second, Py_ssize_t start, Py_ssize_t stop, int64_t[:, ::1] margins
):
    """Per code, add the rows with it in both columns (margins[0]), in the first (1) and in the second (2)."""
    cdef Py_ssize_t i
    need_range(start, stop, min(first.shape[0], second.shape[0]))
    need_length(b"margins", margins.shape[0], 3)
    if start == stop:
        return
    need_below(b"first", &first[start], stop - start, margins.shape[1])
    need_below(b"second", &second[start], stop - start, margins.shape[1])
    with nogil:
        for i in range(start, stop):
            margins[1, first[i]] += 1
            margins[2, second[i]] += 1
            if first[i] == second[i]:
                margins[0, first[i]] += 1


def add_cells(const int64_t[::1] first, const int64_t[::1] second, int64_t[:, ::1] cells):
    """Add to cells[i, j] the rows with codes i and j."""
    cdef Py_ssize_t i
    need_length(b"second", second.shape[0], first.shape[0])
    if first.shape[0] == 0:
        return
    need_below(b"first", &first[0], first.shape[0], cells.shape[0])
    need_below(b"second", &second[0], first.shape[0], cells.shape[1])
    with nogil:
        for i in range(first.shape[0]):
            cells[first[i], second[i]] += 1


def count_equal_rows(
    const uint8_t[:, ::1] first, const uint8_t[:, ::1] second, Py_ssize_t start, Py_ssize_t stop
) -> int:
    """The number of rows with the same bytes in both columns. Rows have the same width in both, at least one byte."""
    cdef Py_ssize_t width = first.shape[1]
    cdef int64_t total = 0
    cdef Py_ssize_t i
    need_range(start, stop, min(first.shape[0], second.shape[0]))
    need_length(b"bytes of a row", second.shape[1], width)
    with nogil:
        for i in range(start, stop):
            total += same_bytes(<const char*>&first[i, 0], <const char*>&second[i, 0], width)
    return total


def mark_equal_rows(const uint8_t[:, ::1] first, const uint8_t[:, ::1] second, uint8_t[::1] out):
    """out[row] = whether both columns have the same bytes. Rows have the same width in both, at least one byte."""
    cdef Py_ssize_t width = first.shape[1]
    cdef Py_ssize_t i
    need_length(b"second and out", min(second.shape[0], out.shape[0]), first.shape[0])
    need_length(b"bytes of a row", second.shape[1], width)
    with nogil:
        for i in range(first.shape[0]):
            out[i] = same_bytes(<const char*>&first[i, 0], <const char*>&second[i, 0], width)


def mark_equal(first, second, uint8_t[::1] out) -> bool:
    """out[row] = whether both labels are equal. Returns False if a label is not a 64-bit integer or cannot be read."""
    cdef _ColumnBuffers columns = _ColumnBuffers()
    cdef int64_t scratch[LABEL_BLOCK]
    cdef int64_t other_scratch[LABEL_BLOCK]
    cdef const int64_t* first_labels
    cdef const int64_t* second_labels
    cdef Py_ssize_t i, n
    cdef Py_ssize_t start = 0
    cdef uint64_t bad = 0
    if not columns.acquire(first, second):
        return False
    need_length(b"out", out.shape[0], columns.first.rows)
    with nogil:
        while start < columns.first.rows:
            n = columns.first.rows - start if columns.first.rows - start < LABEL_BLOCK else LABEL_BLOCK
            first_labels = load_labels(&columns.first, start, n, scratch, &bad)
            second_labels = load_labels(&columns.second, start, n, other_scratch, &bad)
            for i in range(n):
                out[start + i] = first_labels[i] == second_labels[i]
            start += n
    return bad == 0


def count_indicators(
    const uint8_t[:, ::1] true, const uint8_t[:, ::1] pred, Py_ssize_t start, Py_ssize_t stop, int64_t[:, ::1] margins
):
    """count_margins for indicators: a row counts for each of its labels."""
    cdef Py_ssize_t i, j
    need_range(start, stop, min(true.shape[0], pred.shape[0]))
    need_length(b"labels", min(pred.shape[1], margins.shape[1]), true.shape[1])
    need_length(b"margins", margins.shape[0], 3)
    with nogil:
        for i in range(start, stop):
            for j in range(true.shape[1]):
                margins[0, j] += true[i, j] & pred[i, j]
                margins[1, j] += true[i, j]
                margins[2, j] += pred[i, j]


def count_indicator_rows(
    const uint8_t[:, ::1] true, const uint8_t[:, ::1] pred, Py_ssize_t start, Py_ssize_t stop, int64_t[:, ::1] margins
):
    """Per row of indicators, the number of labels in both (margins[0]), in the first (1) and in the second (2)."""
    cdef Py_ssize_t i, j
    cdef int64_t both, n_true, n_pred
    need_range(start, stop, min(true.shape[0], pred.shape[0], margins.shape[1]))
    need_length(b"labels", pred.shape[1], true.shape[1])
    need_length(b"margins", margins.shape[0], 3)
    with nogil:
        for i in range(start, stop):
            both = n_true = n_pred = 0
            for j in range(true.shape[1]):
                both += true[i, j] & pred[i, j]
                n_true += true[i, j]
                n_pred += pred[i, j]
            margins[0, i] = both
            margins[1, i] = n_true
            margins[2, i] = n_pred


cdef int count_small_table(LabelColumn* first, LabelColumn* second, int64_t* span, int64_t* table) noexcept nogil:
    """Count short columns of few labels. Returns the bits of the table; -1 for other columns."""
    cdef int bits = 0
    if first.rows > (1 << 16):
        return -1
    if not find_label_range(first, second, 0, first.rows, span):
        return -1
    if <uint64_t>span[1] - <uint64_t>span[0] >= SMALL_LABELS:
        return -1
    while (span[1] - span[0]) >> bits:
        bits += 1
    memset(table, 0, sizeof(int64_t) << (2 * bits))
    count_column_cells(first, second, 0, first.rows, span[0], bits, 1, table)
    return bits


cdef int sum_small_table(
    const int64_t* table, int bits, int64_t* true_rows, int64_t* pred_rows, int* labels
) noexcept nogil:
    """Sum the rows and columns of the table. `labels` becomes the labels that occur; returns their number."""
    cdef int i, j
    cdef int width = 1 << bits
    cdef int n_labels = 0
    for j in range(width):
        true_rows[j] = 0
        pred_rows[j] = 0
    for i in range(width):
        for j in range(width):
            true_rows[i] += table[(i << bits) + j]
            pred_rows[j] += table[(i << bits) + j]
    for i in range(width):
        if true_rows[i] or pred_rows[i]:
            labels[n_labels] = i
            n_labels += 1
    return n_labels


def small_matrix(first, second, int64_t[::1] out) -> int:
    """The confusion matrix of short columns with labels in a small range.

    Returns the number n of labels found, or -1 for other columns. `out` (length FEW_LABELS**2) becomes the n x n matrix
    of counts, with sorted labels.
    """
    cdef _ColumnBuffers columns = _ColumnBuffers()
    cdef int64_t table[SMALL_LABELS * SMALL_LABELS]
    cdef int64_t true_rows[SMALL_LABELS]
    cdef int64_t pred_rows[SMALL_LABELS]
    cdef int labels[SMALL_LABELS]
    cdef int64_t span[2]
    cdef int i, j, bits, n
    if not columns.acquire(first, second):
        return -1
    bits = count_small_table(&columns.first, &columns.second, span, table)
    if bits < 0:
        return -1
    n = sum_small_table(table, bits, true_rows, pred_rows, labels)
    need_length(b"out", out.shape[0], n * n)
    for i in range(n):
        for j in range(n):
            out[i * n + j] = table[(labels[i] << bits) + labels[j]]
    return n


def small_counts(first, second, int64_t[:, ::1] out) -> int:
    """True and false positives and negatives of every label, for the same columns as small_matrix.

    Returns the number n of labels found, or -1. The first n columns of `out` (5, FEW_LABELS) become tp, fp, fn, tn and
    the label.
    """
    cdef _ColumnBuffers columns = _ColumnBuffers()
    cdef int64_t table[SMALL_LABELS * SMALL_LABELS]
    cdef int64_t true_rows[SMALL_LABELS]
    cdef int64_t pred_rows[SMALL_LABELS]
    cdef int labels[SMALL_LABELS]
    cdef int64_t span[2]
    cdef int64_t tp
    cdef int i, bits, n
    if not columns.acquire(first, second):
        return -1
    bits = count_small_table(&columns.first, &columns.second, span, table)
    if bits < 0:
        return -1
    n = sum_small_table(table, bits, true_rows, pred_rows, labels)
    need_length(b"out", out.shape[0], 5)
    need_length(b"labels of out", out.shape[1], n)
    for i in range(n):
        tp = table[(labels[i] << bits) + labels[i]]
        out[0, i] = tp
        out[1, i] = pred_rows[labels[i]] - tp
        out[2, i] = true_rows[labels[i]] - tp
        out[3, i] = columns.first.rows - true_rows[labels[i]] - pred_rows[labels[i]] + tp
        out[4, i] = span[0] + labels[i]
    return n
