"""The main door: one scan of a log, every metric asked for, a report."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.by_group import UNKNOWN_ROWS, GroupExchange, GroupScratch, reduce_groups
from fastmetrics._core.by_score import bucket_blocks
from fastmetrics._core.inputs import check_seen_labels
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import Metric
from fastmetrics._core.rows import BLOCK_ROWS, Rows, Slab
from fastmetrics._core.statistic import Sums
from fastmetrics._version import __version__
from fastmetrics.engine.columns import ZERO_WEIGHT, Block, ColumnNames, Reader
from fastmetrics.engine.plan import Plan, make_plan
from fastmetrics.engine.report import Report, Result

Progress = Callable[[str, int, int | None], None]

SLAB_BLOCKS = 16
RELEASE_ROWS = 1 << 20  # how often Arrow is asked to give freed batches back to the system


class Worker:
    """One thread's states and memory during the scan."""

    def __init__(self, plan: Plan, block_rows: int) -> None:
        self.sums: list[Sums] = [statistic.new() for statistic in plan.statistics["none"]]
        self.slabs: dict[tuple[str, np.dtype], Slab] = {}
        self.scratch: GroupScratch | None = None
        self.block_rows = block_rows

    def group_scratch(self, rows: int, is_text: bool) -> GroupScratch:
        if self.scratch is None or self.scratch.destinations.shape[0] < rows:
            self.scratch = GroupScratch(max(rows, self.block_rows), is_text)
        return self.scratch

    def take(self, column: str, dtype: np.dtype, rows: int) -> np.ndarray:
        """Memory that stays after the scan."""
        key = (column, dtype)
        slab = self.slabs.get(key)
        if slab is None or not slab.has(rows):
            slab = self.slabs[key] = Slab(dtype, max(rows, SLAB_BLOCKS * self.block_rows))
        return slab.take(rows)


class Scan:
    """What a pass over the log collects: additive states, blocks for the exchanges, counts of rows read and dropped."""

    def __init__(self, plan: Plan, names: ColumnNames, on_invalid: str, expected_rows: int | None) -> None:
        self.plan = plan
        self.reader = Reader(names, on_invalid)
        self.expected_rows = UNKNOWN_ROWS if expected_rows is None else expected_rows
        self.block_rows = max(1, min(BLOCK_ROWS, self.expected_rows))
        self.idle: deque[Worker] = deque()
        self.workers: list[Worker] = []
        self.exchange: GroupExchange | None = None
        self.blocks: list[Rows] = []
        self.rows = 0
        self.kept = 0
        self.dropped: dict[str, int] = {}
        self.seen = 0
        self.minus_one_row: int | None = None

    def consume(self, batch: Any, first_row: int) -> Block:
        """Check a batch and feed it to everything that wants it. Called from several threads."""
        block = self.reader.read(batch, first_row)
        rows = block.rows
        if rows is None:
            return block
        try:
            worker = self.idle.popleft()
        except IndexError:
            worker = Worker(self.plan, self.block_rows)
            self.workers.append(worker)
        for statistic, state in zip(self.plan.statistics["none"], worker.sums, strict=True):
            statistic.update(state, rows)
        if self.exchange is not None and block.keys is not None:
            scratch = worker.group_scratch(rows.labels.shape[0], block.keys.is_text)
            block.keys.hash_block(0, block.keys.rows, scratch.keys)
            self.exchange.add(rows, scratch, worker.take)
        elif self.plan.needs("score"):
            self.blocks.append(keep(rows, worker.take))
        self.idle.append(worker)
        return block._replace(rows=None, keys=None)

    def prepare(self, batch: Any) -> None:
        """Decide, from the first batch, what kind of keys the group exchange holds."""
        if not self.plan.needs("group"):
            return
        import pyarrow

        kind = batch.schema.field(self.reader.names.group).type
        if pyarrow.types.is_dictionary(kind):
            kind = kind.value_type
        is_text = (
            pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind) or pyarrow.types.is_string_view(kind)
        )
        key_dtype = np.dtype(object) if is_text else np.dtype(np.uint64 if kind == pyarrow.uint64() else np.int64)
        self.exchange = GroupExchange(self.expected_rows, is_text, key_dtype)

    def note(self, block: Block) -> None:
        """Add up what a block was. Called in the order of the log."""
        self.rows += block.read
        self.kept += block.read - sum(block.dropped.values())
        for reason, count in block.dropped.items():
            self.dropped[reason] = self.dropped.get(reason, 0) + count
        self.seen |= block.seen
        if block.seen & 4 and self.minus_one_row is None:
            self.minus_one_row = block.first_row
        row = self.minus_one_row
        if row is not None:
            check_seen_labels(self.seen, lambda what: (row, -1), self.reader.title("label"))

    def additive_states(self) -> dict[Any, Any]:
        """The merged states of all threads."""
        states = {}
        for index, statistic in enumerate(self.plan.statistics["none"]):
            merged = statistic.new()
            for worker in self.workers:
                merged.merge(worker.sums[index])
            states[statistic] = merged
        return states


