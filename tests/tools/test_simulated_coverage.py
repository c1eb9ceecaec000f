"""The simulation behind docs/inference.md: what it counts, that it goes on where it ended, and the page of counts."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

from support.cases import each_case

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    not (ROOT / "bench/significance/coverage.json").is_file(), reason="no benchmarks beside the tests"
)


@pytest.fixture
def simulation(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("bench.significance.simulated_coverage")


@pytest.fixture
def logs(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    module = importlib.import_module("bench.significance.simulated_logs")
    monkeypatch.setattr(module, "TRUTH_USERS", 500)
    monkeypatch.setattr(module, "GRID", np.linspace(-8.0, 8.0, 4_001))
    return module


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("bench.significance.coverage_page")


@pytest.fixture
def results(simulation, logs, monkeypatch, tmp_path):
    """No results yet, of small blocks."""
    monkeypatch.setattr(simulation, "BLOCKS", {20: 3})
    monkeypatch.setattr(simulation, "RESULTS", tmp_path / "coverage.json")
    return {"truth": {}, "units": {}, "cells": {}}


def test_the_page_shows_the_counts(page):
    assert page.page_of(json.loads(page.RESULTS.read_text("utf-8"))) == page.PAGE.read_text("utf-8")


@each_case("method", ["linearized", "rows", "bootstrap", "best", "best-bootstrap"])
def test_blocks_are_counted(simulation, logs, method):
    kind = logs.Kind(0.5, False, True)
    counts = simulation.count_block(simulation.Cell(method, 20, kind), 3, 0, simulation.find_truth(method, kind))
    metrics = {
        "best": simulation.OF_BEST, "best-bootstrap": simulation.OF_BEST[:3],
        "rows": [metric for metric in simulation.METRICS if metric not in simulation.OF_GROUPS],
    }.get(method, simulation.METRICS)  # fmt: skip
    tested = () if method.startswith("best") else simulation.TESTED
    assert sorted(counts) == sorted(metrics)
    for metric, (n_logs, intervals, below, above, tests, rejected) in counts.items():
        assert n_logs == intervals == 3
        assert below + above <= 3
        assert rejected <= tests == (3 if metric in tested else 0)


def test_a_run_goes_on_where_the_last_one_ended(simulation, logs, results):
    cells = [simulation.Cell("linearized", 20, logs.KINDS[9])]
    whole = json.loads(json.dumps(results))
    simulation.count_cells(whole, cells, 6, 10.0)
    simulation.count_cells(results, cells, 3, 10.0)
    results = json.loads(simulation.RESULTS.read_text("utf-8"))
    assert results["cells"][cells[0].name()]["blocks"] == 1
    simulation.count_cells(results, cells, 6, 10.0)
    assert results == whole == json.loads(simulation.RESULTS.read_text("utf-8"))
    simulation.count_cells(results, [simulation.Cell("rows", 20, logs.KINDS[9])], 6, 0.0)
    assert results == whole


def test_true_values_are_those_of_a_large_log(logs):
    kind = logs.Kind(0.05, True, True)
    names = ["ctr", "copc", "logloss", "f1(threshold=0.1)", "auc", "ap", "ks"]
    values = logs.true_values(kind, names, ["gauc"])
    assert values["ctr"] == pytest.approx(0.05, rel=1e-12)
    log = logs.simulate(kind, 5_000, 1, [3])
    report = logs.fm.evaluate(log, names, label="click", score="a", group="user", ci=0.999)
    for one in report:
        low, high = one.interval
        assert low < values[one.metric] < high
    assert 0.6 < values["gauc"] < 0.8


def test_users_are_drawn_anew(logs):
    kind = logs.Kind(0.05, True, False)
    first, second = (logs.simulate(kind, 20, 2, [seed]) for seed in (1, 2))
    assert np.bincount(first["user"]).tolist() != np.bincount(second["user"]).tolist()
    assert set(zip(first["log"].tolist(), first["user"].tolist(), strict=True)) == {
        (log, user) for log in range(2) for user in range(20)
    }
    found = logs.users_with(kind, 20)
    assert found["both"] <= min(found["positive"], found["negative"]) <= 20
