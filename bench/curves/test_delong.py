"""DeLong's test of two models, and the interval of one."""

import numpy as np
import pytest

import fastmetrics as fm
from bench.race import at_least

ROWS = 1_000_000
COVERAGE_LOGS = 400


def midranks(values):
    """Ranks from 1, of ties their mean."""
    order = np.argsort(values)
    ordered = values[order]
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    last = np.concatenate((first[1:], [len(values)]))
    ranks = np.empty(len(values))
    ranks[order] = np.repeat((first + last + 1) / 2, last - first)
    return ranks


def placements(labels, scores):
    """V10 and V01 after Sun and Xu (2014): the midranks in all rows less those in the class, by the other class."""
    positives, negatives = scores[labels == 1], scores[labels == 0]
    m, n = len(positives), len(negatives)
    together = midranks(np.concatenate((positives, negatives)))
    return (together[:m] - midranks(positives)) / n, 1 - (together[m:] - midranks(negatives)) / m


def by_midranks(labels, one, two):
    """The statistic of the test in NumPy."""
    v10, v01 = zip(placements(labels, one), placements(labels, two), strict=True)
    covariance = np.cov(v10) / len(v10[0]) + np.cov(v01) / len(v01[0])
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    return (v10[0].mean() - v10[1].mean()) / np.sqrt(variance)


def interval_by_midranks(labels, scores):
    v10, v01 = placements(labels, scores)
    return np.sqrt(v10.var(ddof=1) / len(v10) + v01.var(ddof=1) / len(v01))


def by_ranks_of_scipy(labels, one, two):
    """The same with the midranks of scipy."""
    from scipy.stats import rankdata

    parts = []
    for scores in (one, two):
        positives, negatives = scores[labels == 1], scores[labels == 0]
        together = rankdata(np.concatenate((positives, negatives)))
        m, n = len(positives), len(negatives)
        parts.append(((together[:m] - rankdata(positives)) / n, 1 - (together[m:] - rankdata(negatives)) / m))
    v10, v01 = zip(*parts, strict=True)
    covariance = np.cov(v10) / len(v10[0]) + np.cov(v01) / len(v01[0])
    return (v10[0].mean() - v10[1].mean()) / np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])


def two_models(rows, share, decimals=None):
    random = np.random.default_rng(8)
    labels = (random.random(rows) < share).astype(np.int64)
    common = random.standard_normal(rows) + labels
    models = [common + random.standard_normal(rows) for _ in range(2)]
    return labels, *(own if decimals is None else own.round(decimals) for own in models)


@pytest.mark.parametrize(
    ("share", "decimals", "what", "target"),
    [
        (0.05, None, "5% positives", at_least(20)),
        (0.2, None, "20% positives", None),
        (0.5, None, "50% positives", None),
        (0.05, 2, "5% positives, scores of two decimals", at_least(20)),
        (0.5, 2, "50% positives, scores of two decimals", at_least(20)),
    ],
    ids=["5%", "20%", "50%", "ties", "ties, 50%"],
)
def test_two_models(race, share, decimals, what, target):
    log = two_models(ROWS, share, decimals)
    work = f"`delong_test`, two models, 1M rows, {what}"

    def ours():
        return fm.delong_test(*log).statistic

    race.against(work, ours, "NumPy midranks", lambda: by_midranks(*log), within=1e-8, target=target, rounds=3)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_midranks_of_scipy(race, share):
    log = two_models(ROWS, share)
    work = f"`delong_test`, two models, 1M rows, {share:.0%} positives"

    def ours():
        return fm.delong_test(*log).statistic

    peer = "NumPy with `scipy.stats.rankdata`"
    race.against(work, ours, peer, lambda: by_ranks_of_scipy(*log), within=1e-8, target=at_least(20), rounds=3)


def test_ten_million_rows_alone(race):
    """Two columns of scores are 160 MB: what is needed besides is 20 bytes a row."""
    log = two_models(10 * ROWS, 0.05)
    race.alone("`delong_test`, two models, 10M rows, 5% positives", lambda: fm.delong_test(*log), rounds=3)


def test_interval(race):
    labels, scores, _ = two_models(ROWS, 0.05)

    def ours():
        return fm.roc_auc_interval(labels, scores).standard_error

    work = "`roc_auc_interval`, 1M rows, 5% positives"
    race.against(work, ours, "NumPy midranks", lambda: interval_by_midranks(labels, scores), within=1e-8, rounds=3)


def test_coverage(race):
    """Of 400 simulated logs 93 to 97 % of the intervals hold the area of the distributions; as many p are above 5 %."""
    random = np.random.default_rng(9)
    area = 0.7602499389065233  # of two normal distributions one standard deviation apart: Phi(1 / sqrt(2))

    def covered():
        inside = same = 0
        for _ in range(COVERAGE_LOGS):
            labels = (random.random(2000) < 0.2).astype(np.int64)
            common = random.standard_normal(2000)
            one, two = (0.6 * common + 0.8 * random.standard_normal(2000) + labels for _ in range(2))
            found = fm.roc_auc_interval(labels, one)
            inside += found.low <= area <= found.high
            same += fm.delong_test(labels, one, two).pvalue > 0.05
        assert 0.93 <= inside / COVERAGE_LOGS <= 0.97
        assert 0.93 <= same / COVERAGE_LOGS <= 0.97

    race.alone(f"`roc_auc_interval` and `delong_test` of {COVERAGE_LOGS} logs of 2,000 rows", covered, rounds=1)
