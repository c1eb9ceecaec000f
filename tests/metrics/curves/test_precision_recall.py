"""The precision-recall curve and average precision, against the definition, in all forms of input."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.exchange import range_exchange
from oracles import curves
from support import strategies
from support.cases import each_case, without_warnings
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

average_precision_score = ordering_infinities(fm.average_precision_score)
precision_recall_curve = ordering_infinities(fm.precision_recall_curve)


def oracle(y_true, y_score, weights=None, drop_intermediate=False):
    curve = curves.precision_recall_curve(y_true.tolist(), y_score.tolist(), as_fractions(weights), drop_intermediate)
    precision, recall, thresholds = zip(*curve, strict=True)
    return as_floats(precision), as_floats(recall), np.array(thresholds[:-1], y_score.dtype)


@given(strategies.labeled_scores(both_classes=False, min_size=1), st.booleans())
def test_every_ratio_is_the_exact_one_rounded_once(case, drop_intermediate):
    y_true, y_score = case
    expected = oracle(y_true, y_score, None, drop_intermediate)
    found = without_warnings(precision_recall_curve, y_true, y_score, drop_intermediate=drop_intermediate)
    assert_same(found, expected)
    assert [array.dtype for array in found] == [np.float64, np.float64, y_score.dtype]
    if y_true.any():
        options = {"drop_intermediate": drop_intermediate}
        for other in other_forms(precision_recall_curve, y_true, y_score, **options).values():
            assert_same(other, expected)


@given(weighted_scores(), st.booleans())
def test_weights(case, drop_intermediate):
    """Weighted counts are exact and rounded once: ratios of integer weights are exact, others nearly exact."""
    y_true, y_score, weights = case
    options = {"drop_intermediate": drop_intermediate}
    found = precision_recall_curve(y_true, y_score, sample_weight=weights, **options)
    assert_rates(found, oracle(y_true, y_score, weights, **options), weights)



def test_byte_swapped_scores_give_native_thresholds():
    """Unlike in scikit-learn, thresholds are in native byte order."""
    scores = np.array([0.1, 0.4, 0.35, 0.8])
    for swapped in (scores.astype(">f8"), scores.astype(">f4"), np.arange(4).astype(">i4")):
        found = precision_recall_curve([0, 0, 1, 1], swapped)[2]
        assert found.dtype == swapped.dtype.newbyteorder("=")
        assert found.dtype.isnative
        assert_same(found, np.sort(swapped))


@each_case(("kind", "share"), KINDS_AND_SHARES)
def test_many_rows_of_any_scores(kind, share):
    y_true, y_score = make_case(kind, LARGE_ROWS, share, "float32" if kind in ("tied", "shuffled") else "float64")
    check_counts(y_true, y_score)


@each_case("rows", SIZES)
def test_sizes_at_which_the_code_path_changes(rows):
    for kind in ("shuffled", "tied"):
        check_counts(*make_case(kind, rows, 0.3))


def check_counts(y_true, y_score):
    """Check both functions against counts of a plain sort. Terms of average precision are rounded, their sum is not."""
    thresholds, fps, tps = counts_by_score(y_true, y_score)
    own = np.diff(tps, prepend=0)
    terms = (own * (tps / (tps + fps)))[own > 0]
    expected = float(sum(map(Fraction, terms.tolist()), Fraction(0)) / int(tps[-1]))
    for n_threads in (1, 2):
        found = precision_recall_curve(y_true, y_score, n_threads=n_threads)
        assert_same(found[0], np.append((tps / (tps + fps))[::-1], 1.0))
        assert_same(found[1], np.append((tps / tps[-1])[::-1], 0.0))
        assert_same(found[2], thresholds[::-1].astype(y_score.dtype))
        assert average_precision_score(y_true, y_score, n_threads=n_threads) == expected
    dropped = precision_recall_curve(y_true, y_score, drop_intermediate=True)
    middle = (tps[1:-1] == tps[:-2]) & (tps[1:-1] == tps[2:])
    kept = np.concatenate(([True], ~middle, [True]))[: len(tps)]
    assert_same(dropped[2], thresholds[kept][::-1].astype(y_score.dtype))
    assert_same(dropped[1], np.append((tps[kept] / tps[-1])[::-1], 0.0))


class TestAveragePrecision:
    @given(strategies.labeled_scores(both_classes=False, min_size=1))
    def test_definition(self, case):
        y_true, y_score = case
        expected = curves.average_precision(y_true.tolist(), y_score.tolist())
        value = without_warnings(average_precision_score, y_true, y_score)
        if expected is None:
            assert value == 0.0
        else:
            assert math.isclose(value, expected, rel_tol=2e-16 * 3)
            for other in other_forms(average_precision_score, y_true, y_score).values():
                assert other == value

    @given(weighted_scores())
    def test_weights(self, case):
        y_true, y_score, weights = case
        expected = curves.average_precision(y_true.tolist(), y_score.tolist(), as_fractions(weights))
        value = average_precision_score(y_true, y_score, sample_weight=weights)
        assert math.isclose(value, expected, rel_tol=1e-15)
        if weights is not None:
            order = np.random.default_rng(0).permutation(len(y_true))
            moved = average_precision_score(y_true[order], y_score[order], sample_weight=weights[order])
            assert moved == value
            assert average_precision_score(y_true, y_score, sample_weight=weights * 2.0**-300) == value

    @each_case("weighted", [False, True])
    @each_case("block", [1, 7, 1000, None])
    def test_any_bucket_size(self, block, weighted, monkeypatch):
        """The result of the engine does not depend on the number of rows of a bucket."""
        y_true, y_score = make_case("tied", 3000, 0.2)
        weight = np.random.default_rng(0).lognormal(0.0, 2.0, 3000)
        options = {"weight": "w"} if weighted else {}
        log = {"y": y_true, "s": y_score, "w": weight}
        expected = average_precision_score(y_true, y_score, sample_weight=weight if weighted else None)
        if block is not None:
            monkeypatch.setattr(range_exchange, "ROWS_PER_BUCKET", block)
        assert fm.evaluate(log, ["ap", "auc"], label="y", score="s", **options)["ap"] == expected

    @each_case("rows", [2, 1000, 1025, 70_000, LARGE_ROWS])
    def test_perfect_and_worst_scores(self, rows):
        scores = np.arange(rows, dtype=float)
        y_true = make_labels(rows, 0.4)
        assert average_precision_score(y_true, y_true.astype(float)) == 1.0
        assert average_precision_score(np.ones(rows, int), scores) == 1.0
        assert average_precision_score(y_true, np.full(rows, 0.5)) == np.count_nonzero(y_true) / rows
        assert average_precision_score((scores == 0).astype(int), scores) == 1 / rows
        with pytest.warns(UserWarning, match="no positive row"):
            assert average_precision_score(np.zeros(rows, int), scores) == 0.0

    def test_without_positives_recall_is_one(self):
        with pytest.warns(UserWarning, match="no positive row"):
            precision, recall, thresholds = precision_recall_curve([0, 0, 0], [0.3, 0.1, 0.2])
        assert precision.tolist() == [0, 0, 0, 1]
        assert recall.tolist() == [1, 1, 1, 0]
        assert thresholds.tolist() == [0.1, 0.2, 0.3]

    def test_infinities_and_zeros(self):
        infinity = float("inf")
        scores = np.array([infinity, -infinity, 0.0, -0.0, infinity])
        assert precision_recall_curve([1, 0, 1, 0, 1], scores)[2].tolist() == [-infinity, 0.0, infinity]
        assert average_precision_score([1, 0, 1, 0, 1], scores) == float((2 + Fraction(3, 4)) / 3)
