"""What entry points cannot do: errors made from the table of options, before any row is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fastmetrics._core.calls.words import meant
from fastmetrics._core.optional_imports import library_of
from fastmetrics.engine.evaluation.options import OPTIONS, RUN_OPTIONS
from fastmetrics.engine.evaluation.options.option import (
    COUNTED_ROWS,
    DELONG_TEST,
    MASKS,
    NATIVE_EXPRESSIONS,
    QUANTILES,
    ROWS,
)
from fastmetrics.engine.plan.column_names import ROW_UNITS
from fastmetrics.engine.plan.metric_plan import describe_metrics_by_kind
from fastmetrics.engine.plan.native_columns import NativeColumn, is_native
from fastmetrics.engine.plan.resampling_options import DELONG
from fastmetrics.engine.plan.row_filters import RowMask
from fastmetrics.engine.plan.tasks import PlannedTask, name_task_in_errors


def refuse(entry_point: str, given: Mapping[str, Any], planned: Sequence[PlannedTask]) -> None:
    """Raise an error for what an entry point cannot do; `given` are the options that differ from their defaults."""
    for option in OPTIONS:
        for refusal in option.refusals:
            if entry_point not in refusal.entry_points:
                continue
            if refusal.of is None:
                if option.name in given:
                    raise refusal.error(refusal.text.format(entry_point=entry_point, found=given[option.name]))
                continue
            for task in planned:
                with name_task_in_errors(task.name):
                    for found in FIND[refusal.of](task, given):
                        raise refusal.error(refusal.text.format(entry_point=entry_point, found=found))


def refusal_of_keyword(entry_point: str, word: str) -> str | None:
    """Why an entry point lacks an option that others have, and what to type; None if the table has no reason."""
    for option in RUN_OPTIONS:
        if word == option.name or meant(word, [option.name]):
            for refusal in option.refusals:
                if entry_point in refusal.entry_points:
                    return refusal.text.format(entry_point=entry_point, found=word)
    return None


def find_rows(task: PlannedTask, given: Mapping[str, Any]) -> list[Any]:
    return [own.unit for own in (task.resampling,) if own is not None and own.unit_to_read == ROW_UNITS]


def find_counted_rows(task: PlannedTask, given: Mapping[str, Any]) -> list[Any]:
    return [] if task.resampling is None or task.plan.is_numeric else [describe_metrics_by_kind(task.plan.metrics)[-1]]


def find_delong(task: PlannedTask, given: Mapping[str, Any]) -> list[Any]:
    return [own.method for own in (task.resampling,) if own is not None and own.method == DELONG]


def find_quantiles(task: PlannedTask, given: Mapping[str, Any]) -> list[Any]:
    return [own for own in task.names.bins if own.edges is None]


def find_native_expressions(task: PlannedTask, given: Mapping[str, Any]) -> list[Any]:
    natives = [own.native for own in (task.where,) if own is not None and is_native(own.native)]
    columns = [name.native for _, name in task.names.columns_with_roles if isinstance(name, NativeColumn)]
    return [f"an expression of {library_of(own)}, {own}" for own in natives + columns]


def find_masks(task: PlannedTask, given: Mapping[str, Any]) -> list[Any]:
    return [own.name for own in (task.where,) if own is not None and isinstance(own.native, RowMask)]


FIND: dict[str, Callable[[PlannedTask, Mapping[str, Any]], list[Any]]] = {
    ROWS: find_rows, DELONG_TEST: find_delong, QUANTILES: find_quantiles, NATIVE_EXPRESSIONS: find_native_expressions,
    COUNTED_ROWS: find_counted_rows, MASKS: find_masks,
}  # fmt: skip
