"""Significance tests at the limits of floats, and error messages for invalid input."""

import math
import pickle
import warnings

import numpy as np
import pytest

import fastmetrics as fm
from support.cases import assert_raises, each_case

ONE, OTHER = [0.5, 2.0, -1.0, 4.0, 3.5], [1.0, 1.5, -3.0, 2.0, 3.0]


@each_case("test", [fm.paired_t_test, fm.wilcoxon, fm.sign_flip_test])
@each_case("exponent", [-1030, -1000, -600, 600, 1000, 1015])
def test_pairs_of_any_size(test, exponent):
    """A factor of a power of two changes only the unit."""
    plain = test(ONE, OTHER)
    scaled = test(np.ldexp(ONE, exponent), np.ldexp(OTHER, exponent))
    assert (scaled.pvalue, scaled.effect_size) == (plain.pvalue, plain.effect_size)
    for end, wanted in zip(scaled.interval or (), plain.interval or (), strict=True):
        assert math.isclose(end, math.ldexp(wanted, exponent), rel_tol=1e-12)


@each_case("paired", [False, True])
@each_case("exponent", [-1000, -600, 600, 1000, 1015])
def test_samples_of_any_size(exponent, paired):
    samples = ONE, OTHER, [1.0, 1.0, 2.0, 5.0, 1.0]
    plain = fm.tukey_hsd(*samples, paired=paired)
    scaled = fm.tukey_hsd(*(np.ldexp(one, exponent) for one in samples), paired=paired)
    for result, wanted in zip(scaled.results, plain.results, strict=True):
        assert tuple(result) == tuple(wanted)
        assert (result.df, result.effect_size) == (wanted.df, wanted.effect_size)
        assert result.interval == tuple(math.ldexp(end, exponent) for end in wanted.interval)
        assert result.estimates[0].value == math.ldexp(wanted.estimates[0].value, exponent)


@pytest.mark.parametrize("test", [fm.paired_t_test, fm.wilcoxon, fm.sign_flip_test])
def test_differences_beyond_floats(test):
    assert_raises(
        ValueError, r"a - b is beyond the largest float at row 1: 1e.308 and -1e.308",
        test, [1.0, 1e308, 2.0], [1.0, -1e308, 1.0],
    )
    assert_raises(
        ValueError, r"a has -1.7e.308 at row 2: .* divide all values by the same number", test, [1.0, 2.0, -1.7e308]
    )


