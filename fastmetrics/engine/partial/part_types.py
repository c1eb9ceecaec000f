"""The Arrow types of columns, as far as states of different types do not merge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.arrow_columns import LISTS, type_name
from fastmetrics._core.columns.key_types import TEXT, dtype_of_arrow, dtype_of_columns, parts_of
from fastmetrics._core.kinds import LABEL_ROLE, ClassLabel, Real
from fastmetrics.engine.input.column_types import join_types, types_of_columns
from fastmetrics.engine.input.row_selection import may_be_dictionary
from fastmetrics.engine.plan.column_names import ROW_UNITS, ColumnNames, Key, describe_column, key_columns
from fastmetrics.engine.plan.metric_plan import Plan

EARLIER = "in earlier batches"
LABEL_BYTES, SCORE_BYTES, WEIGHT_BYTES, HASH_BYTES = 1, 4, 8, 8  # of a stored row, at least


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
        """The types of the columns of every model; those of lists are the types of their entries.

        Before the first row of the log they are those of the scores that rows of a truth table have.
        """
        types = iter(self.found or ("double",) * len(self.models))
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


def least_row_bytes(plan: Plan, names: ColumnNames, keeps_units: bool) -> int:
    """The least bytes that the exchanges store of a row; 0 if they store no rows."""
    has_units = names.unit is not None and names.unit != names.group and keeps_units
    columns = LABEL_BYTES * len(names.labels) + SCORE_BYTES * len(names.scores)
    columns += WEIGHT_BYTES * (names.weight is not None)
    by_unit = HASH_BYTES + columns if has_units and (plan.needs("none") or plan.needs("range")) else 0
    if plan.needs("hash"):
        return by_unit + HASH_BYTES + columns + HASH_BYTES * has_units
    return by_unit or (columns if plan.needs("range") else 0)


def key_dtype(role: str, key: Key | None, type_of: Callable[[str], str]) -> np.dtype:
    """The type of the keys of a group or unit; `type_of` gives the name of a column's Arrow type."""
    if key == ROW_UNITS and role == "unit":
        return np.dtype(np.uint64)
    names = key_columns(key)
    return dtype_of_columns(names, [dtype_of_arrow(type_of(name), describe_column(role, name)) for name in names])


def truth_key_types(names: ColumnNames, schema: Any) -> dict[str, str]:
    """The types of the keys of groups in a truth table, by the columns of the log."""
    columns = zip(key_columns(names.group), key_columns(names.truth and names.truth.group), strict=True)
    return {of_log: type_name(schema.field(own).type) for of_log, own in columns}


def explain_key_types(names: ColumnNames, one: np.dtype, other: np.dtype) -> str:
    """Why the keys of a log and of a truth table never are equal."""
    here, there = (", ".join("text" if part == TEXT else str(part) for part in parts_of(own)) for own in (one, other))
    return (
        f"{describe_column('group', names.group or '')} has keys of type {here} in one table and {there} in the other, "
        "the log or truth: cast them to one type"
    )
