"""Rates of the two classes against each other: specificity, their geometric mean, likelihood ratios."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from numbers import Real
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from fastmetrics._core import inputs
from fastmetrics._core.exact import divide
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.undefined import UndefinedMetricWarning
from fastmetrics.metrics.classification import ratios
from fastmetrics.metrics.classification.counts import ClassCounts, count_classes
from fastmetrics.metrics.classification.ratios import Counts

GMEAN_AVERAGES = ("multiclass", *ratios.AVERAGES)
LEAST_EXPONENT = -1000  # a quotient above 2**-1000 is a normal float

__all__ = ["class_likelihood_ratios", "geometric_mean_score", "specificity_score"]


@overload
def specificity_score(
    y_true: Any, y_pred: Any, *, average: None, labels: Any = ..., pos_label: Any = ..., sample_weight: Any = ...,
    zero_division: Any = ..., n_threads: int | None = ...,
) -> NDArray[np.float64]: ...  # fmt: skip
@overload
def specificity_score(
    y_true: Any, y_pred: Any, *, average: str = ..., labels: Any = ..., pos_label: Any = ...,
    sample_weight: Any = ..., zero_division: Any = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
def specificity_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
    n_threads: int | None = None,
) -> Any:
    """The share of rows predicted not to have a label among those that do not have it.

    specificity = tn / (tn + fp), with tn the true negatives and fp the false positives of a label (true negative rate).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, n_labels)
        True and predicted labels of any one kind: integers, texts, bools. With a column per label (0 or 1, dense or
        sparse), sets of labels.
    labels : array-like, optional
        The labels to count and their order, for every average but "binary"; by default all that occur, sorted. Labels
        that do not occur count nothing. For sets of labels, column numbers.
    pos_label : int, float, bool or str
        The label that counts as positive with average="binary"; elsewhere not used.
    average : "binary", "micro", "macro", "samples", "weighted" or None
        "binary": the value of `pos_label`, for two classes. None: an array with the value of every label. "micro": of
        the counts of all labels added. "macro": the mean over labels. "weighted": the mean weighted by the labels' true
        rows. "samples": the mean over rows, for sets of labels.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero.
    zero_division : "warn", 0, 1 or nan
        What stands for 0/0: "warn" is 0 with an UndefinedMetricWarning; nan is left out of averages.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float or ndarray of float64
        In [0, 1]; an array, one value per label, with average=None.

    Raises
    ------
    ValueError
        Labels that are no class labels, of two kinds or of different lengths, no rows, an option not allowed, a
        `pos_label` that does not occur beside two labels that do, average="binary" with more than two classes.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.specificity_score([0, 1, 1, 0], [1, 1, 1, 0])
    0.5
    """
    zero = check_options(average, ratios.AVERAGES, pos_label, zero_division, n_threads)
    counts = ratios.count(y_true, y_pred, labels, pos_label, average, sample_weight, n_threads, 3)
    warn = isinstance(zero_division, str)
    return ratios.finish(ratios.divide(ratios.specificity_of(counts), counts, zero, warn, 3), counts)


def check_options(
    average: Any, allowed: tuple[str | None, ...], pos_label: Any, zero_division: Any, n_threads: int | None
) -> float:
    """What stands for 0/0, when all options are allowed."""
    ratios.check_average(average, allowed)
    ratios.check_pos_label(pos_label)
    if n_threads is not None:
        count_threads(n_threads)
    return ratios.check_zero_division(zero_division)


@overload
def geometric_mean_score(
    y_true: Any, y_pred: Any, *, average: None, labels: Any = ..., pos_label: Any = ..., sample_weight: Any = ...,
    zero_division: Any = ..., correction: float = ..., n_threads: int | None = ...,
) -> NDArray[np.float64]: ...  # fmt: skip
@overload
def geometric_mean_score(
    y_true: Any, y_pred: Any, *, average: str = ..., labels: Any = ..., pos_label: Any = ...,
    sample_weight: Any = ..., zero_division: Any = ..., correction: float = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
def geometric_mean_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "multiclass",
    sample_weight: Any = None,
    correction: float = 0.0,
    zero_division: Any = "warn",
    n_threads: int | None = None,
) -> Any:
    """The geometric mean of the classes' recalls (G-mean): near 0 as soon as one class is missed.

    G-mean = (recall_1 ... recall_k)^(1/k) over the k classes; with two classes sqrt(TPR TNR) (Kubat and Matwin, ICML
    1997). The product of the recalls is exact, so it does not vanish where there are many classes.

    The default is "multiclass" as in imbalanced-learn, because it is right for two classes and for more: for two it is
    "binary", whichever of them is positive. All other averages are sqrt(sensitivity specificity) of every label
    against the rest, each averaged by itself first.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, n_labels)
        True and predicted labels of any one kind: integers, texts, bools. With a column per label (0 or 1, dense or
        sparse), sets of labels.
    labels : array-like, optional
        The classes and their order, for every average but "binary"; by default all that occur, true or predicted,
        sorted.
    pos_label : int, float, bool or str
        The label that counts as positive with average="binary"; elsewhere not used.
    average : "multiclass", "binary", "micro", "macro", "samples", "weighted" or None
        "multiclass": of the recalls of all classes. "binary": of recall and specificity of `pos_label`. None: the same
        for every label, an array. "micro", "macro", "weighted", "samples": of recall and specificity averaged so.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero.
    correction : float in [0, 1]
        What stands for a recall of 0 with average="multiclass", so that one missed class is not all.
    zero_division : "warn", 0, 1 or nan
        What stands for the recall of a class without true rows, and elsewhere for any 0/0: "warn" is 0 with an
        UndefinedMetricWarning; nan is left out of the mean.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float or ndarray of float64
        In [0, 1]; an array, one value per label, with average=None.

    Raises
    ------
    ValueError
        Labels that are no class labels, of two kinds or of different lengths, no rows, an option not allowed, a
        `pos_label` that does not occur beside two labels that do, average="binary" with more than two classes.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.geometric_mean_score([0, 0, 1, 1], [0, 1, 1, 1])
    0.7071067811865476
    >>> fm.geometric_mean_score(["a", "b", "c", "c"], ["a", "b", "b", "b"], correction=0.125)
    0.5
    """
    zero = check_options(average, GMEAN_AVERAGES, pos_label, zero_division, n_threads)
    check_correction(correction)
    warn = isinstance(zero_division, str)
    if average == "multiclass":
        counts = ratios.count(y_true, y_pred, labels, 1, None, sample_weight, n_threads, 3)
        return mean_of_recalls(counts, float(correction), zero, warn)
    counts = ratios.count(y_true, y_pred, labels, pos_label, average, sample_weight, n_threads, 3)
    recall, specificity = ratios.recall_of(counts), ratios.specificity_of(counts)
    recalls = ratios.divide(recall, counts, zero, warn, 3)
    specificities = ratios.divide(specificity, counts, zero, warn, 3)
    if average == "binary" and recall.denominator and specificity.denominator:
        return geometric_mean([(part.numerator, part.denominator) for part in (recall, specificity)])
    product = ratios.finish(recalls, counts) * ratios.finish(specificities, counts)
    return np.sqrt(product) if average is None else math.sqrt(product)


def check_correction(correction: Any) -> None:
    if not isinstance(correction, Real) or not 0 <= float(correction) <= 1:
        raise inputs.OptionError(f"correction must be a number in [0, 1]; found {correction!r}")


def mean_of_recalls(counts: Counts, correction: float, zero: float, warn: bool) -> float:
    """Over all classes; a class without true rows counts as `zero`, or not at all where that is NaN."""
    recalls = []
    missing = False
    for tp, fn in zip(counts.tp.tolist(), counts.fn.tolist(), strict=True):
        if tp + fn:
            recalls.append((tp, tp + fn) if tp else (correction, 1))
        else:
            missing = True
            if zero == zero:
                recalls.append((zero or correction, 1))
    if missing and warn:
        # The division finds the classes again, to name them.
        ratios.divide(ratios.recall_of(counts), counts, zero, True, 4)
    return geometric_mean(recalls)


def geometric_mean(quotients: list[tuple[float, float]]) -> float:
    """Of quotients in [0, 1], of numbers or sums of weights: the root of their exact product."""
    if not quotients:
        return math.nan
    numerator, denominator = whole_quotient(*zip(*quotients, strict=True))
    if numerator == 0:
        return 0.0
    root = 1 / len(quotients)
    exponent = numerator.bit_length() - denominator.bit_length()
    if exponent > LEAST_EXPONENT:
        quotient = divide(numerator, denominator)
        return math.sqrt(quotient) if len(quotients) == 2 else quotient**root
    # No float holds the product: its mantissa and exponent go separate ways.
    mantissa = divide(numerator << -exponent, denominator)
    return math.exp2((math.log2(mantissa) + exponent) * root)


def whole_quotient(above: Iterable[float], below: Iterable[float]) -> tuple[int, int]:
    """A quotient of products of numbers as one of whole numbers: nothing overflows, vanishes or is rounded."""
    over, under = zip(*(number.as_integer_ratio() for number in above), strict=True)
    under_below, over_below = zip(*(number.as_integer_ratio() for number in below), strict=True)
    return product([*over, *over_below]), product([*under, *under_below])


def product(numbers: list[int]) -> int:
    """Pairs first, then pairs of pairs: multiplying long by short over and over would take quadratic time."""
    while len(numbers) > 1:
        if len(numbers) % 2:
            numbers.append(1)
        numbers = [one * other for one, other in zip(numbers[::2], numbers[1::2], strict=True)]
    return numbers[0]


def class_likelihood_ratios(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    replace_undefined_by: Any = np.nan,
    n_threads: int | None = None,
) -> tuple[float, float]:
    """How much a positive and a negative prediction change the odds of being positive.

    LR+ = TPR / FPR = (tp / (tp + fn)) / (fp / (fp + tn)) and LR- = FNR / TNR = (fn / (tp + fn)) / (tn / (fp + tn))
    (Altman and Bland, BMJ 309, 1994). Each is one division of exact products.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted labels of two classes, of any one kind: integers, texts, bools.
    labels : array-like of two labels, optional
        The negative label, then the positive one; by default those that occur, sorted. Rows with others are left out.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero.
    replace_undefined_by : nan, 1.0 or dict
        What stands for a ratio without false positives (LR+) or without true negatives (LR-): nan, 1.0 for both, or
        {"LR+": a number of at least 1 or nan, "LR-": a number in [0, 1] or nan}.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    tuple of two floats
        LR+ of at least 0, LR- of at least 0; with an UndefinedMetricWarning where one has no value: without positive
        rows both are nan.

    Raises
    ------
    ValueError
        More than two classes or fewer, labels of two kinds or of different lengths, no rows, an option not allowed.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.class_likelihood_ratios([0, 1, 0, 1, 0], [1, 1, 0, 0, 0])
    (1.5, 0.75)
    """
    if n_threads is not None:
        count_threads(n_threads)
    if not isinstance(replace_undefined_by, dict) and not is_replacement(replace_undefined_by):
        raise inputs.OptionError(f"replace_undefined_by must be nan, 1.0 or a dict; found {replace_undefined_by!r}")
    counts = count_classes(y_true, y_pred, labels=labels, sample_weight=sample_weight, n_threads=n_threads)
    if counts.kind != "binary":
        raise ValueError(
            f"class_likelihood_ratios needs two classes in y_true and y_pred; found {counts.kind} targets"
        )
    instead = read_replacements(replace_undefined_by)
    tn, fp, fn, tp = two_by_two(counts)
    positives, negatives = tp + fn, tn + fp
    if positives == 0:
        warn_undefined_ratio("LR+ and LR- are", "no row of y_true is positive", math.nan)
    if fp == 0:
        warn_undefined_ratio("LR+ is", "no negative row is predicted positive", instead[0])
    if tn == 0:
        warn_undefined_ratio("LR- is", "no negative row is predicted negative", instead[1])
    if positives == 0:
        return instead[0] if fp == 0 else math.nan, instead[1] if tn == 0 else math.nan
    return (
        divide_products(tp, negatives, fp, positives) if fp else instead[0],
        divide_products(fn, negatives, tn, positives) if tn else instead[1],
    )


def divide_products(one: float, other: float, below: float, other_below: float) -> float:
    """one * other / (below * other_below), rounded once."""
    if isinstance(one, int):
        return divide(one * int(other), int(below) * int(other_below))
    return divide(*whole_quotient((one, other), (below, other_below)))


def is_replacement(value: Any) -> bool:
    return isinstance(value, Real) and (value == 1 or value != value)


def read_replacements(given: Any) -> tuple[float, float]:
    """What stands for LR+ and for LR-."""
    if not isinstance(given, dict):
        return float(given), float(given)
    allowed = {"LR+": (1.0, math.inf), "LR-": (0.0, 1.0)}
    for name, (low, high) in allowed.items():
        value = given.get(name)
        if not isinstance(value, Real) or not (low <= float(value) <= high or value != value):
            raise ValueError(
                f"replace_undefined_by must have a number in [{low:g}, {high:g}] or nan for {name!r}; found {given!r}"
            )
    return float(given["LR+"]), float(given["LR-"])


def two_by_two(counts: ClassCounts) -> tuple[Any, Any, Any, Any]:
    """The confusion matrix of the first label (negative) and the second; rows with other labels are left out."""
    wanted, present = counts.classes.tolist(), counts.present.tolist()
    if len(wanted) != 2:
        raise ValueError(f"class_likelihood_ratios needs two labels, the negative and the positive; found {wanted!r}")
    tp, fp, fn, _ = (cells.tolist() for cells in counts[:4])
    if not any(tp[place] + fn[place] for place in range(2)):
        raise ValueError(f"labels must hold a label of y_true; found {wanted!r} beside labels {present!r}")
    if not set(present) <= set(wanted):
        # A label that is left out takes the rows confused with it along.
        return tp[0], 0, 0, tp[1]
    return tp[0], fp[1], fn[1], tp[1]


def warn_undefined_ratio(what: str, reason: str, value: float) -> None:
    warnings.warn(f"{what} undefined: {reason}; the result is {value}", UndefinedMetricWarning, stacklevel=3)
