"""The pairs won inside every slice of every group.

The rows of some partitions are brought into the order of groups once, and those of a group into the order of every
score (ordered_rows.pxd). Every set of slices is a pass over that order. A cell is the rows that a group has in a slice;
cells are written slice by slice. The partitions of one call have less than 2**30 rows; pairs of a cell have 64 bits.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from fastmetrics._kernels.columns.column_blocks cimport ColumnBlocks, memory_of, words_of
from fastmetrics._kernels.numeric.length_checks cimport need_below, need_length
from fastmetrics._kernels.columns.ordered_bits cimport sort_key_f32, sort_key_f64
from fastmetrics._kernels.exchange.group_table cimport PartitionBlocks
from fastmetrics._kernels.exchange.ordered_rows cimport (
    FEW_POSITIVES, MOST_ROWS, PairsOfSlice, add_row, is_tied, order_group, row_of,
)
from fastmetrics._kernels.exchange.partition_groups cimport (
    ColumnsOfOutput, FoundGroups, PartitionedRows, PartitionGroups, find_in_partition, rows_of_partitions,
)
from fastmetrics._kernels.exchange.radix_sort_descending cimport KeyedRow
from fastmetrics._kernels.numeric.table_hash cimport use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS

use_table_seeds(_SEEDS)


ctypedef fused column_t:
    uint8_t                        # classes
    uint16_t                       # codes of slices


cdef void scatter_column(
    const PartitionBlocks* blocks, Py_ssize_t partition, const void** column, const uint32_t* places, column_t* out
) noexcept nogil:
    """Copy a column of a partition to the places of its rows."""
    cdef Py_ssize_t block, row
    cdef Py_ssize_t i = 0
    cdef const column_t* values
    cdef const int32_t* span
    for block in range(blocks.n_blocks):
        span = blocks.offsets + block * blocks.row_stride + partition
        values = <const column_t*>column[block]
        for row in range(span[0], span[1]):
            if column_t is uint8_t:
                out[places[i]] = values[row] != 0
            else:
                out[places[i]] = values[row]
            i += 1


cdef void order_partition(
    const PartitionBlocks* blocks, Py_ssize_t partition, const void** score_blocks, bint are_double,
    const uint32_t* places, const uint8_t* labels, const uint32_t* starts, Py_ssize_t n_groups, KeyedRow* rows,
    KeyedRow* scratch, uint32_t* ordered
) noexcept nogil:
    """Write the rows of every group of a partition that has both classes in the order of a score."""
    cdef Py_ssize_t block, row, group, n, n_positives
    cdef Py_ssize_t i = 0
    cdef uint32_t first = starts[0]
    cdef uint32_t place
    cdef const int32_t* span
    for block in range(blocks.n_blocks):
        span = blocks.offsets + block * blocks.row_stride + partition
        for row in range(span[0], span[1]):
            place = places[i]
            if are_double:
                rows[place - first].key = sort_key_f64((<const double*>score_blocks[block])[row])
            else:  # the sort reads the upper bits first
                rows[place - first].key = <uint64_t>sort_key_f32(
                    (<const float*>score_blocks[block])[row]) << 32
            rows[place - first].row = row_of(place, labels[place])
            i += 1
    for group in range(n_groups):
        n_positives = 0
        for row in range(starts[group], starts[group + 1]):
            n_positives += labels[row]
        n = <Py_ssize_t>(starts[group + 1] - starts[group])
        if 0 < n_positives < n:
            order_group(rows + (starts[group] - first), scratch, n, n_positives, ordered + starts[group])


cdef struct OrderMemory:
    # The results of OrderedGroups.order, with places for max_rows rows and groups, and its working memory.
    FoundGroups found
    const void** labels
    const void** scores
    const void** codes
    const ColumnsOfOutput* outputs
    Py_ssize_t n_labels
    Py_ssize_t n_codes
    Py_ssize_t n_outputs
    Py_ssize_t max_rows
    int64_t* class_counts
    KeyedRow* rows
    KeyedRow* other_rows
    uint32_t* starts
    uint8_t* labels_by_place
    uint16_t* codes_by_place
    uint32_t* ordered


cdef Py_ssize_t order_groups_of_partition(
    OrderMemory* memory, Py_ssize_t partition, Py_ssize_t first, uint32_t place
) noexcept nogil:
    """Bring the rows of every group of a partition together, from `place` on; return how many groups there are."""
    cdef Py_ssize_t group, i, column
    cdef PartitionBlocks* blocks = &memory.found.blocks
    cdef Py_ssize_t n_rows = rows_of_partitions(blocks, partition, partition + 1)
    cdef int64_t* class_counts = memory.class_counts
    cdef uint32_t* places = memory.found.group_of_row
    cdef uint32_t* starts = memory.starts + first
    cdef const ColumnsOfOutput* output
    cdef Py_ssize_t n_groups = find_in_partition[uint8_t](&memory.found, partition, first, class_counts, 0)
    for group in range(n_groups):
        starts[group] = place
        place += <uint32_t>(class_counts[2 * group] + class_counts[2 * group + 1])
        class_counts[2 * group] = starts[group]  # from here on: the place of the next row
    starts[n_groups] = place
    for i in range(n_rows):
        group = places[i]
        places[i] = <uint32_t>class_counts[2 * group]
        class_counts[2 * group] += 1
    for column in range(memory.n_labels):
        scatter_column(
            blocks, partition, memory.labels + column * blocks.n_blocks, places,
            memory.labels_by_place + column * memory.max_rows)
    for column in range(memory.n_codes):
        scatter_column(
            blocks, partition, memory.codes + column * blocks.n_blocks, places,
            memory.codes_by_place + column * memory.max_rows)
    for column in range(memory.n_outputs):
        output = &memory.outputs[column]
        order_partition(
            blocks, partition, memory.scores + output.score * blocks.n_blocks, output.is_double, places,
            memory.labels_by_place + output.label * memory.max_rows, starts, n_groups, memory.rows, memory.other_rows,
            memory.ordered + column * memory.max_rows)
    return n_groups


cdef class OrderedGroups:
    """The rows of some partitions in the order of groups; in each group also in the order of every score.

    Labels are classes; `code_columns` has the ColumnBlocks of every column of codes of slices (uint16). After `order`,
    n_groups and n_rows say how many there are, and `codes` (column, row) has the codes in the order of groups.
    """

    cdef readonly PartitionGroups groups
    cdef readonly object codes
    cdef readonly Py_ssize_t n_groups
    cdef readonly Py_ssize_t n_rows
    cdef OrderMemory memory
    cdef list kept

    def __cinit__(self, PartitionGroups groups not None, list code_columns not None, allocate):
        cdef PartitionedRows rows = groups.rows
        cdef Py_ssize_t largest = max(1, rows.largest)
        cdef Py_ssize_t most = groups.most_groups
        cdef Py_ssize_t n_blocks = rows.blocks.n_blocks
        cdef Py_ssize_t column, block
        cdef ColumnBlocks own
        if rows.label_bytes != 1:
            raise ValueError("pairs are counted of labels that are classes")
        if most >= MOST_ROWS:
            raise OverflowError(f"{most} rows; at most 2**30 - 1 can be ordered in memory")
        self.groups = groups
        self.memory.labels, self.memory.n_labels = rows.starts, rows.n_labels
        self.memory.scores, self.memory.outputs, self.memory.n_outputs = rows.scores, groups.outputs, groups.n_outputs
        self.memory.n_codes = len(code_columns)
        self.memory.max_rows = most
        self.memory.codes = <const void**>malloc(<size_t>(self.memory.n_codes * n_blocks + 1) * sizeof(void*))
        if self.memory.codes == NULL:
            raise MemoryError
        self.kept = [*code_columns]
        for column in range(self.memory.n_codes):
            own = <ColumnBlocks?>code_columns[column]
            rows.check(own, b"a column of codes", 2)
            for block in range(n_blocks):
                self.memory.codes[column * n_blocks + block] = own.starts[block]
        self.codes = allocate("codes", np.uint16, self.memory.n_codes * most).reshape(self.memory.n_codes, most)
        self.memory.codes_by_place = <uint16_t*>memory_of(self.codes, self.memory.n_codes * most, 2)
        self.memory.class_counts = <int64_t*>memory_of(groups.class_counts, 2 * largest, 8)
        self.memory.rows = <KeyedRow*>words_of(self.kept, allocate, "keyed rows", 4 * largest)
        self.memory.other_rows = self.memory.rows + largest
        self.memory.starts = <uint32_t*>words_of(self.kept, allocate, "starts", most // 2 + 1)
        self.memory.labels_by_place = <uint8_t*>words_of(self.kept, allocate, "labels", rows.n_labels * most // 8 + 1)
        self.memory.ordered = <uint32_t*>words_of(self.kept, allocate, "ordered", groups.n_outputs * most // 2 + 1)

    def __dealloc__(self):
        free(self.memory.codes)

    def order(self, Py_ssize_t start, Py_ssize_t stop):
        """Order the rows of the partitions start..stop."""
        cdef Py_ssize_t partition
        self.memory.found = self.groups.memory(start, stop, False)
        self.n_groups = self.n_rows = 0
        self.memory.starts[0] = 0
        with nogil:
            for partition in range(start, stop):
                self.n_groups += order_groups_of_partition(
                    &self.memory, partition, self.n_groups, <uint32_t>self.n_rows)
                self.n_rows += rows_of_partitions(&self.memory.found.blocks, partition, partition + 1)


cdef void count_cells(
    const uint16_t[::1] numbers, const uint32_t* starts, Py_ssize_t n_groups, uint64_t* seen, int64_t* first,
    Py_ssize_t n_slices
) noexcept nogil:
    """Write the first cell of every slice, and the number of cells; the row at place i is in slice numbers[i]."""
    cdef Py_ssize_t group, number
    cdef uint32_t place
    cdef int64_t total = 0
    cdef int64_t count
    for number in range(n_slices):
        seen[number] = 0
        first[number] = 0
    for group in range(n_groups):
        for place in range(starts[group], starts[group + 1]):
            number = numbers[place]
            first[number] += seen[number] != <uint64_t>(group + 1)
            seen[number] = <uint64_t>(group + 1)
    for number in range(n_slices):
        count = first[number]
        first[number] = total
        total += count
    first[n_slices] = total


cdef inline uint64_t wins_of_row(
    const uint32_t* words, const uint32_t* negatives, Py_ssize_t row, uint32_t cell
) noexcept nogil:
    """Twice the negatives of a cell below a positive row, plus ties. Row i is a negative of cell negatives[i]."""
    cdef Py_ssize_t i
    cdef Py_ssize_t first = row
    cdef uint32_t below = 0
    cdef uint32_t tied = 0
    for i in range(row):
        below += negatives[i] == cell
    while is_tied(words[first]):
        first -= 1
        tied += negatives[first] == cell
    return 2 * <uint64_t>below - tied


cdef inline void count_group(
    const uint32_t* words, Py_ssize_t n, Py_ssize_t n_positives, Py_ssize_t first, const uint32_t* cell_of_row,
    uint32_t* negatives, Py_ssize_t n_cells, PairsOfSlice* pairs
) noexcept nogil:
    """Count the wins of the cells of a group, whose rows have the places first to first + n."""
    cdef Py_ssize_t i
    cdef int64_t run = 0
    cdef uint32_t cell
    for i in range(n_cells):
        pairs[i].wins = 0
    if n_positives > FEW_POSITIVES:
        for i in range(n_cells):
            pairs[i].negatives = pairs[i].positives = pairs[i].below = pairs[i].run = 0
            pairs[i].high_wins = 0
        for i in range(n):
            run += not is_tied(words[i])
            add_row(pairs + cell_of_row[(words[i] & (MOST_ROWS - 1)) - first], words[i], run)
        return
    for i in range(n):
        cell = cell_of_row[(words[i] & (MOST_ROWS - 1)) - first]
        negatives[i] = cell | (0 - (words[i] >> 31))
        if words[i] >> 31:
            pairs[cell].wins += wins_of_row(words, negatives, i, cell)


cdef struct CellMemory:
    # The results of SliceCellCounter.count, with places for max_cells cells, and its working memory: `seen` for every
    # slice, the others for the rows of the largest group.
    uint64_t* hashes
    uint64_t* heads                # NULL: integer keys
    uint64_t* tails
    int64_t* class_counts
    uint64_t* wins
    int64_t* one_class             # NULL: all cells are written
    Py_ssize_t max_cells
    Py_ssize_t n_slices
    uint64_t* seen
    int64_t* next_cell
    uint32_t* cell_of_row
    uint32_t* negatives
    int64_t* cell_numbers
    uint64_t* cell_counts          # of every label, positives in the upper half
    Py_ssize_t largest
    PairsOfSlice* pairs


cdef Py_ssize_t find_cells(
    const uint16_t[::1] numbers, const OrderMemory* rows, Py_ssize_t group, CellMemory* memory
) noexcept nogil:
    """Find the cells of the rows of a group, and count their classes; return how many there are."""
    cdef Py_ssize_t label, i, own
    cdef Py_ssize_t n_cells = 0
    cdef Py_ssize_t first = rows.starts[group]
    cdef Py_ssize_t stop = rows.starts[group + 1]
    cdef uint64_t entry
    cdef uint64_t mark = <uint64_t>(group + 1) << 32
    cdef uint64_t* counts
    cdef const uint8_t* labels
    cdef bint is_new
    for i in range(first, stop):
        # Without branches: whether a cell is new cannot be predicted.
        entry = memory.seen[numbers[i]]
        is_new = (entry & <uint64_t>0xFFFFFFFF00000000) != mark
        entry = mark | <uint64_t>n_cells if is_new else entry
        memory.seen[numbers[i]] = entry
        memory.cell_of_row[i - first] = <uint32_t>entry
        memory.cell_numbers[n_cells] = numbers[i]
        n_cells += is_new
    for label in range(rows.n_labels):
        counts = memory.cell_counts + label * memory.largest
        labels = rows.labels_by_place + label * rows.max_rows
        for own in range(n_cells):
            counts[own] = 0
        for i in range(first, stop):
            counts[memory.cell_of_row[i - first]] += <uint64_t>1 << (32 * labels[i])
    return n_cells


cdef Py_ssize_t write_cells(
    const OrderMemory* rows, Py_ssize_t group, Py_ssize_t n_cells, CellMemory* memory
) noexcept nogil:
    """Write the keys and class counts of a group's cells, and count those of one class; return how many are written."""
    cdef Py_ssize_t label, own, number
    cdef Py_ssize_t n_written = 0
    cdef int64_t cell
    cdef uint64_t count
    cdef int64_t* counts
    cdef bint has_pairs
    for own in range(n_cells):
        number = memory.cell_numbers[own]
        has_pairs = memory.one_class == NULL
        for label in range(rows.n_labels):
            count = memory.cell_counts[label * memory.largest + own]
            has_pairs |= count >> 32 != 0 and count & 0xFFFFFFFFu != 0
        if not has_pairs:
            for label in range(rows.n_labels):
                count = memory.cell_counts[label * memory.largest + own]
                counts = memory.one_class + 4 * (label * memory.n_slices + number)
                counts[count >> 32 != 0] += 1
                counts[2 + (count >> 32 != 0)] += <int64_t>((count >> 32) + (count & 0xFFFFFFFFu))
            memory.cell_numbers[own] = -1
            continue
        n_written += 1
        cell = memory.next_cell[number]
        memory.next_cell[number] += 1
        memory.cell_numbers[own] = cell
        memory.hashes[cell] = rows.found.hashes[group]
        if memory.heads:
            memory.heads[cell] = rows.found.heads[group]
            memory.tails[cell] = rows.found.tails[group]
        for label in range(rows.n_labels):
            count = memory.cell_counts[label * memory.largest + own]
            counts = memory.class_counts + 2 * (label * memory.max_cells + cell)
            counts[0] = <int64_t>(count & 0xFFFFFFFFu)
            counts[1] = <int64_t>(count >> 32)
    return n_written


