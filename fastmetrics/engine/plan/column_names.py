"""The roles of columns: labels, scores, group, weight, slices and resampling unit, as the caller named them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fastmetrics._core.columns.row_blocks import ScoreLabelPair
from fastmetrics.engine.plan.metric_plan import Plan, list_metric_names

ROW_UNITS = "row"  # the resampling unit if no column is named: every row by itself


class ColumnNames(NamedTuple):
    """The columns of a log, by role."""

    labels: tuple[str, ...]
    scores: tuple[str, ...]
    group: str | None = None
    weight: str | None = None
    by: tuple[str, ...] = ()
    unit: str | None = None

    def columns_with_roles(self) -> list[tuple[str, str]]:
        """Pairs of role and column. A column may have several roles."""
        pairs = [("label", name) for name in self.labels] + [("score", name) for name in self.scores]
        pairs += [(role, name) for role, name in (("group", self.group), ("weight", self.weight)) if name is not None]
        if self.unit not in (None, ROW_UNITS, self.group):
            pairs.append(("unit", self.unit))
        return pairs + [("by", name) for name in self.by]

    def distinct_columns(self) -> list[str]:
        """The columns to read, each once."""
        return list(dict.fromkeys(name for _, name in self.columns_with_roles()))

    def by_role(self) -> dict[str, str | tuple[str, ...]]:
        """Role -> column, or a tuple of columns if there are several."""
        by_role: dict[str, str | tuple[str, ...] | None] = {
            "label": self.labels, "score": self.scores, "group": self.group, "weight": self.weight, "by": self.by,
            "unit": self.unit,
        }  # fmt: skip
        return {
            role: names[0] if isinstance(names, tuple) and len(names) == 1 else names
            for role, names in by_role.items()
            if names is not None and names != ()
        }

    def score_label_pairs(self) -> list[ScoreLabelPair]:
        """Every score column with every label column."""
        return [ScoreLabelPair(label, score) for label in range(len(self.labels)) for score in range(len(self.scores))]


def describe_column(role: str, name: str) -> str:
    return f"{role} column {name!r}"


def read_column_names(
    plan: Plan,
    label: str | Sequence[str] | None,
    score: str | Sequence[str] | None,
    group: str | None,
    weight: str | None,
    by: str | Sequence[str] | None,
) -> ColumnNames:
    """Check the caller's column names. A target whose columns are not numeric has default names."""
    non_numeric = plan.targets.non_numeric
    if non_numeric is not None:
        label = non_numeric.default_label if label is None else label
        score = non_numeric.default_score if score is None else score
        if weight is not None:
            raise ValueError(
                f"metrics of {non_numeric.noun} ({list_metric_names(plan.metrics)}) have no weights of rows; leave out "
                f"weight={weight!r}"
            )
    for role, name in (("group", group), ("weight", weight)):
        if not isinstance(name, str) and name is not None:
            raise TypeError(f"{role} must be the name of a column; found {name!r}")
    slices = () if by is None else as_column_tuple("by", by)
    names = ColumnNames(as_column_tuple("label", label), as_column_tuple("score", score), group, weight, slices)
    if plan.needs("hash") and group is None:
        metric = plan.first_metric("hash")
        raise ValueError(f"metric {metric!r} is computed inside groups; say which column has their keys: group=...")
    return names


def as_column_tuple(role: str, names: str | Sequence[str] | None) -> tuple[str, ...]:
    """One column name or several as a tuple, each once."""
    if names is None:
        raise TypeError(f"{role} is missing: name the column, {role}=...")
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{role} must be the name of a column or a list of names; found {names!r}")
    if not names and role != "by":
        raise ValueError(f"{role} is an empty list: name at least one column")
    return tuple(dict.fromkeys(names))