@pytest.mark.parametrize("test", [fm.paired_t_test, fm.wilcoxon, fm.sign_flip_test])
def test_differences_of_zero(test):
    """The method notes it, without a warning: p is defined."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = test([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert (result.statistic, result.pvalue, result.effect_size) == (0.0, 1.0, 0.0)
    assert result.method.endswith("all differences are 0: p = 1")


def test_every_test_of_means_estimates_the_difference():
    for test in (fm.paired_t_test, fm.sign_flip_test):
        result = test(ONE, OTHER)
        estimate = result.estimate("mean difference")
        assert math.isclose(estimate.value, 0.9, rel_tol=1e-14)
        assert estimate.interval == result.interval


@each_case(
    ("call", "words"),
    [
        (lambda: fm.chi2_test([1e200, 1e200]), "observed has 1e.200 at cell 0: counts may be at most 1e.100"),
        (lambda: fm.chi2_test([[1e200, 1], [1, 1e200]]), r"observed has 1e.200 at cell \(0, 0\)"),
        (lambda: fm.chi2_test([1e308, 1e308]), "observed has 1e.308 at cell 0"),
        (lambda: fm.chi2_test([[1, 2, 3], [4, 5, None]]), "observed has None at row 1"),
        (lambda: fm.two_proportion_test(10**400, 10**401, 1, 2), "successes_a must be at most 1e.100"),
        (lambda: fm.mcnemar_test(10**400, 1), "first must be at most 1e.100"),
        (lambda: fm.mcnemar_test([[1, 2.5], [1, 1]]), r"first\[0, 1\] must be a nonnegative integer; found 2.5"),
        (lambda: fm.mcnemar_test(["yes", "no"], [0, 1]), "first has 'yes' at row 0: 1 where the model is right"),
        (lambda: fm.mcnemar_test([0, 1], [None, 1]), "second has None at row 0: 1 where the model is right"),
        (lambda: fm.mcnemar_test([0, 1], [-1, 1]), "second has -1 at row 0: 1 where the model is right"),
        (lambda: fm.sign_flip_test([1, 2], seed=2**64), r"seed must be an integer from 0 to 2\*\*64 - 1"),
        (lambda: fm.sign_flip_test([1, 2], replicates=2**41), "replicates must be an integer of at most "),
        (lambda: fm.tukey_hsd([[1, 2], [3, 4]]), "one argument for each system, or one mapping of names to samples"),
        (lambda: fm.tukey_hsd({"a": [1, 2], "b": [1, 2, 3]}, paired=True), "found 2 values in 'a' and 3 in 'b'"),
    ],
)
def test_errors(call, words):
    assert_raises((ValueError, TypeError), words, call)


def test_counts_as_arrays_of_no_dimension():
    """Sums of xarray and torch have no dimension."""
    assert fm.two_proportion_test(np.array(3), np.array(10.0), 5, 10) == fm.two_proportion_test(3, 10, 5, 10)
    assert fm.mcnemar_test(np.array(3), np.array(9)) == fm.mcnemar_test(3, 9)
    assert fm.mcnemar_test(np.array([[1, 2], [3, 4]], object)) == fm.mcnemar_test([[1, 2], [3, 4]])


def test_right_or_wrong_as_objects():
    right = np.array([True, False, True, True], dtype=object)
    assert fm.mcnemar_test(right, [0, 1, 0, 0]) == fm.mcnemar_test([1, 0, 1, 1], [0, 1, 0, 0])


def test_frames_are_mappings_of_columns():
    samples = {"a": [1.0, 2.0, 4.0], "b": [2.0, 4.0, 4.0]}
    wanted = fm.tukey_hsd(samples)
    for library in ("pandas", "polars"):
        assert fm.tukey_hsd(pytest.importorskip(library).DataFrame(samples)) == wanted
    assert fm.tukey_hsd(pytest.importorskip("pyarrow").table(samples)) == wanted


def test_auc_interval_has_the_attributes_of_tests():
    labels, scores = [0, 0, 0, 1, 1, 1], [0.1, 0.4, 0.35, 0.8, 0.3, 0.9]
    found = fm.roc_auc_interval(labels, scores, ci=0.9)
    assert found.interval == (found.ci_low, found.ci_high)
    assert (found.level, found.n) == (0.9, 6)
    assert_raises(
        ValueError, r"ci must be a number between 0 and 1, .*; found 90", fm.roc_auc_interval, labels, scores, ci=90
    )


def test_results_can_be_pickled():
    for result in (
        fm.chi2_test([3, 7]),
        fm.two_proportion_test(1, 2, 3, 4),
        fm.wilcoxon(ONE, OTHER),
        fm.tukey_hsd(ONE, OTHER),
        fm.roc_auc_interval([0, 0, 1, 1], [1, 3, 2, 4]),
        fm.delong_test([0, 0, 1, 1], [1, 3, 2, 4], [1, 4, 2, 3]),
    ):
        assert pickle.loads(pickle.dumps(result)) == result
        with pytest.raises(AttributeError):
            result.pvalue = 0.0


QRELS = {f"q{n}": {"a": 1, "b": 0} for n in range(3)}
RUN = {query: {"a": 0.3, "b": 0.2} for query in QRELS}
TEXTS = ["the cat sat on the mat", "a dog ran far away today"]


@each_case(
    ("call", "words"),
    [
        (lambda: fm.compare_runs(QRELS, {"one": RUN, "two": {}}, "map"), r"runs\['two'\]: run is empty"),
        (lambda: fm.compare_runs(QRELS, {"one": RUN, "two": RUN}, "map", baseline="x"), "baseline must be one of "),
        (lambda: fm.compare_texts({"one": TEXTS, "two": TEXTS[:1]}, TEXTS), r"systems\['two'\]: .* hypotheses has 1"),
        (lambda: fm.compare_texts({"one": TEXTS, "two": [None, "x"]}, TEXTS), r"systems\['two'\]: hypotheses\[0\] is"),
    ],
)
def test_comparisons_name_the_system(call, words):
    assert_raises((ValueError, TypeError), words, call)


@pytest.mark.parametrize("times", [1, 5])
def test_segments_without_spread_have_p_of_one(times):
    """One segment, or copies of one segment, is no evidence."""
    found = fm.compare_texts({"one": TEXTS[:1] * times, "two": ["the cat sat on a mat"] * times}, TEXTS[:1] * times)
    for metric in ("bleu", "chrf"):
        assert found[metric].difference < 0
        assert found[metric].pvalue == 1.0
        assert found[metric].reason.endswith("no spread, so p is 1")
