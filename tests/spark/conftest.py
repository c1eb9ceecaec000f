"""Settings of Spark tests of small logs."""

import pytest


@pytest.fixture
def few_ranges(monkeypatch):
    """Rows move to eight targets: small logs need no more."""
    from fastmetrics.spark import passes

    monkeypatch.setattr(passes, "TARGETS", 8)


@pytest.fixture
def steps(monkeypatch):
    """The steps whose summaries were collected, in order: one for each round."""
    from fastmetrics.spark import passes

    found, collect = [], passes.collect
    monkeypatch.setattr(passes, "collect", lambda rows, step: found.append(step.func.__name__) or collect(rows, step))
    return found
