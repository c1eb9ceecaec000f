"""Intervals of metrics by resampling units (users, rows): replicates of every value, and what they say of it.

A replicate's value is what `evaluate` gives for the log in which the rows of every unit are repeated by its weight. The
weights are a function of seed, replicate and unit, so an interval depends on the rows alone.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.by_group import HASH, GroupExchange
from fastmetrics._core.group_runs import GroupPlan, reduce_groups
from fastmetrics._core.lots import HASH_BITS, Lots, UnitCounter
from fastmetrics._core.registry import Metric
from fastmetrics._core.replicates import LotStates, RowPlan, Sampled, Weights, sample_rows
from fastmetrics._core.rows import BLOCK_ROWS
from fastmetrics._core.statistic import Value
from fastmetrics.engine.columns import ROW_UNITS
from fastmetrics.engine.plan import Plan
from fastmetrics.engine.resolve import by_table
from fastmetrics.engine.scan import Scan

METHODS = ("bootstrap", "normal", "delong")
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
    def suffix(self) -> str:
        """What signatures say of it."""
        drawn = "" if self.method == "delong" else f"|replicates:{self.replicates}|seed:{self.seed}"
        return f"|ci:{self.level!r}|method:{self.method}{drawn}|unit:{self.unit}"


class Interval(NamedTuple):
    """The bounds of an interval and the standard error, or None; what coverage is to say of it."""

    bounds: tuple[float, float] | None
    standard_error: float | None
    coverage: dict[str, Any]


class Replicates(NamedTuple):
    """The values of all replicates, NaN where one is undefined, by metric, view and slice."""

    values: dict[ReplicateKey, np.ndarray]
    lots: Lots
    resampling: Resampling

    def interval(self, metric: Metric, view: int, number: int | None, value: Value) -> Interval:
        return make_interval(value, self.values.get((metric, view, number)), self.lots, self.resampling)


def read_resampling(
    ci: Any, ci_method: str, replicates: Any, seed: Any, unit: Any, group: str | None = None, plan: Plan | None = None
) -> Resampling | None:
    """How intervals are wanted (None: not at all); the unit is the group where none is named, else the row."""
    if unit is not None and not isinstance(unit, str):
        raise TypeError(f"unit must be the name of a column, or 'row'; found {unit!r}")
    if ci is None:
        if unit is not None:
            raise ValueError(f"unit={unit!r} is for intervals: ask for them, ci=0.95 say")
        return None
    is_number = isinstance(ci, (int, float, np.integer, np.floating)) and not isinstance(ci, (bool, np.bool_))
    if not is_number or not 0 < float(ci) < 1:
        raise ValueError(f"ci must be a number between 0 and 1, both excluded (0.95 is usual); found {ci!r}")
    if ci_method not in METHODS:
        raise ValueError(f"ci_method must be one of {', '.join(map(repr, METHODS))}; found {ci_method!r}")
    count = read_integer(replicates, "replicates", 1, (1 << 31) - 1)
    start = read_integer(seed, "seed", 0, (1 << HASH_BITS) - 1)
    alone = plan is not None and plan.targets.alone is not None
    if unit is None:
        unit = ROW_UNITS if group is None or alone or ci_method == "delong" else group
    if unit == ROW_UNITS and plan is not None and plan.needs("group") and ci_method != "delong":
        metric = next(metric for metric in plan.metrics if metric.spec.exchange == "group")
        raise ValueError(
            f"metric {metric!r} is computed inside groups, so rows cannot be resampled one by one: leave out "
            "unit='row', or name a column whose units are whole groups"
        )
    return Resampling(float(ci), ci_method, count, start, unit)


def read_integer(value: Any, name: str, low: int, high: int) -> int:
    try:
        number = None if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        bound = f"of at least {low}" if name == "replicates" else f"from {low} to 2**{HASH_BITS} - 1"
        raise ValueError(f"{name} must be an integer {bound}; found {value!r}")
    return number


def resample(scan: Scan, resampling: Resampling, n_threads: int) -> Replicates:
    """The replicates of all metrics, for every view and slice of the scan."""
    plan = scan.plan.of_metrics()
    if plan.needs("score"):
        metric = next(metric for metric in plan.metrics if metric.spec.exchange == "score")
        raise ValueError(f"metric {metric!r} has no intervals by resampling yet; leave it out, or leave out ci=")
    units = scan.units
    if units is None or not scan.kept:
        return Replicates({}, UnitCounter().lots(), resampling)
    lots = count_units(units)
    weights = Weights(lots, resampling.seed, resampling.replicates)
    sampled: dict[Any, Any] = {}
    n_slices = len(scan.reader.slices)
    if plan.statistics["none"]:
        row_plan = RowPlan(plan.statistics["none"], scan.views, n_slices, scan.eps)
        sampled |= sample_rows(units.store, row_plan, weights, n_threads)
    if scan.exchange is not None:
        for statistics in by_table(plan):
            group_plan = GroupPlan(
                statistics, scan.views, bool(n_slices), lambda own: LotStates(own, weights, None)
            )
            sampled |= reduce_groups(scan.exchange, group_plan, n_threads)
    return Replicates(finalise_all(scan, sampled, resampling.replicates), lots, resampling)


def count_units(exchange: GroupExchange) -> Lots:
    """The lots of all units of an exchange."""
    counter = UnitCounter()
    store = exchange.store
    for start, stop in store.runs(8 * BLOCK_ROWS):
        for number in range(store.n_blocks):
            counter.add(store.load([HASH], start, stop, numbers=range(number, number + 1)).columns[HASH])
    return counter.lots()


def finalise_all(scan: Scan, sampled: dict[Any, Any], replicates: int) -> dict[ReplicateKey, np.ndarray]:
    """Every metric of every view and slice, replicate by replicate."""
    values = {}
    numbers: list[int | None] = [None, *range(len(scan.reader.slices))]
    for view in range(len(scan.views)):
        for number in numbers:
            for metric in scan.plan.metrics:
                found = [sampled.get((own, view, number)) or Sampled(own, replicates) for own in metric.statistics()]
                values[metric, view, number] = finalise(metric, [own.states() for own in found], replicates)
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
        return Interval(None, None, coverage | {"interval": "the value is undefined"})
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
        width = quantile_of_normal(resampling.level) * error
        return Interval((value.value - width, value.value + width), error, coverage)
    tail = (1 - resampling.level) / 2
    low, high = np.quantile(defined, (tail, 1 - tail)).tolist()
    return Interval((low, high), error, coverage)


def quantile_of_normal(level: float) -> float:
    """How many standard deviations around its mean hold so much of a normal distribution."""
    from statistics import NormalDist

    return NormalDist().inv_cdf((1 + level) / 2)
