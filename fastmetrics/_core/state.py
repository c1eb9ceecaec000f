"""States: what a statistic keeps of the rows it has seen. States of partitions merge to the state of all rows.

A state of constant size is `Sums`: integers and exact sums with names. The types of its fields say how they merge, what
their bytes are and what a file may have in them. A state that grows with the rows (a table of keys, values of groups)
has a class of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import repeat
from typing import Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.exact import DoubleDoubles
from fastmetrics._core.named_tuples import NamedTuple

HALF_BITS = 32  # of a wide count: the high and the low half are counts of their own
LOW_HALF = (1 << HALF_BITS) - 1
ArrayType = tuple[Any, ...]  # the type of an array, and its shape (None: any length)


class FieldType(Enum):
    """What a field is, which says how it merges.

    A count and a wide count are added: one int64, or two that have the halves of a number of up to 95 bits. A maximum
    is a float64 of at least 0, stored as its bits, which as integers have the same order. An exact sum is added limb by
    limb.
    """

    COUNT = 1
    WIDE_COUNT = 2
    MAXIMUM = 3
    EXACT_SUM = 4


class Field(NamedTuple):
    """A named number of a state, or with a length an array of such numbers."""

    name: str
    type: FieldType = FieldType.COUNT
    length: int | None = None

    @property
    def size(self) -> int:
        """The number of places that it takes."""
        return (1 if self.length is None else self.length) * (2 if self.type is FieldType.WIDE_COUNT else 1)


def wide_count(name: str) -> Field:
    return Field(name, FieldType.WIDE_COUNT)


def maximum(name: str) -> Field:
    return Field(name, FieldType.MAXIMUM)


def exact_sum(name: str, length: int | None = None) -> Field:
    return Field(name, FieldType.EXACT_SUM, length)


class Fields:
    """The fields of a state, and the place of each in its arrays: one has counts and maxima, the other exact sums."""

    __slots__ = ("by_name", "fields", "maxima", "n_counts", "n_sums", "places", "spans", "summed", "wide")

    def __init__(self, *fields: Field | str) -> None:
        """A text is the name of a count."""
        self.fields = tuple(Field(own) if isinstance(own, str) else own for own in fields)
        self.by_name = {own.name: own for own in self.fields}
        self.places: dict[str, int] = {}  # the first place of each
        self.spans: dict[str, slice] = {}
        sizes = [0, 0]
        for own in self.fields:
            is_sum = own.type is FieldType.EXACT_SUM
            place = self.places[own.name] = sizes[is_sum]
            sizes[is_sum] += own.size
            self.spans[own.name] = slice(place, sizes[is_sum])
        self.n_counts, self.n_sums = sizes
        self.maxima = [self.places[own.name] for own in self.fields if own.type is FieldType.MAXIMUM]
        self.wide = {own.name for own in self.fields if own.type is FieldType.WIDE_COUNT}
        self.summed = {own.name for own in self.fields if own.type is FieldType.EXACT_SUM}

    def __reduce__(self) -> tuple[Any, ...]:
        return Fields, self.fields


class State(ABC):
    """What a statistic keeps of some rows.

    A state that grows with the rows reserves its memory from a budget, and spills what does not fit.
    """

    __slots__ = ()

    @property
    def n_bytes(self) -> int:
        """The memory of a state that grows with the rows."""
        return 0

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if the state knows it."""
        return None

    @abstractmethod
    def merge(self, other: Any) -> None:
        """Add a state of other rows."""

    @abstractmethod
    def arrays(self) -> tuple[np.ndarray, ...]:
        """What is stored of it."""

    @abstractmethod
    def layout(self) -> tuple[ArrayType, ...]:
        """The types and shapes of `arrays`."""

    @abstractmethod
    def load_arrays(self, *arrays: np.ndarray) -> None:
        """Fill an empty state with `arrays` of `layout`, perhaps from an untrusted file.

        ValueError for numbers that no state can have.
        """

    def limit_memory(self, budget: Any) -> None:  # noqa: B027 - a state of constant size has nothing to do
        """Reserve the memory from a budget; called before the first row."""

    def check_merge(self, other: Any) -> None:  # noqa: B027 - a state of constant size always can
        """Raise the error that a merge would raise, as far as it is known before; nothing changes."""

    def close(self) -> None:  # noqa: B027 - a state of constant size has nothing to do
        """Free memory and files of a state that is not used any more."""


