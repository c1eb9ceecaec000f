"""Poisson weights for the bootstrap, and sums of states with these weights.

A weight is a pure function of (seed, replicate, key of the unit). It depends neither on the order of the keys nor on
other draws. The key and the seed are mixed into the start of a SplitMix64 sequence (S. Vigna). Replicates 2 i and
2 i + 1 use the low and the high 32 bits of word i. A number u gives the weight k with T[k] <= u < T[k + 1], where
T[k] = round(2**32 * P(X < k)) and X is Poisson distributed with mean 1. Weights are at most 12, and every probability
is that of Poisson(1) within 2**-32. The weights have mean 1 and variance 1 within 2e-8.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from fastmetrics._kernels.numeric.length_checks cimport need_below, need_length
from fastmetrics._kernels.numeric.table_hash cimport table_hash, use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS

use_table_seeds(_SEEDS)

cdef extern from "resampling/poisson_loops.h":
    cdef enum:
        N_POISSON_THRESHOLDS "FM_N_POISSON_THRESHOLDS"
    uint64_t splitmix64_mix "fm_splitmix64_mix"(uint64_t word) noexcept nogil
    void draw_word_weights "fm_draw_weights"(uint64_t start, int64_t first, Py_ssize_t n, uint8_t* out) noexcept nogil
    void add_multiples "fm_add_multiples"(
        const uint32_t* weights, int64_t value, Py_ssize_t n, int64_t* out
    ) noexcept nogil
    enum:
        FM_WEIGHED_ROWS, FM_WEIGHED_BITS
    void add_weighed_columns "fm_add_weighed_columns"(
        const uint8_t* weights, Py_ssize_t stride, const int32_t* buckets, Py_ssize_t n, const double* values,
        Py_ssize_t n_columns, Py_ssize_t n_replicates, int64_t** out
    ) noexcept nogil

cdef enum:
    TILE = 1024  # replicates per pass, whose weights fit the first-level cache
    COLUMNS = 16  # that are weighted at once

MAX_WEIGHT = N_POISSON_THRESHOLDS


cdef inline uint64_t sequence_of(uint64_t key, uint64_t seed) noexcept nogil:
    """The start of the key's sequence."""
    return splitmix64_mix(
        splitmix64_mix(key ^ <uint64_t>0x9FB21C651E98DF25u) + splitmix64_mix(seed + <uint64_t>0x9E3779B97F4A7C15u))


cdef inline void draw(uint64_t start, int64_t first, int64_t stop, uint8_t* out) noexcept nogil:
    """The weights of replicates first..stop. Half words at both ends are drawn separately."""
    cdef uint8_t pair[2]
    cdef Py_ssize_t n_words
    if first < stop and first & 1:
        draw_word_weights(start, first >> 1, 1, pair)
        out[0] = pair[1]
        out += 1
        first += 1
    n_words = (stop - first) >> 1
    draw_word_weights(start, first >> 1, n_words, out)
    if (stop - first) & 1:
        draw_word_weights(start, (first >> 1) + n_words, 1, pair)
        out[2 * n_words] = pair[0]


def draw_poisson_weights(const uint64_t[::1] keys, uint64_t seed, int64_t first, int64_t stop, uint8_t[:, ::1] out):
    """out[i, r - first] = the weight of keys[i] in replicate r, for r in first..stop."""
    cdef Py_ssize_t i
    if stop <= first:
        return
    with nogil:
        for i in range(keys.shape[0]):
            draw(sequence_of(keys[i], seed), first, stop, &out[i, 0])


cdef void add_large_values(
    const uint8_t[:, ::1] weights, const int32_t* buckets, const int64_t[:, ::1] values, Py_ssize_t begin,
    Py_ssize_t end, const int64_t[::1] columns, int64_t[:, ::1] out
) noexcept nogil:
    """As add_weighted_states, for rows begin to end of values of any size."""
    cdef uint32_t widened[TILE]
    cdef Py_ssize_t i, c, r, first, length
    cdef const uint8_t* weight
    cdef Py_ssize_t n_replicates = weights.shape[1]
    for i in range(begin, end):
        weight = &weights[buckets[i], 0]
        first = 0
        while first < n_replicates:
            length = n_replicates - first if n_replicates - first < TILE else TILE
            for r in range(length):
                widened[r] = weight[first + r]
            for c in range(values.shape[1]):
                if values[i, c]:
                    add_multiples(widened, values[i, c], length, &out[columns[c], first])
            first += length


