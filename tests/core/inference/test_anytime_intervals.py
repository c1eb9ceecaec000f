"""ci_method="anytime": linearized intervals of a growing log that hold together, however often it is looked at."""

from __future__ import annotations

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core.inference.anytime import TIGHTEST_AT, anytime_log_pvalue, boundary, find_anytime_interval
from fastmetrics._core.inference.errors import ErrorEstimate
from support.cases import assert_raises

COLUMNS = {"label": "click", "group": "user"}
METRICS = ["auc", "logloss", "gauc"]


def log_of(rows, users, seed=0):
    generator = np.random.default_rng(seed)
    appeal = generator.normal(size=rows)
    return {
        "user": generator.integers(0, users, rows),
        "click": (generator.random(rows) < 1 / (1 + np.exp(-appeal))).astype(np.int8),
        "a": 1 / (1 + np.exp(-(appeal + 0.3 * generator.normal(size=rows)))),
        "b": 1 / (1 + np.exp(-(appeal + 0.4 * generator.normal(size=rows)))),
        "country": generator.choice(["NL", "DE"], rows),
    }


def test_intervals_are_those_of_the_confidence_sequence():
    log = log_of(4_000, 500)
    plain = fm.evaluate(log, METRICS, score="a", by="country", ci=0.9, **COLUMNS)
    anytime = fm.evaluate(log, METRICS, score="a", by="country", ci=0.9, ci_method="anytime", **COLUMNS)
    for one, other in zip(plain, anytime, strict=True):
        assert one.standard_error == other.standard_error
        assert other.interval[0] < one.interval[0] < one.interval[1] < other.interval[1]
        assert other.coverage["units"] == one.coverage["units"]
        assert "|method:anytime|unit:user" in other.signature
    one = anytime.result("logloss", slice={})
    reach = boundary(one.coverage["units"], 0.1, TIGHTEST_AT) * one.standard_error
    assert np.log(one.interval[1] / one.value) == pytest.approx(reach / one.value, rel=0.02)  # normal, nearly


def test_comparisons_hold_at_every_look():
    log = log_of(4_000, 500)
    plain = fm.compare(log, METRICS, score=["a", "b"], **COLUMNS)
    anytime = fm.compare(log, METRICS, score=["a", "b"], ci_method="anytime", **COLUMNS)
    for one, other in zip(plain, anytime, strict=True):
        assert other.pvalue > one.pvalue
        assert other.log_pvalue == pytest.approx(anytime_log_pvalue(one.pvalue, other.n_units, TIGHTEST_AT))
        assert other.detectable > one.detectable
        assert (other.verdict == "cannot tell") is (other.verdict_interval[0] <= 0 <= other.verdict_interval[1])
    assert anytime["logloss"].method == "linearized at any time, by user, two-sided"


@pytest.mark.parametrize("users", [20_000, 60_000])
def test_many_users_share_entries_and_are_counted(users):
    rows = 4 * users
    log = log_of(rows, users)
    log["user"] = np.arange(rows) % users
    one = fm.evaluate(log, "logloss", score="a", ci=0.95, ci_method="anytime", **COLUMNS).result("logloss")
    assert one.coverage["units"] == pytest.approx(users, rel=0.06)
    error = ErrorEstimate(one.standard_error, 1e9, users, users)
    expected = find_anytime_interval(one.value, error, "ratio", 0.95).ends
    assert one.interval == pytest.approx(expected, rel=2e-4)


def test_what_has_no_anytime_interval():
    log = log_of(400, 50)
    report = fm.evaluate(log, ["eer", "auc", "ks", "ece"], score="a", ci=0.95, ci_method="anytime", **COLUMNS)
    assert report.result("eer").interval is None
    assert report.result("eer").coverage["interval"].startswith("the metric has no linearized interval")
    for biased in ("ks", "ece"):
        assert report.result(biased).interval is None
        assert report.result(biased).coverage["interval"].startswith("the value is too high on average")
    assert report.result("auc").interval is not None
    assert_raises(ValueError, "ci_method='anytime' resamples nothing: leave out seed=3", fm.evaluate, log, "auc",
                  score="a", ci=0.95, ci_method="anytime", seed=3, **COLUMNS)  # fmt: skip


def test_states_of_parts_have_the_same_intervals():
    log = log_of(3_000, 300)
    whole = fm.evaluate(log, METRICS, score="a", ci=0.95, ci_method="anytime", **COLUMNS)
    accumulator = fm.Accumulator(METRICS, score="a", ci=0.95, ci_method="anytime", **COLUMNS)
    for start in range(0, 3_000, 700):
        accumulator.update({name: column[start : start + 700] for name, column in log.items()})
    assert accumulator.result().results == whole.results
