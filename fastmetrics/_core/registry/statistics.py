"""Checks of the statistics of metrics that are not the library's own: what would silently be left out is an error."""

from __future__ import annotations

from typing import Any

from fastmetrics._core.statistic import (
    ABILITIES,
    AdditiveStatistic,
    ColumnStatistic,
    GroupedStatistic,
    RangeExchangeStatistic,
)
from fastmetrics._core.suggestions import close_matches

# By exchange.
BASES = {"none": (AdditiveStatistic, ColumnStatistic), "hash": (GroupedStatistic,), "range": (RangeExchangeStatistic,)}
SIMILAR = 0.85


def check_statistic(metric: str, exchange: str, statistic: Any) -> None:
    """TypeError for a statistic of another exchange, or with a method that nothing calls.

    Nothing calls the method of an ability that is no base of the class, or one with nearly the name of another.
    """
    own = type(statistic)
    if not isinstance(statistic, BASES[exchange]):
        names = " or ".join(base.__name__ for base in BASES[exchange])
        raise TypeError(f"metric {metric!r} has exchange {exchange!r}: its statistic must be a {names}; found {own!r}")
    of_abilities = {name: ability for ability in ABILITIES for name in public_names(ability)}
    of_bases = {name for base in own.__mro__ if is_of_library(base) for name in public_names(base)}
    for name in public_names(own):
        if name in of_bases:
            continue
        if name in of_abilities:
            ability = of_abilities[name].__name__
            raise TypeError(f"{own.__name__}.{name} belongs to {ability}: name it as a base of {own.__name__}")
        near = close_matches(name, [*of_abilities, *sorted(of_bases)], SIMILAR)
        if near:
            raise TypeError(f"{own.__name__} has a method {name!r}, which nothing calls: did you mean {near[0]!r}?")


def is_of_library(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "fastmetrics"


def public_names(cls: type) -> list[str]:
    """The names of methods and other attributes of a class."""
    return [name for name in dir(cls) if not name.startswith("_")]
