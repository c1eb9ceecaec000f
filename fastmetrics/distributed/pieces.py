"""Pieces of states on their way to targets: Arrow record batches. A target needs one complete attempt of each source.

A piece has rows of any number of stores. The last piece of a source to a target says how many there are, and has what
the source knows beside its rows.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from fastmetrics._core.columns.key_types import HEAD, TAIL
from fastmetrics._core.exchange.blocks import NO_TEXT, TEXT_PADDING, Block, join_blocks
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.spill import SpillFile
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import pyarrow
from fastmetrics._kernels.exchange import hash_partition
from fastmetrics.distributed.summaries import DataError, PartSummary, Serialize

MOST_WAITING = 1 << 24  # bytes of rows that wait to be joined to pieces
ALIGNMENT = 8  # of arrays in a piece
SMALL_BLOCK = 1 << 13  # rows: smaller blocks are joined
GROUPS = -1  # in place of the number of a score column: rows in the order of their groups' hashes
NUMBERS = ("round", "source", "attempt", "target", "chunk", "chunks", "rows")

# The numbers of a task, of a part of its plan, and of a score column, or GROUPS.
StoreKey = tuple[int, int, int]


class SourceFacts(NamedTuple):
    """What a source tells a target beside its rows.

    Attributes
    ----------
    rows : tuple of int
        The rows of the log that it has read, and those of it and of truth that it has kept for each task.
    error : DataError or None
    slice_values : list
        What the codes of slices stand for, by task and columns.
    key_types : dict
        The type of the keys of groups, by task and part.
    key_texts : dict
        The kind, bytes and offsets of the texts behind numbers of keys, by task and part.
    results : list of PartSummary
        The states that need no row of another source. They go to one target, which hands them on.
    """

    rows: tuple[int, ...]
    error: DataError | None
    slice_values: list[list[Any]]
    key_types: dict[tuple[int, int], np.dtype]
    key_texts: dict[tuple[int, int], tuple[Any, ...]]
    results: list[PartSummary]


class PieceWriter:
    """Joins the rows of a source for each target to pieces of a good size."""

    def __init__(self, round_number: int, source: int, attempt: int, targets: int, serialize: Serialize) -> None:
        self.numbers = round_number, source, attempt
        self.serialize = serialize
        self.waiting: list[dict[StoreKey, list[Block]]] = [{} for _ in range(targets)]
        self.waiting_bytes = 0
        self.chunks = [0] * targets

    def add(self, target: int, key: StoreKey, block: Block) -> Iterator[RowPiece]:
        """Take rows for a target; yield the pieces that are full."""
        self.waiting[target].setdefault(key, []).append(block)
        self.waiting_bytes += block.n_bytes()
        if self.waiting_bytes >= MOST_WAITING:
            yield from self.flush()

    def flush(self) -> Iterator[RowPiece]:
        """The pieces of all rows that wait."""
        for target, waiting in enumerate(self.waiting):
            if waiting:
                rows = [(key, block) for key, blocks in waiting.items() for block in join_small(blocks)]
                waiting.clear()
                yield self.piece(target, 0, sum(block.rows for _, block in rows), frames_of(rows))
        self.waiting_bytes = 0

    def finish(self, target: int, facts: SourceFacts) -> RowPiece:
        """The last piece for a target, after all rows."""
        return self.piece(target, self.chunks[target] + 1, 0, [np.frombuffer(self.serialize(facts), np.uint8)])

    def piece(self, target: int, chunks: int, rows: int, frames: list[np.ndarray]) -> RowPiece:
        numbers = (*self.numbers, target, self.chunks[target], chunks, rows)
        self.chunks[target] += 1
        return RowPiece(numbers, frames)


class RowPiece(NamedTuple):
    """Rows on their way: what NUMBERS say of them, and arrays of bytes, which `pickle` can pass on without a copy."""

    numbers: tuple[int, ...]
    frames: list[np.ndarray]

    @property
    def target(self) -> int:
        return self.numbers[NUMBERS.index("target")]

    def write(self, file: BinaryIO) -> None:
        """Write the piece to a file that `read_pieces` reads; arrays are not copied."""
        file.writelines(frame_parts([np.array(self.numbers, np.int64).view(np.uint8), *self.frames]))

    def to_batch(self) -> Any:
        """The piece as a record batch."""
        # pyarrow.array would copy the content, and import pandas: a third of a second in every process.
        columns = [array_of_buffers(pyarrow.int64(), np.array([number], np.int64)) for number in self.numbers]
        content = join_frames(self.frames)
        payload = array_of_buffers(pyarrow.binary(), np.array([0, len(content)], np.int32), content)
        return pyarrow.RecordBatch.from_arrays([*columns, payload], names=[*NUMBERS, "payload"])


def array_of_buffers(data_type: Any, *buffers: Any) -> Any:
    """One value as a pyarrow array."""
    return pyarrow.Array.from_buffers(data_type, 1, [None, *map(pyarrow.py_buffer, buffers)])


def frames_of(rows: list[tuple[StoreKey, Block]]) -> list[np.ndarray]:
    """Rows as arrays of bytes: a head, and the arrays of blocks, which are not copied."""
    arrays: list[np.ndarray] = []
    head = pickle.dumps(rows, 5, buffer_callback=lambda buffer: arrays.append(np.asarray(buffer.raw())))
    return [np.frombuffer(head, np.uint8), *arrays]


def rows_of(frames: Sequence[np.ndarray]) -> list[tuple[StoreKey, Block]]:
    """The rows of which these are the frames. Their arrays are not copied if they are aligned."""
    head, *arrays = (frame.copy() if frame.ctypes.data % ALIGNMENT else frame for frame in frames)
    rows: list[tuple[StoreKey, Block]] = pickle.loads(head.data, buffers=arrays)
    return rows


def frame_parts(frames: Sequence[np.ndarray]) -> list[Any]:
    """Frames as bytes, in which each is aligned."""
    parts: list[Any] = [np.array([len(frames), *(frame.nbytes for frame in frames)], np.int64).data]
    for frame in frames:
        parts += [frame.data, bytes(-frame.nbytes % ALIGNMENT)]
    return parts


def join_frames(frames: Sequence[np.ndarray]) -> bytes:
    return b"".join(frame_parts(frames))


def split_joined(content: Any) -> Iterator[list[np.ndarray]]:
    """The frames of everything that `join_frames` joined, one after the other, without a copy."""
    data, start = np.frombuffer(content, np.uint8), 0
    while start < data.shape[0]:
        first, stop = start + 8, start + 8 + 8 * int(data[start : start + 8].view(np.int64)[0])
        frames, start = [], stop
        for size in data[first:stop].view(np.int64).tolist():
            frames.append(data[start : start + size])
            start += size + -size % ALIGNMENT
        yield frames


def split_frames(content: Any) -> list[np.ndarray]:
    return next(split_joined(content))


def read_pieces(content: Any) -> Iterator[RowPiece]:
    """The pieces in a file, of which this is the content."""
    for numbers, *frames in split_joined(content):
        yield RowPiece(tuple(numbers.view(np.int64).tolist()), frames)


def join_small(blocks: list[Block]) -> list[Block]:
    """The same rows in one block, if the blocks are small; they are given up then."""
    if len(blocks) == 1 or sum(block.rows for block in blocks) >= SMALL_BLOCK * len(blocks):
        return blocks
    return [join_blocks(blocks, blocks[0].offsets.shape[0] - 1)]


def cut_block(block: Block, columns: Mapping[str, np.ndarray], start: int, stop: int) -> Block:
    """The partitions start to stop of a block; its `columns` have positions in its text, as the new ones have."""
    first, last = block.offsets[[start, stop]].tolist()
    cut = {name: own[first:last] for name, own in columns.items()}
    text = NO_TEXT
    if block.text.shape[0]:
        lengths = cut[HEAD] & np.uint64(0xFFFFFFFF)
        is_long = np.flatnonzero(lengths > hash_partition.SHORT_TEXT_BYTES)
        if is_long.shape[0]:
            # The texts of neighboring partitions are neighbors.
            begin, end = int(cut[TAIL][is_long[0]]), int(cut[TAIL][is_long[-1]] + lengths[is_long[-1]])
            text = np.concatenate((block.text[begin:end], np.zeros(TEXT_PADDING, np.uint8)))
            cut[TAIL] = cut[TAIL].copy()
            cut[TAIL][is_long] -= np.uint64(begin)
    return Block(cut, block.offsets[start : stop + 1] - block.offsets[start], text)


def place_texts(block: Block) -> Block:
    """The block of a piece, whose long texts are found by their addresses from now on."""
    if block.text.shape[0]:
        tails = block.columns[TAIL]
        is_long = (block.columns[HEAD] & np.uint64(0xFFFFFFFF)) > hash_partition.SHORT_TEXT_BYTES
        block.columns[TAIL] = np.where(is_long, tails + np.uint64(block.text.ctypes.data), tails)
    return block


class Payload(NamedTuple):
    """The frames of a piece: in memory, or joined, `size` bytes from `position` on in a file."""

    size: int
    frames: list[np.ndarray] | None = None
    position: int = 0


class HeldPieces:
    """The pieces of one target until all have arrived. Those that do not fit the memory limit are in a file.

    Attributes
    ----------
    repeated : int
        How many pieces arrived again, or are of another attempt than the one that is taken.
    """

    def __init__(self, round_number: int, sources: Iterable[int], budget: MemoryBudget) -> None:
        self.round = round_number
        self.budget = budget
        self.file: SpillFile | None = None
        self.repeated = 0
        self.chunks: dict[int, int | None] = dict.fromkeys(sources)
        self.attempts: dict[int, dict[int, dict[int, Payload]]] = {source: {} for source in self.chunks}
        self.n_chunks: dict[tuple[int, int], int] = {}  # by source and attempt, once the last piece is there

    def add(self, numbers: Mapping[str, int], frames: list[np.ndarray]) -> None:
        """Take a piece, of which a copy may have come already."""
        source, attempt, chunk = (numbers[name] for name in ("source", "attempt", "chunk"))
        place = f"chunk {chunk} of source {source} at target {numbers['target']}"
        if numbers["round"] != self.round:
            raise ValueError(f"{place} is of round {numbers['round']}; round {self.round} is to be combined")
        if source not in self.attempts:
            raise ValueError(f"{place} is of a source that gave no summary")
        own = self.attempts[source].setdefault(attempt, {})
        if chunk in own:
            self.repeated += 1
            return
        own[chunk] = self.hold(frames)
        if numbers["chunks"]:
            self.n_chunks[source, attempt] = numbers["chunks"]

    def hold(self, frames: list[np.ndarray]) -> Payload:
        size = sum(frame.nbytes for frame in frames)
        if self.budget.try_reserve(size):
            return Payload(size, frames)
        if self.file is None:
            self.file = SpillFile(self.budget.folder)
        content = join_frames(frames)
        return Payload(len(content), None, self.file.append([np.frombuffer(content, np.uint8)]))

    def complete(self, source: int, target: int) -> list[Payload]:
        """The pieces of one complete attempt of a source, the last one first. ValueError if there is none."""
        attempts = self.attempts.pop(source)
        for attempt, own in sorted(attempts.items()):
            n_chunks = self.n_chunks.get((source, attempt))
            if n_chunks == len(own):
                others = [piece for other, pieces in attempts.items() if other != attempt for piece in pieces.values()]
                self.repeated += len(others)
                for piece in others:
                    self.release(piece)
                return [own[chunk] for chunk in reversed(range(n_chunks))]
        raise ValueError(explain_missing(source, target, attempts, self.n_chunks))

    def read(self, payload: Payload) -> list[np.ndarray]:
        """The frames of a piece, which is not held any more."""
        frames = payload.frames
        if frames is None and self.file is not None:
            content = np.empty(payload.size, np.uint8)
            self.file.read(payload.position, content)
            frames = split_frames(content)
        self.release(payload)
        return frames or []

    def release(self, payload: Payload) -> None:
        self.budget.release(0 if payload.frames is None else payload.size)

    def close(self) -> None:
        """Free what is still held."""
        for payload in (own for found in self.attempts.values() for one in found.values() for own in one.values()):
            self.release(payload)
        self.attempts.clear()
        if self.file is not None:
            self.file.close()


def explain_missing(
    source: int, target: int, attempts: Mapping[int, Mapping[int, Payload]], n_chunks: Mapping[tuple[int, int], int]
) -> str:
    """Which piece of a source is missing."""
    if not attempts:
        return f"no piece of source {source} arrived at target {target}"
    attempt, own = next(iter(sorted(attempts.items())))
    wanted = n_chunks.get((source, attempt))
    missing = next(chunk for chunk in range(len(own) + 1) if chunk not in own)
    of_all = "" if wanted is None else f" of {wanted}"
    return f"chunk {missing}{of_all} of source {source} (attempt {attempt}) did not arrive at target {target}"


def hold_pieces(
    pieces: Iterable[Any], round_number: int, sources: Iterable[int], budget: MemoryBudget
) -> dict[int, HeldPieces]:
    """Pieces, which may be record batches, by target."""
    targets: dict[int, HeldPieces] = {}
    sources = list(sources)
    try:
        for piece in pieces:
            for numbers, frames in [piece] if isinstance(piece, RowPiece) else pieces_of_batch(piece):
                named = dict(zip(NUMBERS, numbers, strict=True))
                target = named["target"]
                if target not in targets:
                    targets[target] = HeldPieces(round_number, sources, budget)
                targets[target].add(named, frames)
    except BaseException:
        for held in targets.values():
            held.close()
        raise
    return targets


def pieces_of_batch(batch: Any) -> Iterator[RowPiece]:
    """The pieces of a record batch: one in each row."""
    columns = [batch.column(name).to_pylist() for name in NUMBERS]
    payloads = batch.column("payload")
    _, offsets, data = payloads.buffers()
    edges = np.frombuffer(offsets, np.int32)[payloads.offset :].tolist()
    for row, numbers in enumerate(zip(*columns, strict=True)):
        yield RowPiece(numbers, split_frames(data.slice(edges[row], edges[row + 1] - edges[row])))
