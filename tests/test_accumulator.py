"""Accumulators: whatever the batches, the tree of merges and the way a state travelled, the report is evaluate's."""

import copy
import json
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.dataset
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peers import pandas, polars
from test_common import STRINGS

import fastmetrics as fm
import strategies
from fastmetrics.engine import accumulator, slices

COLUMNS = {"label": "label", "score": "prob", "group": "group"}
SMALL = 600


def new(metrics=STRINGS, **options):
    return fm.Accumulator(metrics, **{**COLUMNS, **options})


def evaluate(log, metrics=STRINGS, **options):
    return fm.evaluate(log, metrics, **{**COLUMNS, **options})


def content(report):
    """Everything a report says but the time; floats as text that tells apart every bit."""
    return {key: value for key, value in json.loads(report.to_json()).items() if key != "seconds"}


def same(report, expected):
    assert report == expected
    assert content(report) == content(expected)
    assert report.to_json() == expected.to_json()


def pieces(log, size):
    rows = len(next(iter(log.values())))
    return [{name: column[start : start + size] for name, column in log.items()} for start in range(0, rows, size)]


def filled(log, metrics=STRINGS, size=100, **options):
    state = new(metrics, **options)
    for piece in pieces(log, size):
        state.update(piece)
    return state


def accepts_weights(metric):
    log = {**strategies.click_log(50), "w": np.ones(50)}
    try:
        evaluate(log, [metric], weight="w")
    except ValueError as error:
        assert "weight" in str(error)  # noqa: PT017
        return False
    return True


WEIGHTED = [metric for metric in STRINGS if accepts_weights(metric)]


@pytest.fixture(scope="module")
def log():
    log = strategies.click_log(SMALL, seed=5)
    generator = np.random.default_rng(5)
    return {**log, "w": generator.choice([0.0, 0.25, 1.0, 3.0], SMALL), "by": generator.integers(0, 3, SMALL)}


# --------------------------------------------------------------------------------------------------- batches


@pytest.mark.parametrize("metric", STRINGS)
class TestEveryMetric:
    @pytest.mark.parametrize("size", [1, 7, 64, 65, SMALL])
    @pytest.mark.parametrize("flush_rows", [1, 50, 1 << 20])
    def test_any_batches(self, metric, log, monkeypatch, size, flush_rows):
        monkeypatch.setattr(accumulator, "FLUSH_ROWS", flush_rows)
        few = {name: column[:90] for name, column in log.items()} if size == 1 else log
        same(filled(few, [metric], size).result(), evaluate(few, [metric]))

    def test_weights_and_slices(self, metric, log):
        weight = "w" if metric in WEIGHTED else None
        options = {"weight": weight, "by": "by"}
        same(filled(log, [metric], 77, **options).result(), evaluate(log, [metric], **options))

    def test_a_metric_without_weights_refuses_them(self, metric, log):
        if metric in WEIGHTED:
            return
        with pytest.raises(ValueError, match="weight"):
            filled(log, [metric], weight="w").result()

    def test_a_tree_of_travellers(self, metric, log):
        parts = [filled(piece, [metric]) for piece in pieces(log, 150)]
        first = fm.Accumulator.from_bytes(parts[3].to_bytes()).merge(pickle.loads(pickle.dumps(parts[0])))
        second = parts[2].copy().merge(new([metric])).merge(copy.deepcopy(parts[1]))
        same(copy.copy(second).merge(first).result(), evaluate(log, [metric]))

    def test_any_number_of_threads(self, metric, log, monkeypatch):
        monkeypatch.setattr(accumulator, "FLUSH_ROWS", 250)
        monkeypatch.setattr(accumulator, "BLOCK_ROWS", 40)
        for n_threads in (1, 2, 5):
            same(filled(log, [metric], 33, n_threads=n_threads).result(), evaluate(log, [metric]))

    def test_rows_that_are_counted_twice_are_rows_twice(self, metric, log):
        twice = {name: np.concatenate((column, column)) for name, column in log.items()}
        part, state = filled(log, [metric]), new([metric])
        same(state.merge(part).merge(part).result(), evaluate(twice, [metric]))
        same(part.merge(part).result(), evaluate(twice, [metric]))


