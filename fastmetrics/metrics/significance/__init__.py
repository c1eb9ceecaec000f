"""Is a difference real? Tests, intervals and corrections for many of them."""

from typing import TYPE_CHECKING

from fastmetrics._core.significance import Estimate as Estimate
from fastmetrics._core.significance import SignificanceResult as SignificanceResult
from fastmetrics.metrics.significance import chi_square, delong, many_tests, randomisation
from fastmetrics.metrics.significance.chi_square import *
from fastmetrics.metrics.significance.delong import *
from fastmetrics.metrics.significance.many_tests import *
from fastmetrics.metrics.significance.randomisation import *

if not TYPE_CHECKING:  # a type checker reads no __all__ made of others; without one, all that is imported is public
    __all__ = ["Estimate", "SignificanceResult"]
    __all__ += chi_square.__all__
    __all__ += delong.__all__
    __all__ += many_tests.__all__
    __all__ += randomisation.__all__
