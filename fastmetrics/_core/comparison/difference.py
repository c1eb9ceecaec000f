"""The difference of one metric between two models, with its interval, its test and its verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fastmetrics._core.elementary import log
from fastmetrics._core.immutable import EMPTY, FrozenDict, Immutable
from fastmetrics._core.inference.verdicts import CANNOT_TELL
from fastmetrics._core.results.flat_names import NamedNumbers
from fastmetrics._core.results.json_results import as_json_value, restored, with_types
from fastmetrics._core.results.slice_order import badness_of
from fastmetrics._core.results.table_columns import INTERVAL_ENDS, Kind, interval_fields

__all__ = ["Difference"]

FIELDS = (
    "metric", "baseline", "other", "slice", "label", "baseline_value", "other_value", "difference", "interval",
    "standard_error", "df", "verdict", "change", "verdict_interval", "verdict_level", "margin", "detectable", "pvalue",
    "log_pvalue", "adjusted_pvalue", "won", "lost", "tied", "n_units", "n_effective", "method", "signature", "reason",
    "task",
)  # fmt: skip
NUMBERS = (
    "baseline_value", "other_value", "difference", "standard_error", "df", "change", "verdict_level", "margin",
    "detectable", "pvalue", "log_pvalue", "adjusted_pvalue",
)  # fmt: skip
# Those that are numbers in every difference: NaN where others are None.
DEFINED = ("baseline_value", "other_value", "difference", "change", "pvalue", "log_pvalue", "adjusted_pvalue")
# The kinds of columns of a table; the others are texts.
KINDS: dict[str, Kind] = {
    **dict.fromkeys(NUMBERS, "number"),
    **dict.fromkeys(("won", "lost", "tied", "n_units", "n_effective"), "count"),
}
# Intervals, each with what the names of its ends begin with.
INTERVALS = {"interval": "", "verdict_interval": "verdict_"}
COLUMN_NAMES = frozenset({*FIELDS, *(prefix + end for prefix in INTERVALS.values() for end in INTERVAL_ENDS)})


class Difference(Immutable):
    """The difference of one metric between two models, on the same units.

    Attributes
    ----------
    metric : str
        The metric string.
    baseline, other : str
        The names of the two models: score columns, runs, systems.
    slice : dict
        Column -> value of the slice. Empty for all rows.
    label : str or None
        The label column, if there is one.
    baseline_value, other_value : float
        The metric of the baseline and of the other model; NaN if it is undefined.
    difference : float
        `other_value - baseline_value`.
    interval : tuple of float, or None
        Confidence interval of the difference, at the comparison's `level`.
    ci_low, ci_high : float or None
        The ends of the interval.
    standard_error : float or None
        The standard error of the difference.
    df : float or None
        The degrees of freedom of the standard error.
    verdict : str
        What the comparison shows, the first that holds: "equal" (identical columns), "better" or "worse" (with a
        margin: by more than the margin), "equal within the margin", "better within the margin" or "worse within the
        margin", "not worse than the margin", "cannot tell". "different" for a metric without a better direction.
    change : float
        What the verdict is about: the difference or, if the best value t is 0 or 1, ``|other_value - t| -
        |baseline_value - t|``.
    verdict_interval : tuple of float, or None
        The interval of the change at `verdict_level`. It leaves out 0, or lies within or beyond the margin, exactly if
        the verdict says so.
    verdict_level : float or None
        The level at which Holm's method decides this line among all of its family.
    margin : float or None
        The margin of the metric.
    detectable : float or None
        The smallest difference that would have been shown at `verdict_level` in four of five samples of this size.
    pvalue : float
        Of a two-sided paired test that the change is 0. NaN if there is none; then `reason` says why.
    log_pvalue : float
        Its natural logarithm: a p-value may be below the least number above 0.
    adjusted_pvalue : float
        The p-value corrected over all differences of its family.
    won, lost, tied : int or None
        Units in which the other model is better, worse and equal: of more than 16,384 units those of a sample, as the
        notes of the comparison say. None if units have no values of their own.
    n_units : int or None
        The number of compared units (users, queries, segments).
    n_effective : int or None
        Units that count in the standard error; of scores the fewer of units with positives and with negatives. Units
        share at most 16,384 entries.
    method : str
        The test, and how its p-value was computed.
    signature : str
        Everything that is needed to reproduce the numbers.
    reason : str or None
        Why a number is missing or needs care.
    task : str or None
        The name of the task, if the comparison has tasks.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> log = {"click": [0, 1, 0, 1], "old": [0.1, 0.8, 0.4, 0.35], "new": [0.1, 0.8, 0.3, 0.5], "user": [1, 1, 2, 2]}
    >>> one = fm.compare(log, "auc", label="click", score=["old", "new"], group="user")["auc"]
    >>> one.baseline_value, one.other_value, one.difference
    (0.75, 1.0, 0.25)
    """

    __slots__ = FIELDS

    metric: str
    baseline: str
    other: str
    slice: Mapping[str, Any]
    label: str | None
    baseline_value: float
    other_value: float
    difference: float
    interval: tuple[float, float] | None
    standard_error: float | None
    df: float | None
    verdict: str
    change: float
    verdict_interval: tuple[float, float] | None
    verdict_level: float | None
    margin: float | None
    detectable: float | None
    pvalue: float
    log_pvalue: float
    adjusted_pvalue: float
    won: int | None
    lost: int | None
    tied: int | None
    n_units: int | None
    n_effective: int | None
    method: str
    signature: str
    reason: str | None
    task: str | None

    def __init__(
        self,
        metric: str,
        baseline: str,
        other: str,
        baseline_value: float,
        other_value: float,
        *,
        pvalue: float = math.nan,
        adjusted_pvalue: float = math.nan,
        difference: float | None = None,
        interval: tuple[float, float] | None = None,
        standard_error: float | None = None,
        df: float | None = None,
        verdict: str = CANNOT_TELL,
        change: float | None = None,
        verdict_interval: tuple[float, float] | None = None,
        verdict_level: float | None = None,
        margin: float | None = None,
        detectable: float | None = None,
        log_pvalue: float | None = None,
        n_effective: int | None = None,
        slice: Mapping[str, Any] = EMPTY,  # noqa: A002
        label: str | None = None,
        won: int | None = None,
        lost: int | None = None,
        tied: int | None = None,
        n_units: int | None = None,
        method: str = "",
        signature: str = "",
        reason: str | None = None,
        task: str | None = None,
    ) -> None:
        baseline_value, other_value, pvalue = float(baseline_value), float(other_value), float(pvalue)
        difference = other_value - baseline_value if difference is None else float(difference)
        if log_pvalue is None:
            log_pvalue = log(pvalue) if pvalue > 0 else pvalue - math.inf
        self._set(
            metric=metric, baseline=baseline, other=other, slice=FrozenDict(slice), label=label,
            baseline_value=baseline_value, other_value=other_value, difference=difference, interval=interval,
            standard_error=standard_error, df=df, verdict=verdict,
            change=difference if change is None else float(change), verdict_interval=verdict_interval,
            verdict_level=verdict_level, margin=margin, detectable=detectable, n_effective=n_effective, pvalue=pvalue,
            log_pvalue=float(log_pvalue), adjusted_pvalue=float(adjusted_pvalue), won=won, lost=lost, tied=tied,
            n_units=n_units, method=method, signature=signature, reason=reason, task=task,
        )  # fmt: skip

    @property
    def ci_low(self) -> float | None:
        return None if self.interval is None else self.interval[0]

    @property
    def ci_high(self) -> float | None:
        return None if self.interval is None else self.interval[1]

    def __repr__(self) -> str:
        names = FIELDS if self.task is not None else [name for name in FIELDS if name != "task"]
        return f"Difference({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    def __hash__(self) -> int:
        return hash((self.metric, self.baseline, self.other, self.signature))

    def replace(self, **fields: Any) -> Difference:
        """A copy with other values in some fields."""
        return Difference(**{name: getattr(self, name) for name in FIELDS} | fields)

    def to_dict(self) -> dict[str, Any]:
        """The difference as plain Python for JSON. NaN becomes None, and has a reason."""
        fields: dict[str, Any] = {}
        for name in FIELDS:
            value = getattr(self, name)
            fields |= interval_fields(value, INTERVALS[name]) if name in INTERVALS else {name: value}
        values = fields
        fields = {name: as_json_value(value) for name, value in fields.items()}
        for name in ("label", "reason", "task"):
            if fields[name] is None:
                del fields[name]
        return with_types(fields, values, DEFINED)

    @classmethod
    def _of_dict(cls, fields: dict[str, Any]) -> Difference:
        """The difference that `to_dict` wrote."""
        own: dict[str, Any] = restored(fields, fields.get("types"))
        own |= {name: math.nan for name in DEFINED if own[name] is None}
        for name, prefix in INTERVALS.items():
            low, high = (own[prefix + end] for end in INTERVAL_ENDS)
            own[name] = None if low is None else (low, high)
        values: dict[str, Any] = {name: own.get(name) for name in FIELDS}
        return Difference(**values)


def named_numbers(one: Difference) -> NamedNumbers:
    """The numbers of a difference for `Comparison.to_metrics`."""
    numbers = {
        "baseline_value": one.baseline_value, "other_value": one.other_value, "difference": one.difference,
        **interval_fields(one.interval), "pvalue": one.pvalue, "adjusted_pvalue": one.adjusted_pvalue,
    }  # fmt: skip
    models = {"task": one.task, "label": one.label, "baseline": one.baseline, "other": one.other}
    return NamedNumbers(one.metric, models, one.slice, {f".{name}": number for name, number in numbers.items()})


def lost_by(difference: Difference) -> float:
    """How much worse the other model is than the baseline; NaN if it is not known."""
    values = difference.baseline_value, difference.other_value
    before, after = (badness_of(difference.metric, value) for value in values)
    return after - before
