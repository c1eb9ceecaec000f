"""The range exchange for statistics that read all columns of a range: rows in descending order of score.

Blocks are reordered into ranges of neighbouring scores (`range_exchange.py`), in memory or in a second spill file, and
a range is loaded with all its columns. The states of neighbouring ranges merge from the greatest
score down, so the cuts change the speed of a result, never the result.

A statistic may name another value than the score by which rows are ordered, computed from the columns of a row. Stored
rows stay as they are: every order has buckets of its own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType
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
    ordered_keys,
    reorder_by_value,
    sample_columns,
    split_scores,
)
from fastmetrics._core.grouping import grouped
from fastmetrics._core.kinds import LABEL_ROLE, SCORE_ROLE
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import for_each
from fastmetrics._core.statistic import Positioned, Statistic, TakesTies
from fastmetrics._kernels.sweep.mann_whitney import Splitter

LOADED_FACTOR = 6  # a bucket is sorted: its columns, an order and sorted columns are in memory together

# The values that order rows, from the columns of the rows by role.
OrderValues = Callable[[Mapping[str, np.ndarray]], np.ndarray]
Allocate = Callable[[Any, Any], np.ndarray]  # an array of a shape and a type, with any content
# What a statistic needs: rows in descending order; ranges in descending order, of rows in any; blocks of any rows.
SORTED_ROWS, RANGES, ANY_BLOCKS = "sorted rows", "ranges", "any blocks"
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


class RowRangeStatistic(Statistic):
    """Base of a statistic that reads the rows of ranges of scores: a subclass writes `reduce` and `merge`.

    A statistic that has to know what lies above a range is `Positioned` too.

    Attributes
    ----------
    ordered_by : callable or None
        A static function: `ordered_by(columns)` are the values by which rows are ordered, float32 or float64, computed
        from columns by role. None: the scores.
    order : str
        SORTED_ROWS, RANGES or ANY_BLOCKS. Less order is faster. Without sorted rows, `starts` is empty.
    after : RowRangeStatistic or None
        Another statistic: its state of all rows is what `reduce` gets as `total`.
    needs_all_rows : bool
        Does `finish` need the state of all rows? A cluster then brings all rows to one place.
    has_large_states : bool
        Do states grow with the rows? Then `merge` is `merge_large`, and `move_state` copies a state to arrays that may
        be in a file.
    """

    __slots__ = ()
    reads_rows = True
    needs_position = False
    ordered_by: ClassVar[Any] = None
    order: ClassVar[str] = SORTED_ROWS
    needs_all_rows: ClassVar[bool] = False
    has_large_states: ClassVar[bool] = False

    @property
    def after(self) -> RowRangeStatistic | None:
        return None

    def check(self, rows: Rows) -> None:
        """Raise ValueError for values that the statistic cannot take, before any exchange; it names the first row."""

    @abstractmethod
    def reduce(self, rows: RowRange, above: Any, total: Any) -> Any:
        """The state of a range. `above` is the total of all higher ranges (None for the first), `total` that of all."""

    @abstractmethod
    def merge(self, higher: Any, lower: Any) -> Any:
        """The state of two neighbouring ranges together; all scores of `higher` are greater than those of `lower`."""

    def merge_large(self, higher: Any, lower: Any, allocate: Allocate) -> Any:
        """The same as `merge`; the arrays of the new state are those that `allocate` makes."""
        return self.merge(higher, lower)

    def move_state(self, state: Any, allocate: Allocate) -> Any:
        """A state whose arrays are those that `allocate` makes."""
        return state

    def finish(self, state: Any) -> Any:
        """The state of all rows, without what was for merging only."""
        return state

    def empty(self) -> Any:
        """The state of no rows."""
        return None


class Position(NamedTuple):
    """The totals of a slice, and of its rows above the range that is reduced."""

    total: Any
    above: Any


Key = tuple[Any, int | None]  # a statistic and a slice (None: all rows)
NO_STATES: Mapping[Key, Any] = MappingProxyType({})


def add_totals(first: Any, second: Any) -> Any:
    """The total of two sets of rows; None is that of no rows."""
    if first is None:
        return second
    return first if second is None else first + second


class RowRangeReduction(NamedTuple):
    """Statistics to compute over the rows of a store, for one output, and for every slice.

    `positions` are those of the store's rows among others (by statistic and slice), if it has only a range of them.
    All statistics have the given order; `states` are those of statistics that these come after. `all_rows`: also for
    all rows together.
    """

    store: BlockStore
    output: Output
    statistics: Sequence[RowRangeStatistic]
    n_slices: int
    n_threads: int
    positions: dict[Key, Position] | None = None
    ordered_by: OrderValues | None = None
    order: str = SORTED_ROWS
    states: Mapping[Key, Any] = NO_STATES
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
        if self.order != SORTED_ROWS:
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

    def by_slice(self, columns: dict[str, np.ndarray]) -> Iterator[tuple[int | None, dict[str, np.ndarray]]]:
        """All loaded rows, then the rows of every slice."""
        slices = columns.pop(SLICE, None)
        if self.all_rows:
            yield None, columns
        if slices is None or not self.n_slices:
            return
        for number in np.unique(slices).tolist():
            where = slices == number
            yield number, {name: column[where] for name, column in columns.items()}


def reduce_row_ranges(
    reduction: RowRangeReduction, advance: Callable[[int], None] | None = None
) -> dict[Key, Any]:
    """The states of all statistics: of all rows (slice None), and of every slice that has rows."""
    if not reduction.store.rows:
        return {}
    first = [statistic for statistic in reduction.statistics if statistic.after is None]
    later = [statistic for statistic in reduction.statistics if statistic.after is not None]
    first += [statistic.after for statistic in later if statistic.after is not None]
    states: dict[Key, Any] = {}
    for statistics in (dict.fromkeys(first), later):
        orders = grouped(((statistic.ordered_by, statistic.order), statistic) for statistic in statistics)
        for (ordered_by, order), of_order in orders.items():
            of_these = reduction._replace(statistics=of_order, ordered_by=ordered_by, order=order, states=states)
            states |= reduce_in_order(of_these, advance)
    return states


def reduce_in_order(reduction: RowRangeReduction, advance: Callable[[int], None] | None) -> dict[Key, Any]:
    """The states of statistics that need the same order."""
    if reduction.order == ANY_BLOCKS:
        readers = reduction.store.block_readers(reduction.names())
        return reduce_ranges_of_rows(reduction, readers, advance)
    cutter = RangeCutter(reduction)
    try:
        ranges = cutter.cut_all()
        return reduce_ranges_of_rows(reduction, ranges, advance, [own.tie for own in ranges])
    finally:
        cutter.close()


class StoredRange(NamedTuple):
    """Rows of neighbouring values: a partition of a store, or the part that some of its blocks have."""

    store: BlockStore
    names: list[str]
    partition: int
    rows: int
    blocks: range | None = None
    tie: int = 0  # parts of one tie have the same number, which is not 0

    def load(self, scratch: Scratch | None = None) -> Mapping[str, np.ndarray]:
        loaded = self.store.load_partitions(self.names, self.partition, self.partition + 1, scratch, self.blocks)
        return loaded.columns

    def parts(self, most_rows: int) -> list[StoredRange]:
        """The rows of neighbouring blocks, in parts of about so many rows."""
        found, first, rows = [], 0, 0
        for number, (_, (begin, end)) in enumerate(self.store.block_offsets(self.partition, self.partition + 1)):
            if rows and rows + end - begin > most_rows:
                found.append(self._replace(rows=rows, blocks=range(first, number)))
                first, rows = number, 0
            rows += end - begin
        return [*found, self._replace(rows=rows, blocks=range(first, self.store.n_blocks))] if rows else found


class RangeCutter:
    """Cuts rows into ranges of neighbouring values, from the greatest down; each range can be loaded at once.

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
        sample = self.reduction.values_of(sample_columns(readers, store.in_memory))
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
    ranges: Sequence[BlockReader | StoredRange],
    advance: Callable[[int], None] | None,
    ties: Sequence[int] = (),
) -> dict[Key, Any]:
    """The states of all ranges, merged from the greatest value down; `ties` are the numbers of those that are parts."""
    n_ranges = len(ranges)
    totals: list[dict[Key, Any]] = [{} for _ in range(n_ranges)]
    states: list[dict[Key, Any]] = [{} for _ in range(n_ranges)]

    def load(index: int, scratch: Scratch) -> Iterator[tuple[int | None, RowRange]]:
        for number, columns in reduction.by_slice(dict(ranges[index].load(scratch))):
            yield number, reduction.rows_of(columns)

    def count(index: int, scratch: Scratch) -> None:
        for number, rows in load(index, scratch):
            for statistic in reduction.statistics:
                if isinstance(statistic, Positioned):
                    totals[index][statistic, number] = statistic.total_of_range(rows)

    def reduce_range(index: int, scratch: Scratch) -> None:
        n_rows = 0
        for number, rows in load(index, scratch):
            n_rows += rows.scores.shape[0] if number is None else 0
            for statistic in reduction.statistics:
                above, total = positions[index].get((statistic, number), (None, None))
                if statistic.after is not None:
                    total = reduction.states[statistic.after, number]
                state = statistic.reduce(rows, above, total)
                if statistic.has_large_states:
                    state = statistic.move_state(state, memory.allocate)
                states[index][statistic, number] = state
        if advance is not None:
            advance(n_rows)

    positions: list[dict[Key, tuple[Any, Any]]] = [{} for _ in range(n_ranges)]
    wanted = list(range(n_ranges))
    is_weighted = WEIGHT in reduction.store.types
    positioned = [own for own in reduction.statistics if isinstance(own, Positioned)]
    if any(is_weighted or not own.totals_weights for own in positioned):
        run(count, wanted, reduction.n_threads)
        positions = find_positions(totals, reduction.positions)
        if len(positioned) == len(reduction.statistics):
            wanted = [
                index
                for index in wanted
                if any(key[0].holds(totals[index][key], *position) for key, position in positions[index].items())
            ]
    memory = StateMemory(reduction.store.budget)
    try:
        run(reduce_range, wanted, reduction.n_threads)
        if any(ties):
            states = [join_ties(parts, memory.allocate) for parts in runs_of_ties(states, ties)]
        descending = grouped(item for of_range in states for item in of_range.items())
        states.clear()
        return {
            key: key[0].finish(merge_neighbours(key[0], of_key, memory.allocate))
            for key, of_key in descending.items()
        }
    finally:
        memory.release()


