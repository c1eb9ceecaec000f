"""Two columns of labels, counted against each other.

Columns are one-dimensional, contiguous NumPy arrays of any type with numbers in it, read as labelcolumn.pxd says. A
function that cannot read a column says so in its result, and the caller takes another way.

A table has 2**bits rows and columns: cell (i, j) counts rows whose labels are low + i and low + j. A table may have
COPIES copies, used in turn: a cell that is raised in every row would otherwise wait for its own last store. Counts are
int64.

Weights are brought into the order of their cells by a counting sort, and each run of them summed in one
superaccumulator (superaccumulator.pxd): a thousand times a thousand cells need no more memory than the rows and the
result.
"""

from cpython.buffer cimport PyBuffer_Release
from libc.stdint cimport INT64_MAX, INT64_MIN, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastmetrics._kernels.labelcolumn cimport BLOCK, Column, column_of, get_column, labels_at
from fastmetrics._kernels.superaccumulator cimport (
    CHUNK, CHUNKS_PER_CARRY, STATE_SIZE, add_chunk, add_value, normalise, rounded,
)

cdef extern from "labelmath.h":
    int same_bytes "fm_same_bytes"(const char* first, const char* second, Py_ssize_t width) noexcept nogil
    void range_i64 "fm_range_i64"(const int64_t* labels, Py_ssize_t n, int64_t* span) noexcept nogil
    uint64_t pair_cells "fm_pair_cells"(
        const int64_t* first, const int64_t* second, Py_ssize_t n, int64_t low, int bits, uint32_t* cells
    ) noexcept nogil
    int count_binary_8 "fm_count_binary_8"(
        const uint8_t* first, const uint8_t* second, Py_ssize_t n, int64_t* totals) noexcept nogil
    int count_binary_16 "fm_count_binary_16"(
        const uint16_t* first, const uint16_t* second, Py_ssize_t n, int64_t* totals) noexcept nogil
    int count_binary_32 "fm_count_binary_32"(
        const uint32_t* first, const uint32_t* second, Py_ssize_t n, int64_t* totals) noexcept nogil
    int count_binary_64 "fm_count_binary_64"(
        const uint64_t* first, const uint64_t* second, Py_ssize_t n, int64_t* totals) noexcept nogil
    int64_t count_equal_8 "fm_count_equal_8"(const uint8_t* first, const uint8_t* second, Py_ssize_t n) noexcept nogil
    int64_t count_equal_16 "fm_count_equal_16"(
        const uint16_t* first, const uint16_t* second, Py_ssize_t n) noexcept nogil
    int64_t count_equal_32 "fm_count_equal_32"(
        const uint32_t* first, const uint32_t* second, Py_ssize_t n) noexcept nogil
    int64_t count_equal_64 "fm_count_equal_64"(
        const uint64_t* first, const uint64_t* second, Py_ssize_t n) noexcept nogil
    int64_t count_equal_f32 "fm_count_equal_f32"(const float* first, const float* second, Py_ssize_t n) noexcept nogil
    int64_t count_equal_f64 "fm_count_equal_f64"(const double* first, const double* second, Py_ssize_t n) noexcept nogil

cdef enum:
    COPIES = 4
    FEW_VALUES = 64            # below, values go to the superaccumulator one by one
    SMALL_BITS = 6
    SMALL_LABELS = 1 << SMALL_BITS

FEW_LABELS = SMALL_LABELS
BLOCK_ROWS = BLOCK


cdef inline int all_binary(
    Column* first, Column* second, Py_ssize_t start, Py_ssize_t n, int64_t* totals
) noexcept nogil:
    """Columns of integers of one width. See fm_count_binary."""
    cdef const char* one = first.data + start * first.size
    cdef const char* other = second.data + start * first.size
    if first.size == 1:
        return count_binary_8(<const uint8_t*>one, <const uint8_t*>other, n, totals)
    if first.size == 2:
        return count_binary_16(<const uint16_t*>one, <const uint16_t*>other, n, totals)
    if first.size == 4:
        return count_binary_32(<const uint32_t*>one, <const uint32_t*>other, n, totals)
    return count_binary_64(<const uint64_t*>one, <const uint64_t*>other, n, totals)


