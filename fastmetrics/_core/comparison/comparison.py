"""The result of comparing models, runs or texts: values side by side, with the significance of their differences.

Plain Python: a comparison can be read, printed, written and unpickled without pyarrow and pandas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.comparison.difference import (
    COLUMN_NAMES,
    FIELDS,
    INTERVALS,
    KINDS,
    Difference,
    lost_by,
    named_numbers,
)
from fastmetrics._core.immutable import EMPTY, FrozenDict
from fastmetrics._core.results.flat_names import flat_metrics
from fastmetrics._core.results.json_results import as_json_value, with_types
from fastmetrics._core.results.result_set import (
    ResultSet,
    TaskRows,
    about_of_document,
    question_as_dict,
    tasks_as_dicts,
)
from fastmetrics._core.results.slice_order import MOST, check_count, worst_first
from fastmetrics._core.results.table_columns import TableColumn, interval_columns, slice_columns
from fastmetrics._core.upper_layers import render

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from fastmetrics._core.registry import Metric
    from fastmetrics.engine.evaluation.evaluation import Evaluation

__all__ = ["Comparison"]

SCHEMA_VERSION = 1


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
    >>> comparison = fm.compare(log, "auc", label="click", score=["old", "new"], group="user")
    >>> comparison["auc"].difference
    0.25
    """

    __slots__ = (
        "bins", "columns", "correction", "differences", "dropped", "evaluation", "filtered", "is_sorted", "level",
        "notes", "rows", "seconds", "small_slices", "tasks", "unit", "version",
    )  # fmt: skip
    _noun = "comparison"
    _item_noun = _lookup = "difference"
    _items_key = "differences"
    _schema = SCHEMA_VERSION

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

    @answers_unknown
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

    @answers_unknown
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

    @answers_unknown
    def sorted_by(self, metric: str | Metric) -> Comparison:
        """The comparison with its slices in the order of `worst`, after all rows."""
        return self._replace(differences=self._in_order_of(self.worst(metric, MOST)), is_sorted=True)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain Python with JSON types. NaN becomes None; its reason is beside it."""
        fields = {
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
        return with_types(fields, {"bins": self.bins})

    @classmethod
    def _of_document(cls, document: dict[str, Any]) -> Self:
        about: dict[str, Any] = {name: document.get(name) for name in ("level", "correction", "unit", "rows")}
        differences = [Difference._of_dict(fields) for fields in document["differences"]]
        return cls(differences, **about, **about_of_document(document), **cls._more_of_document(document))

    @classmethod
    def _more_of_document(cls, document: dict[str, Any]) -> dict[str, Any]:
        """Further arguments, of a subclass."""
        return {}

    @answers_unknown
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
        all rows. Then the other attributes of a `Difference` in their order, with ci_low and ci_high,
        verdict_ci_low and verdict_ci_high for the two intervals.
        """
        return super().to_arrow()

    def to_metrics(self) -> dict[str, float]:
        """Flat names and numbers, as experiment trackers such as MLflow accept them; undefined ones are left out.

        "auc.baseline_value" and "auc.other_value" are the two values, "auc.difference" is their difference,
        "auc.ci_low" and "auc.ci_high" are the ends of its interval, "auc.pvalue" and "auc.adjusted_pvalue" belong to
        its test. Slices and several models are named as in `Report.to_metrics`:
        "other.model_b/channel.feed/auc.difference".

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
                columns += interval_columns(cells, INTERVALS[name])
            elif name == "slice":
                columns += slice_columns(cells, COLUMN_NAMES)
            else:
                columns.append(TableColumn(name, KINDS.get(name, "text"), cells))
        return columns
