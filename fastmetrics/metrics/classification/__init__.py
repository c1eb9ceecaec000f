"""Labels against labels: counts, and what is made of them."""

from fastmetrics.metrics.classification import thresholds
from fastmetrics.metrics.classification.thresholds import *

__all__: list[str] = []
__all__ += thresholds.__all__
