"""The tasks that Spark runs on executors: rows in, outcomes out. `dataframe.py` on the driver starts them.

Spark pickles the functions by name, so they have to stay functions of this module. An outcome is a row of an Arrow
batch: its kind, a key for the shuffle of shards, and its pickled content.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from typing import Any

from fastmetrics._core.columns.validation import InputError
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.engine.input.batches import BATCH_ROWS, TEXT_BATCH_ROWS, resize_batches
from fastmetrics.engine.partitions.partition_scan import count_units, rescan_ranges, scan_partition
from fastmetrics.engine.partitions.partition_state import PartitionResampling, PartitionState, RangeTotals
from fastmetrics.engine.partitions.range_rows import ScoreRangeShard
from fastmetrics.engine.partitions.range_shards import RangeShards
from fastmetrics.engine.plan.column_names import ColumnNames
from fastmetrics.engine.plan.metric_plan import make_plan
from fastmetrics.engine.plan.plan_parts import PlanPart
from fastmetrics.engine.plan.resampling_options import Resampling, add_interval_statistics
from fastmetrics.engine.scan.log_scan import make_memory_budget
from fastmetrics.spark.plugins import NO_PLUGINS, Plugins, dumps

SHUFFLE_KEY = "shuffle_key"
OUTCOME_SCHEMA = f"kind string, {SHUFFLE_KEY} long, payload binary"
PARTITION, SHARD, RANGE, UNITS, ERROR = "partition", "shard", "range", "units", "error"
N_RANGES = 64  # of a score column
# Errors of the data are returned as outcomes: Spark would retry a task that raises, which does not help.
DATA_ERRORS = (InputError, ValueError, TypeError, OverflowError, OSError)


class PassOptions(NamedTuple):
    """The parameters of a pass, as executors receive them.

    `parts` are the metric strings and the columns of all parts of the plan. The pass computes part `number`.
    `cuts` divide each score column into ranges. `totals` are those of all ranges; the first pass has none
    yet. `in_one_pass` is True if the ranges can be resolved without them. `n_classes` is the number of probabilities of
    a row.
    """

    parts: list[tuple[list[str], ColumnNames]]
    number: int
    on_invalid: str
    memory_limit: int | None
    spill_dir: str | None
    totals: RangeTotals
    cuts: list[list[float]]
    in_one_pass: bool
    resampling: Resampling | None = None
    partition_resampling: PartitionResampling | None = None
    plugins: Plugins = NO_PLUGINS
    n_classes: int = 0

    @property
    def names(self) -> ColumnNames:
        """The columns of the part."""
        return self.parts[self.number][1]

    def plan_parts(self) -> list[PlanPart]:
        """All parts, with the statistics of intervals that do not resample."""
        self.plugins.load()
        return [
            PlanPart(add_interval_statistics(make_plan(metrics, (names.model_role,)), self.resampling), names)
            for metrics, names in self.parts
        ]

    def columns(self) -> list[str]:
        """The columns to read: those of all parts, by which rows are selected."""
        return list(dict.fromkeys(name for _, names in self.parts for name in names.distinct_columns))

    def alias(self, name: str) -> str:
        """The name of a column while Spark moves it: any original name works."""
        return f"column_{self.columns().index(name)}"

    def memory_budget(self) -> MemoryBudget:
        import os

        return make_memory_budget(self.memory_limit, self.spill_dir, 1, os.cpu_count() or 1)

    def batch_rows(self) -> int:
        """The greatest number of rows of a batch that is concatenated from small batches."""
        self.plugins.load()
        has_long_values = any(make_plan(metrics).has_long_values for metrics, _ in self.parts)
        return TEXT_BATCH_ROWS if has_long_values else BATCH_ROWS

    def has_shards(self) -> bool:
        """Does the pass shuffle shards of score ranges?"""
        if not self.cuts:
            return False
        return bool(self.in_one_pass or self.totals.known or self.partition_resampling is not None)

    def scan(self, batches: Iterable[Any]) -> Iterator[PartitionState | ScoreRangeShard | None]:
        """The state of a partition, and its shards of score ranges."""
        parts, budget = self.plan_parts(), self.memory_budget()
        if self.totals.known:
            yield from rescan_ranges(parts, self.number, self.on_invalid, batches, budget, self.cuts, self.n_classes)
        else:
            yield from scan_partition(
                parts, self.number, self.on_invalid, batches, budget, self.cuts, self.in_one_pass,
                self.partition_resampling, self.n_classes,
            )  # fmt: skip

    def encode(self, kind: str, content: Any, shuffle_key: int = 0) -> Any:
        """An outcome."""
        return outcome_batch(kind, shuffle_key, dumps(content, self.plugins))

    def renamed(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The batches with the original names of the columns instead of their aliases."""
        names = self.columns()
        return resize_batches((batch.rename_columns(names) for batch in batches), self.batch_rows())


