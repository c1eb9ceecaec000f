"""Grouping sets: several ways to divide the same rows into slices, in one pass over the log.

A row belongs to one slice of every set. Stored rows have a code (uint16) for the value of each column, and no number of
a slice: the numbers of one set are made of the codes when its rows are resolved. Outside a scan, a slice is identified
by the number of its set and its values.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from threading import Lock
from typing import Any

import numpy as np

from fastmetrics._kernels.exchange import slice_rows
from fastmetrics.engine.input.set_covers import MOST_COMBINATIONS, Cover, choose_covers
from fastmetrics.engine.input.slices import (
    MAX_SLICES,
    MAX_TABLE_SIZE,
    OF_GROUPS,
    SliceNumbers,
    SliceValues,
    encode_column,
    format_slice,
)

MAX_SET_TABLE = 1 << 20  # combinations of codes up to which a set has a table of its numbers
FIRST_CODES = 4
COVERED_ROWS = 1 << 14  # of a block that is worth covers
MOST_MEMBERS = 4 * MOST_COMBINATIONS  # of a cover whose columns got more values than they had at first

Codes = Sequence[np.ndarray]


class RowCodes(tuple[np.ndarray, ...]):
    """The codes of every row, column by column; `in_covers` has the covers, and the combination of every row there."""

    in_covers: list[tuple[Cover, np.ndarray]]


class ColumnCodes:
    """The values of a column that have occurred so far, with a code for each."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.codes: dict[Any, int] = {}
        self.values: list[Any] = []

    def code(self, value: Any) -> int:
        """The code of a value; a new value is registered."""
        code = self.codes.get(value)
        if code is None:
            code = self.codes[value] = len(self.values)
            self.values.append(value)
        return code

    def truncate(self, n_values: int) -> None:
        """Forget all values but the first."""
        for value in self.values[n_values:]:
            del self.codes[value]
        del self.values[n_values:]


class GroupingSet:
    """The slices of one set by local numbers, which follow each other.

    Attributes
    ----------
    positions : tuple of int
        The columns of the set.
    members : list of tuple
        The codes of every slice.
    numbers : list of int
        The number of every slice among those of all sets.
    """

    def __init__(self, positions: tuple[int, ...]) -> None:
        self.positions = positions
        self.members: list[tuple[int, ...]] = []
        self.local: dict[tuple[int, ...], int] = {}
        self.numbers: list[int] = []
        self.sizes: tuple[int, ...] = (0,) * len(positions)
        self.table: np.ndarray | None = np.empty((0,) * len(positions), np.int32)

    def __len__(self) -> int:
        return len(self.members)

    def fit(self, sizes: tuple[int, ...]) -> None:
        """Make the table large enough for so many codes of every column, or do without if it would be too large."""
        if self.table is None or all(own >= size for own, size in zip(self.sizes, sizes, strict=True)):
            return
        grown = tuple(
            own if own >= size else max(FIRST_CODES, 2 * size) for own, size in zip(self.sizes, sizes, strict=True)
        )
        if np.prod(grown, dtype=np.float64) > MAX_SET_TABLE:
            self.table = None
            return
        table = np.full(grown, -1, np.int32)
        table[tuple(slice(size) for size in self.sizes)] = self.table
        # Threads that look up numbers read the table once: it has its sizes in its shape.
        self.table, self.sizes = table, grown

    def add(self, codes: tuple[int, ...], number: int) -> int:
        """Register a slice; return its local number."""
        local = self.local[codes] = len(self.members)
        self.members.append(codes)
        self.numbers.append(number)
        if self.table is not None:
            self.table[codes] = local
        return local

    def truncate(self, n_slices: int) -> None:
        for codes in self.members[n_slices:]:
            del self.local[codes]
            if self.table is not None:
                self.table[codes] = -1
        del self.members[n_slices:]
        del self.numbers[n_slices:]

    def global_numbers(self) -> np.ndarray:
        """The number of every slice among those of all sets."""
        return np.array(self.numbers, np.int64)


