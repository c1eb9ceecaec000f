"""Moments for R^2 and explained variance: sums of targets, of errors and of their squares.

Arrays are as in errors.pyx. `sum_moments` sums in double-doubles (moment_sums.h), and `explained_fractions` divides
these sums where the rounding of the quotient is certain. Else `add_moments` adds without rounding: the product of two
doubles is the sum of two doubles (error_terms.h), and both are summed exactly. Products outside the range of float64
are rare. Such rows are added one by one to further states, the bands; each band has its own unit.
"""

from libc.math cimport NAN, fabs, frexp, ldexp
from libc.stdint cimport int64_t
from libc.string cimport memset

from fastmetrics._kernels.numeric.length_checks cimport need_length
from fastmetrics._kernels.numeric.quotient cimport (
    DoubleDouble, add_double_doubles, two_sum, multiply_double_doubles, negate_double_double, product_error,
    one_minus_quotient, count_non_finite,
)
from fastmetrics._kernels.columns.real_columns cimport (
    FLAG_INEXACT, FLAG_NOT_FINITE, FM_MATRIX_OUTPUTS, FM_MATRIX_ROWS, FM_TILE_OUTPUTS, FM_TILE_ROWS, Matrix,
    RealColumn, close_columns, has_contiguous_rows, load_matrix, load_rows, load_tile, need_rows, open_columns,
    open_short_columns, prefetch_rows,
)
from fastmetrics._kernels.numeric.superaccumulator cimport (
    CHUNK, CHUNKS_PER_CARRY, STATE_SIZE, add_chunk_at, add_value, normalize,
)

cdef extern from "regression/error_terms.h":
    void signed_errors "fm_signed"(const double* y, const double* p, Py_ssize_t n, double* out) noexcept nogil
    void squared_errors "fm_squared"(const double* y, const double* p, Py_ssize_t n, double* out) noexcept nogil
    int all_moderate "fm_all_moderate"(const double* values, Py_ssize_t n) noexcept nogil
    void exact_squares "fm_exact_squares"(const double* y, Py_ssize_t n, double* high, double* low) noexcept nogil
    void exact_products "fm_exact_products"(
        const double* w, const double* y, Py_ssize_t n, double* high, double* low
    ) noexcept nogil

cdef extern from "regression/moment_sums.h":
    cdef enum:
        FM_TOTAL, FM_SQUARES, FM_ERROR_TOTAL, FM_ERROR_SQUARES, FM_MOMENTS
    void add_chunk "fm_add_moments"(
        const double* y, const double* p, const double* w, Py_ssize_t n, bint center_errors, double* totals
    ) noexcept nogil
    void add_matrix_moments "fm_add_matrix_moments"(
        const double* y, Py_ssize_t y_stride, const double* p, Py_ssize_t p_stride, const double* w, Py_ssize_t rows,
        Py_ssize_t outputs, bint center_errors, double* totals
    ) noexcept nogil

cdef enum:
    N_BANDS = 7                 # band b is in units of 2**(1024 * (b - 3))
    MIDDLE_BAND = 3
    BAND_BITS = 10
    MOST_SUMS = 6               # of the products of a weight, a value and its square

MOMENTS = FM_MOMENTS
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


cdef void add_products(
    const double* weights, const double* values, Py_ssize_t n, int64_t* first, int64_t* second, int* exponents
) noexcept nogil:
    """Add w v of n <= CHUNK rows to the bands of `first` and w v v to those of `second`, exactly. No weights: w = 1.

    `exponents` are those of `add_chunk_at` for the MOST_SUMS sums of a column.
    """
    cdef double high[CHUNK]
    cdef double low[CHUNK]
    cdef double square[CHUNK]
    cdef double error[CHUNK]
    cdef double rest[CHUNK]
    cdef Py_ssize_t i
    if not all_moderate(values, n) or (weights != NULL and not all_moderate(weights, n)):
        for i in range(n):
            add_product_to_bands(1.0 if weights == NULL else weights[i], values[i], first, second)
        return
    first += MIDDLE_BAND * STATE_SIZE
    second += MIDDLE_BAND * STATE_SIZE
    if weights == NULL:
        for i in range(n):
            high[i] = values[i]
        add_chunk_at(first, high, n, rest, &exponents[0])
        exact_squares(values, n, square, error)
        add_chunk_at(second, square, n, rest, &exponents[1])
        add_chunk_at(second, error, n, rest, &exponents[2])
        return
    exact_products(weights, values, n, high, low)
    exact_products(high, values, n, square, error)
    add_chunk_at(first, high, n, rest, &exponents[0])
    add_chunk_at(second, square, n, rest, &exponents[1])
    add_chunk_at(second, error, n, rest, &exponents[2])
    exact_products(low, values, n, square, error)
    add_chunk_at(first, low, n, rest, &exponents[3])
    add_chunk_at(second, square, n, rest, &exponents[4])
    add_chunk_at(second, error, n, rest, &exponents[5])


