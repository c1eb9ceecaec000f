"""The content of a state, read: question, counts of rows, additive states, histograms, and rows by exchange.

Whatever is read is checked before a kernel sees it: a checksum can be right for content that no accumulator ever had.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, product
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns.arrow_columns import LISTS, widened_epsilon
from fastmetrics._core.columns.key_types import slots_of
from fastmetrics._core.columns.label_codes import check_type
from fastmetrics._core.columns.role_columns import is_allowed, stored_dtype
from fastmetrics._core.columns.row_blocks import (
    SCORE,
    WEIGHT,
    label_name,
    names_of,
    role_name,
    score_name,
    slice_code_name,
    slice_columns,
    vector_name,
)
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.blocks import TEXT_PADDING, Block
from fastmetrics._core.exchange.hash_exchange import UNIT, HashExchange, HashExchangeScratch
from fastmetrics._core.kinds import ClassNumber, Distribution, Probability, Vector
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.score_statistics.score_histogram import ScoreHistogram
from fastmetrics._core.state import State
from fastmetrics._core.tables.key_texts import TEXTS, KeyTexts
from fastmetrics._kernels.columns import column_checks as kernels
from fastmetrics.engine.input.batch_validation import ColumnReader, mixes_zero_and_minus_one
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.input.row_selection import ZERO_WEIGHT
from fastmetrics.engine.input.stored_slices import add_slices, add_values
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.partial_state import PartialState
from fastmetrics.engine.partial.slice_counts import SliceCounts
from fastmetrics.engine.partial.state_files import (
    READING,
    ArrayReader,
    StateReader,
    errors_mean_damage,
    is_count,
    require,
    take_fields,
)
from fastmetrics.engine.partial.state_writing import FILE, PART, TASK, stores_of
from fastmetrics.engine.partial.stored_rows import FILE_ROWS, StoredRows, in_order
from fastmetrics.engine.partial.task_state import TaskState
from fastmetrics.engine.plan.column_names import key_columns

if TYPE_CHECKING:
    from fastmetrics.engine.plan.column_names import ColumnNames
    from fastmetrics.engine.plan.metric_plan import Plan

ALL_KINDS = kernels.SAW_ZERO | kernels.SAW_ONE | kernels.SAW_MINUS_ONE
SLOT_BYTES = 8  # of a hash, or of a slot of a key
STORED_DIVISOR = 16  # rows of files that take more than this part of the memory limit stay there
SINGLE_SCORES = ("halffloat", "float")  # kept as float32; all other types as float64


@errors_mean_damage("its header does not fit its numbers")
def fill_states(state: PartialState, reader: StateReader) -> None:
    """Fill the empty state of a question with what a file of it holds."""
    header = take_fields(reader.header, FILE)
    arrays = ArrayReader(reader, header["arrays"])
    for number, (own, of_task) in enumerate(zip(state.states, header["tasks"], strict=True)):
        fill_state(own, take_fields(of_task, TASK), arrays, reader, f"tasks/{number}")
    state.sources = frozenset(header["sources"])
    require(len(state.sources) == len(header["sources"]), "a source is there twice")
    has_rows = bool(state.rows or state.truth_rows)
    require(bool(state.sources) == has_rows, "it has rows without sources, or sources without rows")
    require(all(own.counts.rows == state.rows for own in state.states), "its tasks have different rows")
    require(not reader.unread, f"it has sections that no metric needs: {', '.join(sorted(reader.unread))}")
    require(not arrays.unread, f"it has arrays that no metric needs: {sorted(arrays.unread)}")


def fill_state(
    state: TaskState, header: dict[str, Any], arrays: ArrayReader, reader: StateReader, place: str
) -> None:
    """Fill an empty state of a task."""
    headers = header["parts"]
    require(len(headers) == len(state.parts), "its parts are not those of its metrics")
    rows, filtered, dropped = header["rows"], header["filtered"], header["dropped"]
    rows_kept = rows - filtered - sum(dropped.values())
    require(is_count(rows, 1 << 63) and rows_kept >= 0, "its counts of rows do not fit each other")
    for part, part_header in zip(state.parts, headers, strict=True):
        counts = part.counts
        counts.rows, counts.rows_kept, counts.filtered, counts.dropped = rows, rows_kept, filtered, dict(dropped)
        take_fields(part_header, PART, part)
        check_part(part)
    read_slices(state.slices, arrays.get(header["slices"], np.int64, None, None), reader, place)
    for number, (part, part_header) in enumerate(zip(state.parts, headers, strict=True)):
        read_key_texts(part.reader.key_texts, part_header, arrays)
        read_counts(part, part_header["counts"], arrays)
        read_sums(part, part_header["sums"], arrays)
        read_histograms(part, part_header["histograms"], arrays)
        read_stores(part, part_header["partitions"], arrays, reader, f"{place}/parts/{number}")


def check_part(part: PartState) -> None:
    """The fields of a part have to fit each other, and the columns that its metrics read."""
    counts, types, names = part.counts, part.types.found, part.names
    seen, first_rows = counts.label_kinds_seen, counts.minus_one_rows
    valid = counts.rows - counts.filtered - sum(own for why, own in counts.dropped.items() if why != ZERO_WEIGHT)
    allowed = [part.plan.label_kinds.allowed_label_kinds] * len(names.labels)
    allowed += [ALL_KINDS] * (len(counts.class_columns) - len(names.labels))
    require(
        len(seen) == len(first_rows) == len(allowed)
        and all(row is None or row < counts.rows for row in first_rows)
        and not any(own & ~may or mixes_zero_and_minus_one(own) for own, may in zip(seen, allowed, strict=True))
        and (valid or not any(seen))
        and all((row is None) != bool(own & kernels.SAW_MINUS_ONE) for own, row in zip(seen, first_rows, strict=True)),
        "its labels are not of one kind",
    )
    require((types is None) == (valid == 0), "it has rows without types, or types without rows")
    require(types is None or len(types) == len(part.types.columns), "its columns have no types")
    for name in types or ():
        check_type(name.replace(LISTS, ""), "a column")
    keys = key_columns(names.group) if counts.truth_rows else ()
    require(part.truth or not (counts.truth_rows or counts.truth_dropped), "it has a truth table that no metric reads")
    require(sorted(counts.truth_types) == sorted(keys), "the keys of its truth table have no types")
    for name in counts.truth_types.values():
        check_type(name, "a key of truth")
    has_classes = types is not None and part.reads_vectors
    require((counts.n_classes is not None) == has_classes, "its number of classes is missing")
    has_sums = part.plan.is_numeric and has_classes
    require(len(counts.sum_distances) == len(names.scores) * has_sums, "its sums of probabilities are no numbers")
    several = len(names.scores) if len(names.scores) > 1 else 0
    lengths = (several,) if counts.rows_kept else (0, several)
    fits = len(counts.differing) in lengths and not any(counts.differing[:1])
    require(fits, "it does not say which models are equal")


def read_slices(slices: GroupingSets, found: np.ndarray, reader: StateReader, place: str) -> None:
    """Register the values of columns, and the slices, in the order of their numbers."""
    for number, own in enumerate(slices.columns):
        name = f"{place}/slices/{number}.arrow"
        if name in reader.unread:
            with errors_mean_damage(name, *READING):
                add_values(slices, own, reader.read(name))
    with errors_mean_damage("its slices"):
        add_slices(slices, found)


def read_key_texts(key_texts: KeyTexts, header: dict[str, Any], arrays: ArrayReader) -> None:
    kind, numbers = header["key_kind"], header["key_texts"]
    require(kind is None or key_texts.roles, "it has texts of keys that no metric reads")
    require(kind is not None or not numbers, "its keys have no kind")
    if kind is not None:
        data, offsets = numbers
        with errors_mean_damage("its keys"):
            key_texts.load(kind, arrays.get(data, np.uint8, None), arrays.get(offsets, np.int64, None))


def read_counts(part: PartState, numbers: list[Any], arrays: ArrayReader) -> None:
    """The rows of every slice."""
    require(numbers or not part.counts.rows_kept or not part.names.by, "its counts of slices are missing")
    if not numbers:
        return
    require(part.names.by, "it counts slices that it does not have")
    n_labels = len(part.names.labels) if part.additive.has_classes else 0
    counts = part.additive.counts = SliceCounts(n_labels)
    total, of_slices, by_slice = numbers
    counts.total = arrays.get(total, np.int64, 1 + n_labels).copy()
    slices = arrays.get(of_slices, np.int64, None)
    found = arrays.get(by_slice, np.int64, 1 + n_labels, slices.shape[0])
    require(
        ((slices >= 0) & (slices < len(part.slices))).all() and (slices[1:] > slices[:-1]).all(),
        "counts belong to no slice",
    )
    counts.add_many(slices, found)
    for own in (counts.total, found):
        require((own >= 0).all(), "a count is negative")
        require((own[1:] <= own[0]).all(), "a slice has more positives than rows")
    times = len(part.slices.sets)
    require(
        counts.total[0] == part.counts.rows_kept
        and [sum(own) for own in found.tolist()] == [times * own for own in counts.total.tolist()],
        "its slices have not the rows it counts",
    )


def rows_of_slices(part: PartState) -> dict[int | None, int]:
    """The rows of every slice that has some; those of all rows (None) if there are no slices."""
    if part.additive.counts is not None:
        return {number: own.rows for number, own in part.additive.counts.counts().items()}
    return {None: part.counts.rows_kept} if part.counts.rows_kept else {}


def load_state(state: State, numbers: list[Any], arrays: ArrayReader) -> None:
    """Fill an empty state with the arrays of these numbers."""
    layout = state.layout()
    require(len(numbers) == len(layout), "a state has not the arrays it should have")
    found = [arrays.get(number, *expected) for number, expected in zip(numbers, layout, strict=True)]
    with errors_mean_damage("a state"):
        state.load_arrays(*found)


def load_states(
    what: str,
    found: list[list[Any]],
    expected: dict[tuple[Any, ...], int],
    new: Callable[..., State],
    arrays: ArrayReader,
) -> None:
    """Fill the states of all keys with what is found, keys and numbers of arrays; `expected` are their rows."""
    length = len(next(iter(expected), ()))
    for entry in found:
        key = tuple(entry[:length])
        require(key in expected, f"{what} are there twice, or of no statistic, column or slice with rows")
        state, rows = new(*key), expected.pop(key)
        load_state(state, entry[length:], arrays)
        require(state.n_rows in (None, rows), f"its {what} have not the rows it counts")
    require(not expected, f"its {what} have not the rows it counts: some are missing")


def read_sums(part: PartState, found: list[list[Any]], arrays: ArrayReader) -> None:
    """The sums of every statistic, output and slice of a base set: each is there once, with the rows of its slice."""
    statistics, rows = part.plan.statistics["none"], rows_of_slices(part)
    sets, bases = part.slices.set_of_slices(), part.slices.base_sets()
    of_bases = [number for number in rows if number is None or sets[number] in bases]
    keys = product(range(len(statistics)), range(len(part.outputs)), of_bases)

    def new(index: int, output: int, slice_number: int | None) -> State:
        return part.additive.state(statistics[index], output, slice_number)

    load_states("sums", found, {key: rows[key[2]] for key in keys}, new, arrays)


def read_histograms(part: PartState, found: list[list[Any]], arrays: ArrayReader) -> None:
    """The histogram of every output and slice: each is there once, with the rows of its slice."""
    rows = rows_of_slices(part) if part.options.n_bins and part.plan.needs("range") else {}
    keys = product(range(len(part.outputs)), rows)

    def new(*key: Any) -> State:
        histogram = part.histograms[key] = ScoreHistogram(part.options.n_bins)
        return histogram

    load_states("histograms", found, {key: rows[key[1]] for key in keys}, new, arrays)


def read_stores(
    part: PartState, partitions: dict[str, Any], arrays: ArrayReader, reader: StateReader, place: str
) -> None:
    """The exchanges and their rows."""
    if part.types.found is not None:
        part.score_epsilons = tuple(widened_epsilon(own) for own in part.types.of_models())
        part.create_exchanges_of_types(part.types.of_keys().__getitem__)
    if part.counts.truth_rows:
        part.create_exchanges_of_types(part.counts.truth_types.__getitem__)
    left = dict(partitions)
    for folder, (store, exchange) in stores_of(part).items():
        if part.keeps_rows and part.counts.rows_stored:
            stored = find_partitions(part, exchange, left.pop(folder, None), arrays)
            read_store(part, store, exchange, reader, f"{place}/{folder}", *stored)
    require(not left, f"it has partitions of no rows: {', '.join(left)}")


def find_partitions(
    part: PartState, exchange: HashExchange | None, stored: list[int] | None, arrays: ArrayReader
) -> tuple[np.ndarray | None, int]:
    """Where partitions begin, and the bytes of long keys; None if rows have to be read to know them."""
    rows = part.counts.rows_stored
    if exchange is None:
        return np.array([0, rows]), 0
    if stored is None:
        return None, 0
    number, text_bytes = stored
    partition_rows = arrays.get(number, np.int64, None)
    require(
        (partition_rows >= 0).all() and int(partition_rows.sum()) == rows and is_count(text_bytes, 1 << 48),
        "its partitions have not the rows it counts",
    )
    return (np.cumsum([0, *partition_rows]) if len(partition_rows) == exchange.n_partitions else None), text_bytes


def read_store(
    part: PartState,
    store: BlockStore,
    exchange: HashExchange | None,
    reader: StateReader,
    place: str,
    offsets: np.ndarray | None,
    text_bytes: int,
) -> None:
    """The rows of a store. Those of a large file stay there, if it is known where partitions begin."""
    key_dtype = None if exchange is None else exchange.key_dtype
    types, n_rows, budget = types_of_columns(part, exchange), part.counts.rows_stored, part.memory_budget
    row_text, n_slots = text_bytes // n_rows, 0 if key_dtype is None else 1 + len(slots_of(key_dtype))
    row_bytes = sum(np.dtype(own).itemsize for own in types.values()) + SLOT_BYTES * n_slots + row_text
    is_large = budget is not None and not budget.is_within(row_bytes * n_rows, STORED_DIVISOR)
    stays = is_large and not part.slices.columns and not part.reader.key_texts.size
    check = ColumnChecks(part.plan, part.names, part.reader, part.counts.n_classes or 0).check
    first = 0
    for number in count():
        name = f"{place}/{number}.parquet"
        if name not in reader.unread:
            break
        section = reader.refer(name) if stays and offsets is not None else None
        with errors_mean_damage(name, *READING):
            rows = StoredRows(reader.read(name) if section is None else section, types, key_dtype, check)
            if section is None or offsets is None or budget is None:
                add_rows(part, store, exchange, rows, reader.n_threads)
            else:
                most_rows = max(1, min(FILE_ROWS, budget.bytes_per_range // row_bytes))
                for block in rows.blocks(np.clip(offsets - first, 0, rows.rows), most_rows, row_text):
                    store.add_stored(block, rows.types)
        first += rows.rows
    require(store.rows == n_rows, f"{place} has not the rows it counts")


def add_rows(
    part: PartState, store: BlockStore, exchange: HashExchange | None, rows: StoredRows, n_threads: int
) -> None:
    """Add all rows of a section to a store, a row group at a time; threads load the next ones."""

    def load(group: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
        return rows.load(group, group + 1, list(rows.types))

    for columns, text in in_order(load, range(len(rows.edges) - 1), n_threads):
        columns |= slice_columns(read_codes(part.slices, columns, part.truth is not None))
        n = len(next(iter(columns.values())))
        if exchange is None:
            block = Block(columns, np.array([0, n], np.int32))
            store.add(block, store.try_reserve(block.n_bytes()))
        else:
            long_bytes = max(0, text.shape[0] - TEXT_PADDING)
            exchange.add_arrays(columns, long_bytes, text, HashExchangeScratch(n, exchange.key_dtype))


def types_of_columns(part: PartState, exchange: HashExchange | None) -> dict[str, Any]:
    """The columns of the rows of an exchange beside their keys; without one, those of rows that only scores order."""
    names, kind = part.names, part.reader.label_kind
    label_dtype: Any = np.uint8 if part.plan.label_kinds.binary else np.float64
    if isinstance(kind, ClassNumber):
        label_dtype = stored_dtype(kind)
    n_labels = len(names.labels) or int(names.truth is not None)
    expected: dict[str, Any] = {label_name(number): label_dtype for number in range(n_labels)}
    for number, types in enumerate(part.types.of_models()):
        dtype = np.float32 if set(types) <= set(SINGLE_SCORES) and names.truth is None else np.float64
        scores = [score_name(number)]
        if part.reads_vectors:
            scores = [vector_name(score_name(number), entry) for entry in range(part.counts.n_classes or 0)]
        expected |= dict.fromkeys(scores, dtype)
    for role, _ in names.others:
        kind = part.plan.kinds.get(role)
        expected[role_name(role)] = np.int64 if kind is None else stored_dtype(kind)
    read = part.names
    if exchange is not None and exchange is part.group_exchange and read.unit not in (None, read.group):
        expected[UNIT] = np.uint64
    if names.weight is not None:
        expected[WEIGHT] = np.float64
    return expected | {slice_code_name(number): np.uint16 for number in range(len(part.slices.columns))}


def read_codes(slices: GroupingSets, columns: dict[str, np.ndarray], has_truth: bool) -> list[np.ndarray]:
    """The codes of rows. Every row of the log has to be in a slice of every grouping set."""
    found = codes = [columns[slice_code_name(number)] for number in range(len(slices.columns))]
    if has_truth:
        is_of_log = ~np.isnan(columns[score_name(0)])
        codes = [own[is_of_log] for own in codes]
        require(not any(own[~is_of_log].any() for own in found), "a row of truth is in a slice")
    for own, column in zip(slices.columns, codes, strict=True):
        require((column < len(own.values)).all(), "a code of a slice has no value")
    mark = slices.mark()
    for set_number in range(len(slices.sets)):
        slices.number_set(set_number, codes)
    if slices.mark() != mark:
        slices.restore(mark)
        require(False, "rows belong to slices that it does not count")
    return found


class ColumnChecks(NamedTuple):
    """Checks numbers that kernels use as indices, and numbers that they could not count with."""

    plan: Plan
    names: ColumnNames
    reader: ColumnReader
    n_classes: int

    def check(self, columns: dict[str, np.ndarray]) -> None:
        """Check the columns that are there."""
        plan, names, targets = self.plan, self.names, self.plan.label_kinds
        labels = [columns[name] for name in map(label_name, range(len(names.labels))) if name in columns]
        if isinstance(self.reader.model_kind, Vector):
            require(all(((own >= 0) & (own < self.n_classes)).all() for own in labels), "a label is of no class")
        elif targets.binary:
            require(all((column <= 1).all() for column in labels), "a label is neither 0 nor 1")
        else:
            require(all(np.isfinite(column).all() for column in labels), "a grade is not finite")
            least = 0 if targets.without_negative_grades else -np.inf
            require(all((column >= least).all() for column in labels), "a grade is negative")
            greatest, _ = self.reader.greatest_grade
            require(all((column <= greatest).all() for column in labels), "a grade is greater than its metrics take")
        scores = [columns[name] for name in names_of(columns, SCORE)]
        of_truth = [np.isnan(column) for column in scores]
        require(not any(own.any() for own in of_truth) or self.names.truth is not None, "a score is NaN")
        require(all((own == of_truth[0]).all() for own in of_truth[1:]), "a row is of the log and of truth")
        if isinstance(self.reader.model_kind, Distribution):
            require(all(is_allowed(Probability(), column) for column in scores), "a probability is out of range")
        for role in (role for role, _ in names.others if role_name(role) in columns):
            values = columns[role_name(role)]
            kind = plan.kinds.get(role)
            require(kind is None or is_allowed(kind, values), f"a number of role {role} is out of range")
            key_texts = self.reader.key_texts
            if role in key_texts.roles and key_texts.kind == TEXTS:
                require(((values >= 0) & (values < key_texts.size)).all(), f"a key of role {role} has no text")
        if WEIGHT in columns:
            weights = columns[WEIGHT]
            require(((weights > 0) & (weights <= kernels.MAX_WEIGHT)).all(), "a weight is out of range")
