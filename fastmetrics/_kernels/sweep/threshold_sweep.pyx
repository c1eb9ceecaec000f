"""The threshold sweep of a score range, with one point for every distinct score of the pivot class.

A curve over all thresholds (ROC, precision and recall, error rates) changes at every distinct score. Between two
scores of one class, the "pivot" class, only the counts of the other class change. ROC AUC, average precision,
Kolmogorov-Smirnov and the equal error rate need only the number of rows in such a gap. So only the keys of the pivot
class are sorted. For every distinct pivot, the rows of the other class that tie with it are counted, and the rows
between it and the next higher pivot.

`sweep_buckets` sweeps several consecutive buckets (mann_whitney.pyx scatters rows into buckets). A row of the other
class finds its slot by a look-up in a table of cells over the pivots' range, as in rank_table.pxd. An entry is
(slot << 1) | flag. Slot 2 d lies between pivots d - 1 and d (ascending); slot 2 d + 1 is a tie with pivot d. The flag
is set if the cell itself contains pivots. Keys in such cells are conflicts, rare by construction, and are resolved by
binary search. If cells are single key values, ties are in the table as well.

The runs descend in score (runs.pyx). Run 2 k + 1 is point k: the rows of a pivot's score. Run 2 k has the rows of the
other class above it and below point k - 1, the last run those below all points.

Bounds: a bucket has fewer than 2**29 pivots. Consecutive buckets that are swept together have fewer than 2**31 rows of
each class. Slots are 32-bit numbers, counts 64-bit numbers.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uintptr_t

from fastmetrics._kernels.sweep.rank_table cimport (
    CONFLICT_CAPACITY, first_not_below, key_t, n_table_cells, sort_keys,
)

MAX_PIVOTS = 1 << 29
MAX_ROWS = 1 << 31


cdef inline int fill_pivot_table(
    const key_t* pivots, Py_ssize_t n_pivots, uint32_t* cells, Py_ssize_t n_cells
) noexcept nogil:
    """Fill `cells` (n_cells + 2 entries) for distinct ascending pivots; return the shift from key to cell."""
    cdef key_t low = pivots[0]
    cdef key_t span = pivots[n_pivots - 1] - low
    cdef int shift = 0
    cdef Py_ssize_t i, cell
    cdef uint32_t here
    cdef uint32_t below = 0
    while (span >> shift) >= <key_t>n_cells:
        shift += 1
    for i in range(n_cells + 2):
        cells[i] = 0
    for i in range(n_pivots):
        cells[1 + <Py_ssize_t>((pivots[i] - low) >> shift)] += 1
    for cell in range(n_cells + 2):
        here = cells[cell]
        if shift == 0:
            cells[cell] = (2 * below + here) << 1
        else:
            cells[cell] = (below << 2) | (here != 0)
        below += here
    return shift


cdef inline void recount_conflicts(
    const key_t* pivots, const uint32_t* cells, int shift, const key_t* conflicts, Py_ssize_t n, uint32_t* slots
) noexcept nogil:
    """Move the counts of keys that share a cell with pivots from the cell's slot to their own slots."""
    cdef Py_ssize_t i, cell, pivot_index, end
    cdef key_t key
    cdef key_t low = pivots[0]
    for i in range(n):
        key = conflicts[i]
        cell = 1 + <Py_ssize_t>((key - low) >> shift)
        pivot_index = <Py_ssize_t>(cells[cell] >> 2)
        slots[2 * pivot_index] -= 1
        end = <Py_ssize_t>(cells[cell + 1] >> 2)
        pivot_index = first_not_below[key_t](pivots, pivot_index, end, key)
        slots[2 * pivot_index + (pivot_index < end and pivots[pivot_index] == key)] += 1


