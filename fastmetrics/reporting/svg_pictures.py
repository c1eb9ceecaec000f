"""A plot as a picture of its own: an SVG file with the colors, for notebooks and files."""

from __future__ import annotations

from fastmetrics._core.plot import Plot
from fastmetrics.reporting.page_style import DARK, LIGHT, RULES, properties
from fastmetrics.reporting.svg_plots import WIDTH, escape_text, plot_svg

TITLE_HEIGHT = 30
TITLE_PLACE = 20  # its baseline
FONT = 'font-family:ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",Arial,sans-serif'


def svg_picture(plot: Plot) -> str:
    """The plot below its title, as a complete SVG document, light or dark as the reader's screen is."""
    svg = plot_svg(plot, "plot")
    height = int(svg.partition(f'viewBox="0 0 {WIDTH} ')[2].partition('"')[0])
    inner = svg.replace("<svg ", f'<svg y="{TITLE_HEIGHT}" width="{WIDTH}" height="{height}" ', 1)
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
