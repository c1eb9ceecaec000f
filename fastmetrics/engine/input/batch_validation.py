"""From record batches to validated rows: nulls, NaN, labels, weights, keys, and the policy for invalid rows.

Batches are validated one by one. Messages name a row by its number in the whole log.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.columns import group_keys as keys
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.key_columns import Keys, NumberKeys
from fastmetrics._core.columns.row_blocks import RowBlock
from fastmetrics._core.optional_imports import pyarrow
from fastmetrics._kernels.columns import column_checks as kernels
from fastmetrics.engine.input.batches import Source
from fastmetrics.engine.input.slices import SliceNumbers
from fastmetrics.engine.plan.column_names import ROW_UNITS, ColumnNames, describe_column
from fastmetrics.engine.plan.metric_plan import MetricsByTarget, Plan, list_metric_names
from fastmetrics.engine.plan.non_numeric_targets import Locate, NonNumericTarget

POLICIES = ("raise", "drop")
ZERO_WEIGHT = "zero weight"
NO_REFERENCE = "no reference"
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")
STRINGS = ("large_string", "string_view")


class ValidatedBatch(NamedTuple):
    """The valid rows of a batch.

    Attributes
    ----------
    columns : RowBlock or None
        None if no row is left.
    keys : Keys or None
        The group of every row.
    rows_read : int
        Rows of the batch before any was dropped.
    dropped : dict
        Reason -> dropped rows.
    label_kinds_seen : tuple of int
        SAW_ bits of every label column; empty if the batch had no valid row.
    minus_one_rows : tuple of int or None
        The first row of the log with label -1, for every label column.
    unit_keys : Keys or None
        The resampling unit of every row.
    """

    columns: RowBlock | None
    keys: Keys | None
    rows_read: int
    dropped: dict[str, int]
    label_kinds_seen: tuple[int, ...] = ()
    minus_one_rows: tuple[int | None, ...] = ()
    unit_keys: Keys | None = None


class BatchValidator:
    """Validates batches, in any order and by any thread. Only the numbers of slices depend on the order."""

    def __init__(self, names: ColumnNames, on_invalid: str, targets: MetricsByTarget) -> None:
        validation.check_option(on_invalid, "on_invalid", POLICIES)
        self.names = names
        self.targets = targets
        self.non_numeric = targets.non_numeric
        self.greatest_grade = targets.greatest_grade
        self.drop = on_invalid == "drop"
        self.slices = SliceNumbers(names.by)

    def validate(self, batch: Any, first_row: int) -> ValidatedBatch:
        """Validate a pyarrow RecordBatch that begins at `first_row` of the log."""
        may_be_dictionaries = ("by",) if self.non_numeric is None else ("by", "label", "score")
        arrays = {
            (role, name): decode_column(
                batch.column(batch.schema.get_field_index(name)), keep_dictionary=role in may_be_dictionaries
            )
            for role, name in self.names.columns_with_roles()
        }
        rows = batch.num_rows
        valid, dropped = self.find_valid(arrays, rows, first_row)
        if valid is not None:
            # All columns lose the same rows; the others have no nulls.
            mask = pyarrow.array(valid)
            arrays = {key: column.filter(mask) for key, column in arrays.items()}
        kept = int(rows - sum(dropped.values()))
        if kept == 0:
            return ValidatedBatch(None, None, rows, dropped)
        columns = RowBlock(
            (),
            (),
            first_row=first_row,
            names=tuple(describe_column("score", name) for name in self.names.scores),
            row_numbers=None if valid is None else np.flatnonzero(valid),
            label_names=tuple(describe_column("label", name) for name in self.names.labels),
        )
        locate = partial(log_row, first_row=first_row, valid=valid)
        if self.non_numeric is not None:
            columns, seen, minus_one_rows = self.read_non_numeric(self.non_numeric, arrays, columns, locate)
        else:
            columns, seen, minus_one_rows = self.read_numbers(arrays, columns, locate)
        if self.names.by:
            by = [arrays["by", name] for name in self.names.by]
            columns = columns._replace(slices=self.slices.number_rows(by, locate))
        group = self.names.group
        key_column: Keys | None = None
        if group is not None:
            key_column = keys.as_keys(arrays["group", group], describe_column("group", group))
        unit_keys = self.read_unit_keys(arrays, key_column, first_row, kept if valid is None else valid)
        if self.names.weight is not None:
            weights = self.read_weights(arrays["weight", self.names.weight], locate)
            present = weights > 0
            columns = columns._replace(weights=weights)
            if not present.all():
                dropped[ZERO_WEIGHT] = int(kept - np.count_nonzero(present))
                columns = select_present_rows(columns, present)
                is_group = unit_keys is key_column
                key_column = None if key_column is None else key_column.select(present)
                unit_keys = None if unit_keys is None else unit_keys.select(present)
                unit_keys = key_column if is_group else unit_keys
        if columns.rows == 0:
            return ValidatedBatch(None, None, rows, dropped, seen, minus_one_rows)
        return ValidatedBatch(columns, key_column, rows, dropped, seen, minus_one_rows, unit_keys)

    def read_unit_keys(
        self, arrays: dict[tuple[str, str], Any], group_keys: Keys | None, first_row: int, kept: int | np.ndarray
    ) -> Keys | None:
        """The keys of resampling units. Rows as units have their numbers in the log as keys."""
        unit = self.names.unit
        if unit is None or unit == self.names.group:
            return group_keys if unit is not None else None
        if unit != ROW_UNITS:
            return keys.as_keys(arrays["unit", unit], describe_column("unit", unit))
        rows = np.arange(kept, dtype=np.int64) if isinstance(kept, int) else np.flatnonzero(kept).astype(np.int64)
        return NumberKeys(rows + first_row)

    def read_non_numeric(
        self,
        target: NonNumericTarget,
        arrays: dict[tuple[str, str], Any],
        columns: RowBlock,
        locate: Locate,
    ) -> tuple[RowBlock, tuple[int, ...], tuple[int | None, ...]]:
        """Label and score columns that are not numeric; their labels have no kinds to record."""
        names = self.names

        columns = columns._replace(
            label_columns=tuple(
                target.read_label(arrays["label", name], describe_column("label", name), locate)
                for name in names.labels
            ),
            score_columns=tuple(
                target.read_score(arrays["score", name], describe_column("score", name), locate)
                for name in names.scores
            ),
        )
        return columns, (0,) * len(names.labels), (None,) * len(names.labels)

    def read_numbers(
        self, arrays: dict[tuple[str, str], Any], columns: RowBlock, locate: Locate
    ) -> tuple[RowBlock, tuple[int, ...], tuple[int | None, ...]]:
        """Label and score columns, the kinds of labels seen, and the first row with label -1."""
        names = self.names
        decoded = [self.read_labels(name, arrays["label", name], locate) for name in names.labels]
        labels, seen, minus_one_rows = (tuple(column) for column in zip(*decoded, strict=True))

        scores = tuple(
            validation.as_scores(arrays["score", name], describe_column("score", name), locate)
            for name in names.scores
        )
        eps = tuple(widened_epsilon(str(arrays["score", name].type)) for name in names.scores)
        return columns._replace(labels=labels, scores=scores, eps=eps), seen, minus_one_rows

    def find_valid(
        self, arrays: dict[tuple[str, str], Any], rows: int, first_row: int
    ) -> tuple[np.ndarray | None, dict[str, int]]:
        """The mask of rows without null and NaN (None: all rows), and counts of the others by their first reason."""
        valid: np.ndarray | None = None
        dropped: dict[str, int] = {}
        for role, name, reason, missing in self.iterate_missing(arrays):
            if not self.drop:
                row = int(np.flatnonzero(missing)[0])
                what = "no text" if reason == NO_REFERENCE else "NaN" if arrays[role, name][row].is_valid else "a null"
                title = describe_column(role, name)
                raise ValueError(
                    f"{title} has {what} at row {first_row + row}; on_invalid='drop' leaves such rows out"
                )
            valid = np.ones(rows, bool) if valid is None else valid
            dropped[reason] = dropped.get(reason, 0) + int(np.count_nonzero(missing & valid))
            valid &= ~missing
        return valid, {reason: count for reason, count in dropped.items() if count}

    def iterate_missing(self, arrays: dict[tuple[str, str], Any]) -> Iterator[tuple[str, str, str, np.ndarray]]:
        """Role, column, reason and mask of missing values."""
        for (role, name), column in arrays.items():
            missing = find_missing(column)
            if missing is not None:
                yield role, name, f"null or NaN {role}", missing
            if self.non_numeric is not None and role == "label":
                empty = self.non_numeric.find_empty_labels(column)
                if empty is not None:
                    yield role, name, NO_REFERENCE, empty

    def read_labels(self, name: str, column: Any, locate: Locate) -> tuple[np.ndarray, int, int | None]:
        """Labels as uint8 (numbers if no metric needs classes), the kinds seen, and the first row with label -1.

        Grades become float64 whatever their type: blocks of all batches, files and states are put together.
        """
        title = describe_column("label", name)
        if not self.targets.binary:
            numbers = validation.as_numbers(column, title, locate)
            if self.targets.graded:
                self.check_grades(numbers, title, locate)
            return numbers.astype(np.float64, copy=False) if self.targets.graded else numbers, 0, None
        array = validation.as_labels(column, title, locate)
        out = np.empty(array.shape[0], np.uint8)
        seen = np.zeros(2, np.int64)
        kernels.decode_labels(array, 0, array.shape[0], out, seen)

        def find(what: str) -> tuple[int, Any]:
            row, value = validation.find_label(array, what)
            return locate(row), value

        if self.targets.shares_labels:
            validation.check_common_labels(int(seen[0]), find, title, self.targets.explain_shared_labels())
        validation.check_label_kinds(int(seen[0]), find, title)
        if self.targets.graded:
            self.check_grades(out, title, locate)
        minus_one_row = find("minus one")[0] if seen[0] & kernels.SAW_MINUS_ONE else None
        return out, int(seen[0]), minus_one_row

    def check_grades(self, grades: np.ndarray, name: str, locate: Locate) -> None:
        """Check labels that are grades against the limits of the plan's metrics."""
        refusing = list_metric_names(self.targets.without_negative_grades)

        validation.check_grades(grades, name, locate, refusing, *self.greatest_grade)

    def read_weights(self, column: Any, locate: Locate) -> np.ndarray:
        name = describe_column("weight", self.names.weight or "")
        array = validation.as_floats(column, name, locate)
        array = array.astype(np.float64, copy=False)
        found = np.zeros(2, np.int64)
        kernels.check_weights(array, 0, array.shape[0], found)
        if found[0]:
            row = validation.first_bad_weight(array)
            raise ValueError(f"{name} has {array[row]} at row {locate(row)}: {validation.WEIGHTS_WANTED}")
        return array


