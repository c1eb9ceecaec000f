"""Sums of numbers whose signs are flipped at random, or in all possible ways.

Values are whole numbers (int64) in tiles of 64. A replicate gives a tile one word of 64 random bits, and a bit that is
not set flips the sign of its value. Signed sums of a few values are added beforehand (signedsums.h), so a replicate is
a few look-ups a tile: in tables that stay in the first-level cache, or, where registers are wide, in registers.

Bits are a pure function of (seed, tile, replicate): the seed and the tile's number are mixed into the start of a
sequence of its own, of which replicate r takes word r (S. Vigna's SplitMix64). So ranges of tiles and of replicates may
be added by whoever has the time, in any order.

The caller answers for overflow: the magnitudes of all values together stay below 2**62.
"""

from libc.stdint cimport int64_t, uint64_t

cdef extern from "signedsums.h":
    int has_wide_signs "fm_has_wide_signs"() noexcept nogil
    uint64_t mixed "fm_mixed"(uint64_t word) noexcept nogil
    int64_t signed_sum "fm_signed_sum"(const int64_t* tables, uint64_t word) noexcept nogil
    void fill_tables "fm_fill_tables"(
        const int64_t* values, Py_ssize_t n, int width, int64_t* tables
    ) noexcept nogil
    void add_wide "fm_add_flipped_wide"(
        const int64_t* values, Py_ssize_t n_values, uint64_t start, int64_t first, Py_ssize_t n, int64_t* tables,
        int64_t* out
    ) noexcept nogil
    void add_narrow "fm_add_flipped_narrow"(
        const int64_t* values, Py_ssize_t n_values, uint64_t start, int64_t first, Py_ssize_t n, int64_t* tables,
        int64_t* out
    ) noexcept nogil

cdef enum:
    TILE_VALUES = 64
    TABLE_BITS = 8
    TABLE_SUMS = 2048

TILE = TILE_VALUES
TABLES = TABLE_SUMS
HAS_WIDE = has_wide_signs() != 0


cdef void add_tiles(
    const int64_t[::1] values, uint64_t seed, Py_ssize_t first_tile, Py_ssize_t stop_tile, int64_t first, bint wide,
    int64_t* tables, int64_t* out, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t tile, start, n_values
    cdef uint64_t sequence
    cdef uint64_t own = mixed(seed + <uint64_t>0x9E3779B97F4A7C15u)
    for tile in range(first_tile, stop_tile):
        start = TILE_VALUES * tile
        n_values = min(<Py_ssize_t>TILE_VALUES, values.shape[0] - start)
        sequence = mixed(mixed(<uint64_t>tile) + own)
        if wide:
            add_wide(&values[start], n_values, sequence, first, n, tables, out)
        else:
            add_narrow(&values[start], n_values, sequence, first, n, tables, out)


def add_flipped(
    const int64_t[::1] values,
    uint64_t seed,
    Py_ssize_t first_tile,
    Py_ssize_t stop_tile,
    int64_t first,
    int64_t[::1] tables,
    int64_t[::1] out,
    bint wide=True,
):
    """out[i] += the sum of the tiles' values with the signs of replicate first + i. `tables` has TABLES items.

    `wide` asks for wide registers where the machine has them; the sums are the same.
    """
    cdef Py_ssize_t n = out.shape[0]
    if n == 0 or tables.shape[0] < TABLE_SUMS or stop_tile <= first_tile:
        return
    if first_tile < 0 or (stop_tile - 1) * TILE_VALUES >= values.shape[0]:
        raise ValueError("there are no such tiles")
    with nogil:
        add_tiles(values, seed, first_tile, stop_tile, first, wide and has_wide_signs(), &tables[0], &out[0], n)


cdef void add_counted(const int64_t* tables, int64_t first, Py_ssize_t n, int64_t* out) noexcept nogil:
    cdef Py_ssize_t r
    for r in range(n):
        out[r] += signed_sum(tables, <uint64_t>(first + r))


def add_every(const int64_t[::1] values, int64_t first, int64_t[::1] tables, int64_t[::1] out):
    """out[i] += the sum of at most 62 values, value b with its sign where bit b of first + i is set."""
    cdef Py_ssize_t n = out.shape[0]
    if n == 0 or tables.shape[0] < TABLE_SUMS or values.shape[0] == 0:
        return
    with nogil:
        fill_tables(&values[0], min(<Py_ssize_t>TILE_VALUES, values.shape[0]), TABLE_BITS, &tables[0])
        add_counted(&tables[0], first, n, &out[0])
