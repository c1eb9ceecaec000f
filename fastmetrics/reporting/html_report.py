"""The page of a report: what was read, values with intervals, plots, slices, coverage, signatures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastmetrics._core.grouping import grouped
from fastmetrics.reporting.html_classes import classes_body
from fastmetrics.reporting.html_parts import (
    MIN_TALL_ROWS,
    Section,
    align_decimals,
    best_positions,
    caption,
    color_key,
    common_decimals,
    exact_number,
    facts_of_rows,
    facts_of_run,
    header_row,
    html_document,
    metric_header,
    name_html,
    plots_body,
    resampling_fields,
    resampling_text,
    scroll_box,
    signatures_body,
    sort_attribute,
    sortable_table,
    write_page,
)
from fastmetrics.reporting.interval_marks import bar_html, scale_range, whisker_svg
from fastmetrics.reporting.number_formats import (
    counted,
    format_coverage_value,
    format_interval,
    format_value,
)
from fastmetrics.reporting.report_notes import NO_REASON, Model, count_labels, general_reason, left_out_texts
from fastmetrics.reporting.report_text import (
    MAX_TABLE_ROWS,
    column_roles,
    count_rows,
    rows_by_model,
    slice_keys,
    slice_text,
)
from fastmetrics.reporting.svg_plots import escape_text, series_class

if TYPE_CHECKING:
    from fastmetrics.engine.results.report import Report
    from fastmetrics.engine.results.result import Result

DIGITS_OF_SLICES = 4


def report_html(report: Report, path: str | Path | None = None, *, title: str | None = None) -> str:
    """One page of HTML for a report, which is also written to `path` if there is one; it needs no network."""
    whole = [result for result in report.results if not result.slice]
    sliced = [result for result in report.results if result.slice]
    models = list(dict.fromkeys(map(Model.of, report.results)))
    names = model_names(models)
    sections = []
    if whole or not sliced:
        sections.append(Section("summary", "Summary", summary_body(whole, names)))
    if report.pictures or report.missing_pictures:
        body = plots_body(report.pictures, report.missing_pictures, names_in_plots(models))
        sections.append(Section("curves", "Curves", body))
    if report.confusion_matrices or report.label_tables:
        sections.append(Section("classes", "Classes", classes_body(report)))
    if sliced:
        sections.append(Section("slices", "Slices", slices_body(whole, sliced, names)))
    sections.append(Section("coverage", "Coverage", coverage_body(whole or sliced, names)))
    sections.append(Section("signatures", "Signatures", signatures_body(named_signatures(whole or sliced, names))))
    page = html_document(
        title or default_title(report),
        "fastmetrics · evaluation",
        lead_of(report, len(models)),
        facts_of(report),
        sections,
        report.version,
    )
    return write_page(page, path)


def model_names(models: Sequence[Model]) -> dict[Model, str]:
    """Score columns, with their task if there are tasks, and their label if there are several labels."""
    n_labels = count_labels(models)
    names = {}
    for model in models:
        several = n_labels[model.task] > 1 and model.label
        name = f"{model.score} against {model.label}" if several else model.score
        names[model] = name if model.task is None else f"{model.task}: {name}"
    return names


def names_in_plots(models: Sequence[Model]) -> list[str]:
    """The names of the models' series in plots."""
    n_labels = count_labels(models)
    names = [f"{score}, {label}" if n_labels[task] > 1 else score for task, label, score in models]
    return [name if model.task is None else f"{model.task}: {name}" for name, model in zip(names, models, strict=True)]


def default_title(report: Report) -> str:
    score, label = (dict(column_roles(report)).get(role) for role in ("score", "label"))
    return f"{score} against {label}" if score and label else "Evaluation"


def lead_of(report: Report, n_models: int) -> str:
    n_metrics = len({result.metric for result in report.results})
    n_slices = len({repr(result.slice) for result in report.results if result.slice})
    slices = f", and in {counted(n_slices, 'slice')}" if n_slices else ""
    text = f"{counted(n_metrics, 'metric')} of {counted(n_models, 'model')} over {counted(report.rows, 'row')}{slices}."
    if any(resampling_fields(result.signature).get("unit") == "row" for result in report.results):
        return text
    return f"{text} The numbers do not depend on the order of the rows."


def facts_of(report: Report) -> list[tuple[str, str]]:
    intervals = list(dict.fromkeys(text for result in report.results if (text := resampling_text(result.signature))))
    facts = [("intervals", text.replace(" intervals", "", 1)) for text in intervals[:2]]
    facts += [("note", note) for note in report.notes]
    return facts_of_rows(report) + facts + facts_of_run(report)


# ------------------------------------------------------------------------------------------------------- the summary


