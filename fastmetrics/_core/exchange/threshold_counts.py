"""Rows by class between given scores: few counts, so that every replicate of a log can have them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import Rows
from fastmetrics._core.statistic import Statistic, Sums


class ScoreCells(Statistic):
    """Counts of negatives and positives below, between and above `edges`. A score equal to an edge counts as above."""

    __slots__ = ("edges",)

    def __init__(self, edges: np.ndarray) -> None:
        self.edges = edges

    def fields(self) -> tuple[Any, ...]:
        return tuple(self.edges.tolist())

    @property
    def n_cells(self) -> int:
        return int(self.edges.shape[0]) + 1

    def new(self) -> Sums:
        return Sums(2 * self.n_cells, 0)

    def update(self, state: Sums, rows: Rows) -> None:
        cells = np.searchsorted(self.edges, rows.scores, side="right")
        state.counts += np.bincount(2 * cells + rows.labels, minlength=2 * self.n_cells)