def test_batches_longer_than_a_block(monkeypatch):
    log = strategies.click_log(300_000, seed=3)
    expected = evaluate(log)
    for flush_rows in (100_000, 1 << 20):
        monkeypatch.setattr(accumulator, "FLUSH_ROWS", flush_rows)
        state = new()
        state.update(log)
        same(state.result(), expected)


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
        state = new()
        state.update(batch)
        same(state.result(), expected)
    for batch in (pandas().DataFrame(log), polars().DataFrame(log)):
        state = new()
        state.update(batch)
        same(state.result(), expected)


def test_an_empty_batch_is_no_row(log):
    state = filled(log)
    before = state.to_bytes()
    state.update(pa.table(log).slice(0, 0))
    assert state.to_bytes() == before
    empty = new()
    empty.update(pa.table({"label": pa.array([], pa.string()), "prob": [], "group": []}))
    assert empty.to_bytes() == new().to_bytes()


def test_columns_that_nobody_needs_may_hold_anything(log):
    state = new(["auc"])
    state.update({**log, "group": np.empty((SMALL, 2)), "more": [object()] * SMALL})
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


CITIES = ["ulm", "köln", "a city with a long name"]


@st.composite
def logs(draw):
    """(table, options of an accumulator): few rows of few users, in any combination of columns."""
    rows = draw(st.integers(1, 30))
    seed = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = draw(st.sampled_from([["p"], ["p", "q"]]))
    labels = draw(st.sampled_from([["y"], ["y", "z"]]))
    columns = {name: seed.integers(0, 2, rows).astype(np.int8) for name in labels}
    if draw(st.booleans()):
        columns["y"] = 2 * columns["y"] - 1
    for name in scores:
        columns[name] = draw(strategies.probabilities(rows, draw(st.sampled_from(strategies.SCORE_DTYPES))))
    kind = draw(st.sampled_from(list(KEYS)))
    columns["user"] = KEYS[kind](seed.integers(0, 6, rows).tolist())
    options = {"label": labels, "score": scores, "group": "user", "metrics": STRINGS}
    if draw(st.booleans()):
        options |= {"weight": "w", "metrics": WEIGHTED}
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


def travel(state, way):
    return {
        "bytes": lambda: fm.Accumulator.from_bytes(state.to_bytes()),
        "pickle": lambda: pickle.loads(pickle.dumps(state)),
        "copy": state.copy,
        "deepcopy": lambda: copy.deepcopy(state),
        "stay": lambda: state,
    }[way]()


WAYS = st.sampled_from(["bytes", "pickle", "copy", "deepcopy", "stay"])


def outcome(make):
    """A report, or the error in its place: a log without a row that is left has none."""
    try:
        return content(make())
    except ValueError as error:
        return str(error)


@given(logs(), st.data())
@settings(max_examples=120)
def test_any_tree_of_merges(case, data):
    table, options = case
    options = dict(options)
    metrics = options.pop("metrics")
    expected = outcome(lambda: fm.evaluate(table, metrics, **options))
    n_leaves = data.draw(st.integers(1, 6))
    leaf_of_row = np.array(data.draw(st.lists(st.integers(0, n_leaves), min_size=len(table), max_size=len(table))))
    leaf_of_row %= n_leaves
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accumulator, "FLUSH_ROWS", data.draw(st.sampled_from([1, 3, 1000])))
        states = []
        for leaf in range(n_leaves):
            states.append(fm.Accumulator(metrics, n_threads=1, **options))
            rows = table.take(np.flatnonzero(leaf_of_row == leaf))
            step = data.draw(st.integers(1, 12))
            for start in range(0, len(rows), step):
                states[-1].update(rows.slice(start, step))
        while len(states) > 1:
            into = travel(states.pop(data.draw(st.integers(0, len(states) - 1))), data.draw(WAYS))
            other = travel(states.pop(data.draw(st.integers(0, len(states) - 1))), data.draw(WAYS))
            before = other.to_bytes()
            assert into.merge(other) is into
            assert other.to_bytes() == before
            states.append(into)
        (state,) = states
        assert state.rows == len(table)
        assert outcome(state.result) == expected
        assert outcome(travel(state, data.draw(WAYS)).result) == expected


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
        return WEIGHTED if "weight" in options else STRINGS

    def test_a_result_may_be_asked_for_again_and_rows_may_follow(self, log, options):
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
        state.merge(state)
        assert other.to_bytes() == before
        same(other.result(), evaluate(second, metrics, **options))
        known = state.to_bytes()
        other.update(third)
        other.merge(other)
        assert state.to_bytes() == known

    def test_copies_live_their_own_lives(self, log, options):
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
    """What Arrow infers from Python's values is not always the type they came in."""
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
        state = new(by="by")
        for start in range(0, 40, 10):
            state.update(table.slice(start, 10))
        data = state.to_bytes()
        again = fm.Accumulator.from_bytes(data)
        assert again.to_bytes() == data
        same(again.merge(new(by="by")).result(), evaluate(table, by="by"))
        same(again.result(), state.result())


