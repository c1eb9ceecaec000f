"""compare_reports: values of two logs with independent units."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import fastmetrics as fm
from support.cases import assert_raises, each_case

stats = pytest.importorskip("scipy.stats")

QUESTION = fm.Evaluation(["auc", "logloss", "copc"], label="click", score="p", group="user", by="country", ci=0.95)


def log_of(rows=4_000, users=300, shift=0.0, noise=0.3, seed=0):
    generator = np.random.default_rng(seed)
    appeal = generator.normal(size=rows) - 1
    return {
        "user": generator.integers(0, users, rows),
        "click": (generator.random(rows) < 1 / (1 + np.exp(-appeal))).astype(np.int8),
        "p": 1 / (1 + np.exp(-(appeal + shift + noise * generator.normal(size=rows)))),
        "country": generator.choice(["NL", "DE"], rows),
    }


def test_means_are_compared_as_by_welch():
    generator = np.random.default_rng(2)
    first, second = generator.normal(5, 1, 80), generator.normal(5.4, 2, 50)
    reports = [
        fm.evaluate({"y": np.zeros(own.shape[0]), "p": own, "u": np.arange(own.shape[0])}, "mae", label="y", score="p",
                    unit="u", ci=0.95)
        for own in (first, second)
    ]  # fmt: skip
    one = fm.compare_reports(*reports)["mae"]
    welch = stats.ttest_ind(second, first, equal_var=False)
    assert one.difference == pytest.approx(second.mean() - first.mean())
    assert one.standard_error == pytest.approx(math.sqrt(first.var(ddof=1) / 80 + second.var(ddof=1) / 50))
    assert one.pvalue == pytest.approx(welch.pvalue, rel=0.05)
    assert one.n_units == 130
    assert one.interval == pytest.approx(tuple(welch.confidence_interval(0.95))[::1], rel=0.05)


def test_what_broke_is_said_of_every_slice():
    reports = [QUESTION.run(log_of(seed=1)), QUESTION.run(log_of(seed=2, noise=3.0))]
    comparison = fm.compare_reports(*reports, names=("monday", "tuesday"))
    assert len(comparison) == 9
    assert str(comparison).startswith("tuesday is worse: auc −0.")
    for one in comparison:
        before, after = (report.result(one.metric, slice=one.slice) for report in reports)
        assert (one.baseline_value, one.other_value) == (before.value, after.value)
        squares = before.standard_error**2 + after.standard_error**2
        assert one.standard_error == pytest.approx(math.sqrt(squares), rel=1e-12)
    again = fm.compare_reports(*pickle.loads(pickle.dumps(reports)), names=("monday", "tuesday"))
    assert again == comparison


def test_a_log_like_the_other_is_not_worse():
    found = [
        one.verdict
        for seed in range(40)
        for one in fm.compare_reports(
            QUESTION.replace(by=None).run(log_of(800, 60, seed=seed)),
            QUESTION.replace(by=None).run(log_of(800, 60, seed=1_000 + seed)),
        )
    ]
    assert found.count("cannot tell") >= 116  # of 120; 5 % of 40 families are 2


def test_margins_and_corrections():
    reports = [QUESTION.run(log_of(seed=1)), QUESTION.run(log_of(seed=2))]
    assert fm.compare_reports(*reports, margin={"auc": 0.2})["auc"].verdict == "equal within the margin"
    loose = fm.compare_reports(*reports, correction=None)
    assert all(one.adjusted_pvalue == one.pvalue for one in loose)
    assert {one.verdict_level for one in loose} == {0.95}


def test_resampled_values_are_compared_too():
    question = fm.Evaluation("eer", label="click", score="p", group="user", ci=0.95)
    one = fm.compare_reports(question.run(log_of(seed=1)), question.run(log_of(seed=2, noise=3.0)))["eer"]
    assert one.verdict == "worse"
    plain = question.replace(ci=None)
    one = fm.compare_reports(plain.run(log_of(seed=1)), plain.run(log_of(seed=2)))["eer"]
    assert (one.verdict, one.interval) == ("cannot tell", None)
    assert "evaluate with ci=0.95" in one.reason


def test_results_of_one_report_are_left_out():
    two = fm.Evaluation(["auc", "logloss"], label="click", score="p", group="user", ci=0.95)
    comparison = fm.compare_reports(two.run(log_of(seed=1)), two.replace(metrics="auc").run(log_of(seed=2)))
    assert [one.metric for one in comparison] == ["auc"]
    assert comparison.notes == ("results that only one of the reports has are left out: 1",)


@each_case(
    ("options", "error", "words"),
    [
        ({"after": {}}, TypeError, "after must be a Report, the result of evaluate; found dict"),
        ({"ci": 95}, ValueError, "ci must be a number between 0 and 1"),
        ({"margin": {"auc": -1}}, ValueError, "the margin of auc must be a finite number above 0"),
        ({"correction": "tukey"}, ValueError, "correction must be one of"),
        ({"names": ("a", "a")}, ValueError, "names must be two different ones"),
        ({"after": QUESTION.replace(metrics="brier").run(log_of(100))}, ValueError, "no result in common"),
    ],
)
def test_errors(options, error, words):
    report = QUESTION.run(log_of(200))
    options = {"before": report, "after": report} | options
    assert_raises(error, words, fm.compare_reports, options.pop("before"), options.pop("after"), **options)
