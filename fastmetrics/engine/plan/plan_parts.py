"""The parts of a plan: metrics that read the same columns, and which columns these are.

A part has its own labels, scores and group. The parts of a plan share one pass over the log.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from fastmetrics._core.kinds import GROUP_ROLE, ITEM_ROLE, LABEL_ROLE, SCORE_ROLE, Kind
from fastmetrics._core.kinds import Key as KeyKind
from fastmetrics._core.registry import Metric
from fastmetrics.engine.plan.column_names import (
    KEYWORD_ROLES,
    ColumnNames,
    Key,
    as_key,
    as_model,
    check_groups,
)
from fastmetrics.engine.plan.metric_plan import Plan, describe_metrics_by_kind
from fastmetrics.engine.plan.resampling_options import Resampling, add_interval_statistics

JOINED_BY = KeyKind()  # items by which rows are joined with truth, if no metric reads them
MOST_DIVISIONS = 100  # of plans into parts that are kept for further calls


@dataclass(frozen=True, eq=False, repr=False)
class PlanPart:
    """Metrics that read the same columns, and these columns. The parts of a plan share one pass over the log."""

    plan: Plan
    names: ColumnNames

    def __reduce__(self) -> tuple[Any, ...]:
        return PlanPart, (self.plan, self.names)

    @cached_property
    def column_kinds(self) -> tuple[tuple[str, str, Kind | None], ...]:
        """Role, column, and the kind of its values: that of the metrics, None for keys, weights and slices."""
        roles = {LABEL_ROLE, self.names.model_role, *dict(self.names.others)}
        return tuple(
            (role, name, self.plan.kinds.get(role, JOINED_BY) if role in roles else None)
            for role, name in self.names.columns_with_roles
        )


def distinct_columns(parts: Iterable[PlanPart]) -> list[str]:
    """The columns to read for some parts, each once."""
    return list(dict.fromkeys(name for part in parts for name in part.names.distinct_columns))


@lru_cache(MOST_DIVISIONS)
def divide_plan(plan: Plan, names: ColumnNames, resampling: Resampling | None = None) -> tuple[PlanPart, ...]:
    """The parts of a plan. Metrics share a part if they read the same labels and scores, and at most one group.

    With `resampling`, parts read the resampling unit, and have the statistics of intervals that do not resample.
    """
    own = names if resampling is None else replace(names, unit=resampling.unit_to_read)
    check_kinds(plan, own)
    check_groups(plan, own.group)
    parts = draft_parts(plan, own)
    if resampling is not None:
        parts = [PlanPart(add_interval_statistics(part.plan, resampling), part.names) for part in parts]
    return tuple(parts)


def draft_parts(plan: Plan, names: ColumnNames) -> list[PlanPart]:
    """The parts of a plan, before it is checked that they fit each other."""
    drafts: list[tuple[ColumnNames, list[Metric]]] = []
    for metric in plan.metrics:
        own = columns_of(metric, names)
        for number, (shared, metrics) in enumerate(drafts):
            joined = join_columns(shared, own, metrics[0], metric)
            if joined is not None:
                drafts[number] = joined, [*metrics, metric]
                break
        else:
            drafts.append((own, [metric]))
    return [PlanPart(plan.of(tuple(metrics)), own) for own, metrics in drafts]


def columns_of(metric: Metric, names: ColumnNames) -> ColumnNames:
    """The columns that a metric reads: those it names itself, else those of the caller."""
    roles = metric.spec.roles
    labels = own_columns(metric, LABEL_ROLE, names, names.labels) if LABEL_ROLE in roles else ()
    truth = names.truth if LABEL_ROLE in roles and not labels else None
    model_role = metric.spec.model_role
    scores = () if model_role is None else own_models(metric, model_role, names)
    group = None
    if metric.spec.exchange == "hash":
        own_group = metric.columns.get(GROUP_ROLE)
        group = names.group if own_group is None else as_key("group", own_group)
    given = dict(names.others)
    others = []
    for role in metric.other_roles:
        (column,) = metric.columns.get(role, (given.get(role) or roles[role].column,))
        if column is None:
            keyword = f"{role}=..." if role in KEYWORD_ROLES else f'roles={{"{role}": ...}}'
            keyword += f", or --role {role}=... on the command line"
            raise ValueError(f"metric {metric!r} reads a column of role {role!r}: name it, {keyword}")
        others.append((role, column))
    if truth is not None:
        check_takes_truth(metric)
        others = [(ITEM_ROLE, given[ITEM_ROLE])]
    return replace(
        names, labels=labels, scores=scores, group=group, others=tuple(sorted(others)), predictions=(),
        probabilities=(), model_role=model_role or SCORE_ROLE, unnamed=(), truth=truth,
    )  # fmt: skip


def check_takes_truth(metric: Metric) -> None:
    """Only lists of groups can be joined with a truth table: the rows of other metrics never meet it."""
    if not all(getattr(getattr(own, "table", None), "of_truth", None) for own in metric.statistics()):
        raise ValueError(
            f"metric {metric!r} reads labels of single rows, which are not known before rows are joined with truth: "
            f"name a column of the log, such as {metric.spec.base_name}(label=...), or join the tables first"
        )


def own_models(metric: Metric, role: str, names: ColumnNames) -> tuple[Key, ...]:
    """The columns of every model. Several columns that a metric names are those of one model."""
    if role in metric.columns and metric.roles[role].has_vectors:
        return (as_model(metric.columns[role]),)
    return own_columns(metric, role, names, names.models(role))


def own_columns(metric: Metric, role: str, names: ColumnNames, named: tuple[Any, ...]) -> tuple[Any, ...]:
    """The columns of a role: those the metric names, those of the caller, or those the metric reads by default."""
    if role in metric.columns:
        return metric.columns[role]
    default = metric.spec.roles[role].column
    return (default,) if role in names.unnamed and default is not None else named


def join_columns(shared: ColumnNames, own: ColumnNames, first: Metric, metric: Metric) -> ColumnNames | None:
    """The columns of both, if a part can have them; otherwise None."""
    compared = [(names.labels, names.scores, names.model_role, names.truth) for names in (shared, own)]
    if compared[0] != compared[1]:
        return None
    if None not in (shared.group, own.group) and shared.group != own.group:
        return None
    if reads_other_order(first) != reads_other_order(metric):
        return None
    others = dict(shared.others) | dict(own.others)
    if len(others) != len({*shared.others, *own.others}):  # one role, two columns
        return None
    both = (LABEL_ROLE, own.model_role)
    kinds = [
        [None if kind is None or kind.shares_columns else kind.general() for kind in map(roles.get, both)]
        for roles in (first.roles, metric.roles)
    ]
    if kinds[0] != kinds[1] or not same_kinds(first, metric):
        return None
    return replace(own, group=shared.group or own.group, others=tuple(sorted(others.items())))


def reads_other_order(metric: Metric) -> bool:
    """Does a metric need rows in another order than that of scores? Engines that divide scores keep its rows whole."""
    return any(statistic.needs_whole_column for statistic in metric.statistics())


def same_kinds(first: Metric, metric: Metric) -> bool:
    """Do two metrics read the columns of other roles as the same kinds?"""
    common = set(first.other_roles) & set(metric.other_roles)
    return all(first.roles[role] == metric.roles[role] for role in common)


def check_kinds(plan: Plan, names: ColumnNames) -> None:
    """Texts and numbers are never in one column: metrics of both have to name their columns."""
    parts = [] if plan.is_numeric else draft_parts(plan, names)
    for number, part in enumerate(parts):
        for other in parts[:number]:
            same = (set(part.names.labels) & set(other.names.labels)) and part.names.scores == other.names.scores
            if same and part.plan.is_numeric != other.plan.is_numeric:
                *others, last = describe_metrics_by_kind(other.plan.metrics + part.plan.metrics)
                raise ValueError(
                    f"metrics {' and '.join([*others, last])} take labels and scores of different kinds; "
                    "ask for them separately, or name their columns, metric(label=..., score=...)"
                )
