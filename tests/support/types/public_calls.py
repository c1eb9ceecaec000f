"""Everything public that is called with keywords: functions, constructors of questions, and methods."""

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import fastmetrics as fm
import fastmetrics.dask
import fastmetrics.distributed.processes
import fastmetrics.extend
import fastmetrics.ray
import fastmetrics.spark
import fastmetrics.testing

MODULES = (
    fm, fastmetrics.dask, fastmetrics.distributed.processes, fastmetrics.extend, fastmetrics.ray, fastmetrics.spark,
    fastmetrics.testing,
)  # fmt: skip
# Classes that users construct; the others are results.
CONSTRUCTED = (
    fm.Accumulator, fm.COCO, fm.COCOeval, fm.Evaluation, fm.ScoreOrder, fm.Task, fm.TrainingMetrics
)  # fmt: skip


def parameters_of(call: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(call).parameters)


def takes_any_keyword(call: Callable[..., Any]) -> bool:
    return any(own.kind is own.VAR_KEYWORD for own in inspect.signature(call).parameters.values())


def calls_of(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """The public calls of a module by the name that errors have."""
    found = {}
    start = "" if module is fm else f"{module.__name__.removeprefix('fastmetrics.')}."
    for name in module.__all__:
        own = getattr(module, name)
        if inspect.isfunction(own):
            found[start + name] = own
        elif module is fm and inspect.isclass(own) and not issubclass(own, Warning) and own is not fm.Metric:
            if own in CONSTRUCTED:
                found[name] = own
            found |= methods_of(own, name)
    return found


def methods_of(own: type, name: str) -> dict[str, Callable[..., Any]]:
    """The public methods with arguments that the library wrote, of the class itself where they need no object."""
    found = {}
    for word, method in inspect.getmembers(own, lambda member: inspect.isfunction(member) or inspect.ismethod(member)):
        if word.startswith("_") or not method.__module__.startswith("fastmetrics."):
            continue
        without_self = {"self", "cls"}.isdisjoint
        if any(without_self([parameter]) for parameter in parameters_of(method)):
            found[f"{name}.{word}"] = method
    return found


PUBLIC = {name: call for module in MODULES for name, call in calls_of(module).items()}
