"""Sums over rows of what a prediction costs: errors, deviances, and the moments behind explained variance.

Targets and predictions are NumPy arrays of any native integer or float type, of one dimension or of two (a column per
output), in any layout (realcolumns.pxd), both of the same shape; weights are contiguous float64 or None. A row's term
is computed in float64 (errorterms.h), then multiplied by its weight, then summed exactly (superaccumulator.pxd).
Nothing is looked at beforehand: what is not finite shows in the counters of a state, and what a deviance is not defined
for in the flags returned. The caller then looks for the row.

`mean_error`, `explained` and others do a whole call on few rows. They return None where anything is out of the
ordinary, and the caller goes the long way.
"""

from cpython.buffer cimport PyBuffer_Release
from libc.math cimport ceil, fabs, frexp, ldexp
from libc.stdint cimport int64_t
from libc.string cimport memset

from numpy import ndarray as _ndarray

from fastmetrics._kernels.quotient cimport (
    Pair, add_pairs, certain, divide, exact_add, leading, multiply_pairs, negative, product_error, scaled,
)
from fastmetrics._kernels.realcolumns cimport FM_F64, Column, open_column, rows_of
from fastmetrics._kernels.superaccumulator cimport (
    CHUNK, CHUNKS_PER_CARRY, FM_LANES, MINUS_INFINITIES, NANS, PLUS_INFINITIES, STATE_SIZE, add_chunk, add_value,
    normalise,
)

cdef extern from "errorterms.h":
    cdef enum:
        FM_SIGNED, FM_SQUARED, FM_ABSOLUTE, FM_PERCENTAGE, FM_PINBALL, FM_SQUARED_LOG, FM_POISSON, FM_GAMMA, FM_TWEEDIE
    int error_terms "fm_error_terms"(
        int kind, double parameter, const double* y, const double* p, Py_ssize_t n, double* out
    ) noexcept nogil
    int is_fused "fm_is_fused"(
        int kind, const char* y, Py_ssize_t y_stride, int y_type, const char* p, Py_ssize_t p_stride, int p_type
    ) noexcept nogil
    int fused_sums "fm_fused_sums"(
        int kind, int y_type, const char* y, int p_type, const char* p, Py_ssize_t n, double sigma_first,
        double sigma_second, double* totals, double* greatest
    ) noexcept nogil
    double greatest_difference "fm_greatest_error"(const double* y, const double* p, Py_ssize_t n) noexcept nogil
    void signed_errors "fm_signed"(const double* y, const double* p, Py_ssize_t n, double* out) noexcept nogil
    void squared_errors "fm_squared"(const double* y, const double* p, Py_ssize_t n, double* out) noexcept nogil
    void absolute_errors "fm_absolute"(const double* y, const double* p, Py_ssize_t n, double* out) noexcept nogil
    int all_moderate "fm_all_moderate"(const double* values, Py_ssize_t n) noexcept nogil
    void exact_squares "fm_exact_squares"(const double* y, Py_ssize_t n, double* high, double* low) noexcept nogil
    void exact_products "fm_exact_products"(
        const double* w, const double* y, Py_ssize_t n, double* high, double* low
    ) noexcept nogil

SIGNED = FM_SIGNED
SQUARED = FM_SQUARED
ABSOLUTE = FM_ABSOLUTE
PERCENTAGE = FM_PERCENTAGE
PINBALL = FM_PINBALL
SQUARED_LOG = FM_SQUARED_LOG
POISSON = FM_POISSON
GAMMA = FM_GAMMA
TWEEDIE = FM_TWEEDIE

cdef enum:
    FEW_ROWS = 1 << 15          # so many rows take less time than a thread to start
    FLAG_NOT_FINITE = 1
    FLAG_OUTSIDE = 2
    FLAG_INEXACT = 4
    N_BANDS = 7                 # sums of products: band b is in units of 2**(1024 * (b - 3))
    MIDDLE_BAND = 3
    BAND_BITS = 10
    FUSED_BITS = 8
    FUSED_LEVEL = 45

