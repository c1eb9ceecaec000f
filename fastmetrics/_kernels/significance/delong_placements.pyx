"""Placements for DeLong's test: twice the rows of the other class that a row beats, plus those that it ties with.

A positive's placement counts negatives with smaller scores, a negative's placement counts positives with greater
scores. Both are integers, at most twice the size of the other class. DeLong's variance needs sums of placements and of
their squares. For two models it needs sums of differences and of their squares, so the two placements of a row must be
brought together.

`bucket_placements` reads the buckets that range_partition of mann_whitney.pyx made. The minority class of a bucket
is sorted, and its distinct keys get a table of cells over their range. The entry of a cell is the index of the first
key that is not below the cell. From there a key needs a few moves, or a binary search in a crowded cell, to find its
slot: 2 d lies between keys d - 1 and d, 2 d + 1 is key d. A row of the majority class reads its placement from its slot
and adds 1 to the slot's count. Sums of these counts are the placements of the minority class. A placement is written at
the position of its key.

`placements_in_order` restores the order of a block's rows. It reads the slots of range_partition again: the k-th row
of a slot has the k-th position after the slot's offset. No row numbers are stored.

`encode_scores` is a faster path for columns with few distinct scores. They are encoded by a hash table that stays in
cache, and counted by class. The caller sorts them and computes a table of placements; `look_up_placements` reads it.

Bounds: fewer than 2**31 rows in all, so a placement has 32 bits, a square 64, and a sum of squares 128.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from fastmetrics._kernels.columns.column_blocks cimport ColumnBlocks
from fastmetrics._kernels.columns.ordered_bits cimport score_t, sort_key
from fastmetrics._kernels.numeric.length_checks cimport need_below, need_length
from fastmetrics._kernels.numeric.table_hash cimport table_hash, use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS
from fastmetrics._kernels.sweep.rank_table cimport first_not_below, key_t, sort_keys

use_table_seeds(_SEEDS)

cdef extern from "numeric/uint128_sums.h":
    void add_product_u128 "fm_add_product_u128"(uint64_t* sum, uint64_t a, uint64_t b) noexcept nogil

cdef extern from "significance/placement_loops.h":
    int find_slots_u32 "fm_find_slots_u32"(
        const uint32_t* keys, Py_ssize_t n, const uint32_t* minority, const uint32_t* cells,
        uint32_t* found_slots) noexcept nogil
    int find_slots_u64 "fm_find_slots_u64"(
        const uint64_t* keys, Py_ssize_t n, const uint64_t* minority, const uint32_t* cells,
        uint32_t* found_slots) noexcept nogil
    void find_cells_u32 "fm_find_cells_u32"(
        const uint32_t* keys, Py_ssize_t n, uint32_t low, uint32_t high, int shift, uint32_t above,
        uint32_t* found_slots) noexcept nogil
    void find_cells_u64 "fm_find_cells_u64"(
        const uint64_t* keys, Py_ssize_t n, uint64_t low, uint64_t high, int shift, uint32_t above,
        uint32_t* found_slots) noexcept nogil
    void sum_placement_rows "fm_sum_placements"(
        const uint8_t* labels, const uint32_t* first_model, const uint32_t* second_model, Py_ssize_t n,
        uint64_t* sums) noexcept nogil

cdef extern from *:
    """
    #include <string.h>
    #include <stdint.h>
    static inline float fm_score_f32(uint32_t key) {
        float score;
        key ^= (uint32_t)((int32_t)(~key) >> 31) | UINT32_C(0x80000000);
        memcpy(&score, &key, 4);
        return score;
    }
    static inline double fm_score_f64(uint64_t key) {
        double score;
        key ^= (uint64_t)((int64_t)(~key) >> 63) | UINT64_C(0x8000000000000000);
        memcpy(&score, &key, 8);
        return score;
    }
    """
    float score_f32 "fm_score_f32"(uint32_t key) noexcept nogil
    double score_f64 "fm_score_f64"(uint64_t key) noexcept nogil

cdef double GREATEST_SCALE = 1e300

cdef enum:
    CELLS_PER_KEY = 4
    MIN_CELLS = 64
    MAX_CELLS = 65536
    BATCH = 256         # keys whose slots are found before the first slot is used
    MAX_MOVES = 16     # a fuller cell is crowded: try other cells; a key that moves further makes its cell be sorted

    SCORE_BITS = 16
    SCORE_LIMIT = 16384  # a quarter of the hash table

TABLE_ENTRIES = MAX_CELLS + 3  # entries of a table
MAX_DISTINCT_SCORES = SCORE_LIMIT
HASH_WORDS = 2 << SCORE_BITS


cdef inline Py_ssize_t n_cells_for(Py_ssize_t n_minority) noexcept nogil:
    """The number of cells: a few for every key, at most as many as fit the second-level cache."""
    cdef Py_ssize_t n_cells = MIN_CELLS
    while n_cells < CELLS_PER_KEY * n_minority and n_cells < MAX_CELLS:
        n_cells *= 2
    return n_cells


# How keys map to cells of equal width. By the key itself: (key - low) >> shift. If too many keys share a cell, as they
# do around zero, by the score: (score - lowest) * scale; otherwise scale is 0. Both are monotonic in the key.
ctypedef struct CellMapping:
    uint64_t low
    uint64_t high
    Py_ssize_t n_cells
    int shift
    double lowest
    double scale


cdef inline Py_ssize_t cell_of(key_t key, const CellMapping* mapping) noexcept nogil:
    """The cell of a key from low to high."""
    if mapping.scale == 0:
        return <Py_ssize_t>((key - <key_t>mapping.low) >> mapping.shift)
    if key_t is uint32_t:
        return <Py_ssize_t>((<double>score_f32(key) - mapping.lowest) * mapping.scale)
    else:
        return <Py_ssize_t>((score_f64(key) - mapping.lowest) * mapping.scale)


cdef inline uint32_t count_cells(
    const key_t* keys, Py_ssize_t n, const CellMapping* mapping, uint32_t* counts
) noexcept nogil:
    """Count the keys of every cell; return the greatest count."""
    cdef Py_ssize_t i
    cdef uint32_t max_count = 0
    memset(counts, 0, (mapping.n_cells + 1) * sizeof(uint32_t))
    for i in range(n):
        counts[cell_of[key_t](keys[i], mapping)] += 1
    for i in range(mapping.n_cells):
        max_count = counts[i] if counts[i] > max_count else max_count
    return max_count


cdef inline void sort_by_cells(
    const key_t* keys, Py_ssize_t n, key_t* out, key_t* scratch, uint32_t* cells, CellMapping* mapping
) noexcept nogil:
    """Write the keys ascending to out, choose their mapping to cells, and fill the table of n_cells + 3 entries.

    cells[1 + c] is the number of keys in cells before c. cells[0] is for keys below all others, cells[n_cells + 1] for
    keys above. One pass scatters keys into cells, a second pass compares neighbors. Crowded cells are sorted by
    radix sort. scratch has n elements and may be `keys`.
    """
    cdef key_t low = keys[0]
    cdef key_t high = keys[0]
    cdef key_t key
    # During the scatter begins[c] advances from the start of cell c to its end, which is the start of the next cell.
    cdef uint32_t* begins = cells + 2
    cdef Py_ssize_t i, j, cell, start
    cdef uint32_t max_count, here
    cdef uint32_t below = 0
    cdef double highest
    for i in range(n):
        low = keys[i] if keys[i] < low else low
        high = keys[i] if keys[i] > high else high
    mapping.low = low
    mapping.high = high
    mapping.n_cells = n_cells_for(n)
    mapping.shift = 0
    mapping.lowest = 0
    mapping.scale = 0
    while ((high - low) >> mapping.shift) >= <key_t>mapping.n_cells:
        mapping.shift += 1
    cells[0] = 0
    cells[1] = 0
    max_count = count_cells[key_t](keys, n, mapping, begins)
    if max_count > MAX_MOVES and mapping.shift:
        if key_t is uint32_t:
            mapping.lowest = score_f32(low)
            highest = score_f32(high)
        else:
            mapping.lowest = score_f64(low)
            highest = score_f64(high)
        mapping.scale = (mapping.n_cells - 1) / (highest - mapping.lowest)
        # Not with infinities, or if the scores are too close or too far apart for the quotient.
        if not (mapping.scale > 0 and mapping.scale < GREATEST_SCALE and highest - mapping.lowest < GREATEST_SCALE):
            mapping.scale = 0
        elif 2 * count_cells[key_t](keys, n, mapping, begins) > max_count:
            mapping.scale = 0  # the cells are full of ties, which no mapping separates
        if mapping.scale == 0:
            count_cells[key_t](keys, n, mapping, begins)
    for cell in range(mapping.n_cells):
        here = begins[cell]
        begins[cell] = below
        below += here
    begins[mapping.n_cells] = below
    for i in range(n):
        key = keys[i]
        cell = cell_of[key_t](key, mapping)
        out[begins[cell]] = key
        begins[cell] += 1
    if mapping.shift == 0:
        return
    i = 1
    while i < n:
        key = out[i]
        j = i - 1
        while j >= 0 and out[j] > key and i - j <= MAX_MOVES:
            out[j + 1] = out[j]
            j -= 1
        out[j + 1] = key
        if i - j > MAX_MOVES:
            cell = cell_of[key_t](key, mapping)
            start = begins[cell - 1] if cell else 0
            sort_keys(out + start, begins[cell] - start, scratch)
            i = begins[cell] - 1
        i += 1


cdef inline void fill_cell_table(
    const key_t* minority, Py_ssize_t n_minority, uint32_t* cells, const CellMapping* mapping
) noexcept nogil:
    """Fill the table of cells for distinct keys."""
    cdef Py_ssize_t i, cell
    cdef uint32_t here
    cdef uint32_t below = 0
    memset(cells, 0, (mapping.n_cells + 3) * sizeof(uint32_t))
    for i in range(n_minority):
        cells[1 + cell_of[key_t](minority[i], mapping)] += 1
    for cell in range(mapping.n_cells + 3):
        here = cells[cell]
        cells[cell] = below
        below += here


cdef inline void find_slots(
    const key_t* keys, Py_ssize_t n, const key_t* minority, const uint32_t* cells, const CellMapping* mapping,
    uint32_t* found_slots
) noexcept nogil:
    """The slots of up to BATCH keys. The minority keys are followed by a key that is greater than all."""
    cdef key_t low = <key_t>mapping.low
    cdef key_t high = <key_t>mapping.high
    cdef uint32_t above = <uint32_t>(mapping.n_cells + 1)
    cdef Py_ssize_t i, cell, index
    cdef key_t key, inside
    cdef bint any_unresolved
    if mapping.scale != 0:
        for i in range(n):
            key = keys[i]
            inside = key if key >= low else low
            inside = inside if inside <= high else high
            cell = 1 + cell_of[key_t](inside, mapping)
            cell = cell if key >= low else 0
            found_slots[i] = <uint32_t>cell if key <= high else above
    elif key_t is uint32_t:
        find_cells_u32(keys, n, low, high, mapping.shift, above, found_slots)
    else:
        find_cells_u64(keys, n, low, high, mapping.shift, above, found_slots)
    if key_t is uint32_t:
        any_unresolved = find_slots_u32(keys, n, minority, cells, found_slots)
    else:
        any_unresolved = find_slots_u64(keys, n, minority, cells, found_slots)
    if any_unresolved:
        for i in range(n):
            key = keys[i]
            index = found_slots[i] >> 1
            if minority[index] < key:
                # No search has passed the end of its cell: the next key is greater than this one.
                index = first_not_below[key_t](minority, index, cells[2 + cell_of[key_t](key, mapping)], key)
                found_slots[i] = <uint32_t>(2 * index + (minority[index] == key))


cdef void place_bucket(
    const key_t** blocks, uint32_t** placements, const int32_t* offsets, Py_ssize_t n_blocks, Py_ssize_t row_stride,
    Py_ssize_t bucket, int64_t negatives_below, int64_t positives_above, key_t* minority, key_t* scratch,
    uint32_t* cells, uint32_t* slots
) noexcept nogil:
    cdef Py_ssize_t block, i, minority_class, n_minority, n_distinct, first, n
    cdef uint32_t found_slots[BATCH]
    cdef Py_ssize_t counts[2]
    cdef const int32_t* row
    cdef const key_t* keys
    cdef uint32_t* out
    cdef uint32_t base[2]
    cdef uint32_t slot, before, n_tied
    cdef CellMapping mapping
    counts[0] = 0
    counts[1] = 0
    for block in range(n_blocks):
        row = offsets + block * row_stride + 2 * bucket
        counts[0] += row[1] - row[0]
        counts[1] += row[2] - row[1]
    # The part of the placements that comes from other buckets, for each class.
    base[0] = <uint32_t>(2 * positives_above)
    base[1] = <uint32_t>(2 * negatives_below)
    minority_class = 1 if counts[1] <= counts[0] else 0
    if counts[minority_class] == 0:
        for block in range(n_blocks):
            row = offsets + block * row_stride + 2 * bucket + 1 - minority_class
            out = placements[block]
            for i in range(row[0], row[1]):
                out[i] = base[1 - minority_class]
        return
    n_minority = 0
    for block in range(n_blocks):
        row = offsets + block * row_stride + 2 * bucket + minority_class
        keys = blocks[block]
        for i in range(row[0], row[1]):
            scratch[n_minority] = keys[i]
            n_minority += 1
    sort_by_cells[key_t](scratch, n_minority, minority, scratch, cells, &mapping)
    # slots[2 s] counts the rows of the other class at slot s; slots[2 s + 1] is their placement.
    n_distinct = 0
    i = 0
    while i < n_minority:
        first = i
        while i < n_minority and minority[i] == minority[first]:
            i += 1
        minority[n_distinct] = minority[first]
        # Minority keys above if the other class are the negatives, below if they are the positives.
        before = <uint32_t>(2 * (n_minority - first) if minority_class else 2 * first)
        slots[4 * n_distinct] = 0
        slots[4 * n_distinct + 1] = base[1 - minority_class] + before
        slots[4 * n_distinct + 2] = 0
        n_tied = <uint32_t>(i - first)
        slots[4 * n_distinct + 3] = base[1 - minority_class] + (before - n_tied if minority_class else before + n_tied)
        n_distinct += 1
    slots[4 * n_distinct] = 0
    slots[4 * n_distinct + 1] = base[1 - minority_class] + <uint32_t>(0 if minority_class else 2 * n_minority)
    minority[n_distinct] = ~<key_t>0
    if n_distinct < n_minority:
        fill_cell_table[key_t](minority, n_distinct, cells, &mapping)
    for block in range(n_blocks):
        row = offsets + block * row_stride + 2 * bucket + 1 - minority_class
        keys = blocks[block]
        out = placements[block]
        first = row[0]
        while first < row[1]:
            n = row[1] - first if row[1] - first < BATCH else BATCH
            find_slots[key_t](keys + first, n, minority, cells, &mapping, found_slots)
            for i in range(n):
                slot = found_slots[i]
                slots[2 * slot] += 1
                out[first + i] = slots[2 * slot + 1]
            first += n
    # Placements of the minority: twice the others below (positives) or above (negatives), plus the ties.
    before = 0
    if minority_class:
        for i in range(n_distinct):
            before += slots[4 * i]
            n_tied = slots[4 * i + 2]
            slots[4 * i + 3] = base[1] + 2 * before + n_tied
            before += n_tied
    else:
        for i in range(n_distinct - 1, -1, -1):
            before += slots[4 * i + 4]
            n_tied = slots[4 * i + 2]
            slots[4 * i + 3] = base[0] + 2 * before + n_tied
            before += n_tied
    for block in range(n_blocks):
        row = offsets + block * row_stride + 2 * bucket + minority_class
        keys = blocks[block]
        out = placements[block]
        first = row[0]
        while first < row[1]:
            n = row[1] - first if row[1] - first < BATCH else BATCH
            find_slots[key_t](keys + first, n, minority, cells, &mapping, found_slots)
            for i in range(n):
                out[first + i] = slots[2 * found_slots[i] + 1]
            first += n


cdef bint count_classes(
    const int32_t[:, ::1] offsets, Py_ssize_t bucket, const Py_ssize_t* lengths, Py_ssize_t* counts
) noexcept nogil:
    """Count the rows of both classes of a bucket; returns False if a block has less rows than its offsets."""
    cdef Py_ssize_t block, label
    cdef Py_ssize_t first = 2 * bucket
    counts[0] = counts[1] = 0
    for block in range(offsets.shape[0]):
        if not 0 <= offsets[block, first] <= offsets[block, first + 1] <= offsets[block, first + 2] <= lengths[block]:
            return False
        for label in range(2):
            counts[label] += offsets[block, first + label + 1] - offsets[block, first + label]
    return True


def bucket_placements(
    ColumnBlocks blocks not None, ColumnBlocks placements not None, const int32_t[:, ::1] offsets, Py_ssize_t bucket,
    int64_t negatives_below, int64_t positives_above, key_t[::1] minority, key_t[::1] scratch, uint32_t[::1] cells,
    uint32_t[::1] slots
):
    """Write the placements of a bucket's rows, each at the position of its key.

    blocks and placements have each block's keys and its uint32 placements, which are writable. minority and scratch
    have one element more than the minority class of the largest bucket, slots four times as many and two more, cells
    TABLE_ENTRIES.
    """
    cdef Py_ssize_t counts[2]
    cdef Py_ssize_t n_minority
    blocks.check(b"blocks", offsets.shape[0], sizeof(key_t))
    placements.check(b"placements", offsets.shape[0], sizeof(uint32_t))
    if not placements.are_writable:
        raise ValueError("placements cannot be written")
    if not 0 <= bucket or 2 * bucket + 2 >= offsets.shape[1]:
        raise ValueError(f"bucket {bucket} has no offsets")
    if not (count_classes(offsets, bucket, placements.lengths, counts)
            and count_classes(offsets, bucket, blocks.lengths, counts)):
        raise ValueError(f"a block has less rows than the offsets of bucket {bucket}")
    n_minority = min(counts[0], counts[1])
    need_length(b"minority and scratch", min(minority.shape[0], scratch.shape[0]), n_minority + 1)
    need_length(b"slots", slots.shape[0], 4 * n_minority + 2)
    need_length(b"cells", cells.shape[0], MAX_CELLS + 3)
    with nogil:
        place_bucket[key_t](
            <const key_t**>blocks.starts, <uint32_t**>placements.starts, &offsets[0, 0], offsets.shape[0],
            offsets.shape[1], bucket, negatives_below, positives_above, &minority[0], &scratch[0], &cells[0],
            &slots[0])


def placements_in_order(
    const uint16_t[::1] row_slots, int32_t[::1] offsets, const uint32_t[::1] placements, uint32_t[::1] out
):
    """Write a block's placements in the order of its rows. row_slots and offsets are those of range_partition.

    The offsets are overwritten: each becomes the next one.
    """
    cdef Py_ssize_t i
    cdef uint16_t slot
    cdef int32_t position
    cdef bint fits = True
    need_length(b"out", out.shape[0], row_slots.shape[0])
    if row_slots.shape[0]:
        need_below(b"row_slots", &row_slots[0], row_slots.shape[0], offsets.shape[0])
    with nogil:
        for i in range(row_slots.shape[0]):
            slot = row_slots[i]
            position = offsets[slot]
            if not 0 <= position < placements.shape[0]:
                fits = False
                break
            offsets[slot] = position + 1
            out[i] = placements[position]
    if not fits:
        raise ValueError("offsets lead beyond the placements")


cdef inline Py_ssize_t encode_distinct_scores(
    const uint8_t* labels, const score_t* scores, Py_ssize_t n, uint64_t* table, uint64_t* distinct_keys,
    int32_t* counts,
    uint16_t* codes, int64_t* has_nan
) noexcept nogil:
    cdef uint64_t free = ~<uint64_t>0  # only a NaN has this key
    cdef uint64_t key
    cdef Py_ssize_t i, table_index
    cdef Py_ssize_t n_distinct_keys = 0
    cdef uint16_t code
    cdef int nan = 0
    for i in range(1 << SCORE_BITS):
        table[2 * i] = free
        table[2 * i + 1] = 0
    for i in range(n):
        nan |= scores[i] != scores[i]
        key = sort_key(scores[i])
        table_index = <Py_ssize_t>(table_hash(key) >> (64 - SCORE_BITS))
        while table[2 * table_index] != key:
            if table[2 * table_index] == free:
                if n_distinct_keys == SCORE_LIMIT:
                    return -1
                table[2 * table_index] = key
                table[2 * table_index + 1] = <uint64_t>n_distinct_keys
                distinct_keys[n_distinct_keys] = key
                counts[2 * n_distinct_keys] = 0
                counts[2 * n_distinct_keys + 1] = 0
                n_distinct_keys += 1
            else:
                table_index = (table_index + 1) & ((1 << SCORE_BITS) - 1)
        code = <uint16_t>table[2 * table_index + 1]
        codes[i] = code
        counts[2 * <Py_ssize_t>code + (labels[i] != 0)] += 1
    has_nan[0] = nan
    return n_distinct_keys


def encode_scores(
    const uint8_t[::1] labels, const score_t[::1] scores, uint64_t[::1] table, uint64_t[::1] distinct_keys,
    int32_t[:, ::1] counts, uint16_t[::1] codes, int64_t[::1] has_nan
) -> int:
    """Encode the scores of a column in the order of first appearance; return the number of distinct scores, or -1.

    It is -1 if there are more than MAX_DISTINCT_SCORES; all output is then invalid. codes[row] is the code of the row's
    score. distinct_keys (MAX_DISTINCT_SCORES elements) receives the keys, counts (as many rows, 2 columns) the
    negatives and positives. table is scratch of HASH_WORDS. has_nan[0] becomes 1 if a score is NaN.
    """
    cdef Py_ssize_t n_distinct
    need_length(b"scores", scores.shape[0], labels.shape[0])
    need_length(b"codes", codes.shape[0], labels.shape[0])
    need_length(b"table", table.shape[0], 2 << SCORE_BITS)
    need_length(b"distinct_keys", min(distinct_keys.shape[0], counts.shape[0]), SCORE_LIMIT)
    need_length(b"classes of counts", counts.shape[1], 2)
    need_length(b"has_nan", has_nan.shape[0], 1)
    if labels.shape[0] == 0:
        return 0
    with nogil:
        n_distinct = encode_distinct_scores(
            &labels[0], &scores[0], labels.shape[0], &table[0], &distinct_keys[0], &counts[0, 0], &codes[0],
            &has_nan[0])
    return n_distinct


def look_up_placements(
    const uint8_t[::1] labels, const uint16_t[::1] codes, const uint32_t[:, ::1] table, uint32_t[::1] out
):
    """Look up the placements of a block's rows: table[code] has the placement of a negative and of a positive."""
    cdef const uint32_t* placements
    cdef Py_ssize_t i
    cdef Py_ssize_t n = codes.shape[0]
    need_length(b"labels", labels.shape[0], n)
    need_length(b"out", out.shape[0], n)
    if n == 0:
        return
    need_length(b"classes of the table", table.shape[1], 2)
    need_below(b"codes", &codes[0], n, table.shape[0])
    placements = &table[0, 0]
    with nogil:
        for i in range(n):
            out[i] = placements[2 * <Py_ssize_t>codes[i] + (labels[i] != 0)]


