"""The measures of one ranked list (list_ranks.pxd). Each is one pass over the positives in the order of rank.

Positives that tie have the same `above` (rows strictly above) and `tied` (rows of the tie). If ties are not resolved, a
measure is its expected value over all orders of the tied rows, each equally likely, in closed form. With a rows above
the tie, t rows in it, r of them relevant, and c = min(t, k - a) of its positions within the cutoff k:

- sums over rows of gain times a weight of the rank (DCG, P, R, RBP, sum rel/rank): the expected weight of a row is the
  mean weight of the positions of the tie;
- hit_rate rate: no hit in c positions has the hypergeometric probability C(t - r, c) / C(t, c);
- reciprocal rank: position i + 1 of the first tie with relevant rows holds its first one with probability
  C(t - i - 1, r - 1) / C(t, r) (F. McSherry and M. Najork, 2008, Computing information retrieval performance measures
  efficiently in the presence of tied scores, ECIR);
- average precision: position i (1 <= i <= c) is relevant with probability r / t; then (i - 1)(r - 1) / (t - 1) of the
  positions before it in the tie are expected to be relevant, too (same source);
- ERR: the mean over all j-subsets of a tie of the product of 1 - R, computed row by row;
- bpref: a relevant row in a tie with u judged non-relevant rows has 0, 1, ... u of them above with equal probability.

A measure of a list without a relevant row (for NDCG: without a gain) is NaN; the caller decides how it counts.
Counts are int64; with less than 2**31 rows in a list, products of two of them fit.
"""

from libc.math cimport NAN
from libc.stdint cimport int64_t

from fastmetrics._kernels.numeric.elementary cimport (
    fm_exp2, fm_log, fm_log2_of_rank, fm_double_double, fm_power_of_split, fm_split_of)
from fastmetrics._kernels.ranking.list_ranks cimport RankedList, sort_ideal

cdef enum Kind:
    DCG = 0
    NDCG = 1
    IDCG = 2
    CUMULATIVE_GAIN = 3
    AVERAGE_PRECISION = 4
    RECIPROCAL_RANK = 5
    SUM_OF_RECIPROCAL_RANKS = 6
    HIT = 7
    PRECISION = 8
    RECALL = 9
    F1 = 10
    R_PRECISION = 11
    EXPECTED_RECIPROCAL_RANK = 12
    RANK_BIASED_PRECISION = 13
    BPREF = 14
    AUC = 15
    INTERPOLATED_PRECISION = 16
    N_RETRIEVED = 17
    N_RELEVANT = 18
    N_RELEVANT_RETRIEVED = 19
    HITS = 20

cdef enum Gain:
    GAIN_LINEAR = 0
    GAIN_EXP2 = 1
    GAIN_BINARY = 2

cdef enum Normalize:
    BY_MIN = 0
    BY_RELEVANT = 1
    BY_K = 2
    BY_HITS = 3

cdef enum:
    RANKS_PER_MARK = 64       # between two stored sums, beyond the ranks whose weights are stored
    MEASURE_FIELDS = 5        # kind, k (0: none), gain, ideal by k, normalize or short_list
    MEASURE_NUMBERS = 2       # relevance level; p of RBP, greatest grade of ERR, or recall of interpolated precision


cdef struct Measure:
    Kind kind
    int64_t k
    int gain
    bint ideal_k
    int option
    double level
    double number


cdef struct Discounts:
    # The weights and sums of the first ranks are stored. Beyond them every RANKS_PER_MARK-th sum is (base 2 only).
    const double* weights        # of rank i + 1
    const double* sums           # of the first i weights, as total and rest (double-double); then the marks
    int64_t n_weights


cdef inline void add_weight(double* total, double* rest, double weight) noexcept nogil:
    """Add a weight to a double-double sum: an error-free sum of total and weight, then of the two rests."""
    cdef double larger = total[0] + weight
    cdef double added = larger - total[0]
    rest[0] += (total[0] - (larger - added)) + (weight - added)
    total[0] = larger + rest[0]
    rest[0] += larger - total[0]


cdef inline double weight_at(const Discounts* discounts, int64_t position) noexcept nogil:
    """The weight of rank position + 1."""
    if position < discounts.n_weights:
        return discounts.weights[position]
    return 1.0 / fm_log2_of_rank(<double>(position + 2))