NOT_FINITE = FLAG_NOT_FINITE
OUTSIDE = FLAG_OUTSIDE
INEXACT = FLAG_INEXACT
BANDS = N_BANDS
BAND_SHIFT = 1 << BAND_BITS


cdef inline int64_t specials(const int64_t* state) noexcept nogil:
    return state[PLUS_INFINITIES] + state[MINUS_INFINITIES] + state[NANS]


cdef inline bint add_fused(
    int kind, Column* y, Column* p, Py_ssize_t start, int* exponent, int64_t* state
) noexcept nogil:
    """Add the terms of CHUNK rows, none of them 2**exponent or greater; 0 where they are not what was expected.

    A lane sums CHUNK / FM_LANES = 2**7 values: with FUSED_BITS = 8 above the greatest their sum stays exact, and 45
    bits of every value belong to each of the two places (superaccumulator.pxd).
    """
    cdef double totals[2 * FM_LANES]
    cdef double greatest = 0
    cdef int i
    cdef int left
    cdef double first = ldexp(1.5, exponent[0] + FUSED_BITS)
    left = fused_sums(
        kind, y.type, y.data + start * y.row_stride, p.type, p.data + start * p.row_stride, CHUNK, first,
        ldexp(first, -FUSED_LEVEL), totals, &greatest)
    if left or not greatest < ldexp(1.0, exponent[0]):
        # For the next chunk; only a greatest value far from the limits of float64 will do.
        if 1e-200 < greatest < 1e200:
            frexp(greatest, exponent)
        return 0
    for i in range(2 * FM_LANES):
        add_value(state, totals[i])
    return 1


cdef int add_terms(
    int kind, double parameter, Column* y, Column* p, const double* weights, Py_ssize_t start, Py_ssize_t stop,
    int64_t* states
) noexcept nogil:
    """Add the terms of rows start..stop to the state of each output. Returns flags."""
    cdef double y_room[CHUNK]
    cdef double p_room[CHUNK]
    cdef double terms[CHUNK]
    cdef const double* y_rows
    cdef const double* p_rows
    cdef Py_ssize_t i, length, output
    cdef Py_ssize_t n_chunks = 0
    cdef int inexact = 0
    cdef int outside = 0
    cdef int64_t before = 0
    cdef int exponent = 0
    cdef bint fused = (
        weights == NULL and y.n_outputs == 1 and stop - start > CHUNK
        and is_fused(kind, y.data, y.row_stride, y.type, p.data, p.row_stride, p.type)
    )
    for output in range(y.n_outputs):
        before += specials(states + output * STATE_SIZE)
    while start < stop:
        length = stop - start if stop - start < CHUNK else CHUNK
        for output in range(y.n_outputs):
            if fused and length == CHUNK and add_fused(kind, y, p, start, &exponent, states):
                continue
            y_rows = rows_of(y, output, start, length, y_room, &inexact)
            p_rows = rows_of(p, output, start, length, p_room, &inexact)
            outside |= error_terms(kind, parameter, y_rows, p_rows, length, terms)
            if weights != NULL:
                for i in range(length):
                    terms[i] *= weights[start + i]
            # What was converted has been read: its room serves the sum.
            add_chunk(states + output * STATE_SIZE, terms, length, y_room)
        start += length
        n_chunks += 1
        if n_chunks % CHUNKS_PER_CARRY == 0:
            for output in range(y.n_outputs):
                normalise(states + output * STATE_SIZE)
    for output in range(y.n_outputs):
        normalise(states + output * STATE_SIZE)
        before -= specials(states + output * STATE_SIZE)
    return (FLAG_NOT_FINITE if before else 0) | (FLAG_OUTSIDE if outside else 0) | (FLAG_INEXACT if inexact else 0)


cdef inline bint open_both(object y_true, object y_pred, Py_buffer* views, Column* columns) except -1:
    """0 where the arrays are of types that are not read; else both are to be released."""
    if not open_column(y_true, &views[0], &columns[0]):
        return 0
    try:
        if open_column(y_pred, &views[1], &columns[1]):
            return 1
    except BaseException:
        PyBuffer_Release(&views[0])
        raise
    PyBuffer_Release(&views[0])
    return 0


