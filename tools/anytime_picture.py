"""Write docs/anytime.svg: false alarms of intervals that are looked at every day of a year.

    python tools/anytime_picture.py

In each of 2,000 simulated years, 20 units come every day. Their values are skewed, and their mean is 0. An interval of
the mean is made every day from all units so far; an alarm is an interval without 0. The picture has the share of years
with at least one alarm so far, of the usual interval and of ci_method="anytime". It is of one seed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fastmetrics._core.distributions.student import student_quantile
from fastmetrics._core.inference.anytime import TIGHTEST_AT, find_anytime_interval
from fastmetrics._core.inference.errors import ErrorEstimate

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "anytime.svg"
YEARS, DAYS, A_DAY, LEVEL = 2_000, 365, 20, 0.95
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 700, 300, 60, 50, 20, 230
GREATEST = 0.6  # share of the picture
COLORS = {"looked at once": "#b3402a", "anytime": "#20639b"}


def false_alarms() -> dict[str, np.ndarray]:
    """The share of years with an alarm until each day, by method."""
    generator = np.random.default_rng(2_026)
    units = generator.exponential(1, (YEARS, DAYS, A_DAY)) - 1
    n = A_DAY * np.arange(1, DAYS + 1)
    means = units.sum(axis=2).cumsum(axis=1) / n
    variances = (units**2).sum(axis=2).cumsum(axis=1) / n - means**2
    errors = np.sqrt(variances / (n - 1))
    found = {}
    for name in COLORS:
        reaches = np.array([reach_of(name, int(own)) for own in n])
        alarms = np.abs(means) > reaches * errors
        found[name] = np.maximum.accumulate(alarms, axis=1).mean(axis=0)
    return found


def reach_of(name: str, n_units: int) -> float:
    """How many standard errors an interval reaches to both sides."""
    if name != "anytime":
        return student_quantile(LEVEL, n_units - 1)
    error = ErrorEstimate(1.0, n_units - 1.0, n_units, n_units)
    ends = find_anytime_interval(0.0, error, "real", LEVEL, TIGHTEST_AT).ends
    if ends is None:
        raise ValueError(f"{n_units} units have no interval")
    return ends[1]


def picture(shares: dict[str, np.ndarray]) -> str:
    """The shares as lines, in SVG."""
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(day: float, share: float) -> str:
        return f"{LEFT + width * day / DAYS:.1f},{TOP + height * (1 - share / GREATEST):.1f}"

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="13" role="img" aria-label="Share of years with a false alarm">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for share in (0.0, 0.05, 0.2, 0.4, 0.6):
        left, right = place(0, share).split(","), place(DAYS, share).split(",")
        dash = ' stroke-dasharray="4 3"' if share == 0.05 else ""
        color = "#444444" if share == 0.05 else "#dddddd"
        lines.append(
            f'<line x1="{left[0]}" y1="{left[1]}" x2="{right[0]}" y2="{right[1]}" stroke="{color}"{dash}/>'
            f'<text x="{LEFT - 8}" y="{float(left[1]) + 4:.1f}" text-anchor="end" fill="#222222">{share:.0%}</text>'
        )
    for day in (1, 100, 200, 300, 365):
        x, y = place(day, 0).split(",")
        lines.append(f'<text x="{x}" y="{float(y) + 18:.1f}" text-anchor="middle" fill="#222222">{day}</text>')
    middle = LEFT + width / 2
    text = "days, a look each"
    lines.append(f'<text x="{middle:.0f}" y="{HEIGHT - 10}" text-anchor="middle" fill="#222222">{text}</text>')
    for name, own in shares.items():
        points = " ".join(place(day + 1, share) for day, share in enumerate(own.tolist()))
        _, y = place(DAYS, float(own[-1])).split(",")
        lines.append(f'<polyline points="{points}" fill="none" stroke="{COLORS[name]}" stroke-width="2"/>')
        label = f"95% interval, {name}: {own[-1]:.1%}"
        lines.append(
            f'<text x="{WIDTH - RIGHT + 6}" y="{float(y) + 4:.1f}" fill="{COLORS[name]}">{label}</text>'
        )
    return "\n".join([*lines, "</svg>"]) + "\n"


def main() -> None:
    shares = false_alarms()
    PICTURE.write_text(picture(shares), encoding="utf-8")
    print(", ".join(f"{name}: {own[-1]:.1%}" for name, own in shares.items()))


if __name__ == "__main__":
    main()
