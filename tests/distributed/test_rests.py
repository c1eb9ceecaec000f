"""Slices compared with the rest of the rows, by the rounds that an engine runs: `compare`, to the last bit."""

import inspect

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core.resampling import additive_replicates
from fastmetrics.distributed.plan import DistributedPlan
from fastmetrics.engine.compare import plan_comparison
from fastmetrics.engine.evaluation.options.option import COMPARE
from fastmetrics.engine.partial import slices_and_rests
from fastmetrics.engine.plan import resampling_options
from fastmetrics.engine.tested_differences import make_comparison
from support.cases import assert_raises, each_case
from support.states.round_cases import SETS, make_log
from support.states.toy_engine import last_summaries, split_rows

USERS = {"label": "click", "score": ["pctr"], "group": "user", "baseline": "rest"}


@pytest.fixture(scope="module")
def log():
    return make_log()


@pytest.fixture(scope="module")
def sources(log):
    """Rows of the same users in several; some have no row of a slice, one has no row at all."""
    tv = np.array(log["channel"].to_pylist(), object) == "tv"
    return [*split_rows(log.filter(~tv), 2), [log.filter(tv)], [], [log[:0]]]


def compare(sources, metrics, targets=3, **options):
    """What an entry point of a cluster does."""
    arguments = {name: own.default for name, own in inspect.signature(fm.compare).parameters.items() if name != "data"}
    question, tasks = plan_comparison(COMPARE, fm.compare, arguments | {"metrics": metrics} | options)
    plan = DistributedPlan(question, tasks, targets)
    return make_comparison(plan.resolve(last_summaries(plan, sources)), question, 0.0)


@each_case(
    ("metrics", "options"),
    [
        (["logloss", "ne", "ctr", "accuracy", "ece"], {"by": "channel"}),
        (["auc", "ap", "ks", "logloss"], {"by": "channel", "weight": "w"}),
        (["gauc", "ndcg@5", "mrr"], {"by": ["channel", "day"]}),
        (["auc", "gauc", "logloss"], {"by": SETS, "min_rows": 400}),
        (["auc", "gauc", "logloss"], {"by": "channel", "unit": "household"}),
        (["auc", "eer", "logloss", "gauc(stat=p10)"], {"by": "channel"}),
        (["auc", "gauc", "logloss", "ks"], {"by": "channel", "replicates": 9, "seed": 3}),
        (["auc", "logloss"], {"by": SETS, "replicates": 9, "ci_method": "normal"}),
        (["logloss", "auc"], {"by": "channel", "ci_method": "anytime", "correction": "none"}),
    ],
)
def test_rests_are_those_of_compare(log, sources, metrics, options, monkeypatch):
    monkeypatch.setattr(resampling_options, "DEFAULT_REPLICATES", 20)
    expected = fm.compare(log, metrics, **USERS, **options)
    assert len(expected) > len(metrics)
    assert any(own.interval is not None for own in expected)
    assert compare(sources, metrics, 1 if "min_rows" in options else 4, **USERS, **options) == expected


def test_slices_of_fewer_entries_than_units(log, sources, monkeypatch):
    monkeypatch.setattr(additive_replicates, "LEAST_ENTRIES", 4)
    monkeypatch.setattr(additive_replicates, "MOST_SLICE_ENTRIES", 200)
    metrics = ["logloss", "auc", "gauc"]
    assert compare(sources, metrics, 7, **USERS, by=SETS) == fm.compare(log, metrics, **USERS, by=SETS)


def test_several_models_have_no_rests(log, sources):
    options = USERS | {"score": ["pctr", "coarse"], "baseline": "coarse", "by": "channel"}
    assert compare(sources, ["auc", "gauc"], **options) == fm.compare(log, ["auc", "gauc"], **options)


def test_too_many_slices_are_an_error(sources, monkeypatch):
    monkeypatch.setattr(slices_and_rests, "MOST_SLICES", 2)
    assert_raises(ValueError, "at most 2 are compared with the rest", compare, sources, ["auc"], **USERS, by="channel")
