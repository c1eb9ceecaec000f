"""From metric strings to a plan: the distinct statistics to compute, by exchange."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from fastmetrics._core.kinds import LABEL_ROLE, SCORE_ROLE, Key, Kind
from fastmetrics._core.metric_spec import TARGETS
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import Metric, Metrics, read_metrics
from fastmetrics._core.statistic import ClassTables, NotesLostWords, Value
from fastmetrics._kernels.columns import column_checks as kernels

MAX_LISTED_METRICS = 3
MOST_PLANS = 100  # that are kept for further calls

# By the identities of the metrics, which a plan keeps alive: a call in a loop asks for the same ones.
_plans: dict[tuple[int, ...], Plan] = {}


class LabelKinds(NamedTuple):
    """Metrics that share a label column, by the kind of labels that they read.

    Labels are read once. If a metric needs two classes, metrics of numbers and of grades read the classes as 0 and 1.
    """

    binary: tuple[Metric, ...]
    real: tuple[Metric, ...]
    graded: tuple[Metric, ...]

    @classmethod
    def of(cls, metrics: tuple[Metric, ...]) -> LabelKinds:
        return cls(*(tuple(metric for metric in metrics if metric.spec.target == target) for target in cls._fields))

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
            (float(statistic.greatest_grade), repr(metric))
            for metric in self.graded
            for statistic in metric.statistics()
        ]
        return min(limits, default=(math.inf, ""))

    def explain_shared_labels(self) -> str:
        """The reason why labels have to fit all metrics."""
        *others, last = describe_metrics_by_kind(self.binary + self.real + self.graded)
        number = "two" if len(others) == 1 else "three"
        return f"metrics {', '.join(others)} and {last} share them; ask for the {number} kinds separately"


def describe_metrics_by_kind(metrics: tuple[Metric, ...]) -> list[str]:
    """The kinds of labels in words, with the first metrics of each."""
    by_target = [(target, tuple(metric for metric in metrics if metric.spec.target == target)) for target in TARGETS]
    return [f"of {label_noun(found[0])} ({list_metric_names(found)})" for _, found in by_target if found]


def label_noun(metric: Metric) -> str:
    """The labels of a metric in messages."""
    kinds = metric.spec.roles
    return "grades" if metric.spec.target == "graded" else kinds.get(LABEL_ROLE, next(iter(kinds.values()))).noun


def list_metric_names(metrics: tuple[Metric, ...]) -> str:
    """Names of metrics for a message: the first few, and how many more there are."""
    names = ", ".join(map(repr, metrics[:MAX_LISTED_METRICS]))
    return f"{names} and {len(metrics) - MAX_LISTED_METRICS} more" if len(metrics) > MAX_LISTED_METRICS else names


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """Metrics in the order in which they were asked for, and the distinct statistics of each exchange.

    Statistics in `unsliced` need no exchange and are computed for all rows only, not for slices. A plan is never
    changed, and those of the last calls are used again. So what every call asks for is computed once.
    """

    metrics: tuple[Metric, ...]
    statistics: Mapping[str, tuple[Any, ...]]
    unsliced: tuple[Any, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return unpickle_plan, (self.metrics, dict(self.statistics), self.unsliced)

    def with_statistics(self, **by_exchange: tuple[Any, ...]) -> Plan:
        """The plan with other statistics of some exchanges."""
        return replace(self, statistics=MappingProxyType({**self.statistics, **by_exchange}))

    def needs(self, exchange: str) -> bool:
        return bool(self.statistics[exchange])

    def first_metric(self, exchange: str) -> Metric:
        """The first metric that needs an exchange, for messages."""
        return next(metric for metric in self.metrics if metric.spec.exchange == exchange)

    @cached_property
    def label_kinds(self) -> LabelKinds:
        return LabelKinds.of(self.metrics)

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        """The kind of each role's column. The metrics of a part that read the role agree on it, except on labels.

        Of probabilities and other scores of classes, those are probabilities.
        """
        found: dict[str, Kind] = {}
        for metric in reversed(self.metrics):
            for role, kind in metric.roles.items():
                if role not in found or found[role].general() != kind:
                    found[role] = kind
        return found

    def kind(self, role: str) -> Kind:
        return self.kinds[role]

    @cached_property
    def key_roles(self) -> tuple[str, ...]:
        """The roles whose columns have keys."""
        roles = (item for metric in self.metrics for item in metric.spec.roles.items())
        return tuple(dict.fromkeys(role for role, kind in roles if isinstance(kind, Key)))

    @cached_property
    def takes_text_keys(self) -> bool:
        """May keys be texts? Their numbers are in order only when groups are reduced, after all rows are read."""
        others = (metric.spec.roles for metric in self.metrics if metric.spec.exchange != "hash")
        return not any(isinstance(kind, Key) for roles in others for kind in roles.values())

    @cached_property
    def is_numeric(self) -> bool:
        """Are all columns numbers that exchanges move?"""
        return all(kind.is_numeric for metric in self.metrics for kind in metric.spec.roles.values())

    def of(self, metrics: tuple[Metric, ...]) -> Plan:
        """The plan of some of the metrics."""
        return self if metrics == self.metrics else plan_metrics(metrics)

    def needs_columns(self, roles: Sequence[str]) -> bool:
        """Does a metric read a column of one of these roles that it neither names nor has a default for?"""
        return any(needs_columns(metric, roles) for metric in self.metrics)

    @cached_property
    def with_defaults_first(self) -> list[Metric]:
        """The metrics, those first that have columns of their own or by default."""
        return sorted(self.metrics, key=lambda metric: needs_columns(metric, (LABEL_ROLE, SCORE_ROLE)))

    @cached_property
    def without_weights(self) -> tuple[Metric, ...]:
        """The metrics whose rows have no weights."""
        return tuple(
            metric for metric in self.metrics
            if not all(kind.takes_weights for kind in metric.spec.roles.values())
        )  # fmt: skip

    @property
    def keeps_rows(self) -> bool:
        """Does an exchange keep rows?"""
        return self.needs("hash") or self.needs("range")

    @property
    def has_long_values(self) -> bool:
        """Do rows have long values? Batches then have fewer rows."""
        return any(kind.has_long_values for metric in self.metrics for kind in metric.spec.roles.values())

    @cached_property
    def has_vectors(self) -> bool:
        """Do rows have lists of numbers?"""
        return any(kind.has_vectors for metric in self.metrics for kind in metric.roles.values())

    @cached_property
    def model_roles(self) -> frozenset[str | None]:
        """The roles of the columns that metrics read of every model."""
        return frozenset(metric.spec.model_role for metric in self.metrics)

    @cached_property
    def with_notes(self) -> tuple[tuple[Metric, NotesLostWords], ...]:
        """The statistics of which a report has notes, with their metrics."""
        pairs = [(metric, statistic) for metric in self.metrics for statistic in metric.statistics()]
        return tuple((metric, own) for metric, own in pairs if isinstance(own, NotesLostWords))

    @cached_property
    def with_class_tables(self) -> tuple[Any, ...]:
        """The statistics of which a report has tables of classes."""
        return tuple(own for own in self.statistics["none"] if isinstance(own, ClassTables))

    def without_plots(self) -> Plan:
        """The plan without the statistics of plots."""
        return plan_metrics(self.metrics)

    def finalize(self, metric: Metric, states: dict[Any, Any]) -> Value:
        """The value of a metric, from the states of all statistics."""
        return metric.finalize(*(states[statistic] for statistic in metric.statistics()))


def unpickle_plan(
    metrics: tuple[Metric, ...], statistics: dict[str, tuple[Any, ...]], unsliced: tuple[Any, ...]
) -> Plan:
    """The plan that was pickled."""
    return Plan(metrics, MappingProxyType(statistics), unsliced)


def needs_columns(metric: Metric, roles: Sequence[str]) -> bool:
    """Does a metric read a column of one of these roles that it neither names nor has a default for?"""
    return any(
        role in metric.spec.roles and role not in metric.columns and metric.spec.roles[role].column is None
        for role in roles
    )


def make_plan(metrics: Metrics, model_roles: Sequence[str] = (SCORE_ROLE,)) -> Plan:
    """Parse metrics and plan them. A metric that is named twice is computed once.

    `model_roles` are those of the columns that the caller has of a model: a metric that has several forms, and names no
    columns, takes the first.
    """
    return plan_metrics(read_metrics(metrics, model_roles))


def plan_metrics(metrics: tuple[Metric, ...]) -> Plan:
    """The plan of parsed metrics: their distinct statistics, by exchange."""
    asked = tuple(map(id, metrics))
    plan = _plans.get(asked)
    if plan is None:
        plan = new_plan(metrics)
        if len(_plans) >= MOST_PLANS:
            _plans.clear()
        _plans[asked] = plan
    return plan


def new_plan(metrics: tuple[Metric, ...]) -> Plan:
    by_exchange: dict[str, dict[Any, None]] = {"none": {}, "range": {}, "hash": {}}
    for metric in metrics:
        for statistic in metric.statistics():
            by_exchange[metric.spec.exchange][statistic] = None
    return Plan(metrics, MappingProxyType({exchange: tuple(own) for exchange, own in by_exchange.items()}))
