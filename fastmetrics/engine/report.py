"""What an evaluation found: values with their signatures, what they stand on, and why one is undefined.

Plain Python: a report can be read, printed, written and unpickled where neither pyarrow nor pandas is installed.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

SCHEMA_VERSION = 1
ALL_ROWS = "(all)"


class FrozenDict(dict[str, Any]):
    """A dict that cannot be changed; dicts inside become frozen copies, NumPy's scalars Python's."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        super().__init__({key: _frozen(value) for key, value in content.items()})

    def _refuse(self, *arguments: object, **options: object) -> NoReturn:
        raise TypeError("a report cannot be changed; copy with dict(...)")

    __setitem__ = __delitem__ = __ior__ = update = setdefault = pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return FrozenDict(value)
    return value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value


NOTHING = FrozenDict({})


class Fixed:
    """Slots that are set once, by `__init__` or by unpickling. Not a dataclass: those double the time of the import."""

    __slots__ = ()

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} cannot be changed")

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        self._set(**state[1])


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
        For a value of an approximate state: bounds that certainly contain the exact value.
    """

    __slots__ = ("coverage", "interval", "label", "metric", "reason", "score", "signature", "slice", "value")

    metric: str
    score: str
    slice: Mapping[str, Any]
    value: float
    signature: str
    coverage: Mapping[str, Any]
    reason: str | None
    label: str | None
    interval: tuple[float, float] | None

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
    ) -> None:
        self._set(metric=metric, score=score, slice=FrozenDict(slice), value=float(value))
        self._set(signature=signature, coverage=FrozenDict(coverage), reason=reason, label=label, interval=interval)

    def __repr__(self) -> str:
        fields = ("metric", "score", "slice", "value", "signature", "coverage", "reason", "label", "interval")
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
            self.interval,
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
        Role (label, score, group, weight) -> column name, without the roles that no column has.
    version : str
        The version of fastmetrics that computed it.
    seconds : float or None
        How long it took.
    """

    __slots__ = ("columns", "dropped", "results", "rows", "seconds", "version")

    results: tuple[Result, ...]
    rows: int
    dropped: Mapping[str, int]
    columns: Mapping[str, str]
    version: str
    seconds: float | None

    def __init__(
        self,
        results: Sequence[Result],
        *,
        rows: int,
        dropped: Mapping[str, int] = NOTHING,
        columns: Mapping[str, str | None] = NOTHING,
        version: str,
        seconds: float | None = None,
    ) -> None:
        named = {role: column for role, column in columns.items() if column is not None}
        self._set(results=tuple(results), rows=rows, dropped=FrozenDict(dropped), columns=FrozenDict(named))
        self._set(version=version, seconds=seconds)

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
        return self.results, self.rows, self.dropped, self.columns, self.version

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
        fitting = [
            result
            for result in of_metric
            if score in (None, result.score) and slice in (None, result.slice) and label in (None, result.label)
        ]
        if len(fitting) != 1:
            found = "no result" if not fitting else f"{len(fitting)} results"
            choices = "; ".join(_selection(result) for result in (fitting or of_metric)[:10])
            raise KeyError(
                f"{found} for {metric!r}: choose with report.value({name!r}, score=..., slice=...): {choices}"
            )
        return fitting[0]

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

    def to_json(self, indent: int | None = None) -> str:
        """The report as strict JSON."""
        import json

        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_arrow(self) -> pa.Table:
        """One row per result: metric, score, slice (JSON), value, signature, reason, coverage (JSON)."""
        try:
            import pyarrow as pa
        except ImportError as error:
            raise ImportError("Report.to_arrow needs pyarrow: pip install 'fastmetrics[arrow]'") from error
        columns = self._flat_columns()
        types = {name: pa.float64() if name == "value" else pa.string() for name in columns}
        return pa.table({name: pa.array(values, types[name]) for name, values in columns.items()})

    def to_pandas(self) -> pd.DataFrame:
        """The same rows and columns as :meth:`to_arrow`."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("Report.to_pandas needs pandas: pip install 'fastmetrics[pandas]'") from error
        return pd.DataFrame(self._flat_columns())

    def _flat_columns(self) -> dict[str, list[Any]]:
        import json

        rows = [result.to_dict() for result in self.results]
        return {
            "metric": [result.metric for result in self.results],
            "score": [result.score for result in self.results],
            "slice": [json.dumps(row["slice"], ensure_ascii=False) for row in rows],
            "value": [result.value for result in self.results],
            "signature": [result.signature for result in self.results],
            "reason": [row.get("reason") for row in rows],
            "coverage": [json.dumps(row["coverage"], ensure_ascii=False) for row in rows],
        }

    def head(self) -> list[str]:
        """What was read, in a line or two: rows, dropped rows with reasons, time, columns."""
        rows = f"{self.rows:,} rows read"
        if dropped := {reason: n for reason, n in self.dropped.items() if n}:
            rows += f", {sum(dropped.values()):,} dropped ({_counts(dropped)})"
        if self.seconds is not None:
            rows += f", {self.seconds:.2f} s"
        columns = ", ".join(f"{role} {name}" for role, name in self.columns.items())
        return [f"fastmetrics {self.version}: {rows}", *([columns] if columns else [])]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Names of columns and rows of text: metric, score and slice where they differ, value, notes."""
        keys = list(dict.fromkeys(key for result in self.results for key in result.slice))
        scores = len({result.score for result in self.results}) > 1
        header = ["metric", *(["score"] if scores else []), *keys, "value", "notes"]
        used_rows = self.rows - sum(self.dropped.values())
        values = _aligned([result.value for result in self.results])
        rows = [
            [
                result.metric,
                *([result.score] if scores else []),
                *(str(result.slice.get(key, ALL_ROWS)) for key in keys),
                value,
                _notes(result, used_rows),
            ]
            for result, value in zip(self.results, values, strict=True)
        ]
        return header, rows

    def __str__(self) -> str:
        header, rows = self.table()
        widths = [max(map(len, cells)) for cells in zip(header, *rows, strict=True)]
        lines = ["  ".join(map(str.ljust, cells, widths)).rstrip() for cells in (header, *rows)]
        return "\n".join([*self.head(), "", *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """A table for notebooks: no color of its own but grays that show on light and dark pages alike."""
        from html import escape

        header, rows = self.table()
        cell = "text-align:left;padding:0.2em 1em 0.2em 0;border-bottom:1px solid rgba(128,128,128,0.35);"
        number = f"{cell}font-family:monospace;white-space:pre;"
        styles = [number if name == "value" else cell for name in header]
        top = "".join(f'<th style="{cell}">{escape(name)}</th>' for name in header)
        body = ""
        for cells in rows:
            texts = (f'<td style="{style}">{escape(text)}</td>' for text, style in zip(cells, styles, strict=True))
            body += f"<tr>{''.join(texts)}</tr>"
        head = "<br>".join(map(escape, self.head()))
        return (
            f'<div style="color:inherit;background:transparent;"><p style="opacity:0.75;">{head}</p>'
            f'<table style="border-collapse:collapse;color:inherit;background:transparent;">'
            f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
        )


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


def _selection(result: Result) -> str:
    return f"score={result.score!r}, slice={dict(result.slice)!r}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{reason}: {n:,}" for reason, n in counts.items())


def _aligned(values: Sequence[float]) -> list[str]:
    """The shortest decimals that mean exactly the value, with the points below each other."""
    texts = [repr(value) for value in values]
    width = max((len(text.partition(".")[0]) for text in texts), default=0)
    return [" " * (width - len(text.partition(".")[0])) + text for text in texts]


def _notes(result: Result, used_rows: int) -> str:
    """Why there is no value, and what a value stands on where that is not simply every row."""
    coverage = dict(result.coverage)
    notes = [result.reason] if result.reason else []
    if coverage.pop("rows", used_rows) != used_rows:
        notes.append(f"rows {result.coverage['rows']:,} used")
    if "groups" in coverage and "groups_used" in coverage:
        notes.append(f"groups {coverage.pop('groups_used'):,} of {coverage.pop('groups'):,} used")
    rows_left_out = coverage.pop("rows_left_out", {})
    for reason, n in coverage.pop("groups_left_out", {}).items():
        rows = rows_left_out.get(reason)
        if n:
            notes.append(f"{n:,} groups{'' if rows is None else f' ({rows:,} rows)'} left out, {reason}")
            rows_left_out = {other: count for other, count in rows_left_out.items() if other != reason}
    notes += [f"{n:,} rows left out, {reason}" for reason, n in rows_left_out.items() if n]
    notes += [f"{key.replace('_', ' ')} {_text(value)}" for key, value in coverage.items() if value]
    return "; ".join(notes)


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return f"({_counts(value)})"
    return f"{value:,}" if isinstance(value, int) else str(value)


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
