"""sign_flip_test: definitions, scipy, order, threads, ties, and errors."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.comparison import randomization_test
from fastmetrics._kernels.significance import sign_flips as sign_flips
from oracles.significance import sign_flips as oracle
from support.cases import assert_raises, each_case

stats = pytest.importorskip("scipy.stats")

ALTERNATIVES = ("two-sided", "greater", "less")
WHOLE = st.lists(st.integers(-9, 9), min_size=1, max_size=9).filter(any)
HALVES = st.lists(st.integers(-(1 << 30), 1 << 30).map(lambda n: n / 1024), min_size=1, max_size=9).filter(any)
# Floats of very different magnitudes that seldom tie.
REALS = st.lists(st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-6), min_size=1, max_size=9).filter(any)


@given(st.one_of(WHOLE, HALVES), st.sampled_from(ALTERNATIVES))
def test_all_assignments_are_the_definition(differences, alternative):
    found = fm.sign_flip_test(differences, alternative=alternative).pvalue
    assert found == oracle.share_of_assignments(differences, alternative)


@given(st.one_of(WHOLE, HALVES), st.sampled_from(ALTERNATIVES), st.integers(0, 2**64 - 1))
def test_random_assignments_are_the_definition(differences, alternative, seed):
    differences = [*differences, 1, 2, 3, 4, 5]
    found = fm.sign_flip_test(differences, alternative=alternative, replicates=30, seed=seed).pvalue
    assert found == oracle.random_pvalue(differences, 30, seed, alternative)


@each_case("n", [63, 64, 65, 130])
def test_tiles_of_any_length_are_the_definition(n):
    differences = np.random.default_rng(n).integers(-20, 25, n)
    found = fm.sign_flip_test(differences, replicates=50, seed=5).pvalue
    assert found == oracle.random_pvalue(differences.tolist(), 50, 5, "two-sided")


@each_case("alternative", ALTERNATIVES)
@each_case("kind", ["normal", "decimal", "ratio", "whole"])
@each_case("n", [2, 5, 10])
def test_small_samples_equal_scipy(n, kind, alternative):
    generator = np.random.default_rng(n)
    for _ in range(5):
        a, b = {
            "normal": lambda: generator.normal(size=(2, n)),
            "decimal": lambda: generator.integers(0, 10, (2, n)) / 10,
            "ratio": lambda: generator.integers(0, 10, (2, n)) / generator.integers(1, 9, (2, n)),
            "whole": lambda: generator.integers(0, 5, (2, n)),
        }[kind]()
        if (a == b).all():
            continue
        sample = (a - b).astype(np.float64)
        theirs = stats.permutation_test(
            (sample,), np.mean, permutation_type="samples", alternative=alternative, n_resamples=1024
        )
        assert fm.sign_flip_test(a, b, alternative=alternative).pvalue == theirs.pvalue


def test_large_samples_are_normal():
    differences = np.random.default_rng(0).normal(0.04, 1, 2500)
    expected = 2 * stats.norm.sf(abs(differences.sum()) / math.sqrt((differences**2).sum()))
    found = fm.sign_flip_test(differences, replicates=100_000).pvalue
    assert abs(found - expected) < 4 * math.sqrt(expected / 100_000)
    one_sided = fm.sign_flip_test(differences, replicates=100_000, alternative="greater").pvalue
    assert abs(one_sided - expected / 2) < 4 * math.sqrt(expected / 200_000)


@given(st.one_of(WHOLE, REALS), st.randoms(use_true_random=False), st.sampled_from(ALTERNATIVES))
def test_order_and_threads_do_not_matter(differences, random, alternative):
    differences = [*differences, 0.5, 0.25, 3, 7, 1 / 3]
    shuffled = random.sample(differences, len(differences))
    weights = {one: 1 + abs(one) % 3 for one in differences}
    for options in ({}, {"replicates": 20}):
        results = {
            repr(fm.sign_flip_test(rows, alternative=alternative, n_threads=n_threads, **options))
            for rows, n_threads in ((differences, 1), (shuffled, 2), (sorted(differences), 3))
        }
        assert len(results) == 1
        weighted = {
            repr(fm.sign_flip_test(rows, sample_weight=[weights[one] for one in rows], **options))
            for rows in (differences, shuffled)
        }
        assert len(weighted) == 1


def test_many_tiles_and_many_replicates_by_threads():
    values = np.random.default_rng(3).normal(size=5000)
    found = {fm.sign_flip_test(values, replicates=40_000, n_threads=n).pvalue for n in (1, 2, 5)}
    assert len(found) == 1
    a_few = values[:21]
    found = {fm.sign_flip_test(a_few, replicates=1 << 21, n_threads=n).pvalue for n in (1, 3)}
    assert len(found) == 1


@given(REALS)
def test_swapped_samples_swap_sides(differences):
    a = [*differences, 1.5, 2.5, 1 / 7, 8.0, 9.0]
    zero = [0.0] * len(a)
    for replicates in (20, 10_000):
        two = [fm.sign_flip_test(*pair, replicates=replicates) for pair in ((a, zero), (zero, a))]
        assert (two[0].pvalue, two[0].statistic) == (two[1].pvalue, -two[1].statistic)
        greater = fm.sign_flip_test(a, zero, replicates=replicates, alternative="greater")
        assert greater.pvalue == fm.sign_flip_test(zero, a, replicates=replicates, alternative="less").pvalue


def test_decimals_tie_by_their_decimal_value():
    # 0.1 + 0.2 is not 0.3 in doubles: |0.3 + 0.3 - 0.1 - 0.2| has to tie with |0.3|.
    found = fm.sign_flip_test([0.1, 0.2, 0.3, -0.3]).pvalue
    assert found == float(oracle.share_of_assignments([1, 2, 3, -3], "two-sided"))
    # Integers of very different magnitudes do not tie.
    large = [1 << 38, 1, 1 << 37, -(1 << 37)]
    assert fm.sign_flip_test(large).pvalue == float(oracle.share_of_assignments(large, "two-sided"))


@each_case("unit", [1.0, 2.0**-1074, 2.0**900, 2.0**-30])
def test_values_of_few_bits_are_exact(unit):
    whole, slack = randomization_test.as_integers(np.array([1 << 39, -3, 0, 1]) * unit)
    assert (whole.tolist(), slack) == ([1 << 39, -3, 1], 0)
    rounded, slack = randomization_test.as_integers(np.array([float(1 << 50), -3, 1]))
    assert slack >= 3
    assert rounded[0] == 1 << 58


def test_numbers_too_wide_for_one_scale_are_rounded():
    values = np.array([1e300, 1e-300, -1e300, 5e299, 1e280])
    assert fm.sign_flip_test(values).pvalue == fm.sign_flip_test([2, 0, -2, 1]).pvalue
    tiny = np.array([5e-324, 1e-323, -5e-324])
    assert fm.sign_flip_test(tiny).pvalue == fm.sign_flip_test([1, 2, -1]).pvalue


def test_the_effect_and_its_interval():
    a, b = np.random.default_rng(5).normal([[0.4], [0.0]], 1, (2, 40))
    result = fm.sign_flip_test(a, b)
    interval = stats.ttest_rel(a, b).confidence_interval(0.95)
    assert math.isclose(result.statistic, np.mean(a - b), rel_tol=1e-14)
    assert math.isclose(result.effect_size, np.mean(a - b) / np.std(a - b, ddof=1), rel_tol=1e-13)
    np.testing.assert_allclose(result.interval, (interval.low, interval.high), rtol=1e-12)
    assert (result.n, result.df, result.effect, result.interval_of) == (40, None, "Cohen's d_z", "mean difference")
    assert fm.sign_flip_test(a, b, ci=None).interval is None
    assert math.isclose(fm.sign_flip_test(a * 1e200, b * 1e200).effect_size, result.effect_size, rel_tol=1e-12)


def test_integer_weights_repeat_terms_of_the_mean():
    generator = np.random.default_rng(6)
    differences, weights = generator.normal(size=12), generator.integers(0, 4, 12)
    result = fm.sign_flip_test(differences, sample_weight=weights)
    kept = weights > 0
    assert result.n == kept.sum()
    assert math.isclose(result.statistic, np.average(differences, weights=weights), rel_tol=1e-14)
    assert result.pvalue == fm.sign_flip_test((weights * differences)[kept]).pvalue
    even = fm.sign_flip_test(differences, sample_weight=np.full(12, 2.5))
    plain = fm.sign_flip_test(differences)
    np.testing.assert_allclose(even.interval, plain.interval, rtol=1e-12)
    assert math.isclose(even.effect_size, plain.effect_size, rel_tol=1e-12)


def test_differences_that_are_all_the_same():
    result = fm.sign_flip_test([1, 2, 3], [1, 2, 3])
    assert (result.statistic, result.pvalue, result.effect_size, result.interval) == (0.0, 1.0, 0.0, (0.0, 0.0))
    assert result.method == "sign-flip test; all differences are 0: p = 1"
    result = fm.sign_flip_test([0.1] * 10)
    assert (result.statistic, result.pvalue, result.interval) == (0.1, 2**-9, (0.1, 0.1))
    assert result.effect_size == math.inf
    one = fm.sign_flip_test([3], [1])
    assert (one.statistic, one.pvalue, one.interval) == (2.0, 1.0, None)
    assert math.isnan(one.effect_size)


def test_p_is_never_zero():
    result = fm.sign_flip_test([1.0] * 200, replicates=99)
    assert (result.pvalue, result.method) == (0.01, "sign-flip test (99 random assignments of signs)")


@each_case(
    ("arguments", "options", "error", "message"),
    [
        (([1, 2], [1]), {}, ValueError, "a has 2 rows but b has 1"),
        (([],), {}, ValueError, "a is empty"),
        (([1, float("nan")],), {}, ValueError, "a has NaN at row 1"),
        (([1, 2], [1, float("inf")]), {}, ValueError, "b has inf at row 1"),
        (([1, 1e308], [1, -1e308]), {}, ValueError, "a - b is beyond the largest float at row 1"),
        (([1, 1e306],), {"sample_weight": [1, 1e3]}, ValueError, "sample_weight times a - b is beyond"),
        (([1, 2],), {"sample_weight": [1, -1]}, ValueError, "sample_weight has -1.0 at row 1"),
        (([1, 2],), {"sample_weight": [0, 0]}, ValueError, "sample_weight is zero at every row"),
        (([1, 2],), {"replicates": 0}, ValueError, "replicates must be an integer of at least 1; found 0"),
        (([1, 2],), {"replicates": 1.5}, TypeError, "replicates must be an integer"),
        (([1, 2],), {"seed": -1}, ValueError, "seed must be an integer from 0 to 2\\*\\*64 - 1; found -1"),
        (([1, 2],), {"alternative": "both"}, ValueError, "alternative must be one of"),
        (([1, 2],), {"ci": 1}, ValueError, "ci must be a number between 0 and 1"),
        (([1, 2],), {"n_threads": 0}, ValueError, "n_threads must be"),
    ],
)
def test_errors(arguments, options, error, message):
    assert_raises(error, message, fm.sign_flip_test, *arguments, **options)


@each_case("n_values", [1, 3, 4, 5, 63, 64, 65, 200])
@each_case("replicates", [1, 7, 8, 9, 31, 32, 33, 100])
def test_registers_of_any_width_give_the_same_sums(n_values, replicates):
    values = np.sort(np.random.default_rng(n_values).integers(1, 1 << 50, n_values))[::-1].copy()
    tables = np.empty(sign_flips.TABLE_SIZE, np.int64)
    found = []
    for wide in (True, False):
        out = np.ones(replicates, np.int64)
        sign_flips.add_sign_flips(values, 7, 0, -(-n_values // 64), 5, tables, out, wide)
        found.append(out.tolist())
    plain = values.tolist()
    expected = [
        1 + sum(oracle.sign(position, 7, 5 + r) * value for position, value in enumerate(plain))
        for r in range(replicates)
    ]
    assert found == [expected, expected]


def test_kernels_accept_empty_input():
    none, tables, out = np.empty(0, np.int64), np.empty(sign_flips.TABLE_SIZE, np.int64), np.ones(3, np.int64)
    sign_flips.add_all_sign_flips(none, 0, tables, out)
    sign_flips.add_sign_flips(none, 0, 0, 0, 0, tables, out)
    sign_flips.add_sign_flips(np.ones(1, np.int64), 0, 0, 1, 0, none, out)
    assert out.tolist() == [1, 1, 1]
    for tiles in ((0, 2), (-1, 1)):
        assert_raises(
            ValueError, "outside the values",
            sign_flips.add_sign_flips, np.ones(64, np.int64), 0, *tiles, 0, tables, out,
        )
    assert randomization_test.as_integers(np.zeros(3))[0].shape == (0,)


def test_scipy_is_not_needed(monkeypatch):
    for module in ("scipy", "scipy.special", "scipy.stats"):
        monkeypatch.setitem(sys.modules, module, None)
    assert fm.sign_flip_test([1, 2, 3, -1], [0, 0, 1, 1]).interval is not None
    runs = {"a": {"q": {"d": 1.0, "e": 0.5}}, "b": {"q": {"d": 0.5, "e": 1.0}}}
    assert fm.compare_runs({"q": {"d": 1, "e": 0}}, runs, "map")["map"].pvalue == 1.0
    by_t = fm.compare_runs({f"q{n}": {"d": n % 2} for n in range(3)}, two_runs(), "map", test="t")
    assert 0 < by_t["map"].pvalue <= 1


def two_runs():
    """Two runs that differ from query to query."""
    return {
        name: {f"q{n}": {"d": 1.0, **{f"x{k}": 2.0 for k in range(n * own)}} for n in range(3)}
        for name, own in (("a", 1), ("b", 2))
    }
