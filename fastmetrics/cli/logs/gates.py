"""Gates of `compare`, the values of --fail-if: "auc drops 0.001", "logloss rises 1% significantly".

Those of `evaluate` are in `value_gates.py`; both say here which of them failed and what the others looked at.
"""

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.cli.terminal import GATE_FAILED, standard_error
from fastmetrics.reporting.number_formats import format_log_pvalue

if TYPE_CHECKING:
    from fastmetrics import Comparison
    from fastmetrics._core.comparison.difference import Difference

PERCENT = 100
SIGNIFICANTLY = r"(?P<significantly>\s+significantly)?"
IN_ANY_SLICE = r"(?P<slices>\s+in\s+any\s+slice)?"
GATE = re.compile(
    r"\s*(?P<metric>\S.*?)\s+(?P<verb>drops|rises|worsens)"
    r"(?:\s+(?:by\s+)?(?P<amount>[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*(?P<percent>%)?)?"
    rf"{SIGNIFICANTLY}{IN_ANY_SLICE}\s*"
)
ANYTHING = "anything"
SHOWN = ("better", "worse", "different")  # verdicts: with a margin, beyond it
FORM = "METRIC worsens|drops|rises [AMOUNT|PERCENT%] [significantly] [in any slice]"


class Gate(NamedTuple):
    """A change of a metric that makes the command fail.

    `verb` is "drops" or "rises" for the value itself, whether or not a higher one is better, and "worsens" for the
    metric's own direction. An `amount` of 0 means any change. `metric` is None for all that are compared.
    """

    text: str
    metric: str | None
    verb: str
    amount: float
    is_percent: bool
    significantly: bool
    in_any_slice: bool

    def failures(self, comparison: "Comparison") -> Iterator[str]:
        """A sentence for every difference that fails. A difference that cannot be tested fails too."""
        several = len({one.label for one in comparison}) > 1
        for one in comparison.differences:
            if self.metric in (None, one.metric) and (self.in_any_slice or not one.slice):
                reason = self.failure_reason(one)
                if reason:
                    yield f"{self.text!r}: {one.metric}{slice_and_label(one, several)} {reason}"

    def failure_reason(self, one: "Difference") -> str:
        """Why the difference fails; empty if it passes."""
        if math.isnan(one.difference):
            return f"cannot be tested: {one.reason or 'it is undefined'}"
        change = self.change_of(one)
        least = self.amount * abs(one.baseline_value) / 100 if self.is_percent else self.amount
        if not change > 0 or change < least:
            return ""
        if self.significantly and one.verdict not in SHOWN:
            has_test = not math.isnan(one.pvalue) and (one.verdict_interval or not one.reason)
            return "" if has_test else f"cannot be tested: {one.reason or 'there is no p-value'}"
        share = f", {100 * change / abs(one.baseline_value):.3g}%" if self.is_percent else ""
        p = format_log_pvalue(one.pvalue, one.log_pvalue)
        tested = f" (p {p}, {one.verdict})" if p else ""
        verb = {"drops": "dropped", "rises": "rose", "worsens": "is worse"}[self.verb]
        return (
            f"{verb} by {change:.6g}{share}{tested}, from {one.baseline_value:.6g} ({one.baseline}) "
            f"to {one.other_value:.6g} ({one.other})"
        )

    def change_of(self, one: "Difference") -> float:
        """How far the value changed the way of the gate; NaN if the metric has no better direction."""
        if self.verb == "worsens":
            from fastmetrics._core.inference.difference_tests import compared_change
            from fastmetrics._core.kinds import MODEL_ROLES
            from fastmetrics._core.registry import parse

            direction = parse(one.metric, MODEL_ROLES).direction
            change: float = compared_change(direction, one.baseline_value, one.other_value)
            return {"maximize": -change, "none": math.nan}.get(direction, change)
        return -one.difference if self.verb == "drops" else one.difference


