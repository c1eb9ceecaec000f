"""Metric strings to the work they need: which statistics, from which exchange, each computed once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from fastmetrics._core.registry import Metric, parse
from fastmetrics._core.statistic import Value


class Plan(NamedTuple):
    """Metrics in the order asked for, and the distinct statistics of each exchange."""

    metrics: tuple[Metric, ...]
    statistics: dict[str, tuple[Any, ...]]

    def needs(self, exchange: str) -> bool:
        return bool(self.statistics[exchange])

    def finalise(self, metric: Metric, states: dict[Any, Any]) -> Value:
        """The value of a metric, from the states of all statistics."""
        return metric.finalise(*(states[statistic] for statistic in metric.statistics()))


def split_names(text: str) -> list[str]:
    """Cut "auc, gauc(weight=pairs,single_class=half)" at its commas outside parentheses."""
    names, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            names.append(text[start:place])
            start = place + 1
    names.append(text[start:])
    return [name.strip() for name in names]


def make_plan(metrics: str | Sequence[str | Metric]) -> Plan:
    """Read the metrics; asking for one twice is asking once."""
    if not isinstance(metrics, (str, Sequence)):
        raise TypeError(f"metrics must be a list of metric strings; found {type(metrics).__name__}")
    wanted = split_names(metrics) if isinstance(metrics, str) else list(metrics)
    parsed = tuple(dict.fromkeys(parse(name) for name in wanted))
    if not parsed:
        raise ValueError("metrics is empty: name at least one; fastmetrics.list_metrics() tells which there are")
    by_exchange: dict[str, dict[Any, None]] = {"none": {}, "score": {}, "group": {}}
    for metric in parsed:
        for statistic in metric.statistics():
            by_exchange[metric.spec.exchange][statistic] = None
    return Plan(parsed, {exchange: tuple(found) for exchange, found in by_exchange.items()})
