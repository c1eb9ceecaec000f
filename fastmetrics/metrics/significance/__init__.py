"""Is a difference real? Tests, intervals and corrections for many of them."""

from typing import TYPE_CHECKING

from fastmetrics._core.significance import Estimate as Estimate
from fastmetrics._core.significance import SignificanceResult as SignificanceResult
from fastmetrics.metrics.significance import (
    chi_square,
    delong,
    discordance,
    many_tests,
    paired,
    proportions,
    randomisation,
    signed_ranks,
    tukey,
)
from fastmetrics.metrics.significance.chi_square import *
from fastmetrics.metrics.significance.delong import *
from fastmetrics.metrics.significance.discordance import *
from fastmetrics.metrics.significance.many_tests import *
from fastmetrics.metrics.significance.paired import *
from fastmetrics.metrics.significance.proportions import *
from fastmetrics.metrics.significance.randomisation import *
from fastmetrics.metrics.significance.signed_ranks import *
from fastmetrics.metrics.significance.tukey import *

if not TYPE_CHECKING:  # a type checker reads no __all__ made of others; without one, all that is imported is public
    __all__ = ["Estimate", "SignificanceResult"]
    __all__ += chi_square.__all__
    __all__ += delong.__all__
    __all__ += discordance.__all__
    __all__ += many_tests.__all__
    __all__ += paired.__all__
    __all__ += proportions.__all__
    __all__ += randomisation.__all__
    __all__ += signed_ranks.__all__
    __all__ += tukey.__all__