cdef inline void sum_at(const Discounts* discounts, int64_t n, double* total, double* rest) noexcept nogil:
    """The sum of the first n weights as total and rest: the same bits as if all sums were stored."""
    cdef int64_t beyond = max(0, n - discounts.n_weights)
    cdef int64_t mark = min(n, discounts.n_weights) + beyond // RANKS_PER_MARK
    cdef int64_t position
    total[0] = discounts.sums[2 * mark]
    rest[0] = discounts.sums[2 * mark + 1]
    for position in range(n - beyond % RANKS_PER_MARK, n):
        add_weight(total, rest, 1.0 / fm_log2_of_rank(<double>(position + 2)))


cdef inline double gain_of(double grade, const Measure* measure) noexcept nogil:
    if measure.gain == GAIN_BINARY:
        return 1.0 if grade >= measure.level else 0.0
    if measure.gain == GAIN_EXP2:
        if 0 <= grade < 63 and grade == <double><int64_t>grade:
            return <double>((<int64_t>1 << <int64_t>grade) - 1)
        return fm_exp2(grade) - 1.0
    return grade


cdef inline int64_t cutoff(const Measure* measure, int64_t n) noexcept nogil:
    """The number of positions that count, in a list of n rows."""
    return min(measure.k, n) if measure.k else n


cdef inline Py_ssize_t end_of_tie(const RankedList* ranked, Py_ssize_t first) noexcept nogil:
    """The first positive after the tie that begins with positive `first`."""
    cdef Py_ssize_t i = first + 1
    while i < ranked.n_positives and ranked.above[i] == ranked.above[first]:
        i += 1
    return i


cdef inline Py_ssize_t count_relevant_positives(
    const RankedList* ranked, Py_ssize_t first, Py_ssize_t last, double level
) noexcept nogil:
    """How many of these positives are relevant."""
    cdef Py_ssize_t i
    cdef Py_ssize_t found = 0
    for i in range(first, last):
        found += ranked.sorted_grades[i] >= level
    return found


cdef inline int64_t count_relevant(const RankedList* ranked, double level) noexcept nogil:
    """R: relevant items, retrieved or not."""
    cdef Py_ssize_t i
    cdef int64_t found = 0
    for i in range(ranked.n_ideal):
        found += ranked.ideal[i] >= level
    return found


cdef inline double mean_weight(const Discounts* discounts, int64_t above, int64_t tied, int64_t k) noexcept nogil:
    """The mean weight of the ranks above + 1 .. above + tied; ranks beyond k have weight 0."""
    cdef int64_t end = min(above + tied, k)
    cdef const double* sums = discounts.sums
    cdef double total, rest, total_above, rest_above
    if above >= k:
        return 0.0
    if tied == 1:
        return weight_at(discounts, above)
    if end <= discounts.n_weights:
        return ((sums[2 * end] - sums[2 * above]) + (sums[2 * end + 1] - sums[2 * above + 1])) / <double>tied
    sum_at(discounts, end, &total, &rest)
    sum_at(discounts, above, &total_above, &rest_above)
    return ((total - total_above) + (rest - rest_above)) / <double>tied


cdef inline double weighted_sum(
    const double* grades, const int64_t* above, Py_ssize_t n, const Measure* measure, const double* weights
) noexcept nogil:
    """The sum of gain times weight of the position (`above` NULL: 0, 1, 2, ...), as four independent sums."""
    cdef Py_ssize_t i
    cdef double[4] totals
    cdef Py_ssize_t even = n & ~<Py_ssize_t>3
    totals[0] = totals[1] = totals[2] = totals[3] = 0.0
    if measure.gain == GAIN_LINEAR and above != NULL:
        for i in range(0, even, 4):
            totals[0] += grades[i] * weights[above[i]]
            totals[1] += grades[i + 1] * weights[above[i + 1]]
            totals[2] += grades[i + 2] * weights[above[i + 2]]
            totals[3] += grades[i + 3] * weights[above[i + 3]]
    elif measure.gain == GAIN_LINEAR:
        for i in range(0, even, 4):
            totals[0] += grades[i] * weights[i]
            totals[1] += grades[i + 1] * weights[i + 1]
            totals[2] += grades[i + 2] * weights[i + 2]
            totals[3] += grades[i + 3] * weights[i + 3]
    else:
        even = 0
    for i in range(even, n):
        totals[i & 3] += gain_of(grades[i], measure) * weights[i if above == NULL else above[i]]
    return (totals[0] + totals[1]) + (totals[2] + totals[3])


