"""The ROC curve, the trapezoidal area and the partial AUC, against exact counts at every threshold."""

import itertools
import math
from fractions import Fraction

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
    ordering_infinities,
    other_forms,
    weighted_scores,
)
from support.peers import check_parity

roc_auc_score = ordering_infinities(fm.roc_auc_score)
roc_curve = ordering_infinities(fm.roc_curve)


def oracle(y_true, y_score, weights=None, drop_intermediate=True):
    curve = curves.roc_curve(y_true.tolist(), y_score.tolist(), as_fractions(weights), drop_intermediate)
    fpr, tpr, thresholds = zip(*curve, strict=True)
    return as_floats(fpr), as_floats(tpr), np.array(thresholds)


@given(strategies.labeled_scores(both_classes=False, min_size=1), st.booleans())
def test_every_rate_is_the_exact_one_rounded_once(case, drop_intermediate):
    y_true, y_score = case
    expected = oracle(y_true, y_score, None, drop_intermediate)
    found = without_warnings(roc_curve, y_true, y_score, drop_intermediate=drop_intermediate)
    assert_same(found, expected)
    assert [array.dtype for array in found] == [np.float64] * 3
    if len(set(y_true.tolist())) > 1:
        for other in other_forms(roc_curve, y_true, y_score, drop_intermediate=drop_intermediate).values():
            assert_same(other, expected)


@given(weighted_scores(), st.booleans())
def test_weights(case, drop_intermediate):
    """Weighted counts are exact and rounded once: rates of integer weights are exact, others nearly exact."""
    y_true, y_score, weights = case
    expected = oracle(y_true, y_score, weights, False)
    found = roc_curve(y_true, y_score, sample_weight=weights, drop_intermediate=False)
    assert_rates(found, expected, weights)
    if not drop_intermediate:
        return
    dropped = roc_curve(y_true, y_score, sample_weight=weights)
    if weights is None or (weights == np.round(weights)).all():
        assert_same(dropped, oracle(y_true, y_score, weights))
        return
    # With real weights, rounding decides which points count as collinear. The curve stays the same: its points are
    # points of the full curve, with both ends, and no area is lost.
    points, full_points = (
        [tuple(map(float, point)) for point in zip(*curve, strict=True)] for curve in (dropped, found)
    )
    assert set(points) <= set(full_points)
    assert (points[0], points[-1]) == (full_points[0], full_points[-1])
    if not np.isnan([*dropped[0], *dropped[1]]).any():
        np.testing.assert_allclose(fm.auc(*dropped[:2]), fm.auc(*found[:2]), rtol=1e-12, atol=1e-15)



def without_straight_points(fps, tps):
    """A mask of the turns of the curve and both ends, from second differences as in scikit-learn."""
    if len(fps) <= 2:
        return np.ones(len(fps), bool)
    turns = (np.diff(fps, 2) != 0) | (np.diff(tps, 2) != 0)
    return np.concatenate(([True], turns, [True]))


@each_case(("kind", "share"), KINDS_AND_SHARES)
def test_many_rows_of_any_scores(kind, share):
    y_true, y_score = make_case(kind, LARGE_ROWS, share, "float32" if kind in ("tied", "shuffled") else "float64")
    check_counts(y_true, y_score)


@each_case("rows", SIZES)
def test_sizes_at_which_the_code_path_changes(rows):
    for kind in ("shuffled", "tied"):
        check_counts(*make_case(kind, rows, 0.3))


def check_counts(y_true, y_score):
    thresholds, fps, tps = counts_by_score(y_true, y_score)
    for n_threads in (1, 2):
        for drop_intermediate in (False, True):
            kept = without_straight_points(fps, tps) if drop_intermediate else np.ones(len(fps), bool)
            found = roc_curve(y_true, y_score, drop_intermediate=drop_intermediate, n_threads=n_threads)
            assert_same(found[0], np.append(0.0, fps[kept] / fps[-1]))
            assert_same(found[1], np.append(0.0, tps[kept] / tps[-1]))
            assert_same(found[2], np.append(np.inf, thresholds[kept]))


