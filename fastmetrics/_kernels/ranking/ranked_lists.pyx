"""Measures of many ranked lists: of lists one after the other, and of the groups of a hash exchange.

list_ranks.pxd ranks a list once, and list_measures.pxd computes every measure from that. A further measure costs one
more pass over the positives of the list. measure_lists reads lists whose rows are contiguous, with all rules for ties.
GroupMeasurer finds the groups of partitions (partition_groups.pyx) and copies the scores of a partition into the order
of its groups, with positives apart, as grouped_auc.pyx does; its grades are uint8 or float64.

Lists have less than 2**30 rows.
"""

import numpy as np

from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBuffer_Release, PyObject_GetBuffer,
)
from cpython.exc cimport PyErr_Format
from libc.math cimport HUGE_VAL
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport strchr

from fastmetrics._kernels.columns.column_blocks cimport memory_of, words_of
from fastmetrics._kernels.exchange.group_table cimport PartitionBlocks, find_weight_ranges, label_t
from fastmetrics._kernels.exchange.partition_groups cimport (
    ColumnsOfOutput, FoundGroups, PartitionedRows, PartitionGroups, find_in_partition,
)
from fastmetrics._kernels.numeric.elementary cimport fm_log, fm_log2_of_rank
from fastmetrics._kernels.numeric.length_checks cimport need_length, need_offsets, need_range, need_spans
from fastmetrics._kernels.ranking.list_ranks cimport (
    FM_SHORT, MANY_POSITIVES, NOT_COMPUTED, SPARE_WORDS, TIES_AVERAGE, TIES_KEY,
    TIES_OPTIMISTIC, TIES_PESSIMISTIC, TIES_TEXT, WORDS_PER_ROW_OF_LIST, RankedList, TieOrder, assign_memory, rank_list,
    rank_short, real_t, resolve_by_grade, resolve_by_rows, widen_f64_grades, widen_u8_grades,
)
from fastmetrics._kernels.ranking.list_measures cimport (
    BPREF, EXPECTED_RECIPROCAL_RANK, HITS, MEASURE_FIELDS, MEASURE_NUMBERS, RANKS_PER_MARK, Discounts, Kind, Measure,
    add_weight, measure_of,
)
from fastmetrics._kernels.ranking.loaded_lists cimport (
    EXACT_GRADE, MAX_MEASURES, NUMBER_OF_COUNTS, GradeRange, MeasurePlan, count_list, grade_t, load_ideal,
    load_list, sort_ties, try_rank_short,
)
from fastmetrics._kernels.numeric.table_hash cimport use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS

use_table_seeds(_SEEDS)

WORDS_PER_ROW = WORDS_PER_ROW_OF_LIST
N_COUNTS = NUMBER_OF_COUNTS
MOST_MEASURES = MAX_MEASURES


cdef class RankWeights:
    """The weights of ranks in DCG, 1 / log_base(rank + 1), and their sums, for the first n_ranks ranks or more.

    sums[i] is the sum of the first i weights as a rounded total and the rounding error, so that differences of sums are
    accurate for any number of weights. There is one more sum than weights. For base 2 only the first `most_stored`
    weights may be stored: beyond them the sums are marks, after every RANKS_PER_MARK further weights.
    """

    cdef readonly object weights
    cdef readonly object sums
    cdef readonly Py_ssize_t n_ranks
    cdef Discounts discounts

    def __cinit__(self, double base, Py_ssize_t n_ranks, Py_ssize_t most_stored):
        cdef Py_ssize_t n = min(n_ranks, most_stored) if base == 2.0 else n_ranks
        cdef Py_ssize_t n_marks = (n_ranks - n + RANKS_PER_MARK - 1) // RANKS_PER_MARK
        if n < 0:
            raise ValueError(f"weights of {n_ranks} ranks, of which {most_stored} are stored")
        self.weights, self.sums = np.empty(n), np.empty((n + 1 + n_marks, 2))
        self.n_ranks = n + n_marks * RANKS_PER_MARK
        self.discounts.weights = <const double*>memory_of(self.weights, n, 8)
        self.discounts.sums = <const double*>memory_of(self.sums, 2 * (n + 1 + n_marks), 8)
        self.discounts.n_weights = n
        with nogil:
            write_discounts(base, n, n_marks, <double*>self.discounts.weights, <double*>self.discounts.sums)


