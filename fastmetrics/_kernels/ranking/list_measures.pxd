"""The measures of one ranked list (ranklists.pxd), each a walk over its positives in the order of rank.

Positives that tie share `above` (rows strictly above) and `tied` (rows of the tie). Where ties are not resolved, a
measure is its expected value over all orders of the tied rows, each equally likely, in closed form. With a rows above
the tie, t rows in it, r of them relevant, and c = min(t, k - a) of its places within the cutoff k:

- what is a sum over rows of gain times a weight of the rank (DCG, P, R, RBP, sum rel/rank): a row's expected weight is
  the mean weight of the tie's places;
- hit rate: no hit in c places has the hypergeometric probability C(t - r, c) / C(t, c);
- reciprocal rank: place i + 1 of the first tie with relevant rows holds its first one with probability
  C(t - i - 1, r - 1) / C(t, r) (F. McSherry and M. Najork, 2008, Computing information retrieval performance measures
  efficiently in the presence of tied scores, ECIR);
- average precision: place i (1 <= i <= c) is relevant with probability r / t, and then (i - 1)(r - 1) / (t - 1) of the
  places before it in the tie are, too (same source);
- ERR: the mean over all j-subsets of a tie of the product of 1 - R, made row by row;
- bpref: a relevant row among u tied judged non-relevant ones has 0, 1, ... u of them above with equal probability.

A measure of a list without a relevant row (for NDCG: without a gain) is NaN; what is made of it is for the caller.
Counts are int64; with less than 2**31 rows in a list, products of two of them fit.
"""

from libc.math cimport NAN, exp2, log, log2, pow
from libc.stdint cimport int64_t

from fastmetrics._kernels.ranklists cimport RankedList, sort_ideal

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
    RANKS_OF_MARK = 64        # between two sums of weights that are kept, beyond the first ones
    MEASURE_FIELDS = 5        # kind, k (0: none), gain, ideal by k, normalize or short list by length
    MEASURE_NUMBERS = 2       # relevance level, p of RBP or greatest grade of ERR or recall of interpolated precision


cdef struct Measure:
    Kind kind
    int64_t k
    int gain
    bint ideal_k
    int option
    double level
    double number


cdef struct Discounts:
    # Those of the first ranks are kept. Of further ones, with a logarithm of base 2, every RANKS_OF_MARK-th sum is.
    const double* weights        # of rank i + 1
    const double* sums           # of the first i weights, each in two parts; then the marks
    int64_t n_weights


cdef inline void add_weight(double* total, double* rest, double weight) noexcept nogil:
    """A sum in two parts and one weight more: two sums without an error, of total and weight, then of the two rests."""
    cdef double larger = total[0] + weight
    cdef double part = larger - total[0]
    rest[0] += (total[0] - (larger - part)) + (weight - part)
    total[0] = larger + rest[0]
    rest[0] += larger - total[0]


cdef inline double weight_at(const Discounts* discounts, int64_t place) noexcept nogil:
    """The weight of rank place + 1."""
    return discounts.weights[place] if place < discounts.n_weights else 1.0 / log2(<double>(place + 2))


cdef inline void sum_at(const Discounts* discounts, int64_t n, double* total, double* rest) noexcept nogil:
    """The sum of the first n weights, in two parts: as if all sums were kept, to the bit."""
    cdef int64_t beyond = max(0, n - discounts.n_weights)
    cdef int64_t mark = min(n, discounts.n_weights) + beyond // RANKS_OF_MARK
    cdef int64_t place
    total[0] = discounts.sums[2 * mark]
    rest[0] = discounts.sums[2 * mark + 1]
    for place in range(n - beyond % RANKS_OF_MARK, n):
        add_weight(total, rest, 1.0 / log2(<double>(place + 2)))


cdef inline double gain_of(double grade, const Measure* measure) noexcept nogil:
    if measure.gain == GAIN_BINARY:
        return 1.0 if grade >= measure.level else 0.0
    if measure.gain == GAIN_EXP2:
        if 0 <= grade < 63 and grade == <double><int64_t>grade:
            return <double>((<int64_t>1 << <int64_t>grade) - 1)
        return exp2(grade) - 1.0
    return grade


cdef inline int64_t cutoff(const Measure* measure, int64_t n) noexcept nogil:
    return min(measure.k, n) if measure.k else n


