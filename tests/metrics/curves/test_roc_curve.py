"""The ROC curve, the area below points and the partial area: exact against counting at every threshold."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from curve_cases import (
    BIG,
    KINDS,
    SIZES,
    case_of,
    counts_by_score,
    finite_ranks,
    floats,
    in_another_way,
    quietly,
    same,
    weighted_scores,
    whole,
)
from hypothesis import given
from hypothesis import strategies as st
from peers import scikit_learn

import fastmetrics as fm
import strategies
from oracles import curves


def oracle(y_true, y_score, weights=None, drop_intermediate=True):
    curve = curves.roc_curve(y_true.tolist(), y_score.tolist(), whole(weights), drop_intermediate)
    fpr, tpr, thresholds = zip(*curve, strict=True)
    return floats(fpr), floats(tpr), np.array(thresholds)


@given(strategies.labelled_scores(both_classes=False, min_size=1), st.booleans())
def test_every_rate_is_the_exact_one_rounded_once(case, drop_intermediate):
    y_true, y_score = case
    expected = oracle(y_true, y_score, None, drop_intermediate)
    found = quietly(fm.roc_curve, y_true, y_score, drop_intermediate=drop_intermediate)
    same(found, expected)
    assert [array.dtype for array in found] == [np.float64] * 3
    if len(set(y_true.tolist())) > 1:
        for other in in_another_way(fm.roc_curve, y_true, y_score, drop_intermediate=drop_intermediate).values():
            same(other, expected)


@given(weighted_scores(), st.booleans())
def test_weights(case, drop_intermediate):
    """Weighted counts are exact and rounded once, so that rates of whole weights are exact, others nearly so."""
    y_true, y_score, weights = case
    expected = oracle(y_true, y_score, weights, False)
    found = fm.roc_curve(y_true, y_score, sample_weight=weights, drop_intermediate=False)
    same(found[2], expected[2])
    for rates, exact in zip(found[:2], expected[:2], strict=True):
        np.testing.assert_allclose(rates, exact, rtol=1e-15, atol=0)
        if weights is None or (weights == np.round(weights)).all():
            same(rates, exact)
    if drop_intermediate:
        same(fm.roc_curve(y_true, y_score, sample_weight=weights), oracle(y_true, y_score, weights))


@given(strategies.labelled_scores(), st.booleans(), st.sampled_from([None, "integer", "real"]), st.data())
def test_scikit_learn(case, drop_intermediate, kind, data):
    y_true, y_score = case
    y_score = finite_ranks(y_score).astype(y_score.dtype)
    weights = None
    if kind is not None:
        value = st.integers(1, 3) if kind == "integer" else st.sampled_from([0.25, 0.5, 2.0])
        weights = np.array(data.draw(st.lists(value, min_size=len(y_true), max_size=len(y_true))))
    options = {"sample_weight": weights, "drop_intermediate": drop_intermediate}
    expected = scikit_learn().roc_curve(y_true, y_score, **options)
    found = fm.roc_curve(y_true, y_score, **options)
    for own, their in zip(found, expected, strict=True):
        assert (type(own), own.dtype, own.shape) == (type(their), their.dtype, their.shape)
        np.testing.assert_allclose(own, their, rtol=1e-12, atol=1e-12)


def without_straight_points(fps, tps):
    """Where the curve turns, and both ends: second differences, as scikit-learn looks at them."""
    if len(fps) <= 2:
        return np.ones(len(fps), bool)
    turns = (np.diff(fps, 2) != 0) | (np.diff(tps, 2) != 0)
    return np.concatenate(([True], turns, [True]))


@pytest.mark.parametrize("share", [0.03, 0.9])
@pytest.mark.parametrize("kind", KINDS)
def test_many_rows_of_any_scores(kind, share):
    y_true, y_score = case_of(kind, BIG, share, "float32" if kind in ("tied", "shuffled") else "float64")
    check_counts(y_true, y_score)


@pytest.mark.parametrize("rows", SIZES)
def test_sizes_at_which_the_way_changes(rows):
    for kind in ("shuffled", "tied"):
        check_counts(*case_of(kind, rows, 0.3))


def check_counts(y_true, y_score):
    thresholds, fps, tps = counts_by_score(y_true, y_score)
    for n_threads in (1, 2):
        for drop_intermediate in (False, True):
            kept = without_straight_points(fps, tps) if drop_intermediate else np.ones(len(fps), bool)
            found = fm.roc_curve(y_true, y_score, drop_intermediate=drop_intermediate, n_threads=n_threads)
            same(found[0], np.append(0.0, fps[kept] / fps[-1]))
            same(found[1], np.append(0.0, tps[kept] / tps[-1]))
            same(found[2], np.append(np.inf, thresholds[kept]))


@pytest.mark.parametrize("rows", [2, 100, 1024, 70_000])
def test_any_way_to_the_same_rows(rows):
    y_true, y_score = case_of("tied", rows, 0.4)
    for drop_intermediate in (False, True):
        expected = fm.roc_curve(y_true, y_score, drop_intermediate=drop_intermediate)
        for other in in_another_way(fm.roc_curve, y_true, y_score, drop_intermediate=drop_intermediate).values():
            same(other, expected)


@pytest.mark.parametrize("rows", [3, 5000, 70_000])
@pytest.mark.parametrize("label", [0, 1])
def test_one_class(rows, label):
    y_true, y_score = np.full(rows, label), np.arange(rows, dtype=float)
    rate, other, name = ("fpr", 1, "negative") if label else ("tpr", 0, "positive")
    with pytest.warns(fm.UndefinedMetricWarning, match=f"no {name} row: {rate} is NaN"):
        found = fm.roc_curve(y_true, y_score, drop_intermediate=False)
    assert np.isnan(found[1 - other]).all()
    same(found[other], np.arange(rows + 1) / rows)
    with pytest.warns(fm.UndefinedMetricWarning):
        assert len(fm.roc_curve(y_true, y_score)[0]) == 3


class TestLabels:
    """Which label is positive, as scikit-learn rules."""

    @pytest.mark.parametrize("name", ["roc_curve", "precision_recall_curve", "det_curve"])
    @pytest.mark.parametrize(
        ("labels", "pos_label"),
        [
            (["no", "yes", "no", "yes"], "yes"),
            (["no", "yes", "no", "yes"], "no"),
            (np.array(["no", "yes", "no", "yes"], object), "yes"),
            ([1, 2, 1, 2], 2),
            ([1, 2, 1, 2], 1),
            ([0.0, 1.0, 0.0, 1.0], 0),
            ([False, True, False, True], True),
            ([False, True, False, True], None),
            ([-1, 1, -1, 1], None),
            ([[0], [1], [0], [1]], None),
        ],
    )
    def test_any_two(self, name, labels, pos_label):
        scores = [0.1, 0.4, 0.35, 0.8]
        expected = getattr(scikit_learn(), name)(labels, scores, pos_label=pos_label)
        for y_score in (scores, np.array(scores)[:, None]):
            same(getattr(fm, name)(labels, y_score, pos_label=pos_label), expected)

    @pytest.mark.parametrize("name", ["roc_curve", "precision_recall_curve"])
    def test_one_of_several(self, name):
        labels, scores = np.array(["a", "b", "c", "b", "a"]), [0.1, 0.4, 0.35, 0.8, 0.4]
        for pos_label in "abc":
            expected = getattr(scikit_learn(), name)(labels, scores, pos_label=pos_label)
            same(getattr(fm, name)(labels, scores, pos_label=pos_label), expected)
            same(getattr(fm, name)((labels == pos_label).astype(int), scores), expected)

    @pytest.mark.parametrize("name", ["roc_curve", "precision_recall_curve", "det_curve"])
    @pytest.mark.parametrize(
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
        with pytest.raises(ValueError, match=r"y_true|y_score|pos_label|drop_intermediate|sample_weight"):
            getattr(fm, name)(labels, scores, **options)
        with pytest.raises((ValueError, TypeError)):
            getattr(scikit_learn(), name)(labels, scores, **options)


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
        assert math.isclose(fm.auc(x, y), scikit_learn().auc(x, y), rel_tol=1e-12, abs_tol=1e-12)

    @given(strategies.labelled_scores())
    def test_of_the_curve_it_is_the_share_of_pairs(self, case):
        fpr, tpr, _ = fm.roc_curve(*case)
        assert math.isclose(fm.auc(fpr, tpr), fm.roc_auc_score(*case), rel_tol=1e-12, abs_tol=1e-15)

    @pytest.mark.parametrize(
        ("x", "y"),
        [
            ([0.0, math.nan, 1.0], [1.0, 1.0, 1.0]),
            ([0.0, 0.5, 1.0], [1.0, math.nan, 1.0]),
            ([0.0, 0.5, math.inf], [1.0, 1.0, 1.0]),
            ([1.0, 0.5, 0.0], [1.0, math.inf, 1.0]),
            ([0.5, 0.5], [1.0, 2.0]),
        ],
    )
    def test_what_is_not_finite_and_what_has_no_width(self, x, y):
        np.testing.assert_array_equal(fm.auc(x, y), scikit_learn().auc(x, y))

    def test_of_a_curve_without_a_class_it_is_nan(self):
        fpr, tpr, _ = quietly(fm.roc_curve, [1, 1, 1], [0.1, 0.2, 0.3])
        assert math.isnan(fm.auc(fpr, tpr))
        assert math.isnan(scikit_learn().auc(fpr, tpr))

    @pytest.mark.parametrize(
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
        with pytest.raises(ValueError, match=message):
            fm.auc(x, y)
        with pytest.raises(ValueError, match=r"."):
            scikit_learn().auc(x, y)


class TestPartialArea:
    @given(weighted_scores(), st.sampled_from([1e-9, 0.01, 0.1, 1 / 3, 0.5, 0.999, 1.0]))
    def test_definition(self, case, max_fpr):
        y_true, y_score, weights = case
        points = curves.roc_points(y_true.tolist(), y_score.tolist(), whole(weights))
        expected = curves.area_up_to(points, Fraction(max_fpr))
        value = fm.partial_auc_score(y_true, y_score, max_fpr=max_fpr, sample_weight=weights)
        assert math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-15)
        standard = fm.partial_auc_score(y_true, y_score, max_fpr=max_fpr, sample_weight=weights, standardize=True)
        if max_fpr < 1:
            assert standard == fm.roc_auc_score(y_true, y_score, max_fpr=max_fpr, sample_weight=weights)

    def test_many_rows(self):
        y_true, y_score = case_of("tied", BIG, 0.1)
        values = {fm.roc_auc_score(y_true, y_score, max_fpr=0.05, n_threads=n) for n in (1, 2, 3)}
        order = np.random.default_rng(0).permutation(BIG)
        values.add(fm.roc_auc_score(y_true[order], y_score[order], max_fpr=0.05))
        (value,) = values
        assert math.isclose(value, scikit_learn().roc_auc_score(y_true, y_score, max_fpr=0.05), rel_tol=1e-12)

    def test_a_label_for_positives(self):
        labels, scores = np.array(["a", "b", "a", "b"]), np.array([0.1, 0.4, 0.35, 0.8])
        for pos_label in "ab":
            expected = fm.partial_auc_score((labels == pos_label).astype(int), scores, max_fpr=0.5)
            assert fm.partial_auc_score(labels, scores, max_fpr=0.5, pos_label=pos_label) == expected
