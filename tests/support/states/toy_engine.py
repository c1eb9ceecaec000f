"""An engine in this process that runs the steps of `fastmetrics.distributed`: it repeats, shuffles and doubles them."""

import pickle
import random

import pyarrow as pa

from fastmetrics.engine.evaluation.evaluation import Evaluation

OPTIONS = ("label", "score", "group", "weight", "by")


def travel(content):
    """What arrives in another process."""
    return pickle.loads(pickle.dumps(content))


def states_of_sources(plan, sources, attempt=0, **memory):
    """A state for every source: a list of batches, or of anything that `evaluate` reads."""
    states = []
    for number, batches in enumerate(sources):
        states.append(plan.partial(number, attempt, **memory))
        for batch in batches:
            states[-1].update(batch)
    return states


def all_pieces(states, decision):
    return [piece for state in states for piece in state.pieces(decision)]


def combine(plan, pieces, decision, **memory):
    """The states of all targets, from pieces in any order."""
    random.Random(0).shuffle(pieces)
    by_target = {target: [] for target in range(plan.targets)}
    for piece in pieces:
        by_target[piece["target"][0].as_py()].append(piece)
    return [plan.combine(own, decision, **memory) for own in by_target.values()]


def last_summaries(plan, sources, rounds=None, restores=False, reads_again=False, **memory):
    """The summaries of the last round; `rounds` gets a line for each. Every step is run twice.

    `restores`: between two steps, states are bytes. `reads_again`: rows are read once more for their pieces.
    """
    plan = travel(plan)
    states, decision = states_of_sources(plan, sources, summary_only=reads_again, **memory), plan.first
    if restores:
        states = [plan.restore(state.to_bytes(), **memory) for state in states]
    while True:
        summaries = [state.summary(decision) for state in states]
        assert summaries == [state.summary(decision) for state in states]
        if rounds is not None:
            rounds.append(decision.round)
        decision = travel(plan.decide(summaries))
        if decision.is_final:
            return summaries
        if decision.moves_rows:
            states = states_of_sources(plan, sources, **memory) if reads_again else states
            pieces = all_pieces(states, decision)
            assert pieces == all_pieces(states, decision)
            for state in states:
                state.close()
            states = combine(plan, pieces + pieces[::3], decision, **memory)


def run(question, sources, targets=3, rounds=None, **options):
    """The report of a question about the rows of all sources; `options` are those of `last_summaries`."""
    plan = question.plan(targets=targets)
    return plan.finalize(last_summaries(plan, sources, rounds, **options))


def split_rows(log, n_sources, seed=0, batches=2):
    """The rows of a log in sources, each of some batches; rows of a group are in several sources."""
    table = pa.table(log)
    numbers = [random.Random(seed + row).randrange(n_sources * batches) for row in range(len(table))]
    parts = [table.filter(pa.array([own == number for own in numbers])) for number in range(n_sources * batches)]
    return [parts[number::n_sources] for number in range(n_sources)]


def distributed_report(metrics, options, sources):
    """The report of options as entry points take them; a source is a table, or a list of them."""
    question = Evaluation(metrics, **{name: options.get(name) for name in OPTIONS})
    return run(question, [own if isinstance(own, list) else [pa.table(own)] for own in sources])
