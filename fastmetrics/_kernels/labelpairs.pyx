"""Rows of two columns of labels, counted pair by pair: in a table over both ranges, or cut into keys by a hash.

Columns are read as labelcolumn.pxd says; their types may differ.

A `TableCounter` is one thread's table over the labels it has met so far: cell (i, j) counts rows with labels low + i
and other_low + j. When a block of rows does not fit, the table grows to the range of the rows ahead, with room to
spare on the side it grew to: sorted labels would make it grow at every block. Cells are uint32, so that more of them
fit the cache; they are emptied into int64 before so many rows are counted that one could overflow. A small table has
two copies, used in turn: a cell that is raised in every row would otherwise wait for its own last store.

Labels too many for that become codes below 2**32 (`count_range`). A pair of codes is one key of 64 bits, and keys are
scattered by a hash of theirs into partitions (`partition_sizes`, `scatter_keys`) whose tables of counts stay in the
second-level cache (`KeyCounter`). Keys are compared, so a hash decides nothing but places.
"""

from cpython.buffer cimport PyBuffer_Release
from libc.stdint cimport INT64_MAX, INT64_MIN, UINT32_MAX, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

import numpy as np

from fastmetrics._kernels.labelcolumn cimport BLOCK, Column, column_of, get_column, labels_at

cdef extern from "labelmath.h":
    void range_i64 "fm_range_i64"(const int64_t* labels, Py_ssize_t n, int64_t* span) noexcept nogil

cdef extern from "labelpairs.h":
    uint64_t table_cells "fm_table_cells"(
        const int64_t* first, const int64_t* second, Py_ssize_t n, int64_t low, int64_t width, int64_t other_low,
        int64_t other_width, uint32_t* cells) noexcept nogil

cdef enum:
    LOOK_AHEAD = 16 * BLOCK    # rows whose ranges are looked at when a block does not fit
    COPIED_CELLS = 4096        # tables of more have no second copy
    LEAST_SLOTS = 64
    MOST_SLOTS_AT_FIRST = 1 << 16
    SLOT_SHIFT = 16            # the bits of a hash that choose a slot; its first 11 choose the partition


cdef struct Table:
    uint32_t* near      # `copies` tables, one behind the other
    int64_t* far        # NULL until near was emptied
    int64_t low
    int64_t width       # 0: no table yet
    int64_t other_low
    int64_t other_width
    int64_t pending     # rows in near
    int copies


cdef int64_t in_cell(const Table* table, int64_t cell) noexcept nogil:
    cdef int64_t count = table.near[cell]
    if table.copies == 2:
        count += table.near[table.width * table.other_width + cell]
    if table.far != NULL:
        count += table.far[cell]
    return count


cdef void widen_span(int64_t* span, int64_t low, int64_t width) noexcept nogil:
    """Make the span hold an older one too, and half as much again on each side where it is wider."""
    cdef int64_t room = width // 2
    if span[0] < low and span[0] >= INT64_MIN + room:
        span[0] -= room
    if span[1] > low + (width - 1) and span[1] <= INT64_MAX - room:
        span[1] += room
    hold_span(span, low, width)


cdef void hold_span(int64_t* span, int64_t low, int64_t width) noexcept nogil:
    span[0] = span[0] if span[0] < low else low
    span[1] = span[1] if span[1] > low + (width - 1) else low + (width - 1)


cdef bint fits(const int64_t* span, const int64_t* other, int64_t most) noexcept nogil:
    """Has a table over both spans at most so many cells? most < 2**31."""
    cdef uint64_t width = <uint64_t>span[1] - <uint64_t>span[0]
    cdef uint64_t other_width = <uint64_t>other[1] - <uint64_t>other[0]
    return (
        width < <uint64_t>most and other_width < <uint64_t>most
        and (width + 1) * (other_width + 1) <= <uint64_t>most
    )


