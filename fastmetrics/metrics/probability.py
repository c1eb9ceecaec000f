"""Probabilities against labels: log loss, normalised entropy, Brier score, and the observed rate beside them.

Every metric here is a ratio of counts and exact sums over rows. The terms of a row are computed in float64 whatever the
input type; their sum has no rounding error, and the result is rounded once.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from fastmetrics._core import exact, inputs
from fastmetrics._core.binary import NO_WEIGHT, LabelCounts, answer, as_columns, ratio, row_coverage
from fastmetrics._core.exact import divide
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import metric
from fastmetrics._core.rows import Rows
from fastmetrics._core.statistic import Statistic, Sums, Value
from fastmetrics._kernels import losses, sums

LEAST_EPS = 2.2250738585072014e-308  # the least normal float64: the logarithm's domain

__all__ = ["brier_score_loss", "log_loss", "normalized_entropy"]


class LogTerms(Statistic):
    """The (weighted) sum of -log(q), q the probability given to what happened, and how many q were clipped.

    The clip is to [eps, 1 - eps].
    """

    __slots__ = ("eps",)

    def __init__(self, eps: float | str) -> None:
        self.eps = eps

    def new(self) -> Sums:
        return Sums(1, 1)

    def update(self, state: Sums, rows: Rows) -> None:
        problem = np.zeros(1, np.int64)
        eps = rows.eps if self.eps == "auto" and rows.eps is not None else resolve_eps(self.eps, rows.scores.dtype)
        losses.log_loss_terms(rows.labels, rows.scores, rows.weights, eps, state.exact[0], state.counts, problem)
        if problem[0]:
            rows.raise_bad_probability()


class SquaredErrors(Statistic):
    """The (weighted) sum of (p - y)^2."""

    __slots__ = ()

    def new(self) -> Sums:
        return Sums(0, 1)

    def update(self, state: Sums, rows: Rows) -> None:
        problem = np.zeros(1, np.int64)
        losses.squared_error_terms(rows.labels, rows.scores, rows.weights, state.exact[0], problem)
        if problem[0]:
            rows.raise_bad_probability()


def resolve_eps(eps: float | str, dtype: np.dtype) -> float:
    """The clip: a number, or "auto" for the machine epsilon of the type the probabilities came in."""
    if eps == "auto":
        return float(np.finfo(dtype).eps)
    return float(eps)


def check_eps(eps: Any) -> None:
    if eps == "auto":
        return
    if isinstance(eps, (bool, str)) or not isinstance(eps, (int, float, np.number)) or not LEAST_EPS <= eps < 0.5:
        raise ValueError(f"eps must be 'auto' or a number from {LEAST_EPS:g} to below 0.5; found {eps!r}")


def check_base_rate(base_rate: Any) -> None:
    if base_rate == "sample":
        return
    if (
        isinstance(base_rate, (bool, str))
        or not isinstance(base_rate, (int, float, np.number))
        or not 0 < base_rate < 1
    ):
        raise ValueError(f"base_rate must be 'sample' or a number in (0, 1); found {base_rate!r}")


def is_float16(values: Any) -> bool:
    """Of NumPy (any byte order), Arrow, pandas or polars."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype):
        return dtype.kind == "f" and dtype.itemsize == 2
    return str(getattr(values, "type", "")) == "halffloat" or str(dtype).lower() == "float16"


def input_eps(values: Any, eps: float | str) -> float | str:
    """float16 probabilities are widened, but their epsilon stays."""
    check_eps(eps)
    if eps == "auto" and is_float16(values):
        return float(np.finfo(np.float16).eps)
    return eps


