"""Ranked lists from the exchange by group: the measures of every group, and the statistics that are means of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np

from fastmetrics._core.blocks import BlockStore
from fastmetrics._core.by_group import GroupKeys, GroupLayout, check_group_weights
from fastmetrics._core.exact import divide
from fastmetrics._core.giant_lists import GiantList, giant_lists
from fastmetrics._core.registry import metric
from fastmetrics._core.replicates import LotTable
from fastmetrics._core.rows import WEIGHT, Scratch, View
from fastmetrics._core.statistic import Statistic, Sums, Value
from fastmetrics._kernels import listmeans, rankings
from fastmetrics.metrics.ranking import measures as lists
from fastmetrics.metrics.ranking.measures import BINARY_LOGARITHM, Measure, MeasureTable, add_values

NOTHING_RELEVANT = "no relevant row"
NO_KEYS: np.ndarray = np.empty(0, np.uint64)
RUN_ROWS = 1 << 16  # rows of the partitions whose groups are measured by one call
LOW = 0xFFFFFFFF
HALF_BITS = 32


class ListTable(NamedTuple):
    """Some groups as ranked lists: their measures, by `place` of the measure, counts, and weights where there are."""

    keys: GroupKeys
    values: np.ndarray
    counts: np.ndarray
    weights: np.ndarray | None
    place: dict[Measure, int]

    def take(self, order: np.ndarray) -> ListTable:
        """The groups in the order given."""
        weights = None if self.weights is None else self.weights[order]
        values = self.values.take(order, axis=1)  # unlike an index, it keeps a measure's values together
        return ListTable(self.keys.take(order), values, self.counts[order], weights, self.place)

    def part(self, where: slice) -> ListTable:
        """Some neighbouring groups."""
        keys = GroupKeys(self.keys.hashes[where], self.keys.heads[where], self.keys.tails[where], self.keys.dtype)
        weights = None if self.weights is None else self.weights[where]
        return ListTable(keys, self.values[:, where], self.counts[where], weights, self.place)


class ListsByGroup:
    """The measures of every group; asked for a run of partitions at a time, with working memory of its own."""

    ROW_BYTES = 8 * rankings.WORDS_OF_A_ROW + 72  # where every row has a gain; else pages of the first are not touched
    ties = "average"

    def __init__(
        self,
        statistics: Sequence[Any],
        layout: GroupLayout,
        chunks: list[tuple[int, int]],
        views: Sequence[View],
        scratch: Scratch,
    ) -> None:
        rows = max(1, int(layout.partition_rows.max()))
        take = scratch.take
        self.layout = layout
        self.views = views
        wanted = measures_of(statistics)
        self.measures = MeasureTable(wanted)
        self.place = {measure: number for number, measure in enumerate(wanted)}
        self.discounts = BINARY_LOGARITHM.up_to(max(self.measures.ranks, rows))
        self.label_of_view = np.array([view.label for view in views], np.int64)
        self.score_of_view = np.array([view.score for view in views], np.int64)
        self.weights = layout.addresses(WEIGHT) if layout.weighted else NO_KEYS
        # A group of the run is known by a row: so many may there be.
        most = min(int(layout.partition_rows.sum()), rows + RUN_ROWS)
        self.table = take("table", np.uint32, max(64, 1 << (2 * rows - 1).bit_length()))
        self.group_of_row = take("group of row", np.uint32, rows)
        self.cursors = take("cursors", np.int64, 2 * rows)
        self.class_counts = take("class counts", np.int64, 2 * rows)
        self.scores = take("scores", np.uint64, rows)
        self.grades = take("grades", np.float64, rows)
        self.memory = take("lists", np.uint64, rankings.WORDS_OF_A_ROW * (rows + 2) + rows + rankings.SPARE)
        self.hashes = take("hashes", np.uint64, most)
        self.heads = take("heads", np.uint64, most if layout.is_text else 0)
        self.tails = take("tails", np.uint64, most if layout.is_text else 0)
        self.slices = take("slices", np.uint16, most if layout.slices.shape[0] else 0)
        self.spans = take("weights", np.float64, 2 * most if layout.weighted else 0).reshape(2, -1)
        shape = (len(views), len(wanted), most)
        self.values = take("values", np.float64, len(views) * len(wanted) * most).reshape(shape)
        n_counts = rankings.N_COUNTS
        self.counts = take("counts", np.int64, len(views) * most * n_counts).reshape(len(views), most, n_counts)
        self.n_groups = np.zeros(1, np.int64)

    @staticmethod
    def values_per_view(statistics: Sequence[Any]) -> int:
        # They are made for a few partitions at a time, however many a call is asked for.
        return 1

    def runs(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Neighbouring partitions of not much more than RUN_ROWS rows."""
        first = start
        rows = 0
        for partition in range(start, stop):
            own = int(self.layout.partition_rows[partition])
            if rows and rows + own > RUN_ROWS:
                yield first, partition
                first, rows = partition, 0
            rows += own
        yield first, stop

    def tables(self, start: int, stop: int, by_slice: bool) -> Iterator[tuple[int, int | None, ListTable]]:
        """(view, slice, groups) of the partitions start..stop. A table's arrays are overwritten by the next."""
        layout = self.layout
        for first, last in self.runs(start, stop):
            rankings.measure_groups(
                layout.hashes, layout.labels, layout.scores, layout.heads, layout.tails,
                layout.slices if by_slice else NO_KEYS, self.weights, layout.offsets, layout.graded,
                layout.double_scores, self.label_of_view, self.score_of_view, first, last, self.measures.integers,
                self.measures.numbers, *self.discounts, lists.TIES[self.ties], self.table, self.group_of_row,
                self.cursors, self.scores, self.grades, self.memory, self.class_counts, self.hashes, self.heads,
                self.tails, self.slices, self.spans, self.values, self.counts, self.n_groups,
            )  # fmt: skip
            n = int(self.n_groups[0])
            if n == 0:
                continue
            keys = GroupKeys(self.hashes[:n], self.heads[:n], self.tails[:n], layout.key_dtype)
            weights = None
            if layout.weighted:
                check_group_weights(keys, self.spans[0, :n], self.spans[1, :n])
                weights = self.spans[0, :n]
            for view in range(len(self.views)):
                whole = ListTable(keys, self.values[view, :, :n], self.counts[view, :n], weights, self.place)
                if not by_slice:
                    yield view, None, whole
                    continue
                own = self.slices[:n]
                order = np.argsort(own, kind="stable")
                edges = np.flatnonzero(np.diff(own[order], prepend=-1, append=-1).astype(bool)).tolist()
                whole = whole.take(order)
                for low, high in pairwise(edges):
                    yield view, int(own[order[low]]), whole.part(slice(low, high))

    @classmethod
    def of_giant(
        cls,
        statistics: Sequence[Any],
        rows: BlockStore,
        keys: GroupKeys,
        views: Sequence[View],
        by_slice: bool,
        n_threads: int,
    ) -> Iterator[tuple[int, int | None, ListTable]]:
        """The tables of one group that is too large to be loaded: its rows of grade zero are only counted."""
        wanted = measures_of(statistics)
        for number, view in enumerate(views):
            for slice_number, found in giant_lists(rows, keys, view, by_slice):
                yield number, slice_number, cls.of_steps(wanted, keys, found)

    @classmethod
    def of_steps(cls, wanted: list[Measure], keys: GroupKeys, found: GiantList) -> ListTable:
        """The table of one group that is known by steps."""
        table = MeasureTable(wanted)
        longest = held = found.grades.shape[0]
        if any(measure.kind == lists.KINDS["err"] for measure in wanted):
            longest = max(held, int((np.diff(found.starts) + found.ties).max(initial=0)))
        values = np.empty((len(wanted), 1))
        counts = np.zeros((1, rankings.N_COUNTS), np.int64)
        rankings.measure_steps(
            lists.padded(found.grades), found.starts, np.ascontiguousarray(found.ties),
            np.ascontiguousarray(found.gaps), table.integers, table.numbers,
            *BINARY_LOGARITHM.up_to(max(table.ranks, found.rows)), lists.TIES[cls.ties],
            np.empty(rankings.WORDS_OF_A_ROW * (longest + 2) + held + rankings.SPARE, np.uint64), values[:, 0],
            counts[0],
        )  # fmt: skip
        return ListTable(keys, values, counts, np.array([found.weight]), {m: n for n, m in enumerate(wanted)})


