"""Bootstrap replicates of weighted rows: 64 replicates sweep rows in descending order of score, with exact sums.

A row is a code (see replicate_batch.h) and a weight, positive and finite. In a replicate, the weight counts as often as
the unit bucket of the row occurs. Sums are integers of 128 bits in units of 2**unit_exponent (`wide_weights.pxd`).

The negatives between two ties with positives are added together (weighted_batch.h), and so are the rows of such a tie.
At the end of a tie every replicate does what its statistic needs: a product of sums for pairs and for the extremes
of D, a quotient for precisions.

Layout. Sums of a batch are (class, word, replicate): low and high words of the negatives, then of the positives. No sum
exceeds 2**127 units, which the caller has checked for rows of the greatest weight, so products of two sums and their
doubles stay below 2**256.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memset

from fastmetrics._kernels.numeric.superaccumulator cimport CHUNK, STATE_SIZE, add_chunk, normalize
from fastmetrics._kernels.resampling.weighted_batch cimport (
    FM_LAST_OF_TIE, FM_LIMBS, FM_POSITIVE, FM_REPLICATES, FM_UNIT_BUCKET, TERMS, Batch, PrecisionTerms, add,
    add_rows_to_sums, add_sums, end_of_tie, is_zero, load, sweep_rows, sweep_tie, take_limbs,
)
from fastmetrics._kernels.sweep.wide_weights cimport (
    Wide, add_product, add_to_extremes, compare, multiply, precision_term, scale_of_unit, sum_of, units_of,
)

cdef enum:
    RATE_ROWS = 1024  # rows after which the crossing of the error rates is looked for
    PAIR_WORDS = 4
    EXTREME_WORDS = 12
    CROSSING_WORDS = 9
    UNCERTAIN_WORDS = 7

PAIR_STATE_WORDS = PAIR_WORDS
EXTREME_STATE_WORDS = EXTREME_WORDS
CROSSING_STATE_WORDS = CROSSING_WORDS
LAST_OF_TIE_FLAG = FM_LAST_OF_TIE
TERMS_PER_REPLICATE = TERMS
UNCERTAIN_SIZE = UNCERTAIN_WORDS


# ---- Sums ----


cdef inline void start_batch(
    Batch* batch, int unit_exponent, int n_limbs, const uint8_t[:, ::1] weights, uint64_t* above
) noexcept nogil:
    batch.unit_exponent = unit_exponent
    batch.unit = scale_of_unit(unit_exponent)
    batch.n_limbs = n_limbs
    batch.weights = &weights[0, 0]
    batch.above = above
    batch.totals = NULL
    batch.state = NULL
    memset(batch.tied, 0, sizeof(batch.tied))
    memset(batch.limbs, 0, sizeof(batch.limbs))


cdef int check_sums(const uint64_t[:, :, ::1] one, const uint64_t[:, :, ::1] other) except -1:
    if not one.shape[0] == other.shape[0] == 2 or not one.shape[1] == other.shape[1] == 2:
        raise ValueError("sums must have two words for each class and replicate")
    if not one.shape[2] == other.shape[2] == FM_REPLICATES:
        raise ValueError("sums must have two words for each class and replicate")
    return 0


cdef inline int greatest_unit_bucket(const uint16_t* codes, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef int greatest = 0
    for i in range(n):
        greatest = max(greatest, <int>(codes[i] & FM_UNIT_BUCKET))
    return greatest


cdef int check_arrays(
    const uint16_t[::1] codes, const double[::1] row_weights, int n_limbs, const uint8_t[:, ::1] weights,
    uint64_t[:, :, ::1] sums
) except -1:
    if codes.shape[0] != row_weights.shape[0] or weights.shape[1] != FM_REPLICATES or not 1 <= n_limbs <= FM_LIMBS:
        raise ValueError("rows need a code and a weight each, unit buckets 64 weights, and numbers 1 to 4 limbs")
    check_sums(sums, sums)
    if codes.shape[0] and greatest_unit_bucket(&codes[0], codes.shape[0]) >= weights.shape[0]:
        raise ValueError("a row is in no unit bucket")
    return 0


cdef int check_state(uint64_t[:, ::1] state, int words) except -1:
    if state.shape[0] != FM_REPLICATES or state.shape[1] != words:
        raise ValueError("the state must have its words for every replicate")
    return 0


def add_rows(
    const uint16_t[::1] codes, const double[::1] row_weights, int unit_exponent, int n_limbs,
    const uint8_t[:, ::1] weights, uint64_t[:, :, ::1] sums
):
    """sums[class, word, replicate] += weight of the row * weight of its unit bucket, for all rows in any order."""
    cdef Batch batch
    check_arrays(codes, row_weights, n_limbs, weights, sums)
    if codes.shape[0]:
        with nogil:
            start_batch(&batch, unit_exponent, n_limbs, weights, &sums[0, 0, 0])
            add_rows_to_sums(&batch, &codes[0], &row_weights[0], codes.shape[0], &sums[0, 0, 0])


# ---- Pairs ----


cdef void add_pairs_of_negatives(Batch* batch) noexcept nogil:
    cdef int replicate
    cdef Wide negatives, positives
    for replicate in range(FM_REPLICATES):
        negatives = take_limbs(&batch.limbs[replicate], batch.n_limbs)
        if is_zero(negatives):
            continue
        positives = load(batch.above, 1, replicate)
        add_product(&batch.state[PAIR_WORDS * replicate], sum_of(positives, positives), negatives)
        add(batch.above, 0, replicate, negatives)


cdef void add_pairs_of_tie(Batch* batch) noexcept nogil:
    cdef int replicate
    cdef Wide negatives, positives, above
    for replicate in range(FM_REPLICATES):
        negatives, positives = load(batch.tied, 0, replicate), load(batch.tied, 1, replicate)
        if not is_zero(negatives):
            above = load(batch.above, 1, replicate)
            # A positive above wins, one of the tie counts half.
            add_product(&batch.state[PAIR_WORDS * replicate], sum_of(sum_of(above, above), positives), negatives)
            add(batch.above, 0, replicate, negatives)
        add(batch.above, 1, replicate, positives)


def sweep_pairs(
    const uint16_t[::1] codes, const double[::1] row_weights, int unit_exponent, int n_limbs,
    const uint8_t[:, ::1] weights, uint64_t[:, :, ::1] above, uint64_t[:, ::1] wins
):
    """Sweep a bucket: wins[replicate] is twice the weight of the pairs won, ties once, least significant word first."""
    cdef Batch batch
    check_arrays(codes, row_weights, n_limbs, weights, above)
    check_state(wins, PAIR_WORDS)
    if codes.shape[0]:
        with nogil:
            start_batch(&batch, unit_exponent, n_limbs, weights, &above[0, 0, 0])
            batch.state = &wins[0, 0]
            sweep_rows(
                &batch, &codes[0], &row_weights[0], codes.shape[0], add_pairs_of_negatives, add_pairs_of_tie)


# ---- Extremes of D ----


cdef void add_negatives_to_extremes(Batch* batch) noexcept nogil:
    cdef int replicate
    cdef Wide negatives, nothing
    nothing.low = nothing.high = 0
    for replicate in range(FM_REPLICATES):
        negatives = take_limbs(&batch.limbs[replicate], batch.n_limbs)
        if not is_zero(negatives):
            add_to_extremes(
                &batch.state[EXTREME_WORDS * replicate], negatives, nothing, load(batch.totals, 0, replicate),
                load(batch.totals, 1, replicate))


cdef void add_tie_to_extremes(Batch* batch) noexcept nogil:
    cdef int replicate
    for replicate in range(FM_REPLICATES):
        add_to_extremes(
            &batch.state[EXTREME_WORDS * replicate], load(batch.tied, 0, replicate), load(batch.tied, 1, replicate),
            load(batch.totals, 0, replicate), load(batch.totals, 1, replicate))


def sweep_extremes(
    const uint16_t[::1] codes, const double[::1] row_weights, int unit_exponent, int n_limbs,
    const uint8_t[:, ::1] weights, uint64_t[:, :, ::1] totals, uint64_t[:, ::1] extremes
):
    """Sweep a bucket: extremes[replicate] has D (wide_weights.pxd), its greatest and its least value, four words each.

    totals are those of all rows.
    """
    cdef Batch batch
    check_arrays(codes, row_weights, n_limbs, weights, totals)
    check_state(extremes, EXTREME_WORDS)
    if codes.shape[0]:
        with nogil:
            start_batch(&batch, unit_exponent, n_limbs, weights, NULL)
            batch.totals, batch.state = &totals[0, 0, 0], &extremes[0, 0]
            sweep_rows(
                &batch, &codes[0], &row_weights[0], codes.shape[0], add_negatives_to_extremes, add_tie_to_extremes)


# ---- The crossing of the error rates ----


cdef inline bint has_crossed(Wide fps, Wide tps, Wide negatives, Wide positives) noexcept nogil:
    """Is fps / negatives at least 1 - tps / positives?"""
    cdef uint64_t so_far[PAIR_WORDS]
    cdef uint64_t whole[PAIR_WORDS]
    multiply(so_far, fps, positives)
    add_product(so_far, tps, negatives)
    multiply(whole, negatives, positives)
    return compare(so_far, whole) >= 0


cdef inline void store_point(uint64_t* words, Wide fps, Wide tps) noexcept nogil:
    words[0], words[1], words[2], words[3] = fps.low, fps.high, tps.low, tps.high


cdef inline void find_crossing(
    Batch* batch, int replicate, const uint16_t* codes, const double* row_weights, Py_ssize_t n
) noexcept nogil:
    """Find the tie of these rows, which are not in `above` yet, at which the rates of a replicate cross."""
    cdef Wide sums[2]
    cdef Wide before[2]
    cdef Wide units
    cdef Wide negatives = load(batch.totals, 0, replicate)
    cdef Wide positives = load(batch.totals, 1, replicate)
    cdef uint64_t* state = &batch.state[CROSSING_WORDS * replicate]
    cdef Py_ssize_t i
    cdef int label, times
    for label in range(2):
        sums[label] = before[label] = load(batch.above, label, replicate)
    for i in range(n):
        label = (codes[i] & FM_POSITIVE) != 0
        times = batch.weights[<Py_ssize_t>(codes[i] & FM_UNIT_BUCKET) * FM_REPLICATES + replicate]
        units = units_of(row_weights[i], batch.unit_exponent)
        while times:
            sums[label] = sum_of(sums[label], units)
            times -= 1
        if not codes[i] & FM_LAST_OF_TIE:
            continue
        if has_crossed(sums[0], sums[1], negatives, positives):
            store_point(state, before[0], before[1])
            store_point(state + 4, sums[0], sums[1])
            state[8] = 1
            return
        before[0], before[1] = sums[0], sums[1]


cdef inline bint crosses_in_tie(Batch* batch, int replicate) noexcept nogil:
    """Do the rates of a replicate cross in the rows of `tied`, which are not in `above` yet?"""
    cdef Wide negatives = load(batch.totals, 0, replicate)
    cdef Wide positives = load(batch.totals, 1, replicate)
    if batch.state[CROSSING_WORDS * replicate + 8] or is_zero(negatives) or is_zero(positives):
        return 0
    return has_crossed(
        sum_of(load(batch.above, 0, replicate), load(batch.tied, 0, replicate)),
        sum_of(load(batch.above, 1, replicate), load(batch.tied, 1, replicate)), negatives, positives)


cdef inline void add_tie(Batch* batch) noexcept nogil:
    cdef int replicate, label
    for label in range(2):
        for replicate in range(FM_REPLICATES):
            add(batch.above, label, replicate, load(batch.tied, label, replicate))
    memset(batch.tied, 0, sizeof(batch.tied))


def sweep_crossing(
    const uint16_t[::1] codes, const double[::1] row_weights, int unit_exponent, int n_limbs,
    const uint8_t[:, ::1] weights, const uint64_t[:, :, ::1] totals, uint64_t[:, :, ::1] above,
    uint64_t[:, ::1] crossing
):
    """Sweep a bucket for the crossing of the error rates.

    crossing[replicate] has the weights of the negatives and of the positives before the tie of the crossing, then those
    at its end, two words each, and whether it was found. A replicate without one of the classes has none.
    """
    cdef Batch batch
    cdef Py_ssize_t n = codes.shape[0]
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t stop
    cdef int replicate
    cdef bint has_positive
    check_arrays(codes, row_weights, n_limbs, weights, above)
    check_sums(totals, above)
    check_state(crossing, CROSSING_WORDS)
    with nogil:
        start_batch(&batch, unit_exponent, n_limbs, weights, &above[0, 0, 0])
        batch.totals, batch.state = &totals[0, 0, 0], &crossing[0, 0]
        while start < n:
            stop = start
            while stop < n and stop - start < RATE_ROWS:
                stop = end_of_tie(&codes[0], stop, n, &has_positive)
            add_rows_to_sums(&batch, &codes[start], &row_weights[start], stop - start, batch.tied)
            for replicate in range(FM_REPLICATES):
                if crosses_in_tie(&batch, replicate):
                    find_crossing(&batch, replicate, &codes[start], &row_weights[start], stop - start)
            add_tie(&batch)
            start = stop


# ---- Precisions ----


cdef void add_negatives_to_sums(Batch* batch) noexcept nogil:
    add_sums(batch, 0, batch.above)


cdef inline void sum_terms(PrecisionTerms* sums, int replicate) noexcept nogil:
    """Add the terms that wait to the exact sum."""
    cdef double chunk[CHUNK]
    cdef double remainders[CHUNK]
    cdef int64_t* state = sums.states + replicate * STATE_SIZE
    cdef int i
    for i in range(sums.lengths[replicate]):
        chunk[i] = sums.terms[replicate * TERMS + i]
    add_chunk(state, chunk, sums.lengths[replicate], remainders)
    normalize(state)
    sums.lengths[replicate] = 0


cdef inline void sum_all_terms(PrecisionTerms* sums) noexcept nogil:
    cdef int replicate
    for replicate in range(FM_REPLICATES):
        if sums.lengths[replicate]:
            sum_terms(sums, replicate)


cdef void add_precisions(Batch* batch) noexcept nogil:
    """Add the tie to the sums, and the terms of the replicates that have positives in it."""
    cdef int replicate
    cdef Wide negatives, positives, tied
    cdef double* term
    cdef uint64_t* words
    cdef PrecisionTerms* sums = &batch.terms
    for replicate in range(FM_REPLICATES):
        tied = load(batch.tied, 1, replicate)
        add(batch.above, 0, replicate, load(batch.tied, 0, replicate))
        if is_zero(tied):
            continue
        add(batch.above, 1, replicate, tied)
        negatives, positives = load(batch.above, 0, replicate), load(batch.above, 1, replicate)
        term = &sums.terms[replicate * TERMS + sums.lengths[replicate]]
        if not precision_term(tied, positives, negatives, batch.unit_exponent, batch.unit, term):
            words = sums.uncertain + UNCERTAIN_WORDS * sums.n_uncertain
            words[0] = replicate
            words[1], words[2] = tied.low, tied.high
            store_point(words + 3, positives, negatives)
            sums.n_uncertain += 1
            continue
        sums.lengths[replicate] += 1
        if sums.lengths[replicate] == TERMS:
            sum_terms(sums, replicate)


cdef int check_precisions(double[:, ::1] terms, int64_t[:, ::1] states, uint64_t[:, ::1] uncertain) except -1:
    if terms.shape[0] != FM_REPLICATES or terms.shape[1] != TERMS:
        raise ValueError("there must be TERMS_PER_REPLICATE terms for every replicate")
    if states.shape[0] != FM_REPLICATES or states.shape[1] != STATE_SIZE:
        raise ValueError("there must be an exact sum for every replicate")
    if uncertain.shape[0] < FM_REPLICATES or uncertain.shape[1] != UNCERTAIN_WORDS:
        raise ValueError("there must be seven words for every uncertain precision, and at least one for each replicate")
    return 0


cdef inline void start_terms(
    PrecisionTerms* sums, double[:, ::1] terms, int64_t[:, ::1] states, uint64_t[:, ::1] uncertain
) noexcept nogil:
    sums.terms, sums.states, sums.uncertain = &terms[0, 0], &states[0, 0], &uncertain[0, 0]
    sums.n_uncertain = 0
    memset(sums.lengths, 0, sizeof(sums.lengths))


def sweep_precisions(
    const uint16_t[::1] codes, const double[::1] row_weights, Py_ssize_t start, int unit_exponent, int n_limbs,
    const uint8_t[:, ::1] weights, uint64_t[:, :, ::1] above, double[:, ::1] terms, int64_t[:, ::1] states,
    uint64_t[:, ::1] uncertain
) -> tuple[int, int]:
    """Sweep a bucket from a row on: add for every score with positives their weight times the precision there.

    The precision P / (P + N), the weight and their product are rounded once each, and added to states[replicate], an
    exact sum. `terms` is scratch. uncertain[i] has the replicate, then the weight, P and N as two words each, of a
    precision that could not be rounded with certainty: it is not in the sum.

    Returns the next row, and the number of uncertain precisions. The sweep stops early when there may be too many.
    """
    cdef Batch batch
    cdef Py_ssize_t n = codes.shape[0]
    check_arrays(codes, row_weights, n_limbs, weights, above)
    check_precisions(terms, states, uncertain)
    if start < 0:
        raise ValueError("start must be a row")
    with nogil:
        start_batch(&batch, unit_exponent, n_limbs, weights, &above[0, 0, 0])
        start_terms(&batch.terms, terms, states, uncertain)
        while start < n and batch.terms.n_uncertain + FM_REPLICATES <= uncertain.shape[0]:
            start = sweep_tie(
                &batch, &codes[0], &row_weights[0], start, n, add_negatives_to_sums, add_precisions)
        sum_all_terms(&batch.terms)
    return start, batch.terms.n_uncertain
