"""The content of a state, written: question, counts of rows, additive states, histograms, and rows by exchange."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fastmetrics._core.columns.label_columns import MIXED, NUMBER
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.hash_exchange import HashExchange
from fastmetrics._core.optional_imports import pyarrow
from fastmetrics._core.tables.key_texts import KeyTexts
from fastmetrics.engine.evaluation.evaluation import Evaluation
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.partial_state import PartialState
from fastmetrics.engine.partial.state_files import MARKED, NUMBER_MARK, TEXT_MARK, StateWriter
from fastmetrics.engine.partial.stored_rows import ROW_GROUP_ROWS, parquet_files
from fastmetrics.engine.partial.task_state import TaskState


def write_states(file: Any, state: PartialState, question: Evaluation, n_threads: int) -> None:
    """Write a state whose rows are flushed, with the question that it answers."""
    writer = StateWriter()
    headers = [write_state(own, writer, f"tasks/{number}", n_threads) for number, own in enumerate(state.states)]
    header = {"evaluation": question.to_dict(), "sources": sorted(state.sources), "tasks": headers}
    writer.write(file, header)


def write_state(state: TaskState, writer: StateWriter, place: str, n_threads: int) -> dict[str, Any]:
    """The header of a task's state; its arrays and sections are added to those of the writer."""
    counts, slices = state.counts, state.slices
    types = types_of_slices(state)
    writer.sections.append(
        (f"{place}/slices/{number}.arrow", [values_to_stream(own.values, [types.get(name, "") for name in own.names])])
        for number, own in enumerate(slices.columns)
        if own.values
    )
    return {
        "rows": counts.rows,
        "dropped": counts.dropped,
        "filtered": counts.filtered,
        "slices": writer.add(slices_to_array(slices)),
        "parts": [
            write_part(part, writer, f"{place}/parts/{number}", n_threads) for number, part in enumerate(state.parts)
        ],
    }


def write_part(part: PartState, writer: StateWriter, place: str, n_threads: int) -> dict[str, Any]:
    """What the header says about a part of the plan; its arrays and sections are added to those of the writer."""
    counts = part.counts
    statistics = {statistic: number for number, statistic in enumerate(part.plan.statistics["none"])}
    writer.sections += [
        write_rows(f"{place}/{name}", store, None if exchange is None else exchange.key_dtype, n_threads)
        for name, (store, exchange) in stores_of(part).items()
    ]
    partitions = {
        name: [writer.add(store.partition_rows), store.text_bytes]
        for name, (store, exchange) in stores_of(part).items()
        if exchange is not None and store.rows >= ROW_GROUP_ROWS
    }
    return (
        {
            "types": part.types.found,
            "seen": counts.label_kinds_seen,
            "minus_one_rows": counts.minus_one_rows,
            **({"partitions": partitions} if partitions else {}),
            **({} if counts.n_classes is None else {"n_classes": counts.n_classes}),
            "sum_distances": counts.sum_distances,
            "differing": counts.differing,
            "float_keys": sorted(part.reader.float_keys),
            "sums": [
                [statistics[statistic], output, number, *map(writer.add, sums.arrays())]
                for (statistic, output, number), sums in part.additive.sums.items()
            ],
            "histograms": [
                [output, number, *map(writer.add, histogram.arrays())]
                for (output, number), histogram in part.histograms.items()
            ],
        }
        | write_key_texts(part.reader.key_texts, writer)
        | write_counts(part, writer)
    )


def write_rows(
    place: str, store: BlockStore, key_dtype: np.dtype | None, n_threads: int
) -> Iterator[tuple[str, list[Any]]]:
    """The sections of the rows of a store."""
    if store.rows:
        for number, pieces in enumerate(parquet_files(store, key_dtype, n_threads)):
            yield f"{place}/{number}.parquet", pieces


def stores_of(part: PartState) -> dict[str, tuple[BlockStore, HashExchange | None]]:
    """The stores that keep all rows, and their exchanges, by the folders of their sections."""
    units = None if part.unit_exchange is part.group_exchange else part.unit_exchange
    main = units if part.group_exchange is None else part.group_exchange
    stores: dict[str, tuple[BlockStore, HashExchange | None]] = {"rows": (part.range_store(), main)}
    if units is not None and units is not main:
        stores["unit_rows"] = units.store, units
    return stores


def write_key_texts(key_texts: KeyTexts, writer: StateWriter) -> dict[str, Any]:
    """The texts behind numbers in columns of keys; nothing if no metric reads keys."""
    if key_texts.kind is None:
        return {}
    return {"key_texts": [key_texts.kind, *map(writer.add, key_texts.arrays())]}


def write_counts(part: PartState, writer: StateWriter) -> dict[str, Any]:
    """The rows and positives of all rows, and of every slice that has rows."""
    counts = part.additive.counts
    if counts is None:
        return {}
    numbers = np.flatnonzero(counts.by_slice[0])
    return {"counts": [*map(writer.add, (counts.total, numbers, counts.by_slice[:, numbers]))]}


def types_of_slices(state: TaskState) -> dict[str, str]:
    """The Arrow types of the columns of slices, by name; nothing before the first row."""
    types, by = state.parts[0].types.found, state.names.by
    if types is None:
        return {}
    cut = dict.fromkeys((own.title for own in state.names.bins), "string")
    return dict(zip(by, types[len(types) - len(by) :], strict=True)) | cut


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
