"""The rows that exchanges keep, as Parquet.

Every column is integers, so that differences are short: `DELTA_BINARY_PACKED`. A float is its `ordered_bits`, a label
of two classes is a boolean. Rows are in the order of the first score, or column of floats; those of an exchange by keys
are in the order of the keys' hashes: the key of a group stands at its first row, the next rows have null there. Hashes
are not stored. Within pieces that are loaded together, 20 bits decide. Neither order is needed: rows in another order
give the same results.

The rows of a store are in several files. A thread makes one at a time, from rows that it loads at once, and the next
rows are in the next file. Row groups have the rows whose order is found in cache, of neighboring partitions: where a
partition begins follows from the rows of each. So large files are not read when they are loaded: their row groups are
blocks of a store, and each range of partitions is read from those that have rows of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from itertools import groupby, islice
from operator import attrgetter
from typing import Any

import numpy as np

from fastmetrics._core.columns.arrow_columns import numpy_values, text_buffers
from fastmetrics._core.columns.key_columns import Keys, KeyScratch, NumberKeys, TextKeys, TupleKeys
from fastmetrics._core.columns.key_types import HEAD, TAIL, numbers_of_slots, parts_of, slots_of
from fastmetrics._core.columns.row_blocks import SCORE, SLICE, Scratch, names_of
from fastmetrics._core.exchange.block_store import BlockReader, BlockStore, ColumnSegments
from fastmetrics._core.exchange.blocks import NO_TEXT, TEXT_PADDING, Block, RowSource, StoredBlock
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.range_exchange import (
    LARGE_FACTOR,
    ordered_keys,
    reorder_by_value,
    sample_columns,
    split_scores,
)
from fastmetrics._core.exchange.stored_ranges import StoredRange
from fastmetrics._core.grouping import grouped
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import compute, parquet, pyarrow
from fastmetrics._core.parallel import submit
from fastmetrics._kernels.columns.column_blocks import ColumnBlocks
from fastmetrics._kernels.exchange import hash_partition
from fastmetrics.engine.partial.files.containers import (
    READING,
    SectionReader,
    StateError,
    StoredSection,
    errors_mean_damage,
    require,
)
from fastmetrics.engine.partial.files.parquet_pages import PageColumn, ParquetPages

FILE_ROWS = 1 << 20
ROW_GROUP_ROWS = 1 << 16
PIECE_ROW_GROUPS = 2  # row groups that are loaded and put in order at once, in cache: each is a part of every block
ROW_GROUP_TEXT = 1 << 30  # bytes of keys, about: Arrow has at most 2 GiB in one array
MOST_ORDERED = hash_partition.MOST_ORDERED
KEY = "key"
LENGTH = np.uint64(0xFFFFFFFF)  # the bits of a head that are the length of a text

Check = Callable[[dict[str, np.ndarray]], None]  # of columns that are there


def ordered_bits(numbers: np.ndarray) -> np.ndarray:
    """The bits of floats as integers of the same order; of such integers, the bits of the floats."""
    bits: np.ndarray = numbers.view(f"i{numbers.dtype.itemsize}")
    ordered: np.ndarray = bits >> (8 * bits.itemsize - 1)
    ordered &= np.iinfo(bits.dtype).max
    ordered ^= bits
    return ordered


def is_stored(name: str) -> bool:
    """Is it a column of a file? Slots of keys are made from keys, and slices are computed from their codes."""
    return name not in (HASH, HEAD, TAIL, SLICE)


def arrow_type(dtype: np.dtype) -> Any:
    """The type in which a column of the dtype is stored."""
    if dtype == np.uint8:
        return pyarrow.bool_()
    return pyarrow.from_numpy_dtype(f"i{dtype.itemsize}" if dtype.kind == "f" else dtype)


def value_fields(types: Mapping[str, Any]) -> list[Any]:
    """The columns that are stored, in the order of their types."""
    names = filter(is_stored, types)
    return [pyarrow.field(str(name), arrow_type(np.dtype(types[name])), nullable=False) for name in names]


def key_fields(dtype: np.dtype | None) -> list[Any]:
    """The columns of keys of a type."""
    if dtype is None:
        return []
    if TAIL in slots_of(dtype):
        return [pyarrow.field(KEY, pyarrow.binary())]
    parts = parts_of(dtype)
    names = [KEY] if len(parts) == 1 else [f"{KEY} {number}" for number in range(len(parts))]
    types = [pyarrow.uint64() if part.kind == "u" else pyarrow.int64() for part in parts]
    return list(map(pyarrow.field, names, types))


# ---------------------------------------------------------------------------------------------------------- writing


class Piece(NamedTuple):
    """Rows of a file: the partitions start to stop of a store, of all its blocks or of those in a range."""

    file: int
    start: int
    stop: int
    blocks: range | None


class RowsWriter:
    """Writes the rows of a store. `key_dtype` is the type of their keys, `order` the column that orders them."""

    def __init__(self, store: BlockStore, key_dtype: np.dtype | None, order: str | None, schema: Any) -> None:
        self.store = store
        self.key_dtype = key_dtype
        self.order = order
        self.schema = schema
        self.names = [name for name in store.types if name != SLICE]
        self.in_memory = store.segments_in_memory(self.names) if store.in_memory else None

    def write(self, pieces: Sequence[Piece]) -> list[Any]:
        """The bytes of a file, in pieces."""
        file, scratch = ParquetPages(self.schema), Scratch()
        for piece in pieces:
            for columns, rows in self.row_groups(piece, scratch):
                file.add(columns, rows)
        return file.end()

    def row_groups(self, piece: Piece, scratch: Scratch) -> Iterator[tuple[list[PageColumn], int]]:
        """The columns and rows of each row group of a piece, whose rows are put in order."""
        segments = self.segments(piece)
        n, order = segments.rows, self.places(segments, piece, scratch)
        columns = {name: segments.scatter(name, order, scratch) for name in self.names}
        text_bytes = int((columns[HEAD] & LENGTH).sum()) if TAIL in columns else 0
        step = max(1, ROW_GROUP_ROWS // (1 + text_bytes // ROW_GROUP_TEXT))
        keys_of = None if self.key_dtype is None else key_columns(self.key_dtype, columns, step)
        numbers = [integers_of(column) for name, column in columns.items() if is_stored(name)]
        for first in range(0, n, step):
            rows = slice(first, min(n, first + step))
            keys = [] if keys_of is None else keys_of(rows)
            yield [*keys, *(PageColumn(own[rows]) for own in numbers)], rows.stop - first

    def places(self, segments: ColumnSegments, piece: Piece, scratch: Scratch) -> np.ndarray:
        """The place of every row of a piece in its order. More rows, of one partition, stay as they are."""
        n = segments.rows
        order, words = (scratch.array(name, np.dtype(np.uint32), n) for name in ("order", "words"))
        if self.order == HASH and n <= MOST_ORDERED:
            bits = (self.store.n_partitions - 1).bit_length()
            first, shift = piece.start << (64 - bits), bits - (piece.stop - piece.start - 1).bit_length()
            hashes = segments.columns[HASH]
            hash_partition.order_segments(hashes, segments.first_rows, segments.lengths, first, shift, words, order)
            return order
        order[:] = np.arange(n)
        if self.order not in (None, HASH) and n <= MOST_ORDERED:
            values = ordered_keys(segments.scatter(str(self.order), order, scratch)).astype(np.uint64, copy=False)
            first, whole = int(values.min()), (np.zeros(1, np.int64), np.array([n]))
            shift = 64 - max(1, (int(values.max()) - first).bit_length())
            hash_partition.order_segments(ColumnBlocks([values]), *whole, first, shift, words, order)
        return order

    def segments(self, piece: Piece) -> ColumnSegments:
        """The rows of a piece where they are in memory, or loaded."""
        if self.in_memory is not None and piece.blocks is None:
            return self.in_memory(piece.start, piece.stop)
        return self.store.load_partitions(self.names, piece.start, piece.stop, numbers=piece.blocks).segments()


def parquet_files(store: BlockStore, key_dtype: np.dtype | None, n_threads: int) -> Iterator[list[Any]]:
    """The rows of a store as Parquet files, each in pieces. `key_dtype` is the type of the keys of its exchange."""
    types = store.types
    schema = pyarrow.schema([*key_fields(key_dtype), *value_fields(types)])
    floats = (name for name in (*names_of(types, SCORE), *types) if types[name].kind == "f")
    value = next(floats, None) if key_dtype is None else None
    with nullcontext(store) if value is None else ordered_by(store, value, n_threads) as ordered:
        writer = RowsWriter(ordered, key_dtype, value if key_dtype is None else HASH, schema)
        files = [list(pieces) for _, pieces in groupby(find_pieces(ordered), key=attrgetter("file"))]
        yield from in_order(writer.write, files, n_threads)


def in_order(work: Callable[[Any], Any], tasks: Sequence[Any], n_threads: int) -> Iterator[Any]:
    """The results of all tasks in their order; few are made before they are taken, and others while one is used."""
    if n_threads == 1:
        yield from map(work, tasks)
        return
    from concurrent.futures import ThreadPoolExecutor

    left, pending = iter(tasks), deque[Any]()
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            pending.extend(submit(pool, work, own) for own in islice(left, n_threads + 1))
            while pending:
                result = pending.popleft().result()
                pending.extend(submit(pool, work, own) for own in islice(left, 1))
                yield result
        finally:
            for future in pending:
                future.cancel()


@contextmanager
def ordered_by(store: BlockStore, name: str, n_threads: int) -> Iterator[BlockStore]:
    """A store of the same rows whose partitions are ranges of the values of a column, for a while.

    Blocks in memory are not there twice: the rows of the store itself are put in this order. Others are on disk.
    """
    most_rows = None if store.budget is None else max(1, store.budget.bytes_per_range // store.row_bytes)
    splitter = split_scores(sample_columns(store.block_readers([name]))[name], store.rows, most_rows)
    ranged = BlockStore(splitter.n_buckets, store.budget)
    names = list(filter(is_stored, store.types))

    def reorder(number: int) -> Block:
        columns = BlockReader(store, names, store.block(number)).load()
        return reorder_by_value(splitter, columns[name], columns)

    try:
        for number, block in enumerate(in_order(reorder, range(store.n_blocks), n_threads)):
            is_in_memory = number < len(store.blocks_in_memory)
            ranged.add(block, is_in_memory)
            if is_in_memory:
                own = store.blocks_in_memory[number]
                store.blocks_in_memory[number] = own._replace(columns=own.columns | block.columns)
        yield ranged
    finally:
        ranged.blocks_in_memory.clear()  # they belong to the store
        ranged.close()


def find_pieces(store: BlockStore) -> Iterator[Piece]:
    """The rows of a store in pieces that fit its budget; a partition that is larger is cut between blocks."""
    row_bytes = store.loaded_row_bytes
    file_rows = FILE_ROWS if store.budget is None else max(1, min(FILE_ROWS, store.budget.bytes_per_range // row_bytes))
    piece_rows, before = min(file_rows, PIECE_ROW_GROUPS * ROW_GROUP_ROWS), 0
    for start, stop in store.partition_ranges(piece_rows * row_bytes):
        rows = int(store.partition_rows[start:stop].sum())
        whole = StoredRange(store, [], start, rows)
        parts = [whole] if rows <= LARGE_FACTOR * piece_rows else whole.parts(piece_rows)
        for blocks, of_blocks in grouped((part.blocks, part.rows) for part in parts).items():
            yield Piece(before // file_rows, start, stop, blocks)
            before += sum(of_blocks)


def integers_of(values: np.ndarray) -> np.ndarray:
    """A column as it is stored: booleans, or integers of 32 or 64 bits."""
    if values.dtype == np.uint8:
        return values.view(np.bool_)
    if values.dtype.kind == "f":
        return ordered_bits(values)
    return values.view(np.int64) if values.itemsize == 8 else values.astype(np.int32)


def key_columns(
    dtype: np.dtype, columns: dict[str, np.ndarray], step: int
) -> Callable[[slice], list[PageColumn]]:
    """The keys of a range of rows: those that the row before has not, and the first of every `step` rows."""
    hashes, heads = columns[HASH], columns.get(HEAD)
    has_key = np.ones(hashes.shape[0], np.bool_)
    if heads is not None and TAIL in columns:
        texts = texts_of_slots(heads, columns[TAIL])
        has_key[1:] = numpy_values(compute.not_equal(texts[1:], texts[:-1]))
        has_key[::step] = True

        def texts_of(rows: slice) -> list[PageColumn]:
            own = has_key[rows]
            data, offsets = text_buffers(texts[rows].filter(pyarrow.array(own)))
            lengths = (offsets[1:] - offsets[:-1]).astype(np.int32)
            return [PageColumn(lengths, own, data[offsets[0] : offsets[-1]])]

        return texts_of
    has_key[1:] = hashes[1:] != hashes[:-1]
    if heads is not None:
        has_key[1:] |= heads[1:] != heads[:-1]
    has_key[::step] = True

    def numbers_of(rows: slice) -> list[PageColumn]:
        own = has_key[rows]
        slots = hashes[rows][own], None if heads is None else heads[rows][own]
        return [PageColumn(numbers.view(np.int64), own) for numbers in numbers_of_slots(*slots)]

    return numbers_of


def texts_of_slots(heads: np.ndarray, tails: np.ndarray) -> Any:
    """Texts as an Arrow array of bytes."""
    offsets = np.zeros(heads.shape[0] + 1, np.int64)
    np.cumsum(heads & LENGTH, out=offsets[1:])
    data = np.empty(int(offsets[-1]), np.uint8)
    hash_partition.copy_texts(heads, tails, offsets, data)
    buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(data)]
    return pyarrow.LargeBinaryArray.from_buffers(pyarrow.large_binary(), heads.shape[0], buffers)


# ---------------------------------------------------------------------------------------------------------- reading


class StoredRows(RowSource):
    """The rows of a section: `data` is its bytes, or where they are.

    Columns are those of an exchange: hashes and slots of keys, then the others in the order in which they are stored.
    `check` raises an error for columns with numbers that no state has.
    """

    metadata: Any = None

    def __init__(
        self, data: bytes | StoredSection, types: Mapping[str, Any], key_dtype: np.dtype | None, check: Check
    ) -> None:
        self.data = data
        self.key_dtype = key_dtype
        self.check = check
        self.offsets = np.zeros(2, np.int64)  # where partitions begin, if that is known
        keys = key_fields(key_dtype)
        expected = {field.name: field for field in (*keys, *value_fields(types))}
        with self.open() as file:
            found = {field.name: field for field in file.schema_arrow}
            if found != expected:  # texts of fields take time
                require(False, f"it has columns {[*found.values()]}, and not {[*expected.values()]}")
            self.metadata = file.metadata
        self.slots = [] if key_dtype is None else [HASH, *slots_of(key_dtype)]
        own = {name: np.dtype(types[name]) for name in sorted(types, key=[*found].index)}
        self.types = dict.fromkeys(self.slots, np.dtype(np.uint64)) | own
        self.keys = [field.name for field in keys]
        sizes = [self.metadata.row_group(number).num_rows for number in range(self.metadata.num_row_groups)]
        require(all(0 < size <= ROW_GROUP_ROWS for size in sizes), "a row group has too many rows, or none")
        self.edges = np.cumsum([0, *sizes])

    @property
    def rows(self) -> int:
        return int(self.edges[-1])

    def open(self) -> Any:
        source = pyarrow.BufferReader(self.data) if isinstance(self.data, bytes) else SectionReader(self.data)
        return parquet.ParquetFile(source, metadata=self.metadata, page_checksum_verification=True)

    def load(self, start: int, stop: int, names: Collection[str]) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Columns of the row groups from start to stop, and the text of their slots."""
        keys = [] if {*self.slots}.isdisjoint(names) else self.keys
        values = [name for name in self.types if name in names and name not in self.slots]
        with self.open() as file:
            table = file.read_row_groups([*range(start, stop)], [*keys, *map(str, values)], use_threads=False)
        table.validate(full=True)
        require(table.num_rows == self.edges[stop] - self.edges[start], "a row group has not the rows it counts")
        columns = {name: values_of_array(table[name].combine_chunks(), self.types[name]) for name in values}
        self.check(columns)
        if not keys or self.key_dtype is None:
            return columns, NO_TEXT
        slots, text = slots_of_keys([table[name].combine_chunks() for name in keys], self.key_dtype)
        bounds = np.clip(self.offsets, self.edges[start], self.edges[stop])
        rows = bounds[1:] - bounds[:-1]
        if len(rows) > 1:  # kernels rely on it that rows are in their partitions
            found = slots[HASH] >> np.uint64(64 - (len(rows) - 1).bit_length())
            require((found == np.arange(len(rows)).repeat(rows)).all(), "a row is not in its partition")
        return slots | columns, text

    def blocks(self, offsets: np.ndarray, most_rows: int, text_bytes: int) -> Iterator[StoredBlock]:
        """Blocks of whole row groups, of about so many rows with so many bytes of text each.

        `offsets` are the rows at which partitions begin.
        """
        self.offsets, edges, start = offsets, self.edges, 0
        while start < len(edges) - 1:
            first = int(edges[start])
            start = max(start + 1, int(np.searchsorted(edges, first + most_rows, "right")) - 1)
            of_block = (np.clip(offsets, first, edges[start]) - first).astype(np.int32)
            yield StoredBlock(self, first, of_block, text_bytes * int(of_block[-1]))

    def read(self, first: int, columns: dict[str, np.ndarray]) -> np.ndarray:
        section: Any = self.data
        stop = first + len(next(iter(columns.values())))
        groups = int(np.searchsorted(self.edges, first, "right")) - 1, int(np.searchsorted(self.edges, stop))
        try:
            with errors_mean_damage("its rows", *READING):
                loaded, text = self.load(*groups, columns)
        except StateError as error:
            raise StateError(f"{section.file.path}: section {section.name}: {error}") from error
        before = int(self.edges[groups[0]])
        for name, out in columns.items():
            out[:] = loaded[name][first - before : stop - before]
        return text


