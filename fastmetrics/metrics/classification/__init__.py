"""Labels against labels: counts, and what is made of them."""

from typing import TYPE_CHECKING

from fastmetrics.metrics.classification import averages, overlap, rates, report, thresholds
from fastmetrics.metrics.classification.averages import *
from fastmetrics.metrics.classification.overlap import *
from fastmetrics.metrics.classification.rates import *
from fastmetrics.metrics.classification.report import *
from fastmetrics.metrics.classification.thresholds import *

if not TYPE_CHECKING:  # a type checker reads no __all__ made of others; without one, all that is imported is public
    __all__ = []
    __all__ += averages.__all__
    __all__ += overlap.__all__
    __all__ += rates.__all__
    __all__ += report.__all__
    __all__ += thresholds.__all__
