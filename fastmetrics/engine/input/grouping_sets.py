"""Slices of a log: grouping sets, the ways to divide the same rows into slices, in one pass over the log.

A list of columns is one set; without columns there is no set. A row belongs to one slice of every set: a combination of
values of the set's columns, which gets a number when it first occurs. The numbers depend on the order of rows. Results
do not: outside a scan, a slice is identified by the number of its set and its values.

Stored rows have codes (uint16) for the values of their columns, and no number of a slice: the numbers of one set are
made of the codes when its rows are resolved. Columns that are in the same sets have one code together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from operator import lt
from threading import Lock
from typing import Any

import numpy as np

from fastmetrics._core.grouping import grouped
from fastmetrics._kernels.exchange import slice_rows
from fastmetrics.engine.input.set_covers import MOST_COMBINATIONS, Cover, choose_covers
from fastmetrics.engine.input.slice_values import (
    CodedColumns,
    SliceValues,
    encode_column,
    format_slice,
    order_of_values,
)
from fastmetrics.engine.plan.slice_bins import SliceBins

MAX_SLICES = 10_000  # of a set: every slice has states of its own, and at least one range of scores
MAX_TABLE_SIZE = 1 << 16  # combinations of values up to which a batch is coded with a table, without sorting
MAX_SET_TABLE = 1 << 20  # combinations of codes up to which a set has a table of its numbers
MAX_TABLE_COLUMNS = 20  # columns up to which it may have one
FIRST_CODES = 4
COVERED_ROWS = 1 << 14  # of a block that is worth covers
ROWS_OF_SLICE = 1 << 13  # from which on, on average, a cover of one set is not worth it
MOST_MEMBERS = 4 * MOST_COMBINATIONS  # of a cover whose columns got more values than they had at first
OF_GROUPS = "values inside users or items are what group=... is for"

Codes = Sequence[np.ndarray]


class RowCodes(tuple[np.ndarray, ...]):
    """The codes of every row, by columns.

    Attributes
    ----------
    in_covers : list of (Cover, ndarray)
        The covers, and the combination of every row in each.
    in_sets : dict
        The local number of every row's slice, in the sets that no cover has.
    """

    in_covers: list[tuple[Cover, np.ndarray]]
    in_sets: dict[int, np.ndarray]


class GroupingSet:
    """The slices of one set by local numbers, which follow each other.

    Attributes
    ----------
    positions : tuple of int
        The coded columns of the set.
    places : tuple of int
        Where each column of the set is among those that are coded.
    members : list of tuple
        The codes of every slice.
    numbers : list of int
        The number of every slice among those of all sets.
    are_codes : bool
        The local numbers are the codes of the only coded column, so far.
    """

    def __init__(self, positions: tuple[int, ...], places: tuple[int, ...] = ()) -> None:
        self.positions = positions
        self.places = places
        self.members: list[tuple[int, ...]] = []
        self.local: dict[tuple[int, ...], int] = {}
        self.numbers: list[int] = []
        self.are_codes = len(positions) == 1
        self.has_table = len(positions) <= MAX_TABLE_COLUMNS  # may it have one?
        self.table: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.members)

    def sizes(self, columns: Sequence[CodedColumns]) -> tuple[int, ...]:
        """How many codes the set's columns have, of all columns."""
        return tuple(len(columns[position].values) for position in self.positions)

    def fit(self, codes: tuple[int, ...], columns: Sequence[CodedColumns]) -> None:
        """Make a table that has a place for `codes` if one is needed, or do without if it would be too large."""
        table = self.table
        if not self.has_table or (self.are_codes and codes == (len(self),)):
            return
        own = (0,) * len(codes) if table is None else table.shape
        if all(map(lt, codes, own)):
            return
        sizes = self.sizes(columns)
        grown = tuple(old if old >= size else max(FIRST_CODES, 2 * size) for old, size in zip(own, sizes, strict=True))
        if prod(grown) > MAX_SET_TABLE:
            grown = tuple(map(max, own, sizes))
        self.has_table = prod(grown) <= MAX_SET_TABLE
        table = np.full(grown, -1, np.int32) if self.has_table else None
        if table is not None and self.members:
            table[tuple(zip(*self.members, strict=True))] = np.arange(len(self))
        # Threads that look up numbers read the table once.
        self.table = table

    def add(self, codes: tuple[int, ...], number: int) -> int:
        """Register a slice; return its local number."""
        local = self.local[codes] = len(self.members)
        # Members come last: threads that look up numbers may read while one is added.
        self.are_codes &= codes == (local,)
        self.numbers.append(number)
        self.members.append(codes)
        if self.table is not None:
            self.table[codes] = local
        return local

    def look_up(self, columns: Sequence[np.ndarray], out: np.ndarray) -> int:
        """Write the local number of every row, MISSING where there is none yet; return how many are."""
        n_members = len(self)
        if self.are_codes and columns[0].max(initial=0) < n_members:
            out[:] = columns[0]
            return 0
        table = self.table
        if table is None:
            out.fill(slice_rows.MISSING)
            return int(out.shape[0])
        return slice_rows.look_up(table.reshape(-1), table.shape, list(columns), out)

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


