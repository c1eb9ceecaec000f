"""The share of positives among the highest scores, relative to that among all rows."""

from collections.abc import Sequence
from fractions import Fraction

from oracles.sums import exact_sum


def lift(
    y_true: Sequence[int], y_score: Sequence[float], sample_weight: Sequence[float] | None = None, q: float = 0.1
) -> Fraction | None:
    """Provost and Fawcett, Data Science for Business, 2013, chapter 8; tied rows are chosen in proportion.

    The q n rows are filled score by score, from the greatest: of the last score, the share that still fits.
    """
    weights = [1.0] * len(y_true) if sample_weight is None else sample_weight
    rows = list(zip(y_true, y_score, weights, strict=True))
    total = exact_sum(w for _, _, w in rows)
    positives = exact_sum(w for y, _, w in rows if y == 1)
    if not positives:
        return None
    share = Fraction(str(q))  # 0.1 is one tenth
    left, chosen_positives = share * total, Fraction(0)
    for threshold in sorted(set(y_score), reverse=True):
        tied = exact_sum(w for _, score, w in rows if score == threshold)
        if tied:
            part = min(Fraction(1), left / tied)
            chosen_positives += part * exact_sum(w for y, score, w in rows if score == threshold and y == 1)
            left -= part * tied
    return (chosen_positives / (share * total)) / (positives / total)
