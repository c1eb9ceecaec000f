"""The comparison of two reports of different logs, whose units are independent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.comparison.comparison import Comparison
from fastmetrics._core.comparison.decided_differences import OpenDifference, decide
from fastmetrics._core.comparison.difference import Difference
from fastmetrics._core.comparison.multiple_testing import read_correction
from fastmetrics._core.comparison.test_results import check_level
from fastmetrics._core.inference.difference_tests import BEST_VALUES, TestedChange, ValueChange, change_between
from fastmetrics._core.inference.errors import ErrorEstimate, combine_errors
from fastmetrics._core.kinds import MODEL_ROLES
from fastmetrics._core.registry import parse
from fastmetrics._version import __version__
from fastmetrics.engine.evaluation.options import BY_NAME
from fastmetrics.engine.evaluation.values import DEFAULTS, canonical_value
from fastmetrics.engine.results.report import Report

if TYPE_CHECKING:
    from fastmetrics._core.types.options import Correction
    from fastmetrics.engine.results.result import Result

__all__ = ["compare_reports"]

ResultKey = tuple[Any, ...]
NO_ERROR_HERE = "a report has no standard error of this value: evaluate with ci=0.95"


@answers_unknown
def compare_reports(
    before: Report,
    after: Report,
    *,
    ci: float = 0.95,
    margin: Mapping[str, float] | None = None,
    correction: Correction | None = "holm",
    names: tuple[str, str] = ("before", "after"),
) -> Comparison:
    """What changed from one log to another: differences of the values of two reports, with verdicts.

    The errors are those of the reports, which take the units of both logs for independent: the variance of a difference
    is the sum of both, with the degrees of freedom of B. Welch ("The generalization of Student's problem when several
    different population variances are involved", Biometrika 34, 1947). Users who are in both logs are mostly alike in
    both, so that differences vary less than that: verdicts are then cautious. For two models on the same log use
    `compare`, which pairs them.

    Parameters
    ----------
    before, after : Report
        Of `evaluate` with intervals (``ci=0.95``), of the same question. Results that only one of them has are left
        out, and `notes` says so.
    ci : float
        The level of the intervals, between 0 and 1; 1 - ci is the share of families with a wrong verdict.
    margin : dict of str and float, optional
        The least difference that matters, by metric, as of `compare`.
    correction : {"holm", "benjamini-hochberg", "none"} or None
        As of `compare`.
    names : tuple of str
        What the two logs are called.

    Returns
    -------
    Comparison
        A `Difference` for every metric, slice, label and score that both reports have. The score is part of the names
        if there are several.

    Raises
    ------
    TypeError
        Something else than two reports.
    ValueError
        The reports have no result in common, ci outside (0, 1), a margin that is not above 0, an unknown correction.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> monday = {"user": [1, 1, 2, 2, 3, 3], "click": [0, 1, 0, 1, 1, 0], "p": [0.2, 0.7, 0.4, 0.6, 0.8, 0.3]}
    >>> tuesday = monday | {"p": [0.4, 0.6, 0.5, 0.4, 0.6, 0.5]}
    >>> question = fm.Evaluation("logloss", label="click", score="p", unit="user", ci=0.95)
    >>> one = fm.compare_reports(question.run(monday), question.run(tuesday))["logloss"]
    >>> round(one.difference, 4), one.verdict
    (0.2756, 'cannot tell')
    """
    for name, report in (("before", before), ("after", after)):
        if not isinstance(report, Report):
            raise TypeError(f"{name} must be a Report, the result of evaluate; found {type(report).__name__}")
    check_level(ci, required=True)
    if len(set(names)) != 2:
        raise ValueError(f"names must be two different ones; found {names!r}")
    correction_name = read_correction(correction)
    margins = {} if margin is None else canonical_value(BY_NAME["margin"], margin, DEFAULTS) or {}
    first, second = ({key_of(result): result for result in report.results} for report in (before, after))
    common = [key for key in first if key in second]
    if not common:
        raise ValueError("the reports have no result in common: ask both logs the same question")
    several = len({key[2] for key in common}) > 1
    found = []
    for key in common:
        one = compare_results(first[key], second[key], ci, names, several)
        found.append(one._replace(difference=one.difference.replace(margin=margins.get(one.difference.metric))))
    alone = len(first) + len(second) - 2 * len(common)
    notes = [f"results that only one of the reports has are left out: {alone:,}"] if alone else []
    return Comparison(
        decide(found, ci, correction_name), level=ci, correction=correction_name, version=__version__, notes=notes,
    )  # fmt: skip


def key_of(result: Result) -> ResultKey:
    return result.task, result.metric, result.score, result.label, tuple(result.slice.items())


def compare_results(
    before: Result, after: Result, level: float, names: tuple[str, str], several: bool
) -> OpenDifference:
    """The difference of a value in two logs, without its verdict."""
    direction = parse(before.metric, MODEL_ROLES).direction
    errors = error_of(before), error_of(after)
    values = before.value, after.value
    reasons = [f"{name}: {own.reason}" for name, own in zip(names, (before, after), strict=True) if own.reason]
    change: ValueChange = TestedChange(values[1] - values[0], math.nan)
    interval = None
    if errors[0] is None or errors[1] is None:
        reasons = reasons or [NO_ERROR_HERE]
    else:
        error = combine_errors(errors[0], errors[1])
        change = change_between(direction, values, error, error if direction in BEST_VALUES else None)
        found = change_between("none", values, error).interval(level)
        interval = found.ends
        reasons = reasons or ([found.reason] if found.reason else [])
    baseline, other = (f"{before.score} {name}" if several else name for name in names)
    difference = Difference(
        before.metric,
        baseline,
        other,
        *values,
        interval=interval,
        standard_error=change.error.standard_error if interval is not None else None,
        slice=before.slice,
        label=before.label,
        n_units=change.error.n_units or None,
        method="independent logs, Welch's degrees of freedom, two-sided",
        signature=f"{before.signature}|difference:{other}-{baseline}",
        reason="; ".join(reasons) or None,
        task=before.task,
    )
    return OpenDifference(difference, change, direction)


def error_of(result: Result) -> ErrorEstimate | None:
    """The error of a value; None if the report has none."""
    if result.standard_error is None or result.df is None or result.n_units is None or result.n_effective is None:
        return None
    return ErrorEstimate(result.standard_error, result.df, result.n_units, result.n_effective)