class Sums(State):
    """The state of most statistics: named counts (int64), maxima and exact sums (superaccumulator states)."""

    __slots__ = ("counts", "exact", "fields")

    def __init__(self, fields: Fields) -> None:
        self.fields = fields
        self.counts = np.zeros(fields.n_counts, np.int64)
        self.exact = exact.new_states(fields.n_sums)

    def __reduce__(self) -> tuple[Any, ...]:
        """Only the limbs that are not zero are pickled: they are few."""
        used = np.flatnonzero(self.exact)
        return restore_sums, (self.fields, self.counts, used.astype(np.int32), self.exact.reshape(-1)[used])

    def with_memory(self, counts: np.ndarray, sums: np.ndarray) -> Sums:
        """A state of the same fields that has these arrays; it shares their memory."""
        state = Sums.__new__(Sums)  # intervals make many
        state.fields, state.counts, state.exact = self.fields, counts, sums
        return state

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if it is a count; a metric of somebody else's may have a sum of this name."""
        field = self.fields.by_name.get("rows")
        is_count = field is not None and field.type is FieldType.COUNT
        return int(self.counts_of("rows").sum()) if is_count else None

    def copy(self) -> Sums:
        """A state that changes apart from this one."""
        return self.with_memory(self.counts.copy(), self.exact.copy())

    def merge(self, other: Sums) -> None:
        maxima = self.fields.maxima
        greatest = np.maximum(self.counts[maxima], other.counts[maxima]) if maxima else None
        self.counts += other.counts
        if greatest is not None:
            self.counts[maxima] = greatest
        exact.merge_states(self.exact, other.exact)

    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.counts, self.exact

    def layout(self) -> tuple[ArrayType, ...]:
        return (np.int64, *self.counts.shape), (np.int64, *self.exact.shape)

    def load_arrays(self, *arrays: np.ndarray) -> None:
        counts, sums = arrays
        if (counts < 0).any():
            raise ValueError("a count is negative")
        if np.isnan(counts[self.fields.maxima].view(np.float64)).any():
            raise ValueError("a maximum is not a number of at least 0")
        self.merge(self.with_memory(counts, sums))

    def count(self, name: str) -> int:
        """A count, or a wide count."""
        place = self.fields.places[name]
        if name in self.fields.wide:
            return (self.counts.item(place) << HALF_BITS) + self.counts.item(place + 1)
        return self.counts.item(place)

    def add_count(self, name: str, number: int) -> None:
        """Add to a count, or to a wide count."""
        place = self.fields.places[name]
        if name in self.fields.wide:
            self.counts[place] += number >> HALF_BITS
            self.counts[place + 1] += number & LOW_HALF
        else:
            self.counts[place] += number

    def set_flag(self, name: str) -> None:
        """Make a count 1: it says whether something is there. Merged states may have more than 1."""
        self.counts[self.fields.places[name]] = 1

    def is_set(self, name: str) -> bool:
        """Is a count not 0?"""
        return bool(self.counts.item(self.fields.places[name]))

    def counts_of(self, name: str) -> np.ndarray:
        """The counts of a field: a view."""
        return self.counts[self.fields.spans[name]]

    def sums_of(self, name: str) -> np.ndarray:
        """The exact sums of a field: a view."""
        return self.exact[self.fields.spans[name]]

    def sum_of(self, name: str) -> np.ndarray:
        """The limbs of an exact sum: a view."""
        limbs: np.ndarray = self.exact[self.fields.places[name]]
        return limbs

    def integer(self, name: str, index: int = 0) -> int:
        """An exact sum times 2**EXPONENT, or one of an array. The ratio of two such integers needs no scale."""
        return exact.to_integer(self.exact[self.fields.places[name] + index])

    def number(self, name: str) -> int:
        """A count, or an exact sum, times 2**EXPONENT: of numbers with one unit."""
        return self.integer(name) if name in self.fields.summed else self.count(name) << exact.EXPONENT

    def __getitem__(self, name: str) -> int:
        """A count, or an exact sum times 2**EXPONENT."""
        return self.integer(name) if name in self.fields.summed else self.count(name)

    def is_finite(self, name: str) -> bool:
        """Were all numbers of an exact sum finite?"""
        return exact.is_finite(self.exact[self.fields.places[name]])

    def add_maximum(self, name: str, number: float) -> None:
        place = self.fields.places[name]
        self.counts[place] = max(self.counts[place], np.float64(number).view(np.int64))

    def maximum(self, name: str) -> float:
        return float(self.counts[self.fields.places[name]].view(np.float64))


def restore_sums(fields: Fields, counts: np.ndarray, used: np.ndarray, values: np.ndarray) -> Sums:
    """Unpickle sums."""
    state = Sums(fields)
    state.counts = counts
    state.exact.reshape(-1)[used] = values
    return state


def segment_starts(numbers: np.ndarray) -> np.ndarray:
    """Where the rows of each unit begin, and their number. Units ascend, and every one has rows."""
    changes = np.flatnonzero(numbers[1:] != numbers[:-1]) + 1
    return np.concatenate(([0], changes, [numbers.shape[0]]))


