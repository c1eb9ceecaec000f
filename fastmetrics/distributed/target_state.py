"""The state of the rows that met in a target: whole groups, and ranges of scores or whole score columns."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import role_name, slice_columns
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.blocks import Block
from fastmetrics._core.exchange.hash_exchange import UNKNOWN_ROWS, HashExchange, initial_partition_bits
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.group_accumulators import merge_states
from fastmetrics._core.tables.key_texts import KeyTexts
from fastmetrics.distributed.decisions import Decision, first_buckets, needs_range_totals
from fastmetrics.distributed.moved_rows import code_names, iterate_parts
from fastmetrics.distributed.pieces import GROUPS, HeldPieces, SourceFacts, StoreKey, place_texts, rows_of
from fastmetrics.distributed.rounds import Rounds
from fastmetrics.distributed.score_ranges import ScoreRange, ScoreRangeReduction
from fastmetrics.distributed.summaries import (
    NO_STATES,
    KeptError,
    PartSummary,
    SliceStateKey,
    Summary,
    key_by_slice_values,
)
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.partial_state import PartialState
from fastmetrics.engine.partial.slices_and_rests import with_rests, within_rests
from fastmetrics.engine.partial.state_options import StateOptions
from fastmetrics.engine.plan.tasks import PlannedTask, name_task_in_errors
from fastmetrics.engine.scan.resolve import resolve


class TargetState:
    """What the rows leave that met in a target. `DistributedPlan.combine` makes it of one attempt of every source.

    All steps are pure, as those of a `SourceState`.

    Attributes
    ----------
    repeated_pieces : int
        Pieces that arrived again, or belong to another attempt than the one that was taken.
    """

    def __init__(self, plan: Rounds, decision: Decision, target: int, budget: MemoryBudget) -> None:
        self.plan = plan
        self.decision = decision
        self.target = target
        self.budget = budget
        self.error = KeptError()
        self.repeated_pieces = 0
        of_groups = [with_groups_only(task) for task in plan.tasks]
        self.state = PartialState(of_groups, StateOptions(plan.question.on_invalid, budget, is_merged=True))
        self.ranges: dict[StoreKey, ScoreRange] = {}
        self.handed_on: list[PartSummary] = []
        self.entries: dict[tuple[int, int], dict[SliceStateKey, Any]] = {}  # by task and part

    def add_pieces(self, held: HeldPieces) -> None:
        """Take in the pieces of every source of the decision. ValueError if one is missing."""
        try:
            for source, rows in self.decision.sources.items():
                last, *others = held.complete(source, self.target)
                facts: SourceFacts = pickle.loads(held.read(last)[0].data)
                self.error.found = self.error.found or facts.error
                with self.error.keep(source) as is_valid:
                    if is_valid:
                        self.check_rows(source, rows, facts.rows)
                        for part in facts.results:
                            self.hand_on(part)
                        numbers = {key: self.number_texts(key, texts) for key, texts in facts.key_texts.items()}
                        for payload in others:
                            for key, block in rows_of(held.read(payload)):
                                self.add_rows(key, place_texts(block), facts, numbers.get(key[:2]))
            self.repeated_pieces = held.repeated
        finally:
            held.close()

    def hand_on(self, part: PartSummary) -> None:
        """Keep what a source leaves for the driver. The states of entries, which are many, are merged with others."""
        self.handed_on.append(part._replace(entries=NO_STATES))
        merge_states(self.entries.setdefault(part.key, {}), part.entries)

    def check_rows(self, source: int, before: tuple[int, ...], now: tuple[int, ...]) -> None:
        """Check that a source that was read again has the rows it had."""
        for first, second in zip(before, now, strict=True):
            if first != second:
                raise ValueError(
                    f"{self.plan.place.format(source)} had {first:,} rows when it was first computed and {second:,} "
                    "the second time: it is not the same each time. Cache it first (Spark: df = df.cache())"
                )

    def number_texts(self, key: tuple[int, int], texts: tuple[Any, ...]) -> np.ndarray | None:
        """What the numbers of a source's texts of keys become here; None if they stay."""
        own = self.state.states[key[0]].parts[key[1]].reader.key_texts
        theirs = KeyTexts(own.roles, own.allows_texts)
        theirs.load(*texts)
        own.check_mergeable(theirs)
        return own.merge(theirs)

    def add_rows(self, key: StoreKey, block: Block, facts: SourceFacts, numbers: np.ndarray | None) -> None:
        """Take in the rows of a piece for one store; slices and texts get the numbers that they have here."""
        task, part_number, column = key
        part = self.state.states[task].parts[part_number]
        codes = [block.columns[name] for name in code_names(part.slices)]
        values = facts.slice_values[task]
        # A source that has rows of truth alone has no slices.
        new = slice_columns(part.slices.renumber_codes(values, codes) if all(values) else codes)
        if numbers is not None:
            names = map(role_name, part.reader.key_texts.roles)
            new |= {name: numbers[block.columns[name]] for name in names if name in block.columns}
        block = block._replace(columns=block.columns | new)
        if column == GROUPS:
            part.counts.rows_kept += block.rows
            store = self.exchange(part, facts.key_types[task, part_number]).store
        else:
            n_partitions = block.offsets.shape[0] - 1
            store = self.ranges.setdefault(key, ScoreRange(BlockStore(n_partitions, self.budget), part.slices)).store
        store.add(block, store.try_reserve(block.n_bytes()))

    def exchange(self, part: PartState, dtype: np.dtype) -> HashExchange:
        """The exchange with the partitions of this target."""
        if part.group_exchange is None:
            bits = initial_partition_bits(UNKNOWN_ROWS)
            first, last = first_buckets(1 << bits, self.plan.targets)[self.target : self.target + 2]
            part.group_exchange = HashExchange(dtype, bits, self.budget, first, last, False, part.truth is not None)
            if part.names.unit == part.names.group:
                part.unit_exchange = part.group_exchange
        return part.create_group_exchange(dtype)

    def summary(self, decision: Decision) -> bytes:
        """The totals of ranges while they are not known, then the states of all rows here."""
        self.plan.check_decision(decision)
        parts: list[PartSummary] = []
        with self.error.keep(self.target) as is_valid:
            if is_valid:
                is_last = self.plan.n_rounds == decision.round
                merged = [PartSummary(key, entries=own) for key, own in self.entries.items()]
                parts = [*self.handed_on, *merged, *self.results(decision)] if is_last else list(self.totals(decision))
        before = None if self.target else decision
        return self.plan.serialize(Summary(decision.round, self.target, 0, (), self.error.found, parts, before))

    def reductions(self, decision: Decision) -> Iterator[tuple[PlannedTask, ScoreRangeReduction]]:
        """The ranges and whole columns of scores, with their tasks."""
        for (number, part, column), rows in self.ranges.items():
            task, decided = self.plan.tasks[number], decision.parts[number][part]
            rows = rows._replace(slices=with_rests(rows.slices, decision.slices[number]))
            with name_task_in_errors(task.name):
                yield task, ScoreRangeReduction(rows, (number, part), task.parts[part], column, self.target, decided)

    def totals(self, decision: Decision) -> Iterator[PartSummary]:
        """The rows and weights of ranges of which a statistic has to know them."""
        for task, reduction in self.reductions(decision):
            if needs_range_totals(reduction.part.plan, task.resampling):
                yield PartSummary(reduction.key, totals=reduction.count_range())

    def results(self, decision: Decision) -> Iterator[PartSummary]:
        """The states of groups, then those of ranges."""
        for key, task, part in iterate_parts(self.state):
            if part.counts.rows_kept:
                with within_rests(part, decision.slices[key[0]]):
                    states = key_by_slice_values(part, resolve(part, 1, None, last=False).by_key)
                    found: dict[str, Any] = {"states": states}
                    buckets = decision.units[key[0]]
                    if task.resampling is not None and buckets is not None:
                        from fastmetrics.distributed.unit_replicates import interval_states  # all of resampling

                        n_slices = decision.parts[key[0]][key[1]].n_slices
                        found |= interval_states(part, "hash", task.resampling, buckets, n_slices)._asdict()
                yield PartSummary(key, part.slices.values(), **found)
        for task, reduction in self.reductions(decision):
            number = reduction.key[0]
            find, buckets = None, decision.units[number]
            if task.resampling is not None and buckets is not None:
                from fastmetrics.distributed.range_intervals import intervals_of_pass  # imports all of resampling

                find = partial(intervals_of_pass, resampling=task.resampling, buckets=buckets)
            ranges = [reduction.resolve(find)]
            yield PartSummary(reduction.key, self.state.states[number].slices.values(), ranges=ranges)

    def close(self) -> None:
        """Release all rows, in memory and on disk."""
        self.state.close()
        for rows in self.ranges.values():
            rows.store.close()


def with_groups_only(task: PlannedTask) -> PlannedTask:
    """The task with the statistics of groups alone."""
    parts = (replace(part, plan=part.plan.with_statistics(none=(), range=())) for part in task.parts)
    return task._replace(parts=tuple(parts))
