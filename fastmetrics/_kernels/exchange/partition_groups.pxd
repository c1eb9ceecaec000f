"""The rows of a hash exchange and the groups of a partition, for kernels that read them."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from fastmetrics._kernels.columns.column_blocks cimport ColumnBlocks
from fastmetrics._kernels.exchange.group_table cimport PartitionBlocks, find_groups, label_t

cdef struct ColumnsOfOutput:
    Py_ssize_t label
    Py_ssize_t score
    bint is_double                 # the score is float64, not float32

cdef struct FoundGroups:
    # Working memory and results of find_in_partition. Keys have places for all groups of a call.
    PartitionBlocks blocks
    uint32_t* table
    uint32_t* group_of_row
    uint64_t* hashes
    uint64_t* heads                # NULL: integer keys
    uint64_t* tails
    uint16_t* slices               # NULL: groups of all rows

cdef class PartitionedRows:
    cdef PartitionBlocks blocks
    cdef list columns
    cdef const int32_t[:, ::1] offsets
    cdef const void** starts       # of all labels, then of all scores, block by block
    cdef const void** scores
    cdef const void** weights      # NULL: rows have no weights
    cdef Py_ssize_t* score_bytes
    cdef readonly Py_ssize_t n_labels
    cdef readonly Py_ssize_t n_scores
    cdef readonly Py_ssize_t n_partitions
    cdef readonly Py_ssize_t largest
    cdef readonly Py_ssize_t label_bytes
    cdef readonly bint has_weights
    cdef int check(self, ColumnBlocks column, const char* name, Py_ssize_t item_bytes) except -1
    cdef Py_ssize_t count_rows(self, Py_ssize_t start, Py_ssize_t stop) except -1

cdef class PartitionGroups:
    cdef FoundGroups found
    cdef ColumnsOfOutput* outputs
    cdef readonly Py_ssize_t n_outputs
    cdef readonly Py_ssize_t most_groups
    cdef readonly PartitionedRows rows
    cdef readonly object class_counts
    cdef readonly object group_of_row
    cdef readonly object hashes
    cdef readonly object heads
    cdef readonly object tails
    cdef readonly object slices
    cdef object table
    cdef FoundGroups memory(self, Py_ssize_t start, Py_ssize_t stop, bint by_slice) except *


cdef inline Py_ssize_t rows_of_partitions(
    const PartitionBlocks* blocks, Py_ssize_t start, Py_ssize_t stop
) noexcept nogil:
    cdef Py_ssize_t block
    cdef Py_ssize_t n_rows = 0
    cdef const int32_t* offsets
    for block in range(blocks.n_blocks):
        offsets = blocks.offsets + block * blocks.row_stride
        n_rows += offsets[stop] - offsets[start]
    return n_rows


cdef inline Py_ssize_t find_in_partition(
    FoundGroups* found, Py_ssize_t partition, Py_ssize_t first, int64_t* class_counts, label_t zero
) noexcept nogil:
    """Find the groups of a partition, and write their keys from index `first` on; return their number.

    class_counts[2 g] counts the rows of group g with the first label zero, class_counts[2 g + 1] all others. `zero` is
    0 in the type of the labels.
    """
    cdef Py_ssize_t n_rows = rows_of_partitions(&found.blocks, partition, partition + 1)
    cdef uint64_t table_size = 64
    if n_rows == 0:
        return 0
    while table_size < 2 * <uint64_t>n_rows:
        table_size *= 2
    return find_groups(
        &found.blocks, partition, found.table, table_size, found.group_of_row, found.hashes + first,
        found.heads + first if found.heads else NULL, found.tails + first if found.tails else NULL,
        found.slices + first if found.slices else NULL, class_counts, zero)
