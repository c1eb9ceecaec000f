"""The mean distance of probabilities from labels."""

from collections.abc import Sequence
from fractions import Fraction

from oracles.sums import exact_sum, total


def new_metric(
    y_true: Sequence[int], y_proba: Sequence[float], sample_weight: Sequence[float] | None = None
) -> Fraction | None:
    """sum_i w_i |y_i - p_i| / sum_i w_i: C. Willmott, K. Matsuura (2005), Climate Research 30, equation 2."""
    weights = [1.0] * len(y_true) if sample_weight is None else sample_weight
    terms = [Fraction(abs(label - probability)) for label, probability in zip(y_true, y_proba, strict=True)]
    whole = exact_sum(weights)
    return total(Fraction(w) * term for w, term in zip(weights, terms, strict=True)) / whole if whole else None
