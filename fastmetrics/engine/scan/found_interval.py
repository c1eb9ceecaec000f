"""The interval of a value, as reports show it."""

from __future__ import annotations

from typing import Any

from fastmetrics._core.inference.errors import ErrorEstimate
from fastmetrics._core.named_tuples import NamedTuple


class Interval(NamedTuple):
    """The bounds of an interval and its standard error, or None; entries for the value's coverage.

    `error` has the degrees of freedom and the units, if they are known.
    """

    bounds: tuple[float, float] | None
    standard_error: float | None
    coverage: dict[str, Any]
    error: ErrorEstimate | None = None


NO_INTERVAL = Interval(None, None, {})
