"""The example of a table of keys: values of its definition, and the same bits however a log is read."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.tables.key_table import KeyTable
from fastmetrics.testing import check_metric
from oracles.extend.exposure_gini import exposure_gini
from support.cases import assert_raises, each_case
from support.extend.worked_examples import contents, load_example
from support.states.spilled_logs import counted, small_batches, tiny_memory

COLUMNS = {"score": "score", "group": "user", "item": "item"}
METRICS = ["exposure_gini@1", "exposure_gini@5"]


@pytest.fixture(autouse=True, scope="module")
def example(worked_examples):
    load_example("exposure_gini")


def make_log(rows, users=60, seed=0):
    random = np.random.default_rng(seed)
    return {
        "user": random.integers(0, users, rows), "score": np.round(random.random(rows), 2),
        "item": random.zipf(1.3, rows) % 200 * 10**12, "hour": random.integers(0, 3, rows),
    }  # fmt: skip


def evaluate(log, **options):
    return contents(fm.evaluate(log, METRICS, **COLUMNS, **options))


@st.composite
def small_logs(draw):
    rows = draw(st.integers(1, 30))

    def column(values):
        return np.array(draw(st.lists(values, min_size=rows, max_size=rows)))

    return {
        "user": column(st.integers(0, 4)), "score": column(st.sampled_from([-1.0, 0.0, 0.5]) | st.floats(-9, 9)),
        "item": column(st.integers(-3, 3) | st.sampled_from([2**63 - 1, -(2**63)])),
    }  # fmt: skip


@given(small_logs())
def test_values_are_those_of_the_definition(log):
    report = fm.evaluate(log, METRICS, **COLUMNS)
    lists = (log["user"].tolist(), log["score"].tolist(), log["item"].tolist())
    for k in (1, 5):
        assert report[f"exposure_gini@{k}"] == float(exposure_gini(*lists, k))


def test_the_definition_by_hand():
    """Three lists show item 7 three times and item 8 once: |3 - 1| * 2 / (2 * 2 * 4)."""
    assert exposure_gini([1, 1, 2, 3], [0.9, 0.8, 0.1, 0.2], [7, 8, 7, 7], 5) == 1 / 4


@each_case("by", [None, "hour"])
def test_same_bits(by, monkeypatch):
    log = make_log(5000)
    expected = evaluate(log, by=by, n_threads=1)
    order = np.random.default_rng(1).permutation(5000)
    moved = {name: column[order] for name, column in log.items()}
    for data in (log, moved, pa.table(moved).to_reader(max_chunksize=137)):
        assert evaluate(data, by=by, n_threads=2) == expected
    parts = []
    for rows in (slice(0, 1000), slice(1000, 1001), slice(1001, None)):
        part = fm.Accumulator(METRICS, **COLUMNS, by=by)
        part.update({name: column[rows] for name, column in moved.items()})
        parts.append(fm.Accumulator.from_bytes(part.to_bytes()))
    assert contents(parts[1].merge(parts[2]).merge(parts[0]).result()) == expected
    small_batches(monkeypatch, 300)
    tiny_memory(monkeypatch, 1 << 13)
    with counted() as calls:
        assert evaluate(log, by=by, memory_limit="1MiB", n_threads=1) == expected
    assert calls["spilled"]


def test_the_table_counts_against_the_memory_limit(monkeypatch):
    """Every row shows another item: the table of items is as large as the log."""
    rows = 40_000
    log = make_log(rows, users=rows // 4) | {"item": np.arange(rows) * 10**12}
    expected = evaluate(log, n_threads=1)
    were_spilled = []
    count_values = KeyTable.count_values

    def count(table):
        were_spilled.append(table.spilled)
        return count_values(table)

    monkeypatch.setattr(KeyTable, "count_values", count)
    assert evaluate(log, memory_limit="1MiB", n_threads=1) == expected
    assert any(were_spilled)


def test_weights_are_refused():
    log = {**make_log(50), "weight": np.full(50, 2.0)}
    assert_raises(ValueError, "counts keys, and rows have weights", evaluate, log, weight="weight")


def test_it_passes_all_checks():
    check_metric("exposure_gini@k")
