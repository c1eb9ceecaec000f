"""Classifications of more pairs of labels than memory holds: cells are spilled, and values are the same."""

import pickle
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest

import fastmetrics as fm
from fastmetrics._core.columns.label_columns import ComparedLabels, as_class_labels
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.tables.cell_table import CellTable
from fastmetrics._core.tables.key_table import KeyTable
from fastmetrics.metrics.classification.class_table import ClassTable
from support.cases import assert_raises, each_case
from support.states.spilled_tables import spill_cells

METRICS = [
    "accuracy", "balanced_accuracy", "mcc", "kappa", "kappa(weights=linear)", "kappa(weights=quadratic)",
    "gmean(correction=0.5)", "f1(average=macro)", "f1(average=weighted)", "jaccard(average=micro)",
    "specificity(average=macro)", "fbeta(average=macro, beta=0.5, labels=[7, 5, -1])",
]  # fmt: skip
COLUMNS = {"label": "y", "prediction": "p"}
LIMIT = "4MiB"
CLASSES, ROWS = 300, 3000


def make_log(rows=ROWS, classes=CLASSES, seed=0):
    """A third of the rows are right; the others have almost all pairs of classes."""
    generator = np.random.default_rng(seed)
    label, prediction = generator.integers(0, classes, (2, rows))
    right = generator.random(rows) < 1 / 3
    weight = 2.0 ** generator.integers(-60, 60, rows) * (1 + generator.random(rows))
    return {"y": label, "p": np.where(right, label, prediction), "w": weight, "half": np.arange(rows) % 2}


@pytest.fixture
def spilled(monkeypatch):
    """The sizes of the shards that are written to disk."""
    sizes, spill = [], KeyTable.spill

    def record(table, number, keep_memory):
        sizes.append(table.counter.size(number))
        spill(table, number, keep_memory)

    monkeypatch.setattr(KeyTable, "spill", record)
    return sizes


@contextmanager
def small_tables():
    """All cells move to tables of keys, which spill after some."""
    with pytest.MonkeyPatch.context() as patch:
        spill_cells(patch, 20_000, 1 << 30)
        yield


def values_of(report):
    return [(result.metric, result.slice, result.value.hex(), result.coverage) for result in report]


@each_case(
    "change",
    [
        lambda log: log,
        lambda log: log | {"y": log["y"].astype(str), "p": pa.array(log["p"].astype(str)).dictionary_encode()},
        lambda log: log | {"y": log["y"].astype(np.uint64) << 51, "p": log["p"].astype(np.uint64) << 51},
    ],
    ids=["integers", "texts", "wide integers"],
)
@each_case("options", [{}, {"weight": "w"}, {"by": "half"}, {"weight": "w", "by": "half"}])
def test_spilled_cells_give_the_same_bits(spilled, change, options):
    spilled.clear()
    log = change(make_log())
    metrics = [name for name in METRICS if "labels=" not in name or log["y"].dtype == np.int64]
    whole = fm.evaluate(log, metrics, **COLUMNS, **options)
    assert not spilled
    with small_tables():
        limited = fm.evaluate(log, metrics, **COLUMNS, **options)
    assert sum(spilled) > ROWS // 2
    assert values_of(limited) == values_of(whole)


@each_case(("weight", "rows", "limit"), [(None, 400_000, "64MiB"), ("w", 40_000, "16MiB")])
def test_very_many_classes(spilled, weight, rows, limit):
    """Every row has a class and a cell of its own."""
    spilled.clear()
    label = np.random.default_rng(1).permutation(rows) * 3
    log = {"y": label, "p": np.where(label % 2 == 0, label, np.roll(label, 1)), "w": 1 + np.arange(rows) % 7 / 8}
    metrics = ["accuracy", "f1(average=macro)", "kappa"]
    whole = fm.evaluate(log, metrics, **COLUMNS, weight=weight)
    limited = fm.evaluate(log, metrics, **COLUMNS, weight=weight, memory_limit=limit, n_threads=4)
    assert sum(spilled) > rows // 4
    assert values_of(limited) == values_of(whole)
    assert whole.results[0].coverage == {"rows": rows, "classes": rows}


def table_of(log, is_weighted, budget=None):
    columns = (as_class_labels(pa.array(log[name]), name, int) for name in "yp")
    table = ClassTable()
    table.limit_memory(budget)
    table.add(ComparedLabels(*columns, log["w"] if is_weighted else None))
    return table


@each_case("is_weighted", [False, True])
@each_case("is_text", [False, True])
def test_spilled_tables_are_merged_and_stored(is_weighted, is_text):
    log = make_log(20_000, 3000)
    if is_text:
        log |= {name: log[name].astype(str) for name in "yp"}
    whole, merged = table_of(log, is_weighted), ClassTable()
    merged.limit_memory(MemoryBudget(4 << 20, None, 2))
    for start in range(3):
        part = {name: np.ascontiguousarray(column[start::3]) for name, column in log.items()}
        merged.merge(table_of(part, is_weighted, MemoryBudget(4 << 20, None, 2)))
    assert merged.cells.moved is not None
    assert whole.cells.moved is None
    for table in (merged, pickle.loads(pickle.dumps(merged))):
        assert all(map(np.array_equal, table.arrays(), whole.arrays()))
    found, expected = merged.class_cells(), whole.class_cells()
    assert found.margins == expected.margins
    assert found.by_distance() == expected.by_distance()
    merged.merge(merged)
    assert merged.n_rows == 40_000
    merged.close()
    assert merged.budget.reserved_bytes == merged.budget.state_bytes == 0


@each_case("weight", [None, "w"])
def test_sets_of_many_labels_move(monkeypatch, weight):
    sizes, move = [], CellTable.move_cells
    monkeypatch.setattr(CellTable, "move_cells", lambda table, cells: (sizes.append(cells.size), move(table, cells)))
    generator = np.random.default_rng(3)
    y, p = (pa.array(generator.integers(0, 4000, (4_000, 4)).tolist()) for _ in "yp")
    log = {"y": y, "p": p, "w": generator.random(4_000)}
    metrics = ["accuracy", "f1(average=macro)", "jaccard(average=samples)", "hamming"]
    whole = fm.evaluate(log, metrics, **COLUMNS, weight=weight)
    assert not sizes
    limited = fm.evaluate(log, metrics, **COLUMNS, weight=weight, memory_limit=LIMIT)
    assert sum(sizes) > 4_000
    assert values_of(limited) == values_of(whole)


def test_the_different_labels_stay_in_memory():
    label = np.arange(200_000)
    assert_raises(
        ValueError, "the different labels take more than half of memory_limit=4 MiB", fm.evaluate,
        {"y": label, "p": label}, "accuracy", **COLUMNS, memory_limit=LIMIT,
    )  # fmt: skip


def test_intervals_of_spilled_cells(spilled):
    log = make_log() | {"user": np.arange(ROWS) % 100}
    options = COLUMNS | {"ci": 0.9, "unit": "user", "replicates": 10, "seed": 4}
    whole = fm.evaluate(log, ["accuracy", "f1(average=macro)"], **options)
    with small_tables():
        limited = fm.evaluate(log, ["accuracy", "f1(average=macro)"], **options)
    assert spilled
    assert [result.interval for result in limited] == [result.interval for result in whole]
    assert values_of(limited) == values_of(whole)
