"""Which rows of a batch are evaluated: those that have every value; their slices and weights.

Messages name a row by its number in the whole log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.arrow_columns import arrow_values, numpy_values
from fastmetrics._core.columns.group_keys import decode_dictionary
from fastmetrics._core.columns.role_columns import find_empty_values
from fastmetrics._core.columns.weights import WEIGHTS_WANTED, first_bad_weight
from fastmetrics._core.kinds import (
    MODEL_ROLES,
    PROBABILITIES_ROLE,
    Binary,
    Category,
    ClassLabel,
    ClassNumber,
    Distribution,
    Kind,
    Real,
)
from fastmetrics._core.kinds import Key as KeyKind
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import pyarrow
from fastmetrics._kernels.columns import column_checks as kernels
from fastmetrics._kernels.columns import filtered_rows
from fastmetrics.engine.input.batches import ColumnUses
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.plan.column_names import Key, describe_column, filter_column, key_columns
from fastmetrics.engine.plan.plan_parts import PlanPart

POLICIES = ("raise", "drop")
ZERO_WEIGHT = "zero weight"
NO_REFERENCE = "no reference"
OTHER_SUMS = "probabilities that do not sum to 1"
MOST_USES = 64  # that are kept: of plans that are asked for again
LARGE_SHARE = 0.25  # of kept rows, from which on a mask selects faster than numbers


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
    filtered : int
        Rows that the filter left out.
    first_row : int
        The number of the batch's first row in the log.
    row_numbers : ndarray or None
        The positions in the batch of the rows that were kept; None if all were.
    weights, present : ndarray or None
        The weight of every row; the mask of rows with a weight above zero, None if all have one.
    slice_codes : tuple of ndarray
        The code of every row for each column of slices.
    """

    columns: dict[tuple[str, bool], Any]
    rows_read: int
    dropped: dict[str, int]
    first_row: int
    row_numbers: np.ndarray | None = None
    weights: np.ndarray | None = None
    present: np.ndarray | None = None
    filtered: int = 0
    slice_codes: tuple[np.ndarray, ...] = ()

    @property
    def kept(self) -> int:
        """Rows that the filter kept, without a null or NaN; rows of weight zero are among them."""
        left_out = sum(self.dropped.values()) - self.dropped.get(ZERO_WEIGHT, 0)
        return self.rows_read - self.filtered - left_out

    def locate(self, row: int) -> int:
        """The row of the log that is row `row` of the kept rows."""
        return log_row(row, self.first_row, self.row_numbers)


