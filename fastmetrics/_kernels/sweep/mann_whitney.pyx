"""Pair counts of the ROC AUC (the Mann-Whitney U statistic), by score range.

There are two steps, and both stay in cache. `range_partition` scatters the sort keys of a block of rows into buckets
of neighbouring scores. Inside a bucket negatives come before positives, so labels need no memory. A block is so small
that the scatter stays in the second-level cache; main memory is read once and written once, sequentially.
`count_bucket_pairs` then reads one bucket of all blocks and counts its pairs with a table (rank_table.pxd). Pairs of
different buckets are products of counts, which the caller computes with Python's integers.

Bounds: a block has at most 2**31 - 1 rows, a bucket any number. The pairs of a bucket have 128 bits (low, high).
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t

from fastmetrics._kernels.columns.ordered_bits cimport score_t, sort_key
from fastmetrics._kernels.sweep.rank_table cimport (
    CONFLICT_CAPACITY, MAX_CELLS, build_table, count_doubled_wins, n_table_cells, key_t, sort_keys, write_keys_by_class,
)

ctypedef fused column_t:
    double
    uint16_t

cdef enum:
    LAST_CELL = 65535
    MAX_MINORITY_KEYS = 1 << 28   # a table entry has 32 bits

MAX_TABLE_CELLS = MAX_CELLS
MAX_CONFLICTS = CONFLICT_CAPACITY


cdef inline Py_ssize_t count_cuts(const key_t* cuts, Py_ssize_t n, key_t key) noexcept nogil:
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


cdef inline void partition_block(
    const uint8_t* labels, const score_t* scores, Py_ssize_t n, key_t low, int shift, const uint16_t* bucket_of_cell,
    const key_t* cuts, Py_ssize_t n_cuts, const uint16_t* slices, const int32_t* first_cuts, Py_ssize_t n_buckets,
    uint16_t* slots, key_t* keys, int32_t* offsets, int64_t* has_nan
) noexcept nogil:
    cdef Py_ssize_t i, width, bucket_of_key, first
    cdef key_t key, cell
    cdef score_t score
    cdef uint32_t slot
    cdef int32_t total = 0
    cdef int32_t count
    cdef int nan = 0
    for i in range(2 * n_buckets + 1):
        offsets[i] = 0
    for i in range(n):
        score = scores[i]
        nan |= score != score
        key = <key_t>sort_key(score)
        if slices != NULL:
            first = first_cuts[slices[i]]
            bucket_of_key = first + slices[i] + count_cuts(cuts + first, first_cuts[slices[i] + 1] - first, key)
            slot = 2 * <uint32_t>bucket_of_key + labels[i]
        elif n_cuts == 0:
            cell = (key - low) >> shift
            cell = cell if cell < LAST_CELL else LAST_CELL
            cell = cell if key >= low else 0
            slot = 2 * <uint32_t>bucket_of_cell[cell] + labels[i]
        else:
            bucket_of_key = 0
            width = n_cuts
            while width > 1:
                width >>= 1
                bucket_of_key += width if cuts[bucket_of_key + width - 1] <= key else 0
            slot = 2 * <uint32_t>bucket_of_key + labels[i]
        slots[i] = <uint16_t>slot
        offsets[slot] += 1
    has_nan[0] = nan
    # Turn counts into the start of each slot. The scatter advances each start to the end of its slot ...
    for i in range(2 * n_buckets):
        count = offsets[i]
        offsets[i] = total
        total += count
    for i in range(n):
        key = <key_t>sort_key(scores[i])
        slot = slots[i]
        keys[offsets[slot]] = key
        offsets[slot] += 1
    # ... so a shift by one restores the starts; the last offset is the end of all.
    i = 2 * n_buckets
    while i > 0:
        offsets[i] = offsets[i - 1]
        i -= 1
    offsets[0] = 0


def range_partition(
    const uint8_t[::1] labels, const key_t[::1] score_bits, key_t low, int shift, const uint16_t[::1] bucket_of_cell,
    const key_t[::1] cuts, const uint16_t[::1] slices, const int32_t[::1] first_cuts, Py_ssize_t n_buckets,
    uint16_t[::1] slots, key_t[::1] keys, int32_t[::1] offsets, int64_t[::1] has_nan
):
    """Scatter the keys of a block by bucket. score_bits are the bits of its float32 or float64 scores.

    The bucket of a key is found in one of three ways:
    - by cells of equal width: the cell is (key - low) >> shift, clipped to 0..65535, and bucket_of_cell (65536 entries,
      ascending) gives its bucket;
    - by cuts, if `cuts` is not empty: n_buckets ascending keys, a power of two, and the bucket is the number of the
      first n_buckets - 1 cuts that are at most the key;
    - by slice, if `slices` is not empty: slice s has the ascending cuts cuts[first_cuts[s]:first_cuts[s + 1]] and one
      bucket more than cuts.
    slots is scratch for the block. keys receives the block's keys, bucket by bucket, negatives first. offsets
    (2 * n_buckets + 1) receives the start of each class of each bucket. has_nan[0] becomes 1 if a score is NaN.
    """
    cdef const key_t* first_cut = &cuts[0] if cuts.shape[0] else NULL
    cdef const uint16_t* row_slices = &slices[0] if slices.shape[0] else NULL
    cdef const int32_t* firsts = &first_cuts[0] if slices.shape[0] else NULL
    cdef Py_ssize_t i
    if labels.shape[0] == 0:  # no row has an address
        for i in range(offsets.shape[0]):
            offsets[i] = 0
        has_nan[0] = 0
        return
    with nogil:
        if key_t is uint32_t:
            partition_block(
                &labels[0], <const float*>&score_bits[0], labels.shape[0], low, shift, &bucket_of_cell[0], first_cut,
                cuts.shape[0], row_slices, firsts, n_buckets, &slots[0], &keys[0], &offsets[0], &has_nan[0])
        else:
            partition_block(
                &labels[0], <const double*>&score_bits[0], labels.shape[0], low, shift, &bucket_of_cell[0], first_cut,
                cuts.shape[0], row_slices, firsts, n_buckets, &slots[0], &keys[0], &offsets[0], &has_nan[0])


def scatter_column(
    const column_t[::1] column, const uint16_t[::1] slots, int32_t[::1] offsets, column_t[::1] out
):
    """Scatter weights or unit buckets into the order of the keys. slots and offsets are those of range_partition.

    The offsets are changed during the scatter and restored.
    """
    cdef Py_ssize_t i
    with nogil:
        for i in range(column.shape[0]):
            out[offsets[slots[i]]] = column[i]
            offsets[slots[i]] += 1
        i = offsets.shape[0] - 1
        while i > 0:
            offsets[i] = offsets[i - 1]
            i -= 1
        offsets[0] = 0


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
