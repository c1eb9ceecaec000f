"""A log that is evaluated partition by partition, as on a cluster, and merged."""

import pickle

import pyarrow as pa
import pyarrow.parquet

from fastmetrics.engine.evaluation.evaluation import Evaluation
from fastmetrics.engine.partitions.partition_merger import PartitionMerger
from fastmetrics.engine.partitions.partition_scan import PartitionScan, PartPass
from fastmetrics.engine.partitions.partition_state import NO_TOTALS
from fastmetrics.engine.partitions.range_rows import ScoreRangeShard
from fastmetrics.engine.partitions.range_shards import RangeShards
from fastmetrics.engine.scan.final_report import ResolvedPart, ResolvedTask, make_report
from support.states.spilled_logs import slice_rows

OPTIONS = ("label", "score", "group", "weight", "by")


def ask(metrics, options):
    """The question of a log, and its plan."""
    question = Evaluation(metrics, **{name: options.get(name) for name in OPTIONS})
    return question, *question.plan()


def results_of_partition(parts, own, batches):
    """The state of a partition and its shards, pickled and read."""
    scan, first_row = PartitionScan(parts, [own], "raise", None), 0
    for batch in batches:
        scan.add(batch, first_row)
        first_row += batch.num_rows
    return [pickle.loads(pickle.dumps(found)) for _, found in scan.results()]


def merged_partitions(log, options, n_partitions, user):
    """As Spark evaluates, without Spark: a partition has all rows of its users, and scores are divided into ranges."""
    question, task = ask(options["metrics"], options)
    cuts = [[0.05, 0.2]] if task.plan.needs("range") else []
    parts = task.parts
    merger, ranges = PartitionMerger(parts[0], "raise"), RangeShards(parts[0], None, NO_TOTALS)
    partitions = []
    for number in range(n_partitions):
        rows = pa.table(slice_rows(log, log[user] % n_partitions == number))
        for found in results_of_partition(parts, PartPass(0, cuts), rows.to_batches(max_chunksize=100)):
            (ranges.add if isinstance(found, ScoreRangeShard) else partitions.append)(found)
    merger.add_partitions(partitions)
    merger.add_range_states([score_range for _, score_range in ranges.resolve()], 0)
    resolved = ResolvedTask(task, merger.log_scan, [ResolvedPart(merger.scan, merger.states)])
    return make_report([resolved], None, question)


def of_partitions(metrics, options, partitions):
    """As Spark evaluates metrics that need no exchange, without Spark: states of partitions are pickled and merged."""
    question, task = ask(metrics, options)
    parts = task.parts
    merger = PartitionMerger(parts[0], "raise")
    states = []
    for rows in partitions:
        batches = pa.table(rows).to_batches(max_chunksize=20)
        states += results_of_partition(parts, PartPass(), batches)
    merger.add_partitions(states)
    resolved = ResolvedTask(task, merger.log_scan, [ResolvedPart(merger.scan, merger.states)])
    return make_report([resolved], None, question)
