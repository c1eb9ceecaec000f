"""Slices in files of states: the numbers of their sets and values as an array, the values as an Arrow stream."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.columns.label_columns import MIXED, NUMBER
from fastmetrics._core.object_keys import value_of_numeral
from fastmetrics._core.optional_imports import pyarrow
from fastmetrics._core.state import check_state
from fastmetrics.engine.input.grouping_sets import GroupingSets

MARKED = "marked"  # ends the name of a column whose values are texts that begin with one of these
NUMBER_MARK, TEXT_MARK = "n", "t"


def slices_to_array(slices: GroupingSets) -> np.ndarray:
    """The number of the set of every slice, and the codes of its values: 0 for columns that are not in the set."""
    found = np.zeros((len(slices), 1 + len(slices.columns)), np.int64)
    for set_number, own in enumerate(slices.sets):
        found[own.numbers, 0] = set_number
        for codes, number in zip(own.members, own.numbers, strict=True):
            found[number, [1 + position for position in own.positions]] = codes
    return found


def values_to_stream(values: list[tuple[Any, ...]], types: list[str]) -> Any:
    """Values as an Arrow stream, which keeps dates as dates; `types` are those of the columns."""
    names, columns = [], []
    for number, (column, name) in enumerate(zip(zip(*values, strict=True), types, strict=True)):
        is_marked = name in (NUMBER, MIXED, "uint64") or name.startswith("decimal")
        names.append(f"{number} {MARKED}" if is_marked else str(number))
        columns.append(pyarrow.array(map(mark_value, column) if is_marked else column, exact_type(name)))
    table = pyarrow.table(columns, names=names)
    out = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)
    return out.getvalue()


def mark_value(value: Any) -> str | None:
    """A number of any width, or a text, as a text that says which of them it is."""
    if value is None:
        return None
    return TEXT_MARK + value if isinstance(value, str) else f"{NUMBER_MARK}{value}"


def exact_type(name: str) -> Any:
    """The Arrow type of that name, if Arrow would infer a type from Python values that cannot hold them all."""
    if name == "duration[ns]":
        return pyarrow.duration("ns")
    if name.startswith("timestamp[ns"):
        return pyarrow.timestamp("ns", name.partition("tz=")[2].removesuffix("]") or None)
    return None


def add_slices(slices: GroupingSets, found: np.ndarray) -> None:
    """Register the slices of an array, which may be from an untrusted file, in the order of their numbers."""
    check_state(found.shape[1] == 1 + len(slices.columns), "its slices are of other columns")
    sizes = [len(own.values) for own in slices.columns]
    for number, (set_number, *codes) in enumerate(found.tolist()):
        check_state(0 <= set_number < len(slices.sets), "a slice is of no grouping set")
        positions = slices.sets[set_number].positions
        check_state(all(0 <= codes[position] < sizes[position] for position in positions), "a slice has no values")
        registered = slices.register(set_number, tuple(codes[position] for position in positions))
        check_state(registered == number, "a slice is there twice")
    slices.check_sizes()


def add_values(slices: GroupingSets, columns: Any, data: bytes) -> None:
    """Register the values of columns that are coded together, as a stream that may be from an untrusted file."""
    table = pyarrow.ipc.open_stream(data).read_all()
    table.validate(full=True)
    check_state(table.num_columns == len(columns.names), "slices lack values")
    of_columns = [
        read_values(name, column.to_pylist()) for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    values = list(zip(*of_columns, strict=True))
    check_state(list(map(columns.code, values)) == [*range(len(values))], "a value is there twice")
    for known, of_column in zip(map(slices.places.get, columns.names), of_columns, strict=True):
        fits = known is None or known.keys() >= {*of_column} - {None}
        check_state(fits, "a value is no interval of its column")


def read_values(name: str, values: list[Any]) -> list[Any]:
    """The values of a column; of marked ones, the numbers and texts that they stand for."""
    if not name.endswith(MARKED):
        return values
    known = [value for value in values if value is not None]
    are_marked = all(isinstance(value, str) and value[:1] in (NUMBER_MARK, TEXT_MARK) for value in known)
    check_state(are_marked, "values of slices have no type")
    return [
        value if value is None else value_of_numeral(value[1:]) if value[0] == NUMBER_MARK else value[1:]
        for value in values
    ]
