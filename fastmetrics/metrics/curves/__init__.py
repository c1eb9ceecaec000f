"""Scores against labels in global order: curves, areas, distances and thresholds."""

from typing import TYPE_CHECKING

from fastmetrics.metrics.curves import roc
from fastmetrics.metrics.curves.roc import *

if not TYPE_CHECKING:  # a type checker reads no __all__ made of others; without one, all that is imported is public
    __all__ = []
    __all__ += roc.__all__
