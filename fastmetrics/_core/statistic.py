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


class Sums:
    """The state of an additive statistic: counts (int64) and superaccumulator states."""

    __slots__ = ("counts", "exact")

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
    `greatest_grade`, which ones it can take. One of texts has OfTexts's methods in the place of `update`.
    """

    def new(self) -> Sums: ...

    def update(self, sums: Sums, part: Any) -> None: ...


class OfTexts(Protocol):
    """What an additive statistic of texts offers: rows of integers, of which any are added to a state."""

    def new(self) -> Sums: ...

    def count_rows(self, rows: Any) -> np.ndarray: ...

    def add(self, sums: Sums, counts: np.ndarray) -> None: ...


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
