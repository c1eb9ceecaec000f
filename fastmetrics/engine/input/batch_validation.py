"""From record batches to validated rows: nulls, NaN, labels, weights, keys, and the policy for invalid rows.

Batches are validated one by one. Messages name a row by its number in the whole log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, cast

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.group_keys import decode_dictionary, keys_of_columns
from fastmetrics._core.columns.key_columns import Keys, NumberKeys
from fastmetrics._core.columns.role_columns import Locate, find_empty_values, read_classes, read_column, read_numbers
from fastmetrics._core.columns.row_blocks import RowBlock
from fastmetrics._core.columns.text_columns import is_list
from fastmetrics._core.columns.vector_columns import (
    entry_type,
    format_labels,
    propose_labels,
    read_class_numbers,
    read_matrix,
    widened_epsilon,
)
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.kinds import LABEL_ROLE, MODEL_ROLES, Binary, ClassNumber, Kind, Vector
from fastmetrics._core.optional_imports import pyarrow
from fastmetrics._core.tables.key_texts import KeyTexts
from fastmetrics._kernels.columns import column_checks as kernels
from fastmetrics.engine.input.batches import Source
from fastmetrics.engine.input.slices import SliceNumbers
from fastmetrics.engine.plan.column_names import (
    ROW_UNITS,
    ColumnNames,
    Key,
    describe_column,
    format_key,
    key_columns,
)
from fastmetrics.engine.plan.metric_plan import Plan, list_metric_names
from fastmetrics.engine.plan.plan_parts import PlanPart

POLICIES = ("raise", "drop")
ZERO_WEIGHT = "zero weight"
NO_REFERENCE = "no reference"
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")
STRINGS = ("large_string", "string_view")


class SelectedBatch(NamedTuple):
    """The rows of a batch that have every value which any part of a plan reads.

    Attributes
    ----------
    columns : dict
        pyarrow arrays without the other rows, by name; dictionaries that may stay dictionaries are under (name, True).
    rows_read : int
        Rows of the batch before any was dropped.
    dropped : dict
        Reason -> dropped rows.
    first_row : int
        The number of the batch's first row in the log.
    valid : ndarray or None
        The mask of the rows that were kept; None if all were.
    slices, weights, present : ndarray or None
        The slice and the weight of every row; the mask of rows with a weight above zero, None if all have one.
    """

    columns: dict[tuple[str, bool], Any]
    rows_read: int
    dropped: dict[str, int]
    first_row: int
    valid: np.ndarray | None = None
    slices: np.ndarray | None = None
    weights: np.ndarray | None = None
    present: np.ndarray | None = None

    @property
    def kept(self) -> int:
        """Rows without a null or NaN; rows of weight zero are among them."""
        dropped = sum(count for reason, count in self.dropped.items() if reason != ZERO_WEIGHT)
        return self.rows_read - dropped

    def locate(self, row: int) -> int:
        """The row of the log that is row `row` of the kept rows."""
        return log_row(row, self.first_row, self.valid)


class RowSelector:
    """Selects the rows of batches that have all values, numbers their slices and reads their weights.

    A row without one of the values is left out of all metrics, also of those that do not read that column.
    """

    def __init__(self, parts: Sequence[PlanPart], on_invalid: str, slices: SliceNumbers | None = None) -> None:
        validation.check_option(on_invalid, "on_invalid", POLICIES)
        self.drop = on_invalid == "drop"
        self.by = parts[0].names.by
        self.weight = parts[0].names.weight
        self.slices = SliceNumbers(self.by) if slices is None else slices
        # Role, column, and the kind that tells which values hold nothing; in the order of the messages.
        columns: dict[tuple[str, str], Kind | None] = {}
        # Name, and whether a dictionary may stay one.
        self.arrays: dict[tuple[str, bool], None] = {}
        for plan, names in parts:
            roles = {LABEL_ROLE, names.model_role, *dict(names.others)}
            for role, name in names.columns_with_roles():
                kind = plan.kind(role) if role in roles else None
                columns.setdefault((role, name), kind)
                self.arrays[name, role == "by" or (kind is not None and may_be_dictionary(kind))] = None
        self.columns = dict(sorted(columns.items(), key=lambda item: ROLE_ORDER.get(item[0][0], OTHER_ROLES)))

    def select(self, batch: Any, first_row: int) -> SelectedBatch:
        """The rows of a pyarrow RecordBatch that begins at `first_row` of the log."""
        arrays = {
            (name, keep): decode_column(batch.column(batch.schema.get_field_index(name)), keep_dictionary=keep)
            for name, keep in self.arrays
        }
        valid, dropped = self.find_valid(arrays, batch.num_rows, first_row)
        if valid is not None:
            mask = pyarrow.array(valid)
            arrays = {key: column.filter(mask) for key, column in arrays.items()}
        rows = SelectedBatch(arrays, batch.num_rows, dropped, first_row, valid)
        if rows.kept == 0:
            return rows
        if self.by:
            by = [arrays[name, True] for name in self.by]
            rows = rows._replace(slices=self.slices.number_rows(by, rows.locate))
        return rows if self.weight is None else self.weigh(rows)

    def weigh(self, rows: SelectedBatch) -> SelectedBatch:
        """The rows with their weights. Rows of weight zero are counted as dropped."""
        weights = self.read_weights(rows)
        present = weights > 0
        if present.all():
            return rows._replace(weights=weights)
        dropped = rows.dropped | {ZERO_WEIGHT: int(rows.kept - np.count_nonzero(present))}
        return rows._replace(weights=weights, present=present, dropped=dropped)

    def find_valid(
        self, arrays: dict[tuple[str, bool], Any], rows: int, first_row: int
    ) -> tuple[np.ndarray | None, dict[str, int]]:
        """The mask of rows without null and NaN (None: all rows), and counts of the others by their first reason."""
        valid: np.ndarray | None = None
        dropped: dict[str, int] = {}
        for role, name, reason, missing in self.iterate_missing(arrays):
            if not self.drop:
                row = int(np.flatnonzero(missing)[0])
                column = array_of(arrays, name)
                what = "no text" if reason == NO_REFERENCE else describe_missing(column[row])
                title = describe_column(role, name)
                raise ValueError(
                    f"{title} has {what} at row {first_row + row}; on_invalid='drop' leaves such rows out"
                )
            valid = np.ones(rows, bool) if valid is None else valid
            dropped[reason] = dropped.get(reason, 0) + int(np.count_nonzero(missing & valid))
            valid &= ~missing
        return valid, {reason: count for reason, count in dropped.items() if count}

    def iterate_missing(self, arrays: dict[tuple[str, bool], Any]) -> Iterator[tuple[str, str, str, np.ndarray]]:
        """Role, column, reason and mask of missing values."""
        for (role, name), kind in self.columns.items():
            column = array_of(arrays, name)
            missing = find_missing(column)
            if missing is not None:
                yield role, name, f"null or NaN {role}", missing
            empty = None if kind is None else find_empty_values(kind, column)
            if kind is not None and empty is not None:
                yield role, name, f"null or NaN {role}" if kind.takes_lists else NO_REFERENCE, empty

    def read_weights(self, rows: SelectedBatch) -> np.ndarray:
        name = describe_column("weight", self.weight or "")
        array = validation.as_floats(rows.columns[self.weight or "", False], name, rows.locate)
        array = array.astype(np.float64, copy=False)
        found = np.zeros(2, np.int64)
        kernels.check_weights(array, 0, array.shape[0], found)
        if found[0]:
            row = validation.first_bad_weight(array)
            raise ValueError(f"{name} has {array[row]} at row {rows.locate(row)}: {validation.WEIGHTS_WANTED}")
        return array


def describe_missing(value: Any) -> str:
    """A missing value in messages: a pyarrow scalar that is null or NaN, or a list that has such a value."""
    if not value.is_valid:
        return "a null"
    return "a null or NaN in its list" if pyarrow.types.is_nested(value.type) else "NaN"


def array_of(arrays: dict[tuple[str, bool], Any], name: str) -> Any:
    """The array of a column, which may be a dictionary."""
    return arrays[name, (name, True) in arrays]


# Messages name the first bad column in this order of roles; other roles come after scores.
ROLE_ORDER = {"label": 0, **dict.fromkeys(MODEL_ROLES, 1), "group": 3, "weight": 4, "unit": 5, "by": 6}
OTHER_ROLES = 2


class ValidatedBatch(NamedTuple):
    """The valid rows of a batch, with the columns of one part of a plan.

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
        SAW_ bits of every label column and of every other column of two classes; empty without a valid row.
    minus_one_rows : tuple of int or None
        The first row of the log with label -1, for every such column.
    unit_keys : Keys or None
        The resampling unit of every row.
    n_classes : int or None
        How many probabilities every row has, if metrics read probabilities of classes.
    """

    columns: RowBlock | None
    keys: Keys | None
    rows_read: int
    dropped: dict[str, int]
    label_kinds_seen: tuple[int, ...] = ()
    minus_one_rows: tuple[int | None, ...] = ()
    unit_keys: Keys | None = None
    n_classes: int | None = None


class ColumnReader:
    """Reads and checks the columns of one part of a plan, in any order and by any thread."""

    def __init__(self, plan: Plan, names: ColumnNames, budget: MemoryBudget | None = None) -> None:
        self.plan = plan
        self.names = names
        self.key_texts = KeyTexts(plan.key_roles(), plan.takes_text_keys, budget)
        self.label_kinds = plan.label_kinds
        self.greatest_grade = self.label_kinds.greatest_grade
        roles = {role for metric in plan.metrics for role in metric.roles}
        self.label_kind = plan.kind(LABEL_ROLE) if LABEL_ROLE in roles else None
        self.model_kind = plan.kind(names.model_role) if names.model_role in roles else None

    def read(self, rows: SelectedBatch) -> ValidatedBatch:
        """The columns of selected rows."""
        if rows.kept == 0:
            return ValidatedBatch(None, None, rows.rows_read, rows.dropped)
        names, valid = self.names, rows.valid
        columns = RowBlock(
            (),
            (),
            first_row=rows.first_row,
            names=tuple(describe_column(names.model_role, name) for name in names.scores),
            row_numbers=None if valid is None else np.flatnonzero(valid),
            label_names=tuple(describe_column("label", name) for name in names.labels),
        )
        if self.plan.is_numeric:
            columns, seen, minus_one_rows = self.read_numbers(rows, columns)
        else:
            columns, seen, minus_one_rows = self.read_non_numeric(rows, columns)
        models: Sequence[Any] = columns.scores or columns.score_columns
        n_classes = models[0].shape[1] if isinstance(self.model_kind, Vector) else None
        columns = columns._replace(slices=rows.slices, weights=rows.weights)
        key_column = None if names.group is None else read_keys(rows, "group", names.group)
        unit_keys = self.read_unit_keys(rows, key_column)
        if rows.present is not None:
            columns = select_present_rows(columns, rows.present)
            is_group = unit_keys is key_column
            key_column = None if key_column is None else key_column.select(rows.present)
            unit_keys = None if unit_keys is None else unit_keys.select(rows.present)
            unit_keys = key_column if is_group else unit_keys
        batch = ValidatedBatch(None, None, rows.rows_read, rows.dropped, seen, minus_one_rows, n_classes=n_classes)
        return batch if columns.rows == 0 else batch._replace(columns=columns, keys=key_column, unit_keys=unit_keys)

    def read_unit_keys(self, rows: SelectedBatch, group_keys: Keys | None) -> Keys | None:
        """The keys of resampling units. Rows as units have their numbers in the log as keys."""
        unit = self.names.unit
        if unit is None or unit == self.names.group:
            return group_keys if unit is not None else None
        if unit != ROW_UNITS:
            return read_keys(rows, "unit", unit)
        numbers = np.arange(rows.kept) if rows.valid is None else np.flatnonzero(rows.valid)
        return NumberKeys(numbers.astype(np.int64, copy=False) + rows.first_row)

    def read_non_numeric(
        self, rows: SelectedBatch, columns: RowBlock
    ) -> tuple[RowBlock, tuple[int, ...], tuple[int | None, ...]]:
        """Label and score columns that are not numeric; their labels have no kinds to record."""
        names = self.names

        def read(role: str, name: str) -> Any:
            kind = self.plan.kind(role)
            column = rows.columns[name, may_be_dictionary(kind)]
            return read_column(kind, column, describe_column(role, name), rows.locate)

        columns = columns._replace(
            label_columns=tuple(read(LABEL_ROLE, name) for name in names.labels),
            score_columns=tuple(read(names.model_role, name) for name in names.scores),
        )
        return columns, (0,) * len(names.labels), (None,) * len(names.labels)

    def read_numbers(
        self, rows: SelectedBatch, columns: RowBlock
    ) -> tuple[RowBlock, tuple[int, ...], tuple[int | None, ...]]:
        """Label and score columns, the kinds of labels seen, and the first row with label -1."""
        names = self.names
        classes: list[tuple[np.ndarray, int, int | None]]
        if isinstance(self.label_kind, ClassNumber):
            # How many classes there are is known by the probabilities.
            scores = self.read_models(rows)
            classes = [(self.read_class_numbers(name, rows, scores), 0, None) for name in names.labels]
        else:
            classes = [self.read_labels(name, rows.columns[name, False], rows.locate) for name in names.labels]
            scores = self.read_models(rows)
        labels = tuple(column for column, _, _ in classes)
        eps = tuple(
            widened_epsilon([str(entry_type(rows.columns[name, False].type)) for name in key_columns(model)])
            for model in names.scores
        )
        others = {}
        for role, name in names.others:
            kind = self.plan.kind(role)
            column = rows.columns[name, False]
            if isinstance(kind, Binary):
                classes.append(read_classes(column, describe_column(role, name), rows.locate))
                others[role] = classes[-1][0]
            elif role in self.key_texts.roles:
                others[role] = self.key_texts.read(column, describe_column(role, name), rows.locate)
            else:
                others[role] = read_numbers(kind, column, describe_column(role, name), rows.locate)
        seen, minus_one_rows = tuple(kinds for _, kinds, _ in classes), tuple(row for _, _, row in classes)
        return columns._replace(labels=labels, scores=scores, eps=eps, others=others), seen, minus_one_rows

    def read_models(self, rows: SelectedBatch) -> tuple[np.ndarray, ...]:
        """The scores of every model, or its probabilities as a matrix."""
        names, kind = self.names, self.model_kind
        if not isinstance(kind, Vector):
            return tuple(
                validation.as_scores(rows.columns[name, False], describe_column("score", name), rows.locate)
                for name in names.scores
            )
        matrices = []
        for model in names.scores:
            columns = [rows.columns[name, False] for name in key_columns(model)]
            each = [describe_column(names.model_role, name) for name in key_columns(model)]
            title = describe_column(names.model_role, model)
            matrix = read_matrix(kind, columns, each, title, rows.locate)
            self.check_length(matrix.shape[1], title, rows.locate)
            matrices.append(matrix)
        lengths = {format_key(own): matrix.shape[1] for own, matrix in zip(names.scores, matrices, strict=True)}
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"{own!r}: {length}" for own, length in lengths.items())
            raise ValueError(f"models have {names.model_role} of different numbers of classes: {found}")
        return tuple(matrices)

    def check_length(self, length: int, title: str, locate: Locate) -> None:
        """There are as many probabilities as the metrics name classes."""
        labels = self.label_kind.labels if isinstance(self.label_kind, ClassNumber) else None
        if labels is not None and len(labels) != length:
            raise ValueError(
                f"there are {length} probabilities at row {locate(0)} of {title}, but labels={format_labels(labels)} "
                f"names {len(labels)} classes"
            )

    def read_class_numbers(self, name: str, rows: SelectedBatch, scores: tuple[np.ndarray, ...]) -> np.ndarray:
        """The number of the class of every row."""
        kind = cast("ClassNumber", self.label_kind)
        model, n_classes = self.names.scores[0], scores[0].shape[1]

        def advise(column: Any) -> str:
            labels = propose_labels(column, key_columns(model), n_classes)
            metric = self.plan.metrics[0].spec.base_name
            return f"name the labels in the order of the probabilities, {metric}(labels={labels})"

        column = rows.columns[name, True]
        return read_class_numbers(
            column, kind.labels, n_classes, describe_column("label", name), rows.locate, advise
        )

    def read_labels(self, name: str, column: Any, locate: Locate) -> tuple[np.ndarray, int, int | None]:
        """Labels as uint8 (numbers if no metric needs classes), the kinds seen, and the first row with label -1.

        Grades become float64 whatever their type: blocks of all batches, files and states are put together.
        """
        title = describe_column("label", name)
        kinds = self.label_kinds
        if not kinds.binary:
            numbers = validation.as_numbers(column, title, locate)
            if not self.plan.keeps_rows:
                return numbers, 0, None
            if kinds.graded:
                self.check_grades(numbers, title, locate)
            return numbers.astype(np.float64, copy=False), 0, None
        explanation = kinds.explain_shared_labels() if kinds.shares_labels else None
        out, seen, minus_one_row = read_classes(column, title, locate, explanation)
        if kinds.graded:
            self.check_grades(out, title, locate)
        return out, seen, minus_one_row

    def check_grades(self, grades: np.ndarray, name: str, locate: Locate) -> None:
        """Check labels that are grades against the limits of the plan's metrics."""
        refusing = list_metric_names(self.label_kinds.without_negative_grades)

        validation.check_grades(grades, name, locate, refusing, *self.greatest_grade)


