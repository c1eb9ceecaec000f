"""Statistic, merge, finalise: every metric is divided into these three steps.

An additive statistic turns a block of rows, or of groups, into integer counts and exact sums. The states of partitions
add up to the state of the whole, in any order, and a finaliser turns a state into a value. A statistic is a small
hashable object, so metrics that need the same statistic share it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import repeat
from operator import attrgetter
from typing import Any, ClassVar, Protocol

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import for_each


class Value(NamedTuple):
    """A finalised metric: the number, its coverage, and the reason if it is NaN or beyond the float64 numbers."""

    value: float
    coverage: dict[str, Any]
    reason: str | None = None


@cache
def slot_names(cls: type) -> tuple[str, ...]:
    """The slots of a class and of its bases."""
    return tuple(name for own in cls.__mro__ for name in own.__dict__.get("__slots__", ()))


@cache
def slot_values(cls: type) -> Callable[[Any], tuple[Any, ...]]:
    """Reads the values of the slots of an object of the class, as a tuple."""
    names = slot_names(cls)
    if not names:
        return lambda own: ()
    read = attrgetter(*names)
    return read if len(names) > 1 else lambda own: (read(own),)


class Statistic:
    """Base of all statistics. Equality and hash use the type and the fields (`__slots__`, and other attributes)."""

    __slots__: tuple[str, ...] = ()

    def fields(self) -> tuple[Any, ...]:
        own_class: Any = type(self)
        own = slot_values(own_class)(self)  # each look-up of a state asks for them
        return own + tuple(self.other_attributes().items()) if getattr(self, "__dict__", None) else own

    def other_attributes(self) -> dict[str, Any]:
        """Attributes that have no slot: those of a class of the user's own."""
        return {name: value for name, value in sorted(vars(self).items()) if name not in self.slot_names()}

    def slot_names(self) -> tuple[str, ...]:
        own_class: Any = type(self)
        return slot_names(own_class)

    def __getstate__(self) -> tuple[dict[str, Any] | None, dict[str, Any]]:
        """Slots apart from other attributes. A class that was sent by value has its slots as attributes."""
        others = self.other_attributes() if hasattr(self, "__dict__") else None
        return others or None, {name: getattr(self, name) for name in self.slot_names()}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Statistic) and other.fields() == self.fields()

    def __hash__(self) -> int:
        return hash((type(self), self.fields()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.fields()))})"


class State(Protocol):
    """The state of an additive statistic. States of partitions merge, and states are stored as arrays.

    Attributes
    ----------
    n_bytes : int
        The memory of the state, if it grows with the rows; otherwise 0.
    n_rows : int or None
        The number of rows, if the state knows it.

    Notes
    -----
    `load_arrays` fills a new state with the result of `arrays`. The arrays may come from an untrusted file: it raises
    ValueError for numbers that no state can have. `layout` returns their types and shapes (None: any length).

    A state that grows with the rows has two more methods: `limit_memory(budget)`, called before the first row, after
    which it reserves its memory and spills what does not fit; and `close()`, which frees both once it was merged.
    """

    @property
    def n_bytes(self) -> int: ...

    @property
    def n_rows(self) -> int | None: ...

    def merge(self, other: Any) -> None: ...

    def arrays(self) -> tuple[np.ndarray, ...]: ...

    def layout(self) -> tuple[tuple[Any, ...], ...]: ...

    def load_arrays(self, *arrays: np.ndarray) -> None: ...


class Sums:
    """The state of most additive statistics: counts (int64) and exact sums (superaccumulator states)."""

    __slots__ = ("counts", "exact")

    n_bytes = 0  # the size does not depend on the number of rows
    n_rows = None

    def __init__(self, n_counts: int, n_sums: int) -> None:
        self.counts = np.zeros(n_counts, np.int64)
        self.exact = exact.new_states(n_sums)

    def __reduce__(self) -> tuple[Any, ...]:
        """Only the limbs that are not zero are pickled: they are few."""
        used = np.flatnonzero(self.exact)
        limbs = used.astype(np.int32), self.exact.reshape(-1)[used]
        return restore_sums, (type(self), self.counts, self.exact.shape[0], *limbs)

    def with_memory(self, counts: np.ndarray, sums: np.ndarray) -> Sums:
        """A state of the same kind that has these arrays; it shares their memory."""
        own_class = type(self)
        state = own_class.__new__(own_class)  # intervals make many
        state.counts, state.exact = counts, sums
        return state

    def merge(self, other: Sums) -> None:
        self.counts += other.counts
        exact.merge_states(self.exact, other.exact)

    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.counts, self.exact

    def layout(self) -> tuple[tuple[Any, ...], ...]:
        return (np.int64, *self.counts.shape), (np.int64, *self.exact.shape)

    def load_arrays(self, *arrays: np.ndarray) -> None:
        counts, sums = arrays
        if (counts < 0).any():
            raise ValueError("a count is negative")
        self.counts += counts
        exact.merge_states(self.exact, sums)

    def count(self, index: int) -> int:
        return int(self.counts[index])

    def integer(self, index: int) -> int:
        """An exact sum times 2**EXPONENT. The ratio of two such integers needs no scale."""
        return exact.to_integer(self.exact[index])

    def is_finite(self, index: int) -> bool:
        """Were all numbers of a sum finite?"""
        return exact.is_finite(self.exact[index])


