"""Statistics of the values of groups other than their mean: `stat=` of metrics that have a value for each group.

Every one is defined by the values and the weights of the groups, so it depends neither on their order nor on how they
are cut into parts. Sums of weights are exact integers, and a result is rounded once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

from fastmetrics._core.exact import EXPONENT, divide
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.statistic import PerGroup

if TYPE_CHECKING:
    from fractions import Fraction

STAT_DEFAULTS: dict[str, Any] = {"stat": "mean", "rule": "linear", "at": None}
RULES = ("linear", "lower", "higher")
QUANTILE = r"p([0-9]+(?:\.[0-9]+)?)"  # compiled at the first use
ONE = 1 << EXPONENT
EXTREMES = "the least and the greatest value are those of this log: more rows would have others beyond them"
STATS = "mean, min, max, a quantile such as p10 or p99.9, or below"


class WeightedSample(Protocol):
    """Values with positive weights. A weight as an integer is the exact weight times 2**EXPONENT."""

    @property
    def rows(self) -> int: ...

    def weight(self) -> int: ...

    def weight_below(self, number: float) -> int: ...

    def least(self) -> float: ...

    def greatest(self) -> float: ...

    def values_at(self, limits: list[int]) -> list[float]:
        """For each limit the least value such that all greater values together weigh less."""
        ...


class GroupStat(NamedTuple):
    """A statistic of the values of groups: "min", "max", "below" a number, or "quantile"."""

    name: str
    share: Fraction | int = 0
    rule: str = STAT_DEFAULTS["rule"]
    at: float = 0.0

    def direction(self, of_values: str) -> str:
        """Which of two statistics is better: a share of groups below a value is better the other way round."""
        if self.name != "below":
            return of_values
        return {"maximize": "minimize", "minimize": "maximize"}.get(of_values, "none")

    def scale(self, of_values: str) -> str:
        """The scale of the statistic, as `MetricSpec.scale`: a share of groups, or one of their values."""
        return "share" if self.name == "below" else of_values

    @property
    def no_interval(self) -> str | None:
        """The reason why no interval of the statistic is valid; None if there may be one."""
        return EXTREMES if self.name in ("min", "max") else None

    def value(self, sample: WeightedSample) -> float:
        """The statistic of a sample that has rows."""
        if self.name == "min":
            return sample.least()
        if self.name == "max":
            return sample.greatest()
        if self.name == "below":
            return divide(sample.weight_below(self.at), sample.weight())
        return self.quantile(sample)

    def quantile(self, sample: WeightedSample) -> float:
        """The quantile of weighted values, see docs/definitions.md.

        A weight of 2 counts as two values of weight 1, and weights are never counted as fewer values than there are.
        """
        from fractions import Fraction  # a slow import, and few metrics are quantiles

        weight = sample.weight()
        total = max(weight, sample.rows << EXPONENT)
        rank, remainder = divmod(self.share * (total - ONE), ONE)
        ranks = {"lower": [rank], "higher": [rank + (remainder > 0)], "linear": [rank, rank + (remainder > 0)]}
        # More than rank / total of the weight is at the value or below it: less than the rest is above it.
        limits = [-(-weight * (total - own * ONE) // total) for own in ranks[self.rule]]
        low, *others = sample.values_at(limits)
        high = others[0] if others else low
        return low if low == high else float(Fraction(low) + remainder / ONE * (Fraction(high) - Fraction(low)))


def read_stat(arguments: dict[str, Any]) -> tuple[dict[str, Any], GroupStat | None]:
    """The checked arguments `stat`, `rule` and `at` that count, and what they mean; none for the mean."""
    stat = arguments.get("stat", STAT_DEFAULTS["stat"])
    quantile = re.fullmatch(QUANTILE, stat) if isinstance(stat, str) else None
    if quantile is None and stat not in ("mean", "min", "max", "below"):
        raise ValueError(f"stat must be {STATS}; found {stat!r}")
    if "rule" in arguments and quantile is None:
        raise ValueError(f"rule is that of quantiles, such as stat=p10; stat is {stat}")
    if "at" in arguments and stat != "below":
        raise ValueError(f"at belongs to stat=below, the share of groups with a value below it; stat is {stat}")
    if stat == "mean":
        return {}, None
    if quantile is not None:
        from fractions import Fraction

        share = Fraction(quantile[1]) / 100
        if share > 1:
            raise ValueError(f"stat must be a quantile from p0 to p100; found {stat}")
        return read_quantile(stat, share, arguments.get("rule", STAT_DEFAULTS["rule"]))
    if stat == "below":
        at = arguments.get("at")
        if isinstance(at, bool) or not isinstance(at, (int, float)) or at != at:
            raise ValueError(f"stat=below needs at=, a number: write stat=below, at=0.5; found {at!r}")
        return {"stat": stat, "at": at}, GroupStat(stat, at=float(at))
    return {"stat": stat}, GroupStat(stat)


def read_quantile(stat: str, share: Fraction, rule: Any) -> tuple[dict[str, Any], GroupStat]:
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; found {rule!r}")
    extreme = "min" if share == 0 else "max" if share == 1 else "quantile"
    return {"stat": stat, "rule": rule}, GroupStat(extreme, share, rule)


def check_group_values(metric: str, statistics: tuple[Any, ...]) -> None:
    """Raise for `stat=` of a metric that is not the mean of values of groups, as its statistics say."""
    if len(statistics) != 1 or not isinstance(statistics[0], PerGroup):
        raise ValueError(f"{metric}: stat= is for means over groups, and this metric is not one")
