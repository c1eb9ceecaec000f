"""Linearized intervals: what leaving a unit out changes of each value, and the errors that follow from it.

Additive statistics, of rows and of groups, keep their states by entry of the table of units, and a metric's finaliser
is asked for the value without each entry. Metrics of the order of scores have the influence of every row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.comparison.win_counts import WinCounts
from fastmetrics._core.group_accumulators import StateKey
from fastmetrics._core.grouping import grouped
from fastmetrics._core.inference.anytime import find_anytime_interval
from fastmetrics._core.inference.calibration_error import calibration_interval
from fastmetrics._core.inference.difference_tests import BEST_VALUES
from fastmetrics._core.inference.errors import ErrorEstimate
from fastmetrics._core.inference.greatest_distance import distance_interval
from fastmetrics._core.inference.intervals import ConfidenceInterval, find_interval
from fastmetrics._core.metric_spec import BinErrors, ScoreInfluence
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import Metric
from fastmetrics._core.resampling.additive_replicates import JackknifeStates, JackknifeUnits, SliceRange, new_states
from fastmetrics._core.resampling.contributions import Contributions
from fastmetrics._core.resampling.entry_states import add_entries, fits_in_tables
from fastmetrics._core.resampling.resampling_units import UnitBuckets
from fastmetrics._core.resampling.row_replicates import RowReduction
from fastmetrics._core.score_statistics.score_contributions import (
    ScoredRows,
    find_score_contributions,
    find_score_masses,
)
from fastmetrics._core.state import Sums
from fastmetrics._core.statistic import AdditiveStatistic, ColumnStatistic, GroupedStatistic, Resamplable, Value
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.slice_passes import iterate_passes
from fastmetrics.engine.plan.metric_plan import Plan
from fastmetrics.engine.plan.resampling_options import Resampling
from fastmetrics.engine.scan.group_units import UnitsOfGroups
from fastmetrics.engine.scan.intervals import (
    UNDEFINED,
    Interval,
    MetricReplicates,
    ReplicateKey,
    finalise_metric,
    find_many_values,
    replicate_additive,
    split_slices_by_memory,
)
from fastmetrics.engine.scan.read_log import Progress
from fastmetrics.engine.scan.resolve import FinalStates, ProgressCounter

NO_LINEARIZED = "the metric has no linearized interval: ask for ci_method='bootstrap'"


def has_linearized(metric: Metric) -> bool:
    """Has a metric linearized intervals?"""
    if metric.no_interval is not None:
        return False
    if metric.spec.exchange == "range":
        return isinstance(metric.influence, ScoreInfluence)
    return metric.group_stat is None and all(map(adds_up, metric.statistics()))


def adds_up(statistic: Any) -> bool:
    """Is the state of a statistic a sum over units, of constant size?"""
    if not isinstance(statistic, (AdditiveStatistic, ColumnStatistic, GroupedStatistic)):
        return False
    if isinstance(statistic, Resamplable):
        return False
    state = statistic.empty()
    return isinstance(state, Sums) and not state.fields.maxima


def divide_metrics(metrics: Sequence[Metric], resampling: Resampling) -> tuple[tuple[Metric, ...], tuple[Metric, ...]]:
    """The metrics whose intervals are linearized, and those of which units are resampled."""
    if not resampling.is_linearized:
        return (), tuple(metrics)
    linearized = tuple(filter(has_linearized, metrics))
    others = tuple(own for own in metrics if own not in linearized and own.no_interval is None)
    return linearized, others if resampling.falls_back else ()


class PairErrors(NamedTuple):
    """The errors of the difference of two values and, if their distances from a best value are compared, of the sum."""

    difference: ErrorEstimate
    total: ErrorEstimate | None


class ErrorsOfValues(NamedTuple):
    """The errors of values and, of models in pairs, of their differences, by metric, output and slice.

    The difference of an output is that from its baseline. `of_bins` are the intervals of sums of the sizes of errors,
    at the level; `crossed` are the crossed distances of greatest ones.
    """

    of_values: dict[ReplicateKey, ErrorEstimate]
    of_differences: dict[ReplicateKey, PairErrors]
    of_bins: dict[ReplicateKey, ConfidenceInterval]
    crossed: dict[ReplicateKey, float]
    level: float

    @classmethod
    def empty(cls, level: float) -> ErrorsOfValues:
        return cls({}, {}, {}, {}, level)

    def add(
        self, metric: Metric, slice_number: int | None, by_output: Mapping[int, Contributions], n_models: int
    ) -> None:
        """Add the contributions to the values of all outputs; with `n_models` models, also those to differences."""
        for output, own in by_output.items():
            key = metric, output, slice_number
            self.of_values[key] = own.error()
            if own.crossed is not None:
                self.crossed[key] = own.crossed
            if own.of_bins is not None:
                errors, changes = own.of_bins
                self.of_bins[key], _ = calibration_interval(
                    errors, changes[own.counted], own.n_effective, self.level
                )
            baseline = output - output % n_models if n_models else output
            if baseline != output and baseline in by_output:  # without a value it is not
                before = by_output[baseline]
                total = own.plus(before).error() if metric.direction in BEST_VALUES else None
                self.of_differences[key] = PairErrors(own.minus(before).error(), total)

    def add_all(self, found: Mapping[ReplicateKey, Contributions], n_models: int) -> None:
        """Add the contributions to the values of several metrics, outputs and slices."""
        by_value = grouped(((metric, number), (output, own)) for (metric, output, number), own in found.items())
        for (metric, slice_number), by_output in by_value.items():
            self.add(metric, slice_number, dict(by_output), n_models)


class LinearizedIntervals(NamedTuple):
    """Linearized intervals of some metrics; `others` are the replicates of those that have none.

    `wins` are the units won and lost by models; `units_of` maps groups to units, if units are larger than groups.
    """

    errors: ErrorsOfValues
    unit_buckets: UnitBuckets
    resampling: Resampling
    others: MetricReplicates | None = None
    wins: Mapping[ReplicateKey, WinCounts] | None = None
    units_of: UnitsOfGroups | None = None

    def signature_suffix(self, metric: Metric) -> str:
        """The part of a value's signature that describes its interval."""
        if self.others is not None and not has_linearized(metric):
            return self.others.signature_suffix(metric)
        return self.resampling.signature_suffix

    def interval(self, metric: Metric, output: int, slice_number: int | None, value: Value) -> Interval:
        error = self.errors.of_values.get((metric, output, slice_number))
        if math.isnan(value.value):
            return Interval(None, None, {"interval": UNDEFINED})
        if error is None:
            if self.others is None or metric.no_interval is not None:
                return Interval(None, None, {"interval": metric.no_interval or NO_LINEARIZED})
            return self.others.interval(metric, output, slice_number, value)
        ends, reason = self.find(metric, (metric, output, slice_number), value.value, error)
        coverage = {"units": error.n_units, **({} if reason is None else {"interval": reason})}
        return Interval(ends, None if math.isnan(error.standard_error) else error.standard_error, coverage)


    def find(self, metric: Metric, key: ReplicateKey, value: float, error: ErrorEstimate) -> ConfidenceInterval:
        level, of_bins, crossed = self.resampling.level, self.errors.of_bins.get(key), self.errors.crossed.get(key)
        if of_bins is not None:
            return of_bins
        if crossed is not None:
            return distance_interval(value, crossed, error, level)
        if self.resampling.tightest_at is not None:
            return find_anytime_interval(value, error, metric.scale, level, self.resampling.tightest_at)
        return find_interval(value, error, metric.scale, level)