def sum_placements(
    const uint8_t[::1] labels, const uint32_t[::1] first_model, const uint32_t[::1] second_model, uint64_t[:, ::1] sums
):
    """Sums over a block's rows: of the negatives in sums[0], of the positives in sums[1].

    Each has five numbers: the rows, the sum of placements in either model, and the sum of squared differences
    first_model - second_model in two words. For a single model pass zeros as second_model. A block has at most 2**31
    rows.
    """
    cdef Py_ssize_t i
    cdef uint64_t raw_sums[10]
    cdef uint64_t high
    need_length(b"placements", min(first_model.shape[0], second_model.shape[0]), labels.shape[0])
    if sums.shape[0] < 2 or sums.shape[1] < 5:
        raise ValueError("sums have five numbers for either class")
    if labels.shape[0] == 0:
        sums[:2, :5] = 0
        return
    with nogil:
        sum_placement_rows(&labels[0], &first_model[0], &second_model[0], labels.shape[0], raw_sums)
        for i in range(2):
            # The squares were summed in halves of 32 bits, each with a 64-bit sum.
            high = raw_sums[5 * i + 4] + (raw_sums[5 * i + 3] >> 32)
            raw_sums[5 * i + 3] = (high << 32) | (raw_sums[5 * i + 3] & 0xFFFFFFFFu)
            raw_sums[5 * i + 4] = high >> 32
        for i in range(5):
            sums[1, i] = raw_sums[5 + i]
            sums[0, i] = raw_sums[i] - raw_sums[5 + i]
        # A borrow from the upper word of the squares.
        sums[0, 4] -= raw_sums[3] < raw_sums[8]


