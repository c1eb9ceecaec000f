"""Measures of many ranked lists: of lists that stand one after the other, and of the groups of an exchange.

ranklists.pxd ranks a list, rankmeasures.pxd computes all measures asked for from that, so a further measure costs a
walk over the list's positives only. measure_lists takes lists as their rows stand, with all rules for ties.
measure_groups finds the groups of the partitions of a set of blocks (grouping.pxd) and copies a partition's scores into
the order of its groups, positives apart, as groups.pyx does; grades of type uint8 or float64.

All memory is the caller's. Lists have less than 2**30 rows.
"""

from libc.math cimport HUGE_VAL, NAN, isnan, log, log2
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memcpy, memset

from fastmetrics._kernels.grouping cimport Blocks, find_groups, label_t, set_blocks, span_weights
from fastmetrics._kernels.quotient cimport divide, exact_add, specials
from fastmetrics._kernels.ranklists cimport (
    DENSE, FM_SHORT, LIST_WORDS, SPARE_WORDS, TIES_AVERAGE, TIES_OPTIMISTIC, TIES_PESSIMISTIC, UNKNOWN, TieOrder,
    RankedList, carve, f32_grades, f32_scores, f64_grades, f64_scores, greatest_grade, i64_grades,
    order_tied_grades, rank_list, rank_short, real_t, resolve_by_grade, resolve_by_rows, u8_grades,
)
from fastmetrics._kernels.rankmeasures cimport (
    BPREF, EXPECTED_RECIPROCAL_RANK, MEASURE_FIELDS, MEASURE_NUMBERS, RANKS_OF_MARK, Discounts, Kind, Measure,
    add_weight, measure_of,
)
from fastmetrics._kernels.superaccumulator cimport CHUNK, STATE_SIZE, add_chunk, normalise

ctypedef fused grade_t:
    uint8_t
    int64_t
    float
    double

WORDS_OF_A_ROW = LIST_WORDS
SPARE = SPARE_WORDS
FIELDS = MEASURE_FIELDS
NUMBERS = MEASURE_NUMBERS
N_COUNTS = N_OF_COUNTS
MARKED_RANKS = RANKS_OF_MARK
MOST_MEASURES = MEASURES

cdef enum:
    EXACT_GRADE = 20          # sums of 2**32 gains exp2 of grades up to this are exact
    MEASURES = 256
    N_OF_COUNTS = 8
    # Columns of a list's counts.
    ROWS = 0
    POSITIVES = 1             # retrieved rows with a grade other than zero that is no sign of being unjudged
    JUDGED = 2                # retrieved rows that were judged
    IDEAL = 3                 # positives, retrieved or not
    TIED_PAIRS = 4            # pairs of a positive and another row of the list that tie
    PAIRS = 5                 # pairs of a positive and another row
    MISSING = 6               # judged items that were not retrieved, whatever their grade
    NEGATIVE = 7              # first row + 1 of a grade below zero that is not allowed; 0: none


cdef struct Plan:
    Measure measures[MEASURES]
    Py_ssize_t n_measures
    bint judged_apart
    bint needs_order              # a measure multiplies what it makes of a tie's grades
    Discounts discounts
    TieOrder order


cdef void read_plan(
    Plan* plan, const int64_t[:, ::1] measures, const double[:, ::1] numbers, const double[::1] weights,
    const double[:, ::1] sums, int ties
) noexcept nogil:
    """At most MEASURES of them."""
    cdef Py_ssize_t i
    plan.n_measures = measures.shape[0]
    plan.judged_apart = False
    plan.needs_order = False
    for i in range(plan.n_measures):
        plan.measures[i].kind = <Kind>measures[i, 0]
        plan.measures[i].k = measures[i, 1]
        plan.measures[i].gain = <int>measures[i, 2]
        plan.measures[i].ideal_k = measures[i, 3] != 0
        plan.measures[i].option = <int>measures[i, 4]
        plan.measures[i].level = numbers[i, 0]
        plan.measures[i].number = numbers[i, 1]
        plan.judged_apart |= plan.measures[i].kind == BPREF
        plan.needs_order |= plan.measures[i].kind == EXPECTED_RECIPROCAL_RANK
    plan.discounts.weights = &weights[0]
    plan.discounts.sums = &sums[0, 0]
    plan.discounts.n_weights = weights.shape[0]
    plan.order.ties = ties