cdef inline void count_slots(
    const key_t* pivots, Py_ssize_t n_pivots, const uint32_t* cells, Py_ssize_t n_cells, int shift, const key_t* keys,
    Py_ssize_t n, key_t* conflicts, uint32_t* slots
) noexcept nogil:
    """slots[slot of the key] += 1 for every key."""
    cdef key_t low = pivots[0]
    cdef key_t high = pivots[n_pivots - 1]
    cdef key_t key
    cdef Py_ssize_t i, stop, cell
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t n_conflicts
    cdef uint32_t entry
    while start < n:
        stop = start + CONFLICT_CAPACITY if n - start > CONFLICT_CAPACITY else n
        n_conflicts = 0
        for i in range(start, stop):
            key = keys[i]
            cell = 1 + <Py_ssize_t>((key - low) >> shift)
            cell = cell if key >= low else 0
            cell = cell if key <= high else n_cells + 1
            entry = cells[cell]
            slots[entry >> 1] += 1
            conflicts[n_conflicts] = key
            n_conflicts += entry & 1
        if n_conflicts:
            recount_conflicts(pivots, cells, shift, conflicts, n_conflicts, slots)
        start = stop


cdef inline Py_ssize_t gather(
    const uint64_t* blocks, const int32_t* offsets, Py_ssize_t n_blocks, Py_ssize_t row_stride, Py_ssize_t slot,
    key_t* out
) noexcept nogil:
    """Copy the keys of one class of one bucket from all blocks; return their number."""
    cdef Py_ssize_t block, i
    cdef Py_ssize_t n = 0
    cdef const int32_t* row
    cdef const key_t* keys
    for block in range(n_blocks):
        row = offsets + block * row_stride + slot
        keys = <const key_t*><uintptr_t>blocks[block]
        for i in range(row[0], row[1]):
            out[n] = keys[i]
            n += 1
    return n


def gather_class(
    const uint64_t[::1] blocks, const int32_t[:, ::1] offsets, Py_ssize_t slot, key_t[::1] out
):
    """Copy the keys of slot 2 bucket + label from all blocks. out must be large enough."""
    if out.shape[0] == 0:
        return
    with nogil:
        gather[key_t](&blocks[0], &offsets[0, 0], blocks.shape[0], offsets.shape[1], slot, &out[0])


def lowest_key(
    const uint64_t[::1] blocks, const int32_t[:, ::1] offsets, Py_ssize_t start, Py_ssize_t stop, key_t[::1] lowest
):
    """lowest[0] = the least key of buckets start..stop. At least one of them has rows."""
    cdef Py_ssize_t block, i, bucket
    cdef const int32_t* row
    cdef const key_t* keys
    cdef key_t least = ~<key_t>0
    cdef bint found = False
    with nogil:
        for bucket in range(start, stop):
            for block in range(blocks.shape[0]):
                row = &offsets[block, 2 * bucket]
                keys = <const key_t*><uintptr_t>blocks[block]
                found |= row[2] > row[0]
                for i in range(row[0], row[2]):
                    least = keys[i] if keys[i] < least else least
            if found:
                break
    lowest[0] = least


