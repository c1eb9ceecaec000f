"""Group the rows of one partition with a hash table that stays in cache.

An open-addressing table (linear probing, 32-bit entries: group number + 1, 0 is free) finds the group of a row. Two
rows belong to one group if their hashes are equal and, for text keys, their bytes are equal; if groups are formed per
slice, their slices must be equal as well. A table with at least twice as many entries as rows never fills. All arrays
belong to the caller.

The hashes of rows are fixed, and somebody may have prepared them. Where probing starts depends on the seeds of the
process: a multiplication by an odd number, which few hashes survive together. If probing takes many steps all the same,
because different texts have one hash or by bad luck, the table is filled again by hashes of whole keys (table_hash.h).
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memcmp, memset

from fastmetrics._kernels.numeric.table_hash cimport table_hash, table_hash_bytes, table_hash_pair, table_seed

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define FM_PREFETCH(address) __builtin_prefetch(address)
    #else
    #define FM_PREFETCH(address) ((void)(address))
    #endif
    """
    void prefetch "FM_PREFETCH"(const void* address) noexcept nogil

cdef enum:
    TEXT_ROWS = 16                 # how many rows ahead to prefetch texts
    SHORT_TEXT = 12
    MAX_STEPS = 256                # of probing for a new group: random keys take less than 100
    MAX_EQUAL_HASHES = 1024        # times that a row meets another key with its hash: by chance there are none

ctypedef fused label_t:
    uint8_t                        # classes 0 and 1
    double                         # grades: any finite numbers


cdef struct PartitionBlocks:
    # Each block's columns, in partition order, and the offsets of the partitions in every block.
    const uint64_t** hashes
    const void** labels
    const uint64_t** heads         # NULL: integer keys
    const uint64_t** tails
    const uint16_t** slices        # NULL: groups of all rows
    const int32_t* offsets
    Py_ssize_t n_blocks
    Py_ssize_t row_stride


cdef inline bint same_text_slot(uint64_t head, uint64_t tail, uint64_t other_head, uint64_t other_tail) noexcept nogil:
    """Return whether two text slots (`make_text_slots` of hash_partition.pyx) hold the same text."""
    cdef uint64_t length = head & 0xFFFFFFFFu
    if head != other_head:
        return False
    if tail == other_tail:
        return True
    return length > SHORT_TEXT and memcmp(
        <const uint8_t*><uintptr_t>tail, <const uint8_t*><uintptr_t>other_tail, <size_t>length) == 0


cdef inline uint64_t place_slot(uint64_t head, uint64_t tail) noexcept nogil:
    """The hash of a text slot by the text itself."""
    cdef uint64_t length = head & 0xFFFFFFFFu
    if length > SHORT_TEXT:
        return table_hash_bytes(<const uint8_t*><uintptr_t>tail, <int64_t>length)
    return table_hash_pair(head, tail)


cdef inline uint64_t place_group(
    const uint64_t* heads, const uint64_t* tails, Py_ssize_t row, Py_ssize_t stop, uint64_t hashed
) noexcept nogil:
    """The hash of a row by its number, both numbers of a pair, or its text; `hashed` is of the number and the slice."""
    if heads == NULL:
        return table_hash(hashed)
    if heads == tails:
        return table_hash_pair(hashed, heads[row])
    if row + TEXT_ROWS < stop:
        prefetch(<const void*><uintptr_t>tails[row + TEXT_ROWS])
    return table_hash_pair(hashed, place_slot(heads[row], tails[row]))


cdef inline Py_ssize_t find_groups(
    PartitionBlocks* blocks, Py_ssize_t partition, uint32_t* table, uint64_t table_size, uint32_t* group_of_row,
    uint64_t* group_hashes, uint64_t* group_heads, uint64_t* group_tails, uint16_t* group_slices,
    int64_t* class_counts, label_t zero
) noexcept nogil:
    """Number the groups in order of appearance; return the number of groups.

    A group is identified by group_hashes, for text keys also by group_heads and group_tails, and with slices also by
    group_slices. class_counts[2 g] counts the group's rows with label zero, class_counts[2 g + 1] all others. `zero` is
    0 in the type of the labels.
    """
    cdef Py_ssize_t n_groups = fill_table(
        blocks, partition, table, table_size, group_of_row, group_hashes, group_heads, group_tails, group_slices,
        class_counts, zero)
    if n_groups < 0:
        n_groups = fill_by_key(
            blocks, partition, table, table_size, group_of_row, group_hashes, group_heads, group_tails, group_slices,
            class_counts, zero)
    return n_groups


cdef inline uint64_t first_slot(uint64_t hashed, uint64_t slice_number, uint64_t factor) noexcept nogil:
    """The number of the slot where probing starts, in its last bits."""
    cdef uint64_t product = (hashed + slice_number * <uint64_t>0x9E3779B97F4A7C15) * factor
    return product ^ (product >> 44)