def keep(rows: Rows, take: Callable[[str, np.dtype, int], np.ndarray]) -> Rows:
    """The columns copied to memory of our own: the batch they came in is larger and may go."""

    def copy(column: str, values: np.ndarray) -> np.ndarray:
        out = take(column, values.dtype, values.shape[0])
        out[:] = values
        return out

    weights = None if rows.weights is None else copy("weights", rows.weights)
    return Rows(copy("labels", rows.labels), copy("scores", rows.scores), weights)


def run_scan(scan: Scan, batches: Iterator[Any], total: int | None, n_threads: int, progress: Progress | None) -> None:
    """Feed all batches to the scan: reading goes on while earlier batches are worked on; only a few wait in memory."""
    first_row = 0
    pending: deque[Any] = deque()

    def finish_one() -> None:
        scan.note(pending.popleft().result())
        if progress is not None:
            progress("scan", scan.rows, total)

    if n_threads == 1:
        for batch in batches:
            if first_row == 0:
                scan.prepare(batch)
            scan.note(scan.consume(batch, first_row))
            first_row += batch.num_rows
            if progress is not None:
                progress("scan", scan.rows, total)
        return

    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for batch in batches:
                if first_row == 0:
                    scan.prepare(batch)
                pending.append(pool.submit(scan.consume, batch, first_row))
                first_row += batch.num_rows
                while len(pending) > n_threads:
                    finish_one()
                if first_row % RELEASE_ROWS < batch.num_rows:
                    release_batches()
            while pending:
                finish_one()
        finally:
            for future in pending:
                future.cancel()


