"""Quotients of exact sums, rounded once, without a Python integer: what a call on few rows and tables of groups return.

Numbers here are pairs (high, low) of doubles whose sum is the value, to a relative error far below 2**-90. A quotient
of two is either certain to round to one double, or the caller asks Python's integers (Ziv's strategy: A. Ziv, 1991,
Fast evaluation of elementary mathematical functions with correctly rounded last bit). So the bits are those of
`exact.divide` by construction, and it is asked about once in 2**35 times.
"""

from libc.math cimport fabs, frexp, ldexp
from libc.stdint cimport int64_t

from fastmetrics._kernels.superaccumulator cimport (
    BASE_EXPONENT, MINUS_INFINITIES, N_LIMBS, NANS, PLUS_INFINITIES, normalise,
)

cdef extern from "errorterms.h":
    double product_error "fm_product_error"(double x, double y, double product) noexcept nogil

cdef inline int64_t specials(const int64_t* state) noexcept nogil:
    """How many infinities and NaN were added."""
    return state[PLUS_INFINITIES] + state[MINUS_INFINITIES] + state[NANS]


cdef struct Pair:
    double high
    double low


cdef inline Pair exact_add(double x, double y) noexcept nogil:
    """x + y without error."""
    cdef Pair out
    cdef double back
    out.high = x + y
    back = out.high - x
    out.low = (x - (out.high - back)) + (y - back)
    return out


cdef inline Pair add_pairs(Pair x, Pair y) noexcept nogil:
    cdef Pair out = exact_add(x.high, y.high)
    return exact_add(out.high, out.low + (x.low + y.low))


cdef inline Pair negative(Pair x) noexcept nogil:
    x.high = -x.high
    x.low = -x.low
    return x


cdef inline Pair multiply_pairs(Pair x, Pair y) noexcept nogil:
    cdef double product = x.high * y.high
    cdef double error = product_error(x.high, y.high, product)
    return exact_add(product, error + (x.high * y.low + x.low * y.high))


cdef inline Pair leading(int64_t* state, int* exponent, bint* is_exact) noexcept nogil:
    """The first 129 bits at least of a state's sum, which is the pair times 2**exponent; whether that is all of it.

    The state is normalised; one below zero is used up.
    """
    cdef Pair out
    cdef Pair part
    cdef double low = 0
    cdef bint below_zero = state[N_LIMBS - 1] < 0
    cdef int i, top
    out.high = 0
    out.low = 0
    exponent[0] = 0
    is_exact[0] = 1
    if below_zero:
        for i in range(N_LIMBS):
            state[i] = -state[i]
        normalise(state)
    top = N_LIMBS - 1
    while top >= 0 and state[top] == 0:
        top -= 1
    if top < 0:
        return out
    for i in range(5):
        if top - i >= 0:
            part = exact_add(out.high, ldexp(<double>state[top - i], 32 * (4 - i)))
            out.high = part.high
            part = exact_add(low, part.low)
            low = part.high
            is_exact[0] &= part.low == 0
    for i in range(top - 4):
        is_exact[0] &= state[i] == 0
    out = exact_add(out.high, low)
    exponent[0] = 32 * (top - 4) - BASE_EXPONENT
    return negative(out) if below_zero else out


cdef inline bint certain(double high, double low, double error, double* out) noexcept nogil:
    """Does every number within `error` of high + low round to the same double?"""
    out[0] = high + (low - error)
    return out[0] == high + (low + error)


cdef inline bint at_the_middle(Pair x, double y, double below, double above, double* out) noexcept nogil:
    """The nearer of two neighbouring doubles to x / y, both exact; the even one where it lies in the middle.

    x is compared with the middle times y. 0 where that takes more digits than there are: then it is no such quotient.
    """
    cdef double half = (above - below) / 2
    cdef double product = below * y
    cdef Pair one = exact_add(x.high - product, -product_error(below, y, product))
    cdef Pair other = exact_add(x.low, -half * y)
    cdef Pair rest = exact_add(one.high, other.high)
    if one.low != 0 or other.low != 0 or rest.low != 0:
        return 0
    out[0] = below + half if rest.high == 0 else above if rest.high > 0 else below
    return 1


cdef inline bint scaled(double value, int exponent, double* out) noexcept nogil:
    """value * 2**exponent, where that is exact: a normal number."""
    cdef int own = 0
    frexp(value, &own)
    out[0] = ldexp(value, exponent)
    return value == 0 or -1000 < own + exponent < 1000


cdef inline bint divide_pairs(Pair x, double x_error, Pair y, double y_error, double* result) noexcept nogil:
    """x / y rounded once, each known to within its error, y > 0; 0 where the rounding is not certain.

    Neither may be so large or small that products over- or underflow.
    """
    cdef double first = x.high / y.high
    cdef double product = first * y.high
    cdef double second = ((x.high - product) - product_error(first, y.high, product)) + x.low
    cdef double error = (x_error + fabs(first) * y_error) / y.high * 1.0001 + fabs(first) * 2.0 ** -92
    second = (second - first * y.low) / y.high
    if certain(first, second, error, result):
        return 1
    # Means of few numbers are often just in the middle of two doubles.
    return x_error == 0 and y_error == 0 and y.low == 0 and at_the_middle(
        x, y.high, result[0], first + (second + error), result)


cdef inline bint divide(int64_t* numerator, Pair denominator, double* out) noexcept nogil:
    """A state's sum by a denominator > 0, which is exact and neither very large nor small; rounded once.

    0 where that is not certain. The state is normalised and without infinities; its contents are lost.
    """
    cdef int exponent = 0
    cdef bint is_exact = 1
    cdef Pair total = leading(numerator, &exponent, &is_exact)
    if total.high == 0:
        out[0] = 0
        return 1
    if not divide_pairs(total, 0.0 if is_exact else fabs(total.high) * 2.0 ** -96, denominator, 0, out):
        return 0
    return scaled(out[0], exponent, out)


cdef inline bint as_pair(int64_t* state, Pair* out) noexcept nogil:
    """A state's sum as a pair; 0 where products of such pairs could over- or underflow."""
    cdef int exponent = 0
    cdef bint is_exact = 1
    out[0] = leading(state, &exponent, &is_exact)
    if not scaled(out.high, exponent, &out.high):
        return 0
    out.low = ldexp(out.low, exponent)
    return out.high == 0 or 2.0 ** -400 < fabs(out.high) < 2.0 ** 450


cdef inline bint share_left(Pair own, double own_error, Pair whole, double whole_error, double* result) noexcept nogil:
    """1 - own / whole, rounded once; as divide_pairs."""
    cdef Pair rest = add_pairs(whole, negative(own))
    return divide_pairs(rest, own_error + whole_error + fabs(rest.high) * 2.0 ** -92, whole, whole_error, result)
