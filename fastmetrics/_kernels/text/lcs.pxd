"""Longest common subsequences (LCS) of two texts of small numbers: the length, and one subsequence by a trace.

Columns are the tokens of the hypothesis, numbered from 1. Rows are the tokens of the reference, without those that the
hypothesis does not have: their rows would equal the row before, and a trace would pass over them. Nothing is allocated
here.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

cdef extern from "text/lcs_bits.h":
    enum: FM_STRIP
    int bit_count "fm_bit_count"(uint64_t word) noexcept nogil
    int highest_bit "fm_highest_bit"(uint64_t word) noexcept nogil
    uint64_t lcs_step "fm_lcs_step"(uint64_t row, uint64_t match, unsigned char* carry) noexcept nogil
    uint64_t lcs_word "fm_lcs_word"(const uint64_t* masks, const int32_t* tokens, int64_t n) noexcept nogil
    void lcs_strip "fm_lcs_strip"(
        const uint64_t* masks, const int32_t* tokens, int64_t n, uint8_t* carries, uint64_t* bits
    ) noexcept nogil
    void lcs_sparse_strip "fm_lcs_sparse_strip"(
        const uint64_t* masks, const uint8_t* present, const int32_t* tokens, int64_t n, uint8_t* carries,
        uint64_t* bits
    ) noexcept nogil

cdef enum:
    WORD_BITS = 64
    STRIP_WORDS = 4             # words in a strip: FM_STRIP
    MIN_SPARSE_COLUMNS = 4096   # least number of columns for which sparse strips are looked for
    SPARSE_RATIO = 8            # a strip is sparse if fewer than one row in SPARSE_RATIO has one of its tokens


cdef struct LcsTable:
    uint64_t* masks             # [token * STRIP_WORDS + word]: columns of a strip; 0 between calls
    uint8_t* present            # [token]: whether the strip has it; 0 between calls
    uint8_t* carries            # [row]
    uint64_t* rows              # rows of bits that a trace stores
    int64_t row_capacity        # words in `rows`


cdef inline int64_t set_strip_masks(
    LcsTable* table, const int32_t* columns, int64_t n, const int32_t* row_counts
) noexcept nogil:
    """Set the masks of up to STRIP_WORDS words of columns. Return how many rows have one of their tokens, or
    0 if row_counts is NULL."""
    cdef int64_t column, n_rows = 0
    for column in range(n):
        table.masks[columns[column] * <int64_t>STRIP_WORDS + column // WORD_BITS] |= (
            <uint64_t>1 << (column & (WORD_BITS - 1))
        )
    if row_counts != NULL:
        for column in range(n):
            if not table.present[columns[column]]:
                table.present[columns[column]] = 1
                n_rows += row_counts[columns[column]]
    return n_rows


cdef inline void clear_strip_masks(LcsTable* table, const int32_t* columns, int64_t n) noexcept nogil:
    cdef int64_t column
    for column in range(n):
        memset(table.masks + columns[column] * <int64_t>STRIP_WORDS, 0, STRIP_WORDS * sizeof(uint64_t))
        table.present[columns[column]] = 0


cdef inline int64_t lcs_length_by_strips(
    LcsTable* table, const int32_t* columns, int64_t n_columns, const int32_t* rows, int64_t n_rows,
    const int32_t* row_counts
) noexcept nogil:
    """Return the length of the LCS, strip by strip."""
    cdef uint64_t last[STRIP_WORDS]
    cdef int64_t n, word, n_present, start = 0, length = 0
    cdef uint64_t bits
    memset(table.carries, 0, <size_t>n_rows)
    while start < n_columns:
        n = min(n_columns - start, <int64_t>STRIP_WORDS * WORD_BITS)
        n_present = set_strip_masks(table, columns + start, n, row_counts)
        memset(last, 0xFF, sizeof(last))
        if row_counts != NULL and n_present < n_rows // SPARSE_RATIO:
            lcs_sparse_strip(table.masks, table.present, rows, n_rows, table.carries, last)
        else:
            lcs_strip(table.masks, rows, n_rows, table.carries, last)
        clear_strip_masks(table, columns + start, n)
        for word in range((n + WORD_BITS - 1) // WORD_BITS):
            bits = ~last[word]
            if n - word * WORD_BITS < WORD_BITS:
                bits &= (<uint64_t>1 << (n - word * WORD_BITS)) - 1
            length += bit_count(bits)
        start += n
    return length


cdef inline int64_t lcs_length_one_word(
    LcsTable* table, const int32_t* columns, int64_t n_columns, const int32_t* rows, int64_t n_rows
) noexcept nogil:
    """Return the length of the LCS for up to 64 columns."""
    cdef int64_t column
    cdef uint64_t bits
    for column in range(n_columns):
        table.masks[columns[column]] |= <uint64_t>1 << column
    bits = ~lcs_word(table.masks, rows, n_rows)
    for column in range(n_columns):
        table.masks[columns[column]] = 0
    if n_columns < WORD_BITS:
        bits &= (<uint64_t>1 << n_columns) - 1
    return bit_count(bits)


cdef inline int64_t lcs_length(
    LcsTable* table, const int32_t* columns, int64_t n_columns, int64_t n_distinct, const int32_t* rows, int64_t n_rows,
    int32_t* row_counts
) noexcept nogil:
    """Return the length of the LCS. The columns are numbered up to n_distinct. `row_counts` is scratch for
    n_distinct + 1 numbers."""
    cdef int64_t row, n_common = 0
    if n_columns <= WORD_BITS:
        return lcs_length_one_word(table, columns, n_columns, rows, n_rows)
    # A common prefix or suffix is part of an LCS.
    while n_columns and n_rows and columns[n_columns - 1] == rows[n_rows - 1]:
        n_columns -= 1
        n_rows -= 1
        n_common += 1
    while n_columns and n_rows and columns[0] == rows[0]:
        columns += 1
        rows += 1
        n_columns -= 1
        n_rows -= 1
        n_common += 1
    if n_rows == 0 or n_columns < MIN_SPARSE_COLUMNS:
        return n_common + lcs_length_by_strips(table, columns, n_columns if n_rows else 0, rows, n_rows, NULL)
    memset(row_counts, 0, <size_t>(n_distinct + 1) * sizeof(int32_t))
    for row in range(n_rows):
        row_counts[rows[row]] += 1
    return n_common + lcs_length_by_strips(table, columns, n_columns, rows, n_rows, row_counts)


# ------------------------------------------------------------------------------------------------ one subsequence
#
# The trace starts in the last cell. If row and column have the same token, the row is marked, and the trace moves to
# the row and column before. Otherwise it moves to the column before if that cell is greater than the one in the row
# before, and else to the row before. If the tokens differ, the first case holds if the cell is greater than the cell
# above. That difference changes at every column whose bits differ between the two rows, to 1 where the lower row grows.
# So the nearest such column, at or before the column of the trace, decides. From that column on, which has the token of
# the row, the difference stays 1. A row is therefore finished after one check.


cdef inline void trace_one_word(
    const uint64_t* masks, const int32_t* rows, int64_t n_rows, int64_t n_columns, uint64_t* bits, uint8_t* matched
) noexcept nogil:
    """Mark the rows of the subsequence in `matched`, for up to 64 columns. `bits` has room for n_rows + 1 words."""
    cdef int64_t row
    cdef uint64_t match, below, changed, both
    bits[0] = ~<uint64_t>0
    for row in range(n_rows):
        both = bits[row] & masks[rows[row]]
        bits[row + 1] = (bits[row] + both) | (bits[row] - both)
    # The columns up to the column of the trace.
    below = ~<uint64_t>0 if n_columns == WORD_BITS else (<uint64_t>1 << n_columns) - 1
    for row in range(n_rows - 1, -1, -1):
        match = masks[rows[row]] & below
        if match == 0:
            continue
        if not match > below >> 1:
            changed = (bits[row] ^ bits[row + 1]) & below
            if changed == 0 or bits[row + 1] >> highest_bit(changed) & 1:
                continue
        matched[row] = 1
        below = (<uint64_t>1 << highest_bit(match)) - 1
        if below == 0:
            return


cdef struct Trace:
    LcsTable* table
    const int32_t* columns
    const int32_t* rows
    uint8_t* matched
    int64_t n_words             # in a row of bits
    int64_t n_columns
    int64_t n_stored            # rows of bits that a level stores, in addition to its first one
    int64_t row                 # the trace has this many rows and columns left
    int64_t column


cdef inline int64_t n_words_left(const Trace* trace) noexcept nogil:
    """Return the number of words whose columns the trace has not passed. The others are not needed any more."""
    return (trace.column + WORD_BITS - 1) // WORD_BITS


cdef inline void skip_rows(
    Trace* trace, const uint64_t* above, int64_t first, int64_t stop, uint64_t* out
) noexcept nogil:
    """Compute the row of bits of row stop - 1 from the one before row `first`."""
    cdef const int32_t* columns = trace.columns
    cdef uint64_t[STRIP_WORDS] bits
    cdef int64_t n, n_bytes, word = 0, n_words = n_words_left(trace)
    memset(trace.table.carries, 0, <size_t>(stop - first))
    while word < n_words:
        n = min(trace.n_columns - word * WORD_BITS, <int64_t>STRIP_WORDS * WORD_BITS)
        n_bytes = min(n_words - word, <int64_t>STRIP_WORDS) * <int64_t>sizeof(uint64_t)
        set_strip_masks(trace.table, columns + word * WORD_BITS, n, NULL)
        memset(bits, 0xFF, sizeof(bits))
        memcpy(bits, above + word, <size_t>n_bytes)
        lcs_strip(trace.table.masks, trace.rows + first, stop - first, trace.table.carries, bits)
        memcpy(out + word, bits, <size_t>n_bytes)
        clear_strip_masks(trace.table, columns + word * WORD_BITS, n)
        word += STRIP_WORDS


cdef inline void compute_rows(
    Trace* trace, const uint64_t* above, int64_t first, int64_t stop, uint64_t* out
) noexcept nogil:
    """Compute the rows of bits of rows first to stop - 1. `above` is the row of bits before them."""
    cdef uint64_t* masks = trace.table.masks
    cdef uint8_t* carries = trace.table.carries
    cdef const int32_t* columns = trace.columns
    cdef int64_t word, column, row, begin, end
    cdef uint64_t bits
    memset(carries, 0, <size_t>(stop - first))
    for word in range(n_words_left(trace)):
        begin = word * WORD_BITS
        end = min(trace.n_columns, begin + WORD_BITS)
        for column in range(begin, end):
            masks[columns[column]] |= <uint64_t>1 << (column - begin)
        bits = above[word]
        for row in range(first, stop):
            bits = lcs_step(bits, masks[trace.rows[row]], &carries[row - first])
            out[(row - first) * trace.n_words + word] = bits
        for column in range(begin, end):
            masks[columns[column]] = 0


cdef inline bint is_greater(const Trace* trace, const uint64_t* above, const uint64_t* below) noexcept nogil:
    """Return whether the cell of the trace is greater than the cell above."""
    cdef int64_t word = (trace.column - 1) // WORD_BITS
    cdef int64_t used = trace.column - word * WORD_BITS
    cdef uint64_t changed = above[word] ^ below[word]
    if used < WORD_BITS:
        changed &= (<uint64_t>1 << used) - 1
    while changed == 0:
        if word == 0:
            return False
        word -= 1
        changed = above[word] ^ below[word]
    return not below[word] >> highest_bit(changed) & 1


cdef inline void trace_back(Trace* trace, int64_t first, const uint64_t* bits) noexcept nogil:
    """Trace up to row `first`. `bits` has the bits before row `first`, then those of all rows below."""
    cdef int32_t token
    cdef const uint64_t* below
    while trace.row > first and trace.column > 0:
        token = trace.rows[trace.row - 1]
        below = bits + (trace.row - first) * trace.n_words
        trace.row -= 1
        if trace.columns[trace.column - 1] != token:
            if not is_greater(trace, below - trace.n_words, below):
                continue
            while trace.columns[trace.column - 1] != token:
                trace.column -= 1
        trace.matched[trace.row] = 1
        trace.column -= 1


cdef inline void trace_rows(Trace* trace, int64_t first, int64_t stop, uint64_t* bits) noexcept nogil:
    """Trace the rows from stop - 1 up to `first`. `bits` has the bits before row `first`, then scratch memory.

    If there are more rows than a level can store, the range is divided into blocks. Only the bits before each block are
    stored, and the blocks are traced recursively, the last one first. A block has at least as many rows as a level
    stores, because each block costs a pass over all columns.
    """
    cdef int64_t block, n_blocks, index, n_words = trace.n_words
    cdef uint64_t* block_bits
    if stop - first <= trace.n_stored:
        compute_rows(trace, bits, first, stop, bits + n_words)
        trace_back(trace, first, bits)
        return
    block = max(trace.n_stored, (stop - first + trace.n_stored - 1) // trace.n_stored)
    n_blocks = (stop - first + block - 1) // block
    for index in range(1, n_blocks):
        skip_rows(
            trace, bits + (index - 1) * n_words, first + (index - 1) * block, first + index * block,
            bits + index * n_words,
        )
    block_bits = bits + (trace.n_stored + 1) * n_words
    for index in range(n_blocks - 1, -1, -1):
        memcpy(block_bits, bits + index * n_words, <size_t>n_words * sizeof(uint64_t))
        trace_rows(trace, first + index * block, min(stop, first + (index + 1) * block), block_bits)
        if trace.column == 0:
            return


cdef inline int64_t n_stored_rows(int64_t n_words, int64_t n_rows, int64_t max_words) noexcept nogil:
    """Return how many rows a level of a trace stores: all if they fit max_words, else few enough for several levels."""
    if (n_rows + 1) * n_words <= max_words:
        return max(n_rows, 1)
    return max(WORD_BITS, max_words // (4 * n_words))


cdef inline int64_t trace_size(int64_t n_columns, int64_t n_rows, int64_t max_words) noexcept nogil:
    """Return the number of words that a trace needs for n_columns and n_rows: about max_words if not all rows fit."""
    cdef int64_t n_words = max(1, (n_columns + WORD_BITS - 1) // WORD_BITS)
    cdef int64_t n_stored = n_stored_rows(n_words, n_rows, max_words)
    cdef int64_t n_reachable = n_stored
    cdef int64_t n_levels = 1
    if (n_rows + 1) * n_words <= max_words:
        return (n_rows + 1) * n_words
    while n_reachable < n_rows:
        n_reachable *= n_stored
        n_levels += 1
    return max(max_words, n_levels * max((WORD_BITS + 1) * n_words, max_words // 4 + n_words))


cdef inline void mark_lcs(
    LcsTable* table, const int32_t* columns, int64_t n_columns, const int32_t* rows, int64_t n_rows, int64_t max_words,
    uint8_t* matched
) noexcept nogil:
    """Mark the rows of the subsequence that the trace finds. `table.rows` has trace_size words."""
    cdef Trace trace
    cdef int64_t word
    if n_columns == 0 or n_rows == 0:
        return
    trace.table = table
    trace.columns = columns
    trace.rows = rows
    trace.matched = matched
    trace.n_columns = n_columns
    trace.n_words = (n_columns + WORD_BITS - 1) // WORD_BITS
    trace.row = n_rows
    trace.column = n_columns
    trace.n_stored = n_stored_rows(trace.n_words, n_rows, max_words)
    for word in range(trace.n_words):
        table.rows[word] = ~<uint64_t>0
    trace_rows(&trace, 0, n_rows, table.rows)
