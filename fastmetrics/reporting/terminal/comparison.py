"""Comparisons as tables on a terminal: significant differences are green or red."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from fastmetrics._core.grouping import grouped
from fastmetrics.reporting.comparison_text import (
    TEXT_COLUMNS,
    comparison_footer,
    comparison_heading,
    comparison_table,
)
from fastmetrics.reporting.number_formats import ALL_DIGITS
from fastmetrics.reporting.report_text import MAX_TABLE_ROWS
from fastmetrics.reporting.terminal.console import (
    GAP,
    INDENT,
    add_name_column,
    column_width,
    dense_table,
    digits_note,
    folded_widths,
    split_columns,
    standard_output,
)

if TYPE_CHECKING:
    from fastmetrics._core.comparison.comparison import Comparison, Difference

BETTER, WORSE = "bold green", "bold red"
NOTES = "notes"


DIGITS = 5  # of values, if no other number is asked for


def print_comparison(comparison: "Comparison", digits: int = DIGITS) -> None:
    """Draw the differences. Values have so many digits; 17 are all digits.

    A significant one is green if the other model is better, red if it is worse.

    If the window is too narrow for all columns, there are several tables.
    """
    console = standard_output()
    first, *more = comparison_heading(comparison)
    console.print("", Text(f" {first}", "dim"), *(Padding(Text(line), INDENT) for line in more), "", sep="\n")
    header, columns = styled_columns(comparison, digits)
    names = {*TEXT_COLUMNS}.union(*(one.slice for one in comparison))
    n_fixed = next((column for column, name in enumerate(header) if name not in names), len(header))
    widths = [column_width(name, column) for name, column in zip(header, columns, strict=True)]
    name_widths = folded_widths(widths[:n_fixed], console.width // 2)
    available = console.width - INDENT[-1] - sum(width + GAP for width in name_widths)
    for numbers in split_columns(widths[n_fixed:], available):
        table = dense_table()
        for name, width in zip(header, name_widths, strict=False):
            add_name_column(table, name, width)
        for number in numbers:
            table.add_column(Text(header[n_fixed + number]), justify="right", no_wrap=True, vertical="bottom")
        shown_columns = [*columns[:n_fixed], *(columns[n_fixed + number] for number in numbers)]
        for cells in zip(*shown_columns, strict=True):
            table.add_row(*cells)
        console.print(*([""] if numbers and numbers[0] else []), Padding(table, INDENT, expand=False), sep="\n")
    if len(comparison) > MAX_TABLE_ROWS:
        console.print(f"\n {len(comparison) - MAX_TABLE_ROWS:,} more rows are in a pipe and in --json", style="yellow")
    console.print()
    rounded = [digits_note(digits)] if digits < ALL_DIGITS else []
    for line in [*comparison_footer(comparison), *reason_lines(comparison), *rounded]:
        console.print(Padding(Text(line), INDENT), style="dim")


def styled_columns(comparison: "Comparison", digits: int) -> tuple[list[str], list[list[Text]]]:
    """Names and columns of the table. Marks stand after the numbers they belong to; notes are left out."""
    header, *rows = comparison_table(comparison, digits)
    differences = list(comparison)[:MAX_TABLE_ROWS]
    columns: list[list[Text]] = []
    names: list[str] = []
    for name, *cells in zip(header, *rows[:MAX_TABLE_ROWS], strict=True):
        if name == "":
            columns[-1] = [Text(f"{cell.plain} {mark or ' '}") for cell, mark in zip(columns[-1], cells, strict=True)]
        elif name != NOTES:
            styles = [difference_style(one, comparison) if name == "difference" else "" for one in differences]
            columns.append([Text(cell, style) for cell, style in zip(cells, styles, strict=True)])
            names.append(name)
    return names, columns


def reason_lines(comparison: "Comparison") -> Iterator[str]:
    """Why numbers are missing, with the metrics concerned."""
    metrics_by_reason = grouped((one.reason, one.metric) for one in comparison if one.reason is not None)
    for reason, metrics in metrics_by_reason.items():
        yield f"{', '.join(dict.fromkeys(metrics))}: {reason}"


def difference_style(one: "Difference", comparison: "Comparison") -> str:
    """The style of a difference: plain unless it is significant, bold if the metric has no better direction."""
    from fastmetrics._core.comparison.win_counts import UTILITY
    from fastmetrics._core.registry import parse

    if not comparison.is_significant(one):
        return ""
    goodness = UTILITY.get(parse(one.metric).direction)
    if goodness is None or one.difference == 0:
        return "bold"
    return BETTER if goodness(one.value_b) > goodness(one.value_a) else WORSE
