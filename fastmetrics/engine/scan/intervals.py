"""Intervals of metrics: by resampling units (users, rows), or from a formula.

The value of a replicate is the value of `evaluate` for a log in which the rows of every unit are repeated as often as
the unit's weight says. Weights are a function of seed, replicate and unit, so an interval depends on the rows alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import Output
from fastmetrics._core.comparison.win_counts import WinCounts
from fastmetrics._core.distributions.normal import two_sided_quantile
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.class_ranges import OutputReduction, join_replicates
from fastmetrics._core.exchange.group_reduction import Advance, reduce_groups
from fastmetrics._core.exchange.row_ranges import RowRangeReduction, split_statistics
from fastmetrics._core.group_accumulators import merge_states
from fastmetrics._core.inference.errors import ErrorEstimate
from fastmetrics._core.metric_spec import SCALES
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import Metric
from fastmetrics._core.resampling.additive_replicates import (
    ALL_SLICES,
    AdditiveReplicates,
    JackknifeUnits,
    ReplicateAccumulators,
    SliceRange,
    new_replicates,
)
from fastmetrics._core.resampling.range_replicates import replicate_scores
from fastmetrics._core.resampling.replicate_weights import ReplicateWeights
from fastmetrics._core.resampling.resampling_units import UnitBuckets
from fastmetrics._core.resampling.row_range_replicates import replicate_row_ranges
from fastmetrics._core.resampling.row_replicates import RowReduction, replicate_rows
from fastmetrics._core.statistic import AdditiveStatistic, ColumnStatistic, GroupedStatistic, Value
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.slice_passes import SlicePass, iterate_passes, passes_of
from fastmetrics.engine.partial.states_by_unit import replicate_units
from fastmetrics.engine.plan.metric_plan import Plan
from fastmetrics.engine.plan.resampling_options import Resampling
from fastmetrics.engine.scan.found_interval import Interval
from fastmetrics.engine.scan.group_units import UnitsOfGroups
from fastmetrics.engine.scan.paired_models import RowTest
from fastmetrics.engine.scan.read_log import Progress
from fastmetrics.engine.scan.resolve import (
    FinalStates,
    ProgressCounter,
    group_reduction,
    group_statistics_by_table,
)

UNDEFINED = "the value is undefined"
MAX_REPLICATE_BYTES = 1 << 28  # of the replicates of slices in one pass
NONZERO_INTEGERS = 16  # about so many integers of a state are not zero
GREATEST_SQUARED = 1e150  # the squares of smaller values, and their sum, are finite
EQUAL_REPLICATES = "the replicates do not differ between the ends: an interval would have no width"
MAX_UNDEFINED_SHARE = 0.05  # with more undefined replicates there is no interval

# A metric, the number of an output, and the number of a slice (None: all rows).
ReplicateKey = tuple[Metric, int, int | None]


class MetricReplicates(NamedTuple):
    """The values of all replicates by metric, output and slice; undefined values are NaN.

    `units_of` maps groups to units, if units are larger than groups; `wins` are the units won and lost by models.
    """

    values: dict[ReplicateKey, np.ndarray]
    unit_buckets: UnitBuckets
    resampling: Resampling
    units_of: Callable[[np.ndarray], np.ndarray] | None = None
    wins: Mapping[ReplicateKey, WinCounts] | None = None

    def signature_suffix(self, metric: Metric) -> str:
        return self.resampling.signature_suffix

    def interval(self, metric: Metric, output: int, slice_number: int | None, value: Value) -> Interval:
        if metric.no_interval is not None and not math.isnan(value.value):
            return Interval(None, None, {"interval": metric.no_interval})
        values = self.values.get((metric, output, slice_number))
        found = make_interval(value, values, self.unit_buckets, self.resampling, metric.scale)
        if values is None or found.standard_error is None:
            return found
        n_units = min(self.unit_buckets.n_units, int(value.coverage.get("groups", self.unit_buckets.n_units)))
        df = min(n_units, values.shape[0]) - 1.0
        return found._replace(error=ErrorEstimate(found.standard_error, df, n_units, n_units))


class AnalyticIntervals(NamedTuple):
    """Intervals from a formula over the states of all rows, without resampling; `tests` are those of two models."""

    states: FinalStates
    resampling: Resampling
    tests: Mapping[ReplicateKey, RowTest] | None = None

    def signature_suffix(self, metric: Metric) -> str:
        return self.resampling.signature_suffix

    def interval(self, metric: Metric, output: int, slice_number: int | None, value: Value) -> Interval:
        if math.isnan(value.value):
            return Interval(None, None, {"interval": UNDEFINED})
        states = self.states.select(metric.interval_statistics(), output, slice_number)
        interval = metric.find_interval(self.resampling.level, *states)
        if isinstance(interval, str):  # the reason why there is none
            return Interval(None, None, {"interval": interval})
        low, high, error = interval
        return Interval((low, high), error, {})


def resample(
    part: PartState,
    metrics: tuple[Metric, ...],
    resampling: Resampling,
    n_threads: int,
    units: tuple[UnitBuckets, UnitsOfGroups | None],
    group_replicates: dict[Any, Any] | None = None,
    progress: Progress | None = None,
) -> MetricReplicates:
    """The replicates of some metrics. `group_replicates` are those of group statistics, if known."""
    plan = part.plan.of(metrics)
    unit_buckets, units_of = units
    by_score = tuple(metric for metric in plan.metrics if metric.spec.exchange == "range")
    additive = tuple(metric for metric in plan.metrics if metric.spec.exchange != "range")
    rest = plan if group_replicates is None else plan.with_statistics(hash=())
    weights = ReplicateWeights(unit_buckets, resampling.seed, resampling.replicates) if additive else None
    passes = passes_of(part.slices)
    n_passes = count_passes(part, plan, rest, resampling.replicates, n_threads, passes)
    counter = ProgressCounter(progress, part.counts.rows_kept, part.counts.rows_kept * n_passes, "resample")
    counter.advance(0)
    values: dict[ReplicateKey, np.ndarray] = {}
    for slice_pass in iterate_passes(part):
        if weights is not None:
            for slices in split_pass_by_memory(part, part.slice_pass, plan, resampling.replicates, n_threads):
                found = replicate_additive(part, rest, weights, units_of, n_threads, slices, counter.advance)
                found = slice_pass.rename(found) | (group_replicates or {})
                values |= finalize_replicates(part, found, resampling.replicates, additive, slices, counter.advance)
        if by_score:
            found = replicate_score_statistics(part, plan, unit_buckets, resampling, n_threads, counter.advance)
            found, every = slice_pass.rename(found), slices_of_pass(slice_pass)
            values |= finalize_replicates(part, found, resampling.replicates, by_score, every, counter.advance)
    counter.finish()
    return MetricReplicates(values, unit_buckets, resampling, units_of)


def count_passes(
    part: PartState, plan: Plan, rest: Plan, replicates: int, n_threads: int, passes: Sequence[SlicePass]
) -> int:
    """How many times the rows are passed; `rest` is the plan without the replicates that are known."""
    n_passes = 0
    has_ranges = plan.needs("range")
    for slice_pass in passes:
        if plan.needs("none") or plan.needs("hash"):
            n_ranges = len(list(split_pass_by_memory(part, slice_pass, plan, replicates, n_threads)))
            n_passes += n_ranges * (1 + bool(rest.statistics["none"]) + len(group_statistics_by_table(rest)))
        n_passes += has_ranges * (1 + len(slice_pass.slice_counts()) * len(part.outputs))
    return n_passes


def slices_of_pass(slice_pass: SlicePass) -> SliceRange:
    """All slices of a pass, with all rows together if it has them."""
    return ALL_SLICES if slice_pass.all_rows else SliceRange(False, 0, slice_pass.n_slices)


def split_pass_by_memory(
    part: PartState, slice_pass: SlicePass, plan: Plan, replicates: int, n_threads: int
) -> Iterator[SliceRange]:
    """The slices of a pass: all in one if there is memory for their replicates, otherwise all rows come first."""
    return ranges_of_slices(slice_pass, most_slices(part, plan, replicates, n_threads))


def most_slices(part: PartState, plan: Plan, replicates: int, n_threads: int) -> int:
    """Of how many slices the replicates fit into memory."""
    n_states = len(part.outputs) * (len(plan.statistics["none"]) + len(plan.statistics["hash"]))
    limit = None if part.memory_budget is None else part.memory_budget.explicit_limit
    n_bytes = MAX_REPLICATE_BYTES if limit is None else min(limit, MAX_REPLICATE_BYTES)
    return n_bytes // (8 * NONZERO_INTEGERS * replicates * max(1, n_states) * n_threads)


def ranges_of_slices(slice_pass: SlicePass, most: int) -> Iterator[SliceRange]:
    """All slices of a pass in one range if they are fewer than `most`, otherwise so many at a time, after all rows."""
    n_slices, most = slice_pass.n_slices, max(1, most)
    if n_slices < most:
        yield slices_of_pass(slice_pass)
        return
    if slice_pass.all_rows:
        yield SliceRange(True, 0, 0)
    for start in range(0, n_slices, most):
        yield SliceRange(False, start, min(n_slices, start + most))


def fits_in_one_pass(part: PartState, plan: Plan, replicates: int, n_threads: int) -> bool:
    """Return whether there is memory for the replicates of all slices at the same time."""
    slice_pass = SlicePass(len(part.slices))
    return next(split_pass_by_memory(part, slice_pass, plan, replicates, n_threads)) == ALL_SLICES


def replicate_additive(
    part: PartState,
    plan: Plan,
    weights: ReplicateWeights | JackknifeUnits,
    units_of: UnitsOfGroups | None,
    n_threads: int,
    slices: SliceRange = ALL_SLICES,
    advance: Advance | None = None,
) -> dict[Any, Any]:
    """The replicates of additive statistics, of rows and of groups."""
    replicates: dict[Any, Any] = {}
    n_slices = part.slice_pass.n_slices
    if part.counted_rows is not None:
        replicates |= part.counted_rows.replicates(weights, n_slices, slices)
    if plan.statistics["none"] and part.unit_exchange is not None:
        outputs, epsilons = part.outputs, part.score_epsilons
        row_reduction = RowReduction(plan.statistics["none"], outputs, n_slices, epsilons, slices)
        replicates |= replicate_rows(part.unit_exchange.store, row_reduction, weights, n_threads, advance)
    if part.states_by_unit:
        merge_states(replicates, replicate_units(part.states_by_unit, weights, n_threads))
    if part.group_exchange is not None:

        def new_states(statistics: Sequence[Any]) -> ReplicateAccumulators:
            return ReplicateAccumulators(statistics, weights, units_of, slices)

        for statistics in group_statistics_by_table(plan):
            reduction = group_reduction(part, statistics, new_states)
            replicates |= reduce_groups(part.group_exchange, reduction, n_threads, advance)
    return replicates


class ReplicateStates:
    """The states of all replicates of a statistic, one by one."""

    def __init__(self, by_replicate: list[Any]) -> None:
        self.by_replicate = by_replicate

    def states(self) -> Iterator[Any]:
        return iter(self.by_replicate)

    def merge(self, other: ReplicateStates) -> None:
        for state, other_state in zip(self.by_replicate, other.by_replicate, strict=True):
            state.merge(other_state)


def replicate_score_statistics(
    part: PartState,
    plan: Plan,
    unit_buckets: UnitBuckets,
    resampling: Resampling,
    n_threads: int,
    advance: Advance | None = None,
) -> dict[Any, Any]:
    """The replicates of the range exchange."""
    if part.unit_exchange is None:
        return {}
    is_weighted = part.names.weight is not None
    return replicate_stored_scores(
        part.unit_exchange.store, part.outputs, plan.statistics["range"], is_weighted, part.slice_pass, unit_buckets,
        resampling, n_threads, advance,
    )  # fmt: skip


def replicate_stored_scores(
    store: BlockStore,
    outputs: Sequence[Output],
    all_statistics: Sequence[Any],
    is_weighted: bool,
    slice_pass: SlicePass,
    unit_buckets: UnitBuckets,
    resampling: Resampling,
    n_threads: int,
    advance: Advance | None = None,
) -> dict[Any, Any]:
    """The replicates of statistics of scores, of all rows of a store, which has their units.

    One output after the other: all rows, then slice by slice.
    """
    replicates: dict[Any, Any] = {}
    statistics, row_statistics = split_statistics(all_statistics)
    if row_statistics:
        weights = ReplicateWeights(unit_buckets, resampling.seed, resampling.replicates)  # draws them all
        for output_number, output in enumerate(outputs):
            row_ranges = RowRangeReduction(
                store, output, row_statistics, slice_pass.n_slices, n_threads, all_rows=slice_pass.all_rows
            )
            for (statistic, slice_number), states in replicate_row_ranges(row_ranges, weights, advance).items():
                replicates[statistic, output_number, slice_number] = ReplicateStates(states)
    for output_number, output in enumerate(outputs) if statistics else ():
        reductions = OutputReduction(store, output, is_weighted, statistics, n_threads)
        of_output: dict[Any, Any] = {}
        replicate = partial(
            replicate_scores, unit_buckets=unit_buckets, seed=resampling.seed, replicates=resampling.replicates,
            advance=advance,
        )  # fmt: skip
        for slices in slice_pass.slice_counts():
            of_output |= reductions.reduce(partial(replicate, n_slices=slices))
        of_output = join_replicates(statistics, reductions.n_classes, of_output, resampling.replicates)
        for (statistic, slice_number), states in of_output.items():
            replicates[statistic, output_number, slice_number] = ReplicateStates(states)
    return replicates


def empty_replicates(statistic: Any, replicates: int) -> Any:
    """The replicates of a slice without rows."""
    if isinstance(statistic, (AdditiveStatistic, ColumnStatistic, GroupedStatistic)):
        return new_replicates(statistic, replicates)
    return ReplicateStates([statistic.empty()] * replicates)


def finalize_replicates(
    part: PartState,
    replicates: dict[Any, Any],
    n_replicates: int,
    metrics: tuple[Metric, ...] | None = None,
    slices: SliceRange = ALL_SLICES,
    advance: Advance | None = None,
) -> dict[ReplicateKey, np.ndarray]:
    """The values of some metrics, by default all, for every output and slice: one per replicate.

    The slices of the replicates, and those of the values, have their numbers outside the current pass.
    """
    values = {}
    metrics = part.plan.metrics if metrics is None else metrics
    own_numbers = (number for number in (None, *range(part.slice_pass.n_slices)) if slices.has(number))
    slice_numbers = list(map(part.slice_pass.outside, own_numbers))
    for output in range(len(part.outputs)):
        for slice_number in slice_numbers:
            for metric in metrics:
                own = [
                    replicates.get((statistic, output, slice_number)) or empty_replicates(statistic, n_replicates)
                    for statistic in metric.statistics()
                ]
                values[metric, output, slice_number] = finalize_metric(metric, own, n_replicates)
                if advance is not None:
                    # All of them together cost about as much as a pass over the rows.
                    advance(part.counts.rows_kept // (len(part.outputs) * len(slice_numbers) * len(metrics)))
    return values


def finalize_metric(metric: Metric, replicates: list[Any], n_replicates: int) -> np.ndarray:
    """The value of a metric in every replicate, from the replicates of each of its statistics."""
    found = find_many_values(metric, replicates)
    if found is None:
        return find_values(metric, replicates, n_replicates)
    values, asked = found
    missing = np.flatnonzero(asked)
    if missing.shape[0]:
        values[missing] = find_values(metric, [own.of_some(missing) for own in replicates], missing.shape[0])
    return values


def find_values(metric: Metric, replicates: list[Any], n_replicates: int) -> np.ndarray:
    """The values of all replicates, one by one."""
    states = zip(*(own.states() for own in replicates), strict=True)
    return np.fromiter((metric.finalize(*own).value for own in states), np.float64, n_replicates)


def find_many_values(metric: Metric, replicates: list[Any]) -> tuple[np.ndarray, np.ndarray] | None:
    """The values of all replicates at once, and a mask of those to be found alone; None if none can be found so."""
    if not metric.has_many or not all(isinstance(own, AdditiveReplicates) for own in replicates):
        return None
    step = min(own.step for own in replicates)
    steps = zip(*(own.many(step) for own in replicates), strict=True)
    values, asked = zip(*(metric.finalize_many(*states) for states in steps), strict=True)
    return np.concatenate(values), np.concatenate(asked)


def standard_deviation(values: np.ndarray) -> float:
    """The standard deviation of two or more finite values, also of those whose squares are beyond float64."""
    greatest = float(np.abs(values).max())
    if greatest < GREATEST_SQUARED:
        return float(values.std(ddof=1))
    return float((values / greatest).std(ddof=1)) * greatest


def make_interval(
    value: Value, values: np.ndarray | None, unit_buckets: UnitBuckets, resampling: Resampling, scale: str = "real"
) -> Interval:
    """The interval of a value from its replicates, on a scale. If there is none, coverage has the reason."""
    coverage: dict[str, Any] = {"unit_buckets": unit_buckets.n_buckets}
    if math.isnan(value.value) or values is None:
        return Interval(None, None, coverage | {"interval": UNDEFINED})
    if unit_buckets.n_units < 2:
        return Interval(None, None, coverage | {"interval": "one unit alone: two or more are needed"})
    defined = values[~np.isnan(values)]
    undefined = values.shape[0] - defined.shape[0]
    if undefined:
        coverage["undefined_replicates"] = undefined
    if undefined > MAX_UNDEFINED_SHARE * values.shape[0]:
        reason = f"{undefined:,} of {values.shape[0]:,} replicates are undefined"
        return Interval(None, None, coverage | {"interval": reason})
    if not np.isfinite(defined).all():
        return Interval(None, None, coverage | {"interval": "replicates are infinite"})
    error = standard_deviation(defined) if defined.shape[0] > 1 else None
    if resampling.method == "normal":
        if error is None:
            return Interval(None, None, coverage | {"interval": "a standard deviation needs two replicates"})
        width = two_sided_quantile(resampling.level) * error
        ends = value.value - width, value.value + width
    else:
        tail = (1 - resampling.level) / 2
        ends = np.quantile(defined, (tail, 1 - tail)).tolist()
    low, high = SCALES[scale].cut(*ends)
    if error is not None and not low < high:
        return Interval(None, error, coverage | {"interval": EQUAL_REPLICATES})
    return Interval((low, high), error, coverage)