# ------------------------------------------------------------------------------------------------------ refusals

GOOD = {"label": [0, 1, 1, 0], "prob": [0.1, 0.5, 0.9, 0.5], "group": [1, 2, 1, 2], "w": [1.0, 2.0, 0.0, 1.0],
        "by": ["a", "b", "a", "b"]}  # fmt: skip
BAD = {
    "NaN score": ("prob", [0.1, 0.5, float("nan"), 0.5], r"'prob' has NaN at row 2\b"),
    "null score": ("prob", [0.1, 0.5, 0.5, None], r"'prob' has a null at row 3\b"),
    "probability": ("prob", [0.1, 1.5, 0.5, 0.5], r"'prob' has 1.5 at row 1\b"),
    "label": ("label", [0, 1, 7, 1], r"'label' has 7 at row 2\b"),
    "null label": ("label", [0, None, 1, 1], r"'label' has a null at row 1\b"),
    "mixed labels": ("label", [0, 1, -1, 1], r"'label' has -1 at row 2\b"),
    "labels of another kind": ("label", [1, -1, 1, -1], r"'label' has -1 at row 1 and 0 elsewhere"),
    "negative weight": ("w", [1.0, -2.0, 1.0, 1.0], r"'w' has -2.0 at row 1\b"),
    "infinite weight": ("w", [1.0, 2.0, float("inf"), 1.0], r"'w' has inf at row 2\b"),
    "null key": ("group", [1, 2, None, 2], r"'group' has a null at row 2\b"),
    "null slice": ("by", ["a", None, "z", "b"], r"'by' has a null at row 1\b"),
    "text scores": ("prob", ["0.1", "0.2", "0.3", "0.4"], r"'prob'"),
    "text keys": ("group", ["1", "2", "3", "4"], r"'group' has Arrow type string, but int64 in earlier batches"),
    "unsigned keys": ("group", np.array([1, 2, 3, 4], np.uint64), r"'group' has Arrow type uint64, but int64"),
    "keys with a fraction": ("group", [1.0, 2.0, 3.0, 4.0], r"'group'"),
    "single scores": ("prob", np.full(4, 0.5, np.float32), r"'prob' has Arrow type float, but double in earlier"),
    "slices of another type": ("by", [1, 2, 3, 4], r"'by' has Arrow type int64, but string in earlier batches"),
    "slices that are numbers": ("by", [0.5, 1.5, 2.5, 3.5], r"'by'"),
    "lengths": ("by", ["a"], r"columns of different lengths"),
}
OPTIONS = {"weight": "w", "by": "by"}


@pytest.mark.parametrize("case", BAD.values(), ids=list(BAD))
class TestRefusedRows:
    def state(self):
        return new(WEIGHTED, **OPTIONS)

    def test_nothing_has_changed(self, case):
        column, values, message = case
        state = self.state()
        state.update(GOOD)
        before = state.to_bytes()
        # A slice of its own, so that one that was met would show.
        bad = {**GOOD, "by": ["new", "b", "a", "newer"], column: values}
        with pytest.raises((ValueError, TypeError), match=message):
            state.update(bad)
        assert state.to_bytes() == before
        state.update(GOOD)
        doubled = {name: [*own, *own] for name, own in GOOD.items()}
        same(state.result(), evaluate(doubled, WEIGHTED, **OPTIONS))

    def test_nothing_has_changed_in_an_empty_state(self, case):
        column, values, _ = case
        state = self.state()
        try:
            state.update({**GOOD, column: values})
        except (ValueError, TypeError):
            assert state.to_bytes() == self.state().to_bytes()
            assert state.rows == 0
            state.update(GOOD)
            same(state.result(), evaluate(GOOD, WEIGHTED, **OPTIONS))


