"""Counts the pairs won inside every group: the statistics of GAUC.

For the partitions start..stop of blocks (made by hash_partition.pyx), find the group of each row, copy the scores of
each group together (negatives, then positives), and count pairs. Groups are found once for all outputs. An output is a
score column with a label column. Few pairs are counted by comparing all of them, which vectorizes; many with the
table of rank_table.pxd. Counts of a group are int64; wins, twice its pairs won, are uint64: a group may have up to
2**32 rows.

With weights, the rows of each group are copied together and sorted, and their weights are summed exactly
(weighted_groups.pxd).
"""

import numpy as np

from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from fastmetrics._kernels.columns.column_blocks cimport memory_of, words_of
from fastmetrics._kernels.exchange.group_table cimport PartitionBlocks
from fastmetrics._kernels.exchange.partition_groups cimport (
    ColumnsOfOutput, FoundGroups, PartitionedRows, PartitionGroups, find_in_partition,
)
from fastmetrics._kernels.columns.ordered_bits cimport score_t, sort_key
from fastmetrics._kernels.numeric.length_checks cimport need_length, need_segments
from fastmetrics._kernels.numeric.superaccumulator cimport CHUNK, STATE_SIZE, add_chunk, normalize
from fastmetrics._kernels.numeric.table_hash cimport use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS
from fastmetrics._kernels.ranking.weighted_groups cimport auc_of_rows, sort_rows
from fastmetrics._kernels.sweep.weighted_rows cimport WeightedRow
from fastmetrics._kernels.sweep.rank_table cimport (
    CONFLICT_CAPACITY, MAX_CELLS, build_table, count_doubled_wins, key_t, n_table_cells, sort_keys,
)

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


cdef struct PairMemory:
    # Working memory, and the results for places of max_groups groups: class_counts of every label, wins of every
    # output; with weights auc in place of wins, and totals.
    FoundGroups found
    const void** labels
    const void** scores
    const void** weights           # NULL: rows have no weights
    const ColumnsOfOutput* outputs
    Py_ssize_t n_labels
    Py_ssize_t n_outputs
    Py_ssize_t max_groups
    int64_t* class_counts
    uint64_t* wins
    double* auc
    double* totals
    int64_t* cursors
    uint64_t* scores_of_groups
    uint64_t* scratch
    uint32_t* cells
    uint64_t* conflicts
    WeightedRow* rows
    WeightedRow* other_rows


