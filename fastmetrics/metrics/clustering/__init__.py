"""Partitions against partitions, and how well clusters stand apart."""

from typing import TYPE_CHECKING

from fastmetrics.metrics.clustering import (
    contingency,
    dispersion,
    homogeneity,
    mutual_information,
    pairs,
    purity,
    silhouette,
)
from fastmetrics.metrics.clustering import registered as registered
from fastmetrics.metrics.clustering.contingency import *
from fastmetrics.metrics.clustering.dispersion import *
from fastmetrics.metrics.clustering.homogeneity import *
from fastmetrics.metrics.clustering.mutual_information import *
from fastmetrics.metrics.clustering.pairs import *
from fastmetrics.metrics.clustering.purity import *
from fastmetrics.metrics.clustering.silhouette import *

if not TYPE_CHECKING:  # a type checker reads no __all__ made of others; without one, all that is imported is public
    __all__ = []
    __all__ += contingency.__all__
    __all__ += dispersion.__all__
    __all__ += homogeneity.__all__
    __all__ += mutual_information.__all__
    __all__ += pairs.__all__
    __all__ += purity.__all__
    __all__ += silhouette.__all__
