"""Sums of numbers whose signs are flipped at random, or in all possible ways.

Values are whole numbers (int64) in tiles of 64. A replicate gives a tile one word of 64 random bits, and a bit that is
not set flips the sign of its value. The values of eight bits are added beforehand: a table of all 256 signed sums for
each byte of the word, so a replicate is eight look-ups a tile, in 16 KB of tables that stay in the first-level cache.

Bits are a pure function of (seed, tile, replicate): the seed and the tile's number are mixed into the start of a
sequence of its own, of which replicate r takes word r (S. Vigna's SplitMix64). So ranges of tiles and of replicates may
be added by whoever has the time, in any order.

The caller answers for overflow: the magnitudes of all values together stay below 2**62.
"""

from libc.stdint cimport int64_t, uint64_t

cdef enum:
    TILE_VALUES = 64
    TABLES_IN_TILE = 8
    TABLE_SUMS = 256

TILE = TILE_VALUES
TABLES = TABLES_IN_TILE * TABLE_SUMS


cdef inline uint64_t mixed(uint64_t word) noexcept nogil:
    word = (word ^ (word >> 30)) * <uint64_t>0xBF58476D1CE4E5B9u
    word = (word ^ (word >> 27)) * <uint64_t>0x94D049BB133111EBu
    return word ^ (word >> 31)


cdef void fill_table(const int64_t* values, Py_ssize_t n_values, int64_t* table) noexcept nogil:
    """The 256 sums of up to 8 values: bit i of an index is set where value i keeps its sign."""
    cdef Py_ssize_t i, j
    cdef int64_t twice
    table[0] = 0
    for i in range(n_values):
        table[0] -= values[i]
    for i in range(8):
        twice = 2 * values[i] if i < n_values else 0
        for j in range(1 << i):
            table[(1 << i) + j] = table[j] + twice


cdef void fill_tables(const int64_t* values, Py_ssize_t n_values, int64_t* tables) noexcept nogil:
    cdef Py_ssize_t group, start
    for group in range(TABLES_IN_TILE):
        start = 8 * group if 8 * group < n_values else n_values
        fill_table(values + start, n_values - start if n_values - start < 8 else 8, tables + TABLE_SUMS * group)


cdef inline int64_t signed_sum(const int64_t* tables, uint64_t word) noexcept nogil:
    return (
        (tables[word & 255] + tables[256 + ((word >> 8) & 255)])
        + (tables[512 + ((word >> 16) & 255)] + tables[768 + ((word >> 24) & 255)])
        + (tables[1024 + ((word >> 32) & 255)] + tables[1280 + ((word >> 40) & 255)])
        + (tables[1536 + ((word >> 48) & 255)] + tables[1792 + (word >> 56)])
    )


cdef void add_random(
    const int64_t* tables, uint64_t start, int64_t first, Py_ssize_t n, int64_t* out
) noexcept nogil:
    cdef Py_ssize_t r
    cdef uint64_t state = start + <uint64_t>first * <uint64_t>0x9E3779B97F4A7C15u
    for r in range(n):
        state += <uint64_t>0x9E3779B97F4A7C15u
        out[r] += signed_sum(tables, mixed(state))


cdef void add_counted(const int64_t* tables, int64_t first, Py_ssize_t n, int64_t* out) noexcept nogil:
    cdef Py_ssize_t r
    for r in range(n):
        out[r] += signed_sum(tables, <uint64_t>(first + r))


def add_flipped(
    const int64_t[::1] values,
    uint64_t seed,
    Py_ssize_t first_tile,
    Py_ssize_t stop_tile,
    int64_t first,
    int64_t[::1] tables,
    int64_t[::1] out,
):
    """out[i] += the sum of the tiles' values with the signs of replicate first + i. `tables` has TABLES items."""
    cdef Py_ssize_t tile, start
    cdef Py_ssize_t n = out.shape[0]
    cdef uint64_t own = mixed(seed + <uint64_t>0x9E3779B97F4A7C15u)
    if n == 0 or tables.shape[0] < TABLES_IN_TILE * TABLE_SUMS or stop_tile <= first_tile:
        return
    with nogil:
        for tile in range(first_tile, stop_tile):
            start = TILE_VALUES * tile
            fill_tables(
                &values[start], min(<Py_ssize_t>TILE_VALUES, values.shape[0] - start), &tables[0]
            )
            add_random(&tables[0], mixed(mixed(<uint64_t>tile) + own), first, n, &out[0])


def add_every(const int64_t[::1] values, int64_t first, int64_t[::1] tables, int64_t[::1] out):
    """out[i] += the sum of at most 62 values, value b with its sign where bit b of first + i is set."""
    cdef Py_ssize_t n = out.shape[0]
    if n == 0 or tables.shape[0] < TABLES_IN_TILE * TABLE_SUMS or values.shape[0] == 0:
        return
    with nogil:
        fill_tables(&values[0], min(<Py_ssize_t>TILE_VALUES, values.shape[0]), &tables[0])
        add_counted(&tables[0], first, n, &out[0])
