"""The list of pictures: which statistics each is made of, and how. It stands beside the list of metrics.

A family adds a picture with the `picture` decorator on the function that makes it of states; an engine asks for the
statistics with those of its metrics, and knows no picture by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.picture import Bars, Line, Picture
from fastmetrics._core.registry import known_specs

EXCHANGES = ("none", "group")
MOST_POINTS = 600  # of a line as it is drawn
FINENESS = 1 / 2000  # of an axis: nobody sees how far a line is from a point that was left out


class Model(NamedTuple):
    """What is known of one score column: its name, the states of the picture's statistics over all rows, and a note.

    Where intervals were asked for, at `level`, `replicates` has the counts of the picture's `resampled` statistic: a
    row for every replicate.
    """

    name: str
    states: tuple[Any, ...]
    note: str = ""
    replicates: np.ndarray | None = None
    level: float = 0.95

    def ends(self, replicates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Between which numbers the values of replicates (one in a row) lie, column by column; NaN are left out."""
        tail = (1 - self.level) / 2
        defined = np.isfinite(replicates)
        lacking = ~defined.any(axis=0)
        if lacking.any():
            replicates = np.where(lacking, 0.0, replicates)
        quantile = np.quantile if defined.all() else np.nanquantile
        low, high = quantile(replicates, (tail, 1 - tail), axis=0)
        return np.where(lacking, np.nan, low), np.where(lacking, np.nan, high)


class NoPictureError(Exception):
    """There is nothing to draw; the text says why."""


class PictureSpec(NamedTuple):
    """A picture as the engine sees it.

    `make(models)` gives the Picture or raises NoPictureError. `notes` are metrics (name, and how a legend calls it)
    whose values belong into the legend. `weighted` tells whether its statistics take row weights. Pictures are shown
    in the order of their `place`. `resampled(*states)` gives the statistic, of counts, whose replicates make a band,
    once the states of all rows are known.
    """

    name: str
    place: int
    summary: str
    exchange: str
    statistics: tuple[Any, ...]
    make: Callable[[Sequence[Model]], Picture]
    notes: tuple[tuple[str, str], ...]
    weighted: bool
    resampled: Callable[..., Any]


_pictures: dict[str, PictureSpec] = {}


def known_pictures() -> dict[str, PictureSpec]:
    """All pictures by name; families that nobody has used so far are imported."""
    known_specs()
    return {name: _pictures[name] for name in sorted(_pictures, key=lambda own: (_pictures[own].place, own))}


def picture(
    name: str,
    *,
    place: int,
    exchange: str,
    statistics: tuple[Any, ...],
    resampled: Callable[..., Any],
    notes: tuple[tuple[str, str], ...] = (),
    weighted: bool = True,
) -> Callable[[Callable[[Sequence[Model]], Picture]], Callable[[Sequence[Model]], Picture]]:
    """Enter the decorated function as picture `name`; its docstring's first line is the summary."""
    if exchange not in EXCHANGES:
        raise ValueError(f"exchange of a picture must be one of {EXCHANGES}; found {exchange!r}")

    def enter(make: Callable[[Sequence[Model]], Picture]) -> Callable[[Sequence[Model]], Picture]:
        if name in _pictures:
            raise ValueError(f"picture {name!r} is registered twice")
        summary = (make.__doc__ or "").strip().partition("\n")[0]
        _pictures[name] = PictureSpec(name, place, summary, exchange, statistics, make, notes, weighted, resampled)
        return make

    return enter


def thinned(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Which points of a line to draw: the others are no farther from it than can be seen, of axes from 0 to 1.

    From both ends on, the point farthest from the line so far is taken in (Douglas and Peucker, Cartographica 10,
    1973), so that those that remain are points of the exact curve, and the same ones for the same curve.
    """
    n = x.shape[0]
    kept = np.zeros(n, bool)
    kept[[0, -1]] = True
    waiting = [farthest(x, y, 0, n - 1)]
    for _ in range(MOST_POINTS - 2):
        distance, place, start, stop = heappop(waiting)
        if -distance <= FINENESS:
            break
        kept[place] = True
        heappush(waiting, farthest(x, y, start, place))
        heappush(waiting, farthest(x, y, place, stop))
    return np.flatnonzero(kept)


def farthest(x: np.ndarray, y: np.ndarray, start: int, stop: int) -> tuple[float, int, int, int]:
    """Of the points between two: minus the distance to the line between those, and the point that has it."""
    if stop - start < 2:
        return 0.0, start, start, stop
    to_x, to_y = x[start + 1 : stop] - x[start], y[start + 1 : stop] - y[start]
    dx, dy = float(x[stop] - x[start]), float(y[stop] - y[start])
    length = math.hypot(dx, dy)
    distances = np.abs(to_x * dy - to_y * dx) / length if length else np.hypot(to_x, to_y)
    place = int(distances.argmax())
    return -float(distances[place]), start + 1 + place, start, stop


def describe(what: str, models: Sequence[Line | Bars]) -> str:
    """What a picture shows, in one sentence for each model that says something."""
    noted = [f"{model.name}: {model.note}" for model in models if model.note]
    return ". ".join([what, *noted]) + "."
