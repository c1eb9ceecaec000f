"""Placements row by row, for one model or two: the differences between two models are taken at the same row.

A model's rows are put into buckets of neighboring scores, block by block (`range_exchange.py`), and the slot of every
row is kept. With the slots, placements are brought back into the order of the rows, in cache. Keys take eight bytes per
row, once for all models. Slots and placements take six bytes per row and model. If a model has few different scores,
there are no buckets: a hash table numbers the scores, and only a table of their placements and two bytes per row are
needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.row_blocks import BLOCK_ROWS, SERIAL_ROWS, block_bounds
from fastmetrics._core.distributions.normal import normal_pvalue, two_sided_quantile
from fastmetrics._core.exact import divide, divide_root
from fastmetrics._core.exchange import range_exchange
from fastmetrics._core.exchange.blocks import Block
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import for_each
from fastmetrics._core.score_statistics.delong_placements import (
    PlacementSums,
    placement_variance,
    two_word_integer,
)
from fastmetrics._kernels.columns.column_blocks import ColumnBlocks
from fastmetrics._kernels.significance import delong_placements as kernels

MOST_ROWS = 1 << 31
MIN_TIED_ROWS = 1 << 14  # with fewer rows, looking for ties does not pay
TIED_SAMPLE = 1 << 12
TIED_SHARE = 0.9  # at most this share of a sample may be different scores; a wrong guess costs little
CONCURRENT_ROWS = 1 << 22  # up to so many rows, the keys of all models may be in memory at the same time


class ModelPlacements(NamedTuple):
    """A model's placements block by block, in the order of its buckets, and the slot of every row."""

    row_slots: np.ndarray
    placements: np.ndarray
    offsets: np.ndarray

    def in_order(self, start: int, stop: int, out: np.ndarray) -> np.ndarray:
        """The placements of a block, row by row."""
        kernels.placements_in_order(
            self.row_slots[start:stop], self.offsets[start // BLOCK_ROWS].copy(), self.placements[start:stop], out
        )
        return out


class PlacementTable(NamedTuple):
    """A model with few different scores: the placements of each class at every score, and each row's score number."""

    labels: np.ndarray
    numbers: np.ndarray
    table: np.ndarray

    def in_order(self, start: int, stop: int, out: np.ndarray) -> np.ndarray:
        """The placements of a block, row by row."""
        kernels.look_up_placements(self.labels[start:stop], self.numbers[start:stop], self.table, out)
        return out


def place_models(
    labels: np.ndarray, models: dict[str, np.ndarray], n_threads: int
) -> list[ModelPlacements | PlacementTable]:
    """The placements of all rows under every model. Labels are 0 and 1; `models` has float32 or float64 scores."""
    rows = labels.shape[0]
    if rows >= MOST_ROWS:
        raise OverflowError(f"{rows} rows: at most 2**31 - 1 can be placed")
    if rows <= SERIAL_ROWS:
        n_threads = 1
    columns = list(models.items())
    # One thread per model avoids synchronization but holds one key array per model. Tables of ties need no keys.
    concurrent = n_threads == 1 or rows <= CONCURRENT_ROWS

    def place(number: int) -> ModelPlacements | PlacementTable | None:
        name, scores = columns[number]
        tied = place_tied_scores(labels, scores, name)
        if tied is not None or not concurrent:
            return tied
        return place_rows(labels, scores, name, max(1, n_threads // len(columns)))

    placed = for_each(len(columns), lambda: place, n_threads)
    return [
        place_rows(labels, scores, name, n_threads) if placements is None else placements
        for placements, (name, scores) in zip(placed, columns, strict=True)
    ]


def place_tied_scores(labels: np.ndarray, scores: np.ndarray, name: str) -> PlacementTable | None:
    """The placements under a model with few different scores. None if there are too many, or a sample suggests it."""
    rows = scores.shape[0]
    sample = scores[:: max(1, rows // TIED_SAMPLE)]
    if rows < MIN_TIED_ROWS or len(np.unique(sample)) > TIED_SHARE * len(sample):
        return None
    numbers = np.empty(rows, np.uint16)
    different = np.empty(kernels.MAX_DISTINCT_SCORES, np.uint64)
    counts = np.empty((kernels.MAX_DISTINCT_SCORES, 2), np.int32)
    has_nan = np.zeros(1, np.int64)
    table = np.empty(kernels.HASH_WORDS, np.uint64)
    n_different = kernels.encode_scores(labels, scores, table, different, counts, numbers, has_nan)
    if n_different < 0:
        return None
    if has_nan[0]:
        validation.raise_nan(scores, name)
    order = np.argsort(different[:n_different])
    ascending = counts[order].astype(np.int64)
    up_to = ascending.cumsum(0)
    placements = np.empty((n_different, 2), np.uint32)
    placements[order, 0] = 2 * (up_to[-1, 1] - up_to[:, 1]) + ascending[:, 1]
    placements[order, 1] = 2 * (up_to[:, 0] - ascending[:, 0]) + ascending[:, 0]
    return PlacementTable(labels, numbers, placements)


def place_rows(labels: np.ndarray, scores: np.ndarray, name: str, n_threads: int) -> ModelPlacements:
    """The placements under one model."""
    rows = labels.shape[0]
    keys = np.empty(rows, f"u{scores.dtype.itemsize}")
    row_slots = np.empty(rows, np.uint16)
    buckets = bucket_rows(labels, scores, name, row_slots, keys, n_threads)
    placements = np.empty(rows, np.uint32)
    blocks = ColumnBlocks([placements[start:stop] for start, stop in block_bounds(rows)], True)
    bucket_keys = ColumnBlocks(buckets.keys)
    counts = buckets.class_counts()
    below = (counts[:, 0].cumsum() - counts[:, 0]).tolist()
    above = (counts[::-1, 1].cumsum()[::-1] - counts[:, 1]).tolist()
    most_rare_rows = int(counts.min(axis=1).max()) + 1

    def make_worker() -> Callable[[int], None]:
        rare_keys, scratch = np.empty((2, most_rare_rows), buckets.key_type)
        cells = np.empty(kernels.TABLE_ENTRIES, np.uint32)
        slots = np.empty(4 * most_rare_rows + 2, np.uint32)

        return lambda bucket: kernels.bucket_placements(
            bucket_keys, blocks, buckets.offsets, bucket, below[bucket], above[bucket], rare_keys, scratch, cells,
            slots,
        )  # fmt: skip

    for_each(buckets.n_buckets, make_worker, n_threads)
    return ModelPlacements(row_slots, placements, buckets.offsets)


def bucket_rows(
    labels: np.ndarray, scores: np.ndarray, name: str, row_slots: np.ndarray, keys: np.ndarray, n_threads: int
) -> range_exchange.ScoreBuckets:
    """The rows in buckets of neighboring scores. Raises ValueError for NaN."""
    rows = labels.shape[0]
    bounds = list(block_bounds(rows))
    splitter = range_exchange.split_scores(scores[:: max(1, rows // range_exchange.SAMPLE)], rows)

    def reorder_block(number: int) -> Block:
        block_rows = slice(*bounds[number])

        def allocate(column: str, dtype: np.dtype, length: int) -> np.ndarray:
            return keys[block_rows] if column == range_exchange.KEY else np.empty(length, dtype)

        block, has_nan = range_exchange.reorder_by_score(
            splitter, labels[block_rows], scores[block_rows], {}, row_slots[block_rows], allocate
        )
        if has_nan:
            validation.raise_nan(scores, name)
        return block

    blocks = for_each(len(bounds), lambda: reorder_block, n_threads)
    return range_exchange.ScoreBuckets(blocks)


class ModelSums(NamedTuple):
    """Twice the pairs won by each model, and sums of the differences of their placements.

    With a single model, `differences` are the differences from 0, and the wins of the second model are 0.
    """

    wins: tuple[int, int]
    differences: PlacementSums


def sum_models(labels: np.ndarray, models: list[ModelPlacements | PlacementTable], n_threads: int) -> ModelSums:
    """Sums over all rows, for one model or two."""
    bounds = list(block_bounds(labels.shape[0]))
    sums = np.zeros((len(bounds), 2, 5), np.uint64)

    def make_worker() -> Callable[[int], None]:
        read = make_reader(labels.shape[0], models)

        def add(number: int) -> None:
            start, stop = bounds[number]
            kernels.sum_placements(labels[start:stop], *read(start, stop), sums[number])

        return add

    for_each(len(bounds), make_worker, n_threads if labels.shape[0] > SERIAL_ROWS else 1)
    by_class = [[sum(values) for values in zip(*blocks, strict=True)] for blocks in zip(*sums.tolist(), strict=True)]
    (negatives, _, _, *negative_squares), (positives, *wins, _, _) = by_class
    squares = two_word_integer(by_class[1][3:]), two_word_integer(negative_squares)
    return ModelSums((wins[0], wins[1]), PlacementSums(negatives, positives, wins[0] - wins[1], *squares))


def compare_areas(
    parameters: dict[str, Any], level: float, labels: np.ndarray, first: np.ndarray, second: np.ndarray, n_threads: int
) -> tuple[float, float, float, float] | str:
    """DeLong's interval of the difference of two AUCs (second minus first), its standard error and two-sided p-value.

    Returns a text instead, if they are undefined: the reason.
    """
    models = place_models(labels, {"the other score": second, "the baseline": first}, n_threads)
    sums = sum_models(labels, models, n_threads).differences
    variance = placement_variance(sums)
    if variance.reason is not None:
        return variance.reason
    if variance.numerator == 0 and sums.wins:
        return "the models differ by the same at every row, so the variance is 0"
    pairs = 2 * sums.negatives * sums.positives
    difference = divide(sums.wins, pairs)
    reach = two_sided_quantile(level) * variance.square_root
    z = 0.0
    if variance.numerator:
        z = divide_root(sums.wins**2 * variance.denominator, pairs**2 * variance.numerator)
    low, high = max(-1.0, difference - reach), min(1.0, difference + reach)
    return low, high, variance.square_root, normal_pvalue(z, "two-sided")


def make_reader(
    rows: int, models: list[ModelPlacements | PlacementTable]
) -> Callable[[int, int], tuple[np.ndarray, np.ndarray]]:
    """A thread's function from (start, stop) to the placements of two models. A missing second model has zeros."""
    memory = np.zeros((2, min(rows, BLOCK_ROWS)), np.uint32)

    def read(start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        first, second = memory[:, : stop - start]
        for model, out in zip(models, (first, second), strict=False):
            model.in_order(start, stop, out)
        return first, second

    return read
