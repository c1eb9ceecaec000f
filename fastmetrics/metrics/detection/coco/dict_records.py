"""A list of dicts as columns: annotations, images and detections as json.load gives them, or as somebody made them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, Protocol

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._kernels import cocodicts as kernel

ID, INTEGER, NUMBER, BOX, ANY = "an integer or text", "an integer", "a number", "four numbers", "anything"
WIDEST = 1 << 63


class Rows(Protocol):
    """Rows as columns: those of a list of dicts, or of a file's array of objects."""

    def __len__(self) -> int: ...
    def has(self, name: str) -> np.ndarray: ...
    def column(self, name: str) -> np.ndarray: ...
    def values(self, name: str) -> list[Any]: ...


class DictRows:
    """Fields of a list of dicts as columns, 0 where a dict has no such field. Ids that are text are objects."""

    def __init__(self, rows: list[Any], fields: dict[str, str], name: str) -> None:
        self.rows, self.fields, self.name = rows, fields, name
        self.text: set[str] = set()
        while not self.read():
            pass

    def __len__(self) -> int:
        return len(self.rows)

    def has(self, name: str) -> np.ndarray:
        """bool[n]: has the dict the field?"""
        if name in self.order:
            return (self.seen >> np.uint64(self.order.index(name)) & np.uint64(1)).astype(bool)
        return np.fromiter((name in row for row in self.rows), bool, len(self.rows))

    def column(self, name: str) -> np.ndarray:
        """int64[n], float64[n], float64[n, 4] of a box, or objects[n] of text."""
        if name in self.text:
            values = np.empty(len(self.rows), object)
            values[:] = [self.as_text(row, name) for row in range(len(self.rows))]
            return values
        kind = self.fields[name]
        place = self.order.index(name)
        column: np.ndarray = (
            self.boxes[0]
            if kind == BOX
            else self.integers[place]
            if kind in (ID, INTEGER)
            else self.numbers[place - len(self.integers)]
        )
        return column

    def values(self, name: str) -> list[Any]:
        """Whatever the dicts have; None where there is no such field."""
        return [row.get(name) for row in self.rows]

    def read(self) -> bool:
        """All fields that are numbers; False if an id turned out to be text: then all is read once more without it."""
        kinds = {name: kind for name, kind in self.fields.items() if name not in self.text}
        integers, numbers, boxes = (
            [name for name, kind in kinds.items() if kind in wanted] for wanted in ((ID, INTEGER), (NUMBER,), (BOX,))
        )
        self.order = integers + numbers + boxes
        n = len(self.rows)
        self.integers = np.zeros((len(integers), n), np.int64)
        self.numbers = np.zeros((len(numbers), n))
        self.boxes = np.zeros((len(boxes), n, 4))
        self.seen = np.zeros(n, np.uint64)
        row = 0
        while True:
            row, field = kernel.read_rows(
                self.rows, row, integers, numbers, boxes, self.integers, self.numbers, self.boxes, self.seen
            )
            if row == n:
                return True
            if field == kernel.ROW:
                self.rows = [*self.rows[:row], self.as_dict(row), *self.rows[row + 1 :]]
                continue
            name = self.order[field]
            if self.fields[name] == ID and isinstance(self.rows[row][name], str):
                if any(name in earlier for earlier in self.rows[:row]):
                    self.refuse(row, name, self.rows[row][name], "an integer, as the first ones are")
                self.text.add(name)
                return False
            self.read_slowly(row)
            row += 1

    def as_dict(self, row: int) -> dict[str, Any]:
        value = self.rows[row]
        if not isinstance(value, Mapping):
            raise inputs.InputError(f"{self.name}[{row}] must be a dict; found {type(value).__name__}")
        return dict(value)

    def read_slowly(self, row: int) -> None:
        """One dict with something in it that is not what json.load gives."""
        for place, name in enumerate(self.order):
            if name not in self.rows[row]:
                continue
            value = self.rows[row][name]
            kind = self.fields[name]
            self.seen[row] |= np.uint64(1 << place)
            if kind in (ID, INTEGER):
                self.integers[place, row] = self.as_integer(row, name, value)
            elif kind == NUMBER:
                self.numbers[place - len(self.integers), row] = self.as_number(row, name, value, NUMBER)
            else:
                self.boxes[0, row] = self.as_box(row, name, value)

    def as_integer(self, row: int, name: str, value: Any) -> int:
        if isinstance(value, (bool, np.bool_)) and self.fields[name] == INTEGER:
            return int(value)
        whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
        if isinstance(value, (bool, np.bool_)) or not (whole or isinstance(value, (int, np.integer))):
            self.refuse(row, name, value, self.fields[name])
        if not -WIDEST <= int(value) < WIDEST:
            self.refuse(row, name, value, "an integer of 64 bits")
        return int(value)

    def as_number(self, row: int, name: str, value: Any, wanted: str) -> float:
        if not inputs.is_number(value) or isinstance(value, (bool, np.bool_)):
            self.refuse(row, name, value, wanted)
        if isinstance(value, (int, np.integer)) and abs(int(value)) > inputs.EXACT_INTEGER:
            self.refuse(row, name, value, f"{wanted}, integers not beyond 2**53")
        return float(value)

    def as_box(self, row: int, name: str, value: Any) -> list[float]:
        if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__len__") or len(value) != 4:
            self.refuse(row, name, value, BOX)
        return [self.as_number(row, name, each, BOX) for each in value]

    def as_text(self, row: int, name: str) -> str:
        value = self.rows[row].get(name, "")
        if not isinstance(value, str):
            self.refuse(row, name, value, "text, as the first ones are")
        return str(value)

    def refuse(self, row: int, name: str, value: Any, wanted: str) -> NoReturn:
        found = "NaN" if isinstance(value, float) and value != value else repr(value)
        raise inputs.InputError(f"{self.name}[{row}]['{name}'] must be {wanted}; found {found[:80]}")


def open_rows(data: Any, fields: dict[str, str], name: str) -> Rows:
    """Rows of a list (or tuple) of dicts; what is already in columns stays as it is."""
    if hasattr(data, "column") and hasattr(data, "has"):
        rows: Rows = data
        return rows
    if not isinstance(data, (list, tuple)):
        raise inputs.InputError(f"{name} must be a list of dicts; found {type(data).__name__}")
    return DictRows(list(data), fields, name)
