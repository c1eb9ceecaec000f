"""What the rows of a log leave for one part of a plan: the metrics that read the same columns.

Every batch is validated, added to the additive states and kept for the exchanges. Several threads may process batches.
They share nothing but lists.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns.arrow_columns import type_name
from fastmetrics._core.columns.row_blocks import BLOCK_ROWS, SLICE, RowBlock, role_name, slice_code_name
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.hash_exchange import UNKNOWN_ROWS, HashExchange, initial_partition_bits
from fastmetrics._core.group_accumulators import StateKey
from fastmetrics._core.kinds import Vector
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import for_each
from fastmetrics._core.score_statistics.score_histogram import ScoreHistogram
from fastmetrics._core.statistic import Bounded
from fastmetrics.engine.input.batch_validation import ColumnReader, ValidatedBatch
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.input.row_selection import SelectedBatch
from fastmetrics.engine.input.slice_values import keys_with_slices
from fastmetrics.engine.input.truth_rows import TruthReader
from fastmetrics.engine.partial.additive_states import AddedStates, AdditiveStates, split_by_slice
from fastmetrics.engine.partial.part_types import PartTypes, explain_key_types, key_dtype, least_row_bytes
from fastmetrics.engine.partial.part_worker import (
    HistogramKey,
    PartWorker,
    merge_histograms,
    new_counted_rows,
    retain_rows,
)
from fastmetrics.engine.partial.row_counts import RowCounts
from fastmetrics.engine.partial.slice_counts import RowCount, SliceCounts
from fastmetrics.engine.partial.slice_passes import SlicePass
from fastmetrics.engine.partial.state_options import StateOptions
from fastmetrics.engine.partial.waiting_rows import copy_batch, count_rows, group_batches, join_batches, select_units
from fastmetrics.engine.plan.column_names import ROW_UNITS
from fastmetrics.engine.plan.plan_parts import PlanPart

if TYPE_CHECKING:
    from fastmetrics.engine.partial.states_by_unit import StatesByUnit

MAX_INITIAL_BITS = 12
ROW_BYTES = 32  # roughly the memory of a row in the hash exchange by group
FLUSH_ROWS = 8 * BLOCK_ROWS  # rows that wait until the exchange is worth several threads


class PartMark(NamedTuple):
    """What a part is restored to after an update that fails."""

    stores: list[tuple[BlockStore, Any]]
    exchanges: tuple[HashExchange | None, HashExchange | None]
    waiting: tuple[list[ValidatedBatch], int, int]  # with the numbers of batches and of rows
    counts: RowCounts
    types: tuple[str, ...] | None
    kind_of_keys: str | None
    float_keys: set[str]
    class_forms: set[tuple[str, str]]


class PartState:
    """What the rows of a log leave for one part of a plan.

    Attributes
    ----------
    outputs : list of Output
        Every score column with every label column; states refer to an output by its number.
    workers, idle_workers : list and deque of PartWorker
        One worker for every thread that has processed a batch. They hold the additive states, those of an accumulator
        between its updates in the first.
    group_exchange : HashExchange or None
        Rows by group.
    unit_exchange : HashExchange or None
        Rows by resampling unit. It is the exchange by group if groups are the units.
    store : BlockStore
        Rows for the range exchange, if no hash exchange keeps them.
    waiting : list of ValidatedBatch
        Few rows that wait for the exchanges.
    states_by_unit : list of StatesByUnit
        The additive states by unit bucket of every thread, for intervals, if no exchange keeps the rows for them.
    counted_rows : CountedRows or None
        Counts of every row, for resampling metrics of text and of partitions: no exchange keeps such rows.
    slice_counts : SliceCounts or None
        After the additive states were merged: the rows of every slice. None without slices.
    """

    def __init__(self, part: PlanPart, slices: GroupingSets, options: StateOptions) -> None:
        plan, names, budget, rows = part.plan, part.names, options.budget, options.expected_rows
        self.plan = plan
        self.names = names
        self.slices = slices
        self.options = options
        self.slice_pass = SlicePass(0)  # the slices of the current pass over stored rows: see `iterate_passes`
        self.outputs = names.outputs()
        self.reader = ColumnReader(plan, names, budget)
        self.truth = TruthReader.of_part(part, options.on_invalid, self.reader.key_texts)
        self.memory_budget = budget
        self.expected_rows = UNKNOWN_ROWS if rows is None else rows
        self.block_rows = max(1, min(BLOCK_ROWS, self.expected_rows))
        self.idle_workers: deque[PartWorker] = deque()
        self.workers: list[PartWorker] = []
        self.group_exchange: HashExchange | None = None
        self.unit_exchange: HashExchange | None = None
        self.counted_rows = new_counted_rows() if names.unit and not plan.is_numeric else None
        by_unit = options.by_unit and names.unit not in (None, ROW_UNITS) and not names.by
        self.new_by_unit = self.find_states_by_unit() if by_unit else None
        self.states_by_unit: list[StatesByUnit] = []
        self.score_epsilons: tuple[float | None, ...] = ()
        self.store = BlockStore(1, budget)
        self.waiting: list[ValidatedBatch] = []
        self.waiting_rows = 0
        self.merged: tuple[AddedStates, dict[HistogramKey, ScoreHistogram]] | None = None  # by the current update
        self.types = PartTypes(plan, names)
        self.counts = self.earlier = RowCounts(plan, names)  # and those of the updates before the current one
        self.slice_counts: SliceCounts | None = None

    def find_states_by_unit(self) -> Callable[[], StatesByUnit] | None:
        """What makes the states by unit bucket of a thread; None if rows have to be kept."""
        from fastmetrics.engine.partial.states_by_unit import StatesByUnit, can_add_by_unit  # imports resampling

        if self.counted_rows is not None or not can_add_by_unit(self.plan, len(self.outputs), self.memory_budget):
            return None
        return lambda: StatesByUnit(self.plan.statistics["none"], self.outputs, self.options.keeps_sample)

    @property
    def keeps_rows(self) -> bool:
        """Do exchanges keep the rows?"""
        return self.names.unit is not None or (not self.options.n_bins and self.plan.keeps_rows)

    @property
    def reads_vectors(self) -> bool:
        """Are the columns of models probabilities of classes, or other lists?"""
        return isinstance(self.reader.model_kind, Vector)

    def process_rows(self, rows: SelectedBatch, waits: bool = False) -> ValidatedBatch:
        """Read the columns of selected rows; add them to the additive states and to the exchanges.

        Several threads may call this at the same time. Rows that wait are given to the exchanges later.
        """
        batch = self.reader.read(rows)
        if self.options.is_merged:
            self.earlier.check_batch(batch, self.types.earlier)
        if batch.columns is None:
            return batch
        worker = self.take_worker()
        columns, by_unit, hashes = batch.columns, worker.by_unit, None
        if batch.unit_keys is not None and self.names.unit == ROW_UNITS and columns.slice_codes:
            keys = keys_with_slices(batch.unit_keys, columns.slice_codes, self.slices.columns)
            batch = batch._replace(unit_keys=keys)
        if batch.unit_keys is not None and (by_unit is not None or self.counted_rows is not None):
            hashes = worker.hash_keys("unit", batch.unit_keys).keys.hashes[: columns.rows]
            if self.counted_rows is not None and self.names.unit == ROW_UNITS:
                self.counted_rows.number_equal_rows(hashes)
        kept: ValidatedBatch | None = batch
        if by_unit is not None and hashes is not None and by_unit.takes(hashes):
            stored = by_unit.update(columns, hashes)
            kept = None if stored is None else select_units(batch, stored)
        if kept is not None:
            self.keep_rows(kept, hashes, worker, waits)
        self.idle_workers.append(worker)
        return batch

    def keep_rows(self, batch: ValidatedBatch, hashes: np.ndarray | None, worker: PartWorker, waits: bool) -> None:
        """Add rows to the additive states and to the exchanges. `hashes` are those of units whose rows are counted."""
        columns = batch.columns
        if columns is None:
            return
        worker.additive.update(columns, hashes)
        if self.options.n_bins:
            self.fill_histograms(worker.histograms, columns)
        if waits and self.keeps_rows and self.counted_rows is None:
            self.waiting.append(batch)
        elif self.counted_rows is None:
            self.exchange_block(batch, worker)

    def add_truth(self, batch: ValidatedBatch) -> None:
        """Give rows of the truth table to the exchange by group. Their units are those of the log's rows."""
        exchange = self.group_exchange
        if exchange is None or batch.columns is None or batch.keys is None:
            return
        units = None if self.names.unit in (None, self.names.group) else np.zeros(batch.columns.rows, np.uint64)
        worker = self.take_worker()
        exchange.add(batch.columns, worker.hash_keys("group", batch.keys), worker.slabs.allocate, units)
        self.idle_workers.append(worker)

    def take_worker(self) -> PartWorker:
        """The states of a thread; those of a further one if none is idle."""
        try:
            return self.idle_workers.popleft()
        except IndexError:
            pass
        worker = PartWorker(
            self.plan, self.outputs, self.slices, self.block_rows, self.memory_budget,
            self.counted_rows, None if self.new_by_unit is None else self.new_by_unit(),
        )  # fmt: skip
        if self.options.is_merged:
            worker.slabs.slab_blocks = 1
        self.workers.append(worker)
        if worker.by_unit is not None:
            self.states_by_unit.append(worker.by_unit)
        return worker

    def exchange_block(self, batch: ValidatedBatch, worker: PartWorker) -> None:
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
        elif self.unit_exchange is None and self.plan.needs("range") and not self.options.n_bins:
            retain_rows(self.store, columns, worker.slabs)

    def fill_histograms(self, histograms: dict[HistogramKey, ScoreHistogram], columns: RowBlock) -> None:
        """Add the scores of a block to those of an approximate state."""
        if not self.plan.needs("range"):
            return
        for slice_number, block in split_by_slice(columns, self.slices, range(len(self.slices.sets))):
            for output_number, output in enumerate(self.outputs):
                histogram = histograms.setdefault((output_number, slice_number), ScoreHistogram(self.options.n_bins))
                histogram.add(block.labels[output.label], block.scores[output.score])

    def create_exchanges(self, batch: Any) -> None:
        """Create the exchanges when the first batch shows the types of their keys."""
        self.create_exchanges_of_types(lambda column: type_name(batch.schema.field(column).type))

    def create_exchanges_of_types(self, type_of: Callable[[str], str]) -> None:
        """Create the exchanges that are not there yet; `type_of` gives the name of a column's Arrow type."""
        if self.plan.needs("hash") and (self.group_exchange is None or self.truth):
            self.create_group_exchange(key_dtype("group", self.names.group, type_of))
        unit = self.names.unit
        if unit is None or self.unit_exchange is not None or self.counted_rows is not None:
            return
        if unit == self.names.group:
            self.unit_exchange = self.group_exchange
        elif self.plan.needs("none") or self.plan.needs("range") or self.plan.unsliced:
            self.unit_exchange = self.new_exchange(key_dtype("unit", unit, type_of))

    def create_group_exchange(self, key_type: np.dtype) -> HashExchange:
        """The exchange by group, created at the first use. The keys of the log and of truth are of one type."""
        if self.group_exchange is None:
            self.group_exchange = self.new_exchange(key_type, self.truth is not None)
        elif self.group_exchange.key_dtype != key_type:
            raise TypeError(explain_key_types(self.names, self.group_exchange.key_dtype, key_type))
        return self.group_exchange

    def least_row_bytes(self) -> int:
        """The least bytes that the exchanges store of a row; 0 if they store no rows."""
        return 0 if self.new_by_unit is not None else least_row_bytes(self.plan, self.names, self.counted_rows is None)

    def new_exchange(self, dtype: np.dtype, has_truth: bool = False) -> HashExchange:
        """An exchange by keys of a type."""
        bits = initial_partition_bits(self.expected_rows)
        if self.memory_budget is not None and self.expected_rows > BLOCK_ROWS and not self.options.is_merged:
            # One partition should fit into what a thread may load.
            n_partitions = self.expected_rows * ROW_BYTES // self.memory_budget.bytes_per_range
            bits = max(bits, min(MAX_INITIAL_BITS, n_partitions.bit_length()))
        return HashExchange(dtype, bits, self.memory_budget, has_truth=has_truth)

    @property
    def additive(self) -> AdditiveStates:
        """The additive states, while no thread processes rows."""
        return self.first_worker().additive

    @property
    def histograms(self) -> dict[HistogramKey, ScoreHistogram]:
        """The histograms of scores of an approximate state, by output and slice."""
        return self.first_worker().histograms

    def first_worker(self) -> PartWorker:
        if not self.workers:
            self.workers.append(PartWorker(self.plan, self.outputs, self.slices, 1, self.memory_budget))
        return self.workers[0]

    def check_labels(self) -> None:
        """Check, after all rows, that labels are of one kind; those of classes numbers, or texts."""
        self.reader.check_class_forms()
        self.counts.check_labels()

    def merge_additive_states(self) -> AdditiveStates:
        """Merge the states of all threads into those of the first, since states may be large."""
        first, others = self.first_worker(), self.workers[1:]
        self.workers = [first]
        self.idle_workers.clear()
        for worker in others:
            first.additive.merge(worker.additive)
            worker.additive.clear()
            merge_histograms(first.histograms, worker.histograms)
        first.additive.settle()
        self.slice_counts = first.additive.counts
        return first.additive

    def start_update(self) -> PartMark:
        """Begin an update of a state that may have rows already. Its rows get workers of their own."""
        self.first_worker()
        reader, self.earlier = self.reader, self.counts.copy()
        return PartMark(
            [(store, store.mark()) for store in self.stores()],
            (self.group_exchange, self.unit_exchange),
            (self.waiting, len(self.waiting), self.waiting_rows),
            self.earlier,
            self.types.found,
            reader.key_texts.kind,
            set(reader.float_keys),
            set(reader.class_forms),
        )

    def undo_update(self, mark: PartMark) -> None:
        """Leave the state as it was."""
        for store, of_store in mark.stores:
            store.restore(of_store)
        marked = [store for store, _ in mark.stores]
        for store in self.stores():
            if store not in marked:
                store.close()
        self.group_exchange, self.unit_exchange = mark.exchanges
        self.waiting, n_waiting, self.waiting_rows = mark.waiting
        del self.waiting[n_waiting:]
        self.counts, self.types.found = mark.counts, mark.types
        self.reader.key_texts.kind = mark.kind_of_keys
        self.reader.float_keys, self.reader.class_forms = mark.float_keys, mark.class_forms
        self.merged = None
        self.drop_workers()

    def drop_workers(self) -> None:
        """Forget the workers of an update."""
        for worker in self.workers[1:]:
            worker.additive.clear()
        del self.workers[1:]
        self.idle_workers.clear()

    def merge_update(self, other: PartState | None = None, numbers: np.ndarray | None = None) -> None:
        """Add up the additive states of an update, or of another state; `take_update` makes them those of the state.

        Slice s of the other state is numbers[s] here, or s.
        """
        own = self.first_worker()
        others: list[tuple[PartWorker, np.ndarray | None]] = [(worker, None) for worker in self.workers[1:]]
        others += [] if other is None else [(other.first_worker(), numbers)]
        histograms = {key: histogram.copy() for key, histogram in own.histograms.items()}
        for worker, of_worker in others:
            merge_histograms(histograms, worker.histograms, of_worker)
        additive = own.additive.merged_with([(worker.additive, of_worker) for worker, of_worker in others])
        self.merged = additive, histograms

    def take_update(self) -> None:
        """Make what `merge_update` added up the states."""
        if self.merged is not None:
            merged, self.first_worker().histograms = self.merged
            self.merged = None
            self.additive.take(merged)
            self.drop_workers()

    def exchange_update(self, mark: PartMark, n_threads: int) -> None:
        """Give rows that wait to the exchanges if they are many; otherwise they wait for more rows."""
        _, n_waiting, rows = mark.waiting
        new = self.waiting[n_waiting:]
        self.waiting_rows = rows + sum(map(count_rows, new))
        if self.waiting_rows >= FLUSH_ROWS:
            self.flush(n_threads)
            return
        # Rows that wait are copied: the batch may be far larger than what is read of it, and the caller may use its
        # memory again (an Arrow table too can stand on a NumPy array).
        self.waiting[n_waiting:] = map(copy_batch, new)

    def flush(self, n_threads: int) -> None:
        """Move waiting rows to the exchanges, in blocks of a good size, with several threads."""
        if not self.waiting:
            return
        groups = group_batches(self.waiting)
        block_rows = max(sum(map(count_rows, group)) for group in groups)

        def make_worker() -> Callable[[int], None]:
            worker = PartWorker(self.plan, self.outputs, self.slices, block_rows)
            worker.slabs.slab_blocks = 1

            def exchange(group: int) -> None:
                batches = groups[group]
                self.exchange_block(batches[0] if len(batches) == 1 else join_batches(batches), worker)

            return exchange

        marks, waiting = [(store, store.mark()) for store in self.stores()], (self.waiting, self.waiting_rows)
        try:
            for_each(len(groups), make_worker, n_threads)
            self.waiting, self.waiting_rows = [], 0
        except BaseException:
            # Out of memory or disk, or an interrupt: the rows still wait, so none of them may stay in a store.
            for store, mark in marks:
                store.restore(mark)
            self.waiting, self.waiting_rows = waiting
            raise

    @contextmanager
    def flushed(self, n_threads: int) -> Iterator[None]:
        """All rows are in the stores for a while. Waiting rows wait again afterwards.

        Otherwise many results of a growing state would leave many small blocks.
        """
        marks, waiting = [(store, store.mark()) for store in self.stores()], (self.waiting, self.waiting_rows)
        self.flush(n_threads)
        try:
            yield
        finally:
            for store, mark in marks:
                store.restore(mark)
            self.waiting, self.waiting_rows = waiting

    def check_mergeable(self, other: PartState) -> None:
        """Row counts, column types and kinds of labels have to fit each other."""
        self.counts.check_mergeable(other.counts)
        self.types.check_mergeable(other.types)
        if self.truth and other.group_exchange is not None and self.group_exchange is not None:
            self.create_group_exchange(other.group_exchange.key_dtype)  # an error if it is another type
        self.reader.key_texts.check_mergeable(other.reader.key_texts)

    def adopt(self, other: PartState, numbers: np.ndarray | None = None) -> None:
        """Take in another state, none of whose rows wait, up to `take_update`; its slice s is numbers[s] here, or s."""
        self.merge_update(other, numbers)
        self.adopt_rows(other)
        self.types.merge(other.types)
        self.counts.merge(other.counts)
        self.reader.float_keys |= other.reader.float_keys
        self.reader.class_forms |= other.reader.class_forms

    def bounds(self) -> dict[StateKey, tuple[Any, Any]]:
        """For every statistic of the range exchange, output and slice: a state below and one above the exact one."""
        totals = dict(self.histograms)
        in_first = self.slices.set_of_slices() == 0
        for (output, number), histogram in self.histograms.items():
            if number is not None and in_first[number]:
                totals.setdefault((output, None), ScoreHistogram(self.options.n_bins)).merge(histogram)
        return {
            (statistic, output, number): statistic.bounds(histogram)
            for (output, number), histogram in totals.items()
            for statistic in self.plan.statistics["range"]
            if isinstance(statistic, Bounded)
        }

    def row_count(self, slice_number: int | None) -> RowCount:
        """The rows of a slice, or of all rows (None), that were not dropped."""
        if self.slice_counts is None:
            return RowCount(self.counts.rows_kept)
        return self.slice_counts.count(slice_number)

    def range_store(self) -> BlockStore:
        """The store with the rows of the range exchange."""
        exchange = self.unit_exchange if self.group_exchange is None else self.group_exchange
        return self.store if exchange is None else exchange.store

    def stores(self) -> list[BlockStore]:
        """All stores that may keep rows."""
        exchanges = (self.group_exchange, None if self.unit_exchange is self.group_exchange else self.unit_exchange)
        return [self.store, *(exchange.store for exchange in exchanges if exchange is not None)]

    def renumber_slices(self, other: PartState) -> dict[str, np.ndarray | None]:
        """The codes of columns of slices of another state here; the slices of rows are to be computed again."""
        renumbered: dict[str, np.ndarray | None] = {SLICE: None}
        for number, (own, its) in enumerate(zip(self.slices.columns, other.slices.columns, strict=True)):
            codes = [own.code(value) for value in its.values]
            renumbered[slice_code_name(number)] = np.array(codes or [0], np.uint16)  # rows of truth alone have code 0
        return renumbered

    def adopt_rows(self, other: PartState) -> None:
        """Share the blocks of another state, whose slices are registered here."""
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