cdef struct Allowed:
    # Grades: from least to greatest. Below zero they are gains, or signs of rows that nobody judged.
    double least
    double greatest
    bint signed_gains


cdef inline void load_list(
    RankedList* ranked, const real_t* scores, const grade_t* grades, Py_ssize_t n, const Allowed* allowed,
    uint8_t* kinds, int64_t* found
) noexcept nogil:
    """A list's rows, positives apart from the rest; kinds are 0, 1, 2 as resolve_by_rows wants them.

    found gains rows with a NaN score, or a grade that is not allowed.
    """
    cdef Py_ssize_t row
    cdef Py_ssize_t n_positives = 0
    cdef Py_ssize_t n_judged = 0
    cdef Py_ssize_t n_unjudged = 0
    cdef real_t* positives = <real_t*>ranked.scores
    cdef real_t* judged = <real_t*>ranked.judged
    cdef real_t* unjudged = <real_t*>ranked.unjudged
    cdef int64_t bad = 0
    cdef bint signed_gains = allowed.signed_gains
    cdef bint is_positive, is_negative
    # Without branches on the data: every row is written to all three, and one of them goes on.
    for row in range(n):
        if grade_t is uint8_t:
            is_negative = False
        else:
            is_negative = grades[row] < 0 and not signed_gains
        is_positive = grades[row] != 0 and not is_negative
        bad += scores[row] != scores[row]
        bad += not (<double>grades[row] >= allowed.least)
        bad += not (<double>grades[row] <= allowed.greatest)
        positives[n_positives] = scores[row]
        ranked.grades[n_positives] = <double>grades[row]
        ranked.rows[n_positives] = row
        judged[n_judged] = scores[row]
        unjudged[n_unjudged] = scores[row]
        kinds[row] = 1 if is_positive else 2 * is_negative
        n_positives += is_positive
        n_unjudged += is_negative
        n_judged += not is_positive and not is_negative
    found[0] += bad
    ranked.greatest = UNKNOWN
    ranked.n_rows = n
    ranked.n_positives = n_positives
    ranked.n_judged = n_judged
    ranked.n_unjudged = n_unjudged


cdef inline bint try_short(
    RankedList* ranked, const real_t* scores, const grade_t* grades, Py_ssize_t n, const Allowed* allowed,
    int64_t* found
) noexcept nogil:
    """Rank a short list with many positives as it stands; False where it is none, and nothing is known then.

    found gains rows with a NaN score, or a grade that is not allowed.
    """
    cdef double[FM_SHORT] wide_scores
    cdef double[FM_SHORT] wide_grades
    cdef int64_t n_positives
    cdef int64_t bad = 0
    cdef Py_ssize_t row
    if grade_t is uint8_t:
        n_positives = u8_grades(
            grades, n, allowed.least, allowed.greatest, allowed.signed_gains, wide_grades, &bad, EXACT_GRADE,
            &ranked.greatest)
    elif grade_t is int64_t:
        n_positives = i64_grades(
            grades, n, allowed.least, allowed.greatest, allowed.signed_gains, wide_grades, &bad, EXACT_GRADE,
            &ranked.greatest)
    elif grade_t is float:
        n_positives = f32_grades(
            grades, n, allowed.least, allowed.greatest, allowed.signed_gains, wide_grades, &bad, EXACT_GRADE,
            &ranked.greatest)
    else:
        n_positives = f64_grades(
            grades, n, allowed.least, allowed.greatest, allowed.signed_gains, wide_grades, &bad, EXACT_GRADE,
            &ranked.greatest)
    if n_positives <= DENSE:
        return False
    if real_t is float:
        bad += f32_scores(scores, n, wide_scores)
    else:
        bad += f64_scores(scores, n, wide_scores)
    found[0] += bad
    if bad:
        return False
    ranked.n_rows = n
    ranked.n_unjudged = 0
    if grade_t is not uint8_t:
        if allowed.least < 0 and not allowed.signed_gains:
            for row in range(n):
                ranked.n_unjudged += grades[row] < 0
    ranked.n_judged = n - n_positives - ranked.n_unjudged
    rank_short(ranked, wide_scores, wide_grades)
    return True


