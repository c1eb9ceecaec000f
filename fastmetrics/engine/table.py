"""A report as people read it: rows, columns and notes; as text and as HTML. The terminal's look is cli/table.py's.

Plain Python, as the report is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from fastmetrics.engine.report import Result

ALL_ROWS = "(all)"
UNDEFINED = "undefined"
MAX_NOTES = 8  # of a kind, below a table
MANY = 1000  # of what is no count: from here on one decimal
MOST_DIGITS = 15
NO_ENDS = (math.nan, math.nan)
MAX_DRAWN_ROWS = 1000  # in a browser or on a terminal; text has all

Cell = str | int | float | None


class Table(NamedTuple):
    """A report as people read it; plain text, HTML and the terminal only differ in how they draw it.

    A cell is text, a number of rows, a value (NaN: undefined), or None where there is nothing to say.

    Where there are several slices, scores or labels, each of them is a row and every metric a column: `n_fixed` columns
    stand before the metrics, and `sections` are the rows at which another slice begins, where a slice has several. Else
    every metric is a row, and `n_fixed` is 0.
    """

    header: list[str]
    rows: list[list[Cell]]
    notes: list[tuple[str, str]]  # of what, and what
    n_fixed: int = 0
    sections: tuple[int, ...] = ()

    def texts(self, max_rows: int | None = None) -> list[list[str]]:
        """The rows as text, the numbers of a column below each other."""
        rows = self.rows[:max_rows]
        undefined = UNDEFINED if self.n_fixed else "nan"
        columns = [column_texts(column, undefined) for column in zip(*rows, strict=True)]
        return [list(cells) for cells in zip(*columns, strict=True)]


def table_of(results: Sequence[Result], used_rows: int) -> Table:
    """Metrics below each other; side by side where there are several slices, scores or labels."""
    places: dict[tuple[Any, ...], dict[str, Result]] = {}
    for result in results:
        places.setdefault((result.label, result.score, repr(result.slice)), {})[result.metric] = result
    if len(places) > 1:
        return wide_table(list(places.values()))
    keys = slice_keys(results)
    rows: list[list[Cell]] = [
        [
            result.metric,
            *(slice_text(result, key) for key in keys),
            result.value,
            notes(result, used_rows),
        ]
        for result in results
    ]
    return Table(["metric", *keys, "value", "notes"], rows, [])


def as_text(table: Table) -> list[str]:
    """The lines of a table, and its notes."""
    lines = [table.header, *table.texts()]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    drawn = ["  ".join(map(str.ljust, cells, widths)).rstrip() for cells in lines]
    notes = [f"{subject}: {text}" for subject, text in table.notes]
    return [*drawn, *([""] if notes else []), *notes]


def as_html(table: Table, above: list[str]) -> str:
    """A table for notebooks: no color of its own but grays that show on light and dark pages alike."""
    from html import escape

    rows = table.texts(MAX_DRAWN_ROWS)
    notes = [f"{subject}: {text}" for subject, text in table.notes]
    if len(table.rows) > len(rows):
        notes.insert(0, f"{len(table.rows) - len(rows):,} more rows: print(report), report.to_pandas()")
    cell = "text-align:left;padding:0.2em 1em 0.2em 0;border-bottom:1px solid rgba(128,128,128,0.35);"
    number = f"{cell}font-family:monospace;white-space:pre;"
    kinds = zip(*table.rows, strict=True) if table.rows else ((),) * len(table.header)
    styles = [number if any(isinstance(kind, (int, float)) for kind in column) else cell for column in kinds]
    top = "".join(f'<th style="{cell}">{escape(name)}</th>' for name in table.header)
    body = ""
    for cells in rows:
        texts = (f'<td style="{style}">{escape(text)}</td>' for text, style in zip(cells, styles, strict=True))
        body += f"<tr>{''.join(texts)}</tr>"
    head = "<br>".join(map(escape, above))
    below = "<br>".join(map(escape, notes))
    foot = f'<p style="opacity:0.75;">{below}</p>' if below else ""
    return (
        f'<div style="color:inherit;background:transparent;"><p style="opacity:0.75;">{head}</p>'
        f'<table style="border-collapse:collapse;color:inherit;background:transparent;">'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>{foot}</div>"
    )


def counts_text(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{reason}: {n:,}" for reason, n in counts.items())


def column_texts(cells: Sequence[Cell], undefined: str) -> list[str]:
    """A column of a table as text: values with their points, numbers of rows with their ends below each other."""
    texts = [cell_text(cell, undefined) for cell in cells]
    is_number = [isinstance(cell, (int, float)) and text != UNDEFINED for cell, text in zip(cells, texts, strict=True)]
    before = [len(text.partition(".")[0]) * number for text, number in zip(texts, is_number, strict=True)]
    width = max(before, default=0)
    return [
        " " * (width - n) + text if number else text for text, n, number in zip(texts, before, is_number, strict=True)
    ]


def cell_text(cell: Cell, undefined: str) -> str:
    """The shortest decimals that mean exactly the value."""
    if cell is None or isinstance(cell, str):
        return cell or ""
    if isinstance(cell, int):
        return f"{cell:,}"
    return undefined if math.isnan(cell) else repr(cell)


def wide_table(places: list[dict[str, Result]]) -> Table:
    """A row for every label, score and slice, a column for every metric; what there is to say about them gathered."""
    of_rows = [next(iter(row.values())) for row in places]
    metrics = list(dict.fromkeys(metric for row in places for metric in row))
    keys = slice_keys(of_rows)
    series = [name for name in ("label", "score") if len({getattr(result, name) for result in of_rows}) > 1]
    counts = [
        max((result.coverage["rows"] for result in row.values() if "rows" in result.coverage), default=None)
        for row in places
    ]
    counted_rows = any(count is not None for count in counts)
    rows: list[list[Cell]] = [
        [
            *(getattr(result, name) or "" for name in series),
            *(slice_text(result, key) for key in keys),
            *([count] if counted_rows else []),
            *(row[metric].value if metric in row else None for metric in metrics),
        ]
        for row, result, count in zip(places, of_rows, counts, strict=True)
    ]
    starts = [place for place in range(1, len(rows)) if of_rows[place].slice != of_rows[place - 1].slice]
    fixed = [*series, *keys, *(["rows"] if counted_rows else [])]
    gathered = [*undefined_notes(places), *interval_notes(places), *no_interval_notes(places)]
    gathered += left_out_notes(places, sliced=bool(keys))
    return Table([*fixed, *metrics], rows, gathered, len(fixed), tuple(starts) if series else ())


def undefined_notes(places: list[dict[str, Result]]) -> list[tuple[str, str]]:
    """A line for every distinct reason: which metrics, and in how many rows of the table."""
    found: dict[str, tuple[dict[str, None], set[int], set[str]]] = {}
    for place, row in enumerate(places):
        for result in row.values():
            if math.isnan(result.value):
                reason = result.reason or "no reason is known"
                # Reasons that only differ in a number are one.
                metrics, where, texts = found.setdefault(re.sub(r"\d[\d,]*", "N", reason), ({}, set(), set()))
                metrics[result.metric] = None
                where.add(place)
                texts.add(reason)
    notes = []
    for general, (metrics, where, texts) in found.items():
        reason = texts.pop() if len(texts) == 1 else general
        share = f"{len(where):,} of {len(places):,} rows of the table"
        notes.append((", ".join(metrics), f"undefined in {share}, {reason}"))
    return capped(notes)


def level_of(result: Result) -> str | None:
    """The level of a result's interval in percent; None where it is not one of resampling, or of DeLong."""
    found = re.search(r"\|ci:([0-9.e-]+)\|method:", result.signature)
    return None if found is None else f"{100 * float(found[1]):.6g} %"


