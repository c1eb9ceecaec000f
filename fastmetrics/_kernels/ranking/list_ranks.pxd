"""Ranks one list: the position of every row with a gain among all rows of the list.

A list is the rows of one group. A row with a gain is called a positive. For each positive the measures need only the
number of rows above it and the number of rows that tie with it. So only positives are sorted. The other rows are
compared with all positives if these are few, which vectorizes, and otherwise by binary search among them.

Rows without a gain are judged (grade 0) or unjudged (negative grade); only bpref distinguishes them. Items that were
judged but not retrieved have a grade and no score. They belong to the ideal list and to the totals only.

Positives are sorted by score, descending, and tied ones by grade, descending. Results therefore depend only on the
rows, not on their order. -0.0 ties with 0.0. The caller has rejected NaN.

With TIES_AVERAGE ties are kept, and measures are expected values. With the other rules `resolve_by_grade` or
`resolve_by_rows` gives each positive its own position.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memset

from fastmetrics._kernels.columns.ordered_bits cimport sort_key_f32, sort_key_f64
from fastmetrics._kernels.sweep.rank_table cimport sort_keys

cdef extern from "ranking/rank_counts.h":
    void count_above_f32 "fm_count_above_f32"(
        const float* few, Py_ssize_t n_few, const float* many, Py_ssize_t n_many, int64_t* above, int64_t* tied
    ) noexcept nogil
    enum:
        FM_SHORT
    void short_ranks "fm_short_ranks"(const double* values, Py_ssize_t n, int32_t* ranks) noexcept nogil
    bint is_descending "fm_is_descending"(const double* values, Py_ssize_t n) noexcept nogil
    int64_t greatest_whole_grade "fm_greatest_whole_grade"(
        const double* grades, Py_ssize_t n, double most
    ) noexcept nogil
    int64_t count_equal "fm_count_equal"(const double* values, Py_ssize_t n, double value) noexcept nogil
    int64_t widen_f32_scores "fm_widen_f32_scores"(const float* values, Py_ssize_t n, double* out) noexcept nogil
    int64_t widen_f64_scores "fm_widen_f64_scores"(const double* values, Py_ssize_t n, double* out) noexcept nogil
    int64_t widen_u8_grades "fm_widen_u8_grades"(
        const uint8_t* values, Py_ssize_t n, double least, double greatest, int negative, double* out, int64_t* outside,
        int64_t most, int64_t* whole
    ) noexcept nogil
    int64_t widen_i64_grades "fm_widen_i64_grades"(
        const int64_t* values, Py_ssize_t n, double least, double greatest, int negative, double* out, int64_t* outside,
        int64_t most, int64_t* whole
    ) noexcept nogil
    int64_t widen_f32_grades "fm_widen_f32_grades"(
        const float* values, Py_ssize_t n, double least, double greatest, int negative, double* out, int64_t* outside,
        int64_t most, int64_t* whole
    ) noexcept nogil
    int64_t widen_f64_grades "fm_widen_f64_grades"(
        const double* values, Py_ssize_t n, double least, double greatest, int negative, double* out, int64_t* outside,
        int64_t most, int64_t* whole
    ) noexcept nogil
    void count_above_f64 "fm_count_above_f64"(
        const double* few, Py_ssize_t n_few, const double* many, Py_ssize_t n_many, int64_t* above, int64_t* tied
    ) noexcept nogil

ctypedef fused real_t:
    float
    double

cdef enum:
    FEW_POSITIVES = 64        # up to so many positives, the other rows are compared with all of them
    PACKED_BITS = 11          # up to 2**11 float64 scores are sorted with their index in the low bits of the key
    FEW_GRADES = 6
    COUNTED_GRADES = 32       # smaller whole grades are sorted by counting
    MANY_POSITIVES = 8        # with more positives than this, all rows of a short list are sorted
    NOT_COMPUTED = -2         # value of RankedList.greatest before it is needed
    ROWS_PER_COMPARISON = 1 << 30   # of one call, whose counters have 32 bits
    WORDS_PER_ROW_OF_LIST = 16      # 64-bit words of working memory for each row of the longest list
    SPARE_WORDS = 64          # and so many more

cdef enum Ties:
    TIES_AVERAGE = 0
    TIES_OPTIMISTIC = 1       # in a tie the higher grade is first
    TIES_PESSIMISTIC = 2      # in a tie the higher grade is last
    TIES_EARLIER = 3          # the earlier row is first
    TIES_LATER = 4            # the later row is first
    TIES_KEY = 5              # the smaller key is first
    TIES_TEXT = 6             # the greater text is first, by unsigned bytes; a prefix is smaller


cdef struct TieOrder:
    # Decides between tied rows. Rows are numbered over all lists.
    int ties
    const uint64_t* keys
    const uint8_t* data
    const int64_t* starts
    const int64_t* stops


cdef struct RankedList:
    Py_ssize_t n_rows            # retrieved rows of any grade
    Py_ssize_t n_positives       # retrieved rows with a gain
    Py_ssize_t n_judged          # retrieved and judged rows without a gain
    Py_ssize_t n_unjudged        # retrieved rows that were not judged
    Py_ssize_t n_missing         # judged items without a gain that were not retrieved
    Py_ssize_t n_ideal           # items with a gain, retrieved or not
    int64_t tied_pairs           # pairs of a positive and another row that tie
    bint is_resolved             # every positive has its own position
    bint is_sorted_ideal
    int64_t greatest             # see greatest_grade
    void* scores                 # of positives, in input order
    void* judged                 # scores of judged rows without a gain
    void* unjudged               # scores of unjudged rows
    double* grades               # of positives, in input order
    double* sorted_grades        # of positives, in the order of rank
    int64_t* rows                # of positives, in input order: their row in the list
    int64_t* above               # of positives, in the order of rank: how many rows are above
    int64_t* tied                # how many rows tie with it, itself included
    int64_t* judged_above        # how many judged rows without a gain are above
    int64_t* judged_tied         # how many of them tie with it
    double* ideal                # grades of the ideal list
    int64_t* counts              # scratch
    int64_t* equal               # scratch
    uint64_t* keys               # scratch
    uint64_t* scratch
    void* sorted_scores
    int64_t* order               # of sorted positives: their index in input order


cdef inline void assign_memory(RankedList* ranked, uint64_t* memory, Py_ssize_t longest) noexcept nogil:
    """Divide `memory` into the arrays of lists of up to `longest` rows.

    It has WORDS_PER_ROW_OF_LIST words for each row, one for each judged item, and SPARE_WORDS. Pages that no list needs
    are never touched.
    """
    cdef Py_ssize_t stride = longest + 2
    ranked.scores = memory
    ranked.judged = memory + stride
    ranked.unjudged = memory + 2 * stride
    ranked.grades = <double*>(memory + 3 * stride)
    ranked.sorted_grades = <double*>(memory + 4 * stride)
    ranked.rows = <int64_t*>(memory + 5 * stride)
    ranked.above = <int64_t*>(memory + 6 * stride)
    ranked.tied = <int64_t*>(memory + 7 * stride)
    ranked.judged_above = <int64_t*>(memory + 8 * stride)
    ranked.judged_tied = <int64_t*>(memory + 9 * stride)
    ranked.counts = <int64_t*>(memory + 10 * stride)
    ranked.equal = <int64_t*>(memory + 11 * stride)
    ranked.keys = memory + 12 * stride
    ranked.scratch = memory + 13 * stride
    ranked.sorted_scores = memory + 14 * stride
    ranked.order = <int64_t*>(memory + 15 * stride)
    ranked.ideal = <double*>(memory + 16 * stride)


cdef inline uint64_t descending_key(real_t score) noexcept nogil:
    """A key whose ascending order is the descending order of scores; for float, in the low 32 bits."""
    if real_t is float:
        return <uint32_t>~sort_key_f32(score)
    else:
        return ~sort_key_f64(score)


cdef inline void sort_with_payload(
    uint64_t* keys, int64_t* order, Py_ssize_t n, uint64_t* spare_keys, int64_t* spare_order
) noexcept nogil:
    """A stable radix sort, ascending by key, over the bytes that differ; for long lists."""
    cdef Py_ssize_t i, total, count, position
    cdef Py_ssize_t counts[256]
    cdef uint64_t differing = 0
    cdef uint64_t* source = keys
    cdef uint64_t* target = spare_keys
    cdef uint64_t* swap
    cdef int64_t* source_order = order
    cdef int64_t* target_order = spare_order
    cdef int64_t* swap_order
    cdef int shift = 0
    for i in range(1, n):
        differing |= keys[i] ^ keys[0]
    while shift < 64:
        if (differing >> shift) & 255:
            for i in range(256):
                counts[i] = 0
            for i in range(n):
                counts[<Py_ssize_t>((source[i] >> shift) & 255)] += 1
            total = 0
            for i in range(256):
                count = counts[i]
                counts[i] = total
                total += count
            for i in range(n):
                position = counts[<Py_ssize_t>((source[i] >> shift) & 255)]
                counts[<Py_ssize_t>((source[i] >> shift) & 255)] += 1
                target[position] = source[i]
                target_order[position] = source_order[i]
            swap = source
            source = target
            target = swap
            swap_order = source_order
            source_order = target_order
            target_order = swap_order
        shift += 8
    if source != keys:
        for i in range(n):
            keys[i] = source[i]
            order[i] = source_order[i]


cdef inline void sort_grades(double* grades, Py_ssize_t n, uint64_t* keys, uint64_t* scratch) noexcept nogil:
    """Sort descending, in place. Grades are nearly always small whole numbers, which are sorted by counting."""
    cdef Py_ssize_t i, position
    cdef int32_t ranks[FM_SHORT]
    cdef double[FM_SHORT] moved
    cdef double value
    cdef int64_t greatest
    if n < 2:
        return
    if n <= 12:
        for i in range(1, n):
            value = grades[i]
            position = i - 1
            while position >= 0 and grades[position] < value:
                grades[position + 1] = grades[position]
                position -= 1
            grades[position + 1] = value
        return
    greatest = greatest_whole_grade(grades, n, COUNTED_GRADES - 1)
    if greatest >= 0:
        counting_sort_grades(grades, n, greatest)
        return
    if n <= FM_SHORT:
        short_ranks(grades, n, ranks)
        for i in range(n):
            moved[ranks[i]] = grades[i]
        for i in range(n):
            value = moved[i]
            position = i - 1
            while position >= 0 and grades[position] < value:
                grades[position + 1] = grades[position]
                position -= 1
            grades[position + 1] = value
        return
    for i in range(n):
        keys[i] = ~sort_key_f64(grades[i])
    # Equal keys are equal grades, except for the sign of zero. The grade is read back from the bits of its key.
    sort_keys[uint64_t](keys, n, scratch)
    for i in range(n):
        grades[i] = grade_of_key(~keys[i])


cdef inline void counting_sort_grades(double* grades, Py_ssize_t n, int64_t greatest) noexcept nogil:
    """Sort whole grades from 0 to `greatest` descending, in place, by counting them."""
    cdef Py_ssize_t i, position, stop
    cdef int64_t grade
    # Neighboring grades use different counters: adding twice to the same one would wait for the first addition.
    cdef uint32_t counts[4][COUNTED_GRADES]
    cdef int64_t ends[FEW_GRADES + 1]
    if greatest <= FEW_GRADES and n <= FM_SHORT:
        # With few grades, each is counted in one vectorized pass.
        position = 0
        for grade in range(greatest, 0, -1):
            ends[grade] = position + count_equal(grades, n, <double>grade)
            position = ends[grade]
        for i in range(position, n):
            grades[i] = 0.0
        position = 0
        for grade in range(greatest, 0, -1):
            for i in range(position, ends[grade]):
                grades[i] = <double>grade
            position = ends[grade]
        return
    memset(counts, 0, sizeof(counts))
    for i in range(n):
        counts[i & 3][<int>grades[i]] += 1
    position = 0
    for grade in range(greatest, -1, -1):
        stop = position + counts[0][grade] + counts[1][grade] + counts[2][grade] + counts[3][grade]
        for i in range(position, stop):
            grades[i] = <double>grade
        position = stop


cdef extern from *:
    """
    static inline double fm_grade_of_key(uint64_t key) {
        double grade;
        uint64_t bits = key ^ ((key >> 63) ? UINT64_C(0x8000000000000000) : ~UINT64_C(0));
        memcpy(&grade, &bits, 8);
        return grade;
    }
    """
    double grade_of_key "fm_grade_of_key"(uint64_t key) noexcept nogil


cdef inline void sort_positives(RankedList* ranked, const real_t* scores) noexcept nogil:
    """Fill order, sorted_scores and sorted_grades: by score, descending; tied positives in input order."""
    cdef Py_ssize_t i, j
    cdef Py_ssize_t n = ranked.n_positives
    cdef int64_t* order = ranked.order
    cdef uint64_t* keys = ranked.keys
    cdef real_t* sorted_scores = <real_t*>ranked.sorted_scores
    cdef real_t score
    cdef int64_t index
    cdef uint64_t mask
    if n <= 12:
        for i in range(n):
            score = scores[i]
            j = i - 1
            while j >= 0 and sorted_scores[j] < score:
                sorted_scores[j + 1] = sorted_scores[j]
                order[j + 1] = order[j]
                j -= 1
            sorted_scores[j + 1] = score
            order[j + 1] = i
    elif real_t is float:
        for i in range(n):
            keys[i] = (descending_key(scores[i]) << 32) | <uint64_t>i
        sort_keys[uint64_t](keys, n, ranked.scratch)
        for i in range(n):
            order[i] = <int64_t>(keys[i] & 0xFFFFFFFFu)
            sorted_scores[i] = scores[order[i]]
    elif n <= 1 << PACKED_BITS:
        # The last bits of a key hold the index. Scores that differ only in these bits are put in order afterwards.
        mask = (<uint64_t>1 << PACKED_BITS) - 1
        for i in range(n):
            keys[i] = (descending_key(scores[i]) & ~mask) | <uint64_t>i
        sort_keys[uint64_t](keys, n, ranked.scratch)
        for i in range(n):
            index = <int64_t>(keys[i] & mask)
            score = scores[index]
            j = i - 1
            while j >= 0 and sorted_scores[j] < score:
                sorted_scores[j + 1] = sorted_scores[j]
                order[j + 1] = order[j]
                j -= 1
            sorted_scores[j + 1] = score
            order[j + 1] = index
    else:
        for i in range(n):
            keys[i] = descending_key(scores[i])
            order[i] = i
        sort_with_payload(keys, order, n, ranked.scratch, ranked.counts)
        for i in range(n):
            sorted_scores[i] = scores[order[i]]
    for i in range(n):
        ranked.sorted_grades[i] = ranked.grades[order[i]]


cdef inline Py_ssize_t count_greater(const real_t* sorted_scores, Py_ssize_t n, real_t score) noexcept nogil:
    """How many of the scores, which are sorted descending, are greater than `score`."""
    cdef Py_ssize_t base = 0
    cdef Py_ssize_t length = n
    cdef Py_ssize_t half
    while length > 0:
        half = (length + 1) >> 1
        base += half if sorted_scores[base + half - 1] > score else 0
        length -= half
    return base


cdef inline void compare_with_all(
    const real_t* few, Py_ssize_t n_few, const real_t* many, Py_ssize_t n_many, int64_t* above, int64_t* tied
) noexcept nogil:
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t length
    while start < n_many:
        length = min(n_many - start, ROWS_PER_COMPARISON)
        if real_t is float:
            count_above_f32(few, n_few, many + start, length, above, tied)
        else:
            count_above_f64(few, n_few, many + start, length, above, tied)
        start += length


cdef inline void count_others(
    RankedList* ranked, const real_t* others, Py_ssize_t n_others, int64_t* above, int64_t* tied
) noexcept nogil:
    """Add to above and tied, for every sorted positive, the other rows that are above it and that tie with it."""
    cdef Py_ssize_t i, position, first, last
    cdef Py_ssize_t n = ranked.n_positives
    cdef const real_t* positives = <const real_t*>ranked.sorted_scores
    cdef int64_t* between = ranked.counts
    cdef int64_t* equal = ranked.equal
    cdef int64_t total = 0
    cdef real_t score
    if n == 0 or n_others == 0:
        return
    if n <= FEW_POSITIVES:
        compare_with_all(positives, n, others, n_others, above, tied)
        return
    for i in range(n + 1):
        between[i] = 0
        equal[i] = 0
    for i in range(n_others):
        score = others[i]
        position = count_greater(positives, n, score)
        if position < n and positives[position] == score:
            equal[position] += 1
        else:
            between[position] += 1
    first = 0
    while first < n:
        last = first + 1
        while last < n and positives[last] == positives[first]:
            last += 1
        total += between[first]
        for i in range(first, last):
            above[i] += total
            tied[i] += equal[first]
        total += equal[first]
        first = last


cdef inline void rank_list(RankedList* ranked, const real_t* scores, bint judged_apart) noexcept nogil:
    """Rank the positives of a list. `scores` are those of the positives.

    judged_above and judged_tied are computed only if `judged_apart`.
    """
    cdef Py_ssize_t i
    sort_positives(ranked, scores)
    for i in range(ranked.n_positives):
        ranked.above[i] = 0
        ranked.tied[i] = 0
    count_others(ranked, <const real_t*>ranked.judged, ranked.n_judged, ranked.above, ranked.tied)
    if judged_apart:
        for i in range(ranked.n_positives):
            ranked.judged_above[i] = ranked.above[i]
            ranked.judged_tied[i] = ranked.tied[i]
    count_others(ranked, <const real_t*>ranked.unjudged, ranked.n_unjudged, ranked.above, ranked.tied)
    add_positive_ranks(ranked, <const real_t*>ranked.sorted_scores)


cdef inline void add_positive_ranks(RankedList* ranked, const real_t* sorted_scores) noexcept nogil:
    """Add the positives to above and tied, in which the other rows are already counted; count tied pairs."""
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t j, first
    ranked.tied_pairs = 0
    ranked.is_resolved = True
    ranked.is_sorted_ideal = False
    while i < ranked.n_positives:
        first = i
        i += 1
        while i < ranked.n_positives and sorted_scores[i] == sorted_scores[first]:
            i += 1
        if i - first > 1 or ranked.tied[first]:
            ranked.is_resolved = False
            ranked.tied_pairs += (i - first) * (ranked.tied[first] + i - first - 1)
        for j in range(first, i):
            ranked.above[j] += first
            ranked.tied[j] += i - first


cdef inline void rank_short(RankedList* ranked, const double* scores, const double* grades) noexcept nogil:
    """As rank_list, for at most FM_SHORT rows: all rows are sorted, not only positives.

    This is faster if many rows have a gain, and has no branches on the data. It fills sorted_grades, above and tied,
    but not rows and order.
    """
    cdef Py_ssize_t i, j, first, last
    cdef Py_ssize_t n = ranked.n_rows
    cdef Py_ssize_t n_positives = 0
    cdef int32_t ranks[FM_SHORT]
    cdef int32_t ends[FM_SHORT]
    cdef double[FM_SHORT] sorted_scores
    cdef double[FM_SHORT] sorted_grades
    cdef double score, grade
    short_ranks(scores, n, ranks)
    for i in range(n):
        sorted_scores[ranks[i]] = scores[i]
        sorted_grades[ranks[i]] = grades[i]
    ranked.tied_pairs = 0
    ranked.is_resolved = True
    ranked.is_sorted_ideal = False
    if is_descending(sorted_scores, n):
        for i in range(n):
            ranked.sorted_grades[n_positives] = sorted_grades[i]
            ranked.above[n_positives] = i
            ranked.tied[n_positives] = 1
            n_positives += sorted_grades[i] != 0
        ranked.n_positives = n_positives
        return
    for i in range(1, n):
        score = sorted_scores[i]
        if sorted_scores[i - 1] >= score:
            continue
        grade = sorted_grades[i]
        j = i - 1
        while j >= 0 and sorted_scores[j] < score:
            sorted_scores[j + 1] = sorted_scores[j]
            sorted_grades[j + 1] = sorted_grades[j]
            j -= 1
        sorted_scores[j + 1] = score
        sorted_grades[j + 1] = grade
    # The ends of ties, in arithmetic without branches: where ties begin is not predictable.
    last = n
    for i in range(n - 1, 0, -1):
        ends[i] = <int32_t>last
        last += (i - last) & -<Py_ssize_t>(sorted_scores[i] != sorted_scores[i - 1])
    ends[0] = <int32_t>last
    first = 0
    for i in range(n):
        first += (i - first) & -<Py_ssize_t>(sorted_scores[i] != sorted_scores[max(i - 1, 0)])
        ranked.sorted_grades[n_positives] = sorted_grades[i]
        ranked.above[n_positives] = first
        ranked.tied[n_positives] = ends[i] - first
        ranked.tied_pairs += (ends[i] - first - 1) & -<int64_t>(sorted_grades[i] != 0)
        n_positives += sorted_grades[i] != 0
    ranked.n_positives = n_positives
    ranked.is_resolved = ranked.tied_pairs == 0


cdef inline void sort_tied_grades(RankedList* ranked) noexcept nogil:
    """Sort the grades of positives that tie, descending. Do not use it if ties are resolved by rows.

    The sum of the gains of a tie then does not depend on the order of rows. Sums of small whole numbers never do.
    """
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t first
    while i < ranked.n_positives:
        first = i
        while i < ranked.n_positives and ranked.above[i] == ranked.above[first]:
            i += 1
        sort_grades(ranked.sorted_grades + first, i - first, ranked.keys, ranked.scratch)


cdef inline int64_t greatest_grade(RankedList* ranked) noexcept nogil:
    """The greatest grade of the ideal list if all are small whole numbers, else -1; computed once for a list."""
    if ranked.greatest == NOT_COMPUTED:
        ranked.greatest = greatest_whole_grade(ranked.ideal, ranked.n_ideal, COUNTED_GRADES - 1)
    return ranked.greatest


cdef inline void sort_ideal(RankedList* ranked) noexcept nogil:
    """Sort the ideal list, at most once for a list."""
    if ranked.is_sorted_ideal:
        return
    if ranked.n_ideal > 12 and greatest_grade(ranked) >= 0:
        counting_sort_grades(ranked.ideal, ranked.n_ideal, ranked.greatest)
    else:
        sort_grades(ranked.ideal, ranked.n_ideal, ranked.keys, ranked.scratch)
    ranked.is_sorted_ideal = True


cdef inline bint comes_before(const TieOrder* order, int64_t one, int64_t other) noexcept nogil:
    """Is row `one` above row `other` if their scores tie? Rows are numbered over all lists."""
    cdef Py_ssize_t length, other_length, shorter
    cdef int found
    if order.ties == TIES_EARLIER:
        return one < other
    if order.ties == TIES_LATER:
        return one > other
    if order.ties == TIES_KEY:
        return order.keys[one] < order.keys[other]
    length = order.stops[one] - order.starts[one]
    other_length = order.stops[other] - order.starts[other]
    shorter = min(length, other_length)
    found = memcmp(order.data + order.starts[one], order.data + order.starts[other], <size_t>shorter)
    return found > 0 if found else length > other_length


cdef inline void resolve_by_grade(RankedList* ranked, bint highest_first) noexcept nogil:
    """Give every positive the best (or the worst) position that its tie allows, higher grades before (or after) lower
    ones."""
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t j, first, n
    cdef double grade
    sort_tied_grades(ranked)
    while i < ranked.n_positives:
        first = i
        while i < ranked.n_positives and ranked.above[i] == ranked.above[first]:
            i += 1
        n = i - first
        if ranked.tied[first] == 1:
            continue
        if not highest_first:
            for j in range(n // 2):
                grade = ranked.sorted_grades[first + j]
                ranked.sorted_grades[first + j] = ranked.sorted_grades[i - 1 - j]
                ranked.sorted_grades[i - 1 - j] = grade
        for j in range(i - 1, first - 1, -1):
            ranked.above[j] = ranked.above[first] + (j - first) + (0 if highest_first else ranked.tied[first] - n)
            if not highest_first:
                ranked.judged_above[j] += ranked.judged_tied[j]
            ranked.judged_tied[j] = 0
        for j in range(first, i):
            ranked.tied[j] = 1
    ranked.is_resolved = True


cdef inline void sort_tie(
    int64_t* rows, double* grades, Py_ssize_t n, const TieOrder* order, int64_t base, int64_t* spare_rows,
    double* spare_grades
) noexcept nogil:
    """Sort the positives of one tie, best first. Merge sort, as comparing texts may be slow and ties may be long."""
    cdef Py_ssize_t width = 1
    cdef Py_ssize_t start, middle, stop, i, j, out
    cdef int64_t* source = rows
    cdef int64_t* target = spare_rows
    cdef int64_t* swap
    cdef double* source_grades = grades
    cdef double* target_grades = spare_grades
    cdef double* swap_grades
    while width < n:
        start = 0
        while start < n:
            middle = min(start + width, n)
            stop = min(middle + width, n)
            i = out = start
            j = middle
            while i < middle or j < stop:
                if j >= stop or (i < middle and not comes_before(order, base + source[j], base + source[i])):
                    target[out] = source[i]
                    target_grades[out] = source_grades[i]
                    i += 1
                else:
                    target[out] = source[j]
                    target_grades[out] = source_grades[j]
                    j += 1
                out += 1
            start = stop
        swap = source
        source = target
        target = swap
        swap_grades = source_grades
        source_grades = target_grades
        target_grades = swap_grades
        width *= 2
    if source != rows:
        for i in range(n):
            rows[i] = source[i]
            grades[i] = source_grades[i]


cdef inline void resolve_by_rows(
    RankedList* ranked, const real_t* scores, const uint8_t* kinds, Py_ssize_t n, const TieOrder* order, int64_t base
) noexcept nogil:
    """Resolve ties by `order`. `scores` are those of all rows of the list. kinds[row] is 0 for a judged row without a
    gain, 1 for a positive, 2 for an unjudged row. The first row of the list is row `base` of all lists."""
    cdef Py_ssize_t i, j, first, low, half, length
    cdef const real_t* positives = <const real_t*>ranked.sorted_scores
    cdef int64_t* rows = ranked.order
    cdef int64_t* others = ranked.counts
    cdef int64_t* judged = ranked.equal
    cdef int64_t total, total_judged, above, judged_above
    cdef Py_ssize_t n_positives = ranked.n_positives
    for i in range(n_positives):
        rows[i] = ranked.rows[rows[i]]
        others[i] = 0
        judged[i] = 0
    i = 0
    while i < n_positives:
        first = i
        while i < n_positives and ranked.above[i] == ranked.above[first]:
            i += 1
        sort_tie(rows + first, ranked.sorted_grades + first, i - first, order, base, <int64_t*>ranked.keys,
                 <double*>ranked.scratch)
    for i in range(n):
        if kinds[i] == 1:
            continue
        first = count_greater(positives, n_positives, scores[i])
        if first == n_positives or positives[first] != scores[i]:
            continue
        # How many positives of the tie are above this row?
        low = first
        j = first
        while j < n_positives and positives[j] == scores[i]:
            j += 1
        length = j - first
        while length > 0:
            half = length >> 1
            if comes_before(order, base + rows[low + half], base + i):
                low += half + 1
                length -= half + 1
            else:
                length = half
        if low < j:
            others[low] += 1
            judged[low] += kinds[i] == 0
    i = 0
    while i < n_positives:
        first = i
        above = ranked.above[first]
        judged_above = ranked.judged_above[first]
        total = 0
        total_judged = 0
        while i < n_positives and (i == first or positives[i] == positives[first]):  # a score may be NaN by now
            total += others[i]
            total_judged += judged[i]
            ranked.above[i] = above + (i - first) + total
            ranked.judged_above[i] = judged_above + total_judged
            ranked.tied[i] = 1
            ranked.judged_tied[i] = 0
            i += 1
    ranked.is_resolved = True