cdef void add_chunk_of_moments(
    const double* y, const double* p, const double* weights, Py_ssize_t n, bint center_errors, int64_t* states,
    int* exponents
) noexcept nogil:
    """Add the moments of n <= CHUNK rows. `exponents`: two times MOST_SUMS, see add_products."""
    cdef double errors[CHUNK]
    cdef double rest[CHUNK]
    cdef int64_t* totals = states + STATE_SIZE
    cdef int64_t* error_totals = totals + 2 * N_BANDS * STATE_SIZE
    cdef Py_ssize_t i
    add_products(weights, y, n, totals, totals + N_BANDS * STATE_SIZE, exponents)
    if center_errors:
        signed_errors(y, p, n, errors)
        add_products(weights, errors, n, error_totals, error_totals + N_BANDS * STATE_SIZE, exponents + MOST_SUMS)
        return
    squared_errors(y, p, n, errors)
    if weights != NULL:
        for i in range(n):
            errors[i] *= weights[i]
    add_chunk_at(states, errors, n, rest, exponents + MOST_SUMS)


cdef void add_moments_of_rows(
    RealColumn* y, RealColumn* p, const double* weights, Py_ssize_t output, Py_ssize_t start, Py_ssize_t stop,
    bint center_errors, int64_t* states, int* inexact
) noexcept nogil:
    cdef double y_scratch[CHUNK]
    cdef double p_scratch[CHUNK]
    cdef const double* y_rows
    cdef const double* p_rows
    cdef const double* chunk_weights = NULL
    cdef Py_ssize_t n_states = 1 + (4 if center_errors else 2) * N_BANDS
    cdef Py_ssize_t i, length
    cdef Py_ssize_t n_chunks = 0
    cdef int exponents[2 * MOST_SUMS]
    memset(exponents, 0, sizeof(exponents))
    while start < stop:
        length = stop - start if stop - start < CHUNK else CHUNK
        y_rows = load_rows(y, output, start, length, y_scratch, inexact)
        p_rows = load_rows(p, output, start, length, p_scratch, inexact)
        prefetch_rows(y, start + length, CHUNK if stop - start - length > CHUNK else stop - start - length)
        prefetch_rows(p, start + length, CHUNK if stop - start - length > CHUNK else stop - start - length)
        if weights != NULL:
            chunk_weights = weights + start
        add_chunk_of_moments(y_rows, p_rows, chunk_weights, length, center_errors, states, exponents)
        start += length
        n_chunks += 1
        if n_chunks % (CHUNKS_PER_CARRY >> 3) == 0:
            for i in range(n_states):
                normalize(states + i * STATE_SIZE)
    for i in range(n_states):
        normalize(states + i * STATE_SIZE)


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
    need_rows(
        views, columns, start, stop, weights,
        states.shape[0] >= columns[0].n_outputs and states.shape[1] >= 1 + (4 if center_errors else 2) * N_BANDS
        and states.shape[2] == STATE_SIZE)
    with nogil:
        for output in range(columns[0].n_outputs):
            for i in range(states.shape[1]):
                before += count_non_finite(&states[output, i, 0])
            add_moments_of_rows(
                &columns[0], &columns[1], first_weight, output, start, stop, center_errors, &states[output, 0, 0],
                &inexact)
            for i in range(states.shape[1]):
                before -= count_non_finite(&states[output, i, 0])
    close_columns(views)
    return (FLAG_NOT_FINITE if before else 0) | (FLAG_INEXACT if inexact else 0)


