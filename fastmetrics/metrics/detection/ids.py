"""Ids of images and categories as places in sorted lists, and the checks that rows of dicts and columns share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._kernels import boxes as kernel

DENSE = 1 << 22  # a table may have so many places more than four for each row


class Places(NamedTuple):
    """Image and category of the rows that are evaluated, and which these are."""

    images: np.ndarray  # int64
    categories: np.ndarray  # int64
    rows: np.ndarray | None  # int64: None for all

    @classmethod
    def of(cls, images: np.ndarray, categories: np.ndarray) -> Places:
        """Rows without an image or category (-1) are left out."""
        if not len(images) or (images.min() >= 0 and categories.min() >= 0):
            return cls(images, categories, None)
        rows = np.flatnonzero((images >= 0) & (categories >= 0))
        return cls(images[rows], categories[rows], rows)

    def taken(self, values: np.ndarray) -> np.ndarray:
        """A column's rows that are evaluated."""
        return np.ascontiguousarray(values) if self.rows is None else values[self.rows]


def sorted_ids(ids: np.ndarray) -> np.ndarray:
    """The different ids in order: int64, or text as objects."""
    if ids.dtype != object:
        return np.unique(ids)
    found = sorted(set(ids.tolist()))
    out = np.empty(len(found), object)
    out[:] = found
    return out


def as_wanted_ids(values: Any, name: str) -> np.ndarray:
    """Ids that the caller lists, sorted."""
    listed = list(values) if isinstance(values, (set, frozenset)) else values
    array = inputs.as_array(listed, name)
    if array.ndim != 1:
        raise inputs.OptionError(f"{name} must be a list of ids; found {values!r}")
    if not array.shape[0]:
        raise ValueError(f"{name} is empty: at least one id is needed")
    if array.dtype.kind in "iu":
        return sorted_ids(array.astype(np.int64))
    objects = array.astype(object)
    for row, value in enumerate(objects.tolist()):
        if not isinstance(value, str):
            raise inputs.OptionError(f"{name} has {value!r} at row {row}: ids are integers or text")
    return sorted_ids(objects)


def places_of(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The place of each id among the known ones, which are sorted; -1 where it is not among them."""
    if not len(values) or not len(known):
        return np.full(len(values), -1, np.int64)
    if values.dtype == object or known.dtype == object:
        if values.dtype != known.dtype:
            return np.full(len(values), -1, np.int64)
        numbers = {each: place for place, each in enumerate(known.tolist())}
        return np.fromiter((numbers.get(each, -1) for each in values.tolist()), np.int64, len(values))
    low, high = int(known[0]), int(known[-1])
    if high - low < 4 * len(values) + DENSE:
        table = np.full(high - low + 3, -1, np.int64)
        table[known - (low - 1)] = np.arange(len(known))
        out = np.empty(len(values), np.int64)
        kernel.look_up(values, low, high, table, out)
        return out
    places = np.minimum(np.searchsorted(known, values), len(known) - 1)
    places[known[places] != values] = -1
    return places


def check_unique(ids: np.ndarray, text: str) -> None:
    """All ids differ. `text` is the error, with {row} and {value} of the first that does not."""
    n = len(sorted_ids(ids))
    if n == len(ids):
        return
    seen = set()
    for row, value in enumerate(ids.tolist()):
        if value in seen:
            raise ValueError(text.format(row=row, value=value))
        seen.add(value)


def check_finite(values: np.ndarray, text: str) -> None:
    finite = np.isfinite(values)
    if not finite.all():
        row = int(np.argmin(finite))
        value = values[row]
        raise ValueError(text.format(row=row, value="NaN" if value != value else value))


def check_boxes(boxes: np.ndarray, text: str) -> None:
    """Finite boxes x, y, width, height, no size below 0. `text` says where, with {row}."""
    row = kernel.find_bad_box(boxes)
    if row < 0:
        return
    where, box = text.format(row=row), boxes[row].tolist()
    if np.isnan(boxes[row]).any():
        raise ValueError(f"{where} has NaN: {box}")
    for place, what in ((2, "width"), (3, "height")):
        if box[place] < 0:
            raise ValueError(f"{where} has a negative {what}: {box}")
    raise ValueError(f"{where} has a number beyond {kernel.MOST_SIZE:g}: {box}")
