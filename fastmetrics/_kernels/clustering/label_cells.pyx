"""Counts of pairs of labels in two columns: in a table over both ranges, or by keys in hash partitions.

Columns are read as described in label_column.pxd; their types may differ.

A `TableCounter` is one thread's table over the labels it has read so far: cell (i, j) counts rows with labels low + i
and other_low + j. If a block of rows does not fit, the table is extended to the range of the next rows, with a margin
on the side on which it grew: otherwise sorted labels would extend it at every block. Cells are uint32, so that more of
them fit in the cache. They are added to int64 cells before one could overflow. A small table has two copies, used in
turn: otherwise a cell that is incremented in every row would wait for its previous store.

If there are too many labels for a table, they are encoded as codes below 2**32 (`count_range`). A pair of codes is one
key of 64 bits. Keys are scattered by a hash into partitions (`partition_sizes`, `scatter_keys`) whose hash tables fit
in the second-level cache (`KeyCounter`). Keys are compared, so the hash decides only where a key is stored.

Labels are read again by each of these functions, and another thread may change them meanwhile. A label that is an index
is compared with the size of the table first.
"""

from cpython.buffer cimport PyBuffer_Release
from libc.stdint cimport INT64_MAX, INT64_MIN, UINT32_MAX, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

import numpy as np

from fastmetrics._kernels.columns.label_column cimport (
    LABEL_BLOCK, LabelColumn, describe_buffer, acquire_buffer, load_labels,
)
from fastmetrics._kernels.numeric.length_checks cimport need_length, need_range
from fastmetrics._kernels.numeric.table_hash cimport table_hash, use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS

use_table_seeds(_SEEDS)

cdef extern from "columns/label_loops.h":
    void range_i64 "fm_range_i64"(const int64_t* labels, Py_ssize_t n, int64_t* span) noexcept nogil

cdef extern from "clustering/label_cells.h":
    uint64_t table_cells "fm_table_cells"(
        const int64_t* first, const int64_t* second, Py_ssize_t n, int64_t low, int64_t width, int64_t other_low,
        int64_t other_width, uint32_t* cells) noexcept nogil

cdef enum:
    LOOK_AHEAD = 16 * LABEL_BLOCK    # rows whose ranges are read when a block does not fit
    COPIED_CELLS = 4096        # larger tables have one copy
    MIN_SLOTS = 64
    MAX_FIRST_SLOTS = 1 << 16
    SLOT_SHIFT = 16            # the hash bits that select a slot; its first 11 bits select the partition


cdef struct Table:
    uint32_t* counts32      # `copies` tables, one after the other
    int64_t* counts64        # NULL until counts32 is flushed
    int64_t low
    int64_t width       # 0: no table yet
    int64_t other_low
    int64_t other_width
    int64_t n_pending   # rows in counts32
    int copies


cdef int64_t cell_count(const Table* table, int64_t cell) noexcept nogil:
    cdef int64_t count = table.counts32[cell]
    if table.copies == 2:
        count += table.counts32[table.width * table.other_width + cell]
    if table.counts64 != NULL:
        count += table.counts64[cell]
    return count


cdef void extend_with_margin(int64_t* span, int64_t low, int64_t width) noexcept nogil:
    """Extend the span to an older one, with a margin of half its width on each side where the span is wider."""
    cdef int64_t margin = width // 2
    if span[0] < low and span[0] >= INT64_MIN + margin:
        span[0] -= margin
    if span[1] > low + (width - 1) and span[1] <= INT64_MAX - margin:
        span[1] += margin
    extend_span(span, low, width)


cdef void extend_span(int64_t* span, int64_t low, int64_t width) noexcept nogil:
    span[0] = span[0] if span[0] < low else low
    span[1] = span[1] if span[1] > low + (width - 1) else low + (width - 1)


cdef bint fits_table(const int64_t* span, const int64_t* other, int64_t max_cells) noexcept nogil:
    """Has a table over both spans at most max_cells cells? max_cells < 2**31."""
    cdef uint64_t width = <uint64_t>span[1] - <uint64_t>span[0]
    cdef uint64_t other_width = <uint64_t>other[1] - <uint64_t>other[0]
    return (
        width < <uint64_t>max_cells and other_width < <uint64_t>max_cells
        and (width + 1) * (other_width + 1) <= <uint64_t>max_cells
    )