cdef int hold(Table* table, const int64_t* span, const int64_t* other_span, int64_t most) noexcept nogil:
    """Make the table hold two more spans of labels; 0 if it would be too large, or there is no memory for it."""
    cdef Table wider
    cdef int64_t one[2]
    cdef int64_t other[2]
    cdef int64_t row, column, start, n_cells
    one[0], one[1], other[0], other[1] = span[0], span[1], other_span[0], other_span[1]
    if table.width:
        widen_span(one, table.low, table.width)
        widen_span(other, table.other_low, table.other_width)
        if not fits(one, other, most):
            one[0], one[1], other[0], other[1] = span[0], span[1], other_span[0], other_span[1]
            hold_span(one, table.low, table.width)
            hold_span(other, table.other_low, table.other_width)
    if not fits(one, other, most):
        return 0
    wider.low = one[0]
    wider.width = one[1] - one[0] + 1
    wider.other_low = other[0]
    wider.other_width = other[1] - other[0] + 1
    n_cells = wider.width * wider.other_width
    wider.copies = 2 if n_cells <= COPIED_CELLS else 1
    wider.near = <uint32_t*>calloc(wider.copies * n_cells, sizeof(uint32_t))
    wider.far = NULL
    if table.far != NULL:
        wider.far = <int64_t*>calloc(n_cells, sizeof(int64_t))
    if wider.near == NULL or (table.far != NULL and wider.far == NULL):
        free(wider.near)
        free(wider.far)
        return 0
    wider.pending = table.pending if table.far == NULL else 0
    for row in range(table.width):
        start = (table.low - wider.low + row) * wider.other_width + table.other_low - wider.other_low
        for column in range(table.other_width):
            if table.far == NULL:
                wider.near[start + column] = <uint32_t>in_cell(table, row * table.other_width + column)
            else:
                wider.far[start + column] = in_cell(table, row * table.other_width + column)
    free(table.near)
    free(table.far)
    table[0] = wider
    return 1


cdef int empty_near(Table* table) noexcept nogil:
    """Move what is counted into int64; 0 if there is no memory for it."""
    cdef int64_t n_cells = table.width * table.other_width
    cdef int64_t i
    cdef bint first = table.far == NULL
    if first:
        table.far = <int64_t*>calloc(n_cells, sizeof(int64_t))
        if table.far == NULL:
            return 0
    for i in range(n_cells):
        table.far[i] += table.near[i]
        table.near[i] = 0
        if table.copies == 2:
            table.far[i] += table.near[n_cells + i]
            table.near[n_cells + i] = 0
    table.pending = 0
    return 1


cdef int look_ahead(
    Table* table, Column* first, Column* second, int64_t start, int64_t stop, int64_t most
) noexcept nogil:
    """Make the table hold the labels of the next rows; 0 if it cannot, or one has no int64."""
    cdef int64_t room[BLOCK]
    cdef int64_t span[2]
    cdef int64_t other_span[2]
    cdef int64_t n
    cdef uint64_t bad = 0
    span[0] = other_span[0] = INT64_MAX
    span[1] = other_span[1] = INT64_MIN
    stop = stop if stop - start < LOOK_AHEAD else start + LOOK_AHEAD
    while start < stop:
        n = stop - start if stop - start < BLOCK else BLOCK
        range_i64(labels_at(first, start, n, room, &bad), n, span)
        range_i64(labels_at(second, start, n, room, &bad), n, other_span)
        start += n
    return not bad and hold(table, span, other_span, most)


cdef int64_t count_rows(
    Table* table, Column* first, Column* second, int64_t start, int64_t stop, int64_t most, int64_t most_pending
) noexcept nogil:
    """Count rows; returns where it stopped: before a block that it cannot hold, or that has a label without int64."""
    cdef int64_t room[BLOCK]
    cdef int64_t other_room[BLOCK]
    cdef uint32_t cells[BLOCK + 1]
    cdef const int64_t* one
    cdef const int64_t* other
    cdef uint32_t* near
    cdef uint32_t* again
    cdef uint64_t bad = 0
    cdef int64_t i, n
    while start < stop:
        n = stop - start if stop - start < BLOCK else BLOCK
        if table.width == 0 and not look_ahead(table, first, second, start, stop, most):
            return start
        if table.pending + n > most_pending and not empty_near(table):
            return start
        one = labels_at(first, start, n, room, &bad)
        other = labels_at(second, start, n, other_room, &bad)
        if bad:
            return start
        if table_cells(one, other, n, table.low, table.width, table.other_low, table.other_width, cells):
            if not look_ahead(table, first, second, start, stop, most):
                return start
            continue
        near = table.near
        if table.copies == 2:
            again = near + table.width * table.other_width
            cells[n] = 0
            i = 0
            while i + 2 <= n:
                near[cells[i]] += 1
                again[cells[i + 1]] += 1
                i += 2
            if i < n:
                near[cells[i]] += 1
        else:
            for i in range(n):
                near[cells[i]] += 1
        table.pending += n
        start += n
    return stop


