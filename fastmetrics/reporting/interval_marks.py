"""Small marks inside tables: values with intervals on a scale, and bars. The same numbers stand beside them as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from fastmetrics.reporting.svg_plots import coordinate

Shape = Literal["circle", "up", "down"]
MIDDLE = 12  # of the height in pixels; widths are percentages of the cell
MARGIN = 2.5  # percent, for the dots at the ends


def scale_range(values: Sequence[float], around_zero: bool = False) -> tuple[float, float] | None:
    """The ends of a scale that includes the values; symmetric if zero has to be in the middle. None without values."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return None
    if around_zero:
        end = max(map(abs, finite)) or 1.0
        return -end, end
    low, high = min(finite), max(finite)
    if low == high:
        margin = abs(low) / 100 or 0.5
        return low - margin, high + margin
    return low, high


def interval_mark(
    value: float,
    interval: Sequence[float] | None,
    ends: tuple[float, float] | None,
    css_class: str,
    end_texts: Sequence[str] = (),
    *,
    mark_zero: bool = False,
    shape: Shape = "circle",
) -> str:
    """The interval of a defined value on its scale, with the texts of the scale's ends below, if there are any."""
    if ends is None or math.isnan(value):
        return ""
    texts = "".join(f"<span>{text}</span>" for text in end_texts)
    below = f'<span class="ends" aria-hidden="true">{texts}</span>' if texts else ""
    return whisker_svg(value, interval, ends, css_class, mark_zero=mark_zero, shape=shape) + below


def whisker_svg(
    value: float,
    interval: Sequence[float] | None,
    ends: tuple[float, float],
    css_class: str,
    *,
    mark_zero: bool = False,
    shape: Shape = "circle",
) -> str:
    """A dot or a triangle at the value and a line over the interval; with `mark_zero` also a mark at no difference."""
    low, high = ends

    def to_percent(number: float) -> str:
        fraction = min(max((number - low) / (high - low), 0.0), 1.0)
        return f"{coordinate(MARGIN + fraction * (100 - 2 * MARGIN))}%"

    elements = f'<line class="track" x1="0" x2="100%" y1="{MIDDLE}" y2="{MIDDLE}"/>'
    if mark_zero:
        elements += vertical_line("zero", to_percent(0.0), MIDDLE - 1)
    if interval is not None and all(map(math.isfinite, interval)):
        left, right = map(to_percent, interval)
        elements += f'<line class="span" x1="{left}" x2="{right}" y1="{MIDDLE}" y2="{MIDDLE}"/>'
        elements += vertical_line("span", left, 4) + vertical_line("span", right, 4)
    if math.isfinite(value):
        elements += value_mark(to_percent(value), shape)
    return f'<svg class="whiskers {css_class}" aria-hidden="true">{elements}</svg>'


def value_mark(x: str, shape: Shape) -> str:
    """A circle, or a triangle that points up or down; it is drawn in a box of its own, as `x` is a percentage."""
    if shape == "circle":
        return f'<circle class="dot" cx="{x}" cy="{MIDDLE}" r="4.4"/>'
    path = "M0 -5.5L5.5 4.5H-5.5Z" if shape == "up" else "M0 5.5L5.5 -4.5H-5.5Z"
    return f'<svg x="{x}" y="{MIDDLE}" overflow="visible" aria-hidden="true"><path class="dot" d="{path}"/></svg>'


def vertical_line(css_class: str, x: str, half: float) -> str:
    top, bottom = coordinate(MIDDLE - half), coordinate(MIDDLE + half)
    return f'<line class="{css_class}" x1="{x}" x2="{x}" y1="{top}" y2="{bottom}"/>'


def bar_html(value: float, center: float | None, greatest: float) -> str:
    """A bar from the left. With a `center` it starts in the middle and goes right for greater values, else left."""
    if not math.isfinite(value) or greatest <= 0:
        return ""
    if center is None:
        share = min(abs(value) / greatest, 1.0)
        return f'<span class="bar" aria-hidden="true"><i style="left:0;width:{coordinate(100 * share)}%"></i></span>'
    share = min(abs(value - center) / greatest, 1.0) * 50
    left = 50.0 if value >= center else 50 - share
    style = f"left:{coordinate(left)}%;width:{coordinate(share)}%"
    return f'<span class="bar both" aria-hidden="true"><i style="{style}"></i></span>'
