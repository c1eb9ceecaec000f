"""Labels against labels: counts, and what is made of them."""

from typing import TYPE_CHECKING

from fastmetrics.metrics.classification import (
    agreement,
    averages,
    confusion,
    overlap,
    rates,
    report,
    thresholds,
    top_k,
)
from fastmetrics.metrics.classification.agreement import *
from fastmetrics.metrics.classification.averages import *
from fastmetrics.metrics.classification.confusion import *
from fastmetrics.metrics.classification.overlap import *
from fastmetrics.metrics.classification.rates import *
from fastmetrics.metrics.classification.report import *
from fastmetrics.metrics.classification.thresholds import *
from fastmetrics.metrics.classification.top_k import *

if not TYPE_CHECKING:  # a type checker reads no __all__ made of others; without one, all that is imported is public
    __all__ = []
    __all__ += agreement.__all__
    __all__ += averages.__all__
    __all__ += confusion.__all__
    __all__ += overlap.__all__
    __all__ += rates.__all__
    __all__ += report.__all__
    __all__ += thresholds.__all__
    __all__ += top_k.__all__
