"""Values as intervals: exact comparison with edges, and the edges that are quantiles of a log."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from fastmetrics._core.columns.arrow_columns import numpy_values
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.blocks import Block
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import pyarrow
from fastmetrics.engine.input.batches import Source
from fastmetrics.engine.input.input_options import InputOptions
from fastmetrics.engine.input.temporary_copy import TemporaryCopy
from fastmetrics.engine.plan.slice_bins import SliceBins

KEY = "key"
CELL_BITS = 20  # counts of 8 MB
FEW_KEYS = 1 << 20  # so many keys are sorted
FEW_EDGES = 24  # so many comparisons cost less than a search
EDGE_CELLS = 1 << 14
INT64_RANGE = (-(1 << 63), (1 << 63) - 1)
UINT64_MOST = (1 << 64) - 1
COPY_REMEDY = "give another folder with spill_dir=..., or a source that can be read twice, such as a file"


def cut_column(bins: SliceBins, column: Any) -> Any:
    """The interval of every value of a pyarrow array, as a dictionary array; null and NaN have none."""
    values, missing = read_values(bins, column)
    edges = exact_edges(bins.edges or (), values.dtype)
    if edges.shape[0] <= FEW_EDGES:
        indices = np.zeros(values.shape[0], np.int8)
        for edge in edges:
            indices += values >= edge
    else:
        indices = count_edges(edges, values if missing is None else np.where(missing, edges[0], values))
    labels = pyarrow.array(bins.labels())
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array(indices, mask=missing), labels)


def count_edges(edges: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The number of edges that are at most each value: searched only in cells that have an edge.

    The cell of a number never falls while the number rises, so all edges of lower cells are below a value, and those of
    higher cells above it.
    """
    low = float(edges[0])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        scale = np.float64(EDGE_CELLS - 1) / (np.float64(edges[-1]) - low)
        if values.shape[0] < EDGE_CELLS or not np.isfinite(scale) or scale <= 0:
            return np.searchsorted(edges, values, "right").astype(np.int32)

        def cells_of_numbers(numbers: np.ndarray) -> np.ndarray:
            places = numbers.astype(np.float64)
            places -= low
            places *= scale
            np.clip(places, 0, EDGE_CELLS - 1, out=places)
            return places.astype(np.int64)

        n_edges = np.bincount(cells_of_numbers(edges), minlength=EDGE_CELLS)
        known: np.ndarray = np.where(n_edges > 0, -1, n_edges.cumsum()).astype(np.int32)
        counts: np.ndarray = known[cells_of_numbers(values)]
    unknown = np.flatnonzero(counts < 0)
    counts[unknown] = np.searchsorted(edges, values[unknown], "right")
    return counts


