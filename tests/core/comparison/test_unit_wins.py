"""Units won and lost, of all rows and of slices: beside the metric of every unit by itself."""

from __future__ import annotations

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics.engine.scan import unit_wins

pytestmark = pytest.mark.filterwarnings("ignore::fastmetrics.UndefinedMetricWarning")

METRICS = ["logloss", "ne", "copc", "accuracy", "f1", "brier"]
BETTER = {"copc": lambda value: -abs(value - 1), "accuracy": float, "f1": float}


def log_of(rows=600, users=60):
    generator = np.random.default_rng(1)
    a = generator.integers(1, 16, rows) / 16
    return {
        "user": generator.integers(0, users, rows), "click": (generator.random(rows) < a).astype(np.int8), "a": a,
        "b": np.where(generator.random(rows) < 0.4, a, generator.integers(1, 16, rows) / 16),
        "c": generator.integers(1, 16, rows) / 16, "country": generator.choice(["NL", "DE"], rows),
        "weight": generator.integers(1, 4, rows).astype(float),
    }  # fmt: skip


def wins_of(log, metric, other, **options):
    """Won, lost and tied, unit by unit."""
    good = BETTER.get(metric, lambda value: -value)
    counts = [0, 0, 0]
    for user in np.unique(log["user"]):
        own = {name: column[log["user"] == user] for name, column in log.items()}
        report = fm.evaluate(own, metric, label="click", score=["a", other], n_threads=1, **options)
        before, after = (good(report.value(metric, score=score)) for score in ("a", other))
        if before == before and after == after:
            counts[0 if after > before else 1 if after < before else 2] += 1
    return tuple(counts)


@pytest.mark.parametrize("options", [{}, {"weight": "weight"}])
@pytest.mark.parametrize("limit", [None, "1MiB"])
def test_wins_of_slices_and_models(options, limit, monkeypatch):
    monkeypatch.setattr(unit_wins, "RANGE_ROWS", 50)  # several ranges
    log = log_of()
    comparison = fm.compare(
        log, METRICS, label="click", score=["a", "b", "c"], unit="user", by="country", memory_limit=limit, **options
    )
    for metric in METRICS:
        for other in ("b", "c"):
            for own in ({}, {"country": "NL"}):
                rows = log["country"] == own["country"] if own else slice(None)
                expected = wins_of({name: column[rows] for name, column in log.items()}, metric, other, **options)
                one = comparison.difference(metric, other=other, slice=own)
                assert (one.won, one.lost, one.tied) == expected, (metric, other, own)


def test_bins_have_no_units():
    comparison = fm.compare(log_of(), ["ece", "brier"], label="click", score=["a", "b"], unit="user")
    assert (comparison["ece"].won, comparison["brier"].won is None) == (None, False)
    assert comparison.notes == ("units won and lost are not counted for ece: all rows are one set of bins",)
