"""Pairs won inside every group: the statistics of GAUC.

For partitions start..stop of a set of blocks (partition.pyx made them): group the rows, put every group's scores
together (its negatives, then its positives), count. Rows are grouped once, however many scores and labels there are:
a view is a score seen against a label. Small work is done by comparing all pairs, which vectorises; more
of it with the table of ranktable.pxd. A group's counts are int64; twice its pairs won, wins, is uint64: a group may
have up to 2**32 rows.

With weights, sums inside a group run in double-double arithmetic (see weightedpairs.pyx).
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t

from fastmetrics._kernels.grouping cimport Blocks, find_groups, set_blocks, span_weights
from fastmetrics._kernels.ordered cimport ordered_f32, ordered_f64
from fastmetrics._kernels.superaccumulator cimport CHUNK, add_chunk, normalise
from fastmetrics._kernels.ranktable cimport build_table, count_above, count_cells, key_t, sort_keys

ctypedef fused score_t:
    float
    double

cdef enum:
    COMPARE_ALL = 16            # up to so many of the rarer class, comparing all pairs is faster than a table
    COMPARE_ALL_ROWS = 1 << 20


cdef inline uint64_t compare_all(
    const score_t* few, Py_ssize_t n_few, const score_t* many, Py_ssize_t n_many
) noexcept nogil:
    """Twice the pairs in which the few is greater, plus ties."""
    cdef Py_ssize_t i, j
    cdef uint64_t total = 0
    cdef int32_t count32
    cdef int64_t count64
    cdef score_t score
    for i in range(n_few):
        score = few[i]
        if score_t is float:
            count32 = 0
            for j in range(n_many):
                count32 += (many[j] < score) + (many[j] <= score)
            total += <uint64_t>count32
        else:
            count64 = 0
            for j in range(n_many):
                count64 += (many[j] < score) + (many[j] <= score)
            total += <uint64_t>count64
    return total


cdef inline void to_keys(score_t* scores, Py_ssize_t n, key_t* keys) noexcept nogil:
    """In place: keys is the same memory as scores, and as wide."""
    cdef Py_ssize_t i
    for i in range(n):
        if key_t is uint32_t:
            keys[i] = ordered_f32(<float>scores[i])
        else:
            keys[i] = ordered_f64(<double>scores[i])


cdef inline uint64_t count_pairs(
    score_t* negatives, Py_ssize_t n_negative, score_t* positives, Py_ssize_t n_positive, key_t* scratch,
    uint32_t* cells, key_t* conflicts
) noexcept nogil:
    """Twice the pairs (positive, negative) won by the positive, plus ties. The scores are used up."""
    cdef uint64_t above
    cdef uint64_t all_pairs = 2 * <uint64_t>n_negative * <uint64_t>n_positive
    cdef bint positives_are_few = n_positive <= n_negative
    cdef score_t* few = positives if positives_are_few else negatives
    cdef score_t* many = negatives if positives_are_few else positives
    cdef Py_ssize_t n_few = n_positive if positives_are_few else n_negative
    cdef Py_ssize_t n_many = n_negative if positives_are_few else n_positive
    cdef Py_ssize_t n_cells
    cdef int shift
    if n_few == 0:
        return 0
    if n_few <= COMPARE_ALL and n_many <= COMPARE_ALL_ROWS:
        above = compare_all(few, n_few, many, n_many)
    else:
        to_keys(few, n_few, <key_t*>few)
        to_keys(many, n_many, <key_t*>many)
        sort_keys(<key_t*>few, n_few, scratch)
        n_cells = count_cells(n_few)
        shift = build_table(<const key_t*>few, n_few, cells, n_cells)
        above = count_above(<const key_t*>few, n_few, cells, n_cells, shift, <const key_t*>many, n_many, conflicts)
    return above if positives_are_few else all_pairs - above


cdef struct Views:
    # A view's label and score columns are rows of the address tables; counts and wins have a row for each label and
    # view, of `room` groups.
    const uint64_t* labels
    const uint64_t* scores
    const uint8_t* double_scores
    const int64_t* label_of_view
    const int64_t* score_of_view
    int64_t* class_counts
    uint64_t* wins
    Py_ssize_t n_labels
    Py_ssize_t n_views
    Py_ssize_t room


cdef struct Memory:
    uint32_t* table
    uint32_t* group_of_row
    int64_t* cursors
    uint64_t* scores
    uint64_t* scratch
    uint32_t* cells
    uint64_t* conflicts


cdef inline void count_classes(
    Blocks* blocks, const uint64_t* label_blocks, Py_ssize_t partition, const uint32_t* group_of_row,
    Py_ssize_t n_groups, int64_t* class_counts
) noexcept nogil:
    """The rows of every group by another label than the one the groups were found with."""
    cdef Py_ssize_t block, row
    cdef Py_ssize_t i = 0
    cdef const uint8_t* labels
    cdef const int32_t* span
    for i in range(2 * n_groups):
        class_counts[i] = 0
    i = 0
    for block in range(blocks.n_blocks):
        span = blocks.offsets + block * blocks.row_stride + partition
        labels = <const uint8_t*><uintptr_t>label_blocks[block]
        for row in range(span[0], span[1]):
            class_counts[2 * <Py_ssize_t>group_of_row[i] + labels[row]] += 1
            i += 1


cdef inline void view_pairs(
    score_t* scores, key_t* scratch, key_t* conflicts, Blocks* blocks, const uint64_t* label_blocks,
    const uint64_t* score_blocks, Py_ssize_t partition, Memory* memory, Py_ssize_t n_groups,
    const int64_t* class_counts, uint64_t* wins
) noexcept nogil:
    """Twice the pairs won inside every group of a partition, for one view."""
    cdef Py_ssize_t block, row, group, cursor
    cdef Py_ssize_t i = 0
    cdef int64_t total = 0
    cdef int64_t* cursors = memory.cursors
    cdef const uint32_t* group_of_row = memory.group_of_row
    cdef const int32_t* span
    cdef const uint8_t* labels
    cdef const score_t* column
    for group in range(n_groups):
        cursors[2 * group] = total
        total += class_counts[2 * group]
        cursors[2 * group + 1] = total
        total += class_counts[2 * group + 1]
    for block in range(blocks.n_blocks):
        span = blocks.offsets + block * blocks.row_stride + partition
        labels = <const uint8_t*><uintptr_t>label_blocks[block]
        column = <const score_t*><uintptr_t>score_blocks[block]
        for row in range(span[0], span[1]):
            cursor = 2 * <Py_ssize_t>group_of_row[i] + labels[row]
            scores[cursors[cursor]] = column[row]
            cursors[cursor] += 1
            i += 1
    # The cursors now stand at the ends of their classes.
    for group in range(n_groups):
        wins[group] = count_pairs(
            scores + cursors[2 * group] - class_counts[2 * group], class_counts[2 * group],
            scores + cursors[2 * group + 1] - class_counts[2 * group + 1], class_counts[2 * group + 1],
            scratch, memory.cells, conflicts)


cdef inline Py_ssize_t partition_pairs(
    Blocks* blocks, Py_ssize_t partition, Views* views, Memory* memory, Py_ssize_t done, uint64_t* group_hashes,
    uint64_t* group_heads, uint64_t* group_tails, uint16_t* group_slices
) noexcept nogil:
    """The groups of one partition, written from place `done` on; returns how many there are."""
    cdef Py_ssize_t block, label, view, n_groups
    cdef Py_ssize_t n_rows = 0
    cdef uint64_t table_size = 64
    cdef int64_t* class_counts = views.class_counts + 2 * done
    cdef int64_t* own_counts
    cdef uint64_t* wins
    cdef const uint64_t* label_blocks
    cdef const uint64_t* score_blocks
    cdef const int32_t* span
    for block in range(blocks.n_blocks):
        span = blocks.offsets + block * blocks.row_stride + partition
        n_rows += span[1] - span[0]
    if n_rows == 0:
        return 0
    while table_size < 2 * <uint64_t>n_rows:
        table_size *= 2
    n_groups = find_groups(
        blocks, partition, memory.table, table_size, memory.group_of_row, group_hashes + done,
        group_heads + done if blocks.heads else NULL, group_tails + done if blocks.heads else NULL,
        group_slices + done if blocks.slices else NULL, class_counts, <uint8_t>0)
    for label in range(1, views.n_labels):
        count_classes(
            blocks, views.labels + label * blocks.n_blocks, partition, memory.group_of_row, n_groups,
            class_counts + 2 * label * views.room)
    for view in range(views.n_views):
        label_blocks = views.labels + views.label_of_view[view] * blocks.n_blocks
        score_blocks = views.scores + views.score_of_view[view] * blocks.n_blocks
        own_counts = class_counts + 2 * views.label_of_view[view] * views.room
        wins = views.wins + view * views.room + done
        if views.double_scores[views.score_of_view[view]]:
            view_pairs[double, uint64_t](
                <double*>memory.scores, memory.scratch, memory.conflicts, blocks, label_blocks, score_blocks, partition,
                memory, n_groups, own_counts, wins)
        else:
            view_pairs[float, uint32_t](
                <float*>memory.scores, <uint32_t*>memory.scratch, <uint32_t*>memory.conflicts, blocks, label_blocks,
                score_blocks, partition, memory, n_groups, own_counts, wins)
    return n_groups


def group_pairs(
    const uint64_t[::1] hash_blocks, const uint64_t[:, ::1] label_blocks, const uint64_t[:, ::1] score_blocks,
    const uint64_t[::1] head_blocks, const uint64_t[::1] tail_blocks, const uint64_t[::1] slice_blocks,
    const int32_t[:, ::1] offsets, const uint8_t[::1] double_scores, const int64_t[::1] label_of_view,
    const int64_t[::1] score_of_view, Py_ssize_t start, Py_ssize_t stop, uint32_t[::1] table,
    uint32_t[::1] group_of_row, int64_t[::1] cursors, uint64_t[::1] scores, uint64_t[::1] scratch, uint32_t[::1] cells,
    uint64_t[::1] conflicts, uint64_t[::1] group_hashes, uint64_t[::1] group_heads, uint64_t[::1] group_tails,
    uint16_t[::1] group_slices, int64_t[:, :, ::1] class_counts, uint64_t[:, ::1] wins, int64_t[::1] n_groups
):
    """Groups of the partitions start..stop, one row of statistics each, in order of partition and appearance.

    *_blocks hold addresses of the blocks' columns: label_blocks a row for every label, score_blocks for every score
    (float64 where double_scores, else float32); head and tail columns are empty when keys are integers, slice columns
    when groups are not wanted slice by slice. View v sees score score_of_view[v] against label label_of_view[v].
    Working memory, for the largest partition's m rows: table of a power of two of at least max(64, 2 m) entries,
    group_of_row m, cursors 2 m, scores and scratch m (64-bit words), cells MAX_CELLS + 2, conflicts CONFLICTS.
    Results, with room for as many groups as the partitions have rows: group_hashes, group_heads and group_tails (text
    keys), group_slices (slices), class_counts (label, group, class), wins (view, group); n_groups[0] says how many
    groups there are.
    """
    cdef Blocks blocks
    cdef Views views
    cdef Memory memory
    cdef Py_ssize_t partition
    cdef Py_ssize_t done = 0
    cdef uint64_t* heads = NULL
    cdef uint64_t* tails = NULL
    cdef uint16_t* slices = NULL
    set_blocks(&blocks, hash_blocks, label_blocks, head_blocks, tail_blocks, slice_blocks, offsets)
    if blocks.heads:
        heads = &group_heads[0]
        tails = &group_tails[0]
    if blocks.slices:
        slices = &group_slices[0]
    views.labels = &label_blocks[0, 0]
    views.scores = &score_blocks[0, 0]
    views.double_scores = &double_scores[0]
    views.label_of_view = &label_of_view[0]
    views.score_of_view = &score_of_view[0]
    views.class_counts = &class_counts[0, 0, 0]
    views.wins = &wins[0, 0]
    views.n_labels = label_blocks.shape[0]
    views.n_views = label_of_view.shape[0]
    views.room = class_counts.shape[1]
    memory.table = &table[0]
    memory.group_of_row = &group_of_row[0]
    memory.cursors = &cursors[0]
    memory.scores = &scores[0]
    memory.scratch = &scratch[0]
    memory.cells = &cells[0]
    memory.conflicts = &conflicts[0]
    with nogil:
        for partition in range(start, stop):
            done += partition_pairs(&blocks, partition, &views, &memory, done, &group_hashes[0], heads, tails, slices)
        n_groups[0] = done


def number_groups(
    const uint64_t[::1] hash_blocks, const uint64_t[:, ::1] label_blocks, const uint64_t[::1] head_blocks,
    const uint64_t[::1] tail_blocks, const uint64_t[::1] slice_blocks, const int32_t[:, ::1] offsets,
    Py_ssize_t partition, uint32_t[::1] table, uint32_t[::1] group_of_row, uint64_t[::1] group_hashes,
    uint64_t[::1] group_heads, uint64_t[::1] group_tails, uint16_t[::1] group_slices, int64_t[:, ::1] class_counts,
    int64_t[::1] n_groups
):
    """Only the grouping of one partition: group_of_row in the order of blocks and rows. Memory as for group_pairs.

    class_counts (group, class) are those of the first label.
    """
    cdef Blocks blocks
    cdef uint64_t* heads = NULL
    cdef uint64_t* tails = NULL
    cdef uint16_t* slices = NULL
    set_blocks(&blocks, hash_blocks, label_blocks, head_blocks, tail_blocks, slice_blocks, offsets)
    if blocks.heads:
        heads = &group_heads[0]
        tails = &group_tails[0]
    if blocks.slices:
        slices = &group_slices[0]
    with nogil:
        n_groups[0] = find_groups(
            &blocks, partition, &table[0], <uint64_t>table.shape[0], &group_of_row[0], &group_hashes[0], heads, tails,
            slices, &class_counts[0, 0], <uint8_t>0)


def group_weights(
    const uint64_t[::1] weight_blocks, const int32_t[:, ::1] offsets, Py_ssize_t partition,
    const uint32_t[::1] group_of_row, double[::1] least, double[::1] greatest
):
    """The least and the greatest weight of every group of one partition, as number_groups numbered its rows."""
    cdef Blocks blocks
    blocks.offsets = &offsets[0, 0]
    blocks.n_blocks = offsets.shape[0]
    blocks.row_stride = offsets.shape[1]
    with nogil:
        span_weights(
            &blocks, &weight_blocks[0], partition, &group_of_row[0], least.shape[0], &least[0], &greatest[0])


cdef void add_auc_terms(
    const int64_t* class_counts, const uint64_t* wins, Py_ssize_t n, int weigh, bint count_single,
    int64_t* weighted_auc, int64_t* weights, int64_t* counts
) noexcept nogil:
    """What auc_terms says, of n groups."""
    cdef double terms[CHUNK]
    cdef double group_weights[CHUNK]
    cdef double rest[CHUNK]
    cdef double auc, weight
    cdef Py_ssize_t group
    cdef Py_ssize_t length = 0
    cdef int64_t negatives, positives
    for group in range(n):
        negatives = class_counts[2 * group]
        positives = class_counts[2 * group + 1]
        counts[0] += 1
        counts[3] += negatives + positives
        auc = 0.5
        if positives == 0:
            counts[1] += 1
            counts[4] += negatives
        if negatives == 0:
            counts[2] += 1
            counts[5] += positives
        if positives and negatives:
            auc = <double>wins[group] / <double>(2 * <uint64_t>negatives * <uint64_t>positives)
        elif not count_single:
            continue
        weight = 1.0 if weigh == 1 else <double>(positives if weigh == 2 else negatives + positives)
        terms[length] = weight * auc
        group_weights[length] = weight
        length += 1
        if length == CHUNK:
            add_chunk(weighted_auc, terms, length, rest)
            add_chunk(weights, group_weights, length, rest)
            length = 0
    if length:
        add_chunk(weighted_auc, terms, length, rest)
        add_chunk(weights, group_weights, length, rest)
    normalise(weighted_auc)
    normalise(weights)


def auc_terms_of_parts(
    const int64_t[:, ::1] class_counts, const uint64_t[::1] wins, int weigh, bint count_single,
    const int64_t[::1] starts, int64_t[:, :, ::1] states, int64_t[:, ::1] counts
):
    """auc_terms of the groups starts[i] to starts[i + 1], to the sums states[i] and counts[i], for every i."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(counts.shape[0]):
            add_auc_terms(
                &class_counts[starts[i], 0], &wins[starts[i]], starts[i + 1] - starts[i], weigh, count_single,
                &states[i, 0, 0], &states[i, 1, 0], &counts[i, 0])


def auc_terms(
    const int64_t[:, ::1] class_counts, const uint64_t[::1] wins, int weigh, bint count_single,
    int64_t[::1] weighted_auc, int64_t[::1] weights, int64_t[::1] counts
):
    """Add every group to the sums of GAUC: w AUC and w (superaccumulator states), and to the counts.

    AUC = wins / (2 negatives positives), w = rows (weigh 0), 1 (1) or positives (2), each product rounded once. A group
    with one class is left out, or enters with 0.5 when count_single. counts gains groups, those without positives,
    those without negatives, rows, and the rows of those two kinds. At most 2**30 groups per call.
    """
    if wins.shape[0] == 0:
        return
    with nogil:
        add_auc_terms(
            &class_counts[0, 0], &wins[0], wins.shape[0], weigh, count_single, &weighted_auc[0], &weights[0],
            &counts[0])
