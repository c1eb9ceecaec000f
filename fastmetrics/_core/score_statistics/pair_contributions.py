"""Contributions of units to shares of pairs of rows: how a row stands among all is looked up in a table.

Targets and scores have classes of about as many rows each; a cell of the table has the rows of two classes. Pairs of
rows whose targets are in one class are not counted, as if their targets were equal: of targets with few values that is
so, of others they are one of some hundred pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isqrt, prod

import numpy as np

from fastmetrics._core.columns.row_blocks import SLICE, WEIGHT, label_name, score_name
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.metric_spec import PairInfluence
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.resampling.additive_replicates import JackknifeUnits
from fastmetrics._core.resampling.contributions import Contributions
from fastmetrics._core.score_statistics.score_classes import WEIGHT_BITS, ScoreClasses, terms_of
from fastmetrics._core.score_statistics.score_contributions import (
    Columns,
    ScoredRows,
    as_floats,
    classify,
    find_score_classes,
    integer_weights,
)
from fastmetrics._kernels.resampling import score_classes as kernels

MOST_CLASSES = 1 << 9  # of targets, and of scores
LEAST_CLASSES = 1 << 4  # of slices
MOST_CELLS = 1 << 20  # of all slices
NumbersOfRows = Callable[[np.ndarray, Columns], np.ndarray]  # from cells and columns


class ColumnClasses(NamedTuple):
    """The classes of the numbers of a column: what they are found in, and the class that each of these is joined to."""

    name: str
    found: ScoreClasses
    counts: np.ndarray

    def joined(self, most: int) -> np.ndarray:
        """At most so many classes: the nonempty ones if they are not more, else those of about as many rows each."""
        counts = self.counts
        if np.count_nonzero(counts) <= most:
            return np.asarray(np.maximum(np.cumsum(counts > 0) - 1, 0), np.int32)
        shares = (counts.cumsum() - counts) * most // int(counts.sum())
        return np.append(0, (shares[1:] != shares[:-1]).cumsum()).astype(np.int32)

    def classes_of(self, columns: Columns) -> np.ndarray:
        return self.found.of_scores(as_floats(columns[self.name]))


class PairCells(NamedTuple):
    """The cells of rows: a class of targets and one of scores, in all rows (0) or in every one of so many slices."""

    rows: ScoredRows
    columns: tuple[ColumnClasses, ColumnClasses]
    joined: tuple[np.ndarray, np.ndarray]
    exponent: int
    n_slices: int

    @property
    def shape(self) -> tuple[int, int, int]:
        targets, scores = (int(own[-1]) + 1 for own in self.joined)
        return max(1, self.n_slices), targets, scores

    def sum(self, n: int, numbers_of: NumbersOfRows, table: np.ndarray | None = None) -> np.ndarray:
        """The weights of rows, and the terms of their cells, by number: int64[n, 1 + terms]."""
        names = [own.name for own in self.columns] + [HASH]
        names += [WEIGHT] * self.rows.weighted + [SLICE] * bool(self.n_slices)
        shift = WEIGHT_BITS if self.rows.weighted else 0

        def add(sums: np.ndarray, columns: Columns) -> None:
            cells = self.cells_of(columns)
            labels, weights = np.zeros(cells.shape[0], np.uint8), integer_weights(columns, self.exponent)
            of_rows = None if table is None else cells
            kernels.add_by_class(numbers_of(cells, columns), of_rows, labels, weights, table, shift, sums)

        n_terms = 0 if table is None else table.shape[2]
        sums: np.ndarray = self.rows.sum(names, (2, n, 1 + n_terms), add)[0]
        return sums

    def cells_of(self, columns: Columns) -> np.ndarray:
        """The cell of every row: int32."""
        _, _, n_scores = self.shape
        targets, scores = (own[of.classes_of(columns)] for own, of in zip(self.joined, self.columns, strict=True))
        cells: np.ndarray = targets * np.int32(n_scores) + scores
        return cells + columns[SLICE].astype(np.int32) * np.int32(prod(self.shape[1:])) if self.n_slices else cells


def find_pair_contributions(
    rows: ScoredRows, influence: PairInfluence, sizes: Sequence[int], units: JackknifeUnits
) -> Iterator[tuple[int | None, Contributions]]:
    """The contributions of all entries to a share of pairs: of all rows (0) or of every one of so many slices."""
    names = label_name(rows.output.label), score_name(rows.output.score)
    targets, scores = (ColumnClasses(name, *find_score_classes(rows, name)) for name in names)
    exponent = classify(rows, scores.found).weight_exponent
    for n_slices in sizes:
        most = MOST_CLASSES if not n_slices else min(MOST_CLASSES, max(LEAST_CLASSES, isqrt(MOST_CELLS // n_slices)))
        cells = PairCells(rows, (targets, scores), (targets.joined(most), scores.joined(most)), exponent, n_slices)
        yield from contributions_to_slices(cells, influence, units)


def contributions_to_slices(
    cells: PairCells, influence: PairInfluence, units: JackknifeUnits
) -> Iterator[tuple[int | None, Contributions]]:
    n_slices, n_entries = cells.n_slices, units.n_entries(0 if cells.n_slices else None)
    masses = cells.sum(prod(cells.shape), lambda own, columns: own)[:, 0].reshape(cells.shape)
    terms = [[terms_of(own) for own in influence.of_cells(of_slice.astype(np.float64))] for of_slice in masses]
    table = np.concatenate([np.stack([own.table.reshape(-1) for own in of_slice], axis=1) for of_slice in terms])

    def entries_of(own: np.ndarray, columns: Columns) -> np.ndarray:
        entries = units.entries_of(units.unit_buckets.bucket_of(columns[HASH]), n_entries)
        return (entries + columns[SLICE].astype(np.int64) * n_entries if n_slices else entries).astype(np.int32)

    sums = cells.sum(len(terms) * n_entries, entries_of, np.ascontiguousarray(np.stack((table, table))))
    scale = 1 << (WEIGHT_BITS if cells.rows.weighted else 0)
    for number, (of_pairs, of_shares) in enumerate(terms):
        own = sums[number * n_entries : (number + 1) * n_entries]
        counted = own[:, 0] > 0
        with np.errstate(divide="ignore", invalid="ignore"):  # a unit that has all pairs leaves none
            changes = own[:, 1] * (of_pairs.unit * scale) / (1 - own[:, 2] * (of_shares.unit * scale))
        yield number if n_slices else None, Contributions(changes, counted, int(counted.sum()))
