"""The comparison of models in resolved tasks: differences, their intervals and p-values, and win counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from fastmetrics._core.columns.array_types import describe_sums
from fastmetrics._core.comparison.comparison import Comparison
from fastmetrics._core.comparison.decided_differences import OpenDifference, decide
from fastmetrics._core.comparison.difference import Difference
from fastmetrics._core.comparison.win_counts import UTILITY, has_group_values, has_unit_values
from fastmetrics._core.inference.difference_tests import (
    BEST_VALUES,
    Change,
    DistanceChange,
    ReplicatedChange,
    TestedChange,
    ValueChange,
    change_between,
    compared_change,
)
from fastmetrics._core.inference.errors import ErrorEstimate, without_rounding
from fastmetrics._core.metric_spec import SCALES, BinErrors
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import Metric
from fastmetrics._core.resampling.resampling_units import HASH_BITS
from fastmetrics._core.statistic import Value
from fastmetrics._version import __version__
from fastmetrics.engine.evaluation.evaluation import Evaluation
from fastmetrics.engine.evaluation.options.option import REST
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.partial.slices_and_rests import PairedSlices, SlicesAndRests
from fastmetrics.engine.partial.slices_of_logs import SlicesOfLogs
from fastmetrics.engine.plan.column_names import ROW_UNITS, Key, format_key
from fastmetrics.engine.plan.metric_plan import list_metric_names
from fastmetrics.engine.plan.resampling_options import BOOTSTRAP, DELONG, Resampling
from fastmetrics.engine.scan.final_report import (
    ResolvedPart,
    ResolvedTask,
    edges_of_tasks,
    notes_on_words,
    rows_of_task,
)
from fastmetrics.engine.scan.intervals import (
    UNDEFINED,
    AnalyticIntervals,
    MetricReplicates,
    make_interval,
    standard_deviation,
)
from fastmetrics.engine.scan.linearized import LinearizedIntervals, has_linearized, why_not_linearized
from fastmetrics.engine.scan.resolve_intervals import Intervals
from fastmetrics.engine.scan.small_slices import SmallSlices

Place = tuple[int, int | None]
ROUNDING = 8 * float(np.finfo(np.float64).eps)
NO_DIFFERENCE = "no difference, in no replicate either"
SAME_DIFFERENCE = "the same difference in every replicate: without spread nothing can be said of chance"


class ComparedPair(NamedTuple):
    """Two values of a metric that are compared: of two models, or of a slice and the rest of the rows.

    `places` are the output and the slice of the baseline, and those of the other; the differences of the other are
    known by its place.
    """

    metric: Metric
    places: tuple[Place, Place]
    names: tuple[str, str]
    is_identical: bool = False
    side: int = 0  # of two slices, each of which is the rest of the other

    @property
    def key(self) -> tuple[Metric, int, int | None]:
        return self.metric, *self.places[1]


class TestedDifference(NamedTuple):
    """A difference: its interval, or the reason why there is none, and what decides its verdict."""

    bounds: tuple[float, float] | None
    change: ValueChange
    reason: str | None = None
    pvalue: float = math.nan  # if a formula has its own


def make_comparison(
    resolved: Sequence[ResolvedTask], question: Evaluation, seconds: float, notes: Sequence[str] = ()
) -> Comparison:
    """The comparison of the models of all tasks, whose intervals are in pairs."""
    small = SmallSlices(question.min_rows)
    rows = {one.task.name: rows_of_task(one.task, one.state) for one in resolved}
    only = rows.pop(None, None)
    of_parts = [note for one in resolved for part in one.parts for note in notes_of_part(part)]
    paired = [one for one in resolved if all(is_paired(part.part.slices) for part in one.parts)]
    units = (format_key(cast("Resampling", one.task.resampling).unit) for one in paired)
    return Comparison(
        decide(
            [own for one in resolved for own in differences_of_task(one, small, question.margin or {})],
            question.ci,
            question.correction,
        ),
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


def is_paired(slices: GroupingSets) -> bool:
    """Are the two sides of a difference of the same units? Those of two logs may be of others."""
    return not isinstance(slices, SlicesOfLogs) or slices.is_paired


def notes_of_part(part: ResolvedPart) -> Iterator[str]:
    slices = part.part.slices
    if isinstance(slices, SlicesOfLogs):
        yield from slices.notes(part.part.row_count)
    elif not isinstance(slices, SlicesAndRests):
        yield from explain_missing_counts(part.part.plan.metrics)
        yield from notes_on_sample(part)
    yield from (f"{name}: {describe_sums(far)}" for name, far in part.part.counts.noted_sums().items())
    yield from notes_on_words(part.part, part.states)


def differences_of_task(
    resolved: ResolvedTask, small: SmallSlices, margins: Mapping[str, float]
) -> Iterator[OpenDifference]:
    group, task = resolved.task.names.group, resolved.task.name
    slices = resolved.parts[0].part.slices
    kept = small.keep_large(resolved.state)
    for slice_number, slice_values in slices.select(kept) if isinstance(slices, SlicesOfLogs) else kept:
        for part in resolved.parts:
            for pair in iterate_pairs(part, slice_number):
                found = make_difference(part, group, pair, slice_values)
                more = {"task": task, "margin": margins.get(repr(pair.metric))}
                yield found._replace(difference=found.difference.replace(**more))


def iterate_pairs(part: ResolvedPart, slice_number: int | None) -> Iterator[ComparedPair]:
    """Every metric of every model but the baseline, or of the slice and its rest."""
    names, outputs, slices = part.part.names, part.part.outputs, part.part.slices
    for number, output in enumerate(outputs):
        baseline = number - number % len(names.scores)
        for metric in part.part.plan.metrics:
            if isinstance(slices, SlicesOfLogs):
                if slice_number is not None:
                    places = (number, slices.before[slice_number]), (number, slice_number)
                    yield ComparedPair(metric, places, slices.name_logs(names.score_of(output), len(names.scores) > 1))
            elif isinstance(slices, SlicesAndRests):
                if slice_number is not None:
                    places = (number, slices.rest_of(slice_number)), (number, slice_number)
                    side = slices.side_of(slice_number)
                    yield ComparedPair(metric, places, (REST, names.score_of(output)), side=side)
            elif baseline != number:
                models = names.score_of(outputs[baseline]), names.score_of(output)
                is_identical = part.part.counts.is_equal(output.score)
                yield ComparedPair(metric, ((baseline, slice_number), (number, slice_number)), models, is_identical)


def make_difference(
    part: ResolvedPart, group: Key | None, pair: ComparedPair, slice_values: Mapping[str, Any]
) -> OpenDifference:
    """The difference of two values of a metric. `group` is the caller's."""
    names, intervals, metric = part.part.names, cast("Intervals", part.intervals), pair.metric
    baseline, other = pair.names
    before, after = (metric.finalize(*part.states.select(metric.statistics(), *place)) for place in pair.places)
    reasons = [f"{name}: {value.reason}" for name, value in ((baseline, before), (other, after)) if value.reason]
    wins = None if isinstance(intervals, AnalyticIntervals) else (intervals.wins or {}).get(pair.key)
    if isinstance(intervals, LinearizedIntervals) and intervals.others is not None and not has_linearized(metric):
        intervals = intervals.others
    tested = test_difference(part, intervals, pair, (before, after))
    reasons += [tested.reason] if tested.reason and not reasons else []
    signature = f"{metric.signature(before.coverage, names.weight)}{intervals.signature_suffix(metric)}"
    standard_error = tested.change.error.standard_error
    difference = Difference(
        repr(metric),
        baseline,
        other,
        before.value,
        after.value,
        pvalue=tested.pvalue,
        interval=tested.bounds,
        standard_error=None if math.isnan(standard_error) else standard_error,
        slice=slice_values,
        label=names.label_of(part.part.outputs[pair.places[0][0]]) or None,
        won=None if wins is None else wins.won,
        lost=None if wins is None else wins.lost,
        tied=None if wins is None else wins.tied,
        n_units=count_units(part, group, pair, before, tested.change.error),
        method=describe_test(intervals.resampling, part.part.slices),
        signature=f"{signature}|difference:{other}-{baseline}",
        reason="; ".join(reasons) or None,
    )
    return OpenDifference(difference, tested.change, metric.direction, pair.is_identical, pair.side)


