"""Tails and quantiles against mpmath's 40 digits, over wide ranges, with the errors that their docstrings state."""

import math

import numpy as np
import pytest
from mpmath import mp

from fastmetrics._core.distributions.binomial import beta_quantile, binomial_cdf, share_limits
from fastmetrics._core.distributions.chi_square import chi_square_pvalue, noncentral_cdf, solve_noncentrality
from fastmetrics._core.distributions.incomplete_integrals import (
    beta_tails,
    expm1_remainder,
    gamma_tails,
)
from fastmetrics._core.distributions.normal import normal_pvalue, normal_quantile, normal_tail, normal_tails
from fastmetrics._core.distributions.student import log_upper_tail, student_pvalue, student_quantile
from fastmetrics._core.distributions.studentized_range import studentized_range_pvalue
from fastmetrics._kernels.significance.tail_integrals import log1p_remainder, stirling_error
from support.cases import each_case

ROUNDING = 2.0**-52


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(40):
        yield


def error_of(found, exact):
    return float(abs(mp.mpf(found) / exact - 1)) if exact else abs(found)


def within(found, exact, tail):
    """Full precision: an exponent of size |log(tail)| has so many times the rounding of 1."""
    return error_of(found, exact) <= 3e-15 + 3 * ROUNDING * abs(math.log(tail))


def tail_of_normal(z):
    return mp.erfc(mp.mpf(z) / mp.sqrt(2)) / 2


def test_normal_tails():
    numbers = np.concatenate((np.linspace(0, 37.5, 400), [1e-300, 5e-324, 1e-9]))
    for z in numbers.tolist():
        assert error_of(normal_tail(z), tail_of_normal(z)) < 1e-15
        assert normal_tail(-z) == pytest.approx(1 - normal_tail(z), abs=ROUNDING / 2)
    signs = np.concatenate((numbers, -numbers))
    assert normal_tails(signs).tolist() == [normal_tail(z) for z in signs.tolist()]
    assert (normal_tail(0.0), normal_tail(-0.0), normal_pvalue(0.0, "two-sided")) == (0.5, 0.5, 1.0)
    assert (normal_tail(math.inf), normal_tail(-math.inf), normal_tail(41.0)) == (0.0, 1.0, 0.0)
    assert math.isnan(normal_pvalue(math.nan, "two-sided"))
    assert normal_pvalue(-2.0, "two-sided") == 2 * normal_pvalue(2.0, "greater") == 2 * normal_pvalue(-2.0, "less")


def test_normal_quantiles():
    for exponent in np.linspace(-300, -0.302, 200).tolist():
        p = float(mp.power(10, exponent))
        z = mp.mpf(normal_quantile(p))
        exact = z
        for _ in range(3):
            exact -= (mp.erfc(-exact / mp.sqrt(2)) / 2 - p) / (mp.exp(-exact * exact / 2) / mp.sqrt(2 * mp.pi))
        assert error_of(z, exact) < 1e-15
    assert normal_quantile(0.5) == 0.0
    assert normal_quantile(0.75) == -normal_quantile(0.25)


def test_stirling_errors():
    for exponent in np.linspace(-8, 9, 200).tolist():
        z = float(mp.power(10, exponent))
        exact = mp.loggamma(mp.mpf(z) + 1) - (mp.mpf(z) + 0.5) * mp.log(z) + z - mp.log(2 * mp.pi) / 2
        assert abs(stirling_error(z) - exact) < 1e-15 * max(1, exact)


def test_remainders():
    u = np.concatenate((np.linspace(-3, 3, 301), [1e-9, -1e-9, 1e-200, 0.0]))
    for x, found in zip(u.tolist(), expm1_remainder(u).tolist(), strict=True):
        assert error_of(found, mp.expm1(x) - x) < 8 * ROUNDING
    w = u[u > -1]
    for x in w.tolist():
        assert error_of(log1p_remainder(x), mp.log1p(mp.mpf(x)) - x) < 8 * ROUNDING


@each_case("a", [0.5, 1.0, 2.5, 30.0, 1e3, 2e4])
def test_gamma_tails(a):
    for deviations in (-8, -3, -0.5, 0.0, 0.5, 3, 8, 30):
        x = max(a + deviations * math.sqrt(a), a * 1e-3)
        found = gamma_tails(a, x)
        if x < a:
            exact = mp.gammainc(a, 0, mp.mpf(x), regularized=True)
        else:
            exact = mp.gammainc(a, mp.mpf(x), mp.inf, regularized=True)
        smaller = found.below if x < a else found.above
        assert within(smaller, exact, float(exact))
        assert found.below + found.above == pytest.approx(1, abs=ROUNDING)
    assert gamma_tails(a, 0.0) == (0.0, 1.0)
    assert gamma_tails(a, math.inf) == (1.0, 0.0)


