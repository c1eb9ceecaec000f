"""Partitions against partitions, and how well clusters stand apart."""

from typing import TYPE_CHECKING

from fastmetrics.metrics.clustering import contingency as contingency
from fastmetrics.metrics.clustering import homogeneity, mutual_information
from fastmetrics.metrics.clustering import registered as registered
from fastmetrics.metrics.clustering.homogeneity import *
from fastmetrics.metrics.clustering.mutual_information import *

if not TYPE_CHECKING:  # a type checker reads no __all__ made of others; without one, all that is imported is public
    __all__ = []
    __all__ += homogeneity.__all__
    __all__ += mutual_information.__all__
from fastmetrics.metrics.clustering import contingency as contingency
from fastmetrics.metrics.clustering import registered as registered
from fastmetrics.metrics.clustering.contingency import contingency_matrix
from fastmetrics.metrics.clustering.pairs import (
    adjusted_rand_score,
    fowlkes_mallows_score,
    pair_confusion_matrix,
    pair_jaccard_score,
    rand_score,
)
from fastmetrics.metrics.clustering.purity import purity_score

__all__ = [
    "adjusted_rand_score",
    "contingency_matrix",
    "fowlkes_mallows_score",
    "pair_confusion_matrix",
    "pair_jaccard_score",
    "purity_score",
    "rand_score",
]
