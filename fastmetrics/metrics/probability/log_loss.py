"""Log loss: the mean of -log of the probability given to what happened, and what it says of a model's skill.

A ratio of exact sums over rows. The terms of a row are computed in float64 whatever the input type; their sum has no
rounding error, and the result is rounded once.
"""

from __future__ import annotations

import math
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
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels import losses, shortlosses
from fastmetrics.metrics.probability.targets import (
    ClassLogTerms,
    OneColumn,
    as_predictions,
    check_boolean,
    check_eps,
    check_labels,
    fewer_than_two,
    machine_epsilon,
    newer_name,
    read_target,
    read_weights,
    resolve_eps,
    several_columns,
    two_classes,
)

NULL_EPS = float(np.finfo(np.float64).eps)  # the clip of the null model, whose probabilities are float64
LOSS_OF_CERTAINTY = NULL_EPS * (1 + NULL_EPS)  # -log(1 - eps), rounded

__all__ = ["clipped_rows", "d2_log_loss_score", "log_loss"]


class LogTerms(Statistic):
    """The (weighted) sum of -log(q), q the probability given to what happened, and how many q were clipped.

    The clip is to [eps, 1 - eps].
    """

    __slots__ = ("eps", "sampling_rate")

    def __init__(self, eps: float | str, sampling_rate: float | None = None) -> None:
        self.eps = eps
        self.sampling_rate = sampling_rate

    def new(self) -> Sums:
        return Sums(1, 1)

    def update(self, state: Sums, rows: Rows) -> None:
        problem = np.zeros(1, np.int64)
        eps = rows.eps if self.eps == "auto" and rows.eps is not None else resolve_eps(self.eps, rows.scores.dtype)
        losses.log_loss_terms(
            rows.labels, rows.scores, rows.weights, eps, kernel_rate(self.sampling_rate), state.exact[0], state.counts,
            problem,
        )  # fmt: skip
        if problem[0]:
            rows.raise_bad_probability()


class LogSums(NamedTuple):
    """What log loss needs of all rows: the state of the sum, rows clipped, and the weight of every class.

    Weights are times 2**EXPONENT; a row may be of several classes, so `total` is that of the rows.
    """

    state: np.ndarray
    clipped: int
    total: int
    classes: Sequence[int]


def log_sums(
    y_true: Any,
    y_proba: Any,
    sample_weight: Any,
    labels: Any,
    eps: float | str,
    sampling_rate: float | None,
    n_threads: int | None,
    want_classes: bool = False,
) -> LogSums:
    """The sums over labels of any kind, with all checks of scikit-learn."""
    check_eps(eps)
    check_sampling_rate(sampling_rate)
    check_labels(labels)
    threads = count_threads(n_threads)
    predictions = as_predictions(y_proba, "y_proba")
    target = read_target(y_true, predictions, "y_proba")
    weights = read_weights(sample_weight, target.shape[0])
    own_eps = machine_epsilon(y_proba, predictions)
    clip = own_eps if isinstance(eps, str) else float(eps)
    if predictions.ndim == 1 and len(target.shape) == 1:
        columns = OneColumn(
            target, predictions, weights, "y_proba", lambda column: two_classes(column, labels, "y_proba"),
            plain=labels is None, both=True,
        )  # fmt: skip
        counts, terms = columns.reduce((LabelCounts(), LogTerms(clip, sampling_rate)), threads)
        total, positive = LabelCounts.totals(counts)
        return LogSums(terms.exact[0], terms.count(0), total, (total - positive, positive))
    if kernel_rate(sampling_rate):
        raise inputs.OptionError("sampling_rate is for one column of probabilities, those of the positive class")
    if predictions.ndim == 1:
        predictions = np.column_stack((1 - predictions, predictions))
    matrix = several_columns(target, predictions, weights, labels, own_eps, "y_proba")
    (terms,) = matrix.reduce((ClassLogTerms(clip),), threads)
    return LogSums(terms.exact[0], terms.count(0), matrix.total(), matrix.class_totals() if want_classes else ())


