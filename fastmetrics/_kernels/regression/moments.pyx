"""The moments behind R^2 and explained variance: sums of targets, errors and their squares, without any rounding.

Arrays are as in errors.pyx. A product of two doubles is the sum of two (errorterms.h), and both are summed exactly, so
that nothing is lost where targets lie far from zero and their squares nearly cancel. Rows whose products could leave
the range of float64 are rare: these go one by one to further states, the bands, each in a unit of its own.
"""

from libc.math cimport fabs, frexp, ldexp
from libc.stdint cimport int64_t
from libc.string cimport memset

from numpy import ndarray as _ndarray

from fastmetrics._kernels.quotient cimport (
    Pair, add_pairs, as_pair, exact_add, multiply_pairs, negative, product_error, share_left, specials,
)
from fastmetrics._kernels.realcolumns cimport (
    FLAG_INEXACT, FLAG_NOT_FINITE, Column, ask_for, close_both, open_both, open_few, rows_of,
)
from fastmetrics._kernels.superaccumulator cimport (
    CHUNK, CHUNKS_PER_CARRY, STATE_SIZE, add_chunk, add_value, normalise,
)

cdef extern from "errorterms.h":
    void signed_errors "fm_signed"(const double* y, const double* p, Py_ssize_t n, double* out) noexcept nogil
    void squared_errors "fm_squared"(const double* y, const double* p, Py_ssize_t n, double* out) noexcept nogil
    int all_moderate "fm_all_moderate"(const double* values, Py_ssize_t n) noexcept nogil
    void exact_squares "fm_exact_squares"(const double* y, Py_ssize_t n, double* high, double* low) noexcept nogil
    void exact_products "fm_exact_products"(
        const double* w, const double* y, Py_ssize_t n, double* high, double* low
    ) noexcept nogil

cdef enum:
    N_BANDS = 7                 # band b is in units of 2**(1024 * (b - 3))
    MIDDLE_BAND = 3
    BAND_BITS = 10

BANDS = N_BANDS
BAND_SHIFT = 1 << BAND_BITS


cdef inline void add_product(
    double w, double v, int64_t* first, int64_t* second
) noexcept nogil:
    """Add w v and w v v exactly, whatever their size, to the bands their exponents belong to."""
    cdef int w_exponent = 0
    cdef int v_exponent = 0
    cdef int exponent, band
    cdef double parts[4]
    cdef double product
    cdef int i
    if not fabs(v) <= 1.7976931348623157e308:
        add_value(first + MIDDLE_BAND * STATE_SIZE, v)
        return
    if w == 0 or v == 0:
        return
    w = frexp(w, &w_exponent)
    v = frexp(v, &v_exponent)
    parts[0] = w * v
    parts[1] = product_error(w, v, parts[0])
    exponent = w_exponent + v_exponent
    band = (exponent + 3584) >> BAND_BITS
    for i in range(2):
        add_value(first + band * STATE_SIZE, ldexp(parts[i], exponent - ((band - MIDDLE_BAND) << BAND_BITS)))
    product = parts[0]
    parts[0] = product * v
    parts[2] = product_error(product, v, parts[0])
    product = parts[1]
    parts[1] = product * v
    parts[3] = product_error(product, v, parts[1])
    exponent += v_exponent
    band = (exponent + 3584) >> BAND_BITS
    for i in range(4):
        add_value(second + band * STATE_SIZE, ldexp(parts[i], exponent - ((band - MIDDLE_BAND) << BAND_BITS)))


cdef bint add_products(
    const double* weights, const double* values, Py_ssize_t n, int64_t* first, int64_t* second, bint may_band
) noexcept nogil:
    """Add w v of n <= CHUNK rows to the bands of `first`, w v v to those of `second`, exactly; without weights w is 1.

    Without `may_band` there is only the middle band, and 0 is returned where it would not do.
    """
    cdef double high[CHUNK]
    cdef double low[CHUNK]
    cdef double square[CHUNK]
    cdef double error[CHUNK]
    cdef double rest[CHUNK]
    cdef Py_ssize_t i
    if not all_moderate(values, n) or (weights != NULL and not all_moderate(weights, n)):
        if may_band:
            for i in range(n):
                add_product(1.0 if weights == NULL else weights[i], values[i], first, second)
        return may_band
    if may_band:
        first += MIDDLE_BAND * STATE_SIZE
        second += MIDDLE_BAND * STATE_SIZE
    if weights == NULL:
        for i in range(n):
            high[i] = values[i]
        add_chunk(first, high, n, rest)
        exact_squares(values, n, square, error)
        add_chunk(second, square, n, rest)
        add_chunk(second, error, n, rest)
        return 1
    exact_products(weights, values, n, high, low)
    exact_products(high, values, n, square, error)
    add_chunk(first, high, n, rest)
    add_chunk(second, square, n, rest)
    add_chunk(second, error, n, rest)
    exact_products(low, values, n, square, error)
    add_chunk(first, low, n, rest)
    add_chunk(second, square, n, rest)
    add_chunk(second, error, n, rest)
    return 1


