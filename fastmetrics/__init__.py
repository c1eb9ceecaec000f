"""Evaluation metrics, exact, order-free and at memory speed.

This file only gathers the public names from the floors below. The engine's come at first use:
the functions do not need it.
"""

from typing import TYPE_CHECKING

from fastmetrics._core.registry import describe_metrics, list_metrics
from fastmetrics._core.undefined import UndefinedMetricWarning
from fastmetrics._version import __version__
from fastmetrics.metrics import calibration, classification, curves, probability, ranking, regression
from fastmetrics.metrics.calibration import *
from fastmetrics.metrics.classification import *
from fastmetrics.metrics.curves import *
from fastmetrics.metrics.probability import *
from fastmetrics.metrics.ranking import *
from fastmetrics.metrics.regression import *

if TYPE_CHECKING:
    from fastmetrics.engine.accumulator import Accumulator
    from fastmetrics.engine.evaluate import evaluate
    from fastmetrics.engine.report import Report, Result

__all__ = [
    "Accumulator",
    "Report",
    "Result",
    "UndefinedMetricWarning",
    "__version__",
    "describe_metrics",
    "evaluate",
    "list_metrics",
]


if not TYPE_CHECKING:  # else no misspelt name is an error to a type checker
    __all__ += calibration.__all__
    __all__ += classification.__all__
    __all__ += curves.__all__
    __all__ += probability.__all__
    __all__ += ranking.__all__
    __all__ += regression.__all__

    def __getattr__(name: str) -> object:
        if name == "evaluate":
            from fastmetrics.engine.evaluate import evaluate

            found: object = evaluate
        elif name == "Accumulator":
            from fastmetrics.engine.accumulator import Accumulator

            found = Accumulator
        elif name in ("Report", "Result"):
            from fastmetrics.engine import report

            found = getattr(report, name)
        else:
            raise AttributeError(f"module 'fastmetrics' has no attribute {name!r}")
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
