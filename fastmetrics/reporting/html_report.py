"""The page of a report: what was read, values with intervals, plots, slices, coverage, signatures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fastmetrics._core.grouping import grouped
from fastmetrics.reporting.class_tables import class_tables
from fastmetrics.reporting.html_page import (
    Section,
    facts_of_rows,
    facts_of_run,
    html_document,
    plots_body,
    signatures_body,
    write_page,
)
from fastmetrics.reporting.html_tables import (
    align_decimals,
    common_decimals,
    escape_text,
    html_table,
    metric_body,
    metric_header,
    name_html,
    number_cell,
    slice_cells,
    sortable_table,
    text_table_html,
)
from fastmetrics.reporting.interval_marks import bar_html, interval_mark, scale_range
from fastmetrics.reporting.metric_facts import best_positions
from fastmetrics.reporting.number_formats import (
    MINUS,
    counted,
    format_interval,
    format_value,
)
from fastmetrics.reporting.report_notes import (
    NO_REASON,
    Model,
    ModelRow,
    coverage_notes,
    general_reason,
    interval_remark,
    model_names,
    names_in_plots,
    resampling_fields,
    resampling_text,
    used_groups_text,
    used_rows_text,
)
from fastmetrics.reporting.report_table import (
    column_roles,
    row_count,
    rows_by_model,
    slice_keys,
    slice_text,
)
from fastmetrics.reporting.svg_plots import series_class
from fastmetrics.reporting.tables import MAX_TABLE_ROWS, ShownColumn

if TYPE_CHECKING:
    from fastmetrics.engine.results.report import Report
    from fastmetrics.engine.results.result import Result

DIGITS_OF_SLICES = 4


def report_html(report: Report, path: str | Path | None = None, *, title: str | None = None) -> str:
    """One page of HTML for a report, which is also written to `path` if there is one; it needs no network."""
    whole = [result for result in report.results if not result.slice]
    sliced = [result for result in report.results if result.slice]
    names = model_names(report.results, " against ")
    sections = []
    if whole or not sliced:
        sections.append(Section("summary", "Summary", summary_body(whole, names)))
    if report.pictures or report.missing_pictures:
        body = plots_body(report.pictures, report.missing_pictures, names_in_plots(report.results))
        sections.append(Section("curves", "Curves", body))
    if tables := class_tables(report):
        sections.append(Section("classes", "Classes", "".join(map(text_table_html, tables))))
    if sliced:
        sections.append(Section("slices", "Slices", slices_body(whole, sliced, names)))
    sections.append(Section("coverage", "Coverage", coverage_body(whole or sliced, names)))
    sections.append(Section("signatures", "Signatures", signatures_body(named_signatures(whole or sliced, names))))
    page = html_document(
        title or default_title(report),
        "fastmetrics · evaluation",
        [lead_of(report, len(names))],
        facts_of(report),
        sections,
        report.version,
        list(dict.fromkeys(result.metric for result in report.results)),
    )
    return write_page(page, path)


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
    colored = colored_names(names)
    decimals = {
        metric: common_decimals([one.value for one in of_metric], [one.interval for one in of_metric])
        for metric, of_metric in by_metric.items()
    }
    texts = iter(
        align_decimals(
            [format_value(one.value, decimals[metric]) for metric, of_metric in by_metric.items() for one in of_metric]
        )
    )
    columns = [ShownColumn("model" if several else "metric"), ShownColumn("value", "number")]
    columns += [ShownColumn("interval", "number"), ShownColumn("")] if with_interval else []
    reach = None if several else relative_reach(results)
    bodies = ""
    for metric, of_metric in by_metric.items():
        best = best_positions(metric, [one.value for one in of_metric]) if several else set()
        ends, end_texts = interval_scale(of_metric, decimals[metric], reach)
        rows = metric_header(metric, len(columns)) if several else ""
        for number, result in enumerate(of_metric):
            model = Model.of(result)
            tag = ' <span class="tag">best</span>' if number in best else ""
            header = f'<th scope="row" class="model">{colored[model]}{tag}</th>' if several else metric_header(metric)
            rows += f"<tr>{header}{value_cells(result, next(texts), decimals[metric], with_interval)}"
            if with_interval and not math.isnan(result.value):
                below = end_texts if number == len(of_metric) - 1 else ()
                color = series_class(list(names).index(model))
                rows += f'<td class="drawn">{interval_mark(result.value, result.interval, ends, color, below)}</td>'
            rows += "</tr>"
        bodies += metric_body(metric, rows)
    text = summary_caption(results, several, relative=reach is not None)
    return html_table(columns, bodies, text, "Summary, a table")


def colored_names(names: Mapping[Model, str]) -> dict[Model, str]:
    """The names as HTML, each after a dot in the color that the model has in the plots."""
    return {
        model: f'<span class="key {series_class(position)}" aria-hidden="true"></span>{name_html(name)}'
        for position, (model, name) in enumerate(names.items())
    }


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


def interval_scale(
    results: Sequence[Result], decimals: int | None, reach: float | None
) -> tuple[tuple[float, float] | None, list[str]]:
    """The ends of the scale of a metric's intervals, and their texts; in percent of the value if there is a reach."""
    if reach is None:
        ends = scale_range([number for one in results for number in (one.value, *(one.interval or ()))])
        return ends, [format_value(end, decimals) for end in ends or ()]
    value = results[0].value
    ends = None if math.isnan(value) or value == 0 else (value - reach * abs(value), value + reach * abs(value))
    return ends, [f"{sign}{100 * reach:.2g}%" for sign in (MINUS, "+")]


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
    value = number_cell(text, result.value, strong=True)
    if not with_interval:
        return value
    if result.interval is None:
        return f'{value}<td class="why">{escape_text(str(result.coverage.get("interval", "")))}</td>'
    return value + number_cell(format_interval(result.interval, decimals))


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
    whole_rows, slice_rows = rows_by_model(whole), rows_by_model(sliced)
    shown_rows = slice_rows[:MAX_TABLE_ROWS]
    table = SliceTable(slice_keys(sliced), names, whole_rows, slice_rows)
    whole_html = "".join(table.row(row, is_whole=True) for row in whole_rows)
    text = f"{counted(len({repr(result.slice) for result in sliced}), 'slice')}; the buttons above the columns sort."
    if whole_rows:
        text += " Bars show how much a slice is above (right) or below (left) all rows of the same model."
    if len(slice_rows) > len(shown_rows):
        text += f" {len(slice_rows) - len(shown_rows):,} more rows are in report.to_json()."
    bodies = f"<tbody>{whole_html}{''.join(map(table.row, shown_rows))}</tbody>"
    n_staying = len(table.keys) + (len(names) > 1)
    html = sortable_table(table.columns(), bodies, len(shown_rows), text, "Slices, a table", n_staying)
    return html + table.footnotes.html()


