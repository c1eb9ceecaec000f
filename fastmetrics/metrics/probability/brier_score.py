"""Brier score, the mean squared difference between probabilities and outcomes, and the Brier skill score (D2).

Both are ratios of exact sums over rows, rounded once. Squares are computed in float64 whatever the input type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.binary_probabilities import (
    NO_WEIGHT,
    LabelCounts,
    ProbabilityTerms,
    check_sampling_rate,
    mean_of_terms,
    row_coverage,
)
from fastmetrics._core.columns.class_labels import check_pos_label
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.registry import metric
from fastmetrics._core.state import Sums
from fastmetrics._core.statistic import Value, many_quotients, rounded_quotient
from fastmetrics._core.undefined import UndefinedMetricWarning, warn_undefined, warn_user
from fastmetrics._kernels.probability import losses, short_losses
from fastmetrics.metrics.probability.probability_targets import (
    ClassSquaredErrors,
    LossSums,
    TwoClassReading,
    encode_positive_label,
    has_fewer_than_two_rows,
    sum_losses,
)

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Label, NumericArrayLike
    from fastmetrics._core.types.options import ScaleByHalf

__all__ = ["brier_score_loss", "d2_brier_score"]


class SquaredErrors(ProbabilityTerms):
    """The (weighted) sum of (p - y)^2."""

    __slots__ = ()
    kind = losses.SQUARED_ERROR_TERMS


def sum_squared_errors(
    y_true: Any,
    y_proba: Any,
    sample_weight: Any,
    pos_label: Any,
    labels: Any,
    sampling_rate: float | None,
    n_threads: int | None,
    want_classes: bool = False,
) -> LossSums:
    """Sum the squared errors of labels of any kind.

    One column of probabilities gives half the sum of two columns, because the squares of both columns are equal.
    """
    check_pos_label(pos_label)
    read_as_is = pos_label is None or (type(pos_label) is int and pos_label == 1)
    reading = TwoClassReading(lambda column: encode_positive_label(column, pos_label), read_as_is, False)
    return sum_losses(
        y_true, y_proba, sample_weight, labels, sampling_rate, n_threads, reading,
        lambda _: (SquaredErrors(sampling_rate), ClassSquaredErrors()), want_classes,
    )  # fmt: skip


def small_brier_score(y_true: Any, y_proba: Any, *, sample_weight: Any = None) -> float | None:
    found = short_losses.sum_terms(y_true, y_proba, sample_weight, short_losses.SQUARES)
    return exact.divide(found[4], found[2]) if found is not None and found[2] else None


@small_inputs(small_brier_score, lists=True)
def brier_score_loss(
    y_true: ArrayLike,
    y_proba: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    pos_label: Label | None = None,
    labels: ArrayLike | None = None,
    scale_by_half: ScaleByHalf = "auto",
    sampling_rate: float | None = None,
    n_threads: int | None = None,
) -> float:
    """The mean squared difference between probabilities and outcomes.

    Brier score = (1/W) sum_i w_i (p_i - y_i)^2 for binary labels (Brier, Monthly Weather Review 78, 1950, divided by
    two). With one column per class it is the sum over the classes, halved as scale_by_half asks.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_classes)
        Two labels of any kind. With several columns of probabilities: one label per column, or a matrix of 0 and 1 that
        marks the labels of each row.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probabilities in [0, 1]: of the positive label, or of every class in sorted order of the labels.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    pos_label : int, float, bool or str, optional
        The label whose probability one column gives. By default it is 1 for labels 0 and 1 or -1 and 1, else the
        greater number; text labels need it. With a label that is not in y_true every row is negative, as in
        scikit-learn.
    labels : array-like, optional
        The classes, if y_true does not have all of them.

        For several columns of probabilities.
    scale_by_half : bool or "auto"
        Halve the sum over classes, so that two classes give the mean square above; "auto" does so for two classes.
    sampling_rate : float in (0, 1], optional
        The model was trained on all positives and on this share of the negatives; y_true has all rows. First of all, a
        probability p becomes p / (p + (1 - p) / sampling_rate), which is never above p (He et al., ADKDD 2014, section
        6.3, where the rate is w).

        Only for one column of probabilities.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        In [0, 1] for one column of probabilities, unless scale_by_half is False.

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, labels that are not classes, text labels without pos_label, weights that
        are all zero, lengths that differ, no rows; the row is named.

    Warns
    -----
    UserWarning
        The sum of several probabilities of a row is farther from 1 than 1e-8 and the square root of the epsilon of
        their type (float64 1.5e-8, float32 3.5e-4, float16 0.03, bfloat16 0.09), as in scikit-learn; they are used as
        they are. Or `labels` are not sorted.

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
    if not isinstance(scale_by_half, (bool, np.bool_)) and not (
        isinstance(scale_by_half, str) and scale_by_half == "auto"
    ):
        raise validation.OptionError(f"scale_by_half must be 'auto', True or False; found {scale_by_half!r}")
    sums = sum_squared_errors(y_true, y_proba, sample_weight, pos_label, labels, sampling_rate, n_threads)
    half = sums.n_columns < 3 if isinstance(scale_by_half, str) else bool(scale_by_half)
    squares = sums.terms.integer("terms") * (1 if sums.n_columns > 1 else 2)
    return exact.divide(squares, 2 * sums.total if half else sums.total)


