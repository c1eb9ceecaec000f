"""Weights of every size: a power of two in all weights of a class changes no share, and nothing under- or overflows."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fastmetrics as fm


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
