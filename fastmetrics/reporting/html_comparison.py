"""The page of a comparison: differences with their intervals around zero, p-values, units won and lost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from fastmetrics._core.comparison.comparison import Comparison
from fastmetrics._core.comparison.difference import Difference
from fastmetrics._core.grouping import grouped
from fastmetrics._core.inference.verdicts import WORSE
from fastmetrics.reporting.comparison_answer import answer_lines
from fastmetrics.reporting.comparison_table import (
    EMPHASIZED,
    correction_text,
    level_text,
    shown_differences,
)
from fastmetrics.reporting.html_page import (
    Section,
    facts_of_rows,
    facts_of_run,
    html_document,
    signatures_body,
    write_page,
)
from fastmetrics.reporting.html_tables import (
    common_decimals,
    escape_text,
    html_table,
    metric_body,
    metric_header,
    name_html,
    number_cell,
    slice_cells,
    sortable_table,
)
from fastmetrics.reporting.interval_marks import Shape, interval_mark, scale_range
from fastmetrics.reporting.number_formats import (
    counted,
    decimals_for,
    format_log_pvalue,
    format_pvalue,
    format_signed,
    format_value,
)
from fastmetrics.reporting.report_table import slice_keys, slice_text
from fastmetrics.reporting.svg_plots import coordinate
from fastmetrics.reporting.tables import MAX_TABLE_ROWS, ShownColumn

DIGITS = 4  # of the greatest difference
# The class and the shape of the marks of intervals.
MARKS: dict[str, tuple[str, Shape]] = {"better": ("good", "up"), WORSE: ("bad", "down")}
WON_TIED_LOST = "won · tied · lost"


def comparison_html(comparison: Comparison, path: str | Path | None = None, *, title: str | None = None) -> str:
    """One page of HTML for a comparison, which is also written to `path` if there is one; it needs no network."""
    shown = shown_differences(comparison)
    whole, sliced = ([one for one in shown if bool(one.slice) is of_slices] for of_slices in (False, True))
    sections = []
    if whole or not sliced:
        sections.append(Section("differences", "Differences", differences_body(comparison, whole)))
    if sliced:
        sections.append(Section("slices", "Slices", slices_body(comparison, sliced)))
    sections.append(Section("methods", "Methods", methods_body(comparison)))
    page = html_document(
        title or default_title(comparison),
        "fastmetrics · comparison",
        answer_lines(comparison) or ["Nothing was compared."],
        facts_of(comparison),
        sections,
        comparison.version,
        list(dict.fromkeys(one.metric for one in comparison.differences)),
    )
    return write_page(page, path)


def default_title(comparison: Comparison) -> str:
    baselines = dict.fromkeys(one.baseline for one in comparison.differences)
    others = dict.fromkeys(one.other for one in comparison.differences)
    return f"{', '.join(others)} compared with {', '.join(baselines)}" if others else "Comparison"


def facts_of(comparison: Comparison) -> list[tuple[str, str]]:
    facts = facts_of_rows(comparison)
    if comparison.unit:
        facts.append(("paired by", comparison.unit))
    if comparison.level is not None:
        facts.append(("level", f"{comparison.level * 100:.10g}%"))
    return [*facts, ("verdicts", correction_text(comparison)), *facts_of_run(comparison)]


# ---------------------------------------------------------------------------------------------------- the forest plot


def differences_body(comparison: Comparison, differences: Sequence[Difference]) -> str:
    """A few rows for every metric: values, difference, its interval around zero, p-values, units won and lost."""
    if not differences:
        return "<p>Nothing was compared.</p>"
    with_wins = any(one.won is not None for one in differences)
    pair, several_labels = only_pair(differences), has_several_labels(differences)
    columns = [ShownColumn("verdict" if pair else "models"), *value_columns(pair), ShownColumn("")]
    columns.append(ShownColumn("p" if comparison.correction == "none" else "p, adjusted", "number"))
    columns += [ShownColumn(WON_TIED_LOST, "number")] if with_wins else []
    bodies = ""
    for metric, of_metric in grouped((one.metric, one) for one in differences).items():
        scale = DifferenceScale(of_metric)
        rows = ""
        for one in of_metric:
            tag = verdict_tag(one)
            head = tag if pair else f"{pair_name(one, several_labels)} {tag}"
            rows += f'<tr><th scope="row" class="model">{head}</th>{scale.value_cells(one)}'
            rows += number_cell(
                format_signed(one.change, scale.decimals),
                one.change,
                below=scale.interval_text(one),
                strong=one.verdict in EMPHASIZED,
            )
            rows += f'<td class="forest">{scale.mark(one, is_last=one is of_metric[-1])}</td>'
            adjusted = format_pvalue(one.adjusted_pvalue).replace("e-", "e−") if comparison.correction != "none" else ""
            rows += number_cell(pvalue_text(one), one.log_pvalue, below=adjusted)
            rows += f"{win_cell(one) if with_wins else ''}</tr>{reason_row(one, len(columns))}"
        bodies += metric_body(metric, metric_header(metric, len(columns)) + rows)
    text = (
        "Differences are the other model minus the baseline, or those of the distances from the best value where that "
        "is 0 or 1; the dashed line is no difference. An interval at its level leaves out 0 exactly if a difference is "
        "shown."
    )
    if with_wins:
        units = f"values of {comparison.unit}" if comparison.unit else "units"
        text += f" Won, tied and lost: {units} in which the other model is better, equal, worse."
    return html_table(columns, bodies, text, "Differences, a table")


def only_pair(differences: Sequence[Difference]) -> tuple[str, str] | None:
    """The two models if there are only two, of one label and task; otherwise None."""
    pairs = {(one.baseline, one.other, one.label, one.task) for one in differences}
    return next(iter(pairs))[:2] if len(pairs) == 1 else None


def value_columns(pair: tuple[str, str] | None) -> list[ShownColumn]:
    """The columns of both values, and of the difference with its interval."""
    return [ShownColumn(name, "number") for name in (*(pair or ("baseline", "other")), "difference, interval")]


def has_several_labels(differences: Sequence[Difference]) -> bool:
    return len({one.label for one in differences}) > 1


def pair_name(one: Difference, several_labels: bool) -> str:
    label = f" against {name_html(one.label)}" if one.label and several_labels else ""
    task = "" if one.task is None else f"{name_html(one.task)}: "
    return f"{task}{name_html(one.other)} − {name_html(one.baseline)}{label}"


class DifferenceScale:
    """The scale and the decimals of one metric's differences."""

    def __init__(self, differences: Sequence[Difference]) -> None:
        ends = [end for one in differences for end in (one.change, *(one.verdict_interval or ()))]
        self.ends = scale_range(ends, around_zero=True)
        values = [value for one in differences for value in (one.baseline_value, one.other_value)]
        self.value_decimals = common_decimals(values)
        self.decimals = decimals_for(ends, DIGITS)

    def mark(self, one: Difference, *, is_last: bool) -> str:
        """The interval of a difference; below the last one also the ends of the scale."""
        texts = [format_signed(end, self.decimals) for end in self.ends or () if is_last]
        css_class, shape = MARKS.get(one.verdict, ("unclear", "circle"))
        return interval_mark(one.change, one.verdict_interval, self.ends, css_class, texts, mark_zero=True, shape=shape)

    def value_cells(self, one: Difference) -> str:
        values = (one.baseline_value, one.other_value)
        return "".join(number_cell(format_value(value, self.value_decimals), value) for value in values)

    def interval_text(self, one: Difference) -> str:
        ends = " to ".join(format_signed(end, self.decimals) for end in one.verdict_interval or ())
        return f"{ends}, {level_text(one)}" if ends else ""


