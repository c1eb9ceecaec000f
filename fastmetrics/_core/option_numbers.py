"""Numbers among the values of options. What is none is None or NaN: the caller raises the error, with its own text."""

from __future__ import annotations

import math
import operator
from numbers import Real
from typing import Any

import numpy as np


def integer_value(value: Any) -> int | None:
    """An integer of any type as a Python int; None for another value (True and 1.0 are none)."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def real_value(value: Any) -> float:
    """A real number as a float: an integer beyond all floats is infinite. NaN for another value."""
    if not isinstance(value, (float, int, Real)):  # an abstract class alone takes longer to ask
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value == abs(value) else -math.inf


def number_value(value: Any) -> float:
    """As `real_value`, but NaN also for a bool, and for numbers that are neither Python's own nor NumPy's."""
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    return real_value(value) if is_number else math.nan
