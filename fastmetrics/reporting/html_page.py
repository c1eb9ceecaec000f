"""The frame of a page, and the parts that pages of reports and of comparisons share. A page needs no other file.

Every text that comes from data goes through `escape_text`. A content security policy forbids the network and all
scripts except the page's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fastmetrics._core.grouping import grouped
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.results.output_files import write_text
from fastmetrics.reporting.html_tables import escape_text, name_html, shortened
from fastmetrics.reporting.number_formats import format_counts
from fastmetrics.reporting.page_style import SCRIPT, script_hash, style_sheet
from fastmetrics.reporting.report_table import column_roles, task_facts
from fastmetrics.reporting.svg_plots import plot_svg

if TYPE_CHECKING:
    from pathlib import Path

    from fastmetrics._core.comparison.comparison import Comparison
    from fastmetrics._core.plot import Plot
    from fastmetrics.engine.results.report import Report

MAX_TITLE_LENGTH = 120


class Section(NamedTuple):
    """A section of a page: the target of its link, its heading, its content as HTML."""

    ident: str
    heading: str
    body: str


def html_document(
    title: str,
    eyebrow: str,
    leads: Sequence[str],
    facts: Sequence[tuple[str, str]],
    sections: Sequence[Section],
    version: str,
    metrics: Sequence[str] = (),
) -> str:
    """The whole page; its reader chooses among the metrics, if there are several.

    `leads`, a paragraph each, and `facts` are text; the bodies of sections are HTML.
    """
    foot = f"Made by fastmetrics {version}. This page is one file and needs no network."
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src '{script_hash()}'; base-uri 'none'"
    links = "".join(f'<li><a href="#{section.ident}">{escape_text(section.heading)}</a></li>' for section in sections)
    fact_list = "".join(f"<div><dt>{escape_text(name)}</dt><dd>{escape_text(text)}</dd></div>" for name, text in facts)
    lead_html = "".join(f'<p class="lead">{escape_text(lead)}</p>\n' for lead in leads)
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
        f'<header>\n<p class="eyebrow">{escape_text(eyebrow)}</p>\n'
        f"<h1>{escape_text(shortened(title, MAX_TITLE_LENGTH))}</h1>\n"
        f'{lead_html}<dl class="facts">{fact_list}</dl>\n'
        f'<nav aria-label="Parts of this page"><ul>{links}</ul></nav>\n{metric_choice(metrics)}</header>\n'
        f"<main>\n{body}</main>\n<footer><p>{escape_text(foot)}</p></footer>\n<script>{SCRIPT}</script>\n"
        "</body>\n</html>\n"
    )


def metric_choice(metrics: Sequence[str]) -> str:
    """A box for each metric, which shows and hides what the tables have of it. It appears only if scripts run."""
    if len(metrics) < 2:
        return ""
    boxes = "".join(
        f'<label><input type="checkbox" checked value="{escape_text(metric)}"> {name_html(metric)}</label>'
        for metric in metrics
    )
    buttons = "".join(f'<button type="button" data-choose="{which}">{which}</button>' for which in ("all", "none"))
    return f'<fieldset class="choice" hidden><legend>Metrics in the tables</legend>{boxes}{buttons}</fieldset>\n'


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


# --------------------------------------------------------------------------------------------- bodies of sections


def plots_body(plots: Mapping[str, Plot], missing: Mapping[str, str], models: Sequence[str]) -> str:
    """The plots side by side with their captions, and the reasons why others are missing."""
    figures = ""
    for number, plot in enumerate(plots.values()):
        text = plot.caption or plot.summary
        caption = f"<figcaption>{escape_text(text)}</figcaption>" if text else ""
        svg = plot_svg(plot, f"plot-{number}", models)
        figures += f"<figure><h3>{escape_text(plot.title)}</h3>{svg}{caption}</figure>"
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
