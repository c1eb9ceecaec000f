"""What a comparison of models, runs or texts answers: values side by side, and whether they differ by more than chance.

Plain Python: a comparison can be read, printed, written and unpickled where neither pyarrow nor pandas is installed.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastmetrics._core.fixed import NOTHING, Fixed, FrozenDict
from fastmetrics._core.text_table import aligned

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa

SCHEMA_VERSION = 1
SIGNIFICANT = "*"
MAX_DRAWN_ROWS = 1000  # in a browser; text has all
FIELDS = (
    "metric", "baseline", "other", "slice", "label", "value_a", "value_b", "difference", "interval", "standard_error",
    "pvalue", "adjusted_pvalue", "won", "lost", "tied", "n_units", "method", "signature", "reason",
)  # fmt: skip
# What a table of numbers has of a difference, in this order.
FLOATS = (
    "value_a", "value_b", "difference", "interval_low", "interval_high", "standard_error", "pvalue", "adjusted_pvalue"
)  # fmt: skip
COUNTS = ("won", "lost", "tied", "n_units")


class Difference(Fixed):
    """One metric of two models on the same units.

    Attributes
    ----------
    metric : str
        The metric string.
    baseline, other : str
        Names of the two: score columns, runs, systems.
    slice : dict
        Column -> value of the slice; empty for all rows.
    label : str or None
        The label column, where there is one.
    value_a, value_b : float
        The metric of the baseline and of the other; NaN where it is undefined.
    difference : float
        `value_b - value_a`.
    interval : tuple of float, or None
        Confidence interval of the difference, at the comparison's `level`.
    standard_error : float or None
        Of the difference.
    pvalue : float
        Two-sided, paired; NaN where there is none, with the reason. Never 0 from resampling.
    adjusted_pvalue : float
        The same, corrected over all differences of the comparison.
    won, lost, tied : int or None
        Units that the other does better, worse and equally well in; None where units have no values of their own.
    n_units : int or None
        Units (users, queries, segments) that were compared.
    method : str
        The test, and how its p-value was computed.
    signature : str
        Everything that is needed to reproduce the numbers.
    reason : str or None
        Why a number is missing or needs to be read with care.
    """

    __slots__ = FIELDS

    metric: str
    baseline: str
    other: str
    slice: Mapping[str, Any]
    label: str | None
    value_a: float
    value_b: float
    difference: float
    interval: tuple[float, float] | None
    standard_error: float | None
    pvalue: float
    adjusted_pvalue: float
    won: int | None
    lost: int | None
    tied: int | None
    n_units: int | None
    method: str
    signature: str
    reason: str | None

    def __init__(
        self,
        metric: str,
        baseline: str,
        other: str,
        value_a: float,
        value_b: float,
        *,
        pvalue: float = math.nan,
        adjusted_pvalue: float = math.nan,
        difference: float | None = None,
        interval: tuple[float, float] | None = None,
        standard_error: float | None = None,
        slice: Mapping[str, Any] = NOTHING,  # noqa: A002
        label: str | None = None,
        won: int | None = None,
        lost: int | None = None,
        tied: int | None = None,
        n_units: int | None = None,
        method: str = "",
        signature: str = "",
        reason: str | None = None,
    ) -> None:
        value_a, value_b = float(value_a), float(value_b)
        self._set(metric=metric, baseline=baseline, other=other, slice=FrozenDict(slice), label=label)
        self._set(value_a=value_a, value_b=value_b, interval=interval, standard_error=standard_error)
        self._set(difference=value_b - value_a if difference is None else float(difference))
        self._set(pvalue=float(pvalue), adjusted_pvalue=float(adjusted_pvalue))
        self._set(won=won, lost=lost, tied=tied, n_units=n_units, method=method, signature=signature, reason=reason)

    def __repr__(self) -> str:
        return f"Difference({', '.join(f'{name}={getattr(self, name)!r}' for name in FIELDS)})"

    def __eq__(self, other: object) -> bool:
        return self._content() == other._content() if isinstance(other, Difference) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.metric, self.baseline, self.other, self.signature))

    def _content(self) -> tuple[object, ...]:
        # Two undefined values are the same content, although NaN does not equal itself.
        values = (getattr(self, name) for name in FIELDS)
        return tuple("undefined" if isinstance(value, float) and math.isnan(value) else value for value in values)

    def replace(self, **fields: Any) -> Difference:
        """The same difference with other values in some fields."""
        return Difference(**{name: getattr(self, name) for name in FIELDS} | fields)

    def to_dict(self) -> dict[str, Any]:
        """The difference as plain Python for JSON: NaN is None, and has a reason."""
        fields: dict[str, Any] = {name: getattr(self, name) for name in FIELDS}
        fields = {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in fields.items()
        }
        fields["slice"] = {key: _plain(value) for key, value in self.slice.items()}
        fields["interval"] = None if self.interval is None else list(self.interval)
        if self.label is None:
            del fields["label"]
        if self.reason is None:
            del fields["reason"]
        return fields


class Comparison(Fixed):
    """The differences of one comparison; immutable, equal by content (the time it took is not content), picklable.

    ``comparison["auc"]`` is the :class:`Difference` of a metric; iteration gives all of them.

    Attributes
    ----------
    differences : tuple of Difference
    level : float or None
        Of the intervals.
    correction : str
        How p-values were adjusted over all differences: "holm", "benjamini-hochberg" or "none".
    unit : str
        What was compared one by one: "user_id", "query", "segment".
    version : str
        The version of fastmetrics that computed it.
    notes : tuple of str
        What there is to say about all of them.
    rows : int or None
        Rows read, the dropped ones included, where a log was compared.
    dropped : dict
        Reason -> rows that were left out of every metric.
    columns : dict
        Role (label, score, group ...) -> column name, or a tuple of names where there are several.
    seconds : float or None
        How long it took.
    """

    __slots__ = (
        "columns", "correction", "differences", "dropped", "level", "notes", "rows", "seconds", "unit", "version"
    )  # fmt: skip

    differences: tuple[Difference, ...]
    level: float | None
    correction: str
    unit: str
    version: str
    notes: tuple[str, ...]
    rows: int | None
    dropped: Mapping[str, int]
    columns: Mapping[str, str | tuple[str, ...]]
    seconds: float | None

    def __init__(
        self,
        differences: Sequence[Difference],
        *,
        level: float | None = None,
        correction: str = "none",
        unit: str = "",
        version: str = "",
        notes: Sequence[str] = (),
        rows: int | None = None,
        dropped: Mapping[str, int] = NOTHING,
        columns: Mapping[str, str | tuple[str, ...]] = NOTHING,
        seconds: float | None = None,
    ) -> None:
        self._set(differences=tuple(differences), level=level, correction=correction, unit=unit)
        self._set(version=version, notes=tuple(notes), seconds=seconds)
        self._set(rows=rows, dropped=FrozenDict(dropped), columns=FrozenDict(columns))

    def __len__(self) -> int:
        return len(self.differences)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.differences)

    def __contains__(self, metric: object) -> bool:
        return isinstance(metric, str) and bool(self._of_metric(metric))

    def __eq__(self, other: object) -> bool:
        return self._content() == other._content() if isinstance(other, Comparison) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.differences, self.version))

    def _content(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__slots__ if name != "seconds")

    def __getitem__(self, metric: str) -> Difference:
        """The difference of `metric`, in any spelling; KeyError if there is none, or more than one."""
        return self.difference(metric)

    def is_significant(self, difference: Difference) -> bool:
        """Is the adjusted p-value below 1 - `level`? (0.05 where the comparison has no level.)"""
        return bool(difference.adjusted_pvalue < round(1 - (self.level or 0.95), 12))

    def difference(
        self,
        metric: str,
        *,
        other: str | None = None,
        baseline: str | None = None,
        slice: Mapping[str, Any] | None = None,  # noqa: A002
        label: str | None = None,
    ) -> Difference:
        """The one Difference that fits.

        Parameters
        ----------
        metric : str
            Any spelling of the metric.
        other, baseline : str, optional
            Names of the two, needed where there are several.
        slice : dict, optional
            Column -> value, needed where there are slices; ``{}`` is all rows.
        label : str, optional
            The label column, needed where there are several.

        Raises
        ------
        KeyError
            Nothing fits, or more than one does; the message says what there is.
        """
        of_metric = self._of_metric(metric)
        if not of_metric:
            known = list(dict.fromkeys(one.metric for one in self.differences))
            near = difflib.get_close_matches(str(metric), known, n=3)
            question = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
            raise KeyError(f"no {metric!r} in this comparison{question} It holds: {', '.join(known) or 'nothing'}")
        wanted = {"other": other, "baseline": baseline, "slice": slice, "label": label}
        fitting = [
            one for one in of_metric if all(value in (None, getattr(one, name)) for name, value in wanted.items())
        ]
        if len(fitting) != 1:
            parts = [
                name
                for name, value in wanted.items()
                if value is not None or any(getattr(one, name) != getattr(of_metric[0], name) for one in of_metric)
            ]
            choices = [
                ", ".join(f"{part}={_plain_repr(getattr(one, part))}" for part in parts)
                for one in (fitting or of_metric)[:10]
            ]
            found = f"{len(fitting):,} differences" if fitting else "no difference"
            how = ", ".join(f"{part}=..." for part in parts)
            raise KeyError(f"{found} for {metric!r}: choose with difference({metric!r}, {how}): {'; '.join(choices)}")
        return fitting[0]

    def _of_metric(self, metric: str) -> list[Difference]:
        exact = [one for one in self.differences if one.metric == metric]
        if exact:
            return exact
        name = _canonical(metric)
        return [one for one in self.differences if name == _canonical(one.metric)]

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain Python, with JSON's types only: NaN is None, and its reason stands beside it."""
        return {
            "schema": SCHEMA_VERSION,
            "version": self.version,
            "level": self.level,
            "correction": self.correction,
            "unit": self.unit,
            **({} if self.rows is None else {"rows": self.rows, "dropped": dict(self.dropped)}),
            **({"columns": {role: _names(own) for role, own in self.columns.items()}} if self.columns else {}),
            "notes": list(self.notes),
            "differences": [one.to_dict() for one in self.differences],
        }

    def to_json(self, indent: int | None = None) -> str:
        """The comparison as strict JSON."""
        import json

        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_html(self, path: str | Path | None = None, *, title: str | None = None) -> str:
        """The comparison as one page for a browser: differences with intervals drawn, p-values, units won and lost.

        The page carries all it needs and asks for nothing from the network.

        Parameters
        ----------
        path : str or Path, optional
            A file to write it to as well: complete, or not at all.
        title : str, optional
            The heading. Default: what was compared with what.

        Returns
        -------
        str
            HTML.
        """
        from importlib import import_module

        from fastmetrics._core.registry import PAGES

        make: Callable[..., str] = import_module(PAGES["comparison"]).comparison_html
        return make(self, path, title=title)

    def to_arrow(self) -> pa.Table:
        """One row per difference; the slice is JSON, the interval two columns, `interval_low` and `interval_high`."""
        try:
            import pyarrow as pa
        except ImportError as error:
            raise ImportError("Comparison.to_arrow needs pyarrow: pip install 'fastmetrics[arrow]'") from error
        types = dict.fromkeys(FLOATS, pa.float64()) | dict.fromkeys(COUNTS, pa.int64())
        columns = self._flat_columns()
        return pa.table({name: pa.array(cells, types.get(name, pa.string())) for name, cells in columns.items()})

    def to_pandas(self) -> pd.DataFrame:
        """The same rows and columns as :meth:`to_arrow`; counts as pandas' nullable integers."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("Comparison.to_pandas needs pandas: pip install 'fastmetrics[pandas]'") from error
        frame = pd.DataFrame(self._flat_columns())
        return frame.astype(dict.fromkeys(FLOATS, "float64") | dict.fromkeys(COUNTS, "Int64"))

    def _flat_columns(self) -> dict[str, list[Any]]:
        import json

        columns: dict[str, list[Any]] = {}
        for name in FIELDS:
            cells = [getattr(one, name) for one in self.differences]
            if name == "interval":
                columns["interval_low"] = [cell and cell[0] for cell in cells]
                columns["interval_high"] = [cell and cell[1] for cell in cells]
            elif name == "slice":
                columns[name] = [json.dumps(one.to_dict()["slice"], ensure_ascii=False) for one in self.differences]
            else:
                columns[name] = cells
        return columns

    def head(self) -> list[str]:
        """What was read, where it was a log, and what was compared, in a few lines."""
        lines = [f"fastmetrics {self.version}: "]
        compared = f"{len(self):,} difference{'' if len(self) == 1 else 's'}"
        if self.unit:
            compared += f", paired by {self.unit}"
        if self.correction != "none":
            compared += f", p-values adjusted ({self.correction})"
        if self.rows is None:
            lines[0] += compared
        else:
            lines[0] += f"{self.rows:,} rows read"
            if dropped := {reason: n for reason, n in self.dropped.items() if n}:
                reasons = ", ".join(f"{reason}: {n:,}" for reason, n in dropped.items())
                lines[0] += f", {sum(dropped.values()):,} dropped ({reasons})"
        if self.seconds is not None:
            lines[0] += f", {self.seconds:.2f} s"
        if self.columns:
            names = {role: own if isinstance(own, str) else ", ".join(own) for role, own in self.columns.items()}
            lines.append("; ".join(f"{role} {name}" for role, name in names.items()))
        return [*lines, *([] if self.rows is None else [compared]), *self.notes]

    def table(self) -> list[list[str]]:
        """The header and a row for every difference, as texts; columns that say nothing are left out.

        Values stand below the names of the two models, where all differences are of the same two.
        """
        keys = list(dict.fromkeys(key for one in self.differences for key in one.slice))
        pairs = dict.fromkeys((one.baseline, one.other) for one in self.differences)
        several = len(pairs) > 1
        names = ("baseline's value", "other's value") if several else next(iter(pairs), ("", ""))
        interval = f"{100 * self.level:g}% interval" if self.level is not None else "interval"
        header = [
            "metric", "label", *keys, "baseline", "other", *names, "difference", interval, "p", "adjusted p", "",
            "won", "lost", "tied", "notes",
        ]  # fmt: skip
        rows = [
            [
                one.metric, one.label or "", *(_slice_text(one, key) for key in keys),
                *((one.baseline, one.other) if several else ("", "")), _number(one.value_a), _number(one.value_b),
                _number(one.difference, sign=True), _interval(one.interval), _probability(one.pvalue),
                _probability(one.adjusted_pvalue) if self.correction != "none" else "",
                SIGNIFICANT if self.is_significant(one) else "",
                _count(one.won), _count(one.lost), _count(one.tied), one.reason or "",
            ]
            for one in self.differences
        ]  # fmt: skip
        if len({one.label for one in self.differences}) == 1:
            rows = [[row[0], "", *row[2:]] for row in rows]
        kept = [place for place in range(len(header)) if place < 1 or any(row[place] for row in rows)]
        return [[row[place] for place in kept] for row in (header, *rows)]

    def foot(self) -> list[str]:
        """What the mark of the table means, where it is in it."""
        p = "adjusted p" if self.correction != "none" else "p"
        told = []
        if any(map(self.is_significant, self.differences)):
            told.append(f"{SIGNIFICANT} {p} below {round(1 - (self.level or 0.95), 12):g}")
        limited = [replicates for one in self.differences if (replicates := self.too_few_replicates(one))]
        if limited:
            of = "1 difference has" if len(limited) == 1 else f"{len(limited):,} differences have"
            told.append(f"{of} the least p that {max(limited):,} replicates can give: ask for more replicates")
        return told

    def too_few_replicates(self, difference: Difference) -> int:
        """The replicates of a difference that is not significant only because so few give no lesser p; else 0."""
        _, found, after = difference.signature.partition("|replicates:")
        number = after.partition("|")[0]
        if not found or not number.isdigit() or self.is_significant(difference):
            return 0
        return int(number) if difference.pvalue * (int(number) + 1) < 1 + 1e-9 else 0  # rounded

    def __str__(self) -> str:
        table = self.table()
        words = {"metric", "label", "baseline", "other", "", "notes"}.union(*(one.slice for one in self.differences))
        left = [place for place, name in enumerate(table[0]) if name in words]
        return "\n".join([*self.head(), "", *aligned(table, left), *self.foot()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """A table for notebooks: no color of its own but grays that show on light and dark pages alike."""
        from html import escape

        header, *rows = self.table()
        cell = "text-align:left;padding:0.2em 1em 0.2em 0;border-bottom:1px solid rgba(128,128,128,0.35);"
        top = "".join(f'<th style="{cell}">{escape(name)}</th>' for name in header)
        body = "".join(
            f"<tr>{''.join(f'<td style={chr(34)}{cell}{chr(34)}>{escape(text)}</td>' for text in row)}</tr>"
            for row in rows[:MAX_DRAWN_ROWS]
        )
        head = self.head()
        if len(rows) > MAX_DRAWN_ROWS:
            head.append(f"{len(rows) - MAX_DRAWN_ROWS:,} more rows: print(comparison), comparison.to_pandas()")
        return (
            f'<div style="color:inherit;background:transparent;"><p>{"<br>".join(map(escape, head))}</p>'
            f'<table style="border-collapse:collapse;color:inherit;background:transparent;">'
            f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
            f"<p>{'<br>'.join(map(escape, self.foot()))}</p></div>"
        )


def _canonical(metric: str) -> str:
    """The spelling of the registry; a text that is no metric string stays as it is."""
    from fastmetrics._core.registry import parse

    try:
        return str(parse(metric))
    except (KeyError, TypeError, ValueError):
        return metric


def _plain(value: Any) -> Any:
    """A value of a slice in JSON's types."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _plain_repr(value: Any) -> str:
    return repr(dict(value) if isinstance(value, Mapping) else value)


def _slice_text(one: Difference, key: str) -> str:
    return str(_plain(one.slice[key])) if key in one.slice else "(all)"


def _number(value: float, sign: bool = False) -> str:
    """Six significant digits; the fields have all."""
    return "undefined" if math.isnan(value) else f"{value:{'+' if sign else ''}.6g}"


def _probability(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4g}"


def _interval(ends: tuple[float, float] | None) -> str:
    return "" if ends is None else f"[{_number(ends[0], True)}, {_number(ends[1], True)}]"


def _names(columns: str | tuple[str, ...]) -> str | list[str]:
    return columns if isinstance(columns, str) else list(columns)


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"
