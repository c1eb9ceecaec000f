"""ROC, precision-recall, DET and lift plots of a log, from the rows of each class in narrow bins of scores.

The edges of the bins are points of the exact curves. The states are counts, so they merge and do not depend on the
order of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from fastmetrics._core.columns.row_blocks import Rows
from fastmetrics._core.distributions.normal import normal_quantile
from fastmetrics._core.elementary import exp
from fastmetrics._core.exchange.range_exchange import scores_of_keys
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.plot import Line, Plot
from fastmetrics._core.registry.plot_registry import ModelStates, NoPlotError, plot, plot_summary, simplified_points
from fastmetrics._core.score_statistics.pair_counts import undefined_reason
from fastmetrics._core.score_statistics.score_histogram import ScoreCells, ScoreHistogram
from fastmetrics._core.statistic import AdditiveStatistic

BINS = 1 << 12
# Rates at which the cells of replicates begin: closer together at both ends.
CUT_RATES = tuple(1 / (1 + exp(-7.5 + 15 * i / 63)) for i in range(64))
MAX_ERROR_RATE = 0.95  # the end of both axes of a DET plot
# A share of the x axis. A longer straight line gets points in between, because its band may bend.
MAX_STRETCH = 1 / 64
# Lifts of a smaller share of the rows may lie outside the plot: they can be as high as 1 / base rate.
MIN_SHOWN_SHARE = 0.005


class ScoreBins(AdditiveStatistic):
    """Rows by class in at most BINS bins of neighboring scores."""

    __slots__ = ()

    def empty(self) -> ScoreHistogram:
        return ScoreHistogram(BINS)

    def update(self, state: ScoreHistogram, rows: Rows) -> None:
        # A column may be of float32 in one file and of float64 in another.
        state.add(rows.labels, rows.scores.astype(np.float64, copy=False))


class CumulativeCounts(NamedTuple):
    """Negatives and positives that score at least each threshold. Thresholds descend: first no row, last all rows."""

    negatives: np.ndarray
    positives: np.ndarray

    @property
    def fpr(self) -> np.ndarray:
        return np.asarray(self.negatives / self.negatives[-1])

    @property
    def tpr(self) -> np.ndarray:
        return np.asarray(self.positives / self.positives[-1])

    @property
    def base_rate(self) -> float:
        return float(self.positives[-1] / (self.positives[-1] + self.negatives[-1]))

    def roc(self) -> tuple[np.ndarray, np.ndarray]:
        return self.fpr, self.tpr

    def precision_recall(self) -> tuple[np.ndarray, np.ndarray]:
        """Recall ascending, from the first threshold that any row reaches."""
        return self.tpr[1:], self.positives[1:] / (self.positives[1:] + self.negatives[1:])

    def error_rates(self) -> tuple[np.ndarray, np.ndarray]:
        return self.fpr, (self.positives[-1] - self.positives) / self.positives[-1]

    def lift(self) -> tuple[np.ndarray, np.ndarray]:
        """Lift over the share of rows. Inside tied rows it is the mean over their orders, not a straight line."""
        rows = self.positives + self.negatives
        points = dense_positions(rows / rows[-1])
        share, positives = (
            interpolate(points, *with_positions(counts / counts[-1])) for counts in (rows, self.positives)
        )
        lifts = positives[1:] / share[1:]
        if rows[1] > MAX_STRETCH * rows[-1]:
            return share, np.append(lifts[0], lifts)
        return share[1:], lifts


def interpolate(x: np.ndarray, xs: np.ndarray, ys: np.ndarray) -> np.ndarray:
    """The heights at x of the line through ascending points, level beyond its ends.

    `np.interp` may fuse the product and the sum, so its last bit depends on the processor that NumPy was built for.
    """
    last = np.minimum(np.maximum(np.searchsorted(xs, x, "right"), 1), xs.shape[0] - 1)
    first = last - 1  # of a single point, the point itself: index -1
    with np.errstate(invalid="ignore", divide="ignore"):
        slopes = (ys[last] - ys[first]) / (xs[last] - xs[first])
        between = slopes * (x - xs[first]) + ys[first]
    return np.asarray(np.where(x >= xs[-1], ys[-1], np.where(x < xs[0], ys[0], between)))


def dense_positions(x: np.ndarray) -> np.ndarray:
    """Positions 0, 1, ... of the points of a line, with fractional positions between two that are far apart along x."""
    extra = np.ceil(np.diff(x) / MAX_STRETCH).astype(np.int64).clip(1)
    starts = np.repeat(np.cumsum(extra) - extra, extra)
    within = (np.arange(extra.sum()) - starts) / np.repeat(extra, extra)
    return np.append(np.repeat(np.arange(extra.shape[0]), extra) + within, extra.shape[0])


Curve = Callable[[CumulativeCounts], tuple[np.ndarray, np.ndarray]]


def cumulate_cells(cells: np.ndarray) -> CumulativeCounts:
    """Cumulative counts of rows by class in ascending cells of scores. Empty cells are not thresholds."""
    cells = cells[cells.any(axis=1)]
    cumulative = np.zeros((cells.shape[0] + 1, 2), np.int64)
    np.cumsum(cells[::-1], axis=0, out=cumulative[1:])
    return CumulativeCounts(cumulative[:, 0].copy(), cumulative[:, 1].copy())


def models_with_both_classes(models: Sequence[ModelStates]) -> list[tuple[ModelStates, CumulativeCounts]]:
    """The models that have rows of both classes, with their cumulative counts. NoPlotError if there is none."""
    with_both_classes, reason = [], "there is no row"
    for model in models:
        (histogram,) = model.states
        model_reason = undefined_reason(*histogram.counts.sum(axis=0).tolist())
        if model_reason:
            reason = model_reason
        else:
            with_both_classes.append((model, cumulate_cells(histogram.counts)))
    if not with_both_classes:
        raise NoPlotError(reason)
    return with_both_classes


def first_bins_of_cells(histogram: ScoreHistogram) -> np.ndarray:
    """The first bin of each cell of the replicates, except the first cell. Cells are wider than bins.

    A cell begins where the cumulative rate of a class, from the greatest score down, reaches one of CUT_RATES.
    """
    last = histogram.counts.shape[0] - 1
    cuts = [np.empty(0, np.int64)]
    for counts in histogram.counts[::-1].T:
        cumulative = np.cumsum(counts)
        if counts.any():
            cuts.append(last - np.searchsorted(cumulative, np.array(CUT_RATES) * cumulative[-1]))
    bins = np.unique(np.concatenate(cuts))
    return bins[bins > 0]


def make_replicate_cells(histogram: ScoreHistogram) -> ScoreCells:
    """The cells of the replicates; each begins at the lowest score of its first bin."""
    return ScoreCells(scores_of_keys(histogram.prefixes[first_bins_of_cells(histogram)] << np.uint64(histogram.shift)))


def make_line(
    model: ModelStates,
    points: tuple[np.ndarray, np.ndarray],
    curve: Curve,
    axis_position: Callable[[np.ndarray], np.ndarray] | None = None,
    top: float = 1.0,
) -> Line:
    """The line of a model, without points too close to be seen, and with a confidence band.

    The y axis ends at `top`; or `axis_position` maps numbers to their positions on axes from 0 to 1.
    """
    x, y = points
    if axis_position is None:
        selected = simplified_points(x, y / top)
    else:
        selected = simplified_points(axis_position(x), axis_position(y))
    line = Line(model.name, x[selected], y[selected], note=model.note)
    if model.replicates is None:
        return line
    if axis_position is None:
        positions = dense_positions(line.x)
        line = line._replace(
            x=interpolate(positions, *with_positions(line.x)), y=interpolate(positions, *with_positions(line.y))
        )
    return add_band(line, model, model.replicates, curve)


def add_band(line: Line, model: ModelStates, replicates: np.ndarray, curve: Curve) -> Line:
    """The line with a percentile band over the curves of the replicates.

    Replicates have fewer thresholds than the line. So the band adds to the line the differences between the replicates
    and the curve of the whole log at those thresholds.
    """
    (histogram,) = model.states
    cell_starts = np.append(0, first_bins_of_cells(histogram))
    center = interpolate(line.x, *curve(cumulate_cells(np.add.reduceat(histogram.counts, cell_starts, axis=0))))
    tables = replicates.reshape(-1, cell_starts.shape[0], 2)
    values = np.full((tables.shape[0], line.x.shape[0]), np.nan)
    for replicate_values, counts in zip(values, tables, strict=True):
        if counts.any(axis=0).all():
            replicate_values[:] = interpolate(line.x, *curve(cumulate_cells(counts)))
    low, high = model.percentile_interval(values - center)
    greatest = 1.0 if line.y.max() <= 1 else math.inf
    low, high = np.clip(line.y + low, 0.0, greatest), np.clip(line.y + high, 0.0, greatest)
    return line._replace(low=np.fmin(low, line.y), high=np.fmax(high, line.y))


def with_positions(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions 0, 1, ... and the values, for `interpolate`."""
    return np.arange(values.shape[0]), values


