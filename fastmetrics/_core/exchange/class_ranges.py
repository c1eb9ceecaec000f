"""The range exchange for probabilities of several classes: one problem of two classes after the other.

In each, some rows are positive, others negative, and the probability of one class is their score. A problem is a source
of blocks: what a statistic of two classes makes of them is the same as of stored rows of two classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import (
    SCORE,
    SLICE,
    WEIGHT,
    Output,
    label_name,
    names_of,
    score_name,
    vector_length,
    vector_name,
)
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.blocks import Block, order_by_number, scatter_rows
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.range_reduction import RangeReduction
from fastmetrics._core.exchange.runs import ClassTotals, RangePosition, RangeStatistic, Runs
from fastmetrics._core.exchange.stored_ranges import BlockSource, PartitionPair, ProblemReader
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import for_each
from fastmetrics._core.statistic import RangeExchangeStatistic

ONE_AGAINST_REST, ONE_AGAINST_ONE, ALL_CLASSES = "ovr", "ovo", "micro"

States = dict[tuple[Any, Any], Any]  # by statistic and slice


class ClassProblem(NamedTuple):
    """The rows of a class against those of another one, or of all others (None), by the probability of the class.

    Without a class: every class of every row is a row, positive if it is the row's class.
    """

    positive: int | None
    negative: int | None = None


class OfClasses(RangeStatistic):
    """A statistic of two classes for one problem of several classes."""

    __slots__ = ("inner", "problem")

    def __init__(self, inner: RangeStatistic, problem: ClassProblem) -> None:
        self.inner = inner
        self.problem = problem

    @property
    def needs_position(self) -> bool:
        return self.inner.needs_position

    def empty(self) -> Any:
        return self.inner.empty()

    def find(self, runs: Runs, position: RangePosition) -> Any:
        return self.inner.find(runs, position)

    def merge(self, higher: Any, lower: Any, totals: ClassTotals) -> Any:
        return self.inner.merge(higher, lower, totals)


class OverClasses(RangeExchangeStatistic):
    """A statistic of two classes for every problem. Its state is the states of the problems, none without rows.

    `problems` are "ovr", every class against the rest; "ovo", every class against every other one; or "micro", all
    classes of all rows together.
    """

    __slots__ = ("inner", "problems")

    def __init__(self, inner: RangeStatistic, problems: str) -> None:
        self.inner = inner
        self.problems = problems

    @property
    def needs_position(self) -> bool:
        return self.inner.needs_position

    def empty(self) -> tuple[Any, ...]:
        return ()

    def parts(self, n_classes: int) -> tuple[OfClasses, ...]:
        """The statistics of all problems."""
        classes = range(n_classes)
        problems = {
            ONE_AGAINST_REST: [ClassProblem(own) for own in classes],
            ONE_AGAINST_ONE: [ClassProblem(own, other) for own in classes for other in classes if own != other],
            ALL_CLASSES: [ClassProblem(None)],
        }
        return tuple(OfClasses(self.inner, problem) for problem in problems[self.problems])


class ProblemRows(NamedTuple):
    """The rows of a store as a problem of all rows sees them: a BlockSource with one column of labels and of scores."""

    store: BlockStore
    output: Output
    problem: ClassProblem

    @property
    def budget(self) -> Any:
        return self.store.budget

    @property
    def in_memory(self) -> bool:
        return self.store.in_memory

    def block_readers(self, names: list[str]) -> list[ProblemReader]:
        label, positive = label_name(self.output.label), self.problem.positive
        length = vector_length(self.store.types, score_name(self.output.score))
        readers = []
        for number in range(length) if positive is None else (positive,):
            score = stored_score(self.store, self.output, number)
            stored: dict[str, str] = {label_name(0): label, score_name(0): score}
            own = {name: stored.get(name, name) for name in names}
            loaded = list(dict.fromkeys(own.values()))
            readers += [ProblemReader(reader, own, number) for reader in self.store.block_readers(loaded)]
        return readers


def stored_score(store: BlockStore, output: Output, number: int | None) -> str:
    """The stored column of a class's probability. A store may have the probabilities of one class alone."""
    score = score_name(output.score)
    return score if number is None or not vector_length(store.types, score) else vector_name(score, number)


def order_by_class(store: BlockStore, output: Output, n_classes: int, n_threads: int) -> BlockStore:
    """The rows of a store in the order of their classes: a partition for each. Rows may spill."""
    label = label_name(output.label)
    scores = [name for name in names_of(store.types, SCORE) if name.which == output.score]
    names = [name for name in (*scores, WEIGHT, SLICE, HASH) if name in store.types]
    readers = store.block_readers([label, *names])
    ordered = BlockStore(n_classes, store.budget)

    def reorder(number: int) -> None:
        columns = readers[number].load()
        starts, destinations = order_by_number(columns.pop(label).astype(np.uint16), n_classes)
        moved = {name: scatter_rows(np.ascontiguousarray(column), destinations) for name, column in columns.items()}
        block = Block(moved, starts.astype(np.int32))
        ordered.add(block, ordered.try_reserve(block.n_bytes()))

    for_each(len(readers), lambda: reorder, n_threads)
    return ordered


