"""best_threshold against all thresholds, and the lift curve."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics.metrics.curves.best_threshold import METRICS
from oracles import curves
from support import strategies
from support.cases import assert_raises, each_case, without_warnings
from support.curve_cases import (
    KINDS_AND_SHARES,
    LARGE_ROWS,
    SIZES,
    as_floats,
    as_fractions,
    assert_same,
    counts_by_score,
    make_case,
    make_labels,
    other_forms,
    weighted_scores,
)
from support.peers import scikit_learn

BETAS = [0.3, 0.5, 1, 2, 10]


class TestBestThreshold:
    def test_every_metric_has_an_oracle(self):
        assert set(METRICS) == set(curves.METRICS)

    @given(strategies.labeled_scores(), st.sampled_from(METRICS), st.sampled_from(BETAS))
    def test_all_thresholds(self, case, metric, beta):
        """The greatest of equally good thresholds, even if their values differ in floats."""
        beta = beta if metric == "fbeta" else None
        options = {"metric": metric} if beta is None else {"metric": metric, "beta": beta}
        y_true, y_score = case
        expected = curves.best_threshold(y_true.tolist(), y_score.tolist(), metric, None, beta)
        found = fm.best_threshold(y_true, y_score, **options)
        assert type(found) is fm.BestThreshold
        assert type(found.threshold) is type(float(found)) is float
        assert found.threshold == expected[0]
        assert math.isclose(found, expected[1], rel_tol=1e-14, abs_tol=1e-14)
        for other in other_forms(fm.best_threshold, y_true, y_score, **options).values():
            assert other == found

    @given(weighted_scores(), st.sampled_from(METRICS), st.sampled_from(BETAS))
    def test_weights(self, case, metric, beta):
        beta = beta if metric == "fbeta" else None
        options = {"metric": metric} if beta is None else {"metric": metric, "beta": beta}
        y_true, y_score, weights = case
        expected = curves.best_threshold(y_true.tolist(), y_score.tolist(), metric, as_fractions(weights), beta)
        found = fm.best_threshold(y_true, y_score, sample_weight=weights, **options)
        assert math.isclose(found, expected[1], rel_tol=1e-13, abs_tol=1e-14)
        if weights is None or (weights == np.round(weights)).all():
            assert found.threshold == expected[0]

    @pytest.mark.parametrize("metric", [metric for metric in METRICS if metric not in ("youden", "gmean", "fbeta")])
    def test_the_value_equals_scikit_learn(self, metric):
        y_true, y_score = make_case("tied", 500, 0.3)
        found = fm.best_threshold(y_true, y_score, metric=metric)
        name = {"f1": "f1_score", "mcc": "matthews_corrcoef", "jaccard": "jaccard_score"}.get(metric, f"{metric}_score")
        function = getattr(scikit_learn(), name)
        values = {threshold: function(y_true, y_score >= threshold) for threshold in np.unique(y_score).tolist()}
        assert math.isclose(found, values[found.threshold], rel_tol=1e-12)
        assert math.isclose(found, max(values.values()), rel_tol=1e-12)

    @each_case(("kind", "share"), KINDS_AND_SHARES)
    def test_many_rows(self, kind, share):
        y_true, y_score = make_case(kind, LARGE_ROWS, share)
        thresholds, fps, tps = (
            np.append(first, own) for first, own in zip((np.inf, 0, 0), counts_by_score(y_true, y_score), strict=True)
        )
        negatives, positives = int(fps[-1]), int(tps[-1])
        whole_numbers = {
            "accuracy": tps + negatives - fps,
            "youden": tps * negatives - fps * positives,
            "balanced_accuracy": tps * negatives - fps * positives,
            "gmean": tps * (negatives - fps),
        }
        for metric, values in whole_numbers.items():
            best = int(np.argmax(values))
            found = fm.best_threshold(y_true, y_score, metric=metric)
            assert found.threshold == thresholds[best], metric
            assert fm.best_threshold(y_true, y_score, metric=metric, n_threads=1) == found
        best = np.argmax(2 * tps / (positives + tps + fps))
        assert fm.best_threshold(y_true, y_score, metric="f1").threshold == thresholds[best]
        assert fm.best_threshold(y_true, y_score, metric="jaccard").threshold == thresholds[best]

    def test_ties_by_the_million(self):
        """Positives and negatives alternate: every other threshold is as good as the first."""
        rows = 200_000
        y_true, y_score = np.arange(rows) % 2, np.arange(rows, dtype=float)
        for metric in ("youden", "balanced_accuracy", "accuracy", "mcc"):
            assert fm.best_threshold(y_true, y_score, metric=metric).threshold == rows - 1, metric

    @pytest.mark.parametrize("metric", ["youden", "balanced_accuracy", "gmean", "mcc", "fbeta"])
    def test_ties_that_floats_would_break(self, metric):
        """A few equally good thresholds, with values that are rounded differently."""
        generator = np.random.default_rng(0)
        for _ in range(300):
            rows = int(generator.integers(4, 60))
            y_true, y_score = generator.integers(0, 2, rows), np.arange(rows, dtype=float)
            y_true[:2] = 0, 1
            beta = 0.7 if metric == "fbeta" else None
            expected = curves.best_threshold(y_true.tolist(), y_score.tolist(), metric, None, beta)
            options = {"beta": beta} if beta else {}
            assert fm.best_threshold(y_true, y_score, metric=metric, **options).threshold == expected[0]

    @pytest.mark.parametrize("metric", METRICS)
    @each_case("exponent", [-1000, -60, 100, 990])
    def test_a_power_of_two_in_all_weights_changes_nothing(self, metric, exponent):
        y_true, y_score = make_case("tied", 300, 0.3)
        weights = np.random.default_rng(0).integers(1, 5, 300).astype(float)
        expected = fm.best_threshold(y_true, y_score, metric=metric, sample_weight=weights)
        found = fm.best_threshold(y_true, y_score, metric=metric, sample_weight=np.ldexp(weights, exponent))
        assert found == expected

    @pytest.mark.parametrize("metric", METRICS)
    @each_case("rows", [2, 100, 5000, 70_000])
    def test_perfect_and_worst_scores(self, rows, metric):
        y_true = make_labels(rows, 0.5)
        best = fm.best_threshold(y_true, np.where(y_true, rows + np.arange(rows), np.arange(rows)), metric=metric)
        assert (best.threshold, float(best)) == (rows + np.flatnonzero(y_true)[0], 1.0)
        worst = fm.best_threshold(y_true, -y_true, metric=metric)
        if metric in ("f1", "fbeta", "jaccard"):
            assert worst.threshold == -1.0
        elif metric != "accuracy":
            assert (worst.threshold, float(worst)) == (math.inf, {"balanced_accuracy": 0.5}.get(metric, 0.0))

    @pytest.mark.parametrize("metric", METRICS)
    @each_case("label", [0, 1])
    def test_one_class(self, label, metric):
        labels, scores = [label] * 3, [0.1, 0.2, 0.3]
        if metric == "accuracy":
            found = fm.best_threshold(labels, scores, metric=metric)
            assert (found.threshold, float(found)) == ((math.inf, 0.1)[label], 1.0)
            return
        with pytest.warns(fm.UndefinedMetricWarning, match="best_threshold"):
            found = fm.best_threshold(labels, scores, metric=metric)
        assert math.isnan(found.threshold)
        assert math.isnan(found)

    def test_infinite_scores(self):
        found = fm.best_threshold([1, 0, 1, 0], [math.inf, 1.0, -math.inf, -math.inf])
        assert found == 2 / 3
        assert abs(found.threshold) == math.inf

    @each_case(
        "options", [{"metric": "f2"}, {"metric": None}, {"beta": 0}, {"beta": -1.0}, {"beta": "1"}, {"beta": math.inf}]
    )
    def test_errors(self, options):
        (name,) = options
        assert_raises(ValueError, name, fm.best_threshold, [0, 1], [0.1, 0.2], **{"metric": "fbeta", **options})


class TestLift:
    @given(weighted_scores())
    def test_definition(self, case):
        y_true, y_score, weights = case
        curve = curves.lift_curve(y_true.tolist(), y_score.tolist(), as_fractions(weights))
        share, lift, thresholds = fm.lift_curve(y_true, y_score, sample_weight=weights)
        assert_same(thresholds, np.array([own[2] for own in curve]))
        np.testing.assert_allclose(share, as_floats([own[0] for own in curve]), rtol=1e-15)
        np.testing.assert_allclose(lift, as_floats([own[1] for own in curve]), rtol=1e-15, atol=0)
        assert share[-1] == lift[-1] == 1.0
        if weights is None:
            assert_same(share, as_floats([own[0] for own in curve]))
            for other in other_forms(fm.lift_curve, y_true, y_score).values():
                assert_same(other, (share, lift, thresholds))

    @each_case("rows", SIZES)
    def test_many_rows(self, rows):
        y_true, y_score = make_case("tied", rows, 0.3)
        thresholds, fps, tps = counts_by_score(y_true, y_score)
        chosen = fps + tps
        expected = chosen / rows, (tps / chosen) / (tps[-1] / rows), thresholds
        for n_threads in (1, 2):
            assert_same(fm.lift_curve(y_true, y_score, n_threads=n_threads), expected)

    def test_share_times_lift_is_recall(self):
        y_true, y_score = make_case("shuffled", 3000, 0.2)
        share, lift, _ = fm.lift_curve(y_true, y_score)
        np.testing.assert_allclose(share * lift, fm.roc_curve(y_true, y_score, drop_intermediate=False)[1][1:])

    def test_without_a_class(self):
        with pytest.warns(fm.UndefinedMetricWarning, match="lift_curve"):
            share, lift, _ = fm.lift_curve([0, 0], [0.1, 0.2])
        assert np.isnan(lift).all()
        assert share.tolist() == [0.5, 1.0]
        assert without_warnings(fm.lift_curve, [1, 1], [0.1, 0.2])[1].tolist() == [1.0, 1.0]
