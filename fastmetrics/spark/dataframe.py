"""`evaluate`: metrics of a Spark DataFrame. This module runs on the driver.

Spark is the exchange of the engine's plan: it shuffles rows by group (`repartition`), and shards of score ranges by
range. The tasks of `tasks.py` turn rows into states (`mapInArrow`), and the driver merges the states. No row reaches
the driver. Executors need only fastmetrics and pyarrow.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from fastmetrics._core.columns.validation import check_option
from fastmetrics._core.exchange.memory_size import parse_size
from fastmetrics._core.registry import Metric
from fastmetrics._core.resampling.resampling_units import UnitBuckets, UnitCounter
from fastmetrics._core.results.slice_order import check_min_rows
from fastmetrics.engine.input.grouping_sets import make_slice_numbers
from fastmetrics.engine.input.row_selection import POLICIES
from fastmetrics.engine.input.slices import SliceNumbers
from fastmetrics.engine.partitions.partition_merger import PartitionMerger
from fastmetrics.engine.partitions.partition_state import NO_TOTALS, WHOLE_COLUMN, PartitionResampling, PartitionState
from fastmetrics.engine.partitions.range_shards import needs_range_totals, needs_whole_columns
from fastmetrics.engine.partitions.score_columns import ScoreColumn, score_columns
from fastmetrics.engine.plan.column_names import ColumnNames, key_columns
from fastmetrics.engine.plan.metric_plan import Plan
from fastmetrics.engine.plan.plan_parts import PlanPart
from fastmetrics.engine.plan.resampling_options import refuse_row_units
from fastmetrics.engine.plan.slice_bins import refuse_quantiles
from fastmetrics.engine.plan.tasks import IntervalArguments, PlannedTask, Task, name_task_in_errors, plan_tasks
from fastmetrics.engine.results.report import Report
from fastmetrics.engine.scan.final_report import ResolvedPart, ResolvedTask, make_report
from fastmetrics.engine.scan.intervals import AnalyticIntervals, MetricReplicates
from fastmetrics.engine.scan.log_scan import check_rows
from fastmetrics.engine.scan.plan_scan import LogScan
from fastmetrics.spark.expressions import PreparedFrame, prepare_frame, translated_errors, without_filters
from fastmetrics.spark.plugins import pack_plugins
from fastmetrics.spark.tasks import (
    N_RANGES,
    OUTCOME_SCHEMA,
    PARTITION,
    RANGE,
    SHUFFLE_KEY,
    UNITS,
    PassOptions,
    count_partition_units,
    read_outcomes,
    resolve_shards,
    scan_partition_rows,
)

__all__ = ["evaluate"]

SAMPLE_FRACTION = 0.01
QUANTILE_ACCURACY = 1000

RangeStates = list[tuple[int, PartitionState]]  # the number of a score column, the state of a range


def evaluate(
    df: Any,
    metrics: str | Metric | Sequence[str | Metric],
    *,
    label: str | Sequence[str] | None = None,
    score: str | Sequence[str] | None = None,
    group: str | Sequence[str] | None = None,
    weight: str | None = None,
    where: Any = None,
    by: str | Sequence[str] | Sequence[Sequence[str]] | None = None,
    on_invalid: str = "raise",
    n_partitions: int | None = None,
    memory_limit: int | str | None = None,
    spill_dir: str | None = None,
    ci: float | None = None,
    ci_method: str = "bootstrap",
    replicates: int = 1000,
    seed: int = 0,
    unit: str | Sequence[str] | None = None,
    item: str | None = None,
    treatment: str | None = None,
    propensity: str | None = None,
    prediction: str | Sequence[str] | None = None,
    probabilities: str | Sequence[str] | Sequence[Sequence[str]] | None = None,
    roles: Mapping[str, str] | None = None,
    tasks: Mapping[str, Task] | None = None,
    min_rows: int = 0,
) -> Report:
    """Evaluate a Spark DataFrame: the same metrics, to the same bits, as `fastmetrics.evaluate` over its rows.

    One pass over the rows computes everything. Metrics by group shuffle the rows by the group column. Metrics of the
    global order, such as AUC, read a small sample first; a few of them, which need to know how many rows score higher,
    take a second pass. Cache a DataFrame that is costly to compute, or that is not the same each time.

    Intervals by resampling take one more pass at the start, which counts the units. For metrics of the global order,
    every score column with its units also goes to one task, which sweeps all of its rows.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Of a classic session or of Spark Connect.
    metrics : sequence of str, or str
        Metric strings such as "auc", "gauc(weight=pairs)". A single string is split at commas. `list_metrics` lists
        them all. A metric string may name its own columns, "rmse(label=minutes, score=forecast)" or
        "ndcg(group=[user,day])@10": metrics of different columns, kinds and groups share one scan. A metric by group
        takes another statistic of the groups than their mean: "ndcg(stat=p10)@10", also min, max, and "stat=below,
        at=0.5" for the share of groups below 0.5; the `rule` of quantiles is linear, lower or higher.
    label : str or list of str, optional
        The column of labels: 0 and 1 (any integer, bool or float type), or -1 and +1. Other metrics read other labels;
        `describe_metrics` has the target of each. Target "real": any finite numbers. Target "graded": finite numbers
        that are not negative. Together with metrics of classes, both read only 0 and 1. Target "text": the column of
        references, by default "reference"; strings, or lists of strings if rows have several references (a null in a
        list is a missing reference). Target "partition": the column of classes, by default "label"; integers, strings,
        dates or any other labels. With several columns, every score is evaluated against every label.

        Rows with several references have an array of strings.
    score : str or list of str, optional
        The column of scores; metrics of probabilities read probabilities in [0, 1]. Several models are evaluated in one
        scan, in which every user is looked up once. Target "text": the column of hypotheses, strings; by default
        "hypothesis". Target "partition": the column of clusters, labels of any type; by default "cluster". Metrics of
        these two targets take no weights. Together with metrics of other targets, either has to name its columns in the
        metric string.
    group : str or list of str, optional
        The column of group (user) keys: integers, strings, booleans, dates, times, decimals, bytes or floats; -0.0 is
        0.0. Several columns are one key, ``["user_id", "session_id"]``: rows with equal values in all of them are one
        group. Metrics that are computed inside groups need it, and intervals resample by it; others do not read it.
    weight : str, optional
        The column of row weights, from 0 to 1e300; a row of weight zero is left out.
    where : str or expression, optional
        Which rows are evaluated: a condition in SQL, such as ``"clicked = 1 and country in ('DE', 'FR')"``; rows for
        which it is false or null are left out before anything else is checked. Wherever a column is named, an
        expression of columns may stand too, such as ``score="p_ctr * p_cvr"``: docs/expressions.md has the grammar.
    by : str, list of str or list of lists, optional
        Columns whose values divide the rows into slices (numbers, strings, booleans or dates; at most 10,000
        combinations). Every metric is computed for every slice and for all rows. Nulls are a slice, None, and so are
        NaN. A list of lists has grouping sets, ``[["channel"], ["channel", "day"]]``: the slices of each, in one scan,
        at most 10,000 of each set. ``"cut(price, [0, 10])"`` makes slices of numbers by intervals that are closed on
        the left, the first and the last without end; ``"qcut(price, 10)"`` has as many rows in each as ties allow: edge
        i of n is the least value that i of n parts of the rows do not exceed, and the log is read once more for the
        edges. Slices take memory beyond the limit: some kilobytes per slice for every label, score and thread.
    min_rows : int
        Slices of fewer rows have no results; `small_slices` of the report counts them and their rows.
    on_invalid : {"raise", "drop"}
        For a null or NaN in a column that is read: raise an error that names the row, or drop the row and count it.
    n_partitions : int, optional
        Partitions of a shuffle; by default Spark decides (`spark.sql.shuffle.partitions`, adaptive execution).
    memory_limit : int or str, optional
        Memory of a task in its Python worker; rows that do not fit spill to a file. By default half of the memory
        available on the executor, divided by its cores.
    spill_dir : str, optional
        A folder on the executors for spill files; by default their folder for temporary files.
    ci : float, optional
        The level of the intervals, between 0 and 1, such as 0.95. Every `Result` then has an `interval` and a
        `standard_error`. If there is no interval (fewer than two units, or more than one replicate in twenty
        undefined), `coverage["interval"]` has the reason.

        Intervals are those of `fastmetrics.evaluate`, to the same bits.
    ci_method : {"bootstrap", "normal", "delong"}
        "bootstrap": percentiles of the replicates. "normal": the value plus and minus normal quantiles times the
        standard deviation of the replicates. "delong": DeLong's variance, for the AUC of independent rows.
    replicates : int
        Number of bootstrap replicates, at least 1. In each, a unit counts Poisson(1) times. All replicates are computed
        in one pass, except those of AUC, average precision, KS and EER of rows with `weight`: they take as long as that
        many evaluations.
    seed : int
        From 0 to 2**64 - 1. Weights depend only on the seed, the replicate and the unit's key, so intervals are the
        same for any order of rows and any number of threads.
    unit : str or list of str, optional
        The column of resampling units, such as users or days: the rows of a unit are resampled together. By default the
        group. Every group has to be inside one unit. If users have several rows, resample users, not rows: rows of one
        user are alike, and intervals would be too narrow.

        Rows of a DataFrame have no position, so the unit has to be a column.
    prediction : str or list of str, optional
        The column of predicted labels, of the type of the labels: integers, strings, booleans or dates. Metrics such as
        accuracy, f1 and kappa are then of predicted labels, any number of classes. Several models are evaluated in one
        scan. If there are scores too, a metric is of predictions if its string says so, such as
        "accuracy(prediction=pred)" or "f1(average=macro)".
    probabilities : str or list of str, optional
        The probability of every class: a column of lists, or a list of columns, one for each class. They lie in [0, 1]
        and sum to 1 in every row. Metrics such as logloss, brier, auc, ap, ece and top_k_accuracy are then of several
        classes, and labels of any type; the parameter `labels` names the classes in the order of the probabilities,
        "logloss(labels=[ant, bee, cat])". Without it, labels are the numbers 0, 1, 2 and so on. A list of lists of
        columns has several models. With `score` or `prediction`, a metric is of probabilities if its string says so,
        such as "logloss(probabilities=probs)".
    item, treatment, propensity : str, optional
        Columns of other roles, for metrics that read them: `describe_metrics` has the roles of each metric.
    roles : dict of str and str, optional
        Columns of any other role, such as ``{"reward": "revenue"}``. Metrics of your own may have any roles:
        `fastmetrics.extend`.
    tasks : dict of str and Task, optional
        Several questions of one log, answered in one scan: ``{"ctr": Task(label="click", score="pctr"), "cvr": ...}``.
        What a task does not name is that of the call. Every `Result` has the name of its `task`.

    Returns
    -------
    Report
        Equal to that of `fastmetrics.evaluate` over the same rows.

    Raises
    ------
    ValueError, TypeError
        As `fastmetrics.evaluate`. The message names the Spark partition in which the row is counted.
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
            f"df must be a Spark DataFrame; found {type(df).__name__}. For other data use fastmetrics.evaluate"
        )
    check_option(on_invalid, "on_invalid", POLICIES)
    check_min_rows(min_rows)
    call = Task(
        label, score, group, weight, metrics, prediction, probabilities, item, treatment, propensity, roles, where
    )
    intervals = IntervalArguments(ci, ci_method, replicates, seed, unit)
    planned = plan_tasks(call, tasks, by, intervals)
    limit = parse_size(memory_limit, "memory_limit")
    frames = []
    for task in planned:
        with name_task_in_errors(task.name):
            refuse_row_units(task.resampling)
            refuse_quantiles(task.names.bins, "a partition on Spark")
            frames.append(prepare_frame(df, task))
    resolved = []
    for task, frame in zip(planned, frames, strict=True):
        with name_task_in_errors(task.name), translated_errors():
            resolved.append(run_task(frame, task, on_invalid, limit, spill_dir, n_partitions))
    check_same_rows_read([one.log_scan for one in resolved])
    return make_report(resolved, time.perf_counter() - started, min_rows)