cdef void write_discounts(
    double base, Py_ssize_t n, Py_ssize_t n_marks, double* weights, double* sums
) noexcept nogil:
    cdef Py_ssize_t i, mark
    cdef double total = 0.0
    cdef double rest = 0.0
    cdef double scale = fm_log(base)
    sums[0] = 0.0
    sums[1] = 0.0
    for i in range(n):
        weights[i] = 1.0 / fm_log2_of_rank(<double>(i + 2)) if base == 2.0 else scale / fm_log(<double>(i + 2))
        add_weight(&total, &rest, weights[i])
        sums[2 * i + 2] = total
        sums[2 * i + 3] = rest
    for mark in range(n_marks):
        for i in range(n + mark * RANKS_PER_MARK, n + (mark + 1) * RANKS_PER_MARK):
            add_weight(&total, &rest, 1.0 / fm_log2_of_rank(<double>(i + 2)))
        sums[2 * (n + 1 + mark)] = total
        sums[2 * (n + 1 + mark) + 1] = rest


cdef class Measures:
    """Measures that are computed together; at most MOST_MEASURES.

    Each has a row of integers (kind, k or 0, gain, ideal by k, normalize or short_list) and one of numbers (relevance
    level; p of RBP, greatest grade of ERR, or recall of interpolated precision); see list_measures.pxd.
    """

    cdef readonly Py_ssize_t n_measures
    cdef readonly Py_ssize_t ideal_ranks  # weights of ranks are read up to these, however short a list is
    cdef MeasurePlan plan
    cdef Measure* measures

    def __cinit__(self, const int64_t[:, ::1] integers not None, const double[:, ::1] numbers not None):
        cdef Py_ssize_t i
        cdef Measure* own
        self.n_measures = integers.shape[0]
        if self.n_measures > MAX_MEASURES or integers.shape[1] != MEASURE_FIELDS or (
                numbers.shape[0] != self.n_measures or numbers.shape[1] != MEASURE_NUMBERS):
            raise ValueError(f"{self.n_measures} measures; at most {MAX_MEASURES}, with {MEASURE_FIELDS} integers each")
        self.measures = <Measure*>malloc(<size_t>(self.n_measures + 1) * sizeof(Measure))
        if self.measures == NULL:
            raise MemoryError
        for i in range(self.n_measures):
            own = &self.measures[i]
            if not 0 <= integers[i, 0] <= HITS or integers[i, 1] < 0:
                raise ValueError(f"no measure has kind {integers[i, 0]} and k {integers[i, 1]}")
            own.kind = <Kind>integers[i, 0]
            own.k = integers[i, 1]
            own.gain = <int>integers[i, 2]
            own.ideal_k = integers[i, 3] != 0
            own.option = <int>integers[i, 4]
            own.level = numbers[i, 0]
            own.number = numbers[i, 1]
            if own.ideal_k:
                self.ideal_ranks = max(self.ideal_ranks, own.k)
            self.plan.judged_apart |= own.kind == BPREF
            self.plan.needs_grade_order |= own.kind == EXPECTED_RECIPROCAL_RANK
        self.plan.measures = self.measures
        self.plan.n_measures = self.n_measures

    def __dealloc__(self):
        free(self.measures)

    cdef MeasurePlan with_weights(
        self, RankWeights weights, Py_ssize_t longest, int ties, int last_rule
    ) except *:
        """The plan for lists of at most `longest` items, whose ties are decided by a rule up to `last_rule`."""
        cdef MeasurePlan plan = self.plan
        if max(longest, self.ideal_ranks) > weights.n_ranks:
            raise ValueError(f"weights of {weights.n_ranks} ranks, and a list of {longest} items")
        if not TIES_AVERAGE <= ties <= last_rule:
            raise ValueError(f"the rule for ties has number {ties}, and only those up to {last_rule} apply")
        plan.discounts = weights.discounts
        plan.order.ties = ties
        return plan


def grades_as_bytes(
    const grade_t[::1] grades, Py_ssize_t start, Py_ssize_t stop, uint8_t[::1] out, int64_t[::1] checks
):
    """Grades start..stop as bytes. checks[0] increases by the number of grades that are not whole numbers below 256;
    checks[1] becomes the greatest grade."""
    cdef Py_ssize_t i
    cdef int64_t others = 0
    cdef uint8_t whole, greatest
    need_range(start, stop, grades.shape[0])
    need_length(b"out", out.shape[0], stop - start)
    need_length(b"checks", checks.shape[0], 2)
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


