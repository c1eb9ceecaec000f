"""Exact sums of errors and deviances over rows; the largest and the median absolute error.

Targets and predictions are NumPy arrays of one shape, of any native integer or float type, with one dimension or two (a
column per output), in any layout (real_columns.pxd). Weights are contiguous float64, or None. The term of a row is
computed in float64 (error_terms.h), multiplied by the weight of the row and summed exactly (superaccumulator.pxd).
Values are not checked in a pass of their own. A state counts the terms that are not finite, and the returned flags
report values outside the domain of a deviance. The caller then searches for the row.

The `try_...` functions compute a whole call on few rows. If an argument needs the general path, they return None.
"""

from libc.math cimport ceil, fabs, frexp, isfinite, ldexp
from libc.stdint cimport int64_t
from libc.string cimport memset

from fastmetrics._kernels.numeric.quotient cimport (
    DoubleDouble, load_double_double, divide_state, two_sum, one_minus_quotient, count_non_finite,
)
from fastmetrics._kernels.columns.real_columns cimport (
    FLAG_INEXACT, FLAG_LOST, FLAG_NOT_FINITE, FLAG_OUTSIDE, FM_F64, FM_MATRIX_OUTPUTS, FM_MATRIX_ROWS,
    FM_TILE_OUTPUTS, FM_TILE_ROWS, Matrix, RealColumn, close_columns, fetch, has_contiguous_rows, join_rows,
    load_matrix, load_rows, load_tile, need_rows, open_columns, open_short_columns, prefetch_rows, rows_side_by_side,
)
from fastmetrics._kernels.numeric.superaccumulator cimport (
    CHUNK, FM_LANES, GUARD_BITS, HEADROOM, LEVEL_BITS, STATE_SIZE, add_chunk_at, add_value,
    carry_after, normalize,
)

cdef extern from "regression/error_terms.h":
    cdef enum:
        FM_SIGNED, FM_SQUARED, FM_ABSOLUTE, FM_PERCENTAGE, FM_PINBALL, FM_SQUARED_LOG, FM_POISSON, FM_GAMMA, FM_TWEEDIE
    int error_terms "fm_error_terms"(
        int kind, double parameter, const double* y, const double* p, Py_ssize_t n, double* out
    ) noexcept nogil
    int is_fused "fm_is_fused"(
        int kind, const char* y, Py_ssize_t y_stride, int y_type, const char* p, Py_ssize_t p_stride, int p_type
    ) noexcept nogil
    int fused_sums "fm_fused_sums"(
        int kind, int y_type, const char* y, int p_type, const char* p, Py_ssize_t n, const double* sigmas,
        double* totals, double* greatest
    ) noexcept nogil
    int is_matrix_kind "fm_is_matrix_kind"(int kind) noexcept nogil
    void matrix_sums "fm_matrix_sums"(
        int kind, double alpha, const double* y, Py_ssize_t y_stride, const double* p, Py_ssize_t p_stride,
        const double* weights, Py_ssize_t rows, Py_ssize_t outputs, double* high, double* low
    ) noexcept nogil
    void add_double_double "fm_add_double_double"(double* total, double high, double low) noexcept nogil
    void add_to_double_double "fm_add_to_double_double"(
        const double* values, Py_ssize_t n, double* total
    ) noexcept nogil
    double max_difference "fm_greatest_error"(const double* y, const double* p, Py_ssize_t n) noexcept nogil
    void absolute_errors "fm_absolute"(const double* y, const double* p, Py_ssize_t n, double* out) noexcept nogil

SIGNED = FM_SIGNED
SQUARED = FM_SQUARED
ABSOLUTE = FM_ABSOLUTE
PERCENTAGE = FM_PERCENTAGE
PINBALL = FM_PINBALL
SQUARED_LOG = FM_SQUARED_LOG
POISSON = FM_POISSON
GAMMA = FM_GAMMA
TWEEDIE = FM_TWEEDIE

cdef double SMALLEST = 2.0 ** -900  # a smaller mean of few rows needs the general path

