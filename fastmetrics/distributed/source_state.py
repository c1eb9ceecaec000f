"""The state of the rows of a source: what they leave, what the driver is told of them, and their pieces for targets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from io import BytesIO
from os import PathLike
from typing import Any

from fastmetrics._core.columns.validation import check_option
from fastmetrics._core.exchange.memory_size import parse_size
from fastmetrics.distributed.decisions import Decision, Sample, is_resampled
from fastmetrics.distributed.moved_rows import iterate_parts, rows_to_move, sample_scores
from fastmetrics.distributed.pieces import PieceWriter, RowPiece, SourceFacts
from fastmetrics.distributed.rounds import Rounds
from fastmetrics.distributed.score_columns import score_columns
from fastmetrics.distributed.summaries import KeptError, PartSummary, Summary, key_by_slice_values
from fastmetrics.engine.input.input_options import InputOptions
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.partial_state import PartialState
from fastmetrics.engine.partial.slices_and_rests import within_rests
from fastmetrics.engine.partial.state_options import StateOptions
from fastmetrics.engine.plan.tasks import PlannedTask, add_to_errors, name_task_in_errors
from fastmetrics.engine.scan.read_log import TABLES, TruthRows, make_memory_budget, update_state, update_truth
from fastmetrics.engine.scan.resolve import merge_slices


class SourceState:
    """What the rows of a source leave. `DistributedPlan.partial` makes it.

    All steps are pure: the same rows give the same bytes, and a step may be repeated. An error in the data is kept for
    `DistributedPlan.decide`, which raises it: raised here, it would be tried again.
    """

    def __init__(
        self,
        plan: Rounds,
        source: int,
        attempt: int,
        memory_limit: int | str | None,
        spill_dir: str | None,
        processes: int,
        summary_only: bool = False,
    ) -> None:
        for name, number in (("source", source), ("attempt", attempt)):
            if type(number) is not int or number < 0:
                raise ValueError(f"{name} must be a number from 0 on; found {number!r}")
        self.plan = plan
        self.source = source
        self.attempt = attempt
        self.reads = source  # the number in errors: a process of a pool reads several sources
        self.error = KeptError()
        budget, limit = None, parse_size(memory_limit, "memory_limit")
        with self.error.keep(self.reads):
            budget = make_memory_budget(limit, spill_dir, 1, processes)
        self.summary_only = summary_only and plan.moves_rows
        tasks = list(map(for_decisions, plan.tasks)) if self.summary_only else plan.tasks
        self.state = PartialState(tasks, StateOptions(plan.question.on_invalid, budget, is_merged=True))

    def update(self, data: Any, table: str = "log", **input_options: Any) -> None:
        """Take in rows: anything that `evaluate` reads, with its options of reading, such as `format`.

        `table` is "log", or "truth" for rows of the table that the question has `truth_columns` of: any source may have
        rows of both. Errors count rows from the first one of `data`.
        """
        check_option(table, "table", TABLES)
        options = InputOptions.of_keywords(input_options, self.plan.question.time_zone)
        is_path = isinstance(data, (str, PathLike))
        # The number of a source with rows of the log is that of these rows: an error of truth names its table alone.
        own_place = "" if table == "truth" and self.state.rows else self.place
        place = f" (rows are counted within {data})" if is_path else own_place
        with self.error.keep(self.reads, place) as is_valid:
            if is_valid:
                take_in = update_truth if table == "truth" else update_state
                take_in(self.state, data, options, 1)

    @property
    def place(self) -> str:
        return f" (rows are counted within {self.plan.place.format(self.reads)})"

    def add_batches(self, batches: Iterable[Sequence[Any]], table: str = "log") -> None:
        """Take in record batches that have the columns of the plan by name: one for every task, of the same rows.

        Those of truth are for the tasks that read it.
        """
        of_truth = table == "truth"
        taker = TruthRows(self.state, batches) if of_truth else self.state
        named = add_to_errors("truth: ") if of_truth else nullcontext()
        with self.error.keep(self.reads, self.place) as is_valid, self.state.update(1), named:
            first_row = 0
            for of_tasks in batches if is_valid else ():
                for task, own, batch in zip(taker.tasks, taker.states, of_tasks, strict=True):
                    with name_task_in_errors(task.name):
                        if of_truth:
                            own.record_truth(own.process_truth(batch, first_row))
                        else:
                            own.record_batch(own.process_batch(batch, first_row))
                first_row += of_tasks[0].num_rows

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows of the log that were read, and those of it and of truth that were kept for each task."""
        return self.state.rows, *(own.counts.rows_kept + own.truth_rows for own in self.state.states)

    def summary(self, decision: Decision) -> bytes:
        """What the driver is told: counts of rows, and samples of scores or, if no rows have to meet, all states."""
        parts: list[PartSummary] = []
        with self.error.keep(self.reads) as is_valid:
            if is_valid:
                self.state.flush(1)
                parts = list(self.counts() if self.plan.moves_rows else self.results(decision))
        found = Summary(decision.round, self.source, self.attempt, self.rows, self.error.found, parts)
        return self.plan.serialize(found)

    def counts(self) -> Iterator[PartSummary]:
        """What the driver needs to decide where rows move."""
        for key, task, part in iterate_parts(self.state):
            samples: list[Sample] = []
            units = None
            if part.counts.rows_kept:
                columns = score_columns(task.parts[key[1]], part.counts.n_classes or 0)
                samples = [sample_scores(part, column) for column in columns]
                if key[1] == 0 and is_resampled(task.resampling):
                    from fastmetrics.distributed.unit_replicates import count_units  # imports all of resampling

                    units = count_units(part)
            yield counted_rows(key, part)._replace(samples=samples, units=units)

    def results(self, decision: Decision) -> Iterator[PartSummary]:
        """The counts of rows, and the states that need no row of another source."""
        for key, task, part in iterate_parts(self.state):
            found: dict[str, Any] = {"states": key_by_slice_values(part, merge_slices(part))}
            buckets = decision.units[key[0]] if decision.units else None
            if task.resampling is not None and buckets is not None and part.counts.rows_kept:
                from fastmetrics.distributed.unit_replicates import interval_states  # imports all of resampling

                n_slices = decision.parts[key[0]][key[1]].n_slices
                with within_rests(part, decision.slices[key[0]]):
                    found |= interval_states(part, "none", task.resampling, buckets, n_slices)._asdict()
            yield counted_rows(key, part)._replace(**found)

    def pieces(self, decision: Decision) -> Iterator[Any]:
        """The rows that have to meet others, as record batches that the engine moves to their targets."""
        return (piece.to_batch() for piece in self.cut(decision))

    def cut(self, decision: Decision) -> Iterator[RowPiece]:
        """The pieces, for an engine that moves what Python can pickle."""
        self.plan.check_decision(decision)
        self.check_whole()
        targets = self.plan.targets
        writer = PieceWriter(decision.round, self.source, self.attempt, targets, self.plan.serialize)
        results: list[PartSummary] = []
        with self.error.keep(self.reads) as is_valid:
            if is_valid:
                self.state.flush(1)
                results = list(self.results(decision))
                for target, key, block in rows_to_move(self.state, decision, targets):
                    yield from writer.add(target, key, block)
                yield from writer.flush()
        parts = [(key, part) for key, _, part in iterate_parts(self.state)]
        facts = SourceFacts(
            self.rows,
            self.error.found,
            [[column.values for column in own.slices.columns] for own in self.state.states],
            {key: part.group_exchange.key_dtype for key, part in parts if part.group_exchange is not None},
            {
                key: (part.reader.key_texts.kind, *part.reader.key_texts.arrays())
                for key, part in parts
                if part.reader.key_texts.kind is not None
            },
            [],
        )
        for target in range(targets):
            is_own = target == self.source % targets
            yield writer.finish(target, facts._replace(results=results) if is_own else facts)

    def to_bytes(self) -> bytes:
        """The state between two steps, for an engine that does not read rows again: `DistributedPlan.restore` takes it.

        Raises
        ------
        ValueError
            Intervals of metrics of text or of partitions: the rows have to be read again.
        TypeError
            The filter is an expression of pyarrow or polars.
        """
        from fastmetrics.engine.partial.files.writing import write_states

        self.check_whole()
        if any(part.counted_rows is not None for part in self.state.parts):
            raise ValueError("states have no bytes if text or partitions are resampled: read the rows again")
        self.state.flush(1)
        file = BytesIO()
        write_states(file, self.state, self.plan.question, 1)
        return self.plan.serialize((self.source, self.attempt, self.error.found, file.getvalue()))

    @property
    def in_memory(self) -> bool:
        """Are all rows in memory?"""
        return all(store.in_memory for part in self.state.parts for store in part.stores())

    def check_whole(self) -> None:
        if self.summary_only:
            raise ValueError("a state with summary_only=True gives its summary alone: read the rows again")

    def close(self) -> None:
        """Release all rows, in memory and on disk."""
        self.state.close()


def for_decisions(task: PlannedTask) -> PlannedTask:
    """The task with the statistics alone whose rows tell where rows move: scores to sample, or units to count."""
    if is_resampled(task.resampling):
        return task
    parts = (replace(part, plan=part.plan.with_statistics(none=(), hash=())) for part in task.parts)
    return task._replace(parts=tuple(parts))


def counted_rows(key: tuple[int, int], part: PartState) -> PartSummary:
    """The counts of the rows of a part."""
    slices, of_slices = part.slices.values(), part.slice_counts
    return PartSummary(
        key,
        slices,
        part.counts,
        {} if of_slices is None else of_slices.of_values(slices),
        part.types.found,
        frozenset(part.reader.float_keys),
        frozenset(part.reader.class_forms),
    )