def test_difference(
    part: ResolvedPart, intervals: Intervals, pair: ComparedPair, values: tuple[Value, Value]
) -> TestedDifference:
    """Test the difference of two values by its error, by the replicates of both, or by a formula over their rows."""
    before, after = (value.value for value in values)
    metric, (_, slice_number) = pair.metric, pair.places[1]
    if metric.no_interval is not None:
        return TestedDifference(None, TestedChange(after - before, math.nan), metric.no_interval)
    if isinstance(intervals, AnalyticIntervals):
        test = (intervals.tests or {}).get(pair.key)
        if test is None:
            return TestedDifference(None, TestedChange(after - before, math.nan))
        return TestedDifference(test.bounds, Change(after - before, test.error), test.reason, test.pvalue)
    if isinstance(intervals, MetricReplicates):
        replicates = [intervals.values.get((metric, *place)) for place in pair.places]
        numbers = (number for _, number in pair.places)
        n_units = min(units_at_most(part, intervals, *own) for own in zip(values, numbers, strict=True))
        return test_replicates((before, after), replicates, intervals, metric.direction, n_units)
    errors = intervals.errors.of_differences.get(pair.key)
    if errors is None:
        reason = UNDEFINED if has_linearized(metric) else why_not_linearized(metric)
        return TestedDifference(None, TestedChange(after - before, math.nan), reason)
    size = max(map(SCALES[metric.scale].size_of, (before, after)))
    difference = without_rounding(intervals.of_units(errors.difference, slice_number), size)
    total = None if errors.total is None else without_rounding(intervals.of_units(errors.total, slice_number), size)
    change = change_between(metric.direction, (before, after), difference, total, intervals.resampling.tightest_at)
    own = change.difference if isinstance(change, DistanceChange) else change
    interval = own.interval(intervals.resampling.level)
    return TestedDifference(interval.ends, change, interval.reason)


