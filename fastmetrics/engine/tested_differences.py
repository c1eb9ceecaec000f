"""The comparison of models in resolved tasks: differences, their intervals and p-values, and win counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from fastmetrics._core.columns.probability_types import describe_sums
from fastmetrics._core.comparison.comparison import Comparison, Difference
from fastmetrics._core.comparison.multiple_testing import adjust_pvalues
from fastmetrics._core.comparison.win_counts import UTILITY, has_group_values, has_unit_values
from fastmetrics._core.registry import Metric
from fastmetrics._core.resampling.resampling_units import HASH_BITS, MAX_UNIT_BUCKETS, UnitBuckets
from fastmetrics._core.statistic import Value
from fastmetrics._version import __version__
from fastmetrics.engine.evaluation.evaluation import Evaluation
from fastmetrics.engine.plan.column_names import Key, format_key
from fastmetrics.engine.plan.metric_plan import list_metric_names
from fastmetrics.engine.plan.resampling_options import DELONG, LINEARIZED, Resampling
from fastmetrics.engine.scan.final_report import (
    ResolvedPart,
    ResolvedTask,
    edges_of_tasks,
    notes_on_words,
    rows_of_task,
)
from fastmetrics.engine.scan.intervals import AnalyticIntervals, MetricReplicates, make_interval
from fastmetrics.engine.scan.linearized import LinearizedIntervals, has_linearized, test_error
from fastmetrics.engine.scan.paired_models import TestedDifference
from fastmetrics.engine.scan.resolve_intervals import Intervals
from fastmetrics.engine.scan.small_slices import SmallSlices

ROUNDING = 8 * float(np.finfo(np.float64).eps)
NO_DIFFERENCE = "no difference, in no replicate either"
SAME_DIFFERENCE = "the same difference in every replicate: without spread nothing can be said of chance"


UNTESTED = TestedDifference(None, None, math.nan)


def make_comparison(
    resolved: Sequence[ResolvedTask], question: Evaluation, seconds: float, notes: Sequence[str] = ()
) -> Comparison:
    """The comparison of the models of all tasks, whose intervals are in pairs."""
    small = SmallSlices(question.min_rows)
    rows = {one.task.name: rows_of_task(one.task, one.state) for one in resolved}
    only = rows.pop(None, None)
    of_parts = [note for one in resolved for part in one.parts for note in notes_of_part(part)]
    units = (format_key(cast("Resampling", one.task.resampling).unit) for one in resolved)
    return Comparison(
        adjust_pvalues([own for one in resolved for own in differences_of_task(one, small)], question.correction),
        level=cast("float", question.ci),
        correction=question.correction,
        unit=" / ".join(dict.fromkeys(units)),
        version=__version__,
        notes=[*notes, *(dict.fromkeys(of_parts) if question.tasks else of_parts)],
        rows=resolved[0].state.counts.rows,
        filtered=None if only is None else only.filtered,
        dropped={} if only is None else only.dropped,
        columns={} if only is None else only.columns,
        seconds=seconds,
        evaluation=question,
        tasks={name: of_task for name, of_task in rows.items() if name is not None},
        bins=edges_of_tasks([(one.task.name, one.state) for one in resolved]),
        small_slices=small.as_dict(),
    )


def notes_of_part(part: ResolvedPart) -> Iterator[str]:
    buckets = None if isinstance(part.intervals, AnalyticIntervals | None) else part.intervals.unit_buckets
    yield from explain_missing_counts(part.part.plan.metrics, buckets)
    yield from (f"{name}: {describe_sums(far)}" for name, far in part.part.counts.noted_sums().items())
    yield from notes_on_words(part.part, part.states)


def differences_of_task(resolved: ResolvedTask, small: SmallSlices) -> Iterator[Difference]:
    for slice_number, slice_values in small.keep_large(resolved.state):
        for part in resolved.parts:
            for difference in iterate_differences(part, resolved.task.names.group, slice_number, slice_values):
                yield difference if resolved.task.name is None else difference.replace(task=resolved.task.name)


def test_replicates(
    change: float, before: np.ndarray | None, after: np.ndarray | None, replicates: MetricReplicates
) -> TestedDifference:
    """Test the difference of two models by the replicates of both values."""
    differences = pair_replicates(before, after)
    interval = make_interval(Value(change, {}), differences, replicates.unit_buckets, replicates.resampling)
    if differences is None or "interval" in interval.coverage:
        return TestedDifference(None, interval.standard_error, math.nan, str(interval.coverage["interval"]))
    if not change and not differences.any():
        return TestedDifference(interval.bounds, interval.standard_error, 1.0, NO_DIFFERENCE)
    if before is not None and after is not None and is_constant(differences, before, after):
        return TestedDifference(interval.bounds, interval.standard_error, 1.0, SAME_DIFFERENCE)
    return TestedDifference(interval.bounds, interval.standard_error, two_sided_pvalue(change, differences), None)


def is_constant(differences: np.ndarray, before: np.ndarray, after: np.ndarray) -> bool:
    """Return whether the differences of replicates vary by rounding only."""
    magnitude = max(float(np.nanmax(np.abs(values))) for values in (before, after))
    spread = float(np.nanmax(differences)) - float(np.nanmin(differences))
    return spread <= ROUNDING * magnitude


def pair_replicates(before: np.ndarray | None, after: np.ndarray | None) -> np.ndarray | None:
    """The difference in every replicate; NaN if either value is undefined."""
    if before is None or after is None:
        return None
    with np.errstate(invalid="ignore"):  # two infinite values have no difference
        differences: np.ndarray = after - before
    return differences


def two_sided_pvalue(change: float, differences: np.ndarray) -> float:
    """The share of differences that are as far from their mean as the observed one is from 0; that one counts too."""
    defined = differences[~np.isnan(differences)]
    centre = math.fsum(defined) / defined.shape[0]
    extreme = int(np.count_nonzero(np.abs(defined - centre) >= abs(change)))
    return (1 + extreme) / (1 + int(defined.shape[0]))


def iterate_differences(
    part: ResolvedPart, group: Key | None, slice_number: int | None, slice_values: Mapping[str, Any]
) -> Iterator[Difference]:
    """The differences of a slice: every metric of every model but the baseline. `group` is that of the caller."""
    n_scores = len(part.part.names.scores)
    for output in range(len(part.part.outputs)):
        if output % n_scores:
            baseline_output = output - output % n_scores
            for metric in part.part.plan.metrics:
                yield make_difference(part, group, metric, (baseline_output, output), slice_number, slice_values)


def make_difference(
    part: ResolvedPart,
    group: Key | None,
    metric: Metric,
    outputs: tuple[int, int],
    slice_number: int | None,
    slice_values: Mapping[str, Any],
) -> Difference:
    """The difference of a metric between two models, given by their outputs, in a slice."""
    names, intervals = part.part.names, cast("Intervals", part.intervals)
    baseline, other = (names.score_of(part.part.outputs[output]) for output in outputs)
    before, after = (
        metric.finalise(*part.states.select(metric.statistics(), output, slice_number)) for output in outputs
    )
    change = after.value - before.value
    reasons = [f"{name}: {value.reason}" for name, value in ((baseline, before), (other, after)) if value.reason]
    key = (metric, outputs[1], slice_number)
    wins = None if isinstance(intervals, AnalyticIntervals) else (intervals.wins or {}).get(key)
    if isinstance(intervals, LinearizedIntervals) and intervals.others is not None and not has_linearized(metric):
        intervals = intervals.others
    if isinstance(intervals, MetricReplicates):
        values = [intervals.values.get((metric, output, slice_number)) for output in outputs]
        tested = test_replicates(change, values[0], values[1], intervals)
    elif isinstance(intervals, LinearizedIntervals):
        tested = test_error(change, intervals.errors.of_differences.get(key), intervals.resampling.level)
    else:
        tested = (intervals.tests or {}).get(key, UNTESTED)
    reasons += [tested.reason] if tested.reason and not reasons else []
    signature = f"{metric.signature(before.coverage, names.weight)}{intervals.signature_suffix(metric)}"
    return Difference(
        repr(metric),
        baseline,
        other,
        before.value,
        after.value,
        pvalue=tested.pvalue,
        interval=tested.bounds,
        standard_error=tested.standard_error,
        slice=slice_values,
        label=names.label_of(part.part.outputs[outputs[0]]) or None,
        won=None if wins is None else wins.won,
        lost=None if wins is None else wins.lost,
        tied=None if wins is None else wins.tied,
        n_units=count_units(part, group, before, slice_number),
        method=describe_test(intervals.resampling),
        signature=f"{signature}|difference:{other}-{baseline}",
        reason="; ".join(reasons) or None,
    )


def count_units(part: ResolvedPart, group: Key | None, value: Value, slice_number: int | None) -> int | None:
    """The number of units. It is known for groups; other units are only counted for all rows, and if they are few."""
    intervals = cast("Intervals", part.intervals)
    if intervals.resampling.unit in (group, part.part.names.group) and "groups" in value.coverage:
        return int(value.coverage["groups"])
    if isinstance(intervals, AnalyticIntervals):
        return value.coverage.get("rows")
    buckets = intervals.unit_buckets
    return buckets.n_units if slice_number is None and buckets.bits == HASH_BITS else None


def describe_test(resampling: Resampling) -> str:
    """The test in words."""
    if resampling.method == DELONG:
        return "DeLong's test of independent rows, two-sided"
    if resampling.method == LINEARIZED:
        return f"linearized, by {format_key(resampling.unit)}, two-sided"
    return f"{resampling.replicates:,} paired replicates by {format_key(resampling.unit)}, two-sided"


def explain_missing_counts(metrics: Sequence[Metric], buckets: UnitBuckets | None) -> Iterator[str]:
    """The reasons why some metrics have no counts of units won, lost and tied."""
    reasons: dict[str, list[Metric]] = {}
    for metric in metrics:
        exchange = metric.spec.exchange
        if metric.spec.direction not in UTILITY:
            reasons.setdefault("no value is better than another", []).append(metric)
        elif exchange == "hash" and not has_group_values(metric):
            reasons.setdefault("groups have no values of their own", []).append(metric)
        elif exchange == "range":
            reasons.setdefault("rows of all units are ranked together", []).append(metric)
        elif exchange == "none" and not has_unit_values(metric):
            whole = "partition" if metric.spec.target == "partition" else "confusion matrix"
            reasons.setdefault(f"all rows are one {whole}", []).append(metric)
        elif exchange == "none" and buckets is not None and buckets.bits != HASH_BITS:
            reasons.setdefault(f"there are more than {MAX_UNIT_BUCKETS:,} units", []).append(metric)
    for reason, without in reasons.items():
        yield f"units won and lost are not counted for {list_metric_names(tuple(without))}: {reason}"
