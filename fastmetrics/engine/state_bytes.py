"""An accumulator's state as bytes, and back: a header that names version and content, a checksum, arrays.

The layout is little-endian: MAGIC, format (uint32), length of the header (uint32), length of the arrays (uint64),
checksum of header and arrays (16 bytes), header (JSON, padded to 8 bytes), arrays (each padded to 8 bytes). Nothing in
it is executed when it is read, and nothing is believed that would send a kernel beyond its arrays. A checksum is no
signature: whoever can write a state can write one of other numbers.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics import _version
from fastmetrics._core.blocks import HEAD, NO_TEXT, TAIL, TEXT_PADDING, Block, BlockStore
from fastmetrics._core.by_group import HASH, UNIT, UNKNOWN_ROWS, GroupExchange, first_bits
from fastmetrics._core.histogram import KEY_BITS, ScoreHistogram
from fastmetrics._core.rows import SLICE, WEIGHT, label_name, score_name
from fastmetrics._kernels import columns as kernels
from fastmetrics._kernels import partition
from fastmetrics.engine.columns import ZERO_WEIGHT

if TYPE_CHECKING:
    from fastmetrics.engine.accumulator import Accumulator
    from fastmetrics.engine.scan import Scan

MAGIC = b"FMSTATE\n"
FORMAT = 1
PREFIX = struct.Struct("<8sIIQ16s")
ALIGNMENT = 8
MOST_DIMENSIONS = 2
HALF_EPS = float(np.finfo(np.float16).eps)  # as columns.type_eps
SINGLE_SCORES = ("halffloat", "float")  # kept as float32; all other types as float64


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
            fits = (
                dtype.kind in "iuf" and len(shape) <= MOST_DIMENSIONS and all(is_count(own, 1 << 48) for own in shape)
            )
            require(fits, "an array has no known type or shape")
            count = int(np.prod(shape, dtype=object)) if shape else 1
            if place + count * dtype.itemsize > len(body):
                raise ValueError("the state is damaged: its arrays are longer than its bytes")
            array = np.frombuffer(body, dtype, count, place).reshape(shape)
            self.arrays.append(array.astype(dtype.newbyteorder("="), copy=False))
            place += padded(count * dtype.itemsize)
        require(place == len(body), "its arrays are shorter than its bytes")

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
    header = {
        "library": _version.__version__,
        "metrics": [repr(metric) for metric in scan.plan.metrics],
        "names": list(state.names[:5]),
        "intervals": state.options_of_intervals(),
        "on_invalid": state.on_invalid,
        "approximate": state.approximate,
        "state_size": state.state_size,
        "types": state.types,
        "rows": scan.rows,
        "dropped": scan.dropped,
        "seen": scan.seen,
        "minus_one_rows": scan.minus_one_rows,
        "slices": arrays.add(slices_to_array(scan.reader.slices.values(), types_of_slices(state))),
        "sums": [
            [statistics[statistic], view, number, *map(arrays.add, own.arrays())]
            for (statistic, view, number), own in state.additive.sums.items()
        ],
        "histograms": [
            [view, number, histogram.shift, arrays.add(histogram.prefixes), arrays.add(histogram.counts)]
            for (view, number), histogram in state.histograms.items()
        ],
        "exchange": describe(scan.exchange),
        "units": None if scan.units is scan.exchange else describe(scan.units),
        "blocks": [write_block(block, arrays) for block in scan.source().held],
        "unit_blocks": [write_block(block, arrays) for block in unit_blocks(scan)],
    }
    text = json.dumps(header | {"arrays": arrays.shapes}, allow_nan=False).encode()
    text += b" " * (padded(len(text)) - len(text))
    body = b"".join(arrays.pieces)
    return b"".join((PREFIX.pack(MAGIC, FORMAT, len(text), len(body), checksum(text, body)), text, body))


def describe(exchange: GroupExchange | None) -> list[Any] | None:
    return None if exchange is None else [exchange.is_text, exchange.key_dtype.str, exchange.bits]


def unit_blocks(scan: Scan) -> list[Block]:
    """The rows by what is resampled, where others are kept by group."""
    return [] if scan.units is None or scan.units.store is scan.source() else scan.units.store.held


def write_block(block: Block, arrays: ArrayWriter) -> list[Any]:
    """Columns, offsets and text of a block; long text is found by its place instead of its address."""
    columns = {name: arrays.add(own) for name, own in block.movable_columns().items()}
    text = block.text
    if text.shape[0]:
        # Nobody wrote to the padding: what memory held before has no business in a state.
        text = np.concatenate((text[:-TEXT_PADDING], np.zeros(TEXT_PADDING, np.uint8)))
    return [columns, arrays.add(block.offsets), arrays.add(text)]


def types_of_slices(state: Accumulator) -> list[str]:
    return [] if state.types is None else list(state.types[len(state.types) - len(state.names.by) :])


def slices_to_array(values: list[tuple[Any, ...]], types: list[str]) -> np.ndarray:
    """Slices as Arrow's own bytes, which keep dates dates; `types` are those of the columns."""
    if not values:
        return NO_TEXT
    import pyarrow

    columns = [
        pyarrow.array(column, exact_type(name)) for column, name in zip(zip(*values, strict=True), types, strict=True)
    ]
    table = pyarrow.table(columns, names=[str(number) for number in range(len(types))])
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return np.frombuffer(sink.getvalue(), np.uint8)


