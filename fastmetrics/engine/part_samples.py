"""Replicates of parts of the rows, for engines that move rows themselves: units are counted first, then drawn.

What is resampled is known when all units are: one look at all rows counts them, the next makes replicates of every part
with the same weights, and replicates of parts add up. Those of global order need the rows of a score column together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.blocks import BlockStore
from fastmetrics._core.by_group import HASH
from fastmetrics._core.keys import KeyScratch
from fastmetrics._core.lots import Lots, UnitCounter
from fastmetrics._core.replicates import Sampled, Weights
from fastmetrics._core.rows import SLICE, WEIGHT, View, label_name, score_name
from fastmetrics._core.score_replicates import replicate_scores
from fastmetrics._core.score_runs import ScoreWork
from fastmetrics.engine.columns import ROW_UNITS, ColumnNames, Reader
from fastmetrics.engine.intervals import Resampling, Walked, find_units_of_groups, sample_additive
from fastmetrics.engine.plan import Plan
from fastmetrics.engine.scan import Scan

CHANGED = "the rows are not the same each time: there are units that were not there when they were counted"


class Drawing(NamedTuple):
    """What parts are told of resampling: how, and the lots of all units."""

    resampling: Resampling
    lots: Lots


def check_unit_column(resampling: Resampling | None) -> None:
    """Rows of parts have no places in a log."""
    if resampling is not None and resampling.drawn_unit == ROW_UNITS:
        raise ValueError(
            "rows have no places here, so they cannot be resampled one by one: name a column whose values are the "
            "units, unit=..."
        )


def count_units(plan: Plan, names: ColumnNames, on_invalid: str, batches: Iterable[Any]) -> UnitCounter:
    """The units of the rows that are not left out."""
    reader, counter = Reader(names, on_invalid, plan.targets), UnitCounter()
    first_row = 0
    for batch in batches:
        found = reader.read(batch, first_row).unit_keys
        first_row += batch.num_rows
        if found is not None and found.rows:
            scratch = KeyScratch(found.rows, found.is_text)
            found.hash_block(0, found.rows, scratch)
            counter.add(scratch.hashes[: found.rows])
    return counter


class StateList:
    """The states of all replicates, one by one."""

    def __init__(self, found: list[Any]) -> None:
        self.found = found

    def states(self) -> Iterator[Any]:
        return iter(self.found)

    def merge(self, other: StateList) -> None:
        for own, theirs in zip(self.found, other.found, strict=True):
            own.merge(theirs)


def sample_part(scan: Scan, drawing: Drawing) -> dict[Any, Any]:
    """The replicates of a part's additive statistics: what all parts have is added."""
    check_lots(scan, drawing.lots)
    resampling = drawing.resampling
    weights = Weights(drawing.lots, resampling.seed, resampling.replicates)
    sampled = sample_additive(scan, scan.plan.of_metrics(), weights, find_units_of_groups(scan), 1)
    return {key: own if isinstance(own, Sampled) else StateList(list(own.states())) for key, own in sampled.items()}


def check_lots(scan: Scan, lots: Lots) -> None:
    """All units of a part were counted: a number that none has is a place in no table."""
    if scan.counted is not None:
        found = [block.hashes for own in scan.counted.blocks.values() for block in own]
    elif scan.units is not None:
        found = [block.load()[HASH] for block in scan.units.store.whole_blocks([HASH])]
    else:
        units_of = find_units_of_groups(scan)
        found = [] if units_of is None else [units_of.units]
    check_hashes(found, lots)


def check_hashes(found: Iterable[np.ndarray], lots: Lots) -> None:
    if any(hashes.shape[0] and int(lots.numbers(hashes).min()) < 0 for hashes in found):
        raise ValueError(CHANGED)


def whole_columns(scan: Scan, score: int) -> Iterator[dict[str, np.ndarray]]:
    """The rows of one score column with their units, block by block."""
    if scan.units is None:
        return
    names = [label_name(number) for number in range(len(scan.names.labels))] + [score_name(score), HASH]
    names += [WEIGHT] if scan.names.weight is not None else []
    names += [SLICE] if scan.names.by else []
    for block in scan.units.store.whole_blocks(names):
        columns = dict(block.load())
        columns[score_name(0)] = columns.pop(score_name(score))
        yield {name: np.array(column) for name, column in columns.items()}


def walk_store(
    store: BlockStore, plan: Plan, names: ColumnNames, drawing: Drawing, values: list[Any]
) -> dict[tuple[Any, int, Any], Walked]:
    """The replicates of one score column, all of whose rows are here: by statistic, label, and values of the slice."""
    resampling = drawing.resampling
    check_hashes((block.load()[HASH] for block in store.whole_blocks([HASH])), drawing.lots)
    walked = {}
    for label in range(len(names.labels)):
        work = ScoreWork(store, View(label, 0), names.weight is not None, plan.of_metrics().statistics["score"], 1)
        for n_slices in (0, len(values)) if values else (0,):
            found = replicate_scores(work, drawing.lots, resampling.seed, resampling.replicates, n_slices)
            for (statistic, number), states in found.items():
                own = None if number is None else values[number]
                walked[statistic, label, own] = Walked(statistic, resampling.replicates, states)
    return walked
