"""Evaluation metrics, exact, order-free and at memory speed.

This file only gathers the public names from the floors below.
"""

from fastmetrics._core.registry import describe_metrics, list_metrics
from fastmetrics._core.undefined import UndefinedMetricWarning
from fastmetrics._version import __version__
from fastmetrics.engine.evaluate import evaluate
from fastmetrics.engine.report import Report, Result
from fastmetrics.metrics import calibration, curves, probability, ranking
from fastmetrics.metrics.calibration import *
from fastmetrics.metrics.curves import *
from fastmetrics.metrics.probability import *
from fastmetrics.metrics.ranking import *

__all__ = [
    "Report",
    "Result",
    "UndefinedMetricWarning",
    "__version__",
    "describe_metrics",
    "evaluate",
    "list_metrics",
]
__all__ += calibration.__all__
__all__ += curves.__all__
__all__ += probability.__all__
__all__ += ranking.__all__
