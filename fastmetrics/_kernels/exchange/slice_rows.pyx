"""Slices of rows: their numbers, and the pairs won inside every slice of a bucket of scores.

Numbers. A column has a code for each of its values. A table has the slice of every combination of codes.

Pairs. The rows of a bucket are brought into the order of their scores once (ordered_rows.pxd). Every set of slices is a
pass over that order. A bucket has less than 2**30 rows; pairs have 128 bits. For groups see slice_cells.pyx.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from fastmetrics._kernels.columns.column_blocks cimport ColumnBlocks
from fastmetrics._kernels.numeric.length_checks cimport need_below, need_length
from fastmetrics._kernels.exchange.bucket_order cimport BucketRows, order_bucket_rows
from fastmetrics._kernels.exchange.ordered_rows cimport MOST_ROWS, PairsOfSlice, add_row, is_tied

ctypedef fused key_t:
    uint32_t
    uint64_t

cdef enum:
    MOST_COLUMNS = 64
    CHUNK_ROWS = 1024

MOST_PLACES = 1 << 32

MISSING = 65535  # in place of a number: the combination is not in the table
NEGATIVES, POSITIVES, BELOW, RUN, WINS, HIGH_WINS = range(6)  # the fields of PairsOfSlice
N_FIELDS = 6


cdef Py_ssize_t look_up_rows(
    const int32_t* table, const uint32_t* sizes, const uint16_t** columns, Py_ssize_t n_columns, Py_ssize_t rows,
    uint16_t* out
) noexcept nogil:
    cdef uint32_t places[CHUNK_ROWS]
    cdef uint32_t outside[CHUNK_ROWS]
    cdef const uint16_t* column
    cdef Py_ssize_t i, n, number
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t n_missing = 0
    cdef uint32_t code, size
    if n_columns == 1:
        column, size = columns[0], sizes[0]
        for i in range(rows):
            out[i] = <uint16_t>table[column[i]] if column[i] < size else <uint16_t>65535
            n_missing += out[i] == 65535
        return n_missing
    while first < rows:
        n = min(<Py_ssize_t>CHUNK_ROWS, rows - first)
        for i in range(n):
            places[i] = outside[i] = 0
        for number in range(n_columns):
            column = columns[number] + first
            size = sizes[number]
            for i in range(n):
                code = column[i]
                outside[i] |= code >= size
                places[i] = places[i] * size + code
        for i in range(n):
            out[first + i] = <uint16_t>table[0 if outside[i] else places[i]] | <uint16_t>(0 - outside[i])
            n_missing += out[first + i] == 65535
        first += n
    return n_missing


def look_up(const int32_t[::1] table, tuple sizes, list columns, uint16_t[::1] out) -> int:
    """Write the number that a table has for the codes (uint16) of every row; return how many rows have none.

    The table has a row-major place for every combination of codes below `sizes`, less than 2**32 in all, and -1 where a
    combination has no number; numbers are below 65,535. A row without a number gets 65,535.
    """
    cdef const uint16_t* addresses[MOST_COLUMNS]
    cdef uint32_t lengths[MOST_COLUMNS]
    cdef const uint16_t[::1] column
    cdef Py_ssize_t number, n_missing
    cdef Py_ssize_t n_columns = len(columns)
    cdef Py_ssize_t rows = out.shape[0]
    n_places = 1
    if rows == 0:
        return 0
    if n_columns > MOST_COLUMNS or len(sizes) != n_columns:
        raise ValueError(f"{len(sizes)} sizes of {n_columns} columns; there are at most {MOST_COLUMNS}")
    for number in range(n_columns):
        column = columns[number]
        if column.shape[0] != rows:
            raise ValueError(f"a column of {column.shape[0]} codes beside {rows} rows")
        addresses[number] = &column[0]
        lengths[number] = sizes[number]
        n_places *= lengths[number]
    if n_places != table.shape[0] or n_places == 0 or n_places >= MOST_PLACES:
        raise ValueError(f"a table of {table.shape[0]} numbers for {n_places} combinations")
    with nogil:
        n_missing = look_up_rows(&table[0], lengths, addresses, n_columns, rows, &out[0])
    return n_missing


def find_first_rows(const int64_t[::1] codes, int64_t[::1] first_rows):
    """Write the first row of every code below the length of `first_rows`, or -1; other codes are skipped."""
    cdef Py_ssize_t i
    cdef uint64_t code
    cdef uint64_t n_codes = first_rows.shape[0]
    with nogil:
        for i in range(first_rows.shape[0]):
            first_rows[i] = -1
        for i in range(codes.shape[0]):
            code = <uint64_t>codes[i]
            if code < n_codes and first_rows[code] < 0:
                first_rows[code] = i


def count_rows(const uint16_t[::1] numbers, const uint8_t[::1] labels or None, int64_t[::1] counts):
    """Add the rows of every number to counts[number]; with labels, those with label 1 alone."""
    cdef Py_ssize_t i
    if numbers.shape[0] == 0:
        return
    need_below(b"numbers", &numbers[0], numbers.shape[0], counts.shape[0])
    if labels is not None:
        need_length(b"labels", labels.shape[0], numbers.shape[0])
    with nogil:
        if labels is None:
            for i in range(numbers.shape[0]):
                counts[numbers[i]] += 1
        else:
            for i in range(numbers.shape[0]):
                counts[numbers[i]] += labels[i]


cdef void gather_keys(
    const key_t** blocks, const int32_t* offsets, Py_ssize_t n_blocks, Py_ssize_t row_stride,
    uint64_t* keys, BucketRows* rows, uint64_t* high
) noexcept nogil:
    """Copy the keys of a bucket together, negatives first; set its rows and its highest key."""
    cdef Py_ssize_t block, i, label
    cdef Py_ssize_t n = 0
    cdef const key_t* own
    cdef const int32_t* span
    cdef uint64_t key
    cdef uint64_t least = ~<uint64_t>0
    cdef uint64_t most = 0
    for label in range(2):
        rows.n_negatives = n
        for block in range(n_blocks):
            span = offsets + block * row_stride
            own = blocks[block]
            for i in range(span[label], span[label + 1]):
                key = own[i]
                least = min(least, key)
                most = max(most, key)
                keys[n] = key
                n += 1
    rows.keys, rows.n, rows.low = keys, n, least
    high[0] = most


cdef bint have_spans(
    const int32_t[:, ::1] offsets, Py_ssize_t first, const Py_ssize_t* lengths, Py_ssize_t* n_rows
) noexcept nogil:
    """Does every block have the rows of the two classes that begin at column `first` of the offsets?"""
    cdef Py_ssize_t block
    n_rows[0] = 0
    for block in range(offsets.shape[0]):
        if not 0 <= offsets[block, first] <= offsets[block, first + 1] <= offsets[block, first + 2] <= lengths[block]:
            return False
        n_rows[0] += offsets[block, first + 2] - offsets[block, first]
    return True


cdef void gather_codes(
    const uint16_t** blocks, const int32_t[:, ::1] offsets, Py_ssize_t bucket, uint16_t* out
) noexcept nogil:
    """Copy the codes of a bucket together, those of negatives first."""
    cdef Py_ssize_t block, label, i
    cdef Py_ssize_t n = 0
    for label in range(2):
        for block in range(offsets.shape[0]):
            for i in range(offsets[block, 2 * bucket + label], offsets[block, 2 * bucket + label + 1]):
                out[n] = blocks[block][i]
                n += 1


def order_bucket(
    ColumnBlocks keys not None, list code_columns not None, const int32_t[:, ::1] offsets, Py_ssize_t bucket,
    uint64_t[:, ::1] rows, uint16_t[::1] unordered, uint16_t[:, ::1] codes, uint32_t[::1] ordered
) -> int:
    """Write the rows of a bucket in the order of their scores, and their codes in that order; return their number.

    Keys are uint32 or uint64; `code_columns` has the ColumnBlocks of every column of codes. `rows` (three words for
    each row) and `unordered` are working memory. A bucket has less than 2**30 rows.
    """
    cdef Py_ssize_t i, column, n
    cdef BucketRows own
    cdef uint64_t high
    cdef ColumnBlocks source
    cdef Py_ssize_t n_blocks = offsets.shape[0]
    keys.check(b"keys", n_blocks, 4 if keys.item_bytes == 4 else 8)
    if not 0 <= bucket or 2 * bucket + 2 >= offsets.shape[1]:
        raise ValueError(f"bucket {bucket} has no offsets")
    if not have_spans(offsets, 2 * bucket, keys.lengths, &n):
        raise ValueError(f"a block has less rows than the offsets of bucket {bucket}")
    if n >= MOST_ROWS:
        raise OverflowError(f"a bucket of {n} rows; at most 2**30 - 1 can be ordered in memory")
    if n == 0:
        return 0
    if rows.shape[0] < 3 or rows.shape[1] < n or unordered.shape[0] < n or ordered.shape[0] < n or (
            codes.shape[0] < len(code_columns) or (len(code_columns) and codes.shape[1] < n)):
        raise ValueError(f"working memory or results are too short for {n} rows")
    with nogil:
        if keys.item_bytes == 4:
            gather_keys[uint32_t](
                <const uint32_t**>keys.starts, &offsets[0, 2 * bucket], n_blocks, offsets.shape[1], &rows[0, 0], &own,
                &high)
        else:
            gather_keys[uint64_t](
                <const uint64_t**>keys.starts, &offsets[0, 2 * bucket], n_blocks, offsets.shape[1], &rows[0, 0], &own,
                &high)
        order_bucket_rows(&own, high, &rows[1, 0], &rows[2, 0], &ordered[0])
    for column in range(len(code_columns)):
        source = <ColumnBlocks?>code_columns[column]
        source.check(b"codes", n_blocks, 2)
        if not have_spans(offsets, 2 * bucket, source.lengths, &n):
            raise ValueError(f"a block of codes has less rows than the offsets of bucket {bucket}")
        with nogil:
            gather_codes(<const uint16_t**>source.starts, offsets, bucket, &unordered[0])
            for i in range(n):
                codes[column, i] = unordered[ordered[i] & (MOST_ROWS - 1)]
    return n


def add_ordered(const uint32_t[::1] ordered, const uint16_t[::1] numbers, int64_t run, int64_t[:, ::1] pairs) -> int:
    """Add rows in ascending order of scores to the pairs of their slices; return the number of the last run.

    Row i is in slice numbers[i], which is 0 if there is one slice. `run` is the number of the last run of equal scores
    of the rows added before. Rows of `pairs` have the fields of PairsOfSlice.
    """
    cdef Py_ssize_t i
    cdef Py_ssize_t n = numbers.shape[0]
    cdef PairsOfSlice* slices
    cdef PairsOfSlice whole
    cdef uint32_t word
    need_length(b"ordered", ordered.shape[0], n)
    need_length(b"fields of pairs", pairs.shape[1], N_FIELDS)
    if n == 0:
        return run
    need_below(b"numbers", &numbers[0], n, pairs.shape[0])
    slices = <PairsOfSlice*>&pairs[0, 0]
    if pairs.shape[0] == 1:  # its fields stay in registers
        whole = slices[0]
        with nogil:
            for i in range(n):
                word = ordered[i]
                run += not is_tied(word)
                add_row(&whole, word, run)
        slices[0] = whole
        return run
    with nogil:
        for i in range(n):
            word = ordered[i]
            run += not is_tied(word)
            add_row(slices + numbers[i], word, run)
    return run