def test_the_third_batch_of_a_reader_is_bad():
    rows = 3 * 20_000
    log = strategies.click_log(rows, seed=8)
    log["by"] = np.where(np.arange(rows) < 20_000, "old", "new")
    first = {name: column[:20_000] for name, column in log.items()}
    for metrics, options in ((STRINGS, {}), (["auc", "logloss"], {"approximate": True, "group": None})):
        state = new(metrics, by="by", **options)
        state.update(first)
        before = state.to_bytes()
        broken = {**log, "prob": log["prob"].copy()}
        broken["prob"][rows - 7] = np.nan
        with pytest.raises(ValueError, match=rf"'prob' has NaN at row {rows - 7}\b"):
            state.update(pa.table(broken).to_reader(max_chunksize=20_000))
        assert state.to_bytes() == before
        assert {result.slice.get("by") for result in state.result()} == {None, "old"}
        state.update(log)
        both = {name: np.concatenate((first[name], column)) for name, column in log.items()}
        report, expected = state.result(), evaluate(both, metrics, by="by")
        assert len(report) == len(expected)
        assert options or report == expected


@pytest.mark.parametrize("column", ["label", "prob", "group", "w", "by"])
def test_a_column_that_is_not_there(column):
    state = new(WEIGHTED, **OPTIONS)
    state.update(GOOD)
    before = state.to_bytes()
    with pytest.raises(ValueError, match=rf"no column '{column}'"):
        state.update({name: values for name, values in GOOD.items() if name != column})
    assert state.to_bytes() == before


def test_what_is_no_data_at_all():
    state = new()
    for data in (None, 3, np.zeros((3, 3)), object()):
        with pytest.raises(TypeError, match="data must be"):
            state.update(data)
    with pytest.raises(FileNotFoundError):
        state.update("no such file.parquet")
    assert state.to_bytes() == new().to_bytes()


class TestLabels:
    zero_one = {"label": [0, 1, 1], "prob": [0.1, 0.2, 0.3], "group": [1, 1, 1]}  # noqa: RUF012
    signed = {"label": [1, -1, 1], "prob": [0.1, 0.2, 0.3], "group": [1, 1, 1]}  # noqa: RUF012
    ones = {"label": [1, 1], "prob": [0.1, 0.2], "group": [1, 1]}  # noqa: RUF012

    def test_ones_go_with_both(self):
        for other in (self.zero_one, self.signed):
            for batches in ((self.ones, other), (other, self.ones)):
                state, merged = new(), new()
                for batch in batches:
                    state.update(batch)
                    merged.merge(filled(batch))
                both = {name: [*batches[0][name], *batches[1][name]] for name in self.ones}
                same(state.result(), evaluate(both))
                same(merged.result(), evaluate(both))

    def test_batches_do_not_mix(self):
        state = filled(self.zero_one)
        before = state.to_bytes()
        with pytest.raises(ValueError, match=r"'label' has -1 at row 1 and 0 elsewhere"):
            state.update(self.signed)
        assert state.to_bytes() == before
        state = filled(self.signed)
        before = state.to_bytes()
        bad = {"label": [1, 1, 0], "prob": [0.1, 0.2, 0.3], "group": [1, 1, 1]}
        with pytest.raises(ValueError, match=r"'label' has 0 at row 2 and -1 in earlier batches"):
            state.update(bad)
        assert state.to_bytes() == before
        dropping = new(on_invalid="drop")
        dropping.update(self.signed)
        with pytest.raises(ValueError, match=r"'label' has 0 at row 2 and -1 in earlier batches"):
            dropping.update({**bad, "prob": [0.1, None, 0.3]})

    def test_a_zero_of_zero_weight_is_a_zero(self):
        """The row is absent, but the column is of one kind."""
        state = new(WEIGHTED, weight="w")
        state.update({**self.signed, "w": [1.0, 1.0, 1.0]})
        with pytest.raises(ValueError, match=r"'label' has 0 and -1 in earlier batches"):
            state.update({"label": [0, 1], "prob": [0.1, 0.2], "group": [1, 1], "w": [0.0, 1.0]})

    def test_states_do_not_mix(self):
        one, other = filled(self.zero_one), filled(self.signed)
        before = one.to_bytes(), other.to_bytes()
        for into, merged in ((one, other), (other, one)):
            with pytest.raises(ValueError, match=r"'label' has -1 in one of the states and 0 in the other"):
                into.merge(merged)
        assert (one.to_bytes(), other.to_bytes()) == before


