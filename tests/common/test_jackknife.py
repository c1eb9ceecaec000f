"""Every metric has the error of leaving each unit out in turn, or replicates, or a reason for neither."""

import math

import pytest

import fastmetrics as fm
from fastmetrics.engine.scan.linearized import NO_LINEARIZED, has_linearized, why_not_linearized
from fastmetrics.testing.sample_logs import sample_log, select
from support.registry_cases import ALL_CASES

UNITS = 12
EXACT = 1e-9  # functions of sums and means over groups, but for rounding
# The influence of the order of scores. Without a unit the greatest distance is elsewhere, and so is the end of the top.
FIRST_ORDER = {"ks": 0.1, "best_threshold": 0.2, "lift": 0.1, "ap": 0.06}  # of five classes, each has few positives
CASES, LINEARIZED = {}, {}  # by columns: metrics that one call computes together
for case in ALL_CASES:
    columns = " ".join(map(str, case.keywords.values()))
    CASES.setdefault(columns, {})[case.metric] = case
    if has_linearized(case.parsed):
        LINEARIZED.setdefault(columns, {})[case.metric] = case


def make_log(rows):
    log = sample_log(rows)
    return {**log, "unit": log["group"] % UNITS}


def tolerance_of(case):
    return FIRST_ORDER.get(case.spec.name, 0.03) if case.spec.exchange == "range" else EXACT


@pytest.mark.filterwarnings("ignore::fastmetrics.UndefinedMetricWarning")
@pytest.mark.parametrize("cases", LINEARIZED.values(), ids=list(LINEARIZED))
def test_linearized_errors_are_the_jackknife(cases):
    log, metrics, keywords = make_log(1000), list(cases), next(iter(cases.values())).keywords
    report = fm.evaluate(log, metrics, unit="unit", ci=0.95, **keywords)
    without = [fm.evaluate(select(log, log["unit"] != unit), metrics, **keywords) for unit in range(UNITS)]
    wrong = {}
    for metric, case in cases.items():
        n = report.result(metric).coverage["units"]
        squares = [(report[metric] - one[metric]) ** 2 for one in without]
        expected, found = math.sqrt((n - 1) / n * math.fsum(squares)), report.result(metric).standard_error
        if found is None or not math.isclose(found, expected, rel_tol=tolerance_of(case), abs_tol=1e-15):
            wrong[metric] = (found, expected)
    assert not wrong


@pytest.mark.parametrize("cases", CASES.values(), ids=list(CASES))
def test_every_metric_has_an_interval_or_a_reason(cases):
    cases = {case.metric: case for case in {case.spec.name: case for case in cases.values()}.values()}  # one variant
    keywords = next(iter(cases.values())).keywords
    report = fm.evaluate(make_log(300), list(cases), unit="unit", ci=0.95, **keywords)
    for metric, case in cases.items():
        one = report.result(metric)
        if case.parsed.no_interval is not None:
            assert (one.interval, one.coverage["interval"]) == (None, case.parsed.no_interval)
            continue
        method = "linearized" if has_linearized(case.parsed) else "bootstrap"
        assert f"|method:{method}|" in one.signature, metric
        assert one.interval is not None or one.coverage["interval"], metric
        if method == "bootstrap" and one.interval is not None:
            reason = why_not_linearized(case.parsed).partition("because ")[2].partition(": ask")[0]
            assert one.coverage["interval"] == f"by the bootstrap, because {reason}", metric


def test_metrics_that_are_resampled_say_why():
    """Every other metric has linearized intervals, or none at all with the reason."""
    resampled = {
        case.spec.base_name: case.parsed
        for case in ALL_CASES
        if not has_linearized(case.parsed) and case.parsed.no_interval is None and case.parsed.group_stat is None
    }
    assert set(resampled) == {
        "d2_absolute_error", "d2_pinball", "d2_tweedie", "eer", "median_ae",
    }  # fmt: skip
    of_groups = {case.metric: case.parsed for case in ALL_CASES if case.parsed.group_stat is not None}
    for name, metric in (resampled | of_groups).items():
        reason = metric.no_interval or why_not_linearized(metric)
        assert reason != NO_LINEARIZED, name
