"""The DataFrame that all tasks share: which columns a pass over its rows needs, and which rows.

Spark computes filters and computed columns itself, before any row reaches a Python worker. Columns get names that
pyspark passes on whatever the original names are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.engine.input.computed_columns import WHERE
from fastmetrics.engine.plan.column_names import describe_column, filter_column
from fastmetrics.engine.plan.tasks import PlannedTask, name_task_in_errors
from fastmetrics.spark.expressions import quote_path, sql_of_column, sql_of_condition


class FrameColumn(NamedTuple):
    """A column that tasks read, and its value in SQL. A computed one of a filtered task has a `condition`: the filter.

    Columns of the same name and condition have the same values.
    """

    name: str
    sql: str
    condition: str | None = None

    @property
    def key(self) -> tuple[str, str | None]:
        return self.name, self.condition

    def value(self, is_filtered: bool) -> Any:
        """Spark's column. Unless the rows are filtered by the condition already, it is not computed for others."""
        from pyspark.sql import functions

        if self.condition is None or is_filtered:
            return functions.expr(self.sql)
        return functions.expr(f"CASE WHEN {self.condition} THEN {self.sql} END")


class TaskColumns(NamedTuple):
    """The columns of a task by name, and its filter: in Spark's SQL, and as it was written."""

    columns: dict[str, FrameColumn]
    condition: str | None = None
    where: str = ""

    def with_mask(self, name: str) -> dict[str, FrameColumn]:
        """The columns, and one of this name that tells which rows the filter keeps."""
        return self.columns | {name: FrameColumn(name, f"coalesce({self.condition}, false)")}


class FramePass(NamedTuple):
    """The rows and columns that a pass over the DataFrame reads.

    Attributes
    ----------
    rows : pyspark.sql.DataFrame
        The columns, under their aliases.
    positions : list of dict
        For every task, its columns by name: their places among those of `rows`.
    masks : dict
        For filtered tasks, if there are rows of others: the name of the column that tells which are their own.
    conditions : tuple of str
        The rows of which at least one holds are there; all rows if it is empty.
    """

    rows: Any
    positions: list[dict[str, int]]
    masks: dict[int, str]
    conditions: tuple[str, ...]


class SharedFrame:
    """A DataFrame and the columns that each task reads of it."""

    def __init__(self, df: Any, tasks: Sequence[PlannedTask], time_zone: str | None) -> None:
        self.df = df
        self.tasks = []
        filters: dict[str, str] = {}
        for task in tasks:
            with name_task_in_errors(task.name):
                self.tasks.append(read_task(df, task, filters, time_zone))

    def open_pass(self) -> FramePass:
        """What a pass over the rows reads."""
        from pyspark.sql import functions

        found = dict.fromkeys(task.condition for task in self.tasks)
        conditions = () if None in found else tuple(filter(None, found))
        is_filtered = len(conditions) == 1
        masks = {
            number: filter_column(task.where) for number, task in enumerate(self.tasks)
            if task.condition is not None and not is_filtered
        }  # fmt: skip
        selected: dict[tuple[str, str | None], FrameColumn] = {}
        positions: list[dict[str, int]] = []
        places: dict[tuple[str, str | None], int] = {}
        for number, task in enumerate(self.tasks):
            columns = task.with_mask(masks[number]) if number in masks else task.columns
            for column in columns.values():
                selected.setdefault(column.key, column)
                places.setdefault(column.key, len(places))
            positions.append({name: places[column.key] for name, column in columns.items()})
        values = [column.value(is_filtered).alias(alias_of(place)) for place, column in enumerate(selected.values())]
        rows = self.df if not conditions else self.df.where(functions.expr(any_of(conditions)))
        return FramePass(rows.select(*values), positions, masks, conditions)

    def count(self, own: FramePass) -> tuple[int, int] | None:
        """How many rows there are, and how many the filters of a pass leave out; None if there is no filter."""
        from pyspark.sql import functions

        if not own.conditions:
            return None
        left_out = functions.count(functions.expr(f"CASE WHEN {any_of(own.conditions)} THEN NULL ELSE 1 END"))
        rows, filtered = self.df.agg(functions.count(functions.lit(1)), left_out).first()
        return rows, filtered


def read_task(df: Any, task: PlannedTask, filters: dict[str, str], time_zone: str | None) -> TaskColumns:
    """The columns and the filter of a task. `filters` are those of all tasks so far: an equal one is shared."""
    start = "" if task.name is None else f"task {task.name!r}: "
    where = "" if task.where is None else task.where.name
    if where and where not in filters:
        filters[where] = f"({sql_of_condition(df, where, f'{start}{WHERE} {where!r}', time_zone)})"
    condition = filters.get(where)
    roles = {name: role for part in task.parts for role, name in reversed(part.names.columns_with_roles)}
    columns = {}
    for name, role in roles.items():
        sql = sql_of_column(df, role, name, start + describe_column(role, name), time_zone)
        columns[name] = FrameColumn(name, quote_path(df, name)) if sql is None else FrameColumn(name, sql, condition)
    return TaskColumns(columns, condition, where)


def any_of(conditions: Sequence[str]) -> str:
    return " OR ".join(conditions)


def alias_of(place: int) -> str:
    """The name of a column while Spark moves it: any original name works."""
    return f"column_{place}"
