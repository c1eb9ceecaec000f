"""Walsh averages (means of all pairs of differences, each also with itself), selected by rank."""

from __future__ import annotations

import math

import numpy as np

# If at most this many sums are left, they are listed and partitioned. For many values: this many per value.
MAX_LISTED_SUMS = 1 << 14
SUMS_PER_VALUE = 8


def walsh_averages(differences: np.ndarray, rank: int) -> tuple[float, float, float]:
    """The rank-th smallest, the median, and the rank-th largest Walsh average; J. Hodges, E. Lehmann, 1963.

    With rank 0 there is no interval, and the smallest and largest are NaN.
    """
    values = np.sort(differences)
    n = values.shape[0]
    total = n * (n + 1) // 2
    middle = (total + 1) // 2
    ranks = [middle, total + 1 - middle] + ([rank, total + 1 - rank] if rank else [])
    if total <= MAX_LISTED_SUMS:
        first, second = np.triu_indices(n)
        sums = values[first] + values[second]
        sums.partition([one - 1 for one in ranks])
        selected = [float(sums[one - 1]) for one in ranks]
    else:
        by_rank = {one: select_sum(values, one) for one in set(ranks)}
        selected = [by_rank[one] for one in ranks]
    low, high = (selected[2] / 2, selected[3] / 2) if rank else (math.nan, math.nan)
    return low, (selected[0] + selected[1]) / 4, high


def select_sum(values: np.ndarray, rank: int) -> float:
    """The rank-th smallest sum of two ascending values, each also with itself."""
    low, high = -math.inf, math.inf
    below, at_most = 0, values.shape[0] * (values.shape[0] + 1) // 2
    start, stop = 2 * float(values[0]), 2 * float(values[-1])
    # Bisect (low, high] until it has few enough sums to list.
    few = max(MAX_LISTED_SUMS, SUMS_PER_VALUE * values.shape[0])
    while at_most - below > few:
        middle = (start + stop) / 2
        if not start < middle < stop:
            return smallest_sum_from(values, start)
        count = int(count_sums_at_most(values, middle).sum())
        if count >= rank:
            high, stop, at_most = middle, middle, count
        else:
            low, start, below = middle, middle, count
    firsts = np.zeros(values.shape[0], np.int64) if low == -math.inf else count_sums_at_most(values, low)
    lasts = count_sums_at_most(values, high)
    many = lasts - firsts
    row = np.repeat(np.arange(values.shape[0]), many)
    within = np.arange(row.shape[0]) - np.repeat(np.cumsum(many) - many, many)
    sums = values[row] + values[row + firsts[row] + within]
    return float(np.partition(sums, rank - below - 1)[rank - below - 1])


def smallest_sum_from(values: np.ndarray, start: float) -> float:
    """The smallest sum that is at least `start`, up to rounding; many ties have this sum."""
    rounding = 4 * float(np.finfo(np.float64).eps * np.abs(values).max())
    rows = np.arange(values.shape[0])
    partners = np.maximum(np.searchsorted(values, start - rounding - values, side="left"), rows)
    has_one = partners < values.shape[0]
    return float((values[has_one] + values[partners[has_one]]).min())


def count_sums_at_most(values: np.ndarray, limit: float) -> np.ndarray:
    """For each of the ascending values, the number of sums with itself and later values that are at most `limit`."""
    stops = np.searchsorted(values, limit - values, side="right")
    return np.asarray(np.maximum(stops - np.arange(values.shape[0]), 0))
