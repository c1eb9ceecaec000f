"""Replicates of the exchange by score: rows are brought into falling order of score once, then 64 replicates walk down.

`order_bucket_*` makes codes and segments of a bucket's rows (see scorelanes.h for both); the walks take them bucket
after bucket, from the greatest scores on, and carry what a replicate has seen in `state`. A replicate's weights are
bytes, 64 to a lot; lots are numbered below 2**14.

Bounds: a bucket has fewer than 2**31 rows, a replicate fewer than 2**62 of each class.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memset

from fastmetrics._kernels.ranktable cimport key_t

cdef extern from "scorelanes.h":
    cdef enum:
        FM_ABREAST, FM_LOT, FM_POSITIVE, FM_LAST
    void lane_totals "fm_lane_totals"(
        const uint8_t* weights, const int64_t* counts, Py_ssize_t n_lots, int64_t* totals
    ) noexcept nogil
    void walk_pairs "fm_pairs"(
        const uint16_t* codes, const int32_t* segments, Py_ssize_t n_segments, const uint8_t* weights, int most,
        int plain, int64_t* state
    ) noexcept nogil
    void tie_pairs "fm_pairs_tie"(const int64_t* negatives, const int64_t* positives, int64_t* state) noexcept nogil
    void walk_extremes "fm_extremes"(
        const uint16_t* codes, const int32_t* segments, Py_ssize_t n_segments, const uint8_t* weights, int most,
        int plain, const int64_t* totals, int64_t* state
    ) noexcept nogil
    void tie_extremes "fm_extremes_tie"(
        const int64_t* negatives, const int64_t* positives, const int64_t* totals, int64_t* state
    ) noexcept nogil
    void walk_crossing "fm_crossing"(
        const uint16_t* codes, Py_ssize_t n, const uint8_t* weights, int most, int plain, const int64_t* totals,
        int64_t* state
    ) noexcept nogil
    void tie_crossing "fm_crossing_tie"(
        const int64_t* negatives, const int64_t* positives, const int64_t* totals, int64_t* state
    ) noexcept nogil

cdef extern from "precisionlanes.h":
    void walk_precisions "fm_precisions"(
        const uint16_t* codes, Py_ssize_t n, const uint8_t* weights, int most, int plain, int64_t* state
    ) noexcept nogil
    void tie_precisions "fm_precisions_tie"(
        const int64_t* negatives, const int64_t* positives, int64_t* state
    ) noexcept nogil

ABREAST = FM_ABREAST
LOT_BITS = FM_LOT
POSITIVE = FM_POSITIVE
MOST_LOTS = FM_LOT + 1
DIGITS = 1 << 11

cdef enum:
    FEW = 48  # rows that are sorted by insertion
    SMALL = 2048  # rows for which digits of 8 bits are enough


def scatter_lots(const uint16_t[::1] lots, const uint16_t[::1] slots, int32_t[::1] offsets, uint16_t[::1] out):
    """Lots into the order that ranksum.range_block_* gave the keys: slots as it left them, offsets as it wrote them.

    The offsets are used on the way and restored.
    """
    cdef Py_ssize_t i
    with nogil:
        for i in range(lots.shape[0]):
            out[offsets[slots[i]]] = lots[i]
            offsets[slots[i]] += 1
        i = offsets.shape[0] - 1
        while i > 0:
            offsets[i] = offsets[i - 1]
            i -= 1
        offsets[0] = 0


cdef inline void insert_keys(key_t* keys, uint16_t* codes, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef key_t key
    cdef uint16_t code
    for i in range(1, n):
        key = keys[i]
        code = codes[i]
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            codes[j] = codes[j - 1]
            j -= 1
        keys[j] = key
        codes[j] = code


cdef inline void sort_codes(
    key_t* keys, uint16_t* codes, Py_ssize_t n, key_t* other_keys, uint16_t* other_codes, int64_t* places
) noexcept nogil:
    """Keys ascending, codes with them, equal keys in the order they came: digit by digit, only those that differ."""
    cdef key_t differ = 0
    cdef Py_ssize_t i, place, length
    cdef int bits, shift, digit
    cdef key_t* from_keys = keys
    cdef key_t* to_keys = other_keys
    cdef uint16_t* from_codes = codes
    cdef uint16_t* to_codes = other_codes
    if n <= FEW:
        insert_keys(keys, codes, n)
        return
    bits = 8 if n <= SMALL else 11
    for i in range(1, n):
        differ |= keys[i] ^ keys[0]
    shift = 0
    while differ:
        while not (differ & 1):
            differ >>= 1
            shift += 1
        length = 1 << bits
        memset(places, 0, length * sizeof(int64_t))
        for i in range(n):
            places[<int>((from_keys[i] >> shift) & <key_t>(length - 1))] += 1
        place = 0
        for digit in range(length):
            i = places[digit]
            places[digit] = place
            place += i
        for i in range(n):
            digit = <int>((from_keys[i] >> shift) & <key_t>(length - 1))
            place = places[digit]
            places[digit] = place + 1
            to_keys[place] = from_keys[i]
            to_codes[place] = from_codes[i]
        from_keys, to_keys = to_keys, from_keys
        from_codes, to_codes = to_codes, from_codes
        shift += bits
        differ = differ >> (bits - 1) >> 1
    if from_keys != keys:
        for i in range(n):
            keys[i] = from_keys[i]
            codes[i] = from_codes[i]


cdef inline Py_ssize_t mark_ties(const key_t* keys, uint16_t* codes, Py_ssize_t n, int32_t* segments) noexcept nogil:
    """FM_LAST on the last row of every tie, and the segments; returns how many."""
    cdef Py_ssize_t n_segments = 0
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t stop
    cdef int32_t alone = 0
    while first < n:
        stop = first + 1
        while stop < n and keys[stop] == keys[first]:
            stop += 1
        # Negatives came first.
        if (codes[first] ^ codes[stop - 1]) & FM_POSITIVE:
            if alone:
                segments[n_segments] = alone
                n_segments += 1
                alone = 0
            segments[n_segments] = -<int32_t>(stop - first)
            n_segments += 1
        else:
            alone += <int32_t>(stop - first)
        codes[stop - 1] |= FM_LAST
        first = stop
    if alone:
        segments[n_segments] = alone
        n_segments += 1
    return n_segments


cdef inline Py_ssize_t order_bucket(
    const uint64_t* key_blocks, const uint64_t* lot_blocks, const int32_t* offsets, Py_ssize_t n_blocks,
    Py_ssize_t row_stride, Py_ssize_t bucket, key_t* keys, key_t* other_keys, uint16_t* codes, uint16_t* other_codes,
    int64_t* places, int32_t* segments
) noexcept nogil:
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t block, i, label
    cdef const int32_t* row
    cdef const key_t* block_keys
    cdef const uint16_t* block_lots
    for label in range(2):
        for block in range(n_blocks):
            row = offsets + block * row_stride + 2 * bucket + label
            block_keys = <const key_t*><uintptr_t>key_blocks[block]
            block_lots = <const uint16_t*><uintptr_t>lot_blocks[block]
            for i in range(row[0], row[1]):
                keys[n] = ~block_keys[i]  # the greatest score is the first
                codes[n] = <uint16_t>(block_lots[i] | (label << 14))
                n += 1
    sort_codes[key_t](keys, codes, n, other_keys, other_codes, places)
    return mark_ties[key_t](<const key_t*>keys, codes, n, segments)


def order_bucket_u32(
    const uint64_t[::1] key_blocks, const uint64_t[::1] lot_blocks, const int32_t[:, ::1] offsets, Py_ssize_t bucket,
    uint32_t[::1] keys, uint32_t[::1] other_keys, uint16_t[::1] codes, uint16_t[::1] other_codes, int64_t[::1] places,
    int32_t[::1] segments
):
    """A bucket's rows, which it has, in falling order of score; returns the number of segments.

    Blocks are addresses of keys and of lots, with negatives before positives in every bucket. keys (inverted:
    ascending) and codes are the result; other_keys and other_codes are memory of as many rows, segments has as many,
    places DIGITS.
    """
    cdef Py_ssize_t n_segments
    with nogil:
        n_segments = order_bucket[uint32_t](
            &key_blocks[0], &lot_blocks[0], &offsets[0, 0], offsets.shape[0], offsets.shape[1], bucket, &keys[0],
            &other_keys[0], &codes[0], &other_codes[0], &places[0], &segments[0])
    return n_segments


def order_bucket_u64(
    const uint64_t[::1] key_blocks, const uint64_t[::1] lot_blocks, const int32_t[:, ::1] offsets, Py_ssize_t bucket,
    uint64_t[::1] keys, uint64_t[::1] other_keys, uint16_t[::1] codes, uint16_t[::1] other_codes, int64_t[::1] places,
    int32_t[::1] segments
):
    """See order_bucket_u32."""
    cdef Py_ssize_t n_segments
    with nogil:
        n_segments = order_bucket[uint64_t](
            &key_blocks[0], &lot_blocks[0], &offsets[0, 0], offsets.shape[0], offsets.shape[1], bucket, &keys[0],
            &other_keys[0], &codes[0], &other_codes[0], &places[0], &segments[0])
    return n_segments


def count_lots(const uint16_t[::1] lots, const int64_t[::1] bounds, int64_t[:, ::1] counts):
    """counts[lot, label] += 1 for every row; the rows of class c of bucket b begin at bounds[2 b + c]."""
    cdef Py_ssize_t i, slot
    with nogil:
        for slot in range(bounds.shape[0] - 1):
            for i in range(bounds[slot], bounds[slot + 1]):
                counts[lots[i], slot & 1] += 1


def total_lanes(const uint8_t[:, ::1] weights, const int64_t[:, ::1] counts, int64_t[:, ::1] totals):
    """totals[label, lane] += weights[lot, lane] * counts[lot, label]; totals stay below 2**62."""
    if weights.shape[0]:
        with nogil:
            lane_totals(&weights[0, 0], &counts[0, 0], weights.shape[0], &totals[0, 0])


def pairs_walk(
    const uint16_t[::1] codes, const int32_t[::1] segments, Py_ssize_t n_segments, const uint8_t[:, ::1] weights,
    int most, int64_t[:, ::1] state, bint plain=False
):
    """Pairs won, further down by a bucket: state is negatives, positives, and twice the pairs won (low, high words).

    No weight is greater than most. plain asks for the loops that every compiler has; they give the same.
    """
    with nogil:
        walk_pairs(
            &codes[0], &segments[0], n_segments, &weights[0, 0], most if most > 0 else 1, plain, &state[0, 0])


def pairs_tie(const int64_t[:, ::1] own, int64_t[:, ::1] state):
    """The same, further down by one tie: own[label, lane] rows of each class."""
    with nogil:
        tie_pairs(&own[0, 0], &own[1, 0], &state[0, 0])


def extremes_walk(
    const uint16_t[::1] codes, const int32_t[::1] segments, Py_ssize_t n_segments, const uint8_t[:, ::1] weights,
    int most, const int64_t[:, ::1] totals, int64_t[:, ::1] state, bint plain=False
):
    """Extremes of D (see scorelanes.h), further down by a bucket: state is D, its greatest and its least value.

    totals[label, lane]: all rows of a replicate, of both classes together fewer than 2**32.
    """
    with nogil:
        walk_extremes(
            &codes[0], &segments[0], n_segments, &weights[0, 0], most if most > 0 else 1, plain, &totals[0, 0],
            &state[0, 0])


def extremes_tie(const int64_t[:, ::1] own, const int64_t[:, ::1] totals, int64_t[:, ::1] state):
    """The same, further down by one tie."""
    with nogil:
        tie_extremes(&own[0, 0], &own[1, 0], &totals[0, 0], &state[0, 0])


def crossing_walk(
    const uint16_t[::1] codes, const uint8_t[:, ::1] weights, int most, const int64_t[:, ::1] totals,
    int64_t[:, ::1] state, bint plain=False
):
    """Where the error rates cross, further down by a bucket; totals as for extremes_walk.

    state: false and true positives so far, those before the crossing and those behind it, and whether it was met.
    """
    with nogil:
        walk_crossing(
            &codes[0], codes.shape[0], &weights[0, 0], most if most > 0 else 1, plain, &totals[0, 0], &state[0, 0])


def crossing_tie(const int64_t[:, ::1] own, const int64_t[:, ::1] totals, int64_t[:, ::1] state):
    """The same, further down by one tie."""
    with nogil:
        tie_crossing(&own[0, 0], &own[1, 0], &totals[0, 0], &state[0, 0])


def precisions_walk(
    const uint16_t[::1] codes, const uint8_t[:, ::1] weights, int most, int64_t[:, ::1] state, bint plain=False
):
    """Precisions at the scores of positives, further down by a bucket; a replicate has fewer than 2**32 rows in all.

    state: false and true positives so far, and the sum in units of 2**-20, 2**-52 and 2**-84.
    """
    with nogil:
        walk_precisions(&codes[0], codes.shape[0], &weights[0, 0], most if most > 0 else 1, plain, &state[0, 0])


def precisions_tie(const int64_t[:, ::1] own, int64_t[:, ::1] state):
    """The same, further down by one tie."""
    with nogil:
        tie_precisions(&own[0, 0], &own[1, 0], &state[0, 0])


def lane_steps(
    const uint16_t[::1] codes, const key_t[::1] keys, const uint8_t[:, ::1] weights, Py_ssize_t lane,
    int64_t[::1] own, int64_t[::1] ties, int64_t[::1] gaps, key_t[::1] step_keys, int64_t[::1] counts
):
    """The steps (see steps.pyx) of one replicate at the scores of its positives; returns how many.

    own, ties and step_keys have room for all rows, gaps for one more; counts[label] becomes the rows of each class.
    keys are inverted and ascend, step_keys are not.
    """
    cdef Py_ssize_t i
    cdef Py_ssize_t n = 0
    cdef int64_t positives = 0
    cdef int64_t negatives = 0
    cdef int64_t waiting = 0
    cdef uint8_t weight
    with nogil:
        counts[0] = 0
        counts[1] = 0
        for i in range(codes.shape[0]):
            weight = weights[codes[i] & FM_LOT, lane]
            if codes[i] & FM_POSITIVE:
                positives += weight
            else:
                negatives += weight
            if codes[i] & FM_LAST:
                counts[0] += negatives
                counts[1] += positives
                if positives:
                    own[n] = positives
                    ties[n] = negatives
                    gaps[n] = waiting
                    step_keys[n] = ~keys[i]
                    n += 1
                    waiting = 0
                else:
                    waiting += negatives
                positives = 0
                negatives = 0
        gaps[n] = waiting
    return n
