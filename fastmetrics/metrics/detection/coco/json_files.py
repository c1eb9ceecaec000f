"""COCO's JSON files, read as json.load reads them, but with the long arrays as columns.

A kernel (coco_json.pyx) reads the arrays of images, annotations and detections; the json module reads everything else.
If a file has anything unusual (ids that are text, boxes of three numbers, NaN, a repeated key), the json module reads
the whole file. So results and errors do not depend on which reader was used.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from fastmetrics._core.calls.missing_files import open_to_read
from fastmetrics._kernels.detection import coco_json
from fastmetrics._kernels.detection.coco_json import BOX, INTEGER, NUMBER, SPAN

IMAGE = {"id": INTEGER, "height": INTEGER, "width": INTEGER}
DETECTION = {
    "image_id": INTEGER,
    "category_id": INTEGER,
    "bbox": BOX,
    "score": NUMBER,
    "segmentation": SPAN,
}
ANNOTATION = DETECTION | {"id": INTEGER, "area": NUMBER, "iscrowd": INTEGER, "ignore": INTEGER, "difficult": INTEGER}
ARRAYS = {"images": IMAGE, "annotations": ANNOTATION}
# The number of rows is estimated from the length of the first ones.
FIRST_ROWS = 1 << 10
MAX_HARD_NUMBERS = 1 << 10


class JsonRecords:
    """An array of objects in a JSON file, read as columns. The columns are the fields that COCO's evaluation uses."""

    def __init__(
        self, data: np.ndarray, span: tuple[int, int], fields: dict[str, int], cells: np.ndarray, seen: np.ndarray
    ) -> None:
        self.data = data
        self.span = span
        self.fields = fields
        self.cells = cells
        self.seen = seen

    def __len__(self) -> int:
        return len(self.seen)

    def objects(self) -> list[Any]:
        """Return the array as json.load reads it, with all fields."""
        objects: list[Any] = json.loads(self.data[slice(*self.span)].tobytes().decode("utf-8"))
        return objects

    def has(self, name: str) -> np.ndarray:
        """Return bool[n]: whether each object has the field."""
        index = list(self.fields).index(name) if name in self.fields else coco_json.MOST_FIELDS
        return (self.seen >> np.uint64(index) & np.uint64(1)).astype(bool)

    def column(self, name: str) -> np.ndarray:
        """Return a field as int64[n], float64[n], or float64[n, 4] for boxes; 0 if an object does not have it."""
        start, kind = self.first_cell(name), self.fields[name]
        cells = self.cells if kind == INTEGER else self.cells.view(np.float64)
        return np.ascontiguousarray(cells[:, start : start + 4] if kind == BOX else cells[:, start])

    def first_cell(self, name: str) -> int:
        """Return the column of `cells` where a field begins."""
        return sum(coco_json.CELLS[kind] for kind in list(self.fields.values())[: list(self.fields).index(name)])

    def values(self, name: str) -> list[Any]:
        """Return a field with values of any kind; None if an object does not have it."""
        start = self.first_cell(name)
        text = self.data.data
        spans = self.cells[:, start : start + 2].tolist()
        texts = [bytes(text[first:stop]) if stop else b"null" for first, stop in spans]
        return json.loads(b"[" + b",".join(texts) + b"]") if texts else []


class UnexpectedError(ValueError):
    """The kernel does not read this text; the json module has to."""


def expect(holds: bool) -> None:
    if not holds:
        raise UnexpectedError


def read_json(path: str | os.PathLike[str], name: str) -> Any:
    """Read a file as json.load does, but with a list of detections, images or annotations as `JsonRecords`.

    If the file is not JSON, the ValueError begins with `name` and the path.
    """
    data, n_bytes = read_bytes(path)
    try:
        return read_with_kernel(data, n_bytes)
    except ValueError:  # something unexpected, or bytes that are not UTF-8
        return parse_json(data[:n_bytes], f"{name}: {os.fspath(path)}")


def read_bytes(path: str | os.PathLike[str]) -> tuple[np.ndarray, int]:
    """Return the bytes of a file followed by zero bytes, and the number of its own bytes."""
    with open_to_read(path) as file:
        n_bytes = os.fstat(file.fileno()).st_size
        data = np.empty(n_bytes + coco_json.PADDING, np.uint8)
        n_read = file.readinto(data[:n_bytes].data)
        more = file.read()
    if more:  # a pipe, or a file that is still being written
        data = np.concatenate((data[:n_read], np.frombuffer(more, np.uint8), np.empty(coco_json.PADDING, np.uint8)))
        n_read += len(more)
    data[n_read:] = 0
    return data, n_read


