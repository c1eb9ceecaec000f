"""Ids of images and categories as indices into sorted lists of ids, and the checks that all readers share."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.detection import group_iou as kernel

# `find_indices` uses a lookup table if the ids span fewer than this many values plus four for each row.
LOOKUP_TABLE_SLACK = 1 << 22


class SelectedRows(NamedTuple):
    """The rows that are evaluated, with the image and category of each."""

    images: np.ndarray  # int64: index of the image's id
    categories: np.ndarray  # int64: index of the category's id
    rows: np.ndarray | None  # int64: None if all rows are evaluated

    @classmethod
    def with_known_ids(cls, images: np.ndarray, categories: np.ndarray) -> SelectedRows:
        """Drop rows whose image or category has no index (-1)."""
        if not len(images) or (images.min() >= 0 and categories.min() >= 0):
            return cls(images, categories, None)
        rows = np.flatnonzero((images >= 0) & (categories >= 0))
        return cls(images[rows], categories[rows], rows)

    def select(self, values: np.ndarray) -> np.ndarray:
        """Return the evaluated rows of a column."""
        return np.ascontiguousarray(values) if self.rows is None else values[self.rows]


def sorted_ids(ids: np.ndarray) -> np.ndarray:
    """Return the different ids in order: int64, or text as objects."""
    if ids.dtype != object:
        return np.unique(ids)
    unique_ids = sorted(set(ids.tolist()))
    return np.fromiter(unique_ids, object, len(unique_ids))


def check_id_list(values: Any, name: str) -> np.ndarray:
    """Return the ids that the caller lists, sorted."""
    listed = list(values) if isinstance(values, (set, frozenset)) else values
    array = validation.as_array(listed, name)
    if array.ndim != 1:
        raise validation.OptionError(f"{name} must be a list of ids; found {values!r}")
    if not array.shape[0]:
        raise ValueError(f"{name} is empty: at least one id is needed")
    if array.dtype.kind in "iu":
        return sorted_ids(array.astype(np.int64))
    objects = array.astype(object)
    for row, value in enumerate(objects.tolist()):
        if not isinstance(value, str):
            raise validation.OptionError(f"{name} has {value!r} at row {row}: ids are integers or text")
    return sorted_ids(objects)


def find_indices(values: np.ndarray, known_ids: np.ndarray) -> np.ndarray:
    """Return the index of each value in `known_ids`, which are sorted; -1 for other values."""
    if not len(values) or not len(known_ids):
        return np.full(len(values), -1, np.int64)
    if values.dtype == object or known_ids.dtype == object:
        if values.dtype != known_ids.dtype:
            return np.full(len(values), -1, np.int64)
        index_of = {each: index for index, each in enumerate(known_ids.tolist())}
        return np.fromiter((index_of.get(each, -1) for each in values.tolist()), np.int64, len(values))
    low, high = int(known_ids[0]), int(known_ids[-1])
    if high - low < 4 * len(values) + LOOKUP_TABLE_SLACK:
        table = np.full(high - low + 3, -1, np.int64)
        table[known_ids - (low - 1)] = np.arange(len(known_ids))
        out = np.empty(len(values), np.int64)
        kernel.look_up(values, low, high, table, out)
        return out
    indices = np.minimum(np.searchsorted(known_ids, values), len(known_ids) - 1)
    indices[known_ids[indices] != values] = -1
    return indices


def check_unique(ids: np.ndarray, text: str) -> None:
    """Raise an error if two ids are equal. `text` is its message, with {row} and {value} of the first repeated id."""
    if len(sorted_ids(ids)) == len(ids):
        return
    seen = set()
    for row, value in enumerate(ids.tolist()):
        if value in seen:
            raise ValueError(text.format(row=row, value=value))
        seen.add(value)


def check_finite(values: np.ndarray, text: str) -> None:
    """Raise an error for NaN and infinity. `text` is its message, with {row} and {value} of the first bad number."""
    finite = np.isfinite(values)
    if not finite.all():
        row = int(np.argmin(finite))
        value = values[row]
        raise ValueError(text.format(row=row, value="NaN" if value != value else value))


def check_boxes(boxes: np.ndarray, text: str) -> None:
    """Check that boxes x, y, width, height are finite with sizes of at least 0. `text` names the row, with {row}."""
    row = kernel.find_bad_box(boxes)
    if row < 0:
        return
    where, box = text.format(row=row), boxes[row].tolist()
    if np.isnan(boxes[row]).any():
        raise ValueError(f"{where} has NaN: {box}")
    for index, what in ((2, "width"), (3, "height")):
        if box[index] < 0:
            raise ValueError(f"{where} has a negative {what}: {box}")
    raise ValueError(f"{where} has a number beyond {kernel.MOST_SIZE:g}: {box}")
