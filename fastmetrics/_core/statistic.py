"""The contract of statistics: what each must have is abstract; what it may have is an ability, a base that it names.

Every metric is divided into three steps: a statistic turns rows into a state, states of partitions merge, a finalizer
turns the state of all rows into a value. The exchange of a statistic says which rows must meet before its state can be
computed: none (`AdditiveStatistic`, `ColumnStatistic`), those of a group (`GroupedStatistic`), or those of neighboring
scores (`_core/exchange/runs.py`, `_core/exchange/row_ranges.py`).

Callers ask for an ability by `isinstance`. A statistic is a small hashable object, so that metrics which need the same
one share it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, ClassVar, Protocol

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.state import Fields, State, Sums


class Value(NamedTuple):
    """A finalized metric: the number, its coverage, and the reason if it is NaN or beyond the float64 numbers."""

    value: float
    coverage: dict[str, Any]
    reason: str | None = None


def rounded_quotient(numerator: int, denominator: int, coverage: dict[str, Any], reason: str) -> Value:
    """The quotient, rounded once; NaN with the reason if the denominator is zero."""
    if denominator == 0:
        return Value(float("nan"), coverage, reason)
    return Value(exact.divide(numerator, denominator), coverage)


def many_quotients(ratio: Callable[..., tuple[Any, Any]]) -> Callable[..., np.ndarray]:
    """The `MetricSpec.many` of `ratio(parameters, *states)`, a numerator and a denominator of the states' `number`s."""

    def many(parameters: dict[str, Any], *states: Any) -> np.ndarray:
        return exact.quotients(*ratio(parameters, *states))

    return many


class Statistic(ABC):
    """Base of all statistics. Equality and hash are those of the type and of the attributes."""

    __slots__ = ()

    @property
    def greatest_grade(self) -> float:
        """The greatest relevance grade that it accepts."""
        return math.inf

    @property
    def needs_whole_column(self) -> bool:
        """Does it need all rows of a score column in one place, where others take ranges of scores?"""
        return False

    @abstractmethod
    def empty(self) -> Any:
        """The state of no rows."""

    def attributes(self) -> tuple[Any, ...]:
        """What tells the statistic from others of its type."""
        own: Any = self
        own_class: Any = type(own)
        return attribute_reader(own_class)(own)

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        """All attributes as if they had slots: a class that was sent by value has none, and its objects come back."""
        return None, dict(all_attributes(self))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Statistic) and other.attributes() == self.attributes()

    def __hash__(self) -> int:
        return hash((type(self), self.attributes()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.attributes()))})"


@cache
def attribute_reader(cls: type[Statistic]) -> Callable[[Any], tuple[Any, ...]]:
    """What reads the attributes of an object of the class."""
    if cls.__dictoffset__:  # a class of the user's own
        return lambda own: tuple(all_attributes(own))
    bases: list[Any] = [own for own in cls.__mro__ if issubclass(own, Statistic)]
    names = tuple(dict.fromkeys(name for own in bases for name in own.__slots__))
    if not names:
        return lambda own: ()
    read = attrgetter(*names)
    return read if len(names) > 1 else lambda own: (read(own),)


def all_attributes(own: Any) -> list[tuple[str, Any]]:
    """The names and values of all attributes, whether they have slots or not, in the order of the names."""
    found: Any = object.__getstate__(own) or {}
    parts = found if isinstance(found, tuple) else (found,)
    return sorted(item for part in parts for item in (part or {}).items())


class SummedStatistic(Statistic):
    """Base of statistics whose state are sums: the named `fields`."""

    __slots__ = ()

    @property
    def fields(self) -> Fields:
        """The named fields of its state; a class may have them as an attribute."""
        raise NotImplementedError(f"{type(self).__name__} has no fields, and makes its empty state itself")

    def empty(self) -> Any:
        return Sums(self.fields)


