"""Additive statistics of many unit buckets in one call: the same states as bucket by bucket."""

from __future__ import annotations

import numpy as np
import pytest

from fastmetrics._core.columns.row_blocks import Rows
from fastmetrics._core.registry import parse
from fastmetrics._core.resampling.unit_state_table import UnitStateTable
from fastmetrics._core.statistic import ByUnit
from support.cases import each_case

METRICS = ["logloss", "ne", "brier", "copc", "ctr", "accuracy", "f1", "mse", "mae", "mape", "rmsle", "pinball"]
BOUNDS = np.array([0, 1, 4, 4 + 300, 4 + 300 + 2000], np.int64)


def statistics_of(name):
    found = [own for own in parse(name).statistics() if isinstance(own, ByUnit)]
    assert found, "the metric takes the slow path"
    return found


@pytest.mark.parametrize("name", METRICS)
@each_case("dtype", [np.float32, np.float64])
@each_case("weighted", [False, True])
def test_rows_of_many_units_equal_single_updates(name, dtype, weighted):
    random = np.random.default_rng(5)
    n = int(BOUNDS[-1])
    labels = (random.random(n) < 0.4).astype(np.uint8)
    scores = random.random(n).astype(dtype)
    weights = random.random(n) + 0.1 if weighted else None
    for statistic in statistics_of(name):
        together = UnitStateTable(statistic, len(BOUNDS) - 1)
        order = random.permutation(n)
        numbers = np.repeat(np.arange(len(BOUNDS) - 1, dtype=np.int32), np.diff(BOUNDS))[order]
        mixed = Rows(labels[order], scores[order], None if weights is None else weights[order], eps=2.0**-23)
        statistic.update_units(together, mixed, numbers)
        together.normalise()
        one_by_one = UnitStateTable(statistic, len(BOUNDS) - 1)
        for number, (start, stop) in enumerate(zip(BOUNDS[:-1].tolist(), BOUNDS[1:].tolist(), strict=True)):
            part = Rows(labels[start:stop], scores[start:stop], None if weights is None else weights[start:stop],
                        eps=2.0**-23)
            statistic.update(one_by_one.state(number), part)
        assert (together.counts == one_by_one.counts).all()
        assert (together.exact == one_by_one.exact).all()


@each_case("name", ["logloss(eps=1e-15)", "logloss(eps=1e-60)", "logloss(eps=0.3)", "logloss(sampling_rate=0.1)"])
@each_case("dtype", [np.float32, np.float64])
def test_clipped_rows_of_units(name, dtype):
    scores = np.array([0, 1, 1e-16, 1e-8, 0.2, 0.7, 0.8, 1 - 1e-7, 1 - 2**-53], dtype).repeat(2)
    rows = Rows(np.arange(scores.shape[0], dtype=np.uint8) % 2, scores, None)
    (statistic,) = [own for own in statistics_of(name) if hasattr(own, "eps")]
    table = UnitStateTable(statistic, scores.shape[0])
    statistic.update_units(table, rows, np.arange(scores.shape[0], dtype=np.int32))
    for row in range(scores.shape[0]):
        state = statistic.empty()
        statistic.update(state, Rows(rows.labels[row : row + 1], scores[row : row + 1], None))
        assert table.counts[row] == state.counts
