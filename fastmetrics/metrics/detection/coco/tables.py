"""Tables of any library as columns by name, and columns of boxes as arrays of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.arrow_columns import describe_no_table, is_pandas_frame, read_arrow_table
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import library_of
from fastmetrics.metrics.detection.coco.json_files import JsonRecords

ACCEPTED = (
    "{name} must be {coco}the path of a COCO JSON file, an object with .dataset, or columns: a dict of arrays, a data "
    "frame of pandas or polars, an Arrow table; found {kind}"
)
COCO_FORMS = {
    "ground_truth": "a dict of images, annotations and categories, ",
    "detections": "a list of dicts, ",
}


# The accepted names of a column: ours first, then that of COCO's files.
COLUMN_NAMES = {
    "image": ("image", "image_id"),
    "category": ("category", "category_id"),
    "box": ("box", "bbox"),
    "crowd": ("crowd", "iscrowd"),
    "mask": ("mask", "segmentation"),
}


class InputTable(NamedTuple):
    """The columns of a table by name, and the table's name in errors."""

    columns: Mapping[str, Any]
    name: str

    @classmethod
    def open(cls, data: Any, name: str) -> InputTable:
        return cls(open_table(data, name), name)

    def find_name(self, wanted: str) -> str | None:
        """Return the name of a column in this table; None if it has no such column."""
        names = [name for name in COLUMN_NAMES.get(wanted, (wanted,)) if name in self.columns]
        if len(names) > 1:
            raise ValueError(f"{self.name} has columns {names[0]!r} and {names[1]!r}: one of them is needed")
        return names[0] if names else None

    def required(self, wanted: str) -> tuple[Any, str]:
        """Return a column and its name in errors; raise an error if the table does not have it."""
        name = self.find_name(wanted)
        if name is None:
            raise ValueError(validation.missing_column_text(wanted, self.name, list(self.columns)))
        return self.columns[name], f"{self.name}[{name!r}]"

    def optional(self, wanted: str) -> tuple[Any, str] | None:
        """Return a column and its name in errors; None if the table does not have it."""
        return None if self.find_name(wanted) is None else self.required(wanted)


def open_table(data: Any, name: str) -> Mapping[str, Any]:
    """Return the columns of a table by name, in the types of its library."""
    if isinstance(data, Mapping):
        return data
    if isinstance(data, list) and not data and name == "detections":  # an empty list of COCO results
        return {"image": [], "category": [], "box": [], "score": []}
    if is_pandas_frame(data):
        return columns_by_name(list(data.columns), lambda index: data.iloc[:, index], name)
    if library_of(data) == "polars" and hasattr(data, "get_columns"):
        columns = data.get_columns()
        return columns_by_name([column.name for column in columns], columns.__getitem__, name)
    table = read_arrow_table(data)
    if table is None:
        kind = describe_no_table([] if isinstance(data, JsonRecords) else data)
        raise validation.InputError(ACCEPTED.format(name=name, coco=COCO_FORMS[name], kind=kind))
    return columns_by_name(table.schema.names, table.column, name)


def columns_by_name(names: list[Any], get_column: Any, name: str) -> dict[str, Any]:
    """Return columns by name; raise an error if two have the same name."""
    if len(set(names)) < len(names):
        repeated = next(each for index, each in enumerate(names) if each in names[:index])
        raise ValueError(f"{name} has two columns named {repeated!r}; rename one")
    return {str(each): get_column(index) for index, each in enumerate(names)}


def as_box_matrix(values: Any, name: str) -> Any:
    """Convert a column of lists of four numbers to a matrix; return a matrix unchanged."""
    module = library_of(values)
    if module == "polars" and hasattr(values, "to_arrow"):
        values = values.to_arrow()
    if hasattr(values, "combine_chunks") and hasattr(values, "type"):
        values = values.combine_chunks()
    if hasattr(values, "flatten") and hasattr(values, "type") and hasattr(values, "null_count"):
        return arrow_boxes(values, name)
    if module == "pandas" or (isinstance(values, np.ndarray) and values.dtype == object):
        values = list(values)
    if isinstance(values, list):
        for row, box in enumerate(values):
            if box is None or not hasattr(box, "__len__") or len(box) != 4:
                raise ValueError(f"{name} has {box!r} at row {row}: a box is four numbers")
    return values


def arrow_boxes(values: Any, name: str) -> np.ndarray:
    """Convert an Arrow column of lists of four numbers to a matrix."""
    if values.null_count:
        row = int(np.flatnonzero(np.asarray(values.is_null()))[0])
        raise ValueError(f"{name} has a null at row {row}")
    kind = str(values.type)
    if not kind.startswith(("list", "large_list", "fixed_size_list")):
        raise validation.InputError(f"{name} has type {kind}: a box is a list of four numbers")
    if not kind.startswith("fixed_size_list"):
        lengths = np.diff(np.asarray(values.offsets))
    else:
        lengths = np.full(len(values), values.type.list_size)
    if (lengths != 4).any():
        row = int(np.argmax(lengths != 4))
        raise ValueError(f"{name} has a list of {lengths[row]} at row {row}: a box is four numbers")
    flat = values.flatten()
    if flat.null_count:
        row = int(np.flatnonzero(np.asarray(flat.is_null()))[0]) // 4
        raise ValueError(f"{name} has a null at row {row}")
    return validation.as_floats(flat, name).reshape(-1, 4) if len(flat) else np.empty((0, 4))
