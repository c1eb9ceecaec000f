# Written by tools/generate.py from tests/oracles/probability/__init__.py.
"""Probabilities against labels: log loss, Brier score, normalized entropy, calibration error.

Every sum is exact and rounded once. A logarithm is that of the C library (`math.log`), with an error of at most one
unit in the last place. Values with logarithms are floats; all others are a `Fraction`.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from fastmetrics.selfcheck.definitions.curves import Number
from fastmetrics.selfcheck.definitions.sums import total

EPSILON = {"float16": 2.0**-10, "float32": 2.0**-23, "float64": 2.0**-52}


def unit_weights(weights: Sequence[Number] | None, length: int) -> list[Fraction]:
    return [Fraction(1)] * length if weights is None else [Fraction(weight) for weight in weights]


def clip(probability: float, eps: float) -> float:
    return min(max(float(probability), eps), 1.0 - eps)


def weighted_mean(terms: Sequence[Fraction], weights: Sequence[Fraction]) -> Fraction | None:
    mass = total(weights)
    return total(term * weight for term, weight in zip(terms, weights, strict=True)) / mass if mass else None


def log_loss(
    labels: Sequence[int],
    probabilities: Sequence[float],
    eps: float,
    weights: Sequence[Number] | None = None,
    normalize: bool = True,
) -> float | None:
    """Binary log loss, natural logarithm. The probability of the label, p or 1 - p, is clipped to [eps, 1 - eps].

    C. M. Bishop (2006), Pattern Recognition and Machine Learning, p. 209; the clip as scikit-learn's.
    """
    outcomes = [float(p) if y == 1 else 1.0 - float(p) for y, p in zip(labels, probabilities, strict=True)]
    terms = [Fraction(-math.log(clip(outcome, eps))) for outcome in outcomes]
    row_weights = unit_weights(weights, len(terms))
    if not normalize:
        return float(total(term * weight for term, weight in zip(terms, row_weights, strict=True)))
    mean = weighted_mean(terms, row_weights)
    return None if mean is None else float(mean)


def brier(
    labels: Sequence[int], probabilities: Sequence[float], weights: Sequence[Number] | None = None
) -> Fraction | None:
    """Mean squared difference of probability and outcome: G. W. Brier (1950), Monthly Weather Review 78(1), halved."""
    terms = [
        (Fraction(float(probability)) - (1 if label == 1 else 0)) ** 2
        for label, probability in zip(labels, probabilities, strict=True)
    ]
    return weighted_mean(terms, unit_weights(weights, len(terms)))


def observed_rate(labels: Sequence[int], weights: Sequence[Number] | None = None) -> Fraction | None:
    terms = [Fraction(1 if label == 1 else 0) for label in labels]
    return weighted_mean(terms, unit_weights(weights, len(terms)))


def entropy(rate: float) -> float:
    """Entropy in nats of a coin with this rate."""
    return -sum(p * math.log(p) for p in (rate, 1.0 - rate) if p > 0)


def normalized_entropy(
    labels: Sequence[int],
    probabilities: Sequence[float],
    eps: float,
    base_rate: float | None = None,
    weights: Sequence[Number] | None = None,
) -> float | None:
    """Log loss over the entropy of the base rate (None: the observed rate). Undefined if that entropy is 0.

    X. He et al. (2014), Practical lessons from predicting clicks on ads at Facebook, ADKDD, equation 3.
    """
    loss = log_loss(labels, probabilities, eps, weights)
    rate = observed_rate(labels, weights) if base_rate is None else base_rate
    if loss is None or rate is None or not 0 < rate < 1:
        return None
    return loss / entropy(float(rate))