cdef inline void load_ideal(
    RankedList* ranked, const double* grades, const double* missing, Py_ssize_t n_missing
) noexcept nogil:
    """The ideal list: grades of positives, in whatever order, and of those that were not retrieved."""
    cdef Py_ssize_t i
    cdef Py_ssize_t n = ranked.n_positives
    ranked.n_missing = 0
    memcpy(ranked.ideal, grades, <size_t>n * sizeof(double))
    if n_missing:
        ranked.greatest = UNKNOWN
    for i in range(n_missing):
        ranked.ideal[n] = missing[i]
        n += missing[i] > 0
        ranked.n_missing += missing[i] == 0
    ranked.n_ideal = n


cdef inline void order_ties(RankedList* ranked, const Plan* plan) noexcept nogil:
    """Sums of a tie's gains must not depend on the order of its rows: of small whole numbers they are exact anyway."""
    if plan.needs_order or greatest_grade(ranked) < 0 or ranked.greatest > EXACT_GRADE:
        order_tied_grades(ranked)


cdef inline void count_list(const RankedList* ranked, Py_ssize_t n_missing, int64_t* counts) noexcept nogil:
    counts[ROWS] = ranked.n_rows
    counts[POSITIVES] = ranked.n_positives
    counts[JUDGED] = ranked.n_positives + ranked.n_judged
    counts[IDEAL] = ranked.n_ideal
    counts[TIED_PAIRS] = ranked.tied_pairs
    counts[PAIRS] = ranked.n_positives * (ranked.n_rows - 1)
    counts[MISSING] = n_missing


def discounts(double base, double[::1] weights, double[:, ::1] sums):
    """DCG's weights of ranks, 1 / log_base(rank + 1), and their sums.

    sums[i] are the sum of the first i weights (one entry more), rounded, and what rounding took away: differences of
    sums are then right to the last bits however many weights there are. Where sums have more entries than that, these
    are marks: the sums after every RANKS_OF_MARK further weights, which are not kept themselves (base 2 only).
    """
    cdef Py_ssize_t i, mark
    cdef Py_ssize_t n = weights.shape[0]
    cdef double total = 0.0
    cdef double rest = 0.0
    cdef double scale = log(base)
    with nogil:
        sums[0, 0] = 0.0
        sums[0, 1] = 0.0
        for i in range(weights.shape[0]):
            weights[i] = 1.0 / log2(<double>(i + 2)) if base == 2.0 else scale / log(<double>(i + 2))
            add_weight(&total, &rest, weights[i])
            sums[i + 1, 0] = total
            sums[i + 1, 1] = rest
        for mark in range(n + 1, sums.shape[0]):
            for i in range(n + (mark - n - 1) * RANKS_OF_MARK, n + (mark - n) * RANKS_OF_MARK):
                add_weight(&total, &rest, 1.0 / log2(<double>(i + 2)))
            sums[mark, 0] = total
            sums[mark, 1] = rest


def whole_grades(const grade_t[::1] grades, Py_ssize_t start, Py_ssize_t stop, uint8_t[::1] out, int64_t[::1] found):
    """Grades start..stop as bytes: found[0] gains those that are no whole number of one, found[1] is the greatest."""
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
        found[0] += others
        found[1] = max(found[1], <int64_t>greatest)