@each_case("rows", [2, 100, 1024, 70_000])
def test_other_forms_of_the_same_rows(rows):
    y_true, y_score = make_case("tied", rows, 0.4)
    for drop_intermediate in (False, True):
        expected = roc_curve(y_true, y_score, drop_intermediate=drop_intermediate)
        for other in other_forms(roc_curve, y_true, y_score, drop_intermediate=drop_intermediate).values():
            assert_same(other, expected)


@each_case("rows", [3, 5000, 70_000])
@each_case("label", [0, 1])
def test_one_class(rows, label):
    y_true, y_score = np.full(rows, label), np.arange(rows, dtype=float)
    rate, other, name = ("fpr", 1, "negative") if label else ("tpr", 0, "positive")
    with pytest.warns(fm.UndefinedMetricWarning, match=f"no {name} row: {rate} is NaN"):
        found = roc_curve(y_true, y_score, drop_intermediate=False)
    assert np.isnan(found[1 - other]).all()
    assert_same(found[other], np.arange(rows + 1) / rows)
    with pytest.warns(fm.UndefinedMetricWarning):
        assert len(roc_curve(y_true, y_score)[0]) == 3


class TestLabels:
    """The positive label is chosen as in scikit-learn."""

    @pytest.mark.parametrize("name", ["roc_curve", "precision_recall_curve"])
    def test_one_of_several(self, name):
        labels, scores = np.array(["a", "b", "c", "b", "a"]), [0.1, 0.4, 0.35, 0.8, 0.4]
        for pos_label in "abc":
            check_parity(name, labels, scores, pos_label=pos_label)
            found = getattr(fm, name)(labels, scores, pos_label=pos_label)
            assert_same(getattr(fm, name)((labels == pos_label).astype(int), scores), found)

    @pytest.mark.parametrize("name", ["roc_curve", "precision_recall_curve", "det_curve"])
    @each_case(
        ("labels", "scores", "options"),
        [
            (["no", "yes"], [0.1, 0.2], {}),
            ([1, 2], [0.1, 0.2], {}),
            ([-1, 0], [0.1, 0.2], {}),
            ([0, 1, 2], [0.1, 0.2, 0.3], {}),
            ([0.5, 1.0], [0.1, 0.2], {"pos_label": 1}),
            ([[0, 1], [1, 0]], [0.1, 0.2], {}),
            ([[0, 1], [1, 0]], [[0.1, 0.2], [0.3, 0.4]], {"pos_label": 1}),
            ([0, 1], [[0.1, 0.2], [0.3, 0.4]], {}),
            ([0, 1], [0.1, 0.2, 0.3], {}),
            ([0, 1], [0.1, math.nan], {}),
            ([0, 1], ["a", "b"], {}),
            ([0, 1], [0.1, 0.2], {"pos_label": [1]}),
            ([0, 1], [0.1, 0.2], {"drop_intermediate": "yes"}),
            ([0, 1], [0.1, 0.2], {"sample_weight": [1.0]}),
            ([], [], {}),
        ],
    )
    def test_errors(self, name, labels, scores, options):
        named = r"y_true|y_score|pos_label|drop_intermediate|sample_weight"
        assert_raises(ValueError, named, getattr(fm, name), labels, scores, **options)
        check_parity(name, labels, scores, **options)


