"""Intervals of additive metrics whose rows are not kept: the same bits as from rows that are."""

from __future__ import annotations

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core.columns.row_blocks import BLOCK_ROWS
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics.engine.partial import states_by_unit
from fastmetrics.engine.partial.part_state import PartState
from support.cases import each_case

METRICS = ["logloss", "ne", "brier", "copc", "ctr", "accuracy", "f1", "mse", "mae", "mape", "rmsle", "pinball"]
COLUMNS = {"label": "click", "score": "pctr", "unit": "user"}
FEW, MANY = 500, 40_000  # users of the first rows and of all: only with more than 16,384 are buckets prefixes


@pytest.fixture(scope="module")
def log():
    random = np.random.default_rng(3)
    n = 2 * BLOCK_ROWS + 50_000
    pctr = random.random(n) ** 8
    users = random.integers(0, MANY, n)
    users[: BLOCK_ROWS + 1000] %= FEW
    return {
        "click": (random.random(n) < pctr).astype(np.int8),
        "pctr": np.where(random.random(n) < 0.001, 0.0, pctr),
        "user": users,
        "weight": random.uniform(0.1, 3.1, n),
    }


def intervals(log, metrics, **options):
    report = fm.evaluate(log, metrics, **COLUMNS, ci=0.95, replicates=20, seed=3, **options)
    return [(report[name], report.result(name).interval, report.result(name).coverage) for name in metrics]


@pytest.fixture
def rows_kept(monkeypatch):
    """Evaluate with the exchange by unit."""
    monkeypatch.setattr(states_by_unit, "can_add_by_unit", lambda *arguments: False)


@pytest.fixture(scope="module")
def expected(log):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(states_by_unit, "can_add_by_unit", lambda *arguments: False)
        return {weight: intervals(log, METRICS, weight=weight) for weight in (None, "weight")}


@each_case("weight", [None, "weight"])
@each_case("n_threads", [1, 2])
def test_equal_to_rows_that_are_kept(log, expected, weight, n_threads):
    assert intervals(log, METRICS, weight=weight, n_threads=n_threads) == expected[weight]


@each_case("memory_limit", ["1MiB", "64MiB", "4GiB"])
def test_any_memory_limit(log, expected, memory_limit):
    assert intervals(log, METRICS, memory_limit=memory_limit) == expected[None]


def test_any_order_of_rows(log, expected):
    order = np.random.default_rng(4).permutation(log["user"].shape[0])
    shuffled = {name: column[order] for name, column in log.items()}
    assert intervals(shuffled, METRICS, weight="weight") == expected["weight"]


