"""Verdicts of compare: families, margins, identical columns, few units, and how many units would be needed."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fastmetrics as fm
from oracles.inference.holm import holm_levels
from support.cases import assert_raises, each_case

COLUMNS = {"label": "click", "score": ["a", "b"], "group": "user"}


def log_of(rows=6_000, users=400, noise=0.5, seed=0):
    generator = np.random.default_rng(seed)
    appeal = generator.normal(size=rows)

    def scores(size):
        return 1 / (1 + np.exp(-(appeal + size * generator.normal(size=rows))))

    return {
        "user": generator.integers(0, users, rows),
        "click": (generator.random(rows) < 1 / (1 + np.exp(-appeal))).astype(np.int8),
        "a": scores(0.3),
        "b": scores(noise),
        "country": generator.choice(["NL", "DE", "FR"], rows),
        "device": generator.choice(["phone", "web"], rows),
    }


def test_every_family_is_decided_by_itself():
    log = log_of()
    comparison = fm.compare(log, ["auc", "logloss", "gauc"], **COLUMNS, by=[["country"], ["country", "device"]])
    families = {(): 3, ("country",): 9, ("country", "device"): 18}
    for columns, size in families.items():
        family = [one for one in comparison if tuple(one.slice) == columns]
        assert len(family) == size
        levels = holm_levels([one.pvalue for one in family], 0.05)
        for one, (is_shown, share) in zip(family, levels, strict=True):
            assert (one.verdict != "cannot tell") is is_shown
            assert one.verdict_level == pytest.approx(1 - share, rel=1e-12)
            assert (one.verdict_interval[0] <= 0 <= one.verdict_interval[1]) is not is_shown
            assert one.log_pvalue == pytest.approx(math.log(one.pvalue))
    alone = fm.compare(log, ["auc", "logloss", "gauc"], **COLUMNS)
    assert [one.verdict_level for one in alone] == [one.verdict_level for one in comparison if not one.slice]


def test_a_clear_difference_is_clear_with_many_slices():
    log = log_of(noise=2.0)
    log["slice"] = np.arange(6_000) % 40
    comparison = fm.compare(log, ["auc", "ap", "logloss", "brier", "ne"], **COLUMNS, by="slice")
    assert {one.verdict for one in comparison if not one.slice} == {"worse"}
    assert comparison["auc"].pvalue < 1e-30
    assert str(comparison).startswith("b is worse: auc −0.")


@each_case(
    ("correction", "own"), [("holm", False), ("benjamini-hochberg", False), ("none", True), (None, True)]
)
def test_corrections(correction, own):
    log = log_of(2_000, noise=0.4)
    holm = fm.compare(log, ["auc", "logloss", "gauc"], **COLUMNS, by="country")
    comparison = fm.compare(log, ["auc", "logloss", "gauc"], **COLUMNS, by="country", correction=correction)
    for one, other in zip(comparison, holm, strict=True):
        assert one.pvalue == other.pvalue
        if own:
            assert one.adjusted_pvalue == one.pvalue
            assert (one.verdict != "cannot tell") is (one.pvalue < 0.05)
            assert one.verdict_level == 0.95
        else:
            assert (one.verdict, one.verdict_level) == (other.verdict, other.verdict_level)
    if correction == "benjamini-hochberg":
        of_slices = [one for one in comparison if one.slice]
        expected = fm.benjamini_hochberg([one.pvalue for one in of_slices])
        assert [one.adjusted_pvalue for one in of_slices] == pytest.approx(expected.tolist(), rel=1e-15)


def test_margins():
    log = log_of(20_000, users=2_000)
    one = fm.compare(log, "auc", **COLUMNS)["auc"]
    size, error = abs(one.difference), one.standard_error
    assert one.verdict == "worse"
    for margin, verdict in (
        (size - 4 * error, "worse"), (size + 4 * error, "equal within the margin"), (size, "worse within the margin"),
    ):  # fmt: skip
        found = fm.compare(log, "auc", **COLUMNS, margin={"roc_auc_score": margin})["auc"]
        assert (found.verdict, found.margin) == (verdict, margin)
        low, high = found.verdict_interval
        assert {
            "worse": high < -margin, "equal within the margin": -margin < low, "worse within the margin": high < 0,
        }[verdict]  # fmt: skip
    question = fm.compare(log, "auc", **COLUMNS, margin={"auc": 0.25}).evaluation
    assert question.margin == {"auc": 0.25}
    assert fm.Evaluation.from_toml(question.to_toml()) == question
    assert fm.compare(log, question)["auc"].verdict == "equal within the margin"
    assert_raises(ValueError, "margin has gauc, which is not compared; compared are auc", fm.compare, log, "auc",
                  **COLUMNS, margin={"gauc": 0.1})  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"ci_method": "delong", "unit": "row"}, {"replicates": 20}])
def test_identical_columns_are_equal(options):
    log = log_of(500)
    log["b"] = log["a"].copy()
    comparison = fm.compare(log, "auc", **COLUMNS, **options)
    assert (comparison["auc"].verdict, comparison["auc"].pvalue) == ("equal", 1)
    assert str(comparison).startswith("b has the same values as a in all rows: auc")
    log["b"][499] = 1 - log["b"][499]
    assert fm.compare(log, "auc", **COLUMNS, **options)["auc"].verdict == "cannot tell"
    log["b"] = np.sqrt(log["a"])  # in the same order
    one = fm.compare(log, "auc", **COLUMNS, **options)["auc"]
    assert (one.difference, one.pvalue, one.verdict) == (0, 1, "cannot tell")


def test_texts_may_be_identical():
    log = {"reference": ["a b c d e", "b c d e f"] * 5, "a": ["a b c d", "b c"] * 5}
    log["b"] = list(log["a"])
    assert fm.compare(log, "bleu", score=["a", "b"])["bleu"].verdict == "equal"
    log["b"][3] = "b c d"
    assert fm.compare(log, "bleu", score=["a", "b"])["bleu"].verdict == "cannot tell"


def test_four_users_that_agree_cannot_tell():
    log = {"user": [1, 2, 3, 4], "y": [0.0] * 4, "a": [1.0] * 4, "b": [0.5] * 4}
    one = fm.compare(log, "mae", label="y", score=["a", "b"], unit="user")["mae"]
    assert (one.pvalue, one.verdict, one.interval, one.verdict_interval) == (0.125, "cannot tell", None, None)
    log = {name: column * 3 for name, column in log.items()} | {"user": list(range(12))}
    one = fm.compare(log, "mae", label="y", score=["a", "b"], unit="user")["mae"]
    assert (one.pvalue, one.verdict) == (2.0**-11, "better")


def test_distances_from_the_best_value():
    generator = np.random.default_rng(4)
    rows = 40_000
    shown = generator.random(rows) / 2
    log = {"click": (generator.random(rows) < shown).astype(np.int8), "user": np.arange(rows) % 4_000}
    log |= {"low": shown * 0.8, "high": shown * 1.1, "near": shown * 1.02}
    comparison = fm.compare(log, "copc", label="click", score=["low", "high", "near"], group="user")
    of_high, of_near = (comparison.difference("copc", other=name) for name in ("high", "near"))
    assert of_high.change == abs(of_high.other_value - 1) - abs(of_high.baseline_value - 1)
    assert of_high.difference < 0
    assert (of_high.verdict, of_near.verdict) == ("better", "better")
    assert abs(of_high.change) < abs(of_near.change)


def test_metrics_that_are_resampled_have_small_pvalues_too():
    log = log_of(noise=2.0)
    one = fm.compare(log, "eer", **COLUMNS)["eer"]
    assert one.verdict == "worse"
    assert one.pvalue < 1e-10
    assert one.df == 399
    assert one.method.startswith("standard deviation of 1,000 paired replicates")
    counted = fm.compare(log, "eer", **COLUMNS, replicates=1_000)["eer"]
    assert counted.pvalue == 1 / 1001
    assert counted.verdict == "worse"
    few = fm.compare(log, "eer", **COLUMNS, replicates=15)["eer"]
    assert (few.verdict, few.reason) == ("cannot tell", "15 replicates show no difference at this level: ask for more")


def test_as_many_units_as_are_needed_show_the_difference():
    small, large = log_of(4_000, users=500, noise=0.35), log_of(40_000, users=5_000, noise=0.35)
    comparison = fm.compare(small, "logloss", **COLUMNS)
    one = comparison["logloss"]
    needed = fm.sample_size(comparison, "logloss", one.detectable)
    assert needed == pytest.approx(500, abs=3)
    ten_times = fm.sample_size(comparison, "logloss", one.detectable / math.sqrt(10))
    assert ten_times == pytest.approx(5_000, rel=0.01)
    assert fm.compare(large, "logloss", **COLUMNS)["logloss"].detectable == pytest.approx(
        one.detectable / math.sqrt(10), rel=0.2
    )
    more = fm.sample_size(comparison, "logloss", one.detectable, power=0.95)
    assert more > needed > fm.sample_size(comparison, "logloss", one.detectable, ci=0.8)


@each_case(
    ("arguments", "options", "error", "words"),
    [
        (("auc", 0), {}, ValueError, "difference must be a finite number that is not 0; found 0"),
        (("auc", math.inf), {}, ValueError, "difference must be a finite number"),
        (("auc", 0.1), {"power": 1}, ValueError, "power must be a number between 0 and 1; found 1"),
        (("auc", 0.1), {"ci": 95}, ValueError, "ci must be a number between 0 and 1; found 95"),
        (("gauc", 0.1), {}, KeyError, "no 'gauc' in this comparison"),
        (("auc", 0.1), {"slice": {"country": "NL"}}, KeyError, "no difference"),
    ],
)
def test_errors_of_sample_sizes(arguments, options, error, words):
    comparison = fm.compare(log_of(300), "auc", **COLUMNS)
    assert_raises(error, words, fm.sample_size, comparison, *arguments, **options)
    assert_raises(TypeError, "must be the result of compare; found dict", fm.sample_size, {}, "auc", 0.1)


def test_nothing_is_known_of_one_unit():
    log = log_of(300)
    log["user"][:] = 1
    comparison = fm.compare(log, "logloss", **COLUMNS)
    one = comparison["logloss"]
    assert (one.verdict, one.detectable) == ("cannot tell", None)
    assert "too few units: 1" in str(comparison)
    assert_raises(ValueError, "logloss has no standard error of its difference: too few units: 1", fm.sample_size,
                  comparison, "logloss", 0.1)  # fmt: skip