def level_line(name: str, height: float) -> Line:
    return Line(name, np.array([0.0, 1.0]), np.array([height, height]))


UNIT = (0.0, 1.0)


@plot(
    "roc", position=1, exchange="none", statistics=(ScoreBins(),), band_statistic=make_replicate_cells,
    legend_metrics=(("auc", "AUC"),), weighted=False,
)  # fmt: skip
def draw_roc(models: Sequence[ModelStates]) -> Plot:
    """True positive rate over false positive rate, for every threshold."""
    lines = tuple(
        make_line(model, counts.roc(), CumulativeCounts.roc) for model, counts in models_with_both_classes(models)
    )
    return Plot(
        "roc", "ROC curve", "False positive rate", "True positive rate", lines,
        reference=Line("chance", np.array(UNIT), np.array(UNIT)), x_range=UNIT, y_range=UNIT,
        summary=plot_summary("True positive rate over false positive rate", lines),
        caption="A point is a threshold: the shares of the negative and of the positive rows whose scores reach it.",
    )  # fmt: skip


@plot(
    "pr", position=2, exchange="none", statistics=(ScoreBins(),), band_statistic=make_replicate_cells,
    legend_metrics=(("ap", "AP"),), weighted=False,
)  # fmt: skip
def draw_precision_recall(models: Sequence[ModelStates]) -> Plot:
    """Precision over recall, for every threshold, as steps: average precision is the area below."""
    usable_models = models_with_both_classes(models)
    lines = []
    for model, counts in usable_models:
        recall, precision = counts.precision_recall()
        steps = np.column_stack((np.append(0.0, recall[:-1]), recall)).reshape(-1)
        lines.append(make_line(model, (steps, np.repeat(precision, 2)), CumulativeCounts.precision_recall))
    base_rates = {counts.base_rate for _, counts in usable_models}
    reference = level_line("chance", base_rates.pop()) if len(base_rates) == 1 else None
    return Plot(
        "pr", "Precision and recall", "Recall", "Precision", tuple(lines), reference=reference, x_range=UNIT,
        y_range=UNIT, summary=plot_summary("Precision over recall", lines),
        caption="A point is a threshold. Recall: the share of the positive rows whose scores reach it. Precision: the "
        "share of positives among all rows that reach it.",
    )  # fmt: skip


