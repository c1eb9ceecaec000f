"""Blocks of rows in the order of their partitions, held in memory or spilled to disk: what both exchanges move.

A block knows where each of its partitions begins, so a run of neighbouring partitions is one piece of every block:
of its arrays, or of the file. Blocks that do not fit the memory allowed are written as they are, one after the other;
whoever asks for partitions is not told where they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from threading import Lock
from typing import NamedTuple

import numpy as np

from fastmetrics._core.memory import SMALLEST_DEFAULT, default_memory_limit
from fastmetrics._core.rows import SLICE, Scratch, addresses
from fastmetrics._core.spill import SpillFile
from fastmetrics._kernels import partition

HEAD, TAIL = "head", "tail"  # columns of text keys, see partition.pyx
NO_TEXT: np.ndarray = np.empty(0, np.uint8)
HELD_SHARE = 2  # blocks may take half of the memory allowed; partitions under work share the rest
RUN_SHARE = 16  # the part of it for a thread's run of partitions: it is there about three times while it is worked on
MOST_RUN_BYTES = 1 << 26
TEXT_PADDING = 16  # kernels copy text 16 bytes at a time


class Room:
    """The memory that the blocks of one evaluation may take together, and the folder for those that do not fit."""

    def __init__(self, limit: int | None, folder: str | None, n_threads: int, processes: int = 1) -> None:
        """Without a limit the default one, shared by so many processes; it is looked up when it first matters."""
        self.given = limit
        self.folder = folder
        self.n_threads = n_threads
        self.processes = processes
        self.held = 0
        self.lock = Lock()

    @cached_property
    def limit(self) -> int:
        return default_memory_limit() // self.processes if self.given is None else self.given

    @property
    def run_bytes(self) -> int:
        """A thread's run of partitions may have so many bytes."""
        return max(1, min(MOST_RUN_BYTES, self.limit // (RUN_SHARE * self.n_threads)))

    def take(self, n_bytes: int) -> bool:
        """May so many bytes more be held? If so they are counted."""
        with self.lock:
            # The default is never less than SMALLEST_DEFAULT: most logs never ask how much there is.
            known = SMALLEST_DEFAULT // self.processes if self.given is None else self.given
            fits = self.held + n_bytes <= known // HELD_SHARE or self.held + n_bytes <= self.limit // HELD_SHARE
            self.held += n_bytes if fits else 0
            return fits

    def give_back(self, n_bytes: int) -> None:
        with self.lock:
            self.held -= n_bytes


class Block(NamedTuple):
    """Columns of one length in the order of the partitions, and the row at which each partition begins (int32).

    `text` has the bytes of the long text keys, in row order.
    """

    columns: dict[str, np.ndarray]
    offsets: np.ndarray
    text: np.ndarray = NO_TEXT

    @property
    def rows(self) -> int:
        return int(self.offsets[-1])

    def movable_columns(self) -> dict[str, np.ndarray]:
        """The columns, with places in the block's text instead of addresses: it will stand elsewhere."""
        if not self.text.shape[0]:
            return self.columns
        tails = self.columns[TAIL]
        is_long = (self.columns[HEAD] & np.uint64(0xFFFFFFFF)) > partition.SHORT_TEXT_BYTES
        return self.columns | {TAIL: np.where(is_long, tails - np.uint64(self.text.ctypes.data), tails)}

    def n_bytes(self) -> int:
        return sum(column.nbytes for column in self.columns.values()) + self.offsets.nbytes + self.text.nbytes


class Spilled(NamedTuple):
    """A block on disk: its columns one after the other, then its offsets, then its text."""

    position: int
    rows: int
    text_bytes: int


class Pieces(NamedTuple):
    """Rows that stand in pieces: for every column an address a piece, and which of the rows there are meant.

    `owner` is what keeps the memory.
    """

    addresses: dict[str, np.ndarray]
    types: dict[str, np.dtype]
    firsts: np.ndarray
    lengths: np.ndarray
    owner: object

    @property
    def rows(self) -> int:
        return int(self.lengths.sum())


class Run(NamedTuple):
    """Some neighbouring partitions of all blocks: every column in one array, block after block.

    `bounds` (number of blocks + 1) tells where each block's rows begin, `offsets` where each partition does, counted
    from its block's first row.
    """

    columns: dict[str, np.ndarray]
    bounds: np.ndarray
    offsets: np.ndarray
    text: list[np.ndarray]

    def pieces(self) -> Pieces:
        """All rows as one piece."""
        places = {name: addresses([column]) for name, column in self.columns.items()}
        types = {name: column.dtype for name, column in self.columns.items()}
        return Pieces(places, types, np.zeros(1, np.int64), self.bounds[-1:], self)

    def blocks(self) -> list[Block]:
        """The pieces as blocks of their own."""
        edges = self.bounds.tolist()
        return [
            Block({name: column[start:stop] for name, column in self.columns.items()}, self.offsets[number])
            for number, (start, stop) in enumerate(pairwise(edges))
        ]


class BlockStore:
    """All blocks of an exchange. Blocks may be added by several threads."""

    def __init__(self, n_partitions: int, room: Room | None = None) -> None:
        self.n_partitions = n_partitions
        self.room = room
        self.held: list[Block] = []
        self.spilled: list[Spilled] = []
        self.types: dict[str, np.dtype] = {}
        self.partition_rows = np.zeros(n_partitions, np.int64)
        self.text_bytes = 0
        self.file: SpillFile | None = None
        self.lock = Lock()

    @property
    def rows(self) -> int:
        return int(self.partition_rows.sum())

    @property
    def row_bytes(self) -> int:
        return sum(dtype.itemsize for dtype in self.types.values())

    @property
    def loaded_row_bytes(self) -> int:
        """What a row takes when it is loaded, its share of long text included."""
        return self.row_bytes + self.text_bytes // max(1, self.rows)

    def reserve(self, n_bytes: int) -> bool:
        """Will the next block of so many bytes be held (True) or written? Ask once for every block."""
        return self.room is None or self.room.take(n_bytes)

    def add(self, block: Block, held: bool) -> None:
        """Take in a block; `held` is what reserve answered. A block that is not held may be overwritten afterwards."""
        with self.lock:
            if not self.types:
                self.types = {name: column.dtype for name, column in block.columns.items()}
            self.partition_rows += block.offsets[1:] - block.offsets[:-1]
            self.text_bytes += block.text.shape[0]
            if held:
                self.held.append(block)
                return
            if self.file is None:
                self.file = SpillFile(self.room.folder if self.room is not None else None)
        spilled = write_block(self.file, block)
        with self.lock:
            self.spilled.append(spilled)

    def take_over(self, other: BlockStore, numbers: np.ndarray) -> None:
        """Share the blocks of another store of the same kind, all in memory; slice s becomes numbers[s]."""
        for block in other.held:
            columns = block.columns
            if SLICE in columns:
                columns = columns | {SLICE: numbers[columns[SLICE]]}
            self.add(block._replace(columns=columns), True)

    def keep_first(self, n_blocks: int) -> None:
        """Only so many blocks remain; all are in memory."""
        for block in self.held[n_blocks:]:
            self.partition_rows -= block.offsets[1:] - block.offsets[:-1]
        del self.held[n_blocks:]

    def forget(self, names: list[str]) -> list[np.ndarray]:
        """Let go of columns that nobody needs any more; gives the memory of the first, block by block."""
        first = [block.columns[names[0]] for block in self.held if names[0] in block.columns]
        freed = 0
        for number, block in enumerate(self.held):
            kept = block._replace(
                columns={name: column for name, column in block.columns.items() if name not in names},
                text=NO_TEXT if TAIL in names else block.text,
            )
            freed += block.n_bytes() - kept.n_bytes()
            self.held[number] = kept
        if self.room is not None:
            self.room.give_back(freed)
        return first

    def close(self) -> None:
        """The blocks go, from memory and from disk."""
        try:
            self.let_go()
        except BaseException:
            # An interrupt on the way: nothing may stay open for as long as somebody looks at its traceback.
            self.let_go()
            raise

    def let_go(self) -> None:
        if self.file is not None:
            self.file.close()
            self.file = None
        held, self.held = self.held, []
        self.spilled.clear()
        if self.room is not None:
            self.room.give_back(sum(block.n_bytes() for block in held))

    def greatest(self, name: str) -> int:
        """The greatest value of a column of integers."""
        return max(int(block.load()[name].max()) for block in self.whole_blocks([name]) if block.rows)

    def whole_blocks(self, names: list[str]) -> list[WholeBlock]:
        """Every block, for a thread to load: some columns of all its rows."""
        return [WholeBlock(self, names, self.block(number)) for number in range(self.n_blocks)]

    def block_offsets(self, start: int, stop: int) -> Iterator[tuple[Block | Spilled, list[int]]]:
        """Every block, and where its partitions start..stop begin and end."""
        for block in self.held:
            yield block, block.offsets[start : stop + 1].tolist()
        for spilled in self.spilled:
            offsets = np.empty(stop - start + 1, np.int32)
            self.read_offsets(spilled, start, offsets)
            yield spilled, offsets.tolist()

    @property
    def in_memory(self) -> bool:
        return not self.spilled

    def runs(self, run_bytes: int, step: int = 1) -> Iterator[tuple[int, int]]:
        """Neighbouring partitions that together have at most so many bytes, or a single one that has more.

        With a step, so many partitions are one: they are never in different runs.
        """
        rows = max(1, run_bytes // max(1, self.loaded_row_bytes))
        ends = np.cumsum(self.partition_rows)[step - 1 :: step]
        start = 0
        while start < len(ends):
            before = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, before + rows, "right")))
            if int(ends[stop - 1]) > before:
                yield start * step, stop * step
            start = stop

    def held_pieces(self) -> Callable[[int, int], Pieces]:
        """For a store in memory: a way to the partitions start..stop of its blocks as they stand."""
        blocks = list(self.held)
        places = {name: addresses([block.columns[name] for block in blocks]) for name in self.types}
        offsets = np.stack([block.offsets for block in blocks]).astype(np.int64)

        def find(start: int, stop: int) -> Pieces:
            firsts = np.ascontiguousarray(offsets[:, start])
            return Pieces(places, self.types, firsts, offsets[:, stop] - firsts, blocks)

        return find

    @property
    def n_blocks(self) -> int:
        return len(self.held) + len(self.spilled)

    def block(self, number: int) -> Block | Spilled:
        n_held = len(self.held)
        return self.held[number] if number < n_held else self.spilled[number - n_held]

    def load(
        self, names: list[str], start: int, stop: int, scratch: Scratch | None = None, numbers: range | None = None
    ) -> Run:
        """The partitions start..stop of all blocks (or of those numbered so): copied together, read from the file.

        With scratch memory, the run is good until the next one that is loaded with it.
        """
        scratch = Scratch() if scratch is None else scratch
        chosen = [self.block(number) for number in (range(self.n_blocks) if numbers is None else numbers)]
        offsets = np.empty((len(chosen), stop - start + 1), np.int32)
        for number, block in enumerate(chosen):
            if isinstance(block, Block):
                offsets[number] = block.offsets[start : stop + 1]
            else:
                self.read_offsets(block, start, offsets[number])
        firsts = offsets[:, 0].tolist()
        lengths = offsets[:, -1] - offsets[:, 0]
        bounds = np.zeros(len(firsts) + 1, np.int64)
        np.cumsum(lengths, out=bounds[1:])
        edges = bounds.tolist()
        columns = {}
        for name in names:
            out = columns[name] = scratch.take(name, self.types[name], edges[-1])
            for block, first, begin, end in zip(chosen, firsts, edges[:-1], edges[1:], strict=True):
                if isinstance(block, Block):
                    out[begin:end] = block.columns[name][first : first + end - begin]
                else:
                    self.read_column(block, name, first, out[begin:end])
        # Slots of held blocks point into text that they keep; that of the others is read, and their slots point to it.
        texts = []
        for block, begin, end in zip(chosen, edges[:-1], edges[1:], strict=True):
            if TAIL not in names:
                continue
            if isinstance(block, Block):
                texts.append(block.text)
            elif block.text_bytes:
                texts.append(self.read_text(block, columns[HEAD][begin:end], columns[TAIL][begin:end]))
        offsets -= offsets[:, :1].copy()
        return Run(columns, bounds, offsets, texts)

    def open_file(self) -> SpillFile:
        """The file; an error once it is closed, by an interrupt for instance: what was not read is not to be used."""
        file = self.file
        if file is None:
            raise ValueError("the blocks of this store are gone")
        return file

    def read_column(self, spilled: Spilled, name: str, first: int, out: np.ndarray) -> None:
        if not out.shape[0]:
            return
        position = spilled.position
        for other, dtype in self.types.items():
            if other == name:
                self.open_file().read(position + first * dtype.itemsize, out)
                return
            position += spilled.rows * dtype.itemsize
        raise KeyError(name)

    def read_offsets(self, spilled: Spilled, start: int, out: np.ndarray) -> None:
        self.open_file().read(spilled.position + spilled.rows * self.row_bytes + 4 * start, out)

    def read_text(self, spilled: Spilled, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
        """The long text of neighbouring rows, which stands together; their tails are pointed to it."""
        lengths = heads & np.uint64(0xFFFFFFFF)
        is_long = lengths > partition.SHORT_TEXT_BYTES
        if not is_long.any():
            return NO_TEXT
        places = tails[is_long]
        first = int(places[0])
        text = np.empty(int(places[-1] + lengths[is_long][-1]) - first + TEXT_PADDING, np.uint8)
        position = spilled.position + spilled.rows * self.row_bytes + 4 * (self.n_partitions + 1)
        self.open_file().read(position + first, text[:-TEXT_PADDING])
        tails[is_long] = places - np.uint64(first) + np.uint64(text.ctypes.data)
        return text


class WholeBlock(NamedTuple):
    """All rows of one block, still to be loaded."""

    store: BlockStore
    names: list[str]
    block: Block | Spilled

    @property
    def rows(self) -> int:
        return self.block.rows

    def load(self) -> dict[str, np.ndarray]:
        if isinstance(self.block, Block):
            return {name: self.block.columns[name] for name in self.names}
        return self.load_part(0, self.block.rows)

    def load_part(self, start: int, stop: int) -> dict[str, np.ndarray]:
        """Some rows."""
        if isinstance(self.block, Block):
            return {name: self.block.columns[name][start:stop] for name in self.names}
        columns = {name: np.empty(stop - start, self.store.types[name]) for name in self.names}
        for name, out in columns.items():
            self.store.read_column(self.block, name, start, out)
        return columns


def reordered(values: np.ndarray, destinations: np.ndarray) -> np.ndarray:
    """A column with every row where it is to go."""
    out = np.empty_like(values)
    unsigned = f"u{values.dtype.itemsize}"
    partition.scatter(values.view(unsigned), destinations, out.view(unsigned))
    return out


def write_block(file: SpillFile, block: Block) -> Spilled:
    position = file.append([*block.movable_columns().values(), block.offsets, block.text])
    return Spilled(position, block.rows, int(block.text.shape[0]))
