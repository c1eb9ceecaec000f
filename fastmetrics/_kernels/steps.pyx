"""The threshold sweep of a range of scores, as steps at the scores of one class.

A curve over all thresholds, ROC, precision and recall, FAR and FRR, moves at every distinct score. Between two scores
of one class, the "pivot", only the other class moves, and what AUC, average precision, Kolmogorov-Smirnov and the
equal error rate need of that stretch is how many rows it has. So only the pivots are sorted, and of the other class we
count, for every distinct pivot, how many rows tie with it and how many lie between it and the next higher one.

`bucket_steps_*` makes the steps of a run of buckets (see ranksum.pyx for how rows get there). A row of the other class
finds its place by a look-up in a table of cells over the pivots' range, as in ranktable.pxd: an entry is
(slot << 1) | flag. Slot 2 d is the stretch between pivots d - 1 and d (ascending), slot 2 d + 1 a tie with pivot d. The
flag says that the cell itself holds pivots: such keys, rare by construction, are put aside and searched for. Where
cells are single values, ties are in the table too.

Steps go down in score: step k has `own[k]` pivots of one score, `ties[k]` others of that score, `gaps[k]` others above
it and below step k - 1; gaps[n_steps] are those below the last step.

Bounds: a bucket has fewer than 2**29 pivots and, like a run of buckets, fewer than 2**31 rows of each class: its slots
are 32-bit numbers, what is counted from them 64-bit ones.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uintptr_t

from fastmetrics._kernels.ranktable cimport CONFLICTS, count_cells, key_t, sort_keys
from fastmetrics._kernels.superaccumulator cimport CHUNK, CHUNKS_PER_CARRY, add_chunk, normalise

MOST_PIVOTS = 1 << 29
MOST_ROWS = 1 << 31


cdef inline int build_places(
    const key_t* pivots, Py_ssize_t n_pivots, uint32_t* cells, Py_ssize_t n_cells
) noexcept nogil:
    """Fill `cells` (n_cells + 2 entries) for distinct ascending pivots; returns the shift from key to cell."""
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


cdef inline void place_conflicts(
    const key_t* pivots, const uint32_t* cells, int shift, const key_t* conflicts, Py_ssize_t n, uint32_t* slots
) noexcept nogil:
    """Keys that share a cell with pivots: from the slot they were counted in to their own."""
    cdef Py_ssize_t i, cell, place, end, length, half
    cdef key_t key
    cdef key_t low = pivots[0]
    for i in range(n):
        key = conflicts[i]
        cell = 1 + <Py_ssize_t>((key - low) >> shift)
        place = <Py_ssize_t>(cells[cell] >> 2)
        slots[2 * place] -= 1
        end = <Py_ssize_t>(cells[cell + 1] >> 2)
        length = end - place
        while length > 0:
            half = length >> 1
            if pivots[place + half] < key:
                place += half + 1
                length -= half + 1
            else:
                length = half
        slots[2 * place + (place < end and pivots[place] == key)] += 1


cdef inline void count_slots(
    const key_t* pivots, Py_ssize_t n_pivots, const uint32_t* cells, Py_ssize_t n_cells, int shift, const key_t* keys,
    Py_ssize_t n, key_t* conflicts, uint32_t* slots
) noexcept nogil:
    """slots[place of the key] += 1 for every key."""
    cdef key_t low = pivots[0]
    cdef key_t high = pivots[n_pivots - 1]
    cdef key_t key
    cdef Py_ssize_t i, stop, cell
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t n_conflicts
    cdef uint32_t entry
    while start < n:
        stop = start + CONFLICTS if n - start > CONFLICTS else n
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
            place_conflicts(pivots, cells, shift, conflicts, n_conflicts, slots)
        start = stop


cdef inline Py_ssize_t gather(
    const uint64_t* blocks, const int32_t* offsets, Py_ssize_t n_blocks, Py_ssize_t row_stride, Py_ssize_t slot,
    key_t* out
) noexcept nogil:
    """One class of one bucket, copied together; returns how many."""
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
    """Slot 2 bucket + label of all blocks, copied together; out has room for it."""
    if out.shape[0] == 0:
        return
    with nogil:
        gather[key_t](&blocks[0], &offsets[0, 0], blocks.shape[0], offsets.shape[1], slot, &out[0])


cdef inline void lowest_key(
    const uint64_t* blocks, const int32_t* offsets, Py_ssize_t n_blocks, Py_ssize_t row_stride, Py_ssize_t start,
    Py_ssize_t stop, key_t* lowest
) noexcept nogil:
    """The least key of the first bucket that has rows."""
    cdef Py_ssize_t block, i, bucket
    cdef const int32_t* row
    cdef const key_t* keys
    cdef key_t least = ~<key_t>0
    cdef bint found = False
    for bucket in range(start, stop):
        for block in range(n_blocks):
            row = offsets + block * row_stride + 2 * bucket
            keys = <const key_t*><uintptr_t>blocks[block]
            found |= row[2] > row[0]
            for i in range(row[0], row[2]):
                least = keys[i] if keys[i] < least else least
        if found:
            break
    lowest[0] = least


def lowest_key_u32(const uint64_t[::1] blocks, const int32_t[:, ::1] offsets, Py_ssize_t start, Py_ssize_t stop):
    """The least key of buckets start up to stop, one of which has rows."""
    cdef uint32_t least
    with nogil:
        lowest_key[uint32_t](
            &blocks[0], &offsets[0, 0], blocks.shape[0], offsets.shape[1], start, stop, &least)
    return least


def lowest_key_u64(const uint64_t[::1] blocks, const int32_t[:, ::1] offsets, Py_ssize_t start, Py_ssize_t stop):
    """See lowest_key_u32."""
    cdef uint64_t least
    with nogil:
        lowest_key[uint64_t](
            &blocks[0], &offsets[0, 0], blocks.shape[0], offsets.shape[1], start, stop, &least)
    return least


cdef Py_ssize_t bucket_steps(
    const uint64_t* blocks, const int32_t* offsets, Py_ssize_t n_blocks, Py_ssize_t row_stride, Py_ssize_t start,
    Py_ssize_t stop, Py_ssize_t pivot, key_t* pivots, key_t* scratch, uint32_t* cells, key_t* conflicts,
    uint32_t* slots, key_t* keys, int64_t* own, int64_t* ties, int64_t* gaps
) noexcept nogil:
    cdef Py_ssize_t bucket, block, i, n_pivots, n_distinct, n_cells, n_others
    cdef Py_ssize_t n_steps = 0
    cdef int64_t waiting = 0
    cdef const int32_t* row
    cdef int shift
    bucket = stop
    while bucket > start:
        bucket -= 1
        n_pivots = gather(blocks, offsets, n_blocks, row_stride, 2 * bucket + pivot, pivots)
        n_others = 0
        for block in range(n_blocks):
            row = offsets + block * row_stride + 2 * bucket + 1 - pivot
            n_others += row[1] - row[0]
        if n_pivots == 0:
            waiting += n_others
            continue
        sort_keys(pivots, n_pivots, scratch)
        # Distinct pivots, ascending, and how many rows each has: counts wait at the end of `own`, which has room.
        n_distinct = 0
        i = 0
        while i < n_pivots:
            block = i
            while i < n_pivots and pivots[i] == pivots[block]:
                i += 1
            pivots[n_distinct] = pivots[block]
            own[n_steps + n_distinct] = i - block
            n_distinct += 1
        for i in range(2 * n_distinct + 1):
            slots[i] = 0
        if n_others:
            n_cells = count_cells(n_distinct)
            shift = build_places(<const key_t*>pivots, n_distinct, cells, n_cells)
            for block in range(n_blocks):
                row = offsets + block * row_stride + 2 * bucket + 1 - pivot
                if row[1] > row[0]:
                    count_slots(
                        <const key_t*>pivots, n_distinct, cells, n_cells, shift,
                        <const key_t*><uintptr_t>blocks[block] + row[0], row[1] - row[0], conflicts, slots)
        # Descending from here on.
        for i in range(n_distinct // 2):
            block = own[n_steps + i]
            own[n_steps + i] = own[n_steps + n_distinct - 1 - i]
            own[n_steps + n_distinct - 1 - i] = block
        for i in range(n_distinct):
            keys[n_steps + i] = pivots[n_distinct - 1 - i]
            ties[n_steps + i] = slots[2 * (n_distinct - 1 - i) + 1]
            gaps[n_steps + i] = slots[2 * (n_distinct - i)]
        gaps[n_steps] += waiting
        waiting = slots[0]
        n_steps += n_distinct
    gaps[n_steps] = waiting
    return n_steps


def bucket_steps_u32(
    const uint64_t[::1] blocks, const int32_t[:, ::1] offsets, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t pivot,
    uint32_t[::1] pivots, uint32_t[::1] scratch, uint32_t[::1] cells, uint32_t[::1] conflicts, uint32_t[::1] slots,
    uint32_t[::1] keys, int64_t[::1] own, int64_t[::1] ties, int64_t[::1] gaps
):
    """The steps of buckets start up to stop, at the distinct scores of class `pivot`; returns how many.

    pivots and scratch have room for the pivots of the largest bucket, slots for twice as many and one; keys, own and
    ties for all pivots of the run, gaps for one more; cells and conflicts as for ranksum's kernels.
    """
    cdef Py_ssize_t n_steps
    with nogil:
        n_steps = bucket_steps[uint32_t](
            &blocks[0], &offsets[0, 0], blocks.shape[0], offsets.shape[1], start, stop, pivot, &pivots[0], &scratch[0],
            &cells[0], &conflicts[0], &slots[0], &keys[0], &own[0], &ties[0], &gaps[0])
    return n_steps


def bucket_steps_u64(
    const uint64_t[::1] blocks, const int32_t[:, ::1] offsets, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t pivot,
    uint64_t[::1] pivots, uint64_t[::1] scratch, uint32_t[::1] cells, uint64_t[::1] conflicts, uint32_t[::1] slots,
    uint64_t[::1] keys, int64_t[::1] own, int64_t[::1] ties, int64_t[::1] gaps
):
    """See bucket_steps_u32."""
    cdef Py_ssize_t n_steps
    with nogil:
        n_steps = bucket_steps[uint64_t](
            &blocks[0], &offsets[0, 0], blocks.shape[0], offsets.shape[1], start, stop, pivot, &pivots[0], &scratch[0],
            &cells[0], &conflicts[0], &slots[0], &keys[0], &own[0], &ties[0], &gaps[0])
    return n_steps


def place_pivots(const key_t[::1] pivots, uint32_t[::1] cells):
    """The table of distinct ascending pivots, for count_between; cells has count_cells' number of entries and two."""
    cdef Py_ssize_t n_cells = cells.shape[0] - 2
    cdef int shift
    with nogil:
        shift = build_places(&pivots[0], pivots.shape[0], &cells[0], n_cells)
    return shift


