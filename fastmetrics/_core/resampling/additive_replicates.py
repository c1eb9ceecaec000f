"""Replicates of additive statistics: their states in a log in which each unit's rows occur as often as its weight.

States are integers: counts, and limbs of exact sums. The state of a replicate is the sum over all unit buckets of the
weight times the state of the bucket. So it is exact, and the rows of a bucket may be added in parts, in any order, from
any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np

from fastmetrics._core.columns.slice_sets import SlicedTable
from fastmetrics._core.elementary import log
from fastmetrics._core.exchange.group_values import ValuesByGroup
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.group_accumulators import GroupAccumulators, MergedStates, StateKey
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.resampling.replicate_weights import ReplicateWeights
from fastmetrics._core.resampling.resampling_units import UnitBuckets
from fastmetrics._core.resampling.table_replicates import TableReplicates
from fastmetrics._core.resampling.unit_state_table import UnitStateTable
from fastmetrics._core.resampling.value_replicates import ValueReplicates
from fastmetrics._core.state import KnownSums, ManySparseSums, Sums
from fastmetrics._core.statistic import ByUnit, ColumnStatistic
from fastmetrics._core.tables.group_tables import GroupTableStatistic
from fastmetrics._kernels.resampling import poisson_weights, segment_sums

STATE_BYTES = 1 << 23  # of states of unit buckets that are made at a time
FINALIZED_BYTES = 1 << 21  # of states that are finalized at a time, in cache
SPARE_ROWS = 4  # of sums, for integers that are not zero in later rows
MOST_SLICE_ENTRIES = 1 << 21  # of all slices together
LEAST_ENTRIES = 1 << 8  # of a slice
EMPTY_ENTRIES = 50  # one of so many is empty where units are counted by them


class SliceRange(NamedTuple):
    """The part of a log that one pass computes: all rows together (or not), and the slices start to stop."""

    all_rows: bool = True
    start: int = 0
    stop: int = 1 << 16

    def has(self, number: int | None) -> bool:
        """Is the slice in the range? None means all rows."""
        return self.all_rows if number is None else self.start <= number < self.stop


ALL_SLICES = SliceRange()


class AdditiveReplicates:
    """The states of all replicates of one statistic, in sparse form.

    `sums` has a row for each integer of the state that is not zero in all replicates, and a column per replicate.
    `row_of` is the row of each integer; -1 if it has none.
    """

    def __init__(self, statistic: Any, replicates: int) -> None:
        self.template = template = statistic.empty()
        self.n_counts = int(template.counts.shape[0])
        self.width = self.n_counts + int(template.exact.size)
        self.replicates = replicates
        self.row_of = np.full(self.width, -1, np.int64)
        self.sums = self.memory = np.zeros((0, replicates), np.int64)

    def rows_of(self, columns: np.ndarray) -> np.ndarray:
        """The rows of some integers. Integers without a row get one."""
        new = columns[self.row_of[columns] < 0]
        if new.shape[0]:
            n = self.sums.shape[0]
            self.row_of[new] = n + np.arange(new.shape[0])
            self.grow(n + new.shape[0])
        return np.asarray(self.row_of[columns])

    def grow(self, n: int) -> None:
        """Have n rows; the new ones are zero."""
        if self.sums.base is not self.memory or self.memory.shape[0] < n:
            self.memory = np.zeros((n + SPARE_ROWS, self.replicates), np.int64)  # unwritten rows take no memory yet
            self.memory[: self.sums.shape[0]] = self.sums
        self.sums = self.memory[:n]

    def add(self, weights: Any, numbers: np.ndarray, table: UnitStateTable) -> None:
        """Add the states of the unit buckets with these numbers, or of parts of them."""
        columns, values = table.nonzero_columns()
        if not columns.shape[0]:
            return
        rows = self.rows_of(columns)
        for first, stop, weight_table, weight_rows in weights.batches(numbers):
            if stop - first == self.replicates:
                poisson_weights.add_weighted_states(weight_table, weight_rows, values, rows, self.sums)
                continue
            out = np.zeros((columns.shape[0], stop - first), np.int64)
            poisson_weights.add_weighted_states(weight_table, weight_rows, values, np.arange(columns.shape[0]), out)
            self.sums[rows, first:stop] += out

    def merge(self, other: AdditiveReplicates) -> None:
        columns = np.flatnonzero(other.row_of >= 0)
        rows = self.rows_of(columns)
        self.sums[rows] += other.sums[other.row_of[columns]]

    def of_some(self, numbers: np.ndarray) -> AdditiveReplicates:
        """The states of the replicates with these numbers."""
        own = copy(self)
        own.sums, own.replicates = self.sums[:, numbers], int(numbers.shape[0])
        return own

    def counts(self) -> np.ndarray:
        """The counts of every replicate: int64[replicates, n_counts]."""
        out = np.zeros((self.n_counts, self.replicates), np.int64)
        used = np.flatnonzero(self.row_of[: self.n_counts] >= 0)
        out[used] = self.sums[self.row_of[used]]
        return np.ascontiguousarray(out.T)

    def states(self) -> Iterator[Sums]:
        """The state of every replicate. A state is valid until the next one."""
        step = max(1, STATE_BYTES // (8 * self.width))
        for own in map(ManySparseSums.dense, self.many(step)):
            yield from KnownSums.of_states(own.fields, own.counts, own.exact)

    @property
    def step(self) -> int:
        """How many states of few limbs fit the memory that may be taken for them."""
        return max(1, FINALIZED_BYTES // (8 * max(1, self.sums.shape[0])))

    def integers(self, columns: np.ndarray) -> np.ndarray:
        """Some integers of the state of every replicate: a row for each replicate."""
        return np.asarray(self.sums[self.row_of[columns]].T)

    def many(self, step: int) -> Iterator[ManySparseSums]:
        """The states of all replicates, `step` at a time."""
        columns = np.flatnonzero(self.row_of >= 0)
        by_replicate = self.integers(columns)
        n_counts = int(np.searchsorted(columns, self.n_counts))
        for start in range(0, self.replicates, step):
            values = by_replicate[start : start + step]
            counts = np.zeros((values.shape[0], self.n_counts), np.int64)
            counts[:, columns[:n_counts]] = values[:, :n_counts]
            limbs = columns[n_counts:] - self.n_counts
            yield ManySparseSums(self.template.fields, counts, limbs, values[:, n_counts:])


def new_states(
    statistic: Any,
    weights: ReplicateWeights | JackknifeUnits,
    budget: MemoryBudget | None = None,
    slice_number: int | None = None,
) -> Any:
    """What rows are added to with such weights, without rows."""
    if isinstance(weights, JackknifeUnits):
        return JackknifeStates(statistic, weights.n_entries(slice_number))
    return new_replicates(statistic, weights.replicates, budget)


def new_replicates(statistic: Any, replicates: int, budget: MemoryBudget | None = None) -> Any:
    """The states of all replicates of a statistic, without rows."""
    if isinstance(statistic, GroupTableStatistic):
        return TableReplicates(statistic, replicates)
    if isinstance(statistic, ValuesByGroup):
        return ValueReplicates(statistic, replicates, budget)
    return AdditiveReplicates(statistic, replicates)


class ReplicateAccumulators(MergedStates):
    """Replicates of group statistics; it has the methods of GroupAccumulators.

    Every table of groups is cut by unit bucket, and its states are added to the replicates with the bucket's weights.
    """

    def __init__(
        self,
        statistics: Sequence[Any],
        weights: ReplicateWeights | JackknifeUnits,
        unit_of: Callable[[np.ndarray], np.ndarray] | None = None,
        slices: SliceRange = ALL_SLICES,
    ) -> None:
        """`unit_of` maps the hashes of groups to the hashes of their units. None: the groups are the units."""
        self.statistics = statistics
        self.weights = weights
        self.unit_of = unit_of
        self.slices = slices
        self.states: dict[StateKey, Any] = {}

    def update(self, output: int, slice_number: int | None, table: Any) -> None:
        if not self.statistics or not self.slices.has(slice_number):
            return
        order, unit_buckets, starts = order_by_unit_bucket(self.buckets_of(table.keys.hashes))
        table = table.take(order)

        def segment(start: int, stop: int) -> Any:
            return table.segment(slice(start, stop))

        for statistic in self.statistics:
            replicates = self.sums_of(statistic, output, slice_number)
            if isinstance(replicates, TableReplicates):
                own = table.entries_of(statistic)
                of_groups = np.repeat(unit_buckets, np.diff(starts))
                replicates.add(self.weights, table.key_texts, of_groups[own.groups], own.keys[:, None], own.counts)
            elif isinstance(replicates, ValueReplicates):
                replicates.add(self.weights, np.repeat(unit_buckets, np.diff(starts)), table)
            else:
                add_units(replicates, statistic, self.weights, unit_buckets, starts, segment)

    def buckets_of(self, hashes: np.ndarray) -> np.ndarray:
        """The unit buckets of groups."""
        hashes = np.ascontiguousarray(hashes) if self.unit_of is None else self.unit_of(hashes)
        return self.weights.unit_buckets.bucket_of(hashes)

    def sums_of(self, statistic: Any, output: int, slice_number: int | None) -> Any:
        """The replicates of a statistic, an output and a slice; made at the first use."""
        key = self.key_of(statistic), output, slice_number
        if key not in self.states:
            self.states[key] = new_states(statistic, self.weights, self.budget, slice_number)
        return self.states[key]

    def key_of(self, statistic: Any) -> Any:
        """What stands for the statistic in the keys of `states`."""
        return statistic


class ReplicatesOf(NamedTuple):
    """A key for the replicates of a statistic, in a dict that has the statistic's own state too."""

    statistic: Any


