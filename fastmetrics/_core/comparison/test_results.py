"""The result of a significance test, and the checks of the options that all tests have in common."""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.immutable import Immutable
from fastmetrics._core.option_numbers import real_value

__all__ = ["Estimate", "SignificanceResult"]

ALTERNATIVES = ("two-sided", "less", "greater")
MAX_COUNT = 1e100  # squares and cubes of counts stay finite
MAX_REPLICATES = 1 << 40
SEED_BITS = 64
FIELDS = (
    "statistic", "pvalue", "df", "effect_size", "interval", "n", "method", "effect", "interval_of", "estimates",
)  # fmt: skip


class Estimate(Immutable):
    """A number that a test estimates in addition to its effect size.

    Attributes
    ----------
    name : str
        Its name: "difference", "lift", "odds ratio".
    value : float
        The estimate.
    interval : tuple of float or None
        Its two-sided confidence interval; None if there is none.
    ci_low, ci_high : float or None
        The ends of the interval.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> result = fm.wilcoxon([0.62, 0.71, 0.55, 0.80], [0.60, 0.66, 0.56, 0.73])
    >>> [(one.name, round(one.value, 4)) for one in result.estimates]
    [('median difference', 0.0325)]
    """

    __slots__ = ("interval", "name", "value")

    name: str
    value: float
    interval: tuple[float, float] | None

    def __init__(self, name: str, value: float, interval: tuple[float, float] | None = None) -> None:
        self._set(name=name, value=value, interval=interval)

    @property
    def ci_low(self) -> float | None:
        return None if self.interval is None else self.interval[0]

    @property
    def ci_high(self) -> float | None:
        return None if self.interval is None else self.interval[1]

    def __hash__(self) -> int:
        return hash((self.name, self.value))

    def __repr__(self) -> str:
        return f"Estimate(name={self.name!r}, value={self.value!r}, interval={self.interval!r})"


class SignificanceResult(Immutable):
    """The result of a significance test: a statistic, its p-value and the effect size.

    ``statistic, pvalue = result`` has the first two; all else is an attribute. `print(result)` is one line;
    `repr(result)` has all digits.

    Attributes
    ----------
    statistic : float
        The test statistic.
    pvalue : float
        The probability of a statistic at least as extreme if there were no effect. Never 0 from resampling.
    df : float or tuple of float or None
        Degrees of freedom, if the distribution has any.
    effect_size : float
        The size of the effect, in the units that `effect` names.
    interval : tuple of float or None
        Confidence interval, two-sided for every alternative; None if the test has none. It is an interval of the effect
        size, or of the quantity that `interval_of` names.
    ci_low, ci_high : float or None
        The ends of the interval.
    n : int
        Observations (rows, pairs, users) that the test used.
    method : str
        The test, and how its p-value was computed.
    effect : str
        The name of the effect size.
    interval_of : str
        The quantity that `interval` is of; empty for the effect size.
    estimates : tuple of Estimate
        Further estimates of the test, each with its interval.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> result = fm.paired_t_test([0.62, 0.71, 0.55, 0.80], [0.60, 0.66, 0.56, 0.73])
    >>> round(result.pvalue, 4), result.effect, round(result.effect_size, 3)
    (0.1603, "Cohen's d_z", 0.929)
    >>> statistic, pvalue = result
    >>> round(statistic, 4), pvalue == result.pvalue
    (1.8571, True)
    """

    __slots__ = (
        "df", "effect", "effect_size", "estimates", "interval", "interval_of", "method", "n", "pvalue", "statistic",
    )  # fmt: skip

    statistic: float
    pvalue: float
    df: float | tuple[float, ...] | None
    effect_size: float
    interval: tuple[float, float] | None
    n: int
    method: str
    effect: str
    interval_of: str
    estimates: tuple[Estimate, ...]

    def __init__(
        self,
        statistic: float,
        pvalue: float,
        df: float | tuple[float, ...] | None,
        effect_size: float,
        interval: tuple[float, float] | None,
        n: int,
        method: str,
        effect: str = "",
        interval_of: str = "",
        estimates: tuple[Estimate, ...] = (),
    ) -> None:
        self._set(
            statistic=statistic, pvalue=pvalue, df=df, effect_size=effect_size, interval=interval, n=n, method=method,
            effect=effect, interval_of=interval_of, estimates=estimates,
        )  # fmt: skip

    def __iter__(self) -> Iterator[float]:
        """The statistic and the p-value."""
        return iter((self.statistic, self.pvalue))

    def __hash__(self) -> int:
        return hash((self.statistic, self.pvalue, self.method))

    @property
    def ci_low(self) -> float | None:
        return None if self.interval is None else self.interval[0]

    @property
    def ci_high(self) -> float | None:
        return None if self.interval is None else self.interval[1]

    def __repr__(self) -> str:
        return f"SignificanceResult({', '.join(f'{name}={getattr(self, name)!r}' for name in FIELDS)})"

    @answers_unknown
    def estimate(self, name: str) -> Estimate:
        """The estimate of this name.

        Parameters
        ----------
        name : str
            The name, for instance "lift": `result.estimate("lift").interval`.

        Returns
        -------
        Estimate

        Raises
        ------
        ValueError
            There is no estimate of this name.
        """
        for estimate in self.estimates:
            if estimate.name == name:
                return estimate
        known = ", ".join(repr(estimate.name) for estimate in self.estimates) or "none"
        raise ValueError(f"this test has no estimate {name!r}; it has: {known}")

    def __str__(self) -> str:
        df = "" if self.df is None else f", df {format_number(self.df)}"
        of = "" if self.interval is None or not self.interval_of else f" of the {self.interval_of}"
        interval = "" if self.interval is None else f", interval{of} {format_number(self.interval)}"
        effect = f"; {self.effect or 'effect'} {self.effect_size:.4g}"
        return f"{self.method}: statistic {self.statistic:.6g}{df}, p {self.pvalue:.4g}{effect}{interval}; n {self.n}"


