"""The roles of columns: labels, scores, group, weight, slices and resampling unit, as the caller named them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from numbers import Integral
from typing import TYPE_CHECKING, Any

from fastmetrics._core.columns.row_blocks import Output
from fastmetrics._core.kinds import (
    GROUP_ROLE,
    ITEM_ROLE,
    LABEL_ROLE,
    MODEL_ROLES,
    PREDICTION_ROLE,
    PROBABILITIES_ROLE,
    SCORE_ROLE,
)
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import Metric
from fastmetrics.engine.plan.metric_plan import Plan, list_metric_names
from fastmetrics.engine.plan.native_columns import NativeColumn, is_native
from fastmetrics.engine.plan.slice_bins import SliceBins, read_bins

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ColumnName

ROW_UNITS = "row"  # the resampling unit if no column is named: every row by itself
MOST_TITLES = 256  # that are kept: every batch asks for those of its columns
# Roles with keywords of their own in the entry points. Any other role is named by `roles`.
KEYWORD_ROLES = ("item", "treatment", "propensity", "prediction", "probabilities")

Key = str | tuple[str, ...]  # the column of a group, of a resampling unit or of a model, or several columns


class TruthColumns(NamedTuple):
    """The columns of a truth table, by role. Without a label, every item that it has is relevant: its grade is 1."""

    group: Key
    item: str
    label: str | None = None


@dataclass(frozen=True, repr=False)
class ColumnNames:
    """The columns of a log, by role. `others` are pairs of any other role and its column.

    A part of a plan has one column for each model, or several columns of probabilities: its `scores` are columns of the
    role `model_role`, and it has no `predictions` and no `probabilities`. `unnamed` are label and score, where the
    caller named none and a metric has a default for them. `where` is the filter, as it was written.
    `grouping_sets` are sets of the columns `by`, if the caller named sets. `bins` are the entries of `by` that cut the
    values of a column. `truth` are the columns of a second table with the labels: those of the log are none then, and
    `others` has the items by which rows are joined.
    """

    labels: tuple[str, ...]
    scores: tuple[Any, ...]  # a Key for each model
    group: Key | None = None
    weight: str | None = None
    by: tuple[str, ...] = ()
    unit: Key | None = None
    others: tuple[tuple[str, str], ...] = ()
    predictions: tuple[str, ...] = ()
    model_role: str = SCORE_ROLE
    unnamed: tuple[str, ...] = ()
    probabilities: tuple[Key, ...] = ()
    where: str | None = None
    grouping_sets: tuple[tuple[str, ...], ...] = ()
    bins: tuple[SliceBins, ...] = ()
    truth: TruthColumns | None = None

    def models(self, role: str) -> tuple[Key, ...]:
        """The columns that the caller named for a role of models."""
        by_role = {PREDICTION_ROLE: self.predictions, PROBABILITIES_ROLE: self.probabilities}
        return by_role.get(role, self.scores)

    @cached_property
    def columns_with_roles(self) -> tuple[tuple[str, str], ...]:
        """Pairs of role and column. A column may have several roles."""
        pairs = [("label", name) for name in self.labels]
        pairs += [(self.model_role, name) for model in self.scores for name in key_columns(model)]
        pairs += [(PREDICTION_ROLE, name) for name in self.predictions]
        pairs += [(PROBABILITIES_ROLE, name) for model in self.probabilities for name in key_columns(model)]
        pairs += self.others
        pairs += [("group", name) for name in key_columns(self.group)]
        if self.weight is not None:
            pairs.append(("weight", self.weight))
        if self.unit not in (ROW_UNITS, self.group):
            pairs += [("unit", name) for name in key_columns(self.unit)]
        return *pairs, *(("by", name) for name in self.slice_columns)

    @cached_property
    def slice_columns(self) -> list[str]:
        """The column of every entry of `by`: that of its values, if they are cut."""
        cut = {own.title: own.column for own in self.bins}
        return [cut.get(name, name) for name in self.by]

    @property
    def slice_sets(self) -> tuple[tuple[str, ...], ...]:
        """The grouping sets: a list of columns is one."""
        return self.grouping_sets or ((self.by,) if self.by else ())

    @cached_property
    def distinct_columns(self) -> list[str]:
        """The columns to read, each once."""
        filters = [] if self.where is None else [filter_column(self.where)]
        return list(dict.fromkeys([*(name for _, name in self.columns_with_roles), *filters]))

    def by_role(self) -> dict[str, str | tuple[str, ...]]:
        """Role -> column, or a tuple of columns if there are several."""
        by_role: dict[str, Any] = {
            "label": self.labels, "score": self.scores, "prediction": self.predictions,
            "probabilities": tuple(map(format_key, self.probabilities)), "group": self.group, "weight": self.weight,
            "by": self.grouping_sets or self.by, "unit": self.unit, **dict(self.others), "where": self.where,
            "truth label": self.truth and self.truth.label,
        }  # fmt: skip
        return {
            role: names[0] if isinstance(names, tuple) and len(names) == 1 and isinstance(names[0], str) else names
            for role, names in by_role.items()
            if names is not None and names != ()
        }

    def outputs(self) -> list[Output]:
        """Every score column with every label column; one output if there are none, for the other columns."""
        n_labels, n_scores = max(1, len(self.labels)), max(1, len(self.scores))
        return [Output(label, score) for label in range(n_labels) for score in range(n_scores)]

    def label_of(self, output: Output) -> str:
        """The label column of an output; empty if its metrics read no labels."""
        if self.truth is not None:
            return self.truth.label or ""
        return self.labels[output.label] if self.labels else ""

    def score_of(self, output: Output) -> str:
        """The score column of a pair, or its columns of probabilities; empty if its metrics read no scores."""
        return format_key(self.scores[output.score]) if self.scores else ""


LOG_COLUMN = "\0log"  # the number of the log that a row is in, where two are compared: the name of no stored column


def filter_column(where: str) -> str:
    """The name of the boolean column of a filter, which is that of no stored column."""
    return f"\0where {where}"


@lru_cache(MOST_TITLES)
def describe_column(role: str, name: Key) -> str:
    names = key_columns(name)
    return f"{role} column{'s' * (len(names) > 1)} {', '.join(map(repr, names))}"


def key_columns(key: Key | None) -> tuple[str, ...]:
    """The columns of a key."""
    if key is None:
        return ()
    return (key,) if isinstance(key, str) else key


def format_key(key: Key) -> str:
    """A key as signatures and sentences name it."""
    return ", ".join(key_columns(key))


def as_key(role: str, names: ColumnName | Sequence[ColumnName] | None) -> Key | None:
    """The caller's column of a key; several columns are a tuple."""
    if names is None:
        return None
    columns = as_column_tuple(role, names)
    return columns[0] if len(columns) == 1 else columns