class AdditiveStatistic(SummedStatistic):
    """A statistic of single rows: no rows have to meet. Its state has the named `fields`."""

    __slots__ = ()

    # Has the state the fields "weighted" (a count that is not 0 if rows have weights) and "weight" (the sum of these)?
    sums_weights: ClassVar[bool] = False

    @abstractmethod
    def update(self, state: Any, rows: Any) -> None:
        """Add a block of rows."""

    def has_tiny_weights(self, state: Sums) -> bool:
        """Is the sum of the weights below 2**-896? Products with such weights lose digits."""
        if not self.sums_weights or not state.count("weighted"):
            return False
        limbs = state.sum_of("weight")
        return not limbs[TINY_LIMBS:].any() and bool(limbs.any())


TINY_LIMBS = (exact.EXPONENT - 896) // 32  # the limbs of a sum below 2**-896
TINY_WEIGHTS = "all weights together are below 1e-269: products with them lose digits; multiply the weights by a number"


class ColumnStatistic(Statistic):
    """A statistic of two columns that are not numeric: no rows have to meet.

    A block is read once; its rows, or a selection of them, are added to any number of states.
    """

    __slots__ = ()

    @abstractmethod
    def empty(self) -> State: ...

    @abstractmethod
    def count_rows(self, rows: Any) -> Any:
        """Read the two columns of a block: an array with a row for each row, or an object with NumPy's indexing."""

    @abstractmethod
    def add(self, state: Any, counted: Any) -> None:
        """Add rows of `count_rows`."""


class GroupedStatistic(SummedStatistic):
    """A statistic of groups: the rows of a group have to meet. Its state has the named `fields`."""

    __slots__ = ()

    @property
    def needs_only_pairs(self) -> bool:
        """Of groups of one class, are their numbers and those of their rows enough?"""
        return False

    @property
    @abstractmethod
    def table(self) -> Any:
        """The class of the tables of groups that it reads. Statistics with the same one share a pass."""

    @property
    def measured(self) -> GroupedStatistic:
        """The statistic whose values tables have: another one than this if this one reads those."""
        return self

    @abstractmethod
    def update(self, state: Any, table: Any) -> None:
        """Add the groups of a table."""


class RangeExchangeStatistic(Statistic):
    """Base of the statistics of the range exchange: rows of neighboring scores have to meet, or all are read again."""

    __slots__ = ()


# ------------------------------------------------------------------------------------------------------------ abilities


class ByUnit(ABC):
    """Rows, or groups, are added to the states of many units in one call. Otherwise unit after unit is added."""

    __slots__ = ()

    @abstractmethod
    def update_units(self, states: StatesOfUnits, rows: Any, numbers: np.ndarray) -> None:
        """Add row i to the state numbers[i]. The numbers of groups ascend, and none is left out."""


MOST_INTEGERS_BY_UNIT = 1 << 13  # of a state, that tables of many states hold


def adds_by_unit(statistic: Any) -> bool:
    """Are rows added to its states in many units at once? Not if a table of such states would be large."""
    if not (isinstance(statistic, ByUnit) and isinstance(statistic, SummedStatistic)):
        return False
    fields = statistic.fields
    return fields.n_counts + fields.n_sums * exact.SIZE <= MOST_INTEGERS_BY_UNIT


class StatesOfUnits(Protocol):
    """The states (`Sums`) of one statistic in many units: counts, int64[units, n_counts], and exact sums.

    `exact` is int64[units, n_sums, SIZE]. A statistic either adds rows to it, normalized, or calls `add`.
    """

    counts: np.ndarray

    @property
    def exact(self) -> np.ndarray: ...

    def counts_of(self, name: str) -> np.ndarray:
        """The counts of a field of all units: a view."""
        ...

    def set_flag(self, name: str) -> None:
        """Make a count of all units 1."""

    def add_counts(self, name: str, numbers: np.ndarray) -> None:
        """Add numbers[i] to a count, or a wide count, of unit i."""

    def count(self, numbers: np.ndarray, cells: np.ndarray | None = None) -> None:
        """Count row i in the state numbers[i], in the count cells[i]; cells (uint16) are 0 if there are none."""

    def add(self, values: np.ndarray, numbers: np.ndarray, name: str, cells: np.ndarray | None = None) -> None:
        """Add values[i] to the state numbers[i], to the sum cells[i] of a field; cells (uint16) may be left out: 0."""

    def state(self, index: int) -> Sums:
        """One of the states. It shares the memory of `counts` and `exact`."""
        ...