def number_of_cells(Py_ssize_t n_pivots):
    """How many cells the table of so many pivots has."""
    return count_cells(n_pivots)


def count_between(
    const key_t[::1] pivots, const uint32_t[::1] cells, int shift, const key_t[::1] keys, key_t[::1] conflicts,
    uint32_t[::1] slots
):
    """Add other keys to the slots that pivots leave: slot 2 d is below pivot d and above the one before, 2 d + 1 at it.

    pivots are distinct and ascending, cells and shift those of place_pivots, conflicts CONFLICTS entries of memory,
    slots 2 * pivots + 1: fewer than 2**32 keys in all calls together.
    """
    if keys.shape[0] == 0:
        return
    with nogil:
        count_slots(
            &pivots[0], pivots.shape[0], &cells[0], cells.shape[0] - 2, shift, &keys[0], keys.shape[0], &conflicts[0],
            &slots[0])


def steps_pairs(
    const int64_t[::1] own, const int64_t[::1] ties, const int64_t[::1] gaps, Py_ssize_t n_steps, Py_ssize_t pivot,
    uint64_t[::1] pairs
):
    """Twice the pairs (positive, negative) of the range that the positive won, ties counting once: pairs = low, high.

    Bounds: with fewer than 2**31 rows of each class a step adds less than 2**63.
    """
    cdef Py_ssize_t k
    cdef uint64_t added
    cdef uint64_t low = 0
    cdef uint64_t high = 0
    cdef int64_t above = 0
    cdef int64_t others = 0
    with nogil:
        for k in range(n_steps):
            others += gaps[k] + ties[k]
        others += gaps[n_steps]
        for k in range(n_steps):
            above += gaps[k]
            if pivot:
                added = <uint64_t>own[k] * <uint64_t>(2 * (others - above) - ties[k])
            else:
                added = <uint64_t>own[k] * <uint64_t>(2 * above + ties[k])
            above += ties[k]
            low += added
            high += low < added
        pairs[0] = low
        pairs[1] = high


