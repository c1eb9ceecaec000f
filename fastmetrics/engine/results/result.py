"""Result: one value of a report, with its signature, coverage, interval and reason."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fastmetrics._core.immutable import FrozenDict, Immutable
from fastmetrics._core.result_set import as_json_value

__all__ = ["Result"]


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
    standard_error : float or None
        With an interval: the standard deviation of the replicates, or of DeLong's estimate of the value.
    """

    __slots__ = (
        "coverage", "interval", "label", "metric", "reason", "score", "signature", "slice", "standard_error", "value",
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
    ) -> None:
        self._set(metric=metric, score=score, slice=FrozenDict(slice), value=float(value))
        self._set(signature=signature, coverage=FrozenDict(coverage), reason=reason, label=label, interval=interval)
        self._set(standard_error=standard_error)

    def __repr__(self) -> str:
        fields: tuple[str, ...] = (
            "metric", "score", "slice", "value", "signature", "coverage", "reason", "label", "interval",
        )  # fmt: skip
        fields += () if self.standard_error is None else ("standard_error",)
        return f"Result({', '.join(f'{name}={getattr(self, name)!r}' for name in fields)})"

    def __hash__(self) -> int:
        return hash((self.metric, self.score, self.signature))

    def to_dict(self) -> dict[str, Any]:
        """The result as plain Python for JSON. A value that JSON cannot represent is None and has a reason."""
        fields: dict[str, Any] = {
            "metric": self.metric,
            **({} if self.label is None else {"label": self.label}),
            "score": self.score,
            "slice": as_json_value(self.slice),
            "value": self.value if math.isfinite(self.value) else None,
            "signature": self.signature,
            "coverage": as_json_value(self.coverage),
        }
        if self.interval is not None:
            fields["interval"] = list(self.interval)
        if self.standard_error is not None:
            fields["standard_error"] = self.standard_error
        if fields["value"] is None:
            fields["reason"] = self.reason or ("undefined" if math.isnan(self.value) else f"the value is {self.value}")
        return fields