cdef inline Py_ssize_t tie_end(const RankedList* ranked, Py_ssize_t first) noexcept nogil:
    cdef Py_ssize_t i = first + 1
    while i < ranked.n_positives and ranked.above[i] == ranked.above[first]:
        i += 1
    return i


cdef inline Py_ssize_t relevant_in(
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
    """The mean weight of the places above + 1 .. above + tied; places beyond k weigh nothing."""
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
    """The sum of gains by the weights of their places (NULL: one after the other), as four sums side by side."""
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


cdef inline double discounted_gain(
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
        last = tie_end(ranked, i)
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
        last = tie_end(ranked, i)
        gain = 0.0
        for j in range(i, last):
            gain += gain_of(ranked.sorted_grades[j], measure)
        inside = min(ranked.tied[i], k - ranked.above[i])
        total += gain if inside == ranked.tied[i] else gain * (<double>inside / <double>ranked.tied[i])
        i = last
    return total


cdef inline double ideal_gain(RankedList* ranked, const Measure* measure, const Discounts* discounts) noexcept nogil:
    """IDCG: the DCG of the best order, or of k gains of one."""
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


cdef inline double normalised_gain(
    RankedList* ranked, const Measure* measure, const Discounts* discounts
) noexcept nogil:
    """NDCG. A list in its best order gives exactly 1: both sums then add the same terms in the same order."""
    cdef Py_ssize_t i = 0
    cdef double ideal, ratio
    while i < ranked.n_ideal and not gain_of(ranked.ideal[i], measure) > 0.0:
        i += 1
    if i == ranked.n_ideal:
        return NAN
    ideal = ideal_gain(ranked, measure, discounts)
    ratio = discounted_gain(ranked, measure, discounts) / ideal
    # No order is better than the ideal one; expected values of ties may round to more.
    return 1.0 if ratio > 1.0 and not measure.ideal_k else ratio


cdef inline double expected_hits(const RankedList* ranked, double level, int64_t k) noexcept nogil:
    """Relevant rows among the first k."""
    cdef Py_ssize_t i, last, relevant
    cdef int64_t inside
    cdef int64_t whole = 0
    cdef double part = 0.0
    i = 0
    while i < ranked.n_positives and ranked.above[i] < k:
        last = tie_end(ranked, i)
        relevant = relevant_in(ranked, i, last, level)
        inside = min(ranked.tied[i], k - ranked.above[i])
        if inside == ranked.tied[i]:
            whole += relevant
        else:
            part = <double>(relevant * inside) / <double>ranked.tied[i]
        i = last
    return <double>whole + part


cdef inline double tied_precision(
    int64_t above, int64_t tied, int64_t relevant, int64_t relevant_above, int64_t inside
) noexcept nogil:
    """Expected sum of the precisions at the relevant ones of the tie's first `inside` places."""
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
    """Expected (sum of precisions) / hits, where a tie of which `inside` places count decides both.

    Given h hits among the places inside, each place is one with probability h / inside. Probabilities of h are taken
    from the most likely one outwards, so nothing underflows.
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
        last = tie_end(ranked, i)
        relevant = relevant_in(ranked, i, last, measure.level)
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
    cdef int64_t relevant, tied, above, place
    cdef double probability
    cdef double total = 0.0
    if count_relevant(ranked, measure.level) == 0:
        return NAN
    i = 0
    while i < ranked.n_positives and ranked.above[i] < k:
        last = tie_end(ranked, i)
        relevant = relevant_in(ranked, i, last, measure.level)
        if relevant:
            above = ranked.above[i]
            tied = ranked.tied[i]
            probability = <double>relevant / <double>tied
            for place in range(min(tied - relevant + 1, k - above)):
                total += probability / <double>(above + place + 1)
                if place + 1 < tied:
                    probability *= <double>(tied - place - relevant) / <double>(tied - place - 1)
            return total
        i = last
    return 0.0


cdef inline double sum_of_reciprocal_ranks(const RankedList* ranked, const Measure* measure) noexcept nogil:
    """sum(rel / rank) / sum(rel)."""
    cdef Py_ssize_t i, j, last
    cdef int64_t k = cutoff(measure, ranked.n_rows)
    cdef int64_t place
    cdef double total = 0.0
    cdef double all_gains = 0.0
    cdef double gain, weight
    for i in range(ranked.n_ideal):
        all_gains += gain_of(ranked.ideal[i], measure)
    if all_gains <= 0.0:
        return NAN
    i = 0
    while i < ranked.n_positives and ranked.above[i] < k:
        last = tie_end(ranked, i)
        gain = 0.0
        for j in range(i, last):
            gain += gain_of(ranked.sorted_grades[j], measure)
        weight = 0.0
        for place in range(ranked.above[i], min(ranked.above[i] + ranked.tied[i], k)):
            weight += 1.0 / <double>(place + 1)
        total += gain * (weight / <double>ranked.tied[i])
        i = last
    return total / all_gains


cdef inline double hit(const RankedList* ranked, const Measure* measure) noexcept nogil:
    """Is any of the first k relevant?"""
    cdef Py_ssize_t i, last
    cdef int64_t k = cutoff(measure, ranked.n_rows)
    cdef int64_t relevant, tied, inside, place
    cdef double none = 1.0
    if count_relevant(ranked, measure.level) == 0:
        return NAN
    i = 0
    while i < ranked.n_positives and ranked.above[i] < k:
        last = tie_end(ranked, i)
        relevant = relevant_in(ranked, i, last, measure.level)
        if relevant:
            tied = ranked.tied[i]
            inside = min(tied, k - ranked.above[i])
            if inside > tied - relevant:
                return 1.0
            for place in range(min(inside, relevant)):
                none *= <double>(tied - max(inside, relevant) - place) / <double>(tied - place)
            return 1.0 - none
        i = last
    return 0.0


cdef inline double at_the_top(const RankedList* ranked, const Measure* measure) noexcept nogil:
    """Precision, recall, their F1, hits, or precision at R."""
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
    """ERR: 1 / rank where a user stops who stops at a row of grade g with probability (2^g - 1) / 2^greatest."""
    cdef Py_ssize_t i, j, last
    cdef int64_t k = cutoff(measure, ranked.n_rows)
    cdef int64_t above, tied, longest, place, held
    cdef double going_on = 1.0      # the probability to get as far as this tie
    cdef double total = 0.0
    cdef double stops, stopping, share
    cdef double scale = exp2(-measure.number)
    # The mean over all subsets of so many of the tie's rows of their product of 1 - R. The scratch of keys has room.
    cdef double* product = <double*>ranked.counts
    if count_relevant(ranked, measure.level) == 0:
        return NAN
    i = 0
    while i < ranked.n_positives and ranked.above[i] < k:
        last = tie_end(ranked, i)
        above = ranked.above[i]
        tied = ranked.tied[i]
        if tied == 1:
            stops = (exp2(ranked.sorted_grades[i]) - 1.0) * scale
            total += going_on * stops / <double>(above + 1)
            going_on *= 1.0 - stops
            i = last
            continue
        stopping = 0.0
        for j in range(i, last):
            stopping += (exp2(ranked.sorted_grades[j]) - 1.0) * scale
        # Products of more rows than this are below 1e-18 (Maclaurin's inequality).
        longest = min(tied, k - above)
        share = stopping / <double>tied
        if share < 1.0 and -log(1.0 - share) * <double>longest > 42.0:
            longest = min(longest, <int64_t>(42.0 / -log(1.0 - share)) + 2)
        for place in range(longest + 1):
            product[place] = 1.0
        held = tied - (last - i)
        for j in range(i, last):
            stops = (exp2(ranked.sorted_grades[j]) - 1.0) * scale
            held += 1
            for place in range(min(longest, held), 0, -1):
                share = <double>place / <double>held
                product[place] = (1.0 - share) * product[place] + share * (1.0 - stops) * product[place - 1]
        for place in range(longest):
            total += going_on * (product[place] - product[place + 1]) / <double>(above + place + 1)
        for j in range(i, last):
            going_on *= 1.0 - (exp2(ranked.sorted_grades[j]) - 1.0) * scale
        i = last
    return total


cdef inline double rank_biased_precision(const RankedList* ranked, const Measure* measure) noexcept nogil:
    """RBP: (1 - p) times the sum of gain p^(rank - 1)."""
    cdef Py_ssize_t i, j, last
    cdef int64_t k = cutoff(measure, ranked.n_rows)
    cdef int64_t above, end
    cdef double p = measure.number
    cdef double total = 0.0
    cdef double gain
    if count_relevant(ranked, measure.level) == 0:
        return NAN
    i = 0
    while i < ranked.n_positives and ranked.above[i] < k:
        last = tie_end(ranked, i)
        above = ranked.above[i]
        end = min(above + ranked.tied[i], k)
        gain = 0.0
        for j in range(i, last):
            gain += gain_of(ranked.sorted_grades[j], measure)
        if ranked.tied[i] == 1:
            total += gain * (1.0 - p) * pow(p, <double>above)
        else:
            total += gain * (pow(p, <double>above) - pow(p, <double>end)) / <double>ranked.tied[i]
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
    """bpref, as trec_eval: judged rows that are not relevant, above a relevant one, count up to R of them."""
    cdef Py_ssize_t i, last, relevant
    cdef int64_t n_relevant = count_relevant(ranked, measure.level)
    cdef int64_t n_other = ranked.n_judged + ranked.n_missing + ranked.n_ideal - n_relevant
    cdef int64_t bound = min(n_relevant, n_other)
    cdef int64_t above, tied
    cdef int64_t below_level = 0      # positives that are not relevant, in the ties above
    cdef double total = 0.0
    if n_relevant == 0:
        return NAN
    i = 0
    while i < ranked.n_positives:
        last = tie_end(ranked, i)
        relevant = relevant_in(ranked, i, last, measure.level)
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


cdef inline double limited_auc(const RankedList* ranked, const Measure* measure) noexcept nogil:
    """AUC of the list's rows, all below rank k tied."""
    cdef Py_ssize_t i, last
    cdef int64_t n = ranked.n_rows
    cdef int64_t k = cutoff(measure, n)
    cdef int64_t n_relevant = relevant_in(ranked, 0, ranked.n_positives, measure.level)
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
    # What no positive's tie covers is decided by counts alone: others inside the top lose to relevant rows above them.
    while i < ranked.n_positives and ranked.above[i] + ranked.tied[i] <= k:
        last = tie_end(ranked, i)
        relevant = relevant_in(ranked, i, last, measure.level)
        above = ranked.above[i]
        tied = ranked.tied[i]
        other = tied - relevant
        other_below = n_other - (above - relevant_above) - other
        twice_won += 2 * relevant * other_below + relevant * other
        relevant_above += relevant
        i = last
    won = 0.5 * <double>twice_won
    if i < ranked.n_positives and ranked.above[i] < k:
        # A tie across the cutoff: a share `inside` of its places is above.
        last = tie_end(ranked, i)
        relevant = relevant_in(ranked, i, last, measure.level)
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
        # The rest begins behind rank k, inside a tie of others or between ties: others above it beat nobody below.
        rest_relevant = n_relevant - relevant_above
        rest_other = n - k - rest_relevant
        won += 0.5 * (<double>rest_relevant * <double>rest_other)
    return won / (<double>n_relevant * <double>n_other)


cdef inline double interpolated_precision(const RankedList* ranked, const Measure* measure) noexcept nogil:
    """The greatest precision at a rank where recall is at least so much; ties are to be resolved."""
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
    """A measure of a ranked list; NaN where it has nothing relevant."""
    cdef Kind kind = measure.kind
    if kind == NDCG:
        return normalised_gain(ranked, measure, discounts)
    if kind == DCG:
        return discounted_gain(ranked, measure, discounts)
    if kind == IDCG:
        return ideal_gain(ranked, measure, discounts)
    if kind == CUMULATIVE_GAIN:
        return cumulative_gain(ranked, measure)
    if kind == AVERAGE_PRECISION:
        return average_precision(ranked, measure)
    if kind == RECIPROCAL_RANK:
        return reciprocal_rank(ranked, measure)
    if kind == SUM_OF_RECIPROCAL_RANKS:
        return sum_of_reciprocal_ranks(ranked, measure)
    if kind == HIT:
        return hit(ranked, measure)
    if kind == EXPECTED_RECIPROCAL_RANK:
        return expected_reciprocal_rank(ranked, measure)
    if kind == RANK_BIASED_PRECISION:
        return rank_biased_precision(ranked, measure)
    if kind == BPREF:
        return binary_preference(ranked, measure)
    if kind == AUC:
        return limited_auc(ranked, measure)
    if kind == INTERPOLATED_PRECISION:
        return interpolated_precision(ranked, measure)
    if kind == N_RETRIEVED:
        return <double>ranked.n_rows
    if kind == N_RELEVANT:
        return <double>count_relevant(ranked, measure.level)
    if kind == N_RELEVANT_RETRIEVED:
        return <double>relevant_in(ranked, 0, ranked.n_positives, measure.level)
    return at_the_top(ranked, measure)
