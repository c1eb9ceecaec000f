"""Questions of one log: each has labels, scores and groups of its own, and all share the pass over the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.immutable import Immutable
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import Metrics
from fastmetrics.engine.evaluation.options import OF_TASKS
from fastmetrics.engine.plan.column_names import ColumnNames, join_roles, named_model_roles, read_column_names
from fastmetrics.engine.plan.metric_plan import Plan, make_plan
from fastmetrics.engine.plan.plan_parts import PlanPart, divide_plan
from fastmetrics.engine.plan.resampling_options import Resampling, read_resampling
from fastmetrics.engine.plan.row_filters import RowFilter, join_filters, read_filter

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ColumnName

__all__ = ["Task"]


class Task(Immutable):
    """One of several questions of a log: click-through rate, conversion rate, watch time.

    ``evaluate(log, metrics, tasks={"ctr": Task(label="click", score="pctr"), "cvr": Task(...)})`` answers all of them
    in one scan. Every task is evaluated as if it were alone: rows without a value are left out of the tasks that read
    it, and of no other. What a task does not name is that of the call.

    Parameters
    ----------
    label, score, group, weight, prediction, probabilities, item, treatment, propensity : str or list of str, optional
        The columns of the task, as the arguments of `evaluate`.
    metrics : sequence of str, or str, optional
        Metric strings such as "auc", "gauc(weight=pairs)", or public functions, `roc_auc_score`. A string is split at
        commas. None: the default metrics of the columns that are given, as on the command line. `list_metrics` lists
        them all. A metric string may name its own columns, "rmse(label=minutes, score=forecast)" or
        "ndcg(group=[user,day])@10": metrics of different columns, kinds and groups share one scan. A metric by group
        takes another statistic of the groups than their mean: "ndcg(stat=p10)@10", also min, max, and "stat=below,
        at=0.5" for the share of groups below 0.5; the `rule` of quantiles is linear, lower or higher.
    roles : dict of str and str, optional
        Columns of any other role, such as ``{"reward": "revenue"}``. Metrics of your own may have any roles:
        `fastmetrics.extend`.
    where : str, expression or mask, optional
        Which rows are evaluated: a condition in SQL, such as ``"clicked = 1 and country in ('DE', 'FR')"``; an
        expression of polars or pyarrow; or a mask, a boolean for each row of the log in the order of its rows. Rows for
        which it is false or null are left out before anything else is checked. Wherever a column is named, an
        expression of columns may stand too, such as ``score="p_ctr * p_cvr"`` or ``score=pl.col("p_ctr") *
        pl.col("p_cvr")``: docs/expressions.md has the grammar.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> log = {"click": [1, 0, 1, 1], "pctr": [0.9, 0.3, 0.6, 0.8], "buy": [1, 0, 0, 1], "pcvr": [0.5, 0.1, 0.2, 0.4]}
    >>> tasks = {"ctr": fm.Task(label="click", score="pctr"), "sales": fm.Task(label="buy", score="pcvr")}
    >>> report = fm.evaluate(log, "auc", tasks=tasks)
    >>> report.value("auc", task="sales")
    1.0
    """

    __slots__ = tuple(option.name for option in OF_TASKS)

    label: ColumnName | Sequence[ColumnName] | None
    score: ColumnName | Sequence[ColumnName] | None
    group: ColumnName | Sequence[ColumnName] | None
    weight: ColumnName | None
    metrics: Metrics | None
    prediction: ColumnName | Sequence[ColumnName] | None
    probabilities: ColumnName | Sequence[ColumnName] | Sequence[Sequence[ColumnName]] | None
    item: ColumnName | None
    treatment: ColumnName | None
    propensity: ColumnName | None
    roles: Mapping[str, ColumnName] | None
    where: Any

    @answers_unknown
    def __init__(
        self,
        *,
        label: ColumnName | Sequence[ColumnName] | None = None,
        score: ColumnName | Sequence[ColumnName] | None = None,
        group: ColumnName | Sequence[ColumnName] | None = None,
        weight: ColumnName | None = None,
        metrics: Metrics | None = None,
        prediction: ColumnName | Sequence[ColumnName] | None = None,
        probabilities: ColumnName | Sequence[ColumnName] | Sequence[Sequence[ColumnName]] | None = None,
        item: ColumnName | None = None,
        treatment: ColumnName | None = None,
        propensity: ColumnName | None = None,
        roles: Mapping[str, ColumnName] | None = None,
        where: object = None,
    ) -> None:
        given = locals()
        self._set(**{name: given[name] for name in self.__slots__})

    def columns_and_metrics(self) -> dict[str, Any]:
        """What the task names itself, by keyword."""
        values = ((name, getattr(self, name)) for name in self.__slots__)
        return {name: value for name, value in values if value is not None}

    def __repr__(self) -> str:
        return f"Task({', '.join(f'{name}={show(value)}' for name, value in self.columns_and_metrics().items())})"

    def __hash__(self) -> int:
        return hash(repr(self))

    def _content(self) -> tuple[object, ...]:
        return tuple((self.columns_and_metrics() | {"where": read_filter(self.where)}).items())

    def other_roles(self) -> dict[str, Any]:
        """The columns of all roles but label, score, group and weight."""
        keywords = {
            "item": self.item, "treatment": self.treatment, "propensity": self.propensity,
            "prediction": self.prediction, "probabilities": self.probabilities,
        }  # fmt: skip
        named_apart = {"label": self.label, "score": self.score}
        joined = join_roles({**keywords, **named_apart}, self.roles)
        return {role: name for role, name in joined.items() if role not in named_apart or role in (self.roles or {})}

    @answers_unknown
    def inherit(self, call: Task) -> Task:
        """The task with the columns of the call where it names none."""
        own = self.columns_and_metrics()
        if call.roles and self.roles:
            own["roles"] = {**call.roles, **self.roles}
        own["where"] = join_filters(call.where, self.where)
        return call._replace(**own)


def show(value: Any) -> str:
    """A value as it can be typed: tuples as lists."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(show, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {show(own)}' for key, own in value.items())}}}"
    return repr(value)