def summary_body(results: Sequence[Result], names: Mapping[Model, str]) -> str:
    """A row for every metric and model: the value, and the interval as text and as a mark."""
    if not results:
        return "<p>No metric was computed.</p>"
    by_metric = grouped((result.metric, result) for result in results)
    several = len(names) > 1
    with_interval = any(result.interval is not None for result in results)
    positions = {model: position for position, model in enumerate(names)}
    decimals = {
        metric: common_decimals([one.value for one in of_metric], [one.interval for one in of_metric])
        for metric, of_metric in by_metric.items()
    }
    texts = iter(
        align_decimals(
            [format_value(one.value, decimals[metric]) for metric, of_metric in by_metric.items() for one in of_metric]
        )
    )
    columns = [("model" if several else "metric", False), ("value", True)]
    columns += [("interval", True), ("", False)] if with_interval else []
    reach = None if several else relative_reach(results)
    bodies = ""
    for metric, of_metric in by_metric.items():
        best = best_positions(metric, [one.value for one in of_metric]) if several else set()
        ends = scale_range([number for one in of_metric for number in (one.value, *(one.interval or ()))])
        if not several and reach is not None:
            ends = range_around(of_metric[0].value, reach)
        rows = metric_header(metric, len(columns)) if several else ""
        for number, result in enumerate(of_metric):
            model = Model.of(result)
            tag = ' <span class="tag">best</span>' if number in best else ""
            header = f'<th scope="row" class="model">{color_key(positions[model])}{name_html(names[model])}{tag}</th>'
            rows += f"<tr>{header if several else metric_header(metric)}"
            rows += value_cells(result, next(texts), decimals[metric], with_interval)
            if with_interval and not math.isnan(result.value):
                is_last = number == len(of_metric) - 1
                end_texts = format_ends(ends, decimals[metric]) if several or reach is None else format_percents(reach)
                mark = interval_mark(result, ends, positions[model], end_texts if is_last else None)
                rows += f'<td class="drawn">{mark}</td>'
            rows += "</tr>"
        bodies += f'<tbody class="group">{rows}</tbody>'
    head = caption(summary_caption(results, several, relative=reach is not None)) + header_row(columns)
    return scroll_box(f"<table>{head}{bodies}</table>", "Summary, a table")


def relative_reach(results: Sequence[Result]) -> float | None:
    """The greatest distance between an end of an interval and its value, as a share of the value.

    It is the common scale for intervals of several metrics of one model, which shows the most precise one. None if a
    value is 0 or an end is infinite.
    """
    shares = [
        abs(end - result.value) / abs(result.value) if result.value else math.inf
        for result in results
        for end in result.interval or ()
        if not math.isnan(result.value)
    ]
    reach = max(shares, default=0.0)
    return reach if 0 < reach < 1 else None


def range_around(value: float, reach: float) -> tuple[float, float] | None:
    return None if math.isnan(value) or value == 0 else (value - reach * abs(value), value + reach * abs(value))


def format_ends(ends: tuple[float, float] | None, decimals: int | None) -> tuple[str, str] | None:
    return None if ends is None else (format_value(ends[0], decimals), format_value(ends[1], decimals))


def format_percents(reach: float) -> tuple[str, str]:
    return f"−{100 * reach:.2g}%", f"+{100 * reach:.2g}%"


def summary_caption(results: Sequence[Result], several: bool, *, relative: bool) -> str:
    sentences = ["Values over all rows, rounded to five digits."]
    sentences += dict.fromkeys(f"{text}." for result in results if (text := resampling_text(result.signature)))
    if any(result.interval is not None and not resampling_text(result.signature) for result in results):
        sentences.append("The intervals of approximate values certainly contain the exact value.")
    if relative:
        sentences.append("The marks show intervals in percent of the values.")
    if several:
        sentences.append("“best” marks the better value; a comparison tests if the difference is more than chance.")
    return " ".join(sentences)


def value_cells(result: Result, text: str, decimals: int | None, with_interval: bool) -> str:
    """The cells of a value and its interval, or the reason why there is none."""
    if math.isnan(result.value):
        reason = escape_text(result.reason or NO_REASON)
        span = ' colspan="2"' if with_interval else ""
        return f'<td class="n undefined">undefined</td><td class="why"{span}>{reason}</td>'
    value = f'<td class="n value">{exact_number(result.value, text)}</td>'
    if not with_interval:
        return value
    if result.interval is None:
        return f'{value}<td class="why">{escape_text(str(result.coverage.get("interval", "")))}</td>'
    return f'{value}<td class="n">{format_interval(result.interval, decimals)}</td>'