def read_keys(rows: SelectedBatch, role: str, key: Key) -> Keys:
    """The keys of all rows, of one column or of several."""
    return keys_of_columns([(name, rows.columns[name, False]) for name in key_columns(key)], role)


def select_present_rows(columns: RowBlock, present: np.ndarray) -> RowBlock:
    """The rows where `present` is true. `row_numbers` keeps their positions in the batch."""
    row_numbers = np.arange(present.shape[0]) if columns.row_numbers is None else columns.row_numbers
    return columns.move(itemgetter(present))._replace(row_numbers=row_numbers[present])


def decode_column(column: Any, keep_dictionary: bool = False) -> Any:
    """A column that can be filtered: string views as strings, and dictionaries as values.

    A dictionary may hide nulls and NaN among its values.
    """
    if pyarrow.types.is_dictionary(column.type):
        may_miss = column.dictionary.null_count or pyarrow.types.is_floating(column.type.value_type)
        if keep_dictionary and not may_miss:
            return column
        return decode_dictionary(column)
    if is_list(column.type) and pyarrow.types.is_string_view(column.type.value_type):
        return column.cast(pyarrow.large_list(pyarrow.large_string()))
    return column.cast(pyarrow.large_string()) if pyarrow.types.is_string_view(column.type) else column


def find_missing(column: Any) -> np.ndarray | None:
    """The mask of null and NaN values; None if there are none."""
    if pyarrow.types.is_floating(column.type):
        if not column.null_count:
            values = column.to_numpy(zero_copy_only=False)
            if values.dtype == np.float16:
                values = values.astype(np.float32)
            found = np.zeros(1, np.int64)
            kernels.any_nan(values, 0, values.shape[0], found)
            missing = np.isnan(values) if found[0] else None
            # Another thread may have changed the caller's array meanwhile.
            return None if missing is None or not missing.any() else missing
        return np.asarray(column.is_null(nan_is_null=True))
    return np.asarray(column.is_null()) if column.null_count else None


