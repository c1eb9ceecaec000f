"""The frame of a page, and the parts that pages of reports and of comparisons share. A page needs no other file.

Every text that comes from data goes through `escape_text`. A content security policy forbids the network and all
scripts except the page's own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastmetrics._core.grouping import grouped
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.reporting.number_formats import decimals_for, format_counts
from fastmetrics.reporting.output_files import write_text
from fastmetrics.reporting.page_style import SCRIPT, script_hash, style_sheet
from fastmetrics.reporting.report_text import column_roles, task_facts
from fastmetrics.reporting.svg_plots import escape_text, plot_svg, series_class

if TYPE_CHECKING:
    from pathlib import Path

    from fastmetrics._core.comparison.comparison import Comparison
    from fastmetrics._core.plot import Plot
    from fastmetrics.engine.results.report import Report

MAX_TITLE_LENGTH = 120
DIGITS = 5
MAX_NAME_LENGTH = 40  # in a table
MIN_TALL_ROWS = 25  # from here on a table's box has a limited height
FIGURE_SPACE = "\u2007"  # as wide as a digit
DIRECTION_TEXTS = {
    "maximize": "Higher is better.",
    "minimize": "Lower is better.",
    "closest_to_one": "Best at 1.",
    "closest_to_zero": "Best at 0.",
}


class Section(NamedTuple):
    """A section of a page: the target of its link, its heading, its content as HTML."""

    ident: str
    heading: str
    body: str


def html_document(
    title: str, eyebrow: str, lead: str, facts: Sequence[tuple[str, str]], sections: Sequence[Section], version: str
) -> str:
    """The whole page. `lead` and `facts` are text; the bodies of sections are HTML."""
    foot = f"Made by fastmetrics {version}. This page is one file and needs no network."
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src '{script_hash()}'; base-uri 'none'"
    links = "".join(f'<li><a href="#{section.ident}">{escape_text(section.heading)}</a></li>' for section in sections)
    fact_list = "".join(f"<div><dt>{escape_text(name)}</dt><dd>{escape_text(text)}</dd></div>" for name, text in facts)
    body = "".join(
        f'<section id="{section.ident}" aria-labelledby="{section.ident}-heading">'
        f'<h2 id="{section.ident}-heading">{escape_text(section.heading)}</h2>{section.body}</section>\n'
        for section in sections
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape_text(title)}</title>\n<style>{style_sheet()}</style>\n</head>\n<body>\n"
        f'<header>\n<p class="eyebrow">{escape_text(eyebrow)}</p>\n<h1>{escape_text(shortened(title))}</h1>\n'
        f'<p class="lead">{escape_text(lead)}</p>\n<dl class="facts">{fact_list}</dl>\n'
        f'<nav aria-label="Parts of this page"><ul>{links}</ul></nav>\n</header>\n'
        f"<main>\n{body}</main>\n<footer><p>{escape_text(foot)}</p></footer>\n<script>{SCRIPT}</script>\n"
        "</body>\n</html>\n"
    )


def write_page(page: str, path: str | Path | None) -> str:
    """The page, which is also written to `path` if there is one. The file gets its name only when it is complete."""
    if path is not None:
        write_text(page, path)
    return page


def facts_of_rows(made: Report | Comparison) -> list[tuple[str, str]]:
    """Rows read and dropped, if it was a log, and the columns. Another fact names the unit of intervals."""
    roles = [(role, names) for role, names in column_roles(made) if names and role != "unit"]
    if made.rows is None:
        return roles
    dropped = {reason: n for reason, n in made.dropped.items() if n}
    if made.tasks:
        return [("rows read", f"{made.rows:,}"), *((f"task {name}", text) for name, text in task_facts(made)), *roles]
    n_dropped = f"{sum(dropped.values()):,} ({format_counts(dropped)})" if dropped else "none"
    filtered = [] if made.filtered is None else [("left out by where", f"{made.filtered:,}")]
    return [("rows read", f"{made.rows:,}"), *filtered, ("dropped", n_dropped), *roles]


def facts_of_run(made: Report | Comparison) -> list[tuple[str, str]]:
    """The version and, if it is known, the time."""
    return [("version", made.version), *([] if made.seconds is None else [("time", f"{made.seconds:.2f} s")])]


def shortened(text: str, max_length: int = MAX_TITLE_LENGTH) -> str:
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"


# -------------------------------------------------------------------------------------------------------------- tables


def scroll_box(table: str, label: str, *, is_tall: bool = False) -> str:
    """A table in a box that scrolls if the page is too narrow. The keyboard reaches the box."""
    css_class = "box tall" if is_tall else "box"
    return f'<div class="{css_class}" role="region" aria-label="{escape_text(label)}" tabindex="0">{table}</div>'


def header_row(columns: Iterable[tuple[str, bool]]) -> str:
    """The header of a table, from the columns' names and whether a column holds numbers."""
    cells = (
        f'<th scope="col"{" class=n" if is_number else ""}>{escape_text(name)}</th>' for name, is_number in columns
    )
    return f"<thead><tr>{''.join(cells)}</tr></thead>"


