"""Positive and negative likelihood ratios of two classes."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.exact import divide
from fastmetrics._core.option_numbers import real_value
from fastmetrics._core.undefined import UndefinedMetricWarning, warn_user
from fastmetrics.metrics.classification.count_ratios import integer_quotient
from fastmetrics.metrics.classification.label_counts import ClassCounts, count_classes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastmetrics._core.types.arrays import ArrayLike, MatrixLike, NumericArrayLike

__all__ = ["class_likelihood_ratios"]


@answers_unknown
def class_likelihood_ratios(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: NumericArrayLike | None = None,
    replace_undefined_by: float | Mapping[str, float] = np.nan,
    n_threads: int | None = None,
) -> tuple[float, float]:
    """The factors by which a positive and a negative prediction change the odds of being positive.

    LR+ = TPR / FPR = (tp / (tp + fn)) / (fp / (fp + tn)) and LR- = FNR / TNR = (fn / (tp + fn)) / (tn / (fp + tn))
    (Altman and Bland, BMJ 309, 1994). Each is one division of exact products.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted labels of two classes, both of one kind: integers, strings or bools.
    labels : array-like of two labels, optional
        The negative label, then the positive one. By default the labels that occur, sorted. Rows with other labels are
        left out.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero.
    replace_undefined_by : nan, 1.0 or dict
        The value of LR+ without false positives and of LR- without true negatives: nan, 1.0 for both, or
        {"LR+": a number of at least 1 or nan, "LR-": a number in [0, 1] or nan}.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    tuple of two floats
        LR+ and LR-, both at least 0. An UndefinedMetricWarning is given where one is undefined. Without positive rows
        both are nan.

    Raises
    ------
    ValueError
        Not exactly two classes, labels of two kinds, different lengths, no rows, or an invalid option.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.class_likelihood_ratios([0, 1, 0, 1, 0], [1, 1, 0, 0, 0])
    (1.5, 0.75)
    """
    if not isinstance(replace_undefined_by, dict) and not is_replacement(replace_undefined_by):
        raise validation.OptionError(f"replace_undefined_by must be nan, 1.0 or a dict; found {replace_undefined_by!r}")
    counts = count_classes(y_true, y_pred, labels=labels, sample_weight=sample_weight, n_threads=n_threads)
    if counts.kind != "binary":
        raise ValueError(f"class_likelihood_ratios needs two classes in y_true and y_pred; found {counts.kind} targets")
    replacements = read_replacements(replace_undefined_by)
    tn, fp, fn, tp = binary_cells(counts)
    positives, negatives = tp + fn, tn + fp
    if positives == 0:
        warn_undefined_likelihood("LR+ and LR- are", "no row of y_true is positive", math.nan)
    if fp == 0:
        warn_undefined_likelihood("LR+ is", "no negative row is predicted positive", replacements[0])
    if tn == 0:
        warn_undefined_likelihood("LR- is", "no negative row is predicted negative", replacements[1])
    if positives == 0:
        return replacements[0] if fp == 0 else math.nan, replacements[1] if tn == 0 else math.nan
    return (
        quotient_of_products(tp, negatives, fp, positives) if fp else replacements[0],
        quotient_of_products(fn, negatives, tn, positives) if tn else replacements[1],
    )


def quotient_of_products(a: float, b: float, c: float, d: float) -> float:
    """a * b / (c * d), rounded once."""
    if isinstance(a, int):
        return divide(a * int(b), int(c) * int(d))
    return divide(*integer_quotient((a, b), (c, d)))


def is_replacement(value: Any) -> bool:
    return isinstance(value, Real) and (value == 1 or value != value)


def read_replacements(replace_undefined_by: Any) -> tuple[float, float]:
    """The values of LR+ and LR- where they are undefined."""
    if not isinstance(replace_undefined_by, dict):
        return float(replace_undefined_by), float(replace_undefined_by)
    for name, low, high in (("LR+", 1.0, math.inf), ("LR-", 0.0, 1.0)):
        value = replace_undefined_by.get(name)
        if not isinstance(value, Real) or not (low <= real_value(value) <= high or value != value):
            raise ValueError(
                f"replace_undefined_by must have a number in [{low:g}, {high:g}] or nan for {name!r}; "
                f"found {replace_undefined_by!r}"
            )
    return float(replace_undefined_by["LR+"]), float(replace_undefined_by["LR-"])


def binary_cells(counts: ClassCounts) -> tuple[Any, Any, Any, Any]:
    """tn, fp, fn, tp of the first label (negative) and the second (positive); rows with other labels are left out."""
    selected, present = counts.classes.tolist(), counts.present.tolist()
    if len(selected) != 2:
        raise ValueError(f"class_likelihood_ratios needs two labels, the negative and the positive; found {selected!r}")
    tp, fp, fn, _ = (values.tolist() for values in counts[:4])
    if not any(tp[label] + fn[label] for label in range(2)):
        raise ValueError(f"labels must contain a label of y_true; found {selected!r}, but the labels are {present!r}")
    if not set(present) <= set(selected):
        # At most one selected label occurs. Rows with another label, true or predicted, are left out.
        return tp[0], 0, 0, tp[1]
    return tp[0], fp[1], fn[1], tp[1]


def warn_undefined_likelihood(name: str, reason: str, value: float) -> None:
    warn_user(f"{name} undefined: {reason}; the result is {value}", UndefinedMetricWarning)


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {"class_likelihood_ratios": ({"labels": [0, 1]},)}