class GroupingSets:
    """The slices that have occurred so far, of all sets. Each set has at most MAX_SLICES.

    Several threads may number batches.
    """

    def __init__(self, names: tuple[str, ...], sets: Sequence[tuple[str, ...]]) -> None:
        self.names = names
        self.set_names = list(sets)
        in_sets = grouped((tuple(name in own for own in sets), name) for name in names)
        self.columns = [CodedColumns(tuple(together)) for together in in_sets.values()]
        self.sets = []
        for names_of_set in sets:
            positions = [number for number, own in enumerate(self.columns) if own.names[0] in names_of_set]
            coded = [name for position in positions for name in self.columns[position].names]
            self.sets.append(GroupingSet(tuple(positions), tuple(map(coded.index, names_of_set))))
        self.numbers: dict[SliceValues, int] = {}
        self.places: dict[str, dict[Any, int]] = {}
        self.numerals: frozenset[str] = frozenset()  # the columns in which texts write numbers
        self.covers: list[tuple[Cover, GroupingSet]] | None = None
        self.lock = Lock()

    def __len__(self) -> int:
        return len(self.numbers)

    def values(self) -> list[SliceValues]:
        """The set and the values of every slice, by number."""
        return list(self.numbers)

    def in_order(self) -> list[tuple[int | None, dict[str, Any]]]:
        """Number and values of all rows (None), then of the slices, set by set, in the order of the values."""
        named = [
            (self.numbers[values], dict(zip(self.set_names[values[0]], values[1:], strict=True)))
            for values in sorted(self.numbers, key=self.order)
        ]
        return [(None, {}), *named]

    def order_bins(self, bins: Sequence[SliceBins]) -> None:
        """Let slices of intervals be in the order of the intervals, not of their names."""
        self.places = {own.title: {label: place for place, label in enumerate(own.labels())} for own in bins}

    def order(self, values: SliceValues) -> tuple[int, Any]:
        """The key by which slices are sorted: by set, then by their values, a null last."""
        set_number, *of_columns = values
        if self.places:
            places = map(self.places.get, self.set_names[set_number])
            of_columns = [
                value if of_name is None or value is None else of_name[value]
                for value, of_name in zip(of_columns, places, strict=True)
            ]
        return set_number, order_of_values(of_columns)

    def mark(self) -> Any:
        """What `restore` needs to forget all slices that occur from now on."""
        return len(self.numbers), [len(own) for own in self.sets], [len(own.values) for own in self.columns]

    def restore(self, mark: Any) -> None:
        """Forget the slices that have occurred since `mark` was called."""
        n_slices, n_members, n_values = mark
        for values in self.values()[n_slices:]:
            del self.numbers[values]
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
                by_name = dict(zip(self.set_names[values[0]], values[1:], strict=True))
                own = (self.columns[position] for position in self.sets[values[0]].positions)
                codes = tuple(column.code(tuple(by_name[name] for name in column.names)) for column in own)
                found.append(self.register(values[0], codes))
        self.check_sizes()
        return np.array(found, np.int64)

    def renumber_codes(self, values: Sequence[Sequence[Any]], codes: Codes) -> list[np.ndarray]:
        """The codes that rows have here, whose code i of some columns is `values[columns][i]` elsewhere.

        The slices of the rows are registered.
        """
        tables = [
            np.array(list(map(own.code, of_columns)), np.int64)
            for own, of_columns in zip(self.columns, values, strict=True)
        ]
        self.check_sizes()
        renumbered = [table.astype(np.uint16)[column] for table, column in zip(tables, codes, strict=True)]
        for set_number in range(len(self.sets)):
            self.number_set(set_number, renumbered)
        self.check_sizes()
        return renumbered

    def check_sizes(self) -> None:
        """Check that no set has more slices than it may have."""
        sizes = [*map(len, self.sets), *(len(own.values) for own in self.columns)]
        if any(size > MAX_SLICES for size in sizes):
            of_set = "" if len(self.sets) == 1 else " of one set"
            raise ValueError(f"by={self.sets_in_words()} makes more than {MAX_SLICES:,} slices{of_set} together")

    def register(self, set_number: int, codes: tuple[int, ...]) -> int:
        """The number of a slice; a new one is registered. The caller holds the lock."""
        own = self.sets[set_number]
        local = own.local.get(codes)
        if local is None:
            own.fit(codes, self.columns)
            number = self.numbers[self.values_of(set_number, codes)] = len(self.numbers)
            local = own.add(codes, number)
        return own.numbers[local]

    def values_of(self, set_number: int, codes: tuple[int, ...]) -> SliceValues:
        """The number of a set and the values of one of its slices."""
        own = self.sets[set_number]
        pairs = zip(own.positions, codes, strict=True)
        values = [value for position, code in pairs for value in self.columns[position].values[code]]
        return set_number, *map(values.__getitem__, own.places)

    def encode_rows(self, columns: list[Any], locate: Callable[[int], int]) -> RowCodes:
        """The codes of every row, of all columns (pyarrow arrays); the slices of the rows are registered."""
        by_name = dict(zip(self.names, columns, strict=True))
        codes = RowCodes(
            self.encode_columns(position, [by_name[name] for name in own.names], locate)
            for position, own in enumerate(self.columns)
        )
        codes.in_covers, codes.in_sets = [], {}
        for cover, own in self.covers_of(codes[0].shape[0]):
            codes.in_covers.append((cover, self.number_cover(cover, own, codes, locate)))
        covered = {number for cover, _ in codes.in_covers for number in cover.sets}
        for set_number in range(len(self.sets)):
            if set_number not in covered:
                codes.in_sets[set_number] = self.number_set(set_number, codes, locate)
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
        return [
            (cover, own)
            for cover, own in self.covers
            if len(own) <= MOST_MEMBERS
            and (len(cover.sets) > 1 or rows < ROWS_OF_SLICE * len(self.sets[cover.sets[0]]))
        ]

    def number_cover(
        self, cover: Cover, own: GroupingSet, codes: Codes, locate: Callable[[int], int] | None = None
    ) -> np.ndarray:
        """The combination of every row in a cover. The slices of new ones are registered, with `locate`."""
        columns = [codes[position] for position in own.positions]

        def register(rows: np.ndarray) -> list[int]:
            return self.register_members(cover, own, [column[rows] for column in codes], rows, locate)

        return self.number_members(own, columns, np.empty(columns[0].shape[0], np.uint16), register)

    def number_members(
        self,
        own: GroupingSet,
        columns: Sequence[np.ndarray],
        out: np.ndarray,
        register: Callable[[np.ndarray], list[int]],
    ) -> np.ndarray:
        """Write the local number of every row; `register(rows)` has those of new members, in the order of rows."""
        if own.look_up(columns, out):
            missing = np.flatnonzero(out == slice_rows.MISSING)
            codes = [column[missing] for column in columns]
            out[missing] = number_combinations(codes, own.sizes(self.columns), lambda rows: register(missing[rows]))
        return out

    def register_members(
        self, cover: Cover, own: GroupingSet, codes: Codes, rows: np.ndarray, locate: Callable[[int], int] | None
    ) -> list[int]:
        """The numbers of combinations in a cover; new ones are registered, with their slices. `rows` have them."""
        slices = {}
        for set_number in cover.sets:
            local = self.number_set(set_number, codes, None if locate is None else lambda row: locate(int(rows[row])))
            slices[set_number] = self.sets[set_number].global_numbers()[local].tolist()
        with self.lock:
            found = []
            for row, members in enumerate(members_of([codes[position] for position in own.positions])):
                number = own.local.get(members)
                if number is None:
                    own.fit(members, self.columns)
                    for set_number, of_rows in slices.items():
                        cover.numbers[set_number].append(of_rows[row])
                    # Last: whoever finds the combination finds its slices too.
                    number = own.add(members, 0)
                found.append(number)
        return found

    def encode_columns(self, position: int, columns: list[Any], locate: Callable[[int], int]) -> np.ndarray:
        """The codes of the values of some columns; new ones are registered in the order of rows."""
        own = self.columns[position]
        encoded = [
            encode_column(column, name, name in self.numerals) for column, name in zip(columns, own.names, strict=True)
        ]

        def number(rows: np.ndarray) -> list[int]:
            values = [[values[code] for code in codes[rows].tolist()] for codes, values in encoded]
            combinations = list(zip(*values, strict=True))
            with self.lock:
                found = own.number(combinations)
                for set_number, of_set in enumerate(self.sets):
                    if of_set.positions == (position,):  # codes become its numbers: no other thread comes between
                        for code in range(len(of_set), len(own.values)):
                            self.register(set_number, (code,))
            # Another thread may have registered one slice too many: only those of this batch are its fault.
            surplus = next((place for place, code in enumerate(found) if code >= MAX_SLICES), None)
            if surplus is not None:
                self.raise_surplus(own.names, combinations[surplus], locate(int(rows[surplus])))
            return found

        return number_combinations([codes for codes, _ in encoded], [len(values) for _, values in encoded], number)

    def number_set(
        self, set_number: int, codes: Codes, locate: Callable[[int], int] | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """The local number of every row's slice in a set (uint16). New slices are registered, with `locate`."""
        if isinstance(codes, RowCodes) and set_number in codes.in_sets:
            return codes.in_sets[set_number]
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

        def register(rows: np.ndarray) -> list[int]:
            return self.register_slices(set_number, [column[rows] for column in columns], rows, locate)

        return self.number_members(self.sets[set_number], columns, out, register)

    def number_stored(self, set_number: int, numbers: np.ndarray) -> np.ndarray:
        """The local number of every row's slice in a set, of rows that are stored with those of all sets."""
        return numbers[:, set_number]

    def register_slices(
        self, set_number: int, columns: Codes, rows: np.ndarray, locate: Callable[[int], int] | None
    ) -> list[int]:
        """The local numbers of slices of a set; new ones are registered. `rows` have them."""
        own, found = self.sets[set_number], []
        with self.lock:
            for row, codes in enumerate(members_of(columns)):
                self.register(set_number, codes)
                found.append(own.local[codes])
                if found[-1] >= MAX_SLICES and locate is not None:
                    values = self.values_of(set_number, codes)[1:]
                    self.raise_surplus(self.set_names[set_number], values, locate(int(rows[row])))
        return found

    def raise_surplus(self, names: tuple[str, ...], values: SliceValues, row: int) -> None:
        """Raise the error of a slice that is one too many."""
        advice = "put the numbers into bins first" if any(isinstance(value, float) for value in values) else OF_GROUPS
        of_set = "" if len(self.sets) == 1 else f" of {list(names)!r}"
        raise ValueError(
            f"by={self.sets_in_words()} makes more than {MAX_SLICES:,} slices{of_set}; the one at row {row} "
            f"({format_slice(names, values)}) is one too many. Slices are for a few values; {advice}"
        )

    def sets_in_words(self) -> str:
        """The sets as the caller names them: a single one is a list of columns."""
        sets = [list(own) for own in self.set_names]
        return repr(sets[0] if len(sets) == 1 else sets)

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


def number_combinations(
    columns: Sequence[np.ndarray], sizes: Sequence[int], number: Callable[[np.ndarray], Sequence[int]]
) -> np.ndarray:
    """The number of every row's combination of codes (uint16); the codes of a column are below its size.

    `number(rows)` has the numbers of different combinations: each of the rows is the first of one, in order.
    """
    combined, size = columns[0].astype(np.int64), sizes[0]
    for column, own in zip(columns[1:], sizes[1:], strict=True):
        if size > MAX_TABLE_SIZE:  # 64 bits would soon overflow
            present, combined = np.unique(combined, return_inverse=True)
            size = present.shape[0]
        combined = combined * own + column
        size *= own
    if size <= MAX_TABLE_SIZE:
        first_rows = np.empty(size, np.int64)
        slice_rows.find_first_rows(combined, first_rows)
        present = np.flatnonzero(first_rows >= 0)
    else:
        present, first_rows, combined = np.unique(combined, return_index=True, return_inverse=True)
        present = np.arange(present.shape[0])
    in_order = present[np.argsort(first_rows[present])]
    table = np.zeros(first_rows.shape[0], np.uint16)
    table[in_order] = number(first_rows[in_order])
    return table.take(combined)


def members_of(columns: Sequence[np.ndarray]) -> Iterator[tuple[int, ...]]:
    """The codes of every row."""
    return zip(*(column.tolist() for column in columns), strict=True)
