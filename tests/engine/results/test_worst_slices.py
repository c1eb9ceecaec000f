"""Slices of few rows are left out and counted; the worst slices of a metric come first."""

import math

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics import Result
from fastmetrics.engine.results.report import Report
from support.cases import assert_raises, each_case
from support.states.spilled_logs import evaluate, log_of, slice_rows

ROWS = 1500
LOG = log_of(ROWS, users=40, seed=2)
LOG["rare"] = np.where(np.arange(ROWS) < 30, np.arange(ROWS) % 4, 9)
LOG["other"] = LOG["prob"] ** 2


def made(values, metric="auc", **fields):
    """A report of all rows and of slices with these values."""
    results = [Result(metric, "s", {}, 0.5, "", {}, **fields)]
    results += [Result(metric, "s", {"n": number}, value, "", {}, **fields) for number, value in enumerate(values)]
    return Report(results, rows=9, version="1")


class TestWorst:
    @each_case(
        "metric, values, expected",
        [
            ("auc", [0.7, 0.2, 0.9, 0.2], [1, 3, 0, 2]),
            ("logloss", [0.7, 0.2, 0.9, 0.2], [2, 0, 1, 3]),
            ("copc", [1.1, 0.5, 1.6, 1.0], [2, 1, 0, 3]),
            ("bias", [0.1, -0.5, 0.4, 0.0], [1, 2, 0, 3]),
            ("auc", [math.nan, 0.5, math.nan, 0.4], [3, 1, 0, 2]),
        ],
    )
    def test_order(self, metric, values, expected):
        report = made(values, metric)
        assert [own.slice["n"] for own in report.worst(metric)] == expected
        assert [own.slice["n"] for own in report.worst(metric, n=2)] == expected[:2]
        assert [own.slice.get("n") for own in report.sorted_by(metric)] == [None, *expected]

    def test_other_metrics_and_scores_follow(self):
        report = evaluate(LOG, ["auc", "ctr", "logloss"], score=["prob", "other"], by="hour")
        in_order = [own.slice for own in report.worst("auc", score="other")]
        assert sorted(map(repr, in_order)) == sorted(map(repr, report.slices()[1:]))
        values = [own.value for own in report.worst("logloss", score="prob")]
        assert values == sorted(values, reverse=True)
        assert set(report.sorted_by("logloss")) == set(report)
        assert [own.slice for own in report.sorted_by("logloss")][:6] == [{}] * 6

    def test_errors(self):
        report = evaluate(LOG, ["auc", "ctr"], by="hour")
        assert_raises(KeyError, "no 'gauc'", report.worst, "gauc")
        assert_raises(ValueError, "no value of 'ctr' is better", report.worst, "ctr")
        for n in (0, -1, 1.5, True):
            assert_raises(ValueError, "n must be an integer of at least 1", report.worst, "auc", n)
        assert evaluate(LOG, ["auc"]).worst("auc") == []

    def test_comparisons(self):
        options = {"label": "label", "score": ["prob", "other"], "unit": "group", "replicates": 5}
        comparison = fm.compare(LOG, ["logloss", "auc"], by="hour", **options)
        worst = comparison.worst("logloss", n=3)
        assert [own.difference for own in worst] == sorted(
            (own.difference for own in comparison if own.slice and own.metric == "logloss"), reverse=True
        )[:3]
        assert comparison.sorted_by("logloss").differences[2:4:2] == (worst[0],)


class TestLeastRows:
    def test_small_slices_are_counted(self):
        whole = evaluate(LOG, ["auc", "gauc"], by="rare")
        report = evaluate(LOG, ["auc", "gauc"], by="rare", min_rows=8)
        assert list(report) == [own for own in whole if own.rows >= 8]
        assert report.small_slices == {"min_rows": 8, "slices": 2, "rows": 14}
        assert "2 slices of fewer than 8 rows left out, with 14 rows" in str(report)
        assert report.to_dict()["small_slices"] == dict(report.small_slices)
        assert evaluate(LOG, ["auc"], by="rare", min_rows=0) == evaluate(LOG, ["auc"], by="rare")

    def test_all_rows_stay(self):
        report = evaluate(LOG, ["auc"], by="rare", min_rows=10**9)
        assert list(report) == list(evaluate(LOG, ["auc"]))
        assert report.small_slices == {"min_rows": 10**9, "slices": 5, "rows": ROWS}

    def test_of_grouping_sets(self):
        report = evaluate(LOG, ["auc"], by=[["rare"], ["hour"]], min_rows=8)
        assert report.small_slices == {"min_rows": 8, "slices": 2, "rows": 14}

    def test_comparisons_correct_the_differences_that_are_left(self):
        options = {"label": "label", "score": ["prob", "other"], "unit": "group", "replicates": 5, "by": "rare"}
        comparison = fm.compare(LOG, ["auc"], min_rows=8, **options)
        assert len(comparison) == 4
        assert comparison.small_slices == {"min_rows": 8, "slices": 2, "rows": 14}
        assert "2 slices of fewer than 8 rows left out" in str(comparison)
        assert comparison["auc"].adjusted_pvalue <= fm.compare(LOG, ["auc"], **options)["auc"].adjusted_pvalue

    @pytest.mark.parametrize("metrics", [["logloss"], ["auc"], ["rmse"]])
    def test_accumulators(self, metrics):
        new = fm.Accumulator(metrics, label="label", score="prob", by="rare", min_rows=8)
        new.update(slice_rows(LOG, np.arange(ROWS) >= 700))
        early = fm.Accumulator(metrics, label="label", score="prob", by="rare", min_rows=8)
        early.update(slice_rows(LOG, np.arange(ROWS) < 700))
        state = fm.Accumulator.from_bytes(new.merge(early).to_bytes())
        expected = evaluate(LOG, metrics, by="rare", min_rows=8, group=None)
        assert state.result() == expected == new.result()
        other = fm.Accumulator(metrics, label="label", score="prob", by="rare")
        assert_raises(ValueError, "questions do not merge: min_rows is 0 here, 8 there", other.merge, new)

    @each_case("min_rows", [-1, 1.5, True, "3"])
    def test_bad_numbers(self, min_rows):
        text = "min_rows must be an integer of at least 0"
        assert_raises(ValueError, text, evaluate, LOG, by="rare", min_rows=min_rows)
