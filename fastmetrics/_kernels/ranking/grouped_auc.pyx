"""Counts the pairs won inside every group: the statistics of GAUC.

For the partitions start..stop of blocks (made by hash_partition.pyx), find the group of each row, copy the scores of
each group together (negatives, then positives), and count pairs. Groups are found once for all outputs. An output is a
score column with a label column. Few pairs are counted by comparing all of them, which vectorises; many with the
table of rank_table.pxd. Counts of a group are int64; wins, twice its pairs won, are uint64: a group may have up to
2**32 rows.

With weights, the rows of each group are copied together and sorted, and their weights are summed exactly
(weighted_groups.pxd).
"""

from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t

from fastmetrics._kernels.exchange.group_table cimport PartitionBlocks, find_groups, set_blocks
from fastmetrics._kernels.columns.ordered_bits cimport score_t, sort_key
from fastmetrics._kernels.numeric.superaccumulator cimport CHUNK, add_chunk, normalise
from fastmetrics._kernels.numeric.table_hash cimport use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import ADDRESS as _SEEDS
from fastmetrics._kernels.ranking.weighted_groups cimport auc_of_rows, sort_rows
from fastmetrics._kernels.sweep.weighted_rows cimport WeightedRow
from fastmetrics._kernels.sweep.rank_table cimport build_table, count_doubled_wins, n_table_cells, key_t, sort_keys

use_table_seeds(_SEEDS)

cdef enum:
    COMPARE_ALL = 16            # up to so many rows of the rarer class, comparing all pairs is faster than a table
    COMPARE_ALL_ROWS = 1 << 20

# What a group weighs, for auc_terms.
cdef enum:
    IMPRESSIONS = 0
    UNIFORM = 1
    POSITIVES = 2
    PAIRS = 3
    WEIGHTS = 4


cdef inline uint64_t compare_with_all(
    const score_t* few, Py_ssize_t n_few, const score_t* many, Py_ssize_t n_many
) noexcept nogil:
    """Twice the pairs in which the score of `few` is greater, plus ties."""
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
    """Replace scores by their keys: both use the same memory and have the same width."""
    cdef Py_ssize_t i
    for i in range(n):
        keys[i] = <key_t>sort_key(scores[i])


cdef inline uint64_t count_pairs(
    score_t* negatives, Py_ssize_t n_negative, score_t* positives, Py_ssize_t n_positive, key_t* scratch,
    uint32_t* cells, key_t* conflicts
) noexcept nogil:
    """Twice the pairs (positive, negative) won by the positive, plus ties. The scores are overwritten."""
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
        above = compare_with_all(few, n_few, many, n_many)
    else:
        to_keys(few, n_few, <key_t*>few)
        to_keys(many, n_many, <key_t*>many)
        sort_keys(<key_t*>few, n_few, scratch)
        n_cells = n_table_cells(n_few)
        shift = build_table(<const key_t*>few, n_few, cells, n_cells)
        above = count_doubled_wins(
            <const key_t*>few, n_few, cells, n_cells, shift, <const key_t*>many, n_many, conflicts)
    return above if positives_are_few else all_pairs - above


cdef struct OutputBlocks:
    # The label and score columns of an output are rows of the address tables. class_counts has max_groups groups for
    # each label, wins has max_groups groups for each output. With weights auc has as many in place of wins; totals too
    const uint64_t* labels
    const uint64_t* scores
    const uint64_t* weights        # NULL: rows have no weights
    const uint8_t* double_scores
    const int64_t* label_of_output
    const int64_t* score_of_output
    int64_t* class_counts
    uint64_t* wins
    double* auc
    double* totals
    Py_ssize_t n_labels
    Py_ssize_t n_outputs
    Py_ssize_t max_groups


cdef struct WorkingMemory:
    uint32_t* table
    uint32_t* group_of_row
    int64_t* cursors
    uint64_t* scores
    uint64_t* scratch
    uint32_t* cells
    uint64_t* conflicts
    WeightedRow* rows
    WeightedRow* other_rows


cdef inline void count_classes(
    PartitionBlocks* blocks, const uint64_t* label_blocks, Py_ssize_t partition, const uint32_t* group_of_row,
    Py_ssize_t n_groups, int64_t* class_counts
) noexcept nogil:
    """Count the rows of each class of every group, for another label than find_groups used."""
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