def exact_type(name: str) -> Any:
    """The Arrow type of that name where Arrow would infer, from Python's values, one that cannot hold them."""
    import pyarrow

    if name == "uint64":
        return pyarrow.uint64()
    if name == "duration[ns]":
        return pyarrow.duration("ns")
    if name.startswith("timestamp[ns"):
        return pyarrow.timestamp("ns", name.partition("tz=")[2].removesuffix("]") or None)
    return None


def slices_from_array(data: np.ndarray, n_columns: int) -> list[tuple[Any, ...]]:
    if not data.shape[0]:
        return []
    import pyarrow

    try:
        table = pyarrow.ipc.open_stream(pyarrow.py_buffer(data)).read_all()
        table.validate(full=True)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"the state is damaged: its slices cannot be read ({error})") from error
    require(table.num_columns == n_columns and not any(own.null_count for own in table.columns), "slices lack values")
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def read_state(data: Any, n_threads: int | None) -> Accumulator:
    """The state of bytes that write_state made; ValueError for everything else."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"a state is bytes, as to_bytes gives them; found {type(data).__name__}")
    header, body = split(bytes(data))
    try:
        return build(header, ArrayReader(body, header["arrays"]), n_threads)
    except (LookupError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"the state is damaged: its header does not fit its numbers ({error})") from error


def split(data: bytes) -> tuple[dict[str, Any], memoryview]:
    """Header and arrays, after all checks that need no understanding of them."""
    if len(data) < PREFIX.size or data[: len(MAGIC)] != MAGIC:
        raise ValueError("these bytes are no state of an Accumulator: they do not begin as to_bytes begins them")
    _, version, header_length, body_length, digest = PREFIX.unpack_from(data)
    if version != FORMAT:
        raise ValueError(f"the state has format {version}; this version of fastmetrics reads format {FORMAT}")
    require(header_length == padded(header_length), "its arrays do not begin where arrays may")
    if len(data) != PREFIX.size + header_length + body_length:
        expected = PREFIX.size + header_length + body_length
        raise ValueError(f"the state is damaged: it has {len(data):,} bytes where {expected:,} are expected")
    view = memoryview(data)[PREFIX.size :]
    if checksum(view[:header_length], view[header_length:]) != digest:
        raise ValueError("the state is damaged: its checksum does not fit its bytes")
    try:
        header = json.loads(bytes(view[:header_length]))
        library = header["library"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise ValueError(f"the state is damaged: its header cannot be read ({error})") from error
    if library != _version.__version__:
        raise ValueError(
            f"the state was written by fastmetrics {library}; this is {_version.__version__}. "
            "States are for one version: a metric's definition may have changed"
        )
    return header, view[header_length:]


def build(header: dict[str, Any], arrays: ArrayReader, n_threads: int | None) -> Accumulator:
    """The state of a header and its arrays; a checksum can be right for what no accumulator ever was."""
    from fastmetrics.engine.accumulator import Accumulator

    labels, scores, group, weight, by = header["names"]
    state = Accumulator(
        header["metrics"], label=labels, score=scores, group=group, weight=weight, by=by or None,
        on_invalid=header["on_invalid"], n_threads=n_threads, approximate=header["approximate"],
        state_size=header["state_size"], **header["intervals"],
    )  # fmt: skip
    read_counts(state, header)
    slices = slices_from_array(arrays.get(header["slices"], np.uint8, None), len(state.names.by))
    state.scan.reader.slices.number_of(slices)
    require(len(state.scan.reader.slices) == len(slices), "a slice is there twice")
    read_sums(state, header, arrays)
    read_histograms(state, header, arrays)
    read_rows(state, header, arrays)
    return state


def require(holds: Any, what: str) -> None:
    if not holds:
        raise ValueError(f"the state is damaged: {what}")


def is_count(value: Any, below: int | None = None) -> bool:
    return type(value) is int and value >= 0 and (below is None or value < below)


def read_counts(state: Accumulator, header: dict[str, Any]) -> None:
    """Rows, labels and types."""
    from fastmetrics.engine.accumulator import is_mix

    scan, names = state.scan, state.names
    rows, dropped, seen, first = (header[name] for name in ("rows", "dropped", "seen", "minus_one_rows"))
    fits = is_count(rows, 1 << 63) and all(map(is_count, dropped.values())) and sum(dropped.values()) <= rows
    require(fits, "its counts of rows do not fit each other")
    fits = len(seen) == len(first) == len(names.labels) and all(own is None or is_count(own) for own in first)
    kinds = scan.plan.targets.label_kinds
    fits = fits and not any(not is_count(own) or own & ~kinds or is_mix(own) for own in seen)
    require(fits, "its labels are not of one kind")
    valid = rows - sum(count for reason, count in dropped.items() if reason != ZERO_WEIGHT)
    types = header["types"]
    require((types is None) == (valid == 0), "it has rows without types, or types without rows")
    fits = types is None or (len(types) == len(state.kept_columns()) and all(isinstance(own, str) for own in types))
    require(fits, "its columns have no types")
    state.types = None if types is None else tuple(types)
    scan.rows, scan.kept, scan.dropped = rows, rows - sum(dropped.values()), dict(dropped)
    scan.seen, scan.minus_one_rows = list(seen), list(first)


def check_part(state: Accumulator, view: Any, number: Any) -> None:
    """Is it a view, and a slice where there are slices?"""
    n_slices = len(state.scan.reader.slices)
    fits = is_count(number, n_slices) if state.names.by else number is None
    require(fits and is_count(view, len(state.scan.views)), "a part belongs to no view or slice")


def read_sums(state: Accumulator, header: dict[str, Any], arrays: ArrayReader) -> None:
    statistics = state.scan.plan.statistics["none"]
    for index, view, number, *places in header["sums"]:
        require(is_count(index, len(statistics)), "sums belong to no statistic")
        check_part(state, view, number)
        sums = statistics[index].new()
        layout = sums.layout()
        require(len(places) == len(layout), "a state has not the arrays it should have")
        found = [arrays.get(place, *own) for place, own in zip(places, layout, strict=True)]
        try:
            sums.take_arrays(*found)
        except ValueError as error:
            raise ValueError(f"the state is damaged: {error}") from error
        state.additive.sums[statistics[index], view, number] = sums
    for statistic in statistics:
        for view in range(len(state.scan.views) if statistic.new().n_rows is not None else 0):
            own = [sums.n_rows or 0 for key, sums in state.additive.sums.items() if key[:2] == (statistic, view)]
            require(sum(own) == state.scan.kept, "its states have not the rows it counts")


def read_histograms(state: Accumulator, header: dict[str, Any], arrays: ArrayReader) -> None:
    scan = state.scan
    rows = [0] * len(scan.views)
    for view, number, shift, prefixes, counts in header["histograms"]:
        check_part(state, view, number)
        histogram = ScoreHistogram(state.capacity)
        histogram.shift = shift
        histogram.prefixes = arrays.get(prefixes, np.uint64, None)
        histogram.counts = arrays.get(counts, np.int64, histogram.prefixes.shape[0], 2)
        in_order = (histogram.prefixes[1:] > histogram.prefixes[:-1]).all()
        require(is_count(shift, KEY_BITS + 1) and in_order, "a histogram's bins are out of order")
        require(histogram.prefixes.shape[0] <= state.capacity, "a histogram has more bins than the state may")
        require((histogram.counts >= 0).all(), "a count is negative")
        rows[view] += int(histogram.counts.sum())
        state.histograms[view, number] = histogram
    expected = scan.kept if state.approximate and scan.plan.needs("score") else 0
    n_parts = len(rows) * max(1, len(scan.reader.slices)) if expected else 0
    fits = rows == [expected] * len(rows) and len(state.histograms) == n_parts
    require(fits, "its histograms have not the rows it counts")


def read_rows(state: Accumulator, header: dict[str, Any], arrays: ArrayReader) -> None:
    """The exchanges and their blocks."""
    scan, names, types = state.scan, state.scan.names, state.types
    if types is not None:
        scan.eps = tuple(HALF_EPS if name == "halffloat" else None for name in types[: len(names.scores)])
        if scan.plan.needs("group"):
            scan.exchange = new_exchange(state, names.group)
        if names.unit is not None and names.unit == names.group:
            scan.units = scan.exchange
        elif names.unit is not None and (scan.plan.needs("none") or scan.plan.needs("score")):
            scan.units = new_exchange(state, names.unit)
    units = None if scan.units is scan.exchange else scan.units
    fits = header["exchange"] == describe(scan.exchange) and header["units"] == describe(units)
    require(fits, "its exchange is not that of its metrics and keys")
    main = units if scan.exchange is None else scan.exchange
    read_blocks(state, arrays, scan.source(), header["blocks"], main, state.needs_rows())
    is_other = units is not main
    store = units.store if units is not None and is_other else BlockStore(1)
    read_blocks(state, arrays, store, header["unit_blocks"], units, units is not None and is_other)


def read_blocks(
    state: Accumulator,
    arrays: ArrayReader,
    store: BlockStore,
    blocks: list[Any],
    exchange: GroupExchange | None,
    is_used: bool,
) -> None:
    """The blocks of one store; all rows stand in it if it is used."""
    wanted = types_of_columns(state, exchange) if is_used and state.types is not None else {}
    for columns, offsets, text in blocks:
        require(wanted, "it has rows that no metric needs")
        block = read_block(arrays, columns, offsets, text, store.n_partitions, wanted)
        check_block(block, state)
        store.add(block, True)
    require(store.rows == (state.scan.kept if wanted else 0), "it has not the rows it counts")


def new_exchange(state: Accumulator, column: str | None) -> GroupExchange:
    """The exchange by a column's keys, empty."""
    kind = kind_of_keys((state.types or ())[state.kept_columns().index(str(column), len(state.names.scores))])
    return GroupExchange(kind.kind == "O", kind, first_bits(UNKNOWN_ROWS))


