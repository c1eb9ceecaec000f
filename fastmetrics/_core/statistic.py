"""Statistic, merge, finalise: the joint at which every metric is cut.

An additive statistic turns a block of rows, or of groups, into integer counts and exact sums. Those of parts are added
to give those of the whole, in any order; a finaliser turns them into a value. A statistic is a small hashable object,
so that metrics that need the same one share it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.parallel import for_each


class Value(NamedTuple):
    """A finalised metric: the number, what it covers, and why it is NaN if it is."""

    value: float
    coverage: dict[str, Any]
    reason: str | None = None


class Statistic:
    """Base of all statistics: equal and hashed by type and fields (`__slots__`), printed like a call."""

    __slots__: tuple[str, ...] = ()

    def fields(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Statistic) and other.fields() == self.fields()

    def __hash__(self) -> int:
        return hash((type(self), self.fields()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.fields()))})"


class State(Protocol):
    """What the state of an additive statistic offers: states of parts merge, and travel as arrays.

    `n_bytes` is what it takes where that grows with the rows, `n_rows` how many it has where it knows. `take_arrays`
    fills a new state with what `arrays` gave, and raises ValueError for numbers that no state has: they may have been
    written by anybody. `layout` tells their types and shapes (None: any length).
    """

    @property
    def n_bytes(self) -> int: ...

    @property
    def n_rows(self) -> int | None: ...

    def merge(self, other: Any) -> None: ...

    def arrays(self) -> tuple[np.ndarray, ...]: ...

    def layout(self) -> tuple[tuple[Any, ...], ...]: ...

    def take_arrays(self, *arrays: np.ndarray) -> None: ...


class Sums:
    """The state of most additive statistics: counts (int64) and superaccumulator states."""

    __slots__ = ("counts", "exact")

    n_bytes = 0  # to speak of: as many numbers, however many rows
    n_rows = None

    def __init__(self, n_counts: int, n_sums: int) -> None:
        self.counts = np.zeros(n_counts, np.int64)
        self.exact = exact.new_states(n_sums)

    def __reduce__(self) -> tuple[Any, ...]:
        """Nearly all limbs are zero: only the others travel."""
        used = np.flatnonzero(self.exact)
        return restore_sums, (self.counts, self.exact.shape[0], used.astype(np.int32), self.exact.reshape(-1)[used])

    def merge(self, other: Sums) -> None:
        self.counts += other.counts
        exact.merge_states(self.exact, other.exact)

    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.counts, self.exact

    def layout(self) -> tuple[tuple[Any, ...], ...]:
        return (np.int64, *self.counts.shape), (np.int64, *self.exact.shape)

    def take_arrays(self, *arrays: np.ndarray) -> None:
        counts, sums = arrays
        if (counts < 0).any():
            raise ValueError("a count is negative")
        self.counts += counts
        exact.merge_states(self.exact, sums)

    def count(self, index: int) -> int:
        return int(self.counts[index])

    def integer(self, index: int) -> int:
        """An exact sum times 2**EXPONENT; ratios of two such integers need no scale."""
        return exact.to_integer(self.exact[index])


def restore_sums(counts: np.ndarray, n_sums: int, used: np.ndarray, values: np.ndarray) -> Sums:
    """How sums are unpickled."""
    sums = Sums(0, n_sums)
    sums.counts = counts
    sums.exact.reshape(-1)[used] = values
    return sums


class Additive(Protocol):
    """What an additive statistic offers.

    `part` is a block of rows (exchange none) or a table of groups (exchange group). One of grades may say, as
    `greatest_grade`, which ones it can take. One of a target that goes alone has OfPairs's methods in the place of
    `update`. One of groups may have `update_parts(states, table, starts)`: add the groups starts[i] to starts[i + 1] to
    state i of a `LotTable`, for all i at once.
    """

    def new(self) -> Sums: ...

    def update(self, sums: Sums, part: Any) -> None: ...


class OfPairs(Protocol):
    """What an additive statistic of columns that are no numbers offers: what it counts of rows is added to a state.

    `count_rows` looks at a ColumnPair once; of what it gives, an array or what is indexed like one, any rows may be
    added: those of a slice. Where it is no array of integers (int64[n, m]), the statistic has two methods more:
    `number_rows(state, counted)` makes one by what a state knows of labels, and `of_cells(state, rows, counts)` the
    state of such rows, each so many times.
    """

    def new(self) -> State: ...

    def count_rows(self, rows: Any) -> Any: ...

    def add(self, state: Any, counted: Any) -> None: ...


def accumulate(
    statistics: Sequence[Additive],
    n_units: int,
    make_loader: Callable[[], Callable[[int], Iterable[Any]]],
    n_threads: int,
) -> list[Sums]:
    """The statistics over all parts; a loader gives the parts of a unit, each good until the next is asked for.

    Every thread has a loader (with its scratch memory) and states of its own; states are merged last.
    """
    if n_units == 1:
        # A call on a hundred rows is made in loops: no threads to start, no states to merge.
        alone = [statistic.new() for statistic in statistics]
        for part in make_loader()(0):
            for statistic, state in zip(statistics, alone, strict=True):
                statistic.update(state, part)
        return alone
    states: list[list[Sums]] = []

    def make_worker() -> Callable[[int], None]:
        load = make_loader()
        own = [statistic.new() for statistic in statistics]
        states.append(own)

        def update(unit: int) -> None:
            for part in load(unit):
                for statistic, state in zip(statistics, own, strict=True):
                    statistic.update(state, part)

        return update

    for_each(n_units, make_worker, n_threads)
    merged = [statistic.new() for statistic in statistics]
    for own in states:
        for into, state in zip(merged, own, strict=True):
            into.merge(state)
    return merged