class TestArea:
    @given(
        st.lists(st.tuples(st.floats(0, 1), st.floats(-2, 2)), min_size=2, max_size=30),
        st.booleans(),
    )
    def test_trapezoids(self, points, descending):
        points = sorted(points, key=lambda point: point[0], reverse=descending)
        x, y = np.array(points).T
        expected = sum(
            abs(Fraction(right) - Fraction(left)) * (Fraction(low) + Fraction(high)) / 2
            for (left, low), (right, high) in itertools.pairwise(points)
        )
        assert math.isclose(fm.auc(x, y), expected, rel_tol=1e-12, abs_tol=1e-12)

    @given(strategies.labeled_scores())
    def test_the_area_under_the_roc_curve_is_auc(self, case):
        fpr, tpr, _ = roc_curve(*case)
        assert math.isclose(fm.auc(fpr, tpr), roc_auc_score(*case), rel_tol=1e-12, abs_tol=1e-15)

    @each_case(
        ("x", "y"),
        [
            ([0.0, math.nan, 1.0], [1.0, 1.0, 1.0]),
            ([0.0, 0.5, 1.0], [1.0, math.nan, 1.0]),
            ([0.0, 0.5, math.inf], [1.0, 1.0, 1.0]),
            ([1.0, 0.5, 0.0], [1.0, math.inf, 1.0]),
            ([0.5, 0.5], [1.0, 2.0]),
        ],
    )
    def test_infinite_values_nan_and_zero_width(self, x, y):
        check_parity("auc", x, y)

    def test_a_curve_without_a_class_is_nan(self):
        fpr, tpr, _ = without_warnings(roc_curve, [1, 1, 1], [0.1, 0.2, 0.3])
        assert math.isnan(fm.auc(fpr, tpr))

    @each_case(
        ("x", "y", "message"),
        [
            ([0.0], [1.0], "x must have at least 2 points"),
            ([0.0, 1.0], [1.0], "2 rows"),
            ([0.0, 1.0, 0.5], [1.0, 1.0, 1.0], r"1\.0 and then 0\.5 at row 2"),
            ([0.0, math.nan, 1.0, 0.5], [1.0, 1.0, 1.0, 1.0], "x must go one way"),
            ([[0.0, 1.0]], [1.0, 1.0], "x must have one dimension"),
        ],
    )
    def test_errors(self, x, y, message):
        assert_raises(ValueError, message, fm.auc, x, y)
        check_parity("auc", x, y)


@pytest.mark.parametrize("rows", [2000, 100_000])
@pytest.mark.parametrize("drop_intermediate", [True, False])
def test_weighted_curve_without_ties_has_a_point_for_every_row(rows, drop_intermediate):
    """Such a curve takes the memory of its points; a curve whose points are needed again does not."""
    random = np.random.default_rng(4)
    labels, scores, weights = random.integers(0, 2, rows), random.permutation(rows) / rows, random.random(rows) + 0.5
    options = {"sample_weight": weights, "drop_intermediate": drop_intermediate}
    fpr, tpr, thresholds = fm.roc_curve(labels, scores, **options)
    order = np.argsort(-scores)
    assert thresholds.tolist() == [math.inf, *scores[order]]
    for rates, own in ((fpr, labels == 0), (tpr, labels == 1)):
        summed = np.concatenate(([0.0], np.cumsum(np.where(own, weights, 0)[order])))
        np.testing.assert_allclose(rates, summed / summed[-1], rtol=1e-11)
    shared = fm.ScoreOrder(labels, scores, sample_weight=weights)
    for _ in range(2):
        again = shared.roc_curve(drop_intermediate=drop_intermediate)
        assert all(np.array_equal(*both) for both in zip(again, (fpr, tpr, thresholds), strict=True))


class TestPartialArea:
    @given(weighted_scores(), st.sampled_from([1e-9, 0.01, 0.1, 1 / 3, 0.5, 0.999, 1.0]))
    def test_definition(self, case, max_fpr):
        y_true, y_score, weights = case
        points = curves.roc_points(y_true.tolist(), y_score.tolist(), as_fractions(weights))
        expected = curves.area_up_to(points, Fraction(max_fpr))
        value = fm.partial_auc_score(y_true, y_score, max_fpr=max_fpr, sample_weight=weights)
        assert math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-15)
        standard = fm.partial_auc_score(y_true, y_score, max_fpr=max_fpr, sample_weight=weights, standardize=True)
        if max_fpr < 1:
            assert standard == roc_auc_score(y_true, y_score, max_fpr=max_fpr, sample_weight=weights)

    def test_positive_label(self):
        labels, scores = np.array(["a", "b", "a", "b"]), np.array([0.1, 0.4, 0.35, 0.8])
        for pos_label in "ab":
            expected = fm.partial_auc_score((labels == pos_label).astype(int), scores, max_fpr=0.5)
            assert fm.partial_auc_score(labels, scores, max_fpr=0.5, pos_label=pos_label) == expected