def log_loss(
    y_true: Any,
    y_proba: Any = None,
    *,
    normalize: bool = True,
    sample_weight: Any = None,
    labels: Any = None,
    y_pred: Any = None,
    eps: float | str = "auto",
    n_threads: int | None = None,
) -> float:
    """The mean of -log of the probability given to what happened (cross-entropy, natural logarithm).

    log loss = -(1/W) sum_i w_i log q_i, with q_i the predicted probability of row i's own class, clipped to
    [eps, 1 - eps], and W the sum of the weights (Good, J. R. Stat. Soc. B 14, 1952). It is not divided by the number of
    classes, as one formula in circulation does. Terms are float64, their sum is exact.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Binary labels 0 and 1 (or -1 and +1), or with 2-D y_proba class labels of any kind.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probabilities in [0, 1]: of the positive class, or of every class in sorted order of the labels.
    normalize : bool
        Mean (True) or sum (False) of the terms.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    labels : array-like, optional
        The classes, when y_true does not hold all of them.
    y_pred : array-like, optional
        The older name of y_proba.
    eps : "auto" or float of at least 2.2e-308, below 0.5
        The clip; "auto" is the machine epsilon of y_proba's type, as in scikit-learn. At p = 0 or 1 the clip is the
        metric.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At least 0.

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, bad labels, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.log_loss([1, 0, 0, 1], [0.9, 0.1, 0.2, 0.65]), 6)
    0.216162
    """
    if (y_proba is None) == (y_pred is None):
        raise TypeError("log_loss takes y_proba, or y_pred, its older name, but not both")
    given = y_pred if y_proba is None else y_proba
    eps = input_eps(given, eps)
    threads = count_threads(n_threads)
    predictions = inputs.as_floats(given, "y_proba")
    if predictions.ndim == 2:
        return multiclass_log_loss(y_true, predictions, normalize, sample_weight, labels, eps)
    rows = as_columns(y_true, predictions, sample_weight, "y_proba")
    if labels is not None:
        check_binary_labels(labels, "y_proba")
    counts, terms = rows.reduce((LabelCounts(), LogTerms(eps)), threads)
    if not normalize:
        return exact.to_float(terms.exact[0])
    return answer("log_loss", finalise_log_loss({}, counts, terms))


def check_binary_labels(labels: Any, name: str) -> None:
    classes = inputs.as_array(labels, "labels")
    if classes.ndim != 1 or set(classes.tolist()) not in ({0, 1}, {-1, 1}):
        raise ValueError(f"labels must be [0, 1] or [-1, 1] when {name} has one column; found {classes.tolist()!r}")


def sorted_classes(values: np.ndarray, name: str) -> np.ndarray:
    """The distinct labels, of one sortable kind."""
    try:
        return np.unique(values)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in values.tolist()})
        raise TypeError(f"{name} mixes labels of kinds that have no common order: {', '.join(kinds)}") from None


def class_codes(y_true: Any, n_classes: int, labels: Any, name: str) -> np.ndarray:
    """Labels of any sortable kind as column numbers."""
    values = inputs.as_array(y_true, "y_true")
    inputs.check_column(values, "y_true")
    if values.dtype.kind == "f" and np.isnan(values).any():
        inputs.raise_nan(values, "y_true")
    classes = sorted_classes(values, "y_true")
    if labels is not None:
        classes = sorted_classes(inputs.as_array(labels, "labels"), "labels")
    if classes.shape[0] != n_classes:
        where = "y_true has" if labels is None else "labels has"
        raise ValueError(
            f"{name} has {n_classes} columns but {where} {classes.shape[0]} classes; name them all with labels="
        )
    codes = np.searchsorted(classes, values)
    unknown = (codes == n_classes) | (classes[np.minimum(codes, n_classes - 1)] != values)
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0])
        raise ValueError(f"y_true has {values[row]!r} at row {row}, which is not among labels")
    return codes.astype(np.int64, copy=False)


def multiclass_log_loss(
    y_true: Any, y_proba: np.ndarray, normalize: bool, sample_weight: Any, labels: Any, eps: float | str
) -> float:
    if y_proba.shape[1] == 1:
        y_proba = np.hstack((1 - y_proba, y_proba))
    codes = class_codes(y_true, y_proba.shape[1], labels, "y_proba")
    inputs.check_lengths(codes.shape[0], y_proba.shape[0], "y_true", "y_proba")
    weights = None if sample_weight is None else inputs.as_weights(sample_weight, codes.shape[0])
    state = exact.new_states()
    clipped = np.zeros(1, np.int64)
    problem = np.zeros(1, np.int64)
    predictions = np.ascontiguousarray(y_proba)
    losses.log_loss_terms_multiclass(
        codes, predictions, weights, resolve_eps(eps, y_proba.dtype), state, clipped, problem
    )  # fmt: skip
    if problem[0]:
        inputs.raise_bad_probability(predictions, "y_proba")
    warn_unnormalised(predictions, "y_proba")
    if not normalize:
        return exact.to_float(state)
    return answer("log_loss", ratio(exact.to_integer(state), total_weight(weights, codes.shape[0]), {}, NO_WEIGHT))


