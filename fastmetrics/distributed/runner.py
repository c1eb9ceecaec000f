"""The driver's loop of rounds, which all engines share, and what their entry points have in common."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastmetrics.distributed.decisions import Decision
from fastmetrics.distributed.plan import DistributedPlan
from fastmetrics.engine.evaluation.evaluation import Evaluation, question_of_call
from fastmetrics.engine.plan.tasks import PlannedTask
from fastmetrics.engine.results.report import Report
from fastmetrics.engine.scan.final_report import ResolvedTask, make_report

if TYPE_CHECKING:
    from fastmetrics._core.comparison.comparison import Comparison

# What an engine does with the tasks of a question; the mapping has the arguments of the entry point.
Resolve = Callable[[Sequence[PlannedTask], Evaluation, Mapping[str, Any]], list[ResolvedTask]]


class Runner(ABC):
    """How an engine runs the steps of a plan, where its rows are."""

    @abstractmethod
    def summarize_sources(self, decision: Decision) -> list[bytes]:
        """The summaries of all sources."""

    @abstractmethod
    def move_pieces(self, decision: Decision) -> None:
        """Cut the rows of all sources into pieces, and move these to their targets."""

    @abstractmethod
    def summarize_targets(self, decision: Decision) -> list[bytes]:
        """The summaries of all targets."""

    def run(self, plan: DistributedPlan) -> list[bytes]:
        """The summaries of the last round."""
        decision = plan.first
        summaries = self.summarize_sources(decision)
        while not (decision := plan.decide(summaries)).is_final:
            if decision.moves_rows:
                self.move_pieces(decision)
            summaries = self.summarize_targets(decision)
        return summaries


def evaluate_with(
    resolve: Resolve, entry_point: str, function: Callable[..., Report], arguments: Mapping[str, Any]
) -> Report:
    """The report of a call of an entry point, whose arguments are given."""
    started = time.perf_counter()
    question = question_of_call(function, arguments)
    resolved = resolve(question.plan_for(entry_point), question, arguments)
    return make_report(resolved, time.perf_counter() - started, question)


def compare_with(
    resolve: Resolve, entry_point: str, function: Callable[..., Comparison], arguments: Mapping[str, Any]
) -> Comparison:
    """The comparison of a call of an entry point, whose arguments are given."""
    from fastmetrics.engine.compare import plan_comparison  # workers need neither

    started = time.perf_counter()
    question, planned = plan_comparison(entry_point, function, arguments)
    from fastmetrics.engine.tested_differences import make_comparison  # it imports all of resampling

    resolved = resolve(planned, question, arguments)
    return make_comparison(resolved, question, time.perf_counter() - started)