def select_present_rows(columns: RowBlock, present: np.ndarray) -> RowBlock:
    """The rows where `present` is true. `row_numbers` keeps their positions in the batch."""
    row_numbers = np.arange(present.shape[0]) if columns.row_numbers is None else columns.row_numbers
    return columns._replace(
        labels=tuple(labels[present] for labels in columns.labels),
        scores=tuple(scores[present] for scores in columns.scores),
        label_columns=tuple(column[present] for column in columns.label_columns),
        score_columns=tuple(column[present] for column in columns.score_columns),
        weights=None if columns.weights is None else columns.weights[present],
        slices=None if columns.slices is None else columns.slices[present],
        row_numbers=row_numbers[present],
    )


def decode_column(column: Any, keep_dictionary: bool = False) -> Any:
    """A column that can be filtered: string views as strings, and dictionaries as values.

    A dictionary may hide nulls and NaN among its values.
    """
    if pyarrow.types.is_dictionary(column.type):
        may_miss = column.dictionary.null_count or pyarrow.types.is_floating(column.type.value_type)
        if keep_dictionary and not may_miss:
            return column
        return keys.decode_dictionary(column)
    return column.cast(pyarrow.large_string()) if pyarrow.types.is_string_view(column.type) else column


def widened_epsilon(type_name: str) -> float | None:
    """The machine epsilon of an Arrow type that is widened when it is read (half floats); otherwise None."""
    return float(np.finfo(np.float16).eps) if type_name == "halffloat" else None


