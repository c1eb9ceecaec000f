"""Metrics of a Spark DataFrame: the engine's plan, with Spark as the exchange.

Spark brings together what an exchange wants: rows of a group (`repartition`), and pieces of ranges of scores that our
own kernels cut from each partition. On the executors the kernels turn them into a few integers (`mapInArrow`); the
driver merges those. No row reaches the driver. Executors need fastmetrics and pyarrow installed, nothing else.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from fastmetrics._core.blocks import Room
from fastmetrics._core.inputs import InputError, check_option, no_column
from fastmetrics._core.lots import Lots, UnitCounter
from fastmetrics._core.memory import parse_size
from fastmetrics._core.registry import Metric
from fastmetrics.engine.batches import BATCH_ROWS, TEXT_ROWS, resized
from fastmetrics.engine.columns import POLICIES, ColumnNames
from fastmetrics.engine.evaluate import check_rows, make_report, make_room, read_names
from fastmetrics.engine.intervals import Analytic, Replicates, Resampling, added_to, read_resampling
from fastmetrics.engine.part_samples import Drawing, check_unit_column, count_units
from fastmetrics.engine.parts import (
    NO_TOTALS,
    WHOLE,
    Merger,
    Part,
    Piece,
    Ranges,
    RangeTotals,
    needs_place,
    scan_again,
    scan_part,
)  # fmt: skip
from fastmetrics.engine.plan import Plan, make_plan
from fastmetrics.engine.report import Report

__all__ = ["evaluate"]

OUTCOME_SCHEMA = "kind string, place long, payload binary"
PART, PIECE, RANGE, UNITS, ERROR = "part", "piece", "range", "units", "error"
N_RANGES = 64  # of a score column
SAMPLE_SHARE = 0.01
SAMPLE_ACCURACY = 1000
ERRORS = (InputError, ValueError, TypeError, OverflowError, OSError)  # that a task tells instead of raising them


def evaluate(
    df: Any,
    metrics: str | Sequence[str | Metric],
    *,
    label: str | Sequence[str] | None = None,
    score: str | Sequence[str] | None = None,
    group: str | None = None,
    weight: str | None = None,
    by: str | Sequence[str] | None = None,
    on_invalid: str = "raise",
    n_partitions: int | None = None,
    memory_limit: int | str | None = None,
    spill_dir: str | None = None,
    ci: float | None = None,
    ci_method: str = "bootstrap",
    replicates: int = 1000,
    seed: int = 0,
    unit: str | None = None,
) -> Report:
    """Evaluate a Spark DataFrame: the same metrics, to the same bits, as `fastmetrics.evaluate` over its rows.

    Everything comes from one pass over the rows (and a look at a sample, for metrics of global order): a shuffle by the
    group column where there are metrics by group. Only metrics whose ranges of scores cannot be counted without knowing
    how many rows are above them take a second pass. A DataFrame that is costly to compute, or not the same each time,
    should be cached first.

    Intervals by resampling take one more pass before, in which units are counted. Of metrics of global order every
    score column then also goes to one task, with its units, which walks down all of its rows.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Of a classic session or of Spark Connect.
    metrics : sequence of str, or str
        As for `fastmetrics.evaluate`.
    label, score : str or list of str
        Columns; every score is judged against every label. For metrics of text and of partitions they may be left out,
        as there; rows with several references have an array of strings.
    group, weight : str, optional
        Columns of group keys (integers or strings) and of row weights.
    by : str or list of str, optional
        Columns that cut the rows into slices.
    on_invalid : {"raise", "drop"}
        A null or NaN in a column that is read: an error; or the row is left out and counted.
    n_partitions : int, optional
        Partitions of a shuffle; by default Spark decides (`spark.sql.shuffle.partitions`, adaptive execution).
    memory_limit : int or str, optional
        What a task may hold in its Python worker before it spills; by default half of the memory available there,
        divided by its cores.
    spill_dir : str, optional
        A folder on the executors for that, by default their folder for temporary files.
    ci, ci_method, replicates, seed, unit : optional
        Intervals, as for `fastmetrics.evaluate`, to the same bits. Units need a column (by default the group): rows
        have no places here.

    Returns
    -------
    Report
        Equal to that of `fastmetrics.evaluate` over the same rows.

    Raises
    ------
    ValueError, TypeError
        As `fastmetrics.evaluate`; rows are counted within the Spark partition that the message names.
    OSError
        An executor cannot spill.

    Examples
    --------
    >>> import fastmetrics.spark                                                             # doctest: +SKIP
    >>> df = spark.read.parquet("clicks/")                                                   # doctest: +SKIP
    >>> fastmetrics.spark.evaluate(                                                          # doctest: +SKIP
    ...     df, ["auc", "gauc", "logloss"], label="click", score="pctr", group="user_id"
    ... )
    """
    started = time.perf_counter()
    if not hasattr(df, "mapInArrow") or not hasattr(df, "repartitionByRange"):
        raise TypeError(
            f"df must be a Spark DataFrame; found {type(df).__name__}. "
            "For everything else there is fastmetrics.evaluate"
        )
    check_option(on_invalid, "on_invalid", POLICIES)
    plan = make_plan(metrics)
    names = read_names(plan, label, score, group, weight, by)
    resampling = read_resampling(ci, ci_method, replicates, seed, unit, group, plan, weight)
    check_unit_column(resampling)
    plan = added_to(plan, resampling)
    read = names if plan.needs("group") else names._replace(group=None)
    if resampling is not None:
        names = names._replace(unit=resampling.unit)
        read = read._replace(unit=resampling.drawn_unit)
    check_columns(df, names)
    limit = parse_size(memory_limit, "memory_limit")
    cuts = find_cuts(df, names) if plan.needs("score") else []
    names_of_metrics = [repr(metric) for metric in plan.metrics]
    once = not needs_place(plan)
    task = Task(names_of_metrics, read, on_invalid, limit, spill_dir, NO_TOTALS, cuts, once, resampling)
    merger = Merger(plan, read, on_invalid)
    rows = select(df, read)
    drawing = None
    if resampling is not None and resampling.drawn_unit is not None:
        drawing = Drawing(resampling, find_lots(rows, task))
        task = task._replace(drawing=drawing)
    if read.group is not None:
        rows = repartitioned(rows.repartition, n_partitions, alias(read, read.group))
    parts, ranges = run(rows, task, n_partitions)
    merger.add_parts(parts)
    check_rows(merger.scan)
    if not task.once and merger.scan.kept:
        # Now that the ranges are counted, their rows: in another pass, for a shuffle cannot wait for the counts.
        whole = [own for own in ranges if own[1].number == WHOLE]
        _, ranges = run(select(df, read), task._replace(totals=merger.totals, drawing=None), n_partitions)
        check_again(ranges, merger.scan.kept, len(cuts))
        ranges += whole
    for number in range(len(cuts)):
        merger.add_ranges([part for score, part in ranges if score == number], number)
    intervals: Replicates | Analytic | None = None
    if resampling is not None:
        intervals = Analytic(merger.states, resampling) if drawing is None else merger.replicates(drawing)
    return make_report(merger.scan, merger.states, names, time.perf_counter() - started, intervals=intervals)


def find_lots(rows: Any, task: Task) -> Lots:
    """The lots of all units: of every partition those that it has."""
    counter = UnitCounter()
    with without_advice():
        outcomes = rows.mapInArrow(partial(run_count, task), OUTCOME_SCHEMA)
    for kind, found in collected(outcomes):
        if kind == UNITS:
            counter.merge(found)
    return counter.lots()


def find_cuts(df: Any, names: ColumnNames) -> list[list[float]]:
    """Where to cut each score column into ranges of about equal rows, by a sample; any cuts give the same result."""
    from pyspark.sql import functions

    shares = functions.array(*(functions.lit(place / N_RANGES) for place in range(1, N_RANGES)))
    columns = [column(name).cast("double") for name in names.scores]
    sampled = df.select(*(own.alias(f"score_{place}") for place, own in enumerate(columns))).sample(SAMPLE_SHARE)
    quantiles = [
        functions.percentile_approx(f"score_{place}", shares, SAMPLE_ACCURACY) for place in range(len(columns))
    ]
    found = sampled.agg(*quantiles).first()
    return [sorted({cut for cut in own or [] if cut == cut}) for own in found]


def check_again(ranges: list[tuple[int, Part]], kept: int, n_scores: int) -> None:
    """The second pass has to see the rows of the first."""
    seen = sum(part.rows for _, part in ranges)
    if seen != kept * n_scores:
        raise ValueError(
            f"df had {kept:,} valid rows when it was first computed and {seen // n_scores:,} the second time: "
            "it is not the same each time. Cache it first: df = df.cache()"
        )


def check_columns(df: Any, names: ColumnNames) -> None:
    """Every column is there, exactly once."""
    known = list(df.columns)
    for role, name in names.parts():
        if known.count(name) == 0:
            raise ValueError(f"{role}: {no_column(name, 'the DataFrame', known)}")
        if known.count(name) > 1:
            count = known.count(name)
            raise ValueError(f"{role}: the DataFrame has {count} columns named {name!r}; rename all but one")


def column(name: str) -> Any:
    """A column by its whole name, whatever is in it."""
    from pyspark.sql import functions

    return functions.col("`" + name.replace("`", "``") + "`")


def select(df: Any, names: ColumnNames) -> Any:
    """Only the columns that are needed, under names that pyspark passes on whatever is in the original ones."""
    return df.select(*(column(name).alias(alias(names, name)) for name in names.wanted()))


def alias(names: ColumnNames, name: str) -> str:
    return f"column_{names.wanted().index(name)}"


def repartitioned(method: Callable[..., Any], n_partitions: int | None, key: str) -> Any:
    return method(key) if n_partitions is None else method(n_partitions, key)


class Task(NamedTuple):
    """What an executor is told."""

    metrics: list[str]
    names: ColumnNames
    on_invalid: str
    memory_limit: int | None
    spill_dir: str | None
    totals: RangeTotals
    cuts: list[list[float]]
    once: bool
    resampling: Resampling | None = None
    drawing: Drawing | None = None

    def plan(self) -> Plan:
        return added_to(make_plan(self.metrics), self.resampling)

    def room(self) -> Room:
        import os

        return make_room(self.memory_limit, self.spill_dir, 1, os.cpu_count() or 1)

    def batch_rows(self) -> int:
        """The rows of the longest batch to be made of short ones."""
        alone = make_plan(self.metrics).targets.alone
        return TEXT_ROWS if alone is not None and alone.is_long else BATCH_ROWS

    def evaluate(self, batches: Iterable[Any]) -> Iterator[Part | Piece | None]:
        """The states of one partition, and its rows range by range."""
        plan, room = self.plan(), self.room()
        if self.totals.ranges:
            yield from scan_again(plan, self.names, self.on_invalid, batches, room, self.cuts)
        else:
            yield from scan_part(
                plan, self.names, self.on_invalid, batches, room, self.cuts, self.once, self.drawing
            )

    def renamed(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Batches with the columns' own names."""
        names = self.names.wanted()
        return resized((batch.rename_columns(names) for batch in batches), self.batch_rows())