def verdict_tag(one: Difference) -> str:
    css_class = {"better": "tag better", WORSE: "tag worse"}.get(one.verdict, "tag plain")
    return f'<span class="{css_class}">{one.verdict}</span>'


def pvalue_text(one: Difference) -> str:
    return format_log_pvalue(one.pvalue, one.log_pvalue).replace("e-", "e−")


def win_cell(one: Difference) -> str:
    """Units won, tied and lost as text and as a bar."""
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
    """For every metric a row for every slice and pair of models. Buttons in the header sort the rows of each metric."""
    keys = slice_keys(differences)
    shown = differences[:MAX_TABLE_ROWS]
    scales = {metric: DifferenceScale(own) for metric, own in grouped((one.metric, one) for one in differences).items()}
    pair, several_labels = only_pair(differences), has_several_labels(differences)
    columns = [*map(ShownColumn, (*keys, "verdict", *([] if pair else ["models"]))), *value_columns(pair)]
    pvalue = "p" if comparison.correction == "none" else "p, adjusted"
    columns += [ShownColumn("interval"), *(ShownColumn(name, "number") for name in (pvalue, "detectable"))]
    bodies = ""
    for metric, of_metric in grouped((one.metric, one) for one in shown).items():
        names = ["" if pair else f"<td>{pair_name(one, several_labels)}</td>" for one in of_metric]
        rows = [
            slice_row(comparison, one, keys, name, scales[metric]) for one, name in zip(of_metric, names, strict=True)
        ]
        bodies += metric_body(metric, metric_header(metric, len(columns)) + "".join(rows))
    text = f"{counted(len(differences), 'difference')} inside slices, by metric; the buttons above the columns sort "
    text += "the rows of each metric. Intervals are drawn around no difference, of each metric on a scale of its own."
    if len(differences) > len(shown):
        text += f" {len(differences) - len(shown):,} more rows are in comparison.to_json()."
    return sortable_table(columns, bodies, len(shown), text, "Slices, a table", len(keys))


