"""Scores of two partitions in the registry: each is made of the table of pairs, by the code of its function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fastmetrics._core.registry import metric
from fastmetrics._core.statistic import Value
from fastmetrics.metrics.clustering.contingency import Contingency
from fastmetrics.metrics.clustering.pair_table import PairCounts, PairTable

__all__: list[str] = []

NO_ROWS = "no rows"

Parameters = dict[str, tuple[Any, Any]]  # default, and what is allowed: values, or a function that checks one


def enter(
    name: str,
    summary: str,
    function: Callable[..., Any] | None,
    score: Callable[..., float],
    parameters: Parameters | None = None,
) -> None:
    """Enter a score of two partitions: its function, and what makes it of a table and the metric's parameters."""
    known = parameters or {}

    def finalise(options: dict[str, Any], state: PairTable) -> Value:
        table = state.contingency()
        coverage = {"rows": table.total, "classes": len(table.classes), "clusters": len(table.clusters)}
        if not table.total:
            return Value(math.nan, coverage, NO_ROWS)
        return Value(float(score(table, **options)), coverage)

    finalise.__doc__ = summary
    metric(
        name,
        exchange="none",
        target="partition",
        statistics=lambda **options: (PairCounts(),),
        function=function,
        undefined=NO_ROWS,
        parameters={own: default for own, (default, _) in known.items()},
        checks={own: allowed for own, (_, allowed) in known.items()},
        default=False,
    )(finalise)


def stub_purity(table: Contingency) -> float:
    most = np.zeros(len(table.column_sums), np.int64)
    np.maximum.at(most, table.columns, table.counts)
    return int(most.sum()) / table.total


enter("purity", "Purity: the share of rows in the class that is the largest of their cluster.", None, stub_purity)