def run_count(task: Task, batches: Iterator[Any]) -> Iterator[Any]:
    """On an executor: a partition's rows in, its units out."""
    try:
        yield outcome(UNITS, count_units(task.plan(), task.names, task.on_invalid, task.renamed(batches)))
    except ERRORS as error:
        yield told(error)


def run_task(task: Task, batches: Iterator[Any]) -> Iterator[Any]:
    """On an executor: a partition's rows in; its states out, and pieces of ranges.

    An error of the data is told, not raised: trying again would not help.
    """
    try:
        for found in task.evaluate(task.renamed(batches)):
            if isinstance(found, Piece):
                yield outcome(PIECE, tuple(found), found.score * (N_RANGES + 1) + found.number)
            elif found is not None:
                yield outcome(PART, found)
    except ERRORS as error:
        yield told(error)


def run_ranges(task: Task, batches: Iterator[Any]) -> Iterator[Any]:
    """On an executor: all pieces of some ranges in, the ranges' states out; everything else is passed on."""
    try:
        ranges = Ranges(task.plan(), task.names, task.room(), task.totals, task.drawing)
        for batch in batches:
            for kind, _, payload in zip(*batch.to_pydict().values(), strict=True):
                if kind == PIECE:
                    ranges.add(Piece(*pickle.loads(payload)))
                else:
                    yield as_batch(kind, 0, payload)
        for score, part in ranges.parts():
            yield outcome(RANGE, (score, part))
    except ERRORS as error:
        yield told(error)


