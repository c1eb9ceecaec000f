"""Quantiles of values, also with weights (Hyndman and Fan, Am. Stat. 50, 1996, definition 2)."""

from __future__ import annotations

import math

import numpy as np

EPSILON = 2.0**-52


def quantile(values: np.ndarray, weights: np.ndarray | None, level: float) -> float:
    """Return the quantile of a level in [0, 1].

    It is the first value with at least this level of the values at or below it. If the level is reached exactly, it is
    the mean of this value and the next. The array is reordered.
    """
    if weights is not None:
        return weighted_quantile(values, weights, level)
    n = values.shape[0]
    # As in scikit-learn, the level is converted to per cent and back. This rounds in the same way.
    target_rank = level * 100 / 100 * n
    rank = min(max(math.ceil(target_rank), 1), n) - 1
    between = rank + 1 - target_rank <= EPSILON and target_rank > 0
    next_rank = min(rank + 1, n - 1) if between else rank
    values.partition((rank, next_rank))
    return midpoint(float(values[rank]), float(values[next_rank]))


def midpoint(low: float, high: float) -> float:
    """Return the mean of two values. Equal values are returned unchanged, so that their sum cannot overflow."""
    return low if low == high else (low + high) / 2


def weighted_quantile(values: np.ndarray, weights: np.ndarray, level: float) -> float:
    """Return the weighted quantile of a level in [0, 1]. At least one weight must be positive.

    Sums of weights are rounded, so rows are first sorted by (value, weight): the result does not depend on their order.
    Weights are first scaled to at most 1, so a common power of two changes nothing.
    """
    present = weights > 0
    if not present.all():
        values, weights = values[present], weights[present]
    weights = np.ldexp(weights, -math.frexp(float(weights.max()))[1])
    order = np.lexsort((weights, values))
    reached = np.cumsum(weights[order])
    target_weight = level * 100 / 100 * float(reached[-1])
    if target_weight == 0:
        return float(values[order[0]])
    rank = min(int(np.searchsorted(reached, target_weight)), len(order) - 1)
    low = float(values[order[rank]])
    if float(reached[rank]) - target_weight > EPSILON:
        return low
    return midpoint(low, float(values[order[min(rank + 1, len(order) - 1)]]))