cdef inline double dcg(
    const RankedList* ranked, const Measure* measure, const Discounts* discounts
) noexcept nogil:
    """DCG."""
    cdef Py_ssize_t i, j, last
    cdef int64_t k = cutoff(measure, ranked.n_rows)
    cdef double total = 0.0
    cdef double gain
    i = 0
    if ranked.is_resolved:
        while i < ranked.n_positives and ranked.above[i] < k:
            total += gain_of(ranked.sorted_grades[i], measure) * weight_at(discounts, ranked.above[i])
            i += 1
        return total
    while i < ranked.n_positives and ranked.above[i] < k:
        last = end_of_tie(ranked, i)
        gain = 0.0
        for j in range(i, last):
            gain += gain_of(ranked.sorted_grades[j], measure)
        total += gain * mean_weight(discounts, ranked.above[i], ranked.tied[i], k)
        i = last
    return total


cdef inline double cumulative_gain(const RankedList* ranked, const Measure* measure) noexcept nogil:
    cdef Py_ssize_t i, j, last
    cdef int64_t k = cutoff(measure, ranked.n_rows)
    cdef int64_t inside
    cdef double total = 0.0
    cdef double gain
    i = 0
    while i < ranked.n_positives and ranked.above[i] < k:
        last = end_of_tie(ranked, i)
        gain = 0.0
        for j in range(i, last):
            gain += gain_of(ranked.sorted_grades[j], measure)
        inside = min(ranked.tied[i], k - ranked.above[i])
        total += gain if inside == ranked.tied[i] else gain * (<double>inside / <double>ranked.tied[i])
        i = last
    return total


cdef inline double ideal_dcg(RankedList* ranked, const Measure* measure, const Discounts* discounts) noexcept nogil:
    """Ideal DCG: the DCG of the best order, or of k gains of one."""
    cdef Py_ssize_t i, n
    cdef double total = 0.0
    cdef double rest
    if measure.ideal_k:
        sum_at(discounts, measure.k if measure.k else ranked.n_rows, &total, &rest)
        return total
    sort_ideal(ranked)
    n = ranked.n_ideal
    if measure.k and measure.k < n:
        n = measure.k
    for i in range(n):
        total += gain_of(ranked.ideal[i], measure) * weight_at(discounts, i)
    return total


cdef inline double ndcg(
    RankedList* ranked, const Measure* measure, const Discounts* discounts
) noexcept nogil:
    """NDCG. A list in its best order has exactly 1, because both sums add the same terms in the same order."""
    cdef Py_ssize_t i = 0
    cdef double ideal, ratio
    while i < ranked.n_ideal and not gain_of(ranked.ideal[i], measure) > 0.0:
        i += 1
    if i == ranked.n_ideal:
        return NAN
    ideal = ideal_dcg(ranked, measure, discounts)
    ratio = dcg(ranked, measure, discounts) / ideal
    # No order is better than the ideal one, but expected values of ties may round above it.
    return 1.0 if ratio > 1.0 and not measure.ideal_k else ratio


cdef inline double expected_hits(const RankedList* ranked, double level, int64_t k) noexcept nogil:
    """The expected number of relevant rows among the first k."""
    cdef Py_ssize_t i, last, relevant
    cdef int64_t inside
    cdef int64_t whole = 0
    cdef double fraction = 0.0
    i = 0
    while i < ranked.n_positives and ranked.above[i] < k:
        last = end_of_tie(ranked, i)
        relevant = count_relevant_positives(ranked, i, last, level)
        inside = min(ranked.tied[i], k - ranked.above[i])
        if inside == ranked.tied[i]:
            whole += relevant
        else:
            fraction = <double>(relevant * inside) / <double>ranked.tied[i]
        i = last
    return <double>whole + fraction


cdef inline double tied_precision(
    int64_t above, int64_t tied, int64_t relevant, int64_t relevant_above, int64_t inside
) noexcept nogil:
    """The expected sum of the precisions at relevant rows, over the first `inside` positions of a tie."""
    cdef int64_t i
    cdef double total = 0.0
    cdef double step
    if tied == 1:
        return <double>(relevant_above + 1) / <double>(above + 1)
    step = <double>(relevant - 1) / <double>(tied - 1)
    for i in range(inside):
        total += (<double>(relevant_above + 1) + <double>i * step) / <double>(above + i + 1)
    return total * (<double>relevant / <double>tied)


