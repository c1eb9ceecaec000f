"""Tests of the oracles themselves, against scikit-learn and textbook numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import averages, curves, probability, sums
from oracles.calibration import copc
from oracles.ranking import gauc
from support import strategies
from support.peers import scikit_learn


@given(strategies.labeled_scores())
def test_auc_is_scikit_learn(case):
    y_true, y_score = case
    assert math.isclose(curves.auc(y_true, y_score), scikit_learn().roc_auc_score(y_true, finite_ranks(y_score)))


def finite_ranks(scores):
    """Dense ranks: same order and same ties, no infinities."""
    return np.unique(scores.astype(np.float64), return_inverse=True)[1].astype(np.float64)


@given(strategies.labeled_scores(both_classes=False, min_size=0))
def test_auc_by_pairs_is_auc_by_ranks(case):
    assert curves.auc(*case) == curves.auc_by_ranks(*case)


@given(strategies.labeled_scores(), st.data())
def test_weighted_auc_is_scikit_learn(case, data):
    y_true, y_score = case
    weights = data.draw(strategies.real_weights(len(y_true)))
    weights[:2] = 1.0
    expected = scikit_learn().roc_auc_score(y_true, finite_ranks(y_score), sample_weight=weights)
    assert math.isclose(curves.auc(y_true, y_score, weights), expected, rel_tol=1e-9, abs_tol=1e-12)


@given(strategies.labeled_scores(), st.data())
def test_repeating_a_row_is_an_integer_weight(case, data):
    y_true, y_score = case
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(y_true), max_size=len(y_true)))
    repeated = np.repeat(y_true, weights), np.repeat(y_score, weights)
    assert curves.auc(y_true, y_score, weights) == curves.auc(*repeated)


@given(strategies.labeled_scores(), st.sampled_from([0.01, 0.1, 0.25, 0.5, 0.9, 1.0]))
def test_partial_auc_is_scikit_learn(case, max_fpr):
    y_true, y_score = case
    expected = scikit_learn().roc_auc_score(y_true, finite_ranks(y_score), max_fpr=max_fpr)
    assert math.isclose(curves.partial_auc(y_true, y_score, max_fpr), expected, rel_tol=1e-12, abs_tol=1e-12)


@given(strategies.labeled_scores())
def test_partial_auc_up_to_one_is_auc(case):
    assert curves.partial_auc(*case, 1.0) == curves.auc(*case)


@given(strategies.labeled_scores())
def test_ks_is_the_largest_vertical_distance_of_scikit_learn_s_roc(case):
    y_true, y_score = case
    fpr, tpr, _ = scikit_learn().roc_curve(y_true, finite_ranks(y_score), drop_intermediate=False)
    assert math.isclose(curves.ks(y_true, y_score), np.abs(tpr - fpr).max(), abs_tol=1e-15)


@pytest.mark.parametrize("weighted", [False, True])
@given(case=strategies.labeled_probabilities(), data=st.data())
def test_log_loss_is_scikit_learn(weighted, case, data):
    y_true, y_proba = case
    weights = data.draw(strategies.real_weights(len(y_true))) + 1e-3 if weighted else None
    value = probability.log_loss(y_true, y_proba, probability.EPSILON[y_proba.dtype.name], weights)
    expected = scikit_learn().log_loss(y_true, y_proba, sample_weight=weights)
    # scikit-learn computes 1 - p and the logarithm in the type of the input.
    tolerance = 1e-12 if y_proba.dtype == np.float64 else 1e-5
    assert math.isclose(value, expected, rel_tol=tolerance, abs_tol=tolerance)


@given(strategies.labeled_probabilities())
def test_log_loss_sum_is_scikit_learn(case):
    y_true, y_proba = case[0], case[1].astype(np.float64)
    value = probability.log_loss(y_true, y_proba, probability.EPSILON["float64"], normalize=False)
    assert math.isclose(value, scikit_learn().log_loss(y_true, y_proba, normalize=False), rel_tol=1e-12, abs_tol=1e-12)


def test_multiclass_log_loss_and_brier_are_scikit_learn():
    generator = np.random.default_rng(7)
    y_proba = generator.dirichlet([1, 1, 1], 50)
    y_proba[:3] = np.eye(3)
    y_true = generator.integers(0, 3, 50)
    weights = generator.random(50)
    eps = probability.EPSILON["float64"]
    for sample_weight in (None, weights):
        loss = scikit_learn().log_loss(y_true, y_proba, sample_weight=sample_weight)
        assert math.isclose(probability.multiclass_log_loss(y_true, y_proba, eps, sample_weight), loss, rel_tol=1e-13)
        score = scikit_learn().brier_score_loss(y_true, y_proba, sample_weight=sample_weight)
        assert math.isclose(probability.multiclass_brier(y_true, y_proba, sample_weight), score, rel_tol=1e-13)


@given(strategies.labeled_probabilities())
def test_brier_is_scikit_learn(case):
    y_true, y_proba = case[0], case[1].astype(np.float64)
    expected = scikit_learn().brier_score_loss(y_true, y_proba)
    assert math.isclose(probability.brier(y_true, y_proba), expected, rel_tol=1e-12, abs_tol=1e-15)


def test_normalized_entropy_of_the_base_rate_itself_is_one():
    assert math.isclose(probability.normalized_entropy([1, 0, 0, 0], [0.25] * 4, 1e-15), 1.0)
    assert probability.normalized_entropy([1, 1], [0.5, 0.5], 1e-15) is None


def test_log_loss_of_float16_float32_float64_has_the_documented_ceiling():
    """DEFINITIONS: certain and wrong costs minus log of the machine epsilon of the type, here half of it."""
    ceilings = {"float64": 36.04365338911715, "float32": 15.942385152878742, "float16": 6.931471805599453}
    for dtype, ceiling in ceilings.items():
        assert math.isclose(probability.log_loss([1], [0.0], probability.EPSILON[dtype]), ceiling)


def test_copc_counts_clicks_over_predicted_clicks():
    assert copc.copc([1, 0, 0, 1], [0.5, 0.25, 0.25, 0.5]) == Fraction(4, 3)
    assert copc.copc([1, 0], [0.0, 0.0]) is None


def test_uniform_bins_are_left_closed_and_one_is_in_the_last():
    assert probability.uniform_bins([0.0, 0.1, 0.25, 0.5, 0.75, 1.0], 4) == [0, 0, 1, 2, 3, 3]


def test_quantile_bins_never_split_ties():
    assert probability.quantile_bins([0.1, 0.2, 0.3, 0.4], 2) == [0, 0, 1, 1]
    assert probability.quantile_bins([0.4, 0.3, 0.2, 0.1], 2) == [1, 1, 0, 0]
    # Cuts at ceil(5j/3) = 2, 4: the tie of rows 1 to 3 starts before the first cut.
    assert probability.quantile_bins([0.1, 0.2, 0.2, 0.2, 0.9], 3) == [0, 0, 0, 0, 2]


def test_ece_by_hand():
    # Two bins: mean label 1/2 against mean probability 1/4, and 1 against 3/4.
    y_true, y_proba = [0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75]
    assert probability.ece(y_true, y_proba, n_bins=2) == Fraction(1, 4)
    assert probability.ece(y_true, y_proba, n_bins=2, norm="max") == Fraction(1, 4)
    assert probability.ece(y_true, y_proba, n_bins=2, norm="l2") == 0.25
    assert probability.ece(y_true, y_proba, n_bins=1) == Fraction(3, 4) - Fraction(1, 2)


@given(strategies.labeled_probabilities(min_size=1, both_classes=False), st.sampled_from(["uniform", "quantile"]))
def test_ece_norms_are_ordered(case, strategy):
    l1, l2, largest = (float(probability.ece(*case, n_bins=5, strategy=strategy, norm=n)) for n in ("l1", "l2", "max"))
    assert l1 <= l2 * (1 + 1e-12)
    assert l2 <= largest * (1 + 1e-12)


@given(strategies.grouped_scores())
def test_auc_by_group_is_scikit_learn_per_group(case):
    y_true, y_score, groups = case
    for row in gauc.auc_by_group(y_true.tolist(), y_score.tolist(), groups.tolist()):
        chosen = groups == row.group
        assert (row.n, row.n_positives) == (chosen.sum(), y_true[chosen].sum())
        if row.auc is None:
            assert row.n_positives in (0, row.n)
        else:
            expected = scikit_learn().roc_auc_score(y_true[chosen], finite_ranks(y_score[chosen]))
            assert math.isclose(row.auc, expected)


def test_gauc_by_hand():
    """Two users: AUC 1 of 1 x 1 pairs in 2 rows, AUC 1/4 of 1 x 2 pairs in 3 rows; and one user with no click."""
    y_true, y_score = [1, 0, 1, 0, 0, 0], [0.9, 0.1, 0.5, 0.5, 0.8, 0.3]
    groups = ["a", "a", "b", "b", "b", "c"]

    def value(**options):
        return gauc.gauc(y_true, y_score, groups, **options)

    assert value() == Fraction(2 * 1 + 3 * Fraction(1, 4), 5)
    assert value(weight="uniform") == value(weight="positives") == Fraction(5, 8)
    assert value(weight="pairs") == Fraction(1 + 2 * Fraction(1, 4), 3)
    assert value(single_class="half") == Fraction(2 + Fraction(3, 4) + Fraction(1, 2), 6)
    assert value(single_class="nan") is None
    with pytest.raises(gauc.SingleClassGroupError):
        value(single_class="raise")


@given(st.lists(st.floats(-1e300, 1e300), max_size=30))
def test_rounded_sum_is_fsum(values):
    assert sums.correctly_rounded_sum(values) == math.fsum(values)


def test_rounded_sum_beyond_fsum():
    """If fsum raises on an intermediate overflow, the exact sum is still finite. Infinities follow IEEE 754."""
    assert sums.correctly_rounded_sum([1.7e308, 1.7e308, -1.7e308]) == 1.7e308
    assert sums.correctly_rounded_sum([1.7e308, 1.7e308]) == math.inf
    assert sums.correctly_rounded_sum([math.inf, 1.0]) == math.inf
    assert math.isnan(sums.correctly_rounded_sum([math.inf, -math.inf]))
    assert math.isnan(sums.correctly_rounded_sum([math.nan, 1.0]))


@given(strategies.labels(12, both_classes=True), strategies.labels(12, both_classes=True), st.data())
def test_metrics_of_two_by_two_cells_are_scikit_learn(y_true, y_pred, data):
    weights = data.draw(st.none() | strategies.real_weights(12).map(lambda drawn: drawn + 1.0))
    cells = averages.cells(y_true, y_pred, None if weights is None else weights.tolist())
    peers = {
        "accuracy_score": averages.accuracy,
        "balanced_accuracy_score": averages.balanced_accuracy,
        "matthews_corrcoef": averages.mcc,
        "cohen_kappa_score": averages.kappa,
        "precision_score": averages.precision,
        "recall_score": averages.recall,
        "jaccard_score": averages.jaccard,
        "f1_score": lambda counted: averages.fbeta(counted, 1),
    }
    for name, metric in peers.items():
        expected = getattr(scikit_learn(), name)(y_true, y_pred, sample_weight=weights)
        assert math.isclose(metric(cells), expected, rel_tol=1e-9, abs_tol=1e-9), name