cdef inline void output_pairs(
    score_t* scores, key_t* scratch, key_t* conflicts, PartitionBlocks* blocks, const uint64_t* label_blocks,
    const uint64_t* score_blocks, Py_ssize_t partition, WorkingMemory* memory, Py_ssize_t n_groups,
    const int64_t* class_counts, uint64_t* wins
) noexcept nogil:
    """Count twice the pairs won inside every group of a partition, for one output."""
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
    # Each cursor is now at the end of its class.
    for group in range(n_groups):
        wins[group] = count_pairs(
            scores + cursors[2 * group] - class_counts[2 * group], class_counts[2 * group],
            scores + cursors[2 * group + 1] - class_counts[2 * group + 1], class_counts[2 * group + 1],
            scratch, memory.cells, conflicts)


cdef inline void weighted_output_auc(
    score_t* unused, PartitionBlocks* blocks, const uint64_t* label_blocks, const uint64_t* score_blocks,
    const uint64_t* weight_blocks, Py_ssize_t partition, WorkingMemory* memory, Py_ssize_t n_groups,
    const int64_t* class_counts, double* auc, double* totals
) noexcept nogil:
    """The weighted AUC of every group of a partition and its weight, for one output. `unused` gives the type."""
    cdef Py_ssize_t block, row, group
    cdef Py_ssize_t i = 0
    cdef int64_t total = 0
    cdef int64_t n
    cdef int64_t* cursors = memory.cursors
    cdef const int32_t* span
    cdef const uint8_t* labels
    cdef const score_t* column
    cdef const double* weights
    cdef WeightedRow* target
    for group in range(n_groups):
        cursors[group] = total
        total += class_counts[2 * group] + class_counts[2 * group + 1]
    for block in range(blocks.n_blocks):
        span = blocks.offsets + block * blocks.row_stride + partition
        labels = <const uint8_t*><uintptr_t>label_blocks[block]
        column = <const score_t*><uintptr_t>score_blocks[block]
        weights = <const double*><uintptr_t>weight_blocks[block]
        for row in range(span[0], span[1]):
            target = memory.rows + cursors[memory.group_of_row[i]]
            target.key = <uint64_t>sort_key(column[row])
            target.weight = -weights[row] if labels[row] else weights[row]
            cursors[memory.group_of_row[i]] += 1
            i += 1
    # Each cursor is now at the end of its group.
    for group in range(n_groups):
        n = class_counts[2 * group] + class_counts[2 * group + 1]
        target = sort_rows(memory.rows + cursors[group] - n, n, memory.other_rows)
        if not auc_of_rows(target, n, &auc[group], &totals[group]):
            auc[group] = NAN


cdef inline Py_ssize_t partition_pairs(
    PartitionBlocks* blocks, Py_ssize_t partition, OutputBlocks* outputs, WorkingMemory* memory, Py_ssize_t first_group,
    uint64_t* group_hashes, uint64_t* group_heads, uint64_t* group_tails, uint16_t* group_slices
) noexcept nogil:
    """Write the groups of one partition from index first_group on; return their number."""
    cdef Py_ssize_t block, label, output, n_groups
    cdef Py_ssize_t n_rows = 0
    cdef uint64_t table_size = 64
    cdef int64_t* class_counts = outputs.class_counts + 2 * first_group
    cdef int64_t* output_counts
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
        blocks, partition, memory.table, table_size, memory.group_of_row, group_hashes + first_group,
        group_heads + first_group if blocks.heads else NULL, group_tails + first_group if blocks.heads else NULL,
        group_slices + first_group if blocks.slices else NULL, class_counts, <uint8_t>0)
    for label in range(1, outputs.n_labels):
        count_classes(
            blocks, outputs.labels + label * blocks.n_blocks, partition, memory.group_of_row, n_groups,
            class_counts + 2 * label * outputs.max_groups)
    for output in range(outputs.n_outputs):
        label_blocks = outputs.labels + outputs.label_of_output[output] * blocks.n_blocks
        score_blocks = outputs.scores + outputs.score_of_output[output] * blocks.n_blocks
        output_counts = class_counts + 2 * outputs.label_of_output[output] * outputs.max_groups
        wins = outputs.wins + output * outputs.max_groups + first_group
        if outputs.weights and outputs.double_scores[outputs.score_of_output[output]]:
            weighted_output_auc[double](
                NULL, blocks, label_blocks, score_blocks, outputs.weights, partition, memory, n_groups, output_counts,
                outputs.auc + output * outputs.max_groups + first_group, outputs.totals + first_group)
        elif outputs.weights:
            weighted_output_auc[float](
                NULL, blocks, label_blocks, score_blocks, outputs.weights, partition, memory, n_groups, output_counts,
                outputs.auc + output * outputs.max_groups + first_group, outputs.totals + first_group)
        elif outputs.double_scores[outputs.score_of_output[output]]:
            output_pairs[double, uint64_t](
                <double*>memory.scores, memory.scratch, memory.conflicts, blocks, label_blocks, score_blocks, partition,
                memory, n_groups, output_counts, wins)
        else:
            output_pairs[float, uint32_t](
                <float*>memory.scores, <uint32_t*>memory.scratch, <uint32_t*>memory.conflicts, blocks, label_blocks,
                score_blocks, partition, memory, n_groups, output_counts, wins)
    return n_groups