NOT_FINITE = FLAG_NOT_FINITE
OUTSIDE = FLAG_OUTSIDE
INEXACT = FLAG_INEXACT


cdef inline bint add_fused(
    int kind, RealColumn* y, RealColumn* p, Py_ssize_t start, int* exponent, int64_t* state
) noexcept nogil:
    """Add the terms of CHUNK rows. Return 0 if a term is 2**exponent or greater: the chunk is then not added.

    Sums stay exact as in add_chunk (superaccumulator.pxd). The terms of a chunk may be up to 2**HEADROOM times those of
    the chunk that set the exponent. Then 3 LEVEL_BITS - HEADROOM = 127 bits below the largest term are summed.
    """
    cdef double totals[3 * FM_LANES]
    cdef double sigmas[3]
    cdef double greatest = 0
    cdef int i
    cdef int left
    sigmas[0] = ldexp(1.5, exponent[0] + GUARD_BITS)
    sigmas[1] = ldexp(sigmas[0], -LEVEL_BITS)
    sigmas[2] = ldexp(sigmas[1], -LEVEL_BITS)
    left = fused_sums(
        kind, y.type, y.data + start * y.row_stride, p.type, p.data + start * p.row_stride, CHUNK, sigmas, totals,
        &greatest)
    if left or not greatest < ldexp(1.0, exponent[0]):
        # The exponent for the next chunk. It is changed only if the largest term is far from the limits of float64.
        if 1e-200 < greatest < 1e200:
            frexp(greatest, exponent)
            exponent[0] += HEADROOM
        return 0
    for i in range(3 * FM_LANES):
        add_value(state, totals[i])
    return 1


cdef int add_terms(
    int kind, double parameter, RealColumn* y, RealColumn* p, const double* weights, Py_ssize_t output,
    Py_ssize_t start, Py_ssize_t stop, int64_t* state
) noexcept nogil:
    """Add the terms of rows start..stop of one output to a state. Return flags."""
    cdef double y_scratch[CHUNK]
    cdef double p_scratch[CHUNK]
    cdef const double* y_rows
    cdef const double* p_rows
    cdef Py_ssize_t length, ahead
    cdef int inexact = 0
    cdef int outside = 0
    cdef int64_t before = count_non_finite(state)
    cdef int exponent = 0
    cdef double constant[CHUNK]
    cdef RealColumn filled
    cdef bint fused
    if p.row_stride == 0 and stop - start > CHUNK and y.n_outputs == 1:
        # A constant fills one chunk, and all chunks are read there.
        filled = p[0]
        fetch(p.data, 0, p.type, CHUNK, constant)
        filled.data = <const char*>constant
        filled.type = FM_F64
        p = &filled
    fused = (
        weights == NULL and stop - start > CHUNK and y.n_outputs == 1
        and is_fused(kind, y.data, y.row_stride, y.type, p.data, p.row_stride if p.row_stride else 8, p.type)
    )
    while start < stop:
        length = stop - start if stop - start < CHUNK else CHUNK
        if not (fused and length == CHUNK and add_fused(kind, y, p, start, &exponent, state)):
            y_rows = load_rows(y, output, start, length, y_scratch, &inexact)
            p_rows = load_rows(p, output, start, length, p_scratch, &inexact)
            ahead = CHUNK if stop - start - length > CHUNK else stop - start - length
            prefetch_rows(y, start + length, ahead)
            prefetch_rows(p, start + length, ahead)
            outside |= add_chunk_of_terms(
                kind, parameter, y_rows, p_rows, NULL if weights == NULL else weights + start, length, y_scratch, state,
                &exponent)
        start += length
        carry_after(state, start)
    normalize(state)
    return flags_of(before, count_non_finite(state), outside, inexact)


cdef inline int add_chunk_of_terms(
    int kind, double parameter, const double* y, const double* p, const double* weights, Py_ssize_t n, double* scratch,
    int64_t* state, int* exponent
) noexcept nogil:
    """Add the terms of n <= CHUNK rows. The scratch may be the memory of y. Return what `error_terms` returns."""
    cdef double terms[CHUNK]
    cdef Py_ssize_t i
    cdef int outside = error_terms(kind, parameter, y, p, n, terms)
    if weights != NULL:
        for i in range(n):
            terms[i] *= weights[i]
    add_chunk_at(state, terms, n, scratch, exponent)
    return outside