def read_column_names(
    plan: Plan,
    label: ColumnName | Sequence[ColumnName] | None,
    score: ColumnName | Sequence[ColumnName] | None,
    group: ColumnName | Sequence[ColumnName] | None,
    weight: ColumnName | None,
    by: ColumnName | Sequence[ColumnName] | Sequence[Sequence[ColumnName]] | None,
    roles: Mapping[str, Any] | None = None,
    truth: Mapping[str, Any] | None = None,
) -> ColumnNames:
    """Check the caller's column names. They need not have all that metrics read: `divide_plan` tells.

    `truth` are the columns of the truth table, from which the labels come if no column of the log is named.
    """
    if weight is not None and plan.without_weights:
        without = plan.without_weights
        noun = next(iter(without[0].spec.roles.values())).noun
        raise ValueError(
            f"metrics of {noun} ({list_metric_names(without)}) have no weights of rows; leave out weight={weight!r}"
        )
    weight = with_text_names(weight)
    if not isinstance(weight, str) and weight is not None:
        raise TypeError(f"weight must be the name of a column; found {weight!r}")
    key = as_key("group", group)
    labels = None if label is None else as_column_tuple("label", label)
    scores = None if score is None else as_column_tuple("score", score)
    roles = dict(roles or {})
    prediction = roles.pop(PREDICTION_ROLE, None) if PREDICTION_ROLE in plan.model_roles else None
    predictions = None if prediction is None else as_column_tuple(PREDICTION_ROLE, prediction)
    named = roles.pop(PROBABILITIES_ROLE, None) if PROBABILITIES_ROLE in plan.model_roles else None
    probabilities = () if named is None else as_models(named)
    # Defaults first: columns are missing only if no metric has a name for them.
    own_truth = None if truth is None or labels else read_truth_columns(truth, key, roles.get(ITEM_ROLE))
    for metric in plan.with_defaults_first:
        if own_truth is None:
            labels = labels or default_columns(metric, LABEL_ROLE)
        if metric.spec.model_role == PREDICTION_ROLE:
            predictions = predictions or default_columns(metric, PREDICTION_ROLE)
        elif metric.spec.model_role == PROBABILITIES_ROLE:
            probabilities = probabilities or default_columns(metric, PROBABILITIES_ROLE)
        else:
            scores = scores or default_columns(metric, SCORE_ROLE)
    if plan.is_numeric:  # else kinds that do not fit each other are the first error
        check_groups(plan, key)
    slices, grouping_sets = read_slice_columns(by)
    others = tuple(sorted(read_roles(plan, roles, () if truth is None else (ITEM_ROLE,)).items()))
    unnamed = tuple(role for role, named in ((LABEL_ROLE, label), (SCORE_ROLE, score)) if named is None)
    return ColumnNames(
        labels or (), scores or (), key, weight, slices, None, others, predictions or (), unnamed=unnamed,
        probabilities=probabilities, grouping_sets=grouping_sets,
        bins=tuple(own for own in map(read_bins, slices) if own is not None), truth=own_truth,
    )  # fmt: skip


