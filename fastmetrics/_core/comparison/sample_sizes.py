"""How many units would show a difference, by the variance of a comparison's own differences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.comparison.comparison import Comparison
from fastmetrics._core.comparison.difference import Difference
from fastmetrics._core.inference.errors import ErrorEstimate
from fastmetrics._core.inference.sample_size import POWER, units_to_show

if TYPE_CHECKING:
    from fastmetrics._core.registry import Metric

__all__ = ["sample_size"]


@answers_unknown
def sample_size(
    comparison: Comparison,
    metric: str | Metric,
    difference: float,
    *,
    power: float = POWER,
    ci: float | None = None,
    other: str | None = None,
    slice: Mapping[str, Any] | None = None,  # noqa: A002
    label: str | None = None,
    task: str | None = None,
) -> int:
    """How many units (users, days) would show a difference between two models.

    With k times the units the variance of the paired difference is 1/k of that of the comparison. Units are enough if
    a difference d is at least (t + t_power) times the standard error, with the quantiles of Student's distribution of
    the two-sided test at `ci` and of the power (H. Bloom, "Minimum detectable effects", Evaluation Review 19, 1995).

    Parameters
    ----------
    comparison : Comparison
        Of the same models, or of models whose differences vary alike, on a log of the same kind of units.
    metric : str
        The metric string, in any form.
    difference : float
        The difference that is to be shown, in units of the metric; its sign does not matter.
    power : float
        The probability that it is shown, between 0 and 1.
    ci : float, optional
        The level of the test; by default the level at which the comparison decides this difference, which is corrected
        for the number of differences.
    other, label, task : str, optional
        Which difference of the comparison, if there are several.
    slice : dict, optional
        Column -> value of a slice, whose units are counted. By default all rows.

    Returns
    -------
    int

    Raises
    ------
    KeyError
        The comparison has no such difference, or several; the message lists the choices.
    ValueError
        The difference is 0 or not finite, the power or the level is not between 0 and 1, the comparison has no standard
        error of this difference or no number of units, or no number of units shows it.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> log = {"user": range(40), "click": [0, 1, 1, 0] * 10, "old": [0.3, 0.6, 0.5, 0.4, 0.2, 0.4, 0.7, 0.6] * 5}
    >>> log["new"] = [0.2, 0.7, 0.6, 0.4, 0.3, 0.5, 0.7, 0.5] * 5
    >>> comparison = fm.compare(log, "logloss", label="click", score=["old", "new"], unit="user")
    >>> fm.sample_size(comparison, "logloss", 0.01) > 1000
    True
    """
    if not isinstance(comparison, Comparison):
        raise TypeError(f"comparison must be the result of compare; found {type(comparison).__name__}")
    for name, value in (("power", power), ("ci", ci)):
        if value is not None and not (isinstance(value, (int, float)) and 0 < value < 1):
            raise ValueError(f"{name} must be a number between 0 and 1; found {value!r}")
    if not (isinstance(difference, (int, float)) and math.isfinite(difference) and difference):
        raise ValueError(f"difference must be a finite number that is not 0; found {difference!r}")
    one = comparison.difference(metric, other=other, slice=slice, label=label, task=task)
    if one.standard_error is None or one.df is None:
        why = f": {one.reason}" if one.reason else ""
        raise ValueError(f"{one.metric} has no standard error of its difference{why}")
    if one.n_units is None:
        raise ValueError(f"{one.metric} has no number of units in this comparison")
    decided = one.verdict_level or comparison.level or 0.95
    found = find_sample_size(one, float(difference), decided if ci is None else float(ci), float(power))
    if found is None:
        raise ValueError(f"no number of units shows a difference of {difference!r} in {one.metric}")
    return found


def find_sample_size(one: Difference, difference: float, level: float, power: float = POWER) -> int | None:
    """How many units show a difference, by the error of `one`; None if no number is known to."""
    if one.standard_error is None or one.df is None or one.n_units is None or one.n_effective is None:
        return None
    error = ErrorEstimate(one.standard_error, one.df, one.n_units, one.n_effective)
    return units_to_show(difference, error, level, power)