cdef bint moments_of(
    Column* y, Column* p, const double* weights, Py_ssize_t output, Py_ssize_t start, Py_ssize_t stop, bint of_errors,
    bint may_band, int64_t* states, int* inexact
) noexcept nogil:
    cdef double y_room[CHUNK]
    cdef double p_room[CHUNK]
    cdef double errors[CHUNK]
    cdef double rest[CHUNK]
    cdef const double* y_rows
    cdef const double* p_rows
    cdef const double* own_weights = NULL
    cdef Py_ssize_t n_bands = N_BANDS if may_band else 1
    cdef int64_t* totals = states + STATE_SIZE
    cdef int64_t* squares = totals + n_bands * STATE_SIZE
    cdef int64_t* error_totals = squares + n_bands * STATE_SIZE
    cdef int64_t* error_squares = error_totals + n_bands * STATE_SIZE
    cdef Py_ssize_t n_states = 1 + (4 if of_errors else 2) * n_bands
    cdef Py_ssize_t i, length
    cdef Py_ssize_t n_chunks = 0
    cdef bint good = 1
    while start < stop and good:
        length = stop - start if stop - start < CHUNK else CHUNK
        y_rows = rows_of(y, output, start, length, y_room, inexact)
        p_rows = rows_of(p, output, start, length, p_room, inexact)
        ask_for(y, start + length, CHUNK if stop - start - length > CHUNK else stop - start - length)
        ask_for(p, start + length, CHUNK if stop - start - length > CHUNK else stop - start - length)
        if weights != NULL:
            own_weights = weights + start
        good = add_products(own_weights, y_rows, length, totals, squares, may_band)
        if of_errors:
            signed_errors(y_rows, p_rows, length, errors)
            good &= add_products(own_weights, errors, length, error_totals, error_squares, may_band)
        else:
            squared_errors(y_rows, p_rows, length, errors)
            if weights != NULL:
                for i in range(length):
                    errors[i] *= own_weights[i]
            add_chunk(states, errors, length, rest)
        start += length
        n_chunks += 1
        if n_chunks % (CHUNKS_PER_CARRY >> 3) == 0:
            for i in range(n_states):
                normalise(states + i * STATE_SIZE)
    for i in range(n_states):
        normalise(states + i * STATE_SIZE)
    return good


def add_moments(
    object y_true, object y_pred, const double[::1] weights, Py_ssize_t start, Py_ssize_t stop, bint of_errors,
    int64_t[:, :, ::1] states
):
    """Add what explained variance is made of. Returns flags.

    states[output] are the sums, each of BANDS states: w y and w y y; with of_errors also w d and w d d, d the error
    p - y; without it the first state of all gains the rounded w (y - p)^2.
    """
    cdef Py_buffer views[2]
    cdef Column columns[2]
    cdef const double* first_weight = NULL
    cdef Py_ssize_t output, i
    cdef int inexact = 0
    cdef int64_t before = 0
    if weights is not None and weights.shape[0]:
        first_weight = &weights[0]
    if not open_both(y_true, y_pred, views, columns):
        raise TypeError("columns are not of a type that is read")
    with nogil:
        for output in range(columns[0].n_outputs):
            for i in range(states.shape[1]):
                before += specials(&states[output, i, 0])
            moments_of(
                &columns[0], &columns[1], first_weight, output, start, stop, of_errors, 1, &states[output, 0, 0],
                &inexact)
            for i in range(states.shape[1]):
                before -= specials(&states[output, i, 0])
    close_both(views)
    return (FLAG_NOT_FINITE if before else 0) | (FLAG_INEXACT if inexact else 0)


cdef inline Pair spread(Pair n, Pair total, Pair squares, double* error) noexcept nogil:
    """n * squares - total^2, and a bound of its error."""
    cdef Pair one = multiply_pairs(n, squares)
    cdef Pair other = multiply_pairs(total, total)
    error[0] = (one.high + other.high) * 2.0 ** -92
    return add_pairs(one, negative(other))


def explained(object y_true, object y_pred, bint of_errors):
    """1 - (spread of the errors) / (spread of the targets) of few rows, rounded once; or None.

    Without of_errors the errors' squares are not taken from their mean: R^2.
    """
    cdef Py_buffer views[2]
    cdef Column columns[2]
    cdef int64_t states[5 * STATE_SIZE]
    cdef int inexact = 0
    cdef bint good = 0
    cdef double result = 0
    cdef int i
    if not open_few(y_true, y_pred, _ndarray, views, columns):
        return None
    with nogil:
        memset(states, 0, sizeof(states))
        good = moments_of(
            &columns[0], &columns[1], NULL, 0, 0, columns[0].rows, of_errors, 0, states, &inexact) and not inexact
        for i in range(5):
            good &= not specials(states + i * STATE_SIZE)
        good = good and share_explained(states, <double>columns[0].rows, of_errors, &result)
    close_both(views)
    return result if good else None


cdef bint share_explained(int64_t* states, double rows, bint of_errors, double* result) noexcept nogil:
    """From the states without bands; 0 where the rounding is not certain."""
    cdef Pair sums[5]
    cdef Pair n = exact_add(rows, 0)
    cdef Pair all_targets, all_errors
    cdef double target_error, error
    cdef int i
    for i in range(5):
        if not as_pair(states + i * STATE_SIZE, &sums[i]):
            return 0
    all_targets = spread(n, sums[1], sums[2], &target_error)
    if of_errors:
        all_errors = spread(n, sums[3], sums[4], &error)
    else:
        all_errors = multiply_pairs(n, sums[0])
        error = all_errors.high * 2.0 ** -92
    # Constant targets are for the long way, and what is so close to them that nothing certain is left.
    if not all_targets.high > 2.0 ** 30 * target_error:
        return 0
    return share_left(all_errors, error, all_targets, target_error, result)