@each_case("a", [0.5, 1.0, 7.0, 400.0])
@each_case("b", [0.5, 1.0, 3.0, 250.0])
def test_beta_tails(a, b):
    mean = a / (a + b)
    for share in (1e-6, 0.2, 0.9, 0.999):
        x = mean * share
        exact = mp.betainc(a, b, 0, mp.mpf(x), regularized=True)
        if exact > 1e-290:
            assert within(beta_tails(a, b, x, 1 - x).below, exact, float(exact))
            assert beta_tails(b, a, 1 - x, x).above == beta_tails(a, b, x, 1 - x).below
    assert beta_tails(a, b, 0.0, 1.0) == (0.0, 1.0)
    assert beta_tails(a, b, 1.0, 0.0) == (1.0, 0.0)


@each_case("df", [1, 2, 3, 10, 199, 200, 5000, 2.5, 10**9])
def test_student(df):
    for t in (1e-9, 0.3, 2.0, 7.0, *([] if df == 10**9 else [30.0])):
        square = mp.mpf(t) ** 2
        if df == 10**9:  # the series in 1 / df
            exact = tail_of_normal(t) + mp.npdf(t) * (t**3 + t) / (4 * mp.mpf(df))
        else:
            exact = mp.betainc(mp.mpf(df) / 2, 0.5, 0, df / (df + square), regularized=True) / 2
        if exact > 1e-290:
            assert error_of(student_pvalue(t, df, "greater"), exact) < (1e-12 if df == 10**9 else 2e-13)
    for level in (0.01, 0.5, 0.95, 0.99999, 1 - 1e-12):
        t = student_quantile(level, df)
        assert student_pvalue(t, df, "two-sided") == pytest.approx(1 - level, rel=1e-13)
    assert student_pvalue(math.inf, df, "greater") == 0.0
    assert math.isnan(student_pvalue(math.nan, df, "greater"))
    assert student_pvalue(-1.0, df, "greater") == 1 - student_pvalue(1.0, df, "greater")


@each_case("df", [0.001, 0.5, 1, 1.5, 2, 3, 30])
@each_case("t", [5e-324, 1e-170, 1e6, 1e20, 1e149, 1e160, 1.7e308, 1e9 - 1e-6, 1e9, 1e9 + 1e-6])
def test_extremes_of_student(df, t):
    t = t * math.sqrt(df) if 1e8 < t < 1e10 else t  # about where the first term of a series is enough
    exact = mp.mpf(0.5)
    if t > 1e-100:
        exact = mp.betainc(mp.mpf(df) / 2, 0.5, 0, 1 / (1 + mp.mpf(t) ** 2 / df), regularized=True) / 2
    found = student_pvalue(t, df, "greater")
    assert found < 2e-307 if exact < 1e-307 else within(found, exact, float(exact))


def test_levels_about_0_and_1():
    """Student's quantile of a level below the rounding of 1 is 0; that of the greatest level is finite."""
    for df in (1, 2, 30, 1e8):
        assert student_quantile(5e-324, df) == student_quantile(1e-17, df) == 0.0
        greatest = student_quantile(1 - 2.0**-53, df)
        assert student_pvalue(greatest, df, "two-sided") == pytest.approx(2.0**-53, rel=1e-13)


def test_quantiles_of_few_degrees():
    """Of one degree of freedom the quantile is tan(pi level / 2), of two a root."""
    for level in (0.01, 0.5, 0.9, 0.95, 0.999, 0.5 + 2.0**-30):
        assert error_of(student_quantile(level, 1), mp.tan(mp.pi * mp.mpf(level) / 2)) < 1e-14
        assert error_of(student_quantile(level, 2), mp.mpf(level) * mp.sqrt(2 / (1 - mp.mpf(level) ** 2))) < 1e-14


@each_case("n", [1, 2, 9, 100])
def test_binomial(n):
    for p in (0.5, 0.25, 0.875):
        exact = mp.mpf(0)
        for k in range(n):
            exact += mp.binomial(n, k) * mp.mpf(p) ** k * (1 - mp.mpf(p)) ** (n - k)
            assert within(binomial_cdf(k, n, p), exact, float(exact))
    assert (binomial_cdf(-1, n, 0.5), binomial_cdf(n, n, 0.5)) == (0.0, 1.0)