def values_of_array(array: Any, dtype: np.dtype) -> np.ndarray:
    """A column as exchanges store it."""
    require(not array.null_count, "a value is missing")
    values = numpy_values(array)
    return values.view(dtype) if dtype.kind != "f" else ordered_bits(values).view(dtype)


def slots_of_keys(arrays: list[Any], dtype: np.dtype) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The hashes and slots of rows, and the text that slots point to. One without a key has that of the row before."""
    is_first = [numpy_values(array.is_valid()) for array in arrays]
    require(is_first[0][0] and all((own == is_first[0]).all() for own in is_first), "a row has no key")
    rows = np.bincount(np.cumsum(is_first[0]) - 1)
    keys = keys_of_arrays([array.drop_null() for array in arrays], dtype)
    own, n = KeyScratch(len(rows), dtype), len(rows)
    keys.hash_block(0, n, own)
    slots = {HASH: own.hashes, HEAD: own.heads, TAIL: own.tails}
    found = {name: np.repeat(slots[name][:n], rows) for name in (HASH, *slots_of(dtype))}
    text = NO_TEXT
    if TAIL in found and own.long_bytes[0]:
        lengths = (found[HEAD] & LENGTH).astype(np.int64)
        text = np.empty(int(lengths[lengths > hash_partition.SHORT_TEXT_BYTES].sum()) + TEXT_PADDING, np.uint8)
        hash_partition.copy_long_texts(found[HEAD], found[TAIL], own.data, text)
    return found, text


def keys_of_arrays(arrays: list[Any], dtype: np.dtype) -> Keys:
    """Keys as they are in a file."""
    if TAIL in slots_of(dtype):
        return TextKeys(*text_buffers(arrays[0]))
    numbers = [NumberKeys(numpy_values(own), part) for own, part in zip(arrays, parts_of(dtype), strict=True)]
    return numbers[0] if len(numbers) == 1 else TupleKeys(numbers, dtype)
