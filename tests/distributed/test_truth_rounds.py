"""Lists that are joined with truth by rounds of steps: any source has rows of either table, or of both."""

import pytest

import fastmetrics as fm
from support.ranking.truth_tables import COLUMNS, METRICS, TRUTH, random_tables
from support.states.toy_engine import all_pieces, combine, travel

BY = fm.Evaluation(METRICS, truth_columns=TRUTH, by="country", weight="weight", ci=0.9, **COLUMNS)
SUMS = fm.Evaluation(METRICS, truth_columns=TRUTH, **COLUMNS)
UNITS = SUMS.replace(ci=0.9, unit="country", replicates=30)
RESTS = fm.Evaluation(METRICS, truth_columns=TRUTH, by="country", ci=0.9, **COLUMNS)


def states_of(plan, rows, attempt=0):
    """A state for every source, whose rows are pairs of a table and its name."""
    states = []
    for number, tables in enumerate(rows):
        states.append(plan.partial(number, attempt))
        for table, name in tables:
            states[-1].update(table, name)
    return states


def run(question, rows, targets=3, restores=False):
    plan = travel(question.plan(targets))
    states, decision = states_of(plan, rows), plan.first
    if restores:
        states = [plan.restore(state.to_bytes()) for state in states]
    while True:
        summaries = [state.summary(decision) for state in states]
        assert summaries == [state.summary(decision) for state in states]
        decision = travel(plan.decide(summaries))
        if decision.is_final:
            return plan.finalize(summaries)
        if decision.moves_rows:
            pieces = all_pieces(states, decision)
            assert pieces == all_pieces(states, decision)
            pieces += all_pieces(states_of(plan, rows[:1], attempt=1), decision)
            states = combine(plan, pieces, decision)


@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("question", [BY, SUMS, UNITS, RESTS])
def test_reports_are_those_of_evaluate(question, texts):
    log, truth = random_tables(1, texts=texts)
    expected = question.run(log, truth=truth)
    halves = [(log[:150], "log"), (log[150:], "log")]
    for rows in (
        [[halves[0]], [halves[1]], [(truth, "truth")]],
        [[(truth, "truth")], [halves[0], halves[1]]],
        [[halves[0], (truth[:40], "truth")], [(truth[40:], "truth"), halves[1]], []],
    ):
        for targets in (1, 4):
            assert run(question, rows, targets) == expected
        assert run(question, rows, restores=True) == expected


def test_errors_in_the_data_come_from_decide():
    log, truth = random_tables(2)
    plan = SUMS.plan(2)
    with pytest.raises(ValueError, match="truth has no rows"):
        run(SUMS, [[(log, "log")]])
    with pytest.raises(ValueError, match="data has no rows"):
        run(SUMS, [[(truth, "truth")]])
    others = random_tables(2, texts=True)[1]
    for rows in ([[(log, "log")], [(others, "truth")]], [[(others, "truth")], [(log, "log")]]):
        with pytest.raises(TypeError, match=r"states of different keys do not merge|keys of type"):
            run(SUMS, rows)
    twice = [[(log, "log")], [(truth, "truth")], [(truth[:1], "truth")]]
    with pytest.raises(ValueError, match=r"truth has item .* twice"):
        run(SUMS, twice)
    state = plan.partial(0)
    with pytest.raises(ValueError, match="table must be one of 'log', 'truth'; found 'labels'"):
        state.update(log, "labels")


def test_rows_of_truth_that_are_not_there_again():
    log, truth = random_tables(4)
    plan = SUMS.plan(2)
    first = states_of(plan, [[(log, "log")], [(truth, "truth")]])
    decision = plan.decide([state.summary(plan.first) for state in first])
    second = states_of(plan, [[(log, "log")], [(truth[:-1], "truth")]])
    states = combine(plan, all_pieces(second, decision), decision)
    with pytest.raises(ValueError, match="the second time: it is not the same each time"):
        plan.decide([state.summary(decision) for state in states])
