"""COPC and PCOC: clicks over predicted clicks, and the inverse."""

from collections.abc import Sequence
from fractions import Fraction

from oracles.sums import exact_sum, total


def sums(
    y_true: Sequence[int], y_proba: Sequence[float], sample_weight: Sequence[float] | None
) -> tuple[Fraction, Fraction]:
    """The weight of the clicks, and the weighted sum of the probabilities."""
    weights = [1.0] * len(y_true) if sample_weight is None else sample_weight
    observed = exact_sum(w for label, w in zip(y_true, weights, strict=True) if label == 1)
    return observed, total(Fraction(float(p)) * Fraction(w) for p, w in zip(y_proba, weights, strict=True))


def copc(
    y_true: Sequence[int], y_proba: Sequence[float], sample_weight: Sequence[float] | None = None
) -> Fraction | None:
    """Click over predicted click: sum of labels over sum of probabilities."""
    observed, predicted = sums(y_true, y_proba, sample_weight)
    return observed / predicted if predicted else None


def pcoc(
    y_true: Sequence[int], y_proba: Sequence[float], sample_weight: Sequence[float] | None = None
) -> Fraction | None:
    """Predicted click over click, the inverse."""
    observed, predicted = sums(y_true, y_proba, sample_weight)
    return predicted / observed if observed else None