cdef int add_terms_to_totals(
    int kind, double parameter, RealColumn* y, RealColumn* p, const double* weights, Py_ssize_t start, Py_ssize_t stop,
    double* totals
) noexcept nogil:
    """Add the terms of rows start..stop of all outputs to the total of each. Return flags."""
    cdef double y_tile[FM_TILE_ROWS * FM_TILE_OUTPUTS]
    cdef double p_tile[FM_TILE_ROWS * FM_TILE_OUTPUTS]
    cdef double terms[FM_TILE_ROWS]
    cdef Py_ssize_t n_outputs, k, i, row, length, more
    cdef Py_ssize_t output = 0
    cdef int inexact = 0
    cdef int outside = 0
    if is_matrix_kind(kind) and has_contiguous_rows(y) and has_contiguous_rows(p):
        return add_matrix_to_totals(kind, parameter, y, p, weights, start, stop, totals)
    while output < y.n_outputs:
        n_outputs = min(y.n_outputs - output, <Py_ssize_t>FM_TILE_OUTPUTS)
        row = start
        while row < stop:
            length = min(stop - row, <Py_ssize_t>FM_TILE_ROWS)
            more = min(stop - row - length, <Py_ssize_t>FM_TILE_ROWS)
            load_tile(y, output, n_outputs, row, length, more, y_tile, &inexact)
            load_tile(p, output, n_outputs, row, length, more, p_tile, &inexact)
            for k in range(n_outputs):
                outside |= error_terms(
                    kind, parameter, y_tile + k * FM_TILE_ROWS, p_tile + k * FM_TILE_ROWS, length, terms)
                if weights != NULL:
                    for i in range(length):
                        terms[i] *= weights[row + i]
                add_to_double_double(terms, length, totals + 2 * (output + k))
            row += length
        output += n_outputs
    return flags_of(0, 0, outside, inexact)


