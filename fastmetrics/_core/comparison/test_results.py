"""What a test of significance answers: one small object for all of them, and the options all of them have."""

from __future__ import annotations

import math
import operator
from numbers import Integral, Real
from typing import Any, NamedTuple

from fastmetrics._core import inputs

ALTERNATIVES = ("two-sided", "less", "greater")
ROOT_OF_TWO = math.sqrt(2.0)
# Squares and cubes of counts stay finite.
MOST_COUNTED = 1e100
MOST_REPLICATES = 1 << 40
SEED_BITS = 64


class Estimate(NamedTuple):
    """A number that a test estimates beside its effect size.

    Attributes
    ----------
    name : str
        What it is: "difference", "lift", "odds ratio".
    value : float
        The estimate.
    ci : tuple of float or None
        Its confidence interval, two-sided; None where there is none.
    """

    name: str
    value: float
    ci: tuple[float, float] | None = None


class SignificanceResult(NamedTuple):
    """A statistic, its p-value, and how large the effect is.

    `print(result)` is one line to read; `repr(result)` has every digit.

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
        Confidence interval, two-sided whatever the alternative; None where the test has none. It is one of what `ci_of`
        names, of the effect size where that is empty.
    n : int
        Observations (rows, pairs, users) that the test used.
    method : str
        The test, and how its p-value was computed.
    effect : str
        What `effect_size` is.
    ci_of : str
        What `ci` is an interval of, where it is not the effect size.
    estimates : tuple of Estimate
        What else the test estimates, each with its interval.
    """

    statistic: float
    pvalue: float
    df: float | tuple[float, ...] | None
    effect_size: float
    ci: tuple[float, float] | None
    n: int
    method: str
    effect: str = ""
    ci_of: str = ""
    estimates: tuple[Estimate, ...] = ()

    def estimate(self, name: str) -> Estimate:
        """One of the estimates.

        Parameters
        ----------
        name : str
            What it is called: `result.estimate("lift").ci`.

        Returns
        -------
        Estimate

        Raises
        ------
        ValueError
            There is none of that name.
        """
        for one in self.estimates:
            if one.name == name:
                return one
        known = ", ".join(repr(one.name) for one in self.estimates) or "none"
        raise ValueError(f"no estimate {name!r} of this test; there are: {known}")

    def __str__(self) -> str:
        df = "" if self.df is None else f", df {spell(self.df)}"
        of = "" if self.ci is None or not self.ci_of else f" of the {self.ci_of}"
        interval = "" if self.ci is None else f", interval{of} {spell(self.ci)}"
        effect = f"; {self.effect or 'effect'} {self.effect_size:.4g}"
        return f"{self.method}: statistic {self.statistic:.6g}{df}, p {self.pvalue:.4g}{effect}{interval}; n {self.n}"


def spell(value: float | tuple[float, ...]) -> str:
    """A number to read, or several in brackets."""
    if isinstance(value, tuple):
        return f"({', '.join(f'{one:.4g}' for one in value)})"
    return f"{value:.6g}"


def special_functions() -> Any:
    """scipy.special, or the line that installs it."""
    try:
        from scipy import special
    except ImportError:
        raise ImportError("tests of significance need scipy; type: pip install 'fastmetrics[stats]'") from None
    return special


def check_level(ci: Any, *, required: bool = False) -> None:
    """A confidence level strictly between 0 and 1 or, where an interval is not required, None for none."""
    if ci is None and not required:
        return
    if not (isinstance(ci, Real) and 0 < float(ci) < 1):
        absent = "" if required else ", or None for no interval"
        raise inputs.OptionError(
            f"ci must be a number between 0 and 1, both excluded (0.95 is usual){absent}; found {ci!r}"
        )


def check_alternative(alternative: Any) -> None:
    inputs.check_option(alternative, "alternative", ALTERNATIVES)


def check_replicates(replicates: Any, most: int = MOST_REPLICATES) -> int:
    """The number of replicates as an integer of at least 1."""
    number = as_integer(replicates)
    if number is None or not 1 <= number <= most:
        bound = "at least 1" if number is None or number < 1 else f"at most {most:,}"
        raise inputs.OptionError(f"replicates must be an integer of {bound}; found {replicates!r}")
    return number


def check_seed(seed: Any) -> int:
    """A seed as an integer of 64 bits."""
    number = as_integer(seed)
    if number is None or not 0 <= number < 1 << SEED_BITS:
        raise inputs.OptionError(f"seed must be an integer from 0 to 2**{SEED_BITS} - 1; found {seed!r}")
    return number


def as_integer(value: Any) -> int | None:
    """An integer of any type as Python's; None for what is none, as True and 1.0."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def as_count(value: Any, name: str) -> int:
    """A whole number that is not negative; 3.0 is one, and so is an array of it without dimensions."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, Real):
        number = int(value) if isinstance(value, Integral) else float(value)
        if 0 <= number < math.inf and number == int(number):
            if number > MOST_COUNTED:
                raise inputs.OptionError(f"{name} may be at most {MOST_COUNTED:g}; found a number beyond")
            return int(number)
    found = "NaN" if value != value else repr(value)
    raise inputs.OptionError(f"{name} must be a whole number, not negative; found {found}")


def normal_pvalue(z: float, alternative: str) -> float:
    """Tail of the standard normal distribution beyond z, to full relative precision however far out."""
    if alternative == "two-sided":
        return math.erfc(abs(z) / ROOT_OF_TWO)
    return math.erfc((z if alternative == "greater" else -z) / ROOT_OF_TWO) / 2


def chi_square_pvalue(statistic: float, df: int) -> float:
    """Upper tail of the chi-square distribution, to full relative precision however far out."""
    if df == 1:
        return math.erfc(math.sqrt(statistic / 2))
    return float(special_functions().chdtrc(df, statistic))


def student_pvalue(t: float, df: float, alternative: str) -> float:
    """Tail of Student's t distribution beyond t, to full relative precision however far out."""
    stdtr = special_functions().stdtr
    if alternative == "two-sided":
        return 2 * float(stdtr(df, -abs(t)))
    return float(stdtr(df, -t if alternative == "greater" else t))
