"""The rounds of a question: how many there are, and what the steps of all of them need."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import Any

from fastmetrics.distributed.decisions import Decision, is_resampled, needs_range_totals
from fastmetrics.distributed.summaries import Serialize
from fastmetrics.engine.evaluation.evaluation import Evaluation
from fastmetrics.engine.plan.plan_parts import PlanPart
from fastmetrics.engine.plan.tasks import PlannedTask


def dumps(content: Any) -> bytes:
    return pickle.dumps(content, pickle.HIGHEST_PROTOCOL)


class Rounds:
    """The rounds of a question.

    Attributes
    ----------
    question : Evaluation
    tasks : list of PlannedTask
    targets : int
        So many states there are after rows have moved.
    place : str
        What a source is called in errors, with {} for its number.
    filtered : int or None
        The rows that the engine's own filter leaves out.
    first : Decision
        The decision before the first round.
    """

    def __init__(
        self,
        question: Evaluation,
        tasks: Sequence[PlannedTask],
        targets: int,
        place: str = "source {}",
        filtered: int | None = None,
        serialize: Serialize = dumps,
    ) -> None:
        if type(targets) is not int or targets < 1:
            raise ValueError(f"targets must be a positive integer; found {targets!r}")
        self.question = question
        self.tasks = list(tasks)
        self.targets = targets
        self.place = place
        self.filtered = filtered
        self.serialize = serialize
        self.first = Decision()

    def parts(self) -> Iterator[tuple[PlannedTask, PlanPart]]:
        """The parts of the plans of all tasks."""
        return ((task, part) for task in self.tasks for part in task.parts)

    @property
    def moves_rows(self) -> bool:
        """Do rows, or their units, have to meet those of other sources?"""
        return any(part.plan.keeps_rows or is_resampled(task.resampling) for task, part in self.parts())

    def check_decision(self, decision: Decision) -> None:
        """Check that rows move, or have moved, as this plan decided."""
        if decision.round == self.first.round:
            raise ValueError(
                f"the decision of round {decision.round} moves no rows: pass the one that decide() made of summaries"
            )
        if decision.targets != self.targets:
            raise ValueError(f"the decision is of a plan of {decision.targets} targets; this one has {self.targets}")

    @property
    def n_rounds(self) -> int:
        """Rounds after which the report can be made."""
        has_totals = any(needs_range_totals(part.plan, task.resampling) for task, part in self.parts())
        return 1 + self.moves_rows + has_totals
