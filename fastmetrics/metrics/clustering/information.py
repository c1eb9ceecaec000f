"""Entropies, mutual information and expected mutual information of a contingency table, in nats.

Sums are exact and rounded once at the end, so no result depends on the order of cells or on the codes of labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._kernels.clustering import mutual_info as kernel
from fastmetrics.metrics.clustering.contingency import Contingency

MAX_ROWS = (1 << 63) - 1
UNIT_CELLS = 1 << 16
UNIT_PAIRS = 1 << 12
FEW_PAIRS = 64  # up to this number, finding equal sizes costs more than it saves


class PartitionInformation(NamedTuple):
    """The mutual information of two partitions, and the entropy of each."""

    mutual: float
    class_entropy: float
    cluster_entropy: float


def compute_information(table: Contingency, n_threads: int | None = None) -> PartitionInformation:
    """Mutual information and both entropies; NaN without rows.

    The mutual information is at most the smaller entropy. It equals an entropy in all bits if they are equal by
    definition: if every class lies in one cluster, or every cluster in one class.
    """
    if table.total == 0:
        return PartitionInformation(math.nan, math.nan, math.nan)
    check_total(table.total)
    class_entropy, cluster_entropy = entropy(table.row_sums, table.total), entropy(table.column_sums, table.total)
    n_cells = table.counts.shape[0]
    if n_cells == table.row_sums.shape[0]:
        mutual = cluster_entropy
    elif n_cells == table.column_sums.shape[0]:
        mutual = class_entropy
    else:
        mutual = min(mutual_information_of_cells(table, n_threads), class_entropy, cluster_entropy)
    return PartitionInformation(mutual, class_entropy, cluster_entropy)


def check_total(total: int) -> None:
    if total > MAX_ROWS:
        raise OverflowError(f"the table counts {total} rows; at most 2**63 - 1 are allowed")


def entropy(sizes: np.ndarray, total: int) -> float:
    """The sum of a / n log(n / a) over the sizes a, where n is their sum."""
    state = exact.new_states()
    kernel.sum_entropy(sizes, total, state)
    return exact.divide(exact.to_integer(state), total << exact.EXPONENT)


def mutual_information_of_cells(table: Contingency, n_threads: int | None) -> float:
    """The sum of n_ij / n log(n n_ij / (a_i b_j)), computed as a sum of terms that are not negative."""
    expected: list[int] = []

    def add(start: int, stop: int, state: np.ndarray) -> None:
        expected.append(kernel.sum_information(*table[:6], start, stop, state))

    of_cells = sum_in_units(table.counts.shape[0], UNIT_CELLS, add, n_threads)
    square = table.total * table.total
    of_empty_cells = square - sum(expected)
    return exact.divide(of_cells + (of_empty_cells << exact.EXPONENT), square << exact.EXPONENT)


def expected_mutual_information(table: Contingency, n_threads: int | None = None) -> float:
    """The mean mutual information over all pairs of partitions with these sizes; NaN without rows.

    Sizes that occur more than once are computed once.
    """
    if table.total == 0:
        return math.nan
    check_total(table.total)
    n_pairs = table.row_sums.shape[0] * table.column_sums.shape[0]
    first, first_counts = distinct_sizes(table.row_sums, n_pairs)
    second, second_counts = distinct_sizes(table.column_sums, n_pairs)

    def add(start: int, stop: int, state: np.ndarray) -> None:
        kernel.sum_expected(first, first_counts, second, second_counts, table.total, start, stop, state)

    in_rows = sum_in_units(first.shape[0] * second.shape[0], UNIT_PAIRS, add, n_threads)
    return exact.divide(in_rows, table.total << exact.EXPONENT)


def distinct_sizes(sizes: np.ndarray, n_pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct sizes, and how often each occurs."""
    if n_pairs <= FEW_PAIRS:
        return sizes, np.ones_like(sizes)
    distinct, counts = np.unique(sizes, return_counts=True)
    return distinct, counts.astype(np.int64, copy=False)


def sum_in_units(
    n_terms: int, unit_size: int, add: Callable[[int, int, np.ndarray], None], n_threads: int | None
) -> int:
    """The exact sum, times 2**EXPONENT, of n_terms terms; add(start, stop, state) adds some of them, in threads."""
    if n_terms <= unit_size:
        state = exact.new_states()
        add(0, n_terms, state)
        return exact.to_integer(state)
    states: list[np.ndarray] = []

    def make_worker() -> Callable[[int], None]:
        state = exact.new_states()
        states.append(state)
        return lambda unit: add(unit * unit_size, min(n_terms, (unit + 1) * unit_size), state)

    for_each(-(-n_terms // unit_size), make_worker, count_threads(n_threads))
    return sum(map(exact.to_integer, states))
