"""Integrands of the incomplete gamma and beta functions at the nodes of a rule, and tails of the normal distribution.

`_core/distributions/incomplete_integrals.py` has the formulas, and `_core/distributions/normal.py` the coefficients.
Sums are taken over the nodes in their order, with the rounding errors beside them, so their bits are the same anywhere.
"""

from libc.math cimport fabs

from fastmetrics._kernels.numeric.elementary cimport fm_exp, fm_expm1, fm_log1p

cdef enum Kind:
    BELOW = 0
    ABOVE = 1
    BETA_BELOW = 2

GAMMA_BELOW, GAMMA_ABOVE, BETA = BELOW, ABOVE, BETA_BELOW

cdef double CENTRE = 3.75  # of the Chebyshev polynomials
cdef double ROOT_OF_TWO = 1.4142135623730951
cdef double ROOT_OF_TWO_PI = 2.5066282746310002
cdef double SPLIT = 134217729.0  # 2^27 + 1: splits a number into halves of 26 bits
cdef double GREATEST = 40.0  # tails beyond it are 0
cdef double LEAST = -800.0  # exponents of numbers that are 0
cdef double SMALL = 0.5  # below it, what a function lacks to its first terms is the sum of a series


cdef double expm1_remainder(double u) noexcept nogil:
    """e^u - 1 - u."""
    cdef double series = 0.0
    cdef int k
    if fabs(u) >= SMALL:
        return fm_expm1(u) - u
    for k in range(16, 2, -1):
        series = (1.0 + u * series) / k
    return u * u / 2.0 * (1.0 + u * series)


cdef double log1p_remainder(double w) noexcept nogil:
    """log(1 + w) - w."""
    cdef double s, square, series = 1.0 / 41.0
    cdef int k
    if fabs(w) >= SMALL:
        return fm_log1p(w) - w
    s = w / (2.0 + w)
    square = s * s
    for k in range(39, 1, -2):
        series = series * square + 1.0 / k
    return s * (2.0 * square * series - w)


cdef double exponent_at(int kind, double slope, double factor, double odds, double u) noexcept nogil:
    if kind == BELOW:
        return slope * u - factor * expm1_remainder(-u)
    if kind == ABOVE:
        return slope * u + factor * log1p_remainder(u)
    return slope * u + factor * (log1p_remainder(-odds * fm_expm1(-u)) - odds * expm1_remainder(-u))


cdef double sum_of_nodes(
    int kind, double slope, double factor, double odds, double scale, const double[::1] nodes, const double[::1] weights
) noexcept nogil:
    cdef double total = 0.0, lost = 0.0, exponent, term, sum
    cdef Py_ssize_t i
    for i in range(nodes.shape[0]):
        exponent = exponent_at(kind, slope, factor, odds, nodes[i] * scale)
        if exponent > LEAST:
            term = fm_exp(exponent) * weights[i]
            sum = total + term
            lost += (total - sum) + term if total >= term else (term - sum) + total
            total = sum
    return total + lost


def integral(
    int kind, double slope, double factor, double odds, double scale, const double[::1] nodes, const double[::1] weights
) -> float:
    """The integral over u > 0 of exp(exponent(u)), which falls from 1 within a few times the scale."""
    cdef double total
    with nogil:
        total = sum_of_nodes(kind, slope, factor, odds, scale, nodes, weights)
    return total * scale


def log1p_remainder_of(double w) -> float:
    """log(1 + w) - w, for w > -1."""
    return log1p_remainder(w)


cdef double tail_above(double z, const double[::1] coefficients, const double[::1] series) noexcept nogil:
    cdef double size = fabs(z), x, twice, last = 0.0, value, earlier, scaled, multiple, high, upper
    cdef Py_ssize_t k
    if size < SMALL:
        value = 0.0
        for k in range(series.shape[0] - 1, -1, -1):
            value = value * (z * z / 2.0) + series[k]
        return 0.5 - z / ROOT_OF_TWO_PI * value
    size = size if size < GREATEST else GREATEST
    x = size / ROOT_OF_TWO
    twice = 2.0 * ((x - CENTRE) / (x + CENTRE))
    value = coefficients[coefficients.shape[0] - 1]
    for k in range(coefficients.shape[0] - 2, 0, -1):  # Clenshaw's recurrence
        earlier = value
        value = twice * value - last + coefficients[k]
        last = earlier
    scaled = (twice / 2.0 * value - last + coefficients[0]) / (1.0 + 2.0 * x)
    # The square of the upper half is exact, so the rounding of z^2 is not multiplied by z^2.
    multiple = SPLIT * size
    high = multiple - (multiple - size)
    upper = scaled * fm_exp(-high * high / 2.0) * fm_exp(-(size - high) * (size + high) / 2.0) / 2.0
    return upper if z > 0.0 else 1.0 - upper


def normal_tail(double z, const double[::1] coefficients, const double[::1] series) -> float:
    """The probability that a standard normal variable is above z."""
    return tail_above(z, coefficients, series)


cdef void fill_normal_tails(
    const double[::1] z, const double[::1] coefficients, const double[::1] series, double[::1] out
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(z.shape[0]):
        out[i] = tail_above(z[i], coefficients, series)


def normal_tails(
    const double[::1] z, const double[::1] coefficients, const double[::1] series, double[::1] out
) -> None:
    """The same for every number."""
    with nogil:
        fill_normal_tails(z, coefficients, series, out)
