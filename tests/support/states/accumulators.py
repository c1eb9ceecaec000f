"""Accumulators of one small log, filled in batches; reports are compared to the last bit."""

import copy
import itertools
import json
import pickle

import numpy as np
from hypothesis import strategies as st

import fastmetrics as fm
from support import partition_logs, strategies, text_logs
from support.registry_cases import BINARY, CLASS_COLUMNS, JOINT_METRICS, NUMBER_COLUMNS, OF_SCORES, REAL

COLUMNS = {"label": "label", "score": "prob", "group": "group"}
SMALL = 600
SOURCES = itertools.count()


def new(metrics=JOINT_METRICS, **options):
    return fm.Accumulator(metrics, **{**COLUMNS, **options})


def evaluate(log, metrics=JOINT_METRICS, **options):
    return fm.evaluate(log, metrics, **{**COLUMNS, **options})


def content(report):
    """The content of a report without run time; floats as text with every bit."""
    return {key: value for key, value in json.loads(report.to_json()).items() if key != "seconds"}


def same(report, expected):
    assert report == expected, [one.metric for one, two in zip(report, expected, strict=True) if one != two]
    assert content(report) == content(expected)
    assert report.to_json() == expected.to_json()


def pieces(log, size):
    rows = len(next(iter(log.values())))
    return [{name: column[start : start + size] for name, column in log.items()} for start in range(0, rows, size)]


def with_other_source(state):
    """A copy of a state as if its rows had come from elsewhere: equal rows, which may be merged with it."""
    found = state.copy()
    found._state.sources = frozenset({f"source {next(SOURCES)}"})
    return found


def updated(state, *batches):
    """The accumulator after these batches."""
    for batch in batches:
        state.update(batch)
    return state


def filled(log, metrics=JOINT_METRICS, size=100, **options):
    return updated(new(metrics, **options), *pieces(log, size))


def work(job):
    """Fill a state in a worker process, which imports this function; return it pickled or as bytes."""
    log, way = job
    state = filled(log, by="by", n_threads=1)
    return state.to_bytes() if way == "bytes" else state


def accepts_weights(metric):
    log = {**strategies.click_log(50), "w": 1.0 + np.arange(50)}
    try:
        evaluate(log, [metric], weight="w", **(CLASS_COLUMNS if metric in JOINT_METRICS else NUMBER_COLUMNS))
    except ValueError as error:
        assert "weight" in str(error)  # noqa: PT017
        return False
    return True


TAKES_WEIGHTS = [metric for metric in OF_SCORES if accepts_weights(metric)]
WEIGHTED = [metric for metric in TAKES_WEIGHTS if metric in JOINT_METRICS]
# Metrics that accept labels -1 and +1, 0 and 1, or any numbers.
FOR_LABELS = {"signed": BINARY, "zero and one": JOINT_METRICS, "numbers": [own for own in REAL if own in JOINT_METRICS]}


def send(state, way):
    """The same state after it was sent in one of several ways."""
    return {
        "bytes": lambda: fm.Accumulator.from_bytes(state.to_bytes()),
        "pickle": lambda: pickle.loads(pickle.dumps(state)),
        "copy": state.copy,
        "deepcopy": lambda: copy.deepcopy(state),
        "stay": lambda: state,
    }[way]()


EVERY_WAY = ["bytes", "pickle", "copy", "deepcopy", "stay"]
WAYS = st.sampled_from(EVERY_WAY)


def merged(make, log, size):
    """The accumulator of a log: every `size` rows have one of their own, fed in small batches, and sent in some way."""
    whole = make()
    for number, piece in enumerate(pieces(log, size)):
        part = updated(make(), *pieces(piece, size // 6 + number))
        whole.merge(send(part, EVERY_WAY[number % len(EVERY_WAY)]))
    return whole


def outcome(make):
    """A report, or its error: a log without valid rows has no report."""
    try:
        return content(make())
    except ValueError as error:
        return str(error)


def small_log():
    log = strategies.click_log(SMALL, seed=5)
    generator = np.random.default_rng(5)
    log |= text_logs.text_columns(SMALL) | partition_logs.partition_columns(SMALL)
    return {**log, "w": generator.choice([0.0, 0.25, 1.0, 3.0], SMALL), "by": generator.integers(0, 3, SMALL)}
