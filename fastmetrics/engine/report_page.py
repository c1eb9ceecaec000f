"""The page of a report: what was read, the values with their intervals, pictures, slices, what values stand on."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastmetrics.drawing.svg import clean, color
from fastmetrics.drawing.whiskers import bar, scale_of, whiskers
from fastmetrics.engine.page import (
    TALL,
    Section,
    best_places,
    box,
    caption,
    digits_of,
    document,
    exact,
    head_row,
    interval_text,
    metric_head,
    model_key,
    named,
    pictures_body,
    resampling_of,
    resampling_text,
    signatures_body,
    sort_key,
    sortable,
    spread,
    value_text,
)
from fastmetrics.engine.table import MAX_DRAWN_ROWS, counted, counts_text, left_out, slice_keys, slice_text
from fastmetrics.engine.table import text as shown

if TYPE_CHECKING:
    from fastmetrics.engine.report import Report, Result

DIGITS_OF_SLICES = 4

Model = tuple[str | None, str]  # label and score


def report_page(report: Report, title: str | None = None) -> str:
    """One page of HTML for a report; it asks for nothing from the network."""
    whole = [result for result in report.results if not result.slice]
    sliced = [result for result in report.results if result.slice]
    models = list(dict.fromkeys((result.label, result.score) for result in report.results))
    names = model_names(models)
    sections = []
    if whole or not sliced:
        sections.append(Section("summary", "Summary", summary_body(whole, names)))
    if report.pictures or report.missing_pictures:
        body = pictures_body(report.pictures, report.missing_pictures, picture_names(models))
        sections.append(Section("curves", "Curves", body))
    if sliced:
        sections.append(Section("slices", "Slices", slices_body(whole, sliced, names)))
    sections.append(Section("coverage", "Coverage", coverage_body(whole or sliced, names)))
    sections.append(Section("signatures", "Signatures", signatures_body(signatures_of(whole or sliced, names))))
    return document(
        title or default_title(report),
        "fastmetrics · evaluation",
        lead_of(report, len(models)),
        facts_of(report),
        sections,
        report.version,
    )


def model_names(models: Sequence[Model]) -> dict[Model, str]:
    """Score columns; with their labels where there are several of those."""
    several = len({label for label, _ in models}) > 1
    return {own: f"{own[1]} against {own[0]}" if several and own[0] else own[1] for own in models}


def picture_names(models: Sequence[Model]) -> list[str]:
    """What models are called in pictures."""
    several = len({label for label, _ in models}) > 1
    return [f"{score}, {label}" if several else score for label, score in models]


def default_title(report: Report) -> str:
    columns = report.columns
    score, label = (joined(columns.get(role, ())) for role in ("score", "label"))
    return f"{score} against {label}" if score and label else "Evaluation"


def joined(names: str | Sequence[str]) -> str:
    return names if isinstance(names, str) else ", ".join(names)


def lead_of(report: Report, n_models: int) -> str:
    n_metrics = len({result.metric for result in report.results})
    n_slices = len({repr(result.slice) for result in report.results if result.slice})
    slices = f", and in {counted(n_slices, 'slice')}" if n_slices else ""
    what = f"{counted(n_metrics, 'metric')} of {counted(n_models, 'model')} over {counted(report.rows, 'row')}{slices}."
    if any(resampling_of(result.signature).get("unit") == "row" for result in report.results):
        return what
    return f"{what} The numbers do not depend on the order of the rows."


def facts_of(report: Report) -> list[tuple[str, str]]:
    dropped = {reason: n for reason, n in report.dropped.items() if n}
    facts = [
        ("rows read", f"{report.rows:,}"),
        ("dropped", f"{sum(dropped.values()):,} ({counts_text(dropped)})" if dropped else "none"),
        *(part for part in report.roles() if part[0] != "unit"),  # intervals say it
    ]
    asked = list(dict.fromkeys(text for result in report.results if (text := resampling_text(result.signature))))
    facts += [("intervals", text.replace(" intervals", "", 1)) for text in asked[:2]]
    facts.append(("version", report.version))
    if report.seconds is not None:
        facts.append(("time", f"{report.seconds:.2f} s"))
    return facts


# ------------------------------------------------------------------------------------------------------- the summary


def summary_body(results: Sequence[Result], names: Mapping[Model, str]) -> str:
    """A row for every metric and model: value, interval as text and drawn."""
    if not results:
        return "<p>No metric was computed.</p>"
    metrics: dict[str, list[Result]] = {}
    for result in results:
        metrics.setdefault(result.metric, []).append(result)
    several = len(names) > 1
    with_interval = any(result.interval is not None for result in results)
    places = {own: place for place, own in enumerate(names)}
    decimals = {
        name: digits_of([own.value for own in of], [own.interval for own in of]) for name, of in metrics.items()
    }
    texts = spread([value_text(own.value, decimals[name]) for name, of in metrics.items() for own in of])
    spelt = iter(texts)
    columns = [("model" if several else "metric", False), ("value", True)]
    columns += [("interval", True), ("", False)] if with_interval else []
    reach = None if several else relative_reach(results)
    bodies = ""
    for name, of in metrics.items():
        best = best_places(name, [own.value for own in of]) if several else set()
        ends = scale_of([number for own in of for number in (own.value, *(own.interval or ()))])
        if not several and reach is not None:
            ends = around(of[0].value, reach)
        rows = metric_head(name, len(columns)) if several else ""
        for place, own in enumerate(of):
            side = (own.label, own.score)
            tag = ' <span class="tag">best</span>' if place in best else ""
            model = f'<th scope="row" class="model">{model_key(places[side])}{named(names[side])}{tag}</th>'
            rows += f"<tr>{model if several else metric_head(name)}"
            rows += value_cells(own, next(spelt), decimals[name], with_interval)
            if with_interval and not math.isnan(own.value):
                last = place == len(of) - 1
                named_ends = ends_text(ends, decimals[name]) if several or reach is None else percents(reach)
                rows += f'<td class="drawn">{drawn(own, ends, places[side], named_ends if last else None)}</td>'
            rows += "</tr>"
        bodies += f'<tbody class="group">{rows}</tbody>'
    said = caption(summary_caption(results, several, relative=reach is not None))
    return box(f"<table>{said}{head_row(columns)}{bodies}</table>", "Summary, a table")


def relative_reach(results: Sequence[Result]) -> float | None:
    """How far the farthest end of an interval is from its value, as a share of it: on one scale intervals of several
    metrics of one model tell which is known best. None where a value is 0, or an end nowhere."""
    shares = [
        abs(end - own.value) / abs(own.value) if own.value else math.inf
        for own in results
        for end in own.interval or ()
        if not math.isnan(own.value)
    ]
    reach = max(shares, default=0.0)
    return reach if 0 < reach < 1 else None


def around(value: float, reach: float) -> tuple[float, float] | None:
    return None if math.isnan(value) or value == 0 else (value - reach * abs(value), value + reach * abs(value))


def ends_text(ends: tuple[float, float] | None, decimals: int | None) -> tuple[str, str] | None:
    return None if ends is None else (value_text(ends[0], decimals), value_text(ends[1], decimals))


def percents(reach: float) -> tuple[str, str]:
    return f"−{100 * reach:.2g}%", f"+{100 * reach:.2g}%"


def summary_caption(results: Sequence[Result], several: bool, *, relative: bool) -> str:
    said = ["Values over all rows, rounded to five digits."]
    said += dict.fromkeys(f"{text}." for own in results if (text := resampling_text(own.signature)))
    if any(own.interval is not None and not resampling_text(own.signature) for own in results):
        said.append("Values of approximate states stand in intervals that certainly hold the exact value.")
    if relative:
        said.append("They are drawn as percents of the values.")
    if several:
        said.append("“best” marks the better value; whether the difference is more than chance a comparison tells.")
    return " ".join(said)


def value_cells(own: Result, text: str, decimals: int | None, with_interval: bool) -> str:
    """The value and its interval, or why there is none."""
    if math.isnan(own.value):
        reason = clean(own.reason or "no reason is known")
        span = ' colspan="2"' if with_interval else ""
        return f'<td class="n undefined">undefined</td><td class="why"{span}>{reason}</td>'
    value = f'<td class="n value">{exact(own.value, text)}</td>'
    if not with_interval:
        return value
    if own.interval is None:
        return f'{value}<td class="why">{clean(str(own.coverage.get("interval", "")))}</td>'
    return f'{value}<td class="n">{interval_text(own.interval, decimals)}</td>'


def drawn(own: Result, ends: tuple[float, float] | None, place: int, named_ends: tuple[str, str] | None) -> str:
    """The interval on its scale; with the ends of the scale below."""
    if ends is None or math.isnan(own.value):
        return ""
    marks = whiskers(own.value, own.interval, ends, color(place))
    if named_ends is None:
        return marks
    low, high = named_ends
    return f'{marks}<span class="ends" aria-hidden="true"><span>{low}</span><span>{high}</span></span>'


# -------------------------------------------------------------------------------------------------------- the slices


class Notes:
    """Reasons below a table, each with a letter that stands where it applies."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}

    def mark(self, reason: str) -> str:
        general = re.sub(r"\d[\d,]*", "N", reason)
        place = list(self.reasons).index(general) if general in self.reasons else len(self.reasons)
        self.reasons.setdefault(general, reason)
        return f"<sup>{place + 1}</sup>"

    def html(self) -> str:
        items = "".join(f"<li>{clean(reason)}</li>" for reason in self.reasons.values())
        return f'<p class="muted">Undefined, because:</p><ol class="muted">{items}</ol>' if items else ""


