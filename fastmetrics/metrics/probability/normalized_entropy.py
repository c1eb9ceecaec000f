"""Normalized entropy, the log loss divided by that of a constant prediction; and the observed rate (`ctr`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.array_types import is_float16
from fastmetrics._core.columns.binary_probabilities import (
    NO_WEIGHT,
    LabelCounts,
    check_binary_probabilities,
    check_sampling_rate,
    mean_of_terms,
    row_coverage,
    warn_and_unwrap,
)
from fastmetrics._core.columns.class_labels import binary_labels
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.elementary import log, log1p
from fastmetrics._core.exact import divide, quotients
from fastmetrics._core.registry import metric
from fastmetrics._core.state import ManySums, Sums
from fastmetrics._core.statistic import Value, many_quotients, rounded_quotient
from fastmetrics.metrics.probability.log_loss import LogTerms, try_small_log_sums
from fastmetrics.metrics.probability.probability_targets import check_eps

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Label, NumericArrayLike
    from fastmetrics._core.types.options import BaseRate, Clipping

__all__ = ["normalized_entropy"]


def check_base_rate(base_rate: Any) -> None:
    if isinstance(base_rate, str) and base_rate == "sample":
        return
    wanted = "'sample' or a number in (0, 1)"
    validation.check_number(base_rate, "base_rate", wanted, lambda rate: 0 < rate < 1)


def small_normalized_entropy(y_true: Any, y_proba: Any, *, sample_weight: Any = None) -> float | None:
    found = try_small_log_sums(y_true, y_proba, sample_weight)
    if found is None:
        return None
    total, positive = found[:2] if sample_weight is None else found[2:4]
    entropy = binary_entropy(divide(positive, total), divide(total - positive, total))
    return divide(found[4], found[2]) / entropy if entropy else None


@small_inputs(small_normalized_entropy, lists=True)
def normalized_entropy(
    y_true: ArrayLike,
    y_proba: NumericArrayLike,
    *,
    base_rate: BaseRate = "sample",
    sample_weight: NumericArrayLike | None = None,
    eps: Clipping = "auto",
    sampling_rate: float | None = None,
    pos_label: Label | None = None,
    n_threads: int | None = None,
) -> float:
    """Log loss divided by the log loss of always predicting the base rate: below 1 is better than constant.

    NE = log loss / H(r), with H(r) = -(r log r + (1 - r) log(1 - r)) and r the base rate (He et al., ADKDD 2014): the
    observed rate, or a given number.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1.
    y_proba : array-like of shape (n,)
        Probabilities of the positive class, in [0, 1].
    base_rate : "sample" or float in (0, 1)
        The constant prediction to compare with. "sample": the observed rate.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300. A row of weight zero is left out.
    eps : "auto" or float of at least 2.2e-308, below 0.5
        Probabilities are clipped to [eps, 1 - eps]. "auto" is the machine epsilon of their type, as in scikit-learn. At
        p = 0 or 1 the clip decides the value; `clipped_rows` returns the number of rows that it changes.
    sampling_rate : float in (0, 1], optional
        The model was trained on all positives and on this share of the negatives; y_true has all rows. First of all, a
        probability p becomes p / (p + (1 - p) / sampling_rate), which is never above p (He et al., ADKDD 2014, section
        6.3, where the rate is w).
    pos_label : int, float, bool or str, optional
        The label of the positive class; all other labels are negative. Required if labels are not 0 and 1, or -1 and
        +1.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        At least 0. NaN with an UndefinedMetricWarning if only one class is present and base_rate is "sample", or if
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
    check_base_rate(base_rate)
    check_sampling_rate(sampling_rate)
    check_eps(eps)
    if isinstance(eps, str) and is_float16(y_proba):
        eps = float(np.finfo(np.float16).eps)
    columns = check_binary_probabilities(binary_labels(y_true, pos_label), y_proba, sample_weight, "y_proba")
    sums = columns.reduce((LabelCounts(), LogTerms(eps, sampling_rate)), n_threads)
    return warn_and_unwrap("normalized_entropy", finalize_ne({"base_rate": base_rate}, *sums))