@each_case("n", [1, 7, 1000, 10**7])
@each_case("tail", [0.025, 0.25, 1e-9])
def test_share_limits(n, tail):
    for k in sorted({0, 1, n // 3, n}):
        low, high = share_limits(k, n, tail)
        assert 0 <= low <= k / n <= high <= 1
        assert low == 0 if k == 0 else 1 - binomial_cdf(k - 1, n, low) == pytest.approx(tail, rel=1e-6)
        assert high == 1 if k == n else binomial_cdf(k, n, high) == pytest.approx(tail, rel=1e-6)


@each_case("n", [1, 2, 7, 1000, 10**7])
@each_case("tail", [0.025, 0.25, 1e-9, 0.4999])
def test_share_limits_of_mid_tails(n, tail):
    for k in sorted({0, 1, n // 3, n}):
        low, high = share_limits(k, n, tail, mid=True)
        assert 0 <= low <= high <= 1
        below = (binomial_cdf(k, n, high) + binomial_cdf(k - 1, n, high)) / 2
        above = sum(beta_tails(i, n - i + 1, low, 1 - low).below for i in (k, k + 1) if 0 < i <= n) / 2
        assert low == 0 if k == 0 else above == pytest.approx(tail, rel=1e-6)
        assert high == 1 if k == n else below == pytest.approx(tail, rel=1e-6)


def test_chi_square():
    for df, statistic in ((1, 30.0), (2, 1400.0), (4, 1380.0), (2, 1e-8), (7, 3.0), (1000, 1100.0)):
        exact = mp.gammainc(mp.mpf(df) / 2, mp.mpf(statistic) / 2, mp.inf, regularized=True)
        assert within(chi_square_pvalue(statistic, df), exact, float(exact))


def noncentral(statistic, df, noncentrality):
    half = mp.mpf(noncentrality) / 2
    weights = (mp.exp(-half) * half**j / mp.factorial(j) for j in range(200))
    return mp.fsum(
        weight * mp.gammainc(mp.mpf(df) / 2 + j, 0, mp.mpf(statistic) / 2, regularized=True)
        for j, weight in enumerate(weights)
    )


@each_case(("statistic", "df", "noncentrality"), [(3.0, 1, 2.0), (40.0, 7, 15.0), (5.0, 3, 60.0), (1e-4, 1, 1.0)])
def test_noncentral_chi_square(statistic, df, noncentrality):
    exact = noncentral(statistic, df, noncentrality)
    assert error_of(noncentral_cdf(statistic, df, noncentrality)[0], exact) < 1e-13
    if exact < 0.9:
        assert solve_noncentrality(statistic, df, float(exact)) == pytest.approx(noncentrality, rel=1e-11)


def test_noncentralities():
    for df, statistic in ((1, 8000.0), (100, 30_000.0), (3, 2e5), (2, 7.5), (40, 61.0), (10_000, 10_300.0), (5, 15.1)):
        for p in (0.025, 0.975):
            found = solve_noncentrality(statistic, df, p)
            assert noncentral_cdf(statistic, df, found)[0] == pytest.approx(p, rel=1e-9)
    assert solve_noncentrality(1.0, 3, 0.975) == 0.0
    above = solve_noncentrality(1e9, 1, 0.025)  # the square of a normal variable
    assert above == pytest.approx((math.sqrt(1e9) - normal_quantile(0.025)) ** 2)


def test_range_of_two_is_student():
    for df in (1, 3, 50, 10_000):
        for q in (1e-3, 2.0, 12.0, 40.0):
            exact = student_pvalue(q / math.sqrt(2), df, "two-sided")
            assert studentized_range_pvalue(q, 2, df) == pytest.approx(exact, rel=1e-11, abs=1e-307)


@each_case("a", [1e-12, 1e-3, 0.1, 0.7, 0.999, 3.25, 900.5])
@each_case("b", [1.0, 1.5, 8.9, 1e6])
@each_case("tail", [0.025, 0.45, 1e-9])
def test_beta_quantiles_of_numbers_that_are_not_integers(a, b, tail):
    x = beta_quantile(a, b, tail)
    if x > 1e-300:
        exact = mp.betainc(a, b, 0, mp.mpf(x), regularized=True)
        # An error of the quantile is a times as large in the tail.
        assert error_of(tail, exact) < 1e-13 * max(1, a)
    else:
        assert mp.betainc(a, b, 0, mp.mpf("1e-299"), regularized=True) > tail


@each_case("df", [0.5, 1, 3.7, 30, 999.5, 1e6])
def test_logarithms_of_far_tails(df):
    """They go on where probabilities end."""
    for t in (0.0, 1.5, 39.0, 2e3, 1e9, 1e150, 1.7e308):
        whole = mp.mpf(df) + mp.mpf(t) ** 2
        with mp.workdps(60):
            half, x = mp.mpf(df) / 2, df / whole
            if t < 1e3:
                exact = mp.log(mp.betainc(half, 0.5, 0, x, regularized=True) / 2)
            else:
                exact = half * mp.log(x) - mp.log(df) - mp.log(mp.beta(half, 0.5))
                exact += mp.log(mp.hyp2f1(half, 0.5, half + 1, x))
        found = log_upper_tail(t, df)
        assert found == pytest.approx(float(exact), rel=1e-13, abs=1e-13)
    assert log_upper_tail(math.inf, df) == -math.inf
