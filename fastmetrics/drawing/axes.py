"""A Picture on matplotlib's axes. What text and background look like is the style's; colors of models are ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.picture import Bars, Line, Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Those of Okabe and Ito (2008) that stand out on white and on black, in an order that keeps neighbours apart.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
STYLES = ("-", "--", "-.", ":")
GRAY = "#808080"
MARGIN = 0.02  # of an axis, around what it shows
DET_TICKS = (1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)
HEADROOM = 1.2
MOST_INSIDE = 6  # entries of a legend
BESIDE = 3.2  # inches for a legend
COLUMNS = 3
WIDTH, HEIGHT = 5.2, 4.4  # inches, of one picture


def draw_on_axes(picture: Picture, ax: Axes | None = None, models: Sequence[str] = ()) -> Axes:
    """The picture on `ax`, or in a new figure; what is in `models` has the color of its place there."""
    if ax is None:
        size = WIDTH + 1 + BESIDE * has_legend_beside(picture), HEIGHT + 0.6
        ax = load_pyplot().subplots(figsize=size, layout="constrained")[1]
    scaled = Scale(picture)
    places = {name: place for place, name in enumerate(models)}
    for number, line in enumerate(picture.lines):
        draw_line(ax, line, scaled, look(places.get(line.name, number)))
    for number, bars in enumerate(picture.bars):
        part = (number + 1) / (len(picture.bars) + 1)
        draw_bars(ax, bars, part, look(places.get(bars.name, number)))
    if picture.reference is not None:
        own = picture.reference
        ax.plot(scaled(own.x), scaled(own.y), color=GRAY, linewidth=1, linestyle=(0, (4, 3)), label=own.name, zorder=1)
    ax.set_title(picture.title)
    ax.set_xlabel(picture.x_label)
    ax.set_ylabel(picture.y_label)
    ax.grid(True, color=GRAY, alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)
    scaled.set_limits(ax)
    set_legend(ax, picture)
    return ax


def count_entries(picture: Picture) -> int:
    return len(picture.lines) + len(picture.bars) + (picture.reference is not None)


def has_legend_beside(picture: Picture) -> bool:
    return count_entries(picture) > MOST_INSIDE


def set_legend(ax: Axes, picture: Picture) -> None:
    """Beside the axes where it would hide too much of them."""
    if has_legend_beside(picture):
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    elif count_entries(picture):
        # Lines of DET are below the diagonal where a model knows anything.
        place: Any = "upper right" if picture.scale == "normal" else "best"
        ax.legend(fontsize="small", framealpha=0.75, loc=place)


def draw_on_grid(pictures: Sequence[Picture], models: Sequence[str] = ()) -> np.ndarray:
    """All pictures in a new figure; the array of their axes."""
    beside = any(map(has_legend_beside, pictures))
    columns = min(COLUMNS - beside, len(pictures))
    rows = -(-len(pictures) // columns)
    size = (WIDTH + BESIDE * beside) * columns, HEIGHT * rows
    figure = load_pyplot().figure(figsize=size, layout="constrained")
    places = [figure.add_subplot(rows, columns, number + 1) for number in range(len(pictures))]
    axes: np.ndarray = np.empty(len(pictures), object)
    axes[:] = [draw_on_axes(picture, ax, models) for picture, ax in zip(pictures, places, strict=True)]
    return axes


def load_pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'fastmetrics[plot]'") from error
    return pyplot


def look(number: int) -> dict[str, Any]:
    """Color and dashes of a model: where colors come again, dashes differ."""
    return {"color": COLORS[number % len(COLORS)], "linestyle": STYLES[number // len(COLORS) % len(STYLES)]}


def legend_name(part: Line | Bars) -> str:
    # What begins with an underscore matplotlib leaves out of legends.
    name = f"\u200b{part.name}" if part.name.startswith("_") else part.name
    return (f"{name} ({part.note})" if part.note else name).replace("$", r"\$")


def draw_line(ax: Axes, line: Line, scaled: Scale, own: dict[str, Any]) -> None:
    x, y = scaled(line.x), scaled(line.y)
    marker: dict[str, Any] = {"marker": "o", "markersize": 4} if line.markers else {}
    if line.low is not None and line.high is not None:
        low, high = scaled(line.low), scaled(line.high)
        if line.markers:
            ax.vlines(x, low, high, color=own["color"], linewidth=1.2, alpha=0.7)
        else:
            ax.fill_between(x, low, high, color=own["color"], alpha=0.2, linewidth=0)
    ax.plot(x, y, linewidth=1.6, label=legend_name(line), zorder=3, **marker, **own)


def draw_bars(ax: Axes, bars: Bars, part: float, own: dict[str, Any]) -> None:
    ax.stairs(bars.heights, bars.edges, fill=True, color=own["color"], alpha=0.18, zorder=2)
    ax.stairs(bars.heights, bars.edges, linewidth=1.5, label=legend_name(bars), zorder=3, **own)
    if bars.low is not None and bars.high is not None:
        # Beside each other: those of several models would hide each other.
        x = bars.edges[:-1] + np.diff(bars.edges) * part
        ax.vlines(x, bars.low, bars.high, color=own["color"], linewidth=1.2, zorder=4)


class Scale:
    """Where numbers of a picture stand on its axes."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture

    def __call__(self, values: np.ndarray) -> np.ndarray:
        if self.picture.scale == "linear":
            return values
        from statistics import NormalDist

        inverse = NormalDist().inv_cdf
        # Ends of bands may be 0 or 1, which are nowhere.
        return np.array([inverse(min(max(value, 1e-9), 1 - 1e-9)) for value in values.tolist()])

    def set_limits(self, ax: Axes) -> None:
        if self.picture.scale == "normal":
            self.set_normal(ax)
            return
        for span, set_span in ((self.picture.x_range, ax.set_xlim), (self.picture.y_range, ax.set_ylim)):
            if span is not None:
                margin = MARGIN * (span[1] - span[0])
                set_span(span[0] - margin, span[1] + margin)
        if self.picture.bars:
            # The legend stands above the bars.
            tops = [(bars.heights if bars.high is None else bars.high).max() for bars in self.picture.bars]
            ax.set_ylim(0, HEADROOM * max(tops))
        if self.picture.x_range == self.picture.y_range is not None:
            ax.set_aspect("equal", adjustable="box")

    def set_normal(self, ax: Axes) -> None:
        """Ticks are rates in percent."""
        for span, axis, set_span in (
            (self.picture.x_range or (0.001, 0.95), ax.xaxis, ax.set_xlim),
            (self.picture.y_range or (0.001, 0.95), ax.yaxis, ax.set_ylim),
        ):
            low, high = self(np.array(span)).tolist()
            margin = MARGIN * (high - low)
            set_span(low - margin, high + margin)
            ticks = self(np.array(DET_TICKS))
            inside = np.flatnonzero((ticks >= low - margin) & (ticks <= high + margin))
            axis.set_ticks(ticks[inside], [f"{100 * DET_TICKS[place]:.4g}%" for place in inside])
