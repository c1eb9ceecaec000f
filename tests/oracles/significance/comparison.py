"""The comparison of two models by definition: the rows of a unit are repeated as often as it was drawn.

Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapters 13 and 16.
"""

from __future__ import annotations

import math


def repeated(log, unit, times, groups=()):
    """A log with the rows of every unit repeated as often as it was drawn. Each copy of a group is a separate group."""
    rows = []
    for row, key in enumerate(log[unit]):
        rows += [(row, copy) for copy in range(times[key])]
    columns = {name: [values[row] for row, _ in rows] for name, values in log.items() if name not in groups}
    return columns | {name: [f"{log[name][row]}/{copy}" for row, copy in rows] for name in groups}


def two_sided(difference, drawn):
    """The two-sided p: the share of differences, including the observed one, at least as far from their mean."""
    drawn = [value for value in drawn if not math.isnan(value)]
    center = math.fsum(drawn) / len(drawn)
    return (1 + sum(abs(value - center) >= abs(difference) for value in drawn)) / (1 + len(drawn))


def percentile(drawn, share):
    """The percentile, interpolated linearly between the two nearest order statistics."""
    ordered = sorted(value for value in drawn if not math.isnan(value))
    position = share * (len(ordered) - 1)
    low = math.floor(position)
    return ordered[low] + (position - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


def wins(before, after, better):
    """The numbers of units that improved, worsened and stayed equal. Pairs with an undefined value do not count."""
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
