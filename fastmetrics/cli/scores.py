"""Scores of systems as people and programs want them: a line, a table, CSV, Markdown, JSON; also by segment."""

import json
import math
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import islice
from typing import Any

import fastmetrics
from fastmetrics.cli.systems import Scored, Scorer
from fastmetrics.cli.value_table import comma_separated, markdown, plain, print_table

SCHEMA = 1
SIGNATURE = "signature"
LINES_AT_ONCE = 4096


class Format(StrEnum):
    """How scores are written."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


def show(
    scorer: Scorer, scored: Sequence[Scored], layout: Format, *, by_segment: bool, digits: int | None, score_only: bool
) -> None:
    if digits is None and layout is not Format.CSV:
        digits = scorer.digits
    if layout is Format.JSON:
        sys.stdout.write(as_json(scorer, scored, by_segment=by_segment) + "\n")
    elif layout is Format.TEXT and len(scored) == 1 and (not by_segment or has_one_score(scorer, scored[0])):
        write(line for result in scored[0].results for line in scorer.lines(result, digits or 0, score_only))
    elif layout is Format.TEXT and score_only and not by_segment:
        write(line for own in scored for line in scorer.lines(own.results[0], digits or 0, True))
    elif by_segment:
        show_segments(scorer, scored, layout, digits)
    else:
        show_systems(scorer, scored, layout, digits, score_only=score_only)


def has_one_score(scorer: Scorer, scored: Scored) -> bool:
    return len(scorer.scores(scored.results[0])) == 1


def write(lines: Iterable[str]) -> None:
    """Many lines at once: a line each would take longer than the evaluation."""
    rest = iter(lines)
    while piece := list(islice(rest, LINES_AT_ONCE)):
        sys.stdout.write("".join(f"{line}\n" for line in piece))


def spelled(value: float | int, digits: int | None) -> str:
    """So many decimals, or all digits."""
    return repr(value) if digits is None or isinstance(value, int) else f"{value:.{digits}f}"


def show_systems(
    scorer: Scorer, scored: Sequence[Scored], layout: Format, digits: int | None, *, score_only: bool
) -> None:
    """A row for every system; the best scores are marked."""
    results = [own.results[0] for own in scored]
    scores = [scorer.scores(result) for result in results]
    made_of = scorer.details if layout is Format.CSV and scorer.details is not None else scorer.parts
    parts = [{} if score_only else made_of(result) for result in results]
    header = ["system", *scores[0], *parts[0]]
    cells = [
        [
            own.name,
            *(spelled(value, digits) for value in values.values()),
            *(spelled(part.value, None if digits is None else part.digits) for part in own_parts.values()),
        ]
        for own, values, own_parts in zip(scored, scores, parts, strict=True)
    ]
    n_values = len(header) - 1
    signature = results[0].signature
    if layout is Format.CSV:
        rows = [[*row, signature] for row in cells]
        sys.stdout.write(comma_separated([*header, SIGNATURE], rows))
        return
    best = best_cells(scores, is_error_rate=scorer.is_error_rate) if len(scored) > 1 else set()
    if layout is Format.MARKDOWN:
        marked = [
            [f"**{cell}**" if (row, column) in best else cell for column, cell in enumerate(own)]
            for row, own in enumerate(cells)
        ]
        write([*markdown(header, marked, n_values), "", f"`{signature}`"])
    elif sys.stdout.isatty():
        print_table(header, cells, n_values, best)
        write([signature, ""])
    else:
        write([*plain(header, starred(cells, best), n_values), "", signature])


def best_cells(scores: Sequence[dict[str, float]], *, is_error_rate: bool) -> set[tuple[int, int]]:
    """Row and column of the best value of every score; ties share it."""
    best = set()
    for column, name in enumerate(scores[0], start=1):
        values = [-own[name] if is_error_rate else own[name] for own in scores]
        greatest = max((value for value in values if not math.isnan(value)), default=math.nan)
        best |= {(row, column) for row, value in enumerate(values) if value == greatest}
    return best


def starred(cells: Sequence[Sequence[str]], best: set[tuple[int, int]]) -> list[list[str]]:
    """A star behind the best values, and room for one behind the others of their columns."""
    columns = {column for _, column in best}
    room = [[" " if column in columns else "" for column in range(len(own))] for own in cells]
    for row, column in best:
        room[row][column] = "*"
    return [
        [cell + mark for cell, mark in zip(own, marks, strict=True)] for own, marks in zip(cells, room, strict=True)
    ]


def show_segments(scorer: Scorer, scored: Sequence[Scored], layout: Format, digits: int | None) -> None:
    """A row for every segment, a column for every score of every system."""
    tables = [[scorer.scores(result) for result in own.results] for own in scored]
    names = list(tables[0][0])
    header = ["segment"]
    for own in scored:
        titles = [own.name] if len(scored) > 1 else []
        header += [" ".join([*titles, *([name] if len(names) > 1 or not titles else [])]) for name in names]
    cells = [
        [str(row + 1), *(spelled(table[row][name], digits) for table in tables for name in names)]
        for row in range(len(tables[0]))
    ]
    if layout is Format.CSV:
        sys.stdout.write(comma_separated(header, cells))
    elif layout is Format.MARKDOWN:
        write(markdown(header, cells, len(header)))
    else:
        write(plain(header, cells, len(header)))


def as_json(scorer: Scorer, scored: Sequence[Scored], *, by_segment: bool) -> str:
    """All digits of everything."""
    first = scored[0].results[0]
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "version": fastmetrics.__version__,
        "metric": scorer.metric,
        SIGNATURE: first.signature,
    }
    systems = []
    for own in scored:
        system: dict[str, Any] = {"name": own.name}
        if by_segment:
            system["segments"] = [plain_scores(scorer, result) for result in own.results]
        else:
            system |= plain_scores(scorer, own.results[0])
            details = (scorer.details or scorer.parts)(own.results[0])
            system |= {key: part.value for key, part in details.items()}
        systems.append(system)
    document["systems"] = systems
    return json.dumps(finite(document), indent=2)


def plain_scores(scorer: Scorer, result: Any) -> Any:
    scores = scorer.scores(result)
    return {"score": next(iter(scores.values()))} if len(scores) == 1 else scores


def finite(value: Any) -> Any:
    """JSON has no NaN: null, as in reports."""
    if isinstance(value, dict):
        return {key: finite(own) for key, own in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(own) for own in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