class TestTypes:
    @pytest.mark.parametrize(
        ("column", "first", "second"),
        [
            ("group", "int32", "int64"),
            ("group", "uint8", "int64"),
            ("group", "string", "large_string"),
            ("group", "dictionary", "string"),
            ("group", "string", "string_view"),
            ("by", "int8", "uint32"),
            ("by", "dictionary", "large_string"),
            ("label", "bool", "float32"),
            ("label", "int8", "uint64"),
        ],
    )
    def test_types_of_one_kind_follow_each_other(self, column, first, second):
        halves = self.halves(column, first, second)
        state, merged = new(by="by"), new(by="by")
        for half in halves:
            state.update(half)
            part = new(by="by")
            part.update(half)
            merged.merge(fm.Accumulator.from_bytes(part.to_bytes()))
        kind = second if second != "string_view" else "large_string"
        both = pa.concat_tables([self.cast(half, column, kind) for half in halves])
        same(state.result(), evaluate(both, by="by"))
        same(merged.result(), evaluate(both, by="by"))

    @pytest.mark.parametrize(
        ("column", "first", "second"),
        [
            ("prob", "float32", "float64"),
            ("prob", "float64", "float16"),
            ("group", "int64", "string"),
            ("group", "dictionary", "int32"),
            ("group", "uint64", "int64"),
            ("by", "int64", "string"),
            ("by", "bool", "int64"),
            ("by", "date32", "timestamp"),
        ],
    )
    def test_other_types_are_refused(self, column, first, second):
        for one, other in (self.halves(column, first, second), self.halves(column, second, first)):
            state, part = new(by="by"), new(by="by")
            state.update(one)
            part.update(other)
            before = state.to_bytes(), part.to_bytes()
            with pytest.raises(
                TypeError, match=rf"column '{column}' has Arrow type \w+.*, but \w+.* in earlier batches"
            ):
                state.update(other)
            with pytest.raises(TypeError, match=r"different column types do not merge"):
                state.merge(part)
            assert (state.to_bytes(), part.to_bytes()) == before

    def test_a_batch_without_a_valid_row_has_no_types(self):
        """A column of nothing but None has no type of its own."""
        log = strategies.click_log(20, seed=1)
        nothing = {"label": [0, 1], "prob": [None, None], "group": [None, None]}
        text = {**log, "group": log["group"].astype(str)}
        for batches in ((nothing, text), (text, nothing)):
            state = new(on_invalid="drop")
            for batch in batches:
                state.update(batch)
            report = fm.Accumulator.from_bytes(state.to_bytes()).result()
            assert report.rows == 22
            assert sum(report.dropped.values()) == 2
            assert [own.value for own in report] == [own.value for own in evaluate(text)]

    def halves(self, column, first, second):
        log = strategies.click_log(40, seed=9)
        log["by"] = log["group"] % 2
        return [
            self.cast(pa.table(half), column, kind) for half, kind in zip(pieces(log, 20), (first, second), strict=True)
        ]

    @staticmethod
    def cast(table, column, kind):
        values = table[column].combine_chunks()
        if kind == "dictionary":
            values = values.cast(pa.string()).dictionary_encode()
        elif kind == "timestamp":
            values = values.cast(pa.timestamp("us"))
        elif kind in ("bool", "date32"):
            values = values.cast(pa.int32()).cast(kind)
        else:
            values = values.cast(kind if kind != "string_view" else pa.string_view())
        return table.set_column(table.schema.get_field_index(column), column, values)


