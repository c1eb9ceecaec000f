"""The rounds of `Evaluation.plan` once, for two sources of rows in this process."""

import pytest

import fastmetrics as fm
from support.states.toy_engine import run

pytestmark = pytest.mark.smoke

SOURCES = [
    {"click": [0, 0, 1], "pctr": [0.1, 0.4, 0.35], "user": ["ann"] * 3},
    {"click": [1, 0, 1], "pctr": [0.8, 0.2, 0.9], "user": ["ann", "bob", "bob"]},
]
METRICS = ["accuracy", "auc", "gauc"]  # one for each exchange: of nothing, of ranges of scores, of groups


def test_rounds_of_a_plan():
    report = run(fm.Evaluation(METRICS, label="click", score="pctr", group="user"), [[own] for own in SOURCES])
    # 5 of 6 rows on their side of 1/2; 8 of 9 pairs in order; 3 of ann's 4 pairs and bob's one, weighted by rows.
    assert [report[metric] for metric in METRICS] == [5 / 6, 8 / 9, (4 * 3 / 4 + 2 * 1) / 6]