def total_weight(weights: np.ndarray | None, rows: int) -> int:
    """The sum of the weights, or the number of rows, times 2**EXPONENT."""
    if weights is None:
        return rows << exact.EXPONENT
    state = exact.new_states()
    sums.sum_values(weights, None, state)
    return exact.to_integer(state)


def warn_unnormalised(y_pred: np.ndarray, name: str) -> None:
    """Rows are taken as they are, never rescaled; one that does not sum to 1 is worth a warning, as in scikit-learn."""
    totals = y_pred.sum(axis=1, dtype=np.float64)
    off = np.abs(totals - 1) > np.sqrt(np.finfo(y_pred.dtype).eps)
    if off.any():
        row = int(np.flatnonzero(off)[0])
        warnings.warn(
            f"{name} sums to {totals[row]} at row {row}, not to 1; it is used as given", UserWarning, stacklevel=4
        )


def brier_score_loss(
    y_true: Any,
    y_proba: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    labels: Any = None,
    scale_by_half: bool | str = "auto",
    n_threads: int | None = None,
) -> float:
    """The mean squared distance between probabilities and outcomes.

    Brier score = (1/W) sum_i w_i (p_i - y_i)^2 for binary labels (Brier, Monthly Weather Review 78, 1950, divided by
    two). With one column per class it is the sum over the classes, halved when scale_by_half says so.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Binary labels 0 and 1 (or -1 and +1), or with 2-D y_proba class labels of any kind.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probabilities in [0, 1].
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    pos_label : optional
        The label y_proba speaks of, for binary labels: by default 1.
    labels : array-like, optional
        The classes, when y_true does not hold all of them (2-D y_proba).
    scale_by_half : bool or "auto"
        Halve the sum over classes; "auto" does so for two classes, as in scikit-learn.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1] for binary labels.

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, bad labels, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.brier_score_loss([0, 1, 1, 0], [0.0, 0.5, 1.0, 0.5])
    0.125
    """
    if scale_by_half not in ("auto", True, False):
        raise ValueError(f"scale_by_half must be 'auto', True or False; found {scale_by_half!r}")
    threads = count_threads(n_threads)
    predictions = inputs.as_floats(y_proba, "y_proba")
    if predictions.ndim == 2:
        return multiclass_brier(y_true, predictions, sample_weight, labels, scale_by_half)
    rows = as_columns(positive_labels(y_true, pos_label), predictions, sample_weight, "y_proba")
    if labels is not None:
        check_binary_labels(labels, "y_proba")
    score = answer("brier_score_loss", finalise_brier({}, *rows.reduce((LabelCounts(), SquaredErrors()), threads)))
    return score if scale_by_half in ("auto", True) else 2 * score


def positive_labels(y_true: Any, pos_label: Any) -> Any:
    """With pos_label, whether each label is it (of at most two); else the labels themselves."""
    if pos_label is None:
        return y_true
    values = inputs.as_array(y_true, "y_true")
    inputs.check_column(values, "y_true")
    if values.dtype.kind == "f" and np.isnan(values).any():
        inputs.raise_nan(values, "y_true")
    found = sorted_classes(values, "y_true")
    if found.shape[0] > 2 or (found.shape[0] == 2 and pos_label not in found.tolist()):
        raise ValueError(
            f"pos_label must be one of the two labels of y_true; found {pos_label!r} and labels {found.tolist()[:5]!r}"
        )
    return values == pos_label


def multiclass_brier(
    y_true: Any, y_proba: np.ndarray, sample_weight: Any, labels: Any, scale_by_half: bool | str
) -> float:
    codes = class_codes(y_true, y_proba.shape[1], labels, "y_proba")
    inputs.check_lengths(codes.shape[0], y_proba.shape[0], "y_true", "y_proba")
    if not ((y_proba >= 0) & (y_proba <= 1)).all():
        inputs.raise_bad_probability(y_proba, "y_proba")
    warn_unnormalised(y_proba, "y_proba")
    weights = None if sample_weight is None else inputs.as_weights(sample_weight, codes.shape[0])
    state = exact.new_states()
    problem = np.zeros(1, np.int64)
    for column in range(y_proba.shape[1]):
        happened = (codes == column).view(np.uint8)
        losses.squared_error_terms(happened, np.ascontiguousarray(y_proba[:, column]), weights, state, problem)
    total = total_weight(weights, codes.shape[0])
    half = y_proba.shape[1] == 2 if isinstance(scale_by_half, str) else bool(scale_by_half)
    return answer("brier_score_loss", ratio(exact.to_integer(state), 2 * total if half else total, {}, NO_WEIGHT))


