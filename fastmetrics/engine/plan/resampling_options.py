"""The options of intervals: level, method, number of replicates, seed and resampling unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import GROUP_ROLE
from fastmetrics.engine.plan.column_names import ROW_UNITS, Key, as_key, format_key, with_text_names
from fastmetrics.engine.plan.metric_plan import Plan

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ColumnName

DELONG = "delong"
METHODS = ("bootstrap", "normal", DELONG)
MAX_REPLICATES = (1 << 31) - 1


class Resampling(NamedTuple):
    """How intervals are made; `unit` is the column or columns of resampling units, or ROW_UNITS.

    If models are compared in pairs, units won and lost are counted, or the rows of both are tested.
    """

    level: float
    method: str
    replicates: int
    seed: int
    unit: Key
    in_pairs: bool = False

    @property
    def unit_to_read(self) -> Key | None:
        """The unit column that a scan has to read; None if the method does not resample."""
        return None if self.method == DELONG else self.unit

    @property
    def signature_suffix(self) -> str:
        """The part of a value's signature that describes its interval."""
        replicates = "" if self.method == DELONG else f"|replicates:{self.replicates}|seed:{self.seed}"
        return f"|ci:{self.level!r}|method:{self.method}{replicates}|unit:{format_key(self.unit)}"


def read_resampling(
    ci: Any,
    ci_method: str,
    replicates: Any,
    seed: Any,
    unit: Any,
    group: Key | None = None,
    plan: Plan | None = None,
    weight: ColumnName | None = None,
) -> Resampling | None:
    """Check the options of intervals; None if no intervals are asked for.

    The default unit is the group, if there is one, else the row.
    """
    unit = read_unit(unit)
    if ci is None:
        if unit is not None:
            raise ValueError(f"unit={unit!r} is for intervals: ask for them, ci=0.95 say")
        return None
    from fastmetrics._core.comparison.test_results import check_level, check_replicates, check_seed

    check_level(ci)
    if not isinstance(ci_method, str) or ci_method not in METHODS:
        raise ValueError(f"ci_method must be one of {', '.join(map(repr, METHODS))}; found {ci_method!r}")
    if ci_method == DELONG:
        check_delong_options(unit, plan, weight)
    count, start = check_replicates(replicates, MAX_REPLICATES), check_seed(seed)
    non_numeric = plan is not None and not plan.is_numeric
    if unit is None:
        group = own_group(plan) if group is None and plan is not None else group
        unit = ROW_UNITS if group is None or non_numeric or ci_method == DELONG else group
    if unit == ROW_UNITS and plan is not None and plan.needs("hash"):
        raise ValueError(
            f"metric {plan.first_metric('hash')!r} is computed inside groups, so rows cannot be resampled one by one: "
            "leave out unit='row', or name a column whose units are whole groups"
        )
    return Resampling(float(ci), ci_method, count, start, unit)


def read_unit(unit: Any) -> Key | None:
    """The caller's column of units, or several; "row" for every row by itself."""
    unit = with_text_names(unit)
    if unit is not None and not isinstance(unit, (str, list, tuple)):
        raise TypeError(f"unit must be the name of a column, a list of names, or 'row'; found {unit!r}")
    return as_key("unit", unit)


def own_group(plan: Plan) -> Key | None:
    """The group that metrics name themselves, if all name the same one. Of several, the caller has to choose."""
    groups = {metric.columns[GROUP_ROLE] for metric in plan.metrics if GROUP_ROLE in metric.columns}
    if len(groups) > 1:
        raise ValueError("metrics have different groups: name the column whose units are resampled, unit=...")
    return as_key("group", next(iter(groups))) if groups else None


def check_delong_options(unit: Key | None, plan: Plan | None, weight: ColumnName | None) -> None:
    """DeLong's method needs metrics that have such an interval, rows as units, and no weights."""
    for metric in () if plan is None else plan.metrics:
        if metric.spec.interval is None or metric.spec.interval.method != DELONG or not metric.interval_statistics():
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


def add_interval_statistics(plan: Plan, resampling: Resampling | None) -> Plan:
    """The plan with the statistics of intervals that do not resample."""
    if resampling is None or resampling.method != DELONG:
        return plan
    statistics = dict(plan.statistics)
    for metric in plan.metrics:
        planned = statistics[metric.spec.exchange]
        statistics[metric.spec.exchange] = tuple(dict.fromkeys([*planned, *metric.interval_statistics()]))
    return plan.with_statistics(**statistics)
