"""The states of a part and the intervals of its metrics, by the method that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastmetrics._core.comparison.win_counts import (
    GroupValues,
    PairedGroupValues,
    WinCounts,
    WinKey,
    group_values_of,
    wins_of_metrics,
)
from fastmetrics._core.group_accumulators import MergedStates
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.resampling.additive_replicates import (
    GroupsAndMore,
    JackknifeUnits,
    MarkedReplicateAccumulators,
    ReplicatesOf,
)
from fastmetrics._core.resampling.group_entries import EntriesOfGroups, EntryAccumulators
from fastmetrics._core.resampling.replicate_weights import ReplicateWeights
from fastmetrics._core.resampling.resampling_units import UnitCounter
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.plan.metric_plan import Plan
from fastmetrics.engine.plan.resampling_options import DELONG, Resampling
from fastmetrics.engine.scan.group_units import find_units
from fastmetrics.engine.scan.intervals import AnalyticIntervals, MetricReplicates, fits_in_one_pass, resample
from fastmetrics.engine.scan.linearized import ErrorsOfValues, LinearizedIntervals, divide_metrics, linearize
from fastmetrics.engine.scan.paired_models import test_rows
from fastmetrics.engine.scan.read_log import Progress
from fastmetrics.engine.scan.resolve import FinalStates, resolve
from fastmetrics.engine.scan.slice_entries import entries_of_groups
from fastmetrics.engine.scan.unit_wins import count_wins

Intervals = MetricReplicates | AnalyticIntervals | LinearizedIntervals


def resolve_intervals(
    part: PartState, resampling: Resampling, n_threads: int, progress: Progress | None, last: bool = True
) -> tuple[FinalStates, Intervals]:
    """Resolve a part: the states of all statistics, and the intervals of all metrics. `last` is that of `resolve`."""
    if resampling.method == DELONG:
        states = resolve(part, n_threads, progress, last)
        tests = test_rows(part, resampling.level, n_threads) if resampling.in_pairs else None
        return states, AnalyticIntervals(states, resampling, tests)
    if not part.counts.rows_kept:
        return resolve(part, n_threads, progress, last), intervals_without_rows(resampling)
    units = find_units(part, n_threads)
    unit_buckets, units_of = units
    plan = part.plan.without_plots()
    linearized, others = divide_metrics(plan.metrics, resampling)
    if not resampling.is_linearized:
        replicate_weights = ReplicateWeights(unit_buckets, resampling.seed, resampling.replicates)
        states, group_states = resolve_groups(part, plan.of(others), replicate_weights, units_of, n_threads, progress)
        found = resample(part, others, resampling, n_threads, units, group_states, progress)
        wins = count_wins(part, unit_buckets, n_threads) if resampling.in_pairs else None
        return states, found._replace(wins=wins)
    jackknife = JackknifeUnits(unit_buckets, len(part.slices))
    in_pairs = resampling.in_pairs
    states, of_groups, group_wins = resolve_group_entries(
        part, plan.of(linearized), jackknife, units_of, in_pairs, n_threads, progress
    )
    errors = linearize(
        part, linearized, states, units, resampling.level, in_pairs, n_threads, of_groups, progress
    )
    replicates = None
    if others:
        bootstrap = resampling.bootstrapped()._replace(in_pairs=False)
        replicates = resample(part, others, bootstrap, n_threads, units, None, progress)
    wins = count_wins(part, unit_buckets, n_threads, group_wins) if in_pairs else None
    return states, LinearizedIntervals(errors, jackknife, resampling, replicates, wins, units_of)


def intervals_without_rows(resampling: Resampling) -> Intervals:
    """The intervals of metrics of no rows: there are none."""
    buckets = UnitCounter().unit_buckets()
    if resampling.is_linearized:
        return LinearizedIntervals(ErrorsOfValues.empty(resampling.level), JackknifeUnits(buckets, 0), resampling)
    return MetricReplicates({}, buckets, resampling)


def resolve_groups(
    part: PartState,
    resampled: Plan,
    weights: ReplicateWeights,
    units_of: Any,
    n_threads: int,
    progress: Progress | None,
) -> tuple[FinalStates, dict[Any, Any] | None]:
    """The states of all statistics, and those of the resampled statistics of groups, from one reading of the groups.

    The second are None if they do not fit into memory together, or if there are none.
    """
    if not resampled.needs("hash") or not fits_in_one_pass(part, resampled, weights.replicates, n_threads):
        return resolve(part, n_threads, progress, last=False), None
    statistics_of_units = set(resampled.statistics["hash"])

    def new_states(statistics: Sequence[Any]) -> GroupsAndMore:
        selected = [statistic for statistic in statistics if statistic in statistics_of_units]
        return GroupsAndMore(statistics, [MarkedReplicateAccumulators(selected, weights, units_of)])

    states = resolve(part, n_threads, progress, False, new_states, lists_all=True)
    keys = [key for key in states.by_key if isinstance(key[0], ReplicatesOf)]
    return states, {(key[0].statistic, key[1], key[2]): states.by_key.pop(key) for key in keys}


class GroupsResolved(NamedTuple):
    """The states of all statistics; the entries of linearized ones of groups, if they fit; groups won, if asked for."""

    states: FinalStates
    entries: EntriesOfGroups | None
    wins: dict[WinKey, WinCounts] | None


def resolve_group_entries(
    part: PartState,
    linearized: Plan,
    units: JackknifeUnits,
    units_of: Any,
    in_pairs: bool,
    n_threads: int,
    progress: Progress | None,
) -> GroupsResolved:
    """The states of all statistics and, from the same reading of the groups, entries and wins."""
    entries = entries_of_groups(part, linearized, units, len(part.slices))
    metrics = part.plan.metrics
    compared = list(group_values_of(metrics)) if in_pairs else []

    def new_states(statistics: Sequence[Any]) -> GroupsAndMore:
        others: list[MergedStates] = []
        if entries is not None:
            selected = [statistic for statistic in statistics if statistic in linearized.statistics["hash"]]
            others.append(EntryAccumulators(selected, units, units_of, entries))
        values = [own for own in compared if own.statistic in statistics]
        if values:
            others.append(PairedGroupValues(values, part.outputs))
        return GroupsAndMore(statistics, others)

    states = resolve(part, n_threads, progress, False, new_states)
    found = {key: states.by_key.pop(key) for key in list(states.by_key) if isinstance(key[0], GroupValues)}
    return GroupsResolved(states, entries, wins_of_metrics(metrics, found) if in_pairs else None)
