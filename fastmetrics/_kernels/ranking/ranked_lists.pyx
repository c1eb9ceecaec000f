"""Measures of many ranked lists: of lists one after the other, and of the groups of a hash exchange.

list_ranks.pxd ranks a list once, and list_measures.pxd computes every measure from that. A further measure costs one
more pass over the positives of the list. measure_lists reads lists whose rows are contiguous, with all rules for ties.
measure_groups finds the groups of partitions (group_table.pxd) and copies the scores of a partition into the order of
its groups, with positives apart, as grouped_auc.pyx does; its grades are uint8 or float64.

The caller owns all memory. Lists have less than 2**30 rows.
"""

from libc.math cimport HUGE_VAL, NAN, isnan
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memset

from fastmetrics._kernels.exchange.group_table cimport (
    PartitionBlocks, find_groups, label_t, set_blocks, find_weight_ranges,
)
from fastmetrics._kernels.numeric.elementary cimport fm_log, fm_log2_of_rank
from fastmetrics._kernels.numeric.quotient cimport divide_state, two_sum, count_non_finite
from fastmetrics._kernels.ranking.list_ranks cimport (
    FM_SHORT, MANY_POSITIVES, NOT_COMPUTED, SPARE_WORDS, TIES_AVERAGE, TIES_OPTIMISTIC, TIES_PESSIMISTIC,
    WORDS_PER_ROW_OF_LIST, RankedList, assign_memory, rank_list, rank_short, real_t, resolve_by_grade,
    resolve_by_rows, widen_f64_grades, widen_u8_grades,
)
from fastmetrics._kernels.ranking.list_measures cimport (
    EXPECTED_RECIPROCAL_RANK, MEASURE_FIELDS, MEASURE_NUMBERS, RANKS_PER_MARK, add_weight, measure_of,
)
from fastmetrics._kernels.ranking.loaded_lists cimport (
    EXACT_GRADE, MAX_MEASURES, NUMBER_OF_COUNTS, GradeRange, MeasurePlan, count_list, grade_t, load_ideal,
    load_list, read_plan, sort_ties, try_rank_short,
)
from fastmetrics._kernels.numeric.superaccumulator cimport CHUNK, STATE_SIZE, add_chunk, normalise
from fastmetrics._kernels.numeric.table_hash cimport use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import ADDRESS as _SEEDS

use_table_seeds(_SEEDS)

WORDS_PER_ROW = WORDS_PER_ROW_OF_LIST
SPARE = SPARE_WORDS
FIELDS = MEASURE_FIELDS
NUMBERS = MEASURE_NUMBERS
N_COUNTS = NUMBER_OF_COUNTS
MARKED_RANKS = RANKS_PER_MARK
MOST_MEASURES = MAX_MEASURES


def discounts(double base, double[::1] weights, double[:, ::1] sums):
    """The weights of ranks in DCG, 1 / log_base(rank + 1), and their sums.

    sums[i] is the sum of the first i weights as a rounded total and the rounding error, so that differences of sums are
    accurate for any number of weights. There is one more sum than weights. Further entries of sums are marks: the sums
    after every RANKS_PER_MARK further weights, which are not stored themselves (base 2 only).
    """
    cdef Py_ssize_t i, mark
    cdef Py_ssize_t n = weights.shape[0]
    cdef double total = 0.0
    cdef double rest = 0.0
    cdef double scale = fm_log(base)
    with nogil:
        sums[0, 0] = 0.0
        sums[0, 1] = 0.0
        for i in range(weights.shape[0]):
            weights[i] = 1.0 / fm_log2_of_rank(<double>(i + 2)) if base == 2.0 else scale / fm_log(<double>(i + 2))
            add_weight(&total, &rest, weights[i])
            sums[i + 1, 0] = total
            sums[i + 1, 1] = rest
        for mark in range(n + 1, sums.shape[0]):
            for i in range(n + (mark - n - 1) * RANKS_PER_MARK, n + (mark - n) * RANKS_PER_MARK):
                add_weight(&total, &rest, 1.0 / fm_log2_of_rank(<double>(i + 2)))
            sums[mark, 0] = total
            sums[mark, 1] = rest


