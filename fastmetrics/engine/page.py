"""A page that carries all it needs: its frame, and the parts that pages of reports and of comparisons share.

Every text that comes from data goes through `clean`. A policy inside the page forbids the network, and every script but
its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fastmetrics.drawing.page_style import SCRIPT, script_hash, style_sheet
from fastmetrics.drawing.svg import clean, color, picture_svg
from fastmetrics.drawing.ticks import decimals_for, spelled
from fastmetrics.engine.table import UNDEFINED

LONGEST_TITLE = 120
DIGITS = 5
MOST_LETTERS = 40  # of a name in a table
TALL = 25  # rows of a table that gets a box with a height of its own
FIGURE_SPACE = "\u2007"  # as wide as a digit


class Section(NamedTuple):
    """A part of a page: where links lead to, its heading, its content as HTML."""

    ident: str
    heading: str
    body: str


def document(
    title: str, eyebrow: str, lead: str, facts: Sequence[tuple[str, str]], sections: Sequence[Section], version: str
) -> str:
    """The whole page. `lead` and `facts` are text; bodies of sections are HTML."""
    foot = f"Made by fastmetrics {version}. This page holds all its parts and asks for nothing from the network."
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src '{script_hash()}'; base-uri 'none'"
    links = "".join(f'<li><a href="#{own.ident}">{clean(own.heading)}</a></li>' for own in sections)
    known = "".join(f"<div><dt>{clean(what)}</dt><dd>{clean(text)}</dd></div>" for what, text in facts)
    body = "".join(
        f'<section id="{own.ident}" aria-labelledby="{own.ident}-heading">'
        f'<h2 id="{own.ident}-heading">{clean(own.heading)}</h2>{own.body}</section>\n'
        for own in sections
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{clean(title)}</title>\n<style>{style_sheet()}</style>\n</head>\n<body>\n"
        f'<header>\n<p class="eyebrow">{clean(eyebrow)}</p>\n<h1>{clean(shortened(title))}</h1>\n'
        f'<p class="lead">{clean(lead)}</p>\n<dl class="facts">{known}</dl>\n'
        f'<nav aria-label="Parts of this page"><ul>{links}</ul></nav>\n</header>\n'
        f"<main>\n{body}</main>\n<footer><p>{clean(foot)}</p></footer>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def write_page(page: str, path: str | Path) -> None:
    """The page in a file, complete or not at all."""
    import os

    target = Path(path)
    if target.exists() and not target.is_file():  # a pipe, /dev/stdout
        target.write_text(page, encoding="utf-8")
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}.incomplete")
    try:
        temporary.write_text(page, encoding="utf-8")
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def shortened(text: str, longest: int = LONGEST_TITLE) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def box(table: str, label: str, *, tall: bool = False) -> str:
    """A table in a box of its own, which scrolls where the page has no room for it; keys reach it."""
    kind = "box tall" if tall else "box"
    return f'<div class="{kind}" role="region" aria-label="{clean(label)}" tabindex="0">{table}</div>'


def head_row(columns: Iterable[tuple[str, bool]]) -> str:
    """The head of a table: names, and which of them stand above numbers."""
    cells = (f'<th scope="col"{" class=n" if numbers else ""}>{clean(name)}</th>' for name, numbers in columns)
    return f"<thead><tr>{''.join(cells)}</tr></thead>"


def sortable(columns: Iterable[tuple[str, bool]], body: str, said: str, label: str, *, tall: bool) -> str:
    """A table whose columns have buttons that sort the last of its bodies, where scripts run."""
    cells = "".join(
        f'<th scope="col" aria-sort="none"{" class=n" if numbers else ""}><button type="button">{named(name)}'
        "</button></th>"
        for name, numbers in columns
    )
    head = f"<thead><tr>{cells}</tr></thead>"
    table = f'<table class="sortable" aria-describedby="sorted">{caption(said)}{head}{body}</table>'
    return f'{box(table, label, tall=tall)}<p class="away" id="sorted" aria-live="polite"></p>'


def sort_key(value: Any) -> str:
    """Numbers are sorted as such."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ""
    return f' data-key="{value!r}"' if math.isfinite(value) else ' data-key=""'


def named(name: str) -> str:
    """A column's name in a table; a very long one is cut, and whole when pointed at. One of blanks stands in quotes."""
    name = name if name.strip() else repr(name)
    if len(name) <= MOST_LETTERS:
        return clean(name)
    return f'<span title="{clean(name)}">{clean(name[: MOST_LETTERS - 1])}…</span>'


def spread(texts: Sequence[str]) -> list[str]:
    """Numbers of different decimals with their points below each other when they stand to the right."""
    after = [len(text) - text.rfind(".") if "." in text else 0 for text in texts]
    widest = max(after, default=0)
    # A point is narrower than a digit: a number without one has the room of a point, too.
    return [text + (FIGURE_SPACE * (widest - own) if own else "") for text, own in zip(texts, after, strict=True)]


def digits_of(
    values: Iterable[float], intervals: Iterable[Sequence[float] | None] = (), digits: int = DIGITS
) -> int | None:
    """The decimals of a metric's values: so many digits, all alike."""
    return decimals_for([*values, *(end for interval in intervals if interval for end in interval)], digits)


def value_text(value: float, decimals: int | None) -> str:
    """A value as text; `undefined` where it is NaN."""
    if math.isnan(value):
        return UNDEFINED
    return spelled(value, decimals) if math.isfinite(value) else f"{value:+}".replace("inf", "∞").replace("-", "−")


def exact(value: float, text: str) -> str:
    """A number as people read it, with all its digits for machines."""
    return f'<data value="{value!r}">{text}</data>'