class KnownSums(Sums):
    """A state that is only read.

    What `count`, `integer` and `is_finite` return was found together with that of other states, which takes less time.
    """

    __slots__ = ("known_counts", "known_finite", "known_integers")
    known_counts: list[int]
    known_integers: Sequence[int]
    known_finite: list[bool]

    @staticmethod
    def of_states(fields: Fields, counts: np.ndarray, sums: np.ndarray) -> Iterator[KnownSums]:
        """The states with these counts (state, count) and normalized sums (state, sum, limb): views of both."""
        columns = [exact.to_integers(sums[:, number]) for number in range(sums.shape[1])]
        integers = zip(*columns, strict=True) if columns else repeat((), counts.shape[0])
        finite: list[list[bool]] = np.logical_not(sums[:, :, exact.LIMBS :].any(axis=2)).tolist()
        known = zip(counts, sums, counts.tolist(), integers, finite, strict=True)
        for own_counts, own_sums, known_counts, known_integers, known_finite in known:
            state = KnownSums.__new__(KnownSums)
            state.fields, state.counts, state.exact = fields, own_counts, own_sums
            state.known_counts, state.known_integers, state.known_finite = known_counts, known_integers, known_finite
            yield state

    def count(self, name: str) -> int:
        place = self.fields.places[name]
        if name in self.fields.wide:
            return (self.known_counts[place] << HALF_BITS) + self.known_counts[place + 1]
        return self.known_counts[place]

    def integer(self, name: str, index: int = 0) -> int:
        return self.known_integers[self.fields.places[name] + index]

    def is_finite(self, name: str) -> bool:
        return self.known_finite[self.fields.places[name]]


class ManySums:
    """Many states of one statistic side by side: counts (state, count) and normalized sums (state, sum, limb).

    ``states.counts_of(name)`` is an array with a row for each state, ``states.number(name)`` the numbers of a count or
    an exact sum, whose ratio is rounded once.
    """

    __slots__ = ("counts", "exact", "fields")

    def __init__(self, fields: Fields, counts: np.ndarray, exact_sums: np.ndarray) -> None:
        self.fields = fields
        self.counts = counts
        self.exact = exact_sums

    def counts_of(self, name: str) -> np.ndarray:
        """A count, or the counts of a field, of every state: a view."""
        is_array = self.fields.by_name[name].length is not None
        return self.counts[:, self.fields.spans[name] if is_array else self.fields.places[name]]

    def is_set(self, name: str) -> bool:
        """Is the count of a state not 0? As `Sums.is_set`, of states of the same rows."""
        return bool(self.counts_of(name).any())

    def number(self, name: str, index: int = 0) -> DoubleDoubles:
        """A count, or an exact sum, of every state, as `Sums.number` of one; of arrays the number at an index."""
        place = self.fields.places[name]
        if name in self.fields.summed:
            return self.sum_at(place + index)
        if name in self.fields.wide:
            high, low = (DoubleDoubles.of_counts(self.counts[:, place + half]) for half in range(2))
            return high * (1 << HALF_BITS) + low
        return DoubleDoubles.of_counts(self.counts[:, place + index])

    def sum_at(self, place: int) -> DoubleDoubles:
        return DoubleDoubles.of_states(self.exact, place)


class ManySparseSums(ManySums):
    """Many states whose sums have few limbs in use: `limbs`, int64[state, column], those numbered `columns`.

    Limbs are numbered through all sums of a state, in ascending order. The sums need not be normalized.
    """

    __slots__ = ("columns", "limbs")

    def __init__(self, fields: Fields, counts: np.ndarray, columns: np.ndarray, limbs: np.ndarray) -> None:
        super().__init__(fields, counts, np.empty(0))
        self.columns = columns
        self.limbs = limbs

    def dense(self) -> ManySums:
        """The same states with normalized sums."""
        states = exact.new_states(self.limbs.shape[0], self.fields.n_sums)
        states.reshape(states.shape[0], -1)[:, self.columns] = self.limbs
        exact.normalize_states(states)
        return ManySums(self.fields, self.counts, states)

    def sum_at(self, place: int) -> DoubleDoubles:
        start, stop = np.searchsorted(self.columns, (place * exact.SIZE, (place + 1) * exact.SIZE))
        numbers = self.columns[start:stop] - place * exact.SIZE
        if numbers.shape[0] == 0:
            return DoubleDoubles.of_counts(np.zeros(self.limbs.shape[0], np.int64))
        return DoubleDoubles.of_limbs(numbers, self.limbs[:, start:stop])


def restore_state(state_type: type[Any], *arrays: np.ndarray) -> Any:
    """Unpickle a state from its arrays."""
    state = state_type()
    state.load_arrays(*arrays)
    return state


def check_state(is_valid: Any, message: str) -> None:
    """Raise a ValueError that says what is wrong with a stored state, unless it is valid."""
    if not is_valid:
        raise ValueError(message)


def check_offsets(offsets: np.ndarray, data: np.ndarray, of: str = "texts") -> None:
    """Check the offsets of stored texts."""
    in_order = (offsets[1:] >= offsets[:-1]).all() and offsets[0] == 0 and offsets[-1] == data.shape[0]
    check_state(in_order, f"the offsets of {of} do not match their bytes")
