"""What ranked_lists.pyx reads: the plan of measures, lists with rows copied apart by grade, ideal lists, their counts.

list_ranks.pxd ranks a list that is loaded, and list_measures.pxd computes the measures of a plan.
"""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from fastmetrics._kernels.ranking.list_ranks cimport (
    FM_SHORT, MANY_POSITIVES, NOT_COMPUTED, RankedList, TieOrder, greatest_grade, rank_short, real_t,
    resolve_by_rows, sort_tied_grades, widen_f32_grades, widen_f32_scores, widen_f64_grades, widen_f64_scores,
    widen_i64_grades, widen_u8_grades,
)
from fastmetrics._kernels.ranking.list_measures cimport Discounts, Measure

ctypedef fused grade_t:
    uint8_t
    int64_t
    float
    double

cdef enum:
    EXACT_GRADE = 20          # sums of 2**32 gains (exp2) of whole grades up to this are exact
    MAX_MEASURES = 256
    NUMBER_OF_COUNTS = 8
    # Columns of the counts of a list.
    ROWS = 0
    POSITIVES = 1             # retrieved rows with a gain
    JUDGED = 2                # retrieved rows that were judged
    IDEAL = 3                 # positives, retrieved or not
    TIED_PAIRS = 4            # pairs of a positive and another row of the list that tie
    PAIRS = 5                 # pairs of a positive and another row
    MISSING = 6               # judged items that were not retrieved, whatever their grade
    TRUTH_ROWS = 7            # rows of a truth table; truth_lists.py writes them


cdef struct MeasurePlan:
    const Measure* measures
    Py_ssize_t n_measures
    bint judged_apart
    bint needs_grade_order    # a measure is not a sum over the grades of a tie: their order matters
    Discounts discounts
    TieOrder order


cdef struct GradeRange:
    # Grades from least to greatest are allowed. Negative ones are gains if signed_gains, else they mark unjudged rows.
    double least
    double greatest
    bint signed_gains


cdef inline void load_list(
    RankedList* ranked, const real_t* scores, const grade_t* grades, Py_ssize_t n, const GradeRange* allowed,
    uint8_t* kinds, int64_t* n_invalid
) noexcept nogil:
    """Copy the rows of a list: positives, judged rows and unjudged rows apart. kinds are those of resolve_by_rows.

    n_invalid[0] increases by the number of NaN scores and of grades that are not allowed.
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
    # No branches on the data: every row is written to all three arrays, and one of their cursors advances.
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
    n_invalid[0] += bad
    ranked.greatest = NOT_COMPUTED
    ranked.n_rows = n
    ranked.n_positives = n_positives
    ranked.n_judged = n_judged
    ranked.n_unjudged = n_unjudged


cdef inline bint try_rank_short(
    RankedList* ranked, const real_t* scores, const grade_t* grades, Py_ssize_t n, const GradeRange* allowed,
    int64_t* n_invalid
) noexcept nogil:
    """Rank a short list with many positives without copying it apart; False if there are few: then nothing is ranked.

    n_invalid[0] increases by the number of NaN scores and of grades that are not allowed.
    """
    cdef double[FM_SHORT] wide_scores
    cdef double[FM_SHORT] wide_grades
    cdef int64_t n_positives
    cdef int64_t bad = 0
    cdef Py_ssize_t row
    if grade_t is uint8_t:
        n_positives = widen_u8_grades(
            grades, n, allowed.least, allowed.greatest, allowed.signed_gains, wide_grades, &bad, EXACT_GRADE,
            &ranked.greatest)
    elif grade_t is int64_t:
        n_positives = widen_i64_grades(
            grades, n, allowed.least, allowed.greatest, allowed.signed_gains, wide_grades, &bad, EXACT_GRADE,
            &ranked.greatest)
    elif grade_t is float:
        n_positives = widen_f32_grades(
            grades, n, allowed.least, allowed.greatest, allowed.signed_gains, wide_grades, &bad, EXACT_GRADE,
            &ranked.greatest)
    else:
        n_positives = widen_f64_grades(
            grades, n, allowed.least, allowed.greatest, allowed.signed_gains, wide_grades, &bad, EXACT_GRADE,
            &ranked.greatest)
    if n_positives <= MANY_POSITIVES:
        return False
    if real_t is float:
        bad += widen_f32_scores(scores, n, wide_scores)
    else:
        bad += widen_f64_scores(scores, n, wide_scores)
    n_invalid[0] += bad
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
    """Fill the ideal list: the grades of positives, in any order, and of items that were not retrieved."""
    cdef Py_ssize_t i
    cdef Py_ssize_t n = ranked.n_positives
    ranked.n_missing = 0
    memcpy(ranked.ideal, grades, <size_t>n * sizeof(double))
    if n_missing:
        ranked.greatest = NOT_COMPUTED
    for i in range(n_missing):
        ranked.ideal[n] = missing[i]
        n += missing[i] > 0
        ranked.n_missing += missing[i] == 0
    ranked.n_ideal = n


cdef inline void sort_ties(RankedList* ranked, const MeasurePlan* plan) noexcept nogil:
    """Make sums of gains of a tie independent of the order of rows. Sums of small whole numbers are exact anyway."""
    if plan.needs_grade_order or greatest_grade(ranked) < 0 or ranked.greatest > EXACT_GRADE:
        sort_tied_grades(ranked)


cdef inline void count_list(const RankedList* ranked, Py_ssize_t n_missing, int64_t* counts) noexcept nogil:
    counts[ROWS] = ranked.n_rows
    counts[POSITIVES] = ranked.n_positives
    counts[JUDGED] = ranked.n_positives + ranked.n_judged
    counts[IDEAL] = ranked.n_ideal
    counts[TIED_PAIRS] = ranked.tied_pairs
    counts[PAIRS] = ranked.n_positives * (ranked.n_rows - 1)
    counts[MISSING] = n_missing
    counts[TRUTH_ROWS] = 0
