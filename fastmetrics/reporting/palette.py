"""Colors of a page, for light and dark screens. Every text has a contrast of at least 4.5 (WCAG 2.2, AA)."""

from __future__ import annotations

from typing import NamedTuple


class Palette(NamedTuple):
    """Colors as #rrggbb: `ink` and `muted` are texts on `paper` and `panel`, `series` are lines and names of models."""

    paper: str
    panel: str
    ink: str
    muted: str
    rule: str
    grid: str
    link: str
    good: str
    warn: str
    series: tuple[str, ...]


LIGHT = Palette(
    paper="#fdfdfb",
    panel="#f4f4ef",
    ink="#1c2127",
    muted="#59616b",
    rule="#d9d9d1",
    grid="#e9e9e3",
    link="#1c5a9c",
    good="#1b6b4c",
    warn="#8f4a00",
    series=("#1c5a9c", "#b1450b", "#19714f", "#85388c", "#6d5c00", "#b02250", "#2d6675", "#55595f"),
)
DARK = Palette(
    paper="#14171b",
    panel="#1c2026",
    ink="#e8e9ea",
    muted="#a5adb7",
    rule="#3a4048",
    grid="#282d34",
    link="#86b8f2",
    good="#6fd0a3",
    warn="#f0b35e",
    series=("#7db4f2", "#f39a5c", "#62cfa1", "#d79adf", "#d3bd4f", "#f58cab", "#84c3d3", "#b8bec6"),
)


def properties(palette: Palette) -> str:
    """The palette as CSS custom properties."""
    fields = palette._asdict()
    series = fields.pop("series")
    colors = [f"--{name}:{value}" for name, value in fields.items()]
    return ";".join([*colors, *(f"--s{number}:{value}" for number, value in enumerate(series, 1))])


def luminance(color: str) -> float:
    """Relative luminance of an sRGB color (WCAG 2.2)."""
    channels = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast of two colors, 1 to 21 (WCAG 2.2)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)