def measure_lists(
    const real_t[::1] scores, const grade_t[::1] grades, const int64_t[::1] offsets, const double[::1] missing,
    const int64_t[::1] missing_offsets, const int64_t[:, ::1] measures, const double[:, ::1] numbers,
    const double[::1] weights, const double[:, ::1] sums, int ties, const uint64_t[::1] keys, const uint8_t[::1] data,
    const int64_t[::1] text_starts, const int64_t[::1] text_stops, double least, double greatest, bint signed_gains,
    Py_ssize_t start, Py_ssize_t stop, uint64_t[::1] memory, uint8_t[::1] kinds, double[:, ::1] values,
    int64_t[:, ::1] counts, int64_t[::1] found
):
    """The measures of the lists start..stop: values (measure, list), and counts (list, N_COUNTS).

    List i has the rows offsets[i]..offsets[i + 1] of scores and grades; where a score is NaN, or a grade outside of
    [least, greatest], found[0] is not zero afterwards and values are worth nothing. Grades below zero are gains where
    `signed_gains`, else signs of rows that nobody judged. missing_offsets may be empty: then all judged items
    are rows; else list i's judged items that were not retrieved have the grades missing[missing_offsets[i]...].
    measures and numbers: a row each, as struct Measure has it. weights and sums are made by `discounts`, for as many
    ranks as the longest ideal list, the longest list, and the greatest k have. ties: see ranklists.pxd; keys (ties
    KEY) or data, text_starts and text_stops (TEXT) belong to rows, else they are empty. memory: WORDS_OF_A_ROW words
    for each row of the longest list, one for each judged item, and SPARE; kinds as long as the longest list. At most
    MOST_MEASURES measures.
    """
    cdef Plan plan
    cdef RankedList ranked
    cdef Allowed allowed
    cdef Py_ssize_t i, measure, first, n, n_missing
    cdef Py_ssize_t longest = 0
    cdef const double* list_missing = NULL
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
        carve(&ranked, &memory[0], longest)
        for i in range(start, stop):
            first = offsets[i]
            n = offsets[i + 1] - first
            n_missing = 0
            if missing_offsets.shape[0]:
                n_missing = missing_offsets[i + 1] - missing_offsets[i]
                list_missing = &missing[0] + missing_offsets[i]
            if n > FM_SHORT or plan.judged_apart or not try_short(
                    &ranked, &scores[0] + first, &grades[0] + first, n, &allowed, &found[0]) or (
                    ties > TIES_PESSIMISTIC and not ranked.is_resolved):
                load_list(&ranked, &scores[0] + first, &grades[0] + first, n, &allowed, &kinds[0], &found[0])
                if found[0]:
                    break        # NaN has no place in an order
                rank_list(&ranked, <const real_t*>ranked.scores, plan.judged_apart)
            load_ideal(&ranked, ranked.sorted_grades, list_missing, n_missing)
            count_list(&ranked, n_missing, &counts[i, 0])
            if not ranked.is_resolved:
                if ties == TIES_AVERAGE:
                    order_ties(&ranked, &plan)
                elif ties == TIES_OPTIMISTIC or ties == TIES_PESSIMISTIC:
                    resolve_by_grade(&ranked, ties == TIES_OPTIMISTIC)
                else:
                    resolve_by_rows(&ranked, &scores[0] + first, &kinds[0], n, &plan.order, first)
            for measure in range(plan.n_measures):
                values[measure, i] = measure_of(&ranked, &plan.measures[measure], &plan.discounts)


cdef struct Groups:
    # What measure_groups writes, from place `done` on, and what it works with.
    uint32_t* table
    uint32_t* group_of_row
    int64_t* cursors
    uint64_t* scores
    double* grades                # as wide as labels are
    uint64_t* hashes
    uint64_t* heads
    uint64_t* tails
    uint16_t* slices
    double* least                 # and greatest: weights of a group's rows
    double* greatest
    double* values
    int64_t* counts
    Py_ssize_t room
    Py_ssize_t done


