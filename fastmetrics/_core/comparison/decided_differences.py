"""Verdicts of the differences of a comparison, with one correction within each family of them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from fastmetrics._core.comparison.difference import Difference
from fastmetrics._core.comparison.multiple_testing import NONE, benjamini_hochberg
from fastmetrics._core.grouping import grouped
from fastmetrics._core.inference.difference_tests import IntervalAt, TestedChange, ValueChange
from fastmetrics._core.inference.sample_size import smallest_difference
from fastmetrics._core.inference.verdicts import ComparedLine, Verdict, find_verdicts
from fastmetrics._core.named_tuples import NamedTuple

DEFAULT_LEVEL = 0.95


class OpenDifference(NamedTuple):
    """A difference without its verdict, and what decides it."""

    difference: Difference
    change: ValueChange
    direction: str  # of the metric
    is_identical: bool = False
    side: int = 0  # of a difference that stands there from both sides: each side is decided by itself


def decide_tested(
    differences: Sequence[tuple[Difference, IntervalAt | None]],
    directions: Sequence[str],
    level: float | None,
    correction: str,
) -> list[Difference]:
    """The verdicts of differences of which a test has only the p-value, beside their intervals at any level.

    `directions` are those of their metrics.
    """
    changes = [TestedChange(one.difference, one.pvalue, interval_at) for one, interval_at in differences]
    found = [
        OpenDifference(one, change, direction)
        for (one, _), change, direction in zip(differences, changes, directions, strict=True)
    ]
    return decide(found, level, correction)


def decide(found: Sequence[OpenDifference], level: float | None, correction: str) -> list[Difference]:
    """The differences with their verdicts, at a level or at 0.95.

    A family is all rows of a task, or one of its grouping sets. Holm's method decides its verdicts; without a
    correction every difference is decided alone. The method of Benjamini and Hochberg adjusts p-values only.
    """
    lines = [
        ComparedLine(
            own.change, own.direction, own.difference.margin, own.is_identical, family_of(own, number, correction)
        )
        for number, own in enumerate(found)
    ]
    verdicts = find_verdicts(lines, DEFAULT_LEVEL if level is None else level)
    adjusted = [one.adjusted_pvalue for one in verdicts]
    if correction == "benjamini-hochberg":
        for numbers in grouped((line.family, number) for number, line in enumerate(lines)).values():
            own = benjamini_hochberg([verdicts[number].pvalue for number in numbers]).tolist()
            for number, pvalue in zip(numbers, own, strict=True):
                adjusted[number] = pvalue
    return [
        with_verdict(own, verdict, pvalue) for own, verdict, pvalue in zip(found, verdicts, adjusted, strict=True)
    ]


def family_of(own: OpenDifference, number: int, correction: str) -> Hashable:
    one = own.difference
    return number if correction == NONE else (one.task, tuple(one.slice), own.side)


def with_verdict(own: OpenDifference, verdict: Verdict, adjusted: float) -> Difference:
    error = own.change.error
    is_known, level = not math.isnan(error.df), verdict.level
    detectable = None if level is None else smallest_difference(error, level, tightest_at=own.change.tightest_at)
    return own.difference.replace(
        verdict=verdict.verdict,
        change=own.change.value,
        verdict_interval=verdict.interval.ends,
        verdict_level=level,
        detectable=detectable,
        df=error.df if is_known else None,
        n_effective=error.n_effective if is_known else None,
        pvalue=verdict.pvalue if math.isnan(own.difference.pvalue) else own.difference.pvalue,
        log_pvalue=verdict.log_pvalue,
        adjusted_pvalue=adjusted,
        reason=verdict.interval.reason if own.is_identical else own.difference.reason or verdict.interval.reason,
    )