cdef Py_ssize_t sweep_range(
    const uint64_t* blocks, const int32_t* offsets, Py_ssize_t n_blocks, Py_ssize_t row_stride, Py_ssize_t start,
    Py_ssize_t stop, Py_ssize_t pivot_class, key_t* pivots, key_t* scratch, uint32_t* cells, key_t* conflicts,
    uint32_t* slots, key_t* keys, int64_t* pivot_masses, int64_t* other_masses
) noexcept nogil:
    cdef Py_ssize_t bucket, block, i, n_pivots, n_distinct, n_cells, n_others
    cdef Py_ssize_t n_points = 0
    cdef Py_ssize_t run
    cdef int64_t pending = 0
    cdef const int32_t* row
    cdef int shift
    bucket = stop
    while bucket > start:
        bucket -= 1
        n_pivots = gather(blocks, offsets, n_blocks, row_stride, 2 * bucket + pivot_class, pivots)
        n_others = 0
        for block in range(n_blocks):
            row = offsets + block * row_stride + 2 * bucket + 1 - pivot_class
            n_others += row[1] - row[0]
        if n_pivots == 0:
            pending += n_others
            continue
        sort_keys(pivots, n_pivots, scratch)
        # Distinct pivots, ascending, and their numbers of rows in the scratch of the sort.
        n_distinct = 0
        i = 0
        while i < n_pivots:
            block = i
            while i < n_pivots and pivots[i] == pivots[block]:
                i += 1
            pivots[n_distinct] = pivots[block]
            scratch[n_distinct] = <key_t>(i - block)
            n_distinct += 1
        for i in range(2 * n_distinct + 1):
            slots[i] = 0
        if n_others:
            n_cells = n_table_cells(n_distinct)
            shift = fill_pivot_table(<const key_t*>pivots, n_distinct, cells, n_cells)
            for block in range(n_blocks):
                row = offsets + block * row_stride + 2 * bucket + 1 - pivot_class
                if row[1] > row[0]:
                    count_slots(
                        <const key_t*>pivots, n_distinct, cells, n_cells, shift,
                        <const key_t*><uintptr_t>blocks[block] + row[0], row[1] - row[0], conflicts, slots)
        # The pivots ascend, the runs descend.
        run = 2 * n_points
        for i in range(n_distinct - 1, -1, -1):
            keys[n_points] = pivots[i]
            pivot_masses[run], other_masses[run] = 0, slots[2 * i + 2] + pending
            pivot_masses[run + 1], other_masses[run + 1] = scratch[i], slots[2 * i + 1]
            pending = 0
            n_points += 1
            run += 2
        pending = slots[0]
    pivot_masses[2 * n_points], other_masses[2 * n_points] = 0, pending
    return n_points


def sweep_buckets(
    const uint64_t[::1] blocks, const int32_t[:, ::1] offsets, Py_ssize_t start, Py_ssize_t stop,
    Py_ssize_t pivot_class, key_t[:, ::1] pivots, uint32_t[::1] cells, key_t[::1] conflicts, uint32_t[::1] slots,
    key_t[::1] keys, int64_t[:, ::1] masses
) -> int:
    """Sweep buckets start..stop, with points at the distinct scores of `pivot_class`; return the number of points.

    The two rows of pivots are memory for every pivot of the largest bucket, slots have twice as many elements and one.
    keys have an element for every pivot of all buckets, masses[class] twice as many and one. cells and conflicts are
    those of mann_whitney.pyx.
    """
    cdef Py_ssize_t n_points
    with nogil:
        n_points = sweep_range(
            &blocks[0], &offsets[0, 0], blocks.shape[0], offsets.shape[1], start, stop, pivot_class,
            &pivots[0, 0], &pivots[1, 0], &cells[0], &conflicts[0], &slots[0], &keys[0], &masses[pivot_class, 0],
            &masses[1 - pivot_class, 0])
    return n_points


def build_pivot_table(const key_t[::1] pivots, uint32_t[::1] cells) -> int:
    """Fill the table of distinct ascending pivots for count_between_pivots; return the shift from key to cell.

    cells has pivot_table_cells(n_pivots) + 2 entries.
    """
    cdef Py_ssize_t n_cells = cells.shape[0] - 2
    cdef int shift
    with nogil:
        shift = fill_pivot_table(&pivots[0], pivots.shape[0], &cells[0], n_cells)
    return shift


def pivot_table_cells(Py_ssize_t n_pivots) -> int:
    """The number of cells of a table of n_pivots pivots."""
    return n_table_cells(n_pivots)


def count_between_pivots(
    const key_t[::1] pivots, const uint32_t[::1] cells, int shift, const key_t[::1] keys, key_t[::1] conflicts,
    uint32_t[::1] slots
):
    """Count keys in the slots between and at pivots: slot 2 d lies between pivots d - 1 and d, slot 2 d + 1 is pivot d.

    pivots are distinct and ascending. cells and shift are those of build_pivot_table. conflicts is scratch of
    CONFLICT_CAPACITY elements, slots has 2 * n_pivots + 1. All calls together count fewer than 2**32 keys.
    """
    if keys.shape[0] == 0:
        return
    with nogil:
        count_slots(
            &pivots[0], pivots.shape[0], &cells[0], cells.shape[0] - 2, shift, &keys[0], keys.shape[0], &conflicts[0],
            &slots[0])
