"""The main entry point: one scan of a log, a report with every metric."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import Metrics
from fastmetrics.engine.evaluation.evaluation import Evaluation, question_of_call
from fastmetrics.engine.evaluation.options.option import EVALUATE
from fastmetrics.engine.input.input_options import InputOptions
from fastmetrics.engine.plan.tasks import Task, name_task_in_errors
from fastmetrics.engine.results.report import Report
from fastmetrics.engine.scan.final_report import ResolvedTask, make_report, resolve_part
from fastmetrics.engine.scan.read_log import Progress, make_memory_budget, scan_log

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ColumnName, Log
    from fastmetrics._core.types.options import Format, IntervalMethod, MissingColumns, OnInvalid
    from fastmetrics.engine.scan.plots import PlotPlan

__all__ = ["evaluate"]


@answers_unknown
def evaluate(
    data: Log,
    metrics: Metrics | Evaluation | None = None,
    *,
    label: ColumnName | Sequence[ColumnName] | None = None,
    score: ColumnName | Sequence[ColumnName] | None = None,
    group: ColumnName | Sequence[ColumnName] | None = None,
    weight: ColumnName | None = None,
    where: object = None,
    min_rows: int = 0,
    by: ColumnName | Sequence[ColumnName] | Sequence[Sequence[ColumnName]] | None = None,
    memory_limit: int | str | None = None,
    spill_dir: str | os.PathLike[str] | None = None,
    n_threads: int | None = None,
    on_invalid: OnInvalid = "raise",
    progress: Progress | None = None,
    ci: float | None = None,
    ci_method: IntervalMethod | None = None,
    replicates: int | None = None,
    seed: int | None = None,
    unit: ColumnName | Sequence[ColumnName] | None = None,
    curves: bool = False,
    item: ColumnName | None = None,
    treatment: ColumnName | None = None,
    propensity: ColumnName | None = None,
    prediction: ColumnName | Sequence[ColumnName] | None = None,
    probabilities: ColumnName | Sequence[ColumnName] | Sequence[Sequence[ColumnName]] | None = None,
    roles: Mapping[str, ColumnName] | None = None,
    filesystem: object = None,
    storage_options: Mapping[str, str] | None = None,
    version: int | str | None = None,
    timestamp: str | datetime | None = None,
    format: Format | None = None,  # noqa: A002
    format_options: Mapping[str, Any] | None = None,
    missing_columns: MissingColumns = "raise",
    time_zone: str | None = None,
    tasks: Mapping[str, Task] | None = None,
    truth_columns: Mapping[str, ColumnName] | None = None,
    truth: object | None = None,
) -> Report:
    """Evaluate a log: every metric, exactly, in one scan that reads only the columns it needs.

    Rows may come in any order, from any number of files, batches or threads: the results are the same to the last bit.
    A user whose rows are spread over several files is one user.

    Parameters
    ----------
    data : path, list of paths, open file, Arrow data, data frame, iterator of batches or dict of arrays
        Parquet, CSV, TSV, JSON lines, ORC, Arrow IPC or Feather files (also a glob, a list, a directory,
        hive-partitioned or not), a binary file that is open; a pyarrow Table, RecordBatchReader, Dataset or Scanner; a
        polars, pandas or narwhals frame, a polars LazyFrame, a DuckDB relation or result, anything with
        ``__arrow_c_stream__``; a dict of arrays, a structured array, a list of dicts; a list or an iterator of any of
        these. docs/inputs.md has what to type for each. CSV has no types: Arrow infers them, so an id written 007 is
        read as the integer 7 unless `format_options` has its type.
    metrics : sequence of str, or str, optional
        Metric strings such as "auc", "gauc(weight=pairs)", or public functions, `roc_auc_score`. A string is split at
        commas. None: the default metrics of the columns that are given, as on the command line. `list_metrics` lists
        them all. A metric string may name its own columns, "rmse(label=minutes, score=forecast)" or
        "ndcg(group=[user,day])@10": metrics of different columns, kinds and groups share one scan. A metric by group
        takes another statistic of the groups than their mean: "ndcg(stat=p10)@10", also min, max, and "stat=below,
        at=0.5" for the share of groups below 0.5; the `rule` of quantiles is linear, lower or higher.
    label : str or list of str, optional
        The column of labels: 0 and 1 (any integer, bool or float type), or -1 and +1. Other metrics read other labels;
        `list_metrics` has the target of each. Target "real": any finite numbers. Target "graded": finite numbers that
        are not negative. Together with metrics of classes, both read only 0 and 1. Target "text": the column of
        references, by default "reference"; strings, or lists of strings if rows have several references (a null in a
        list is a missing reference). Target "partition": the column of classes, by default "label"; integers, strings,
        dates or any other labels. With several columns, every score is evaluated against every label.
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
    where : str, expression or mask, optional
        Which rows are evaluated: a condition in SQL, such as ``"clicked = 1 and country in ('DE', 'FR')"``; an
        expression of polars or pyarrow; or a mask, a boolean for each row of the log in the order of its rows. Rows for
        which it is false or null are left out before anything else is checked. Wherever a column is named, an
        expression of columns may stand too, such as ``score="p_ctr * p_cvr"`` or ``score=pl.col("p_ctr") *
        pl.col("p_cvr")``: docs/expressions.md has the grammar.
    by : str, list of str or list of lists, optional
        Columns whose values divide the rows into slices (numbers, strings, booleans or dates; at most 10,000
        combinations). Every metric is computed for every slice and for all rows. Nulls are a slice, None, and so are
        NaN. A list of lists has grouping sets, ``[["channel"], ["channel", "day"]]``: the slices of each, in one scan,
        at most 10,000 of each set. ``"cut(price, [0, 10])"`` makes slices of numbers by intervals that are closed on
        the left, the first and the last without end; ``"qcut(price, 10)"`` has as many rows in each as ties allow: edge
        i of n is the least value that i of n parts of the rows do not exceed, and the log is read once more for the
        edges. Slices take memory beyond the limit: some kilobytes per slice for every label, score and thread.
    memory_limit : int or str, optional
        Bytes, or text such as "2GiB". When the rows that metrics keep take half of it, further rows are written to a
        spill file and read back partition by partition. By default half of the memory available to the process. The
        results do not depend on it. Reading takes memory on top: about 100 MiB for Parquet. The different labels of
        classes and of partitions stay in memory; if they take more than half of the limit, it is an error.
    spill_dir : path, optional
        Folder for the spill file, by default the system's folder for temporary files. The file has no name: nothing is
        left of it, however the process ends.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

        With 1 all work is done in the calling thread; with more, Arrow may also decode with its own threads.
    min_rows : int
        Slices of fewer rows have no results; `small_slices` of the report counts them and their rows.
    on_invalid : {"raise", "drop"}
        For a null or NaN in a column that is read: raise an error that names the row, or drop the row and count it.
    progress : callable, optional
        Called as progress(stage, rows_done, rows_total) with stage "scan", "resolve" and, with intervals, "resample";
        rows_total is None while unknown.
    ci : float, optional
        The level of the intervals, between 0 and 1, such as 0.95. Every `Result` then has an `interval` and a
        `standard_error`. If there is no interval (fewer than two units, or more than one replicate in twenty
        undefined), `coverage["interval"]` has the reason.
    ci_method : {"linearized", "bootstrap", "normal", "delong", "anytime"}, optional
        "linearized": what leaving each unit out changes gives the standard error, and Student's distribution the
        interval, without a seed. "bootstrap": percentiles of the replicates. "normal": the value plus and minus normal
        quantiles times the standard deviation of the replicates. "delong": DeLong's variance, for the AUC of
        independent rows. "anytime": linearized, for a log that grows and is looked at again and again: all its
        intervals together hold at the level. By default linearized where a metric has it, else the bootstrap; with
        `replicates` or `seed` the bootstrap. Signatures name the method.
    replicates : int, optional
        Number of bootstrap replicates, at least 1. In each, a unit counts Poisson(1) times. All replicates are computed
        in one pass, except those of AUC, average precision, KS and EER of rows with `weight`: they take as long as that
        many evaluations. By default 1,000, if there are any.
    seed : int, optional
        From 0 to 2**64 - 1. Weights depend only on the seed, the replicate and the unit's key, so intervals are the
        same for any order of rows and any number of threads.
    unit : str or list of str, optional
        The column of resampling units, such as users or days: the rows of a unit are resampled together. By default the
        group, if there is one, else every row by itself, which is also the meaning of "row". Rows are identified by
        their number in the log. Every group has to be inside one unit. If users have several rows, resample users, not
        rows: rows of one user are alike, and intervals would be too narrow.
    curves : bool
        Also collect the data of `Report.plot` and `Report.pictures`: ROC, precision and recall, DET, lift, calibration
        and, with `group`, how AUC differs between groups; every score column is a line. Plots are of all rows, not of
        slices, and need metrics of classes; `Report.missing_pictures` has the reasons why plots are missing.
    prediction : str or list of str, optional
        The column of predicted labels, of the type of the labels: integers, strings, booleans or dates. Metrics such as
        accuracy, f1 and kappa are then of predicted labels, any number of classes. Several models are evaluated in one
        scan. If there are scores too, a metric is of predictions if its string says so, such as
        "accuracy(prediction=pred)" or "f1(average=macro)".
    probabilities : str or list of str, optional
        The probability of every class: a column of lists, or a list of columns, one for each class. They lie in [0, 1]
        and sum to 1 in every row, to within 1e-8 and the greatest of: the square root of the epsilon of their type
        (float64 1.5e-8, float32 3.5e-4, float16 0.03); 5e-7 for each class, as rounding to six digits leaves; 2**-7 in
        rows that have only the digits of bfloat16, and 2**-10 in those of float16. They are used as they are, and a sum
        that is not 1 is noted in the report. For ap and top_k_accuracy they may be any scores. Metrics such as logloss,
        brier, auc, ap, ece and top_k_accuracy are then of several classes, and labels of any type; the parameter
        `labels` names the classes in the order of the probabilities, "logloss(labels=[ant, bee, cat])". Without it,
        labels are the numbers 0, 1, 2 and so on. A list of lists of columns has several models. With `score` or
        `prediction`, a metric is of probabilities if its string says so, such as "logloss(probabilities=probs)".
    item, treatment, propensity : str, optional
        Columns of other roles, for metrics that read them: `list_metrics` has the roles of each metric.
    roles : dict of str and str, optional
        Columns of any other role, such as ``{"reward": "revenue"}``. Metrics of your own may have any roles:
        `fastmetrics.extend`.
    filesystem : file system, optional
        Where paths are looked up: a pyarrow or fsspec file system. By default a path that begins as in "s3://" says it,
        and any other path is local.
    storage_options : dict of str and str, optional
        Options of the file system that a path names, such as ``{"region": "eu-west-1"}``. Credentials are found as that
        file system finds them.
    version : int, optional
        The version of a Delta table, or the snapshot of an Iceberg table, that is read; by default the latest.
    timestamp : str or datetime, optional
        Read a table as it was at this time, such as "2026-11-01T00:00:00Z".
    format : str, optional
        The format of the files, if their names do not say it: parquet, csv, tsv, jsonl, orc or arrow.
    format_options : dict, optional
        Of CSV and TSV: `delimiter`, `quote`, `escape`, `header` (False: columns are f0, f1 and so on; or a list of
        names), `null_values` (texts that mean null), `column_types` (column -> type, ``{"user_id": "string"}``),
        `decimal_point`, `encoding`. Of JSON lines: `column_types`, `encoding`.
    missing_columns : {"raise", "null"}
        For a column that some of the files lack: raise an error that names the first of them, or read it as null in
        them; `notes` of the result names these files. A column that no file has is an error. Tables of Delta Lake and
        Iceberg have nulls where an older file lacks a column.
    time_zone : str, optional
        The zone in which expressions count days and hours, such as "Asia/Tokyo" or "+09:00": `date_trunc`, `extract`,
        casts to dates and timestamps, and texts beside times. Timestamps without a zone are then instants in UTC. By
        default those of a zone are in their own zone, and those without one are as they are written; those of Spark are
        in UTC.
    tasks : dict of str and Task, optional
        Several questions of one log, answered in one scan: ``{"ctr": Task(label="click", score="pctr"), "cvr": ...}``.
        What a task does not name is that of the call. Every `Result` has the name of its `task`.
    truth_columns : dict of str and str, optional
        The columns of the truth table by role, ``{"label": "rating", "group": "user", "item": "movie"}``: which items
        of every group are relevant, with their grades. Rows of the log are joined with it by `group` and `item`, so
        that metrics of ranked lists also know the items that the log does not show. Groups and items have the names of
        the log by default, and without a label every item of the table is relevant. The table is `truth` of a run.
    truth : path, table or frame, optional
        The relevant items of every group, a second table beside the log: a row for each item, perhaps with its grade.
        Anything that `data` may be. Its columns are `truth_columns`; without these, `label` is a column of this table,
        and groups and items have the names that they have in the log. A list of the log gets the grades of its items, 0
        for those that the table lacks; relevant items that it does not show count as not found. A group without a row
        of the log has no list.

    Returns
    -------
    Report
        `report["auc"]` is a float. The report prints as a table, converts (`to_dict`, `to_arrow`, `to_pandas`), and
        records rows read and dropped, groups used and left out, and a signature for every value. Undefined values are
        NaN with a reason.

    Raises
    ------
    ValueError
        An unknown metric or column (the message has near names), bad values (it names column and row), an unreadable
        file (it names the file), no rows, more different labels than fit into the memory limit; ci outside
        (0, 1), no replicates, a method that a metric does not have, a group with rows of several units.
    TypeError
        A column of another type than its metrics need; no `label` or `score` although metrics need them.
    FileNotFoundError
        A file that does not exist.
    OSError
        The spill folder cannot be used or has no space left; the message names it, and the bytes needed.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> log = {"click": [1, 0, 0, 1], "pctr": [0.9, 0.3, 0.8, 0.2], "user": ["a", "b", "a", "b"]}
    >>> report = fm.evaluate(log, ["auc", "gauc", "logloss"], label="click", score="pctr", group="user")
    >>> report["auc"], report["gauc"]
    (0.5, 0.5)
    """
    arguments = locals()
    started = time.perf_counter()
    question = question_of_call(evaluate, arguments)
    planned = question.plan_for(EVALUATE)
    plots: list[PlotPlan] = []
    if question.curves:
        from fastmetrics.engine.scan.plots import plan_plots

        plots = [plan_plots(task) for task in planned]
        pairs = zip(planned, plots, strict=True)
        planned = [task._replace(parts=own.add_statistics(task.parts)) for task, own in pairs]
    threads = count_threads(n_threads)
    input_options = InputOptions.of_call(arguments, question.time_zone)
    budget = make_memory_budget(memory_limit, spill_dir, threads)
    by_unit = question.ci is not None and not plots
    resolved, bands = [], []
    how = planned, question.on_invalid, budget, threads, progress, by_unit
    with scan_log(data, input_options, *how, truth=truth) as state:
        for number, (task, of_task) in enumerate(zip(planned, state.states, strict=True)):
            parts = []
            with name_task_in_errors(task.name):
                for part_number, part in enumerate(of_task.parts):
                    parts.append(resolve_part(part, task.resampling, threads, progress))
                    if plots and plots[number].part == part_number:
                        bands.append(plots[number].sample_bands(parts[-1], threads))
                    part.close()  # the next part needs the memory
            resolved.append(ResolvedTask(task, of_task, parts))
    report = make_report(resolved, time.perf_counter() - started, question, state.notes)
    if not plots:
        return report
    from fastmetrics.engine.scan.plots import TaskPlots, add_plots

    of_tasks = [
        TaskPlots(own, task.parts[own.part], of_task, task.task.name)
        for own, task, of_task in zip(plots, resolved, bands, strict=True)
    ]
    return add_plots(report, of_tasks, question.ci or 0)