def steps_precisions(
    const int64_t[::1] own, const int64_t[::1] ties, const int64_t[::1] gaps, Py_ssize_t n_steps,
    int64_t negatives_above, int64_t positives_above, int64_t[::1] state
):
    """Add, for every step at a score of positives, their number times the precision at that score.

    Each product is rounded to a float64, their sum is exact. Counts are below 2**53.
    """
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef double positives = positives_above
    cdef double negatives = negatives_above
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t n_chunks = 0
    cdef Py_ssize_t i, length
    with nogil:
        while start < n_steps:
            length = n_steps - start if n_steps - start < CHUNK else CHUNK
            for i in range(length):
                positives += own[start + i]
                negatives += gaps[start + i] + ties[start + i]
                chunk[i] = own[start + i] * (positives / (positives + negatives))
            add_chunk(&state[0], chunk, length, rest)
            start += length
            n_chunks += 1
            if n_chunks % CHUNKS_PER_CARRY == 0:
                normalise(&state[0])
        normalise(&state[0])


def steps_extremes(
    const int64_t[::1] own, const int64_t[::1] ties, const int64_t[::1] gaps, Py_ssize_t n_steps, Py_ssize_t pivot,
    int64_t all_negatives, int64_t all_positives, int64_t[::1] extremes
):
    """The greatest and least of D = (positives so far) * all_negatives - (negatives so far) * all_positives.

    Over all thresholds of the range, from 0 at its upper end on, downwards. extremes = greatest high, low, least high,
    low: a number is high * 2**31 + low with 0 <= low < 2**31, so that products of counts below 2**31 with totals below
    2**62 stay within 64 bits.
    """
    cdef Py_ssize_t k
    cdef int64_t high = 0
    cdef int64_t low = 0
    cdef int64_t side
    # What a pivot row and another row add to D, in halves.
    cdef int64_t own_high = (all_negatives if pivot else -all_positives) >> 31
    cdef int64_t own_low = (all_negatives if pivot else -all_positives) & 0x7FFFFFFF
    cdef int64_t other_high = (-all_positives if pivot else all_negatives) >> 31
    cdef int64_t other_low = (-all_positives if pivot else all_negatives) & 0x7FFFFFFF
    with nogil:
        for side in range(4):
            extremes[side] = 0
        for k in range(n_steps + 1):
            high += gaps[k] * other_high
            low += gaps[k] * other_low
            high += low >> 31
            low &= 0x7FFFFFFF
            note_extreme(&extremes[0], high, low)
            if k == n_steps:
                break
            high += own[k] * own_high + ties[k] * other_high
            low += own[k] * own_low
            high += low >> 31
            low &= 0x7FFFFFFF
            low += ties[k] * other_low
            high += low >> 31
            low &= 0x7FFFFFFF
            note_extreme(&extremes[0], high, low)


