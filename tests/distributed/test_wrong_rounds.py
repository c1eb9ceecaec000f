"""Calls of a plan that get what belongs to another round, another plan or another question."""

import pytest

import fastmetrics as fm
from fastmetrics.distributed import processes
from support.cases import assert_raises

LOG = {"y": [1, 0, 0, 1, 1, 0], "s": [0.9, 0.3, 0.8, 0.2, 0.6, 0.1], "u": [1, 1, 2, 2, 3, 3]}
QUESTION = fm.Evaluation(["logloss", "auc", "gauc", "ks"], label="y", score="s", group="u")


class Moved:
    """A plan of two targets after its rows have moved."""

    def __init__(self):
        self.plan = QUESTION.plan(targets=2)
        self.source = self.plan.partial(0)
        self.source.update(LOG)
        self.first = [self.source.summary(self.plan.first)]
        self.decision = self.plan.decide(self.first)
        self.pieces = list(self.source.pieces(self.decision))
        self.targets = list(self.plan.combine_targets(self.pieces, self.decision))
        self.second = [target.summary(self.decision) for target in self.targets]


@pytest.fixture(scope="module")
def moved():
    return Moved()


def test_a_report_needs_the_last_round(moved):
    finalize = moved.plan.finalize
    assert_raises(ValueError, "summaries of round 3; found those of round 1", finalize, moved.first)
    assert_raises(ValueError, "summaries of round 3; found those of round 2", finalize, moved.second)
    assert_raises(ValueError, "summaries of round 3; found none", finalize, [])
    last = moved.plan.decide(moved.second)
    assert finalize([target.summary(last) for target in moved.targets]) == QUESTION.run(LOG)


def test_decisions_of_other_rounds_and_plans(moved):
    message = "the decision of round 1 moves no rows: pass the one that decide"
    assert_raises(ValueError, message, lambda: list(moved.source.pieces(moved.plan.first)))
    assert_raises(ValueError, message, moved.targets[0].summary, moved.plan.first)
    other = QUESTION.plan(targets=3)
    assert_raises(
        ValueError, "of a plan of 2 targets; this one has 3",
        lambda: list(other.combine_targets(moved.pieces, moved.decision)),
    )


def test_states_of_other_questions(moved):
    data = moved.source.to_bytes()
    assert moved.plan.restore(data).rows == moved.source.rows
    for changed, message in (
        ({"where": "u > 1"}, "different questions do not merge: where is 'u > 1' here, None there"),
        ({"label": "s", "score": "y"}, "different questions do not merge: label is 's' here, 'y' there"),
    ):
        assert_raises(ValueError, message, QUESTION.replace(**changed).plan().restore, data)
    assert_raises(ValueError, "no state of a source, as SourceState.to_bytes gives them", moved.plan.restore, b"x")


def test_sources_of_a_pool(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,s,u\n1,0.5,1\n0,0.2,1\n")
    link = tmp_path / "b.csv"
    link.symlink_to(path)
    for sources, message in (
        ([path, path], r"sources\[0\] and sources\[1\]: .*a.csv is given twice, and its rows would count twice"),
        ([path, {"y": [1]}, str(link)], r"sources\[0\] and sources\[2\]: .*b.csv is given twice"),
        ((own for own in [path]), "sources must be a list of paths or tables, at least one; found generator"),
        (LOG, "found dict"),
        ([], "found an empty list"),
        (str(path), "found str"),
    ):
        assert_raises(ValueError, message, processes.evaluate, sources, QUESTION)
    for number in ("2", 1.5, True, 0):
        message = f"n_processes must be an integer of at least 1, or -1 or None for all CPUs; found {number!r}"
        assert_raises(ValueError, message, processes.evaluate, [LOG], QUESTION, n_processes=number)
    assert_raises(TypeError, "evaluation must be an Evaluation; found str", processes.evaluate, [LOG], "auc")