cdef inline double precision_by_hits(
    double total, int64_t above, int64_t tied, int64_t relevant, int64_t relevant_above, int64_t inside
) noexcept nogil:
    """The expected (sum of precisions) / hits for a tie that crosses the cutoff; `inside` of its positions count.

    Given h hits among these positions, each position is a hit with probability h / inside. The probabilities of h are
    computed from the most likely h outwards, so that none underflows.
    """
    cdef int64_t low = max(0, inside - (tied - relevant))
    cdef int64_t high = min(inside, relevant)
    cdef int64_t mode = <int64_t>(<double>(inside + 1) * <double>(relevant + 1) / <double>(tied + 2))
    cdef int64_t h, i
    cdef double first = 0.0
    cdef double second = 0.0
    cdef double mass = 0.0
    cdef double mean = 0.0
    cdef double weight, value, step
    for i in range(inside):
        first += 1.0 / <double>(above + i + 1)
        second += <double>i / <double>(above + i + 1)
    mode = min(max(mode, low), high)
    for direction in range(2):
        h = mode
        weight = 1.0
        while low <= h <= high:
            if direction == 0 or h != mode:
                value = 0.0
                if relevant_above + h:
                    step = <double>(h - 1) / <double>(inside - 1) if inside > 1 else 0.0
                    value = <double>(relevant_above + 1) * first + step * second
                    value = total + (<double>h / <double>inside) * value
                    value /= <double>(relevant_above + h)
                mass += weight
                mean += weight * value
            if direction == 0:
                if h == high:
                    break
                weight *= (<double>(relevant - h) * <double>(inside - h)) / (
                    <double>(h + 1) * <double>(tied - relevant - inside + h + 1))
                h += 1
            else:
                if h == low:
                    break
                weight *= (<double>h * <double>(tied - relevant - inside + h)) / (
                    <double>(relevant - h + 1) * <double>(inside - h + 1))
                h -= 1
            if weight < 1e-40:
                break
    return mean / mass


cdef inline double average_precision(const RankedList* ranked, const Measure* measure) noexcept nogil:
    cdef Py_ssize_t i, last, relevant
    cdef int64_t n_relevant = count_relevant(ranked, measure.level)
    cdef int64_t k = cutoff(measure, ranked.n_rows)
    cdef int64_t relevant_above = 0
    cdef int64_t inside
    cdef double total = 0.0
    if n_relevant == 0:
        return NAN
    i = 0
    while i < ranked.n_positives and ranked.above[i] < k:
        last = end_of_tie(ranked, i)
        relevant = count_relevant_positives(ranked, i, last, measure.level)
        if relevant:
            inside = min(ranked.tied[i], k - ranked.above[i])
            if measure.option == BY_HITS and inside < ranked.tied[i]:
                return precision_by_hits(total, ranked.above[i], ranked.tied[i], relevant, relevant_above, inside)
            total += tied_precision(ranked.above[i], ranked.tied[i], relevant, relevant_above, inside)
            relevant_above += relevant
        i = last
    if measure.option == BY_HITS:
        return total / <double>relevant_above if relevant_above else 0.0
    if measure.option == BY_K:
        return total / <double>(measure.k if measure.k else ranked.n_rows) if total else 0.0
    if measure.option == BY_MIN and measure.k:
        return total / <double>min(measure.k, n_relevant)
    return total / <double>n_relevant


cdef inline double reciprocal_rank(const RankedList* ranked, const Measure* measure) noexcept nogil:
    cdef Py_ssize_t i, last
    cdef int64_t k = cutoff(measure, ranked.n_rows)
    cdef int64_t relevant, tied, above, position
    cdef double probability
    cdef double total = 0.0
    if count_relevant(ranked, measure.level) == 0:
        return NAN
    i = 0
    while i < ranked.n_positives and ranked.above[i] < k:
        last = end_of_tie(ranked, i)
        relevant = count_relevant_positives(ranked, i, last, measure.level)
        if relevant:
            above = ranked.above[i]
            tied = ranked.tied[i]
            probability = <double>relevant / <double>tied
            for position in range(min(tied - relevant + 1, k - above)):
                total += probability / <double>(above + position + 1)
                if position + 1 < tied:
                    probability *= <double>(tied - position - relevant) / <double>(tied - position - 1)
            return total
        i = last
    return 0.0


