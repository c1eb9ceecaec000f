"""Contributions of units to statistics of the order of scores: what leaving a unit out changes, to first order.

The influence of a row on such a metric depends on its class and on its place in the order of all scores, which is
looked up by class of scores. Rows are read three times or more, in any order: to divide scores into classes, to weigh
these, and to add up the influences of the rows of each unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import SLICE, WEIGHT, Output, label_name, score_name
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.metric_spec import ScoreInfluence
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import accumulate
from fastmetrics._core.resampling.additive_replicates import JackknifeUnits
from fastmetrics._core.resampling.contributions import Contributions
from fastmetrics._core.score_statistics.score_classes import (
    MOST_CLASSES,
    WEIGHT_BITS,
    ClassMasses,
    ScoreClasses,
    find_classes,
    terms_of,
)
from fastmetrics._kernels.resampling import score_classes as kernels

SAMPLED_ROWS = 1 << 19  # from which classes are found
MOST_HASH = (1 << 64) - 1
HALF = np.uint64(1)  # the bit of a hash that divides units into halves
MOST_CELLS = 1 << 20  # classes of scores of all slices together
NO_WEIGHTS: np.ndarray = np.empty(0, np.int64)
Columns = dict[str, np.ndarray]
ONES = np.ones((1, 2), np.int64)


class ScoredRows(NamedTuple):
    """The rows of a store, for one output."""

    store: BlockStore
    output: Output
    weighted: bool
    n_threads: int
    advance: Callable[[int], Any] | None = None

    def add(self, names: Sequence[str], make: Callable[[], Any], add: Callable[[Any, Columns], Any]) -> list[Any]:
        """Load columns block by block, and call add(state, columns); return the states, one of every thread."""
        blocks = self.store.block_readers(list(names))

        def add_block(state: Any, number: int) -> None:
            add(state, blocks[number].load())
            if self.advance is not None:
                self.advance(blocks[number].rows)

        return accumulate(len(blocks), make, add_block, self.n_threads)

    def sum(self, names: Sequence[str], shape: tuple[int, ...], add: Callable[[Any, Columns], Any]) -> np.ndarray:
        """The sum over threads of an array of integers that `add(array, columns)` fills."""
        sums = np.zeros(shape, np.int64)
        for own in self.add(names, lambda: np.zeros(shape, np.int64), add):
            sums += own
        return sums


class ScoreMasses(NamedTuple):
    """The classes of the scores of one output, and the weights of each, of all rows or of every slice.

    `masses` are int64[2, n_slices * n_classes, 2], of both halves of the units; without slices, n_slices is 1. Weights
    are integers, times a power of two that makes the greatest one 2**WEIGHT_BITS; without weights each row has 1.
    """

    rows: ScoredRows
    classes: ScoreClasses
    weight_exponent: int
    n_slices: int
    masses: np.ndarray

    def of_slice(self, number: int) -> ClassMasses:
        negatives, positives = self.of_halves(number).sum(axis=0).astype(np.float64)
        return ClassMasses(negatives, positives)

    def of_halves(self, number: int) -> np.ndarray:
        """The masses of both halves of the units, int64[2, 2, n_classes]: of negatives, and of positives."""
        n = self.classes.n_classes
        return self.masses[:, number * n : (number + 1) * n].transpose(0, 2, 1)


def names_of_rows(rows: ScoredRows, *others: str) -> list[str]:
    return [label_name(rows.output.label), score_name(rows.output.score), *([WEIGHT] * rows.weighted), *others]


def integer_weights(columns: Columns, exponent: int) -> np.ndarray:
    """The weights of rows on a grid of powers of two; empty without weights."""
    weights = columns.get(WEIGHT)
    return NO_WEIGHTS if weights is None else np.rint(np.ldexp(weights, exponent)).astype(np.int64)


def find_score_masses(rows: ScoredRows, sizes: Sequence[int]) -> Iterator[ScoreMasses]:
    """The masses of all rows together (0), or of so many slices: one for each of `sizes`."""
    store, output = rows.store, rows.output
    score = score_name(output.score)
    dtype = store.types[score]

    def count_some(classes: ScoreClasses, share: float) -> np.ndarray:
        """The number of rows of every class, of a share of the units: the first ones in the order of their hashes."""
        greatest = np.uint64(min(MOST_HASH, int(share * MOST_HASH)))

        def add(counts: np.ndarray, columns: Columns) -> None:
            own = columns[score] if share == 1 else columns[score][columns[HASH] <= greatest]
            counts += np.bincount(classes.of_scores(own), minlength=classes.n_classes)

        return rows.sum([score] if share == 1 else [score, HASH], (classes.n_classes,), add)

    def count(classes: ScoreClasses) -> np.ndarray:
        share = min(1.0, SAMPLED_ROWS / max(1, int(store.partition_rows.sum())))
        counts = count_some(classes, share)
        return counts if share == 1 or counts.sum() >= SAMPLED_ROWS // 4 else count_some(classes, 1.0)

    def add_greatest(own: list[float], columns: Columns) -> None:
        own.append(float(columns[WEIGHT].max(initial=0)))

    exponent = 0
    if rows.weighted:
        greatest = max(max(own) for own in rows.add([WEIGHT], lambda: [0.0], add_greatest))
        exponent = WEIGHT_BITS - int(np.frexp(greatest)[1])
    for n_slices in sizes:
        most = min(MOST_CLASSES, max(1, MOST_CELLS // max(1, n_slices)))
        classes = find_classes(dtype, count, most)
        names = names_of_rows(rows, HASH, *([SLICE] if n_slices else []))

        def weigh(sums: np.ndarray, columns: Columns, classes: ScoreClasses = classes) -> None:
            cells = cells_of(columns, classes, score)
            cells += (columns[HASH] & HALF).astype(np.int32) * np.int32(sums.shape[0] // 2)
            weights = integer_weights(columns, exponent)
            labels = columns[label_name(output.label)].view(np.uint8)
            kernels.add_by_class(cells, np.zeros_like(cells), labels, weights, ONES, 0, sums)

        n = max(1, n_slices) * classes.n_classes
        masses = rows.sum(names, (2 * n, 2), weigh).reshape(2, n, 2)
        yield ScoreMasses(rows, classes, exponent, n_slices, masses)


def cells_of(columns: Columns, classes: ScoreClasses, score: str) -> np.ndarray:
    """The class of every row's score, and of the slice if there are any: int32."""
    own = classes.of_scores(columns[score])
    if SLICE in columns:
        own += columns[SLICE].astype(np.int32) * np.int32(classes.n_classes)
    return own


