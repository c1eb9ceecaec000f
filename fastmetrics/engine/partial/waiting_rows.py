"""Rows that wait: small batches before anything is done to them, and validated batches, which are joined to blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.arrow_columns import EXACT_INTEGER, arrow_values, numpy_values
from fastmetrics._core.columns.key_columns import concatenate_keys
from fastmetrics._core.columns.row_blocks import BLOCK_ROWS
from fastmetrics._core.kinds import Binary, Key, NonNegative, Positive, Probability, Real
from fastmetrics._core.optional_imports import pyarrow, types
from fastmetrics._kernels.columns import column_checks as kernels
from fastmetrics.engine.input.batch_validation import ValidatedBatch
from fastmetrics.engine.plan.plan_parts import PlanPart, distinct_columns

GATHERED_ROWS = BLOCK_ROWS // 2
SMALL_ROWS = GATHERED_ROWS // 8  # of a batch that is gathered, at most
FIRST_ROWS = 1 << 10  # that there is memory for, at first
GATHERED_KINDS = (type(None), Binary, Key, NonNegative, Positive, Probability, Real)


class GatheredColumn:
    """A column of rows that are gathered, and which further values are sure to be valid.

    Of labels of classes those that were there (SAW_ bits), of the keys of groups and units all, of other numbers those
    between the least and the greatest that were there.
    """

    def __init__(self, dtype: np.dtype, is_key: bool, are_classes: bool) -> None:
        self.values = np.empty(FIRST_ROWS, dtype)
        self.is_key, self.are_classes = is_key, are_classes
        self.is_float = dtype in (np.float32, np.float64)
        self.classes, self.low, self.high = 0, np.inf, -np.inf

    def put(self, values: np.ndarray, start: int) -> np.ndarray:
        """Copy values, whose memory is the caller's; return the copy, which nobody changes while it is checked."""
        stop = start + len(values)
        if stop > len(self.values):
            self.values = np.concatenate([self.values[:start], np.empty(max(stop, start), values.dtype)])
        own = self.values[start:stop]
        own[:] = values
        return own

    def is_valid(self, values: np.ndarray) -> bool:
        """Are all values sure to be valid?"""
        if self.is_key:
            return True
        if self.are_classes:
            return not classes_of(values) & ~self.classes
        if self.is_float:
            return not kernels.any_outside(values, self.low, self.high)
        return bool(self.low <= values.min() and values.max() <= self.high)

    def learn(self, values: np.ndarray) -> None:
        """Values that were taken in."""
        if self.are_classes:
            self.classes |= classes_of(values)
        elif not self.is_key:
            low, high = float(values.min()), float(values.max())
            if low > -EXACT_INTEGER and high < EXACT_INTEGER:  # beyond it integers may be no floats; NaN is neither
                self.low, self.high = min(self.low, low), max(self.high, high)


def classes_of(values: np.ndarray) -> int:
    """The SAW_ bits of labels."""
    labels = values.view(np.uint8) if values.dtype == np.bool_ else values
    seen = np.zeros(1, np.int64)
    kernels.decode_labels(labels, 0, len(labels), np.empty(len(labels), np.uint8), seen)
    return int(seen[0])