class OptimisticLists(ListsByGroup):
    """Of rows that tie, the higher grade is first."""

    ties = "optimistic"


class PessimisticLists(ListsByGroup):
    """Of rows that tie, the higher grade is last."""

    ties = "pessimistic"


# Parameters of metrics of ranked lists, and what they may be. Rules for ties that know rows are for functions: the
# exchange forgets the order of rows, and has no items.
OF_GAINS = {"relevance_level": 1, "ties": "average"}
COMMON = {**OF_GAINS, "empty": "zero"}
CHECKS = {
    "relevance_level": lists.check_level,
    "ties": ("average", "optimistic", "pessimistic"),
    "empty": lists.EMPTY,
}
TABLES = {table.ties: table for table in (ListsByGroup, OptimisticLists, PessimisticLists)}


def measures_of(statistics: Sequence[Any]) -> list[Measure]:
    """The distinct measures that statistics look at."""
    return list(dict.fromkeys(statistic.measure for statistic in statistics))


class ListMean(Statistic):
    """The additive statistic of a mean over lists: sums of w value and of w; lists, empty ones, their rows, ties."""

    __slots__ = ("empty", "measure", "ties")

    def __init__(self, measure: Measure, ties: str, empty: str) -> None:
        self.measure = measure
        self.ties = ties
        self.empty = empty

    @property
    def greatest_grade(self) -> float:
        """What the measure can take: the engine refuses greater ones where it reads them."""
        return MeasureTable([self.measure]).greatest_grade

    @property
    def table(self) -> type[ListsByGroup]:
        return TABLES[self.ties]

    def new(self) -> Sums:
        # counts: lists, empty ones, rows, rows of empty lists; pairs that tie and all pairs, each as its high and low
        # 32 bits. sums: w value, w.
        return Sums(8, 2)

    def update(self, state: Sums, table: ListTable) -> None:
        values = table.values[table.place[self.measure]]
        add_values(state, values, table.weights, self.empty)
        rows = table.counts[:, lists.ROWS]
        empty = np.isnan(values)
        n_rows, tied, pairs = (int(table.counts[:, column].sum()) for column in COUNTED)
        state.counts[2] += n_rows
        if empty.any():
            if self.empty == "raise":
                self.refuse(table, int(np.flatnonzero(empty)[0]))
            state.counts[3] += rows[empty].sum()
        state.counts[4:] += (tied >> HALF_BITS, tied & LOW, pairs >> HALF_BITS, pairs & LOW)

    def group_values(self, table: ListTable) -> np.ndarray:
        """The measure of every list, NaN where it has none."""
        values = table.values[table.place[self.measure]]
        return np.where(np.isnan(values), {"zero": 0.0, "one": 1.0}.get(self.empty, np.nan), values)

    def update_parts(self, states: LotTable, table: ListTable, starts: np.ndarray) -> None:
        """As `update`, of the groups starts[i] to starts[i + 1] for state i."""
        values = np.ascontiguousarray(table.values[table.place[self.measure]])
        listmeans.mean_terms_of_parts(
            values, lists.NO_WEIGHTS if table.weights is None else table.weights, self.empty != "skip",
            1.0 if self.empty == "one" else 0.0, starts, states.exact, states.counts,
        )  # fmt: skip
        first = starts[:-1]
        rows = table.counts[:, lists.ROWS]
        states.counts[:, 2] += np.add.reduceat(rows, first)
        states.counts[:, 3] += np.add.reduceat(np.where(np.isnan(values), rows, 0), first)
        for place, column in ((4, COUNTED[1]), (6, COUNTED[2])):
            sums = np.add.reduceat(table.counts[:, column], first)
            states.counts[:, place] += sums >> HALF_BITS
            states.counts[:, place + 1] += sums & LOW

    @staticmethod
    def refuse(table: ListTable, index: int) -> NoReturn:
        (key,) = table.keys.at(index).tolist()
        rows = int(table.counts[index, lists.ROWS])
        raise ValueError(f"group {key!r} has no relevant row ({rows} rows), and empty='raise'")


