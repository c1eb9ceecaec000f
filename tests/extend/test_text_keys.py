"""Keys of a role that are texts: exchanges move numbers, metrics see ranks, and results are those of numbered keys."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.tables.key_texts import KeyTexts
from fastmetrics.extend import Key, Real, RowStatistic, ScoreRangeStatistic, metric
from support.cases import assert_raises, each_case
from support.extend.worked_examples import contents, load_example
from support.states.spilled_logs import small_batches, tiny_memory
from support.states.toy_engine import run, split_rows

COLUMNS = {"score": "score", "group": "user", "item": "item"}
METRICS = ["exposure_gini@1", "exposure_gini@5"]
ITEMS = [f"{'long item name ' * (number % 3)}{number:03d} é" for number in range(200)]


@pytest.fixture(autouse=True, scope="module")
def example(worked_examples):
    load_example("exposure_gini")


def make_logs(rows=5000, users=60, seed=0):
    """A log with texts as items, and the same log with the position of each text among the sorted texts."""
    random = np.random.default_rng(seed)
    ranks = random.zipf(1.3, rows) % len(ITEMS)
    texts = sorted(ITEMS, key=str.encode)
    log = {
        "user": random.integers(0, users, rows), "score": np.round(random.random(rows), 1),
        "hour": random.integers(0, 3, rows), "item": ranks,
    }  # fmt: skip
    return pa.table(log | {"item": pa.array([texts[rank] for rank in ranks])}), pa.table(log)


def evaluate(log, **options):
    return contents(fm.evaluate(log, METRICS, **COLUMNS, **options))


@each_case("options", [{}, {"by": "hour"}, {"ci": 0.9, "replicates": 5}, {"n_threads": 1}])
def test_texts_count_as_their_ranks(options):
    """Scores have many ties: the item that comes first decides them, so texts have to be in their own order."""
    texts, ranks = make_logs()
    assert evaluate(texts, **options) == evaluate(ranks, **options)


@each_case("kind", ["large_string", "string_view", "dictionary<values=string, indices=int32, ordered=0>"])
def test_types_of_text(kind):
    texts, ranks = make_logs(500)
    column = texts["item"]
    typed = column.dictionary_encode() if kind.startswith("dictionary") else column.cast(kind)
    assert str(typed.type) == kind
    assert evaluate(texts.set_column(3, "item", typed)) == evaluate(ranks)


def test_any_order_batches_states_and_memory(monkeypatch):
    texts, ranks = make_logs()
    expected = evaluate(ranks, by="hour")
    moved = texts.take(np.random.default_rng(1).permutation(texts.num_rows))
    assert evaluate(moved.to_reader(max_chunksize=137), by="hour", n_threads=2) == expected
    parts = []
    for start, rows in ((0, 1000), (1000, 1), (1001, 5000)):  # each state numbers the texts in its own order
        part = fm.Accumulator(METRICS, **COLUMNS, by="hour")
        part.update(moved.slice(start, rows))
        parts.append(fm.Accumulator.from_bytes(part.to_bytes()))
    merged = parts[1].copy().merge(parts[2]).merge(parts[0])
    assert contents(merged.result()) == expected
    again = fm.Accumulator.from_bytes(merged.to_bytes())
    assert contents(again.result()) == expected
    small_batches(monkeypatch, 300)
    tiny_memory(monkeypatch, 1 << 13)
    assert evaluate(texts, by="hour", memory_limit="1MiB", n_threads=1) == expected


@each_case("options", [{}, {"by": "hour"}, {"ci": 0.9, "replicates": 5}])
def test_sources_number_texts_in_their_own_order(options):
    """Rows that an engine moves have the numbers of their source, and the texts behind them."""
    texts, ranks = make_logs(2000)
    question, rounds = fm.Evaluation(METRICS, **COLUMNS, **options), []
    found = run(question, split_rows(texts, 3), targets=4, rounds=rounds)
    assert contents(found) == evaluate(ranks, **options)
    assert rounds == [1, 2]


def test_one_large_group(monkeypatch):
    """A group that is larger than a partition may be."""
    texts, ranks = make_logs(4000, users=1)
    small_batches(monkeypatch, 300)
    tiny_memory(monkeypatch, 1 << 10)
    assert evaluate(texts, memory_limit="1MiB") == evaluate(ranks)


@given(st.lists(st.text(max_size=20), min_size=1, max_size=30), st.integers(0, 30))
def test_ranks_are_positions_among_sorted_bytes(texts, cut):
    numbered, rest = KeyTexts(["item"], True), KeyTexts(["item"], True)
    numbers = np.empty(len(texts), np.int64)
    for own, rows in ((numbered, slice(0, cut)), (rest, slice(cut, None))):
        if texts[rows]:
            numbers[rows] = own.read(pa.array(texts[rows]), "item", int)
    moved = numbered.merge(rest)
    numbers[cut:] = numbers[cut:] if moved is None else moved[numbers[cut:]]
    ranked = numbered.rank()
    ordered = sorted({text.encode() for text in texts})
    ranks = ranked.rank_columns({"role:item": numbers, "score0": numbers})
    assert [ordered[rank] for rank in ranked.rank_of[numbers]] == [text.encode() for text in texts]
    assert ranked.keys(ranked.rank_of[numbers]).to_numpy().tolist() == texts
    assert ranks["score0"] is numbers


def test_a_state_tells_texts_from_integers():
    texts, ranks = make_logs(20)
    states = []
    for log in (texts, ranks):
        states.append(fm.Accumulator(METRICS, **COLUMNS))
        states[-1].update(log)
    message = "item column 'item' has Arrow type int64, and other batches or columns of keys have texts"
    assert_raises(TypeError, message, states[0].update, ranks)
    restored = fm.Accumulator.from_bytes(states[1].to_bytes())
    assert_raises(TypeError, "columns of keys have integers", restored.update, texts)
    assert_raises(TypeError, "item are texts here, integers there", states[0].merge, states[1])
    assert contents(states[0].result()) == evaluate(texts)  # as before the errors
    empty = fm.Accumulator(METRICS, **COLUMNS)
    refused = texts.set_column(1, "score", pa.array(["a"] * 20))
    assert_raises(TypeError, "score column", empty.update, refused)
    empty.update(ranks)  # the refused batch left no trace
    assert contents(empty.result()) == evaluate(ranks)


def test_bad_keys():
    texts, _ = make_logs(20)
    floats = texts.set_column(3, "item", pa.array(np.zeros(20)))
    assert_raises(TypeError, "item column 'item' has Arrow type double: keys of this role are", evaluate, floats)
    large = texts.set_column(3, "item", pa.array([1] * 19 + [2**63], pa.uint64()))
    assert_raises(ValueError, "item column 'item' has 9223372036854775808 at row 19", evaluate, large)
    missing = texts.set_column(3, "item", pa.array(["a"] * 19 + [None]))
    assert_raises(ValueError, "item column 'item' has a null at row 19", evaluate, missing)
    report = fm.evaluate(missing, METRICS, **COLUMNS, on_invalid="drop")
    assert report[METRICS[0]] == fm.evaluate(missing.slice(0, 19), METRICS, **COLUMNS)[METRICS[0]]
    assert report.dropped == {"null or NaN item": 1}


def test_many_texts_count_against_the_memory_limit():
    rows = 20_000
    log = {"user": np.arange(rows), "score": np.zeros(rows), "item": [f"item {row:0100d}" for row in range(rows)]}
    message = r"the different texts of item take more than half of memory_limit=1 MiB"
    assert_raises(ValueError, message, evaluate, log, memory_limit="1MiB")


@each_case("base", [RowStatistic, ScoreRangeStatistic])
def test_only_metrics_of_groups_take_texts(base):
    class Rows(base):
        sums = ("rows",)

        def terms(self, columns):
            return {"rows": np.ones(columns.rows)}

        def state(self, columns, above, total):
            return 0

        def merge(self, higher, lower):
            return 0

    exchange = "none" if base is RowStatistic else "range"

    @metric(f"own_{exchange}", exchange=exchange, statistics=Rows(), roles={"score": Real(), "item": Key()})
    def own(parameters, state):
        """The number of rows."""
        return 0.0

    texts, _ = make_logs(20)
    columns = {"score": "score", "item": "item"}
    message = "item column 'item' has Arrow type string: keys of this role are integers or dates: number other keys"
    assert_raises(TypeError, message, fm.evaluate, texts, [f"own_{exchange}"], **columns)
