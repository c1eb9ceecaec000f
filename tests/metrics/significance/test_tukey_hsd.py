"""tukey_hsd and the studentized range: Student's t, scipy, statsmodels, published numbers, and errors."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from support.cases import assert_raises, each_case

stats = pytest.importorskip("scipy.stats")

# Headache remedies, minutes to relief: the example of scipy's own documentation.
REMEDIES = [24.5, 23.5, 26.4, 27.1, 29.9], [28.4, 34.2, 29.5, 32.2, 30.1], [26.1, 28.3, 24.3, 26.2, 27.8]


def range_pvalue(q, k, df):
    from fastmetrics.metrics.significance.tukey_hsd import studentized_range_pvalue

    return studentized_range_pvalue(q, k, df)


def close(value, wanted, rel=1e-11, floor=0.0):
    return math.isclose(value, wanted, rel_tol=rel, abs_tol=floor)


@each_case("df", [1, 2, 3, 7, 50, 200, 201, 10_000, 10_000_000])
def test_range_of_two_is_student(df):
    """|t| sqrt(2) is the studentized range of two means, also in the tails."""
    from fastmetrics._core.distributions.student import student_pvalue

    for q in (1e-3, 0.5, 2.0, 5.0, 12.0, 40.0):
        assert close(range_pvalue(q, 2, df), student_pvalue(q / math.sqrt(2), df, "two-sided"), 1e-11, 1e-307)


@given(st.integers(3, 40), st.integers(2, 120), st.floats(0.5, 8))
def test_range_is_scipy(k, df, q):
    assert close(range_pvalue(q, k, df), float(stats.studentized_range.sf(q, k, df)), 1e-5, 1e-9)


def test_range_of_tables():
    """Upper 5 % and 1 % points as in E. Pearson, H. Hartley, "Biometrika tables for statisticians", table 29."""
    from fastmetrics.metrics.significance.tukey_hsd import studentized_range_quantile

    for k, df, at_5, at_1 in ((2, 5, 3.64, 5.70), (3, 10, 3.88, 5.27), (10, 20, 5.01, 6.09)):
        assert round(studentized_range_quantile(0.05, k, df), 2) == at_5
        assert round(studentized_range_quantile(0.01, k, df), 2) == at_1
        assert close(range_pvalue(studentized_range_quantile(1e-40, k, df), k, df), 1e-40, 1e-9)
    assert range_pvalue(0.0, 3, 10) == 1.0


def test_range_of_large_tails_is_bounded_by_its_pairs():
    """Far in the tail, the Bonferroni bound over all pairs holds and is nearly reached."""
    for k, df in ((3, 30), (6, 500)):
        one = range_pvalue(25.0, 2, df)
        assert 0 < range_pvalue(25.0, k, df) < math.comb(k, 2) * one
        assert range_pvalue(25.0, k, df) > 0.5 * math.comb(k, 2) * one


@pytest.mark.parametrize("sizes", [(5, 5, 5), (4, 9), (3, 12, 7, 5)])
def test_is_scipy_and_statsmodels(sizes):
    pairwise = pytest.importorskip("statsmodels.stats.multicomp").pairwise_tukeyhsd
    generator = np.random.default_rng(sum(sizes))
    samples = [generator.normal(0.8 * place, 1, size) for place, size in enumerate(sizes)]
    result = fm.tukey_hsd(*samples)
    peer = stats.tukey_hsd(*samples)
    intervals = peer.confidence_interval(0.95)
    other = pairwise(np.concatenate(samples), np.repeat(np.arange(len(sizes)), sizes))
    for number, ((i, j), one) in enumerate(zip(result.pairs, result.results, strict=True)):
        assert close(one.estimates[0].value, peer.statistic[i, j], 1e-12, 1e-12)
        assert close(one.pvalue, peer.pvalue[i, j], 1e-6, 1e-10)
        assert one.interval == pytest.approx((intervals.low[i, j], intervals.high[i, j]), rel=1e-6)
        # statsmodels subtracts the first from the second.
        assert close(one.pvalue, float(other.pvalues[number]), 1e-3, 1e-4)
        assert one.interval == pytest.approx(-other.confint[number][::-1], rel=1e-3)
        assert (one.df, one.n) == (sum(sizes) - len(sizes), sum(sizes))


def test_published():
    result = fm.tukey_hsd(*REMEDIES)
    assert [round(one.pvalue, 3) for one in result.results] == [0.014, 0.98, 0.02]
    assert [round(end, 3) for end in result.pair(0, 1).interval] == [-8.249, -0.951]


def test_paired_is_two_way_analysis():
    """The residual variance by definition; with two systems, the paired t-test."""
    generator = np.random.default_rng(0)
    table = generator.normal(size=(12, 4)) + 3 * generator.normal(size=(12, 1))
    result = fm.tukey_hsd(*table.T, paired=True)
    left = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    variance = (left**2).sum() / (11 * 3)
    for (i, j), one in zip(result.pairs, result.results, strict=True):
        q = abs(table[:, i].mean() - table[:, j].mean()) / math.sqrt(variance / 12)
        assert close(one.statistic, q, 1e-12)
        assert close(one.pvalue, float(stats.studentized_range.sf(q, 4, 33)), 1e-6)
        assert (one.df, one.n) == (33, 12)
    (two,) = fm.tukey_hsd(table[:, 0], table[:, 1], paired=True).results
    t_test = fm.paired_t_test(table[:, 0], table[:, 1])
    assert close(two.pvalue, t_test.pvalue, 1e-11)
    assert two.interval == pytest.approx(t_test.interval, rel=1e-10)
    assert fm.tukey_hsd(table[:, 0], table[:, 1]).results[0].interval[1] > two.interval[1]


@pytest.mark.parametrize("paired", [False, True])
def test_any_order_gives_the_same_bits(paired):
    samples = np.random.default_rng(1).normal(size=(5, 40)) * 1e3
    result = fm.tukey_hsd(*samples, paired=paired)
    order = np.random.default_rng(2).permutation(40)
    assert fm.tukey_hsd(*samples[:, order], paired=paired) == result
    for first, second in ((0, 3), (2, 1)):
        turned = fm.tukey_hsd(*samples[::-1], paired=paired).pair(4 - first, 4 - second)
        assert turned == result.pair(first, second)


def test_names_and_table():
    named = dict(zip("abc", REMEDIES, strict=True))
    result = fm.tukey_hsd(named)
    assert (result.names, result.pairs) == (("a", "b", "c"), (("a", "b"), ("a", "c"), ("b", "c")))
    one, other = result.pair("a", "b"), result.pair("b", "a")
    assert (other.pvalue, other.effect_size) == (one.pvalue, -one.effect_size)
    assert other.interval == (-one.interval[1], -one.interval[0])
    assert other.estimates[0] == fm.Estimate("difference", -one.estimates[0].value, other.interval)
    lines = str(result).splitlines()
    assert len(lines) == 4
    assert lines[0].split()[:4] == ["pair", "difference", "ci_low", "ci_high"]
    assert fm.tukey_hsd(named, ci=None).results[0].interval is None
    assert len(str(fm.tukey_hsd(named, ci=None)).splitlines()) == 4
    assert_raises(ValueError, "no pair 'a', 'd'; the systems are 'a', 'b', 'c'", result.pair, "a", "d")


def test_no_variance():
    for paired in (False, True):
        same, apart = fm.tukey_hsd([1.0, 1.0], [1.0, 1.0], [2.0, 2.0], paired=paired).results[:2]
        assert (same.statistic, same.pvalue, same.interval) == (0.0, 1.0, None)
        assert (apart.pvalue, apart.interval) == (1.0, None)
        assert math.isnan(apart.statistic)
        assert "no variance: p = 1" in apart.method
    first = np.random.default_rng(3).normal(size=20)
    assert fm.tukey_hsd(first, first + 0.1, paired=True).results[0].pvalue == 1.0


@each_case(
    ("samples", "options", "words"),
    [
        (([1.0, 2.0],), {}, "at least two samples are needed; found 1"),
        ((), {}, "at least two samples are needed; found 0"),
        (({"a": [1.0, 2.0]},), {}, "at least two samples are needed; found 1"),
        (([1.0, 2.0], [1.0]), {}, "sample 1 has one value: at least two are needed"),
        (({"a": [1.0, 2.0], "b": [math.nan, 1.0]},), {}, "sample 'b' has NaN at row 0"),
        (([1.0, 2.0], [1.0, 2.0, 3.0]), {"paired": True}, "paired samples must have one length; found 2"),
        (([1.0, 2.0], [1.0, 3.0]), {"ci": -0.1}, "ci must be"),
        (([1.0, 2.0], [1.0, 3.0]), {"paired": 1}, "paired must be True or False"),
    ],
)
def test_errors(samples, options, words):
    with pytest.raises((ValueError, TypeError)) as error:
        fm.tukey_hsd(*samples, **options)
    assert words in str(error.value)
