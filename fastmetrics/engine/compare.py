"""The entry point for two or more models on the same log: differences with intervals, tests and win counts."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from fastmetrics._core.columns.row_blocks import LABEL, SCORE, SLICE, ScoreLabelPair, label_name, score_name
from fastmetrics._core.comparison.comparison import Comparison, Difference
from fastmetrics._core.comparison.multiple_testing import adjust_pvalues, read_correction
from fastmetrics._core.comparison.test_results import check_level
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
from fastmetrics._core.kinds import PREDICTION_ROLE, PROBABILITIES_ROLE, SCORE_ROLE
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import Metric
from fastmetrics._core.resampling.additive_replicates import RowReduction
from fastmetrics._core.resampling.resampling_units import HASH_BITS, MAX_UNIT_BUCKETS
from fastmetrics._core.statistic import Value
from fastmetrics._version import __version__
from fastmetrics.engine.plan.column_names import (
    ColumnNames,
    Key,
    as_column_tuple,
    as_model,
    format_key,
    join_roles,
    key_columns,
    named_model_roles,
    read_column_names,
)
from fastmetrics.engine.plan.metric_plan import Plan, list_metric_names, make_plan
from fastmetrics.engine.plan.plan_parts import PlanPart, divide_plan
from fastmetrics.engine.plan.resampling_options import DELONG, Resampling, read_resampling
from fastmetrics.engine.scan.intervals import MetricReplicates, make_interval, resolve_intervals
from fastmetrics.engine.scan.log_scan import Progress, make_memory_budget, scan_log
from fastmetrics.engine.scan.resolve import FinalStates
from fastmetrics.engine.scan.scan import Scan

__all__ = ["compare"]

ROUNDING = 8 * float(np.finfo(np.float64).eps)
NO_DIFFERENCE = "no difference, in no replicate either"
SAME_DIFFERENCE = "the same difference in every replicate: without spread nothing can be said of chance"
# The keywords that name the columns of models, by role.
COMPARED = {SCORE_ROLE: "scores", PREDICTION_ROLE: "predictions", PROBABILITIES_ROLE: "probabilities"}
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

    scan: Scan
    group: Key | None
    states: FinalStates
    resampling: Resampling
    replicates: MetricReplicates | None
    analytic_tests: Mapping[WinKey, TestedDifference]
    win_counts: Mapping[WinKey, WinCounts]


def compare(
    data: Any,
    metrics: str | Sequence[str | Metric],
    *,
    scores: Sequence[str] | None = None,
    label: str | Sequence[str] | None = None,
    group: str | Sequence[str] | None = None,
    weight: str | None = None,
    by: str | Sequence[str] | None = None,
    unit: str | Sequence[str] | None = None,
    ci: float = 0.95,
    ci_method: str = "bootstrap",
    replicates: int = 1000,
    seed: int = 0,
    correction: str | None = "holm",
    baseline: str | Sequence[str] | None = None,
    memory_limit: int | str | None = None,
    spill_dir: str | os.PathLike[str] | None = None,
    n_threads: int | None = None,
    on_invalid: str = "raise",
    progress: Progress | None = None,
    item: str | None = None,
    treatment: str | None = None,
    propensity: str | None = None,
    roles: Mapping[str, str] | None = None,
    predictions: Sequence[str] | None = None,
    probabilities: Sequence[str | Sequence[str]] | None = None,
) -> Comparison:
    """Compare models on the same log: differences of metrics with intervals and p-values, paired by unit.

    Units (users, days) are resampled with all of their rows. Every replicate uses the same weights for all models, so B
    replicates of every value give B replicates d_r of every difference d. The p-value is two-sided,
    (1 + #{|d_r - mean(d_r)| >= |d|}) / (B + 1), so it is never 0. The interval is that of the replicates. Values are
    those of `evaluate`, computed in one scan of the log.

    Parameters
    ----------
    data : path, list of paths, Arrow data, data frame or dict of arrays
        Parquet, Arrow IPC or CSV files (also a glob, a list, a directory, hive-partitioned or not); a pyarrow Table,
        RecordBatchReader or Dataset; anything with ``__arrow_c_stream__`` (polars, pandas, DuckDB relations); a dict of
        arrays. CSV has no types: Arrow infers them, so an id written 007 is read as the integer 7.
    metrics : sequence of str, or str
        Metric strings such as "auc", "gauc(weight=pairs)". A single string is split at commas. `list_metrics` lists
        them all. A metric string may name its own columns, "rmse(label=minutes, score=forecast)" or
        "ndcg(group=[user,day])@10": metrics of different columns, kinds and groups share one scan. A metric by group
        takes another statistic of the groups than their mean: "ndcg(stat=p10)@10", also min, max, and "stat=below,
        at=0.5" for the share of groups below 0.5; the `rule` of quantiles is linear, lower or higher.
    scores : list of str, optional
        At least two columns of scores, one per model. For metrics of target "text" they are hypotheses, for those of
        target "partition" clusters.
    predictions : list of str, optional
        At least two columns of predicted labels, one per model, in place of scores.
    probabilities : list of str or of lists, optional
        The probabilities of several classes of at least two models, in place of scores: of each model a column of
        lists, or a list of columns, one for each class.
    label : str or list of str, optional
        The column of labels: 0 and 1 (any integer, bool or float type), or -1 and +1. Other metrics read other labels;
        `describe_metrics` has the target of each. Target "real": any finite numbers. Target "graded": finite numbers
        that are not negative. Together with metrics of classes, both read only 0 and 1. Target "text": the column of
        references, by default "reference"; strings, or lists of strings if rows have several references (a null in a
        list is a missing reference). Target "partition": the column of classes, by default "label"; integers, strings,
        dates or any other labels. With several columns, every score is evaluated against every label.
    group : str or list of str, optional
        The column of group (user) keys: integers, strings, booleans, dates, times or floats; -0.0 is 0.0. Several
        columns are one key, ``["user_id", "session_id"]``: rows with equal values in all of them are one group. Metrics
        that are computed inside groups need it.
    weight : str, optional
        The column of row weights, from 0 to 1e300; a row of weight zero is left out.
    by : str or list of str, optional
        Columns whose values divide the rows into slices (numbers, strings, booleans or dates; at most 10,000
        combinations). Every metric is computed for every slice and for all rows. Slices take memory beyond the limit:
        some kilobytes per slice for every label, score and thread.

        Models are compared on all rows and on every slice.
    unit : str or list of str, optional
        The column of resampling units, such as users or days: the rows of a unit are resampled together. By default the
        group, if there is one, else every row by itself, which is also the meaning of "row". Rows are identified by
        their number in the log. Every group has to be inside one unit. If users have several rows, resample users, not
        rows: rows of one user are alike, and intervals would be too narrow.
    ci : float
        Level of the intervals, between 0 and 1.
    ci_method : {"bootstrap", "normal", "delong"}
        "bootstrap": percentiles of the replicates d_r. "normal": d -+ z times their standard deviation. "delong": the
        formulas of `delong_test`, for AUC only and for independent rows; they take some 40 bytes per row beyond the
        memory limit.
    replicates : int
        Number of bootstrap replicates, at least 1. In each, a unit counts Poisson(1) times. All replicates are computed
        in one pass, except those of AUC, average precision, KS and EER of rows with `weight`: they take as long as that
        many evaluations.

        With 1000, the smallest possible p-value is 1/1001.
    seed : int
        From 0 to 2**64 - 1. Weights depend only on the seed, the replicate and the unit's key, so intervals are the
        same for any order of rows and any number of threads.
    correction : {"holm", "benjamini-hochberg", "none"} or None
        How p-values are adjusted for the number of differences. Holm's method controls the probability of any false
        discovery, the method of Benjamini and Hochberg the share of false discoveries.

        The differences are those of all metrics, slices, labels and models.
    baseline : str, optional
        The score column (or the columns) of the model that all others are compared with, by default the first.
    memory_limit : int or str, optional
        Bytes, or text such as "2GiB". When the rows that metrics keep take half of it, further rows are written to a
        spill file and read back partition by partition. By default half of the memory available to the process. The
        results do not depend on it. Reading takes memory on top: about 100 MiB for Parquet. Distinct pairs of labels of
        partitions stay in memory, 50 to 100 bytes each; if they take more than half of the limit, it is an error.
    spill_dir : path, optional
        Folder for the spill file, by default the system's folder for temporary files. The file has no name: nothing is
        left of it, however the process ends.
    n_threads : int, optional
        Number of threads; by default the number of CPUs that the process may use. The result does not depend on it.
    on_invalid : {"raise", "drop"}
        For a null or NaN in a column that is read: raise an error that names the row, or drop the row and count it.
    progress : callable, optional
        Called as progress(stage, rows_done, rows_total) with stage "scan", "resolve" and, with intervals, "resample";
        rows_total is None while unknown.
    item, treatment, propensity : str, optional
        Columns of other roles, for metrics that read them: `describe_metrics` has the roles of each metric.
    roles : dict of str and str, optional
        Columns of any other role, such as ``{"reward": "revenue"}``. Metrics of your own may have any roles:
        `fastmetrics.extend`.

    Returns
    -------
    Comparison
        `comparison["auc"]` is a `Difference`: both values, the difference, interval, p-value and adjusted p-value, and
        how many units the other model won, lost and tied. For metrics of groups these are groups, compared by their
        values (they tie within 1e-12). For metrics that are sums over rows they are units, if there are at most 16,384.
        It prints as a table, and converts (`to_dict`, `to_json`, `to_arrow`, `to_pandas`).

    Raises
    ------
    ValueError
        Fewer than two scores, a baseline that is not one of them, an unknown correction, ci outside (0, 1), no
        replicates, and every error of `evaluate`.
    TypeError, FileNotFoundError, OSError
        As `evaluate`.

    Notes
    -----
    If no replicate has a difference, as for equal columns, p is 1, and `reason` says so. With fewer than 2 units, or
    more than one replicate in twenty undefined, there is neither interval nor p-value, and `reason` says why.

    References
    ----------
    Efron, B. and Tibshirani, R. (1993). An Introduction to the Bootstrap. Chapman & Hall, chapter 16 (tests).

    Examples
    --------
    >>> import fastmetrics as fm
    >>> log = {"click": [1, 0, 0, 1, 0, 1], "old": [0.3, 0.2, 0.8, 0.5, 0.6, 0.7], "user": [1, 1, 2, 2, 3, 3]}
    >>> log["new"] = [0.4, 0.1, 0.3, 0.6, 0.5, 0.8]
    >>> comparison = fm.compare(log, ["gauc"], label="click", scores=["old", "new"], group="user")
    >>> one = comparison["gauc"]
    >>> round(one.difference, 4), (one.won, one.lost, one.tied)
    (0.3333, (1, 0, 2))
    """
    started = time.perf_counter()
    named = named_model_roles(scores, predictions, probabilities)
    if len(named) > 1:
        words = [COMPARED[role] for role in named]
        raise ValueError(f"models are compared by {' or by '.join(words)}, not by both: call compare twice")
    (model_role,) = named
    plan = make_plan(metrics, named)
    columns = {SCORE_ROLE: scores, PREDICTION_ROLE: predictions, PROBABILITIES_ROLE: probabilities}[model_role]
    models: dict[str, Any] = dict.fromkeys(COMPARED)
    models[model_role] = ordered = order_models(columns, baseline, COMPARED[model_role])
    if model_role == PROBABILITIES_ROLE:
        models[model_role] = list(map(key_columns, ordered))
    correction = read_correction(correction)
    other_roles = {"item": item, "treatment": treatment, "propensity": propensity}
    other_roles |= {role: models[role] for role in (PREDICTION_ROLE, PROBABILITIES_ROLE)}
    names = read_column_names(plan, label, models[SCORE_ROLE], group, weight, by, join_roles(other_roles, roles))
    resampling = read_test_options(plan, names, ci, ci_method, replicates, seed, unit)
    names = names._replace(unit=resampling.unit)
    threads = count_threads(n_threads)
    budget = make_memory_budget(memory_limit, spill_dir, threads)
    parts = divide_plan(plan, names, resampling)
    check_models(parts)
    notes: list[str] = []
    with scan_log(data, parts, on_invalid, budget, threads, progress) as scan:
        compared = []
        for part in scan.scans:
            compared.append(compare_part(part, names.group, resampling, threads, progress))
            notes += explain_missing_counts(part.plan, compared[-1].replicates)
    differences = [
        difference
        for slice_number, slice_values in scan.slices.in_order()
        for of_part in compared
        for difference in iterate_differences(of_part, slice_number, slice_values)
    ]
    return Comparison(
        adjust_pvalues(differences, correction),
        level=resampling.level,
        correction=correction,
        unit=format_key(resampling.unit),
        version=__version__,
        notes=notes,
        rows=scan.rows,
        dropped=dict(sorted(scan.dropped.items())),
        columns=names.by_role(),
        seconds=time.perf_counter() - started,
    )


def check_models(parts: Sequence[PlanPart]) -> None:
    """Every metric has to read the score columns that are compared."""
    for plan, names in parts:
        if len(names.scores) < 2:
            raise ValueError(
                f"metrics {list_metric_names(plan.metrics)} do not read the scores that are compared; leave them out"
            )


def compare_part(
    scan: Scan, group: Key | None, resampling: Resampling, n_threads: int, progress: Progress | None
) -> ComparisonScan:
    """Resolve a scan, and test the differences of its metrics. `group` is the group of the caller."""
    states, intervals = resolve_intervals(scan, resampling, n_threads, progress)
    if isinstance(intervals, MetricReplicates):
        wins = count_wins(scan, intervals, n_threads)
        return ComparisonScan(scan, group, states, resampling, intervals, {}, wins)
    return ComparisonScan(scan, group, states, resampling, None, test_rows(scan, resampling.level, n_threads), {})


def count_wins(scan: Scan, replicates: MetricReplicates, n_threads: int) -> dict[WinKey, WinCounts]:
    """Win counts: of groups for metrics of groups, of units for metrics that are sums, if units are few."""
    wins: dict[WinKey, WinCounts] = {}
    if not scan.rows_kept:
        return wins
    metrics = scan.plan.metrics
    n_slices = len(scan.slices)
    if scan.group_exchange is not None:
        wins |= count_group_wins(
            scan.group_exchange, metrics, scan.score_label_pairs, bool(n_slices), n_threads,
            scan.reader.key_texts.rank(),
        )  # fmt: skip
    of_sums = [metric for metric in metrics if has_unit_values(metric)]
    buckets, pairs = replicates.unit_buckets, scan.score_label_pairs
    if buckets.bits != HASH_BITS or not of_sums:
        return wins
    if scan.counted_rows is not None:
        wins |= count_wins_of_counted_rows(scan.counted_rows, of_sums, pairs, n_slices, buckets)
    elif scan.unit_exchange is not None:
        statistics = tuple(dict.fromkeys(statistic for metric in of_sums for statistic in metric.statistics()))
        reduction = RowReduction(statistics, pairs, n_slices, scan.score_epsilons)
        wins |= count_unit_wins(scan.unit_exchange.store, of_sums, reduction, buckets, n_threads)
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


def test_rows(scan: Scan, level: float, n_threads: int) -> dict[WinKey, TestedDifference]:
    """Test differences by a formula over the rows of two models, all of them in memory."""
    tested: dict[WinKey, TestedDifference] = {}
    if not scan.rows_kept:
        return tested
    store = scan.range_store()
    names = [name for name in store.types if name == SLICE or name.startswith((LABEL, SCORE))]
    columns = store.load_partitions(names, 0, store.n_partitions).columns
    baselines: dict[int, ScoreLabelPair] = {}
    for pair_number, pair in enumerate(scan.score_label_pairs):
        baseline = baselines.setdefault(pair.label, pair)
        if baseline is pair:
            continue
        for slice_number in (None, *range(len(scan.slices))):
            where = slice(None) if slice_number is None else columns[SLICE] == slice_number
            labels, before, after = (
                np.ascontiguousarray(columns[name][where])
                for name in (label_name(pair.label), score_name(baseline.score), score_name(pair.score))
            )
            for metric in scan.plan.metrics:
                key = (metric, pair_number, slice_number)
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


def order_models(columns: Any, baseline: Any, role: str) -> tuple[Key, ...]:
    """The columns of the models, the baseline first."""
    if role == COMPARED[PROBABILITIES_ROLE] and isinstance(columns, (list, tuple)):
        names: tuple[Key, ...] = tuple(dict.fromkeys(as_model(own) for own in columns))
    else:
        names = as_column_tuple(role, columns)
    if len(names) < 2:
        raise ValueError(f"{role} must name two different columns or more, one of each model; found {columns!r}")
    if baseline is None:
        return names
    first = baseline if isinstance(baseline, str) else as_model(baseline)
    known = {format_key(name): name for name in names} | {name: name for name in names}
    if first not in known:
        raise ValueError(f"baseline must be one of the {role}, {', '.join(map(repr, names))}; found {baseline!r}")
    return (known[first], *(name for name in names if name != known[first]))


def read_test_options(
    plan: Plan, names: ColumnNames, ci: Any, ci_method: str, replicates: Any, seed: Any, unit: Any
) -> Resampling:
    """The options of intervals and tests."""
    check_level(ci, required=True)
    resampling = cast("Resampling", read_resampling(ci, ci_method, replicates, seed, unit, names.group, plan))
    if ci_method == DELONG and names.weight is not None:
        raise ValueError(f"ci_method='delong' knows no weights: leave out weight={names.weight!r}, or say 'bootstrap'")
    return resampling


def iterate_differences(
    compared: ComparisonScan, slice_number: int | None, slice_values: Mapping[str, Any]
) -> Iterator[Difference]:
    """The differences of a slice: every metric of every model but the baseline."""
    n_scores = len(compared.scan.names.scores)
    for pair in range(len(compared.scan.score_label_pairs)):
        if pair % n_scores:
            baseline_pair = pair - pair % n_scores
            for metric in compared.scan.plan.metrics:
                yield make_difference(compared, metric, (baseline_pair, pair), slice_number, slice_values)


def make_difference(
    compared: ComparisonScan,
    metric: Metric,
    pairs: tuple[int, int],
    slice_number: int | None,
    slice_values: Mapping[str, Any],
) -> Difference:
    """The difference of a metric between two models, given by their score-label pairs, in a slice."""
    names, resampling, replicates = compared.scan.names, compared.resampling, compared.replicates
    baseline, other = (names.score_of(compared.scan.score_label_pairs[pair]) for pair in pairs)
    before, after = (
        metric.finalise(*compared.states.select(metric.statistics(), pair, slice_number)) for pair in pairs
    )
    change = after.value - before.value
    reasons = [f"{name}: {value.reason}" for name, value in ((baseline, before), (other, after)) if value.reason]
    key = (metric, pairs[1], slice_number)
    tested = compared.analytic_tests.get(key, UNTESTED)
    if replicates is not None:
        values = [replicates.values.get((metric, pair, slice_number)) for pair in pairs]
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
        label=names.label_of(compared.scan.score_label_pairs[pairs[0]]) or None,
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
    if compared.resampling.unit in (compared.group, compared.scan.names.group) and "groups" in value.coverage:
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


