"""What a test of significance answers: one small object for all of them."""

from __future__ import annotations

from typing import NamedTuple


class SignificanceResult(NamedTuple):
    """A statistic, its p-value, and how large the effect is.

    Attributes
    ----------
    statistic : float
        What the test compares with its distribution.
    pvalue : float
        Probability of a statistic at least as extreme if there were no effect. Never 0 from resampling.
    df : float or tuple of float or None
        Degrees of freedom, where the distribution has any.
    effect_size : float
        How large the effect is, in the units that `effect` names.
    ci : tuple of float or None
        Confidence interval of the effect that `effect` names, or None where the test has none.
    n : int
        Observations (rows, pairs, users) that the test used.
    method : str
        The test, and how its p-value was computed.
    effect : str
        What `effect_size` is.
    """

    statistic: float
    pvalue: float
    df: float | tuple[float, ...] | None
    effect_size: float
    ci: tuple[float, float] | None
    n: int
    method: str
    effect: str = ""
