"""The interval of a calibration error beside its formula, and its coverage of calibrated and other models."""

import math

import numpy as np
import pytest
from scipy import stats

from fastmetrics._core.inference.calibration_error import calibration_interval, half_normal_covariances
from oracles.inference import calibration_error as oracle
from support.cases import each_case


def simulated(generator, n_units, n_rows, n_bins, tilt=0.0):
    """Bin errors of a log, and what leaving each unit out changes of them. True rates are p + tilt p (p - 0.2)."""
    units = np.repeat(np.arange(n_units), n_rows)
    p = generator.beta(1, 4, n_units * n_rows)
    terms = (generator.random(n_units * n_rows) < np.clip(p + tilt * p * (p - 0.2), 0, 1)) - p
    cells = units * n_bins + np.minimum((p * n_bins).astype(int), n_bins - 1)
    sums = np.bincount(cells, terms, n_units * n_bins).reshape(n_units, n_bins)
    totals, n = sums.sum(axis=0), n_units * n_rows
    return totals / n, totals / n - (totals - sums) / (n - n_rows)


@each_case(("n_units", "tilt"), [(30, 0.0), (300, 1.0), (300, 3.0), (9, 0.0)])
def test_ends_are_those_of_the_formula(n_units, tilt):
    bin_errors, changes = simulated(np.random.default_rng(n_units), n_units, 6, 10, tilt)
    interval, error = calibration_interval(bin_errors, changes, n_units, 0.95)
    covariance = changes.T @ changes * (n_units - 1) / n_units
    signs = np.where(bin_errors < 0, -1, 1)
    assert error.standard_error == pytest.approx(math.sqrt(signs @ covariance @ signs), rel=1e-10)
    exact = oracle.ends(bin_errors.tolist(), covariance.tolist(), stats.t.isf(0.025, error.df))
    assert interval.ends == pytest.approx(exact, rel=1e-9, abs=1e-12)
    assert interval.reason is None


def test_sizes_of_normal_variables():
    generator = np.random.default_rng(1)
    covariance = np.array([[4.0, 1.0, -0.5, 0.0], [1.0, 1.0, 0.2, 0.0], [-0.5, 0.2, 0.5, 0.0], [0.0] * 4])
    sizes = np.abs(generator.multivariate_normal(np.zeros(4), covariance, 400_000))
    found = half_normal_covariances(covariance, np.sqrt(covariance.diagonal()))
    assert np.abs(found - np.cov(sizes.T)).max() < 0.03
    assert found.diagonal() == pytest.approx(covariance.diagonal() * (1 - 2 / math.pi))


def test_no_interval_has_a_reason():
    one_unit = calibration_interval(np.array([0.1, 0.2]), np.array([[0.1, 0.2]]), 1, 0.95)[0]
    assert one_unit == (None, "too few units: 1, and an interval needs at least 2")
    constant = calibration_interval(np.array([0.1, 0.2]), np.zeros((5, 2)), 5, 0.95)[0]
    assert constant == (None, "no unit changes the value, so it has no error to estimate")
    undefined = calibration_interval(np.array([0.1, 0.2]), np.array([[0.1, math.nan], [0.2, 0.1]]), 2, 0.95)[0]
    assert undefined == (None, "too few units: without one of them the value is undefined")


def test_empty_bins_do_not_count():
    bin_errors, changes = simulated(np.random.default_rng(3), 40, 5, 8)
    wider = np.concatenate((bin_errors, np.zeros(7))), np.concatenate((changes, np.zeros((40, 7))), axis=1)
    assert calibration_interval(*wider, 40, 0.95) == calibration_interval(bin_errors, changes, 40, 0.95)


def test_ends_stay_in_the_domain():
    interval, _ = calibration_interval(np.array([0.9]), np.array([[0.5], [-0.4], [0.3]]), 3, 0.95)
    assert interval.ends == (0.0, 1.0)


@each_case(("tilt", "true", "least"), [(0.0, 0.0, 0.9), (1.0, None, 0.94), (3.0, None, 0.94)])
def test_coverage(tilt, true, least):
    generator, covered = np.random.default_rng(9), 0
    if true is None:
        p = generator.beta(1, 4, 1_000_000)
        excess = np.clip(p + tilt * p * (p - 0.2), 0, 1) - p
        true = np.abs(np.bincount(np.minimum((p * 10).astype(int), 9), excess, 10)).sum() / len(p)
    for _ in range(300):
        low, high = calibration_interval(*simulated(generator, 200, 5, 10, tilt), 200, 0.95)[0].ends
        covered += low <= true <= high
    assert covered / 300 > least