cdef int add_table(Table* into, const Table* table, int64_t most, int64_t most_pending) noexcept nogil:
    """Add another's counts; 0 if its labels do not fit or there is no memory for it."""
    cdef int64_t span[2]
    cdef int64_t other_span[2]
    cdef int64_t row, column, start, count
    cdef bint near
    span[0], span[1] = table.low, table.low + (table.width - 1)
    other_span[0], other_span[1] = table.other_low, table.other_low + (table.other_width - 1)
    if not hold(into, span, other_span, most):
        return 0
    near = table.far == NULL and into.pending + table.pending <= most_pending
    if not near and not empty_near(into):
        return 0
    for row in range(table.width):
        start = (table.low - into.low + row) * into.other_width + table.other_low - into.other_low
        for column in range(table.other_width):
            count = in_cell(table, row * table.other_width + column)
            if near:
                into.near[start + column] += <uint32_t>count
            else:
                into.far[start + column] += count
    if near:
        into.pending += table.pending
    return 1


cdef int64_t fold_margins(const Table* table, int64_t* rows, int64_t* columns) noexcept nogil:
    """The sums of rows and columns, both 0 before; returns how many cells are not empty."""
    cdef int64_t row, column, count
    cdef int64_t n_cells = 0
    for row in range(table.width):
        for column in range(table.other_width):
            count = in_cell(table, row * table.other_width + column)
            if count:
                rows[row] += count
                columns[column] += count
                n_cells += 1
    return n_cells


cdef int64_t count_some(const int64_t* sums, int64_t n) noexcept nogil:
    cdef int64_t i
    cdef int64_t some = 0
    for i in range(n):
        some += sums[i] != 0
    return some


cdef void number_margin(int64_t* sums, int64_t n, int64_t low, int64_t* out_sums, int64_t* out_labels) noexcept nogil:
    """Sums that are not 0 and their labels, one behind the other; their numbers take the place of the sums."""
    cdef int64_t i
    cdef int64_t number = 0
    for i in range(n):
        if sums[i]:
            out_sums[number] = sums[i]
            out_labels[number] = low + i
            sums[i] = number
            number += 1


cdef void list_cells(
    const Table* table, const int64_t* row_numbers, const int64_t* column_numbers, int64_t n_cells, int64_t* out
) noexcept nogil:
    cdef int64_t row, column, count
    cdef int64_t place = 0
    for row in range(table.width):
        for column in range(table.other_width):
            count = in_cell(table, row * table.other_width + column)
            if count:
                out[place] = row_numbers[row]
                out[n_cells + place] = column_numbers[column]
                out[2 * n_cells + place] = count
                place += 1


cdef class _Pair:
    """The buffers of two columns, held while they are read."""

    cdef Py_buffer views[2]
    cdef Column first, second
    cdef int held

    def __cinit__(self):
        self.held = 0

    def __dealloc__(self):
        while self.held:
            self.held -= 1
            PyBuffer_Release(&self.views[self.held])

    cdef int hold(self, object first, object second) except -1:
        if not get_column(first, &self.views[0]):
            raise TypeError("this column cannot be read here")
        self.held = 1
        if not get_column(second, &self.views[1]):
            raise TypeError("this column cannot be read here")
        self.held = 2
        self.first = column_of(&self.views[0])
        self.second = column_of(&self.views[1])
        if not self.first.kind or not self.second.kind or self.first.rows != self.second.rows:
            raise TypeError("these columns cannot be read here")
        return 0


