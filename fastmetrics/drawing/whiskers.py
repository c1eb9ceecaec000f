"""Small marks inside tables: a value with its interval on a scale, and bars. What they show stands beside them as text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fastmetrics.drawing.svg import number

WIDTH, MIDDLE = 240, 12
ROOM = 6  # for the dots at the ends


def scale_of(numbers: Sequence[float], zero: bool = False) -> tuple[float, float] | None:
    """The ends of a scale that holds the numbers, symmetric where `zero` has to be in the middle."""
    finite = [own for own in numbers if math.isfinite(own)]
    if not finite:
        return None
    if zero:
        end = max(map(abs, finite)) or 1.0
        return -end, end
    low, high = min(finite), max(finite)
    if low == high:
        around = abs(low) / 100 or 0.5
        return low - around, high + around
    return low, high


def whiskers(
    value: float, interval: Sequence[float] | None, ends: tuple[float, float], kind: str, *, zero: bool = False
) -> str:
    """A dot at the value and a line over the interval; with `zero` a mark where there is no difference."""
    low, high = ends

    def place(at: float) -> str:
        share = min(max((at - low) / (high - low), 0.0), 1.0)
        return number(ROOM + share * (WIDTH - 2 * ROOM))

    drawn = f'<path class="track" d="M0 {MIDDLE}H{WIDTH}"/>'
    if zero:
        drawn += f'<path class="zero" d="M{place(0.0)} 1V{2 * MIDDLE - 1}"/>'
    if interval is not None and all(map(math.isfinite, interval)):
        left, right = map(place, interval)
        drawn += f'<path class="span" d="M{left} {MIDDLE}H{right}M{left} {MIDDLE - 4}v8M{right} {MIDDLE - 4}v8"/>'
    if math.isfinite(value):
        drawn += f'<circle class="dot" cx="{place(value)}" cy="{MIDDLE}" r="4.6"/>'
    return (
        f'<svg class="whiskers {kind}" aria-hidden="true" viewBox="0 0 {WIDTH} {2 * MIDDLE}" '
        f'preserveAspectRatio="none">{drawn}</svg>'
    )


def bar(value: float, centre: float | None, greatest: float) -> str:
    """A bar from the left, or where there is a `centre` from the middle: to the right of what is more, left of less."""
    if not math.isfinite(value) or greatest <= 0:
        return ""
    if centre is None:
        share = min(abs(value) / greatest, 1.0)
        return f'<span class="bar" aria-hidden="true"><i style="left:0;width:{number(100 * share)}%"></i></span>'
    share = min(abs(value - centre) / greatest, 1.0) * 50
    left = 50.0 if value >= centre else 50 - share
    less = "" if value >= centre else ' class="less"'
    style = f"left:{number(left)}%;width:{number(share)}%"
    return f'<span class="bar both" aria-hidden="true"><i{less} style="{style}"></i></span>'