def interval_mark(
    result: Result, ends: tuple[float, float] | None, position: int, end_texts: tuple[str, str] | None
) -> str:
    """The interval on its scale, with the texts of the scale's ends below."""
    if ends is None or math.isnan(result.value):
        return ""
    mark = whisker_svg(result.value, result.interval, ends, series_class(position))
    if end_texts is None:
        return mark
    low, high = end_texts
    return f'{mark}<span class="ends" aria-hidden="true"><span>{low}</span><span>{high}</span></span>'


# -------------------------------------------------------------------------------------------------------- the slices


class Footnotes:
    """Reasons below a table, numbered. Reasons that differ only in numbers share a footnote."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}

    def mark(self, reason: str) -> str:
        """The number of the reason's footnote, which is added if it is new."""
        general = general_reason(reason)
        self.reasons.setdefault(general, reason)
        return f"<sup>{list(self.reasons).index(general) + 1}</sup>"

    def html(self) -> str:
        items = "".join(f"<li>{escape_text(reason)}</li>" for reason in self.reasons.values())
        return f'<p class="muted">Undefined, because:</p><ol class="muted">{items}</ol>' if items else ""


def slices_body(whole: Sequence[Result], sliced: Sequence[Result], names: Mapping[Model, str]) -> str:
    """A row for every slice and model, a column for every metric. Buttons in the header sort the rows."""
    keys = slice_keys(sliced)
    metrics = list(dict.fromkeys(result.metric for result in sliced))
    slice_rows, whole_rows = rows_by_model(sliced), rows_by_model(whole)
    shown_rows = slice_rows[:MAX_TABLE_ROWS]
    table = SliceTable(keys, metrics, names, whole_rows, slice_rows)
    whole_html = "".join(table.row(row, is_whole=True) for row in whole_rows)
    slice_html = "".join(map(table.row, shown_rows))
    body = (f"<tbody>{whole_html}</tbody>" if whole_html else "") + f"<tbody>{slice_html}</tbody>"
    text = f"{counted(len({repr(result.slice) for result in sliced}), 'slice')}; the buttons above the columns sort."
    if whole_rows:
        text += " Bars show how much a slice is above (right) or below (left) all rows of the same model."
    if len(slice_rows) > len(shown_rows):
        text += f" {len(slice_rows) - len(shown_rows):,} more rows are in report.to_json()."
    is_tall = len(shown_rows) > MIN_TALL_ROWS
    return sortable_table(table.columns(), body, text, "Slices, a table", is_tall=is_tall) + table.footnotes.html()


class SliceTable:
    """The table of slices: its columns, the decimals of its metrics, and the scales of its bars."""

    def __init__(
        self,
        keys: Sequence[str],
        metrics: Sequence[str],
        names: Mapping[Model, str],
        whole: Sequence[Mapping[str, Result]],
        rows: Sequence[Mapping[str, Result]],
    ) -> None:
        self.keys, self.metrics, self.names = keys, metrics, names
        self.whole_values = {
            (Model.of(own), own.metric): own.value
            for row in whole
            for own in row.values()
            if math.isfinite(own.value)
        }
        self.footnotes = Footnotes()
        self.positions = {model: position for position, model in enumerate(names)}
        self.has_counts = any(count_rows(result) is not None for row in rows for result in row.values())
        self.has_positives = any(result.positives is not None for row in rows for result in row.values())
        self.max_count = max((count or 0 for count in map(row_count, rows)), default=0)
        self.decimals = {
            metric: common_decimals(
                [row[metric].value for row in (*rows, *whole) if metric in row], digits=DIGITS_OF_SLICES
            )
            for metric in metrics
        }
        self.reach = {metric: self.longest_bar(metric, rows) for metric in metrics}

    def longest_bar(self, metric: str, rows: Sequence[Mapping[str, Result]]) -> float:
        """The greatest distance between a slice and all rows; without a value of all rows, the greatest value."""
        results = [row[metric] for row in rows if metric in row and math.isfinite(row[metric].value)]
        return max((abs(own.value - (self.value_of_all_rows(own) or 0.0)) for own in results), default=0.0)

    def value_of_all_rows(self, result: Result) -> float | None:
        """The same metric over all rows; None if it is undefined."""
        return self.whole_values.get((Model.of(result), result.metric))

    def columns(self) -> list[tuple[str, bool]]:
        """The names of the columns, and whether a column holds numbers."""
        columns = [(key, False) for key in self.keys]
        columns += [("model", False)] if len(self.names) > 1 else []
        columns += [("rows", True)] if self.has_counts else []
        columns += [("positives", True)] if self.has_positives else []
        return columns + [(metric, True) for metric in self.metrics]

    def row(self, results: Mapping[str, Result], *, is_whole: bool = False) -> str:
        first = next(iter(results.values()))
        model = Model.of(first)
        if is_whole:
            cells = f'<th scope="row" colspan="{len(self.keys)}">all rows</th>'
        else:
            cells = "".join(
                f'<th scope="row"{sort_attribute(first.slice.get(key))}>{name_html(slice_text(first, key))}</th>'
                for key in self.keys
            )
        if len(self.names) > 1:
            cells += f'<td class="model">{color_key(self.positions[model])}{name_html(self.names[model])}</td>'
        if self.has_counts:
            count = row_count(results)
            text = "" if count is None else f"{count:,}"
            bar = "" if count is None or is_whole else bar_html(count, None, self.max_count)
            cells += f'<td class="n bars" data-key="{"" if count is None else count}">{text}{bar}</td>'
        if self.has_positives:
            positives = "" if first.positives is None else first.positives
            text = f"{positives:,}" if positives != "" else ""
            cells += f'<td class="n" data-key="{positives}">{text}</td>'
        cells += "".join(self.cell(results.get(metric), metric, is_whole=is_whole) for metric in self.metrics)
        return f'<tr class="whole">{cells}</tr>' if is_whole else f"<tr>{cells}</tr>"

    def cell(self, result: Result | None, metric: str, *, is_whole: bool) -> str:
        if result is None:
            return '<td class="n" data-key=""></td>'
        if math.isnan(result.value):
            footnote = self.footnotes.mark(result.reason or NO_REASON)
            return f'<td class="n undefined" data-key="">undefined{footnote}</td>'
        decimals = self.decimals[metric]
        text = exact_number(result.value, format_value(result.value, decimals))
        interval = ""
        if result.interval:
            interval = f'<br><span class="why">{format_interval(result.interval, decimals)}</span>'
        bar = "" if is_whole else bar_html(result.value, self.value_of_all_rows(result), self.reach[metric])
        return f'<td class="n bars" data-key="{result.value!r}">{text}{interval}{bar}</td>'


