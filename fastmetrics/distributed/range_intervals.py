"""What intervals need of a whole score column, whose rows come from several sources."""

from __future__ import annotations

from collections.abc import Sequence

from fastmetrics._core.columns.row_blocks import Output
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.row_ranges import split_statistics
from fastmetrics._core.group_accumulators import StateKey
from fastmetrics._core.registry import Metric
from fastmetrics._core.resampling.additive_replicates import JackknifeUnits
from fastmetrics._core.resampling.contributions import Contributions
from fastmetrics._core.resampling.resampling_units import UnitBuckets
from fastmetrics.distributed.score_columns import read_statistics
from fastmetrics.distributed.score_ranges import ScoreRangeReduction
from fastmetrics.distributed.unit_replicates import check_unit_hashes
from fastmetrics.engine.partial.slice_passes import SlicePass
from fastmetrics.engine.plan.metric_plan import plan_metrics
from fastmetrics.engine.plan.resampling_options import Resampling
from fastmetrics.engine.scan.contributions_by_score import ScoreContributions
from fastmetrics.engine.scan.intervals import ReplicateStates, replicate_stored_scores
from fastmetrics.engine.scan.linearized import divide_metrics

Replicates = dict[StateKey, ReplicateStates]
Entries = dict[StateKey, Contributions]


def intervals_of_pass(
    column: ScoreRangeReduction, slice_pass: SlicePass, *, resampling: Resampling, buckets: UnitBuckets
) -> tuple[Replicates, Entries]:
    """The replicates of the slices of a pass, and the contributions of units, each of some metrics."""
    if slice_pass.all_rows:
        check_unit_hashes((reader.load()[HASH] for reader in column.store.block_readers([HASH])), buckets)
    linearized, resampled = divide_metrics(column.part.plan.metrics, resampling)
    replicates = replicate_pass(column, slice_pass, resampled, resampling, buckets)
    return replicates, linearize_pass(column, slice_pass, linearized, buckets)


def replicate_pass(
    column: ScoreRangeReduction,
    slice_pass: SlicePass,
    metrics: tuple[Metric, ...],
    resampling: Resampling,
    buckets: UnitBuckets,
) -> Replicates:
    all_statistics, row_statistics = split_statistics(plan_metrics(metrics).statistics["range"])
    statistics = list(filter(column.score_column.has, read_statistics(all_statistics, column.decided.n_classes)))
    outputs = [Output(label, 0) for label in column.labels]
    return replicate_stored_scores(
        column.store, outputs, [*statistics, *row_statistics], column.is_weighted, slice_pass, buckets, resampling, 1
    )


def linearize_pass(
    column: ScoreRangeReduction, slice_pass: SlicePass, metrics: Sequence[Metric], buckets: UnitBuckets
) -> Entries:
    units = JackknifeUnits(buckets, column.decided.n_slices)
    metrics = [metric for metric in metrics if metric.spec.exchange == "range"]
    found: Entries = {}
    n_classes, has = column.decided.n_classes, column.score_column.has
    asked = ScoreContributions(metrics, slice_pass.slice_counts(), units, n_classes, has)
    for label in column.labels:
        for what, slice_number, own in asked.find(column.store, Output(label, 0), column.is_weighted, 1):
            found[what, label, slice_number] = own
    return found
