"""Weights of every size: a power of two in all weights of a class changes no share, and nothing under- or overflows."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics.testing.function_cases import function_case
from fastmetrics.testing.function_checks import rows_of, values


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e-160, 1e160, 1e300])
def test_ks_of_any_scale(scale):
    assert fm.ks_statistic([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], sample_weight=np.full(4, scale)) == 0.5


@pytest.mark.parametrize("negative", [1e300, 1.0, 1e-30, 1e-300])
@pytest.mark.parametrize("positive", [1e300, 1.0, 1e-20, 1e-300])
def test_auc_of_classes_of_different_scale(negative, positive):
    weights = [negative, positive, negative, positive]
    assert fm.roc_auc_score([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], sample_weight=weights) == 0.75


def test_small_groups_do_not_vanish_beside_large_ones():
    """Weights are scaled within a group: other groups do not change its value."""
    y_true = [0, 1, 0, 1, 0, 1]
    y_score = [0.1, 0.2, 0.3, 0.4, 0.6, 0.5]
    groups = [1, 1, 2, 2, 3, 3]
    for small in (1e-20, 1e-163, 1e-300):
        weights = [1e300, 1e300, small, small, 1.0, 1.0]
        value = fm.gauc_score(y_true, y_score, groups, sample_weight=weights, weight="uniform")
        assert value == pytest.approx(2 / 3, rel=1e-15)
        assert fm.auc_by_group(y_true, y_score, groups, sample_weight=weights).auc.tolist() == [1.0, 1.0, 0.0]


def test_partial_auc_does_not_depend_on_the_order():
    random = np.random.default_rng(5)
    y_true = random.integers(0, 2, 400)
    y_score = random.integers(0, 8, 400) / 8
    weights = random.random(400)
    values = set()
    for _ in range(20):
        order = random.permutation(400)
        values.add(fm.roc_auc_score(y_true[order], y_score[order], sample_weight=weights[order], max_fpr=0.3))
    assert len(values) == 1


def test_a_base_rate_that_rounds_to_zero_is_undefined():
    with pytest.warns(fm.UndefinedMetricWarning, match="base rate"):
        assert math.isnan(fm.normalized_entropy([1, 0], [0.5, 0.5], sample_weight=[5e-324, 1e300]))
    assert fm.normalized_entropy([1, 0], [0.5, 0.5], sample_weight=[1e-100, 1e100]) > 1


def test_weights_are_in_the_signature():
    log = {"y": [0, 1, 0, 1], "s": [0.1, 0.2, 0.3, 0.4], "w": [1.0, 2.0, 3.0, 4.0]}
    plain = fm.evaluate(log, ["auc"], label="y", score="s")
    weighted = fm.evaluate(log, ["auc"], label="y", score="s", weight="w")
    assert plain.result("auc").signature != weighted.result("auc").signature
    assert "weight:w" in weighted.result("auc").signature


EXACT_POWERS = 600


def numbers_in(value):
    """All numbers of a result, in a fixed order."""
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers_in(item)]
    if isinstance(value, (list, tuple)):
        return [number for item in value for number in numbers_in(item)]
    if isinstance(value, np.ndarray):
        return [number for item in value.ravel().tolist() for number in numbers_in(item)]
    if hasattr(value, "__dict__"):
        return numbers_in(vars(value))
    return [float(value)] if isinstance(value, (int, float)) else []


def is_same(expected, found, power):
    """The same number, or the same sum of scaled terms; of very small weights up to the rounding of 300 products."""
    scaled = math.ldexp(expected, power)
    if abs(power) <= EXACT_POWERS:
        return found in (expected, scaled) or (math.isnan(expected) and math.isnan(found))
    close = math.isclose(found, expected, rel_tol=1e-14) or math.isclose(found, scaled, rel_tol=1e-14)
    return close or abs(found - scaled) <= 300 * 5e-324 or (math.isnan(expected) and math.isnan(found))


def is_weighted(function):
    if isinstance(function, type):
        return False
    case = function_case(function)
    return case is not None and case.weighted


WEIGHTED = [name for name in sorted(fm.__all__) if callable(getattr(fm, name)) and is_weighted(getattr(fm, name))]


@pytest.mark.parametrize("power", [-1060, -1040, -600, -100, 400, 600, 990])
def test_no_function_depends_on_the_scale_of_the_weights(power):
    """All weights times a power of two: every result is the same, or is a sum of weights and is scaled too."""
    log = rows_of(300)
    weights = np.random.default_rng(0).integers(0, 4, 300).astype(np.float64)
    weights[:2] = 1
    assert len(WEIGHTED) > 40
    for name in WEIGHTED:
        case = function_case(getattr(fm, name))
        expected = numbers_in(values(case, {**log, "weight": weights}))
        found = numbers_in(values(case, {**log, "weight": np.ldexp(weights, power)}))
        assert len(found) == len(expected), name
        assert all(map(is_same, expected, found, [power] * len(found))), name


def test_a_negative_weight_is_named_as_it_was_given():
    with pytest.raises(ValueError, match="sample_weight has -1e-300 at row 1"):
        fm.average_precision_score([0, 1], [0.1, 0.2], sample_weight=[1e-300, -1e-300])
