"""Write the pictures of the guides, docs/pictures/*.svg: calibration, lift, slices and differences of the sample log.

    python tools/guide_pictures.py

The log is that of the guides, `fastmetrics sample-log clicks.parquet --rows 50000`. Calibration and lift are plots of
the report as they stand; the marks of slices and differences are those of the page, beside their numbers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import fastmetrics as fm
from fastmetrics import cli
from fastmetrics.reporting.html_comparison import MARKS
from fastmetrics.reporting.interval_marks import Shape, whisker_svg
from fastmetrics.reporting.number_formats import format_signed
from fastmetrics.reporting.page_style import RULES
from fastmetrics.reporting.svg_plots import picture_style

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
COLUMNS = {"label": "click", "group": "user_id"}
SCORES = ["pctr", "p_true"]
WIDTH, ROW, TOP, BOTTOM = 640, 26, 66, 40
NAMES_AT, MARKS_AT, MARKS_WIDTH, TEXT_AT = 16, 150, 300, 466


class Mark(NamedTuple):
    """A value with its interval, on one line of a picture."""

    value: float
    interval: tuple[float, float]
    css_class: str
    shape: Shape
    text: str


def pictures() -> dict[str, str]:
    """The text of each picture, by the name of its file."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "clicks.parquet")
        cli.main(["sample-log", str(log), "--rows", "50000"])
        return pictures_of(log)


def pictures_of(log: Path) -> dict[str, str]:
    plots = fm.evaluate(log, ["ece", "ne"], score=SCORES, curves=True, **COLUMNS).pictures
    report = fm.evaluate(log, "auc", score=SCORES, by="channel", ci=0.95, **COLUMNS)
    comparison = fm.compare(log, "auc", score=SCORES, by="channel", **COLUMNS)
    return {
        "calibration.svg": plots["calibration"]._repr_svg_(),
        "lift.svg": plots["lift"]._repr_svg_(),
        "slices.svg": slices_picture(report),
        "differences.svg": differences_picture(comparison),
    }


def slices_picture(report: fm.Report) -> str:
    """AUC of both models in every slice, with intervals."""
    lines: dict[str, list[Mark]] = {}
    shapes: dict[str, tuple[str, Shape]] = {"pctr": ("s1", "circle"), "p_true": ("s2", "up")}
    for one in report:
        if one.interval is None:
            raise ValueError(f"{one.slice} has no interval")
        text = f"{one.value:.3f}   {one.interval[0]:.3f} to {one.interval[1]:.3f}"
        lines.setdefault(slice_name(one.slice), []).append(Mark(one.value, one.interval, *shapes[one.score], text))
    legend = [("s1", "●", "pctr"), ("s2", "▲", "p_true")]
    return rows_picture("AUC by channel, 95% intervals by user", legend, lines, "AUC and interval", (0.5, 0.85), 0.05)


def differences_picture(comparison: fm.Comparison) -> str:
    """The difference of AUC in every slice, with the interval of its verdict."""
    lines = {}
    for one in sorted(comparison.differences, key=lambda one: bool(one.slice)):
        if one.verdict_interval is None:
            raise ValueError(f"{one.slice} has no interval")
        kind = MARKS.get(one.verdict, ("unclear", "circle"))
        text = f"{format_signed(one.difference, 3)}   {one.verdict}"
        lines[slice_name(one.slice)] = [Mark(one.difference, one.verdict_interval, *kind, text)]
    legend = [("good", "▲", "better"), ("unclear", "●", "cannot tell")]
    title = "AUC of p_true minus AUC of pctr, by channel"
    return rows_picture(title, legend, lines, "difference, verdict", (-0.12, 0.12), 0.04)


def slice_name(slice_: Mapping[str, object]) -> str:
    return ", ".join(map(str, slice_.values())) or "all rows"


def rows_picture(
    title: str,
    legend: Sequence[tuple[str, str, str]],
    lines: Mapping[str, Sequence[Mark]],
    head: str,
    ends: tuple[float, float],
    step: float,
) -> str:
    """A line for every mark: the name of its slice, its interval on one scale for all lines, its numbers."""
    n_rows = sum(map(len, lines.values()))
    bottom = TOP + ROW * n_rows
    height = bottom + BOTTOM
    parts = [f'<text class="title" x="{NAMES_AT}" y="24">{title}</text>']
    at = NAMES_AT
    for css_class, sign, name in legend:
        parts.append(f'<text x="{at}" y="48"><tspan class="sign {css_class}">{sign}</tspan> {name}</text>')
        at += 34 + 8 * len(name)
    parts.append(f'<text class="tick" x="{TEXT_AT}" y="48">{head}</text>')
    low, high = ends
    for number in range(round((high - low) / step) + 1):
        value = low + number * step
        x = MARKS_AT + MARKS_WIDTH * (0.025 + 0.95 * (value - low) / (high - low))
        text = f"{value:.2f}" if low >= 0 or not round(value, 2) else format_signed(value, 2)
        parts.append(f'<path class="grid" d="M{x:.1f} {TOP}V{bottom}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{text}</text>')
    if low < 0 < high:
        x = MARKS_AT + MARKS_WIDTH * (0.025 + 0.95 * -low / (high - low))
        parts.append(f'<path class="reference" d="M{x:.1f} {TOP}V{bottom}"/>')
    row = TOP
    for name, marks in lines.items():
        parts.append(f'<path class="grid" d="M{NAMES_AT} {row}H{WIDTH - NAMES_AT}"/>')
        parts.append(f'<text x="{NAMES_AT}" y="{row + 17}">{name}</text>')
        for mark in marks:
            drawn = whisker_svg(mark.value, mark.interval, ends, mark.css_class, shape=mark.shape)
            place = f'<svg x="{MARKS_AT}" y="{row + 1}" width="{MARKS_WIDTH}" height="24" '
            parts.append(drawn.replace("<svg ", place, 1))
            parts.append(f'<text class="number" x="{TEXT_AT}" y="{row + 17}">{mark.text}</text>')
            row += ROW
    texts = "; ".join(f"{name}: {', '.join(mark.text for mark in marks)}" for name, marks in lines.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}"><title>{title}</title><desc>{texts}</desc><style>{style()}</style>'
        f'<rect class="paper" width="{WIDTH}" height="{height}"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def style() -> str:
    """The rules of plots and of the marks of intervals."""
    marks = "".join(line for line in RULES.splitlines() if line.startswith(".whiskers") and "inline-block" not in line)
    signs = ".sign.good{fill:var(--good)}.sign.bad{fill:var(--warn)}.sign.unclear{fill:var(--muted)}"
    series = "".join(f".plot .sign.s{number}{{fill:var(--s{number})}}" for number in (1, 2))
    return f"{picture_style()}{marks}.plot {signs.replace('}.', '}.plot .')}{series}.plot .number{{white-space:pre}}"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in pictures().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"{name}: {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main()
