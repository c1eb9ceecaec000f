"""ROC AUC, partial AUC and KS against pair counting and scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles import curves
from support import strategies
from support.cases import assert_raises, assert_undefined, each_case
from support.curve_cases import ordering_infinities, weighted_scores
from support.peers import scikit_learn

roc_auc_score = ordering_infinities(fm.roc_auc_score)

THREADS = [1, 2, 3]


@given(strategies.labeled_scores() | strategies.labeled_scores(max_size=300))
def test_auc_is_the_share_of_pairs_won(case):
    assert roc_auc_score(*case) == float(curves.auc_by_ranks(*case))



@given(strategies.labeled_scores(), st.data())
def test_auc_with_integer_weights_is_exact(case, data):
    weights = data.draw(strategies.integer_weights(len(case[0])))
    weights[:2] = data.draw(st.integers(1, 2**40)), 1.0
    assert roc_auc_score(*case, sample_weight=weights) == float(curves.auc(*case, weights))


@given(strategies.labeled_scores(), st.data())
def test_auc_with_real_weights(case, data):
    weights = data.draw(strategies.real_weights(len(case[0])))
    weights[:2] = 0.5
    expected = float(curves.auc(*case, weights))
    assert math.isclose(roc_auc_score(*case, sample_weight=weights), expected, rel_tol=1e-12)


@given(strategies.labeled_scores())
def test_auc_of_negated_scores_and_of_swapped_labels_is_the_complement(case):
    y_true, y_score = case
    expected = float(1 - curves.auc(y_true, y_score))
    assert roc_auc_score(y_true, -y_score) == expected
    assert roc_auc_score(1 - y_true, y_score) == expected



@given(weighted_scores(), st.sampled_from([1e-9, 0.01, 0.1, 1 / 3, 0.5, 0.999, 1.0]))
def test_partial_auc(case, max_fpr):
    y_true, y_score, weights = case
    expected = float(curves.partial_auc(y_true, y_score, max_fpr, weights))
    value = roc_auc_score(y_true, y_score, max_fpr=max_fpr, sample_weight=weights)
    assert math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-12)




@each_case("dtype", strategies.SCORE_DTYPES)
@each_case("levels", [2, 1000, None])
def test_large_inputs_equal_the_exact_ranks_and_scikit_learn(dtype, levels):
    log = strategies.click_log(200_003, seed=3, dtype=dtype, levels=levels)
    y_true, y_score = log["label"], log["prob"]
    expected = float(curves.auc_by_ranks(y_true.tolist(), y_score.tolist()))
    assert math.isclose(expected, scikit_learn().roc_auc_score(y_true, y_score), rel_tol=1e-12)
    for n_threads in THREADS:
        assert roc_auc_score(y_true, y_score, n_threads=n_threads) == expected, n_threads


@pytest.mark.parametrize("n_threads", THREADS)
def test_large_weighted_partial_and_ks_equal_scikit_learn(n_threads):
    log = strategies.click_log(150_001, seed=4)
    y_true, y_score = log["label"], log["prob"]
    weights = np.random.default_rng(5).random(len(y_true)) * (y_score < 0.9)
    for options in ({"sample_weight": weights}, {"max_fpr": 0.05}, {"max_fpr": 0.05, "sample_weight": weights}):
        value = roc_auc_score(y_true, y_score, **options, n_threads=n_threads)
        assert math.isclose(value, scikit_learn().roc_auc_score(y_true, y_score, **options), rel_tol=1e-10)
    fpr, tpr, _ = scikit_learn().roc_curve(y_true, y_score, drop_intermediate=False)
    value = fm.ks_statistic(y_true, y_score, n_threads=n_threads)
    assert math.isclose(value, np.abs(tpr - fpr).max(), rel_tol=1e-12)


def test_example_of_scikit_learn():
    assert fm.roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) == 0.75
    assert fm.ks_statistic([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) == 0.5


def test_tied_rank_example():
    """Positives rank 1 to 6 with the ties of ranks 3 and 4 averaged (DEFINITIONS, misprints)."""
    assert fm.roc_auc_score([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1]) == 0.875


def test_close_scores_do_not_tie():
    assert fm.roc_auc_score([1, 0], [1e-10, 0.0]) == 1.0
    assert fm.roc_auc_score([1, 0], [np.nextafter(0.5, 0), 0.5]) == 0.0
    assert fm.roc_auc_score([1, 0], np.array([5e-324, 0.0])) == 1.0
    assert fm.roc_auc_score([1, 0], np.array([1e-45, 0.0], dtype=np.float32)) == 1.0


def test_infinities_order_and_tie_with_themselves():
    infinity = float("inf")
    assert roc_auc_score([1, 0, 1, 0], [infinity, 1.0, -infinity, -infinity]) == 0.625
    assert roc_auc_score([1, 0], [infinity, 1.7976931348623157e308]) == 1.0
    assert roc_auc_score([1, 0], np.array([np.inf, np.finfo(np.float32).max], dtype=np.float32)) == 1.0


def test_zero_and_negative_zero_tie():
    for dtype in strategies.SCORE_DTYPES:
        assert fm.roc_auc_score([1, 0], np.array([0.0, -0.0], dtype=dtype)) == 0.5
        assert fm.roc_auc_score([1, 0], np.array([-0.0, 0.0], dtype=dtype)) == 0.5
        assert fm.ks_statistic([1, 0], np.array([-0.0, 0.0], dtype=dtype)) == 0.0


@each_case("label", [0, 1])
@pytest.mark.parametrize("function", [fm.roc_auc_score, fm.ks_statistic])
def test_one_class_is_nan_with_a_warning(function, label):
    assert_undefined("", function, [label] * 3, [0.1, 0.2, 0.3])


def test_a_row_of_weight_zero_does_not_count_as_a_class():
    assert_undefined("", fm.roc_auc_score, [1, 0, 0], [0.1, 0.2, 0.3], sample_weight=[0.0, 1.0, 1.0])



@each_case(
    ("y_true", "options", "message"),
    [
        *[([0, 1, 0], {"max_fpr": value}, "max_fpr") for value in (0, 0.0, -0.1, 1.0001, math.nan, math.inf)],
        ([0, 1, 0], {"average": "median"}, "average"),
        ([0, 1, 0], {"multi_class": "one"}, "multi_class"),
        ([0, 1, 2], {}, r"multi_class.*y_true.*3 classes"),
    ],
)
def test_errors(y_true, options, message):
    assert_raises(ValueError, message, fm.roc_auc_score, y_true, [0.1, 0.2, 0.3], **options)




class TestRealData:
    def test_microsoft_web_visits(self, visits):
        """Reference: scikit-learn 1.9.1 on the same rows (see the data's README)."""
        value = fm.roc_auc_score(visits["label"], visits["score"])
        assert math.isclose(value, 0.9600813796015879, rel_tol=1e-14)
        assert value == float(curves.auc_by_ranks(visits["label"].tolist(), visits["score"].tolist()))

    @each_case("campaign", ["bts_men", "bts_women", "random_men", "random_women"])
    def test_open_bandit_impressions(self, data_folder, campaign):
        """Real clicks against logging propensities: few positives, and a uniform policy is all ties."""
        path = data_folder / "obd" / f"{campaign}.csv.gz"
        y_true, y_score = np.loadtxt(path, delimiter=",", skiprows=1, usecols=(4, 5), unpack=True)
        value = fm.roc_auc_score(y_true, y_score)
        assert value == float(curves.auc_by_ranks(y_true.tolist(), y_score.tolist()))
        assert math.isclose(value, scikit_learn().roc_auc_score(y_true, y_score), rel_tol=1e-12)
        assert fm.ks_statistic(y_true, y_score) == float(curves.ks(y_true.tolist(), y_score.tolist()))
        if campaign.startswith("random"):
            assert value == 0.5