def slices_body(whole: Sequence[Result], sliced: Sequence[Result], names: Mapping[Model, str]) -> str:
    """A row for every slice and model, a column for every metric; buttons in the head sort it."""
    keys = slice_keys(sliced)
    metrics = list(dict.fromkeys(result.metric for result in sliced))
    rows: dict[tuple[str, Model], dict[str, Result]] = {}
    for result in sliced:
        rows.setdefault((repr(result.slice), (result.label, result.score)), {})[result.metric] = result
    first: dict[Model, dict[str, Result]] = {}
    for result in whole:
        first.setdefault((result.label, result.score), {})[result.metric] = result
    kept = dict(list(rows.items())[:MAX_DRAWN_ROWS])
    table = SliceTable(keys, metrics, names, first, list(rows.values()))
    of_whole = "".join(table.row(own, None, whole=True) for own in first.values())
    of_slices = "".join(table.row(own, side) for (_, side), own in kept.items())
    body = (f"<tbody>{of_whole}</tbody>" if of_whole else "") + f"<tbody>{of_slices}</tbody>"
    more = len(rows) - len(kept)
    said = f"{counted(len({key for key, _ in rows}), 'slice')}; the buttons above the columns sort."
    if first:
        said += " Bars show how much a slice is above (right) or below (left) all rows of the same model."
    if more:
        said += f" {more:,} more rows are in report.to_json()."
    tall = len(kept) > TALL
    return sortable(table.columns(), body, said, "Slices, a table", tall=tall) + table.notes.html()


