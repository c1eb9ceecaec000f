"""A group that nothing reads is a warning, the same at every entry point; version 0.1 accepted it."""

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics import Task
from support.cases import each_case

ROWS = 60
CHANCE = np.random.default_rng(4)
GROUPED = {
    "click": CHANCE.integers(0, 2, ROWS), "score": CHANCE.random(ROWS), "user": np.arange(ROWS) % 12,
    "day": np.arange(ROWS) % 4,
}  # fmt: skip
NO_EFFECT = "has no effect: no metric asked for is computed inside groups, and no intervals are resampled by it$"
pytestmark = pytest.mark.filterwarnings("error")


@each_case(("options", "named"), [
    ({"metrics": "auc"}, "group 'user'"),
    ({"metrics": "auc", "group": ["user", "day"]}, "group 'user, day'"),
    ({"metrics": "gauc(group=day)"}, "group 'user'"),
    ({"metrics": "auc", "ci": 0.9, "replicates": 2, "unit": "row"}, "group 'user'"),
    ({"metrics": "auc", "ci": 0.9, "ci_method": "delong"}, "group 'user'"),
    ({"metrics": "auc", "tasks": {"own": Task(group="day", metrics="gauc"), "other": Task()}}, "group 'user'"),
    ({"metrics": "gauc", "tasks": {"own": Task(group="day", metrics="auc"), "other": Task()}},
     "task 'own': group 'day'"),
])  # fmt: skip
def test_it_is_said(options, named):
    with pytest.warns(UserWarning, match=f"^{named} {NO_EFFECT}"):
        fm.evaluate(GROUPED, **{"label": "click", "score": "score", "group": "user", **options})


@each_case("options", [
    {"metrics": "gauc"}, {"metrics": "auc,gauc(group=day),gauc"}, {"metrics": "auc", "curves": True},
    {"metrics": "auc", "ci": 0.9, "replicates": 2},
    {"metrics": "auc", "tasks": {"own": Task(group="day", metrics="gauc"), "other": Task(metrics="gauc")}},
])  # fmt: skip
def test_what_reads_it_says_nothing(options):
    fm.evaluate(GROUPED, **{"label": "click", "score": "score", "group": "user", **options})


def test_of_compare_and_accumulators():
    options = {"label": "click", "group": "user"}
    with pytest.warns(UserWarning, match=f"^group 'user' {NO_EFFECT}"):
        fm.compare(GROUPED, "auc", scores=["score", "day"], unit="day", replicates=2, **options)
    with pytest.warns(UserWarning, match=f"^group 'user' {NO_EFFECT}"):
        fm.Accumulator("auc", score="score", **options)
    fm.compare(GROUPED, "auc", scores=["score", "day"], replicates=2, **options)