def sortable_table(
    columns: Iterable[tuple[str, bool]], body: str, caption_text: str, label: str, *, is_tall: bool
) -> str:
    """A table with buttons in its header, which sort its last body if scripts run."""
    cells = "".join(
        f'<th scope="col" aria-sort="none"{" class=n" if is_number else ""}><button type="button">{name_html(name)}'
        "</button></th>"
        for name, is_number in columns
    )
    head = f"<thead><tr>{cells}</tr></thead>"
    table = f'<table class="sortable" aria-describedby="sorted">{caption(caption_text)}{head}{body}</table>'
    return f'{scroll_box(table, label, is_tall=is_tall)}<p class="away" id="sorted" aria-live="polite"></p>'


def sort_attribute(value: Any) -> str:
    """The attribute that sorts a cell by its number instead of its text; empty if the value is not a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ""
    return f' data-key="{value!r}"' if math.isfinite(value) else ' data-key=""'


def name_html(name: str) -> str:
    """A name in a table. A very long one is cut and has its whole text as title; one of blanks is quoted."""
    name = name if name.strip() else repr(name)
    if len(name) <= MAX_NAME_LENGTH:
        return escape_text(name)
    return f'<span title="{escape_text(name)}">{escape_text(name[: MAX_NAME_LENGTH - 1])}…</span>'


def align_decimals(texts: Sequence[str]) -> list[str]:
    """Pad numbers of different decimals so that their points are aligned when the texts are aligned right."""
    n_after = [len(text) - text.rfind(".") if "." in text else 0 for text in texts]
    widest = max(n_after, default=0)
    # A point is narrower than a digit, so a number without a point gets the space of a point, too.
    return [text + (FIGURE_SPACE * (widest - n) if n else "") for text, n in zip(texts, n_after, strict=True)]


def common_decimals(
    values: Iterable[float], intervals: Iterable[Sequence[float] | None] = (), digits: int = DIGITS
) -> int | None:
    """The decimals of a metric's values and intervals, the same for all."""
    return decimals_for([*values, *(end for interval in intervals if interval for end in interval)], digits)


def exact_number(value: float, text: str) -> str:
    """A number as text, with all its digits for programs."""
    return f'<data value="{value!r}">{text}</data>'


def color_key(position: int) -> str:
    """A dot in the color that a model has in the plots."""
    return f'<span class="key {series_class(position)}" aria-hidden="true"></span>'


def caption(text: str) -> str:
    """The caption of a table; it stays visible when the table scrolls in its box."""
    return f'<caption><span class="wide">{escape_text(text)}</span></caption>'


def metric_header(metric: str, n_columns: int = 0) -> str:
    """The metric and its description: at the start of a row, or over `n_columns` columns as a row of its own."""
    description = " ".join(text for text in describe_metric(metric) if text)
    content = f'<span class="name">{escape_text(metric)}</span>'
    content += f' <span class="what">{escape_text(description)}</span>' if description else ""
    if not n_columns:
        return f'<th class="metric" scope="row">{content}</th>'
    wide = f'<span class="wide">{content}</span>'
    return f'<tr class="over"><th class="metric" scope="rowgroup" colspan="{n_columns}">{wide}</th></tr>'


# --------------------------------------------------------------------------------------------- facts of the registry