cdef int extend_table(Table* table, const int64_t* span, const int64_t* other_span, int64_t max_cells) noexcept nogil:
    """Extend the table to two more spans of labels. Returns 0 if it would be too large or memory runs out."""
    cdef Table wider
    cdef int64_t new_span[2]
    cdef int64_t new_other[2]
    cdef int64_t row, column, start, n_cells
    new_span[0], new_span[1], new_other[0], new_other[1] = span[0], span[1], other_span[0], other_span[1]
    if table.width:
        extend_with_margin(new_span, table.low, table.width)
        extend_with_margin(new_other, table.other_low, table.other_width)
        if not fits_table(new_span, new_other, max_cells):
            new_span[0], new_span[1], new_other[0], new_other[1] = span[0], span[1], other_span[0], other_span[1]
            extend_span(new_span, table.low, table.width)
            extend_span(new_other, table.other_low, table.other_width)
    if not fits_table(new_span, new_other, max_cells):
        return 0
    wider.low = new_span[0]
    wider.width = new_span[1] - new_span[0] + 1
    wider.other_low = new_other[0]
    wider.other_width = new_other[1] - new_other[0] + 1
    n_cells = wider.width * wider.other_width
    wider.copies = 2 if n_cells <= COPIED_CELLS else 1
    wider.counts32 = <uint32_t*>calloc(wider.copies * n_cells, sizeof(uint32_t))
    wider.counts64 = NULL
    if table.counts64 != NULL:
        wider.counts64 = <int64_t*>calloc(n_cells, sizeof(int64_t))
    if wider.counts32 == NULL or (table.counts64 != NULL and wider.counts64 == NULL):
        free(wider.counts32)
        free(wider.counts64)
        return 0
    wider.n_pending = table.n_pending if table.counts64 == NULL else 0
    for row in range(table.width):
        start = (table.low - wider.low + row) * wider.other_width + table.other_low - wider.other_low
        for column in range(table.other_width):
            if table.counts64 == NULL:
                wider.counts32[start + column] = <uint32_t>cell_count(table, row * table.other_width + column)
            else:
                wider.counts64[start + column] = cell_count(table, row * table.other_width + column)
    free(table.counts32)
    free(table.counts64)
    table[0] = wider
    return 1


cdef int flush_counts32(Table* table) noexcept nogil:
    """Add the uint32 counts to the int64 counts. Returns 0 if memory runs out."""
    cdef int64_t n_cells = table.width * table.other_width
    cdef int64_t i
    cdef bint is_first = table.counts64 == NULL
    if is_first:
        table.counts64 = <int64_t*>calloc(n_cells, sizeof(int64_t))
        if table.counts64 == NULL:
            return 0
    for i in range(n_cells):
        table.counts64[i] += table.counts32[i]
        table.counts32[i] = 0
        if table.copies == 2:
            table.counts64[i] += table.counts32[n_cells + i]
            table.counts32[n_cells + i] = 0
    table.n_pending = 0
    return 1


cdef int extend_to_rows_ahead(
    Table* table, LabelColumn* first, LabelColumn* second, int64_t start, int64_t stop, int64_t max_cells
) noexcept nogil:
    """Extend the table to the labels of the next rows. Returns 0 if it cannot, or if a label is not an int64."""
    cdef int64_t scratch[LABEL_BLOCK]
    cdef int64_t span[2]
    cdef int64_t other_span[2]
    cdef int64_t n
    cdef uint64_t bad = 0
    span[0] = other_span[0] = INT64_MAX
    span[1] = other_span[1] = INT64_MIN
    stop = stop if stop - start < LOOK_AHEAD else start + LOOK_AHEAD
    while start < stop:
        n = stop - start if stop - start < LABEL_BLOCK else LABEL_BLOCK
        range_i64(load_labels(first, start, n, scratch, &bad), n, span)
        range_i64(load_labels(second, start, n, scratch, &bad), n, other_span)
        start += n
    return not bad and extend_table(table, span, other_span, max_cells)


