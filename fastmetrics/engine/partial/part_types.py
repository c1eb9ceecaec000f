"""The Arrow types of columns, as far as states of different types do not merge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastmetrics._core.columns.arrow_columns import LISTS
from fastmetrics._core.kinds import LABEL_ROLE, ClassLabel, Real
from fastmetrics.engine.input.column_types import join_types, types_of_columns
from fastmetrics.engine.input.row_selection import may_be_dictionary
from fastmetrics.engine.plan.column_names import ROW_UNITS, ColumnNames, key_columns
from fastmetrics.engine.plan.metric_plan import Plan

EARLIER = "in earlier batches"


class PartTypes:
    """The types of the columns that a part of a plan reads.

    Attributes
    ----------
    columns : list of str
        Columns whose type is part of the state: first `n_class_columns` with labels of classes, which are compared by
        value.
    found : tuple of str or None
        Their Arrow types, as of the first batch; None before it.
    earlier : str
        Where the rows are that were read before, in messages.
    """

    def __init__(self, plan: Plan, names: ColumnNames) -> None:
        self.names = names
        self.models = [name for model in names.scores for name in key_columns(model)]
        are_classes = all(isinstance(plan.kinds.get(role), ClassLabel) for role in (LABEL_ROLE, names.model_role))
        self.n_class_columns = len(names.scores) + len(names.labels) if are_classes else 0
        self.n_numbers = len(self.models) if isinstance(plan.kinds.get(names.model_role), Real) else 0
        any_type = names.labels and may_be_dictionary(plan.kind(LABEL_ROLE))
        labels = names.labels if any_type else ()
        unit = () if names.unit == ROW_UNITS else key_columns(names.unit)
        keys = dict.fromkeys([*key_columns(names.group), *unit])
        self.columns = [*self.models, *labels, *keys, *names.slice_columns]
        self.found: tuple[str, ...] | None = None
        self.earlier = EARLIER

    def of_models(self) -> list[list[str]]:
        """The types of the columns of every model; those of lists are the types of their entries."""
        types = iter(self.found or ())
        return [[next(types).removeprefix(LISTS) for _ in key_columns(model)] for model in self.names.scores]

    def of_keys(self) -> dict[str, str]:
        """The types of the columns of keys and slices. A key column may be a score column too."""
        n_scores = len(self.models)
        return dict(reversed([*zip(self.columns[n_scores:], (self.found or ())[n_scores:], strict=False)]))

    def known(self) -> dict[str, str]:
        """The types of columns as of the first batch, but for labels that are compared by value."""
        labels = self.names.labels if self.n_class_columns else ()
        columns = zip(self.columns, self.found or (), strict=False)
        return {name: known for name, known in reversed([*columns]) if name not in labels}

    def check(self, schema: Any, numerals: frozenset[str]) -> None:
        """Types have to be those of the first batch: hashes and scores of different types never compare equal."""
        types = types_of_columns(schema, self.columns, self.n_class_columns, len(self.names.by), numerals)
        joined = self.join(types)
        for name, earlier, found, common in zip(self.columns, self.found or types, types, joined, strict=True):
            if common is None:
                raise TypeError(
                    f"column {name!r} has Arrow type {found}, but {earlier} {self.earlier}; cast it to one type"
                )
        self.found = tuple(map(str, joined))

    def join(self, types: Sequence[str]) -> list[str | None]:
        """The types with those of further rows; None for each that does not fit."""
        return join_types(self.found or types, types, self.n_numbers, self.n_class_columns, len(self.names.by))

    def check_mergeable(self, other: PartTypes) -> None:
        """The types of another state have to fit."""
        types = other.found or self.found or ()
        columns = zip(self.columns, self.found or types, types, self.join(types), strict=False)
        bad = [f"{name!r} is {here} here, {there} there" for name, here, there, joined in columns if joined is None]
        if bad:
            raise TypeError(f"states of different column types do not merge: {', '.join(bad)}; cast each to one type")

    def merge(self, other: PartTypes) -> None:
        """Join the types of another state, which fit."""
        if other.found is not None:
            self.found = tuple(map(str, self.join(other.found)))