class SliceTable:
    """The table of slices: its columns, their digits, and how long their longest bars are."""

    def __init__(
        self,
        keys: Sequence[str],
        metrics: Sequence[str],
        names: Mapping[Model, str],
        whole: Mapping[Model, Mapping[str, Result]],
        rows: Sequence[Mapping[str, Result]],
    ) -> None:
        self.keys, self.metrics, self.names, self.whole = keys, metrics, names, whole
        self.notes = Notes()
        self.places = {own: place for place, own in enumerate(names)}
        self.counts = any("rows" in result.coverage for row in rows for result in row.values())
        self.most_rows = max((count or 0 for count in map(rows_of, rows)), default=0)
        every = [*rows, *whole.values()]
        self.decimals = {
            metric: digits_of([row[metric].value for row in every if metric in row], digits=DIGITS_OF_SLICES)
            for metric in metrics
        }
        self.reach = {metric: self.longest(metric, rows) for metric in metrics}

    def longest(self, metric: str, rows: Sequence[Mapping[str, Result]]) -> float:
        """The greatest distance between a slice and all rows, or without those the greatest value."""
        found = []
        for row in rows:
            if metric in row and math.isfinite(row[metric].value):
                centre = self.centre(row[metric])
                found.append(abs(row[metric].value - (centre or 0.0)))
        return max(found, default=0.0)

    def centre(self, result: Result) -> float | None:
        """The value of all rows, where it is defined."""
        own = self.whole.get((result.label, result.score), {}).get(result.metric)
        return own.value if own is not None and math.isfinite(own.value) else None

    def columns(self) -> list[tuple[str, bool]]:
        """Names of columns, and which of them hold numbers."""
        names = [(key, False) for key in self.keys]
        names += [("model", False)] if len(self.names) > 1 else []
        names += [("rows", True)] if self.counts else []
        return names + [(metric, True) for metric in self.metrics]

    def row(self, results: Mapping[str, Result], side: Model | None, *, whole: bool = False) -> str:
        own = next(iter(results.values()))
        side = side or (own.label, own.score)
        if whole:
            cells = f'<th scope="row" colspan="{len(self.keys)}">all rows</th>'
        else:
            cells = "".join(
                f'<th scope="row"{sort_key(own.slice.get(key))}>{named(slice_text(own, key))}</th>' for key in self.keys
            )
        if len(self.names) > 1:
            cells += f'<td class="model">{model_key(self.places[side])}{named(self.names[side])}</td>'
        if self.counts:
            count = rows_of(results)
            text = "" if count is None else f"{count:,}"
            share = "" if count is None or whole else bar(count, None, self.most_rows)
            cells += f'<td class="n bars" data-key="{"" if count is None else count}">{text}{share}</td>'
        cells += "".join(self.cell(results.get(metric), metric, whole=whole) for metric in self.metrics)
        return f'<tr class="whole">{cells}</tr>' if whole else f"<tr>{cells}</tr>"

    def cell(self, result: Result | None, metric: str, *, whole: bool) -> str:
        if result is None:
            return '<td class="n" data-key=""></td>'
        if math.isnan(result.value):
            mark = self.notes.mark(result.reason or "no reason is known")
            return f'<td class="n undefined" data-key="">undefined{mark}</td>'
        text = exact(result.value, value_text(result.value, self.decimals[metric]))
        interval = result.interval
        between = f'<br><span class="why">{interval_text(interval, self.decimals[metric])}</span>' if interval else ""
        mark = "" if whole else bar(result.value, self.centre(result), self.reach[metric])
        return f'<td class="n bars" data-key="{result.value!r}">{text}{between}{mark}</td>'


