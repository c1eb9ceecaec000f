"""Poisson weights for resampling, and sums of states weighted by them.

A weight is a pure function of (seed, replicate, key): neither the order of keys nor what else is drawn matters. The key
and the seed are mixed into the start of a sequence of its own (S. Vigna's SplitMix64 steps through it), of which
replicates 2 i and 2 i + 1 take the low and the high 32 bits of word i. Such a number u gives the weight k where
T[k] <= u < T[k + 1], T[k] = round(2**32 * P(fewer than k)) for a Poisson distribution of mean 1: the weights are at
most 12, and every probability is that of Poisson(1) to within 2**-32. The mean of the weights is 1 and their variance
1 to within 2e-8.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

cdef extern from "resamplemath.h":
    cdef enum:
        N_THRESHOLDS "FM_N_THRESHOLDS"
    uint64_t mixed "fm_mixed"(uint64_t word) noexcept nogil
    void draw_words "fm_draw_words"(uint64_t start, int64_t first, Py_ssize_t n, uint8_t* out) noexcept nogil
    void add_multiples "fm_add_weighted"(
        const uint32_t* weights, int64_t value, Py_ssize_t n, int64_t* out
    ) noexcept nogil

cdef enum:
    TILE = 1024  # replicates whose weights are made ready at a time

GREATEST_WEIGHT = N_THRESHOLDS


cdef inline uint64_t sequence_of(uint64_t key, uint64_t seed) noexcept nogil:
    """Where the sequence of a key begins."""
    return mixed(mixed(key ^ <uint64_t>0x9FB21C651E98DF25u) + mixed(seed + <uint64_t>0x9E3779B97F4A7C15u))


cdef inline void draw(uint64_t start, int64_t first, int64_t stop, uint8_t* out) noexcept nogil:
    """The weights of replicates first..stop; a half of a word at either end is drawn by itself."""
    cdef uint8_t pair[2]
    cdef Py_ssize_t n_words
    if first < stop and first & 1:
        draw_words(start, first >> 1, 1, pair)
        out[0] = pair[1]
        out += 1
        first += 1
    n_words = (stop - first) >> 1
    draw_words(start, first >> 1, n_words, out)
    if (stop - first) & 1:
        draw_words(start, (first >> 1) + n_words, 1, pair)
        out[2 * n_words] = pair[0]


def poisson_weights(const uint64_t[::1] keys, uint64_t seed, int64_t first, int64_t stop, uint8_t[:, ::1] out):
    """out[i, r - first]: the weight of keys[i] in replicate r, for r in first..stop."""
    cdef Py_ssize_t i
    if stop <= first:
        return
    with nogil:
        for i in range(keys.shape[0]):
            draw(sequence_of(keys[i], seed), first, stop, &out[i, 0])


def add_weighted(
    const uint8_t[:, ::1] weights, const int32_t[::1] numbers, const int64_t[:, ::1] values,
    const int64_t[::1] places, int64_t[:, ::1] out
):
    """out[places[c], r] += weights[numbers[i], r] * values[i, c], over all i.

    The caller answers for overflow: normalised limbs and counts below 2**32 have 31 bits to spare.
    """
    cdef uint32_t ready[TILE]
    cdef Py_ssize_t i, c, r, first, length
    cdef const uint8_t* weight
    cdef Py_ssize_t n_replicates = weights.shape[1]
    with nogil:
        for i in range(values.shape[0]):
            weight = &weights[numbers[i], 0]
            first = 0
            while first < n_replicates:
                length = n_replicates - first if n_replicates - first < TILE else TILE
                for r in range(length):
                    ready[r] = weight[first + r]
                for c in range(values.shape[1]):
                    if values[i, c]:
                        add_multiples(ready, values[i, c], length, &out[places[c], first])
                first += length


def weigh(
    const uint64_t[::1] keys, uint64_t seed, int64_t first, int64_t stop, const int64_t[:, ::1] values,
    int64_t[:, ::1] out
):
    """out[r - first, c] += weight of keys[i] in replicate r * values[i, c], over all i, for r in first..stop."""
    cdef uint8_t drawn[TILE]
    cdef Py_ssize_t i, c
    cdef int64_t r, begin, end
    cdef uint64_t start
    with nogil:
        for i in range(keys.shape[0]):
            start = sequence_of(keys[i], seed)
            begin = first
            while begin < stop:
                end = stop if stop - begin < TILE else begin + TILE
                draw(start, begin, end, drawn)
                for r in range(end - begin):
                    if drawn[r]:
                        for c in range(values.shape[1]):
                            out[begin - first + r, c] += drawn[r] * values[i, c]
                begin = end


def note_units(
    const uint64_t[::1] hashes, uint8_t[::1] prefixes, uint64_t[::1] table, int64_t[::1] found, int64_t most
):
    """Mark the prefixes (14 bits) of hashes; enter them in a table of a power of two slots until it has `most` + 1.

    A slot of 0 is empty; found[0] counts the slots in use, found[1] tells whether the hash 0 was there.
    """
    cdef Py_ssize_t i
    cdef uint64_t own, slot
    cdef uint64_t mask = <uint64_t>table.shape[0] - 1
    with nogil:
        for i in range(hashes.shape[0]):
            prefixes[hashes[i] >> 50] = 1
        for i in range(hashes.shape[0]):
            if found[0] + found[1] > most:
                break
            own = hashes[i]
            if own == 0:
                found[1] = 1
                continue
            slot = own & mask
            while table[slot] != 0 and table[slot] != own:
                slot = (slot + 1) & mask
            if table[slot] == 0:
                table[slot] = own
                found[0] += 1


def lot_numbers(
    const uint64_t[::1] keys, const int32_t[::1] firsts, const uint64_t[::1] hashes, int bits, int32_t[::1] out
):
    """out[i]: the number of the key that is the first `bits` bits of hashes[i] (64: the hash itself); -1 if none is.

    keys ascend; firsts[p] is the first key whose leading 14 bits are p or more, for p in 0..2**14.
    """
    cdef Py_ssize_t i
    cdef int32_t low, high, middle
    cdef uint64_t wanted, prefix
    cdef uint64_t mask = <uint64_t>0xFFFFFFFFFFFFFFFFu << (64 - bits) if bits < 64 else <uint64_t>0xFFFFFFFFFFFFFFFFu
    with nogil:
        for i in range(hashes.shape[0]):
            wanted = hashes[i] & mask
            prefix = wanted >> 50
            low, high = firsts[prefix], firsts[prefix + 1]
            while high - low > 1:
                middle = low + (high - low) // 2
                if keys[middle] <= wanted:
                    low = middle
                else:
                    high = middle
            out[i] = low if low < high and keys[low] == wanted else -1


def order_by_lot(const int32_t[::1] numbers, int64_t[::1] starts, uint32_t[::1] order):
    """order: the rows by their lot, those of one as they stood; starts (lots + 1, zeros at first): where lots begin."""
    cdef Py_ssize_t i
    cdef int64_t total = 0
    cdef int64_t own
    cdef Py_ssize_t n_lots = starts.shape[0] - 1
    with nogil:
        for i in range(numbers.shape[0]):
            starts[numbers[i]] += 1
        for i in range(n_lots + 1):
            own = starts[i]
            starts[i] = total
            total += own
        for i in range(numbers.shape[0]):
            order[starts[numbers[i]]] = <uint32_t>i
            starts[numbers[i]] += 1
        for i in range(n_lots, 0, -1):
            starts[i] = starts[i - 1]
        starts[0] = 0


def fold_signs(int64_t[:, ::1] states, Py_ssize_t limbs):
    """Normalised states of the superaccumulator with their sign in every limb: of a negative one few are not zero."""
    cdef Py_ssize_t i, limb
    cdef int64_t carry, own
    with nogil:
        for i in range(states.shape[0]):
            if states[i, limbs - 1] >= 0:
                continue
            carry = 0
            for limb in range(limbs - 1):
                own = carry - states[i, limb]
                carry = own >> 32
                states[i, limb] = carry * (<int64_t>1 << 32) - own
            states[i, limbs - 1] -= carry
