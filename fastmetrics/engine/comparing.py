"""The door for two models or more on the same log: differences, and whether they are more than chance."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from fastmetrics._core.comparison import Comparison, Difference
from fastmetrics._core.differences import adjusted, read_correction
from fastmetrics._core.group_wins import GOODNESS, Wins, count_group_wins, has_group_values
from fastmetrics._core.lots import HASH_BITS, MOST_LOTS
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import Metric
from fastmetrics._core.replicates import RowPlan
from fastmetrics._core.rows import LABEL, SCORE, SLICE, View, label_name, score_name
from fastmetrics._core.significance import check_level
from fastmetrics._core.statistic import Value
from fastmetrics._core.unit_wins import WinKey, count_counted_wins, count_unit_wins, has_unit_values
from fastmetrics._version import __version__
from fastmetrics.engine.columns import ColumnNames
from fastmetrics.engine.evaluate import make_room, read_names, scanned, several
from fastmetrics.engine.feed import Progress
from fastmetrics.engine.intervals import (
    DELONG,
    Replicates,
    Resampling,
    make_interval,
    read_resampling,
    resolve_intervals,
)
from fastmetrics.engine.plan import Plan, first_of, make_plan
from fastmetrics.engine.resolve import States
from fastmetrics.engine.scan import Scan

ROUNDING = 8 * float(np.finfo(np.float64).eps)
NO_DIFFERENCE = "no difference, in no replicate either"
SAME_DIFFERENCE = "the same difference in every replicate: without spread nothing can be said of chance"
SAME_PLACES = "no difference, at no row either"


class Judged(NamedTuple):
    """What is known of a difference beside its value."""

    bounds: tuple[float, float] | None
    standard_error: float | None
    pvalue: float
    reason: str | None = None


UNKNOWN = Judged(None, None, math.nan)


class Found(NamedTuple):
    """What a scan of the log gave: final states, how differences are judged, units won and lost.

    They are judged by the replicates of all values (`drawn`) or, without resampling, beforehand (`judged`).
    """

    scan: Scan
    names: ColumnNames
    states: States
    resampling: Resampling
    drawn: Replicates | None
    judged: Mapping[WinKey, Judged]
    wins: Mapping[WinKey, Wins]


def compare(
    data: Any,
    metrics: str | Sequence[str | Metric],
    *,
    scores: Sequence[str],
    label: str | Sequence[str] | None = None,
    group: str | None = None,
    weight: str | None = None,
    by: str | Sequence[str] | None = None,
    unit: str | None = None,
    ci: float = 0.95,
    ci_method: str = "bootstrap",
    replicates: int = 1000,
    seed: int = 0,
    correction: str | None = "holm",
    baseline: str | None = None,
    memory_limit: int | str | None = None,
    spill_dir: str | os.PathLike[str] | None = None,
    n_threads: int | None = None,
    on_invalid: str = "raise",
    progress: Progress | None = None,
) -> Comparison:
    """Compare models on the same log: differences of metrics with intervals and p-values, paired by unit.

    Units (users, days) are drawn again with all of their rows, for all models alike: B replicates of every value, made
    of the same draws, hence B replicates d_r of every difference d. The p-value is two-sided,
    (1 + #{|d_r - mean(d_r)| >= |d|}) / (B + 1), so it is never 0. The interval is that of the replicates. Values are
    those of `evaluate`, in one scan of the log.

    Parameters
    ----------
    data : path, list of paths, Arrow data, data frame or dict of arrays
        As for `evaluate`.
    metrics : sequence of str, or str
        As for `evaluate`.
    scores : list of str
        At least two columns of scores, one of each model; of metrics of "text" the hypotheses, of "partition" the
        clusters.
    label, group, weight, by : str or list of str, optional
        As for `evaluate`. Every slice is compared, and all rows.
    unit : str, optional
        The column of what is drawn as a whole: by default the group, where there is one, else every row by itself,
        which "row" asks for too. Users, not rows, are what should be drawn where a user has several rows: rows of one
        user are alike, and intervals would be too narrow.
    ci : float
        Level of the intervals, between 0 and 1.
    ci_method : {"bootstrap", "normal", "delong"}
        Percentiles of the replicates d_r; or d -+ z times their standard deviation; or, for AUC alone and rows that are
        independent of each other, the formulas of `delong_test`, which take some 40 bytes a row beside the limit.
    replicates : int
        How many, at least 1. With 1000 the least p-value there can be is 1/1001.
    seed : int
        Another one draws other weights. They depend on seed and unit alone, never on the order of rows.
    correction : {"holm", "benjamini-hochberg", "none"} or None
        How p-values are adjusted over all differences, that is metrics, slices, labels and models: Holm's method is for
        the chance of any false finding among them, that of Benjamini and Hochberg for the share of false findings.
    baseline : str, optional
        The score that all others are compared with, by default the first.
    memory_limit, spill_dir, n_threads, on_invalid, progress : optional
        As for `evaluate`.

    Returns
    -------
    Comparison
        `comparison["auc"]` is a `Difference`: both values, the difference, interval, p-value and adjusted p-value, and
        how many units the other model won, lost and tied. By metrics of groups these are groups, compared by their own
        values (within 1e-12 they tie); by metrics that are sums over rows they are units, where there are at most
        16,384 of them. It prints as a table, and converts (`to_dict`, `to_json`, `to_arrow`, `to_pandas`).

    Raises
    ------
    ValueError
        Fewer than two scores, a baseline that is none of them, an unknown correction, ci outside (0, 1), no replicates,
        and all that `evaluate` raises.
    TypeError, FileNotFoundError, OSError
        As `evaluate`.

    Notes
    -----
    Without a difference in any replicate, as of equal columns, p is 1, and the reason says so. With fewer than 2 units,
    or more than one replicate in twenty undefined, there is neither interval nor p-value, and the reason says why.

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
    plan = make_plan(metrics)
    ordered = read_scores(scores, baseline)
    correction = read_correction(correction)
    names = read_names(plan, label, ordered, group, weight, by)
    resampling = read_how(plan, names, ci, ci_method, replicates, seed, unit)
    names = names._replace(unit=resampling.unit)
    threads = count_threads(n_threads)
    room = make_room(memory_limit, spill_dir, threads)
    read = names._replace(unit=resampling.drawn_unit)
    with scanned(data, plan, read, on_invalid, room, threads, progress) as scan:
        states, intervals = resolve_intervals(scan, resampling, threads, progress)
        drawn = intervals if isinstance(intervals, Replicates) else None
        judged = judge_rows(scan, resampling.level, threads) if drawn is None else {}
        wins = {} if drawn is None else count_wins(scan, drawn, threads)
    found = Found(scan, names, states, resampling, drawn, judged, wins)
    differences = list(all_differences(found))
    return Comparison(
        adjusted(differences, correction),
        level=resampling.level,
        correction=correction,
        unit=resampling.unit,
        version=__version__,
        notes=[*uncounted(plan, drawn)],
        rows=scan.rows,
        dropped=dict(sorted(scan.dropped.items())),
        columns=names.roles(),
        seconds=time.perf_counter() - started,
    )


def count_wins(scan: Scan, drawn: Replicates, n_threads: int) -> dict[WinKey, Wins]:
    """Groups won and lost by metrics of groups, units by metrics of sums where units are few."""
    wins: dict[WinKey, Wins] = {}
    if not scan.kept:
        return wins
    metrics = scan.plan.metrics
    n_slices = len(scan.reader.slices)
    if scan.exchange is not None:
        wins |= count_group_wins(scan.exchange, metrics, scan.views, bool(n_slices), n_threads)
    of_sums = [metric for metric in metrics if has_unit_values(metric)]
    if drawn.lots.bits != HASH_BITS or not of_sums:
        return wins
    if scan.counted is not None:
        wins |= count_counted_wins(scan.counted, of_sums, scan.views, n_slices, drawn.lots)
    elif scan.units is not None:
        statistics = tuple(dict.fromkeys(own for metric in of_sums for own in metric.statistics()))
        plan = RowPlan(statistics, scan.views, n_slices, scan.eps)
        wins |= count_unit_wins(scan.units.store, of_sums, plan, drawn.lots, n_threads)
    return wins


def read_scores(scores: Any, baseline: Any) -> tuple[str, ...]:
    """The columns of scores, that of the baseline first."""
    names = several("scores", scores)
    if len(names) < 2:
        raise ValueError(f"scores must name two different columns or more, one of each model; found {scores!r}")
    if baseline is None:
        return names
    if baseline not in names:
        raise ValueError(f"baseline must be one of the scores, {', '.join(map(repr, names))}; found {baseline!r}")
    return (baseline, *(name for name in names if name != baseline))


def read_how(
    plan: Plan, names: ColumnNames, ci: Any, ci_method: str, replicates: Any, seed: Any, unit: Any
) -> Resampling:
    """How differences are judged."""
    check_level(ci, required=True)
    resampling = cast("Resampling", read_resampling(ci, ci_method, replicates, seed, unit, names.group, plan))
    if ci_method == DELONG and names.weight is not None:
        raise ValueError(f"ci_method='delong' knows no weights: leave out weight={names.weight!r}, or say 'bootstrap'")
    return resampling


def all_differences(found: Found) -> Iterator[Difference]:
    """Every metric of every model but the baseline, for all rows first, then slice by slice."""
    slices = found.scan.reader.slices.numbers
    wanted: list[tuple[int | None, dict[str, Any]]] = [(None, {})]
    wanted += [(slices[values], dict(zip(found.names.by, values, strict=True))) for values in sorted(slices)]
    n_scores = len(found.names.scores)
    for number, values in wanted:
        for view in range(len(found.scan.views)):
            if view % n_scores:
                for metric in found.scan.plan.metrics:
                    yield difference_of(found, metric, view - view % n_scores, view, number, values)


def difference_of(
    found: Found, metric: Metric, first: int, second: int, number: int | None, values: Mapping[str, Any]
) -> Difference:
    """What is to be said of a metric of two models (views) in a slice."""
    names, resampling = found.names, found.resampling
    baseline, other = (names.scores[found.scan.views[view].score] for view in (first, second))
    before, after = (metric.finalise(*found.states.of(metric.statistics(), view, number)) for view in (first, second))
    change = after.value - before.value
    reasons = [f"{name}: {value.reason}" for name, value in ((baseline, before), (other, after)) if value.reason]
    judged = found.judged.get((metric, second, number), UNKNOWN)
    if found.drawn is not None:
        own = [found.drawn.values.get((metric, view, number)) for view in (first, second)]
        judged = judge_replicates(change, own[0], own[1], found.drawn)
    reasons += [judged.reason] if judged.reason and not reasons else []
    wins = found.wins.get((metric, second, number))
    return Difference(
        repr(metric),
        baseline,
        other,
        before.value,
        after.value,
        pvalue=judged.pvalue,
        interval=judged.bounds,
        standard_error=judged.standard_error,
        slice=values,
        label=names.labels[found.scan.views[first].label],
        won=None if wins is None else wins.won,
        lost=None if wins is None else wins.lost,
        tied=None if wins is None else wins.tied,
        n_units=units_of(found, before, number),
        method=method_of(resampling),
        signature=f"{metric.signature(before.coverage, names.weight)}{resampling.suffix}|difference:{other}-{baseline}",
        reason="; ".join(reasons) or None,
    )


def units_of(found: Found, value: Value, number: int | None) -> int | None:
    """How many units there were, where that is known: of many, or of a slice, only where groups are the units."""
    if found.resampling.unit == found.names.group and "groups" in value.coverage:
        return int(value.coverage["groups"])
    if found.drawn is None:
        return value.coverage.get("rows")
    return found.drawn.lots.n_units if number is None and found.drawn.lots.bits == HASH_BITS else None


def method_of(resampling: Resampling) -> str:
    """The test in words."""
    if resampling.method == DELONG:
        return "DeLong's test of independent rows, two-sided"
    return f"{resampling.replicates:,} paired replicates by {resampling.unit}, two-sided"


def judge_replicates(change: float, before: np.ndarray | None, after: np.ndarray | None, drawn: Replicates) -> Judged:
    """What the replicates of two models' values say of their difference."""
    differences = paired(before, after)
    interval = make_interval(Value(change, {}), differences, drawn.lots, drawn.resampling)
    if differences is None or "interval" in interval.coverage:
        return Judged(None, interval.standard_error, math.nan, str(interval.coverage["interval"]))
    if not change and not differences.any():
        return Judged(interval.bounds, interval.standard_error, 1.0, NO_DIFFERENCE)
    if before is not None and after is not None and is_constant(differences, before, after):
        return Judged(interval.bounds, interval.standard_error, 1.0, SAME_DIFFERENCE)
    return Judged(interval.bounds, interval.standard_error, two_sided(change, differences), None)


def is_constant(differences: np.ndarray, before: np.ndarray, after: np.ndarray) -> bool:
    """Do the differences of replicates vary by rounding alone?"""
    magnitude = max(float(np.nanmax(np.abs(values))) for values in (before, after))
    spread = float(np.nanmax(differences)) - float(np.nanmin(differences))
    return spread <= ROUNDING * magnitude


def judge_rows(scan: Scan, level: float, n_threads: int) -> dict[WinKey, Judged]:
    """What a formula says of differences; it wants the rows of two models side by side in memory."""
    judged: dict[WinKey, Judged] = {}
    if not scan.kept:
        return judged
    store = scan.source()
    names = [name for name in store.types if name == SLICE or name.startswith((LABEL, SCORE))]
    columns = store.load(names, 0, store.n_partitions).columns
    firsts: dict[int, View] = {}
    for place, view in enumerate(scan.views):
        first = firsts.setdefault(view.label, view)
        if first is view:
            continue
        for number in (None, *range(len(scan.reader.slices))):
            where = slice(None) if number is None else columns[SLICE] == number
            labels, before, after = (
                np.ascontiguousarray(columns[name][where])
                for name in (label_name(view.label), score_name(first.score), score_name(view.score))
            )
            for metric in scan.plan.metrics:
                found = metric.compare_rows(level, labels, before, after, n_threads)
                if isinstance(found, str):
                    judged[metric, place, number] = Judged(None, None, math.nan, found)
                    continue
                low, high, error, pvalue = found
                judged[metric, place, number] = Judged((low, high), error, pvalue, None if error else SAME_PLACES)
    return judged


def uncounted(plan: Plan, drawn: Replicates | None) -> Iterator[str]:
    """Why units are not counted as won, lost and tied by some metrics."""
    reasons: dict[str, list[Metric]] = {}
    for metric in plan.metrics:
        exchange = metric.spec.exchange
        if metric.spec.best not in GOODNESS:
            reasons.setdefault("no value is better than another", []).append(metric)
        elif exchange == "group" and not has_group_values(metric):
            reasons.setdefault("groups have no values of their own", []).append(metric)
        elif exchange == "score":
            reasons.setdefault("rows of all units are ranked together", []).append(metric)
        elif exchange == "none" and not has_unit_values(metric):
            reasons.setdefault("all rows are one partition", []).append(metric)
        elif exchange == "none" and drawn is not None and drawn.lots.bits != HASH_BITS:
            reasons.setdefault(f"there are more than {MOST_LOTS:,} units", []).append(metric)
    for reason, metrics in reasons.items():
        yield f"units won and lost are not counted for {first_of(tuple(metrics))}: {reason}"


def paired(before: np.ndarray | None, after: np.ndarray | None) -> np.ndarray | None:
    """The difference in every replicate, NaN where either value is undefined."""
    if before is None or after is None:
        return None
    with np.errstate(invalid="ignore"):  # infinite in both: no difference is known
        drawn: np.ndarray = after - before
    return drawn


def two_sided(change: float, differences: np.ndarray) -> float:
    """How often differences vary around their mean by as much as the one found, which is one of them."""
    defined = differences[~np.isnan(differences)]
    centre = math.fsum(defined) / defined.shape[0]
    extreme = int(np.count_nonzero(np.abs(defined - centre) >= abs(change)))
    return (1 + extreme) / (1 + int(defined.shape[0]))
