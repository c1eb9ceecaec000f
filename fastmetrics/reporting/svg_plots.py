"""Plots as SVG: inside a page, or as a picture of its own.

Inside a page they have no font or color of their own. The page defines the colors: a series has one of the classes `s1`
to `s8`, every other element a class that names it (`grid`, `tick`, `reference` ...). So the page's style sheet covers
light, dark and print. Numbers are rounded to a hundredth of a pixel, so equal plots are equal texts. Series also differ
in dashes and markers, for readers who cannot tell colors apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fastmetrics._core.plot import Bars, Line, Plot
from fastmetrics.reporting.html_tables import escape_text, shortened
from fastmetrics.reporting.page_style import DARK, LIGHT, RULES, properties
from fastmetrics.reporting.plot_layout import PlotLayout, lay_out

WIDTH, PLOT_HEIGHT = 440, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 12, 46
LEGEND_ROW = 20
CHARACTER_WIDTH = 7.2  # of a tick's text
N_COLORS = 8
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2", "1 2", "10 4", "6 2 1 2 1 2")
MAX_NAME_LENGTH = 46  # in a legend; the whole name is its title
RADIUS = 2.8
TITLE_HEIGHT = 30
TITLE_PLACE = 20  # its baseline
FONT = 'font-family:ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",Arial,sans-serif'

LegendEntry = tuple[str, str, str]  # the mark, the name, the note


def plot_svg(plot: Plot, ident: str, models: Sequence[str] = ()) -> str:
    """The plot as an `svg` element. Its ids begin with `ident`, which must be unique in the page.

    The position of a model in `models` gives its color, the same in every plot.
    """
    layout = lay_out(plot, models)
    return svg_element(layout, legend_entries(layout), ident)


def svg_element(layout: PlotLayout, entries: list[LegendEntry], ident: str, attributes: str = "") -> str:
    plot, area = layout.plot, PlotArea(layout)
    elements = [area.grid()]
    elements += [area.bars(number, bars, position) for number, (position, bars) in enumerate(layout.bars)]
    elements += [area.band(position, line) for position, line in layout.lines]
    if plot.reference is not None:
        elements.append(area.line("reference", plot.reference, ""))
    elements += [
        area.line(f"line {series_class(position)}", line, dash_attribute(position)) + area.markers(position, line)
        for position, line in layout.lines
    ]
    summary = plot.summary or f"{plot.y_label} over {plot.x_label}."
    ident = escape_text(ident)
    return (
        f'<svg{attributes} class="plot" id="{ident}" role="img" viewBox="0 0 {WIDTH} {svg_height(entries)}" '
        f'aria-labelledby="{ident}-title {ident}-desc">'
        f'<title id="{ident}-title">{escape_text(plot.title)}</title>'
        f'<desc id="{ident}-desc">{escape_text(summary)}</desc>'
        f'<clipPath id="{ident}-clip"><rect x="{LEFT - 3}" y="{TOP - 3}" '
        f'width="{WIDTH - LEFT - RIGHT + 6}" height="{PLOT_HEIGHT - TOP - BOTTOM + 6}"/></clipPath>'
        f'{area.frame()}<g clip-path="url(#{ident}-clip)">{"".join(elements)}</g>{legend(entries)}</svg>'
    )


def svg_height(entries: list[LegendEntry]) -> int:
    return PLOT_HEIGHT + LEGEND_ROW * len(entries) + (6 if entries else 0)


def svg_picture(plot: Plot) -> str:
    """The plot below its title, as a complete SVG document, light or dark as the reader's screen is."""
    layout = lay_out(plot)
    entries = legend_entries(layout)
    height = svg_height(entries)
    inner = svg_element(layout, entries, "plot", f' y="{TITLE_HEIGHT}" width="{WIDTH}" height="{height}"')
    total = height + TITLE_HEIGHT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" viewBox="0 0 {WIDTH} {total}" width="{WIDTH}" '
        f'height="{total}"><style>{picture_style()}</style><rect class="paper" width="{WIDTH}" height="{total}"/>'
        f'<text class="title" x="{WIDTH // 2}" y="{TITLE_PLACE}" text-anchor="middle">{escape_text(plot.title)}</text>'
        f"{inner}</svg>"
    )


def picture_style() -> str:
    """The rules of plots with both palettes."""
    rules = "".join(line for line in RULES.splitlines() if line.startswith(".plot ") and "font-family" not in line)
    series = "".join(f".s{number}{{color:var(--s{number})}}" for number in range(1, len(LIGHT.series) + 1))
    return (
        f".plot{{{properties(LIGHT)};{FONT}}}"
        f"@media (prefers-color-scheme:dark){{.plot{{{properties(DARK)}}}}}"
        f".paper{{fill:var(--paper)}}.plot text{{fill:var(--ink);font-size:12.5px}}{rules}"
        f".plot .title{{font-size:14px;font-weight:600}}{series}"
    )


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


class PlotArea:
    """The axes of a plot and the elements between them."""

    def __init__(self, layout: PlotLayout) -> None:
        self.x, self.y, self.plot = layout.x, layout.y, layout.plot

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
            f'{escape_text(self.plot.x_label)}</text><text class="axis-label" text-anchor="middle" x="14" y="{middle}" '
            f'transform="rotate(-90 14 {middle})">{escape_text(self.plot.y_label)}</text>'
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
            margin = min(4.0, interval_width / 10) if len(self.plot.bars) > 1 else 0.0
            width = (interval_width - 2 * margin) / len(self.plot.bars)
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


def legend_entries(layout: PlotLayout) -> list[LegendEntry]:
    """The entries of the legend; a single series without a note needs none."""
    entries: list[LegendEntry] = []
    for position, bars in layout.bars:
        entries.append((f'<path class="bar {series_class(position)}" d="M0 -9h22v10h-22Z"/>', bars.name, bars.note))
    for position, line in layout.lines:
        mark = f'<path class="line {series_class(position)}"{dash_attribute(position)} d="M0 -4H22"/>'
        if line.markers:
            mark += f'<path class="marker {series_class(position)}" d="{marker(position, 11, -4)}"/>'
        entries.append((mark, line.name, line.note))
    reference = layout.plot.reference
    if len(entries) == 1 and not entries[0][2] and reference is None:
        return []
    if reference is not None and reference.name:
        entries.append(('<path class="reference" d="M0 -4H22"/>', reference.name, reference.note))
    return entries


def legend(entries: list[LegendEntry]) -> str:
    """A row for each series below the axes."""
    rows = []
    for number, (mark, name, note) in enumerate(entries):
        note_span = f'<tspan class="note" dx="8">{escape_text(note)}</tspan>' if note else ""
        short = shortened(name, max(12, MAX_NAME_LENGTH - len(note)))
        title = f"<title>{escape_text(name)}</title>" if short != name else ""
        rows.append(
            f'<g transform="translate({LEFT} {PLOT_HEIGHT + LEGEND_ROW * number + 12})">{mark}'
            f'<text class="legend" x="30" y="0">{title}{escape_text(short)}{note_span}</text></g>'
        )
    return f'<g class="legends">{"".join(rows)}</g>' if rows else ""