def parse_json(data: np.ndarray, where: str) -> Any:
    try:
        return json.loads(data.tobytes().decode("utf-8"))
    except RecursionError:
        raise ValueError(f"{where} is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{where} is no JSON file: {error}") from None


def read_with_kernel(data: np.ndarray, n_bytes: int) -> Any:
    """Read an array of detections, or an object with arrays of images and annotations."""
    state = np.zeros(coco_json.N_STATE, np.int64)
    start = coco_json.skip_space(data, 0)
    document: Any
    if data[start] == ord("["):
        document, stop = read_records(data, start, DETECTION, state)
    else:
        expect(data[start] == ord("{"))
        document, stop = read_object(data, start, state)
    expect(coco_json.skip_space(data, stop) == n_bytes)
    if state[coco_json.WIDE]:
        str(data[:n_bytes].data, "utf-8")
    return document


def read_object(data: np.ndarray, start: int, state: np.ndarray) -> tuple[dict[str, Any], int]:
    """Return the object whose opening brace is at `start`, and the position after it."""
    document: dict[str, Any] = {}
    position = coco_json.skip_space(data, start + 1)
    while data[position] != ord("}"):
        expect(data[position] == ord('"'))
        key, position = read_value(data, position, state)
        position = coco_json.skip_space(data, position)
        expect(data[position] == ord(":"))
        position = coco_json.skip_space(data, position + 1)
        if key in ARRAYS and data[position] == ord("["):
            document[key], position = read_records(data, position, ARRAYS[key], state)
        else:
            document[key], position = read_value(data, position, state)
        position = coco_json.skip_space(data, position)
        if data[position] == ord(","):
            position = coco_json.skip_space(data, position + 1)
            expect(data[position] != ord("}"))
        else:
            expect(data[position] == ord("}"))
    return document, position + 1


def read_value(data: np.ndarray, start: int, state: np.ndarray) -> tuple[Any, int]:
    """Return the value at `start`, read by the json module, and the position after it."""
    stop = coco_json.skip_value(data, start, state)
    expect(stop >= 0)
    return json.loads(data[start:stop].tobytes()), stop


def read_records(data: np.ndarray, start: int, fields: dict[str, int], state: np.ndarray) -> tuple[JsonRecords, int]:
    """Return the array of objects whose opening bracket is at `start`, and the position after it."""
    n_cells = sum(coco_json.CELLS[kind] for kind in fields.values())
    encoded = [name.encode() for name in fields]
    names = np.frombuffer(b"".join(encoded), np.uint8)
    stops = np.cumsum([len(name) for name in encoded])
    kinds = np.array(list(fields.values()), np.int64)
    hard = np.empty((MAX_HARD_NUMBERS, 3), np.int64)
    cells, seen = np.zeros((FIRST_ROWS, n_cells), np.int64), np.zeros(FIRST_ROWS, np.uint64)
    n_rows = 0
    position = coco_json.skip_space(data, start + 1)
    finished = data[position] == ord("]")
    stop = position + 1
    while not finished:
        if n_rows == len(seen):
            more_rows = FIRST_ROWS + (len(data) - position) * n_rows // (position - start)
            cells, seen = extend(cells, more_rows), extend(seen, more_rows)
        rows = cells[n_rows:]
        coco_json.read_rows(data, position, names, stops, kinds, rows, seen[n_rows:], hard, state)
        stop = position = int(state[coco_json.POSITION])
        expect(position >= 0)
        finished = state[coco_json.FINISHED]
        read_hard_numbers(data, rows, hard[: state[coco_json.HARD]])
        n_rows += int(state[coco_json.ROWS])
    return JsonRecords(data, (start, int(stop)), fields, cells[:n_rows], seen[:n_rows]), stop


def extend(array: np.ndarray, n_rows: int) -> np.ndarray:
    """Return the array with rows of zeros appended. They need no physical memory until they are written."""
    out = np.zeros((len(array) + n_rows, *array.shape[1:]), array.dtype)
    out[: len(array)] = array
    return out


def read_hard_numbers(data: np.ndarray, cells: np.ndarray, hard: np.ndarray) -> None:
    """Read the few numbers whose rounding is uncertain in the kernel."""
    numbers = cells.reshape(-1).view(np.float64)
    for cell, start, stop in hard.tolist():
        numbers[cell] = float(data[start:stop].tobytes())
