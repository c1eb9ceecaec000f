"""The range exchange for probabilities of several classes: one problem of two classes after the other.

In each, some rows are positive, others negative, and the probability of one class is their score. A problem reads the
stored rows through a view; what a statistic of two classes makes of the rows is the same as without the view.
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
from fastmetrics._core.exchange.block_store import Block, BlockReader, BlockStore, order_by_number, scatter_rows
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.range_reduction import RangeReduction
from fastmetrics._core.exchange.row_ranges import StoredRowsStatistic
from fastmetrics._core.exchange.runs import ClassTotals, RangePosition, RangeStatistic, Runs
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
        label, score = label_name(self.output.label), score_name(self.output.score)
        positive, length = self.problem.positive, vector_length(self.store.types, score)
        readers = []
        for number in range(length) if positive is None else (positive,):
            stored: dict[str, str] = {label_name(0): label}
            stored[score_name(0)] = stored_score(self.store, self.output, number)
            own = {name: stored.get(name, name) for name in names}
            loaded = list(dict.fromkeys([*own.values(), label]))
            readers += [ProblemReader(reader, own, label, number) for reader in self.store.block_readers(loaded)]
        return readers


class ProblemReader(NamedTuple):
    """Loads the rows of one block for a problem: `names` are the columns of the problem, and where they are stored."""

    reader: Any
    names: dict[str, str]
    label: str
    positive: int

    @property
    def rows(self) -> int:
        return int(self.reader.rows)

    def load(self) -> dict[str, np.ndarray]:
        return self.select(self.reader.load())

    def load_rows(self, start: int, stop: int) -> dict[str, np.ndarray]:
        return self.select(self.reader.load_rows(start, stop))

    def select(self, stored: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {
            name: (stored[own] == self.positive).view(np.uint8) if own == self.label else stored[own]
            for name, own in self.names.items()
        }


class ClassPairRows(NamedTuple):
    """The rows of two classes as a BlockSource. Partitions of the store are classes (`order_by_class`)."""

    store: BlockStore
    output: Output
    problem: ClassProblem

    @property
    def budget(self) -> Any:
        return self.store.budget

    @property
    def in_memory(self) -> bool:
        return self.store.in_memory

    def block_readers(self, names: list[str]) -> list[ClassPairReader]:
        score = stored_score(self.store, self.output, self.problem.positive)
        own = {name: score if name == score_name(0) else name for name in names}
        readers = []
        for block, offsets in self.store.block_offsets(0, self.store.n_partitions):
            bounds = [(offsets[number], offsets[number + 1]) for number in self.problem if number is not None]
            reader = BlockReader(self.store, [name for name in own.values() if name != label_name(0)], block)
            readers.append(ClassPairReader(reader, own, bounds[0], bounds[1]))
        return readers


class ClassPairReader(NamedTuple):
    """Loads the rows that two classes have in one block: the positive ones first."""

    reader: BlockReader
    names: dict[str, str]
    positives: tuple[int, int]
    negatives: tuple[int, int]

    @property
    def rows(self) -> int:
        return self.positives[1] - self.positives[0] + self.negatives[1] - self.negatives[0]

    def load(self) -> dict[str, np.ndarray]:
        parts = [self.reader.load_rows(*bounds) for bounds in (self.positives, self.negatives)]
        n_positives = self.positives[1] - self.positives[0]
        labels = np.zeros(self.rows, np.uint8)
        labels[:n_positives] = 1
        return {
            name: labels if name == label_name(0) else np.concatenate([part[own] for part in parts])
            for name, own in self.names.items()
        }

    def load_rows(self, start: int, stop: int) -> dict[str, np.ndarray]:
        return {name: column[start:stop] for name, column in self.load().items()}


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
        plain = [own for own in self.statistics if not isinstance(own, OverClasses | OfClasses | StoredRowsStatistic)]
        if plain:
            yield (
                RangeReduction(self.store, self.output, self.weighted, plain, self.n_threads),
                {own: own for own in plain},
            )
        by_problem: dict[ClassProblem, dict[Any, OfClasses]] = {}
        for part in split_problems(self.statistics, self.n_classes):
            by_problem.setdefault(part.problem, {})[part.inner] = part
        output = Output(0, 0)
        for problem, parts in by_problem.items():
            source: Any = ProblemRows(self.store, self.output, problem)
            if problem.positive is None and not self.n_classes:  # the store has the rows of the problem
                source = self.store
            if problem.negative is None:
                own = output if source is not self.store else self.output
                yield RangeReduction(source, own, self.weighted, list(parts), self.n_threads), dict(parts)
        between_two = {problem: parts for problem, parts in by_problem.items() if problem.negative is not None}
        if not between_two:
            return
        n_classes = 1 + max(number for problem in between_two for number in problem if number is not None)
        ordered = order_by_class(self.store, self.output, n_classes, self.n_threads)
        try:
            for problem, parts in between_two.items():
                if any(ordered.partition_rows[number] for number in problem if number is not None):
                    source = ClassPairRows(ordered, self.output, problem)
                    yield RangeReduction(source, output, self.weighted, list(parts), self.n_threads), dict(parts)
        finally:
            ordered.close()

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
    joined = {key: state for key, state in found.items() if not isinstance(key[0], OfClasses)}
    slices = {number for statistic, number in found if isinstance(statistic, OfClasses)}
    for statistic in statistics:
        for number in slices if isinstance(statistic, OverClasses) else ():
            states = [found.get((part, number)) for part in statistic.parts(n_classes)]
            joined[statistic, number] = join([empty(statistic) if state is None else state for state in states])
    return joined
