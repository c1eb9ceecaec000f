"""The mean Huber loss of errors."""

from collections.abc import Sequence
from fractions import Fraction

from oracles.sums import exact_sum, total


def new_metric(
    y_true: Sequence[float], y_pred: Sequence[float], sample_weight: Sequence[float] | None = None
) -> Fraction | None:
    """sum_i w_i h(y_i - p_i) / sum_i w_i: P. J. Huber (1964), Annals of Mathematical Statistics 35(1), k = 1."""
    weights = [1.0] * len(y_true) if sample_weight is None else sample_weight
    errors = [abs(float(target) - float(prediction)) for target, prediction in zip(y_true, y_pred, strict=True)]
    terms = [Fraction(error * error / 2 if error <= 1 else 0.5 + (error - 1)) for error in errors]
    whole = exact_sum(weights)
    return total(Fraction(w) * term for w, term in zip(weights, terms, strict=True)) / whole if whole else None