def small_d2_brier_score(y_true: Any, y_proba: Any, *, sample_weight: Any = None) -> float | None:
    found = short_losses.sum_terms(y_true, y_proba, sample_weight, short_losses.SQUARES)
    if found is None:
        return None
    total, positive = found[:2] if sample_weight is None else found[2:4]
    null = positive * (total - positive) << (exact.EXPONENT if sample_weight is None else 0)
    return exact.divide(null - found[4] * total, null) if null else None


@small_inputs(small_d2_brier_score, lists=True)
def d2_brier_score(
    y_true: ArrayLike,
    y_proba: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    pos_label: Label | None = None,
    labels: ArrayLike | None = None,
    n_threads: int | None = None,
) -> float:
    """Brier skill score: the share by which the model lowers the Brier score of a constant prediction.

    D2 = 1 - Brier score / Brier score of always predicting the observed shares r_c of the classes, which is
    sum_c r_c (1 - r_c). 1 is perfect, 0 is no skill. It is one quotient of integers, rounded once.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_classes)
        Two labels of any kind. With several columns of probabilities: one label per column, or a matrix of 0 and 1 that
        marks the labels of each row.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probabilities in [0, 1]: of the positive label, or of every class in sorted order of the labels.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    pos_label : int, float, bool or str, optional
        The label whose probability one column gives. By default it is 1 for labels 0 and 1 or -1 and 1, else the
        greater number; text labels need it. With a label that is not in y_true every row is negative, as in
        scikit-learn.
    labels : array-like, optional
        The classes, if y_true does not have all of them.

        For several columns of probabilities.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        At most 1. NaN with an UndefinedMetricWarning for fewer than two rows. If all rows have one class, the constant
        prediction is perfect: the result is minus infinity with an UndefinedMetricWarning, or NaN if the model is
        perfect too.

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
    if has_fewer_than_two_rows(y_true, y_proba, sample_weight):
        return warn_undefined("d2_brier_score", "there are fewer than two rows")
    sums = sum_squared_errors(y_true, y_proba, sample_weight, pos_label, labels, None, n_threads, want_classes=True)
    null = sum(weight * (sums.total - weight) for weight in sums.classes)
    squares = sums.terms.integer("terms") * sums.total * (1 if sums.n_columns > 1 else 2)
    if null:
        return exact.divide(null - squares, null)
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
    direction="minimize",
    scale="ratio",
    aliases=("brier_score_loss", "brier_score"),
    many=many_quotients(mean_of_terms),
)
def finalize_brier(parameters: dict[str, Any], counts: Sums, squares: Sums) -> Value:
    """Brier score: the mean squared distance between probability and outcome."""
    return rounded_quotient(*mean_of_terms(parameters, counts, squares), row_coverage(counts), NO_WEIGHT)


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {"brier_score_loss": ({}, {"scale_by_half": False}, {"sampling_rate": 0.25})}