def read_truth_columns(truth: Mapping[str, Any], group: Key | None, item: Any) -> TruthColumns:
    """The columns of the truth table. Those of groups and items have the names of the log's if none is given."""
    if group is None or item is None:
        missing = "group" if group is None else "item"
        raise ValueError(f"truth is joined with the log by group and item: name the column of the log, {missing}=...")
    own = as_key(GROUP_ROLE, truth.get(GROUP_ROLE)) or group
    if len(key_columns(own)) != len(key_columns(group)):
        raise ValueError(
            f"the groups of truth have {len(key_columns(own))} columns, and those of the log {len(key_columns(group))}"
        )
    return TruthColumns(own, truth.get(ITEM_ROLE) or with_text_names(item), truth.get(LABEL_ROLE))


def read_slice_columns(by: Any) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The columns of slices, and the grouping sets if `by` is a list of lists. The empty set is the whole."""
    if by is None:
        return (), ()
    items = list(by) if isinstance(by, (list, tuple)) else []
    if not any(isinstance(own, (list, tuple)) for own in items):
        return as_column_tuple("by", by), ()
    if not all(isinstance(own, (list, tuple)) for own in items):
        raise TypeError(f"by must be a list of columns, or a list of lists, one for each grouping set; found {by!r}")
    sets = [as_column_tuple("by", list(own)) for own in items if own]
    # Sets of the same columns are one set, whatever the order of the columns.
    distinct = {frozenset(own): own for own in reversed(sets)}
    columns = tuple(dict.fromkeys(name for own in sets for name in own))
    return columns, tuple(own for own in sets if distinct.pop(frozenset(own), None) is not None)


def check_groups(plan: Plan, group: Key | None) -> None:
    """Metrics of groups need the column of their keys."""
    for metric in plan.metrics if group is None else ():
        if metric.spec.exchange == "hash" and GROUP_ROLE not in metric.columns:
            raise ValueError(
                f"metric {metric!r} is computed inside groups; say which column has their keys: group=..."
            )


def default_columns(metric: Metric, role: str) -> tuple[str, ...]:
    """The columns of a role that the caller did not name, for a metric that reads it; empty if it does not."""
    kind = metric.spec.roles.get(role)
    if kind is None or role in metric.columns:
        return ()
    return as_column_tuple(role, kind.column)


def join_roles(keywords: Mapping[str, Any], roles: Mapping[str, ColumnName] | None) -> dict[str, Any]:
    """The columns of roles that have keywords, and those of `roles`. A role is named once."""
    if roles is None:
        return dict(keywords)
    if not isinstance(roles, Mapping):
        raise TypeError(f"roles must be a dict of role and column; found {roles!r}")
    for role, name in roles.items():
        if keywords.get(role) not in (None, name):
            raise ValueError(f"role {role!r} is named twice: {role}={keywords[role]!r} and {name!r} in roles")
    return {**keywords, **roles}


def read_roles(plan: Plan, roles: Mapping[str, Any], joined: Sequence[str] = ()) -> dict[str, str]:
    """Check the columns of other roles: each has to be one that some metric reads, or is `joined` by."""
    found = {}
    for role, name in roles.items():
        if name is None:
            continue
        readers = [metric for metric in plan.metrics if role in metric.spec.roles]
        if not readers and role not in joined:
            wanted = sorted({own for metric in plan.metrics for own in metric.other_roles})
            known = f"they read {', '.join(wanted)}" if wanted else "they read no other roles"
            raise ValueError(f"no metric asked for reads a column of role {role!r} ({role}={name!r}): {known}")
        name = with_text_names(name)
        if not isinstance(name, str):
            raise TypeError(f"{role} must be the name of a column; found {name!r}")
        found[role] = name
    return found


def named_model_roles(
    score: Any, prediction: Any, probabilities: Any, roles: Mapping[str, Any] | None = None
) -> tuple[str, ...]:
    """The roles of the columns that the caller has of a model: metrics that have several forms take the first.

    The caller may name predictions and probabilities among other `roles` too.
    """
    columns = dict(zip(MODEL_ROLES, (score, prediction, probabilities), strict=True))
    others = roles if isinstance(roles, Mapping) else {}
    named = [role for role, column in columns.items() if column is not None or others.get(role) is not None]
    return tuple(named) or (SCORE_ROLE,)


def as_models(probabilities: Any) -> tuple[Key, ...]:
    """The columns of probabilities of every model: one column of lists, or several columns.

    A name is a column of lists; a list of names are the columns of one model; a list of such lists has several models.
    """
    probabilities = with_text_names(probabilities)
    if isinstance(probabilities, str) or not isinstance(probabilities, (list, tuple)):
        return as_column_tuple(PROBABILITIES_ROLE, probabilities)
    if not probabilities or isinstance(probabilities[0], str):
        probabilities = [probabilities]
    return tuple(dict.fromkeys(as_model(columns) for columns in probabilities))


def as_model(columns: Any) -> Key:
    """The columns of probabilities of one model, in the order of the classes."""
    columns = with_text_names(columns)
    names = as_column_tuple(PROBABILITIES_ROLE, columns)
    if not isinstance(columns, str) and len(names) < len(columns):
        raise ValueError(f"probabilities must be different columns, one for each class; found {columns!r}")
    return names[0] if len(names) == 1 else names


def with_text_names(names: Any) -> Any:
    """Names of columns, with integers as text: pandas numbers columns that have no name. So are expressions."""
    if is_native(names):
        return NativeColumn(names)
    if isinstance(names, Integral):
        return names if isinstance(names, bool) else str(int(names))  # type: ignore[unreachable]
    return list(map(with_text_names, names)) if isinstance(names, (list, tuple)) else names


def as_column_tuple(role: str, names: ColumnName | Sequence[ColumnName] | None) -> tuple[str, ...]:
    """One column name or several as a tuple, each once."""
    if names is None:
        raise TypeError(f"{role} is missing: name the column, {role}=...")
    names = with_text_names(names)
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{role} must be the name of a column or a list of names; found {names!r}")
    if not names and role != "by":
        raise ValueError(f"{role} is an empty list: name at least one column")
    return tuple(dict.fromkeys(names))
