"""Which rows of a source go to which target: whole groups by their hashes, scores by ranges or column by column."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from fastmetrics._core.columns.row_blocks import (
    SLICE,
    WEIGHT,
    LargePages,
    Scratch,
    label_name,
    role_name,
    score_name,
    slice_code_name,
)
from fastmetrics._core.exchange.blocks import Block
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.range_exchange import ROWS_PER_BUCKET, reorder_by_score, reorder_by_value
from fastmetrics._kernels.sweep.mann_whitney import Splitter
from fastmetrics.distributed.decisions import Decision, Sample, first_buckets, moves_buckets
from fastmetrics.distributed.pieces import GROUPS, StoreKey, cut_block
from fastmetrics.distributed.score_columns import ScoreColumn, score_columns
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.partial_state import PartialState
from fastmetrics.engine.plan.tasks import PlannedTask, name_task_in_errors

LEAST_SAMPLED, MOST_SAMPLED = 1 << 11, 1 << 14  # scores of a column that a source sends to the driver
SAMPLED_OF_BUCKET = 16


def iterate_parts(state: PartialState) -> Iterator[tuple[tuple[int, int], PlannedTask, PartState]]:
    """The numbers of tasks and parts, the tasks, and the states of the parts."""
    for number, (task, own) in enumerate(zip(state.tasks, state.states, strict=True)):
        with name_task_in_errors(task.name):
            for part_number, part in enumerate(own.parts):
                yield (number, part_number), task, part


def sample_scores(part: PartState, column: ScoreColumn) -> Sample:
    """Some scores of a column; of several classes, those of the first."""
    (name, *_) = column.stored_names()
    readers = part.range_store().block_readers([name])
    rows = part.counts.rows_kept
    wanted = min(MOST_SAMPLED, max(LEAST_SAMPLED, rows * SAMPLED_OF_BUCKET // ROWS_PER_BUCKET))
    return np.concatenate([reader.sample(max(1, rows // wanted))[name] for reader in readers]), rows


def rows_to_move(state: PartialState, decision: Decision, targets: int) -> Iterator[tuple[int, StoreKey, Block]]:
    """The rows of a source with their targets."""
    for (number, part_number), task, part in iterate_parts(state):
        if not part.counts.rows_stored:
            continue
        for target, block in iterate_groups(part, targets) if part.plan.needs("hash") else ():
            yield target, (number, part_number, GROUPS), block
        decided = decision.parts[number][part_number]
        plan_part = task.parts[part_number]
        columns = zip(score_columns(plan_part, decided.n_classes), decided.cuts, strict=True)
        for number_of_column, (column, cuts) in enumerate(columns):
            if cuts is None:
                found = iterate_column(part, column, number_of_column % targets)
            else:
                found = iterate_ranges(part, column, cuts.splitter(), targets, moves_buckets(plan_part))
            for target, block in found:
                yield target, (number, part_number, number_of_column), block


def iterate_groups(part: PartState, targets: int) -> Iterator[tuple[int, Block]]:
    """The rows of every block for each target: whole partitions of the hashes of groups."""
    exchange = part.group_exchange
    if exchange is None:
        return
    bounds = first_buckets(exchange.n_partitions, targets)
    for block in exchange.store.loaded_blocks():
        columns = {name: own for name, own in block.movable_columns().items() if name != SLICE}
        for target, (start, stop) in enumerate(pairwise(bounds)):
            if block.offsets[start] < block.offsets[stop]:
                yield target, cut_block(block, columns, start, stop)


def code_names(slices: GroupingSets) -> list[str]:
    """The stored columns that have the codes of rows."""
    return [slice_code_name(number) for number in range(len(slices.columns))]


def stored_columns(part: PartState, column: ScoreColumn) -> list[str]:
    """The columns that the rows of one score column have in a store."""
    names = [label_name(number) for number in range(len(part.names.labels))] + column.stored_names()
    names += [role_name(role) for role, _ in part.names.others]
    names += [WEIGHT] if part.names.weight is not None else []
    return names + code_names(part.slices)


def iterate_column(part: PartState, column: ScoreColumn, target: int) -> Iterator[tuple[int, Block]]:
    """All rows of a score column, with their units, if there are units."""
    names, store = stored_columns(part, column), part.range_store()
    if part.unit_exchange is not None:
        names, store = [*names, HASH], part.unit_exchange.store
    return ((target, one_partition(column.select(reader.load()))) for reader in store.block_readers(names))


def iterate_ranges(
    part: PartState, column: ScoreColumn, splitter: Splitter, targets: int, in_buckets: bool
) -> Iterator[tuple[int, Block]]:
    """The rows of a score column for each target, that of their range of buckets.

    `in_buckets`: as they are reduced there, keys and weights by bucket and class; otherwise in any order.
    """
    bounds, pages, scratch = first_buckets(splitter.n_buckets, targets), LargePages(), Scratch()

    def allocate(name: str, dtype: np.dtype, length: int) -> np.ndarray:
        return pages.array(dtype, length)

    for reader in part.range_store().block_readers(stored_columns(part, column)):
        columns = column.select(reader.load())
        scores = columns[score_name(0)]
        if in_buckets:
            others = {name: own for name, own in columns.items() if name == WEIGHT}
            slots = scratch.array("slots", np.uint16, reader.rows)
            block, _ = reorder_by_score(splitter, columns[label_name(0)], scores, others, slots, allocate)
        else:
            block = reorder_by_value(splitter, scores, columns)
        for target, (start, stop) in enumerate(pairwise((1 + in_buckets) * np.array(bounds))):
            if block.offsets[start] < block.offsets[stop]:
                own = cut_block(block, block.columns, start, stop)
                yield target, own if in_buckets else one_partition(own.columns)


def one_partition(columns: dict[str, np.ndarray]) -> Block:
    return Block(columns, np.array([0, columns[score_name(0)].shape[0]], np.int32))
