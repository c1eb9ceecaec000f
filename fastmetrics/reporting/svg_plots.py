"""Plots as SVG inside a page: no file, font or color of their own.

The page defines the colors: a series has one of the classes `s1` to `s8`, every other element a class that names it
(`grid`, `tick`, `reference` ...). So the page's style sheet covers light, dark and print. Numbers are rounded to a
hundredth of a pixel, so equal plots are equal texts. Series also differ in dashes and markers, for readers who cannot
tell colors apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise

import numpy as np

from fastmetrics._core.distributions.normal import normal_quantile
from fastmetrics._core.plot import Bars, Line, Plot
from fastmetrics.reporting.axis_ticks import Axis, linear_axis, normal_axis

WIDTH, PLOT_HEIGHT = 440, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 12, 46
LEGEND_ROW = 20
CHARACTER_WIDTH = 7.2  # of a tick's text
N_COLORS = 8
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2", "1 2", "10 4", "6 2 1 2 1 2")
MAX_NAME_LENGTH = 46  # in a legend; the whole name is its title
RADIUS = 2.8


def plot_svg(plot: Plot, ident: str, models: Sequence[str] = ()) -> str:
    """The plot as an `svg` element. Its ids begin with `ident`, which must be unique in the page.

    The position of a model in `models` gives its color, the same in every plot.
    """
    positions = series_positions(plot, models)
    entries = legend_entries(plot, positions)
    if plot.scale == "normal":
        plot = on_normal_scale(plot)
    height = PLOT_HEIGHT + LEGEND_ROW * len(entries) + (6 if entries else 0)
    area = PlotArea(plot)
    elements = [area.grid()]
    elements += [area.bars(number, bars, positions[number]) for number, bars in enumerate(plot.bars)]
    lines = list(zip(positions[len(plot.bars) :], plot.lines, strict=True))
    elements += [area.band(position, line) for position, line in lines]
    if plot.reference is not None:
        elements.append(area.line("reference", plot.reference, ""))
    elements += [
        area.line(f"line {series_class(position)}", line, dash_attribute(position)) + area.markers(position, line)
        for position, line in lines
    ]
    summary = plot.summary or f"{plot.y_label} over {plot.x_label}."
    return (
        f'<svg class="plot" id="{escape(ident)}" role="img" viewBox="0 0 {WIDTH} {height}" '
        f'aria-labelledby="{escape(ident)}-title {escape(ident)}-desc">'
        f'<title id="{escape(ident)}-title">{escape_text(plot.title)}</title>'
        f'<desc id="{escape(ident)}-desc">{escape_text(summary)}</desc>'
        f'<clipPath id="{escape(ident)}-clip"><rect x="{LEFT - 3}" y="{TOP - 3}" '
        f'width="{WIDTH - LEFT - RIGHT + 6}" height="{PLOT_HEIGHT - TOP - BOTTOM + 6}"/></clipPath>'
        f'{area.frame()}<g clip-path="url(#{escape(ident)}-clip)">{"".join(elements)}</g>{legend(entries)}</svg>'
    )


def series_positions(plot: Plot, models: Sequence[str]) -> list[int]:
    """The position of every series, bars first: its position among the models, otherwise the next free one."""
    positions = {name: position for position, name in enumerate(models)}
    names = [*(bars.name for bars in plot.bars), *(line.name for line in plot.lines)]
    return [positions.setdefault(name, len(positions)) for name in names]


def series_class(position: int) -> str:
    """The CSS class of a series' color."""
    return f"s{position % N_COLORS + 1}"


def dash_attribute(position: int) -> str:
    dashes = DASHES[position % len(DASHES)]
    return f' stroke-dasharray="{dashes}"' if dashes else ""


