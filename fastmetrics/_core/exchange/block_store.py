"""Blocks of rows in the order of their partitions, in memory or spilled to disk. Both exchanges store their rows here.

A block records where each of its partitions begins. So a range of neighboring partitions is one segment of every
block: of its arrays or of the spill file. Blocks that do not fit the memory budget are joined to large ones, partition
by partition, and written to the file: reading a range back takes a few long reads, however small the blocks were that
came. Blocks may also lie in a file that is there already, from which their rows are read. Callers that load partitions
need not know where the blocks are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np

from fastmetrics._core.columns.key_types import HEAD, TAIL
from fastmetrics._core.columns.row_blocks import Scratch
from fastmetrics._core.exchange.blocks import NO_TEXT, TEXT_PADDING, Block, StoredBlock, join_blocks
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.spill import SpillFile
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.columns.column_blocks import ColumnBlocks
from fastmetrics._kernels.exchange import hash_partition

SAMPLE_RUN = 64  # neighboring rows that are read together for a sample of a spilled block
SPILLED_ROWS = 1 << 20  # blocks are joined until they have so many rows, or take their part of the memory limit
MOST_NUMBERS = 1 << 16  # partitions are numbered with 16 bits when blocks are joined


class SpilledBlock(NamedTuple):
    """A block on disk. Its columns are stored one after the other, then its offsets, then its text."""

    position: int
    rows: int
    text_bytes: int


class StoreMark(NamedTuple):
    """The blocks of a store at one time: see `BlockStore.restore`."""

    n_in_memory: int
    n_written: int
    waiting: list[Block]
    partition_rows: np.ndarray
    text_bytes: int


class ColumnSegments(NamedTuple):
    """Rows in several segments of memory.

    Every column has one block per segment. Of each segment, the rows from `first_rows` on are meant, `lengths` of them.
    `text` keeps the text alive that the slots of keys point to.
    """

    columns: dict[str, ColumnBlocks]
    types: dict[str, np.dtype]
    first_rows: np.ndarray
    lengths: np.ndarray
    text: object

    @property
    def rows(self) -> int:
        return int(self.lengths.sum())

    def scatter(self, name: str, destinations: np.ndarray, scratch: Scratch) -> np.ndarray:
        """A column, row i of all segments together at destinations[i], until the next call with the same scratch."""
        dtype = self.types[name]
        out = scratch.array(name, f"u{dtype.itemsize}", destinations.shape[0])
        hash_partition.scatter_segments(self.columns[name], self.first_rows, self.lengths, destinations, out)
        return out.view(dtype)


class PartitionRange(NamedTuple):
    """A range of neighboring partitions, loaded from all blocks: every column is one array, block after block.

    `bounds` (number of blocks + 1) is where each block's rows begin. `offsets` is where each partition begins, counted
    from the first row of its block.
    """

    columns: dict[str, np.ndarray]
    bounds: np.ndarray
    offsets: np.ndarray
    text: list[np.ndarray]

    def segments(self) -> ColumnSegments:
        """All rows as one segment."""
        columns = {name: ColumnBlocks([column]) for name, column in self.columns.items()}
        types = {name: column.dtype for name, column in self.columns.items()}
        return ColumnSegments(columns, types, np.zeros(1, np.int64), self.bounds[-1:], self.text)

    def blocks(self) -> list[Block]:
        """The rows of each block as a block."""
        return [
            Block({name: column[start:stop] for name, column in self.columns.items()}, self.offsets[number])
            for number, (start, stop) in enumerate(pairwise(self.bounds.tolist()))
        ]


class DerivedColumn(NamedTuple):
    """A column of integers that is computed from others whenever it is read."""

    name: str
    sources: Sequence[str]
    compute: Callable[[dict[str, np.ndarray], np.ndarray], Any]


class SlabAllocator:
    """Allocates the arrays of blocks from large slabs; one object per thread.

    Large allocations get large pages, which saves most page faults.
    """

    def __init__(self, block_rows: int, slab_blocks: int) -> None:
        self.block_rows = block_rows
        self.slab_blocks = slab_blocks
        self.unused: dict[tuple[str, np.dtype], np.ndarray] = {}

    def allocate(self, column: str, dtype: np.dtype, rows: int) -> np.ndarray:
        """Memory for one column of a block."""
        slab = self.unused.get((column, dtype))
        if slab is None or slab.shape[0] < rows:
            slab = np.empty(max(rows, self.slab_blocks * self.block_rows), dtype)
        self.unused[column, dtype] = slab[rows:]
        return slab[:rows]


class BlockStore:
    """All blocks of an exchange. Several threads may add blocks."""

    def __init__(self, n_partitions: int, budget: MemoryBudget | None = None) -> None:
        self.n_partitions = n_partitions
        self.budget = budget
        self.blocks_in_memory: list[Block] = []
        self.written_blocks: list[SpilledBlock | StoredBlock] = []
        self.waiting: list[Block] = []  # to be joined, and then written
        self.waiting_bytes = 0
        self.has_waiting = False  # until the last of them are written
        self.last_write = Lock()
        self.types: dict[str, np.dtype] = {}
        self.partition_rows = np.zeros(n_partitions, np.int64)
        self.text_bytes = 0
        self.computed: DerivedColumn | None = None
        self.file: SpillFile | None = None
        self.lock = Lock()

    @property
    def rows(self) -> int:
        return int(self.partition_rows.sum())

    @property
    def spilled_blocks(self) -> list[SpilledBlock | StoredBlock]:
        """The blocks on disk, after the last row was added. Several threads may ask: none sees a part of them."""
        if self.has_waiting:
            with self.last_write:
                if self.waiting:
                    self.write_blocks(self.take_waiting())
                self.has_waiting = False
        return self.written_blocks

    def compute_column(
        self, name: str, sources: Sequence[str], compute: Callable[[dict[str, np.ndarray], np.ndarray], Any]
    ) -> None:
        """From now on the column is `compute(columns, out)` of other columns. Blocks in memory are changed at once."""
        if not self.types:
            return
        self.computed = DerivedColumn(name, sources, compute)
        for block in self.blocks_in_memory:
            compute(block.columns, block.columns[name])

    @property
    def moved_types(self) -> dict[str, np.dtype]:
        """The types of the columns that are loaded and reordered: all but the sources of the computed column."""
        sources = () if self.computed is None else self.computed.sources
        return {name: dtype for name, dtype in self.types.items() if name not in sources}

    @property
    def row_bytes(self) -> int:
        return sum(dtype.itemsize for dtype in self.types.values())

    @property
    def loaded_row_bytes(self) -> int:
        """Bytes that a loaded row takes, including its share of the long text."""
        return self.row_bytes + self.text_bytes // max(1, self.rows)

    def try_reserve(self, n_bytes: int) -> bool:
        """Reserve memory for the next block; return False if it must be written to disk. Call it once per block."""
        return self.budget is None or self.budget.try_reserve(n_bytes)

    def add(self, block: Block, is_reserved: bool) -> None:
        """Store a block. `is_reserved` is the result of `try_reserve`.

        A block without a reservation is written to disk; its arrays may be overwritten afterwards.
        """
        with self.lock:
            self.count_rows(block, {name: column.dtype for name, column in block.columns.items()})
            self.text_bytes += block.text.shape[0]
            if is_reserved:
                self.blocks_in_memory.append(block)
                return
            n_bytes, most = block.n_bytes(), 0 if self.budget is None else self.budget.waiting_bytes(self)
            is_large = block.rows >= SPILLED_ROWS // 2 or n_bytes > most // 2 or self.n_partitions > MOST_NUMBERS
            full = [Block(block.movable_columns(), block.offsets, block.text)] if is_large else []
            if not is_large:
                if self.waiting_bytes + n_bytes > most or self.waiting_rows + block.rows > SPILLED_ROWS:
                    full = self.take_waiting()
                columns = {name: column.copy() for name, column in block.movable_columns().items()}
                self.has_waiting = True
                self.waiting.append(Block(columns, block.offsets.copy(), block.text.copy()))
                self.waiting_bytes += n_bytes
        if full:
            self.write_blocks(full)

    def add_stored(self, block: StoredBlock, types: dict[str, np.dtype]) -> None:
        """Add a block whose rows stay where they are, with columns of these types."""
        with self.lock:
            self.count_rows(block, types)
            self.text_bytes += block.text_bytes
            self.written_blocks.append(block)

    def count_rows(self, block: Block | StoredBlock, types: dict[str, np.dtype]) -> None:
        self.types = self.types or types
        self.partition_rows += block.offsets[1:] - block.offsets[:-1]

    @property
    def waiting_rows(self) -> int:
        return sum(block.rows for block in self.waiting)

    def take_waiting(self) -> list[Block]:
        """The blocks that wait, which do not wait any more."""
        taken, self.waiting, self.waiting_bytes = self.waiting, [], 0
        return taken

    def write_blocks(self, blocks: list[Block]) -> None:
        """Write blocks, whose texts are found by position, as one."""
        with self.lock:
            if self.file is None:
                self.file = SpillFile(self.budget.folder if self.budget is not None else None)
        joined = join_blocks(blocks, self.n_partitions) if len(blocks) > 1 else blocks[0]
        position = self.file.append([*(joined.columns[name] for name in self.types), joined.offsets, joined.text])
        with self.lock:
            self.written_blocks.append(SpilledBlock(position, joined.rows, int(joined.text.shape[0])))

    def share_blocks(self, other: BlockStore, renumbered: Mapping[str, np.ndarray | None]) -> None:
        """Add the blocks of another store; those in memory without a copy, as far as the budget allows.

        In a column that is `renumbered`, number i becomes renumbered[name][i]. A column without numbers there is to
        be computed: it is new memory.
        """
        for stored in other.spilled_blocks:
            if isinstance(stored, StoredBlock):
                self.add_stored(stored, other.types)
        for block in other.loaded_blocks(of_sources=False):
            own = {name: numbers for name, numbers in renumbered.items() if name in block.columns}
            columns = block.columns | {
                name: np.zeros_like(block.columns[name]) if numbers is None else numbers[block.columns[name]]
                for name, numbers in own.items()
            }
            self.add(block._replace(columns=columns), self.try_reserve(block.n_bytes()))

    def loaded_blocks(self, of_sources: bool = True) -> Iterator[Block]:
        """All blocks, those on disk loaded one at a time. `of_sources`: also those that are stored elsewhere."""
        yield from self.blocks_in_memory
        for block in self.spilled_blocks:
            if of_sources or isinstance(block, SpilledBlock):
                columns = {name: np.empty(block.rows, dtype) for name, dtype in self.types.items()}
                text = self.read_rows(block, 0, columns)
                yield Block(columns, self.load_offsets(block, 0, self.n_partitions), text)

    def mark(self) -> StoreMark:
        """The blocks of now, for `restore`."""
        waiting = [block._replace(columns=dict(block.columns)) for block in self.waiting]
        return StoreMark(
            len(self.blocks_in_memory), len(self.written_blocks), waiting, self.partition_rows.copy(), self.text_bytes
        )

    def restore(self, mark: StoreMark) -> None:
        """Leave the store as it was: blocks that were added since then are given up."""
        dropped = self.blocks_in_memory[mark.n_in_memory :]
        del self.blocks_in_memory[mark.n_in_memory :], self.written_blocks[mark.n_written :]
        self.waiting, self.waiting_bytes = mark.waiting, sum(block.n_bytes() for block in mark.waiting)
        self.has_waiting = bool(self.waiting)
        self.partition_rows, self.text_bytes = mark.partition_rows.copy(), mark.text_bytes
        if self.budget is not None:
            self.budget.release(sum(block.n_bytes() for block in dropped))

    def drop_columns(self, names: list[str]) -> list[np.ndarray]:
        """Drop columns that are not needed any more. Returns the arrays of the first one, for reuse, block by block."""
        first = [block.columns[names[0]] for block in self.blocks_in_memory if names[0] in block.columns]
        freed = 0
        for number, block in enumerate(self.blocks_in_memory):
            kept = block._replace(
                columns={name: column for name, column in block.columns.items() if name not in names},
                text=NO_TEXT if TAIL in names else block.text,
            )
            freed += block.n_bytes() - kept.n_bytes()
            self.blocks_in_memory[number] = kept
        if self.budget is not None:
            self.budget.release(freed)
        return first

    def close(self) -> None:
        """Free the blocks, in memory and on disk."""
        try:
            self.release_blocks()
        except BaseException:
            # After an interrupt: the traceback may live for long, and must not keep the file open.
            self.release_blocks()
            raise

    def release_blocks(self) -> None:
        """Free what is left; may be called again."""
        if self.file is not None:
            self.file.close()
            self.file = None
        blocks, self.blocks_in_memory = self.blocks_in_memory, []
        self.written_blocks.clear()
        self.take_waiting()
        if self.budget is not None:
            self.budget.stop_waiting(self)
            self.budget.release(sum(block.n_bytes() for block in blocks))

    def column_max(self, name: str) -> int:
        """The greatest value of a column of integers."""
        return max(int(block.load()[name].max()) for block in self.block_readers([name]) if block.rows)

    def block_readers(self, names: list[str]) -> list[BlockReader]:
        """A reader of every block, for the columns named; a thread loads one at a time."""
        return [BlockReader(self, names, self.block(number)) for number in range(self.n_blocks)]

    def block_offsets(self, start: int, stop: int) -> Iterator[tuple[Block | SpilledBlock | StoredBlock, list[int]]]:
        """Every block, and where its partitions start to stop begin and end."""
        for block in map(self.block, range(self.n_blocks)):
            yield block, self.load_offsets(block, start, stop).tolist()

    @property
    def in_memory(self) -> bool:
        return not self.spilled_blocks

    def partition_ranges(self, max_bytes: int, step: int = 1) -> Iterator[tuple[int, int]]:
        """Ranges of neighboring partitions with at most max_bytes, or a single partition that has more.

        With `step`, so many neighboring partitions always stay in one range.
        """
        rows = max(1, max_bytes // max(1, self.loaded_row_bytes))
        ends = np.cumsum(self.partition_rows)[step - 1 :: step]
        start = 0
        while start < len(ends):
            before = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, before + rows, "right")))
            if int(ends[stop - 1]) > before:
                yield start * step, stop * step
            start = stop

    def segments_in_memory(self, names: Collection[str] | None = None) -> Callable[[int, int], ColumnSegments]:
        """For a store in memory: a function from (start, stop) to the segments of these partitions, without a copy."""
        blocks = list(self.blocks_in_memory)
        types = self.moved_types if names is None else {name: self.types[name] for name in names}
        columns = {name: ColumnBlocks([block.columns[name] for block in blocks]) for name in types}
        offsets = np.stack([block.offsets for block in blocks]).astype(np.int64)

        def segments_of(start: int, stop: int) -> ColumnSegments:
            first_rows = np.ascontiguousarray(offsets[:, start])
            return ColumnSegments(columns, types, first_rows, offsets[:, stop] - first_rows, blocks)

        return segments_of

    @property
    def n_blocks(self) -> int:
        return len(self.blocks_in_memory) + len(self.spilled_blocks)

    def block(self, number: int) -> Block | SpilledBlock | StoredBlock:
        n_in_memory = len(self.blocks_in_memory)
        if number < n_in_memory:
            return self.blocks_in_memory[number]
        return self.spilled_blocks[number - n_in_memory]

    def load_partitions(
        self, names: list[str], start: int, stop: int, scratch: Scratch | None = None, numbers: range | None = None
    ) -> PartitionRange:
        """Load the partitions start to stop of all blocks, or of the blocks with these numbers.

        Rows are copied from memory and read from the file. With scratch memory, the result is valid until the next
        call with the same scratch.
        """
        scratch = Scratch() if scratch is None else scratch
        blocks = [self.block(number) for number in (range(self.n_blocks) if numbers is None else numbers)]
        offsets = np.empty((len(blocks), stop - start + 1), np.int32)
        for own, block in zip(offsets, blocks, strict=True):
            own[:] = self.load_offsets(block, start, stop)
        first_rows = offsets[:, 0].tolist()
        bounds = np.zeros(len(first_rows) + 1, np.int64)
        np.cumsum(offsets[:, -1] - offsets[:, 0], out=bounds[1:])
        edges = bounds.tolist()
        columns = {name: scratch.array(name, self.types[name], edges[-1]) for name in names}
        texts = []  # slots of keys point into them
        for block, first, begin, end in zip(blocks, first_rows, edges[:-1], edges[1:], strict=True):
            own_columns = {name: column[begin:end] for name, column in columns.items()} if end > begin else {}
            if isinstance(block, Block):
                texts.append(block.text)
                for name, out in own_columns.items():
                    out[:] = block.columns[name][first : first + end - begin]
            elif own_columns:
                texts.append(self.read_rows(block, first, own_columns))
        offsets -= offsets[:, :1].copy()
        return PartitionRange(columns, bounds, offsets, texts)

    def write_rows(self, block: SpilledBlock, first: int, name: str, values: np.ndarray) -> None:
        """Write a column of some rows of a block, from `first` on, in place of what the spill file has."""
        before = list(self.types)[: list(self.types).index(name)]
        row_bytes = sum(self.types[own].itemsize for own in before)
        self.open_file().overwrite(block.position + block.rows * row_bytes + first * values.itemsize, values)

    def open_file(self) -> SpillFile:
        """The spill file. Raises ValueError once it is closed, for instance by an interrupt: the rows are lost then."""
        file = self.file
        if file is None:
            raise ValueError("the blocks of this store are closed")
        return file

    def read_rows(self, block: SpilledBlock | StoredBlock, first: int, columns: dict[str, np.ndarray]) -> np.ndarray:
        """Fill columns with the rows of a block from `first` on. Returns the text that the slots of keys point to."""
        computed = self.computed
        if computed is not None and computed.name in columns:
            out = columns[computed.name]
            others = {name: column for name, column in columns.items() if name != computed.name}
            read = others | {name: np.empty(out.shape[0], self.types[name]) for name in {*computed.sources} - {*others}}
            text = self.read_rows(block, first, read)
            computed.compute({name: read[name] for name in computed.sources}, out)
            return text
        if isinstance(block, StoredBlock):
            return block.source.read(block.first + first, columns)
        position = block.position
        for name, dtype in self.types.items():
            if name in columns:
                self.open_file().read(position + first * dtype.itemsize, columns[name])
            position += block.rows * dtype.itemsize
        return self.read_text(block, columns[HEAD], columns[TAIL]) if block.text_bytes and TAIL in columns else NO_TEXT

    def load_offsets(self, block: Block | SpilledBlock | StoredBlock, start: int, stop: int) -> np.ndarray:
        """Where the partitions start to stop begin and end."""
        if not isinstance(block, SpilledBlock):
            return block.offsets[start : stop + 1]
        out = np.empty(stop - start + 1, np.int32)
        self.open_file().read(block.position + block.rows * self.row_bytes + 4 * start, out)
        return out

    def read_text(self, spilled: SpilledBlock, heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
        """Read the long text of neighboring rows, which is contiguous, and make their slots point to it."""
        lengths = heads & np.uint64(0xFFFFFFFF)
        is_long = lengths > hash_partition.SHORT_TEXT_BYTES
        if not is_long.any():
            return NO_TEXT
        positions = tails[is_long]
        first = int(positions[0])
        text = np.empty(int(positions[-1] + lengths[is_long][-1]) - first + TEXT_PADDING, np.uint8)
        position = spilled.position + spilled.rows * self.row_bytes + 4 * (self.n_partitions + 1)
        self.open_file().read(position + first, text[:-TEXT_PADDING])
        tails[is_long] = positions - np.uint64(first) + np.uint64(text.ctypes.data)
        return text


class BlockReader(NamedTuple):
    """Loads columns of one block, in memory or on disk."""

    store: BlockStore
    names: list[str]
    block: Block | SpilledBlock | StoredBlock

    @property
    def rows(self) -> int:
        return self.block.rows

    def load(self, scratch: Scratch | None = None) -> dict[str, np.ndarray]:
        """All rows; arrays of a block in memory are not copied. The scratch memory is not used."""
        if isinstance(self.block, Block):
            return {name: self.block.columns[name] for name in self.names}
        return self.load_rows(0, self.block.rows)

    def load_rows(self, start: int, stop: int) -> dict[str, np.ndarray]:
        """The rows start to stop."""
        if isinstance(self.block, Block):
            return {name: self.block.columns[name][start:stop] for name in self.names}
        columns = {name: np.empty(stop - start, self.store.types[name]) for name in self.names}
        if stop > start:
            self.store.read_rows(self.block, start, columns)
        return columns

    def sample(self, step: int) -> dict[str, np.ndarray]:
        """One of every `step` rows; of a spilled block, short runs of neighboring rows."""
        if isinstance(self.block, Block):
            return {name: column[::step] for name, column in self.load().items()}
        stride = step * SAMPLE_RUN
        starts = range(max(0, min(self.rows, stride) - SAMPLE_RUN) // 2, self.rows, stride)
        runs = [self.load_rows(start, min(start + SAMPLE_RUN, self.rows)) for start in starts]
        return {name: np.concatenate([run[name] for run in runs]) for name in self.names}
