"""The content of a state, written: question, counts of rows, additive states, histograms, and rows by exchange."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics.engine.evaluation.evaluation import Evaluation
from fastmetrics.engine.input.stored_slices import slices_to_array, values_to_stream
from fastmetrics.engine.partial.files.containers import StateWriter, values_of_fields
from fastmetrics.engine.partial.files.fields import PART
from fastmetrics.engine.partial.files.stored_rows import ROW_GROUP_ROWS, parquet_files
from fastmetrics.engine.partial.files.stored_stores import stores_of
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.partial_state import PartialState
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
    texts, counts = part.reader.key_texts, part.additive.counts
    statistics = {statistic: number for number, statistic in enumerate(part.plan.statistics["none"])}
    writer.sections += [
        write_rows(f"{place}/{name}", store, None if exchange is None else exchange.key_dtype, n_threads)
        for name, (store, exchange) in stores_of(part).items()
    ]
    return values_of_fields(part, PART) | {
        "key_kind": texts.kind,
        "key_texts": [] if texts.kind is None else writer.add_all(texts),
        "counts": [] if counts is None else writer.add_all(counts),
        "sums": [
            [statistics[statistic], output, number, *writer.add_all(sums)]
            for (statistic, output, number), sums in part.additive.sums.items()
        ],
        "histograms": [[*key, *writer.add_all(histogram)] for key, histogram in part.histograms.items()],
        "partitions": {
            name: [writer.add(store.partition_rows), store.text_bytes]
            for name, (store, exchange) in stores_of(part).items()
            if exchange is not None and store.rows >= ROW_GROUP_ROWS
        },
    }


def write_rows(
    place: str, store: BlockStore, key_dtype: np.dtype | None, n_threads: int
) -> Iterator[tuple[str, list[Any]]]:
    """The sections of the rows of a store."""
    if store.rows:
        for number, pieces in enumerate(parquet_files(store, key_dtype, n_threads)):
            yield f"{place}/{number}.parquet", pieces


def types_of_slices(state: TaskState) -> dict[str, str]:
    """The Arrow types of the columns of slices, by name; nothing before the first row."""
    types, by = state.parts[0].types.found, state.names.by
    if types is None:
        return {}
    cut = dict.fromkeys((own.title for own in state.names.bins), "string")
    return dict(zip(by, types[len(types) - len(by) :], strict=True)) | cut
