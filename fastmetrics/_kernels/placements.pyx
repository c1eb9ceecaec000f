"""Placements: of every row, twice the rows of the other class it beats, plus those it ties with.

A positive's placement counts negatives with smaller scores, a negative's positives with greater ones; both are whole
numbers, at most twice the other class. What DeLong's variance needs are sums of placements and of their squares; of
two models, sums of differences and of their squares, so that rows have to be brought together again.

`bucket_placements_*` takes the buckets that ranksum.pyx's range_block_* made. The rarer class of a bucket ("few") is
sorted and its distinct keys get a table of cells over their range: a cell's entry is the number of the first of them
that is not below the cell. From there a key takes a step or two, or where a cell is crowded a binary search, to its
slot: 2 d between keys d - 1 and d, 2 d + 1 at key d. A row of the other class reads its placement at its slot and
counts itself there; sums of these counts are the placements of the few. Placements are written where the keys stand.

`placements_in_order` brings a block's placements back into the order of its rows by going through the slots of
range_block_* again: the k-th row of a slot is the k-th behind the slot's offset. No row numbers are kept.

`number_scores_*` is for columns of few different scores: they are numbered by a hash table that stays in cache, and
counted by class; the caller sorts them and makes a table of placements, `tied_placements` reads it row by row.

Bounds: fewer than 2**31 rows in all, so placements have 32 bits, a square 64, and sums of squares 128.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memset

from fastmetrics._kernels.ordered cimport ordered_f32, ordered_f64
from fastmetrics._kernels.ranktable cimport key_t, sort_keys

cdef extern from "widesums.h":
    void add_product "fm_add_product"(uint64_t* sum, uint64_t a, uint64_t b) noexcept nogil

cdef extern from "placementloops.h":
    int walk_u32 "fm_walk_u32"(
        const uint32_t* keys, Py_ssize_t n, const uint32_t* few, const uint32_t* cells, uint32_t* found) noexcept nogil
    int walk_u64 "fm_walk_u64"(
        const uint64_t* keys, Py_ssize_t n, const uint64_t* few, const uint32_t* cells, uint32_t* found) noexcept nogil
    void cells_u32 "fm_cells_u32"(
        const uint32_t* keys, Py_ssize_t n, uint32_t low, uint32_t high, int shift, uint32_t above,
        uint32_t* found) noexcept nogil
    void cells_u64 "fm_cells_u64"(
        const uint64_t* keys, Py_ssize_t n, uint64_t low, uint64_t high, int shift, uint32_t above,
        uint32_t* found) noexcept nogil
    void sum_rows "fm_sum_placements"(
        const uint8_t* labels, const uint32_t* one, const uint32_t* two, Py_ssize_t n, uint64_t* sums) noexcept nogil

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
    LEAST_CELLS = 64
    MOST_CELLS = 65536
    BATCH = 256         # keys whose slots are found before any is used
    CROWDED = 16        # keys of a cell from which others are tried; how far a key moves before its cell is sorted

    SCORE_BITS = 16
    MOST_SCORES = 16384  # a quarter of the hash table

CELLS = MOST_CELLS + 3  # entries of a table
DIFFERENT_SCORES = MOST_SCORES
HASH_WORDS = 2 << SCORE_BITS


cdef inline Py_ssize_t choose_cells(Py_ssize_t n_few) noexcept nogil:
    """How many cells: a few for every key, as many as fit the second-level cache."""
    cdef Py_ssize_t n_cells = LEAST_CELLS
    while n_cells < CELLS_PER_KEY * n_few and n_cells < MOST_CELLS:
        n_cells *= 2
    return n_cells


# How keys are cut into cells of equal width: by themselves, (key - low) >> shift, or where these crowd, as around zero,
# by the scores they stand for, (score - lowest) * scale; scale is else 0. Both go up with the key.
ctypedef struct Cut:
    uint64_t low
    uint64_t high
    Py_ssize_t n_cells
    int shift
    double lowest
    double scale


cdef inline Py_ssize_t cell_of(key_t key, const Cut* cut) noexcept nogil:
    """The cell of a key from low to high."""
    if cut.scale == 0:
        return <Py_ssize_t>((key - <key_t>cut.low) >> cut.shift)
    if key_t is uint32_t:
        return <Py_ssize_t>((<double>score_f32(key) - cut.lowest) * cut.scale)
    else:
        return <Py_ssize_t>((score_f64(key) - cut.lowest) * cut.scale)


cdef inline uint32_t count_cells(const key_t* keys, Py_ssize_t n, const Cut* cut, uint32_t* counts) noexcept nogil:
    """How many keys every cell has; returns the most that one has."""
    cdef Py_ssize_t i
    cdef uint32_t most = 0
    memset(counts, 0, (cut.n_cells + 1) * sizeof(uint32_t))
    for i in range(n):
        counts[cell_of[key_t](keys[i], cut)] += 1
    for i in range(cut.n_cells):
        most = counts[i] if counts[i] > most else most
    return most


cdef inline void sort_by_cells(
    const key_t* keys, Py_ssize_t n, key_t* out, key_t* scratch, uint32_t* cells, Cut* cut
) noexcept nogil:
    """keys ascending into out, how they are cut, and the table of their cells (n_cells + 3 entries).

    cells[1 + c] is how many keys are in cells before c; cells[0] is for keys below all of them, cells[n_cells + 1] for
    keys above. One pass puts keys into cells, one more compares neighbours; those that crowd into a cell are sorted by
    their digits. scratch has room for n and may be `keys`.
    """
    cdef key_t low = keys[0]
    cdef key_t high = keys[0]
    cdef key_t key
    # While keys are placed, begins[c] goes from where cell c begins to where it ends, which is where the next begins.
    cdef uint32_t* begins = cells + 2
    cdef Py_ssize_t i, j, cell, start
    cdef uint32_t most, here
    cdef uint32_t below = 0
    cdef double highest
    for i in range(n):
        low = keys[i] if keys[i] < low else low
        high = keys[i] if keys[i] > high else high
    cut.low = low
    cut.high = high
    cut.n_cells = choose_cells(n)
    cut.shift = 0
    cut.lowest = 0
    cut.scale = 0
    while ((high - low) >> cut.shift) >= <key_t>cut.n_cells:
        cut.shift += 1
    cells[0] = 0
    cells[1] = 0
    most = count_cells[key_t](keys, n, cut, begins)
    if most > CROWDED and cut.shift:
        if key_t is uint32_t:
            cut.lowest = score_f32(low)
            highest = score_f32(high)
        else:
            cut.lowest = score_f64(low)
            highest = score_f64(high)
        cut.scale = (cut.n_cells - 1) / (highest - cut.lowest)
        # Not so where there are infinities, or scores too near each other or too far apart for a quotient.
        if not (cut.scale > 0 and cut.scale < GREATEST_SCALE and highest - cut.lowest < GREATEST_SCALE):
            cut.scale = 0
        elif 2 * count_cells[key_t](keys, n, cut, begins) > most:
            cut.scale = 0  # ties, then: they crowd however they are cut
        if cut.scale == 0:
            count_cells[key_t](keys, n, cut, begins)
    for cell in range(cut.n_cells):
        here = begins[cell]
        begins[cell] = below
        below += here
    begins[cut.n_cells] = below
    for i in range(n):
        key = keys[i]
        cell = cell_of[key_t](key, cut)
        out[begins[cell]] = key
        begins[cell] += 1
    if cut.shift == 0:
        return
    i = 1
    while i < n:
        key = out[i]
        j = i - 1
        while j >= 0 and out[j] > key and i - j <= CROWDED:
            out[j + 1] = out[j]
            j -= 1
        out[j + 1] = key
        if i - j > CROWDED:
            cell = cell_of[key_t](key, cut)
            start = begins[cell - 1] if cell else 0
            sort_keys(out + start, begins[cell] - start, scratch)
            i = begins[cell] - 1
        i += 1


cdef inline void number_cells(const key_t* few, Py_ssize_t n_few, uint32_t* cells, const Cut* cut) noexcept nogil:
    """The same table for distinct keys."""
    cdef Py_ssize_t i, cell
    cdef uint32_t here
    cdef uint32_t below = 0
    memset(cells, 0, (cut.n_cells + 3) * sizeof(uint32_t))
    for i in range(n_few):
        cells[1 + cell_of[key_t](few[i], cut)] += 1
    for cell in range(cut.n_cells + 3):
        here = cells[cell]
        cells[cell] = below
        below += here


cdef inline void find_slots(
    const key_t* keys, Py_ssize_t n, const key_t* few, const uint32_t* cells, const Cut* cut, uint32_t* found
) noexcept nogil:
    """The slots of up to BATCH keys. Behind the few stands a key that is greater than all."""
    cdef key_t low = <key_t>cut.low
    cdef key_t high = <key_t>cut.high
    cdef uint32_t above = <uint32_t>(cut.n_cells + 1)
    cdef Py_ssize_t i, cell, place, length, half
    cdef key_t key, inside
    cdef bint further
    if cut.scale != 0:
        for i in range(n):
            key = keys[i]
            inside = key if key >= low else low
            inside = inside if inside <= high else high
            cell = 1 + cell_of[key_t](inside, cut)
            cell = cell if key >= low else 0
            found[i] = <uint32_t>cell if key <= high else above
    elif key_t is uint32_t:
        cells_u32(keys, n, low, high, cut.shift, above, found)
    else:
        cells_u64(keys, n, low, high, cut.shift, above, found)
    if key_t is uint32_t:
        further = walk_u32(keys, n, few, cells, found)
    else:
        further = walk_u64(keys, n, few, cells, found)
    if further:
        for i in range(n):
            key = keys[i]
            place = found[i] >> 1
            if few[place] < key:
                # Nobody has passed the cell's end: behind it stands a key above this one.
                length = cells[2 + cell_of[key_t](key, cut)] - place
                while length > 0:
                    half = length >> 1
                    if few[place + half] < key:
                        place += half + 1
                        length -= half + 1
                    else:
                        length = half
                found[i] = <uint32_t>(2 * place + (few[place] == key))


cdef void bucket_placements(
    const uint64_t* blocks, const uint64_t* placed, const int32_t* offsets, Py_ssize_t n_blocks, Py_ssize_t row_stride,
    Py_ssize_t bucket, int64_t negatives_below, int64_t positives_above, key_t* few, key_t* scratch, uint32_t* cells,
    uint32_t* slots
) noexcept nogil:
    cdef Py_ssize_t block, i, side, n_few, n_distinct, first, n
    cdef uint32_t found[BATCH]
    cdef Py_ssize_t counts[2]
    cdef const int32_t* row
    cdef const key_t* keys
    cdef uint32_t* out
    cdef uint32_t base[2]
    cdef uint32_t slot, before, own
    cdef Cut cut
    counts[0] = 0
    counts[1] = 0
    for block in range(n_blocks):
        row = offsets + block * row_stride + 2 * bucket
        counts[0] += row[1] - row[0]
        counts[1] += row[2] - row[1]
    # What rows of each class have from other buckets.
    base[0] = <uint32_t>(2 * positives_above)
    base[1] = <uint32_t>(2 * negatives_below)
    side = 1 if counts[1] <= counts[0] else 0
    if counts[side] == 0:
        for block in range(n_blocks):
            row = offsets + block * row_stride + 2 * bucket + 1 - side
            out = <uint32_t*><uintptr_t>placed[block]
            for i in range(row[0], row[1]):
                out[i] = base[1 - side]
        return
    n_few = 0
    for block in range(n_blocks):
        row = offsets + block * row_stride + 2 * bucket + side
        keys = <const key_t*><uintptr_t>blocks[block]
        for i in range(row[0], row[1]):
            scratch[n_few] = keys[i]
            n_few += 1
    sort_by_cells[key_t](scratch, n_few, few, scratch, cells, &cut)
    # slots[2 s]: how many of the other class are counted at slot s; slots[2 s + 1]: the placement they have there.
    n_distinct = 0
    i = 0
    while i < n_few:
        first = i
        while i < n_few and few[i] == few[first]:
            i += 1
        few[n_distinct] = few[first]
        # Few above where the other class are negatives, few below where they are positives.
        before = <uint32_t>(2 * (n_few - first) if side else 2 * first)
        slots[4 * n_distinct] = 0
        slots[4 * n_distinct + 1] = base[1 - side] + before
        slots[4 * n_distinct + 2] = 0
        own = <uint32_t>(i - first)
        slots[4 * n_distinct + 3] = base[1 - side] + (before - own if side else before + own)
        n_distinct += 1
    slots[4 * n_distinct] = 0
    slots[4 * n_distinct + 1] = base[1 - side] + <uint32_t>(0 if side else 2 * n_few)
    few[n_distinct] = ~<key_t>0
    if n_distinct < n_few:
        number_cells[key_t](few, n_distinct, cells, &cut)
    for block in range(n_blocks):
        row = offsets + block * row_stride + 2 * bucket + 1 - side
        keys = <const key_t*><uintptr_t>blocks[block]
        out = <uint32_t*><uintptr_t>placed[block]
        first = row[0]
        while first < row[1]:
            n = row[1] - first if row[1] - first < BATCH else BATCH
            find_slots[key_t](keys + first, n, few, cells, &cut, found)
            for i in range(n):
                slot = found[i]
                slots[2 * slot] += 1
                out[first + i] = slots[2 * slot + 1]
            first += n
    # The few's own: the others below (of positives) or above (of negatives) twice, and those at their key.
    before = 0
    if side:
        for i in range(n_distinct):
            before += slots[4 * i]
            own = slots[4 * i + 2]
            slots[4 * i + 3] = base[1] + 2 * before + own
            before += own
    else:
        for i in range(n_distinct - 1, -1, -1):
            before += slots[4 * i + 4]
            own = slots[4 * i + 2]
            slots[4 * i + 3] = base[0] + 2 * before + own
            before += own
    for block in range(n_blocks):
        row = offsets + block * row_stride + 2 * bucket + side
        keys = <const key_t*><uintptr_t>blocks[block]
        out = <uint32_t*><uintptr_t>placed[block]
        first = row[0]
        while first < row[1]:
            n = row[1] - first if row[1] - first < BATCH else BATCH
            find_slots[key_t](keys + first, n, few, cells, &cut, found)
            for i in range(n):
                out[first + i] = slots[2 * found[i] + 1]
            first += n


def bucket_placements_u32(
    const uint64_t[::1] blocks, const uint64_t[::1] placed, const int32_t[:, ::1] offsets, Py_ssize_t bucket,
    int64_t negatives_below, int64_t positives_above, uint32_t[::1] few, uint32_t[::1] scratch, uint32_t[::1] cells,
    uint32_t[::1] slots
):
    """Placements of the rows of a bucket, each where its key stands.

    blocks and placed are addresses of each block's keys and of the uint32 that receive placements; few and scratch
    have room for the rarer class of the largest bucket and one more, slots for four times as many and two more, cells
    CELLS entries.
    """
    with nogil:
        bucket_placements[uint32_t](
            &blocks[0], &placed[0], &offsets[0, 0], blocks.shape[0], offsets.shape[1], bucket, negatives_below,
            positives_above, &few[0], &scratch[0], &cells[0], &slots[0])


def bucket_placements_u64(
    const uint64_t[::1] blocks, const uint64_t[::1] placed, const int32_t[:, ::1] offsets, Py_ssize_t bucket,
    int64_t negatives_below, int64_t positives_above, uint64_t[::1] few, uint64_t[::1] scratch, uint32_t[::1] cells,
    uint32_t[::1] slots
):
    """See bucket_placements_u32."""
    with nogil:
        bucket_placements[uint64_t](
            &blocks[0], &placed[0], &offsets[0, 0], blocks.shape[0], offsets.shape[1], bucket, negatives_below,
            positives_above, &few[0], &scratch[0], &cells[0], &slots[0])


def placements_in_order(
    const uint16_t[::1] row_slots, int32_t[::1] offsets, const uint32_t[::1] placed, uint32_t[::1] out
):
    """Placements of a block in the order of its rows; row_slots and offsets as range_block_* left them.

    The offsets are used up: each becomes the next one.
    """
    cdef Py_ssize_t i
    cdef uint16_t slot
    cdef int32_t place
    with nogil:
        for i in range(row_slots.shape[0]):
            slot = row_slots[i]
            place = offsets[slot]
            offsets[slot] = place + 1
            out[i] = placed[place]


ctypedef fused score_t:
    float
    double


cdef inline Py_ssize_t number_scores(
    const uint8_t* labels, const score_t* scores, Py_ssize_t n, uint64_t* table, uint64_t* different, int32_t* counts,
    uint16_t* numbers, int64_t* has_nan
) noexcept nogil:
    cdef uint64_t free = ~<uint64_t>0  # no score's key but that of a NaN
    cdef uint64_t key
    cdef Py_ssize_t i, place
    cdef Py_ssize_t n_different = 0
    cdef uint16_t number
    cdef int nan = 0
    for i in range(1 << SCORE_BITS):
        table[2 * i] = free
        table[2 * i + 1] = 0
    for i in range(n):
        nan |= scores[i] != scores[i]
        if score_t is float:
            key = ordered_f32(scores[i])
        else:
            key = ordered_f64(scores[i])
        place = <Py_ssize_t>((key * <uint64_t>0x9E3779B97F4A7C15) >> (64 - SCORE_BITS))
        while table[2 * place] != key:
            if table[2 * place] == free:
                if n_different == MOST_SCORES:
                    return -1
                table[2 * place] = key
                table[2 * place + 1] = <uint64_t>n_different
                different[n_different] = key
                counts[2 * n_different] = 0
                counts[2 * n_different + 1] = 0
                n_different += 1
            else:
                place = (place + 1) & ((1 << SCORE_BITS) - 1)
        number = <uint16_t>table[2 * place + 1]
        numbers[i] = number
        counts[2 * <Py_ssize_t>number + labels[i]] += 1
    has_nan[0] = nan
    return n_different


def number_scores_f32(
    const uint8_t[::1] labels, const float[::1] scores, uint64_t[::1] table, uint64_t[::1] different,
    int32_t[:, ::1] counts, uint16_t[::1] numbers, int64_t[::1] has_nan
):
    """See number_scores_f64."""
    cdef Py_ssize_t found
    with nogil:
        found = number_scores[float](
            &labels[0], &scores[0], labels.shape[0], &table[0], &different[0], &counts[0, 0], &numbers[0], &has_nan[0])
    return found


def number_scores_f64(
    const uint8_t[::1] labels, const double[::1] scores, uint64_t[::1] table, uint64_t[::1] different,
    int32_t[:, ::1] counts, uint16_t[::1] numbers, int64_t[::1] has_nan
):
    """How many different scores there are, each row's number among them in the order in which they come first, or -1.

    -1 is for more than DIFFERENT_SCORES; everything else is then void. different (so many) receives their keys, counts
    (so many, 2) their negatives and positives; table is scratch of HASH_WORDS. has_nan[0] becomes 1 where one is NaN.
    """
    cdef Py_ssize_t found
    with nogil:
        found = number_scores[double](
            &labels[0], &scores[0], labels.shape[0], &table[0], &different[0], &counts[0, 0], &numbers[0], &has_nan[0])
    return found


def tied_placements(
    const uint8_t[::1] labels, const uint16_t[::1] numbers, const uint32_t[:, ::1] table, uint32_t[::1] out
):
    """Placements of a block row by row: table has those of negatives and of positives for every number."""
    cdef const uint32_t* placements = &table[0, 0]
    cdef Py_ssize_t i
    with nogil:
        for i in range(numbers.shape[0]):
            out[i] = placements[2 * <Py_ssize_t>numbers[i] + labels[i]]


def sum_placements(const uint8_t[::1] labels, const uint32_t[::1] one, const uint32_t[::1] two, uint64_t[:, ::1] sums):
    """Sums over a block's rows, of negatives in sums[0] and of positives in sums[1].

    Five numbers each: the rows, their placements in either model, and the squares of the differences one - two as two
    words. Of one model `two` is zeros: squares are its own. Up to 2**31 rows in a block.
    """
    cdef Py_ssize_t i
    cdef uint64_t own[10]
    cdef uint64_t high
    with nogil:
        sum_rows(&labels[0], &one[0], &two[0], labels.shape[0], own)
        for i in range(2):
            # Squares came in halves of 32 bits, each sum of which has 64.
            high = own[5 * i + 4] + (own[5 * i + 3] >> 32)
            own[5 * i + 3] = (high << 32) | (own[5 * i + 3] & 0xFFFFFFFFu)
            own[5 * i + 4] = high >> 32
        for i in range(5):
            sums[1, i] = own[5 + i]
            sums[0, i] = own[i] - own[5 + i]
        # A borrow from the upper word of the squares.
        sums[0, 4] -= own[3] < own[8]


def add_by_group(
    const uint8_t[::1] labels, const int64_t[::1] codes, const uint32_t[::1] one, const uint32_t[::1] two,
    int64_t[:, ::1] table
):
    """Add a block's rows to the groups that codes name: negatives, positives, and sums of differences of each.

    table[g] = negatives, positives, sums of the placements one - two of negatives, of positives; of one model `two` is
    zeros. Sums are below 2**62 in absolute value for fewer than 2**31 rows.
    """
    cdef Py_ssize_t i
    cdef int64_t difference
    cdef int64_t* row
    with nogil:
        for i in range(labels.shape[0]):
            difference = <int64_t>one[i] - <int64_t>two[i]
            row = &table[codes[i], 0]
            row[labels[i]] += 1
            row[2 + labels[i]] += difference


def sum_products(const int64_t[:, ::1] table, uint64_t[:, ::1] products):
    """Products of all pairs of columns, over all rows: products[k] = four words for the pair k of i <= j.

    The positive products' sum, low word first, then that of the negative ones without their sign. Values are below
    2**62 in absolute value, rows fewer than 2**31.
    """
    cdef Py_ssize_t n_columns = table.shape[1]
    cdef Py_ssize_t row, i, j, k
    cdef int64_t a, b
    cdef uint64_t size_a, size_b
    with nogil:
        for row in range(table.shape[0]):
            k = 0
            for i in range(n_columns):
                a = table[row, i]
                size_a = <uint64_t>a if a >= 0 else <uint64_t>0 - <uint64_t>a
                for j in range(i, n_columns):
                    b = table[row, j]
                    size_b = <uint64_t>b if b >= 0 else <uint64_t>0 - <uint64_t>b
                    add_product(&products[k, 2 * ((a < 0) != (b < 0))], size_a, size_b)
                    k += 1


def steps_squares(
    const int64_t[::1] own, const int64_t[::1] ties, const int64_t[::1] gaps, Py_ssize_t n_steps, Py_ssize_t pivot,
    int64_t negatives, uint64_t[:, ::1] sums
):
    """Placements within a range of scores, of its steps: see steps.pyx for what these are.

    sums[0] is their sum over the positives (which is that over the negatives), sums[1] the squares of the positives',
    sums[2] those of the negatives', two words each, low first. Fewer than 2**31 rows of each class.
    """
    cdef Py_ssize_t i, k
    cdef int64_t p, n
    cdef int64_t below = negatives
    cdef int64_t above = 0
    with nogil:
        for i in range(6):
            sums[i // 2, i % 2] = 0
        for k in range(n_steps + 1):
            p = 0 if pivot else gaps[k]
            n = gaps[k] if pivot else 0
            add_range(&sums[0, 0], p, 2 * <uint64_t>below, n, 2 * <uint64_t>above)
            below -= n
            above += p
            if k < n_steps:
                p = own[k] if pivot else ties[k]
                n = ties[k] if pivot else own[k]
                add_range(
                    &sums[0, 0], p, 2 * <uint64_t>(below - n) + <uint64_t>n, n, 2 * <uint64_t>above + <uint64_t>p)
                below -= n
                above += p


cdef inline void add_range(
    uint64_t* sums, uint64_t p, uint64_t of_positives, uint64_t n, uint64_t of_negatives
) noexcept nogil:
    """Rows of one score, or of scores between which the other class has none, with their placements."""
    add_product(sums, p, of_positives)
    add_product(sums + 2, of_positives * of_positives, p)
    add_product(sums + 4, of_negatives * of_negatives, n)
