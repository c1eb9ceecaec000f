"""Scores against labels in global order: curves, areas, distances and thresholds."""

from fastmetrics.metrics.curves import roc
from fastmetrics.metrics.curves.roc import *

__all__: list[str] = []
__all__ += roc.__all__
