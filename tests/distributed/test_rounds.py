"""The rounds that an engine runs where its rows are give the report of `evaluate`, to the last bit."""

import pytest

import fastmetrics as fm
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.resampling import additive_replicates
from fastmetrics.distributed import moved_rows, pieces
from support.cases import assert_raises, each_case
from support.registry_cases import JOINT_METRICS
from support.states.round_cases import (
    COLUMNS,
    INTERVALS,
    LINEARIZED,
    OF_CLASSES,
    REPORTS,
    ROWS,
    SETS,
    TASKS,
    UNITS,
    make_log,
)
from support.states.toy_engine import all_pieces, combine, run, split_rows, states_of_sources


@pytest.fixture(scope="module")
def log():
    return make_log()


@pytest.fixture(scope="module")
def sources(log):
    return [*split_rows(log, 3), [], [log[:0]]]  # one that reads nothing, and one that has no rows


def same(log, sources, metrics, n_rounds, targets=3, **options):
    question, rounds = fm.Evaluation(metrics, **(COLUMNS | options)), []
    found, expected = run(question, sources, targets, rounds), question.run(log)
    assert found == expected
    assert found.to_arrow().equals(expected.to_arrow())
    assert [own.rows for own in found] == [own.rows for own in expected]
    assert rounds == list(range(1, n_rounds + 1))
    assert run(question, sources, targets, reads_again=True) == expected
    return found


@each_case(("metrics", "n_rounds", "options"), REPORTS)
def test_reports_are_those_of_evaluate(log, sources, metrics, n_rounds, options):
    same(log, sources, metrics, n_rounds, **options)


@each_case(("metrics", "options"), OF_CLASSES)
def test_probabilities_of_several_classes(log, sources, metrics, options):
    question = fm.Evaluation(metrics, label="kind", probabilities="probs", **options)
    assert run(question, sources) == question.run(log)


@each_case(("metrics", "options"), INTERVALS)
def test_intervals(log, sources, metrics, options):
    found = same(log, sources, metrics, 2, **(UNITS | options))
    assert all(own.interval is not None for own in found)


@each_case("method", [None, "linearized"])
@each_case(("metrics", "options"), LINEARIZED)
def test_linearized_intervals(log, sources, metrics, method, options):
    found = same(log, sources, metrics, 2, **options, ci=0.9, ci_method=method)
    assert method is not None or all(own.interval is not None for own in found)


def test_slices_of_fewer_entries_than_units(log, sources, monkeypatch):
    monkeypatch.setattr(additive_replicates, "LEAST_ENTRIES", 4)
    monkeypatch.setattr(additive_replicates, "MOST_SLICE_ENTRIES", 200)
    same(log, sources, ["logloss", "auc", "gauc"], 2, targets=7, group="user", by=SETS, ci=0.9)


def test_several_tasks_with_filters_and_computed_columns(log, sources):
    same(log, sources, ["auc", "logloss"], 3, tasks=TASKS, by="channel", min_rows=1300)


def test_texts_and_keys_of_items(log, sources):
    for metrics in (["bleu", "rouge1"], ["chrf"]):
        question = fm.Evaluation(metrics, by="channel")
        assert run(question, sources) == question.run(log)


def test_every_metric_at_once(log, sources):
    same(log, sources, JOINT_METRICS, 3, group="user")


@each_case("targets", [1, 2, 7, 600])
def test_any_number_of_targets(log, sources, targets):
    same(log, sources, ["auc", "gauc", "logloss"], 2, targets=targets, group="name", by="channel")


def test_all_rows_are_spilled(log, sources, monkeypatch, tmp_path):
    expected = fm.Evaluation(["auc", "gauc", "ks"], group="name", by="channel", **COLUMNS)
    report = expected.run(log)
    monkeypatch.setattr(pieces, "MOST_WAITING", 1 << 12)
    monkeypatch.setattr(MemoryBudget, "try_reserve", lambda budget, n_bytes: False)
    assert run(expected, sources, memory_limit="1MiB", spill_dir=str(tmp_path)) == report
    assert not list(tmp_path.iterdir())


def test_samples_are_small(log, monkeypatch):
    monkeypatch.setattr(moved_rows, "LEAST_SAMPLED", 8)
    plan = fm.Evaluation(["auc", "gauc"], group="user", **COLUMNS).plan()
    state = plan.partial(0)
    state.update(log)
    assert len(state.summary(plan.first)) < ROWS


@each_case("options", [{}, {"group": "name", "by": SETS, "weight": "of_user"}, UNITS | {"unit": "household"}])
def test_states_are_bytes_between_steps(log, sources, options):
    metrics = ["auc", "logloss", "ks"] + ["gauc"] * ("group" in options)
    question = fm.Evaluation(metrics, **COLUMNS, **options)
    assert run(question, sources, restores=True) == question.run(log)


def test_states_for_summaries_alone(log):
    plan = fm.Evaluation(["auc", "gauc"], group="name", **COLUMNS).plan()
    (state,) = states_of_sources(plan, [[log]], summary_only=True)
    decision = plan.decide([state.summary(plan.first)])
    for step in (state.to_bytes, lambda: list(state.pieces(decision))):
        assert_raises(ValueError, "summary_only=True gives its summary alone: read the rows again", step)


def test_states_of_texts_with_units_have_no_bytes(log):
    plan = fm.Evaluation("bleu", unit="user", **UNITS).plan()
    assert_raises(ValueError, "read the rows again", plan.partial(0).to_bytes)


def test_one_state_takes_several_logs(log):
    question = fm.Evaluation(["auc", "gauc"], group="name", **COLUMNS)
    parts = [log[:10], {"click": [], "pctr": [], "name": []}, log[10:].to_reader(7)]
    plan = question.plan()
    (state,) = states_of_sources(plan, [parts])
    decision = plan.decide([state.summary(plan.first)])
    targets = combine(plan, all_pieces([state], decision), decision)
    assert plan.finalize([own.summary(decision) for own in targets]) == question.run(log)
