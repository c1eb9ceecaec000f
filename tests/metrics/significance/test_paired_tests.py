"""paired_t_test and wilcoxon: definitions, enumeration, scipy, published numbers, tails, and errors."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics.metrics.significance import wilcoxon as signed_ranks
from oracles.significance import significance as oracle
from support.cases import assert_raises, each_case

stats = pytest.importorskip("scipy.stats")
special = pytest.importorskip("scipy.special")
ALTERNATIVES = st.sampled_from(["two-sided", "less", "greater"])
ZEROS = st.sampled_from(["wilcox", "pratt", "zsplit"])
PAIRS = st.lists(st.tuples(*[st.floats(-100, 100, width=32)] * 2), min_size=3, max_size=30)
TIED = st.lists(st.integers(-4, 4), min_size=2, max_size=10)
BOTH = pytest.mark.parametrize("test", [fm.paired_t_test, fm.wilcoxon])


def close(value, wanted, rel=1e-11, floor=1e-300):
    return math.isclose(value, wanted, rel_tol=rel, abs_tol=floor)


# ------------------------------------------------------------------------------------------------ Student


@given(PAIRS, ALTERNATIVES)
def test_t_is_scipy(pairs, alternative):
    first, second = np.array(pairs).T
    if np.ptp(first - second) <= 1e-6 * np.abs([first, second]).max():
        return
    result = fm.paired_t_test(first, second, alternative=alternative)
    peer = stats.ttest_rel(first, second, alternative=alternative)
    assert close(result.statistic, float(peer.statistic), 1e-7, 1e-8)
    assert close(result.pvalue, float(stats.t(result.df).sf(abs(result.statistic))) * 2, 1e-9) or (
        alternative != "two-sided" and close(result.pvalue, float(peer.pvalue), 1e-6)
    )
    assert (result.df, result.n) == (len(pairs) - 1, len(pairs))
    low, high = stats.ttest_rel(first, second).confidence_interval(0.95)
    assert result.interval == pytest.approx((low, high), rel=1e-7, abs=1e-7)
    assert close(result.effect_size * math.sqrt(result.n), result.statistic, 1e-12)


def test_t_published():
    """Student, 1908: hours of sleep gained by two drugs, 10 patients: t = 4.06, p = 0.0028."""
    one = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    result = fm.paired_t_test([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4], one)
    assert (round(result.statistic, 4), result.df, round(result.pvalue, 6)) == (4.0621, 9, 0.002833)
    assert [round(end, 5) for end in result.interval] == [0.70011, 2.45989]
    assert round(result.estimate("mean difference").value, 2) == 1.58


def test_t_tails():
    """With two degrees of freedom the tail is algebraic; with many it is small and precise."""
    for t in (0.1, 3.0, 1e5, 1e12):
        from fastmetrics._core.distributions.student import student_pvalue

        root = math.sqrt(2 + t * t)
        assert close(student_pvalue(t, 2, "greater"), 1 / (root * (root + t)), 1e-13)
        assert close(student_pvalue(-t, 2, "two-sided"), 2 / (root * (root + t)), 1e-13)
        assert student_pvalue(-t, 2, "less") == student_pvalue(t, 2, "greater")
    result = fm.paired_t_test(np.random.default_rng(0).normal(1.0, 1.0, 1200))
    assert close(result.pvalue, 2 * special.stdtr(1199, -result.statistic), 1e-12)
    assert 0 < result.pvalue < 1e-100


@pytest.mark.parametrize("values", [[5.0] * 3, [0.1, 0.2, 0.3]])
def test_t_of_constant_differences(values):
    result = fm.paired_t_test(values, values)
    assert (result.statistic, result.pvalue, result.effect_size, result.interval) == (0.0, 1.0, 0.0, None)
    assert "all differences are 0: p = 1" in result.method
    result = fm.paired_t_test(np.array(values) + 0.1, values)
    assert (result.pvalue, result.interval) == (1.0, None)
    assert math.isnan(result.statistic)
    assert "all differences are 0.1: p = 1" in result.method
    assert close(result.estimate("mean difference").value, 0.1, 1e-12)
    thirds = np.array(values, np.float32)
    assert fm.paired_t_test(thirds + np.float32(0.1), thirds).pvalue == 1.0


# ------------------------------------------------------------------------------------------------ Wilcoxon


@given(TIED, ALTERNATIVES, ZEROS)
def test_wilcoxon_is_enumeration(differences, alternative, zero_method):
    result = fm.wilcoxon(differences, alternative=alternative, zero_method=zero_method, method="exact", ci=None)
    assert result.pvalue == float(oracle.wilcoxon(differences, alternative, zero_method))
    if any(differences):
        positive, ranks, added = oracle.signed_ranks(differences, zero_method)
        negative = sum(ranks) + 2 * added - positive
        wanted = min(positive, negative) if alternative == "two-sided" else positive
        assert result.statistic == float(wanted)
        assert result.effect_size == float((positive - negative) / (positive + negative))


@given(st.lists(st.integers(-6, 6), min_size=2, max_size=60).filter(any), ALTERNATIVES, ZEROS, st.booleans())
def test_wilcoxon_with_ties_is_scipy(differences, alternative, zero_method, correction):
    options = {"alternative": alternative, "zero_method": zero_method, "correction": correction}
    result = fm.wilcoxon(differences, method="asymptotic", ci=None, **options)
    peer = stats.wilcoxon(differences, method="asymptotic", **options)
    assert result.statistic == peer.statistic
    assert close(result.pvalue, float(peer.pvalue), 1e-11)


CHOICES = [(n, way, False) for n in (2, 5, 13, 14, 50, 51, 300) for way in ("two-sided", "less", "greater")]
CHOICES += [(n, "two-sided", True) for n in (2, 6, 13, 14, 25, 50, 51, 300)]


@each_case(("n", "alternative", "ties"), CHOICES)
def test_wilcoxon_chooses_as_scipy_where_all_differ(n, alternative, ties):
    differences = np.random.default_rng(n).normal(0.2, 1.0, n)
    if ties:
        differences = np.copysign(np.ceil(3 * np.abs(differences)), differences)
    result = fm.wilcoxon(differences, alternative=alternative)
    peer = stats.wilcoxon(differences, alternative=alternative)
    assert result.statistic == peer.statistic
    assert close(result.pvalue, float(peer.pvalue), 1e-10)


@each_case(
    ("n", "zeros", "ties", "zero_method"),
    [
        (n, zeros, ties, zero_method)
        for n, ties in ((1, False), (5, False), (5, True), (13, True), (14, True), (50, False), (51, False))
        for zeros in (1, 9, 60, 600)
        for zero_method in ("wilcox", "pratt", "zsplit")
    ],
)
def test_wilcoxon_chooses_by_the_differences_that_have_a_sign(n, zeros, ties, zero_method):
    differences = np.append(np.zeros(zeros), np.minimum(np.arange(1.0, n + 1), n - ties))
    exact = n <= (13 if ties else 50)
    found = fm.wilcoxon(np.random.default_rng(n).permutation(differences), zero_method=zero_method)
    assert found == fm.wilcoxon(differences, zero_method=zero_method, method="exact" if exact else "asymptotic")
    assert found.method.endswith("exact" if exact else "normal approximation")
    assert found.pvalue == 2.0 ** (1 - n) if exact else found.pvalue > 2.0 ** (1 - n)


def test_comparison_of_runs_by_wilcoxon_leaves_out_queries_that_do_not_differ():
    qrels = {f"q{query}": {"d": 1} for query in range(14)}
    others = {f"e{rank}": 6.0 - rank for rank in range(6)}
    base = {query: {"d": 0.0, **others} for query in qrels}
    better = {**base, **{f"q{query}": {"d": 6.5 - query, **others} for query in range(5)}}
    found = fm.compare_runs(qrels, {"base": base, "better": better}, "mrr", test=fm.wilcoxon)
    assert found.difference("mrr", other="better").pvalue == 0.0625


def test_wilcoxon_published():
    """M. Hollander, D. Wolfe, 1973, p. 29: depression scales; T+ = 40, p = 0.0195 one-sided, median 0.46."""
    before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    result = fm.wilcoxon(before, after, alternative="greater")
    assert (result.statistic, round(result.pvalue, 5)) == (40.0, 0.01953)
    assert [round(end, 3) for end in result.interval] == [0.010, 0.786]
    assert round(result.estimate("median difference").value, 3) == 0.46
    # C. Darwin's maize, 15 pairs of plants, in eighths of an inch: T = 24, p = 0.0413 (the example of scipy's page).
    result = fm.wilcoxon([6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75])
    assert (result.statistic, round(result.pvalue, 4)) == (24.0, 0.0413)


def test_wilcoxon_tail():
    """All of 40 positive: one sign pattern of 2^40; of 500, one of 2^500."""
    assert fm.wilcoxon(np.arange(1.0, 41.0), alternative="greater").pvalue == 2.0**-40
    assert fm.wilcoxon(np.arange(1.0, 401.0), alternative="greater", method="exact", ci=None).pvalue == 2.0**-400
    assert 0 < fm.wilcoxon(np.arange(1.0, 1801.0)).pvalue < 1e-290


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=25))
def test_median_is_its_definition(differences):
    result = fm.wilcoxon(differences)
    if any(differences):
        assert result.estimate("median difference").value == oracle.hodges_lehmann([Fraction(d) for d in differences])


@each_case("n", [6, 9, 20, 40])
def test_interval_contains_the_shifts_that_are_not_rejected(n):
    """A shift inside the interval is not rejected at the level, one outside is."""
    differences = np.random.default_rng(n).normal(size=n)
    low, high = fm.wilcoxon(differences).interval
    for inside, outside in ((low + 1e-9, low - 1e-9), (high - 1e-9, high + 1e-9)):
        assert fm.wilcoxon(differences - inside).pvalue > 0.05
        assert fm.wilcoxon(differences - outside).pvalue < 0.05


def test_few_pairs_have_no_interval():
    assert fm.wilcoxon([1.0, 2.0, 3.0, 4.0, 5.0]).interval is None
    assert fm.wilcoxon([1.0, 2.0, 3.0, 4.0, 5.0, 6.5]).interval == (1.0, 6.5)
    assert fm.wilcoxon([1.0, 2.0, 3.0, 4.0, 5.0], ci=1 - 2 / 2**5).interval == (1.0, 5.0)
    assert fm.wilcoxon([1.0, 2.0, 3.0]).estimate("median difference").value == 2.0
    assert fm.wilcoxon([1.0, 2.0, 3.0], ci=None).estimates == ()


@pytest.mark.parametrize("kind", ["normal", "tied", "far"])
def test_selected_averages_equal_sorted_ones(kind, monkeypatch):
    generator = np.random.default_rng(5)
    values = {
        "normal": generator.normal(size=150),
        "tied": generator.integers(-3, 3, 150).astype(float),
        "far": generator.normal(size=150) ** 9,
    }[kind]
    first, second = np.triu_indices(150)
    wanted = np.sort(values[first] + values[second]) / 2
    for rank in (1, 500, 4000):
        whole = signed_ranks.walsh_averages(values, rank)
        assert (whole[0], whole[2]) == (wanted[rank - 1], wanted[-rank])
        monkeypatch.setattr(signed_ranks, "MAX_LISTED_SUMS", 400)
        monkeypatch.setattr(signed_ranks, "SUMS_PER_VALUE", 1)
        assert signed_ranks.walsh_averages(values, rank) == whole
        monkeypatch.undo()


def test_all_zero():
    for zero_method in ("wilcox", "pratt", "zsplit"):
        result = fm.wilcoxon([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], zero_method=zero_method)
        assert (result.pvalue, result.interval) == (1.0, None)
        assert "all differences are 0: p = 1" in result.method


def test_constant_differences_have_a_sign():
    assert fm.wilcoxon([0.5] * 8).pvalue == 2 * 2.0**-8


def test_too_many_for_an_exact_test():
    text = "at most 500 differences that are not zero; found 501"
    assert_raises(ValueError, text, fm.wilcoxon, np.arange(1.0, 502.0), method="exact")


# ------------------------------------------------------------------------------------------------ both


@BOTH
class TestBoth:
    def test_any_order_gives_the_same_bits(self, test):
        generator = np.random.default_rng(3)
        for n in (12, 700):
            first, second = generator.normal(size=(2, n)).round(2) * 1e3 + 1e-3
            order = generator.permutation(n)
            assert test(first[order], second[order]) == test(first, second)

    def test_other_way_round(self, test):
        first, second = np.random.default_rng(4).normal(size=(2, 30))
        one, other = test(first, second), test(second, first)
        assert (one.pvalue, one.effect_size) == (other.pvalue, -other.effect_size)
        assert one.interval == (-other.interval[1], -other.interval[0])
        less = test(second, first, alternative="less")
        assert test(first, second, alternative="greater").pvalue == pytest.approx(less.pvalue, rel=1e-15)

    def test_differences_as_input(self, test):
        first, second = np.random.default_rng(5).normal(size=(2, 30))
        assert test(first, second) == test(first - second)

    def test_inputs_of_any_type_are_left_alone(self, test):
        first, second = [3, 1, 4, 1, 5, 9, 2], [2, 7, 1, 8, 2, 8, 1]
        wanted = test(first, second)
        for kind in (np.int8, np.int64, np.float32, np.float64, ">f8"):
            given = np.array(first, kind)
            given.flags.writeable = False
            assert test(given, np.array(second, kind)) == wanted

    @each_case(
        ("arguments", "options", "words"),
        [
            (([1.0], [2.0]), {}, "at least two pairs are needed"),
            (([], []), {}, "a is empty"),
            (([1.0, 2.0], [2.0]), {}, "a has 2 rows but b has 1"),
            (([1.0, math.nan], [2.0, 3.0]), {}, "a has NaN at row 1"),
            (([1.0, 3.0], [-math.inf, 3.0]), {}, "b has -inf at row 0"),
            ((["a", "b"], [1, 2]), {}, "a has 'a' at row 0"),
            (([[1.0, 2.0]],), {}, "a must have one dimension"),
            (([1.0, 2.0],), {"ci": 1.5}, "ci must be"),
            (([1.0, 2.0],), {"alternative": "bigger"}, "alternative must be one of"),
        ],
    )
    def test_errors(self, test, arguments, options, words):
        with pytest.raises((ValueError, TypeError)) as error:
            test(*arguments, **options)
        assert words in str(error.value)


@pytest.mark.parametrize("option", [{"zero_method": "split"}, {"method": "approx"}, {"correction": "yes"}])
def test_invalid_options_of_wilcoxon(option):
    assert_raises(ValueError, next(iter(option)), fm.wilcoxon, [1.0, 2.0], **option)