def grades_as_bytes(
    const grade_t[::1] grades, Py_ssize_t start, Py_ssize_t stop, uint8_t[::1] out, int64_t[::1] checks
):
    """Grades start..stop as bytes. checks[0] increases by the number of grades that are not whole numbers below 256;
    checks[1] becomes the greatest grade."""
    cdef Py_ssize_t i
    cdef int64_t others = 0
    cdef uint8_t whole, greatest
    greatest = 0
    with nogil:
        for i in range(start, stop):
            if grade_t is uint8_t:
                whole = grades[i]
            else:
                whole = <uint8_t><int64_t>grades[i] if 0 <= grades[i] < 256 else 0
                others += <grade_t>whole != grades[i]
            out[i - start] = whole
            greatest = max(greatest, whole)
        checks[0] += others
        checks[1] = max(checks[1], <int64_t>greatest)


def measure_lists(
    const real_t[::1] scores, const grade_t[::1] grades, const int64_t[::1] offsets, const double[::1] missing,
    const int64_t[::1] missing_offsets, const int64_t[:, ::1] measures, const double[:, ::1] numbers,
    const double[::1] weights, const double[:, ::1] sums, int ties, const uint64_t[::1] keys, const uint8_t[::1] data,
    const int64_t[::1] text_starts, const int64_t[::1] text_stops, double least, double greatest, bint signed_gains,
    Py_ssize_t start, Py_ssize_t stop, uint64_t[::1] memory, uint8_t[::1] kinds, double[:, ::1] values,
    int64_t[:, ::1] counts, int64_t[::1] n_invalid
):
    """The measures of the lists start..stop: values (measure, list), and counts (list, N_COUNTS).

    - List i has the rows offsets[i]..offsets[i + 1] of scores and grades. If a score is NaN, or a grade is outside
      [least, greatest], n_invalid[0] is not zero afterwards and values are not valid.
    - Negative grades are gains if `signed_gains`, else they mark unjudged rows.
    - The judged items of list i that were not retrieved have the grades missing[missing_offsets[i]...].
      missing_offsets is empty if all judged items were retrieved.
    - measures and numbers have one row for each measure, the fields of struct Measure; at most MOST_MEASURES.
    - weights and sums are made by `discounts`, for the ranks of the longest list, the longest ideal list and the
      greatest k.
    - ties: see list_ranks.pxd. keys (TIES_KEY), or data, text_starts and text_stops (TIES_TEXT), have an entry for
      every row; otherwise they are empty.
    - memory has WORDS_PER_ROW words for each row of the longest list, one for each judged item, and SPARE. kinds is as
      long as the longest list.
    """
    cdef MeasurePlan plan
    cdef RankedList ranked
    cdef GradeRange allowed
    cdef Py_ssize_t i, measure, first, n, n_missing
    cdef Py_ssize_t longest = 0
    cdef const double* list_missing = NULL
    # All lists may be empty.
    cdef const real_t* all_scores = &scores[0] if scores.shape[0] else NULL
    cdef const grade_t* all_grades = &grades[0] if grades.shape[0] else NULL
    cdef uint8_t* all_kinds = &kinds[0] if kinds.shape[0] else NULL
    read_plan(&plan, measures, numbers, weights, sums, ties)
    plan.order.keys = &keys[0] if keys.shape[0] else NULL
    plan.order.data = &data[0] if data.shape[0] else NULL
    plan.order.starts = &text_starts[0] if text_starts.shape[0] else NULL
    plan.order.stops = &text_stops[0] if text_stops.shape[0] else NULL
    allowed.least = least
    allowed.greatest = greatest
    allowed.signed_gains = signed_gains
    with nogil:
        for i in range(start, stop):
            longest = max(longest, offsets[i + 1] - offsets[i])
        assign_memory(&ranked, &memory[0], longest)
        for i in range(start, stop):
            first = offsets[i]
            n = offsets[i + 1] - first
            n_missing = 0
            if missing_offsets.shape[0]:
                n_missing = missing_offsets[i + 1] - missing_offsets[i]
                if n_missing:
                    list_missing = &missing[0] + missing_offsets[i]
            if n > FM_SHORT or plan.judged_apart or not try_rank_short(
                    &ranked, all_scores + first, all_grades + first, n, &allowed, &n_invalid[0]) or (
                    ties > TIES_PESSIMISTIC and not ranked.is_resolved):
                load_list(&ranked, all_scores + first, all_grades + first, n, &allowed, all_kinds, &n_invalid[0])
                if n_invalid[0]:
                    break        # NaN has no rank
                rank_list(&ranked, <const real_t*>ranked.scores, plan.judged_apart)
            load_ideal(&ranked, ranked.sorted_grades, list_missing, n_missing)
            count_list(&ranked, n_missing, &counts[i, 0])
            if not ranked.is_resolved:
                if ties == TIES_AVERAGE:
                    sort_ties(&ranked, &plan)
                elif ties == TIES_OPTIMISTIC or ties == TIES_PESSIMISTIC:
                    resolve_by_grade(&ranked, ties == TIES_OPTIMISTIC)
                else:
                    resolve_by_rows(&ranked, all_scores + first, all_kinds, n, &plan.order, first)
            for measure in range(plan.n_measures):
                values[measure, i] = measure_of(&ranked, &plan.measures[measure], &plan.discounts)


