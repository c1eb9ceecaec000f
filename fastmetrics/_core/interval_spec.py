"""How a metric has an interval without resampling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class IntervalSpec(NamedTuple):
    """How to compute an interval of a metric from states, without resampling. Rows are assumed independent.

    Attributes
    ----------
    method : str
        The value of `ci_method` that asks for it.
    statistics : callable
        `statistics(**parameters)` returns the statistics, which have the exchange of the metric; none if there is no
        such interval for these parameters.
    find : callable
        `find(parameters, level, *states)` returns the low end, the high end and the standard error, or a text that
        says why there is no interval.
    compare : callable
        `compare(parameters, level, labels, first, second, n_threads)` reads columns of rows. It returns the two ends,
        the standard error and the two-sided p-value of the second model's value minus the first's, or a text.
    """

    method: str
    statistics: Callable[..., tuple[Any, ...]]
    find: Callable[..., tuple[float, float, float] | str]
    compare: Callable[..., tuple[float, float, float, float] | str]
