"""How AUC differs between groups: a histogram, from the table that GAUC reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fastmetrics._core.picture import Bars, Picture
from fastmetrics._core.pictures import Model, NoPictureError, describe, picture
from fastmetrics._core.replicates import LotTable
from fastmetrics._core.statistic import Statistic, Sums
from fastmetrics.metrics.ranking.auc import GroupPairs, PairsByGroup

BINS = 20


class GroupAucBins(Statistic):
    """Groups by their AUC in bins of equal width, the last with its upper end; groups of one class last of all."""

    __slots__ = ()

    @property
    def table(self) -> type[PairsByGroup]:
        return PairsByGroup

    def new(self) -> Sums:
        return Sums(BINS + 1, 0)

    def update(self, state: Sums, table: GroupPairs) -> None:
        state.counts += np.bincount(bins_of(table), minlength=BINS + 1)

    def update_parts(self, states: LotTable, table: GroupPairs, starts: np.ndarray) -> None:
        """As `update`, of the groups starts[i] to starts[i + 1] for state i."""
        n = starts.shape[0] - 1
        cells = bins_of(table) + np.repeat(np.arange(n) * (BINS + 1), np.diff(starts))
        states.counts[:] += np.bincount(cells, minlength=n * (BINS + 1)).reshape(n, BINS + 1)


def bins_of(table: GroupPairs) -> np.ndarray:
    """The bin of every group."""
    auc = table.auc()
    lacking = np.isnan(auc)
    bins: np.ndarray = np.minimum(np.where(lacking, 0.0, auc) * BINS, BINS - 1).astype(np.int64)
    bins[lacking] = BINS
    return bins


@picture(
    "gauc-histogram", place=6, exchange="group", statistics=(GroupAucBins(),), resampled=lambda state: GroupAucBins(),
    notes=(("gauc", "GAUC"),),
)  # fmt: skip
def draw_auc_histogram(models: Sequence[Model]) -> Picture:
    """How many groups have which AUC; groups of one class have none."""
    edges = np.arange(BINS + 1) / BINS
    bars = []
    for model in models:
        (state,) = model.states
        counts = state.counts[:BINS]
        if not counts.any():
            continue
        own = Bars(model.name, edges, counts / counts.sum(), note=model.note)
        if model.replicates is not None:
            drawn = model.replicates[:, :BINS]
            low, high = model.ends(drawn / np.maximum(drawn.sum(axis=1, keepdims=True), 1))
            own = own._replace(low=low, high=high)
        bars.append(own)
    if not bars:
        raise NoPictureError("no group has both classes")
    summary = describe("Shares of the groups that have both classes, by the AUC inside each group", bars)
    return Picture(
        "gauc-histogram", "AUC inside groups", "AUC of a group", "Share of groups", bars=tuple(bars),
        x_range=(0.0, 1.0), summary=summary,
    )  # fmt: skip
