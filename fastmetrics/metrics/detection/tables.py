"""Tables of any library as columns by name, and columns of boxes as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fastmetrics._core import inputs
from fastmetrics.metrics.detection.coco_files import Records

ACCEPTED = (
    "{name} must be {coco}the path of a COCO JSON file, an object with .dataset, or columns: a dict of arrays, a data "
    "frame of pandas or polars, an Arrow table; found {kind}"
)
COCO = {"ground_truth": "a dict of images, annotations and categories, ", "detections": "a list of dicts, "}


def open_table(data: Any, name: str) -> Mapping[str, Any]:
    """The columns of a table by name, as its library has them."""
    kind = type(data)
    module = kind.__module__.partition(".")[0]
    if isinstance(data, Mapping):
        return data
    if isinstance(data, list) and not data and name == "detections":  # no results, as COCO's form has none
        return {"image": [], "category": [], "box": [], "score": []}
    if module == "pandas" and kind.__name__ == "DataFrame":
        return named(list(data.columns), lambda place: data.iloc[:, place], name)
    if module == "pyarrow" and hasattr(data, "read_all"):
        data = data.read_all()
    elif module == "pyarrow" and hasattr(data, "to_table"):
        data = data.to_table()
    elif module == "polars" and hasattr(data, "get_columns"):
        columns = data.get_columns()
        return named([column.name for column in columns], columns.__getitem__, name)
    elif module != "pyarrow" and hasattr(data, "__arrow_c_stream__"):
        try:
            import pyarrow
        except ImportError as error:
            raise ImportError("reading tables needs pyarrow: pip install 'fastmetrics[arrow]'") from error
        data = pyarrow.RecordBatchReader.from_stream(data).read_all()
    if not (hasattr(data, "column") and hasattr(data, "schema")):
        hint = "; collect it first: data.collect()" if hasattr(data, "collect") else ""
        shown = "list" if isinstance(data, Records) else kind.__name__
        raise inputs.InputError(ACCEPTED.format(name=name, coco=COCO[name], kind=shown) + hint)
    return named(data.schema.names, data.column, name)


def named(names: list[Any], column: Any, name: str) -> dict[str, Any]:
    """Columns by name; no two of one name."""
    if len(set(names)) < len(names):
        twice = next(each for place, each in enumerate(names) if each in names[:place])
        raise ValueError(f"{name} has two columns named {twice!r}; rename one")
    return {str(each): column(place) for place, each in enumerate(names)}


def box_numbers(values: Any, name: str) -> Any:
    """A column whose rows are lists of four numbers, as a matrix; what is a matrix already as it is."""
    module = type(values).__module__.partition(".")[0]
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
    if values.null_count:
        row = int(np.flatnonzero(np.asarray(values.is_null()))[0])
        raise ValueError(f"{name} has a null at row {row}")
    kind = str(values.type)
    if not kind.startswith(("list", "large_list", "fixed_size_list")):
        raise inputs.InputError(f"{name} has type {kind}: a box is a list of four numbers")
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
    return inputs.as_floats(flat, name).reshape(-1, 4) if len(flat) else np.empty((0, 4))