def kind_of_keys(name: str) -> np.dtype:
    """What a group exchange calls keys of an Arrow type, as Scan.prepare does."""
    from fastmetrics.engine.accumulator import kind_of

    kinds = {"string": np.dtype(object), "uint64": np.dtype(np.uint64)}
    return kinds.get(kind_of(name), np.dtype(np.int64))


def types_of_columns(state: Accumulator, exchange: GroupExchange | None) -> dict[str, Any]:
    """The columns that every block of an exchange has; of no exchange, those of rows that only scores order."""
    names, types = state.names, state.types or ()
    of_labels = np.uint8 if state.scan.plan.targets.binary else np.float64
    wanted: dict[str, Any] = {label_name(number): of_labels for number in range(len(names.labels))}
    for number, name in enumerate(types[: len(names.scores)]):
        wanted[score_name(number)] = np.float32 if name in SINGLE_SCORES else np.float64
    if exchange is not None:
        wanted |= dict.fromkeys((HASH, HEAD, TAIL) if exchange.is_text else (HASH,), np.uint64)
    read = state.scan.names
    if exchange is not None and exchange is state.scan.exchange and read.unit not in (None, read.group):
        wanted[UNIT] = np.uint64
    if names.weight is not None:
        wanted[WEIGHT] = np.float64
    if names.by:
        wanted[SLICE] = np.uint16
    return wanted