def group_pairs(
    const uint64_t[::1] hash_blocks, const uint64_t[:, ::1] label_blocks, const uint64_t[:, ::1] score_blocks,
    const uint64_t[::1] weight_blocks, const uint64_t[::1] head_blocks, const uint64_t[::1] tail_blocks,
    const uint64_t[::1] slice_blocks, const int32_t[:, ::1] offsets, const uint8_t[::1] double_scores,
    const int64_t[::1] label_of_output,
    const int64_t[::1] score_of_output, Py_ssize_t start, Py_ssize_t stop, uint32_t[::1] table,
    uint32_t[::1] group_of_row, int64_t[::1] cursors, uint64_t[::1] scores, uint64_t[::1] scratch, uint32_t[::1] cells,
    uint64_t[::1] conflicts, uint64_t[:, ::1] rows, uint64_t[::1] group_hashes, uint64_t[::1] group_heads,
    uint64_t[::1] group_tails, uint16_t[::1] group_slices, int64_t[:, :, ::1] class_counts, uint64_t[:, ::1] wins,
    double[:, ::1] auc, double[::1] totals, int64_t[::1] n_groups
):
    """The groups of the partitions start..stop and their pairs won, in order of partition and appearance.

    With weights, the AUC of every group and its sum of weights are written instead of its pairs. The AUC is NaN if the
    weights of a group are too far apart or if its rounding is uncertain: the caller computes both by other means.

    - *_blocks hold the addresses of the columns of the blocks: label_blocks has a row for every label, score_blocks for
      every score (float64 if double_scores, else float32). Weights are empty if rows have none. Head and tail columns
      are empty if keys are integers, slice columns if groups are not divided by slice. View v is score
      score_of_output[v] with label label_of_output[v].
    - Working memory, for the m rows of the largest partition: table a power of two of at least max(64, 2 m) entries,
      group_of_row m, cursors 2 m, scores and scratch m (64-bit words), cells MAX_CELLS + 2,
      conflicts CONFLICT_CAPACITY; with weights, rows (2, 2 m).
    - Results, for as many groups as the partitions have rows: group_hashes, group_heads and group_tails (text keys),
      group_slices (slices), class_counts (label, group, class), wins or auc (output, group), totals (group). n_groups
      has the number of groups, then for each partition that of its first group.
    """
    cdef PartitionBlocks blocks
    cdef OutputBlocks outputs
    cdef WorkingMemory memory
    cdef Py_ssize_t partition
    cdef Py_ssize_t n_written = 0
    cdef uint64_t* heads = NULL
    cdef uint64_t* tails = NULL
    cdef uint16_t* slices = NULL
    set_blocks(&blocks, hash_blocks, label_blocks, head_blocks, tail_blocks, slice_blocks, offsets)
    if blocks.heads:
        heads = &group_heads[0]
        tails = &group_tails[0]
    if blocks.slices:
        slices = &group_slices[0]
    outputs.labels = &label_blocks[0, 0]
    outputs.scores = &score_blocks[0, 0]
    outputs.double_scores = &double_scores[0]
    outputs.label_of_output = &label_of_output[0]
    outputs.score_of_output = &score_of_output[0]
    outputs.class_counts = &class_counts[0, 0, 0]
    outputs.wins = &wins[0, 0]
    outputs.n_labels = label_blocks.shape[0]
    outputs.n_outputs = label_of_output.shape[0]
    outputs.max_groups = class_counts.shape[1]
    memory.table = &table[0]
    memory.group_of_row = &group_of_row[0]
    memory.cursors = &cursors[0]
    memory.scores = &scores[0]
    memory.scratch = &scratch[0]
    memory.cells = &cells[0]
    memory.conflicts = &conflicts[0]
    outputs.weights = NULL
    if weight_blocks.shape[0]:
        outputs.weights = &weight_blocks[0]
        outputs.auc = &auc[0, 0]
        outputs.totals = &totals[0]
        memory.rows = <WeightedRow*>&rows[0, 0]
        memory.other_rows = <WeightedRow*>&rows[1, 0]
    with nogil:
        for partition in range(start, stop):
            n_groups[1 + partition - start] = n_written
            n_written += partition_pairs(
                &blocks, partition, &outputs, &memory, n_written, &group_hashes[0], heads, tails, slices)
        n_groups[0] = n_written


