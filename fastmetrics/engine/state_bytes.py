"""An accumulator's state as bytes, and back: a header that names version and content, a checksum, arrays.

The layout is little-endian: MAGIC, format (uint32), length of the header (uint32), length of the arrays (uint64),
checksum of header and arrays (16 bytes), header (JSON, padded to 8 bytes), arrays (each padded to 8 bytes). Nothing in
it is executed when it is read, and nothing is believed that would send a kernel beyond its arrays.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics import _version
from fastmetrics._core.blocks import HEAD, NO_TEXT, TAIL, TEXT_PADDING, Block
from fastmetrics._core.by_group import HASH, GroupExchange
from fastmetrics._core.histogram import ScoreHistogram
from fastmetrics._core.rows import SLICE, label_name
from fastmetrics._core.statistic import Sums
from fastmetrics._kernels import partition

if TYPE_CHECKING:
    from fastmetrics.engine.accumulator import Accumulator

MAGIC = b"FMSTATE\n"
FORMAT = 1
PREFIX = struct.Struct("<8sIIQ16s")
ALIGNMENT = 8


def padded(length: int) -> int:
    return -(-length // ALIGNMENT) * ALIGNMENT


def checksum(header: bytes | memoryview, body: bytes | memoryview) -> bytes:
    from hashlib import blake2b

    digest = blake2b(header, digest_size=16)
    digest.update(body)
    return digest.digest()


class ArrayWriter:
    """Arrays one after the other; what is put into the header is their number."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.shapes: list[tuple[str, list[int]]] = []

    def add(self, array: np.ndarray) -> int:
        little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
        data = little.tobytes()
        self.pieces.append(data + bytes(padded(len(data)) - len(data)))
        self.shapes.append((little.dtype.str, list(little.shape)))
        return len(self.shapes) - 1


class ArrayReader:
    """The arrays of a state, by number; views of its bytes."""

    def __init__(self, body: memoryview, shapes: list[tuple[str, list[int]]]) -> None:
        self.arrays = []
        place = 0
        for kind, shape in shapes:
            dtype = np.dtype(kind)
            if dtype.kind not in "iuf" or any(not isinstance(length, int) or length < 0 for length in shape):
                raise ValueError("the state is damaged: an array has no known type")
            count = int(np.prod(shape, dtype=object)) if shape else 1
            if place + count * dtype.itemsize > len(body):
                raise ValueError("the state is damaged: its arrays are longer than its bytes")
            array = np.frombuffer(body, dtype, count, place).reshape(shape)
            self.arrays.append(array.astype(dtype.newbyteorder("="), copy=False))
            place += padded(count * dtype.itemsize)

    def get(self, number: Any, dtype: Any, *shape: int | None) -> np.ndarray:
        """An array of the type and shape expected."""
        if not isinstance(number, int) or not 0 <= number < len(self.arrays):
            raise ValueError("the state is damaged: an array is missing")
        array = self.arrays[number]
        fits = len(shape) == array.ndim and all(
            own in (None, found) for own, found in zip(shape, array.shape, strict=True)
        )
        if array.dtype != np.dtype(dtype) or not fits:
            raise ValueError("the state is damaged: an array has another type or shape than expected")
        return array


