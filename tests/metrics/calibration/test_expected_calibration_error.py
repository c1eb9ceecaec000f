"""COPC, PCOC and expected calibration error against exact sums and the oracle of bins."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles import probability
from oracles.calibration import copc as oracle
from oracles.sums import rounded
from support import strategies
from support.cases import assert_raises, assert_undefined, each_case
from support.probability_cases import ROUNDINGS, is_close, weights_with_two_positive

STRATEGIES = ["uniform", "quantile"]


@given(strategies.labeled_probabilities())
def test_copc_and_pcoc_are_rounded_once(case):
    y_true, y_proba = case
    expected = oracle.copc(y_true, y_proba)
    if expected is not None:
        assert fm.copc(y_true, y_proba) == rounded(expected)
        assert fm.pcoc(y_true, y_proba) == rounded(oracle.pcoc(y_true, y_proba))


@given(strategies.labeled_probabilities(), st.data())
def test_weighted_copc(case, data):
    y_true, y_proba = case
    weights = weights_with_two_positive(data, len(y_true))
    expected = oracle.copc(y_true, y_proba, weights)
    # Below the normal range a product of weight and probability has fewer digits than a double's.
    if expected is None or min(p for p in [*y_proba.tolist(), 1.0] if p > 0) < 1e-290:
        return
    assert is_close(fm.copc(y_true, y_proba, sample_weight=weights), expected, 2 * ROUNDINGS)


def test_copc_and_pcoc_without_a_denominator_are_nan_with_a_warning():
    assert_undefined("", fm.copc, [1, 0], [0.0, 0.0])
    assert_undefined("", fm.pcoc, [0, 0], [0.1, 0.2])
    assert fm.copc([0, 0], [0.1, 0.2]) == 0.0


NORMS = ["l1", "l2", "max"]


@each_case("norm", NORMS)
@each_case("strategy", STRATEGIES)
@given(
    case=strategies.labeled_probabilities(min_size=1, both_classes=False),
    n_bins=st.sampled_from([1, 2, 3, 10, 15, 64]),
)
def test_calibration_error(strategy, norm, case, n_bins):
    y_true, y_proba = case
    expected = probability.ece(y_true.tolist(), y_proba.tolist(), n_bins, strategy, norm)
    value = fm.expected_calibration_error(y_true, y_proba, n_bins=n_bins, strategy=strategy, norm=norm)
    # The gap of two nearly equal means has few digits of its own: compare on the scale of a probability.
    assert math.isclose(value, float(expected), rel_tol=1e-13, abs_tol=1e-15)


@pytest.mark.parametrize("norm", NORMS)
@given(case=strategies.labeled_probabilities(), data=st.data())
def test_weighted_calibration_error_in_uniform_bins(norm, case, data):
    y_true, y_proba = case
    weights = weights_with_two_positive(data, len(y_true))
    expected = probability.ece(y_true.tolist(), y_proba.tolist(), 10, "uniform", norm, weights)
    value = fm.expected_calibration_error(y_true, y_proba, n_bins=10, norm=norm, sample_weight=weights)
    assert math.isclose(value, float(expected), rel_tol=1e-9, abs_tol=1e-12)


@each_case("strategy", STRATEGIES)
@each_case("n_bins", [1, 7, 10, 15, 100])
def test_calibration_error_at_bin_edges(n_bins, strategy):
    """Probabilities at k / n_bins and the neighboring floats, where an index is easily off by one."""
    edges = np.arange(n_bins + 1) / n_bins
    y_proba = np.clip(np.concatenate([edges, np.nextafter(edges, 0.0), np.nextafter(edges, 1.0)]), 0.0, 1.0)
    y_true = np.random.default_rng(n_bins).integers(0, 2, len(y_proba))
    for norm in NORMS:
        expected = probability.ece(y_true.tolist(), y_proba.tolist(), n_bins, strategy, norm)
        value = fm.expected_calibration_error(y_true, y_proba, n_bins=n_bins, strategy=strategy, norm=norm)
        assert math.isclose(value, float(expected), rel_tol=1e-12, abs_tol=1e-15)


@each_case("strategy", STRATEGIES)
@each_case("dtype", strategies.SCORE_DTYPES)
def test_calibration_error_of_many_rows(dtype, strategy):
    log = strategies.click_log(30_011, seed=9, dtype=dtype, levels=5000)
    y_true, y_proba = log["label"], log["prob"]
    expected = probability.ece(y_true.tolist(), y_proba.tolist(), 15, strategy)
    value = fm.expected_calibration_error(y_true, y_proba, strategy=strategy)
    assert math.isclose(value, float(expected), rel_tol=1e-12)


@each_case(
    "options", [{"n_bins": 0}, {"n_bins": -1}, {"n_bins": 2.5}, {"strategy": "adaptive"}, {"norm": "l3"}], ids=str
)
def test_bad_calibration_options_are_named(options):
    (name,) = options
    assert_raises((ValueError, TypeError), name, fm.expected_calibration_error, [0, 1], [0.2, 0.3], **options)
