"""The state behind an Accumulator: additive states, histograms, and the rows that exchanges keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np

from fastmetrics._core.columns.arrow_columns import LISTS
from fastmetrics._core.columns.row_blocks import BLOCK_ROWS, RowBlock
from fastmetrics._core.columns.validation import check_label_kinds
from fastmetrics._core.exchange.hash_exchange import UNKNOWN_ROWS
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.group_accumulators import StateKey
from fastmetrics._core.kinds import LABEL_ROLE, ClassLabel, Real, Vector
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.score_statistics.score_histogram import ScoreHistogram
from fastmetrics._core.statistic import Bounded
from fastmetrics.engine.batch_joining import count_rows, group_batches, join_batches
from fastmetrics.engine.input.batch_validation import ValidatedBatch, mixes_zero_and_minus_one
from fastmetrics.engine.input.batches import MixedKeysError, Source
from fastmetrics.engine.input.column_types import (
    convert_batch,
    join_types,
    types_of_columns,
)
from fastmetrics.engine.input.computed_columns import open_columns
from fastmetrics.engine.input.row_selection import SelectedBatch, find_column_uses, may_be_dictionary
from fastmetrics.engine.plan.column_names import ColumnNames, describe_column, key_columns
from fastmetrics.engine.plan.plan_parts import distinct_columns
from fastmetrics.engine.plan.tasks import PlannedTask, name_task_in_errors
from fastmetrics.engine.scan.additive_states import AdditiveStates, split_by_slice
from fastmetrics.engine.scan.plan_scan import LogScan
from fastmetrics.engine.scan.scan import Scan, ScanWorker, locate_minus_one
from fastmetrics.engine.scan.slice_counts import SliceCounts

FLUSH_ROWS = 8 * BLOCK_ROWS  # rows that wait until the exchange is worth several threads
MAX_ROWS = (1 << 63) - 1  # counts are integers of 64 bits
MIXED_LABELS = "labels must be 0 and 1, or -1 and +1, not a mix"

# The number of an output, and of a slice (None: all rows).
HistogramKey = tuple[int, int | None]


class AccumulatorState:
    """What an Accumulator has taken in for one of its tasks; its options stay with the Accumulator.

    Attributes
    ----------
    task : PlannedTask
    log_scan : LogScan
        The slices, and a scan for every part of the plan.
    parts : list of PartState
        The state of each part, with its scan.
    """

    def __init__(
        self, task: PlannedTask, on_invalid: str, approximate: bool, n_bins: int, budget: MemoryBudget
    ) -> None:
        self.task = task
        self.budget = budget
        self.on_invalid = on_invalid
        self.approximate = approximate
        self.n_bins = n_bins
        self.log_scan = LogScan(task.parts, on_invalid, UNKNOWN_ROWS, budget, is_merged=True)
        self.parts = [PartState(scan, approximate, n_bins) for scan in self.log_scan.scans]

    @property
    def names(self) -> ColumnNames:
        """The columns as the caller named them."""
        return self.task.names

    @property
    def rows(self) -> int:
        return self.log_scan.rows

    def flush(self, n_threads: int | None) -> None:
        """Move waiting rows to the exchanges."""
        for part in self.parts:
            part.flush(n_threads)

    def check_mergeable(self, other: AccumulatorState) -> None:
        """Row counts, column types and kinds of labels have to fit each other."""
        check_row_count(self.rows + other.rows)
        for part, other_part in zip(self.parts, other.parts, strict=True):
            part.check_mergeable(other_part)

    def merge(self, other: AccumulatorState, n_threads: int | None, other_n_threads: int | None) -> None:
        """Take in all rows of another state of the same columns and options; it stays as it is."""
        # Additive states may be large, and are only read: they are not copied, even where both states are the same.
        additive = [(list(part.additive.sums.items()), part.additive.counts) for part in other.parts]
        other = other.copy_rows(other_n_threads)
        self.flush(n_threads)
        slices = self.log_scan.slices
        mark = slices.mark()
        try:
            numbers = slices.number_slices(other.log_scan.slices.values())
        except ValueError:
            slices.restore(mark)
            raise
        for part, other_part, (states, counts) in zip(self.parts, other.parts, additive, strict=True):
            part.merge(other_part, states, counts, numbers)

    def copy(self, n_threads: int | None) -> AccumulatorState:
        """A state of the same rows. Blocks of rows are shared: they never change."""
        new = self.copy_rows(n_threads)
        for part, own in zip(new.parts, self.parts, strict=True):
            part.additive.merge(own.additive)
        return new

    def copy_rows(self, n_threads: int | None) -> AccumulatorState:
        """A copy without the additive states."""
        self.flush(n_threads)
        budget = self.budget.empty()
        new = AccumulatorState(self.task, self.on_invalid, self.approximate, self.n_bins, budget)
        new.log_scan.slices.number_slices(self.log_scan.slices.values())
        for part, own in zip(new.parts, self.parts, strict=True):
            part.copy_rows_of(own)
        return new


class StateUpdate:
    """An update of the state of a task, which can be undone until it is finished."""

    def __init__(self, state: AccumulatorState) -> None:
        self.state = state
        self.slices = state.log_scan.slices.mark()
        self.rows = 0
        self.parts = [PartUpdate(part) for part in state.parts]

    def add(self, rows: Any) -> None:
        """Select and validate the rows of a record batch."""
        selected = self.state.log_scan.selector.select(rows, self.rows)
        self.rows += rows.num_rows
        for part in self.parts:
            part.add(rows, selected)

    def exchange(self, n_threads: int | None) -> None:
        """Check the labels of all batches, and give their rows to the exchange, or let them wait for more rows."""
        check_row_count(self.state.rows + self.rows)
        for part in self.parts:
            part.exchange(n_threads)

    def undo(self) -> None:
        """Leave the state as it was."""
        for part in self.parts:
            part.undo()
        self.state.log_scan.slices.restore(self.slices)

    def finish(self) -> None:
        """Count the rows."""
        for part in self.parts:
            part.finish()


def update_states(states: Sequence[AccumulatorState], source: Source, n_threads: int | None) -> None:
    """Take in the rows of a source. After an error all states are as before."""
    while True:
        try:
            update_from(states, source, n_threads)
            return
        except MixedKeysError as found:
            source.expect_mixed_keys(found.column)


def update_from(states: Sequence[AccumulatorState], source: Source, n_threads: int | None) -> None:
    """Take in the rows of a source, which is read once."""
    parts = [part for state in states for part in state.task.parts]
    source.n_threads = n_threads
    source = open_columns(source, parts, [state.task.where for state in states])
    source.expect(find_column_uses(tuple(parts)))
    for state in states:
        state.log_scan.find_numerals(source)
    columns = distinct_columns(parts)
    slices = dict(chain.from_iterable(state.log_scan.slices_by_value() for state in states))
    updates = [StateUpdate(state) for state in states]
    try:
        first_row = 0
        for rows in source.batches(columns, use_threads=False):
            known = chain.from_iterable(part.known_types().items() for state in states for part in state.parts)
            rows = convert_batch(rows, dict(known), source.uses.only_numbers, slices, first_row)
            first_row += rows.num_rows
            for update in updates:
                with name_task_in_errors(update.state.task.name):
                    update.add(rows)
        for update in updates:
            with name_task_in_errors(update.state.task.name):
                update.exchange(n_threads)
    except BaseException:
        for update in updates:
            update.undo()
        raise
    for update in updates:
        update.finish()


class PartUpdate:
    """An update of a part's state, which can be undone until it is finished."""

    def __init__(self, part: PartState) -> None:
        self.part = part
        scan = part.scan
        self.before = part.types, scan.group_exchange, scan.unit_exchange, list(part.pending), part.pending_rows
        self.kind_of_keys = scan.reader.key_texts.kind
        self.n_classes = scan.n_classes
        self.marks = [(store, store.mark()) for store in scan.stores()]
        self.histograms = {key: histogram.copy() for key, histogram in part.histograms.items()}
        self.additive = AdditiveStates(scan.plan, scan.outputs, scan.slices)
        self.batches: list[ValidatedBatch] = []

    def add(self, rows: Any, selected: SelectedBatch) -> None:
        """Validate the selected rows of a record batch."""
        part, scan = self.part, self.part.scan
        batch = scan.reader.read(selected)
        scan.record_classes(batch.n_classes)
        if selected.kept:
            # A batch without a valid row says nothing about types: its columns may be all null.
            part.check_types(rows.schema)
            scan.create_exchanges(rows)
        if batch.columns is not None:
            self.additive.update(batch.columns)
            if part.approximate:
                part.fill_histograms(self.histograms, batch.columns)
        keeps_rows = part.keeps_rows()
        self.batches.append(batch if keeps_rows else batch._replace(columns=None, keys=None, unit_keys=None))

    def exchange(self, n_threads: int | None) -> None:
        """Check the labels of all batches, and give their rows to the exchange, or let them wait for more rows."""
        part, batches = self.part, self.batches
        part.check_labels(batches)
        if part.keeps_rows() and part.pending_rows + sum(map(count_rows, batches)) < FLUSH_ROWS:
            # Rows that wait are copied: the batch may be far larger than what is read of it, and the caller may
            # use its memory again (an Arrow table too can stand on a NumPy array).
            batches = [batch if batch.columns is None else join_batches([batch]) for batch in batches]
        part.pending += [batch for batch in batches if batch.columns is not None]
        part.pending_rows += sum(map(count_rows, batches))
        if part.pending_rows >= FLUSH_ROWS:
            part.flush(n_threads)

    def undo(self) -> None:
        """Leave the part as it was."""
        part, scan = self.part, self.part.scan
        for store, mark in self.marks:
            store.restore(mark)
        part.types, scan.group_exchange, scan.unit_exchange, part.pending, part.pending_rows = self.before
        scan.reader.key_texts.kind = self.kind_of_keys
        scan.n_classes = self.n_classes

    def finish(self) -> None:
        """Count the rows."""
        for batch in self.batches:
            self.part.scan.record_batch(batch)
        self.part.histograms = self.histograms
        self.part.additive.merge(self.additive)


