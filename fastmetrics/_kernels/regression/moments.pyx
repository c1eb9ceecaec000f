"""Moments for R^2 and explained variance: sums of targets, of errors and of their squares, without rounding.

Arrays are as in errors.pyx. The product of two doubles is the sum of two doubles (error_terms.h). Both are summed
exactly, so no digit is lost if targets are far from zero and their squares nearly cancel. Products outside the range of
float64 are rare. Such rows are added one by one to further states, the bands; each band has its own unit.
"""

from libc.math cimport NAN, fabs, frexp, ldexp
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from fastmetrics._kernels.numeric.quotient cimport (
    DoubleDouble, add_double_doubles, load_double_double, two_sum, multiply_double_doubles, negate_double_double,
    product_error, one_minus_quotient, count_non_finite,
)
from fastmetrics._kernels.columns.real_columns cimport (
    FLAG_INEXACT, FLAG_LOST, FLAG_NOT_FINITE, FM_TILE_OUTPUTS, FM_TILE_ROWS, RealColumn, prefetch_rows,
    close_columns, open_columns, open_short_columns, load_rows, load_tile,
)
from fastmetrics._kernels.numeric.superaccumulator cimport (
    CHUNK, CHUNKS_PER_CARRY, STATE_SIZE, add_chunk_at, add_value, normalise,
)

cdef extern from "regression/error_terms.h":
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
    MOST_SUMS = 6               # of the products of a weight, a value and its square

BANDS = N_BANDS
BAND_SHIFT = 1 << BAND_BITS


cdef inline void add_product_to_bands(
    double w, double v, int64_t* first, int64_t* second
) noexcept nogil:
    """Add w v and w v v exactly, whatever their size, to the bands of their exponents."""
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
    const double* weights, const double* values, Py_ssize_t n, int64_t* first, int64_t* second, bint use_bands,
    int* exponents
) noexcept nogil:
    """Add w v of n <= CHUNK rows to the bands of `first` and w v v to those of `second`, exactly. No weights: w = 1.

    Without `use_bands` there is only the middle band. Return 0 if a product does not fit there. `exponents` are those
    of `add_chunk_at` for the MOST_SUMS sums of a column.
    """
    cdef double high[CHUNK]
    cdef double low[CHUNK]
    cdef double square[CHUNK]
    cdef double error[CHUNK]
    cdef double rest[CHUNK]
    cdef Py_ssize_t i
    if not all_moderate(values, n) or (weights != NULL and not all_moderate(weights, n)):
        if use_bands:
            for i in range(n):
                add_product_to_bands(1.0 if weights == NULL else weights[i], values[i], first, second)
        return use_bands
    if use_bands:
        first += MIDDLE_BAND * STATE_SIZE
        second += MIDDLE_BAND * STATE_SIZE
    if weights == NULL:
        for i in range(n):
            high[i] = values[i]
        add_chunk_at(first, high, n, rest, &exponents[0])
        exact_squares(values, n, square, error)
        add_chunk_at(second, square, n, rest, &exponents[1])
        add_chunk_at(second, error, n, rest, &exponents[2])
        return 1
    exact_products(weights, values, n, high, low)
    exact_products(high, values, n, square, error)
    add_chunk_at(first, high, n, rest, &exponents[0])
    add_chunk_at(second, square, n, rest, &exponents[1])
    add_chunk_at(second, error, n, rest, &exponents[2])
    exact_products(low, values, n, square, error)
    add_chunk_at(first, low, n, rest, &exponents[3])
    add_chunk_at(second, square, n, rest, &exponents[4])
    add_chunk_at(second, error, n, rest, &exponents[5])
    return 1


cdef bint add_chunk_of_moments(
    const double* y, const double* p, const double* weights, Py_ssize_t n, bint center_errors, bint use_bands,
    int64_t* states, int* exponents
) noexcept nogil:
    """Add the moments of n <= CHUNK rows. Return 0 if a product needs bands and there are none.

    `exponents`: two times MOST_SUMS, see add_products.
    """
    cdef double errors[CHUNK]
    cdef double rest[CHUNK]
    cdef Py_ssize_t n_bands = N_BANDS if use_bands else 1
    cdef int64_t* totals = states + STATE_SIZE
    cdef int64_t* squares = totals + n_bands * STATE_SIZE
    cdef int64_t* error_totals = squares + n_bands * STATE_SIZE
    cdef int64_t* error_squares = error_totals + n_bands * STATE_SIZE
    cdef Py_ssize_t i
    cdef bint good = add_products(weights, y, n, totals, squares, use_bands, exponents)
    if center_errors:
        signed_errors(y, p, n, errors)
        return good & add_products(
            weights, errors, n, error_totals, error_squares, use_bands, exponents + MOST_SUMS)
    squared_errors(y, p, n, errors)
    if weights != NULL:
        for i in range(n):
            errors[i] *= weights[i]
    add_chunk_at(states, errors, n, rest, exponents + MOST_SUMS)
    return good


