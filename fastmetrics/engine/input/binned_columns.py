"""Values as intervals: exact comparison with edges, and the edges that are quantiles of a log."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from fastmetrics._core.columns.arrow_columns import numpy_values
from fastmetrics._core.exchange.block_store import Block, BlockStore
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.optional_imports import pyarrow
from fastmetrics.engine.input.batches import Source
from fastmetrics.engine.input.input_options import InputOptions
from fastmetrics.engine.input.temporary_copy import TemporaryCopy
from fastmetrics.engine.plan.slice_bins import SliceBins

KEY = "key"
PREFIX_BITS = 16
FEW_EDGES = 24  # so many comparisons cost less than a search
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
        indices = np.searchsorted(edges, values, "right").astype(np.int32)
    labels = pyarrow.array(bins.labels())
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array(indices, mask=missing), labels)


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
    found = select_keys(store, ranks, 8 * dtype.itemsize)
    return tuple(value_of(key, dtype) for key in sorted(set(found)))


def select_keys(store: BlockStore, ranks: list[int], bits: int) -> list[int]:
    """The keys of these ranks, counted from 0. Keys are counted by their first bits, and further only where needed."""
    # Of every rank: the first bits of its key, and its rank among the keys that begin with them.
    prefixes = [(0, rank) for rank in ranks]
    for shift in range(bits - PREFIX_BITS, -1, -PREFIX_BITS):
        wanted = np.array(sorted({prefix for prefix, _ in prefixes}), np.uint64)
        counts = count_next_bits(store, wanted, shift, bits)
        below = counts.cumsum(1)
        refined = []
        for prefix, rank in prefixes:
            row = int(np.searchsorted(wanted, np.uint64(prefix)))
            digit = int(np.searchsorted(below[row], rank, "right"))
            refined.append(((prefix << PREFIX_BITS) | digit, rank - (int(below[row, digit - 1]) if digit else 0)))
        prefixes = refined
    return [prefix for prefix, _ in prefixes]


def count_next_bits(store: BlockStore, prefixes: np.ndarray, shift: int, bits: int) -> np.ndarray:
    """How many keys begin with each prefix and go on with each value of the next bits."""
    counts = np.zeros((prefixes.shape[0], 1 << PREFIX_BITS), np.int64)
    level = (bits - shift) // PREFIX_BITS
    # The second level has most of the work that is left: a table is faster than a search.
    table = np.full(1 << PREFIX_BITS, -1, np.int64)
    if level == 2:
        table[prefixes.astype(np.int64)] = np.arange(prefixes.shape[0])
    for reader in store.block_readers([KEY]):
        keys = reader.load()[KEY]
        if level == 1:
            counts[0] += np.bincount((keys >> keys.dtype.type(shift)).astype(np.intp), minlength=1 << PREFIX_BITS)
            continue
        if level == 2:
            rows = table[(keys >> keys.dtype.type(shift + PREFIX_BITS)).astype(np.intp)]
            kept = np.flatnonzero(rows >= 0)
        else:
            own = (keys >> keys.dtype.type(shift + PREFIX_BITS)).astype(np.uint64)
            rows = np.searchsorted(prefixes, own)
            rows[rows == prefixes.shape[0]] = 0
            kept = np.flatnonzero(prefixes[rows] == own)
        rows = rows[kept]
        heads = (keys[kept] >> keys.dtype.type(shift)).astype(np.uint64)
        cells = rows * (1 << PREFIX_BITS) + (heads & np.uint64((1 << PREFIX_BITS) - 1)).astype(np.int64)
        counts += np.bincount(cells, minlength=counts.size).reshape(counts.shape)
    return counts


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