def format_number(value: float | tuple[float, ...]) -> str:
    """A number with few digits, or several in parentheses."""
    if isinstance(value, tuple):
        return f"({', '.join(f'{number:.4g}' for number in value)})"
    return f"{value:.6g}"


def check_level(ci: Any, *, required: bool = False) -> None:
    """Check a confidence level: a number strictly between 0 and 1, or None if no interval is required."""
    if ci is None and not required:
        return
    if not 0 < real_value(ci) < 1:
        or_none = "" if required else ", or None for no interval"
        raise validation.OptionError(
            f"ci must be a number between 0 and 1, both excluded (0.95 is usual){or_none}; found {ci!r}"
        )


def check_alternative(alternative: Any) -> None:
    validation.check_option(alternative, "alternative", ALTERNATIVES)


def check_replicates(replicates: Any, most: int = MAX_REPLICATES) -> int:
    """The number of replicates as an integer of at least 1, checked."""
    number = validation.check_integer(replicates, "replicates", "an integer of at least 1")
    return validation.check_integer(number, "replicates", f"an integer of at most {most:,}", most=most)


def check_seed(seed: Any) -> int:
    """The seed as an integer of 64 bits, checked."""
    return validation.check_integer(seed, "seed", f"an integer from 0 to 2**{SEED_BITS} - 1", 0, (1 << SEED_BITS) - 1)

def as_count(value: Any, name: str) -> int:
    """A nonnegative integer as a Python int. Floats such as 3.0 and arrays without dimensions are accepted."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, Real):
        number = int(value) if isinstance(value, Integral) else float(value)
        if 0 <= number < math.inf and number == int(number):
            if number > MAX_COUNT:
                raise validation.OptionError(f"{name} must be at most {MAX_COUNT:g}; found a greater number")
            return int(number)
    found = "NaN" if value != value else repr(value)
    raise validation.OptionError(f"{name} must be a nonnegative integer; found {found}")
