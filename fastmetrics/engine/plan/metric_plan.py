"""From metric strings to a plan: the distinct statistics to compute, by exchange."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from fastmetrics._core.registry import TARGETS, Metric, parse
from fastmetrics._core.statistic import Value
from fastmetrics._kernels.columns import column_checks as kernels
from fastmetrics.engine.plan.non_numeric_targets import NON_NUMERIC_TARGETS, NonNumericTarget

MAX_LISTED_METRICS = 3


class MetricsByTarget(NamedTuple):
    """The metrics of a plan, by the kind of their labels.

    The kinds are those of `registry.TARGETS`, in that order: two classes, any numbers, grades of the rows of a group,
    texts, and partitions (labels of any type).
    """

    binary: tuple[Metric, ...]
    real: tuple[Metric, ...]
    graded: tuple[Metric, ...]
    text: tuple[Metric, ...]
    partition: tuple[Metric, ...]

    @property
    def non_numeric(self) -> NonNumericTarget | None:
        """The target of a plan whose label and score columns are not numeric; None for numeric columns."""
        targets = (target for target, _ in self.with_metrics())
        return next((NON_NUMERIC_TARGETS[target] for target in targets if target in NON_NUMERIC_TARGETS), None)

    def with_metrics(self) -> list[tuple[str, tuple[Metric, ...]]]:
        """The targets that have metrics, with these metrics."""
        return [(target, metrics) for target, metrics in zip(TARGETS, self, strict=True) if metrics]

    @property
    def allowed_label_kinds(self) -> int:
        """The kinds of labels (SAW_ bits) that a scan may record; none if labels may be any numbers."""
        if not self.binary:
            return 0
        return kernels.SAW_ZERO | kernels.SAW_ONE | (0 if self.shares_labels else kernels.SAW_MINUS_ONE)

    @property
    def shares_labels(self) -> bool:
        """Whether metrics of classes share labels with metrics of numbers, which then read 0 and 1 as numbers."""
        return bool(self.binary and (self.real or self.graded))

    @property
    def without_negative_grades(self) -> tuple[Metric, ...]:
        """Metrics of grades for which a grade below zero has no meaning."""
        return tuple(metric for metric in self.graded if not metric.spec.negative_grades)

    @property
    def greatest_grade(self) -> tuple[float, str]:
        """The greatest grade that all metrics of grades accept, and the metric with that limit."""
        limits = [
            (float(getattr(statistic, "greatest_grade", math.inf)), repr(metric))
            for metric in self.graded
            for statistic in metric.statistics()
        ]
        return min(limits, default=(math.inf, ""))

    def explain_shared_labels(self) -> str:
        """The reason why labels have to fit all targets of the plan."""
        *others, last = self.describe()
        number = "two" if len(others) == 1 else "three"
        return f"metrics {', '.join(others)} and {last} share them; ask for the {number} kinds separately"

    def describe(self) -> list[str]:
        """The targets of the plan in words, with the first metrics of each."""
        nouns = {"binary": "classes", "real": "numbers", "graded": "grades"} | {
            target: non_numeric.noun for target, non_numeric in NON_NUMERIC_TARGETS.items()
        }
        return [f"of {nouns[target]} ({list_metric_names(metrics)})" for target, metrics in self.with_metrics()]

    def check_compatible(self) -> None:
        """If a metric reads columns that are not numeric, all metrics have to read the same kind."""
        if self.non_numeric is not None and len(self.with_metrics()) > 1:
            *others, last = self.describe()
            raise ValueError(
                f"metrics {' and '.join([*others, last])} take labels and scores of different kinds; "
                "ask for them separately"
            )


def list_metric_names(metrics: tuple[Metric, ...]) -> str:
    """Names of metrics for a message: the first few, and how many more there are."""
    names = ", ".join(map(repr, metrics[:MAX_LISTED_METRICS]))
    return f"{names} and {len(metrics) - MAX_LISTED_METRICS} more" if len(metrics) > MAX_LISTED_METRICS else names


class Plan(NamedTuple):
    """Metrics in the order in which they were asked for, and the distinct statistics of each exchange.

    Statistics in `unsliced` need no exchange and are computed for all rows only, not for slices.
    """

    metrics: tuple[Metric, ...]
    statistics: dict[str, tuple[Any, ...]]
    unsliced: tuple[Any, ...] = ()

    def needs(self, exchange: str) -> bool:
        return bool(self.statistics[exchange])

    def first_metric(self, exchange: str) -> Metric:
        """The first metric that needs an exchange, for messages."""
        return next(metric for metric in self.metrics if metric.spec.exchange == exchange)

    @property
    def targets(self) -> MetricsByTarget:
        by_target = (tuple(metric for metric in self.metrics if metric.spec.target == target) for target in TARGETS)
        return MetricsByTarget(*by_target)

    def without_plots(self) -> Plan:
        """The plan without the statistics of plots."""
        return plan_metrics(self.metrics)

    def finalise(self, metric: Metric, states: dict[Any, Any]) -> Value:
        """The value of a metric, from the states of all statistics."""
        return metric.finalise(*(states[statistic] for statistic in metric.statistics()))


def split_metric_list(text: str) -> list[str]:
    """Cut "auc, gauc(weight=pairs,single_class=half)" at its commas outside parentheses."""
    names, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            names.append(text[start:index])
            start = index + 1
    names.append(text[start:])
    return [name.strip() for name in names]


def make_plan(metrics: str | Sequence[str | Metric]) -> Plan:
    """Parse metrics and plan them. A metric that is named twice is computed once."""
    if not isinstance(metrics, (str, Sequence)):
        raise TypeError(f"metrics must be a list of metric strings; found {type(metrics).__name__}")
    names = split_metric_list(metrics) if isinstance(metrics, str) else list(metrics)
    parsed = tuple(dict.fromkeys(parse(name) for name in names))
    if not parsed:
        raise ValueError("metrics is empty: name at least one; fastmetrics.list_metrics() lists them all")
    plan = plan_metrics(parsed)
    plan.targets.check_compatible()
    return plan


def plan_metrics(metrics: tuple[Metric, ...]) -> Plan:
    """The plan of parsed metrics: their distinct statistics, by exchange."""
    by_exchange: dict[str, dict[Any, None]] = {"none": {}, "range": {}, "hash": {}}
    for metric in metrics:
        for statistic in metric.statistics():
            by_exchange[metric.spec.exchange][statistic] = None
    return Plan(metrics, {exchange: tuple(statistics) for exchange, statistics in by_exchange.items()})