cdef void add_small_values(
    const uint8_t[:, ::1] weights, const int32_t* buckets, const int64_t[:, ::1] values, Py_ssize_t begin,
    Py_ssize_t end, const int64_t[::1] columns, int64_t[:, ::1] out
) noexcept nogil:
    """As add_weighted_states, for at most FM_WEIGHED_ROWS rows of values below 2**FM_WEIGHED_BITS in magnitude."""
    cdef double panels[256 * COLUMNS]  # FM_WEIGHED_ROWS * COLUMNS
    cdef int64_t* places[COLUMNS]
    cdef Py_ssize_t i, k, n_columns
    cdef Py_ssize_t c = 0
    cdef Py_ssize_t n = end - begin
    cdef Py_ssize_t n_replicates = weights.shape[1]
    while c < values.shape[1]:
        n_columns = values.shape[1] - c if values.shape[1] - c < COLUMNS else COLUMNS
        for k in range(n_columns):
            places[k] = &out[columns[c + k], 0]
            for i in range(n):
                panels[k // 4 * 4 * n + 4 * i + k % 4] = <double>values[begin + i, c + k]
        add_weighed_columns(&weights[0, 0], n_replicates, buckets + begin, n, panels, n_columns, n_replicates, places)
        c += n_columns


def add_weighted_states(
    const uint8_t[:, ::1] weights, const int32_t[::1] unit_buckets, const int64_t[:, ::1] values,
    const int64_t[::1] columns, int64_t[:, ::1] out
):
    """out[columns[c], r] += weights[unit_buckets[i], r] * values[i, c], for all i.

    The columns differ. The caller must prevent overflow. Normalized limbs and counts below 2**32 have 31 spare bits.
    Values below 2**36 are summed as doubles, without rounding (poisson_loops.h).
    """
    cdef Py_ssize_t end, i, c
    cdef Py_ssize_t begin = 0
    cdef int64_t limit = <int64_t>1 << FM_WEIGHED_BITS
    cdef bint are_large
    if values.shape[0] == 0 or values.shape[1] == 0 or weights.shape[1] == 0:
        return
    with nogil:
        while begin < values.shape[0]:
            end = min(values.shape[0], begin + <Py_ssize_t>FM_WEIGHED_ROWS)
            are_large = 0
            for i in range(begin, end):
                for c in range(values.shape[1]):
                    are_large |= (values[i, c] >= limit) | (values[i, c] <= -limit)
            if are_large:
                add_large_values(weights, &unit_buckets[0], values, begin, end, columns, out)
            else:
                add_small_values(weights, &unit_buckets[0], values, begin, end, columns, out)
            begin = end


def record_units(
    const uint64_t[::1] hashes, uint8_t[::1] prefixes, uint64_t[::1] table, int64_t[::1] counts, int64_t limit
):
    """Record the hashes of units: mark their 14-bit prefixes, and insert them into a hash table of at most limit + 1.

    The table has a power of two slots, and 0 is a free slot. counts[0] is the number of used slots, counts[1] is 1 if
    the hash 0 was seen.
    """
    cdef Py_ssize_t i
    cdef uint64_t unit_hash, slot
    cdef uint64_t mask = <uint64_t>table.shape[0] - 1
    need_length(b"prefixes", prefixes.shape[0], 1 << 14)
    need_length(b"counts", counts.shape[0], 2)
    if table.shape[0] == 0 or table.shape[0] & (table.shape[0] - 1) or not 0 <= limit < table.shape[0] - 1:
        raise ValueError(f"a table of {table.shape[0]} slots for {limit} units")
    with nogil:
        for i in range(hashes.shape[0]):
            prefixes[hashes[i] >> 50] = 1
        for i in range(hashes.shape[0]):
            if counts[0] + counts[1] > limit:
                break
            unit_hash = hashes[i]
            if unit_hash == 0:
                counts[1] = 1
                continue
            slot = table_hash(unit_hash) & mask
            while table[slot] != 0 and table[slot] != unit_hash:
                slot = (slot + 1) & mask
            if table[slot] == 0:
                table[slot] = unit_hash
                counts[0] += 1


def number_equal_rows(uint64_t[::1] hashes, Py_ssize_t first, uint64_t[:, ::1] table, int64_t[::1] used) -> int:
    """Give equal hashes different values, from row `first` on: with k equal ones before, a word of a sequence.

    The table has a power of two places, each a hash and how many rows had it; 0 is a free place. used[0] is the number
    of used places. Returns the row at which the table is half full, or the number of rows.
    """
    cdef Py_ssize_t i = first
    cdef uint64_t unit_hash, slot
    cdef uint64_t mask = <uint64_t>table.shape[0] - 1
    need_length(b"used", used.shape[0], 1)
    need_length(b"columns of the table", table.shape[1], 2)
    if table.shape[0] < 2 or table.shape[0] & (table.shape[0] - 1) or first < 0:
        raise ValueError(f"a table of {table.shape[0]} places from row {first} on")
    with nogil:
        while i < hashes.shape[0] and used[0] < table.shape[0] >> 1:
            unit_hash = hashes[i] if hashes[i] != 0 else 1
            slot = table_hash(unit_hash) & mask
            while table[slot, 0] != 0 and table[slot, 0] != unit_hash:
                slot = (slot + 1) & mask
            if table[slot, 0] == 0:
                table[slot, 0] = unit_hash
                used[0] += 1
            elif table[slot, 1] > 0:
                hashes[i] = splitmix64_mix(unit_hash + table[slot, 1] * <uint64_t>0x9E3779B97F4A7C15u)
            table[slot, 1] += 1
            i += 1
    return i


def copy_counts(const uint64_t[:, ::1] table, uint64_t[:, ::1] larger):
    """Copy the places of a table of `number_equal_rows` to an empty one that has more."""
    cdef Py_ssize_t i
    cdef uint64_t slot
    cdef uint64_t mask = <uint64_t>larger.shape[0] - 1
    need_length(b"columns of the table", table.shape[1], 2)
    need_length(b"columns of the larger table", larger.shape[1], 2)
    if larger.shape[0] <= table.shape[0] or larger.shape[0] & (larger.shape[0] - 1):
        raise ValueError(f"a table of {larger.shape[0]} places for one of {table.shape[0]}")
    with nogil:
        for i in range(table.shape[0]):
            if table[i, 0] == 0:
                continue
            slot = table_hash(table[i, 0]) & mask
            while larger[slot, 0] != 0:
                slot = (slot + 1) & mask
            larger[slot, 0] = table[i, 0]
            larger[slot, 1] = table[i, 1]


def find_unit_buckets(
    const uint64_t[::1] keys, const int32_t[::1] first_of_prefix, const uint64_t[::1] hashes, int bits, int32_t[::1] out
):
    """out[i] = the unit bucket of hashes[i]: the index of the key that equals its first `bits` bits, or -1.

    With 64 bits a key is the whole hash. keys ascend. first_of_prefix[p] is the index of the first key whose leading 14
    bits are at least p, for p in 0..2**14.
    """
    cdef Py_ssize_t i
    cdef int32_t low, high, middle
    cdef uint64_t wanted, prefix
    cdef uint64_t mask = <uint64_t>0xFFFFFFFFFFFFFFFFu << (64 - bits) if bits < 64 else <uint64_t>0xFFFFFFFFFFFFFFFFu
    need_length(b"out", out.shape[0], hashes.shape[0])
    need_length(b"first_of_prefix", first_of_prefix.shape[0], (1 << 14) + 1)
    need_below(b"first_of_prefix", &first_of_prefix[0], (1 << 14) + 1, keys.shape[0] + 1)
    if not 1 <= bits <= 64:
        raise ValueError(f"keys of {bits} bits")
    with nogil:
        for i in range(hashes.shape[0]):
            wanted = hashes[i] & mask
            prefix = wanted >> 50
            low, high = first_of_prefix[prefix], first_of_prefix[prefix + 1]
            while high - low > 1:
                middle = low + (high - low) // 2
                if keys[middle] <= wanted:
                    low = middle
                else:
                    high = middle
            out[i] = low if low < high and keys[low] == wanted else -1


def order_by_unit_bucket(const int32_t[::1] unit_buckets, int64_t[::1] starts, uint32_t[::1] order):
    """Stable counting sort of rows by unit bucket: `order` receives the rows, `starts` the start of each bucket.

    starts has one element more than there are unit buckets.
    """
    cdef Py_ssize_t i
    cdef int64_t total = 0
    cdef int64_t count
    cdef Py_ssize_t n_unit_buckets = starts.shape[0] - 1
    need_length(b"starts", starts.shape[0], 1)
    need_length(b"order", order.shape[0], unit_buckets.shape[0])
    if unit_buckets.shape[0]:
        need_below(b"unit_buckets", &unit_buckets[0], unit_buckets.shape[0], n_unit_buckets)
    starts[:] = 0
    with nogil:
        for i in range(unit_buckets.shape[0]):
            starts[unit_buckets[i]] += 1
        for i in range(n_unit_buckets + 1):
            count = starts[i]
            starts[i] = total
            total += count
        for i in range(unit_buckets.shape[0]):
            order[starts[unit_buckets[i]]] = <uint32_t>i
            starts[unit_buckets[i]] += 1
        for i in range(n_unit_buckets, 0, -1):
            starts[i] = starts[i - 1]
        starts[0] = 0


def to_sign_magnitude(int64_t[:, ::1] states, Py_ssize_t n_limbs):
    """Change normalized superaccumulator states to sign-magnitude limbs, which keeps small negative sums sparse."""
    cdef Py_ssize_t i, limb
    cdef int64_t carry, magnitude
    with nogil:
        for i in range(states.shape[0]):
            if states[i, n_limbs - 1] >= 0:
                continue
            carry = 0
            for limb in range(n_limbs - 1):
                magnitude = carry - states[i, limb]
                carry = magnitude >> 32
                states[i, limb] = carry * (<int64_t>1 << 32) - magnitude
            states[i, n_limbs - 1] -= carry