class SliceTable:
    """The table of slices: its columns, the decimals of its metrics, and the scales of its bars."""

    def __init__(
        self, keys: Sequence[str], names: Mapping[Model, str], whole: Sequence[ModelRow], rows: Sequence[ModelRow]
    ) -> None:
        self.keys, self.names = keys, colored_names(names)
        self.metrics = list(dict.fromkeys(metric for row in rows for metric in row))
        self.whole_values = {
            (Model.of(own), own.metric): own.value
            for row in whole
            for own in row.values()
            if math.isfinite(own.value)
        }
        self.footnotes = Footnotes()
        counts = list(map(row_count, rows))
        self.has_counts = any(count is not None for count in counts)
        self.has_positives = any(result.positives is not None for row in rows for result in row.values())
        self.max_count = max((count or 0 for count in counts), default=0)
        self.decimals = {
            metric: common_decimals(
                [row[metric].value for row in (*rows, *whole) if metric in row], digits=DIGITS_OF_SLICES
            )
            for metric in self.metrics
        }
        self.reach = {metric: self.longest_bar(metric, rows) for metric in self.metrics}

    def longest_bar(self, metric: str, rows: Sequence[ModelRow]) -> float:
        """The greatest distance between a slice and all rows; without a value of all rows, the greatest value."""
        results = [row[metric] for row in rows if metric in row and math.isfinite(row[metric].value)]
        return max((abs(own.value - (self.value_of_all_rows(own) or 0.0)) for own in results), default=0.0)

    def value_of_all_rows(self, result: Result) -> float | None:
        """The same metric over all rows; None if it is undefined."""
        return self.whole_values.get((Model.of(result), result.metric))

    def columns(self) -> list[ShownColumn]:
        names = [*self.keys, *(["model"] if len(self.names) > 1 else [])]
        counts = [*(["rows"] if self.has_counts else []), *(["positives"] if self.has_positives else [])]
        return [*map(ShownColumn, names), *(ShownColumn(name, "number") for name in (*counts, *self.metrics))]

    def row(self, results: ModelRow, *, is_whole: bool = False) -> str:
        first = next(iter(results.values()))
        if is_whole:
            cells = f'<th scope="row" colspan="{len(self.keys)}">all rows</th>'
        else:
            texts = [slice_text(first, key) for key in self.keys]
            cells = slice_cells(texts, [first.slice.get(key) for key in self.keys])
        if len(self.names) > 1:
            cells += f'<td class="model">{self.names[Model.of(first)]}</td>'
        if self.has_counts:
            count = row_count(results)
            bar = "" if count is None or is_whole else bar_html(count, None, self.max_count)
            cells += number_cell("" if count is None else f"{count:,}", count, bar=bar, css_class="n bars")
        if self.has_positives:
            cells += number_cell("" if first.positives is None else f"{first.positives:,}", first.positives)
        cells += "".join(self.cell(results.get(metric), metric, is_whole=is_whole) for metric in self.metrics)
        return f'<tr class="whole">{cells}</tr>' if is_whole else f"<tr>{cells}</tr>"

    def cell(self, result: Result | None, metric: str, *, is_whole: bool) -> str:
        if result is None:
            return number_cell("")
        if math.isnan(result.value):
            footnote = self.footnotes.mark(result.reason or NO_REASON)
            return number_cell(f"undefined{footnote}", css_class="n undefined")
        decimals = self.decimals[metric]
        interval = format_interval(result.interval, decimals) if result.interval else ""
        bar = "" if is_whole else bar_html(result.value, self.value_of_all_rows(result), self.reach[metric])
        text = format_value(result.value, decimals)
        return number_cell(text, result.value, below=interval, bar=bar, css_class="n bars")


