"""Accumulators: the report equals evaluate's for any batches, any tree of merges and any way a state was sent."""

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.dataset
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics.engine.partial import part_state, waiting_rows
from support import strategies
from support.cases import assert_raises, each_case
from support.peers import pandas, polars
from support.registry_cases import CASES, JOINT_METRICS
from support.states.accumulators import (  # fmt: skip
    FOR_LABELS,
    SMALL,
    TAKES_WEIGHTS,
    WAYS,
    WEIGHTED,
    content,
    evaluate,
    filled,
    new,
    outcome,
    pieces,
    same,
    send,
    small_log,
    updated,
    with_other_source,
    work,
)


@pytest.fixture(scope="module")
def log():
    return small_log()


# --------------------------------------------------------------------------------------------------- batches


def by_columns():
    """The metrics of CASES that read the same columns."""
    found = {}
    for case in CASES:
        metric, columns = case.values
        found.setdefault(str(columns), ([], columns))[0].append(metric)
    return found


@each_case(("metrics", "columns"), by_columns().values(), ids=list(by_columns()))
class TestMetricsOfTheSameColumns:
    """Every metric, many in one state: what is tested is where batches, flushes and blocks end."""

    @each_case(
        ("size", "flush_rows"), [(1, 1), (7, 50), (64, 1), (65, 1 << 20), (SMALL, 1)]
    )
    def test_any_batches(self, metrics, columns, log, monkeypatch, size, flush_rows):
        monkeypatch.setattr(part_state, "FLUSH_ROWS", flush_rows)
        rows = {1: 25, 7: 210}.get(size)
        few = {name: column[:rows] for name, column in log.items()}
        same(filled(few, metrics, size, **columns).result(), evaluate(few, metrics, **columns))

    def test_any_number_of_threads(self, metrics, columns, log, monkeypatch):
        monkeypatch.setattr(part_state, "FLUSH_ROWS", 250)
        monkeypatch.setattr(waiting_rows, "BLOCK_ROWS", 40)
        expected = evaluate(log, metrics, **columns)
        for n_threads in (1, 2, 5):
            same(filled(log, metrics, 33, **columns, n_threads=n_threads).result(), expected)


@each_case(("metric", "columns"), CASES)
class TestEveryMetric:
    def test_weights_and_slices(self, metric, columns, log):
        weight = "w" if metric in TAKES_WEIGHTS else None
        options = {**columns, "weight": weight, "by": "by"}
        same(filled(log, [metric], 77, **options).result(), evaluate(log, [metric], **options))

    def test_a_metric_without_weights_refuses_them(self, metric, columns, log):
        if metric in TAKES_WEIGHTS:
            return
        assert_raises(ValueError, "weight", lambda: filled(log, [metric], **columns, weight="w").result())

    def test_a_tree_of_states_that_are_sent(self, metric, columns, log):
        parts = [filled(piece, [metric], **columns) for piece in pieces(log, 150)]
        first = fm.Accumulator.from_bytes(parts[3].to_bytes()).merge(pickle.loads(pickle.dumps(parts[0])))
        second = parts[2].copy().merge(new([metric], **columns)).merge(copy.deepcopy(parts[1]))
        same(copy.copy(second).merge(first).result(), evaluate(log, [metric], **columns))

    def test_equal_rows_of_another_source_count_twice(self, metric, columns, log):
        twice = {name: np.concatenate((column, column)) for name, column in log.items()}
        part, state = filled(log, [metric], **columns), new([metric], **columns)
        same(state.merge(part).merge(with_other_source(part)).result(), evaluate(twice, [metric], **columns))


def test_batches_longer_than_a_block(monkeypatch):
    log = strategies.click_log(300_000, seed=3)
    expected = evaluate(log)
    for flush_rows in (100_000, 1 << 20):
        monkeypatch.setattr(part_state, "FLUSH_ROWS", flush_rows)
        same(updated(new(), log).result(), expected)


def containers(log, folder):
    """The log in every kind of container that evaluate reads."""
    table = pa.table(log)
    pa.parquet.write_table(table, folder / "log.parquet", row_group_size=170)
    yield {name: column.tolist() for name, column in log.items()}
    yield table
    yield table.to_batches()[0]
    yield table.to_reader(max_chunksize=100)
    yield folder / "log.parquet"
    yield [folder / "log.parquet"]
    yield pa.dataset.dataset(folder / "log.parquet")


