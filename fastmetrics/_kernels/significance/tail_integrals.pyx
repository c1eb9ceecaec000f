"""Tails of the gamma, beta, chi-square, normal and studentized range distributions.

`_core/distributions/incomplete_integrals.py` has the formulas. Sums are taken over the nodes in their order, with the
rounding errors beside them, so their bits are the same anywhere. `tail_loops.h` has the loops.
"""

from libc.math cimport INFINITY, ceil, fabs, floor, sqrt

from fastmetrics._kernels.numeric.elementary cimport fm_exp, fm_log, fm_log1p
from fastmetrics._kernels.numeric.length_checks cimport need_length

cdef extern from "significance/tail_loops.h":
    enum:
        FM_N_NODES
        FM_NODES_AT_ONCE
    double fm_sum_terms(const double* terms, Py_ssize_t n) noexcept nogil
    double fm_log1p_remainder(double w) noexcept nogil
    double fm_normal_tail(double z) noexcept nogil
    void fm_normal_tails(const double* values, Py_ssize_t n, double* out) noexcept nogil
    double fm_range_tail(double w, int k) noexcept nogil
    void fm_fill_offsets() noexcept nogil
    ctypedef void (*terms_t "fm_terms_t")(
        double slope, double factor, double odds, double scale, const double* nodes, const double* weights, double* out
    ) noexcept nogil
    void fm_gamma_below_terms(double, double, double, double, const double*, const double*, double*) noexcept nogil
    void fm_gamma_above_terms(double, double, double, double, const double*, const double*, double*) noexcept nogil
    void fm_beta_below_terms(double, double, double, double, const double*, const double*, double*) noexcept nogil

cdef double QUARTER_OF_PI = 0.7853981633974483
cdef double HALF_LOG_TWO_PI = 0.9189385332046727
cdef double SMALL = 0.5  # below it, what a function lacks to its first terms is the sum of a series
cdef double STEP = 0.03125  # of the double exponential rule
cdef int FIRST_NODE = -128, LAST_NODE = 120  # from 1e-19 to 1e16 times the scale
cdef double LEAST_SHIFTED = 12.0  # from here on, a few terms of Stirling's series are enough
cdef double[7] STIRLING_SERIES = [
    1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360, 1.0 / 156
]

cdef double[FM_N_NODES] nodes, weights
cdef double[24] errors_of_halves  # Stirling's errors of 1/2, 1, 3/2, ...
cdef double[28] odd_reciprocals  # of 1, 3, 5, ...

ctypedef struct tails_t:
    double below, above


cdef void fill_rule() noexcept nogil:
    """Nodes exp(pi/2 sinh t) at equidistant t, and their weights. What is left of the last register weighs nothing."""
    cdef double rising, falling
    cdef int i
    for i in range(FM_N_NODES):
        nodes[i] = weights[i] = 0.0
    for i in range(LAST_NODE - FIRST_NODE + 1):
        rising = fm_exp((FIRST_NODE + i) * STEP)
        falling = fm_exp(-(FIRST_NODE + i) * STEP)
        nodes[i] = fm_exp(QUARTER_OF_PI * (rising - falling))
        weights[i] = nodes[i] * (rising + falling) * (QUARTER_OF_PI * STEP)


cdef void fill_errors() noexcept nogil:
    cdef int i
    for i in range(28):
        odd_reciprocals[i] = 1.0 / (2 * i + 1)
    for i in range(24):
        errors_of_halves[i] = shifted_stirling_error((i + 1) / 2.0)


cdef double integral(terms_t fill_terms, double slope, double factor, double odds, double scale) noexcept nogil:
    """The integral over u > 0 of an integrand that falls from 1 to 0 within a few times the scale."""
    cdef double[FM_N_NODES] terms
    cdef int n = 0
    while n < FM_N_NODES and (n == 0 or terms[n - 1]):  # where one term is 0, all behind are
        fill_terms(slope, factor, odds, scale, nodes + n, weights + n, terms + n)
        n += FM_NODES_AT_ONCE
    return fm_sum_terms(terms, n) * scale


