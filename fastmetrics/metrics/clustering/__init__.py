"""Partitions against partitions, and how well clusters stand apart."""

from fastmetrics.metrics.clustering import contingency as contingency

__all__: list[str] = []
