"""AUC's pair counts, by score range.

Two steps, both in cache. `range_block_*` takes a block of rows and scatters the scores' ordered keys into buckets of
neighbouring scores, negatives before positives inside a bucket (so a label costs no memory). A block is small enough
that the scatter stays in the second-level cache; main memory sees one sequential read and one sequential write.
`bucket_pairs_*` then visits one bucket in all blocks and counts its pairs with a table (see ranktable.pxd). Pairs
between different buckets are products of counts, which the caller forms in Python integers.

Bounds: a block has at most 2**31 - 1 rows, a bucket any number; the pairs of a bucket are kept in 128 bits (low, high).
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t

from fastmetrics._kernels.ordered cimport ordered_f32, ordered_f64
from fastmetrics._kernels.ranktable cimport (
    CONFLICTS, MAX_CELLS, build_table, count_above, count_cells, key_t, sort_keys,
)

ctypedef fused score_t:
    float
    double

cdef enum:
    LAST_CELL = 65535
    FEW_AT_ONCE = 1 << 28   # a table entry has 32 bits

MOST_CELLS = MAX_CELLS
MOST_CONFLICTS = CONFLICTS


cdef inline Py_ssize_t count_cuts(const key_t* cuts, Py_ssize_t n, key_t key) noexcept nogil:
    """How many of the ascending cuts are at most the key. Without branches that the key decides."""
    cdef Py_ssize_t place = 0
    cdef Py_ssize_t half
    if n == 0:
        return 0
    while n > 1:
        half = n >> 1
        place += half if cuts[place + half - 1] <= key else 0
        n -= half
    return place + (cuts[place] <= key)


cdef inline void range_block(
    const uint8_t* labels, const score_t* scores, Py_ssize_t n, key_t low, int shift, const uint16_t* bucket_of_cell,
    const key_t* cuts, Py_ssize_t n_cuts, const uint16_t* slices, const int32_t* first_cuts, Py_ssize_t n_buckets,
    uint16_t* slots, key_t* keys, int32_t* offsets, int64_t* has_nan
) noexcept nogil:
    cdef Py_ssize_t i, step, place, first
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
        if key_t is uint32_t:
            key = ordered_f32(<float>score)
        else:
            key = ordered_f64(<double>score)
        if slices != NULL:
            first = first_cuts[slices[i]]
            place = first + slices[i] + count_cuts(cuts + first, first_cuts[slices[i] + 1] - first, key)
            slot = 2 * <uint32_t>place + labels[i]
        elif n_cuts == 0:
            cell = (key - low) >> shift
            cell = cell if cell < LAST_CELL else LAST_CELL
            cell = cell if key >= low else 0
            slot = 2 * <uint32_t>bucket_of_cell[cell] + labels[i]
        else:
            place = 0
            step = n_cuts
            while step > 1:
                step >>= 1
                place += step if cuts[place + step - 1] <= key else 0
            slot = 2 * <uint32_t>place + labels[i]
        slots[i] = <uint16_t>slot
        offsets[slot] += 1
    has_nan[0] = nan
    # From counts to the places where each slot begins; the scatter then advances them to where each ends ...
    for i in range(2 * n_buckets):
        count = offsets[i]
        offsets[i] = total
        total += count
    for i in range(n):
        if key_t is uint32_t:
            key = ordered_f32(<float>scores[i])
        else:
            key = ordered_f64(<double>scores[i])
        slot = slots[i]
        keys[offsets[slot]] = key
        offsets[slot] += 1
    # ... so shift them by one to have the beginnings again, with the end of all in the last.
    i = 2 * n_buckets
    while i > 0:
        offsets[i] = offsets[i - 1]
        i -= 1
    offsets[0] = 0


# For both: `low` and `shift` make a cell of a key, (key - low) >> shift held to 0..65535; bucket_of_cell (65536,
# ascending) makes a bucket of a cell. Where cells of equal width will not do, `cuts` is not empty: n_buckets ascending
# keys, a power of two of them, and a key's bucket is how many of the first n_buckets - 1 are at most the key. With
# slices (else empty), every slice s has buckets of its own, one more than it has cuts: cuts[first_cuts[s]] up to
# cuts[first_cuts[s + 1]], ascending; low, shift and bucket_of_cell are then not used. slots is scratch for the block;
# keys receives the block's keys bucket by bucket, negatives first; offsets (2 * n_buckets + 1) receives where each
# class of each bucket begins. has_nan[0] becomes 1 when a score is NaN.


def range_block_f32(
    const uint8_t[::1] labels, const float[::1] scores, Py_ssize_t start, Py_ssize_t stop, uint32_t low, int shift,
    const uint16_t[::1] bucket_of_cell, const uint32_t[::1] cuts, const uint16_t[::1] slices,
    const int32_t[::1] first_cuts, Py_ssize_t n_buckets, uint16_t[::1] slots, uint32_t[::1] keys, int32_t[::1] offsets,
    int64_t[::1] has_nan
):
    cdef const uint32_t* first_cut = NULL
    cdef const uint16_t* own_slices = NULL
    cdef const int32_t* firsts = NULL
    if cuts.shape[0]:
        first_cut = &cuts[0]
    if slices.shape[0]:
        own_slices = &slices[0]
        firsts = &first_cuts[0]
    with nogil:
        range_block[float, uint32_t](
            &labels[0], &scores[start], stop - start, low, shift, &bucket_of_cell[0], first_cut, cuts.shape[0],
            own_slices, firsts, n_buckets, &slots[0], &keys[0], &offsets[0], &has_nan[0])


def range_block_f64(
    const uint8_t[::1] labels, const double[::1] scores, Py_ssize_t start, Py_ssize_t stop, uint64_t low, int shift,
    const uint16_t[::1] bucket_of_cell, const uint64_t[::1] cuts, const uint16_t[::1] slices,
    const int32_t[::1] first_cuts, Py_ssize_t n_buckets, uint16_t[::1] slots, uint64_t[::1] keys, int32_t[::1] offsets,
    int64_t[::1] has_nan
):
    cdef const uint64_t* first_cut = NULL
    cdef const uint16_t* own_slices = NULL
    cdef const int32_t* firsts = NULL
    if cuts.shape[0]:
        first_cut = &cuts[0]
    if slices.shape[0]:
        own_slices = &slices[0]
        firsts = &first_cuts[0]
    with nogil:
        range_block[double, uint64_t](
            &labels[0], &scores[start], stop - start, low, shift, &bucket_of_cell[0], first_cut, cuts.shape[0],
            own_slices, firsts, n_buckets, &slots[0], &keys[0], &offsets[0], &has_nan[0])


def scatter_weights(
    const double[::1] weights, const uint16_t[::1] slots, int32_t[::1] offsets, double[::1] out
):
    """Weights into the order that range_block_* gave the keys: slots as it left them, offsets as it wrote them.

    The offsets are used on the way and restored.
    """
    cdef Py_ssize_t i
    cdef Py_ssize_t n_slots = offsets.shape[0] - 1
    with nogil:
        for i in range(weights.shape[0]):
            out[offsets[slots[i]]] = weights[i]
            offsets[slots[i]] += 1
        i = n_slots
        while i > 0:
            offsets[i] = offsets[i - 1]
            i -= 1
        offsets[0] = 0


cdef inline void bucket_pairs(
    const uint64_t* blocks, const int32_t* offsets, Py_ssize_t n_blocks, Py_ssize_t row_stride, Py_ssize_t bucket,
    key_t* few, key_t* scratch, uint32_t* cells, key_t* conflicts, int64_t* counts, uint64_t* pairs
) noexcept nogil:
    cdef Py_ssize_t block, i, side, n_few, n_cells, first, chunk
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
    side = 1 if n_positive <= n_negative else 0
    n_few = 0
    for block in range(n_blocks):
        row = offsets + block * row_stride + 2 * bucket + side
        keys = <const key_t*><uintptr_t>blocks[block]
        for i in range(row[0], row[1]):
            few[n_few] = keys[i]
            n_few += 1
    low = 0
    high = 0
    first = 0
    while first < n_few:
        chunk = n_few - first if n_few - first < FEW_AT_ONCE else FEW_AT_ONCE
        sort_keys(few + first, chunk, scratch)
        n_cells = count_cells(chunk)
        shift = build_table(<const key_t*>few + first, chunk, cells, n_cells)
        for block in range(n_blocks):
            row = offsets + block * row_stride + 2 * bucket + (1 - side)
            start = row[0]
            stop = row[1]
            if start < stop:
                keys = <const key_t*><uintptr_t>blocks[block]
                added = count_above(
                    <const key_t*>few + first, chunk, cells, n_cells, shift, keys + start, stop - start, conflicts)
                low += added
                high += low < added
        first += chunk
    pairs[0] = low
    pairs[1] = high


def bucket_pairs_u32(
    const uint64_t[::1] blocks, const int32_t[:, ::1] offsets, Py_ssize_t start, Py_ssize_t stop, uint32_t[::1] few,
    uint32_t[::1] scratch, uint32_t[::1] cells, uint32_t[::1] conflicts, int64_t[:, ::1] counts, uint64_t[:, ::1] pairs
):
    cdef Py_ssize_t bucket
    with nogil:
        for bucket in range(start, stop):
            bucket_pairs[uint32_t](
                &blocks[0], &offsets[0, 0], blocks.shape[0], offsets.shape[1], bucket, &few[0], &scratch[0], &cells[0],
                &conflicts[0], &counts[bucket, 0], &pairs[bucket, 0])


def bucket_pairs_u64(
    const uint64_t[::1] blocks, const int32_t[:, ::1] offsets, Py_ssize_t start, Py_ssize_t stop, uint64_t[::1] few,
    uint64_t[::1] scratch, uint32_t[::1] cells, uint64_t[::1] conflicts, int64_t[:, ::1] counts, uint64_t[:, ::1] pairs
):
    cdef Py_ssize_t bucket
    with nogil:
        for bucket in range(start, stop):
            bucket_pairs[uint64_t](
                &blocks[0], &offsets[0, 0], blocks.shape[0], offsets.shape[1], bucket, &few[0], &scratch[0], &cells[0],
                &conflicts[0], &counts[bucket, 0], &pairs[bucket, 0])


cdef inline uint64_t whole_pairs(
    const uint8_t* labels, const score_t* scores, Py_ssize_t n, key_t* keys, key_t* scratch, key_t* conflicts,
    uint32_t* cells, int64_t* n_positive, bint* has_nan
) noexcept nogil:
    cdef Py_ssize_t i, n_few, n_cells
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t last = n
    cdef score_t score
    cdef key_t key
    cdef key_t* few
    cdef key_t* many
    cdef int shift
    cdef int nan = 0
    cdef uint64_t above
    # Negatives from the front, positives from the back.
    for i in range(n):
        score = scores[i]
        nan |= score != score
        if key_t is uint32_t:
            key = ordered_f32(<float>score)
        else:
            key = ordered_f64(<double>score)
        if labels[i]:
            last -= 1
            keys[last] = key
        else:
            keys[first] = key
            first += 1
    has_nan[0] = nan != 0
    n_positive[0] = n - first
    if first == 0 or first == n or nan:
        return 0
    few = keys + first if n - first <= first else keys
    many = keys if n - first <= first else keys + first
    n_few = n - first if n - first <= first else first
    sort_keys(few, n_few, scratch)
    n_cells = count_cells(n_few)
    shift = build_table(<const key_t*>few, n_few, cells, n_cells)
    above = count_above(<const key_t*>few, n_few, cells, n_cells, shift, <const key_t*>many, n - n_few, conflicts)
    return above if n - first <= first else 2 * <uint64_t>first * <uint64_t>(n - first) - above


def work_words(Py_ssize_t n):
    """How many 64-bit words of working memory count_pairs needs for n rows."""
    return 2 * n + (n if n < CONFLICTS else CONFLICTS) + count_cells(n // 2 + 1) // 2 + 2


def count_pairs(const uint8_t[::1] labels, const score_t[::1] scores, uint64_t[::1] work):
    """All of a small column at once, without buckets: (positives, twice the pairs won plus ties, was there a NaN?).

    For n at most 2**28 rows, n at least 1; work has work_words(n) words. Meant for what fits in cache.
    """
    cdef Py_ssize_t n = labels.shape[0]
    cdef Py_ssize_t n_conflicts = n if n < CONFLICTS else CONFLICTS
    cdef int64_t n_positive = 0
    cdef bint has_nan = False
    cdef uint64_t wins
    cdef uint64_t* keys = &work[0]
    with nogil:
        if score_t is float:
            wins = whole_pairs[float, uint32_t](
                &labels[0], &scores[0], n, <uint32_t*>keys, <uint32_t*>(keys + n), <uint32_t*>(keys + 2 * n),
                <uint32_t*>(keys + 2 * n + n_conflicts), &n_positive, &has_nan)
        else:
            wins = whole_pairs[double, uint64_t](
                &labels[0], &scores[0], n, keys, keys + n, keys + 2 * n, <uint32_t*>(keys + 2 * n + n_conflicts),
                &n_positive, &has_nan)
    return n_positive, wins, has_nan
