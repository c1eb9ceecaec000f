"""Intervals of metrics by resampling units (users, rows): replicates of every value, and what they say of it.

A replicate's value is what `evaluate` gives for the log in which the rows of every unit are repeated by its weight. The
weights are a function of seed, replicate and unit, so an interval depends on the rows alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.blocks import HEAD, TAIL
from fastmetrics._core.by_group import HASH, UNIT, GroupExchange, GroupKeys
from fastmetrics._core.group_runs import Advance, GroupPlan, reduce_groups
from fastmetrics._core.lots import Lots, UnitCounter
from fastmetrics._core.normal import deviations
from fastmetrics._core.registry import Metric
from fastmetrics._core.replicates import (
    EVERYTHING,
    LOADED_BYTES,
    Drawn,
    DrawnStates,
    GroupsAndLots,
    LotStates,
    RowPlan,
    Sampled,
    Share,
    Weights,
    runs_of_rows,
    sample_rows,
)
from fastmetrics._core.score_replicates import replicate_scores
from fastmetrics._core.score_runs import ScoreWork
from fastmetrics._core.significance import check_level, check_replicates, check_seed
from fastmetrics._core.statistic import Value
from fastmetrics.engine.columns import ROW_UNITS, ColumnNames, title
from fastmetrics.engine.feed import Progress
from fastmetrics.engine.plan import Plan
from fastmetrics.engine.resolve import Counter, States, by_table, resolve
from fastmetrics.engine.scan import Scan

DELONG = "delong"
METHODS = ("bootstrap", "normal", DELONG)
UNDEFINED = "the value is undefined"
MOST_BYTES = 1 << 28  # of the replicates of slices that are made at a time
USED_INTEGERS = 16  # about so many of a state are not zero
MOST_REPLICATES = (1 << 31) - 1
MOST_UNDEFINED = 0.05  # of the replicates may be undefined

ReplicateKey = tuple[Metric, int, int | None]  # number of the view, slice (None: all rows)


class Resampling(NamedTuple):
    """How intervals are made: their level, the method, how many replicates, the seed, and the column of units."""

    level: float
    method: str
    replicates: int
    seed: int
    unit: str

    @property
    def drawn_unit(self) -> str | None:
        """The column that a scan has to read: None where nothing is drawn."""
        return None if self.method == DELONG else self.unit

    @property
    def suffix(self) -> str:
        """What signatures say of it."""
        drawn = "" if self.method == DELONG else f"|replicates:{self.replicates}|seed:{self.seed}"
        return f"|ci:{self.level!r}|method:{self.method}{drawn}|unit:{self.unit}"


class Interval(NamedTuple):
    """The bounds of an interval and the standard error, or None; what coverage is to say of it."""

    bounds: tuple[float, float] | None
    standard_error: float | None
    coverage: dict[str, Any]


class Replicates(NamedTuple):
    """The values of all replicates, NaN where one is undefined, by metric, view and slice.

    `units_of` gives the units of groups, where groups are inside of larger units.
    """

    values: dict[ReplicateKey, np.ndarray]
    lots: Lots
    resampling: Resampling
    units_of: Callable[[np.ndarray], np.ndarray] | None = None

    def interval(self, metric: Metric, view: int, number: int | None, value: Value) -> Interval:
        return make_interval(value, self.values.get((metric, view, number)), self.lots, self.resampling)


def read_resampling(
    ci: Any,
    ci_method: str,
    replicates: Any,
    seed: Any,
    unit: Any,
    group: str | None = None,
    plan: Plan | None = None,
    weight: str | None = None,
) -> Resampling | None:
    """How intervals are wanted (None: not at all); the unit is the group where none is named, else the row."""
    if unit is not None and not isinstance(unit, str):
        raise TypeError(f"unit must be the name of a column, or 'row'; found {unit!r}")
    if ci is None:
        if unit is not None:
            raise ValueError(f"unit={unit!r} is for intervals: ask for them, ci=0.95 say")
        return None
    check_level(ci)
    if not isinstance(ci_method, str) or ci_method not in METHODS:
        raise ValueError(f"ci_method must be one of {', '.join(map(repr, METHODS))}; found {ci_method!r}")
    if ci_method == DELONG:
        check_independent(unit, plan, weight)
    count, start = check_replicates(replicates, MOST_REPLICATES), check_seed(seed)
    alone = plan is not None and plan.targets.alone is not None
    if unit is None:
        unit = ROW_UNITS if group is None or alone or ci_method == DELONG else group
    if unit == ROW_UNITS and plan is not None and plan.needs("group"):
        metric = next(metric for metric in plan.metrics if metric.spec.exchange == "group")
        raise ValueError(
            f"metric {metric!r} is computed inside groups, so rows cannot be resampled one by one: leave out "
            "unit='row', or name a column whose units are whole groups"
        )
    return Resampling(float(ci), ci_method, count, start, unit)


def check_independent(unit: str | None, plan: Plan | None, weight: str | None) -> None:
    """For an interval without resampling every metric has to know one, and rows have to be units that count once."""
    for metric in () if plan is None else plan.metrics:
        if metric.spec.interval is None or metric.spec.interval.method != DELONG:
            raise ValueError(
                f"ci_method='delong' is for the AUC of independent rows; metric {metric!r} has intervals by "
                "ci_method='bootstrap' or 'normal'"
            )
    if unit not in (None, ROW_UNITS):
        raise ValueError(
            f"ci_method='delong' takes rows for independent, so it has no unit={unit!r}: leave out unit=, or say "
            "ci_method='bootstrap'"
        )
    if weight is not None:
        raise ValueError(
            f"ci_method='delong' is for rows that count once, so it takes no weights: leave out weight={weight!r}, or "
            "say ci_method='bootstrap'"
        )


class Analytic(NamedTuple):
    """Intervals that come from states of all rows: nothing is drawn again."""

    states: States
    resampling: Resampling

    def interval(self, metric: Metric, view: int, number: int | None, value: Value) -> Interval:
        if math.isnan(value.value):
            return Interval(None, None, {"interval": UNDEFINED})
        found = metric.find_interval(
            self.resampling.level, *self.states.of(metric.interval_statistics(), view, number)
        )
        if isinstance(found, str):
            return Interval(None, None, {"interval": found})
        low, high, error = found
        return Interval((low, high), error, {})


def added_to(plan: Plan, resampling: Resampling | None) -> Plan:
    """The plan with what intervals need of it that do not come from resampling."""
    if resampling is None or resampling.method != DELONG:
        return plan
    statistics = dict(plan.statistics)
    for metric in plan.metrics:
        own = statistics[metric.spec.exchange]
        statistics[metric.spec.exchange] = tuple(dict.fromkeys([*own, *metric.interval_statistics()]))
    return plan._replace(statistics=statistics)


def find_intervals(scan: Scan, states: States, resampling: Resampling, n_threads: int) -> Replicates | Analytic:
    """The intervals of every metric, as they were asked for, of a scan whose states are known."""
    if resampling.method == DELONG:
        return Analytic(states, resampling)
    return resample(scan, resampling, n_threads)


def resolve_intervals(
    scan: Scan, resampling: Resampling, n_threads: int, progress: Progress | None
) -> tuple[States, Replicates | Analytic]:
    """The states of all statistics, and the intervals of every metric as they were asked for."""
    if resampling.method == DELONG:
        states = resolve(scan, n_threads, progress)
        return states, Analytic(states, resampling)
    found = find_units(scan) if scan.kept else None
    plan = scan.plan.of_metrics()
    if found is None or not plan.needs("group") or not at_once(scan, plan, resampling.replicates, n_threads):
        states = resolve(scan, n_threads, progress, last=False)
        return states, resample(scan, resampling, n_threads, found, progress=progress)
    # Tables of groups are made once, for the values and for their replicates.
    lots, units_of = found
    weights = Weights(lots, resampling.seed, resampling.replicates)
    wanted = set(plan.statistics["group"])

    def new_states(statistics: Sequence[Any]) -> GroupsAndLots:
        own = [statistic for statistic in statistics if statistic in wanted]
        return GroupsAndLots(statistics, DrawnStates(own, weights, units_of))

    states = resolve(scan, n_threads, progress, False, new_states)
    keys = [key for key in states.found if isinstance(key[0], Drawn)]
    drawn = {(key[0].statistic, key[1], key[2]): states.found.pop(key) for key in keys}
    return states, resample(scan, resampling, n_threads, found, drawn, progress)


def resample(
    scan: Scan,
    resampling: Resampling,
    n_threads: int,
    found: tuple[Lots, UnitsOfGroups | None] | None = None,
    drawn: dict[Any, Any] | None = None,
    progress: Progress | None = None,
) -> Replicates:
    """The replicates of all metrics, for every view and slice of the scan; `drawn` has those of groups."""
    plan = scan.plan.of_metrics()
    if not scan.kept:
        return Replicates({}, UnitCounter().lots(), resampling)
    lots, units_of = find_units(scan) if found is None else found
    values: dict[ReplicateKey, np.ndarray] = {}
    by_score = tuple(metric for metric in plan.metrics if metric.spec.exchange == "score")
    additive = tuple(metric for metric in plan.metrics if metric.spec.exchange != "score")
    parts = list(shares(scan, plan, resampling.replicates, n_threads)) if additive else []
    rest = plan if drawn is None else plan._replace(statistics=plan.statistics | {"group": ()})
    n_passes = len(parts) * (bool(rest.statistics["none"]) + len(by_table(rest))) + len(parts) + bool(by_score)
    n_passes += (2 if len(scan.reader.slices) else 1) * len(scan.views) * bool(by_score)
    counter = Counter(progress, scan.kept, scan.kept * n_passes, "resample")
    counter.advance(0)
    if additive:
        weights = Weights(lots, resampling.seed, resampling.replicates)
        for share in parts:
            sampled = sample_additive(scan, rest, weights, units_of, n_threads, share, counter.advance) | (drawn or {})
            values |= finalise_all(scan, sampled, resampling.replicates, additive, share, counter.advance)
    if by_score:
        walked = walk_scores(scan, plan, lots, resampling, n_threads, counter.advance)
        values |= finalise_all(scan, walked, resampling.replicates, by_score, advance=counter.advance)
    counter.finish()
    return Replicates(values, lots, resampling, units_of)


def shares(scan: Scan, plan: Plan, replicates: int, n_threads: int) -> Iterator[Share]:
    """All rows, then slices as many at a time as there is memory for their replicates."""
    n_slices = len(scan.reader.slices)
    n_states = len(scan.views) * (len(plan.statistics["none"]) + len(plan.statistics["group"]))
    room = scan.room.given if scan.room is not None and scan.room.given is not None else MOST_BYTES
    most = max(1, min(room, MOST_BYTES) // (8 * USED_INTEGERS * replicates * n_states * n_threads))
    if n_slices < most:
        yield EVERYTHING
        return
    yield Share(True, 0, 0)
    for start in range(0, n_slices, most):
        yield Share(False, start, min(n_slices, start + most))


def at_once(scan: Scan, plan: Plan, replicates: int, n_threads: int) -> bool:
    """Is there memory for the replicates of all slices?"""
    return next(shares(scan, plan, replicates, n_threads)) == EVERYTHING


def sample_additive(
    scan: Scan,
    plan: Plan,
    weights: Weights,
    units_of: UnitsOfGroups | None,
    n_threads: int,
    share: Share = EVERYTHING,
    advance: Advance | None = None,
) -> dict[Any, Any]:
    """The replicates of additive statistics: of rows, and of groups."""
    sampled: dict[Any, Any] = {}
    n_slices = len(scan.reader.slices)
    if scan.counted is not None:
        sampled |= scan.counted.sample(weights, n_slices, share)
    if plan.statistics["none"] and scan.units is not None:
        row_plan = RowPlan(plan.statistics["none"], scan.views, n_slices, scan.eps, share)
        sampled |= sample_rows(scan.units.store, row_plan, weights, n_threads, advance)
    if scan.exchange is not None:
        for statistics in by_table(plan):
            group_plan = GroupPlan(
                statistics, scan.views, bool(n_slices), lambda own: LotStates(own, weights, units_of, share)
            )
            sampled |= reduce_groups(scan.exchange, group_plan, n_threads, advance)
    return sampled


def find_units(scan: Scan) -> tuple[Lots, UnitsOfGroups | None]:
    """The lots of all units; and the unit of every group, where groups are inside units."""
    if scan.counted is not None:
        return scan.counted.lots(), None
    counter = UnitCounter()
    units_of = find_units_of_groups(scan)
    if units_of is not None:
        counter.add(units_of.units)
        return counter.lots(), units_of
    store = scan.units.store if scan.units is not None else scan.source()
    for block in store.whole_blocks([HASH]):
        counter.add(block.load()[HASH])
    return counter.lots(), None


def find_units_of_groups(scan: Scan) -> UnitsOfGroups | None:
    """Where what is resampled is not the groups themselves."""
    exchange = scan.exchange
    if exchange is None or UNIT not in exchange.store.types or not scan.plan.of_metrics().needs("group"):
        return None
    return UnitsOfGroups(exchange, scan.names)


class UnitsOfGroups:
    """The unit of every group, by their hashes: 16 bytes for a group, in memory."""

    def __init__(self, exchange: GroupExchange, names: ColumnNames) -> None:
        store = exchange.store
        pairs: dict[tuple[int, int], list[np.ndarray]] = {}
        for start, stop, blocks in runs_of_rows(store, LOADED_BYTES):
            run = store.load([HASH, UNIT], start, stop, numbers=blocks).columns
            pairs.setdefault((start, stop), []).append(distinct_pairs(run[HASH], run[UNIT]))
        found = np.concatenate([distinct_pairs(*np.concatenate(own, axis=1)) for own in pairs.values()], axis=1)
        order = np.argsort(found[0], kind="stable")
        self.groups, self.units = found[0][order], found[1][order]
        several = np.flatnonzero(self.groups[1:] == self.groups[:-1])
        if several.shape[0]:
            key = find_key(exchange, self.groups[several[0]])
            raise ValueError(
                f"group {key!r} has rows of several values of {title('unit', names.unit or '')}: what is resampled "
                "has to have whole groups"
            )

    def __call__(self, hashes: np.ndarray) -> np.ndarray:
        """The units of groups."""
        units: np.ndarray = self.units[np.searchsorted(self.groups, hashes)]
        return units


def distinct_pairs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The different pairs of two columns, in the order of the first: uint64[2, n]."""
    order = np.lexsort((second, first))
    pairs = np.stack((first[order], second[order]))
    is_new = np.ones(pairs.shape[1], bool)
    is_new[1:] = (pairs[:, 1:] != pairs[:, :-1]).any(axis=0)
    return np.ascontiguousarray(pairs[:, is_new])