class MarkedReplicateAccumulators(ReplicateAccumulators):
    """Replicates whose keys are `ReplicatesOf`, so that they can share a dict with the states of statistics."""

    def key_of(self, statistic: Any) -> ReplicatesOf:
        return ReplicatesOf(statistic)


class GroupsAndMore(GroupAccumulators):
    """The states of statistics and what others add from the same tables: replicates, entries, wins.

    All are in one dict, so their keys are different.
    """

    def __init__(self, statistics: Sequence[Any], others: Sequence[MergedStates]) -> None:
        super().__init__(statistics)
        self.others = others
        for own in others:
            own.states = self.states

    def update(self, output: int, slice_number: int | None, table: Any) -> None:
        super().update(output, slice_number, table)
        for own in self.others:
            own.budget = self.budget
            own.update(output, slice_number, table)

    def update_slices(self, output: int, sliced: SlicedTable) -> None:
        for slice_number, table in sliced.of_slices():
            super().update(output, slice_number, table)
        for own in self.others:
            own.budget = self.budget
            own.update_slices(output, sliced)


def order_by_unit_bucket(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Group rows by the number of their unit bucket.

    Returns an order of the rows, the unit buckets, and the index at which the rows of each bucket begin (and, last, the
    number of rows).
    """
    if not numbers.shape[0]:
        return np.empty(0, np.uint32), numbers, [0]
    first = int(numbers.min())
    starts = np.zeros(int(numbers.max()) - first + 2, np.int64)
    order = np.empty(numbers.shape[0], np.uint32)
    poisson_weights.order_by_unit_bucket(numbers - np.int32(first), starts, order)
    present = np.flatnonzero(starts[1:] > starts[:-1])
    return order, (present + first).astype(np.int32), [*starts[present].tolist(), numbers.shape[0]]


def add_units(
    replicates: AdditiveReplicates,
    statistic: Any,
    weights: ReplicateWeights | JackknifeUnits | None,
    unit_buckets: np.ndarray,
    starts: list[int],
    segment: Callable[[int, int], Any],
) -> None:
    """Add rows that are grouped by unit bucket, some buckets at a time. `segment(start, stop)` returns some rows."""
    add_rows = statistic.add if isinstance(statistic, ColumnStatistic) else statistic.update
    step = max(1, STATE_BYTES // (8 * replicates.width))
    for begin in range(0, unit_buckets.shape[0], step):
        numbers, bounds = unit_buckets[begin : begin + step], starts[begin : begin + step + 1]
        table = UnitStateTable(statistic, numbers.shape[0])
        if isinstance(statistic, ByUnit):
            of_rows = np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))
            statistic.update_units(table, segment(bounds[0], bounds[-1]), of_rows)
        else:
            for index, (start, stop) in enumerate(pairwise(bounds)):
                add_rows(table.state(index), segment(start, stop))
        replicates.add(weights, numbers, table)


class JackknifeUnits:
    """Takes the place of `ReplicateWeights`: in "replicate" i, all rows count once but those of entry i.

    An entry is a unit bucket. Slices have fewer entries, of several neighboring buckets, if together they would have
    too many.
    """

    def __init__(self, unit_buckets: UnitBuckets, n_slices: int, first: int = 0, n_buckets: int | None = None) -> None:
        self.unit_buckets = unit_buckets
        self.n_slices = n_slices
        self.first = first  # the number of the first bucket at hand
        self.replicates = unit_buckets.n_buckets if n_buckets is None else n_buckets

    def of_buckets(self, where: slice) -> JackknifeUnits:
        """Some unit buckets, which are numbered from 0."""
        own = self.unit_buckets._replace(keys=self.unit_buckets.keys[where])
        return JackknifeUnits(own, self.n_slices, where.start, self.replicates)

    def n_entries(self, slice_number: int | None) -> int:
        """The number of entries of all rows (None), or of a slice."""
        if slice_number is None:
            return self.replicates
        return min(self.replicates, max(LEAST_ENTRIES, MOST_SLICE_ENTRIES // max(1, self.n_slices)))

    def count_units(self, n_used: int, slice_number: int | None) -> int:
        """How many units so many entries have: an estimate if several units share an entry.

        If they do, n units leave about B exp(-n / B) of B entries empty (K. Whang et al., "A linear-time probabilistic
        counting algorithm", 1990); with hardly any empty there may be as many as in all rows.
        """
        n_entries, n_units = self.n_entries(slice_number), self.unit_buckets.n_units
        if n_entries == n_units or slice_number is None:
            return n_used if n_entries == n_units else n_units
        n_empty = n_entries - n_used
        if n_empty * EMPTY_ENTRIES < n_entries:
            return n_units
        return min(n_units, round(n_entries * log(n_entries / n_empty)))

    def entries_of(self, numbers: np.ndarray, n_entries: int) -> np.ndarray:
        """The entries of unit buckets, int32."""
        own = numbers.astype(np.int32, copy=False)
        own = own + np.int32(self.first) if self.first else own
        if n_entries == self.replicates:
            return own
        return (own.astype(np.int64) * n_entries // self.replicates).astype(np.int32)

    def range_of(self, numbers: Sequence[np.ndarray], n_entries: int) -> tuple[int, int]:
        """The first entry of some unit buckets, and how many entries there are up to the last."""
        ends = np.array([min(own.min() for own in numbers), max(own.max() for own in numbers)])
        first, last = self.entries_of(ends, n_entries).tolist()
        return first, last - first + 1


class JackknifeStates(AdditiveReplicates):
    """The states of the rows without those of an entry, for every entry; `of_entries` are those of an entry alone.

    With `n_slices`, the entries of one slice after the other: the rows are those of the entry's slice. Any thread may
    add to them.
    """

    def __init__(self, statistic: Any, n_entries: int, n_slices: int = 1) -> None:
        super().__init__(statistic, n_entries * n_slices)
        self.n_entries, self.n_slices = n_entries, n_slices
        self.lock = Lock()
        self.alone = False
        self.slice_of: np.ndarray | None = None  # the slice of each entry, of some; by default all follow each other
        self.totals: np.ndarray | None = None  # of all entries of each slice, a row for each row of `sums`

    def add(self, weights: JackknifeUnits | None, numbers: np.ndarray, table: UnitStateTable) -> None:
        """Add the states of unit buckets, or without weights those of the entries with these numbers."""
        self.add_entries(numbers if weights is None else weights.entries_of(numbers, self.n_entries), table)

    def add_entries(self, entries: np.ndarray, table: UnitStateTable) -> None:
        """Add states of the entries with these numbers; an entry may have several."""
        columns, values = table.nonzero_columns()
        if not columns.shape[0]:
            return
        with self.lock:
            rows = self.rows_of(columns)
            segment_sums.add_at(values, entries.astype(np.int32, copy=False), rows, self.sums)

    def add_range(self, first: int, table: UnitStateTable) -> None:
        """Add a table of the entries from `first` on, as many as it has, of every slice."""
        of_slice = np.arange(first, first + table.counts.shape[0] // self.n_slices, dtype=np.int32)
        before = np.arange(self.n_slices, dtype=np.int32) * np.int32(self.n_entries)
        self.add_entries(np.add.outer(before, of_slice).reshape(-1), table)

    def put(self, slice_number: int, states: JackknifeStates) -> None:
        """Add the states of the entries of one slice."""
        columns = np.flatnonzero(states.row_of >= 0)
        rows = self.rows_of(columns)
        where = slice(slice_number * self.n_entries, (slice_number + 1) * self.n_entries)
        self.sums[rows, where] += states.sums[states.row_of[columns]]

    def of_slices(self, numbers: np.ndarray) -> JackknifeStates:
        """The entries of some slices, which are numbered from 0."""
        own = copy(self)
        own.n_slices, own.replicates = numbers.shape[0], numbers.shape[0] * self.n_entries
        own.sums = self.by_slice()[:, numbers].reshape(-1, own.replicates)
        return own

    def of_all_slices(self) -> JackknifeStates:
        """The entries of the rows of all slices."""
        own = copy(self)
        own.n_slices, own.replicates, own.sums = 1, self.n_entries, self.by_slice().sum(axis=1)
        return own

    def by_slice(self) -> np.ndarray:
        """A view of the sums: int64[row, slice, entry]."""
        return self.sums.reshape(-1, self.n_slices, self.n_entries)

    def used(self) -> np.ndarray:
        """Has an entry rows?"""
        return np.asarray(self.sums.any(axis=0))

    def of_some(self, entries: np.ndarray) -> JackknifeStates:
        """The states of some entries, without those of all rows of their slices."""
        own = copy(self)
        own.sums, own.replicates = self.sums.take(entries, axis=1), int(entries.shape[0])
        own.totals = self.by_slice().sum(axis=2) if self.totals is None else self.totals
        own.slice_of = entries // self.n_entries if self.slice_of is None else self.slice_of[entries]
        return own

    def of_entries(self) -> JackknifeStates:
        """The states of every entry by itself."""
        own = copy(self)
        own.alone = True
        return own

    def of_all(self) -> ManySparseSums:
        """The state of all rows, of one slice."""
        own = copy(self)
        own.sums = self.sums.sum(axis=1, keepdims=True) if self.totals is None else self.totals
        own.replicates, own.alone = 1, True
        return next(own.many(1))

    def integers(self, columns: np.ndarray) -> np.ndarray:
        if self.alone:
            return super().integers(columns)
        totals, slice_of = self.totals, self.slice_of
        if totals is None or slice_of is None:
            return self.of_some(np.arange(self.replicates)).integers(columns)
        rows = self.row_of[columns]
        without = totals[rows].take(slice_of, axis=1)
        without -= self.sums[rows]
        return np.asarray(without.T)