class RowSelector:
    """Selects the rows of batches that have all values, numbers their slices and reads their weights.

    A row without one of the values is left out of all metrics, also of those that do not read that column.
    """

    def __init__(self, parts: Sequence[PlanPart], on_invalid: str, slices: GroupingSets | None = None) -> None:
        validation.check_option(on_invalid, "on_invalid", POLICIES)
        self.drop = on_invalid == "drop"
        names = parts[0].names
        self.by = list(zip(names.by, names.slice_columns, strict=True))
        self.bins = {own.title: own for own in names.bins}
        self.weight = parts[0].names.weight
        self.where = parts[0].names.where
        self.slices = GroupingSets(names.by, names.slice_sets) if slices is None else slices
        self.slices.order_bins(names.bins)
        self.columns, self.arrays, self.distributions = find_columns(tuple(parts))

    def select(self, batch: Any, first_row: int) -> SelectedBatch:
        """The rows of a pyarrow RecordBatch that begins at `first_row` of the log."""
        numbers, narrow = self.apply_filter(batch)
        n_kept = batch.num_rows if numbers is None else len(numbers)
        filtered = batch.num_rows - n_kept
        if n_kept == 0:
            return SelectedBatch({}, batch.num_rows, {}, first_row, filtered=filtered)
        arrays = {
            (name, keep): decode_column(narrow(batch.column(batch.schema.get_field_index(name))), keep_dictionary=keep)
            for name, keep in self.arrays
        }
        valid, dropped = self.find_valid(arrays, n_kept, lambda row: log_row(row, first_row, numbers))
        if valid is not None:
            mask = arrow_values(valid)
            arrays = {key: column.filter(mask) for key, column in arrays.items()}
            numbers = np.flatnonzero(valid) if numbers is None else numbers[valid]
        rows = SelectedBatch(arrays, batch.num_rows, dropped, first_row, numbers, filtered=filtered)
        if rows.kept == 0:
            return rows
        if self.by:
            by = [self.slice_column(title, arrays[name, True]) for title, name in self.by]
            rows = rows._replace(slice_codes=self.slices.encode_rows(by, rows.locate))
        return rows if self.weight is None else self.weigh(rows)

    def slice_column(self, title: str, column: Any) -> Any:
        """The values of slices: those of the column, or their intervals."""
        if title not in self.bins:
            return column
        from fastmetrics.engine.input.binned_columns import cut_column

        return cut_column(self.bins[title], column)

    def apply_filter(self, batch: Any) -> tuple[np.ndarray | None, Callable[[Any], Any]]:
        """The numbers of the rows that the filter keeps, None if it keeps all, and what selects them in a column."""
        if self.where is None:
            return None, lambda column: column
        mask = batch.column(batch.schema.get_field_index(filter_column(self.where)))
        n_kept = mask.true_count
        if n_kept == batch.num_rows:
            return None, lambda column: column
        numbers = row_numbers_of(mask) if n_kept else np.zeros(0, np.int64)
        if n_kept > batch.num_rows * LARGE_SHARE:
            return numbers, lambda column: column.filter(mask)
        taken = arrow_values(numbers)
        return numbers, lambda column: column.take(taken)

    def weigh(self, rows: SelectedBatch) -> SelectedBatch:
        """The rows with their weights. Rows of weight zero are counted as dropped."""
        weights = self.read_weights(rows)
        present = weights > 0
        if present.all():
            return rows._replace(weights=weights)
        dropped = rows.dropped | {ZERO_WEIGHT: int(rows.kept - np.count_nonzero(present))}
        return rows._replace(weights=weights, present=present, dropped=dropped)

    def find_valid(
        self, arrays: dict[tuple[str, bool], Any], rows: int, locate: Callable[[int], int]
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
                    f"{title} has {what} at row {locate(row)}; on_invalid='drop' leaves such rows out"
                )
            valid = np.ones(rows, bool) if valid is None else valid
            dropped[reason] = dropped.get(reason, 0) + int(np.count_nonzero(missing & valid))
            valid &= ~missing
        if self.drop:
            for model in self.distributions:
                valid = self.drop_other_sums(model, arrays, rows, valid, dropped, locate)
        return valid, {reason: count for reason, count in dropped.items() if count}

    def drop_other_sums(
        self,
        model: Key,
        arrays: dict[tuple[str, bool], Any],
        rows: int,
        valid: np.ndarray | None,
        dropped: dict[str, int],
        locate: Callable[[int], int],
    ) -> np.ndarray | None:
        """The mask without the rows whose probabilities of classes do not sum to 1, which are counted in `dropped`."""
        from fastmetrics._core.columns.vector_columns import rows_of_other_sums

        columns = [array_of(arrays, name) for name in key_columns(model)]
        numbers = np.arange(rows) if valid is None else np.flatnonzero(valid)
        if valid is not None:
            columns = [column.filter(arrow_values(valid)) for column in columns]
        if not numbers.shape[0]:
            return valid
        title = describe_column(PROBABILITIES_ROLE, model)
        wrong = numbers[rows_of_other_sums(columns, title, lambda row: locate(int(numbers[row])))]
        if not wrong.shape[0]:
            return valid
        valid = np.ones(rows, bool) if valid is None else valid
        valid[wrong] = False
        dropped[OTHER_SUMS] = dropped.get(OTHER_SUMS, 0) + wrong.shape[0]
        return valid

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
            row = first_bad_weight(array)
            raise ValueError(f"{name} has {array[row]} at row {rows.locate(row)}: {WEIGHTS_WANTED}")
        return array


def describe_missing(value: Any) -> str:
    """A missing value in messages: a pyarrow scalar that is null or NaN, or a list that has such a value."""
    if not value.is_valid:
        return "a null"
    return "a null or NaN in its list" if pyarrow.types.is_nested(value.type) else "NaN"


def array_of(arrays: dict[tuple[str, bool], Any], name: str) -> Any:
    """The array of a column, which may be a dictionary."""
    return arrays[name, (name, True) in arrays]


def decode_column(column: Any, keep_dictionary: bool = False) -> Any:
    """A column that can be filtered: dictionaries as values.

    A dictionary may hide nulls and NaN among its values.
    """
    if pyarrow.types.is_dictionary(column.type):
        may_miss = column.dictionary.null_count or pyarrow.types.is_floating(column.type.value_type)
        if keep_dictionary and not may_miss:
            return column
        return decode_dictionary(column)
    return column


def find_missing(column: Any) -> np.ndarray | None:
    """The mask of null and NaN values; None if there are none."""
    if pyarrow.types.is_floating(column.type):
        if not column.null_count:
            values = numpy_values(column)
            if values.dtype == np.float16:
                values = values.astype(np.float32)
            found = np.zeros(1, np.int64)
            kernels.any_nan(values, 0, values.shape[0], found)
            missing = np.isnan(values) if found[0] else None
            # Another thread may have changed the caller's array meanwhile.
            return None if missing is None or not missing.any() else missing
        return np.asarray(column.is_null(nan_is_null=True))
    return np.asarray(column.is_null()) if column.null_count else None


