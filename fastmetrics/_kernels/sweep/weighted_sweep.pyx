"""Sweeps over the weighted rows of a range of scores: points and rates of curves, sums of precisions, pairs won.

Numbers are those of wide_weights.pxd, rows those of weighted_rows.pxd. A row is stored as two words: the key, and the
bits of the weight.

Rows are ordered by cells: a cell has the keys with the same first bits, one row on average if keys are spread evenly.
Rows move to their cells by counting, and are ordered inside by insertion. If this takes too long, because many
different keys are in few cells, the caller orders all rows by another sort.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t, uintptr_t
from libc.string cimport memcpy

from fastmetrics._kernels.columns.ordered_bits cimport score_of_key_f32, score_of_key_f64
from fastmetrics._kernels.numeric.superaccumulator cimport CHUNK, CHUNKS_PER_CARRY, add_chunk, normalize
from fastmetrics._kernels.sweep.rank_table cimport key_t
from fastmetrics._kernels.sweep.weighted_rows cimport WeightedRow, add_wins
from fastmetrics._kernels.sweep.wide_weights cimport (
    WIDE_BITS, Wide, precision_term, rounded, scale_of_unit, subtract, sum_of, units_of,
)

cdef enum:
    MAX_MOVES = 32  # of a row on average, in insertions

SUM_BITS = WIDE_BITS


# ---- Order of the rows ----


def gather_bucket(
    const uint64_t[::1] key_blocks, const uint64_t[::1] weight_blocks, const int32_t[:, ::1] offsets,
    Py_ssize_t bucket, key_t[::1] keys, double[::1] weights
) -> int:
    """Copy the rows that all blocks have of a bucket together, negatives first; return the number of negatives.

    The blocks are the addresses of their columns, offsets[block] the starts of each class of each bucket there. `keys`
    and `weights` have as many elements as the bucket has rows.
    """
    cdef Py_ssize_t block, start, length, label
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t n_negatives = 0
    if not key_blocks.shape[0] == weight_blocks.shape[0] == offsets.shape[0] or keys.shape[0] != weights.shape[0]:
        raise ValueError("all blocks must have keys, weights and offsets, and the output one length")
    if bucket < 0 or 2 * bucket + 2 >= offsets.shape[1]:
        raise ValueError("there is no such bucket")
    with nogil:
        for label in range(2):
            for block in range(offsets.shape[0]):
                start = offsets[block, 2 * bucket + label]
                length = offsets[block, 2 * bucket + label + 1] - start
                if length <= 0 or n + length > keys.shape[0]:
                    continue
                memcpy(&keys[n], <const key_t*><uintptr_t>key_blocks[block] + start, length * sizeof(key_t))
                memcpy(&weights[n], <const double*><uintptr_t>weight_blocks[block] + start, length * sizeof(double))
                n += length
            if label == 0:
                n_negatives = n
    return n_negatives


def order_by_cells(
    const key_t[::1] keys, const double[::1] weights, Py_ssize_t n_negatives, int32_t[::1] cells,
    uint64_t[:, ::1] ordered,
) -> bool:
    """Write the rows in ascending order of keys, with the weights of positives negated. False if it took too long.

    The first `n_negatives` rows are negatives. `cells` has a number for each cell, at least two. No other thread may
    change the columns.
    """
    cdef Py_ssize_t n = keys.shape[0]
    cdef Py_ssize_t n_cells = cells.shape[0]
    cdef Py_ssize_t i, j, cell
    cdef key_t low, high
    cdef WeightedRow* rows
    cdef WeightedRow row
    cdef int shift = 0
    cdef int32_t count, total = 0
    cdef int64_t moves = 0
    if not n == weights.shape[0] == ordered.shape[0] or ordered.shape[1] != 2:
        raise ValueError("all columns must have one length, and rows two words")
    if not 0 < n < 1 << 31 or n_cells < 2:
        raise ValueError("there must be rows, fewer than 2**31, and at least two cells")
    rows = <WeightedRow*>&ordered[0, 0]
    with nogil:
        low = high = keys[0]
        for i in range(n):
            low = keys[i] if keys[i] < low else low
            high = keys[i] if keys[i] > high else high
        while ((high - low) >> shift) >= <key_t>n_cells:
            shift += 1
        for i in range(n_cells):
            cells[i] = 0
        for i in range(n):
            cells[<Py_ssize_t>((keys[i] - low) >> shift)] += 1
        for i in range(n_cells):
            count = cells[i]
            cells[i] = total
            total += count
        for i in range(n):
            cell = <Py_ssize_t>((keys[i] - low) >> shift)
            row.key = keys[i]
            row.weight = weights[i] if i < n_negatives else -weights[i]
            rows[cells[cell]] = row
            cells[cell] += 1
        # Cells are in order; rows are moved at most to the start of their cell.
        for i in range(1, n):
            row = rows[i]
            if rows[i - 1].key <= row.key:
                continue
            j = i
            while j and rows[j - 1].key > row.key:
                rows[j] = rows[j - 1]
                j -= 1
            rows[j] = row
            moves += i - j
            if moves > MAX_MOVES * n:
                break
    return moves <= MAX_MOVES * n


# ---- Pairs ----


def sum_pairs(const uint64_t[:, ::1] rows, int unit_exponent, uint64_t[:, ::1] sums, uint64_t[::1] wins):
    """Twice the weighted pairs that the positives of a range win, plus the ties, in units of 4**unit_exponent.

    Parameters
    ----------
    rows : (n, 2)
        The rows in ascending order of keys.
    sums : (2, 2)
        Written: the weights of the negatives and of the positives, as (low, high) words.
    wins : (4,)
        Written: the pairs, least significant word first.
    """
    cdef Wide by_class[2]
    cdef int number
    if rows.shape[1] != 2 or sums.shape[0] != 2 or sums.shape[1] != 2 or wins.shape[0] != 4:
        raise ValueError("rows must have two words, sums two pairs of words, and wins four words")
    for number in range(4):
        wins[number] = 0
    for number in range(2):
        by_class[number].low = by_class[number].high = 0
    if rows.shape[0]:
        with nogil:
            add_wins(<const WeightedRow*>&rows[0, 0], rows.shape[0], unit_exponent, by_class, &wins[0])
    for number in range(2):
        sums[number, 0], sums[number, 1] = by_class[number].low, by_class[number].high


# ---- Points ----


def write_points(
    const uint64_t[:, ::1] ordered, bint double_keys, int unit_exponent, const uint64_t[:, ::1] sums,
    double[::1] scores, double[::1] fps, double[::1] tps, double[::1] below, uint8_t[::1] has_positive,
) -> int:
    """Write the points of a range, from the greatest key down. Returns their number.

    Parameters
    ----------
    ordered : (n, 2)
        The rows in ascending order of keys, which are those of float64 scores if double_keys, else of float32 scores.
    sums : (3, 2)
        The weights of the negatives and of the positives above the range, and of all positives: (low, high) words.
    scores, fps, tps, below, has_positive
        Written: the score of each point; the weight of the negatives and of the positives down to it, and of the
        positives below it; whether a positive has the score. They are as long as the rows. `below` may be empty: then
        it is left out.
    """
    cdef Py_ssize_t n = ordered.shape[0]
    cdef Py_ssize_t i = n - 1
    cdef Py_ssize_t point = 0
    cdef bint with_below = below.shape[0] > 0
    cdef const WeightedRow* rows
    cdef Sums here
    check_points(ordered, sums, scores, fps, tps, has_positive)
    if with_below and below.shape[0] != n:
        raise ValueError("below must be empty, or as long as the rows")
    if n == 0:
        return 0
    rows = <const WeightedRow*>&ordered[0, 0]
    with nogil:
        here = start_of_range(&sums[0, 0], unit_exponent)
        while i >= 0:
            scores[point] = score_of_key_f64(rows[i].key) if double_keys else score_of_key_f32(rows[i].key)
            i = add_tie(rows, i, with_below, &here)
            fps[point], tps[point], has_positive[point] = here.fps, here.tps, here.has_positive
            if with_below:
                below[point] = here.below
            point += 1
    return point


def write_rates(
    const uint64_t[:, ::1] ordered, bint double_keys, int unit_exponent, const uint64_t[:, ::1] sums,
    double all_negatives, double all_positives, bint error_rates, double[::1] scores, double[::1] x, double[::1] y,
    uint8_t[::1] has_positive,
) -> int:
    """Write the rates at the points of a range, in ascending order of keys, to the end of the columns.

    Parameters
    ----------
    ordered, sums
        As for write_points.
    all_negatives, all_positives
        The weights of all rows of each class.
    error_rates
        x and y are the false positive rate and the false negative rate; otherwise precision and recall.
    scores, x, y, has_positive
        Written: the score of each point, the rates, whether a positive has the score. They are as long as the rows.

    Returns the number of points.
    """
    cdef Py_ssize_t n = ordered.shape[0]
    cdef Py_ssize_t i = n - 1
    cdef Py_ssize_t point = n
    cdef const WeightedRow* rows
    cdef Sums here
    check_points(ordered, sums, scores, x, y, has_positive)
    if n == 0:
        return 0
    rows = <const WeightedRow*>&ordered[0, 0]
    with nogil:
        here = start_of_range(&sums[0, 0], unit_exponent)
        while i >= 0:
            point -= 1
            scores[point] = score_of_key_f64(rows[i].key) if double_keys else score_of_key_f32(rows[i].key)
            i = add_tie(rows, i, error_rates, &here)
            has_positive[point] = here.has_positive
            if error_rates:
                x[point], y[point] = here.fps / all_negatives, here.below / all_positives
            else:
                x[point], y[point] = here.tps / (here.tps + here.fps), here.tps / all_positives
    return n - point


cdef int check_points(
    const uint64_t[:, ::1] ordered, const uint64_t[:, ::1] sums, const double[::1] scores, const double[::1] x,
    const double[::1] y, const uint8_t[::1] has_positive,
) except -1:
    if ordered.shape[1] != 2 or sums.shape[0] != 3 or sums.shape[1] != 2:
        raise ValueError("rows must have two words, and sums three pairs of words")
    if not ordered.shape[0] == scores.shape[0] == x.shape[0] == y.shape[0] == has_positive.shape[0]:
        raise ValueError("the columns of the points must be as long as the rows")
    return 0


cdef struct Sums:
    int unit_exponent
    double unit
    Wide negatives  # down to a point
    Wide positives
    Wide all_positives
    double fps  # the same, rounded
    double tps
    double below  # all positives without those down to the point
    uint8_t has_positive  # at the last point


cdef inline Sums start_of_range(const uint64_t* sums, int unit_exponent) noexcept nogil:
    """The sums above the first row of a range, from the words of write_points."""
    cdef Sums here
    here.unit_exponent, here.unit = unit_exponent, scale_of_unit(unit_exponent)
    here.negatives.low, here.negatives.high = sums[0], sums[1]
    here.positives.low, here.positives.high = sums[2], sums[3]
    here.all_positives.low, here.all_positives.high = sums[4], sums[5]
    here.fps = rounded(here.negatives, unit_exponent, here.unit)
    here.tps = rounded(here.positives, unit_exponent, here.unit)
    here.below = rounded(subtract(here.all_positives, here.positives), unit_exponent, here.unit)
    here.has_positive = 0
    return here


cdef inline Py_ssize_t add_tie(const WeightedRow* rows, Py_ssize_t i, bint with_below, Sums* here) noexcept nogil:
    """Add the rows with the key of row i, from i down, and return the next row. Only sums that changed are rounded."""
    cdef uint64_t key = rows[i].key
    cdef bint has_negative = 0
    cdef Wide units
    here.has_positive = 0
    while i >= 0 and rows[i].key == key:
        units = units_of(fabs(rows[i].weight), here.unit_exponent)
        if rows[i].weight < 0:
            here.has_positive = 1
            here.positives = sum_of(here.positives, units)
        else:
            has_negative = 1
            here.negatives = sum_of(here.negatives, units)
        i -= 1
    if has_negative:
        here.fps = rounded(here.negatives, here.unit_exponent, here.unit)
    if here.has_positive:
        here.tps = rounded(here.positives, here.unit_exponent, here.unit)
        if with_below:
            here.below = rounded(subtract(here.all_positives, here.positives), here.unit_exponent, here.unit)
    return i


cdef inline bint turns(const double* values, Py_ssize_t i) noexcept nogil:
    return (values[i + 1] - values[i]) - (values[i] - values[i - 1]) != 0


def write_corners(
    const double[::1] scores, const double[::1] fps, const double[::1] tps, Py_ssize_t start, Py_ssize_t stop,
    double[::1] corner_scores, double[::1] corner_fps, double[::1] corner_tps,
) -> int:
    """Write the corners among the points start..stop: both ends of the curve, and where its direction changes.

    Returns their number. If the output is empty, they are counted only; otherwise it is as long as that number.
    """
    cdef Py_ssize_t n = scores.shape[0]
    cdef Py_ssize_t capacity = corner_scores.shape[0]
    cdef Py_ssize_t i
    cdef Py_ssize_t found = 0
    if not n == fps.shape[0] == tps.shape[0] or not capacity == corner_fps.shape[0] == corner_tps.shape[0]:
        raise ValueError("all columns must have one length")
    if not 0 <= start <= stop <= n:
        raise ValueError("there are no such points")
    with nogil:
        for i in range(start, stop):
            if i == 0 or i == n - 1 or turns(&fps[0], i) or turns(&tps[0], i):
                if found < capacity:
                    corner_scores[found], corner_fps[found], corner_tps[found] = scores[i], fps[i], tps[i]
                found += 1
    return found


# ---- Precisions ----


def sum_precisions(
    const uint64_t[:, ::1] ordered, int unit_exponent, const uint64_t[:, ::1] above, int64_t[::1] state,
    uint64_t[:, ::1] uncertain,
) -> int:
    """Add for every score with positives their weight times the precision there, P / (P + N), to an exact sum.

    Weight and precision are rounded once each, and so is their product.

    Parameters
    ----------
    ordered
        As for write_points.
    above : (2, 2)
        The weights of the negatives and of the positives above the range: (low, high) words.
    state
        The exact sum.
    uncertain : (n, 6)
        Written: weight, P and N, in units and as (low, high) words, of scores whose precision could not be rounded with
        certainty. They are not in the sum. There are hardly ever any.

    Returns the number of uncertain scores; -1 if there are more than `uncertain` holds: the sum is then wrong.
    """
    cdef double chunk[CHUNK]
    cdef double remainders[CHUNK]
    cdef Py_ssize_t i, n_chunks = 0, length = 0, n_uncertain = 0
    cdef double unit = scale_of_unit(unit_exponent)
    cdef const WeightedRow* rows
    cdef uint64_t key
    cdef Wide negatives, positives, tied
    if ordered.shape[1] != 2 or above.shape[0] != 2 or above.shape[1] != 2 or uncertain.shape[1] != 6:
        raise ValueError("rows must have two words, above two pairs of words, uncertain three")
    if ordered.shape[0] == 0:
        return 0
    rows = <const WeightedRow*>&ordered[0, 0]
    negatives.low, negatives.high = above[0, 0], above[0, 1]
    positives.low, positives.high = above[1, 0], above[1, 1]
    with nogil:
        i = ordered.shape[0] - 1
        while i >= 0:
            key = rows[i].key
            if rows[i].weight > 0 and (i == 0 or rows[i - 1].key != key):  # a negative without ties: the usual row
                negatives = sum_of(negatives, units_of(rows[i].weight, unit_exponent))
                i -= 1
                continue
            tied.low = tied.high = 0
            while i >= 0 and rows[i].key == key:
                if rows[i].weight > 0:
                    negatives = sum_of(negatives, units_of(rows[i].weight, unit_exponent))
                else:
                    tied = sum_of(tied, units_of(-rows[i].weight, unit_exponent))
                i -= 1
            if not tied.low | tied.high:
                continue
            positives = sum_of(positives, tied)
            if not precision_term(tied, positives, negatives, unit_exponent, unit, &chunk[length]):
                if n_uncertain == uncertain.shape[0]:
                    n_uncertain = -1
                    break
                uncertain[n_uncertain, 0], uncertain[n_uncertain, 1] = tied.low, tied.high
                uncertain[n_uncertain, 2], uncertain[n_uncertain, 3] = positives.low, positives.high
                uncertain[n_uncertain, 4], uncertain[n_uncertain, 5] = negatives.low, negatives.high
                n_uncertain += 1
                continue
            length += 1
            if length == CHUNK:
                add_chunk(&state[0], chunk, length, remainders)
                length = 0
                n_chunks += 1
                if n_chunks % CHUNKS_PER_CARRY == 0:
                    normalize(&state[0])
        if length:
            add_chunk(&state[0], chunk, length, remainders)
        normalize(&state[0])
    return n_uncertain
