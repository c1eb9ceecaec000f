"""Metric strings to the work they need: which statistics, from which exchange, each computed once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from fastmetrics._core.registry import TARGETS, Metric, parse
from fastmetrics._core.statistic import Value
from fastmetrics._kernels import columns as kernels
from fastmetrics.engine.alone import ALONE, Alone

MOST_NAMED = 3


class Targets(NamedTuple):
    """What a plan's metrics take labels for.

    Two classes, any number, the grades of a group's rows, texts, or labels of any type.
    """

    binary: tuple[Metric, ...]
    real: tuple[Metric, ...]
    graded: tuple[Metric, ...]
    text: tuple[Metric, ...]
    partition: tuple[Metric, ...]

    @property
    def alone(self) -> Alone | None:
        """The target that goes alone, where the plan is of one: labels and scores are no numbers then."""
        return next((ALONE[target] for target, own in self.found() if target in ALONE), None)

    def found(self) -> list[tuple[str, tuple[Metric, ...]]]:
        """The targets there are, with their metrics."""
        return [(target, own) for target, own in zip(TARGETS, self, strict=True) if own]

    @property
    def label_kinds(self) -> int:
        """The kinds of labels (SAW_ bits) that a scan may note; none where labels are any numbers."""
        if not self.binary:
            return 0
        return kernels.SAW_ZERO | kernels.SAW_ONE | (0 if self.shared else kernels.SAW_MINUS_ONE)

    @property
    def shared(self) -> bool:
        """Do metrics of classes share labels with others? Then these see 0 and 1 as numbers."""
        return bool(self.binary and (self.real or self.graded))

    @property
    def refusing_negative(self) -> tuple[Metric, ...]:
        """Metrics of grades for which a grade below zero has no meaning."""
        return tuple(metric for metric in self.graded if not metric.spec.negative_grades)

    @property
    def greatest_grade(self) -> tuple[float, str]:
        """The greatest grade that all metrics of grades can take, and the metric that says so."""
        limits = [
            (float(getattr(statistic, "greatest_grade", math.inf)), repr(metric))
            for metric in self.graded
            for statistic in metric.statistics()
        ]
        return min(limits, default=(math.inf, ""))

    def why_common(self) -> str:
        """Why labels have to be what all kinds agree on."""
        *others, last = self.kinds()
        number = "two" if len(others) == 1 else "three"
        return f"metrics {', '.join(others)} and {last} share them; ask for the {number} kinds separately"

    def kinds(self) -> list[str]:
        """The kinds there are, with the first metrics of each."""
        words = {"binary": "classes", "real": "numbers", "graded": "grades"} | {
            target: alone.word for target, alone in ALONE.items()
        }
        return [f"of {words[target]} ({first_of(metrics)})" for target, metrics in self.found()]

    def check_alone(self) -> None:
        """Where a metric takes what is no number, all take the same: a column of texts is none of anything else."""
        if self.alone is not None and len(self.found()) > 1:
            *others, last = self.kinds()
            raise ValueError(
                f"metrics {' and '.join([*others, last])} take labels and scores of different kinds; "
                "ask for them separately"
            )


def first_of(metrics: tuple[Metric, ...]) -> str:
    """Their names; of many the first."""
    names = ", ".join(map(repr, metrics[:MOST_NAMED]))
    return f"{names} and {len(metrics) - MOST_NAMED} more" if len(metrics) > MOST_NAMED else names


class Plan(NamedTuple):
    """Metrics in the order asked for, and the distinct statistics of each exchange.

    `whole` are statistics without exchange that are wanted of all rows only, not of slices.
    """

    metrics: tuple[Metric, ...]
    statistics: dict[str, tuple[Any, ...]]
    whole: tuple[Any, ...] = ()

    def needs(self, exchange: str) -> bool:
        return bool(self.statistics[exchange])

    @property
    def targets(self) -> Targets:
        return Targets(*(tuple(own for own in self.metrics if own.spec.target == target) for target in TARGETS))

    def of_metrics(self) -> Plan:
        """The same without statistics that no metric asked for: those of pictures."""
        return plan_of(self.metrics)

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
    plan = plan_of(parsed)
    plan.targets.check_alone()
    return plan


def plan_of(metrics: tuple[Metric, ...]) -> Plan:
    """The statistics of metrics, by exchange."""
    by_exchange: dict[str, dict[Any, None]] = {"none": {}, "score": {}, "group": {}}
    for metric in metrics:
        for statistic in metric.statistics():
            by_exchange[metric.spec.exchange][statistic] = None
    return Plan(metrics, {exchange: tuple(found) for exchange, found in by_exchange.items()})
