"""Report: the results of one evaluation, with look-up by metric, and conversions.

A report is plain Python. It can be read, printed, written and unpickled without pyarrow and pandas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.immutable import EMPTY, freeze
from fastmetrics._core.results.class_matrix import ClassMatrix, LabelTable
from fastmetrics._core.results.flat_names import NamedNumbers, flat_metrics
from fastmetrics._core.results.json_results import as_json_value, restored, with_types
from fastmetrics._core.results.result_set import (
    ResultSet,
    TaskRows,
    about_of_document,
    question_as_dict,
    tasks_as_dicts,
)
from fastmetrics._core.results.slice_order import MOST, badness_of, check_count, worst_first
from fastmetrics._core.results.table_columns import TableColumn, interval_columns, interval_fields, slice_columns
from fastmetrics._core.upper_layers import render
from fastmetrics.engine.results.result import Result

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import pyarrow as pa
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from fastmetrics._core.plot import Plot
    from fastmetrics._core.registry import Metric
    from fastmetrics._core.types.options import Normalize, PlotName
    from fastmetrics.engine.evaluation.evaluation import Evaluation

__all__ = ["Report"]

SCHEMA_VERSION = 1


class Report(ResultSet[Result]):
    """The results of one evaluation: immutable, picklable, equal if their content is equal (`seconds` is no content).

    ``report["auc"]`` is the value of a metric. Iteration gives every :class:`Result`.

    Attributes
    ----------
    results : tuple of Result
    rows : int
        Rows read, the dropped ones included.
    filtered : int or None
        Rows that the filter `where` left out; they are among `rows`, not among `dropped`. None without a filter.
    dropped : dict
        Reason -> rows that no metric uses.
    columns : dict
        Role (label, score, group, weight, by, where) -> column name, or a tuple of names if there are several. Roles
        without a column are missing.
    version : str
        The version of fastmetrics that computed it.
    seconds : float or None
        Run time.
    pictures : dict
        Name -> plot: the points that :meth:`plot` draws. Empty unless ``evaluate(..., curves=True)`` made the report.
        Neither `to_dict` nor JSON have them.
    missing_pictures : dict
        Name -> the reason why there is no such plot.
    confusion_matrices : tuple of ClassMatrix
        Of all rows, for every label column and every column of predicted labels: `classes`, `counts` and `by_class()`.
        Those of more than 256 classes are left out.
    label_tables : tuple of LabelTable
        The same for columns of sets of labels: the counts of each label, and `by_class()`.
    bins : dict
        Entry of `by` that cuts numbers into intervals -> their edges; those of "qcut(...)" are quantiles, for which the
        log was read once more. With tasks, the name of the task stands before the entry.
    small_slices : dict
        With ``min_rows=...``: `min_rows`, and how many `slices` with how many `rows` have fewer rows, and no results. A
        row counts for each grouping set and task in which its slice is small.
    evaluation : Evaluation or None
        The question that the report answers: ``evaluate(log, report.evaluation)`` asks it of another log. Reports of
        one content are equal, whatever the question.
    notes : tuple of str
        What else to know of the rows: with ``missing_columns="null"``, the columns that files lack, and these files.
    tasks : dict
        Name -> `TaskRows` of every task; empty for an evaluation without tasks. With tasks, `dropped` and
        `columns` are empty: each task has its own.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> log = {"click": [0, 1, 0, 1], "score": [0.1, 0.8, 0.4, 0.35]}
    >>> report = fm.evaluate(log, ["auc", "ctr"], label="click", score="score")
    >>> report["auc"], report.rows, [result.metric for result in report]
    (0.75, 4, ['auc', 'ctr'])
    """

    __slots__ = (
        "bins", "columns", "confusion_matrices", "dropped", "evaluation", "filtered", "label_tables",
        "missing_pictures", "notes", "pictures", "results", "rows", "seconds", "small_slices", "tasks", "version",
    )  # fmt: skip
    _noun = "report"
    _item_noun = "result"
    _lookup = "report.value"
    _items_key = "results"
    _schema = SCHEMA_VERSION

    results: tuple[Result, ...]
    rows: int
    filtered: int | None
    dropped: Mapping[str, int]
    columns: Mapping[str, str | tuple[str, ...]]
    version: str
    seconds: float | None
    evaluation: Evaluation | None
    pictures: Mapping[str, Plot]
    missing_pictures: Mapping[str, str]
    confusion_matrices: tuple[ClassMatrix, ...]
    label_tables: tuple[LabelTable, ...]
    tasks: Mapping[str, TaskRows]
    bins: Mapping[str, tuple[int | float, ...]]
    small_slices: Mapping[str, int]
    notes: tuple[str, ...]

    def __init__(
        self,
        results: Sequence[Result],
        *,
        rows: int,
        dropped: Mapping[str, int] = EMPTY,
        columns: Mapping[str, str | tuple[str, ...] | None] = EMPTY,
        version: str,
        seconds: float | None = None,
        tasks: Mapping[str, TaskRows] = EMPTY,
        filtered: int | None = None,
        bins: Mapping[str, tuple[int | float, ...]] = EMPTY,
        small_slices: Mapping[str, int] = EMPTY,
        notes: Sequence[str] = (),
        evaluation: Evaluation | None = None,
    ) -> None:
        named = {role: column for role, column in columns.items() if column is not None}
        self._set(
            results=tuple(results), rows=rows, dropped=freeze(dropped), columns=freeze(named), version=version,
            seconds=seconds, pictures=EMPTY, missing_pictures=EMPTY, confusion_matrices=(), label_tables=(),
            tasks=freeze(tasks), filtered=filtered, bins=freeze(bins), small_slices=freeze(small_slices),
            notes=tuple(notes), evaluation=evaluation,
        )  # fmt: skip

    @property
    def _items(self) -> tuple[Result, ...]:
        return self.results

    def __hash__(self) -> int:
        return hash((self.results, self.rows, self.version))

    def _content(self) -> tuple[object, ...]:
        plots = tuple((name, plot_content(plot)) for name, plot in self.pictures.items())
        drawn = plots, self.missing_pictures, self.confusion_matrices, self.label_tables
        rows = self.rows, self.filtered, self.dropped
        slices = self.bins, self.small_slices, self.notes
        return self.results, *rows, self.columns, self.version, self.tasks, *slices, *drawn

    def __getitem__(self, metric: str | Metric) -> float:
        """The value of `metric` of all rows, by its name or an alias. KeyError if there is not exactly one."""
        return self.result(metric).value

    @answers_unknown
    def value(
        self,
        metric: str | Metric,
        *,
        score: str | None = None,
        slice: Mapping[str, Any] | None = None,  # noqa: A002
        label: str | None = None,
        task: str | None = None,
    ) -> float:
        """The value of `metric` for one `score` column, `label`, `slice` and `task`; by default of all rows."""
        return self.result(metric, score=score, slice=slice, label=label, task=task).value

    @answers_unknown
    def result(
        self,
        metric: str | Metric,
        *,
        score: str | None = None,
        slice: Mapping[str, Any] | None = None,  # noqa: A002
        label: str | None = None,
        task: str | None = None,
    ) -> Result:
        """The only Result that matches.

        Parameters
        ----------
        metric : str
            Any spelling of the metric, by its name or an alias.
        score : str, optional
            The score column, needed if there are several.
        slice : dict, optional
            Column -> value, such as ``{"channel": "search"}``, or ``{"channel": None}`` for nulls. By default all rows.
        label : str, optional
            The label column, needed if there are several.
        task : str, optional
            The name of the task, needed if there are several.

        Raises
        ------
        KeyError
            No result matches (the message has near names), or several do (the message says how to choose).
        """
        found: Result = self._only(metric, {"task": task, "label": label, "score": score, "slice": slice or {}})
        return found

    def slices(self) -> list[dict[str, Any]]:
        """The slices of the report in order, all rows (``{}``) first; each can be passed as ``value(slice=...)``."""
        distinct = {repr(result.slice): result.slice for result in self.results}
        return [dict(values) for values in distinct.values()]

    @answers_unknown
    def worst(
        self,
        metric: str | Metric,
        n: int = 20,
        *,
        score: str | None = None,
        label: str | None = None,
        task: str | None = None,
    ) -> list[Result]:
        """The results of the slices in which a metric is worst, the worst first.

        Parameters
        ----------
        metric : str
            Any spelling of the metric. Which of two values is worse is its `direction`, as in `list_metrics`.
        n : int
            The most results.
        score, label, task : str, optional
            Only those of one score column, label column or task.

        Returns
        -------
        list of Result
            Of slices, not of all rows. Equal values are in the order of the slices, undefined ones come last.

        Raises
        ------
        KeyError
            The report has no such metric.
        ValueError
            No value of the metric is better than another, or `n` is below 1.
        """
        found = self._slices_of(metric, {"score": score, "label": label, "task": task})
        return worst_first(found, lambda result: badness_of(result.metric, result.value))[: check_count(n, "n", 1)]

    @answers_unknown
    def sorted_by(self, metric: str | Metric) -> Report:
        """The report with its slices in the order of `worst`, after all rows. Other metrics follow their slice."""
        return self._replace(results=self._in_order_of(self.worst(metric, MOST)))

    def to_dict(self) -> dict[str, Any]:
        """The report as plain Python with types of JSON only. NaN becomes None, and the result has a reason."""
        fields = {
            "schema": SCHEMA_VERSION,
            "version": self.version,
            "rows": self.rows,
            **({} if self.filtered is None else {"filtered": self.filtered}),
            "dropped": as_json_value(self.dropped),
            "columns": as_json_value(self.columns),
            **({"bins": as_json_value(self.bins)} if self.bins else {}),
            **({"small_slices": dict(self.small_slices)} if self.small_slices else {}),
            **({"notes": list(self.notes)} if self.notes else {}),
            **question_as_dict(self.evaluation),
            **tasks_as_dicts(self.tasks),
            "results": [result.to_dict() for result in self.results],
            **tables_as_dicts("confusion_matrices", self.confusion_matrices),
            **tables_as_dicts("label_tables", self.label_tables),
        }
        typed = {
            "bins": self.bins,
            "confusion_matrices": [table._asdict() for table in self.confusion_matrices],
            "label_tables": [table._asdict() for table in self.label_tables],
        }
        return with_types(fields, typed)

    @classmethod
    def _of_document(cls, document: dict[str, Any]) -> Report:
        types = document.get("types", {})
        matrices, tables = (
            restored(document.get(key, []), types.get(key)) for key in ("confusion_matrices", "label_tables")
        )
        results = [Result._of_dict(fields) for fields in document["results"]]
        report = cls(results, rows=document["rows"], **about_of_document(document))
        return attach_matrices(
            report,
            [ClassMatrix(**{name: table[name] for name in ClassMatrix._fields}) for table in matrices],
            [LabelTable(**{name: table[name] for name in LabelTable._fields}) for table in tables],
        )

    @answers_unknown
    def plot(
        self,
        name: PlotName | None = None,
        ax: Axes | None = None,
        *,
        normalize: Normalize | None = None,
        prediction: str | None = None,
        label: str | None = None,
    ) -> Axes | NDArray[np.object_]:
        """Draw a plot with matplotlib; without a name all plots, in one figure.

        Parameters
        ----------
        name : {"roc", "pr", "det", "lift", "calibration", "gauc-histogram", "confusion-matrix"}, optional
            The plot: receiver operating characteristic, precision and recall, detection error trade-off, lift,
            calibration, AUC inside groups. `pictures` has those of this report, `missing_pictures` the reasons why
            others are missing. The heat maps of `confusion_matrices` need no curves=True.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        normalize : {"true", "pred", "all"}, optional
            What a cell of a confusion matrix shows: its share of the rows of the label, of the prediction, or of all
            rows. By default the rows, or their weights.
        prediction, label : str, optional
            The columns of the confusion matrix; by default all are drawn, side by side.

        Returns
        -------
        matplotlib.axes.Axes
            Or, without a name or of several confusion matrices, the array of all axes of a new figure.

        Raises
        ------
        ValueError
            The report was made without curves=True, has no such plot, or `ax` was given for more than one plot.
        ImportError
            matplotlib is not installed.
        """
        axes: Axes | NDArray[np.object_] = render("report plot", self, name, ax, normalize, prediction, label)
        return axes

    def to_arrow(self) -> pa.Table:
        """One row per result.

        Columns: task, if there are tasks; metric, label, score; one for every column of slices, under its own name
        (``slice_...`` if that name is taken), and sliced_by, the names of those that the row is a slice of: empty for
        all rows. Then value, ci_low and ci_high (null without an interval), standard_error, rows and
        positives of the slice, groups, the groups and rows that were left out and other numbers of `coverage`,
        signature, and the reason of an undefined value.
        """
        return super().to_arrow()

    def to_metrics(self) -> dict[str, float]:
        """Flat names and numbers, as experiment trackers such as MLflow accept them.

        "auc" is the value of all rows, "auc.ci_low" and "auc.ci_high" are the ends of its interval, and
        "channel.feed/auc" is the value of a slice. Several tasks, label or score columns are in the names too, as in
        "score.pctr/auc". Names consist of letters, digits and ``_-. /:``, have at most 250 characters, differ, and
        depend only on what they name. Where signs had to be replaced in a label, score or slice, eight digits of a
        hash of the original follow. Undefined values are left out.

        Returns
        -------
        dict of str and float
        """
        return flat_metrics(map(named_numbers, self.results))

    @answers_unknown
    def to_html(self, path: str | Path | None = None, *, title: str | None = None) -> str:
        """The report as one HTML page: values with intervals, curves, slices, coverage, signatures.

        The page is one file and loads nothing from the network. It is readable on a phone, in print, on light and dark
        screens, and by screen readers. Without scripts, only sorting of the table of slices is missing.

        Parameters
        ----------
        path : str or Path, optional
            A file to write it to as well. It is written completely or not at all.
        title : str, optional
            The heading. Default: the columns that were compared.

        Returns
        -------
        str
            HTML.
        """
        return str(render("report page", self, path, title=title))

    def _table_columns(self) -> list[TableColumn]:
        results = self.results
        names = (*(["task"] if self.tasks else []), "metric", "label", "score")
        leading = [TableColumn(name, "text", attributes(results, name)) for name in names]
        values = [
            TableColumn("value", "number", attributes(results, "value")),
            *interval_columns(attributes(results, "interval")),
            TableColumn("standard_error", "number", attributes(results, "standard_error")),
            *count_columns(results),
            TableColumn("signature", "text", attributes(results, "signature")),
            TableColumn("reason", "text", [result.reason_of_null for result in results]),
        ]
        taken = {column.name for column in (*leading, *values)}
        return [*leading, *slice_columns(attributes(results, "slice"), taken), *values]


def named_numbers(result: Result) -> NamedNumbers:
    """The numbers of a result for `Report.to_metrics`."""
    ends = {f".{name}": end for name, end in interval_fields(result.interval).items()}
    models = {"task": result.task, "label": result.label, "score": result.score}
    return NamedNumbers(result.metric, models, result.slice, {"": result.value, **ends})


# Counts of coverage that a table always has.
COUNTS = ("rows", "positives", "groups", "groups_used", "groups_left_out", "rows_left_out")


def attributes(items: Sequence[Any], name: str) -> list[Any]:
    return [getattr(item, name) for item in items]


def count_columns(results: Sequence[Result]) -> list[TableColumn]:
    """The rows of each result's slice, and the numbers of coverage records; of counts by reason their sum.

    Texts stay in the records.
    """
    cells = [{name: plain_number(value) for name, value in result.coverage.items()} for result in results]
    for result, own in zip(results, cells, strict=True):
        own.pop("unit_buckets", None)  # of the method of resampling, not of the rows
        own |= {name: count for name in ("rows", "positives") if (count := getattr(result, name)) is not None}
    found = dict.fromkeys((*COUNTS, *(name for own in cells for name, number in own.items() if number is not None)))
    columns = []
    for name in found:
        numbers = [own.get(name) for own in cells]
        is_float = any(isinstance(number, float) for number in numbers)
        columns.append(TableColumn(name, "number" if is_float else "count", numbers))
    return columns


def plain_number(value: Any) -> float | int | None:
    """A number, or the sum of counts by reason; None for anything else."""
    if isinstance(value, Mapping):
        counts = list(value.values())
        return sum(counts) if all(isinstance(count, int) for count in counts) else None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def tables_as_dicts(name: str, tables: Sequence[ClassMatrix | LabelTable]) -> dict[str, Any]:
    """Confusion matrices or tables of labels as plain Python for JSON, under a name; nothing if there are none."""
    found = [
        {**as_json_value(table._asdict()), "by_class": [as_json_value(row._asdict()) for row in table.by_class()]}
        for table in tables
    ]
    return {name: found} if found else {}


def attach_matrices(report: Report, matrices: Sequence[ClassMatrix], tables: Sequence[LabelTable]) -> Report:
    """The same report with confusion matrices and with tables of labels."""
    return report._replace(confusion_matrices=tuple(matrices), label_tables=tuple(tables))


def attach_plots(report: Report, plots: Mapping[str, Plot], missing: Mapping[str, str]) -> Report:
    """The same report with plots; `missing` has the reasons why there are no others."""
    return report._replace(pictures=freeze(plots), missing_pictures=freeze(missing))


def plot_content(item: Any) -> Any:
    """A plot, or an item of it, as values that compare as a whole: arrays as lists."""
    if isinstance(item, tuple):
        return tuple(plot_content(inner) for inner in item)
    return item.tolist() if hasattr(item, "tolist") else item
