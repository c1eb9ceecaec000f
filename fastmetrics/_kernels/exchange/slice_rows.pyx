"""Slices of rows: their numbers, and the pairs won inside every slice of a bucket of scores, and of every group.

Numbers. A column has a code for each of its values. A table has the slice of every combination of codes.

Pairs. The rows of a bucket, or of a group, are brought into the order of their scores once
(ordered_rows.pxd). Every set of slices is a pass over that order. A cell is the rows that a group has in a slice; cells
are written slice by slice.

Bounds: a bucket, or the partitions of one call, have less than 2**30 rows. Pairs of a bucket have 128 bits, those of a
cell 64.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t

from fastmetrics._kernels.columns.ordered_bits cimport sort_key_f32, sort_key_f64
from fastmetrics._kernels.exchange.bucket_order cimport BucketRows, order_bucket_rows
from fastmetrics._kernels.exchange.group_table cimport PartitionBlocks, find_groups, set_blocks
from fastmetrics._kernels.exchange.ordered_rows cimport (
    FEW_POSITIVES, MOST_ROWS, PairsOfSlice, add_row, is_tied, order_group, row_of,
)
from fastmetrics._kernels.exchange.radix_sort_descending cimport KeyedRow
from fastmetrics._kernels.numeric.table_hash cimport use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import ADDRESS as _SEEDS

use_table_seeds(_SEEDS)

ctypedef fused key_t:
    uint32_t
    uint64_t

ctypedef fused column_t:
    uint8_t
    uint16_t

cdef enum:
    MOST_COLUMNS = 64
    CHUNK_ROWS = 1024

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
    if rows == 0:
        return 0
    if n_columns > MOST_COLUMNS or table.shape[0] == 0:
        raise ValueError(f"a table of {table.shape[0]} numbers of {n_columns} columns")
    for number in range(n_columns):
        column = columns[number]
        if column.shape[0] != rows:
            raise ValueError(f"a column of {column.shape[0]} codes beside {rows} rows")
        addresses[number] = &column[0]
        lengths[number] = sizes[number]
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
    with nogil:
        if labels is None:
            for i in range(numbers.shape[0]):
                counts[numbers[i]] += 1
        else:
            for i in range(numbers.shape[0]):
                counts[numbers[i]] += labels[i]


cdef void gather_keys(
    key_t first_key, const uint64_t* blocks, const int32_t* offsets, Py_ssize_t n_blocks, Py_ssize_t row_stride,
    uint64_t* keys, BucketRows* rows, uint64_t* high
) noexcept nogil:
    """Copy the keys of a bucket together, negatives first; set its rows and its highest key.

    `first_key` gives the type of keys.
    """
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
            own = <const key_t*><uintptr_t>blocks[block]
            for i in range(span[label], span[label + 1]):
                key = own[i]
                least = min(least, key)
                most = max(most, key)
                keys[n] = key
                n += 1
    rows.keys, rows.n, rows.low = keys, n, least
    high[0] = most


def order_bucket(
    const uint64_t[::1] blocks, const uint64_t[:, ::1] code_blocks, const int32_t[:, ::1] offsets, Py_ssize_t bucket,
    bint are_short, uint64_t[:, ::1] rows, uint16_t[::1] unordered, uint16_t[:, ::1] codes, uint32_t[::1] ordered
) -> int:
    """Write the rows of a bucket in the order of their scores, and their codes in that order; return their number.

    `blocks` are the addresses of the blocks' keys (uint32 if `are_short`, else uint64), `code_blocks` those of their
    codes, a row for every column. `rows` (three words for each row) and `unordered` are working memory. A bucket has
    less than 2**30 rows.
    """
    cdef Py_ssize_t i, block, column, label, first, n
    cdef BucketRows own
    cdef uint64_t high
    cdef Py_ssize_t n_blocks = blocks.shape[0]
    cdef const int32_t* span
    cdef const uint16_t* source
    n = 0
    for block in range(n_blocks):
        n += offsets[block, 2 * bucket + 2] - offsets[block, 2 * bucket]
    if n >= MOST_ROWS:
        raise OverflowError(f"a bucket of {n} rows; at most 2**30 - 1 can be ordered in memory")
    if n == 0:
        return 0
    with nogil:
        if are_short:
            gather_keys[uint32_t](
                0, &blocks[0], &offsets[0, 2 * bucket], n_blocks, offsets.shape[1], &rows[0, 0], &own, &high)
        else:
            gather_keys[uint64_t](
                0, &blocks[0], &offsets[0, 2 * bucket], n_blocks, offsets.shape[1], &rows[0, 0], &own, &high)
        order_bucket_rows(&own, high, &rows[1, 0], &rows[2, 0], &ordered[0])
        for column in range(code_blocks.shape[0]):
            first = 0
            for label in range(2):
                for block in range(n_blocks):
                    span = &offsets[block, 2 * bucket]
                    source = <const uint16_t*><uintptr_t>code_blocks[column, block]
                    for i in range(span[label], span[label + 1]):
                        unordered[first] = source[i]
                        first += 1
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
    cdef PairsOfSlice* slices = <PairsOfSlice*>&pairs[0, 0]
    cdef PairsOfSlice whole
    cdef uint32_t word
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


cdef void scatter_column(
    PartitionBlocks* blocks, Py_ssize_t partition, const uint64_t* column_blocks, const uint32_t* places, column_t* out
) noexcept nogil:
    """Copy a column of a partition to the places of its rows."""
    cdef Py_ssize_t block, row
    cdef Py_ssize_t i = 0
    cdef const column_t* column
    cdef const int32_t* span
    for block in range(blocks.n_blocks):
        span = blocks.offsets + block * blocks.row_stride + partition
        column = <const column_t*><uintptr_t>column_blocks[block]
        for row in range(span[0], span[1]):
            out[places[i]] = column[row]
            i += 1


cdef void order_partition(
    PartitionBlocks* blocks, Py_ssize_t partition, const uint64_t* score_blocks, bint are_double,
    const uint32_t* places, const uint8_t* labels, const uint32_t* starts, Py_ssize_t n_groups, KeyedRow* rows,
    KeyedRow* scratch, uint32_t* ordered
) noexcept nogil:
    """Write the rows of every group of a partition that has both classes in the order of a score."""
    cdef Py_ssize_t block, row, group, n, n_positives
    cdef Py_ssize_t i = 0
    cdef uint32_t first = starts[0]
    cdef uint32_t place
    cdef const int32_t* span
    for block in range(blocks.n_blocks):
        span = blocks.offsets + block * blocks.row_stride + partition
        for row in range(span[0], span[1]):
            place = places[i]
            if are_double:
                rows[place - first].key = sort_key_f64((<const double*><uintptr_t>score_blocks[block])[row])
            else:  # the sort reads the upper bits first
                rows[place - first].key = <uint64_t>sort_key_f32(
                    (<const float*><uintptr_t>score_blocks[block])[row]) << 32
            rows[place - first].row = row_of(place, labels[place])
            i += 1
    for group in range(n_groups):
        n_positives = 0
        for row in range(starts[group], starts[group + 1]):
            n_positives += labels[row]
        n = <Py_ssize_t>(starts[group + 1] - starts[group])
        if 0 < n_positives < n:
            order_group(rows + (starts[group] - first), scratch, n, n_positives, ordered + starts[group])


def order_groups(
    const uint64_t[::1] hash_blocks, const uint64_t[:, ::1] label_blocks, const uint64_t[:, ::1] score_blocks,
    const uint64_t[::1] head_blocks, const uint64_t[::1] tail_blocks, const uint64_t[:, ::1] code_blocks,
    const int32_t[:, ::1] offsets, const uint8_t[::1] double_scores, const int64_t[::1] label_of_output,
    const int64_t[::1] score_of_output, Py_ssize_t start, Py_ssize_t stop, uint32_t[::1] table, uint32_t[::1] places,
    int64_t[:, ::1] class_counts, uint64_t[:, ::1] rows, uint64_t[::1] hashes, uint64_t[::1] heads,
    uint64_t[::1] tails, uint32_t[::1] starts, uint8_t[:, ::1] labels, uint16_t[:, ::1] codes, uint32_t[:, ::1] ordered
) -> tuple[int, int]:
    """Bring the rows of every group of the partitions start..stop together; return how many groups and rows there are.

    - *_blocks hold the addresses of the columns of the blocks, as for grouped_auc.group_pairs; `code_blocks` those of
      codes of slices (uint16), a row for every column.
    - Working memory for the m rows of the largest partition: table as for group_pairs, places m, class_counts (m, 2),
      rows (2, 2 m).
    - Results, for as many groups and rows as the partitions have rows, less than 2**30: keys of the groups, `starts`
      (one more) with the first place of each; by place, the labels (label, row) and codes (column, row); for every
      output the words of the rows in the order of its scores, group by group.
    """
    cdef PartitionBlocks blocks
    cdef Py_ssize_t partition, group, i, column, found, n_rows, block
    cdef Py_ssize_t n_groups = 0
    cdef Py_ssize_t n_places = 0
    cdef Py_ssize_t n_blocks = offsets.shape[0]
    cdef uint64_t table_size
    cdef uint64_t* head = NULL
    cdef uint64_t* tail = NULL
    cdef uint32_t place
    for block in range(n_blocks):
        n_places += offsets[block, stop] - offsets[block, start]
    if n_places >= MOST_ROWS:
        raise OverflowError(f"{n_places} rows; at most 2**30 - 1 can be ordered in memory")
    set_blocks(&blocks, hash_blocks, label_blocks, head_blocks, tail_blocks, head_blocks[:0], offsets)
    n_places = 0
    starts[0] = 0
    with nogil:
        for partition in range(start, stop):
            n_rows = 0
            for block in range(n_blocks):
                n_rows += offsets[block, partition + 1] - offsets[block, partition]
            if n_rows == 0:
                continue
            table_size = 64
            while table_size < 2 * <uint64_t>n_rows:
                table_size *= 2
            if blocks.heads:
                head, tail = &heads[n_groups], &tails[n_groups]
            found = find_groups(
                &blocks, partition, &table[0], table_size, &places[0], &hashes[n_groups], head, tail, NULL,
                &class_counts[0, 0], <uint8_t>0)
            place = <uint32_t>n_places
            for group in range(found):
                starts[n_groups + group] = place
                place += <uint32_t>(class_counts[group, 0] + class_counts[group, 1])
                class_counts[group, 0] = starts[n_groups + group]  # from here on: the place of the next row
            starts[n_groups + found] = place
            for i in range(n_rows):
                group = places[i]
                places[i] = <uint32_t>class_counts[group, 0]
                class_counts[group, 0] += 1
            for column in range(labels.shape[0]):
                scatter_column[uint8_t](&blocks, partition, &label_blocks[column, 0], &places[0], &labels[column, 0])
            for column in range(codes.shape[0]):
                scatter_column[uint16_t](&blocks, partition, &code_blocks[column, 0], &places[0], &codes[column, 0])
            for column in range(ordered.shape[0]):
                order_partition(
                    &blocks, partition, &score_blocks[score_of_output[column], 0],
                    double_scores[score_of_output[column]], &places[0], &labels[label_of_output[column], 0],
                    &starts[n_groups], found, <KeyedRow*>&rows[0, 0], <KeyedRow*>&rows[1, 0], &ordered[column, 0])
            n_groups += found
            n_places += n_rows
    return n_groups, n_places


def count_cells(
    const uint16_t[::1] numbers, const uint32_t[::1] starts, Py_ssize_t n_groups, uint64_t[::1] seen, int64_t[::1] first
):
    """Write the first cell of every slice, and the number of cells; the row at place i is in slice numbers[i].

    `seen` is working memory with an element for every slice, `first` has one more.
    """
    cdef Py_ssize_t group, number
    cdef uint32_t place
    cdef int64_t total = 0
    cdef int64_t count
    cdef Py_ssize_t n_slices = seen.shape[0]
    with nogil:
        for number in range(n_slices):
            seen[number] = 0
            first[number] = 0
        for group in range(n_groups):
            for place in range(starts[group], starts[group + 1]):
                number = numbers[place]
                first[number] += seen[number] != <uint64_t>(group + 1)
                seen[number] = <uint64_t>(group + 1)
        for number in range(n_slices):
            count = first[number]
            first[number] = total
            total += count
        first[n_slices] = total


cdef inline uint64_t wins_of_row(
    const uint32_t* words, const uint32_t* negatives, Py_ssize_t row, uint32_t cell
) noexcept nogil:
    """Twice the negatives of a cell below a positive row, plus ties. Row i is a negative of cell negatives[i]."""
    cdef Py_ssize_t i
    cdef Py_ssize_t first = row
    cdef uint32_t below = 0
    cdef uint32_t tied = 0
    for i in range(row):
        below += negatives[i] == cell
    while is_tied(words[first]):
        first -= 1
        tied += negatives[first] == cell
    return 2 * <uint64_t>below - tied


cdef inline void count_group(
    const uint32_t* words, Py_ssize_t n, Py_ssize_t n_positives, Py_ssize_t first, const uint32_t* cell_of_row,
    uint32_t* negatives, Py_ssize_t n_cells, PairsOfSlice* pairs
) noexcept nogil:
    """Count the wins of the cells of a group, whose rows have the places first to first + n."""
    cdef Py_ssize_t i
    cdef int64_t run = 0
    cdef uint32_t cell
    for i in range(n_cells):
        pairs[i].wins = 0
    if n_positives > FEW_POSITIVES:
        for i in range(n_cells):
            pairs[i].negatives = pairs[i].positives = pairs[i].below = pairs[i].run = 0
            pairs[i].high_wins = 0
        for i in range(n):
            run += not is_tied(words[i])
            add_row(pairs + cell_of_row[(words[i] & (MOST_ROWS - 1)) - first], words[i], run)
        return
    for i in range(n):
        cell = cell_of_row[(words[i] & (MOST_ROWS - 1)) - first]
        negatives[i] = cell | (0 - (words[i] >> 31))
        if words[i] >> 31:
            pairs[cell].wins += wins_of_row(words, negatives, i, cell)


def count_pairs(
    const uint16_t[::1] numbers, const uint32_t[::1] starts, Py_ssize_t n_groups, const uint8_t[:, ::1] labels,
    const uint32_t[:, ::1] ordered, const int64_t[::1] label_of_output, const uint64_t[::1] hashes,
    const uint64_t[::1] heads, const uint64_t[::1] tails, uint64_t[::1] seen, int64_t[::1] next_cell,
    uint32_t[:, ::1] cell_of_row, int64_t[::1] cell_numbers, uint64_t[:, ::1] cell_counts, int64_t[:, ::1] cells,
    uint64_t[::1] cell_hashes, uint64_t[::1] cell_heads, uint64_t[::1] cell_tails, int64_t[:, :, ::1] class_counts,
    uint64_t[:, ::1] wins, int64_t[:, :, ::1] one_class
):
    """Write the keys, the class counts (label, cell, class) and twice the pairs won (output, cell) of every cell.

    `next_cell` has the first cell of every slice, and then that after its last. Working memory is `seen`, for every
    slice, and for the rows of the largest group `cell_of_row` (2), `cell_numbers`, `cell_counts` (label) and `cells`
    (fields of PairsOfSlice). If `one_class` has slices, cells that have one class for every label are not written but
    added to it (label, slice, 4): cells without positives, cells without negatives, and the rows of both kinds.
    """
    cdef Py_ssize_t group, label, output, i, own, number, n_cells, n_written, first, stop
    cdef int64_t cell
    cdef uint64_t entry, mark, n_positives, count
    cdef bint is_new, has_pairs, writes_all = one_class.shape[1] == 0
    cdef bint has_heads = heads.shape[0] > 0
    cdef Py_ssize_t n_labels = labels.shape[0]
    cdef PairsOfSlice* pairs = <PairsOfSlice*>&cells[0, 0]
    with nogil:
        for i in range(seen.shape[0]):
            seen[i] = 0
        for group in range(n_groups):
            first, stop = starts[group], starts[group + 1]
            n_cells = 0
            mark = <uint64_t>(group + 1) << 32
            for i in range(first, stop):
                # Without branches: whether a cell is new cannot be predicted.
                entry = seen[numbers[i]]
                is_new = (entry & <uint64_t>0xFFFFFFFF00000000) != mark
                entry = mark | <uint64_t>n_cells if is_new else entry
                seen[numbers[i]] = entry
                cell_of_row[0, i - first] = <uint32_t>entry
                cell_numbers[n_cells] = numbers[i]
                n_cells += is_new
            for label in range(n_labels):
                for own in range(n_cells):
                    cell_counts[label, own] = 0
                for i in range(first, stop):  # positives in the upper half
                    cell_counts[label, cell_of_row[0, i - first]] += <uint64_t>1 << (32 * labels[label, i])
            n_written = 0
            for own in range(n_cells):
                number = cell_numbers[own]
                has_pairs = writes_all
                for label in range(n_labels):
                    count = cell_counts[label, own]
                    has_pairs |= count >> 32 != 0 and count & 0xFFFFFFFFu != 0
                if not has_pairs:
                    for label in range(n_labels):
                        count = cell_counts[label, own]
                        one_class[label, number, count >> 32 != 0] += 1
                        one_class[label, number, 2 + (count >> 32 != 0)] += (count >> 32) + (count & 0xFFFFFFFFu)
                    cell_numbers[own] = -1
                    continue
                n_written += 1
                cell = next_cell[number]
                next_cell[number] += 1
                cell_numbers[own] = cell
                cell_hashes[cell] = hashes[group]
                if has_heads:
                    cell_heads[cell] = heads[group]
                    cell_tails[cell] = tails[group]
                for label in range(n_labels):
                    count = cell_counts[label, own]
                    class_counts[label, cell, 0] = <int64_t>(count & 0xFFFFFFFFu)
                    class_counts[label, cell, 1] = <int64_t>(count >> 32)
            for output in range(ordered.shape[0] if n_written else 0):
                n_positives = 0
                for i in range(first, stop):
                    n_positives += labels[label_of_output[output], i]
                if n_positives == 0 or n_positives == <uint64_t>(stop - first):
                    for own in range(n_cells):
                        pairs[own].wins = 0
                else:
                    count_group(
                        &ordered[output, first], stop - first, <Py_ssize_t>n_positives, first, &cell_of_row[0, 0],
                        &cell_of_row[1, 0], n_cells, pairs)
                for own in range(n_cells):
                    if cell_numbers[own] >= 0:
                        wins[output, cell_numbers[own]] = pairs[own].wins
