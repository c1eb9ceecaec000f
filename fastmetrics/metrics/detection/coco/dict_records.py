"""A list of dicts read as columns: images, annotations or detections, from json.load or made by a program."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._kernels.detection import coco_dicts as kernel
from fastmetrics.metrics.detection.coco.json_files import JsonRecords

# Kinds of fields. Error messages contain these texts.
ID, INTEGER, NUMBER, BOX, ANY = "an integer or text", "an integer", "a number", "four numbers", "anything"
INT64_LIMIT = 1 << 63


class DictRecords:
    """The fields of a list of dicts as columns, 0 if a dict does not have the field. Ids that are text are objects."""

    def __init__(self, rows: list[Any], fields: dict[str, str], name: str) -> None:
        self.rows, self.fields, self.name = rows, fields, name
        self.text_fields: set[str] = set()
        while not self.read():
            pass

    def __len__(self) -> int:
        return len(self.rows)

    def has(self, name: str) -> np.ndarray:
        """Return bool[n]: whether each dict has the field."""
        if name in self.order:
            return (self.seen >> np.uint64(self.order.index(name)) & np.uint64(1)).astype(bool)
        return np.fromiter((name in row for row in self.rows), bool, len(self.rows))

    def column(self, name: str) -> np.ndarray:
        """Return a field as int64[n], float64[n], float64[n, 4] for boxes, or objects[n] for text."""
        if name in self.text_fields:
            n = len(self.rows)
            return np.fromiter((self.as_text(row, name) for row in range(n)), object, n)
        return self.columns[name]

    def values(self, name: str) -> list[Any]:
        """Return the values of a field as they are; None if a dict does not have the field."""
        return [row.get(name) for row in self.rows]

    def read(self) -> bool:
        """Read all fields that are numbers. Return False if an id is text: then the caller reads again without it."""
        kinds = {name: kind for name, kind in self.fields.items() if name not in self.text_fields}
        integers, numbers, boxes = (
            [name for name, kind in kinds.items() if kind in wanted] for wanted in ((ID, INTEGER), (NUMBER,), (BOX,))
        )
        self.order = integers + numbers + boxes
        n = len(self.rows)
        columns = np.zeros((len(integers), n), np.int64), np.zeros((len(numbers), n)), np.zeros((len(boxes), n, 4))
        self.columns: dict[str, np.ndarray] = dict(zip(self.order, chain(*columns), strict=True))
        self.seen = np.zeros(n, np.uint64)
        row = 0
        while True:
            row, field = kernel.read_rows(
                self.rows, row, integers, numbers, boxes, *columns, self.seen
            )
            if row == n:
                return True
            if field == kernel.ROW:
                self.rows = [*self.rows[:row], self.as_dict(row), *self.rows[row + 1 :]]
                continue
            name = self.order[field]
            if self.fields[name] == ID and isinstance(self.rows[row][name], str):
                if any(name in earlier for earlier in self.rows[:row]):
                    self.raise_bad_value(row, name, self.rows[row][name], "an integer, as the first ones are")
                self.text_fields.add(name)
                return False
            self.read_slowly(row)
            row += 1

    def as_dict(self, row: int) -> dict[str, Any]:
        """Return a row that is another kind of mapping as a dict."""
        value = self.rows[row]
        if not isinstance(value, Mapping):
            raise validation.InputError(f"{self.name}[{row}] must be a dict; found {type(value).__name__}")
        return dict(value)

    def read_slowly(self, row: int) -> None:
        """Read a dict with a value that the kernel does not read, for instance a NumPy number."""
        for index, name in enumerate(self.order):
            if name not in self.rows[row]:
                continue
            readers = {NUMBER: self.as_number, BOX: self.as_box}
            read_value: Any = readers.get(self.fields[name], self.as_integer)
            self.columns[name][row] = read_value(row, name, self.rows[row][name])
            self.seen[row] |= np.uint64(1 << index)

    def as_integer(self, row: int, name: str, value: Any) -> int:
        if isinstance(value, (bool, np.bool_)) and self.fields[name] == INTEGER:
            return int(value)
        whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
        if isinstance(value, (bool, np.bool_)) or not (whole or isinstance(value, (int, np.integer))):
            self.raise_bad_value(row, name, value, self.fields[name])
        if not -INT64_LIMIT <= int(value) < INT64_LIMIT:
            self.raise_bad_value(row, name, value, "an integer of 64 bits")
        return int(value)

    def as_number(self, row: int, name: str, value: Any, wanted: str = NUMBER) -> float:
        if not validation.is_number(value) or isinstance(value, (bool, np.bool_)):
            self.raise_bad_value(row, name, value, wanted)
        if isinstance(value, (int, np.integer)) and abs(int(value)) > validation.EXACT_INTEGER:
            self.raise_bad_value(row, name, value, f"{wanted}, integers not beyond 2**53")
        return float(value)

    def as_box(self, row: int, name: str, value: Any) -> list[float]:
        if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__len__") or len(value) != 4:
            self.raise_bad_value(row, name, value, BOX)
        return [self.as_number(row, name, each, BOX) for each in value]

    def as_text(self, row: int, name: str) -> str:
        value = self.rows[row].get(name, "")
        if not isinstance(value, str):
            self.raise_bad_value(row, name, value, "text, as the first ones are")
        return str(value)

    def raise_bad_value(self, row: int, name: str, value: Any, wanted: str) -> NoReturn:
        found = "NaN" if isinstance(value, float) and value != value else repr(value)
        raise validation.InputError(f"{self.name}[{row}]['{name}'] must be {wanted}; found {found[:80]}")


# Objects of one kind (images, annotations or detections), read field by field: `has`, `column`, `values`.
Records = DictRecords | JsonRecords


def read_sizes(records: Records, indices: np.ndarray, n_images: int) -> np.ndarray:
    """Return height and width of each image, -1 if they are unknown. `indices` are the images of the records, or -1."""
    sizes = np.full((n_images, 2), -1, np.int64)
    known = (indices >= 0) & records.has("height") & records.has("width")
    for axis, field in enumerate(("height", "width")):
        sizes[indices[known], axis] = records.column(field)[known]
    return sizes


def as_records(data: Any, fields: dict[str, str], name: str) -> Records:
    """Return a list (or tuple) of dicts as records; return records of a JSON file unchanged."""
    if isinstance(data, JsonRecords):
        return data
    if not isinstance(data, (list, tuple)):
        raise validation.InputError(f"{name} must be a list of dicts; found {type(data).__name__}")
    return DictRecords(list(data), fields, name)
