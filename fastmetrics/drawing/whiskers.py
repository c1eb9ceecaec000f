"""Small marks inside tables: values with intervals on a scale, and bars. Beside them stands as text what they show."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fastmetrics.drawing.svg import number

MIDDLE = 12  # of the height; widths are shares of the cell's
ROOM = 2.5  # percent, for the dots at the ends


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
        return f"{number(ROOM + share * (100 - 2 * ROOM))}%"

    drawn = f'<line class="track" x1="0" x2="100%" y1="{MIDDLE}" y2="{MIDDLE}"/>'
    if zero:
        drawn += upright("zero", place(0.0), MIDDLE - 1)
    if interval is not None and all(map(math.isfinite, interval)):
        left, right = map(place, interval)
        drawn += f'<line class="span" x1="{left}" x2="{right}" y1="{MIDDLE}" y2="{MIDDLE}"/>'
        drawn += upright("span", left, 4) + upright("span", right, 4)
    if math.isfinite(value):
        drawn += f'<circle class="dot" cx="{place(value)}" cy="{MIDDLE}" r="4.4"/>'
    return f'<svg class="whiskers {kind}" aria-hidden="true">{drawn}</svg>'


def upright(kind: str, at: str, half: float) -> str:
    return f'<line class="{kind}" x1="{at}" x2="{at}" y1="{number(MIDDLE - half)}" y2="{number(MIDDLE + half)}"/>'


def bar(value: float, centre: float | None, greatest: float) -> str:
    """A bar from the left, or where there is a `centre` from the middle: to the right of what is more, left of less."""
    if not math.isfinite(value) or greatest <= 0:
        return ""
    if centre is None:
        share = min(abs(value) / greatest, 1.0)
        return f'<span class="bar" aria-hidden="true"><i style="left:0;width:{number(100 * share)}%"></i></span>'
    share = min(abs(value - centre) / greatest, 1.0) * 50
    left = 50.0 if value >= centre else 50 - share
    style = f"left:{number(left)}%;width:{number(share)}%"
    return f'<span class="bar both" aria-hidden="true"><i style="{style}"></i></span>'
