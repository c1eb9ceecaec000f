"""Where the ticks of an axis stand, and how numbers are spelt beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
MINUS = "−"
# Shares that people know DET curves by.
SHARES = (1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)
LARGE, SMALL = 1e6, 1e-4


class Axis(NamedTuple):
    """The range of an axis, and its ticks as (place, text) inside it."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def share(self, value: float) -> float:
        """0 at the low end, 1 at the high one."""
        return (value - self.low) / (self.high - self.low)


def linear_axis(values: np.ndarray, fixed: tuple[float, float] | None = None, n_ticks: int = 5) -> Axis:
    """An axis that holds all finite values; its ends are ticks unless they are `fixed`."""
    low, high = fixed or ends_of(values)
    step = nice_step((high - low) / n_ticks)
    if fixed is None:
        low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    power = math.floor(math.log10(step) + 1e-9)
    decimals = max(0, (round(step / 10.0**power, 6) == 2.5) - power)
    return Axis(low, high, tuple((i * step, tick_text(i * step, decimals)) for i in range(first, last + 1)))


def ends_of(values: np.ndarray) -> tuple[float, float]:
    """The least and greatest finite value; room around them where they are one."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    if high - low > 1e-12 * max(abs(low), abs(high)):
        return low, high
    around = abs(low) / 10 or 0.5
    return low - around, high + around


def nice_step(least: float) -> float:
    """The least of 1, 2, 2.5 or 5 times a power of ten that is not below."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step for step in STEPS if step * power >= least * (1 - 1e-9)) * power


def tick_text(value: float, decimals: int) -> str:
    if value and (abs(value) >= LARGE or decimals > 5):
        return f"{value:.3g}".replace("-", MINUS)
    text = f"{value:,.{decimals}f}"
    return text.replace("-", "" if float(text.replace(",", "")) == 0 else MINUS)


def normal_axis(values: np.ndarray, fixed: tuple[float, float] | None = None) -> Axis:
    """An axis of normal deviates whose ticks are the shares they belong to, in percent."""
    from statistics import NormalDist

    deviate = NormalDist().inv_cdf
    known = [(deviate(share), f"{share * 100:g}%") for share in SHARES]
    low, high = fixed or ends_of(values)
    low, high = max(low, known[0][0]), min(high, known[-1][0])
    if fixed is None:
        # The shares around the data are the ends.
        low = max((place for place, _ in known if place <= low + 1e-9), default=known[0][0])
        high = min((place for place, _ in known if place >= high - 1e-9), default=known[-1][0])
    if not low < high:
        low, high = known[0][0], known[-1][0]
    return Axis(low, high, tuple((place, text) for place, text in known if low - 1e-9 <= place <= high + 1e-9))


def decimals_for(values: Sequence[float], digits: int = 5) -> int | None:
    """So many decimals that the greatest of the values has `digits` digits; None where an exponent reads better."""
    greatest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if greatest == 0:
        return digits - 1
    if not SMALL <= greatest < LARGE:
        return None
    return max(0, digits - 1 - math.floor(math.log10(greatest)))


def spelled(value: float, decimals: int | None) -> str:
    """A finite number as people read it."""
    text = f"{value:.4g}" if decimals is None else f"{value:,.{decimals}f}"
    return text.replace("-", MINUS)
