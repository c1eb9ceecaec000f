# Written by tools/generate.py from tests/oracles/sums.py.
"""Exact sums of floats, as rational numbers rounded once.

Radford M. Neal (2015), Fast exact summation using small and large superaccumulators, arXiv:1505.05571: the exact sum
of finite doubles, rounded once to nearest even, does not depend on the order of the terms.
"""

import math
from collections.abc import Iterable
from fractions import Fraction


def rounded(value: Fraction) -> float:
    """The double nearest to a rational number; infinite if it is outside of the range of doubles."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def total(terms: Iterable[Fraction]) -> Fraction:
    return sum(terms, Fraction(0))


def exact_sum(values: Iterable[float]) -> Fraction:
    """The sum of finite floats with no rounding at all."""
    return total(Fraction(float(value)) for value in values)