def interval_text(result: Result) -> str:
    """A result's interval for people: as many digits as its width has meaning for."""
    if result.interval is None:
        return ""
    level = level_of(result)
    return between(result.interval) if level is None else f"{level} interval {short_interval(result.interval)}"


def short_interval(interval: tuple[float, float]) -> str:
    """Both ends with three digits of what they differ by."""
    low, high = interval
    width = high - low
    if not width > 0 or not math.isfinite(width):
        return f"{low:.6g} to {high:.6g}"
    digits = max(0, 2 - math.floor(math.log10(width)))
    return f"{low:.6g} to {high:.6g}" if digits > MOST_DIGITS else f"{low:.{digits}f} to {high:.{digits}f}"


def no_interval_notes(places: list[dict[str, Result]]) -> list[tuple[str, str]]:
    """Why values have no interval, where they were asked for."""
    found: dict[str, dict[str, None]] = {}
    for row in places:
        for result in row.values():
            if "interval" in result.coverage and not math.isnan(result.value):
                found.setdefault(str(result.coverage["interval"]), {})[result.metric] = None
    return capped([(", ".join(metrics), f"no interval, {reason}") for reason, metrics in found.items()])


def interval_notes(places: list[dict[str, Result]]) -> list[tuple[str, str]]:
    """The widest interval of every approximate metric; of others those of all rows, where these are there."""
    intervals: dict[str, list[tuple[float, float]]] = {}
    for row in places:
        for result in row.values():
            if result.interval is not None and level_of(result) is None:
                intervals.setdefault(result.metric, []).append(result.interval)
    notes = []
    for metric, found in intervals.items():
        widest = max(found, key=lambda interval: interval[1] - interval[0])
        notes.append((metric, f"approximate, the widest interval is {between(widest)}"))
    drawn: dict[str, list[Result]] = {}
    for row in places:
        for result in row.values():
            if not result.slice and level_of(result) is not None and result.interval is not None:
                drawn.setdefault(result.metric, []).append(result)
    for metric, results in drawn.items():
        several = len(results) > 1
        texts = [
            f"{short_interval(own.interval or NO_ENDS)}{f' ({side_of(own, results)})' if several else ''}"
            for own in results
        ]
        notes.append((metric, f"{level_of(results[0])} interval {'; '.join(texts)}"))
    return capped(notes)