def find_score_contributions(
    masses: ScoreMasses, influences: Sequence[ScoreInfluence], units: JackknifeUnits
) -> Iterator[tuple[int, int | None, Contributions]]:
    """The contributions of all entries to the values with these influences: of all rows (None) or of every slice.

    Yields the number of the influence, that of the slice, and the contributions.
    """
    rows, classes, n_slices = masses.rows, masses.classes, masses.n_slices
    score, label = score_name(rows.output.score), label_name(rows.output.label)
    n_entries = units.n_entries(0 if n_slices else None)
    numbers = range(n_slices) if n_slices else range(1)
    tables, scales = [], []
    for influence in influences:
        terms = [terms_of(values_of_classes(influence, masses.of_slice(number))) for number in numbers]
        tables.append(np.ascontiguousarray(np.concatenate([own.table for own in terms])))
        scales.append([own.unit for own in terms])
    shift = WEIGHT_BITS if rows.weighted else 0

    def add(sums: np.ndarray, columns: Columns) -> None:
        cells = cells_of(columns, classes, score)
        entries = units.entries_of(units.unit_buckets.bucket_of(columns[HASH]), n_entries)
        if n_slices:
            entries += columns[SLICE].astype(np.int64) * n_entries
        entries = entries.astype(np.int32)
        weights, labels = integer_weights(columns, masses.weight_exponent), columns[label].view(np.uint8)
        kernels.add_by_class(entries, np.zeros_like(cells), labels, weights, ONES, 0, sums[0])
        for table, own in zip(tables, sums[1:], strict=True):
            kernels.add_by_class(entries, cells, labels, weights, table, shift, own)

    names = names_of_rows(rows, HASH, *([SLICE] if n_slices else []))
    sums = rows.sum(names, (1 + len(influences), len(numbers) * n_entries, 2), add)
    for number in numbers:
        where = slice(number * n_entries, (number + 1) * n_entries)
        own_masses = sums[0, where]
        for influence_number, own in enumerate(sums[1:, where]):
            scale = scales[influence_number][number] * (1 << shift)
            found, crossed = contributions_of(own_masses, own, scale), influences[influence_number].crossed
            if crossed is not None:
                found = found._replace(crossed=crossed(*masses.of_halves(number)))
            yield influence_number, number if n_slices else None, found


def values_of_classes(influence: ScoreInfluence, masses: ClassMasses) -> np.ndarray:
    """The influences of rows by class of scores; 0 if a class of labels has no rows, for the value is undefined."""
    if not (masses.negatives.any() and masses.positives.any()):
        return np.zeros((masses.negatives.shape[0], 2))
    return np.asarray(influence.of_classes(masses))


def contributions_of(masses: np.ndarray, sums: np.ndarray, scale: float) -> Contributions:
    """The contributions of entries with these masses of negatives and positives, and sums of influences times `scale`.

    The sum of a class over its mass is divided by the share of the class that the others have.
    """
    totals, present = masses.sum(axis=0), masses > 0
    with np.errstate(divide="ignore", invalid="ignore"):  # a unit that has a whole class leaves none
        changes = (sums * scale / totals) / ((totals - masses) / totals)
    changes[masses == totals] = np.nan
    counted = np.asarray(present.any(axis=1))
    return Contributions(changes.sum(axis=1), counted, int(present.sum(axis=0).min()))
