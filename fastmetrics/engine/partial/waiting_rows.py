"""Validated batches that wait for the exchange, joined to blocks; some rows of a batch."""

from __future__ import annotations

import numpy as np

from fastmetrics._core.columns.key_columns import concatenate_keys
from fastmetrics._core.columns.row_blocks import BLOCK_ROWS
from fastmetrics.engine.input.batch_validation import ValidatedBatch


def count_rows(batch: ValidatedBatch) -> int:
    return 0 if batch.columns is None else batch.columns.rows


def group_batches(pending: list[ValidatedBatch]) -> list[list[ValidatedBatch]]:
    """Groups of neighboring batches, each with about as many rows as a block should have."""
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


def copy_batch(batch: ValidatedBatch) -> ValidatedBatch:
    """A batch with rows in memory of its own."""
    columns = None if batch.columns is None else batch.columns.move(np.ndarray.copy)
    keys = concatenate_keys([batch.keys])
    unit_keys = keys if batch.unit_keys is batch.keys else concatenate_keys([batch.unit_keys])
    return batch._replace(columns=columns, keys=keys, unit_keys=unit_keys)


def select_units(batch: ValidatedBatch, mask: np.ndarray) -> ValidatedBatch:
    """Some rows of a batch that has units and no groups."""
    columns = None if batch.columns is None else batch.columns.move(lambda column: column[mask])
    keys = None if batch.unit_keys is None else batch.unit_keys.select(mask)
    return batch._replace(columns=columns, unit_keys=keys, keys=None)


def join_batches(batches: list[ValidatedBatch]) -> ValidatedBatch:
    """Batches with rows as one batch in memory of its own."""
    first = batches[0]
    blocks = [batch.columns for batch in batches if batch.columns is not None]
    columns = blocks[0]._replace(
        labels=tuple(map(np.concatenate, zip(*(block.labels for block in blocks), strict=True))),
        scores=tuple(map(np.concatenate, zip(*(block.scores for block in blocks), strict=True))),
        weights=join_arrays([block.weights for block in blocks]),
        slice_codes=tuple(map(np.concatenate, zip(*(block.slice_codes for block in blocks), strict=True))),
        others={role: np.concatenate([block.others[role] for block in blocks]) for role in blocks[0].others},
    )
    keys = concatenate_keys([batch.keys for batch in batches])
    unit_keys = keys
    if first.unit_keys is not first.keys:
        unit_keys = concatenate_keys([batch.unit_keys for batch in batches])
    return first._replace(columns=columns, keys=keys, unit_keys=unit_keys)


def join_arrays(arrays: list[np.ndarray | None]) -> np.ndarray | None:
    """A column that all batches have, or none of them."""
    present = [array for array in arrays if array is not None]
    return np.concatenate(present) if present else None