cdef inline void close_both(Py_buffer* views) noexcept:
    PyBuffer_Release(&views[0])
    PyBuffer_Release(&views[1])


cdef inline bint open_few(object y_true, object y_pred, Py_buffer* views, Column* columns):
    """Are these two plain columns of one length, not too long? If so, they are to be released."""
    # Subclasses may hide a mask.
    if type(y_true) is not _ndarray or type(y_pred) is not _ndarray:
        return 0
    try:
        if not open_both(y_true, y_pred, views, columns):
            return 0
    except (ValueError, BufferError):
        return 0
    if (
        columns[0].rows == columns[1].rows and 1 <= columns[0].rows <= FEW_ROWS
        and columns[0].n_outputs == 1 and columns[1].n_outputs == 1
    ):
        return 1
    close_both(views)
    return 0


def add_errors(
    object y_true, object y_pred, const double[::1] weights, int kind, double parameter, Py_ssize_t start,
    Py_ssize_t stop, int64_t[:, ::1] states
):
    """Add the (weighted) terms of rows start..stop to states[output], normalised before and after. Returns flags."""
    cdef Py_buffer views[2]
    cdef Column columns[2]
    cdef const double* first_weight = NULL
    cdef int flags = 0
    if weights is not None and weights.shape[0]:
        first_weight = &weights[0]
    if not open_both(y_true, y_pred, views, columns):
        raise TypeError("columns are not of a type that is read")
    try:
        with nogil:
            flags = add_terms(
                kind, parameter, &columns[0], &columns[1], first_weight, start, stop, &states[0, 0])
    finally:
        close_both(views)
    return flags


def mean_error(object y_true, object y_pred, int kind, double parameter):
    """The mean term of few rows as a float, rounded once; or None."""
    cdef Py_buffer views[2]
    cdef Column columns[2]
    cdef int64_t state[STATE_SIZE]
    cdef double result = 0
    cdef bint good = 0
    if not open_few(y_true, y_pred, views, columns):
        return None
    with nogil:
        memset(state, 0, sizeof(state))
        if not add_terms(kind, parameter, &columns[0], &columns[1], NULL, 0, columns[0].rows, state):
            good = divide(state, exact_add(<double>columns[0].rows, 0), 0, &result)
    close_both(views)
    return result if good else None


def greatest_error(object y_true, object y_pred, Py_ssize_t start, Py_ssize_t stop):
    """The greatest absolute error of rows start..stop, of one output; -1 where a value is not finite or not exact."""
    cdef Py_buffer views[2]
    cdef Column columns[2]
    cdef double result = 0
    if not open_both(y_true, y_pred, views, columns):
        raise TypeError("columns are not of a type that is read")
    with nogil:
        result = greatest_in(&columns[0], &columns[1], start, stop)
    close_both(views)
    return result


def greatest_of_few(object y_true, object y_pred):
    """The greatest absolute error of few rows; or None."""
    cdef Py_buffer views[2]
    cdef Column columns[2]
    cdef double result = 0
    if not open_few(y_true, y_pred, views, columns):
        return None
    with nogil:
        result = greatest_in(&columns[0], &columns[1], 0, columns[0].rows)
    close_both(views)
    return result if result >= 0 else None


