"""Result: one value of a report, with its interval, its coverage, and where it belongs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fastmetrics._core.immutable import Immutable, freeze
from fastmetrics._core.results.json_results import as_json_value, restored, with_types
from fastmetrics._core.results.table_columns import interval_fields

__all__ = ["Result"]

COUNTED = ("standard_error", "df", "n_units", "n_effective", "rows", "positives")


class Result(Immutable):
    """One value of a report.

    Attributes
    ----------
    metric : str
        The metric string in its canonical spelling.
    score : str
        The score column.
    slice : dict
        Column -> value of the slice; empty for all rows.
    value : float
        NaN if the metric is undefined.
    signature : str
        All options that are needed to reproduce the value.
    coverage : dict
        Rows and groups that the value is computed from, and those that were left out, by reason.
    reason : str or None
        Why the value is NaN.
    label : str or None
        The label column.
    interval : tuple of float, or None
        If intervals were asked for (the signature has their level and method): the bounds of this value's interval, or
        None, and `coverage["interval"]` has the reason. For a value of an approximate state: bounds that certainly
        contain the exact value.
    ci_low, ci_high : float or None
        The ends of the interval.
    standard_error : float or None
        With an interval: of the value, the standard deviation of the replicates, or that of DeLong's estimate.
    df : float or None
        The degrees of freedom of the standard error, if it is linearized or of replicates.
    n_units, n_effective : int or None
        The units with weight in the value, about if they share entries; of these those that count in the standard
        error: of scores the fewer of units with positives and with negatives.
    task : str or None
        The name of the task, if the evaluation has tasks.
    rows, positives : int or None
        The rows of the slice that were not dropped, and those of them with label 1, if labels are of two classes; None
        if they were not counted. They are no part of what makes results equal.
    groups : int or None
        The groups that the value is computed from, for metrics that are computed inside groups.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> log = {"click": [0, 1, 0, 1], "score": [0.1, 0.8, 0.4, 0.35]}
    >>> result = fm.evaluate(log, "auc", label="click", score="score").result("auc")
    >>> result.value, result.rows, result.positives
    (0.75, 4, 2)
    """

    __slots__ = (
        "coverage", "df", "interval", "label", "metric", "n_effective", "n_units", "positives", "reason", "rows",
        "score", "signature", "slice", "standard_error", "task", "value",
    )  # fmt: skip

    metric: str
    score: str
    slice: Mapping[str, Any]
    value: float
    signature: str
    coverage: Mapping[str, Any]
    reason: str | None
    label: str | None
    interval: tuple[float, float] | None
    standard_error: float | None
    df: float | None
    n_units: int | None
    n_effective: int | None
    task: str | None
    rows: int | None
    positives: int | None

    def __init__(
        self,
        metric: str,
        score: str,
        slice: Mapping[str, Any],  # noqa: A002
        value: float,
        signature: str,
        coverage: Mapping[str, Any],
        reason: str | None = None,
        *,
        label: str | None = None,
        interval: tuple[float, float] | None = None,
        standard_error: float | None = None,
        df: float | None = None,
        n_units: int | None = None,
        n_effective: int | None = None,
        task: str | None = None,
        rows: int | None = None,
        positives: int | None = None,
    ) -> None:
        self._set(
            metric=metric, score=score, slice=freeze(slice), value=float(value), signature=signature,
            coverage=freeze(coverage), reason=reason, label=label, interval=interval, standard_error=standard_error,
            df=df, n_units=n_units, n_effective=n_effective, task=task, rows=rows, positives=positives,
        )  # fmt: skip

    @property
    def ci_low(self) -> float | None:
        return None if self.interval is None else self.interval[0]

    @property
    def ci_high(self) -> float | None:
        return None if self.interval is None else self.interval[1]

    @property
    def groups(self) -> int | None:
        """The groups that the value is computed from; None if the metric is not computed inside groups."""
        groups = self.coverage.get("groups")
        return None if groups is None else int(groups)

    def _content(self) -> tuple[object, ...]:
        # They are counted where a metric beside this one needs labels of two classes.
        return super()._content_without("positives")

    def __repr__(self) -> str:
        fields: tuple[str, ...] = (
            "metric", "score", "slice", "value", "signature", "coverage", "reason", "label", "interval",
        )  # fmt: skip
        fields += tuple(name for name in ("standard_error", "task") if getattr(self, name) is not None)
        return f"Result({', '.join(f'{name}={getattr(self, name)!r}' for name in fields)})"

    def __hash__(self) -> int:
        return hash((self.metric, self.score, self.signature))

    def to_dict(self) -> dict[str, Any]:
        """The result as plain Python for JSON. A value that JSON cannot represent is None and has a reason."""
        fields: dict[str, Any] = {
            **({} if self.task is None else {"task": self.task}),
            "metric": self.metric,
            **({} if self.label is None else {"label": self.label}),
            "score": self.score,
            "slice": as_json_value(self.slice),
            "value": self.value if math.isfinite(self.value) else None,
            "signature": self.signature,
            "coverage": as_json_value(self.coverage),
        }
        if self.interval is not None:
            fields |= {name: as_json_value(end) for name, end in interval_fields(self.interval).items()}
        fields |= {
            name: as_json_value(count)
            for name in (*COUNTED, "groups")
            if (count := getattr(self, name)) is not None
        }
        if fields["value"] is None or self.reason is not None:
            fields["reason"] = self.reason_of_null or self.reason
        names = ("slice", "value", "coverage", "ci_low", "ci_high", "standard_error", "df")
        return with_types(fields, {name: getattr(self, name) for name in names}, ("value",))

    @classmethod
    def _of_dict(cls, fields: dict[str, Any]) -> Result:
        """The result that `to_dict` wrote."""
        own: dict[str, Any] = restored(fields, fields.get("types"))
        value = float("nan") if own["value"] is None else own["value"]
        reason = own.get("reason")
        known = {name: own.get(name) for name in ("label", "task", *COUNTED)}
        return Result(
            own["metric"], own["score"], own["slice"], value, own["signature"], own["coverage"],
            None if reason == reason_of_value(value) else reason,
            interval=(own["ci_low"], own["ci_high"]) if "ci_low" in own else None, **known,
        )  # fmt: skip

    @property
    def reason_of_null(self) -> str | None:
        """Why JSON has no number for the value; None if it has one."""
        if math.isfinite(self.value):
            return None
        return self.reason or reason_of_value(self.value)


def reason_of_value(value: float) -> str:
    """The reason of a value that is no finite number and has no other reason."""
    return "undefined" if math.isnan(value) else f"the value is {value}"