def slice_row(comparison: Comparison, one: Difference, keys: Sequence[str], name: str, scale: DifferenceScale) -> str:
    cells = slice_cells([slice_text(one, key) for key in keys], [one.slice.get(key) for key in keys])
    reason = f' <span class="why">{escape_text(one.reason)}</span>' if one.reason else ""
    cells += f"<td>{verdict_tag(one)}{reason}</td>{name}{scale.value_cells(one)}"
    text = format_signed(one.change, scale.decimals)
    cells += number_cell(text, one.change, below=scale.interval_text(one))
    cells += f'<td class="forest" data-key="{one.change if math.isfinite(one.change) else ""}">'
    cells += f"{scale.mark(one, is_last=False)}</td>"
    adjusted = format_pvalue(one.adjusted_pvalue).replace("e-", "e−") if comparison.correction != "none" else ""
    cells += number_cell(pvalue_text(one), one.log_pvalue, below=adjusted)
    size = one.detectable
    cells += number_cell("" if size is None else format_value(size, scale.decimals), math.nan if size is None else size)
    return f"<tr>{cells}</tr>"


def methods_body(comparison: Comparison) -> str:
    """How the numbers were computed, and the signatures."""
    by_method = grouped((one.method or "no test", one.metric) for one in comparison.differences)
    items = [f"{', '.join(dict.fromkeys(metrics))}: {method}" for method, metrics in by_method.items()]
    items += comparison.notes
    items.append(f"differences are {correction_text(comparison)}")
    items.append("detectable: the least difference that four of five such samples would show, at the level of the line")
    list_items = "".join(f"<li>{escape_text(item)}</li>" for item in items)
    signatures = list(
        dict.fromkeys((one.metric, one.signature) for one in comparison.differences if one.signature and not one.slice)
    )
    return f'<ul class="stands">{list_items}</ul>{signatures_body(signatures) if signatures else ""}'
