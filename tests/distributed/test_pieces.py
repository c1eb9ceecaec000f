"""Pieces that arrive twice, from two attempts, or not at all."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import fastmetrics as fm
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics.distributed import pieces
from support.cases import assert_raises
from support.states.toy_engine import all_pieces, combine, split_rows, states_of_sources
from support.subprocesses import run

QUESTION = fm.Evaluation(["auc", "gauc", "logloss"], label="click", score="pctr", group="user")
ROWS = 900


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(pieces, "MOST_WAITING", 1 << 12)


@pytest.fixture(scope="module")
def log():
    random = np.random.default_rng(0)
    users = [f"a user whose name is long, number {own}" for own in random.integers(0, 60, ROWS)]
    return pa.table({"click": random.integers(0, 2, ROWS), "pctr": random.random(ROWS), "user": users})


@pytest.fixture
def moved(log):
    """A plan, its states, the decision that moves rows, and the pieces."""
    plan = QUESTION.plan(targets=2)
    states = states_of_sources(plan, split_rows(log, 2))
    decision = plan.decide([state.summary(plan.first) for state in states])
    return plan, states, decision, all_pieces(states, decision)


def number(piece, name):
    return piece[name][0].as_py()


def report(plan, states, decision):
    summaries = [state.summary(decision) for state in states]
    assert plan.decide(summaries).is_final
    return plan.finalize(summaries)


def test_pieces_tell_where_they_belong(moved):
    plan, _, decision, own = moved
    assert own[0].schema.names == ["round", "source", "attempt", "target", "chunk", "chunks", "rows", "payload"]
    places = [tuple(number(piece, name) for name in ("source", "target", "chunk")) for piece in own]
    assert len(set(places)) == len(places) > 2 * plan.targets * 2
    last = [piece for piece in own if number(piece, "chunks")]
    assert len(last) == len(decision.sources) * plan.targets
    assert sum(number(piece, "rows") for piece in own) == 2 * ROWS  # of groups, and of scores


def test_repeated_pieces_and_attempts_are_taken_once(moved, log):
    plan, _, decision, own = moved
    again = all_pieces(states_of_sources(plan, split_rows(log, 2), attempt=1), decision)
    cut_off = [piece for piece in again if number(piece, "source") == 1 and not number(piece, "chunks")]
    targets = combine(plan, own + own[1::2] + again, decision)
    assert sum(state.repeated_pieces for state in targets) == len(own[1::2]) + len(again)
    assert report(plan, targets, decision) == QUESTION.run(log)
    for state in targets:
        state.close()
    # An attempt that was cut off does not count, though it is the first.
    first = [piece for piece in own if number(piece, "source") != 1] + cut_off
    renumbered = [
        piece.set_column(2, "attempt", pa.array([2 - number(piece, "attempt")])) for piece in first + own
    ]
    assert report(plan, combine(plan, renumbered, decision), decision) == QUESTION.run(log)


def test_missing_pieces_are_named(moved):
    plan, _, decision, own = moved
    for lost, words in [
        (lambda piece: number(piece, "source") == 1, "no piece of source 1 arrived at target 0"),
        (lambda piece: number(piece, "chunk") == 1, r"chunk 1 of \d+ of source 0 \(attempt 0\) did not arrive at"),
        (lambda piece: number(piece, "chunks") > 0, r"chunk \d+ of source 0 \(attempt 0\) did not arrive at target 0"),
    ]:
        kept = [piece for piece in own if not lost(piece)]
        assert_raises(ValueError, words, combine, plan, kept, decision)
    assert_raises(ValueError, "found those of 0 targets", plan.combine, [], decision)
    assert_raises(ValueError, "found those of 2 targets", plan.combine, own, decision)


def test_pieces_of_others_are_refused(moved, log):
    plan, _, decision, own = moved
    later = [piece.set_column(0, "round", pa.array([3])) for piece in own]
    words = r"chunk \d+ of source \d at target \d is of round 3; round 2"
    assert_raises(ValueError, words, combine, plan, later, decision)
    stranger = states_of_sources(plan, [[], [], [log]])[2:]
    assert_raises(
        ValueError, r"source 2 at target \d is of a source that gave no summary",
        combine, plan, own + all_pieces(stranger, decision), decision,
    )


def test_a_source_that_changes_is_refused(moved, log):
    plan, states, decision, _ = moved
    other = states_of_sources(plan, [[], [log[:5]]])[1:]
    targets = combine(plan, all_pieces(states[:1] + other, decision), decision)
    words = r"source 1 had \d+ rows when it was first computed and 5 the second time: it is not the same each time"
    assert_raises(ValueError, words, plan.decide, [state.summary(decision) for state in targets])


def test_held_pieces_are_in_a_file_if_memory_is_short(moved, log, tmp_path, monkeypatch):
    plan, _, decision, own = moved
    monkeypatch.setattr(MemoryBudget, "try_reserve", lambda budget, n_bytes: False)
    targets = combine(plan, own, decision, memory_limit="1MiB", spill_dir=str(tmp_path))
    assert report(plan, targets, decision) == QUESTION.run(log)
    assert not list(tmp_path.iterdir())


def test_steps_of_workers_import_little(tmp_path, log):
    """A worker that starts imports the metrics of the question, and neither HTTP nor resampling."""
    parquet.write_table(log, tmp_path / "log.parquet")
    plan = QUESTION.plan(targets=1)
    states = states_of_sources(plan, [[log]])
    decision = plan.decide([state.summary(plan.first) for state in states])
    (tmp_path / "plan").write_bytes(pickle.dumps((plan, decision)))
    code = """
import pickle
with open(sys.argv[2], "rb") as file:
    plan, decision = pickle.load(file)
state = plan.partial(source=0)
state.update(sys.argv[1])
state.summary(plan.first)
plan.combine(list(state.pieces(decision)), decision).summary(decision)
modules = [name for name in sys.modules if name.startswith("fastmetrics.metrics.") or "resampling." in name]
print("urllib.request" in sys.modules)
print("fastmetrics._core.resampling.additive_replicates" in modules, len(modules) < 40)
print([name for name in modules if name.startswith("fastmetrics.metrics.text")])
"""
    assert run(code, tmp_path / "log.parquet", tmp_path / "plan") == ["False", "False True", "[]"]


def test_no_step_imports_pandas(tmp_path, log):
    """Each process of a pool would do so, a third of a second before its first piece."""
    parquet.write_table(log, tmp_path / "log.parquet")
    code = """
question = fm.Evaluation(["auc", "gauc"], label="click", score="pctr", group="user")
plan = question.plan(targets=1)
state = plan.partial(source=0)
state.update(sys.argv[1])
decision = plan.decide([state.summary(plan.first)])
plan.combine(list(state.pieces(decision)), decision).summary(decision)
print("pandas" in sys.modules)
"""
    assert run(code, tmp_path / "log.parquet") == ["False"]
