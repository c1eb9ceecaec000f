"""What a comparison of two models says, by the definition: units are written down as often as they were drawn.

Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapters 13 and 16.
"""

from __future__ import annotations

import math


def repeated(log, unit, times, groups=()):
    """A log in which all rows of a unit stand as often as it was drawn; copies of groups are groups of their own."""
    rows = []
    for row, key in enumerate(log[unit]):
        rows += [(row, copy) for copy in range(times[key])]
    columns = {name: [values[row] for row, _ in rows] for name, values in log.items() if name not in groups}
    return columns | {name: [f"{log[name][row]}/{copy}" for row, copy in rows] for name in groups}


def two_sided(difference, drawn):
    """How often differences vary around their mean by as much as the one that was found, which is one of them."""
    drawn = [own for own in drawn if not math.isnan(own)]
    centre = math.fsum(drawn) / len(drawn)
    return (1 + sum(abs(own - centre) >= abs(difference) for own in drawn)) / (1 + len(drawn))


def percentile(drawn, share):
    """Linear between the two nearest order statistics."""
    ordered = sorted(own for own in drawn if not math.isnan(own))
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def wins(before, after, better):
    """Units that got better, worse, and stayed: pairs in which either is undefined are none."""
    won = lost = tied = 0
    for first, second in zip(before, after, strict=True):
        if math.isnan(first) or math.isnan(second):
            continue
        if first == second or better(first, second) == better(second, first):
            tied += 1
        elif better(second, first):
            won += 1
        else:
            lost += 1
    return won, lost, tied
