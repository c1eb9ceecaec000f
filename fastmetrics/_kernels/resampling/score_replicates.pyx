"""Bootstrap replicates of the range exchange: rows are sorted by descending score once, then 64 replicates sweep them.

`order_bucket` turns a bucket's rows into codes and segments (see replicate_batch.h). The sweeps read them bucket by
bucket, from the greatest scores down, and keep the running counts of 64 replicates in `state`. A weight is a byte; a
unit bucket has 64 of them, one for each replicate. Unit buckets are numbered below 2**14.

Bounds: a bucket has fewer than 2**31 rows, a replicate fewer than 2**62 rows of each class.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t, uintptr_t
from libc.string cimport memset

from fastmetrics._kernels.sweep.rank_table cimport key_t

cdef extern from "resampling/replicate_batch.h":
    cdef enum:
        FM_REPLICATES, FM_UNIT_BUCKET, FM_POSITIVE, FM_LAST_OF_TIE
    void total_replicates "fm_replicate_totals"(
        const uint8_t* weights, const int64_t* counts, Py_ssize_t n_unit_buckets, int64_t* totals
    ) noexcept nogil
    void sweep_pairs_batch "fm_sweep_pairs"(
        const uint16_t* codes, Py_ssize_t n, const int32_t* segments, Py_ssize_t n_segments, const uint8_t* weights,
        int max_weight, int64_t* state
    ) noexcept nogil
    void sweep_crossing_batch "fm_sweep_crossing"(
        const uint16_t* codes, Py_ssize_t n, const uint8_t* weights, int max_weight, const int64_t* totals,
        int64_t* state
    ) noexcept nogil

cdef extern from "resampling/extremes_batch.h":
    void sweep_extremes_batch "fm_sweep_extremes"(
        const uint16_t* codes, Py_ssize_t n, const uint8_t* weights, int max_weight, const int64_t* totals,
        int64_t* state
    ) noexcept nogil

cdef extern from "resampling/precision_batch.h":
    void sweep_precisions_batch "fm_sweep_precisions"(
        const uint16_t* codes, Py_ssize_t n, const uint8_t* weights, int max_weight, int64_t* state
    ) noexcept nogil

REPLICATES_PER_BATCH = FM_REPLICATES
UNIT_BUCKET_MASK = FM_UNIT_BUCKET
POSITIVE_FLAG = FM_POSITIVE
MAX_UNIT_BUCKETS = FM_UNIT_BUCKET + 1
RADIX_SIZE = 1 << 11

cdef enum:
    INSERTION_SORT_ROWS = 48  # up to so many rows: insertion sort
    BYTE_DIGIT_ROWS = 2048  # up to so many rows: radix sort with digits of 8 bits; above: 11 bits


cdef inline void insertion_sort_codes(key_t* keys, uint16_t* codes, Py_ssize_t n) noexcept nogil:
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


cdef inline void radix_sort_codes(
    key_t* keys, uint16_t* codes, Py_ssize_t n, key_t* scratch_keys, uint16_t* scratch_codes, int64_t* positions
) noexcept nogil:
    """Stable radix sort of keys, ascending, with their codes. Only bits in which keys differ are sorted."""
    cdef key_t differ = 0
    cdef Py_ssize_t i, position, length
    cdef int bits, shift, digit
    cdef key_t* from_keys = keys
    cdef key_t* to_keys = scratch_keys
    cdef uint16_t* from_codes = codes
    cdef uint16_t* to_codes = scratch_codes
    if n <= INSERTION_SORT_ROWS:
        insertion_sort_codes(keys, codes, n)
        return
    bits = 8 if n <= BYTE_DIGIT_ROWS else 11
    for i in range(1, n):
        differ |= keys[i] ^ keys[0]
    shift = 0
    while differ:
        while not (differ & 1):
            differ >>= 1
            shift += 1
        length = 1 << bits
        memset(positions, 0, length * sizeof(int64_t))
        for i in range(n):
            positions[<int>((from_keys[i] >> shift) & <key_t>(length - 1))] += 1
        position = 0
        for digit in range(length):
            i = positions[digit]
            positions[digit] = position
            position += i
        for i in range(n):
            digit = <int>((from_keys[i] >> shift) & <key_t>(length - 1))
            position = positions[digit]
            positions[digit] = position + 1
            to_keys[position] = from_keys[i]
            to_codes[position] = from_codes[i]
        from_keys, to_keys = to_keys, from_keys
        from_codes, to_codes = to_codes, from_codes
        shift += bits
        differ = differ >> (bits - 1) >> 1
    if from_keys != keys:
        for i in range(n):
            keys[i] = from_keys[i]
            codes[i] = from_codes[i]


cdef inline Py_ssize_t mark_ties(const key_t* keys, uint16_t* codes, Py_ssize_t n, int32_t* segments) noexcept nogil:
    """Set FM_LAST_OF_TIE on the last row of every tie and write the segments; return the number of segments."""
    cdef Py_ssize_t n_segments = 0
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t stop
    cdef int32_t n_untied = 0
    while first < n:
        stop = first + 1
        while stop < n and keys[stop] == keys[first]:
            stop += 1
        # Inside a tie negatives come first.
        if (codes[first] ^ codes[stop - 1]) & FM_POSITIVE:
            if n_untied:
                segments[n_segments] = n_untied
                n_segments += 1
                n_untied = 0
            segments[n_segments] = -<int32_t>(stop - first)
            n_segments += 1
        else:
            n_untied += <int32_t>(stop - first)
        codes[stop - 1] |= FM_LAST_OF_TIE
        first = stop
    if n_untied:
        segments[n_segments] = n_untied
        n_segments += 1
    return n_segments


cdef inline Py_ssize_t order_rows(
    const uint64_t* key_blocks, const uint64_t* unit_bucket_blocks, const int32_t* offsets, Py_ssize_t n_blocks,
    Py_ssize_t row_stride, Py_ssize_t bucket, key_t* keys, key_t* scratch_keys, uint16_t* codes,
    uint16_t* scratch_codes,
    int64_t* positions, int32_t* segments
) noexcept nogil:
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t block, i, label
    cdef const int32_t* row
    cdef const key_t* block_keys
    cdef const uint16_t* block_unit_buckets
    for label in range(2):
        for block in range(n_blocks):
            row = offsets + block * row_stride + 2 * bucket + label
            block_keys = <const key_t*><uintptr_t>key_blocks[block]
            block_unit_buckets = <const uint16_t*><uintptr_t>unit_bucket_blocks[block]
            for i in range(row[0], row[1]):
                keys[n] = ~block_keys[i]  # the greatest score comes first
                codes[n] = <uint16_t>(block_unit_buckets[i] | (label << 14))
                n += 1
    radix_sort_codes[key_t](keys, codes, n, scratch_keys, scratch_codes, positions)
    return mark_ties[key_t](<const key_t*>keys, codes, n, segments)


def order_bucket(
    const uint64_t[::1] key_blocks, const uint64_t[::1] unit_bucket_blocks, const int32_t[:, ::1] offsets,
    Py_ssize_t bucket, key_t[::1] keys, key_t[::1] scratch_keys, uint16_t[::1] codes, uint16_t[::1] scratch_codes,
    int64_t[::1] positions, int32_t[::1] segments
) -> int:
    """Sort a bucket's rows, at least one, by descending score; return the number of segments.

    The blocks are addresses of keys and of unit buckets, with negatives before positives in every bucket. The results
    are codes and segments. All arrays have an element for every row, but `positions` has RADIX_SIZE.
    """
    cdef Py_ssize_t n_segments
    with nogil:
        n_segments = order_rows(
            &key_blocks[0], &unit_bucket_blocks[0], &offsets[0, 0], offsets.shape[0], offsets.shape[1], bucket,
            &keys[0], &scratch_keys[0], &codes[0], &scratch_codes[0], &positions[0], &segments[0])
    return n_segments


def count_unit_buckets(const uint16_t[::1] unit_buckets, const int64_t[::1] bounds, int64_t[:, ::1] counts):
    """counts[unit bucket, label] += 1 for every row. The rows of class c of bucket b begin at bounds[2 b + c]."""
    cdef Py_ssize_t i, slot
    with nogil:
        for slot in range(bounds.shape[0] - 1):
            for i in range(bounds[slot], bounds[slot + 1]):
                counts[unit_buckets[i], slot & 1] += 1


def replicate_totals(const uint8_t[:, ::1] weights, const int64_t[:, ::1] counts, int64_t[:, ::1] totals):
    """totals[label, replicate] += weights[bucket, replicate] * counts[bucket, label]; totals stay below 2**62."""
    if weights.shape[0]:
        with nogil:
            total_replicates(&weights[0, 0], &counts[0, 0], weights.shape[0], &totals[0, 0])


def sweep_pairs(
    const uint16_t[::1] codes, const int32_t[::1] segments, const uint8_t[:, ::1] weights, int max_weight,
    int64_t[:, ::1] state
):
    """Sweep a bucket for pair counts: state is negatives, positives, and twice the pairs won (low word, high word).

    No weight is greater than max_weight, which is at least 1.
    """
    with nogil:
        sweep_pairs_batch(
            &codes[0], codes.shape[0], &segments[0], segments.shape[0], &weights[0, 0], max_weight, &state[0, 0])


def sweep_extremes(
    const uint16_t[::1] codes, const uint8_t[:, ::1] weights, int max_weight, const int64_t[:, ::1] totals,
    int64_t[:, ::1] state
):
    """Sweep a bucket for the extremes of D (see extremes_batch.h): state is D, its maximum and its minimum.

    totals[label, replicate] are all rows of a replicate; both classes together have fewer than 2**32.
    """
    with nogil:
        sweep_extremes_batch(&codes[0], codes.shape[0], &weights[0, 0], max_weight, &totals[0, 0], &state[0, 0])


def sweep_crossing(
    const uint16_t[::1] codes, const uint8_t[:, ::1] weights, int max_weight, const int64_t[:, ::1] totals,
    int64_t[:, ::1] state
):
    """Sweep a bucket for the crossing of the error rates; totals as for sweep_extremes.

    state: false and true positives so far, those before the crossing, those after it, and whether it was found.
    """
    with nogil:
        sweep_crossing_batch(&codes[0], codes.shape[0], &weights[0, 0], max_weight, &totals[0, 0], &state[0, 0])


def sweep_precisions(
    const uint16_t[::1] codes, const uint8_t[:, ::1] weights, int max_weight, int64_t[:, ::1] state
):
    """Sweep a bucket for the sum of precisions at the positives; a replicate has fewer than 2**32 rows in all.

    state: false and true positives so far, and the sum in units of 2**-20, 2**-52 and 2**-84.
    """
    with nogil:
        sweep_precisions_batch(&codes[0], codes.shape[0], &weights[0, 0], max_weight, &state[0, 0])
