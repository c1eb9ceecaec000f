"""DET curve, FAR-FRR curve, the equal error rate by its four methods, and KS in other forms of input."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles import curves
from support import strategies
from support.cases import assert_raises, each_case, without_warnings
from support.curve_cases import (
    KINDS_AND_SHARES,
    LARGE_ROWS,
    SIZES,
    as_floats,
    as_fractions,
    assert_rates,
    assert_same,
    counts_by_score,
    make_case,
    make_labels,
    ordering_infinities,
    other_forms,
    weighted_scores,
)
from support.peers import scikit_learn

det_curve = ordering_infinities(fm.det_curve)

METHODS = ["interpolate", "mean", "max", "convex_hull"]
EXAMPLE = [1, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.4, 0.3]


class TestDetCurve:
    @staticmethod
    def oracle(y_true, y_score, weights=None, drop_intermediate=False):
        curve = curves.det_curve(y_true.tolist(), y_score.tolist(), as_fractions(weights), drop_intermediate)
        fpr, fnr, thresholds = zip(*curve, strict=True)
        return as_floats(fpr), as_floats(fnr), np.array(thresholds)

    @given(strategies.labeled_scores(), st.booleans())
    def test_every_rate_is_the_exact_one_rounded_once(self, case, drop_intermediate):
        expected = self.oracle(*case, None, drop_intermediate)
        assert_same(det_curve(*case, drop_intermediate=drop_intermediate), expected)
        for other in other_forms(det_curve, *case, drop_intermediate=drop_intermediate).values():
            assert_same(other, expected)

    @given(weighted_scores(), st.booleans())
    def test_weights(self, case, drop_intermediate):
        y_true, y_score, weights = case
        found = det_curve(y_true, y_score, sample_weight=weights, drop_intermediate=drop_intermediate)
        expected = self.oracle(y_true, y_score, weights, drop_intermediate)
        assert_rates(found, expected, weights, atol=1e-15)

    @each_case(("kind", "share"), KINDS_AND_SHARES)
    def test_many_rows(self, kind, share):
        y_true, y_score = make_case(kind, LARGE_ROWS, share, "float32" if kind == "tied" else "float64")
        thresholds, fps, tps = (np.append(first, own) for first, own in zip(
            (np.inf, 0, 0), counts_by_score(y_true, y_score), strict=True))  # fmt: skip
        lowest, highest = np.flatnonzero(fps == 0)[-1], np.flatnonzero(tps == tps[-1])[0]
        within = slice(lowest, highest + 1)
        for n_threads in (1, 2):
            found = det_curve(y_true, y_score, n_threads=n_threads)
            assert_same(found[0], (fps[within] / fps[-1])[::-1])
            assert_same(found[1], ((tps[-1] - tps[within]) / tps[-1])[::-1])
            assert_same(found[2], thresholds[within][::-1])

    @each_case("rows", [2, 100, 5000, 70_000])
    def test_separated_classes(self, rows):
        """One point without errors, at a finite threshold."""
        y_true = make_labels(rows, 0.5)
        for scores in (y_true.astype(float), np.where(y_true, 3.0, np.arange(rows) / rows)):
            expected = scikit_learn().det_curve(y_true, scores)
            assert_same(det_curve(y_true, scores), expected)
            assert_same(det_curve.__wrapped__(y_true, scores), expected)
            assert_same(det_curve(y_true, -scores), scikit_learn().det_curve(y_true, -scores))

    def test_one_class_is_an_error(self):
        for labels in ([0, 0], [1, 1], ["a", "a"]):
            assert_raises(ValueError, "one class only", fm.det_curve, labels, [0.1, 0.2], pos_label=labels[0])
        assert_raises(ValueError, "one class only", fm.det_curve, [0, 1], [0.1, 0.2], sample_weight=[0.0, 1.0])


class TestFarFrrCurve:
    @given(weighted_scores())
    def test_definition(self, case):
        y_true, y_score, weights = case
        curve = curves.roc_curve(y_true.tolist(), y_score.tolist(), as_fractions(weights), drop_intermediate=False)
        far, tpr, thresholds = zip(*curve, strict=True)
        expected = as_floats(far), as_floats([1 - rate for rate in tpr]), np.array(thresholds)
        assert_rates(fm.far_frr_curve(y_true, y_score, sample_weight=weights), expected, weights, atol=1e-15)

    @each_case("rows", SIZES)
    def test_many_rows(self, rows):
        y_true, y_score = make_case("tied", rows, 0.3)
        thresholds, fps, tps = counts_by_score(y_true, y_score)
        expected = (
            np.append(0.0, fps / fps[-1]), np.append(1.0, (tps[-1] - tps) / tps[-1]), np.append(np.inf, thresholds)
        )  # fmt: skip
        for other in other_forms(fm.far_frr_curve, y_true, y_score).values():
            assert_same(other, expected)

    @pytest.mark.parametrize("label", [0, 1])
    def test_one_class(self, label):
        with pytest.warns(fm.UndefinedMetricWarning, match="far_frr_curve"):
            far, frr, thresholds = fm.far_frr_curve([label] * 3, [0.1, 0.2, 0.3])
        assert np.isnan(frr if label == 0 else far).all()
        assert_same(
            far if label == 0 else frr, np.array([0, 1, 2, 3]) / 3 if label == 0 else np.array([3, 2, 1, 0]) / 3
        )
        assert_same(thresholds, np.array([np.inf, 0.3, 0.2, 0.1]))


class TestEqualErrorRate:
    @each_case(
        ("method", "value", "threshold"),
        [
            # Between (FPR 0, FNR 1/3) at .8 and (1/2, 1/3) at .7, two thirds of the way.
            ("interpolate", 1 / 3, 0.8 + 2 / 3 * (0.7 - 0.8)),
            # The rates differ least at (1/2, 1/3).
            ("mean", 5 / 12, 0.7),
            ("max", 0.5, 0.7),
            # The line from (0, 2/3 true positives) to (1/2, 1): 2/3 + 2/3 x = 1 - x.
            ("convex_hull", 0.2, 0.8 + 0.4 * (0.4 - 0.8)),
        ],
    )
    def test_the_example_of_the_definitions(self, method, value, threshold):
        for y_true, y_score in (EXAMPLE, map(np.array, EXAMPLE)):
            found = fm.equal_error_rate(y_true, y_score, method=method)
            assert type(found) is fm.EqualErrorRate
            assert found == value
            assert math.isclose(found.threshold, threshold, rel_tol=1e-15)

    @given(weighted_scores(max_size=14), st.sampled_from(METHODS))
    def test_definition(self, case, method):
        y_true, y_score, weights = case
        self.check(y_true, y_score, weights, method)

    @given(strategies.labeled_scores(max_size=60), st.sampled_from(METHODS[:3]))
    def test_definition_at_more_rows(self, case, method):
        self.check(*case, None, method)

    def check(self, y_true, y_score, weights, method):
        expected = curves.equal_error_rate(y_true.tolist(), y_score.tolist(), method, as_fractions(weights))
        found = fm.equal_error_rate(y_true, y_score, method=method, sample_weight=weights)
        assert found == float(expected.value)
        assert type(found.threshold) is type(float(found)) is float
        scale = float(np.abs(y_score[np.isfinite(y_score)]).max(initial=0.0))
        assert math.isclose(found.threshold, expected.threshold, rel_tol=1e-12, abs_tol=4e-16 * scale)
        if weights is None:
            for other in other_forms(fm.equal_error_rate, y_true, y_score, method=method).values():
                assert other == found

    @given(strategies.labeled_scores(max_size=40))
    def test_relations_between_the_methods(self, case):
        rates = {method: fm.equal_error_rate(*case, method=method) for method in METHODS}
        assert rates["convex_hull"] <= rates["interpolate"] + 1e-15
        assert rates["mean"] <= rates["max"]
        assert min(rates.values()) >= 0
        assert max(rates["interpolate"], rates["mean"], rates["max"]) <= 1

    @each_case(("kind", "share"), KINDS_AND_SHARES)
    def test_many_rows(self, kind, share):
        y_true, y_score = make_case(kind, LARGE_ROWS, share, "float32" if kind == "tied" else "float64")
        self.check_many(y_true, y_score)

    @each_case("rows", SIZES)
    def test_sizes_at_which_the_code_path_changes(self, rows):
        for kind in ("shuffled", "two scores"):
            self.check_many(*make_case(kind, rows, 0.3))

    def check_many(self, y_true, y_score):
        """Expected values come from integer counts of a plain sort."""
        thresholds, fps, tps = (
            np.append(first, own).tolist()
            for first, own in zip((np.inf, 0, 0), counts_by_score(y_true, y_score), strict=True)
        )
        negatives, positives = fps[-1], tps[-1]
        gaps = [n * positives - (positives - p) * negatives for n, p in zip(fps, tps, strict=True)]
        after = next(index for index, gap in enumerate(gaps) if gap >= 0)
        nearest = min(after - 1, after, key=lambda index: (abs(gaps[index]), index))
        far, frr = fps[nearest] * positives, (positives - tps[nearest]) * negatives
        product = negatives * positives
        crossing = fps[after - 1] * gaps[after] - fps[after] * gaps[after - 1]
        hull = self.hull_indices(fps, tps)
        corner = next(index for index in range(1, len(hull)) if gaps[hull[index]] >= 0)
        one, two = hull[corner - 1], hull[corner]
        expected = {
            "interpolate": crossing / (negatives * (gaps[after] - gaps[after - 1])),
            "mean": (far + frr) / (2 * product),
            "max": max(far, frr) / product,
            "convex_hull": (fps[one] * gaps[two] - fps[two] * gaps[one]) / (negatives * (gaps[two] - gaps[one])),
        }
        ends = {"interpolate": (after - 1, after), "convex_hull": (one, two)}
        for method, n_threads in itertools.product(METHODS, (1, 2)):
            found = fm.equal_error_rate(y_true, y_score, method=method, n_threads=n_threads)
            assert found == expected[method], method
            if method in ("mean", "max"):
                assert found.threshold == thresholds[nearest]
            else:
                high, low = (thresholds[index] for index in ends[method])
                assert low <= found.threshold <= high

    @staticmethod
    def hull_indices(fps, tps):
        """The corners of the least concave curve above all points (Andrew's monotone chain, 1979)."""
        hull = []
        for index, (x, y) in enumerate(zip(fps, tps, strict=True)):
            while len(hull) > 1:
                x1, y1, x2, y2 = fps[hull[-2]], tps[hull[-2]], fps[hull[-1]], tps[hull[-1]]
                if (x2 - x1) * (y - y1) < (y2 - y1) * (x - x1):
                    break
                hull.pop()
            hull.append(index)
        return hull

    @each_case("method", METHODS)
    @each_case("rows", [2, 100, 5000, 70_000])
    def test_perfect_and_worst_scores(self, rows, method):
        y_true = make_labels(rows, 0.5)
        rank = np.arange(rows, dtype=float)
        for n_threads in (None, 1):
            options = {"method": method, "n_threads": n_threads}
            best = fm.equal_error_rate(y_true, np.where(y_true, rows + rank, rank), **options)
            assert (float(best), best.threshold) == (0.0, rows + rank[y_true == 1].min())
            worst = fm.equal_error_rate(y_true, np.where(y_true, -rank - 1, rank), **options)
            assert worst == (0.5 if method == "convex_hull" else 1.0)
            same_score = fm.equal_error_rate(y_true, np.full(rows, 0.25), **options)
            assert same_score == {"max": 1.0}.get(method, 0.5)

    @each_case("method", METHODS)
    @each_case("label", [0, 1])
    def test_one_class(self, label, method):
        for rows in (2, 5000, 70_000):
            with pytest.warns(fm.UndefinedMetricWarning, match="equal_error_rate"):
                found = fm.equal_error_rate(np.full(rows, label), np.arange(rows, dtype=float), method=method)
            assert math.isnan(found)
            assert math.isnan(found.threshold)
        with pytest.warns(fm.UndefinedMetricWarning):
            fm.equal_error_rate([0, 1], [0.1, 0.2], method=method, sample_weight=[float(label), 1.0 - label])

    def test_infinite_scores(self):
        infinity = math.inf
        for method in METHODS:
            for weights in (None, np.ones(4)):
                options = {"method": method, "sample_weight": weights}
                scores = [infinity, infinity, -infinity, -infinity]
                # The hull is one line that ends at the lowest score; the other points of the curve lie on it.
                threshold = -infinity if method == "convex_hull" else infinity
                found = fm.equal_error_rate([1, 0, 1, 0], scores, **options)
                assert (float(found), found.threshold) == (0.5, threshold)
                found = fm.equal_error_rate([1, 0, 1, 0], [-infinity, infinity, -infinity, infinity], **options)
                assert found == (0.5 if method == "convex_hull" else 1.0)
                assert found.threshold == threshold

    def test_an_unknown_method(self):
        for method in ("middle", None, ["mean"]):
            assert_raises(
                ValueError, "method must be one of 'interpolate', 'mean', 'max', 'convex_hull'",
                fm.equal_error_rate, [0, 1], np.array([0.1, 0.2]), method=method,
            )
            assert_raises(
                ValueError, "method", fm.equal_error_rate, np.array([0, 1]), np.array([0.1, 0.2]), method=method
            )


@given(strategies.labeled_scores(both_classes=False, min_size=1))
def test_kolmogorov_smirnov_in_other_forms(case):
    y_true, y_score = case
    expected = curves.ks(y_true.tolist(), y_score.tolist())
    value = without_warnings(fm.ks_statistic, y_true, y_score)
    if expected is None:
        assert math.isnan(value)
    else:
        for other in (value, *other_forms(fm.ks_statistic, y_true, y_score).values()):
            assert other == float(expected)


@given(weighted_scores())
def test_kolmogorov_smirnov_with_weights(case):
    y_true, y_score, weights = case
    expected = curves.ks(y_true.tolist(), y_score.tolist(), as_fractions(weights))
    assert fm.ks_statistic(y_true, y_score, sample_weight=weights) == float(expected)


@each_case(("kind", "share"), KINDS_AND_SHARES)
def test_kolmogorov_smirnov_of_many_rows(kind, share):
    y_true, y_score = make_case(kind, LARGE_ROWS, share)
    _, fps, tps = counts_by_score(y_true, y_score)
    negatives, positives = int(fps[-1]), int(tps[-1])
    greatest = max(abs(int(p) * negatives - int(n) * positives) for n, p in zip(fps, tps, strict=True))
    for n_threads in (1, 2):
        assert fm.ks_statistic(y_true, y_score, n_threads=n_threads) == greatest / (negatives * positives)
