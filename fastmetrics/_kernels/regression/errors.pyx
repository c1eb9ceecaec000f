"""Sums over rows of what a prediction costs: errors and deviances; the greatest and the middle error.

Targets and predictions are NumPy arrays of any native integer or float type, of one dimension or of two (a column per
output), in any layout (realcolumns.pxd), both of the same shape; weights are contiguous float64 or None. A row's term
is computed in float64 (errorterms.h), then multiplied by its weight, then summed exactly (superaccumulator.pxd).
Nothing is looked at beforehand: what is not finite shows in the counters of a state, and what a deviance is not defined
for in the flags returned. The caller then looks for the row.

`mean_error` and others do a whole call on few rows. They return None where anything is out of the
ordinary, and the caller goes the long way.
"""

from libc.math cimport ceil, frexp, ldexp
from libc.stdint cimport int64_t
from libc.string cimport memset

from numpy import ndarray as _ndarray

from fastmetrics._kernels.quotient cimport Pair, as_pair, divide, exact_add, share_left, specials
from fastmetrics._kernels.realcolumns cimport (
    FLAG_INEXACT, FLAG_NOT_FINITE, FLAG_OUTSIDE, FM_F64, Column, ask_for, close_both, open_both, open_few, rows_of,
)
from fastmetrics._kernels.superaccumulator cimport (
    CHUNK, CHUNKS_PER_CARRY, FM_LANES, GUARD_BITS, LEVEL_BITS, STATE_SIZE, add_chunk, add_value, normalise,
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
        int kind, int y_type, const char* y, int p_type, const char* p, Py_ssize_t n, const double* sigmas,
        double* totals, double* greatest
    ) noexcept nogil
    double greatest_difference "fm_greatest_error"(const double* y, const double* p, Py_ssize_t n) noexcept nogil
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

cdef enum:
    HEADROOM = 8

NOT_FINITE = FLAG_NOT_FINITE
OUTSIDE = FLAG_OUTSIDE
INEXACT = FLAG_INEXACT


cdef inline bint add_fused(
    int kind, Column* y, Column* p, Py_ssize_t start, int* exponent, int64_t* state
) noexcept nogil:
    """Add the terms of CHUNK rows, none of them 2**exponent or greater; 0 where they are not what was expected.

    Sums stay exact as in add_chunk (superaccumulator.pxd); a chunk may be up to 2**HEADROOM times the one that set the
    exponent, and then 3 LEVEL_BITS - HEADROOM = 127 bits below the greatest belong to one of the three places.
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
        # For the next chunk; only a greatest value far from the limits of float64 will do.
        if 1e-200 < greatest < 1e200:
            frexp(greatest, exponent)
            exponent[0] += HEADROOM
        return 0
    for i in range(3 * FM_LANES):
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
            ask_for(y, start + length, CHUNK if stop - start - length > CHUNK else stop - start - length)
            ask_for(p, start + length, CHUNK if stop - start - length > CHUNK else stop - start - length)
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
    if not open_few(y_true, y_pred, _ndarray, views, columns):
        return None
    with nogil:
        memset(state, 0, sizeof(state))
        if not add_terms(kind, parameter, &columns[0], &columns[1], NULL, 0, columns[0].rows, state):
            good = divide(state, exact_add(<double>columns[0].rows, 0), &result)
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
    if not open_few(y_true, y_pred, _ndarray, views, columns):
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
    if not open_few(y_true, y_pred, _ndarray, views, columns):
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
    if not open_few(y_true, y_pred, _ndarray, views, columns):
        return None
    rows = columns[0].rows
    if rows > 1:
        with nogil:
            memset(states, 0, sizeof(states))
            n = exact_add(<double>rows, 0)
            other = constant_column(&constant, rows)
            good = (
                not add_terms(kind, power, &columns[0], &columns[1], NULL, 0, rows, states)
                and divide(states, n, &own)
                and not add_terms(FM_SIGNED, 0, &other, &columns[0], NULL, 0, rows, states + STATE_SIZE)
                and divide(states + STATE_SIZE, n, &constant)
                and not add_terms(kind, power, &columns[0], &other, NULL, 0, rows, states + 2 * STATE_SIZE)
                and divide(states + 2 * STATE_SIZE, n, &whole)
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
    if not open_few(y_true, y_pred, _ndarray, views, columns):
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