def run_task(
    frame: PreparedFrame,
    task: PlannedTask,
    on_invalid: str,
    memory_limit: int | None,
    spill_dir: str | None,
    n_partitions: int | None,
) -> ResolvedTask:
    """The scans of all rows for a task, part by part, and their final states."""
    parts = without_filters(task.parts)
    strings = [([repr(metric) for metric in part.plan.metrics], part.names) for part in parts]
    plugins = pack_plugins(task.plan.metrics)
    options = PassOptions(
        strings, 0, on_invalid, memory_limit, spill_dir, NO_TOTALS, [], True, task.resampling, plugins=plugins
    )
    slices = make_slice_numbers(task.names.by, task.names.grouping_sets)
    found = [run_part(frame, parts, number, options, slices, n_partitions) for number in range(len(parts))]
    check_same_scans([scan for scan, _ in found])
    return ResolvedTask(task, found[0][0], [part for _, part in found])


def check_same_rows_read(scans: Sequence[LogScan]) -> None:
    """Check that the passes of all tasks read as many rows."""
    for scan in scans[1:]:
        if scan.rows != scans[0].rows:
            raise ValueError(explain_changed_rows(scans[0].rows, scan.rows))


def run_part(
    frame: PreparedFrame,
    parts: Sequence[PlanPart],
    number: int,
    options: PassOptions,
    slices: SliceNumbers,
    n_partitions: int | None,
) -> tuple[LogScan, ResolvedPart]:
    """The scan of all rows for one part of the plan, and its final states. `options` has those of all parts."""
    plan, names = parts[number]
    df, resampling = frame.df, options.resampling
    n_classes = count_classes(df, plan, names) if plan.needs("range") and plan.has_vectors else 0
    columns = score_columns(plan, names, n_classes)
    cuts = find_cuts(df, plan, names, columns)
    in_one_pass = not needs_range_totals(plan)
    options = options._replace(number=number, cuts=cuts, in_one_pass=in_one_pass, n_classes=n_classes)
    merger = PartitionMerger(parts[number], options.on_invalid, slices)
    rows = select_columns(df, options)
    partition_resampling = None
    if resampling is not None and resampling.unit_to_read is not None:
        partition_resampling = PartitionResampling(resampling, count_all_units(rows, options))
        options = options._replace(partition_resampling=partition_resampling)
    if names.group is not None:
        rows = shuffle(rows.repartition, n_partitions, *map(options.alias, key_columns(names.group)))
    partition_states, range_states = run_pass(rows, options, n_partitions)
    merger.add_partitions(partition_states)
    count_filtered_rows(frame, merger.log_scan)
    check_rows(merger.log_scan)
    if not in_one_pass and merger.scan.rows_kept:
        # The totals of the ranges are known only now, so the rows of the ranges need a second pass.
        whole_columns = [state for state in range_states if state[1].range_number == WHOLE_COLUMN]
        second = options._replace(totals=merger.totals, partition_resampling=None)
        _, range_states = run_pass(select_columns(df, options), second, n_partitions)
        check_same_rows(range_states, merger.scan.rows_kept, sum(column.copies for column in columns))
        range_states += whole_columns
    for number, column in enumerate(columns):
        of_column = [state for score_number, state in range_states if score_number == number]
        merger.add_range_states(of_column, number, column.model)
    merger.join_classes(0 if resampling is None else resampling.replicates)
    intervals: MetricReplicates | AnalyticIntervals | None = None
    if partition_resampling is not None:
        intervals = merger.replicates(partition_resampling)
    elif resampling is not None:
        intervals = AnalyticIntervals(merger.states, resampling)
    return merger.log_scan, ResolvedPart(merger.scan, merger.states, intervals)