cdef int64_t count_rows(
    Table* table, LabelColumn* first, LabelColumn* second, int64_t start, int64_t stop, int64_t max_cells,
    int64_t max_pending
) noexcept nogil:
    """Count rows. Returns the row where it stopped: before a block that does not fit or has a label beyond int64."""
    cdef int64_t scratch[LABEL_BLOCK]
    cdef int64_t other_scratch[LABEL_BLOCK]
    cdef uint32_t cells[LABEL_BLOCK + 1]
    cdef const int64_t* first_labels
    cdef const int64_t* second_labels
    cdef uint32_t* counts32
    cdef uint32_t* second_copy
    cdef uint64_t bad = 0
    cdef int64_t i, n
    while start < stop:
        n = stop - start if stop - start < LABEL_BLOCK else LABEL_BLOCK
        if table.width == 0 and not extend_to_rows_ahead(table, first, second, start, stop, max_cells):
            return start
        if table.n_pending + n > max_pending and not flush_counts32(table):
            return start
        first_labels = load_labels(first, start, n, scratch, &bad)
        second_labels = load_labels(second, start, n, other_scratch, &bad)
        if bad:
            return start
        if table_cells(
            first_labels, second_labels, n, table.low, table.width, table.other_low, table.other_width, cells
        ):
            if not extend_to_rows_ahead(table, first, second, start, stop, max_cells):
                return start
            continue
        counts32 = table.counts32
        if table.copies == 2:
            second_copy = counts32 + table.width * table.other_width
            cells[n] = 0
            i = 0
            while i + 2 <= n:
                counts32[cells[i]] += 1
                second_copy[cells[i + 1]] += 1
                i += 2
            if i < n:
                counts32[cells[i]] += 1
        else:
            for i in range(n):
                counts32[cells[i]] += 1
        table.n_pending += n
        start += n
    return stop


cdef int add_table(Table* into, const Table* table, int64_t max_cells, int64_t max_pending) noexcept nogil:
    """Add the counts of another table. Returns 0 if its labels do not fit or memory runs out."""
    cdef int64_t span[2]
    cdef int64_t other_span[2]
    cdef int64_t row, column, start, count
    cdef bint fits_counts32
    span[0], span[1] = table.low, table.low + (table.width - 1)
    other_span[0], other_span[1] = table.other_low, table.other_low + (table.other_width - 1)
    if not extend_table(into, span, other_span, max_cells):
        return 0
    fits_counts32 = table.counts64 == NULL and into.n_pending + table.n_pending <= max_pending
    if not fits_counts32 and not flush_counts32(into):
        return 0
    for row in range(table.width):
        start = (table.low - into.low + row) * into.other_width + table.other_low - into.other_low
        for column in range(table.other_width):
            count = cell_count(table, row * table.other_width + column)
            if fits_counts32:
                into.counts32[start + column] += <uint32_t>count
            else:
                into.counts64[start + column] += count
    if fits_counts32:
        into.n_pending += table.n_pending
    return 1


cdef int64_t sum_margins(const Table* table, int64_t* rows, int64_t* columns) noexcept nogil:
    """Add the sums of rows and columns to `rows` and `columns`. Returns the number of non-empty cells."""
    cdef int64_t row, column, count
    cdef int64_t n_cells = 0
    for row in range(table.width):
        for column in range(table.other_width):
            count = cell_count(table, row * table.other_width + column)
            if count:
                rows[row] += count
                columns[column] += count
                n_cells += 1
    return n_cells


cdef int64_t count_nonzero(const int64_t* sums, int64_t n) noexcept nogil:
    cdef int64_t i
    cdef int64_t some = 0
    for i in range(n):
        some += sums[i] != 0
    return some


cdef void encode_margin(int64_t* sums, int64_t n, int64_t low, int64_t* out_sums, int64_t* out_labels) noexcept nogil:
    """Write the sums that are not 0 and their labels; replace these sums by the codes of the labels."""
    cdef int64_t i
    cdef int64_t code = 0
    for i in range(n):
        if sums[i]:
            out_sums[code] = sums[i]
            out_labels[code] = low + i
            sums[i] = code
            code += 1


cdef void list_cells(
    const Table* table, const int64_t* row_codes, const int64_t* column_codes, int64_t n_cells, int64_t* out
) noexcept nogil:
    cdef int64_t row, column, count
    cdef int64_t position = 0
    for row in range(table.width):
        for column in range(table.other_width):
            count = cell_count(table, row * table.other_width + column)
            if count:
                out[position] = row_codes[row]
                out[n_cells + position] = column_codes[column]
                out[2 * n_cells + position] = count
                position += 1


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

    cdef int acquire(self, object first, object second) except -1:
        if not acquire_buffer(first, &self.buffers[0]):
            raise TypeError("this column cannot be read here")
        self.n_acquired = 1
        if not acquire_buffer(second, &self.buffers[1]):
            raise TypeError("this column cannot be read here")
        self.n_acquired = 2
        self.first = describe_buffer(&self.buffers[0])
        self.second = describe_buffer(&self.buffers[1])
        if not self.first.kind or not self.second.kind or self.first.rows != self.second.rows:
            raise TypeError("these columns cannot be read here")
        return 0