cdef inline void count_classes(
    const PartitionBlocks* blocks, const void** label_blocks, Py_ssize_t partition, const uint32_t* group_of_row,
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
        labels = <const uint8_t*>label_blocks[block]
        for row in range(span[0], span[1]):
            class_counts[2 * <Py_ssize_t>group_of_row[i] + (labels[row] != 0)] += 1
            i += 1


cdef inline void pairs_of_groups(
    score_t* scores, key_t* scratch, key_t* conflicts, PairMemory* memory, const ColumnsOfOutput* output,
    Py_ssize_t partition, Py_ssize_t n_groups, const int64_t* class_counts, uint64_t* wins
) noexcept nogil:
    """Count twice the pairs won inside every group of a partition, for one output."""
    cdef Py_ssize_t block, row, group, cursor
    cdef Py_ssize_t i = 0
    cdef int64_t total = 0
    cdef const PartitionBlocks* blocks = &memory.found.blocks
    cdef int64_t* cursors = memory.cursors
    cdef const uint32_t* group_of_row = memory.found.group_of_row
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
        labels = <const uint8_t*>memory.labels[output.label * blocks.n_blocks + block]
        column = <const score_t*>memory.scores[output.score * blocks.n_blocks + block]
        for row in range(span[0], span[1]):
            cursor = 2 * <Py_ssize_t>group_of_row[i] + (labels[row] != 0)
            scores[cursors[cursor]] = column[row]
            cursors[cursor] += 1
            i += 1
    # Each cursor is now at the end of its class.
    for group in range(n_groups):
        wins[group] = count_pairs(
            scores + cursors[2 * group] - class_counts[2 * group], class_counts[2 * group],
            scores + cursors[2 * group + 1] - class_counts[2 * group + 1], class_counts[2 * group + 1],
            scratch, memory.cells, conflicts)


cdef inline void weighted_auc_of_groups(
    score_t* unused, PairMemory* memory, const ColumnsOfOutput* output, Py_ssize_t partition, Py_ssize_t n_groups,
    const int64_t* class_counts, double* auc, double* totals
) noexcept nogil:
    """The weighted AUC of every group of a partition and its sum of weights. `unused` gives the type of scores."""
    cdef Py_ssize_t block, row, group
    cdef Py_ssize_t i = 0
    cdef int64_t total = 0
    cdef int64_t n
    cdef const PartitionBlocks* blocks = &memory.found.blocks
    cdef int64_t* cursors = memory.cursors
    cdef const uint32_t* group_of_row = memory.found.group_of_row
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
        labels = <const uint8_t*>memory.labels[output.label * blocks.n_blocks + block]
        column = <const score_t*>memory.scores[output.score * blocks.n_blocks + block]
        weights = <const double*>memory.weights[block]
        for row in range(span[0], span[1]):
            target = memory.rows + cursors[group_of_row[i]]
            target.key = <uint64_t>sort_key(column[row])
            target.weight = -weights[row] if labels[row] else weights[row]
            cursors[group_of_row[i]] += 1
            i += 1
    # Each cursor is now at the end of its group.
    for group in range(n_groups):
        n = class_counts[2 * group] + class_counts[2 * group + 1]
        target = sort_rows(memory.rows + cursors[group] - n, n, memory.other_rows)
        if not auc_of_rows(target, n, &auc[group], &totals[group]):
            auc[group] = NAN


cdef inline Py_ssize_t pairs_of_partition(PairMemory* memory, Py_ssize_t partition, Py_ssize_t first) noexcept nogil:
    """Write the groups of one partition from index `first` on; return their number."""
    cdef Py_ssize_t label, number
    cdef int64_t* class_counts = memory.class_counts + 2 * first
    cdef Py_ssize_t n_groups = find_in_partition[uint8_t](&memory.found, partition, first, class_counts, 0)
    cdef const ColumnsOfOutput* output
    cdef const int64_t* counts
    cdef uint64_t* wins
    cdef double* auc
    for label in range(1, memory.n_labels):
        count_classes(
            &memory.found.blocks, memory.labels + label * memory.found.blocks.n_blocks, partition,
            memory.found.group_of_row, n_groups, class_counts + 2 * label * memory.max_groups)
    for number in range(memory.n_outputs):
        output = &memory.outputs[number]
        counts = class_counts + 2 * output.label * memory.max_groups
        wins = memory.wins + number * memory.max_groups + first
        auc = memory.auc + number * memory.max_groups + first
        if memory.weights and output.is_double:
            weighted_auc_of_groups[double](
                NULL, memory, output, partition, n_groups, counts, auc, memory.totals + first)
        elif memory.weights:
            weighted_auc_of_groups[float](
                NULL, memory, output, partition, n_groups, counts, auc, memory.totals + first)
        elif output.is_double:
            pairs_of_groups[double, uint64_t](
                <double*>memory.scores_of_groups, memory.scratch, memory.conflicts, memory, output, partition, n_groups,
                counts, wins)
        else:
            pairs_of_groups[float, uint32_t](
                <float*>memory.scores_of_groups, <uint32_t*>memory.scratch, <uint32_t*>memory.conflicts, memory, output,
                partition, n_groups, counts, wins)
    return n_groups


cdef class GroupPairCounter:
    """Counts the pairs won inside every group of some partitions, for all outputs of `groups`.

    Labels are classes. After `count`, the results stand in the order of partition and appearance: the keys in `groups`,
    class_counts (label, group, class), and wins (output, group), twice the pairs won; partition_starts has the
    first group of every partition and the number of groups. With weights, auc (output, group) has the weighted AUC of
    every group, in the memory of wins, and totals (group) its sum of weights. An AUC is NaN if the weights of a group
    are too far apart, or if its rounding is uncertain: the caller computes both by other means.
    """

    cdef readonly PartitionGroups groups
    cdef readonly object class_counts
    cdef readonly object wins
    cdef readonly object auc
    cdef readonly object totals
    cdef readonly object partition_starts
    cdef list kept
    cdef PairMemory memory

    def __cinit__(self, PartitionGroups groups not None, allocate):
        cdef PartitionedRows rows = groups.rows
        cdef Py_ssize_t largest = max(1, rows.largest)
        cdef Py_ssize_t most = groups.most_groups
        cdef Py_ssize_t n_weighted = most if rows.has_weights else 0
        if rows.label_bytes != 1:
            raise ValueError("pairs are counted of labels that are classes")
        self.groups = groups
        self.class_counts = allocate("class rows", np.int64, 2 * rows.n_labels * most).reshape(rows.n_labels, most, 2)
        self.wins = allocate("wins", np.uint64, groups.n_outputs * most).reshape(groups.n_outputs, most)
        self.auc = self.wins.view(np.float64)
        self.totals = allocate("totals", np.float64, n_weighted)
        self.partition_starts = np.zeros(rows.n_partitions + 1, np.int64)
        self.memory.labels = rows.starts
        self.memory.scores = rows.scores
        self.memory.weights = rows.weights
        self.memory.outputs = groups.outputs
        self.memory.n_labels = rows.n_labels
        self.memory.n_outputs = groups.n_outputs
        self.memory.max_groups = most
        self.memory.class_counts = <int64_t*>memory_of(self.class_counts, 2 * rows.n_labels * most, 8)
        self.memory.wins = <uint64_t*>memory_of(self.wins, groups.n_outputs * most, 8)
        self.memory.auc = <double*>self.memory.wins
        self.memory.totals = <double*>memory_of(self.totals, n_weighted, 8)
        self.kept = []
        self.memory.cursors = <int64_t*>words_of(self.kept, allocate, "cursors", 2 * largest)
        self.memory.scores_of_groups = words_of(self.kept, allocate, "scores", largest)
        self.memory.scratch = words_of(self.kept, allocate, "scratch", largest)
        self.memory.cells = <uint32_t*>words_of(self.kept, allocate, "cells", MAX_CELLS // 2 + 1)
        self.memory.conflicts = words_of(self.kept, allocate, "conflicts", CONFLICT_CAPACITY)
        if rows.has_weights:
            self.memory.rows = <WeightedRow*>words_of(self.kept, allocate, "rows", 4 * largest)
            self.memory.other_rows = self.memory.rows + largest

    def count(self, Py_ssize_t start, Py_ssize_t stop, bint by_slice=False) -> int:
        """Count the pairs of the groups of the partitions start..stop, divided by slice or not; return their number."""
        cdef Py_ssize_t partition
        cdef Py_ssize_t n_groups = 0
        cdef int64_t* starts = <int64_t*>memory_of(self.partition_starts, self.groups.rows.n_partitions + 1, 8)
        self.memory.found = self.groups.memory(start, stop, by_slice)
        with nogil:
            for partition in range(start, stop):
                starts[partition - start] = n_groups
                n_groups += pairs_of_partition(&self.memory, partition, n_groups)
            starts[stop - start] = n_groups
        return n_groups


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
    normalize(weighted_auc)
    normalize(weights)


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
    need_length(b"class_counts", class_counts.shape[0], stop)
    need_length(b"classes", class_counts.shape[1], 2)
    if group_weights.shape[0]:
        need_length(b"group_weights", group_weights.shape[0], stop)
    need_segments(starts, stop, states, STATE_SIZE, counts, 6)
    with nogil:
        for i in range(counts.shape[0]):
            if starts is not None:
                first, stop = starts[i], starts[i + 1]
            if group_weights.shape[0]:
                own_weights = &group_weights[first]
            add_auc_terms(
                &class_counts[first, 0], &wins[first], own_weights, stop - first, weight_rule, count_single,
                &states[i, 0, 0], &states[i, 1, 0], &counts[i, 0])
