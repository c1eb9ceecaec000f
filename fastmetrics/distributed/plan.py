"""`DistributedPlan`: a question resolved to steps that an engine runs where its rows are."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from io import BytesIO
from typing import TYPE_CHECKING, Any

from fastmetrics.distributed.decisions import (
    Cuts,
    Decision,
    PartDecision,
    find_cuts,
    is_resampled,
    moves_whole_columns,
)
from fastmetrics.distributed.pieces import hold_pieces
from fastmetrics.distributed.rounds import Rounds
from fastmetrics.distributed.score_columns import score_columns
from fastmetrics.distributed.source_state import SourceState
from fastmetrics.distributed.summaries import DATA_ERRORS, Summary
from fastmetrics.distributed.target_state import TargetState
from fastmetrics.engine.evaluation.evaluation import Evaluation, check_same_question
from fastmetrics.engine.evaluation.options.option import DISTRIBUTED
from fastmetrics.engine.partial.partial_state import PartialState
from fastmetrics.engine.partial.slices_and_rests import SlicesAndRests
from fastmetrics.engine.partial.state_options import StateOptions
from fastmetrics.engine.plan.tasks import PlannedTask, add_to_errors, name_task_in_errors
from fastmetrics.engine.results.report import Report
from fastmetrics.engine.scan.final_report import ResolvedTask, make_report
from fastmetrics.engine.scan.read_log import check_rows, make_memory_budget

if TYPE_CHECKING:
    from fastmetrics.distributed.merged_parts import MergedPart


class DistributedPlan(Rounds):
    """A question as rounds of pure steps; `Evaluation.plan` makes it. It can be pickled.

    In a round, every state gives a summary and the driver decides. If the decision moves rows, every state gives
    pieces, and the pieces of a target are combined to a state, which takes part in the next round. Bytes and pieces are
    read by `pickle`: an engine takes them from its own workers alone.

    Attributes
    ----------
    question : Evaluation
    targets : int
        So many states there are after rows have moved.
    first : Decision
        The decision before the first round.
    """

    def partial(
        self,
        source: int,
        attempt: int = 0,
        memory_limit: int | str | None = None,
        spill_dir: str | None = None,
        processes: int = 1,
        summary_only: bool = False,
    ) -> SourceState:
        """The empty state of a source.

        Parameters
        ----------
        source, attempt : int
            A number for every source, and one for every time that its rows are read.
        memory_limit : int or str, optional
            Bytes, or text such as "2GiB". When the rows that metrics keep take half of it, further rows are written to
            a spill file and read back partition by partition. By default half of the memory available to the process.
            The results do not depend on it. Reading takes memory on top: about 100 MiB for Parquet. The different
            labels of classes and of partitions stay in memory; if they take more than half of the limit, it is an
            error.
        spill_dir : path, optional
            Folder for the spill file, by default the system's folder for temporary files. The file has no name: nothing
            is left of it, however the process ends.
        summary_only : bool
            For an engine that reads the rows once more to cut them into pieces: the state gives its summary and nothing
            else, in half of the time.

        Returns
        -------
        SourceState
        """
        return SourceState(self, source, attempt, memory_limit, spill_dir, processes, summary_only)

    def restore(
        self,
        state: bytes,
        memory_limit: int | str | None = None,
        spill_dir: str | None = None,
        processes: int = 1,
    ) -> SourceState:
        """The state of a source that `SourceState.to_bytes` wrote.

        Returns
        -------
        SourceState
        """
        from fastmetrics.engine.partial.files.containers import StateReader
        from fastmetrics.engine.partial.files.reading import fill_states

        try:
            source, attempt, error, content = pickle.loads(state)
        except (pickle.UnpicklingError, EOFError, TypeError, ValueError) as found:
            raise ValueError("these bytes are no state of a source, as SourceState.to_bytes gives them") from found
        reader = StateReader(BytesIO(content))
        check_same_question(self.question, reader.question(DISTRIBUTED))
        restored = self.partial(source, attempt, memory_limit, spill_dir, processes)
        restored.error.found = restored.error.found or error
        fill_states(restored.state, reader)
        return restored

    def decide(self, summaries: Iterable[bytes]) -> Decision:
        """What is done next, from the summaries of all states of a round. Of several attempts, one is taken.

        Raises
        ------
        ValueError, TypeError, OverflowError, OSError
            An error in the data, which names source and row; no rows; a target without a summary.
        """
        found = self.read_summaries(summaries)
        before = found[0].decision if found else None
        round_number = found[0].round if found else 1
        if round_number == self.n_rounds and self.moves_rows:
            return Decision(round_number, is_final=True)
        state, merged = self.merge(found)
        if before is not None:  # the totals of ranges are known now
            parts = tuple(
                tuple(decided._replace(totals=own.totals) for decided, own in zip(*both, strict=True))
                for both in zip(before.parts, merged, strict=True)
            )
            return before._replace(round=round_number + 1, moves_rows=False, parts=parts)
        check_rows(state)
        if not self.moves_rows:
            return Decision(round_number, is_final=True)
        tasks = list(zip(self.tasks, merged, strict=True))
        return Decision(
            round_number + 1,
            moves_rows=True,
            sources={own.number: own.rows for own in found},
            parts=tuple(tuple(self.decide_part(task, own) for own in parts) for task, parts in tasks),
            targets=self.targets,
            units=tuple(
                parts[0].units.unit_buckets() if is_resampled(task.resampling) else None for task, parts in tasks
            ),
            slices=tuple(parts[0].part.slices.values() if task.has_rests else None for task, parts in tasks),
        )

    def decide_part(self, task: PlannedTask, own: MergedPart) -> PartDecision:
        """How the score columns of a part are divided."""
        n_classes = own.part.counts.n_classes or 0
        columns = score_columns(own.plan_part, n_classes)
        is_whole = moves_whole_columns(own.plan_part.plan, task.resampling)
        cuts: list[Cuts] = [
            None if is_whole else find_cuts([samples[number] for samples in own.samples], self.targets)
            for number in range(len(columns))
        ]
        n_slices = len(SlicesAndRests(own.part.slices)) if task.has_rests else len(own.part.slices)
        return PartDecision(n_classes, tuple(cuts), n_slices=n_slices)

    def read_summaries(self, summaries: Iterable[bytes]) -> list[Summary]:
        """One summary of every source or target, in order. Raises the first error in the data."""
        found: dict[int, Summary] = {}
        in_order = sorted(map(pickle.loads, summaries), key=lambda own: (own.number, own.attempt))
        for own in in_order:
            found.setdefault(own.number, own)
        rounds = {own.round for own in in_order}
        if len(rounds) > 1:
            raise ValueError(f"summaries are of one round; found those of rounds {sorted(rounds)}")
        if errors := [own.error for own in found.values() if own.error is not None]:
            _, number, text = min(errors)
            raise DATA_ERRORS[number](text)
        missing = set(range(self.targets)).difference(found) if rounds and rounds != {1} else set()
        if missing:
            raise ValueError(f"there is no summary of target {min(missing)}")
        return list(found.values())

    def merge(self, summaries: Sequence[Summary]) -> tuple[PartialState, list[list[MergedPart]]]:
        """What the summaries of a round tell together, task by task and part by part."""
        from fastmetrics.distributed.merged_parts import MergedPart  # with all of intervals: workers do not merge

        state = PartialState(self.tasks, StateOptions(self.question.on_invalid))
        decision = summaries[0].decision if summaries else None
        for own, slices in zip(state.states, decision.slices if decision else (), strict=False):
            if slices is not None:
                own.slices.number_slices(list(slices))
                own.pair_slices(SlicesAndRests(own.slices))
        merged = [
            [MergedPart(*both) for both in zip(task.parts, own.parts, strict=True)]
            for task, own in zip(self.tasks, state.states, strict=True)
        ]
        for summary in summaries:
            for part in summary.parts:
                task, number = part.key
                with name_task_in_errors(self.tasks[task].name), self.name_source_in_errors(summary):
                    merged[task][number].add(part)
        if self.filtered is not None:
            for own in state.states:
                own.record_filtered(self.filtered)
        return state, merged

    def name_source_in_errors(self, summary: Summary) -> AbstractContextManager[None]:
        """Begin the text of an error with the source, if the summary is that of one."""
        return add_to_errors(f"{self.place.format(summary.number)}: ") if summary.rows else nullcontext()

    def combine(
        self,
        pieces: Iterable[Any],
        decision: Decision,
        memory_limit: int | str | None = None,
        spill_dir: str | None = None,
        processes: int = 1,
    ) -> TargetState:
        """The state of a target, from the pieces of all sources for it, in any order.

        Pieces that arrive again are taken once, and one complete attempt of every source.

        Raises
        ------
        ValueError
            A piece is missing, or is of another round or of an unknown source; the message names source and chunk.
        """
        states = list(self.combine_targets(pieces, decision, memory_limit, spill_dir, processes))
        if len(states) != 1:
            raise ValueError(f"the pieces of one target are combined at a time; found those of {len(states)} targets")
        return states[0]

    def combine_targets(
        self,
        pieces: Iterable[Any],
        decision: Decision,
        memory_limit: int | str | None = None,
        spill_dir: str | None = None,
        processes: int = 1,
    ) -> Iterator[TargetState]:
        """The states of all targets that pieces are for, one after the other; see `combine`."""
        self.check_decision(decision)
        budget = make_memory_budget(memory_limit, spill_dir, 1, processes)
        held = hold_pieces(pieces, decision.round, decision.sources, budget)
        try:
            for target in sorted(held):
                state = TargetState(self, decision, target, budget)
                state.add_pieces(held.pop(target))
                yield state
        finally:
            for own in held.values():
                own.close()

    def resolve(self, summaries: Iterable[bytes]) -> list[ResolvedTask]:
        """The final states of all tasks, from the summaries of the last round."""
        found = self.read_summaries(summaries)
        if not found or found[0].round != self.n_rounds:
            of_round = f"those of round {found[0].round}" if found else "none"
            raise ValueError(f"the report is made of the summaries of round {self.n_rounds}; found {of_round}")
        decision = (found[0].decision if found else None) or self.first
        state, merged = self.merge(found)
        resolved = []
        for number, (task, own, parts) in enumerate(zip(self.tasks, state.states, merged, strict=True)):
            decided = decision.parts[number] if decision.parts else [PartDecision()] * len(parts)
            buckets = decision.units[number] if decision.units else None
            with name_task_in_errors(task.name):
                of_parts = [
                    part.resolve(how, task.resampling, buckets) for part, how in zip(parts, decided, strict=True)
                ]
            resolved.append(ResolvedTask(task, own, of_parts))
        return resolved

    def finalize(self, summaries: Iterable[bytes], seconds: float | None = None) -> Report:
        """The report, from the summaries of the last round: equal to that of `evaluate` over all rows.

        Returns
        -------
        Report
        """
        return make_report(self.resolve(summaries), seconds, self.question)


def plan_question(question: Evaluation, targets: int) -> DistributedPlan:
    """`Evaluation.plan`."""
    return DistributedPlan(question, question.plan_for(DISTRIBUTED), targets)