class GatheredRows:
    """Rows of small batches, before anything is done to them.

    A batch is gathered if it is sure to be valid: it has the columns and types of one that was taken in, no null, and
    only values that were taken in or lie between two of them. Every other batch is checked at once, so an error is that
    of the update that brings it. Questions of numbers and integer keys are gathered, without filters, slices and
    computed columns: there a value may be wrong that lies between two others.
    """

    def __init__(self, parts: Sequence[PlanPart]) -> None:
        roles = [own for part in parts for own in part.column_kinds]
        is_plain = all(part.plan.is_numeric and part.names.where is None and not part.names.by for part in parts)
        is_plain = is_plain and all(type(kind) in GATHERED_KINDS for _, _, kind in roles)
        self.names = distinct_columns(parts) if is_plain else []
        self.keys = set(self.names) - {name for role, name, _ in roles if role not in ("group", "unit")}
        self.classes = {name for _, name, kind in roles if type(kind) is Binary}
        self.classes |= {name for part in parts if part.plan.label_kinds.binary for name in part.names.labels}
        self.layout: Any = None  # of the batches that are gathered
        self.columns: list[GatheredColumn] = []
        self.rows = 0

    def find_layout(self, data: Any, input_options: Any) -> Any:
        """What batches that are gathered have in common; None for one that is never gathered."""
        if isinstance(data, pyarrow.RecordBatch):
            return (data.schema, input_options) if 0 < data.num_rows <= SMALL_ROWS else None
        if type(data) is not dict or not all(type(own) is np.ndarray and own.ndim == 1 for own in data.values()):
            return None
        lengths = {len(own) for own in data.values()}
        is_small = len(lengths) == 1 and 0 < min(lengths) <= SMALL_ROWS
        return ([(name, own.dtype) for name, own in data.items()], input_options) if is_small else None

    def arrays_of(self, data: Any) -> list[np.ndarray] | None:
        """The columns of a batch of a known layout, if they are numbers without nulls."""
        if isinstance(data, dict):
            return [data[name] for name in self.names]
        columns = [data.column(name) for name in self.names]
        return None if any(own.null_count for own in columns) else list(map(numpy_values, columns))

    def take(self, data: Any, input_options: Any) -> bool:
        """Gather a batch. False if it has to be checked."""
        if self.layout is None or self.find_layout(data, input_options) != self.layout:
            return False
        arrays = self.arrays_of(data)
        if arrays is None:
            return False
        for column, values in zip(self.columns, arrays, strict=True):
            if not column.is_valid(column.put(values, self.rows)):
                return False
        self.rows += len(arrays[0])
        return True

    def learn(self, data: Any, input_options: Any) -> None:
        """A batch was taken in: others like it are gathered. No rows of another layout wait."""
        layout = self.find_layout(data, input_options) if self.names else None
        if layout is None or (layout != self.layout and not self.start(data, layout)):
            return
        for column, values in zip(self.columns, self.arrays_of(data) or (), strict=False):
            column.learn(values)

    def start(self, data: Any, layout: Any) -> bool:
        """Gather batches of a layout from now on, if their columns are such numbers."""
        self.layout = None
        if isinstance(data, dict):
            is_known = all(name in data for name in self.names)
        else:
            found = {own.name: own.type for own in data.schema}
            is_known = all(
                name in found and types.is_primitive(found[name]) and not types.is_temporal(found[name])
                for name in self.names
            )
        arrays = self.arrays_of(data) if is_known else None
        if arrays is None:
            return False
        dtypes = dict(zip(self.names, (own.dtype for own in arrays), strict=True))
        kinds = {name: "iu" if name in self.keys else "biuf" for name in self.names}
        if not all(own.isnative and own.kind in kinds[name] for name, own in dtypes.items()):
            return False
        self.columns = [GatheredColumn(own, name in self.keys, name in self.classes) for name, own in dtypes.items()]
        self.layout = layout
        return True

    def batch(self) -> Any:
        """The rows as a record batch: views, which are valid until further rows are gathered."""
        arrays = [arrow_values(column.values[: self.rows]) for column in self.columns]
        return pyarrow.RecordBatch.from_arrays(arrays, names=self.names)


def count_rows(batch: ValidatedBatch) -> int:
    return 0 if batch.columns is None else batch.columns.rows


def group_batches(pending: list[ValidatedBatch]) -> list[list[ValidatedBatch]]:
    """Groups of neighboring batches, each with about as many rows as a block should have."""
    groups: list[list[ValidatedBatch]] = []
    group_rows = BLOCK_ROWS
    for batch in pending:
        rows = count_rows(batch)
        if group_rows + rows > BLOCK_ROWS:
            groups.append([])
            group_rows = 0
        groups[-1].append(batch)
        group_rows += rows
    return groups


def copy_batch(batch: ValidatedBatch) -> ValidatedBatch:
    """A batch with rows in memory of its own."""
    columns = None if batch.columns is None else batch.columns.move(np.ndarray.copy)
    keys = concatenate_keys([batch.keys])
    unit_keys = keys if batch.unit_keys is batch.keys else concatenate_keys([batch.unit_keys])
    return batch._replace(columns=columns, keys=keys, unit_keys=unit_keys)


def select_units(batch: ValidatedBatch, mask: np.ndarray) -> ValidatedBatch:
    """Some rows of a batch that has units and no groups."""
    columns = None if batch.columns is None else batch.columns.move(lambda column: column[mask])
    keys = None if batch.unit_keys is None else batch.unit_keys.select(mask)
    return batch._replace(columns=columns, unit_keys=keys, keys=None)


def join_batches(batches: list[ValidatedBatch]) -> ValidatedBatch:
    """Batches with rows as one batch in memory of its own."""
    first = batches[0]
    blocks = [batch.columns for batch in batches if batch.columns is not None]
    columns = blocks[0]._replace(
        labels=tuple(map(np.concatenate, zip(*(block.labels for block in blocks), strict=True))),
        scores=tuple(map(np.concatenate, zip(*(block.scores for block in blocks), strict=True))),
        weights=join_arrays([block.weights for block in blocks]),
        slice_codes=tuple(map(np.concatenate, zip(*(block.slice_codes for block in blocks), strict=True))),
        others={role: np.concatenate([block.others[role] for block in blocks]) for role in blocks[0].others},
    )
    keys = concatenate_keys([batch.keys for batch in batches])
    unit_keys = keys
    if first.unit_keys is not first.keys:
        unit_keys = concatenate_keys([batch.unit_keys for batch in batches])
    return first._replace(columns=columns, keys=keys, unit_keys=unit_keys)


def join_arrays(arrays: list[np.ndarray | None]) -> np.ndarray | None:
    """A column that all batches have, or none of them."""
    present = [array for array in arrays if array is not None]
    return np.concatenate(present) if present else None
