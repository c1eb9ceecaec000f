"""Bias: the mean of signed errors. A metric of `evaluate` only; it has no function."""

from __future__ import annotations

from fastmetrics._kernels.regression import errors
from fastmetrics.metrics.regression.mean_error import register_mean_error

register_mean_error(
    "bias",
    "Mean error: how much predictions are too high on average.",
    lambda: (errors.SIGNED, 0.0),
    None,
    direction="closest_to_zero",
    scale="real",
    aliases=("mean_bias_error", "mbe"),
)
