"""The page of a comparison: differences with their intervals around zero, p-values, units won and lost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from fastmetrics._core.comparison.comparison import Comparison, Difference
from fastmetrics._core.grouping import grouped
from fastmetrics.reporting.comparison_text import slice_value
from fastmetrics.reporting.html_parts import (
    MIN_TALL_ROWS,
    Section,
    caption,
    common_decimals,
    exact_number,
    facts_of_rows,
    facts_of_run,
    header_row,
    html_document,
    metric_header,
    name_html,
    scroll_box,
    signatures_body,
    sort_attribute,
    sortable_table,
    verdict,
    write_page,
)
from fastmetrics.reporting.interval_marks import bar_html, scale_range, whisker_svg
from fastmetrics.reporting.number_formats import (
    counted,
    decimals_for,
    format_pvalue,
    format_signed,
    format_value,
)
from fastmetrics.reporting.report_text import MAX_TABLE_ROWS
from fastmetrics.reporting.svg_plots import coordinate, escape_text, series_class

DIGITS = 4  # of the greatest difference
WON_TIED_LOST = "won · tied · lost"

Columns = list[tuple[str, bool]]  # names, and whether a column holds numbers


def comparison_html(comparison: Comparison, path: str | Path | None = None, *, title: str | None = None) -> str:
    """One page of HTML for a comparison, which is also written to `path` if there is one; it needs no network."""
    whole = [one for one in comparison.differences if not one.slice]
    sliced = [one for one in comparison.differences if one.slice]
    sections = []
    if whole or not sliced:
        sections.append(Section("differences", "Differences", differences_body(comparison, whole)))
    if sliced:
        sections.append(Section("slices", "Slices", slices_body(comparison, sliced)))
    sections.append(Section("methods", "Methods", methods_body(comparison)))
    page = html_document(
        title or default_title(comparison),
        "fastmetrics · comparison",
        lead_of(comparison),
        facts_of(comparison),
        sections,
        comparison.version,
    )
    return write_page(page, path)


def default_title(comparison: Comparison) -> str:
    baselines = dict.fromkeys(one.baseline for one in comparison.differences)
    others = dict.fromkeys(one.other for one in comparison.differences)
    return f"{', '.join(others)} compared with {', '.join(baselines)}" if others else "Comparison"


def lead_of(comparison: Comparison) -> str:
    if not comparison.differences:
        return "Nothing was compared."
    n_significant = sum(map(comparison.is_significant, comparison.differences))
    threshold = f"{round(1 - (comparison.level or 0.95), 12):g}"
    corrected = f", corrected for {len(comparison)} comparisons" if comparison.correction != "none" else ""
    return (
        f"{n_significant} of {counted(len(comparison), 'difference')} {'is' if n_significant == 1 else 'are'} more "
        f"than chance would explain: p below {threshold}{corrected}.{replicate_warning(comparison)}"
    )


def replicate_warning(comparison: Comparison) -> str:
    """A sentence about differences that are not significant only because there are too few replicates."""
    replicates = [n for one in comparison.differences if (n := comparison.too_few_replicates(one))]
    if not replicates:
        return ""
    return (
        f" {counted(len(replicates), 'other')} {'has' if len(replicates) == 1 else 'have'} the least p that "
        f"{max(replicates):,} replicates can give: ask for more."
    )


def facts_of(comparison: Comparison) -> list[tuple[str, str]]:
    facts = facts_of_rows(comparison)
    if comparison.unit:
        facts.append(("paired by", comparison.unit))
    if comparison.level is not None:
        facts.append(("intervals", f"{comparison.level * 100:.10g}%"))
    return [*facts, ("correction", comparison.correction), *facts_of_run(comparison)]


# ---------------------------------------------------------------------------------------------------- the forest plot


def differences_body(comparison: Comparison, differences: Sequence[Difference]) -> str:
    """A few rows for every metric: values, difference, its interval around zero, p-values, units won and lost."""
    if not differences:
        return "<p>Nothing was compared.</p>"
    by_metric = grouped((one.metric, one) for one in differences)
    columns = difference_columns(comparison, differences)
    is_one_pair = only_pair(differences) is not None
    bodies = ""
    for metric, of_metric in by_metric.items():
        scale = DifferenceScale(of_metric)
        rows = ""
        for one in of_metric:
            tag = verdict_tag(comparison, one)
            head = (tag or "–") if is_one_pair else f"{pair_name(one, differences)} {tag}"
            rows += f'<tr><th scope="row" class="model">{head}</th>{number_cells(comparison, one, scale)}'
            rows += f'<td class="forest">{scale.mark(one, is_last=one is of_metric[-1])}</td>'
            rows += f"{pvalue_cell(comparison, one)}"
            rows += f"{win_cell(one, columns)}</tr>{reason_row(one, len(columns))}"
        bodies += f'<tbody class="group">{metric_header(metric, len(columns))}{rows}</tbody>'
    text = "Differences are the other model minus the baseline; the dashed line is no difference."
    if has_wins(columns):
        units = f"values of {comparison.unit}" if comparison.unit else "units"
        text += f" Won, tied and lost: {units} in which the other model is better, equal, worse."
    table = f"<table>{caption(text)}{header_row(columns)}{bodies}</table>"
    return scroll_box(table, "Differences, a table")


def only_pair(differences: Sequence[Difference]) -> tuple[str, str] | None:
    """The two models if there are only two, of one label and task; otherwise None."""
    pairs = {(one.baseline, one.other, one.label, one.task) for one in differences}
    return next(iter(pairs))[:2] if len(pairs) == 1 else None


def difference_columns(comparison: Comparison, differences: Sequence[Difference]) -> Columns:
    """The columns of the table."""
    pair = only_pair(differences)
    columns = [("verdict" if pair else "models", False), *((name, True) for name in pair or ("baseline", "other"))]
    p = "p" if comparison.correction == "none" else "p, adjusted"
    columns += [(difference_name(comparison), True), ("", False), (p, True)]
    columns += [(WON_TIED_LOST, True)] if any(one.won is not None for one in differences) else []
    return columns


def has_wins(columns: Columns) -> bool:
    return (WON_TIED_LOST, True) in columns


def difference_name(comparison: Comparison) -> str:
    return "difference" if comparison.level is None else f"difference, {comparison.level * 100:.10g}% interval"


def pair_name(one: Difference, differences: Sequence[Difference]) -> str:
    label = f" against {name_html(one.label)}" if one.label and len({other.label for other in differences}) > 1 else ""
    task = "" if one.task is None else f"{name_html(one.task)}: "
    return f"{task}{name_html(one.other)} − {name_html(one.baseline)}{label}"


class DifferenceScale:
    """The scale and the decimals of one metric's differences."""

    def __init__(self, differences: Sequence[Difference]) -> None:
        ends = [end for one in differences for end in (one.difference, *(one.interval or ()))]
        self.ends = scale_range(ends, around_zero=True)
        self.value_decimals = common_decimals([value for one in differences for value in (one.value_a, one.value_b)])
        self.decimals = decimals_for(ends, DIGITS)

    def mark(self, one: Difference, *, is_last: bool) -> str:
        """The interval of a difference; below the last one also the ends of the scale."""
        if self.ends is None or math.isnan(one.difference):
            return ""
        mark = whisker_svg(one.difference, one.interval, self.ends, series_class(0), mark_zero=True)
        if not is_last:
            return mark
        ends = "".join(f"<span>{format_signed(end, self.decimals)}</span>" for end in self.ends)
        return f'{mark}<span class="ends" aria-hidden="true">{ends}</span>'


