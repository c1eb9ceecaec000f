"""Additive statistics of many unit buckets in one call: the same states as bucket by bucket."""

from __future__ import annotations

import numpy as np
import pytest

from fastmetrics._core.columns.binary_probabilities import LabelCounts
from fastmetrics._core.columns.row_blocks import Rows
from fastmetrics._core.registry import parse
from fastmetrics._core.resampling.additive_replicates import JackknifeStates
from fastmetrics._core.resampling.unit_state_table import UnitStateTable
from fastmetrics._core.statistic import ByUnit, adds_by_unit
from fastmetrics.metrics.calibration.calibration_bins import CalibrationBins
from fastmetrics.metrics.calibration.expected_calibration_error import TopLabelBins
from support.cases import each_case

METRICS = [
    "logloss", "ne", "brier", "copc", "ctr", "accuracy", "f1", "mse", "mae", "mape", "rmsle", "pinball", "ece",
    "ece(n_bins=1)", "ece(n_bins=37)", "ece(sampling_rate=0.1)",
]  # fmt: skip
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
        together.normalize()
        one_by_one = UnitStateTable(statistic, len(BOUNDS) - 1)
        for number, (start, stop) in enumerate(zip(BOUNDS[:-1].tolist(), BOUNDS[1:].tolist(), strict=True)):
            part = Rows(labels[start:stop], scores[start:stop], None if weights is None else weights[start:stop],
                        eps=2.0**-23)
            statistic.update(one_by_one.state(number), part)
        assert (together.counts == one_by_one.counts).all()
        assert (together.exact == one_by_one.exact).all()


@each_case("dtype", [np.float32, np.float64])
@each_case("weighted", [False, True])
def test_bins_of_the_most_probable_class(dtype, weighted):
    random = np.random.default_rng(6)
    n = int(BOUNDS[-1])
    scores = random.dirichlet((1, 1, 1), n).astype(dtype)
    rows = Rows(random.integers(0, 3, n), scores, random.random(n) + 0.1 if weighted else None)
    numbers = np.repeat(np.arange(len(BOUNDS) - 1, dtype=np.int32), np.diff(BOUNDS))
    together = UnitStateTable(TopLabelBins(15), len(BOUNDS) - 1)
    TopLabelBins(15).update_units(together, rows, numbers)
    together.normalize()
    for number, (start, stop) in enumerate(zip(BOUNDS[:-1].tolist(), BOUNDS[1:].tolist(), strict=True)):
        state = TopLabelBins(15).empty()
        weights = None if rows.weights is None else rows.weights[start:stop]
        TopLabelBins(15).update(state, Rows(rows.labels[start:stop], scores[start:stop], weights))
        assert (together.counts[number] == state.counts).all()
        assert (together.exact[number] == state.exact).all()


@each_case("bad", [-0.5, 1.5, np.nan])
def test_bins_refuse_what_is_no_probability(bad):
    rows = Rows(np.array([0, 1], np.uint8), np.array([0.5, bad]), None)
    table = UnitStateTable(CalibrationBins(4), 1)
    with pytest.raises(ValueError, match="row 1"):
        CalibrationBins(4).update_units(table, rows, np.zeros(2, np.int32))


@each_case("edges", ["equal", np.array([0.25, 0.5, 0.75])])
def test_all_rules_of_bins(edges):
    scores = np.array([0, 0.25, np.nextafter(0.25, 1), 0.5, 0.7, 0.75, 1.0])
    rows = Rows(np.arange(7, dtype=np.uint8) % 2, scores, None)
    table, state = UnitStateTable(CalibrationBins(4, None, edges), 1), CalibrationBins(4, None, edges).empty()
    CalibrationBins(4, None, edges).update_units(table, rows, np.zeros(7, np.int32))
    CalibrationBins(4, None, edges).update(state, rows)
    table.normalize()
    assert (table.counts[0] == state.counts).all()
    assert (table.exact[0] == state.exact).all()


def test_a_range_of_hashes_without_rows_of_some_slices():
    states = JackknifeStates(LabelCounts(), 4, 3)
    states.add_range(2, UnitStateTable(LabelCounts(), 6))
    assert not states.used().any()


def test_states_of_many_numbers_are_added_one_by_one():
    assert adds_by_unit(CalibrationBins(15))
    assert not adds_by_unit(CalibrationBins(1000))


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