def test_replicates(
    values: tuple[float, float],
    replicates: Sequence[np.ndarray | None],
    intervals: MetricReplicates,
    direction: str,
    n_units: int,
) -> TestedDifference:
    """Test the difference of two models by the replicates of both values.

    Where they stand in for linearized errors, and with "normal", their standard deviation is the error of a test by
    Student's distribution; otherwise the p-value counts replicates.
    """
    before, after = replicates
    difference = values[1] - values[0]
    differences = pair_replicates(before, after)
    interval = make_interval(Value(difference, {}), differences, intervals.unit_buckets, intervals.resampling)
    reason = interval.coverage.get("interval")
    if differences is None or before is None or after is None or (reason and interval.standard_error is None):
        return TestedDifference(None, TestedChange(difference, math.nan), reason)
    if not difference and not differences.any():
        return TestedDifference(None, TestedChange(0.0, 1.0), NO_DIFFERENCE)
    if is_constant(differences, before, after):
        return TestedDifference(None, TestedChange(difference, 1.0), SAME_DIFFERENCE)
    df = min(n_units, differences.shape[0]) - 1.0
    size = math.nan if interval.standard_error is None else interval.standard_error
    error = ErrorEstimate(size, df, n_units, n_units)
    if counts_replicates(intervals.resampling):
        change, of_replicates = compared_change(direction, *values), compared_change(direction, before, after)
        return TestedDifference(interval.bounds, replicated_change(change, of_replicates, error), reason)
    total = None
    if direction in BEST_VALUES:
        total = error._replace(standard_error=standard_deviation(defined_of(before + after)))
    return TestedDifference(interval.bounds, change_between(direction, values, error, total), reason)