cdef struct GroupArrays:
    # The results of measure_groups, of which n_written groups are written, and its working memory.
    uint32_t* table
    uint32_t* group_of_row
    int64_t* cursors
    uint64_t* scores
    double* grades                # in the type of the labels
    uint64_t* hashes
    uint64_t* heads
    uint64_t* tails
    uint16_t* slices
    double* least                 # the smallest weight of the rows of a group
    double* greatest              # and the largest
    double* values
    int64_t* counts
    Py_ssize_t max_groups
    Py_ssize_t n_written


cdef inline Py_ssize_t count_partition_rows(const PartitionBlocks* blocks, Py_ssize_t partition) noexcept nogil:
    cdef Py_ssize_t block
    cdef Py_ssize_t n_rows = 0
    cdef const int32_t* span
    for block in range(blocks.n_blocks):
        span = blocks.offsets + block * blocks.row_stride + partition
        n_rows += span[1] - span[0]
    return n_rows


cdef inline void measure_output(
    real_t* scores, label_t zero, const PartitionBlocks* blocks, const uint64_t* label_blocks,
    const uint64_t* score_blocks, Py_ssize_t partition, GroupArrays* groups, Py_ssize_t n_groups, int64_t* class_counts,
    RankedList* ranked, MeasurePlan* plan, double* values, int64_t* counts
) noexcept nogil:
    """All measures of the groups of a partition, for one output. values and counts start at its first group."""
    cdef Py_ssize_t block, row, group, cursor, measure
    cdef Py_ssize_t i = 0
    cdef int64_t total = 0
    cdef int64_t* cursors = groups.cursors
    cdef const int32_t* span
    cdef const label_t* labels
    cdef const real_t* column
    cdef double[FM_SHORT] wide_scores
    cdef double[FM_SHORT] wide_grades
    cdef label_t* grades = <label_t*>groups.grades
    cdef Py_ssize_t first
    cdef int64_t bad = 0
    for group in range(n_groups):
        cursors[2 * group] = total
        total += class_counts[2 * group]
        cursors[2 * group + 1] = total
        total += class_counts[2 * group + 1]
    for block in range(blocks.n_blocks):
        span = blocks.offsets + block * blocks.row_stride + partition
        labels = <const label_t*><uintptr_t>label_blocks[block]
        column = <const real_t*><uintptr_t>score_blocks[block]
        for row in range(span[0], span[1]):
            cursor = 2 * <Py_ssize_t>groups.group_of_row[i] + (labels[row] != zero)
            scores[cursors[cursor]] = column[row]
            grades[cursors[cursor]] = labels[row]
            cursors[cursor] += 1
            i += 1
    # Each cursor is now at the end of its class.
    for group in range(n_groups):
        ranked.n_judged = class_counts[2 * group]
        ranked.n_positives = class_counts[2 * group + 1]
        ranked.n_rows = ranked.n_judged + ranked.n_positives
        ranked.n_unjudged = 0
        ranked.greatest = NOT_COMPUTED
        # The rows of a group are contiguous: they start at `first`, and its positives at `cursor`.
        first = cursors[2 * group] - ranked.n_judged
        cursor = cursors[2 * group]
        if ranked.n_rows <= FM_SHORT and ranked.n_positives > MANY_POSITIVES and not plan.judged_apart:
            for row in range(ranked.n_rows):
                wide_scores[row] = scores[first + row]
            if label_t is uint8_t:
                widen_u8_grades(
                    grades + first, ranked.n_rows, -HUGE_VAL, HUGE_VAL, True, wide_grades, &bad, EXACT_GRADE,
                    &ranked.greatest)
            else:
                widen_f64_grades(
                    grades + first, ranked.n_rows, -HUGE_VAL, HUGE_VAL, True, wide_grades, &bad, EXACT_GRADE,
                    &ranked.greatest)
            rank_short(ranked, wide_scores, wide_grades)
        else:
            ranked.judged = scores + first
            for row in range(ranked.n_positives):
                ranked.grades[row] = <double>grades[cursor + row]
            rank_list(ranked, <const real_t*>(scores + cursor), plan.judged_apart)
        load_ideal(ranked, ranked.sorted_grades, NULL, 0)
        count_list(ranked, 0, counts + NUMBER_OF_COUNTS * group)
        if not ranked.is_resolved:
            if plan.order.ties == TIES_AVERAGE:
                sort_ties(ranked, plan)
            else:
                resolve_by_grade(ranked, plan.order.ties == TIES_OPTIMISTIC)
        for measure in range(plan.n_measures):
            values[measure * groups.max_groups + group] = measure_of(ranked, &plan.measures[measure], &plan.discounts)


