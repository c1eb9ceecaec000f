"""Pairs won inside every slice of the rows of a bucket of scores: AUC by slice, for several sets of slices.

The rows of a bucket are brought into the order of their scores once (ordered_rows.pxd). Every set of slices is a pass
over that order. A bucket has less than 2**30 rows; pairs have 128 bits.
"""

from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t, uintptr_t

from fastmetrics._kernels.exchange.ordered_rows cimport (
    MOST_ROWS, PairsOfSlice, add_row, is_tied, order_rows, row_of,
)
from fastmetrics._kernels.exchange.radix_sort_descending cimport KeyedRow

ctypedef fused key_t:
    uint32_t
    uint64_t

NEGATIVES, POSITIVES, BELOW, RUN, WINS, HIGH_WINS = range(6)
N_FIELDS = 6
KEYED_ROW_WORDS = 2


cdef Py_ssize_t gather_rows(
    key_t first_key, const uint64_t* blocks, const int32_t* offsets, Py_ssize_t n_blocks, Py_ssize_t row_stride,
    KeyedRow* rows
) noexcept nogil:
    """Copy the keys of a bucket together. `first_key` gives their type."""
    cdef Py_ssize_t block, i, label
    cdef Py_ssize_t n = 0
    cdef const key_t* keys
    cdef const int32_t* span
    for block in range(n_blocks):
        span = offsets + block * row_stride
        keys = <const key_t*><uintptr_t>blocks[block]
        for label in range(2):
            for i in range(span[label], span[label + 1]):
                # The sort reads the upper bits first.
                rows[n].key = (<uint64_t>keys[i] << 32) if key_t is uint32_t else <uint64_t>keys[i]
                rows[n].row = row_of(<uint32_t>n, label)
                n += 1
    return n


def order_bucket(
    const uint64_t[::1] blocks, const uint64_t[:, ::1] code_blocks, const int32_t[:, ::1] offsets, Py_ssize_t bucket,
    bint are_short, uint64_t[:, ::1] rows, uint16_t[::1] unordered, uint16_t[:, ::1] codes, uint32_t[::1] ordered
) -> int:
    """Write the rows of a bucket in the order of their scores, and their codes in that order; return their number.

    `blocks` are the addresses of the blocks' keys (uint32 if `are_short`, else uint64), `code_blocks` those of their
    codes, a row for every column. `rows` (2, two words for each row) and `unordered` are working memory. A bucket has
    less than 2**30 rows.
    """
    cdef Py_ssize_t i, block, column, first, n
    cdef Py_ssize_t n_blocks = blocks.shape[0]
    cdef const int32_t* span
    cdef const uint16_t* source
    cdef KeyedRow* keyed = <KeyedRow*>&rows[0, 0]
    cdef KeyedRow* scratch = <KeyedRow*>&rows[1, 0]
    n = 0
    for block in range(n_blocks):
        n += offsets[block, 2 * bucket + 2] - offsets[block, 2 * bucket]
    if n >= MOST_ROWS:
        raise OverflowError(f"a bucket of {n} rows; at most 2**30 - 1 can be ordered in memory")
    if n == 0:
        return 0
    with nogil:
        if are_short:
            gather_rows[uint32_t](0, &blocks[0], &offsets[0, 2 * bucket], n_blocks, offsets.shape[1], keyed)
        else:
            gather_rows[uint64_t](0, &blocks[0], &offsets[0, 2 * bucket], n_blocks, offsets.shape[1], keyed)
        order_rows(keyed, scratch, n, &ordered[0])
        for column in range(code_blocks.shape[0]):
            first = 0
            for block in range(n_blocks):
                span = &offsets[block, 2 * bucket]
                source = <const uint16_t*><uintptr_t>code_blocks[column, block]
                for i in range(span[0], span[2]):
                    unordered[first] = source[i]
                    first += 1
            for i in range(n):
                codes[column, i] = unordered[ordered[i] & (MOST_ROWS - 1)]
    return n


def add_ordered(const uint32_t[::1] ordered, const uint16_t[::1] numbers, int64_t run, int64_t[:, ::1] pairs) -> int:
    """Add rows in ascending order of scores to the pairs of their slices; return the number of the last run.

    Row i is in slice numbers[i]. `run` is the number of the last run of equal scores of the rows added before. Rows of
    `pairs` have the fields of PairsOfSlice.
    """
    cdef Py_ssize_t i
    cdef Py_ssize_t n = numbers.shape[0]
    cdef PairsOfSlice* slices = <PairsOfSlice*>&pairs[0, 0]
    cdef uint32_t word
    with nogil:
        for i in range(n):
            word = ordered[i]
            run += not is_tied(word)
            add_row(slices + numbers[i], word, run)
    return run