def row_numbers_of(mask: Any) -> np.ndarray:
    """The positions of the rows that are true in an array of booleans without nulls."""
    numbers = np.empty(mask.true_count, np.int64)
    bitmap = np.frombuffer(mask.buffers()[1], np.uint8)
    found = filtered_rows.rows_of_bitmap(bitmap, mask.offset, len(mask), numbers)
    return numbers[:found]


def log_row(row: int, first_row: int, row_numbers: np.ndarray | None) -> int:
    """The row of the log that is row `row` of the kept rows of its batch."""
    return first_row + (row if row_numbers is None else int(row_numbers[row]))


def may_be_dictionary(kind: Kind) -> bool:
    """May a column of this kind be read as a dictionary? Labels of any type may."""
    return isinstance(kind, ClassNumber) or (not kind.is_numeric and not kind.has_long_values)


@lru_cache(MOST_USES)
def find_columns(
    parts: tuple[PlanPart, ...],
) -> tuple[dict[tuple[str, str], Kind | None], dict[tuple[str, bool], None], list[Key]]:
    """Role, column, and the kind that tells which values hold nothing; columns by name, and whether a dictionary may
    stay one; the models that are distributions.
    """
    columns: dict[tuple[str, str], Kind | None] = {}
    arrays: dict[tuple[str, bool], None] = {}
    distributions: dict[Key, None] = {}
    for part in parts:
        for role, name, kind in part.column_kinds:
            if role != "by":  # a null is a slice as others
                columns.setdefault((role, name), kind)
            arrays[name, role == "by" or (kind is not None and may_be_dictionary(kind))] = None
        if isinstance(part.plan.kinds.get(part.names.model_role), Distribution):
            distributions.update(dict.fromkeys(part.names.scores))
    in_order = sorted(columns.items(), key=lambda item: ROLE_ORDER.get(item[0][0], OTHER_ROLES))
    return dict(in_order), arrays, list(distributions)


@lru_cache(MOST_USES)
def find_column_uses(parts: tuple[PlanPart, ...]) -> ColumnUses:
    """Which columns may come as dictionaries, and which have long texts, lists or numbers."""
    kinds = [(name, kind) for part in parts for _, name, kind in part.column_kinds if kind is not None]
    numbers = {name for name, kind in kinds if isinstance(kind, Binary | Real)}
    return ColumnUses(
        dictionaries=frozenset(parts[0].names.slice_columns).union(
            name for name, kind in kinds if may_be_dictionary(kind)
        ),
        texts=frozenset(name for name, kind in kinds if kind.has_long_values),
        lists=frozenset(name for name, kind in kinds if kind.takes_lists),
        has_long_lists=any(kind.has_vectors for _, kind in kinds if kind.takes_lists),
        numbers=frozenset(numbers.union(part.names.weight for part in parts if part.names.weight is not None)),
        only_numbers=find_number_columns(parts),
        keys=find_key_columns(parts),
    )


def find_key_columns(parts: Sequence[PlanPart]) -> frozenset[str]:
    """The columns that are compared for equality alone: of groups, units and slices, of items, and of classes."""
    are_keys: dict[str, bool] = {}
    for part in parts:
        for role, name, kind in part.column_kinds:
            is_key = role in KEY_ROLES or isinstance(kind, KeyKind | Category | ClassNumber)
            are_keys[name] = is_key and are_keys.get(name, True)
        are_keys.update((own.column, False) for own in part.names.bins)
    return frozenset(name for name, is_key in are_keys.items() if is_key)


def find_number_columns(parts: Sequence[PlanPart]) -> frozenset[str]:
    """The columns that are only read as numbers, or as labels of classes, whatever the type of numbers."""
    are_numbers: dict[str, bool] = {}
    for part in parts:
        for role, name, kind in part.column_kinds:
            is_number = isinstance(kind, Binary | Real | ClassLabel | ClassNumber) or role == "weight"
            are_numbers[name] = is_number and are_numbers.get(name, True)
        are_numbers.update((own.column, False) for own in part.names.bins)
    return frozenset(name for name, is_number in are_numbers.items() if is_number)


# Messages name the first bad column in this order of roles; other roles come after scores.
ROLE_ORDER = {"label": 0, **dict.fromkeys(MODEL_ROLES, 1), "group": 3, "weight": 4, "unit": 5}
OTHER_ROLES = 2
KEY_ROLES = {"group", "unit", "by"}