cdef int64_t all_equal(Column* first, Column* second, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """How many rows are equal; -1 if a label has no int64."""
    cdef int64_t room[BLOCK]
    cdef int64_t other_room[BLOCK]
    cdef const int64_t* one
    cdef const int64_t* other
    cdef const char* left = first.data + start * first.size
    cdef const char* right = second.data + start * second.size
    cdef Py_ssize_t n = stop - start
    cdef int64_t total = 0
    cdef uint64_t bad = 0
    if first.kind == second.kind and first.size == second.size:
        if first.kind == c'f':
            if first.size == 4:
                return count_equal_f32(<const float*>left, <const float*>right, n)
            return count_equal_f64(<const double*>left, <const double*>right, n)
        if first.size == 1:
            return count_equal_8(<const uint8_t*>left, <const uint8_t*>right, n)
        if first.size == 2:
            return count_equal_16(<const uint16_t*>left, <const uint16_t*>right, n)
        if first.size == 4:
            return count_equal_32(<const uint32_t*>left, <const uint32_t*>right, n)
        return count_equal_64(<const uint64_t*>left, <const uint64_t*>right, n)
    while start < stop:
        n = stop - start if stop - start < BLOCK else BLOCK
        one = labels_at(first, start, n, room, &bad)
        other = labels_at(second, start, n, other_room, &bad)
        if bad:
            return -1
        total += count_equal_64(<const uint64_t*>one, <const uint64_t*>other, n)
        start += n
    return total


cdef int find_range(Column* first, Column* second, Py_ssize_t start, Py_ssize_t stop, int64_t* span) noexcept nogil:
    """span becomes the least and the greatest label of both; 0 if a label has no int64."""
    cdef int64_t room[BLOCK]
    cdef Py_ssize_t n
    cdef uint64_t bad = 0
    span[0] = INT64_MAX
    span[1] = INT64_MIN
    while start < stop:
        n = stop - start if stop - start < BLOCK else BLOCK
        range_i64(labels_at(first, start, n, room, &bad), n, span)
        range_i64(labels_at(second, start, n, room, &bad), n, span)
        if bad:
            return 0
        start += n
    return 1


cdef Py_ssize_t count_cells(
    Column* first, Column* second, Py_ssize_t start, Py_ssize_t stop, int64_t low, int bits, int copies, int64_t* table
) noexcept nogil:
    """Count rows into the table; returns where it stopped: before the first block with a label that does not fit."""
    cdef int64_t room[BLOCK]
    cdef int64_t other_room[BLOCK]
    cdef uint32_t cells[BLOCK + 4]
    cdef const int64_t* one
    cdef const int64_t* other
    cdef Py_ssize_t i, n
    cdef Py_ssize_t size = <Py_ssize_t>1 << (2 * bits)
    cdef uint64_t bad = 0
    while start < stop:
        n = stop - start if stop - start < BLOCK else BLOCK
        one = labels_at(first, start, n, room, &bad)
        other = labels_at(second, start, n, other_room, &bad)
        if bad or pair_cells(one, other, n, low, bits, cells) >> bits:
            return start
        if copies == 1:
            for i in range(n):
                table[cells[i]] += 1
        else:
            i = 0
            while i + 4 <= n:
                table[cells[i]] += 1
                table[size + cells[i + 1]] += 1
                table[2 * size + cells[i + 2]] += 1
                table[3 * size + cells[i + 3]] += 1
                i += 4
            while i < n:
                table[cells[i]] += 1
                i += 1
        start += n
    return stop


cdef class _Pair:
    """The buffers of two columns, held while they are read."""

    cdef Py_buffer views[2]
    cdef Column first, second
    cdef int held

    def __cinit__(self):
        self.held = 0

    def __dealloc__(self):
        while self.held:
            self.held -= 1
            PyBuffer_Release(&self.views[self.held])

    cdef bint hold(self, object first, object second):
        """Whether both can be read here and have one length, of at least one row."""
        if not get_column(first, &self.views[0]):
            return False
        self.held = 1
        if not get_column(second, &self.views[1]):
            return False
        self.held = 2
        self.first = column_of(&self.views[0])
        self.second = column_of(&self.views[1])
        return self.first.kind != 0 and self.second.kind != 0 and self.first.rows == self.second.rows > 0


def count_binary(first, second, Py_ssize_t start=0, Py_ssize_t stop=-1):
    """(neither, only the second, only the first, both) of the rows start..stop, by default all, where labels are 1.

    None if a label is neither 0 nor 1, or the columns are not integers of one width and length.
    """
    cdef _Pair pair = _Pair()
    cdef int64_t totals[3]
    cdef int good
    if not pair.hold(first, second):
        return None
    if pair.first.kind == c'f' or pair.second.kind == c'f' or pair.first.size != pair.second.size:
        return None
    if stop < 0:
        stop = pair.first.rows
    totals[0] = totals[1] = totals[2] = 0
    with nogil:
        good = all_binary(&pair.first, &pair.second, start, stop - start, totals)
    if not good:
        return None
    return (
        stop - start - totals[0] - totals[1] + totals[2], totals[1] - totals[2], totals[0] - totals[2], totals[2])


def count_equal(first, second, Py_ssize_t start=0, Py_ssize_t stop=-1):
    """How many of the rows start..stop, by default all, have equal labels.

    -1 if a label is no integer of 64 bits, -2 if a column cannot be read here.
    """
    cdef _Pair pair = _Pair()
    cdef int64_t total
    if not pair.hold(first, second):
        return -2
    if stop < 0:
        stop = pair.first.rows
    with nogil:
        total = all_equal(&pair.first, &pair.second, start, stop)
    return total


def label_range(first, second, Py_ssize_t start, Py_ssize_t stop):
    """The least and the greatest label of the rows; None if a label is no integer of 64 bits or cannot be read here."""
    cdef _Pair pair = _Pair()
    cdef int64_t span[2]
    cdef int good
    if not pair.hold(first, second):
        return None
    with nogil:
        good = find_range(&pair.first, &pair.second, start, stop, span)
    return (span[0], span[1]) if good else None


def count_pairs(
    first, second, Py_ssize_t start, Py_ssize_t stop, int64_t low, int bits, int64_t[:, ::1] table
):
    """Count rows into the table (copies of it in rows: one, or COPIES); returns the first row not counted, or stop.

    It stops where one of the next BLOCK_ROWS labels does not fit the table, or has no int64. The columns were readable
    for label_range.
    """
    cdef _Pair pair = _Pair()
    cdef int copies = <int>table.shape[0]
    if not pair.hold(first, second):
        return start
    with nogil:
        start = count_cells(&pair.first, &pair.second, start, stop, low, bits, copies, &table[0, 0])
    return start


def count_margins(
    const int64_t[::1] first, const int64_t[::1] second, Py_ssize_t start, Py_ssize_t stop, int64_t[:, ::1] margins
):
    """Per code, the rows start..stop with it in both columns (margins[0]), in the first (1), in the second (2)."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            margins[1, first[i]] += 1
            margins[2, second[i]] += 1
            if first[i] == second[i]:
                margins[0, first[i]] += 1


def add_cells(const int64_t[::1] first, const int64_t[::1] second, int64_t[:, ::1] cells):
    """cells[i, j] gains the rows with codes i and j."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(first.shape[0]):
            cells[first[i], second[i]] += 1


def count_equal_rows(const uint8_t[:, ::1] first, const uint8_t[:, ::1] second, Py_ssize_t start, Py_ssize_t stop):
    """How many of the rows start..stop have the same bytes in both. Rows are as wide in both, at least one byte."""
    cdef Py_ssize_t width = first.shape[1]
    cdef int64_t total = 0
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            total += same_bytes(<const char*>&first[i, 0], <const char*>&second[i, 0], width)
    return total


def mark_equal_rows(const uint8_t[:, ::1] first, const uint8_t[:, ::1] second, uint8_t[::1] out):
    """out[row] = whether the row has the same bytes in both. Rows are as wide in both, at least one byte."""
    cdef Py_ssize_t width = first.shape[1]
    cdef Py_ssize_t i
    with nogil:
        for i in range(first.shape[0]):
            out[i] = same_bytes(<const char*>&first[i, 0], <const char*>&second[i, 0], width)


def mark_equal(first, second, uint8_t[::1] out):
    """out[row] = whether both labels are equal; False if a label is no integer of 64 bits or cannot be read here."""
    cdef _Pair pair = _Pair()
    cdef int64_t room[BLOCK]
    cdef int64_t other_room[BLOCK]
    cdef const int64_t* one
    cdef const int64_t* other
    cdef Py_ssize_t i, n
    cdef Py_ssize_t start = 0
    cdef uint64_t bad = 0
    if not pair.hold(first, second):
        return False
    with nogil:
        while start < pair.first.rows:
            n = pair.first.rows - start if pair.first.rows - start < BLOCK else BLOCK
            one = labels_at(&pair.first, start, n, room, &bad)
            other = labels_at(&pair.second, start, n, other_room, &bad)
            for i in range(n):
                out[start + i] = one[i] == other[i]
            start += n
    return bad == 0


def order_weights(
    const int64_t[::1] first, const int64_t[::1] second, int64_t n_second, const double[::1] weights,
    int64_t[::1] starts, double[::1] ordered
):
    """Weights cell by cell, a cell being first * n_second + second, or first alone where second is None.

    starts, all 0 and two longer than there are cells, becomes where each cell begins in ordered, then the end.
    """
    cdef Py_ssize_t i
    cdef int64_t cell
    cdef Py_ssize_t n_cells = starts.shape[0] - 2
    with nogil:
        for i in range(weights.shape[0]):
            cell = first[i] if second is None else first[i] * n_second + second[i]
            starts[cell + 2] += 1
        for i in range(2, n_cells + 2):
            starts[i] += starts[i - 1]
        for i in range(weights.shape[0]):
            cell = first[i] if second is None else first[i] * n_second + second[i]
            ordered[starts[cell + 1]] = weights[i]
            starts[cell + 1] += 1


cdef void add_run(int64_t* state, const double* values, Py_ssize_t n) noexcept nogil:
    cdef double chunk[CHUNK]
    cdef double rest[CHUNK]
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t n_chunks = 0
    cdef Py_ssize_t i, length
    if n < FEW_VALUES:
        for i in range(n):
            add_value(state, values[i])
        start = n
    while start < n:
        length = n - start if n - start < CHUNK else CHUNK
        memcpy(chunk, values + start, length * sizeof(double))
        add_chunk(state, chunk, length, rest)
        start += length
        n_chunks += 1
        if n_chunks % CHUNKS_PER_CARRY == 0:
            normalise(state)
    normalise(state)


def sum_runs(const double[::1] ordered, const int64_t[::1] starts, double[::1] out):
    """out[cell] becomes the sum of ordered[starts[cell]:starts[cell + 1]], none negative, exact and rounded once."""
    cdef int64_t state[STATE_SIZE]
    cdef Py_ssize_t cell, n
    with nogil:
        for cell in range(out.shape[0]):
            n = starts[cell + 1] - starts[cell]
            if n == 0:
                out[cell] = 0.0
            elif n == 1:
                out[cell] = ordered[starts[cell]]
            else:
                memset(state, 0, sizeof(state))
                add_run(state, &ordered[starts[cell]], n)
                out[cell] = rounded(state)


def run_states(const double[::1] ordered, const int64_t[::1] starts, Py_ssize_t first_cell, int64_t[:, ::1] states):
    """states[i], all 0, become the sums of the cells from first_cell on."""
    cdef Py_ssize_t i, cell
    with nogil:
        for i in range(states.shape[0]):
            cell = first_cell + i
            if starts[cell + 1] > starts[cell]:
                add_run(&states[i, 0], &ordered[starts[cell]], starts[cell + 1] - starts[cell])


cdef void subtract(int64_t* state, const int64_t* other) noexcept nogil:
    cdef int i
    for i in range(STATE_SIZE):
        state[i] -= other[i]
    normalise(state)


def round_counts(
    const int64_t[:, ::1] both, const int64_t[:, ::1] true, const int64_t[:, ::1] pred, const int64_t[::1] total,
    double[:, ::1] out
):
    """out[:, i] becomes tp, fp, fn, tn of label i, each rounded once, from the states of its weights."""
    cdef int64_t state[STATE_SIZE]
    cdef Py_ssize_t i
    with nogil:
        for i in range(both.shape[0]):
            out[0, i] = rounded(&both[i, 0])
            memcpy(state, &pred[i, 0], sizeof(state))
            subtract(state, &both[i, 0])
            out[1, i] = rounded(state)
            memcpy(state, &true[i, 0], sizeof(state))
            subtract(state, &both[i, 0])
            out[2, i] = rounded(state)
            # What is left of all rows after those of the label in the first column, and the false positives.
            memcpy(state, &total[0], sizeof(state))
            subtract(state, &true[i, 0])
            subtract(state, &pred[i, 0])
            add(state, &both[i, 0])
            out[3, i] = rounded(state)


cdef void add(int64_t* state, const int64_t* other) noexcept nogil:
    cdef int i
    for i in range(STATE_SIZE):
        state[i] += other[i]
    normalise(state)


def count_sets(
    const uint8_t[:, ::1] true, const uint8_t[:, ::1] pred, Py_ssize_t start, Py_ssize_t stop, int64_t[:, ::1] margins
):
    """As count_margins, for indicators: a row adds to every label it has."""
    cdef Py_ssize_t i, j
    with nogil:
        for i in range(start, stop):
            for j in range(true.shape[1]):
                margins[0, j] += true[i, j] & pred[i, j]
                margins[1, j] += true[i, j]
                margins[2, j] += pred[i, j]


def count_set_rows(
    const uint8_t[:, ::1] true, const uint8_t[:, ::1] pred, Py_ssize_t start, Py_ssize_t stop, int64_t[:, ::1] margins
):
    """Per row of indicators, how many labels it has in both (margins[0]), in the first (1), in the second (2)."""
    cdef Py_ssize_t i, j
    cdef int64_t both, one, other
    with nogil:
        for i in range(start, stop):
            both = one = other = 0
            for j in range(true.shape[1]):
                both += true[i, j] & pred[i, j]
                one += true[i, j]
                other += pred[i, j]
            margins[0, i] = both
            margins[1, i] = one
            margins[2, i] = other


def weigh_sets(
    const uint8_t[:, ::1] true, const uint8_t[:, ::1] pred, const double[::1] weights, int64_t[:, ::1] both,
    int64_t[:, ::1] first, int64_t[:, ::1] second
):
    """As count_sets, with weights: states of the labels' sums, all 0. At most 2**30 rows."""
    cdef Py_ssize_t i, j
    with nogil:
        for i in range(true.shape[0]):
            for j in range(true.shape[1]):
                if true[i, j]:
                    add_value(&first[j, 0], weights[i])
                    if pred[i, j]:
                        add_value(&both[j, 0], weights[i])
                if pred[i, j]:
                    add_value(&second[j, 0], weights[i])
        for j in range(true.shape[1]):
            normalise(&both[j, 0])
            normalise(&first[j, 0])
            normalise(&second[j, 0])


cdef int small_table(Column* first, Column* second, int64_t* span, int64_t* table) noexcept nogil:
    """The table of columns whose labels are few; its bits, or -1."""
    cdef int bits = 0
    if first.rows > (1 << 16):
        return -1
    if not find_range(first, second, 0, first.rows, span):
        return -1
    if <uint64_t>span[1] - <uint64_t>span[0] >= SMALL_LABELS:
        return -1
    while (span[1] - span[0]) >> bits:
        bits += 1
    memset(table, 0, sizeof(int64_t) << (2 * bits))
    count_cells(first, second, 0, first.rows, span[0], bits, 1, table)
    return bits


cdef int small_labels(
    const int64_t* table, int bits, int64_t* true_rows, int64_t* pred_rows, int* found
) noexcept nogil:
    """Sums of the table's rows and columns; found becomes the numbers of labels that occur, and the result how many."""
    cdef int i, j
    cdef int width = 1 << bits
    cdef int n_found = 0
    for j in range(width):
        true_rows[j] = 0
        pred_rows[j] = 0
    for i in range(width):
        for j in range(width):
            true_rows[i] += table[(i << bits) + j]
            pred_rows[j] += table[(i << bits) + j]
    for i in range(width):
        if true_rows[i] or pred_rows[i]:
            found[n_found] = i
            n_found += 1
    return n_found


def small_matrix(first, second, int64_t[::1] out):
    """The counts of columns with few rows and labels in a small range: how many labels were found, n.

    out (FEW_LABELS**2 long) becomes the n x n matrix of counts, labels in order. -1 if this is not for such columns.
    """
    cdef _Pair pair = _Pair()
    cdef int64_t table[SMALL_LABELS * SMALL_LABELS]
    cdef int64_t true_rows[SMALL_LABELS]
    cdef int64_t pred_rows[SMALL_LABELS]
    cdef int found[SMALL_LABELS]
    cdef int64_t span[2]
    cdef int i, j, bits, n
    if not pair.hold(first, second):
        return -1
    bits = small_table(&pair.first, &pair.second, span, table)
    if bits < 0:
        return -1
    n = small_labels(table, bits, true_rows, pred_rows, found)
    for i in range(n):
        for j in range(n):
            out[i * n + j] = table[(found[i] << bits) + found[j]]
    return n


def small_counts(first, second, int64_t[:, ::1] out):
    """True and false positives and negatives of every label, as small_matrix: how many labels were found, n.

    The n first columns of out (5, FEW_LABELS) become tp, fp, fn, tn and the label.
    """
    cdef _Pair pair = _Pair()
    cdef int64_t table[SMALL_LABELS * SMALL_LABELS]
    cdef int64_t true_rows[SMALL_LABELS]
    cdef int64_t pred_rows[SMALL_LABELS]
    cdef int found[SMALL_LABELS]
    cdef int64_t span[2]
    cdef int64_t tp
    cdef int i, bits, n
    if not pair.hold(first, second):
        return -1
    bits = small_table(&pair.first, &pair.second, span, table)
    if bits < 0:
        return -1
    n = small_labels(table, bits, true_rows, pred_rows, found)
    for i in range(n):
        tp = table[(found[i] << bits) + found[i]]
        out[0, i] = tp
        out[1, i] = pred_rows[found[i]] - tp
        out[2, i] = true_rows[found[i]] - tp
        out[3, i] = pair.first.rows - true_rows[found[i]] - pred_rows[found[i]] + tp
        out[4, i] = span[0] + found[i]
    return n