cdef inline void count_grades(
    const PartitionBlocks* blocks, const uint64_t* label_blocks, label_t zero, Py_ssize_t partition,
    const uint32_t* group_of_row, Py_ssize_t n_groups, int64_t* class_counts
) noexcept nogil:
    """Count the rows of grade zero and the others of every group, for another label than find_groups used."""
    cdef Py_ssize_t block, row
    cdef Py_ssize_t i
    cdef const label_t* labels
    cdef const int32_t* span
    for i in range(2 * n_groups):
        class_counts[i] = 0
    i = 0
    for block in range(blocks.n_blocks):
        span = blocks.offsets + block * blocks.row_stride + partition
        labels = <const label_t*><uintptr_t>label_blocks[block]
        for row in range(span[0], span[1]):
            class_counts[2 * <Py_ssize_t>group_of_row[i] + (labels[row] != zero)] += 1
            i += 1


cdef inline void measure_partition(
    PartitionBlocks* blocks, const uint64_t* label_blocks, const uint64_t* score_blocks, const uint64_t* weight_blocks,
    const uint8_t* double_scores, const int64_t[::1] label_of_output, const int64_t[::1] score_of_output,
    Py_ssize_t partition, label_t zero, GroupArrays* groups, int64_t* class_counts, RankedList* ranked,
    MeasurePlan* plan
) noexcept nogil:
    """Measure the groups of one partition for all outputs, and add their number to groups.n_written."""
    cdef Py_ssize_t output, n_groups, counted_label
    cdef Py_ssize_t n_rows = count_partition_rows(blocks, partition)
    cdef Py_ssize_t first_group = groups.n_written
    cdef uint64_t table_size = 64
    cdef const uint64_t* labels
    cdef const uint64_t* scores
    cdef double* values
    cdef int64_t* counts
    if n_rows == 0:
        return
    while table_size < 2 * <uint64_t>n_rows:
        table_size *= 2
    n_groups = find_groups(
        blocks, partition, groups.table, table_size, groups.group_of_row, groups.hashes + first_group,
        groups.heads + first_group if blocks.heads else NULL, groups.tails + first_group if blocks.heads else NULL,
        groups.slices + first_group if blocks.slices else NULL, class_counts, zero)
    if weight_blocks:
        find_weight_ranges(
            blocks, weight_blocks, partition, groups.group_of_row, n_groups, groups.least + first_group,
            groups.greatest + first_group)
    counted_label = 0
    for output in range(label_of_output.shape[0]):
        labels = label_blocks + label_of_output[output] * blocks.n_blocks
        scores = score_blocks + score_of_output[output] * blocks.n_blocks
        if label_of_output[output] != counted_label:
            counted_label = label_of_output[output]
            count_grades(blocks, labels, zero, partition, groups.group_of_row, n_groups, class_counts)
        values = groups.values + output * plan.n_measures * groups.max_groups + first_group
        counts = groups.counts + (output * groups.max_groups + first_group) * NUMBER_OF_COUNTS
        if double_scores[score_of_output[output]]:
            measure_output(
                <double*>groups.scores, zero, blocks, labels, scores, partition, groups, n_groups, class_counts,
                ranked, plan, values, counts)
        else:
            measure_output(
                <float*>groups.scores, zero, blocks, labels, scores, partition, groups, n_groups, class_counts, ranked,
                plan, values, counts)
    groups.n_written += n_groups