# --------------------------------------------------------------------------------------------- coverage and signatures


def coverage_body(results: Sequence[Result], names: Mapping[Model, str]) -> str:
    """What values were computed from and what was left out. Metrics and models with the same coverage share a row."""
    if not results:
        return "<p>Nothing was computed, so nothing was left out.</p>"
    rows = ""
    for lines, covered in grouped((tuple(coverage_lines(result)), result) for result in results).items():
        models = dict.fromkeys(names[Model.of(result)] for result in covered)
        subset = ", ".join(map(name_html, models))
        subset_html = f'<span class="what">{subset}</span>' if len(models) < len(names) else ""
        items = "".join(f"<li>{escape_text(line)}</li>" for line in lines) or "<li>all rows</li>"
        metric_list = escape_text(", ".join(dict.fromkeys(result.metric for result in covered)))
        rows += (
            f'<tr><th scope="row" class="metric"><span class="name">{metric_list}</span>{subset_html}</th>'
            f'<td><ul class="stands">{items}</ul></td></tr>'
        )
    text = "The rows and groups that a value was computed from, and why others were left out."
    columns = list(map(ShownColumn, ("metric", "computed from")))
    return html_table(columns, f"<tbody>{rows}</tbody>", text, "Coverage, a table")


def coverage_lines(result: Result) -> list[str]:
    coverage, groups = result.coverage, used_groups_text(result.coverage)
    used = [used_rows_text(coverage), f"{groups} used" if groups else "", interval_remark(result)]
    return [*filter(None, used), *coverage_notes(coverage, {"positives"})]


def named_signatures(results: Sequence[Result], names: Mapping[Model, str]) -> list[tuple[str, str]]:
    """Metrics with their signatures. Models of the same signature share an entry."""
    models_by_signature = grouped(
        ((result.metric, result.signature), names[Model.of(result)]) for result in results
    )
    return [
        (f"{metric} · {', '.join(dict.fromkeys(models))}" if len({*models}) < len(names) else metric, signature)
        for (metric, signature), models in models_by_signature.items()
    ]
