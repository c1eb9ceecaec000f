"""The result of comparing models, runs or texts: values side by side, with the significance of their differences.

Plain Python: a comparison can be read, printed, written and unpickled without pyarrow and pandas.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastmetrics._core.elementary import log
from fastmetrics._core.immutable import EMPTY, FrozenDict, Immutable
from fastmetrics._core.inference.verdicts import CANNOT_TELL
from fastmetrics._core.results.flat_names import NamedNumbers, flat_metrics
from fastmetrics._core.results.result_set import ResultSet, TaskRows, as_json_value, question_as_dict, tasks_as_dicts
from fastmetrics._core.results.slice_order import MOST, badness_of, check_count, worst_first
from fastmetrics._core.results.table_columns import Kind, TableColumn, interval_columns, slice_columns
from fastmetrics._core.upper_layers import render

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from fastmetrics._core.registry import Metric
    from fastmetrics.engine.evaluation.evaluation import Evaluation

__all__ = ["Comparison", "Difference"]

SCHEMA_VERSION = 1
FIELDS = (
    "metric", "baseline", "other", "slice", "label", "value_a", "value_b", "difference", "interval", "standard_error",
    "df", "verdict", "change", "verdict_interval", "verdict_level", "margin", "detectable", "pvalue", "log_pvalue",
    "adjusted_pvalue", "won", "lost", "tied", "n_units", "n_effective", "method", "signature", "reason", "task",
)  # fmt: skip
NUMBERS = (
    "value_a", "value_b", "difference", "standard_error", "df", "change", "verdict_level", "margin", "detectable",
    "pvalue", "log_pvalue", "adjusted_pvalue",
)  # fmt: skip
# The kinds of columns of a table; the others are texts.
KINDS: dict[str, Kind] = {
    **dict.fromkeys(NUMBERS, "number"),
    **dict.fromkeys(("won", "lost", "tied", "n_units", "n_effective"), "count"),
}
INTERVALS = ("interval", "verdict_interval")
COLUMN_NAMES = frozenset({*FIELDS, *(f"{name}_{end}" for name in INTERVALS for end in ("low", "high"))})


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
    value_a, value_b : float
        The metric of the baseline and of the other model; NaN if it is undefined.
    difference : float
        `value_b - value_a`.
    interval : tuple of float, or None
        Confidence interval of the difference, at the comparison's `level`.
    standard_error : float or None
        The standard error of the difference.
    df : float or None
        The degrees of freedom of the standard error.
    verdict : str
        What the comparison shows, the first that holds: "equal" (identical columns), "better" or "worse" (with a
        margin: by more than the margin), "equal within the margin", "better within the margin" or "worse within the
        margin", "not worse than the margin", "cannot tell". "different" for a metric without a better direction.
    change : float
        What the verdict is about: the difference or, if the best value t is 0 or 1, ``|value_b - t| - |value_a - t|``.
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
        Units in which the other model is better, worse and equal. None if units have no values of their own.
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
    >>> one = fm.compare(log, "auc", label="click", scores=["old", "new"], group="user")["auc"]
    >>> one.value_a, one.value_b, one.difference
    (0.75, 1.0, 0.25)
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
        value_a: float,
        value_b: float,
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
        value_a, value_b, pvalue = float(value_a), float(value_b), float(pvalue)
        difference = value_b - value_a if difference is None else float(difference)
        if log_pvalue is None:
            log_pvalue = log(pvalue) if pvalue > 0 else pvalue - math.inf
        self._set(
            metric=metric, baseline=baseline, other=other, slice=FrozenDict(slice), label=label, value_a=value_a,
            value_b=value_b, difference=difference, interval=interval, standard_error=standard_error, df=df,
            verdict=verdict, change=difference if change is None else float(change), verdict_interval=verdict_interval,
            verdict_level=verdict_level, margin=margin, detectable=detectable, n_effective=n_effective, pvalue=pvalue,
            log_pvalue=float(log_pvalue), adjusted_pvalue=float(adjusted_pvalue), won=won, lost=lost,
            tied=tied, n_units=n_units, method=method,
            signature=signature, reason=reason, task=task,
        )  # fmt: skip

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
        fields: dict[str, Any] = {name: getattr(self, name) for name in FIELDS}
        fields = {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in fields.items()
        }
        fields["slice"] = as_json_value(self.slice)
        for name in INTERVALS:
            fields[name] = None if fields[name] is None else list(fields[name])
        for name in ("label", "reason", "task"):
            if fields[name] is None:
                del fields[name]
        return fields


class Comparison(ResultSet[Difference]):
    """The differences of one comparison: immutable, picklable, and equal by content (without the run time).

    ``comparison["auc"]`` is the :class:`Difference` of a metric. Iteration yields all of them.

    Attributes
    ----------
    differences : tuple of Difference
    level : float or None
        The confidence level of the intervals.
    correction : str
        The correction of p-values within each family of differences: "holm", "benjamini-hochberg" or "none".
    unit : str
        The paired unit: "user_id", "query", "segment".
    version : str
        The version of fastmetrics that computed it.
    notes : tuple of str
        Remarks on all differences.
    rows : int or None
        The number of rows read, including dropped rows, if a log was compared.
    filtered : int or None
        Rows that the filter `where` left out; they are among `rows`, not among `dropped`. None without a filter.
    dropped : dict
        Reason -> the number of rows that were left out of every metric.
    columns : dict
        Role (label, score, group ...) -> column name, or a tuple of names if there are several.
    bins : dict
        Entry of `by` that cuts numbers into intervals -> their edges, as of a report.
    small_slices : dict
        With ``min_rows=...``: how many slices were left out, and how many rows they have, as of a report.
    seconds : float or None
        The run time.
    tasks : dict
        Name -> rows and columns of every task; empty for a comparison without tasks. With tasks, `dropped` and
        `columns` are empty: each task has its own.
    evaluation : Evaluation or None
        The question of a compared log: ``compare(log, comparison.evaluation)`` asks it of another one.
    is_sorted : bool
        Whether slices are in an order that was asked for; otherwise tables have those of the least p-values first.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> log = {"click": [0, 1, 0, 1], "old": [0.1, 0.8, 0.4, 0.35], "new": [0.1, 0.8, 0.3, 0.5], "user": [1, 1, 2, 2]}
    >>> comparison = fm.compare(log, "auc", label="click", scores=["old", "new"], group="user")
    >>> comparison["auc"].difference
    0.25
    """

    __slots__ = (
        "bins", "columns", "correction", "differences", "dropped", "evaluation", "filtered", "is_sorted", "level",
        "notes", "rows", "seconds", "small_slices", "tasks", "unit", "version",
    )  # fmt: skip
    _noun = "comparison"
    _item_noun = _lookup = "difference"

    differences: tuple[Difference, ...]
    level: float | None
    correction: str
    unit: str
    version: str
    notes: tuple[str, ...]
    rows: int | None
    filtered: int | None
    dropped: Mapping[str, int]
    columns: Mapping[str, str | tuple[str, ...]]
    bins: Mapping[str, tuple[int | float, ...]]
    small_slices: Mapping[str, int]
    seconds: float | None
    tasks: Mapping[str, TaskRows]
    evaluation: Evaluation | None
    is_sorted: bool

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
        dropped: Mapping[str, int] = EMPTY,
        columns: Mapping[str, str | tuple[str, ...]] = EMPTY,
        bins: Mapping[str, tuple[int | float, ...]] = EMPTY,
        small_slices: Mapping[str, int] = EMPTY,
        seconds: float | None = None,
        tasks: Mapping[str, TaskRows] = EMPTY,
        filtered: int | None = None,
        evaluation: Evaluation | None = None,
        is_sorted: bool = False,
    ) -> None:
        self._set(is_sorted=is_sorted, bins=FrozenDict(bins), small_slices=FrozenDict(small_slices))
        self._set(
            differences=tuple(differences), level=level, correction=correction, unit=unit, version=version,
            notes=tuple(notes), seconds=seconds, rows=rows, dropped=FrozenDict(dropped), columns=FrozenDict(columns),
            tasks=FrozenDict(tasks), filtered=filtered, evaluation=evaluation,
        )  # fmt: skip

    @property
    def _items(self) -> tuple[Difference, ...]:
        return self.differences

    def __hash__(self) -> int:
        return hash((self.differences, self.version))

    def _content(self) -> tuple[object, ...]:
        return self._content_without("seconds", "evaluation", "is_sorted")

    def __getitem__(self, metric: str | Metric) -> Difference:
        """The difference of `metric` of all rows. Raises KeyError if there is not exactly one."""
        return self.difference(metric)

    def difference(
        self,
        metric: str | Metric,
        *,
        other: str | None = None,
        baseline: str | None = None,
        slice: Mapping[str, Any] | None = None,  # noqa: A002
        label: str | None = None,
        task: str | None = None,
    ) -> Difference:
        """The one Difference that matches.

        Parameters
        ----------
        metric : str
            The metric string, in any form.
        other, baseline : str, optional
            The names of the two models; needed if there are several.
        slice : dict, optional
            Column -> value, such as ``{"channel": "search"}``, or ``{"channel": None}`` for nulls. By default all rows.
        label : str, optional
            The label column; needed if there are several.
        task : str, optional
            The name of the task; needed if there are several.

        Raises
        ------
        KeyError
            No difference matches, or more than one; the message lists the choices.
        """
        wanted = {"task": task, "other": other, "baseline": baseline, "slice": slice or {}, "label": label}
        found: Difference = self._only(metric, wanted)
        return found

    def worst(
        self,
        metric: str | Metric,
        n: int = 20,
        *,
        other: str | None = None,
        label: str | None = None,
        task: str | None = None,
    ) -> list[Difference]:
        """The differences of the slices in which the other model is worst beside the baseline, the worst first.

        Parameters
        ----------
        metric : str
            The metric string, in any form.
        n : int
            The most differences.
        other, label, task : str, optional
            Only those of one model, label column or task.

        Returns
        -------
        list of Difference
            Of slices, not of all rows. Equal ones are in the order of the slices, undefined ones come last.
        """
        found = self._slices_of(metric, {"other": other, "label": label, "task": task})
        return worst_first(found, lost_by)[: check_count(n, "n", 1)]

    def sorted_by(self, metric: str | Metric) -> Comparison:
        """The comparison with its slices in the order of `worst`, after all rows."""
        return self._replace(differences=self._in_order_of(self.worst(metric, MOST)), is_sorted=True)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain Python with JSON types. NaN becomes None; its reason is beside it."""
        return {
            "schema": SCHEMA_VERSION,
            "version": self.version,
            "level": self.level,
            "correction": self.correction,
            "unit": self.unit,
            **({} if self.rows is None else {"rows": self.rows, "dropped": dict(self.dropped)}),
            **({} if self.filtered is None else {"filtered": self.filtered}),
            **({"columns": as_json_value(self.columns)} if self.columns else {}),
            **tasks_as_dicts(self.tasks),
            **({"bins": as_json_value(self.bins)} if self.bins else {}),
            **({"small_slices": dict(self.small_slices)} if self.small_slices else {}),
            "notes": list(self.notes),
            **question_as_dict(self.evaluation),
            "differences": [one.to_dict() for one in self.differences],
        }

    def to_html(self, path: str | Path | None = None, *, title: str | None = None) -> str:
        """The comparison as an HTML page: differences with plotted intervals, p-values, units won and lost.

        The page is complete in itself and requests nothing from the network.

        Parameters
        ----------
        path : str or Path, optional
            A file to write the page to. It is written completely or not at all.
        title : str, optional
            The heading. Default: the names of the compared models.

        Returns
        -------
        str
            HTML.
        """
        return str(render("comparison page", self, path, title=title))

    def to_arrow(self) -> pa.Table:
        """One row per difference.

        Columns: task, if there are tasks; metric, baseline, other; one for every column of slices, under its own name
        (``slice_...`` if that name is taken), and sliced_by, the names of those that the row is a slice of: empty for
        all rows. Then the other attributes of a `Difference` in their order, with interval_low and interval_high,
        verdict_interval_low and verdict_interval_high for the two intervals.
        """
        return super().to_arrow()

    def to_metrics(self) -> dict[str, float]:
        """Flat names and numbers, as experiment trackers such as MLflow accept them; undefined ones are left out.

        "auc.baseline" and "auc.other" are the two values, "auc.difference" is their difference, "auc.low" and
        "auc.high" are the ends of its interval, "auc.pvalue" and "auc.adjusted_pvalue" belong to its test. Slices and
        several models are named as in `Report.to_metrics`: "other.model_b/channel.feed/auc.difference".

        Returns
        -------
        dict of str and float
        """
        return flat_metrics(map(named_numbers, self.differences))

    def _table_columns(self) -> list[TableColumn]:
        columns: list[TableColumn] = []
        for name in (*(["task"] if self.tasks else []), *(field for field in FIELDS if field != "task")):
            cells = [getattr(one, name) for one in self.differences]
            if name in INTERVALS:
                columns += interval_columns(cells, name)
            elif name == "slice":
                columns += slice_columns(cells, COLUMN_NAMES)
            else:
                columns.append(TableColumn(name, KINDS.get(name, "text"), cells))
        return columns


def named_numbers(one: Difference) -> NamedNumbers:
    """The numbers of a difference for `Comparison.to_metrics`."""
    low, high = one.interval or (None, None)
    numbers = {
        "baseline": one.value_a, "other": one.value_b, "difference": one.difference, "low": low, "high": high,
        "pvalue": one.pvalue, "adjusted_pvalue": one.adjusted_pvalue,
    }  # fmt: skip
    models = {"task": one.task, "label": one.label, "baseline": one.baseline, "other": one.other}
    return NamedNumbers(one.metric, models, one.slice, {f".{name}": number for name, number in numbers.items()})


def lost_by(difference: Difference) -> float:
    """How much worse the other model is than the baseline; NaN if it is not known."""
    before, after = (badness_of(difference.metric, value) for value in (difference.value_a, difference.value_b))
    return after - before