def log_row(row: int, first_row: int, valid: np.ndarray | None) -> int:
    """The row of the log that is row `row` of the valid rows of its batch."""
    return first_row + (row if valid is None else int(np.flatnonzero(valid)[row]))


def may_be_dictionary(kind: Kind) -> bool:
    """May a column of this kind be read as a dictionary? Labels of any type may."""
    return isinstance(kind, ClassNumber) or (not kind.is_numeric and not kind.has_long_values)


def declare_column_kinds(source: Source, parts: Sequence[PlanPart]) -> None:
    """Let a source know which columns may come as dictionaries, and which have long texts."""
    kinds = [
        (name, plan.kind(role))
        for plan, names in parts
        for role, name in names.columns_with_roles()
        if role in (LABEL_ROLE, names.model_role, *dict(names.others))
    ]
    source.expect_texts([name for name, kind in kinds if kind.has_long_values])
    lists = [(name, kind) for name, kind in kinds if kind.takes_lists]
    source.expect_lists([name for name, _ in lists], any(kind.has_vectors for _, kind in lists))
    source.allow_dictionaries([*parts[0].names.by, *(name for name, kind in kinds if may_be_dictionary(kind))])


def mixes_zero_and_minus_one(label_kinds: int) -> bool:
    return bool(label_kinds & kernels.SAW_MINUS_ONE and label_kinds & kernels.SAW_ZERO)


LISTS = "list of "  # begins the names of types of lists, whatever their layout
NO_ITEMS = f"{LISTS}null"  # the type if all lists are empty


def type_name(arrow_type: Any) -> str:
    """The name of a type. A dictionary counts as the type of its values."""
    if is_list(arrow_type):
        return LISTS + type_name(arrow_type.value_type)
    return str(arrow_type.value_type if pyarrow.types.is_dictionary(arrow_type) else arrow_type)


def stored_type(name: str) -> str:
    """The type in which a state stores values of the named type: int64 of all integers that fit, string of all text."""
    if name.startswith(LISTS):
        return LISTS + stored_type(name.removeprefix(LISTS))
    if name in INTEGERS:
        return "int64"
    return "string" if name in STRINGS else name


def types_fit(first: str, second: str) -> bool:
    """Do values of both types fit into one state?"""
    first, second = stored_type(first), stored_type(second)
    return first == second or (NO_ITEMS in (first, second) and first.startswith(LISTS) and second.startswith(LISTS))
