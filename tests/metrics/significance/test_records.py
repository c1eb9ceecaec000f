"""The results of tests are records: two items, the statistic and its p-value, and all else by attribute."""

import copy
import math
import pickle
import warnings

import pytest

import fastmetrics as fm

A, B, C = [0.62, 0.71, 0.55, 0.80, 0.4], [0.60, 0.66, 0.56, 0.73, 0.1], [0.1, 0.9, 0.2, 0.4, 0.3]
SCORES = [0.9, 0.8, 0.3, 0.1], [0.7, 0.2, 0.8, 0.1]
TESTS = {
    "chi2_test": lambda: fm.chi2_test([[10, 20], [30, 25]]),
    "delong_test": lambda: fm.delong_test([1, 0, 1, 0], *SCORES),
    "mcnemar_test": lambda: fm.mcnemar_test(10, 25),
    "paired_t_test": lambda: fm.paired_t_test(A, B),
    "sign_flip_test": lambda: fm.sign_flip_test(A, B),
    "two_proportion_test": lambda: fm.two_proportion_test(3, 10, 5, 10),
    "wilcoxon": lambda: fm.wilcoxon(A, B),
    "tukey_hsd": lambda: fm.tukey_hsd(A, B, C),
    "a pair of tukey_hsd": lambda: fm.tukey_hsd(A, B, C).pair(1, 0),
    "an undefined test": lambda: fm.delong_test([1, 1, 1, 1], *SCORES),
}


def test_every_test_is_here():
    """Of the public functions, those that return a `SignificanceResult` or a `TukeyResult`."""
    kinds = {"SignificanceResult", "TukeyResult"}
    functions = {name for name in fm.__all__ if not isinstance(getattr(fm, name), type)}
    annotations = {name: getattr(getattr(fm, name), "__annotations__", {}) for name in functions}
    assert {name for name, own in annotations.items() if own.get("return") in kinds} == TESTS.keys() & functions


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.filterwarnings("ignore::fastmetrics.UndefinedMetricWarning")
def test_unpacks_to_two_and_keeps_everything(name):
    result = TESTS[name]()
    statistic, pvalue = result
    assert str((statistic, pvalue)) == str((result.statistic, result.pvalue))
    for other in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result), TESTS[name]()):
        assert other == result
        assert hash(other) == hash(result) or math.isnan(pvalue)
        assert repr(other) == repr(result)
    with pytest.raises(AttributeError, match="cannot be changed"):
        result.pvalue = 0.0
    for one in getattr(result, "results", [result]):
        ends = one.interval or (None, None)
        assert str((one.ci_low, one.ci_high)) == str(ends)
        for estimate in one.estimates:
            assert str((estimate.ci_low, estimate.ci_high)) == str(estimate.interval or (None, None))
            assert estimate == pickle.loads(pickle.dumps(estimate))


def test_different_results_differ():
    results = [fm.wilcoxon(A, B), fm.wilcoxon(A, C), fm.paired_t_test(A, B)]
    assert [[one == other for other in results] for one in results] == [
        [True, False, False], [False, True, False], [False, False, True],
    ]  # fmt: skip
    assert fm.wilcoxon(A, B) != tuple(fm.wilcoxon(A, B))


def test_an_interval_of_an_area_is_a_record():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fm.UndefinedMetricWarning)
        for labels in ([1, 0, 1, 0], [1, 1, 1, 1]):
            result = fm.roc_auc_interval(labels, SCORES[1])
            assert str(result.interval) == str((result.ci_low, result.ci_high))
            for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
                assert (other, hash(other)) == (result, hash(result))
                assert result._fields == other._fields