def normalized_entropy(
    y_true: Any,
    y_prob: Any,
    *,
    base_rate: float | str = "sample",
    sample_weight: Any = None,
    eps: float | str = "auto",
    n_threads: int | None = None,
) -> float:
    """Log loss relative to that of always predicting the base rate: below 1 the model knows something.

    NE = log loss / H(r), with H(r) = -(r log r + (1 - r) log(1 - r)) and r the base rate (He et al., ADKDD 2014): the
    observed rate, or a number given.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class, in [0, 1].
    base_rate : "sample" or float in (0, 1)
        The constant prediction to compare with.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    eps : "auto" or float of at least 2.2e-308, below 0.5
        The clip of the log loss.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At least 0; NaN with an UndefinedMetricWarning when only one class is present and base_rate is "sample".

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, bad labels, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.normalized_entropy([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5])
    1.0
    """
    check_base_rate(base_rate)
    eps = input_eps(y_prob, eps)
    rows = as_columns(y_true, y_prob, sample_weight, "y_prob")
    result = finalise_ne({"base_rate": base_rate}, *rows.reduce((LabelCounts(), LogTerms(eps)), n_threads))
    return answer("normalized_entropy", result)


@metric("ctr", exchange="none", statistics=lambda: (LabelCounts(),), function=None, undefined="never")
def finalise_ctr(parameters: dict[str, Any], counts: Sums) -> Value:
    """Observed rate: the share of positive rows."""
    total, positive = LabelCounts.totals(counts)
    return ratio(positive, total, row_coverage(counts), NO_WEIGHT)


@metric(
    "logloss",
    exchange="none",
    statistics=lambda eps: (LabelCounts(), LogTerms(eps)),
    function=log_loss,
    undefined="never",
    parameters={"eps": "auto"},
    checks={"eps": check_eps},
)
def finalise_log_loss(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """Log loss: the mean of -log of the probability given to what happened."""
    coverage = row_coverage(counts) | {"rows_clipped": terms.count(0)}
    return ratio(terms.integer(0), LabelCounts.totals(counts)[0], coverage, NO_WEIGHT)


@metric(
    "ne",
    exchange="none",
    statistics=lambda base_rate, eps: (LabelCounts(), LogTerms(eps)),
    function=normalized_entropy,
    undefined="one class only, with base_rate=sample",
    parameters={"base_rate": "sample", "eps": "auto"},
    checks={"base_rate": check_base_rate, "eps": check_eps},
)
def finalise_ne(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """Normalised entropy: log loss over that of always predicting the base rate."""
    total, positive = LabelCounts.totals(counts)
    coverage = row_coverage(counts) | {"rows_clipped": terms.count(0)}
    if total == 0:
        return Value(float("nan"), coverage, NO_WEIGHT)
    if parameters["base_rate"] == "sample":
        if positive in (0, total):
            return Value(float("nan"), coverage, "only one class is present, so the base rate has no entropy")
        entropy = entropy_of(divide(positive, total), divide(total - positive, total))
        if entropy == 0:
            return Value(float("nan"), coverage, "the base rate is too close to 0 or 1 to have an entropy")
    else:
        rate = float(parameters["base_rate"])
        entropy = entropy_of(rate, 1 - rate)
    return Value(divide(terms.integer(0), total) / entropy, coverage)


def entropy_of(rate: float, rest: float) -> float:
    """Of two outcomes whose probabilities add up to 1; each is given, because one may round to 1."""
    rarer, other = sorted((rate, rest))
    if rarer == 0:
        return 0.0
    return -(rarer * math.log(rarer) + other * math.log1p(-rarer))


@metric(
    "brier",
    exchange="none",
    statistics=lambda: (LabelCounts(), SquaredErrors()),
    function=brier_score_loss,
    undefined="never",
)
def finalise_brier(parameters: dict[str, Any], counts: Sums, squares: Sums) -> Value:
    """Brier score: the mean squared distance between probability and outcome."""
    return ratio(squares.integer(0), LabelCounts.totals(counts)[0], row_coverage(counts), NO_WEIGHT)
