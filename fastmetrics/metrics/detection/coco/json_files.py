"""COCO's JSON files -> what json.load gives, with the long arrays as columns.

The arrays of images, annotations and detections are read by a kernel (cocojson.pyx), all else by the json module. Where
a file is in any way out of the ordinary (ids that are text, boxes of three numbers, NaN, a key twice), json reads it
all: what is said of a file does not depend on who read it.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from fastmetrics._kernels import cocojson
from fastmetrics._kernels.cocojson import BOX, INTEGER, NUMBER, SPAN

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
# After so many rows it is known how long they are, about, and how many there may be.
FIRST_ROWS = 1 << 10
MOST_HARD = 1 << 10


class Records:
    """An array of objects as columns, one for each field that any of them has.

    Fields that COCO's evaluation does not know are not among them.
    """

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
        """What json.load makes of the array, other fields and all."""
        import json

        objects: list[Any] = json.loads(self.data[slice(*self.span)].tobytes().decode("utf-8"))
        return objects

    def has(self, name: str) -> np.ndarray:
        """bool[n]: has the object the field?"""
        place = list(self.fields).index(name) if name in self.fields else cocojson.MOST_FIELDS
        return (self.seen >> np.uint64(place) & np.uint64(1)).astype(bool)

    def column(self, name: str) -> np.ndarray:
        """int64[n], float64[n], or float64[n, 4] of a box; 0 where an object has no such field."""
        start = 0
        for field, kind in self.fields.items():
            if field == name:
                break
            start += cocojson.CELLS[kind]
        kind = self.fields[name]
        cells = self.cells if kind == INTEGER else self.cells.view(np.float64)
        return np.ascontiguousarray(cells[:, start : start + 4] if kind == BOX else cells[:, start])

    def values(self, name: str) -> list[Any]:
        """The values of a field that may be anything; None where an object has no such field."""
        import json

        start = sum(cocojson.CELLS[kind] for kind in list(self.fields.values())[: list(self.fields).index(name)])
        text = self.data.data
        spans = self.cells[:, start : start + 2].tolist()
        pieces = [bytes(text[first:stop]) if stop else b"null" for first, stop in spans]
        return json.loads(b"[" + b",".join(pieces) + b"]") if pieces else []


class UnexpectedError(Exception):
    """The json module has to read this."""


def read_json(path: str | os.PathLike[str], name: str) -> Any:
    """The file as json.load reads it; a list of detections, and a dataset's images and annotations, as `Records`.

    Raises a ValueError that begins with `name` and the path where the file is no JSON.
    """
    data, n_bytes = read_bytes(path)
    try:
        return read_document(data, n_bytes)
    except UnexpectedError:
        return parse(data[:n_bytes], f"{name}: {os.fspath(path)}")


def read_bytes(path: str | os.PathLike[str]) -> tuple[np.ndarray, int]:
    """The file with zero bytes behind it, and how many bytes are its own."""
    with open(path, "rb") as file:
        n_bytes = os.fstat(file.fileno()).st_size
        data = np.empty(n_bytes + cocojson.PADDING, np.uint8)
        n_read = file.readinto(data[:n_bytes].data)
        more = file.read()
    if more:  # a pipe, or a file that grows
        data = np.concatenate((data[:n_read], np.frombuffer(more, np.uint8), np.empty(cocojson.PADDING, np.uint8)))
        n_read += len(more)
    data[n_read:] = 0
    return data, n_read


def parse(data: np.ndarray, where: str) -> Any:
    import json

    try:
        return json.loads(data.tobytes().decode("utf-8"))
    except RecursionError:
        raise ValueError(f"{where} is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{where} is no JSON file: {error}") from None


def read_document(data: np.ndarray, n_bytes: int) -> Any:
    state = np.zeros(cocojson.N_STATE, np.int64)
    start = cocojson.skip_space(data, 0)
    document: Any
    if data[start] == ord("["):
        document, stop = read_records(data, start, DETECTION, state)
    elif data[start] == ord("{"):
        document, stop = read_dataset(data, start, state)
    else:
        raise UnexpectedError
    if cocojson.skip_space(data, stop) != n_bytes:
        raise UnexpectedError
    if state[cocojson.WIDE]:
        check_text(data[:n_bytes])
    return document


def check_text(data: np.ndarray) -> None:
    try:
        str(data.data, "utf-8")
    except UnicodeDecodeError:
        raise UnexpectedError from None


def read_dataset(data: np.ndarray, start: int, state: np.ndarray) -> tuple[dict[str, Any], int]:
    """The object whose brace is at `start`, and where it ends."""
    document: dict[str, Any] = {}
    position = cocojson.skip_space(data, start + 1)
    while data[position] != ord("}"):
        if data[position] != ord('"'):
            raise UnexpectedError
        key, position = read_value(data, position, state)
        position = cocojson.skip_space(data, position)
        if data[position] != ord(":"):
            raise UnexpectedError
        position = cocojson.skip_space(data, position + 1)
        if key in ARRAYS and data[position] == ord("["):
            document[key], position = read_records(data, position, ARRAYS[key], state)
        else:
            document[key], position = read_value(data, position, state)
        position = cocojson.skip_space(data, position)
        if data[position] == ord(","):
            position = cocojson.skip_space(data, position + 1)
            if data[position] == ord("}"):
                raise UnexpectedError
        elif data[position] != ord("}"):
            raise UnexpectedError
    return document, position + 1


def read_value(data: np.ndarray, start: int, state: np.ndarray) -> tuple[Any, int]:
    import json

    stop = cocojson.skip_value(data, start, state)
    if stop < 0:
        raise UnexpectedError
    try:
        return json.loads(data[start:stop].tobytes()), stop
    except ValueError:  # bytes that are no UTF-8
        raise UnexpectedError from None


def read_records(data: np.ndarray, start: int, fields: dict[str, int], state: np.ndarray) -> tuple[Records, int]:
    """The array of objects whose bracket is at `start`, and where it ends."""
    n_cells = sum(cocojson.CELLS[kind] for kind in fields.values())
    encoded = [name.encode() for name in fields]
    names = np.frombuffer(b"".join(encoded), np.uint8)
    stops = np.cumsum([len(name) for name in encoded])
    kinds = np.array(list(fields.values()), np.int64)
    hard = np.empty((MOST_HARD, 3), np.int64)
    cells, seen = np.zeros((FIRST_ROWS, n_cells), np.int64), np.zeros(FIRST_ROWS, np.uint64)
    n_rows = 0
    position = cocojson.skip_space(data, start + 1)
    finished = data[position] == ord("]")
    stop = position + 1
    while not finished:
        if n_rows == len(seen):
            room = FIRST_ROWS + (len(data) - position) * n_rows // (position - start)
            cells, seen = longer(cells, room), longer(seen, room)
        rows = cells[n_rows:]
        cocojson.read_rows(data, position, names, stops, kinds, rows, seen[n_rows:], hard, state)
        stop = position = int(state[cocojson.POSITION])
        if position < 0:
            raise UnexpectedError
        finished = state[cocojson.FINISHED]
        finish_numbers(data, rows, hard[: state[cocojson.HARD]])
        n_rows += int(state[cocojson.ROWS])
    return Records(data, (start, int(stop)), fields, cells[:n_rows], seen[:n_rows]), stop


def longer(array: np.ndarray, room: int) -> np.ndarray:
    """The array with zeros behind it, which take memory when they are written."""
    out = np.zeros((len(array) + room, *array.shape[1:]), array.dtype)
    out[: len(array)] = array
    return out


def finish_numbers(data: np.ndarray, cells: np.ndarray, hard: np.ndarray) -> None:
    """The few numbers whose rounding the kernel is not sure of."""
    numbers = cells.reshape(-1).view(np.float64)
    for cell, start, stop in hard.tolist():
        numbers[cell] = float(data[start:stop].tobytes())
