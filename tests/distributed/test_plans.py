"""What a plan refuses, and what travels of it."""

import pickle

import pyarrow as pa
import pytest

import fastmetrics as fm
from fastmetrics.distributed import DistributedPlan
from support.cases import assert_raises

COLUMNS = {"label": "click", "score": "pctr"}


def test_a_plan_travels():
    question = fm.Evaluation(["auc", "gauc"], group="user", by="day", where="day > 1", **COLUMNS)
    plan = pickle.loads(pickle.dumps(question.plan(targets=4)))
    assert isinstance(plan, DistributedPlan)
    assert (plan.question, plan.targets, plan.n_rounds, plan.first) == (question, 4, 2, question.plan().first)
    statistics = [dict(part.plan.statistics) for _, part in plan.parts()]
    assert statistics == [dict(part.plan.statistics) for _, part in question.plan().parts()]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ci": 0.9}, "rows of batches and partitions have no places"),
        ({"by": "qcut(day, 3)"}, "needs all rows before the first is divided"),
        ({"curves": True}, "has no curves=True"),
        ({"approximate": True}, "has no approximate=True"),
    ],
)
def test_what_needs_one_machine_is_refused(options, words):
    assert_raises(ValueError, words, fm.Evaluation("auc", **COLUMNS, **options).plan)


def test_wrong_arguments():
    question = fm.Evaluation("auc", **COLUMNS)
    assert_raises(ValueError, "targets must be a positive integer; found 0", question.plan, targets=0)
    state = question.plan().partial(0)
    rows = {"click": [1], "pctr": [0.5]}
    assert_raises(ValueError, "table must be one of 'log', 'truth'; found 'items'", state.update, rows, table="items")
    assert_raises(TypeError, "no option of reading 'color'; known: .*format", state.update, pa.table({}), color="red")


def test_a_single_round_needs_no_target():
    plan = fm.Evaluation("logloss", **COLUMNS).plan()
    assert (plan.n_rounds, plan.moves_rows) == (1, False)
