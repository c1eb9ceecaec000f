"""Log loss (cross-entropy), its D2 score, and the number of rows that the clip changes.

Log loss is a ratio of exact sums over rows. The terms of a row are computed in float64 whatever the input type. Their
sum has no rounding error, and the result is rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.binary_probabilities import (
    NO_WEIGHT,
    LabelCounts,
    ProbabilityTerms,
    check_sampling_rate,
    mean_of_terms,
    row_coverage,
)
from fastmetrics._core.columns.row_blocks import Rows
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.elementary import log, log1p
from fastmetrics._core.registry import metric
from fastmetrics._core.state import Fields, Sums, exact_sum
from fastmetrics._core.statistic import Value, many_quotients, rounded_quotient
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels.probability import losses, short_losses
from fastmetrics.metrics.probability.probability_targets import (
    ClassLogTerms,
    LossSums,
    TwoClassReading,
    check_eps,
    encode_two_classes,
    has_fewer_than_two_rows,
    resolve_eps,
    resolve_y_pred,
    sum_losses,
)

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, NumericArrayLike
    from fastmetrics._core.types.options import Clipping

NULL_EPS = float(np.finfo(np.float64).eps)  # the clip of the null model, whose probabilities are float64
LOSS_OF_CERTAINTY = NULL_EPS * (1 + NULL_EPS)  # -log(1 - eps), rounded

__all__ = ["clipped_rows", "d2_log_loss_score", "log_loss"]


class LogTerms(ProbabilityTerms):
    """The (weighted) sum of -log(q), where q is the predicted probability of the row's label, and the clipped rows.

    q is clipped to [eps, 1 - eps].
    """

    __slots__ = ("eps",)
    fields = Fields("clipped rows", exact_sum("terms"))
    kind = losses.LOG_LOSS_TERMS

    def __init__(self, eps: float | str, sampling_rate: float | None = None) -> None:
        super().__init__(sampling_rate)
        self.eps = eps

    def clip_of(self, rows: Rows) -> float:
        if self.eps == "auto" and rows.eps is not None:
            return rows.eps
        return resolve_eps(self.eps, rows.scores.dtype)


def sum_log_terms(
    y_true: Any,
    y_proba: Any,
    sample_weight: Any,
    labels: Any,
    eps: float | str,
    sampling_rate: float | None,
    n_threads: int | None,
    want_classes: bool = False,
    is_mean: bool = True,
) -> LossSums:
    """Sum the log loss of labels of any kind."""
    check_eps(eps)

    def statistics(type_eps: float) -> tuple[LogTerms, ClassLogTerms]:
        clip = type_eps if isinstance(eps, str) else float(eps)
        return LogTerms(clip, sampling_rate), ClassLogTerms(clip)

    reading = TwoClassReading(lambda column: encode_two_classes(column, labels, "y_proba"), labels is None, True)
    return sum_losses(
        y_true, y_proba, sample_weight, labels, sampling_rate, n_threads, reading, statistics, want_classes, is_mean
    )


def try_small_log_sums(y_true: Any, y_proba: Any, sample_weight: Any) -> tuple[int, int, int, int, int] | None:
    """The result of `short_losses.sum_terms`; None unless both classes and a positive weight are present."""
    found = short_losses.sum_terms(y_true, y_proba, sample_weight, short_losses.LOGARITHMS)
    return found if found is not None and 0 < found[1] < found[0] and found[2] else None


def small_log_loss(y_true: Any, y_proba: Any, *, sample_weight: Any = None) -> float | None:
    found = try_small_log_sums(y_true, y_proba, sample_weight)
    return None if found is None else exact.divide(found[4], found[2])


@small_inputs(small_log_loss, lists=True)
def log_loss(
    y_true: ArrayLike,
    y_proba: NumericArrayLike | None = None,
    *,
    normalize: bool = True,
    sample_weight: NumericArrayLike | None = None,
    labels: ArrayLike | None = None,
    y_pred: NumericArrayLike | str | None = "deprecated",
    eps: Clipping = "auto",
    sampling_rate: float | None = None,
    n_threads: int | None = None,
) -> float:
    """The mean of -log of the predicted probability of each row's label (cross-entropy, natural logarithm).

    log loss = -(1/W) sum_i w_i log q_i, with q_i the predicted probability of the label of row i, clipped to
    [eps, 1 - eps], and W the sum of the weights (Good, J. R. Stat. Soc. B 14, 1952). Some formulas also divide by the
    number of classes; this one does not. Terms are float64, and their sum is exact. `clipped_rows` returns the number
    of rows that the clip changes.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_classes)
        Two labels of any kind. With several columns of probabilities: one label per column, or a matrix of 0 and 1 that
        marks the labels of each row.

        With such a matrix the logarithms of a row are summed.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probabilities in [0, 1]: of the greater label, or of every class in sorted order of the labels.
    normalize : bool
        Mean (True) or sum (False) of the terms.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    labels : array-like, optional
        The classes, if y_true does not have all of them.
    y_pred : array-like, optional
        The older name of y_proba; it gives a warning.
    eps : "auto" or float of at least 2.2e-308, below 0.5
        Probabilities are clipped to [eps, 1 - eps]. "auto" is the machine epsilon of their type, as in scikit-learn. At
        p = 0 or 1 the clip decides the value; `clipped_rows` returns the number of rows that it changes.
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
        At least 0.

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, labels that are not classes, one label only and no `labels`, weights that
        are all zero, lengths that differ, no rows; the row is named.

    Warns
    -----
    UserWarning
        The sum of several probabilities of a row is farther from 1 than 1e-8 and the square root of the epsilon of
        their type (float64 1.5e-8, float32 3.5e-4, float16 0.03, bfloat16 0.09), as in scikit-learn; they are used as
        they are. Or `labels` are not sorted.
    FutureWarning
        y_pred was given.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.log_loss([1, 0, 0, 1], [0.9, 0.1, 0.2, 0.65]), 6)
    0.216162
    >>> round(fm.log_loss(["spam", "ham", "ham", "spam"], [[0.1, 0.9], [0.9, 0.1], [0.8, 0.2], [0.35, 0.65]]), 6)
    0.216162

    A model that was trained on a tenth of the negatives, and a log of all rows:

    >>> round(fm.log_loss([0, 0, 0, 1], [0.2, 0.5, 0.1, 0.8], sampling_rate=0.1), 6)
    0.345954
    """
    y_proba = resolve_y_pred(y_proba, y_pred)
    validation.check_flag(normalize, "normalize")
    sums = sum_log_terms(y_true, y_proba, sample_weight, labels, eps, sampling_rate, n_threads, is_mean=normalize)
    if not normalize:
        return exact.to_float(sums.terms.sum_of("terms"))
    return exact.divide(sums.terms.integer("terms"), sums.total)


def small_d2_log_loss(y_true: Any, y_proba: Any, *, sample_weight: Any = None) -> float | None:
    found = try_small_log_sums(y_true, y_proba, sample_weight)
    if found is None:
        return None
    total, positive = found[:2] if sample_weight is None else found[2:4]
    return 1 - exact.divide(found[4], found[2]) / entropy_of_classes((total - positive, positive), total)


@small_inputs(small_d2_log_loss, lists=True)
def d2_log_loss_score(
    y_true: ArrayLike,
    y_proba: NumericArrayLike | None = None,
    *,
    sample_weight: NumericArrayLike | None = None,
    labels: ArrayLike | None = None,
    y_pred: NumericArrayLike | str | None = "deprecated",
    eps: Clipping = "auto",
    n_threads: int | None = None,
) -> float:
    """The share by which the model lowers the log loss of a constant prediction: 1 is perfect, 0 is no skill.

    D2 = 1 - log loss / log loss of always predicting the observed shares of the classes. For two classes it is 1 - NE
    (`normalized_entropy`). The observed shares are clipped like float64 probabilities. If y_true has one
    class only (`labels` names the other), D2 is a large negative number.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_classes)
        Two labels of any kind. With several columns of probabilities: one label per column, or a matrix of 0 and 1 that
        marks the labels of each row.

        With such a matrix the logarithms of a row are summed.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probabilities in [0, 1]: of the greater label, or of every class in sorted order of the labels.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    labels : array-like, optional
        The classes, if y_true does not have all of them.
    y_pred : array-like, optional
        The older name of y_proba; it gives a warning.
    eps : "auto" or float of at least 2.2e-308, below 0.5
        Probabilities are clipped to [eps, 1 - eps]. "auto" is the machine epsilon of their type, as in scikit-learn. At
        p = 0 or 1 the clip decides the value; `clipped_rows` returns the number of rows that it changes.

        It is the clip of the model's probabilities only.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        At most 1; NaN with an UndefinedMetricWarning for fewer than two rows.

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
    y_proba = resolve_y_pred(y_proba, y_pred)
    if has_fewer_than_two_rows(y_true, y_proba, sample_weight):
        return warn_undefined("d2_log_loss_score", "there are fewer than two rows")
    sums = sum_log_terms(y_true, y_proba, sample_weight, labels, eps, None, n_threads, want_classes=True)
    return 1 - exact.divide(sums.terms.integer("terms"), sums.total) / entropy_of_classes(sums.classes, sums.total)


def entropy_of_classes(class_weights: Sequence[int], total: int) -> float:
    """Return the log loss of always predicting the observed shares, clipped like float64 probabilities."""
    terms = []
    for weight in class_weights:
        if weight:
            share, rest = exact.divide(weight, total), exact.divide(total - weight, total)
            if rest <= NULL_EPS:
                terms.append(share * LOSS_OF_CERTAINTY)
            elif share > 0.5:
                terms.append(-share * log1p(-rest))
            else:
                terms.append(-share * log(max(share, NULL_EPS)))
    return math.fsum(terms)


@answers_unknown
def clipped_rows(
    y_true: ArrayLike,
    y_proba: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    labels: ArrayLike | None = None,
    eps: Clipping = "auto",
    sampling_rate: float | None = None,
    n_threads: int | None = None,
) -> int:
    """How many rows the clip of `log_loss` changes. Their loss depends on eps more than on the model.

    A row counts if q, the predicted probability of its label, is outside [eps, 1 - eps]. `evaluate` reports the same
    number as `rows_clipped` in the coverage of logloss and ne.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_classes)
        Two labels of any kind. With several columns of probabilities: one label per column, or a matrix of 0 and 1 that
        marks the labels of each row.

        If a row has several labels, each one counts.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probabilities in [0, 1]: of the greater label, or of every class in sorted order of the labels.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero. A row of weight zero is left out.
    labels : array-like, optional
        The classes, if y_true does not have all of them.
    eps : "auto" or float of at least 2.2e-308, below 0.5
        Probabilities are clipped to [eps, 1 - eps], as in `log_loss`. "auto" is the machine epsilon of their type.
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
    sums = sum_log_terms(y_true, y_proba, sample_weight, labels, eps, sampling_rate, n_threads)
    return sums.terms.count("clipped rows")


@metric(
    "logloss",
    exchange="none",
    statistics=lambda eps, sampling_rate: (LabelCounts(), LogTerms(eps, sampling_rate)),
    function=log_loss,
    undefined="never",
    parameters={"eps": "auto", "sampling_rate": None},
    checks={"eps": check_eps, "sampling_rate": check_sampling_rate},
    direction="minimize",
    scale="ratio",
    aliases=("log_loss", "binary_logloss", "cross_entropy", "binary_cross_entropy", "bce", "xentropy"),
    many=many_quotients(mean_of_terms),
)
def finalize_log_loss(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """Log loss: the mean of -log of the probability given to what happened."""
    coverage = row_coverage(counts) | {"rows_clipped": terms.count("clipped rows")}
    return rounded_quotient(*mean_of_terms(parameters, counts, terms), coverage, NO_WEIGHT)


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {
    "log_loss": ({"eps": 1e-7}, {"eps": 1e-7, "normalize": False}, {"eps": 1e-7, "sampling_rate": 0.25}),
    "d2_log_loss_score": ({"eps": 1e-7},),
    "clipped_rows": ({"eps": 0.1}, {"eps": 0.1, "sampling_rate": 0.25}),
}