def sum_placements_by_group(
    const uint8_t[::1] labels, const int64_t[::1] group_codes, const uint32_t[::1] first_model,
    const uint32_t[::1] second_model,
    int64_t[:, ::1] table
):
    """Add a block's rows to the groups that group_codes names.

    table[g] has four numbers: negatives, positives, and the sums of first_model - second_model over the negatives and
    over the positives. For a single model pass zeros as second_model. Sums are below 2**62 in absolute value for fewer
    than 2**31 rows.
    """
    cdef Py_ssize_t i
    cdef int64_t difference
    cdef int64_t* row
    cdef Py_ssize_t n = labels.shape[0]
    need_length(b"placements", min(first_model.shape[0], second_model.shape[0]), n)
    need_length(b"group_codes", group_codes.shape[0], n)
    if n == 0:
        return
    need_length(b"numbers of a group", table.shape[1], 4)
    need_below(b"group_codes", &group_codes[0], n, table.shape[0])
    with nogil:
        for i in range(n):
            difference = <int64_t>first_model[i] - <int64_t>second_model[i]
            row = &table[group_codes[i], 0]
            row[labels[i] != 0] += 1
            row[2 + (labels[i] != 0)] += difference


def sum_products(const int64_t[:, ::1] table, uint64_t[:, ::1] products):
    """Sums over all rows of the products of all pairs of columns: products[k] is for the k-th pair i <= j.

    It has four words: the sum of the positive products (low word first), and the absolute sum of the negative products.
    Values are below 2**62 in absolute value, and there are fewer than 2**31 rows.
    """
    cdef Py_ssize_t n_columns = table.shape[1]
    cdef Py_ssize_t row, i, j, k
    cdef int64_t a, b
    cdef uint64_t size_a, size_b
    need_length(b"products", products.shape[0], n_columns * (n_columns + 1) // 2)
    need_length(b"words of a product", products.shape[1], 4)
    with nogil:
        for row in range(table.shape[0]):
            k = 0
            for i in range(n_columns):
                a = table[row, i]
                size_a = <uint64_t>a if a >= 0 else <uint64_t>0 - <uint64_t>a
                for j in range(i, n_columns):
                    b = table[row, j]
                    size_b = <uint64_t>b if b >= 0 else <uint64_t>0 - <uint64_t>b
                    add_product_u128(&products[k, 2 * ((a < 0) != (b < 0))], size_a, size_b)
                    k += 1


def sweep_squares(
    const int64_t[::1] negatives, const int64_t[::1] positives, int64_t all_negatives, uint64_t[:, ::1] sums
):
    """Sums of placements within a score range, from its runs (runs.pyx) and their negatives.

    sums[0] is the sum over the positives, which equals the sum over the negatives. sums[1] is the sum of squares over
    the positives, sums[2] over the negatives. Each has two words, low word first. There are fewer than 2**31 rows of
    each class.
    """
    cdef Py_ssize_t i, k
    cdef int64_t below = all_negatives
    cdef int64_t above = 0
    if negatives.shape[0] != positives.shape[0]:
        raise ValueError("there must be a mass of both classes for every run")
    with nogil:
        for i in range(6):
            sums[i // 2, i % 2] = 0
        for k in range(negatives.shape[0]):
            below -= negatives[k]
            add_range(
                &sums[0, 0], positives[k], 2 * <uint64_t>below + <uint64_t>negatives[k], negatives[k],
                2 * <uint64_t>above + <uint64_t>positives[k])
            above += positives[k]


cdef inline void add_range(
    uint64_t* sums, uint64_t p, uint64_t of_positives, uint64_t n, uint64_t of_negatives
) noexcept nogil:
    """Add rows with equal placements: no row of the other class lies between their scores."""
    add_product_u128(sums, p, of_positives)
    add_product_u128(sums + 2, of_positives * of_positives, p)
    add_product_u128(sums + 4, of_negatives * of_negatives, n)