cdef class TableCounter:
    """One thread's counts of pairs of labels, in a table of at most `max_cells` cells (below 2**31).

    `max_pending` is the number of rows that are counted before cells are added to int64 cells. Only tests set it.
    """

    cdef Table table
    cdef int64_t max_cells
    cdef int64_t max_pending

    def __cinit__(self, int64_t max_cells, int64_t max_pending=UINT32_MAX):
        self.table.counts32 = NULL
        self.table.counts64 = NULL
        self.table.width = 0
        self.table.other_width = 0
        self.table.n_pending = 0
        self.max_cells = max_cells
        self.max_pending = max_pending

    def __dealloc__(self):
        free(self.table.counts32)
        free(self.table.counts64)

    def add(self, first, second, int64_t start, int64_t stop) -> bool:
        """Count the rows from start to stop of two columns of one length. Returns False at labels that do not fit."""
        cdef _ColumnBuffers columns = _ColumnBuffers()
        cdef int64_t done
        columns.acquire(first, second)
        need_range(start, stop, columns.first.rows)
        with nogil:
            done = count_rows(
                &self.table, &columns.first, &columns.second, start, stop, self.max_cells, self.max_pending)
        return done == stop

    def merge(self, TableCounter other) -> bool:
        """Add the counts of another counter. Returns False if they do not fit; then nothing is added."""
        cdef int fits = 1
        if other.table.width:
            with nogil:
                fits = add_table(&self.table, &other.table, self.max_cells, self.max_pending)
        return bool(fits)

    def cells(self) -> tuple[
        NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64],
        NDArray[np.int64], NDArray[np.int64]
    ]:
        """(rows, columns, counts, row_sums, column_sums, row_labels, column_labels): arrays of int64.

        The non-empty cells, as codes of the labels that occur. Labels are sorted.
        """
        cdef int64_t width = self.table.width
        cdef int64_t other_width = self.table.other_width
        cdef int64_t n_cells, n_rows, n_columns
        cdef int64_t[::1] out
        cdef int64_t* margin
        cdef int64_t* sums = <int64_t*>calloc(width + other_width + 1, sizeof(int64_t))
        if sums == NULL:
            raise MemoryError
        try:
            with nogil:
                n_cells = sum_margins(&self.table, sums, sums + width)
                n_rows = count_nonzero(sums, width)
                n_columns = count_nonzero(sums + width, other_width)
            arrays = np.empty(3 * n_cells + 2 * (n_rows + n_columns), np.int64)
            if n_cells:
                out = arrays
                margin = &out[3 * n_cells]
                with nogil:
                    encode_margin(sums, width, self.table.low, margin, margin + n_rows + n_columns)
                    encode_margin(
                        sums + width, other_width, self.table.other_low, margin + n_rows,
                        margin + 2 * n_rows + n_columns)
                    list_cells(&self.table, sums, sums + width, n_cells, &out[0])
        finally:
            free(sums)
        margins = arrays[3 * n_cells:]
        return (
            arrays[:n_cells], arrays[n_cells:2 * n_cells], arrays[2 * n_cells:3 * n_cells],
            margins[:n_rows], margins[n_rows:n_rows + n_columns],
            margins[n_rows + n_columns:2 * n_rows + n_columns], margins[2 * n_rows + n_columns:],
        )


cdef inline uint64_t key_of(int64_t first, int64_t second, int64_t low, int64_t other_low) noexcept nogil:
    return ((<uint64_t>first - <uint64_t>low) << 32) | (<uint64_t>second - <uint64_t>other_low)


def count_range(values, int64_t start, int64_t stop, int64_t low, int64_t[::1] sums) -> bool:
    """Add to sums[label - low] the rows from start to stop with the label. Returns False at a label out of range."""
    cdef _ColumnBuffers columns = _ColumnBuffers()
    cdef int64_t scratch[LABEL_BLOCK]
    cdef const int64_t* labels
    cdef uint64_t bad = 0
    cdef uint64_t code
    cdef uint64_t n_codes = <uint64_t>sums.shape[0]
    cdef int64_t i, n
    cdef bint fits = True
    columns.acquire(values, values)
    need_range(start, stop, columns.first.rows)
    with nogil:
        while start < stop and fits:
            n = stop - start if stop - start < LABEL_BLOCK else LABEL_BLOCK
            labels = load_labels(&columns.first, start, n, scratch, &bad)
            for i in range(n):
                code = <uint64_t>labels[i] - <uint64_t>low
                if code >= n_codes:
                    fits = False
                    break
                sums[code] += 1
            start += n
    return fits