def write_state(state: Accumulator) -> bytes:
    """The bytes of a state."""
    state.flush()
    scan, arrays = state.scan, ArrayWriter()
    statistics = {statistic: number for number, statistic in enumerate(scan.plan.statistics["none"])}
    exchange = scan.exchange
    header = {
        "library": _version.__version__,
        "metrics": [repr(metric) for metric in scan.plan.metrics],
        "names": list(state.names),
        "on_invalid": state.on_invalid,
        "approximate": state.approximate,
        "state_size": state.state_size,
        "types": state.types,
        "rows": scan.rows,
        "dropped": scan.dropped,
        "seen": scan.seen,
        "minus_one_rows": scan.minus_one_rows,
        "n_slices": len(scan.reader.slices),
        "slices": arrays.add(slices_to_array(scan.reader.slices.values(), state.names.by)),
        "sums": [
            [statistics[statistic], view, number, arrays.add(sums.counts), arrays.add(sums.exact)]
            for (statistic, view, number), sums in state.additive.sums.items()
        ],
        "histograms": [
            [view, number, histogram.shift, arrays.add(histogram.prefixes), arrays.add(histogram.counts)]
            for (view, number), histogram in state.histograms.items()
        ],
        "exchange": None if exchange is None else [exchange.is_text, exchange.key_dtype.str, exchange.bits],
        "blocks": [write_block(block, arrays) for block in scan.source().held],
    }
    text = json.dumps(header | {"arrays": arrays.shapes}, allow_nan=False).encode()
    text += b" " * (padded(len(text)) - len(text))
    body = b"".join(arrays.pieces)
    return b"".join((PREFIX.pack(MAGIC, FORMAT, len(text), len(body), checksum(text, body)), text, body))


def write_block(block: Block, arrays: ArrayWriter) -> list[Any]:
    """Columns, offsets and text of a block; long text is found by its place instead of its address."""
    columns = dict(block.columns)
    if block.text.shape[0]:
        lengths = columns[HEAD] & np.uint64(0xFFFFFFFF)
        base = np.uint64(block.text.ctypes.data)
        columns[TAIL] = np.where(lengths > partition.SHORT_TEXT_BYTES, columns[TAIL] - base, columns[TAIL])
    return [{name: arrays.add(own) for name, own in columns.items()}, arrays.add(block.offsets), arrays.add(block.text)]


def slices_to_array(values: list[tuple[Any, ...]], names: tuple[str, ...]) -> np.ndarray:
    """Slices as Arrow's own bytes, which keep dates dates."""
    if not values:
        return NO_TEXT
    import pyarrow

    columns = [pyarrow.array(column) for column in zip(*values, strict=True)]
    table = pyarrow.table(columns, names=[str(number) for number in range(len(names))])
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return np.frombuffer(sink.getvalue(), np.uint8)


def slices_from_array(data: np.ndarray) -> list[tuple[Any, ...]]:
    if not data.shape[0]:
        return []
    import pyarrow

    table = pyarrow.ipc.open_stream(pyarrow.py_buffer(data)).read_all()
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def read_state(data: Any, n_threads: int | None) -> Accumulator:
    """The state of bytes that write_state made; ValueError for everything else."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"a state is bytes, as to_bytes gives them; found {type(data).__name__}")
    header, body = split(bytes(data))
    try:
        return build(header, ArrayReader(body, header["arrays"]), n_threads)
    except (KeyError, IndexError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"the state is damaged: its header does not fit its numbers ({error})") from error


def split(data: bytes) -> tuple[dict[str, Any], memoryview]:
    """Header and arrays, after all checks that need no understanding of them."""
    if len(data) < PREFIX.size or data[: len(MAGIC)] != MAGIC:
        raise ValueError("these bytes are no state of an Accumulator: they do not begin as to_bytes begins them")
    _, version, header_length, body_length, digest = PREFIX.unpack_from(data)
    if version != FORMAT:
        raise ValueError(f"the state has format {version}; this version of fastmetrics reads format {FORMAT}")
    if len(data) != PREFIX.size + header_length + body_length:
        expected = PREFIX.size + header_length + body_length
        raise ValueError(f"the state is damaged: it has {len(data):,} bytes where {expected:,} are expected")
    view = memoryview(data)[PREFIX.size :]
    if checksum(view[:header_length], view[header_length:]) != digest:
        raise ValueError("the state is damaged: its checksum does not fit its bytes")
    header = json.loads(bytes(view[:header_length]))
    if header["library"] != _version.__version__:
        raise ValueError(
            f"the state was written by fastmetrics {header['library']}; this is {_version.__version__}. "
            "States are for one version: a metric's definition may have changed"
        )
    return header, view[header_length:]


def build(header: dict[str, Any], arrays: ArrayReader, n_threads: int | None) -> Accumulator:
    from fastmetrics.engine.accumulator import Accumulator

    labels, scores, group, weight, by = header["names"]
    state = Accumulator(
        header["metrics"], label=labels, score=scores, group=group, weight=weight, by=by or None,
        on_invalid=header["on_invalid"], n_threads=n_threads, approximate=header["approximate"],
        state_size=header["state_size"],
    )  # fmt: skip
    scan = state.scan
    state.types = None if header["types"] is None else tuple(header["types"])
    scan.rows = header["rows"]
    scan.dropped = dict(header["dropped"])
    scan.kept = scan.rows - sum(scan.dropped.values())
    scan.seen = list(header["seen"])
    scan.minus_one_rows = list(header["minus_one_rows"])
    scan.reader.slices.number_of(slices_from_array(arrays.get(header["slices"], np.uint8, None)))
    n_slices = len(scan.reader.slices)
    statistics = scan.plan.statistics["none"]
    for index, view, number, counts, exact in header["sums"]:
        sums = statistics[index].new()
        own = Sums(0, 0)
        own.counts = arrays.get(counts, np.int64, *sums.counts.shape)
        own.exact = arrays.get(exact, np.int64, *sums.exact.shape)
        sums.merge(own)
        state.additive.sums[statistics[index], view, number] = sums
    for view, number, shift, prefixes, counts in header["histograms"]:
        histogram = state.histograms[view, number] = ScoreHistogram(state.capacity)
        histogram.shift = shift
        histogram.prefixes = arrays.get(prefixes, np.uint64, None)
        histogram.counts = arrays.get(counts, np.int64, histogram.prefixes.shape[0], 2)
    if header["exchange"] is not None:
        is_text, key_dtype, bits = header["exchange"]
        scan.exchange = GroupExchange(is_text, np.dtype(key_dtype), bits)
    store = scan.source()
    for columns, offsets, text in header["blocks"]:
        block = read_block(arrays, columns, offsets, text, store.n_partitions)
        check_block(block, n_slices, len(labels))
        store.add(block, True)
    return state


def read_block(arrays: ArrayReader, columns: dict[str, int], offsets: int, text: int, n_partitions: int) -> Block:
    own_offsets = arrays.get(offsets, np.int32, n_partitions + 1)
    rows = int(own_offsets[-1])
    if own_offsets[0] != 0 or (own_offsets[1:] < own_offsets[:-1]).any():
        raise ValueError("the state is damaged: a block's partitions are out of order")
    types = {HASH: np.uint64, HEAD: np.uint64, TAIL: np.uint64, SLICE: np.uint16, "weight": np.float64}
    found = {}
    for name, number in columns.items():
        wanted = np.uint8 if name.startswith("label") else types.get(name, arrays.arrays[number].dtype)
        found[name] = arrays.get(number, wanted, rows)
    own_text = arrays.get(text, np.uint8, None)
    if own_text.shape[0]:
        lengths = found[HEAD] & np.uint64(0xFFFFFFFF)
        is_long = lengths > partition.SHORT_TEXT_BYTES
        if int((found[TAIL][is_long] + lengths[is_long]).max(initial=0)) + TEXT_PADDING > own_text.shape[0]:
            raise ValueError("the state is damaged: a text key ends beyond the text")
        found[TAIL] = np.where(is_long, found[TAIL] + np.uint64(own_text.ctypes.data), found[TAIL])
    return Block(found, own_offsets, own_text)


def check_block(block: Block, n_slices: int, n_labels: int) -> None:
    """Numbers that kernels use as places."""
    for number in range(n_labels):
        if int(block.columns[label_name(number)].max(initial=0)) > 1:
            raise ValueError("the state is damaged: a label is neither 0 nor 1")
    if SLICE in block.columns and int(block.columns[SLICE].max(initial=0)) >= max(1, n_slices):
        raise ValueError("the state is damaged: a slice has no values")
