"""Batches with the columns of the one before are read without looking the columns up again."""

import gc
import weakref

import numpy as np
import pyarrow as pa

import fastmetrics as fm
from support.cases import each_case

COLUMNS = {"label": "click", "score": "pctr", "group": "user"}
METRICS = ["auc", "gauc", "logloss"]


def batch_of(seed, rows=50, **types):
    rng = np.random.default_rng(seed)
    arrays = {
        "click": pa.array(rng.integers(0, 2, rows), types.get("click", pa.int8())),
        "pctr": pa.array(rng.random(rows), types.get("pctr", pa.float64())),
        "user": pa.array(rng.integers(0, 9, rows), types.get("user", pa.int64())),
    }
    return pa.RecordBatch.from_pydict(arrays)


def refused_batches():
    good = batch_of(0)
    return {
        "label": good.set_column(0, "click", pa.array([2] * 50, pa.int8())),
        "score": good.set_column(1, "pctr", pa.array([1.5] * 50)),
        "null": good.set_column(2, "user", pa.array([None] * 50, pa.int64())),
        "type": good.set_column(2, "user", pa.array(["a"] * 50)),
        "column": good.select(["click", "pctr"]),
        "nothing": None,
    }


def message_of(state, batch):
    try:
        state.update(batch)
    except (TypeError, ValueError) as error:
        return str(error)
    raise AssertionError("the batch was taken in")


def test_batches_of_one_schema_are_those_of_one_log():
    batches = [batch_of(seed) for seed in range(5)]
    state = fm.Accumulator(METRICS, **COLUMNS)
    for batch in [*batches, batches[0].slice(0, 0)]:
        state.update(batch)
    assert state.result() == fm.evaluate(pa.Table.from_batches(batches), METRICS, **COLUMNS)


@each_case("name", ["label", "score", "null", "type", "column", "nothing"])
def test_refused_batch_leaves_no_trace_between_others(name):
    state = fm.Accumulator(METRICS, **COLUMNS)
    state.update(batch_of(1))
    state.update(batch_of(2))
    fresh = fm.Accumulator(METRICS, **COLUMNS)
    fresh.update(batch_of(1))
    batch = refused_batches()[name]
    messages = [message_of(own, batch) for own in (state, fresh)]
    assert messages[0] == messages[1]
    state.update(batch_of(3))
    log = pa.Table.from_batches([batch_of(seed) for seed in (1, 2, 3)])
    assert state.result() == fm.evaluate(log, METRICS, **COLUMNS)


def test_other_types_that_fit_are_converted_between_batches_of_one_schema():
    batches = [batch_of(1), batch_of(2), batch_of(3, user=pa.int32(), click=pa.float32()), batch_of(4)]
    state = fm.Accumulator(METRICS, **COLUMNS)
    for batch in batches:
        state.update(batch)
    log = pa.Table.from_batches([batch_of(seed) for seed in (1, 2, 3, 4)])
    assert state.result() == fm.evaluate(log, METRICS, **COLUMNS)


def test_expressions_and_filters_are_computed_for_every_batch():
    columns = {"label": "click", "score": "pctr / 2", "where": "user < 5"}
    state = fm.Accumulator(METRICS[:1], **columns)
    for seed in range(3):
        state.update(batch_of(seed))
    log = pa.Table.from_batches([batch_of(seed) for seed in range(3)])
    assert state.result() == fm.evaluate(log, METRICS[:1], **columns)


def test_copy_reads_batches_of_its_own():
    state = fm.Accumulator(METRICS, **COLUMNS)
    state.update(batch_of(1))
    copied = state.copy()
    copied.update(batch_of(2))
    state.update(batch_of(3))
    for own, seeds in ((copied, (1, 2)), (state, (1, 3))):
        log = pa.Table.from_batches([batch_of(seed) for seed in seeds])
        assert own.result() == fm.evaluate(log, METRICS, **COLUMNS)


def test_a_batch_is_released_after_its_update():
    state = fm.Accumulator(METRICS, **COLUMNS)
    for seed in (1, 2, 3):
        batch = batch_of(seed)
        released = weakref.ref(batch)
        state.update(batch)
        del batch
        gc.collect()
        assert released() is None