def row_count(results: Mapping[str, Result]) -> int | None:
    counts = (count for result in results.values() if (count := count_rows(result)) is not None)
    return max(counts, default=None)


# --------------------------------------------------------------------------------------------- coverage and signatures


def coverage_body(results: Sequence[Result], names: Mapping[Model, str]) -> str:
    """What values were computed from and what was left out. Metrics and models with the same coverage share a row."""
    if not results:
        return "<p>Nothing was computed, so nothing was left out.</p>"
    rows = ""
    for lines, covered in grouped((tuple(coverage_lines(result.coverage)), result) for result in results).items():
        models = dict.fromkeys(names[Model.of(result)] for result in covered)
        subset = ", ".join(map(name_html, models))
        subset_html = f'<span class="what">{subset}</span>' if len(models) < len(names) else ""
        items = "".join(f"<li>{escape_text(line)}</li>" for line in lines) or "<li>all rows</li>"
        metric_list = escape_text(", ".join(dict.fromkeys(result.metric for result in covered)))
        rows += (
            f'<tr><th scope="row" class="metric"><span class="name">{metric_list}</span>{subset_html}</th>'
            f'<td><ul class="stands">{items}</ul></td></tr>'
        )
    head = caption("The rows and groups that a value was computed from, and why others were left out.")
    head += header_row([("metric", False), ("computed from", False)])
    return scroll_box(f"<table>{head}<tbody>{rows}</tbody></table>", "Coverage, a table")


# The keys of coverage that `coverage_lines` puts into words.
WORDED_KEYS = {
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
    lines += left_out_texts(coverage)
    if not coverage.get("groups_left_out"):
        rows = coverage.get("rows_left_out", {})
        lines += [f"{counted(n, 'row')} left out, {reason}" for reason, n in rows.items() if n]
    if coverage.get("undefined_replicates"):
        lines.append(f"{counted(coverage['undefined_replicates'], 'replicate')} undefined, left out of the interval")
    if isinstance(coverage.get("interval"), str):
        lines.append(f"no interval: {coverage['interval']}")
    others = {key: value for key, value in coverage.items() if key not in WORDED_KEYS and value not in (None, {}, 0)}
    return [*lines, *(f"{key.replace('_', ' ')}: {format_coverage_value(value)}" for key, value in others.items())]


def named_signatures(results: Sequence[Result], names: Mapping[Model, str]) -> list[tuple[str, str]]:
    """Metrics with their signatures. Models of the same signature share an entry."""
    models_by_signature = grouped(
        ((result.metric, result.signature), names[Model.of(result)]) for result in results
    )
    return [
        (f"{metric} · {', '.join(dict.fromkeys(models))}" if len({*models}) < len(names) else metric, signature)
        for (metric, signature), models in models_by_signature.items()
    ]
