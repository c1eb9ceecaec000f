"""Normalised entropy: log loss beside that of a constant prediction, and the observed rate it compares with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.binary import (
    NO_WEIGHT,
    LabelCounts,
    answer,
    as_columns,
    check_sampling_rate,
    ratio,
    row_coverage,
)
from fastmetrics._core.exact import divide
from fastmetrics._core.registry import metric
from fastmetrics._core.statistic import Sums, Value
from fastmetrics.metrics.probability.logloss import LogTerms, plain_log_sums
from fastmetrics.metrics.probability.targets import check_eps, is_float16

__all__ = ["normalized_entropy"]


def check_base_rate(base_rate: Any) -> None:
    if isinstance(base_rate, str) and base_rate == "sample":
        return
    if (
        isinstance(base_rate, (bool, str))
        or not isinstance(base_rate, (int, float, np.number))
        or not 0 < base_rate < 1
    ):
        raise inputs.OptionError(f"base_rate must be 'sample' or a number in (0, 1); found {base_rate!r}")


def normalized_entropy(
    y_true: Any,
    y_prob: Any,
    *,
    base_rate: float | str = "sample",
    sample_weight: Any = None,
    eps: float | str = "auto",
    sampling_rate: float | None = None,
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
        The clip of the log loss; `clipped_rows` tells how many rows it touches.
    sampling_rate : float in (0, 1], optional
        The share of the negatives that the model was trained on, when it saw all positives; y_true is of all rows. A
        probability p then becomes p / (p + (1 - p) / sampling_rate), never above p, before it is clipped (He et al.,
        section 6.3, where the rate is w).
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At least 0; NaN with an UndefinedMetricWarning when only one class is present and base_rate is "sample", or
        every weight is zero.

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, bad labels or options, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.normalized_entropy([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5])
    1.0
    """
    usual = type(base_rate) is str and base_rate == "sample" and type(eps) is str and eps == "auto"
    if usual and sampling_rate is None and n_threads is None:
        # A call on few rows, made in a loop: nothing but the work.
        found = plain_log_sums(y_true, y_prob, sample_weight)
        if found is not None:
            total, positive = found[:2] if sample_weight is None else found[2:4]
            entropy = entropy_of(divide(positive, total), divide(total - positive, total))
            if entropy:
                return divide(found[4], found[2]) / entropy
    check_base_rate(base_rate)
    check_sampling_rate(sampling_rate)
    check_eps(eps)
    if isinstance(eps, str) and is_float16(y_prob):
        eps = float(np.finfo(np.float16).eps)
    columns = as_columns(y_true, y_prob, sample_weight, "y_prob")
    sums = columns.reduce((LabelCounts(), LogTerms(eps, sampling_rate)), n_threads)
    return answer("normalized_entropy", finalise_ne({"base_rate": base_rate}, *sums))


def entropy_of(rate: float, rest: float) -> float:
    """Of two outcomes whose probabilities add up to 1; each is given, because one may round to 1."""
    rarer, other = sorted((rate, rest))
    if rarer == 0:
        return 0.0
    return -(rarer * math.log(rarer) + other * math.log1p(-rarer))


@metric("ctr", exchange="none", statistics=lambda: (LabelCounts(),), function=None, undefined="never", best="none")
def finalise_ctr(parameters: dict[str, Any], counts: Sums) -> Value:
    """Observed rate: the share of positive rows."""
    total, positive = LabelCounts.totals(counts)
    return ratio(positive, total, row_coverage(counts), NO_WEIGHT)


@metric(
    "ne",
    exchange="none",
    statistics=lambda base_rate, eps, sampling_rate: (LabelCounts(), LogTerms(eps, sampling_rate)),
    function=normalized_entropy,
    undefined="one class only, with base_rate=sample",
    parameters={"base_rate": "sample", "eps": "auto", "sampling_rate": None},
    checks={"base_rate": check_base_rate, "eps": check_eps, "sampling_rate": check_sampling_rate},
    best="lowest",
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
