"""The values of single groups as a state: what quantiles, extremes and shares of groups are computed from.

A state keeps a value and a weight for each group, 16 bytes. They count against the memory budget; what does not fit is
spilled. States merge by keeping the groups of both. A quantile is found without sorting all groups: a pass over the
blocks weighs the groups between cuts, and keeps those between two cuts, until what is left fits the memory limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns.row_blocks import WEIGHT
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.blocks import Block
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.group_stat import WeightedSample
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.state import State, restore_state
from fastmetrics._core.statistic import GroupedStatistic, PerGroup
from fastmetrics._kernels.numeric import sums

VALUE = "value"
UNIT_BUCKET = "unit bucket"
FEWEST_ROWS, MOST_ROWS = 1 << 10, 1 << 16  # of a block
PENDING_DIVISOR = 16  # this part of the groups may wait for a block
SORTED_ROWS, SORTED_BYTES = 1 << 14, 64  # so many values are sorted in place of a further pass, at so many bytes each
SAMPLE, CUTS = 1 << 12, 1 << 8
SORTED_COPIES = 3


class MeanOfGroups(PerGroup, GroupedStatistic):
    """Base of statistics of a mean over groups that also know the value of each group."""

    __slots__ = ()

    def values_statistic(self) -> ValuesByGroup:
        return ValuesByGroup(self)


def group_coverage(groups: int, rows: int, left_out: dict[str, tuple[int, int]]) -> dict[str, Any]:
    """The coverage of a mean over groups. `left_out`: the groups that it leaves out and their rows, by the reason."""
    groups_left_out = {why: own for why, (own, _) in left_out.items()}
    rows_left_out = {why: own for why, (_, own) in left_out.items()}
    return {
        "rows": rows - sum(rows_left_out.values()),
        "groups": groups,
        "groups_used": groups - sum(groups_left_out.values()),
        "groups_left_out": groups_left_out,
        "rows_left_out": rows_left_out,
    }


class ValuesByGroup(GroupedStatistic):
    """Keeps the values of the groups whose mean another statistic computes. Both read the same tables."""

    __slots__ = ("mean",)

    def __init__(self, mean: MeanOfGroups) -> None:
        self.mean = mean

    @property
    def table(self) -> Any:
        return self.mean.table

    @property
    def measured(self) -> MeanOfGroups:
        return self.mean

    def empty(self) -> WeightedValues:
        return WeightedValues()

    def update(self, state: WeightedValues, table: Any) -> None:
        state.add(*self.used_values(table)[:2])

    def used_values(self, table: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The values and the weights of the groups that count in the mean, and which of the table's groups they are."""
        values = self.mean.group_values(table)
        weights = self.mean.group_weights(table)
        used = ~np.isnan(values)
        if weights is None:
            return values[used] + 0.0, np.ones(np.count_nonzero(used)), used
        used &= weights > 0
        return values[used] + 0.0, weights[used], used


