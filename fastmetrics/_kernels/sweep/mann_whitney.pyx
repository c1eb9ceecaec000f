"""Pair counts of the ROC AUC (the Mann-Whitney U statistic), by score range.

There are two steps, and both stay in cache. `range_partition` scatters the sort keys of a block of rows into buckets
of neighboring scores. Inside a bucket negatives come before positives, so labels need no memory. A block is so small
that the scatter stays in the second-level cache; main memory is read once and written once, sequentially.
`count_bucket_pairs` then reads one bucket of all blocks and counts its pairs with a table (rank_table.pxd). Pairs of
different buckets are products of counts, which the caller computes with Python's integers.

Bounds: a block has at most 2**31 - 1 rows, a bucket any number. The pairs of a bucket have 128 bits (low, high).
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t

from libc.stdlib cimport free, malloc

from fastmetrics._kernels.columns.ordered_bits cimport score_t, sort_key
from fastmetrics._kernels.sweep.rank_table cimport (
    CONFLICT_CAPACITY, MAX_CELLS, build_table, count_doubled_wins, n_table_cells, key_t, sort_keys, write_keys_by_class,
)

ctypedef fused column_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

cdef enum:
    LAST_CELL = 65535
    MAX_MINORITY_KEYS = 1 << 28   # a table entry has 32 bits

MAX_TABLE_CELLS = MAX_CELLS
MAX_CONFLICTS = CONFLICT_CAPACITY
N_CELLS = LAST_CELL + 1
MOST_BUCKETS = 1 << 15  # a slot is a class of a bucket, and has 16 bits


cdef struct Search:
    const uint64_t* cuts
    const int32_t* first_cuts
    const uint64_t* padded_cuts  # of a single slice: a power of two less one, the last are the greatest key
    Py_ssize_t width  # this power of two
    Py_ssize_t last_bucket
    const uint16_t* bucket_of_cell  # NULL: by cuts
    uint64_t low
    int shift


cdef class Splitter:
    """Divides the keys of scores into buckets of neighboring ones. The buckets of slices follow each other.

    Slice s has the ascending cuts cuts[first_cuts[s]:first_cuts[s + 1]] and one bucket more than cuts: the bucket of a
    key is the number of these cuts that are at most the key. Without slices, `bucket_of_cell` (65,536 ascending
    numbers, or none) may take the place of cuts. The cell of a key is (key - low) >> shift, clipped to 0..65535.
    """

    cdef readonly object cuts
    cdef readonly Py_ssize_t n_buckets
    cdef object first_cuts
    cdef object bucket_of_cell
    cdef uint64_t* padded_cuts
    cdef Search search

    def __cinit__(
        self, const uint64_t[::1] cuts, const int32_t[::1] first_cuts, const uint16_t[::1] bucket_of_cell,
        uint64_t low, int shift
    ):
        cdef Py_ssize_t n_cuts = cuts.shape[0]
        cdef Py_ssize_t n_slices = first_cuts.shape[0] - 1
        cdef Py_ssize_t i
        if n_slices < 1 or first_cuts[n_slices] != n_cuts or bucket_of_cell.shape[0] not in (0, LAST_CELL + 1):
            raise ValueError("the cuts of slices, or the cells, are not as many as they should be")
        self.n_buckets = n_cuts + n_slices
        self.search.cuts = &cuts[0] if n_cuts else NULL
        self.search.first_cuts = &first_cuts[0]
        self.search.bucket_of_cell = NULL
        if bucket_of_cell.shape[0]:
            self.n_buckets = bucket_of_cell[LAST_CELL] + 1
            self.search.bucket_of_cell = &bucket_of_cell[0]
        if self.n_buckets > MOST_BUCKETS:
            raise OverflowError(f"{self.n_buckets} buckets have no 16-bit numbers")
        self.search.low = low
        self.search.shift = shift
        self.search.last_bucket = self.n_buckets - 1
        self.search.width = 1
        while self.search.width <= n_cuts:
            self.search.width *= 2
        self.padded_cuts = <uint64_t*>malloc(self.search.width * sizeof(uint64_t))
        if self.padded_cuts == NULL:
            raise MemoryError
        for i in range(self.search.width):
            self.padded_cuts[i] = cuts[i] if i < n_cuts else ~<uint64_t>0
        self.search.padded_cuts = self.padded_cuts
        self.cuts = cuts.base
        self.first_cuts = first_cuts.base
        self.bucket_of_cell = bucket_of_cell.base

    def __dealloc__(self):
        free(self.padded_cuts)

    def buckets_by_slice(self) -> list[range]:
        """The buckets of every slice, in ascending order of score; without slices, all buckets."""
        cdef const int32_t* first_cuts = self.search.first_cuts
        cdef Py_ssize_t number
        if self.search.bucket_of_cell != NULL:
            return [range(self.n_buckets)]
        return [
            range(first_cuts[number] + number, first_cuts[number + 1] + number + 1)
            for number in range(self.first_cuts.shape[0] - 1)
        ]


cdef inline Py_ssize_t count_cuts(const uint64_t* cuts, Py_ssize_t n, uint64_t key) noexcept nogil:
    """The number of ascending cuts that are at most the key. There are no branches that depend on the key."""
    cdef Py_ssize_t n_at_most = 0
    cdef Py_ssize_t half
    if n == 0:
        return 0
    while n > 1:
        half = n >> 1
        n_at_most += half if cuts[n_at_most + half - 1] <= key else 0
        n -= half
    return n_at_most + (cuts[n_at_most] <= key)


cdef inline Py_ssize_t find_bucket(Search search, Py_ssize_t slice_number, uint64_t key) noexcept nogil:
    cdef Py_ssize_t first, width
    cdef uint64_t cell
    if search.bucket_of_cell != NULL:
        cell = (key - search.low) >> search.shift
        cell = cell if cell < LAST_CELL else LAST_CELL
        cell = cell if key >= search.low else 0
        return search.bucket_of_cell[cell]
    if slice_number < 0:
        first = 0
        width = search.width
        while width > 1:
            width >>= 1
            first += width if search.padded_cuts[first + width - 1] <= key else 0
        return first if first < search.last_bucket else search.last_bucket
    first = search.first_cuts[slice_number]
    return first + slice_number + count_cuts(search.cuts + first, search.first_cuts[slice_number + 1] - first, key)


cdef inline bint order_block(
    Search search, const uint8_t* labels, const score_t* scores, Py_ssize_t n, const uint16_t* slices,
    Py_ssize_t n_slots, uint16_t* slots, int32_t* offsets
) noexcept nogil:
    """Write the slot of every row, and where each slot begins. Return whether a score is NaN.

    A slot is a bucket, or with labels a class of a bucket.
    """
    cdef Py_ssize_t i
    cdef score_t score
    cdef uint32_t slot
    cdef int32_t total = 0
    cdef int32_t count
    cdef bint has_nan = False
    for i in range(n_slots + 1):
        offsets[i] = 0
    for i in range(n):
        score = scores[i]
        has_nan |= score != score
        slot = <uint32_t>find_bucket(search, slices[i] if slices != NULL else -1, sort_key(score))
        if labels != NULL:
            slot = 2 * slot + labels[i]
        slots[i] = <uint16_t>slot
        offsets[slot] += 1
    for i in range(n_slots):
        count = offsets[i]
        offsets[i] = total
        total += count
    offsets[n_slots] = total
    return has_nan


cdef inline void restore_starts(int32_t* offsets, Py_ssize_t n_slots) noexcept nogil:
    """After a scatter that advanced the start of each slot to its end: a shift by one."""
    cdef Py_ssize_t i = n_slots
    while i > 0:
        offsets[i] = offsets[i - 1]
        i -= 1
    offsets[0] = 0


cdef inline bint partition_block(
    Search search, const uint8_t* labels, const score_t* scores, Py_ssize_t n, const uint16_t* slices,
    Py_ssize_t n_slots, uint16_t* slots, int32_t* offsets, key_t* keys
) noexcept nogil:
    cdef Py_ssize_t i
    cdef bint has_nan = order_block(search, labels, scores, n, slices, n_slots, slots, offsets)
    for i in range(n):
        keys[offsets[slots[i]]] = <key_t>sort_key(scores[i])
        offsets[slots[i]] += 1
    restore_starts(offsets, n_slots)
    return has_nan


def range_partition(
    Splitter splitter not None, const uint8_t[::1] labels, const key_t[::1] score_bits, const uint16_t[::1] slices,
    uint16_t[::1] slots, int32_t[::1] offsets, key_t[::1] keys
) -> bool:
    """Scatter the keys of a block by bucket; return whether a score is NaN. score_bits are the bits of its scores.

    `slices` are those of the rows; none if all rows are of slice 0. slots receives 2 * bucket + label of every row,
    offsets (2 * n_buckets + 1) the start of each class of each bucket. keys receives the block's keys, bucket by
    bucket, negatives first.
    """
    cdef const uint16_t* row_slices = &slices[0] if slices.shape[0] else NULL
    cdef Py_ssize_t n_slots = 2 * splitter.n_buckets
    cdef Search search = splitter.search
    cdef bint has_nan
    if labels.shape[0] == 0:  # no row has an address
        offsets[:] = 0
        return False
    with nogil:
        if key_t is uint32_t:
            has_nan = partition_block(
                search, &labels[0], <const float*>&score_bits[0], labels.shape[0], row_slices, n_slots, &slots[0],
                &offsets[0], &keys[0])
        else:
            has_nan = partition_block(
                search, &labels[0], <const double*>&score_bits[0], labels.shape[0], row_slices, n_slots, &slots[0],
                &offsets[0], &keys[0])
    return has_nan


def order_by_bucket(
    Splitter splitter not None, const score_t[::1] scores, uint16_t[::1] slots, int32_t[::1] offsets
):
    """Write the bucket of every row to slots, and the start of each bucket to offsets (n_buckets + 1)."""
    cdef Search search = splitter.search
    if scores.shape[0] == 0:  # no row has an address
        offsets[:] = 0
        return
    with nogil:
        order_block(
            search, NULL, &scores[0], scores.shape[0], NULL, splitter.n_buckets, &slots[0], &offsets[0])


def scatter_column(
    const column_t[::1] column, const uint16_t[::1] slots, int32_t[::1] offsets, column_t[::1] out
):
    """Scatter a column into the order of the slots. slots and offsets are those of range_partition or order_by_bucket.

    The offsets are changed during the scatter and restored. Columns are passed as unsigned integers of their width.
    """
    cdef Py_ssize_t i
    if offsets.shape[0] == 0:
        return
    with nogil:
        for i in range(column.shape[0]):
            out[offsets[slots[i]]] = column[i]
            offsets[slots[i]] += 1
        restore_starts(&offsets[0], offsets.shape[0] - 1)


cdef inline void count_pairs_of_bucket(
    const uint64_t* blocks, const int32_t* offsets, Py_ssize_t n_blocks, Py_ssize_t row_stride, Py_ssize_t bucket,
    key_t* minority, key_t* scratch, uint32_t* cells, key_t* conflicts, int64_t* counts, uint64_t* pairs
) noexcept nogil:
    cdef Py_ssize_t block, i, minority_class, n_minority, n_cells, first, n_keys
    cdef int64_t n_negative = 0
    cdef int64_t n_positive = 0
    cdef const int32_t* row
    cdef const key_t* keys
    cdef int32_t start, stop
    cdef int shift
    cdef uint64_t added, low, high
    for block in range(n_blocks):
        row = offsets + block * row_stride + 2 * bucket
        n_negative += row[1] - row[0]
        n_positive += row[2] - row[1]
    counts[0] = n_negative
    counts[1] = n_positive
    pairs[0] = 0
    pairs[1] = 0
    if n_negative == 0 or n_positive == 0:
        return
    minority_class = 1 if n_positive <= n_negative else 0
    n_minority = 0
    for block in range(n_blocks):
        row = offsets + block * row_stride + 2 * bucket + minority_class
        keys = <const key_t*><uintptr_t>blocks[block]
        for i in range(row[0], row[1]):
            minority[n_minority] = keys[i]
            n_minority += 1
    low = 0
    high = 0
    first = 0
    while first < n_minority:
        n_keys = n_minority - first if n_minority - first < MAX_MINORITY_KEYS else MAX_MINORITY_KEYS
        sort_keys(minority + first, n_keys, scratch)
        n_cells = n_table_cells(n_keys)
        shift = build_table(<const key_t*>minority + first, n_keys, cells, n_cells)
        for block in range(n_blocks):
            row = offsets + block * row_stride + 2 * bucket + (1 - minority_class)
            start = row[0]
            stop = row[1]
            if start < stop:
                keys = <const key_t*><uintptr_t>blocks[block]
                added = count_doubled_wins(
                    <const key_t*>minority + first, n_keys, cells, n_cells, shift, keys + start, stop - start,
                    conflicts)
                low += added
                high += low < added
        first += n_keys
    pairs[0] = low
    pairs[1] = high


def count_bucket_pairs(
    const uint64_t[::1] blocks, const int32_t[:, ::1] offsets, Py_ssize_t start, Py_ssize_t stop, key_t[::1] minority,
    key_t[::1] scratch, uint32_t[::1] cells, key_t[::1] conflicts, int64_t[:, ::1] counts, uint64_t[:, ::1] pairs
):
    """Count the pairs of buckets start..stop; `blocks` are the addresses of the blocks' keys."""
    cdef Py_ssize_t bucket
    with nogil:
        for bucket in range(start, stop):
            count_pairs_of_bucket(
                &blocks[0], &offsets[0, 0], blocks.shape[0], offsets.shape[1], bucket, &minority[0], &scratch[0],
                &cells[0], &conflicts[0], &counts[bucket, 0], &pairs[bucket, 0])


