"""The Gini coefficient of how often items are among the first k of a list.

C. Gini (1912), Variabilita e mutabilita: half of the mean absolute difference of all pairs, divided by the mean.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction


def exposure_gini(groups: Sequence[int], scores: Sequence[float], items: Sequence[int], k: int) -> Fraction:
    """Of items that are shown at all; of equal scores, the smaller item comes first."""
    shown: Counter[int] = Counter()
    for group in set(groups):
        rows = [row for row, own in enumerate(groups) if own == group]
        best = sorted(rows, key=lambda row: (-scores[row], items[row]))[:k]
        shown.update(items[row] for row in best)
    counts = list(shown.values())
    differences = sum(abs(one - other) for one in counts for other in counts)
    return Fraction(differences, 2 * len(counts) * sum(counts))
