"""Bias: the mean of signed errors. A metric of `evaluate` only; it has no function."""

from __future__ import annotations

from typing import Any

from fastmetrics._core.registry import metric
from fastmetrics._core.statistic import Sums, Value
from fastmetrics._kernels.regression import errors
from fastmetrics.metrics.regression.error_statistics import finalise_mean_error, mean_error_statistics


@metric(
    "bias", exchange="none", statistics=mean_error_statistics(errors.SIGNED), function=None, undefined="never",
    target="real", direction="closest_to_zero",
)  # fmt: skip
def finalise_bias(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """Mean error: how much predictions are too high on average."""
    return finalise_mean_error(counts, terms)