def runs_of_ties(states: list[dict[Key, Any]], ties: Sequence[int]) -> Iterator[list[dict[Key, Any]]]:
    """The states of every range; those of the parts of a tie together."""
    for number, members in groupby(zip(ties, states, strict=True), key=itemgetter(0)):
        parts = [state for _, state in members]
        yield from [parts] if number else [[own] for own in parts]


def join_ties(parts: list[dict[Key, Any]], allocate: Allocate) -> dict[Key, Any]:
    """The states of a range, from those of its parts."""
    joined: dict[Key, Any] = {}
    for key, state in (item for part in parts for item in part.items()):
        joined[key] = key[0].merge_tie(joined[key], state, allocate) if key in joined else state
    return joined


def merge_neighbours(statistic: RowRangeStatistic, states: list[Any], allocate: Allocate = np.empty) -> Any:
    """One state of neighbouring ranges, which are in descending order. The list is emptied.

    Pairs of neighbours merge, then pairs of these: states may grow, and none is merged more often than need be.
    """
    while len(states) > 1:
        pairs = []
        while len(states) > 1:
            higher, lower = states.pop(0), states.pop(0)
            large = statistic.has_large_states
            pairs.append(statistic.merge_large(higher, lower, allocate) if large else statistic.merge(higher, lower))
        states = pairs + states
    return states[0]


def run(work: Callable[[int, Scratch], None], tasks: Sequence[int], n_threads: int) -> None:
    """Do the work for every task; each thread has scratch memory of its own."""

    def make_worker() -> Callable[[int], None]:
        scratch = Scratch()
        return lambda index: work(tasks[index], scratch)

    for_each(len(tasks), make_worker, n_threads)


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


def needs_whole_column(statistic: Any) -> bool:
    """Does a statistic need all rows in one place, where others need ranges of scores?"""
    if not isinstance(statistic, RowRangeStatistic):
        return False
    return statistic.needs_all_rows or statistic.ordered_by is not None or statistic.after is not None


def split_statistics(statistics: Sequence[Any]) -> tuple[list[Any], list[RowRangeStatistic]]:
    """The statistics of the range exchange that read thresholds, and those that read rows."""
    of_rows = [statistic for statistic in statistics if isinstance(statistic, RowRangeStatistic)]
    return [statistic for statistic in statistics if not isinstance(statistic, RowRangeStatistic)], of_rows
