"""CVR, the conversion rate: conversions divided by clicks, of rows that were clicked.

    fastmetrics evaluate log.parquet --plugin examples.extend.cvr --metrics cvr --role click=clicked \\
        --role conversion=bought
"""

from __future__ import annotations

from typing import Any

from fastmetrics.extend import Binary, Columns, RowStatistic, divide, metric


class ClickedRows(RowStatistic):
    """The (weighted) number of clicks, and of clicks with a conversion."""

    __slots__ = ()
    sums = ("conversions", "clicks")

    def terms(self, columns: Columns) -> dict[str, Any]:
        return {"conversions": columns.click & columns.conversion, "clicks": columns.click}


@metric(
    "cvr",
    exchange="none",
    statistics=ClickedRows(),
    roles={"click": Binary(), "conversion": Binary()},
    undefined="no row was clicked",
    direction="none",
)
def cvr(parameters: dict[str, Any], sums: Any) -> float:
    """Conversion rate: the share of clicked rows with a conversion."""
    return divide(sums["conversions"], sums["clicks"])