def measure_groups(
    const uint64_t[::1] hash_blocks, const uint64_t[:, ::1] label_blocks, const uint64_t[:, ::1] score_blocks,
    const uint64_t[::1] head_blocks, const uint64_t[::1] tail_blocks, const uint64_t[::1] slice_blocks,
    const uint64_t[::1] weight_blocks, const int32_t[:, ::1] offsets, bint double_labels,
    const uint8_t[::1] double_scores, const int64_t[::1] label_of_output, const int64_t[::1] score_of_output,
    Py_ssize_t start, Py_ssize_t stop, const int64_t[:, ::1] measures, const double[:, ::1] numbers,
    const double[::1] weights, const double[:, ::1] sums, int ties, uint32_t[::1] table, uint32_t[::1] group_of_row,
    int64_t[::1] cursors, uint64_t[::1] scores, double[::1] grades, uint64_t[::1] memory, int64_t[::1] class_counts,
    uint64_t[::1] group_hashes, uint64_t[::1] group_heads, uint64_t[::1] group_tails, uint16_t[::1] group_slices,
    double[:, ::1] weight_ranges, double[:, :, ::1] values, int64_t[:, :, ::1] counts, int64_t[::1] n_groups
):
    """All measures of the groups of the partitions start..stop, in order of partition and appearance.

    - Blocks, outputs and results are as for grouped_auc.group_pairs. Labels are grades, float64 if double_labels, else
      uint8; a negative grade is a gain.
    - weight_blocks is empty or has the addresses of the weights (float64). The smallest and the largest weight of each
      group are written to weight_ranges[0] and weight_ranges[1].
    - ties is TIES_AVERAGE, TIES_OPTIMISTIC or TIES_PESSIMISTIC.
    - Working memory, for the m rows of the largest partition: table a power of two of at least max(64, 2 m) entries,
      group_of_row m, cursors and class_counts 2 m, scores and grades m, memory WORDS_PER_ROW m + m + SPARE.
    - Results, for as many groups as the partitions have rows: values (output, measure, group), counts (output, group,
      N_COUNTS), group_hashes and the other arrays of keys. n_groups[0] is the number of groups.
    """
    cdef PartitionBlocks blocks
    cdef GroupArrays groups
    cdef MeasurePlan plan
    cdef RankedList ranked
    cdef Py_ssize_t partition
    cdef const uint64_t* weight_columns = NULL
    read_plan(&plan, measures, numbers, weights, sums, ties)
    set_blocks(&blocks, hash_blocks, label_blocks, head_blocks, tail_blocks, slice_blocks, offsets)
    if weight_blocks.shape[0]:
        weight_columns = &weight_blocks[0]
    groups.table = &table[0]
    groups.group_of_row = &group_of_row[0]
    groups.cursors = &cursors[0]
    groups.scores = &scores[0]
    groups.grades = &grades[0]
    groups.hashes = &group_hashes[0]
    groups.heads = &group_heads[0] if blocks.heads else NULL
    groups.tails = &group_tails[0] if blocks.heads else NULL
    groups.slices = &group_slices[0] if blocks.slices else NULL
    groups.least = &weight_ranges[0, 0] if weight_columns else NULL
    groups.greatest = &weight_ranges[1, 0] if weight_columns else NULL
    groups.values = &values[0, 0, 0]
    groups.counts = &counts[0, 0, 0]
    groups.max_groups = values.shape[2]
    groups.n_written = 0
    with nogil:
        assign_memory(&ranked, &memory[0], group_of_row.shape[0])
        for partition in range(start, stop):
            if double_labels:
                measure_partition[double](
                    &blocks, &label_blocks[0, 0], &score_blocks[0, 0], weight_columns, &double_scores[0],
                    label_of_output, score_of_output, partition, 0.0, &groups, &class_counts[0], &ranked, &plan)
            else:
                measure_partition[uint8_t](
                    &blocks, &label_blocks[0, 0], &score_blocks[0, 0], weight_columns, &double_scores[0],
                    label_of_output, score_of_output, partition, 0, &groups, &class_counts[0], &ranked, &plan)
        n_groups[0] = groups.n_written