def linearize(
    part: PartState,
    metrics: Sequence[Metric],
    states: FinalStates,
    units: tuple[UnitBuckets, UnitsOfGroups | None],
    level: float,
    in_pairs: bool,
    n_threads: int,
    group_states: Mapping[Any, Any] | None = None,
    progress: Progress | None = None,
) -> ErrorsOfValues:
    """The errors of metrics that have linearized intervals. `group_states` are those of entries, if they are known."""
    unit_buckets, units_of = units
    jackknife = JackknifeUnits(unit_buckets, len(part.slices))
    errors = ErrorsOfValues.empty(level)
    n_models = len(part.names.scores) if in_pairs else 0
    additive = tuple(metric for metric in metrics if metric.spec.exchange != "range")
    by_score = [metric for metric in metrics if metric.spec.exchange == "range"]
    plan = part.plan.of(additive)
    rest = plan if group_states is None else plan.with_statistics(hash=())
    counter = ProgressCounter(progress, part.counts.rows_kept, part.counts.rows_kept, "linearize")
    for slice_pass in iterate_passes(part):
        for slices, of_slices in entries_of_slices(part, plan, rest, jackknife, units_of, n_threads):
            found = slice_pass.rename(of_slices) | dict(group_states or {})
            add_additive(errors, additive, part, states, found.get, jackknife, slices, n_models)
        if by_score:
            add_by_score(errors, by_score, part, jackknife, n_models, n_threads)
    counter.finish()
    return errors


def entries_of_slices(
    part: PartState,
    plan: Plan,
    rest: Plan,
    units: JackknifeUnits,
    units_of: UnitsOfGroups | None,
    n_threads: int,
) -> Iterator[tuple[SliceRange, dict[Any, JackknifeStates]]]:
    """The states of additive statistics by entry, of the current pass: of so many slices as fit into memory.

    `rest` is the plan without the states that are known.
    """
    if not plan.needs("none") and not plan.needs("hash"):
        return
    of_rows = states_of_entries(part, rest, units, n_threads)
    others = rest if of_rows is None else rest.with_statistics(none=())
    for slices in split_slices_by_memory(part, plan, units.n_entries(0), n_threads):
        yield slices, replicate_additive(part, others, units, units_of, n_threads, slices) | (of_rows or {})