def find_key(exchange: GroupExchange, hashed: np.uint64) -> Any:
    """The key of a group whose hash is known."""
    store = exchange.store
    names = [HASH, HEAD, TAIL] if exchange.is_text else [HASH]
    for start, stop, blocks in runs_of_rows(store, LOADED_BYTES):
        run = store.load(names, start, stop, numbers=blocks)
        rows = np.flatnonzero(run.columns[HASH] == hashed)
        if rows.shape[0]:
            hashes = run.columns[HASH]
            heads, tails = (run.columns.get(name, hashes) for name in (HEAD, TAIL))
            return GroupKeys(hashes, heads, tails, exchange.key_dtype).at(int(rows[0])).tolist()[0]
    raise KeyError(hashed)


class Walked:
    """The states of all replicates of a statistic of the exchange by score; none where there were no rows."""

    def __init__(self, statistic: Any, replicates: int, found: list[Any] | None = None) -> None:
        self.found = [statistic.empty()] * replicates if found is None else found

    def states(self) -> Iterator[Any]:
        return iter(self.found)


def walk_scores(
    scan: Scan, plan: Plan, lots: Lots, resampling: Resampling, n_threads: int, advance: Advance | None = None
) -> dict[Any, Any]:
    """The replicates of the exchange by score, one view after the other: all rows, then slice by slice."""
    if scan.units is None:
        return {}
    walked: dict[Any, Any] = {}
    n_slices = len(scan.reader.slices)
    for number, view in enumerate(scan.views):
        is_weighted = scan.names.weight is not None
        work = ScoreWork(scan.units.store, view, is_weighted, plan.statistics["score"], n_threads)
        for slices in (0, n_slices) if n_slices else (0,):
            found = replicate_scores(work, lots, resampling.seed, resampling.replicates, slices, advance)
            for (statistic, own), states in found.items():
                walked[statistic, number, own] = Walked(statistic, resampling.replicates, states)
    return walked


