"""The content of a state, written: question, counts of rows, additive states, histograms, and rows by exchange."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.hash_exchange import HashExchange
from fastmetrics.engine.evaluation.evaluation import Evaluation
from fastmetrics.engine.input.stored_slices import slices_to_array, values_to_stream
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.partial_state import PartialState
from fastmetrics.engine.partial.state_files import (
    COUNT,
    DISTANCE,
    FLAG,
    OBJECT,
    SHAPE,
    TEXT,
    HeaderField,
    StateWriter,
    list_of,
    object_of,
    optional,
    values_of_fields,
)
from fastmetrics.engine.partial.stored_rows import ROW_GROUP_ROWS, parquet_files
from fastmetrics.engine.partial.task_state import TaskState

# The fields of the header, of a task and of a part. Files are written, read and checked by them, and the page of state
# files shows them.
NUMBERS = list_of(optional(COUNT))  # of arrays, behind those of what they belong to
FILE = (
    HeaderField("arrays", list_of(SHAPE), "type and shape of every array"),
    HeaderField("sources", list_of(TEXT), "ids of what was merged"),
    HeaderField("tasks", list_of(OBJECT), "the states of tasks"),
)
TASK = (
    HeaderField("rows", COUNT, "rows read"),
    HeaderField("dropped", object_of(COUNT), "dropped rows by reason"),
    HeaderField("filtered", COUNT, "rows that the filter left out"),
    HeaderField("slices", COUNT, "array: the grouping set and the codes of every slice"),
    HeaderField("parts", list_of(OBJECT), "the parts: metrics that read the same columns"),
)
PART = (
    HeaderField(
        "types", optional(list_of(TEXT)), "Arrow types of columns; null before the first row", "types.found", tuple
    ),
    HeaderField("seen", list_of(COUNT), "kinds of labels, by column", "counts.label_kinds_seen"),
    HeaderField(
        "minus_one_rows", list_of(optional(COUNT)), "the first row with label -1, by column", "counts.minus_one_rows"
    ),
    HeaderField("n_classes", optional(COUNT), "how many probabilities a row has", "counts.n_classes"),
    HeaderField(
        "sum_distances", list_of(DISTANCE), "how far probabilities of a row are from 1 together, by model",
        "counts.sum_distances", tuple,
    ),
    HeaderField("differing", list_of(FLAG), "has a model other values than the first?", "counts.differing", tuple),
    HeaderField("float_keys", list_of(TEXT), "columns of keys that are floats", "reader.float_keys", set),
    HeaderField("truth_rows", COUNT, "rows of the truth table, which have NaN as scores", "counts.truth_rows"),
    HeaderField("truth_dropped", COUNT, "its dropped rows", "counts.truth_dropped"),
    HeaderField("truth_types", object_of(TEXT), "Arrow types of its keys, by column of the log", "counts.truth_types"),
    HeaderField("key_kind", optional(TEXT), "are keys of roles texts, or integers?"),
    HeaderField("key_texts", NUMBERS, "arrays: the bytes of texts that have numbers in rows, and their offsets"),
    HeaderField("counts", NUMBERS, "arrays: rows and positives of all rows; slices; rows and positives of each"),
    HeaderField("sums", list_of(NUMBERS), "statistic, output, slice and arrays of every additive state"),
    HeaderField("histograms", list_of(NUMBERS), "output, slice and arrays of every histogram of an approximate state"),
    HeaderField(
        "partitions", object_of(NUMBERS),
        "by section of rows with keys, from 2^16 rows on: an array, the rows of every partition, and the bytes of long "
        "keys",
    ),
)  # fmt: skip


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


def stores_of(part: PartState) -> dict[str, tuple[BlockStore, HashExchange | None]]:
    """The stores that keep all rows, and their exchanges, by the folders of their sections."""
    units = None if part.unit_exchange is part.group_exchange else part.unit_exchange
    main = units if part.group_exchange is None else part.group_exchange
    stores: dict[str, tuple[BlockStore, HashExchange | None]] = {"rows": (part.range_store(), main)}
    if units is not None and units is not main:
        stores["unit_rows"] = units.store, units
    return stores


def types_of_slices(state: TaskState) -> dict[str, str]:
    """The Arrow types of the columns of slices, by name; nothing before the first row."""
    types, by = state.parts[0].types.found, state.names.by
    if types is None:
        return {}
    cut = dict.fromkeys((own.title for own in state.names.bins), "string")
    return dict(zip(by, types[len(types) - len(by) :], strict=True)) | cut