def side_of(result: Result, results: Sequence[Result]) -> str:
    """What tells a result from others: its score, its label."""
    parts = [name for name in ("label", "score") if len({getattr(own, name) for own in results}) > 1]
    return ", ".join(str(getattr(result, name)) for name in parts)


def left_out_notes(places: list[dict[str, Result]], *, sliced: bool) -> list[tuple[str, str]]:
    """What metrics of all rows left out, and why; a slice's own numbers are in its results."""
    whole = [row for row in places if not next(iter(row.values())).slice]
    sides = [(result.label, result.score) for row in whole for result in list(row.values())[:1]]
    found: dict[str, dict[str, list[tuple[str | None, str]]]] = {}
    for row in whole:
        for result in row.values():
            for text in left_out(result.coverage):
                found.setdefault(text, {}).setdefault(result.metric, []).append((result.label, result.score))
    subjects: dict[tuple[str, str], list[str]] = {}
    for text, concerned in found.items():
        for metric, those in concerned.items():
            subjects.setdefault((text, concerning(those, sides)), []).append(metric)
    every = ["all rows"] if sliced else []
    notes = []
    for (text, whom), metrics in subjects.items():
        inside = ", ".join([*([whom] if whom else []), *every])
        notes.append((f"{', '.join(metrics)}{f' ({inside})' if inside else ''}", text))
    return capped(notes)


def concerning(those: list[tuple[str | None, str]], sides: list[tuple[str | None, str]]) -> str:
    """Which labels and scores, where it is not all of them."""
    if len(those) == len(sides):
        return ""
    distinct = [list(dict.fromkeys(names)) for names in zip(*those, strict=True)]
    if len(distinct[0]) * len(distinct[1]) != len(those):
        return "; ".join(f"label {label}, score {score}" for label, score in those)
    present = [len(set(names)) for names in zip(*sides, strict=True)]
    parts = zip(("label", "score"), distinct, present, strict=True)
    return ", ".join(f"{part} {', '.join(map(str, names))}" for part, names, n in parts if len(names) < n)


def capped(notes: list[tuple[str, str]]) -> list[tuple[str, str]]:
    more = len(notes) - MAX_NOTES
    return notes if more <= 0 else [*notes[:MAX_NOTES], ("and", f"{more:,} more notes of this kind, see to_dict()")]


def left_out(coverage: Mapping[str, Any]) -> Iterator[str]:
    """What a metric did not use or had to change, and why."""
    rows_of = coverage.get("rows_left_out", {})
    for reason, groups in coverage.get("groups_left_out", {}).items():
        if groups:
            rows = f" ({counted(rows_of[reason], 'row')})" if reason in rows_of else ""
            yield f"{counted(groups, 'group')}{rows} left out, {reason}"
    if coverage.get("groups_without_relevant") and not coverage.get("groups_left_out"):
        yield f"{counted(coverage['groups_without_relevant'], 'group')} without a relevant row"
    if coverage.get("rows_clipped"):
        yield f"{counted(coverage['rows_clipped'], 'row')} clipped"


def counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def between(interval: tuple[float, float]) -> str:
    return f"between {interval[0]!r} and {interval[1]!r}"


def slice_keys(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(key for result in results for key in result.slice))


def slice_text(result: Result, key: str) -> str:
    text = str(result.slice.get(key, ALL_ROWS))
    return text if text and text.isprintable() else repr(text)


def notes(result: Result, used_rows: int) -> str:
    """Why there is no value, and what a value stands on where that is not simply every row."""
    coverage = dict(result.coverage)
    notes = [result.reason] if result.reason else []
    interval = interval_text(result)
    if interval:
        notes.append(interval)
    if coverage.pop("rows", used_rows) != used_rows:
        notes.append(f"rows {result.coverage['rows']:,} used")
    if "groups" in coverage and "groups_used" in coverage:
        notes.append(f"groups {coverage.pop('groups_used'):,} of {coverage.pop('groups'):,} used")
    rows_left_out = coverage.pop("rows_left_out", {})
    for reason, n in coverage.pop("groups_left_out", {}).items():
        rows = rows_left_out.get(reason)
        if n:
            notes.append(f"{n:,} groups{'' if rows is None else f' ({rows:,} rows)'} left out, {reason}")
            rows_left_out = {other: count for other, count in rows_left_out.items() if other != reason}
    notes += [f"{n:,} rows left out, {reason}" for reason, n in rows_left_out.items() if n]
    if "interval" in coverage:
        reason = coverage.pop("interval")
        notes += [] if math.isnan(result.value) else [f"no interval, {reason}"]
    coverage.pop("lots", None)
    notes += [f"{key.replace('_', ' ')} {text(value)}" for key, value in coverage.items() if value]
    return "; ".join(notes)


def text(value: object) -> str:
    if isinstance(value, Mapping):
        return f"({counts_text(value)})"
    if isinstance(value, float):
        # Means and shares: the exact ones are in to_dict().
        return f"{value:,.1f}" if abs(value) >= MANY else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
