"""The options of intervals: level, method, number of replicates, seed and unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastmetrics._core.kinds import GROUP_ROLE
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.engine.plan.column_names import ROW_UNITS, Key, as_key, format_key, with_text_names
from fastmetrics.engine.plan.metric_plan import Plan

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ColumnName

DELONG = "delong"
LINEARIZED = "linearized"
ANYTIME = "anytime"
BOOTSTRAP = "bootstrap"
NORMAL = "normal"
METHODS = (LINEARIZED, BOOTSTRAP, NORMAL, DELONG, ANYTIME)
DEFAULT_REPLICATES = 1000
MAX_REPLICATES = (1 << 31) - 1


class Resampling(NamedTuple):
    """How intervals are made; `unit` is the column or columns of independent units, or ROW_UNITS.

    If models are compared in pairs, units won and lost are counted, or the rows of both are tested. With linearized
    intervals, `falls_back` says that metrics that have none get the bootstrap.
    """

    level: float
    method: str
    replicates: int
    seed: int
    unit: Key
    in_pairs: bool = False
    falls_back: bool = False

    def bootstrapped(self) -> Resampling:
        """The same by the bootstrap, if it is linearized."""
        return self._replace(method=BOOTSTRAP) if self.is_linearized else self

    @property
    def is_linearized(self) -> bool:
        return self.method in (LINEARIZED, ANYTIME)

    @property
    def tightest_at(self) -> float | None:
        """As of `anytime.py`; None if the log is looked at once."""
        if self.method != ANYTIME:
            return None
        from fastmetrics._core.inference.anytime import TIGHTEST_AT  # it imports distributions

        return TIGHTEST_AT

    @property
    def unit_to_read(self) -> Key | None:
        """The unit column that a scan has to read; None if the method does not resample."""
        return None if self.method == DELONG else self.unit

    @property
    def signature_suffix(self) -> str:
        """The part of a value's signature that describes its interval."""
        resampled = self.method != DELONG and not self.is_linearized
        replicates = f"|replicates:{self.replicates}|seed:{self.seed}" if resampled else ""
        return f"|ci:{self.level!r}|method:{self.method}{replicates}|unit:{format_key(self.unit)}"


def read_resampling(
    ci: Any,
    ci_method: Any,
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
    if ci_method is not None and (not isinstance(ci_method, str) or ci_method not in METHODS):
        raise ValueError(f"ci_method must be one of {', '.join(map(repr, METHODS))}, or None; found {ci_method!r}")
    if ci_method in (LINEARIZED, ANYTIME, DELONG):
        for name, value in (("replicates", replicates), ("seed", seed)):
            if value is not None:
                raise ValueError(f"ci_method={ci_method!r} resamples nothing: leave out {name}={value!r}")
    if ci_method == DELONG:
        check_delong_options(unit, plan, weight, group)
    falls_back = ci_method is None and replicates is None and seed is None
    method = LINEARIZED if falls_back else (ci_method or BOOTSTRAP)
    count = DEFAULT_REPLICATES if replicates is None else check_replicates(replicates, MAX_REPLICATES)
    start = 0 if seed is None else check_seed(seed)
    non_numeric = plan is not None and not plan.is_numeric
    if unit is None:
        group = own_group(plan) if group is None and plan is not None else group
        unit = ROW_UNITS if group is None or non_numeric or ci_method == DELONG else group
    if unit == ROW_UNITS and plan is not None and plan.needs("hash"):
        raise ValueError(
            f"metric {plan.first_metric('hash')!r} is computed inside groups, so rows cannot be resampled one by one: "
            "leave out unit='row', or name a column whose units are whole groups"
        )
    return Resampling(float(ci), method, count, start, unit, falls_back=falls_back)


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


def check_delong_options(unit: Key | None, plan: Plan | None, weight: ColumnName | None, group: Key | None) -> None:
    """DeLong's method needs metrics that have such an interval, rows as units, and no weights.

    Rows of a group are alike: beside a group, rows as units have to be asked for.
    """
    if unit is None and group is not None:
        raise ValueError(
            f"ci_method='delong' takes rows for independent, and group={format_key(group)!r} has several: say "
            "unit='row' if rows are independent all the same, or leave out ci_method for intervals by group"
        )
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