def slice_and_label(one: Any, several_labels: bool, more: Sequence[str] = ()) -> str:
    """The slice and the task of a line, if it has them, and its label, if there are several."""
    from fastmetrics.reporting.report_table import slice_value_text

    names = [f"{column}={slice_value_text(value)}" for column, value in one.slice.items()]
    names += [f"label {one.label}"] if several_labels else []
    names += [*more, *([] if one.task is None else [f"task {one.task}"])]
    return f" [{', '.join(names)}]" if names else ""


def read_gate(text: str) -> Gate:
    """Read the value of --fail-if. Unreadable text and unknown metrics are wrong usage."""
    from fastmetrics._core.registry import parse

    match = GATE.fullmatch(text)
    if match is None:
        other = "; values are gates of evaluate" if any(sign in text for sign in "<>") else ""
        raise typer.BadParameter(f"cannot read {text!r}; write {FORM}{other}", param_hint="--fail-if")
    try:
        metric = None if match["metric"] == ANYTHING and match["verb"] == "worsens" else parse(match["metric"])
    except ValueError as error:
        raise typer.BadParameter(f"in {text!r}: {error}", param_hint="--fail-if") from error
    amount = float(match["amount"] or 0)
    if not math.isfinite(amount):
        raise typer.BadParameter(f"the amount of {text!r} is not finite", param_hint="--fail-if")
    if metric is not None and match["verb"] == "worsens" and metric.direction == "none":
        found = f"no value of {metric!r} is better than another, in {text!r}: write drops or rises"
        raise typer.BadParameter(found, param_hint="--fail-if")
    return Gate(
        " ".join(text.split()), None if metric is None else repr(metric), match["verb"], amount,
        match["percent"] is not None, match["significantly"] is not None, match["slices"] is not None,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------ what they say


def report_gates(gates: Sequence[Any], found: Any, *, quiet: bool) -> None:
    """Print which gates failed and which passed, to standard error, and exit with their code if one failed.

    `found` is a report or a comparison. Each line says whether slices were looked at.
    """
    console = standard_error()
    n_slices = len({(one.task, tuple(one.slice.items())) for one in found if one.slice})
    has_failed = False
    for gate in gates:
        scope = scope_of(gate, n_slices)
        sentences = list(gate.failures(found))
        for sentence in sentences:
            console.print(Text.assemble(("failed:", "bold red"), " --fail-if ", sentence, scope))
        if not sentences and not quiet:
            console.print(Text.assemble(("passed:", "bold green"), f" --fail-if {gate.text!r}", scope))
        has_failed |= bool(sentences)
    if has_failed:
        raise typer.Exit(GATE_FAILED)


def scope_of(gate: Any, n_slices: int) -> str:
    """What a gate looked at, where there are slices."""
    if not n_slices:
        return ""
    if gate.in_any_slice:
        return f" (all rows and {n_slices:,} slice{'s' * (n_slices > 1)})"
    return " (all rows; slices were not looked at: add 'in any slice')"


def check_gates(gates: Sequence[Any], tasks: Sequence[Any], model_role: str) -> None:
    """Reject a gate on a metric that no task computes: it would always pass."""
    from fastmetrics.engine.plan.metric_plan import make_plan

    if not gates or not tasks or any(task.metrics is None for task in tasks):
        return
    computed = {repr(metric) for task in tasks for metric in make_plan(task.metrics or (), (model_role,)).metrics}
    for gate in gates:
        if gate.metric is not None and gate.metric not in computed:
            found = f"no --task computes {gate.metric}, only {', '.join(sorted(computed))}"
            raise typer.BadParameter(found, param_hint="--fail-if")


def check_slices_only(gates: Sequence[Gate]) -> None:
    """Reject a gate on all rows where slices are compared with the rest of them."""
    for gate in gates:
        if not gate.in_any_slice:
            why = f"slices are compared with the rest of the rows: write '{gate.text} in any slice'"
            raise typer.BadParameter(why, param_hint="--fail-if")


def check_any_slice(gates: Sequence[Any], by: Any) -> None:
    """Reject a gate on slices where there are none."""
    for gate in gates:
        if gate.in_any_slice and not by:
            why = f"there are no slices for {gate.text!r}: add --by COLUMN"
            raise typer.BadParameter(why, param_hint="--fail-if")