cdef int check_partitions(int bits, int least, Py_ssize_t n_partitions) except -1:
    if not least <= bits < 32 or n_partitions < <Py_ssize_t>1 << bits:
        raise ValueError(f"{n_partitions} partitions by {bits} bits")
    return 0


def partition_sizes(
    first, second, int64_t low, int64_t other_low, int64_t start, int64_t stop, int bits, int64_t[::1] sizes
):
    """Add to sizes[p] the rows from start to stop whose keys belong to partition p of 2**bits; bits > 0.

    A key consists of two codes in [0, 2**32): first - low and second - other_low.
    """
    cdef _ColumnBuffers columns = _ColumnBuffers()
    cdef int64_t scratch[LABEL_BLOCK]
    cdef int64_t other_scratch[LABEL_BLOCK]
    cdef const int64_t* first_labels
    cdef const int64_t* second_labels
    cdef uint64_t bad = 0
    cdef int64_t i, n
    columns.acquire(first, second)
    need_range(start, stop, columns.first.rows)
    check_partitions(bits, 1, sizes.shape[0])
    with nogil:
        while start < stop:
            n = stop - start if stop - start < LABEL_BLOCK else LABEL_BLOCK
            first_labels = load_labels(&columns.first, start, n, scratch, &bad)
            second_labels = load_labels(&columns.second, start, n, other_scratch, &bad)
            for i in range(n):
                sizes[table_hash(key_of(first_labels[i], second_labels[i], low, other_low)) >> (64 - bits)] += 1
            start += n


def scatter_keys(
    first, second, int64_t low, int64_t other_low, int64_t start, int64_t stop, int bits, uint64_t width,
    uint64_t other_width, int64_t[::1] offsets, const int64_t[::1] ends, uint64_t[::1] keys
) -> bool:
    """Write the keys of the rows from start to stop. offsets[p] is the next position of partition p and is advanced.

    With bits = 0 there is one partition. Returns False at a code that is not below its width, and at a key whose
    partition is full: ends[p] is reached.
    """
    cdef _ColumnBuffers columns = _ColumnBuffers()
    cdef int64_t scratch[LABEL_BLOCK]
    cdef int64_t other_scratch[LABEL_BLOCK]
    cdef const int64_t* first_labels
    cdef const int64_t* second_labels
    cdef uint64_t bad = 0
    cdef uint64_t key, partition
    cdef int64_t i, n
    cdef bint fits = True
    columns.acquire(first, second)
    need_range(start, stop, columns.first.rows)
    check_partitions(bits, 0, min(offsets.shape[0], ends.shape[0]))
    for i in range(<int64_t>1 << bits):
        if not 0 <= offsets[i] <= keys.shape[0] or ends[i] > keys.shape[0]:
            raise ValueError(f"partition {i} has no place among {keys.shape[0]} keys")
    with nogil:
        while start < stop and fits:
            n = stop - start if stop - start < LABEL_BLOCK else LABEL_BLOCK
            first_labels = load_labels(&columns.first, start, n, scratch, &bad)
            second_labels = load_labels(&columns.second, start, n, other_scratch, &bad)
            for i in range(n):
                key = key_of(first_labels[i], second_labels[i], low, other_low)
                partition = table_hash(key) >> (64 - bits) if bits else 0
                if (
                    <uint64_t>first_labels[i] - <uint64_t>low >= width
                    or <uint64_t>second_labels[i] - <uint64_t>other_low >= other_width
                    or offsets[partition] >= ends[partition]
                ):
                    fits = False
                    break
                keys[offsets[partition]] = key
                offsets[partition] += 1
            start += n
    return fits


cdef struct Slot:
    uint64_t key
    int64_t count       # 0: empty


