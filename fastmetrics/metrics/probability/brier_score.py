"""Brier score: the mean squared distance between probabilities and outcomes, and what it says of a model's skill.

A ratio of exact sums over rows, rounded once. Squares are computed in float64 whatever the input type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import exact, inputs
from fastmetrics._core.binary import (
    NO_WEIGHT,
    LabelCounts,
    check_sampling_rate,
    kernel_rate,
    plain_sums,
    ratio,
    row_coverage,
)
from fastmetrics._core.exact import divide
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import metric
from fastmetrics._core.rows import Rows
from fastmetrics._core.statistic import Statistic, Sums, Value
from fastmetrics._core.undefined import UndefinedMetricWarning, warn_undefined
from fastmetrics._kernels import losses, shortlosses
from fastmetrics.metrics.probability.targets import (
    ClassSquaredErrors,
    OneColumn,
    as_predictions,
    check_labels,
    check_pos_label,
    fewer_than_two,
    machine_epsilon,
    positive_labels,
    read_target,
    read_weights,
    several_columns,
    warn_user,
)

__all__ = ["brier_score_loss", "d2_brier_score"]


class SquaredErrors(Statistic):
    """The (weighted) sum of (p - y)^2."""

    __slots__ = ("sampling_rate",)

    def __init__(self, sampling_rate: float | None = None) -> None:
        self.sampling_rate = sampling_rate

    def new(self) -> Sums:
        return Sums(0, 1)

    def update(self, state: Sums, rows: Rows) -> None:
        problem = np.zeros(1, np.int64)
        rate = kernel_rate(self.sampling_rate)
        losses.squared_error_terms(rows.labels, rows.scores, rows.weights, rate, state.exact[0], problem)
        if problem[0]:
            rows.raise_bad_probability()


class SquareSums(NamedTuple):
    """What the Brier score needs of all rows, times 2**EXPONENT: the sum of squares, the weight of rows and classes.

    One column of probabilities gives half the sum of two columns, whose squares are equal.
    """

    squares: int
    total: int
    n_columns: int
    classes: Sequence[int]


def square_sums(
    y_true: Any,
    y_proba: Any,
    sample_weight: Any,
    pos_label: Any,
    labels: Any,
    sampling_rate: float | None,
    n_threads: int | None,
    want_classes: bool = False,
) -> SquareSums:
    """The sums over labels of any kind, with all checks of scikit-learn."""
    check_pos_label(pos_label)
    check_sampling_rate(sampling_rate)
    check_labels(labels)
    threads = count_threads(n_threads)
    predictions = as_predictions(y_proba, "y_proba")
    target = read_target(y_true, predictions, "y_proba")
    weights = read_weights(sample_weight, target.shape[0])
    if predictions.ndim == 1:
        if len(target.shape) != 1:
            raise ValueError(f"y_true must have one dimension beside one column of y_proba; found {target.shape}")
        columns = OneColumn(
            target, predictions, weights, "y_proba", lambda column: positive_labels(column, pos_label),
            plain=pos_label is None or (type(pos_label) is int and pos_label == 1), both=False,
        )  # fmt: skip
        counts, squares = columns.reduce((LabelCounts(), SquaredErrors(sampling_rate)), threads)
        total, positive = LabelCounts.totals(counts)
        return SquareSums(squares.integer(0), total, 1, (total - positive, positive))
    if kernel_rate(sampling_rate):
        raise inputs.OptionError("sampling_rate is for one column of probabilities, those of the positive class")
    matrix = several_columns(target, predictions, weights, labels, machine_epsilon(y_proba, predictions), "y_proba")
    (squares,) = matrix.reduce((ClassSquaredErrors(),), threads)
    classes = matrix.class_totals() if want_classes else ()
    return SquareSums(squares.integer(0), matrix.total(), predictions.shape[1], classes)


def brier_score_loss(
    y_true: Any,
    y_proba: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    labels: Any = None,
    scale_by_half: bool | str = "auto",
    sampling_rate: float | None = None,
    n_threads: int | None = None,
) -> float:
    """The mean squared distance between probabilities and outcomes.

    Brier score = (1/W) sum_i w_i (p_i - y_i)^2 for binary labels (Brier, Monthly Weather Review 78, 1950, divided by
    two). With one column per class it is the sum over the classes, halved when scale_by_half says so.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_classes)
        Two labels of any kind; or, with several columns of probabilities, as many labels, or a matrix that tells with 0
        and 1 which labels a row has.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probabilities in [0, 1]: of the positive label, or of every class in sorted order of the labels.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero; a row of weight zero is absent.
    pos_label : int, float, bool or str, optional
        The label that one column of probabilities speaks of: by default 1 where labels are 0 and 1 or -1 and 1, else
        the greater number; labels of text need it. A label that y_true does not have makes every row negative, as in
        scikit-learn.
    labels : array-like, optional
        The classes, when y_true does not hold all of them (several columns of probabilities).
    scale_by_half : bool or "auto"
        Halve the sum over classes, so that two classes give the mean square above; "auto" does so for two classes.
    sampling_rate : float in (0, 1], optional
        The share of the negatives that the model was trained on, when it saw all positives; y_true is of all rows. A
        probability p then becomes p / (p + (1 - p) / sampling_rate), never above p (He et al., ADKDD 2014, section 6.3,
        where the rate is w). For one column of probabilities.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1] for one column of probabilities, unless scale_by_half is False.

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, labels that are no classes, text labels without pos_label, weights that
        are all zero, lengths that differ, no rows; the row is named.

    Warns
    -----
    UserWarning
        A row of several probabilities does not sum to 1, or `labels` are not sorted.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.brier_score_loss([0, 1, 1, 0], [0.0, 0.5, 1.0, 0.5])
    0.125
    >>> fm.brier_score_loss(["spam", "ham", "ham", "spam"], [0.0, 0.5, 1.0, 0.5], pos_label="ham")
    0.125
    >>> fm.brier_score_loss([0, 1, 2], [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    0.16666666666666666
    """
    usual = pos_label is None and labels is None and sampling_rate is None and n_threads is None
    if usual and type(scale_by_half) is str and scale_by_half == "auto":
        # A call on few rows, made in a loop: nothing but the work.
        found = plain_sums(y_true, y_proba, sample_weight, shortlosses.SQUARES)
        if found is not None and found[2]:
            return divide(found[4], found[2])
    if not isinstance(scale_by_half, (bool, np.bool_)) and not (
        isinstance(scale_by_half, str) and scale_by_half == "auto"
    ):
        raise inputs.OptionError(f"scale_by_half must be 'auto', True or False; found {scale_by_half!r}")
    sums = square_sums(y_true, y_proba, sample_weight, pos_label, labels, sampling_rate, n_threads)
    half = sums.n_columns < 3 if isinstance(scale_by_half, str) else bool(scale_by_half)
    squares = sums.squares if sums.n_columns > 1 else 2 * sums.squares
    return divide(squares, 2 * sums.total if half else sums.total)


def d2_brier_score(
    y_true: Any,
    y_proba: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    labels: Any = None,
    n_threads: int | None = None,
) -> float:
    """The share of the Brier score of a constant prediction that the model takes away (Brier skill score).

    D2 = 1 - Brier score / Brier score of always predicting the observed shares r_c of the classes, which is
    sum_c r_c (1 - r_c). 1 is perfect, 0 is no skill. It is one quotient of whole numbers, rounded once.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_classes)
        Labels as `brier_score_loss` takes them.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probabilities in [0, 1]: of the positive label, or of every class in sorted order of the labels.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero; a row of weight zero is absent.
    pos_label : int, float, bool or str, optional
        The label that one column of probabilities speaks of, as in `brier_score_loss`.
    labels : array-like, optional
        The classes, when y_true does not hold all of them (several columns of probabilities).
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At most 1. NaN with an UndefinedMetricWarning for less than two rows. Where all
        rows are of one class the constant prediction is perfect: minus infinity with an UndefinedMetricWarning, or NaN
        when the model is perfect too.

    Raises
    ------
    ValueError
        As `brier_score_loss`.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.d2_brier_score([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5])
    0.0
    >>> fm.d2_brier_score([0, 1, 1, 0], [0.0, 0.75, 1.0, 0.25])
    0.875
    """
    usual = pos_label is None and labels is None and n_threads is None
    found = plain_sums(y_true, y_proba, sample_weight, shortlosses.SQUARES) if usual else None
    if found is not None and found[0] > 1 and found[2]:
        rows, positives, total, positive, squares = found
        if sample_weight is None:
            null, squares = positives * (rows - positives) << exact.EXPONENT, squares * rows
        else:
            null, squares = positive * (total - positive), squares * total
    else:
        if fewer_than_two(y_true, y_proba, sample_weight):
            return warn_undefined("d2_brier_score", "there are less than two rows")
        sums = square_sums(y_true, y_proba, sample_weight, pos_label, labels, None, n_threads, want_classes=True)
        null = sum(part * (sums.total - part) for part in sums.classes)
        squares = sums.squares * sums.total * (1 if sums.n_columns > 1 else 2)
    if null:
        return divide(null - squares, null)
    warn_user("d2_brier_score is undefined: all rows are of one class", UndefinedMetricWarning)
    return float("-inf") if squares else float("nan")


@metric(
    "brier",
    exchange="none",
    statistics=lambda sampling_rate: (LabelCounts(), SquaredErrors(sampling_rate)),
    function=brier_score_loss,
    undefined="never",
    parameters={"sampling_rate": None},
    checks={"sampling_rate": check_sampling_rate},
    best="lowest",
)
def finalise_brier(parameters: dict[str, Any], counts: Sums, squares: Sums) -> Value:
    """Brier score: the mean squared distance between probability and outcome."""
    return ratio(squares.integer(0), LabelCounts.totals(counts)[0], row_coverage(counts), NO_WEIGHT)