cdef class ListColumns:
    """Lists one after the other: list i has the rows offsets[i]..offsets[i + 1] of scores and grades.

    - scores are float32 or float64; grades uint8, int64, float32 or float64.
    - The judged items of list i that were not retrieved have the grades unretrieved[unretrieved_offsets[i]...].
      unretrieved_offsets is empty if all judged items were retrieved.
    - order, with a value for every row, decides between tied rows: keys (uint64), or (data, starts, stops) of texts.
    """

    cdef readonly Py_ssize_t n_lists
    cdef readonly Py_ssize_t n_rows
    cdef readonly Py_ssize_t longest         # rows of the longest list
    cdef readonly Py_ssize_t longest_ideal   # items of the longest list with those that were not retrieved
    cdef const int64_t[::1] offsets
    cdef const double[::1] unretrieved
    cdef const int64_t[::1] unretrieved_offsets
    cdef const uint64_t[::1] keys
    cdef const uint8_t[::1] data
    cdef const int64_t[::1] text_starts
    cdef const int64_t[::1] text_stops
    cdef TieOrder order
    cdef object score_column
    cdef object grade_column
    cdef const void* scores
    cdef const void* grades
    cdef int score_type                      # the letter of the type
    cdef int grade_type

    def __cinit__(
        self, scores, grades, const int64_t[::1] offsets not None, const double[::1] unretrieved not None,
        const int64_t[::1] unretrieved_offsets not None, order=None
    ):
        self.n_lists = offsets.shape[0] - 1
        if self.n_lists < 0 or unretrieved_offsets.shape[0] not in (0, self.n_lists + 1):
            raise ValueError(f"{offsets.shape[0]} offsets of lists, {unretrieved_offsets.shape[0]} of other items")
        self.score_column, self.grade_column = scores, grades
        self.n_rows = offsets[self.n_lists]
        self.scores = first_element(scores, b"scores", b"fd", self.n_rows, &self.score_type)
        self.grades = first_element(grades, b"grades", b"Bqfd", self.n_rows, &self.grade_type)
        need_offsets(b"offsets", &offsets[0], self.n_lists + 1, self.n_rows)
        self.offsets, self.unretrieved, self.unretrieved_offsets = offsets, unretrieved, unretrieved_offsets
        if unretrieved_offsets.shape[0]:
            need_offsets(b"unretrieved_offsets", &unretrieved_offsets[0], self.n_lists + 1, unretrieved.shape[0])
        self.find_longest(0, self.n_lists, &self.longest, &self.longest_ideal)
        if isinstance(order, tuple):
            self.data = order[0]
            self.text_starts = order[1]
            self.text_stops = order[2]
            need_length(b"starts of texts", self.text_starts.shape[0], self.n_rows)
            need_length(b"stops of texts", self.text_stops.shape[0], self.n_rows)
            if self.n_rows:
                need_spans(b"order", &self.text_starts[0], &self.text_stops[0], self.n_rows, self.data.shape[0])
                self.order.data = &self.data[0] if self.data.shape[0] else NULL
                self.order.starts, self.order.stops = &self.text_starts[0], &self.text_stops[0]
        elif order is not None:
            self.keys = order
            need_length(b"keys", self.keys.shape[0], self.n_rows)
            if self.n_rows:
                self.order.keys = &self.keys[0]

    cdef void find_longest(
        self, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t* longest, Py_ssize_t* longest_ideal
    ) noexcept nogil:
        cdef Py_ssize_t i, n
        longest[0] = longest_ideal[0] = 0
        for i in range(start, stop):
            n = self.offsets[i + 1] - self.offsets[i]
            longest[0] = max(longest[0], n)
            if self.unretrieved_offsets.shape[0]:
                n += self.unretrieved_offsets[i + 1] - self.unretrieved_offsets[i]
            longest_ideal[0] = max(longest_ideal[0], n)


