"""Gates, the values of --fail-if: "auc drops 0.001", "logloss rises 1% significantly"."""

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from fastmetrics._core.named_tuples import NamedTuple

if TYPE_CHECKING:
    from fastmetrics import Comparison
    from fastmetrics._core.comparison.comparison import Difference

GATE = re.compile(
    r"\s*(?P<metric>\S.*?)\s+(?P<verb>drops|rises)"
    r"(?:\s+(?:by\s+)?(?P<amount>[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*(?P<percent>%)?)?"
    r"(?P<significantly>\s+significantly)?(?P<slices>\s+in\s+any\s+slice)?\s*"
)
FORM = "METRIC drops|rises [AMOUNT|PERCENT%] [significantly] [in any slice]"


class Gate(NamedTuple):
    """A change of a metric that makes the command fail.

    The value itself drops or rises, whether or not a higher value is better. An `amount` of 0 means any change.
    """

    text: str
    metric: str
    drops: bool
    amount: float
    is_percent: bool
    significantly: bool
    in_any_slice: bool

    def failures(self, comparison: "Comparison") -> Iterator[str]:
        """A sentence for every difference that fails. A difference that cannot be tested fails too."""
        several = len({one.label for one in comparison}) > 1
        for one in comparison:
            if one.metric == self.metric and (self.in_any_slice or not one.slice):
                reason = self.failure_reason(one, comparison)
                if reason:
                    yield f"{self.text!r}: {one.metric}{slice_and_label(one, several)} {reason}"

    def failure_reason(self, one: "Difference", comparison: "Comparison") -> str:
        """Why the difference fails; empty if it passes."""
        if math.isnan(one.difference):
            return f"cannot be tested: {one.reason or 'it is undefined'}"
        change = -one.difference if self.drops else one.difference
        least = self.amount * abs(one.value_a) / 100 if self.is_percent else self.amount
        if change <= 0 or change < least:
            return ""
        p = one.adjusted_pvalue
        if self.significantly and math.isnan(p):
            return f"cannot be tested: {one.reason or 'there is no p-value'}"
        if self.significantly and not comparison.is_significant(one):
            few = comparison.too_few_replicates(one)
            why = f"{few:,} replicates give no lesser p than {p:.4g}, ask for more with --replicates"
            return f"cannot be tested: {why}" if few else ""
        share = f", {100 * change / abs(one.value_a):.3g}%" if self.is_percent else ""
        tested = "" if math.isnan(p) else f" ({'p' if comparison.correction == 'none' else 'adjusted p'} {p:.4g})"
        verb = "dropped" if self.drops else "rose"
        return (
            f"{verb} by {change:.6g}{share}{tested}, from {one.value_a!r} ({one.baseline}) "
            f"to {one.value_b!r} ({one.other})"
        )


def slice_and_label(one: "Difference", several_labels: bool) -> str:
    """The slice and the task of a difference, if it has them, and its label, if there are several."""
    from fastmetrics.reporting.report_table import slice_value_text

    names = [f"{column}={slice_value_text(value)}" for column, value in one.slice.items()]
    names += [f"label {one.label}"] if several_labels else []
    names += [] if one.task is None else [f"task {one.task}"]
    return f" [{', '.join(names)}]" if names else ""


def read_gate(text: str) -> Gate:
    """Read the value of --fail-if. Unreadable text and unknown metrics are wrong usage."""
    from fastmetrics._core.registry import parse

    match = GATE.fullmatch(text)
    if match is None:
        raise typer.BadParameter(f"cannot read {text!r}; write {FORM}", param_hint="--fail-if")
    try:
        metric = repr(parse(match["metric"]))
    except ValueError as error:
        raise typer.BadParameter(f"{error}, in {text!r}", param_hint="--fail-if") from error
    amount = float(match["amount"] or 0)
    if not math.isfinite(amount):
        raise typer.BadParameter(f"the amount of {text!r} is not finite", param_hint="--fail-if")
    return Gate(
        " ".join(text.split()), metric, match["verb"] == "drops", amount, match["percent"] is not None,
        match["significantly"] is not None, match["slices"] is not None,
    )  # fmt: skip