def coordinate(value: float) -> str:
    """A coordinate with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def escape_text(text: str) -> str:
    """A text for HTML: escaped, and without the control characters that HTML forbids."""
    return escape("".join(letter if letter.isprintable() or letter == " " else "�" for letter in str(text)))


def on_normal_scale(plot: Plot) -> Plot:
    """The plot with its rates replaced by their normal deviates."""

    def transformed(line: Line) -> Line:
        low, high = (None if end is None else normal_deviates(end) for end in (line.low, line.high))
        return line._replace(x=normal_deviates(line.x), y=normal_deviates(line.y), low=low, high=high)

    x_range, y_range = (
        None if span is None else (float(low), float(high))
        for span in (plot.x_range, plot.y_range)
        for low, high in [normal_deviates(np.asarray(span or (0.1, 0.9), np.float64)).tolist()]
    )
    reference = None if plot.reference is None else transformed(plot.reference)
    lines = tuple(map(transformed, plot.lines))
    return plot._replace(lines=lines, reference=reference, x_range=x_range, y_range=y_range)


def normal_deviates(rates: np.ndarray) -> np.ndarray:
    """Normal deviates of rates; NaN for rates that are not between 0 and 1."""
    numbers = np.asarray(rates, np.float64).tolist()
    return np.array([normal_quantile(rate) if 0 < rate < 1 else float("nan") for rate in numbers])


class PlotArea:
    """The axes of a plot and the elements between them."""

    def __init__(self, plot: Plot) -> None:
        lines = [*plot.lines, *([plot.reference] if plot.reference is not None else [])]
        xs = [line.x for line in plot.lines] or [line.x for line in lines]
        ys = [line.y for line in plot.lines] or [line.y for line in lines]
        ys += [end for line in plot.lines for end in (line.low, line.high) if end is not None]
        for bars in plot.bars:
            xs.append(bars.edges)
            ys += [bars.heights, np.zeros(1), *(end for end in (bars.low, bars.high) if end is not None)]
        make_axis = normal_axis if plot.scale == "normal" else linear_axis
        self.x: Axis = make_axis(concatenated(xs), plot.x_range)
        self.y: Axis = make_axis(concatenated(ys), plot.y_range)
        self.x_label, self.y_label, self.n_bars = plot.x_label, plot.y_label, len(plot.bars)

    def to_x(self, value: float) -> float:
        return LEFT + self.x.fraction(value) * (WIDTH - LEFT - RIGHT)

    def to_y(self, value: float) -> float:
        return PLOT_HEIGHT - BOTTOM - self.y.fraction(value) * (PLOT_HEIGHT - TOP - BOTTOM)

    def point(self, x: float, y: float) -> str:
        """A point in the plot's coordinates. Points far outside are moved closer, which keeps coordinates short."""
        return f"{coordinate(min(max(self.to_x(x), -WIDTH), 2 * WIDTH))} " + coordinate(
            min(max(self.to_y(y), -PLOT_HEIGHT), 2 * PLOT_HEIGHT)
        )

    def grid(self) -> str:
        left, right, top, bottom = LEFT, WIDTH - RIGHT, TOP, PLOT_HEIGHT - BOTTOM
        path = "".join(f"M{coordinate(self.to_x(x))} {top}V{bottom}" for x, _ in self.x.ticks)
        path += "".join(f"M{left} {coordinate(self.to_y(y))}H{right}" for y, _ in self.y.ticks)
        return f'<path class="grid" d="{path}"/>'

    def frame(self) -> str:
        """The axes with the texts of ticks and labels; they are outside of the clipped area."""
        right, bottom = WIDTH - RIGHT, PLOT_HEIGHT - BOTTOM
        texts = [
            f'<text class="tick" text-anchor="middle" '
            f'x="{coordinate(min(self.to_x(x), WIDTH - CHARACTER_WIDTH / 2 * len(text)))}" '
            f'y="{bottom + 17}">{text}</text>'
            for x, text in separate_ticks(self.x.ticks, [self.to_x(x) for x, _ in self.x.ticks])
        ]
        texts += [
            f'<text class="tick" text-anchor="end" x="{LEFT - 7}" y="{coordinate(self.to_y(y) + 4)}">{text}</text>'
            for y, text in self.y.ticks
        ]
        middle = coordinate((TOP + bottom) / 2)
        labels = (
            f'<text class="axis-label" text-anchor="middle" x="{coordinate((LEFT + right) / 2)}" y="{bottom + 37}">'
            f'{escape_text(self.x_label)}</text><text class="axis-label" text-anchor="middle" x="14" y="{middle}" '
            f'transform="rotate(-90 14 {middle})">{escape_text(self.y_label)}</text>'
        )
        return f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>{"".join(texts)}{labels}'

    def line(self, css_class: str, line: Line, dash: str) -> str:
        runs = [run for run in finite_runs(line.x, line.y) if run.stop - run.start > 1]
        path = "".join(
            "M" + "L".join(self.point(x, y) for x, y in zip(line.x[run].tolist(), line.y[run].tolist(), strict=True))
            for run in runs
        )
        return f'<path class="{css_class}"{dash} d="{path}"/>' if path else ""

    def markers(self, position: int, line: Line) -> str:
        """A marker of the series' own shape at every point, or only at single points if the line has no markers."""
        single_points = [run.start for run in finite_runs(line.x, line.y) if run.stop - run.start == 1]
        all_points = np.flatnonzero(np.isfinite(line.x) & np.isfinite(line.y)).tolist()
        marked = all_points if line.markers else single_points
        shapes = "".join(
            marker(position, self.to_x(x), self.to_y(y))
            for x, y in zip(line.x[marked].tolist(), line.y[marked].tolist(), strict=True)
        )
        return f'<path class="marker {series_class(position)}" d="{shapes}"/>' if shapes else ""

    def band(self, position: int, line: Line) -> str:
        """The confidence band: an area, or a whisker at every marker."""
        if line.low is None or line.high is None:
            return ""
        if line.markers:
            ends = np.column_stack((line.x, line.low, line.high))
            ends = ends[np.isfinite(ends).all(axis=1)]
            whiskers = "".join(f"M{self.point(x, a)}L{self.point(x, b)}" for x, a, b in ends.tolist())
            return f'<path class="error {series_class(position)}" d="{whiskers}"/>' if whiskers else ""
        low, high, path = line.low, line.high, ""
        for run in finite_runs(line.x, low, high):
            xs = line.x[run].tolist()
            upper = [self.point(x, y) for x, y in zip(xs, high[run].tolist(), strict=True)]
            lower = [self.point(x, y) for x, y in zip(xs, low[run].tolist(), strict=True)]
            if len(xs) == 1:
                path += f"M{upper[0]}L{lower[0]}"
            else:
                path += f"M{'L'.join([*upper, *reversed(lower)])}Z"
        return f'<path class="band {series_class(position)}" d="{path}"/>' if path else ""

    def bars(self, number: int, bars: Bars, position: int) -> str:
        """The bars of one series. The bars of several series are side by side inside their interval."""
        path, whiskers = "", ""
        zero = min(max(self.to_y(0.0), TOP), PLOT_HEIGHT - BOTTOM)
        for i, (left, right) in enumerate(pairwise(bars.edges.tolist())):
            height = float(bars.heights[i])
            if not np.isfinite(height):
                continue
            interval_width = self.to_x(right) - self.to_x(left)
            margin = min(4.0, interval_width / 10) if self.n_bars > 1 else 0.0
            width = (interval_width - 2 * margin) / self.n_bars
            gap = min(0.8, width / 8)
            start = self.to_x(left) + margin + number * width + gap
            top, foot = coordinate(self.to_y(height)), coordinate(zero)
            path += f"M{coordinate(start)} {foot}V{top}h{coordinate(width - 2 * gap)}V{foot}Z"
            if bars.low is not None and bars.high is not None and np.isfinite([bars.low[i], bars.high[i]]).all():
                middle = coordinate(start + width / 2 - gap)
                low, high = coordinate(self.to_y(float(bars.low[i]))), coordinate(self.to_y(float(bars.high[i])))
                whiskers += f"M{middle} {low}V{high}"
        ends = f'<path class="whisker {series_class(position)}" d="{whiskers}"/>' if whiskers else ""
        return (f'<path class="bar {series_class(position)}" d="{path}"/>' if path else "") + ends