def count_filtered_rows(frame: PreparedFrame, scan: LogScan) -> None:
    """Add the rows that Spark left out to the counts of a scan."""
    if frame.rows is None or frame.kept is None:
        return
    if scan.rows != frame.kept:
        raise ValueError(explain_changed_rows(frame.kept, scan.rows))
    scan.record_filtered(frame.rows - frame.kept)


def check_same_scans(scans: Sequence[LogScan]) -> None:
    """Check that the passes of all parts read the same rows. Slices get their values from the first."""
    first = scans[0]
    for scan in scans[1:]:
        if (scan.rows, scan.dropped) != (first.rows, first.dropped):
            raise ValueError(explain_changed_rows(first.rows, scan.rows))


def find_cuts(df: Any, plan: Plan, names: ColumnNames, columns: Sequence[ScoreColumn]) -> list[list[float]]:
    """Cuts of each score column into ranges; no column if no metric needs ranges."""
    if needs_whole_columns(plan):
        return [[] for _ in columns]
    return sample_cuts(df, names, columns) if columns else []


def count_classes(df: Any, plan: Plan, names: ColumnNames) -> int:
    """How many probabilities a row has: as many as there are columns, or as the first list has entries."""
    from pyspark.sql import functions

    model = names.scores[0]
    if len(key_columns(model)) > 1:
        return len(key_columns(model))
    column = quoted_column(model)
    first = df.where(column.isNotNull()).select(functions.size(column)).first()
    return 0 if first is None else int(first[0])


