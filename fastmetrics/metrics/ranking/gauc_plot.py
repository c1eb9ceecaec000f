"""A histogram of the AUC inside groups, from the table of GAUC."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fastmetrics._core.plot import Bars, Plot
from fastmetrics._core.registry.plot_registry import ModelStates, NoPlotError, plot, plot_summary
from fastmetrics._core.state import Field, Fields, Sums
from fastmetrics._core.statistic import ByUnit, GroupedStatistic, StatesOfUnits
from fastmetrics.metrics.ranking.lists.group_pairs import GroupPairs, PairsByGroup

BINS = 20


class GroupAucBins(ByUnit, GroupedStatistic):
    """Groups by AUC in bins of equal width; the last bin includes 1. One more count is of groups of one class."""

    __slots__ = ()
    fields = Fields(Field("groups", length=BINS), "groups of one class")

    @property
    def table(self) -> type[PairsByGroup]:
        return PairsByGroup

    def update(self, state: Sums, table: GroupPairs) -> None:
        state.counts += np.bincount(auc_bins(table), minlength=BINS + 1)

    def update_units(self, states: StatesOfUnits, table: GroupPairs, numbers: np.ndarray) -> None:
        n = states.counts.shape[0]
        cells = auc_bins(table) + numbers.astype(np.int64) * (BINS + 1)
        states.counts[:] += np.bincount(cells, minlength=n * (BINS + 1)).reshape(n, BINS + 1)


def auc_bins(table: GroupPairs) -> np.ndarray:
    """The histogram bin of every group."""
    auc = table.auc()
    undefined = np.isnan(auc)
    bins: np.ndarray = np.minimum(np.where(undefined, 0.0, auc) * BINS, BINS - 1).astype(np.int64)
    bins[undefined] = BINS
    return bins


@plot(
    "gauc-histogram", position=6, exchange="hash", statistics=(GroupAucBins(),),
    band_statistic=lambda state: GroupAucBins(), legend_metrics=(("gauc", "GAUC"),),
)  # fmt: skip
def draw_auc_histogram(models: Sequence[ModelStates]) -> Plot:
    """Share of groups by their AUC; groups of one class have none."""
    edges = np.arange(BINS + 1) / BINS
    bars = []
    for model in models:
        (state,) = model.states
        counts = state.counts_of("groups")
        if not counts.any():
            continue
        histogram = Bars(model.name, edges, counts / counts.sum(), note=model.note)
        if model.replicates is not None:
            replicates = model.replicates[:, :BINS]
            low, high = model.percentile_interval(replicates / np.maximum(replicates.sum(axis=1, keepdims=True), 1))
            histogram = histogram._replace(low=low, high=high)
        bars.append(histogram)
    if not bars:
        raise NoPlotError("no group has both classes")
    summary = plot_summary("Shares of the groups that have both classes, by the AUC inside each group", bars)
    return Plot(
        "gauc-histogram", "AUC inside groups", "AUC of a group", "Share of groups", bars=tuple(bars),
        x_range=(0.0, 1.0), summary=summary,
        caption="Groups with one class have no AUC and are left out; at 0.5 the order inside a group is chance.",
    )  # fmt: skip