cdef const void* first_element(
    object column, const char* name, const char* types, Py_ssize_t n, int* found
) except? NULL:
    """The first element of a contiguous column of one of these types (letters of the struct module; q: int64)."""
    cdef Py_buffer view
    cdef const void* start
    cdef const char* letter
    cdef Py_ssize_t length
    PyObject_GetBuffer(column, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    start = view.buf
    length = view.len // view.itemsize
    letter = view.format + (view.format[0] in (c"@", c"=", c"^"))
    found[0] = letter[0]
    if found[0] == c"l" and view.itemsize == 8:
        found[0] = c"q"
    PyBuffer_Release(&view)
    if strchr(types, found[0]) == NULL:
        PyErr_Format(ValueError, b"%s have elements of type '%c', which is none of '%s'", name, found[0], types)
    need_length(name, length, n)
    return start


cdef void measure_range(
    const real_t* scores, const grade_t* grades, ListColumns lists, const MeasurePlan* plan, const GradeRange* allowed,
    RankedList* ranked, uint8_t* kinds, Py_ssize_t start, Py_ssize_t stop, double[:, ::1] values,
    int64_t[:, ::1] counts, int64_t* n_invalid
) noexcept nogil:
    """The measures of the lists start..stop. If n_invalid[0] is not zero afterwards, they are not valid."""
    cdef Py_ssize_t i, measure, first, n, n_missing
    cdef int ties = plan.order.ties
    cdef const double* missing = NULL
    for i in range(start, stop):
        first = lists.offsets[i]
        n = lists.offsets[i + 1] - first
        n_missing = 0
        if lists.unretrieved_offsets.shape[0]:
            n_missing = lists.unretrieved_offsets[i + 1] - lists.unretrieved_offsets[i]
            if n_missing:
                missing = &lists.unretrieved[0] + lists.unretrieved_offsets[i]
        if n > FM_SHORT or plan.judged_apart or not try_rank_short(
                ranked, scores + first, grades + first, n, allowed, n_invalid) or (
                ties > TIES_PESSIMISTIC and not ranked.is_resolved):
            load_list(ranked, scores + first, grades + first, n, allowed, kinds, n_invalid)
            if n_invalid[0]:
                return        # NaN has no rank
            rank_list(ranked, <const real_t*>ranked.scores, plan.judged_apart)
        load_ideal(ranked, ranked.sorted_grades, missing, n_missing)
        count_list(ranked, n_missing, &counts[i, 0])
        if not ranked.is_resolved:
            if ties == TIES_AVERAGE:
                sort_ties(ranked, plan)
            elif ties == TIES_OPTIMISTIC or ties == TIES_PESSIMISTIC:
                resolve_by_grade(ranked, ties == TIES_OPTIMISTIC)
            else:
                resolve_by_rows(ranked, scores + first, kinds, n, &plan.order, first)
        for measure in range(plan.n_measures):
            values[measure, i] = measure_of(ranked, &plan.measures[measure], &plan.discounts)


def measure_lists(
    ListColumns lists not None, Measures measures not None, RankWeights weights not None, int ties, double least,
    double greatest, bint signed_gains, Py_ssize_t start, Py_ssize_t stop, double[:, ::1] values,
    int64_t[:, ::1] counts
) -> bool:
    """Write the measures of the lists start..stop: values (measure, list), and counts (list, N_COUNTS).

    Returns False if a score is NaN, or if a grade is outside [least, greatest]: then values are not valid. Negative
    grades are gains if `signed_gains`, else they mark unjudged rows. The rules for ties are in list_ranks.pxd.
    """
    cdef MeasurePlan plan
    cdef RankedList ranked
    cdef GradeRange allowed
    cdef Py_ssize_t longest, longest_ideal
    cdef uint8_t* kinds
    cdef int64_t n_invalid = 0
    need_range(start, stop, lists.n_lists)
    lists.find_longest(start, stop, &longest, &longest_ideal)
    plan = measures.with_weights(weights, longest_ideal, ties, TIES_TEXT)
    need_length(b"measures of values", values.shape[0], plan.n_measures)
    need_length(b"values of a measure", values.shape[1], stop)
    need_length(b"counts", counts.shape[0], stop)
    need_length(b"counts of a list", counts.shape[1], NUMBER_OF_COUNTS)
    plan.order.keys, plan.order.data = lists.order.keys, lists.order.data
    plan.order.starts, plan.order.stops = lists.order.starts, lists.order.stops
    if lists.n_rows and (ties == TIES_KEY and plan.order.keys == NULL
                         or ties == TIES_TEXT and plan.order.starts == NULL):
        raise ValueError("ties are decided by the items of rows, and lists have none")
    allowed.least = least
    allowed.greatest = greatest
    allowed.signed_gains = signed_gains
    cdef size_t n_words = <size_t>(WORDS_PER_ROW_OF_LIST * (longest + 2) + longest_ideal + SPARE_WORDS)
    cdef uint64_t* memory = <uint64_t*>malloc(n_words * sizeof(uint64_t) + <size_t>longest + 1)
    if memory == NULL:
        raise MemoryError
    kinds = <uint8_t*>(memory + n_words)
    with nogil:
        assign_memory(&ranked, memory, longest)
        if lists.score_type == c"f":
            if lists.grade_type == c"B":
                measure_range(
                    <const float*>lists.scores, <const uint8_t*>lists.grades, lists, &plan, &allowed, &ranked, kinds,
                    start, stop, values, counts, &n_invalid)
            elif lists.grade_type == c"q":
                measure_range(
                    <const float*>lists.scores, <const int64_t*>lists.grades, lists, &plan, &allowed, &ranked, kinds,
                    start, stop, values, counts, &n_invalid)
            elif lists.grade_type == c"f":
                measure_range(
                    <const float*>lists.scores, <const float*>lists.grades, lists, &plan, &allowed, &ranked, kinds,
                    start, stop, values, counts, &n_invalid)
            else:
                measure_range(
                    <const float*>lists.scores, <const double*>lists.grades, lists, &plan, &allowed, &ranked, kinds,
                    start, stop, values, counts, &n_invalid)
        elif lists.grade_type == c"B":
            measure_range(
                <const double*>lists.scores, <const uint8_t*>lists.grades, lists, &plan, &allowed, &ranked, kinds,
                start, stop, values, counts, &n_invalid)
        elif lists.grade_type == c"q":
            measure_range(
                <const double*>lists.scores, <const int64_t*>lists.grades, lists, &plan, &allowed, &ranked, kinds,
                start, stop, values, counts, &n_invalid)
        elif lists.grade_type == c"f":
            measure_range(
                <const double*>lists.scores, <const float*>lists.grades, lists, &plan, &allowed, &ranked, kinds,
                start, stop, values, counts, &n_invalid)
        else:
            measure_range(
                <const double*>lists.scores, <const double*>lists.grades, lists, &plan, &allowed, &ranked, kinds,
                start, stop, values, counts, &n_invalid)
        free(memory)
    return n_invalid == 0


cdef struct GroupMemory:
    # The results of GroupMeasurer.measure, with places for max_groups groups, and its working memory.
    FoundGroups found
    const void** labels
    const void** scores
    const void** weights          # NULL: rows have no weights
    const ColumnsOfOutput* outputs
    Py_ssize_t n_outputs
    Py_ssize_t max_groups
    int64_t* class_counts
    int64_t* cursors
    uint64_t* scores_of_groups
    double* grades                # in the type of the labels
    double* least                 # the smallest weight of the rows of a group
    double* greatest              # and the largest
    double* values
    int64_t* counts


cdef inline void measure_output(
    real_t* scores, label_t zero, const GroupMemory* groups, const ColumnsOfOutput* output, Py_ssize_t partition,
    Py_ssize_t n_groups, RankedList* ranked, const MeasurePlan* plan, double* values, int64_t* counts
) noexcept nogil:
    """All measures of the groups of a partition, for a output. values and counts start at its first group."""
    cdef Py_ssize_t block, row, group, cursor, measure
    cdef Py_ssize_t i = 0
    cdef int64_t total = 0
    cdef const PartitionBlocks* blocks = &groups.found.blocks
    cdef const int64_t* class_counts = groups.class_counts
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
        labels = <const label_t*>groups.labels[output.label * blocks.n_blocks + block]
        column = <const real_t*>groups.scores[output.score * blocks.n_blocks + block]
        for row in range(span[0], span[1]):
            cursor = 2 * <Py_ssize_t>groups.found.group_of_row[i] + (labels[row] != zero)
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
    const PartitionBlocks* blocks, const void** label_blocks, label_t zero, Py_ssize_t partition,
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
        labels = <const label_t*>label_blocks[block]
        for row in range(span[0], span[1]):
            class_counts[2 * <Py_ssize_t>group_of_row[i] + (labels[row] != zero)] += 1
            i += 1


cdef inline Py_ssize_t measure_partition(
    GroupMemory* groups, Py_ssize_t partition, label_t zero, Py_ssize_t first, RankedList* ranked,
    const MeasurePlan* plan
) noexcept nogil:
    """Measure the groups of one partition for all outputs, from index `first` on; return their number."""
    cdef Py_ssize_t number
    cdef Py_ssize_t counted_label = 0
    cdef PartitionBlocks* blocks = &groups.found.blocks
    cdef const ColumnsOfOutput* output
    cdef double* values
    cdef int64_t* counts
    cdef Py_ssize_t n_groups = find_in_partition(&groups.found, partition, first, groups.class_counts, zero)
    if groups.weights:
        find_weight_ranges(
            blocks, groups.weights, partition, groups.found.group_of_row, n_groups, groups.least + first,
            groups.greatest + first)
    for number in range(groups.n_outputs):
        output = &groups.outputs[number]
        if output.label != counted_label:
            counted_label = output.label
            count_grades(
                blocks, groups.labels + output.label * blocks.n_blocks, zero, partition, groups.found.group_of_row,
                n_groups, groups.class_counts)
        values = groups.values + number * plan.n_measures * groups.max_groups + first
        counts = groups.counts + (number * groups.max_groups + first) * NUMBER_OF_COUNTS
        if output.is_double:
            measure_output(
                <double*>groups.scores_of_groups, zero, groups, output, partition, n_groups, ranked, plan, values,
                counts)
        else:
            measure_output(
                <float*>groups.scores_of_groups, zero, groups, output, partition, n_groups, ranked, plan, values,
                counts)
    return n_groups


cdef class GroupMeasurer:
    """Measures the groups of some partitions as ranked lists, for all outputs of `groups`.

    Labels are grades, uint8 or float64; a negative grade is a gain. `ties` is TIES_AVERAGE, TIES_OPTIMISTIC or
    TIES_PESSIMISTIC. After `measure`, the results stand in the order of partition and appearance: the keys in `groups`,
    values (output, measure, group) and counts (output, group, N_COUNTS); with weights, weight_ranges has the smallest
    and the largest weight of each group.
    """

    cdef readonly PartitionGroups groups
    cdef readonly object values
    cdef readonly object counts
    cdef readonly object weight_ranges
    cdef Measures measures
    cdef RankWeights weights
    cdef MeasurePlan plan
    cdef GroupMemory memory
    cdef RankedList ranked
    cdef list kept

    def __cinit__(
        self, PartitionGroups groups not None, Measures measures not None, RankWeights weights not None, int ties,
        allocate
    ):
        cdef PartitionedRows rows = groups.rows
        cdef Py_ssize_t largest = max(1, rows.largest)
        cdef Py_ssize_t most = groups.most_groups
        cdef Py_ssize_t n_outputs = groups.n_outputs
        cdef Py_ssize_t n_values = n_outputs * measures.n_measures * most
        if rows.label_bytes not in (1, 8):
            raise ValueError("groups are measured by grades of one type, uint8 or float64")
        self.groups, self.measures, self.weights = groups, measures, weights
        self.plan = measures.with_weights(weights, largest, ties, TIES_PESSIMISTIC)
        self.values = allocate("values", np.float64, n_values).reshape(n_outputs, measures.n_measures, most)
        self.counts = allocate("counts", np.int64, n_outputs * most * NUMBER_OF_COUNTS).reshape(
            n_outputs, most, NUMBER_OF_COUNTS)
        self.weight_ranges = allocate("weights", np.float64, 2 * most if rows.has_weights else 0).reshape(2, -1)
        self.memory.labels, self.memory.scores, self.memory.weights = rows.starts, rows.scores, rows.weights
        self.memory.outputs, self.memory.n_outputs = groups.outputs, n_outputs
        self.memory.max_groups = most
        self.memory.values = <double*>memory_of(self.values, n_values, 8)
        self.memory.counts = <int64_t*>memory_of(self.counts, n_outputs * most * NUMBER_OF_COUNTS, 8)
        if rows.has_weights:
            self.memory.least = <double*>memory_of(self.weight_ranges, 2 * most, 8)
            self.memory.greatest = self.memory.least + most
        self.kept = []
        self.memory.class_counts = <int64_t*>memory_of(groups.class_counts, 2 * largest, 8)
        self.memory.cursors = <int64_t*>words_of(self.kept, allocate, "cursors", 2 * largest)
        self.memory.scores_of_groups = words_of(self.kept, allocate, "scores", largest)
        self.memory.grades = <double*>words_of(self.kept, allocate, "grades", largest)
        assign_memory(
            &self.ranked,
            words_of(self.kept, allocate, "lists", WORDS_PER_ROW_OF_LIST * (largest + 2) + largest + SPARE_WORDS),
            largest)

    def measure(self, Py_ssize_t start, Py_ssize_t stop, bint by_slice=False) -> int:
        """Measure the groups of the partitions start..stop, divided by slice or not; return their number."""
        cdef Py_ssize_t partition
        cdef Py_ssize_t n_groups = 0
        cdef bint has_float_grades = self.groups.rows.label_bytes == 8
        self.memory.found = self.groups.memory(start, stop, by_slice)
        with nogil:
            for partition in range(start, stop):
                if has_float_grades:
                    n_groups += measure_partition[double](
                        &self.memory, partition, 0.0, n_groups, &self.ranked, &self.plan)
                else:
                    n_groups += measure_partition[uint8_t](
                        &self.memory, partition, 0, n_groups, &self.ranked, &self.plan)
        return n_groups


cdef Py_ssize_t longest_tie(
    const int64_t[::1] starts, const int64_t[::1] tied_zeros, const MeasurePlan* plan
) noexcept nogil:
    """The rows of the longest tie if a measure reads all of them, else 0."""
    cdef Py_ssize_t k, measure
    cdef Py_ssize_t longest = 0
    for measure in range(plan.n_measures):
        if plan.measures[measure].kind == EXPECTED_RECIPROCAL_RANK:
            for k in range(tied_zeros.shape[0]):
                longest = max(longest, tied_zeros[k] + starts[k + 1] - starts[k])
    return longest


def measure_large_list(
    const double[::1] grades, const int64_t[::1] starts, const int64_t[::1] tied_zeros,
    const int64_t[::1] zeros_above, Measures measures not None, RankWeights weights not None, int ties,
    double[::1] values, int64_t[::1] counts
):
    """The measures of one list whose rows of grade zero are only counted.

    The k-th distinct score of positives, from the highest down, has the grades grades[starts[k]..starts[k + 1]] in
    descending order. tied_zeros[k] other rows have the same score. zeros_above[k] other rows lie between it and the
    score before; the last entry counts those below all positives. All rows are judged. ties are as for GroupMeasurer.
    """
    cdef MeasurePlan plan
    cdef RankedList ranked
    cdef Py_ssize_t i, k, measure, longest
    cdef Py_ssize_t n_ties = tied_zeros.shape[0]
    cdef int64_t above = 0
    cdef int64_t n_rows = 0
    need_length(b"starts", starts.shape[0], n_ties + 1)
    need_length(b"zeros_above", zeros_above.shape[0], n_ties + 1)
    need_offsets(b"starts", &starts[0], n_ties + 1, grades.shape[0])
    need_length(b"values", values.shape[0], measures.n_measures)
    need_length(b"counts", counts.shape[0], NUMBER_OF_COUNTS)
    for k in range(n_ties + 1):
        if zeros_above[k] < 0 or (k < n_ties and tied_zeros[k] < 0):
            raise ValueError(f"numbers of rows of grade zero are negative at score {k}")
        n_rows += zeros_above[k] + (tied_zeros[k] if k < n_ties else 0)
    plan = measures.with_weights(weights, n_rows + starts[n_ties], ties, TIES_PESSIMISTIC)
    longest = max(starts[n_ties], longest_tie(starts, tied_zeros, &plan))
    cdef size_t n_words = <size_t>(WORDS_PER_ROW_OF_LIST * (longest + 2) + longest + SPARE_WORDS)
    cdef uint64_t* memory = <uint64_t*>malloc(n_words * sizeof(uint64_t))
    if memory == NULL:
        raise MemoryError
    with nogil:
        assign_memory(&ranked, memory, longest)
        ranked.n_positives = starts[n_ties]
        ranked.n_judged = 0
        ranked.n_unjudged = 0
        ranked.greatest = NOT_COMPUTED
        ranked.is_resolved = True
        ranked.is_sorted_ideal = False
        ranked.tied_pairs = 0
        for k in range(n_ties):
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
        ranked.n_judged += zeros_above[n_ties]
        ranked.n_rows = ranked.n_judged + ranked.n_positives
        load_ideal(&ranked, ranked.sorted_grades, NULL, 0)
        count_list(&ranked, 0, &counts[0])
        if not ranked.is_resolved and plan.order.ties != TIES_AVERAGE:
            resolve_by_grade(&ranked, plan.order.ties == TIES_OPTIMISTIC)
        for measure in range(plan.n_measures):
            values[measure] = measure_of(&ranked, &plan.measures[measure], &plan.discounts)
        free(memory)