def scores_of(names: ColumnNames, column: ScoreColumn) -> list[Any]:
    """The scores of a model, or the probabilities of classes, as Spark's columns."""
    own = key_columns(names.scores[column.model])
    if not column.classes:
        return [quoted_column(own[0])]
    return [quoted_column(own[number]) if len(own) > 1 else quoted_column(own[0])[number] for number in column.classes]


def sample_cuts(df: Any, names: ColumnNames, columns: Sequence[ScoreColumn]) -> list[list[float]]:
    """Cuts of each score column into ranges of about equal rows, from a sample. The result is the same for any cuts.

    All classes together are cut where the first one is.
    """
    from pyspark.sql import functions

    shares = functions.array(*(functions.lit(number / N_RANGES) for number in range(1, N_RANGES)))
    scores = [scores_of(names, column)[0].cast("double") for column in columns]
    sample = df.select(*(score.alias(f"score_{number}") for number, score in enumerate(scores))).sample(SAMPLE_FRACTION)
    quantiles = [
        functions.percentile_approx(f"score_{number}", shares, QUANTILE_ACCURACY) for number in range(len(scores))
    ]
    cuts_of_columns = sample.agg(*quantiles).first()
    return [sorted({cut for cut in cuts or [] if cut == cut}) for cuts in cuts_of_columns]