def number_cells(comparison: Comparison, one: Difference, scale: DifferenceScale) -> str:
    """Both values, the difference and its interval."""
    cells = "".join(
        f'<td class="n">{exact_number(value, format_value(value, scale.value_decimals))}</td>'
        for value in (one.value_a, one.value_b)
    )
    css_class = "value" if comparison.is_significant(one) else ""
    text = exact_number(one.difference, format_signed(one.difference, scale.decimals))
    return f'{cells}<td class="n"><span class="{css_class}">{text}</span>{interval_line(one, scale)}</td>'


def interval_line(one: Difference, scale: DifferenceScale) -> str:
    """The interval on a line below the difference."""
    if one.interval is None:
        return ""
    return f'<br><span class="why">{" to ".join(format_signed(end, scale.decimals) for end in one.interval)}</span>'


def pvalue_cell(comparison: Comparison, one: Difference) -> str:
    """The p-value, and below it the adjusted one if there is a correction."""
    adjusted = format_pvalue(one.adjusted_pvalue) if comparison.correction != "none" else ""
    below = f'<br><span class="why">{adjusted}</span>' if adjusted else ""
    return f'<td class="n">{format_pvalue(one.pvalue)}{below}</td>'


def verdict_tag(comparison: Comparison, one: Difference) -> str:
    if math.isnan(one.adjusted_pvalue):
        return ""
    if not comparison.is_significant(one):
        return '<span class="tag plain">not clear</span>'
    text = verdict(one.metric, one.value_a, one.value_b)
    css_class = {"better": "tag", "worse": "tag worse", "": "tag plain"}[text]
    return f'<span class="{css_class}">{text or "differs"}</span>'


