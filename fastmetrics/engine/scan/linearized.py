"""Linearized intervals: what leaving a unit out changes of each value, and the errors that follow from it.

Additive statistics, of rows and of groups, keep their states by entry of the table of units, and a metric's finalizer
is asked for the value without each entry. Metrics of the order of scores have the influence of every row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.comparison.win_counts import WinCounts
from fastmetrics._core.grouping import grouped
from fastmetrics._core.inference.anytime import find_anytime_interval
from fastmetrics._core.inference.calibration_error import calibration_interval
from fastmetrics._core.inference.difference_tests import BEST_VALUES
from fastmetrics._core.inference.errors import ErrorEstimate, without_rounding
from fastmetrics._core.inference.intervals import ConfidenceInterval, find_interval, interval_of_reach
from fastmetrics._core.metric_spec import SCALES, BinErrors, ClassesInfluence, PairInfluence, ScoreInfluence
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import Metric
from fastmetrics._core.resampling.additive_replicates import JackknifeStates, JackknifeUnits, SliceRange
from fastmetrics._core.resampling.contributions import Contributions
from fastmetrics._core.resampling.group_entries import EntriesOfGroups
from fastmetrics._core.resampling.resampling_units import UnitBuckets
from fastmetrics._core.state import Sums
from fastmetrics._core.statistic import AdditiveStatistic, ColumnStatistic, GroupedStatistic, Resamplable, Value
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.slice_passes import iterate_passes
from fastmetrics.engine.partial.slices_and_rests import PairedSlices
from fastmetrics.engine.plan.resampling_options import Resampling
from fastmetrics.engine.scan.contributions_by_score import KnownClasses, ScoreContributions, join_classes
from fastmetrics.engine.scan.found_interval import Interval
from fastmetrics.engine.scan.group_units import UnitsOfGroups
from fastmetrics.engine.scan.intervals import (
    UNDEFINED,
    MetricReplicates,
    ReplicateKey,
    finalize_metric,
    find_many_values,
)
from fastmetrics.engine.scan.read_log import Progress
from fastmetrics.engine.scan.resolve import FinalStates, ProgressCounter
from fastmetrics.engine.scan.slice_entries import EntryStates, entries_of_slices

ENTRIES_AT_A_TIME = 1 << 16  # of slices whose values are found together, in cache
BIASED = "the value is too high on average, and no interval corrects that for many looks: ask for another ci_method"
NO_LINEARIZED = "the metric has no linearized interval: ask for ci_method='bootstrap'"


def has_linearized(metric: Metric) -> bool:
    """Has a metric linearized intervals?"""
    if metric.no_interval is not None:
        return False
    if metric.spec.exchange == "range":
        return isinstance(metric.influence, (ScoreInfluence, ClassesInfluence, PairInfluence))
    return metric.group_stat is None and all(map(adds_up, metric.statistics()))


def why_not_linearized(metric: Metric) -> str:
    """Why a metric has no linearized intervals, and what to do."""
    reason = reason_to_resample(metric)
    if reason is None:
        return NO_LINEARIZED
    return f"the metric has no linearized interval, because {reason}: ask for ci_method='bootstrap'"


def reason_to_resample(metric: Metric) -> str | None:
    """Why units are resampled for a metric; None if its definition does not say."""
    if metric.group_stat is not None:
        is_share = metric.group_stat.name == "below"
        return "groups are counted by their values" if is_share else "a quantile over groups moves by steps"
    return metric.influence if isinstance(metric.influence, str) else None


def adds_up(statistic: Any) -> bool:
    """Is the state of a statistic a sum over units, of constant size, or a table of counts?"""
    if isinstance(statistic, Resamplable):
        return True
    if not isinstance(statistic, (AdditiveStatistic, ColumnStatistic, GroupedStatistic)):
        return False
    state = statistic.empty()
    return isinstance(state, Sums)


def divide_metrics(metrics: Sequence[Metric], resampling: Resampling) -> tuple[tuple[Metric, ...], tuple[Metric, ...]]:
    """The metrics whose intervals are linearized, and those of which units are resampled."""
    allowed = tuple(metric for metric in metrics if metric.no_interval is None)
    if not resampling.is_linearized:
        return (), allowed
    linearized = tuple(filter(has_linearized, allowed))
    others = tuple(own for own in allowed if own not in linearized)
    return linearized, others if resampling.falls_back else ()


class PairErrors(NamedTuple):
    """The errors of the difference of two values and, if their distances from a best value are compared, of the sum."""

    difference: ErrorEstimate
    total: ErrorEstimate | None


class ErrorsOfValues(NamedTuple):
    """The errors of values and, of models in pairs, of their differences, by metric, output and slice.

    The difference of an output is that from its baseline; with `pairs`, that of each slice from the first of its pair.
    `of_bins` are the intervals of sums of the sizes of errors, at the level; `crossed` are the crossed distances of
    greatest ones.
    """

    of_values: dict[ReplicateKey, ErrorEstimate]
    of_differences: dict[ReplicateKey, PairErrors]
    of_bins: dict[ReplicateKey, ConfidenceInterval]
    crossed: dict[ReplicateKey, float]
    level: float
    pairs: PairedSlices | None
    waiting: dict[ReplicateKey, Contributions]  # of slices of which the other of the pair comes later

    @classmethod
    def empty(cls, level: float, slices: GroupingSets | None = None) -> ErrorsOfValues:
        return cls({}, {}, {}, {}, level, slices if isinstance(slices, PairedSlices) else None, {})

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
                self.of_bins[key], _ = calibration_interval(errors, changes[own.counted], own.n_effective, self.level)
            baseline = output - output % n_models if n_models else output
            if baseline != output and baseline in by_output:  # without a value it is not
                self.add_difference(key, by_output[baseline], own)
            if self.pairs is not None and (of_pair := self.pairs.slice_of(slice_number)) is not None:
                self.add_of_pair(key, own, of_pair)

    def add_difference(self, key: ReplicateKey, before: Contributions, after: Contributions) -> None:
        total = after.plus(before).error() if key[0].direction in BEST_VALUES else None
        self.of_differences[key] = PairErrors(after.minus(before).error(), total)

    def add_of_pair(self, key: ReplicateKey, own: Contributions, slice_number: int) -> None:
        """Add the contributions to one slice of a pair: the difference is known with the other."""
        key_of_slice = (*key[:2], slice_number)
        other = self.waiting.pop(key_of_slice, None)
        if other is None:
            self.waiting[key_of_slice] = own
        else:
            self.add_difference(key_of_slice, *((other, own) if key == key_of_slice else (own, other)))

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
    units: JackknifeUnits
    resampling: Resampling
    others: MetricReplicates | None = None
    wins: Mapping[ReplicateKey, WinCounts] | None = None
    units_of: UnitsOfGroups | None = None

    @property
    def unit_buckets(self) -> UnitBuckets:
        return self.units.unit_buckets

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
                return Interval(None, None, {"interval": metric.no_interval or why_not_linearized(metric)})
            found = self.others.interval(metric, output, slice_number, value)
            reason = reason_to_resample(metric)
            if found.bounds is None or reason is None:
                return found
            return found._replace(coverage=found.coverage | {"interval": f"by the bootstrap, because {reason}"})
        error = without_rounding(self.of_units(error, slice_number), SCALES[metric.scale].size_of(value.value))
        ends, reason = self.find(metric, (metric, output, slice_number), value.value, error)
        coverage = {"units": error.n_units, **({} if reason is None else {"interval": reason})}
        if math.isnan(error.standard_error):
            return Interval(ends, None, coverage)
        return Interval(ends, error.standard_error, coverage, error)

    def of_units(self, error: ErrorEstimate, slice_number: int | None) -> ErrorEstimate:
        """An error with the number of units, which may share entries."""
        return error._replace(n_units=self.units.count_units(error.n_units, slice_number))

    def find(self, metric: Metric, key: ReplicateKey, value: float, error: ErrorEstimate) -> ConfidenceInterval:
        level, of_bins, crossed = self.resampling.level, self.errors.of_bins.get(key), self.errors.crossed.get(key)
        if self.resampling.tightest_at is not None:
            if of_bins is not None or crossed is not None:
                return ConfidenceInterval(None, BIASED)
            return find_anytime_interval(value, error, metric.scale, level, self.resampling.tightest_at)
        if of_bins is not None:
            is_rounding = of_bins.ends is not None and error.standard_error == 0
            return interval_of_reach(value, error, metric.scale, 0.0) if is_rounding else of_bins
        influence = metric.influence
        if crossed is not None and isinstance(influence, ScoreInfluence) and influence.interval is not None:
            found: ConfidenceInterval = influence.interval(value, crossed, error, level)
            return found
        return find_interval(value, error, metric.scale, level)


def linearize(
    part: PartState,
    metrics: Sequence[Metric],
    states: FinalStates,
    units: tuple[UnitBuckets, UnitsOfGroups | None],
    level: float,
    in_pairs: bool,
    n_threads: int,
    of_groups: EntriesOfGroups | None = None,
    progress: Progress | None = None,
) -> ErrorsOfValues:
    """The errors of metrics that have linearized intervals. `of_groups` are the entries of groups, if known."""
    unit_buckets, units_of = units
    jackknife = JackknifeUnits(unit_buckets, len(part.slices))
    errors = ErrorsOfValues.empty(level, part.slices)
    n_models = len(part.names.scores) if in_pairs else 0
    additive = tuple(metric for metric in metrics if metric.spec.exchange != "range")
    by_score = [metric for metric in metrics if metric.spec.exchange == "range"]
    plan = part.plan.of(additive)
    rest = plan if of_groups is None else plan.with_statistics(hash=())
    counter = ProgressCounter(progress, part.counts.rows_kept, part.counts.rows_kept, "linearize")
    known: KnownClasses = {}
    for slice_pass in iterate_passes(part):
        for slices, of_slices in entries_of_slices(part, plan, rest, jackknife, units_of, n_threads):
            found = of_slices.outside(slice_pass)
            if of_groups is not None:
                found.add_groups(of_groups)
            add_additive(errors, additive, part, states, found, jackknife, slices, n_models)
        if by_score:
            add_by_score(errors, by_score, part, states, jackknife, n_models, n_threads, known)
    counter.finish()
    return errors


def add_additive(
    errors: ErrorsOfValues,
    metrics: Sequence[Metric],
    part: PartState,
    states: FinalStates,
    entries: EntryStates,
    units: JackknifeUnits,
    slices: SliceRange,
    n_models: int,
) -> None:
    """Add the errors of metrics of additive statistics, of some slices of the current pass."""
    own_numbers = [number for number in range(part.slice_pass.n_slices) if slices.has(number)]
    if errors.pairs is not None:  # the two of a pair follow each other
        of_pairs = errors.pairs
        own_numbers.sort(key=lambda number: of_pairs.slice_of(part.slice_pass.outside(number)) or 0)
    step = max(1, ENTRIES_AT_A_TIME // units.n_entries(0))
    batches: list[list[int | None]] = [[None]] if slices.has(None) else []
    batches += [[*own_numbers[start : start + step]] for start in range(0, len(own_numbers), step)]
    for batch in batches:
        numbers = [part.slice_pass.outside(number) for number in batch]
        for metric in metrics:
            found: dict[int | None, dict[int, Contributions]] = {}
            for output in range(len(part.outputs)):
                for number, own in contributions_of_slices(metric, states, entries, output, numbers, units):
                    found.setdefault(number, {})[output] = own
            for number, by_output in found.items():
                errors.add(metric, number, by_output, n_models)


def contributions_of_slices(
    metric: Metric,
    states: FinalStates,
    entries: EntryStates,
    output: int,
    numbers: Sequence[int | None],
    units: JackknifeUnits,
) -> Iterator[tuple[int | None, Contributions]]:
    """The contributions to a metric in some slices; (None,) is all rows. Slices without a value have none."""
    statistics = metric.statistics()
    values = [metric.finalize(*states.select(statistics, output, number)).value for number in numbers]
    defined = [number for number, value in zip(numbers, values, strict=True) if not math.isnan(value)]
    if not defined:
        return
    own_values = np.array([value for value in values if not math.isnan(value)])
    one_by_one = isinstance(metric.influence, BinErrors) or any(isinstance(own, Resamplable) for own in statistics)
    step = 1 if one_by_one else len(defined)
    for start in range(0, len(defined), step):
        some = defined[start : start + step]
        own = [entries.find(statistic, output, some, units) for statistic in statistics]
        yield from zip(some, additive_contributions(metric, own_values[start : start + step], own), strict=True)


def add_by_score(
    errors: ErrorsOfValues,
    metrics: Sequence[Metric],
    part: PartState,
    states: FinalStates,
    units: JackknifeUnits,
    n_models: int,
    n_threads: int,
    known: KnownClasses,
) -> None:
    """Add the errors of metrics of the order of scores, of all slices of the current pass."""
    exchange = part.unit_exchange
    if exchange is None:
        return
    found: dict[Any, Contributions] = {}
    n_classes = part.counts.n_classes or 0
    sizes = part.slice_pass.slice_counts()
    asked = ScoreContributions(metrics, sizes, units, n_classes, known=known)
    for output_number, output in enumerate(part.outputs):
        is_weighted = part.names.weight is not None
        for what, slice_number, own in asked.find(exchange.store, output, is_weighted, n_threads):
            found[what, output_number, part.slice_pass.outside(slice_number)] = own
    errors.add_all(join_classes(metrics, states, found, n_classes), n_models)


def additive_contributions(
    metric: Metric, values: np.ndarray, states: Sequence[JackknifeStates]
) -> list[Contributions]:
    """The contributions of all entries of some slices to their values, which the finalizer finds without each entry."""
    used = np.flatnonzero(np.logical_or.reduce([own.used() for own in states]))
    n_entries, n_slices, n = states[0].n_entries, states[0].n_slices, used.shape[0]
    states = [own.of_some(used) for own in states]
    changes = values[used // n_entries] - finalize_metric(metric, list(states), n)
    # An entry counts if it changes the value, or has a value of its own.
    counted = changes != 0.0
    unchanged = np.flatnonzero(~counted)
    if unchanged.shape[0]:
        alone = [own.of_some(unchanged).of_entries() for own in states]
        many = find_many_values(metric, alone)
        own_values = finalize_metric(metric, list(alone), unchanged.shape[0]) if many is None else many[0]
        counted[unchanged] = ~np.isnan(own_values)
    of_slices = [spread(own, used, n_slices * n_entries).reshape(n_slices, n_entries) for own in (changes, counted)]
    found = [Contributions(own, is_counted, int(is_counted.sum())) for own, is_counted in zip(*of_slices, strict=True)]
    if not isinstance(metric.influence, BinErrors):
        return found
    whole, of_bins = errors_of_bins(metric.influence, states)  # of one slice
    return [found[0]._replace(of_bins=(whole, spread(of_bins, used, n_entries)))]


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