def resolve(scan: Scan, n_threads: int, progress: Progress | None) -> dict[Any, Any]:
    """The states of all statistics, exchange by exchange."""
    plan = scan.plan
    states = scan.additive_states()
    scan.workers.clear()
    scan.idle.clear()
    steps = int(plan.needs("group")) + int(plan.needs("score"))
    done = 0

    def step() -> None:
        if progress is not None:
            progress("resolve", done * scan.kept // max(1, steps), scan.kept)

    step()
    if scan.kept == 0:
        # Only rows of weight zero: every metric says so itself.
        states |= {statistic: statistic.empty() for statistic in plan.statistics["score"]}
        states |= {statistic: statistic.new() for statistic in plan.statistics["group"]}
        return states
    spare: list[np.ndarray] = []
    if scan.exchange is not None:
        states |= resolve_groups(plan, scan.exchange, n_threads)
        scan.blocks = [block.rows for block in scan.exchange.blocks]
        spare = [block.hashes for block in scan.exchange.blocks]
        scan.exchange = None
        done += 1
        step()
    if plan.needs("score"):
        states |= resolve_scores(plan, scan.blocks, spare, n_threads)
        done += 1
    step()
    return states


def resolve_groups(plan: Plan, exchange: GroupExchange, n_threads: int) -> dict[Any, Any]:
    layout = exchange.layout()
    states: dict[Any, Any] = {}
    by_table: dict[Any, list[Any]] = {}
    for statistic in plan.statistics["group"]:
        by_table.setdefault(statistic.table, []).append(statistic)
    for statistics in by_table.values():
        states.update(zip(statistics, reduce_groups(layout, statistics, n_threads), strict=True))
    return states


def resolve_scores(plan: Plan, blocks: list[Rows], spare: list[np.ndarray], n_threads: int) -> dict[Any, Any]:
    statistics = plan.statistics["score"]
    if blocks[0].weights is None:
        buckets = bucket_blocks(blocks, spare, n_threads)
        return {statistic: statistic.resolve(buckets, n_threads) for statistic in statistics}
    labels = np.concatenate([block.labels for block in blocks])
    scores = np.concatenate([block.scores for block in blocks])
    weights = np.concatenate([block.weights for block in blocks if block.weights is not None])
    return {statistic: statistic.resolve_weighted(labels, scores, weights) for statistic in statistics}


def evaluate(
    data: Any,
    metrics: str | Sequence[str | Metric],
    *,
    label: str,
    score: str,
    group: str | None = None,
    weight: str | None = None,
    n_threads: int | None = None,
    on_invalid: str = "raise",
    progress: Progress | None = None,
) -> Report:
    """Evaluate a log: every metric, exactly, in one scan that reads only the columns it needs.

    Rows may come in any order, from any number of files, batches or threads: the results are the same to the last bit.
    A user whose rows are spread over several files is one user.

    Parameters
    ----------
    data : path, list of paths, Arrow data, data frame or dict of arrays
        Parquet, Arrow IPC or CSV files (also a glob, a list, a directory, hive-partitioned or not); a pyarrow Table,
        RecordBatchReader or Dataset; anything with ``__arrow_c_stream__`` (polars, pandas, DuckDB relations); a dict of
        arrays.
    metrics : sequence of str, or str
        Metric strings such as "auc", "gauc(weight=pairs)"; a single string is split at commas. `list_metrics` names
        them all.
    label : str
        The column of labels: 0 and 1 (any integer, bool or float type), or -1 and +1.
    score : str
        The column of scores or, for metrics of probabilities, of probabilities.
    group : str, optional
        The column of group (user) keys, integers or strings; needed by metrics inside groups.
    weight : str, optional
        The column of row weights, finite and not negative; a row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The results do not depend on it.
    on_invalid : {"raise", "drop"}
        A null or NaN in a column that is read: an error that names the row; or the row is left out and counted.
    progress : callable, optional
        Called as progress(stage, rows_done, rows_total) with stage "scan" then "resolve"; rows_total is None while
        unknown.

    Returns
    -------
    Report
        `report["auc"]` is a float; the report also prints, converts (`to_dict`, `to_arrow`, `to_pandas`) and tells rows
        read and dropped, groups used and left out, and a signature for every value. Undefined values are NaN with a
        reason.

    Raises
    ------
    ValueError
        An unknown metric or column (near names are given), bad values (column and row are named), an unreadable file
        (named), no rows.
    FileNotFoundError
        A file that does not exist.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> log = {"click": [1, 0, 0, 1], "pctr": [0.9, 0.3, 0.8, 0.2], "user": ["a", "b", "a", "b"]}
    >>> report = fm.evaluate(log, ["auc", "gauc", "logloss"], label="click", score="pctr", group="user")
    >>> report["auc"], report["gauc"]
    (0.5, 0.5)
    """
    from fastmetrics.engine.sources import open_source  # costs milliseconds that `import fastmetrics` need not pay

    started = time.perf_counter()
    plan = make_plan(metrics)
    check_names(label=label, score=score, group=group, weight=weight)
    if plan.needs("group") and group is None:
        name = next(metric for metric in plan.metrics if metric.spec.exchange == "group")
        raise ValueError(f"metric {name!r} is computed inside groups; say which column has their keys: group=...")
    threads = count_threads(n_threads)
    names = ColumnNames(label, score, group if plan.needs("group") else None, weight)
    source = open_source(data)
    for role, column in names.roles().items():
        source.require(column, role)
    scan = Scan(plan, names, on_invalid, source.rows)
    run_scan(scan, source.batches(names.wanted(), use_threads=threads > 1), source.rows, threads, progress)
    if scan.kept == 0 and ZERO_WEIGHT not in scan.dropped:
        raise ValueError(why_empty(scan))
    if progress is not None:
        progress("scan", scan.rows, scan.rows)
    release_batches()
    states = resolve(scan, threads, progress)
    results = []
    for metric in plan.metrics:
        value = plan.finalise(metric, states)
        results.append(
            Result(repr(metric), score, {}, value.value, metric.signature(value.coverage), value.coverage, value.reason)
        )
    return Report(
        results, rows=scan.rows, dropped=scan.dropped, columns=ColumnNames(label, score, group, weight).roles(),
        version=__version__, seconds=time.perf_counter() - started,
    )  # fmt: skip


def release_batches() -> None:
    """Give the memory of the batches back to the system before the exchanges are resolved; Arrow would keep it."""
    import pyarrow

    pyarrow.default_memory_pool().release_unused()


def check_names(**columns: Any) -> None:
    """Column names are strings; group and weight may be left out."""
    for role, name in columns.items():
        if not isinstance(name, str) and not (name is None and role in ("group", "weight")):
            raise TypeError(f"{role} must be the name of a column; found {name!r}")


def why_empty(scan: Scan) -> str:
    if scan.rows == 0:
        return "data has no rows: at least one is needed"
    reasons = ", ".join(f"{count} with {reason}" for reason, count in scan.dropped.items())
    return f"no row is left of {scan.rows} read: {reasons}"
