"""Accumulators over one small log, filled in pieces; and reports compared to the last bit."""

import copy
import json
import pickle

import numpy as np
import partition_logs
import text_logs
from hypothesis import strategies as st
from test_common import BINARY, EVERY, OF_CLASSES, OF_NUMBERS, REAL, STRINGS

import fastmetrics as fm
import strategies

COLUMNS = {"label": "label", "score": "prob", "group": "group"}
SMALL = 600


def new(metrics=STRINGS, **options):
    return fm.Accumulator(metrics, **{**COLUMNS, **options})


def evaluate(log, metrics=STRINGS, **options):
    return fm.evaluate(log, metrics, **{**COLUMNS, **options})


def content(report):
    """Everything a report says but the time; floats as text that tells apart every bit."""
    return {key: value for key, value in json.loads(report.to_json()).items() if key != "seconds"}


def same(report, expected):
    assert report == expected
    assert content(report) == content(expected)
    assert report.to_json() == expected.to_json()


def pieces(log, size):
    rows = len(next(iter(log.values())))
    return [{name: column[start : start + size] for name, column in log.items()} for start in range(0, rows, size)]


def filled(log, metrics=STRINGS, size=100, **options):
    state = new(metrics, **options)
    for piece in pieces(log, size):
        state.update(piece)
    return state


def work(job):
    """A worker's part; returns the state in one of the ways it may travel. Here, where a spawned process finds it."""
    log, way = job
    state = filled(log, by="by", n_threads=1)
    return state.to_bytes() if way == "bytes" else state


def accepts_weights(metric):
    log = {**strategies.click_log(50), "w": 1.0 + np.arange(50)}
    try:
        evaluate(log, [metric], weight="w", **(OF_CLASSES if metric in STRINGS else OF_NUMBERS))
    except ValueError as error:
        assert "weight" in str(error)  # noqa: PT017
        return False
    return True


TAKES_WEIGHTS = [metric for metric in EVERY if accepts_weights(metric)]
WEIGHTED = [metric for metric in TAKES_WEIGHTS if metric in STRINGS]
# Metrics that take labels -1 and +1, 0 and 1, or any numbers.
FOR_LABELS = {"signed": BINARY, "zero and one": STRINGS, "numbers": [own for own in REAL if own in STRINGS]}


def travel(state, way):
    """The same state after a journey."""
    return {
        "bytes": lambda: fm.Accumulator.from_bytes(state.to_bytes()),
        "pickle": lambda: pickle.loads(pickle.dumps(state)),
        "copy": state.copy,
        "deepcopy": lambda: copy.deepcopy(state),
        "stay": lambda: state,
    }[way]()


WAYS = st.sampled_from(["bytes", "pickle", "copy", "deepcopy", "stay"])


def outcome(make):
    """A report, or the error in its place: a log without a row that is left has none."""
    try:
        return content(make())
    except ValueError as error:
        return str(error)


def small_log():
    log = strategies.click_log(SMALL, seed=5)
    generator = np.random.default_rng(5)
    log |= text_logs.text_columns(SMALL) | partition_logs.partition_columns(SMALL)
    return {**log, "w": generator.choice([0.0, 0.25, 1.0, 3.0], SMALL), "by": generator.integers(0, 3, SMALL)}