cdef bint add_moments_of_rows(
    RealColumn* y, RealColumn* p, const double* weights, Py_ssize_t output, Py_ssize_t start, Py_ssize_t stop,
    bint center_errors,
    bint use_bands, int64_t* states, int* inexact
) noexcept nogil:
    cdef double y_scratch[CHUNK]
    cdef double p_scratch[CHUNK]
    cdef const double* y_rows
    cdef const double* p_rows
    cdef const double* chunk_weights = NULL
    cdef Py_ssize_t n_states = 1 + (4 if center_errors else 2) * (N_BANDS if use_bands else 1)
    cdef Py_ssize_t i, length
    cdef Py_ssize_t n_chunks = 0
    cdef int exponents[2 * MOST_SUMS]
    cdef bint good = 1
    memset(exponents, 0, sizeof(exponents))
    while start < stop and good:
        length = stop - start if stop - start < CHUNK else CHUNK
        y_rows = load_rows(y, output, start, length, y_scratch, inexact)
        p_rows = load_rows(p, output, start, length, p_scratch, inexact)
        prefetch_rows(y, start + length, CHUNK if stop - start - length > CHUNK else stop - start - length)
        prefetch_rows(p, start + length, CHUNK if stop - start - length > CHUNK else stop - start - length)
        if weights != NULL:
            chunk_weights = weights + start
        good = add_chunk_of_moments(y_rows, p_rows, chunk_weights, length, center_errors, use_bands, states, exponents)
        start += length
        n_chunks += 1
        if n_chunks % (CHUNKS_PER_CARRY >> 3) == 0:
            for i in range(n_states):
                normalise(states + i * STATE_SIZE)
    for i in range(n_states):
        normalise(states + i * STATE_SIZE)
    return good


def add_moments(
    object y_true, object y_pred, const double[::1] weights or None, Py_ssize_t start, Py_ssize_t stop,
    bint center_errors, int64_t[:, :, ::1] states
) -> int:
    """Add the moments of rows start..stop to the states of each output. Return flags.

    states[output] starts with the sum of w (y - p)^2, each term rounded; it is used only without center_errors. Then
    come the sums of w y and of w y y, each of BANDS states. With center_errors, the sums of w d and of w d d follow,
    where d is the error p - y.
    """
    cdef Py_buffer views[2]
    cdef RealColumn columns[2]
    cdef const double* first_weight = NULL
    cdef Py_ssize_t output, i
    cdef int inexact = 0
    cdef int64_t before = 0
    if weights is not None and weights.shape[0]:
        first_weight = &weights[0]
    if not open_columns(y_true, y_pred, views, columns):
        raise TypeError("columns are not of a type that is read")
    with nogil:
        for output in range(columns[0].n_outputs):
            for i in range(states.shape[1]):
                before += count_non_finite(&states[output, i, 0])
            add_moments_of_rows(
                &columns[0], &columns[1], first_weight, output, start, stop, center_errors, 1, &states[output, 0, 0],
                &inexact)
            for i in range(states.shape[1]):
                before -= count_non_finite(&states[output, i, 0])
    close_columns(views)
    return (FLAG_NOT_FINITE if before else 0) | (FLAG_INEXACT if inexact else 0)


def add_plain_moments(
    object y_true, object y_pred, const double[::1] weights or None, Py_ssize_t start, Py_ssize_t stop,
    bint center_errors, int64_t[:, :, ::1] states
) -> int:
    """As `add_moments`, tile by tile of a matrix, with one state in place of each BANDS. Return flags.

    FLAG_LOST: a product needs bands, and the states are of no use.
    """
    cdef Py_buffer views[2]
    cdef RealColumn columns[2]
    cdef double y_tile[FM_TILE_ROWS * FM_TILE_OUTPUTS]
    cdef double p_tile[FM_TILE_ROWS * FM_TILE_OUTPUTS]
    cdef int exponents[2 * MOST_SUMS * FM_TILE_OUTPUTS]
    cdef const double* first_weight = NULL
    cdef Py_ssize_t output, n_outputs, k, i, row, length, more
    cdef int inexact = 0
    cdef bint good = 1
    if weights is not None and weights.shape[0]:
        first_weight = &weights[0]
    if not open_columns(y_true, y_pred, views, columns):
        raise TypeError("columns are not of a type that is read")
    with nogil:
        output = 0
        while output < columns[0].n_outputs and good:
            n_outputs = min(columns[0].n_outputs - output, <Py_ssize_t>FM_TILE_OUTPUTS)
            memset(exponents, 0, sizeof(exponents))
            row = start
            while row < stop and good:
                length = min(stop - row, <Py_ssize_t>FM_TILE_ROWS)
                more = min(stop - row - length, <Py_ssize_t>FM_TILE_ROWS)
                load_tile(&columns[0], output, n_outputs, row, length, more, y_tile, &inexact)
                load_tile(&columns[1], output, n_outputs, row, length, more, p_tile, &inexact)
                for k in range(n_outputs):
                    good &= add_chunk_of_moments(
                        y_tile + k * FM_TILE_ROWS, p_tile + k * FM_TILE_ROWS,
                        NULL if first_weight == NULL else first_weight + row, length, center_errors, 0,
                        &states[output + k, 0, 0], exponents + k * 2 * MOST_SUMS)
                row += length
            for k in range(n_outputs):
                for i in range(states.shape[1]):
                    normalise(&states[output + k, i, 0])
                    good &= not count_non_finite(&states[output + k, i, 0])
            output += n_outputs
    close_columns(views)
    return (0 if good else FLAG_LOST) | (FLAG_INEXACT if inexact else 0)