def log_loss(
    y_true: Any,
    y_proba: Any = None,
    *,
    normalize: bool = True,
    sample_weight: Any = None,
    labels: Any = None,
    y_pred: Any = "deprecated",
    eps: float | str = "auto",
    sampling_rate: float | None = None,
    n_threads: int | None = None,
) -> float:
    """The mean of -log of the probability given to what happened (cross-entropy, natural logarithm).

    log loss = -(1/W) sum_i w_i log q_i, with q_i the predicted probability of row i's own class, clipped to
    [eps, 1 - eps], and W the sum of the weights (Good, J. R. Stat. Soc. B 14, 1952). It is not divided by the number of
    classes, as one formula in circulation does. Terms are float64, their sum is exact. `clipped_rows` tells how many
    rows the clip has touched.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_classes)
        Two labels of any kind, or as many as y_proba has columns; or a matrix that tells with 0 and 1 which labels a
        row has (then the logarithms of a row are summed).
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probabilities in [0, 1]: of the greater label, or of every class in sorted order of the labels.
    normalize : bool
        Mean (True) or sum (False) of the terms.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero; a row of weight zero is absent.
    labels : array-like, optional
        The classes, when y_true does not hold all of them.
    y_pred : array-like, optional
        The older name of y_proba; it warns.
    eps : "auto" or float of at least 2.2e-308, below 0.5
        The clip; "auto" is the machine epsilon of y_proba's type, as in scikit-learn. At p = 0 or 1 the clip is the
        metric.
    sampling_rate : float in (0, 1], optional
        The share of the negatives that the model was trained on, when it saw all positives; y_true is of all rows. A
        probability p then becomes p / (p + (1 - p) / sampling_rate), never above p, before it is clipped (He et al.,
        ADKDD 2014, section 6.3, where the rate is w). For one column of probabilities.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At least 0.

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, labels that are no classes, one label only and no `labels`, weights that
        are all zero, lengths that differ, no rows; the row is named.

    Warns
    -----
    UserWarning
        A row of several probabilities does not sum to 1, or `labels` are not sorted.
    FutureWarning
        y_pred was given.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.log_loss([1, 0, 0, 1], [0.9, 0.1, 0.2, 0.65]), 6)
    0.216162
    >>> round(fm.log_loss(["spam", "ham", "ham", "spam"], [[0.1, 0.9], [0.9, 0.1], [0.8, 0.2], [0.35, 0.65]]), 6)
    0.216162

    A model trained on a tenth of the negatives, on a log of all rows:

    >>> round(fm.log_loss([0, 0, 0, 1], [0.2, 0.5, 0.1, 0.8], sampling_rate=0.1), 6)
    0.345954
    """
    usual = type(eps) is str and eps == "auto" and type(y_pred) is str and y_pred == "deprecated" and normalize is True
    if usual and labels is None and sampling_rate is None and n_threads is None:
        # A call on few rows, made in a loop: nothing but the work.
        found = plain_log_sums(y_true, y_proba, sample_weight)
        if found is not None:
            return divide(found[4], found[2])
    y_proba = newer_name(y_proba, y_pred)
    check_boolean(normalize, "normalize")
    sums = log_sums(y_true, y_proba, sample_weight, labels, eps, sampling_rate, n_threads)
    if not normalize:
        return exact.to_float(sums.state)
    return divide(exact.to_integer(sums.state), sums.total)


def plain_log_sums(y_true: Any, y_proba: Any, sample_weight: Any) -> tuple[int, int, int, int, int] | None:
    """As plain_sums, of few rows that show both classes and of which one weighs something."""
    found = plain_sums(y_true, y_proba, sample_weight, shortlosses.LOGARITHMS)
    return found if found is not None and 0 < found[1] < found[0] and found[2] else None


