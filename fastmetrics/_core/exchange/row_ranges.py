"""The range exchange for statistics that read all columns of a range: rows in descending order of score.

Blocks are reordered into ranges of neighboring scores (`range_exchange.py`), in memory or in a second spill file, and
a range is loaded with all its columns. The states of neighboring ranges merge from the greatest
score down, so the cuts change the speed of a result, never the result.

A statistic may name another value than the score by which rows are ordered, computed from the columns of a row. Stored
rows stay as they are: every order has buckets of its own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np

from fastmetrics._core.columns.row_blocks import (
    NO_VALUES,
    ROLE,
    SLICE,
    WEIGHT,
    Output,
    Rows,
    Scratch,
    label_name,
    names_of,
    other_columns,
    score_name,
)
from fastmetrics._core.exchange.block_store import BlockReader, BlockStore
from fastmetrics._core.exchange.memory_budget import StateMemory
from fastmetrics._core.exchange.memory_size import format_size
from fastmetrics._core.exchange.range_exchange import (
    LARGE_FACTOR,
    ROWS_PER_BUCKET,
    KeyRange,
    merge_neighbors,
    ordered_keys,
    reorder_by_value,
    sample_columns,
    split_scores,
)
from fastmetrics._core.exchange.stored_ranges import StoredRange
from fastmetrics._core.grouping import grouped
from fastmetrics._core.kinds import LABEL_ROLE, SCORE_ROLE
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import accumulate, for_each
from fastmetrics._core.statistic import Positioned, RangeExchangeStatistic, TakesTies
from fastmetrics._kernels.sweep.mann_whitney import Splitter

LOADED_FACTOR = 6  # a bucket is sorted: its columns, an order and sorted columns are in memory together

# The values that order rows, from the columns of the rows by role.
OrderValues = Callable[[Mapping[str, np.ndarray]], np.ndarray]
Allocate = Callable[[Any, Any], np.ndarray]  # an array of a shape and a type, with any content
NO_STARTS: np.ndarray = np.empty(0, np.int64)


class RowRange(NamedTuple):
    """The rows of a range of scores, in descending order of score. Rows of equal score are in one range.

    Attributes
    ----------
    labels, scores, weights : ndarray
        uint8, 0 and 1, or float64; float32 or float64; float64, or None if rows have no weights. Labels have no row if
        the metric reads none.
    starts : ndarray of int64
        The first row of each distinct score, for `np.add.reduceat`.
    others : dict
        The columns of other roles.
    """

    labels: np.ndarray
    scores: np.ndarray
    weights: np.ndarray | None
    starts: np.ndarray
    others: dict[str, np.ndarray]


class StoredRowsStatistic(RangeExchangeStatistic):
    """Base of a statistic that reads all columns of rows: those of ranges, or the blocks of all rows in a second pass.

    A statistic that has to know what lies above a range, or something of all rows, is `Positioned` too.
    """

    __slots__ = ()
    needs_position = False

    def check(self, rows: Rows) -> None:
        """Raise ValueError for values that the statistic cannot take, before any exchange; it names the first row."""

    @abstractmethod
    def merge(self, higher: Any, lower: Any) -> Any:
        """The state of two neighboring ranges together; all scores of `higher` are greater than those of `lower`."""

    def empty(self) -> Any:
        """The state of no rows."""
        return None


class RowRangeStatistic(StoredRowsStatistic):
    """Base of a statistic that reads the rows of ranges of scores: a subclass writes `reduce` and `merge`.

    Attributes
    ----------
    ordered_by : callable or None
        A static function: `ordered_by(columns)` are the values by which rows are ordered, float32 or float64, computed
        from columns by role. None: the scores.
    needs_sorted_rows : bool
        Are the rows of a range in descending order? It takes time, and without it `starts` is empty.
    """

    __slots__ = ()
    ordered_by: ClassVar[Any] = None
    needs_sorted_rows: ClassVar[bool] = True

    @property
    def needs_whole_column(self) -> bool:
        return self.ordered_by is not None

    @abstractmethod
    def reduce(self, rows: RowRange, above: Any, total: Any) -> Any:
        """The state of a range. `above` is the total of all higher ranges (None for the first), `total` that of all."""

    def merge_large(self, higher: Any, lower: Any, allocate: Allocate) -> Any:
        """The same as `merge`; the arrays of a state that grows with the rows are those that `allocate` makes."""
        return self.merge(higher, lower)

    def move_state(self, state: Any, allocate: Allocate) -> Any:
        """A state whose arrays, if they grow with the rows, are those that `allocate` makes: it may be in a file."""
        return state

    def finish(self, state: Any) -> Any:
        """The state of all rows, without what was for merging only."""
        return state


class TwoPassStatistic(StoredRowsStatistic):
    """Base of a statistic that adds up rows in any order, once it knows something of all of them.

    `update` gets the state of `first` over all rows; without `first`, the sum of its own totals (`Positioned`).
    """

    __slots__ = ()

    @property
    def first(self) -> RowRangeStatistic | None:
        return None

    @property
    def needs_whole_column(self) -> bool:
        return self.first is not None

    @abstractmethod
    def update(self, state: Any, rows: RowRange, total: Any) -> None:
        """Add rows to a state."""

    def merge(self, higher: Any, lower: Any) -> Any:
        higher.merge(lower)
        return higher


class Position(NamedTuple):
    """The totals of a slice, and of its rows above the range that is reduced."""

    total: Any
    above: Any


Key = tuple[Any, int | None]  # a statistic and a slice (None: all rows)


def add_totals(first: Any, second: Any) -> Any:
    """The total of two sets of rows; None is that of no rows."""
    if first is None:
        return second
    return first if second is None else first + second


class RowRangeReduction(NamedTuple):
    """Statistics to compute over the rows of a store, for one output, and for every slice.

    `positions` are those of the store's rows among others (by statistic and slice), if it has only a range of them.
    `ordered_by` and `is_sorted` are what all statistics need. `all_rows`: also for all rows together.
    """

    store: BlockStore
    output: Output
    statistics: Sequence[StoredRowsStatistic]
    n_slices: int
    n_threads: int
    positions: dict[Key, Position] | None = None
    ordered_by: OrderValues | None = None
    is_sorted: bool = False
    all_rows: bool = True

    def names(self) -> list[str]:
        """The columns to load."""
        types = self.store.types
        wanted = (label_name(self.output.label), score_name(self.output.score), WEIGHT, SLICE)
        return [*(name for name in wanted if name in types), *names_of(types, ROLE)]

    def values_of(self, columns: dict[str, np.ndarray]) -> np.ndarray:
        """The values that order the rows."""
        if self.ordered_by is None:
            return columns[score_name(self.output.score)]
        names = {LABEL_ROLE: label_name(self.output.label), SCORE_ROLE: score_name(self.output.score)}
        usual = {role: columns[name] for role, name in names.items() if name in columns}
        return self.ordered_by(usual | other_columns(columns))

    def rows_of(self, columns: dict[str, np.ndarray]) -> RowRange:
        """Loaded columns; sorted rows are in an order that depends on the rows alone."""
        scores = columns[score_name(self.output.score)]
        labels = columns.get(label_name(self.output.label), NO_VALUES)
        weights, others = columns.get(WEIGHT), other_columns(columns)
        if not self.is_sorted:
            return RowRange(labels, scores, weights, NO_STARTS, others)
        values = self.values_of(columns)
        keys = [*others.values(), *(own for own in (weights, labels) if own is not None and own.shape[0])]
        keys += [] if self.ordered_by is None else [scores]
        order = np.lexsort((*keys, -values))
        ordered = values[order]
        starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        return RowRange(
            labels[order] if labels.shape[0] else labels,
            scores[order],
            None if weights is None else weights[order],
            starts,
            {role: column[order] for role, column in others.items()},
        )

    def by_slice(self, loaded: Mapping[str, np.ndarray]) -> Iterator[tuple[int | None, RowRange]]:
        """All loaded rows, then the rows of every slice."""
        columns = dict(loaded)
        slices = columns.pop(SLICE, None)
        if self.all_rows:
            yield None, self.rows_of(columns)
        for number in np.unique(slices).tolist() if slices is not None and self.n_slices else ():
            where = slices == number
            yield number, self.rows_of({name: column[where] for name, column in columns.items()})


def reduce_row_ranges(
    reduction: RowRangeReduction, advance: Callable[[int], None] | None = None
) -> dict[Key, Any]:
    """The states of all statistics: of all rows (slice None), and of every slice that has rows."""
    if not reduction.store.rows:
        return {}
    two_pass = [own for own in reduction.statistics if isinstance(own, TwoPassStatistic)]
    of_ranges = [own for own in reduction.statistics if isinstance(own, RowRangeStatistic)]
    of_ranges += [own.first for own in two_pass if own.first is not None]
    states: dict[Key, Any] = {}
    orders = grouped(((own.ordered_by, own.needs_sorted_rows), own) for own in dict.fromkeys(of_ranges))
    for (ordered_by, is_sorted), of_order in orders.items():
        cutter = RangeCutter(reduction._replace(statistics=of_order, ordered_by=ordered_by, is_sorted=is_sorted))
        try:
            states |= reduce_ranges_of_rows(cutter.reduction, of_order, cutter.cut_all(), advance)
        finally:
            cutter.close()
    return states | add_blocks(reduction, two_pass, states, advance) if two_pass else states


def add_blocks(
    reduction: RowRangeReduction,
    statistics: Sequence[TwoPassStatistic],
    first: Mapping[Key, Any],
    advance: Callable[[int], None] | None,
) -> dict[Key, Any]:
    """The states of statistics that read the blocks of the store once more; `first` has those of the first pass."""
    readers = reduction.store.block_readers(reduction.names())
    positioned = [own for own in statistics if isinstance(own, Positioned)]
    totals: dict[Key, Any] = {key: position.total for key, position in (reduction.positions or {}).items()}
    if positioned and not totals:
        of_blocks = count_rows(reduction, positioned, readers)
        totals = join_parts(of_blocks, lambda own, one, other: add_totals(one, other))

    def add(states: dict[Key, Any], index: int) -> None:
        for number, rows in reduction.by_slice(readers[index].load()):
            for own in statistics:
                total = totals.get((own, number)) if own.first is None else first[own.first, number]
                if (own, number) not in states:
                    states[own, number] = own.empty()
                own.update(states[own, number], rows, total)
        if advance is not None:
            advance(readers[index].rows)

    by_thread = accumulate(len(readers), dict[Key, Any], add, reduction.n_threads)
    return join_parts(by_thread, lambda own, one, other: own.merge(one, other))


def join_parts(
    parts: Iterable[dict[Key, Any]], join: Callable[[Any, Any, Any], Any]
) -> dict[Key, Any]:
    """What parts of the rows have, joined by `join(statistic, one, other)`."""
    joined: dict[Key, Any] = {}
    for key, state in (item for part in parts for item in part.items()):
        joined[key] = join(key[0], joined[key], state) if key in joined else state
    return joined


class RangeCutter:
    """Cuts rows into ranges of neighboring values, from the greatest down; each range can be loaded at once.

    A range that is too large is cut again. Rows of one value are in one range, unless statistics take them in parts.
    """

    def __init__(self, reduction: RowRangeReduction) -> None:
        self.reduction = reduction
        self.budget = reduction.store.budget
        self.stores: list[BlockStore] = []
        self.ties = 0
        self.most_rows = ROWS_PER_BUCKET
        if self.budget is not None:
            fitting = self.budget.bytes_per_range // (LOADED_FACTOR * reduction.store.row_bytes)
            self.most_rows = min(self.most_rows, max(1, fitting))

    def close(self) -> None:
        for store in self.stores:
            store.close()

    def cut_all(self) -> list[StoredRange]:
        """The rows of the store in ranges."""
        store = self.reduction.store
        readers = store.block_readers(self.reduction.names())
        sample = self.reduction.values_of(sample_columns(readers))
        most_rows = None if self.budget is None else LARGE_FACTOR * self.most_rows
        return self.cut(readers, split_scores(sample, store.rows, most_rows))

    def cut(self, readers: Sequence[BlockReader | StoredRange], splitter: Splitter) -> list[StoredRange]:
        """The rows of some blocks in ranges."""
        ranged = BlockStore(splitter.n_buckets, self.budget)
        self.stores.append(ranged)

        def reorder(number: int) -> None:
            columns = readers[number].load()
            block = reorder_by_value(splitter, self.reduction.values_of(dict(columns)), columns)
            ranged.add(block, ranged.try_reserve(block.n_bytes()))

        for_each(len(readers), lambda: reorder, self.reduction.n_threads)
        found: list[StoredRange] = []
        for number, rows in reversed(list(enumerate(ranged.partition_rows.tolist()))):
            own = StoredRange(ranged, self.reduction.names(), number, rows)
            if rows:
                found += [own] if self.budget is None or rows <= LARGE_FACTOR * self.most_rows else self.cut_large(own)
        return found

    def cut_large(self, large: StoredRange) -> list[StoredRange]:
        """Cut a range that is too large again."""
        parts = large.parts(self.most_rows)
        values = (self.reduction.values_of(dict(part.load())) for part in parts)
        keys = KeyRange.of(map(ordered_keys, values), large.rows)
        if not keys.is_tie:
            return self.cut(parts, keys.split(LARGE_FACTOR * self.most_rows))
        if all(isinstance(own, TakesTies) for own in self.reduction.statistics):
            self.ties += 1
            return [own._replace(tie=self.ties) for own in parts]
        n_bytes = LOADED_FACTOR * large.rows * self.reduction.store.row_bytes
        if self.budget is not None and n_bytes > self.budget.limit // self.budget.n_threads:
            value = self.reduction.values_of(dict(parts[0].load()))[0]
            metric = ", ".join(sorted({type(own).__name__ for own in self.reduction.statistics}))
            raise ValueError(
                f"{large.rows:,} rows have the same value {value}: {metric} needs them in memory together, about "
                f"{format_size(n_bytes)}, and memory_limit={format_size(self.budget.limit)}; allow more memory"
            )
        return [large]


def reduce_ranges_of_rows(
    reduction: RowRangeReduction,
    statistics: Sequence[RowRangeStatistic],
    ranges: Sequence[StoredRange],
    advance: Callable[[int], None] | None,
) -> dict[Key, Any]:
    """The states of all ranges, merged from the greatest value down."""
    positions: list[dict[Key, tuple[Any, Any]]] = [{}] * len(ranges)
    wanted = list(range(len(ranges)))
    is_weighted = WEIGHT in reduction.store.types
    positioned = [own for own in statistics if isinstance(own, Positioned)]
    if any(is_weighted or not own.totals_weights for own in positioned):
        totals = count_rows(reduction, positioned, ranges)
        positions = find_positions(totals, reduction.positions)
        if len(positioned) == len(statistics):
            wanted = [
                index
                for index in wanted
                if any(key[0].holds(totals[index][key], *position) for key, position in positions[index].items())
            ]
    memory = StateMemory(reduction.store.budget)

    def reduce_range(index: int, scratch: Scratch) -> dict[Key, Any]:
        states = {}
        for number, rows in reduction.by_slice(ranges[index].load(scratch)):
            for statistic in statistics:
                above, total = positions[index].get((statistic, number), (None, None))
                state = statistic.reduce(rows, above, total)
                states[statistic, number] = statistic.move_state(state, memory.allocate)
        if advance is not None:
            advance(ranges[index].rows)
        return states

    try:
        states = run(reduce_range, wanted, reduction.n_threads)
        of_ties = runs_of_ties(states, [ranges[index].tie for index in wanted])
        states = [join_parts(parts, lambda own, *both: own.merge_tie(*both, memory.allocate)) for parts in of_ties]
        descending = grouped(item for of_range in states for item in of_range.items())
        states.clear()
        return {
            key: key[0].finish(merge_neighbors(of_key, partial(key[0].merge_large, allocate=memory.allocate)))
            for key, of_key in descending.items()
        }
    finally:
        memory.release()


def count_rows(
    reduction: RowRangeReduction, statistics: Sequence[Positioned], readers: Sequence[BlockReader | StoredRange]
) -> list[dict[Key, Any]]:
    """What statistics have to know of every range, or block."""

    def count(index: int, scratch: Scratch) -> dict[Key, Any]:
        by_slice = reduction.by_slice(readers[index].load(scratch))
        return {(own, number): own.total_of_range(rows) for number, rows in by_slice for own in statistics}

    return run(count, range(len(readers)), reduction.n_threads)


def runs_of_ties(states: list[dict[Key, Any]], ties: Sequence[int]) -> Iterator[list[dict[Key, Any]]]:
    """The states of every range; those of the parts of a tie together."""
    for number, members in groupby(zip(ties, states, strict=True), key=itemgetter(0)):
        parts = [state for _, state in members]
        yield from [parts] if number else [[own] for own in parts]


def run(
    work: Callable[[int, Scratch], dict[Key, Any]], tasks: Sequence[int], n_threads: int
) -> list[dict[Key, Any]]:
    """The results of all tasks; each thread has scratch memory of its own."""

    def make_worker() -> Callable[[int], dict[Key, Any]]:
        scratch = Scratch()
        return lambda index: work(tasks[index], scratch)

    return for_each(len(tasks), make_worker, n_threads)


def find_positions(
    totals: list[dict[Key, Any]], outer: dict[Key, Position] | None
) -> list[dict[Key, tuple[Any, Any]]]:
    """For every bucket, the total of the rows above it, and of all rows."""
    above: dict[Key, Any] = {key: position.above for key, position in (outer or {}).items()}
    above_buckets = []
    for of_bucket in totals:
        above_buckets.append({key: above.get(key) for key in of_bucket})
        for key, total in of_bucket.items():
            above[key] = add_totals(above.get(key), total)
    all_rows = {key: position.total for key, position in outer.items()} if outer is not None else above
    return [{key: (value, all_rows.get(key)) for key, value in of_bucket.items()} for of_bucket in above_buckets]


def split_statistics(statistics: Sequence[Any]) -> tuple[list[Any], list[StoredRowsStatistic]]:
    """The statistics of the range exchange that read thresholds, and those that read rows."""
    of_rows = [statistic for statistic in statistics if isinstance(statistic, StoredRowsStatistic)]
    return [statistic for statistic in statistics if not isinstance(statistic, StoredRowsStatistic)], of_rows