def binary_entropy(rate: float, rest: float) -> float:
    """Return the entropy of two outcomes whose probabilities sum to 1. Both are passed, because one may round to 1."""
    rarer, other = sorted((rate, rest))
    return entropy_of(rarer, other) if rarer else 0.0


def entropy_of(rarer: Any, other: Any) -> Any:
    """The entropy of two outcomes, the rarer one first: of numbers, or of arrays of them."""
    return -(rarer * log(rarer) + other * log1p(-rarer))


def observed_rate(parameters: dict[str, Any], counts: Any) -> tuple[Any, Any]:
    """The positive rows of a state, or of many, and all of them."""
    total, positive = LabelCounts.totals(counts)
    return positive, total


def many_entropies(
    parameters: dict[str, Any], counts: ManySums, terms: ManySums
) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    """The values of many states: see `MetricSpec.many`."""
    losses = quotients(*mean_of_terms(parameters, counts, terms))
    if parameters["base_rate"] != "sample":
        rate = float(parameters["base_rate"])
        return losses / binary_entropy(rate, 1 - rate)
    total, positive = LabelCounts.totals(counts)
    rates, rests = quotients(positive, total), quotients(total - positive, total)
    rarer = np.minimum(rates, rests)
    rarer[rarer == 0] = np.nan
    rows, positives = counts.counts_of("rows"), counts.counts_of("positives")
    return losses / entropy_of(rarer, np.maximum(rates, rests)), (positives == 0) | (positives == rows)


@metric(
    "ctr",
    exchange="none",
    statistics=lambda: (LabelCounts(),),
    function=None,
    undefined="never",
    direction="none",
    scale="share",
    aliases=("click_through_rate",),
    many=many_quotients(observed_rate),
)
def finalize_ctr(parameters: dict[str, Any], counts: Sums) -> Value:
    """Observed rate: the share of positive rows."""
    return rounded_quotient(*observed_rate(parameters, counts), row_coverage(counts), NO_WEIGHT)


@metric(
    "ne",
    exchange="none",
    statistics=lambda base_rate, eps, sampling_rate: (LabelCounts(), LogTerms(eps, sampling_rate)),
    function=normalized_entropy,
    undefined="one class only, with base_rate=sample",
    parameters={"base_rate": "sample", "eps": "auto", "sampling_rate": None},
    checks={"base_rate": check_base_rate, "eps": check_eps, "sampling_rate": check_sampling_rate},
    direction="minimize",
    scale="ratio",
    aliases=("normalized_entropy", "normalized_entropy", "normalized_cross_entropy"),
    many=many_entropies,
    near_names=dict.fromkeys(("rig", "relative_information_gain"), "relative information gain is 1 - ne; write 'ne'"),
)
def finalize_ne(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """Normalized entropy: log loss over that of always predicting the base rate."""
    total, positive = LabelCounts.totals(counts)
    coverage = row_coverage(counts) | {"rows_clipped": terms.count("clipped rows")}
    if total == 0:
        return Value(float("nan"), coverage, NO_WEIGHT)
    if parameters["base_rate"] == "sample":
        if positive in (0, total):
            return Value(float("nan"), coverage, "only one class is present, so the base rate has no entropy")
        entropy = binary_entropy(divide(positive, total), divide(total - positive, total))
        if entropy == 0:
            return Value(float("nan"), coverage, "the base rate is too close to 0 or 1 to have an entropy")
    else:
        rate = float(parameters["base_rate"])
        entropy = binary_entropy(rate, 1 - rate)
    return Value(divide(terms.integer("terms"), total) / entropy, coverage)


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {
    "normalized_entropy": ({"eps": 1e-7}, {"base_rate": 0.1, "eps": 1e-7, "sampling_rate": 0.25}),
}