def test_rows_as_units(log):
    columns = {"label": "click", "score": "pctr"}
    found = fm.evaluate(log, ["logloss", "brier"], **columns, ci=0.95, replicates=20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(states_by_unit, "can_add_by_unit", lambda *arguments: False)
        rows_of_log = fm.evaluate(log, ["logloss", "brier"], **columns, ci=0.95, replicates=20)
    for name in ("logloss", "brier"):
        assert found.result(name).interval == rows_of_log.result(name).interval


def test_rows_are_not_stored(log, monkeypatch):
    stored = []
    exchange_block = PartState.exchange_block
    monkeypatch.setattr(
        PartState, "exchange_block",
        lambda own, batch, worker: (stored.append(batch.columns.rows), exchange_block(own, batch, worker)),
    )  # fmt: skip
    intervals(log, ["logloss"], n_threads=1)
    assert stored == [BLOCK_ROWS], "only the rows before the 16,385th user are stored"
    intervals(log, ["logloss", "auc"], n_threads=1)
    assert sum(stored) == BLOCK_ROWS + log["user"].shape[0], "AUC needs all rows"


def test_the_disk_is_checked_for_rows_that_are_kept(log, monkeypatch):
    needed = []
    monkeypatch.setattr(MemoryBudget, "check_disk_space", lambda own, n_bytes: needed.append(n_bytes))
    columns = COLUMNS | {"ci": 0.9, "replicates": 2}
    fm.evaluate(log, "logloss", **columns)
    fm.evaluate(log | {"site": log["user"] % 3}, "logloss", by="site", **columns)
    assert needed[0] == 0
    assert needed[1] >= 13 * log["user"].shape[0]


@each_case("metric", ["logloss", "mae"])
def test_rows_that_are_dropped(log, metric, rows_kept, monkeypatch):
    bad = log | {"pctr": log["pctr"].copy(), "user": log["user"].astype(object)}
    bad["pctr"][::7] = np.nan
    bad["user"][::11] = None
    options = {"on_invalid": "drop", "n_threads": 2}
    kept = intervals(bad, [metric], **options)
    monkeypatch.undo()
    assert intervals(bad, [metric], **options) == kept
    assert intervals(bad, [metric], weight="weight", **options) != kept


def test_tables_of_many_models_would_take_too_much(log, monkeypatch):
    taken = []
    can_add = states_by_unit.can_add_by_unit
    monkeypatch.setattr(states_by_unit, "can_add_by_unit", lambda *own: taken.append(can_add(*own)) or taken[-1])
    models = {f"model {number}": log["pctr"] for number in range(30)}
    few = {name: column[:100] for name, column in (log | models).items()}
    columns = {"label": "click", "unit": "user", "ci": 0.9, "replicates": 2, "n_threads": 2}
    fm.evaluate(few, "logloss", score=list(models)[:2], memory_limit="1GiB", **columns)
    fm.evaluate(few, "logloss", score=list(models), memory_limit="1GiB", **columns)
    assert taken == [True, False]


def test_slices_and_models(log, rows_kept, monkeypatch):
    two_models = log | {"other": log["pctr"] ** 2, "site": log["user"] % 3}
    columns = {"label": "click", "score": ["pctr", "other"], "unit": "user", "ci": 0.9, "replicates": 10}
    options = [columns, columns | {"by": "site"}]
    kept = [fm.evaluate(two_models, ["logloss", "mae"], **own).to_dict()["results"] for own in options]
    monkeypatch.undo()
    found = [fm.evaluate(two_models, ["logloss", "mae"], **own).to_dict()["results"] for own in options]
    assert [len(results) for results in found] == [4, 16]
    assert found == kept


def test_compare(log, rows_kept, monkeypatch):
    two_models = log | {"other": log["pctr"] ** 2}
    columns = {"label": "click", "score": ["pctr", "other"], "unit": "user", "replicates": 20}
    kept = fm.compare(two_models, METRICS, **columns).to_dict()["differences"]
    monkeypatch.undo()
    assert fm.compare(two_models, METRICS, **columns).to_dict()["differences"] == kept
    assert len(kept) == len(METRICS)


@each_case("row", [5, BLOCK_ROWS + 7, 2 * BLOCK_ROWS + 40_000])
@each_case("metric", ["logloss", "brier", "copc", "mae"])
def test_errors_name_the_same_row(log, row, metric, rows_kept, monkeypatch):
    bad = log | {"pctr": log["pctr"].copy()}
    bad["pctr"][row] = np.inf
    with pytest.raises(ValueError, match=str(row)) as kept:
        intervals(bad, [metric], n_threads=1)
    monkeypatch.undo()
    with pytest.raises(ValueError, match=str(row)) as found:
        intervals(bad, [metric], n_threads=1)
    assert str(found.value) == str(kept.value)


def test_squares_that_vanish_have_a_reason(log):
    tiny = log | {"pctr": log["pctr"] * 1e-200, "click": log["pctr"] * 2e-200}
    result = fm.evaluate(tiny, ["mse"], **COLUMNS, ci=0.95, replicates=5).result("mse")
    assert np.isnan(result.value)
    assert "lost digits" in result.reason


def test_standard_error_of_values_whose_squares_overflow(log):
    large = log | {"pctr": log["pctr"] * 2.0**600, "click": log["pctr"] * 2.0**601}
    options = COLUMNS | {"ci": 0.95, "replicates": 20, "seed": 3}
    scaled = fm.evaluate(log | {"click": 2 * log["pctr"]}, ["mae"], **options).result("mae")
    result = fm.evaluate(large, ["mae"], **options).result("mae")
    assert result.standard_error == pytest.approx(scaled.standard_error * 2.0**600, rel=1e-12)
    assert result.interval == tuple(bound * 2.0**600 for bound in scaled.interval)