cdef double inverse_tanh_remainder(double square) noexcept nogil:
    """artanh(s) / s - 1 of a square s^2 below 1/4."""
    cdef double series = 0.0
    cdef int k
    for k in range(27, 0, -1):
        series = (series + odd_reciprocals[k]) * square
    return series


cdef double shifted_stirling_error(double z) noexcept nogil:
    cdef double total = 0.0, series = 0.0, s, square
    cdef int k
    while z < LEAST_SHIFTED:
        # The error at z less the error at z + 1 is (z + 1/2) log(1 + 1/z) - 1.
        s = 1.0 / (2.0 * z + 1.0)
        if s < SMALL:
            total += inverse_tanh_remainder(s * s)
        else:
            total += (z + 0.5) * (fm_log1p(z) - fm_log(z)) - 1.0
        z += 1.0
    square = 1.0 / (z * z)
    for k in range(6, -1, -1):
        series = series * square + STIRLING_SERIES[k]
    return total + series / z


cdef double stirling_error_at(double z) noexcept nogil:
    cdef double halves = 2.0 * z
    if halves <= 24.0 and halves >= 1.0 and halves == floor(halves):
        return errors_of_halves[<int>halves - 1]
    return shifted_stirling_error(z)


cdef double deviance(double a, double mean) noexcept nogil:
    """a log(a / mean) - a + mean, for a, mean > 0."""
    cdef double distance = (mean - a) / a
    if fabs(distance) >= SMALL:
        return a * fm_log(a / mean) + (mean - a)
    return -a * fm_log1p_remainder(distance)


cdef double gamma_density_at(double a, double x) noexcept nogil:
    return fm_exp(-stirling_error_at(a) - deviance(a, x) - HALF_LOG_TWO_PI) * sqrt(a)


cdef double beta_exponent(double a, double b, double x, double rest) noexcept nogil:
    cdef double n = a + b, errors = stirling_error_at(n) - stirling_error_at(a) - stirling_error_at(b)
    return errors - deviance(a, n * x) - deviance(b, n * rest) - HALF_LOG_TWO_PI


cdef double beta_density_at(double a, double b, double x, double rest) noexcept nogil:
    return fm_exp(beta_exponent(a, b, x, rest)) * sqrt(a / (a + b) * b)


cdef tails_t gamma_tails_at(double a, double x) noexcept nogil:
    cdef double tail
    if x == 0.0 or x == INFINITY:
        return tails_t(0.0, 1.0) if x == 0.0 else tails_t(1.0, 0.0)
    tail = gamma_density_at(a, x)
    if x < a:
        tail *= integral(fm_gamma_below_terms, x - a, x, 0.0, 1.0 / (a - x + sqrt(x)))
        return tails_t(min(tail, 1.0), max(1.0 - tail, 0.0))
    tail *= integral(fm_gamma_above_terms, a - 1.0 - x, a - 1.0, 0.0, 1.0 / (x - a + 1.0 + sqrt(a)))
    return tails_t(max(1.0 - tail, 0.0), min(tail, 1.0))


cdef double beta_integral(double a, double b, double x, double rest) noexcept nogil:
    cdef double odds = x / rest, slope = a - (b - 1.0) * odds
    cdef double scale = 1.0 / (slope + sqrt(fabs(b - 1.0) * odds / rest))
    return integral(fm_beta_below_terms, -slope, b - 1.0, odds, scale)


cdef double beta_tail_below_mean(double a, double b, double x, double rest) noexcept nogil:
    return beta_density_at(a, b, x, rest) / rest * beta_integral(a, b, x, rest)


cdef tails_t beta_tails_at(double a, double b, double x, double rest) noexcept nogil:
    cdef double tail
    if x == 0.0 or rest == 0.0:
        return tails_t(0.0, 1.0) if x == 0.0 else tails_t(1.0, 0.0)
    if a * rest < b * x:  # x is above the mean: the tail above it
        tail = beta_tail_below_mean(b, a, rest, x)
        return tails_t(max(1.0 - tail, 0.0), min(tail, 1.0))
    tail = beta_tail_below_mean(a, b, x, rest)
    return tails_t(min(tail, 1.0), max(1.0 - tail, 0.0))