cdef inline double sum_of_reciprocal_ranks(const RankedList* ranked, const Measure* measure) noexcept nogil:
    """sum(rel / rank) / sum(rel)."""
    cdef Py_ssize_t i, j, last
    cdef int64_t k = cutoff(measure, ranked.n_rows)
    cdef int64_t position
    cdef double total = 0.0
    cdef double all_gains = 0.0
    cdef double gain, weight
    for i in range(ranked.n_ideal):
        all_gains += gain_of(ranked.ideal[i], measure)
    if all_gains <= 0.0:
        return NAN
    i = 0
    while i < ranked.n_positives and ranked.above[i] < k:
        last = end_of_tie(ranked, i)
        gain = 0.0
        for j in range(i, last):
            gain += gain_of(ranked.sorted_grades[j], measure)
        weight = 0.0
        for position in range(ranked.above[i], min(ranked.above[i] + ranked.tied[i], k)):
            weight += 1.0 / <double>(position + 1)
        total += gain * (weight / <double>ranked.tied[i])
        i = last
    return total / all_gains


cdef inline double hit_rate(const RankedList* ranked, const Measure* measure) noexcept nogil:
    """The probability that one of the first k rows is relevant."""
    cdef Py_ssize_t i, last
    cdef int64_t k = cutoff(measure, ranked.n_rows)
    cdef int64_t relevant, tied, inside, position
    cdef double no_hit = 1.0    # probability
    if count_relevant(ranked, measure.level) == 0:
        return NAN
    i = 0
    while i < ranked.n_positives and ranked.above[i] < k:
        last = end_of_tie(ranked, i)
        relevant = count_relevant_positives(ranked, i, last, measure.level)
        if relevant:
            tied = ranked.tied[i]
            inside = min(tied, k - ranked.above[i])
            if inside > tied - relevant:
                return 1.0
            for position in range(min(inside, relevant)):
                no_hit *= <double>(tied - max(inside, relevant) - position) / <double>(tied - position)
            return 1.0 - no_hit
        i = last
    return 0.0


cdef inline double precision_or_recall(const RankedList* ranked, const Measure* measure) noexcept nogil:
    """Precision, recall, F1, hits or R-precision, by measure.kind."""
    cdef int64_t n_relevant = count_relevant(ranked, measure.level)
    cdef int64_t k = cutoff(measure, ranked.n_rows)
    cdef double hits, length
    if measure.kind == HITS:
        return expected_hits(ranked, measure.level, k)
    if n_relevant == 0:
        return NAN
    if measure.kind == R_PRECISION:
        return expected_hits(ranked, measure.level, n_relevant) / <double>n_relevant
    hits = expected_hits(ranked, measure.level, k)
    if measure.kind == RECALL:
        return hits / <double>n_relevant
    length = <double>(measure.k if measure.k and not measure.option else k)
    if measure.kind == F1:
        return 2.0 * hits / (length + <double>n_relevant)
    return hits / length if length else 0.0


cdef inline double expected_reciprocal_rank(RankedList* ranked, const Measure* measure) noexcept nogil:
    """ERR: the expected 1 / rank of the row where a user stops; R = (2^g - 1) / 2^greatest at a row of grade g."""
    cdef Py_ssize_t i, j, last
    cdef int64_t k = cutoff(measure, ranked.n_rows)
    cdef int64_t above, tied, longest, position, n_included
    cdef double going_on = 1.0      # the probability that the user reaches this tie
    cdef double total = 0.0
    cdef double stops, stopping, share
    cdef double scale = fm_exp2(-measure.number)
    # product[j]: the mean over all subsets of j rows of the tie of their product of 1 - R.
    cdef double* product = <double*>ranked.counts
    if count_relevant(ranked, measure.level) == 0:
        return NAN
    i = 0
    while i < ranked.n_positives and ranked.above[i] < k:
        last = end_of_tie(ranked, i)
        above = ranked.above[i]
        tied = ranked.tied[i]
        if tied == 1:
            stops = (fm_exp2(ranked.sorted_grades[i]) - 1.0) * scale
            total += going_on * stops / <double>(above + 1)
            going_on *= 1.0 - stops
            i = last
            continue
        stopping = 0.0
        for j in range(i, last):
            stopping += (fm_exp2(ranked.sorted_grades[j]) - 1.0) * scale
        # Products of more rows than this are below 1e-18 (Maclaurin's inequality).
        longest = min(tied, k - above)
        share = stopping / <double>tied
        if share < 1.0 and -fm_log(1.0 - share) * <double>longest > 42.0:
            longest = min(longest, <int64_t>(42.0 / -fm_log(1.0 - share)) + 2)
        for position in range(longest + 1):
            product[position] = 1.0
        n_included = tied - (last - i)
        for j in range(i, last):
            stops = (fm_exp2(ranked.sorted_grades[j]) - 1.0) * scale
            n_included += 1
            for position in range(min(longest, n_included), 0, -1):
                share = <double>position / <double>n_included
                product[position] = (1.0 - share) * product[position] + share * (1.0 - stops) * product[position - 1]
        for position in range(longest):
            total += going_on * (product[position] - product[position + 1]) / <double>(above + position + 1)
        for j in range(i, last):
            going_on *= 1.0 - (fm_exp2(ranked.sorted_grades[j]) - 1.0) * scale
        i = last
    return total