COUNTED = (lists.ROWS, lists.TIED_PAIRS, lists.PAIRS)


def coverage_of(state: Sums, empty: str) -> dict[str, Any]:
    """What a mean over lists covers."""
    groups, n_empty, rows, rows_empty, *halves = state.counts.tolist()
    tied, pairs = ((high << HALF_BITS) + low for high, low in (halves[:2], halves[2:]))
    skipped = empty == "skip" and n_empty
    return {
        "rows": rows - (rows_empty if skipped else 0),
        "groups": groups,
        "groups_used": groups - (n_empty if skipped else 0),
        "groups_left_out": {NOTHING_RELEVANT: n_empty} if skipped else {},
        "rows_left_out": {NOTHING_RELEVANT: rows_empty} if skipped else {},
        "groups_without_relevant": n_empty,
        "rows_per_group": rows / groups if groups else float("nan"),
        "tied_pairs": tied / pairs if pairs else 0.0,
    }


def finalise_mean(parameters: dict[str, Any], state: Sums) -> Value:
    """The mean over lists, by the policy for empty ones."""
    empty = parameters.get("empty", "zero")
    coverage = coverage_of(state, empty)
    groups, n_empty = state.counts[:2].tolist()
    if empty == "nan" and n_empty:
        return Value(float("nan"), coverage, f"{n_empty} groups have no relevant row and empty is nan")
    mass = state.integer(1)
    if mass == 0:
        return Value(float("nan"), coverage, "no group has a relevant row" if groups else "every weight is zero")
    return Value(divide(state.integer(0), mass), coverage)


