"""Which rows of a source go to which target: whole groups by their hashes, scores by ranges or column by column."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from fastmetrics._core.columns.row_blocks import SLICE, WEIGHT, label_name, role_name, score_name, slice_code_name
from fastmetrics._core.exchange.blocks import Block
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.range_exchange import reorder_by_value, splitter_of_cuts
from fastmetrics.distributed.decisions import Cuts, Decision, Sample, target_of_range
from fastmetrics.distributed.pieces import GROUPS, StoreKey, cut_block
from fastmetrics.distributed.score_columns import ScoreColumn, score_columns
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.partial_state import PartialState
from fastmetrics.engine.plan.tasks import PlannedTask, name_task_in_errors

SAMPLED = 1 << 11  # scores of a column that a source sends to the driver


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
    step = max(1, part.counts.rows_kept // SAMPLED)
    return np.concatenate([reader.sample(step)[name] for reader in readers]), part.counts.rows_kept


def rows_to_move(state: PartialState, decision: Decision, targets: int) -> Iterator[tuple[int, StoreKey, Block]]:
    """The rows of a source with their targets."""
    for (number, part_number), task, part in iterate_parts(state):
        if not part.counts.rows_kept:
            continue
        for target, block in iterate_groups(part, targets) if part.plan.needs("hash") else ():
            yield target, (number, part_number, GROUPS), block
        decided = decision.parts[number][part_number]
        columns = zip(score_columns(task.parts[part_number], decided.n_classes), decided.cuts, strict=True)
        for number_of_column, (column, cuts) in enumerate(columns):
            for target, block in iterate_ranges(part, column, cuts, targets, number_of_column):
                yield target, (number, part_number, number_of_column), block


def iterate_groups(part: PartState, targets: int) -> Iterator[tuple[int, Block]]:
    """The rows of every block for each target: whole partitions of the hashes of groups."""
    exchange = part.group_exchange
    if exchange is None:
        return
    bounds = partition_bounds(exchange.n_partitions, targets)
    for block in exchange.store.loaded_blocks():
        columns = {name: own for name, own in block.movable_columns().items() if name != SLICE}
        for target, (start, stop) in enumerate(pairwise(bounds)):
            if block.offsets[start] < block.offsets[stop]:
                yield target, cut_block(block, columns, start, stop)


def partition_bounds(n_partitions: int, targets: int) -> list[int]:
    """The first partition of every target, and the number of partitions."""
    return [n_partitions * target // targets for target in range(targets + 1)]


def code_names(slices: GroupingSets) -> list[str]:
    """The stored columns that have the codes of rows."""
    return [slice_code_name(number) for number in range(len(slices.columns))]


def stored_columns(part: PartState, column: ScoreColumn) -> list[str]:
    """The columns that the rows of one score column have in a store."""
    names = [label_name(number) for number in range(len(part.names.labels))] + column.stored_names()
    names += [role_name(role) for role, _ in part.names.others]
    names += [WEIGHT] if part.names.weight is not None else []
    return names + code_names(part.slices)


def iterate_ranges(
    part: PartState, column: ScoreColumn, cuts: Cuts, targets: int, number: int
) -> Iterator[tuple[int, Block]]:
    """The rows of score column `number` for each target: those of its range, or all of them for one target.

    Rows of a whole column have their units, if there are units.
    """
    names, store = stored_columns(part, column), part.range_store()
    if cuts is None and part.unit_exchange is not None:
        names, store = [*names, HASH], part.unit_exchange.store
    for reader in store.block_readers(names):
        columns = column.select(reader.load())
        if cuts is None:
            yield number % targets, one_partition(columns)
            continue
        ordered = reorder_by_value(splitter_of_cuts([cuts]), columns[score_name(0)], columns)
        for range_number, (start, stop) in enumerate(pairwise(ordered.offsets.tolist())):
            if start < stop:
                of_range = {name: own[start:stop] for name, own in ordered.columns.items()}
                yield target_of_range(range_number, cuts, targets), one_partition(of_range)


def one_partition(columns: dict[str, np.ndarray]) -> Block:
    return Block(columns, np.array([0, columns[score_name(0)].shape[0]], np.int32))
