"""Numbers and their predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

Numbers = Sequence[float]


def _errors(true: Numbers, predicted: Numbers) -> list[Fraction]:
    return [Fraction(other) - Fraction(one) for one, other in zip(true, predicted, strict=True)]


def mean_squared_error(true: Numbers, predicted: Numbers) -> Fraction:
    return sum(error**2 for error in _errors(true, predicted)) / Fraction(len(true))


def mean_absolute_error(true: Numbers, predicted: Numbers) -> Fraction:
    return sum(map(abs, _errors(true, predicted))) / Fraction(len(true))


def max_error(true: Numbers, predicted: Numbers) -> Fraction:
    return max(map(abs, _errors(true, predicted)))


def median_absolute_error(true: Numbers, predicted: Numbers) -> Fraction:
    errors = sorted(map(abs, _errors(true, predicted)))
    middle = len(errors) // 2
    return errors[middle] if len(errors) % 2 else (errors[middle - 1] + errors[middle]) / 2


def r2(true: Numbers, predicted: Numbers) -> Fraction | None:
    mean = sum(map(Fraction, true), Fraction(0)) / len(true)
    spread = sum(((Fraction(value) - mean) * (Fraction(value) - mean) for value in true), Fraction(0))
    missed = sum((error * error for error in _errors(true, predicted)), Fraction(0))
    return Fraction(1) - missed / spread if spread else None


def mean_squared_log_error(true: Numbers, predicted: Numbers) -> float:
    terms = [(math.log1p(other) - math.log1p(one)) ** 2 for one, other in zip(true, predicted, strict=True)]
    return math.fsum(terms) / len(terms)
