"""Partitions against partitions, and how well clusters stand apart."""

from fastmetrics.metrics.clustering import contingency as contingency
from fastmetrics.metrics.clustering import registered as registered

__all__: list[str] = []
