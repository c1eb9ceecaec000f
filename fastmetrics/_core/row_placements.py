"""Placements row by row, of one model or of two: what differs between models at the same row.

A model's rows are put into buckets of neighbouring scores, block by block (`by_score.py`), and every row's slot is
kept: going through the slots again brings placements back into the order of the rows, in cache. Keys take eight bytes
a row, once for all models; slots and placements take six, for each. Where only few scores differ there are no buckets:
a hash table numbers the scores, and a table of their placements is all there is besides two bytes a row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import by_score, inputs
from fastmetrics._core.blocks import Block
from fastmetrics._core.by_score import ScoreBuckets
from fastmetrics._core.exact import divide, divide_root
from fastmetrics._core.normal import deviations
from fastmetrics._core.parallel import for_each
from fastmetrics._core.placements import PlacementSums, Variance, placement_variance, why_unknown, wide
from fastmetrics._core.rows import BLOCK_ROWS, SERIAL_ROWS, addresses, block_bounds
from fastmetrics._core.significance import normal_pvalue
from fastmetrics._kernels import placements as kernels

MOST_ROWS = 1 << 31
LEAST_TIED_ROWS = 1 << 14  # from here it may pay to look for ties
TIED_SAMPLE = 1 << 12
TIED_SHARE = 0.9  # of a sample may differ; if too many scores do, that is soon found
SIDE_BY_SIDE_ROWS = 1 << 22  # up to here all models' keys may take memory at once


class Placed(NamedTuple):
    """A model's placements block by block, in the order of its buckets, and each row's slot."""

    row_slots: np.ndarray
    placed: np.ndarray
    offsets: np.ndarray

    def in_order(self, start: int, stop: int, out: np.ndarray) -> np.ndarray:
        """The placements of a block, row by row."""
        kernels.placements_in_order(
            self.row_slots[start:stop], self.offsets[start // BLOCK_ROWS].copy(), self.placed[start:stop], out
        )
        return out


class Tied(NamedTuple):
    """The placements of either class at every score, where few differ, and each row's score by number."""

    labels: np.ndarray
    numbers: np.ndarray
    table: np.ndarray

    def in_order(self, start: int, stop: int, out: np.ndarray) -> np.ndarray:
        """The placements of a block, row by row."""
        kernels.tied_placements(self.labels[start:stop], self.numbers[start:stop], self.table, out)
        return out


class KeptSlots:
    """Room to reorder a block by score where its slots are to be kept."""

    def __init__(self, slots: np.ndarray) -> None:
        self.slots = slots
        self.has_nan = np.zeros(1, np.int64)