def count_partition_units(options: PassOptions, batches: Iterator[Any]) -> Iterator[Any]:
    """The rows of a partition in; its resampling units out."""
    try:
        units = count_units(options.plan_parts(), options.number, options.on_invalid, options.renamed(batches))
        yield options.encode(UNITS, units)
    except DATA_ERRORS as error:
        yield encode_error(error)


def scan_partition_rows(options: PassOptions, batches: Iterator[Any]) -> Iterator[Any]:
    """The rows of a partition in; its state and its shards of score ranges out."""
    try:
        for result in options.scan(options.renamed(batches)):
            if isinstance(result, ScoreRangeShard):
                yield options.encode(SHARD, tuple(result), result.score * (N_RANGES + 1) + result.range_number)
            elif result is not None:
                yield options.encode(PARTITION, result)
    except DATA_ERRORS as error:
        yield encode_error(error)


def resolve_shards(options: PassOptions, batches: Iterator[Any]) -> Iterator[Any]:
    """All shards of some ranges in; the states of these ranges out. Other outcomes are passed on."""
    try:
        plan, names = options.plan_parts()[options.number]
        shards = RangeShards(
            plan, names, options.memory_budget(), options.totals, options.partition_resampling, options.n_classes
        )
        for batch in batches:
            for kind, _, payload in zip(*batch.to_pydict().values(), strict=True):
                if kind == SHARD:
                    shards.add(ScoreRangeShard(*pickle.loads(payload)))
                else:
                    yield outcome_batch(kind, 0, payload)
        for score_number, state in shards.resolve():
            yield options.encode(RANGE, (score_number, state))
    except DATA_ERRORS as error:
        yield encode_error(error)


def encode_error(error: Exception) -> Any:
    """An outcome for an error of the data. The message names the partition in which rows are counted."""
    from pyspark import TaskContext

    context = TaskContext.get()
    place = "" if context is None else f" (rows are counted within Spark partition {context.partitionId()})"
    number = next(number for number, error_class in enumerate(DATA_ERRORS) if isinstance(error, error_class))
    return outcome_batch(ERROR, 0, pickle.dumps((number, f"{error}{place}")))


def outcome_batch(kind: str, shuffle_key: int, payload: bytes) -> Any:
    import pyarrow

    columns = [pyarrow.array([kind]), pyarrow.array([shuffle_key]), pyarrow.array([payload], pyarrow.binary())]
    return pyarrow.RecordBatch.from_arrays(columns, names=["kind", SHUFFLE_KEY, "payload"])


def read_outcomes(table: Any) -> list[tuple[str, Any]]:
    """Kind and content of all outcomes, on the driver. Raises the first error."""
    contents = [(kind, pickle.loads(payload)) for kind, _, payload in zip(*table.to_pydict().values(), strict=True)]
    for kind, content in contents:
        if kind == ERROR:
            number, text = content
            raise DATA_ERRORS[number](text)
    return contents
