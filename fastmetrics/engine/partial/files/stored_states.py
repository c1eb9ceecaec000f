"""The additive states, histograms and counts of slices of a state file, read and checked."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from fastmetrics._core.score_statistics.score_histogram import ScoreHistogram
from fastmetrics._core.state import State
from fastmetrics.engine.partial.files.containers import ArrayReader, errors_mean_damage, require
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.slice_counts import SliceCounts


def read_counts(part: PartState, numbers: list[Any], arrays: ArrayReader) -> None:
    """The rows of every slice."""
    require(numbers or not part.counts.rows_kept or not part.names.by, "its counts of slices are missing")
    if not numbers:
        return
    require(part.names.by, "it counts slices that it does not have")
    n_labels = len(part.names.labels) if part.additive.has_classes else 0
    counts = part.additive.counts = SliceCounts(n_labels)
    total, of_slices, by_slice = numbers
    counts.total = arrays.get(total, np.int64, 1 + n_labels).copy()
    slices = arrays.get(of_slices, np.int64, None)
    found = arrays.get(by_slice, np.int64, 1 + n_labels, slices.shape[0])
    require(
        ((slices >= 0) & (slices < len(part.slices))).all() and (slices[1:] > slices[:-1]).all(),
        "counts belong to no slice",
    )
    counts.add_many(slices, found)
    for own in (counts.total, found):
        require((own >= 0).all(), "a count is negative")
        require((own[1:] <= own[0]).all(), "a slice has more positives than rows")
    times = len(part.slices.sets)
    require(
        counts.total[0] == part.counts.rows_kept
        and [sum(own) for own in found.tolist()] == [times * own for own in counts.total.tolist()],
        "its slices have not the rows it counts",
    )


def rows_of_slices(part: PartState) -> dict[int | None, int]:
    """The rows of every slice that has some; those of all rows (None) if there are no slices."""
    if part.additive.counts is not None:
        return {number: own.rows for number, own in part.additive.counts.counts().items()}
    return {None: part.counts.rows_kept} if part.counts.rows_kept else {}


def load_state(state: State, numbers: list[Any], arrays: ArrayReader) -> None:
    """Fill an empty state with the arrays of these numbers."""
    layout = state.layout()
    require(len(numbers) == len(layout), "a state has not the arrays it should have")
    found = [arrays.get(number, *expected) for number, expected in zip(numbers, layout, strict=True)]
    with errors_mean_damage("a state"):
        state.load_arrays(*found)


def load_states(
    what: str,
    found: list[list[Any]],
    expected: dict[tuple[Any, ...], int],
    new: Callable[..., State],
    arrays: ArrayReader,
) -> None:
    """Fill the states of all keys with what is found, keys and numbers of arrays; `expected` are their rows."""
    length = len(next(iter(expected), ()))
    for entry in found:
        key = tuple(entry[:length])
        require(key in expected, f"{what} are there twice, or of no statistic, column or slice with rows")
        state, rows = new(*key), expected.pop(key)
        load_state(state, entry[length:], arrays)
        require(state.n_rows in (None, rows), f"its {what} have not the rows it counts")
    require(not expected, f"its {what} have not the rows it counts: some are missing")


def read_sums(part: PartState, found: list[list[Any]], arrays: ArrayReader) -> None:
    """The sums of every statistic, output and slice of a base set: each is there once, with the rows of its slice."""
    statistics, rows = part.plan.statistics["none"], rows_of_slices(part)
    sets, bases = part.slices.set_of_slices(), part.slices.base_sets()
    of_bases = [number for number in rows if number is None or sets[number] in bases]
    keys = product(range(len(statistics)), range(len(part.outputs)), of_bases)

    def new(index: int, output: int, slice_number: int | None) -> State:
        return part.additive.state(statistics[index], output, slice_number)

    load_states("sums", found, {key: rows[key[2]] for key in keys}, new, arrays)


def read_histograms(part: PartState, found: list[list[Any]], arrays: ArrayReader) -> None:
    """The histogram of every output and slice: each is there once, with the rows of its slice."""
    rows = rows_of_slices(part) if part.options.n_bins and part.plan.needs("range") else {}
    keys = product(range(len(part.outputs)), rows)

    def new(*key: Any) -> State:
        histogram = part.histograms[key] = ScoreHistogram(part.options.n_bins)
        return histogram

    load_states("histograms", found, {key: rows[key[1]] for key in keys}, new, arrays)