def interval_text(interval: Sequence[float], decimals: int | None) -> str:
    return f"{value_text(interval[0], decimals)} to {value_text(interval[1], decimals)}"


def signed(value: float, decimals: int | None) -> str:
    """A difference as text, with its sign."""
    text = value_text(value, decimals)
    return f"+{text}" if value > 0 and not text.startswith("+") else text


def p_text(value: float) -> str:
    """A probability in three digits; nothing where there is none."""
    return "" if math.isnan(value) else f"{value:.3g}".replace("e-", "e−")


def model_key(place: int) -> str:
    """The spot of color that a model's lines have in the pictures."""
    return f'<span class="key {color(place)}" aria-hidden="true"></span>'


def caption(text: str) -> str:
    """What a table shows; it stays in sight where the table is moved in its box."""
    return f'<caption><span class="wide">{clean(text)}</span></caption>'


def metric_head(metric: str, columns: int = 0) -> str:
    """The metric and what it is: at the head of a row, or over `columns` columns above the rows of several models."""
    more = " ".join(part for part in meaning(metric) if part)
    said = f'<span class="name">{clean(metric)}</span>' + (f' <span class="what">{clean(more)}</span>' if more else "")
    if not columns:
        return f'<th class="metric" scope="row">{said}</th>'
    wide = f'<span class="wide">{said}</span>'
    return f'<tr class="over"><th class="metric" scope="rowgroup" colspan="{columns}">{wide}</th></tr>'


BEST_WORDS = {
    "highest": "Higher is better.",
    "lowest": "Lower is better.",
    "one": "Best at 1.",
    "zero": "Best at 0.",
}


def meaning(metric: str) -> tuple[str, str]:
    """What the registry says of a metric: its summary, and which values are better. Nothing of one it has not."""
    spec = spec_of(metric)
    return (spec.summary, BEST_WORDS.get(spec.best, "")) if spec is not None else ("", "")


def spec_of(metric: str) -> Any:
    from fastmetrics._core.registry import parse

    try:
        return parse(metric).spec
    except (KeyError, TypeError, ValueError):
        return None


def best_places(metric: str, values: Sequence[float]) -> set[int]:
    """Where the best of several values stands; nowhere if all are alike, or if none is better than another."""
    spec = spec_of(metric)
    goals = {"highest": -math.inf, "lowest": math.inf}
    known = {place: value for place, value in enumerate(values) if not math.isnan(value)}
    if spec is None or spec.best == "none" or len(known) < 2:
        return set()
    if spec.best in goals:
        sign = 1 if spec.best == "lowest" else -1
        marks = {place: sign * value for place, value in known.items()}
    else:
        goal = 1.0 if spec.best == "one" else 0.0
        marks = {place: abs(value - goal) for place, value in known.items()}
    best = {place for place, mark in marks.items() if mark == min(marks.values())}
    return best if len(best) < len(known) else set()


def verdict(metric: str, before: float, after: float) -> str:
    """Is the second value better or worse? Neither where the registry knows no better one."""
    best = best_places(metric, [before, after])
    return "" if len(best) != 1 else "better" if 1 in best else "worse"


def resampling_of(signature: str) -> dict[str, str]:
    """What a signature says of the interval: ci, method, replicates, seed, unit. Nothing where none was asked for."""
    found = re.search(r"\|ci:([^|]*)(\|.*)?$", signature, flags=re.DOTALL)
    if found is None:
        return {}
    parts = (part.partition(":") for part in (found[2] or "").split("|") if part)
    return {"ci": found[1]} | {name: text for name, _, text in parts}


def resampling_text(signature: str) -> str:
    """The same for people: 95% intervals, bootstrap of 1,000 replicates over user_id, seed 0."""
    known = resampling_of(signature)
    if not known:
        return ""
    try:
        level = f"{float(known['ci']) * 100:.10g}%"
    except ValueError:
        level = known["ci"]
    words = [f"{level} intervals"]
    if method := known.get("method"):
        replicates = known.get("replicates", "")
        several = f" of {int(replicates):,} replicates" if replicates.isdigit() else ""
        unit = "" if "unit" not in known else " over rows" if known["unit"] == "row" else f" over {known['unit']}"
        words.append(f"{method}{several}{unit}")
    if "seed" in known:
        words.append(f"seed {known['seed']}")
    return ", ".join(words)


def pictures_body(pictures: Mapping[str, Any], missing: Mapping[str, str], models: Sequence[str]) -> str:
    """Figures side by side, each with what it shows in words; and why there are no others."""
    figures = ""
    for place, picture in enumerate(pictures.values()):
        said = f"<figcaption>{clean(picture.summary)}</figcaption>" if picture.summary else ""
        drawn = picture_svg(picture, f"picture-{place}", models)
        figures += f"<figure><h3>{clean(picture.title)}</h3>{drawn}{said}</figure>"
    reasons: dict[str, list[str]] = {}
    for name, reason in missing.items():
        reasons.setdefault(reason, []).append(name)
    absent = "".join(f"<li>{clean(', '.join(names))}: {clean(reason)}</li>" for reason, names in reasons.items())
    said = f'<p class="muted">Not drawn:</p><ul class="muted">{absent}</ul>' if absent else ""
    return (f'<div class="figures">{figures}</div>' if figures else "") + said


def signatures_body(signatures: Sequence[tuple[str, str]]) -> str:
    """What a value is of, and its signature: one click selects it."""
    items = "".join(
        f'<li><span class="for">{clean(what)}</span><code>{clean(text)}</code></li>' for what, text in signatures
    )
    return (
        "<p>A signature says all that is needed to get the same number again. One click selects it.</p>"
        f'<ul class="signatures">{items}</ul>'
    )
