"""Gates of `evaluate`, the values of --fail-if: "auc < 0.7", "logloss > 0.1 in any slice"."""

import math
import operator
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import typer

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.cli.logs.gates import IN_ANY_SLICE, PERCENT, SIGNIFICANTLY, slice_and_label

if TYPE_CHECKING:
    from fastmetrics import Report

NUMBER = r"[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?"
GATE = re.compile(
    rf"\s*(?P<metric>\S.*?)\s*(?P<sign><=|>=|<|>)\s*(?P<amount>{NUMBER})\s*(?P<percent>%)?{SIGNIFICANTLY}{IN_ANY_SLICE}\s*"
)
FORM = "METRIC <|<=|>|>= NUMBER [significantly] [in any slice]"
SIGNS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


class ValueGate(NamedTuple):
    """A value of a metric that makes the command fail: below or above an amount.

    `significantly`: the whole interval is.
    """

    text: str
    metric: str
    sign: str
    amount: float
    significantly: bool
    in_any_slice: bool

    def failures(self, report: "Report") -> Iterator[str]:
        """A sentence for every value that fails. A value that is undefined, or cannot be tested, fails too."""
        results = [one for one in report.results if one.metric == self.metric and (self.in_any_slice or not one.slice)]
        several = {name: len({getattr(one, name) for one in results}) > 1 for name in ("label", "score")}
        for one in results:
            reason = self.failure_reason(one)
            if reason:
                more = [f"score {one.score}"] if several["score"] else []
                yield f"{self.text!r}: {one.metric}{slice_and_label(one, several['label'], more)} {reason}"

    def failure_reason(self, one: Any) -> str:
        """Why the value fails; empty if it passes."""
        if math.isnan(one.value):
            return f"cannot be tested: {one.reason or 'it is undefined'}"
        if not SIGNS[self.sign](one.value, self.amount):
            return ""
        if not self.significantly:
            return f"is {one.value!r}"
        if one.interval is None:
            return f"cannot be tested: {one.coverage.get('interval', 'it has no interval')}"
        low, high = one.interval
        end = high if self.sign[0] == "<" else low
        return f"is {one.value!r}, from {low:.6g} to {high:.6g}" if SIGNS[self.sign](end, self.amount) else ""


def read_value_gate(text: str, model_role: str) -> ValueGate:
    """Read the value of --fail-if. Unreadable text and unknown metrics are wrong usage."""
    from fastmetrics._core.registry import parse
    from fastmetrics.cli.logs.gates import GATE as CHANGE

    match = GATE.fullmatch(text)
    if match is None:
        other = "; changes are gates of compare" if CHANGE.fullmatch(text) else ""
        raise typer.BadParameter(f"cannot read {text!r}; write {FORM}{other}", param_hint="--fail-if")
    try:
        metric = repr(parse(match["metric"], (model_role,)))
    except ValueError as error:
        raise typer.BadParameter(f"in {text!r}: {error}", param_hint="--fail-if") from error
    amount = float(match["amount"])
    if not math.isfinite(amount):
        raise typer.BadParameter(f"the number of {text!r} is not finite", param_hint="--fail-if")
    return ValueGate(
        " ".join(text.split()), metric, match["sign"], amount / PERCENT if match["percent"] else amount,
        match["significantly"] is not None, match["slices"] is not None,
    )  # fmt: skip