def counts_replicates(resampling: Resampling) -> bool:
    """Does a p-value count replicates?"""
    return resampling.method == BOOTSTRAP and not resampling.falls_back


def replicated_change(value: float, replicates: np.ndarray, error: ErrorEstimate) -> ReplicatedChange:
    defined = defined_of(replicates)
    center = math.fsum(defined) / defined.shape[0]
    return ReplicatedChange(value, error, np.sort(np.abs(defined - center)))


def defined_of(values: np.ndarray) -> np.ndarray:
    defined: np.ndarray = values[~np.isnan(values)]
    return defined


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


def units_at_most(part: ResolvedPart, intervals: MetricReplicates, value: Value, slice_number: int | None) -> int:
    """The most units that a value of resampled units may have."""
    n_rows = part.part.row_count(slice_number).rows
    groups = int(value.coverage.get("groups", n_rows))
    return min(intervals.unit_buckets.n_units, n_rows, groups)


def count_units(
    part: ResolvedPart, group: Key | None, pair: ComparedPair, value: Value, error: ErrorEstimate
) -> int | None:
    """The number of units: of groups; of an error, about if they share entries; otherwise known for all rows only."""
    intervals, slice_number = cast("Intervals", part.intervals), pair.places[1][1]
    if isinstance(part.part.slices, PairedSlices):  # the units of both
        return error.n_units or None
    if intervals.resampling.unit in (group, part.part.names.group) and "groups" in value.coverage:
        return int(value.coverage["groups"])
    if isinstance(intervals, AnalyticIntervals):
        return value.coverage.get("rows")
    if intervals.resampling.unit == ROW_UNITS:
        return part.part.row_count(slice_number).rows
    if isinstance(intervals, LinearizedIntervals) and error.n_units:
        return min(error.n_units, part.part.row_count(slice_number).rows)
    return intervals.unit_buckets.n_units if slice_number is None else None


def describe_test(resampling: Resampling, slices: GroupingSets) -> str:
    """The test in words, with the relation of two logs."""
    relation = slices.relation if isinstance(slices, SlicesOfLogs) else ""
    return f"{name_test(resampling)}; {relation}" if relation else name_test(resampling)


def name_test(resampling: Resampling) -> str:
    if resampling.method == DELONG:
        return "DeLong's test of independent rows, two-sided"
    if resampling.is_linearized:
        looks = "" if resampling.tightest_at is None else " at any time"
        return f"linearized{looks}, by {format_key(resampling.unit)}, two-sided"
    text = f"{resampling.replicates:,} paired replicates by {format_key(resampling.unit)}, two-sided"
    return text if counts_replicates(resampling) else f"standard deviation of {text}"


def notes_on_sample(part: ResolvedPart) -> Iterator[str]:
    """Which metrics count units won, lost and tied in a sample of the units, and how large it is."""
    if isinstance(part.intervals, AnalyticIntervals | None) or part.intervals.unit_buckets.bits == HASH_BITS:
        return
    found = {key: own for key, own in (part.intervals.wins or {}).items() if key[0].spec.exchange == "none"}
    n_sampled = max((own.won + own.lost + own.tied for own in found.values()), default=0)
    if n_sampled:
        names = list_metric_names(tuple(dict.fromkeys(key[0] for key in found)))
        yield (
            f"units won and lost are counted for {names} among {n_sampled:,} of about "
            f"{part.intervals.unit_buckets.n_units:,} units, drawn by their hash"
        )


def explain_missing_counts(metrics: Sequence[Metric]) -> Iterator[str]:
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
            whole = "set of bins" if isinstance(metric.influence, BinErrors) else whole
            reasons.setdefault(f"all rows are one {whole}", []).append(metric)
    for reason, without in reasons.items():
        yield f"units won and lost are not counted for {list_metric_names(tuple(without))}: {reason}"
