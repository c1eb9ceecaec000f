"""The share of positive rows at the top score of a group, averaged over groups."""

from collections.abc import Sequence
from fractions import Fraction

from oracles.sums import exact_sum


def new_metric(
    y_true: Sequence[int], y_score: Sequence[float], groups: Sequence[int], sample_weight: Sequence[float] | None = None
) -> Fraction | None:
    """Precision at 1 over tied orders: F. McSherry, M. Najork (2008), ECIR, section 3. Every share is a float64."""
    weights = [1.0] * len(y_true) if sample_weight is None else sample_weight
    rows = [row for row in zip(y_true, y_score, groups, weights, strict=True) if row[3] > 0]
    shares = []
    for group in {key for _, _, key, _ in rows}:
        own = [(label, score, w) for label, score, key, w in rows if key == group]
        top = max(score for _, score, _ in own)
        if any(label == 1 for label, _, _ in own):
            weight = exact_sum(w for _, score, w in own if score == top)
            shares.append(float(exact_sum(w for label, score, w in own if score == top and label == 1) / weight))
    return exact_sum(shares) / len(shares) if shares else None
