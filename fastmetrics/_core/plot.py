"""What a plot shows: points, labels, ranges. Families compute plots from states; `fastmetrics.reporting` draws them.

A curve has a few hundred points. A renderer may choose colors, never the numbers.
"""

from __future__ import annotations

import numpy as np

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.upper_layers import render


class Line(NamedTuple):
    """A curve of one model: float64 arrays `x` and `y` of equal length.

    `low` and `high` are the ends of a confidence band at every x. The legend shows `note` after the name: "AUC 0.73".
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    note: str = ""
    markers: bool = False


class Bars(NamedTuple):
    """A histogram of one model: bar i has `heights[i]` from `edges[i]` to `edges[i + 1]`.

    `low` and `high` are the ends of the interval of every height.
    """

    name: str
    edges: np.ndarray
    heights: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    note: str = ""


class Plot(NamedTuple):
    """One pair of axes with its lines and bars.

    `scale` is "linear", "normal" or "log", on both axes. A normal scale, as of DET curves, places a rate between 0 and
    1 at its normal deviate; on a logarithmic one, numbers below the low end of an axis stand at that end. `reference`
    is a thin line for comparison: chance, or perfect calibration. `summary` describes the plot in one sentence, for
    readers who cannot see it; `caption` says below it how it is read.
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
    caption: str = ""

    def __repr__(self) -> str:
        names = [*(line.name for line in self.lines), *(bars.name for bars in self.bars)]
        return f"Plot({self.name!r}, {self.y_label!r} over {self.x_label!r}, of {', '.join(names) or 'nothing'})"

    def _repr_svg_(self) -> str:
        """The picture for notebooks."""
        return str(render("plot picture", self))
