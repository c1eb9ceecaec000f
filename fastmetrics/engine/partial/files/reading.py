"""The content of a state, read: question, counts of rows, additive states, histograms, and rows by exchange.

Whatever is read is checked before a kernel sees it: a checksum can be right for content that no accumulator ever had.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.tables.key_texts import KeyTexts
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.input.stored_slices import add_slices, add_values
from fastmetrics.engine.partial.files.containers import (
    READING,
    ArrayReader,
    StateReader,
    errors_mean_damage,
    is_count,
    require,
    take_fields,
)
from fastmetrics.engine.partial.files.fields import FILE, PART, TASK, check_part
from fastmetrics.engine.partial.files.stored_states import read_counts, read_histograms, read_sums
from fastmetrics.engine.partial.files.stored_stores import read_stores
from fastmetrics.engine.partial.partial_state import PartialState
from fastmetrics.engine.partial.task_state import TaskState


@errors_mean_damage("its header does not fit its numbers")
def fill_states(state: PartialState, reader: StateReader) -> None:
    """Fill the empty state of a question with what a file of it holds."""
    header = take_fields(reader.header, FILE)
    arrays = ArrayReader(reader, header["arrays"])
    for number, (own, of_task) in enumerate(zip(state.states, header["tasks"], strict=True)):
        fill_state(own, take_fields(of_task, TASK), arrays, reader, f"tasks/{number}")
    state.sources = frozenset(header["sources"])
    require(len(state.sources) == len(header["sources"]), "a source is there twice")
    has_rows = bool(state.rows or state.truth_rows)
    require(bool(state.sources) == has_rows, "it has rows without sources, or sources without rows")
    require(all(own.counts.rows == state.rows for own in state.states), "its tasks have different rows")
    require(not reader.unread, f"it has sections that no metric needs: {', '.join(sorted(reader.unread))}")
    require(not arrays.unread, f"it has arrays that no metric needs: {sorted(arrays.unread)}")


def fill_state(
    state: TaskState, header: dict[str, Any], arrays: ArrayReader, reader: StateReader, place: str
) -> None:
    """Fill an empty state of a task."""
    headers = header["parts"]
    require(len(headers) == len(state.parts), "its parts are not those of its metrics")
    rows, filtered, dropped = header["rows"], header["filtered"], header["dropped"]
    rows_kept = rows - filtered - sum(dropped.values())
    require(is_count(rows, 1 << 63) and rows_kept >= 0, "its counts of rows do not fit each other")
    for part, part_header in zip(state.parts, headers, strict=True):
        counts = part.counts
        counts.rows, counts.rows_kept, counts.filtered, counts.dropped = rows, rows_kept, filtered, dict(dropped)
        take_fields(part_header, PART, part)
        check_part(part)
    read_slices(state.slices, arrays.get(header["slices"], np.int64, None, None), reader, place)
    for number, (part, part_header) in enumerate(zip(state.parts, headers, strict=True)):
        read_key_texts(part.reader.key_texts, part_header, arrays)
        read_counts(part, part_header["counts"], arrays)
        read_sums(part, part_header["sums"], arrays)
        read_histograms(part, part_header["histograms"], arrays)
        read_stores(part, part_header["partitions"], arrays, reader, f"{place}/parts/{number}")


def read_slices(slices: GroupingSets, found: np.ndarray, reader: StateReader, place: str) -> None:
    """Register the values of columns, and the slices, in the order of their numbers."""
    for number, own in enumerate(slices.columns):
        name = f"{place}/slices/{number}.arrow"
        if name in reader.unread:
            with errors_mean_damage(name, *READING):
                add_values(slices, own, reader.read(name))
    with errors_mean_damage("its slices"):
        add_slices(slices, found)


def read_key_texts(key_texts: KeyTexts, header: dict[str, Any], arrays: ArrayReader) -> None:
    kind, numbers = header["key_kind"], header["key_texts"]
    require(kind is None or key_texts.roles, "it has texts of keys that no metric reads")
    require(kind is not None or not numbers, "its keys have no kind")
    if kind is not None:
        data, offsets = numbers
        with errors_mean_damage("its keys"):
            key_texts.load(kind, arrays.get(data, np.uint8, None), arrays.get(offsets, np.int64, None))
