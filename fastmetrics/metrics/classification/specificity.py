"""Specificity (true negative rate), per label or averaged."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, overload

from fastmetrics._core.calls.compiled_functions import computed_by
from fastmetrics.metrics.classification import count_ratios

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Floats, Label, MatrixLike, NumericArrayLike
    from fastmetrics._core.types.options import Average, ZeroDivision

__all__ = ["specificity_score"]


@overload
def specificity_score(
    y_true: MatrixLike, y_pred: MatrixLike, *, labels: ArrayLike | None = ..., pos_label: Label = ..., average: None,
    sample_weight: NumericArrayLike | None = ..., zero_division: ZeroDivision = ..., n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def specificity_score(
    y_true: MatrixLike, y_pred: MatrixLike, *, labels: ArrayLike | None = ..., pos_label: Label = ...,
    average: Average = ..., sample_weight: NumericArrayLike | None = ..., zero_division: ZeroDivision = ...,
    n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@computed_by(partial(count_ratios.average_ratio, count_ratios.specificity_ratio))
def specificity_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Label = 1,
    average: Average | None = "binary",
    sample_weight: NumericArrayLike | None = None,
    zero_division: ZeroDivision = "warn",
    n_threads: int | None = None,
) -> float | Floats:
    """The share of rows without a label that are predicted without it.

    specificity = tn / (tn + fp), with tn the true negatives and fp the false positives of a label (true negative rate).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, n_labels)
        True and predicted labels, both of one kind: integers, strings or bools. Multilabel input has one column per
        label, with 0 and 1 (dense or sparse).
    labels : array-like, optional
        The labels to include and their order, for every average except "binary". By default all labels that occur,
        sorted. A label that does not occur has no true and no predicted rows. For multilabel input, column numbers.
    pos_label : int, float, bool or str
        The positive label with average="binary"; ignored for other averages.
    average : "binary", "micro", "macro", "samples", "weighted" or None
        "binary": the value for `pos_label`, for two classes only. None: an array with one value per label. "micro":
        computed from the summed counts of all labels. "macro": the mean over labels. "weighted": the mean over labels,
        weighted by their true rows. "samples": the mean over rows, for multilabel input.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero.
    zero_division : "warn", 0, 1 or nan
        The value of 0/0. "warn" gives 0 with an UndefinedMetricWarning; nan is left out of averages.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float or ndarray of float64
        In [0, 1]; an array with one value per label if average=None.

    Raises
    ------
    ValueError
        Values that are not class labels, labels of two kinds, different lengths, no rows, an invalid option, a
        `pos_label` that does not occur although two other labels do, or average="binary" with more than two classes.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.specificity_score([0, 1, 1, 0], [1, 1, 1, 0])
    0.5
    """


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {"specificity_score": ({}, *count_ratios.CHECKED_AVERAGES)}