def test_every_kind_of_batch(log, tmp_path):
    expected = evaluate(log)
    for batch in containers(log, tmp_path):
        state = updated(new(), batch)
        same(state.result(), expected)
    for batch in (pandas().DataFrame(log), polars().DataFrame(log)):
        state = updated(new(), batch)
        same(state.result(), expected)


def test_an_empty_batch_is_no_row(log):
    state = filled(log)
    before = state.to_bytes()
    state.update(pa.table(log).slice(0, 0))
    assert state.to_bytes() == before
    empty = updated(new(), pa.table({"label": pa.array([], pa.string()), "prob": [], "group": []}))
    assert empty.to_bytes() == new().to_bytes()


def test_columns_that_are_not_read_may_hold_anything(log):
    state = updated(new(["auc"]), {**log, "group": np.empty((SMALL, 2)), "more": [object()] * SMALL})
    same(state.result(), evaluate(log, ["auc"]))


# ------------------------------------------------------------------------------------------------ trees of merges

KEYS = {
    "int64": lambda keys: pa.array([[0, -1, 2**62, -(2**63), 5, 77][key] for key in keys], pa.int64()),
    "int32": lambda keys: pa.array(keys, pa.int32()),
    "uint64": lambda keys: pa.array([[0, 2**64 - 1, 2**63, 7, 8, 9][key] for key in keys], pa.uint64()),
    "short text": lambda keys: pa.array(["", "a", "ab", "twelve bytes", "é", "😀"][key] for key in keys),
    "long text": lambda keys: pa.array(["a key of thirteen", "b" * 300, "üüüüüüüüü", "x", ""][key % 5] for key in keys),
    "dictionary": lambda keys: pa.array(["one", "two", "a long key of its own", "größer"][key % 4] for key in keys)
    .dictionary_encode(),
    "large text": lambda keys: pa.array((f"user {key:>20}" for key in keys), pa.large_string()),
}  # fmt: skip



@st.composite
def logs(draw):
    """(table, options of an accumulator): few rows of few users, in any combination of columns."""
    rows = draw(st.integers(1, 30))
    seed = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = draw(st.sampled_from([["p"], ["p", "q"]]))
    labels = draw(st.sampled_from([["y"], ["y", "z"]]))
    columns = {name: seed.integers(0, 2, rows).astype(np.int8) for name in labels}
    kind = draw(st.sampled_from([kind for kind, metrics in FOR_LABELS.items() if metrics]))
    metrics = FOR_LABELS[kind]
    if kind == "signed":
        columns["y"] = 2 * columns["y"] - 1
    if kind == "numbers":
        columns["y"] = np.round(seed.gamma(1.0, 9.0, rows), 2) + 0.5
    for name in scores:
        columns[name] = draw(strategies.probabilities(rows, draw(st.sampled_from(strategies.SCORE_DTYPES))))
    kind = draw(st.sampled_from(list(KEYS)))
    columns["user"] = KEYS[kind](seed.integers(0, 6, rows).tolist())
    metrics = metrics[draw(st.integers(0, 2)) :: 3]
    options = {"label": labels, "score": scores, "group": "user", "metrics": metrics}
    if draw(st.booleans()):
        options |= {"weight": "w", "metrics": [metric for metric in metrics if metric in WEIGHTED]}
        columns["w"] = draw(st.one_of(strategies.integer_weights(rows), strategies.real_weights(rows)))
    by = draw(st.sampled_from([[], ["city"], ["day", "city"], ["flag"]]))
    if by:
        options["by"] = by
        columns["city"] = pa.array(
            ["ulm", "köln", "a city with a long name"][place] for place in seed.integers(0, 3, rows)
        )
        columns["day"] = pa.array(seed.integers(0, 2, rows).tolist(), pa.int32()).cast(pa.date32())
        columns["flag"] = seed.integers(0, 2, rows).astype(bool)
    if draw(st.booleans()):
        options["on_invalid"] = "drop"
        holes = seed.random(rows) < 0.2
        name = draw(st.sampled_from([*scores, *labels, "user"]))
        column = columns[name] if isinstance(columns[name], pa.Array) else pa.array(columns[name])
        column = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        columns[name] = pa.compute.if_else(pa.array(holes), pa.nulls(rows, column.type), column)
    return pa.table(columns), options