def normal_deviate_positions(rates: np.ndarray) -> np.ndarray:
    """Positions of rates on an axis of normal deviates that shows four on either side of 0."""
    return np.array([normal_quantile(rate) / 8 for rate in rates.tolist()])


@plot(
    "det", position=3, exchange="none", statistics=(ScoreBins(),), band_statistic=make_replicate_cells,
    legend_metrics=(("eer", "EER"),), weighted=False,
)  # fmt: skip
def draw_det(models: Sequence[ModelStates]) -> Plot:
    """False negative rate over false positive rate, on axes of normal deviates (Martin et al., Eurospeech 1997)."""
    lines = []
    for model, counts in models_with_both_classes(models):
        fpr, fnr = counts.error_rates()
        inside = (fpr > 0) & (fpr < 1) & (fnr > 0) & (fnr < 1)
        if inside.any():
            line = make_line(model, (fpr[inside], fnr[inside]), CumulativeCounts.error_rates, normal_deviate_positions)
            # A single point is visible only with a marker.
            lines.append(line._replace(markers=line.x.shape[0] == 1))
    if not lines:
        raise NoPlotError("at no threshold are both error rates above 0 and below 1")
    points = np.concatenate([(line.x, line.y) for line in lines], axis=1)
    # No system operates at an error rate near 1, so the plot omits these points.
    shown = points[:, (points <= MAX_ERROR_RATE).all(axis=0)]
    x_range, y_range = ((float(rates.min(initial=0.5)), MAX_ERROR_RATE) for rates in shown)
    ends = np.array([1 - MAX_ERROR_RATE, MAX_ERROR_RATE])
    return Plot(
        "det", "Detection error trade-off", "False positive rate", "False negative rate", tuple(lines),
        reference=Line("chance", ends, ends[::-1].copy()), scale="normal", x_range=x_range, y_range=y_range,
        summary=plot_summary("False negative rate over false positive rate, on axes of normal deviates", lines),
        caption="Lower is better. The axes are normal deviates: normally distributed scores give a straight line.",
    )  # fmt: skip


@plot(
    "lift", position=4, exchange="none", statistics=(ScoreBins(),), band_statistic=make_replicate_cells, weighted=False
)
def draw_lift(models: Sequence[ModelStates]) -> Plot:
    """Lift over the share of rows that score highest: their share of positives over that of all rows."""
    curves = [(model, counts.lift()) for model, counts in models_with_both_classes(models)]
    top = max(float(lift[share >= MIN_SHOWN_SHARE].max()) for _, (share, lift) in curves)
    lines = [make_line(model, points, CumulativeCounts.lift, top=top) for model, points in curves]
    return Plot(
        "lift", "Lift", "Share of rows, highest scores first", "Lift", tuple(lines),
        reference=level_line("chance", 1.0), x_range=UNIT, y_range=(0.0, 1.08 * max(top, 1.0)),
        summary=plot_summary("How much richer in positives the rows with the highest scores are than all rows", lines),
        caption="Lift 3 at 0.1: the tenth of the rows with the highest scores has three times the share of positives "
        "of all rows.",
    )  # fmt: skip
