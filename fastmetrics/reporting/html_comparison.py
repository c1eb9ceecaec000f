"""The page of a comparison: each difference with its interval about zero, p-values, units won and lost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from fastmetrics._core.comparison import Comparison, Difference
from fastmetrics.drawing.svg import clean, color, number
from fastmetrics.drawing.ticks import decimals_for
from fastmetrics.drawing.whiskers import bar, scale_of, whiskers
from fastmetrics.engine.page import (
    TALL,
    Section,
    box,
    caption,
    digits_of,
    document,
    exact,
    head_row,
    metric_head,
    named,
    p_text,
    signatures_body,
    signed,
    sort_key,
    sortable,
    value_text,
    verdict,
    write_page,
)
from fastmetrics.engine.table import ALL_ROWS, MAX_DRAWN_ROWS, counted, counts_text

DIGITS = 4  # of the greatest difference


def comparison_html(comparison: Comparison, path: str | Path | None = None, *, title: str | None = None) -> str:
    """The page, and where there is a `path` a file with it."""
    page = comparison_page(comparison, title)
    if path is not None:
        write_page(page, path)
    return page


def comparison_page(comparison: Comparison, title: str | None = None) -> str:
    """One page of HTML for a comparison; it asks for nothing from the network."""
    whole = [one for one in comparison.differences if not one.slice]
    sliced = [one for one in comparison.differences if one.slice]
    sections = []
    if whole or not sliced:
        sections.append(Section("differences", "Differences", differences_body(comparison, whole)))
    if sliced:
        sections.append(Section("slices", "Slices", slices_body(comparison, sliced)))
    sections.append(Section("methods", "Methods", methods_body(comparison)))
    return document(
        title or default_title(comparison),
        "fastmetrics · comparison",
        lead_of(comparison),
        facts_of(comparison),
        sections,
        comparison.version,
    )


def default_title(comparison: Comparison) -> str:
    baselines = dict.fromkeys(one.baseline for one in comparison.differences)
    others = dict.fromkeys(one.other for one in comparison.differences)
    return f"{', '.join(others)} compared with {', '.join(baselines)}" if others else "Comparison"


def lead_of(comparison: Comparison) -> str:
    if not comparison.differences:
        return "Nothing was compared."
    clear = sum(map(comparison.is_significant, comparison.differences))
    limit = f"{round(1 - (comparison.level or 0.95), 12):g}"
    corrected = f", corrected for {len(comparison)} comparisons" if comparison.correction != "none" else ""
    return (
        f"{clear} of {counted(len(comparison), 'difference')} {'is' if clear == 1 else 'are'} more than chance would "
        f"explain: p below {limit}{corrected}.{limits_of(comparison)}"
    )


def limits_of(comparison: Comparison) -> str:
    """Differences that are not significant only because so few replicates give no lesser p."""
    replicates = [own for one in comparison.differences if (own := comparison.too_few_replicates(one))]
    if not replicates:
        return ""
    return (
        f" {counted(len(replicates), 'other')} {'has' if len(replicates) == 1 else 'have'} the least p that "
        f"{max(replicates):,} replicates can give: ask for more."
    )


def facts_of(comparison: Comparison) -> list[tuple[str, str]]:
    facts = []
    if comparison.rows is not None:
        dropped = {reason: n for reason, n in comparison.dropped.items() if n}
        facts += [
            ("rows read", f"{comparison.rows:,}"),
            ("dropped", f"{sum(dropped.values()):,} ({counts_text(dropped)})" if dropped else "none"),
        ]
    facts += [
        (role, columns if isinstance(columns, str) else ", ".join(columns))
        for role, columns in comparison.columns.items()
        if columns and role != "unit"
    ]
    if comparison.unit:
        facts.append(("paired by", comparison.unit))
    if comparison.level is not None:
        facts.append(("intervals", f"{comparison.level * 100:.10g}%"))
    facts += [("correction", comparison.correction), ("version", comparison.version)]
    if comparison.seconds is not None:
        facts.append(("time", f"{comparison.seconds:.2f} s"))
    return facts


# ---------------------------------------------------------------------------------------------------- the forest plot


def differences_body(comparison: Comparison, differences: Sequence[Difference]) -> str:
    """A few rows for every metric: values, difference, its interval about zero, p-values, units won and lost."""
    if not differences:
        return "<p>Nothing was compared.</p>"
    metrics: dict[str, list[Difference]] = {}
    for one in differences:
        metrics.setdefault(one.metric, []).append(one)
    columns = columns_of(comparison, differences)
    alone = only_pair(differences) is not None
    bodies = ""
    for metric, of in metrics.items():
        own = Scale(of)
        rows = ""
        for one in of:
            tag = tag_of(comparison, one)
            head = (tag or "–") if alone else f"{name_of(one, differences)} {tag}"
            rows += f'<tr><th scope="row" class="model">{head}</th>{numbers(comparison, one, own)}'
            rows += f'<td class="forest">{own.drawn(one, last=one is of[-1])}</td>{chances(comparison, one)}'
            rows += f"{fates(one, columns)}</tr>{reason_row(one, len(columns))}"
        bodies += f'<tbody class="group">{metric_head(metric, len(columns))}{rows}</tbody>'
    said = "Differences are the other model minus the baseline; the dashed line is no difference."
    if any("won" in name for name, _ in columns):
        units = f"values of {comparison.unit}" if comparison.unit else "units"
        said += f" Won, tied and lost: {units} in which the other model is better, equal, worse."
    table = f"<table>{caption(said)}{head_row(columns)}{bodies}</table>"
    return box(table, "Differences, a table")


def only_pair(differences: Sequence[Difference]) -> tuple[str, str] | None:
    """The two models, where there are no others and one label."""
    pairs = {(one.baseline, one.other, one.label) for one in differences}
    return next(iter(pairs))[:2] if len(pairs) == 1 else None


def columns_of(comparison: Comparison, differences: Sequence[Difference]) -> list[tuple[str, bool]]:
    """The columns of the table, and which of them hold numbers."""
    pair = only_pair(differences)
    columns = [("verdict" if pair else "models", False), *((name, True) for name in pair or ("baseline", "other"))]
    columns += [(with_interval(comparison), True), ("", False), (p_name(comparison), True)]
    columns += [("won · tied · lost", True)] if any(one.won is not None for one in differences) else []
    return columns


def with_interval(comparison: Comparison) -> str:
    return "difference" if comparison.level is None else f"difference, {comparison.level * 100:.10g}% interval"


def p_name(comparison: Comparison) -> str:
    return "p" if comparison.correction == "none" else "p, adjusted"


def name_of(one: Difference, differences: Sequence[Difference]) -> str:
    label = f" against {named(one.label)}" if one.label and len({other.label for other in differences}) > 1 else ""
    return f"{named(one.other)} − {named(one.baseline)}{label}"


class Scale:
    """What the differences of one metric are drawn on and rounded to."""

    def __init__(self, differences: Sequence[Difference]) -> None:
        ends = [end for one in differences for end in (one.difference, *(one.interval or ()))]
        self.ends = scale_of(ends, zero=True)
        self.values = digits_of([value for one in differences for value in (one.value_a, one.value_b)])
        self.decimals = decimals_for(ends, DIGITS)

    def drawn(self, one: Difference, *, last: bool) -> str:
        if self.ends is None or math.isnan(one.difference):
            return ""
        marks = whiskers(one.difference, one.interval, self.ends, color(0), zero=True)
        if not last:
            return marks
        ends = "".join(f"<span>{signed(end, self.decimals)}</span>" for end in self.ends)
        return f'{marks}<span class="ends" aria-hidden="true">{ends}</span>'


def numbers(comparison: Comparison, one: Difference, own: Scale) -> str:
    """Both values, the difference and its interval."""
    cells = "".join(
        f'<td class="n">{exact(value, value_text(value, own.values))}</td>' for value in (one.value_a, one.value_b)
    )
    bold = " value" if comparison.is_significant(one) else ""
    difference = f'<span class="{bold.strip()}">{exact(one.difference, signed(one.difference, own.decimals))}</span>'
    return f'{cells}<td class="n">{difference}{interval_of(one, own)}</td>'


def interval_of(one: Difference, own: Scale) -> str:
    """Below the difference."""
    if one.interval is None:
        return ""
    return f'<br><span class="why">{" to ".join(signed(end, own.decimals) for end in one.interval)}</span>'


def chances(comparison: Comparison, one: Difference) -> str:
    """The p-value; where it is adjusted, that below."""
    adjusted = p_text(one.adjusted_pvalue) if comparison.correction != "none" else ""
    below = f'<br><span class="why">{adjusted}</span>' if adjusted else ""
    return f'<td class="n">{p_text(one.pvalue)}{below}</td>'


def tag_of(comparison: Comparison, one: Difference) -> str:
    if math.isnan(one.adjusted_pvalue):
        return ""
    if not comparison.is_significant(one):
        return '<span class="tag plain">not clear</span>'
    said = verdict(one.metric, one.value_a, one.value_b)
    kind = {"better": "tag", "worse": "tag worse", "": "tag plain"}[said]
    return f'<span class="{kind}">{said or "differs"}</span>'


def fates(one: Difference, columns: Sequence[tuple[str, bool]]) -> str:
    if not any("won" in name for name, _ in columns):
        return ""
    if one.won is None or one.lost is None or one.tied is None:
        return '<td class="n why">–</td>'
    text = f"{one.won:,} · {one.tied:,} · {one.lost:,}"
    whole = one.won + one.lost + one.tied
    if not whole:
        return f'<td class="n">{text}</td>'
    parts = (("won", one.won), ("tied", one.tied), ("lost", one.lost))
    bars = "".join(f'<i class="{kind}" style="width:{number(100 * n / whole)}%"></i>' for kind, n in parts if n)
    return f'<td class="n">{text}<span class="fate" aria-hidden="true">{bars}</span></td>'


def reason_row(one: Difference, n_columns: int) -> str:
    if not one.reason:
        return ""
    return f'<tr><td class="why" colspan="{n_columns}"><span class="wide">{clean(one.reason)}</span></td></tr>'


# ---------------------------------------------------------------------------------------------- slices and methods


def slices_body(comparison: Comparison, differences: Sequence[Difference]) -> str:
    """A row for every slice, metric and pair of models; buttons in the head sort it."""
    keys = list(dict.fromkeys(key for one in differences for key in one.slice))
    scales = {
        metric: Scale([one for one in differences if one.metric == metric])
        for metric in dict.fromkeys(one.metric for one in differences)
    }
    kept = differences[:MAX_DRAWN_ROWS]
    rows = "".join(slice_row(comparison, one, keys, scales, differences) for one in kept)
    pair = only_pair(differences)
    columns = [(key, False) for key in (*keys, "metric", *([] if pair else ["models"]))]
    columns += [(key, True) for key in (*(pair or ("baseline", "other")), with_interval(comparison), "p")]
    columns += [("adjusted p", True)] if comparison.correction != "none" else []
    columns.append(("verdict", False))
    said = f"{counted(len(differences), 'difference')} inside slices; the buttons above the columns sort. "
    said += "Bars show differences, of each metric on a scale of its own, to the right where the other model is higher."
    if len(differences) > len(kept):
        said += f" {len(differences) - len(kept):,} more rows are in comparison.to_json()."
    return sortable(columns, f"<tbody>{rows}</tbody>", said, "Slices, a table", tall=len(kept) > TALL)


def slice_row(
    comparison: Comparison,
    one: Difference,
    keys: Sequence[str],
    scales: Mapping[str, Scale],
    differences: Sequence[Difference],
) -> str:
    own = scales[one.metric]
    cells = "".join(
        f'<th scope="row"{sort_key(one.slice.get(key))}>{named(str(one.slice.get(key, ALL_ROWS)))}</th>' for key in keys
    )
    cells += f"<td>{named(one.metric)}</td>"
    cells += "" if only_pair(differences) else f"<td>{name_of(one, differences)}</td>"
    for value in (one.value_a, one.value_b):
        key = "" if math.isnan(value) else repr(value)
        cells += f'<td class="n" data-key="{key}">{value_text(value, own.values)}</td>'
    key = "" if math.isnan(one.difference) else repr(one.difference)
    reach = own.ends[1] if own.ends is not None else 0.0
    cells += f'<td class="n bars" data-key="{key}">{signed(one.difference, own.decimals)}'
    cells += f"{interval_of(one, own)}{bar(one.difference, 0.0, reach)}</td>"
    ps = [one.pvalue, *([one.adjusted_pvalue] if comparison.correction != "none" else [])]
    cells += "".join(f'<td class="n" data-key="{"" if math.isnan(p) else repr(p)}">{p_text(p)}</td>' for p in ps)
    reason = f'<span class="why">{clean(one.reason)}</span>' if one.reason else ""
    return f"<tr>{cells}<td>{tag_of(comparison, one)}{reason}</td></tr>"


def methods_body(comparison: Comparison) -> str:
    """How the numbers were made, and the signatures."""
    methods: dict[str, dict[str, None]] = {}
    for one in comparison.differences:
        methods.setdefault(one.method or "no test", {})[one.metric] = None
    items = [f"{', '.join(metrics)}: {method}" for method, metrics in methods.items()]
    items += comparison.notes
    corrected = comparison.correction != "none"
    items.append(
        f"p-values are adjusted for {counted(len(comparison), 'comparison')}: {comparison.correction}"
        if corrected
        else "p-values are not adjusted for the number of comparisons"
    )
    said = "".join(f"<li>{clean(item)}</li>" for item in items)
    signatures = list(
        dict.fromkeys((one.metric, one.signature) for one in comparison.differences if one.signature and not one.slice)
    )
    return f'<ul class="stands">{said}</ul>{signatures_body(signatures) if signatures else ""}'