class TestMerging:
    def test_only_accumulators_merge(self, log):
        state = filled(log)
        for other in (None, state.to_bytes(), state.result(), fm.Accumulator, {}):
            with pytest.raises(TypeError, match="merges with another one; found"):
                state.merge(other)

    @pytest.mark.parametrize(
        ("what", "options"),
        [
            ("metrics", {"metrics": ["auc"]}),
            ("metrics", {"metrics": ["ks", "auc", "ece(bins=3)"]}),
            ("metrics", {"metrics": ["auc", "ks", "ece(bins=4)"]}),
            ("columns", {"label": "y"}),
            ("columns", {"label": ["label", "y"]}),
            ("columns", {"score": "score"}),
            ("columns", {"group": None}),
            ("columns", {"weight": "w"}),
            ("columns", {"by": "by"}),
            ("on_invalid", {"on_invalid": "drop"}),
            ("approximate", {"approximate": True}),
        ],
    )
    def test_other_options_do_not(self, what, options):
        options = dict(options)
        one = new(["auc", "ks", "ece(bins=3)"])
        other = new(options.pop("metrics", ["auc", "ks", "ece(bins=3)"]), **options)
        for into, merged in ((one, other), (other, one)):
            before = into.to_bytes(), merged.to_bytes()
            with pytest.raises(ValueError, match=rf"states of different {what} do not merge: .* here, .* there"):
                into.merge(merged)
            assert (into.to_bytes(), merged.to_bytes()) == before

    def test_spellings_and_threads_do_not_matter(self, log):
        state = new([" ece( bins = 15 ) ", "auc"], n_threads=1)
        state.merge(filled(log, ["ece", "auc"], n_threads=2))
        same(state.result(), evaluate(log, ["ece", "auc"]))

    def test_the_size_of_a_histogram_that_there_is_not(self, log):
        state = new(["auc"], state_size="1MiB").merge(filled(log, ["auc"]))
        same(state.result(), evaluate(log, ["auc"]))

    def test_too_many_slices(self, monkeypatch):
        monkeypatch.setattr(slices, "MAX_SLICES", 5)
        log = strategies.click_log(4, seed=1)
        one, other = (filled({**log, "by": np.arange(first, first + 4)}, by="by") for first in (0, 3))
        before = one.to_bytes(), other.to_bytes()
        with pytest.raises(ValueError, match="makes more than 5 slices"):
            one.merge(other)
        with pytest.raises(ValueError, match=r"makes more than 5 slices.*row 2\b"):
            one.update({**log, "by": [0, 10, 11, 12]})
        assert (one.to_bytes(), other.to_bytes()) == before
        assert len(one.result()) == len(STRINGS) * 5


class TestMakingOne:
    @pytest.mark.parametrize(
        ("error", "message", "options"),
        [
            (ValueError, "unknown metric 'aucc'; did you mean 'auc'", {"metrics": ["aucc"]}),
            (ValueError, "metrics is empty", {"metrics": []}),
            (ValueError, "'gauc' is computed inside groups|gauc is computed inside groups", {"group": None}),
            (TypeError, "label must be", {"label": 3}),
            (ValueError, "score is an empty list", {"score": []}),
            (TypeError, "group must be the name", {"group": 3}),
            (TypeError, "weight must be the name", {"weight": ["w"]}),
            (TypeError, "by must be", {"by": 3}),
            (ValueError, "on_invalid must be one of", {"on_invalid": "ignore"}),
            (ValueError, "n_threads must be", {"n_threads": 0}),
            (ValueError, "state_size must be at least 4096 bytes; found 4095", {"state_size": 4095}),
            (ValueError, "state_size must be at least 4096 bytes; found '1KiB'", {"state_size": "1KiB"}),
            (ValueError, "state_size must be a number of bytes", {"state_size": "large"}),
            (TypeError, "state_size must be a number of bytes", {"state_size": None}),
            (TypeError, "state_size must be a number of bytes", {"state_size": 1e6}),
        ],
        ids=str,
    )
    def test_wrong_options(self, error, message, options):
        options = {"metrics": STRINGS, **COLUMNS, **options}
        with pytest.raises(error, match=message):
            fm.Accumulator(options.pop("metrics"), **options)

    def test_state_sizes(self):
        for size in (65536, "64KiB", "65536", np.int64(65536)):
            assert new(["auc"], approximate=True, state_size=size).state_size == 65536

    def test_no_rows(self):
        for state in (new(), new().copy(), fm.Accumulator.from_bytes(new().to_bytes()), new().merge(new())):
            assert state.rows == 0
            with pytest.raises(ValueError, match="data has no rows"):
                state.result()

    def test_all_rows_dropped(self):
        nothing = {"label": [0, 1], "prob": [None, 0.5], "group": [1, None]}
        state = new(on_invalid="drop")
        state.update(pa.table(nothing))
        assert state.rows == 2
        assert outcome(state.result) == outcome(lambda: evaluate(nothing, on_invalid="drop"))
        assert "no row is left of 2 read" in outcome(fm.Accumulator.from_bytes(state.to_bytes()).result)

    def test_all_weights_zero(self):
        for by in (None, "by"):
            rows = {**GOOD, "w": [0.0] * 4}
            state = new(WEIGHTED, weight="w", by=by)
            state.update(rows)
            again = fm.Accumulator.from_bytes(state.to_bytes())
            same(again.result(), evaluate(rows, WEIGHTED, weight="w", by=by))
            state.update(GOOD)
            both = {name: [*rows[name], *GOOD[name]] for name in GOOD}
            same(state.merge(new(WEIGHTED, weight="w", by=by)).result(), evaluate(both, WEIGHTED, weight="w", by=by))

    def test_repr(self, log):
        assert repr(new(["auc", "gauc(weight='pairs')"])) == "Accumulator(auc, gauc(weight=pairs); 0 rows)"
        state = new("auc", approximate=True)
        state.update({name: np.tile(column, 3) for name, column in log.items()})
        assert repr(state) == "Accumulator(auc; approximate, 1,800 rows)"

    def test_rows_count_the_dropped_ones_too(self):
        state = new(["auc"], on_invalid="drop")
        state.update({"label": [1, 0, 1], "prob": [0.5, None, 0.1], "group": [1, 1, 1]})
        assert state.rows == state.result().rows == 3

    def test_a_doctest_is_there(self):
        assert ">>> " in fm.Accumulator.__doc__