def win_cell(one: Difference, columns: Columns) -> str:
    """Units won, tied and lost as text and as a bar."""
    if not has_wins(columns):
        return ""
    if one.won is None or one.lost is None or one.tied is None:
        return '<td class="n why">–</td>'
    text = f"{one.won:,} · {one.tied:,} · {one.lost:,}"
    n_units = one.won + one.lost + one.tied
    if not n_units:
        return f'<td class="n">{text}</td>'
    counts = (("won", one.won), ("tied", one.tied), ("lost", one.lost))
    bars = "".join(f'<i class="{name}" style="width:{coordinate(100 * n / n_units)}%"></i>' for name, n in counts if n)
    return f'<td class="n">{text}<span class="fate" aria-hidden="true">{bars}</span></td>'


def reason_row(one: Difference, n_columns: int) -> str:
    if not one.reason:
        return ""
    return f'<tr><td class="why" colspan="{n_columns}"><span class="wide">{escape_text(one.reason)}</span></td></tr>'


# ---------------------------------------------------------------------------------------------- slices and methods


def slices_body(comparison: Comparison, differences: Sequence[Difference]) -> str:
    """A row for every slice, metric and pair of models. Buttons in the header sort the rows."""
    keys = list(dict.fromkeys(key for one in differences for key in one.slice))
    by_metric = grouped((one.metric, one) for one in differences)
    scales = {metric: DifferenceScale(of_metric) for metric, of_metric in by_metric.items()}
    shown = differences[:MAX_TABLE_ROWS]
    rows = "".join(slice_row(comparison, one, keys, scales, differences) for one in shown)
    pair = only_pair(differences)
    columns = [(key, False) for key in (*keys, "metric", *([] if pair else ["models"]))]
    columns += [(name, True) for name in (*(pair or ("baseline", "other")), difference_name(comparison), "p")]
    columns += [("adjusted p", True)] if comparison.correction != "none" else []
    columns.append(("verdict", False))
    text = f"{counted(len(differences), 'difference')} inside slices; the buttons above the columns sort. "
    text += "Bars show differences, of each metric on a scale of its own, to the right where the other model is higher."
    if len(differences) > len(shown):
        text += f" {len(differences) - len(shown):,} more rows are in comparison.to_json()."
    is_tall = len(shown) > MIN_TALL_ROWS
    return sortable_table(columns, f"<tbody>{rows}</tbody>", text, "Slices, a table", is_tall=is_tall)


def slice_row(
    comparison: Comparison,
    one: Difference,
    keys: Sequence[str],
    scales: Mapping[str, DifferenceScale],
    differences: Sequence[Difference],
) -> str:
    scale = scales[one.metric]
    cells = "".join(
        f'<th scope="row"{sort_attribute(one.slice.get(key))}>{name_html(slice_value(one, key))}</th>'
        for key in keys
    )
    cells += f"<td>{name_html(one.metric)}</td>"
    cells += "" if only_pair(differences) else f"<td>{pair_name(one, differences)}</td>"
    for value in (one.value_a, one.value_b):
        cells += f'<td class="n" data-key="{data_key(value)}">{format_value(value, scale.value_decimals)}</td>'
    greatest = scale.ends[1] if scale.ends is not None else 0.0
    cells += f'<td class="n bars" data-key="{data_key(one.difference)}">{format_signed(one.difference, scale.decimals)}'
    cells += f"{interval_line(one, scale)}{bar_html(one.difference, 0.0, greatest)}</td>"
    pvalues = [one.pvalue, *([one.adjusted_pvalue] if comparison.correction != "none" else [])]
    cells += "".join(f'<td class="n" data-key="{data_key(p)}">{format_pvalue(p)}</td>' for p in pvalues)
    reason = f'<span class="why">{escape_text(one.reason)}</span>' if one.reason else ""
    return f"<tr>{cells}<td>{verdict_tag(comparison, one)}{reason}</td></tr>"


def data_key(value: float) -> str:
    """A number that the script sorts by; empty for NaN."""
    return "" if math.isnan(value) else repr(value)


def methods_body(comparison: Comparison) -> str:
    """How the numbers were computed, and the signatures."""
    by_method = grouped((one.method or "no test", one.metric) for one in comparison.differences)
    items = [f"{', '.join(dict.fromkeys(metrics))}: {method}" for method, metrics in by_method.items()]
    items += comparison.notes
    items.append(
        f"p-values are adjusted for {counted(len(comparison), 'comparison')}: {comparison.correction}"
        if comparison.correction != "none"
        else "p-values are not adjusted for the number of comparisons"
    )
    list_items = "".join(f"<li>{escape_text(item)}</li>" for item in items)
    signatures = list(
        dict.fromkeys((one.metric, one.signature) for one in comparison.differences if one.signature and not one.slice)
    )
    return f'<ul class="stands">{list_items}</ul>{signatures_body(signatures) if signatures else ""}'
