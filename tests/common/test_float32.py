"""Numbers of float32 give what the same numbers give as float64, except where docs/sklearn.md says otherwise."""

import inspect
import re

import numpy as np
import pytest

import fastmetrics as fm
from architecture.sources import ROOT, read

N = 300
RNG = np.random.default_rng(0)
LABELS, CLASSES, GROUPS = RNG.integers(0, 2, N), RNG.integers(0, 4, N), RNG.integers(0, 30, N)
SCORES = RNG.random(N).astype(np.float32)
PROBABILITIES = np.where(np.arange(N) % 7, SCORES, SCORES.round())
MATRIX = RNG.random((N, 4)).astype(np.float32)
SHARES = np.where(np.arange(N)[:, None] % 7, MATRIX / MATRIX.sum(axis=1, keepdims=True), np.eye(4, dtype=np.float32)[0])
TARGETS = RNG.gamma(2, 2, (N, 3)).astype(np.float32)
FORECASTS = TARGETS * RNG.uniform(0.5, 1.5, (N, 3)).astype(np.float32)
SETS = RNG.integers(0, 2, (N, 4))
SETS[:, :2] = [0, 1]
ARGUMENTS = [
    ((LABELS, SCORES), {}), ((LABELS, PROBABILITIES), {}), ((LABELS, SCORES, GROUPS), {}), ((CLASSES, SHARES), {}),
    ((LABELS, SCORES, np.sqrt(SCORES)), {}), ((TARGETS[:, 0], FORECASTS[:, 0]), {}), ((TARGETS, FORECASTS), {}),
    ((TARGETS, FORECASTS), {"multioutput": "raw_values"}), ((SETS, MATRIX), {}), ((MATRIX * 10, MATRIX[::-1]), {}),
    ((MATRIX, CLASSES), {}), ((np.sort(SCORES), SCORES), {}), ((LABELS, SCORES, fm.accuracy_score), {}),
    ((SCORES,), {}),
]  # fmt: skip


def widened(value):
    return value.astype(np.float64) if isinstance(value, np.ndarray) and value.dtype == np.float32 else value


def parts(value):
    """Arrays and numbers of a result, each with its type."""
    if isinstance(value, np.ndarray):
        return [(str(value.dtype), value.tolist())]
    if isinstance(value, (tuple, list)):
        return [part for own in value for part in parts(own)]
    return [(type(value).__name__, repr(value.to_dict() if hasattr(value, "to_dict") else value))]


def outcomes(function):
    """What it makes of each set of arguments that it takes: of float32, and of the same numbers as float64."""
    weighted = [{}, {"sample_weight": SCORES}] if "sample_weight" in inspect.signature(function).parameters else [{}]
    for arguments, options in ARGUMENTS:
        for weight in weighted:
            try:
                found = function(*arguments, **options, **weight)
            except (ValueError, TypeError, AttributeError):
                continue
            wide = {name: widened(value) for name, value in weight.items()}
            yield parts(found), parts(function(*map(widened, arguments), **options, **wide))


@pytest.mark.filterwarnings("ignore")  # some arguments make a value undefined
def test_where_float32_is_kept():
    compared, differ = set(), set()
    for name in fm.__all__:
        function = getattr(fm, name)
        if not inspect.isfunction(function):
            continue
        for narrow, wide in outcomes(function):
            compared.add(name)
            differ |= {name} if repr(narrow) != repr(wide) else set()
    assert len(compared) > 80
    section = read(ROOT / "docs" / "sklearn.md").split("## What float32 changes\n")[1].split("\n## ")[0]
    listed = {name for row in section.splitlines() if row.startswith("|") for name in re.findall(r"`(\w+)`", row)}
    assert differ == listed & set(fm.__all__)
