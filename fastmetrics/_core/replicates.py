"""Replicates of additive statistics: the states of a log in which every unit's rows are repeated by its weight.

States are integers, counts and limbs of exact sums. A replicate's state is the sum over all lots of weight times the
lot's state, so it is exact, and any part of a lot may be added by itself, in any order, from any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.blocks import BlockStore
from fastmetrics._core.by_group import HASH
from fastmetrics._core.group_runs import Advance, GroupStates
from fastmetrics._core.lots import DRAWN_BYTES, Lots, draw
from fastmetrics._core.parallel import for_each
from fastmetrics._core.rows import LABEL, SCORE, SLICE, WEIGHT, Rows, Scratch, View, label_name, score_name
from fastmetrics._core.statistic import Statistic, Sums
from fastmetrics._kernels import resample, sums

LOADED_BYTES = 1 << 24  # of rows that are worked on at a time
STATE_BYTES = 1 << 23  # of lots' states that are made at a time

Key = tuple[Any, int, int | None]  # statistic, number of the view, slice (None: all rows)


class Share(NamedTuple):
    """What of a log is gone through at a time: all rows (or not), and slices from one number to another."""

    whole: bool = True
    start: int = 0
    stop: int = 1 << 16

    def has(self, number: int | None) -> bool:
        return self.whole if number is None else self.start <= number < self.stop


EVERYTHING = Share()


class Weights:
    """The weights of all lots in all replicates; drawn once where they fit, else whenever they are looked at."""

    def __init__(self, lots: Lots, seed: int, replicates: int) -> None:
        self.lots = lots
        self.seed = seed
        self.replicates = replicates
        held = max(1, min(replicates, DRAWN_BYTES // max(1, lots.n)))
        self.bounds = [*range(0, replicates, held), replicates]
        self.drawn = draw(lots, seed, 0, replicates) if held == replicates else None

    def blocks(self, numbers: np.ndarray) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
        """First and last replicate, the weights of some lots in those, and which row of the weights is a lot's."""
        if self.drawn is not None:
            yield 0, self.replicates, self.drawn, numbers
            return
        used, rows = np.unique(numbers, return_inverse=True)
        own = self.lots._replace(keys=np.ascontiguousarray(self.lots.keys[used]))
        for first, stop in pairwise(self.bounds):
            yield first, stop, draw(own, self.seed, first, stop), rows.astype(np.int32)


class LotTable:
    """Room for the states of some lots: their counts, int64[n, n_counts], and sums, int64[n, n_sums, SIZE]."""

    def __init__(self, statistic: Any, n: int) -> None:
        template = statistic.new()
        self.counts = np.zeros((n, *template.counts.shape), np.int64)
        self.exact = np.zeros((n, *template.exact.shape), np.int64)

    def state(self, number: int) -> Sums:
        """The state of one lot: what is added to it stands in the table."""
        state = Sums(0, 0)
        state.counts, state.exact = self.counts[number], self.exact[number]
        return state

    def used(self) -> tuple[np.ndarray, np.ndarray]:
        """The integers of a state that are not zero in all lots, and their values, a row for each lot.

        Of negative sums every limb has the sign, so that few are not zero.
        """
        n, n_counts = self.counts.shape
        limbs = self.exact.reshape(n, -1)
        if limbs.shape[1]:
            resample.fold_signs(self.exact.reshape(-1, exact.SIZE), exact.LIMBS)
        counts = np.flatnonzero(self.counts.any(axis=0))
        places = np.flatnonzero(np.bitwise_or.reduce(limbs, axis=0)) if limbs.shape[1] else counts[:0]
        values = np.concatenate((self.counts[:, counts], limbs[:, places]), axis=1)
        return np.concatenate((counts, n_counts + places)), np.ascontiguousarray(values)


def state_of(row: np.ndarray, n_counts: int) -> Sums:
    """The sums whose numbers are a row: counts, then limbs."""
    state = Sums(0, 0)
    state.counts = row[:n_counts]
    state.exact = row[n_counts:].reshape(-1, exact.SIZE)
    return state


