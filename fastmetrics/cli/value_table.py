"""Tables of names and values, a few columns of each: lined up for people, as Markdown, separated by commas."""

import csv
import io
from collections.abc import Collection, Iterator, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from fastmetrics.cli.terminal import standard_output

BEST = "bold green"


def comma_separated(header: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *cells])
    return text.getvalue()


def widths(header: Sequence[str], cells: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(header, *cells, strict=True)]


def lined_up(row: Sequence[str], room: Sequence[int], n_values: int) -> list[str]:
    """Names to the left, values to the right."""
    n_names = len(row) - n_values
    return [
        cell.ljust(width) if place < n_names else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(row, room, strict=True))
    ]


def plain(header: Sequence[str], cells: Sequence[Sequence[str]], n_values: int) -> Iterator[str]:
    room = widths(header, cells)
    for row in [header, *cells]:
        yield "  ".join(lined_up(row, room, n_values)).rstrip()


def markdown(header: Sequence[str], cells: Sequence[Sequence[str]], n_values: int) -> Iterator[str]:
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in [header, *cells]]
    room = [max(3, width) for width in widths(escaped[0], escaped[1:])]
    n_names = len(header) - n_values
    rule = ["-" * width if place < n_names else "-" * (width - 1) + ":" for place, width in enumerate(room)]
    for row in [escaped[0], rule, *escaped[1:]]:
        yield f"| {' | '.join(lined_up(row, room, n_values))} |"


def print_table(
    header: Sequence[str],
    cells: Sequence[Sequence[str]],
    n_values: int,
    best: Collection[tuple[int, int]] = (),
) -> None:
    """Drawn on a terminal; the best cells, by row and column, stand out."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1), header_style="bold")
    n_names = len(header) - n_values
    for place, name in enumerate(header):
        if place < n_names:
            table.add_column(Text(name), style="cyan" if place == 0 else "dim", no_wrap=True)
        else:
            table.add_column(Text(name), justify="right", overflow="fold")
    for row, own in enumerate(cells):
        table.add_row(*(Text(cell, BEST if (row, column) in best else "") for column, cell in enumerate(own)))
    standard_output().print("", table, "", sep="\n")
