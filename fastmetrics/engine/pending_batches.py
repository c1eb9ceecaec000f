"""Validated batches that wait for an exchange: copied, grouped to blocks of a good size, and joined."""

from __future__ import annotations

import numpy as np

from fastmetrics._core.columns import group_keys
from fastmetrics._core.columns.row_blocks import BLOCK_ROWS, RowBlock
from fastmetrics.engine.input.batch_validation import ValidatedBatch


def count_rows(batch: ValidatedBatch) -> int:
    return 0 if batch.columns is None else batch.columns.rows


def copy_batch(batch: ValidatedBatch) -> ValidatedBatch:
    """The batch in memory of its own. Labels of classes were decoded to new memory already."""
    columns = batch.columns
    if columns is None:
        return batch
    keys = None if batch.keys is None else group_keys.copy_keys(batch.keys)
    is_group = batch.unit_keys is batch.keys
    return batch._replace(
        columns=columns._replace(
            labels=tuple(labels if labels.dtype == np.uint8 else labels.copy() for labels in columns.labels),
            scores=tuple(scores.copy() for scores in columns.scores),
            weights=None if columns.weights is None else columns.weights.copy(),
        ),
        keys=keys,
        unit_keys=keys if is_group or batch.unit_keys is None else group_keys.copy_keys(batch.unit_keys),
    )


def group_batches(pending: list[ValidatedBatch]) -> list[list[ValidatedBatch]]:
    """Groups of neighbouring batches, each with about as many rows as a block should have."""
    groups: list[list[ValidatedBatch]] = []
    group_rows = BLOCK_ROWS
    for batch in pending:
        rows = count_rows(batch)
        if group_rows + rows > BLOCK_ROWS:
            groups.append([])
            group_rows = 0
        groups[-1].append(batch)
        group_rows += rows
    return groups


def join_batches(batches: list[ValidatedBatch]) -> ValidatedBatch:
    """Several batches as one."""
    blocks = [batch.columns for batch in batches if batch.columns is not None]
    if len(blocks) == 1:
        return batches[0]
    first = blocks[0]
    columns = RowBlock(
        tuple(np.concatenate([block.labels[number] for block in blocks]) for number in range(len(first.labels))),
        tuple(np.concatenate([block.scores[number] for block in blocks]) for number in range(len(first.scores))),
        None
        if first.weights is None
        else np.concatenate([block.weights for block in blocks if block.weights is not None]),
        None
        if first.slices is None
        else np.concatenate([block.slices for block in blocks if block.slices is not None]),
    )
    is_group = batches[0].unit_keys is batches[0].keys
    keys = [batch.keys for batch in batches if batch.keys is not None]
    unit_keys = [] if is_group else [batch.unit_keys for batch in batches if batch.unit_keys is not None]
    joined_keys = group_keys.concatenate_keys(keys) if keys else None
    joined_unit_keys = group_keys.concatenate_keys(unit_keys) if unit_keys else None
    return batches[0]._replace(
        columns=columns, keys=joined_keys, unit_keys=joined_keys if is_group else joined_unit_keys
    )


def find_first_zero(batches: list[ValidatedBatch], label: int) -> int | None:
    """The first row with label 0, of batches without -1; None if that row was left out after its label was read."""
    for batch in batches:
        if batch.columns is not None and not batch.columns.labels[label].all():
            row = int(batch.columns.labels[label].argmin())
            places = batch.columns.row_numbers
            return batch.columns.first_row + (row if places is None else int(places[row]))
    return None
