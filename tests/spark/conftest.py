"""Settings of Spark tests of small logs."""

import pytest


@pytest.fixture
def few_ranges(monkeypatch):
    """Score columns are cut into eight ranges: small logs need no more."""
    from fastmetrics.spark import passes

    monkeypatch.setattr(passes, "N_RANGES", 8)
