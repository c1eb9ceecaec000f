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

    found, map_in_arrow = [], passes.map_in_arrow

    def record(rows, step, schema):
        found.extend([step.func.__name__] if schema == passes.SUMMARY_SCHEMA else [])
        return map_in_arrow(rows, step, schema)

    monkeypatch.setattr(passes, "map_in_arrow", record)
    return found