cdef int add_matrix_to_totals(
    int kind, double parameter, RealColumn* y, RealColumn* p, const double* weights, Py_ssize_t start, Py_ssize_t stop,
    double* totals
) noexcept nogil:
    """The same for matrices whose rows are contiguous: all outputs of a row are read together.

    Rows of few outputs without weights are joined, so that the loop over outputs is long.
    """
    cdef double y_scratch[FM_MATRIX_ROWS * FM_MATRIX_OUTPUTS]
    cdef double p_scratch[FM_MATRIX_ROWS * FM_MATRIX_OUTPUTS]
    cdef double high[FM_MATRIX_OUTPUTS]
    cdef double low[FM_MATRIX_OUTPUTS]
    cdef Matrix y_part, p_part
    cdef RealColumn y_joined, p_joined
    cdef Py_ssize_t output, n_outputs, rows, k
    cdef Py_ssize_t width = y.n_outputs
    cdef Py_ssize_t n_joined = 1 if weights != NULL else rows_side_by_side(y, p)
    cdef int inexact = 0
    if n_joined > 1 and start % n_joined == 0 and stop - start >= 4 * n_joined:
        y_joined = join_rows(y, n_joined)
        p_joined = join_rows(p, n_joined)
        while stop - start >= n_joined:
            rows = min((stop - start) // n_joined, <Py_ssize_t>FM_MATRIX_ROWS)
            y_part = load_matrix(&y_joined, 0, y_joined.n_outputs, start // n_joined, rows, y_scratch, &inexact)
            p_part = load_matrix(&p_joined, 0, y_joined.n_outputs, start // n_joined, rows, p_scratch, &inexact)
            matrix_sums(
                kind, parameter, y_part.values, y_part.stride, p_part.values, p_part.stride, NULL, rows,
                y_joined.n_outputs, high, low)
            for k in range(y_joined.n_outputs):
                add_double_double(totals + 2 * (k % width), high[k], low[k])
            start += rows * n_joined
    while start < stop:
        rows = min(stop - start, <Py_ssize_t>FM_MATRIX_ROWS)
        output = 0
        while output < y.n_outputs:
            n_outputs = min(y.n_outputs - output, <Py_ssize_t>FM_MATRIX_OUTPUTS)
            y_part = load_matrix(y, output, n_outputs, start, rows, y_scratch, &inexact)
            p_part = load_matrix(p, output, n_outputs, start, rows, p_scratch, &inexact)
            matrix_sums(
                kind, parameter, y_part.values, y_part.stride, p_part.values, p_part.stride,
                NULL if weights == NULL else weights + start, rows, n_outputs, high, low)
            for k in range(n_outputs):
                add_double_double(totals + 2 * (output + k), high[k], low[k])
            output += n_outputs
        start += rows
    return FLAG_INEXACT if inexact else 0


cdef inline int flags_of(int64_t before, int64_t after, int outside, int inexact) noexcept nogil:
    """Flags from the numbers of infinite sums before and after, and from what was seen in the rows."""
    return (
        (FLAG_NOT_FINITE if before != after else 0) | (FLAG_OUTSIDE if outside & 1 else 0)
        | (FLAG_LOST if outside & 2 else 0) | (FLAG_INEXACT if inexact else 0)
    )


def add_error_terms(
    object y_true, object y_pred, const double[::1] weights or None, int kind, double parameter, Py_ssize_t start,
    Py_ssize_t stop, int64_t[:, ::1] states
) -> int:
    """Add the (weighted) terms of rows start..stop to states[output], normalized before and after. Return flags."""
    cdef Py_buffer views[2]
    cdef RealColumn columns[2]
    cdef const double* first_weight = NULL
    cdef Py_ssize_t output
    cdef int flags = 0
    if weights is not None and weights.shape[0]:
        first_weight = &weights[0]
    if not open_columns(y_true, y_pred, views, columns):
        raise TypeError("columns are not of a type that is read")
    need_rows(
        views, columns, start, stop, weights,
        states.shape[0] >= columns[0].n_outputs and states.shape[1] == STATE_SIZE)
    try:
        with nogil:
            for output in range(columns[0].n_outputs):
                flags |= add_terms(
                    kind, parameter, &columns[0], &columns[1], first_weight, output, start, stop, &states[output, 0])
    finally:
        close_columns(views)
    return flags


def add_error_terms_to_totals(
    object y_true, object y_pred, const double[::1] weights or None, int kind, double parameter, Py_ssize_t start,
    Py_ssize_t stop, double[:, ::1] totals
) -> int:
    """Add the (weighted) terms of rows start..stop to totals[output], sums of two doubles. Return flags.

    A sum has a relative error below 2**-84 + rows 2**-110. It is NaN if a term is not finite.
    """
    cdef Py_buffer views[2]
    cdef RealColumn columns[2]
    cdef const double* first_weight = NULL
    cdef int flags = 0
    if weights is not None and weights.shape[0]:
        first_weight = &weights[0]
    if not open_columns(y_true, y_pred, views, columns):
        raise TypeError("columns are not of a type that is read")
    need_rows(
        views, columns, start, stop, weights, totals.shape[0] >= columns[0].n_outputs and totals.shape[1] == 2)
    try:
        with nogil:
            flags = add_terms_to_totals(
                kind, parameter, &columns[0], &columns[1], first_weight, start, stop, &totals[0, 0])
    finally:
        close_columns(views)
    return flags


def write_error_terms(
    object y_true, object y_pred, const double[::1] weights or None, int kind, double parameter, double[::1] out
) -> int:
    """Write the (weighted) term of every row of two columns to out. Return flags."""
    cdef Py_buffer views[2]
    cdef RealColumn columns[2]
    cdef double y_scratch[CHUNK]
    cdef double p_scratch[CHUNK]
    cdef const double* y_rows
    cdef const double* p_rows
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t length, i
    cdef int inexact = 0
    cdef int outside = 0
    cdef bint finite = 1
    if not open_columns(y_true, y_pred, views, columns):
        raise TypeError("columns are not of a type that is read")
    need_rows(views, columns, 0, columns[0].rows, weights, True)
    try:
        if columns[0].n_outputs != 1 or columns[0].rows > out.shape[0]:
            raise ValueError("terms of matrices are not written, and every term needs a place")
        with nogil:
            while start < columns[0].rows:
                length = min(columns[0].rows - start, <Py_ssize_t>CHUNK)
                y_rows = load_rows(&columns[0], 0, start, length, y_scratch, &inexact)
                p_rows = load_rows(&columns[1], 0, start, length, p_scratch, &inexact)
                outside |= error_terms(kind, parameter, y_rows, p_rows, length, &out[start])
                for i in range(start, start + length):
                    if weights is not None:
                        out[i] *= weights[i]
                    finite &= isfinite(out[i])
                start += length
    finally:
        close_columns(views)
    return flags_of(finite, 1, outside, inexact)


def try_mean_error(object y_true, object y_pred, int kind, double parameter=0.0) -> float | None:
    """Return the mean term of few rows, rounded once; None if the general path is needed."""
    cdef Py_buffer views[2]
    cdef RealColumn columns[2]
    cdef int64_t state[STATE_SIZE]
    cdef double result = 0
    cdef bint good = 0
    if not open_short_columns(y_true, y_pred, views, columns):
        return None
    with nogil:
        memset(state, 0, sizeof(state))
        if not add_terms(kind, parameter, &columns[0], &columns[1], NULL, 0, 0, columns[0].rows, state):
            good = divide_state(state, two_sum(<double>columns[0].rows, 0), &result)
        if good and fabs(result) < SMALLEST:
            # Terms may have underflowed, unless all errors are zero.
            good = find_max_error(&columns[0], &columns[1], 0, columns[0].rows) == 0
    close_columns(views)
    return result if good else None


def max_error_of_rows(object y_true, object y_pred, Py_ssize_t start, Py_ssize_t stop) -> float:
    """Return the largest absolute error of rows start..stop; -1 if a value is not finite or not exact."""
    cdef Py_buffer views[2]
    cdef RealColumn columns[2]
    cdef double result = 0
    if not open_columns(y_true, y_pred, views, columns):
        raise TypeError("columns are not of a type that is read")
    need_rows(views, columns, start, stop, None, True)
    with nogil:
        result = find_max_error(&columns[0], &columns[1], start, stop)
    close_columns(views)
    return result


def try_max_error(object y_true, object y_pred) -> float | None:
    """Return the largest absolute error of few rows; None if the general path is needed."""
    cdef Py_buffer views[2]
    cdef RealColumn columns[2]
    cdef double result = 0
    if not open_short_columns(y_true, y_pred, views, columns):
        return None
    with nogil:
        result = find_max_error(&columns[0], &columns[1], 0, columns[0].rows)
    close_columns(views)
    return result if result >= 0 else None


cdef double find_max_error(RealColumn* y, RealColumn* p, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    cdef double y_scratch[CHUNK]
    cdef double p_scratch[CHUNK]
    cdef const double* y_rows
    cdef const double* p_rows
    cdef Py_ssize_t length
    cdef double greatest = 0
    cdef double chunk_max
    cdef int inexact = 0
    while start < stop:
        length = stop - start if stop - start < CHUNK else CHUNK
        y_rows = load_rows(y, 0, start, length, y_scratch, &inexact)
        p_rows = load_rows(p, 0, start, length, p_scratch, &inexact)
        chunk_max = max_difference(y_rows, p_rows, length)
        if chunk_max < 0 or inexact:
            return -1
        greatest = chunk_max if chunk_max > greatest else greatest
        start += length
    return greatest


def write_absolute_errors(
    object y_true, object y_pred, Py_ssize_t start, Py_ssize_t stop, double[:, ::1] out
) -> int:
    """Write the absolute errors of rows start..stop to out[output, row]. Return flags."""
    cdef Py_buffer views[2]
    cdef RealColumn columns[2]
    cdef double y_scratch[CHUNK]
    cdef double p_scratch[CHUNK]
    cdef const double* y_rows
    cdef const double* p_rows
    cdef Py_ssize_t n_outputs, length, output, k
    cdef int inexact = 0
    cdef int not_finite = 0
    if not open_columns(y_true, y_pred, views, columns):
        raise TypeError("columns are not of a type that is read")
    need_rows(views, columns, start, stop, None, out.shape[0] >= columns[0].n_outputs and out.shape[1] >= stop)
    with nogil:
        if columns[0].n_outputs == 1:
            while start < stop:
                length = min(stop - start, <Py_ssize_t>CHUNK)
                y_rows = load_rows(&columns[0], 0, start, length, y_scratch, &inexact)
                p_rows = load_rows(&columns[1], 0, start, length, p_scratch, &inexact)
                not_finite |= max_difference(y_rows, p_rows, length) < 0
                absolute_errors(y_rows, p_rows, length, &out[0, start])
                start += length
        while start < stop:
            length = min(stop - start, <Py_ssize_t>FM_TILE_ROWS)
            output = 0
            while output < columns[0].n_outputs:
                n_outputs = min(columns[0].n_outputs - output, <Py_ssize_t>FM_TILE_OUTPUTS)
                load_tile(&columns[0], output, n_outputs, start, length, 0, y_scratch, &inexact)
                load_tile(&columns[1], output, n_outputs, start, length, 0, p_scratch, &inexact)
                for k in range(n_outputs):
                    y_rows = y_scratch + k * FM_TILE_ROWS
                    p_rows = p_scratch + k * FM_TILE_ROWS
                    not_finite |= max_difference(y_rows, p_rows, length) < 0
                    absolute_errors(y_rows, p_rows, length, &out[output + k, start])
                output += n_outputs
            start += length
    close_columns(views)
    return (FLAG_NOT_FINITE if not_finite else 0) | (FLAG_INEXACT if inexact else 0)


cdef double quickselect(double* values, Py_ssize_t n, Py_ssize_t rank) noexcept nogil:
    """Return the value of a rank (from 0), by C. A. R. Hoare's FIND. Smaller values are moved before it."""
    cdef Py_ssize_t low = 0
    cdef Py_ssize_t high = n - 1
    cdef Py_ssize_t i, j
    cdef double pivot, swap
    while low < high:
        pivot = values[(low + high) >> 1]
        i = low
        j = high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                swap = values[i]
                values[i] = values[j]
                values[j] = swap
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return values[rank]


def try_median_error(object y_true, object y_pred) -> float | None:
    """Return the median absolute error of few rows; None if the general path is needed."""
    cdef Py_buffer views[2]
    cdef RealColumn columns[2]
    cdef double y_scratch[CHUNK]
    cdef double p_scratch[CHUNK]
    cdef double absolute[CHUNK]
    cdef const double* y_rows
    cdef const double* p_rows
    cdef Py_ssize_t i
    cdef Py_ssize_t n = 0
    cdef int inexact = 0
    cdef double result = -1
    cdef double lower_middle
    if not open_short_columns(y_true, y_pred, views, columns):
        return None
    n = columns[0].rows
    if n <= CHUNK:
        with nogil:
            y_rows = load_rows(&columns[0], 0, 0, n, y_scratch, &inexact)
            p_rows = load_rows(&columns[1], 0, 0, n, p_scratch, &inexact)
            if max_difference(y_rows, p_rows, n) >= 0 and not inexact:
                absolute_errors(y_rows, p_rows, n, absolute)
                result = quickselect(absolute, n, n >> 1)
                if n % 2 == 0:
                    lower_middle = absolute[0]
                    for i in range(1, n >> 1):
                        lower_middle = absolute[i] if absolute[i] > lower_middle else lower_middle
                    result = (lower_middle + result) / 2
    close_columns(views)
    return result if result >= 0 else None


cdef inline RealColumn constant_column(const double* value, Py_ssize_t rows) noexcept nogil:
    cdef RealColumn column
    column.data = <const char*>value
    column.rows = rows
    column.row_stride = 0
    column.n_outputs = 1
    column.output_stride = 0
    column.type = FM_F64
    return column


def try_d2_tweedie(object y_true, object y_pred, int kind, double power) -> float | None:
    """Return 1 - (mean deviance) / (mean deviance of the targets' mean) of few rows, at least two; or None."""
    cdef Py_buffer views[2]
    cdef RealColumn columns[2]
    cdef RealColumn other
    cdef int64_t states[3 * STATE_SIZE]
    cdef Py_ssize_t rows
    cdef DoubleDouble n
    cdef double constant = 0
    cdef double deviance = 0
    cdef double null_deviance = 0
    cdef bint good = 0
    if not open_short_columns(y_true, y_pred, views, columns):
        return None
    rows = columns[0].rows
    if rows > 1:
        with nogil:
            memset(states, 0, sizeof(states))
            n = two_sum(<double>rows, 0)
            other = constant_column(&constant, rows)
            good = (
                not add_terms(kind, power, &columns[0], &columns[1], NULL, 0, 0, rows, states)
                and divide_state(states, n, &deviance)
                and not add_terms(FM_SIGNED, 0, &other, &columns[0], NULL, 0, 0, rows, states + STATE_SIZE)
                and divide_state(states + STATE_SIZE, n, &constant)
                and not add_terms(kind, power, &columns[0], &other, NULL, 0, 0, rows, states + 2 * STATE_SIZE)
                and divide_state(states + 2 * STATE_SIZE, n, &null_deviance)
                and null_deviance != 0
            )
    close_columns(views)
    return 1 - deviance / null_deviance if good else None


cdef double select_quantile(double* values, Py_ssize_t n, double level) noexcept nogil:
    """Return the quantile as quantiles.quantile in metrics/regression does. The values are reordered."""
    cdef double target_rank = level * 100 / 100 * <double>n
    cdef Py_ssize_t rank = <Py_ssize_t>ceil(target_rank)
    cdef Py_ssize_t i
    cdef double low, high
    rank = 1 if rank < 1 else n if rank > n else rank
    low = quickselect(values, n, rank - 1)
    if target_rank <= 0 or <double>rank - target_rank > 2.0 ** -52 or rank == n:
        return low
    high = values[rank]
    for i in range(rank + 1, n):
        high = values[i] if values[i] < high else high
    return low if low == high else (low + high) / 2


def try_d2_pinball(object y_true, object y_pred, double alpha) -> float | None:
    """Return 1 - (pinball loss) / (pinball loss of the targets' quantile) of few rows, at least two; or None."""
    cdef Py_buffer views[2]
    cdef RealColumn columns[2]
    cdef RealColumn other
    cdef double sorted_targets[CHUNK]
    cdef int64_t states[2 * STATE_SIZE]
    cdef DoubleDouble loss, null_loss
    cdef const double* rows
    cdef Py_ssize_t i, n
    cdef int inexact = 0
    cdef double constant = 0
    cdef double result = 0
    cdef bint good = 0
    if not open_short_columns(y_true, y_pred, views, columns):
        return None
    n = columns[0].rows
    if 1 < n <= CHUNK:
        with nogil:
            memset(states, 0, sizeof(states))
            if not add_terms(FM_PINBALL, alpha, &columns[0], &columns[1], NULL, 0, 0, n, states):
                rows = load_rows(&columns[0], 0, 0, n, sorted_targets, &inexact)
                if rows != sorted_targets:
                    for i in range(n):
                        sorted_targets[i] = rows[i]
                constant = select_quantile(sorted_targets, n, alpha)
                other = constant_column(&constant, n)
                good = (
                    not add_terms(FM_PINBALL, alpha, &columns[0], &other, NULL, 0, 0, n, states + STATE_SIZE)
                    and load_double_double(states, &loss) and load_double_double(
                        states + STATE_SIZE, &null_loss) and null_loss.high > SMALLEST
                )
                if good:
                    good = one_minus_quotient(
                        loss, loss.high * 2.0 ** -92, null_loss, null_loss.high * 2.0 ** -92, &result)
    close_columns(views)
    return result if good else None