cdef inline Py_ssize_t rows_of(const Blocks* blocks, Py_ssize_t partition) noexcept nogil:
    cdef Py_ssize_t block
    cdef Py_ssize_t n_rows = 0
    cdef const int32_t* span
    for block in range(blocks.n_blocks):
        span = blocks.offsets + block * blocks.row_stride + partition
        n_rows += span[1] - span[0]
    return n_rows


cdef inline void measure_view(
    real_t* scores, label_t zero, const Blocks* blocks, const uint64_t* label_blocks, const uint64_t* score_blocks,
    Py_ssize_t partition, Groups* groups, Py_ssize_t n_groups, int64_t* class_counts, RankedList* ranked, Plan* plan,
    double* values, int64_t* counts
) noexcept nogil:
    """All measures of a partition's groups, for one view. values and counts begin at the partition's first group."""
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
    # The cursors now stand at the ends of their classes.
    for group in range(n_groups):
        ranked.n_judged = class_counts[2 * group]
        ranked.n_positives = class_counts[2 * group + 1]
        ranked.n_rows = ranked.n_judged + ranked.n_positives
        ranked.n_unjudged = 0
        ranked.greatest = UNKNOWN
        # Both classes of a group stand together: from `first` on, positives from `cursor` on.
        first = cursors[2 * group] - ranked.n_judged
        cursor = cursors[2 * group]
        if ranked.n_rows <= FM_SHORT and ranked.n_positives > DENSE and not plan.judged_apart:
            for row in range(ranked.n_rows):
                wide_scores[row] = scores[first + row]
            if label_t is uint8_t:
                u8_grades(
                    grades + first, ranked.n_rows, -HUGE_VAL, HUGE_VAL, True, wide_grades, &bad, EXACT_GRADE,
                    &ranked.greatest)
            else:
                f64_grades(
                    grades + first, ranked.n_rows, -HUGE_VAL, HUGE_VAL, True, wide_grades, &bad, EXACT_GRADE,
                    &ranked.greatest)
            rank_short(ranked, wide_scores, wide_grades)
        else:
            ranked.judged = scores + first
            for row in range(ranked.n_positives):
                ranked.grades[row] = <double>grades[cursor + row]
            rank_list(ranked, <const real_t*>(scores + cursor), plan.judged_apart)
        load_ideal(ranked, ranked.sorted_grades, NULL, 0)
        count_list(ranked, 0, counts + N_OF_COUNTS * group)
        if not ranked.is_resolved:
            if plan.order.ties == TIES_AVERAGE:
                order_ties(ranked, plan)
            else:
                resolve_by_grade(ranked, plan.order.ties == TIES_OPTIMISTIC)
        for measure in range(plan.n_measures):
            values[measure * groups.room + group] = measure_of(ranked, &plan.measures[measure], &plan.discounts)


