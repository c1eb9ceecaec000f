"""What an evaluation found: values with their signatures, what they stand on, and why one is undefined.

Plain Python: a report can be read, printed, written and unpickled where neither pyarrow nor pandas is installed.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

from fastmetrics._core.fixed import NOTHING, Fixed, FrozenDict
from fastmetrics.engine.table import Table, as_html, as_text, counts_text, slice_keys, table_of

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa
    from matplotlib.axes import Axes

    from fastmetrics._core.picture import Picture

SCHEMA_VERSION = 1
FLOAT_COLUMNS = ("value", "interval_low", "interval_high", "standard_error")


class Result(Fixed):
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
        NaN where the metric is undefined.
    signature : str
        Everything that is needed to reproduce the value.
    coverage : dict
        What the value stands on: rows, groups, and what was left out for which reason.
    reason : str or None
        Why the value is NaN.
    label : str or None
        The label column.
    interval : tuple of float, or None
        Where intervals were asked for (the signature has their level and method): the bounds of this value's, None
        where `coverage["interval"]` says why there is none. For a value of an approximate state: bounds that certainly
        contain the exact value.
    standard_error : float or None
        With an interval: the standard deviation of the replicates, or of DeLong's estimate.
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

    def __eq__(self, other: object) -> bool:
        return self._content() == other._content() if isinstance(other, Result) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.metric, self.score, self.signature))

    def _content(self) -> tuple[object, ...]:
        # Two undefined values are the same content, although NaN does not equal itself.
        value = "undefined" if math.isnan(self.value) else self.value
        return (
            self.metric, self.label, self.score, self.slice, value, self.signature, self.coverage, self.reason,
            self.interval, self.standard_error,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """The result as plain Python for JSON: a value that JSON cannot hold is None and has a reason."""
        fields: dict[str, Any] = {
            "metric": self.metric,
            **({} if self.label is None else {"label": self.label}),
            "score": self.score,
            "slice": _plain(self.slice),
            "value": self.value if math.isfinite(self.value) else None,
            "signature": self.signature,
            "coverage": _plain(self.coverage),
        }
        if self.interval is not None:
            fields["interval"] = list(self.interval)
        if self.standard_error is not None:
            fields["standard_error"] = self.standard_error
        if fields["value"] is None:
            fields["reason"] = self.reason or ("undefined" if math.isnan(self.value) else f"the value is {self.value}")
        return fields


class Report(Fixed):
    """The results of one evaluation; immutable, equal by content (the time it took is not content), picklable.

    ``report["auc"]`` is the value of a metric; iteration gives every :class:`Result`.

    Attributes
    ----------
    results : tuple of Result
    rows : int
        Rows read, the dropped ones included.
    dropped : dict
        Reason -> rows that were left out of every metric.
    columns : dict
        Role (label, score, group, weight, by) -> column name, or a tuple of names where there are several; without
        the roles that no column has.
    version : str
        The version of fastmetrics that computed it.
    seconds : float or None
        How long it took.
    pictures : dict
        Name -> :class:`Picture`, the points that :meth:`plot` draws; empty unless ``evaluate(..., curves=True)`` made
        it. Neither `to_dict` nor JSON have them.
    missing_pictures : dict
        Name -> why there is no such picture.
    """

    __slots__ = ("columns", "dropped", "missing_pictures", "pictures", "results", "rows", "seconds", "version")

    results: tuple[Result, ...]
    rows: int
    dropped: Mapping[str, int]
    columns: Mapping[str, str | tuple[str, ...]]
    version: str
    seconds: float | None
    pictures: Mapping[str, Picture]
    missing_pictures: Mapping[str, str]

    def __init__(
        self,
        results: Sequence[Result],
        *,
        rows: int,
        dropped: Mapping[str, int] = NOTHING,
        columns: Mapping[str, str | tuple[str, ...] | None] = NOTHING,
        version: str,
        seconds: float | None = None,
    ) -> None:
        named = {role: column for role, column in columns.items() if column is not None}
        self._set(results=tuple(results), rows=rows, dropped=FrozenDict(dropped), columns=FrozenDict(named))
        self._set(version=version, seconds=seconds, pictures=NOTHING, missing_pictures=NOTHING)

    def with_pictures(self, pictures: Mapping[str, Picture], missing: Mapping[str, str]) -> Report:
        """The same report with pictures; `missing` says why there are no others."""
        new = copy(self)
        new._set(pictures=FrozenDict(pictures), missing_pictures=FrozenDict(missing))
        return new

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def __contains__(self, metric: object) -> bool:
        return isinstance(metric, str) and any(result.metric == _canonical(metric) for result in self.results)

    def __eq__(self, other: object) -> bool:
        return self._content() == other._content() if isinstance(other, Report) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.results, self.rows, self.version))

    def _content(self) -> tuple[object, ...]:
        pictures = tuple((name, picture_content(own)) for name, own in self.pictures.items())
        return self.results, self.rows, self.dropped, self.columns, self.version, pictures, self.missing_pictures

    def __getitem__(self, metric: str) -> float:
        """The value of `metric`, in any spelling that means the same; KeyError if there is none, or more than one."""
        return self.result(metric).value

    def value(
        self,
        metric: str,
        *,
        score: str | None = None,
        slice: Mapping[str, Any] | None = None,  # noqa: A002
        label: str | None = None,
    ) -> float:
        """The value of `metric` for one `score` column, one `label` and one `slice`; ``slice={}`` is all rows."""
        return self.result(metric, score=score, slice=slice, label=label).value

    def result(
        self,
        metric: str,
        *,
        score: str | None = None,
        slice: Mapping[str, Any] | None = None,  # noqa: A002
        label: str | None = None,
    ) -> Result:
        """The one Result that fits.

        Parameters
        ----------
        metric : str
            Any spelling of the metric.
        score : str, optional
            The score column, needed where there are several.
        slice : dict, optional
            Column -> value, needed where there are slices; ``{}`` is all rows.
        label : str, optional
            The label column, needed where there are several.

        Raises
        ------
        KeyError
            Nothing fits (the message has the near names), or more than one does (the message says how to choose).
        """
        name = _canonical(metric)
        of_metric = [result for result in self.results if result.metric == name]
        if not of_metric:
            raise KeyError(_not_in_report(metric, list(dict.fromkeys(result.metric for result in self.results))))
        wanted = {"label": label, "score": score, "slice": slice}
        fitting = [result for result in of_metric if _agreement(result, wanted) == len(wanted)]
        if len(fitting) != 1:
            raise KeyError(_not_one(metric, name, of_metric, fitting, wanted))
        return fitting[0]

    def slices(self) -> list[dict[str, Any]]:
        """Every slice of the report, in its order: ``{}``, all rows, comes first. Each fits ``value(slice=...)``."""
        distinct = {repr(result.slice): result.slice for result in self.results}
        return [dict(part) for part in distinct.values()]

    def to_dict(self) -> dict[str, Any]:
        """The report as plain Python, with JSON's types only: NaN is None, and its reason stands beside it."""
        return {
            "schema": SCHEMA_VERSION,
            "version": self.version,
            "rows": self.rows,
            "dropped": _plain(self.dropped),
            "columns": _plain(self.columns),
            "results": [result.to_dict() for result in self.results],
        }

    def plot(self, name: str | None = None, ax: Axes | None = None) -> Any:
        """Draw a picture with matplotlib; without a name all of them, in one figure.

        Parameters
        ----------
        name : {"roc", "pr", "det", "lift", "calibration", "gauc-histogram"}, optional
            The picture: receiver operating characteristic, precision and recall, detection error trade-off, lift,
            calibration, AUC inside groups. `pictures` has those of this report, `missing_pictures` why others are not
            there.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            Or, without a name, the array of all axes of a new figure.

        Raises
        ------
        ValueError
            The report was made without curves=True, has no such picture, or `ax` was given without a name.
        ImportError
            matplotlib is not installed.
        """
        from fastmetrics.engine.pictures import models_of, refuse_name

        if name is None and ax is not None:
            raise ValueError("ax= is room for one picture: say which, plot(name, ax=...)")
        if name not in self.pictures and (name is not None or not self.pictures):
            refuse_name(name, self.pictures, self.missing_pictures)
        from fastmetrics.drawing.axes import draw_on_axes, draw_on_grid

        models = models_of(self.pictures)
        if name is None:
            return draw_on_grid(list(self.pictures.values()), models)
        return draw_on_axes(self.pictures[name], ax, models)

    def to_json(self, indent: int | None = None) -> str:
        """The report as strict JSON."""
        import json

        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_arrow(self) -> pa.Table:
        """One row per result.

        Columns: metric, label, score; one for every column of slices, under its own name (``slice_...`` if that name is
        taken) and null for all rows; slice (the same as JSON), value, interval_low and interval_high (null where
        there is no interval), standard_error, signature, reason, coverage (JSON).
        """
        try:
            import pyarrow as pa
        except ImportError as error:
            raise ImportError("Report.to_arrow needs pyarrow: pip install 'fastmetrics[arrow]'") from error
        columns, slices = self._flat_columns()

        def array(name: str, values: list[Any]) -> Any:
            if name not in slices:
                return pa.array(values, pa.float64() if name in FLOAT_COLUMNS else pa.string())
            try:
                return pa.array(values)
            except (pa.ArrowException, OverflowError):  # values of several types
                return pa.array([None if value is None else str(value) for value in values], pa.string())

        return pa.table({name: array(name, values) for name, values in columns.items()})

    def to_pandas(self) -> pd.DataFrame:
        """The same rows and columns as :meth:`to_arrow`; slices of integers or booleans as pandas' nullable types."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("Report.to_pandas needs pandas: pip install 'fastmetrics[pandas]'") from error
        columns, slices = self._flat_columns()
        frame = pd.DataFrame(columns).astype(dict.fromkeys(FLOAT_COLUMNS, "float64"))
        for name in slices:
            values = columns[name]
            # The null of all rows would make every 1 a 1.0.
            kinds = {type(value) for value in values if value is not None}
            dtype = {int: "Int64", bool: "boolean"}.get(kinds.pop()) if len(kinds) == 1 else None
            if dtype is not None:
                frame[name] = pd.array(values, dtype=dtype)
        return frame

    def to_html(self, path: str | Path | None = None, *, title: str | None = None) -> str:
        """The report as one page for a browser: values with intervals, curves, slices, coverage, signatures.

        The page carries all it needs and asks for nothing from the network. It is readable on a phone, in print, on
        light and dark screens, and by screen readers; without scripts it only does not sort its table of slices.

        Parameters
        ----------
        path : str or Path, optional
            A file to write it to as well: complete, or not at all.
        title : str, optional
            The heading. Default: the columns that were compared.

        Returns
        -------
        str
            HTML.
        """
        from fastmetrics.engine.page import write_page
        from fastmetrics.engine.report_page import report_page

        page = report_page(self, title)
        if path is not None:
            write_page(page, path)
        return page

    def _flat_columns(self) -> tuple[dict[str, list[Any]], list[str]]:
        """The columns of a table with a row per result, and which of them are the columns of slices."""
        import json

        rows = [result.to_dict() for result in self.results]
        what: dict[str, list[Any]] = {
            name: [getattr(result, name) for result in self.results] for name in ("metric", "label", "score")
        }
        found: dict[str, list[Any]] = {
            "slice": [json.dumps(row["slice"], ensure_ascii=False) for row in rows],
            "value": [result.value for result in self.results],
            "interval_low": [result.interval and result.interval[0] for result in self.results],
            "interval_high": [result.interval and result.interval[1] for result in self.results],
            "standard_error": [result.standard_error for result in self.results],
            "signature": [result.signature for result in self.results],
            "reason": [row.get("reason") for row in rows],
            "coverage": [json.dumps(row["coverage"], ensure_ascii=False) for row in rows],
        }
        slices: dict[str, list[Any]] = {}
        for key in slice_keys(self.results):
            name = key
            while name in what or name in found or name in slices:
                name = f"slice_{name}"
            slices[name] = [result.slice.get(key) for result in self.results]
        return what | slices | found, list(slices)

    def roles(self) -> list[tuple[str, str]]:
        """Role and column for people: ("score", "model_a, model_b")."""
        return [(role, name if isinstance(name, str) else ", ".join(name)) for role, name in self.columns.items()]

    def head(self) -> list[str]:
        """What was read, in a line or two: rows, dropped rows with reasons, time, columns."""
        rows = f"{self.rows:,} rows read"
        if dropped := {reason: n for reason, n in self.dropped.items() if n}:
            rows += f", {sum(dropped.values()):,} dropped ({counts_text(dropped)})"
        if self.seconds is not None:
            rows += f", {self.seconds:.2f} s"
        between_roles = ", " if all(isinstance(name, str) for name in self.columns.values()) else "; "
        columns = between_roles.join(f"{role} {name}" for role, name in self.roles())
        return [f"fastmetrics {self.version}: {rows}", *([columns] if columns else [])]

    def table(self) -> Table:
        """The results as people read them: metrics below each other; side by side where there are several of each."""
        return table_of(self.results, self.rows - sum(self.dropped.values()))

    def __str__(self) -> str:
        return "\n".join([*self.head(), "", *as_text(self.table())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """A table for notebooks: no color of its own but grays that show on light and dark pages alike."""
        return as_html(self.table(), self.head())


def picture_content(part: Any) -> Any:
    """A picture, or a part of it, as what compares as a whole: arrays by their numbers."""
    if isinstance(part, tuple):
        return tuple(picture_content(own) for own in part)
    return part.tolist() if hasattr(part, "tolist") else part


def _canonical(metric: str) -> str:
    """The spelling that results carry; a text that is no metric string stays as it is and is then not found."""
    from fastmetrics._core.registry import parse

    try:
        return str(parse(metric))
    except (KeyError, TypeError, ValueError):
        return metric


def _not_in_report(metric: object, present: list[str]) -> str:
    variants = [name for name in present if re.split(r"[(@]", name)[0] == re.split(r"[(@]", str(metric))[0]]
    near = variants or difflib.get_close_matches(str(metric), present, n=3)
    question = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
    return f"no {metric!r} in this report{question} It holds: {', '.join(present) or 'nothing'}"


def _agreement(result: Result, wanted: Mapping[str, Any]) -> int:
    """How many of the wanted attributes the result has; None wants nothing."""
    return sum(value in (None, getattr(result, name)) for name, value in wanted.items())


def _not_one(metric: str, name: str, of_metric: list[Result], fitting: list[Result], wanted: Mapping[str, Any]) -> str:
    """How to choose, by what was asked for and what results of the metric differ in; the nearest first."""
    found = f"{len(fitting):,} results" if fitting else "no result"
    parts = [
        part
        for part, value in wanted.items()
        if value is not None or any(getattr(r, part) != getattr(of_metric[0], part) for r in of_metric)
    ]
    near = fitting or sorted(of_metric, key=lambda result: -_agreement(result, wanted))
    choices = [", ".join(f"{part}={_plain_repr(getattr(result, part))}" for part in parts) for result in near[:10]]
    if len(near) > len(choices):
        choices.append(f"and {len(near) - len(choices):,} more")
    how = ", ".join(f"{part}=..." for part in parts)
    return f"{found} for {metric!r}: choose with report.value({name!r}, {how}): {'; '.join(choices)}"


def _plain_repr(value: Any) -> str:
    return repr(dict(value) if isinstance(value, Mapping) else value)


def _plain(value: Any) -> Any:
    """JSON's types only; what JSON does not know becomes text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
