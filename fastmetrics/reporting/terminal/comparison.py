"""Comparisons on a terminal: the answer, then a table in which differences are green or red."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from fastmetrics._core.grouping import grouped
from fastmetrics.reporting.comparison_table import comparison_document
from fastmetrics.reporting.number_formats import ALL_DIGITS, TABLE_DIGITS
from fastmetrics.reporting.terminal.console import digits_note, standard_output
from fastmetrics.reporting.terminal.drawn_tables import INDENT, print_wide_table

if TYPE_CHECKING:
    from fastmetrics._core.comparison.comparison import Comparison


def print_comparison(comparison: "Comparison", digits: int = TABLE_DIGITS) -> None:
    """Draw the answer and the differences. Values have so many digits; 17 are all digits.

    A difference is green if the other model is better, red if it is worse.

    If the window is too narrow for all columns, there are several tables.
    """
    console = standard_output()
    document = comparison_document(comparison, digits)
    console.print("", *(Padding(Text(line, "bold"), INDENT) for line in document.heading), "", sep="\n")
    print_wide_table(console, document.table)
    console.print()
    rounded = [digits_note(digits)] if digits < ALL_DIGITS else []
    for line in [*document.footer, *reason_lines(comparison), *rounded]:
        console.print(Padding(Text(line), INDENT), style="dim")


def reason_lines(comparison: "Comparison") -> Iterator[str]:
    """Why numbers are missing, with the metrics concerned."""
    metrics_by_reason = grouped((one.reason, one.metric) for one in comparison.differences if one.reason is not None)
    for reason, metrics in metrics_by_reason.items():
        yield f"{', '.join(dict.fromkeys(metrics))}: {reason}"