cdef inline void count_grades(
    const Blocks* blocks, const uint64_t* label_blocks, label_t zero, Py_ssize_t partition,
    const uint32_t* group_of_row, Py_ssize_t n_groups, int64_t* class_counts
) noexcept nogil:
    """Rows of every group without and with a grade, by another label than the one the groups were found with."""
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
    Blocks* blocks, const uint64_t* label_blocks, const uint64_t* score_blocks, const uint64_t* weight_blocks,
    const uint8_t* double_scores, const int64_t[::1] label_of_view, const int64_t[::1] score_of_view,
    Py_ssize_t partition, label_t zero, Groups* groups, int64_t* class_counts, RankedList* ranked, Plan* plan
) noexcept nogil:
    """The groups of one partition, all views; adds to groups.done how many there are."""
    cdef Py_ssize_t view, n_groups, known
    cdef Py_ssize_t n_rows = rows_of(blocks, partition)
    cdef Py_ssize_t done = groups.done
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
        blocks, partition, groups.table, table_size, groups.group_of_row, groups.hashes + done,
        groups.heads + done if blocks.heads else NULL, groups.tails + done if blocks.heads else NULL,
        groups.slices + done if blocks.slices else NULL, class_counts, zero)
    if weight_blocks:
        span_weights(
            blocks, weight_blocks, partition, groups.group_of_row, n_groups, groups.least + done,
            groups.greatest + done)
    known = 0
    for view in range(label_of_view.shape[0]):
        labels = label_blocks + label_of_view[view] * blocks.n_blocks
        scores = score_blocks + score_of_view[view] * blocks.n_blocks
        if label_of_view[view] != known:
            known = label_of_view[view]
            count_grades(blocks, labels, zero, partition, groups.group_of_row, n_groups, class_counts)
        values = groups.values + view * plan.n_measures * groups.room + done
        counts = groups.counts + (view * groups.room + done) * N_OF_COUNTS
        if double_scores[score_of_view[view]]:
            measure_view(
                <double*>groups.scores, zero, blocks, labels, scores, partition, groups, n_groups, class_counts,
                ranked, plan, values, counts)
        else:
            measure_view(
                <float*>groups.scores, zero, blocks, labels, scores, partition, groups, n_groups, class_counts, ranked,
                plan, values, counts)
    groups.done += n_groups


def measure_groups(
    const uint64_t[::1] hash_blocks, const uint64_t[:, ::1] label_blocks, const uint64_t[:, ::1] score_blocks,
    const uint64_t[::1] head_blocks, const uint64_t[::1] tail_blocks, const uint64_t[::1] slice_blocks,
    const uint64_t[::1] weight_blocks, const int32_t[:, ::1] offsets, bint double_labels,
    const uint8_t[::1] double_scores, const int64_t[::1] label_of_view, const int64_t[::1] score_of_view,
    Py_ssize_t start, Py_ssize_t stop, const int64_t[:, ::1] measures, const double[:, ::1] numbers,
    const double[::1] weights, const double[:, ::1] sums, int ties, uint32_t[::1] table, uint32_t[::1] group_of_row,
    int64_t[::1] cursors, uint64_t[::1] scores, double[::1] grades, uint64_t[::1] memory, int64_t[::1] class_counts,
    uint64_t[::1] group_hashes, uint64_t[::1] group_heads, uint64_t[::1] group_tails, uint16_t[::1] group_slices,
    double[:, ::1] weight_spans, double[:, :, ::1] values, int64_t[:, :, ::1] counts, int64_t[::1] n_groups
):
    """Groups of the partitions start..stop, all measures of each, in order of partition and appearance.

    Blocks, views and results as for groups.group_pairs; labels are float64 where double_labels, else uint8, and
    are grades, none below zero unless it is a gain. weight_blocks is empty, or tells the rows' weights (float64), of
    which each group's least and greatest are written to weight_spans[0] and [1].
    Ties: TIES_AVERAGE, TIES_OPTIMISTIC or TIES_PESSIMISTIC. Working memory, for the largest partition's m rows: table
    of a power of two of at least max(64, 2 m) entries, group_of_row m, cursors and class_counts 2 m, scores and grades
    m, memory WORDS_OF_A_ROW m + m + SPARE. Results, with room for as many groups as the partitions have rows: values
    (view, measure, group), counts (view, group, N_COUNTS), group_hashes and the rest; n_groups[0] of them.
    """
    cdef Blocks blocks
    cdef Groups groups
    cdef Plan plan
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
    groups.least = &weight_spans[0, 0] if weight_columns else NULL
    groups.greatest = &weight_spans[1, 0] if weight_columns else NULL
    groups.values = &values[0, 0, 0]
    groups.counts = &counts[0, 0, 0]
    groups.room = values.shape[2]
    groups.done = 0
    with nogil:
        carve(&ranked, &memory[0], group_of_row.shape[0])
        for partition in range(start, stop):
            if double_labels:
                measure_partition[double](
                    &blocks, &label_blocks[0, 0], &score_blocks[0, 0], weight_columns, &double_scores[0], label_of_view,
                    score_of_view, partition, 0.0, &groups, &class_counts[0], &ranked, &plan)
            else:
                measure_partition[uint8_t](
                    &blocks, &label_blocks[0, 0], &score_blocks[0, 0], weight_columns, &double_scores[0], label_of_view,
                    score_of_view, partition, 0, &groups, &class_counts[0], &ranked, &plan)
        n_groups[0] = groups.done


