"""The answer of a comparison in sentences: which model is better on all rows, and where one is worse."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from fastmetrics._core.grouping import grouped
from fastmetrics._core.inference.difference_tests import BEST_VALUES
from fastmetrics._core.inference.verdicts import CANNOT_TELL, EQUAL, NOT_WORSE, WITHIN, WORSE
from fastmetrics.reporting.metric_facts import find_metric
from fastmetrics.reporting.number_formats import (
    decimals_for,
    format_interval,
    format_log_pvalue,
    format_signed,
    format_value,
)
from fastmetrics.reporting.report_table import slice_keys, slice_text

if TYPE_CHECKING:
    from fastmetrics._core.comparison.comparison import Comparison
    from fastmetrics._core.comparison.difference import Difference

MOST_LISTED = 5  # slices in a sentence
DIGITS = 3  # of a change
DIGITS_OF_WIDTHS = 2  # of an interval
# What is said of the other model, and of its metrics, by verdict, in this order.
PHRASES = {
    "better": "{other} is better",
    WORSE: "{other} is worse",
    "different": "{other} is different",
    "better within the margin": "{other} is better, within the margin",
    "worse within the margin": "{other} is worse, within the margin",
    "different within the margin": "{other} is different, within the margin",
    WITHIN: "{other} is equal to {baseline} within the margin",
    NOT_WORSE: "{other} is not worse than the margin",
    EQUAL: "{other} has the same values as {baseline} in all rows",
    CANNOT_TELL: "cannot tell {other} from {baseline}",
}


def answer_lines(comparison: Comparison) -> list[str]:
    """Sentences: for all rows of every pair of models, then what is worse anywhere."""
    whole = [one for one in comparison.differences if not one.slice]
    several_labels = len({one.label for one in comparison}) > 1
    pairs = grouped(((one.task, one.label if several_labels else None, one.baseline, one.other), one) for one in whole)
    lines = [sentence for pair, own in pairs.items() for sentence in pair_sentences(pair[:2], own)]
    sliced = [one for one in comparison.differences if one.slice]
    return [*lines, *([slices_sentence(sliced)] if sliced else [])]


def pair_sentences(names: tuple[str | None, str | None], differences: Sequence[Difference]) -> Iterator[str]:
    """A sentence for each verdict of the metrics of two models. `names` are the task and the label, if they matter."""
    by_verdict = grouped((one.verdict, one) for one in differences)
    subject = ", ".join(name for name in names if name is not None)
    for verdict, phrase in PHRASES.items():
        own = by_verdict.get(verdict, ())
        if own:
            said = phrase.format(other=own[0].other, baseline=own[0].baseline)
            facts = ", ".join(one.metric for one in own) if verdict == EQUAL else "; ".join(map(fact_of, own))
            yield f"{f'{subject}: ' if subject else ''}{said}: {facts}"


def slices_sentence(differences: Sequence[Difference]) -> str:
    """What is worse in any slice, the most certain first."""
    worse = by_evidence(one for one in differences if one.verdict == WORSE)
    unclear = sum(one.verdict == CANNOT_TELL for one in differences)
    left = f"; {unclear:,} cannot be told apart" if unclear else ""
    if not worse:
        return f"In slices nothing is shown to be worse, of {len(differences):,} differences{left}"
    keys = slice_keys(worse)
    listed = "; ".join(f"{slice_name(one, keys)}: {fact_of(one)}" for one in worse[:MOST_LISTED])
    more = f"; and {len(worse) - MOST_LISTED:,} more" if len(worse) > MOST_LISTED else ""
    return f"In slices {len(worse):,} of {len(differences):,} differences are worse: {listed}{more}{left}"


def slice_name(one: Difference, keys: Sequence[str]) -> str:
    return ", ".join(f"{key}={slice_text(one, key)}" for key in keys if key in one.slice)


def by_evidence(differences: Iterable[Difference]) -> list[Difference]:
    """The differences with the least p-values first; those without one come last."""
    return sorted(differences, key=lambda one: math.inf if math.isnan(one.log_pvalue) else one.log_pvalue)


def fact_of(one: Difference) -> str:
    """A change with its interval, and what would make it clear if it is not."""
    ends = one.verdict_interval or ()
    decimals = decimals_for([ends[1] - ends[0]], DIGITS_OF_WIDTHS) if ends else decimals_for([one.change], DIGITS)
    interval = f" ({format_interval(ends, decimals)})" if ends else ""
    if not ends and not math.isnan(one.pvalue):
        interval = f" (p {format_log_pvalue(one.pvalue, one.log_pvalue)})"
    fact = f"{subject_of(one)} {format_signed(one.change, decimals)}{interval}"
    if one.verdict != CANNOT_TELL:
        return fact
    if not ends and one.reason:
        return f"{fact}, {one.reason}"
    if one.detectable is None:
        return fact
    return f"{fact}, where {format_value(one.detectable, decimals)} would have been shown{units_wanted(one)}"


def subject_of(one: Difference) -> str:
    """The metric; for metrics whose best value is 0 or 1 the distance from it."""
    metric = find_metric(one.metric)
    best = None if metric is None or one.change == one.difference else BEST_VALUES.get(metric.direction)
    return one.metric if best is None else f"{one.metric}, distance from {best:g},"


def units_wanted(one: Difference) -> str:
    """How many units would show a change of this size; empty if it is not known."""
    from fastmetrics._core.comparison.sample_sizes import find_sample_size

    if not one.n_units or not one.change or one.verdict_level is None:
        return ""
    n_units = find_sample_size(one, one.change, one.verdict_level)
    return "" if n_units is None else f", and about {float(f'{n_units:.2g}'):,.0f} units would show this change"