class Sampled:
    """The states of all replicates of a statistic: a row for each of its integers that is not zero everywhere."""

    def __init__(self, statistic: Any, replicates: int) -> None:
        template = statistic.new()
        self.n_counts = int(template.counts.shape[0])
        self.width = self.n_counts + int(template.exact.size)
        self.replicates = replicates
        self.places = np.full(self.width, -1, np.int64)
        self.sums = np.zeros((0, replicates), np.int64)

    def rows_of(self, columns: np.ndarray) -> np.ndarray:
        """Where the sums of some integers stand; those that were zero so far get a row."""
        new = columns[self.places[columns] < 0]
        if new.shape[0]:
            self.places[new] = self.sums.shape[0] + np.arange(new.shape[0])
            self.sums = np.concatenate((self.sums, np.zeros((new.shape[0], self.replicates), np.int64)))
        places: np.ndarray = self.places[columns]
        return places

    def add(self, weights: Weights, numbers: np.ndarray, table: LotTable) -> None:
        """Add the states, or parts of them, of the lots of these numbers."""
        columns, values = table.used()
        if not columns.shape[0]:
            return
        places = self.rows_of(columns)
        for first, stop, drawn, rows in weights.blocks(numbers):
            if stop - first == self.replicates:
                resample.add_weighted(drawn, rows, values, places, self.sums)
                continue
            out = np.zeros((columns.shape[0], stop - first), np.int64)
            resample.add_weighted(drawn, rows, values, np.arange(columns.shape[0]), out)
            self.sums[places, first:stop] += out

    def merge(self, other: Sampled) -> None:
        columns = np.flatnonzero(other.places >= 0)
        places = self.rows_of(columns)
        self.sums[places] += other.sums[other.places[columns]]

    def counts(self) -> np.ndarray:
        """The counts of every replicate: int64[replicates, counts]."""
        out = np.zeros((self.n_counts, self.replicates), np.int64)
        used = np.flatnonzero(self.places[: self.n_counts] >= 0)
        out[used] = self.sums[self.places[used]]
        return np.ascontiguousarray(out.T)

    def states(self) -> Iterator[Sums]:
        """The state of every replicate, good until the next is asked for."""
        columns = np.flatnonzero(self.places >= 0)
        found = np.ascontiguousarray(self.sums[self.places[columns]].T)
        row = np.zeros(self.width, np.int64)
        state = state_of(row, self.n_counts)
        used = np.unique((columns[columns >= self.n_counts] - self.n_counts) // exact.SIZE).tolist()
        for own in found:
            row[:] = 0
            row[columns] = own
            for number in used:
                sums.carry(state.exact[number])
            yield state


class LotStates:
    """In the place of GroupStates: tables of groups are cut by lot, and every replicate gets its share of each."""

    def __init__(
        self,
        statistics: Sequence[Any],
        weights: Weights,
        unit_of: Callable[[np.ndarray], np.ndarray] | None = None,
        share: Share = EVERYTHING,
    ) -> None:
        """`unit_of` gives the hashes of groups' units where these are not the groups themselves."""
        self.statistics = statistics
        self.weights = weights
        self.unit_of = unit_of
        self.share = share
        self.sums: dict[Key, Sampled] = {}

    def update(self, view: int, slice_number: int | None, table: Any) -> None:
        if not self.statistics or not self.share.has(slice_number):
            return
        hashes = table.keys.hashes
        hashes = np.ascontiguousarray(hashes) if self.unit_of is None else self.unit_of(hashes)
        order, lots, starts = by_lot(self.weights.lots.numbers(hashes))
        table = table.take(order)

        def part(start: int, stop: int) -> Any:
            return table.part(slice(start, stop))

        for statistic in self.statistics:
            sampled = self.sampled(statistic, view, slice_number)
            if hasattr(statistic, "update_parts"):
                own = LotTable(statistic, lots.shape[0])
                statistic.update_parts(own, table, np.array(starts, np.int64))
                sampled.add(self.weights, lots, own)
            else:
                add_parts(sampled, statistic, statistic.update, self.weights, lots, starts, part)

    def sampled(self, *key: Any) -> Sampled:
        found = self.sums.get(key)
        if found is None:
            found = self.sums[key] = Sampled(key[0], self.weights.replicates)
        return found

    def merge(self, other: LotStates) -> None:
        self.merge_sums(other.sums)

    def merge_sums(self, found: dict[Key, Sampled]) -> None:
        for key, state in found.items():
            if key in self.sums:
                self.sums[key].merge(state)
            else:
                self.sums[key] = state


class Drawn(Statistic):
    """Stands for a statistic where its replicates are meant, beside its own state."""

    __slots__ = ("statistic",)

    def __init__(self, statistic: Any) -> None:
        self.statistic = statistic


class DrawnStates(LotStates):
    """Replicates in a dict that has other states too."""

    def sampled(self, *key: Any) -> Sampled:
        own, *where = key
        found = self.sums.get((Drawn(own), *where))
        if found is None:
            found = self.sums[Drawn(own), *where] = Sampled(own, self.weights.replicates)
        return found


class GroupsAndLots(GroupStates):
    """The states of groups and, from the same tables, the replicates of some statistics, as states of `Drawn`."""

    def __init__(self, statistics: Sequence[Any], drawn: DrawnStates) -> None:
        super().__init__(statistics)
        self.drawn = drawn
        drawn.sums = self.sums  # type: ignore[assignment]

    def update(self, view: int, slice_number: int | None, table: Any) -> None:
        super().update(view, slice_number, table)
        self.drawn.update(view, slice_number, table)


def by_lot(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """An order of rows that brings those of a lot together, the lots, and where each begins (and the last one ends)."""
    if not numbers.shape[0]:
        return np.empty(0, np.uint32), numbers, [0]
    first = int(numbers.min())
    starts = np.zeros(int(numbers.max()) - first + 2, np.int64)
    order = np.empty(numbers.shape[0], np.uint32)
    resample.order_by_lot(numbers - np.int32(first), starts, order)
    present = np.flatnonzero(starts[1:] > starts[:-1])
    return order, (present + first).astype(np.int32), [*starts[present].tolist(), numbers.shape[0]]


def add_parts(
    sampled: Sampled,
    statistic: Any,
    update: Callable[[Any, Any], None],
    weights: Weights,
    lots: np.ndarray,
    starts: list[int],
    part: Callable[[int, int], Any],
) -> None:
    """Add what a statistic makes of the part of every lot."""
    width = sampled.width
    step = max(1, STATE_BYTES // (8 * width))
    for begin in range(0, lots.shape[0], step):
        own = lots[begin : begin + step]
        table = LotTable(statistic, own.shape[0])
        for number, (start, stop) in enumerate(pairwise(starts[begin : begin + step + 1])):
            update(table.state(number), part(start, stop))
        sampled.add(weights, own, table)


class RowPlan(NamedTuple):
    """What is wanted of rows: additive statistics, of which views; `n_slices` (0: none), and the eps of the scores."""

    statistics: Sequence[Any]
    views: Sequence[View]
    n_slices: int
    eps: tuple[float | None, ...] = ()
    share: Share = EVERYTHING


def sample_rows(
    store: BlockStore, plan: RowPlan, weights: Weights, n_threads: int, advance: Advance | None = None
) -> dict[Key, Sampled]:
    """The replicates of additive statistics of rows; the store has the hash of every row's unit.

    `advance` is told of rows that are done, by any thread.
    """
    names = [name for name in store.types if name in (HASH, WEIGHT, SLICE) or name.startswith((LABEL, SCORE))]
    room = store.room
    run_bytes = LOADED_BYTES if room is None or room.given is None else min(LOADED_BYTES, room.run_bytes)
    runs = list(runs_of_rows(store, run_bytes))
    own: list[LotStates] = []

    def make_worker() -> Callable[[int], None]:
        mine = LotStates(plan.statistics, weights, None)
        own.append(mine)
        scratch = Scratch()

        def work(unit: int) -> None:
            start, stop, blocks = runs[unit]
            run = store.load(names, start, stop, scratch, blocks)
            sample_run(run.columns, plan, mine)
            if advance is not None:
                advance(run.columns[HASH].shape[0])

        return work

    for_each(len(runs), make_worker, n_threads)
    merged = LotStates(plan.statistics, weights, None)
    for mine in own:
        merged.merge(mine)
    return merged.sums


def runs_of_rows(store: BlockStore, run_bytes: int) -> Iterator[tuple[int, int, range | None]]:
    """Runs of partitions; one that has more is taken some blocks at a time."""
    most = max(1, run_bytes // max(1, store.row_bytes))
    for start, stop in store.runs(run_bytes):
        if int(store.partition_rows[start:stop].sum()) <= most:
            yield start, stop, None
            continue
        rows, first = 0, 0
        for number, (_, (begin, end)) in enumerate(store.block_offsets(start, stop)):
            if rows and rows + end - begin > most:
                yield start, stop, range(first, number)
                rows, first = 0, number
            rows += end - begin
        yield start, stop, range(first, store.n_blocks)


def sample_run(columns: dict[str, np.ndarray], plan: RowPlan, states: LotStates) -> None:
    """Add some rows, for every view: all of them, then those of every slice."""
    numbers = states.weights.lots.numbers(columns[HASH])
    order, lots, starts = by_lot(numbers)
    moved = {name: column[order] for name, column in columns.items() if name != HASH}
    if plan.share.whole:
        add_rows(moved, plan, states, None, lots, starts)
    if not plan.n_slices:
        return
    numbers = numbers[order]
    order = np.argsort(moved[SLICE], kind="stable")
    slices = moved[SLICE][order]
    moved = {name: column[order] for name, column in moved.items()}
    numbers = numbers[order]
    edges = [0, *(np.flatnonzero(slices[1:] != slices[:-1]) + 1).tolist(), slices.shape[0]]
    for begin, end in pairwise(edges):
        if not plan.share.has(int(slices[begin])):
            continue
        own = numbers[begin:end]
        firsts = np.flatnonzero(own[1:] != own[:-1]) + 1
        starts = [0, *firsts.tolist(), end - begin]
        part = {name: column[begin:end] for name, column in moved.items()}
        add_rows(part, plan, states, int(slices[begin]), np.ascontiguousarray(own[starts[:-1]]), starts)


def add_rows(
    columns: dict[str, np.ndarray],
    plan: RowPlan,
    states: LotStates,
    number: int | None,
    lots: np.ndarray,
    starts: list[int],
) -> None:
    """Add rows that stand lot by lot."""
    weights = columns.get(WEIGHT)
    for view_number, view in enumerate(plan.views):
        labels, scores = columns[label_name(view.label)], columns[score_name(view.score)]
        eps = plan.eps[view.score] if plan.eps else None

        def part(start: int, stop: int, labels: Any = labels, scores: Any = scores, eps: Any = eps) -> Rows:
            own = None if weights is None else weights[start:stop]
            return Rows(labels[start:stop], scores[start:stop], own, eps=eps)

        for statistic in plan.statistics:
            sampled = states.sampled(statistic, view_number, number)
            add_parts(sampled, statistic, statistic.update, states.weights, lots, starts, part)
