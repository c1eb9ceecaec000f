"""The notes of a report in words: why values are undefined, intervals, and what was left out."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastmetrics._core.columns.array_types import describe_sums
from fastmetrics._core.grouping import grouped
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.reporting.number_formats import counted, format_coverage_value
from fastmetrics.reporting.tables import Note

if TYPE_CHECKING:
    from fastmetrics.engine.results.result import Result

MAX_NOTES = 8  # of a kind, below a table
MAX_DIGITS = 15
WIDE_FLOATS = (
    "keys are floats from 2**53 on, where neighboring integers are one float; read the column as integers, such as "
    "pandas' Int64"
)
NO_REASON = "no reason is known"
# The keys of a coverage that functions here put into words, and one that users need not know.
WORDED_KEYS = {
    "rows", "groups", "groups_used", "groups_left_out", "groups_without_relevant", "rows_left_out", "rows_clipped",
    "undefined_replicates", "interval", "float_keys", "sum_distance", "unit_buckets", "truth_rows",
    "truth_rows_left_out", "truth_rows_dropped",
}  # fmt: skip
NO_INTERVAL = (math.nan, math.nan)

ModelRow = dict[str, "Result"]  # metric -> result, of one task, label, score and slice
TableRows = list[ModelRow]


class Model(NamedTuple):
    """What a result is of: its task, label column and score column."""

    task: str | None
    label: str | None
    score: str

    @classmethod
    def of(cls, result: Result) -> Model:
        return cls(result.task, result.label, result.score)


def model_names(results: Sequence[Result], before_label: str = ", ") -> dict[Model, str]:
    """Score columns, with their task if there are tasks, and their label if a task has several labels."""
    models = dict.fromkeys(map(Model.of, results))
    labels = grouped((model.task, model.label) for model in models)
    names = {}
    for model in models:
        several = len(set(labels[model.task])) > 1
        name = f"{model.score}{before_label}{model.label}" if several and model.label else model.score
        names[model] = name if model.task is None else f"{model.task}: {name}"
    return names


def names_in_plots(results: Sequence[Result]) -> list[str]:
    """The names of the models' series in plots."""
    return list(model_names(results).values())


def result_notes(result: Result, used_rows: int) -> str:
    """The notes of one result: its reason, its interval, and its coverage unless that is simply all rows."""
    coverage = result.coverage
    notes = [result.reason or "", interval_note(result), "" if math.isnan(result.value) else interval_remark(result)]
    rows = coverage.get("rows", used_rows)
    notes.append(f"rows {rows:,} used" if rows != used_rows else "")
    if "groups_used" in coverage:
        notes.append(f"groups {coverage['groups_used']:,} of {coverage['groups']:,} used")
    return "; ".join(filter(None, [*notes, *coverage_notes(coverage)]))


def coverage_notes(coverage: Mapping[str, Any], unworded: Collection[str] = ()) -> list[str]:
    """What was left out and why, and other facts but those that are `unworded`; without rows, groups and intervals."""
    coverage = {key: value for key, value in coverage.items() if key not in unworded}
    notes = list(left_out_texts(coverage))
    if coverage.get("undefined_replicates"):
        notes.append(f"{counted(coverage['undefined_replicates'], 'replicate')} undefined, left out of the interval")
    if "float_keys" in coverage:
        notes.append(f"{coverage['float_keys']}: {WIDE_FLOATS}")
    if "sum_distance" in coverage:
        notes.append(describe_sums(coverage["sum_distance"]))
    others = [(key.replace("_", " "), value) for key, value in coverage.items() if key not in WORDED_KEYS and value]
    return [*notes, *(f"{name} {format_coverage_value(value)}" for name, value in others)]


def used_rows_text(coverage: Mapping[str, Any]) -> str:
    """The rows behind a value: 90 rows, 5 positive. Empty if they are not known."""
    rows = counted(coverage["rows"], "row") if "rows" in coverage else ""
    return f"{rows}, {coverage['positives']:,} positive" if "positives" in coverage else rows


def used_groups_text(coverage: Mapping[str, Any]) -> str:
    """The groups behind a value: 7 of 10 groups. Empty without groups."""
    used = "groups_used" in coverage
    return f"{coverage['groups_used']:,} of {counted(coverage['groups'], 'group')}" if used else ""


