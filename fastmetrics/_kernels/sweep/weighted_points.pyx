"""The points of a curve of weighted rows: exact sums of weights down to every distinct score, each rounded once.

Numbers are those of wide_weights.pxd.

Rows are ordered by cells: a cell has the keys with the same first bits, one row on average if keys are spread evenly.
Rows move to their cells by counting, and are ordered inside by insertion. If this takes too long, because many
different keys are in few cells, the caller orders all rows by another sort. A row is a key and a weight, whose sign
says the class: weights are positive.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from fastmetrics._kernels.numeric.quotient cimport divide_double_doubles
from fastmetrics._kernels.numeric.superaccumulator cimport CHUNK, CHUNKS_PER_CARRY, add_chunk, normalise
from fastmetrics._kernels.sweep.rank_table cimport key_t
from fastmetrics._kernels.sweep.wide_weights cimport (
    WIDE_BITS, Wide, add_weight, as_double_double, rounded, scale_of_unit, subtract, sum_of,
)

cdef enum:
    MAX_MOVES = 32  # of a row on average, in insertions

SUM_BITS = WIDE_BITS


# ---- Order of the rows ----


def order_by_cells(
    const key_t[::1] keys, const double[::1] weights, Py_ssize_t n_negatives, int32_t[::1] cells,
    key_t[::1] ordered_keys, double[::1] ordered_weights,
) -> bool:
    """Write the rows in ascending order of keys, with the weights of positives negated. False if it took too long.

    The first `n_negatives` rows are negatives. `cells` has a number for each cell, at least two. No other thread may
    change the columns.
    """
    cdef Py_ssize_t n = keys.shape[0]
    cdef Py_ssize_t n_cells = cells.shape[0]
    cdef Py_ssize_t i, j, cell, start
    cdef key_t low, high, key
    cdef double weight
    cdef int shift = 0
    cdef int32_t count, total = 0
    cdef int64_t moves = 0
    if not n == weights.shape[0] == ordered_keys.shape[0] == ordered_weights.shape[0]:
        raise ValueError("all columns must have one length")
    if not 0 < n < 1 << 31 or n_cells < 2:
        raise ValueError("there must be rows, fewer than 2**31, and at least two cells")
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
            start = cells[cell]
            ordered_keys[start] = keys[i]
            ordered_weights[start] = weights[i] if i < n_negatives else -weights[i]
            cells[cell] += 1
        # Cells are in order; rows are moved at most to the start of their cell.
        for i in range(1, n):
            key = ordered_keys[i]
            if ordered_keys[i - 1] <= key:
                continue
            weight = ordered_weights[i]
            j = i
            while j and ordered_keys[j - 1] > key:
                ordered_keys[j] = ordered_keys[j - 1]
                ordered_weights[j] = ordered_weights[j - 1]
                j -= 1
            ordered_keys[j] = key
            ordered_weights[j] = weight
            moves += i - j
            if moves > MAX_MOVES * n:
                break
    return moves <= MAX_MOVES * n


# ---- Points ----


cdef inline void finish_point(
    const Wide* by_class, const Wide all_positives, int unit_exponent, double unit, double* negatives,
    double* positives, double* below_point
) noexcept nogil:
    cdef Wide below = subtract(all_positives, by_class[1])
    negatives[0] = rounded(by_class[0], unit_exponent, unit)
    positives[0] = rounded(by_class[1], unit_exponent, unit)
    below_point[0] = rounded(below, unit_exponent, unit)


def write_points(
    const key_t[::1] keys, const double[::1] weights, int unit_exponent, const uint64_t[:, ::1] sums,
    key_t[::1] point_keys, double[:, ::1] points, uint8_t[::1] has_positive,
) -> int:
    """Write the points of a range, from the greatest key down. Returns their number.

    Parameters
    ----------
    keys, weights
        The rows in ascending order of keys; weights of positives are negative.
    sums : (3, 2)
        The weights of the negatives and of the positives above the range, and of all positives: (low, high) words.
    point_keys, points, has_positive
        Written: the key of each point; the weight of the negatives and of the positives down to it, and of the
        positives below it; whether a positive has the key. They have room for as many points as rows.
    """
    cdef Py_ssize_t n = keys.shape[0]
    cdef Py_ssize_t i
    cdef Py_ssize_t point = -1
    cdef double unit = scale_of_unit(unit_exponent)
    cdef key_t key = 0
    cdef Wide by_class[2]
    cdef Wide all_positives
    cdef int label, number
    if not n == weights.shape[0] == point_keys.shape[0] == has_positive.shape[0]:
        raise ValueError("all columns must have one length")
    if points.shape[0] != 3 or points.shape[1] != n or sums.shape[0] != 3 or sums.shape[1] != 2:
        raise ValueError("points must have three rows of one number per row, and sums three pairs of words")
    for number in range(2):
        by_class[number].low, by_class[number].high = sums[number, 0], sums[number, 1]
    all_positives.low, all_positives.high = sums[2, 0], sums[2, 1]
    with nogil:
        for i in range(n - 1, -1, -1):
            if point < 0 or keys[i] != key:
                if point >= 0:
                    finish_point(
                        by_class, all_positives, unit_exponent, unit, &points[0, point], &points[1, point],
                        &points[2, point],
                    )
                point += 1
                key = keys[i]
                point_keys[point] = key
                has_positive[point] = 0
            label = weights[i] < 0
            has_positive[point] |= label
            add_weight(&by_class[label], fabs(weights[i]), unit_exponent)
        if point >= 0:
            finish_point(
                by_class, all_positives, unit_exponent, unit, &points[0, point], &points[1, point], &points[2, point]
            )
    return point + 1


# ---- Precisions ----


def sum_precisions(
    const key_t[::1] keys, const double[::1] weights, int unit_exponent, const uint64_t[:, ::1] above,
    int64_t[::1] state, uint64_t[:, ::1] uncertain,
) -> int:
    """Add for every score with positives their weight times the precision there, P / (P + N), to an exact sum.

    Weight and precision are rounded once each, and so is their product.

    Parameters
    ----------
    keys, weights
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
    cdef double precision = 0
    cdef key_t key
    cdef Wide by_class[2]
    cdef Wide tied
    cdef int number
    if keys.shape[0] != weights.shape[0] or above.shape[0] != 2 or above.shape[1] != 2 or uncertain.shape[1] != 6:
        raise ValueError("keys and weights must have one length, above two pairs of words, uncertain three")
    for number in range(2):
        by_class[number].low, by_class[number].high = above[number, 0], above[number, 1]
    with nogil:
        i = keys.shape[0] - 1
        while i >= 0:
            key = keys[i]
            tied.low = tied.high = 0
            while i >= 0 and keys[i] == key:
                add_weight(&tied if weights[i] < 0 else &by_class[0], fabs(weights[i]), unit_exponent)
                i -= 1
            if not tied.low | tied.high:
                continue
            by_class[1] = sum_of(by_class[1], tied)
            if not divide(by_class[1], sum_of(by_class[0], by_class[1]), &precision):
                if n_uncertain == uncertain.shape[0]:
                    n_uncertain = -1
                    break
                uncertain[n_uncertain, 0], uncertain[n_uncertain, 1] = tied.low, tied.high
                for number in range(2):
                    uncertain[n_uncertain, 2 + 2 * number] = by_class[1 - number].low
                    uncertain[n_uncertain, 3 + 2 * number] = by_class[1 - number].high
                n_uncertain += 1
                continue
            chunk[length] = rounded(tied, unit_exponent, unit) * precision
            length += 1
            if length == CHUNK:
                add_chunk(&state[0], chunk, length, remainders)
                length = 0
                n_chunks += 1
                if n_chunks % CHUNKS_PER_CARRY == 0:
                    normalise(&state[0])
        if length:
            add_chunk(&state[0], chunk, length, remainders)
        normalise(&state[0])
    return n_uncertain


cdef inline bint divide(const Wide part, const Wide whole, double* result) noexcept nogil:
    """part / whole, rounded once. Returns 0 if the rounding is uncertain."""
    cdef double part_error = 0
    cdef double whole_error = 0
    return divide_double_doubles(
        as_double_double(part, &part_error), part_error, as_double_double(whole, &whole_error), whole_error, result
    )