def measure_large_list(
    const double[::1] grades, const int64_t[::1] starts, const int64_t[::1] tied_zeros,
    const int64_t[::1] zeros_above, const int64_t[:, ::1] measures, const double[:, ::1] numbers,
    const double[::1] weights, const double[:, ::1] sums, int ties, uint64_t[::1] memory, double[::1] values,
    int64_t[::1] counts
):
    """The measures of one list whose rows of grade zero are only counted.

    The k-th distinct score of positives, from the highest down, has the grades grades[starts[k]..starts[k + 1]] in
    descending order. tied_zeros[k] other rows have the same score. zeros_above[k] other rows lie between it and the
    score before; the last entry counts those below all positives. All rows are judged. ties and memory are as for
    measure_groups, for as many rows as there are grades; with ERR for as many as the longest tie has, if that is more.
    """
    cdef MeasurePlan plan
    cdef RankedList ranked
    cdef Py_ssize_t i, k, measure
    cdef int64_t above = 0
    cdef int64_t longest = starts[tied_zeros.shape[0]]
    read_plan(&plan, measures, numbers, weights, sums, ties)
    with nogil:
        ranked.n_positives = starts[tied_zeros.shape[0]]
        ranked.n_judged = 0
        ranked.n_unjudged = 0
        ranked.greatest = NOT_COMPUTED
        ranked.is_resolved = True
        ranked.is_sorted_ideal = False
        ranked.tied_pairs = 0
        for measure in range(plan.n_measures):
            if plan.measures[measure].kind == EXPECTED_RECIPROCAL_RANK:
                for k in range(tied_zeros.shape[0]):
                    longest = max(longest, tied_zeros[k] + starts[k + 1] - starts[k])
        assign_memory(&ranked, &memory[0], longest)
        for k in range(tied_zeros.shape[0]):
            above += zeros_above[k]
            ranked.n_judged += zeros_above[k] + tied_zeros[k]
            for i in range(starts[k], starts[k + 1]):
                ranked.sorted_grades[i] = grades[i]
                ranked.grades[i] = grades[i]
                ranked.above[i] = above
                ranked.tied[i] = starts[k + 1] - starts[k] + tied_zeros[k]
                ranked.judged_above[i] = above - starts[k]
                ranked.judged_tied[i] = tied_zeros[k]
                ranked.tied_pairs += ranked.tied[i] - 1
                if ranked.tied[i] > 1:
                    ranked.is_resolved = False
            above += starts[k + 1] - starts[k] + tied_zeros[k]
        ranked.n_judged += zeros_above[tied_zeros.shape[0]]
        ranked.n_rows = ranked.n_judged + ranked.n_positives
        load_ideal(&ranked, ranked.sorted_grades, NULL, 0)
        count_list(&ranked, 0, &counts[0])
        if not ranked.is_resolved and plan.order.ties != TIES_AVERAGE:
            resolve_by_grade(&ranked, plan.order.ties == TIES_OPTIMISTIC)
        for measure in range(plan.n_measures):
            values[measure] = measure_of(&ranked, &plan.measures[measure], &plan.discounts)


def unweighted_mean(
    const double[::1] values, bint count_empty, double value_of_empty, int64_t[::1] counts
) -> float | None:
    """The mean of the values of lists, rounded once; None if the exact quotient needs Python's integers (quotient.pxd).

    It is NaN if no list counts. Empty lists and `counts` are as for list_means.mean_terms.
    """
    cdef int64_t state[STATE_SIZE]
    cdef double terms[CHUNK]
    cdef double rest[CHUNK]
    cdef double value, result
    cdef Py_ssize_t i
    cdef Py_ssize_t length = 0
    cdef int64_t counted = 0
    cdef int64_t n_empty = 0
    cdef bint is_certain
    with nogil:
        memset(state, 0, sizeof(state))
        for i in range(values.shape[0]):
            value = values[i]
            if isnan(value):
                n_empty += 1
                if not count_empty:
                    continue
                value = value_of_empty
            terms[length] = value
            length += 1
            counted += 1
            if length == CHUNK:
                add_chunk(state, terms, length, rest)
                length = 0
                normalise(state)
        if length:
            add_chunk(state, terms, length, rest)
        normalise(state)
        counts[0] += values.shape[0]
        counts[1] += n_empty
        result = NAN
        is_certain = counted == 0 or (
            count_non_finite(state) == 0 and divide_state(state, two_sum(<double>counted, 0), &result))
    return result if is_certain else None