class GroupingSets(SliceNumbers):
    """The slices of several sets. Each set has at most MAX_SLICES."""

    def __init__(self, names: tuple[str, ...], sets: Sequence[tuple[str, ...]]) -> None:
        super().__init__(names)
        self.set_names = list(sets)
        self.columns = [ColumnCodes(name) for name in names]
        self.sets = [GroupingSet(tuple(names.index(name) for name in own)) for own in sets]
        self.covers: list[tuple[Cover, GroupingSet]] | None = None
        self.lock = Lock()

    def in_order(self) -> list[tuple[int | None, dict[str, Any]]]:
        """Number and values of all rows (None), then of the slices, set by set, in the order of the values."""
        in_order = sorted(self.numbers, key=self.order_of_slice)
        named = [
            (self.numbers[values], dict(zip(self.set_names[values[0]], values[1:], strict=True))) for values in in_order
        ]
        return [(None, {}), *named]

    def order_of_slice(self, values: SliceValues) -> Any:
        return values[0], self.order(self.set_names[values[0]], values[1:])

    def mark(self) -> Any:
        """What `restore` needs to forget all slices that occur from now on."""
        return len(self.numbers), [len(own) for own in self.sets], [len(own.values) for own in self.columns]

    def restore(self, mark: Any) -> None:
        n_slices, n_members, n_values = mark
        self.truncate(n_slices)
        for own, size in zip(self.sets, n_members, strict=True):
            own.truncate(size)
        for column, size in zip(self.columns, n_values, strict=True):
            column.truncate(size)
        self.covers = None

    def set_of_slices(self) -> np.ndarray:
        """The number of the set of every slice."""
        return np.array([values[0] for values in self.numbers], np.int64)

    def number_slices(self, slices: list[SliceValues]) -> np.ndarray:
        """The numbers of slices given by the number of their set and their values. New slices are registered."""
        found = []
        with self.lock:
            for values in slices:
                own = self.sets[values[0]]
                pairs = zip(own.positions, values[1:], strict=True)
                codes = tuple(self.columns[position].code(value) for position, value in pairs)
                found.append(self.register(values[0], codes))
        self.check_sizes()
        return np.array(found, np.int64)

    def renumber_codes(self, values: Sequence[Sequence[Any]], codes: Codes) -> list[np.ndarray]:
        """The codes that rows have here, whose code i of a column is `values[column][i]` elsewhere.

        The slices of the rows are registered.
        """
        renumbered = []
        for own, of_column, column in zip(self.columns, values, codes, strict=True):
            table = np.array([own.code(value) for value in of_column], np.int64)
            if len(own.values) > MAX_SLICES:
                raise ValueError(
                    f"by={self.sets_in_words()} has more than {MAX_SLICES:,} values of {own.name!r} together"
                )
            renumbered.append(table.astype(np.uint16)[column])
        for set_number in range(len(self.sets)):
            self.number_set(set_number, renumbered)
        self.check_sizes()
        return renumbered

    def check_sizes(self) -> None:
        """Check that no set has more slices than it may have."""
        for own in self.sets:
            if len(own) > MAX_SLICES:
                raise ValueError(f"by={self.sets_in_words()} makes more than {MAX_SLICES:,} slices of one set together")

    def register(self, set_number: int, codes: tuple[int, ...]) -> int:
        """The number of a slice; a new one is registered. The caller holds the lock."""
        own = self.sets[set_number]
        local = own.local.get(codes)
        if local is None:
            own.fit(tuple(len(self.columns[position].values) for position in own.positions))
            values = (set_number, *self.values_of(own, codes))
            number = self.numbers[values] = len(self.numbers)
            local = own.add(codes, number)
        return own.numbers[local]

    def values_of(self, own: GroupingSet, codes: tuple[int, ...]) -> SliceValues:
        pairs = zip(own.positions, codes, strict=True)
        return tuple(self.columns[position].values[code] for position, code in pairs)

    def encode_rows(self, columns: list[Any], locate: Callable[[int], int]) -> RowCodes:
        """The codes of every row, of every column (pyarrow arrays); the slices of the rows are registered."""
        codes = RowCodes(
            self.encode_values(own, column, locate) for own, column in zip(self.columns, columns, strict=True)
        )
        codes.in_covers = [
            (cover, self.number_cover(cover, own, codes, locate)) for cover, own in self.covers_of(codes[0].shape[0])
        ]
        covered = {number for cover, _ in codes.in_covers for number in cover.sets}
        for set_number in range(len(self.sets)):
            if set_number not in covered:
                self.number_set(set_number, codes, locate)
        return codes

    def number_covers(self, codes: Codes) -> list[tuple[Cover, np.ndarray]]:
        """The covers for a block of rows, and the combination of every row in each."""
        if isinstance(codes, RowCodes):
            return codes.in_covers
        return [(cover, self.number_cover(cover, own, codes)) for cover, own in self.covers_of(codes[0].shape[0])]

    def covers_of(self, rows: int) -> list[tuple[Cover, GroupingSet]]:
        """The covers for a block of rows; none for few rows, or if the columns have too many values by now."""
        if rows < COVERED_ROWS:
            return []
        if self.covers is None:
            sizes = [len(own.values) for own in self.columns]
            chosen = choose_covers([own.positions for own in self.sets], sizes)
            self.covers = [(cover, GroupingSet(cover.positions)) for cover in chosen]
        return [(cover, own) for cover, own in self.covers if len(own) <= MOST_MEMBERS]

    def number_cover(
        self, cover: Cover, own: GroupingSet, codes: Codes, locate: Callable[[int], int] | None = None
    ) -> np.ndarray:
        """The combination of every row in a cover. The slices of new ones are registered, with `locate`."""
        columns = [codes[position] for position in own.positions]
        table = own.table
        numbers = np.empty(columns[0].shape[0], np.uint16)
        n_missing = numbers.shape[0]
        if table is None:
            numbers.fill(slice_rows.MISSING)
        else:
            n_missing = look_up(table, columns, numbers)
        if n_missing:
            missing = np.flatnonzero(numbers == slice_rows.MISSING)
            first_rows, local = find_combinations([column[missing] for column in columns])
            order = np.argsort(first_rows)  # the first row that is too many is that of the log
            rows = missing[first_rows[order]]
            found = np.empty(first_rows.shape[0], np.int64)
            found[order] = self.register_members(cover, own, [column[rows] for column in codes], rows, locate)
            numbers[missing] = found[local]
        return numbers

    def register_members(
        self, cover: Cover, own: GroupingSet, codes: Codes, rows: np.ndarray, locate: Callable[[int], int] | None
    ) -> list[int]:
        """The numbers of combinations in a cover; new ones are registered, with their slices. `rows` have them."""
        slices = {}
        for set_number in cover.sets:
            local = self.number_set(set_number, codes, None if locate is None else lambda row: locate(int(rows[row])))
            slices[set_number] = self.sets[set_number].global_numbers()[local].tolist()
        with self.lock:
            own.fit(tuple(len(self.columns[position].values) for position in own.positions))
            found = []
            of_columns = zip(*(codes[position].tolist() for position in own.positions), strict=True)
            for row, members in enumerate(of_columns):
                number = own.local.get(members)
                if number is None:
                    for set_number, of_rows in slices.items():
                        cover.numbers[set_number].append(of_rows[row])
                    # Last: whoever finds the combination finds its slices too.
                    number = own.add(members, 0)
                found.append(number)
        return found

    def encode_values(self, own: ColumnCodes, column: Any, locate: Callable[[int], int]) -> np.ndarray:
        """The codes of a column's values."""
        local, values = encode_column(column, own.name, own.name in self.numerals)
        # A dictionary may have values that no row has: they get no code, unless rows had them before.
        known = [own.codes.get(value, MAX_SLICES) for value in values] if len(values) <= MAX_SLICES else []
        if known and max(known) < MAX_SLICES:
            return np.array(known, np.uint16).take(local)
        if len(values) <= MAX_TABLE_SIZE:
            present = np.flatnonzero(np.bincount(local, minlength=len(values)))
        else:
            present = np.unique(local)
        table = np.zeros(len(values), np.int64)
        with self.lock:
            table[present] = [own.code(values[number]) for number in present.tolist()]
        if int(table.max(initial=0)) >= MAX_SLICES:
            row = int(np.argmax(table[local] >= MAX_SLICES))
            self.raise_surplus((own.name,), (own.values[int(table[local[row]])],), locate(row))
        return table.astype(np.uint16).take(local)

    def number_set(
        self, set_number: int, codes: Codes, locate: Callable[[int], int] | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """The local number of every row's slice in a set (uint16). New slices are registered, with `locate`."""
        own = self.sets[set_number]
        return self.number_columns(set_number, [codes[position] for position in own.positions], locate, out)

    def number_columns(
        self,
        set_number: int,
        columns: Sequence[np.ndarray],
        locate: Callable[[int], int] | None = None,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """As `number_set`, with the codes of the set's columns alone."""
        out = np.empty(columns[0].shape[0], np.uint16) if out is None else out
        table = self.sets[set_number].table
        if table is None:
            out[:] = self.number_by_order(set_number, list(columns), locate)
            return out
        if look_up(table, columns, out):
            missing = np.flatnonzero(out == slice_rows.MISSING)
            of_missing = [column[missing] for column in columns]
            out[missing] = self.number_by_order(set_number, of_missing, locate, missing)
        return out

    def number_by_order(
        self,
        set_number: int,
        columns: list[np.ndarray],
        locate: Callable[[int], int] | None,
        rows: np.ndarray | None = None,
    ) -> np.ndarray:
        """The local numbers of rows, by sorting their codes; `rows` are their places in the batch."""
        own = self.sets[set_number]
        first_rows, local = find_combinations(columns)
        by_combination = np.empty(first_rows.shape[0], np.int64)
        with self.lock:
            for number in np.argsort(first_rows).tolist():
                row = int(first_rows[number])
                members = tuple(int(column[row]) for column in columns)
                self.register(set_number, members)
                by_combination[number] = own.local[members]
                if by_combination[number] >= MAX_SLICES and locate is not None:
                    place = row if rows is None else int(rows[row])
                    names, values = self.set_names[set_number], self.values_of(own, members)
                    self.raise_surplus(names, values, locate(place))
        numbers: np.ndarray = by_combination[local]
        return numbers

    def raise_surplus(self, names: tuple[str, ...], values: SliceValues, row: int) -> None:
        advice = "put the numbers into bins first" if any(isinstance(value, float) for value in values) else OF_GROUPS
        raise ValueError(
            f"by={self.sets_in_words()} makes more than {MAX_SLICES:,} slices of {list(names)!r}; the one at row {row} "
            f"({format_slice(names, values)}) is one too many. Slices are for a few values; {advice}"
        )

    def sets_in_words(self) -> str:
        return repr([list(own) for own in self.set_names])

    def number_all(self, codes: Codes, left_out: Container[int] = ()) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The slice of every row in every set, and the numbers of the slices among those of all sets.

        Some sets may be left out.
        """
        for set_number, own in enumerate(self.sets):
            if set_number not in left_out:
                yield self.number_set(set_number, codes), own.global_numbers()

    # ------------------------------------------------------------------------------------------------ finer sets

    def base_sets(self) -> list[int]:
        """The sets that are in no other set. Additive states are kept of their slices, and added up to the others."""
        columns = [set(own.positions) for own in self.sets]
        return [number for number, own in enumerate(columns) if not any(own < other for other in columns)]

    def coarser_slices(self) -> list[np.ndarray]:
        """For every set that is in another: the slice that each slice has there, -1 for slices of other sets.

        A set is added up from the one with the fewest slices among the base sets that it is in.
        """
        bases = self.base_sets()
        found = []
        for set_number, own in enumerate(self.sets):
            if set_number in bases:
                continue
            finer = [self.sets[base] for base in bases if set(own.positions) < set(self.sets[base].positions)]
            source = min(finer, key=len)
            kept = [source.positions.index(position) for position in own.positions]
            coarser = np.full(len(self.numbers), -1, np.int64)
            for codes, number in zip(source.members, source.numbers, strict=True):
                coarser[number] = own.numbers[own.local[tuple(codes[place] for place in kept)]]
            found.append(coarser)
        return found


def find_combinations(columns: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The first row of every combination of codes, and which of them each row has."""
    combined = columns[0].astype(np.uint64)
    for number, column in enumerate(columns[1:], 1):
        if number % 3 == 0:  # 64 bits have four codes
            combined = np.unique(combined, return_inverse=True)[1].astype(np.uint64)
        combined = combined * np.uint64(1 << 16) + column
    _, first_rows, local = np.unique(combined, return_index=True, return_inverse=True)
    return first_rows, local


def look_up(table: np.ndarray, columns: Sequence[np.ndarray], out: np.ndarray) -> int:
    """Write the numbers in a table at the codes of every row, MISSING where there is none; return how many are."""
    if not table.size:
        out.fill(slice_rows.MISSING)
        return int(out.shape[0])
    return slice_rows.look_up(table.reshape(-1), table.shape, list(columns), out)


def make_slice_numbers(names: tuple[str, ...], sets: tuple[tuple[str, ...], ...]) -> SliceNumbers:
    """The slices of some columns: of every combination of their values, or of grouping sets."""
    return GroupingSets(names, sets) if sets else SliceNumbers(names)