cdef void count_wins(const OrderMemory* rows, Py_ssize_t group, Py_ssize_t n_cells, CellMemory* memory) noexcept nogil:
    """Write twice the pairs won in a group's cells, for every output."""
    cdef Py_ssize_t number, own, i, n_positives
    cdef Py_ssize_t first = rows.starts[group]
    cdef Py_ssize_t n = rows.starts[group + 1] - first
    cdef const uint8_t* labels
    for number in range(rows.n_outputs):
        labels = rows.labels_by_place + rows.outputs[number].label * rows.max_rows + first
        n_positives = 0
        for i in range(n):
            n_positives += labels[i]
        if n_positives == 0 or n_positives == n:
            for own in range(n_cells):
                memory.pairs[own].wins = 0
        else:
            count_group(
                rows.ordered + number * rows.max_rows + first, n, n_positives, first, memory.cell_of_row,
                memory.negatives, n_cells, memory.pairs)
        for own in range(n_cells):
            if memory.cell_numbers[own] >= 0:
                memory.wins[number * memory.max_cells + memory.cell_numbers[own]] = memory.pairs[own].wins


cdef class SliceCellCounter:
    """Counts the pairs of the slices of every group.

    After `count`, the results stand slice by slice: the keys of every cell's group (hashes, heads, tails), class_counts
    (label, cell, class), and wins (output, cell), twice the pairs won.
    """

    cdef readonly PartitionGroups groups
    cdef readonly object hashes
    cdef readonly object heads
    cdef readonly object tails
    cdef readonly object class_counts
    cdef readonly object wins
    cdef CellMemory memory
    cdef list kept

    def __cinit__(self, PartitionGroups groups not None, allocate):
        cdef PartitionedRows rows = groups.rows
        cdef Py_ssize_t largest = max(1, rows.largest)
        cdef Py_ssize_t most = groups.most_groups
        cdef Py_ssize_t n_keys = most if rows.blocks.heads else 0
        self.groups = groups
        self.hashes = allocate("hashes of cells", np.uint64, most)
        self.heads = allocate("heads of cells", np.uint64, n_keys)
        self.tails = allocate("tails of cells", np.uint64, n_keys)
        self.class_counts = allocate("class rows of cells", np.int64, 2 * rows.n_labels * most).reshape(
            rows.n_labels, most, 2)
        self.wins = allocate("wins of cells", np.uint64, groups.n_outputs * most).reshape(groups.n_outputs, most)
        self.memory.hashes = <uint64_t*>memory_of(self.hashes, most, 8)
        if n_keys:
            self.memory.heads = <uint64_t*>memory_of(self.heads, n_keys, 8)
            self.memory.tails = <uint64_t*>memory_of(self.tails, n_keys, 8)
        self.memory.class_counts = <int64_t*>memory_of(self.class_counts, 2 * rows.n_labels * most, 8)
        self.memory.wins = <uint64_t*>memory_of(self.wins, groups.n_outputs * most, 8)
        self.memory.max_cells = most
        self.memory.largest = largest
        self.kept = []
        self.memory.cell_of_row = <uint32_t*>words_of(self.kept, allocate, "cell of row", largest)
        self.memory.negatives = self.memory.cell_of_row + largest
        self.memory.cell_numbers = <int64_t*>words_of(self.kept, allocate, "cells of group", largest)
        self.memory.cell_counts = words_of(self.kept, allocate, "counts of cells", rows.n_labels * largest)
        self.memory.pairs = <PairsOfSlice*>words_of(
            self.kept, allocate, "pairs of cells", <Py_ssize_t>(sizeof(PairsOfSlice) // 8) * largest)

    def count(
        self, OrderedGroups rows not None, const uint16_t[::1] numbers, Py_ssize_t n_slices,
        int64_t[:, :, ::1] one_class or None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count the pairs of ordered rows, row i in slice numbers[i]; return the first cell of every slice and its end.

        There is one more first cell than slices. With `one_class` (label, slice, 4), cells that have one class for
        every label are not written but added to it: cells without positives, cells without negatives, and the rows of
        both kinds.
        """
        cdef CellMemory memory = self.memory
        cdef OrderMemory* ordered = &rows.memory
        cdef Py_ssize_t group, n_cells
        if rows.groups is not self.groups:
            raise ValueError("the rows are ordered by other groups")
        need_length(b"numbers", numbers.shape[0], rows.n_rows)
        if rows.n_rows:
            need_below(b"numbers", &numbers[0], rows.n_rows, n_slices)
        seen, first = np.empty(n_slices, np.uint64), np.empty(n_slices + 1, np.int64)
        memory.n_slices = n_slices
        memory.seen = <uint64_t*>memory_of(seen, n_slices, 8)
        memory.one_class = NULL
        if one_class is not None and n_slices:
            if one_class.shape[0] < ordered.n_labels or one_class.shape[1] != n_slices or one_class.shape[2] != 4:
                raise ValueError(f"one_class has no counts of {ordered.n_labels} labels and {n_slices} slices")
            memory.one_class = &one_class[0, 0, 0]
        memory.next_cell = <int64_t*>memory_of(first, n_slices + 1, 8)
        with nogil:
            count_cells(numbers, ordered.starts, rows.n_groups, memory.seen, memory.next_cell, n_slices)
            memset(memory.seen, 0, <size_t>n_slices * sizeof(uint64_t))
        end = first.copy()
        memory.next_cell = <int64_t*>memory_of(end, n_slices + 1, 8)
        with nogil:
            for group in range(rows.n_groups):
                n_cells = find_cells(numbers, ordered, group, &memory)
                if write_cells(ordered, group, n_cells, &memory):
                    count_wins(ordered, group, n_cells, &memory)
        return first, end