def d2_log_loss_score(
    y_true: Any,
    y_proba: Any = None,
    *,
    sample_weight: Any = None,
    labels: Any = None,
    y_pred: Any = "deprecated",
    eps: float | str = "auto",
    n_threads: int | None = None,
) -> float:
    """The share of the log loss of a constant prediction that the model takes away: 1 is perfect, 0 is no skill.

    D2 = 1 - log loss / log loss of always predicting the observed shares of the classes. For two classes it is 1 - NE
    (`normalized_entropy`). Shares of 0 and 1 are clipped too, as float64 probabilities are: where one class is all
    there is (`labels` names the other) D2 is a large negative number.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_classes)
        Labels as `log_loss` takes them.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probabilities in [0, 1]: of the greater label, or of every class in sorted order of the labels.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero; a row of weight zero is absent.
    labels : array-like, optional
        The classes, when y_true does not hold all of them.
    y_pred : array-like, optional
        The older name of y_proba; it warns.
    eps : "auto" or float of at least 2.2e-308, below 0.5
        The clip of the model's log loss, as in `log_loss`.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At most 1; NaN with an UndefinedMetricWarning for less than two rows.

    Raises
    ------
    ValueError
        As `log_loss`.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.d2_log_loss_score([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5])
    0.0
    >>> round(fm.d2_log_loss_score([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]), 6)
    0.714873
    """
    usual = type(eps) is str and eps == "auto" and type(y_pred) is str and y_pred == "deprecated"
    if usual and labels is None and n_threads is None:
        found = plain_log_sums(y_true, y_proba, sample_weight)
        if found is not None:
            total, positive = found[:2] if sample_weight is None else found[2:4]
            return 1 - divide(found[4], found[2]) / entropy_of_shares((total - positive, positive), total)
    y_proba = newer_name(y_proba, y_pred)
    if fewer_than_two(y_true, y_proba, sample_weight):
        return warn_undefined("d2_log_loss_score", "there are less than two rows")
    sums = log_sums(y_true, y_proba, sample_weight, labels, eps, None, n_threads, want_classes=True)
    return 1 - divide(exact.to_integer(sums.state), sums.total) / entropy_of_shares(sums.classes, sums.total)


def entropy_of_shares(parts: Sequence[int], total: int) -> float:
    """The log loss of always predicting each class's share of the total, clipped as float64 probabilities are."""
    terms = []
    for part in parts:
        if part:
            share, rest = divide(part, total), divide(total - part, total)
            if rest <= NULL_EPS:
                terms.append(share * LOSS_OF_CERTAINTY)
            elif share > 0.5:
                terms.append(-share * math.log1p(-rest))
            else:
                terms.append(-share * math.log(max(share, NULL_EPS)))
    return math.fsum(terms)


def clipped_rows(
    y_true: Any,
    y_proba: Any,
    *,
    sample_weight: Any = None,
    labels: Any = None,
    eps: float | str = "auto",
    sampling_rate: float | None = None,
    n_threads: int | None = None,
) -> int:
    """How many rows the clip of `log_loss` touches: those whose log loss says more of eps than of the model.

    A row counts when q, the probability given to what happened, lies outside [eps, 1 - eps]. It is the `rows_clipped`
    of the coverage that `evaluate` reports with logloss and ne.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_classes)
        Labels as `log_loss` takes them. Of a row with several labels each counts.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probabilities in [0, 1]: of the greater label, or of every class in sorted order of the labels.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative, not all zero; a row of weight zero is absent.
    labels : array-like, optional
        The classes, when y_true does not hold all of them.
    eps : "auto" or float of at least 2.2e-308, below 0.5
        The clip of `log_loss`.
    sampling_rate : float in (0, 1], optional
        The share of the negatives that the model was trained on, as in `log_loss`.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        As `log_loss`.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.clipped_rows([1, 0, 1], [0.0, 0.4, 1.0])
    2
    """
    return log_sums(y_true, y_proba, sample_weight, labels, eps, sampling_rate, n_threads).clipped


@metric(
    "logloss",
    exchange="none",
    statistics=lambda eps, sampling_rate: (LabelCounts(), LogTerms(eps, sampling_rate)),
    function=log_loss,
    undefined="never",
    parameters={"eps": "auto", "sampling_rate": None},
    checks={"eps": check_eps, "sampling_rate": check_sampling_rate},
    best="lowest",
)
def finalise_log_loss(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """Log loss: the mean of -log of the probability given to what happened."""
    coverage = row_coverage(counts) | {"rows_clipped": terms.count(0)}
    return ratio(terms.integer(0), LabelCounts.totals(counts)[0], coverage, NO_WEIGHT)
