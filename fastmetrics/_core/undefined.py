"""What a metric answers when its definition does not apply: NaN, and a warning that says why."""

from __future__ import annotations

import warnings


class UndefinedMetricWarning(UserWarning):
    """A metric is undefined for the rows given; the result is NaN."""


def warn_undefined(metric: str, reason: str, stacklevel: int = 3) -> float:
    """Warn that `metric` is undefined because of `reason`, and return NaN."""
    warnings.warn(f"{metric} is undefined: {reason}; the result is NaN", UndefinedMetricWarning, stacklevel=stacklevel)
    return float("nan")