def sum_moments(
    object y_true, object y_pred, const double[::1] weights or None, Py_ssize_t start, Py_ssize_t stop,
    bint center_errors, double[:, :, ::1] totals
) -> int:
    """Add the moments of rows start..stop to totals[output, moment], of MOMENTS moments. Return flags.

    The moments are the sums of w y, w y y, w d and w d d, where d = p - y. Without center_errors that of w d is not
    summed, and each term w d d is rounded. A moment is the sum of two doubles; it is NaN if a value or a product is no
    finite double.
    """
    cdef Py_buffer views[2]
    cdef RealColumn columns[2]
    cdef const double* first_weight = NULL
    cdef int inexact = 0
    if weights is not None and weights.shape[0]:
        first_weight = &weights[0]
    if not open_columns(y_true, y_pred, views, columns):
        raise TypeError("columns are not of a type that is read")
    need_rows(
        views, columns, start, stop, weights,
        totals.shape[0] >= columns[0].n_outputs and totals.shape[1] == FM_MOMENTS and totals.shape[2] == 2)
    with nogil:
        if columns[0].n_outputs == 1:
            sum_moments_of_rows(
                &columns[0], &columns[1], first_weight, start, stop, center_errors, &totals[0, 0, 0], &inexact)
        else:
            sum_moments_of_outputs(
                &columns[0], &columns[1], first_weight, start, stop, center_errors, &totals[0, 0, 0], &inexact)
    close_columns(views)
    return FLAG_INEXACT if inexact else 0


cdef void sum_moments_of_rows(
    RealColumn* y, RealColumn* p, const double* weights, Py_ssize_t start, Py_ssize_t stop, bint center_errors,
    double* totals, int* inexact
) noexcept nogil:
    cdef double y_scratch[CHUNK]
    cdef double p_scratch[CHUNK]
    cdef const double* y_rows
    cdef const double* p_rows
    cdef Py_ssize_t length, ahead
    while start < stop:
        length = min(stop - start, <Py_ssize_t>CHUNK)
        ahead = min(stop - start - length, <Py_ssize_t>CHUNK)
        y_rows = load_rows(y, 0, start, length, y_scratch, inexact)
        p_rows = load_rows(p, 0, start, length, p_scratch, inexact)
        prefetch_rows(y, start + length, ahead)
        prefetch_rows(p, start + length, ahead)
        add_chunk(y_rows, p_rows, NULL if weights == NULL else weights + start, length, center_errors, totals)
        start += length


cdef void sum_moments_of_outputs(
    RealColumn* y, RealColumn* p, const double* weights, Py_ssize_t start, Py_ssize_t stop, bint center_errors,
    double* totals, int* inexact
) noexcept nogil:
    """The same for a matrix: all outputs of a row are read together if they are side by side, else tile by tile."""
    cdef double y_scratch[FM_MATRIX_ROWS * FM_MATRIX_OUTPUTS]
    cdef double p_scratch[FM_MATRIX_ROWS * FM_MATRIX_OUTPUTS]
    cdef Matrix y_part, p_part
    cdef Py_ssize_t output, n_outputs, rows
    if not has_contiguous_rows(y) or not has_contiguous_rows(p):
        sum_moments_of_tiles(y, p, weights, start, stop, center_errors, totals, inexact)
        return
    while start < stop:
        rows = min(stop - start, <Py_ssize_t>FM_MATRIX_ROWS)
        output = 0
        while output < y.n_outputs:
            n_outputs = min(y.n_outputs - output, <Py_ssize_t>FM_MATRIX_OUTPUTS)
            y_part = load_matrix(y, output, n_outputs, start, rows, y_scratch, inexact)
            p_part = load_matrix(p, output, n_outputs, start, rows, p_scratch, inexact)
            add_matrix_moments(
                y_part.values, y_part.stride, p_part.values, p_part.stride,
                NULL if weights == NULL else weights + start, rows, n_outputs, center_errors,
                totals + 2 * FM_MOMENTS * output)
            output += n_outputs
        start += rows


cdef void sum_moments_of_tiles(
    RealColumn* y, RealColumn* p, const double* weights, Py_ssize_t start, Py_ssize_t stop, bint center_errors,
    double* totals, int* inexact
) noexcept nogil:
    cdef double y_tile[FM_TILE_ROWS * FM_TILE_OUTPUTS]
    cdef double p_tile[FM_TILE_ROWS * FM_TILE_OUTPUTS]
    cdef Py_ssize_t output, n_outputs, k, row, length, more
    output = 0
    while output < y.n_outputs:
        n_outputs = min(y.n_outputs - output, <Py_ssize_t>FM_TILE_OUTPUTS)
        row = start
        while row < stop:
            length = min(stop - row, <Py_ssize_t>FM_TILE_ROWS)
            more = min(stop - row - length, <Py_ssize_t>FM_TILE_ROWS)
            load_tile(y, output, n_outputs, row, length, more, y_tile, inexact)
            load_tile(p, output, n_outputs, row, length, more, p_tile, inexact)
            for k in range(n_outputs):
                add_chunk(
                    y_tile + k * FM_TILE_ROWS, p_tile + k * FM_TILE_ROWS, NULL if weights == NULL else weights + row,
                    length, center_errors, totals + 2 * FM_MOMENTS * (output + k))
            row += length
        output += n_outputs


