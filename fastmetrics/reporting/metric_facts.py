"""What the registry says of a metric by its name: what it is, and which values are better."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

DIRECTION_TEXTS = {
    "maximize": "Higher is better.",
    "minimize": "Lower is better.",
    "closest_to_one": "Best at 1.",
    "closest_to_zero": "Best at 0.",
}


def describe_metric(metric: str) -> tuple[str, str]:
    """The summary of a metric, and which values are better. Both are empty for an unknown metric."""
    known = find_metric(metric)
    return (known.spec.summary, DIRECTION_TEXTS.get(known.direction, "")) if known is not None else ("", "")


def find_metric(metric: str) -> Any:
    """What a metric string means; None if it is unknown, as in a report of another release."""
    from fastmetrics._core.registry import parse

    try:
        return parse(metric)
    except (KeyError, TypeError, ValueError):
        return None


def best_positions(metric: str, values: Sequence[float]) -> set[int]:
    """The positions of the best values; none if all are equal, or if the metric has no better direction."""
    from fastmetrics._core.comparison.win_counts import UTILITY

    known = find_metric(metric)
    utility = None if known is None else UTILITY.get(known.direction)
    defined = {place: utility(value) for place, value in enumerate(values) if not math.isnan(value)} if utility else {}
    best = {place for place, goodness in defined.items() if goodness == max(defined.values())}
    return best if len(best) < len(defined) else set()


def verdict(metric: str, before: float, after: float) -> str:
    """"better" or "worse" for the second value; empty if the metric has no better direction."""
    best = best_positions(metric, [before, after])
    return "" if len(best) != 1 else "better" if 1 in best else "worse"