def states_of_entries(
    part: PartState, plan: Plan, units: JackknifeUnits, n_threads: int
) -> dict[Any, JackknifeStates] | None:
    """The states of rows by entry, of the slices of the current pass; None if `replicate_additive` has to make them."""
    if part.unit_exchange is None or part.states_by_unit or not plan.needs("none"):
        return None  # no rows are stored, or only those of the first units
    store = part.unit_exchange.store
    found: dict[Any, JackknifeStates] = {}
    reductions = [
        RowReduction(plan.statistics["none"], part.outputs, n_slices, part.score_epsilons)
        for n_slices in part.slice_pass.slice_counts()
    ]
    if not all(fits_in_tables(store, own, units) for own in reductions):
        return None
    for reduction in reductions:
        found |= add_entries(store, reduction, units, n_threads)
    return found


def add_additive(
    errors: ErrorsOfValues,
    metrics: Sequence[Metric],
    part: PartState,
    states: FinalStates,
    find: Callable[[StateKey], JackknifeStates | None],
    units: JackknifeUnits,
    slices: SliceRange,
    n_models: int,
) -> None:
    """Add the errors of metrics of additive statistics, of some slices of the current pass.

    `find` returns the states of entries by statistic, output and slice; None if there are no rows.
    """
    own_numbers = (number for number in (None, *range(part.slice_pass.n_slices)) if slices.has(number))
    for slice_number in map(part.slice_pass.outside, own_numbers):
        for metric in metrics:
            by_output = {}
            for output in range(len(part.outputs)):
                value = metric.finalise(*states.select(metric.statistics(), output, slice_number)).value
                if not math.isnan(value):
                    own = [
                        find((statistic, output, slice_number)) or new_states(statistic, units, None, slice_number)
                        for statistic in metric.statistics()
                    ]
                    by_output[output] = additive_contributions(metric, value, own)
            errors.add(metric, slice_number, by_output, n_models)


def add_by_score(
    errors: ErrorsOfValues,
    metrics: Sequence[Metric],
    part: PartState,
    units: JackknifeUnits,
    n_models: int,
    n_threads: int,
) -> None:
    """Add the errors of metrics of the order of scores, of all slices of the current pass."""
    exchange = part.unit_exchange
    if exchange is None:
        return
    found: dict[ReplicateKey, Contributions] = {}
    for output_number, output in enumerate(part.outputs):
        rows = ScoredRows(exchange.store, output, part.names.weight is not None, n_threads)
        for metric, slice_number, own in contributions_by_score(rows, metrics, part.slice_pass.slice_counts(), units):
            found[metric, output_number, part.slice_pass.outside(slice_number)] = own
    errors.add_all(found, n_models)


def contributions_by_score(
    rows: ScoredRows, metrics: Sequence[Metric], sizes: Sequence[int], units: JackknifeUnits
) -> Iterator[tuple[Metric, int | None, Contributions]]:
    """The contributions to metrics of the order of scores: of all rows together (0), or of so many slices."""
    own = [(metric, metric.influence) for metric in metrics if isinstance(metric.influence, ScoreInfluence)]
    for masses in find_score_masses(rows, sizes) if own else ():
        for number, slice_number, found in find_score_contributions(masses, [influence for _, influence in own], units):
            yield own[number][0], slice_number, found


def additive_contributions(metric: Metric, value: float, states: Sequence[JackknifeStates]) -> Contributions:
    """The contributions of all entries to a value, which its finaliser finds without each of them."""
    used = np.flatnonzero(np.logical_or.reduce([own.used() for own in states]))
    n_entries, n = states[0].replicates, used.shape[0]
    states = [own.of_some(used) for own in states]
    changes = value - finalise_metric(metric, list(states), n)
    # An entry counts if it changes the value, or has a value of its own.
    counted = changes != 0.0
    unchanged = np.flatnonzero(~counted)
    if unchanged.shape[0]:
        alone = [own.of_some(unchanged).of_entries() for own in states]
        own_values = find_many_values(metric, alone)
        if own_values is None:
            own_values = finalise_metric(metric, list(alone), unchanged.shape[0])
        counted[unchanged] = ~np.isnan(own_values)
    found = Contributions(spread(changes, used, n_entries), spread(counted, used, n_entries), int(counted.sum()))
    if not isinstance(metric.influence, BinErrors):
        return found
    whole, of_bins = errors_of_bins(metric.influence, states)
    return found._replace(of_bins=(whole, spread(of_bins, used, n_entries)))


def spread(values: np.ndarray, entries: np.ndarray, n: int) -> np.ndarray:
    """The values of some of n entries; those of the others are 0."""
    found = np.zeros((n, *values.shape[1:]), values.dtype)
    found[entries] = values
    return found


def errors_of_bins(of_metric: BinErrors, states: Sequence[JackknifeStates]) -> tuple[np.ndarray, np.ndarray]:
    """The errors of all bins, and what leaving each entry out changes of them: float64[entries, bins]."""
    step = min(own.step for own in states)
    without = np.concatenate([of_metric.find(*own) for own in zip(*(own.many(step) for own in states), strict=True)])
    (whole,) = of_metric.find(*(own.of_all() for own in states))
    return whole, whole - without