cdef class TableCounter:
    """One thread's counts of pairs of labels, in a table of at most `most` cells (below 2**31).

    `most_pending` is how many rows are counted before cells are emptied into int64; only tests give it.
    """

    cdef Table table
    cdef int64_t most
    cdef int64_t most_pending

    def __cinit__(self, int64_t most, int64_t most_pending=UINT32_MAX):
        self.table.near = NULL
        self.table.far = NULL
        self.table.width = 0
        self.table.other_width = 0
        self.table.pending = 0
        self.most = most
        self.most_pending = most_pending

    def __dealloc__(self):
        free(self.table.near)
        free(self.table.far)

    def add(self, first, second, int64_t start, int64_t stop):
        """Count the rows start..stop of two columns of one length; False where labels do not fit, the rest waits."""
        cdef _Pair pair = _Pair()
        cdef int64_t done
        pair.hold(first, second)
        with nogil:
            done = count_rows(
                &self.table, &pair.first, &pair.second, start, stop, self.most, self.most_pending)
        return done == stop

    def merge(self, TableCounter other):
        """Add what another counted. False where it does not fit: then nothing was added."""
        cdef int good = 1
        if other.table.width:
            with nogil:
                good = add_table(&self.table, &other.table, self.most, self.most_pending)
        return bool(good)

    def cells(self):
        """(rows, columns, counts, row_sums, column_sums, row_labels, column_labels): arrays of int64.

        The cells that are not empty, as numbers of labels that occur, these in rising order.
        """
        cdef int64_t width = self.table.width
        cdef int64_t other_width = self.table.other_width
        cdef int64_t n_cells, n_rows, n_columns
        cdef int64_t[::1] out
        cdef int64_t* place
        cdef int64_t* sums = <int64_t*>calloc(width + other_width + 1, sizeof(int64_t))
        if sums == NULL:
            raise MemoryError
        try:
            with nogil:
                n_cells = fold_margins(&self.table, sums, sums + width)
                n_rows = count_some(sums, width)
                n_columns = count_some(sums + width, other_width)
            found = np.empty(3 * n_cells + 2 * (n_rows + n_columns), np.int64)
            if n_cells:
                out = found
                place = &out[3 * n_cells]
                with nogil:
                    number_margin(sums, width, self.table.low, place, place + n_rows + n_columns)
                    number_margin(
                        sums + width, other_width, self.table.other_low, place + n_rows, place + 2 * n_rows + n_columns)
                    list_cells(&self.table, sums, sums + width, n_cells, &out[0])
        finally:
            free(sums)
        margins = found[3 * n_cells:]
        return (
            found[:n_cells], found[n_cells:2 * n_cells], found[2 * n_cells:3 * n_cells],
            margins[:n_rows], margins[n_rows:n_rows + n_columns],
            margins[n_rows + n_columns:2 * n_rows + n_columns], margins[2 * n_rows + n_columns:],
        )


cdef inline uint64_t hash_key(uint64_t key) noexcept nogil:
    key ^= key >> 32
    key *= <uint64_t>0x9E3779B97F4A7C15
    key ^= key >> 29
    return key * <uint64_t>0xD6E8FEB86659FD93


cdef inline uint64_t key_of(int64_t first, int64_t second, int64_t low, int64_t other_low) noexcept nogil:
    return ((<uint64_t>first - <uint64_t>low) << 32) | (<uint64_t>second - <uint64_t>other_low)


def count_range(values, int64_t start, int64_t stop, int64_t low, int64_t[::1] sums):
    """sums[label - low] gains the rows start..stop with the label. All labels lie in the range."""
    cdef _Pair pair = _Pair()
    cdef int64_t room[BLOCK]
    cdef const int64_t* labels
    cdef uint64_t bad = 0
    cdef int64_t i, n
    pair.hold(values, values)
    with nogil:
        while start < stop:
            n = stop - start if stop - start < BLOCK else BLOCK
            labels = labels_at(&pair.first, start, n, room, &bad)
            for i in range(n):
                sums[labels[i] - low] += 1
            start += n


def partition_sizes(
    first, second, int64_t low, int64_t other_low, int64_t start, int64_t stop, int bits, int64_t[::1] sizes
):
    """sizes[p] gains the rows start..stop whose keys belong to partition p of 2**bits; bits > 0.

    A key is made of two numbers, of at least 0 and below 2**32: the labels less low, and less other_low.
    """
    cdef _Pair pair = _Pair()
    cdef int64_t room[BLOCK]
    cdef int64_t other_room[BLOCK]
    cdef const int64_t* one
    cdef const int64_t* other
    cdef uint64_t bad = 0
    cdef int64_t i, n
    pair.hold(first, second)
    with nogil:
        while start < stop:
            n = stop - start if stop - start < BLOCK else BLOCK
            one = labels_at(&pair.first, start, n, room, &bad)
            other = labels_at(&pair.second, start, n, other_room, &bad)
            for i in range(n):
                sizes[hash_key(key_of(one[i], other[i], low, other_low)) >> (64 - bits)] += 1
            start += n


def scatter_keys(
    first, second, int64_t low, int64_t other_low, int64_t start, int64_t stop, int bits, int64_t[::1] places,
    uint64_t[::1] keys
):
    """Write the keys of the rows start..stop; places[p] is where the next of partition p goes, and is raised.

    With bits = 0 there is one partition.
    """
    cdef _Pair pair = _Pair()
    cdef int64_t room[BLOCK]
    cdef int64_t other_room[BLOCK]
    cdef const int64_t* one
    cdef const int64_t* other
    cdef uint64_t bad = 0
    cdef uint64_t key, partition
    cdef int64_t i, n
    pair.hold(first, second)
    with nogil:
        while start < stop:
            n = stop - start if stop - start < BLOCK else BLOCK
            one = labels_at(&pair.first, start, n, room, &bad)
            other = labels_at(&pair.second, start, n, other_room, &bad)
            for i in range(n):
                key = key_of(one[i], other[i], low, other_low)
                partition = hash_key(key) >> (64 - bits) if bits else 0
                keys[places[partition]] = key
                places[partition] += 1
            start += n


cdef struct Slot:
    uint64_t key
    int64_t count       # 0: empty


cdef class KeyCounter:
    """Counts the keys of one partition after the other: one thread's table, kept from one to the next."""

    cdef Slot* slots
    cdef int64_t room       # slots that there is memory for

    def __cinit__(self):
        self.slots = NULL
        self.room = 0

    def __dealloc__(self):
        free(self.slots)

    cdef int64_t take(self, uint64_t* keys, int64_t n, int64_t* counts) noexcept nogil:
        """See count. -1 if there is no memory."""
        cdef int64_t n_slots = LEAST_SLOTS
        cdef int64_t size = 0
        cdef int64_t i
        cdef uint64_t mask, place
        while n_slots < 2 * n and n_slots < MOST_SLOTS_AT_FIRST:
            n_slots *= 2
        if not self.clear(n_slots):
            return -1
        mask = <uint64_t>n_slots - 1
        for i in range(n):
            if 2 * size >= n_slots:
                n_slots *= 4
                if not self.widen(n_slots // 4, n_slots):
                    return -1
                mask = <uint64_t>n_slots - 1
            place = (hash_key(keys[i]) >> SLOT_SHIFT) & mask
            while self.slots[place].count and self.slots[place].key != keys[i]:
                place = (place + 1) & mask
            size += self.slots[place].count == 0
            self.slots[place].key = keys[i]
            self.slots[place].count += 1
        size = 0
        for i in range(n_slots):
            if self.slots[i].count:
                keys[size] = self.slots[i].key
                counts[size] = self.slots[i].count
                size += 1
        return size

    cdef int clear(self, int64_t n_slots) noexcept nogil:
        """So many empty slots; 0 if there is no memory."""
        if n_slots > self.room:
            free(self.slots)
            self.slots = <Slot*>malloc(n_slots * sizeof(Slot))
            self.room = n_slots if self.slots != NULL else 0
            if self.slots == NULL:
                return 0
        memset(self.slots, 0, n_slots * sizeof(Slot))
        return 1

    cdef int widen(self, int64_t n_slots, int64_t wide) noexcept nogil:
        """More slots; 0 if there is no memory."""
        cdef Slot* wider = <Slot*>calloc(wide, sizeof(Slot))
        cdef uint64_t mask = <uint64_t>wide - 1
        cdef uint64_t place
        cdef int64_t i
        if wider == NULL:
            return 0
        for i in range(n_slots):
            if self.slots[i].count:
                place = (hash_key(self.slots[i].key) >> SLOT_SHIFT) & mask
                while wider[place].count:
                    place = (place + 1) & mask
                wider[place] = self.slots[i]
        free(self.slots)
        self.slots = wider
        self.room = wide
        return 1

    def count(self, uint64_t[::1] keys, int64_t[::1] counts, int64_t start, int64_t stop):
        """Count keys[start:stop]: the distinct ones are moved to its beginning, counts are theirs; returns how many."""
        cdef int64_t size
        if start == stop:
            return 0
        with nogil:
            size = self.take(&keys[start], stop - start, &counts[start])
        if size < 0:
            raise MemoryError
        return size


def list_keys(
    const uint64_t[::1] keys, const int64_t[::1] counts, int64_t start, int64_t stop, int64_t place,
    const uint32_t[::1] numbers, const uint32_t[::1] other_numbers, int64_t[:, ::1] out
):
    """Columns of out from `place` on become (first code, second code, count) of keys[start:stop].

    A code is the number of a key's part; where there are no numbers (None), the part itself.
    """
    cdef int64_t i
    cdef bint coded = numbers is None
    cdef bint other_coded = other_numbers is None
    with nogil:
        for i in range(start, stop):
            out[0, place] = keys[i] >> 32 if coded else numbers[keys[i] >> 32]
            out[1, place] = (
                keys[i] & <uint64_t>0xFFFFFFFF if other_coded else other_numbers[keys[i] & <uint64_t>0xFFFFFFFF])
            out[2, place] = counts[i]
            place += 1
