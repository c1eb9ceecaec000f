"""Pairs of models in a part of a plan: units won and lost, and tests by a formula over the rows of both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import LABEL, SCORE, SLICE, Output, label_name, names_of, score_name
from fastmetrics._core.comparison.win_counts import (
    UnitStates,
    WinCounts,
    WinKey,
    add_counted_units,
    add_units,
    compare_units,
    count_group_wins,
    has_unit_values,
)
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.inference.difference_tests import NO_ERROR
from fastmetrics._core.inference.errors import NORMAL, ErrorEstimate
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import Metric
from fastmetrics._core.resampling.resampling_units import HASH_BITS, UnitBuckets, unit_buckets_of
from fastmetrics._core.resampling.row_replicates import RowReduction
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.slice_passes import iterate_passes, slice_sets

NO_ROW_DIFFERS = "no difference, at no row either"


class RowTest(NamedTuple):
    """The interval, the error and the p-value of a difference by a formula, or the reason why there are none."""

    bounds: tuple[float, float] | None
    error: ErrorEstimate
    pvalue: float
    reason: str | None = None


class UnitsOf(NamedTuple):
    """Takes the place of a statistic in the keys of states: of every unit by itself."""

    statistic: Any


def count_wins_of_groups(part: PartState, n_threads: int) -> dict[WinKey, WinCounts]:
    if not part.counts.rows_kept or part.group_exchange is None:
        return {}
    return count_group_wins(
        part.group_exchange, part.plan.metrics, part.outputs, slice_sets(part.slices), n_threads,
        part.reader.key_texts if part.truth else part.reader.key_texts.rank(),
    )  # fmt: skip


def metrics_by_unit(part: PartState) -> list[Metric]:
    """The metrics that every unit has a value of: those that are sums."""
    if not part.counts.rows_kept:
        return []
    return [metric for metric in part.plan.metrics if has_unit_values(metric)]


def sums_of_rows(part: PartState, metrics: list[Metric]) -> RowReduction:
    statistics = tuple(dict.fromkeys(statistic for metric in metrics for statistic in metric.statistics()))
    return RowReduction(statistics, part.outputs, part.slice_pass.n_slices, part.score_epsilons)


def states_by_unit(part: PartState, metrics: list[Metric], unit_buckets: UnitBuckets) -> UnitStates:
    """The states of the sampled units by their hashes, of the slices of one pass over the rows."""
    states = UnitStates(sampled_units(part, unit_buckets))
    if part.counted_rows is not None:
        add_counted_units(part.counted_rows, metrics, part.slice_pass.n_slices, states)
    elif part.unit_exchange is not None:
        add_units(part.unit_exchange.store, sums_of_rows(part, metrics), states)
    states.name_units()
    return states


def sampled_units(part: PartState, unit_buckets: UnitBuckets) -> UnitBuckets:
    """The units of a part that are looked at one by one, each with a bucket of its own."""
    if unit_buckets.bits == HASH_BITS:
        return unit_buckets
    blocks: Iterator[np.ndarray] = iter(())
    if part.counted_rows is not None:
        blocks = (block.hashes for block in next(iter(part.counted_rows.blocks.values()), []))
    elif part.unit_exchange is not None:
        blocks = (block.load()[HASH] for block in part.unit_exchange.store.block_readers([HASH]))
    found = [np.unique(hashes[unit_buckets.in_sample(hashes)]) for hashes in blocks]
    keys = np.unique(np.concatenate([np.empty(0, np.uint64), *found]))
    return unit_buckets_of(keys, HASH_BITS, keys.shape[0])


def states_for_wins(part: PartState, unit_buckets: UnitBuckets) -> dict[Any, Any]:
    """What win counts of units need of some rows: the states of all rows, merged, are for `merged_wins`."""
    found: dict[Any, Any] = {}
    metrics = metrics_by_unit(part)
    for slice_pass in iterate_passes(part) if metrics else ():
        sums = states_by_unit(part, metrics, unit_buckets).sums
        found |= slice_pass.rename({(UnitsOf(key[0]), key[1], key[2]): own for key, own in sums.items()})
    return found


def merged_wins(part: PartState, states: Mapping[Any, Any], unit_buckets: UnitBuckets) -> dict[WinKey, WinCounts]:
    """The win counts of all rows, from those of groups and what `states_for_wins` found; `part` has their counts."""
    by_unit = UnitStates(unit_buckets)
    by_unit.sums = {(key[0].statistic, *key[1:]): own for key, own in states.items() if isinstance(key[0], UnitsOf)}
    of_groups = {key: own for key, own in states.items() if isinstance(own, WinCounts)}
    return of_groups | dict(compare_units(by_unit, metrics_by_unit(part), part.outputs))


def test_rows(part: PartState, level: float, n_threads: int) -> dict[WinKey, RowTest]:
    """Test differences by a formula over the rows of two models, all of them in memory."""
    tested: dict[WinKey, RowTest] = {}
    for slice_pass in iterate_passes(part) if part.counts.rows_kept else ():
        tested |= slice_pass.rename(test_rows_of_pass(part, level, n_threads))
    return tested


def test_rows_of_pass(part: PartState, level: float, n_threads: int) -> dict[WinKey, RowTest]:
    """The tests of the slices of one pass over the rows."""
    tested: dict[WinKey, RowTest] = {}
    store = part.range_store()
    names = [*names_of(store.moved_types, LABEL, SCORE), *(name for name in (SLICE,) if name in store.moved_types)]
    columns = store.load_partitions(names, 0, store.n_partitions).columns
    baselines: dict[int, Output] = {}
    for output_number, output in enumerate(part.outputs):
        baseline = baselines.setdefault(output.label, output)
        if baseline is output:
            continue
        all_rows = (None,) if part.slice_pass.all_rows else ()
        for slice_number in (*all_rows, *range(part.slice_pass.n_slices)):
            where = slice(None) if slice_number is None else columns[SLICE] == slice_number
            labels, before, after = (
                np.ascontiguousarray(columns[name][where])
                for name in (label_name(output.label), score_name(baseline.score), score_name(output.score))
            )
            for metric in part.plan.metrics:
                key = (metric, output_number, slice_number)
                result = metric.compare_rows(level, labels, before, after, n_threads)
                if isinstance(result, str):  # the reason why there is no test
                    tested[key] = RowTest(None, NO_ERROR, math.nan, result)
                    continue
                low, high, error, pvalue = result
                positives = int(np.count_nonzero(labels))
                n_rows = int(labels.shape[0])
                found = ErrorEstimate(error, NORMAL, n_rows, min(positives, n_rows - positives))
                tested[key] = RowTest((low, high), found, pvalue, None if error else NO_ROW_DIFFERS)
    return tested