def rows_of(results: Mapping[str, Result]) -> int | None:
    return max((own.coverage["rows"] for own in results.values() if "rows" in own.coverage), default=None)


# --------------------------------------------------------------------------------------------- coverage and signatures


def coverage_body(results: Sequence[Result], names: Mapping[Model, str]) -> str:
    """What values stand on and what was left out; metrics and models that say the same are one row."""
    found: dict[tuple[str, ...], dict[str, dict[Model, None]]] = {}
    for own in results:
        lines = tuple(coverage_lines(own.coverage))
        found.setdefault(lines, {}).setdefault(own.metric, {})[own.label, own.score] = None
    if not found:
        return "<p>Nothing was computed, so nothing was left out.</p>"
    rows = ""
    for lines, metrics in found.items():
        sides = list(dict.fromkeys(side for own in metrics.values() for side in own))
        every = len(names) > 1 and len(sides) < len(names)
        whom = f'<span class="what">{", ".join(named(names[side]) for side in sides)}</span>' if every else ""
        said = "".join(f"<li>{clean(line)}</li>" for line in lines) or "<li>all rows</li>"
        concerned = clean(", ".join(metrics))
        rows += (
            f'<tr><th scope="row" class="metric"><span class="name">{concerned}</span>{whom}</th>'
            f'<td><ul class="stands">{said}</ul></td></tr>'
        )
    said = caption("The rows and groups that a value was computed from, and why others were left out.")
    head = head_row([("metric", False), ("computed from", False)])
    return box(f"<table>{said}{head}<tbody>{rows}</tbody></table>", "Coverage, a table")


KNOWN = {
    "rows", "positives", "groups", "groups_used", "groups_left_out", "rows_left_out", "interval",
    "undefined_replicates", "rows_clipped",
}  # fmt: skip


def coverage_lines(coverage: Mapping[str, Any]) -> list[str]:
    lines = []
    if "rows" in coverage:
        positive = f", {coverage['positives']:,} positive" if "positives" in coverage else ""
        lines.append(f"{counted(coverage['rows'], 'row')}{positive}")
    if "groups_used" in coverage and "groups" in coverage:
        lines.append(f"{coverage['groups_used']:,} of {counted(coverage['groups'], 'group')} used")
    lines += left_out(coverage)
    if not coverage.get("groups_left_out"):
        rows = coverage.get("rows_left_out", {})
        lines += [f"{counted(n, 'row')} left out, {reason}" for reason, n in rows.items() if n]
    if coverage.get("undefined_replicates"):
        lines.append(f"{counted(coverage['undefined_replicates'], 'replicate')} undefined, left out of the interval")
    if isinstance(coverage.get("interval"), str):
        lines.append(f"no interval: {coverage['interval']}")
    more = {key: value for key, value in coverage.items() if key not in KNOWN and value not in (None, {}, 0)}
    return [*lines, *(f"{key.replace('_', ' ')}: {shown(value)}" for key, value in more.items())]


def signatures_of(results: Sequence[Result], names: Mapping[Model, str]) -> list[tuple[str, str]]:
    """Signatures with what they are of; models that have the same one share it."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for own in results:
        found.setdefault((own.metric, own.signature), {})[names[own.label, own.score]] = None
    several = len(names) > 1
    return [
        (f"{metric} · {', '.join(sides)}" if several and len(sides) < len(names) else metric, signature)
        for (metric, signature), sides in found.items()
    ]
