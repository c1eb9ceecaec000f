"""A plan and its parts are never changed: what follows from them, and other statistics, make new ones."""

from dataclasses import FrozenInstanceError

import pytest

from fastmetrics._core.registry import list_metrics
from fastmetrics.engine.plan.column_names import read_column_names
from fastmetrics.engine.plan.metric_plan import make_plan
from fastmetrics.engine.plan.plan_parts import divide_plan


def test_nothing_of_a_plan_is_changed():
    plan = make_plan(["auc", "gauc"])
    names = read_column_names(plan, "click", "score", "user", None, None)
    (part,) = parts = divide_plan(plan, names)
    assert part.plan is plan
    for owner, name in ((plan, "statistics"), (part, "plan"), (names, "labels"), (list_metrics()["auc"], "name")):
        with pytest.raises(FrozenInstanceError):
            setattr(owner, name, ())
    with pytest.raises(TypeError):
        plan.statistics["range"] = ()
    before = dict(plan.statistics)
    without = plan.with_statistics(range=())
    assert (without.needs("range"), plan.needs("range")) == (False, True)
    assert {**before, "range": ()} == dict(without.statistics)
    assert dict(plan.statistics) == before
    assert divide_plan(make_plan("auc, gauc"), read_column_names(plan, "click", "score", "user", None, None)) is parts