@given(logs(), st.data())
def test_any_tree_of_merges(case, data):
    table, options = case
    options = dict(options)
    metrics = options.pop("metrics")
    expected = outcome(lambda: fm.evaluate(table, metrics, **options))
    n_leaves = data.draw(st.integers(1, 6))
    leaf_of_row = np.array(data.draw(st.lists(st.integers(0, n_leaves), min_size=len(table), max_size=len(table))))
    leaf_of_row %= n_leaves
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(part_state, "FLUSH_ROWS", data.draw(st.sampled_from([1, 3, 1000])))
        states = []
        for leaf in range(n_leaves):
            states.append(fm.Accumulator(metrics, n_threads=1, **options))
            rows = table.take(np.flatnonzero(leaf_of_row == leaf))
            step = data.draw(st.integers(1, 12))
            for start in range(0, len(rows), step):
                states[-1].update(rows.slice(start, step))
        while len(states) > 1:
            into = send(states.pop(data.draw(st.integers(0, len(states) - 1))), data.draw(WAYS))
            other = send(states.pop(data.draw(st.integers(0, len(states) - 1))), data.draw(WAYS))
            before = other.to_bytes()
            assert into.merge(other) is into
            assert other.to_bytes() == before
            states.append(into)
        (state,) = states
        assert state.rows == len(table)
        assert outcome(state.result) == expected
        assert outcome(send(state, data.draw(WAYS)).result) == expected


def test_many_leaves_in_a_line_and_in_a_balanced_tree(log):
    expected = evaluate(log, by="by")
    leaves = [filled(piece, by="by") for piece in pieces(log, 13)]
    line = new(by="by")
    for leaf in leaves:
        line.merge(leaf)
    same(line.result(), expected)
    while len(leaves) > 1:
        leaves = [
            leaves[i].merge(leaves[i + 1]) if i + 1 < len(leaves) else leaves[i] for i in range(0, len(leaves), 2)
        ]
    same(leaves[0].result(), expected)


