"""The area under the uplift curve.

F. Devriendt, J. Van Belle, T. Guns and W. Verbeke (2020), Learning to rank for uplift modeling, IEEE TKDE, section 3.3:
the uplift of the rows with the highest scores is the difference of the rates of positives, with and without treatment,
times their number.
"""

from collections.abc import Sequence
from fractions import Fraction

from oracles.sums import total


def auuc(
    labels: Sequence[int],
    scores: Sequence[float],
    treatments: Sequence[int],
    weights: Sequence[float] | None = None,
) -> Fraction | None:
    """The mean over rows of the uplift of all rows of at least their score, divided by the number of rows.

    None without a treated or without an untreated row.
    """
    weighted = [Fraction(1) if weights is None else Fraction(weights[row]) for row in range(len(labels))]
    present = [row for row, weight in enumerate(weighted) if weight]
    if len({treatments[row] for row in present}) < 2:
        return None
    mass = total(weighted)
    area = Fraction(0)
    for row in present:
        above = [other for other in present if scores[other] >= scores[row]]
        rates = []
        for treatment in (1, 0):
            treated = [other for other in above if treatments[other] == treatment]
            if treated:
                positives = total(weighted[other] for other in treated if labels[other])
                rates.append(positives / total(weighted[other] for other in treated))
        if len(rates) == 2:
            area += weighted[row] * (rates[0] - rates[1]) * total(weighted[other] for other in above)
    return area / mass / mass
