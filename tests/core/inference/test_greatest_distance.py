"""Crossed distances beside fractions, and the coverage of the corrected interval."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fastmetrics._core.inference.errors import ErrorEstimate, estimate_error
from fastmetrics._core.inference.greatest_distance import (
    balanced_accuracy_interval,
    best_value_interval,
    corrected_distance,
    crossed_distance,
    distance_interval,
)
from fastmetrics._core.inference.intervals import find_interval
from oracles.inference import distances as oracle
from support.cases import each_case

rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), max_size=25)


def masses(half):
    """Negatives and positives by score, the highest first."""
    return np.array([[half.count((score, label)) for score in range(5, -1, -1)] for label in (0, 1)], np.float64)


@given(rows, rows)
def test_crossed_distances_are_those_of_fractions(first, second):
    found = crossed_distance(masses(first), masses(second))
    exact = oracle.crossed(first, second, range(5, -1, -1))
    if exact is None:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(float(exact), abs=1e-15)


def test_weights_have_no_unit():
    generator = np.random.default_rng(2)
    first, second = generator.random((2, 2, 9))
    assert crossed_distance(first, second) == pytest.approx(crossed_distance(first * 3, second / 7))
    assert crossed_distance(first, second) == crossed_distance(second, first)
    assert math.isnan(crossed_distance(np.zeros((2, 0)), np.zeros((2, 0))))


def test_the_bias_is_taken_off():
    assert corrected_distance(0.4, 0.3) == pytest.approx(0.4 - 0.654 * 0.1)
    assert corrected_distance(0.05, -0.1) == 0.0
    assert corrected_distance(0.4, math.nan) == 0.4


def test_ends_are_those_of_two_scales():
    error = ErrorEstimate(0.03, 50.0, 60, 60)
    for distance, crossed in ((0.4, 0.35), (0.05, 0.02), (0.97, 0.96)):
        corrected = corrected_distance(distance, crossed)
        found = distance_interval(distance, crossed, error, 0.95)
        both = [find_interval(corrected, error, scale, 0.95).ends for scale in ("mean", "share")]
        assert found.ends == (min(low for low, _ in both), max(high for _, high in both))
        assert found.reason == f"around {corrected:.4g}: the greatest distance is biased upwards"
    low, high = distance_interval(0.05, -0.1, error, 0.95).ends
    assert (low, high) == (0.0, pytest.approx(stats.t.isf(0.025, 50) * 0.03))


def test_bounds_few_units_and_no_error():
    for distance, error in (
        (1.0, ErrorEstimate(0.0, 50.0, 60, 60)), (0.5, ErrorEstimate(0.1, 5.0, 60, 6)),
        (0.5, ErrorEstimate(0.0, 50.0, 60, 60)), (0.5, estimate_error(np.array([0.1]), 1)),
        (0.5, estimate_error(np.array([0.1, math.nan]), 2)),
    ):  # fmt: skip
        for interval in (distance_interval, best_value_interval, balanced_accuracy_interval):
            assert interval(distance, 0.3, error, 0.95) == find_interval(distance, error, "share", 0.95)


@each_case(
    ("crossed", "center"),
    [(0.58, 0.6 - 0.654 * 0.02), (0.3, 0.57), (0.61, 0.6), (math.nan, 0.6)],
    ids=["by its bias", "by an error at most", "never upwards", "not without a crossed one"],
)
def test_a_best_value_moves(crossed, center):
    error = ErrorEstimate(0.03, 50.0, 60, 60)
    found, reach = best_value_interval(0.6, crossed, error, 0.95), stats.t.isf(0.025, 50) * 0.03
    assert found.ends == pytest.approx((center - reach, center + reach))
    assert found.reason == f"around {center:.4g}: the greatest value is biased upwards"
    assert best_value_interval(0.99, crossed, error, 0.95).ends[1] == 1.0


def test_a_best_balanced_accuracy_is_a_distance():
    error = ErrorEstimate(0.015, 50.0, 60, 60)
    of_distance = distance_interval(0.4, 0.35, error._replace(standard_error=0.03), 0.95)
    found = balanced_accuracy_interval(0.7, 0.675, error, 0.95)
    assert found.ends == pytest.approx(tuple((1 + end) / 2 for end in of_distance.ends))
    assert found.reason == f"around {0.7 - 0.654 * 0.025:.4g}: the greatest value is biased upwards"


def simulated(generator, shift, n_units):
    """The distance of one log of five rows a unit, its crossed distance, and its error."""
    units = np.repeat(np.arange(n_units), 5)
    positive = generator.random(n_units * 5) < 0.2
    scores = generator.normal(size=n_units * 5) + shift * positive
    order = np.argsort(-scores, kind="stable")
    units, labels = units[order], np.stack((~positive, positive))[:, order].astype(np.float64)
    totals = labels.sum(axis=1, keepdims=True)
    false_rates, true_rates = labels.cumsum(axis=1) / totals
    threshold = int(np.abs(true_rates - false_rates).argmax())
    sign = math.copysign(1.0, true_rates[threshold] - false_rates[threshold])
    changes = np.zeros(n_units)
    for own, total, rate, side in zip(labels, totals[:, 0], (false_rates, true_rates), (-sign, sign), strict=True):
        whole = np.bincount(units, own, n_units)
        above = np.bincount(units[: threshold + 1], own[: threshold + 1], n_units)
        changes += side * (above - rate[threshold] * whole) / total / (1 - whole / total)
    n_effective = min(np.count_nonzero(np.bincount(units, own, n_units)) for own in labels)
    crossed = crossed_distance(*(labels * (units % 2 == half) for half in (0, 1)))
    return abs(true_rates[threshold] - false_rates[threshold]), crossed, estimate_error(changes, n_effective)


def test_the_corrected_interval_covers_where_the_plain_one_does_not():
    generator, true = np.random.default_rng(6), 2 * stats.norm.cdf(0.5 / 2) - 1
    covered = plain = 0
    for _ in range(400):
        distance, crossed, error = simulated(generator, 0.5, 200)
        low, high = distance_interval(distance, crossed, error, 0.95).ends
        covered += low <= true <= high
        low, high = find_interval(distance, error, "share", 0.95).ends
        plain += low <= true <= high
    assert covered / 400 > 0.92
    assert plain / 400 < 0.91


def test_no_difference_is_covered():
    generator, covered = np.random.default_rng(7), 0
    for _ in range(300):
        covered += distance_interval(*simulated(generator, 0.0, 100), 0.95).ends[0] == 0
    assert covered / 300 > 0.87