def measure_steps(
    const double[::1] grades, const int64_t[::1] starts, const int64_t[::1] ties, const int64_t[::1] gaps,
    const int64_t[:, ::1] measures, const double[:, ::1] numbers, const double[::1] weights, const double[:, ::1] sums,
    int ties_rule, uint64_t[::1] memory, double[::1] values, int64_t[::1] counts
):
    """The measures of one list that is known by steps, from the highest score down.

    Step k has the positives grades[starts[k]..starts[k + 1]], descending, and ties[k] other rows tie with them; gaps[k]
    other rows stand above it and below the step before, the last of gaps below all. All are judged. Ties and memory as
    for measure_groups, for as many rows as there are grades; with ERR, as the longest tie has, if that are more.
    """
    cdef Plan plan
    cdef RankedList ranked
    cdef Py_ssize_t i, step, measure
    cdef int64_t above = 0
    cdef int64_t longest = starts[ties.shape[0]]
    read_plan(&plan, measures, numbers, weights, sums, ties_rule)
    with nogil:
        ranked.n_positives = starts[ties.shape[0]]
        ranked.n_judged = 0
        ranked.n_unjudged = 0
        ranked.greatest = UNKNOWN
        ranked.is_resolved = True
        ranked.is_sorted_ideal = False
        ranked.tied_pairs = 0
        for measure in range(plan.n_measures):
            if plan.measures[measure].kind == EXPECTED_RECIPROCAL_RANK:
                for step in range(ties.shape[0]):
                    longest = max(longest, ties[step] + starts[step + 1] - starts[step])
        carve(&ranked, &memory[0], longest)
        for step in range(ties.shape[0]):
            above += gaps[step]
            ranked.n_judged += gaps[step] + ties[step]
            for i in range(starts[step], starts[step + 1]):
                ranked.sorted_grades[i] = grades[i]
                ranked.grades[i] = grades[i]
                ranked.above[i] = above
                ranked.tied[i] = starts[step + 1] - starts[step] + ties[step]
                ranked.judged_above[i] = above - starts[step]
                ranked.judged_tied[i] = ties[step]
                ranked.tied_pairs += ranked.tied[i] - 1
                if ranked.tied[i] > 1:
                    ranked.is_resolved = False
            above += starts[step + 1] - starts[step] + ties[step]
        ranked.n_judged += gaps[ties.shape[0]]
        ranked.n_rows = ranked.n_judged + ranked.n_positives
        load_ideal(&ranked, ranked.sorted_grades, NULL, 0)
        count_list(&ranked, 0, &counts[0])
        if not ranked.is_resolved and plan.order.ties != TIES_AVERAGE:
            resolve_by_grade(&ranked, plan.order.ties == TIES_OPTIMISTIC)
        for measure in range(plan.n_measures):
            values[measure] = measure_of(&ranked, &plan.measures[measure], &plan.discounts)


def plain_mean(const double[::1] values, bint count_empty, double value_of_empty, int64_t[::1] found):
    """The mean of lists' values, rounded once, in one call; None where that takes Python's integers (quotient.pxd).

    NaN where no list counts. Empty lists and `found` are as for listmeans.mean_terms.
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
        found[0] += values.shape[0]
        found[1] += n_empty
        result = NAN
        is_certain = counted == 0 or (specials(state) == 0 and divide(state, exact_add(<double>counted, 0), &result))
    return result if is_certain else None
