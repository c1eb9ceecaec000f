"""Significance tests in typical use: small samples and many calls, and one comparison of many systems."""

import numpy as np
import pytest
from scipy import stats

import fastmetrics as fm

TABLE = np.array([[1320, 8680], [1200, 8800]])
CALLS = 50


@pytest.fixture(scope="module")
def pairs():
    return np.random.default_rng(0).normal(0.3, 1.0, (2, 40))


def statistic_and_pvalue(result):
    return float(result.statistic), float(result.pvalue)


def test_chi_square(timing):
    timing.compare(
        "`chi2_test` of a 2 x 2 table", lambda: statistic_and_pvalue(fm.chi2_test(TABLE)), "scipy",
        lambda: statistic_and_pvalue(stats.chi2_contingency(TABLE)), within=1e-11, rounds=15,
        calls=CALLS, note="with the interval of the effect size, which scipy has not",
    )  # fmt: skip


def test_two_proportions(timing):
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    ours, theirs = (lambda: statistic_and_pvalue(fm.two_proportion_test(1320, 10_000, 1200, 10_000))), (
        lambda: tuple(map(float, proportion.proportions_ztest([1320, 1200], [10_000, 10_000])))
    )
    timing.compare(
        "`two_proportion_test`", ours, "statsmodels", theirs, within=1e-11, rounds=15, calls=CALLS,
        note="with the intervals of difference and lift, which are other calls of statsmodels",
    )  # fmt: skip


def test_mcnemar(timing):
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    table = [[794, 150], [86, 570]]
    timing.compare(
        "`mcnemar_test` of a table", lambda: statistic_and_pvalue(fm.mcnemar_test(table)), "statsmodels",
        lambda: statistic_and_pvalue(tables.mcnemar(table)), within=1e-10, rounds=15, calls=CALLS,
        note="with the interval of the odds ratio",
    )  # fmt: skip


def test_paired_t(timing, pairs):
    timing.compare(
        "`paired_t_test` of 40 pairs", lambda: statistic_and_pvalue(fm.paired_t_test(*pairs)), "scipy",
        lambda: statistic_and_pvalue(stats.ttest_rel(*pairs)), within=1e-10, rounds=15, calls=CALLS,
    )  # fmt: skip


def test_wilcoxon(timing, pairs):
    timing.compare(
        "`wilcoxon` of 40 pairs", lambda: statistic_and_pvalue(fm.wilcoxon(*pairs)), "scipy",
        lambda: statistic_and_pvalue(stats.wilcoxon(*pairs)), within=1e-10, rounds=15, calls=CALLS,
        note="with the interval of the median difference",
    )  # fmt: skip


def test_tukey_hsd_of_many_systems(timing):
    samples = np.random.default_rng(1).normal(size=(10, 50)) + np.linspace(0, 1, 10)[:, None]

    def ours():
        return np.array([one.pvalue for one in fm.tukey_hsd(*samples).results])

    def theirs():
        result = stats.tukey_hsd(*samples)
        result.confidence_interval(0.95)
        return result.pvalue[np.triu_indices(10, 1)]

    np.testing.assert_allclose(ours(), theirs(), rtol=1e-6, atol=1e-9)
    timing.compare(
        "`tukey_hsd` of 10 systems, intervals too", ours, "scipy", theirs, within=None, rounds=3,
    )  # fmt: skip