cdef double poisson_probability(double count, double mean) noexcept nogil:
    return gamma_density_at(count, mean) / count if count else fm_exp(-mean)


def gamma_tails(double a, double x) -> tuple[float, float]:
    """P(a, x) and Q(a, x), for a > 0 and x >= 0."""
    cdef tails_t tails = gamma_tails_at(a, x)
    return tails.below, tails.above


def beta_tails(double a, double b, double x, double rest) -> tuple[float, float]:
    """I_x(a, b) and 1 - I_x(a, b), for a, b > 0 and x + rest = 1."""
    cdef tails_t tails = beta_tails_at(a, b, x, rest)
    return tails.below, tails.above


def gamma_density(double a, double x) -> float:
    """x^a e^-x / Gamma(a)."""
    return gamma_density_at(a, x)


def log_beta_tail(double a, double b, double x, double rest) -> float:
    """The logarithm of I_x(a, b), for a, b > 0, x + rest = 1 and x > 0 not above the mean."""
    cdef double factor = sqrt(a / (a + b) * b) / rest * beta_integral(a, b, x, rest)
    return beta_exponent(a, b, x, rest) + fm_log(factor)


def log_beta_density(double a, double b, double x, double rest) -> float:
    """The logarithm of x^a rest^b / B(a, b)."""
    return beta_exponent(a, b, x, rest) + fm_log(a / (a + b) * b) / 2.0


def beta_density(double a, double b, double x, double rest) -> float:
    """x^a rest^b / B(a, b)."""
    return beta_density_at(a, b, x, rest)


def stirling_error(double z) -> float:
    """log Gamma(z + 1) - (z + 1/2) log z + z - log(2 pi) / 2, for z > 0."""
    return stirling_error_at(z)


def log1p_remainder(double w) -> float:
    """log(1 + w) - w, for w > -1."""
    return fm_log1p_remainder(w)


def noncentral_chi_square(double statistic, double df, double mean, double deviations) -> tuple[float, float]:
    """P(X <= statistic) of the noncentrality 2 mean > 0, and half the density of two more degrees of freedom there.

    It is the mean of central probabilities of df + 2 j degrees, where j is Poisson. Numbers j are taken within
    `deviations` standard deviations of their mean.
    """
    cdef double x = statistic / 2.0, a, change, probability, share, term, sum, lost = 0.0, total = 0.0, density = 0.0
    cdef double reach = deviations * sqrt(mean) + deviations * deviations / 2.0
    cdef double first = max(0.0, floor(mean - reach)), j = ceil(mean + reach)
    with nogil:
        while j > first and gamma_density_at(df / 2.0 + j, x) == 0.0:
            j = floor((first + j) / 2.0)  # further terms are below the least double
        a = df / 2.0 + j
        # From the last to the first: P(a, x) = P(a + 1, x) + x^a e^-x / Gamma(a + 1), without a subtraction.
        probability, change = gamma_tails_at(a, x).below, gamma_density_at(a, x) / a
        share = poisson_probability(j, mean)
        while True:
            term = share * probability
            sum = total + term
            lost += (total - sum) + term if total >= term else (term - sum) + total
            total = sum
            density += share * change
            if j <= first:
                break
            change *= (df / 2.0 + j) / x
            probability += change
            share *= j / mean
            j -= 1.0
    return total + lost, density / 2.0


def normal_tail(double z) -> float:
    """The probability that a standard normal variable is above z."""
    return fm_normal_tail(z)


def normal_tails(const double[::1] z, double[::1] out) -> None:
    """The same for every number."""
    need_length(b"out", out.shape[0], z.shape[0])
    if z.shape[0]:
        with nogil:
            fm_normal_tails(&z[0], z.shape[0], &out[0])


def range_tails(const double[::1] w, int k, double[::1] out) -> None:
    """P(range of k standard normals >= w), for every w >= 0."""
    cdef Py_ssize_t i
    need_length(b"out", out.shape[0], w.shape[0])
    with nogil:
        for i in range(w.shape[0]):
            out[i] = fm_range_tail(w[i], k)


fill_rule()
fill_errors()
fm_fill_offsets()
