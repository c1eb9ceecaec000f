"""What a picture shows, and nothing of how it is drawn: families make pictures of states, `drawing/` draws them.

Points are what people look at, a few hundred of a curve. A renderer may choose colors, never the numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Line(NamedTuple):
    """A curve of one model: y over x, float64 of one length; with a band, its lower and upper ends at every x.

    `note` is what a legend adds to the name, such as "AUC 0.7312".
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    note: str = ""
    markers: bool = False


class Bars(NamedTuple):
    """Heights over intervals of x: bar i stands from edges[i] to edges[i + 1]; with ends of intervals where known."""

    name: str
    edges: np.ndarray
    heights: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    note: str = ""


class Picture(NamedTuple):
    """One pair of axes. `scale` is "linear" or "normal": rates above 0 and below 1 on both axes, each placed at its
    normal deviate, as DET curves are drawn.

    `reference` is a line to compare with (chance, perfect calibration), drawn thin; `summary` says in one sentence what
    the picture shows, for those who cannot see it.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...] = ()
    bars: tuple[Bars, ...] = ()
    reference: Line | None = None
    scale: str = "linear"
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    summary: str = ""