def place_models(labels: np.ndarray, models: dict[str, np.ndarray], n_threads: int) -> list[Placed | Tied]:
    """The placements of rows under every model; labels are 0 and 1, scores float32 or float64 columns by name."""
    rows = labels.shape[0]
    if rows >= MOST_ROWS:
        raise OverflowError(f"{rows} rows: at most 2**31 - 1 can be placed")
    if rows <= SERIAL_ROWS:
        n_threads = 1
    columns = list(models.items())
    found: list[Placed | Tied | None] = [None] * len(columns)
    # A thread for every model waits for nobody; it takes keys for each. Of ties alone there are no keys.
    at_once = n_threads == 1 or rows <= SIDE_BY_SIDE_ROWS

    def place(unit: int) -> None:
        name, scores = columns[unit]
        found[unit] = place_tied(labels, scores, name)
        if at_once and found[unit] is None:
            found[unit] = place_rows(labels, scores, name, max(1, n_threads // len(columns)))

    for_each(len(columns), lambda: place, n_threads)
    return [
        place_rows(labels, scores, name, n_threads) if own is None else own
        for own, (name, scores) in zip(found, columns, strict=True)
    ]


def place_tied(labels: np.ndarray, scores: np.ndarray, name: str) -> Tied | None:
    """The placements under a model of few different scores; None: there are more of them, or nothing looks like it."""
    rows = scores.shape[0]
    sample = scores[:: max(1, rows // TIED_SAMPLE)]
    if rows < LEAST_TIED_ROWS or len(np.unique(sample)) > TIED_SHARE * len(sample):
        return None
    numbers = np.empty(rows, np.uint16)
    different = np.empty(kernels.DIFFERENT_SCORES, np.uint64)
    counts = np.empty((kernels.DIFFERENT_SCORES, 2), np.int32)
    has_nan = np.zeros(1, np.int64)
    kernel = kernels.number_scores_f64 if scores.dtype == np.float64 else kernels.number_scores_f32
    table = np.empty(kernels.HASH_WORDS, np.uint64)
    n_different = kernel(labels, scores, table, different, counts, numbers, has_nan)
    if n_different < 0:
        return None
    if has_nan[0]:
        inputs.raise_nan(scores, name)
    order = np.argsort(different[:n_different])
    own = counts[order].astype(np.int64)
    total = own.cumsum(0)
    placements = np.empty((n_different, 2), np.uint32)
    placements[order, 0] = 2 * (total[-1, 1] - total[:, 1]) + own[:, 1]
    placements[order, 1] = 2 * (total[:, 0] - own[:, 0]) + own[:, 0]
    return Tied(labels, numbers, placements)


def place_rows(labels: np.ndarray, scores: np.ndarray, name: str, n_threads: int) -> Placed:
    """The placements under one model."""
    rows = labels.shape[0]
    keys = np.empty(rows, f"u{scores.dtype.itemsize}")
    row_slots = np.empty(rows, np.uint16)
    buckets = bucket_rows(labels, scores, name, row_slots, keys, n_threads)
    placed = np.empty(rows, np.uint32)
    blocks = addresses([placed[start:stop] for start, stop in block_bounds(rows)])
    counts = buckets.class_counts()
    below = (counts[:, 0].cumsum() - counts[:, 0]).tolist()
    above = (counts[::-1, 1].cumsum()[::-1] - counts[:, 1]).tolist()
    most = int(counts.min(axis=1).max()) + 1
    kernel = kernels.bucket_placements_u64 if buckets.double_scores else kernels.bucket_placements_u32

    def make_worker() -> Callable[[int], None]:
        few, scratch = np.empty((2, most), buckets.key_type)
        cells = np.empty(kernels.CELLS, np.uint32)
        slots = np.empty(4 * most + 2, np.uint32)

        def place(bucket: int) -> None:
            kernel(
                buckets.addresses, blocks, buckets.offsets, bucket, below[bucket], above[bucket], few, scratch, cells,
                slots,
            )  # fmt: skip

        return place

    for_each(buckets.n_buckets, make_worker, n_threads)
    return Placed(row_slots, placed, buckets.offsets)


def bucket_rows(
    labels: np.ndarray, scores: np.ndarray, name: str, row_slots: np.ndarray, keys: np.ndarray, n_threads: int
) -> ScoreBuckets:
    """Rows by range of scores; NaN is found on the way."""
    rows = labels.shape[0]
    bounds = list(block_bounds(rows))
    splitter = by_score.split_scores(scores[:: max(1, rows // by_score.SAMPLE)], rows)
    blocks: list[Block] = [None] * len(bounds)  # type: ignore[list-item]
    has_nan: list[bool] = []

    def order(unit: int) -> None:
        part = slice(*bounds[unit])
        scratch: Any = KeptSlots(row_slots[part])

        def take(column: str, dtype: np.dtype, length: int) -> np.ndarray:
            return keys[part] if column == by_score.KEY else np.empty(length, dtype)

        blocks[unit] = by_score.order_by_score(splitter, labels[part], scores[part], None, None, scratch, take)
        if scratch.has_nan[0]:
            has_nan.append(True)

    for_each(len(bounds), lambda: order, n_threads)
    if has_nan:
        inputs.raise_nan(scores, name)
    return ScoreBuckets(blocks)


class ModelSums(NamedTuple):
    """Rows by class, pairs won by each model (doubled), and sums of the differences of their placements.

    Of one model `differences` are those from 0, and the other's wins are 0.
    """

    wins: tuple[int, int]
    differences: PlacementSums


def sum_models(labels: np.ndarray, models: list[Placed | Tied], n_threads: int) -> ModelSums:
    """Sums over all rows, of one model or of two."""
    bounds = list(block_bounds(labels.shape[0]))
    sums = np.zeros((len(bounds), 2, 5), np.uint64)

    def make_worker() -> Callable[[int], None]:
        read = make_reader(labels.shape[0], models)

        def add(unit: int) -> None:
            start, stop = bounds[unit]
            kernels.sum_placements(labels[start:stop], *read(start, stop), sums[unit])

        return add

    for_each(len(bounds), make_worker, n_threads if labels.shape[0] > SERIAL_ROWS else 1)
    by_class = [[sum(values) for values in zip(*own, strict=True)] for own in zip(*sums.tolist(), strict=True)]
    (negatives, _, _, *negative_squares), (positives, *wins, _, _) = by_class
    squares = wide(by_class[1][3:]), wide(negative_squares)
    return ModelSums((wins[0], wins[1]), PlacementSums(negatives, positives, wins[0] - wins[1], *squares))


def compare_areas(
    parameters: dict[str, Any], level: float, labels: np.ndarray, first: np.ndarray, second: np.ndarray, n_threads: int
) -> tuple[float, float, float, float] | str:
    """DeLong's interval of the difference of two areas, second less first, its standard error and two-sided p-value.

    Or a text that says why there are none.
    """
    models = place_models(labels, {"the other score": second, "the baseline": first}, n_threads)
    own = sum_models(labels, models, n_threads).differences
    variance = placement_variance(own)
    if variance.reason is not None:
        return variance.reason
    if variance.numerator == 0 and own.wins:
        return "the models differ by the same at every row, so the variance is 0"
    pairs = 2 * own.negatives * own.positives
    difference = divide(own.wins, pairs)
    reach = deviations(level) * variance.root
    z = 0.0
    if variance.numerator:
        z = divide_root(own.wins**2 * variance.denominator, pairs**2 * variance.numerator)
    return max(-1.0, difference - reach), min(1.0, difference + reach), variance.root, normal_pvalue(z, "two-sided")


def make_reader(rows: int, models: list[Placed | Tied]) -> Callable[[int, int], tuple[np.ndarray, np.ndarray]]:
    """One thread's way to the placements of a block, of two models always: where there is one, the other's are 0."""
    memory = np.zeros((2, min(rows, BLOCK_ROWS)), np.uint32)

    def read(start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        first, second = memory[:, : stop - start]
        for model, out in zip(models, (first, second), strict=False):
            model.in_order(start, stop, out)
        return first, second

    return read


def sum_groups(labels: np.ndarray, models: list[Placed | Tied], codes: np.ndarray, n_groups: int) -> np.ndarray:
    """By group: negatives, positives, and sums of (differences of) placements, of the negatives and the positives."""
    table = np.zeros((n_groups, 4), np.int64)
    read = make_reader(labels.shape[0], models)
    for start, stop in block_bounds(labels.shape[0]):
        kernels.add_by_group(labels[start:stop], codes[start:stop], *read(start, stop), table)
    return table


def clustered_variance(sums: PlacementSums, table: np.ndarray) -> Variance:
    """The variance after Obuchowski (1997) of what `sum_groups` gives: groups are independent, rows need not be.

    With d_k = (a group's placements of positives - its positives * AUC) / m, e_k the same of negatives by n, and I1,
    I0, I groups with positives, with negatives and in all, it is the sum of I1 / (I1 - 1) d_k^2, I0 / (I0 - 1) e_k^2
    and 2 I / (I - 1) d_k e_k. Here d_k is a whole number over 2 m^2 n, e_k one over 2 m n^2.
    """
    n, m, total = sums.negatives, sums.positives, sums.wins
    reason = why_unknown(n, m)
    with_negatives, with_positives = (table[:, :2] > 0).sum(0).tolist()
    groups = table.shape[0]
    if reason is None and min(with_negatives, with_positives) < 2:
        few = "positive" if with_positives < 2 else "negative"
        reason = f"only one group has {few} rows, so the variance is unknown"
    if reason:
        return Variance(0, 1, reason)
    words = np.zeros((10, 4), np.uint64)
    kernels.sum_products(table, words)
    n_n, n_m, n_e, n_d, m_m, m_e, m_d, e_e, e_d, d_d = (wide(own[:2]) - wide(own[2:]) for own in words.tolist())
    of_positives = m * m * d_d - 2 * m * total * m_d + total * total * m_m
    of_negatives = n * n * e_e - 2 * n * total * n_e + total * total * n_n
    of_both = m * n * e_d - m * total * n_d - n * total * m_e + total * total * n_m
    one, two, both = with_positives - 1, with_negatives - 1, groups - 1
    numerator = (
        with_positives * of_positives * n * n * two * both
        + with_negatives * of_negatives * m * m * one * both
        + 2 * groups * of_both * m * n * one * two
    )
    if numerator < 0:
        return Variance(0, 1, "the groups are too few: their estimate of the variance is negative")
    return Variance(numerator, 4 * m**4 * n**4 * one * two * both)