def explained_fractions(
    double[:, :, ::1] totals, double weight, double weight_rest, Py_ssize_t rows, bint center_errors,
    double[::1] out
):
    """Write 1 - (variance of the errors) / (variance of the targets) of every output, rounded once.

    `totals` are from sum_moments; `weight` + `weight_rest` is the sum of the weights of the rows. NaN where the
    rounding is uncertain, or targets are nearly constant.
    """
    cdef DoubleDouble n = two_sum(weight, weight_rest)
    cdef Py_ssize_t output
    need_length(b"out", out.shape[0], totals.shape[0])
    need_length(b"moments", totals.shape[1], FM_MOMENTS)
    need_length(b"words of a sum", totals.shape[2], 2)
    with nogil:
        for output in range(totals.shape[0]):
            if not divide_variances(&totals[output, 0, 0], n, rows, center_errors, &out[output]):
                out[output] = NAN


def try_explained_variance(object y_true, object y_pred, bint center_errors) -> float | None:
    """Return 1 - (variance of the errors) / (variance of the targets) of few rows, rounded once; or None.

    Without center_errors, the mean square of the errors replaces their variance: R^2.
    """
    cdef Py_buffer views[2]
    cdef RealColumn columns[2]
    cdef double totals[2 * FM_MOMENTS]
    cdef int inexact = 0
    cdef bint good = 0
    cdef double result = 0
    if not open_short_columns(y_true, y_pred, views, columns):
        return None
    with nogil:
        memset(totals, 0, sizeof(totals))
        sum_moments_of_rows(&columns[0], &columns[1], NULL, 0, columns[0].rows, center_errors, totals, &inexact)
        good = not inexact and divide_variances(
            totals, two_sum(<double>columns[0].rows, 0), columns[0].rows, center_errors, &result)
    close_columns(views)
    return result if good else None


cdef inline bint load_double_double(const double* total, DoubleDouble* out) noexcept nogil:
    """Write a moment as a double-double. Returns 0 if products of such numbers could overflow or underflow."""
    out[0] = two_sum(total[0], total[1])
    return out.high == 0 or 2.0 ** -300 < fabs(out.high) < 2.0 ** 300


cdef inline DoubleDouble scaled_variance(DoubleDouble n, DoubleDouble total, DoubleDouble squares) noexcept nogil:
    """Return n * squares - total^2, which is n^2 times the variance."""
    return add_double_doubles(
        multiply_double_doubles(n, squares), negate_double_double(multiply_double_doubles(total, total)))


cdef bint divide_variances(
    const double* totals, DoubleDouble n, Py_ssize_t rows, bint center_errors, double* result
) noexcept nogil:
    """Divide the variances; n is the total weight. Return 0 if the rounding is uncertain.

    A sum has an error of at most `bound` times the sum of absolute values, which is at most sqrt(n * squares).
    """
    cdef DoubleDouble sums[FM_MOMENTS]
    cdef DoubleDouble target_variance, error_variance
    cdef double bound = 2.0 ** -84 + <double>rows * 2.0 ** -110
    cdef double target_error, error
    cdef int i
    if not 2.0 ** -300 < n.high < 2.0 ** 300:
        return 0
    for i in range(FM_MOMENTS):
        if not load_double_double(totals + 2 * i, &sums[i]):
            return 0
    target_variance = scaled_variance(n, sums[FM_TOTAL], sums[FM_SQUARES])
    target_error = 4 * bound * n.high * sums[FM_SQUARES].high
    if center_errors:
        error_variance = scaled_variance(n, sums[FM_ERROR_TOTAL], sums[FM_ERROR_SQUARES])
    else:
        error_variance = multiply_double_doubles(n, sums[FM_ERROR_SQUARES])
    error = 4 * bound * n.high * sums[FM_ERROR_SQUARES].high
    # Constant and nearly constant targets need the exact sums: the error bound is too close to the variance.
    if not target_variance.high > 2.0 ** 20 * target_error:
        return 0
    return one_minus_quotient(error_variance, error, target_variance, target_error, result)