def explained_fractions(
    const int64_t[:, :, ::1] states, int64_t[::1] weight, bint center_errors, double[::1] out
):
    """Write 1 - (variance of the errors) / (variance of the targets) of every output, rounded once.

    States are plain moments. `weight` is the state of the sum of the weights. NaN where the rounding is uncertain, or
    targets are nearly constant.
    """
    cdef int64_t own[5 * STATE_SIZE]
    cdef int64_t weight_copy[STATE_SIZE]
    cdef DoubleDouble n
    cdef Py_ssize_t output
    cdef bint good
    memcpy(weight_copy, &weight[0], sizeof(weight_copy))
    with nogil:
        good = load_double_double(weight_copy, &n)
        for output in range(states.shape[0]):
            memset(own, 0, sizeof(own))
            memcpy(own, &states[output, 0, 0], states.shape[1] * STATE_SIZE * sizeof(int64_t))
            if not (good and divide_variances(own, n, center_errors, &out[output])):
                out[output] = NAN


cdef inline DoubleDouble scaled_variance(
    DoubleDouble n, DoubleDouble total, DoubleDouble squares, double* error
) noexcept nogil:
    """Return n * squares - total^2, which is n^2 times the variance, and a bound of its error."""
    cdef DoubleDouble one = multiply_double_doubles(n, squares)
    cdef DoubleDouble other = multiply_double_doubles(total, total)
    error[0] = (one.high + other.high) * 2.0 ** -92
    return add_double_doubles(one, negate_double_double(other))


def try_explained_variance(object y_true, object y_pred, bint center_errors) -> float | None:
    """Return 1 - (variance of the errors) / (variance of the targets) of few rows, rounded once; or None.

    Without center_errors, the mean square of the errors replaces their variance: R^2.
    """
    cdef Py_buffer views[2]
    cdef RealColumn columns[2]
    cdef int64_t states[5 * STATE_SIZE]
    cdef int inexact = 0
    cdef bint good = 0
    cdef double result = 0
    cdef int i
    if not open_short_columns(y_true, y_pred, views, columns):
        return None
    with nogil:
        memset(states, 0, sizeof(states))
        good = add_moments_of_rows(
            &columns[0], &columns[1], NULL, 0, 0, columns[0].rows, center_errors, 0, states, &inexact) and not inexact
        for i in range(5):
            good &= not count_non_finite(states + i * STATE_SIZE)
        good = good and divide_variances(states, two_sum(<double>columns[0].rows, 0), center_errors, &result)
    close_columns(views)
    return result if good else None


cdef bint divide_variances(int64_t* states, DoubleDouble n, bint center_errors, double* result) noexcept nogil:
    """Divide the variances from states without bands; n is the total weight. Return 0 if rounding is uncertain."""
    cdef DoubleDouble sums[5]
    cdef DoubleDouble target_variance, error_variance
    cdef double target_error, error
    cdef int i
    for i in range(5):
        if not load_double_double(states + i * STATE_SIZE, &sums[i]):
            return 0
    target_variance = scaled_variance(n, sums[1], sums[2], &target_error)
    if center_errors:
        error_variance = scaled_variance(n, sums[3], sums[4], &error)
    else:
        error_variance = multiply_double_doubles(n, sums[0])
        error = error_variance.high * 2.0 ** -92
    # Constant and nearly constant targets need the general path: the error bound is too close to the variance.
    if not target_variance.high > 2.0 ** 30 * target_error:
        return 0
    return one_minus_quotient(error_variance, error, target_variance, target_error, result)
