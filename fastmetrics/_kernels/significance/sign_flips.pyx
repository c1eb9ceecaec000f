"""Sums of values with flipped signs, for the sign-flip randomization test: random signs, or all sign patterns.

Values are integers (int64) in tiles of 64. A replicate has one word of 64 random bits per tile, and a bit that is not
set flips the sign of its value. The signed sums of a few values are computed in advance (signed_sums.h), so a replicate
needs a few look-ups per tile. The tables stay in the first-level cache or, with AVX-512, in registers.

The bits are a pure function of (seed, tile, replicate). The seed and the tile's number are mixed into the start of a
SplitMix64 sequence (S. Vigna), and replicate r uses word r. So tiles and replicates can be added by several threads in
any order.

The caller must prevent overflow: the sum of all magnitudes stays below 2**62.
"""

from libc.stdint cimport int64_t, uint64_t

cdef extern from "significance/signed_sums.h":
    int has_wide_registers "fm_has_wide_signs"() noexcept nogil
    uint64_t splitmix64_mix "fm_splitmix64_mix"(uint64_t word) noexcept nogil
    int64_t signed_sum "fm_signed_sum"(const int64_t* tables, uint64_t word) noexcept nogil
    void fill_tables "fm_fill_tables"(
        const int64_t* values, Py_ssize_t n, int width, int64_t* tables
    ) noexcept nogil
    void add_wide "fm_add_sign_flips_wide"(
        const int64_t* values, Py_ssize_t n_values, uint64_t start, int64_t first, Py_ssize_t n, int64_t* tables,
        int64_t* out
    ) noexcept nogil
    void add_narrow "fm_add_sign_flips_narrow"(
        const int64_t* values, Py_ssize_t n_values, uint64_t start, int64_t first, Py_ssize_t n, int64_t* tables,
        int64_t* out
    ) noexcept nogil

cdef enum:
    TILE_VALUES = 64
    TABLE_BITS = 8
    TABLE_SUMS = 2048

TILE_SIZE = TILE_VALUES
TABLE_SIZE = TABLE_SUMS
HAS_WIDE_REGISTERS = has_wide_registers() != 0


cdef void add_tiles(
    const int64_t[::1] values, uint64_t seed, Py_ssize_t first_tile, Py_ssize_t stop_tile, int64_t first, bint wide,
    int64_t* tables, int64_t* out, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t tile, start, n_values
    cdef uint64_t sequence
    cdef uint64_t mixed_seed = splitmix64_mix(seed + <uint64_t>0x9E3779B97F4A7C15u)
    for tile in range(first_tile, stop_tile):
        start = TILE_VALUES * tile
        n_values = min(<Py_ssize_t>TILE_VALUES, values.shape[0] - start)
        sequence = splitmix64_mix(splitmix64_mix(<uint64_t>tile) + mixed_seed)
        if wide:
            add_wide(&values[start], n_values, sequence, first, n, tables, out)
        else:
            add_narrow(&values[start], n_values, sequence, first, n, tables, out)


def add_sign_flips(
    const int64_t[::1] values,
    uint64_t seed,
    Py_ssize_t first_tile,
    Py_ssize_t stop_tile,
    int64_t first,
    int64_t[::1] tables,
    int64_t[::1] out,
    bint wide=True,
):
    """out[i] += the sum of the tiles' values with the signs of replicate first + i. `tables` has TABLE_SIZE elements.

    `wide` allows AVX-512 if the machine has it; the sums are the same.
    """
    cdef Py_ssize_t n = out.shape[0]
    if n == 0 or tables.shape[0] < TABLE_SUMS or stop_tile <= first_tile:
        return
    if first_tile < 0 or (stop_tile - 1) * TILE_VALUES >= values.shape[0]:
        raise ValueError("tiles first_tile..stop_tile are outside the values")
    with nogil:
        add_tiles(values, seed, first_tile, stop_tile, first, wide and has_wide_registers(), &tables[0], &out[0], n)


cdef void add_enumerated(const int64_t* tables, int64_t first, Py_ssize_t n, int64_t* out) noexcept nogil:
    cdef Py_ssize_t r
    for r in range(n):
        out[r] += signed_sum(tables, <uint64_t>(first + r))


def add_all_sign_flips(const int64_t[::1] values, int64_t first, int64_t[::1] tables, int64_t[::1] out):
    """out[i] += the signed sum of at most 62 values. Value b keeps its sign if bit b of first + i is set."""
    cdef Py_ssize_t n = out.shape[0]
    if n == 0 or tables.shape[0] < TABLE_SUMS or values.shape[0] == 0:
        return
    with nogil:
        fill_tables(&values[0], min(<Py_ssize_t>TILE_VALUES, values.shape[0]), TABLE_BITS, &tables[0])
        add_enumerated(&tables[0], first, n, &out[0])