class PerGroup(ABC):
    """A mean over groups that also knows the value of each group: quantiles over groups, wins, output by group."""

    __slots__ = ()

    @abstractmethod
    def group_values(self, table: Any) -> np.ndarray:
        """The value of every group of a table; NaN for a group that is left out of the mean."""

    def group_weights(self, table: Any) -> np.ndarray | None:
        """The weight of every group in the mean; None if all count the same."""
        return None

    @abstractmethod
    def values_statistic(self) -> GroupedStatistic:
        """The statistic that keeps these values, which quantiles need."""


class BySlices(ABC):
    """A statistic of ranges takes the slices of all grouping sets in one pass over rows without weights."""

    __slots__ = ()

    @abstractmethod
    def by_slices(self, sets: Sequence[Any]) -> Any:
        """The statistic of all slices of these sets at once."""


class Bounded(ABC):
    """A statistic of ranges has approximate states, from the rows of every bin of scores (`ScoreHistogram`)."""

    __slots__ = ()

    @abstractmethod
    def bounds(self, histogram: Any) -> tuple[Any, Any]:
        """Two states whose values enclose the exact value."""


class CountsBuckets(ABC):
    """A statistic of ranges has a faster path, without weights, that is taken if no other statistic needs runs."""

    __slots__ = ()

    @abstractmethod
    def bucket_counter(self, buckets: Any) -> Callable[[int], Any]:
        """A thread's function from a bucket to its state."""


class Positioned(ABC):
    """A statistic of ranges of rows that has to know what lies above a range: each range is first counted.

    Totals of ranges are added: they must be exact, so they are integers, arrays of integers, or have an addition of
    their own.

    Attributes
    ----------
    totals_weights : bool
        Is `total` about weights alone? It is not asked where rows have none.
    """

    __slots__ = ()
    totals_weights: ClassVar[bool] = False

    @abstractmethod
    def total_of_range(self, rows: Any) -> Any:
        """What the ranges below have to know of a range; None if they need nothing."""

    def holds(self, own: Any, above: Any, total: Any) -> bool:
        """Can a range with the total `own` change the state? If not, it is not reduced."""
        return True


class TakesTies(ABC):
    """A statistic of ranges of rows takes the rows of one value in parts, if there are too many for the memory."""

    __slots__ = ()

    @abstractmethod
    def merge_tie(self, one: Any, other: Any, allocate: Any) -> Any:
        """The state of two parts of the rows of one value, in any order; `allocate(shape, type)` makes large arrays."""


class Resamplable(ABC):
    """Counted rows that are no integers become integers, so that replicates count how often each occurs."""

    __slots__ = ()

    @abstractmethod
    def number_rows(self, state: Any, counted: Any) -> Any:
        """Rows as integers, int64[n, m], by the labels that a state knows.

        If a row of the log has several, the array and the row of the block to which each of its rows belongs.
        """

    @abstractmethod
    def from_cells(self, state: Any, rows: np.ndarray, counts: np.ndarray) -> Any:
        """The state of such rows, each of which occurs so many times."""

    @abstractmethod
    def recode_rows(self, state: Any, rows: np.ndarray, integers: tuple[np.ndarray | None, ...]) -> np.ndarray:
        """Such rows with integers[c][i] in place of the i-th text of codes c; None: labels stay as they are."""


class ClassTables(ABC):
    """A report shows the classes of all rows: a matrix of few, or a table of labels."""

    __slots__ = ()

    @abstractmethod
    def confusion_matrix(self, state: Any) -> tuple[Any, ...] | None: ...

    @abstractmethod
    def label_table(self, state: Any) -> tuple[Any, ...] | None: ...


class NotesLostWords(ABC):
    """A report notes how many rows have texts in which only another tokenizer finds words."""

    __slots__ = ()

    @abstractmethod
    def note_on_words(self, state: Any) -> str | None: ...


ABILITIES = (
    ByUnit, PerGroup, BySlices, Bounded, CountsBuckets, Positioned, TakesTies, Resamplable, ClassTables, NotesLostWords,
)  # fmt: skip