cdef inline double rank_biased_precision(const RankedList* ranked, const Measure* measure) noexcept nogil:
    """RBP: (1 - p) times the sum of gain p^(rank - 1)."""
    cdef Py_ssize_t j, last, i = 0
    cdef int64_t above, end, k = cutoff(measure, ranked.n_rows)
    cdef double p = measure.number
    cdef fm_double_double split = fm_split_of(p)      # of p^rank
    cdef double gain, total = 0.0
    if count_relevant(ranked, measure.level) == 0:
        return NAN
    while i < ranked.n_positives and ranked.above[i] < k:
        last = end_of_tie(ranked, i)
        above = ranked.above[i]
        end = min(above + ranked.tied[i], k)
        gain = 0.0
        for j in range(i, last):
            gain += gain_of(ranked.sorted_grades[j], measure)
        if ranked.tied[i] == 1:
            total += gain * (1.0 - p) * fm_power_of_split(split, <double>above)
        else:
            gain *= fm_power_of_split(split, <double>above) - fm_power_of_split(split, <double>end)
            total += gain / <double>ranked.tied[i]
        i = last
    return total


cdef inline double capped_sum(int64_t low, int64_t high, int64_t most) noexcept nogil:
    """The sum of min(x, most) for low <= x <= high."""
    cdef int64_t bend = min(high, most)
    cdef double total = 0.0
    if bend >= low:
        total = 0.5 * <double>(bend - low + 1) * <double>(low + bend)
    if high > most:
        total += <double>(high - max(low - 1, most)) * <double>most
    return total


cdef inline double binary_preference(const RankedList* ranked, const Measure* measure) noexcept nogil:
    """bpref as in trec_eval: of the judged non-relevant rows above a relevant row, at most R count."""
    cdef Py_ssize_t i, last, relevant
    cdef int64_t n_relevant = count_relevant(ranked, measure.level)
    cdef int64_t n_other = ranked.n_judged + ranked.n_missing + ranked.n_ideal - n_relevant
    cdef int64_t bound = min(n_relevant, n_other)
    cdef int64_t above, tied
    cdef int64_t below_level = 0      # positives of the ties above that are not relevant
    cdef double total = 0.0
    if n_relevant == 0:
        return NAN
    i = 0
    while i < ranked.n_positives:
        last = end_of_tie(ranked, i)
        relevant = count_relevant_positives(ranked, i, last, measure.level)
        above = ranked.judged_above[i] + below_level
        tied = ranked.judged_tied[i] + (last - i - relevant)
        if bound:
            total += <double>relevant * (
                1.0 - capped_sum(above, above + tied, n_relevant) / (<double>bound * <double>(tied + 1)))
        else:
            total += <double>relevant
        below_level += last - i - relevant
        i = last
    return total / <double>n_relevant


