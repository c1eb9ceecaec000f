"""Take the bytes of an accumulator apart into header, arrays and other sections, and put them together again."""

import io
import json
import zipfile
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HEADER = "state.json"
ROWS = "tasks/0/parts/0/rows/0.parquet"
VALUES = "tasks/0/slices/0.arrow"
# Fields of a file, and of the parts of a task. All others are fields of a task.
OF_FILES = ("format", "library", "arrays", "evaluation", "sources")
OF_PARTS = {
    "types", "seen", "minus_one_rows", "n_classes", "float_keys", "sums", "histograms", "key_texts", "counts",
    "partitions", "differing", "sum_distances", "key_kind", "truth_rows", "truth_dropped", "truth_types",
}  # fmt: skip


class Parts(NamedTuple):
    """The header, in which the fields of a task with one part stand side by side, the arrays, and other sections."""

    header: dict
    arrays: list
    sections: dict


def sections_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def take_apart(data):
    """A state, read by the documented layout."""
    sections = sections_of(data)
    header = json.loads(sections.pop(HEADER))
    wholes = {name[7:-4]: np.load(io.BytesIO(sections.pop(name))) for name in list(sections) if name[:7] == "arrays/"}
    arrays = []
    for kind, shape in header["arrays"]:
        size = int(np.prod(shape))
        arrays.append(wholes[kind][:size].reshape(shape).copy())
        wholes[kind] = wholes[kind][size:]
    assert not any(map(len, wholes.values()))
    return Parts(side_by_side(header), arrays, sections)


def side_by_side(header):
    tasks = header["tasks"]
    if len(tasks) != 1 or len(tasks[0]["parts"]) != 1:
        return header
    task = dict(tasks[0])
    (part,) = task.pop("parts")
    assert part.keys() <= OF_PARTS
    return {name: header[name] for name in OF_FILES} | task | part


def nested(header):
    if "tasks" in header:
        return header
    part = {name: own for name, own in header.items() if name in OF_PARTS}
    task = {name: own for name, own in header.items() if name not in OF_PARTS.union(OF_FILES)} | {"parts": [part]}
    return {name: header[name] for name in OF_FILES if name in header} | {"tasks": [task]}


def shapes_of(arrays):
    return [[array.dtype.name, list(array.shape)] for array in arrays]


def array_sections(arrays):
    """The sections of arrays by type, in the order of their first arrays."""
    sections = {}
    for kind in dict.fromkeys(array.dtype.name for array in arrays):
        out = io.BytesIO()
        own = [array.reshape(-1) for array in arrays if array.dtype.name == kind]
        np.lib.format.write_array(out, np.concatenate(own), (1, 0), allow_pickle=False)
        sections[f"arrays/{kind}.npy"] = out.getvalue()
    return sections


def seal(sections):
    """An archive of these sections, whose checksums are right."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in sections.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


def put_together(header, arrays, sections):
    header = nested(header) | {"arrays": shapes_of(arrays)}
    return seal({HEADER: json.dumps(header).encode(), **array_sections(arrays), **sections})


def code_of(number):
    """A float64 as rows have it."""
    bits = np.float64(number).view(np.int64)
    return bits ^ ((bits >> 63) & np.iinfo(np.int64).max)


def set_value(sections, name, index, value):
    """Replace a value of a column of rows."""
    columns = rows_of(sections)
    columns[name] = columns[name].copy()
    columns[name][index] = value
    put_rows(sections, columns)


def rows_of(sections, name=ROWS):
    """The columns of rows, as NumPy arrays; those of keys as Arrow arrays."""
    table = pq.read_table(io.BytesIO(sections[name]))
    return {
        field.name: column if field.nullable else column.to_numpy()
        for field, column in zip(table.schema, table.combine_chunks().columns, strict=True)
    }


def put_rows(sections, columns, name=ROWS):
    """Replace the rows of a section."""
    arrays = [column if isinstance(column, pa.ChunkedArray) else pa.array(column) for column in columns.values()]
    fields = [
        pa.field(own, array.type, nullable=own.startswith("key"))
        for own, array in zip(columns, arrays, strict=True)
    ]
    out = io.BytesIO()
    pq.write_table(pa.table(arrays, schema=pa.schema(fields)), out, compression="none", store_schema=False)
    sections[name] = out.getvalue()
