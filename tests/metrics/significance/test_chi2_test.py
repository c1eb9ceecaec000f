"""chi2_test: definitions, scipy, published tables, tails, and errors."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles.significance import significance as oracle
from support.cases import assert_raises, each_case

stats = pytest.importorskip("scipy.stats")
special = pytest.importorskip("scipy.special")

COUNTS = st.integers(1, 10_000)
ROWS = st.lists(st.tuples(COUNTS, COUNTS), min_size=2, max_size=8)
TABLES = st.integers(2, 5).flatmap(lambda k: st.lists(st.lists(COUNTS, min_size=k, max_size=k), min_size=2, max_size=5))


def close(value, wanted, rel=1e-11, floor=1e-300):
    return math.isclose(value, wanted, rel_tol=rel, abs_tol=floor)


@given(ROWS)
def test_goodness_of_fit_equals_definition_and_scipy(pairs):
    observed = [one for one, _ in pairs]
    expected = [Fraction(other) * sum(observed) / sum(other for _, other in pairs) for _, other in pairs]
    result = fm.chi2_test(observed, [float(one) for one in expected])
    wanted = float(oracle.chi_square_of_fit(observed, expected))
    assert close(result.statistic, wanted, floor=1e-15 * sum(observed))
    peer = stats.chisquare(observed, [float(one) for one in expected])
    assert close(result.statistic, peer.statistic, floor=1e-12 * sum(observed))
    assert close(result.pvalue, stats.chi2.sf(result.statistic, result.df), 1e-9)
    assert result.effect_size == math.sqrt(result.statistic / sum(observed))
    assert (result.df, result.n) == (len(pairs) - 1, sum(observed))


@given(TABLES, st.booleans())
def test_table_equals_definition_and_scipy(table, correction):
    result = fm.chi2_test(table, correction=correction)
    corrected = correction and result.df == 1
    n = sum(map(sum, table))
    assert close(result.statistic, float(oracle.chi_square_of_table(table, corrected)), floor=1e-13 * n)
    peer = stats.chi2_contingency(table, correction=correction)
    assert close(result.statistic, peer.statistic, floor=1e-11 * n)
    assert close(result.pvalue, stats.chi2.sf(result.statistic, result.df), 1e-9)
    assert result.df == peer.dof
    assert close(result.effect_size, stats.contingency.association(np.array(table), "cramer"), 1e-9, 1e-7)


@given(
    st.sampled_from([2, 3]).flatmap(
        lambda k: st.lists(st.lists(st.integers(-1000, 90), min_size=k, max_size=k), min_size=2, max_size=3)
    ),
    st.booleans(),
)
def test_counts_near_the_least_numbers(exponents, correction):
    """Squares and products of such counts are below the range of doubles: no error, and the right number."""
    table = [[math.ldexp(1.0, exponent) for exponent in row] for row in exponents]
    result = fm.chi2_test(table, correction=correction)
    exact = [[Fraction(count) for count in row] for row in table]
    wanted = float(oracle.chi_square_of_table(exact, correction and result.df == 1))
    largest = max(map(max, table))
    assert close(result.statistic, wanted, floor=1e-13 * largest)
    first = [*map(float, exact[0])]
    fit = fm.chi2_test(first)
    even = [Fraction(sum(exact[0]), len(first))] * len(first)
    assert close(fit.statistic, float(oracle.chi_square_of_fit(exact[0], even)), floor=1e-13 * sum(first))


def test_a_statistic_beyond_the_greatest_double():
    result = fm.chi2_test([5e-324, 1], [1, 5e-324])
    assert (result.statistic, result.pvalue, result.effect_size) == (math.inf, 0.0, math.inf)
    assert result.interval == (math.inf, math.inf)


@given(TABLES, st.randoms())
def test_any_order_gives_the_same_bits(table, random):
    result = fm.chi2_test(table)
    order, across = list(range(len(table))), list(range(len(table[0])))
    random.shuffle(order)
    random.shuffle(across)
    assert fm.chi2_test([[table[row][column] for column in across] for row in order]) == result
    assert fm.chi2_test(np.array(table).T) == result
    assert fm.chi2_test(table[0][::-1]) == fm.chi2_test(table[0])


def test_published_examples():
    result = fm.chi2_test([3, 7], [5, 5])
    assert (result.statistic, result.df, round(result.pvalue, 4)) == (1.6, 1, 0.2059)
    # G. Mendel's peas, 1866: 315 round yellow, 108 round green, 101 wrinkled yellow, 32 wrinkled green, as 9:3:3:1.
    result = fm.chi2_test([315, 108, 101, 32], np.array([9, 3, 3, 1]) * 556 / 16)
    assert (round(result.statistic, 2), round(result.pvalue, 3)) == (0.47, 0.925)
    # A. Agresti, "An introduction to categorical data analysis", 2nd edition, 2.4.3: gender and party identification.
    result = fm.chi2_test([[762, 327, 468], [484, 239, 477]])
    assert (round(result.statistic, 1), result.df, result.n) == (30.1, 2, 2757)
    # R's manual of prop.test: smokers among patients (Fleiss, 1981): X-squared = 12.6, df = 3, p-value = 0.005585.
    smokers, patients = np.array([83, 90, 129, 70]), np.array([86, 93, 136, 82])
    result = fm.chi2_test([smokers, patients - smokers])
    assert (round(result.statistic, 1), result.df, round(result.pvalue, 6)) == (12.6, 3, 0.005585)


@pytest.mark.parametrize(
    ("statistic", "df", "wanted"),
    # Upper tails by definition: 2 df is exp(-x/2), 4 df exp(-x/2)(1 + x/2); 1 df is erfc(sqrt(x/2)).
    [
        (1400.0, 2, math.exp(-700.0)),
        (1380.0, 4, math.exp(-690.0) * 691.0),
        (1e-8, 2, math.exp(-5e-9)),
    ],
)
def test_tails(statistic, df, wanted):
    from fastmetrics._core.distributions.chi_square import chi_square_pvalue

    assert close(chi_square_pvalue(statistic, df), wanted, 1e-12, 0.0)


def test_tail_of_one_degree_of_freedom():
    """Counts 1000 and 0: X^2 = 1000, p = erfc(sqrt(500)), by the asymptotic series with error below 1e-15."""
    result = fm.chi2_test([1000, 0])
    x = 500.0
    series = sum((-1) ** k * math.prod(range(1, 2 * k, 2)) / (2 * x) ** k for k in range(12))
    assert close(result.pvalue, math.exp(-x) / math.sqrt(math.pi * x) * series, 1e-12, 0.0)


@each_case("table", [[3, 17], [[30, 20], [10, 40]], [[5, 6, 9], [20, 3, 7]], [90_000, 30_000, 40_000]])
@each_case("ci", [0.5, 0.95])
def test_interval_is_where_the_statistic_is_at_the_ends(table, ci):
    result = fm.chi2_test(table, correction=False, ci=ci)
    shape = np.shape(table)
    scale = result.n * (min(shape) - 1 if len(shape) == 2 else 1)
    for end, p in zip(result.interval, ((1 + ci) / 2, (1 - ci) / 2), strict=True):
        assert close(stats.ncx2.cdf(result.statistic, result.df, end**2 * scale), p, 1e-7)
    assert result.interval[0] < result.effect_size < result.interval[1]


def test_interval_of_a_huge_statistic():
    """The approximation for a huge statistic continues the noncentral distribution smoothly."""
    from fastmetrics.metrics.significance.chi2_test import solve_noncentrality

    for df in (1, 9):
        inside, beyond = (solve_noncentrality(1e6 * df * factor, df, 0.025) for factor in (1 - 1e-9, 1 + 1e-9))
        assert close(inside, beyond, 1e-7)
    low, high = fm.chi2_test([10**9, 2 * 10**9]).interval
    assert low < 1 / 3 < high < 0.34


def test_interval_of_no_effect_starts_at_zero():
    assert fm.chi2_test([5, 5]).interval == (0.0, 0.0)
    assert fm.chi2_test([5, 6]).interval[0] == 0.0
    assert fm.chi2_test([5, 6], ci=None).interval is None


def test_parameters_estimated_from_the_counts():
    observed, expected = [10, 20, 30, 40], [12.5, 17.5, 32.5, 37.5]
    for ddof in (0, 1, 2):
        peer = stats.chisquare(observed, expected, ddof=ddof)
        result = fm.chi2_test(observed, expected, ddof=ddof)
        assert result.df == 3 - ddof
        assert close(result.pvalue, peer.pvalue)


def test_counts_of_any_type():
    result = fm.chi2_test([3, 7, 5])
    for kind in (np.uint8, np.int64, np.float32, np.float64):
        assert fm.chi2_test(np.array([3, 7, 5], kind)) == result
    assert fm.chi2_test((3, 7, 5)) == result
    big = np.array([2**63, 2**63 + 2**40], np.uint64)
    assert close(fm.chi2_test(big).statistic, stats.chisquare(big.astype(float)).statistic, 1e-9)


@each_case(
    ("arguments", "options", "words"),
    [
        (([3, -1],), {}, "observed has -1 at cell 1: counts must be finite and not negative"),
        (([[3, 1], [2, -4]],), {}, "observed has -4 at cell (1, 1)"),
        (([3, math.nan],), {}, "observed has NaN at cell 1"),
        (([3, math.inf],), {}, "observed has inf at cell 1"),
        (([3, 7], [10, 0]), {}, "expected has 0 at cell 1: expected counts must be above 0"),
        (([3, 7], [5, 6]), {}, "the same sum; found 10 and 11"),
        (([3, 7], [5, -5]), {}, "expected has -5 at cell 1"),
        (([3, 7], [5, 2, 3]), {}, "observed has 2 counts but expected has shape (3,)"),
        (([3],), {}, "at least two are needed"),
        (([],), {}, "observed is empty"),
        (([0, 0],), {}, "nothing was counted"),
        (([[0, 0], [0, 0]],), {}, "nothing was counted"),
        (([[1, 2]],), {}, "at least two rows and two columns; found 1 and 2"),
        (([[1, 0], [2, 0]],), {}, "only zeros in column 1: the expected count of cell (0, 1) is 0"),
        (([[0, 0], [2, 1]],), {}, "only zeros in row 0: the expected count of cell (0, 0) is 0"),
        (([[1, 2], [3, 4]], [[1, 2], [3, 4]]), {}, "expected and ddof are for one row of counts"),
        (([1, 2],), {"ddof": 1}, "leave no degree of freedom"),
        (([1, 2],), {"ddof": -1}, "ddof must be"),
        (([1, 2],), {"ci": 0}, "ci must be a number between 0 and 1"),
        (([1, 2],), {"ci": 1.0}, "ci must be a number between 0 and 1"),
        (([1, 2],), {"ci": 95}, "found 95"),
        (([1, 2],), {"ci": math.nan}, "found nan"),
        (([1, 2],), {"correction": 1}, "correction must be True or False"),
        ((np.ones((2, 2, 2)),), {}, "one or two dimensions"),
        ((["a", "b"],), {}, "observed has 'a' at row 0"),
    ],
)
def test_errors(arguments, options, words):
    with pytest.raises((ValueError, TypeError)) as error:
        fm.chi2_test(*arguments, **options)
    assert words in str(error.value)


def test_result_is_frozen_and_readable():
    result = fm.chi2_test([3, 7])
    with pytest.raises(AttributeError):
        result.pvalue = 0.0
    assert str(result).startswith("Pearson's chi-squared goodness of fit: statistic 1.6, df 1, p 0.2059;")
    assert "\n" not in str(result)
    assert_raises(ValueError, "this test has no estimate 'lift'; it has: none", result.estimate, "lift")