cdef inline double auc_at_k(const RankedList* ranked, const Measure* measure) noexcept nogil:
    """The AUC of the rows of the list, in which all rows below rank k tie."""
    cdef Py_ssize_t i, last
    cdef int64_t n = ranked.n_rows
    cdef int64_t k = cutoff(measure, n)
    cdef int64_t n_relevant = count_relevant_positives(ranked, 0, ranked.n_positives, measure.level)
    cdef int64_t n_other = n - n_relevant
    cdef int64_t relevant, above, tied, other, other_below
    cdef int64_t relevant_above = 0
    cdef int64_t rest_relevant, rest_other
    cdef int64_t twice_won = 0
    cdef double won
    cdef double inside
    if n_relevant == 0 or n_other == 0:
        return NAN
    won = 0.0
    i = 0
    # Ties without a positive need only counts: their rows lose to all relevant rows above them.
    while i < ranked.n_positives and ranked.above[i] + ranked.tied[i] <= k:
        last = end_of_tie(ranked, i)
        relevant = count_relevant_positives(ranked, i, last, measure.level)
        above = ranked.above[i]
        tied = ranked.tied[i]
        other = tied - relevant
        other_below = n_other - (above - relevant_above) - other
        twice_won += 2 * relevant * other_below + relevant * other
        relevant_above += relevant
        i = last
    won = 0.5 * <double>twice_won
    if i < ranked.n_positives and ranked.above[i] < k:
        # A tie that crosses the cutoff: the share `inside` of its positions is within the first k.
        last = end_of_tie(ranked, i)
        relevant = count_relevant_positives(ranked, i, last, measure.level)
        above = ranked.above[i]
        tied = ranked.tied[i]
        other = tied - relevant
        inside = <double>(k - above) / <double>tied
        rest_relevant = n_relevant - relevant_above - relevant
        rest_other = n_other - (above - relevant_above) - other
        won += 0.5 * <double>(relevant * other)
        won += <double>(relevant * rest_other) * (0.5 + 0.5 * inside)
        won += <double>(rest_relevant * other) * (0.5 - 0.5 * inside)
        won += 0.5 * <double>(rest_relevant * rest_other)
    else:
        # The cutoff lies in a tie of other rows or between ties: other rows above it win against no row below it.
        rest_relevant = n_relevant - relevant_above
        rest_other = n - k - rest_relevant
        won += 0.5 * (<double>rest_relevant * <double>rest_other)
    return won / (<double>n_relevant * <double>n_other)


cdef inline double interpolated_precision(const RankedList* ranked, const Measure* measure) noexcept nogil:
    """The greatest precision at a rank where recall is at least measure.number. Ties must be resolved."""
    cdef Py_ssize_t i
    cdef int64_t n_relevant = count_relevant(ranked, measure.level)
    cdef int64_t least = <int64_t>(measure.number * <double>n_relevant + 0.9)
    cdef int64_t found = 0
    cdef double best = 0.0
    cdef double precision
    if n_relevant == 0:
        return NAN
    for i in range(ranked.n_positives):
        if ranked.sorted_grades[i] >= measure.level:
            found += 1
            precision = <double>found / <double>(ranked.above[i] + 1)
            if found >= least and precision > best:
                best = precision
    return best


cdef inline double measure_of(RankedList* ranked, const Measure* measure, const Discounts* discounts) noexcept nogil:
    """A measure of a ranked list; NaN if the list has no relevant row."""
    cdef Kind kind = measure.kind
    if kind == NDCG:
        return ndcg(ranked, measure, discounts)
    if kind == DCG:
        return dcg(ranked, measure, discounts)
    if kind == IDCG:
        return ideal_dcg(ranked, measure, discounts)
    if kind == CUMULATIVE_GAIN:
        return cumulative_gain(ranked, measure)
    if kind == AVERAGE_PRECISION:
        return average_precision(ranked, measure)
    if kind == RECIPROCAL_RANK:
        return reciprocal_rank(ranked, measure)
    if kind == SUM_OF_RECIPROCAL_RANKS:
        return sum_of_reciprocal_ranks(ranked, measure)
    if kind == HIT:
        return hit_rate(ranked, measure)
    if kind == EXPECTED_RECIPROCAL_RANK:
        return expected_reciprocal_rank(ranked, measure)
    if kind == RANK_BIASED_PRECISION:
        return rank_biased_precision(ranked, measure)
    if kind == BPREF:
        return binary_preference(ranked, measure)
    if kind == AUC:
        return auc_at_k(ranked, measure)
    if kind == INTERPOLATED_PRECISION:
        return interpolated_precision(ranked, measure)
    if kind == N_RETRIEVED:
        return <double>ranked.n_rows
    if kind == N_RELEVANT:
        return <double>count_relevant(ranked, measure.level)
    if kind == N_RELEVANT_RETRIEVED:
        return <double>count_relevant_positives(ranked, 0, ranked.n_positives, measure.level)
    return precision_or_recall(ranked, measure)
