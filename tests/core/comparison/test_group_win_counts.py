"""Groups won, lost and tied between models, against a plain loop over the groups."""

from __future__ import annotations

import numpy as np
import pytest
from spilling import counted

import fastmetrics as fm
from fastmetrics._core.blocks import Room
from fastmetrics._core.group_wins import count_group_wins, has_group_values
from fastmetrics._core.registry import parse
from fastmetrics.engine.evaluate import read_names
from fastmetrics.engine.feed import run_scan
from fastmetrics.engine.plan import make_plan
from fastmetrics.engine.scan import Scan
from fastmetrics.engine.sources import open_source

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


def wins_of(log, metrics, label="click", by=None, n_threads=2, room=None, weight=None):
    plan = make_plan(metrics)
    names = read_names(plan, label, ["a", "b", "c"], "user", weight, by)
    source = open_source(log)
    scan = Scan(plan, names, "raise", source.rows, room)
    try:
        run_scan(scan, source, names.wanted(), n_threads, None)
        found = count_group_wins(scan.exchange, plan.metrics, scan.views, by is not None, n_threads)
        slices = {number: values for values, number in scan.reader.slices.numbers.items()} | {None: ()}
    finally:
        scan.close()
    return {
        (repr(metric), names.labels[scan.views[view].label], names.scores[scan.views[view].score], slices[number]): (
            own.won, own.lost, own.tied,
        )
        for (metric, view, number), own in found.items()
    }  # fmt: skip


def by_definition(log, metrics, label="click", by=None):
    """Every group evaluated alone, under every model."""
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
def test_groups_are_counted_as_by_a_loop(texts):
    log = log_of(200, 40, texts=texts)
    expected = by_definition(log, METRICS)
    assert wins_of(log, METRICS) == expected
    assert all(sum(counts) for counts in expected.values())
    assert wins_of(log, METRICS, label=["click", "other"]) == expected | by_definition(log, METRICS, label="other")


@pytest.mark.filterwarnings("ignore::fastmetrics.UndefinedMetricWarning")
def test_slices_have_groups_of_their_own():
    log = log_of(150, 25, seed=1)
    assert wins_of(log, METRICS[:3], by="country") == by_definition(log, METRICS[:3], by="country")


def test_every_way_through_the_groups_counts_the_same():
    log = log_of(60_000, 3_000, seed=2)
    log["user"][:9_000] = -1  # a giant
    expected = wins_of(log, METRICS, n_threads=1, by="country")
    order = np.random.default_rng(3).permutation(60_000)
    moved = {name: column[order] for name, column in log.items()}
    assert wins_of(moved, METRICS, n_threads=3, by="country") == expected
    with counted() as calls:
        assert wins_of(moved, METRICS, room=Room(1 << 18, None, 2), by="country") == expected
    assert calls["giant group"]
    assert calls["spilled"]


def test_weights_of_users_do_not_weigh_what_is_counted():
    log = log_of(2_000, 100, seed=4)
    weighted = log | {"weight": (log["user"] % 3 + 1).astype(float)}
    assert wins_of(weighted, METRICS[2:], weight="weight") == wins_of(log, METRICS[2:])


def test_which_metrics_have_values_of_groups():
    assert has_group_values(parse("gauc"))
    assert has_group_values(parse("hr@10"))
    assert not has_group_values(parse("hr(average=micro)@10"))
    assert not has_group_values(parse("auc"))
    log = log_of(50, 5)
    assert wins_of(log, ["hr(average=micro)@2"]) == {}
    assert wins_of(log, ["idcg@2"]) == {}  # it says nothing of a model
