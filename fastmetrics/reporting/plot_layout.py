"""Where everything of a plot is, for SVG and for matplotlib: axes, series in units of the axes, positions of models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fastmetrics._core.distributions.normal import normal_quantile
from fastmetrics._core.plot import Bars, Line, Plot
from fastmetrics.reporting.axis_ticks import Axis, linear_axis, log_axis, normal_axis

LEAST_RATE = 1e-9  # of the end of a band: the deviates of 0 and 1 are infinite


@dataclass(frozen=True)
class PlotLayout:
    """A plot in units of its axes. Each series has its position among all models, which gives its color."""

    plot: Plot
    x: Axis
    y: Axis
    bars: Sequence[tuple[int, Bars]]
    lines: Sequence[tuple[int, Line]]


def lay_out(plot: Plot, models: Sequence[str] = ()) -> PlotLayout:
    """The layout of a plot. The position of a model in `models` gives its color, the same in every plot."""
    positions = series_positions(plot, models)
    if plot.scale == "normal":
        plot = on_normal_scale(plot)
    elif plot.scale == "log":
        plot = on_log_scale(plot)
    bars = list(zip(positions, plot.bars, strict=False))
    lines = list(zip(positions[len(bars) :], plot.lines, strict=True))
    return PlotLayout(plot, *axes_of(plot), bars, lines)


def series_positions(plot: Plot, models: Sequence[str]) -> list[int]:
    """The position of every series, bars first: its position among the models, otherwise the next free one."""
    positions = {name: position for position, name in enumerate(models)}
    names = [*(bars.name for bars in plot.bars), *(line.name for line in plot.lines)]
    return [positions.setdefault(name, len(positions)) for name in names]


def on_normal_scale(plot: Plot) -> Plot:
    """The plot with its rates replaced by their normal deviates."""

    def transformed(line: Line) -> Line:
        low, high = (
            None if end is None else normal_deviates(np.clip(end, LEAST_RATE, 1 - LEAST_RATE))
            for end in (line.low, line.high)
        )
        return line._replace(x=normal_deviates(line.x), y=normal_deviates(line.y), low=low, high=high)

    x_range, y_range = (
        None if span is None else (normal_quantile(span[0]), normal_quantile(span[1]))
        for span in (plot.x_range, plot.y_range)
    )
    reference = None if plot.reference is None else transformed(plot.reference)
    lines = tuple(map(transformed, plot.lines))
    return plot._replace(lines=lines, reference=reference, x_range=x_range, y_range=y_range)


def on_log_scale(plot: Plot) -> Plot:
    """The plot with its numbers replaced by their decimal logarithms; those below an axis are moved to its end."""
    x_range, y_range = plot.x_range or (LEAST_RATE, 1.0), plot.y_range or (LEAST_RATE, 1.0)

    def logarithms(numbers: np.ndarray, span: tuple[float, float]) -> np.ndarray:
        return np.array([math.log10(max(number, span[0])) for number in np.asarray(numbers, np.float64).tolist()])

    def transformed(line: Line) -> Line:
        low, high = (None if end is None else logarithms(end, y_range) for end in (line.low, line.high))
        return line._replace(x=logarithms(line.x, x_range), y=logarithms(line.y, y_range), low=low, high=high)

    spans = [(math.log10(low), math.log10(high)) for low, high in (x_range, y_range)]
    reference = None if plot.reference is None else transformed(plot.reference)
    lines = tuple(map(transformed, plot.lines))
    return plot._replace(lines=lines, reference=reference, x_range=spans[0], y_range=spans[1])


def normal_deviates(rates: np.ndarray) -> np.ndarray:
    """Normal deviates of rates; NaN for rates that are not between 0 and 1."""
    numbers = np.asarray(rates, np.float64).tolist()
    return np.array([normal_quantile(rate) if 0 < rate < 1 else float("nan") for rate in numbers])


def axes_of(plot: Plot) -> tuple[Axis, Axis]:
    """Axes that include all series; without a series, the line for comparison."""
    lines = plot.lines or tuple(filter(None, [plot.reference]))
    xs = [*(line.x for line in lines), *(bars.edges for bars in plot.bars)]
    ys = [*(line.y for line in lines), *(bars.heights for bars in plot.bars), *([np.zeros(1)] if plot.bars else [])]
    bands = [*((line.low, line.high) for line in plot.lines), *((bars.low, bars.high) for bars in plot.bars)]
    ys += [end for band in bands for end in band if end is not None]
    make_axis = {"normal": normal_axis, "log": log_axis}.get(plot.scale, linear_axis)
    return make_axis(concatenated(xs), plot.x_range), make_axis(concatenated(ys), plot.y_range)


def concatenated(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.asarray(array, np.float64).ravel() for array in arrays]) if arrays else np.zeros(0)