class OutputReduction(NamedTuple):
    """Statistics to compute over the rows of a store for one output; some may be over several classes.

    Attributes
    ----------
    statistics : sequence
        Statistics of thresholds; those that read rows are left out.
    """

    store: BlockStore
    output: Output
    weighted: bool
    statistics: Sequence[Any]
    n_threads: int

    @property
    def n_classes(self) -> int:
        """The number of classes of stored probabilities; 0 if there are none."""
        return vector_length(self.store.types, score_name(self.output.score))

    def reductions(self) -> Iterator[tuple[RangeReduction, dict[Any, Any]]]:
        """The reductions of two classes, and for each statistic of a reduction the one that it is a part of."""
        plain = [own for own in self.statistics if not isinstance(own, OverClasses | OfClasses)]
        if plain:
            yield (
                RangeReduction(self.store, self.output, self.weighted, plain, self.n_threads),
                {own: own for own in plain},
            )
        by_problem: dict[ClassProblem, dict[Any, OfClasses]] = {}
        for part in split_problems(self.statistics, self.n_classes):
            by_problem.setdefault(part.problem, {})[part.inner] = part
        between_two = [problem for problem in by_problem if problem.negative is not None]
        classes = [number for problem in between_two for number in problem if number is not None]
        ordered = order_by_class(self.store, self.output, 1 + max(classes), self.n_threads) if classes else self.store
        try:
            for problem, parts in by_problem.items():
                source = self.source(problem, ordered)
                if source is not None:
                    output = self.output if source is self.store else Output(0, 0)
                    yield RangeReduction(source, output, self.weighted, list(parts), self.n_threads), dict(parts)
        finally:
            if classes:
                ordered.close()

    def source(self, problem: ClassProblem, ordered: BlockStore) -> BlockSource | None:
        """The rows of a problem, None if two classes have none; partitions of `ordered` are classes."""
        if problem.negative is not None and problem.positive is not None:
            score = stored_score(ordered, self.output, problem.positive)
            pair = PartitionPair(ordered, problem.negative, problem.positive, score)
            return pair if pair.rows else None
        if problem.positive is None and not self.n_classes:  # the store has the rows of the problem
            return self.store
        return ProblemRows(self.store, self.output, problem)

    def reduce(self, reduce: Callable[[RangeReduction], States]) -> States:
        """What `reduce` finds of every reduction. Of statistics over several classes, it has their problems."""
        found = {}
        for reduction, whole in self.reductions():
            for (statistic, number), state in reduce(reduction).items():
                found[whole[statistic], number] = state
        return found


def split_problems(statistics: Sequence[Any], n_classes: int) -> list[OfClasses]:
    """The problems of all statistics over several classes."""
    parts: list[OfClasses] = []
    for statistic in statistics:
        if isinstance(statistic, OverClasses):
            parts += statistic.parts(n_classes)
        elif isinstance(statistic, OfClasses):
            parts.append(statistic)
    return list(dict.fromkeys(parts))


def join_states(statistics: Sequence[Any], n_classes: int, found: States) -> States:
    """The states of statistics over several classes, from those of their problems; other states stay."""
    return join_problems(statistics, n_classes, found, lambda statistic: statistic.inner.empty(), tuple)


def join_replicates(statistics: Sequence[Any], n_classes: int, found: States, replicates: int) -> States:
    """The same as `join_states` for lists of states, one for each replicate."""

    def empty(statistic: OverClasses) -> list[Any]:
        return [statistic.inner.empty()] * replicates

    return join_problems(statistics, n_classes, found, empty, lambda states: list(zip(*states, strict=True)))


def join_problems(
    statistics: Sequence[Any],
    n_classes: int,
    found: States,
    empty: Callable[[OverClasses], Any],
    join: Callable[[list[Any]], Any],
) -> States:
    if not any(isinstance(own, OverClasses) for own in statistics):
        return found
    joined = {key: state for key, state in found.items() if not isinstance(key[0], OfClasses)}
    slices = {number for statistic, number in found if isinstance(statistic, OfClasses)}
    for statistic in statistics:
        for number in slices if isinstance(statistic, OverClasses) else ():
            states = [found.get((part, number)) for part in statistic.parts(n_classes)]
            joined[statistic, number] = join([empty(statistic) if state is None else state for state in states])
    return joined
