"""Tests of significance as they are used: small samples, many calls; and one table of many systems."""

import numpy as np
import pytest
from scipy import stats

import fastmetrics as fm
from bench.race import at_least

TABLE = np.array([[1320, 8680], [1200, 8800]])
CALLS = 50


@pytest.fixture(scope="module")
def pairs():
    return np.random.default_rng(0).normal(0.3, 1.0, (2, 40))


def both(result):
    return float(result.statistic), float(result.pvalue)


def test_chi_square(race):
    race.against(
        "`chi2_test` of a 2 x 2 table", lambda: both(fm.chi2_test(TABLE)), "scipy",
        lambda: both(stats.chi2_contingency(TABLE)), within=1e-11, target=at_least(5), rounds=15, calls=CALLS,
        note="with the interval of the effect size, which scipy has not",
    )  # fmt: skip


def test_two_proportions(race):
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    ours, theirs = (lambda: both(fm.two_proportion_test(1320, 10_000, 1200, 10_000))), (
        lambda: tuple(map(float, proportion.proportions_ztest([1320, 1200], [10_000, 10_000])))
    )
    race.against(
        "`two_proportion_test`", ours, "statsmodels", theirs, within=1e-11, target=at_least(3), rounds=15, calls=CALLS,
        note="with the intervals of difference and lift, which are other calls of statsmodels",
    )  # fmt: skip


def test_mcnemar(race):
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    table = [[794, 150], [86, 570]]
    race.against(
        "`mcnemar_test` of a table", lambda: both(fm.mcnemar_test(table)), "statsmodels",
        lambda: both(tables.mcnemar(table)), within=1e-10, target=at_least(2), rounds=15, calls=CALLS,
        note="with the interval of the odds ratio",
    )  # fmt: skip


def test_student(race, pairs):
    race.against(
        "`paired_t_test` of 40 pairs", lambda: both(fm.paired_t_test(*pairs)), "scipy",
        lambda: both(stats.ttest_rel(*pairs)), within=1e-10, target=at_least(5), rounds=15, calls=CALLS,
    )  # fmt: skip


def test_signed_ranks(race, pairs):
    race.against(
        "`wilcoxon` of 40 pairs", lambda: both(fm.wilcoxon(*pairs)), "scipy", lambda: both(stats.wilcoxon(*pairs)),
        within=1e-10, target=at_least(3), rounds=15, calls=CALLS, note="with the interval of the median difference",
    )  # fmt: skip


def test_many_systems(race):
    samples = np.random.default_rng(1).normal(size=(10, 50)) + np.linspace(0, 1, 10)[:, None]

    def ours():
        return np.array([one.pvalue for one in fm.tukey_hsd(*samples).results])

    def theirs():
        result = stats.tukey_hsd(*samples)
        result.confidence_interval(0.95)
        return result.pvalue[np.triu_indices(10, 1)]

    np.testing.assert_allclose(ours(), theirs(), rtol=1e-6, atol=1e-9)
    race.against(
        "`tukey_hsd` of 10 systems, intervals too", ours, "scipy", theirs, within=None, target=at_least(5), rounds=3,
    )  # fmt: skip
