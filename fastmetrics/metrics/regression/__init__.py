"""Values against values: errors, deviances, explained variance, concordance."""

from typing import TYPE_CHECKING

from fastmetrics.metrics.regression import by_group, concordance, deviance, errors, explained, order
from fastmetrics.metrics.regression.by_group import *
from fastmetrics.metrics.regression.concordance import *
from fastmetrics.metrics.regression.deviance import *
from fastmetrics.metrics.regression.errors import *
from fastmetrics.metrics.regression.explained import *
from fastmetrics.metrics.regression.order import *

if not TYPE_CHECKING:  # a type checker reads no __all__ made of others; without one, all that is imported is public
    __all__ = []
    __all__ += by_group.__all__
    __all__ += concordance.__all__
    __all__ += deviance.__all__
    __all__ += errors.__all__
    __all__ += explained.__all__
    __all__ += order.__all__
