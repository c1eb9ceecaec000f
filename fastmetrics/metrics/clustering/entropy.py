"""How much a partition tells, alone, together with another, and by chance: in nats, from a table of counts.

Sums are exact, and rounded once at the end, so nothing depends on the order of cells or on how labels are numbered.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._kernels import mutualinfo as kernel
from fastmetrics.metrics.clustering.contingency import Contingency

__all__: list[str] = []

MOST_ROWS = (1 << 63) - 1
UNIT_CELLS = 1 << 16
UNIT_PAIRS = 1 << 12
FEW_PAIRS = 64  # below this, finding equal sizes costs more than it saves


class Information(NamedTuple):
    """What two partitions tell about each other, and each by itself."""

    mutual: float
    classes: float
    clusters: float


def information(table: Contingency, n_threads: int | None = None) -> Information:
    """Mutual information and both entropies; no rows: NaN.

    The mutual information is at most either entropy, and equal to it, in all bits, where it is in truth: where every
    class lies in one cluster, or every cluster in one class.
    """
    if table.total == 0:
        return Information(math.nan, math.nan, math.nan)
    check_total(table.total)
    of_classes, of_clusters = entropy(table.row_sums, table.total), entropy(table.column_sums, table.total)
    n_cells = table.counts.shape[0]
    if n_cells == table.row_sums.shape[0]:
        mutual = of_clusters
    elif n_cells == table.column_sums.shape[0]:
        mutual = of_classes
    else:
        mutual = min(mutual_of_cells(table, n_threads), of_classes, of_clusters)
    return Information(mutual, of_classes, of_clusters)


def check_total(total: int) -> None:
    if total > MOST_ROWS:
        raise OverflowError(f"the table counts {total} rows; at most 2**63 - 1 can be")


def entropy(sizes: np.ndarray, total: int) -> float:
    """sum of a / n log(n / a) over the sizes a, n in all."""
    state = exact.new_states()
    kernel.sum_entropy(sizes, total, state)
    return exact.divide(exact.to_integer(state), total << exact.EXPONENT)


def mutual_of_cells(table: Contingency, n_threads: int | None) -> float:
    """sum of n_ij / n log(n n_ij / (a_i b_j)), as a sum of terms of which none is negative."""
    chances: list[int] = []

    def add(start: int, stop: int, state: np.ndarray) -> None:
        chances.append(kernel.sum_information(*table[:6], start, stop, state))

    of_cells = add_up(table.counts.shape[0], UNIT_CELLS, add, n_threads)
    square = table.total * table.total
    of_empty_cells = square - sum(chances)
    return exact.divide(of_cells + (of_empty_cells << exact.EXPONENT), square << exact.EXPONENT)


def expected_information(table: Contingency, n_threads: int | None = None) -> float:
    """The mean of the mutual information over all pairs of partitions with these sizes.

    Sizes that occur more than once are looked at once. No rows: NaN.
    """
    if table.total == 0:
        return math.nan
    check_total(table.total)
    n_pairs = table.row_sums.shape[0] * table.column_sums.shape[0]
    first, first_times = sizes_and_times(table.row_sums, n_pairs)
    second, second_times = sizes_and_times(table.column_sums, n_pairs)

    def add(start: int, stop: int, state: np.ndarray) -> None:
        kernel.sum_expected(first, first_times, second, second_times, table.total, start, stop, state)

    in_rows = add_up(first.shape[0] * second.shape[0], UNIT_PAIRS, add, n_threads)
    return exact.divide(in_rows, table.total << exact.EXPONENT)


def sizes_and_times(sizes: np.ndarray, n_pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """The sizes, each once, and how often it occurs."""
    if n_pairs <= FEW_PAIRS:
        return sizes, np.ones_like(sizes)
    found, times = np.unique(sizes, return_counts=True)
    return found, times.astype(np.int64, copy=False)


def add_up(
    n_parts: int, unit_parts: int, add: Callable[[int, int, np.ndarray], None], n_threads: int | None
) -> int:
    """The exact sum of what add(start, stop, state) adds for units of the parts, by threads, times 2**EXPONENT."""
    if n_parts <= unit_parts:
        state = exact.new_states()
        add(0, n_parts, state)
        return exact.to_integer(state)
    states: list[np.ndarray] = []

    def make_worker() -> Callable[[int], None]:
        state = exact.new_states()
        states.append(state)
        return lambda unit: add(unit * unit_parts, min(n_parts, (unit + 1) * unit_parts), state)

    for_each(-(-n_parts // unit_parts), make_worker, count_threads(n_threads))
    return sum(map(exact.to_integer, states))
