"""The entry point for two or more models on the same log: differences with intervals, tests and win counts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.comparison.comparison import Comparison
from fastmetrics._core.comparison.test_results import check_level
from fastmetrics._core.kinds import PROBABILITIES_ROLE
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import Metrics
from fastmetrics.engine.evaluation.evaluation import Evaluation, question_of_call
from fastmetrics.engine.evaluation.options.option import COMPARE, REST
from fastmetrics.engine.input.input_options import InputOptions
from fastmetrics.engine.partial.slices_and_rests import SlicesAndRests
from fastmetrics.engine.partial.slices_of_logs import add_log_column
from fastmetrics.engine.plan.column_names import (
    Key,
    as_column_tuple,
    as_model,
    format_key,
    key_columns,
    named_model_roles,
    with_text_names,
)
from fastmetrics.engine.plan.metric_plan import list_metric_names
from fastmetrics.engine.plan.plan_parts import PlanPart
from fastmetrics.engine.plan.resampling_options import DELONG, Resampling
from fastmetrics.engine.plan.tasks import PlannedTask, Task, name_task_in_errors, show
from fastmetrics.engine.scan.final_report import ResolvedTask, resolve_part
from fastmetrics.engine.scan.read_log import Progress, make_memory_budget, scan_log

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ColumnName, Log
    from fastmetrics._core.types.options import Correction, Format, IntervalMethod, MissingColumns, OnInvalid

__all__ = ["compare"]


@answers_unknown
def compare(
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
    unit: ColumnName | Sequence[ColumnName] | None = None,
    ci: float = 0.95,
    ci_method: IntervalMethod | None = None,
    replicates: int | None = None,
    seed: int | None = None,
    correction: Correction | None = "holm",
    baseline: ColumnName | Sequence[ColumnName] | None = None,
    memory_limit: int | str | None = None,
    spill_dir: str | os.PathLike[str] | None = None,
    n_threads: int | None = None,
    on_invalid: OnInvalid = "raise",
    progress: Progress | None = None,
    item: ColumnName | None = None,
    treatment: ColumnName | None = None,
    propensity: ColumnName | None = None,
    prediction: ColumnName | Sequence[ColumnName] | None = None,
    probabilities: Sequence[ColumnName | Sequence[ColumnName]] | None = None,
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
    margin: Mapping[str, float] | None = None,
    against: Log | None = None,
    truth_columns: Mapping[str, ColumnName] | None = None,
    truth: object | None = None,
) -> Comparison:
    """Which model is better on a log: differences of metrics with verdicts, intervals and p-values, paired by unit.

    What leaving a unit (a user, a day) out changes of a difference d gives its standard error, and Student's
    distribution the interval and the two-sided p-value; with U units that is never below 2^(1 - U). Holm's method
    decides all differences of a family together: those of all rows, and those of each grouping set, of each task. Every
    difference has a verdict, such as "better" or "cannot tell", and the interval at the level at which it was decided,
    which leaves out 0 exactly if the difference is shown. Values are those of `evaluate`, computed in one scan.

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

        At least two columns, one of each model; one column with ``baseline="rest"``.
    prediction : str or list of str, optional
        The column of predicted labels, of the type of the labels: integers, strings, booleans or dates. Metrics such as
        accuracy, f1 and kappa are then of predicted labels, any number of classes. Several models are evaluated in one
        scan. If there are scores too, a metric is of predictions if its string says so, such as
        "accuracy(prediction=pred)" or "f1(average=macro)".

        At least two columns, one of each model, in place of scores.
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

        Here a list has an entry for each model, a column of lists or a list of columns; in place of scores.
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

        Models are compared on all rows and on every slice.
    unit : str or list of str, optional
        The column of resampling units, such as users or days: the rows of a unit are resampled together. By default the
        group, if there is one, else every row by itself, which is also the meaning of "row". Rows are identified by
        their number in the log. Every group has to be inside one unit. If users have several rows, resample users, not
        rows: rows of one user are alike, and intervals would be too narrow.
    ci : float
        Level of the intervals, between 0 and 1.
    ci_method : {"linearized", "bootstrap", "normal", "delong", "anytime"}, optional
        "linearized": what leaving each unit out changes of the difference gives its standard error, interval and
        p-value, without a seed. "bootstrap": percentiles of the differences d_r of replicates, in which every unit
        counts Poisson(1) times for all models, and p = (1 + #{|d_r - mean(d_r)| >= |d|}) / (B + 1). "normal": d -+ z
        times the standard deviation of d_r, which is the error of the test too. "delong": the formulas of
        `delong_test`, for AUC only and for independent rows; they take some 40 bytes per row beyond the memory limit.
        "anytime": linearized, for a log that grows and is compared again and again: all its intervals together hold
        at the level. By default linearized where a metric has it, else the standard deviation of replicates; with
        `replicates` or `seed` the bootstrap.
    replicates : int, optional
        Number of bootstrap replicates, at least 1. In each, a unit counts Poisson(1) times. All replicates are computed
        in one pass, except those of AUC, average precision, KS and EER of rows with `weight`: they take as long as that
        many evaluations. By default 1,000, if there are any.

        With 1000, the smallest possible p-value of the bootstrap is 1/1001.
    seed : int, optional
        From 0 to 2**64 - 1. Weights depend only on the seed, the replicate and the unit's key, so intervals are the
        same for any order of rows and any number of threads.
    correction : {"holm", "benjamini-hochberg", "none"} or None
        How p-values are adjusted for the number of differences, in each family: all rows, and each grouping set, of
        each task. Holm's method controls the probability of any false discovery; it decides every verdict. The method
        of Benjamini and Hochberg controls the share of false discoveries, and only adjusts p-values. "none": every
        difference is tested by itself.
    baseline : str, optional
        The score column (or the columns) of the model that all others are compared with, by default the first. With
        "rest", every slice of one model is compared with the rest of the rows, by contributions of the same units.
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
    min_rows : int
        Slices of fewer rows have no results; `small_slices` of the report counts them and their rows.
    on_invalid : {"raise", "drop"}
        For a null or NaN in a column that is read: raise an error that names the row, or drop the row and count it.
    progress : callable, optional
        Called as progress(stage, rows_done, rows_total) with stage "scan", "resolve" and, with intervals, "resample";
        rows_total is None while unknown.
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
    margin : dict of str and float, optional
        The least difference that matters, by metric: ``{"auc": 0.001, "logloss": 0.0005}``. A model is then better or
        worse only beyond the margin, and may be equal within it or not worse than it.
    against : as data, optional
        Another log, of which every value is compared with that of `data`: of yesterday, or of the other arm of an
        experiment. One score is enough. Units that are in both logs are paired, others are independent; `method` and
        `notes` say which. With `by`, the slices that both logs have are compared. Both are read in the same way.
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
    Comparison
        `comparison["auc"]` is a `Difference`: both values, the difference, its verdict, interval, p-value and adjusted
        p-value, and how many units the other model won, lost and tied. For metrics of groups these are groups, compared
        by their values (they tie within 1e-12). For metrics that are sums over rows they are units; of
        more than 16,384 a sample, drawn by their hash, as `notes` say. It prints as sentences and a table, and converts
        (`to_dict`, `to_json`, `to_arrow`, `to_pandas`).

    Raises
    ------
    ValueError
        Fewer than two scores, a baseline that is not one of them, an unknown correction, ci outside (0, 1), no
        replicates, and every error of `evaluate`.
    TypeError, FileNotFoundError, OSError
        As `evaluate`.

    Notes
    -----
    For metrics whose best value t is 0 or 1, such as "copc", verdict and p-value are of the distances from it,
    |other_value - t| - |baseline_value - t|. Columns with the same values in all rows are "equal". Fewer than two units
    have neither interval nor p-value, and `reason` says why; so do replicates of which more than one in twenty is
    undefined.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6.
    Efron, B. and Tibshirani, R. (1993). An Introduction to the Bootstrap. Chapman & Hall, chapter 16 (tests).

    Examples
    --------
    >>> import fastmetrics as fm
    >>> log = {"click": [1, 0, 0, 1, 0, 1], "old": [0.3, 0.2, 0.8, 0.5, 0.6, 0.7], "user": [1, 1, 2, 2, 3, 3]}
    >>> log["new"] = [0.4, 0.1, 0.3, 0.6, 0.5, 0.8]
    >>> comparison = fm.compare(log, ["gauc"], label="click", score=["old", "new"], group="user")
    >>> one = comparison["gauc"]
    >>> round(one.difference, 4), (one.won, one.lost, one.tied), one.verdict
    (0.3333, (1, 0, 2), 'cannot tell')
    """
    started = time.perf_counter()
    arguments = locals()
    question, planned = plan_comparison(COMPARE, compare, arguments)
    logs = None if against is None else (against, data)
    # Imported here because they import all of resampling, which takes milliseconds.
    from fastmetrics.engine.scan.compared_logs import check_two_logs, names_of_logs, pair_logs, scan_logs
    from fastmetrics.engine.tested_differences import make_comparison

    threads = count_threads(n_threads)
    input_options = InputOptions.of_call(arguments, question.time_zone)
    budget = make_memory_budget(memory_limit, spill_dir, threads)
    resolved = []
    how = input_options, planned, question.on_invalid, budget, threads, progress
    if logs is not None:
        check_two_logs(*logs, planned)
    with (
        scan_log(data, *how, by_unit=True, keeps_sample=True, truth=truth)
        if logs is None
        else scan_logs(logs, *how, truth)
    ) as state:
        for task, of_task in zip(planned, state.states, strict=True):
            with name_task_in_errors(task.name):
                if logs is not None:
                    pair_logs(of_task, names_of_logs(*logs))
                elif task.has_rests:
                    of_task.pair_slices(SlicesAndRests(of_task.slices))
                parts = [resolve_part(part, task.resampling, threads, progress) for part in of_task.parts]
            resolved.append(ResolvedTask(task, of_task, parts))
    return make_comparison(resolved, question, time.perf_counter() - started, state.notes)


def plan_comparison(
    entry_point: str, function: Callable[..., Any], arguments: Mapping[str, Any]
) -> tuple[Evaluation, list[PlannedTask]]:
    """The question that the arguments of an entry point ask, and its tasks, with intervals in pairs of models."""
    given = {**arguments, "probabilities": models_of(arguments["probabilities"])}
    if isinstance(given["tasks"], Mapping):
        given["tasks"] = {name: with_models(task) for name, task in given["tasks"].items()}
    question = question_of_call(function, given, compared=True)
    if question is given["metrics"] and question.ci is None:
        question = question.replace(ci=given["ci"])
    check_level(question.ci, required=True)
    if arguments.get("against") is not None:
        return question, plan_logs(entry_point, question)
    planned = question.plan_for(
        entry_point, lambda task: order_models(task, question.baseline, question.ci_method)
    )
    for task in planned:
        with name_task_in_errors(task.name):
            check_models(task.parts, question)
    check_margins(question, planned)
    return question, [
        in_pairs(task, not has_one_model(task))._replace(has_rests=has_one_model(task)) for task in planned
    ]


def plan_logs(entry_point: str, question: Evaluation) -> list[PlannedTask]:
    """The tasks of a question to two logs, whose slices are by log too."""
    if question.baseline is not None:
        raise ValueError(f"baseline={question.baseline!r} is of one log; with against= the other log is the baseline")
    if question.ci_method == DELONG:
        raise ValueError("ci_method='delong' compares two scores of the same rows, not two logs")
    planned = question.plan_for(entry_point)
    check_margins(question, planned)
    by_log = question._replace(by=add_log_column(question.by)).plan_for(entry_point)
    return [in_pairs(task, False)._replace(names=own.names) for task, own in zip(by_log, planned, strict=True)]


def in_pairs(task: PlannedTask, has_models: bool) -> PlannedTask:
    """The task with intervals of the differences of its models, if it has several."""
    return task._replace(resampling=cast("Resampling", task.resampling)._replace(in_pairs=has_models))


def has_one_model(task: PlannedTask) -> bool:
    """Is there one model, so that its slices are compared with the rest of the rows?"""
    return all(len(part.names.scores) < 2 for part in task.parts)


def check_margins(question: Evaluation, planned: Sequence[PlannedTask]) -> None:
    """Every margin is that of a metric that is compared."""
    compared = list(dict.fromkeys(repr(metric) for task in planned for metric in task.plan.metrics))
    for name in question.margin or ():
        if name not in compared:
            raise ValueError(f"margin has {name}, which is not compared; compared are {', '.join(compared)}")


def models_of(probabilities: Any) -> Any:
    """The columns of every model: here a list has one entry a model, which is a column of lists or several columns."""
    if not isinstance(probabilities, (list, tuple)):
        return probabilities
    return [own if isinstance(own, (list, tuple)) else [own] for own in probabilities]


def with_models(task: Any) -> Any:
    return task._replace(probabilities=models_of(task.probabilities)) if isinstance(task, Task) else task


def check_models(parts: Sequence[PlanPart], question: Evaluation) -> None:
    """Every metric has to read the score columns that are compared; slices are compared with the rest of the rows."""
    of_rest = question.baseline == REST and all(len(part.names.scores) < 2 for part in parts)
    if of_rest and not parts[0].names.by:
        raise ValueError(f"baseline={REST!r} compares slices with the rest of the rows: name their columns, by=...")
    if of_rest and question.ci_method == DELONG:
        raise ValueError("ci_method='delong' compares two scores of the same rows, not a slice with the rest of them")
    for part in () if of_rest else parts:
        if len(part.names.scores) < 2:
            raise ValueError(
                f"metrics {list_metric_names(part.plan.metrics)} do not read the scores that are compared; "
                "leave them out"
            )


def order_models(task: Task, baseline: Any, ci_method: str | None) -> Task:
    """A task with the columns of its models in order, the baseline first. Models have columns of one role."""
    if ci_method == DELONG and task.weight is not None:
        raise ValueError(f"ci_method='delong' knows no weights: leave out weight={task.weight!r}, or say 'bootstrap'")
    named = named_model_roles(task.score, task.prediction, task.probabilities, task.roles)
    if len(named) > 1:
        raise ValueError(f"models are compared by {' or by '.join(named)}, not by both: call compare twice")
    (role,) = named
    if baseline == REST and getattr(task, role) is None:
        return task
    columns: Any = order_columns(getattr(task, role), baseline, role)
    if role == PROBABILITIES_ROLE:
        columns = list(map(key_columns, columns))
    return task._replace(**{role: columns})


def order_columns(columns: Any, baseline: Any, role: str) -> tuple[Key, ...]:
    """The columns of the models, the baseline first."""
    if role == PROBABILITIES_ROLE and isinstance(columns, (list, tuple)):
        names: tuple[Key, ...] = tuple(dict.fromkeys(as_model(own) for own in columns))
    else:
        names = as_column_tuple(role, columns)
    of_rest = baseline == REST and len(names) == 1
    if len(names) < 2 and not of_rest:
        raise ValueError(
            f"{role} must name two different columns or more, one of each model; found {show(names)}. One model "
            f"is compared by slices: by=..., baseline={REST!r}"
        )
    if baseline is None or of_rest:
        return names
    baseline = with_text_names(baseline)
    first = baseline if isinstance(baseline, str) else as_model(baseline)
    known = {format_key(name): name for name in names} | {name: name for name in names}
    if first not in known:
        columns = ", ".join(map(repr, names))
        raise ValueError(f"baseline must be one of the columns of {role}, {columns}; found {baseline!r}")
    return (known[first], *(name for name in names if name != known[first]))