def told(error: Exception) -> Any:
    """An error as an outcome."""
    from pyspark import TaskContext

    context = TaskContext.get()
    place = "" if context is None else f" (rows are counted within Spark partition {context.partitionId()})"
    kind = next(number for number, known in enumerate(ERRORS) if isinstance(error, known))
    return outcome(ERROR, (kind, f"{error}{place}"))


def outcome(kind: str, content: Any, place: int = 0) -> Any:
    return as_batch(kind, place, pickle.dumps(content, pickle.HIGHEST_PROTOCOL))


def as_batch(kind: str, place: int, payload: bytes) -> Any:
    import pyarrow

    columns = [pyarrow.array([kind]), pyarrow.array([place]), pyarrow.array([payload], pyarrow.binary())]
    return pyarrow.RecordBatch.from_arrays(columns, names=["kind", "place", "payload"])


def run(rows: Any, task: Task, n_partitions: int | None) -> tuple[list[Part], list[tuple[int, Part]]]:
    """Every partition's part, and every range's with its score column; the first error that a task told is raised."""
    with without_advice():
        outcomes = rows.mapInArrow(partial(run_task, task), OUTCOME_SCHEMA)
        if task.cuts and (task.once or task.totals.ranges or task.drawing is not None):
            outcomes = repartitioned(outcomes.repartition, n_partitions, "place")
            outcomes = outcomes.mapInArrow(partial(run_ranges, task), OUTCOME_SCHEMA)
    contents = collected(outcomes)
    return [own for kind, own in contents if kind == PART], [own for kind, own in contents if kind == RANGE]


def collected(outcomes: Any) -> list[tuple[str, Any]]:
    """Kind and content of all outcomes; the first error that a task told is raised."""
    with without_advice():
        table = outcomes.toArrow()
    contents = [(kind, pickle.loads(payload)) for kind, _, payload in zip(*table.to_pydict().values(), strict=True)]
    for kind, content in contents:
        if kind == ERROR:
            number, text = content
            raise ERRORS[number](text)
    return contents


@contextmanager
def without_advice() -> Iterator[None]:
    """pyspark says what it thinks of this pandas at every call, whatever is asked of it."""
    import warnings

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield
