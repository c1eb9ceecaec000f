"""One pass over a log: every batch is validated, then added to the additive states and to the exchanges.

A scan has the metrics that read the same columns. The scans of all parts of a plan share the pass (`LogScan`). Several
threads may process batches. They share nothing but lists.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns.arrow_columns import type_name
from fastmetrics._core.columns.key_columns import Keys
from fastmetrics._core.columns.key_types import dtype_of_arrow, dtype_of_columns
from fastmetrics._core.columns.row_blocks import BLOCK_ROWS, SLICE, Output, RowBlock, role_name, slice_code_name
from fastmetrics._core.columns.validation import check_label_kinds
from fastmetrics._core.exchange.block_store import BlockStore, SlabAllocator
from fastmetrics._core.exchange.blocks import Block as StoredBlock
from fastmetrics._core.exchange.hash_exchange import (
    UNKNOWN_ROWS,
    HashExchange,
    HashExchangeScratch,
    initial_partition_bits,
)
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.kinds import Binary
from fastmetrics.engine.input.batch_validation import ColumnReader, ValidatedBatch
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.input.row_selection import SelectedBatch
from fastmetrics.engine.plan.column_names import ROW_UNITS, ColumnNames, Key, describe_column, format_key, key_columns
from fastmetrics.engine.plan.metric_plan import Plan
from fastmetrics.engine.plan.plan_parts import PlanPart
from fastmetrics.engine.scan.additive_states import AdditiveStates
from fastmetrics.engine.scan.slice_counts import RowCount, SliceCounts
from fastmetrics.engine.scan.slice_passes import SlicePass

if TYPE_CHECKING:
    from fastmetrics._core.resampling.counted_row_replicates import CountedRows
    from fastmetrics.engine.scan.states_by_unit import StatesByUnit

SLAB_BLOCKS = 64
MAX_INITIAL_BITS = 12
LABEL_BYTES, SCORE_BYTES, WEIGHT_BYTES, HASH_BYTES = 1, 4, 8, 8  # of a stored row, at least
ROW_BYTES = 32  # roughly the memory of a row in the hash exchange by group


class ScanWorker:
    """The states and the scratch memory of one thread during the scan. `by_unit`: states that intervals need."""

    def __init__(
        self,
        plan: Plan,
        outputs: list[Output],
        slices: GroupingSets,
        block_rows: int,
        budget: MemoryBudget | None = None,
        counted: CountedRows | None = None,
        by_unit: StatesByUnit | None = None,
    ) -> None:
        self.by_unit = by_unit
        self.additive = AdditiveStates(plan, outputs, slices, budget, counted)
        self.slabs = SlabAllocator(block_rows, SLAB_BLOCKS)
        self.scratch: dict[str, HashExchangeScratch] = {}
        self.block_rows = block_rows

    def hash_keys(self, role: str, keys: Keys) -> HashExchangeScratch:
        """Hash the keys of a block into scratch memory, which the next block of the same role overwrites."""
        scratch = self.scratch.get(role)
        if scratch is None or scratch.destinations.shape[0] < keys.rows:
            scratch = self.scratch[role] = HashExchangeScratch(max(keys.rows, self.block_rows), keys.dtype)
        keys.hash_block(0, keys.rows, scratch.keys)
        return scratch


class Scan:
    """What one pass over a log collects.

    Attributes
    ----------
    outputs : list of Output
        Every score column with every label column; states refer to an output by its number.
    workers, idle_workers : list and deque of ScanWorker
        One worker for every thread that has processed a batch. They hold the additive states.
    group_exchange : HashExchange or None
        Rows by group.
    unit_exchange : HashExchange or None
        Rows by resampling unit. It is the exchange by group if groups are the units.
    store : BlockStore
        Rows for the range exchange, if no hash exchange keeps them.
    states_by_unit : list of StatesByUnit
        The additive states by unit bucket of every thread, for intervals, if no exchange keeps the rows for them.
    counted_rows : CountedRows or None
        Counts of every row, for resampling metrics of text and of partitions: no exchange keeps such rows.
    rows, rows_kept, filtered, dropped : int, int, int and dict
        Rows read; rows that are evaluated; rows that the filter left out; dropped rows by reason.
    class_columns : list of (role, column)
        The label columns, and other columns of two classes.
    label_kinds_seen, minus_one_rows : list
        For every one of these, SAW_ bits and the first row with label -1.
    n_classes : int or None
        How many probabilities every row has, if metrics read probabilities of classes and a row was read.
    counts : SliceCounts or None
        After the additive states were merged: the rows of every slice. None without slices.
    """

    def __init__(
        self,
        part: PlanPart,
        slices: GroupingSets,
        expected_rows: int | None,
        budget: MemoryBudget | None = None,
        by_unit: bool = False,
        is_merged: bool = False,
    ) -> None:
        """`by_unit`: the rows are only needed for intervals, so states by unit bucket may take their place.

        `is_merged`: the rows are merged with those of other scans. Their partitions are the same, whatever the budget.
        """
        plan, names = part.plan, part.names
        self.plan = plan
        self.names = names
        self.slices = slices
        self.slice_pass = SlicePass(0)  # the slices of the current pass over stored rows: see `iterate_passes`
        self.outputs = names.outputs()
        self.is_merged = is_merged
        self.reader = ColumnReader(plan, names, None if is_merged else budget)
        self.memory_budget = budget
        self.expected_rows = UNKNOWN_ROWS if expected_rows is None else expected_rows
        self.block_rows = max(1, min(BLOCK_ROWS, self.expected_rows))
        self.idle_workers: deque[ScanWorker] = deque()
        self.workers: list[ScanWorker] = []
        self.group_exchange: HashExchange | None = None
        self.unit_exchange: HashExchange | None = None
        self.score_epsilons: tuple[float | None, ...] = ()
        self.counted_rows = None if names.unit is None or plan.is_numeric else new_counted_rows()
        self.new_by_unit = self.find_states_by_unit() if by_unit and names.unit is not None and not names.by else None
        self.states_by_unit: list[StatesByUnit] = []
        self.store = BlockStore(1, budget)
        self.rows = 0
        self.rows_kept = 0
        self.filtered = 0
        self.dropped: dict[str, int] = {}
        self.class_columns = class_columns(plan, names)
        self.label_kinds_seen = [0] * len(self.class_columns)
        self.minus_one_rows: list[int | None] = [None] * len(self.class_columns)
        self.n_classes: int | None = None
        self.sum_distances: tuple[float, ...] = ()  # see `ValidatedBatch`
        self.counts: SliceCounts | None = None

    def find_states_by_unit(self) -> Callable[[], StatesByUnit] | None:
        """What makes the states by unit bucket of a thread; None if rows have to be kept."""
        from fastmetrics.engine.scan.states_by_unit import StatesByUnit, can_add_by_unit  # imports resampling

        outputs = self.outputs
        if self.counted_rows is not None or not can_add_by_unit(self.plan, len(outputs), self.memory_budget):
            return None
        return lambda: StatesByUnit(self.plan.statistics["none"], outputs)

    def process_rows(self, rows: SelectedBatch) -> ValidatedBatch:
        """Read the columns of selected rows; add them to the additive states and to the exchanges.

        Several threads may call this at the same time.
        """
        batch = self.reader.read(rows)
        if batch.columns is None:
            return batch
        try:
            worker = self.idle_workers.popleft()
        except IndexError:
            worker = ScanWorker(
                self.plan, self.outputs, self.slices, self.block_rows, self.memory_budget,
                self.counted_rows, None if self.new_by_unit is None else self.new_by_unit(),
            )  # fmt: skip
            self.workers.append(worker)
            if worker.by_unit is not None:
                self.states_by_unit.append(worker.by_unit)
        columns, by_unit, hashes = batch.columns, worker.by_unit, None
        if batch.unit_keys is not None and (by_unit is not None or self.counted_rows is not None):
            hashes = worker.hash_keys("unit", batch.unit_keys).keys.hashes[: columns.rows]
        if by_unit is not None and hashes is not None and by_unit.takes(hashes):
            by_unit.update(columns, hashes)
        else:
            worker.additive.update(columns, hashes)
            if self.counted_rows is None:
                self.exchange_block(batch, worker)
        self.idle_workers.append(worker)
        return batch

    def exchange_block(self, batch: ValidatedBatch, worker: ScanWorker) -> None:
        """Add the rows of a batch to the exchanges that need them."""
        columns = batch.columns
        if columns is None:
            return
        self.score_epsilons = columns.eps
        units: np.ndarray | None = None
        if batch.unit_keys is not None and batch.unit_keys is not batch.keys:
            scratch = worker.hash_keys("unit", batch.unit_keys)
            units = scratch.keys.hashes[: columns.rows]
            if self.unit_exchange is not None:
                self.unit_exchange.add(columns, scratch, worker.slabs.allocate)
        if self.group_exchange is not None and batch.keys is not None:
            scratch = worker.hash_keys("group", batch.keys)
            self.group_exchange.add(columns, scratch, worker.slabs.allocate, units)
        elif self.unit_exchange is None and self.plan.needs("range"):
            retain_rows(self.store, columns, worker.slabs)

    def create_exchanges(self, batch: Any) -> None:
        """Create the exchanges when the first batch shows the types of their keys."""
        self.create_exchanges_of_types(lambda column: type_name(batch.schema.field(column).type))

    def create_exchanges_of_types(self, type_of: Callable[[str], str]) -> None:
        """Create the exchanges that are not there yet; `type_of` gives the name of a column's Arrow type."""
        if self.plan.needs("hash") and self.group_exchange is None:
            self.group_exchange = self.new_exchange(key_dtype("group", self.names.group, type_of))
        unit = self.names.unit
        if unit is None or self.unit_exchange is not None or self.counted_rows is not None:
            return
        if unit == self.names.group:
            self.unit_exchange = self.group_exchange
        elif self.plan.needs("none") or self.plan.needs("range") or self.plan.unsliced:
            # Rows as units are identified by their numbers.
            self.unit_exchange = self.new_exchange(key_dtype("unit", unit, type_of))

    def least_row_bytes(self) -> int:
        """The least bytes that the exchanges store of a row; 0 if they store no rows."""
        names, plan = self.names, self.plan
        if self.new_by_unit is not None:
            return 0
        has_units = names.unit is not None and names.unit != names.group and self.counted_rows is None
        columns = LABEL_BYTES * len(names.labels) + SCORE_BYTES * len(names.scores)
        columns += WEIGHT_BYTES * (names.weight is not None)
        by_unit = HASH_BYTES + columns if has_units and (plan.needs("none") or plan.needs("range")) else 0
        if plan.needs("hash"):
            return by_unit + HASH_BYTES + columns + HASH_BYTES * has_units
        return by_unit or (columns if plan.needs("range") else 0)

    def new_exchange(self, dtype: np.dtype) -> HashExchange:
        """An exchange by keys of a type."""
        bits = initial_partition_bits(self.expected_rows)
        if self.memory_budget is not None and self.expected_rows > BLOCK_ROWS and not self.is_merged:
            # One partition should fit into what a thread may load.
            n_partitions = self.expected_rows * ROW_BYTES // self.memory_budget.bytes_per_range
            bits = max(bits, min(MAX_INITIAL_BITS, n_partitions.bit_length()))
        return HashExchange(dtype, bits, self.memory_budget)

    def record_batch(self, batch: ValidatedBatch) -> None:
        """Add the counts of a batch to those of the scan. Only one thread may call this."""
        self.record_classes(batch.n_classes)
        if found := batch.sum_distances:  # the greatest distance of every model
            self.sum_distances = tuple(map(max, self.sum_distances or found, found))
        self.rows += batch.rows_read
        self.filtered += batch.filtered
        self.rows_kept += batch.rows_read - batch.filtered - sum(batch.dropped.values())
        for reason, count in batch.dropped.items():
            self.dropped[reason] = self.dropped.get(reason, 0) + count
        for number, (seen, row) in enumerate(zip(batch.label_kinds_seen, batch.minus_one_rows, strict=True)):
            self.label_kinds_seen[number] |= seen
            if row is not None:
                earlier = self.minus_one_rows[number]
                self.minus_one_rows[number] = row if earlier is None else min(row, earlier)

    def record_classes(self, n_classes: int | None) -> None:
        """Check that all rows have equally many probabilities."""
        if n_classes is None:
            return
        if self.n_classes not in (None, n_classes):
            title = describe_column(self.names.model_role, self.names.scores[0])
            raise ValueError(
                f"{title} has rows of {self.n_classes} entries and rows of {n_classes} entries: every row has one for "
                "each class"
            )
        self.n_classes = n_classes

    def noted_sums(self) -> dict[str, float]:
        """The distances that are noted, by the names of models."""
        return {format_key(name): own for name, own in zip(self.names.scores, self.sum_distances, strict=False) if own}

    def record_scan(self, other: Scan) -> None:
        """Add the counts of another scan."""
        kinds, rows = tuple(other.label_kinds_seen), tuple(other.minus_one_rows)
        self.reader.float_keys |= other.reader.float_keys
        self.reader.class_forms |= other.reader.class_forms
        self.record_batch(
            ValidatedBatch(
                None, None, other.rows, dict(other.dropped), kinds, rows, n_classes=other.n_classes,
                filtered=other.filtered, sum_distances=other.sum_distances,
            )
        )  # fmt: skip

    def check_labels(self) -> None:
        """Check, after all rows, that labels are 0 and 1, or -1 and +1, but not a mix; classes numbers, or texts."""
        self.reader.check_class_forms()
        for (role, name), seen, row in zip(
            self.class_columns, self.label_kinds_seen, self.minus_one_rows, strict=True
        ):
            check_label_kinds(seen, locate_minus_one(row or 0), describe_column(role, name))

    def merge_additive_states(self) -> AdditiveStates:
        """Merge the states of all threads into those of the first, since states may be large."""
        first, others = self.workers[:1], self.workers[1:]
        self.workers = first
        self.idle_workers.clear()
        merged = first[0].additive if first else AdditiveStates(self.plan, self.outputs, self.slices)
        for worker in others:
            merged.merge(worker.additive)
            worker.additive.clear()
        merged.settle()
        self.counts = merged.counts
        return merged

    def row_count(self, slice_number: int | None) -> RowCount:
        """The rows of a slice, or of all rows (None), that were not dropped."""
        return RowCount(self.rows_kept) if self.counts is None else self.counts.count(slice_number)

    def range_store(self) -> BlockStore:
        """The store with the rows of the range exchange."""
        exchange = self.unit_exchange if self.group_exchange is None else self.group_exchange
        return self.store if exchange is None else exchange.store

    def stores(self) -> list[BlockStore]:
        """All stores that may keep rows."""
        exchanges = (self.group_exchange, None if self.unit_exchange is self.group_exchange else self.unit_exchange)
        return [self.store, *(exchange.store for exchange in exchanges if exchange is not None)]

    def renumber_slices(self, other: Scan) -> dict[str, np.ndarray | None]:
        """The codes of columns of slices of another scan here; the slices of rows are to be computed again."""
        renumbered: dict[str, np.ndarray | None] = {SLICE: None}
        for number, (own, its) in enumerate(zip(self.slices.columns, other.slices.columns, strict=True)):
            renumbered[slice_code_name(number)] = np.array([own.code(value) for value in its.values], np.uint16)
        return renumbered

    def adopt_rows(self, other: Scan) -> None:
        """Share the blocks of another scan, whose slices are registered here."""
        if self.group_exchange is None and other.group_exchange is not None:
            self.group_exchange = other.group_exchange.empty(self.memory_budget)
        if self.unit_exchange is None and other.unit_exchange is not None:
            is_group = other.unit_exchange is other.group_exchange
            self.unit_exchange = self.group_exchange if is_group else other.unit_exchange.empty(self.memory_budget)
        self.score_epsilons = self.score_epsilons or other.score_epsilons
        key_texts = self.reader.key_texts
        of_texts = key_texts.merge(other.reader.key_texts)
        renumbered = self.renumber_slices(other)
        if of_texts is not None:
            renumbered |= {role_name(role): of_texts for role in key_texts.roles}
        for store, other_store in zip(self.stores(), other.stores(), strict=False):
            store.share_blocks(other_store, renumbered)

    def close(self) -> None:
        """Release all rows, in memory and on disk."""
        for store in self.stores():
            store.close()
        self.reader.key_texts.close()


def new_counted_rows() -> CountedRows:
    """Empty counts of rows."""
    from fastmetrics._core.resampling.counted_row_replicates import CountedRows  # only intervals need resampling

    return CountedRows()


def key_dtype(role: str, key: Key | None, type_of: Callable[[str], str]) -> np.dtype:
    """The type of the keys of a group or unit; `type_of` gives the name of a column's Arrow type."""
    if key == ROW_UNITS and role == "unit":
        return np.dtype(np.int64)
    names = key_columns(key)
    return dtype_of_columns(names, [dtype_of_arrow(type_of(name), describe_column(role, name)) for name in names])


def class_columns(plan: Plan, names: ColumnNames) -> list[tuple[str, str]]:
    """Role and name of the label columns, and of other columns of two classes."""
    others = [(role, name) for role, name in names.others if isinstance(plan.kind(role), Binary)]
    return [*(("label", name) for name in names.labels), *others]


def locate_minus_one(row: int) -> Callable[[str], tuple[int, Any]]:
    """For check_label_kinds, which asks where a label is: the first -1 is at `row`."""
    return lambda what: (row, -1)


def retain_rows(store: BlockStore, columns: RowBlock, slabs: SlabAllocator) -> None:
    """Copy columns to a store, in memory or on disk, so that the batch, which is larger, can be released."""
    arrays = columns.arrays()
    held = store.try_reserve(sum(array.nbytes for array in arrays.values()))
    if held:
        for name, values in arrays.items():
            out = slabs.allocate(name, values.dtype, values.shape[0])
            out[:] = values
            arrays[name] = out
    else:
        arrays = {name: np.ascontiguousarray(values) for name, values in arrays.items()}
    store.add(StoredBlock(arrays, np.array([0, columns.rows], np.int32)), held)
