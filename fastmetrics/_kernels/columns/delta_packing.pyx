"""Integers as Parquet's DELTA_BINARY_PACKED: the differences of neighbors, in as few bits as the greatest of 32 needs.

A block has 128 differences. It begins with the least of them and the widths in bits of its four miniblocks, whose
differences from the least are packed from the lowest bit on. Differences wrap around as the integers do.
https://parquet.apache.org/docs/file-format/data-pages/encodings/
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from fastmetrics._kernels.columns.column_blocks cimport ColumnBlocks, memory_of

ctypedef fused integer_t:
    int32_t
    int64_t

cdef enum:
    BLOCK_VALUES = 128
    MINIBLOCKS = 4
    MINIBLOCK_VALUES = 32
    WORD_BITS = 64
    MOST_VARINT_BYTES = 10
    MOST_HEADER_BYTES = 40

MOST_BLOCK_BYTES = MOST_VARINT_BYTES + MINIBLOCKS + 8 * BLOCK_VALUES


def most_packed_bytes(Py_ssize_t n) -> int:
    """The most bytes that so many integers take."""
    return MOST_HEADER_BYTES + (n + BLOCK_VALUES - 1) // BLOCK_VALUES * MOST_BLOCK_BYTES


cdef inline uint8_t* write_varint(uint8_t* out, uint64_t number) noexcept nogil:
    """Seven bits a byte, the lowest first; the highest bit of a byte says that more follow."""
    while number >> 7:
        out[0] = <uint8_t>(number & 127 | 128)
        out += 1
        number >>= 7
    out[0] = <uint8_t>number
    return out + 1


cdef inline uint8_t* write_signed(uint8_t* out, int64_t number) noexcept nogil:
    return write_varint(out, <uint64_t>number << 1 ^ <uint64_t>(number >> 63))


cdef inline int width_of(uint64_t bits) noexcept nogil:
    """The place of the highest bit, from 1 on."""
    cdef int width = 0
    cdef int step = 32
    while step:
        if bits >> step:
            bits >>= step
            width += step
        step >>= 1
    return width + <int>bits


cdef inline uint8_t* pack_miniblock(uint8_t* out, const uint64_t* numbers, int width) noexcept nogil:
    """Write 32 numbers of `width` bits each; words are written in the order of bytes that x86 and ARM have."""
    cdef uint64_t word = 0
    cdef int filled = 0
    cdef Py_ssize_t i
    for i in range(MINIBLOCK_VALUES):
        word |= numbers[i] << filled
        filled += width
        if filled >= WORD_BITS:
            memcpy(out, &word, sizeof(word))
            out += sizeof(word)
            filled -= WORD_BITS
            word = numbers[i] >> (width - filled) if filled else 0
    memcpy(out, &word, filled >> 3)
    return out + (filled >> 3)


cdef uint8_t* pack_block(uint8_t* out, const integer_t* values, Py_ssize_t n) noexcept nogil:
    """Write the differences of values[0 .. n], at most 128, from the value before each."""
    cdef uint64_t numbers[BLOCK_VALUES]
    cdef integer_t least = 0
    cdef integer_t difference
    cdef Py_ssize_t i, first
    cdef uint64_t used
    cdef int width
    cdef uint8_t* widths
    for i in range(n):
        difference = <integer_t>(<uint64_t>values[i] - <uint64_t>values[i - 1])
        least = min(least, difference) if i else difference
        numbers[i] = <uint64_t>difference
    memset(numbers + n, 0, (BLOCK_VALUES - n) * sizeof(uint64_t))
    for i in range(n):
        numbers[i] -= <uint64_t>least
    out = write_signed(out, least)
    widths = out
    out += MINIBLOCKS
    memset(widths, 0, MINIBLOCKS)
    first = 0
    while first < n:
        used = 0
        for i in range(MINIBLOCK_VALUES):
            used |= numbers[first + i]
        width = width_of(used)
        widths[first // MINIBLOCK_VALUES] = <uint8_t>width
        if width:
            out = pack_miniblock(out, numbers + first, width)
        first += MINIBLOCK_VALUES
    return out


cdef uint8_t* pack_values(uint8_t* out, const integer_t* values, Py_ssize_t n) noexcept nogil:
    """Write the header and all blocks."""
    cdef Py_ssize_t first = 1
    out = write_varint(out, BLOCK_VALUES)
    out = write_varint(out, MINIBLOCKS)
    out = write_varint(out, <uint64_t>n)
    out = write_signed(out, values[0] if n else 0)
    while first < n:
        out = pack_block(out, values + first, min(<Py_ssize_t>BLOCK_VALUES, n - first))
        first += BLOCK_VALUES
    return out


def pack_deltas(ColumnBlocks values not None, out) -> int:
    """Write the integers of the only block, of 32 or 64 bits, and return the number of bytes.

    These are at most `most_packed_bytes` of their number.
    """
    cdef uint8_t* start
    cdef uint8_t* end
    values.check(b"values", 1, 4 if values.item_bytes == 4 else 8)
    start = <uint8_t*>memory_of(out, most_packed_bytes(values.lengths[0]), 1)
    with nogil:
        if values.item_bytes == 4:
            end = pack_values(start, <const int32_t*>values.starts[0], values.lengths[0])
        else:
            end = pack_values(start, <const int64_t*>values.starts[0], values.lengths[0])
    return end - start