cdef inline void note_extreme(int64_t* extremes, int64_t high, int64_t low) noexcept nogil:
    if high > extremes[0] or (high == extremes[0] and low > extremes[1]):
        extremes[0] = high
        extremes[1] = low
    if high < extremes[2] or (high == extremes[2] and low < extremes[3]):
        extremes[2] = high
        extremes[3] = low


def steps_of_sorted(
    const key_t[::1] keys, Py_ssize_t middle, Py_ssize_t pivot, int64_t[::1] own, int64_t[::1] ties, int64_t[::1] gaps,
    key_t[::1] step_keys
):
    """The steps of rows that are sorted: negatives in keys[:middle], positives behind them; returns how many.

    own, ties and step_keys have room for all pivots, gaps for one more.
    """
    cdef Py_ssize_t n
    with nogil:
        if pivot:
            n = merge_steps[key_t](
                &keys[0] + middle, keys.shape[0] - middle, &keys[0], middle, own, ties, gaps, step_keys)
        else:
            n = merge_steps[key_t](
                &keys[0], middle, &keys[0] + middle, keys.shape[0] - middle, own, ties, gaps, step_keys)
    return n


cdef inline Py_ssize_t merge_steps(
    const key_t* pivots, Py_ssize_t i, const key_t* others, Py_ssize_t j, int64_t[::1] own, int64_t[::1] ties,
    int64_t[::1] gaps, key_t[::1] step_keys
) noexcept nogil:
    cdef Py_ssize_t k = 0
    cdef Py_ssize_t before
    cdef key_t key
    while i > 0:
        key = pivots[i - 1]
        before = j
        while j > 0 and others[j - 1] > key:
            j -= 1
        gaps[k] = before - j
        before = j
        while j > 0 and others[j - 1] == key:
            j -= 1
        ties[k] = before - j
        before = i
        while i > 0 and pivots[i - 1] == key:
            i -= 1
        own[k] = before - i
        step_keys[k] = key
        k += 1
    gaps[k] = j
    return k