@pytest.mark.parametrize("options", [{}, {"by": "by"}, {"weight": "w"}], ids=str)
class TestStates:
    def metrics(self, options):
        return WEIGHTED if "weight" in options else JOINT_METRICS

    def test_results_can_be_repeated_and_rows_can_follow(self, log, options):
        metrics = self.metrics(options)
        state = new(metrics, **options)
        first, second, third = pieces(log, 200)
        state.update(first)
        expected = evaluate(first, metrics, **options)
        same(state.result(), expected)
        same(state.result(), expected)
        state.update(second)
        state.merge(filled(third, metrics, **options))
        same(state.result(), evaluate(log, metrics, **options))
        same(state.result(), evaluate(log, metrics, **options))

    def test_merging_leaves_the_other_as_it_is(self, log, options):
        metrics = self.metrics(options)
        first, second, third = pieces(log, 200)
        state, other = filled(first, metrics, **options), filled(second, metrics, **options)
        before = other.to_bytes()
        state.merge(other)
        assert other.to_bytes() == before
        state.update(third)
        state.result()
        state.merge(with_other_source(state))
        assert other.to_bytes() == before
        same(other.result(), evaluate(second, metrics, **options))
        known = state.to_bytes()
        other.update(third)
        other.merge(with_other_source(other))
        assert state.to_bytes() == known

    def test_copies_are_independent(self, log, options):
        metrics = self.metrics(options)
        first, second, _ = pieces(log, 200)
        state = filled(first, metrics, **options)
        before = state.to_bytes()
        for copied in (state.copy(), copy.copy(state), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
            assert copied is not state
            assert copied.to_bytes() == before
            copied.update(second)
            assert copied.to_bytes() != before
            assert state.to_bytes() == before

    def test_empty_states_change_nothing(self, log, options):
        metrics = self.metrics(options)
        state = filled(log, metrics, **options)
        before = state.to_bytes()
        state.merge(new(metrics, **options)).merge(new(metrics, **options).merge(new(metrics, **options)))
        assert state.to_bytes() == before
        same(new(metrics, **options).merge(state).result(), evaluate(log, metrics, **options))


def test_slices_that_come_in_another_order():
    log = strategies.click_log(60, seed=2)
    log["by"] = np.repeat(["a", "b", "c"], 20)
    expected = evaluate(log, by="by")
    parts = [filled(piece, by="by") for piece in pieces(log, 20)]
    for order in ((2, 0, 1), (1, 2, 0)):
        state = new(by="by")
        for number in order:
            state.merge(parts[number])
        state.merge(new(by="by"))
        same(state.result(), expected)
        assert [result.slice for result in state.result()][-1] == {"by": "c"}


def test_slices_of_every_type():
    """The type that Arrow infers from Python values is not always the type of the column."""
    log = strategies.click_log(40, seed=4)
    pick = np.arange(40) % 2
    for kind, values in {
        pa.uint64(): [2**63 + 1, 3],
        pa.int64(): [-(2**63), 2**63 - 1],
        pa.bool_(): [False, True],
        pa.date32(): [20_000, 0],
        pa.timestamp("us", "UTC"): [1, 10**15],
        pa.timestamp("ns"): [1_500_000_000_000_000_001, 1_500_000_000_000_000_002],
        pa.timestamp("ns", "Europe/Paris"): [1_500_000_000_000_000_001, 1_500_000_000_000_000_002],
        pa.duration("ns"): [1, 2],
        pa.time64("us"): [1, 2],
        pa.binary(): [b"\xff", b""],
        pa.large_string(): ["ä", ""],
        pa.string_view(): ["ä", "a text of some length"],
    }.items():
        table = pa.table({**log, "by": pa.array([values[own] for own in pick.tolist()], kind)})
        metrics = ["logloss", "auc", "gauc", "ndcg@5"]  # one of each exchange
        state = new(metrics, by="by")
        for start in range(0, 40, 10):
            state.update(table.slice(start, 10))
        data = state.to_bytes()
        again = fm.Accumulator.from_bytes(data)
        assert again.to_bytes() == data
        same(again.merge(new(metrics, by="by")).result(), evaluate(table, metrics, by="by"))
        same(again.result(), state.result())


# ----------------------------------------------------------------------------------------- the caller's memory


def arrays():
    return {**strategies.click_log(200, seed=6), "w": np.ones(200), "by": np.arange(200) % 3}


def overwrite(log):
    for column in log.values():
        column[:] = column[::-1].copy() if column.dtype.kind != "f" else 0.5


@each_case("flush_rows", [1, 1 << 20])
@each_case("kind", ["dict", "arrow table", "arrow batch", "pandas"])
@pytest.mark.parametrize("metrics", [["auc"], ["gauc"], ["logloss"], WEIGHTED], ids=["auc", "gauc", "logloss", "all"])
def test_the_callers_memory_may_be_used_again(monkeypatch, flush_rows, kind, metrics):
    monkeypatch.setattr(part_state, "FLUSH_ROWS", flush_rows)
    wrap = {
        "dict": dict,
        "arrow table": pa.table,
        "arrow batch": pa.RecordBatch.from_pydict,
        "pandas": lambda log: pandas().DataFrame(log, copy=False),
    }[kind]
    log = arrays()
    state = updated(new(metrics, weight="w", by="by"), wrap(log))
    overwrite(log)
    same(state.result(), evaluate(arrays(), metrics, weight="w", by="by"))


def test_the_callers_memory_is_not_written_to():
    log = arrays()
    for column in log.values():
        column.flags.writeable = False
    state = updated(new(WEIGHTED, weight="w", by="by"), log)
    state.merge(with_other_source(state)).result()
    for name, column in arrays().items():
        assert (log[name] == column).all()


def test_a_batch_is_released():
    """Rows that wait are copied, so a table of many columns does not stay in memory because of two of them."""
    before = pa.total_allocated_bytes()
    state = new(["auc"])
    table = pa.table({name: pa.array(column.tolist()) for name, column in strategies.click_log(20_000).items()})
    state.update(table)
    del table
    assert pa.total_allocated_bytes() - before < 8 * 20_000


# ------------------------------------------------------------------------------------------------- other processes


@pytest.mark.parametrize("method", [own for own in ("fork", "spawn") if own in multiprocessing.get_all_start_methods()])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_workers(log, method):
    jobs = [(part, ("bytes", "pickle")[number % 2]) for number, part in enumerate(pieces(log, 100))]
    whole = new(by="by")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        for found in pool.map(work, jobs):
            whole.merge(fm.Accumulator.from_bytes(found) if isinstance(found, bytes) else found)
    same(whole.result(), evaluate(log, by="by"))


# --------------------------------------------------------------------------------------------- these tests can fail


def test_the_comparison_can_fail(log):
    expected = evaluate(log)
    for broken in (
        {**log, "prob": np.nextafter(log["prob"], 0)},
        {**log, "group": log["group"] // 2},
        {name: column[:-1] for name, column in log.items()},
    ):
        report = filled(broken).result()
        assert report != expected
        assert content(report) != content(expected)