def describe_metric(metric: str) -> tuple[str, str]:
    """The summary of a metric, and which values are better. Both are empty for an unknown metric."""
    known = find_metric(metric)
    return (known.spec.summary, DIRECTION_TEXTS.get(known.direction, "")) if known is not None else ("", "")


def find_metric(metric: str) -> Any:
    """What a metric string means; None if it is unknown, as in a report of another release."""
    from fastmetrics._core.registry import parse

    try:
        return parse(metric)
    except (KeyError, TypeError, ValueError):
        return None


def best_positions(metric: str, values: Sequence[float]) -> set[int]:
    """The positions of the best values; none if all are equal, or if the metric has no better direction."""
    known = find_metric(metric)
    direction = "none" if known is None else known.direction
    defined = {position: value for position, value in enumerate(values) if not math.isnan(value)}
    if direction == "none" or len(defined) < 2:
        return set()
    if direction in ("maximize", "minimize"):
        sign = 1 if direction == "minimize" else -1
        losses = {position: sign * value for position, value in defined.items()}
    else:
        goal = 1.0 if direction == "closest_to_one" else 0.0
        losses = {position: abs(value - goal) for position, value in defined.items()}
    best = {position for position, loss in losses.items() if loss == min(losses.values())}
    return best if len(best) < len(defined) else set()


def verdict(metric: str, before: float, after: float) -> str:
    """"better" or "worse" for the second value; empty if the metric has no better direction."""
    best = best_positions(metric, [before, after])
    return "" if len(best) != 1 else "better" if 1 in best else "worse"


def resampling_fields(signature: str) -> dict[str, str]:
    """The fields of a signature that describe its interval: ci, method, replicates, seed, unit. Empty without one."""
    match = re.search(r"\|ci:([^|]*)(\|.*)?$", signature, flags=re.DOTALL)
    if match is None:
        return {}
    fields = (field.partition(":") for field in (match[2] or "").split("|") if field)
    return {"ci": match[1]} | {name: text for name, _, text in fields}


def resampling_text(signature: str) -> str:
    """The same in words: 95% intervals, bootstrap of 1,000 replicates over user_id, seed 0."""
    fields = resampling_fields(signature)
    if not fields:
        return ""
    try:
        level = f"{float(fields['ci']) * 100:.10g}%"
    except ValueError:
        level = fields["ci"]
    phrases = [f"{level} intervals"]
    if method := fields.get("method"):
        replicates = fields.get("replicates", "")
        count = f" of {int(replicates):,} replicates" if replicates.isdigit() else ""
        unit = "" if "unit" not in fields else " over rows" if fields["unit"] == "row" else f" over {fields['unit']}"
        phrases.append(f"{method}{count}{unit}")
    if "seed" in fields:
        phrases.append(f"seed {fields['seed']}")
    return ", ".join(phrases)


# --------------------------------------------------------------------------------------------- bodies of sections


def plots_body(plots: Mapping[str, Plot], missing: Mapping[str, str], models: Sequence[str]) -> str:
    """The plots side by side with their summaries, and the reasons why others are missing."""
    figures = ""
    for number, plot in enumerate(plots.values()):
        summary = f"<figcaption>{escape_text(plot.summary)}</figcaption>" if plot.summary else ""
        svg = plot_svg(plot, f"plot-{number}", models)
        figures += f"<figure><h3>{escape_text(plot.title)}</h3>{svg}{summary}</figure>"
    names_by_reason = grouped((reason, name) for name, reason in missing.items())
    items = "".join(
        f"<li>{escape_text(', '.join(names))}: {escape_text(reason)}</li>" for reason, names in names_by_reason.items()
    )
    not_drawn = f'<p class="muted">Not drawn:</p><ul class="muted">{items}</ul>' if items else ""
    return (f'<div class="figures">{figures}</div>' if figures else "") + not_drawn


def signatures_body(signatures: Sequence[tuple[str, str]]) -> str:
    """Signatures with the names of their metrics. One click selects a signature."""
    items = "".join(
        f'<li><span class="for">{escape_text(name)}</span><code>{escape_text(signature)}</code></li>'
        for name, signature in signatures
    )
    return (
        "<p>A signature says all that is needed to get the same number again. One click selects it.</p>"
        f'<ul class="signatures">{items}</ul>'
    )
