"""Harrell's concordance index of censored times.

F. E. Harrell et al. (1982), Evaluating the yield of medical tests, JAMA 247, page 2543; ties as in F. E. Harrell, K. L.
Lee and D. B. Mark (1996), Multivariable prognostic models, Statistics in Medicine 15, section 5.5.
"""

from collections.abc import Sequence
from fractions import Fraction


def concordance(
    times: Sequence[float],
    events: Sequence[int],
    scores: Sequence[float],
    weights: Sequence[float] | None = None,
) -> Fraction | None:
    """The share of comparable pairs in which the row with the earlier event has the higher score; a tie is half.

    A pair is comparable if it is known which of the two had the event first: the earlier time is that of an event, or
    the times are equal and only one of them is that of an event. None without a comparable pair.
    """
    comparable = doubled = Fraction(0)
    for first in range(len(times)):
        for second in range(len(times)):
            is_later = times[second] > times[first] or (times[second] == times[first] and not events[second])
            if first == second or not events[first] or not is_later:
                continue
            pairs = Fraction(1) if weights is None else Fraction(weights[first]) * Fraction(weights[second])
            comparable += pairs
            doubled += pairs * ((scores[first] > scores[second]) + (scores[first] >= scores[second]))
    return doubled / 2 / comparable if comparable else None
