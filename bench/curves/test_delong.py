"""DeLong's test of two models, and the interval of one."""

import numpy as np
import pytest

import fastmetrics as fm

ROWS = 1_000_000
COVERAGE_LOGS = 400


def midranks(values):
    """Ranks from 1; ties share their mean rank."""
    order = np.argsort(values)
    ordered = values[order]
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    last = np.concatenate((first[1:], [len(values)]))
    ranks = np.empty(len(values))
    ranks[order] = np.repeat((first + last + 1) / 2, last - first)
    return ranks


def placements(labels, scores):
    """V10 and V01 after Sun and Xu (2014): (midranks in all rows - midranks in the class) / rows of the other class."""
    positives, negatives = scores[labels == 1], scores[labels == 0]
    m, n = len(positives), len(negatives)
    together = midranks(np.concatenate((positives, negatives)))
    return (together[:m] - midranks(positives)) / n, 1 - (together[m:] - midranks(negatives)) / m


def by_midranks(labels, one, two):
    """The statistic of the test, in NumPy."""
    v10, v01 = zip(placements(labels, one), placements(labels, two), strict=True)
    covariance = np.cov(v10) / len(v10[0]) + np.cov(v01) / len(v01[0])
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    return (v10[0].mean() - v10[1].mean()) / np.sqrt(variance)


def interval_by_midranks(labels, scores):
    v10, v01 = placements(labels, scores)
    return np.sqrt(v10.var(ddof=1) / len(v10) + v01.var(ddof=1) / len(v01))


def by_scipy_midranks(labels, one, two):
    """The statistic of the test, with the midranks of scipy."""
    from scipy.stats import rankdata

    components = []
    for scores in (one, two):
        positives, negatives = scores[labels == 1], scores[labels == 0]
        together = rankdata(np.concatenate((positives, negatives)))
        m, n = len(positives), len(negatives)
        components.append(((together[:m] - rankdata(positives)) / n, 1 - (together[m:] - rankdata(negatives)) / m))
    v10, v01 = zip(*components, strict=True)
    covariance = np.cov(v10) / len(v10[0]) + np.cov(v01) / len(v01[0])
    return (v10[0].mean() - v10[1].mean()) / np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])


def two_models(rows, share, decimals=None):
    random = np.random.default_rng(8)
    labels = (random.random(rows) < share).astype(np.int64)
    common = random.standard_normal(rows) + labels
    models = [common + random.standard_normal(rows) for _ in range(2)]
    return labels, *(scores if decimals is None else scores.round(decimals) for scores in models)


@pytest.mark.parametrize(
    ("share", "decimals", "what"),
    [
        (0.05, None, "5% positives"),
        (0.2, None, "20% positives"),
        (0.5, None, "50% positives"),
        (0.05, 2, "5% positives, scores of two decimals"),
        (0.5, 2, "50% positives, scores of two decimals"),
    ],
    ids=["5%", "20%", "50%", "ties", "ties, 50%"],
)
def test_two_models(timing, share, decimals, what):
    log = two_models(ROWS, share, decimals)
    work = f"`delong_test`, two models, 1M rows, {what}"

    def ours():
        return fm.delong_test(*log).statistic

    timing.compare(work, ours, "NumPy midranks", lambda: by_midranks(*log), within=1e-8, rounds=3)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_scipy_midranks(timing, share):
    log = two_models(ROWS, share)
    work = f"`delong_test`, two models, 1M rows, {share:.0%} positives"

    def ours():
        return fm.delong_test(*log).statistic

    peer = "NumPy with `scipy.stats.rankdata`"
    timing.compare(work, ours, peer, lambda: by_scipy_midranks(*log), within=1e-8, rounds=3)


def test_ten_million_rows(timing):
    """The two columns of scores are 160 MB; the test needs another 20 bytes per row."""
    log = two_models(10 * ROWS, 0.05)
    timing.measure("`delong_test`, two models, 10M rows, 5% positives", lambda: fm.delong_test(*log), rounds=3)


def test_interval(timing):
    labels, scores, _ = two_models(ROWS, 0.05)

    def ours():
        return fm.roc_auc_interval(labels, scores).standard_error

    work = "`roc_auc_interval`, 1M rows, 5% positives"
    timing.compare(work, ours, "NumPy midranks", lambda: interval_by_midranks(labels, scores), within=1e-8, rounds=3)


def test_coverage(timing):
    """In 400 simulated logs, 93 to 97 % of the intervals contain the true area, and 93 to 97 % of p are above 5 %."""
    random = np.random.default_rng(9)
    area = 0.7602499389065233  # of two normal distributions one standard deviation apart: Phi(1 / sqrt(2))

    def covered():
        inside = same = 0
        for _ in range(COVERAGE_LOGS):
            labels = (random.random(2000) < 0.2).astype(np.int64)
            common = random.standard_normal(2000)
            one, two = (0.6 * common + 0.8 * random.standard_normal(2000) + labels for _ in range(2))
            found = fm.roc_auc_interval(labels, one)
            inside += found.ci_low <= area <= found.ci_high
            same += fm.delong_test(labels, one, two).pvalue > 0.05
        assert 0.93 <= inside / COVERAGE_LOGS <= 0.97
        assert 0.93 <= same / COVERAGE_LOGS <= 0.97

    timing.measure(f"`roc_auc_interval` and `delong_test` of {COVERAGE_LOGS} logs of 2,000 rows", covered, rounds=1)
