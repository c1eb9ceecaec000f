"""Curves of logs to look at: rows by class in narrow bins of their scores, whose edges are points of the exact curves.

Two sums of counts at every edge, so that curves of parts merge, and depend on the rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from fastmetrics._core.histogram import ScoreHistogram
from fastmetrics._core.pairs import why_undefined
from fastmetrics._core.picture import Line, Picture
from fastmetrics._core.pictures import Model, NoPictureError, describe, picture, thinned
from fastmetrics._core.rows import Rows
from fastmetrics._core.statistic import Statistic

BINS = 1 << 12
MOST_RATE = 0.95  # of errors that DET curves show
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

    name: str
    note: str
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


def counts_of(models: Sequence[Model]) -> list[Counts]:
    """Of the models that have rows of both classes; NoPictureError where none has."""
    found, reason = [], "there is no row"
    for model in models:
        (histogram,) = model.states
        negatives, positives = histogram.counts.sum(axis=0).tolist()
        lacking = why_undefined(negatives, positives)
        if lacking:
            reason = lacking
            continue
        steps = np.zeros((histogram.counts.shape[0] + 1, 2), np.int64)
        np.cumsum(histogram.counts[::-1], axis=0, out=steps[1:])
        found.append(Counts(model.name, model.note, steps[:, 0].copy(), steps[:, 1].copy()))
    if not found:
        raise NoPictureError(reason)
    return found


def line_of(
    own: Counts, x: np.ndarray, y: np.ndarray, seen: Callable[[np.ndarray], np.ndarray] | None = None
) -> Line:
    """The points worth drawing; `seen` tells where on an axis from 0 to 1 a number stands."""
    chosen = thinned(x, y) if seen is None else thinned(seen(x), seen(y))
    return Line(own.name, x[chosen], y[chosen], note=own.note)


def level_line(name: str, height: float) -> Line:
    return Line(name, np.array([0.0, 1.0]), np.array([height, height]))


UNIT = (0.0, 1.0)


@picture("roc", place=1, exchange="none", statistics=(ScoreBins(),), notes=(("auc", "AUC"),), weighted=False)
def draw_roc(models: Sequence[Model]) -> Picture:
    """True positive rate over false positive rate, for every threshold."""
    lines = tuple(line_of(own, own.fpr, own.tpr) for own in counts_of(models))
    return Picture(
        "roc", "ROC curve", "False positive rate", "True positive rate", lines,
        reference=Line("chance", np.array(UNIT), np.array(UNIT)), x_range=UNIT, y_range=UNIT,
        summary=describe("True positive rate over false positive rate", lines),
    )  # fmt: skip


@picture("pr", place=2, exchange="none", statistics=(ScoreBins(),), notes=(("ap", "AP"),), weighted=False)
def draw_precision_recall(models: Sequence[Model]) -> Picture:
    """Precision over recall, for every threshold, as steps: average precision is the area below."""
    found = counts_of(models)
    lines = []
    for own in found:
        precision = own.positives[1:] / (own.positives[1:] + own.negatives[1:])
        recall = np.column_stack((own.tpr[:-1], own.tpr[1:])).reshape(-1)
        lines.append(line_of(own, recall, np.repeat(precision, 2)))
    rates = {own.base_rate for own in found}
    reference = level_line("chance", rates.pop()) if len(rates) == 1 else None
    return Picture(
        "pr", "Precision and recall", "Recall", "Precision", tuple(lines), reference=reference, x_range=UNIT,
        y_range=UNIT, summary=describe("Precision over recall", lines),
    )  # fmt: skip


def deviates(rates: np.ndarray) -> np.ndarray:
    """Where rates stand on axes of normal deviates, of which four on either side of 0 are seen."""
    from statistics import NormalDist  # half as long to import as all curves

    inverse = NormalDist().inv_cdf
    return np.array([inverse(rate) / 8 for rate in rates.tolist()])


@picture("det", place=3, exchange="none", statistics=(ScoreBins(),), notes=(("eer", "EER"),), weighted=False)
def draw_det(models: Sequence[Model]) -> Picture:
    """False negative rate over false positive rate, on axes of normal deviates (Martin et al., Eurospeech 1997)."""
    lines = []
    for own in counts_of(models):
        misses = own.positives[-1] - own.positives
        inside = (own.negatives > 0) & (own.negatives < own.negatives[-1]) & (misses > 0) & (own.positives > 0)
        if inside.any():
            lines.append(line_of(own, own.fpr[inside], (misses / own.positives[-1])[inside], deviates))
    if not lines:
        raise NoPictureError("at no threshold are there both kinds of errors and rows without")
    # Where one rate is nearly 1 nobody works; seen is what lies before.
    points = np.concatenate([(line.x, line.y) for line in lines], axis=1)
    shown = points[:, (points <= MOST_RATE).all(axis=0)]
    x_range, y_range = ((float(own.min(initial=0.5)), MOST_RATE) for own in shown)
    ends = np.array([1 - MOST_RATE, MOST_RATE])
    return Picture(
        "det", "Detection error trade-off", "False positive rate", "False negative rate", tuple(lines),
        reference=Line("chance", ends, ends[::-1].copy()), scale="normal", x_range=x_range, y_range=y_range,
        summary=describe("False negative rate over false positive rate, on axes of normal deviates", lines),
    )  # fmt: skip


@picture("lift", place=4, exchange="none", statistics=(ScoreBins(),), weighted=False)
def draw_lift(models: Sequence[Model]) -> Picture:
    """Lift over the share of rows that score highest: their share of positives over that of all rows."""
    found = counts_of(models)
    curves = []
    for own in found:
        chosen = (own.positives + own.negatives)[1:]
        curves.append((chosen / chosen[-1], (own.positives[1:] / chosen) / own.base_rate))
    top = max(float(lift[share >= SEEN_SHARE].max()) for share, lift in curves)
    lines = []
    for own, (share, lift) in zip(found, curves, strict=True):
        chosen = thinned(share, lift / top)
        lines.append(Line(own.name, share[chosen], lift[chosen], note=own.note))
    return Picture(
        "lift", "Lift", "Share of rows, highest scores first", "Lift", tuple(lines),
        reference=level_line("chance", 1.0), x_range=UNIT, y_range=(0.0, 1.08 * max(top, 1.0)),
        summary=describe("How much richer in positives the rows with the highest scores are than all rows", lines),
    )  # fmt: skip
