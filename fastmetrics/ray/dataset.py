"""`evaluate` and `compare`: metrics of a Dataset of Ray Data. This module runs on the driver.

Every block is a source. Blocks and pieces stay in Ray's object store, between calls of the functions of
`fastmetrics.distributed.tasks`; the driver gets summaries alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.optional_imports import LazyModule, check_version, pyarrow
from fastmetrics._core.registry import Metrics
from fastmetrics.distributed.decisions import Decision
from fastmetrics.distributed.runner import Runner, compare_with, evaluate_with
from fastmetrics.distributed.tasks import (
    Job,
    columns_to_read,
    cut_source,
    plan_job,
    summarize_source,
    summarize_target,
)
from fastmetrics.engine.evaluation.evaluation import Evaluation
from fastmetrics.engine.evaluation.options.option import RAY, RAY_COMPARE
from fastmetrics.engine.input.truth_rows import truth_tasks
from fastmetrics.engine.plan.tasks import PlannedTask, Task
from fastmetrics.engine.results.report import Report
from fastmetrics.engine.scan.final_report import ResolvedTask

if TYPE_CHECKING:
    from fastmetrics._core.comparison.comparison import Comparison
    from fastmetrics._core.types.arrays import ColumnName

ray: Any = LazyModule("ray")

__all__ = ["compare", "evaluate"]


@answers_unknown
def evaluate(
    data: Any,
    metrics: Metrics | Evaluation | None = None,
    *,
    label: ColumnName | Sequence[ColumnName] | None = None,
    score: ColumnName | Sequence[ColumnName] | None = None,
    group: ColumnName | Sequence[ColumnName] | None = None,
    weight: ColumnName | None = None,
    where: Any = None,
    by: ColumnName | Sequence[ColumnName] | Sequence[Sequence[ColumnName]] | None = None,
    on_invalid: str = "raise",
    n_partitions: int | None = None,
    memory_limit: int | str | None = None,
    spill_dir: str | None = None,
    ci: float | None = None,
    ci_method: str | None = None,
    replicates: int | None = None,
    seed: int | None = None,
    unit: ColumnName | Sequence[ColumnName] | None = None,
    item: ColumnName | None = None,
    treatment: ColumnName | None = None,
    propensity: ColumnName | None = None,
    prediction: ColumnName | Sequence[ColumnName] | None = None,
    probabilities: ColumnName | Sequence[ColumnName] | Sequence[Sequence[ColumnName]] | None = None,
    roles: Mapping[str, ColumnName] | None = None,
    tasks: Mapping[str, Task] | None = None,
    min_rows: int = 0,
    time_zone: str | None = None,
    truth_columns: Mapping[str, ColumnName] | None = None,
    truth: object | None = None,
) -> Report:
    """Evaluate a Dataset of Ray Data: the same metrics, to the same bits, as `fastmetrics.evaluate` over its rows.

    The dataset is executed once, and of it the columns that are read stay in Ray's object store until the report is
    made. Every block is a source: a task tells the driver a little of it, and if rows have to meet, other tasks cut it
    into pieces and combine these, which move through the object store. Ray repeats the tasks of workers that end.

    Parameters
    ----------
    data : ray.data.Dataset
        A task of Ray reads some of its blocks.
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
    min_rows : int
        Slices of fewer rows have no results; `small_slices` of the report counts them and their rows.
    on_invalid : {"raise", "drop"}
        For a null or NaN in a column that is read: raise an error that names the row, or drop the row and count it.
    n_partitions : int, optional
        Into how many places rows are moved, if some have to meet; by default one for each CPU of the cluster, at most
        64.
    memory_limit : int or str, optional
        Memory of a task in its Python worker; rows that do not fit spill to a file. By default half of the memory
        available on the worker's machine, divided by its cores.
    spill_dir : str, optional
        A folder on the workers for spill files; by default their folder for temporary files.
    ci : float, optional
        The level of the intervals, between 0 and 1, such as 0.95. Every `Result` then has an `interval` and a
        `standard_error`. If there is no interval (fewer than two units, or more than one replicate in twenty
        undefined), `coverage["interval"]` has the reason.

        Intervals are those of `fastmetrics.evaluate`, to the same bits.
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

        Rows of a Dataset have no position, so the unit has to be a column.
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
    tasks : dict of str and Task, optional
        Several questions of one log, answered in one scan: ``{"ctr": Task(label="click", score="pctr"), "cvr": ...}``.
        What a task does not name is that of the call. Every `Result` has the name of its `task`.
    time_zone : str, optional
        The zone in which expressions count days and hours, such as "Asia/Tokyo" or "+09:00": `date_trunc`, `extract`,
        casts to dates and timestamps, and texts beside times. Timestamps without a zone are then instants in UTC. By
        default those of a zone are in their own zone, and those without one are as they are written; those of Spark are
        in UTC.
    truth_columns : dict of str and str, optional
        The columns of the truth table by role, ``{"label": "rating", "group": "user", "item": "movie"}``: which items
        of every group are relevant, with their grades. Rows of the log are joined with it by `group` and `item`, so
        that metrics of ranked lists also know the items that the log does not show. Groups and items have the names of
        the log by default, and without a label every item of the table is relevant. The table is `truth` of a run.
    truth : table of the same engine, optional
        The relevant items of every group, as for `fastmetrics.evaluate`: a second table of the kind of `data`.

    Returns
    -------
    Report
        Equal to that of `fastmetrics.evaluate` over the same rows.

    Raises
    ------
    ValueError, TypeError
        As `fastmetrics.evaluate`. The message names the Ray block in which the row is counted.
    OSError
        A worker cannot spill.

    Examples
    --------
    >>> import ray, fastmetrics.ray                                                          # doctest: +SKIP
    >>> fastmetrics.ray.evaluate(                                                            # doctest: +SKIP
    ...     ray.data.read_parquet("clicks/"), ["auc", "gauc"], label="click", score="pctr", group="user_id"
    ... )
    """
    check_dataset(data, RAY)
    return evaluate_with(run_tasks, RAY, evaluate, locals())


@answers_unknown
def compare(
    data: Any,
    metrics: Metrics | Evaluation | None = None,
    *,
    label: ColumnName | Sequence[ColumnName] | None = None,
    score: ColumnName | Sequence[ColumnName] | None = None,
    group: ColumnName | Sequence[ColumnName] | None = None,
    weight: ColumnName | None = None,
    where: Any = None,
    min_rows: int = 0,
    by: ColumnName | Sequence[ColumnName] | Sequence[Sequence[ColumnName]] | None = None,
    unit: ColumnName | Sequence[ColumnName] | None = None,
    ci: float = 0.95,
    ci_method: str | None = None,
    replicates: int | None = None,
    seed: int | None = None,
    correction: str | None = "holm",
    baseline: ColumnName | Sequence[ColumnName] | None = None,
    n_partitions: int | None = None,
    memory_limit: int | str | None = None,
    spill_dir: str | None = None,
    on_invalid: str = "raise",
    item: ColumnName | None = None,
    treatment: ColumnName | None = None,
    propensity: ColumnName | None = None,
    prediction: ColumnName | Sequence[ColumnName] | None = None,
    probabilities: Sequence[ColumnName | Sequence[ColumnName]] | None = None,
    roles: Mapping[str, ColumnName] | None = None,
    time_zone: str | None = None,
    tasks: Mapping[str, Task] | None = None,
    margin: Mapping[str, float] | None = None,
    truth_columns: Mapping[str, ColumnName] | None = None,
    truth: object | None = None,
) -> Comparison:
    """Compare models on a Dataset of Ray Data: the differences of `fastmetrics.compare`, to the same bits.

    The tasks are those of `evaluate` with intervals.

    Parameters
    ----------
    data : ray.data.Dataset
        A task of Ray reads some of its blocks.
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

        At least two columns, one of each model.
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

        Rows of a Dataset have no position, so the unit has to be a column.
    ci : float
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
    n_partitions : int, optional
        Into how many places rows are moved, if some have to meet; by default one for each CPU of the cluster, at most
        64.
    memory_limit : int or str, optional
        Memory of a task in its Python worker; rows that do not fit spill to a file. By default half of the memory
        available on the worker's machine, divided by its cores.
    spill_dir : str, optional
        A folder on the workers for spill files; by default their folder for temporary files.
    min_rows : int
        Slices of fewer rows have no results; `small_slices` of the report counts them and their rows.
    on_invalid : {"raise", "drop"}
        For a null or NaN in a column that is read: raise an error that names the row, or drop the row and count it.
    item, treatment, propensity : str, optional
        Columns of other roles, for metrics that read them: `list_metrics` has the roles of each metric.
    roles : dict of str and str, optional
        Columns of any other role, such as ``{"reward": "revenue"}``. Metrics of your own may have any roles:
        `fastmetrics.extend`.
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
    truth_columns : dict of str and str, optional
        The columns of the truth table by role, ``{"label": "rating", "group": "user", "item": "movie"}``: which items
        of every group are relevant, with their grades. Rows of the log are joined with it by `group` and `item`, so
        that metrics of ranked lists also know the items that the log does not show. Groups and items have the names of
        the log by default, and without a label every item of the table is relevant. The table is `truth` of a run.
    truth : table of the same engine, optional
        The relevant items of every group, as for `fastmetrics.evaluate`: a second table of the kind of `data`.

    Returns
    -------
    Comparison
        Equal to that of `fastmetrics.compare` over the same rows.

    Raises
    ------
    ValueError, TypeError
        As `fastmetrics.compare`. The message names the Ray block in which the row is counted.
    OSError
        A worker cannot spill.

    Examples
    --------
    >>> import ray, fastmetrics.ray                                                          # doctest: +SKIP
    >>> fastmetrics.ray.compare(                                                             # doctest: +SKIP
    ...     ray.data.read_parquet("clicks/"), "auc", label="click", score=["pctr", "pctr_new"], unit="user_id"
    ... )
    """
    check_dataset(data, RAY_COMPARE)
    return compare_with(run_tasks, RAY_COMPARE, compare, locals())


def check_dataset(data: Any, entry_point: str, argument: str = "data") -> None:
    """Check that there is a Dataset, and a version of Ray that has what is needed."""
    if type(data).__module__.partition(".")[0] != "ray" or not hasattr(data, "to_arrow_refs"):
        function = entry_point.removeprefix("ray.")
        raise TypeError(
            f"{argument} must be a Dataset of Ray Data; found {type(data).__name__}. For other data use "
            f"fastmetrics.{function}"
        )
    check_version("ray", f"fastmetrics.{entry_point}")


def run_tasks(
    planned: Sequence[PlannedTask], question: Evaluation, arguments: Mapping[str, Any]
) -> list[ResolvedTask]:
    """Run all rounds; `arguments` are those of the entry point."""
    truth = arguments["truth"]
    of_truth = truth_tasks(planned, truth)
    blocks = blocks_to_read(arguments["data"], planned)
    n_cpus = int(ray.cluster_resources().get("CPU", 1))
    plan, job = plan_job(planned, question, arguments, n_cpus, "Ray block {}", "ray.cloudpickle")
    if of_truth:
        check_dataset(truth, RAY, "truth")
        job = job._replace(n_of_log=len(blocks))
        blocks += blocks_to_read(truth, of_truth)
    return plan.resolve(RayRunner(job, blocks).run(plan))


def blocks_to_read(dataset: Any, tasks: Sequence[PlannedTask]) -> list[Any]:
    """References to the blocks, with the columns that tasks read."""
    schema = dataset.schema()
    no_rows = {} if schema is None else dict(zip(schema.names, map(arrow_type, schema.types), strict=True))
    columns = columns_to_read(pyarrow.schema(no_rows).empty_table(), tasks)
    return list(dataset.select_columns(columns).to_arrow_refs())


def arrow_type(found: Any) -> Any:
    """The type of a column; null, if Arrow has none for it."""
    return found if isinstance(found, pyarrow.DataType) else pyarrow.null()


class RayRunner(Runner):
    """The steps as tasks of Ray, over references to blocks."""

    def __init__(self, job: Job, blocks: Sequence[Any]) -> None:
        self.job, self.sent, self.blocks = job, ray.put(job), blocks
        self.cut_by: Any = None
        self.pieces: list[tuple[Any, ...]] = []  # references to those of all blocks, by target

    def summarize_sources(self, decision: Decision) -> list[bytes]:
        step, decided = ray.remote(summarize_source), self.job.dumps(decision)
        return self.fetch([step.remote(self.sent, decided, *own) for own in enumerate(self.blocks)])

    def move_pieces(self, decision: Decision) -> None:
        def cut(*arguments: Any) -> tuple[Any, ...]:
            return None, *cut_source(*arguments)  # Ray unpacks two values, and not one

        self.cut_by = ray.put(self.job.dumps(decision))
        step = ray.remote(num_returns=decision.targets + 1)(cut)
        by_block = [step.remote(self.sent, self.cut_by, *own)[1:] for own in enumerate(self.blocks)]
        self.pieces = list(zip(*by_block, strict=True))

    def summarize_targets(self, decision: Decision) -> list[bytes]:
        step, decided = ray.remote(summarize_target), ray.put(self.job.dumps(decision))
        return self.fetch([step.remote(self.sent, self.cut_by, decided, *own) for own in self.pieces])

    def fetch(self, summaries: list[Any]) -> list[bytes]:
        """The summaries. An error that a task raised is raised here as it was there."""
        try:
            found: list[bytes] = ray.get(summaries)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        return found
