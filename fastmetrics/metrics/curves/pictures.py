"""Curves of logs to look at: rows by class in narrow bins of their scores, whose edges are points of the exact curves.

Two sums of counts at every edge, so that curves of parts merge, and depend on the rows alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from fastmetrics._core.by_score import scores_of_keys
from fastmetrics._core.histogram import ScoreHistogram
from fastmetrics._core.pairs import why_undefined
from fastmetrics._core.picture import Line, Picture
from fastmetrics._core.pictures import Model, NoPictureError, describe, picture, thinned
from fastmetrics._core.rows import Rows
from fastmetrics._core.score_cells import ScoreCells
from fastmetrics._core.statistic import Statistic

BINS = 1 << 12
CUT_RATES = tuple(1 / (1 + math.exp(-7.5 + 15 * step / 63)) for step in range(64))  # closer together at both ends
MOST_RATE = 0.95  # of errors that DET curves show
STRETCH = 1 / 64  # of an axis: a straight line that is longer has points in between, for its band may bend
SEEN_SHARE = 0.005  # lifts of fewer rows than that may leave the picture: they may be as high as 1 / base rate


class ScoreBins(Statistic):
    """Rows by class in at most BINS bins of neighbouring scores."""

    __slots__ = ()

    def new(self) -> ScoreHistogram:
        return ScoreHistogram(BINS)

    def update(self, state: ScoreHistogram, rows: Rows) -> None:
        # A column may be of float32 in one file and of float64 in another.
        state.add(rows.labels, rows.scores.astype(np.float64, copy=False))


class Counts(NamedTuple):
    """Negatives and positives that score at least each threshold, descending thresholds: none at first, all at last."""

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
        """From the first row on; inside many tied rows what it is on average over their orders: no straight line."""
        every = self.positives + self.negatives
        places = filled(every / every[-1])
        share, positives = (values_at(places, indexed(own / own[-1])) for own in (every, self.positives))
        lifts = positives[1:] / share[1:]
        if every[1] > STRETCH * every[-1]:
            return share, np.append(lifts[0], lifts)
        return share[1:], lifts


def filled(x: np.ndarray) -> np.ndarray:
    """The places 0, 1 .. of the points of a line, and between two that are far apart along x some of those between."""
    extra = np.ceil(np.diff(x) / STRETCH).astype(np.int64).clip(1)
    starts = np.repeat(np.cumsum(extra) - extra, extra)
    within = (np.arange(extra.sum()) - starts) / np.repeat(extra, extra)
    return np.append(np.repeat(np.arange(extra.shape[0]), extra) + within, extra.shape[0])


Curve = Callable[[Counts], tuple[np.ndarray, np.ndarray]]


def counts_of_cells(cells: np.ndarray) -> Counts:
    """Of rows by class in ascending cells of scores; empty cells are no thresholds."""
    cells = cells[cells.any(axis=1)]
    steps = np.zeros((cells.shape[0] + 1, 2), np.int64)
    np.cumsum(cells[::-1], axis=0, out=steps[1:])
    return Counts(steps[:, 0].copy(), steps[:, 1].copy())


def counts_of(models: Sequence[Model]) -> list[tuple[Model, Counts]]:
    """Of the models that have rows of both classes; NoPictureError where none has."""
    found, reason = [], "there is no row"
    for model in models:
        (histogram,) = model.states
        lacking = why_undefined(*histogram.counts.sum(axis=0).tolist())
        if lacking:
            reason = lacking
        else:
            found.append((model, counts_of_cells(histogram.counts)))
    if not found:
        raise NoPictureError(reason)
    return found


def cut_bins(histogram: ScoreHistogram) -> np.ndarray:
    """The bins at which cells begin that are wide enough for replicates, but for the first.

    They are where the rate of a class, seen from the greatest scores, is one of CUT_RATES.
    """
    last = histogram.counts.shape[0] - 1
    cuts = [np.empty(0, np.int64)]
    for counts in histogram.counts[::-1].T:
        reached = np.cumsum(counts)
        if counts.any():
            cuts.append(last - np.searchsorted(reached, np.array(CUT_RATES) * reached[-1]))
    bins = np.unique(np.concatenate(cuts))
    return bins[bins > 0]


def thresholds_of(histogram: ScoreHistogram) -> ScoreCells:
    """The cells that begin at `cut_bins`: at the least score that those may have."""
    return ScoreCells(scores_of_keys(histogram.prefixes[cut_bins(histogram)] << np.uint64(histogram.shift)))


def line_of(
    model: Model,
    points: tuple[np.ndarray, np.ndarray],
    curve: Curve,
    seen: Callable[[np.ndarray], np.ndarray] | None = None,
    top: float = 1.0,
) -> Line:
    """The points worth drawing, with a band.

    The axis of y goes to `top`, or `seen` tells where on axes from 0 to 1 numbers stand.
    """
    x, y = points
    chosen = thinned(x, y / top) if seen is None else thinned(seen(x), seen(y))
    line = Line(model.name, x[chosen], y[chosen], note=model.note)
    if model.replicates is None:
        return line
    if seen is None:
        places = filled(line.x)
        line = line._replace(x=values_at(places, indexed(line.x)), y=values_at(places, indexed(line.y)))
    return with_band(line, model, model.replicates, curve)


def with_band(line: Line, model: Model, replicates: np.ndarray, curve: Curve) -> Line:
    """The line with the ends that the curves of most replicates have at every x.

    Replicates know few thresholds: what they differ by from the curve of as few is what the line may be off by.
    """
    (histogram,) = model.states
    begins = np.append(0, cut_bins(histogram))
    center = values_at(line.x, curve(counts_of_cells(np.add.reduceat(histogram.counts, begins, axis=0))))
    tables = replicates.reshape(-1, begins.shape[0], 2)
    values = np.full((tables.shape[0], line.x.shape[0]), np.nan)
    for own, counts in zip(values, tables, strict=True):
        if counts.any(axis=0).all():
            own[:] = values_at(line.x, curve(counts_of_cells(counts)))
    low, high = model.ends(values - center)
    most = 1.0 if line.y.max() <= 1 else math.inf
    low, high = np.clip(line.y + low, 0.0, most), np.clip(line.y + high, 0.0, most)
    return line._replace(low=np.fmin(low, line.y), high=np.fmax(high, line.y))


def values_at(x: np.ndarray, points: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    found: np.ndarray = np.interp(x, *points)
    return found


def indexed(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(values.shape[0]), values


def level_line(name: str, height: float) -> Line:
    return Line(name, np.array([0.0, 1.0]), np.array([height, height]))


UNIT = (0.0, 1.0)


@picture(
    "roc", place=1, exchange="none", statistics=(ScoreBins(),), resampled=thresholds_of, notes=(("auc", "AUC"),),
    weighted=False,
)  # fmt: skip
def draw_roc(models: Sequence[Model]) -> Picture:
    """True positive rate over false positive rate, for every threshold."""
    lines = tuple(line_of(model, own.roc(), Counts.roc) for model, own in counts_of(models))
    return Picture(
        "roc", "ROC curve", "False positive rate", "True positive rate", lines,
        reference=Line("chance", np.array(UNIT), np.array(UNIT)), x_range=UNIT, y_range=UNIT,
        summary=describe("True positive rate over false positive rate", lines),
    )  # fmt: skip


@picture(
    "pr", place=2, exchange="none", statistics=(ScoreBins(),), resampled=thresholds_of, notes=(("ap", "AP"),),
    weighted=False,
)  # fmt: skip
def draw_precision_recall(models: Sequence[Model]) -> Picture:
    """Precision over recall, for every threshold, as steps: average precision is the area below."""
    found = counts_of(models)
    lines = []
    for model, own in found:
        recall, precision = own.precision_recall()
        steps = np.column_stack((np.append(0.0, recall[:-1]), recall)).reshape(-1)
        lines.append(line_of(model, (steps, np.repeat(precision, 2)), Counts.precision_recall))
    rates = {own.base_rate for _, own in found}
    reference = level_line("chance", rates.pop()) if len(rates) == 1 else None
    return Picture(
        "pr", "Precision and recall", "Recall", "Precision", tuple(lines), reference=reference, x_range=UNIT,
        y_range=UNIT, summary=describe("Precision over recall", lines),
    )  # fmt: skip


def deviates(rates: np.ndarray) -> np.ndarray:
    """Where rates stand on axes of normal deviates, of which four on either side of 0 are seen."""
    from statistics import NormalDist  # takes half as long to import as all curves

    inverse = NormalDist().inv_cdf
    return np.array([inverse(rate) / 8 for rate in rates.tolist()])


@picture(
    "det", place=3, exchange="none", statistics=(ScoreBins(),), resampled=thresholds_of, notes=(("eer", "EER"),),
    weighted=False,
)  # fmt: skip
def draw_det(models: Sequence[Model]) -> Picture:
    """False negative rate over false positive rate, on axes of normal deviates (Martin et al., Eurospeech 1997)."""
    lines = []
    for model, own in counts_of(models):
        accepted, missed = own.error_rates()
        inside = (accepted > 0) & (accepted < 1) & (missed > 0) & (missed < 1)
        if inside.any():
            line = line_of(model, (accepted[inside], missed[inside]), Counts.error_rates, deviates)
            # A point alone is no line: it is seen by its marker.
            lines.append(line._replace(markers=line.x.shape[0] == 1))
    if not lines:
        raise NoPictureError("at no threshold are both error rates above 0 and below 1")
    points = np.concatenate([(line.x, line.y) for line in lines], axis=1)
    # Where one rate is nearly 1 nobody works; seen is what lies before.
    shown = points[:, (points <= MOST_RATE).all(axis=0)]
    x_range, y_range = ((float(own.min(initial=0.5)), MOST_RATE) for own in shown)
    ends = np.array([1 - MOST_RATE, MOST_RATE])
    return Picture(
        "det", "Detection error trade-off", "False positive rate", "False negative rate", tuple(lines),
        reference=Line("chance", ends, ends[::-1].copy()), scale="normal", x_range=x_range, y_range=y_range,
        summary=describe("False negative rate over false positive rate, on axes of normal deviates", lines),
    )  # fmt: skip


@picture(
    "lift", place=4, exchange="none", statistics=(ScoreBins(),), resampled=thresholds_of, weighted=False
)
def draw_lift(models: Sequence[Model]) -> Picture:
    """Lift over the share of rows that score highest: their share of positives over that of all rows."""
    found = [(model, own.lift()) for model, own in counts_of(models)]
    top = max(float(lift[share >= SEEN_SHARE].max()) for _, (share, lift) in found)
    lines = [line_of(model, points, Counts.lift, top=top) for model, points in found]
    return Picture(
        "lift", "Lift", "Share of rows, highest scores first", "Lift", tuple(lines),
        reference=level_line("chance", 1.0), x_range=UNIT, y_range=(0.0, 1.08 * max(top, 1.0)),
        summary=describe("How much richer in positives the rows with the highest scores are than all rows", lines),
    )  # fmt: skip
