"""Settings of Spark tests of small logs."""

import pytest


@pytest.fixture
def few_ranges(monkeypatch):
    """Score columns are cut into eight ranges: small logs need no more."""
    from fastmetrics.spark import dataframe

    monkeypatch.setattr(dataframe, "N_RANGES", 8)