def steps_hull(
    const int64_t[::1] own, const int64_t[::1] ties, const int64_t[::1] gaps, Py_ssize_t n_steps, int64_t[::1] places,
    int64_t[::1] x, int64_t[::1] y
):
    """The corners of the least concave curve above a range's ROC curve, for steps at positives; returns how many.

    The range begins at (0, 0); x gets false and y true positives so far, `places` the number of the step that ends at
    the corner, -1 for the beginning and n_steps for the end of the range. All three have room for n_steps + 2.
    """
    cdef Py_ssize_t k, n
    cdef int64_t fps = 0
    cdef int64_t tps = 0
    with nogil:
        x[0] = 0
        y[0] = 0
        places[0] = -1
        n = 1
        for k in range(n_steps):
            fps += gaps[k] + ties[k]
            tps += own[k]
            n = push_corner(&places[0], &x[0], &y[0], n, k, fps, tps)
        if gaps[n_steps] or n_steps == 0:
            n = push_corner(&places[0], &x[0], &y[0], n, n_steps, fps + gaps[n_steps], tps)
    return n


cdef inline Py_ssize_t push_corner(
    int64_t* places, int64_t* x, int64_t* y, Py_ssize_t n, Py_ssize_t place, int64_t fps, int64_t tps
) noexcept nogil:
    """Add a point to the right of the n corners so far; those that lie on or below the new edge go."""
    while n > 1 and (x[n - 1] - x[n - 2]) * (tps - y[n - 2]) >= (y[n - 1] - y[n - 2]) * (fps - x[n - 2]):
        n -= 1
    x[n] = fps
    y[n] = tps
    places[n] = place
    return n + 1
