"""Lift: the share of positives among the highest scores, relative to that among all rows."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.binary_probabilities import warn_and_unwrap
from fastmetrics._core.columns.class_labels import binary_labels
from fastmetrics._core.exact import divide
from fastmetrics._core.exchange.runs import ClassTotals, RangePosition, RangeState, RangeStatistic, Runs
from fastmetrics._core.exchange.sorted_rows import OrderedRows
from fastmetrics._core.metric_spec import ScoreInfluence
from fastmetrics._core.registry import metric
from fastmetrics._core.score_statistics.pair_counts import pair_coverage, undefined_reason
from fastmetrics._core.statistic import Value

if TYPE_CHECKING:
    from fastmetrics._core.score_statistics.score_classes import ClassMasses
    from fastmetrics._core.types.arrays import ArrayLike, Label, NumericArrayLike

__all__ = ["lift"]

# The docstring has the texts of this function's parameters (tools/parameter_texts.toml), whatever the family says.
PARAMETERS_AS = "gauc_score"


def check_share(q: Any) -> None:
    validation.check_number(q, "q", "a number above 0, at most 1", lambda q: 0 < q <= 1)


def share_of(q: float) -> Fraction:
    """The share as it is written: 0.1 is one tenth, though no float is."""
    return Fraction(repr(float(q)))


class PositivesOnTop(RangeStatistic):
    """The mass of the positives among the rows of greatest score, which are the share q of all: a fraction, as a pair.

    Only the range in which these rows end finds it; other ranges find None.
    """

    __slots__ = ("q",)

    def __init__(self, q: float) -> None:
        self.q = float(q)

    def find(self, runs: Runs, position: RangePosition) -> RangeState:
        totals = runs.totals
        left = share_of(self.q) * sum(position.totals.masses) - sum(position.above.masses)
        if not 0 < left <= sum(totals.masses):
            return RangeState(totals, None)
        negatives, positives = runs.negatives, runs.positives
        reached = np.cumsum(negatives + positives)
        run = int(np.searchsorted(reached, -(-left.numerator // left.denominator)))
        tied_positives, tied = int(positives[run]), int(negatives[run]) + int(positives[run])
        higher = position.above.masses[1] + int(np.cumsum(positives)[run]) - tied_positives
        on_top = higher + (left - int(reached[run]) + tied) * Fraction(tied_positives, tied)
        return RangeState(totals, (on_top.numerator, on_top.denominator))

    def merge(self, higher: RangeState, lower: RangeState, totals: ClassTotals) -> RangeState:
        return RangeState(higher.totals.plus(lower.totals), lower.found if higher.found is None else higher.found)


@answers_unknown
def lift(
    y_true: ArrayLike,
    y_score: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    q: float = 0.1,
    pos_label: Label | None = None,
    n_threads: int | None = None,
) -> float:
    """The share of positives among the highest scores, relative to that among all rows.

    lift(q) = [TP(q) / (q n)] / [P / n], for n rows with P positives, of which TP(q) are among the q n rows of greatest
    score (Provost and Fawcett, Data Science for Business, 2013, chapter 8). Of rows that tie at the end, the share that
    still fits is counted: the mean over their orders. q is read as the decimal number that it prints. At the shares of
    `lift_curve` it is the curve's lift, rounded once.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive. float32 and float64 are read without conversion; integers and float16
        are widened. Infinities are ordered, -0.0 ties with 0.0, and scores tie only if they are exactly equal.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300. A row of weight zero is left out.
    q : float in (0, 1]
        The share of rows (of weight) with the highest scores.
    pos_label : int, float, bool or str, optional
        The label of the positive class; all other labels are negative. Required if labels are not 0 and 1, or -1 and
        +1.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        At least 0; 1 for a random order. NaN with an UndefinedMetricWarning if there is no positive row.

    Raises
    ------
    ValueError
        NaN scores, invalid labels, different lengths, no rows or invalid weights; the message names the row.
        A q outside (0, 1].

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.lift([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], q=0.25)
    2.0
    """
    check_share(q)
    rows = OrderedRows(binary_labels(y_true, pos_label), validation.as_scores(y_score), sample_weight, n_threads)
    (state,) = rows.sweep(PositivesOnTop(q))
    return warn_and_unwrap("lift", finalize_lift({"q": q}, state))


NEIGHBORS = 4  # the rows about the threshold are a fourth of those above it, or of those below


def top_influence(q: float, masses: ClassMasses) -> np.ndarray:
    """The influence of a row on the positives on top, and on the threshold where the top ends.

    A row above the threshold moves it up. The share of positives that leave the top then is that of the rows near it.
    """
    negatives, positives = masses
    rows = negatives + positives
    total, total_positives = float(rows.sum()), float(positives.sum())
    left = q * total - (masses.from_above(rows) - rows)  # what of the top is in each class, and in those below it
    on_top = np.clip(np.divide(left, rows, out=np.zeros_like(rows), where=rows > 0), 0.0, 1.0)
    width = min(q, 1 - q) * total / NEIGHBORS
    shares = (masses.below(rows) >= (1 - q) * total - width) & (masses.below(rows) <= (1 - q) * total + width)
    near = float(rows[shares].sum())
    moved = float(positives[shares].sum()) / near if near else 0.0
    hit_rate = float((positives * on_top).sum()) / total_positives
    of_threshold = moved * (on_top - q)  # relative to the weight of all positives
    of_negatives = -of_threshold * ((total - total_positives) / total_positives)
    return np.stack((of_negatives, on_top - hit_rate - of_threshold), axis=1) / q


def influence_of_top(q: float) -> ScoreInfluence:
    return ScoreInfluence(partial(top_influence, q))


@metric(
    "lift",
    exchange="range",
    scale="ratio",
    statistics=lambda q: (PositivesOnTop(q),),
    influence=influence_of_top,
    function=lift,
    undefined="no positive row",
    parameters={"q": 0.1},
    checks={"q": check_share},
    default=False,
    variants=("lift(q=0.5)", "lift(q=1)"),
)
def finalize_lift(parameters: dict[str, Any], state: RangeState) -> Value:
    """Lift: the share of positives among the share q of rows with the highest scores, relative to all rows."""
    coverage = pair_coverage(*state.totals.rows)
    if not state.totals.positives:
        return Value(float("nan"), coverage, undefined_reason(*state.totals.rows))
    share, (numerator, denominator), positives = share_of(parameters["q"]), state.found, state.totals.masses[1]
    return Value(divide(numerator * share.denominator, denominator * share.numerator * positives), coverage)


# Calls with their values, worked out by hand.
CHECKED_VALUES: dict[str, Any] = {
    "lift": [
        (([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), {"q": 0.5}, 1.0),
        (([1, 0, 0, 0], [3, 3, 3, 1]), {"q": 0.5}, 4 / 3),
        (([0, 1, 0, 1], [1, 2, 3, 3]), {"q": 0.25, "sample_weight": [3, 1, 1, 3]}, 1.5),
    ]
}
