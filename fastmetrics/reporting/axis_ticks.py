"""Ranges of axes, and the positions and texts of their ticks."""

from __future__ import annotations

import math

import numpy as np

from fastmetrics._core.distributions.normal import normal_quantile
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.reporting.number_formats import LARGE, MINUS

MAX_DECADES = 3  # of an axis with ticks between powers of ten
TICK_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
# The rates that are usual on the axes of DET curves.
DET_RATES = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)


class Axis(NamedTuple):
    """The range of an axis, and its ticks as (position, text)."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def fraction(self, value: float) -> float:
        """0 at the low end, 1 at the high end."""
        return (value - self.low) / (self.high - self.low)


def linear_axis(values: np.ndarray, fixed: tuple[float, float] | None = None, n_ticks: int = 5) -> Axis:
    """An axis that includes all finite values. Its ends are ticks unless they are `fixed`."""
    low, high = fixed or finite_range(values)
    step = round_step((high - low) / n_ticks)
    if fixed is None:
        low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    power = math.floor(math.log10(step) + 1e-9)
    decimals = max(0, (round(step / 10.0**power, 6) == 2.5) - power)
    return Axis(low, high, tuple((i * step, tick_text(i * step, decimals)) for i in range(first, last + 1)))


def finite_range(values: np.ndarray) -> tuple[float, float]:
    """The least and the greatest finite value; a range around them if they are equal."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    if high - low > 1e-12 * max(abs(low), abs(high)):
        return low, high
    margin = abs(low) / 10 or 0.5
    return low - margin, high + margin


def round_step(min_step: float) -> float:
    """The least of 1, 2, 2.5 or 5 times a power of ten that is at least `min_step`."""
    power = 10.0 ** math.floor(math.log10(min_step))
    return next(step for step in TICK_STEPS if step * power >= min_step * (1 - 1e-9)) * power


def tick_text(value: float, decimals: int) -> str:
    if value and (abs(value) >= LARGE or decimals > 5):
        return f"{value:.3g}".replace("-", MINUS)
    text = f"{value:,.{decimals}f}"
    return text.replace("-", "" if float(text.replace(",", "")) == 0 else MINUS)


def log_axis(values: np.ndarray, fixed: tuple[float, float] | None = None) -> Axis:
    """An axis of decimal logarithms. Its ticks are powers of ten, with 2 and 5 times these where there are few."""
    low, high = fixed or finite_range(values)
    first, last = math.floor(low + 1e-9), math.ceil(high - 1e-9)
    digits = (1,) if last - first > MAX_DECADES else (1, 2, 5)
    ticks = [(power + math.log10(digit), digit * 10.0**power) for power in range(first, last + 1) for digit in digits]
    shown = tuple((place, f"{value:,.6g}") for place, value in ticks if low - 1e-9 <= place <= high + 1e-9)
    return Axis(low, high, shown)


def normal_axis(values: np.ndarray, fixed: tuple[float, float] | None = None) -> Axis:
    """An axis of normal deviates. Its ticks are the rates of these deviates, in percent."""
    ticks = [(normal_quantile(rate), f"{rate * 100:g}%") for rate in DET_RATES]
    low, high = fixed or finite_range(values)
    low, high = max(low, ticks[0][0]), min(high, ticks[-1][0])
    if fixed is None:
        # The ends are the ticks around the data.
        low = max((tick for tick, _ in ticks if tick <= low + 1e-9), default=ticks[0][0])
        high = min((tick for tick, _ in ticks if tick >= high - 1e-9), default=ticks[-1][0])
    if not low < high:
        low, high = ticks[0][0], ticks[-1][0]
    return Axis(low, high, tuple((tick, text) for tick, text in ticks if low - 1e-9 <= tick <= high + 1e-9))
