"""COPC and PCOC: the ratio of observed and predicted click-through rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastmetrics._core import exact
from fastmetrics._core.columns.binary_probabilities import (
    LabelCounts,
    ProbabilityTerms,
    check_binary_probabilities,
    check_sampling_rate,
    row_coverage,
    warn_and_unwrap,
)
from fastmetrics._core.columns.class_labels import binary_labels
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.registry import metric
from fastmetrics._core.state import Sums
from fastmetrics._core.statistic import Value, many_quotients, rounded_quotient
from fastmetrics._kernels.probability import losses, short_losses

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Label, NumericArrayLike

__all__ = ["copc", "pcoc"]

OBSERVED, PREDICTED = 3, 4  # positions among the sums of `short_losses.sum_terms`


class ProbabilitySum(ProbabilityTerms):
    """The (weighted) sum of the probabilities."""

    __slots__ = ()
    kind = losses.PROBABILITY_TERMS


def divide_small_sums(
    y_true: Any, y_proba: Any, numerator: int, denominator: int, *, sample_weight: Any = None
) -> float | None:
    """The quotient of two sums of `short_losses.sum_terms`: OBSERVED and PREDICTED clicks of few rows."""
    found = short_losses.sum_terms(y_true, y_proba, sample_weight, short_losses.PROBABILITIES)
    return exact.divide(found[numerator], found[denominator]) if found is not None and found[denominator] else None


@small_inputs(divide_small_sums, OBSERVED, PREDICTED, lists=True)
def copc(
    y_true: ArrayLike,
    y_proba: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    sampling_rate: float | None = None,
    pos_label: Label | None = None,
    n_threads: int | None = None,
) -> float:
    """Observed clicks divided by predicted clicks: 1 is calibrated on average, above 1 the model predicts too few.

    COPC = sum_i w_i y_i / sum_i w_i p_i.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1.
    y_proba : array-like of shape (n,)
        Probabilities of the positive class, in [0, 1].
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300. A row of weight zero is left out.
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
        At least 0. NaN with an UndefinedMetricWarning if all probabilities are zero.

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, bad labels, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.copc([0, 1, 0, 1], [0.25, 0.5, 0.25, 0.0])
    2.0
    """
    check_sampling_rate(sampling_rate)
    rows = check_binary_probabilities(binary_labels(y_true, pos_label), y_proba, sample_weight, "y_proba")
    result = finalize_copc({}, *rows.reduce((LabelCounts(), ProbabilitySum(sampling_rate)), n_threads))
    return warn_and_unwrap("copc", result)


@small_inputs(divide_small_sums, PREDICTED, OBSERVED, lists=True)
def pcoc(
    y_true: ArrayLike,
    y_proba: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    sampling_rate: float | None = None,
    pos_label: Label | None = None,
    n_threads: int | None = None,
) -> float:
    """Predicted clicks divided by observed clicks: the inverse of COPC.

    PCOC = sum_i w_i p_i / sum_i w_i y_i.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1.
    y_proba : array-like of shape (n,)
        Probabilities of the positive class, in [0, 1].
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300. A row of weight zero is left out.
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
        At least 0. NaN with an UndefinedMetricWarning if there is no positive row.

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, bad labels, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.pcoc([0, 1, 0, 1], [0.25, 0.5, 0.25, 0.0])
    0.5
    """
    check_sampling_rate(sampling_rate)
    rows = check_binary_probabilities(binary_labels(y_true, pos_label), y_proba, sample_weight, "y_proba")
    result = finalize_pcoc({}, *rows.reduce((LabelCounts(), ProbabilitySum(sampling_rate)), n_threads))
    return warn_and_unwrap("pcoc", result)


def observed_over_predicted(parameters: dict[str, Any], counts: Any, probabilities: Any) -> tuple[Any, Any]:
    """Observed and predicted clicks of a state, or of many."""
    return LabelCounts.totals(counts)[1], probabilities.number("terms")


def predicted_over_observed(parameters: dict[str, Any], counts: Any, probabilities: Any) -> tuple[Any, Any]:
    """Predicted and observed clicks of a state, or of many."""
    return probabilities.number("terms"), LabelCounts.totals(counts)[1]


@metric(
    "copc",
    exchange="none",
    statistics=lambda sampling_rate: (LabelCounts(), ProbabilitySum(sampling_rate)),
    function=copc,
    undefined="all probabilities zero",
    parameters={"sampling_rate": None},
    checks={"sampling_rate": check_sampling_rate},
    direction="closest_to_one",
    scale="ratio",
    near_names={
        "calibration": "the word is used for two ratios: 'copc' is clicks over predicted clicks, 'pcoc' the reverse",
    },
    many=many_quotients(observed_over_predicted),
)
def finalize_copc(parameters: dict[str, Any], counts: Sums, probabilities: Sums) -> Value:
    """Clicks observed over clicks predicted."""
    ratio = observed_over_predicted(parameters, counts, probabilities)
    return rounded_quotient(*ratio, row_coverage(counts), "the probabilities sum to zero")


@metric(
    "pcoc",
    exchange="none",
    statistics=lambda sampling_rate: (LabelCounts(), ProbabilitySum(sampling_rate)),
    function=pcoc,
    undefined="no positive row",
    parameters={"sampling_rate": None},
    checks={"sampling_rate": check_sampling_rate},
    default=False,
    direction="closest_to_one",
    scale="ratio",
    many=many_quotients(predicted_over_observed),
)
def finalize_pcoc(parameters: dict[str, Any], counts: Sums, probabilities: Sums) -> Value:
    """Clicks predicted over clicks observed."""
    ratio = predicted_over_observed(parameters, counts, probabilities)
    return rounded_quotient(*ratio, row_coverage(counts), "there is no positive row")


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {
    "copc": ({}, {"sampling_rate": 0.25}),
    "pcoc": ({}, {"sampling_rate": 0.25}),
}
# Calls with their values, worked out by hand.
CHECKED_VALUES: dict[str, Any] = {
    "copc": [(([1, 0, 1, 0], [0.5, 0.25, 0.75, 0.25]), {}, 2 / 1.75)],
    "pcoc": [(([1, 0, 1, 0], [0.5, 0.25, 0.75, 0.25]), {}, 1.75 / 2)],
}