def finalise_ratio(parameters: dict[str, Any], above: Sums, below: Sums) -> Value:
    """Sums over all lists, one over the other: an average over hits instead of over lists."""
    coverage = coverage_of(above, "zero")
    total = below.integer(0)
    if total == 0:
        return Value(float("nan"), coverage, "no group has a relevant row")
    return Value(divide(above.integer(0), total), coverage)


Own = dict[str, tuple[Any, Any]]  # parameters of a metric's own: default, and what is allowed


def enter_mean(
    name: str,
    summary: str,
    function: Callable[..., Any],
    own: Own | None = None,
    *,
    cutoff: bool | str = False,
    may_be_empty: bool = True,
    number: str | None = None,
    negative_grades: bool = False,
    best: str = "highest",
) -> None:
    """Enter a metric that is the mean of the measure of its name over groups.

    `own` are the parameters it has beside those of all such metrics; `number` is the one that the kernel takes as
    Measure.number. A measure that gives every list a value takes no policy for empty ones (`may_be_empty`).
    """
    own = own or {}
    common = COMMON if may_be_empty else OF_GAINS

    def statistics(ties: str, empty: str = "zero", k: int | None = None, **options: Any) -> tuple[ListMean]:
        if number is not None:
            options["number"] = options.pop(number)
        return (ListMean(Measure.of(name, k, **options), ties, empty),)

    def finalise(parameters: dict[str, Any], state: Sums) -> Value:
        return finalise_mean(parameters, state)

    finalise.__doc__ = summary
    metric(
        name,
        exchange="group",
        statistics=statistics,
        function=function,
        undefined="no group",
        parameters={name: default for name, (default, _) in own.items()} | common,
        checks=CHECKS | {name: check for name, (_, check) in own.items()},
        default=False,
        cutoff=cutoff,
        target="graded",
        negative_grades=negative_grades,
        best=best,
    )(finalise)
