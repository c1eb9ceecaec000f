"""Undefined metrics: the result is NaN, with a warning that gives the reason."""

from __future__ import annotations

import sys
import warnings

__all__ = ["UndefinedMetricWarning"]


class UndefinedMetricWarning(UserWarning):
    """A metric is undefined for these rows; the result is NaN, or what an option such as `zero_division` asks for."""


def warn_undefined(metric: str, reason: str) -> float:
    """Warn that `metric` is undefined because of `reason`, and return NaN."""
    warn_user(f"{metric} is undefined: {reason}; the result is NaN", UndefinedMetricWarning)
    return float("nan")


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn with the line of the user's code that called fastmetrics."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("fastmetrics."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