class KnownSums(Sums):
    """A state that is only read.

    What `count`, `integer` and `is_finite` return was found together with that of other states, which takes less time.
    """

    __slots__ = ("known_counts", "known_finite", "known_integers")
    known_counts: list[int]
    known_integers: Sequence[int]
    known_finite: list[bool]

    @staticmethod
    def of_states(counts: np.ndarray, sums: np.ndarray) -> Iterator[KnownSums]:
        """The states with these counts (state, count) and normalised sums (state, sum, limb): views of both."""
        columns = [exact.to_integers(sums[:, number]) for number in range(sums.shape[1])]
        integers = zip(*columns, strict=True) if columns else repeat((), counts.shape[0])
        finite: list[list[bool]] = np.logical_not(sums[:, :, exact.LIMBS :].any(axis=2)).tolist()
        known = zip(counts, sums, counts.tolist(), integers, finite, strict=True)
        for own_counts, own_sums, known_counts, known_integers, known_finite in known:
            state = KnownSums.__new__(KnownSums)
            state.counts, state.exact = own_counts, own_sums
            state.known_counts, state.known_integers, state.known_finite = known_counts, known_integers, known_finite
            yield state

    def count(self, index: int) -> int:
        return self.known_counts[index]

    def integer(self, index: int) -> int:
        return self.known_integers[index]

    def is_finite(self, index: int) -> bool:
        return self.known_finite[index]


def restore_sums(
    state_type: type[Sums], counts: np.ndarray, n_sums: int, used: np.ndarray, values: np.ndarray
) -> Sums:
    """Unpickle sums."""
    limbs = exact.new_states(n_sums)
    limbs.reshape(-1)[used] = values
    return state_type(0, 0).with_memory(counts, limbs)


class ManySums(NamedTuple):
    """Many states of one statistic side by side: counts (state, count) and normalised sums (state, sum, limb)."""

    counts: np.ndarray
    exact: np.ndarray

    def counts_as_sums(self, index: int) -> np.ndarray:
        """One of the counts as exact sums."""
        return exact.states_of_integers(self.counts[:, index])


class Maxima(Sums):
    """The greatest of non-negative numbers: `counts` holds their bits, which as integers have the same order."""

    __slots__ = ()

    def merge(self, other: Sums) -> None:
        np.maximum(self.counts, other.counts, out=self.counts)

    def load_arrays(self, *arrays: np.ndarray) -> None:
        maxima, _ = arrays
        if (maxima < 0).any() or np.isnan(maxima.view(np.float64)).any():
            raise ValueError("a maximum is not a number of at least 0")
        np.maximum(self.counts, maxima, out=self.counts)

    def add(self, index: int, number: float) -> None:
        numbers = self.counts.view(np.float64)
        numbers[index] = max(numbers[index], number)

    def number(self, index: int) -> float:
        return float(self.counts.view(np.float64)[index])


class NamedSums(Sums):
    """Exact sums that have names."""

    __slots__ = ("names",)

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(0, len(names))
        self.names = names

    def __reduce__(self) -> tuple[Any, ...]:
        used = np.flatnonzero(self.exact)
        return restore_named_sums, (self.names, used.astype(np.int32), self.exact.reshape(-1)[used])

    def with_memory(self, counts: np.ndarray, sums: np.ndarray) -> NamedSums:
        state = NamedSums(())
        state.names, state.counts, state.exact = self.names, counts, sums
        return state

    def __getitem__(self, name: str) -> int:
        """An exact sum as an integer in units of 2**-EXPONENT. The ratio of two such integers needs no unit."""
        return self.integer(self.names.index(name))


def restore_named_sums(names: tuple[str, ...], used: np.ndarray, values: np.ndarray) -> NamedSums:
    """Unpickle named sums."""
    sums = NamedSums(names)
    sums.exact.reshape(-1)[used] = values
    return sums


