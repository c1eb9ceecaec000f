"""Small batches that are sure to be valid are gathered: nothing else tells them from others."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics.engine.partial import partial_state
from fastmetrics.engine.partial.partial_state import PartialState
from fastmetrics.engine.partial.waiting_rows import GatheredColumn
from support.cases import each_case

COLUMNS = {"label": "click", "score": "pctr", "group": "user", "weight": "weight"}
METRICS = ["auc", "gauc", "logloss", "ctr"]
LABELS = {
    "int8": lambda own: own.astype(np.int8),
    "bool": lambda own: own.astype(np.bool_),
    "float32": lambda own: own.astype(np.float32),
    "minus one": lambda own: (2 * own - 1).astype(np.int64),
}


def batch_of(seed, rows=50, labels="int8"):
    rng = np.random.default_rng(seed)
    return {
        "click": LABELS[labels](rng.integers(0, 2, rows)),
        "pctr": rng.random(rows),
        "user": rng.integers(0, 9, rows),
        "weight": rng.integers(0, 3, rows).astype(np.float32),
        "other": rng.random(rows),
    }


def joined(batches):
    return {name: np.concatenate([own[name] for own in batches]) for name in batches[0]}


def known_state(make=dict, labels="int8", **options):
    """A state after a batch with all values that there are, which the next ones lie between."""
    state = fm.Accumulator(METRICS, **COLUMNS, **options)
    first = batch_of(0, 2000, labels)
    first["pctr"][:2] = 0, 1
    state.update(make(first))
    return state, first


def gathered(state):
    return state._state.gathered.rows


@each_case("make", [dict, pa.RecordBatch.from_pydict])
@each_case("labels", LABELS)
def test_batches_that_are_sure_to_be_valid_are_gathered(make, labels):
    state, first = known_state(make, labels)
    batches = [batch_of(seed, 7, labels) for seed in range(1, 30)]
    for batch in batches:
        state.update(make(batch))
        for column in batch.values():
            own = column.copy()
            column[:] = 0  # the caller may use its memory again
            batch |= {name: own for name in batch if batch[name] is column}
    assert gathered(state) == 29 * 7
    assert state.rows == 2000 + 29 * 7
    assert state.copy().rows == state.rows
    assert state.result() == fm.evaluate(joined([first, *batches]), METRICS, **COLUMNS)
    assert not gathered(state)


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 60), st.sampled_from(["dict", "arrow", "table"]))))
def test_any_batches_have_the_values_of_one_log(batches):
    state, first = known_state()
    makers = {"dict": dict, "arrow": pa.RecordBatch.from_pydict, "table": pa.table}
    log = [batch_of(seed, rows) for seed, rows, _ in batches]
    for own, (_, _, make) in zip(log, batches, strict=True):
        state.update(makers[make](own))
    expected = fm.Accumulator(METRICS, **COLUMNS)
    expected.update(joined([first, *log]))
    assert state.rows == expected.rows
    assert state.result() == expected.result()


BAD = {
    "label": ("click", 2), "minus one": ("click", -1), "above": ("pctr", 1.5), "below": ("pctr", -0.5),
    "NaN": ("pctr", np.nan), "infinite": ("pctr", np.inf), "weight": ("weight", -1), "huge": ("weight", np.inf),
}  # fmt: skip


@each_case("make", [dict, pa.RecordBatch.from_pydict])
@each_case("name", BAD)
def test_an_error_is_that_of_its_own_batch(make, name):
    column, value = BAD[name]
    state, first = known_state(make)
    good, bad = batch_of(1), batch_of(2)
    bad["weight"][3] = 1  # a row without weight may have any values
    bad[column][3] = value
    fresh, _ = known_state(make)
    with pytest.raises(ValueError, match="row 3") as expected:
        fresh.update(make(joined([bad, batch_of(3, 20_000)])))  # too many rows to be gathered
    state.update(make(good))
    with pytest.raises(ValueError, match="row 3") as found:
        state.update(make(bad))
    assert str(found.value) == str(expected.value)
    assert state.rows == 2050
    state.update(make(good))
    assert state.result() == fm.evaluate(joined([first, good, good]), METRICS, **COLUMNS)


def test_nulls_are_found_at_once():
    state, _ = known_state(pa.RecordBatch.from_pydict)
    batch = pa.RecordBatch.from_pydict(batch_of(1))
    place = batch.schema.get_field_index("user")
    with pytest.raises(ValueError, match="row 0"):
        state.update(batch.set_column(place, "user", pa.array([None, *range(49)], pa.int64())))


@each_case(
    "options", [{"by": "other"}, {"where": "pctr > 0.5"}, {"score": "pctr * 0.5"}, {"group": "key"}, {"group": "time"}]
)
def test_other_questions_and_columns_are_not_gathered(options):
    def more(batch):
        keys = batch["user"]
        return batch | {"key": keys.astype(str), "time": keys.astype("M8[s]"), "other": keys > 4}

    state = fm.Accumulator(METRICS, **COLUMNS | options)
    log = [more(batch_of(1)), more(batch_of(1)), more(batch_of(1))]
    for batch in log:
        state.update(batch)
        assert not gathered(state)
    assert state.result() == fm.evaluate(joined(log), METRICS, **COLUMNS | options)


def test_gathered_rows_stay_after_an_error(monkeypatch):
    state, first = known_state()
    state.update(batch_of(1))

    def fail(*arguments):
        raise MemoryError

    with monkeypatch.context() as broken:
        broken.setattr(PartialState, "process_batch", fail)
        with pytest.raises(MemoryError):
            state.result()
    assert gathered(state) == 50
    assert state.result() == fm.evaluate(joined([first, batch_of(1)]), METRICS, **COLUMNS)


def test_many_small_batches_are_a_block(monkeypatch):
    monkeypatch.setattr(partial_state, "GATHERED_ROWS", 200)
    state, first = known_state()
    blocks = []
    process = PartialState.process_batch
    monkeypatch.setattr(
        PartialState, "process_batch", lambda *own: blocks.append(own[1].num_rows) or process(*own)
    )
    batches = [batch_of(seed) for seed in range(1, 10)]
    for batch in batches:
        state.update(batch)
    assert blocks == [200, 200]
    assert state.result() == fm.evaluate(joined([first, *batches]), METRICS, **COLUMNS)


def test_merged_and_saved_states_have_the_gathered_rows(tmp_path):
    first, log = known_state()
    second = fm.Accumulator(METRICS, **COLUMNS)
    batches = [batch_of(seed) for seed in (1, 2, 3)]
    second.update(log)
    for batch in batches:
        first.update(batch)
        second.update(batch)
    second.save(tmp_path / "state")
    assert fm.Accumulator.load(tmp_path / "state").rows == 2150
    assert first.merge(second).result() == fm.evaluate(joined([log, *batches, log, *batches]), METRICS, **COLUMNS)


def test_the_rows_that_gathered_ones_would_exceed_are_refused(monkeypatch):
    state, _ = known_state()
    state.update(batch_of(1))
    monkeypatch.setattr(partial_state, "MAX_ROWS", 2070 + partial_state.SMALL_ROWS)
    state.update(batch_of(2))
    state.update(batch_of(3))
    assert not gathered(state)
    assert state.rows == 2150


def test_a_copy_gathers_rows_of_its_own():
    state, first = known_state()
    state.update(batch_of(1))
    other = state.copy()
    log, others = [batch_of(2)], [batch_of(3)]
    state.update(log[0])
    other.update(others[0])
    assert state.rows == other.rows == 2100
    for own, more in ((state, log), (other, others)):
        assert own.result() == fm.evaluate(joined([first, batch_of(1), *more]), METRICS, **COLUMNS)


@each_case("values, changed", [(np.full(5, 0.5), 2.0), (np.zeros(5, np.int8), 7)])
def test_what_is_checked_is_the_copy(values, changed):
    column = GatheredColumn(values.dtype, is_key=False, are_classes=values.dtype == np.int8)
    column.learn(values)
    own = column.put(values, 0)
    values[:] = changed  # by another thread, before the check
    assert column.is_valid(own)
    assert not column.is_valid(column.put(values, 5))
