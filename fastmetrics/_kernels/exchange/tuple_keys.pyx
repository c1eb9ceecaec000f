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

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from fastmetrics._kernels.columns.column_blocks cimport ColumnBlocks
from fastmetrics._kernels.numeric.length_checks cimport need_length

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
    need_length(b"hashes", hashes.shape[0], n)
    need_length(b"heads", heads.shape[0], n)
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


cdef struct TupleColumn:
    uint8_t kind
    const void* values             # numbers, or the offsets of texts
    const uint8_t* text
    int64_t text_bytes


cdef bint write_tuples(
    const TupleColumn* columns, Py_ssize_t last, int64_t[::1] offsets, uint8_t* out, Py_ssize_t n_bytes
) noexcept nogil:
    """Write the tuples of all rows; False if `out` is too small, or if a text is not a part of its column's bytes."""
    cdef Py_ssize_t row, column
    cdef uint8_t* position = out
    cdef uint8_t* end = out + n_bytes - PADDING
    cdef const void* values
    cdef uint8_t kind
    cdef int64_t start, length
    offsets[0] = 0
    for row in range(offsets.shape[0] - 1):
        for column in range(last + 1):
            if end - position < MOST_NUMBER_BYTES:
                return False
            kind = columns[column].kind
            values = columns[column].values
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
            if not 0 <= length <= end - position or start < 0 or start > columns[column].text_bytes - length:
                return False
            if length:
                memcpy(position, columns[column].text + start, <size_t>length)
            position += length
        offsets[row + 1] = position - out
    return True


def encode_tuples(
    const uint8_t[::1] kinds, list values not None, list texts not None, int64_t[::1] offsets, uint8_t[::1] out
) -> bool:
    """Write the bytes of every row's tuple to `out`, row i from offsets[i] to offsets[i + 1].

    A column is a ColumnBlocks of one block: values[c] has the numbers of column c, or the offsets of its texts, which
    are in texts[c] (else None). `out` has NUMBER_BYTES for every value, the bytes of all texts, and PADDING_BYTES.
    Returns False if it is too small, or if a text is no part of its column: another thread changed a column.
    """
    cdef Py_ssize_t column
    cdef Py_ssize_t n_columns = kinds.shape[0]
    cdef ColumnBlocks own
    cdef bint fits, is_text
    need_length(b"offsets", offsets.shape[0], 1)
    need_length(b"out", out.shape[0], PADDING)
    if len(values) != n_columns or len(texts) != n_columns:
        raise ValueError(f"{n_columns} kinds of {len(values)} columns with {len(texts)} texts")
    cdef TupleColumn* columns = <TupleColumn*>malloc(<size_t>(n_columns + 1) * sizeof(TupleColumn))
    if columns == NULL:
        raise MemoryError
    try:
        for column in range(n_columns):
            own = <ColumnBlocks?>values[column]
            is_text = kinds[column] >= KIND_TEXT32
            own.check(b"values", 1, 4 if kinds[column] in (KIND_INT32, KIND_TEXT32) else 8)
            need_length(b"values", own.lengths[0], offsets.shape[0] - 1 + is_text)
            columns[column].kind = kinds[column]
            columns[column].values = own.starts[0]
            columns[column].text_bytes = 0
            if is_text:
                own = <ColumnBlocks?>texts[column]
                own.check(b"texts", 1, 1)
                columns[column].text = <const uint8_t*>own.starts[0]
                columns[column].text_bytes = own.lengths[0]
        with nogil:
            fits = write_tuples(columns, n_columns - 1, offsets, &out[0], out.shape[0])
    finally:
        free(columns)
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
    need_length(b"numbers", numbers.shape[0], last + 1)
    need_length(b"a column of numbers", numbers.shape[1], len(encoded))
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
