"""Probabilities against labels: log loss, Brier score, normalised entropy, likelihood."""

from typing import TYPE_CHECKING

from fastmetrics.metrics.probability import brier, entropy, likelihood, logloss
from fastmetrics.metrics.probability.brier import *
from fastmetrics.metrics.probability.entropy import *
from fastmetrics.metrics.probability.likelihood import *
from fastmetrics.metrics.probability.logloss import *

if not TYPE_CHECKING:  # a type checker reads no __all__ made of others; without one, all that is imported is public
    __all__ = []
    __all__ += brier.__all__
    __all__ += entropy.__all__
    __all__ += likelihood.__all__
    __all__ += logloss.__all__
