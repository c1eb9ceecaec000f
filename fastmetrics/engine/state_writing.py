"""The content of a state's bytes, written: options, counts of rows, additive states, histograms, and blocks of rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fastmetrics._core.columns.key_types import TAIL, TEXT, parts_of
from fastmetrics._core.columns.label_columns import MIXED, NUMBER
from fastmetrics._core.columns.row_blocks import SLICE
from fastmetrics._core.exchange.blocks import NO_TEXT, TEXT_PADDING, Block
from fastmetrics._core.exchange.hash_exchange import HashExchange
from fastmetrics._core.optional_imports import pyarrow
from fastmetrics._core.tables.key_texts import KeyTexts
from fastmetrics.engine.evaluation.evaluation import Evaluation
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.partial_state import PartialState
from fastmetrics.engine.partial.task_state import TaskState
from fastmetrics.engine.state_format import MARKED, NUMBER_MARK, TEXT_MARK, ArrayWriter, pack_state


def write_states(state: PartialState, question: Evaluation) -> bytes:
    """The bytes of the states of all tasks, whose rows are flushed, with the question that they answer."""
    arrays = ArrayWriter()
    headers = [write_state(own, arrays) for own in state.states]
    header = {"evaluation": question.to_dict(), "sources": sorted(state.sources), "tasks": headers}
    return pack_state(header, arrays)


def write_state(state: TaskState, arrays: ArrayWriter) -> dict[str, Any]:
    """The header of a task's state. Its arrays are appended."""
    counts, slices = state.counts, state.slices
    types = types_of_slices(state)
    return {
        "rows": counts.rows,
        "dropped": counts.dropped,
        "filtered": counts.filtered,
        "slice_values": [
            arrays.add(values_to_array(own.values, [types.get(name, "") for name in own.names]))
            for own in slices.columns
        ],
        "slices": arrays.add(slices_to_array(slices)),
        "parts": [write_part(part, arrays) for part in state.parts],
    }


def write_part(part: PartState, arrays: ArrayWriter) -> dict[str, Any]:
    """What the header says about a part of the plan; its arrays are appended."""
    statistics = {statistic: number for number, statistic in enumerate(part.plan.statistics["none"])}
    return (
        {
            "types": part.types.found,
            "seen": part.counts.label_kinds_seen,
            "minus_one_rows": part.counts.minus_one_rows,
            **({} if part.counts.n_classes is None else {"n_classes": part.counts.n_classes}),
            **({"sum_distances": part.counts.sum_distances} if any(part.counts.sum_distances) else {}),
            **({"float_keys": sorted(part.reader.float_keys)} if part.reader.float_keys else {}),
            "sums": [
                [statistics[statistic], output, number, *map(arrays.add, sums.arrays())]
                for (statistic, output, number), sums in part.additive.sums.items()
            ],
            "histograms": [
                [output, number, *map(arrays.add, histogram.arrays())]
                for (output, number), histogram in part.histograms.items()
            ],
            "exchange": describe_exchange(part.group_exchange),
            "units": None if part.unit_exchange is part.group_exchange else describe_exchange(part.unit_exchange),
            "blocks": [write_block(block, arrays) for block in part.range_store().loaded_blocks()],
            "unit_blocks": [write_block(block, arrays) for block in unit_blocks(part)],
        }
        | write_key_texts(part.reader.key_texts, arrays)
        | write_counts(part, arrays)
    )


def write_key_texts(key_texts: KeyTexts, arrays: ArrayWriter) -> dict[str, Any]:
    """The texts behind numbers in columns of keys; nothing if no metric reads keys."""
    if key_texts.kind is None:
        return {}
    return {"key_texts": [key_texts.kind, *map(arrays.add, key_texts.arrays())]}


def write_counts(part: PartState, arrays: ArrayWriter) -> dict[str, Any]:
    """The rows and positives of all rows, and of every slice that has rows."""
    counts = part.additive.counts
    if counts is None:
        return {}
    numbers = np.flatnonzero(counts.by_slice[0])
    return {"counts": [*map(arrays.add, (counts.total, numbers, counts.by_slice[:, numbers]))]}


def describe_exchange(exchange: HashExchange | None) -> list[Any] | None:
    """Are keys text, the type in which they are stored, the bits of the hash that number partitions."""
    if exchange is None:
        return None
    stored = ["|O" if part == TEXT else "<u8" if part.kind == "u" else "<i8" for part in parts_of(exchange.key_dtype)]
    return [TAIL in exchange.slots, stored[0] if len(stored) == 1 else stored, exchange.bits]


def unit_blocks(part: PartState) -> Iterable[Block]:
    """The rows by resampling unit, if other blocks keep them by group."""
    if part.unit_exchange is None or part.unit_exchange.store is part.range_store():
        return []
    return part.unit_exchange.store.loaded_blocks()


def write_block(block: Block, arrays: ArrayWriter) -> list[Any]:
    """Columns, offsets and text of a block. Long text is found by its offset in the text, not by its address."""
    # The slices of rows are computed from the codes.
    columns = {name: arrays.add(own) for name, own in block.movable_columns().items() if name != SLICE}
    text = block.text
    if text.shape[0]:
        # The padding was never written: a state must not carry what the memory held before.
        text = np.concatenate((text[:-TEXT_PADDING], np.zeros(TEXT_PADDING, np.uint8)))
    return [columns, arrays.add(block.offsets), arrays.add(text)]


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


def values_to_array(values: list[tuple[Any, ...]], types: list[str]) -> np.ndarray:
    """Values as Arrow's IPC bytes, which keep dates as dates; `types` are those of the columns."""
    if not values:
        return NO_TEXT
    names, columns = [], []
    for number, (column, name) in enumerate(zip(zip(*values, strict=True), types, strict=True)):
        is_marked = name in (NUMBER, MIXED, "uint64") or name.startswith("decimal")
        names.append(f"{number} {MARKED}" if is_marked else str(number))
        columns.append(pyarrow.array(map(mark_value, column) if is_marked else column, exact_type(name)))
    table = pyarrow.table(columns, names=names)
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return np.frombuffer(sink.getvalue(), np.uint8)


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
