"""A group says which column of the log has the keys: metrics that do not read it take no notice of it."""

import numpy as np
import pytest

import fastmetrics as fm

ROWS = 60
CHANCE = np.random.default_rng(4)
GROUPED = {"click": CHANCE.integers(0, 2, ROWS), "score": CHANCE.random(ROWS), "user": np.arange(ROWS) % 12}


@pytest.mark.parametrize("metrics", [["auc"], ["auc", "logloss"], ["gauc(group=user)"]])
def test_the_columns_of_a_log_can_be_named_once(metrics):
    named = fm.evaluate(GROUPED, metrics, label="click", score="score", group="user")
    plain = fm.evaluate(GROUPED, metrics, label="click", score="score")
    assert [result.value for result in named] == [result.value for result in plain]