def results_of(table_rows: TableRows) -> list[Result]:
    """The results of all rows."""
    return [result for row in table_rows for result in row.values()]


def table_notes(table_rows: TableRows, *, sliced: bool) -> list[Note]:
    """The notes below a table with a row for every label, score and slice."""
    notes = [*undefined_notes(table_rows), *bounds_notes(table_rows), *interval_remarks(table_rows)]
    notes += [(names, WIDE_FLOATS) for names in float_keys_of(table_rows)]
    notes += [(model, describe_sums(distance)) for model, distance in sum_distances_of(table_rows).items()]
    return notes + left_out_table_notes(table_rows, sliced=sliced)


def undefined_notes(table_rows: TableRows) -> list[Note]:
    """A note for every distinct reason: the metrics, and the number of rows of the table."""
    undefined = [
        (number, result.metric, result.reason or NO_REASON)
        for number, row in enumerate(table_rows)
        for result in row.values()
        if math.isnan(result.value)
    ]
    notes = []
    for general, found in grouped((general_reason(one[-1]), one) for one in undefined).items():
        row_numbers, metrics, reasons = map(dict.fromkeys, zip(*found, strict=True))
        reason = found[0][-1] if len(reasons) == 1 else general
        share = f"{len(row_numbers):,} of {len(table_rows):,} rows of the table"
        notes.append((", ".join(metrics), f"undefined in {share}, {reason}"))
    return limited(notes)


def general_reason(reason: str) -> str:
    """The reason with N for every number: reasons that differ only in a number are one reason."""
    return re.sub(r"\d[\d,]*(\.\d+)?", "N", reason)


def interval_level(result: Result) -> str | None:
    """The level of a confidence interval in percent; None for the bounds of an approximate value."""
    match = re.search(r"\|ci:([0-9.e-]+)\|method:", result.signature)
    return None if match is None else f"{100 * float(match[1]):.6g} %"


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


def interval_note(result: Result) -> str:
    """A result's interval in words; empty if it has none."""
    if result.interval is None:
        return ""
    level = interval_level(result)
    return bounds_text(result.interval) if level is None else f"{level} interval {short_interval(result.interval)}"


def short_interval(interval: tuple[float, float]) -> str:
    """Both ends, with three digits of their difference."""
    low, high = interval
    width = high - low
    if not width > 0 or not math.isfinite(width):
        return f"{low:.6g} to {high:.6g}"
    digits = max(0, 2 - math.floor(math.log10(width)))
    return f"{low:.6g} to {high:.6g}" if digits > MAX_DIGITS else f"{low:.{digits}f} to {high:.{digits}f}"


def bounds_text(interval: tuple[float, float]) -> str:
    return f"between {interval[0]!r} and {interval[1]!r}"


def float_keys_of(table_rows: TableRows) -> list[str]:
    """The columns of keys with floats from 2**53 on."""
    found = (result.coverage.get("float_keys") for result in results_of(table_rows))
    return list(dict.fromkeys(str(names) for names in found if names))


def sum_distances_of(table_rows: TableRows) -> dict[str, float]:
    """How far the probabilities of a row of every model are from the sum 1, where that is noted."""
    with_distance = (result for result in results_of(table_rows) if "sum_distance" in result.coverage)
    found = [(result.score, result.coverage["sum_distance"]) for result in with_distance]
    return {model: max(distances) for model, distances in grouped(found).items()}


def interval_remark(result: Result) -> str:
    """Why a value has no interval, or what is special about the one that it has; empty without a remark."""
    remark = str(result.coverage.get("interval", ""))
    return remark and (f"no interval, {remark}" if result.interval is None else f"interval {remark}")


def interval_remarks(table_rows: TableRows) -> list[Note]:
    """A note for every distinct remark on intervals."""
    remarks = [
        (general_reason(remark), (result.metric, remark))
        for result in results_of(table_rows)
        if not math.isnan(result.value) and (remark := interval_remark(result))
    ]
    notes = []
    for general, found in grouped(remarks).items():
        metrics, texts = map(dict.fromkeys, zip(*found, strict=True))
        notes.append((", ".join(metrics), found[0][1] if len(texts) == 1 else general))
    return limited(notes)


