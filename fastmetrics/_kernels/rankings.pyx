"""Measures of many ranked lists: of lists that stand one after the other, and of the groups of an exchange.

ranklists.pxd ranks a list, rankmeasures.pxd computes all measures asked for from that, so a further measure costs a
walk over the list's positives only. measure_lists takes lists as their rows stand, with all rules for ties.
measure_groups finds the groups of the partitions of a set of blocks (grouping.pxd) and copies a partition's scores into
the order of its groups, positives apart, as groups.pyx does; grades of type uint8 or float64.

All memory is the caller's. Lists have less than 2**30 rows.
"""

from libc.math cimport NAN, isnan, log, log2
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t

from fastmetrics._kernels.ranklists cimport (
    LIST_WORDS, SPARE_WORDS, TIES_AVERAGE, TIES_OPTIMISTIC, TIES_PESSIMISTIC, TIES_KEY, TIES_TEXT, TieOrder,
    RankedList, carve, order_tied_grades, rank_list, real_t, resolve_by_grade, resolve_by_rows,
)
from fastmetrics._kernels.rankmeasures cimport (
    BPREF, MEASURE_FIELDS, MEASURE_NUMBERS, Discounts, Kind, Measure, measure_of,
)
from fastmetrics._kernels.superaccumulator cimport CHUNK, add_chunk, normalise

ctypedef fused grade_t:
    uint8_t
    int64_t
    float
    double

WORDS_OF_A_ROW = LIST_WORDS
SPARE = SPARE_WORDS
FIELDS = MEASURE_FIELDS
NUMBERS = MEASURE_NUMBERS
N_COUNTS = 8
MOST_MEASURES = 256

cdef enum:
    MEASURES = 256
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
    Discounts discounts
    TieOrder order


cdef int read_plan(
    Plan* plan, const int64_t[:, ::1] measures, const double[:, ::1] numbers, const double[::1] weights,
    const double[::1] sums, int ties
) except -1:
    cdef Py_ssize_t i
    if measures.shape[0] > MEASURES:
        raise ValueError(f"at most {MEASURES} measures at a time; found {measures.shape[0]}")
    plan.n_measures = measures.shape[0]
    plan.judged_apart = False
    for i in range(plan.n_measures):
        plan.measures[i].kind = <Kind>measures[i, 0]
        plan.measures[i].k = measures[i, 1]
        plan.measures[i].gain = <int>measures[i, 2]
        plan.measures[i].ideal_k = measures[i, 3] != 0
        plan.measures[i].option = <int>measures[i, 4]
        plan.measures[i].level = numbers[i, 0]
        plan.measures[i].number = numbers[i, 1]
        plan.judged_apart |= plan.measures[i].kind == BPREF
    plan.discounts.weights = &weights[0]
    plan.discounts.sums = &sums[0]
    plan.order.ties = ties
    return 0


cdef inline void load_list(
    RankedList* ranked, const real_t* scores, const grade_t* grades, Py_ssize_t n, bint signed_gains, uint8_t* kinds
) noexcept nogil:
    """A list's rows, positives apart from the rest; kinds are 0, 1, 2 as resolve_by_rows wants them."""
    cdef Py_ssize_t row
    cdef Py_ssize_t n_positives = 0
    cdef Py_ssize_t n_judged = 0
    cdef Py_ssize_t n_unjudged = 0
    cdef real_t* positives = <real_t*>ranked.scores
    cdef real_t* judged = <real_t*>ranked.judged
    cdef real_t* unjudged = <real_t*>ranked.unjudged
    cdef bint is_positive, is_negative
    # Without branches on the data: every row is written to all three, and one of them goes on.
    for row in range(n):
        if grade_t is uint8_t:
            is_negative = False
        else:
            is_negative = grades[row] < 0 and not signed_gains
        is_positive = grades[row] != 0 and not is_negative
        positives[n_positives] = scores[row]
        ranked.grades[n_positives] = <double>grades[row]
        ranked.rows[n_positives] = row
        judged[n_judged] = scores[row]
        unjudged[n_unjudged] = scores[row]
        kinds[row] = 1 if is_positive else 2 * is_negative
        n_positives += is_positive
        n_unjudged += is_negative
        n_judged += not is_positive and not is_negative
    ranked.n_rows = n
    ranked.n_positives = n_positives
    ranked.n_judged = n_judged
    ranked.n_unjudged = n_unjudged