def concatenated(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.asarray(array, np.float64).ravel() for array in arrays]) if arrays else np.zeros(0)


def finite_runs(*columns: np.ndarray) -> list[slice]:
    """The runs of points at which all columns are finite."""
    finite = np.isfinite(columns).all(axis=0)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], finite.astype(np.int8), [0]))))
    return [slice(int(start), int(stop)) for start, stop in zip(edges[::2], edges[1::2], strict=True)]


def separate_ticks(ticks: tuple[tuple[float, str], ...], xs: list[float]) -> list[tuple[float, str]]:
    """The ticks whose texts do not touch the text before."""
    selected: list[tuple[float, str]] = []
    end = float("-inf")
    for (value, text), x in zip(ticks, xs, strict=True):
        half = CHARACTER_WIDTH / 2 * len(text)
        if x - half > end + 4:
            selected.append((value, text))
            end = x + half
    return selected


def marker(position: int, x: float, y: float) -> str:
    """A circle, square, diamond or triangle, as a path."""
    r, shape = RADIUS, position % 4
    if shape == 0:
        return f"M{coordinate(x - r)} {coordinate(y)}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0Z"
    if shape == 1:
        return f"M{coordinate(x - r)} {coordinate(y - r)}h{2 * r}v{2 * r}h{-2 * r}Z"
    if shape == 2:
        return f"M{coordinate(x)} {coordinate(y - r - 1)}l{r + 1} {r + 1}l{-r - 1} {r + 1}l{-r - 1} {-r - 1}Z"
    return f"M{coordinate(x)} {coordinate(y - r - 1)}l{r + 0.6} {2 * r}h{-2 * r - 1.2}Z"


LegendEntry = tuple[str, str, str]  # the mark, the name, the note


def legend_entries(plot: Plot, positions: Sequence[int]) -> list[LegendEntry]:
    """The entries of the legend; a single series without a note needs none."""
    entries: list[LegendEntry] = []
    for position, bars in zip(positions, plot.bars, strict=False):
        entries.append((f'<path class="bar {series_class(position)}" d="M0 -9h22v10h-22Z"/>', bars.name, bars.note))
    for position, line in zip(positions[len(plot.bars) :], plot.lines, strict=True):
        mark = f'<path class="line {series_class(position)}"{dash_attribute(position)} d="M0 -4H22"/>'
        if line.markers:
            mark += f'<path class="marker {series_class(position)}" d="{marker(position, 11, -4)}"/>'
        entries.append((mark, line.name, line.note))
    if len(entries) == 1 and not entries[0][2] and plot.reference is None:
        return []
    if plot.reference is not None and plot.reference.name:
        entries.append(('<path class="reference" d="M0 -4H22"/>', plot.reference.name, plot.reference.note))
    return entries


def legend(entries: list[LegendEntry]) -> str:
    """A row for each series below the axes."""
    rows = []
    for number, (mark, name, note) in enumerate(entries):
        note_span = f'<tspan class="note" dx="8">{escape_text(note)}</tspan>' if note else ""
        max_length = max(12, MAX_NAME_LENGTH - len(note))
        short = name if len(name) <= max_length else f"{name[: max_length - 1]}…"
        title = f"<title>{escape_text(name)}</title>" if short != name else ""
        rows.append(
            f'<g transform="translate({LEFT} {PLOT_HEIGHT + LEGEND_ROW * number + 12})">{mark}'
            f'<text class="legend" x="30" y="0">{title}{escape_text(short)}{note_span}</text></g>'
        )
    return f'<g class="legends">{"".join(rows)}</g>' if rows else ""
