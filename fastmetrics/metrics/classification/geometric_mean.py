"""The geometric mean of the classes' recalls (G-mean)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.elementary import exp2, log2, power
from fastmetrics._core.exact import divide
from fastmetrics._core.option_numbers import real_value
from fastmetrics.metrics.classification import count_ratios

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Floats, Label, MatrixLike, NumericArrayLike
    from fastmetrics._core.types.options import MulticlassAverage, ZeroDivision

GMEAN_AVERAGES = ("multiclass", *count_ratios.AVERAGES)
LEAST_EXPONENT = -1000  # a quotient above 2**-1000 is a normal float

__all__ = ["geometric_mean_score"]


@overload
def geometric_mean_score(
    y_true: MatrixLike, y_pred: MatrixLike, *, labels: ArrayLike | None = ..., pos_label: Label = ..., average: None,
    sample_weight: NumericArrayLike | None = ..., correction: float = ..., zero_division: ZeroDivision = ...,
    n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def geometric_mean_score(
    y_true: MatrixLike, y_pred: MatrixLike, *, labels: ArrayLike | None = ..., pos_label: Label = ...,
    average: MulticlassAverage = ..., sample_weight: NumericArrayLike | None = ..., correction: float = ...,
    zero_division: ZeroDivision = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@answers_unknown
def geometric_mean_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Label = 1,
    average: MulticlassAverage | None = "multiclass",
    sample_weight: NumericArrayLike | None = None,
    correction: float = 0.0,
    zero_division: ZeroDivision = "warn",
    n_threads: int | None = None,
) -> float | Floats:
    """The geometric mean of the recalls of the classes (G-mean), which is near 0 if one class is missed.

    G-mean = (recall_1 ... recall_k)^(1/k) over the k classes; with two classes sqrt(TPR TNR) (Kubat and Matwin, ICML
    1997). The product of the recalls is exact, so it does not underflow with many classes.

    The default is "multiclass", as in imbalanced-learn, because it fits two classes and more. For two classes it equals
    "binary", whichever class is positive. All other averages are sqrt(sensitivity specificity) of every label against
    the rest, where sensitivity and specificity are averaged separately first.

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
    average : "multiclass", "binary", "micro", "macro", "samples", "weighted" or None
        "multiclass": the geometric mean of the recalls of all classes. "binary": of recall and specificity of
        `pos_label`. None: the same for every label, as an array. "micro", "macro", "weighted", "samples": of the
        averaged recall and the averaged specificity.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero.
    correction : float in [0, 1]
        The value used for a recall of 0 with average="multiclass", so that one missed class does not decide alone.
    zero_division : "warn", 0, 1 or nan
        The recall of a class without true rows; for other averages the value of any 0/0. "warn" gives 0 with an
        UndefinedMetricWarning; nan is left out of the mean.
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
    >>> fm.geometric_mean_score([0, 0, 1, 1], [0, 1, 1, 1])
    0.7071067811865476
    >>> fm.geometric_mean_score(["a", "b", "c", "c"], ["a", "b", "b", "b"], correction=0.125)
    0.5
    """
    zero = count_ratios.check_options(average, pos_label, zero_division, allowed=GMEAN_AVERAGES)
    check_correction(correction)
    warn = isinstance(zero_division, str)
    if average == "multiclass":
        counts = count_ratios.count_for_average(y_true, y_pred, labels, 1, None, sample_weight, n_threads)
        return geometric_mean_of_recalls(counts, float(correction), zero, warn)
    counts = count_ratios.count_for_average(y_true, y_pred, labels, pos_label, average, sample_weight, n_threads)
    recall, specificity = count_ratios.recall_ratio(counts), count_ratios.specificity_ratio(counts)
    recalls = count_ratios.divide_counts(recall, counts, zero, warn)
    specificities = count_ratios.divide_counts(specificity, counts, zero, warn)
    if average == "binary" and recall.denominator and specificity.denominator:
        return geometric_mean([(ratio.numerator, ratio.denominator) for ratio in (recall, specificity)])
    product = count_ratios.average_ratios(recalls, counts) * count_ratios.average_ratios(specificities, counts)
    return np.sqrt(product) if average is None else math.sqrt(product)


def check_correction(correction: Any) -> None:
    if not 0 <= real_value(correction) <= 1:
        raise validation.OptionError(f"correction must be a number in [0, 1]; found {correction!r}")


def geometric_mean_of_recalls(counts: count_ratios.RatioCounts, correction: float, zero: float, warn: bool) -> float:
    """Over all classes. A class without true rows has recall `zero`, or is left out if that is NaN."""
    recalls = []
    any_undefined = False
    for tp, fn in zip(counts.tp.tolist(), counts.fn.tolist(), strict=True):
        if tp + fn:
            recalls.append((tp, tp + fn) if tp else (correction, 1))
        else:
            any_undefined = True
            if zero == zero:
                recalls.append((zero or correction, 1))
    if any_undefined and warn:
        # The division warns with the names of the classes.
        count_ratios.divide_counts(count_ratios.recall_ratio(counts), counts, zero, True)
    return geometric_mean(recalls)


def geometric_mean(quotients: list[tuple[float, float]]) -> float:
    """The root of the exact product of quotients in [0, 1], which are counts or sums of weights."""
    if not quotients:
        return math.nan
    numerator, denominator = count_ratios.integer_quotient(*zip(*quotients, strict=True))
    if numerator == 0:
        return 0.0
    root = 1 / len(quotients)
    exponent = numerator.bit_length() - denominator.bit_length()
    if exponent > LEAST_EXPONENT:
        quotient = divide(numerator, denominator)
        return math.sqrt(quotient) if len(quotients) == 2 else power(quotient, root)
    # The product underflows as a float, so mantissa and exponent are handled separately.
    mantissa = divide(numerator << -exponent, denominator)
    return exp2((log2(mantissa) + exponent) * root)


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {"geometric_mean_score": ({}, *count_ratios.CHECKED_AVERAGES)}
