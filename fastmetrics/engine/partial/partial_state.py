"""What a set of rows leaves for a question: a state for each of its tasks. Every batch is read once for all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import chain
from typing import Any
from uuid import uuid4

from fastmetrics.engine.input.batch_validation import ValidatedBatch
from fastmetrics.engine.input.batches import Source
from fastmetrics.engine.input.column_types import convert_batch
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.row_counts import MAX_ROWS, check_row_count
from fastmetrics.engine.partial.state_options import StateOptions
from fastmetrics.engine.partial.task_state import TaskState
from fastmetrics.engine.partial.waiting_rows import GATHERED_ROWS, SMALL_ROWS, GatheredRows
from fastmetrics.engine.plan.tasks import PlannedTask, name_task_in_errors

BatchCounts = list[list[ValidatedBatch]]  # of every task: of every part


class PartialState:
    """The rows of any batches, logs and states that were taken in.

    Attributes
    ----------
    tasks : list of PlannedTask
    states : list of TaskState
        One for each task.
    sources : frozenset of str
        Ids of the states whose updates took in the rows, this one's and those of merged ones. Copies keep them, so no
        rows are counted twice.
    notes : list of str
        What the source says of the rows that were read.
    """

    def __init__(self, tasks: Sequence[PlannedTask], options: StateOptions) -> None:
        self.tasks = list(tasks)
        self.options = options
        self.notes: list[str] = []
        self.states = [TaskState(task.parts, options) for task in tasks]
        self.gathered = self.new_gathered_rows()
        self.only_numbers: Collection[str] = ()  # columns that are only read as numbers
        self.sources: frozenset[str] = frozenset()
        self.source_id = ""  # of the rows of own updates; given with the first of them
        self.is_whole = True  # False while an update ends, and after an error then
        self.marks: list[Any] = []  # what an update that fails goes back to
        self.waits = False  # do the rows of the current update wait for more?
        self.source: Source | None = None  # of the last update, without its rows, if it may read other data
        self.input_options: Any = None  # of the source

    @property
    def rows(self) -> int:
        """Rows taken in so far, the dropped ones included."""
        return self.states[0].counts.rows + self.gathered.rows

    @property
    def truth_rows(self) -> int:
        """Rows of the truth table taken in so far, by all parts."""
        return sum(state.truth_rows for state in self.states)

    @property
    def parts(self) -> list[PartState]:
        """The states of all parts of all tasks."""
        return [part for state in self.states for part in state.parts]

    @property
    def has_memory_limit(self) -> bool:
        return self.options.budget is not None and self.options.budget.explicit_limit is not None

    def open_source(self, source: Source) -> None:
        """Be ready for the batches of a source."""
        # Small batches of an accumulator are not worth a block of their own.
        self.waits = self.options.is_merged and source.rows is not None and source.rows <= source.batch_rows
        if source is not self.source:
            self.only_numbers = source.uses.only_numbers
            for state in self.states:
                state.find_numerals(source)

    def process_batch(self, batch: Any, first_row: int) -> BatchCounts:
        """Select and take in the rows of a batch for every task. Several threads may call this at the same time."""
        if self.options.is_merged and not all(state.fits(batch.schema) for state in self.states):
            known = dict(chain.from_iterable(part.types.known().items() for part in self.parts))
            slices = dict(chain.from_iterable(state.slices_by_value() for state in self.states))
            batch = convert_batch(batch, known, self.only_numbers, slices, first_row, self.parts[0].types.earlier)
        processed = []
        for task, state in zip(self.tasks, self.states, strict=True):
            with name_task_in_errors(task.name):
                of_task = state.process_batch(batch, first_row, self.waits)
                processed.append([own._replace(columns=None, keys=None, unit_keys=None) for own in of_task])
        return processed

    def record_batch(self, processed: BatchCounts) -> None:
        """Add the counts of a batch to those of all tasks. Only one thread may call this."""
        for task, state, of_task in zip(self.tasks, self.states, processed, strict=True):
            with name_task_in_errors(task.name):
                state.record_batch(of_task)

    def new_gathered_rows(self) -> GatheredRows:
        """No rows of small batches; `evaluate` has no small batches."""
        return GatheredRows([part for task in self.tasks for part in task.parts] if self.options.is_merged else [])

    def gather(self, data: Any, input_options: Any, n_threads: int) -> bool:
        """Gather a small batch that is sure to be valid. False: nothing was done, and its rows have to be checked."""
        self.check_whole()
        if self.gathered.rows >= GATHERED_ROWS:
            self.settle(n_threads)
        if self.rows < MAX_ROWS - SMALL_ROWS and self.gathered.take(data, input_options):
            return True
        self.settle(n_threads)
        return False

    def settle(self, n_threads: int) -> None:
        """Take in the rows that were gathered. After an error they are still there."""
        gathered, rows = self.gathered.rows, self.rows
        if not gathered:
            return
        self.waits = True
        batch, self.gathered.rows = self.gathered.batch(), 0
        try:
            with self.update(n_threads):
                self.record_batch(self.process_batch(batch, 0))
        finally:
            self.gathered.rows = rows - self.rows  # none, unless there was an error

    @contextmanager
    def update(self, n_threads: int) -> Iterator[None]:
        """Take in the rows that are processed inside the context. After an error the state is as before."""
        rows = self.rows, self.truth_rows
        with self.change():
            yield
            check_row_count(self.rows)
            for task, state, mark in zip(self.tasks, self.states, self.marks, strict=True):
                with name_task_in_errors(task.name):
                    state.exchange_update(mark, n_threads)
            if (self.rows, self.truth_rows) > rows:
                self.source_id = self.source_id or uuid4().hex
                self.sources |= {self.source_id}

    @contextmanager
    def change(self) -> Iterator[None]:
        """A change that is complete, or leaves the state as before.

        Only an error while tables of labels or keys are merged, or an interrupt at the very end, leaves neither: the
        state is then refused everywhere.
        """
        self.check_whole()
        sources = self.sources
        self.marks = [state.start_update() for state in self.states]
        try:
            yield
            for task, state in zip(self.tasks, self.states, strict=True):
                with name_task_in_errors(task.name):
                    state.merge_update()
        except BaseException:
            for state, mark in zip(self.states, self.marks, strict=True):
                state.undo_update(mark)
            self.sources = sources
            raise
        finally:
            self.marks = []  # they hold rows that waited
        self.is_whole = False
        for task, state in zip(self.tasks, self.states, strict=True):
            with name_task_in_errors(task.name):
                for part in state.parts:
                    part.take_update()
        self.is_whole = True

    def check_whole(self) -> None:
        """Refuse a state that has some of the rows of an update."""
        if not self.is_whole:
            raise RuntimeError(
                "an error or an interrupt came while this state took in rows, and it has some of them: begin again, or "
                "from the state that was saved last"
            )

    def flush(self, n_threads: int) -> None:
        """Move waiting rows to the exchanges."""
        self.check_whole()
        self.settle(n_threads)
        for part in self.parts:
            part.flush(n_threads)

    def merge(self, other: PartialState) -> None:
        """Take in all rows of another state of the same question; it stays as it is. No rows of either wait."""
        if shared := self.sources & other.sources:
            raise ValueError(
                f"both states have rows of source {min(shared)}, which would count twice: one is a copy of the other, "
                "or was merged before"
            )
        for task, own, their in zip(self.tasks, self.states, other.states, strict=True):
            with name_task_in_errors(task.name):
                own.check_mergeable(their)
        other.check_whole()
        with self.change():
            for task, own, their in zip(self.tasks, self.states, other.states, strict=True):
                with name_task_in_errors(task.name):
                    own.adopt(their)
            self.sources |= other.sources

    def copy(self) -> PartialState:
        """A state of the same rows, none of which wait."""
        self.check_whole()
        new = copy(self)
        new.states = [state.copy() for state in self.states]
        new.gathered = self.new_gathered_rows()
        new.source = None
        return new

    def close(self) -> None:
        """Release all rows, in memory and on disk."""
        for state in self.states:
            state.close()
