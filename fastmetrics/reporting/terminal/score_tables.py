"""Scores of text systems as lines, tables, CSV, Markdown and JSON, for whole systems or for every segment."""

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.reporting.number_formats import format_fixed
from fastmetrics.reporting.tables import BEST, ShownColumn, Table, name_and_number_columns
from fastmetrics.reporting.terminal.console import write_lines, write_table
from fastmetrics.reporting.text_tables import table_lines

# How scores are written; "text" is sacrebleu's word.
TextFormat = Literal["text", "csv", "markdown", "json"]


class ScoreComponent(NamedTuple):
    """A number that a score is computed from, and the decimals to show."""

    value: float | int
    digits: int = 0


Components = dict[str, ScoreComponent]


def one_score(result: Any) -> dict[str, float]:
    """The score of a result under its own name."""
    return {str(result).partition(" = ")[0]: float(result)}


def one_line(result: Any, digits: int, score_only: bool) -> list[str]:
    """A result as sacrebleu prints it: name with signature, score, components."""
    value = f"{float(result):.{digits}f}"
    if score_only:
        return [value]
    name, _, rest = str(result).partition(" = ")
    components = rest.partition(" ")[2]
    return [f"{name}|{result.signature} = {value} {components}".rstrip()]


class ScoreDisplay(NamedTuple):
    """What is shown of a metric's result.

    `scores` are what systems are compared by; `components` are what they are computed from. JSON and CSV have `details`
    instead of the components, if there are any. `lines(result, digits, score_only)` is a result as text.
    """

    metric: str
    digits: int
    scores: Callable[[Any], dict[str, float]] = one_score
    components: Callable[[Any], Components] = lambda _: {}
    lines: Callable[[Any, int, bool], list[str]] = one_line
    details: Callable[[Any], Components] | None = None
    is_error_rate: bool = False


class SystemResults(NamedTuple):
    """A system: its name, and its result or the results of its segments."""

    name: str
    results: Sequence[Any]


def write_scores(
    display: ScoreDisplay,
    systems: Sequence[SystemResults],
    layout: str,
    *,
    by_segment: bool,
    digits: int | None,
    score_only: bool,
) -> None:
    """Write the scores of all systems to standard output."""
    if digits is None and layout != "csv":
        digits = display.digits
    if (
        layout == "text"
        and len(systems) == 1
        and (not by_segment or len(display.scores(systems[0].results[0])) == 1)
    ):
        write_lines(line for result in systems[0].results for line in display.lines(result, digits or 0, score_only))
    elif layout == "text" and score_only and not by_segment:
        write_lines(line for system in systems for line in display.lines(system.results[0], digits or 0, True))
    elif by_segment:
        table = segment_table(display, systems, digits)
        if layout == "text":
            write_lines(table_lines(table))  # on a terminal too: the table has many rows
        else:
            write_table(table, layout)
    else:
        for_programs = layout == "csv"
        write_table(
            system_table(display, systems, digits, score_only=score_only, for_programs=for_programs), layout
        )
        signature = systems[0].results[0].signature
        if layout == "markdown":
            write_lines(["", f"`{signature}`"])
        elif not for_programs:
            write_lines([signature, ""] if sys.stdout.isatty() else ["", signature])


def system_table(
    display: ScoreDisplay,
    systems: Sequence[SystemResults],
    digits: int | None,
    *,
    score_only: bool,
    for_programs: bool,
) -> Table:
    """A row for every system; the best scores are marked, or `for_programs` each row has the signature."""
    results = [system.results[0] for system in systems]
    scores = [display.scores(result) for result in results]
    components_of = (display.details or display.components) if for_programs else display.components
    components = [{} if score_only else components_of(result) for result in results]
    numbers = [*scores[0], *components[0]]
    rows = [
        [
            system.name,
            *(format_fixed(value, digits) for value in system_scores.values()),
            *(format_fixed(one.value, None if digits is None else one.digits) for one in system_components.values()),
        ]
        for system, system_scores, system_components in zip(systems, scores, components, strict=True)
    ]
    if for_programs:
        columns = [*name_and_number_columns(["system"], numbers), ShownColumn("signature", "note")]
        return Table(columns, [[*row, results[0].signature] for row in rows])
    emphasis = best_cells(scores, is_error_rate=display.is_error_rate) if len(systems) > 1 else {}
    return Table(name_and_number_columns(["system"], numbers), rows, emphasis=emphasis)


def best_cells(scores: Sequence[dict[str, float]], *, is_error_rate: bool) -> dict[tuple[int, int], str]:
    """The best value of every score, by row and column; tied values are all best."""
    best: dict[tuple[int, int], str] = {}
    for column, name in enumerate(scores[0], start=1):
        values = [-row[name] if is_error_rate else row[name] for row in scores]
        greatest = max((value for value in values if not math.isnan(value)), default=math.nan)
        best |= {(row, column): BEST for row, value in enumerate(values) if value == greatest}
    return best


def segment_table(display: ScoreDisplay, systems: Sequence[SystemResults], digits: int | None) -> Table:
    """A row for every segment, a column for every score of every system."""
    scores = [[display.scores(result) for result in system.results] for system in systems]
    names = list(scores[0][0])
    header = ["segment"]
    for system in systems:
        system_name = [system.name] if len(systems) > 1 else []
        header += [
            " ".join([*system_name, *([name] if len(names) > 1 or not system_name else [])]) for name in names
        ]
    rows = [
        [str(row + 1), *(format_fixed(system_scores[row][name], digits) for system_scores in scores for name in names)]
        for row in range(len(scores[0]))
    ]
    return Table(name_and_number_columns([], header), rows)


def scores_as_dict(display: ScoreDisplay, systems: Sequence[SystemResults], *, by_segment: bool) -> dict[str, Any]:
    """All numbers, for JSON."""
    entries = []
    for system in systems:
        entry: dict[str, Any] = {"name": system.name}
        if by_segment:
            entry["segments"] = [plain_scores(display, result) for result in system.results]
        else:
            entry |= plain_scores(display, system.results[0])
            details = (display.details or display.components)(system.results[0])
            entry |= {name: component.value for name, component in details.items()}
        entries.append(entry)
    return {"metric": display.metric, "signature": systems[0].results[0].signature, "systems": entries}


def plain_scores(display: ScoreDisplay, result: Any) -> Any:
    scores = display.scores(result)
    return {"score": next(iter(scores.values()))} if len(scores) == 1 else scores
