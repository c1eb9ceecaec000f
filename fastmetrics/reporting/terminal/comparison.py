"""Comparisons as tables on a terminal: significant differences are green or red."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from fastmetrics._core.grouping import grouped
from fastmetrics.reporting.comparison_table import comparison_document
from fastmetrics.reporting.metric_facts import verdict
from fastmetrics.reporting.number_formats import ALL_DIGITS
from fastmetrics.reporting.tables import Table
from fastmetrics.reporting.terminal.console import DIGITS, digits_note, standard_output
from fastmetrics.reporting.terminal.drawn_tables import INDENT, print_wide_table

if TYPE_CHECKING:
    from fastmetrics._core.comparison.comparison import Comparison


def print_comparison(comparison: "Comparison", digits: int = DIGITS) -> None:
    """Draw the differences. Values have so many digits; 17 are all digits.

    A significant one is green if the other model is better, red if it is worse.

    If the window is too narrow for all columns, there are several tables.
    """
    console = standard_output()
    document = comparison_document(comparison, digits)
    first, *more = document.heading
    console.print("", Text(f" {first}", "dim"), *(Padding(Text(line), INDENT) for line in more), "", sep="\n")
    print_wide_table(console, emphasized(document.table, comparison))
    console.print()
    rounded = [digits_note(digits)] if digits < ALL_DIGITS else []
    for line in [*document.footer, *reason_lines(comparison), *rounded]:
        console.print(Padding(Text(line), INDENT), style="dim")


def emphasized(table: Table, comparison: "Comparison") -> Table:
    """The table with the significant differences as better, worse, or only different without a better direction."""
    column = table.header.index("difference") if "difference" in table.header else 0
    significant = ((row, one) for row, one in enumerate(comparison) if comparison.is_significant(one))
    emphasis = {(row, column): verdict(one.metric, one.value_a, one.value_b) or "different" for row, one in significant}
    return replace(table, emphasis=emphasis)


def reason_lines(comparison: "Comparison") -> Iterator[str]:
    """Why numbers are missing, with the metrics concerned."""
    metrics_by_reason = grouped((one.reason, one.metric) for one in comparison if one.reason is not None)
    for reason, metrics in metrics_by_reason.items():
        yield f"{', '.join(dict.fromkeys(metrics))}: {reason}"