def read_block(
    arrays: ArrayReader, columns: dict[str, int], offsets: int, text: int, n_partitions: int, types: dict[str, Any]
) -> Block:
    own_offsets = arrays.get(offsets, np.int32, n_partitions + 1)
    rows = int(own_offsets[-1])
    in_order = own_offsets[0] == 0 and (own_offsets[1:] >= own_offsets[:-1]).all()
    require(in_order and rows > 0, "a block's partitions are out of order")
    require(columns.keys() == types.keys(), "a block lacks columns, or has others")
    found = {name: arrays.get(number, types[name], rows) for name, number in columns.items()}
    own_text = arrays.get(text, np.uint8, None)
    if HASH in found:
        own = found[HASH] >> np.uint64(64 - (n_partitions - 1).bit_length())
        fits = (own == np.repeat(np.arange(n_partitions, dtype=np.uint64), np.diff(own_offsets))).all()
        require(fits, "a row stands in another partition than its key")
    if HEAD in found:
        lengths = found[HEAD] & np.uint64(0xFFFFFFFF)
        is_long = lengths > partition.SHORT_TEXT_BYTES
        end = np.uint64(max(0, own_text.shape[0] - TEXT_PADDING))
        # Compared such that no sum of two numbers overflows.
        fits = (lengths[is_long] <= end).all() and (found[TAIL][is_long] <= end - lengths[is_long]).all()
        require(fits, "a text key ends beyond the text")
        found[TAIL] = np.where(is_long, found[TAIL] + np.uint64(own_text.ctypes.data), found[TAIL])
    return Block(found, own_offsets, own_text)


def check_block(block: Block, state: Accumulator) -> None:
    """Numbers that kernels use as places, and those they could not count with."""
    columns, names, targets = block.columns, state.names, state.scan.plan.targets
    labels = [columns[label_name(number)] for number in range(len(names.labels))]
    if targets.binary:
        require(all((own <= 1).all() for own in labels), "a label is neither 0 nor 1")
    else:
        require(all(np.isfinite(own).all() for own in labels), "a grade is not finite")
        above = not targets.refusing_negative or all((own >= 0).all() for own in labels)
        require(above, "a grade is negative")
        most, _ = state.scan.reader.greatest_grade
        require(all((own <= most).all() for own in labels), "a grade is greater than its metrics take")
    scores = [columns[score_name(number)] for number in range(len(names.scores))]
    require(not any(np.isnan(own).any() for own in scores), "a score is NaN")
    n_slices = len(state.scan.reader.slices)
    require(SLICE not in columns or (columns[SLICE] < n_slices).all(), "a slice has no values")
    if WEIGHT in columns:
        weights = columns[WEIGHT]
        require(((weights > 0) & (weights <= kernels.MAX_WEIGHT)).all(), "a weight is out of range")