# ----------------------------------------------------------------------------------------- memory of the caller's


def arrays():
    log = strategies.click_log(200, seed=6)
    return {**log, "w": np.ones(200), "by": np.arange(200) % 3}


def overwrite(log):
    for column in log.values():
        column[:] = column[::-1].copy() if column.dtype.kind != "f" else 0.5


@pytest.mark.parametrize("flush_rows", [1, 1 << 20])
@pytest.mark.parametrize("kind", ["dict", "arrow table", "arrow batch", "pandas"])
@pytest.mark.parametrize("metrics", [["auc"], ["gauc"], ["logloss"], WEIGHTED], ids=["auc", "gauc", "logloss", "all"])
def test_the_callers_memory_may_be_used_again(monkeypatch, flush_rows, kind, metrics):
    monkeypatch.setattr(accumulator, "FLUSH_ROWS", flush_rows)
    wrap = {
        "dict": dict,
        "arrow table": pa.table,
        "arrow batch": pa.RecordBatch.from_pydict,
        "pandas": lambda log: pandas().DataFrame(log, copy=False),
    }[kind]
    log = arrays()
    state = new(metrics, weight="w", by="by")
    state.update(wrap(log))
    overwrite(log)
    same(state.result(), evaluate(arrays(), metrics, weight="w", by="by"))


def test_the_callers_memory_is_not_written_to():
    log = arrays()
    for column in log.values():
        column.flags.writeable = False
    state = new(WEIGHTED, weight="w", by="by")
    state.update(log)
    state.merge(state).result()
    for name, column in arrays().items():
        assert (log[name] == column).all()


def test_a_batch_is_let_go_of():
    """What waits is copied: a table of many columns does not stay in memory for the sake of two."""
    before = pa.total_allocated_bytes()
    state = new(["auc"])
    table = pa.table({name: pa.array(column.tolist()) for name, column in strategies.click_log(20_000).items()})
    state.update(table)
    del table
    assert pa.total_allocated_bytes() - before < 8 * 20_000


# ------------------------------------------------------------------------------------------------- other processes


def work(job):
    """A worker's part; returns the state in one of the ways it may travel."""
    log, way = job
    state = filled(log, by="by", n_threads=1)
    return state.to_bytes() if way == "bytes" else state


@pytest.mark.parametrize("method", [own for own in ("fork", "spawn") if own in multiprocessing.get_all_start_methods()])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_workers(log, method):
    parts = pieces(log, 100)
    jobs = [(part, ("bytes", "pickle")[number % 2]) for number, part in enumerate(parts)]
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
