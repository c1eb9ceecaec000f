"""Errors in the data come to the driver, which raises the first; workers raise none."""

import pyarrow as pa
import pytest

import fastmetrics as fm
from support.cases import assert_raises
from support.states.toy_engine import all_pieces, combine, run, states_of_sources

COLUMNS = {"label": "click", "score": "pctr"}
GOOD = pa.table({"click": [1, 0, 1], "pctr": [0.5, 0.25, 0.75], "user": [1, 1, 2], "household": [1, 2, 2]})
NO_ROWS = GOOD[:0]


def bad(**columns):
    return pa.table({name: columns.get(name, GOOD[name].to_pylist()) for name in GOOD.column_names})


@pytest.mark.parametrize(
    ("sources", "kind", "words"),
    [
        ([[GOOD], [bad(pctr=[0.5, None, 1.0])]], ValueError, r"'pctr' has a null at row 1;.*within source 1\)"),
        ([[GOOD], [GOOD], [GOOD, bad(click=[0, 1, 3])]], ValueError, r"'click' has 3 at row 2: .*within source 2\)"),
        ([[bad(click=[-1, 1, 1])], [GOOD]], ValueError, r"'click' has -1 in one of the states and 0 in the other"),
        ([[GOOD], [bad(user=["a", "b", "c"])]], TypeError, r"source 1: .*'user' is int64 here, string there"),
        ([[GOOD], [bad(pctr=pa.array([0.5] * 3, pa.float32()))]], TypeError, "'pctr' is double here, float there"),
        ([[GOOD], [GOOD.drop_columns("user")]], ValueError, r"'user'.*within source 1\)"),
        ([[GOOD], ["/nowhere/log.parquet"]], OSError, r"nowhere.*within /nowhere/log.parquet\)"),
        ([], ValueError, "data has no rows"),
        ([[], [NO_ROWS]], ValueError, "data has no rows"),
    ],
)
def test_errors_in_rows(sources, kind, words):
    question = fm.Evaluation(["auc", "gauc"], group="user", **COLUMNS)
    assert_raises(kind, words, run, question, sources)


def test_an_error_does_not_stop_a_worker():
    plan = fm.Evaluation(["auc", "gauc"], group="user", **COLUMNS).plan(targets=2)
    states = states_of_sources(plan, [[bad(click=[7, 7, 7]), GOOD]])
    assert states[0].rows == (0, 0)  # rows after the error are not read
    again = plan.restore(states[0].to_bytes())
    assert_raises(ValueError, "'click' has 7 at row 0", plan.decide, [again.summary(plan.first)])
    decision = plan.first._replace(round=2, sources={0: (0, 0)}, targets=2)
    targets = combine(plan, all_pieces(states, decision), decision)
    assert_raises(ValueError, "'click' has 7 at row 0", plan.decide, [own.summary(decision) for own in targets])


def test_the_error_of_the_first_source_is_raised():
    """A process of a pool reads several sources, in an order that depends on its speed."""
    plan = fm.Evaluation("auc", **COLUMNS).plan(targets=2)
    states = states_of_sources(plan, [[], []])
    for state, number in zip(states, (4, 2), strict=True):
        state.reads = number
        state.update(bad(click=[number, 1, 1]))
    words = r"'click' has 2 at row 0.*within source 2\)"
    assert_raises(ValueError, words, plan.decide, [state.summary(plan.first) for state in states])


def test_errors_that_only_whole_groups_show():
    question = fm.Evaluation(["gauc"], group="user", unit="household", ci=0.9, replicates=5, **COLUMNS)
    assert_raises(ValueError, "group 1 has rows of several values of unit", run, question, [[GOOD[:1]], [GOOD[1:]]])


def test_missing_summaries_of_targets():
    plan = fm.Evaluation("auc", **COLUMNS).plan(targets=2)
    states = states_of_sources(plan, [[GOOD]])
    first = plan.decide([own.summary(plan.first) for own in states])
    summaries = [own.summary(first) for own in combine(plan, all_pieces(states, first), first)]
    assert_raises(ValueError, "there is no summary of target 1", plan.decide, summaries[:1])
    assert_raises(
        ValueError, r"found those of rounds \[1, 2\]", plan.decide, [*summaries, states[0].summary(plan.first)]
    )
    assert plan.decide(summaries + summaries[:1]).is_final


def test_an_unusable_spill_folder():
    plan = fm.Evaluation("auc", **COLUMNS).plan()
    state = plan.partial(0, spill_dir="/no-such-folder")
    state.update(GOOD)
    assert_raises(OSError, "no-such-folder", plan.decide, [state.summary(plan.first)])
