"""The list of plots, beside the list of metrics: the statistics that a plot needs, and how it is made of them.

A family adds a plot with the `plot` decorator on the function that computes it from states. An engine computes the
statistics of the plots together with those of its metrics. It knows no plot by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.plot import Bars, Line, Plot
from fastmetrics._core.registry.registration import known_specs

EXCHANGES = ("none", "hash")
MAX_POINTS = 600  # of a line
TOLERANCE = 1 / 2000  # of an axis: the greatest distance of a dropped point from the line, too small to see


class ModelStates(NamedTuple):
    """The states of a plot's statistics for one score column, over all rows, with the column's name and legend note.

    With intervals, `replicates` holds the counts of the plot's `band_statistic`, a row for every replicate, and `level`
    is the confidence level.
    """

    name: str
    states: tuple[Any, ...]
    note: str = ""
    replicates: np.ndarray | None = None
    level: float = 0.95

    def percentile_interval(self, replicates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Low and high end of every column over its rows, the replicates. NaN values are ignored."""
        tail = (1 - self.level) / 2
        defined = np.isfinite(replicates)
        undefined_columns = ~defined.any(axis=0)
        if undefined_columns.any():
            replicates = np.where(undefined_columns, 0.0, replicates)
        quantile = np.quantile if defined.all() else np.nanquantile
        low, high = quantile(replicates, (tail, 1 - tail), axis=0)
        return np.where(undefined_columns, np.nan, low), np.where(undefined_columns, np.nan, high)


class NoPlotError(Exception):
    """The plot cannot be made from these states; the message gives the reason."""


class PlotSpec(NamedTuple):
    """A plot as the engine sees it.

    `make(models)` returns the Plot or raises NoPlotError. `legend_metrics` lists metrics whose values the legend shows,
    each as the metric's name and the name in the legend. `weighted` is True if the statistics support row weights.
    Plots are shown in ascending order of `position`. `band_statistic(*states)` returns a statistic of counts whose
    replicates make the confidence band; it may depend on the states of all rows.
    """

    name: str
    position: int
    summary: str
    exchange: str
    statistics: tuple[Any, ...]
    make: Callable[[Sequence[ModelStates]], Plot]
    legend_metrics: tuple[tuple[str, str], ...]
    weighted: bool
    band_statistic: Callable[..., Any]


_plots: dict[str, PlotSpec] = {}


def known_plots() -> dict[str, PlotSpec]:
    """All plots by name, in the order they are shown. Families that were not used so far are imported."""
    known_specs()
    return {name: _plots[name] for name in sorted(_plots, key=lambda name: (_plots[name].position, name))}


def plot(
    name: str,
    *,
    position: int,
    exchange: str,
    statistics: tuple[Any, ...],
    band_statistic: Callable[..., Any],
    legend_metrics: tuple[tuple[str, str], ...] = (),
    weighted: bool = True,
) -> Callable[[Callable[[Sequence[ModelStates]], Plot]], Callable[[Sequence[ModelStates]], Plot]]:
    """Register the decorated function as plot `name`; the first line of its docstring is the summary."""
    if exchange not in EXCHANGES:
        raise ValueError(f"exchange of a plot must be one of {EXCHANGES}; found {exchange!r}")

    def register(make: Callable[[Sequence[ModelStates]], Plot]) -> Callable[[Sequence[ModelStates]], Plot]:
        if name in _plots:
            raise ValueError(f"plot {name!r} is registered twice")
        summary = (make.__doc__ or "").strip().partition("\n")[0]
        _plots[name] = PlotSpec(
            name, position, summary, exchange, statistics, make, legend_metrics, weighted, band_statistic
        )
        return make

    return register


def simplified_points(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Indices of the points that draw the line: every other point is closer to it than the eye can see.

    Both axes go from 0 to 1. The algorithm is that of Douglas and Peucker (Cartographica 10, 1973): it starts with the
    two ends and adds the point farthest from the line. So the points are points of the exact curve, and the same points
    for the same curve.
    """
    n = x.shape[0]
    selected = np.zeros(n, bool)
    selected[[0, -1]] = True
    candidates = [farthest_point(x, y, 0, n - 1)]
    for _ in range(MAX_POINTS - 2):
        distance, point, start, stop = heappop(candidates)
        if -distance <= TOLERANCE:
            break
        selected[point] = True
        heappush(candidates, farthest_point(x, y, start, point))
        heappush(candidates, farthest_point(x, y, point, stop))
    return np.flatnonzero(selected)


def farthest_point(x: np.ndarray, y: np.ndarray, start: int, stop: int) -> tuple[float, int, int, int]:
    """The point between `start` and `stop` farthest from the line through them: (-distance, point, start, stop)."""
    if stop - start < 2:
        return 0.0, start, start, stop
    to_x, to_y = x[start + 1 : stop] - x[start], y[start + 1 : stop] - y[start]
    dx, dy = float(x[stop] - x[start]), float(y[stop] - y[start])
    length = math.sqrt(dx * dx + dy * dy)
    distances = np.abs(to_x * dy - to_y * dx) / length if length else np.sqrt(to_x * to_x + to_y * to_y)
    index = int(distances.argmax())
    return -float(distances[index]), start + 1 + index, start, stop


def plot_summary(description: str, models: Sequence[Line | Bars]) -> str:
    """The description of a plot and the legend notes of its models, as sentences."""
    notes = [f"{model.name}: {model.note}" for model in models if model.note]
    return ". ".join([description, *notes]) + "."