UNCHANGED_ERRORS = nullcontext()

# A column of slices, several, or several grouping sets.
SliceColumns = str | int | Sequence[str | int] | Sequence[Sequence[str | int]] | None


class IntervalArguments(NamedTuple):
    """The arguments of the entry points that ask for intervals."""

    ci: Any = None
    ci_method: Any = None
    replicates: Any = None
    seed: Any = None
    unit: Any = None


class PlannedTask(NamedTuple):
    """What a task has to compute.

    Attributes
    ----------
    name : str or None
        None for the one question of a call without tasks.
    plan : Plan
    names : ColumnNames
        The columns as the caller named them, with the resampling unit.
    parts : tuple of PlanPart
    resampling : Resampling or None
    where : RowFilter or None
        Which rows the task reads.
    has_rests : bool
        Is every slice compared with the rest of the rows?
    """

    name: str | None
    plan: Plan
    names: ColumnNames
    parts: tuple[PlanPart, ...]
    resampling: Resampling | None = None
    where: RowFilter | None = None
    has_rests: bool = False


def plan_task(
    columns: Task,
    by: SliceColumns,
    intervals: IntervalArguments,
    name: str | None = None,
    truth: Mapping[str, Any] | None = None,
) -> PlannedTask:
    """Plan one task, which has metrics. The columns of `truth` are for tasks without a label."""
    models = named_model_roles(columns.score, columns.prediction, columns.probabilities, columns.roles)
    plan = make_plan(columns.metrics or (), models)
    names = read_column_names(
        plan, columns.label, columns.score, columns.group, columns.weight, by, columns.other_roles(),
        truth,
    )  # fmt: skip
    where = read_filter(columns.where)
    if where is not None:
        names = replace(names, where=where.name)
    resampling = read_resampling(*intervals, names.group, plan, columns.weight)
    parts = divide_plan(plan, names, resampling)
    if resampling is not None:
        names = replace(names, unit=resampling.unit)
    return PlannedTask(name, plan, names, parts, resampling, where)


def unchanged(task: Task) -> Task:
    """The columns as they are."""
    return task


def plan_tasks(
    call: Task,
    tasks: Mapping[str, Task] | None,
    by: SliceColumns,
    intervals: IntervalArguments,
    prepare: Callable[[Task], Task] = unchanged,
    truth: Mapping[str, Any] | None = None,
) -> list[PlannedTask]:
    """Plan the tasks of a call, or its one question if it has no tasks. An error of a task names it.

    `prepare` checks and changes the columns of each task before it is planned. `truth` are the columns of the truth
    table, which has the labels.
    """
    if truth is not None and call.label is not None:
        raise ValueError(
            f"labels are named twice, label={call.label!r} of the log and truth_columns={dict(truth)!r}: metrics that "
            "read those of the log name them, such as auc(label=...)"
        )
    if tasks is None:
        return [plan_task(prepare(call), by, intervals, None, truth)]
    planned = []
    for name, task in check_tasks(tasks).items():
        with name_task_in_errors(name):
            planned.append(plan_task(prepare(task.inherit(call)), by, intervals, name, truth))
    return planned


def check_tasks(tasks: Any) -> Mapping[str, Task]:
    """Tasks have to be a mapping of names and tasks."""
    if not isinstance(tasks, Mapping) or not all(isinstance(task, Task) for task in tasks.values()):
        raise TypeError(
            'tasks must be a dict of name and fastmetrics.Task, such as {"ctr": Task(label="click", score="pctr")}; '
            f"found {tasks!r}"
        )
    if not tasks:
        raise ValueError("tasks is an empty dict: name at least one task, or leave it out")
    for name in tasks:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"tasks must have names, texts that are not empty; found {name!r}")
    return tasks


def name_task_in_errors(name: str | None) -> AbstractContextManager[None]:
    """Begin the text of an error with the name of the task, if it has one. The error keeps its class."""
    return UNCHANGED_ERRORS if name is None else add_to_errors(f"task {name!r}: ")


@contextmanager
def add_to_errors(start: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError) as error:
        error.args = (f"{start}{error}",)
        raise
