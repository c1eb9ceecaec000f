"""The rows of a hash exchange as kernels read them, and the groups of one partition after the other.

`PartitionedRows` has the columns of blocks, whose rows stand partition by partition. `PartitionGroups` is the memory of
one thread: the hash table (group_table.pxd), the group of each row, and the keys of the groups that are found.
"""

import numpy as np

from cpython.exc cimport PyErr_Format
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from fastmetrics._kernels.columns.column_blocks cimport ColumnBlocks, memory_of
from fastmetrics._kernels.exchange.group_table cimport PartitionBlocks
from fastmetrics._kernels.numeric.table_hash cimport use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS

use_table_seeds(_SEEDS)


cdef bint offsets_rise(const int32_t[:, ::1] offsets) noexcept nogil:
    """Does each block begin at 0 or later, and no partition before the one ahead of it?"""
    cdef Py_ssize_t block, i
    cdef int32_t before
    for block in range(offsets.shape[0]):
        before = 0
        for i in range(offsets.shape[1]):
            if offsets[block, i] < before:
                return False
            before = offsets[block, i]
    return True


cdef Py_ssize_t find_short_block(const PartitionBlocks* blocks, const Py_ssize_t* lengths) noexcept nogil:
    """The first block that has more rows in its partitions than in a column, or -1."""
    cdef Py_ssize_t block
    for block in range(blocks.n_blocks):
        if blocks.offsets[(block + 1) * blocks.row_stride - 1] > lengths[block]:
            return block
    return -1


cdef Py_ssize_t most_rows(const PartitionBlocks* blocks, Py_ssize_t n_partitions) noexcept nogil:
    """The rows of the largest partition."""
    cdef Py_ssize_t partition
    cdef Py_ssize_t most = 0
    for partition in range(n_partitions):
        most = max(most, rows_of_partitions(blocks, partition, partition + 1))
    return most


cdef class PartitionedRows:
    """Columns of blocks with the same partitions.

    - offsets (block, partition): where each partition begins in a block, and where the last one ends.
    - hashes, and for keys that are no single number heads and tails: the keys. A key of two numbers has no tails.
    - labels and scores: any number of columns. label_bytes is the width of all labels, 0 if there is none.
    - weights (float64) and slices (uint16) may be None. `largest` is the number of rows of the largest partition.
    """

    def __cinit__(
        self, const int32_t[:, ::1] offsets not None, ColumnBlocks hashes not None, ColumnBlocks heads or None,
        ColumnBlocks tails or None, list labels not None, list scores not None, ColumnBlocks weights or None,
        ColumnBlocks slices or None
    ):
        cdef ColumnBlocks column
        cdef Py_ssize_t i, block
        cdef Py_ssize_t n_blocks = offsets.shape[0]
        if offsets.shape[1] == 0 or not offsets_rise(offsets):
            raise ValueError("offsets of partitions must begin at 0 or later, and rise")
        self.columns = [hashes, heads, tails, *labels, *scores, weights, slices]
        self.offsets = offsets
        self.n_partitions = offsets.shape[1] - 1
        self.blocks.offsets = &offsets[0, 0] if n_blocks else NULL
        self.blocks.n_blocks = n_blocks
        self.blocks.row_stride = offsets.shape[1]
        self.check(hashes, b"hashes", 8)
        self.blocks.hashes = <const uint64_t**>hashes.starts
        if heads is not None:
            self.check(heads, b"heads", 8)
            self.blocks.heads = self.blocks.tails = <const uint64_t**>heads.starts
            if tails is not None:
                self.check(tails, b"tails", 8)
                self.blocks.tails = <const uint64_t**>tails.starts
        if weights is not None:
            self.check(weights, b"weights", 8)
            self.weights = weights.starts
        if slices is not None:
            self.check(slices, b"slices", 2)
            self.blocks.slices = <const uint16_t**>slices.starts
        self.has_weights = weights is not None
        self.n_labels = len(labels)
        self.n_scores = len(scores)
        self.starts = <const void**>malloc(<size_t>((self.n_labels + self.n_scores) * n_blocks + 1) * sizeof(void*))
        self.score_bytes = <Py_ssize_t*>malloc(<size_t>(self.n_scores + 1) * sizeof(Py_ssize_t))
        if self.starts == NULL or self.score_bytes == NULL:
            raise MemoryError
        self.scores = self.starts + self.n_labels * n_blocks
        for i in range(self.n_labels + self.n_scores):
            column = <ColumnBlocks?>(labels[i] if i < self.n_labels else scores[i - self.n_labels])
            self.check(column, b"a label" if i < self.n_labels else b"a score", column.item_bytes)
            if i >= self.n_labels:
                self.score_bytes[i - self.n_labels] = column.item_bytes
            elif i == 0 or self.label_bytes == column.item_bytes:
                self.label_bytes = column.item_bytes
            else:
                self.label_bytes = 0
            for block in range(n_blocks):
                self.starts[i * n_blocks + block] = column.starts[block]
        # Where labels are no classes, kernels that count none read any bytes: the number of a group's rows stays right.
        self.blocks.labels = self.starts if self.n_labels else <const void**>hashes.starts
        self.largest = most_rows(&self.blocks, self.n_partitions)

    def __dealloc__(self):
        free(self.starts)
        free(self.score_bytes)

    cdef int check(self, ColumnBlocks column, const char* name, Py_ssize_t item_bytes) except -1:
        """Raise ValueError unless a column has as many rows in every block as the partitions."""
        cdef Py_ssize_t block
        column.check(name, self.blocks.n_blocks, item_bytes)
        block = find_short_block(&self.blocks, column.lengths)
        if block >= 0:
            PyErr_Format(
                ValueError, b"%s has %zd rows in block %zd, less than its partitions", name, column.lengths[block],
                block)
        return 0

    cdef Py_ssize_t count_rows(self, Py_ssize_t start, Py_ssize_t stop) except -1:
        """The rows of the partitions start to stop."""
        if not 0 <= start <= stop <= self.n_partitions:
            raise ValueError(f"partitions {start} to {stop} of {self.n_partitions}")
        return rows_of_partitions(&self.blocks, start, stop)