TINY_LIMBS = (exact.EXPONENT - 896) // 32  # the limbs of a sum below 2**-896
TINY_WEIGHTS = "all weights together are below 1e-269: products with them lose digits; multiply the weights by a number"


class SumStatistic(Statistic):
    """Base of additive statistics with a state of constant size. `sums_size`: the numbers of counts and of sums.

    `weights_place`: for a statistic that sums the weights of rows, the number of the count that is 1 if there are
    weights, and that of the sum.
    """

    __slots__ = ()
    sums_size: ClassVar[tuple[int, int]]
    weights_place: ClassVar[tuple[int, int] | None] = None

    def new(self) -> Sums:
        return Sums(*self.sums_size)

    def has_tiny_weights(self, state: Sums) -> bool:
        """Is the sum of the weights below 2**-896? Products with such weights lose digits."""
        if self.weights_place is None or not state.counts[self.weights_place[0]]:
            return False
        limbs = state.exact[self.weights_place[1]]
        return not limbs[TINY_LIMBS:].any() and bool(limbs.any())


class AdditiveStatistic(Protocol):
    """A statistic whose states are `Sums`.

    `rows` is a block of rows (exchange "none") or a table of groups (exchange "hash").

    Optional members: `greatest_grade`, the greatest relevance grade that the statistic accepts. Two methods update the
    states of many units (`StatesOfUnits`) in one call: for statistics of rows, `update_units(states, rows, numbers)`
    adds row i to the state numbers[i]; for statistics of groups, `update_segments(states, table, starts)` adds the
    groups starts[i] to starts[i + 1] to state i.
    """

    def new(self) -> Sums: ...

    def update(self, sums: Sums, rows: Any) -> None: ...


class StatesOfUnits(Protocol):
    """The states (`Sums`) of one statistic in many units: counts, int64[units, n_counts], and sums.

    `exact` is int64[units, n_sums, SIZE]. A statistic either adds rows to it, normalised, or calls `add`.
    """

    counts: np.ndarray
    exact: np.ndarray

    def count(self, numbers: np.ndarray, cells: np.ndarray | None = None) -> None:
        """Count row i in the state numbers[i], in the count cells[i]; cells (uint8) are 0 if there are none."""

    def add(self, values: np.ndarray, numbers: np.ndarray, cells: np.ndarray | None = None, column: int = 0) -> None:
        """Add values[i] to the state numbers[i], to the sum column + cells[i]."""

    def state(self, index: int) -> Sums:
        """One of the states. It shares the memory of `counts` and `exact`."""
        ...


class PairStatistic(Protocol):
    """An additive statistic of two columns that are not numeric.

    `count_rows` reads a ColumnPair once. It returns an array, or an object with NumPy's indexing. So any selection of
    its rows can be added to a state, for instance the rows of a slice.

    If the result is not an integer array (int64[n, m]), the statistic has two more methods: `number_rows(state,
    counted)` makes such an array with the labels that a state knows, and `from_cells(state, rows, counts)` returns the
    state of such rows, each of which occurs so many times. If a row of the log has several, `number_rows` returns the
    array and the row of the block to which each of its rows belongs.
    """

    def new(self) -> State: ...

    def count_rows(self, rows: Any) -> Any: ...

    def add(self, state: Any, counted: Any) -> None: ...


def map_reduce(
    statistics: Sequence[AdditiveStatistic],
    n_tasks: int,
    make_loader: Callable[[], Callable[[int], Iterable[Any]]],
    n_threads: int,
) -> list[Sums]:
    """The states of statistics over all blocks.

    `make_loader()` returns a function that yields the blocks of a task; a block is valid until the next one. Every
    thread has its own loader (with scratch memory) and its own states. The states are merged at the end.
    """
    if n_tasks == 1:
        # Calls on a hundred rows are made in loops: start no threads and merge no states.
        states = [statistic.new() for statistic in statistics]
        for block in make_loader()(0):
            for statistic, state in zip(statistics, states, strict=True):
                statistic.update(state, block)
        return states
    states_of_threads: list[list[Sums]] = []

    def make_worker() -> Callable[[int], None]:
        load = make_loader()
        states = [statistic.new() for statistic in statistics]
        states_of_threads.append(states)

        def update(task: int) -> None:
            for block in load(task):
                for statistic, state in zip(statistics, states, strict=True):
                    statistic.update(state, block)

        return update

    for_each(n_tasks, make_worker, n_threads)
    merged = [statistic.new() for statistic in statistics]
    for states in states_of_threads:
        for into, state in zip(merged, states, strict=True):
            into.merge(state)
    return merged
