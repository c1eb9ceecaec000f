"""two_proportion_test and mcnemar_test: definitions, statsmodels, published numbers, and errors."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles.significance import significance as oracle
from support.cases import each_case

special = pytest.importorskip("scipy.special")
SHARES = st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
ALTERNATIVES = {"two-sided": "two-sided", "less": "smaller", "greater": "larger"}


def close(value, wanted, rel=1e-11, floor=1e-300):
    return math.isclose(value, wanted, rel_tol=rel, abs_tol=floor)


def statsmodels_proportions():
    return pytest.importorskip("statsmodels.stats.proportion")


# ------------------------------------------------------------------------------------------------ two shares


@given(SHARES, SHARES, st.sampled_from(list(ALTERNATIVES)))
def test_shares_are_statsmodels(a, b, alternative):
    if a[0] + b[0] in (0, a[1] + b[1]):
        return
    peer = statsmodels_proportions().proportions_ztest(
        [a[0], b[0]], [a[1], b[1]], alternative=ALTERNATIVES[alternative]
    )
    result = fm.two_proportion_test(*a, *b, alternative=alternative)
    assert close(result.statistic, float(peer[0]), 1e-9, 1e-9)
    assert close(result.pvalue, float(peer[1]), 1e-7)
    wanted = 2 * math.asin(math.sqrt(a[0] / a[1])) - 2 * math.asin(math.sqrt(b[0] / b[1]))
    assert (result.effect_size, result.n) == (wanted, a[1] + b[1])


@given(SHARES, SHARES, st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_intervals_are_statsmodels(a, b, ci):
    interval = statsmodels_proportions().confint_proportions_2indep
    for ours, theirs in (("newcombe", "newcomb"), ("wald", "wald")):
        result = fm.two_proportion_test(*a, *b, ci=ci, ci_method=ours)
        wanted = interval(*a, *b, method=theirs, compare="diff", alpha=1 - ci)
        assert result.interval == pytest.approx(wanted, rel=1e-9, abs=1e-9)
        assert result.estimate("difference").interval == result.interval
    lift = result.estimate("lift")
    if a[0] and b[0]:
        wanted = interval(*a, *b, method="log", compare="ratio", alpha=1 - ci)
        assert lift.interval == pytest.approx([one - 1 for one in wanted], rel=1e-9, abs=1e-9)
        assert close(lift.value, (a[0] / a[1]) / (b[0] / b[1]) - 1, 1e-9, 1e-12)
    else:
        assert lift.interval is None


@given(SHARES, SHARES)
def test_square_is_chi_square_of_the_table(a, b):
    """Without correction, both are the same test."""
    if a[0] + b[0] in (0, a[1] + b[1]):
        return
    result = fm.two_proportion_test(*a, *b)
    table = [[a[0], a[1] - a[0]], [b[0], b[1] - b[0]]]
    chi_square = fm.chi2_test(table, correction=False)
    assert close(result.statistic**2, chi_square.statistic, 1e-9, 1e-9)
    assert close(result.statistic**2, float(oracle.chi_square_of_table(table)), 1e-12)
    assert close(result.pvalue, chi_square.pvalue, 1e-7)


@given(SHARES, SHARES)
def test_b_minus_a_is_the_other_way_round(a, b):
    one, other = fm.two_proportion_test(*a, *b), fm.two_proportion_test(*b, *a)
    assert (one.statistic, one.pvalue) == (-other.statistic, other.pvalue)
    assert one.interval == pytest.approx([-other.interval[1], -other.interval[0]], rel=1e-12, abs=1e-15)
    less = fm.two_proportion_test(*b, *a, alternative="less").pvalue
    assert fm.two_proportion_test(*a, *b, alternative="greater").pvalue == less


def test_published_intervals():
    """R. Newcombe, Statistics in Medicine 17, 1998, table II, method 10: 56/70 - 48/80 and others."""
    for shares, low, high in [
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((6, 7, 2, 7), 0.0582, 0.8062),
        ((5, 56, 0, 29), -0.0381, 0.1926),
        ((10, 10, 0, 10), 0.6075, 1.0),
    ]:
        assert [round(end, 4) for end in fm.two_proportion_test(*shares).interval] == [low, high]


def test_tail_of_shares():
    """A p far below the precision of 1 - cdf."""
    result = fm.two_proportion_test(1680, 2000, 500, 2000)
    assert result.statistic > 37
    assert close(result.pvalue, 2 * special.ndtr(-result.statistic), 1e-11, 0.0)
    assert 0 < result.pvalue < 1e-300


def test_no_success_and_no_failure():
    for shares, words in (((0, 10, 0, 20), "nobody succeeds: p = 1"), ((10, 10, 20, 20), "everybody succeeds: p = 1")):
        result = fm.two_proportion_test(*shares)
        assert (result.statistic, result.pvalue) == (0.0, 1.0)
        assert words in result.method
        assert result.interval[0] < 0 < result.interval[1]
    assert fm.two_proportion_test(1, 10, 0, 10).estimate("lift") == fm.Estimate("lift", math.inf, None)
    assert math.isnan(fm.two_proportion_test(0, 10, 0, 10).estimate("lift").value)
    assert fm.two_proportion_test(0, 10, 5, 10).estimate("lift") == fm.Estimate("lift", -1.0)
    assert fm.two_proportion_test(1, 10, 2, 10, ci=None).interval is None


@each_case(
    ("arguments", "options", "words"),
    [
        ((-1, 10, 1, 10), {}, "successes_a must be a nonnegative integer; found -1"),
        ((1, 10, 1.5, 10), {}, "successes_b must be a nonnegative integer; found 1.5"),
        ((1, math.nan, 1, 10), {}, "trials_a must be a nonnegative integer; found NaN"),
        ((1, 10, "3", 10), {}, "successes_b must be a nonnegative integer; found '3'"),
        ((1, 10, 1, math.inf), {}, "trials_b must be"),
        ((0, 0, 1, 10), {}, "trials_a is 0"),
        ((1, 10, 11, 10), {}, "successes_b is 11, more than trials_b = 10"),
        ((1, 10, 2, 10), {"ci": 1}, "ci must be"),
        ((1, 10, 2, 10), {"alternative": "larger"}, "alternative must be one of"),
        ((1, 10, 2, 10), {"ci_method": "score"}, "ci_method must be one of"),
    ],
)
def test_errors_of_proportions(arguments, options, words):
    with pytest.raises((ValueError, TypeError)) as error:
        fm.two_proportion_test(*arguments, **options)
    assert words in str(error.value)


# ------------------------------------------------------------------------------------------------ McNemar


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_enumeration(b, c):
    exact, mid = oracle.mcnemar(b, c) if b + c else (1, 1)
    assert close(fm.mcnemar_test(b, c, ci=None).pvalue, float(exact), 1e-13)
    assert close(fm.mcnemar_test(b, c, method="mid-p", ci=None).pvalue, float(mid), 1e-13)


@given(st.integers(0, 2000), st.integers(1, 2000), st.booleans())
def test_mcnemar_is_statsmodels(b, c, correction):
    peer = pytest.importorskip("statsmodels.stats.contingency_tables").mcnemar
    table = [[7, b], [c, 9]]
    exact = peer(table, exact=True)
    result = fm.mcnemar_test(table, ci=None)
    assert result.statistic == exact.statistic
    assert close(result.pvalue, float(exact.pvalue), 1e-10)
    wanted = peer(table, exact=False, correction=correction)
    result = fm.mcnemar_test(b, c, method="chi2", correction=correction)
    if correction and b == c:  # our correction stops at zero
        assert result.statistic == 0
        return
    assert close(result.statistic, float(wanted.statistic), 1e-12)
    assert close(result.pvalue, float(wanted.pvalue), 1e-9)


def test_mcnemar_published():
    """Fagerland et al., 2013: airway hyper-responsiveness, b = 1, c = 7; and complaints, b = 6, c = 16 (table 1, 2)."""
    for b, c, exact, mid, plain, corrected in (
        (1, 7, 0.070, 0.039, 0.034, 0.077),
        (6, 16, 0.052, 0.035, 0.033, 0.055),
    ):
        assert round(fm.mcnemar_test(b, c).pvalue, 3) == exact
        assert round(fm.mcnemar_test(b, c, method="mid-p").pvalue, 3) == mid
        assert round(fm.mcnemar_test(b, c, method="chi2", correction=False).pvalue, 3) == plain
        assert round(fm.mcnemar_test(b, c, method="chi2").pvalue, 3) == corrected
    # A. Agresti, "Categorical data analysis", 2nd edition, 10.1: approval of a prime minister: z = -4.17.
    result = fm.mcnemar_test([[794, 150], [86, 570]], method="chi2", correction=False)
    assert round(math.sqrt(result.statistic), 2) == 4.17
    assert result.n == 236


@each_case(("b", "c"), [(3, 9), (0, 5), (5, 0), (40, 20), (1, 1)])
@each_case("ci", [0.8, 0.95])
def test_mcnemar_intervals_have_their_tails(b, c, ci):
    """At the ends, with p = odds / (1 + odds), the tails equal (1 - level) / 2."""
    stats = pytest.importorskip("scipy.stats")
    tail, n = (1 - ci) / 2, b + c
    for method, half in (("exact", 0.0), ("mid-p", 0.5)):
        low, high = fm.mcnemar_test(b, c, method=method, ci=ci).interval
        if b:
            p = low / (1 + low)
            assert close(stats.binom.sf(b - 1, n, p) - half * stats.binom.pmf(b, n, p), tail, 1e-8)
        else:
            assert low == 0
        if c:
            p = high / (1 + high)
            assert close(stats.binom.cdf(b, n, p) - half * stats.binom.pmf(b, n, p), tail, 1e-8)
        else:
            assert high == math.inf
    low, high = fm.mcnemar_test(b, c, method="chi2", ci=ci).interval
    wilson = statsmodels_proportions().proportion_confint(b, n, 1 - ci, "wilson")
    assert (low / (1 + low) if low else 0.0) == pytest.approx(wilson[0], rel=1e-9, abs=1e-9)
    assert (high / (1 + high) if high < math.inf else 1.0) == pytest.approx(wilson[1], rel=1e-9)


def test_mcnemar_tails():
    """1000 against 0: 2 / 2^1000, exactly a float."""
    assert close(fm.mcnemar_test(0, 1000).pvalue, 2.0**-999, 1e-12, 0.0)
    assert close(fm.mcnemar_test(0, 1000, method="mid-p").pvalue, 2.0**-1000, 1e-12, 0.0)


def test_forms_of_mcnemar_agree():
    first = np.array([1, 1, 0, 0, 1, 1, 0], np.int8)
    second = np.array([1, 0, 1, 0, 0, 0, 0], np.int8)
    result = fm.mcnemar_test(first, second)
    assert result == fm.mcnemar_test(3, 1) == fm.mcnemar_test([[1, 3], [1, 2]])
    assert result == fm.mcnemar_test(first.astype(bool), second.astype(bool).tolist())
    assert result == fm.mcnemar_test(np.int64(3), 1.0)
    assert (result.n, result.effect_size, result.effect) == (4, 3.0, "odds ratio")
    order = np.random.default_rng(0).permutation(7)
    assert fm.mcnemar_test(first[order], second[order]) == result


def test_never_apart():
    for method in ("exact", "mid-p", "chi2"):
        result = fm.mcnemar_test(0, 0, method=method)
        assert (result.pvalue, result.interval, result.n) == (1.0, None, 0)
        assert "never apart: p = 1" in result.method
    assert fm.mcnemar_test(5, 5, method="mid-p").pvalue == 1.0
    assert fm.mcnemar_test(5, 5).pvalue == 1.0
    assert fm.mcnemar_test(5, 0).effect_size == math.inf


@each_case(
    ("arguments", "options", "words"),
    [
        (([1, 0], [1]), {}, "first has 2 rows but second has 1"),
        (([1, 2], [1, 0]), {}, "first has 2 at row 1: 1 where the model is right, 0 where not"),
        (([1.0, 0.0], [1.0, math.nan]), {}, "second has NaN at row 1"),
        (([1], [0]), {}, "at least two are needed"),
        (([], []), {}, "first is empty"),
        (([1, 0, 1],), {}, "must be a table of shape (2, 2)"),
        (([[1, 2], [-3, 4]],), {}, "first[1, 0] must be a nonnegative integer; found -3"),
        ((-1, 2), {}, "first must be a nonnegative integer; found -1"),
        ((1, 2), {"method": "midp"}, "method must be one of 'exact', 'mid-p', 'chi2'"),
        ((1, 2), {"correction": None}, "correction must be True or False"),
        ((1, 2), {"ci": 0.0}, "ci must be"),
    ],
)
def test_errors_of_mcnemar(arguments, options, words):
    with pytest.raises((ValueError, TypeError)) as error:
        fm.mcnemar_test(*arguments, **options)
    assert words in str(error.value)