cdef inline Py_ssize_t fill_table(
    PartitionBlocks* blocks, Py_ssize_t partition, uint32_t* table, uint64_t table_size, uint32_t* group_of_row,
    uint64_t* group_hashes, uint64_t* group_heads, uint64_t* group_tails, uint16_t* group_slices,
    int64_t* class_counts, label_t zero
) noexcept nogil:
    """As find_groups. Returns -1 if probing takes too many steps: somebody prepared the hashes."""
    cdef Py_ssize_t block, row
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t n_groups = 0
    cdef uint64_t mask = table_size - 1
    cdef Py_ssize_t n_equal_hashes = 0
    cdef uint64_t factor = table_seed(0) | 1
    cdef uint64_t value, slot
    cdef uint32_t entry
    cdef const uint64_t* hashes
    cdef const label_t* labels
    cdef const uint64_t* heads
    cdef const uint64_t* tails
    cdef const uint16_t* slices
    cdef const int32_t* span
    cdef bint has_text = blocks.heads != NULL
    cdef bint has_slices = blocks.slices != NULL
    cdef uint16_t row_slice = 0
    heads = NULL
    tails = NULL
    slices = NULL
    memset(table, 0, table_size * sizeof(uint32_t))
    for block in range(blocks.n_blocks):
        span = blocks.offsets + block * blocks.row_stride + partition
        hashes = blocks.hashes[block]
        labels = <const label_t*>blocks.labels[block]
        if has_text:
            heads = blocks.heads[block]
            tails = blocks.tails[block]
        if has_slices:
            slices = blocks.slices[block]
        for row in range(span[0], span[1]):
            value = hashes[row]
            if has_slices:
                row_slice = slices[row]
            slot = first_slot(value, row_slice, factor) & mask
            while True:
                entry = table[slot]
                if entry == 0:
                    if ((slot - first_slot(value, row_slice, factor)) & mask) > MAX_STEPS:
                        return -1
                    n_groups += 1
                    entry = <uint32_t>n_groups
                    table[slot] = entry
                    group_hashes[entry - 1] = value
                    if has_text:
                        group_heads[entry - 1] = heads[row]
                        group_tails[entry - 1] = tails[row]
                    if has_slices:
                        group_slices[entry - 1] = row_slice
                    class_counts[2 * (entry - 1)] = 0
                    class_counts[2 * (entry - 1) + 1] = 0
                    break
                if group_hashes[entry - 1] == value and (not has_slices or group_slices[entry - 1] == row_slice):
                    if not has_text or same_text_slot(
                            group_heads[entry - 1], group_tails[entry - 1], heads[row], tails[row]):
                        break
                    n_equal_hashes += 1
                    if n_equal_hashes > MAX_EQUAL_HASHES:
                        return -1
                slot = (slot + 1) & mask
            group_of_row[i] = entry - 1
            class_counts[2 * (entry - 1) + (labels[row] != zero)] += 1
            i += 1
    return n_groups


cdef inline Py_ssize_t fill_by_key(
    PartitionBlocks* blocks, Py_ssize_t partition, uint32_t* table, uint64_t table_size, uint32_t* group_of_row,
    uint64_t* group_hashes, uint64_t* group_heads, uint64_t* group_tails, uint16_t* group_slices,
    int64_t* class_counts, label_t zero
) noexcept nogil:
    """As find_groups, for rows of prepared hashes: probing starts at hashes of whole keys."""
    cdef Py_ssize_t block, row, group
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t n_groups = 0
    cdef uint64_t mask = table_size - 1
    cdef uint64_t value, slot
    cdef uint64_t head = 0
    cdef uint64_t tail = 0
    cdef uint16_t row_slice = 0
    cdef const label_t* labels
    cdef const uint64_t* heads = NULL
    cdef const uint64_t* tails = NULL
    cdef const int32_t* span
    memset(table, 0, table_size * sizeof(uint32_t))
    for block in range(blocks.n_blocks):
        span = blocks.offsets + block * blocks.row_stride + partition
        labels = <const label_t*>blocks.labels[block]
        if blocks.heads != NULL:
            heads = blocks.heads[block]
            tails = blocks.tails[block]
        for row in range(span[0], span[1]):
            value = blocks.hashes[block][row]
            if heads != NULL:
                head, tail = heads[row], tails[row]
            if blocks.slices != NULL:
                row_slice = blocks.slices[block][row]
            slot = place_group(heads, tails, row, span[1], table_hash_pair(value, row_slice)) & mask
            while table[slot]:
                group = <Py_ssize_t>table[slot] - 1
                if (
                    group_hashes[group] == value and (blocks.slices == NULL or group_slices[group] == row_slice)
                    and (heads == NULL or same_text_slot(group_heads[group], group_tails[group], head, tail))
                ):
                    break
                slot = (slot + 1) & mask
            if table[slot] == 0:
                group = n_groups
                n_groups += 1
                table[slot] = <uint32_t>n_groups
                group_hashes[group] = value
                if heads != NULL:
                    group_heads[group], group_tails[group] = head, tail
                if blocks.slices != NULL:
                    group_slices[group] = row_slice
                class_counts[2 * group] = 0
                class_counts[2 * group + 1] = 0
            group_of_row[i] = <uint32_t>group
            class_counts[2 * group + (labels[row] != zero)] += 1
            i += 1
    return n_groups


cdef inline void find_weight_ranges(
    PartitionBlocks* blocks, const void** weight_blocks, Py_ssize_t partition, const uint32_t* group_of_row,
    Py_ssize_t n_groups, double* min_weights, double* max_weights
) noexcept nogil:
    """The least and the greatest weight of every group's rows. find_groups must have been called before."""
    cdef Py_ssize_t block, row, group
    cdef Py_ssize_t i = 0
    cdef const double* weights
    cdef const int32_t* span
    cdef double weight
    for group in range(n_groups):
        min_weights[group] = INFINITY
        max_weights[group] = 0.0
    for block in range(blocks.n_blocks):
        span = blocks.offsets + block * blocks.row_stride + partition
        weights = <const double*>weight_blocks[block]
        for row in range(span[0], span[1]):
            weight = weights[row]
            group = group_of_row[i]
            min_weights[group] = weight if weight < min_weights[group] else min_weights[group]
            max_weights[group] = weight if weight > max_weights[group] else max_weights[group]
            i += 1
