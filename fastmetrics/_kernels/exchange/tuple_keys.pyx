"""Keys of several columns: pairs of numbers in two words, other tuples as bytes.

A number is 64 bits: an integer, or the bits of a float, a date or a time. A pair of numbers needs no bytes. Its hash is
a bijection of the first number for any second one, so the hash and the second number are the key.

Other tuples become bytes, which are then hashed and compared like the bytes of a text key. Different tuples of the same
columns have different bytes: every part but a text at the end says where it ends. A number of up to SMALL - 1 is one
byte; another number is one byte that counts its bytes, then these, the lowest first. Signed numbers are zigzag-coded
before (0, -1, 1, -2 become 0, 1, 2, 3), so that small ones are short. A text is its length, as a number, and its UTF-8
bytes; a text in the last column goes without the length. The bytes depend on the values alone: neither on the width of
an integer column nor on the batch.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t, uintptr_t
from libc.string cimport memcpy

ctypedef fused integer_t:
    int32_t
    int64_t
    uint64_t

cdef extern from "numeric/vector_math.h":
    void hash_u64 "fm_hash_u64"(const uint64_t* keys, Py_ssize_t n, uint64_t* out) noexcept nogil

cdef enum:
    KIND_INT32 = 0              # kinds of columns
    KIND_INT64 = 1
    KIND_UINT64 = 2
    KIND_TEXT32 = 3             # text with offsets of 32 or of 64 bits
    KIND_TEXT64 = 4
    SMALL = 248                 # numbers below are one byte
    MOST_NUMBER_BYTES = 9
    PADDING = 8                 # numbers are written eight bytes at a time

INT32 = KIND_INT32
INT64 = KIND_INT64
UINT64 = KIND_UINT64
TEXT32 = KIND_TEXT32
TEXT64 = KIND_TEXT64
NUMBER_BYTES = MOST_NUMBER_BYTES
PADDING_BYTES = PADDING


def hash_second_keys(const integer_t[::1] keys, uint64_t[::1] hashes, uint64_t[::1] heads):
    """From the hashes of the first numbers to those of pairs; heads[i] becomes the second number, keys[i]."""
    cdef Py_ssize_t i
    cdef Py_ssize_t n = keys.shape[0]
    if n == 0:
        return
    with nogil:
        for i in range(n):
            heads[i] = <uint64_t><int64_t>keys[i]
            hashes[i] ^= heads[i]
        hash_u64(&hashes[0], n, &hashes[0])


cdef inline uint64_t zigzag(int64_t value) noexcept nogil:
    return (<uint64_t>value << 1) ^ (<uint64_t>0 - (<uint64_t>value >> 63))


cdef inline uint8_t* write_number(uint8_t* out, uint64_t number) noexcept nogil:
    cdef int n_bytes = 1
    cdef uint64_t rest = number >> 8
    if number < SMALL:
        out[0] = <uint8_t>number
        return out + 1
    while rest:
        rest >>= 8
        n_bytes += 1
    out[0] = <uint8_t>(SMALL - 1 + n_bytes)
    memcpy(out + 1, &number, 8)
    return out + 1 + n_bytes


def encode_tuples(
    const uint8_t[::1] kinds, const uint64_t[::1] addresses, const uint64_t[::1] text_addresses, int64_t[::1] offsets,
    uint8_t[::1] out
) -> bool:
    """Write the bytes of every row's tuple to `out`, row i from offsets[i] to offsets[i + 1].

    Column c begins at addresses[c]: its numbers, or the offsets of its texts, which are at text_addresses[c]. `out` has
    NUMBER_BYTES for every value, the bytes of all texts, and PADDING_BYTES. Returns False if it is too small, which
    means that another thread changed a column.
    """
    cdef Py_ssize_t row, column
    cdef Py_ssize_t n_rows = offsets.shape[0] - 1
    cdef Py_ssize_t last = kinds.shape[0] - 1
    cdef uint8_t* position = &out[0]
    cdef uint8_t* end = &out[0] + out.shape[0] - PADDING
    cdef uintptr_t values
    cdef uint8_t kind
    cdef int64_t start, length
    cdef bint fits = True
    with nogil:
        offsets[0] = 0
        for row in range(n_rows):
            for column in range(last + 1):
                if end - position < MOST_NUMBER_BYTES:
                    fits = False
                    break
                kind = kinds[column]
                values = <uintptr_t>addresses[column]
                if kind == KIND_INT64:
                    position = write_number(position, zigzag((<const int64_t*>values)[row]))
                    continue
                if kind == KIND_INT32:
                    position = write_number(position, zigzag((<const int32_t*>values)[row]))
                    continue
                if kind == KIND_UINT64:
                    position = write_number(position, (<const uint64_t*>values)[row])
                    continue
                if kind == KIND_TEXT32:
                    start = (<const int32_t*>values)[row]
                    length = (<const int32_t*>values)[row + 1] - start
                else:
                    start = (<const int64_t*>values)[row]
                    length = (<const int64_t*>values)[row + 1] - start
                if column < last:
                    position = write_number(position, <uint64_t>length)
                if length < 0 or length > end - position:
                    fits = False
                    break
                if length:
                    memcpy(position, <const uint8_t*><uintptr_t>text_addresses[column] + start, <size_t>length)
                position += length
            if not fits:
                break
            offsets[row + 1] = position - &out[0]
    return fits


cdef inline const uint8_t* read_number(const uint8_t* position, const uint8_t* end, uint64_t* number) noexcept nogil:
    """Read a number; return where it ends, or NULL if that is beyond the end."""
    cdef int n_bytes
    cdef int i
    if position >= end:
        return NULL
    number[0] = position[0]
    if position[0] < SMALL:
        return position + 1
    n_bytes = position[0] - (SMALL - 1)
    position += 1
    if n_bytes > 8 or end - position < n_bytes:
        return NULL
    number[0] = 0
    for i in range(n_bytes):
        number[0] |= <uint64_t>position[i] << (8 * i)
    return position + n_bytes


def decode_tuples(list encoded, const uint8_t[::1] kinds, uint64_t[:, ::1] numbers) -> list[list[bytes]]:
    """The inverse of encode_tuples, from one bytes object for every tuple.

    numbers[c, i] becomes the number of tuple i in column c. Returns the texts of every column that has texts, in the
    order of the columns.
    """
    cdef Py_ssize_t row, column
    cdef Py_ssize_t last = kinds.shape[0] - 1
    cdef const uint8_t* position
    cdef const uint8_t* end
    cdef uint64_t number = 0
    cdef bytes key
    cdef list texts = [[] for _ in range(last + 1)]
    for row in range(len(encoded)):
        key = encoded[row]
        position = <const uint8_t*><const char*>key
        end = position + len(key)
        for column in range(last + 1):
            if column < last or kinds[column] < KIND_TEXT32:
                position = read_number(position, end, &number)
            else:
                number = <uint64_t>(end - position)
            if position == NULL or (kinds[column] >= KIND_TEXT32 and number > <uint64_t>(end - position)):
                raise ValueError("the bytes of a key of several columns end too early")
            if kinds[column] >= KIND_TEXT32:
                texts[column].append((<const char*>position)[:<Py_ssize_t>number])
                position += number
            elif kinds[column] == KIND_UINT64:
                numbers[column, row] = number
            else:
                numbers[column, row] = (number >> 1) ^ (<uint64_t>0 - (number & 1))
    return [column_texts for kind, column_texts in zip(kinds, texts) if kind >= KIND_TEXT32]