cdef inline uint64_t count_column_pairs(
    const uint8_t* labels, const score_t* scores, Py_ssize_t n, key_t* keys, key_t* scratch, key_t* conflicts,
    uint32_t* cells, int64_t* n_positive, bint* has_nan
) noexcept nogil:
    cdef Py_ssize_t n_minority, n_cells
    cdef Py_ssize_t first = write_keys_by_class(labels, scores, n, keys, has_nan)
    cdef key_t* minority
    cdef key_t* majority
    cdef int shift
    cdef uint64_t above
    n_positive[0] = n - first
    if first == 0 or first == n or has_nan[0]:
        return 0
    minority = keys + first if n - first <= first else keys
    majority = keys if n - first <= first else keys + first
    n_minority = n - first if n - first <= first else first
    sort_keys(minority, n_minority, scratch)
    n_cells = n_table_cells(n_minority)
    shift = build_table(<const key_t*>minority, n_minority, cells, n_cells)
    above = count_doubled_wins(
        <const key_t*>minority, n_minority, cells, n_cells, shift, <const key_t*>majority, n - n_minority, conflicts)
    return above if n - first <= first else 2 * <uint64_t>first * <uint64_t>(n - first) - above


def n_scratch_words(Py_ssize_t n) -> int:
    """The number of 64-bit words of scratch that count_pairs needs for n rows."""
    return 2 * n + (n if n < CONFLICT_CAPACITY else CONFLICT_CAPACITY) + n_table_cells(n // 2 + 1) // 2 + 2


def count_pairs(const uint8_t[::1] labels, const score_t[::1] scores, uint64_t[::1] scratch) -> tuple[int, int, bool]:
    """Count the pairs of a small column without buckets: (positives, twice the pairs won plus ties, has NaN).

    There are 1 to 2**28 rows, and scratch has n_scratch_words(n) words. It is fast for columns that fit the cache.
    """
    cdef Py_ssize_t n = labels.shape[0]
    cdef Py_ssize_t n_conflicts = n if n < CONFLICT_CAPACITY else CONFLICT_CAPACITY
    cdef int64_t n_positive = 0
    cdef bint has_nan = False
    cdef uint64_t wins
    cdef uint64_t* keys = &scratch[0]
    with nogil:
        if score_t is float:
            wins = count_column_pairs[float, uint32_t](
                &labels[0], &scores[0], n, <uint32_t*>keys, <uint32_t*>(keys + n), <uint32_t*>(keys + 2 * n),
                <uint32_t*>(keys + 2 * n + n_conflicts), &n_positive, &has_nan)
        else:
            wins = count_column_pairs[double, uint64_t](
                &labels[0], &scores[0], n, keys, keys + n, keys + 2 * n, <uint32_t*>(keys + 2 * n + n_conflicts),
                &n_positive, &has_nan)
    return n_positive, wins, has_nan