class PartState:
    """What an accumulator has taken in for one part of its plan.

    Attributes
    ----------
    scan : Scan
        The rows that exchanges keep, and the counts of rows.
    additive : AdditiveStates
    histograms : dict
        The scores of an approximate state, in histograms of at most `n_bins` bins.
    typed_columns : list of str
        Columns whose type is part of the state: first `n_class_columns` with labels of classes.
    types : tuple of str or None
        The Arrow types of `typed_columns`, as of the first batch; None before it.
    pending : list of ValidatedBatch
        Rows that wait for the exchange.
    """

    def __init__(self, scan: Scan, approximate: bool, n_bins: int) -> None:
        self.scan = scan
        self.approximate = approximate
        self.n_bins = n_bins
        worker = ScanWorker(scan.plan, scan.outputs, scan.slices, 1)
        scan.workers = [worker]
        self.additive = worker.additive
        self.histograms: dict[HistogramKey, ScoreHistogram] = {}
        self.n_class_columns = self.count_class_columns()
        self.typed_columns = self.find_typed_columns()
        self.types: tuple[str, ...] | None = None
        self.pending: list[ValidatedBatch] = []
        self.pending_rows = 0

    def keeps_rows(self) -> bool:
        """Return whether an exchange keeps the rows."""
        plan = self.scan.plan
        return self.scan.names.unit is not None or (not self.approximate and plan.keeps_rows)

    def find_typed_columns(self) -> list[str]:
        """Columns whose type is part of the state."""
        plan, names = self.scan.plan, self.scan.names
        any_type = names.labels and may_be_dictionary(plan.kind(LABEL_ROLE))
        labels = names.labels if any_type else ()
        keys = dict.fromkeys([*key_columns(names.group), *key_columns(names.unit)])
        scores = [name for model in names.scores for name in key_columns(model)]
        return [*scores, *labels, *keys, *names.slice_columns]

    def types_of_models(self) -> list[list[str]]:
        """The Arrow types of the columns of every model; those of lists are the types of their entries."""
        types = iter(self.types or ())
        return [[next(types).removeprefix(LISTS) for _ in key_columns(model)] for model in self.scan.names.scores]

    def known_types(self) -> dict[str, str]:
        """The Arrow types of columns as of the first batch, but for labels that are compared by value."""
        columns = zip(self.typed_columns, self.types or (), strict=False)
        labels = self.scan.names.labels if self.n_class_columns else ()
        return {name: known for name, known in reversed([*columns]) if name not in labels}

    @property
    def reads_vectors(self) -> bool:
        """Are the columns of models probabilities of classes, or other lists?"""
        return isinstance(self.scan.reader.model_kind, Vector)

    def check_types(self, schema: Any) -> None:
        """Types have to be those of the first batch: hashes and scores of different types never compare equal."""
        names, numerals = self.typed_columns, self.scan.reader.numerals | self.scan.slices.numerals
        types = types_of_columns(schema, names, self.n_class_columns, len(self.scan.names.by), numerals)
        joined = self.join_types(types)
        for name, earlier, found, common in zip(names, self.types or types, types, joined, strict=True):
            if common is None:
                raise TypeError(
                    f"column {name!r} has Arrow type {found}, but {earlier} in earlier batches; cast it to one type"
                )
        self.types = tuple(map(str, joined))

    def join_types(self, types: Sequence[str]) -> list[str | None]:
        """The types of `typed_columns` with those of further rows; None for each that does not fit."""
        n_models = sum(len(key_columns(model)) for model in self.scan.names.scores)
        n_numbers = n_models if isinstance(self.scan.reader.model_kind, Real) else 0
        return join_types(self.types or types, types, n_numbers, self.n_class_columns, len(self.scan.names.by))

    def count_class_columns(self) -> int:
        """How many of `typed_columns` have labels of classes, which are compared by value: they come first."""
        names, kinds = self.scan.names, self.scan.plan.kinds
        are_classes = all(isinstance(kinds.get(role), ClassLabel) for role in (LABEL_ROLE, names.model_role))
        return len(names.scores) + len(names.labels) if are_classes else 0

    def check_labels(self, batches: list[ValidatedBatch]) -> None:
        """Labels have to be 0 and 1, or -1 and +1, but not a mix; earlier batches count too."""
        for number, (role, name) in enumerate(self.scan.class_columns):
            seen = self.scan.label_kinds_seen[number]
            for batch in batches:
                seen |= batch.label_kinds_seen[number] if batch.label_kinds_seen else 0
            rows = [batch.minus_one_rows[number] for batch in batches if batch.minus_one_rows]
            first = next((row for row in rows if row is not None), None)
            if first is None and mixes_zero_and_minus_one(seen):
                zero = find_first_zero(batches, number, role)
                where = "" if zero is None else f" at row {zero}"
                raise ValueError(
                    f"{describe_column(role, name)} has 0{where} and -1 in earlier batches: {MIXED_LABELS}"
                )
            check_label_kinds(seen, locate_minus_one(first or 0), describe_column(role, name))

    def fill_histograms(self, histograms: dict[HistogramKey, ScoreHistogram], columns: RowBlock) -> None:
        if not self.scan.plan.needs("range"):
            return
        slices = self.scan.slices
        for slice_number, block in split_by_slice(columns, slices, range(len(slices.sets))):
            for output_number, output in enumerate(self.scan.outputs):
                histogram = histograms.setdefault((output_number, slice_number), ScoreHistogram(self.n_bins))
                histogram.add(block.labels[output.label], block.scores[output.score])

    def flush(self, n_threads: int | None) -> None:
        """Move waiting rows to the exchange, in blocks of a good size, with several threads."""
        if not self.pending:
            return
        groups = group_batches(self.pending)
        scan = self.scan
        block_rows = max(sum(map(count_rows, group)) for group in groups)

        def make_worker() -> Callable[[int], None]:
            worker = ScanWorker(scan.plan, scan.outputs, scan.slices, block_rows)
            worker.slabs.slab_blocks = 1

            def exchange(group: int) -> None:
                batches = groups[group]
                scan.exchange_block(batches[0] if len(batches) == 1 else join_batches(batches), worker)

            return exchange

        marks = [(store, store.mark()) for store in scan.stores()]
        try:
            for_each(len(groups), make_worker, count_threads(n_threads))
        except BaseException:
            # Out of memory or disk, or an interrupt: the rows stay pending, so none of them may stay in a store.
            for store, mark in marks:
                store.restore(mark)
            raise
        self.pending = []
        self.pending_rows = 0

    @contextmanager
    def flushed(self, n_threads: int | None) -> Iterator[None]:
        """All rows are in the stores for a while. Pending rows are pending again afterwards.

        Otherwise many results of a growing state would leave many small blocks.
        """
        marks = [(store, store.mark()) for store in self.scan.stores()]
        pending, rows = self.pending, self.pending_rows
        self.flush(n_threads)
        try:
            yield
        finally:
            for store, mark in marks:
                store.restore(mark)
            self.pending, self.pending_rows = pending, rows

    def merge(
        self,
        other: PartState,
        states: list[tuple[StateKey, Any]],
        counts: SliceCounts | None,
        numbers: np.ndarray,
    ) -> None:
        """Take in the rows and the additive states of another part; its slice s becomes numbers[s]."""
        for (statistic, output, number), state in states:
            self.additive.state(statistic, output, None if number is None else int(numbers[number])).merge(state)
        self.additive.merge_counts(counts, numbers)
        for (output, number), histogram in other.histograms.items():
            own_key = (output, None if number is None else int(numbers[number]))
            self.histograms.setdefault(own_key, ScoreHistogram(self.n_bins)).merge(histogram)
        self.scan.adopt_rows(other.scan)
        if other.types is not None:
            self.types = tuple(map(str, self.join_types(other.types)))
        self.scan.record_scan(other.scan)

    def check_mergeable(self, other: PartState) -> None:
        """Column types and kinds of labels have to fit each other."""
        types = other.types or self.types or ()
        columns = zip(self.typed_columns, self.types or types, types, self.join_types(types), strict=False)
        bad = [f"{name!r} is {here} here, {there} there" for name, here, there, joined in columns if joined is None]
        if bad:
            raise TypeError(f"states of different column types do not merge: {', '.join(bad)}; cast each to one type")
        self.scan.reader.key_texts.check_mergeable(other.scan.reader.key_texts)
        classes = {self.scan.n_classes, other.scan.n_classes} - {None}
        if len(classes) > 1:
            raise ValueError(
                f"states of different numbers of classes do not merge: {self.scan.n_classes} here, "
                f"{other.scan.n_classes} there"
            )
        kinds = zip(self.scan.class_columns, self.scan.label_kinds_seen, other.scan.label_kinds_seen, strict=True)
        for (role, name), here, there in kinds:
            if mixes_zero_and_minus_one(here | there):
                raise ValueError(
                    f"{describe_column(role, name)} has -1 in one of the states and 0 in the other: {MIXED_LABELS}"
                )

    def copy_rows_of(self, other: PartState) -> None:
        """Take in the rows of another part, without its additive states, into this empty one."""
        self.types = other.types
        self.histograms = {key: histogram.copy() for key, histogram in other.histograms.items()}
        self.scan.adopt_rows(other.scan)
        self.scan.record_scan(other.scan)

    def bounds(self) -> dict[StateKey, tuple[Any, Any]]:
        """For every statistic of the range exchange, output and slice: a state below and one above the exact one."""
        totals = dict(self.histograms)
        in_first = self.scan.slices.set_of_slices() == 0
        for (output, number), histogram in self.histograms.items():
            if number is not None and in_first[number]:
                totals.setdefault((output, None), ScoreHistogram(self.n_bins)).merge(histogram)
        return {
            (statistic, output, number): statistic.bounds(histogram)
            for (output, number), histogram in totals.items()
            for statistic in self.scan.plan.statistics["range"]
            if isinstance(statistic, Bounded)
        }


def check_row_count(rows: int) -> None:
    if rows > MAX_ROWS:
        raise OverflowError(f"{rows:,} rows are more than a state counts: at most {MAX_ROWS:,}")


def find_first_zero(batches: list[ValidatedBatch], number: int, role: str) -> int | None:
    """The first row with 0 in a column of two classes, of batches without -1; None if the row was left out later."""
    for batch in batches:
        columns = batch.columns
        if columns is None:
            continue
        classes = columns.labels[number] if role == LABEL_ROLE else columns.others[role]
        if not classes.all():
            row = int(classes.argmin())
            return columns.first_row + (row if columns.row_numbers is None else int(columns.row_numbers[row]))
    return None
