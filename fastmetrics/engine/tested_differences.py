"""Differences of models in a log: their values, tests and win counts. `compare` reads the log and calls it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import LABEL, SCORE, SLICE, Output, label_name, names_of, score_name
from fastmetrics._core.comparison.comparison import Difference
from fastmetrics._core.comparison.win_counts import (
    UTILITY,
    WinCounts,
    WinKey,
    count_group_wins,
    count_unit_wins,
    count_wins_of_counted_rows,
    has_group_values,
    has_unit_values,
)
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import Metric
from fastmetrics._core.resampling.resampling_units import HASH_BITS, MAX_UNIT_BUCKETS
from fastmetrics._core.resampling.row_replicates import RowReduction
from fastmetrics._core.statistic import Value
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.slice_passes import iterate_passes, slice_sets
from fastmetrics.engine.plan.column_names import Key, format_key
from fastmetrics.engine.plan.metric_plan import Plan, list_metric_names
from fastmetrics.engine.plan.resampling_options import DELONG, Resampling
from fastmetrics.engine.scan.intervals import MetricReplicates, make_interval, resolve_intervals
from fastmetrics.engine.scan.read_log import Progress
from fastmetrics.engine.scan.resolve import FinalStates

ROUNDING = 8 * float(np.finfo(np.float64).eps)
NO_DIFFERENCE = "no difference, in no replicate either"
SAME_DIFFERENCE = "the same difference in every replicate: without spread nothing can be said of chance"
NO_ROW_DIFFERS = "no difference, at no row either"


class TestedDifference(NamedTuple):
    """The interval and the p-value of a difference, or the reason why there are none."""

    bounds: tuple[float, float] | None
    standard_error: float | None
    pvalue: float
    reason: str | None = None


UNTESTED = TestedDifference(None, None, math.nan)


class ComparisonScan(NamedTuple):
    """What a scan of the log gave: final states, tests of differences, and win counts.

    Differences are tested by `replicates` of all values. Without resampling, `analytic_tests` has their tests already.
    """

    part: PartState
    group: Key | None
    states: FinalStates
    resampling: Resampling
    replicates: MetricReplicates | None
    analytic_tests: Mapping[WinKey, TestedDifference]
    win_counts: Mapping[WinKey, WinCounts]


def compare_part(
    part: PartState, group: Key | None, resampling: Resampling, n_threads: int, progress: Progress | None
) -> ComparisonScan:
    """Resolve a part, and test the differences of its metrics. `group` is the group of the caller."""
    states, intervals = resolve_intervals(part, resampling, n_threads, progress)
    if isinstance(intervals, MetricReplicates):
        wins = count_wins(part, intervals, n_threads)
        return ComparisonScan(part, group, states, resampling, intervals, {}, wins)
    return ComparisonScan(part, group, states, resampling, None, test_rows(part, resampling.level, n_threads), {})


def count_wins(part: PartState, replicates: MetricReplicates, n_threads: int) -> dict[WinKey, WinCounts]:
    """Win counts: of groups for metrics of groups, of units for metrics that are sums, if units are few."""
    wins: dict[WinKey, WinCounts] = {}
    if part.counts.rows_kept and part.group_exchange is not None:
        wins |= count_group_wins(
            part.group_exchange, part.plan.metrics, part.outputs, slice_sets(part.slices), n_threads,
            part.reader.key_texts.rank(),
        )  # fmt: skip
    for slice_pass in iterate_passes(part) if part.counts.rows_kept else ():
        wins |= slice_pass.rename(count_unit_wins_of_view(part, replicates, n_threads))
    return wins


def count_unit_wins_of_view(part: PartState, replicates: MetricReplicates, n_threads: int) -> dict[WinKey, WinCounts]:
    """The win counts of units, of the slices of one pass over the rows."""
    wins: dict[WinKey, WinCounts] = {}
    metrics = part.plan.metrics
    n_slices = part.slice_pass.n_slices
    of_sums = [metric for metric in metrics if has_unit_values(metric)]
    buckets, outputs = replicates.unit_buckets, part.outputs
    if buckets.bits != HASH_BITS or not of_sums:
        return wins
    if part.counted_rows is not None:
        wins |= count_wins_of_counted_rows(part.counted_rows, of_sums, outputs, n_slices, buckets)
    elif part.unit_exchange is not None:
        statistics = tuple(dict.fromkeys(statistic for metric in of_sums for statistic in metric.statistics()))
        reduction = RowReduction(statistics, outputs, n_slices, part.score_epsilons)
        wins |= count_unit_wins(part.unit_exchange.store, of_sums, reduction, buckets, n_threads)
    return wins


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


def test_rows(part: PartState, level: float, n_threads: int) -> dict[WinKey, TestedDifference]:
    """Test differences by a formula over the rows of two models, all of them in memory."""
    tested: dict[WinKey, TestedDifference] = {}
    for slice_pass in iterate_passes(part) if part.counts.rows_kept else ():
        tested |= slice_pass.rename(test_rows_of_pass(part, level, n_threads))
    return tested


def test_rows_of_pass(part: PartState, level: float, n_threads: int) -> dict[WinKey, TestedDifference]:
    """The tests of the slices of one pass over the rows."""
    tested: dict[WinKey, TestedDifference] = {}
    store = part.range_store()
    names = [*names_of(store.moved_types, LABEL, SCORE), *(name for name in (SLICE,) if name in store.moved_types)]
    columns = store.load_partitions(names, 0, store.n_partitions).columns
    baselines: dict[int, Output] = {}
    for output_number, output in enumerate(part.outputs):
        baseline = baselines.setdefault(output.label, output)
        if baseline is output:
            continue
        all_rows = (None,) if part.slice_pass.all_rows else ()
        for slice_number in (*all_rows, *range(part.slice_pass.n_slices)):
            where = slice(None) if slice_number is None else columns[SLICE] == slice_number
            labels, before, after = (
                np.ascontiguousarray(columns[name][where])
                for name in (label_name(output.label), score_name(baseline.score), score_name(output.score))
            )
            for metric in part.plan.metrics:
                key = (metric, output_number, slice_number)
                result = metric.compare_rows(level, labels, before, after, n_threads)
                if isinstance(result, str):  # the reason why there is no test
                    tested[key] = TestedDifference(None, None, math.nan, result)
                    continue
                low, high, error, pvalue = result
                tested[key] = TestedDifference((low, high), error, pvalue, None if error else NO_ROW_DIFFERS)
    return tested


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
    compared: ComparisonScan, slice_number: int | None, slice_values: Mapping[str, Any]
) -> Iterator[Difference]:
    """The differences of a slice: every metric of every model but the baseline."""
    n_scores = len(compared.part.names.scores)
    for output in range(len(compared.part.outputs)):
        if output % n_scores:
            baseline_output = output - output % n_scores
            for metric in compared.part.plan.metrics:
                yield make_difference(compared, metric, (baseline_output, output), slice_number, slice_values)


def make_difference(
    compared: ComparisonScan,
    metric: Metric,
    outputs: tuple[int, int],
    slice_number: int | None,
    slice_values: Mapping[str, Any],
) -> Difference:
    """The difference of a metric between two models, given by their outputs, in a slice."""
    names, resampling, replicates = compared.part.names, compared.resampling, compared.replicates
    baseline, other = (names.score_of(compared.part.outputs[output]) for output in outputs)
    before, after = (
        metric.finalise(*compared.states.select(metric.statistics(), output, slice_number)) for output in outputs
    )
    change = after.value - before.value
    reasons = [f"{name}: {value.reason}" for name, value in ((baseline, before), (other, after)) if value.reason]
    key = (metric, outputs[1], slice_number)
    tested = compared.analytic_tests.get(key, UNTESTED)
    if replicates is not None:
        values = [replicates.values.get((metric, output, slice_number)) for output in outputs]
        tested = test_replicates(change, values[0], values[1], replicates)
    reasons += [tested.reason] if tested.reason and not reasons else []
    wins = compared.win_counts.get(key)
    signature = f"{metric.signature(before.coverage, names.weight)}{resampling.signature_suffix}"
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
        label=names.label_of(compared.part.outputs[outputs[0]]) or None,
        won=None if wins is None else wins.won,
        lost=None if wins is None else wins.lost,
        tied=None if wins is None else wins.tied,
        n_units=count_units(compared, before, slice_number),
        method=describe_test(resampling),
        signature=f"{signature}|difference:{other}-{baseline}",
        reason="; ".join(reasons) or None,
    )


def count_units(compared: ComparisonScan, value: Value, slice_number: int | None) -> int | None:
    """The number of units. It is known for groups; other units are only counted for all rows, and if they are few."""
    if compared.resampling.unit in (compared.group, compared.part.names.group) and "groups" in value.coverage:
        return int(value.coverage["groups"])
    if compared.replicates is None:
        return value.coverage.get("rows")
    buckets = compared.replicates.unit_buckets
    return buckets.n_units if slice_number is None and buckets.bits == HASH_BITS else None


def describe_test(resampling: Resampling) -> str:
    """The test in words."""
    if resampling.method == DELONG:
        return "DeLong's test of independent rows, two-sided"
    return f"{resampling.replicates:,} paired replicates by {format_key(resampling.unit)}, two-sided"


def explain_missing_counts(plan: Plan, replicates: MetricReplicates | None) -> Iterator[str]:
    """The reasons why some metrics have no counts of units won, lost and tied."""
    reasons: dict[str, list[Metric]] = {}
    for metric in plan.metrics:
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
        elif exchange == "none" and replicates is not None and replicates.unit_buckets.bits != HASH_BITS:
            reasons.setdefault(f"there are more than {MAX_UNIT_BUCKETS:,} units", []).append(metric)
    for reason, metrics in reasons.items():
        yield f"units won and lost are not counted for {list_metric_names(tuple(metrics))}: {reason}"
