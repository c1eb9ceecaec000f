"""The greatest balanced accuracy that a threshold on the score can have."""

from collections.abc import Sequence
from fractions import Fraction

from oracles.sums import exact_sum


def new_metric(
    y_true: Sequence[int], y_score: Sequence[float], sample_weight: Sequence[float] | None = None
) -> Fraction | None:
    """max over t of (TPR(t) + 1 - FPR(t)) / 2: W. J. Youden (1950), Index for rating diagnostic tests, Cancer 3(1)."""
    weights = [1.0] * len(y_true) if sample_weight is None else sample_weight
    rows = list(zip(y_true, y_score, weights, strict=True))

    def weight_of(label: int, threshold: float) -> Fraction:
        return exact_sum(w for y, score, w in rows if y == label and score >= threshold)

    negatives, positives = (exact_sum(w for y, _, w in rows if y == label) for label in (0, 1))
    if not negatives or not positives:
        return None
    found = [weight_of(1, t) / positives - weight_of(0, t) / negatives for t in set(y_score)]
    return (1 + max([*found, Fraction(0)])) / 2
