"""Win counts by group, compared with a plain loop over the groups."""

from __future__ import annotations

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core.comparison.win_counts import count_group_wins, has_group_values
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.registry import parse
from fastmetrics.engine.input.sources import open_source
from fastmetrics.engine.partial.partial_state import PartialState
from fastmetrics.engine.partial.slice_passes import slice_sets
from fastmetrics.engine.partial.state_options import StateOptions
from fastmetrics.engine.plan.tasks import IntervalArguments, Task, plan_task
from fastmetrics.engine.scan.read_log import read_source
from support.states.spilled_logs import counted

METRICS = [
    "gauc", "gauc(weight=pairs, single_class=half)", "ndcg@3", "map(empty=skip)", "mrr(empty=one)", "recall@2", "cg@2"
]  # fmt: skip


def log_of(rows, users, seed=0, texts=False, weights=False):
    generator = np.random.default_rng(seed)
    user = generator.integers(0, users, rows)
    first = generator.integers(0, 8, rows) / 8
    log = {
        "user": np.array([f"a user with a long name, {number}" for number in user]) if texts else user,
        "click": generator.integers(0, 2, rows),
        "other": generator.integers(0, 2, rows),
        "a": first,
        "b": np.where(generator.random(rows) < 0.3, first, generator.random(rows)),
        "c": generator.random(rows).astype(np.float32),
        "country": generator.choice(["NL", "DE"], rows),
    }
    return log | ({"weight": generator.integers(0, 3, rows)[user] * 1.0} if weights else {})


def wins_of(log, metrics, label="click", by=None, n_threads=2, budget=None, weight=None):
    columns = Task(label=label, score=["a", "b", "c"], group="user", weight=weight, metrics=metrics)
    task = plan_task(columns, by, IntervalArguments())
    plan, names = task.plan, task.names
    source = open_source(log)
    state = PartialState([task], StateOptions("raise", budget, source.rows))
    (part,) = state.parts
    try:
        read_source(state, source, n_threads)
        sets = slice_sets(part.slices)
        found = count_group_wins(part.group_exchange, plan.metrics, part.outputs, sets, n_threads)
        slices = {number: values[1:] for values, number in part.slices.numbers.items()} | {None: ()}
    finally:
        part.close()
    counts = {}
    for (metric, output_number, slice_number), wins in found.items():
        pair = part.outputs[output_number]
        key = repr(metric), names.labels[pair.label], names.scores[pair.score], slices[slice_number]
        counts[key] = wins.won, wins.lost, wins.tied
    return counts


def by_definition(log, metrics, label="click", by=None):
    """Evaluate every group by itself, under every model."""
    found = {}
    present = {()} | ({(value,) for value in log[by].tolist()} if by else set())
    for values in present:
        inside = np.ones(len(log["user"]), bool) if not values else log[by] == values[0]
        for metric in metrics:
            name = repr(parse(metric))
            for user in dict.fromkeys(log["user"][inside].tolist()):
                own = {key: column[inside & (log["user"] == user)] for key, column in log.items()}
                report = fm.evaluate(own, [metric], label=label, score=["a", "b", "c"], group="user", n_threads=1)
                before = report.value(metric, score="a")
                for score in "bc":
                    after = report.value(metric, score=score)
                    counts = found.setdefault((name, label, score, values), [0, 0, 0])
                    counts[0] += after > before
                    counts[1] += after < before
                    counts[2] += after == before
    return {key: tuple(counts) for key, counts in found.items()}


@pytest.mark.filterwarnings("ignore::fastmetrics.UndefinedMetricWarning")
@pytest.mark.parametrize("texts", [False, True])
def test_counts_equal_a_loop_over_groups(texts):
    log = log_of(200, 40, texts=texts)
    expected = by_definition(log, METRICS)
    assert wins_of(log, METRICS) == expected
    assert all(sum(counts) for counts in expected.values())
    assert wins_of(log, METRICS, label=["click", "other"]) == expected | by_definition(log, METRICS, label="other")


@pytest.mark.filterwarnings("ignore::fastmetrics.UndefinedMetricWarning")
def test_slices():
    log = log_of(150, 25, seed=1)
    assert wins_of(log, METRICS[:3], by="country") == by_definition(log, METRICS[:3], by="country")


def test_every_path_of_the_group_reduction():
    log = log_of(60_000, 3_000, seed=2)
    log["user"][:9_000] = -1  # one large group
    expected = wins_of(log, METRICS, n_threads=1, by="country")
    order = np.random.default_rng(3).permutation(60_000)
    moved = {name: column[order] for name, column in log.items()}
    assert wins_of(moved, METRICS, n_threads=3, by="country") == expected
    with counted() as calls:
        assert wins_of(moved, METRICS, budget=MemoryBudget(1 << 18, None, 2), by="country") == expected
    assert calls["large group"]
    assert calls["spilled"]


def test_weights_do_not_change_win_counts():
    log = log_of(2_000, 100, seed=4)
    weighted = log | {"weight": (log["user"] % 3 + 1).astype(float)}
    assert wins_of(weighted, METRICS[2:], weight="weight") == wins_of(log, METRICS[2:])


def test_has_group_values():
    assert has_group_values(parse("gauc"))
    assert has_group_values(parse("hr@10"))
    assert not has_group_values(parse("hr(average=micro)@10"))
    assert not has_group_values(parse("auc"))
    log = log_of(50, 5)
    assert wins_of(log, ["hr(average=micro)@2"]) == {}
    assert wins_of(log, ["idcg@2"]) == {}  # it says nothing about a model
