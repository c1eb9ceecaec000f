"""Verdicts in words: what a comparison shows about each line, with one correction within each family of lines.

A family is what a person would name: all rows, the lines of one grouping set, those of one task. All p-values that the
verdicts of a family may need enter one procedure (S. Holm, "A simple sequentially rejective multiple test procedure",
1979), so that at most a share alpha of families has a verdict that is wrong. The first verdict of the table holds:

| verdict | if |
|---|---|
| equal | the columns are identical |
| better, worse | different from 0; with a margin: by more than the margin |
| equal within the margin | both ends of the interval are within it |
| better, worse within the margin | different from 0 |
| not worse than the margin | not worse by as much as the margin |
| cannot tell | none of these is shown |

Metrics without a direction have "different" in place of "better" and "worse", and are never "not worse".

The j-th least of m p-values that is rejected has the level 1 - alpha / (m - j + 1). The level of a line is that of the
p-value that decides its verdict, and that of the first p-value that is not rejected where nothing is shown. All
p-values are two-sided, so the interval at this level says the same as the verdict: it leaves out 0, or lies beyond or
within the margin, exactly if the verdict says so.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Final

from fastmetrics._core.elementary import log
from fastmetrics._core.inference.difference_tests import PValue, ValueChange, two_sided_pvalue
from fastmetrics._core.inference.intervals import ConfidenceInterval
from fastmetrics._core.named_tuples import NamedTuple

EQUAL: Final = "equal"
CANNOT_TELL: Final = "cannot tell"
WITHIN: Final = "equal within the margin"
NOT_WORSE: Final = "not worse than the margin"
WORSE: Final = "worse"


class ComparedLine(NamedTuple):
    """A line of a comparison, as its verdict needs it."""

    change: ValueChange
    direction: str  # of the metric
    margin: float | None = None
    is_identical: bool = False
    family: Hashable = None


class Verdict(NamedTuple):
    """What is shown about a line.

    log_pvalue: of a change from 0, as small as it is; `pvalue` is 0 where doubles end. Both are NaN without an error.
    adjusted_pvalue: Holm's, of a change from 0.
    level: of `interval`, corrected; None if the line has no p-value.
    """

    verdict: str
    pvalue: float
    log_pvalue: float
    adjusted_pvalue: float
    level: float | None
    interval: ConfidenceInterval

    @property
    def is_worse(self) -> bool:
        """Is it worse, and by more than the margin, if there is one?"""
        return self.verdict == WORSE


class HolmDecision(NamedTuple):
    """Holm's answer for one p-value."""

    is_rejected: bool
    level: float
    adjusted: float


def find_verdicts(lines: Sequence[ComparedLine], level: float) -> list[Verdict]:
    """The verdict of every line, where 1 - level is the share of families with a wrong one."""
    alpha = round(1 - level, 15) or 1 - level
    families: dict[Hashable, list[int]] = {}
    for number, line in enumerate(lines):
        families.setdefault(line.family, []).append(number)
    verdicts: dict[int, Verdict] = {}
    for numbers in families.values():
        own = [lines[number] for number in numbers]
        verdicts.update(zip(numbers, verdicts_of_family(own, alpha), strict=True))
    return [verdicts[number] for number in range(len(lines))]


def verdicts_of_family(lines: Sequence[ComparedLine], alpha: float) -> list[Verdict]:
    of_zero = [two_sided_pvalue(line.change) for line in lines]
    claims = [
        {} if line.is_identical or p.is_missing else claims_of(line, p) for line, p in zip(lines, of_zero, strict=True)
    ]
    decisions = holm_decisions([p for own in claims for p in own.values()], alpha)
    return [verdict_of(line, p, own, decisions, 1 - alpha) for line, p, own in zip(lines, of_zero, claims, strict=True)]


def claims_of(line: ComparedLine, of_zero: PValue) -> dict[str, PValue]:
    """The p-value of every verdict that is a claim, in the order in which verdicts are given."""
    change, margin = line.change, line.margin
    better, worse = "better", WORSE
    if line.direction == "none":
        better = worse = "different"
    above, below = (better, worse) if line.direction in ("maximize", "none") else (worse, better)
    word = above if change.value > 0 else below
    if margin is None:
        return {word: of_zero}
    claims = {
        word: min(change.above(margin), change.below(-margin)),
        WITHIN: max(change.above(-margin), change.below(margin)),
        f"{word} within the margin": of_zero,
    }
    if line.direction != "none":
        claims[NOT_WORSE] = change.above(-margin) if above == better else change.below(margin)
    return claims


def holm_decisions(pvalues: Sequence[PValue], alpha: float) -> dict[PValue, HolmDecision]:
    """Holm's decision for each p-value. Equal ones have one decision, that of their first."""
    decisions: dict[PValue, HolmDecision] = {}
    ordered, level, is_rejected, adjusted = sorted(pvalues), 1 - alpha, True, 0.0
    for j, p in enumerate(ordered):
        if p in decisions:
            continue
        remaining = len(ordered) - j
        adjusted = max(adjusted, min(p.probability * remaining, 1.0))
        if is_rejected:
            level, is_rejected = 1 - alpha / remaining, p.logarithm < log(alpha / remaining)
        decisions[p] = HolmDecision(is_rejected, level, adjusted)
    return decisions


def verdict_of(
    line: ComparedLine, of_zero: PValue, claims: dict[str, PValue], decisions: dict[PValue, HolmDecision], level: float
) -> Verdict:
    if line.is_identical:
        return Verdict(EQUAL, 1.0, 0.0, 1.0, None, ConfidenceInterval(None, "the columns are identical"))
    if not claims:
        return Verdict(CANNOT_TELL, math.nan, math.nan, math.nan, None, line.change.interval(level))
    shown = next((word for word, p in claims.items() if decisions[p].is_rejected), CANNOT_TELL)
    level, adjusted = decisions[claims.get(shown, of_zero)].level, decisions[of_zero].adjusted
    interval = line.change.interval(level)
    if shown != WITHIN:
        interval = about_zero(interval, line.change.value, shown in (CANNOT_TELL, NOT_WORSE))
    return Verdict(shown, of_zero.probability, of_zero.logarithm, adjusted, level, interval)


def about_zero(interval: ConfidenceInterval, value: float, has_zero: bool) -> ConfidenceInterval:
    """The interval with 0 on the side that its verdict says, should rounding have put it on the other."""
    if interval.ends is None or (interval.ends[0] <= 0 <= interval.ends[1]) == has_zero:
        return interval
    nearest = 0.0 if has_zero else math.copysign(math.ulp(0.0), value)
    low, high = interval.ends
    return interval._replace(ends=(nearest, high) if value > 0 else (low, nearest))