def number_groups(
    const uint64_t[::1] hash_blocks, const uint64_t[:, ::1] label_blocks, const uint64_t[::1] head_blocks,
    const uint64_t[::1] tail_blocks, const uint64_t[::1] slice_blocks, const int32_t[:, ::1] offsets,
    Py_ssize_t partition, uint32_t[::1] table, uint32_t[::1] group_of_row, uint64_t[::1] group_hashes,
    uint64_t[::1] group_heads, uint64_t[::1] group_tails, uint16_t[::1] group_slices, int64_t[:, ::1] class_counts,
    int64_t[::1] n_groups
):
    """Find the group of each row of one partition: group_of_row is in the order of blocks and rows.

    Memory is as for group_pairs. class_counts (group, class) are those of the first label.
    """
    cdef PartitionBlocks blocks
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


cdef void add_auc_terms(
    const int64_t* class_counts, const uint64_t* wins, const double* group_weights, Py_ssize_t n, int weight_rule,
    bint count_single, int64_t* weighted_auc, int64_t* weights, int64_t* counts
) noexcept nogil:
    """As auc_terms, for n groups; group_weights is NULL if rows have no weights."""
    cdef double terms[CHUNK]
    cdef double masses[CHUNK]
    cdef double rest[CHUNK]
    cdef double auc, weight
    cdef uint64_t pairs
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
        pairs = 2 * <uint64_t>negatives * <uint64_t>positives
        if pairs:
            auc = (<const double*>wins)[group] if group_weights else <double>wins[group] / <double>pairs
        elif not count_single:
            continue
        if weight_rule == PAIRS and not group_weights:
            # w AUC and w are integers, whose halves are exact as doubles.
            terms[length] = 4294967296.0 * <double>(wins[group] >> 32)
            masses[length] = 4294967296.0 * <double>(pairs >> 32)
            terms[length + 1] = <double><uint32_t>wins[group]
            masses[length + 1] = <double><uint32_t>pairs
            length += 2
        else:
            weight = <double>(negatives + positives)
            if weight_rule == UNIFORM:
                weight = 1.0
            elif weight_rule == POSITIVES:
                weight = <double>positives
            elif weight_rule == PAIRS:
                weight = <double>negatives * <double>positives
            elif weight_rule == WEIGHTS and group_weights:
                weight = group_weights[group]
            terms[length] = weight * auc
            masses[length] = weight
            length += 1
        if length > CHUNK - 2:
            add_chunk(weighted_auc, terms, length, rest)
            add_chunk(weights, masses, length, rest)
            length = 0
    if length:
        add_chunk(weighted_auc, terms, length, rest)
        add_chunk(weights, masses, length, rest)
    normalise(weighted_auc)
    normalise(weights)


def auc_terms(
    const int64_t[:, ::1] class_counts, const uint64_t[::1] wins, const double[::1] group_weights, int weight_rule,
    bint count_single, const int64_t[::1] starts or None, int64_t[:, :, ::1] states, int64_t[:, ::1] counts
):
    """Add the groups starts[i] to starts[i + 1] to the sums of GAUC, w AUC and w, of state i, and to its counts.

    Without starts, all groups are added to one state.

    AUC = wins / (2 negatives positives). With weights of rows, group_weights has those of groups, and wins the bits of
    their AUCs; otherwise it is empty. w is the number of rows, 1 (weight_rule UNIFORM), the number of POSITIVES, or the
    weight of the group (WEIGHTS, where there are any); each product is rounded once. With PAIRS, w is 2 negatives
    positives, so that both sums are integers; with weights of rows, half as much. A group with one class counts as 0.5
    if count_single, else it is left out. counts are: groups, groups without positives, groups without negatives, rows,
    and the rows of those two kinds of groups. At most 2**29 groups per call.
    """
    cdef Py_ssize_t i
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t stop = wins.shape[0]
    cdef const double* own_weights = NULL
    if wins.shape[0] == 0:
        return
    with nogil:
        for i in range(counts.shape[0]):
            if starts is not None:
                first, stop = starts[i], starts[i + 1]
            if group_weights.shape[0]:
                own_weights = &group_weights[first]
            add_auc_terms(
                &class_counts[first, 0], &wins[first], own_weights, stop - first, weight_rule, count_single,
                &states[i, 0, 0], &states[i, 1, 0], &counts[i, 0])
