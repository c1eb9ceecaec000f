"""Slices in the order of a metric: the worst first, whichever of two values is better."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from fastmetrics._core.option_numbers import integer_value

if TYPE_CHECKING:
    from fastmetrics._core.registry import Metric

Item = TypeVar("Item")
MOST = 1 << 62

# By direction: maps a value to a number that is greater for worse values.
BADNESS: dict[str, Callable[[float], float]] = {
    "maximize": lambda value: -value,
    "minimize": lambda value: value,
    "closest_to_one": lambda value: abs(value - 1),
    "closest_to_zero": abs,
}


def badness_of(metric: str | Metric, value: float) -> float:
    """A number that is greater for worse values of a metric; NaN of an undefined value."""
    from fastmetrics._core.kinds import MODEL_ROLES
    from fastmetrics._core.registry import parse

    direction = str(parse(metric, MODEL_ROLES).spec.direction)
    if direction not in BADNESS:
        raise ValueError(f"no value of {metric!r} is better than another: slices have no order by it")
    return BADNESS[direction](value)


def worst_first(items: Sequence[Item], badness: Callable[[Item], float]) -> list[Item]:
    """Items by descending badness; equal ones stay in their order, undefined ones come last."""
    keys: list[tuple[bool, float]] = []
    for item in items:
        value = badness(item)
        keys.append((True, 0.0) if math.isnan(value) else (False, -value))
    return [items[number] for number in sorted(range(len(items)), key=keys.__getitem__)]


def check_count(value: Any, name: str, least: int) -> int:
    """How many are asked for, as an integer of at least `least`."""
    count = integer_value(value)
    if count is None or count < least:
        raise ValueError(f"{name} must be an integer of at least {least}; found {value!r}")
    return count
