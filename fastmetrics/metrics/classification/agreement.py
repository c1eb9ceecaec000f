"""How far two columns of labels agree: accuracy and its balanced and chance-corrected relatives."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from itertools import accumulate, chain, count, repeat
from numbers import Real
from operator import mul
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from fastmetrics._core import exact, inputs
from fastmetrics._core import labels as targets
from fastmetrics._core.coding import Coded
from fastmetrics._core.exact import divide
from fastmetrics._core.labels import MULTILABEL, NAMES, Names, Target
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.rows import SERIAL_ROWS
from fastmetrics._core.undefined import UndefinedMetricWarning, warn_undefined
from fastmetrics._kernels import counts as kernel
from fastmetrics.metrics.classification import counts as counting
from fastmetrics.metrics.classification.confusion import ONE_LABEL, check_columns, check_wanted, only_wanted

__all__ = [
    "accuracy_score",
    "balanced_accuracy_score",
    "cohen_kappa_score",
    "hamming_loss",
    "matthews_corrcoef",
    "zero_one_loss",
]

BOTH = ("y1", "y2")

ROOT_BITS = 128


class Share(NamedTuple):
    """A part of a whole, in rows or in units of 2**-EXPONENT of weight, as integers."""

    part: int
    whole: int
    unit: int = 1

    def value(self) -> float:
        return divide(self.part, self.whole)


def accuracy_score(
    y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None, n_threads: int | None = None
) -> float:
    """The share of rows that are predicted right.

    accuracy = (1/W) sum_i w_i [y_true_i = y_pred_i]. Of rows with several labels (indicators) all must be right: the
    subset accuracy.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_classes), or sparse matrix
        True labels: integers, bools, floats without fractions, text; or indicators.
    y_pred : array-like of shape (n,) or (n, n_classes), or sparse matrix
        Predicted labels, or indicators.
    normalize : bool
        The share (True), or how many rows are right, or their weight (False).
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1] if normalised.

    Raises
    ------
    ValueError
        Targets that are continuous or of two kinds, lengths that differ, no rows, bad weights.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.accuracy_score(["a", "b", "c", "a"], ["a", "c", "c", "a"])
    0.75
    >>> fm.accuracy_score([0, 1, 1], [0, 1, 0], normalize=False)
    2.0
    """
    inputs.check_flag(normalize, "normalize")
    right = right_rows(y_true, y_pred, sample_weight, n_threads)
    return right.value() if normalize else divide(right.part, right.unit)


def zero_one_loss(
    y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None, n_threads: int | None = None
) -> float:
    """The share of rows that are predicted wrong.

    1 - accuracy: (1/W) sum_i w_i [y_true_i != y_pred_i]. A row with several labels (indicators) is wrong if any of them
    is.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_classes), or sparse matrix
        True labels: integers, bools, floats without fractions, text; or indicators.
    y_pred : array-like of shape (n,) or (n, n_classes), or sparse matrix
        Predicted labels, or indicators.
    normalize : bool
        The share (True), or how many rows are wrong, or their weight (False).
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1] if normalised.

    Raises
    ------
    ValueError
        Targets that are continuous or of two kinds, lengths that differ, no rows, bad weights.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.zero_one_loss([1, 2, 3, 4], [2, 2, 3, 4])
    0.25
    >>> fm.zero_one_loss([1, 2, 3, 4], [2, 2, 3, 4], normalize=False)
    1.0
    """
    inputs.check_flag(normalize, "normalize")
    right = right_rows(y_true, y_pred, sample_weight, n_threads)
    wrong = right.whole - right.part
    if normalize:
        return divide(wrong, right.whole)
    lost = divide(wrong, right.unit)
    return lost if sample_weight is None else np.float64(lost)


def right_rows(y_true: Any, y_pred: Any, sample_weight: Any, n_threads: int | None) -> Share:
    """The rows whose labels are equal."""
    if n_threads is not None:
        count_threads(n_threads)
    share = None
    if sample_weight is None:
        share = few_right(y_true, y_pred) or plain_right(y_true, y_pred, n_threads)
    if share is None:
        true, pred, shape = targets.check_pair(y_true, y_pred)
        share = right_share(true, pred, shape, sample_weight, n_threads)
    return share


def few_right(y_true: Any, y_pred: Any) -> Share | None:
    """right_rows of two plain arrays of few numbers, at once; None where they are anything else."""
    if type(y_true) is not np.ndarray or type(y_pred) is not np.ndarray or y_true.size >= SERIAL_ROWS:
        return None
    equal = kernel.count_equal(y_true, y_pred)
    return Share(equal, y_true.shape[0]) if equal >= 0 else None


def plain_right(y_true: Any, y_pred: Any, n_threads: int | None) -> Share | None:
    """right_rows of two plain arrays of numbers that turn out to be labels; None for anything else."""
    if type(y_true) is not np.ndarray or type(y_pred) is not np.ndarray or kernel.count_equal(y_true, y_pred, 0, 1) < 0:
        return None
    rows = y_true.shape[0]
    found: list[int] = []
    threads = counting.threads_for(rows, n_threads)
    counting.over_units(rows, threads, lambda *unit: found.append(kernel.count_equal(y_true, y_pred, *unit)))
    return Share(sum(found), rows) if min(found) >= 0 else None


def right_share(true: Target, pred: Target, shape: str, sample_weight: Any, n_threads: int | None) -> Share:
    """The rows of two checked targets that are equal."""
    rows = true.shape[0]
    weights = targets.as_label_weights(sample_weight, rows)
    threads = counting.threads_for(rows, n_threads)
    if shape == MULTILABEL:
        differ = differing(true, pred)
        same = np.empty(rows, np.uint8)
        kernel.mark_equal_rows(differ, np.zeros_like(differ), same)
        same = same.view(np.bool_)
    elif weights is None:
        return Share(count_right(true, pred, threads), rows)
    else:
        same = mark_right(true, pred, threads)
    if weights is None:
        return Share(int(np.count_nonzero(same)), rows)
    return Share(counting.sum_of(weights[same]), counting.sum_of(weights), 1 << exact.EXPONENT)


def count_right(true: Target, pred: Target, n_threads: int) -> int:
    """How many rows of two checked columns are equal."""
    rows = true.shape[0]
    found: list[int] = []
    if targets.is_numbers(true) and targets.is_numbers(pred):
        first, second = true, pred
        counting.over_units(
            rows, n_threads, lambda start, stop: found.append(kernel.count_equal(first, second, start, stop))
        )
        if min(found) >= 0:
            return sum(found)
    elif is_fixed_text(true) and is_fixed_text(pred):
        width = max(true.dtype.itemsize, pred.dtype.itemsize, 4)
        first, second = (
            np.ascontiguousarray(each, f"U{width // 4}").view(np.uint8).reshape(rows, width) for each in (true, pred)
        )
        counting.over_units(
            rows, n_threads, lambda start, stop: found.append(kernel.count_equal_rows(first, second, start, stop))
        )
        return sum(found)
    return int(np.count_nonzero(mark_right(true, pred, n_threads)))


def mark_right(true: Target, pred: Target, n_threads: int) -> np.ndarray:
    """Which rows of two checked columns are equal."""
    if targets.is_numbers(true) and targets.is_numbers(pred):
        same = np.empty(true.shape[0], np.uint8)
        if kernel.mark_equal(true, pred, same):
            return same.view(np.bool_)
    _, first, second = targets.match_columns(true, pred, n_threads)
    return np.asarray(first == second)


def is_fixed_text(target: Target) -> TypeGuard[np.ndarray]:
    return not isinstance(target, Coded) and target.dtype.kind == "U"


def hamming_loss(y_true: Any, y_pred: Any, *, sample_weight: Any = None, n_threads: int | None = None) -> float:
    """The share of labels that are predicted wrong.

    With one label per row the share of wrong rows; of rows with several labels (indicators) every label counts:
    (1 / (W k)) sum_i w_i (how many of row i's k indicators differ). R. Hamming, "Error detecting and error correcting
    codes", 1950; G. Tsoumakas, I. Katakis, "Multi-label classification: an overview", 2007.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_classes), or sparse matrix
        True labels: integers, bools, floats without fractions, text; or indicators.
    y_pred : array-like of shape (n,) or (n, n_classes), or sparse matrix
        Predicted labels, or indicators.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        Targets that are continuous or of two kinds, lengths that differ, no rows, bad weights.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.hamming_loss([1, 2, 3, 4], [2, 2, 3, 4])
    0.25
    >>> fm.hamming_loss([[0, 1], [1, 1]], [[0, 0], [0, 0]])
    0.75
    """
    if n_threads is not None:
        count_threads(n_threads)
    share = None
    if sample_weight is None:
        share = few_right(y_true, y_pred) or plain_right(y_true, y_pred, n_threads)
    if share is None:
        true, pred, shape = targets.check_pair(y_true, y_pred)
        if shape == MULTILABEL:
            return wrong_indicators(true, pred, sample_weight)
        share = right_share(true, pred, shape, sample_weight, n_threads)
    return divide(share.whole - share.part, share.whole)


def differing(true: Target, pred: Target) -> np.ndarray:
    """Which indicators differ, compared as they are, not only as set or not: a C-contiguous matrix of uint8."""
    differ = np.asarray(targets.as_target(true, "y_true") != targets.as_target(pred, "y_pred"))
    return np.ascontiguousarray(differ).view(np.uint8)


def wrong_indicators(true: Target, pred: Target, sample_weight: Any) -> float:
    """The share of indicators that differ."""
    weights = targets.as_label_weights(sample_weight, true.shape[0])
    differ = differing(true, pred)
    rows, columns = differ.shape
    if weights is None:
        return divide(int(np.count_nonzero(differ)), rows * columns)
    wrong = np.asarray(np.count_nonzero(differ, axis=1))
    lost = sum(n * counting.sum_of(weights[wrong == n]) for n in np.unique(wrong).tolist())
    return np.float64(divide(lost, columns * counting.sum_of(weights)))


def balanced_accuracy_score(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, adjusted: bool = False, n_threads: int | None = None
) -> float:
    """The mean recall of the classes: accuracy as it would be if all classes were as frequent.

    (1/k) sum over the k classes of y_true of (rows of the class predicted right) / (rows of the class); K. Brodersen et
    al., "The balanced accuracy and its posterior distribution", ICPR 2010. Adjusted, (score - 1/k) / (1 - 1/k): 0 for
    chance.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: integers, bools, floats without fractions, text.
    y_pred : array-like of shape (n,)
        Predicted labels.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero.
    adjusted : bool
        Rescale so that chance scores 0.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1]; adjusted in [1 / (1 - k), 1], and NaN with an UndefinedMetricWarning if y_true has one class.

    Raises
    ------
    ValueError
        Targets that are continuous, multilabel or of two kinds, lengths that differ, no rows, bad weights.

    Warns
    -----
    UserWarning
        y_pred has classes that y_true has not (they are left out), or there is one class only.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.balanced_accuracy_score([0, 1, 0, 0, 1, 0], [0, 1, 0, 0, 0, 1])
    0.625
    """
    inputs.check_flag(adjusted, "adjusted")
    margins = count_margins(y_true, y_pred, sample_weight, n_threads)
    if len(margins.both) == 1:
        warnings.warn(ONE_LABEL, UserWarning, stacklevel=2)
    recalls = [divide(both, true) for both, true in zip(margins.both, margins.true, strict=True) if true]
    if len(recalls) < len(margins.true):
        warnings.warn("y_pred has classes that are not in y_true; they are left out", UserWarning, stacklevel=2)
    score = math.fsum(recalls) / len(recalls)
    if not adjusted:
        return score
    if len(recalls) == 1:
        return warn_undefined("balanced_accuracy_score", "y_true has one class, whose recall has no chance level")
    chance = 1 / len(recalls)
    return (score - chance) / (1 - chance)


class Margins(NamedTuple):
    """Per class, rows with it in both columns, in the first, in the second; and all rows. Or their exact weights."""

    both: list[int]
    true: list[int]
    pred: list[int]
    total: int


def count_margins(y_true: Any, y_pred: Any, sample_weight: Any, n_threads: int | None, names: Names = NAMES) -> Margins:
    """The margins of two columns of labels."""
    if n_threads is not None:
        count_threads(n_threads)
    if sample_weight is None:
        few = counting.few_counts(y_true, y_pred)
        if few is not None:
            return Margins(few.tp.tolist(), (few.tp + few.fn).tolist(), (few.tp + few.fp).tolist(), few.rows)
        cells = counting.plain_cells(y_true, y_pred, n_threads)
        if cells is not None:
            both, in_true, in_pred = counting.margins_of(cells).tolist()
            return Margins(both, in_true, in_pred, y_true.shape[0])
    true, pred = check_columns(y_true, y_pred, names)
    rows = true.shape[0]
    weights = targets.as_label_weights(sample_weight, rows)
    threads = counting.threads_for(rows, n_threads)
    if weights is None:
        _, margins = counting.class_margins(true, pred, threads, names)
        both, in_true, in_pred = margins.tolist()
        return Margins(both, in_true, in_pred, rows)
    classes, first, second = targets.match_columns(true, pred, threads, names)
    found: tuple[list[int], list[int], list[int]] = ([], [], [])
    for states in counting.weigh_classes(first, second, classes.shape[0], weights):
        for into, state in zip(found, states, strict=True):
            into.extend(map(exact.to_integer, state))
    return Margins(*found, counting.sum_of(weights))


def matthews_corrcoef(y_true: Any, y_pred: Any, *, sample_weight: Any = None, n_threads: int | None = None) -> float:
    """Matthews' correlation coefficient: 1 if all rows are right, 0 for chance, negative if worse.

    With c rows right of s, and class k in t_k rows of y_true and in p_k of y_pred,
    (c s - sum_k t_k p_k) / sqrt((s^2 - sum_k p_k^2) (s^2 - sum_k t_k^2)); B. Matthews, "Comparison of the predicted and
    observed secondary structure of T4 phage lysozyme", 1975; for several classes J. Gorodkin, "Comparing two K-category
    assignments by a K-category correlation coefficient", 2004. Computed in integers of any length, rounded at the end.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: integers, bools, floats without fractions, text.
    y_pred : array-like of shape (n,)
        Predicted labels.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [-1, 1]; 0 if either column has one class only.

    Raises
    ------
    ValueError
        Targets that are continuous, multilabel or of two kinds, lengths that differ, no rows, bad weights.

    Warns
    -----
    UserWarning
        There is one class only.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.matthews_corrcoef([1, 1, 1, -1], [1, -1, 1, 1]), 6)
    -0.333333
    """
    both, true, pred, total = count_margins(y_true, y_pred, sample_weight, n_threads)
    if len(both) == 1:
        warnings.warn(ONE_LABEL, UserWarning, stacklevel=2)
    covariance = sum(both) * total - dot(true, pred)
    of_pred = total * total - dot(pred, pred)
    of_true = total * total - dot(true, true)
    return over_root(covariance, of_pred * of_true)


def over_root(numerator: int, square: int) -> float:
    """numerator / sqrt(square); 0 if the square is."""
    if square == 0:
        return 0.0
    # The root in whole numbers, with enough bits that cutting off the rest does not show in a double.
    shift = max(0, ROOT_BITS - square.bit_length()) // 2 + 1
    return divide(numerator << shift, math.isqrt(square << 2 * shift))


def cohen_kappa_score(
    y1: Any,
    y2: Any,
    *,
    labels: Any = None,
    weights: str | None = None,
    sample_weight: Any = None,
    replace_undefined_by: float = math.nan,
    n_threads: int | None = None,
) -> float:
    """Cohen's kappa: the agreement of two annotators beyond what chance would give.

    kappa = 1 - sum_ij f_ij n_ij / sum_ij f_ij e_ij with n_ij the rows labelled i and j, e_ij = n_i. n_.j / n those
    expected by chance, and f_ij = 1 for i != j, |i - j| ("linear") or (i - j)^2 ("quadratic") for the i-th and j-th
    label; J. Cohen, "A coefficient of agreement for nominal scales", 1960, and "Weighted kappa", 1968. Computed in
    integers of any length, rounded once.

    Parameters
    ----------
    y1 : array-like of shape (n,)
        Labels of the first annotator: integers, bools, floats without fractions, text.
    y2 : array-like of shape (n,)
        Labels of the second.
    labels : array-like of shape (n_classes,), optional
        The labels that count and, for weights, their order; rows with others are left out. By default all, sorted.
    weights : {"linear", "quadratic"}, optional
        How a disagreement grows with the distance of the labels.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero.
    replace_undefined_by : float in [-1, 1] or NaN
        The result where kappa is undefined.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At most 1. `replace_undefined_by`, with an UndefinedMetricWarning, if no rows are left, or both annotators used
        one and the same label.

    Raises
    ------
    ValueError
        Targets that are continuous, multilabel or of two kinds, lengths that differ, no rows, bad weights, none of
        `labels` in y1.

    Warns
    -----
    UserWarning
        There is one class only.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.cohen_kappa_score(["no", "yes", "no", "maybe", "yes"], ["no", "yes", "no", "maybe", "no"])
    0.6875
    """
    if weights is not None:
        inputs.check_option(weights, "weights", ("linear", "quadratic", None))
    check_replacement(replace_undefined_by)
    if n_threads is not None:
        count_threads(n_threads)
    if weights is None and labels is None:
        margins = count_margins(y1, y2, sample_weight, n_threads, BOTH)
        right = sum(margins.both)
        table = Distances(margins.true, margins.pred, [right, margins.total - right])
    else:
        table = count_distances(y1, y2, labels, sample_weight, n_threads)
    if len(table.first) == 1:
        warnings.warn(ONE_LABEL, UserWarning, stacklevel=2)
    total = sum(table.first)
    if total == 0:
        reason = "y2 has no label that is in y1 and in labels"
    else:
        observed = dot(table.rows, steps(weights))
        expected = expected_distance(table.first, table.second, total, weights)
        if expected:
            return divide(expected - observed * total, expected)
        reason = "y1 and y2 have one and the same label"
    warnings.warn(
        f"cohen_kappa_score is undefined: {reason}; the result is replace_undefined_by={replace_undefined_by}",
        UndefinedMetricWarning,
        stacklevel=2,
    )
    return replace_undefined_by


def check_replacement(value: Any) -> None:
    if not isinstance(value, Real) or not (math.isnan(value) or -1 <= float(value) <= 1):
        raise inputs.OptionError(f"replace_undefined_by must be a number in [-1, 1] or NaN; found {value!r}")


def steps(weights: str | None) -> Iterator[int]:
    """What a disagreement by 0, 1, 2, ... labels costs."""
    if weights is None:
        return chain((0,), repeat(1))
    return (step * step for step in count()) if weights == "quadratic" else count()


def dot(first: Iterable[int], second: Iterable[int]) -> int:
    total: int = sum(map(mul, first, second))
    return total


def expected_distance(first: list[int], second: list[int], total: int, weights: str | None) -> int:
    """sum_ij f_ij first_i second_j; both sum up to total."""
    if weights is None:
        return total * total - dot(first, second)
    if weights == "quadratic":
        squares = [step * step for step in range(len(first))]
        together = total * (dot(squares, first) + dot(squares, second))
        return together - 2 * dot(count(), first) * dot(count(), second)
    # The distance of i and j is the number of cuts between them.
    return sum(
        below * (total - other) + other * (total - below)
        for below, other in zip(accumulate(first), accumulate(second), strict=True)
    )


class Distances(NamedTuple):
    """Rows per label of the first and the second annotator, and per distance of the two labels; or exact weights."""

    first: list[int]
    second: list[int]
    rows: list[int]


def count_distances(y1: Any, y2: Any, labels: Any, sample_weight: Any, n_threads: int | None) -> Distances:
    """The table of two columns of labels, in the order of `labels`."""
    cells = None
    if sample_weight is None and labels is None:
        cells = counting.few_cells(y1, y2)
    if cells is None:
        one, other = check_columns(y1, y2, BOTH)
        wanted = None if labels is None else check_wanted(labels)
        weights = targets.as_label_weights(sample_weight, one.shape[0])
        threads = counting.threads_for(one.shape[0], n_threads)
        if weights is None and wanted is None:
            counted = counting.direct_cells(one, other, threads)
            cells = None if counted is None else counted.counts
    if cells is not None:
        n = cells.shape[0]
        rows = [int(cells.trace(step)) + int(cells.trace(-step)) for step in range(1, n)]
        return Distances(cells.sum(axis=1).tolist(), cells.sum(axis=0).tolist(), [int(cells.trace()), *rows])
    classes, first, second = targets.match_columns(one, other, threads, BOTH)
    n = classes.shape[0]
    if wanted is not None:
        first, second, weights = only_wanted(classes, first, second, weights, wanted)
        n = len(wanted)
    columns = first, second, np.abs(first - second)
    if weights is None:
        return Distances(*(np.bincount(column, minlength=n).tolist() for column in columns))
    return Distances(*(weigh(column, n, weights) for column in columns))


def weigh(codes: np.ndarray, n: int, weights: np.ndarray) -> list[int]:
    """The exact weight of each number, times 2**EXPONENT."""
    ordered, starts = counting.order_weights(codes, n, weights)
    found: list[int] = []
    for start in range(0, n, counting.LABELS_AT_ONCE):
        states = exact.new_states(min(counting.LABELS_AT_ONCE, n - start))
        kernel.run_states(ordered, starts, start, states)
        found.extend(map(exact.to_integer, states))
    return found
