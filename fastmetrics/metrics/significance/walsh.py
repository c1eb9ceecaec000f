"""Means of all two differences, each with itself too (Walsh averages), by rank and without making all of them."""

from __future__ import annotations

import math

import numpy as np

# So many sums are made rather than counted once more; of many values, so many for each.
FEW_SUMS = 1 << 14
SUMS_PER_VALUE = 8


def walsh_averages(differences: np.ndarray, place: int) -> tuple[float, float, float]:
    """The place-th from below, the median, and the place-th from above; J. Hodges, E. Lehmann, 1963.

    With place 0 there is no end of an interval: these are NaN.
    """
    values = np.sort(differences)
    n = values.shape[0]
    total = n * (n + 1) // 2
    middle = (total + 1) // 2
    ranks = [middle, total + 1 - middle] + ([place, total + 1 - place] if place else [])
    if total <= FEW_SUMS:
        first, second = np.triu_indices(n)
        sums = values[first] + values[second]
        sums.partition([rank - 1 for rank in ranks])
        found = [float(sums[rank - 1]) for rank in ranks]
    else:
        chosen = {rank: select_sum(values, rank) for rank in set(ranks)}
        found = [chosen[rank] for rank in ranks]
    low, high = (found[2] / 2, found[3] / 2) if place else (math.nan, math.nan)
    return low, (found[0] + found[1]) / 4, high


def select_sum(values: np.ndarray, rank: int) -> float:
    """The rank-th smallest sum of two of the ascending values, each with itself too."""
    low, high = -math.inf, math.inf
    below, upto = 0, values.shape[0] * (values.shape[0] + 1) // 2
    start, stop = 2 * float(values[0]), 2 * float(values[-1])
    # Sums in (low, high] are halved until they are few enough to be made.
    few = max(FEW_SUMS, SUMS_PER_VALUE * values.shape[0])
    while upto - below > few:
        middle = (start + stop) / 2
        if not start < middle < stop:
            return first_sum(values, start)
        count = int(count_upto(values, middle).sum())
        if count >= rank:
            high, stop, upto = middle, middle, count
        else:
            low, start, below = middle, middle, count
    firsts = np.zeros(values.shape[0], np.int64) if low == -math.inf else count_upto(values, low)
    lasts = count_upto(values, high)
    many = lasts - firsts
    row = np.repeat(np.arange(values.shape[0]), many)
    within = np.arange(row.shape[0]) - np.repeat(np.cumsum(many) - many, many)
    sums = values[row] + values[row + firsts[row] + within]
    return float(np.partition(sums, rank - below - 1)[rank - below - 1])


def first_sum(values: np.ndarray, start: float) -> float:
    """The smallest sum that is not below `start` by more than rounding: what many ties share."""
    rounding = 4 * float(np.finfo(np.float64).eps * np.abs(values).max())
    rows = np.arange(values.shape[0])
    partners = np.maximum(np.searchsorted(values, start - rounding - values, side="left"), rows)
    has_one = partners < values.shape[0]
    return float((values[has_one] + values[partners[has_one]]).min())


def count_upto(values: np.ndarray, most: float) -> np.ndarray:
    """For each of the ascending values, how many sums with itself and the later ones are at most `most`."""
    places = np.searchsorted(values, most - values, side="right")
    return np.asarray(np.maximum(places - np.arange(values.shape[0]), 0))