cdef class PartitionGroups:
    """Finds the groups of partitions, with memory for at most `most_groups` of them in a call.

    `allocate(name, dtype, length)` returns memory. `outputs` are the outputs that kernels measure: (label, score).
    After `find`, group_of_row has the group of each row of the partition, in the order of blocks and rows; hashes,
    heads, tails and slices have the keys of the groups, and class_counts (group, class) their rows by the first label.
    """

    def __cinit__(self, PartitionedRows rows not None, Py_ssize_t most_groups, allocate, outputs=()):
        cdef Py_ssize_t largest = max(1, rows.largest)
        cdef Py_ssize_t table_size = 64
        cdef Py_ssize_t n_keys = max(1, most_groups) if rows.blocks.heads else 0
        cdef Py_ssize_t i
        while table_size < 2 * largest:
            table_size *= 2
        self.rows = rows
        self.most_groups = max(1, most_groups)
        self.table = allocate("table", np.uint32, table_size)
        self.group_of_row = allocate("group of row", np.uint32, largest)
        self.class_counts = allocate("class counts", np.int64, 2 * largest).reshape(largest, 2)
        self.hashes = allocate("hashes", np.uint64, self.most_groups)
        self.heads = allocate("heads", np.uint64, n_keys)
        self.tails = allocate("tails", np.uint64, n_keys)
        self.slices = allocate("slices", np.uint16, self.most_groups if rows.blocks.slices else 0)
        self.found.blocks = rows.blocks
        self.found.table = <uint32_t*>memory_of(self.table, table_size, 4)
        self.found.group_of_row = <uint32_t*>memory_of(self.group_of_row, largest, 4)
        self.found.hashes = <uint64_t*>memory_of(self.hashes, self.most_groups, 8)
        if rows.blocks.heads:
            self.found.heads = <uint64_t*>memory_of(self.heads, n_keys, 8)
            self.found.tails = <uint64_t*>memory_of(self.tails, n_keys, 8)
        if rows.blocks.slices:
            self.found.slices = <uint16_t*>memory_of(self.slices, self.most_groups, 2)
        self.n_outputs = len(outputs)
        self.outputs = <ColumnsOfOutput*>malloc(<size_t>(self.n_outputs + 1) * sizeof(ColumnsOfOutput))
        if self.outputs == NULL:
            raise MemoryError
        for i in range(self.n_outputs):
            self.outputs[i].label, self.outputs[i].score = outputs[i]
            if not (0 <= self.outputs[i].label < rows.n_labels and 0 <= self.outputs[i].score < rows.n_scores):
                raise ValueError(f"no columns for the output {outputs[i]}")
            self.outputs[i].is_double = rows.score_bytes[self.outputs[i].score] == 8
            if rows.score_bytes[self.outputs[i].score] != 4 and not self.outputs[i].is_double:
                raise ValueError(f"score {self.outputs[i].score} is neither float32 nor float64")

    def __dealloc__(self):
        free(self.outputs)

    cdef FoundGroups memory(self, Py_ssize_t start, Py_ssize_t stop, bint by_slice) except *:
        """The memory for the groups of some partitions, which may be divided by slice."""
        cdef FoundGroups found = self.found
        cdef Py_ssize_t n_rows = self.rows.count_rows(start, stop)
        if n_rows > self.most_groups:
            raise ValueError(f"memory for {self.most_groups} groups, and {n_rows} rows in partitions {start} to {stop}")
        if by_slice and found.slices == NULL:
            raise ValueError("the rows have no slices")
        if not by_slice:
            found.blocks.slices = NULL
            found.slices = NULL
        return found

    def find(self, Py_ssize_t partition, bint by_slice=False) -> int:
        """Find the groups of a partition, divided by slice or not; return their number."""
        cdef FoundGroups found = self.memory(partition, partition + 1, by_slice)
        cdef int64_t* class_counts = <int64_t*>memory_of(self.class_counts, 2 * self.rows.largest, 8)
        cdef Py_ssize_t n_groups
        with nogil:
            n_groups = find_in_partition[uint8_t](&found, partition, 0, class_counts, 0)
        return n_groups