def empty_replicates(statistic: Any, replicates: int) -> Any:
    """What a slice without rows has."""
    return Sampled(statistic, replicates) if hasattr(statistic, "new") else Walked(statistic, replicates)


def finalise_all(
    scan: Scan,
    sampled: dict[Any, Any],
    replicates: int,
    metrics: tuple[Metric, ...] | None = None,
    share: Share = EVERYTHING,
    advance: Advance | None = None,
) -> dict[ReplicateKey, np.ndarray]:
    """All metrics, or some, of every view and slice, replicate by replicate."""
    values = {}
    metrics = scan.plan.metrics if metrics is None else metrics
    numbers = [number for number in (None, *range(len(scan.reader.slices))) if share.has(number)]
    for view in range(len(scan.views)):
        for number in numbers:
            for metric in metrics:
                found = [
                    sampled.get((own, view, number)) or empty_replicates(own, replicates)
                    for own in metric.statistics()
                ]
                values[metric, view, number] = finalise(metric, [own.states() for own in found], replicates)
                if advance is not None:
                    # All of them together cost about as much as a pass over the rows.
                    advance(scan.kept // (len(scan.views) * len(numbers) * len(metrics)))
    return values


def finalise(metric: Metric, states: list[Iterator[Any]], replicates: int) -> np.ndarray:
    out = np.empty(replicates)
    for replicate, own in enumerate(zip(*states, strict=True)):
        out[replicate] = metric.finalise(*own).value
    return out


def make_interval(value: Value, values: np.ndarray | None, lots: Lots, resampling: Resampling) -> Interval:
    """The interval of a value by its replicates; without one, coverage tells why."""
    coverage: dict[str, Any] = {"lots": lots.n}
    if math.isnan(value.value) or values is None:
        return Interval(None, None, coverage | {"interval": UNDEFINED})
    if lots.n_units < 2:
        return Interval(None, None, coverage | {"interval": "one unit alone: two or more are needed"})
    defined = values[~np.isnan(values)]
    undefined = values.shape[0] - defined.shape[0]
    if undefined:
        coverage["undefined_replicates"] = undefined
    if undefined > MOST_UNDEFINED * values.shape[0]:
        reason = f"{undefined:,} of {values.shape[0]:,} replicates are undefined"
        return Interval(None, None, coverage | {"interval": reason})
    if not np.isfinite(defined).all():
        return Interval(None, None, coverage | {"interval": "replicates are infinite"})
    error = float(defined.std(ddof=1)) if defined.shape[0] > 1 else None
    if resampling.method == "normal":
        if error is None:
            return Interval(None, None, coverage | {"interval": "a standard deviation needs two replicates"})
        width = deviations(resampling.level) * error
        return Interval((value.value - width, value.value + width), error, coverage)
    tail = (1 - resampling.level) / 2
    low, high = np.quantile(defined, (tail, 1 - tail)).tolist()
    return Interval((low, high), error, coverage)
