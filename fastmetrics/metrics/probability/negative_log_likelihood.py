"""Negative log-likelihood of observed events, from their probabilities or the logarithms of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.array_types import machine_epsilon
from fastmetrics._core.columns.binary_probabilities import NO_WEIGHT
from fastmetrics._core.columns.row_blocks import block_bounds, map_reduce
from fastmetrics._core.columns.weights import as_weights, scale_tiny_weights
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.state import Fields, Sums, exact_sum
from fastmetrics._core.statistic import AdditiveStatistic
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels.numeric import sums
from fastmetrics._kernels.probability import losses
from fastmetrics.metrics.probability.probability_targets import check_eps

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import NumericArrayLike
    from fastmetrics._core.types.options import Clipping, ProbabilityKind, Reduction

__all__ = ["negative_log_likelihood"]


class EventBlock(NamedTuple):
    """A block of (log-)probabilities of observed events, and their weights."""

    values: np.ndarray
    weights: np.ndarray | None
    first_row: int


class LikelihoodTerms(AdditiveStatistic):
    """The (weighted) sum of -log(p) and the sum of weights. p is clipped to [eps, 1 - eps] unless eps is 0."""

    __slots__ = ("are_logs", "eps")
    fields = Fields("clipped events", exact_sum("terms"), exact_sum("weight"))

    def __init__(self, are_logs: bool, eps: float) -> None:
        self.are_logs = are_logs
        self.eps = eps

    def update(self, state: Sums, events: EventBlock) -> None:
        problem = np.zeros(1, np.int64)
        losses.likelihood_terms(
            events.values, events.weights, self.are_logs, self.eps, state.sum_of("terms"), state.counts, problem
        )
        if problem[0] and self.are_logs:
            raise_bad_logarithm(events)
        if problem[0]:
            validation.raise_bad_probability(events.values, "y_proba", events.first_row)
        if events.weights is not None:
            sums.sum_values(events.weights, None, state.sum_of("weight"))


def raise_bad_logarithm(events: EventBlock) -> None:
    row = validation.first_bad_row(~(events.values <= 0))
    value = events.values[row]
    if value != value:
        raise ValueError(f"y_proba has NaN at row {events.first_row + row}")
    raise validation.ProbabilityError(
        f"y_proba has {value} at row {events.first_row + row}: logarithms of probabilities are at most 0"
    )


@answers_unknown
def negative_log_likelihood(
    y_proba: NumericArrayLike,
    *,
    kind: ProbabilityKind = "prob",
    reduction: Reduction = "mean",
    sample_weight: NumericArrayLike | None = None,
    eps: Clipping | None = None,
    n_threads: int | None = None,
) -> float:
    """The mean, or the sum, of -log of the probability that a model gave to each observed event.

    NLL = -(1/W) sum_i w_i log p_i (natural logarithm), or the sum without 1/W, with p_i the probability of event i,
    such as a token of a text. The exponential of the mean is the perplexity. Without eps nothing is clipped, and
    an event with probability 0 makes the result infinite.

    Parameters
    ----------
    y_proba : array-like of shape (n,)
        The probability of every event, in [0, 1], or its natural logarithm, at most 0.
    kind : {"prob", "log_prob"}
        "prob": y_proba has probabilities. "log_prob": it has their natural logarithms.
    reduction : {"mean", "sum"}
        "mean": the mean over the (weighted) events. "sum": their sum.
    sample_weight : array-like of shape (n,), optional
        Weights of events, from 0 to 1e300. An event of weight zero is left out.
    eps : "auto" or float of at least 2.2e-308, below 0.5, optional
        Clip probabilities to [eps, 1 - eps]. "auto" is the machine epsilon of their type, as in `log_loss`. Not allowed
        with logarithms.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        At least 0. Infinite if an event has probability 0. NaN with an UndefinedMetricWarning for a mean if all weights
        are zero.

    Raises
    ------
    ValueError
        Probabilities outside [0, 1], logarithms above 0, NaN, lengths that differ, no events; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.negative_log_likelihood([0.5, 0.25, 1.0]), 6)
    0.693147
    >>> fm.negative_log_likelihood([-1.0, -2.5], kind="log_prob", reduction="sum")
    3.5
    """
    validation.check_option(kind, "kind", ("prob", "log_prob"))
    validation.check_option(reduction, "reduction", ("mean", "sum"))
    are_logs = kind == "log_prob"
    threads = count_threads(n_threads)
    values = validation.as_scores(y_proba, "y_proba")
    clip = 0.0
    if eps is not None:
        check_eps(eps)
        if are_logs:
            raise validation.OptionError(
                f"eps clips probabilities; with kind='log_prob' it must be None, found {eps!r}"
            )
        clip = machine_epsilon(y_proba, values) if isinstance(eps, str) else float(eps)
    weights = None if sample_weight is None else as_weights(sample_weight, values.shape[0], "y_proba")
    if weights is not None and reduction == "mean":
        weights = scale_tiny_weights(weights)
    if weights is not None and not weights.all():
        good = values <= 0 if are_logs else (values >= 0) & (values <= 1)
        if good.all():
            # Rows are dropped only if all values are valid, so that an error names the row of the caller's array.
            present = weights > 0
            values, weights = values[present], weights[present]
    bounds = list(block_bounds(values.shape[0]))

    def load(chunk: int) -> tuple[EventBlock]:
        start, stop = bounds[chunk]
        return (EventBlock(values[start:stop], None if weights is None else weights[start:stop], start),)

    (state,) = map_reduce((LikelihoodTerms(are_logs, clip),), len(bounds), lambda: load, threads)
    if reduction == "sum" or not state.is_finite("terms"):
        return exact.to_float(state.sum_of("terms"))
    total = values.shape[0] << exact.EXPONENT if weights is None else state.integer("weight")
    if total == 0:
        return warn_undefined("negative_log_likelihood", NO_WEIGHT)
    return exact.divide(state.integer("terms"), total)


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {"negative_log_likelihood": ({"eps": 1e-7}, {"eps": 1e-7, "reduction": "sum"})}