def count_all_units(rows: Any, options: PassOptions) -> UnitBuckets:
    """The buckets of all resampling units, from the units of every partition."""
    counter = UnitCounter()
    with ignored_pandas_warning():
        outcomes = rows.mapInArrow(partial(count_partition_units, options), OUTCOME_SCHEMA)
    for kind, partition_counter in collect(outcomes):
        if kind == UNITS:
            counter.merge(partition_counter)
    return counter.unit_buckets()


def run_pass(rows: Any, options: PassOptions, n_partitions: int | None) -> tuple[list[PartitionState], RangeStates]:
    """Run the task over all rows: the states of all partitions, and the states of all ranges."""
    with ignored_pandas_warning():
        outcomes = rows.mapInArrow(partial(scan_partition_rows, options), OUTCOME_SCHEMA)
        if options.has_shards():
            outcomes = shuffle(outcomes.repartition, n_partitions, SHUFFLE_KEY)
            outcomes = outcomes.mapInArrow(partial(resolve_shards, options), OUTCOME_SCHEMA)
    contents = collect(outcomes)
    partition_states = [content for kind, content in contents if kind == PARTITION]
    return partition_states, [content for kind, content in contents if kind == RANGE]


def collect(outcomes: Any) -> list[tuple[str, Any]]:
    """Kind and content of all outcomes. Raises the first error that a task returned."""
    with ignored_pandas_warning():
        table = outcomes.toArrow()
    return read_outcomes(table)


def check_same_rows(range_states: RangeStates, rows_kept: int, n_scores: int) -> None:
    """Check that the second pass read as many rows as the first."""
    n_rows = sum(state.rows for _, state in range_states)
    if n_rows != rows_kept * n_scores:
        raise ValueError(explain_changed_rows(rows_kept, n_rows // n_scores))


def explain_changed_rows(first: int, second: int) -> str:
    return (
        f"df had {first:,} valid rows when it was first computed and {second:,} the second time: "
        "it is not the same each time. Cache it first: df = df.cache()"
    )


def quoted_column(name: str) -> Any:
    """A column by its exact name, which may contain dots, spaces and backticks."""
    from pyspark.sql import functions

    return functions.col("`" + name.replace("`", "``") + "`")


def select_columns(df: Any, options: PassOptions) -> Any:
    """The columns that are read, under aliases: pyspark does not pass on every name."""
    return df.select(*(quoted_column(name).alias(options.alias(name)) for name in options.columns()))


def shuffle(repartition: Callable[..., Any], n_partitions: int | None, *keys: str) -> Any:
    return repartition(*keys) if n_partitions is None else repartition(n_partitions, *keys)


@contextmanager
def ignored_pandas_warning() -> Iterator[None]:
    """Ignore the warning about the version of pandas that pyspark gives at every call."""
    import warnings

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield
