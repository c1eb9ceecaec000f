"""A `Picture` as SVG inside a page: no file, no font and no color of its own.

Colors are the page's: a series has the class `s1` to `s8`, everything else a class by what it is (`grid`, `tick`,
`reference` …), so light, dark and print are the page's business. Numbers are rounded to a hundredth of a pixel: equal
pictures are equal texts. Series differ in dashes and markers too, for those who see no difference of colors.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise

import numpy as np

from fastmetrics._core.picture import Bars, Line, Picture
from fastmetrics.drawing.ticks import Axis, linear_axis, normal_axis

WIDTH, PLOT_HEIGHT = 440, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 12, 46
LEGEND_ROW = 20
N_COLORS = 8
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2", "1 2", "10 4", "6 2 1 2 1 2")
MOST_LETTERS = 46  # of a name in a legend; the whole name is its title
RADIUS = 2.8


def picture_svg(picture: Picture, ident: str, models: Sequence[str] = ()) -> str:
    """The picture as an `svg` element; `ident` begins its ids, which have to be the page's only ones.

    What is in `models` has the color of its place there, in every picture.
    """
    places = looks_of(picture, models)
    entries = legend_entries(picture, places)
    if picture.scale == "normal":
        picture = on_normal_scale(picture)
    height = PLOT_HEIGHT + LEGEND_ROW * len(entries) + (6 if entries else 0)
    plane = Plane(picture)
    drawn = [plane.grid(), *(plane.bars(part, own, places[part]) for part, own in enumerate(picture.bars))]
    lines = list(zip(places[len(picture.bars) :], picture.lines, strict=True))
    drawn += [plane.band(place, line) for place, line in lines]
    if picture.reference is not None:
        drawn.append(plane.line("reference", picture.reference, ""))
    drawn += [
        plane.line(f"line {color(place)}", line, dashes(place)) + plane.markers(place, line) for place, line in lines
    ]
    summary = picture.summary or f"{picture.y_label} over {picture.x_label}."
    return (
        f'<svg class="picture" id="{escape(ident)}" role="img" viewBox="0 0 {WIDTH} {height}" '
        f'aria-labelledby="{escape(ident)}-title {escape(ident)}-desc">'
        f'<title id="{escape(ident)}-title">{clean(picture.title)}</title>'
        f'<desc id="{escape(ident)}-desc">{clean(summary)}</desc>'
        f'<clipPath id="{escape(ident)}-clip"><rect x="{LEFT - 3}" y="{TOP - 3}" '
        f'width="{WIDTH - LEFT - RIGHT + 6}" height="{PLOT_HEIGHT - TOP - BOTTOM + 6}"/></clipPath>'
        f'{plane.frame()}<g clip-path="url(#{escape(ident)}-clip)">{"".join(drawn)}</g>{legend(entries)}</svg>'
    )


def looks_of(picture: Picture, models: Sequence[str]) -> list[int]:
    """The number of the look of every series, bars first: its place among the models, else the next that is free."""
    known = {name: place for place, name in enumerate(models)}
    names = [*(own.name for own in picture.bars), *(line.name for line in picture.lines)]
    return [known.setdefault(name, len(known)) for name in names]


def color(place: int) -> str:
    """The class of a series' color."""
    return f"s{place % N_COLORS + 1}"


def dashes(place: int) -> str:
    own = DASHES[place % len(DASHES)]
    return f' stroke-dasharray="{own}"' if own else ""


def number(value: float) -> str:
    """A coordinate: two decimals, and no more than it needs."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def clean(text: str) -> str:
    """Text that may stand in a page: escaped, without the control characters that HTML forbids."""
    return escape("".join(letter if letter.isprintable() or letter == " " else "�" for letter in str(text)))


def on_normal_scale(picture: Picture) -> Picture:
    """Rates as the normal deviates that they are drawn at."""

    def moved(line: Line) -> Line:
        low, high = (None if end is None else deviates(end) for end in (line.low, line.high))
        return line._replace(x=deviates(line.x), y=deviates(line.y), low=low, high=high)

    x_range, y_range = (
        None if own is None else (float(low), float(high))
        for own in (picture.x_range, picture.y_range)
        for low, high in [deviates(np.asarray(own or (0.1, 0.9), np.float64)).tolist()]
    )
    reference = None if picture.reference is None else moved(picture.reference)
    lines = tuple(map(moved, picture.lines))
    return picture._replace(lines=lines, reference=reference, x_range=x_range, y_range=y_range)


def deviates(rates: np.ndarray) -> np.ndarray:
    """Normal deviates of rates; NaN for what is not between 0 and 1."""
    from statistics import NormalDist

    inverse = NormalDist().inv_cdf
    found = (inverse(rate) if 0 < rate < 1 else float("nan") for rate in np.asarray(rates, np.float64).tolist())
    return np.fromiter(found, np.float64, len(rates))


class Plane:
    """The axes of a picture, and what is drawn between them."""

    def __init__(self, picture: Picture) -> None:
        lines = [*picture.lines, *([picture.reference] if picture.reference is not None else [])]
        xs = [line.x for line in picture.lines] or [line.x for line in lines]
        ys = [line.y for line in picture.lines] or [line.y for line in lines]
        ys += [end for line in picture.lines for end in (line.low, line.high) if end is not None]
        for own in picture.bars:
            xs.append(own.edges)
            ys += [own.heights, np.zeros(1), *(end for end in (own.low, own.high) if end is not None)]
        axis = normal_axis if picture.scale == "normal" else linear_axis
        self.x: Axis = axis(joined(xs), picture.x_range)
        self.y: Axis = axis(joined(ys), picture.y_range)
        self.x_label, self.y_label, self.n_bars = picture.x_label, picture.y_label, len(picture.bars)

    def across(self, value: float) -> float:
        return LEFT + self.x.share(value) * (WIDTH - LEFT - RIGHT)

    def down(self, value: float) -> float:
        return PLOT_HEIGHT - BOTTOM - self.y.share(value) * (PLOT_HEIGHT - TOP - BOTTOM)

    def point(self, x: float, y: float) -> str:
        """Far outside is as good as just outside: coordinates stay short."""
        return f"{number(min(max(self.across(x), -WIDTH), 2 * WIDTH))} " + number(
            min(max(self.down(y), -PLOT_HEIGHT), 2 * PLOT_HEIGHT)
        )

    def grid(self) -> str:
        left, right, top, bottom = LEFT, WIDTH - RIGHT, TOP, PLOT_HEIGHT - BOTTOM
        path = "".join(f"M{number(self.across(x))} {top}V{bottom}" for x, _ in self.x.ticks)
        path += "".join(f"M{left} {number(self.down(y))}H{right}" for y, _ in self.y.ticks)
        return f'<path class="grid" d="{path}"/>'

    def frame(self) -> str:
        """Axes, texts of ticks and of axes: outside of what is clipped."""
        right, bottom = WIDTH - RIGHT, PLOT_HEIGHT - BOTTOM
        texts = [
            f'<text class="tick" text-anchor="middle" x="{number(min(self.across(x), WIDTH - 3.6 * len(text)))}" '
            f'y="{bottom + 17}">{text}</text>'
            for x, text in apart(self.x.ticks, [self.across(x) for x, _ in self.x.ticks])
        ]
        texts += [
            f'<text class="tick" text-anchor="end" x="{LEFT - 7}" y="{number(self.down(y) + 4)}">{text}</text>'
            for y, text in self.y.ticks
        ]
        middle = number((TOP + bottom) / 2)
        labels = (
            f'<text class="axis-label" text-anchor="middle" x="{number((LEFT + right) / 2)}" y="{bottom + 37}">'
            f'{clean(self.x_label)}</text><text class="axis-label" text-anchor="middle" x="14" y="{middle}" '
            f'transform="rotate(-90 14 {middle})">{clean(self.y_label)}</text>'
        )
        return f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>{"".join(texts)}{labels}'

    def line(self, kind: str, line: Line, dash: str) -> str:
        runs = [run for run in finite_runs(line.x, line.y) if run.stop - run.start > 1]
        path = "".join(
            "M" + "L".join(self.point(x, y) for x, y in zip(line.x[run].tolist(), line.y[run].tolist(), strict=True))
            for run in runs
        )
        return f'<path class="{kind}"{dash} d="{path}"/>' if path else ""

    def markers(self, place: int, line: Line) -> str:
        """A mark at every point, of a shape that is the series' own; where a curve is one point, there too."""
        lonely = [run.start for run in finite_runs(line.x, line.y) if run.stop - run.start == 1]
        places = np.flatnonzero(np.isfinite(line.x) & np.isfinite(line.y)).tolist() if line.markers else lonely
        shapes = "".join(
            marker(place, self.across(x), self.down(y))
            for x, y in zip(line.x[places].tolist(), line.y[places].tolist(), strict=True)
        )
        return f'<path class="marker {color(place)}" d="{shapes}"/>' if shapes else ""

    def band(self, place: int, line: Line) -> str:
        """Ends of intervals: an area, or where the line has markers a whisker at each."""
        if line.low is None or line.high is None:
            return ""
        if line.markers:
            ends = np.column_stack((line.x, line.low, line.high))
            ends = ends[np.isfinite(ends).all(axis=1)]
            bars = "".join(f"M{self.point(x, a)}L{self.point(x, b)}" for x, a, b in ends.tolist())
            return f'<path class="error {color(place)}" d="{bars}"/>' if bars else ""
        low, high, path = line.low, line.high, ""
        for run in finite_runs(line.x, low, high):
            xs = line.x[run].tolist()
            over = [self.point(x, y) for x, y in zip(xs, high[run].tolist(), strict=True)]
            under = [self.point(x, y) for x, y in zip(xs, low[run].tolist(), strict=True)]
            if len(xs) == 1:
                path += f"M{over[0]}L{under[0]}"
            else:
                path += f"M{'L'.join([*over, *reversed(under)])}Z"
        return f'<path class="band {color(place)}" d="{path}"/>' if path else ""

    def bars(self, part: int, own: Bars, place: int) -> str:
        """Bars of one series; those of several stand beside each other inside their interval."""
        path, whiskers = "", ""
        zero = min(max(self.down(0.0), TOP), PLOT_HEIGHT - BOTTOM)
        for i, (left, right) in enumerate(pairwise(own.edges.tolist())):
            height = float(own.heights[i])
            if not np.isfinite(height):
                continue
            whole = self.across(right) - self.across(left)
            margin = min(4.0, whole / 10) if self.n_bars > 1 else 0.0
            width = (whole - 2 * margin) / self.n_bars
            gap = min(0.8, width / 8)
            start = self.across(left) + margin + part * width + gap
            top, foot = number(self.down(height)), number(zero)
            path += f"M{number(start)} {foot}V{top}h{number(width - 2 * gap)}V{foot}Z"
            if own.low is not None and own.high is not None and np.isfinite(own.low[i]) and np.isfinite(own.high[i]):
                middle = number(start + width / 2 - gap)
                whiskers += f"M{middle} {number(self.down(float(own.low[i])))}V{number(self.down(float(own.high[i])))}"
        ends = f'<path class="whisker {color(place)}" d="{whiskers}"/>' if whiskers else ""
        return (f'<path class="bar {color(place)}" d="{path}"/>' if path else "") + ends


def joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.asarray(part, np.float64).ravel() for part in parts]) if parts else np.zeros(0)


def finite_runs(*columns: np.ndarray) -> list[slice]:
    """The stretches in which all columns are finite."""
    good = np.isfinite(columns[0])
    for column in columns[1:]:
        good = good & np.isfinite(column)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], good.astype(np.int8), [0]))))
    return [slice(int(start), int(stop)) for start, stop in zip(edges[::2], edges[1::2], strict=True)]


def apart(ticks: tuple[tuple[float, str], ...], places: list[float]) -> list[tuple[float, str]]:
    """Ticks whose texts do not touch: one that would is left without."""
    kept: list[tuple[float, str]] = []
    end = float("-inf")
    for (value, text), place in zip(ticks, places, strict=True):
        half = 3.6 * len(text)
        if place - half > end + 4:
            kept.append((value, text))
            end = place + half
    return kept


def marker(place: int, x: float, y: float) -> str:
    """A circle, square, diamond or triangle, as a path."""
    r, shape = RADIUS, place % 4
    if shape == 0:
        return f"M{number(x - r)} {number(y)}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0Z"
    if shape == 1:
        return f"M{number(x - r)} {number(y - r)}h{2 * r}v{2 * r}h{-2 * r}Z"
    if shape == 2:
        return f"M{number(x)} {number(y - r - 1)}l{r + 1} {r + 1}l{-r - 1} {r + 1}l{-r - 1} {-r - 1}Z"
    return f"M{number(x)} {number(y - r - 1)}l{r + 0.6} {2 * r}h{-2 * r - 1.2}Z"


Entry = tuple[str, str, str]  # the mark, the name, the note


def legend_entries(picture: Picture, places: Sequence[int]) -> list[Entry]:
    """What stands in the legend; one series without a note needs none."""
    entries: list[Entry] = []
    for place, own in zip(places, picture.bars, strict=False):
        entries.append((f'<path class="bar {color(place)}" d="M0 -9h22v10h-22Z"/>', own.name, own.note))
    for place, line in zip(places[len(picture.bars) :], picture.lines, strict=True):
        mark = f'<path class="line {color(place)}"{dashes(place)} d="M0 -4H22"/>'
        if line.markers:
            mark += f'<path class="marker {color(place)}" d="{marker(place, 11, -4)}"/>'
        entries.append((mark, line.name, line.note))
    if len(entries) == 1 and not entries[0][2] and picture.reference is None:
        return []
    if picture.reference is not None and picture.reference.name:
        entries.append(('<path class="reference" d="M0 -4H22"/>', picture.reference.name, picture.reference.note))
    return entries


def legend(entries: list[Entry]) -> str:
    """A row for each series below the axes."""
    rows = []
    for place, (mark, name, note) in enumerate(entries):
        own = f'<tspan class="note" dx="8">{clean(note)}</tspan>' if note else ""
        room = max(12, MOST_LETTERS - len(note))
        short = name if len(name) <= room else f"{name[: room - 1]}…"
        whole = f"<title>{clean(name)}</title>" if short != name else ""
        rows.append(
            f'<g transform="translate({LEFT} {PLOT_HEIGHT + LEGEND_ROW * place + 12})">{mark}'
            f'<text class="legend" x="30" y="0">{whole}{clean(short)}{own}</text></g>'
        )
    return f'<g class="legends">{"".join(rows)}</g>' if rows else ""