class WeightedValues(State):
    """Values with positive weights, in blocks. A value of -0.0 is stored as 0.0."""

    __slots__ = ("pending", "pending_rows", "store")

    columns: ClassVar[dict[str, type]] = {VALUE: np.float64, WEIGHT: np.float64}

    def __init__(self) -> None:
        self.store = BlockStore(1)
        self.pending: list[tuple[np.ndarray, ...]] = []
        self.pending_rows = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_state, (type(self), *self.arrays())

    def limit_memory(self, budget: MemoryBudget | None) -> None:
        """Count the values against a budget; what does not fit is spilled."""
        self.store.budget = budget

    @property
    def rows(self) -> int:
        return self.store.rows + self.pending_rows

    @property
    def n_bytes(self) -> int:
        in_memory = sum(block.n_bytes() for block in self.store.blocks_in_memory)
        return in_memory + sum(column.nbytes for columns in self.pending for column in columns)

    def add(self, *columns: np.ndarray) -> None:
        """Add groups: their values, and their weights. The arrays are kept."""
        self.pending.append(columns)
        self.pending_rows += columns[0].shape[0]
        if self.pending_rows >= min(MOST_ROWS, max(FEWEST_ROWS, self.store.rows // PENDING_DIVISOR)):
            self.store_pending()

    def store_pending(self) -> None:
        """Make a block of the groups that wait for one."""
        if self.pending_rows:
            columns = (np.concatenate(column) for column in zip(*self.pending, strict=True))
            block = Block(dict(zip(self.columns, columns, strict=True)), np.array([0, self.pending_rows], np.int32))
            self.store.add(block, self.store.try_reserve(block.n_bytes()))
        self.pending, self.pending_rows = [], 0

    def merge(self, other: WeightedValues) -> None:
        """Take the groups of another state. Its blocks in memory are shared: their bytes are reserved already."""
        for number in range(other.store.n_blocks):
            block = other.store.block(number)
            if isinstance(block, Block):
                self.store.add(block, True)
            else:
                loaded = other.store.load_partitions(list(self.columns), 0, 1, numbers=range(number, number + 1))
                (block,) = loaded.blocks()
                self.store.add(block, self.store.budget is None)
        for columns in other.pending:
            self.add(*columns)

    def arrays(self) -> tuple[np.ndarray, ...]:
        """All values, and all weights."""
        self.store_pending()
        if not self.store.rows:
            return tuple(np.empty(0, kind) for kind in self.columns.values())
        return tuple(self.store.load_partitions(list(self.columns), 0, 1).columns.values())

    def layout(self) -> tuple[tuple[Any, ...], ...]:
        return tuple((kind, None) for kind in self.columns.values())

    def load_arrays(self, *arrays: np.ndarray) -> None:
        values, weights, *_ = arrays
        if values.shape != weights.shape:
            raise ValueError("groups have not as many weights as values")
        if np.isnan(values).any() or not (np.isfinite(weights) & (weights > 0)).all():
            raise ValueError("a group has no value, or a weight that is not above 0")
        self.add(*arrays)

    # ---------------------------------------------------------------------------------- as a WeightedSample

    def weight(self) -> int:
        return sum(exact.integer_sum(block[WEIGHT]) for block in self.blocks())

    def weight_below(self, number: float) -> int:
        return sum(exact.integer_sum(block[WEIGHT][block[VALUE] < number]) for block in self.blocks())

    def least(self) -> float:
        return min(float(block[VALUE].min(initial=math.inf)) for block in self.blocks())

    def greatest(self) -> float:
        return max(float(block[VALUE].max(initial=-math.inf)) for block in self.blocks())

    def blocks(self) -> Iterator[dict[str, np.ndarray]]:
        """The columns of every block, one after the other."""
        self.store_pending()
        return (reader.load() for reader in self.store.block_readers(list(self.columns)))

    def values_at(self, limits: list[int]) -> list[float]:
        return [self.value_at(limit) for limit in limits]

    def value_at(self, limit: int) -> float:
        """The least value such that all greater values together weigh less than the limit."""
        budget = self.store.budget
        most_rows = SORTED_ROWS if budget is None else min(SORTED_ROWS, max(1, budget.bytes_per_range // SORTED_BYTES))
        found = Candidates(-math.inf, math.inf, self.rows, 0)
        while found.rows > most_rows and found.differ:
            found = self.narrow(found, limit)
        if not found.differ:
            return found.high
        parts = zip(*(found.select(block) for block in self.blocks()), strict=True)
        values, weights = (np.concatenate(column) for column in parts)
        order = np.argsort(-values)
        candidates = SortedValues(values[order], weights[order])
        return float(candidates.values[candidates.last_row(limit, found.above)])

    def narrow(self, found: Candidates, limit: int) -> Candidates:
        """Fewer candidates: those between two cuts."""
        cuts = self.choose_cuts(found)
        rows = np.zeros(cuts.shape[0] + 1, np.int64)
        states = exact.new_states(rows.shape[0])
        for values, weights in map(found.select, self.blocks()):
            numbers = np.searchsorted(cuts, values).astype(np.uint16)
            of_block = np.bincount(numbers, minlength=rows.shape[0])
            bounds = np.concatenate(([0], np.cumsum(of_block)))
            sums.sum_segments(weights[np.argsort(numbers, kind="stable")], bounds, states)
            rows += of_block
        edges = [found.low, *cuts.tolist(), found.high]
        above = found.above
        for number in np.flatnonzero(rows)[::-1].tolist():
            found = Candidates(edges[number], edges[number + 1], int(rows[number]), above)
            above += exact.to_integer(states[number])
            if above >= limit:
                break
        return found

    def choose_cuts(self, found: Candidates) -> np.ndarray:
        """Ascending cuts. Each stands between two floats, so that a value that occurs often is alone between cuts."""
        step = -(-found.rows // SAMPLE)
        sample = np.sort(np.concatenate([found.select(block)[0][::step] for block in self.blocks()]))
        chosen = sample[:: -(-sample.shape[0] // CUTS)]
        return np.unique(np.concatenate((chosen, np.nextafter(chosen, -math.inf))))


class Candidates(NamedTuple):
    """The values above `low` and up to `high`, among which one is looked for. `above` weighs all greater values."""

    low: float
    high: float
    rows: int
    above: int

    @property
    def differ(self) -> bool:
        """May there be two different candidates?"""
        return math.nextafter(self.low, self.high) < self.high

    def select(self, block: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """The candidates of a block, and their weights."""
        values = block[VALUE]
        chosen = (values > self.low) & (values <= self.high)
        return values[chosen], block[WEIGHT][chosen]


class UnitValues(WeightedValues):
    """Values and weights of groups, and the numbers of their unit buckets: all that replicates need."""

    __slots__ = ()

    columns: ClassVar[dict[str, type]] = {**WeightedValues.columns, UNIT_BUCKET: np.int32}

    @property
    def fits_sorted(self) -> bool:
        """Is there memory for the values in order, and for a replicate of them?"""
        budget = self.store.budget
        return self.store.in_memory and (budget is None or budget.has_space_for(SORTED_COPIES * self.n_bytes))

    def replicates(self, copies_of_buckets: Iterable[np.ndarray]) -> Iterator[WeightedSample]:
        """The sample of every replicate. Each has the values of a unit bucket as often as its copies say."""
        self.store_pending()
        if not self.fits_sorted:
            yield from (RepeatedValues(self, copies) for copies in copies_of_buckets)
            return
        values, weights, numbers = self.arrays()
        order = np.argsort(-values)
        values, weights, numbers = values[order], weights[order], numbers[order]
        for copies in copies_of_buckets:
            times = copies[numbers]
            yield SortedValues(np.repeat(values, times), np.repeat(weights, times))


class RepeatedValues(WeightedValues):
    """One replicate of values that do not fit the memory: they are repeated block by block, whenever they are read."""

    __slots__ = ("copies",)

    def __init__(self, values: UnitValues, copies: np.ndarray) -> None:
        super().__init__()
        self.store = values.store
        self.copies = copies

    @property
    def rows(self) -> int:
        numbers = (reader.load()[UNIT_BUCKET] for reader in self.store.block_readers([UNIT_BUCKET]))
        return sum(int(self.copies[own].sum(dtype=np.int64)) for own in numbers)

    def blocks(self) -> Iterator[dict[str, np.ndarray]]:
        for reader in self.store.block_readers(list(UnitValues.columns)):
            block = reader.load()
            times = self.copies[block[UNIT_BUCKET]]
            yield {name: np.repeat(block[name], times) for name in self.columns}


class SortedValues:
    """Values in descending order with their weights, all in memory: a `WeightedSample`."""

    __slots__ = ("values", "weights")

    def __init__(self, values: np.ndarray, weights: np.ndarray) -> None:
        self.values = values
        self.weights = weights

    @property
    def rows(self) -> int:
        return int(self.values.shape[0])

    def weight(self) -> int:
        return exact.integer_sum(self.weights)

    def weight_below(self, number: float) -> int:
        return exact.integer_sum(self.weights[self.rows - np.searchsorted(self.values[::-1], number) :])

    def least(self) -> float:
        return float(self.values[-1])

    def greatest(self) -> float:
        return float(self.values[0])

    def values_at(self, limits: list[int]) -> list[float]:
        return [float(self.values[self.last_row(limit)]) for limit in limits]

    def last_row(self, limit: int, above: int = 0) -> int:
        """The last row before which less than the limit weighs, with `above`, which is less, before the first row."""
        first, last = 0, self.rows - 1
        while first < last:
            middle = (first + last + 1) // 2
            weight = above + exact.integer_sum(self.weights[first:middle])
            if weight < limit:
                first, above = middle, weight
            else:
                last = middle - 1
        return first