cdef class KeyCounter:
    """Counts the keys of one partition after the other. One thread's table, which is reused for all partitions."""

    cdef Slot* slots
    cdef int64_t capacity   # allocated slots

    def __cinit__(self):
        self.slots = NULL
        self.capacity = 0

    def __dealloc__(self):
        free(self.slots)

    cdef int64_t count_keys(self, uint64_t* keys, int64_t n, int64_t* counts) noexcept nogil:
        """See count. Returns -1 if memory runs out."""
        cdef int64_t n_slots = MIN_SLOTS
        cdef int64_t size = 0
        cdef int64_t i
        cdef uint64_t mask, slot
        while n_slots < 2 * n and n_slots < MAX_FIRST_SLOTS:
            n_slots *= 2
        if not self.reset(n_slots):
            return -1
        mask = <uint64_t>n_slots - 1
        for i in range(n):
            if 2 * size >= n_slots:
                n_slots *= 4
                if not self.grow(n_slots // 4, n_slots):
                    return -1
                mask = <uint64_t>n_slots - 1
            slot = (table_hash(keys[i]) >> SLOT_SHIFT) & mask
            while self.slots[slot].count and self.slots[slot].key != keys[i]:
                slot = (slot + 1) & mask
            size += self.slots[slot].count == 0
            self.slots[slot].key = keys[i]
            self.slots[slot].count += 1
        size = 0
        for i in range(n_slots):
            if self.slots[i].count:
                keys[size] = self.slots[i].key
                counts[size] = self.slots[i].count
                size += 1
        return size

    cdef int reset(self, int64_t n_slots) noexcept nogil:
        """Make n_slots empty slots. Returns 0 if memory runs out."""
        if n_slots > self.capacity:
            free(self.slots)
            self.slots = <Slot*>malloc(n_slots * sizeof(Slot))
            self.capacity = n_slots if self.slots != NULL else 0
            if self.slots == NULL:
                return 0
        memset(self.slots, 0, n_slots * sizeof(Slot))
        return 1

    cdef int grow(self, int64_t n_slots, int64_t wide) noexcept nogil:
        """Rehash into a table of `wide` slots. Returns 0 if memory runs out."""
        cdef Slot* wider = <Slot*>calloc(wide, sizeof(Slot))
        cdef uint64_t mask = <uint64_t>wide - 1
        cdef uint64_t slot
        cdef int64_t i
        if wider == NULL:
            return 0
        for i in range(n_slots):
            if self.slots[i].count:
                slot = (table_hash(self.slots[i].key) >> SLOT_SHIFT) & mask
                while wider[slot].count:
                    slot = (slot + 1) & mask
                wider[slot] = self.slots[i]
        free(self.slots)
        self.slots = wider
        self.capacity = wide
        return 1

    def count(self, uint64_t[::1] keys, int64_t[::1] counts, int64_t start, int64_t stop) -> int:
        """Count keys[start:stop]. Distinct keys move to its start, and `counts` gets their counts; returns how many."""
        cdef int64_t size
        if start == stop:
            return 0
        with nogil:
            size = self.count_keys(&keys[start], stop - start, &counts[start])
        if size < 0:
            raise MemoryError
        return size


cdef bint are_codes(
    const uint64_t[::1] keys, int64_t start, int64_t stop, int shift, Py_ssize_t n_codes
) noexcept nogil:
    """Are the halves of keys below n_codes? There is no limit if it is -1."""
    cdef int64_t i
    cdef bint found = True
    if n_codes < 0:
        return True
    for i in range(start, stop):
        found &= (keys[i] >> shift & <uint64_t>0xFFFFFFFF) < <uint64_t>n_codes
    return found


def list_keys(
    const uint64_t[::1] keys, const int64_t[::1] counts, int64_t start, int64_t stop, int64_t column,
    const uint32_t[::1] code_of or None, const uint32_t[::1] other_code_of or None, int64_t[:, ::1] out
):
    """Write (first code, second code, count) of keys[start:stop] to the columns of `out` from `column` on.

    The halves of a key are codes if code_of is None, else indexes of code_of.
    """
    cdef int64_t i
    cdef bint is_code = code_of is None
    cdef bint is_other_code = other_code_of is None
    need_range(start, stop, min(keys.shape[0], counts.shape[0]))
    need_range(column, column + stop - start, out.shape[1])
    need_length(b"rows of out", out.shape[0], 3)
    if not (are_codes(keys, start, stop, 32, -1 if is_code else code_of.shape[0])
            and are_codes(keys, start, stop, 0, -1 if is_other_code else other_code_of.shape[0])):
        raise ValueError("a half of a key is no index of its codes")
    with nogil:
        for i in range(start, stop):
            out[0, column] = keys[i] >> 32 if is_code else code_of[keys[i] >> 32]
            out[1, column] = (
                keys[i] & <uint64_t>0xFFFFFFFF if is_other_code else other_code_of[keys[i] & <uint64_t>0xFFFFFFFF])
            out[2, column] = counts[i]
            column += 1
