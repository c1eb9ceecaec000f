"""What the rows of a log leave for one task: its rows are selected once, for all parts of its plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any

from fastmetrics.engine.input.batch_validation import ValidatedBatch
from fastmetrics.engine.input.batches import Source
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.input.row_selection import RowSelector
from fastmetrics.engine.partial.part_state import PartMark, PartState
from fastmetrics.engine.partial.part_types import key_dtype, truth_key_types
from fastmetrics.engine.partial.row_counts import RowCounts
from fastmetrics.engine.partial.slices_and_rests import PairedSlices
from fastmetrics.engine.partial.state_options import StateOptions
from fastmetrics.engine.plan.column_names import ColumnNames, key_columns
from fastmetrics.engine.plan.plan_parts import PlanPart


class TaskState:
    """A state for every part of a task's plan: all get the rows that have every value.

    Attributes
    ----------
    parts : list of PartState
    selector : RowSelector
    """

    def __init__(
        self,
        plan_parts: Sequence[PlanPart],
        options: StateOptions,
        only: Sequence[int] | None = None,
        slices: GroupingSets | None = None,
    ) -> None:
        """`only` are the numbers of the parts that get rows, which are selected by the columns of all parts."""
        self.plan_parts = plan_parts
        self.options = options
        self.selector = RowSelector(plan_parts, options.on_invalid, slices)
        self.has_filter = self.selector.where is not None
        with_rows = plan_parts if only is None else [plan_parts[number] for number in only]
        self.lock = Lock()
        self.parts = [PartState(part, self.selector.slices, options) for part in with_rows]
        self.fitting: tuple[Any, ...] = ()  # the schema that was checked last, and the types of all parts then

    @property
    def names(self) -> ColumnNames:
        """The columns as the caller named them."""
        return self.parts[0].names

    @property
    def counts(self) -> RowCounts:
        """The counts of rows, which are the same in all parts."""
        return self.parts[0].counts

    @property
    def truth_rows(self) -> int:
        """Rows of the truth table that were kept, by all parts."""
        return sum(part.counts.truth_rows for part in self.parts)

    @property
    def filtered(self) -> int | None:
        """Rows that the filter left out; None if there is no filter."""
        return self.counts.filtered if self.has_filter else None

    @property
    def slices(self) -> GroupingSets:
        return self.selector.slices

    def pair_slices(self, slices: PairedSlices) -> None:
        """Let slices be in pairs, after all rows."""
        for part in self.parts:
            part.slices = slices

    def find_numerals(self, source: Source) -> None:
        """Ask a source which columns of slices and classes come as texts of which some write numbers."""
        self.fitting = ()
        self.slices.numerals = frozenset(filter(source.reads_numerals, self.slices.names))
        for part in self.parts:
            names = [*part.names.labels, *map(str, part.names.scores)]
            part.reader.numerals = frozenset(filter(source.reads_numerals, names))

    def fits(self, schema: Any) -> bool:
        """Was this schema checked last, with the types that all parts have now?"""
        return self.fitting == (schema, *(part.types.found for part in self.parts))

    def slices_by_value(self) -> Iterator[tuple[str, bool]]:
        """The columns that are only slices, and whether they come as texts of which some write numbers."""
        names = [part.names for part in self.parts]
        keys = {name for own in names for key in (own.group, own.unit) for name in key_columns(key)}
        return ((name, name in self.slices.numerals) for name in names[0].slice_columns if name not in keys)

    def record_filtered(self, rows: int) -> None:
        """Count rows that a filter left out before they were read."""
        self.has_filter = True
        for part in self.parts:
            part.counts.record_filtered(rows)

    def process_batch(self, batch: Any, first_row: int, waits: bool = False) -> list[ValidatedBatch]:
        """Select and take in the rows of a batch, for every part. Several threads may call this at the same time."""
        if not self.options.is_merged:
            self.create_exchanges(batch)
        selected = self.selector.select(batch, first_row)
        if self.options.is_merged and selected.kept and not self.fits(batch.schema):
            # A batch without a valid row says nothing about types: its columns may be all null.
            self.create_exchanges(batch)
        return [part.process_rows(selected, waits) for part in self.parts]

    def process_truth(self, batch: Any, first_row: int) -> list[ValidatedBatch]:
        """The same for a batch of the truth table, for every part that reads it."""
        found = []
        for part in self.parts:
            if part.truth is not None:
                rows = part.truth.read(batch, first_row)
                if rows.columns is not None and part.plan.needs("hash"):
                    with self.lock:
                        types = part.counts.truth_types = truth_key_types(part.names, batch.schema)
                        part.create_group_exchange(key_dtype("group", part.names.group, types.__getitem__))
                    part.add_truth(rows)
                found.append(rows._replace(columns=None, keys=None, unit_keys=None))
        return found

    def record_truth(self, found: list[ValidatedBatch]) -> None:
        """Add the counts of a batch of the truth table. Only one thread may call this."""
        for part, batch in zip((own for own in self.parts if own.truth is not None), found, strict=True):
            part.counts.record_truth(batch)

    def create_exchanges(self, batch: Any) -> None:
        """Create the exchanges that the types of the first batch need."""
        with self.lock:
            for part in self.parts:
                if self.options.is_merged:
                    part.types.check(batch.schema, part.reader.numerals | self.slices.numerals)
                part.create_exchanges(batch)
            self.fitting = batch.schema, *(part.types.found for part in self.parts)

    def record_batch(self, validated: list[ValidatedBatch]) -> None:
        """Add the counts of a batch to those of all parts. Only one thread may call this."""
        for part, batch in zip(self.parts, validated, strict=True):
            part.counts.record(batch)

    def start_update(self) -> tuple[Any, list[PartMark]]:
        """Begin an update of a state that may have rows already."""
        return self.slices.mark(), [part.start_update() for part in self.parts]

    def exchange_update(self, mark: tuple[Any, list[PartMark]], n_threads: int) -> None:
        """Check the labels of all rows of an update, and give those that wait to the exchanges if they are many."""
        for part, own in zip(self.parts, mark[1], strict=True):
            part.counts.check_labels()
            part.exchange_update(own, n_threads)

    def undo_update(self, mark: tuple[Any, list[PartMark]]) -> None:
        """Leave the state as it was."""
        slices, of_parts = mark
        for part, own in zip(self.parts, of_parts, strict=True):
            part.undo_update(own)
        self.slices.restore(slices)

    def check_mergeable(self, other: TaskState) -> None:
        """Row counts, column types and kinds of labels have to fit each other."""
        for part, other_part in zip(self.parts, other.parts, strict=True):
            part.check_mergeable(other_part)

    def adopt(self, other: TaskState) -> None:
        """Take in another state of the same columns and options, none of whose rows wait, up to `take_update`."""
        numbers = self.slices.number_slices(other.slices.values())
        for part, other_part in zip(self.parts, other.parts, strict=True):
            part.adopt(other_part, numbers)

    def merge_update(self) -> None:
        """Add up the additive states of an update."""
        for part in self.parts:
            if part.merged is None:
                part.merge_update()

    def copy(self) -> TaskState:
        """A state of the same rows, none of which wait. Blocks of rows are shared: they never change."""
        budget = self.options.budget
        options = self.options._replace(budget=None if budget is None else budget.empty())
        new = TaskState(self.plan_parts, options)
        new.adopt(self)
        for part in new.parts:
            part.take_update()
        return new

    def close(self) -> None:
        """Release all rows, in memory and on disk."""
        for part in self.parts:
            part.close()