cdef double greatest_in(Column* y, Column* p, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    cdef double y_room[CHUNK]
    cdef double p_room[CHUNK]
    cdef const double* y_rows
    cdef const double* p_rows
    cdef Py_ssize_t length
    cdef double greatest = 0
    cdef double own
    cdef int inexact = 0
    while start < stop:
        length = stop - start if stop - start < CHUNK else CHUNK
        y_rows = rows_of(y, 0, start, length, y_room, &inexact)
        p_rows = rows_of(p, 0, start, length, p_room, &inexact)
        own = greatest_difference(y_rows, p_rows, length)
        if own < 0 or inexact:
            return -1
        greatest = own if own > greatest else greatest
        start += length
    return greatest


def write_errors(
    object y_true, object y_pred, Py_ssize_t output, Py_ssize_t start, Py_ssize_t stop, double[::1] out
):
    """The absolute errors of rows start..stop of an output. Returns flags."""
    cdef Py_buffer views[2]
    cdef Column columns[2]
    cdef double y_room[CHUNK]
    cdef double p_room[CHUNK]
    cdef const double* y_rows
    cdef const double* p_rows
    cdef Py_ssize_t length
    cdef int inexact = 0
    cdef int not_finite = 0
    if not open_both(y_true, y_pred, views, columns):
        raise TypeError("columns are not of a type that is read")
    with nogil:
        while start < stop:
            length = stop - start if stop - start < CHUNK else CHUNK
            y_rows = rows_of(&columns[0], output, start, length, y_room, &inexact)
            p_rows = rows_of(&columns[1], output, start, length, p_room, &inexact)
            not_finite |= greatest_difference(y_rows, p_rows, length) < 0
            absolute_errors(y_rows, p_rows, length, &out[start])
            start += length
    close_both(views)
    return (FLAG_NOT_FINITE if not_finite else 0) | (FLAG_INEXACT if inexact else 0)


cdef double select(double* values, Py_ssize_t n, Py_ssize_t rank) noexcept nogil:
    """The value of that rank (from 0), by C. A. R. Hoare's FIND; smaller values stand before it afterwards."""
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


def middle_error(object y_true, object y_pred):
    """The median absolute error of few rows; or None."""
    cdef Py_buffer views[2]
    cdef Column columns[2]
    cdef double y_room[CHUNK]
    cdef double p_room[CHUNK]
    cdef double sizes[CHUNK]
    cdef const double* y_rows
    cdef const double* p_rows
    cdef Py_ssize_t i
    cdef Py_ssize_t n = 0
    cdef int inexact = 0
    cdef double result = -1
    cdef double below
    if not open_few(y_true, y_pred, views, columns):
        return None
    n = columns[0].rows
    if n <= CHUNK:
        with nogil:
            y_rows = rows_of(&columns[0], 0, 0, n, y_room, &inexact)
            p_rows = rows_of(&columns[1], 0, 0, n, p_room, &inexact)
            if greatest_difference(y_rows, p_rows, n) >= 0 and not inexact:
                absolute_errors(y_rows, p_rows, n, sizes)
                result = select(sizes, n, n >> 1)
                if n % 2 == 0:
                    below = sizes[0]
                    for i in range(1, n >> 1):
                        below = sizes[i] if sizes[i] > below else below
                    result = (below + result) / 2
    close_both(views)
    return result if result >= 0 else None


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


cdef inline bint as_pair(int64_t* state, Pair* out) noexcept nogil:
    """A state's sum as a pair; 0 where products of such pairs could over- or underflow."""
    cdef int exponent = 0
    out[0] = leading(state, &exponent)
    if not scaled(out.high, exponent, &out.high):
        return 0
    out.low = ldexp(out.low, exponent)
    return out.high == 0 or 2.0 ** -400 < fabs(out.high) < 2.0 ** 450


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
    if not open_few(y_true, y_pred, views, columns):
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


cdef bint share_left(Pair own, double own_error, Pair whole, double whole_error, double* result) noexcept nogil:
    """1 - own / whole, rounded once, each known to within its error; 0 where the rounding is not certain."""
    cdef Pair rest = add_pairs(whole, negative(own))
    cdef double first = rest.high / whole.high
    cdef double product = first * whole.high
    cdef double second = ((rest.high - product) - product_error(first, whole.high, product)) + rest.low
    cdef double error = own_error + whole_error + fabs(rest.high) * 2.0 ** -92
    second = (second - first * whole.low) / whole.high
    error = (error + fabs(first) * whole_error) / whole.high * 1.0001 + fabs(first) * 2.0 ** -92
    return certain(first, second, error, result)


cdef inline Column constant_column(const double* value, Py_ssize_t rows) noexcept nogil:
    cdef Column column
    column.data = <const char*>value
    column.rows = rows
    column.row_stride = 0
    column.n_outputs = 1
    column.output_stride = 0
    column.type = FM_F64
    return column


def deviance_explained(object y_true, object y_pred, int kind, double power):
    """1 - (mean deviance) / (mean deviance from the targets' mean) of few rows, at least two; or None."""
    cdef Py_buffer views[2]
    cdef Column columns[2]
    cdef Column other
    cdef int64_t states[3 * STATE_SIZE]
    cdef Py_ssize_t rows
    cdef Pair n
    cdef double constant = 0
    cdef double own = 0
    cdef double whole = 0
    cdef bint good = 0
    if not open_few(y_true, y_pred, views, columns):
        return None
    rows = columns[0].rows
    if rows > 1:
        with nogil:
            memset(states, 0, sizeof(states))
            n = exact_add(<double>rows, 0)
            other = constant_column(&constant, rows)
            good = (
                not add_terms(kind, power, &columns[0], &columns[1], NULL, 0, rows, states)
                and divide(states, n, 0, &own)
                and not add_terms(FM_SIGNED, 0, &other, &columns[0], NULL, 0, rows, states + STATE_SIZE)
                and divide(states + STATE_SIZE, n, 0, &constant)
                and not add_terms(kind, power, &columns[0], &other, NULL, 0, rows, states + 2 * STATE_SIZE)
                and divide(states + 2 * STATE_SIZE, n, 0, &whole)
                and whole != 0
            )
    close_both(views)
    return 1 - own / whole if good else None


cdef double quantile_of(double* values, Py_ssize_t n, double share) noexcept nogil:
    """As order.quantile: the first value that a share does not exceed, the mean of it and the next at that share."""
    cdef double wanted = share * 100 / 100 * <double>n
    cdef Py_ssize_t rank = <Py_ssize_t>ceil(wanted)
    cdef Py_ssize_t i
    cdef double low, high
    rank = 1 if rank < 1 else n if rank > n else rank
    low = select(values, n, rank - 1)
    if wanted <= 0 or <double>rank - wanted > 2.0 ** -52 or rank == n:
        return low
    high = values[rank]
    for i in range(rank + 1, n):
        high = values[i] if values[i] < high else high
    return low if low == high else (low + high) / 2


def pinball_explained(object y_true, object y_pred, double alpha):
    """1 - (pinball loss) / (pinball loss of the targets' quantile) of few rows, at least two; or None."""
    cdef Py_buffer views[2]
    cdef Column columns[2]
    cdef Column other
    cdef double room[CHUNK]
    cdef int64_t states[2 * STATE_SIZE]
    cdef Pair own, whole
    cdef const double* rows
    cdef Py_ssize_t i, n
    cdef int inexact = 0
    cdef double constant = 0
    cdef double result = 0
    cdef bint good = 0
    if not open_few(y_true, y_pred, views, columns):
        return None
    n = columns[0].rows
    if 1 < n <= CHUNK:
        with nogil:
            memset(states, 0, sizeof(states))
            if not add_terms(FM_PINBALL, alpha, &columns[0], &columns[1], NULL, 0, n, states):
                rows = rows_of(&columns[0], 0, 0, n, room, &inexact)
                if rows != room:
                    for i in range(n):
                        room[i] = rows[i]
                constant = quantile_of(room, n, alpha)
                other = constant_column(&constant, n)
                good = (
                    not add_terms(FM_PINBALL, alpha, &columns[0], &other, NULL, 0, n, states + STATE_SIZE)
                    and as_pair(states, &own) and as_pair(states + STATE_SIZE, &whole) and whole.high > 0
                )
                if good:
                    good = share_left(own, own.high * 2.0 ** -92, whole, whole.high * 2.0 ** -92, &result)
    close_both(views)
    return result if good else None