def find_missing(column: Any) -> np.ndarray | None:
    """The mask of null and NaN values; None if there are none."""
    if pyarrow.types.is_floating(column.type):
        if not column.null_count:
            values = column.to_numpy(zero_copy_only=False)
            if values.dtype == np.float16:
                values = values.astype(np.float32)
            found = np.zeros(1, np.int64)
            kernels.any_nan(values, 0, values.shape[0], found)
            return np.isnan(values) if found[0] else None
        return np.asarray(column.is_null(nan_is_null=True))
    return np.asarray(column.is_null()) if column.null_count else None


def log_row(row: int, first_row: int, valid: np.ndarray | None) -> int:
    """The row of the log that is row `row` of the valid rows of its batch."""
    return first_row + (row if valid is None else int(np.flatnonzero(valid)[row]))


def declare_column_kinds(source: Source, plan: Plan, names: ColumnNames) -> None:
    """Let a source know which columns may come as dictionaries, and which have long texts."""
    target = plan.targets.non_numeric
    if target is None:
        source.allow_dictionaries(names.by)
        return
    columns = names.labels + names.scores
    source.expect_texts(columns if target.has_long_values else ())
    source.allow_dictionaries(names.by if target.has_long_values else names.by + columns)


def mixes_zero_and_minus_one(label_kinds: int) -> bool:
    return bool(label_kinds & kernels.SAW_MINUS_ONE and label_kinds & kernels.SAW_ZERO)


def type_name(arrow_type: Any) -> str:
    """The name of a type. A dictionary counts as the type of its values."""
    return str(arrow_type.value_type if pyarrow.types.is_dictionary(arrow_type) else arrow_type)


def stored_type(name: str) -> str:
    """The type in which a state stores values of the named type: int64 of all integers that fit, string of all text."""
    if name in INTEGERS:
        return "int64"
    return "string" if name in STRINGS else name