cdef inline void load_ideal(RankedList* ranked, const double* missing, Py_ssize_t n_missing) noexcept nogil:
    """The ideal list: grades of positives, and of those that were not retrieved."""
    cdef Py_ssize_t i
    cdef Py_ssize_t n = ranked.n_positives
    ranked.n_missing = 0
    for i in range(n):
        ranked.ideal[i] = ranked.grades[i]
    for i in range(n_missing):
        ranked.ideal[n] = missing[i]
        n += missing[i] > 0
        ranked.n_missing += missing[i] == 0
    ranked.n_ideal = n


cdef inline void count_list(const RankedList* ranked, Py_ssize_t n_missing, int64_t* counts) noexcept nogil:
    counts[ROWS] = ranked.n_rows
    counts[POSITIVES] = ranked.n_positives
    counts[JUDGED] = ranked.n_positives + ranked.n_judged
    counts[IDEAL] = ranked.n_ideal
    counts[TIED_PAIRS] = ranked.tied_pairs
    counts[PAIRS] = ranked.n_positives * (ranked.n_rows - 1)
    counts[MISSING] = n_missing


def discounts(double base, double[::1] weights, double[::1] sums):
    """DCG's weights of ranks, 1 / log_base(rank + 1), and their sums: sums[i] of the first i (one entry more)."""
    cdef Py_ssize_t i
    cdef double total = 0.0
    cdef double lost = 0.0        # what rounding took away, so that sums of millions stay right to the last bits
    cdef double term, larger
    cdef double scale = log(base)
    with nogil:
        sums[0] = 0.0
        for i in range(weights.shape[0]):
            weights[i] = 1.0 / log2(<double>(i + 2)) if base == 2.0 else scale / log(<double>(i + 2))
            term = weights[i] - lost
            larger = total + term
            lost = (larger - total) - term
            total = larger
            sums[i + 1] = total


def measure_lists(
    const real_t[::1] scores, const grade_t[::1] grades, const int64_t[::1] offsets, const double[::1] missing,
    const int64_t[::1] missing_offsets, const int64_t[:, ::1] measures, const double[:, ::1] numbers,
    const double[::1] weights, const double[::1] sums, int ties, const uint64_t[::1] keys, const uint8_t[::1] data,
    const int64_t[::1] text_starts, const int64_t[::1] text_stops, bint signed_gains, Py_ssize_t start,
    Py_ssize_t stop, uint64_t[::1] memory, uint8_t[::1] kinds, double[:, ::1] values, int64_t[:, ::1] counts
):
    """The measures of the lists start..stop: values (measure, list), and counts (list, N_COUNTS).

    List i has the rows offsets[i]..offsets[i + 1] of scores (no NaN) and grades (finite). Grades below zero are gains
    where `signed_gains`, else signs of rows that nobody judged. missing_offsets may be empty: then all judged items
    are rows; else list i's judged items that were not retrieved have the grades missing[missing_offsets[i]...].
    measures and numbers: a row each, as struct Measure has it. weights and sums are made by `discounts`, for as many
    ranks as the longest ideal list, the longest list, and the greatest k have. ties: see ranklists.pxd; keys (ties KEY) or
    data, text_starts and text_stops (TEXT) belong to rows, else they are empty. memory: WORDS_OF_A_ROW words for each row
    of the longest list, one for each judged item, and SPARE; kinds as long as the longest list.
    """
    cdef Plan plan
    cdef RankedList ranked
    cdef Py_ssize_t i, measure, first, n, n_missing
    cdef Py_ssize_t longest = 0
    cdef const double* list_missing = NULL
    read_plan(&plan, measures, numbers, weights, sums, ties)
    plan.order.keys = &keys[0] if keys.shape[0] else NULL
    plan.order.data = &data[0] if data.shape[0] else NULL
    plan.order.starts = &text_starts[0] if text_starts.shape[0] else NULL
    plan.order.stops = &text_stops[0] if text_stops.shape[0] else NULL
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
            load_list(&ranked, &scores[0] + first, &grades[0] + first, n, signed_gains, &kinds[0])
            load_ideal(&ranked, list_missing, n_missing)
            rank_list(&ranked, <const real_t*>ranked.scores, plan.judged_apart)
            count_list(&ranked, n_missing, &counts[i, 0])
            if not ranked.is_resolved:
                if ties == TIES_AVERAGE:
                    order_tied_grades(&ranked)
                elif ties == TIES_OPTIMISTIC or ties == TIES_PESSIMISTIC:
                    resolve_by_grade(&ranked, ties == TIES_OPTIMISTIC)
                else:
                    resolve_by_rows(&ranked, &scores[0] + first, &kinds[0], n, &plan.order, first)
            for measure in range(plan.n_measures):
                values[measure, i] = measure_of(&ranked, &plan.measures[measure], &plan.discounts)
