"""The calibration plot of `evaluate`: observed rates in bins of the predicted probability."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fastmetrics._core.columns.binary_probabilities import NO_WEIGHT
from fastmetrics._core.columns.row_blocks import Rows
from fastmetrics._core.exact import divide
from fastmetrics._core.plot import Line, Plot
from fastmetrics._core.registry.plot_registry import ModelStates, NoPlotError, plot, plot_summary
from fastmetrics._core.score_statistics.score_histogram import ScoreCells
from fastmetrics._core.state import Field, Fields, Sums
from fastmetrics.metrics.calibration.calibration_bins import ProbabilityBins, bin_fields

BAD_SCORES = "scores outside [0, 1]"
RELIABILITY_BINS = 12  # bins of the plot
LOW_RATE, LEAST_RATIO = 0.1, 10.0  # below it, and from this ratio of the bins' means on, axes are logarithmic
CAPTION = (
    "A point is a bin of rows with similar probabilities. Below the dashed line the model predicts too much, above it "
    "too little."
)
LOG_CAPTION = " Both axes are logarithmic; a point at the lower edge stands for a bin without positives."
FIRST_OCTAVE = -20  # smallest octave of distances to 0 or 1 with bins of its own; all smaller distances share one bin


def narrow_bin_edges() -> np.ndarray:
    """Return edges of bins that are narrow near 0 and 1: 16 bins for each doubling of the distance to the end.

    An edge is the largest number of its bin, as ProbabilityBins needs it. Below one half a bin contains its lower
    bound; from one half on it contains its upper bound.
    """
    low = np.ldexp(1 + np.arange(16) / 16, np.arange(FIRST_OCTAVE, -1)[:, None]).reshape(-1)
    return np.concatenate((np.nextafter(low, 0.0), [np.nextafter(0.5, 0.0)], 1 - low[::-1]))


def find_narrow_bins(probabilities: np.ndarray, n_bins: int) -> np.ndarray:
    """Return the narrow bin of every float64 probability, from the bits of its distance to 0 or 1."""
    bits = np.minimum(probabilities, 1 - probabilities).view(np.int64) >> 48  # the exponent and the next 4 bits
    bins = np.clip(bits - ((1023 + FIRST_OCTAVE) * 16 - 1), 0, n_bins // 2 - 1)
    return np.asarray(np.where(probabilities < 0.5, bins, n_bins - 1 - bins))


class ReliabilityBins(ProbabilityBins):
    """Narrow bins of probabilities. The plot joins neighboring bins when the rows of each are known.

    Without weights the sum of p is an integer multiple of 2**-52. It is stored as two halves of 26 bits after the other
    counts. Scores outside [0, 1] raise no error here: a count marks the state as invalid.
    """

    __slots__ = ()

    def __init__(self) -> None:
        edges = narrow_bin_edges()
        super().__init__(edges.shape[0] + 1, None, edges)

    def attributes(self) -> tuple[Any, ...]:
        return ()  # the edges are always the same

    @property
    def fields(self) -> Fields:
        halves = (Field(name, length=self.n_bins) for name in ("high halves", "low halves"))
        return bin_fields(self.n_bins, BAD_SCORES, *halves)

    def update(self, state: Sums, rows: Rows) -> None:
        if state.count(BAD_SCORES) or not rows.scores.shape[0]:
            return
        if not (rows.scores.min() >= 0 and rows.scores.max() <= 1):
            state.set_flag(BAD_SCORES)
        elif rows.weights is not None:
            self.add_rows(state, rows)
        else:
            self.add_unweighted(state, rows.labels, rows.scores.astype(np.float64, copy=False))

    def add_unweighted(self, state: Sums, labels: np.ndarray, probabilities: np.ndarray) -> None:
        """Add rows without weights. The exact sums of the kernel would take ten times as long."""
        bins = find_narrow_bins(probabilities, self.n_bins)
        counts = state.counts_of("classes")
        counts += np.bincount(2 * bins + labels, minlength=2 * self.n_bins)
        high = np.floor(probabilities * 2**26)
        low = np.rint((probabilities * 2**26 - high) * 2**26)
        for name, values in (("high halves", high), ("low halves", low)):
            half = state.counts_of(name)
            half += np.bincount(bins, values, self.n_bins).astype(np.int64)  # the sums of a block are below 2**53

    def bin_sums(self, state: Sums) -> list[tuple[int, int, int]]:
        if state.count("weighted"):
            return super().bin_sums(state)
        classes = state.counts_of("classes").reshape(self.n_bins, 2).tolist()
        halves = zip(state.counts_of("high halves").tolist(), state.counts_of("low halves").tolist(), strict=True)
        return [
            ((negative + positive) << 52, positive << 52, (high << 26) + low)
            for (negative, positive), (high, low) in zip(classes, halves, strict=True)
        ]

    def rows_per_bin(self, state: Sums) -> np.ndarray:
        """Return the number of rows of every bin."""
        counts = state.counts_of("classes").reshape(self.n_bins, 2)
        return np.asarray(counts[:, 0] if state.count("weighted") else counts.sum(axis=1))

    def joined_edges(self, state: Sums) -> np.ndarray:
        """Return the first bin of every range that the plot shows as one bin, and the end of the last range.

        Each range has about the same total of its share of rows and its share of predicted positives. With rows alone,
        one range could have nearly all predicted positives if most probabilities are near 0.
        """
        rows = np.cumsum(self.rows_per_bin(state))
        sums = [probability for _, _, probability in self.bin_sums(state)]
        total = max(1, sum(sums))
        shares = rows / max(1, rows[-1]) + np.cumsum([divide(probability, total) for probability in sums])
        last = np.searchsorted(shares, shares[-1] * np.arange(1, RELIABILITY_BINS) / RELIABILITY_BINS)
        # Empty bins may follow the last bin with rows.
        return np.unique(np.concatenate(([0], last + 1, [np.searchsorted(rows, rows[-1]) + 1])))


def joined_bin_cells(state: Sums) -> ScoreCells:
    """Return the bins of the plot, for replicates. A score equal to an edge belongs to the bin below."""
    statistic = ReliabilityBins()
    return ScoreCells(np.nextafter(statistic.edges[statistic.joined_edges(state)[1:-1] - 1], 2.0))


@plot(
    "calibration", position=5, exchange="none", statistics=(ReliabilityBins(),), band_statistic=joined_bin_cells,
    legend_metrics=(("ece", "ECE"),),
)  # fmt: skip
def draw_calibration(models: Sequence[ModelStates]) -> Plot:
    """Observed rates over mean predicted probabilities, in bins of about equally many rows."""
    lines, reason = [], NO_WEIGHT
    for model in models:
        statistic, (state,) = ReliabilityBins(), model.states
        if state.count(BAD_SCORES):
            reason = f"score column {model.name!r} has values outside [0, 1], which are no probabilities"
            continue
        table = statistic.bin_sums(state)
        edges = statistic.joined_edges(state).tolist()
        bins = [[sum(column) for column in zip(*table[start:stop], strict=True)] for start, stop in pairwise(edges)]
        if not any(weight for weight, _, _ in bins):
            continue
        x = np.array([divide(probability, weight) for weight, _, probability in bins])
        y = np.array([divide(positive, weight) for weight, positive, _ in bins])
        line = Line(model.name, x, y, note=model.note, markers=True)
        if model.replicates is not None:
            counts = model.replicates.reshape(-1, x.shape[0], 2)
            rows = counts.sum(axis=2)
            low, high = model.percentile_interval(np.where(rows > 0, counts[:, :, 1] / np.maximum(rows, 1), np.nan))
            line = line._replace(low=np.fmin(low, y), high=np.fmax(high, y))
        lines.append(line)
    if not lines:
        raise NoPlotError(reason)
    least, top = axis_range(lines)
    ends, is_log = np.array([least, top]), least > 0
    return Plot(
        "calibration", "Calibration", "Mean predicted probability", "Observed rate", tuple(lines),
        reference=Line("perfect", ends, ends), scale="log" if is_log else "linear",
        x_range=(least, top), y_range=(least, top),
        summary=plot_summary("Observed rates over mean predicted probabilities, bin by bin", lines),
        caption=CAPTION + (LOG_CAPTION if is_log else ""),
    )  # fmt: skip


def axis_range(lines: Sequence[Line]) -> tuple[float, float]:
    """The ends of both axes. They begin above 0, for logarithms, if most bins have low rates that differ much."""
    rates = np.concatenate([column for line in lines for column in (line.x, line.y)])
    top = min(1.0, 1.05 * float(rates.max()))
    means = np.concatenate([line.x for line in lines])
    positive = rates[rates > 0]
    if not (means > 0).all() or np.median(means) >= LOW_RATE or means.max() < LEAST_RATIO * means.min():
        return 0.0, top
    return max(float(positive.min()), 1e-7) / 1.5, min(1.0, 1.5 * float(rates.max()))
