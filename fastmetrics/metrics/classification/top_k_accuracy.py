"""Labels against the scores of all classes: is the true class among the first k?"""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np

from fastmetrics._core import coding, exact, inputs
from fastmetrics._core import labels as targets
from fastmetrics._core.exact import divide
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.undefined import UndefinedMetricWarning
from fastmetrics._kernels import labels as kernel
from fastmetrics.metrics.classification import counts as counting

__all__ = ["top_k_accuracy_score"]


def top_k_accuracy_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int = 2,
    normalize: bool = True,
    sample_weight: Any = None,
    labels: Any = None,
    n_threads: int | None = None,
) -> float:
    """The share of rows whose true class has one of the k highest scores.

    (1/W) sum_i w_i [fewer than k classes stand before class y_true_i], the classes of a row ordered by score, highest
    first, and of equal scores the last column first. A. Krizhevsky et al., "ImageNet classification with deep
    convolutional neural networks", 2012 (top-5 error).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: integers, bools, floats without fractions, text.
    y_score : array-like of shape (n,) or (n, n_classes)
        A finite score per class, columns in the order of the sorted labels; for two classes one column, the score of
        the greater label: predicted where it is above 0.5, or above 0 if any score lies outside [0, 1].
    k : int of at least 1
        How many of the highest scores count.
    normalize : bool
        The share (True), or how many rows, or their weight (False).
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative.
    labels : array-like of shape (n_classes,), optional
        The classes, sorted, when y_true does not hold all of them.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1] if normalised.

    Raises
    ------
    ValueError
        Labels that are continuous, multilabel or not in `labels`, scores of a wrong shape, NaN or infinite, lengths
        that differ, no rows, bad weights, `labels` not sorted or not unique.
    ZeroDivisionError
        All weights are zero, as in scikit-learn.

    Warns
    -----
    UndefinedMetricWarning
        k is not below the number of classes, so every row counts.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> y_score = [[0.5, 0.2, 0.2], [0.3, 0.4, 0.2], [0.2, 0.4, 0.3], [0.7, 0.2, 0.1]]
    >>> fm.top_k_accuracy_score([0, 1, 2, 2], y_score, k=2)
    0.75
    """
    inputs.check_flag(normalize, "normalize")
    k = check_k(k)
    if n_threads is not None:
        count_threads(n_threads)
    column = targets.open_column(y_true, "y_true")
    scores = as_class_scores(y_score)
    rows = column.shape[0]
    inputs.check_lengths(rows, scores.shape[0], "y_true", "y_score")
    codes, classes = encode(column, scores, labels)
    weights = None if sample_weight is None else inputs.as_weights(sample_weight, rows)
    if k >= classes:
        warnings.warn(
            f"k={k} is not below the number of classes, {classes}: every row counts",
            UndefinedMetricWarning,
            stacklevel=2,
        )
    hits = None if weights is None else np.empty(rows, np.uint8)
    right = count_hits(scores, codes, k, hits, counting.threads_for(rows, n_threads))
    if weights is None or hits is None:
        return divide(right, rows) if normalize else float(right)
    part, whole = counting.sum_of(weights[hits.view(np.bool_)]), counting.sum_of(weights)
    if not normalize:
        return divide(part, 1 << exact.EXPONENT)
    if whole == 0:
        raise ZeroDivisionError("sample_weight is zero at every row, so there is no share")
    return divide(part, whole)


def check_k(k: Any) -> int:
    try:
        number = operator.index(k)
    except TypeError:
        number = 0
    if number < 1:
        raise inputs.OptionError(f"k must be an integer of at least 1; found {k!r}")
    return number


def as_class_scores(y_score: Any) -> np.ndarray:
    """Scores of one column, or of a column per class."""
    if isinstance(y_score, (str, bytes)) or y_score is None or not inputs.has_rows(y_score):
        raise inputs.OptionError(f"y_score must be an array of scores; found {type(y_score).__name__}")
    scores = inputs.as_floats(y_score, "y_score")
    if scores.ndim not in (1, 2):
        raise ValueError(f"y_score must have one or two dimensions; found {scores.ndim} (shape {scores.shape})")
    return scores


def encode(column: targets.Target, scores: np.ndarray, labels: Any) -> tuple[np.ndarray, int]:
    """Codes of the labels, and how many classes there are; as many as scores have columns."""
    coded = targets.code_target(column, "y_true")
    found = coded.classes.shape[0]
    wanted = None if labels is None else check_labels(labels)
    two = found < 3 and (wanted is None or wanted.shape[0] < 3)
    if two and scores.ndim == 2 and scores.shape[1] != 1:
        raise ValueError(
            f"y_score has {scores.shape[1]} columns but y_true has {found} classes, which have one score; name all "
            f"classes with labels="
        )
    if not two and scores.ndim == 1:
        raise ValueError(f"y_score must have a column per class; found one dimension and {found} classes in y_true")
    columns = 2 if two else scores.shape[1]
    classes = found if wanted is None else wanted.shape[0]
    if classes != columns:
        where = "y_true" if wanted is None else "labels"
        raise ValueError(f"{where} has {classes} classes but y_score is for {columns}; name them all with labels=")
    if wanted is None:
        return coding.in_order(coded).codes, classes
    return targets.recode(coded, wanted, "y_true")[0], classes


def check_labels(labels: Any) -> np.ndarray:
    """Labels must be sorted, because columns are."""
    wanted = counting.as_wanted(labels)
    if wanted.shape[0] and not np.array_equal(targets.sorted_classes(wanted, "labels"), wanted):
        raise ValueError(f"labels must be sorted and unique; found {wanted[:5].tolist()!r}")
    return wanted


def count_hits(scores: np.ndarray, codes: np.ndarray, k: int, hits: np.ndarray | None, n_threads: int) -> int:
    """How many rows count; hits, if wanted, becomes which."""
    if scores.ndim == 2 and scores.shape[1] > 1:
        found: list[int] = []
        flat, columns = scores.reshape(-1), scores.shape[1]
        counting.over_units(
            scores.shape[0],
            n_threads,
            lambda start, stop: found.append(kernel.mark_top(flat, columns, codes, k, start, stop, hits)),
        )
        if min(found) < 0:
            raise_not_finite(scores)
        return sum(found)
    scores = scores.reshape(-1)
    if not np.isfinite(scores).all():
        raise_not_finite(scores)
    if k > 1:
        same = np.ones(scores.shape[0], bool)
    else:
        threshold = 0.5 if scores.min() >= 0 and scores.max() <= 1 else 0
        same = (scores > threshold) == codes
    if hits is not None:
        hits[:] = same
    return int(np.count_nonzero(same))


def raise_not_finite(scores: np.ndarray) -> None:
    bad = ~np.isfinite(scores)
    row = int(np.flatnonzero(bad.reshape(scores.shape[0], -1).any(axis=1))[0])
    value = scores[row][bad[row]].ravel()[0]
    raise ValueError(f"y_score has {'NaN' if value != value else value} at row {row}: scores must be finite")