def read_values(bins: SliceBins, column: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Numbers as int64, uint64, float32 or float64, and the mask of those that are null or NaN."""
    types = pyarrow.types
    kind = column.type
    if types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if types.is_null(kind):
        return np.zeros(len(column)), np.ones(len(column), bool)
    if types.is_float16(kind):
        column = column.cast(pyarrow.float32())
    elif types.is_integer(kind):
        column = column.cast(pyarrow.uint64() if types.is_uint64(kind) else pyarrow.int64())
    elif not types.is_floating(kind):
        raise TypeError(
            f"by column {bins.column!r} has Arrow type {kind}: {bins.title!r} cuts integers and floats; cast it, such "
            f"as cut(cast({bins.column} as double), [...])"
        )
    missing = np.asarray(column.is_null(nan_is_null=True)) if column.null_count or types.is_floating(kind) else None
    if column.null_count:
        column = column.fill_null(0)
    values = numpy_values(column)
    return values, missing if missing is not None and missing.any() else None


def exact_edges(edges: Sequence[int | float], dtype: np.dtype) -> np.ndarray:
    """Edges in the type of the values, such that a value is at least an edge exactly if it is here.

    An edge becomes the least number of the type that is not below it.
    """
    if dtype.kind == "f":
        # An integer beyond 2**53 may be rounded to a float below it; Python compares them exactly.
        found = np.array([next_up(float(edge)) if float(edge) < edge else float(edge) for edge in edges], np.float64)
        if dtype != np.float32:
            return found.astype(np.float64)
        near = found.astype(np.float32)
        return np.where(near < found, np.nextafter(near, np.float32(np.inf)), near).astype(np.float32)
    least, most = INT64_RANGE if dtype.kind == "i" else (0, UINT64_MOST)
    # No value reaches an edge beyond the type.
    return np.array([max(math.ceil(edge), least) for edge in edges if edge <= most], dtype)


def next_up(value: float) -> float:
    return float(np.nextafter(value, np.inf))


# --------------------------------------------------------------------------------------------------------- quantiles


def find_quantiles(
    source: Source, bins: Sequence[SliceBins], mask: str | None, budget: MemoryBudget, use_threads: bool
) -> list[SliceBins]:
    """The bins with the edges that are quantiles of the rows of a log, which is read for them.

    Edge i of n is the least value v such that at least i of n parts of the rows are at most v (the inverse of the
    distribution function). Edges that are equal are one.
    """
    columns = list(dict.fromkeys([*(own.column for own in bins), *([] if mask is None else [mask])]))
    stores = [BlockStore(1, budget) for _ in bins]
    dtypes: list[np.dtype | None] = [None] * len(bins)
    try:
        for batch in source.batches(columns, use_threads=use_threads):
            keep = None if mask is None else batch.column(columns.index(mask))
            for number, own in enumerate(bins):
                column = batch.column(columns.index(own.column))
                values, missing = read_values(own, column if keep is None else column.filter(keep))
                dtypes[number] = values.dtype
                add_keys(stores[number], values if missing is None else values[~missing])
        return [
            own._replace(edges=select_edges(store, own.n_bins or 2, dtype))
            for own, store, dtype in zip(bins, stores, dtypes, strict=True)
        ]
    finally:
        for store in stores:
            store.close()


def add_keys(store: BlockStore, values: np.ndarray) -> None:
    """Store the keys of some values, in memory or on disk."""
    if values.shape[0]:
        keys = keys_of(values)
        store.add(Block({KEY: keys}, np.array([0, keys.shape[0]], np.int32)), store.try_reserve(keys.nbytes))


def keys_of(values: np.ndarray) -> np.ndarray:
    """Unsigned integers in the order of the values; -0.0 is 0.0."""
    size = values.dtype.itemsize
    unsigned, sign = np.dtype(f"u{size}"), np.array(1 << (8 * size - 1), f"u{size}")
    if values.dtype.kind == "u":
        return values.astype(unsigned)
    if values.dtype.kind == "i":
        integers: np.ndarray = values.view(unsigned) ^ sign
        return integers
    bits = (values + values.dtype.type(0)).view(unsigned)
    # All bits of a negative value are flipped, of another one only the sign.
    flipped = (bits.view(f"i{size}") >> (8 * size - 1)).view(unsigned) | sign
    keys: np.ndarray = bits ^ flipped
    return keys


def value_of(key: int, dtype: np.dtype) -> int | float:
    """The value that a key stands for."""
    size = dtype.itemsize
    sign = 1 << (8 * size - 1)
    if dtype.kind == "u":
        return key
    if dtype.kind == "i":
        return key - sign
    bits = key ^ sign if key & sign else ~key & (2 * sign - 1)
    return float(np.array([bits], f"u{size}").view(dtype)[0])


def select_edges(store: BlockStore, n_bins: int, dtype: np.dtype | None) -> tuple[int | float, ...]:
    """The distinct quantiles of the stored keys; none without rows."""
    rows = store.rows
    if not rows or dtype is None:
        return ()
    ranks = [-(-number * rows // n_bins) - 1 for number in range(1, n_bins)]
    found = select_keys(store, ranks)
    return tuple(value_of(key, dtype) for key in sorted(set(found)))


class Digit(NamedTuple):
    """Some bits of the keys. The table has the number of the wanted prefix that ends with them; -1: it is unwanted."""

    shift: int
    width: int
    table: np.ndarray


def select_keys(store: BlockStore, ranks: Sequence[int]) -> list[int]:
    """The keys of these ranks, counted from 0.

    Distances of keys from the least key are counted by their first bits, then by the next ones, as far as they begin
    like one that is looked for. Those that are left are sorted once they are few. There are never more than
    2**CELL_BITS counts.
    """
    ends_of_blocks = [(keys.min(), keys.max()) for keys in (own.load()[KEY] for own in store.block_readers([KEY]))]
    least = min(low for low, _ in ends_of_blocks)
    digits: list[Digit] = []
    prefixes, left = np.zeros(1, np.uint64), store.rows
    shift = int(max(high for _, high in ends_of_blocks) - least).bit_length()
    places = np.array(ranks, np.int64)  # the ranks among the keys that are left
    numbers = np.zeros_like(places)  # of the prefix of each
    while left > FEW_KEYS and shift:
        width = min(shift, CELL_BITS - (prefixes.shape[0] - 1).bit_length())
        shift -= width
        counts = np.zeros(prefixes.shape[0] << width, np.int64)
        digit = Digit(shift, width, np.full(counts.shape[0], -1, np.int32))
        for keys, own_numbers in keys_left(store, least, digits):
            np.add.at(counts, cells_of(keys, own_numbers, digit), 1)
        ends = counts.cumsum()
        cells = np.searchsorted(ends, places, "right")
        wanted, numbers = np.unique(cells, return_inverse=True)
        kept = counts[wanted]
        places += (kept.cumsum() - ends[wanted])[numbers]
        digit.table[wanted] = np.arange(wanted.shape[0])
        digits.append(digit)
        last_bits = (wanted & ((1 << width) - 1)).astype(np.uint64)
        prefixes = (prefixes[wanted >> width] << np.uint64(width)) | last_bits
        left = int(kept.sum())
    if left > FEW_KEYS:  # many keys are equal, and the prefixes are whole distances
        found = prefixes[numbers]
    else:
        few = np.concatenate([keys for keys, _ in keys_left(store, least, digits)])
        few.sort()
        found = few[places]
    return [distance + int(least) for distance in found.tolist()]


def keys_left(
    store: BlockStore, least: np.unsignedinteger[Any], digits: Sequence[Digit]
) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
    """The distances from the least key in each block that begin with a wanted prefix, and the number of the prefix.

    Without digits there is one prefix, the empty one.
    """
    for reader in store.block_readers([KEY]):
        keys = reader.load()[KEY] - least
        numbers = None
        for digit in digits:
            numbers = digit.table[cells_of(keys, numbers, digit)]
            is_left = numbers >= 0
            keys, numbers = keys[is_left], numbers[is_left]
        yield keys, numbers


def cells_of(keys: np.ndarray, numbers: np.ndarray | None, digit: Digit) -> np.ndarray:
    """The numbers of prefixes, followed by the next bits of the keys. Without numbers, the bits are the first ones."""
    dtype = keys.dtype.type
    bits = keys >> dtype(digit.shift)
    if numbers is not None:
        bits &= dtype((1 << digit.width) - 1)
    cells: np.ndarray = bits.astype(np.int64)
    if numbers is not None:
        cells |= numbers.astype(np.int64) << digit.width
    return cells


@contextmanager
def read_twice(source: Source, columns: Sequence[str], budget: MemoryBudget) -> Iterator[Source]:
    """A source that can be read again: itself, or a copy of a stream's columns in a temporary file."""
    if not source.reads_once:
        yield source
        return
    from fastmetrics.engine.input.sources import open_source

    copy = TemporaryCopy("copying a stream, which is read twice for quantiles, to", budget.folder, COPY_REMEDY)
    with copy.path() as path:
        write_stream(source, columns, path, copy)
        yield open_source(path, InputOptions(format="arrow"))


def write_stream(source: Source, columns: Sequence[str], path: str, copy: TemporaryCopy) -> None:
    """Write the columns of a stream to a file."""
    writer = None
    try:
        for batch in source.batches(columns):
            if writer is None:
                copy.check_space((source.rows or 0) * least_row_bytes(batch.schema))
                with copy.writing(0):
                    writer = pyarrow.ipc.new_file(path, batch.schema)
            with copy.writing(batch.nbytes):
                writer.write_batch(batch)
        if writer is None:
            raise ValueError("data has no rows: at least one is needed")
        with copy.writing(0):
            writer.close()
    except BaseException:
        if writer is not None:
            with suppress(OSError):  # the end of the file fits the disk no more than the rows before it
                writer.close()
        raise


def least_row_bytes(schema: Any) -> int:
    """The fewest bytes that a row takes in a file; a text may have no bytes beside its offset."""
    return sum(field.type.bit_width if is_fixed(field.type) else 32 for field in schema) // 8


def is_fixed(data_type: Any) -> bool:
    types = pyarrow.types
    return bool(types.is_primitive(data_type) or types.is_decimal(data_type) or types.is_fixed_size_binary(data_type))
