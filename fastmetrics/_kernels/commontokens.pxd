"""Longest common subsequences of two texts of small numbers: how long they are, and which one a table gives.

Columns are the tokens of the hypothesis, numbered from 1; rows are tokens of the reference, those that the hypothesis
does not have left out (their rows equal the row before, and a trace passes them). Nothing is allocated here.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

cdef extern from "lcsbits.h":
    enum: FM_STRIP
    int bits_set "fm_bits_set"(uint64_t word) noexcept nogil
    int last_bit "fm_last_bit"(uint64_t word) noexcept nogil
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
    WORD = 64
    STRIP = 4                   # words: FM_STRIP
    LONG = 4096                 # columns from which on strips are looked at before the rows are gone through
    SPARSE = 8                  # a strip is sparse where fewer than one row in so many has a token of it


cdef struct Table:
    uint64_t* masks             # [token * STRIP + word]: columns of a strip; all 0 between calls
    uint8_t* present            # [token]: is it in the strip? 0 between calls
    uint8_t* carries            # [row]
    uint64_t* rows              # rows of bits that a trace keeps
    int64_t row_room            # words in `rows`


cdef inline int64_t enter_strip(
    Table* table, const int32_t* columns, int64_t n, const int32_t* row_counts
) noexcept nogil:
    """Enter up to STRIP words of columns; returns how many rows have a token of theirs, if their counts are given."""
    cdef int64_t column, n_rows = 0
    for column in range(n):
        table.masks[columns[column] * <int64_t>STRIP + column // WORD] |= <uint64_t>1 << (column & (WORD - 1))
    if row_counts != NULL:
        for column in range(n):
            if not table.present[columns[column]]:
                table.present[columns[column]] = 1
                n_rows += row_counts[columns[column]]
    return n_rows


cdef inline void leave_strip(Table* table, const int32_t* columns, int64_t n) noexcept nogil:
    cdef int64_t column
    for column in range(n):
        memset(table.masks + columns[column] * <int64_t>STRIP, 0, STRIP * sizeof(uint64_t))
        table.present[columns[column]] = 0


cdef inline int64_t strips_length(
    Table* table, const int32_t* columns, int64_t n_columns, const int32_t* rows, int64_t n_rows,
    const int32_t* row_counts
) noexcept nogil:
    """The length of a longest common subsequence, strip by strip."""
    cdef uint64_t last[STRIP]
    cdef int64_t n, word, n_found, start = 0, length = 0
    cdef uint64_t bits
    memset(table.carries, 0, <size_t>n_rows)
    while start < n_columns:
        n = min(n_columns - start, <int64_t>STRIP * WORD)
        n_found = enter_strip(table, columns + start, n, row_counts)
        memset(last, 0xFF, sizeof(last))
        if row_counts != NULL and n_found < n_rows // SPARSE:
            lcs_sparse_strip(table.masks, table.present, rows, n_rows, table.carries, last)
        else:
            lcs_strip(table.masks, rows, n_rows, table.carries, last)
        leave_strip(table, columns + start, n)
        for word in range((n + WORD - 1) // WORD):
            bits = ~last[word]
            if n - word * WORD < WORD:
                bits &= (<uint64_t>1 << (n - word * WORD)) - 1
            length += bits_set(bits)
        start += n
    return length


cdef inline int64_t word_length(
    Table* table, const int32_t* columns, int64_t n_columns, const int32_t* rows, int64_t n_rows
) noexcept nogil:
    """The same of up to 64 columns."""
    cdef int64_t column
    cdef uint64_t bits
    for column in range(n_columns):
        table.masks[columns[column]] |= <uint64_t>1 << column
    bits = ~lcs_word(table.masks, rows, n_rows)
    for column in range(n_columns):
        table.masks[columns[column]] = 0
    if n_columns < WORD:
        bits &= (<uint64_t>1 << n_columns) - 1
    return bits_set(bits)


cdef inline int64_t common_length(
    Table* table, const int32_t* columns, int64_t n_columns, int64_t n_distinct, const int32_t* rows, int64_t n_rows,
    int32_t* row_counts
) noexcept nogil:
    """The length of a longest common subsequence. `columns` are numbered up to n_distinct; `row_counts` has room for as
    many numbers and is written."""
    cdef int64_t row, n_same = 0
    if n_columns <= WORD:
        return word_length(table, columns, n_columns, rows, n_rows)
    # What both begin or end with is part of a longest common subsequence.
    while n_columns and n_rows and columns[n_columns - 1] == rows[n_rows - 1]:
        n_columns -= 1
        n_rows -= 1
        n_same += 1
    while n_columns and n_rows and columns[0] == rows[0]:
        columns += 1
        rows += 1
        n_columns -= 1
        n_rows -= 1
        n_same += 1
    if n_rows == 0 or n_columns < LONG:
        return n_same + strips_length(table, columns, n_columns if n_rows else 0, rows, n_rows, NULL)
    memset(row_counts, 0, <size_t>(n_distinct + 1) * sizeof(int32_t))
    for row in range(n_rows):
        row_counts[rows[row]] += 1
    return n_same + strips_length(table, columns, n_columns, rows, n_rows, row_counts)


# ------------------------------------------------------------------------------------------------ which subsequence
#
# The trace starts in the last cell. Where row and column have the same token, it is taken, and the trace goes on in the
# row and column before; else it goes to the column before, if that cell is greater than the one in the row before, and
# else to the row before. Where tokens differ, the former is the case if the cell itself is greater than the one above.
# That difference changes at every column whose bits differ between the two rows, to 1 where the lower row grows: the
# nearest such column at or before the trace's tells it. From that column on, which has the row's token, it stays 1, so
# that a row is left after one look.


cdef inline void trace_word(
    const uint64_t* masks, const int32_t* rows, int64_t n_rows, int64_t n_columns, uint64_t* bits, uint8_t* taken
) noexcept nogil:
    """Mark the rows of the subsequence in `taken`: tables of up to 64 columns; `bits` has room for n_rows + 1."""
    cdef int64_t row
    cdef uint64_t match, below, changed, same
    bits[0] = ~<uint64_t>0
    for row in range(n_rows):
        same = bits[row] & masks[rows[row]]
        bits[row + 1] = (bits[row] + same) | (bits[row] - same)
    # The columns up to the trace's.
    below = ~<uint64_t>0 if n_columns == WORD else (<uint64_t>1 << n_columns) - 1
    for row in range(n_rows - 1, -1, -1):
        match = masks[rows[row]] & below
        if match == 0:
            continue
        if not match > below >> 1:
            changed = (bits[row] ^ bits[row + 1]) & below
            if changed == 0 or bits[row + 1] >> last_bit(changed) & 1:
                continue
        taken[row] = 1
        below = (<uint64_t>1 << last_bit(match)) - 1
        if below == 0:
            return


cdef struct Trace:
    Table* table
    const int32_t* columns
    const int32_t* rows
    uint8_t* taken
    int64_t n_words             # of a row of bits
    int64_t n_columns
    int64_t kept                # rows of bits that a level keeps, besides the one it starts from
    int64_t row                 # where the trace stands: so many rows and columns are left
    int64_t column


cdef inline int64_t words_left(const Trace* trace) noexcept nogil:
    """Words of the columns that the trace has not passed: no other will be looked at."""
    return (trace.column + WORD - 1) // WORD


cdef inline void leap(Trace* trace, const uint64_t* above, int64_t first, int64_t stop, uint64_t* out) noexcept nogil:
    """From the row of bits before row `first` to that of the last row before `stop`."""
    cdef const int32_t* columns = trace.columns
    cdef uint64_t[STRIP] bits
    cdef int64_t n, n_bytes, word = 0, n_words = words_left(trace)
    memset(trace.table.carries, 0, <size_t>(stop - first))
    while word < n_words:
        n = min(trace.n_columns - word * WORD, <int64_t>STRIP * WORD)
        n_bytes = min(n_words - word, <int64_t>STRIP) * <int64_t>sizeof(uint64_t)
        enter_strip(trace.table, columns + word * WORD, n, NULL)
        memset(bits, 0xFF, sizeof(bits))
        memcpy(bits, above + word, <size_t>n_bytes)
        lcs_strip(trace.table.masks, trace.rows + first, stop - first, trace.table.carries, bits)
        memcpy(out + word, bits, <size_t>n_bytes)
        leave_strip(trace.table, columns + word * WORD, n)
        word += STRIP


cdef inline void descend(
    Trace* trace, const uint64_t* above, int64_t first, int64_t stop, uint64_t* out
) noexcept nogil:
    """All rows of bits of the rows first to stop; `above` is the one before them."""
    cdef uint64_t* masks = trace.table.masks
    cdef uint8_t* carries = trace.table.carries
    cdef const int32_t* columns = trace.columns
    cdef int64_t word, column, row, begin, end
    cdef uint64_t bits
    memset(carries, 0, <size_t>(stop - first))
    for word in range(words_left(trace)):
        begin = word * WORD
        end = min(trace.n_columns, begin + WORD)
        for column in range(begin, end):
            masks[columns[column]] |= <uint64_t>1 << (column - begin)
        bits = above[word]
        for row in range(first, stop):
            bits = lcs_step(bits, masks[trace.rows[row]], &carries[row - first])
            out[(row - first) * trace.n_words + word] = bits
        for column in range(begin, end):
            masks[columns[column]] = 0


cdef inline bint is_greater(const Trace* trace, const uint64_t* above, const uint64_t* below) noexcept nogil:
    """Is the cell of the trace greater than the one in the row above?"""
    cdef int64_t word = (trace.column - 1) // WORD
    cdef int64_t used = trace.column - word * WORD
    cdef uint64_t changed = above[word] ^ below[word]
    if used < WORD:
        changed &= (<uint64_t>1 << used) - 1
    while changed == 0:
        if word == 0:
            return False
        word -= 1
        changed = above[word] ^ below[word]
    return not below[word] >> last_bit(changed) & 1


cdef inline void climb(Trace* trace, int64_t first, const uint64_t* bits) noexcept nogil:
    """Trace up to row `first`, whose bits stand at the beginning of `bits`, followed by those of all rows below."""
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
        trace.taken[trace.row] = 1
        trace.column -= 1


cdef inline void trace_rows(Trace* trace, int64_t first, int64_t stop, uint64_t* bits) noexcept nogil:
    """Trace the rows stop to first; `bits` has those of row `first`, and room behind.

    Where there are more rows than may be kept, those are kept that cut the range into parts, and the parts are gone
    through again, the last first. Parts are not shorter than what is kept: each costs a look at all columns.
    """
    cdef int64_t part, n_parts, number, n_words = trace.n_words
    cdef uint64_t* room
    if stop - first <= trace.kept:
        descend(trace, bits, first, stop, bits + n_words)
        climb(trace, first, bits)
        return
    part = max(trace.kept, (stop - first + trace.kept - 1) // trace.kept)
    n_parts = (stop - first + part - 1) // part
    for number in range(1, n_parts):
        leap(
            trace, bits + (number - 1) * n_words, first + (number - 1) * part, first + number * part,
            bits + number * n_words,
        )
    room = bits + (trace.kept + 1) * n_words
    for number in range(n_parts - 1, -1, -1):
        memcpy(room, bits + number * n_words, <size_t>n_words * sizeof(uint64_t))
        trace_rows(trace, first + number * part, min(stop, first + (number + 1) * part), room)
        if trace.column == 0:
            return


cdef inline int64_t rows_kept(int64_t n_words, int64_t n_rows, int64_t most) noexcept nogil:
    """How many rows a level of a trace keeps: all where they are at most `most` words, or so few that several do."""
    if (n_rows + 1) * n_words <= most:
        return max(n_rows, 1)
    return max(WORD, most // (4 * n_words))


cdef inline int64_t trace_room(int64_t n_columns, int64_t n_rows, int64_t most) noexcept nogil:
    """Words enough for tables of up to so many columns and rows: about `most` where they cannot all be kept."""
    cdef int64_t n_words = max(1, (n_columns + WORD - 1) // WORD)
    cdef int64_t kept = rows_kept(n_words, n_rows, most)
    cdef int64_t reach = kept
    cdef int64_t levels = 1
    if (n_rows + 1) * n_words <= most:
        return (n_rows + 1) * n_words
    while reach < n_rows:
        reach *= kept
        levels += 1
    return max(most, levels * max((WORD + 1) * n_words, most // 4 + n_words))


cdef inline void mark_common(
    Table* table, const int32_t* columns, int64_t n_columns, const int32_t* rows, int64_t n_rows, int64_t most,
    uint8_t* taken
) noexcept nogil:
    """Mark the rows of the subsequence that the trace finds. `table.rows` has the room that trace_room tells."""
    cdef Trace trace
    cdef int64_t word
    if n_columns == 0 or n_rows == 0:
        return
    trace.table = table
    trace.columns = columns
    trace.rows = rows
    trace.taken = taken
    trace.n_columns = n_columns
    trace.n_words = (n_columns + WORD - 1) // WORD
    trace.row = n_rows
    trace.column = n_columns
    trace.kept = rows_kept(trace.n_words, n_rows, most)
    for word in range(trace.n_words):
        table.rows[word] = ~<uint64_t>0
    trace_rows(&trace, 0, n_rows, table.rows)