def bounds_notes(table_rows: TableRows) -> list[Note]:
    """The widest bounds of every approximate metric. Confidence intervals stand in the table."""
    with_bounds = [own for own in results_of(table_rows) if own.interval is not None and interval_level(own) is None]
    notes = []
    for metric, intervals in grouped((own.metric, own.interval or NO_INTERVAL) for own in with_bounds).items():
        widest = max(intervals, key=lambda interval: interval[1] - interval[0])
        notes.append((metric, f"approximate, the widest interval is {bounds_text(widest)}"))
    return limited(notes)


def left_out_table_notes(table_rows: TableRows, *, sliced: bool) -> list[Note]:
    """What metrics of all rows left out, and why. Slices have their own numbers in their results."""
    whole = [row for row in table_rows if not next(iter(row.values())).slice]
    models = [Model.of(result) for row in whole for result in list(row.values())[:1]]
    models_of_texts = grouped(
        ((text, result.metric), Model.of(result))
        for result in results_of(whole)
        for text in left_out_texts(result.coverage)
    )
    subjects = grouped(
        ((text, subset_of_models(concerned, models)), metric) for (text, metric), concerned in models_of_texts.items()
    )
    notes = []
    for (text, subset), metrics in subjects.items():
        inside = ", ".join(filter(None, [subset, "all rows" if sliced else ""]))
        notes.append((f"{', '.join(metrics)}{f' ({inside})' if inside else ''}", text))
    return limited(notes)


def subset_of_models(concerned: list[Model], models: list[Model]) -> str:
    """The tasks, labels and scores in words; empty if all models are concerned."""
    if len(concerned) == len(models):
        return ""
    n_present = [len(set(names)) for names in zip(*models, strict=True)]
    distinct = [list(dict.fromkeys(names)) for names in zip(*concerned, strict=True)]
    if models[0].task is not None:
        of_tasks = [model for model in models if model.task in distinct[0]]
        if len(of_tasks) == len(concerned):
            return f"task {', '.join(map(str, distinct[0]))}"
        return "; ".join(f"task {task}, label {label}, score {score}" for task, label, score in concerned)
    if len(distinct[1]) * len(distinct[2]) != len(concerned):
        return "; ".join(f"label {label}, score {score}" for _, label, score in concerned)
    roles = zip(("label", "score"), distinct[1:], n_present[1:], strict=True)
    return ", ".join(f"{role} {', '.join(map(str, names))}" for role, names, n in roles if len(names) < n)


def limited(notes: list[Note]) -> list[Note]:
    """At most MAX_NOTES notes, and how many more there are."""
    more = len(notes) - MAX_NOTES
    return notes if more <= 0 else [*notes[:MAX_NOTES], ("and", f"{more:,} more notes of this kind, see to_dict()")]


def left_out_texts(coverage: Mapping[str, Any]) -> Iterator[str]:
    """The groups and rows that a metric left out or clipped, and why."""
    groups_left_out, rows_left_out = coverage.get("groups_left_out", {}), coverage.get("rows_left_out", {})
    for reason, groups in groups_left_out.items():
        if groups:
            rows = f" ({counted(rows_left_out[reason], 'row')})" if reason in rows_left_out else ""
            yield f"{counted(groups, 'group')}{rows} left out, {reason}"
    for reason, rows in rows_left_out.items():
        if rows and reason not in groups_left_out:
            yield f"{counted(rows, 'row')} left out, {reason}"
    if coverage.get("groups_without_relevant") and not groups_left_out:
        yield f"{counted(coverage['groups_without_relevant'], 'group')} without a relevant row"
    if coverage.get("truth_rows_left_out"):
        yield f"{counted(coverage['truth_rows_left_out'], 'row')} of truth left out, the log has no row of their groups"
    if coverage.get("truth_rows_dropped"):
        yield f"{counted(coverage['truth_rows_dropped'], 'row')} of truth dropped"
    if coverage.get("rows_clipped"):
        yield f"{counted(coverage['rows_clipped'], 'row')} clipped"
