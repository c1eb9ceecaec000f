"""Accumulators under a memory limit: rows spill as those of `evaluate` do, and the bits are the same."""

import copy
import os
import pickle

import numpy as np
import pyarrow as pa
import pytest

import fastmetrics as fm
from fastmetrics._core.exchange.spill import SpillFile
from fastmetrics._core.tables.key_table import KeyTable
from support.cases import assert_raises, each_case

ROWS = 120_000
LIMIT = "1MiB"
METRICS = ["auc", "gauc", "ks", "ndcg@5", "logloss", "rmse"]
COLUMNS = {"label": "y", "score": "p", "group": "u"}


@pytest.fixture(scope="module")
def log():
    chance = np.random.default_rng(12)
    users = np.array([f"user with a long name {number}" for number in range(4000)])
    return pa.table({
        "y": chance.integers(0, 2, ROWS), "p": chance.random(ROWS), "q": chance.random(ROWS).astype(np.float32),
        "u": chance.integers(0, 4000, ROWS), "t": users[chance.integers(0, 4000, ROWS)],
        "by": chance.integers(0, 3, ROWS), "w": chance.integers(0, 3, ROWS).astype(float),
    })  # fmt: skip


def fill(log, batch_rows, metrics=METRICS, **options):
    state = fm.Accumulator(metrics, memory_limit=LIMIT, **{**COLUMNS, **options})
    for batch in log.to_batches(max_chunksize=batch_rows):
        state.update(batch)
    return state


def is_spilled(state):
    stores = [store for part in state._state.parts for store in part.stores()]
    return any(store.spilled_blocks for store in stores)


@each_case("batch_rows", [1000, 40_000, ROWS])
@each_case(
    "options",
    [
        {}, {"by": "by"}, {"group": "t"}, {"weight": "w", "metrics": ["auc", "gauc", "logloss"]}, {"score": ["p", "q"]},
        {"ci": 0.9, "replicates": 5, "group": "t"}, {"ci": 0.9, "replicates": 5, "unit": "t", "metrics": ["auc"]},
    ],
)  # fmt: skip
def test_spilled_rows_give_the_same_bits(log, batch_rows, options):
    options = {"metrics": METRICS, **options}
    state = fill(log, batch_rows, **options)
    state.flush()
    assert is_spilled(state)
    assert state.result() == fm.evaluate(log, **{**COLUMNS, **options})


def test_results_copies_merges_and_bytes(log):
    whole = fm.evaluate(log, METRICS, **COLUMNS)
    parts = [fill(log.slice(first, 40_000), 9000) for first in range(0, ROWS, 40_000)]
    before = [part.result() for part in parts]
    merged = fill(log.slice(0, 0), 1)
    for part in parts:
        merged.merge(part)
    assert merged.result() == merged.result() == whole
    assert [part.result() for part in parts] == before
    again = fm.Accumulator.from_bytes(merged.to_bytes(), memory_limit=LIMIT)
    assert is_spilled(again)
    assert again.result() == whole
    assert fm.Accumulator.from_bytes(again.to_bytes()).result() == whole
    for own in (copy.copy(merged), copy.deepcopy(merged), pickle.loads(pickle.dumps(merged))):
        assert own.result() == whole
        own.update(log)
        assert own.rows == 2 * ROWS
    assert merged.result() == whole


def test_more_rows_after_a_result(log):
    state = fill(log.slice(0, 70_000), 5000)
    assert state.result() == fm.evaluate(log.slice(0, 70_000), METRICS, **COLUMNS)
    state.update(log.slice(70_000))
    assert state.result() == fm.evaluate(log, METRICS, **COLUMNS)


def test_a_full_disk_loses_no_row(log, monkeypatch):
    state = fill(log.slice(0, 60_000), 20_000)
    state.flush()
    written = []

    def full(self, arrays):
        written.append(len(arrays))
        raise self._error(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(SpillFile, "append", full)
        state.update(log.slice(60_000))  # its rows wait
        assert_raises(OSError, "No space left on device.*spill_dir", state.flush)
    assert written
    assert state.result() == fm.evaluate(log, METRICS, **COLUMNS)


def test_a_refused_batch_leaves_spilled_rows(log):
    state = fill(log, 30_000)
    bad = {"y": [0, 2], "p": [0.5, 0.5], "u": [1, 2]}
    assert_raises(ValueError, "label column 'y' has 2 at row 1", state.update, bad)
    assert state.result() == fm.evaluate(log, METRICS, **COLUMNS)


@each_case(
    ("options", "error", "words"),
    [
        ({"memory_limit": "a lot"}, ValueError, "memory_limit"),
        ({"memory_limit": 1000}, ValueError, "memory_limit must be at least 1 MiB"),
        ({"spill_dir": "/no/such/folder"}, OSError, "/no/such/folder"),
    ],
)
def test_wrong_limits(options, error, words):
    assert_raises(error, words, fm.Accumulator, "auc", label="y", score="p", **options)


def test_nothing_is_left_in_the_spill_folder(log, tmp_path):
    state = fill(log, 30_000, spill_dir=tmp_path)
    assert state.result()["auc"] == fm.evaluate(log, "auc", **COLUMNS)["auc"]
    assert os.listdir(tmp_path) == []


class TestTables:
    """Tables of label pairs and of keys spill in accumulators as they do in `evaluate`."""

    @pytest.fixture
    def spills(self, monkeypatch):
        """How many shards of tables were written."""
        written = []
        spill = KeyTable.spill

        def count_and_spill(own, number, *how, **options):
            written.append(number)
            return spill(own, number, *how, **options)

        monkeypatch.setattr(KeyTable, "spill", count_and_spill)
        return written

    @pytest.fixture
    def labels(self):
        chance = np.random.default_rng(3)
        return pa.table({
            "y": chance.integers(0, 200, ROWS), "p": chance.integers(0, 200, ROWS), "w": chance.random(ROWS).round(2),
            "by": chance.integers(0, 2, ROWS),
        })  # fmt: skip

    @each_case("options", [{}, {"by": "by"}])
    def test_pairs_of_labels(self, labels, spills, options):
        metrics, columns = ["ari", "purity", "mutual_info"], {"label": "y", "score": "p", **options}
        expected = fm.evaluate(labels, metrics, **columns)
        spills.clear()
        parts = []
        for rows in (labels.slice(0, 50_000), labels.slice(50_000)):
            state = fm.Accumulator(metrics, **columns, memory_limit=LIMIT)
            for batch in rows.to_batches(max_chunksize=7000):
                state.update(batch)
            parts.append(state)
        assert spills
        first, second = parts
        before = second.result()
        again = fm.Accumulator.from_bytes(second.to_bytes(), memory_limit=LIMIT)
        copied = first.copy()
        assert first.merge(second).result() == expected
        assert copied.merge(again).result() == expected
        assert second.result() == before

    def test_a_refused_batch_leaves_nothing(self, labels, spills):
        columns = {"label": "y", "score": "p"}
        state = fm.Accumulator("ari", **columns, memory_limit=LIMIT)
        state.update(labels)
        before, found = state.to_bytes(), state.result()
        bad = pa.table({"y": pa.array([*range(60_000), None]), "p": pa.array([*range(60_001)])})
        assert spills
        assert_raises(ValueError, "null at row 60000", state.update, bad)
        assert state.result() == found
        assert state.to_bytes() == before
