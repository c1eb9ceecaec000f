"""Contributions of units to statistics of the order of scores: what leaving a unit out changes, to first order.

The influence of a row on such a metric depends on its class and on its place in the order of all scores, which is
looked up by class of scores. Rows are read three times or more, in any order: to divide scores into classes, to weigh
these, and to add up the influences of the rows of each unit; every time for all rows and all slices together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import SLICE, WEIGHT, Output, label_name, score_name
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.stored_ranges import BlockSource
from fastmetrics._core.metric_spec import ScoreInfluence
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import accumulate
from fastmetrics._core.resampling.additive_replicates import JackknifeUnits
from fastmetrics._core.resampling.contributions import Contributions
from fastmetrics._core.resampling.row_replicates import Pieces, for_each_range, pieces_of, place_in_slices
from fastmetrics._core.score_statistics.score_classes import (
    WEIGHT_BITS,
    ClassMasses,
    ScoreClasses,
    find_classes,
    join_classes,
    terms_of,
)
from fastmetrics._kernels.resampling import score_classes as kernels

SAMPLED_ROWS = 1 << 19  # from which classes are found
MOST_HASH = (1 << 64) - 1
HALF = np.uint64(1)  # the bit of a hash that divides units into halves
ENTRIES_AT_A_TIME = 1 << 17  # whose contributions are found together
NO_WEIGHTS: np.ndarray = np.empty(0, np.int64)
Columns = dict[str, np.ndarray]


class ScoredRows(NamedTuple):
    """The rows of a source, for one output. `known` are the classes of scores that other passes over them found."""

    source: BlockSource
    output: Output
    weighted: bool
    n_threads: int
    advance: Callable[[int], Any] | None = None
    known: dict[Output, tuple[ScoreClasses, np.ndarray]] | None = None

    def add(self, names: Sequence[str], make: Callable[[], Any], add: Callable[[Any, Columns], Any]) -> list[Any]:
        """Load columns block by block, and call add(state, columns); return the states, one of every thread."""
        blocks = self.source.block_readers(list(names))

        def add_block(state: Any, number: int) -> None:
            add(state, blocks[number].load())
            if self.advance is not None:
                self.advance(blocks[number].rows)

        return accumulate(len(blocks), make, add_block, self.n_threads)

    @property
    def n_rows(self) -> int:
        return sum(block.rows for block in self.source.block_readers([score_name(self.output.score)]))

    def dtype_of(self, column: str) -> np.dtype:
        """The type of a column."""
        dtype: np.dtype = self.source.block_readers([column])[0].load()[column].dtype
        return dtype

    def for_each(self, names: Sequence[str], add: Callable[[Pieces], Any]) -> None:
        """Call add(pieces) with all rows, of a store with those of ranges of hashes."""
        if isinstance(self.source, BlockStore):
            for_each_range(self.source, names, add, self.n_threads)
            return
        self.add(names, lambda: None, lambda _, columns: add(pieces_of(columns)) if columns[HASH].shape[0] else None)

    def sum(self, names: Sequence[str], shape: tuple[int, ...], add: Callable[[Any, Columns], Any]) -> np.ndarray:
        """The sum over threads of an array of integers that `add(array, columns)` fills."""
        sums = np.zeros(shape, np.int64)
        for own in self.add(names, lambda: np.zeros(shape, np.int64), add):
            sums += own
        return sums


class ScoreMasses(NamedTuple):
    """The classes of the scores of one output, and the weights of each, of all rows or of every slice.

    `joined` are the classes in slices of the `n_found` classes that are found in the scores; None: the same. `masses`
    are int64[2, halves, n_slices * n_classes]: of negatives and of positives, of both halves of the units if anything
    asks for them; without slices, n_slices is 0. Weights are integers, times a power of two that makes the greatest one
    2**WEIGHT_BITS; without weights each row has 1.
    """

    joined: np.ndarray | None
    n_found: int
    n_slices: int
    masses: np.ndarray

    @property
    def n_classes(self) -> int:
        return self.n_found if self.joined is None else int(self.joined[-1]) + 1

    def cells_of(self, found: np.ndarray, columns: Columns) -> np.ndarray:
        """The class of every row, and of the slice if there are any: int32. `found` are those in the scores."""
        if self.n_slices:
            return place_in_slices(found, columns[SLICE], self.n_classes, self.joined)
        return found if self.joined is None else self.joined[found]

    def of_slice(self, number: int) -> ClassMasses:
        negatives, positives = self.of_halves(number).sum(axis=0).astype(np.float64)
        return ClassMasses(negatives, positives)

    def of_halves(self, number: int) -> np.ndarray:
        """The masses of both halves of the units, int64[halves, 2, n_classes]: of negatives, and of positives."""
        n = self.n_classes
        return self.masses[:, :, number * n : (number + 1) * n].transpose(1, 0, 2)


def integer_weights(columns: Columns, exponent: int) -> np.ndarray:
    """The weights of rows on a grid of powers of two; empty without weights."""
    weights = columns.get(WEIGHT)
    return NO_WEIGHTS if weights is None else np.rint(np.ldexp(weights, exponent)).astype(np.int64)


def find_score_classes(rows: ScoredRows, column: str | None = None) -> tuple[ScoreClasses, np.ndarray]:
    """The classes of all scores, or of another column of numbers, and about how many rows each has.

    They are those of a sample, or of all rows.
    """
    column = column or score_name(rows.output.score)
    share = min(1.0, SAMPLED_ROWS / max(1, rows.n_rows))
    sample = sample_numbers(rows, column, share) if share < 1 else np.empty(0)
    if sample.shape[0] >= SAMPLED_ROWS // 4:
        return find_classes(sample.dtype, lambda own: np.bincount(own.of_scores(sample), minlength=own.n_classes))

    def count(classes: ScoreClasses) -> np.ndarray:
        def add(counts: np.ndarray, columns: Columns) -> None:
            counts += np.bincount(classes.of_scores(as_floats(columns[column])), minlength=classes.n_classes)

        return rows.sum([column], (classes.n_classes,), add)

    return find_classes(as_floats(np.empty(0, rows.dtype_of(column))).dtype, count)


def sample_numbers(rows: ScoredRows, column: str, share: float) -> np.ndarray:
    """The numbers of a share of the units: the first ones in the order of their hashes."""
    greatest = np.uint64(min(MOST_HASH, int(share * MOST_HASH)))

    def add(own: list[np.ndarray], columns: Columns) -> None:
        own.append(as_floats(columns[column][columns[HASH] <= greatest]))

    return np.concatenate([numbers for own in rows.add([column, HASH], list[np.ndarray], add) for numbers in own])


def as_floats(numbers: np.ndarray) -> np.ndarray:
    """Floats as they are, other numbers as float64."""
    return numbers if numbers.dtype.kind == "f" else numbers.astype(np.float64)


class ReadRows(NamedTuple):
    """The class, the label and the integer weight of every row."""

    classes: np.ndarray
    labels: np.ndarray
    weights: np.ndarray


class ClassifiedRows(NamedTuple):
    """Rows, the classes of their scores, and the exponent of the integers that stand for weights."""

    rows: ScoredRows
    classes: ScoreClasses
    weight_exponent: int

    def names(self, n_slices: int) -> list[str]:
        """The columns that are read."""
        score, label = score_name(self.rows.output.score), label_name(self.rows.output.label)
        return [label, score, HASH, *([WEIGHT] * self.rows.weighted), *([SLICE] if n_slices else [])]

    def read(self, columns: Columns) -> ReadRows:
        """What counts of every row."""
        labels = columns[label_name(self.rows.output.label)].view(np.uint8)
        found = self.classes.of_scores(columns[score_name(self.rows.output.score)])
        return ReadRows(found, labels, integer_weights(columns, self.weight_exponent))


def classify(rows: ScoredRows, classes: ScoreClasses) -> ClassifiedRows:
    """The rows with the exponent of their weights."""

    def add_greatest(own: list[float], columns: Columns) -> None:
        own.append(float(columns[WEIGHT].max(initial=0)))

    if not rows.weighted:
        return ClassifiedRows(rows, classes, 0)
    greatest = max(max(own) for own in rows.add([WEIGHT], lambda: [0.0], add_greatest))
    return ClassifiedRows(rows, classes, WEIGHT_BITS - int(np.frexp(greatest)[1]))


def find_score_masses(
    rows: ClassifiedRows, counts: np.ndarray, sizes: Sequence[int], n_halves: int
) -> list[ScoreMasses]:
    """The masses of all rows together (0), or of so many slices: one for each of `sizes`, from one reading.

    `counts` is about the number of rows of each class.
    """
    found = [ScoreMasses(join_classes(counts, n_slices), counts.shape[0], n_slices, NO_WEIGHTS) for n_slices in sizes]
    first, last = found[0], found[-1]
    adds_slices = len(found) > 1 and first.joined is last.joined is None  # the masses of slices are those of all rows
    counted = [last] if adds_slices else found
    shapes = [(2, n_halves * max(1, own.n_slices) * own.n_classes, 1) for own in counted]

    def make() -> list[np.ndarray]:
        return [np.zeros(shape, np.int64) for shape in shapes]

    def weigh(sums: list[np.ndarray], columns: Columns) -> None:
        classes, labels, weights = rows.read(columns)
        halves = (columns[HASH] & HALF).astype(np.int32) if n_halves > 1 else None
        for masses, own in zip(counted, sums, strict=True):
            cells = masses.cells_of(classes, columns)
            if halves is not None:
                cells = cells + halves * np.int32(own.shape[1] // 2)
            kernels.add_by_class(cells, None, labels, weights, None, 0, own)

    threads = rows.rows.add(rows.names(max(sizes)), make, weigh) or [make()]
    sums = [np.sum(own, axis=0).reshape(2, n_halves, -1) for own in zip(*threads, strict=True)]
    if adds_slices:
        sums = [sums[0].reshape(2, n_halves, last.n_slices, -1).sum(axis=2), *sums]
    return [masses._replace(masses=own) for masses, own in zip(found, sums, strict=True)]


class EntryPart(NamedTuple):
    """The sums of the `n` entries from `first` on, of every slice: int64[2, n_slices * n, 1 + influences]."""

    first: int
    n: int
    sums: np.ndarray


class EntrySums:
    """The masses of all entries, and their sums of influences, of all rows or of every slice.

    `sums` are int64[2, n_slices, n_entries, 1 + influences], of negatives and of positives, masses first.
    """

    def __init__(self, masses: ScoreMasses, influences: Sequence[ScoreInfluence], units: JackknifeUnits) -> None:
        self.masses, self.units = masses, units
        self.n_entries = units.n_entries(0 if masses.n_slices else None)
        numbers = range(max(1, masses.n_slices))
        terms = [
            [terms_of(values_of_classes(own, of_slice)) for own in influences]
            for of_slice in map(masses.of_slice, numbers)
        ]
        tables = [np.stack([own.table.T for own in of_slice], axis=2) for of_slice in terms]
        self.table = np.ascontiguousarray(np.concatenate(tables, axis=1))
        self.scales = np.array([[own.unit for own in of_slice] for of_slice in terms])
        self.sums = np.zeros((2, len(numbers), self.n_entries, 1 + len(influences)), np.int64)
        self.lock = Lock()

    def part_of(self, buckets: Sequence[np.ndarray]) -> EntryPart:
        """The sums of the entries of a range of hashes, which are few; nothing is in them yet."""
        first, n = self.units.range_of(buckets, self.n_entries)
        return EntryPart(first, n, np.zeros((2, self.sums.shape[1] * n, self.sums.shape[3]), np.int64))

    def add_to(
        self, part: EntryPart, rows: ClassifiedRows, buckets: np.ndarray, columns: Columns, read: ReadRows
    ) -> None:
        """Add rows of these unit buckets to a part."""
        numbers = self.units.entries_of(buckets, self.n_entries) - np.int32(part.first)
        if self.masses.n_slices:
            numbers = place_in_slices(numbers, columns[SLICE], part.n)
        cells = self.masses.cells_of(read.classes, columns)
        shift = WEIGHT_BITS if rows.rows.weighted else 0
        kernels.add_by_class(numbers, cells, read.labels, read.weights, self.table, shift, part.sums)

    def merge(self, part: EntryPart) -> None:
        """Add a part. Any thread may."""
        with self.lock:
            self.sums[:, :, part.first : part.first + part.n] += part.sums.reshape(2, -1, part.n, self.sums.shape[3])


def find_score_contributions(
    rows: ScoredRows,
    influences: Sequence[ScoreInfluence],
    sizes: Sequence[int],
    units: JackknifeUnits,
    with_shares: bool = False,
) -> Iterator[tuple[int, int | None, Contributions]]:
    """The contributions of all entries to the values with these influences: of all rows (0) or of so many slices.

    Yields the number of the influence, that of the slice, and the contributions.
    """
    known = {} if rows.known is None else rows.known
    if rows.output not in known:
        known[rows.output] = find_score_classes(rows)
    classes, counts = known[rows.output]
    classified = classify(rows, classes)
    n_halves = 2 if any(influence.crossed is not None for influence in influences) else 1
    found = [EntrySums(masses, influences, units) for masses in find_score_masses(classified, counts, sizes, n_halves)]

    def add(pieces: Pieces) -> None:
        buckets = [units.unit_buckets.bucket_of(own[HASH]) for own in pieces]
        parts = [own.part_of(buckets) for own in found]
        for own, of_rows in zip(pieces, buckets, strict=True):
            read = classified.read(own)
            for sums, part in zip(found, parts, strict=True):
                sums.add_to(part, classified, of_rows, own, read)
        for sums, part in zip(found, parts, strict=True):
            sums.merge(part)

    rows.for_each(classified.names(max(sizes)), add)
    shift = WEIGHT_BITS if rows.weighted else 0
    for sums in found:
        for influence_number, influence in enumerate(influences):
            scales = sums.scales[:, influence_number] * (1 << shift)
            own = contributions_of(sums.sums[..., 0], sums.sums[..., 1 + influence_number], scales, with_shares)
            for number, contributions in enumerate(own):
                if influence.crossed is not None:
                    crossed = influence.crossed(*sums.masses.of_halves(number))
                    contributions = contributions._replace(crossed=crossed)
                yield influence_number, number if sums.masses.n_slices else None, contributions


def values_of_classes(influence: ScoreInfluence, masses: ClassMasses) -> np.ndarray:
    """The influences of rows by class of scores; 0 if a class of labels has no rows, for the value is undefined."""
    if not (masses.negatives.any() and masses.positives.any()):
        return np.zeros((masses.negatives.shape[0], 2))
    return np.asarray(influence.of_classes(masses))


def contributions_of(
    masses: np.ndarray, sums: np.ndarray, scales: np.ndarray, with_shares: bool = False
) -> Iterator[Contributions]:
    """The contributions of entries in every slice, from masses of negatives and positives and sums of influences.

    Both are int64[2, slices, entries]; sums are times the scale of the slice. The sum of a class over its mass is
    divided by the share of the class that the others have.
    """
    step = max(1, ENTRIES_AT_A_TIME // masses.shape[2])
    for start in range(0, masses.shape[1], step):
        some = slice(start, start + step)
        own = masses[:, some]
        totals, present = own.sum(axis=2, keepdims=True), own > 0
        with np.errstate(divide="ignore", invalid="ignore"):  # a unit that has a whole class leaves none
            changes = (sums[:, some] * scales[some, None] / totals) / ((totals - own) / totals)
        changes[own == totals] = np.nan
        n_effective = present.sum(axis=2).min(axis=0).tolist()
        counted = np.asarray(present.any(axis=0))
        found = map(Contributions, changes.sum(axis=0), counted, n_effective)
        if not with_shares:
            yield from found
            continue
        shares = own[1] / np.maximum(totals[1], 1)
        yield from (one._replace(shares=of_one) for one, of_one in zip(found, shares, strict=True))
